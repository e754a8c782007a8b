# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was built is published where its wheels fit each other and the lock."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import publication

#: What torch 2.6.0 requires.
TORCH = (
    "filelock",
    "sympy==1.13.1; python_version >= '3.9'",
    "setuptools; python_version >= '3.12'",
    "numpy<2; python_version < '3.9'",
    "nvidia-nccl-cu12==2.21.5; platform_system == 'Linux' and platform_machine == 'x86_64'",
    "opt-einsum>=3.3; extra == 'opt-einsum'",
    "triton==3.2.0",
)
LOCK = ("filelock==4.2.11", "sympy==1.13.1", "setuptools==84.2.1", "Pillow==13.0.0")
SAID = "torch 2.6.0+cu130.sf1a2b3c4d requires "


def wheel(name: str, version: str, *requires: str) -> dict[str, t.Any]:
    return {"name": name, "version": version, "requires": list(requires)}


def refused(
    lock: t.Sequence[str] = LOCK, machine: str = "aarch64", official: t.Sequence[str] = (), **changed: t.Any
) -> str:
    built = {
        "llvm": {"wheels": []},
        "triton": {"wheels": [wheel("triton", "3.2.0+cu130.sf5e6f7a8b")]},
        "pytorch": {"wheels": [wheel("torch", "2.6.0+cu130.sf1a2b3c4d", *TORCH)]},
        "torchvision": {"wheels": [wheel("torchvision", "0.21.0", "torch==2.6.0", "pillow!=8.3.*,>=5.3.0")]},
    }
    lines = [f"{pin} --hash=sha256:{'a' * 64}" for pin in lock]
    stack = {
        "name": "mine",
        "python": {"version": "3.12"},
        "units": ["llvm", "triton", "pytorch", "torchvision"],
        "versions": {"torch": "2.6.0", "triton": "3.2.0", "torchvision": "0.21.0"},
        "lock": {
            "wheels": {"cp312-linux-aarch64": official},
            "run_requirements": {"cp312-linux-aarch64": {"pytorch": lines, "beside": [], "flash": ["a==1"]}},
        },
    }
    settings = {"stack": stack, "sparkforge_built": built, **changed}
    return str(publication.plan(settings, {"kernel": {"machine": machine}}).as_result()["refused"])


def without(name: str) -> list[str]:
    return [pin for pin in LOCK if not pin.startswith(name)]


def test_wheels_that_fit_each_other_and_the_lock_are_published() -> None:
    assert refused() == ""


def test_a_lock_of_another_version_is_told_with_both_and_the_remedy() -> None:
    assert refused([*without("sympy"), "sympy==1.14.0"]) == (
        f"What was built does not fit the lock of the stack mine: {SAID}sympy ==1.13.1, and 1.14.0 is in the lock."
        " Correct requires of these units, or versions, in the stack mine,"
        " and run playbooks/lock.yml -e stack_name=mine; packages that are not part of the stack go into "
        "python_env_extra_requirements. The builds are kept."
    )


def test_all_that_does_not_fit_is_told_at_once() -> None:
    said = refused(["sympy==1.14.0", "setuptools==84.2.1", "pillow==8.3.1"])
    assert f"{SAID}filelock, which the lock does not have; {SAID}sympy ==1.13.1, and 1.14.0 is in the lock; " in said
    assert "torchvision 0.21.0 requires pillow !=8.3.*,>=5.3.0, and 8.3.1 is in the lock." in said


def test_a_wheel_that_was_built_counts_before_the_lock() -> None:
    other = {"wheels": [wheel("torchvision", "0.22.0", "torch==2.7.0")]}
    torch = {"wheels": [wheel("torch", "2.6.0+cu130.sf1a2b3c4d")]}
    said = refused([*LOCK, "torch==2.7.0"], sparkforge_built={"torchvision": other, "pytorch": torch})
    assert "torchvision 0.22.0 requires torch ==2.7.0, and 2.6.0+cu130.sf1a2b3c4d was built." in said


def test_markers_are_judged_for_the_host() -> None:
    # Nothing is locked for that platform.
    said = refused(machine="x86_64")
    assert "requires nvidia-nccl-cu12 ==2.21.5, which the lock does not have" in said
    assert "numpy" not in said and "opt-einsum" not in said


@pytest.mark.parametrize("pin", ["filelock==4.2.11", "filelock @ https://example.com/filelock-4-py3-none-any.whl"])
def test_what_a_site_adds_to_its_environments_counts(pin: str) -> None:
    assert refused(without("filelock"), python_env_extra_requirements=[f"{pin} --hash=sha256:{'b' * 64}"]) == ""


def test_what_does_not_say_what_it_requires_is_left_to_pip() -> None:
    older = {"wheels": [{"name": "torch", "version": "2.6.0"}]}
    odd = {"wheels": [wheel("odd", "1", "!? no requirement")]}
    assert refused([], sparkforge_built={"pytorch": older, "odd": odd}) == ""
    # In check mode nothing may be built yet.
    assert refused([], sparkforge_built=None) == ""


def test_in_check_mode_what_is_still_to_be_built_may_bring_what_nothing_has() -> None:
    torch = {"status": "unchanged", "wheels": [wheel("torch", "2.6.0", *TORCH)]}
    built = {"triton": {"status": "would_build", "wheels": []}, "pytorch": torch}
    assert refused(sparkforge_built=built) == ""
    assert "requires sympy ==1.13.1, and 1.14.0 is in the lock" in refused(["sympy==1.14.0"], sparkforge_built=built)
    built["triton"]["status"] = "unchanged"
    assert "requires triton ==3.2.0, which the lock does not have" in refused(sparkforge_built=built)


def test_an_official_wheel_in_the_place_of_a_unit_that_did_not_compile_counts() -> None:
    torch = {"wheels": [wheel("torch", "2.6.0+cu130.sf1a2b3c4d", "triton==3.2.0")]}
    built = {"llvm": {"wheels": []}, "pytorch": torch}
    assert "requires triton ==3.2.0, which the lock does not have" in refused(sparkforge_built=built)
    line = f"triton==3.2.0 --hash=sha256:{'a' * 64}"
    assert refused(official=[line], sparkforge_built=built) == ""
