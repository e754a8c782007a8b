# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.verify_checks import verify_checks

STACK: dict[str, t.Any] = {
    "name": "torch-2.15.0",
    "profile": {"name": "gb10", "compute_capability": "12.1"},
    "cuda": {"version": "13.0"},
    "driver_minimum": "580.65.06",
    "versions": {"torch": "2.15.0"},
    "lock": {"id": "0123456789ab"},
}
SPARK: dict[str, t.Any] = {
    "gpu": {"present": True, "devices": [{"name": "NVIDIA GB10", "compute_capability": "12.1"}]},
    "driver": {"version": "580.95.05"},
}
OPENED: dict[str, t.Any] = {
    "libraries": {"libcudss.so.0": {"path": "/opt/x/libcudss.so.0", "error": None}},
    "receipt": {"lock_id": "0123456789ab", "modules": {"torch": {"version": "2.15.0+cu130", "cuda": "13.0"}}},
}
CLOSURE: dict[str, t.Any] = {
    "missing": [],
    "wrong_version": [],
    "driver_provided": [],
    "absent": [],
    "unreadable": [],
    "found": 41,
    "examined": 96,
}
CUDSS: dict[str, t.Any] = {
    "soname": "libcudss.so.0",
    "needed_by": ["/e/libtorch_cuda.so", "/e/libtorch_cuda_linalg.so"],
    "provided_by": {
        "role": "math_libraries",
        "package": "libcudss0-cuda-13",
        "archive": "cudss/redist/libcudss/linux-sbsa",
        "hint": "cuDSS.",
    },
    "rejected": [],
    "off_path": [],
}
FRESH = {"libraries": {"libcudss.so.0": {"path": None, "error": "libcudss.so.0: cannot open shared object file: No such file or directory"}}, "receipt": None}  # noqa: E501 - what ld.so prints  # fmt: skip


def judge(
    info: t.Any = SPARK, opened: t.Any = OPENED, closure: t.Any = CLOSURE, **settings: t.Any
) -> dict[str, dict[str, str]]:
    """Return the checks by name."""
    return {check["name"]: check for check in verify_checks(info, STACK, opened, closure, settings)["checks"]}


def closure(**changed: t.Any) -> dict[str, t.Any]:
    return {**CLOSURE, **changed}


def opened(error: str, soname: str = "libcudss.so.0") -> dict[str, t.Any]:
    return {**OPENED, "libraries": {soname: {"path": None, "error": error}}}


def test_a_host_that_has_everything_passes_and_is_still_unproven() -> None:
    result = verify_checks(SPARK, STACK, OPENED, CLOSURE)
    assert {check["status"] for check in result["checks"]} == {"pass"}
    assert result["verdict"] == "unproven"
    assert result["summary"] == {"pass": 6, "fail": 0, "skip": 0}
    assert [check["name"] for check in result["checks"]] == [
        "gpu",
        "compute_capability",
        "driver",
        "torch",
        "closure",
        "open libcudss.so.0",
    ]


def test_every_check_has_every_key_as_text_and_each_failure_a_remedy() -> None:
    damaged = closure(missing=[CUDSS], absent=["/gone"], unreadable=[{"path": "/cut", "cause": "It is cut off."}])
    for result in (
        verify_checks({}, STACK, FRESH, damaged),
        verify_checks({}, STACK, FRESH, damaged, {"gpu_required": False, "check_mode": True}),
    ):
        for check in result["checks"]:
            assert set(check) == {"name", "status", "measured", "bound", "cause", "remedy"}
            assert all(isinstance(value, str) for value in check.values())
            assert (check["status"] == "fail") == bool(check["remedy"])
            assert (check["status"] == "pass") == (check["cause"] == "")


def test_a_missing_library_fails_with_who_needs_it_and_who_brings_it() -> None:
    check = judge(closure=closure(missing=[CUDSS]))["closure libcudss.so.0"]
    assert check["status"] == "fail"
    assert "/e/libtorch_cuda.so needs and 1 more" in check["cause"]
    assert check["remedy"] == (
        "Run the role math_libraries, which brings the package libcudss0-cuda-13"
        " or the archive cudss/redist/libcudss/linux-sbsa."
    )


def test_every_missing_library_is_a_failure_of_its_own() -> None:
    other = {**CUDSS, "soname": "libgomp.so.1"}
    result = verify_checks(SPARK, STACK, OPENED, closure(missing=[CUDSS, other]))
    assert result["verdict"] == "fail"
    assert result["summary"]["fail"] == 2
    assert "closure" not in [check["name"] for check in result["checks"]]


def test_the_version_that_is_there_instead_is_named() -> None:
    wrong = [{"soname": "libcudss.so.0", "found": "libcudss.so.1", "path": "/x/libcudss.so.1"}]
    check = judge(closure=closure(missing=[CUDSS], wrong_version=wrong))["closure libcudss.so.0"]
    assert "/x/libcudss.so.1 is libcudss.so.1, which does not satisfy it." in check["cause"]


def test_a_library_outside_the_loaders_path_is_to_be_made_known_and_not_installed_again() -> None:
    hidden = {**CUDSS, "off_path": ["/usr/lib/aarch64-linux-gnu/libcudss/13/libcudss.so.0"]}
    remedy = judge(closure=closure(missing=[hidden]))["closure libcudss.so.0"]["remedy"]
    assert "run ldconfig" in remedy
    assert "/usr/lib/aarch64-linux-gnu/libcudss/13 in a file of /etc/ld.so.conf.d" in remedy


def test_a_library_that_nobody_knows_gets_the_hint_and_no_invented_package() -> None:
    unknown = {
        **CUDSS,
        "soname": "libodd.so.1",
        "provided_by": {"role": None, "package": None, "archive": None, "hint": "Unknown: ask."},
    }
    assert judge(closure=closure(missing=[unknown]))["closure libodd.so.1"]["remedy"] == "Unknown: ask."


def test_a_fresh_host_in_check_mode_fails_nothing_and_says_what_is_not_provisioned_yet() -> None:
    absent = closure(absent=["/opt/sparkforge/redist/libcudss/current/lib"], examined=0, found=0)
    checks = judge(opened=FRESH, closure=absent, check_mode=True)
    assert [name for name, check in checks.items() if check["status"] == "fail"] == []
    for name in (
        "torch",
        "closure",
        "open libcudss.so.0",
        "path /opt/sparkforge/redist/libcudss/current/lib",
    ):
        assert checks[name]["status"] == "skip"
        assert checks[name]["cause"].startswith("not provisioned yet")


def test_the_same_fresh_host_fails_in_a_real_run() -> None:
    absent = closure(absent=["/opt/sparkforge/redist/libcudss/current/lib"], examined=0, found=0)
    checks = judge(opened=FRESH, closure=absent)
    failed = [name for name, check in checks.items() if check["status"] == "fail"]
    assert failed == [
        "torch",
        "path /opt/sparkforge/redist/libcudss/current/lib",
        "closure",
        "open libcudss.so.0",
    ]


def test_check_mode_skips_what_a_role_would_bring_and_fails_what_none_would() -> None:
    unknown = {**CUDSS, "soname": "libz.so.1", "provided_by": {**CUDSS["provided_by"], "role": None}}
    checks = judge(closure=closure(missing=[CUDSS, unknown]), check_mode=True)
    assert checks["closure libcudss.so.0"]["status"] == "skip"
    assert checks["closure libz.so.1"]["status"] == "fail"


def test_without_a_required_gpu_its_checks_are_skipped_each_with_the_reason() -> None:
    info = {"gpu": {"present": False, "devices": []}, "driver": {"version": None}}
    cpu = {
        **OPENED,
        "receipt": {"lock_id": "x", "modules": {"torch": {"version": "2.15.0+cpu", "cuda": None}}},
    }
    checks = judge(info, cpu, closure(driver_provided=["libcuda.so.1"]), gpu_required=False)
    for name in ("gpu", "compute_capability", "driver", "closure libcuda.so.1"):
        assert checks[name]["status"] == "skip"
        assert "sparkforge_gpu_required is false" in checks[name]["cause"]
    assert checks["torch"]["status"] == "pass"
    assert checks["torch"]["measured"] == "2.15.0+cpu, CPU build"


def test_a_required_gpu_that_is_not_there_fails() -> None:
    checks = judge({"gpu": {"present": False, "devices": []}, "driver": {"version": None}})
    assert checks["gpu"]["status"] == checks["driver"]["status"] == "fail"


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("580.65.06", "pass"),
        ("580.95.05", "pass"),
        ("590.1", "pass"),
        ("580.65.05", "fail"),
        ("570.200", "fail"),
    ],
)
def test_the_driver_is_compared_with_what_the_cuda_minor_needs(version: str, status: str) -> None:
    assert judge({**SPARK, "driver": {"version": version}})["driver"]["status"] == status


def test_a_gpu_of_another_capability_than_the_profiles_fails() -> None:
    info = {**SPARK, "gpu": {"present": True, "devices": [{"name": "Thor", "compute_capability": "11.0"}]}}
    check = judge(info)["compute_capability"]
    assert (check["status"], check["measured"], check["bound"]) == ("fail", "11.0", "12.1")


def test_a_profile_without_a_capability_takes_any_gpu() -> None:
    stack = {**STACK, "profile": {"name": "generic", "compute_capability": None}}
    checks = {check["name"]: check for check in verify_checks(SPARK, stack, OPENED, CLOSURE)["checks"]}
    assert checks["compute_capability"]["status"] == "skip"


def test_a_cpu_build_of_torch_fails_where_a_gpu_is_required() -> None:
    cpu = {"lock_id": "0123456789ab", "modules": {"torch": {"version": "2.10.0+cpu", "cuda": None}}}
    check = judge(opened={**OPENED, "receipt": cpu})["torch"]
    assert check["status"] == "fail"
    assert "is a CPU build" in check["cause"]
    assert "2.11 and newer" in check["remedy"]


def test_another_version_of_torch_than_the_stacks_fails_unless_it_is_about_to_be_replaced() -> None:
    old = {"lock_id": "another", "modules": {"torch": {"version": "2.14.1+cu130", "cuda": "13.0"}}}
    assert judge(opened={**OPENED, "receipt": old})["torch"]["status"] == "fail"
    assert judge(opened={**OPENED, "receipt": old}, check_mode=True)["torch"]["status"] == "skip"


@pytest.mark.parametrize("lacking", ["libcuda.so.1", "libnvidia-ml.so.1"])
def test_a_library_that_lacks_only_the_driver_is_tolerated_where_no_gpu_is_required(lacking: str) -> None:
    error = f"{lacking}: cannot open shared object file: No such file or directory"
    lenient = judge(opened=opened(error), gpu_required=False)["open libcudss.so.0"]
    assert (lenient["status"], "driver's" in lenient["cause"]) == ("skip", True)
    strict = judge(opened=opened(error))["open libcudss.so.0"]
    assert (strict["status"], "as the vendor says" in strict["remedy"]) == ("fail", True)


@pytest.mark.parametrize(
    "error",
    [
        "libcublas.so.13: cannot open shared object file: No such file or directory",
        "/x/libcudss.so.0: undefined symbol: cublasLtCreate",
        "/x/libcudss.so.0: invalid ELF header",
        "the process that opened it ended by SIGSEGV",
    ],
)
def test_nothing_else_is_tolerated_without_a_gpu(error: str) -> None:
    check = judge(opened=opened(error), gpu_required=False)["open libcudss.so.0"]
    assert check["status"] == "fail"
    assert error in check["cause"]


def test_a_library_that_is_there_and_broken_fails_in_check_mode_too() -> None:
    check = judge(opened=opened("/x/libcudss.so.0: invalid ELF header"), check_mode=True)["open libcudss.so.0"]
    assert check["status"] == "fail"


def test_no_paths_at_all_is_a_skip_with_its_reason() -> None:
    check = judge(closure={"skipped": True, "changed": False})["closure"]
    assert (check["status"], "verify_paths is empty" in check["cause"]) == ("skip", True)


@pytest.mark.parametrize("place", range(4))
def test_an_argument_that_is_no_mapping_is_refused_by_name(place: int) -> None:
    arguments: list[t.Any] = [SPARK, STACK, OPENED, CLOSURE]
    arguments[place] = "text"
    with pytest.raises(AnsibleFilterError, match="wants a mapping for"):
        verify_checks(*arguments)
