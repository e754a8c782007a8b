"""Check scaled dot product attention: torch's kernels, forward and backward, and those of the package flash-attention.

The module ``attention_grid`` draws the calls, and ``attention_reference`` derives the bounds.
"""

from __future__ import annotations

import contextlib
import functools
import math
import typing as t

from ..._shared.module_utils._core import versions
from ...check import ABSENT, H200_BUILT, H200S, SEEN_GRID, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, allow_tf32, functional, gradients, one_thread, torch
from ..stack import companions
from ..stack.architectures import list_for
from . import attention_grid as grid
from .attention_grid import HALF, Case
from .attention_packed import compare_packed
from .attention_reference import Bound, Inputs, compare, reference, rounds_scores

#: The number of rows of the grid in a default run. cuDNN compiles a graph for each new shape, which dominates the time,
#: and on data centre GPUs it is torch's choice.
ROWS = {"math": 60, "efficient": 90, "flash": 90, "cudnn": 6, "": 12}
ROWS_ON_CPU = {"math": 24, "flash": 80, "": 40}


def expected(context: Context, case: Case, inputs: Inputs, kernel: str = "") -> dict[str, Bound]:
    """Return the results of a case with their bounds, which are specific to a kernel if one is named."""
    half, cpu = case.format in HALF, context.device == "cpu"
    rounds = half and cpu and kernel != "math" and rounds_scores(case.format)
    # If all queries have the same gradient, dP is too, and rounding it is not independent.
    heads = not (rounds and case.gradient == "expanded")
    with one_thread():
        return reference(inputs, half, cpu, rounds, heads)


def _offers(context: Context, backend: str, case: Case, arguments: Inputs) -> bool:
    """Tell whether torch itself would select a backend; call this while that backend is enabled."""
    is_undefined = case.mask == "lower right" and case.shape[3] > case.shape[4]
    if is_undefined and (backend == "efficient" or (backend == "" and context.device == "cuda")):
        # Torch does not define the result of queries that see no key because of where the causal mask is aligned.
        return False
    if backend in ("math", ""):
        return True
    operands, causal, grouped = grid.operands(case, arguments), case.mask == "causal", case.is_grouped
    if context.device == "cpu":
        flash_backend = torch.nn.attention.SDPBackend.FLASH_ATTENTION
        # With the math kernel as an alternative, torch answers even if the kernel does not fit.
        with torch.nn.attention.sdpa_kernel([flash_backend, torch.nn.attention.SDPBackend.MATH]):
            answer = torch._fused_sdp_choice(*operands, 0.0, causal, scale=case.scale, enable_gqa=grouped)
        return int(answer) == int(flash_backend.value)
    parameters = torch.backends.cuda.SDPAParams(*operands, 0.0, causal, grouped)
    return bool(getattr(torch.backends.cuda, f"can_use_{backend}_attention")(parameters))


_OTHER_KERNEL = "until then select another kernel with torch.nn.attention.sdpa_kernel."
_REBUILD_CPU = (
    "Run it again with ATEN_CPU_CAPABILITY=default: if the result is then right, the code for this CPU's vector "
    "instructions is wrong, so build torch with another compiler, or use a stack with official wheels; if not, see the "
    "checks cpu.matmul.*;"
    f" {_OTHER_KERNEL}"
)
_NAMES = {
    "math": "attention by torch's math kernel",
    "efficient": "memory-efficient attention",
    "flash": "flash attention",
    "cudnn": "cuDNN's attention",
    "": "attention by the kernel that torch chooses",
}
#: The remedies that do not depend on the device; :func:`_remedy` returns those of "efficient" and "flash".
_REMEDY = {
    "math": "See the checks of family matmul first, since this kernel consists of matrix products; if they pass, use "
    "another stack.",
    "": "Check which other attention.* checks fail.",
    "cudnn": "Use a stack with a newer cuDNN (before 9.15.1 it is wrong for lengths that are not multiples of 128), or "
    "turn this kernel off with torch.backends.cuda.enable_cudnn_sdp(False).",
}


def _remedy(context: Context, backend: str) -> str:
    """Return the remedy for wrong results from a kernel on this device."""
    if backend in _REMEDY:
        return _REMEDY[backend]
    if context.device == "cpu":
        return _REBUILD_CPU
    capability = "{}.{}".format(*torch.cuda.get_device_capability(0))
    return (
        f"Rebuild torch with TORCH_CUDA_ARCH_LIST={list_for(capability)} (stack_method: build), or use a stack with "
        f"official wheels; {_OTHER_KERNEL}"
    )


def _require_built(backend: str) -> None:
    """Skip a kernel without which torch was built."""
    if backend == "flash" and not torch.backends.cuda.is_flash_attention_available():
        raise Skipped("This torch is built without flash attention.")
    if backend == "cudnn" and not torch.backends.cudnn.is_available():
        raise Skipped("This torch is built without cuDNN.")


def _compare_dropout(cases: Cases, context: Context, formats: t.Sequence[str]) -> None:
    """Compare attention with dropout and its gradients, for the weights W that it keeps.

    Each value marks one key, so that the result is W = P M / (1 - p), where M is 0 for a weight that is dropped, else
    1. Bounds: P is off by a share of 2^-10, with scores of at most 16 that are sums of 128 products in float32, and in
    16 bits each result by five roundings: of P, O, dO O, dS and itself. These are shares of sums of magnitudes, of
    which that of dS is at most 2 P max |dO| / (1 - p).
    """
    drawing = context.drawing(cases.subject)
    for form, causal in zip(formats, drawing.sample((False, True, False), 3)):
        size, p, queries = drawing.choice((64, 128)), drawing.choice((0.1, 0.3, 0.5)), drawing.randint(40, 260)
        # GPUs' flash attention is causal only for as many queries as keys.
        queries = size if causal else queries
        generator, dtype = context.generator(f"{context.seed} dropout {form}"), getattr(torch, form)
        query, key = (torch.randn(2, 3, length, size, generator=generator).to(dtype) for length in (queries, size))
        upstream = (torch.rand(query.shape, generator=generator) + 0.5).to(dtype)
        exact = [x.double().requires_grad_() for x in (query, key, torch.eye(size).expand(2, 3, -1, -1))]
        leaves = [x.detach().to(context.device, dtype).requires_grad_() for x in exact]
        case = f"{form}, dropout {p}{', causal' * causal}, head size {size}, {queries} queries of {size} keys"
        with cases.offered(case):
            torch.manual_seed(context.seed)
            output = functional.scaled_dot_product_attention(*leaves, None, p, causal)
            actual = output.detach(), *gradients(output, leaves, upstream.to(output))
            visible = torch.ones(queries, size, dtype=torch.bool).tril(0 if causal else size)
            weights = (exact[0] @ exact[1].mT / size**0.5).masked_fill(~visible, -math.inf).softmax(-1)
            factors = (actual[0].cpu() != 0) / (1 - p)
            kept, allowed = factors[..., visible].bool().double(), 6.5 * (p * (1 - p) / 6 / visible.sum()) ** 0.5
            cases.compare(f"{case}, share", kept.mean(), torch.tensor(1 - p).double(), allowed + 0.5 / visible.sum())
            expected = weights * factors @ exact[2]
            # The rounding of a number below the smallest normal one of float16 is constant.
            sizes = [scale * weights.detach() + visible * 2.0**-14 for scale in (1, 3 / (1 - p) / size**0.5)]
            of_scores = sizes[1] @ exact[1].abs(), sizes[1].mT @ exact[0].abs()
            magnitudes = sizes[0] * factors, *of_scores, (sizes[0] * factors).mT @ upstream.double()
            results = expected, *gradients(expected, exact, upstream.double())
            share = 2.0**-10 + 5 * UNIT_ROUNDOFF[form]
            for name, *both, magnitude in zip(("O", "dQ", "dK", "dV"), actual, results, magnitudes):
                bound = share * magnitude.detach() + UNDERFLOW[form]
                cases.compare(f"{case}, {name}", both[0], both[1].detach(), bound)


#: pytorch/pytorch#196678 (a mask and 64 modulo 128 tokens) and NVIDIA/cudnn-frontend#1072 (one query); pytorch#191937,
#: which also reads beyond the keys, until pytorch/pytorch#191984 (2026-08), which names the path of a single query:
#: with a mask or if it is causal, the last of 65 queries was wrong too. An H200 with torch 2.11 showed both.
_KNOWN_DEFECTS = {
    "cudnn": (
        "cuDNN's gradients are not finite if all scores of a query are very low, as is known (pytorch#196678)",
        _REMEDY["cudnn"],
    ),
    "efficient": (
        "Memory-efficient attention is wrong if some expanded keys are masked, as is known (pytorch#191937)",
        "Use torch 2.14 or newer; until then pass copies of expanded keys and values (contiguous()).",
    ),
    "flash": (
        "Flash attention's gradients in bfloat16 are wrong for a head size of 1, as is known of torch 2.10 on CPUs",
        "Use torch 2.11 or newer.",
    ),
}


def _known_defect(context: Context, backend: str, case: Case) -> str:
    """Return which defect can make a call's results (``efficient``) or only its gradients wrong, or ''."""
    queries, release = case.shape[3], versions.numbers(torch.__version__)
    if context.device != "cuda":
        is_wrong = backend in ("flash", "") and case.format == "bfloat16" and case.shape[5] == 1 and release < (2, 11)
        return "flash" if is_wrong else ""
    if backend in ("cudnn", "") and case.format in HALF and case.mask == "low numbers":
        return "cudnn"
    is_masked = case.mask in (*grid.TENSORS, "causal") and case.is_expanded
    return "efficient" if backend in ("efficient", "") and is_masked and queries % 32 == 1 and release < (2, 14) else ""


@check("attention.math", devices=("cuda", "cpu"), measured=SEEN_GRID, factor=1)
@check("attention.flash", devices=("cuda", "cpu"), measured=SEEN_GRID, factor=1)
@check("attention.efficient", factor=1, measured=H200S)
@check("attention.cudnn", seconds=120, factor=1, measured=H200S)
@check("attention.default", devices=("cuda", "cpu"), measured=SEEN_GRID, factor=1)
def kernel(context: Context, name: str) -> Measured:
    """Check a kernel of torch, or by default the one that it selects, in rows of the grid for which torch offers it.

    The math kernel consists of matrix products. Flash attention is the default for 16-bit formats without a mask, and
    cuDNN's on data centre GPUs; memory-efficient attention is that for float32 and for masks. Bounds: see
    ``attention_reference``; they hold for every kernel.
    """
    backend, formats = name.replace("default", ""), HALF if name == "cudnn" else grid.FORMATS
    cuda = context.device == "cuda"
    if cuda and backend not in ("math", ""):
        grid.require_capability()
        _require_built(backend)
    kernel = "MATH" if backend == "math" else f"{backend.upper()}_ATTENTION"
    kernels = [getattr(torch.nn.attention.SDPBackend, kernel)] if backend else []
    cases = Cases(_NAMES[backend], _remedy(context, backend))
    known = {defect: Cases(_NAMES[backend], _remedy(context, backend)) for defect in _KNOWN_DEFECTS}
    rows = [*grid.cases(context, backend, (ROWS if cuda else ROWS_ON_CPU)[backend], formats)]
    offered = 0
    select = torch.nn.attention.sdpa_kernel(kernels) if kernels else contextlib.nullcontext()
    with allow_tf32(torch.backends.cuda.matmul, False), select:
        for row in rows:
            bounds = None
            with one_thread():
                inputs = grid.draw(context, row[0])
            for case in row:
                arguments = grid.arguments(case, inputs, context.device)
                if not _offers(context, backend, case, arguments):
                    continue
                # torch offers cuDNN for sizes for which cuDNN has no plan, for example.
                results: t.Sequence[torch.Tensor] = ()
                with cases.offered(str(case)), one_thread() if case.threads == "one" else contextlib.nullcontext():
                    results = grid.attend(case, arguments)
                if not results:
                    continue
                offered += 1
                # The formats in a row have the same reference, unless the CPU's BLAS lacks a product for one of them.
                if bounds is None or not cuda:
                    bounds = expected(context, case, inputs, backend)
                forward, *backward = bounds.items()
                defect = _known_defect(context, backend, case)
                of_forward = cases if defect != "efficient" else known[defect]
                compare(of_forward, str(case), case.format, dict([forward]), results)
                compare(known.get(defect, cases), str(case), case.format, dict(backward), results[1:])
        if cuda or backend != "flash":
            _compare_dropout(cases, context, formats)
    planned = sum(map(len, rows))
    if not offered:
        cause = f"torch has {_NAMES[backend]} for none of {planned} calls here."
        remedy = "Use a stack whose torch is built with it, or remove the check from the profile's required checks."
        raise Unanswered(ABSENT, cause, remedy, f"0 of {planned} calls", "at least one")
    result = cases.result(f"; offered for {offered} of {planned} calls; seed {context.seed}")
    rounding = [form for form in HALF if rounds_scores(form)] if not cuda and backend == "flash" else []
    if rounding:
        result.measured += f"; its BLAS has no product of {' and '.join(rounding)} in float32, so scores are rounded"
    for defect, (sentence, remedy) in _KNOWN_DEFECTS.items():
        known[defect].warn(result, sentence, remedy)
    return result


@check("attention.flash_package", measured=(H200_BUILT,), factor=1)
def flash_package(context: Context) -> Measured:
    """Check the package flash-attention, also with sequences of several lengths in a tensor."""
    package = companions.load("flash_attn")
    grid.require_capability()
    cases = Cases(
        "attention by the package flash_attn",
        "Rebuild it against this environment's torch with FLASH_ATTN_CUDA_ARCHS=120 (90 for 9.0).",
    )

    def attend(case: Case, inputs: Inputs) -> torch.Tensor:
        query, key, value = (x.transpose(1, 2).contiguous() for x in inputs[:3])
        return package.flash_attn_func(query, key, value, causal=case.mask == "causal").transpose(1, 2)

    lengths = ((2, 2, 2, 128, 128), (1, 1, 1, 197, 197), (2, 4, 2, 64, 64))
    for number, size in enumerate((32, 64, 96, 128, 192, 256) * 2):
        for mask in ("none", "causal"):
            case = Case("float16", mask, (*lengths[number % 3], size))
            inputs = grid.draw(context, case)
            bounds = expected(context, case, inputs)
            for form in HALF:
                in_form = case._replace(format=form)
                results = grid.attend(in_form, grid.arguments(in_form, inputs, context.device), attend)
                compare(cases, str(in_form), form, bounds, results)
    for form in HALF:
        parts = [Case(form, "causal", (1, 2, 2, tokens, tokens, 64)) for tokens in (40, 128, 77)]
        compare_packed(cases, context, parts, functools.partial(package.flash_attn_varlen_func, causal=True))
    return cases.result(f"; flash_attn {getattr(package, '__version__', 'of unknown version')}")
