"""The lab's mirror: reuse and cleanup of built trees, and its pins. Integration tests cover the rest."""

import fcntl
import hashlib
import os
import platform
import shutil
import typing as t
from pathlib import Path

import pytest

from lab import mirror, packages, stand_ins
from lab.host import LabError

NATIVE = "linux-x86_64" if platform.machine() == "x86_64" else "linux-sbsa"


def need(tool: str) -> str:
    path = shutil.which(tool)
    if not path:
        pytest.skip(f"the command {tool} is not installed on this machine")
    return path


class Built(t.NamedTuple):
    tree: Path
    cache: Path
    summary: dict[str, t.Any]


def build(output: Path, cache: Path, platform_name: str = NATIVE, **changes: t.Any) -> dict[str, t.Any]:
    # Leave out the wheels for builds, which would be downloaded.
    inputs = {**mirror.load_inputs(), "build_wheels": [], **changes}
    return mirror.Mirror(inputs, "native", mirror.PLATFORMS[platform_name], output, cache).build()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    need("gpg")
    folder = tmp_path_factory.mktemp("mirror")
    return Built(folder / "native", folder / "cache", build(folder / "native", folder / "cache"))


def test_stages_of_another_checkouts_tree_are_reused_and_old_unused_trees_removed(built: Built, tmp_path: Path, capsys):
    other = tmp_path / "native-other"
    shutil.copytree(built.tree, other)
    specs = mirror.load_inputs()["archives"]

    def build_as(name: str) -> Path:
        tree = tmp_path / f"native-{name}"
        build(tree, built.cache, archives=[{**specs[0], "title": f"NVIDIA cuDSS, {name}"}, *specs[1:]])
        assert "step 1 of 1: redist archives of cudss" in capsys.readouterr().out
        return tree

    shared = "compute/nvpl/redist/redistrib_25.5.json"
    assert (build_as("first") / shared).stat().st_ino == (other / shared).stat().st_ino
    os.utime(other, (0, 0))
    with mirror.opened(other) as folder:
        fcntl.flock(folder, fcntl.LOCK_SH)
        build_as("second")
        assert (other / shared).exists()
    build_as("third")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [
        "native-first", "native-second", "native-third"
    ]  # fmt: skip


def test_a_failed_build_leaves_the_tree_unchanged_and_the_next_continues(built: Built, tmp_path, monkeypatch, capsys):
    tree = tmp_path / "native"
    shutil.copytree(built.tree, tree)
    before = sorted(str(path) for path in tree.rglob("*"))
    inputs = mirror.load_inputs()
    specs = [{**spec, "depends": ["libc6"]} if spec["name"] == "libnpp-13-0" else spec
             for spec in inputs["cuda_repository"]]  # fmt: skip
    archives = [archive for archive in inputs["archives"] if archive["release"] != "0.8.0"]

    def full(*arguments: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(packages, "write_archive", full)
        with pytest.raises(OSError, match="No space left"):
            build(tree, built.cache, cuda_repository=specs, archives=archives)
    assert sorted(str(path) for path in tree.rglob("*")) == before
    capsys.readouterr()
    build(tree, built.cache, cuda_repository=specs, archives=archives)
    assert "CUDA repository" not in capsys.readouterr().out, "the finished stage was built twice"
    assert not (tree / "compute/cudss/redist/redistrib_0.8.0.json").exists()


def pin(file: str, data: bytes) -> dict[str, t.Any]:
    return {"version": "1.0", "file": file, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def tiny_wheel(folder: Path) -> Path:
    return stand_ins.write_wheel(folder, "labthing", "1.0", {"labthing.py": "x = 1\n"})


@pytest.fixture
def local_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pip configuration with a directory of wheels and no index."""
    folder = tmp_path / "index"
    tiny_wheel(folder)
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    return folder


def test_a_wheel_with_another_sha256_is_refused_and_not_kept(local_index: Path, tmp_path: Path) -> None:
    (wheel,) = local_index.iterdir()
    wrong = pin(wheel.name, b"something other")
    with pytest.raises(LabError, match=r"(?s)could not download labthing==1\.0.*HASH"):
        mirror.Wheels(tmp_path / "cache").fetch({"labthing": wrong})
    assert not list((tmp_path / "cache").glob("*.whl"))


def test_inputs_that_name_an_unknown_library_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "inputs.yml"
    path.write_text(mirror.INPUTS.read_text().replace("[libcudart.so.13]", "[libcudart.so.99]", 1))
    with pytest.raises(LabError, match=r"cuda-cudart-13-0 names \['libcudart\.so\.99'\]"):
        mirror.load_inputs(path)


def test_every_pin_is_complete() -> None:
    inputs = mirror.load_inputs()
    building = [(entry["name"], entry) for entry in inputs["build_wheels"]]
    for name, entry in [*inputs["sources"].items(), *inputs["environment"].items(), *building]:
        assert len(bytes.fromhex(entry["sha256"])) == 32, name
        assert mirror._wheel_key(entry["file"]) == (mirror._normal(name), entry["version"])


def test_the_table_of_stand_ins_is_current() -> None:
    table = mirror.stand_ins_table(mirror.load_inputs())
    assert table in mirror.README.read_text(), "run `python -m lab.mirror --write-table`"
    assert "| CUDA repository | libcublas-13-0 | 13.1.0.3-1 | real: libcublas.so.13" in table
    assert "libcudnn9-cuda-13 9.14.0.64-1" in table
