"""Compare a transformer block that was compiled with ``torch.compile`` with float64.

No formula gives a useful bound for the block: worst cases multiply over a dozen consecutive products, two
normalisations and an exponential function. Its error is therefore counted like those of operators in the survey
(``survey.rounding``): in units of the format at each number and at the result's largest number, and by the change in
the float64 result when inputs are one unit off. Faulty compilers are off by thousands of units: in float32, 80,000 are
one per cent.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import shutil
import types
import typing as t

from ...check import ABSENT, X86_CPU_GRID, Context, Measured, Skipped, Unanswered, check
from ..bounds import Cases, name_of, torch
from ..kernels.triton_kernels import explained, installed
from ..programs import recipes
from . import modules, rounding

#: The allowed number of units; on an x86_64 CPU the error was at most 1.6 units, compiled or not (2.13).
UNITS = 16.0

_WRONG = (
    "Do not train with torch.compile on this stack: install the stack's versions of torch and Triton; if the attention "
    "check also fails, fix that first."
)


@contextlib.contextmanager
def clean_compiler(context: Context) -> t.Iterator[t.Callable[[], int]]:
    """Reset torch.compile; yield a function that returns the number of graphs compiled since then."""
    if context.device == "cuda":
        installed("triton")
    elif context.reference.get("gpu_required"):
        # Compiling C++ against torch's headers takes a minute on one core.
        raise Skipped("On a host with a GPU, only code that is compiled for the GPU is compared.")
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


@check("compilation.transformer_block", devices=("cuda", "cpu"), seconds=300, measured=(X86_CPU_GRID,))
def transformer_block(context: Context) -> Measured:
    """Compare a compiled transformer block, forward and backward, and its eager run with float64.

    Bound: a few units of the format; see the module's docstring.
    """
    cases = Cases("the transformer block", _WRONG)
    network, batches = recipes.draw(context, "transformer")
    network.parts = network.parts[:1]
    text = types.SimpleNamespace(input=batches[0][0].to(context.device), args=(), kwargs={})
    text.output_process_fn_grad = lambda result: result
    with clean_compiler(context) as graphs:
        for dtype in (torch.float32, torch.bfloat16) if context.device == "cuda" else (torch.float32,):
            module = copy.deepcopy(network).to(context.device, dtype)
            refer = functools.partial(modules.reference, module, "", dtype, "block")
            exact = refer(text)
            shifted = rounding.shifted_reference(refer, exact, dtype)
            for mode, function in (("eager", module), ("compiled", _compiled(module))):
                computed = rounding.compute(function, text, list(module.parameters()), dtype, "block")
                errors = rounding.worst_errors(computed, exact, shifted, dtype)
                for part, error in zip(("result", "gradients"), errors):
                    actual = torch.tensor(error).double()
                    cases.compare(f"{mode}, {name_of(dtype)}, {part}", actual, 0 * actual, UNITS + 0 * actual)
        return with_graph_count(cases.result(), graphs())
