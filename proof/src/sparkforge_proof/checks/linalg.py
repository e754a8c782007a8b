# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Linear algebra beyond products: LAPACK, cuSOLVER, cuDSS, cuSPARSE and cuFFT.

Factorisations and solutions are judged by their residual, computed in float64, for a result that solves a problem next
to the given one is right whatever the condition of the problem is. Problems are chosen so that a bound can be proven.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import math
import os
import re
import typing as t

from ..check import ABSENT, CRASH, H200, X86, Context, Measured, Skipped, Unanswered, check
from .bounds import UNIT_ROUNDOFF, Cases, gamma, gradients, name_of, one_thread

if t.TYPE_CHECKING:
    import torch

#: Where LAPACK's own tests say that something is wrong (LAPACK Working Note 41, section 6: "threshold 30").
LAPACK_THRESHOLD = 30.0
#: By what a solver may be worse that multiplies by the inverse of a block on the diagonal instead of substituting: the
#: condition number of a block, which for the matrices here is at most 18.
_INVERTED_BLOCKS = 18.0
#: Of a column: the sum of the magnitudes beside the diagonal by the magnitude on it.
_DOMINANCE = 0.499


def libraries(configuration: str, maps: str) -> str:
    """Say which BLAS and LAPACK torch is linked to.

    :param configuration: ``torch.__config__.show()``.
    :param maps: ``/proc/self/maps``.
    """
    found = []
    for key in ("BLAS_INFO", "LAPACK_INFO"):
        match = re.search(rf"\b{key}=([^,\s]+)", configuration)
        found.append(f"{key.partition('_')[0]} {match[1] if match else 'unnamed'}")
    names = {os.path.basename(line.rpartition(" ")[2]) for line in maps.splitlines() if ".so" in line}
    known = re.compile(r"lib(nvpl_(blas|lapack)|openblas|mkl_|blas|lapack|blis|armpl|flexiblas)")
    mapped = sorted(name for name in names if known.match(name))
    return ", ".join(found) + (f" ({', '.join(mapped)})" if mapped else "")


def _maps() -> str:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


class Dominant(t.NamedTuple):
    """A matrix whose factors are known: each column's largest element is at least twice the sum of the others.

    ``magnitudes`` is |P L| |U| in float64. Elimination with partial pivoting must choose those elements as pivots.
    """

    matrix: torch.Tensor
    magnitudes: torch.Tensor
    transposed: torch.Tensor


def dominant(generator: torch.Generator, size: int, dtype: torch.dtype) -> Dominant:
    """Draw such a matrix, with its rows in random order, and eliminate it in float64, without any library."""
    import torch

    matrix = torch.randn(size, size, generator=generator, dtype=torch.float64)
    matrix.fill_diagonal_(0)
    diagonal = (1 + torch.rand(size, generator=generator, dtype=torch.float64)) * (
        torch.randint(0, 2, (size,), generator=generator) * 2 - 1
    )
    matrix = matrix * (_DOMINANCE * diagonal.abs() / matrix.abs().sum(0)) + torch.diag(diagonal)
    matrix = matrix.to(dtype).double()
    upper, lower = matrix.clone(), torch.eye(size, dtype=torch.float64)
    for step in range(size - 1):
        lower[step + 1 :, step] = upper[step + 1 :, step] / upper[step, step]
        upper[step + 1 :, step:] -= torch.outer(lower[step + 1 :, step], upper[step, step:])
    lower, upper = lower.abs(), upper.triu().abs()
    order = torch.randperm(size, generator=generator)
    return Dominant(matrix[order].to(dtype), (lower @ upper)[order], (upper.T @ lower.T)[:, order])


def _solve(context: Context, cases: Cases, dtype: torch.dtype, size: int) -> None:
    """A X = B and its gradients.

    Elimination: |B - A X| <= g(3 n) |L| |U| |X| (Higham, theorem 9.4), g(k) = k u / (1 - k u). The gradient of B solves
    A^T dB = G by the same factors; that of A is -dB X^T, a product of length 2.
    """
    import torch

    name, unit = name_of(dtype), UNIT_ROUNDOFF[name_of(dtype)]
    generator = context.generator(f"linalg solve {name} {size}")
    with one_thread():
        given = dominant(generator, size, dtype)
        right, upstream = (torch.randn(size, 2, generator=generator, dtype=dtype) for _unused in range(2))
    matrix = given.matrix.to(context.device, copy=True).requires_grad_()
    sides = right.to(context.device, copy=True).requires_grad_()
    result = torch.linalg.solve(matrix, sides)
    of_matrix, of_sides = gradients(result, (matrix, sides), upstream.to(context.device))
    x, da, db = (y.detach().to("cpu", torch.float64) for y in (result, of_matrix, of_sides))
    factor = _INVERTED_BLOCKS * gamma(3 * size, unit)
    exact = given.matrix.double()
    cases.compare(f"solve, {name}, {size} unknowns", exact @ x, right.double(), factor * (given.magnitudes @ x.abs()))
    off = factor * (given.transposed @ db.abs())
    cases.compare(f"solve, {name}, backward of the right hand side", exact.T @ db, upstream.double(), off)
    cases.compare(f"solve, {name}, backward of the matrix", da, -(db @ x.T), gamma(4, unit) * (db.abs() @ x.abs().T))


def _cholesky(context: Context, cases: Cases, dtype: torch.dtype, size: int) -> None:
    """A = L L^T: |A - L L^T|_ij <= g(n + 1) sqrt(a_ii a_jj) (Higham, theorem 10.3 and (10.7))."""
    import torch

    name, unit = name_of(dtype), UNIT_ROUNDOFF[name_of(dtype)]
    generator = context.generator(f"linalg cholesky {name} {size}")
    with one_thread():
        square = torch.randn(size, size, generator=generator, dtype=torch.float64)
        matrix = (square @ square.T / size + torch.eye(size)).to(dtype)
        matrix = torch.tril(matrix) + torch.tril(matrix, -1).T
    factor = torch.linalg.cholesky(matrix.to(context.device)).to("cpu", torch.float64)
    root = matrix.double().diagonal().sqrt()
    bound = _INVERTED_BLOCKS * gamma(size + 1, unit) * torch.outer(root, root)
    cases.compare(f"cholesky, {name}", factor @ factor.T, matrix.double(), bound)
    cases.exactly(f"cholesky, {name}, above the diagonal", factor.triu(1), torch.zeros(size, size))
    cases.exactly(f"cholesky, {name}, signs", factor.diagonal().sign(), torch.ones(size))


def _decompositions(context: Context, cases: Cases, dtype: torch.dtype, rows: int, columns: int) -> None:
    """A = Q R, A = U S V^T and A = V W V^T, with orthogonal Q, U and V.

    Orthogonal transformations are backward stable (Higham, theorem 19.4), with a constant that theory overstates. The
    bound is the one at which LAPACK's own tests call a result wrong: 30 n u, for the residual by the norm of the
    matrix and for Q^T Q - 1, n being the longer side. Values are compared with those in float64 (Weyl: singular values
    and eigenvalues move by no more than the norm of the error).
    """
    import torch

    name = name_of(dtype)
    allowed = LAPACK_THRESHOLD * rows * UNIT_ROUNDOFF[name]
    generator = context.generator(f"linalg decompositions {name} {rows}")
    matrix = torch.randn(rows, columns, generator=generator, dtype=dtype)
    symmetric = torch.randn(columns, columns, generator=generator, dtype=dtype)
    symmetric = torch.tril(symmetric) + torch.tril(symmetric, -1).T
    exact, exact_symmetric = matrix.double(), symmetric.double()
    with one_thread():
        values, eigenvalues = torch.linalg.svdvals(exact), torch.linalg.eigvalsh(exact_symmetric)
    one = torch.eye(columns, dtype=torch.float64)

    def fetch(*tensors: torch.Tensor) -> list[torch.Tensor]:
        return [x.to("cpu", torch.float64) for x in tensors]

    def bound(scale: float | torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(allowed * scale, dtype=torch.float64)

    q, r = fetch(*torch.linalg.qr(matrix.to(context.device)))
    cases.compare(f"qr, {name}", q @ r, exact, bound(torch.linalg.vector_norm(exact, dim=0)))
    cases.compare(f"qr, {name}, Q is orthogonal", q.T @ q, one, bound(1.0))
    cases.exactly(f"qr, {name}, below the diagonal", r.tril(-1), torch.zeros(columns, columns))

    u, s, v = fetch(*torch.linalg.svd(matrix.to(context.device), full_matrices=False))
    norm = float(values.max())
    cases.compare(f"svd, {name}", (u * s) @ v, exact, bound(norm))
    cases.compare(f"svd, {name}, U is orthogonal", u.T @ u, one, bound(1.0))
    cases.compare(f"svd, {name}, V is orthogonal", v @ v.T, one, bound(1.0))
    cases.compare(f"svd, {name}, singular values", s, values, bound(norm))

    w, z = fetch(*torch.linalg.eigh(symmetric.to(context.device)))
    norm = float(eigenvalues.abs().max())
    cases.compare(f"eigh, {name}", (z * w) @ z.T, exact_symmetric, bound(norm))
    cases.compare(f"eigh, {name}, vectors are orthogonal", z.T @ z, one, bound(1.0))
    cases.compare(f"eigh, {name}, eigenvalues", w, eigenvalues, bound(norm))


def _least_squares(context: Context, cases: Cases, dtype: torch.dtype, driver: str, rows: int, columns: int) -> None:
    """min |b - A x|: x is exact for A + dA and b + db with |dA| <= c |A| and |db| <= c |b| (Higham, theorem 20.3).

    So A^T (b - A x) = 0 is off by at most c |A| (2 |r| + |b| + |A| |x|) to first order; c = 30 n u as above, and the
    norms are Euclidean.
    """
    import torch

    name = name_of(dtype)
    generator = context.generator(f"linalg lstsq {name} {driver}")
    matrix = torch.randn(rows, columns, generator=generator, dtype=dtype)
    side = torch.randn(rows, 1, generator=generator, dtype=dtype)
    found = torch.linalg.lstsq(matrix.to(context.device), side.to(context.device), driver=driver)
    x = found.solution.to("cpu", torch.float64)
    a, b = matrix.double(), side.double()
    rest = b - a @ x
    norm = torch.linalg.matrix_norm(a, 2)
    bound = LAPACK_THRESHOLD * rows * UNIT_ROUNDOFF[name] * norm
    bound = bound * (2 * rest.norm() + b.norm() + norm * x.norm())
    cases.compare(f"lstsq by {driver}, {name}", a.T @ rest, torch.zeros(columns, 1, dtype=torch.float64), bound)


@check("linalg.lapack", devices=("cpu",), measured=(X86,))
def lapack(context: Context) -> Measured:
    """Dense solutions and decompositions on the CPU, through whichever BLAS and LAPACK torch is linked to.

    Bounds: Higham's backward errors for elimination and Cholesky's factor, LAPACK's own threshold for the rest; see
    the functions that compute them.
    """
    import torch

    cases = Cases(
        "linear algebra on the CPU",
        "Run playbooks/libraries.yml for NVPL and rebuild torch against it, or use a stack whose wheel includes BLAS "
        "and LAPACK.",
    )
    if not torch._C.has_lapack:
        raise Unanswered(
            ABSENT,
            "This torch is built without LAPACK.",
            "Run playbooks/libraries.yml for NVPL and rebuild torch.",
            "no LAPACK",
            "LAPACK",
        )
    # With as many threads as torch has, and with one.
    for dtype, threads in ((torch.float64, contextlib.nullcontext()), (torch.float32, one_thread())):
        with threads:
            _solve(context, cases, dtype, 96)
            _cholesky(context, cases, dtype, 96)
            _decompositions(context, cases, dtype, 110, 96)
            for driver in ("gels", "gelsy", "gelsd"):
                _least_squares(context, cases, dtype, driver, 110, 40)
    result = cases.result()
    result.measured += f"; {libraries(torch.__config__.show(), _maps())}"
    return result


@check("linalg.solve", measured=(H200,))
def solve(context: Context) -> Measured:
    """Dense solutions and decompositions on the GPU: cuSOLVER, or MAGMA where torch has and prefers it.

    Bounds: Higham's backward errors for elimination and Cholesky's factor, LAPACK's own threshold for the rest; see
    the functions that compute them.
    """
    import torch

    cases = Cases(
        "linear algebra on the GPU",
        "Check that libcusolver and libcublas are those that torch was built with (checks of family identity), or use "
        "another stack.",
    )
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        for dtype in (torch.float64, torch.float32):
            _solve(context, cases, dtype, 192)
            _cholesky(context, cases, dtype, 192)
            _decompositions(context, cases, dtype, 160, 128)
    finally:
        torch.set_float32_matmul_precision(before)
    result = cases.result()
    magma = "with" if torch.cuda.has_magma else "without"
    result.measured += f"; CUDA {torch.version.cuda}, {magma} MAGMA"
    return result


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


#: Of cudss.h: what is the same in every version from 0.7 to 1.0.
_ANALYSIS, _FACTORIZATION, _SOLVE = 3, 4, 1008
_FLOAT64, _INT32 = 1, 10
_STATUS = (
    "success",
    "not initialised",
    "out of memory",
    "invalid value",
    "not supported",
    "execution failed",
    "internal error",
    "iterative refinement failed",
)
_DIRECT_REMEDY = (
    "Install the stack's cuDSS (playbooks/libraries.yml) and remove older copies from the loader's path: cuDSS 0.8 "
    "changed its interface but kept the name libcudss.so.0."
)


def csr_types(version: tuple[int, int, int]) -> list[int]:
    """Return the types of ``cudssMatrixCreateCsr``: 0.8 put one for row offsets before those of columns and values."""
    return [_INT32, _INT32, _FLOAT64] if version >= (0, 8, 0) else [_INT32, _FLOAT64]


class Cudss:
    """The C interface of cuDSS.

    :param path: what to open.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.library = ctypes.CDLL(path)
        numbers = []
        for part in range(3):
            number = ctypes.c_int(-1)
            self._call("cudssGetProperty", ctypes.c_int(part), ctypes.byref(number))
            numbers.append(number.value)
        self.version = (numbers[0], numbers[1], numbers[2])

    def __str__(self) -> str:
        return f"cuDSS {'.'.join(map(str, self.version))} ({self.path})"

    def _call(self, name: str, *arguments: t.Any) -> None:
        function = getattr(self.library, name, None)
        if function is None:
            raise Unanswered(ABSENT, f"{self.path} has no function {name}.", _DIRECT_REMEDY, "missing", name)
        function.restype = ctypes.c_int
        status = function(*arguments)
        if status:
            said = _STATUS[status] if 0 < status < len(_STATUS) else "unknown"
            raise Unanswered(
                CRASH,
                f"{name} of {self.path} returns status {status} ({said}).",
                _DIRECT_REMEDY,
                f"status {status}",
                "0",
            )

    def _create(self, name: str, *before: t.Any) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self._call(name, *before, ctypes.byref(made))
        return made

    def solve(
        self, rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, side: torch.Tensor
    ) -> torch.Tensor:
        """Solve with a general matrix; int32 and float64 tensors on the device."""
        import torch

        count = side.numel()
        result = torch.zeros_like(side)
        undo: list[tuple[str, tuple[t.Any, ...]]] = []
        integers = [ctypes.c_int64(x) for x in (count, count, values.numel())]
        pointers = [ctypes.c_void_p(x.data_ptr()) for x in (rows, columns, values)]

        def dense(tensor: torch.Tensor) -> ctypes.c_void_p:
            made = ctypes.c_void_p()
            shape = [ctypes.c_int64(x) for x in (count, 1, count)]
            end = [ctypes.c_void_p(tensor.data_ptr()), ctypes.c_int(_FLOAT64), ctypes.c_int(0)]
            self._call("cudssMatrixCreateDn", ctypes.byref(made), *shape, *end)
            undo.append(("cudssMatrixDestroy", (made,)))
            return made

        try:
            handle = self._create("cudssCreate")
            undo.append(("cudssDestroy", (handle,)))
            config = self._create("cudssConfigCreate")
            undo.append(("cudssConfigDestroy", (config,)))
            data = self._create("cudssDataCreate", handle)
            undo.append(("cudssDataDestroy", (handle, data)))
            matrix = ctypes.c_void_p()
            # Behind the types: a general matrix, all of it, counted from 0.
            kinds = [ctypes.c_int(x) for x in (*csr_types(self.version), 0, 0, 0)]
            row_ends = ctypes.c_void_p()
            self._call(
                "cudssMatrixCreateCsr", ctypes.byref(matrix), *integers, pointers[0], row_ends, *pointers[1:], *kinds
            )
            undo.append(("cudssMatrixDestroy", (matrix,)))
            unknown, right = dense(result), dense(side)
            for phase in (_ANALYSIS, _FACTORIZATION, _SOLVE):
                self._call("cudssExecute", handle, ctypes.c_int(phase), config, data, matrix, unknown, right)
            if result.is_cuda:
                torch.cuda.synchronize()
        finally:
            for name, arguments in reversed(undo):
                getattr(self.library, name)(*arguments)
        return result


def cudss_candidates(directories: t.Iterable[str]) -> list[str]:
    """Return the libraries of cuDSS that lie in directories, in their order, the newest of each first."""
    found: list[str] = []
    for directory in directories:
        for path in sorted(glob.glob(os.path.join(glob.escape(directory), "libcudss.so.[0-9]*")), reverse=True):
            if re.fullmatch(r"libcudss\.so\.\d+", os.path.basename(path)) and path not in found:
                found.append(path)
    return found


def _open_cudss(context: Context) -> Cudss:
    """Open cuDSS where the environment has it, or else where the loader finds it.

    :raises Skipped: it is nowhere.
    :raises Unanswered: it is there and does not load, or is too old for CUDA 13.
    """
    receipt = context.reference.get("receipt") or {}
    import torch

    site = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    directories = [str(path) for path in receipt.get("library_paths") or ()]
    directories += [os.path.join(site, "nvidia", part, "lib") for part in ("cu13", "cudss")]
    directories.append(os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "lib"))
    library = None
    for path in cudss_candidates(directories) + ["libcudss.so.0", "libcudss.so.1"]:
        try:
            library = Cudss(path)
            break
        except OSError as error:
            # The loader names the library that it misses: itself where it is nowhere, another where it is incomplete.
            if "/" not in path and str(error).startswith(f"{path}:"):
                continue
            said = " ".join(str(error).split())[:300].rstrip(".")
            raise Unanswered(
                ABSENT, f"{path} does not load: {said}.", _DIRECT_REMEDY, "does not load", "loads"
            ) from error
    if library is None:
        raise Skipped(
            "torch is built without cuDSS, and neither the environment nor the loader has libcudss.so.0 or .1."
        )
    if library.version < (0, 7, 0):
        raise Unanswered(
            ABSENT,
            f"{library} is older than 0.7, the first for CUDA 13.",
            _DIRECT_REMEDY,
            ".".join(map(str, library.version)),
            "0.7 or newer",
        )
    return library


def _torch_has_cudss() -> bool:
    """Return whether torch can solve sparse systems; no flag of torch says so before 2.16."""
    import torch

    one = torch.eye(2, dtype=torch.float64, device="cuda").to_sparse_csr()
    try:
        torch.sparse.spsolve(one, torch.ones(2, dtype=torch.float64, device="cuda"))
    except RuntimeError as error:
        if "cuDSS" in str(error) and "compiling" in str(error):
            return False
        raise
    return True


@check("linalg.sparse_direct")
def sparse_direct(context: Context) -> Measured:
    """A sparse direct solution through cuDSS: by torch.sparse.spsolve where torch has it, else by its C interface.

    4096 unknowns, a matrix A in whose columns the elements beside the diagonal are at most 4/5 of it. Elimination in
    any order that keeps the diagonal then has |L|_1 <= 1 + 4/5 and |U|_1 <= |A|_1 / (1 - 4/5), because the sum of a
    column of what is left to eliminate falls by 1/5 of what goes into U. So |b - A x|_1 <= g(3 n) 9 |A|_1 |x|_1 with
    Higham's theorem 9.4, in float64: below 1e-6, where an element that is 3 per cent off leaves 1e-2.
    """
    import torch

    side = 64
    with one_thread():
        system = convection(side)
        rows, columns = (torch.tensor(x, dtype=torch.int32) for x in (system.rows, system.columns))
        values = torch.tensor(system.values, dtype=torch.float64)
        right = torch.randn(side * side, generator=context.generator("linalg sparse direct"), dtype=torch.float64)
    on_device = [x.to(context.device) for x in (rows, columns, values, right)]
    if _torch_has_cudss():
        size = (side * side, side * side)
        matrix = torch.sparse_csr_tensor(on_device[0], on_device[1], on_device[2], size=size)
        x, by = torch.sparse.spsolve(matrix, on_device[3]), "torch.sparse.spsolve"
    else:
        library = _open_cudss(context)
        x, by = library.solve(*on_device), str(library)
    cases = Cases(f"the sparse solution by {by}", _DIRECT_REMEDY)
    _residual(cases, system, x, right)
    result = cases.result()
    result.measured += f"; {by}"
    return result


def _residual(cases: Cases, system: Sparse, result: torch.Tensor, right: torch.Tensor) -> None:
    import torch

    x = result.to("cpu", torch.float64)
    count = right.numel()
    rows = torch.repeat_interleave(torch.arange(count), torch.tensor(system.rows).diff())
    columns, values = torch.tensor(system.columns), torch.tensor(system.values, dtype=torch.float64)
    product = torch.zeros(count, dtype=torch.float64).index_add_(0, rows, values * x[columns])
    norm = torch.zeros(count, dtype=torch.float64).index_add_(0, columns, values.abs()).max()
    bound = gamma(3 * count, UNIT_ROUNDOFF["float64"]) * 9 * norm * x.abs().sum()
    cases.compare(f"{count} unknowns, float64", product, right, bound)


@check("linalg.sparse_product", devices=("cuda", "cpu"), measured=(H200, X86))
def sparse_product(context: Context) -> Measured:
    """Products of a sparse and a dense matrix: cuSPARSE, on the CPU MKL or torch's own; backward too.

    Bound: g(k + 2) |A| |B|, k being the number of elements in the longest row or, backward, column.
    """
    import torch

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


def fft_constant(length: int) -> float:
    """Return c: a transform of ``length`` is off by at most c u times its own Euclidean norm, to first order.

    Higham, theorem 24.2, adds for each stage the error of its weights and of its sums. A stage of radix p is p sums of
    p complex products, whose magnitudes are at most sqrt(p) times the norm that it makes: sqrt(2 p) (p + 3), and 4 for
    weights that are good to 4 units. Instead of a prime above 13, Bluestein's method makes three transforms of a power
    of two, of at least twice the length, between products with numbers of magnitude 1; the convolution's norm is at
    most twice that of what is made: 4 times the three.
    """
    total, rest, prime = 0.0, length, 2
    while rest > 1:
        if prime * prime > rest:
            prime = rest
        while rest % prime == 0:
            stage = 4 + math.sqrt(2 * prime) * (prime + 3)
            if prime > 13:
                doubled = math.ceil(math.log2(2 * prime)) + 1
                stage = max(stage, 12 * doubled * (4 + math.sqrt(4) * 5))
            total += stage
            rest //= prime
        prime += 1
    return total


@check("linalg.fft", devices=("cuda", "cpu"), measured=(H200, X86))
def fft(context: Context) -> Measured:
    """Fourier transforms, complex and real, forward, inverse and backward: cuFFT, on the CPU MKL or pocketfft.

    The reference is the sum of the definition as a matrix product in float64. Bound: c u times the norm (fft_constant).
    """
    import torch

    library = "libcufft" if context.device == "cuda" else "the library of Fourier transforms (MKL on x86_64)"
    cases = Cases(
        "the Fourier transform",
        f"Check that {library} is the one that torch was built with (checks of family identity), or use another stack.",
    )

    def weights(length: int) -> torch.Tensor:
        place = torch.arange(length)
        angle = torch.outer(place, place).remainder(length).double() * (-2 * math.pi / length)
        return torch.complex(angle.cos(), angle.sin())

    def compare(case: str, actual: torch.Tensor, expected: torch.Tensor, relative: float, norm: torch.Tensor) -> None:
        got = actual.detach().cpu().resolve_conj()
        if got.is_complex():
            got, expected = torch.view_as_real(got), torch.view_as_real(expected)
            norm = norm.unsqueeze(-1)
        cases.compare(case, got, expected, relative * norm)

    for dtype, form in ((torch.float64, torch.complex128), (torch.float32, torch.complex64)):
        name, unit = name_of(dtype), UNIT_ROUNDOFF[name_of(dtype)]
        # A power of two, a product of small primes and a prime: three methods.
        for length in (512, 360, 251):
            generator = context.generator(f"linalg fft {name} {length}")
            with one_thread():
                matrix, relative = weights(length), fft_constant(length) * unit
                signal = torch.randn(3, length, generator=generator, dtype=form)
                expected = signal.to(torch.complex128) @ matrix
                back = signal.to(torch.complex128) @ matrix.conj() / length
                real, upstream = (
                    signal.real.contiguous(),
                    torch.randn(3, length // 2 + 1, generator=generator, dtype=form),
                )
                half = real.double().to(torch.complex128) @ matrix[:, : length // 2 + 1]
                # The real part of the sum of upstream times the conjugate of the transform, by the signal.
                adjoint = (upstream.to(torch.complex128) @ matrix[: length // 2 + 1].conj()).real
            moved = signal.to(context.device)
            norms = expected.abs().square().sum(-1, keepdim=True).sqrt()
            compare(f"fft, {name}, length {length}", torch.fft.fft(moved), expected, relative, norms)
            norms = back.abs().square().sum(-1, keepdim=True).sqrt()
            compare(f"ifft, {name}, length {length}", torch.fft.ifft(moved), back, relative, norms)
            leaf = real.to(context.device, copy=True).requires_grad_()
            result = torch.fft.rfft(leaf)
            norms = half.abs().square().sum(-1, keepdim=True).sqrt() * math.sqrt(2)
            compare(f"rfft, {name}, length {length}", result, half, relative, norms)
            pulled = torch.view_as_real(upstream.to(context.device))
            (gradient,) = gradients(torch.view_as_real(result), (leaf,), pulled)
            norms = upstream.to(torch.complex128).abs().square().sum(-1, keepdim=True).sqrt() * math.sqrt(length)
            compare(f"rfft, {name}, length {length}, backward", gradient, adjoint, relative, norms)
            whole = torch.fft.irfft(half.to(form).to(context.device), n=length)
            # Rounding the spectrum into the format adds u.
            norms = real.double().norm(dim=-1, keepdim=True)
            compare(f"irfft, {name}, length {length}", whole, real.double(), relative + unit, norms)
        generator = context.generator(f"linalg fft {name} plane")
        with one_thread():
            plane = torch.randn(2, 48, 60, generator=generator, dtype=form)
            expected = weights(48) @ plane.to(torch.complex128) @ weights(60)
            relative = (fft_constant(48) + fft_constant(60)) * unit
        norms = expected.abs().square().sum((-1, -2), keepdim=True).sqrt()
        compare(f"fft2, {name}, 48 x 60", torch.fft.fft2(plane.to(context.device)), expected, relative, norms)
    return cases.result()
