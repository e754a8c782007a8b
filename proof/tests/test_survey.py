"""The survey where torch's list of operators cannot be used, and a size that does not fit; each is said in one row."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.tests.environment import Environment

SOURCES = Path(__file__).resolve().parents[1] / "src"
#: Runs checks for each line that it reads, in a fork, for torch and its list of operators take seconds to read; prints
#: what each said.
PROGRAM = """
import json, os, sys, types
sys.path.insert(0, {sources!r})
{before}
from sparkforge_proof.checks.sizes import large as sizes, rows
from sparkforge_proof.checks.survey import all_operators as survey, comparison as survey_operator, grid, modules
from sparkforge_proof import check, settings
if not {before!r}:
    survey.catalogue()
def answer(between, checks, limits):
    exec(between, globals())
    found = {{}}
    for name in checks:
        context = check.Context("cpu", limits={{**settings.LIMITS, **limits}})
        try:
            found[name] = ["pass", check.FUNCTIONS[name](context).measured]
        except check.Skipped as skipped:
            found[name] = ["skip", str(skipped)]
        except check.Failed as failed:
            found[name] = ["fail", failed.cause]
    return found
for line in sys.stdin:
    process = os.fork()
    if not process:
        status = 1
        try:
            print(json.dumps(answer(*json.loads(line))), flush=True)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    if os.waitpid(process, 0)[1]:
        print("null", flush=True)
"""
#: A list of one operator that lacks what the survey reads.
STRANGER = """
listed = types.ModuleType("listed")
listed.op_db = [types.SimpleNamespace(name="add", variant_test_name="")]
sys.modules["torch.testing._internal.common_methods_invocations"] = listed
"""
#: The first three operators of torch's list, of which one refuses what it takes elsewhere.
BROKEN = """
plain = survey.catalogue()
chosen = [one for one in plain if one.name in ("sin", "cos", "exp")]
sine = next(one for one in chosen if one.name == "sin")
function = sine.op
def refuses(x):
    import torch
    if x.dtype is not torch.float64:
        raise RuntimeError("no luck today")
    return function(x)
sine.op = refuses
survey.catalogue = lambda: chosen
"""
#: The operator of optimisers that takes many roots, whose gradient is a twentieth too large.
GRADIENT_OFF = """
import torch
(chosen,) = [one for one in survey.catalogue() if one.name == "_foreach_sqrt"]
function = chosen.op
class Larger(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()
    @staticmethod
    def backward(context, gradient):
        return gradient * 1.05
def off(inputs):
    return [one if one.dtype is torch.float64 else Larger.apply(one) for one in function(inputs)]
chosen.op = off
survey.catalogue = lambda: [chosen]
"""
KNOWN = """
from sparkforge_proof import check, settings, verdict
from sparkforge_proof.checks.survey import all_operators as survey
from sparkforge_proof.checks.survey import comparison as survey_operator
found = survey_operator.Survey(units={"nn.functional.avg_pool2d, transposed": [0.5, 4e6]})
context = check.Context("cuda", limits=dict(settings.LIMITS))
judged = survey.judge(context, found, {name: (32.0, 32.0) for name in found.units}, "float32", 1)
print(judged.warning.cause)
row = check.definitions("survey.float32", "survey")["survey.float32"].result(
    check.WARN, cause=judged.warning.cause, reason=judged.warning.reason
)
print(verdict.remark({"checks": [check.Result.from_row(row.as_row()).as_row()]}))
"""
#: An operator that is something else where a condition of its input holds.
OFF = """
import torch
(chosen,) = [one for one in survey.catalogue() if survey_operator.name_of(one) == {name!r}]
function = chosen.op
def off(x, *given):
    exact = function(x, *given)
    if x.dtype is torch.float64 or x.dtype is torch.complex128 or not ({condition}):
        return exact
    return {result}
chosen.op = off
survey.catalogue = lambda: [chosen]
"""


class Asked:
    """Asks checks in one process, or in one of its own where something is done before it reads torch."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self._process = self._start("")

    def __call__(
        self, *checks: str, before: str = "", between: str = "", limits: dict[str, float] | None = None
    ) -> dict[str, list[str]]:
        process = self._start(before) if before else self._process
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps([between, checks, limits or {}]) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if before:
            self.end(process)
        found = json.loads(line or "null")
        assert found is not None, "it ended with an error, which is above"
        return dict(found)

    def end(self, process: subprocess.Popen[str] | None = None) -> None:
        with process or self._process as one:
            assert one.stdin
            one.stdin.close()

    def _start(self, before: str) -> subprocess.Popen[str]:
        text = PROGRAM.format(sources=str(SOURCES), before=before)
        return subprocess.Popen([self._python, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def said(healthy: Environment) -> Iterator[Asked]:
    asked = Asked(healthy.python)
    yield asked
    asked.end()


@pytest.mark.parametrize(
    ("before", "between", "reason"),
    [
        pytest.param(
            "sys.modules['torch.testing._internal.common_methods_invocations'] = None",
            "",
            "list of operators cannot be read: .* Run .*python -m pip install torch.$",
            id="no list",
        ),
        pytest.param("", STRANGER, "has an interface unknown to the survey: .*supports_autograd", id="another"),
    ],
)
def test_a_list_of_operators_that_cannot_be_used_is_a_skip_with_the_reason(
    said: Asked, before: str, between: str, reason: str
) -> None:
    found = said("cpu.survey.float32", "cpu.survey.modules", before=before, between=between)
    for status, text in found.values():
        assert status == "skip"
        assert re.search(reason, text), text


def test_survey_needs_no_numpy(said: Asked) -> None:
    few = f"{BROKEN.replace('sine.op = refuses', '')}\nassert sys.modules.get('numpy') is None and len(plain) > 500"
    status, measured = said("cpu.survey.float32", before="sys.modules['numpy'] = None", between=few)[
        "cpu.survey.float32"
    ]
    assert status == "pass" and measured.startswith("3 of 3 (backward 3 of 3 differentiable"), measured


def test_an_operator_that_ends_with_an_error_is_named_and_the_others_are_computed(said: Asked) -> None:
    found = said("cpu.survey.float32", between=BROKEN)
    status, cause = found["cpu.survey.float32"]
    assert status == "fail"
    assert cause.startswith("In float32: Ended: sin failed with an error: no luck today. The others still ran.")


def test_what_optimisers_compute_many_of_is_differentiated_too(said: Asked) -> None:
    status, cause = said("cpu.survey.float32", between=GRADIENT_OFF)["cpu.survey.float32"]
    assert status == "fail" and cause.startswith("Off in float32: _foreach_sqrt, backward by "), cause


@pytest.mark.parametrize(
    ("check", "condition", "result", "way"),
    [
        ("float32", "bool(x.isnan().any())", "exact.nan_to_num()", "sigmoid, NaN"),
        ("float32", "x.dim() > 1 and x.stride(-1) > x.stride(-2) > 0", "exact * 1.1", "cumsum, transposed"),
        ("float32", "0 in x.stride()", "exact * 1.1", "sigmoid, expanded"),
        ("float32", "bool(x.isnan().any())", "exact.masked_fill(exact.abs() < 1e-38, 0)", "roll, NaN"),
        ("float32", "0 in x.stride()", "exact * 1.1", "flipud, expanded"),
        ("float32", "bool(x.isnan().any())", "exact.nan_to_num()", "addr, NaN"),
        ("float32", "0 < float(x.abs().max()) < 1e-38", "exact * 0", "trace, subnormal"),
        ("complex64", "True", "exact.conj()", "sigmoid"),
        # It changes what it was given, of which its results are parts.
        ("complex64", "True", "(exact[0].data.mul_(1.01), exact)[1]", "unsafe_chunk"),
    ],
)
def test_an_operator_that_is_wrong_in_one_layout_or_format_or_for_a_nan_alone_is_named(
    said: Asked, check: str, condition: str, result: str, way: str
) -> None:
    between = OFF.format(name=way.partition(",")[0], condition=condition, result=result)
    # A seed with which the first of a list has its turn in every format; by default the day decides.
    limits = {"samples": 9, "seed": 3}
    status, cause = said(f"cpu.survey.{check}", between=between, limits=limits)[f"cpu.survey.{check}"]
    assert status == "fail" and cause.startswith(f"Off in {check}: {way}"), cause


@pytest.mark.parametrize(
    ("operator", "condition", "result", "way"),
    [
        ("cdist", "0 in x.stride()", "exact * 1.1", "expanded"),
        ("linalg.matrix_power", "x.isnan().any()", "exact.nan_to_num(0.0)", "NaN"),
        ("addr", "0 < float(x.abs().max()) < 1.2e-38", "exact * 0.0", "subnormal"),
        ("linalg.inv", "0 in x.stride()", "exact * 1.1", "expanded"),
    ],
)
def test_numbers_are_given_to_more_operators_where_everything_is_asked(
    said: Asked, operator: str, condition: str, result: str, way: str
) -> None:
    between = OFF.format(name=operator, condition=condition, result=result)
    found = [said("cpu.survey.float32", between=between, limits={"samples": samples}) for samples in (9, 20)]
    (status, _measured), (full, cause) = (one["cpu.survey.float32"] for one in found)
    assert status == "pass" and full == "fail" and cause.startswith(f"Off in float32: {operator}, {way} "), cause


@pytest.mark.parametrize(
    ("operator", "condition", "result", "words"),
    [
        (
            "cumsum",
            "x.shape[-1:] > (8192,) and x.dtype is torch.bfloat16",
            "exact * 2",
            "cumsum, .*(wide|long).*bfloat16",
        ),
        ("add", "x.storage_offset() == 3", "exact * 2", "add, .*offset"),
        ("exp", "torch.get_num_threads() == 3", "exact * 2", "exp, .*3 threads"),
        ("msort", "bool((x.isnan() & x.signbit()).any())", "exact.roll(1)", "msort, .*negative NaN"),
        ("mm", "x.shape[1] % 4 and torch.is_autocast_enabled('cpu')", "exact * 2", "mm, .*autocast"),
    ],
)
def test_operator_that_is_wrong_under_two_conditions_is_named(
    said: Asked, operator: str, condition: str, result: str, words: str
) -> None:
    between = OFF.format(name=operator, condition=condition, result=result)
    status, cause = said("cpu.survey.pairs", between=between, limits={"samples": 20})["cpu.survey.pairs"]
    assert status == "fail" and re.search(words, cause), cause


@pytest.mark.parametrize(
    ("operator", "condition", "result", "where"),
    [
        ("gt", "x.numel() > 2**19", "exact ^ (x == x.max())", "row 0"),
        ("cumsum", "x.numel() > 2**19", "exact * (1 + 1e-3 * (torch.arange(len(x)) == 1000)[:, None])", "row 1000"),
        ("fft.rfft", "x.numel() > 2**19", "exact.roll(1, -1)", "row 0"),
        ("special.hermite_polynomial_h", "x.numel() > 2**15", "exact + (x == x.max())", "row 0"),
        # Of two numbers each makes one that is complex; of negative ones it makes none.
        ("complex", "x.numel() > 2**19", "exact + (x == x.max())", "row 0"),
        ("special.bessel_y0", "x.numel() > 2**15", "exact + (x == x.min())", "row 0"),
    ],
)
def test_what_is_wrong_of_many_rows_alone_is_named(
    said: Asked, operator: str, condition: str, result: str, where: str
) -> None:
    between = OFF.format(name=operator, condition=condition, result=result)
    status, cause = said("cpu.sizes.many", between=between)["cpu.sizes.many"]
    assert status == "fail" and f"({operator}, float32, {where})" in cause, cause


def test_what_computes_no_row_by_itself_is_not_asked_of_many(said: Asked) -> None:
    only = "survey.catalogue = lambda plain=survey.catalogue(): [one for one in plain if one.name in ('cov', 'sin')]"
    status, measured = said("cpu.sizes.many", between=only)["cpu.sizes.many"]
    assert status == "pass" and measured.endswith("; 1 operators"), measured


#: A triangle that is wrong of many matrices alone, asked of as on a GPU where everything is asked, but of fewer.
TRIANGLE = """
import torch
from sparkforge_proof import check, settings
from sparkforge_proof.checks import bounds
from sparkforge_proof.checks.sizes import rows as many

context = check.Context(device="cpu", limits=settings.LIMITS)
for number, name, operator in many._listed(context):
    if name in ("triu", "svd", "cov"):
        right = operator.op
        operator.op = lambda x, *rest: right(x, *rest) * (1.01 if name == "triu" and x.numel() > 2**17 else 1)
        cases = bounds.Cases("a matrix", "Use another stack.")
        taken = many._takes_matrices(operator, name)
        offered = taken and many._equal_rows(cases, context, operator, name, torch.float32, 257, many.MATRIX)
        try:
            said = cases.result().measured if offered else "not asked"
        except check.Failed as error:
            said = error.cause
        print(name, said)
        operator.op = right
"""


def test_a_triangle_that_is_wrong_of_many_matrices_alone_is_named(healthy: Environment) -> None:
    found = subprocess.run([healthy.python, "-c", TRIANGLE], capture_output=True, text=True, check=True, cwd=SOURCES)
    cov, svd, triu = sorted(found.stdout.strip().splitlines())
    assert (cov, svd) == ("cov not asked", "svd not asked")
    assert "triu, float32, row 0" in triu and "times the bound" in triu, triu


def test_a_defect_of_torch_that_is_known_warns_and_names_what_is_wrong(healthy: Environment) -> None:
    found = subprocess.run([healthy.python, "-c", KNOWN], capture_output=True, text=True, check=True, cwd=SOURCES)
    cause, remark = found.stdout.splitlines()
    assert cause == (
        "Wrong in float32, as is known of this torch: nn.functional.avg_pool2d, transposed, backward: of inputs whose"
        " channels are last, with padding, until pytorch#188345 (2026-07)."
    )
    # It is in the verdict's own sentence, after "proven; ".
    assert remark == f"wrong{cause[len('Wrong') : -1]}"


def test_how_many_of_the_differentiable_operators_were_computed_backward_is_in_the_row(said: Asked) -> None:
    few = BROKEN.replace("sine.op = refuses", "")
    status, measured = said("cpu.survey.float32", between=few)["cpu.survey.float32"]
    assert status == "pass"
    assert measured.startswith("3 of 3 (backward 3 of 3 differentiable, 100.0%) operators with "), measured


def test_a_size_that_does_not_fit_is_a_skip_that_says_how_much_is_missing(said: Asked) -> None:
    found = said("cpu.sizes.elements", limits={"memory_share": 1e-6})
    status, reason = found["cpu.sizes.elements"]
    assert status == "skip"
    assert "takes 4.4 GiB, which is 4.4 GiB more than 1e-06 of the" in reason
