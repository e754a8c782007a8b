"""Repositories in a mirror: collected without their history, served as plain files, fetched again."""

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

#: Where the submodule says that it is there is nobody.
ELSEWHERE = "https://git.example.com/"


class Place:
    """A server of repositories, a mirror of them, and a server of the mirror's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.upstream = Server(path / "upstream")
        self.library = Repository(path / "upstream", "library")
        self.inner = self.library.commit({"code": "x"})
        self.one = Repository(path / "upstream", "one")
        self.one.commit({"file": "1"})
        self.commit = self.one.commit({"file": "2"}, {"lib": (f"{ELSEWHERE}library.git", self.inner)})
        self.one.commit({"file": "3"})
        self.url = f"{self.upstream.url}/one.git"
        self.root = path / "mirror"

    def collect(self, check: bool = False) -> Directory:
        directory = Directory(str(self.root), check=check, say=lambda _line: None)
        directory.verify()
        source = {"repo": self.url, "version": self.commit, "submodules": True}
        collect.sources(directory, [source], {ELSEWHERE: f"{self.upstream.url}/"})
        return directory


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.upstream.stop()


def rewrite(directory: Directory, url: str) -> dict[str, str]:
    return {key: f"{url}/{path}" for key, path in collect.rewrites(directory.rows).items()}


def test_check_names_the_commit_and_writes_nothing(place: Place) -> None:
    directory = place.collect(check=True)
    assert directory.missing == [f"fetch {place.commit} of the repository {place.url}, with its submodules"]
    assert not place.root.exists()


@pytest.mark.parametrize("served", ["files", "file"])
def test_what_was_collected_is_fetched_from_plain_files_with_its_submodules(place: Place, served: str) -> None:
    directory = place.collect()
    place.upstream.stop()
    server = Server(place.root)
    server.dumb = True
    try:
        table = rewrite(directory, server.url if served == "files" else place.root.as_uri())
        tree, store = place.path / "tree", place.path / "store"
        wanted = sources.Git(place.url, place.commit)
        environment = {"PATH": os.environ["PATH"]}
        said: list[str] = []
        fetched = sources.fetch(wanted, str(tree), str(store), said.append, environment, rewrite=table)
    finally:
        server.stop()
    assert fetched["submodules"] == {"lib": place.inner}
    assert ((tree / "file").read_text(), (tree / "lib/code").read_text()) == ("2", "x")


def test_a_second_run_asks_nobody(place: Place) -> None:
    assert place.collect().changed
    place.upstream.stop()
    assert not place.collect().changed


def test_a_submodule_that_is_missing_is_fetched(place: Place) -> None:
    place.collect()
    [library] = (place.root / "git").glob("library-*.git")
    for ref in (library / "refs/sparkforge/commits").iterdir():
        ref.unlink()
    assert place.collect(check=True).missing == [
        f"fetch {place.inner} of the submodule lib ({ELSEWHERE}library.git, mirror {place.upstream.url}/library.git),"
        " with its submodules"
    ]
    assert place.collect().changed
    assert not place.collect().changed


def test_objects_that_are_gone_come_again_and_changed_ones_are_refused(place: Place) -> None:
    def pack() -> Path:
        return next((place.root / "git").glob("one-*.git/objects/pack/*.pack"))

    place.collect()
    pack().unlink()
    assert place.collect().changed
    pack().chmod(0o644)
    pack().write_bytes(b"other")
    with pytest.raises(SparkforgeError, match="the file was changed"):
        place.collect()


def test_another_commit_comes_beside_the_first(place: Place) -> None:
    place.collect()
    before, place.commit = place.commit, place.one.commit({"file": "4"})
    assert place.collect().changed
    [one] = (place.root / "git").glob("one-*.git")
    assert {line.partition("\t")[0] for line in (one / "info/refs").read_text().splitlines()} == {before, place.commit}


def test_a_commit_that_upstream_lacks_is_one_message(place: Place) -> None:
    place.commit = "1" * 40
    with pytest.raises(SparkforgeError, match="1111111"):
        place.collect()


def test_archives_of_sources_are_found_by_their_url(tmp_path: Path) -> None:
    file = tmp_path / "v.tar.gz"
    file.write_bytes(b"content")
    digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    directory = Directory(str(tmp_path / "mirror"), check=False, say=lambda _line: None)
    source: dict[str, t.Any] = {"archive": "https://host.example/v.tar.gz", "sha256": digest.upper()}
    collect.sources(directory, [source], {"https://host.example/": f"{tmp_path}/"})
    assert collect.rewrites(directory.rows) == {"https://host.example/v.tar.gz": f"archives/{digest}/v.tar.gz"}
    assert (tmp_path / f"mirror/archives/{digest}/v.tar.gz").read_bytes() == b"content"
