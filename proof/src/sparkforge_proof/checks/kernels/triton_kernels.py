"""Check kernels that Triton compiles for the device at first launch, with its compiler, ptxas, gcc and headers."""

from __future__ import annotations

import math
import os
import random
import re
import runpy
import sys
import tempfile
import typing as t

from ... import resources
from ..._shared.module_utils._core import versions
from ...check import H200S, SEEN, Context, Measured, check
from ..bounds import Cases, gamma, torch
from ..stack import companions

#: The sources of kernels, and the programs of :mod:`triton_operations`.
TABLES = resources.tables("checks/kernels/triton.txt")
#: Tensor cores truncate addends instead of rounding them: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical
#: behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021. This is twice float32's unit roundoff.
TENSOR_CORE = 2.0**-23
#: FP8 sums have 13 fractional bits on Ada and Hopper: J. Zhang et al., SageAttention2, ICML 2025; "around 14 bits"
#: according to the technical report of DeepSeek-V3, section 3.3.2.
TENSOR_CORE_FP8 = 2.0**-13

WRONG = (
    "Do not use this Triton with this torch: install the stack's version, or build it from the commit that torch pins "
    "(role triton), and check that TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH point to no other ptxas."
)


def installed() -> t.Any:
    """Import Triton; see :func:`companions.load`."""
    version = torch.__version__.partition("+")[0]
    remedy = f"Run {sys.executable} -m pip install torch=={version}, which installs it."
    return companions.load("triton", remedy)


def target_of(compiled: t.Any) -> str:
    """Return the architecture for which a launched kernel was compiled, such as ``sm_121a``, or '' if unknown."""
    assembly = getattr(compiled, "asm", None) or {}
    directive = re.search(r"^\s*\.target\s+(\w+)", str(assembly.get("ptx", "")), re.MULTILINE)
    return directive.group(1) if directive else ""


def result_of(cases: Cases, compiled: t.Sequence[t.Any], note: str = "") -> Measured:
    targets = sorted({target_of(kernel) for kernel in compiled} - {""})
    return cases.result((f", compiled for {' and '.join(targets)}" if targets else "") + note)


def load_kernels(source: str) -> dict[str, t.Any]:
    """Return the kernels in a source after ``functions``; Triton reads a kernel's source from a file."""
    path = os.path.join(tempfile.mkdtemp(), "kernels.py")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(TABLES["functions"] + source)
    return runpy.run_path(path)


def _factors(
    context: Context, case: str, rows: int, inner: int, columns: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two matrices without small numbers; in every other row of their product, the sums do not cancel.

    The bound for such a row is a small fraction of its result, so an error of one per cent shows even in an inaccurate
    sum.
    """
    random = context.generator(f"triton.dot {case}")
    a = torch.rand(rows, inner, generator=random) * 0.75 + 0.25
    b = torch.rand(inner, columns, generator=random) * 0.75 + 0.25
    a[::2] *= torch.randint(0, 2, a[::2].shape, generator=random) * 2 - 1
    return a.to(dtype), b.to(dtype)


@check("triton.dot", seconds=180, measured=SEEN)
def dot(context: Context) -> Measured:
    """Check a compiled tiled matrix product with ``tl.dot`` in each format that the device's matrix units support.

    The products of two numbers of 16 bits or fewer are exact in float32. Addends are truncated after the last bit of
    the largest one: once for each of the k products and twice for each instruction, which adds at least 8 products: in
    its running sum and its result. Bound: gamma(5/4 k + 2, TENSOR_CORE) sum |a b|, with TENSOR_CORE_FP8 for FP8. With
    ``input_precision="ieee"``, float32 multiplies and adds in float32, whose gamma(k, u) is smaller.
    """
    installed()
    kernel = load_kernels(TABLES["kernels"])
    cases = Cases("Triton's matrix product", WRONG)
    formats = [
        ("bfloat16", TENSOR_CORE, False),
        ("bfloat16", TENSOR_CORE, True),
        ("float16", TENSOR_CORE, False),
        ("float32", TENSOR_CORE, False),
    ]
    without = ""
    if context.device == "cuda":
        if torch.cuda.get_device_capability() >= (8, 9):
            formats += [("float8_e4m3fn", TENSOR_CORE_FP8, True), ("float8_e5m2", TENSOR_CORE_FP8, True)]
        else:
            without = ", without FP8, which the device has not"
    launched = []
    for name, unit, transposed in formats:
        inner = 72 if unit == TENSOR_CORE_FP8 else 157
        rows, columns = 193, 141
        case = f"{name}, second factor {'transposed' if transposed else 'as it is'}"
        a, b = _factors(context, case, rows, inner, columns, getattr(torch, name))
        left = a.to(context.device)
        right = b.t().contiguous().to(context.device).t() if transposed else b.to(context.device)
        target = torch.full((rows, columns), float("nan"), device=context.device)
        grid = (-(-rows // 64), -(-columns // 64))
        sizes = (rows, columns, inner, *left.stride(), *right.stride())
        tiles = {"ROWS": 64, "COLUMNS": 64, "INNER": 32, "PRECISION": "ieee"}
        launched.append(kernel["dot"][grid](left, right, target, *sizes, **tiles))
        bound = gamma(1.25 * inner + 2, unit) * (a.double().abs() @ b.double().abs())
        cases.compare(case, target, a.double() @ b.double(), bound)
    return result_of(cases, launched, without)


#: The values of each axis of ``triton.recurrence``, the compilations in a default and in a full run, and the numbers of
#: heads and of launches.
RECURRENCES: dict[str, tuple[t.Any, ...]] = {
    "form": ("bfloat16", "float16", "float32"), "num_warps": (1, 2, 4, 8), "num_stages": (1, 2, 3, 4),
    "ROWS": (16, 32, 64), "KEYS": (16, 64, 128), "VALUES": (32, 64, 128), "TRANSPOSED": (False, True),
    "steps": (1, 3, 17),
}  # fmt: skip
COMPILED, COMPILED_IN_FULL, HEADS, LAUNCHES = 4, 48, 132, 40


@check("triton.recurrence", seconds=300, measured=H200S)
def recurrence(context: Context) -> Measured:
    """Check matrices that loops carry from one ``tl.dot`` to the next, with other compilations each day.

    All numbers are integers that each format of a sum represents, and the reference rounds the matrix to the inputs'
    format too. So each launch must return exactly the reference.
    """
    subject, refused = "what a loop in Triton carries", 0
    cases, known = Cases(subject, WRONG), Cases(subject, WRONG)
    capability, release = torch.cuda.get_device_capability(), versions.numbers(installed().__version__)
    kernel, launched = load_kernels(TABLES["kernels"])["recurrence"], list[t.Any]()
    choice = random.Random(str(context.seed))  # noqa: S311 - the choice need not be secret
    while len(launched) < (COMPILED_IN_FULL if context.full else COMPILED):
        options = {axis: choice.choice(values) for axis, values in RECURRENCES.items()}
        try:
            if is_known_to_fail(options, capability, release):
                _carry(known, context, kernel, options)
            else:
                launched.append(_carry(cases, context, kernel, options))
        except Exception as error:
            # The tiles may need more shared memory than the device has.
            if type(error).__name__ != "OutOfResources":
                raise
            refused += 1
    result = result_of(cases, launched, f"; {refused} too large for the device")
    cause = "Triton multiplies tiles of 64 by 32 numbers in 16 bits wrongly, as is known of 3.6 on 9.0"
    known.warn(result, cause, "Use Triton 3.8 or newer, which comes with torch 2.14.")
    return result


def is_known_to_fail(options: t.Mapping[str, t.Any], capability: tuple[int, int], release: tuple[int, ...]) -> bool:
    """Tell whether a compilation may have a known defect of Triton.

    On an H200, of 864 compilations by 3.6.0 only such were wrong, 36 of them, and none by 3.8.0; no report is known.
    """
    is_affected = capability[0] == 9 and release < (3, 8) and options["form"] != "float32"
    return is_affected and (options["ROWS"], options["VALUES"]) == (64, 32)


def _carry(cases: Cases, context: Context, kernel: t.Any, options: dict[str, t.Any]) -> t.Any:
    """Compare one compilation of the recurrence with its reference, and each launch with the first."""
    case = ", ".join(f"{axis} {value}" for axis, value in options.items())
    dtype, steps = getattr(torch, options.pop("form")), options.pop("steps")
    generator, shape = context.generator(f"{context.seed} {case}"), (HEADS, steps, options["ROWS"])
    query, key, value = (
        torch.randint(-2, 3, (*shape, options[width]), generator=generator).float()
        for width in ("KEYS", "KEYS", "VALUES")
    )
    factor = torch.randint(-1, 2, (HEADS, steps, 1, 1), generator=generator).float()
    expected, carried = torch.zeros_like(value), torch.zeros(HEADS, options["KEYS"], options["VALUES"]).float()
    for step in range(steps):
        expected[:, step] = query[:, step] @ carried.to(dtype).float()
        carried = carried * factor[:, step] + key[:, step].mT @ value[:, step]
    inputs = [*(part.to(context.device, dtype) for part in (query, key, value)), factor.float().to(context.device)]
    results: list[list[torch.Tensor]] = []
    for launch in range(LAUNCHES):
        results[1:] = [[torch.full_like(part, math.nan, dtype=torch.float32, device=context.device)
                        for part in (expected, carried)]]  # fmt: skip
        compiled = kernel[(HEADS,)](*inputs, *results[-1], steps, **options)
        is_equal = all(map(torch.equal, results[0], results[-1]))
        if launch and not is_equal:
            cases.expect(f"{case}, launch {launch + 1}", False, "differs from the first launch")
    cases.exactly(f"{case}, results", results[0][0], expected)
    cases.exactly(f"{case}, the carried matrix", results[0][1], carried)
    return compiled
