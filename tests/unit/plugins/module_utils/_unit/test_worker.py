"""The build worker: its commands' environment, and publication. modules/test_source_build.py runs complete builds."""

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
    """Write a program that prints its own path, and return that path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho $0\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(params=["ccache", "none"])
def worker(request: pytest.FixtureRequest, tmp_path: Path) -> Attempt:
    """A worker on a host with a second clang, nvcc and ninja earlier on PATH."""
    first, own = tmp_path / "usr/bin", tmp_path / "lib/llvm-20/bin"
    for name in ("clang", "clang++", "cc", "c++", "ninja", "nvcc"):
        program(first / name)
    tools = {
        "cmake": program(first / "cmake"), "ninja": program(tmp_path / "opt/ninja"),
        "nvcc": program(tmp_path / "cuda/bin/nvcc"), "cc": program(own / "clang"), "cxx": program(own / "clang++"),
    }  # fmt: skip
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
        # Builds that start nvcc without CMake or PyTorch's helpers do not name a host compiler.
        ("$CUDAHOSTCXX", "cxx"), ("$NVCC_CCBIN", "cxx"), ("${PYTORCH_NVCC:-nvcc}", "nvcc"),
    ],
)  # fmt: skip
def test_build_starts_the_tools_of_its_receipt(worker: Attempt, started: str, tool: str) -> None:
    environment = commands.build_environment(worker, 1)
    process = subprocess.run(["/bin/sh", "-c", f"{started} -c x.c"], env=environment, capture_output=True, text=True)
    assert process.stdout.strip() == worker.tools[tool], process.stderr
    compilers = {"$CC", "$CXX", "cc", "c++", "clang", "clang++", "${PYTORCH_NVCC:-nvcc}"}
    assert ("through ccache" in process.stderr) == ("ccache" in worker.tools and started in compilers)


def test_fingerprints_share_the_ccache(worker: Attempt) -> None:
    """ccache rewrites paths in its base directory, so the environments may differ only in that directory."""
    other_paths = {**worker.request["paths"], "fingerprint": "1" * 16}
    other = Attempt({**worker.request, "paths": other_paths})
    Path(other.paths.build_directory).mkdir(parents=True)
    first, second = (commands.build_environment(attempt, 1) for attempt in (worker, other))
    if "ccache" in worker.tools:
        assert first["CCACHE_BASEDIR"] == worker.paths.build_directory
        assert first["CCACHE_DIR"] == second["CCACHE_DIR"]
        assert first["CCACHE_NOHASHDIR"] == "1"
    assert {name: value.replace("0" * 16, "1" * 16) for name, value in first.items()} == second
    launchers = [Path(attempt.paths.inside("launchers", "clang")).read_text() for attempt in (worker, other)]
    assert launchers[0] == launchers[1]


def test_launcher_has_modification_time_of_compiler(worker: Attempt) -> None:
    """A user's ccache identifies the compiler by its modification time and size."""
    os.utime(worker.tools["cxx"], (1e9, 1e9))
    commands.build_environment(worker, 1)
    assert os.stat(worker.paths.inside("launchers", "clang++")).st_mtime == 1e9


def run_prepare(worker: Attempt, monkeypatch: pytest.MonkeyPatch, **unit: t.Any) -> tuple[list[str], str]:
    """Run the phase prepare without pip; return the commands and the requirements file."""
    called_commands: list[str] = []
    monkeypatch.setattr(commands, "run", lambda _attempt, argv, **_options: called_commands.append(" ".join(argv)))
    worker.unit = dataclasses.replace(worker.unit, requirements=("a==1 --hash=sha256:00",), **unit)
    prepare.run(worker)
    path = Path(worker.paths.inside("requirements.txt"))
    assert path.stat().st_mode & 0o077 == 0
    return called_commands, path.read_text()


def test_index_url_is_not_on_the_command_line(worker: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    index, links = "https://lab:s3cret@pypi.example.com/simple", ("https://lab:s3cret@example.com/", "/srv/my wheels")
    called_commands, requirements = run_prepare(worker, monkeypatch, index_url=index, find_links=links)
    assert "s3cret" not in " ".join(called_commands)
    locations = ["--find-links https://lab:s3cret@example.com/", "--find-links '/srv/my wheels'"]
    assert requirements.splitlines() == [*locations, f"--index-url {index}", "a==1 --hash=sha256:00"]
    assert "--require-hashes" in called_commands[-1] and "--no-deps" in called_commands[-1]
    assert run_prepare(worker, monkeypatch, index_url="", find_links=())[1].startswith("--no-index\n")


def test_unreadable_pip_configuration_is_refused(worker: Attempt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    file = tmp_path / "pip.conf"
    file.touch()
    monkeypatch.setattr(prepare, "_PIP_CONFIGURATIONS", (str(file), str(tmp_path / "none")))
    assert run_prepare(worker, monkeypatch)[1] == "a==1 --hash=sha256:00\n"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(file) and access(path, mode))
    with pytest.raises(SparkforgeError, match=r"pip\.conf, which"):
        run_prepare(worker, monkeypatch)
    # With an index_url, pip's configuration is not needed.
    run_prepare(worker, monkeypatch, index_url="https://pypi.example.com/simple")


def packaged_wheel(tmp_path: Path) -> Attempt:
    """Return the worker of a wheel that has been built but not published."""
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
    request = {"unit": unit, "paths": paths, "tools": {}, "versions": {}, "inputs": inputs}
    worker = Attempt({**request, "shown_source": "/tiny.tar.gz"})
    phases = {phase: {"done": True, "seconds": 1.0} for phase in _worker.PHASES}
    worker.state.update(phases=phases, started="2026-01-01T00:00:00Z", host="here", phase="package")
    return worker


def published_files(worker: Attempt) -> list[str]:
    return sorted(path.name for path in Path(worker.paths.root, "wheelhouse").rglob("*") if path.is_file())


def test_full_disk_is_reported_with_both_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = packaged_wheel(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_bavail=512, f_frsize=1000))
        with pytest.raises(SparkforgeError) as caught:
            publishing.publish(worker)
    assert f"needs 0.0 MB, and {tmp_path}/builds has 0.5 MB free" in caught.value.cause
    assert "run again" in caught.value.remedy
    assert published_files(worker) == []
    publishing.publish(worker)
    assert "tiny-1.0-py3-none-any.whl" in published_files(worker)


def test_failed_copy_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = packaged_wheel(tmp_path)

    def copy_partly(source: str, target: str) -> None:
        Path(target).write_bytes(Path(source).read_bytes()[:100])
        raise OSError(errno.ENOSPC, "No space left on device", target)

    with monkeypatch.context() as full:
        full.setattr(shutil, "copyfile", copy_partly)
        with pytest.raises(OSError, match="No space left"):
            publishing.publish(worker)
    assert list(Path(worker.paths.root, "wheelhouse").rglob("*.partial")) == []
    assert published_files(worker) == []
    publishing.publish(worker)
    assert {"receipt.json", "tiny-1.0-py3-none-any.whl"} <= set(published_files(worker))


def test_only_fetching_commands_get_the_proxies(worker: Attempt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SECRET", "of the task")
    Path(worker.paths.log).touch()
    Path(worker.paths.inside("network.json")).write_text('{"https_proxy": "http://user:password@proxy.test:3128"}')
    for network in (True, False):
        commands.run(worker, ["/bin/sh", "-c", f"env > {tmp_path}/environment"], network=network)
        environment = (tmp_path / "environment").read_text()
        assert ("https_proxy=" in environment) is network and "SECRET" not in environment


def test_artefact_is_synced_before_it_is_renamed(tmp_path: Path, synced_before):
    worker = packaged_wheel(tmp_path)
    renamed = synced_before(os, "rename")
    publishing.publish(worker)
    artefact = Path(worker.paths.artefact)
    assert {path.stat().st_ino for path in (artefact, *artefact.iterdir())} <= renamed[-1]
