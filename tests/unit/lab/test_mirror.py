# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's mirror: what is built, that it is built once, and that apt's and tar's own tools read it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import lzma
import os
import platform
import shutil
import subprocess
import tarfile
import typing as t
from pathlib import Path

import pytest

from lab import mirror, packages, stand_ins
from lab.host import LabError
from lab.packages import Content, Entry

NATIVE = "linux-x86_64" if platform.machine() == "x86_64" else "linux-sbsa"


def need(tool: str) -> str:
    path = shutil.which(tool)
    if not path:
        pytest.skip(f"the command {tool} is not installed on this machine")
    return path


def run(*command: object, **options: t.Any) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


class Built(t.NamedTuple):
    tree: Path
    cache: Path
    summary: dict[str, t.Any]


def build(output: Path, cache: Path, platform_name: str = NATIVE, **changes: t.Any) -> dict[str, t.Any]:
    # What is not made here would have to be downloaded.
    inputs = {**mirror.load_inputs(), "build_wheels": [], **changes}
    return mirror.Mirror(inputs, "native", mirror.PLATFORMS[platform_name], output, cache).build()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    need("gpg")
    folder = tmp_path_factory.mktemp("mirror")
    summary = build(folder / "native", folder / "cache")
    return Built(folder / "native", folder / "cache", summary)


# Archives and packages


def test_a_damaged_stored_xz_stream_is_refused_by_its_check(tmp_path: Path) -> None:
    written = packages.write_archive(tmp_path / "a.tar.xz", [Entry("f", Content(b"x" * 1000))])
    raw = bytearray(written.path.read_bytes())
    raw[len(raw) // 2] ^= 1
    with pytest.raises(lzma.LZMAError):
        lzma.decompress(bytes(raw))


def test_an_archive_is_the_same_each_time_and_sorted_below_its_own_name(tmp_path: Path) -> None:
    entries = [Entry("lib/b.so", link="a"), Entry("lib/a", Content("1")), Entry("LICENSE", Content("2"))]
    first = packages.write_archive(tmp_path / "1/n-archive.tar.xz", entries)
    second = packages.write_archive(tmp_path / "2/n-archive.tar.xz", reversed(entries))
    assert first.sha256 == second.sha256
    with tarfile.open(first.path) as archive:
        assert archive.getnames() == [
            "n-archive", "n-archive/LICENSE", "n-archive/lib", "n-archive/lib/a", "n-archive/lib/b.so",
        ]  # fmt: skip
        assert {member.mtime for member in archive} == {packages.MEMBER_TIME}
        assert archive.getmember("n-archive/lib/b.so").linkname == "a"


def test_a_source_that_shrank_since_it_was_measured_fails_the_build(tmp_path: Path) -> None:
    path = tmp_path / "library"
    path.write_bytes(b"12345678")
    source = packages.FileContent(path)
    path.write_bytes(b"1234")
    with pytest.raises(LabError, match="of 8 bytes gave 4"):
        packages.write_archive(tmp_path / "a.tar.xz", [Entry("f", source)])


# Stand-ins


@pytest.mark.parametrize(("name", "machine"), [("linux-sbsa", "AArch64"), ("linux-x86_64", "X86-64")])
def test_readelf_sees_soname_and_needed_of_either_architecture(tmp_path: Path, name: str, machine: str) -> None:
    readelf = need("readelf")
    path = tmp_path / "libcudss.so.0"
    path.write_bytes(stand_ins.shared_object(name, "libcudss.so.0", ["libcublas.so.13"]))
    header = run(readelf, "-hdlW", path)
    assert machine in header
    assert "Library soname: [libcudss.so.0]" in header
    assert "Shared library: [libcublas.so.13]" in header
    assert "GNU_STACK" in header


# The tree


def test_the_summary_lists_every_file_and_says_the_truth_about_it(built: Built) -> None:
    on_disk = {
        f"/{path.relative_to(built.tree)}"
        for path in built.tree.rglob("*")
        if path.is_file() and ".stages" not in path.parts and path.name != mirror.SUMMARY
    }
    assert set(built.summary["files"]) == on_disk
    assert json.loads((built.tree / mirror.SUMMARY).read_text()) == built.summary
    described = {
        **{path: deb["sha256"] for path, deb in built.summary["debs"].items()},
        **{archive["path"]: archive["sha256"] for archive in built.summary["archives"]},
        **{repo["path"]: repo["sha256"] for repo in built.summary["cusparselt_local_repos"].values()},
    }
    assert len(described) > 60
    for path, sha256 in described.items():
        assert hashlib.sha256((built.tree / path.lstrip("/")).read_bytes()).hexdigest() == sha256, path


# Built once


def test_only_the_stage_whose_inputs_changed_is_built_again(
    built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "native"
    shutil.copytree(built.tree, tree)
    inputs = mirror.load_inputs()
    changed = [spec | {"title": "NVIDIA cuDSS, again"} if spec["product"] == "cudss" else spec
               for spec in inputs["archives"]]  # fmt: skip
    before = (tree / "compute/nvpl/redist/redistrib_25.5.json").stat().st_ino
    summary = build(tree, built.cache, archives=changed)
    assert "step 1 of 1: redist archives of cudss" in capsys.readouterr().out
    assert summary["identity"] != built.summary["identity"]
    assert "again" in (tree / "compute/cudss/redist/redistrib_0.7.1.json").read_text()
    assert (tree / "compute/nvpl/redist/redistrib_25.5.json").stat().st_ino == before
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == ["native"]


def test_another_checkouts_tree_lends_its_stages_and_goes_when_it_is_old_and_no_server_has_it_open(
    built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_build_that_fails_leaves_the_tree_as_it_was_and_the_next_goes_on_from_there(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_tree_that_was_lost_between_the_two_renames_comes_back(built: Built, tmp_path: Path) -> None:
    shutil.copytree(built.tree, tmp_path / "native.old")
    assert build(tmp_path / "native", built.cache) == built.summary
    assert not (tmp_path / "native.old").exists()


def test_a_file_that_somebody_removed_is_built_again(built: Built, tmp_path: Path) -> None:
    tree = tmp_path / "native"
    shutil.copytree(built.tree, tree)
    lost = tree / "compute/nvpl/redist/redistrib_25.5.json"
    lost.unlink()
    build(tree, built.cache)
    assert json.loads(lost.read_text())["release_label"] == "25.5"


def test_fingerprints_last_as_long_as_the_cache(built: Built, tmp_path: Path) -> None:
    summary = build(tmp_path / "native", built.cache)
    assert summary["key_fingerprint"] == built.summary["key_fingerprint"]
    mine = {archive["path"]: archive["sha256"] for archive in summary["archives"]}
    assert mine == {archive["path"]: archive["sha256"] for archive in built.summary["archives"]}
    assert (built.cache / "keys/cuda.asc").stat().st_mode & 0o077 == 0


# Downloads and the inputs file


def pin(file: str, data: bytes) -> dict[str, t.Any]:
    return {
        "version": "1.0",
        "file": file,
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
    }


def tiny_wheel(folder: Path) -> Path:
    return stand_ins.write_wheel(folder, "labthing", "1.0", {"labthing.py": "x = 1\n"})


@pytest.fixture
def local_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pip configuration that knows one folder and no index."""
    folder = tmp_path / "index"
    tiny_wheel(folder)
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    return folder


def test_a_wheel_with_another_sha256_is_refused_and_nothing_is_kept(local_index: Path, tmp_path: Path) -> None:
    (wheel,) = local_index.iterdir()
    wrong = pin(wheel.name, b"something other")
    with pytest.raises(LabError, match=r"(?s)could not download labthing==1\.0.*HASH"):
        mirror.Wheels(tmp_path / "cache").fetch({"labthing": wrong})
    assert not list((tmp_path / "cache").glob("*.whl"))


def test_a_damaged_wheel_in_the_cache_is_fetched_again(local_index: Path, tmp_path: Path) -> None:
    (wheel,) = local_index.iterdir()
    cached = tmp_path / "cache" / wheel.name
    cached.parent.mkdir()
    cached.write_bytes(wheel.read_bytes()[:100])
    mirror.Wheels(tmp_path / "cache").fetch({"labthing": pin(wheel.name, wheel.read_bytes())})
    assert cached.read_bytes() == wheel.read_bytes()


def test_inputs_that_name_an_unknown_library_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "inputs.yml"
    path.write_text(mirror.INPUTS.read_text().replace("[libcudart.so.13]", "[libcudart.so.99]", 1))
    with pytest.raises(LabError, match=r"cuda-cudart-13-0 names \['libcudart\.so\.99'\]"):
        mirror.load_inputs(path)


def test_the_full_level_is_refused_for_another_platform(capsys: pytest.CaptureFixture[str]) -> None:
    assert mirror.main(["--level", "full", "--platform", "linux-x86_64"]) == 1
    assert "Ask for --level native" in capsys.readouterr().err


def test_every_pin_is_whole() -> None:
    inputs = mirror.load_inputs()
    building = [(entry["name"], entry) for entry in inputs["build_wheels"]]
    for name, entry in [*inputs["sources"].items(), *inputs["environment"].items(), *building]:
        assert len(bytes.fromhex(entry["sha256"])) == 32, name
        assert mirror._wheel_key(entry["file"]) == (mirror._normal(name), entry["version"])


def test_the_table_of_stand_ins_is_the_one_that_the_inputs_give() -> None:
    table = mirror.stand_ins_table(mirror.load_inputs())
    assert table in mirror.README.read_text(), "run `python -m lab.mirror --write-table`"
    assert "| CUDA repository | libcublas-13-0 | 13.1.0.3-1 | real: libcublas.so.13" in table
    assert "libcudnn9-cuda-13 9.14.0.64-1" in table


def test_a_mirror_of_the_other_architecture_is_built_as_well(tmp_path: Path, built: Built) -> None:
    summary = build(tmp_path / "sbsa", built.cache, "linux-sbsa")
    assert summary["architecture"] == "arm64"
    assert summary["cuda_repository"] == "/compute/cuda/repos/ubuntu2404/sbsa/"
    assert all(archive["platform"] == "linux-sbsa" for archive in summary["archives"])
