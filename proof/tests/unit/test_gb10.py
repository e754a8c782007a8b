"""A GB10 is played, which nobody has seen: what each check does there to verdict, exit status, switch and words."""

import ast
import functools
import json
import math
import signal
from collections.abc import Callable
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
#: A host of which sound runs are on record, of nearly every check.
KNOWN = ("9.0", "x86_64", minor("2.11.0+cu130"))
ON_GPU = [name for name, definition in catalogue.CHECKS.items() if definition.device == "cuda"]
NUMERIC = {name: definition for name, definition in catalogue.CHECKS.items() if definition.numeric}
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


@functools.cache
def passed(kinds: tuple[str, ...]) -> list[Result]:
    """Return what is judged where each check passed."""
    found = rows()
    verdict.judge(found, catalogue.CHECKS, kinds, PROFILE["required_checks"])
    return found


@functools.cache
def families() -> list[str]:
    required = PROFILE["required_checks"]
    return verdict.families(name for name, one in NUMERIC.items() if verdict.selects(required, name))


def proven(result: Result, kinds: tuple[str, ...] = GB10) -> dict[str, Any]:
    """Return what a proof, by default on a GB10, says in which one check ended so, and all others passed."""
    result.numeric = catalogue.CHECKS[result.name].numeric
    verdict.judge([result], catalogue.CHECKS, kinds, PROFILE["required_checks"])
    found = [result if one.name == result.name else one for one in passed(kinds)]
    return {
        "verdict": verdict.verdict(found, [], families()),
        "scope": verdict.scope(found),
        "checks": [one.as_row() for one in found],
    }


def ends(report: dict[str, Any]) -> tuple[str, int, bool, bool]:
    """Return the verdict, the exit status, and whether a new and a proven host switch."""
    switches = [
        not verdict.hindrance(report, before, before is None, "proven")
        for before in (None, {"verdict": "proven", "checks": []})
    ]
    return (report["verdict"], cli.status(report), *switches)


@pytest.mark.parametrize("name", COMPUTING)
def test_a_check_without_an_answer_never_keeps_a_gb10_from_its_stack(name: str) -> None:
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


#: How far off a check is, the words for it, and whether that counts where nobody knows what is sound.
OFF: dict[str, tuple[dict[str, Any], str, bool]] = {
    "a little": ({"ratio": 1.2}, "off by 1.2 of its bound, not judged.", False),
    "some": ({"ratio": 5.0}, "off by 5 of its bound, not judged.", False),
    "by far": ({"ratio": 500.0}, "", True),
    "one NaN": ({"ratio": 0.4, "mismatched": 1, "compared": 4096}, "1 of 4096 numbers of another kind,", False),
    "one argmax": ({"ratio": 0.0, "mismatched": 1, "compared": 12}, "1 of 12 numbers of another kind,", False),
    "both": (
        {"ratio": 1.7, "mismatched": 16, "compared": 4096},
        "off by 1.7 of its bound, 16 of 4096 numbers of another kind, not judged.",
        False,
    ),
    "many NaN": ({"ratio": 0.4, "mismatched": 900, "compared": 4096}, "", True),
    "another shape": ({"ratio": math.inf}, "", True),
}
#: What can be computed exactly, or is no kernel's choice.
EXACT = ("matmul.", "attention.", "movement.", "formats.conversions", "formats.integers", "chance.independence")


def wrong(definition: Definition, **off: Any) -> Result:
    return endings.failure(definition, Failed("The number is wrong.", "Mend it.", **off))


def keeps(name: str) -> tuple[str, int, bool, bool]:
    """Return what a wrong number does that counts: one of the CPU alone keeps nobody from a first environment."""
    return ("fail", 1, name.startswith("cpu."), False)


@pytest.mark.parametrize("how", OFF)
def test_how_hard_a_wrong_number_counts_on_a_gb10_follows_from_evidence(how: str) -> None:
    off, words, gross = OFF[how]
    for name, definition in NUMERIC.items():
        report = proven(wrong(definition, **off))
        row = next(one for one in report["checks"] if one["name"] == name)
        exact = name.removeprefix("cpu.").startswith(EXACT)
        assert exact == (definition.factor == 1)
        if definition.measured and (exact or gross):
            assert ends(report) == keeps(name), name
            assert (row["status"], row["reason"]) == ("fail", "wrong")
            continue
        assert ends(report) == ("proven", 0, True, True), name
        assert (row["status"], row["reason"]) == ("warn", "unjudged")
        assert row["cause"].startswith(f"First run on this kind of device: {words}"), row["cause"]
        assert "The number is wrong." in row["cause"] and row["remedy"] == "Mend it."
        # What becomes evidence.
        assert row["ratio"] == (off["ratio"] if math.isfinite(off["ratio"]) else None)
        assert row.get("mismatched", 0) == off.get("mismatched", 0)
        assert verdict.remark(report) == f"not judged, on a first run on this kind of device: {name}"


@pytest.mark.parametrize("how", OFF)
def test_where_sound_runs_are_on_record_each_wrong_number_counts(how: str) -> None:
    for name, definition in NUMERIC.items():
        if definition.seen(KNOWN):
            assert ends(proven(wrong(definition, **OFF[how][0]), KNOWN)) == keeps(name), name


def test_evidence_counts_for_its_own_torch_and_its_own_device() -> None:
    soft = next(one for one in NUMERIC.values() if one.measured == SEEN[:1] + SEEN[2:3] and one.factor > 1)
    for kinds in (("9.0", "x86_64", minor("2.15.0")), ("9.0", "x86_64", minor(None)), ("10.0", "x86_64", KNOWN[-1])):
        assert proven(wrong(soft, ratio=2.0), kinds)["verdict"] == "proven"


def test_an_emulated_processor_is_evidence_for_no_real_one() -> None:
    emulated = {name: definition for name, definition in NUMERIC.items() if EMULATED in definition.measured}
    assert emulated and all(name.startswith("cpu.") for name in emulated)
    torch = minor(EMULATED.torch)
    for definition in emulated.values():
        assert definition.seen((EMULATED.kind, torch)) == [EMULATED]
        for real in (GB10[1], EMULATED.kind.removeprefix("emulated "), "aarch64"):
            assert definition.seen((real, torch)) == []


@pytest.mark.parametrize(
    ("mismatched", "compared", "expected"),
    [
        (0, 0, False),
        (1, 1, False),
        (2, 2, True),
        (2, 199, True),
        (2, 200, False),
        (16, 10**6, False),
        (17, 10**6, True),
    ],
)
def test_a_few_numbers_of_another_kind_are_no_fault_that_is_known(
    mismatched: int, compared: int, expected: bool
) -> None:
    assert verdict.are_many(mismatched, compared) is expected


def test_a_wrong_number_without_any_measure_counts_on_every_device() -> None:
    for name, definition in NUMERIC.items():
        if definition.measured:
            assert ends(proven(wrong(definition))) == keeps(name)
            printed = definition.result(FAIL, cause="A kernel printed: FATAL.", remedy="Rebuild it.", reason="wrong")
            assert ends(proven(printed)) == keeps(name)


def test_an_elementary_operator_of_the_survey_counts_as_products_do() -> None:
    for name in ("survey.float32", "cpu.survey.float32"):
        assert ends(proven(wrong(catalogue.CHECKS[name], ratio=1.2, blocks=True))) == keeps(name)


def test_whatever_finds_a_wrong_number_says_how_far_off_it_is() -> None:
    checks = Path(verdict.__file__).parent / "checks"
    for file in (file for file in checks.rglob("*.py") if file.parent.name != "stack"):
        calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id == "Failed":
                assert len(call.args) > 4, f"{file}:{call.lineno} gives no ratio"


def test_what_is_installed_and_is_not_what_the_stack_says_warns_on_a_kind_that_nobody_has_seen() -> None:
    for name, definition in catalogue.CHECKS.items():
        if definition.numeric or not definition.measured:
            continue
        failure = Failed("It is another file.", "Reinstall it.", "1 file", "none")
        report = proven(endings.failure(definition, failure))
        # Code for another GPU in a binary, and a GPU that torch does not reach, are what they are on any host.
        if name.startswith(("architectures.", "device.")):
            assert ends(report) == ("fail", 4, True, False), name
        else:
            assert ends(report) == ("proven", 0, True, True), name
            row = next(one for one in report["checks"] if one["name"] == name)
            assert row["cause"].startswith("First run on this kind of device: not judged. It is another file.")
        if definition.device == "none":
            # Files are read the same way with any torch.
            kinds = ("9.0", "x86_64", minor("2.99.0"))
            assert ends(proven(endings.failure(definition, failure), kinds)) == ("fail", 4, True, False), name


def test_numbers_that_are_wrong_on_the_cpu_alone_are_said_first_and_keep_nobody_from_a_first_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failure = Failed("The float16 convolution is off by more than rounding explains.", "Use another.", ratio=800.0)
    name = "cpu.convolution.conv2d"
    report = proven(endings.failure(catalogue.CHECKS[name], failure))
    words = f"right on the GPU; on the CPU convolution.conv2d is wrong: {failure.cause.rstrip('.')}"
    assert verdict.remark(report) == words
    for before, kept in ((None, False), ({"verdict": "unproven", "checks": []}, False), ({"verdict": "proven"}, True)):
        hindrance = verdict.hindrance(report, before, before is None, "proven")
        assert hindrance == (f"wrong numbers: {name}" if kept else "")
    # Without a GPU's numbers, or with a wrong one of them, the stack is wrong.
    on_gpu = next(row for row in report["checks"] if row["name"] == "matmul.float32")
    assert verdict.hindrance({**report, "scope": "cpu"}, None, True, "proven") == f"wrong numbers: {name}"
    on_gpu.update(status="fail", reason="wrong", cause="It is off.")
    assert verdict.hindrance(report, None, True, "proven") == f"wrong numbers: {name}, matmul.float32"
    assert verdict.remark(report) == ""
    on_gpu.update(status="pass", reason="", cause="")
    whole = shown(report)
    assert f"{words}." in draw.host_page(whole)
    monkeypatch.setattr(cli, "profiles", lambda: {"gb10": {}})
    monkeypatch.setattr(cli, "prove", lambda given, known: whole)
    assert cli.checks([]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"fail; {words} (profile gb10, 93 s): ")


def test_what_was_not_judged_is_in_the_page_on_the_console_and_in_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    whole = shown(proven(wrong(catalogue.CHECKS["algebra.dense"], ratio=1.7)))
    monkeypatch.setattr(cli, "profiles", lambda: {"gb10": {}})
    monkeypatch.setattr(cli, "prove", lambda given, known: whole)
    page, file = tmp_path / "page.html", tmp_path / "report.json"
    assert cli.checks(["--html", str(page), "--json", str(file)]) == 0
    words = "First run on this kind of device: off by 1.7 of its bound, not judged."
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"warn  algebra.dense: {words}")
    remark = "not judged, on a first run on this kind of device: algebra.dense"
    assert lines[-1].startswith(f"proven; {remark} (profile gb10, 93 s): ")
    assert words in page.read_text() and f"{remark}." in page.read_text()
    row = next(one for one in json.loads(file.read_text())["checks"] if one["name"] == "algebra.dense")
    assert (row["status"], row["reason"], row["ratio"]) == ("warn", "unjudged", 1.7) and words in row["cause"]


def shown(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report with what is around its checks."""
    return {
        **healthy("spark"), **report, "profile": "gb10", "seconds": 93.0, "notices": [],
        "summary": verdict.summary(row["status"] for row in report["checks"]),
    }  # fmt: skip


def test_a_gpu_on_which_a_whole_family_has_no_answer_is_unproven_and_a_new_host_gets_the_stack() -> None:
    found = rows()
    for row in found:
        if row.name.startswith("attention."):
            row.status, row.reason = FAIL, "refused"
    verdict.judge(found, catalogue.CHECKS, GB10, PROFILE["required_checks"])
    numeric = [name for name in ON_GPU if verdict.selects(PROFILE["required_checks"], name)]
    report = {
        "verdict": verdict.verdict(found, [], verdict.families(numeric)),
        "checks": [row.as_row() for row in found],
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
