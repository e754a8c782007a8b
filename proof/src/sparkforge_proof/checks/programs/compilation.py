# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ``torch.compile`` makes of a transformer block and of a fused function, against float64.

The block has no bound that could be written down and still be of use: in a dozen products, two normalisations and an
exponential function in a row, worst cases multiply. So its rounding errors are measured: the block is computed in
float64, and the result of each operation, forward and backward, is moved up or down, by chance, by as much as rounding
may move it. This is stochastic arithmetic: J. Vignes, A stochastic arithmetic for reliable scientific computation,
Mathematics and Computers in Simulation 35, 1993; Verificarlo computes so. To first order the error of a result is a
sum of many independent rounding errors, each at most as large as the step that stands for it (N. J. Higham, T. Mary,
A new approach to probabilistic rounding error analysis, SIAM Journal on Scientific Computing 41, 2019), so that it
varies at most as much as the samples do. With s^2 the mean square of the deviations of ``SAMPLES`` = 64 samples,
error / s follows Student's distribution with 64 degrees of freedom, which exceeds ``STUDENT`` = 11 with a probability
of 2.2e-16: where a run compares a million numbers, one is taken for wrong in five thousand million runs.

The steps, with u the unit roundoff of the format: a value that the block or its gradient may keep in the format is
off by u of itself (``stored``). Between those the computation is in float32, also where the format is bfloat16. There
each result is off by 16 units of float32, for that is what powers, roots, divisions and the error function are off by
at most, and a sum or a product of k terms by gamma(k, TENSOR_CORE) of their magnitudes (``_operations``).

An error of a few per cent hides in one number of bfloat16, but not in many: beside the numbers themselves their slopes
against float64 are compared, sum(actual * exact) / sum(exact^2) along each row, each column and over all, whose bounds
come from the same samples.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import typing as t

from ...check import ABSENT, H100_LAST, H200, SEEN, X86_CPU_LAST, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, gamma, name_of
from ..kernels.triton_kernels import EXP2, TENSOR_CORE, explained, installed

if t.TYPE_CHECKING:
    import torch

SAMPLES = 64
STUDENT = 11.0

BATCH, TOKENS, HEADS, HEAD, HIDDEN = 2, 23, 2, 32, 160
WIDTH = HEADS * HEAD

_WRONG = (
    "Do not train with torch.compile on this stack: install the stack's versions of torch and Triton; if the attention "
    "check also fails, fix that first."
)

#: Operations that move numbers, choose among them or count, so that nothing is rounded; views need no mention.
_EXACT = frozenset(
    "amax arange cat clone detach fill full full_like lift_fresh masked_fill neg ones ones_like scalar_tensor"
    " select_backward slice_backward tril triu where zeros zeros_like _to_copy _unsafe_view".split()
)


# -- the block


def _parameters(random: torch.Generator, dtype: torch.dtype) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return the block's input and parameters, then the gradient of its result."""
    import torch

    def draw(*shape: int, scale: float = 1.0, around: float = 0.0) -> torch.Tensor:
        return (torch.randn(*shape, generator=random) * scale + around).to(dtype)

    values = [
        draw(BATCH, TOKENS, WIDTH),
        draw(WIDTH, scale=0.2, around=1.0),
        draw(WIDTH, scale=0.2),
        draw(3 * WIDTH, WIDTH, scale=1.5 * WIDTH**-0.5),
        draw(WIDTH, WIDTH, scale=WIDTH**-0.5),
        draw(WIDTH, scale=0.2, around=1.0),
        draw(WIDTH, scale=0.2),
        draw(HIDDEN, WIDTH, scale=WIDTH**-0.5),
        draw(WIDTH, HIDDEN, scale=HIDDEN**-0.5),
    ]
    return values, draw(BATCH, TOKENS, WIDTH)


NAMES = (
    "result", "gradient of the input", "gradient of the first norm's weight", "gradient of the first norm's bias",
    "gradient of the projection to q, k and v", "gradient of the projection of the heads",
    "gradient of the second norm's weight", "gradient of the second norm's bias", "gradient of the layer up",
    "gradient of the layer down",
)  # fmt: skip


def block(
    x: torch.Tensor, weight_1: torch.Tensor, bias_1: torch.Tensor, project: torch.Tensor, unite: torch.Tensor,
    weight_2: torch.Tensor, bias_2: torch.Tensor, up: torch.Tensor, down: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """A transformer block as models have it."""
    import torch.nn.functional as F

    normal = F.layer_norm(x, (WIDTH,), weight_1, bias_1)
    q, k, v = (
        part.reshape(BATCH, TOKENS, HEADS, HEAD).transpose(1, 2) for part in F.linear(normal, project).chunk(3, dim=-1)
    )
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + F.linear(attended.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH), unite)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (WIDTH,), weight_2, bias_2), up)), down)


def elementary(values: t.Sequence[torch.Tensor], stored: t.Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The same in elementary operations, for many samples at once: the first dimension of all values.

    :param stored: stands around what may be kept in the format between two operations.
    """
    import torch

    x, weight_1, bias_1, project, unite, weight_2, bias_2, up, down = values
    samples = len(x)

    def norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        scaled = centred * ((centred * centred).mean(dim=-1, keepdim=True) + 1e-5).rsqrt()
        return stored(scaled * weight[:, None] + bias[:, None])

    def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return stored(torch.bmm(x, weight.transpose(1, 2)))

    def heads(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(samples, BATCH, TOKENS, HEADS, HEAD).transpose(2, 3).reshape(-1, TOKENS, HEAD)

    x = x.reshape(samples, BATCH * TOKENS, WIDTH)
    q, k, v = (heads(part) for part in linear(norm(x, weight_1, bias_1), project).chunk(3, dim=-1))
    scores = stored(torch.bmm(q, k.transpose(1, 2)) * HEAD**-0.5)
    # Not minus infinity, which a simulated rounding would make a NaN of: the power of this is 0 as well.
    scores = scores.masked_fill(torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1), -1e4)
    powers = (scores - scores.detach().amax(dim=-1, keepdim=True)).exp()
    attended = stored(torch.bmm(stored(powers / powers.sum(dim=-1, keepdim=True)), v))
    attended = attended.reshape(samples, BATCH, HEADS, TOKENS, HEAD).transpose(2, 3)
    x = stored(x + linear(attended.reshape(samples, BATCH * TOKENS, WIDTH), unite))
    opened = linear(norm(x, weight_2, bias_2), up)
    x = x + linear(stored(opened * 0.5 * (1 + torch.erf(opened * 0.5**0.5))), down)
    return stored(x.reshape(samples, BATCH, TOKENS, WIDTH))


def _run(
    function: t.Callable[..., torch.Tensor], values: t.Sequence[torch.Tensor], gradient: torch.Tensor
) -> list[torch.Tensor]:
    """Return the function's result and the gradients of all that it is given."""
    import torch

    leaves = [value.detach().clone().requires_grad_() for value in values]
    result = function(*leaves)
    return [result.detach(), *torch.autograd.grad(result, leaves, gradient)]


# -- its rounding errors


def _signs(like: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    import torch

    return torch.randint(0, 2, like.shape, generator=random, dtype=torch.int8).mul_(2).sub_(1)


def _stored(unit: float, random: torch.Generator) -> t.Callable[[torch.Tensor], torch.Tensor]:
    """Return what moves a value, and on the way back its gradient, by ``unit`` of itself."""
    import torch

    class Stored(torch.autograd.Function):
        @staticmethod
        def forward(_context: t.Any, value: torch.Tensor) -> torch.Tensor:
            return value * (1 + unit * _signs(value, random))

        @staticmethod
        def backward(_context: t.Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * (1 + unit * _signs(gradient, random))

    return t.cast("t.Callable[[torch.Tensor], torch.Tensor]", Stored.apply)


def _operations(random: torch.Generator) -> t.ContextManager[t.Any]:
    """Return a context in which the result of each operation is moved by what float32 may be off by."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Operations(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: t.Any, types: t.Any, args: t.Any = (), kwargs: dict[str, t.Any] | None = None
        ) -> t.Any:
            options = kwargs or {}
            result = function(*args, **options)
            name = function.overloadpacket.__name__
            moved = isinstance(result, torch.Tensor) and result.dtype == torch.float64
            if not moved or function.is_view or name in _EXACT or name.endswith("_"):
                return result
            size = result.abs().mul_(16 * UNIT_ROUNDOFF["float32"])
            if name == "bmm":
                size += gamma(args[0].shape[-1], TENSOR_CORE) * function(args[0].abs(), args[1].abs())
            elif name in ("sum", "mean"):
                length = args[0].numel() / result.numel()
                size += gamma(length, TENSOR_CORE) * function(args[0].abs(), *args[1:], **options)
            return size.mul_(_signs(result, random)).add_(result)

    return t.cast("t.ContextManager[t.Any]", Operations())


def statistics(actual: torch.Tensor, exact: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """Return what is compared of one result: its numbers, and their slopes by row, by column and over all."""
    actual = actual.reshape(-1, actual.shape[-1])
    exact = exact.reshape(-1, exact.shape[-1])
    product, square = actual * exact, exact * exact
    found = [("", actual)]
    if len(actual) > 1:
        found.append(("slope of rows", product.sum(dim=1) / square.sum(dim=1)))
        found.append(("slope of columns", product.sum(dim=0) / square.sum(dim=0)))
    found.append(("slope", (product.sum() / square.sum()).reshape(1)))
    return found


class Reference:
    """What the block computes in float64, and how far rounding may take it from there."""

    def __init__(
        self, values: t.Sequence[torch.Tensor], gradient: torch.Tensor, dtype: torch.dtype, random: torch.Generator
    ) -> None:
        import torch

        def sampled(value: torch.Tensor, count: int) -> torch.Tensor:
            return value.double().expand(count, *value.shape)

        def run(stored: t.Callable[[torch.Tensor], torch.Tensor], count: int) -> list[torch.Tensor]:
            several = [sampled(value, count) for value in values]
            return _run(lambda *leaves: elementary(leaves, stored), several, sampled(gradient, count))

        self.exact = [value[0] for value in run(lambda value: value, 1)]
        stored = _stored(UNIT_ROUNDOFF[name_of(dtype)], random)
        with _operations(random):
            samples = run(stored, SAMPLES)
        self.expected, self.bounds = [], []
        for exact, several in zip(self.exact, samples):
            expected = statistics(exact, exact)
            moved = [statistics(stored(sample), exact) for sample in several]
            self.expected.append(expected)
            self.bounds.append(
                [
                    STUDENT * torch.stack([found[place][1] - value for found in moved]).square().mean(dim=0).sqrt()
                    for place, (_unused, value) in enumerate(expected)
                ]
            )

    def compare(self, cases: Cases, words: str, actual: t.Sequence[torch.Tensor]) -> None:
        for name, exact, got, found, bounds in zip(NAMES, self.exact, actual, self.expected, self.bounds):
            if got.shape != exact.shape:
                cases.compare(f"{words}, {name}", got, exact, bounds[0])
                continue
            moved = statistics(got.detach().to("cpu").double(), exact)
            for (what, value), (_unused, mine), bound in zip(found, moved, bounds):
                cases.compare(f"{words}, {name}{f', {what}' if what else ''}", mine, value, bound)


# -- compiling


@contextlib.contextmanager
def _compiling(context: Context) -> t.Iterator[t.Callable[[], int]]:
    """Give torch.compile a clean start; the value says how many graphs it has compiled since."""
    if context.device == "cuda":
        installed("triton")
    elif not os.environ.get("CXX") and not shutil.which("g++"):
        raise Skipped("There is no C++ compiler (g++), which torch.compile needs for the CPU.")
    import torch
    import torch._dynamo
    import torch._dynamo.utils

    counters = torch._dynamo.utils.counters
    precision = torch.get_float32_matmul_precision()
    products = torch.backends.cuda.matmul
    reduced = products.allow_bf16_reduced_precision_reduction
    torch._dynamo.reset()
    counters.clear()
    try:
        # Partial sums of products may else be kept in TensorFloat-32 and bfloat16, for which the bound has no step.
        torch.set_float32_matmul_precision("highest")
        products.allow_bf16_reduced_precision_reduction = False
        with explained():
            yield lambda: int(counters["stats"]["unique_graphs"])
    finally:
        products.allow_bf16_reduced_precision_reduction = reduced
        torch.set_float32_matmul_precision(precision)
        torch._dynamo.reset()


def _compiled(function: t.Callable[..., t.Any], *, dynamic: bool) -> t.Callable[..., t.Any]:
    import torch

    try:
        return t.cast("t.Callable[..., t.Any]", torch.compile(function, fullgraph=True, dynamic=dynamic))
    except RuntimeError as error:
        if "not supported on Python" in str(error):
            raise Skipped(f"This torch has no torch.compile for this Python: {error}.") from error
        raise


def _counted(measured: Measured, graphs: int) -> Measured:
    if graphs == 0:
        raise Unanswered(
            ABSENT,
            "torch.compile compiled nothing: the function ran uncompiled.",
            "Unset TORCHDYNAMO_DISABLE and TORCH_COMPILE_DISABLE in the environment's activation.",
            "0 graphs",
            "1 graph or more",
        )
    measured.measured += f", {graphs} graph{'s' if graphs > 1 else ''} compiled"
    return measured


# -- the checks


@check("compilation.transformer_block", devices=("cuda", "cpu"), seconds=300, measured=(H200, H100_LAST, X86_CPU_LAST))
def transformer_block(context: Context) -> Measured:
    """Compiles a transformer block, forward and backward, and compares it and its eager run with float64.

    Bound: 11 times the mean deviation of 64 samples in stochastic arithmetic, as the head of this file derives it.
    """
    import torch

    if context.device == "cpu" and context.reference.get("gpu_required"):
        # Compiling C++ against torch's headers takes a minute of a core.
        raise Skipped("On a host with a GPU, compilation.transformer_block covers this.")
    cases = Cases("the transformer block", _WRONG)
    with _compiling(context) as graphs:
        for dtype in (torch.float32, torch.bfloat16) if context.device == "cuda" else (torch.float32,):
            name = name_of(dtype)
            random = context.generator(f"compilation.transformer_block {name}")
            values, gradient = _parameters(random, dtype)
            reference = Reference(values, gradient, dtype, random)
            there = [value.to(context.device) for value in values]
            reference.compare(cases, f"eager, {name}", _run(block, there, gradient.to(context.device)))
            compiled = _compiled(block, dynamic=False)
            reference.compare(cases, f"compiled, {name}", _run(compiled, there, gradient.to(context.device)))
        return _counted(cases.result(), graphs())


def fused(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A pointwise function and a reduction of it, which the compiler makes one kernel of."""
    import torch

    y = a * torch.exp(b) + c
    return y, y.sum(dim=-1, dtype=torch.float32)


@check("compilation.elementwise", devices=("cuda",), seconds=180, measured=SEEN)
def elementwise(context: Context) -> Measured:
    """Compiles y = a exp(b) + c and its row sums for any shape, and runs three shapes.

    Bound: the power is off by EXP2 + 3 u |b| of itself (u of float32, see ``triton_kernels``), product and sum add u
    each; where the format is bfloat16, each of the three may be rounded into it, and the results are. A row's sum is
    off by the sum of its terms' errors and gamma(n, u) of their magnitudes. All terms are positive, so that this is
    a small part of the sum.
    """
    import torch

    cases = Cases("the compiled pointwise function", _WRONG)
    single = UNIT_ROUNDOFF["float32"]
    with _compiling(context) as graphs:
        for dtype in (torch.float32, torch.bfloat16):
            name = name_of(dtype)
            unit = UNIT_ROUNDOFF[name]
            compiled = _compiled(fused, dynamic=True)
            for rows, columns in ((33, 700), (65, 1301), (7, 4099)):
                random = context.generator(f"compilation.elementwise {name} {rows}x{columns}")
                a, b, c = (
                    (torch.rand(rows, columns, generator=random) * width + start).to(dtype)
                    for width, start in ((1.0, 0.5), (2.0, -1.0), (1.0, 0.0))
                )
                power = a.double() * b.double().exp()
                y = power + c.double()
                bound = power * (EXP2 + 3 * single * b.double().abs() + 2 * single + 2 * unit) + 2 * y * unit
                bound = 1.02 * bound + UNDERFLOW[name]
                got, total = compiled(a.to(context.device), b.to(context.device), c.to(context.device))
                cases.compare(f"{rows} x {columns}, {name}", got, y, bound)
                expected = y.sum(dim=1)
                sums = bound.sum(dim=1) + 1.02 * gamma(columns, single) * expected
                cases.compare(f"row sums of {rows} x {columns}, {name}", total, expected, sums)
        return _counted(cases.result(), graphs())
