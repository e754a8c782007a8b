# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Resolving a lock: from recorded metadata of the package index, and from manifests and git's answers."""

from __future__ import annotations

import functools
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.lock import upstream as _lock
from packaging.requirements import Requirement

# What pip reported for these platforms on 2026-11-20: name, version, sha256, Requires-Dist.
RECORDED = json.loads((Path(__file__).parent / "recorded" / "wheels.json").read_text())
SHA = "a" * 64


class Index:
    """Answers from recorded wheels, the newest that fits first, and remembers what it was asked."""

    def __init__(self, wheels: list[_lock.Distribution]) -> None:
        self.wheels = wheels
        self.asked: list[str] = []

    def __call__(self, requirements: list[str]) -> list[_lock.Distribution]:
        self.asked += requirements
        answers = []
        for text in requirements:
            wanted = Requirement(text)
            for wheel in self.wheels:
                if wheel.name == wanted.name and wanted.specifier.contains(wheel.version, prereleases=True):
                    answers.append(wheel)
                    break
        return answers


def recorded(platform: str) -> Index:
    return Index(
        [
            _lock.Distribution(item["name"], item["version"], item["sha256"], tuple(item["requires"]))
            for item in RECORDED[platform]
        ]
    )


def wheel(name: str, version: str, *requires: str) -> _lock.Distribution:
    return _lock.Distribution(name, version, SHA, requires)


AARCH64 = _lock.Target("3.12", "aarch64")


@pytest.mark.parametrize(
    ("platform", "python", "machine"),
    [("cp312-linux-aarch64", "3.12", "aarch64"), ("cp39-linux-x86_64", "3.9", "x86_64")],
)
def test_a_platform_name_and_its_target_are_the_same_thing(platform: str, python: str, machine: str) -> None:
    target = _lock.target_of(platform)
    assert (target.python, target.machine) == (python, machine)
    assert target.platform == platform


@pytest.mark.parametrize("name", ["", "cp312", "py3-linux-aarch64", "cp312-linux-arm64", "cp312-win-amd64"])
def test_a_name_that_is_no_platform_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(SparkforgeError, match="cp312-linux-aarch64"):
        _lock.target_of(name)


def test_the_cpu_build_for_aarch64_has_no_triton_and_nothing_of_nvidia() -> None:
    target = _lock.target_of("cp313-linux-aarch64")
    wheels = _lock.resolve_wheels(["torch==2.10.0"], target, recorded(target.platform))
    names = [item.name for item in wheels]
    assert names == sorted(names)
    assert {"torch", "filelock", "sympy", "mpmath", "markupsafe"} <= set(names)
    assert not [name for name in names if name == "triton" or name.startswith("nvidia-")]


def test_the_same_release_for_x86_64_has_both() -> None:
    target = _lock.target_of("cp313-linux-x86_64")
    found = {
        item.name: item.version for item in _lock.resolve_wheels(["torch==2.10.0"], target, recorded(target.platform))
    }
    assert found["triton"] == "3.6.0"
    assert "nvidia-cudnn-cu12" in found


def test_the_newest_release_for_aarch64_brings_triton_and_what_the_extras_of_cuda_toolkit_name() -> None:
    target = _lock.target_of("cp312-linux-aarch64")
    index = recorded(target.platform)
    found = {item.name: item for item in _lock.resolve_wheels(["torch==2.15.0", "torchvision==0.29.2"], target, index)}
    assert found["triton"].version == "3.9.0"
    assert found["nvidia-cublas"].version == "13.4.1.3"
    # An extra of cuda-toolkit that torch does not ask for.
    assert "nvidia-npp" not in found
    assert (
        found["torch"].line
        == "torch==2.15.0 --hash=sha256:9e51cf9460c5441dcd2a4f31ece207e35ea7c3d2535be0f929cca4944e2eeb18"
    )
    # No marker may reach pip: it would evaluate it for the controller.
    assert not [text for text in index.asked if ";" in text or "[" in text]


@pytest.mark.parametrize(
    ("marker", "machine", "python", "expected"),
    [
        ('platform_machine == "x86_64"', "aarch64", "3.12", False),
        ('platform_machine == "aarch64"', "aarch64", "3.12", True),
        ('platform_machine == "x86_64"', "x86_64", "3.12", True),
        ('python_version < "3.13"', "aarch64", "3.12", True),
        ('python_version < "3.9"', "aarch64", "3.12", False),
        ('python_full_version >= "3.10"', "aarch64", "3.12", True),
        ('sys_platform == "win32"', "x86_64", "3.12", False),
        ('extra == "docs"', "aarch64", "3.12", False),
        ('platform_system == "Linux" and extra == "docs"', "aarch64", "3.12", False),
    ],
)
def test_a_marker_is_evaluated_for_the_target_and_not_for_the_controller(
    marker: str, machine: str, python: str, expected: bool
) -> None:
    target = _lock.Target(python, machine)
    index = Index([wheel("root", "1", f"leaf; {marker}"), wheel("leaf", "1")])
    names = [item.name for item in _lock.resolve_wheels(["root==1"], target, index)]
    assert ("leaf" in names) is expected


def test_an_extra_that_is_asked_for_late_is_still_followed() -> None:
    index = Index(
        [
            wheel("root", "1", "tool", "other"),
            wheel("tool", "1", 'leaf; extra == "fast"'),
            wheel("other", "1", "tool[fast]"),
            wheel("leaf", "1"),
        ]
    )
    assert [item.name for item in _lock.resolve_wheels(["root"], AARCH64, index)] == [
        "leaf",
        "other",
        "root",
        "tool",
    ]


def test_a_version_gives_way_to_what_is_asked_later_and_leaves_none_of_its_own_behind() -> None:
    index = Index(
        [
            wheel("tool", "2", "only-of-two"),
            wheel("tool", "1"),
            wheel("only-of-two", "1"),
            wheel("root", "1", "tool", "middle"),
            wheel("middle", "1", "tool<2"),
        ]
    )
    found = {item.name: item.version for item in _lock.resolve_wheels(["root"], AARCH64, index)}
    assert found == {"root": "1", "middle": "1", "tool": "1"}


def test_a_contradiction_names_both_sides() -> None:
    index = Index([wheel("one", "1", "leaf==1"), wheel("two", "1", "leaf==2"), wheel("leaf", "1"), wheel("leaf", "2")])
    with pytest.raises(SparkforgeError) as caught:
        _lock.resolve_wheels(["one", "two"], AARCH64, index)
    assert "leaf is wanted as" in caught.value.cause
    assert "one 1" in caught.value.cause
    assert "two 1" in caught.value.cause


def test_requirements_that_never_settle_end_in_a_message() -> None:
    class Moving(Index):
        """Has a new version with a new dependency at each question."""

        def __call__(self, requirements: list[str]) -> list[_lock.Distribution]:
            return [wheel(Requirement(text).name, "1", f"{Requirement(text).name}x") for text in requirements]

    with pytest.raises(SparkforgeError, match="not settled after 40 rounds"):
        _lock.resolve_wheels(["leaf"], AARCH64, Moving([]))


def test_a_dependency_from_a_url_is_refused() -> None:
    index = Index([wheel("root", "1", "leaf @ https://example.com/leaf.whl")])
    with pytest.raises(SparkforgeError, match="leaf from a URL"):
        _lock.resolve_wheels(["root"], AARCH64, index)


def test_what_the_index_has_not_is_named_with_who_needs_it() -> None:
    with pytest.raises(SparkforgeError) as caught:
        _lock.resolve_wheels(["root"], AARCH64, Index([wheel("root", "1", "leaf>=3")]))
    assert "leaf>=3 for cp312-linux-aarch64 (needed by root 1)" in caught.value.cause


@pytest.mark.parametrize(
    "archive",
    [{"hashes": {"sha256": SHA}}, {"hash": f"sha256={SHA}"}, {"hash": f"sha256={SHA}", "hashes": {}}],
)
def test_a_report_of_every_age_of_pip_is_read(archive: dict[str, object]) -> None:
    report = {
        "install": [
            {
                "metadata": {"name": "Typing_Extensions", "version": "4.1", "requires_dist": None},
                "download_info": {"url": "https://host.example/x.whl", "archive_info": archive},
            }
        ]
    }
    assert [item.line for item in _lock.read_report(report)] == [f"typing-extensions==4.1 --hash=sha256:{SHA}"]


def test_a_wheel_without_sha256_is_refused() -> None:
    report = {"install": [{"metadata": {"name": "x", "version": "1"}, "download_info": {"archive_info": {}}}]}
    with pytest.raises(SparkforgeError, match="no sha256 for x 1"):
        _lock.read_report(report)


def test_pip_is_asked_for_the_target_and_for_nothing_that_it_would_build() -> None:
    pip = _lock.Pip(command=["pip"], index_url="https://index.example/simple", find_links=["/wheels"])
    line = pip.arguments(AARCH64, ["torch==2.15.0"], "/somewhere")
    assert "--only-binary=:all:" in line
    assert "--no-deps" in line
    assert line[line.index("--python-version") + 1] == "3.12"
    platforms = [line[index + 1] for index, item in enumerate(line) if item == "--platform"]
    assert "manylinux_2_28_aarch64" in platforms
    assert "manylinux2014_aarch64" in platforms
    assert not [item for item in platforms if not item.endswith("_aarch64")]
    assert line[line.index("--index-url") + 1] == "https://index.example/simple"
    assert line[line.index("--find-links") + 1] == "/wheels"
    assert line[-1] == "torch==2.15.0"


def test_no_index_is_asked_when_told_so() -> None:
    line = _lock.Pip(command=["pip"], no_index=True).arguments(AARCH64, ["x"], "/somewhere")
    assert "--no-index" in line
    assert "--index-url" not in line


def test_a_failing_pip_is_reported_in_its_own_words() -> None:
    said = "WARNING: noise\nERROR: No matching distribution found for x\n"
    script = f"import sys; sys.stderr.write({said!r}); sys.exit(1)"
    pip = _lock.Pip(command=[sys.executable, "-c", script])
    with pytest.raises(SparkforgeError) as caught:
        pip.ask(AARCH64, ["x==1"])
    assert "No matching distribution found for x" in caught.value.cause
    assert "noise" not in caught.value.cause
    assert caught.value.remedy


MANIFEST = {
    "release_date": "2026-06-01",
    "libcudss": {
        "name": "NVIDIA cuDSS",
        "version": "0.8.0.10",
        "cuda_variant": ["12", "13"],
        "linux-sbsa": {"cuda12": {"sha256": "2" * 64}, "cuda13": {"sha256": "3" * 64}},
        "linux-x86_64": {"cuda13": {"sha256": "4" * 64}},
    },
    "nvpl_blas": {"version": "0.6.0", "linux-sbsa": {"sha256": "5" * 64}},
}
PLATFORMS = ["linux-sbsa", "linux-x86_64"]
CUDSS = {
    "product": "cudss",
    "component": "libcudss",
    "release": "0.8.0",
    "version": "0.8.0.10",
    "variant": "cuda13",
}


def pins(**changes: object) -> dict[str, str]:
    arguments = {"component": "libcudss", "version": "0.8.0.10", "variant": "cuda13", "platforms": PLATFORMS}
    return _lock.manifest_pins(MANIFEST, **{**arguments, **changes}, url="https://host.example/m.json")  # type: ignore[arg-type]


def test_the_pins_of_a_manifest_are_those_of_the_variant() -> None:
    assert pins() == {"linux-sbsa": "3" * 64, "linux-x86_64": "4" * 64}
    assert pins(variant="cuda12") == {"linux-sbsa": "2" * 64}


def test_a_platform_that_is_not_published_is_absent() -> None:
    assert pins(component="nvpl_blas", version="0.6.0", variant=None) == {"linux-sbsa": "5" * 64}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"component": "libcuds"}, "no component libcuds; it has libcudss, nvpl_blas"),
        ({"version": "0.8.0.9"}, "has libcudss 0.8.0.10, the stack says 0.8.0.9"),
        ({"variant": "cuda14"}, "not for linux-sbsa or linux-x86_64 with variant cuda14"),
        ({"platforms": ["linux-riscv"]}, "not for linux-riscv"),
        ({"variant": None}, "not for linux-sbsa or linux-x86_64"),
    ],
)
def test_a_manifest_without_what_is_wanted_says_what_it_has(changes: dict[str, object], words: str) -> None:
    with pytest.raises(SparkforgeError) as caught:
        pins(**changes)
    assert words in caught.value.cause
    assert "https://host.example/m.json" in caught.value.cause


def test_archives_are_asked_for_once_per_manifest() -> None:
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return json.dumps(MANIFEST).encode()

    blas = {"product": "cudss", "component": "nvpl_blas", "release": "0.8.0", "version": "0.6.0"}
    found = _lock.resolve_archives(
        [CUDSS, blas], machines=["aarch64", "x86_64"], nvidia_url="https://host.example/", fetch=fetch
    )
    assert asked == ["https://host.example/compute/cudss/redist/redistrib_0.8.0.json"]
    assert found["libcudss"] == {
        "release": "0.8.0",
        "version": "0.8.0.10",
        "sha256": {"linux-sbsa": "3" * 64, "linux-x86_64": "4" * 64},
    }
    assert list(found["nvpl_blas"]["sha256"]) == ["linux-sbsa"]


def test_a_manifest_never_moves_a_pin_of_the_stack() -> None:
    archive = {**CUDSS, "sha256": {"linux-sbsa": "f" * 64}}
    with pytest.raises(SparkforgeError) as caught:
        _lock.resolve_archives(
            [archive],
            machines=["aarch64"],
            nvidia_url="https://host.example",
            fetch=lambda _url: json.dumps(MANIFEST).encode(),
        )
    assert "3" * 64 in caught.value.cause
    assert "f" * 64 in caught.value.cause


@pytest.mark.parametrize("body", [b"<html>sign in</html>", b"[]", b""])
def test_something_else_than_a_manifest_is_refused_with_its_url(body: bytes) -> None:
    with pytest.raises(SparkforgeError, match=r"redistrib_0\.8\.0\.json is not a redist manifest"):
        _lock.resolve_archives(
            [CUDSS], machines=["aarch64"], nvidia_url="https://host.example", fetch=lambda _url: body
        )


def test_an_annotated_tag_is_peeled_to_its_commit() -> None:
    answer = f"{'1' * 40}\trefs/tags/v2\n{'2' * 40}\trefs/tags/v2^{{}}\n{'3' * 40}\trefs/heads/v2\n"
    assert _lock.remote_commit(answer, "v2") == "2" * 40
    assert _lock.remote_commit(f"{'3' * 40}\trefs/heads/main\n", "main") == "3" * 40
    assert _lock.remote_commit("", "v2") is None


def test_an_unreachable_repository_is_a_failure_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match=r"git ls-remote file://.* failed") as caught:
        _lock.ask_remote(f"file://{tmp_path}/none.git", "v1")
    assert "leave sources out" in caught.value.remedy


# --- sources and what they say of each other ---

COMMITS = {"pytorch": "1" * 40, "triton": "2" * 40, "llvm": "3" * 40}
TRITON_PIN = ".ci/docker/ci_commit_pins/triton.txt"
SOURCES: dict[str, dict[str, t.Any]] = {
    "pytorch": {"url": "https://example.com/pytorch.git", "ref": "v2"},
    "triton": {"url": "https://example.com/triton.git", "ref": None},
    "llvm": {"url": None, "ref": None},
}


class Upstream:
    """Answers for repositories, and remembers what it was asked."""

    def __init__(self, **files: str) -> None:
        self.files = {TRITON_PIN: f"{COMMITS['triton']}\n", "cmake/llvm-hash.txt": f"{COMMITS['llvm']}\n", **files}
        self.asked: list[tuple[str, ...]] = []

    def ask(self, url: str, ref: str) -> str:
        self.asked.append((url, ref))
        return COMMITS["pytorch"]

    def read(self, url: str, commit: str, paths: t.Sequence[str], ref: str | None) -> tuple[str, str]:
        self.asked.append((url, commit, ref or ""))
        found = next(path for path in paths if path in self.files)
        return found, self.files[found]

    def resolve(
        self, sources: dict[str, dict[str, t.Any]], known: dict[str, dict[str, t.Any]] | None = None
    ) -> dict[str, dict[str, t.Any]]:
        return _lock.Sources(sources, known or {}, ask=self.ask, read=self.read).resolve()


def test_a_pin_is_read_from_the_tree_of_the_source_that_pins_and_the_lock_says_where() -> None:
    upstream = Upstream()
    found = upstream.resolve(SOURCES)
    assert {name: entry["commit"] for name, entry in found.items()} == COMMITS
    assert found["triton"]["pinned_by"] == {"source": "pytorch", "commit": COMMITS["pytorch"], "file": TRITON_PIN}
    assert found["llvm"]["pinned_by"] == {
        "source": "triton",
        "commit": COMMITS["triton"],
        "file": "cmake/llvm-hash.txt",
    }
    assert found["llvm"]["url"] == "https://github.com/llvm/llvm-project.git"
    assert "pinned_by" not in found["pytorch"]
    assert upstream.asked == [
        ("https://example.com/pytorch.git", "v2"),
        ("https://example.com/pytorch.git", COMMITS["pytorch"], "v2"),
        ("https://example.com/triton.git", COMMITS["triton"], ""),
    ]


def test_from_3_8_on_llvm_is_that_of_tritons_fork_with_the_sums_of_its_archives() -> None:
    info = {
        "llvm_hash": "abcdef12" + "0" * 32,
        "build_number": 1,
        "sha256sum": {"ubuntu-arm64": "a" * 64, "ubuntu-x64": "b" * 64, "macos-arm64": "c" * 64, "almalinux-x64": "x"},
    }
    llvm = Upstream(**{"cmake/llvm-info.json": json.dumps(info)}).resolve(SOURCES)["llvm"]
    assert llvm["commit"] == info["llvm_hash"]
    assert llvm["url"] == "https://github.com/triton-lang/llvm-project.git"
    assert llvm["prebuilt"] == {
        "aarch64": {"file": "llvm-abcdef12-ubuntu-arm64-1.tar.gz", "sha256": "a" * 64},
        "x86_64": {"file": "llvm-abcdef12-ubuntu-x64-1.tar.gz", "sha256": "b" * 64},
    }


def test_the_stacks_own_repository_comes_before_that_of_the_pin() -> None:
    mirror = {**SOURCES, "llvm": {"url": "https://example.com/llvm.git", "ref": None}}
    assert Upstream().resolve(mirror)["llvm"]["url"] == "https://example.com/llvm.git"
    named = json.dumps({"llvm_hash": "4" * 40, "repository": "https://example.com/other.git"})
    assert Upstream(**{"cmake/llvm-info.json": named}).resolve(SOURCES)["llvm"]["url"] == (
        "https://example.com/other.git"
    )


def test_a_source_that_the_stack_names_a_commit_of_is_not_asked_for() -> None:
    upstream = Upstream()
    commit = "4" * 40
    sources: dict[str, dict[str, t.Any]] = {**SOURCES, "triton": {"url": SOURCES["triton"]["url"], "ref": commit}}
    found = upstream.resolve(sources)
    assert found["triton"] == {"url": SOURCES["triton"]["url"], "ref": commit, "commit": commit}
    # Its tree is read at that commit, which is no branch to fetch.
    assert ("https://example.com/triton.git", commit, "") in upstream.asked
    assert len(upstream.asked) == 2


def test_a_stack_may_name_a_pin_of_its_own() -> None:
    sources = {
        "pytorch": SOURCES["pytorch"],
        "vision": {
            "url": "https://example.com/vision.git",
            "ref": None,
            "pin": {"source": "pytorch", "files": ["v.txt"]},
        },
    }
    found = Upstream(**{"v.txt": "5" * 40}).resolve(sources)
    assert found["vision"]["commit"] == "5" * 40
    assert found["vision"]["pinned_by"]["file"] == "v.txt"


def test_without_the_source_that_pins_it_the_commit_of_the_lock_stays() -> None:
    known = {
        "llvm": {"url": "https://example.com/l.git", "ref": None, "commit": "b" * 40},
        "gone": {"commit": "c" * 40},
    }
    upstream = Upstream()
    assert upstream.resolve({"llvm": SOURCES["llvm"]}, known) == {"llvm": known["llvm"]}
    assert upstream.resolve({"llvm": SOURCES["llvm"]}) == {}
    assert upstream.asked == []


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
def test_a_pin_that_is_none_is_refused_with_its_place(path: str, text: str) -> None:
    with pytest.raises(SparkforgeError, match="pin of pytorch") as caught:
        _lock.read_pin(text, path, "The pin of pytorch")
    assert caught.value.remedy


def git(directory: Path, *arguments: str) -> str:
    people = {f"GIT_{who}_{what}": "x@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **people, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose tag v1 is not its newest commit, beside files that nobody asks for."""
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
def test_one_file_of_a_commit_is_read_from_a_server_that_filters_and_from_one_that_does_not(
    repository: Path, filters: str
) -> None:
    git(repository, "config", "uploadpack.allowFilter", filters)
    first = git(repository, "rev-parse", "v1^{}")
    assert _lock.ask_file(repository.as_uri(), first, FILES) == ("cmake/llvm-hash.txt", "6" * 40 + "\n")


def test_from_a_server_that_filters_no_other_file_comes(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    trace = tmp_path / "trace"
    commit = git(repository, "rev-parse", "HEAD")
    _lock.ask_file(repository.as_uri(), commit, FILES, environment={"GIT_TRACE_PACKET": str(trace)})
    large = git(repository, "rev-parse", "HEAD:large.bin")
    wanted = git(repository, "rev-parse", "HEAD:cmake/llvm-hash.txt")
    asked = trace.read_text()
    assert f"want {wanted}" in asked
    assert f"want {large}" not in asked
    assert "filter blob:none" in asked


@pytest.fixture
def plain_server(repository: Path) -> Iterator[str]:
    """The repository behind a server of plain files, which gives no single commit and no shallow one."""
    bare = repository.parent / "bare.git"
    git(repository.parent, "clone", "-q", "--bare", str(repository), str(bare))
    git(bare, "update-server-info")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: t.Any) -> None:
            del format, arguments

    handler = functools.partial(Quiet, directory=str(repository.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/bare.git"
        server.shutdown()


def test_a_server_of_plain_files_is_read_whole(plain_server: str, repository: Path) -> None:
    first = git(repository, "rev-parse", "v1^{}")
    assert _lock.ask_file(plain_server, first, FILES, "v1", {"no_proxy": "127.0.0.1"})[1] == "6" * 40 + "\n"


def test_a_commit_without_the_files_names_them(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    with pytest.raises(SparkforgeError, match=r"has no a\.txt and no b/c\.txt") as caught:
        _lock.ask_file(repository.as_uri(), commit, ["a.txt", "b/c.txt"])
    assert commit in caught.value.cause


def test_a_commit_that_is_not_there_is_said_with_its_repository(repository: Path) -> None:
    with pytest.raises(SparkforgeError, match="The commit 8888") as caught:
        _lock.ask_file(repository.as_uri(), "8" * 40, FILES)
    assert repository.as_uri() in caught.value.cause
    assert "leave sources out" in caught.value.remedy


def test_a_server_that_says_nothing_is_given_up_and_no_git_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lock, "GIT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/silent.git"
        with pytest.raises(SparkforgeError, match=r"silent\.git did not answer git within 1 s"):
            _lock.ask_remote(url, "v1", {"no_proxy": "127.0.0.1"})
        left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if url.encode() in _content(path)]
        assert left == []


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_no_password_of_a_url_is_shown() -> None:
    url = "http://user:secret@127.0.0.1:1/none.git"
    for call in (lambda: _lock.ask_remote(url, "v1"), lambda: _lock.ask_file(url, "8" * 40, FILES)):
        with pytest.raises(SparkforgeError) as caught:
            call()
        assert "secret" not in str(caught.value)
        assert "127.0.0.1:1/none.git" in caught.value.cause


# --- what units are built with, and what they need ---


def test_a_units_requirements_are_locked_with_what_they_need() -> None:
    index = Index([wheel("cmake", "3.31"), wheel("requests", "2.32", "idna"), wheel("idna", "3.11"), wheel("x", "1")])
    lines = _lock.build_requirements(
        {"triton": ["cmake==3.31"], "pytorch": ["requests==2.32"], "llvm": []}, AARCH64, index
    )
    assert lines == {
        "llvm": [],
        "pytorch": [f"idna==3.11 --hash=sha256:{SHA}", f"requests==2.32 --hash=sha256:{SHA}"],
        "triton": [f"cmake==3.31 --hash=sha256:{SHA}"],
    }


def test_the_index_is_asked_once_for_what_many_units_want() -> None:
    index = Index([wheel("ninja", "1.13"), wheel("wheel", "0.45")])
    ask = _lock.remembering(index)
    _lock.build_requirements(
        {"a": ["ninja==1.13", "wheel==0.45"], "b": ["ninja==1.13"], "c": ["wheel==0.45"]}, AARCH64, ask
    )
    assert sorted(index.asked) == ["ninja==1.13", "wheel==0.45"]


def test_what_units_need_at_run_time_is_resolved_together_and_kept_apart() -> None:
    index = Index(
        [
            wheel("numpy", "2.4"),
            wheel("numpy", "2.3"),
            wheel("pillow", "12"),
            wheel("filelock", "4", "leaf"),
            wheel("leaf", "1"),
        ]
    )
    lines = _lock.run_requirements(
        {"pytorch": ["filelock"], "torchvision": ["numpy", "pillow>=5"], "beside": ["numpy==2.3"], "triton": []},
        AARCH64,
        index,
    )
    names = {unit: [line.split(" ")[0] for line in found] for unit, found in lines.items()}
    assert names == {
        "beside": ["numpy==2.3"],
        "pytorch": ["filelock==4", "leaf==1"],
        "torchvision": ["numpy==2.3", "pillow==12"],
        "triton": [],
    }


# Refuses as pip does that is run by another Python, unless told not to compare.
OTHER_PYTHON = """
import json, sys
if "--ignore-requires-python" not in sys.argv:
    sys.exit("ERROR: Package 'x' requires a different Python: 3.11.7 not in '>=3.12'")
report = sys.argv[sys.argv.index("--report") + 1]
metadata = {"name": "x", "version": "1", "requires_python": REQUIRED}
item = {"metadata": metadata, "download_info": {"archive_info": {"hashes": {"sha256": "a" * 64}}}}
json.dump({"install": [item]}, open(report, "w"))
"""


def test_the_python_that_counts_is_the_targets_and_not_that_of_pip() -> None:
    command = [sys.executable, "-c", OTHER_PYTHON.replace("REQUIRED", "'>=3.12,!=3.14.1'")]
    assert _lock.Pip(command=command).ask(AARCH64, ["x==1"]) == [wheel("x", "1")]
    command = [sys.executable, "-c", OTHER_PYTHON.replace("REQUIRED", "'>=3.13'")]
    with pytest.raises(SparkforgeError, match=r"x 1 requires Python >=3\.13, and cp312-linux-aarch64 has 3\.12"):
        _lock.Pip(command=command).ask(AARCH64, ["x==1"])


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("WARNING: x\nERROR: a.\nERROR: b\n", "a; b"),
        ("something\nlast line.\n", "last line"),
        ("", "it said nothing"),
        (f"ERROR: none (from versions: {'1.0, ' * 100})", "none (from other versions)"),
    ],
)
def test_of_what_pip_says_its_errors_are_shown(stderr: str, expected: str) -> None:
    assert _lock.last_errors(stderr) == expected
