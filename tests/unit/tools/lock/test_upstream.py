"""Pins for a lock from upstream: NVIDIA's manifests and git repositories."""

import json
import os
import socket
import subprocess
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.tools.lock import upstream

from tests.unit import git_server

SHA = "a" * 64
MANIFEST = {
    "release_date": "2026-06-01",
    "libcudss": {
        "name": "NVIDIA cuDSS",
        "version": "0.8.0.10",
        "cuda_variant": ["12", "13"],
        "linux-sbsa": {
            "cuda12": {"relative_path": "libcudss/a.tar.xz", "sha256": "2" * 64},
            "cuda13": {"relative_path": "libcudss/b.tar.xz", "sha256": "3" * 64},
        },
        "linux-x86_64": {"cuda13": {"relative_path": "libcudss/c.tar.xz", "sha256": "4" * 64}},
    },
    "nvpl_blas": {"version": "0.6.0", "linux-sbsa": {"relative_path": "nvpl_blas/d.tar.xz", "sha256": "5" * 64}},
}
MACHINES = ["aarch64", "x86_64"]
CUDSS = {"product": "cudss", "component": "libcudss", "release": "0.8.0", "version": "0.8.0.10", "variant": "cuda13"}


def resolve_archives(
    *archives: dict[str, t.Any],
    machines: t.Sequence[str] = ("aarch64",),
    fetch: t.Callable[[str], bytes] = lambda _url: json.dumps(MANIFEST).encode(),
) -> dict[str, t.Any]:
    url = "https://host.example/"
    return upstream.resolve_archives([*archives], machines=[*machines], nvidia_url=url, fetch=fetch)


def pins(**changes: object) -> dict[str, str]:
    return upstream.manifest_pins(MANIFEST, {**CUDSS, **changes}, MACHINES, "https://host.example/m.json")


def test_the_pins_of_a_manifest_are_those_of_the_variant() -> None:
    assert pins() == {"linux-sbsa": "3" * 64, "linux-x86_64": "4" * 64}
    assert pins(variant="cuda12") == {"linux-sbsa": "2" * 64}


def test_a_platform_that_is_not_published_is_absent() -> None:
    assert pins(component="nvpl_blas", version="0.6.0", variant=None) == {"linux-sbsa": "5" * 64}


def test_an_unpublished_archive_is_refused_with_the_published_ones() -> None:
    cause = r"https://host\.example/m\.json has no variant cuda14 of libcudss for linux-x86_64; it has cuda13"
    with pytest.raises(SparkforgeError, match=cause):
        pins(variant="cuda14")


def test_each_manifest_is_fetched_once() -> None:
    urls: list[str] = []

    def fetch(url: str) -> bytes:
        urls.append(url)
        return json.dumps(MANIFEST).encode()

    blas = {"product": "cudss", "component": "nvpl_blas", "release": "0.8.0", "version": "0.6.0"}
    archives = resolve_archives(CUDSS, blas, machines=MACHINES, fetch=fetch)
    assert urls == ["https://host.example/compute/cudss/redist/redistrib_0.8.0.json"]
    hashes = {"linux-sbsa": "3" * 64, "linux-x86_64": "4" * 64}
    assert archives["libcudss"] == {"release": "0.8.0", "version": "0.8.0.10", "sha256": hashes}
    assert list(archives["nvpl_blas"]["sha256"]) == ["linux-sbsa"]


def test_a_manifest_never_moves_a_pin_of_the_stack() -> None:
    archive = {**CUDSS, "sha256": {"linux-sbsa": "f" * 64}}
    with pytest.raises(SparkforgeError) as caught:
        resolve_archives(archive)
    assert "3" * 64 in caught.value.cause
    assert "f" * 64 in caught.value.cause


@pytest.mark.parametrize("body", [b"<html>sign in</html>", b"[]", b""])
def test_an_invalid_manifest_is_refused_with_its_url(body: bytes) -> None:
    with pytest.raises(SparkforgeError, match=r"redistrib_0\.8\.0\.json is not (JSON|a JSON object)"):
        resolve_archives(CUDSS, fetch=lambda _url: body)


def test_an_annotated_tag_is_peeled_to_its_commit() -> None:
    answer = f"{'1' * 40}\trefs/tags/v2\n{'2' * 40}\trefs/tags/v2^{{}}\n{'3' * 40}\trefs/heads/v2\n"
    assert upstream.remote_commit(answer, "v2") == "2" * 40
    assert upstream.remote_commit(f"{'3' * 40}\trefs/heads/main\n", "main") == "3" * 40
    assert upstream.remote_commit("", "v2") is None


def test_an_unreachable_repository_is_a_failure_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match=r"git ls-remote file://.* failed") as caught:
        upstream.ask_remote(f"file://{tmp_path}/none.git", "v1")
    assert "remove sources from" in caught.value.remedy


COMMITS = {"pytorch": "1" * 40, "triton": "2" * 40, "llvm": "3" * 40}
TRITON_PIN = ".ci/docker/ci_commit_pins/triton.txt"
SOURCES: dict[str, dict[str, t.Any]] = {
    "pytorch": {"url": "https://example.com/pytorch.git", "ref": "v2"},
    "triton": {"url": "https://example.com/triton.git", "ref": None},
    "llvm": {"url": None, "ref": None},
}


class Upstream:
    """Answers on behalf of repositories, and records the requests."""

    def __init__(self, **files: str) -> None:
        self.files = {TRITON_PIN: f"{COMMITS['triton']}\n", "cmake/llvm-hash.txt": f"{COMMITS['llvm']}\n", **files}
        self.requests: list[tuple[str, ...]] = []

    def ask(self, url: str, ref: str) -> str:
        self.requests.append((url, ref))
        return COMMITS["pytorch"]

    def read(self, url: str, commit: str, paths: t.Sequence[str], ref: str | None) -> tuple[str, str]:
        self.requests.append((url, commit, ref or ""))
        path = next(path for path in paths if path in self.files)
        return path, self.files[path]

    def resolve(self, sources: dict[str, dict[str, t.Any]], known=None) -> dict[str, dict[str, t.Any]]:
        return upstream.Sources(sources, known or {}, ask=self.ask, read=self.read).resolve()


def test_a_pin_is_read_from_the_pinning_source_and_recorded_in_the_lock() -> None:
    repositories = Upstream()
    locked = repositories.resolve(SOURCES)
    assert {name: entry["commit"] for name, entry in locked.items()} == COMMITS
    assert locked["triton"]["pinned_by"] == {"source": "pytorch", "commit": COMMITS["pytorch"], "file": TRITON_PIN}
    pin = {"source": "triton", "commit": COMMITS["triton"], "file": "cmake/llvm-hash.txt"}
    assert locked["llvm"]["pinned_by"] == pin
    assert locked["llvm"]["url"] == "https://github.com/llvm/llvm-project.git"
    assert "pinned_by" not in locked["pytorch"]
    assert repositories.requests == [
        ("https://example.com/pytorch.git", "v2"),
        ("https://example.com/pytorch.git", COMMITS["pytorch"], "v2"),
        ("https://example.com/triton.git", COMMITS["triton"], ""),
    ]


def test_triton_3_8_pins_llvm_of_its_fork() -> None:
    info = {"llvm_hash": "abcdef12" + "0" * 32, "build_number": 1, "sha256sum": {"ubuntu-arm64": "a" * 64}}
    llvm = Upstream(**{"cmake/llvm-info.json": json.dumps(info)}).resolve(SOURCES)["llvm"]
    assert llvm["commit"] == info["llvm_hash"]
    assert llvm["url"] == "https://github.com/triton-lang/llvm-project.git"


def test_the_stacks_repository_overrides_that_of_the_pin() -> None:
    mirror = {**SOURCES, "llvm": {"url": "https://example.com/llvm.git", "ref": None}}
    assert Upstream().resolve(mirror)["llvm"]["url"] == "https://example.com/llvm.git"
    named = json.dumps({"llvm_hash": "4" * 40, "repository": "https://example.com/other.git"})
    llvm = Upstream(**{"cmake/llvm-info.json": named}).resolve(SOURCES)["llvm"]
    assert llvm["url"] == "https://example.com/other.git"


def test_a_source_with_a_commit_in_the_stack_is_not_resolved() -> None:
    repositories = Upstream()
    commit = "4" * 40
    sources: dict[str, dict[str, t.Any]] = {**SOURCES, "triton": {"url": SOURCES["triton"]["url"], "ref": commit}}
    locked = repositories.resolve(sources)
    assert locked["triton"] == {"url": SOURCES["triton"]["url"], "ref": commit, "commit": commit}
    # Its files are read at that commit, and a commit is not a ref that can be fetched.
    assert ("https://example.com/triton.git", commit, "") in repositories.requests
    assert len(repositories.requests) == 2


def test_a_stack_may_define_a_pin() -> None:
    vision = {"url": "https://example.com/vision.git", "ref": None, "pin": {"source": "pytorch", "files": ["v.txt"]}}
    locked = Upstream(**{"v.txt": "5" * 40}).resolve({"pytorch": SOURCES["pytorch"], "vision": vision})["vision"]
    assert (locked["commit"], locked["pinned_by"]["file"]) == ("5" * 40, "v.txt")


def test_locked_commit_is_kept_without_the_pinning_source() -> None:
    known = {
        "llvm": {"url": "https://example.com/l.git", "ref": None, "commit": "b" * 40},
        "gone": {"commit": "c" * 40},
    }
    repositories = Upstream()
    assert repositories.resolve({"llvm": SOURCES["llvm"]}, known) == {"llvm": known["llvm"]}
    assert repositories.resolve({"llvm": SOURCES["llvm"]}) == {}
    assert repositories.requests == []


def test_an_archive_is_its_own_pin() -> None:
    archive = {"archive": "https://example.com/a.tar.gz", "sha256": SHA}
    assert Upstream().resolve({"tool": archive}) == {"tool": archive}


def test_sources_that_pin_each_other_are_refused() -> None:
    pin = {"files": ["pin.txt"]}
    sources = {
        "a": {"url": "https://example.com/a.git", "ref": None, "pin": {"source": "b", **pin}},
        "b": {"url": "https://example.com/b.git", "ref": None, "pin": {"source": "a", **pin}},
    }
    with pytest.raises(SparkforgeError, match="a -> b -> a"):
        Upstream().resolve(sources)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pin.txt", ""),
        ("pin.txt", "5f40dc89"),
        ("pin.txt", "<html>sign in</html>"),
        ("cmake/llvm-info.json", "{}"),
        ("cmake/llvm-info.json", "[1]"),
        ("cmake/llvm-info.json", "not json"),
        ("cmake/llvm-info.json", '{"llvm_hash": "' + "1" * 40 + '", "repository": "ext::sh -c id"}'),
    ],
)
def test_an_invalid_pin_is_refused_with_its_source(path: str, text: str) -> None:
    with pytest.raises(SparkforgeError, match="pin of pytorch") as caught:
        upstream.read_pin(text, path, "The pin of pytorch")
    assert caught.value.remedy


def git(directory: Path, *arguments: str) -> str:
    return git_server.git(*arguments, cwd=directory)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose tag v1 is not its newest commit, and which contains a file that is not needed."""
    path = tmp_path / "upstream"
    (path / "cmake").mkdir(parents=True)
    git(path, "init", "-q", "-b", "main", ".")
    (path / "cmake/llvm-hash.txt").write_text("6" * 40 + "\n")
    (path / "large.bin").write_bytes(os.urandom(1 << 20))
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "one")
    git(path, "tag", "-a", "v1", "-m", "x")
    (path / "cmake/llvm-hash.txt").write_text("7" * 40 + "\n")
    git(path, "commit", "-q", "-a", "-m", "two")
    return path


FILES = ["cmake/llvm-info.json", "cmake/llvm-hash.txt"]


@pytest.mark.parametrize("filters", ["true", "false"])
def test_one_file_of_a_commit_is_read_with_and_without_filters(repository: Path, filters: str) -> None:
    git(repository, "config", "uploadpack.allowFilter", filters)
    first = git(repository, "rev-parse", "v1^{}")
    assert upstream.ask_file(repository.as_uri(), first, FILES) == ("cmake/llvm-hash.txt", "6" * 40 + "\n")


def test_no_other_file_is_fetched_from_a_server_with_filters(repository, tmp_path, monkeypatch):
    git(repository, "config", "uploadpack.allowFilter", "true")
    trace = tmp_path / "trace"
    commit = git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_TRACE_PACKET", str(trace))
    upstream.ask_file(repository.as_uri(), commit, FILES)
    monkeypatch.delenv("GIT_TRACE_PACKET")
    large = git(repository, "rev-parse", "HEAD:large.bin")
    pin = git(repository, "rev-parse", "HEAD:cmake/llvm-hash.txt")
    packets = trace.read_text()
    assert f"want {pin}" in packets
    assert f"want {large}" not in packets
    assert "filter blob:none" in packets


@pytest.fixture
def plain_server(repository: Path) -> Iterator[str]:
    """The repository behind a plain file server, which offers neither single commits nor shallow clones."""
    bare = repository.parent / "bare.git"
    git(repository.parent, "clone", "-q", "--bare", str(repository), str(bare))
    git(bare, "update-server-info")

    server = git_server.Server(repository.parent)
    server.dumb = True
    yield f"{server.url}/bare.git"
    server.stop()


def test_a_server_of_plain_files_is_cloned_completely(plain_server, repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    first = git(repository, "rev-parse", "v1^{}")
    assert upstream.ask_file(plain_server, first, FILES, "v1")[1] == "6" * 40 + "\n"


def test_a_commit_without_the_files_names_them(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    with pytest.raises(SparkforgeError, match=r"has no a\.txt and no b/c\.txt") as caught:
        upstream.ask_file(repository.as_uri(), commit, ["a.txt", "b/c.txt"])
    assert commit in caught.value.cause


def test_a_missing_commit_is_named_with_its_repository(repository: Path) -> None:
    with pytest.raises(SparkforgeError, match="The commit 8888") as caught:
        upstream.ask_file(repository.as_uri(), "8" * 40, FILES)
    assert repository.as_uri() in caught.value.cause
    assert "remove sources from" in caught.value.remedy


def test_a_silent_server_times_out_and_no_git_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "GIT_SECONDS", 1.0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/silent.git"
        with pytest.raises(SparkforgeError, match=r"silent\.git did not answer"):
            upstream.ask_remote(url, "v1")
        processes = [path for path in Path("/proc").glob("[0-9]*/cmdline") if url.encode() in _content(path)]
        assert processes == []


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_no_password_of_a_url_is_shown() -> None:
    url = "http://user:secret@127.0.0.1:1/none.git"
    for call in (lambda: upstream.ask_remote(url, "v1"), lambda: upstream.ask_file(url, "8" * 40, FILES)):
        with pytest.raises(SparkforgeError) as caught:
            call()
        assert "secret" not in str(caught.value)
        assert "127.0.0.1:1/none.git" in caught.value.cause


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("remote: x\nERROR: Repository not found.\nfatal: advice\n", "Repository not found"),
        ("something\nlast line.\n", "last line"),
        ("fatal: http://user:secret@x/y is not there\n", "fatal: http://x/y is not there"),
        ("", "no output"),
    ],
)
def test_the_error_in_gits_output_is_shown(stderr: str, expected: str) -> None:
    result = subprocess.CompletedProcess([], 1, "", stderr)
    assert upstream._format_error(result, "http://user:secret@x/y") == expected
