# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's mirror: what is built, that it is built once, and that apt's and tar's own tools read it."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import json
import lzma
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import typing as t
import zipfile
from pathlib import Path

import pytest

from lab import mirror, packages, stand_ins
from lab.host import LabError
from lab.packages import Content, Entry, Package, SigningKey, StoredXz

CHECKOUT = Path(__file__).parents[3]
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


def at(built: Built, path: str) -> Path:
    return built.tree / path.lstrip("/")


# Archives and packages


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 300_001])
def test_a_stored_xz_stream_is_read_by_another_decoder(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    sink = packages.HashingSink(tmp_path / "x.xz")
    stream = StoredXz(sink)
    for start in range(0, size, 70_000):
        stream.write(data[start : start + 70_000])
    stream.close()
    written = sink.close()
    raw = written.path.read_bytes()
    assert lzma.decompress(raw, format=lzma.FORMAT_XZ) == data
    assert (written.size, written.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())


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


def test_dpkg_reads_a_package_with_scripts_conffiles_and_links(tmp_path: Path) -> None:
    dpkg = need("dpkg-deb")
    package = Package(
        name="libx",
        version="1.0-1",
        architecture="amd64",
        summary="a library",
        description="Two lines,\n\nand a gap.",
        relations={"Depends": ["libc6", "liby (>= 2)"]},
        entries=[
            Entry("usr/lib/libx.so.1.0", Content(b"\x7fELF"), mode=0o755),
            Entry("usr/lib/libx.so.1", link="libx.so.1.0"),
            Entry("etc/ld.so.conf.d/x.conf", Content("/usr/lib/x\n")),
        ],
        scripts={"postinst": "#!/bin/sh\n"},
    )
    written = package.write(tmp_path)
    run(dpkg, "-R", written.path, tmp_path / "out")
    out = tmp_path / "out"
    assert run(dpkg, "-f", written.path, "Depends").strip() == "libc6, liby (>= 2)"
    assert (out / "DEBIAN/conffiles").read_text() == "/etc/ld.so.conf.d/x.conf\n"
    assert (out / "DEBIAN/triggers").read_text() == "activate-noawait ldconfig\n"
    assert (out / "DEBIAN/postinst").stat().st_mode & 0o777 == 0o755
    assert (out / "usr/lib/libx.so.1").readlink() == Path("libx.so.1.0")
    assert (out / "usr/lib/libx.so.1.0").read_bytes() == b"\x7fELF"


# Stand-ins


def test_the_loader_opens_a_stand_in_and_its_function_returns_zero(tmp_path: Path) -> None:
    path = tmp_path / "libx.so.7"
    path.write_bytes(stand_ins.shared_object(NATIVE, "libx.so.7", ["libm.so.6"]))
    assert getattr(ctypes.CDLL(str(path)), stand_ins.SYMBOL)() == 0


def test_the_loader_wants_what_a_stand_in_says_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "libx.so.7"
    path.write_bytes(stand_ins.shared_object(NATIVE, "libx.so.7", ["libabsent.so.3"]))
    with pytest.raises(OSError, match=r"libabsent\.so\.3"):
        ctypes.CDLL(str(path))


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


def test_pip_installs_a_stand_in_wheel_and_python_imports_it(tmp_path: Path) -> None:
    wheel = stand_ins.write_wheel(
        tmp_path, "torch", "2.10.0", mirror._tiny_module({"module": "torch", "version": "2.10.0"}, "linux-x86_64")
    )
    target = tmp_path / "site"
    run(
        sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", target, wheel,
        env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )  # fmt: skip
    code = "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"
    assert run(sys.executable, "-c", code, cwd=target).strip() == "2.10.0+cpu None False"


# The tree


def test_a_native_mirror_takes_less_than_ten_seconds(tmp_path: Path) -> None:
    need("gpg")
    start = time.monotonic()
    build(tmp_path / "native", tmp_path / "cache")
    assert time.monotonic() - start < 10


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
        assert hashlib.sha256(at(built, path).read_bytes()).hexdigest() == sha256, path


def test_the_cuda_repository_is_signed_by_the_key_beside_it_and_its_index_is_right(
    built: Built, tmp_path: Path
) -> None:
    gpgv, gpg = need("gpgv"), need("gpg")
    repository = at(built, built.summary["cuda_repository"])
    keyring = tmp_path / "key.gpg"
    run(gpg, "--homedir", tmp_path, "--batch", "--dearmor", "-o", keyring, repository / mirror.KEY_FILE)
    run(gpgv, "--keyring", keyring, repository / "InRelease")
    run(gpgv, "--keyring", keyring, repository / "Release.gpg", repository / "Release")
    shown = run(gpg, "--homedir", tmp_path, "--with-colons", "--show-keys", keyring)
    assert f"fpr:::::::::{built.summary['key_fingerprint']}:" in shown
    stanzas = [
        dict(line.split(": ", 1) for line in stanza.splitlines() if not line.startswith(" "))
        for stanza in (repository / "Packages").read_text().strip().split("\n\n")
    ]
    for stanza in stanzas:
        deb = repository / stanza["Filename"]
        assert hashlib.sha256(deb.read_bytes()).hexdigest() == stanza["SHA256"]
        assert deb.stat().st_size == int(stanza["Size"])
    release = (repository / "Release").read_text()
    assert hashlib.sha256((repository / "Packages").read_bytes()).hexdigest() in release


def test_every_dependency_inside_the_cuda_repository_can_be_met(built: Built) -> None:
    specs = mirror.load_inputs()["cuda_repository"]
    names = {spec["name"] for spec in specs}
    wanted = {name.split(" ")[0] for spec in specs for name in spec.get("depends", ())}
    assert wanted <= names


def test_apt_accepts_the_repository_and_resolves_the_libraries_in_it(built: Built, tmp_path: Path) -> None:
    apt = need("apt-get")
    for folder in ("lists/partial", "cache/archives/partial", "etc"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "status").touch()
    repository = at(built, built.summary["cuda_repository"])
    # apt takes a key by its suffix: .asc is armoured.
    shutil.copy(repository / mirror.KEY_FILE, tmp_path / "key.asc")
    (tmp_path / "sources.list").write_text(f"deb [signed-by={tmp_path}/key.asc] file:{repository} /\n")
    options = [
        f"Dir::Etc={tmp_path}/etc", f"Dir::Etc::SourceList={tmp_path}/sources.list",
        f"Dir::State::Lists={tmp_path}/lists", f"Dir::State::Status={tmp_path}/status",
        f"Dir::Cache={tmp_path}/cache", f"APT::Architecture={built.summary['architecture']}",
        f"APT::Architectures={built.summary['architecture']}", "APT::Sandbox::User=root",
    ]  # fmt: skip
    settings = [word for option in options for word in ("-o", option)]
    run(apt, *settings, "update", "--error-on=any")
    planned = run(apt, *settings, "install", "--simulate", "libcublas-dev-13-0", "libnccl-dev")
    assert "Inst libcublas-13-0 (13.1.0.3-1" in planned
    assert "Inst libnccl-dev (2.28.9-1+cuda13.0" in planned
    assert "cuda-toolkit-13-0-config-common" in planned


def test_the_local_repository_holds_packages_index_keyring_and_a_source_that_names_it(
    built: Built, tmp_path: Path
) -> None:
    dpkg, gpgv = need("dpkg-deb"), need("gpgv")
    repo = built.summary["cusparselt_local_repos"]["0.8.1"]
    architecture = built.summary["architecture"]
    assert repo["path"] == (
        f"/compute/cusparselt/0.8.1/local_installers/cusparselt-local-repo-ubuntu2404-0.8.1_0.8.1-1_{architecture}.deb"
    )
    assert repo["sha256"] == built.summary["cusparselt_local_repo_sha256"]
    run(dpkg, "-x", at(built, repo["path"]), tmp_path)
    inner = tmp_path / "var/cusparselt-local-repo-ubuntu2404-0.8.1"
    assert [path.name for path in inner.glob("cusparselt-*-keyring.gpg")] == [repo["keyring"]]
    run(gpgv, "--keyring", inner / repo["keyring"], inner / "InRelease")
    source = (tmp_path / "etc/apt/sources.list.d/cusparselt-local-ubuntu2404-0.8.1.list").read_text()
    assert source == (
        f"deb [signed-by=/usr/share/keyrings/{repo['keyring']}] file:///var/cusparselt-local-repo-ubuntu2404-0.8.1 /\n"
    )
    run(dpkg, "-x", inner / f"libcusparselt0-cuda-13_0.8.1.1-1_{architecture}.deb", tmp_path)
    multiarch = mirror.PLATFORMS[NATIVE].multiarch
    library = tmp_path / f"usr/lib/{multiarch}/libcusparseLt/13/libcusparseLt.so.0"
    assert ctypes.CDLL(str(library))


def test_each_local_repository_has_a_key_of_its_own(built: Built) -> None:
    prints = {repo["key_fingerprint"] for repo in built.summary["cusparselt_local_repos"].values()}
    assert len(prints | {built.summary["key_fingerprint"]}) == 4


def test_the_old_local_repository_has_generic_names_and_the_old_file_name(built: Built) -> None:
    repo = built.summary["cusparselt_local_repos"]["0.7.1"]
    assert repo["packages"] == {"libcusparselt0": "0.7.1.0-1", "libcusparselt-dev": "0.7.1.0-1"}
    assert "cusparselt-local-repo-ubuntu2404-0.7.1_1.0-1_" in repo["path"]


def test_a_redist_manifest_points_at_archives_laid_out_as_the_vendors(built: Built) -> None:
    folder = built.tree / "compute/cudss/redist"
    manifest = json.loads((folder / "redistrib_0.7.1.json").read_text())
    section = manifest["libcudss"]
    assert (manifest["release_label"], section["version"]) == ("0.7.1", "0.7.1.6")
    assert section["cuda_variant"] == ["12", "13"]
    entry = section[NATIVE]["cuda13"]
    archive = folder / entry["relative_path"]
    assert entry["relative_path"] == f"libcudss/{NATIVE}/libcudss-{NATIVE}-0.7.1.6_cuda13-archive.tar.xz"
    assert hashlib.md5(archive.read_bytes()).hexdigest() == entry["md5"]
    assert entry["size"] == str(archive.stat().st_size)
    with tarfile.open(archive) as members:
        root = archive.name.removesuffix(".tar.xz")
        assert members.getmember(f"{root}/lib/libcudss.so").linkname == "libcudss.so.0"
        assert members.getmember(f"{root}/lib/libcudss.so.0").linkname == "libcudss.so.0.7.1"
        names = members.getnames()
    assert {
        f"{root}/LICENSE",
        f"{root}/include/cudss.h",
        f"{root}/lib/cmake/cudss/cudss-config.cmake",
    } <= set(names)


def test_nvpl_entries_have_no_variant(built: Built) -> None:
    manifest = json.loads((built.tree / "compute/nvpl/redist/redistrib_25.5.json").read_text())
    assert {manifest[name]["version"] for name in ("nvpl_blas", "nvpl_lapack")} == {"0.4.1.1", "0.3.1.1"}
    assert "relative_path" in manifest["nvpl_blas"][NATIVE]
    assert "cuda_variant" not in manifest["nvpl_blas"]


def test_cudss_1_0_has_the_soname_that_the_next_major_has(built: Built) -> None:
    (archive,) = [
        archive for archive in built.summary["archives"] if archive["path"].endswith("1.0.0.35_cuda13-archive.tar.xz")
    ]  # fmt: skip
    assert archive["sonames"] == ["libcudss.so.1"]
    with tarfile.open(at(built, archive["path"])) as members:
        assert any(name.endswith("/lib/libcudss.so.1.0.0") for name in members.getnames())


def test_cmake_finds_a_library_in_an_unpacked_archive(built: Built, tmp_path: Path) -> None:
    cmake = need("cmake")
    (archive,) = (built.tree / "compute/nvpl/redist/nvpl_blas").rglob("*-0.4.1.1-archive.tar.xz")
    with tarfile.open(archive) as members:
        members.extractall(tmp_path, filter="data")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nfind_package(NVPL_BLAS 0.4 REQUIRED)\n"
        "get_target_property(where nvpl::blas_lp64_omp IMPORTED_LOCATION)\nmessage(STATUS where=${where})\n"
    )
    root = tmp_path / archive.name.removesuffix(".tar.xz")
    shown = run(cmake, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={root}")
    assert f"where={root}/lib/libnvpl_blas_lp64_gomp.so" in shown


def test_the_wheels_page_gives_pip_each_wheel_with_its_hash(built: Built) -> None:
    page = (built.tree / "wheels/index.html").read_text()
    for name, sha256 in built.summary["wheels"].items():
        assert f'href="{name}#sha256={sha256}"' in page
        assert zipfile.ZipFile(built.tree / "wheels" / name).testzip() is None
    (torch,) = [line for line in built.summary["requirements"] if line.startswith("torch==")]
    assert torch.split("sha256:")[1] == built.summary["wheels"]["torch-2.10.0-py3-none-any.whl"]


# Built once


def test_a_second_build_does_nothing(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_ino for path in built.tree.rglob("*")}
    assert build(built.tree, built.cache) == built.summary
    assert {path: path.stat().st_ino for path in built.tree.rglob("*")} == before
    assert "up to date" in capsys.readouterr().out


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


def processes_that_name(text: str) -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = path.read_bytes()
            if text.encode() in command:
                found.append(command)
    return found


def test_signing_leaves_neither_an_agent_nor_a_folder_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("gpg")
    # Short, as the socket's path in it must be; its name tells this test's agent from any other.
    folder = tempfile.mkdtemp(prefix="agent-", dir="/tmp")
    monkeypatch.setattr(tempfile, "tempdir", folder)
    SigningKey(tmp_path / "k.asc", "test").sign(b"Origin: x\n")
    assert processes_that_name(folder) == []
    assert list(Path(folder).iterdir()) == []
    Path(folder).rmdir()


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


def test_a_wheel_comes_from_where_the_users_pip_configuration_says(local_index: Path, tmp_path: Path) -> None:
    (wheel,) = local_index.iterdir()
    wheels = mirror.Wheels(tmp_path / "cache")
    wheels.fetch({"labthing": pin(wheel.name, wheel.read_bytes())})
    assert wheels.path("labthing").read_bytes() == wheel.read_bytes()
    assert not (tmp_path / "cache/.partial").exists()


def test_what_builds_need_is_real_on_the_native_level_too_and_only_what_fits_the_platform(
    local_index: Path, tmp_path: Path
) -> None:
    (wheel,) = local_index.iterdir()
    fits = {"name": "labthing", **pin(wheel.name, wheel.read_bytes())}
    other = {**fits, "file": "labthing-1.0-py3-none-other.whl", "platform": "linux-neither"}
    inputs = {**mirror.load_inputs(), "build_wheels": [fits, other]}
    work = tmp_path / "wheels"
    work.mkdir()
    tree = mirror.Mirror(inputs, "native", mirror.PLATFORMS[NATIVE], tmp_path / "native", tmp_path / "cache")
    summary = tree._environment(work)
    assert (work / wheel.name).read_bytes() == wheel.read_bytes()
    assert summary["wheels"][wheel.name] == fits["sha256"]
    assert f'href="{wheel.name}#sha256={fits["sha256"]}"' in (work / "index.html").read_text()
    assert other["file"] not in summary["wheels"]
    assert not any(line.startswith("labthing") for line in summary["requirements"])


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


def test_inputs_that_are_not_yaml_end_in_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "inputs.yml"
    path.write_text("sources: [")
    assert mirror.main(["--level", "native", "--inputs", str(path), "--output", str(tmp_path / "o")]) == 1
    assert "is not YAML" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


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
