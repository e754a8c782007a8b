# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A GB10 is played: what each check of the GPU does to verdict, exit status and switch when it has no answer."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from sparkforge_proof import catalogue, cli, endings, verdict
from sparkforge_proof.check import FAIL, PASS, Failed, Result

CHECKOUT = Path(__file__).parents[3]
PROFILE = yaml.safe_load((CHECKOUT / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]["gb10"]
GB10 = ("12.1", "aarch64")
ON_GPU = [name for name, definition in catalogue.CHECKS.items() if definition.device == "cuda"]
#: A GPU that cannot be reached at all computes nothing.
COMPUTING = [name for name in ON_GPU if name != "device.cuda"]

#: What stacks said on Blackwell, and why a check that ends so has no answer.
WORDS = {
    # pytorch/pytorch#192707, row-wise FP8 on sm_120
    "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmulAlgoGetHeuristic( ltHandle, "
    "computeDesc.descriptor(), Adesc.descriptor(), Bdesc.descriptor(), Cdesc.descriptor(), Ddesc.descriptor(), "
    "preference.descriptor(), 1, &heuristicResult, &returnedResult)`": "refused",
    # Dao-AILab/flash-attention#1785, on sm_120
    "CUDA error: no kernel image is available for execution on the device": "refused",
    # pytorch/pytorch#188892
    "cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH": "crash",
    # Comfy-Org/docs#1491, attention on sm_103
    "cuDNN Frontend error: No valid execution plans built": "crash",
    "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED": "refused",
    # c10/cuda/CUDACachingAllocator.cpp
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 121.69 GiB of which 3.1 GiB is "
    "free.": "memory",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`": "memory",
}


def rows(**changed: Result) -> list[Result]:
    """Return a result for each check: passed, but for those that are given."""
    return [
        changed.get(name.replace(".", "_")) or Result(name, PASS, family=definition.family, numeric=definition.numeric)
        for name, definition in catalogue.CHECKS.items()
    ]


def proven(result: Result) -> dict[str, Any]:
    """Return what a proof on a GB10 says in which one check ended so, and all others passed."""
    result.numeric = catalogue.CHECKS[result.name].numeric
    found = rows(**{result.name.replace(".", "_"): result})
    required = PROFILE["required_checks"]
    verdict.judge(found, catalogue.CHECKS, GB10, required)
    numeric = [name for name, one in catalogue.CHECKS.items() if one.numeric and verdict.selects(required, name)]
    checks = [{"name": one.name, "status": one.status, "reason": one.reason} for one in found]
    return {"verdict": verdict.verdict(found, [], verdict.families(numeric)), "checks": checks}


def ends(report: dict[str, Any]) -> tuple[str, int, bool, bool]:
    """Return the verdict, the exit status, and whether a new and a proven host switch."""
    switches = [
        not verdict.hindrance(report, before, before is None, "proven")
        for before in (None, {"verdict": "proven", "checks": []})
    ]
    return (report["verdict"], cli.status(report), *switches)


@pytest.mark.parametrize("name", COMPUTING)
def test_a_check_without_an_answer_never_keeps_a_gb10_from_its_stack(
    name: str,
) -> None:
    definition = catalogue.CHECKS[name]
    lost: list[Callable[[], Result]] = [
        lambda: endings.hung(definition, definition.seconds),
        lambda: endings.ended_by(definition, -signal.SIGSEGV),
        lambda: endings.ended_by(definition, -signal.SIGKILL),
    ]
    assert [one().reason for one in lost] == ["timeout", "crash", "memory"]
    for one in lost:
        assert ends(proven(one())) == ("proven", 0, True, True)
    for words, reason in WORDS.items():
        row = endings.failure(definition, RuntimeError(words))
        assert row.reason == reason
        assert ends(proven(row)) == ("proven", 0, True, True)


@pytest.mark.parametrize("name", [name for name in COMPUTING if catalogue.CHECKS[name].numeric])
def test_a_wrong_number_keeps_every_host_from_the_stack(name: str) -> None:
    row = endings.failure(catalogue.CHECKS[name], Failed("It is wrong.", "Mend it.", ratio=2.0))
    expected = ("fail", 1, False, False) if catalogue.CHECKS[name].measured else ("proven", 0, True, True)
    assert ends(proven(row)) == expected


def test_a_gpu_on_which_a_whole_family_has_no_answer_is_unproven_and_a_new_host_gets_the_stack() -> None:
    found = rows()
    for row in found:
        if row.name.startswith("attention."):
            row.status, row.reason = FAIL, "refused"
    verdict.judge(found, catalogue.CHECKS, GB10, PROFILE["required_checks"])
    numeric = [name for name in ON_GPU if verdict.selects(PROFILE["required_checks"], name)]
    report = {
        "verdict": verdict.verdict(found, [], verdict.families(numeric)),
        "checks": [{"name": row.name, "status": row.status, "reason": row.reason} for row in found],
    }
    assert ends(report) == ("unproven", 3, True, False)


def test_the_evidence_of_each_check_is_a_recorded_run_in_which_it_passed() -> None:
    runs = json.loads((CHECKOUT / "docs/evidence/proof-runs.json").read_text())["runs"]
    for name, definition in catalogue.CHECKS.items():
        for one in definition.measured:
            assert [
                run
                for run in runs
                if (run["date"], run["torch"]) == (one.date, one.torch)
                and one.kind in (run["compute_capability"], run["machine"])
                and name in run["passed"]
            ], f"{name}: {one}"


def test_what_blocks_was_seen_to_pass_somewhere() -> None:
    unseen = [name for name, definition in catalogue.CHECKS.items() if not definition.measured]
    assert unseen
    for name in unseen:
        for reason in ("wrong", "crash", "mismatch"):
            row = Result(name, FAIL, cause="It failed.", remedy="Mend it.", numeric=True, reason=reason)
            assert ends(proven(row))[0] == "proven"
