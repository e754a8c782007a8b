# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Complex numbers wherever real ones are: arithmetic, functions, products of matrices, reductions; backward too.

Products and sums take whole numbers, of which float32 holds every result: they are exact. What rounds is compared with
complex128 on the CPU. A product of two complex numbers is four products and two sums: each part is off by 3 u of |a||b|
(Higham, section 3.6), a quotient by some 8 u of its magnitude.
"""

from __future__ import annotations

import typing as t

from ..check import H100_2_11, X86_CPU, Context, Measured, check
from .bounds import UNIT_ROUNDOFF, Cases

if t.TYPE_CHECKING:
    import torch

REMEDY = "Do not compute with complex numbers on this stack: use another torch or other libraries of CUDA."
Function = t.Callable[..., t.Any]
FORMS = {"complex64": "float32", "complex128": "float64"}
#: Units that a function's result may be off by: those of the exponential, sine and root that it is made of.
FUNCTION_UNITS = 24.0


def _forms(context: Context) -> list[str]:
    # On the CPU complex128 is the reference.
    return ["complex64", "complex128"] if context.device == "cuda" else ["complex64"]


@check("formats.complex", devices=("cuda", "cpu"), family="formats", measured=(H100_2_11, X86_CPU))
def numbers(context: Context) -> Measured:
    """Complex arithmetic, functions and reductions, around each power of two, conjugated views among the inputs."""
    import torch

    cases = Cases("the arithmetic of complex numbers", REMEDY)
    for form in _forms(context):
        dtype = getattr(torch, form)
        for length in (
            1,
            2,
            3,
            4,
            5,
            7,
            8,
            9,
            31,
            33,
            127,
            129,
            1023,
            1025,
            4099,
            *((70_001,) if context.device == "cuda" else ()),
        ):
            _exact(cases, context, form, dtype, length)
        _functions(cases, context, form, dtype)
        for size in (1, 2, 3, 7, 16, 17, 33, 64, 65, 129, *((257,) if context.device == "cuda" else ())):
            _matrices(cases, context, form, dtype, size)
    return cases.result()


def _whole(context: Context, words: str, shape: tuple[int, ...]) -> torch.Tensor:
    import torch

    generator = context.generator(f"complex {words}")
    return torch.complex(*(torch.randint(-6, 7, shape, generator=generator).double() for _unused in range(2)))


def _exact(cases: Cases, context: Context, form: str, dtype: torch.dtype, length: int) -> None:
    """Whole numbers, forward and backward."""
    import torch

    operators: dict[str, Function] = {
        "sum": lambda a, b: a + b,
        "difference": lambda a, b: a - b,
        "product": lambda a, b: a * b,
        "product with a conjugate": lambda a, b: a.conj() * b,
        "conjugate, resolved": lambda a, b: a.conj().resolve_conj(),
        "negative": lambda a, b: -a,
        "imaginary part of a conjugate": lambda a, b: a.conj().imag * b.real,
        "square": lambda a, b: a * a,
        "times i": lambda a, b: a * 1j,
        "times a real one": lambda a, b: a * b.real,
        "addcmul": lambda a, b: torch.addcmul(a, a, b, value=2),
        "all added": lambda a, b: (a * b).sum(),
        "running sums": lambda a, b: a.cumsum(0),
        "dot": lambda a, b: torch.dot(a, b),
        "vdot": lambda a, b: torch.vdot(a, b),
        "as real": lambda a, b: torch.view_as_real(a * b),
        "where": lambda a, b: torch.where(a.real > 0, a, b),
        "index": lambda a, b: a[torch.arange(length - 1, -1, -1, device=a.device)],
        "cat": lambda a, b: torch.cat([a, b.conj()]),
        "rolled": lambda a, b: torch.stack([a, b], 1).roll(1, 0),
        "strided": lambda a, b: torch.cat([a, b])[::2] * torch.cat([b, a])[1::2],
    }
    exact = [_whole(context, f"{length} {one}", (length,)).requires_grad_() for one in range(2)]
    there = [one.detach().to(dtype).to(context.device, copy=True).requires_grad_() for one in exact]
    up = _whole(context, f"{length} up", (2 * length,))
    for name, function in operators.items():
        found, wanted = function(*there), function(*exact)
        case = f"{name}, {length} of {form}"
        cases.exactly(case, found.detach(), wanted.detach())
        pulled = (
            up[: wanted.numel()].reshape(wanted.shape) if wanted.is_complex() and wanted.numel() <= 2 * length else None
        )
        if pulled is None:
            pulled = torch.ones_like(wanted)
        back = torch.autograd.grad(found, there, pulled.to(found.dtype).to(context.device), allow_unused=True)
        true = torch.autograd.grad(wanted, exact, pulled.to(wanted.dtype), allow_unused=True)
        for one, other in zip(back, true):
            if one is not None and other is not None:
                cases.exactly(f"{case}, backward", one, other)
    one, two = there[0].detach(), exact[0].detach()
    cases.exactly(f"in place, {length} of {form}", one.clone().mul_(one).add_(one), two * two + two)
    cases.exactly(f"equal, {length} of {form}", one == one.roll(1), two == two.roll(1))
    cases.exactly(f"the mean's sum, {length} of {form}", torch.view_as_real(one).sum(0), torch.view_as_real(two).sum(0))


def _functions(cases: Cases, context: Context, form: str, dtype: torch.dtype) -> None:
    """Functions of complex numbers over four quadrants, and on the axes."""
    import torch

    unit = UNIT_ROUNDOFF[FORMS[form]]
    if form == "complex128":
        # Another algorithm in the same format: both are off.
        unit *= 2
    generator = context.generator(f"complex functions {form}")
    values = torch.randn(3_001, 2, generator=generator, dtype=torch.float64) * 2
    axes = torch.tensor(
        [[1.0, 0.0], [-1.5, 0.25], [0.0, 1.0], [0.0, -2.0], [0.5, 0.5], [3.0, -3.0]], dtype=torch.float64
    )
    exact = torch.view_as_complex(torch.cat([values, axes])).to(dtype).to(torch.complex128)
    there, other = exact.to(dtype).to(context.device), exact.roll(5)
    moved = other.to(dtype).to(context.device)
    singles: dict[str, Function] = {
        name: getattr(torch, name)
        for name in "abs angle exp log sqrt rsqrt sin cos tan sinh cosh tanh reciprocal square sgn sigmoid".split()
    }
    for name, function in singles.items():
        wanted = function(exact)
        # Where a function is small, its parts are differences of larger ones.
        around = wanted.abs() + (1.0 if name in ("log", "tanh", "tan", "sigmoid", "angle") else 0.0)
        cases.compare(f"{name}, {form}", function(there), wanted, FUNCTION_UNITS * unit * around + 2.0**-140)
    size = exact.abs() * other.abs()
    cases.compare(f"product, {form}", there * moved, exact * other, 4 * unit * size)
    wanted = exact / other
    cases.compare(f"quotient, {form}", there / moved, wanted, 12 * unit * wanted.abs())
    cases.compare(f"power 3, {form}", there**3, exact**3, 16 * unit * exact.abs() ** 3)
    cases.compare(f"polar, {form}", torch.polar(there.abs(), there.angle()), exact, FUNCTION_UNITS * unit * exact.abs())
    length = exact.numel()
    bound = 16 * unit * (exact.abs() ** 2).sum().sqrt() * torch.ones((), dtype=torch.float64)
    cases.compare(f"sum, {form}", there.sum(), exact.sum(), bound)
    cases.compare(f"mean, {form}", there.mean(), exact.mean(), bound / length)
    few = exact[:40] / exact[:40].abs()
    cases.compare(
        f"product of all, {form}", few.to(dtype).to(context.device).prod(), few.prod(), 40 * 6 * unit * torch.ones(())
    )
    norms = torch.linalg.vector_norm(exact)
    cases.compare(f"norm, {form}", torch.linalg.vector_norm(there), norms, 16 * unit * norms)
    leaf, right = there.clone().requires_grad_(), exact.clone().requires_grad_()
    for name in ("abs", "exp", "log", "sqrt", "sin", "tanh", "reciprocal", "angle"):
        function = singles[name]
        (back,) = torch.autograd.grad(torch.view_as_real(function(leaf) * (1 + 0j)).sum(), leaf)
        (true,) = torch.autograd.grad(torch.view_as_real(function(right) * (1 + 0j)).sum(), right)
        kept = true.abs() < 100
        bound = 4 * FUNCTION_UNITS * unit * (true.abs() ** 2 + true.abs() + 1)
        cases.compare(f"{name}, backward, {form}", back.cpu()[kept], true[kept], bound[kept])


def _matrices(cases: Cases, context: Context, form: str, dtype: torch.dtype, size: int) -> None:
    """Products of matrices of whole numbers: plain, transposed, conjugated, in batches, with vectors and with a sum."""
    import torch

    a = _whole(context, f"matrix {size} a", (size, size + 1))
    b = _whole(context, f"matrix {size} b", (size + 1, size))
    x, y = a.to(dtype).to(context.device), b.to(dtype).to(context.device)
    for words, left in (("plain", lambda m: m), ("transposed", lambda m: m.t()), ("conjugated", lambda m: m.conj()),
                        ("adjoint", lambda m: m.mH)):  # fmt: skip
        for other, right in (("plain", lambda m: m), ("adjoint", lambda m: m.mH)):
            first, second = left(a), right(b) if left(a).shape[1] == right(b).shape[0] else right(b).mT
            one, two = left(x), right(y) if left(x).shape[1] == right(y).shape[0] else right(y).mT
            cases.exactly(f"mm {size}, {words} and {other}, {form}", one @ two, first @ second)
    cases.exactly(
        f"addmm {size}, {form}", torch.addmm(x[:, :size], x, y, beta=2, alpha=1j), 2 * a[:, :size] + 1j * (a @ b)
    )
    cases.exactly(f"mv {size}, {form}", x.mv(y[:, 0]), a.mv(b[:, 0]))
    cases.exactly(f"mv, adjoint, {size}, {form}", x.mH.mv(y[:size, 0]), a.mH.mv(b[:size, 0]))
    cases.exactly(f"outer {size}, {form}", torch.outer(x[0], y[:, 0].conj()), torch.outer(a[0], b[:, 0].conj()))
    for count in (2, 3, 9):
        many, others = x.expand(count, -1, -1) * torch.arange(1, count + 1, device=x.device)[:, None, None], y
        exact = a.expand(count, -1, -1) * torch.arange(1, count + 1)[:, None, None]
        cases.exactly(f"{count} products of {size}, {form}", torch.bmm(many, others.expand(count, -1, -1)), exact @ b)
        cases.exactly(f"{count} adjoint products of {size}, {form}", many.mH @ many, exact.mH @ exact)
    cases.exactly(
        f"einsum {size}, {form}", torch.einsum("ij,jk->ki", x, y.conj()), torch.einsum("ij,jk->ki", a, b.conj())
    )
    cases.exactly(
        f"kron {size}, {form}",
        torch.kron(x[:3, :3].contiguous(), y[:3, :3].contiguous()),
        torch.kron(a[:3, :3].contiguous(), b[:3, :3].contiguous()),
    )
    leaf, right = x.clone().requires_grad_(), a.clone().requires_grad_()
    (back,) = torch.autograd.grad((leaf @ y).sum().real, leaf)
    (true,) = torch.autograd.grad((right @ b).sum().real, right)
    cases.exactly(f"mm {size}, backward, {form}", back, true)
    if size >= 3:
        signal, kernel = a[:2, :].unsqueeze(0), b[: 2 * 2 * 3 // 2, :2].reshape(-1)[:12]
        if kernel.numel() == 12:
            kernel = kernel.reshape(2, 2, 3)
            found = torch.nn.functional.conv1d(signal.to(dtype).to(context.device), kernel.to(dtype).to(context.device))
            cases.exactly(f"conv1d {size}, {form}", found, torch.nn.functional.conv1d(signal, kernel))
