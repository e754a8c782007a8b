"""The choice of a source for cuSPARSELt."""

import hashlib
import re
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import cusparselt

ALL = ["apt", "local_repo", "redist"]
ARCHIVE = {
    "product": "cusparselt", "component": "libcusparse_lt", "release": "0.8.1", "version": "0.8.1.1",
    "variant": "cuda13", "sha256": {"linux-sbsa": "d3" * 32},
}  # fmt: skip
NAMES = ["libcusparselt0-cuda-13", "libcusparselt0-dev-cuda-13"]
INSTALLED = dict.fromkeys(NAMES, "0.8.1.1-1")
NOTHING: dict[str, list[str]] = {name: [] for name in NAMES}
OFFERED = {name: ["0.8.1.1-1"] for name in NAMES}
LOADER = "/etc/ld.so.conf.d/sparkforge-cusparselt.conf"


def choose(backends: list[str], offers: t.Any = None, version: str = "0.8.1", **more: t.Any) -> plans.Plan:
    """Return the plan for the stack's version or, with ``exact``, for one requested by the user."""
    observation = {
        "kernel": {"machine": more.pop("machine", "aarch64")},
        "apt": {"packages": more.pop("packages", {}), "offers": offers or {}, "architecture": "arm64"},
        "loader": {"libraries": more.pop("libraries", {})},
        "managed_files": {LOADER: hashlib.sha256(b"/usr/lib/aarch64-linux-gnu/libcusparseLt/13\n").hexdigest()},
    }
    library = {"version": version, "soname": more.pop("soname", "libcusparseLt.so.0"), "archive": ARCHIVE}
    settings = {
        "stack": {"cusparselt": library, "cuda": {"major": 13}},
        "cusparselt_state": "present",
        "cusparselt_backends": backends,
        "cusparselt_version": version if more.pop("exact", False) else "",
        "cusparselt_distribution": "ubuntu2404",
        "cusparselt_local_repo_sha256": more.pop("sha256", ""),
        "cusparselt_local_repo_url": "",
        "sparkforge_root": "/opt/sparkforge",
        "sparkforge_nvidia_url": "https://developer.download.nvidia.com",
        "ansible_check_mode": more.pop("check_mode", False),
        "__cusparselt_loader_file": LOADER,
        "__cusparselt_redist_component": "libcusparse_lt",
    }
    assert not more
    return cusparselt.plan(settings, observation)


def backend(plan: plans.Plan) -> str:
    """Return the backend named in the plan's note."""
    match = re.match(r"cuSPARSELt \S+ from (\w+): ", plan.notes[0])
    assert match
    return match[1]


@pytest.mark.parametrize("offered", ["0.8.10.1-1", "0.8.0.4-1", "0.9.0-1"])
def test_another_offered_version_is_not_used(offered: str):
    offers = {**NOTHING, "libcusparselt0-cuda-13": [offered], "libcusparselt0-dev-cuda-13": [offered]}
    plan = choose(ALL, offers)
    assert backend(plan) == "redist"
    assert re.search("Skipped: no apt .* sha256 of its .deb", plan.notes[0])


def test_a_runtime_without_its_headers_is_not_enough():
    plan = choose(ALL, {**NOTHING, "libcusparselt0-cuda-13": ["0.8.1.1-1"]})
    assert backend(plan) == "redist"
    assert "offers libcusparselt0-dev-cuda-13 0.8.1" in plan.notes[0]


def test_the_local_repository_is_used_if_its_sha256_is_known():
    plan = choose(ALL, NOTHING, sha256="a" * 64)
    assert backend(plan) == "local_repo"
    assert list(plan.steps) == ["local_repo", "packages"]


def test_a_requested_local_repository_without_sha256_is_refused():
    with pytest.raises(SparkforgeError, match=r"of its .deb .*Set cusparselt_local_repo_sha256"):
        choose(["local_repo"])
    # By default it is skipped, and the note names the missing variable.
    assert "(cusparselt_local_repo_sha256)" in choose(ALL, NOTHING).notes[0]


def test_an_archive_without_a_sha256_is_refused_but_only_noted_in_check_mode() -> None:
    with pytest.raises(SparkforgeError, match=r"no sha256 of the archive 0\.8\.1 for linux-x86_64"):
        choose(["redist"], machine="x86_64")
    plan = choose(["redist"], machine="x86_64", check_mode=True)
    assert (backend(plan), plan.steps) == ("none", {})
    assert "linux-x86_64" in plan.notes[0]


def test_packages_of_a_local_repository_in_use_are_kept():
    repository = {"cusparselt-local-repo-ubuntu2404-0.8.1": "0.8.1-1"}
    plan = choose(ALL, packages={**INSTALLED, **repository})
    assert (backend(plan), plan.steps) == ("local_repo", {})
    assert backend(choose(["apt", "redist"], packages={**INSTALLED, **repository})) == "apt"


def test_an_interrupted_local_repository_is_continued():
    # apt then offers the packages from that repository, which the backend apt would remove.
    repository = {"cusparselt-local-repo-ubuntu2404-0.8.1": "0.8.1-1"}
    assert backend(choose(ALL, OFFERED, packages=repository, sha256="ab" * 32)) == "local_repo"
    assert "ask" not in choose(ALL, packages=repository, sha256="ab" * 32).steps
    assert backend(choose(ALL, OFFERED, packages=repository)) == "apt"


def test_a_local_repository_of_another_version_is_not_in_use():
    plan = choose(ALL, packages={**INSTALLED, "cusparselt-local-repo-ubuntu2404-0.8.0": "0.8.0-1"})
    assert (backend(plan), list(plan.steps)) == ("apt", ["local_repo_absent"])


def test_a_version_older_than_the_installed_one_is_refused():
    with pytest.raises(SparkforgeError, match=r"0.8.1.1-1 is installed, newer .* 0.8.0"):
        choose(["local_repo"], version="0.8.0", packages=INSTALLED, sha256="ab" * 32, exact=True)


def test_newer_version_with_the_same_soname_is_kept() -> None:
    # The vendor upgraded the library, and no apt source has the stack's version any longer.
    upgraded = dict.fromkeys(INSTALLED, "0.10.0.3-1")
    for offers in (None, {key: ["0.10.0.3-1"] for key in NAMES}, NOTHING):
        plan = choose(ALL, offers, packages=upgraded)
        assert plan.steps == {}
        assert "0.10.0.3 is already installed" in plan.notes[0] and "libcusparseLt.so.0" in plan.notes[0]
    # 0.8.10 is newer than 0.8.1, too.
    assert choose(ALL, packages=dict.fromkeys(INSTALLED, "0.8.10.1-1")).steps == {}


def test_missing_headers_are_requested_in_the_installed_version() -> None:
    runtime = {"libcusparselt0-cuda-13": "0.10.0.3-1"}
    plan = choose(ALL, {key: ["0.10.0.3-1"] for key in INSTALLED}, packages=runtime)
    assert backend(plan) == "apt"
    assert plan.steps["packages"][1] == "libcusparselt0-dev-cuda-13=0.10.0.3[.-]*"
    with pytest.raises(SparkforgeError, match=r"0\.10\.0\.3-1 is installed, newer .* 0\.8\.1"):
        choose(["local_repo"], packages=runtime, sha256="ab" * 32)


def test_a_newer_version_with_another_soname_or_against_a_request_is_not_used() -> None:
    upgraded = dict.fromkeys(INSTALLED, "0.10.0.3-1")
    assert "packages" in choose(ALL, OFFERED, packages={"libcusparselt1-cuda-13": "1.0.0.1-1"}).steps
    assert backend(choose(ALL, NOTHING, packages=upgraded, soname="libcusparseLt.so.1")) == "redist"
    with pytest.raises(SparkforgeError, match=r"0\.10\.0\.3-1 is installed, newer .* cuSPARSELt 0\.8"):
        choose(ALL, OFFERED, packages=upgraded, exact=True)


def test_an_older_installed_version_is_replaced():
    assert "packages" in choose(ALL, OFFERED, packages=dict.fromkeys(INSTALLED, "0.8.0.4-1")).steps


def test_installed_archive_is_kept_without_querying_apt():
    library = {"libcusparseLt.so.0": "/opt/sparkforge/redist/libcusparse_lt/current/lib/libcusparseLt.so.0"}
    assert backend(choose(ALL, libraries=library)) == "redist"
    assert backend(choose(["apt"], OFFERED, libraries=library)) == "apt"


@pytest.mark.parametrize("backends", [[], ["pip"], ["apt", "wget"]])
def test_an_unknown_backend_is_refused(backends: list[str]):
    with pytest.raises(SparkforgeError, match=r"No backend can .*(apt, local_repo, redist|\(\))"):
        choose(backends, NOTHING)
