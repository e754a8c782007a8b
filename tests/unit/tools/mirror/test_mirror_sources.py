"""Repositories in a mirror, collected without history and served as plain files."""

import os
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import sources
from ansible_collections.sparkforge.dgx_spark.tools.mirror import collect
from ansible_collections.sparkforge.dgx_spark.tools.mirror.directory import Directory

from tests.unit.git_server import Repository, Server

#: The submodule's URL starts with this one, which no server answers.
ELSEWHERE = "https://git.example.com/"


class Mirror:
    """A server of repositories and a mirror of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.upstream = Server(path / "upstream")
        self.library = Repository(path / "upstream", "library")
        self.inner = self.library.commit({"code": "x"})
        self.repository = Repository(path / "upstream", "one")
        self.repository.commit({"file": "1"})
        self.commit = self.repository.commit({"file": "2"}, {"lib": (f"{ELSEWHERE}library.git", self.inner)})
        self.repository.commit({"file": "3"})
        self.url = f"{self.upstream.url}/one.git"
        self.root = path / "mirror"

    def collect(self, check: bool = False) -> Directory:
        directory = Directory(str(self.root), check=check, say=lambda _line: None)
        directory.verify()
        source = {"repo": self.url, "version": self.commit, "submodules": True}
        collect.sources(directory, [source], {ELSEWHERE: f"{self.upstream.url}/"})
        return directory


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    mirror = Mirror(tmp_path)
    yield mirror
    mirror.upstream.stop()


def rewrite(directory: Directory, url: str) -> dict[str, str]:
    return {key: f"{url}/{path}" for key, path in collect.rewrites(directory.rows).items()}


def test_check_names_the_commit_and_writes_nothing(mirror: Mirror) -> None:
    directory = mirror.collect(check=True)
    assert directory.missing == [f"fetch {mirror.commit} of the repository {mirror.url}, with its submodules"]
    assert not mirror.root.exists()


@pytest.mark.parametrize("served", ["files", "file"])
def test_a_mirrored_repository_is_fetched_with_its_submodules(mirror: Mirror, served: str) -> None:
    directory = mirror.collect()
    mirror.upstream.stop()
    server = Server(mirror.root)
    server.dumb = True
    try:
        table = rewrite(directory, server.url if served == "files" else mirror.root.as_uri())
        tree, store = mirror.path / "tree", mirror.path / "store"
        source = sources.Git(mirror.url, mirror.commit)
        environment = {"PATH": os.environ["PATH"]}
        fetched = sources.fetch(source, str(tree), str(store), lambda _line: None, environment, rewrite=table)
    finally:
        server.stop()
    assert fetched["submodules"] == {"lib": mirror.inner}
    assert ((tree / "file").read_text(), (tree / "lib/code").read_text()) == ("2", "x")


def test_a_second_run_contacts_no_server(mirror: Mirror) -> None:
    assert mirror.collect().changed
    mirror.upstream.stop()
    assert not mirror.collect().changed


def test_a_missing_submodule_is_fetched(mirror: Mirror) -> None:
    mirror.collect()
    [library] = (mirror.root / "git").glob("library-*.git")
    for ref in (library / "refs/sparkforge/commits").iterdir():
        ref.unlink()
    assert mirror.collect(check=True).missing == [
        f"fetch {mirror.inner} of the submodule lib ({ELSEWHERE}library.git, mirror {mirror.upstream.url}/library.git),"
        " with its submodules"
    ]
    assert mirror.collect().changed
    assert not mirror.collect().changed


def test_missing_objects_are_fetched_again_and_changed_ones_refused(mirror: Mirror) -> None:
    def pack() -> Path:
        return next((mirror.root / "git").glob("one-*.git/objects/pack/*.pack"))

    mirror.collect()
    pack().unlink()
    assert mirror.collect().changed
    pack().chmod(0o644)
    pack().write_bytes(b"other")
    with pytest.raises(SparkforgeError, match="file was changed"):
        mirror.collect()


def test_another_commit_is_added_to_the_first(mirror: Mirror) -> None:
    mirror.collect()
    first, mirror.commit = mirror.commit, mirror.repository.commit({"file": "4"})
    assert mirror.collect().changed
    [refs] = (mirror.root / "git").glob("one-*.git/info/refs")
    assert {line.partition("\t")[0] for line in refs.read_text().splitlines()} == {first, mirror.commit}


def test_a_commit_missing_upstream_is_refused(mirror: Mirror) -> None:
    mirror.commit = "1" * 40
    with pytest.raises(SparkforgeError, match="1111111"):
        mirror.collect()


def test_archives_of_sources_are_found_by_their_url(tmp_path: Path) -> None:
    file = tmp_path / "v.tar.gz"
    file.write_bytes(b"content")
    digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    directory = Directory(str(tmp_path / "mirror"), check=False, say=lambda _line: None)
    source: dict[str, t.Any] = {"archive": "https://host.example/v.tar.gz", "sha256": digest.upper()}
    collect.sources(directory, [source], {"https://host.example/": f"{tmp_path}/"})
    assert collect.rewrites(directory.rows) == {"https://host.example/v.tar.gz": f"archives/{digest}/v.tar.gz"}
    assert (tmp_path / f"mirror/archives/{digest}/v.tar.gz").read_bytes() == b"content"
