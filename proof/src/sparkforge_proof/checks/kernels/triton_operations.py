"""Check the operations of Triton's language one by one, on whole numbers, whose results are exact."""

from __future__ import annotations

import functools
import random
import re
import typing as t

from ..._shared.module_utils._core import versions
from ...check import H200S_LATER, Context, Measured, Skipped, check
from ..bounds import Cases, torch
from .triton_kernels import TABLES, WRONG, installed, load_kernels, result_of

#: The programs by table, each the statements of its kernel and its result in torch.
PROGRAMS = {
    table: [line.split(" :: ") for line in TABLES[table].strip().splitlines()]
    for table in ("blocks", "wide blocks", "products")
}
#: By table, what is drawn for a launch: rows, columns, warps, steps, and the range of numbers.
SHAPES: dict[str, tuple[tuple[t.Any, ...], ...]] = {
    "blocks": ((2, 16, 64), (4, 32, 128), *(_LAUNCHES := ((1, 2, 4, 8), (1, 2, 3, 5))), ((-8, 8),)),
    "columns": ((16, 64), (1,), *_LAUNCHES, ((-8, 8),)), "rows": ((1,), (128, 256), *_LAUNCHES, ((-8, 8),)),
    "wide blocks": ((8, 32), (8, 64, 128), *_LAUNCHES, ((-8, 8),)),
    "products": ((32, 64), (32, 64, 128), *_LAUNCHES, ((-1, 2),)),
}  # fmt: skip
#: The number of blocks, and of launches of each program in a full proof.
BLOCKS, DRAWN_IN_FULL = 40, 8


class Launch(t.NamedTuple):
    """A program with what is drawn for it; see ``SHAPES``."""

    text: str
    expression: str
    rows: int
    columns: int
    warps: int
    steps: int
    numbers: tuple[int, int]


def source() -> str:
    """Return the source of all kernels, in the order of their programs."""
    kernels = []
    for number, (text, _result) in enumerate(program for table in PROGRAMS.values() for program in table):
        stored = text + "; tl.store(Z + tl.arange(0, N), tl.reshape(z, (N,)))" * ("z = " in text)
        kernels.append(TABLES["kernel"].format(number=number, statements=re.sub("; ", "\n    ", stored)))
    return "".join(kernels)


def first(mask: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the position of the first element that is true."""
    return mask.long().cumsum(dim).eq(0).sum(dim)


def affine(x: torch.Tensor, y: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the scan of affine functions, three times the factor plus the constant, modulo 2^32."""
    factor, constant, results = torch.ones_like(x.select(dim, 0)), torch.zeros_like(x.select(dim, 0)), []
    for a, b in zip(x.unbind(dim), y.unbind(dim)):
        factor, constant = (factor * a).int(), (constant * a + b).int()
        results.append(factor * 3 + constant)
    return torch.stack(results, dim)


@check("triton.operations", seconds=300, steps=True, measured=H200S_LATER, factor=1)
def operations(context: Context) -> Measured:
    """Check reductions, scans, sorts, products, atomic operations and copies that Triton compiles.

    The shapes of the blocks and the numbers of warps change every day. Each program runs in 40 blocks at once.
    """
    triton = installed()
    release = triton.__version__
    if versions.numbers(release) < (3, 4):
        raise Skipped(f"Triton {release} lacks operations, for some of which its compiler ends the process.")
    # Descriptors of tensors need memory.
    triton.set_allocator(lambda size, *_others: torch.empty(size, dtype=torch.int8, device=context.device))
    cases, launched, number = Cases("an operation in Triton", WRONG), list[t.Any](), 0
    kernels = load_kernels(source())
    for table, programs in PROGRAMS.items():
        for text, expression in programs:
            kernel, number = kernels[f"kernel_{number}"], number + 1
            if text in context.passed_over:
                continue
            context.step(text)
            drawing = random.Random(f"{context.seed} {text}")  # noqa: S311 - the choice need not be secret
            # Programs that take blocks of any shape also take a single column or row, in a default run one of the two.
            thin = ["columns", "rows"] if table == "blocks" else []
            thin = thin if context.full else thin[(context.seed + number) % 2 :][:1]
            for shape in [table, *thin] * (DRAWN_IN_FULL if context.full else 1):
                case = Launch(text, expression, *(drawing.choice(values) for values in SHAPES[shape]))
                launched += _compare(cases, context, kernel, case)
    return result_of(cases, launched)


def _compare(cases: Cases, context: Context, kernel: t.Any, launch: Launch) -> list[t.Any]:
    """Compare a launch of a kernel with its result in torch; return the compiled kernel if Triton compiles it."""
    generator, shape = context.generator(f"{context.seed} {launch}"), (BLOCKS, launch.rows, launch.columns)
    x, y = (torch.randint(*launch.numbers, shape, generator=generator) for _block in range(2))
    names = {"torch": torch, "functools": functools, "first": first, "affine": affine, "x": x, "y": y}
    names |= {"j": torch.arange(shape[1] * shape[2]).view(shape[1:]), "steps": launch.steps}
    expected = eval(launch.expression, names)  # noqa: S307 - the table is the only source
    actual = torch.zeros(expected.shape, dtype=torch.int32, device=context.device)
    inputs = [block.to(context.device, torch.int32) for block in (x, y)]
    options = {"R": shape[1], "C": shape[2], "N": expected[0].numel(), "num_warps": launch.warps}
    case = f"{launch.text}, {shape[1]} x {shape[2]}, {launch.warps} warps"
    try:
        compiled = kernel[(BLOCKS,)](*inputs, actual, *[launch.steps] * 3, **options)
    except Exception as error:
        if "CUDA error" in str(error) or "illegal" in str(error):
            raise
        # Older versions lack some operations and formats.
        cases.refused.setdefault(case, " ".join(str(error).split())[:120])
        return []
    cases.exactly(case, actual, expected.int())
    return [compiled]
