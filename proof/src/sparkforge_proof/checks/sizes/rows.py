# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is computed row by row, over many equal rows and beyond 2 GiB: wherever a row lies, its result is the same.

That an operator computes each row by itself is not listed: few equal rows, once more and once fewer, show it.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import typing as t
import warnings

from ...check import LAST, Context, Measured, check
from ..bounds import Cases, torch
from ..survey import all_operators, comparison, operator_bounds, rounding, variants
from .large import REMEDY, require

if t.TYPE_CHECKING:
    Call = t.Callable[[t.Sequence[torch.Tensor]], list[torch.Tensor]]

#: Rows and columns: more than 2^20 elements on a CPU, of slow functions 2^16; on a GPU more than 2^24. Of what is not
#: computed element by element each row begins where vectors do.
ROWS, FEWER_ROWS, ROWS_ON_GPU, COLUMNS, WHOLE_COLUMNS = 1_026, 65, 16_450, 1_023, 1_024
#: Columns of the few rows that show it, and the matrix that is tried as a row where everything is asked.
NARROW, MATRIX = 128, (32, 32)
#: Bytes beyond which a tensor is, and elements where everything is asked; whatever lies behind.
BEYOND, ELEMENTS, BEHIND = 2**31, 2**30, 7
#: How many units of the format two kernels of one function may differ by, and in which part of the elements: a compiler
#: may fuse other products. On an H200 none did. A product of matrices has sums of 32.
FUSED, FEW, SUMMED = 4.0, 1 / 16, 16.0
#: The classes of the catalogue whose operators compute each element by itself; of those of two tensors or lists.
ELEMENTWISE = ("UnaryUfuncInfo", "BinaryUfuncInfo", "ForeachFuncInfo")
BINARY = "add sub mul div minimum maximum pow copy".split()
#: Tensors that any other operator is tried with, inputs of the catalogue whose other arguments are tried, results that
#: it may have, and how many times as large as its input they may be.
MOST_TENSORS, INPUTS, MOST_RESULTS, LARGER = 3, 12, 8, 4
#: What takes the square of the rows' number, or more, although each row has its own result.
TOO_MUCH = re.compile("linalg|pinv|lstsq|.*attention|norm.nuc")


@check("sizes.many", devices=("cuda", "cpu"), seconds=300, measured=LAST)
def many(context: Context) -> Measured:
    """Each operator that computes rows by themselves, over more than 2^20 or 2^24 elements.

    Functions of elements and of lists of tensors among them. Of what is slow, on a CPU to compute and on a GPU to
    compile, a third has so many, the next day another; the rest have fewer on a CPU, and are left out on a GPU.
    """
    most = ROWS_ON_GPU if context.device == "cuda" else ROWS
    cases = Cases(f"a function of {most * COLUMNS:,} elements", REMEDY)
    turns = 1 if context.full else all_operators.PARTS
    offered = 0
    with _computing(context):
        for number, name, operator in _listed(context):
            slow = _is_slow(name) and number % turns
            if not (slow and context.device == "cuda"):
                offered += _equal_rows(cases, context, operator, name, torch.float32, FEWER_ROWS if slow else most)
    measured = cases.result()
    measured.measured += f"; {offered} operators"
    return measured


@check("sizes.functions", seconds=300, steps=True, measured=LAST)
def functions(context: Context) -> Measured:
    """Functions of elements over more than 2 GiB.

    Where everything is asked, all of ``many`` over 2^30 elements, and what computes matrices by themselves.
    """
    cases, full = Cases("a function of more than 2 GiB", REMEDY), context.full
    require(context, (28 if full else 11) * 2**30, "Tensors of more than 2 GiB, their function and its comparison")
    offered = 0
    with _computing(context):
        for number, name, operator in _listed(context):
            if name in context.passed_over or not (full or _takes_turns(operator, name)):
                continue
            context.step(name)
            # One format a day, for each passes gigabytes.
            forms = (torch.float32, torch.bfloat16) if _is_of_elements(operator) else (torch.float32,)
            for dtype in forms if full else forms[number % 2 : number % 2 + 1]:
                size = torch.empty(0, dtype=dtype).element_size()
                count = max(BEYOND // size, ELEMENTS if full else 0) // COLUMNS + BEHIND
                found = _equal_rows(cases, context, operator, name, dtype, count)
                if full and not found and _takes_matrices(operator, name):
                    found = _equal_rows(cases, context, operator, name, dtype, count, MATRIX)
                offered += found
            if full:
                # Each takes other sizes, and others use the memory too.
                torch.cuda.empty_cache()
    measured = cases.result()
    measured.measured += f"; {offered} operators"
    return measured


def _is_slow(name: str) -> bool:
    return operator_bounds.compiled(name.partition("_foreach_")[2] or name)


def _is_of_elements(operator: t.Any) -> bool:
    return type(operator).__name__ in ELEMENTWISE


def _takes_turns(operator: t.Any, name: str) -> bool:
    """Say whether it is asked beyond 2 GiB by default; those that are compiled take seconds each."""
    return type(operator).__name__ in ELEMENTWISE[:2] and not operator_bounds.compiled(name)


def _takes_matrices(operator: t.Any, name: str) -> bool:
    """Say whether it may compute matrices by themselves, as a triangle or a transform of two dimensions.

    Decompositions are left out, where a library has another algorithm for many.
    """
    decomposes = variants.LIBRARIES.match(name) and not name.startswith("fft.")
    return not (_is_of_elements(operator) or decomposes)


@contextlib.contextmanager
def _computing(context: Context) -> t.Iterator[None]:
    with warnings.catch_warnings(), torch.no_grad(), all_operators.survey_settings(context.device):
        warnings.simplefilter("ignore")
        yield


def _listed(context: Context) -> t.Iterator[tuple[int, str, t.Any]]:
    """Return the operators of torch's list and a number of each, which is another one the next day."""
    for number, operator in enumerate(all_operators.catalogue(), context.seed):
        name = comparison.name_of(operator)
        if not (operator_bounds.left_out(name) or TOO_MUCH.match(name)):
            yield number, name, operator


def _equal_rows(
    cases: Cases,
    context: Context,
    operator: t.Any,
    name: str,
    dtype: torch.dtype,
    count: int,
    matrix: tuple[int, int] | None = None,
) -> bool:
    """Compare what is made of many equal rows with what is made of few; say whether there was anything to compare.

    :param matrix: the shape of what is a row then.
    """
    if dtype not in operator.supported_dtypes(context.device):
        return False
    words, elements = f"{name}, {str(dtype).rpartition('.')[2]}", _is_of_elements(operator)
    columns = COLUMNS if elements else WHOLE_COLUMNS
    for number, call in _calls(operator, name, dtype, context.device):
        given = [row.reshape(matrix or (columns,)) for row in _rows(context, operator, name, number, columns, dtype)]
        # On the CPU: a GPU's kernel that is given what it does not take ends the process.
        if not elements and not _is_by_rows(call, [row.cpu() for row in given]):
            continue
        # As few as can be, so that nothing is wrong for their number.
        fewest = 1 if elements else 2
        few = _made(call, [row.expand(fewest, *row.shape).contiguous() for row in given])
        if elements and any(float(one.isnan().float().mean()) > FEW for one in few):
            # Where negative numbers have no value a wrong one would not show.
            given = [row / 2 + 1.6 for row in given]
            few = _made(call, [row.expand(fewest, *row.shape).contiguous() for row in given])
        if not few or (elements and any(one.shape[:2] != (1, columns) for one in few)):
            continue
        found = _called(call, [row.expand(count, *row.shape).contiguous() for row in given])
        if not found:
            return False
        for one, other in zip(found, (one[0] for one in few)):
            right = one.shape[:1] == (count,) and one.shape[1:] == other.shape
            cases.expect(words, right, f"has the shape {tuple(one.shape)} for {count:,} rows of {tuple(other.shape)}")
            if right:
                _compare(cases, words, one, other, elements, SUMMED if matrix else FUSED)
        return True
    return False


def _calls(operator: t.Any, name: str, dtype: torch.dtype, device: str) -> t.Iterator[tuple[int, Call]]:
    """Return how an operator may be called with tensors of equal shapes: how many it takes, and what calls it."""
    kind = type(operator).__name__
    if kind == "ForeachFuncInfo":
        yield (
            2 if name.rpartition("_")[2] in BINARY else 1,
            lambda given: rounding.tensors(operator(*([one] for one in given))),
        )
        return
    if kind in ELEMENTWISE:
        counts: t.Sequence[int] = (1 if kind == "UnaryUfuncInfo" else 2,)
    else:
        counts = range(1, MOST_TENSORS + 1)
    words: dict[str, t.Any] = {}
    if kind == "UnaryUfuncInfo":
        try:
            words = operator.sample_kwargs(device, dtype, torch.ones(2, dtype=dtype, device=device))[0]
        except RuntimeError:
            # Those of prelu are made by numpy, which need not be there.
            return
    for number in counts:
        yield number, lambda given: rounding.tensors(operator(*given, **words))
    if kind in ELEMENTWISE:
        return
    with contextlib.suppress(RuntimeError, TypeError, ValueError):
        for sample in itertools.islice(operator.sample_inputs(device, dtype), INPUTS):
            plain = not rounding.tensors([*sample.args, *sample.kwargs.values()])
            if plain and isinstance(sample.input, torch.Tensor) and (sample.args or sample.kwargs):
                yield (
                    1,
                    lambda given, one=sample: rounding.tensors(  # type: ignore[misc]
                        operator(*given, *one.args, **one.kwargs)
                    ),
                )


def _rows(
    context: Context, operator: t.Any, name: str, number: int, columns: int, dtype: torch.dtype
) -> list[torch.Tensor]:
    """Return a row for each tensor, whose numbers are in the domain and of which no two are the same in float32.

    Of what is no function of elements nobody says the domain: some take probabilities alone, and end the process.
    """
    generator = context.generator(f"sizes many {name}")
    low, high = getattr(operator, "domain", None) or (None, None)
    # Functions of one tensor have negative numbers too.
    least = -3.0 if type(operator).__name__ == "UnaryUfuncInfo" else 0.5
    low, high = (least if low is None else max(low + 0.01, least)), (3.0 if high is None else min(high - 0.01, 3.0))
    if not _is_of_elements(operator):
        low, high = 0.05, 0.95
    return [
        ((torch.randperm(columns, generator=generator) + 0.5) / columns * (high - low) + low)
        .to(dtype)
        .to(context.device)
        for _one in range(number)
    ]


def _called(call: Call, given: t.Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return what is made of tensors, as real numbers; nothing where they are not taken."""
    try:
        return [_real(one) for one in call(given)]
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError) as error:
        if "CUDA error" in str(error):
            raise
        return []


def _made(call: Call, given: t.Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return what is made of few rows, if it is as many rows and not too large; else nothing."""
    found = _called(call, given)
    rows = all(one.layout is torch.strided and one.shape[:1] == given[0].shape[:1] for one in found)
    small = sum(one.numel() for one in found) <= LARGER * given[0].numel()
    return found if rows and small and len(found) <= MOST_RESULTS else []


def _is_by_rows(call: Call, given: t.Sequence[torch.Tensor]) -> bool:
    """Say whether a row has one result, first and last, whatever the others are and how many."""

    def among(*turns: int) -> list[torch.Tensor]:
        return _made(call, [torch.stack([row[:NARROW].roll(turn) for turn in (0, *turns, 0)]) for row in given])

    some, others = among(5, 11), among(17, 23, 31, 43)
    return len(some) == len(others) > 0 and all(
        one.shape[1:] == other.shape[1:]
        and all(torch.allclose(one[0], same, equal_nan=True) for same in (one[-1], other[0], other[-1]))
        for one, other in zip(some, others)
    )


def _real(value: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def _compare(
    cases: Cases, words: str, rows: torch.Tensor, like: torch.Tensor, elements: bool, units: float = FUSED
) -> None:
    """Compare each row with what it should be.

    :param elements: of a function of elements few may be off at all.
    :param units: by how many units of the format each may be off.
    """
    same = rows == like
    # A NaN equals none, and two passes more over all rows look for them.
    if not (alike := bool(same.all())):
        same |= rows.isnan() & like.isnan()
        alike = bool(same.all())
    if alike:
        cases.expect(words, True, "")
        return
    if elements:
        off = float((~same).float().mean())
        cases.expect(words, off <= FEW, f"is something else for {off:.0%} of the elements")
    exact = like.to("cpu").double()
    around = exact.abs() + exact.nan_to_num(0.0, 0.0, 0.0).abs().amax()
    bound = units * (rounding.spacing(rows.dtype) if rows.is_floating_point() else 0.0) * around
    if not elements and rows.is_floating_point():
        same |= (rows - like).abs() <= bound.to(rows.device, rows.dtype)
    wrong = (~same).flatten(1).any(-1) if same.ndim > 1 else ~same
    row = int(wrong.byte().argmax())
    cases.compare(f"{words}, row {row}", rows[row], exact, bound)
