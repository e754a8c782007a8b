"""What the worker gives its children, how it waits for them, its state. Whole builds: modules/test_source_build.py."""

import dataclasses
import errno
import os
import shutil
import subprocess
import typing as t
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    commands,
    model,
    publishing,
    worker as _worker,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.attempt import Attempt
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.phases import prepare

from tests.unit.engine_host import CCACHE


def program(path: Path) -> str:
    """Make a program that prints its own path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho $0\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(params=["ccache", "none"])
def worker(request: pytest.FixtureRequest, tmp_path: Path) -> Attempt:
    """Return a worker on a host with a second clang, nvcc and ninja, which come first on PATH."""
    first, own = tmp_path / "usr/bin", tmp_path / "lib/llvm-20/bin"
    for name in ("clang", "clang++", "cc", "c++", "ninja", "nvcc"):
        program(first / name)
    tools = {
        "cmake": program(first / "cmake"),
        "ninja": program(tmp_path / "opt/ninja"),
        "nvcc": program(tmp_path / "cuda/bin/nvcc"),
        "cc": program(own / "clang"),
        "cxx": program(own / "clang++"),
    }
    if request.param == "ccache":
        tools["ccache"] = str(tmp_path / "ccache")
        Path(tools["ccache"]).write_text(CCACHE)
        Path(tools["ccache"]).chmod(0o755)
    paths = {"root": str(tmp_path), "log_root": str(tmp_path), "name": "tiny", "fingerprint": "0" * 16, "platform": "p"}
    unit = {"name": "tiny", "kind": "wheel", "source": {"archive": "/a", "sha256": "0" * 64}}
    Path(tmp_path, "builds/tiny", "0" * 16).mkdir(parents=True)
    return Attempt({"unit": unit, "paths": paths, "tools": tools, "depends": {}})


@pytest.mark.parametrize(
    ("started", "tool"),
    [
        ("$CC", "cc"), ("$CXX", "cxx"), ("cc", "cc"), ("c++", "cxx"), ("clang", "cc"), ("clang++", "cxx"),
        ("cmake", "cmake"), ("ninja", "ninja"), ("nvcc", "nvcc"), ("$CUDACXX", "nvcc"),
        # Whoever starts nvcc without CMake and without PyTorch's helpers names no host compiler.
        ("$CUDAHOSTCXX", "cxx"), ("$NVCC_CCBIN", "cxx"), ("${PYTORCH_NVCC:-nvcc}", "nvcc"),
    ],
)  # fmt: skip
def test_what_a_build_starts_is_what_its_receipt_names(worker: Attempt, started: str, tool: str) -> None:
    environment = commands.build_environment(worker, 1)
    done = subprocess.run(["/bin/sh", "-c", f"{started} -c x.c"], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == worker.tools[tool], done.stderr
    cached = "ccache" in worker.tools and started in (
        "$CC",
        "$CXX",
        "cc",
        "c++",
        "clang",
        "clang++",
        "${PYTORCH_NVCC:-nvcc}",
    )
    assert ("through ccache" in done.stderr) == cached


def test_two_fingerprints_share_what_ccache_holds(worker: Attempt) -> None:
    """ccache rewrites paths below its base directory, so that only this directory may tell the environments apart."""
    other_paths = {**worker.request["paths"], "fingerprint": "1" * 16}
    other = Attempt({**worker.request, "paths": other_paths})
    Path(other.paths.build_directory).mkdir(parents=True)
    first, second = (commands.build_environment(attempt, 1) for attempt in (worker, other))
    if "ccache" in worker.tools:
        assert first["CCACHE_BASEDIR"] == worker.paths.build_directory
        assert first["CCACHE_DIR"] == second["CCACHE_DIR"]
        assert first["CCACHE_NOHASHDIR"] == "1"
    moved = {name: value.replace("0" * 16, "1" * 16) for name, value in first.items()}
    assert moved == second
    assert (
        Path(worker.paths.inside("launchers", "clang")).read_text()
        == Path(other.paths.inside("launchers", "clang")).read_text()
    )


def test_a_launcher_is_as_old_as_its_compiler(worker: Attempt) -> None:
    """A ccache around it takes time and size for the compiler's identity."""
    os.utime(worker.tools["cxx"], (1e9, 1e9))
    commands.build_environment(worker, 1)
    assert os.stat(worker.paths.inside("launchers", "clang++")).st_mtime == 1e9


def prepared(worker: Attempt, monkeypatch: pytest.MonkeyPatch, **unit: t.Any) -> tuple[list[str], str]:
    """Go through the phase prepare without pip; return what it was called with, and the file of requirements."""
    called: list[str] = []
    monkeypatch.setattr(commands, "run", lambda _attempt, argv, **_options: called.append(" ".join(argv)))
    worker.unit = dataclasses.replace(worker.unit, requirements=("a==1 --hash=sha256:00",), **unit)
    prepare.run(worker)
    path = Path(worker.paths.inside("requirements.txt"))
    assert path.stat().st_mode & 0o077 == 0
    return called, path.read_text()


def test_an_index_is_not_in_the_command_line(worker: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    index, links = "https://lab:s3cret@pypi.example.com/simple", ("https://lab:s3cret@example.com/", "/srv/my wheels")
    called, listed = prepared(worker, monkeypatch, index_url=index, find_links=links)
    assert "s3cret" not in " ".join(called)
    assert listed.splitlines() == [
        "--find-links https://lab:s3cret@example.com/",
        "--find-links '/srv/my wheels'",
        f"--index-url {index}",
        "a==1 --hash=sha256:00",
    ]
    assert "--require-hashes" in called[-1] and "--no-deps" in called[-1]
    assert prepared(worker, monkeypatch, index_url="", find_links=())[1].startswith("--no-index\n")


def test_a_pip_configuration_that_the_account_may_not_read_is_no_reason_to_ask_another_index(
    worker: Attempt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "pip.conf"
    file.touch()
    monkeypatch.setattr(prepare, "_PIP_CONFIGURATIONS", (str(file), str(tmp_path / "none")))
    assert prepared(worker, monkeypatch)[1] == "a==1 --hash=sha256:00\n"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(file) and access(path, mode))
    with pytest.raises(SparkforgeError, match=r"pip\.conf, which sets the package index"):
        prepared(worker, monkeypatch)
    # Who names an index needs none of it.
    prepared(worker, monkeypatch, index_url="https://pypi.example.com/simple")


def packaged(tmp_path: Path) -> Attempt:
    """Return the worker of a wheel that is built and not published."""
    inputs = {"name": "tiny"}
    paths = {"root": str(tmp_path), "log_root": str(tmp_path), "name": "tiny", "fingerprint": "a" * 16, "platform": "p"}
    source = {"archive": "/tiny.tar.gz", "sha256": "a" * 64}
    unit = {"name": "tiny", "kind": "wheel", "source": source}
    worker_paths = model.Paths(**paths)
    Path(worker_paths.inside("out")).mkdir(parents=True)
    with zipfile.ZipFile(worker_paths.inside("out", "tiny-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("tiny.py", "")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    worker = Attempt(
        {"unit": unit, "paths": paths, "tools": {}, "versions": {}, "inputs": inputs, "shown_source": "/tiny.tar.gz"}
    )
    done = {phase: {"done": True, "seconds": 1.0} for phase in _worker.PHASES}
    worker.state.update(phases=done, started="2026-01-01T00:00:00Z", host="here", phase="package")
    return worker


def published(worker: Attempt) -> list[str]:
    return sorted(path.name for path in Path(worker.paths.root, "wheelhouse").rglob("*") if path.is_file())


def test_a_wheel_that_the_disk_has_no_room_for_is_told_with_both_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = packaged(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_bavail=512, f_frsize=1000))
        with pytest.raises(SparkforgeError) as caught:
            publishing.publish(worker)
    assert f"needs 0.0 MB, and {tmp_path}/builds has 0.5 MB free" in caught.value.cause
    assert "run again" in caught.value.remedy
    assert published(worker) == []
    publishing.publish(worker)
    assert "tiny-1.0-py3-none-any.whl" in published(worker)


def test_a_disk_that_fills_up_while_a_wheel_is_published_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = packaged(tmp_path)

    def half(source: str, target: str) -> None:
        Path(target).write_bytes(Path(source).read_bytes()[:100])
        raise OSError(errno.ENOSPC, "No space left on device", target)

    with monkeypatch.context() as full:
        full.setattr(shutil, "copyfile", half)
        with pytest.raises(OSError, match="No space left"):
            publishing.publish(worker)
    assert list(Path(worker.paths.root, "wheelhouse").rglob("*.partial")) == []
    assert published(worker) == []
    publishing.publish(worker)
    assert {"receipt.json", "tiny-1.0-py3-none-any.whl"} <= set(published(worker))


def test_only_what_fetches_gets_the_proxies_and_nothing_is_inherited(
    worker: Attempt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET", "of the task")
    Path(worker.paths.log).touch()
    Path(worker.paths.inside("network.json")).write_text('{"https_proxy": "http://user:password@proxy.test:3128"}')
    for network in (True, False):
        commands.run(worker, ["/bin/sh", "-c", f"env > {tmp_path}/said"], network=network)
        said = (tmp_path / "said").read_text()
        assert ("https_proxy=" in said) is network and "SECRET" not in said


def test_what_is_published_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = packaged(tmp_path)
    synced: set[int] = set()
    before: list[set[int]] = []
    fsync, rename = os.fsync, os.rename

    def note(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def named(source: str, target: str) -> None:
        before.append(set(synced))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(os, "rename", named)
    publishing.publish(worker)
    place = Path(worker.paths.artefact)
    assert {path.stat().st_ino for path in (place, *place.iterdir())} <= before[-1]
