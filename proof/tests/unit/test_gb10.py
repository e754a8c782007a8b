"""The effects of each check's failure on a simulated GB10: verdict, exit status, environment and messages."""

import ast
import functools
import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml
from sparkforge_proof import catalogue, cli, endings, verdict
from sparkforge_proof.check import EMULATED, FAIL, PASS, SEEN, Definition, Failed, Result, minor
from sparkforge_proof.page import draw

from tests.example_reports import healthy

CHECKOUT = Path(__file__).parents[3]
PROFILE = yaml.safe_load((CHECKOUT / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]["gb10"]
GB10 = ("12.1", "aarch64 0x41 0xd85 0xd87", minor("2.14.1+cu130"))
#: A host on which almost every check has passed in a recorded run.
KNOWN = ("9.0", "x86_64", minor("2.11.0+cu130"))
ON_GPU = [name for name, definition in catalogue.CHECKS.items() if definition.device == "cuda"]
NUMERIC = {name: definition for name, definition in catalogue.CHECKS.items() if definition.numeric}
#: Checks that compute on the GPU; ``device.cuda`` only tells whether CUDA starts.
COMPUTING = [name for name in ON_GPU if name != "device.cuda"]

#: Error messages from stacks on Blackwell, and the reason why a check with that message has no result.
MESSAGES = {
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
    """Return a result for each check: those in ``changed``, and passes for all others."""
    return [
        changed.get(name.replace(".", "_")) or Result(name, PASS, family=definition.family, numeric=definition.numeric)
        for name, definition in catalogue.CHECKS.items()
    ]


@functools.cache
def passed(kinds: tuple[str, ...]) -> list[Result]:
    """Return the judged results of a run in which every check passed."""
    results = rows()
    verdict.judge(results, catalogue.CHECKS, kinds, PROFILE["required_checks"])
    return results


@functools.cache
def families() -> list[str]:
    required = PROFILE["required_checks"]
    return verdict.families(name for name in NUMERIC if verdict.selects(required, name))


def proven(result: Result, kinds: tuple[str, ...] = GB10) -> dict[str, Any]:
    """Return the report of a proof, by default on a GB10, with this result and passes for all other checks."""
    result.numeric = catalogue.CHECKS[result.name].numeric
    verdict.judge([result], catalogue.CHECKS, kinds, PROFILE["required_checks"])
    results = [result if row.name == result.name else row for row in passed(kinds)]
    return {
        "verdict": verdict.verdict(results, [], families()),
        "scope": verdict.scope(results),
        "checks": [row.as_row() for row in results],
    }


def ends(report: dict[str, Any]) -> tuple[str, int, bool, bool]:
    """Return the verdict, the exit status, and whether a new host and a proven host would switch to the environment."""
    switches = [
        not verdict.hindrance(report, before, before is None, "proven")
        for before in (None, {"verdict": "proven", "checks": []})
    ]
    return (report["verdict"], cli.status(report), *switches)


@pytest.mark.parametrize("name", COMPUTING)
def test_check_without_answer_does_not_block_gb10(name: str) -> None:
    definition = catalogue.CHECKS[name]
    results = {
        "timeout": endings.timed_out(definition, definition.seconds),
        "crash": endings.exited(definition, -signal.SIGSEGV),
        "memory": endings.exited(definition, -signal.SIGKILL),
    }
    rows = [*results.items()]
    rows += [(reason, endings.failure(definition, RuntimeError(text))) for text, reason in MESSAGES.items()]
    for reason, row in rows:
        assert row.reason == reason
        assert ends(proven(row)) == ("proven", 0, True, True)


DEVICE = " on this kind" + " of device"
#: Error measures of a check, their description in the cause, and whether the error fails a first run.
OFF: dict[str, tuple[dict[str, Any], str, bool]] = {
    "a little": ({"ratio": 1.2}, "off by 1.2 times its bound, not judged.", False),
    "some": ({"ratio": 5.0}, "off by 5 times its bound, not judged.", False),
    "by far": ({"ratio": 500.0}, "", True),
    "one NaN": ({"ratio": 0.4, "mismatched": 1, "compared": 4096}, "1 of 4096 numbers", False),
    "one argmax": ({"ratio": 0.0, "mismatched": 1, "compared": 12}, "1 of 12 numbers", False),
    "both": (
        {"ratio": 1.7, "mismatched": 16, "compared": 4096},
        "off by 1.7 times its bound, 16 of 4096 numbers",
        False,
    ),
    "many NaN": ({"ratio": 0.4, "mismatched": 900, "compared": 4096}, "", True),
    "another shape": ({"ratio": math.inf}, "", True),
}
#: Checks whose results are exact or do not depend on which kernel is chosen.
EXACT = (
    "matmul.", "attention.", "movement.", "formats.conversions", "formats.integers", "chance.", "triton.operations",
    "compilation.replays", "reductions.", "elements.", "indices.",
)  # fmt: skip


def wrong(definition: Definition, **measures: Any) -> Result:
    return endings.failure(definition, Failed("The number is wrong.", "Mend it.", **measures))


def keeps(name: str) -> tuple[str, int, bool, bool]:
    """Return the expected ``ends`` of a wrong result that counts: on the CPU, it does not block a first environment."""
    return ("fail", 1, name.startswith("cpu."), False)


@pytest.mark.parametrize("error", OFF)
def test_wrong_number_on_gb10_counts_by_evidence(error: str) -> None:
    measures, description, gross = OFF[error]
    for name, definition in NUMERIC.items():
        report = proven(wrong(definition, **measures))
        row = next(row for row in report["checks"] if row["name"] == name)
        exact = name.removeprefix("cpu.").startswith(EXACT)
        assert exact == (definition.factor == 1)
        if definition.measured and (exact or gross):
            assert ends(report) == keeps(name), name
            assert (row["status"], row["reason"]) == ("fail", "wrong")
            continue
        assert ends(report) == ("proven", 0, True, True), name
        assert (row["status"], row["reason"]) == ("warn", "unjudged")
        assert row["cause"].startswith(f"First run{DEVICE}: {description}"), row["cause"]
        assert "The number is wrong." in row["cause"] and row["remedy"] == "Mend it."
        # These figures are recorded as evidence.
        assert row["ratio"] == (measures["ratio"] if math.isfinite(measures["ratio"]) else None)
        assert row.get("mismatched", 0) == measures.get("mismatched", 0)
        assert verdict.remark(report).endswith(f"{DEVICE}: {name}")


#: The minor versions of torch with which most checks have passed in recorded runs, on an H200 and its host's CPU, or
#: on another x86_64 CPU.
RECORDED = [minor(version) for version in ("2.11.0+cu130", "2.14.1+cu130", "2.13.0+cpu")]


@pytest.mark.parametrize("torch", RECORDED)
@pytest.mark.parametrize("error", OFF)
def test_wrong_number_counts_after_recorded_run(error: str, torch: str) -> None:
    kind = (*KNOWN[:2], torch)
    for name, definition in NUMERIC.items():
        if definition.seen(kind):
            assert ends(proven(wrong(definition, **OFF[error][0]), kind)) == keeps(name), name


def test_almost_all_checks_have_been_recorded() -> None:
    unseen = [name for name, each in NUMERIC.items() if not any(each.seen((*KNOWN[:2], torch)) for torch in RECORDED)]
    assert len(unseen) < len(NUMERIC) / 10, unseen


def test_evidence_is_for_one_torch_and_device() -> None:
    soft = next(check for check in NUMERIC.values() if check.measured == SEEN[:1] + SEEN[2:3] and check.factor > 1)
    for kinds in (("9.0", "x86_64", minor("2.15.0")), ("9.0", "x86_64", minor(None)), ("10.0", "x86_64", KNOWN[-1])):
        assert proven(wrong(soft, ratio=2.0), kinds)["verdict"] == "proven"


def test_emulated_processor_is_no_evidence_for_real_one() -> None:
    emulated = {name: definition for name, definition in NUMERIC.items() if EMULATED in definition.measured}
    assert emulated and all(name.startswith("cpu.") for name in emulated)
    torch = minor(EMULATED.torch)
    for definition in emulated.values():
        assert definition.seen((EMULATED.kind, torch)) == [EMULATED]
        for real in (GB10[1], EMULATED.kind.removeprefix("emulated "), "aarch64"):
            assert definition.seen((real, torch)) == []


@pytest.mark.parametrize(("mismatched", "compared"), [(2, 2), (2, 199), (17, 10**6)])
def test_many_mismatched_numbers(mismatched: int, compared: int) -> None:
    assert verdict.are_many(mismatched, compared)


@pytest.mark.parametrize(("mismatched", "compared"), [(0, 0), (1, 1), (2, 200), (16, 10**6)])
def test_few_mismatched_numbers(mismatched: int, compared: int) -> None:
    assert not verdict.are_many(mismatched, compared)


def test_wrong_number_without_ratio_counts() -> None:
    for name, definition in NUMERIC.items():
        if definition.measured:
            assert ends(proven(wrong(definition))) == keeps(name)
            printed = definition.result(FAIL, cause="A kernel printed: FATAL.", remedy="Rebuild it.", reason="wrong")
            assert ends(proven(printed)) == keeps(name)


def test_elementary_operator_of_survey_blocks() -> None:
    for name in ("survey.float32", "cpu.survey.float32"):
        assert ends(proven(wrong(catalogue.CHECKS[name], ratio=1.2, blocks=True))) == keeps(name)


def test_every_failure_of_a_check_has_a_ratio() -> None:
    checks = Path(verdict.__file__).parent / "checks"
    for file in (file for file in checks.rglob("*.py") if file.parent.name != "stack"):
        calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id == "Failed":
                assert len(call.args) > 4, f"{file}:{call.lineno} gives no ratio"


def test_other_installed_files_warn_on_first_run() -> None:
    for name, definition in catalogue.CHECKS.items():
        if definition.numeric or not definition.measured:
            continue
        failure = Failed("It is another file.", "Reinstall it.", "1 file", "none")
        report = proven(endings.failure(definition, failure))
        # GPU code for another device, or a GPU that torch cannot reach, is a fault on every host.
        if name.startswith(("architectures.", "device.")):
            assert ends(report) == ("fail", 4, True, False), name
        else:
            assert ends(report) == ("proven", 0, True, True), name
            row = next(row for row in report["checks"] if row["name"] == name)
            assert row["cause"].startswith(f"First run{DEVICE}: not judged.")
        if definition.device == "none":
            # These checks read files, so the torch build does not matter.
            kinds = ("9.0", "x86_64", minor("2.99.0"))
            assert ends(proven(endings.failure(definition, failure), kinds)) == ("fail", 4, True, False), name


def print_checks(monkeypatch: pytest.MonkeyPatch, report: dict[str, Any], *arguments: str) -> int:
    """Run ``sparkforge-proof checks`` with this report as its result; return the exit status."""
    monkeypatch.setattr(cli, "profiles", lambda: {"gb10": {}})
    monkeypatch.setattr(cli, "prove", lambda settings, known: report)
    return cli.checks([*arguments])


def test_wrong_number_only_on_cpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    failure = Failed("The float16 convolution is off.", "Use another.", ratio=800.0)
    name = "cpu.convolution.conv2d"
    report = proven(endings.failure(catalogue.CHECKS[name], failure))
    remark = f"right on the GPU; on the CPU convolution.conv2d is wrong: {failure.cause.rstrip('.')}"
    assert verdict.remark(report) == remark
    for before, blocks in (
        (None, False),
        ({"verdict": "unproven", "checks": []}, False),
        ({"verdict": "proven"}, True),
    ):
        hindrance = verdict.hindrance(report, before, before is None, "proven")
        assert hindrance == (f"wrong numbers: {name}" if blocks else "")
    # The wrong result blocks if the GPU computed nothing or was also wrong.
    on_gpu = next(row for row in report["checks"] if row["name"] == "matmul.float32")
    assert verdict.hindrance({**report, "scope": "cpu"}, None, True, "proven") == f"wrong numbers: {name}"
    on_gpu.update(status="fail", reason="wrong", cause="It is off.")
    assert verdict.hindrance(report, None, True, "proven") == f"wrong numbers: {name}, matmul.float32"
    assert verdict.remark(report) == ""
    on_gpu.update(status="pass", reason="", cause="")
    assert f"{remark}." in draw.host_page(complete(report))
    assert print_checks(monkeypatch, complete(report)) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"fail; {remark} (profile gb10, 93 s): ")


def test_unjudged_number_in_page_output_and_report(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path):
    report = complete(proven(wrong(catalogue.CHECKS["algebra.dense"], ratio=1.7)))
    page, file = tmp_path / "page.html", tmp_path / "report.json"
    assert print_checks(monkeypatch, report, "--html", str(page), "--json", str(file)) == 0
    cause = f"First run{DEVICE}: off by 1.7 times its bound, not judged."
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"warn  algebra.dense: {cause}")
    remark = f"not judged, on a first run{DEVICE}: algebra.dense"
    assert lines[-1].startswith(f"proven; {remark} (profile gb10, 93 s): ")
    assert cause in page.read_text() and f"{remark}." in page.read_text()
    row = next(row for row in json.loads(file.read_text())["checks"] if row["name"] == "algebra.dense")
    assert (row["status"], row["reason"], row["ratio"]) == ("warn", "unjudged", 1.7) and cause in row["cause"]


def complete(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report with the other fields that a report has besides its checks."""
    return {
        **healthy("spark"), **report, "profile": "gb10", "seconds": 93.0, "notices": [],
        "summary": verdict.summary(row["status"] for row in report["checks"]),
    }  # fmt: skip


def test_required_family_without_answer_is_unproven() -> None:
    results = rows()
    for row in results:
        if row.name.startswith("attention."):
            row.status, row.reason = FAIL, "refused"
    verdict.judge(results, catalogue.CHECKS, GB10, PROFILE["required_checks"])
    numeric = [name for name in ON_GPU if verdict.selects(PROFILE["required_checks"], name)]
    judged = verdict.verdict(results, [], verdict.families(numeric))
    assert ends({"verdict": judged, "checks": [row.as_row() for row in results]}) == ("unproven", 3, True, False)


def test_evidence_of_each_check_is_a_recorded_pass() -> None:
    runs = json.loads((CHECKOUT / "docs/evidence/proof-runs.json").read_text())["runs"]
    for name, definition in catalogue.CHECKS.items():
        for evidence in definition.measured:
            assert [
                run
                for run in runs
                if (run["date"], run["torch"]) == (evidence.date, evidence.torch)
                and evidence.kind in (run["compute_capability"], run["machine"])
                # The other numbers of a check that only warned of known defects were right, too.
                and name in (*run["passed"], *run.get("known", ()))
            ], f"{name}: {evidence}"


def test_check_that_never_passed_does_not_block() -> None:
    unseen = [name for name, definition in catalogue.CHECKS.items() if not definition.measured]
    assert unseen
    for name in unseen:
        for reason in ("wrong", "crash", "mismatch"):
            row = Result(name, FAIL, cause="It failed.", remedy="Mend it.", numeric=True, reason=reason)
            assert ends(proven(row))[0] == "proven"
