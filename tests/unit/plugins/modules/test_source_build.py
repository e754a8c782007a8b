"""The engine on this machine, with real compilers and kills. The compiler itself counts its compilations."""

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import typing as t
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit import git_server, web_server, wheel_tree
from tests.unit.engine_host import CMAKE, EngineHost, tool
from tests.unit.run_module import run_module

SOURCE_FILES = 8
JOBS = 2


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    engine_host = EngineHost(tmp_path)
    yield engine_host
    engine_host.gate.unlink(missing_ok=True)
    run_module("source_build", name="tiny", state="absent", user=engine_host.user, root=str(engine_host.root),
               log_root=str(engine_host.logs))  # fmt: skip


def start_held_build(host: EngineHost, source: dict[str, t.Any], **options: t.Any) -> dict[str, t.Any]:
    """Start a build, and return while its first compilers wait for the gate file to disappear."""
    host.gate.touch()
    started = host.build(source, **options)
    assert started["status"] == "running", started
    host.wait_until(lambda: len(host.compilations()) >= JOBS)
    return started


def lose_power(host: EngineHost, started: dict[str, t.Any], *patterns: str) -> None:
    """Kill all of a build's processes, and overwrite the files that match the patterns with zeros."""
    kill_worker(host, started)
    directory = host.directory(started)
    subprocess.run(["pkill", "-KILL", "-f", str(directory)], check=False)
    for pattern in patterns:
        paths = list(directory.glob(pattern))
        assert paths, pattern
        for path in paths:
            path.write_bytes(bytes(path.stat().st_size))


def kill_worker(host: EngineHost, started: dict[str, t.Any]) -> None:
    pid = host.state(started)["pid"]
    os.kill(pid, signal.SIGKILL)
    host.wait_until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_build_publishes_and_the_same_inputs_do_nothing(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    first = host.must_build(source)
    assert (first["status"], first["changed"]) == ("built", True)
    assert (Path(first["prefix"]) / "lib/libtiny.so").exists() if first.get("prefix") else True
    assert sorted(host.compilations()) == [f"unit_{number}.c" for number in range(SOURCE_FILES)]
    before = {path: path.stat().st_mtime_ns for path in host.base.rglob("*")}
    second = host.build(source)
    assert (second["status"], second["changed"], second["changes"]) == ("unchanged", False, [])
    assert (Path(second["prefix"]) / "lib/libtiny.so").exists()
    assert {path: path.stat().st_mtime_ns for path in host.base.rglob("*")} == before
    receipt = json.loads(Path(second["receipt"]).read_text())
    assert receipt["inputs"]["source"]["sha256"] == source["sha256"]
    assert receipt["outputs"][0]["path"] == "prefix"
    assert not (host.directory(first) / "build").exists()


def test_ccache_runs_the_compiler_in_the_receipt(host: EngineHost) -> None:
    # /usr/bin is on PATH because of cmake, and its gcc comes before the receipt's compiler.
    assert os.access("/usr/bin/gcc", os.X_OK)
    options = host.options(host.project(SOURCE_FILES))
    toolchain = {**options["toolchain"], "ccache": host.ccache()}
    result = host.must_build(options["source"], ccache=True, toolchain=toolchain, keep=1)
    assert sorted(host.compilations()) == [f"unit_{number}.c" for number in range(SOURCE_FILES)]
    assert "ccache" in json.loads(Path(result["receipt"]).read_text())["tools"]


@pytest.fixture
def tool_options(host: EngineHost, tmp_path: Path) -> dict[str, t.Any]:
    """Return the options of a unit whose requirements install versions of cmake and ninja that no host has."""
    for name, version, output in (("cmake", "3.99.1", "cmake version 3.99.1"), ("ninja", "1.99.2", "1.99.2")):
        script = (
            f'#!/bin/sh\ncase "$*" in --version) echo {output}; exit;; esac\n'
            f'echo "{name} $*" >> {tmp_path}/calls\nexec {tool(name)} "$@"\n'
        )
        wheel = wheel_tree.wheel(name, version, scripts={name: script})
        (tmp_path / wheel_tree.file_name(name, version)).write_bytes(wheel)
    return {
        "toolchain": {"cc": str(host.compiler), "cmake": "/nonexistent/cmake", "ninja": "no-such-ninja"},
        "requirements": ["cmake==3.99.1", "ninja==1.99.2"],
        "index_url": "",
        "find_links": [str(tmp_path)],
    }


def test_cmake_and_ninja_of_the_requirements_build_and_are_in_the_receipt(host: EngineHost, tool_options, tmp_path):
    source = host.project(SOURCE_FILES)
    first = host.must_build(source, **tool_options, minimum={"cmake": "3.99"})
    receipt = json.loads(Path(first["receipt"]).read_text())
    assert (receipt["tools"]["cmake"], receipt["tools"]["ninja"]) == ("3.99.1", "1.99.2")
    assert sorted(receipt["inputs"]["toolchain"]) == ["cc", "cxx", "python"]
    assert receipt["inputs"]["requirements"] == {"cmake": "==3.99.1", "ninja": "==1.99.2"}
    calls = (tmp_path / "calls").read_text()
    assert "cmake -G Ninja" in calls
    assert f"cmake --build {host.directory(first)}/build" in calls
    assert "\nninja -j 2" in calls or "\nninja -C" in calls
    assert host.build(source, **tool_options)["status"] == "unchanged"


def test_a_unit_is_fetched_from_mirrors_and_readable_files_have_no_password(host, tool_options, tmp_path, monkeypatch):
    token = f"Basic {base64.b64encode(b'lab:s3cret').decode()}"
    inner = git_server.Repository(tmp_path / "git", "part")
    commit = inner.commit({"unit_1.c": "int unit_1(void) { return 1; }\n"})
    outer = git_server.Repository(tmp_path / "git", "whole")
    files = {"CMakeLists.txt": CMAKE.format(sources="unit_0.c part/unit_1.c"), "unit_0.c": "int unit_0 = 0;\n"}
    submodules = {"part": ("https://github.invalid/other/part.git", commit)}
    version = outer.commit(files, submodules=submodules)
    repositories, index = git_server.Server(tmp_path / "git"), web_server.Server()
    repositories.authorization = index.authorization = token
    for path in tmp_path.glob("*.whl"):
        index.files[f"/simple/{path.name.partition('-')[0]}/"] = f'<a href="/{path.name}">{path.name}</a>'.encode()
        index.files[f"/{path.name}"] = path.read_bytes()
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nindex-url = {index.url.replace('//', '//lab:s3cret@')}/simple/\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    options = {**tool_options, "index_url": None, "find_links": []}
    source = {"repo": "https://git.invalid/team/whole.git", "version": version}
    mirror = repositories.url.replace("//", "//lab:s3cret@") + "/"
    rewrite = {"https://git.invalid/team/": mirror, "https://github.invalid/other/": mirror}
    try:
        result = host.must_build(source, **options, rewrite=rewrite, keep=1)
    finally:
        repositories.stop()
        index.close()
    assert sorted(host.compilations()) == ["unit_0.c", "unit_1.c"]
    receipt = json.loads(Path(result["receipt"]).read_text())
    assert receipt["url"] == source["repo"]
    assert receipt["source"]["submodules"] == {"part": commit}
    # The mirror and the index are not inputs of the fingerprint.
    assert host.build(source, **options)["status"] == "unchanged"
    assert "s3cret" not in json.dumps(result)
    for path in [*host.root.rglob("*"), *host.logs.rglob("*")]:
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o077:
            assert b"s3cret" not in path.read_bytes(), path


def test_a_minimum_applies_to_the_cmake_of_the_requirements(host: EngineHost, tool_options: dict[str, t.Any]) -> None:
    failed = host.must_fail(host.project(SOURCE_FILES), **tool_options, minimum={"cmake": "4.0"})
    assert "is version 3.99.1, but 4.0" in failed["cause"]
    assert "requirements" in failed["remedy"]
    assert host.compilations() == []


def test_check_mode_reports_the_build_and_writes_nothing(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    before = sorted(host.base.rglob("*"))
    result = host.build(source, check_mode=True)
    assert (result["status"], result["changed"]) == ("would_build", True)
    assert sorted(host.base.rglob("*")) == before
    host.must_build(source)
    result = host.build(source, check_mode=True, environment={"USE_CUFILE": "1"})
    assert (result["status"], result["changes"]) == ("would_build", ["environment.USE_CUFILE: (none) -> 1"])
    assert '"USE_CUFILE": "1"' in result["diff"]["after"]
    assert host.build(source, check_mode=True)["changed"] is False


def test_a_killed_engine_resumes_from_the_objects(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    started = start_held_build(host, source)
    host.gate.unlink()
    host.wait_until(lambda: len(host.compilations()) >= SOURCE_FILES // 2)
    host.gate.touch()
    kill_worker(host, started)
    host.gate.unlink()
    assert host.must_build(source)["fingerprint"] == started["fingerprint"]
    counts = Counter(host.compilations())
    assert sorted(counts) == [f"unit_{number}.c" for number in range(SOURCE_FILES)]
    assert sum(counts.values()) <= SOURCE_FILES + JOBS, counts
    assert json.loads(Path(host.build(source)["receipt"]).read_text())["attempts"] == 2


def test_orphaned_compilers_do_not_write_into_the_next_attempt(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    started = start_held_build(host, source)
    kill_worker(host, started)
    # ninja and the compilers started by the killed engine are still waiting.
    assert host.build(source)["status"] == "running"
    host.wait_until(lambda: host.state(started).get("attempts") == 2)
    host.wait_until(lambda: len(host.compilations()) >= 2 * JOBS)
    assert any("interrupted attempt" in note for note in host.state(started)["notes"])
    host.gate.unlink()
    host.must_build(source)
    assert sum(Counter(host.compilations()).values()) == SOURCE_FILES + JOBS


def test_a_second_controller_follows_the_first(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    started = start_held_build(host, source)
    second = host.build(source)
    assert (second["status"], second["fingerprint"]) == ("running", started["fingerprint"])
    host.gate.unlink()
    assert host.must_build(source)["status"] in ("built", "unchanged")
    assert len(host.compilations()) == SOURCE_FILES
    assert host.state(started)["attempts"] == 1


def test_build_tree_is_kept_only_with_keep(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    kept = host.must_build(source, keep=1)
    assert (host.directory(kept) / "build/build.ninja").exists()
    assert set(host.state(kept)["phases"]) >= {"fetch", "build"}
    other = host.must_build(source, keep=0, environment={"ANOTHER": "1"})
    assert sorted(path.name for path in host.directory(other).iterdir()) == [
        "engine", "lock", "network.json", "request.json", "state.json",
    ]  # fmt: skip
    # A directory would get bytecode from a worker that still runs, while the next call replaces it.
    assert (host.directory(other) / "engine").is_file()
    assert not host.directory(kept).exists()
    assert host.state(other)["phases"] == {}


def test_an_edit_after_a_failure_builds_in_another_directory(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES, broken=True)
    failed = host.must_fail(source)
    assert len(host.compilations()) == SOURCE_FILES
    edit = {"path": f"unit_{SOURCE_FILES - 1}.c", "match": '#include "no_such_header.h"', "replace": "int fixed(void);"}
    finished = host.must_build(source, edits=[edit])
    # Without ccache, all objects are compiled again.
    assert len(host.compilations()) == 2 * SOURCE_FILES
    assert finished["fingerprint"] != failed["fingerprint"]
    assert not host.directory(failed).exists()


def test_objects_that_were_not_synced_are_rebuilt_after_a_power_loss(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    started = start_held_build(host, source)
    host.gate.unlink()
    host.wait_until(lambda: len(host.compilations()) >= SOURCE_FILES // 2)
    host.gate.touch()
    # ninja would trust the objects.
    lose_power(host, started, "build/CMakeFiles/tiny.dir/unit_*.o")
    host.change_state(started, boot_id="another")
    host.gate.unlink()
    assert any("was rebooted" in note for note in host.must_build(source)["notes"])
    library = Path(host.build(source)["prefix"]) / "lib/libtiny.so"
    names = subprocess.run(["nm", "-D", str(library)], check=True, capture_output=True, text=True).stdout
    assert all(f"unit_{number}" in names for number in range(SOURCE_FILES))


def test_a_power_loss_before_the_first_sync_restarts_the_build(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    started = start_held_build(host, source)
    lose_power(host, started, "source/CMakeLists.txt", "build/*.ninja")
    host.change_state(started, boot_id="another", checkpoint=None)
    host.gate.unlink()
    assert any("starts from scratch" in note for note in host.must_build(source)["notes"])
    assert host.build(source)["status"] == "unchanged"


def test_a_power_loss_that_damages_the_state_restarts_the_build(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    lose_power(host, start_held_build(host, source), "build/*.ninja", "state.json")
    host.gate.unlink()
    assert host.must_build(source)["status"] == "built"


def test_a_state_without_sources_restarts_the_build(host: EngineHost) -> None:
    source = host.project(2, broken=True)
    failed = host.must_fail(source)
    # An earlier version kept the sources in this directory.
    (host.directory(failed) / "source").rename(host.directory(failed).parent / "tree-0123456789abcdef")
    assert "no_such_header.h" in host.must_fail(source)["cause"]
    assert len(host.compilations()) == 4


def test_a_clock_that_went_back_is_reported_and_does_no_harm(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    started = start_held_build(host, source)
    kill_worker(host, started)
    future = time.time() + 86400
    for path in host.directory(started).glob("source/*"):
        os.utime(path, (future, future))
    host.change_state(started, updated=future)
    host.gate.unlink()
    assert any("went back by 86" in note for note in host.must_build(source)["notes"])
    assert host.build(source)["status"] == "unchanged"


def test_an_edited_receipt_is_not_trusted(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    host.must_build(source)
    receipt = Path(host.build(source)["receipt"])
    text = receipt.read_text()
    receipt.write_text(text.replace('"attempts": 1', '"attempts": 2'))
    healed = host.build(source)
    assert healed["status"] == "unchanged"
    assert "was modified" in json.dumps(healed["warnings"])
    assert receipt.read_text() == text
    # If the copy next to the artefact is edited too, the unit is built again.
    for path in (receipt, Path(healed["artefact"]) / "receipt.json"):
        path.write_text(text.replace('"attempts": 1', '"attempts": 2'))
    assert host.must_build(source)["status"] == "built"
    assert len(host.compilations()) == 2 * SOURCE_FILES


def test_a_missing_artefact_is_built_again(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    prefix = Path(host.must_build(source)["artefact"]) / "prefix"
    prefix.rename(prefix.parent / "gone")
    result = host.build(source, check_mode=True)
    assert (result["status"], result["changes"]) == ("would_build", [f"{prefix.parent}: missing -> built"])
    host.must_build(source)
    assert prefix.exists()


def test_rebuild_builds_although_nothing_changed(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    host.must_build(source)
    assert host.must_build(source, rebuild=True)["status"] == "built"
    assert len(host.compilations()) == 2 * SOURCE_FILES


def test_a_failure_has_cause_remedy_lines_and_log(host: EngineHost) -> None:
    failed = host.must_fail(host.project(SOURCE_FILES, broken=True))
    assert "no_such_header.h" in failed["cause"]
    assert any("no_such_header.h" in line for line in failed["lines"])
    assert len(failed["lines"]) <= 10
    assert "no_such_header.h" in Path(failed["log"]).read_text()
    assert failed["phase"] == "build"
    assert not list((host.root / "receipts").rglob("tiny-*.json"))
    assert not [path for path in (host.root / "wheelhouse").rglob("*") if path.is_file()]


def test_a_silently_dropped_option_fails_and_the_next_run_succeeds(host: EngineHost) -> None:
    source = host.project(SOURCE_FILES)
    fancy = host.base / "fancy"
    options = {
        "environment": {"FANCY_DIR": str(fancy)},
        "expect": {"cmake_cache": {"USE_FANCY": "ON"}, "files": ["lib/libtiny.so"]},
    }
    failed = host.must_fail(source, **options)
    assert "USE_FANCY" in failed["cause"]
    assert failed["phase"] == "check"
    fancy.mkdir()
    subprocess.run(["gcc", "-shared", "-o", str(fancy / "libfancy.so"), "-x", "c", "/dev/null"], check=True)
    assert host.must_build(source, **options)["status"] == "built"
    # CMake searched again, but nothing was compiled a second time.
    assert len(host.compilations()) == SOURCE_FILES


#: A download by CMake, using FetchContent, and one by a program that CMake runs.
FETCHES = {
    "cmake": 'file(DOWNLOAD "{url}" "${{CMAKE_BINARY_DIR}}/it" STATUS status)\n'
    "list(GET status 1 text)\nlist(GET status 0 code)\n"
    "if(code)\n  message(FATAL_ERROR \"error: downloading '{url}' failed: ${{text}}\")\nendif()\n",
    "program": "execute_process(COMMAND {python} -c \"import urllib.request as u; u.urlopen('{url}')\""
    " COMMAND_ERROR_IS_FATAL ANY)\n",
}


@pytest.mark.parametrize("by", FETCHES)
def test_a_build_has_the_network_only_with_option_network(host: EngineHost, by: str) -> None:
    tree = host.base / "fetches"
    tree.mkdir()
    (tree / "one.c").write_text("int one(void) { return 1; }\n")
    with contextlib.closing(web_server.Server()) as server:
        server.files["/it"] = b"it"
        fetch = FETCHES[by].format(url=f"{server.url}/it", python=sys.executable)
        (tree / "CMakeLists.txt").write_text(CMAKE.format(sources="one.c") + fetch)
        source = host.pack(tree)
        failed = host.must_fail(source)
        assert not server.requests
        assert "no network after" in failed["cause"]
        assert "option network" in failed["remedy"]
        built = host.must_build(source, network=True)
    assert built["fingerprint"] != failed["fingerprint"]
    assert json.loads(Path(built["receipt"]).read_text())["inputs"]["network"] == "true"


def test_a_full_disk_is_reported_and_the_next_run_succeeds(host: EngineHost) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    source = host.project(SOURCE_FILES)
    host.root.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1400k", "tmpfs", str(host.root)], check=False)
    if mounted.returncode != 0:
        pytest.skip("a tmpfs cannot be mounted on this machine")
    try:
        failed = host.must_fail(source)
        assert "No space left" in failed["cause"] or "full" in failed["cause"] or "B free" in failed["cause"], failed
        assert not list((host.root / "wheelhouse").rglob("*.json"))
        subprocess.run(["mount", "-o", "remount,size=200m", str(host.root)], check=True)
        assert host.must_build(source)["status"] == "built"
    finally:
        subprocess.run(["umount", "-l", str(host.root)], check=True)


def test_absent_kills_the_build_and_removes_everything(host: EngineHost) -> None:
    started = start_held_build(host, host.project(SOURCE_FILES))
    common = {"name": "tiny", "state": "absent", "user": host.user, "root": str(host.root), "log_root": str(host.logs)}
    assert run_module("source_build", check_mode=True, **common)["changed"] is True
    assert Path(f"/proc/{host.state(started)['pid']}").exists()
    assert run_module("source_build", **common)["changed"] is True
    assert not [path for path in host.root.rglob("*") if path.is_file()]
    assert not host.logs.exists()
    assert run_module("source_build", **common)["changed"] is False


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"minimum": {"cc": "99"}}, "gcc"),
        ({"toolchain": {"cc": "no-such-compiler"}}, "no-such-compiler"),
        ({"depends": ["llvm"]}, "built on this"),
        ({"depends": ["tiny"]}, "depends on itself"),
        ({"free_space": 1 << 40}, "MB free"),
        ({"kind": "wheel", "python": "/usr/bin/python2.7"}, "python2.7"),
    ],
)
def test_impossible_builds_are_refused_before_anything_is_written(host: EngineHost, options: dict[str, t.Any], cause):
    source = host.project(SOURCE_FILES)
    before = sorted(host.base.rglob("*"))
    result = host.build(source, **options)
    assert result["failed"] is True
    assert cause in result["cause"]
    assert result["remedy"]
    assert {*host.base.rglob("*")} - {*before} <= {host.root, host.root / "builds"}


@pytest.mark.parametrize(
    ("files", "options", "texts"),
    [
        ({"README": ""}, {}, ["top folder has no CMakeLists.txt", "README", "Correct the source"]),
        ({"llvm/CMakeLists.txt": ""}, {}, ["top folder has no CMakeLists.txt", "subdirectory: llvm would work"]),
        ({"CMakeLists.txt": ""}, {"subdirectory": "llvm"}, ["folder llvm has no CMakeLists.txt", "missing"]),
        ({"CMakeLists.txt": ""}, {"kind": "wheel"}, ["no pyproject.toml and no setup.py", "CMakeLists.txt"]),
        (
            {"CMakeLists.txt": "", ".gitmodules": '[submodule "a"]\n\tpath = third_party/a\n\turl = x\n'},
            {},
            ["lacks submodules", "third_party/a", "source.repo"],
        ),
    ],
)
def test_a_wrong_source_is_refused_before_anything_is_prepared(host: EngineHost, files, options, texts):
    tree = host.base / "other"
    (tree / "third_party/a").mkdir(parents=True)
    for name, text in files.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
    failed = host.must_fail(host.pack(tree), **options)
    assert failed["phase"] == "patch"
    for text in texts:
        assert text in f"{failed['cause']} {failed['remedy']}"
    assert not host.directory(failed).joinpath("environment").exists()
    assert not [path for path in (host.root / "wheelhouse").rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["../receipts", "..", "", "a/b"])
def test_absent_with_an_invalid_unit_name_removes_nothing(host: EngineHost, name: str) -> None:
    unrelated = host.root / "receipts/kept"
    unrelated.mkdir(parents=True)
    (host.root / "builds").mkdir()
    options = {"user": host.user, "root": str(host.root), "log_root": str(host.logs)}
    refused = run_module("source_build", name=name, state="absent", **options)
    assert refused["failed"] and "valid unit name" in refused["msg"]
    assert unrelated.is_dir()
