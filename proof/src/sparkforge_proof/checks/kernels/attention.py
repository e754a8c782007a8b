"""Check scaled dot product attention: torch's kernels, forward and backward, and those of the package flash-attention.

The module ``attention_reference`` computes the reference, and derives the bounds.

Inputs are of order 1. V and dO have one sign in each lane, so that the sums in O and dV do not cancel, and the bound
for each of their elements is near 1 per cent in bfloat16 (up to 5 on the CPU). 16-bit inputs are multiples of 1/32
below 4, which float16 and bfloat16 both represent, so that the two formats share one reference.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import typing as t

from ...check import ABSENT, CRASH, H200_BUILT, SEEN, SEEN_ARM, Context, Failed, Measured, Skipped, Unanswered, check
from ..bounds import Cases, gradients, one_thread, torch
from ..stack.architectures import list_for
from .attention_reference import Bound, Inputs, compare, reference, rounds_scores

FLOAT32 = ("float32",)
HALF = ("float16", "bfloat16")
FORMATS = FLOAT32 + HALF
MASKS = ("none", "causal", "float", "bool")
HEAD_SIZES = (32, 64, 96, 128, 192, 256)
SMALL_HEAD_SIZES = (32, 64, 128)


class Case(t.NamedTuple):
    """One call of attention; ``shape`` holds batch, query heads, key heads, queries, keys and head size."""

    format: str
    mask: str
    shape: tuple[int, int, int, int, int, int]

    def __str__(self) -> str:
        _unused, heads, key_heads, queries, keys, size = self.shape
        parts = [self.format, {"none": "no mask", "causal": "causal"}.get(self.mask, f"{self.mask} mask")]
        parts.append(f"head size {size}")
        parts.append(f"{queries} tokens" if queries == keys else f"{queries} queries of {keys} keys")
        if key_heads != heads:
            parts.append(f"{heads} heads share {key_heads}")
        return ", ".join(parts)


def plan(formats: t.Sequence[str], thin: bool = False, small: bool = False) -> list[Case]:
    """Return the cases for one kernel: formats x masks x head sizes, plus longer, uneven and grouped cases.

    :param thin: omit every second case, so that each pair of format, mask and head size remains, and boolean masks,
        which torch converts to numbers before it calls the kernel.
    :param small: return cases that two CPU cores compute in a second.
    """
    cases = []
    # One length is a multiple of the kernels' tiles, the other is not.
    even, odd = ((1, 2, 2, 40, 40), (1, 1, 1, 77, 77)) if small else ((1, 2, 2, 128, 128), (1, 1, 1, 197, 197))
    long = (1, 1, 1, 200, 200, 64) if small else (1, 1, 1, 640, 640, 64)
    for form in formats:
        number = FORMATS.index(form)
        for mask_number, mask in enumerate(MASKS[:3] if thin and not small else MASKS):
            for size_number, size in enumerate(SMALL_HEAD_SIZES if small else HEAD_SIZES):
                if not (thin and (number + mask_number + size_number) % 2):
                    cases.append(Case(form, mask, (*(odd if (mask_number + size_number // 2) % 2 else even), size)))
        cases.append(Case(form, "causal", long))
        cases.append(Case(form, "none", (2, 2, 2, 20, 50, 64) if small else (2, 2, 2, 77, 333, 128)))
        cases.append(Case(form, "causal", (2, 4, 2, 64, 64, 64)))
    return cases


def draw(context: Context, case: Case) -> Inputs:
    """Return the inputs of a case, which are the same for float16 and bfloat16."""
    batch, heads, key_heads, queries, keys, size = case.shape
    half = case.format in HALF
    generator = context.generator(f"attention {half} {case.mask} {case.shape}")

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    def one_sign(*shape: int) -> torch.Tensor:
        sign = torch.randint(0, 2, (shape[0], shape[1], 1, shape[3]), generator=generator) * 2 - 1
        return sign * (normal(*shape).abs() + 0.25)

    def representable(values: torch.Tensor) -> torch.Tensor:
        return ((values.clamp(-3.9, 3.9) * 32).round() / 32 if half else values).double()

    mask = None
    # Kernels broadcast a mask in their own ways, so both shapes are tested.
    form = (queries, keys) if size % 64 else (batch, heads, queries, keys)
    if case.mask == "float":
        mask = representable(normal(*form))
    elif case.mask == "bool":
        mask = torch.rand(form, generator=generator) < 0.7
        # The result is undefined for a query that does not attend to any key.
        mask[..., torch.arange(queries), torch.arange(queries) % keys] = True
    return Inputs(
        representable(normal(batch, heads, queries, size) * 1.5),
        representable(normal(batch, key_heads, keys, size)),
        representable(one_sign(batch, key_heads, keys, size)),
        representable(one_sign(batch, heads, queries, size)),
        mask,
    )


#: References that several checks use, because the checks in a family run in one process.
_REFERENCES: dict[tuple[t.Any, ...], tuple[Inputs, dict[str, Bound]]] = {}


def _expected(context: Context, case: Case, kernel: str = "") -> tuple[Inputs, dict[str, Bound]]:
    """Return the inputs of a case and its bounds, which are specific to a kernel if one is named."""
    half, cpu = case.format in HALF, context.device == "cpu"
    rounds = half and cpu and kernel != "math" and rounds_scores(case.format)
    key = (half, case.mask, case.shape, cpu, rounds)
    if key not in _REFERENCES:
        with one_thread():
            inputs = draw(context, case)
            _REFERENCES[key] = inputs, reference(inputs, case.mask == "causal", half, cpu, rounds)
    return _REFERENCES[key]


def _arguments(case: Case, inputs: Inputs, device: str, strided: bool) -> Inputs:
    """Move the inputs to a device; if ``strided``, with tokens before heads in memory, as in models."""
    form = getattr(torch, case.format)

    def move(values: torch.Tensor) -> torch.Tensor:
        on_device = values.to(device, form)
        return on_device.transpose(1, 2).contiguous().transpose(1, 2) if strided else on_device

    query, key, value = (move(x).requires_grad_() for x in (inputs.query, inputs.key, inputs.value))
    mask = inputs.mask
    if mask is not None:
        mask = mask.to(device) if mask.dtype == torch.bool else mask.to(device, form)
    return Inputs(query, key, value, inputs.gradient.to(device, form), mask)


def _attend(case: Case, arguments: Inputs) -> tuple[torch.Tensor, ...]:
    options = {"enable_gqa": True} if case.shape[1] != case.shape[2] else {}
    output = torch.nn.functional.scaled_dot_product_attention(
        arguments.query,
        arguments.key,
        arguments.value,
        attn_mask=arguments.mask,
        is_causal=case.mask == "causal",
        **options,
    )
    return (output, *gradients(output, (arguments.query, arguments.key, arguments.value), arguments.gradient))


@contextlib.contextmanager
def _without_tf32() -> t.Iterator[None]:
    """Disable TF32, regardless of environment variables."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _offers(context: Context, backend: str, case: Case, arguments: Inputs) -> bool:
    """Tell whether torch itself would select a backend; call this while that backend is enabled."""
    causal, grouped = case.mask == "causal", case.shape[1] != case.shape[2]
    if backend == "math":
        return True
    if context.device == "cpu":
        flash_backend = torch.nn.attention.SDPBackend.FLASH_ATTENTION
        # With the math kernel as an alternative, torch answers even if the kernel does not fit.
        with torch.nn.attention.sdpa_kernel([flash_backend, torch.nn.attention.SDPBackend.MATH]):
            answer = torch._fused_sdp_choice(
                arguments.query, arguments.key, arguments.value, arguments.mask, 0.0, causal, enable_gqa=grouped
            )
        return int(answer) == int(flash_backend.value)
    parameters = torch.backends.cuda.SDPAParams(
        arguments.query, arguments.key, arguments.value, arguments.mask, 0.0, causal, grouped
    )
    return bool(getattr(torch.backends.cuda, f"can_use_{backend}_attention")(parameters))


_OTHER_KERNEL = "until then select another kernel with torch.nn.attention.sdpa_kernel."
_REBUILD_CPU = (
    "Run it again with ATEN_CPU_CAPABILITY=default: if the result is then right, the code for this CPU's vector "
    "instructions is wrong, so build torch with another compiler, or use a stack with official wheels; if not, see the "
    "checks cpu.matmul.*;"
    f" {_OTHER_KERNEL}"
)
_NO_KERNEL = "Use a stack whose torch is built with it, or remove the check from the profile's required checks."

_NAMES = {
    "math": "attention by torch's math kernel",
    "efficient": "memory-efficient attention",
    "flash": "flash attention",
    "cudnn": "cuDNN's attention",
}
#: The remedies that do not depend on the device; :func:`_remedy` returns those of "efficient" and "flash".
_REMEDY = {
    "math": "See the checks of family matmul first, since this kernel consists of matrix products; if they pass, use "
    "another stack.",
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


@contextlib.contextmanager
def _explained_on_spark() -> t.Iterator[None]:
    """Add to a failure the known cause of wrong memory-efficient attention on a Spark."""
    try:
        yield
    except Failed as error:
        if not isinstance(error, Unanswered) and torch.cuda.get_device_capability(0) == (12, 1):
            error.cause += (
                " This GPU has compute capability 12.1, for which torch 2.9 to 2.11 compiles memory-efficient attention"
                " to empty kernels."
            )
            error.remedy = (
                "Rebuild torch with TORCH_CUDA_ARCH_LIST=12.0 or with the stack's guard patch, or use a stack with "
                "torch 2.12 or newer."
            )
        raise


def _not_built(backend: str) -> str | None:
    """Return the reason why torch was built without a kernel, or None if it has the kernel."""
    if backend == "flash" and not torch.backends.cuda.is_flash_attention_available():
        return "This torch is built without flash attention."
    if backend == "cudnn" and not torch.backends.cudnn.is_available():
        return "This torch is built without cuDNN."
    if backend == "cudnn" and (torch.backends.cudnn.version() or 0) < 90000:
        return f"torch uses cuDNN for attention from version 9.0 on; this is {torch.backends.cudnn.version()}."
    return None


def _backend(context: Context, backend: str, formats: t.Sequence[str] = FORMATS) -> Measured:
    """Compare one kernel for every combination for which torch offers it."""
    cuda = context.device == "cuda"
    if cuda and backend != "math":
        if torch.cuda.get_device_capability(0) < (8, 0):
            raise Skipped("Attention kernels need compute capability 8.0 or higher.")
        missing = _not_built(backend)
        if missing:
            raise Skipped(missing)
    kernel = {
        "math": torch.nn.attention.SDPBackend.MATH,
        "efficient": torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION,
        "flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION,
        "cudnn": torch.nn.attention.SDPBackend.CUDNN_ATTENTION,
    }[backend]
    cases = Cases(_NAMES[backend], _remedy(context, backend))
    # cuDNN compiles a graph for each new shape, which dominates the time.
    planned = plan(formats, thin=backend == "cudnn" or not cuda, small=not cuda)
    if backend in ("flash", "cudnn") and cuda:
        planned = [case for case in planned if case.format in HALF]
    offered_count = 0
    without_plan = set()
    with _without_tf32(), torch.nn.attention.sdpa_kernel(kernel):
        for number, case in enumerate(planned):
            inputs, bounds = _expected(context, case, backend)
            arguments = _arguments(case, inputs, context.device, strided=bool(number % 2))
            if not _offers(context, backend, case, arguments):
                continue
            try:
                results = _attend(case, arguments)
            except RuntimeError as error:
                # torch offers cuDNN for some sizes above 128 for which cuDNN has no plan.
                if backend == "cudnn" and case.shape[-1] > 128 and "execution plan" in str(error):
                    without_plan.add(case.shape[-1])
                    continue
                raise
            offered_count += 1
            compare(cases, str(case), case.format, bounds, results)
    if not offered_count:
        raise Unanswered(
            ABSENT,
            f"torch has {_NAMES[backend]} for none of {len(planned)} combinations of format, mask and head size here.",
            _NO_KERNEL,
            f"0 of {len(planned)} combinations",
            "at least one",
        )
    result = cases.result()
    result.measured += f"; offered for {offered_count} of {len(planned)} combinations"
    rounding = [form for form in HALF if rounds_scores(form)] if not cuda and backend == "flash" else []
    if rounding:
        result.measured += f"; its BLAS has no product of {' and '.join(rounding)} in float32, so scores are rounded"
    if without_plan:
        result.measured += f"; cuDNN has no plan for head size {', '.join(map(str, sorted(without_plan)))}"
    return result


@check("attention.math", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def math_kernel(context: Context) -> Measured:
    """Check attention composed of matrix products, for every format and mask. Bounds: see ``attention_reference``."""
    return _backend(context, "math")


@check("attention.efficient", measured=SEEN, factor=1)
def efficient(context: Context) -> Measured:
    """Check memory-efficient attention, the default for float32 and for masks. Bounds: see ``attention_reference``."""
    with _explained_on_spark():
        return _backend(context, "efficient")


@check("attention.flash", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def flash(context: Context) -> Measured:
    """Check flash attention, the default for 16-bit formats without a mask. Bounds: see ``attention_reference``."""
    return _backend(context, "flash")


@check("attention.cudnn", seconds=120, measured=SEEN, factor=1)
def cudnn(context: Context) -> Measured:
    """Check cuDNN's attention in bfloat16, the default on data centre GPUs. Bounds: see ``attention_reference``."""
    return _backend(context, "cudnn", ("bfloat16",))


@check("attention.cudnn_float16", seconds=120, measured=SEEN, factor=1)
def cudnn_float16(context: Context) -> Measured:
    """Check cuDNN's attention in float16, separately because building its plans takes a core twenty seconds."""
    return _backend(context, "cudnn", ("float16",))


@check("attention.default", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def default(context: Context) -> Measured:
    """Check attention with the kernel that torch selects, as in models, also without a batch dimension.

    The bounds in ``attention_reference`` hold for every kernel.
    """
    small = context.device == "cpu"
    cases = Cases("attention by the kernel that torch chooses", "Check which other attention.* checks fail.")
    with _without_tf32():
        # Seven has no common factor with the numbers of masks and sizes, so all of them occur.
        chosen = [*plan(FORMATS, small=small)[::7], Case("bfloat16", "none", (2, 2, 2, 33, 33, 80))]
        chosen.append(Case("float16", "causal", (2, 4, 2, 64, 64, 64)))
        for number, case in enumerate(chosen):
            inputs, bounds = _expected(context, case)
            arguments = _arguments(case, inputs, context.device, strided=not number % 2)
            compare(cases, str(case), case.format, bounds, _attend(case, arguments))
        case = Case("float32", "causal", (1, 2, 2, 40, 40, 32) if small else (1, 2, 2, 128, 128, 32))
        inputs, bounds = _expected(context, case)
        arguments = _arguments(case, inputs, context.device, strided=False)
        q, k, v = (x[0].detach().requires_grad_() for x in (arguments.query, arguments.key, arguments.value))
        flat = Inputs(q, k, v, arguments.gradient[0], None)
        compare(cases, f"{case}, no batches", case.format, bounds, [x.unsqueeze(0) for x in _attend(case, flat)])
        return cases.result()


@check("attention.flash_package", measured=(H200_BUILT,), factor=1)
def flash_package(context: Context) -> Measured:
    """Check the package flash-attention, also with sequences of several lengths in a tensor."""
    if importlib.util.find_spec("flash_attn") is None:
        raise Skipped("The package flash_attn is not installed.")
    if torch.cuda.get_device_capability(0) < (8, 0):
        raise Skipped("flash_attn needs compute capability 8.0 or higher.")
    try:
        package = importlib.import_module("flash_attn")
        attend_batch, attend_packed = package.flash_attn_func, package.flash_attn_varlen_func
    except (ImportError, AttributeError) as error:
        raise Unanswered(
            CRASH,
            f"flash_attn is installed but cannot be imported: {' '.join(str(error).split())[:300].rstrip('.')}.",
            "Build it against this environment's torch (playbooks/build.yml), or remove it from the environment.",
            type(error).__name__,
            "an import",
        ) from error
    cases = Cases(
        "attention by the package flash_attn",
        "Rebuild it against this environment's torch with FLASH_ATTN_CUDA_ARCHS=120 (90 for 9.0).",
    )

    def run(case: Case, inputs: t.Sequence[torch.Tensor], attend: t.Callable[..., torch.Tensor]) -> list[torch.Tensor]:
        form = getattr(torch, case.format)
        q, k, v, gradient = (x.to(context.device, form) for x in inputs)
        for x in (q, k, v):
            x.requires_grad_()
        output = attend(q, k, v, causal=case.mask == "causal")
        return [output, *gradients(output, (q, k, v), gradient)]

    for case in plan(HALF):
        if case.mask not in ("none", "causal"):
            continue
        inputs, bounds = _expected(context, case)
        results = run(
            case,
            [x.transpose(1, 2).contiguous() for x in (inputs.query, inputs.key, inputs.value, inputs.gradient)],
            attend_batch,
        )
        compare(cases, str(case), case.format, bounds, [x.transpose(1, 2) for x in results])
    for form in HALF:
        parts = [Case(form, "causal", (1, 2, 2, tokens, tokens, 64)) for tokens in (40, 128, 77)]
        references = [_expected(context, part) for part in parts]
        # A sequence starts after the tokens of all sequences before it.
        starts = torch.tensor([0, 40, 168, 245], dtype=torch.int32, device=context.device)
        attend = functools.partial(
            attend_packed, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=128, max_seqlen_k=128
        )
        together = [
            torch.cat([getattr(inputs, name)[0].transpose(0, 1) for inputs, _unused in references])
            for name in ("query", "key", "value", "gradient")
        ]
        results = run(parts[0], together, attend)
        for part, (_unused, bounds), number in zip(parts, references, range(3)):
            cut = slice(int(starts[number]), int(starts[number + 1]))
            unpacked = [x[cut].transpose(0, 1).unsqueeze(0) for x in results]
            compare(cases, f"packed, {part}", form, bounds, unpacked)
    result = cases.result()
    result.measured += f"; flash_attn {getattr(package, '__version__', 'of unknown version')}"
    return result
