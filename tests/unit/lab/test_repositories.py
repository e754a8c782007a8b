# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Git repositories made from trees, git's client against the mirror's server, and the trees of tests/upstream."""

from __future__ import annotations

import http.client
import os
import re
import socket
import ssl
import subprocess
import sys
import tarfile
import time
import typing as t
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import load

from lab.host import LabError
from lab.repositories import Repository, Submodule, read_tree, sha256, write_sdist
from lab.serve import MirrorServer, make_certificate
from tests import upstream

CHECKOUT = Path(__file__).parents[3]
TREE = {"README.md": "# A tree\n", "bin/run": "#!/bin/sh\n", "src/a.c": b"int a;\n"}


class Client:
    """Git as somebody who fetches has it: no configuration but the CA."""

    def __init__(self, directory: Path, ca: Path | None) -> None:
        self.directory = directory
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **({"GIT_SSL_CAINFO": str(ca)} if ca else {}),
        }

    def git(self, *words: str, fails: bool = False) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.directory, env=self.environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return (done.stderr if fails else done.stdout).strip()


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A directory with ``outer`` (tags v1 and v2), in it the submodule ``inner`` by a relative URL."""
    folder = tmp_path / "git"
    inner = Repository(folder / "inner.git").commit({"inner.txt": "1\n"}, "Inner")
    tree = {**TREE, "third_party/inner": Submodule("../inner.git", inner)}
    outer = Repository(folder / "outer.git")
    outer.commit(tree, "One", tag="v1")
    outer.commit({**tree, "README.md": "# Two\n"}, "Two", tag="v2", annotated=False)
    return folder


@pytest.fixture
def server(repositories: Path, tmp_path: Path) -> Iterator[MirrorServer]:
    (tmp_path / "root").mkdir()
    with MirrorServer(
        tmp_path / "root", make_certificate(tmp_path / "tls", ["127.0.0.1"]), git=repositories
    ) as running:
        yield running


@pytest.fixture
def client(server: MirrorServer, tmp_path: Path) -> Client:
    (tmp_path / "client").mkdir()
    return Client(tmp_path / "client", server.ca)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> upstream.Upstream:
    return upstream.make(tmp_path_factory.mktemp("upstream"))


# Making


def test_the_same_trees_give_the_same_commits_whoever_makes_them_and_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Repository(tmp_path / "1.git")
    one = [first.commit(TREE, "One", tag="v1"), first.commit({"x": "2"}, "Two")]
    config = tmp_path / "config"
    config.write_text("[user]\n\tname = Somebody\n[core]\n\tautocrlf = true\n[init]\n\tdefaultBranch = trunk\n")
    for name, value in {
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_COMMITTER_NAME": "Somebody",
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "TZ": "Asia/Tokyo",
    }.items():
        monkeypatch.setenv(name, value)
    second = Repository(tmp_path / "2.git")
    assert [second.commit(TREE, "One", tag="v1"), second.commit({"x": "2"}, "Two")] == one
    assert second.references() == first.references()
    assert one[0] == "d7cc2bbbc39338e6cf446e8e46153bbf99cbba51"


def test_a_commit_is_the_whole_tree_with_its_modes_and_submodules(repositories: Path) -> None:
    outer = Repository(repositories / "outer.git")
    listing = outer.git("ls-tree", "-r", "v1")
    assert re.findall(r"^(\d+) \w+ \w+\t(.*)$", listing, re.M) == [
        ("100644", ".gitmodules"),
        ("100644", "README.md"),
        ("100755", "bin/run"),
        ("100644", "src/a.c"),
        ("160000", "third_party/inner"),
    ]
    assert "url = ../inner.git" in outer.git("show", "v1:.gitmodules")
    outer.commit({"only": "this\n"}, "Three")
    assert outer.git("ls-tree", "--name-only", "main") == "only"
    assert outer.git("log", "--format=%s", "main") == "Three\nTwo\nOne"


def test_tags_are_annotated_or_not_and_move(repositories: Path) -> None:
    outer = Repository(repositories / "outer.git")
    assert [outer.git("cat-file", "-t", name) for name in ("v1", "v2")] == ["tag", "commit"]
    before = outer.resolve("v1")
    after = outer.commit(TREE, "One, again", branch="fix", parent=outer.resolve("v1"), tag="v1")
    assert outer.resolve("v1") == after != before
    assert outer.resolve("fix~1") == before
    assert outer.resolve("absent") is None


def test_a_path_that_a_repository_cannot_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="'a b' cannot be put"):
        Repository(tmp_path / "x.git").commit({"a b": "1"}, "One")


def test_of_two_folders_the_later_ones_file_is_taken(tmp_path: Path) -> None:
    for name, content in {"base/a": "1", "base/b/c": "1", "over/b/c": "2", "over/__pycache__/x.pyc": "no"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert read_tree(tmp_path / "base", tmp_path / "over") == {"a": b"1", "b/c": b"2"}
    with pytest.raises(LabError, match="There is no tree"):
        read_tree(tmp_path / "absent")


def test_a_source_distribution_is_the_same_each_time(tmp_path: Path) -> None:
    tree = {"setup.py": b"from setuptools import setup\n", "pkg/__init__.py": b""}
    first, second = (write_sdist(tmp_path / name, "pkg", "1.0", tree) for name in ("1", "2"))
    assert sha256(first) == sha256(second)
    with tarfile.open(first) as archive:
        assert archive.getnames() == ["pkg-1.0/PKG-INFO", "pkg-1.0/pkg/__init__.py", "pkg-1.0/setup.py"]


# Serving


def test_a_clone_follows_submodules_by_their_relative_urls(
    client: Client, server: MirrorServer, repositories: Path
) -> None:
    client.git("clone", "-q", "--recurse-submodules", "--branch", "v1", f"{server.url}/git/outer.git", "clone")
    clone = client.directory / "clone"
    assert (clone / "third_party/inner/inner.txt").read_text() == "1\n"
    assert os.access(clone / "bin/run", os.X_OK)
    assert client.git("-C", "clone", "rev-parse", "HEAD") == Repository(repositories / "outer.git").resolve("v1")
    kinds = [(request.method, request.path.rpartition(".git/")[2]) for request in server.requests]
    assert kinds.count(("POST", "git-upload-pack")) == 4  # for each: what there is, and the objects
    assert {request.status for request in server.requests} == {200}


@pytest.mark.parametrize("protocol", ["0", "2"])
def test_one_commit_is_fetched_by_its_hash_and_without_its_history(
    client: Client, server: MirrorServer, repositories: Path, protocol: str
) -> None:
    commit = Repository(repositories / "outer.git").resolve("v2~1")
    assert commit
    client.git("init", "-q", "clone")
    url = f"{server.url}/git/outer.git"
    client.git("-C", "clone", "-c", f"protocol.version={protocol}", "fetch", "-q", "--depth", "1", url, commit)
    assert client.git("-C", "clone", "rev-list", "FETCH_HEAD") == commit


def test_a_repository_of_somebody_else_is_served_too(client: Client, server: MirrorServer, repositories: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    for path in [repositories, *repositories.rglob("*")]:
        os.chown(path, 12345, 12345)
    assert "refs/tags/v1^{}" in client.git("ls-remote", f"{server.url}/git/outer.git")


def test_a_fault_cuts_a_fetch_and_the_next_one_succeeds(client: Client, server: MirrorServer) -> None:
    url = f"{server.url}/git/inner.git"
    # The first request of that path lists branches, the second one brings the objects.
    server.fault("/git/inner.git/git-upload-pack", truncate=40)
    assert "fatal" in client.git("clone", "-q", url, "clone", fails=True)
    server.mend()
    server.fault("/git/inner.git/*", status=503, times=1)
    assert "503" in client.git("clone", "-q", url, "clone", fails=True)
    client.git("clone", "-q", url, "clone")


def test_a_refused_post_leaves_the_connection_usable(repositories: Path, tmp_path: Path) -> None:
    with MirrorServer(tmp_path, git=repositories) as running:
        running.fault("/git/inner.git/git-upload-pack", status=500)
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
        for method, path, expected in (
            ("POST", "/git/inner.git/git-upload-pack", 500),
            ("POST", "/git/inner.git/git-receive-pack", 404),
            ("GET", "/git/inner.git/info/refs?service=git-upload-pack", 200),
        ):
            connection.request(method, path, b"0000" * 100 if method == "POST" else None)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == expected
        connection.close()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/git/outer.git/HEAD", None),
        ("/git/outer.git/info/refs", None),
        ("/git/outer.git/info/refs?service=git-receive-pack", None),
        ("/git/outer.git/git-receive-pack", b"0000"),
        ("/git/absent.git/info/refs?service=git-upload-pack", None),
        ("/git/../outside.git/info/refs?service=git-upload-pack", None),
        ("/git/", None),
        ("/git/README", b"0000"),
    ],
)
def test_nothing_but_fetching_is_answered(server: MirrorServer, repositories: Path, path: str, data: t.Any) -> None:
    Repository(repositories.parent / "outside.git").commit(TREE, "One")
    (repositories / "README").write_text("an archive, or so\n")
    assert status(server, path, data) == 404


def test_a_file_beside_the_repositories_is_served_as_any_file(server: MirrorServer, repositories: Path) -> None:
    (repositories / "archives").mkdir()
    (repositories / "archives/x-1.0.tar.gz").write_bytes(b"x")
    assert status(server, "/git/archives/x-1.0.tar.gz") == 200


def status(server: MirrorServer, path: str, data: bytes | None = None) -> int:
    context = ssl.create_default_context(cafile=str(server.ca))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(urllib.request.Request(server.url + path, data), timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_server_without_repositories_has_none(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with MirrorServer(tmp_path / "root") as running:
        client = Client(tmp_path, None)
        assert "not found" in client.git("ls-remote", f"{running.url}/git/x.git", fails=True)


def test_the_command_serves_repositories(repositories: Path, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    pid_file = tmp_path / "pid"
    command = [sys.executable, "-m", "lab.serve", "--root", str(tmp_path), "--port", str(port)]
    command += ["--git", str(repositories), "--pid-file", str(pid_file)]
    with subprocess.Popen(command, cwd=CHECKOUT, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 20
            while not pid_file.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            heads = Client(tmp_path, None).git("ls-remote", "--heads", f"http://127.0.0.1:{port}/git/outer.git")
            assert heads.endswith("refs/heads/main")
        finally:
            process.terminate()


# The trees of tests/upstream


def test_making_the_trees_again_changes_nothing(made: upstream.Upstream) -> None:
    before = {path: path.stat().st_ino for path in made.directory.glob("*.git/objects")}
    assert upstream.make(made.directory) == made
    assert {path: path.stat().st_ino for path in made.directory.glob("*.git/objects")} == before
    assert {path.name for path in made.directory.iterdir()} == {*(f"{name}.git" for name in made.commits), "archives"}


def test_a_repository_that_was_changed_is_made_again(tmp_path: Path) -> None:
    made = upstream.make(tmp_path)
    made.repository("triton").commit({"x": "1"}, "Moved on", tag="v3.5.1")
    assert made.repository("triton").resolve("v3.5.1") != made.commits["triton"]["v3.5.1"]
    upstream.make(tmp_path)
    assert made.repository("triton").resolve("v3.5.1") == made.commits["triton"]["v3.5.1"]


def test_the_trees_pin_each_other(made: upstream.Upstream) -> None:
    pytorch, triton = made.repository("pytorch"), made.repository("triton")
    for torch, (release, _) in upstream.RELEASES.items():
        pin = pytorch.git("show", f"v{torch}:.ci/docker/ci_commit_pins/triton.txt")
        assert pin == triton.resolve(f"v{release}")
    assert triton.git("show", "v3.5.1:cmake/llvm-hash.txt") == made.repository("llvm-project").resolve("main~1")
    newer = made.repository("triton-llvm-project").resolve("main~1")
    assert f'"llvm_hash": "{newer}"' in triton.git("show", "v3.9.0:cmake/llvm-info.json")


def test_the_patch_fits_the_release_that_needs_it_and_no_other(made: upstream.Upstream, tmp_path: Path) -> None:
    client = Client(tmp_path, None)
    url = str(made.directory / "pytorch.git")
    for tag, fits in (("v2.9.1", True), ("v2.15.0", False)):
        client.git("-c", "advice.detachedHead=false", "clone", "-q", "--branch", tag, url, tag)
        client.git("-C", tag, "apply", "--check", str(upstream.PYTORCH_PATCH), fails=not fits)


def test_the_edit_for_a_newer_llvm_fits_once(made: upstream.Upstream) -> None:
    edit = upstream.NEWER_LLVM_EDIT
    text = made.repository("triton").git("show", f"v3.5.1:{edit['path']}")
    assert text.count(edit["match"]) == 1
    llvm = made.repository("llvm-project")
    for name, revision in (("match", "main~1"), ("replace", "main")):
        assert llvm.git("cat-file", "-t", f"{revision}:llvm/include/{edit[name]}") == "blob"


@pytest.mark.parametrize("torch", sorted(upstream.RELEASES))
def test_the_stack_made_of_them_is_a_valid_one(made: upstream.Upstream, torch: str) -> None:
    stack = made.stack("https://mirror.sparkforge.test:1234", torch)
    load.validate("stack", stack, "lab-upstream.yml")
    assert stack["sources"]["pytorch"] == {
        "url": "https://mirror.sparkforge.test:1234/git/pytorch.git",
        "ref": f"v{torch}",
    }
    assert stack["sources"]["flash_attention"]["sha256"] == sha256(made.sdist)
