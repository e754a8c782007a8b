# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An edit after a failed build, on this machine: what is compiled again, and that the result is a clean tree's."""

from __future__ import annotations

import json
import os
import signal
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import processes

from tests.unit.engine_host import EngineHost
from tests.unit.run_module import run_module

UNITS = 6
BROKEN = f"unit_{UNITS - 1}.c"
#: Everything that carries an object over wrongly: a header, an option whose default CMake remembers, a file that only
#: configure writes, a generator that does not say what it reads, sources that are globbed.
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(tiny C)
option(LOUD "loud" OFF)
file(GLOB sources CONFIGURE_DEPENDS unit_*.c)
configure_file(config.h.in config.h)
add_custom_command(OUTPUT generated.h COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/answer.txt generated.h)
add_library(tiny SHARED ${sources} generated.h)
target_include_directories(tiny PRIVATE ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
install(TARGETS tiny LIBRARY DESTINATION lib)
install(DIRECTORY ${CMAKE_BINARY_DIR}/ DESTINATION include FILES_MATCHING PATTERN "config.h" PATTERN "generated.h")
"""
MEND = {
    "path": BROKEN,
    "match": '#include "no_such_header.h"',
    "replace": f"int unit_{UNITS - 1}(void) {{ return 7; }}",
}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    made = EngineHost(tmp_path)
    yield made
    made.gate.unlink(missing_ok=True)
    run_module("source_build", name="tiny", state="absent", user=made.user, root=str(made.root),
               log_root=str(made.logs))  # fmt: skip


@pytest.fixture
def source(host: EngineHost) -> dict[str, t.Any]:
    """Return a project whose last unit does not compile."""
    tree = host.place / "tiny"
    tree.mkdir()
    for number in range(UNITS - 1):
        (tree / f"unit_{number}.c").write_text(f"int unit_{number}(void) {{ return {number}; }}\n")
    (tree / "unit_0.c").write_text('#include "shared.h"\nint unit_0(void) { return SHARED; }\n')
    (tree / "unit_1.c").write_text('#include "config.h"\nint unit_1(void) { return LOUD_OR_NOT; }\n')
    (tree / "unit_2.c").write_text('#include "generated.h"\nint unit_2(void) { return ANSWER; }\n')
    (tree / BROKEN).write_text('#include "no_such_header.h"\n')
    (tree / "shared.h").write_text("#define SHARED 1\n")
    (tree / "config.h.in").write_text("#cmakedefine01 LOUD\n#define LOUD_OR_NOT LOUD\n")
    (tree / "answer.txt").write_text("#define ANSWER 42\n")
    (tree / "CMakeLists.txt").write_text(CMAKE)
    return host.packed(tree)


def outputs(result: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return what the receipt says of every file that was made."""
    receipt = json.loads(Path(result["receipt"]).read_text())
    return list(receipt["outputs"])


def files(result: dict[str, t.Any]) -> list[str]:
    prefix = Path(result["prefix"])
    return sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*"))


def again(host: EngineHost) -> list[str]:
    """Return what was compiled since the last call."""
    found = sorted(host.compiled())
    host.record.unlink(missing_ok=True)
    return found


#: What an edit touches beside the unit that it mends: name, edits, units; none where the tree is made again.
EDITS = [
    ("a source", [], [BROKEN]),
    ("a header", [{"path": "shared.h", "match": "1", "replace": "2"}], ["unit_0.c", BROKEN]),
    ("a default that CMake remembers", [{"path": "CMakeLists.txt", "match": "OFF", "replace": "ON"}], []),
    ("what a generator reads unasked", [{"path": "answer.txt", "match": "42", "replace": "43"}], []),
    (
        "a header that configure no longer writes",
        [
            {"path": "CMakeLists.txt", "match": "configure_file(config.h.in config.h)\n", "replace": ""},
            {"path": "unit_1.c", "match": '#include "config.h"', "replace": "#define LOUD_OR_NOT 2"},
        ],
        [],
    ),
]


@pytest.mark.parametrize(("edits", "units"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_an_edit_after_a_failure_compiles_what_it_touches_and_makes_what_a_clean_tree_makes(
    host: EngineHost, source: dict[str, t.Any], edits: list[dict[str, str]], units: list[str]
) -> None:
    failed = host.failed(source)
    assert failed["phase"] == "build"
    assert len(again(host)) == UNITS
    mended = host.built(source, edits=[MEND, *edits])
    assert mended["fingerprint"] != failed["fingerprint"]
    assert again(host) == (units or sorted(f"unit_{number}.c" for number in range(UNITS)))
    notes = [note for note in mended["notes"] if failed["fingerprint"] in note]
    assert ["was recreated" in note for note in notes] == [not units], notes
    made = outputs(mended), files(mended)
    clean = host.built(source, edits=[MEND, *edits], rebuild=True)
    assert len(again(host)) == UNITS
    assert (outputs(clean), files(clean)) == made


def test_a_header_that_is_added_may_be_found_by_what_had_found_another(
    host: EngineHost, source: dict[str, t.Any]
) -> None:
    host.failed(source)
    again(host)
    add = "--- /dev/null\n+++ b/config.h\n@@ -0,0 +1 @@\n+#define LOUD_OR_NOT 3\n"
    mended = host.built(source, patches=[{"name": "add", "content": add}], edits=[MEND])
    assert len(again(host)) == UNITS
    assert any("was recreated: config.h is new" in note for note in mended["notes"]), mended["notes"]


def test_an_edit_that_fits_nowhere_costs_nothing_and_going_back_neither(
    host: EngineHost, source: dict[str, t.Any]
) -> None:
    first = host.failed(source)
    again(host)
    assert host.failed(source, edits=[{**MEND, "match": "no such text"}])["phase"] == "patch"
    assert again(host) == []
    # The tree is still the first build's.
    assert host.failed(source)["fingerprint"] == first["fingerprint"]
    assert again(host) == [BROKEN]
    other = {**MEND, "replace": '#include "no_such_header_either.h"'}
    assert "no_such_header_either.h" in host.failed(source, edits=[other])["cause"]
    assert again(host) == [BROKEN]
    # And back, to a state that says of itself that it had fetched, patched and configured.
    assert "no_such_header.h" in host.failed(source)["cause"]
    assert again(host) == [BROKEN]
    assert host.built(source, edits=[MEND])["status"] == "built"
    assert again(host) == [BROKEN]


def test_what_is_configured_wrongly_by_an_edit_is_begun_again(host: EngineHost, source: dict[str, t.Any]) -> None:
    host.failed(source)
    again(host)
    wrong = {"path": "CMakeLists.txt", "match": "project(tiny C)", "replace": "project(tiny C)\nmessage(FATAL_ERROR x)"}
    second = host.failed(source, edits=[MEND, wrong])
    assert second["phase"] == "configure"
    assert again(host) == []
    other = {**wrong, "replace": "project(tiny C)\n"}
    assert any("was recreated" in note for note in host.built(source, edits=[MEND, other])["notes"])


def test_another_environment_or_argument_of_cmake_is_another_tree(host: EngineHost, source: dict[str, t.Any]) -> None:
    host.failed(source)
    again(host)
    mended = host.built(source, edits=[MEND], cmake_args=["-DLOUD=ON"])
    assert len(again(host)) == UNITS
    assert not [note for note in mended["notes"] if "tree" in note]


def test_a_tree_that_a_power_loss_left_is_trusted_up_to_the_last_checkpoint_and_not_without_one(
    host: EngineHost, source: dict[str, t.Any]
) -> None:
    failed = host.failed(source)
    again(host)
    tree = host.tree(failed)
    for path in tree.glob("build/CMakeFiles/tiny.dir/unit_*.o"):
        path.write_bytes(bytes(path.stat().st_size))
    host.change_state(failed, boot_id="another")
    other = {**MEND, "replace": '#include "no_such_header_either.h"'}
    second = host.failed(source, edits=[other])
    assert len(again(host)) == UNITS
    assert any("was rebooted" in note for note in second["notes"])
    host.change_state(second, boot_id="another", checkpoint=None)
    mended = host.built(source, edits=[MEND])
    assert len(again(host)) == UNITS
    assert any("starts from scratch" in note for note in mended["notes"])


def test_compilers_of_a_killed_build_end_before_another_takes_its_tree(
    host: EngineHost, source: dict[str, t.Any]
) -> None:
    host.gate.touch()
    started = host.build(source)
    host.wait_until(lambda: len(host.compiled()) >= 2)
    pid = host.state(started)["pid"]
    os.kill(pid, signal.SIGKILL)
    host.wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert processes.is_alive(f"tiny/{started['fingerprint']}")
    host.build(source, edits=[MEND])
    host.wait_until(lambda: len(host.compiled()) >= 4)
    assert not processes.is_alive(f"tiny/{started['fingerprint']}")
    host.gate.unlink()
    mended = host.built(source, edits=[MEND])
    assert host.state(mended)["attempts"] == 1


def test_killed_while_it_takes_a_tree_over_it_goes_on_and_no_other_build_does(
    host: EngineHost, source: dict[str, t.Any]
) -> None:
    first = host.failed(source)
    again(host)
    other = {**MEND, "replace": '#include "no_such_header_either.h"'}
    second = host.failed(source, edits=[other])
    again(host)
    tree = host.tree(second)
    # As it was in the middle: the sources are the second build's already, in part, and the holder says who is at it.
    (tree / "holder").write_text(f"{first['fingerprint']} {second['fingerprint']}\n")
    assert "either" in host.failed(source, edits=[other])["cause"]
    assert again(host) == [BROKEN]
    (tree / "holder").write_text(f"{first['fingerprint']} {second['fingerprint']}\n")
    host.built(source, edits=[MEND])
    assert len(again(host)) == UNITS
