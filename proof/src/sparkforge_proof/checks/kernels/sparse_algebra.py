# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sparse linear algebra: a direct solution by cuDSS, products by cuSPARSE.

A solution is judged by its residual, computed in float64, for one that solves a problem next to the given one is right
whatever the condition of the problem is.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import typing as t

from ...check import ABSENT, CRASH, SEEN, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, gamma, gradients, name_of, one_thread

if t.TYPE_CHECKING:
    import torch


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


@check("linalg.sparse_product", devices=("cuda", "cpu"), measured=SEEN)
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
