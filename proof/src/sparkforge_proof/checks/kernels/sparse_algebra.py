# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sparse linear algebra: a direct solution by cuDSS, products by cuSPARSE.

A solution is judged by its residual, computed in float64, for one that solves a problem next to the given one is right
whatever the condition of the problem is.
"""

from __future__ import annotations

import typing as t

from ...check import SEEN_ARM, Context, Measured, Skipped, check
from ..bounds import UNIT_ROUNDOFF, Cases, gamma, gradients, name_of, one_thread, torch


class Sparse(t.NamedTuple):
    """A square matrix in compressed sparse rows."""

    rows: list[int]
    columns: list[int]
    values: list[float]


def convection(side: int) -> Sparse:
    """Return a diffusion with a drift on a grid of ``side`` x ``side`` points: 5 on the diagonal, at most 4 beside it.

    It is not symmetric, so that a solver that takes rows for columns is found.
    """
    rows, columns, values = [0], [], []
    for y in range(side):
        for x in range(side):
            for dy, dx, value in ((-1, 0, -1.25), (0, -1, -1.5), (0, 0, 5.0), (0, 1, -0.5), (1, 0, -0.75)):
                if 0 <= y + dy < side and 0 <= x + dx < side:
                    columns.append((y + dy) * side + x + dx)
                    values.append(value)
            rows.append(len(columns))
    return Sparse(rows, columns, values)


_DIRECT_REMEDY = (
    "Install the stack's cuDSS (playbooks/libraries.yml) and remove older copies from the loader's path: cuDSS 0.8 "
    "changed its interface but kept the name libcudss.so.0."
)


@check("linalg.sparse_direct")
def sparse_direct(context: Context) -> Measured:
    """A sparse direct solution through cuDSS, which torch.sparse.spsolve calls where torch is built with it.

    4096 unknowns, a matrix A in whose columns the elements beside the diagonal are at most 4/5 of it. Elimination in
    any order that keeps the diagonal then has |L|_1 <= 1 + 4/5 and |U|_1 <= |A|_1 / (1 - 4/5), because the sum of a
    column of what is left to eliminate falls by 1/5 of what goes into U. So |b - A x|_1 <= g(3 n) 9 |A|_1 |x|_1 with
    Higham's theorem 9.4, in float64: below 1e-6, where an element that is 3 per cent off leaves 1e-2.
    """
    side = 64
    with one_thread():
        system = convection(side)
        rows, columns = (torch.tensor(x, dtype=torch.int32) for x in (system.rows, system.columns))
        values = torch.tensor(system.values, dtype=torch.float64)
        right = torch.randn(side * side, generator=context.generator("linalg sparse direct"), dtype=torch.float64)
    size = (side * side, side * side)
    matrix = torch.sparse_csr_tensor(rows, columns, values, size=size).to(context.device)
    try:
        x = torch.sparse.spsolve(matrix, right.to(context.device))
    except RuntimeError as error:
        # No flag of torch says so before 2.16.
        if "cuDSS" in str(error) and "compiling" in str(error):
            raise Skipped("This torch is built without cuDSS, by which alone it solves sparse systems.") from error
        raise
    cases = Cases("the sparse solution by cuDSS", _DIRECT_REMEDY)
    _residual(cases, system, x, right)
    return cases.result()


def _residual(cases: Cases, system: Sparse, result: torch.Tensor, right: torch.Tensor) -> None:
    x = result.to("cpu", torch.float64)
    count = right.numel()
    rows = torch.repeat_interleave(torch.arange(count), torch.tensor(system.rows).diff())
    columns, values = torch.tensor(system.columns), torch.tensor(system.values, dtype=torch.float64)
    product = torch.zeros(count, dtype=torch.float64).index_add_(0, rows, values * x[columns])
    norm = torch.zeros(count, dtype=torch.float64).index_add_(0, columns, values.abs()).max()
    bound = gamma(3 * count, UNIT_ROUNDOFF["float64"]) * 9 * norm * x.abs().sum()
    cases.compare(f"{count} unknowns, float64", product, right, bound)


@check("linalg.sparse_product", devices=("cuda", "cpu"), measured=SEEN_ARM)
def sparse_product(context: Context) -> Measured:
    """Products of a sparse and a dense matrix: cuSPARSE, on the CPU MKL or torch's own; backward too.

    Bound: g(k + 2) |A| |B|, k being the number of elements in the longest row or, backward, column.
    """
    cases = Cases(
        "the product of a sparse and a dense matrix",
        "Check that libcusparse is the one that torch was built with (checks of family identity), or use another "
        "stack.",
    )
    rows, columns, width = 301, 257, 33
    for dtype in (torch.float64, torch.float32):
        name, unit = name_of(dtype), UNIT_ROUNDOFF[name_of(dtype)]
        generator = context.generator(f"linalg sparse product {name}")
        matrix = torch.randn(rows, columns, generator=generator, dtype=dtype)
        matrix = matrix * (torch.rand(rows, columns, generator=generator) < 0.05)
        # Rows of very different lengths are what kernels balance, and an empty one what they forget.
        matrix[7], matrix[11] = 0, torch.randn(columns, generator=generator, dtype=dtype)
        dense = torch.randn(columns, width, generator=generator, dtype=dtype)
        upstream = torch.randn(rows, width, generator=generator, dtype=dtype)
        a, b, g = matrix.double(), dense.double(), upstream.double()
        length = int((matrix != 0).sum(1).max())
        exact, bound = a @ b, gamma(length + 2, unit) * (a.abs() @ b.abs())
        rows_first = matrix.to_sparse_csr().to(context.device)
        moved = dense.to(context.device)
        cases.compare(f"compressed rows, {name}", rows_first @ moved, exact, bound)
        cases.compare(f"compressed rows, {name}, one vector", rows_first @ moved[:, 0], exact[:, 0], bound[:, 0])
        pairs = matrix.to_sparse_coo().to(context.device)
        leaf = moved.clone().requires_grad_()
        result = torch.sparse.mm(pairs, leaf)
        cases.compare(f"pairs of indices, {name}", result, exact, bound)
        (gradient,) = gradients(result, (leaf,), upstream.to(context.device))
        longest = int((matrix != 0).sum(0).max())
        cases.compare(
            f"pairs of indices, {name}, backward",
            gradient,
            a.T @ g,
            gamma(longest + 2, unit) * (a.T.abs() @ g.abs()),
        )
    return cases.result()
