# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the checks mean together."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import verdict
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import FAIL, PASS, SKIP, WARN, Result

SEEN = "measured on NVIDIA H200, 2026-11-21"
UNSEEN = "unknown: nobody has seen it on 12.1"


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
    verdict.require(results, {"attention.*": SEEN}, ["attention.flash", "attention.math", "matmul.float4"], gpu=True)
    assert [result.status for result in results] == [FAIL, PASS, SKIP]
    assert results[0].cause == "The profile requires attention.flash, but it was skipped: the reason."
    assert [result.required for result in results] == [True, True, False]


def test_what_needs_a_gpu_is_not_required_where_none_is() -> None:
    results = [number("attention.flash", SKIP), number("cpu.linalg.lapack", SKIP)]
    verdict.require(results, {"*": SEEN}, ["attention.flash"], gpu=False)
    assert [result.status for result in results] == [SKIP, FAIL]


def test_what_another_failure_kept_from_running_is_not_counted_as_one_more() -> None:
    blocked = Result("matmul.float32", SKIP, cause="Not run, see python.", blocked=True)
    verdict.require([blocked], {"*": SEEN}, ["matmul.float32"], gpu=True)
    assert blocked.status == SKIP and blocked.required


@pytest.mark.parametrize("evidence", [UNSEEN, "from the data sheet"])
def test_what_nobody_has_seen_warns_where_it_is_skipped_or_refused_and_proves_all_the_same(evidence: str) -> None:
    refused = Result("matmul.float8_rowwise", FAIL, cause="No kernel image.", remedy="Build it.", unanswered=True)
    results = [number("linalg.sparse_direct", SKIP), refused, number("matmul.float32")]
    required = {"linalg.*": SEEN, "linalg.sparse_direct": evidence, "matmul.*": SEEN, "matmul.float8_*": evidence}
    verdict.require(results, required, [result.name for result in results], gpu=True)
    assert [(result.status, result.evidence) for result in results] == [
        (WARN, evidence),
        (WARN, evidence),
        (PASS, SEEN),
    ]
    for result in results[:2]:
        assert result.remedy and result.cause.endswith(
            f"This does not block, because the basis of the requirement is {evidence}."
        )
    assert verdict.verdict(results, []) == "proven"
    assert verdict.summary(results) == {"pass": 1, "warn": 2, "fail": 0, "skip": 0}


@pytest.mark.parametrize("evidence", [SEEN, ""])
def test_what_was_measured_and_what_a_site_asks_for_fails_where_it_is_refused(evidence: str) -> None:
    refused = Result("matmul.float8_rowwise", FAIL, cause="No kernel image.", unanswered=True)
    verdict.require([refused], {"matmul.*": evidence}, [], gpu=True)
    assert refused.status == FAIL


def test_a_wrong_number_fails_whatever_its_requirement_rests_on() -> None:
    wrong = Result("matmul.float8_rowwise", FAIL, numeric=True, ratio=None)
    verdict.require([wrong, number("matmul.float32")], {"*": UNSEEN}, [], gpu=True)
    assert (wrong.status, verdict.verdict([wrong, number("matmul.float32")], [])) == (FAIL, "fail")


def test_a_gpu_that_refused_all_that_was_asked_of_it_is_not_proven_by_the_cpu() -> None:
    results = [Result("matmul.float32", WARN, numeric=True), number("cpu.matmul.float32")]
    assert verdict.verdict(results, []) == "unproven"


def test_a_sites_own_list_of_required_checks_is_binding() -> None:
    assert verdict.patterns(["matmul.*"]) == {"matmul.*": ""}


RATES = {"copy_gb_per_s": ("speed.copy", "gb_per_s"), "sm_clock_mhz": ("speed.clocks", "sm_clock_mhz")}


def test_the_rates_of_a_proven_run_are_the_hosts_own_floors() -> None:
    first = report(scope="gpu", devices=[{"name": "NVIDIA GB10"}])
    assert verdict.is_baseline(first, ["NVIDIA GB10"])
    assert verdict.own_floors(first, RATES) == {"copy_gb_per_s": {"nominal": 240.0, "since": "2026-11-20"}}
    assert verdict.own_floors(None, RATES) == {}


@pytest.mark.parametrize(
    "changed", [{"verdict": "fail"}, {"scope": "cpu"}, {"devices": [{"name": "NVIDIA H200"}]}, {"checks": []}]
)
def test_other_runs_set_no_floor(changed: dict[str, Any]) -> None:
    first = {**report(scope="gpu", devices=[{"name": "NVIDIA GB10"}]), **changed}
    assert not verdict.is_baseline(first, ["NVIDIA GB10"])


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
