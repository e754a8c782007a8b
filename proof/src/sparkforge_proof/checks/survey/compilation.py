"""The conditions under which checks call ``torch.compile``."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import typing as t

from ...check import ABSENT, Context, Measured, Skipped, Unanswered
from ..bounds import setting
from ..kernels.triton_kernels import installed


@contextlib.contextmanager
def clean_compiler(context: Context) -> t.Iterator[t.Callable[[], int]]:
    """Reset torch.compile; yield a function that returns the number of graphs compiled since then."""
    if context.device == "cuda":
        installed()
    elif context.reference.get("gpu_required"):
        # Compiling C++ against torch's headers takes a minute on one core.
        raise Skipped("On a host with a GPU, only code that is compiled for the GPU is compared.")
    elif not os.environ.get("CXX") and not shutil.which("g++"):
        raise Skipped("There is no C++ compiler (g++), which torch.compile needs for the CPU.")
    import torch._dynamo.utils

    counters = torch._dynamo.utils.counters
    precision = torch.get_float32_matmul_precision()
    torch._dynamo.reset()
    counters.clear()
    try:
        # Otherwise partial sums could be kept in TensorFloat-32 or bfloat16, which the bound does not cover.
        torch.set_float32_matmul_precision("highest")
        with setting(torch.backends.cuda.matmul, "allow_bf16_reduced_precision_reduction", False):
            yield lambda: int(counters["stats"]["unique_graphs"])
    finally:
        torch.set_float32_matmul_precision(precision)
        torch._dynamo.reset()
        # The processes that compile keep their memory until then, and their processor time counts only afterwards.
        importlib.import_module("torch._inductor.async_compile").shutdown_compile_workers()


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
