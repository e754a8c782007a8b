"""The bounds of the survey's operators, and the report on an operator that exceeds its bound."""

import math
import re
import sys
import types

import pytest
from sparkforge_proof import check, settings
from sparkforge_proof.checks.survey import (
    all_operators as survey,
    comparison as survey_operator,
    operator_bounds as bounds,
)
from sparkforge_proof.checks.survey.rounding import Misfits, misfit


def test_bounds_default_to_the_format() -> None:
    assert bounds.bounds("add", "float32") == (bounds.DEFAULT["float32"],) * 2
    assert bounds.bounds("pinverse", "float64") == (64.0, 93.0)


def test_calibrated_bounds_exceed_the_default() -> None:
    for (name, form), both in bounds.CALIBRATED.items():
        default = (bounds.DEFAULT_OF_MODULES if re.match(r"nn\.[A-Z]", name) else bounds.DEFAULT)[form]
        assert min(both) >= default, name
        assert max(both) > default, f"{name} {form} needs no row"
        assert not bounds.left_out(name), f"{name} is left out"


def test_left_out_covers_variants_and_has_reasons() -> None:
    assert bounds.left_out("normal.in_place") == bounds.left_out("normal") != ""
    assert bounds.left_out("nn.functional.layer_norm") == bounds.left_out("normalize") == ""
    assert all(bounds.LEFT_OUT.values())


def test_left_out_cpu_attention_only_transposed() -> None:
    """torch 2.14 lists this operator, which misreads transposed inputs, although torch never calls it with them."""
    name = "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"
    assert bounds.left_out(f"{name}, transposed") and not bounds.left_out(name) + bounds.left_out(f"{name}, strided")


@pytest.mark.parametrize(
    ("units", "ratio", "mismatched", "compared", "elementary"),
    [
        ({"erf": [48.0, 0.0], "add": [1.0, 0.0]}, 1.5, 0, 0, False),
        ({"erf": [3.0, 96.0], "cat": [0.0, 33.0]}, 3.0, 0, 0, True),
        ({"erf, strided": [3.2e6, 0.0]}, 1e5, 0, 0, False),
        # The result has the counts of the operator with the most misfits, and the largest ratio of the others.
        ({"sort": [Misfits(1, 30, 64.0), 0.0], "erf": [0.0, Misfits(3, 9)], "i0": [48.0, 0.0]}, 2.0, 3, 9, False),
        ({"mm": [misfit("the shape"), 0.0]}, math.inf, 0, 0, True),
        ({"mm": [max(misfit("the shape"), Misfits(3, 9)), 0.0]}, math.inf, 0, 0, True),
        ({"mm": [max(Misfits(3, 9), misfit("the shape")), 0.0]}, math.inf, 0, 0, True),
        # An error of a function of one number counts beyond ten times its bound, but not that of its gradient.
        ({"_foreach_sinh": [352.0, 0.0]}, 11.0, 0, 0, True),
        ({"sinh": [288.0, 0.0]}, 9.0, 0, 0, False),
        ({"sinh": [0.0, 352.0]}, 11.0, 0, 0, False),
        ({"sinh": [math.inf, 0.0]}, math.inf, 0, 0, False),
        ({"_foreach_addcmul": [352.0, 0.0]}, 11.0, 0, 0, True),
        ({"_foreach_norm": [352.0, 0.0]}, 11.0, 0, 0, False),
        # The calls with a NaN in their inputs count together.
        ({"prod, NaN": [Misfits(1, 1), 0.0], "masked.prod, NaN": [Misfits(1, 5), 0.0]}, 0.0, 2, 6, False),
        ({"prod, NaN": [Misfits(1, 4), 0.0], "sort": [Misfits(1, 8), 0.0]}, 0.0, 1, 4, False),
    ],
)
def test_failure_has_ratio_misfits_and_exactness(units, ratio, mismatched, compared, elementary):
    context, outcome = check.Context("cuda", limits=dict(settings.LIMITS)), survey_operator.Survey(units=units)
    outcome.functions = {"sinh"}
    with pytest.raises(check.Failed) as failed:
        survey.judge(context, outcome, dict.fromkeys(units, (32.0, 32.0)), "float32")
    failure = failed.value
    assert (failure.ratio, failure.mismatched, failure.compared) == (ratio, mismatched, compared)
    assert failure.blocks is elementary


def test_note_keeps_the_most_misfits() -> None:
    outcome = survey_operator.Survey()
    for error in (3.0, Misfits(1, 9), Misfits(4, 9, 7.0), Misfits(2, 9), 8.0):
        outcome.note("erf", (error, 0.0))
    worst = outcome.units["erf"][0]
    assert isinstance(worst, Misfits) and (worst.count, worst.compared, worst.other_error) == (4, 9, 7.0)
    assert worst > 1e300 and not worst > Misfits(5, 9)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("add __rsub__ _foreach_mul div.no_rounding_mode nn.functional.relu mm addmm nn.functional.linear cat t", True),
        ("erf div.floor_rounding argmax sort softmax nn.functional.conv2d linalg.multi_dot matrix_exp copysign", False),
    ],
)
def test_elementary_operators(names: str, expected: bool) -> None:
    assert {name for name in names.split() if bounds.is_elementary(name) is not expected} == set()


@pytest.mark.parametrize(
    ("name", "value", "cause"),
    [
        ("mm, transposed", 4e6, "mm, transposed by 4e+06 units (bound 32)"),
        ("mm, NaN", Misfits(1, 9, 0.0, "1 of 9 values wrong"), "mm, NaN: 1 of 9 values wrong"),
    ],
)
def test_failure_describes_the_error(name: str, value: float, cause: str) -> None:
    outcome = survey_operator.Survey(units={name: [value, 0.0]})
    context = check.Context("cuda", limits=dict(settings.LIMITS))
    with pytest.raises(check.Failed) as failed:
        survey.judge(context, outcome, {name: (32.0, 32.0)}, "float32")
    assert failed.value.cause == f"Off in float32: {cause}."


@pytest.mark.parametrize(
    ("name", "device", "known"),
    [
        ("nn.functional.avg_pool2d, transposed, backward", "cuda", True),
        ("nn.functional.avg_pool2d, transposed, backward", "cpu", False),
        ("nn.functional.avg_pool2d, transposed", "cuda", False),
        ("special.shifted_chebyshev_polynomial_w, NaN", "cpu", True),
        ("special.shifted_chebyshev_polynomial_w, NaN", "cuda", False),
        ("special.shifted_chebyshev_polynomial_w", "cpu", False),
        ("bfloat16: fft.rfft, drawn, out=, another stream", "cuda", True),
        ("float16: fft.rfft, drawn, out=, another stream", "cuda", False),
        ("bfloat16: fft.rfft", "cuda", False),
        ("float32: nn.functional.avg_pool2d, transposed, backward", "cuda", True),
        ("programs: compositions 10 in float32 (roll > copy_), compiled", "cuda", True),
        ("programs: compositions 10 in float32 (roll > mul_), compiled", "cuda", False),
    ],
)
def test_known_defect_depends_on_device_and_call(name: str, device: str, known: bool) -> None:
    assert bool(bounds.known_defect(name, device)) is known


@pytest.mark.parametrize(("capability", "known"), [((9, 0), True), ((10, 3), True), ((12, 1), False)])
def test_known_defect_depends_on_the_architecture(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], known):
    """Machine code of ptxas 12.9 to 13.3 for 9.0 and 10.x lacks a minus sign, that for 12.x does not."""
    cuda = types.SimpleNamespace(is_available=lambda: True, get_device_capability=lambda: capability)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    assert bool(bounds.known_defect("programs: equal numbers (abs max), compiled", "cuda", (2, 14, 1))) is known
    assert not bounds.known_defect("programs: equal numbers (abs max)", "cuda", (2, 14, 1))


@pytest.mark.parametrize(("release", "known"), [((2, 11, 0), True), ((2, 14, 0), False)])
def test_known_defect_depends_on_the_release(release: tuple[int, ...], known: bool) -> None:
    call = "programs: folds 15 in float16 (signs(-x)), compiled"
    assert bool(bounds.known_defect(call, "cuda", release)) is known
    assert not bounds.known_defect(call.replace("signs(-x)", "signs(x + 0)"), "cuda", release)


@pytest.mark.parametrize(
    ("call", "known"), [("size-one, drawn, autocast, after another", True), ("drawn, sliced", False)]
)
def test_known_defect_depends_on_the_cpu(monkeypatch: pytest.MonkeyPatch, call: str, known: bool) -> None:
    """AMX computes bfloat16, to which autocast casts."""
    monkeypatch.setattr(bounds, "extensions", lambda: {"amx_bf16"})
    assert bool(bounds.known_defect(f"float32: nn.functional.conv3d, {call}", "cpu")) is known


def test_calls_with_the_same_defect_are_listed_together() -> None:
    known = {"det": "a term lacks", "sort": "integers are lost", "solve": "a term lacks"}
    assert bounds.list_defects(known) == "det, solve: a term lacks; sort: integers are lost"


@pytest.mark.parametrize(
    ("name", "release", "known"),
    [
        ("attention 0 in float16 (softmax > softmax), compiled", "2.11.0+cu130", True),
        ("attention 0 in float32 (matmul div), compiled, backward", "2.6.0", True),
        ("attention 0 in float16 (softmax > softmax), compiled", "2.12.0", False),
        ("attention 0 in float16 (softmax > softmax)", "2.11.0", False),
        ("equal numbers (abs > [shifted(torch.int8 x y 9)]), compiled", "2.6.0", True),
        ("equal numbers (abs > [shifted(torch.int8 x y 9)]), compiled", "2.10.0", False),
        ("mv, drawn, out=, infinite, 1 thread", "2.10.0", True),
        ("mv, drawn, out=, infinite, 1 thread", "2.11.0", False),
        ("addmv, strided, drawn, in place, NaN", "2.10.0", True),
        ("addmv, strided, drawn", "2.10.0", False),
    ],
)
def test_mended_defect_is_known_of_older_releases(monkeypatch: pytest.MonkeyPatch, name, release, known):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(__version__=release))
    call = name.removesuffix(", backward")
    outcome = survey_operator.Survey(units={"erf": [16.0, 0.0], call: [640.0, 0.0] if call == name else [0.0, 640.0]})
    allowed = dict.fromkeys(outcome.units, (32.0, 32.0))
    context = check.Context("cpu", limits=dict(settings.LIMITS))
    if known:
        warning = survey.judge(context, outcome, allowed, "bfloat16").warning
        assert warning and name in warning.cause
    else:
        with pytest.raises(check.Failed):
            survey.judge(context, outcome, allowed, "bfloat16")


@pytest.mark.parametrize(("machine", "known"), [("x86_64", True), ("aarch64", False)])
def test_defect_of_a_machine_is_known_of_its_cpu(monkeypatch: pytest.MonkeyPatch, machine: str, known: bool) -> None:
    monkeypatch.setattr(bounds.platform, "machine", lambda: machine)
    call = "bfloat16: nn.functional.conv2d, transposed, drawn, 1 thread, backward"
    assert bool(bounds.known_defect(call, "cpu")) is known
    assert not bounds.known_defect(call, "cuda")


@pytest.mark.parametrize("extension", ["amx_bf16", "avx512_bf16"])
def test_defect_of_matrix_extensions_is_known_of_cpus_that_have_them(monkeypatch: pytest.MonkeyPatch, extension: str):
    monkeypatch.setattr(bounds, "extensions", lambda: frozenset([extension]))
    call = "bfloat16: nn.functional.conv3d, permuted, drawn, after another"
    assert bool(bounds.known_defect(call, "cpu")) is (extension == "amx_bf16")
    assert not bounds.known_defect(call, "cuda")
    assert not bounds.known_defect("bfloat16: nn.functional.conv3d", "cpu")


def test_gradient_of_a_hinge_is_not_compared_in_16_bits() -> None:
    for form in ("bfloat16", "float16"):
        assert bounds.bounds("nn.functional.triplet_margin_loss, tail", form) == (6.0, math.inf)


def test_gradient_of_a_distance_whose_cube_overflows_is_not_compared() -> None:
    """float16 holds 40.3**3: beyond, the gradient of ``dist`` with an exponent of 4 is zero (torch 2.13)."""
    assert bounds.bounds("dist, many", "float16") == (6.0, math.inf)


def test_known_defect_leaves_the_ratio_of_the_other_operators() -> None:
    name = "special.chebyshev_polynomial_t, NaN"
    units: dict[str, list[float]] = {"erf": [16.0, 0.0], name: [Misfits(2, 500), 0.0]}
    context = check.Context("cpu", limits=dict(settings.LIMITS))
    measured = survey.judge(context, survey_operator.Survey(units=units), dict.fromkeys(units, (32.0, 32.0)), "float32")
    assert measured.ratio == 0.5 and measured.warning and name in measured.warning.cause


def test_each_operator_is_compiled_on_one_of_three_days_in_each_part() -> None:
    for name in ("erfinv", "lgamma", "_foreach_erf"):
        days = [seed for seed in range(9) if survey.compiles_today(name, seed)]
        assert len(days) == survey.PARTS and {day % survey.PARTS for day in days} == set(range(survey.PARTS))
