"""Git repositories created from trees, the mirror's server for them, and the trees of tests/upstream."""

import ssl
import typing as t
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.repositories import Repository
from lab.serve import MirrorServer, make_certificate
from tests import upstream

TREE = {"README.md": "# A tree\n", "bin/run": "#!/bin/sh\n", "src/a.c": b"int a;\n"}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A directory with the repository ``outer``."""
    Repository(tmp_path / "git/outer.git").commit(TREE, "One", tag="v1")
    return tmp_path / "git"


@pytest.fixture
def server(repositories: Path, tmp_path: Path) -> Iterator[MirrorServer]:
    (tmp_path / "root").mkdir()
    certificate = make_certificate(tmp_path / "tls", ["127.0.0.1"])
    with MirrorServer(tmp_path / "root", certificate, git=repositories) as running:
        yield running


def test_equal_trees_have_equal_commits_in_every_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Repository(tmp_path / "1.git")
    commits = [first.commit(TREE, "One", tag="v1"), first.commit({"x": "2"}, "Two")]
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
    assert [second.commit(TREE, "One", tag="v1"), second.commit({"x": "2"}, "Two")] == commits
    assert second.references() == first.references()
    assert commits[0] == "d7cc2bbbc39338e6cf446e8e46153bbf99cbba51"


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
def test_the_server_answers_only_fetches(server: MirrorServer, repositories: Path, path: str, data: t.Any) -> None:
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


def test_the_trees_pin_each_other(tmp_path: Path) -> None:
    trees = upstream.make(tmp_path)
    pytorch, triton = trees.repository("pytorch"), trees.repository("triton")
    for torch, (release, _) in upstream.RELEASES.items():
        pin = pytorch.git("show", f"v{torch}:.ci/docker/ci_commit_pins/triton.txt")
        assert pin == triton.resolve(f"v{release}")
    assert triton.git("show", "v3.5.1:cmake/llvm-hash.txt") == trees.repository("llvm-project").resolve("main~1")
    newer = trees.repository("triton-llvm-project").resolve("main~1")
    assert f'"llvm_hash": "{newer}"' in triton.git("show", "v3.9.0:cmake/llvm-info.json")
