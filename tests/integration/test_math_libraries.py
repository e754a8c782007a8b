# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""cuDSS and NVPL on a host: brought, changed, taken back, and refused where something is wrong with them."""

from __future__ import annotations

import json
import shutil
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from lab import bench as benches, image
from lab.host import native_architecture
from lab.serve import MirrorServer
from tests.integration.conftest import Bench, Host, Play

PLATFORM = {"amd64": "linux-x86_64", "arm64": "linux-sbsa"}[native_architecture()]
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
