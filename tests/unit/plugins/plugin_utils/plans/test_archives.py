"""The stack's archives that a host needs."""

import copy
import hashlib
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import platforms
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import redist_plan
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans.archives import select

PREFIX = "/opt/sparkforge/redist"
ARCHIVES: list[dict[str, t.Any]] = [
    {
        "product": "cudss", "component": "libcudss", "release": "0.8.0", "version": "0.8.0.10", "variant": "cuda13",
        "soname": "libcudss.so.0", "sha256": {"linux-sbsa": "a" * 64, "linux-x86_64": "b" * 64},
    },
    {
        "product": "nvpl", "component": "nvpl_blas", "release": "25.5", "version": "0.4.1.1", "variant": "",
        "soname": "libnvpl_blas_lp64_gomp.so.0", "sha256": {"linux-sbsa": "c" * 64},
    },
]  # fmt: skip


def observation(machine: str = "aarch64") -> dict[str, t.Any]:
    """Return the observation of a host with all archives for its platform."""
    host: dict[str, t.Any] = {"kernel": {"machine": machine}, "managed_files": {}, "loader": {"libraries": {}}}
    platform = platforms.redist(machine)
    for archive in ARCHIVES:
        if platform in archive["sha256"]:
            current = f"{PREFIX}/{archive['component']}/current"
            record = {**archive, "platform": platform, "sha256": archive["sha256"][platform]}
            record |= {"current": current, "library_directory": "lib"}
            text = redist_plan.loader_entry(record, identity=True)
            path = f"/etc/ld.so.conf.d/sparkforge-{archive['component']}.conf"
            host["managed_files"][path] = hashlib.sha256(text.encode()).hexdigest()
            host["loader"]["libraries"][archive["soname"]] = f"{current}/lib/{archive['soname']}"
    return host


def test_a_host_that_has_every_archive_needs_no_call() -> None:
    result = select(ARCHIVES, observation(), PREFIX)
    assert result["installed"] is True
    assert [row["sha256"] for row in result["archives"]] == ["a" * 64, "c" * 64]
    assert result["components"] == [{"component": "libcudss"}, {"component": "nvpl_blas"}]


def test_archives_without_the_platform_are_omitted_on_x86_64() -> None:
    result = select(ARCHIVES, observation("x86_64"), PREFIX)
    assert result["platform"] == "linux-x86_64"
    assert result["without_platform"] == ["nvpl_blas"]
    assert [row["component"] for row in result["archives"]] == ["libcudss"]
    assert result["installed"] is True


def test_a_host_without_archives_needs_them() -> None:
    empty = {"kernel": {"machine": "aarch64"}, "managed_files": {}, "loader": {"libraries": {}}}
    assert select(ARCHIVES, empty, PREFIX)["installed"] is False


@pytest.mark.parametrize("key", ["version", "variant", "sha256"])
def test_another_version_variant_or_sha256_is_not_installed(key: t.Any) -> None:
    changed = copy.deepcopy(ARCHIVES)
    changed[0][key] = {"linux-sbsa": "d" * 64} if key == "sha256" else "other"
    assert select(changed, observation(), PREFIX)["installed"] is False


def test_a_library_that_the_loader_finds_elsewhere_is_not_installed() -> None:
    host = observation()
    host["loader"]["libraries"]["libcudss.so.0"] = "/usr/lib/libcudss.so.0"
    assert select(ARCHIVES, host, PREFIX)["installed"] is False
    assert select(ARCHIVES, observation(), "/other")["installed"] is False


def test_a_missing_sha256_is_named() -> None:
    changed = copy.deepcopy(ARCHIVES)
    changed[0]["sha256"]["linux-sbsa"] = None
    assert select(changed, observation(), PREFIX)["unpinned"] == ["libcudss 0.8.0.10 (linux-sbsa)"]


@pytest.mark.parametrize("bad", ["text", {"component": "x"}, {"component": "x", "sha256": "a" * 64}])
def test_an_incomplete_archive_is_refused_with_its_number(bad: t.Any) -> None:
    with pytest.raises(SparkforgeError, match="Archive number 3 is"):
        select([*ARCHIVES, bad], observation(), PREFIX)
