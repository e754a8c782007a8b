"""Draw functions of elements, conversions and rearrangements in any formats and layouts, and compare them exactly.

The reference of a function is the same function of contiguous copies in 64 bits, whose result is converted; integers
wrap around. Numbers in floating-point formats are small integers, so nothing is rounded. A rearrangement's reference is
computed from positions: each number is a function of its position, and the CPU rearranges the positions.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_DRAWN, Context, Measured, check
from ..bounds import functions_of, torch
from ..draws import Draw, Draws, judge
from .reductions import FLOATS, INTEGERS, shape_of

#: The number of calls in a run, and the most elements of some.
DRAWN, MOST = {"cuda": 6_000, "cpu": 5_000}, 2**17
#: The names of torch's functions of one or two numbers, and those that only integers have.
UNARY = "neg abs sign square logical_not ceil floor trunc round isnan isinf isfinite signbit relu positive".split()
BINARY = "add sub mul maximum minimum fmax fmin eq ne lt le gt ge logical_and logical_or logical_xor".split()
DIVIDING = ("floor_divide", "remainder", "fmod")
INTEGER = (*DIVIDING, *(f"bitwise_{name}" for name in ("and", "or", "xor", "left_shift", "right_shift")))
#: The largest number in floating-point formats, whose square is exact in each.
LARGEST = 11
MOVES = functions_of("rearrangements", "x, i, n")


@check("elements.drawn", devices=("cuda", "cpu"), seconds=120, measured=SEEN_DRAWN, factor=1)
def drawn(context: Context) -> Measured:
    """Check functions of elements, conversions and rearrangements of exact numbers, thousands of them."""
    return judge(context, "a function of elements", "elements", DRAWN, _compare)


def _compare(draws: Draws, draw: Draw) -> None:
    draw.chance.choice((_compare_function, _compare_function, _compare_conversion, _compare_move))(draws, draw)


def _numbers(draw: Draw, shape: t.Sequence[int], form: str, are_small: bool) -> torch.Tensor:
    """Return integers, which are small in floating-point formats, and sometimes numbers at the limits of a format."""
    dtype, chance = getattr(torch, form), draw.chance
    if form == "bool":
        return draw.integers(shape, 0, 1, torch.int64).bool()
    if dtype.is_floating_point:
        low, high, special = -LARGEST, LARGEST, chance.choice((None, math.inf, -math.inf, math.nan))
    else:
        limits = torch.iinfo(dtype)
        low, high = max(limits.min, -(2**62)), min(limits.max, 2**62)
        special = chance.choice((None, limits.min, limits.max))
    if are_small:
        low, high, special = 0 if form == "uint8" else -LARGEST, LARGEST, None
    numbers = draw.integers(shape, low, high, torch.int64).to(dtype)
    if special is None:
        return numbers
    draw.conditions.append(str(special))
    return numbers.masked_fill(draw.integers(shape, 0, 7, torch.int64) == 0, special)


def _wide(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return numbers that torch would first convert to a type, in 64 bits and contiguous."""
    x = x.contiguous().to(dtype)
    return x.double() if dtype.is_floating_point else x if dtype is torch.bool else x.long()


def _compare_function(draws: Draws, draw: Draw) -> None:
    """Compare a function of one or two tensors, of which one may be broadcast or a number, or have another type."""
    chance, shape = draw.chance, shape_of(draw, MOST)
    name = chance.choice((*UNARY, *BINARY, *INTEGER))
    forms = [chance.choice(INTEGERS if name in INTEGER else (*INTEGERS, *FLOATS)) for _operand in range(2)]
    if name in UNARY or chance.random() < 0.5:
        forms = [forms[0]] * 2
    are_small = len({form in FLOATS for form in forms}) > 1
    operands = [draw.lay(_numbers(draw, shape, forms[0], are_small))[1]]
    if name not in UNARY:
        sizes = [1 if chance.random() < 0.2 else size for size in shape][chance.choice((0, 0, 0, 1)) :]
        second = _numbers(draw, sizes, forms[1], are_small)
        if name in DIVIDING:
            second = second.masked_fill(second == 0, 3).masked_fill(second == -1, 2)
        elif "shift" in name:
            second = second.long().remainder(8).to(second.dtype)
        operands.append(draw.lay(second)[1])
    promoted = torch.result_type(*operands) if name not in UNARY else operands[0].dtype
    function, wide = getattr(torch, name), [_wide(each, promoted) for each in operands]
    mode = chance.choice(("", "", "in place" if hasattr(operands[0], f"{name}_") else "", "out="))
    case = f"{mode} {name} of {forms[: len(operands)]}, {shape}, {', '.join(draw.conditions)}".strip()
    with draws.cases.offered(f"{mode} {name} of {forms[: len(operands)]}"):
        plain = function(*wide)
        expected = plain if torch.bool in (plain.dtype, promoted) else plain.to(promoted)
        if mode == "in place":
            actual = getattr(operands[0], f"{name}_")(*operands[1:])
            expected = expected.to(actual.dtype)
        elif mode == "out=":
            actual = function(*operands, out=draw.lay(torch.zeros_like(expected))[1])
        else:
            actual = function(*operands)
        draws.cases.expect(case, actual.dtype is expected.dtype, f"is of {actual.dtype} instead of {expected.dtype}")
        draws.compare(case, actual, expected)


def _compare_conversion(draws: Draws, draw: Draw) -> None:
    chance, shape, (first, second) = draw.chance, shape_of(draw, MOST), draw.chance.sample((*INTEGERS, *FLOATS), 2)
    are_small = first in FLOATS or second in FLOATS
    numbers = _numbers(draw, shape, first, are_small)
    _memory, x = draw.lay(numbers.abs() if second == "uint8" and first in FLOATS else numbers)
    dtype, case = getattr(torch, second), f"{first} to {second}, {shape}, {', '.join(draw.conditions)}"
    expected = _wide(x, x.dtype).to(dtype)
    _memory, target = draw.lay(torch.zeros_like(expected))
    draws.compare(case, chance.choice((lambda: x.to(dtype), lambda: target.copy_(x)))(), expected)


def _compare_move(draws: Draws, draw: Draw) -> None:
    chance, shape = draw.chance, shape_of(draw, MOST)
    form = chance.choice((*INTEGERS, *FLOATS, "complex64", "complex128"))
    dtype, name = getattr(torch, form), chance.choice([*MOVES])
    numbers = draw.integers((math.prod(shape) + 1,), 0, 250, torch.int64).to(dtype)
    numbers[0] = 0
    _memory, x = draw.lay(numbers[1:].view(shape))
    dimension, count = chance.randrange(len(shape)), chance.randint(1, 9)
    positions = torch.arange(1, len(numbers)).view(shape)
    case = f"{name}, {shape}, {form}, {dimension} {count}, {', '.join(draw.conditions)}"
    with draws.cases.offered(f"{name}, {form}"):
        # The position of a number that is not copied is 0, like the number.
        expected = numbers[MOVES[name](positions, dimension, count).to(draw.device)]
        draws.compare(case, MOVES[name](x, dimension, count), expected)
