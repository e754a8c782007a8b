# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where cuSPARSELt comes from, and why."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import cusparselt

ALL = ["apt", "local_repo", "redist"]
ARCHIVE = {
    "product": "cusparselt",
    "component": "libcusparse_lt",
    "release": "0.8.1",
    "version": "0.8.1.1",
    "variant": "cuda13",
    "sha256": {"linux-sbsa": "d3" * 32},
}
NAMES = [
    "libcusparselt0-cuda-13", "libcusparselt0",
    "libcusparselt0-dev-cuda-13", "libcusparselt0-dev", "libcusparselt-dev",
]  # fmt: skip
NOTHING: dict[str, list[str]] = {name: [] for name in NAMES}
OFFERED = {**NOTHING, "libcusparselt0-cuda-13": ["0.8.1.1-1"], "libcusparselt0-dev-cuda-13": ["0.8.1.1-1"]}


def choose(backends: list[str], offers: t.Any = None, version: str = "0.8.1", **more: t.Any) -> dict:
    observation = {
        "kernel": {"machine": more.pop("machine", "aarch64")},
        "apt": {"packages": more.pop("packages", {}), "offers": offers or {}},
        "loader": {"libraries": more.pop("libraries", {})},
    }
    request = cusparselt.Request(backends, version, 13, more.pop("archive", ARCHIVE), **more)
    return dataclasses.asdict(cusparselt.choose(request, observation))


def test_the_generic_names_will_do():
    generic = {**NOTHING, "libcusparselt0": ["0.8.1.1-1"], "libcusparselt0-dev": ["0.8.1.1-1"]}
    assert choose(ALL, generic)["backend"] == "apt"


@pytest.mark.parametrize("offered", ["0.8.10.1-1", "0.8.0.4-1", "0.9.0-1"])
def test_another_version_on_offer_is_not_the_wanted_one(offered: str):
    offers = {**NOTHING, "libcusparselt0-cuda-13": [offered], "libcusparselt0-dev-cuda-13": [offered]}
    choice = choose(ALL, offers)
    assert choice["backend"] == "redist"
    assert [backend for backend, _reason in choice["passed_over"]] == ["apt", "local_repo"]


def test_a_runtime_without_its_headers_is_not_enough():
    choice = choose(ALL, {**NOTHING, "libcusparselt0-cuda-13": ["0.8.1.1-1"]})
    assert choice["backend"] == "redist"
    assert "libcusparselt0-dev-cuda-13" in choice["passed_over"][0][1]


@pytest.mark.parametrize("proof", [{"sha256": "a" * 64}, {"key_fingerprint": "B" * 40}])
def test_the_local_repository_is_taken_where_something_proves_it(proof: dict):
    assert choose(ALL, NOTHING, **proof)["backend"] == "local_repo"


@pytest.mark.parametrize("version", ["0.9.0", "0.10.0", "1.0"])
def test_no_local_repository_exists_from_0_9_on(version: str):
    choice = choose(ALL, NOTHING, version, sha256="a" * 64, archive={**ARCHIVE, "release": version})
    assert choice["backend"] == "redist"
    assert "0.9" in choice["passed_over"][1][1]


def test_a_local_repository_that_is_forced_without_proof_is_refused_with_the_remedy():
    with pytest.raises(SparkforgeError, match=r"neither the sha256.*Set cusparselt_local_repo_sha256"):
        choose(["local_repo"])
    # By default it is passed over, and what it would have needed is named.
    passed_over = choose(ALL, NOTHING)["passed_over"][1][1]
    assert "cusparselt_local_repo_sha256, cusparselt_local_repo_key_fingerprint" in passed_over


def test_an_archive_without_a_sha256_for_the_platform_is_refused_and_a_check_only_says_so() -> None:
    with pytest.raises(SparkforgeError, match=r"no sha256 of the archive 0\.8\.1 is known for linux-x86_64"):
        choose(["redist"], machine="x86_64")
    choice = choose(["redist"], machine="x86_64", check_mode=True)
    assert choice["backend"] == "none"
    assert "linux-x86_64" in choice["reason"]


INSTALLED = {"libcusparselt0-cuda-13": "0.8.1.1-1", "libcusparselt0-dev-cuda-13": "0.8.1.1-1"}


def test_packages_of_a_local_repository_in_use_stay_with_it():
    repository = {"cusparselt-local-repo-ubuntu2404-0.8.1": "0.8.1-1"}
    assert choose(ALL, packages={**INSTALLED, **repository})["backend"] == "local_repo"
    assert choose(["apt", "redist"], packages={**INSTALLED, **repository})["backend"] == "apt"


def test_a_local_repository_that_an_interrupted_run_brought_is_gone_on_with():
    # What apt offers then is what that repository has, which would be removed as that of another backend.
    repository = {"cusparselt-local-repo-ubuntu2404-0.8.1": "0.8.1-1"}
    assert choose(ALL, OFFERED, packages=repository, sha256="ab" * 32)["backend"] == "local_repo"
    assert not choose(ALL, packages=repository, sha256="ab" * 32)["undecided"]
    assert choose(ALL, OFFERED, packages=repository)["backend"] == "apt"


def test_a_local_repository_of_another_version_is_not_in_use():
    choice = choose(ALL, packages={**INSTALLED, "cusparselt-local-repo-ubuntu2404-0.8.0": "0.8.0-1"})
    assert (choice["backend"], choice["local_repos"]) == ("apt", ["cusparselt-local-repo-ubuntu2404-0.8.0"])


def test_a_version_older_than_the_installed_one_is_refused():
    with pytest.raises(SparkforgeError, match=r"libcusparselt0-cuda-13 0.8.1.1-1 is installed, newer than .* 0.8.0"):
        choose(["local_repo"], version="0.8.0", packages=INSTALLED, sha256="ab" * 32, exact=True)


def test_a_newer_one_of_the_same_soname_stays_and_the_archive_does_not_take_over() -> None:
    # The vendor's own upgrade; no apt source has the stack's version any longer.
    upgraded = dict.fromkeys(INSTALLED, "0.10.0.3-1")
    for offers in (None, {key: ["0.10.0.3-1"] for key in NAMES}, NOTHING):
        choice = choose(ALL, offers, packages=upgraded)
        assert (choice["backend"], choice["settled"], choice["undecided"]) == ("apt", True, False)
        assert choice["reason"] == (
            "0.10.0.3 is installed as a package, newer than 0.8.1 and with its SONAME libcusparseLt.so.0"
        )
    # 0.8.10 is newer than 0.8.1 too.
    assert choose(ALL, packages=dict.fromkeys(INSTALLED, "0.8.10.1-1"))["settled"]


def test_headers_that_a_newer_one_lacks_are_asked_for_in_its_version() -> None:
    runtime = {"libcusparselt0-cuda-13": "0.10.0.3-1"}
    offers = {**NOTHING, **{key: ["0.10.0.3-1"] for key in INSTALLED}}
    choice = choose(ALL, offers, packages=runtime)
    assert (choice["backend"], choice["settled"]) == ("apt", False)
    assert choice["packages"][1].startswith("libcusparselt0-dev-cuda-13=0.10.0.3[.-]*|")


def test_a_newer_one_of_another_soname_or_beside_a_version_that_was_named_does_not_do() -> None:
    upgraded = dict.fromkeys(INSTALLED, "0.10.0.3-1")
    assert not choose(ALL, OFFERED, packages={"libcusparselt1-cuda-13": "1.0.0.1-1"})["settled"]
    assert choose(ALL, NOTHING, packages=upgraded, soname="libcusparseLt.so.1")["backend"] == "redist"
    with pytest.raises(
        SparkforgeError, match=r"0\.10\.0\.3-1 is installed, newer than the requested cuSPARSELt 0\.8\.1"
    ):
        choose(ALL, OFFERED, packages=upgraded, exact=True)


def test_an_older_version_that_is_installed_settles_nothing():
    assert not choose(ALL, OFFERED, packages=dict.fromkeys(INSTALLED, "0.8.0.4-1"))["settled"]


def test_the_archive_in_use_stays_in_use_without_asking_apt():
    library = {"libcusparseLt.so.0": "/opt/sparkforge/redist/libcusparse_lt/current/lib/libcusparseLt.so.0"}
    choice = choose(ALL, libraries=library)
    assert (choice["backend"], choice["undecided"]) == ("redist", False)
    assert choose(["apt"], OFFERED, libraries=library)["backend"] == "apt"


@pytest.mark.parametrize("backends", [[], ["pip"], ["apt", "wget"]])
def test_an_unknown_backend_is_refused(backends: list[str]):
    with pytest.raises(SparkforgeError, match="Name one or more of apt, local_repo, redist"):
        choose(backends)
