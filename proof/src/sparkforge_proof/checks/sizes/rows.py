"""Check operators that compute each row separately, on many equal rows and beyond 2 GiB: all results must be the same.

There is no list of such operators. They are recognised by their results for different small numbers of equal rows.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import typing as t
import warnings

from ...check import SEEN, SEEN_ARM_GRID, Context, Measured, check
from ..bounds import Cases, name_of, torch
from ..survey import all_operators, comparison, operator_bounds, rounding, variants
from .large import REMEDY, require

if t.TYPE_CHECKING:
    Shape = tuple[int, ...]
    Call = t.Callable[[t.Sequence[torch.Tensor]], list[torch.Tensor]]

#: The numbers of rows and columns, which give more than 2^20 elements on a CPU, 2^16 for slow functions, and more than
#: 2^24 on a GPU. Unless the operator is element-wise, each row is aligned to vectors.
ROWS, FEWER_ROWS, ROWS_ON_GPU, COLUMNS, WHOLE_COLUMNS = 1_026, 65, 16_450, 1_023, 1_024
#: The number of columns in the few rows that classify an operator, and the shape of matrices as rows in a full proof.
NARROW, MATRIX = 128, (32, 32)
#: The number of bytes that a tensor exceeds, its elements in a full proof, and the number of rows beyond them.
BEYOND, ELEMENTS, BEHIND = 2**31, 2**30, 7
#: The units of the format by which two kernels of one function may differ, and the share of elements that may: a
#: compiler may fuse other products. On an H200 no elements differed. A matrix product has sums of 32 terms.
FUSED, FEW, SUMMED = 4.0, 1 / 16, 16.0
#: The classes in torch's list whose operators are element-wise, and the names of those with two operands.
ELEMENTWISE = ("UnaryUfuncInfo", "BinaryUfuncInfo", "ForeachFuncInfo")
BINARY = "add sub mul div minimum maximum pow copy".split()
#: The number of tensors with which other operators are tested, the number of torch's sample inputs whose other
#: arguments are tried, the maximum number of results, and their maximum size relative to the input.
MOST_TENSORS, INPUTS, MOST_RESULTS, LARGER = 3, 12, 8, 4
#: Operators whose cost grows with at least the square of the number of rows, although each row has its own result.
TOO_MUCH = re.compile("linalg|pinv|lstsq|.*attention|norm.nuc")


@check("sizes.many", devices=("cuda", "cpu"), seconds=300, measured=SEEN_ARM_GRID)
def many(context: Context) -> Measured:
    """Check each operator that computes rows separately, on more than 2^20 or 2^24 elements.

    These include element-wise functions, also those of lists of tensors. A third of the operators that are slow to
    compute on a CPU, or to compile on a GPU, is tested each day; on a CPU, the others are tested with fewer rows.
    """
    rows = ROWS_ON_GPU if context.device == "cuda" else ROWS
    cases = Cases(f"a function of {rows * COLUMNS:,} elements", REMEDY)
    turns = 1 if context.full else all_operators.PARTS
    compared = 0
    with _surveying(context):
        for number, name, operator in _listed(context):
            slow = operator_bounds.compiled(name.partition("_foreach_")[2] or name) and number % turns
            if context.device == "cuda" and not _is_of_elements(operator) and number % min(turns, 2):
                # Classifying an operator by its results takes longer than the comparison.
                continue
            if not (slow and context.device == "cuda"):
                compared += _compare_rows(cases, context, operator, name, torch.float32, FEWER_ROWS if slow else rows)
    return cases.result(f"; {compared} operators")


@check("sizes.functions", seconds=300, steps=True, measured=SEEN)
def functions(context: Context) -> Measured:
    """Check element-wise functions on more than 2 GiB.

    A full proof tests all operators of ``many`` on 2^30 elements, and operators on separate matrices.
    """
    cases, full = Cases("a function of more than 2 GiB", REMEDY), context.full
    require(context, (28 if full else 11) * 2**30, "Tensors of more than 2 GiB, their function and its comparison")
    compared = 0
    with _surveying(context):
        for number, name, operator in _listed(context):
            # Operators that torch compiles take seconds each.
            is_fast = type(operator).__name__ in ELEMENTWISE[:2] and not operator_bounds.compiled(name)
            if name in context.passed_over or not (full or is_fast):
                continue
            context.step(name)
            # Test one format a day, because each one moves gigabytes.
            forms = (torch.float32, torch.bfloat16) if _is_of_elements(operator) else (torch.float32,)
            for dtype in forms if full else forms[number % 2 : number % 2 + 1]:
                size = torch.empty(0, dtype=dtype).element_size()
                count = max(BEYOND // size, ELEMENTS if full else 0) // COLUMNS + BEHIND
                is_compared = _compare_rows(cases, context, operator, name, dtype, count)
                if full and not is_compared and _takes_matrices(operator, name):
                    is_compared = _compare_rows(cases, context, operator, name, dtype, count, MATRIX)
                compared += is_compared
            if full:
                # The next operator needs other sizes, and other processes use the memory too.
                torch.cuda.empty_cache()
    return cases.result(f"; {compared} operators")


def _is_of_elements(operator: t.Any) -> bool:
    return type(operator).__name__ in ELEMENTWISE


def _takes_matrices(operator: t.Any, name: str) -> bool:
    """Tell whether an operator may compute matrices separately, such as a triangle or a two-dimensional transform.

    Decompositions are excluded, because a library may use another algorithm for many matrices.
    """
    decomposes = variants.LIBRARIES.match(name) and not name.startswith("fft.")
    return not (_is_of_elements(operator) or decomposes)


@contextlib.contextmanager
def _surveying(context: Context) -> t.Iterator[None]:
    with warnings.catch_warnings(), torch.no_grad(), all_operators.survey_settings(context.device):
        warnings.simplefilter("ignore")
        yield


def _listed(context: Context) -> t.Iterator[tuple[int, str, t.Any]]:
    """Yield the operators in torch's list with their names, each with a number that changes every day."""
    for number, operator in enumerate(all_operators.catalogue(), context.seed):
        name = comparison.name_of(operator)
        if not (operator_bounds.left_out(name) or TOO_MUCH.match(name)):
            yield number, name, operator


def _compare_rows(
    cases: Cases, context: Context, operator: t.Any, name: str, dtype: torch.dtype, count: int, matrix: Shape = ()
) -> bool:
    """Compare the results for many equal rows with those for a few; tell whether anything was compared.

    :param matrix: the shape of a row, if it is a matrix.
    """
    if dtype not in operator.supported_dtypes(context.device):
        return False
    case, elements = f"{name}, {name_of(dtype)}", _is_of_elements(operator)
    shape = matrix or (COLUMNS if elements else WHOLE_COLUMNS,)
    for number, call in _calls(operator, name, dtype, context.device):
        rows = _draw_rows(context, operator, name, number, shape, dtype)
        # Classify it on the CPU, because a GPU kernel crashes the process on unsupported inputs.
        if not elements and not _is_by_rows(call, [row.cpu() for row in rows]):
            continue
        # Use the fewest rows, so that their number cannot cause an error.
        fewest = 1 if elements else 2
        few_results = _row_results(call, [row.expand(fewest, *row.shape).contiguous() for row in rows])
        if elements and any(float(result.isnan().float().mean()) > FEW for result in few_results):
            # Functions that are undefined for negative numbers would not show a wrong value.
            rows = [row / 2 + 1.6 for row in rows]
            few_results = _row_results(call, [row.expand(fewest, *row.shape).contiguous() for row in rows])
        if not few_results or (elements and any(result.shape[:2] != (1, *shape) for result in few_results)):
            continue
        actual = _results(call, [row.expand(count, *row.shape).contiguous() for row in rows])
        if not actual:
            return False
        for result, expected in zip(actual, (result[0] for result in few_results)):
            has_shape = result.shape[:1] == (count,) and result.shape[1:] == expected.shape
            shapes = f"the shape {tuple(result.shape)} for {count:,} rows of {tuple(expected.shape)}"
            cases.expect(case, has_shape, f"has {shapes}")
            if has_shape:
                _compare(cases, case, result, expected, elements, SUMMED if matrix else FUSED)
        return True
    return False


def _calls(operator: t.Any, name: str, dtype: torch.dtype, device: str) -> t.Iterator[tuple[int, Call]]:
    """Yield ways to call an operator with tensors of equal shapes: the number of tensors, and the function to call."""
    kind = type(operator).__name__
    if kind == "ForeachFuncInfo":
        count = 2 if name.rpartition("_")[2] in BINARY else 1
        yield count, lambda inputs: rounding.tensors(operator(*([tensor] for tensor in inputs)))
        return
    counts = {"UnaryUfuncInfo": (1,), "BinaryUfuncInfo": (2,)}.get(kind, range(1, MOST_TENSORS + 1))
    options: dict[str, t.Any] = {}
    if kind == "UnaryUfuncInfo":
        try:
            options = operator.sample_kwargs(device, dtype, torch.ones(2, dtype=dtype, device=device))[0]
        except RuntimeError:
            # The arguments for prelu need numpy, which may be missing.
            return
    for number in counts:
        yield number, lambda inputs: rounding.tensors(operator(*inputs, **options))
    if kind in ELEMENTWISE:
        return
    with contextlib.suppress(RuntimeError, TypeError, ValueError):
        for sample in itertools.islice(operator.sample_inputs(device, dtype), INPUTS):
            is_plain = not rounding.tensors([*sample.args, *sample.kwargs.values()])
            if is_plain and isinstance(sample.input, torch.Tensor) and (sample.args or sample.kwargs):

                def call(inputs: t.Sequence[torch.Tensor], chosen: t.Any = sample) -> list[torch.Tensor]:
                    return rounding.tensors(operator(*inputs, *chosen.args, **chosen.kwargs))

                yield 1, call


def _draw_rows(
    context: Context, operator: t.Any, name: str, number: int, shape: Shape, dtype: torch.dtype
) -> list[torch.Tensor]:
    """Return a row for each tensor, with values from the operator's domain that all differ in float32.

    Only element-wise operators have a documented domain. Some others crash unless they get probabilities.
    """
    generator = context.generator(f"sizes many {name}")
    low, high = getattr(operator, "domain", None) or (None, None)
    # Unary functions also get negative numbers.
    least = -3.0 if type(operator).__name__ == "UnaryUfuncInfo" else 0.5
    low, high = (least if low is None else max(low + 0.01, least)), (3.0 if high is None else min(high - 0.01, 3.0))
    if not _is_of_elements(operator):
        low, high = 0.05, 0.95
    count = math.prod(shape)
    orders = (torch.randperm(count, generator=generator).view(shape) for _row in range(number))
    return [((order + 0.5) / count * (high - low) + low).to(dtype).to(context.device) for order in orders]


def _results(call: Call, inputs: t.Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the results of a call as real numbers, or [] if it does not support its inputs."""
    try:
        return [_real(result) for result in call(inputs)]
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError) as error:
        if "CUDA error" in str(error):
            raise
        return []


def _row_results(call: Call, inputs: t.Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the results for a few rows if they have as many rows and are not too large, or []."""
    results = _results(call, inputs)
    is_by_rows = all(result.layout is torch.strided and result.shape[:1] == inputs[0].shape[:1] for result in results)
    is_small = sum(result.numel() for result in results) <= LARGER * inputs[0].numel()
    return results if is_by_rows and is_small and len(results) <= MOST_RESULTS else []


def _is_by_rows(call: Call, rows: t.Sequence[torch.Tensor]) -> bool:
    """Tell whether the first and the last row have the same result, regardless of the other rows and their number."""

    def among(*turns: int) -> list[torch.Tensor]:
        return _row_results(call, [torch.stack([row[:NARROW].roll(turn) for turn in (0, *turns, 0)]) for row in rows])

    first_results, second_results = among(5, 11), among(17, 23, 31, 43)
    return len(first_results) == len(second_results) > 0 and all(
        first.shape[1:] == second.shape[1:]
        and all(torch.allclose(first[0], expected, equal_nan=True) for expected in (first[-1], second[0], second[-1]))
        for first, second in zip(first_results, second_results)
    )


def _real(value: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def _compare(
    cases: Cases, case: str, rows: torch.Tensor, expected: torch.Tensor, elements: bool, units: float = FUSED
) -> None:
    """Compare each row with the expected one.

    :param elements: whether the function is element-wise, so that only a few elements may differ at all.
    :param units: the allowed difference of an element in units of the format.
    """
    equal = rows == expected
    # NaN differs from itself, so look for NaN, in two more passes, but only if rows differ.
    if not (is_equal := bool(equal.all())):
        equal |= rows.isnan() & expected.isnan()
        is_equal = bool(equal.all())
    if is_equal:
        cases.expect(case, True, "")
        return
    if elements:
        differing = float((~equal).float().mean())
        cases.expect(case, differing <= FEW, f"differs for {differing:.0%} of the elements")
    exact = expected.to("cpu").double()
    scale = exact.abs() + exact.nan_to_num(0.0, 0.0, 0.0).abs().amax()
    bound = units * (rounding.spacing(rows.dtype) if rows.is_floating_point() else 0.0) * scale
    if not elements and rows.is_floating_point():
        equal |= (rows - expected).abs() <= bound.to(rows.device, rows.dtype)
    wrong = (~equal).flatten(1).any(-1) if equal.ndim > 1 else ~equal
    row = int(wrong.byte().argmax())
    cases.compare(f"{case}, row {row}", rows[row], exact, bound)
