# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the checks mean together."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import verdict
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import FAIL, PASS, SKIP, Result


def number(name: str, status: str = PASS) -> Result:
    return Result(name, status, cause="" if status == PASS else "the reason.", numeric=True)


def test_a_right_number_proves_and_says_where() -> None:
    assert verdict.verdict([number("matmul.float32")], []) == "proven"
    assert verdict.scope([number("matmul.float32"), number("cpu.matmul.float32")]) == "gpu"
    assert verdict.scope([number("cpu.matmul.float32"), number("matmul.float32", SKIP)]) == "cpu"


def test_without_a_number_nothing_is_proven_however_much_passed() -> None:
    results = [Result("identity.import", PASS), Result("closure", PASS), number("matmul.float32", SKIP)]
    assert verdict.verdict(results, []) == "unproven"
    assert verdict.scope(results) == "none"


def test_a_required_check_that_was_not_asked_for_leaves_it_unproven() -> None:
    assert verdict.verdict([number("matmul.float32")], ["attention.math"]) == "unproven"


def test_one_failure_outweighs_all() -> None:
    assert verdict.verdict([number("matmul.float32"), Result("driver", FAIL)], []) == "fail"


def test_a_required_check_that_is_skipped_fails_with_the_reason() -> None:
    results = [number("attention.flash", SKIP), number("attention.math"), number("matmul.float4", SKIP)]
    verdict.require(results, ["attention.*"], ["attention.flash", "attention.math", "matmul.float4"], gpu=True)
    assert [result.status for result in results] == [FAIL, PASS, SKIP]
    assert results[0].cause == "The profile requires attention.flash, and it was skipped: the reason."
    assert [result.required for result in results] == [True, True, False]


def test_what_needs_a_gpu_is_not_required_where_none_is() -> None:
    results = [number("attention.flash", SKIP), number("cpu.linalg.lapack", SKIP)]
    verdict.require(results, ["*"], ["attention.flash"], gpu=False)
    assert [result.status for result in results] == [SKIP, FAIL]


def test_what_another_failure_kept_from_running_is_not_counted_as_one_more() -> None:
    blocked = Result("matmul.float32", SKIP, cause="Not run, see python.", blocked=True)
    verdict.require([blocked], ["*"], ["matmul.float32"], gpu=True)
    assert blocked.status == SKIP and blocked.required


def report(**changed: Any) -> dict[str, Any]:
    rows = [{"name": "speed.copy", "status": PASS, "rates": {"gb_per_s": 240.0}}]
    base = {
        "verdict": "proven",
        "started": "2026-11-20T10:00:00Z",
        "driver": "580.95.05",
        "kernel": "6.17.0-1008",
        "software": {"torch": "2.15.0"},
        "packages": {"cuda-nvcc-13-0": "13.0.88-1"},
        "checks": rows,
    }
    return {**base, **changed}


def test_the_first_report_has_nothing_to_differ_from() -> None:
    assert verdict.drift(None, report()) == {"since": None, "changes": []}


def test_the_same_again_is_no_drift() -> None:
    assert verdict.drift(report(), report(started="2026-11-21T10:00:00Z")) == {
        "since": "2026-11-20T10:00:00Z",
        "changes": [],
    }


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"driver": "580.126.09"}, {"what": "driver", "before": "580.95.05", "now": "580.126.09"}),
        ({"software": {"torch": "2.15.1"}}, {"what": "torch", "before": "2.15.0", "now": "2.15.1"}),
        ({"packages": {}}, {"what": "cuda-nvcc-13-0", "before": "13.0.88-1", "now": "absent"}),
        (
            {"checks": [{"name": "speed.copy", "status": FAIL, "rates": {"gb_per_s": 240.0}}]},
            {"what": "check speed.copy", "before": "pass", "now": "fail"},
        ),
        (
            {"checks": [{"name": "speed.copy", "status": PASS, "rates": {"gb_per_s": 200.0}}]},
            {"what": "rate speed.copy gb_per_s", "before": "240", "now": "200"},
        ),
    ],
    ids=["driver", "torch", "package", "status", "rate"],
)
def test_what_differs_is_named_with_before_and_now(changed: dict[str, Any], expected: dict[str, str]) -> None:
    assert verdict.drift(report(), report(**changed))["changes"] == [expected]


def test_a_rate_that_moves_by_a_few_per_cent_is_the_same() -> None:
    row = {"name": "speed.copy", "status": PASS, "rates": {"gb_per_s": 252.0}}
    assert verdict.drift(report(), report(checks=[row]))["changes"] == []
