"""Units for source_build, merged from the stack's definition and the user's settings."""

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans.units import units

PLATFORM = "cp312-linux-aarch64"
SOURCE = {"repo": "https://example.com/tool.git", "version": "1" * 40}


def unit(*layers: dict[str, t.Any], built: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
    [tool] = units(["tool"], [{"tool": {"source": SOURCE}}, *({"tool": layer} for layer in layers)], PLATFORM, built)
    return t.cast("dict[str, t.Any]", tool)


def test_unset_options_of_a_unit_have_defaults() -> None:
    assert unit() == {
        "name": "tool", "kind": "wheel", "source": SOURCE, "subdirectory": "", "requirements": [], "patches": [],
        "edits": [], "environment": {}, "cmake_args": [], "depends": [], "toolchain": {}, "minimum": {},
        "libraries": {}, "expect": {}, "memory_per_job": 4096, "free_space": 0,
        "network": False, "rewrite": {},
    }  # fmt: skip


def test_a_later_layer_overrides_keys_and_null_removes_them() -> None:
    first = {"environment": {"A": "1", "B": "1", "C": "1"}, "expect": {"cmake_cache": {"X": "ON"}, "files": ["a"]}}
    later = {"environment": {"B": "2", "C": None}, "expect": {"cmake_cache": {"Y": "ON"}}}
    tool = unit(first, later)
    assert tool["environment"] == {"A": "1", "B": "2"}
    assert tool["expect"] == {"cmake_cache": {"X": "ON", "Y": "ON"}, "files": ["a"]}


def test_lists_are_joined_and_a_later_definition_replaces_an_earlier_one() -> None:
    tool = unit(
        {"kind": "cmake", "cmake_args": ["-DA=1", "-DB:BOOL=ON", "-Wno-dev"], "patches": ["one.patch"]},
        {"cmake_args": ["-DB=OFF", "-DC=1"], "patches": ["one.patch", "two.patch"]},
    )
    assert tool["cmake_args"] == ["-DA=1", "-Wno-dev", "-DB=OFF", "-DC=1"]
    assert tool["patches"] == ["one.patch", "two.patch"]


def test_null_removes_a_list_but_not_the_source() -> None:
    assert unit({"depends": ["pytorch"]}, {"depends": None})["depends"] == []
    archive = {"archive": "/srv/tool.tar.gz", "sha256": "a" * 64}
    assert unit({"source": archive}, {"source": None})["source"] == archive


def test_a_units_layer_overrides_the_layer_for_all_units() -> None:
    layers = [{"*": {"environment": {"A": "1", "B": "1"}}, "tool": {"source": SOURCE, "environment": {"B": "2"}}}]
    assert units(["tool"], layers, PLATFORM)[0]["environment"] == {"A": "1", "B": "2"}


def test_requirements_are_a_list_or_those_of_the_platform() -> None:
    assert unit({"requirements": {PLATFORM: ["a==1"], "cp312-linux-x86_64": ["a==2"]}})["requirements"] == ["a==1"]
    assert unit({"requirements": {PLATFORM: ["a==1"]}}, {"requirements": ["b==1"]})["requirements"] == ["b==1"]
    assert unit({"requirements": {}})["requirements"] == []
    with pytest.raises(SparkforgeError, match="for cp312-linux-x86_64, not for cp312-linux-aarch64"):
        unit({"requirements": {"cp312-linux-x86_64": ["a==2"]}})


def test_a_built_dependency_has_its_fingerprint() -> None:
    built = {"llvm": {"fingerprint": "0123456789abcdef"}}
    tool = unit({"depends": ["llvm", "other", {"name": "own", "fingerprint": "f" * 16}]}, built=built)
    assert tool["depends"] == [
        {"name": "llvm", "fingerprint": "0123456789abcdef"},
        "other",
        {"name": "own", "fingerprint": "f" * 16},
    ]


def test_the_digest_depends_only_on_inputs_of_the_build() -> None:
    def version(*layers: dict[str, t.Any]) -> str:
        return unit({"environment": {"VERSION": "1+sf{digest}"}}, *layers)["environment"]["VERSION"]

    first = version()
    assert len(first) == len("1+sf12345678")
    assert version({"memory_per_job": 1, "expect": {"files": ["x"]}, "toolchain": {"cc": "clang"}}) == first
    assert version({"source": {**SOURCE, "repo": "https://mirror.sparkforge.test/tool.git"}}) == first
    assert version({"patches": ["/here/one.patch"]}) == version({"patches": ["/there/one.patch"]})
    changes: list[dict[str, t.Any]] = [
        {"source": {**SOURCE, "version": "2" * 40}}, {"environment": {"A": "1"}},
        {"edits": [{"path": "a", "match": "b", "replace": "c"}]}, {"requirements": ["a==1"]},
        {"depends": [{"name": "pytorch", "fingerprint": "0" * 16}]}, {"patches": ["one.patch"]},
    ]  # fmt: skip
    assert len({first, *map(version, changes)}) == len(changes) + 1


def test_the_expected_version_is_that_of_the_build() -> None:
    result = unit({"environment": {"VERSION": "1+sf{digest}"}, "expect": {"version": "1+sf{digest}"}})
    assert result["expect"]["version"] == result["environment"]["VERSION"] and "{" not in result["expect"]["version"]


@pytest.mark.parametrize(
    ("names", "layers", "message"),
    [
        (["toool"], [{"tool": {"source": SOURCE}}], "Unit toool"),
        (["tool"], [{"tool": {}}], "commit of tool"),
        (["tool"], [{"tool": {"source": None}}], "Run playbooks/lock.yml"),
        (["tool"], [{"tool": {"source": SOURCE, "enviroment": {}}}], "Did you mean environment?"),
        (["tool"], [{"tool": {"source": SOURCE, "zzz": {}}}], "It takes kind, source"),
    ],
)
def test_faults_of_units_are_refused_with_a_remedy(names: list[str], layers: list[dict[str, t.Any]], message: str):
    with pytest.raises(SparkforgeError) as caught:
        units(names, layers, PLATFORM)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("layer", "cause", "remedy"),
    [
        ({"environment": {"CC": "gcc"}}, "variable CC is", "toolchain.cc"),
        ({"environment": {"A": "{depends.llvm.prefix}"}}, "depend on llvm", "the option depends"),
        ({"memory_per_job": "much"}, "'memory_per_job' is of type", "in the stack"),
        ({"cmake_args": ["-DA=1"]}, "takes no cmake_args", "such as CMAKE_ARGS"),
        ({"edits": [{"path": "a"}]}, "match, replace", "in the stack"),
    ],
)
def test_options_refused_by_the_host_are_refused_in_the_plan(layer: dict[str, t.Any], cause: str, remedy: str) -> None:
    with pytest.raises(SparkforgeError) as caught:
        unit(layer)
    assert cause in caught.value.cause and remedy in caught.value.remedy


def test_a_number_may_be_a_string() -> None:
    assert unit({"memory_per_job": "3072"})["memory_per_job"] == "3072"


def test_cmake_args_of_a_wheel_are_refused_with_the_right_variable() -> None:
    for name, variable in (("triton", "TRITON_APPEND_CMAKE_ARGS"), ("pytorch", "CMAKE_*"), ("other", "CMAKE_ARGS")):
        with pytest.raises(SparkforgeError) as caught:
            units([name], [{name: {"source": SOURCE, "cmake_args": ["-DA=1"]}}], PLATFORM)
        assert variable in caught.value.remedy
