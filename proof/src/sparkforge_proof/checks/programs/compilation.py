"""Compare a transformer block that was compiled with ``torch.compile`` with float64.

No formula gives a useful bound for the block: worst cases multiply over a dozen consecutive products, two
normalisations and an exponential function. Its error is therefore counted like those of operators in the survey
(``survey.rounding``): in units of the format at each number and at the result's largest number, and by the change in
the float64 result when inputs are one unit off. Faulty compilers are off by thousands of units: in float32, 80,000 are
one per cent.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import typing as t

from ...check import ABSENT, X86_CPU_LAST, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, functional as F, name_of, torch
from ..kernels.triton_kernels import explained, installed

#: The allowed number of units; on an x86_64 CPU the error was at most 1.6 units, compiled or not (2.13).
UNITS = 16.0

BATCH, TOKENS, HEADS, HEAD, HIDDEN = 2, 23, 2, 32, 160
WIDTH = HEADS * HEAD

_WRONG = (
    "Do not train with torch.compile on this stack: install the stack's versions of torch and Triton; if the attention "
    "check also fails, fix that first."
)


def _parameters(random: torch.Generator, dtype: torch.dtype) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return the block's input and parameters, followed by the gradient of its result."""

    def draw(*shape: int, scale: float = 1.0, center: float = 0.0) -> torch.Tensor:
        return (torch.randn(*shape, generator=random) * scale + center).to(dtype)

    values = [
        draw(BATCH, TOKENS, WIDTH),
        draw(WIDTH, scale=0.2, center=1.0),
        draw(WIDTH, scale=0.2),
        draw(3 * WIDTH, WIDTH, scale=1.5 * WIDTH**-0.5),
        draw(WIDTH, WIDTH, scale=WIDTH**-0.5),
        draw(WIDTH, scale=0.2, center=1.0),
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
    """Run a transformer block like those in real models."""
    normal = F.layer_norm(x, (WIDTH,), weight_1, bias_1)
    q, k, v = (
        part.reshape(BATCH, TOKENS, HEADS, HEAD).transpose(1, 2) for part in F.linear(normal, project).chunk(3, dim=-1)
    )
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + F.linear(attended.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH), unite)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (WIDTH,), weight_2, bias_2), up)), down)


def _result_and_gradients(
    function: t.Callable[..., torch.Tensor], values: t.Sequence[torch.Tensor], gradient: torch.Tensor
) -> list[torch.Tensor]:
    """Return the function's result and the gradients of all its arguments."""
    leaves = [value.detach().clone().requires_grad_() for value in values]
    result = function(*leaves)
    return [result.detach(), *torch.autograd.grad(result, leaves, gradient)]


def _bounds(
    values: t.Sequence[torch.Tensor], gradient: torch.Tensor, dtype: torch.dtype
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return each result in float64, with its allowed error in a format."""
    unit = 2 * UNIT_ROUNDOFF[name_of(dtype)]
    exact = [value.double() for value in values]
    signs = [torch.arange(value.numel()).remainder(2).mul(2).sub(1).reshape(value.shape) for value in exact]
    moved_inputs = [value * (1 + unit * sign) for value, sign in zip(exact, signs)]
    results, moved_results = (
        _result_and_gradients(block, leaves, gradient.double()) for leaves in (exact, moved_inputs)
    )
    return [
        (result, UNITS * (unit * (result.abs() + result.abs().max()) + (moved_result - result).abs().max()))
        for result, moved_result in zip(results, moved_results)
    ]


@contextlib.contextmanager
def clean_compiler(context: Context) -> t.Iterator[t.Callable[[], int]]:
    """Reset torch.compile; yield a function that returns the number of graphs compiled since then."""
    if context.device == "cuda":
        installed("triton")
    elif not os.environ.get("CXX") and not shutil.which("g++"):
        raise Skipped("There is no C++ compiler (g++), which torch.compile needs for the CPU.")
    import torch._dynamo
    import torch._dynamo.utils

    counters = torch._dynamo.utils.counters
    precision = torch.get_float32_matmul_precision()
    products = torch.backends.cuda.matmul
    reduced = products.allow_bf16_reduced_precision_reduction
    torch._dynamo.reset()
    counters.clear()
    try:
        # Otherwise partial sums could be kept in TensorFloat-32 or bfloat16, which the bound does not cover.
        torch.set_float32_matmul_precision("highest")
        products.allow_bf16_reduced_precision_reduction = False
        with explained():
            yield lambda: int(counters["stats"]["unique_graphs"])
    finally:
        products.allow_bf16_reduced_precision_reduction = reduced
        torch.set_float32_matmul_precision(precision)
        torch._dynamo.reset()


def _compiled(function: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    try:
        return t.cast("t.Callable[..., t.Any]", torch.compile(function, fullgraph=True, dynamic=False))
    except RuntimeError as error:
        if "not supported on Python" in str(error):
            raise Skipped(f"This torch has no torch.compile for this Python: {error}.") from error
        raise


def with_graph_count(measured: Measured, graphs: int) -> Measured:
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


@check("compilation.transformer_block", devices=("cuda", "cpu"), seconds=300, measured=(X86_CPU_LAST,))
def transformer_block(context: Context) -> Measured:
    """Compare a compiled transformer block, forward and backward, and its eager run with float64.

    Bound: a few units of the format; see the module's docstring.
    """
    if context.device == "cpu" and context.reference.get("gpu_required"):
        # Compiling C++ against torch's headers takes a minute on one core.
        raise Skipped("On a host with a GPU, compilation.transformer_block covers this.")
    cases = Cases("the transformer block", _WRONG)
    with clean_compiler(context) as graphs:
        for dtype in (torch.float32, torch.bfloat16) if context.device == "cuda" else (torch.float32,):
            name = name_of(dtype)
            random = context.generator(f"compilation.transformer_block {name}")
            values, gradient = _parameters(random, dtype)
            bounds = _bounds(values, gradient, dtype)
            on_device = [value.to(context.device) for value in values]
            for mode, function in (("eager", block), ("compiled", _compiled(block))):
                computed = _result_and_gradients(function, on_device, gradient.to(context.device))
                for part, actual, (exact, bound) in zip(NAMES, computed, bounds):
                    cases.compare(f"{mode}, {name}, {part}", actual, exact, bound)
        return with_graph_count(cases.result(), graphs())
