"""Check the direct solution of a sparse system by cuDSS.

It is judged by its residual in float64: the exact solution of a nearby problem is right, however ill-conditioned the
problem is.
"""

from __future__ import annotations

from ...check import Context, Measured, Skipped, check
from ..bounds import UNIT_ROUNDOFF, Cases, gamma, one_thread, torch

SIDE = 32


def convection(side: int) -> torch.Tensor:
    """Return a diffusion with drift on a grid of ``side`` x ``side`` points: 5 on the diagonal, at most 4 off it.

    It is asymmetric, so that a solver that confuses rows with columns is detected.
    """
    ones, eye = torch.ones(side - 1, dtype=torch.float64), torch.eye(side, dtype=torch.float64)
    along, across = (torch.diag(before * ones, -1) + torch.diag(after * ones, 1)
                     for before, after in ((-1.5, -0.5), (-1.25, -0.75)))  # fmt: skip
    return torch.kron(eye, along + 5 * eye) + torch.kron(across, eye)


_DIRECT_REMEDY = (
    "Install the stack's cuDSS (playbooks/libraries.yml) and remove older copies from the loader's path: cuDSS 0.8 "
    "changed its interface but kept the name libcudss.so.0."
)


@check("linalg.sparse_direct")
def sparse_direct(context: Context) -> Measured:
    """Check a sparse direct solution by cuDSS, which torch.sparse.spsolve calls if torch is built with it.

    The off-diagonal magnitudes in a column of the matrix A sum to at most 4/5 of the diagonal element. Eliminating in
    any order that keeps the diagonal then gives |L|_1 <= 1 + 4/5 and |U|_1 <= |A|_1 / (1 - 4/5), because the column
    sums of the remaining matrix fall by 1/5 of the part that goes into U. By Higham's theorem 9.4, |b - A x|_1 <=
    g(3 n) 9 |A|_1 |x|_1 in float64: below 1e-7, while an error of 3 per cent leaves 1e-2.
    """
    with one_thread():
        exact = convection(SIDE)
        right = torch.randn(len(exact), generator=context.generator("linalg sparse direct"), dtype=torch.float64)
        rows = exact.to_sparse_csr()
    indices = rows.crow_indices().int(), rows.col_indices().int()
    matrix = torch.sparse_csr_tensor(*indices, rows.values(), size=rows.shape).to(context.device)
    try:
        x = torch.sparse.spsolve(matrix, right.to(context.device)).cpu()
    except RuntimeError as error:
        # Before 2.16, torch has no flag for this.
        if "cuDSS" in str(error) and "compiling" in str(error):
            raise Skipped("This torch is built without cuDSS, which it needs to solve sparse systems.") from error
        raise
    cases = Cases("the sparse solution by cuDSS", _DIRECT_REMEDY)
    bound = gamma(3 * len(x), UNIT_ROUNDOFF["float64"]) * 9 * exact.abs().sum(0).max() * x.abs().sum()
    cases.compare(f"{len(x)} unknowns, float64", exact @ x, right, bound)
    return cases.result()
