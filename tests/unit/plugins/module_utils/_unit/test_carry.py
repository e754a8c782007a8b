# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a tree may be gone on with, and what of it stays. Whole builds: modules/test_source_build_carry.py."""

from __future__ import annotations

import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import carry, model

from tests.unit.engine_host import tool

REQUEST: dict[str, t.Any] = {
    "tools": {"cc": "/usr/bin/gcc"},
    "versions": {"cc": "13.3.0"},
    "depends": {"llvm": {"fingerprint": "0" * 16, "prefix": "/p", "wheels": []}},
    "unit": {"python": "/usr/bin/python3", "system_site_packages": False, "requirements": ["wheel==0.45.1"]},
}
INPUTS: dict[str, t.Any] = {
    "name": "tiny",
    "source": {"sha256": "a" * 64, "subdirectory": ""},
    "changes": {"edit x": "1"},
    "environment": {"USE_CUDA": "1"},
    "requirements": {"wheel": "==0.45.1"},
    "cmake_args": [],
    "targets": [],
    "build_tag": "",
    "toolchain": {"cc": "gcc 13"},
    "platform": "debian13-x86_64",
    "depends": {},
}


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


def names(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir()}


def test_patches_edits_and_a_build_tag_share_a_tree_and_nothing_else_does() -> None:
    key = model.tree_key(INPUTS)
    for name, value in INPUTS.items():
        other = f"{value}x" if isinstance(value, str) else {**value, "more": "1"} if isinstance(value, dict) else ["x"]
        same = model.tree_key({**INPUTS, name: other}) == key
        assert same == (name in ("changes", "build_tag")), name


def test_the_digest_in_a_version_does_not_cost_the_tree() -> None:
    def key(version: str) -> str:
        return model.tree_key({**INPUTS, "environment": {"PYTORCH_BUILD_VERSION": version}})

    assert key("2.9.1+cu130.sf0123abcd") == key("2.9.1+cu130.sf89abcdef")
    others = ("2.9.2+cu130.sf0123abcd", "2.9.1+cpu.sf0123abcd", "2.9.1+cu130.sf0123abcde", "2.9.1+cu130.xsf0123abcd")
    assert key("2.9.1+cu130.sf0123abcd") not in {key(version) for version in others}


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({}, None),
        ({"tools": {"cc": "/opt/gcc"}}, "different tools"),
        ({"versions": {"cc": "13.3.1"}}, "different versions"),
        ({"depends": {}}, "different depends"),
        ({"unit": {**REQUEST["unit"], "requirements": ("wheel==0.45.1",)}}, None),
        ({"unit": {**REQUEST["unit"], "requirements": ["wheel==0.45.1 --hash=sha256:1"]}}, "different requirements"),
        ({"unit": {**REQUEST["unit"], "python": "/usr/bin/python3.12"}}, "different python"),
    ],
)
def test_what_was_built_with_something_else_is_not_gone_on_with(change: dict[str, t.Any], doubt: str | None) -> None:
    state = {"changed": {}}
    if doubt is None:
        carry.check_builds(REQUEST, state, {**REQUEST, **change})
        return
    with pytest.raises(carry.Doubt, match=doubt):
        carry.check_builds(REQUEST, state, {**REQUEST, **change})


def test_a_state_that_does_not_say_what_was_changed_is_not_gone_on_with() -> None:
    with pytest.raises(carry.Doubt, match="no record"):
        carry.check_builds(REQUEST, {}, REQUEST)


class Case(t.NamedTuple):
    """Files of the tree, of the pristine sources, and of these changed; what is written, or why nothing is."""

    source: dict[str, str]
    pristine: dict[str, str]
    wanted: dict[str, str]
    touched: set[str]
    found: list[str] | str


@pytest.mark.parametrize(
    "case",
    [
        Case({"a.c": "1", "b.c": "2"}, {"a.c": "1", "b.c": "2"}, {"a.c": "3", "b.c": "2"}, {"a.c"}, ["a.c"]),
        # The build's own change, which no patch is about: as where the same build goes on.
        Case({"a.c": "1", "b.c": "9"}, {"a.c": "1", "b.c": "2"}, {"a.c": "3", "b.c": "2"}, {"a.c"}, ["a.c"]),
        Case({"a.c": "9"}, {"a.c": "1"}, {"a.c": "3"}, {"a.c"}, "the build itself changed a.c"),
        # Written by an attempt that was cut short.
        Case({"a.c": "3"}, {"a.c": "1"}, {"a.c": "3"}, {"a.c"}, []),
        Case({}, {"a.c": "1"}, {"a.c": "1"}, set(), ["a.c"]),
        Case({"new.c": "9"}, {}, {"new.c": "1"}, {"new.c"}, "new.c is new"),
        Case({}, {}, {"new.h": "1"}, {"new.h"}, "new.h is new"),
        Case({}, {"old.h": "1"}, {"old.h": "2"}, {"old.h"}, ["old.h"]),
        Case({"old.h": "1"}, {"old.h": "1"}, {}, {"old.h"}, "old.h is removed"),
    ],
)
def test_only_files_that_differ_are_written(tmp_path: Path, case: Case) -> None:
    trees = {}
    for name in ("source", "pristine", "wanted"):
        trees[name] = write(tmp_path / name, getattr(case, name))
        trees[name].mkdir(exist_ok=True)
    comparison = carry.compare(str(trees["source"]), str(trees["pristine"]))
    arguments: t.Any = (str(trees["source"]), str(trees["wanted"]), {}, case.touched, comparison)
    if isinstance(case.found, str):
        with pytest.raises(carry.Doubt, match=case.found):
            carry.differences(*arguments)
        return
    assert carry.differences(*arguments) == case.found
    times = {path: (trees["source"] / path).stat().st_mtime_ns for path in names(trees["source"])}
    carry.merge(str(trees["source"]), str(trees["wanted"]), case.found, 2e9)
    for path in names(trees["source"]):
        moment = (trees["source"] / path).stat().st_mtime_ns
        assert moment == (2_000_000_000 * 10**9 if path in case.found else times[path])
    assert names(trees["source"]) == set(case.wanted) | (set(case.source) - case.touched)


def test_what_the_last_patches_made_is_no_change_of_the_builds(tmp_path: Path) -> None:
    source = write(tmp_path / "source", {"a.c": "patched", "b.c": "again"})
    wanted = write(tmp_path / "wanted", {"a.c": "pristine", "b.c": "pristine"})
    changed = {name: carry.digest(str(source / name)) for name in ("a.c", "b.c")}
    (source / "b.c").write_text("by the build")
    comparison = carry.compare(str(source), str(wanted))
    with pytest.raises(carry.Doubt, match=r"b\.c"):
        carry.differences(str(source), str(wanted), changed, set(), comparison)
    (source / "b.c").write_text("again")
    assert carry.differences(str(source), str(wanted), changed, set(), comparison) == ["a.c", "b.c"]


#: A tree as setup.py of PyTorch leaves it: CMake builds in source/build, installs into the package, and setuptools
#: collects the package below source/build too.
LOG = "# ninja log v5\n1\t2\t3\tCMakeFiles/a.o\tf\n1\t2\t3\tlib/liba.so\tf\n1\t2\t3\t{source}/torch/made.h\tf\n"
BUILT = {
    "setup.py": "",
    "torch/a.py": "",
    "build/CMakeCache.txt": "",
    "build/CMakeFiles/a.o": "",
    "build/config.h": "",
    "build/lib/liba.so": "",
    "build/lib.linux-x86_64-cpython-312/torch/removed.py": "",
    "build/bdist.linux-x86_64/x": "",
    "torch/made.h": "",
    "torch/lib/installed.so": "",
    "torch.egg-info/SOURCES.txt": "",
}


def built(tmp_path: Path, more: dict[str, str] | None = None) -> Path:
    source = tmp_path / "source"
    return write(source, {**BUILT, "build/.ninja_log": LOG.format(source=source), **(more or {})})


def test_what_ninja_does_not_answer_for_is_made_again(tmp_path: Path) -> None:
    source = built(tmp_path)
    carry.tidy([str(source)], str(source), {"setup.py", "torch/a.py"}, ["torch/a.cpp"])
    assert names(source) == {
        "setup.py", "torch/a.py", "build/.ninja_log", "build/CMakeFiles/a.o", "build/config.h", "build/lib/liba.so",
        "torch/made.h",
    }  # fmt: skip


def test_a_header_that_configuring_wrote_among_the_sources_keeps_its_time(tmp_path: Path) -> None:
    """With ninja's own record, of a compiler that read three of four files."""
    source = write(tmp_path / "source", {"a.c": '#include "made.h"\n#include "build/b.h"\nint a;\n', "made.h": "",
                                         "unread.h": "", "build/b.h": ""})  # fmt: skip
    write(source, {"build/build.ninja": f"rule cc\n  command = gcc -MD -MF $out.d -c {source}/a.c -o $out\n"
                                        f"  depfile = $out.d\n  deps = gcc\nbuild a.o: cc {source}/a.c\n"})  # fmt: skip
    subprocess.run([tool("ninja"), "-C", str(source / "build")], check=True, capture_output=True)
    read = carry._read_by_compilers(str(source / "build"))
    assert read >= {str(source / name) for name in ("a.c", "made.h", "build/b.h")}
    assert str(source / "unread.h") not in read
    carry.tidy([str(source)], str(source), {"a.c"}, ["a.c"])
    assert names(source) == {"a.c", "made.h", "build/b.h", "build/a.o", "build/build.ninja", "build/.ninja_log",
                             "build/.ninja_deps"}  # fmt: skip


def test_a_tree_without_ninja_has_nothing_to_go_on_from(tmp_path: Path) -> None:
    source = write(tmp_path / "source", {"setup.py": "", "build/temp/a.o": ""})
    with pytest.raises(carry.Doubt, match="no ninja log"):
        carry.tidy([str(source)], str(source), {"setup.py"}, ["a.c"])
    assert names(source) == {"setup.py", "build/temp/a.o"}


def test_a_project_within_the_project_is_configured_again_or_the_tree_made_anew(tmp_path: Path) -> None:
    source = built(tmp_path, {"build/sub/CMakeCache.txt": "", "build/CMakeFiles/_CMakeLTOTest-C/CMakeCache.txt": ""})
    before = names(source)
    with pytest.raises(carry.Doubt, match=r"what configured .*build/sub"):
        carry.tidy([str(source)], str(source), {"setup.py", "torch/a.py"}, [])
    assert names(source) == before
    write(source, {"build/nccl-stamp/nccl-configure": "", "build/nccl-stamp/nccl-build": "", "build/nccl-stamp/x": ""})
    carry.tidy([str(source)], str(source), {"setup.py", "torch/a.py"}, [])
    assert {name for name in names(source) if "stamp" in name or "sub" in name} == {"build/nccl-stamp/x"}


@pytest.mark.parametrize(
    "changed", ["CMakeLists.txt", "cmake/find.cmake", "config.h.in", "setup.py", "gen.py", "data.yaml"]
)
def test_what_cmake_or_a_generator_may_read_makes_the_tree_again(tmp_path: Path, changed: str) -> None:
    source = built(tmp_path)
    before = names(source)
    with pytest.raises(carry.Doubt, match=changed):
        carry.tidy([str(source)], str(source), {"setup.py", "torch/a.py", changed}, [changed])
    assert names(source) == before
