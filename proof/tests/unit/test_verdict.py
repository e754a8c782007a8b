"""The verdict on a run of checks, switching to an environment, and the drift since the last run."""

from typing import Any

import pytest
from sparkforge_proof import verdict
from sparkforge_proof.check import FAIL, H200, PASS, SKIP, UNANSWERED, WARN, X86, Definition, Result


def number(name: str, status: str = PASS) -> Result:
    return Result(name, status, cause="" if status == PASS else "the reason.", numeric=True)


def test_right_number_is_proof() -> None:
    assert verdict.verdict([number("matmul.float32")], []) == "proven"
    assert verdict.scope([number("matmul.float32"), number("cpu.matmul.float32")]) == "gpu"
    assert verdict.scope([number("cpu.matmul.float32"), number("matmul.float32", SKIP)]) == "cpu"


def test_without_a_number_nothing_is_proven() -> None:
    results = [Result("identity.import", PASS), Result("closure", PASS), number("matmul.float32", SKIP)]
    assert verdict.verdict(results, []) == "unproven"
    assert verdict.scope(results) == "none"


def test_unselected_required_check_is_unproven() -> None:
    assert verdict.verdict([number("matmul.float32")], ["attention.math"]) == "unproven"


def test_one_failure_is_a_fail() -> None:
    assert verdict.verdict([number("matmul.float32"), Result("driver", FAIL)], []) == "fail"


CATALOGUE = {
    name: Definition(name, name.split(".")[-2], "cpu" if name.startswith("cpu.") else "cuda", True, 60, "", evidence)
    for name, evidence in {
        "attention.flash": (H200,), "attention.math": (H200,), "matmul.float32": (H200,),
        "matmul.float8_rowwise": (H200,), "matmul.float4": (), "cpu.algebra.dense": (X86,),
    }.items()
}  # fmt: skip
HERE, ELSEWHERE = ("9.0", "x86_64", "torch 2.14"), ("12.1", "aarch64", "torch 2.14")


def judge(results: list[Result], kinds: tuple[str, ...] = HERE, **options: Any) -> list[str]:
    """Judge the results and return their statuses."""
    verdict.judge(results, CATALOGUE, kinds, **{"required": [], **options})
    return [result.status for result in results]


def unanswered(name: str, reason: str) -> Result:
    return Result(name, FAIL, cause="No answer.", remedy="Mend it.", numeric=True, reason=reason)


def test_skipped_required_check_fails_only_with_evidence() -> None:
    for kinds, status in ((HERE, FAIL), (ELSEWHERE, WARN)):
        results = [number("attention.flash", SKIP), number("attention.math"), number("matmul.float4", SKIP)]
        assert judge(results, kinds, required=["attention.*"]) == [status, PASS, SKIP]
        assert results[0].cause.startswith("The profile requires attention.flash, ")
        assert [result.required for result in results] == [True, True, False]


def test_gpu_checks_are_not_required_without_gpu() -> None:
    results = [number("attention.flash", SKIP), number("cpu.algebra.dense", SKIP)]
    assert judge(results, required=["*"], gpu=False) == [SKIP, FAIL]


def test_blocked_check_is_not_a_second_failure() -> None:
    blocked = Result("matmul.float32", SKIP, cause="Not run, see python.", blocked=True)
    assert judge([blocked], required=["*"]) == [SKIP]
    assert blocked.required


@pytest.mark.parametrize("reason", sorted(UNANSWERED))
@pytest.mark.parametrize("required", [[], ["*"]])
def test_missing_answer_fails_only_with_evidence(reason: str, required: list[str]) -> None:
    names = ["matmul.float8_rowwise", "matmul.float4", "cpu.algebra.dense"]
    elsewhere = [unanswered(name, reason) for name in names]
    assert judge(elsewhere, ELSEWHERE, required=required) == [WARN, WARN, WARN]
    here = FAIL if reason not in ("busy", "slow", "timeout") else WARN
    assert judge([unanswered(name, reason) for name in names], required=required) == [here, WARN, here]
    if reason != "busy":
        assert "only measured on NVIDIA H200 (9.0)" in elsewhere[0].cause
        assert "not been run" in elsewhere[1].cause
    assert verdict.verdict([*elsewhere, number("matmul.float32")], [], ["matmul"]) == "proven"


def test_late_check_is_unproven_with_evidence() -> None:
    late, right = unanswered("attention.flash", "timeout"), number("matmul.float32")
    judge([late])
    assert verdict.verdict([late, right], []) == "unproven" and "too slow is not known" in late.cause
    for kinds, options in ((ELSEWHERE, {}), (HERE, {"accepted": ["attention.flash"]})):
        late = unanswered("attention.flash", "timeout")
        assert judge([late], kinds, **options) == [WARN]
        assert verdict.verdict([late, right], []) == "proven"
    assert judge([unanswered("attention.flash", "timeout")], required=["*"], by_site=True) == [FAIL]


def test_wrong_number_warns_only_without_any_evidence() -> None:
    for kinds in (HERE, ELSEWHERE):
        results = [unanswered(name, "wrong") for name in ("matmul.float8_rowwise", "matmul.float4")]
        assert judge(results, kinds) == [FAIL, WARN]
        assert verdict.verdict([*results, number("matmul.float32")], []) == "fail"


def test_check_required_by_site_fails_without_evidence() -> None:
    results = [unanswered("matmul.float4", "refused"), number("attention.flash", SKIP)]
    assert judge(results, ELSEWHERE, required=["*"], by_site=True) == [FAIL, FAIL]


def test_accepted_failure_warns() -> None:
    results = [unanswered("matmul.float32", "wrong"), number("attention.math")]
    assert judge(results, accepted=["matmul.float32"]) == [WARN, PASS]
    assert results[0].accepted and results[0].cause.endswith("(verify_accept).")
    assert verdict.verdict(results, []) == "proven"


def test_required_family_without_number_is_unproven() -> None:
    results = [number("matmul.float32"), unanswered("attention.flash", "refused"), number("attention.math", SKIP)]
    judge(results, ELSEWHERE)
    assert verdict.verdict(results, [], ["matmul", "attention"]) == "unproven"
    assert verdict.missing(results, ["matmul", "attention"]) == ["attention"]
    # A family needs more than one check.
    names = ["cpu.matmul.float32", "matmul.float32", "cpu.matmul.float64", "companions.one", "companions.other"]
    assert verdict.families(names) == ["cpu.matmul"]
    notice = verdict.missing_notice(results, "attention")
    assert notice.startswith("No number of attention was computed. No answer. ") and notice.endswith(" Mend it.")
    assert verdict.missing_notice(results, "not.selected") == "No number of not.selected was computed."


def test_cpu_does_not_prove_a_gpu_without_numbers() -> None:
    for row in (Result("matmul.float32", WARN, numeric=True), Result("a.b", SKIP, numeric=True, blocked=True)):
        assert verdict.verdict([row, number("cpu.matmul.float32")], []) == "unproven"


def proof_of(verdict: str, reason: str = "") -> dict[str, Any]:
    status = FAIL if verdict == FAIL else PASS
    return {"verdict": verdict, "checks": [{"name": "attention.math", "status": status, "reason": reason}]}


@pytest.mark.parametrize(
    ("staged", "current", "reason"),
    [
        (proof_of("fail", "wrong"), None, "wrong numbers: attention.math"),
        (proof_of("fail", "wrong"), proof_of("fail", "wrong"), "wrong numbers: attention.math"),
        (proof_of("fail", "timeout"), None, ""),
        (proof_of("unproven"), None, ""),
        (proof_of("fail", "timeout"), proof_of("unproven"), ""),
        (proof_of("unproven"), proof_of("proven"), "not proven, but"),
        (proof_of("fail", "crash"), proof_of("proven"), "not proven, but"),
        (proof_of("unproven"), {}, "on record"),
        (proof_of("proven"), proof_of("proven"), ""),
        (proof_of("proven"), {}, ""),
    ],
)
def test_switch_to_environment(staged: dict[str, Any], current: dict[str, Any] | None, reason: str) -> None:
    hindrance = verdict.hindrance(staged, current or None, current is None, "proven")
    assert reason in hindrance and bool(hindrance) == bool(reason)


def test_site_may_replace_proven_with_unproven() -> None:
    assert verdict.hindrance(proof_of("unproven"), proof_of("proven"), False, "unproven") == ""
    assert verdict.hindrance(proof_of("fail", "crash"), proof_of("proven"), False, "unproven")


RATES = {"copy_gb_per_s": ("speed.copy", "gb_per_s"), "sm_clock_mhz": ("speed.clocks", "sm_clock_mhz")}


def test_rates_of_proven_run_are_own_floors() -> None:
    first = report(scope="gpu", devices=[{"name": "NVIDIA GB10"}])
    assert verdict.is_baseline(first, ["NVIDIA GB10"])
    assert verdict.own_floors(first, RATES) == {"copy_gb_per_s": {"nominal": 240.0, "since": "2026-11-20"}}
    assert verdict.own_floors(None, RATES) == {}


@pytest.mark.parametrize(
    "changed", [{"verdict": "fail"}, {"scope": "cpu"}, {"devices": [{"name": "NVIDIA H200"}]}, {"checks": []}]
)
def test_other_runs_set_no_floors(changed: dict[str, Any]) -> None:
    first = {**report(scope="gpu", devices=[{"name": "NVIDIA GB10"}]), **changed}
    assert not verdict.is_baseline(first, ["NVIDIA GB10"])


def report(**changed: Any) -> dict[str, Any]:
    return {
        "verdict": "proven",
        "started": "2026-11-20T10:00:00Z",
        "driver": "580.95.05",
        "kernel": "6.17.0-1008",
        "software": {"torch": "2.15.0"},
        "packages": {"cuda-nvcc-13-0": "13.0.88-1"},
        "checks": [{"name": "speed.copy", "status": PASS, "rates": {"gb_per_s": 240.0}}],
        **changed,
    }


def test_equal_reports_have_no_drift() -> None:
    assert verdict.drift(None, report()) == {"since": None, "changes": []}
    second = verdict.drift(report(), report(started="2026-11-21T10:00:00Z"))
    assert second == {"since": "2026-11-20T10:00:00Z", "changes": []}
    # A rate may change by a few per cent.
    row = {"name": "speed.copy", "status": PASS, "rates": {"gb_per_s": 252.0}}
    assert verdict.drift(report(), report(checks=[row]))["changes"] == []


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
def test_drift_names_change(changed: dict[str, Any], expected: dict[str, str]) -> None:
    assert verdict.drift(report(), report(**changed))["changes"] == [expected]
