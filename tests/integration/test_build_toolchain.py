# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role build_toolchain: what a build needs, on a host where a person had installed a part of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.integration.conftest import Bench, Host, Play, changes

# Two small sets keep this module short; the whole list is installed by the site.
PACKAGES = ["ninja-build", "patchelf", "pkg-config", "python3.13-dev", "llvm-19", "clang-19"]


@dataclass
class Toolchain:
    """A host with the toolchain, and what it was before."""

    host: Host
    before: tuple[list[str], list[str]]
    first: Play

    def state(self) -> tuple[list[str], list[str]]:
        return self.host.contents(), self.host.snapshot()["packages"]


@pytest.fixture(scope="module")
def toolchain(bench: Bench) -> Toolchain:
    host = bench.fresh()
    host.execute("apt-get update -q && apt-get install -y -q ninja-build")
    before = host.contents(), host.snapshot()["packages"]
    checked = host.roles("build_toolchain", arguments=["--check", "--diff"], build_toolchain_packages=PACKAGES)
    assert "clang-19" in checked.succeeded().text
    assert (host.contents(), host.snapshot()["packages"]) == before, "--check has changed the host"
    first = host.roles("build_toolchain", build_toolchain_packages=PACKAGES)
    return Toolchain(host, before, first)


def test_the_compilers_and_the_headers_work(toolchain: Toolchain) -> None:
    assert toolchain.first.succeeded().changed == 1
    host = toolchain.host
    assert host.execute("llvm-config-19 --version").startswith("19.")
    assert "clang version 19" in host.execute("clang-19 --version")
    # What Triton does at the first launch of a kernel: a C module against Python.h.
    include = "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()[\"include\"])')"
    host.execute(f"echo '#include <Python.h>' | clang-19 -fsyntax-only -I{include} -x c -")


def test_a_second_run_changes_nothing(toolchain: Toolchain) -> None:
    play = toolchain.host.roles("build_toolchain", build_toolchain_packages=PACKAGES).succeeded()
    assert play.changed == 0


def test_recommended_packages_do_not_come_along(toolchain: Toolchain) -> None:
    # llvm-19-dev and clang-19 recommend each other's company; what nobody asked for is not installed.
    assert "llvm-19-dev" not in "\n".join(toolchain.state()[1])


def test_a_package_that_no_source_offers_is_named_and_nothing_is_installed(toolchain: Toolchain) -> None:
    earlier = toolchain.state()
    play = toolchain.host.roles("build_toolchain", build_toolchain_packages=["cmake", "clang-99"]).failed()
    assert "clang-99 is in no enabled apt source" in play.text
    assert toolchain.state() == earlier


def test_what_is_no_package_name_is_refused_before_apt_sees_it(toolchain: Toolchain) -> None:
    play = toolchain.host.roles("build_toolchain", build_toolchain_packages=["clang-19-"]).failed()
    assert "'clang-19-' does not name a package" in play.text


def test_a_package_that_somebody_has_wanted_since_stays(toolchain: Toolchain) -> None:
    wanted_since = "libclang-cpp19"
    toolchain.host.execute(f"apt-mark manual {wanted_since}")
    play = toolchain.host.roles("build_toolchain", build_toolchain_state="absent").succeeded()
    assert play.changed == 1
    assert wanted_since in "\n".join(toolchain.state()[1])
    toolchain.host.execute(f"apt-get purge -y -q --autoremove {wanted_since}")


def test_absent_has_taken_back_only_what_it_brought(toolchain: Toolchain) -> None:
    contents, packages = toolchain.state()
    assert changes(toolchain.before[1], packages) == []
    assert changes(toolchain.before[0], contents) == []
    assert "ninja-build" in toolchain.host.execute("apt-mark showmanual")
    play = toolchain.host.roles("build_toolchain", build_toolchain_state="absent").succeeded()
    assert play.changed == 0
