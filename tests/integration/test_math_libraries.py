# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""cuDSS and NVPL on a host: brought, changed, taken back, and refused where something is wrong with them."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import tarfile
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from lab import bench as benches, image
from lab.host import native_architecture
from lab.serve import MirrorServer
from lab.stand_ins import shared_object
from tests.integration.conftest import Bench, Host, Play

PLATFORM = {"amd64": "linux-x86_64", "arm64": "linux-sbsa"}[native_architecture()]
OTHER_PLATFORM = {"linux-x86_64": "linux-sbsa", "linux-sbsa": "linux-x86_64"}[PLATFORM]
CUDSS = {"0.7.1": ("0.7.1.6", "libcudss.so.0"), "0.8.0": ("0.8.0.10", "libcudss.so.0")}
CUDSS["1.0.0"] = ("1.0.0.35", "libcudss.so.1")
REDIST = "/opt/sparkforge/redist"


class SpoiltMirror(MirrorServer):
    """A mirror whose tree a test may change."""

    def __init__(self, tree: Path, bind: str) -> None:
        super().__init__(tree, bind=bind)
        self.tree = tree

    def __enter__(self) -> SpoiltMirror:
        super().__enter__()
        return self


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    return bench.fresh()


@pytest.fixture(scope="module")
def mirror(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpoiltMirror]:
    """A copy of the mirror's archives that this module may spoil, where the containers reach it."""
    tree = tmp_path_factory.mktemp("mirror")
    for product in ("cudss", "cusparselt", "nvpl"):
        shutil.copytree(benches.mirror_tree("native") / "compute" / product, tree / "compute" / product)
    gateway = image.podman("network", "inspect", "podman", "--format", benches.GATEWAY_FORMAT).stdout.strip()
    with SpoiltMirror(tree, gateway) as server:
        yield server


@pytest.fixture
def install(host: Host, mirror: SpoiltMirror) -> Callable[..., Play]:
    """Run the role against this module's mirror, which is sound again at the start of each test."""
    mirror.mend()

    def run(*arguments: str, **variables: t.Any) -> Play:
        return host.roles("math_libraries", arguments=arguments, sparkforge_nvidia_url=mirror.url, **variables)

    return run


@pytest.fixture(scope="module")
def factory(host: Host) -> list[str]:
    """What was on the host before the first run."""
    return host.contents()


@pytest.fixture
def installed(host: Host, factory: list[str], install: Callable) -> Host:
    """The stack's archives, and no others, are in place."""
    if host.execute(f"readlink {REDIST}/*/current || true").split() != ["0.7.1.6-cuda13", "0.4.1.1", "0.3.1.1"]:
        install().succeeded()
    return host


def cudss(release: str, mirror: SpoiltMirror, **changes: object) -> dict:
    """Return the row of one release of cuDSS, as a lock has it."""
    version, soname = CUDSS[release]
    manifest = json.loads((mirror.tree / f"compute/cudss/redist/redistrib_{release}.json").read_text())
    pin = manifest["libcudss"][PLATFORM]["cuda13"]["sha256"]
    row = {"product": "cudss", "component": "libcudss", "release": release, "version": version, "soname": soname}
    return {**row, "variant": "cuda13", "sha256": {PLATFORM: pin}, **changes}


def publish(mirror: SpoiltMirror, release: str, archive: bytes, **changes: str) -> dict:
    """Put an archive and its manifest into the mirror's tree and return its row."""
    redist = mirror.tree / "compute/cudss/redist"
    path = f"libcudss/{PLATFORM}/libcudss-{PLATFORM}-{release}_cuda13-archive.tar.xz"
    (redist / path).write_bytes(archive)
    pin = hashlib.sha256(archive).hexdigest()
    file = {"relative_path": path, "sha256": pin, "size": str(len(archive))}
    manifest = {"libcudss": {"name": "x", "version": f"{release}.1", PLATFORM: {"cuda13": file}}}
    (redist / f"redistrib_{release}.json").write_text(json.dumps(manifest))
    row = {"product": "cudss", "component": "libcudss", "release": release, "version": f"{release}.1"}
    return {**row, "variant": "cuda13", "sha256": {PLATFORM: pin}, **changes}


def tar(*members: tarfile.TarInfo, **files: bytes) -> bytes:
    """Return an archive of one library and what else is given; ``/`` in a file's name is ``__``."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:xz") as archive:
        contents = {"lib/libcudss.so.0": shared_object(PLATFORM, "libcudss.so.0")}
        contents |= {name.replace("__", "/"): content for name, content in files.items()}
        for name, content in contents.items():
            member = tarfile.TarInfo(f"top/{name}")
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return stream.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


def version_in_use(host: Host) -> str:
    return host.execute(f"readlink {REDIST}/libcudss/current")


# --- what is wanted


def test_check_mode_on_a_fresh_host_names_the_archives_and_changes_nothing(host: Host, install: Callable) -> None:
    before = host.contents()
    play = install("--check", "--diff").succeeded()
    assert play.changed == 1
    for line in ("+libcudss 0.7.1.6", "+nvpl_blas 0.4.1.1", "+nvpl_lapack 0.3.1.1"):
        assert line in play.output
    assert host.contents() == before


def test_the_loader_opens_every_library_and_a_second_run_changes_nothing(installed: Host, install: Callable) -> None:
    names = ["libnvpl_blas_lp64_gomp.so.0", "libnvpl_lapack_lp64_gomp.so.0"]
    installed.execute(f"python3 -c 'import ctypes; [ctypes.CDLL(name) for name in {json.dumps(names)}]'")
    # cuDSS needs cuBLAS, which this role does not bring.
    assert f"libcudss.so.0 (libc6,x86-64) => {REDIST}/libcudss/current/lib" in installed.execute("ldconfig -p")
    assert install("--diff").succeeded().changed == 0
    assert install("--check", "--diff", math_libraries_check_files=True).succeeded().changed == 0


def test_a_file_that_was_cut_short_is_noticed_and_mended(installed: Host, install: Callable) -> None:
    library = f"{REDIST}/libcudss/current/lib/libcudss.so.0.7.1"
    sound = installed.execute(f"sha256sum {library}")
    installed.execute(f"truncate -s 100 {library}")
    play = install("--diff", math_libraries_check_files=True).succeeded()
    assert "libcudss.so.0.7.1 has 100 bytes instead of" in play.text
    assert installed.execute(f"sha256sum {library}") == sound


@pytest.mark.long
def test_a_stack_of_the_site_moves_cudss_up_and_down_and_keeps_the_version_before(
    installed: Host, install: Callable, mirror: SpoiltMirror
) -> None:
    inventory = installed.inventory
    definition = yaml.safe_load((inventory / "stacks/lab-native.yml").read_text())
    lock = yaml.safe_load((inventory / "locks/lab-native.yml").read_text())
    for release in ("0.8.0", "1.0.0"):
        row = cudss(release, mirror)
        pins = {key: row.pop(key) for key in ("release", "version", "sha256")}
        definition["stack_definition"]["archives"][0].update(row, release=release, version=pins["version"])
        lock["stack_lock"]["stack"], lock["stack_lock"]["archives"]["libcudss"] = f"site-{release}", pins
        (inventory / f"stacks/site-{release}.yml").write_text(yaml.safe_dump(definition))
        (inventory / f"locks/site-{release}.yml").write_text(yaml.safe_dump(lock))

    play = install("--check", "--diff", stack_name="site-0.8.0").succeeded()
    assert "-libcudss 0.7.1.6" in play.output
    assert "+libcudss 0.8.0.10" in play.output
    assert version_in_use(installed) == "0.7.1.6-cuda13"

    install(stack_name="site-0.8.0").succeeded()
    assert version_in_use(installed) == "0.8.0.10-cuda13"
    assert installed.execute(f"ls {REDIST}/libcudss").split() == ["0.7.1.6-cuda13", "0.8.0.10-cuda13", "current"]

    install(stack_name="site-1.0.0").succeeded()
    loader = installed.execute("ldconfig -p")
    assert "libcudss.so.1 " in loader
    assert "libcudss.so.0 " not in loader, "the loader no longer offers the SONAME of the version before"
    assert installed.execute(f"ls {REDIST}/libcudss").split() == ["0.8.0.10-cuda13", "1.0.0.35-cuda13", "current"]
    assert install("--diff", stack_name="site-1.0.0").succeeded().changed == 0

    mirror.mend()
    install(stack_name="site-0.8.0").succeeded()
    assert version_in_use(installed) == "0.8.0.10-cuda13"
    assert mirror.requests == [], "going back to the version before asks no server"


# --- what is refused


BAD_PINS: list[tuple[dict, list[str]]] = [
    ({"sha256": "0" * 64}, ["the stack pins 0000", "Nothing was downloaded"]),
    ({"soname": "libcudss.so.0"}, ["no library with the SONAME libcudss.so.0", "it has libcudss.so.1"]),
    ({"version": "1.0.0.36"}, ["has libcudss 1.0.0.35, but the stack pins 1.0.0.36", "playbooks/lock.yml"]),
    ({"release": "1.0.9"}, ["cudss has no release 1.0.9", "Correct the release"]),
    ({"variant": "cuda14"}, ["no variant cuda14 of libcudss", "it has cuda13", "Choose one of those variants"]),
    ({"component": "libcuds"}, ["has no component libcuds", "it has libcudss", "Correct the component"]),
    ({"sha256": "abc"}, ["has the sha256 'abc', which is not 64 hexadecimal digits"]),
    ({"component": "../x"}, ["has '../x' as component", "Use letters"]),
]


def attempts(host: Host, mirror: SpoiltMirror, rows: list[dict]) -> list[dict]:
    """Try to install each row in one play and return the results of the module."""
    task = {
        "name": "Try",
        "sparkforge.dgx_spark.redist_archive": {
            "base_url": f"{mirror.url}/compute",
            "prefix": REDIST,
            "archives": ["{{ item }}"],
        },
        "loop": rows,
        "register": "tried",
        "ignore_errors": True,
    }
    kept = host.reports.parent / "tried.json"
    keep: dict[str, t.Any] = {"ansible.builtin.copy": {"content": "{{ tried.results | to_json }}", "dest": str(kept)}}
    keep |= {"delegate_to": "localhost", "become": False, "vars": {"ansible_become": False}}
    path = host.reports.parent / "attempts.yml"
    path.write_text(json.dumps([{"hosts": "all", "become": True, "gather_facts": False, "tasks": [task, keep]}]))
    host.run(str(path)).succeeded()
    return json.loads(kept.read_text())


def test_a_pin_that_does_not_hold_is_refused_and_the_host_stays(installed: Host, mirror: SpoiltMirror) -> None:
    mirror.mend()
    before = installed.contents()
    row = cudss("1.0.0", mirror)
    row["sha256"] = row["sha256"][PLATFORM]
    results = attempts(installed, mirror, [{**row, **changes} for changes, _ in BAD_PINS])
    for result, (_changes, sentences) in zip(results, BAD_PINS, strict=True):
        assert result["failed"], result
        for sentence in sentences:
            assert sentence in result["msg"]
    assert installed.contents() == before


@pytest.mark.long
def test_an_archive_for_another_platform_alone_is_left_out(installed: Host, install: Callable) -> None:
    archives = [{"product": "nvpl", "component": "nvpl_fft", "release": "25.5", "sha256": {OTHER_PLATFORM: "0" * 64}}]
    play = install("-v", math_libraries_archives=archives).succeeded()
    assert play.changed == 0
    assert f"NVIDIA has no nvpl_fft for {PLATFORM}: skipped." in play.text


@pytest.mark.long
def test_a_truncated_download_is_resumed_and_one_that_stays_truncated_is_refused(
    installed: Host, install: Callable, mirror: SpoiltMirror
) -> None:
    archives = [publish(mirror, "4.0.0", tar(padding=random.Random(4).randbytes(9000)))]
    before = installed.contents()
    mirror.fault("*.tar.xz", truncate=1000)
    play = install(math_libraries_archives=archives).failed()
    # Each of the four attempts went on where the one before was cut.
    assert "was truncated: 4000 of" in play.text
    assert "Run again; if it fails again, the mirror's file is incomplete" in play.text
    assert installed.contents() == before

    mirror.mend()
    mirror.fault("*.tar.xz", truncate=1000, times=1)
    install(math_libraries_archives=archives).succeeded()
    assert [request.status for request in mirror.requests] == [200, 200, 206]
    assert version_in_use(installed) == "4.0.0.1-cuda13"


def test_bytes_that_the_mirror_changed_are_refused_with_both_sums(
    installed: Host, install: Callable, mirror: SpoiltMirror
) -> None:
    before = installed.contents()
    mirror.fault("*.tar.xz", body=b"\xfd7zXZ\x00 something else")
    play = install(math_libraries_archives=[cudss("1.0.0", mirror)]).failed()
    actual = hashlib.sha256(b"\xfd7zXZ\x00 something else").hexdigest()
    assert f"is {actual}, expected {cudss('1.0.0', mirror)['sha256'][PLATFORM]}." in play.text
    assert installed.contents() == before


BAD_ARCHIVES = {
    "leaves the archive with '..'": tar(member("top/../../etc/cron.d/x", size=1)),
    "which is absolute": tar(member("/etc/cron.d/x", size=1)),
    "symlink 'top/lib/x' to '../../../etc', outside": tar(member("top/lib/x", tarfile.SYMTYPE, "../../../etc")),
    "symlink 'top/x' to '/etc/passwd', outside": tar(member("top/x", tarfile.SYMTYPE, "/etc/passwd")),
    "and writes through it": tar(member("top/x", tarfile.SYMTYPE, "lib"), member("top/x/y", size=1)),
    "hard link 'top/x' to 'top/none'": tar(member("top/x", tarfile.LNKTYPE, "top/none")),
    "device node 'top/null'": tar(member("top/null", tarfile.CHRTYPE)),
    "named pipe 'top/pipe'": tar(member("top/pipe", tarfile.FIFOTYPE)),
    "more than one top-level directory": tar(member("beside/x", size=1)),
    "is damaged or not a tar archive": tar()[:-40],
    "a Debian package": b"!<arch>\ndebian-binary",
}


@pytest.mark.long
def test_an_archive_that_reaches_out_of_its_directory_is_refused_and_nothing_of_it_stays(
    installed: Host, mirror: SpoiltMirror
) -> None:
    before = installed.contents()
    mirror.mend()
    rows = [publish(mirror, f"9.0.{number}", content) for number, content in enumerate(BAD_ARCHIVES.values())]
    results = attempts(installed, mirror, [{**row, "sha256": row["sha256"][PLATFORM]} for row in rows])
    for result, sentence in zip(results, BAD_ARCHIVES, strict=True):
        assert result["failed"], f"{sentence}: {result}"
        assert sentence in result["cause"]
        assert "mirror" in result["remedy"]
    assert installed.contents() == before


def test_without_an_accepted_licence_nothing_is_fetched(
    installed: Host, install: Callable, mirror: SpoiltMirror
) -> None:
    before = installed.contents()
    play = install(math_libraries_archives=[cudss("0.8.0", mirror)], sparkforge_accept_nvidia_license="false").failed()
    assert "libcudss are under NVIDIA licences that nobody has accepted" in play.text
    assert "set sparkforge_accept_nvidia_license to true" in play.text
    assert mirror.requests == []
    assert installed.contents() == before


# --- and taken back


def test_absent_leaves_the_host_as_it_was_before_the_first_run(
    installed: Host, factory: list[str], install: Callable, mirror: SpoiltMirror
) -> None:
    install(math_libraries_archives=[cudss("0.8.0", mirror)]).succeeded()
    assert install("--check", "--diff", math_libraries_state="absent").succeeded().changed == 1
    assert version_in_use(installed) == "0.8.0.10-cuda13"
    install(math_libraries_state="absent").succeeded()
    assert installed.contents() == factory
    assert "cudss" not in installed.execute("ldconfig -p")
    assert install(math_libraries_state="absent").succeeded().changed == 0


# --- what compilers and CMake see; last, for it brings packages


@pytest.mark.long
def test_headers_and_cmake_find_the_libraries(host: Host, install: Callable, mirror: SpoiltMirror) -> None:
    cmake = b"get_filename_component(CUDSS_PREFIX ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)\n"
    files = {"include__cudss.h": b"#define CUDSS_VERSION 20000\n", "lib__cmake__cudss__cudss-config.cmake": cmake}
    install(math_libraries_archives=[publish(mirror, "2.0.0", tar(**files))]).succeeded()
    host.execute("apt-get -qq update && apt-get -qq install --no-install-recommends -y cmake make")
    lists = (
        "cmake_minimum_required(VERSION 3.18)\nproject(use NONE)\nfind_package(cudss REQUIRED CONFIG)\n"
        "message(STATUS prefix=${CUDSS_PREFIX})\n"
    )
    current = f"{REDIST}/libcudss/current"
    found = host.execute(
        f"set -eu; mkdir -p /tmp/use; cd /tmp/use; printf '%s' '{lists}' > CMakeLists.txt\n"
        f"test -f {current}/include/cudss.h; test -f {current}/lib/libcudss.so.0\n"
        f"cmake -S . -B build -DCMAKE_PREFIX_PATH={current}"
    )
    assert f"prefix={REDIST}/libcudss/" in found
