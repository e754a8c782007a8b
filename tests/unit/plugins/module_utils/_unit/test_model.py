"""Fingerprints of units, and requests that are refused."""

import dataclasses
import json
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model

COMMIT = "5811a8d7da873dd699ff6687092c225caffcf1bb"
REQUEST: dict[str, t.Any] = {
    "name": "pytorch",
    "kind": "wheel",
    "source": {"repo": "https://example.com/pytorch.git", "version": COMMIT, "submodules": True},
    "environment": {"USE_CUFILE": "0", "BLAS": "NVPL"},
    "requirements": ["setuptools==80.9.0 --hash=sha256:" + "a" * 64, "wheel==0.45.1"],
}


def unit(**options: t.Any) -> model.Unit:
    return model.Unit.from_options({**REQUEST, **options})


def inputs(requested: model.Unit, **changes: t.Any) -> dict[str, t.Any]:
    tools = {"cc": "gcc 13", "nvcc": "13.0"}
    defaults = {"identity": {"commit": COMMIT}, "tools": tools, "platform": "ubuntu24.04-aarch64"}
    return requested.inputs(**{**defaults, "depends": {}, "digest": {}, **changes})


def fingerprint(requested: model.Unit) -> str:
    return model.fingerprint(inputs(requested))


@pytest.mark.parametrize(
    "options",
    [
        {"environment": {"USE_CUFILE": "1", "BLAS": "NVPL"}},
        {"requirements": ["setuptools==80.9.1", "wheel==0.45.1"]},
        {"subdirectory": "python"},
        {"source": {**REQUEST["source"], "submodules": False}},
    ],
)
def test_fingerprint_depends_on_options_of_the_artefact(options: dict[str, t.Any]) -> None:
    assert fingerprint(unit(**options)) != fingerprint(unit())


def test_requested_library_versions_are_inputs() -> None:
    requested = unit(libraries={"cudnn": {"version": "9.13", "found": "9.13.0.50-1"}, "nccl": {"found": "2.27.7"}})
    assert inputs(requested)["libraries"] == {"cudnn": "9.13"}
    assert requested.found_libraries == {"cudnn": "9.13.0.50-1", "nccl": "2.27.7"}
    newer = unit(libraries={"cudnn": {"version": "9.13", "found": "9.28.0.42-1"}})
    assert model.fingerprint(inputs(requested)) == model.fingerprint(inputs(newer))
    other = unit(libraries={"cudnn": {"version": "9.20", "found": "9.28.0.42-1"}})
    assert model.changes(inputs(newer), inputs(other)) == ["libraries.cudnn: 9.13 -> 9.20"]
    # A unit without libraries keeps the fingerprint it had before this option existed.
    assert "libraries" not in inputs(unit())
    assert model.Unit.from_options(dataclasses.asdict(requested)) == requested
    with pytest.raises(SparkforgeError, match="which cudnn"):
        unit(libraries={"cudnn": "9.13"})


@pytest.mark.parametrize(
    "options",
    [
        {"jobs": 3, "memory_per_job": 100, "keep": 4, "ccache": False, "expect": {"files": ["x"]}, "free_space": 1},
        {"source": {**REQUEST["source"], "repo": "https://mirror.sparkforge.test/git/pytorch.git"}},
        {"index_url": "https://mirror.sparkforge.test/simple", "find_links": ["/wheels"]},
        {"requirements": ["wheel==0.45.1", "setuptools==80.9.0 --hash=sha256:" + "b" * 64]},
        {"environment": {"BLAS": "NVPL", "USE_CUFILE": False}},
    ],
)
def test_fingerprint_ignores_other_options(options: dict[str, t.Any]) -> None:
    assert fingerprint(unit(**options)) == fingerprint(unit())


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ({"tools": {"cc": "gcc 14", "nvcc": "13.0"}}, "toolchain.cc: gcc 13 -> gcc 14"),
        ({"tools": {"cc": "gcc 13", "nvcc": "13.1"}}, "toolchain.nvcc: 13.0 -> 13.1"),
        ({"identity": {"commit": "449b1768410104d3ed79d3bcfe4ba1d65c7f22c0"}}, "source.commit: 5811a8d -> 449b176"),
        ({"depends": {"llvm": "0123456789abcdef"}}, "depends.llvm: (none) -> 0123456789abcdef"),
        ({"platform": "debian13-aarch64"}, "platform: ubuntu24.04-aarch64 -> debian13-aarch64"),
        ({"digest": {"guard.patch": "e" * 64}}, "changes.guard.patch: (none) -> eeeeeee"),
    ],
)
def test_changes_name_the_input(others: dict[str, t.Any], line: str) -> None:
    old, new = inputs(unit()), inputs(unit(), **others)
    assert model.fingerprint(old) != model.fingerprint(new)
    assert model.changes(old, new) == [line]


def test_changed_variables_are_one_line_each() -> None:
    new = inputs(unit(environment={"USE_CUFILE": "1", "BLAS": ""}))
    assert model.changes(inputs(unit()), new) == ["environment.BLAS: NVPL -> ''", "environment.USE_CUFILE: 0 -> 1"]


def test_added_argument_is_one_line() -> None:
    source = {"archive": "/a.tar.xz", "sha256": "a" * 64}
    old = unit(kind="cmake", source=source, cmake_args=["-DA=1", "-DB=2"])
    new = unit(kind="cmake", source=source, cmake_args=["-DC=0", "-DA=1", "-DB=2"])
    assert model.changes(inputs(old), inputs(new)) == ["cmake_args[-DC=0]: (none) -> given"]


def test_fingerprint_depends_on_order_of_arguments() -> None:
    source = {"archive": "/a.tar.xz", "sha256": "a" * 64}
    first = unit(kind="cmake", source=source, cmake_args=["-DA=1", "-DA=2"])
    second = unit(kind="cmake", source=source, cmake_args=["-DA=2", "-DA=1"])
    assert fingerprint(first) != fingerprint(second)


def test_request_round_trip_through_json() -> None:
    requested = unit(depends=["llvm", {"name": "triton", "fingerprint": "0" * 16}], edits=[{"path": "a", "match": "b"}])
    assert model.Unit.from_options(json.loads(json.dumps(dataclasses.asdict(requested)))) == requested


def test_placeholders_become_paths() -> None:
    paths = {"source": "/b/source", "depends.llvm.prefix": "/w/llvm/prefix"}
    text = "-DLLVM={depends.llvm.prefix} {source}/x ${CMAKE} {other}"
    assert model.expand(text, paths) == "-DLLVM=/w/llvm/prefix /b/source/x ${CMAKE} {other}"


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"name": "Py-Torch"}, "valid unit name"),
        ({"kind": "make"}, "kind of unit"),
        ({"depends": ["pytorch"]}, "depends on itself"),
        ({"depends": ["llvm", "llvm"]}, "a dependency twice"),
        ({"depends": [{"name": "llvm", "fingerprint": "xyz"}]}, "valid dependency"),
        ({"subdirectory": "../elsewhere"}, "outside the source"),
        ({"cmake_args": ["-DA=1"]}, "takes no cmake_args"),
        ({"jobs": -1}, "jobs is -1"),
        ({"environment": {"LLVM_SYSPATH": "{depends.llvm.prefix}"}}, "depend on llvm"),
        ({"environment": {"MAX_JOBS": "4"}}, "the engine itself"),
        ({"environment": {"A B": "4"}}, "environment variable name"),
        ({"environment": {"A": ["4"]}}, "not a string"),
        ({"index_url": "https://a/\n--trusted-host b"}, "index_url has"),
        ({"find_links": ["/a\n--trusted-host b"]}, "find_links has"),
        ({"source": {}}, "either a repository"),
        ({"source": {"repo": "https://example.com/a.git"}}, "has no version"),
        ({"source": {"repo": "https://example.com/a.git", "version": "--upload-pack=x"}}, "not a version"),
        ({"source": {"archive": "/a.tar"}}, "has no sha256"),
        ({"source": {"archive": "/a.tar", "sha256": "1", "repo": "https://example.com"}}, "either"),
    ],
)
def test_invalid_request_is_refused(options: dict[str, t.Any], cause: str) -> None:
    with pytest.raises(SparkforgeError, match=cause) as caught:
        unit(**options)
    assert caught.value.remedy
