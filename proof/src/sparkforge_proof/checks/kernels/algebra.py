# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Linear algebra over sizes, batches, sides, triangles and complex numbers; Fourier transforms by classes of length.

Matrices are well conditioned: random ones with twice the unit matrix, or their products. A result is judged by what it
leaves, in float64: each element of A X - B by the 2-norms of the row and the column that it comes from. Errors of
rounding are independent, so that they add as squares do (N. J. Higham and T. Mary, SIAM J. Sci. Comput. 41, 2019);
``STEPS`` u of those norms is allowed, four times that for what iterates, and a result that is a hundredth off is
thousands of times that.
"""

from __future__ import annotations

import math
import os
import re
import typing as t

from ...check import ABSENT, SEEN, Context, Measured, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, torch

REMEDY = (
    "Check that the libraries of linear algebra (libcusolver, libcublas, libcufft; LAPACK on a CPU) are those that "
    "torch was built with (checks of family identity), or use another stack."
)
#: How many roundings' size an element may be off, by the 2-norms that it is made of.
STEPS = 40.0
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
#: How many times that a GPU's libraries may be off at least: of the sizes drawn in three runs on an H200 one was off by
#: 1.21 times (lu of complex64, 1,023 rows).
ON_A_GPU = 4.0
#: How many times that an iteration may be off, beside what grows with the size, see :func:`jacobi`.
ITERATED = 8.0
#: For float32 of these sizes torch's eigh calls cuSOLVER's Jacobi method on a GPU.
JACOBI_SIZES = range(32, 513)
#: How many times that cuSOLVER's QR method of singular values may be off. At worst it was 5.3 (513 rows, H200).
BY_QR = 20.0
#: Sizes up to which all is tried; of the larger ones some, by the day or the seed.
SMALL = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 96, 127, 129)
LARGE = (191, 255, 256, 257, 383, 511, 512, 513, 767, 1023, 1024, 1025, 1536, 2047, 2048)
BATCHES = ((2, 3), (3, 17), (5, 32), (9, 8), (65, 5), (17, 33), (4, 65), (129, 2), (2, 129))


def libraries(configuration: str, maps: str) -> str:
    """Say which BLAS and LAPACK torch is linked to.

    :param configuration: ``torch.__config__.show()``.
    :param maps: ``/proc/self/maps``.
    """
    linked = []
    for key in ("BLAS_INFO", "LAPACK_INFO"):
        match = re.search(rf"\b{key}=([^,\s]+)", configuration)
        linked.append(f"{key.partition('_')[0]} {match[1] if match else 'unnamed'}")
    names = {os.path.basename(line.rpartition(" ")[2]) for line in maps.splitlines() if ".so" in line}
    known = re.compile(r"lib(nvpl_(blas|lapack)|openblas|mkl_|blas|lapack|blis|armpl|flexiblas)")
    mapped = sorted(name for name in names if known.match(name))
    return ", ".join(linked) + (f" ({', '.join(mapped)})" if mapped else "")


def _linked_libraries() -> str:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        return libraries(torch.__config__.show(), file.read())


def _matrix(context: Context, words: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Return random numbers on the CPU, of the widest format."""
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return torch.randn(shape, generator=context.generator(f"algebra {words} {shape}"), dtype=wide)


def jacobi(a: torch.Tensor) -> float:
    """Return how many times the bound a singular value decomposition may be off.

    Torch chooses cuSOLVER's Jacobi method on a GPU, whose error grows with the size: up to 0.36 times the rows in each
    format on an H200, where the QR method keeps within 5.3 (docs/evidence/survey.md).
    """
    return max(ITERATED, float(min(a.shape[-2:]))) if a.is_cuda else ITERATED


class Problem(t.NamedTuple):
    """Matrices in the wide format, exactly those that the device has."""

    general: torch.Tensor
    definite: torch.Tensor
    lower: torch.Tensor
    sides: torch.Tensor


def _problem(context: Context, form: str, batch: tuple[int, ...], size: int) -> Problem:
    dtype = getattr(torch, form)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    unit = torch.eye(size, dtype=wide)
    general = _matrix(context, f"general {form}", (*batch, size, size), dtype) / math.sqrt(size) + 2 * unit
    spread = _matrix(context, f"definite {form}", (*batch, size, size), dtype) / math.sqrt(size)
    definite = spread @ spread.mH + unit
    lower = (_matrix(context, f"lower {form}", (*batch, size, size), dtype) / math.sqrt(2 * size)).tril(-1) + 1.5 * unit
    sides = _matrix(context, f"sides {form}", (*batch, size, 3), dtype)
    general, definite, lower, sides = (one.to(dtype).to(wide) for one in (general, definite, lower, sides))
    definite = definite.tril() + definite.tril(-1).mH
    if dtype.is_complex:
        definite.diagonal(dim1=-2, dim2=-1).imag.zero_()
    return Problem(general, definite, lower, sides)


class Judge:
    """Compares products of results with what they must be.

    :param form: the format: ``complex64``.
    :param words: what the case is called after the operator.
    """

    def __init__(self, cases: Cases, context: Context, form: str, words: str) -> None:
        self.real, self.least = REAL[form], ON_A_GPU if context.device == "cuda" else 1.0
        self.cases, self.unit, self.words = cases, UNIT_ROUNDOFF[REAL[form]], f"{words}, {form}"
        self.dtype, self.device = getattr(torch, form), "cpu"

    def wide(self, value: torch.Tensor) -> torch.Tensor:
        value = value.detach().cpu().resolve_conj()
        return value.to(torch.complex128 if value.is_complex() else torch.float64)

    def product(
        self, name: str, left: torch.Tensor, right: torch.Tensor, wanted: torch.Tensor, more: float = 1.0
    ) -> None:
        """See that ``left @ right`` is ``wanted``, of which one factor was computed."""
        left, right = self.wide(left), self.wide(right)
        norms = left.abs().square().sum(-1, keepdim=True).sqrt() * right.abs().square().sum(-2, keepdim=True).sqrt()
        bound = max(more, self.least) * STEPS * self.unit * norms
        self.cases.compare(f"{name}, {self.words}", left @ right, wanted.to(left.dtype), bound)

    def value(
        self, name: str, found: torch.Tensor, wanted: torch.Tensor, around: torch.Tensor, more: float = 1.0
    ) -> None:
        bound = (max(more, self.least) * STEPS * self.unit * around).expand(wanted.shape)
        self.cases.compare(f"{name}, {self.words}", self.wide(found), wanted, bound)


@check("algebra.dense", devices=("cuda", "cpu"), seconds=180, measured=SEEN)
def dense(context: Context) -> Measured:
    """Solutions and decompositions for sizes from 1 to 2,048, alone and in batches, real and complex."""
    import random

    cases = Cases("linear algebra", REMEDY)
    gpu = context.device == "cuda"
    if not gpu and not torch._C.has_lapack:
        remedy = "Run playbooks/libraries.yml for NVPL and rebuild torch."
        raise Unanswered(ABSENT, "This torch is built without LAPACK.", remedy, "no LAPACK", "LAPACK")
    forms = ("float32", "complex64", "float64", "complex128") if gpu else ("float32", "complex64", "float64")
    chance = random.Random(f"{context.seed} algebra")  # noqa: S311 - which sizes are tried is no secret
    with torch.no_grad():
        for number, form in enumerate(forms):
            for size in SMALL[number % 3 :: 3 if gpu else 4]:
                _one(cases, context, form, (), size)
            for count, size in BATCHES[number % 2 :: 2] if gpu else BATCHES[::3]:
                _one(cases, context, form, (count,), size)
            most = 2048 if form in ("float32", "float64") else 1025
            larger = [size for size in LARGE if size <= (most if gpu else 257)]
            for size in chance.sample(larger, min(len(larger), 2 if gpu and number < 2 else 1)):
                _one(cases, context, form, (), size)
            _rectangles(cases, context, form, chance)
    result = cases.result()
    if not gpu:
        result.measured += f"; {_linked_libraries()}"
    return result


def _one(cases: Cases, context: Context, form: str, batch: tuple[int, ...], size: int) -> None:
    """All operators over one size."""
    given = _problem(context, form, batch, size)
    words = f"{'x'.join(map(str, batch))} of {size}" if batch else f"{size}"
    judge = Judge(cases, context, form, words)
    a, s, low, b = (one.to(judge.dtype).to(context.device) for one in given)
    unit = torch.eye(size, dtype=given.general.dtype).expand(given.general.shape)
    _solved(judge, given, a, b, unit)
    _definite(judge, given, s, b, unit)
    for transposed in (False, True):
        for upper in (False, True):
            exact = given.lower.mT if upper else given.lower
            there = low.mT if upper else low
            if transposed:
                there, exact, upper_now = there.mH, exact.mH, not upper
            else:
                upper_now = upper
            name = f"solve_triangular, {'upper' if upper_now else 'lower'}{', adjoint' if transposed else ''}"
            judge.product(name, exact, torch.linalg.solve_triangular(there, b, upper=upper_now), given.sides)
            found = torch.linalg.solve_triangular(there, b.mT.contiguous(), upper=upper_now, left=False)
            judge.product(f"{name}, from the right", found, exact, given.sides.mT)
    strict = given.lower.tril(-1) + unit
    found = torch.linalg.solve_triangular(low, b, upper=False, unitriangular=True)
    judge.product("solve_triangular, ones on the diagonal", strict, found, given.sides)
    if size <= (513 if context.device == "cuda" else 129):
        _decomposed(judge, given, a, s, unit)


def _solved(judge: Judge, given: Problem, a: torch.Tensor, b: torch.Tensor, unit: torch.Tensor) -> None:
    judge.product("solve", given.general, torch.linalg.solve(a, b), given.sides)
    judge.product("solve, a vector", given.general, torch.linalg.solve(a, b[..., :1]), given.sides[..., :1])
    judge.product(
        "solve, from the right", torch.linalg.solve(a, b.mT.contiguous(), left=False), given.general, given.sides.mT
    )
    judge.product("solve of the adjoint", given.general.mH, torch.linalg.solve(a.mH, b), given.sides)
    judge.product("inv", given.general, torch.linalg.inv(a), unit)
    factors, pivots = torch.linalg.lu_factor(a)
    judge.product("lu_solve", given.general, torch.linalg.lu_solve(factors, pivots, b), given.sides)
    judge.product(
        "lu_solve, adjoint", given.general.mH, torch.linalg.lu_solve(factors, pivots, b, adjoint=True), given.sides
    )
    p, low, up = torch.linalg.lu(a)
    judge.product("lu", judge.wide(p) @ judge.wide(low), up, given.general, 4.0)
    sign, log = torch.linalg.slogdet(a)
    true_sign, true_log = torch.linalg.slogdet(given.general)
    size = torch.tensor(float(a.shape[-1]), dtype=torch.float64)
    judge.value("slogdet, sign", sign, true_sign, size)
    judge.value("slogdet", log, true_log, size)
    if a.shape[-1] <= 65:
        wanted = torch.linalg.det(given.general)
        judge.value("det", torch.linalg.det(a), wanted, wanted.abs() * size)
        found = torch.linalg.matrix_power(a, 3)
        exact = torch.linalg.matrix_power(given.general, 3)
        judge.value("matrix_power", found, exact, 3 * exact.abs().amax((-1, -2), keepdim=True) * 2)
        whole = torch.linalg.matrix_exp(given.general)
        judge.value("matrix_exp", torch.linalg.matrix_exp(a), whole, whole.abs().amax((-1, -2), keepdim=True), 8.0)


def _definite(judge: Judge, given: Problem, s: torch.Tensor, b: torch.Tensor, unit: torch.Tensor) -> None:
    low = torch.linalg.cholesky(s)
    judge.product("cholesky", low, low.mH, given.definite)
    judge.cases.exactly(f"cholesky, above the diagonal, {judge.words}", low.triu(1).abs(), torch.zeros(low.shape))
    up = torch.linalg.cholesky(s, upper=True)
    judge.product("cholesky, upper", up.mH, up, given.definite)
    judge.product("cholesky_solve", given.definite, torch.cholesky_solve(b, low), given.sides)
    judge.product("cholesky_solve, upper", given.definite, torch.cholesky_solve(b, up, upper=True), given.sides)
    judge.product("cholesky_inverse", given.definite, torch.cholesky_inverse(low), unit)
    # Only one triangle is read.
    half = torch.where(torch.ones_like(s, dtype=torch.bool).tril(), s, torch.full_like(s, 7.0))
    judge.product("cholesky of a triangle", (one := torch.linalg.cholesky(half)), one.mH, given.definite)


def _decomposed(judge: Judge, given: Problem, a: torch.Tensor, s: torch.Tensor, unit: torch.Tensor) -> None:
    q, r = torch.linalg.qr(a)
    judge.product("qr", q, r, given.general, 4.0)
    judge.product("qr, orthogonal", q.mH, q, unit, 4.0)
    judge.cases.exactly(f"qr, below the diagonal, {judge.words}", r.tril(-1).abs(), torch.zeros(r.shape))
    values = torch.linalg.eigvalsh(given.definite)
    largest = values[..., -1:]
    # Jacobi's method again, up to 0.35 times the rows on an H200; complex, float64 and more rows are within 4.
    by_jacobi = a.is_cuda and a.dtype is torch.float32 and a.shape[-1] in JACOBI_SIZES
    more = float(a.shape[-1]) if by_jacobi else 4.0
    for triangle, other in (("L", torch.Tensor.tril), ("U", torch.Tensor.triu)):
        half = torch.where(other(torch.ones_like(s, dtype=torch.bool)), s, torch.full_like(s, 7.0))
        found, vectors = torch.linalg.eigh(half, UPLO=triangle)
        judge.value(f"eigh, values, {triangle}", found, values, largest, more)
        judge.product(
            f"eigh, {triangle}",
            judge.wide(vectors) * found.cpu().double()[..., None, :],
            vectors.mH,
            given.definite,
            more,
        )
        judge.product(f"eigh, orthogonal, {triangle}", vectors.mH, vectors, unit, more)
        judge.value(f"eigvalsh, {triangle}", torch.linalg.eigvalsh(half, UPLO=triangle), values, largest, more)
    exact = torch.linalg.svdvals(given.general)
    for driver, most in ((None, jacobi(a)), *([("gesvd", BY_QR)] if a.is_cuda and a.dim() == 2 else [])):
        name = f"svd{f' by {driver}' if driver else ''}"
        u, sigma, v = torch.linalg.svd(a, driver=driver)
        _singular(judge, name, (u, sigma, v), given.general, unit, most)
        judge.value(f"{name}, values", sigma, exact, exact[..., :1], most)
    judge.value("svdvals", torch.linalg.svdvals(a), exact, exact[..., :1], jacobi(a))
    judge.product("pinv", given.general, torch.linalg.pinv(a), unit, jacobi(a) if a.is_cuda else 4.0)
    if a.shape[-1] <= 65:
        found, vectors = torch.linalg.eig(a)
        scaled = judge.wide(vectors) * judge.wide(found)[..., None, :]
        judge.product("eig", given.general.to(torch.complex128), vectors, scaled, 4.0)


def _singular(
    judge: Judge, name: str, found: tuple[torch.Tensor, ...], wanted: torch.Tensor, unit: torch.Tensor, more: float
) -> None:
    """See that the parts of a singular value decomposition make the matrix, and are orthogonal."""
    u, sigma, v = found
    judge.product(name, judge.wide(u) * sigma.cpu().double()[..., None, :], v, wanted, more)
    judge.product(f"{name}, orthogonal U", u.mH, u, unit, more)
    judge.product(f"{name}, orthogonal V", v, v.mH, unit, more)


def _rectangles(cases: Cases, context: Context, form: str, chance: t.Any) -> None:
    """Least squares and decompositions of matrices that are longer or wider, alone and in batches."""
    shapes = [(7, 3), (3, 7), (33, 16), (65, 64), (130, 31), (31, 130), (257, 128), (100, 1), (1, 9), (513, 65)]
    for rows, columns in chance.sample(shapes, 6 if context.device == "cuda" else 2):
        for batch in ((), (3,)):
            judge = Judge(cases, context, form, f"{'3 of ' if batch else ''}{rows} x {columns}")
            full = torch.zeros(rows, columns, dtype=torch.float64)
            full.diagonal().fill_(2.0)
            drawn = _matrix(context, f"rectangle {form}", (*batch, rows, columns), judge.dtype)
            wide = drawn.dtype
            exact = (drawn / math.sqrt(max(rows, columns)) * 0.5 + full).to(judge.dtype).to(wide)
            a = exact.to(judge.dtype).to(context.device)
            least = min(rows, columns)
            unit = torch.eye(least, dtype=wide).expand(*batch, least, least)
            q, r = torch.linalg.qr(a)
            judge.product("qr", q, r, exact)
            judge.product("qr, orthogonal", q.mH, q, unit)
            _singular(judge, "svd", torch.linalg.svd(a, full_matrices=False), exact, unit, jacobi(a))
            if rows >= columns:
                sides = _matrix(context, f"least {form}", (*batch, rows, 2), judge.dtype).to(judge.dtype).to(wide)
                wanted = torch.linalg.lstsq(exact, sides).solution
                around = torch.linalg.vector_norm(sides, dim=-2, keepdim=True)
                there = sides.to(judge.dtype).to(context.device)
                # A GPU has one way alone, LAPACK several.
                for driver in (None,) if a.is_cuda else ("gels", "gelsy", "gelsd"):
                    solution = torch.linalg.lstsq(a, there, driver=driver).solution
                    judge.value(f"lstsq{f' by {driver}' if driver else ''}", solution, wanted, around)
            taus = torch.geqrf(a)
            if rows >= columns:
                judge.product(
                    "householder_product",
                    torch.linalg.householder_product(*taus),
                    taus[0].triu()[..., :columns, :],
                    exact,
                )
            judge.product("pinv", torch.linalg.pinv(a) if rows >= columns else a.cpu(),
                          a.cpu() if rows >= columns else torch.linalg.pinv(a), unit,
                          jacobi(a) if a.is_cuda else 4.0)  # fmt: skip
