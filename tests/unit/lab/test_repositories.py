"""Git repositories made from trees, git's client against the mirror's server, and the trees of tests/upstream."""

import os
import ssl
import subprocess
import typing as t
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.repositories import Repository, Submodule
from lab.serve import MirrorServer, make_certificate
from tests import upstream

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


# Serving


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


def status(server: MirrorServer, path: str, data: bytes | None = None) -> int:
    context = ssl.create_default_context(cafile=str(server.ca))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(urllib.request.Request(server.url + path, data), timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


# The trees of tests/upstream


def test_the_trees_pin_each_other(made: upstream.Upstream) -> None:
    pytorch, triton = made.repository("pytorch"), made.repository("triton")
    for torch, (release, _) in upstream.RELEASES.items():
        pin = pytorch.git("show", f"v{torch}:.ci/docker/ci_commit_pins/triton.txt")
        assert pin == triton.resolve(f"v{release}")
    assert triton.git("show", "v3.5.1:cmake/llvm-hash.txt") == made.repository("llvm-project").resolve("main~1")
    newer = made.repository("triton-llvm-project").resolve("main~1")
    assert f'"llvm_hash": "{newer}"' in triton.git("show", "v3.9.0:cmake/llvm-info.json")
