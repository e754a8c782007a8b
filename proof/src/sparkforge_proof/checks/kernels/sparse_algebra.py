"""Check sparse linear algebra: a direct solution by cuDSS, and products by cuSPARSE.

A solution is judged by its residual in float64: the exact solution of a nearby problem is right, however
ill-conditioned the problem is.
"""

from __future__ import annotations

import typing as t

from ...check import SEEN_ARM, Context, Measured, Skipped, check
from ..bounds import UNIT_ROUNDOFF, Cases, gamma, name_of, one_thread, torch


class Sparse(t.NamedTuple):
    """A square matrix in compressed sparse rows."""

    rows: list[int]
    columns: list[int]
    values: list[float]


def convection(side: int) -> Sparse:
    """Return a diffusion with drift on a grid of ``side`` x ``side`` points: 5 on the diagonal, at most 4 off it.

    It is asymmetric, so that a solver that confuses rows with columns is detected.
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
    """Check a sparse direct solution by cuDSS, which torch.sparse.spsolve calls if torch is built with it.

    The matrix A has 4096 unknowns, and the off-diagonal magnitudes in a column sum to at most 4/5 of the diagonal
    element. Eliminating in any order that keeps the diagonal then gives |L|_1 <= 1 + 4/5 and |U|_1 <= |A|_1 / (1 -
    4/5), because the column sums of the remaining matrix fall by 1/5 of the part that goes into U. By Higham's theorem
    9.4, |b - A x|_1 <= g(3 n) 9 |A|_1 |x|_1 in float64: below 1e-6, while an error of 3 per cent leaves 1e-2.
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
        # Before 2.16, torch has no flag for this.
        if "cuDSS" in str(error) and "compiling" in str(error):
            raise Skipped("This torch is built without cuDSS, which it needs to solve sparse systems.") from error
        raise
    cases = Cases("the sparse solution by cuDSS", _DIRECT_REMEDY)
    _compare_residual(cases, system, x, right)
    return cases.result()


def _compare_residual(cases: Cases, system: Sparse, result: torch.Tensor, right: torch.Tensor) -> None:
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
    """Check products of a compressed and a dense matrix by cuSPARSE, or on the CPU by MKL or torch itself.

    ``layouts.sparse`` covers pairs of indices and gradients. Bound: g(k + 2) |A| |B|, with k the number of elements in
    the longest row.
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
        # Kernels balance rows of very different lengths, and may miss an empty one.
        matrix[7], matrix[11] = 0, torch.randn(columns, generator=generator, dtype=dtype)
        dense = torch.randn(columns, width, generator=generator, dtype=dtype)
        a, b = matrix.double(), dense.double()
        length = int((matrix != 0).sum(1).max())
        exact, bound = a @ b, gamma(length + 2, unit) * (a.abs() @ b.abs())
        compressed = matrix.to_sparse_csr().to(context.device)
        on_device = dense.to(context.device)
        cases.compare(f"compressed rows, {name}", compressed @ on_device, exact, bound)
        cases.compare(f"compressed rows, {name}, one vector", compressed @ on_device[:, 0], exact[:, 0], bound[:, 0])
    return cases.result()
