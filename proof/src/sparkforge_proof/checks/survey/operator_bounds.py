"""The bounds for the survey's operators, in units, and the operators that it does not compare."""

from __future__ import annotations

import functools
import platform
import re
import sys
import typing as t

from ... import resources
from . import variants

#: The bound for results and gradients of operators that are not in the table.
DEFAULT = {"complex64": 32.0, "float64": 64.0, "float32": 32.0, "bfloat16": 6.0, "float16": 6.0}

#: The bounds for modules, which consist of a few operators in sequence.
DEFAULT_OF_MODULES = {"float32": 64.0, "bfloat16": 12.0}
_TABLES = resources.tables("checks/survey/bounds.txt")


def _left_out() -> dict[str, str]:
    """Return the reason why an operator, a variant or a module is not compared, by name."""
    reasons, reason = {}, ""
    for line in _TABLES["left out"].splitlines():
        if line.startswith(" "):
            reasons.update(dict.fromkeys(line.strip("; ").split("; "), reason))
        else:
            reason = line
    return reasons


def _calibrated() -> dict[tuple[str, str], tuple[float, float]]:
    """Return the bounds for results and gradients, by operator or module and format."""
    bounds = {}
    for line in _TABLES["bounds"].splitlines():
        *names, form, result, gradient = line.split()
        bounds.update({(name, form): (float(result), float(gradient)) for name in names})
    return bounds


LEFT_OUT, CALIBRATED = _left_out(), _calibrated()

#: Operators that round at most once, and their variants for lists, which every device can compute exactly.
_ROUNDED_ONCE = re.compile(
    r"(_foreach_|__r|special\.)?(abs|add|sub|rsub|mul|div(\.no_rounding_mode)?|true_divide|neg|positive|sign|sqrt|reciprocal|square"
    r"|floor|ceil|trunc|frac|round|eq|ne|lt|le|gt|ge|isnan|isinf|isfinite|logical_\w+|bitwise_\w+|maximum|minimum|fmax|fmin"
    r"|clamp(_max|_min)?|fill|zeros?|ones|full|zeros_like|ones_like|full_like|nn\.functional\.relu)(__)?$"
)
#: Other operators whose results in 16 bits are rounded once, from float32, or are numbers of the input.
_ROUNDED_FROM_FLOAT32 = re.compile(r"nn\.functional\.(layer_norm|rms_norm|(adaptive_)?max_pool\dd)|amax|amin")
#: The bound in units for results in 16 bits that are rounded once: twice the largest error on sound stacks.
BOUND_OF_ONE_ROUNDING = 1.0


def is_elementary(name: str) -> bool:
    """Tell whether an operator's results are exact: it moves values, rounds once, or multiplies matrices."""
    products = variants.PRODUCTS.search(name) and not variants.LIBRARIES.match(name) and "conv" not in name
    return bool(variants.MOVES.match(name) or _ROUNDED_ONCE.match(name) or products)


def bounds(name: str, form: str) -> tuple[float, float]:
    """Return the bounds for an operator's results and gradients in a format, in units.

    :param name: ``sort``, or ``sort, strided``.
    """
    name = name.partition(",")[0]
    result, gradient = CALIBRATED.get((name, form), (DEFAULT[form], DEFAULT[form]))
    of_lists = name.startswith("_foreach")
    is_rounded_once = _ROUNDED_FROM_FLOAT32.fullmatch(name) or (_ROUNDED_ONCE.match(name) and not of_lists)
    if is_rounded_once and form in ("bfloat16", "float16"):
        result = BOUND_OF_ONE_ROUNDING
    return result, gradient


#: Known defects in torch itself, by device (or machine, for its CPU, or architecture, of a GPU) and call, which may
#: have a format; they warn.
KNOWN_DEFECTS = {
    ("cuda", r"bfloat16: fft\.i?[rh]?fft[2n]?, .*drawn.*"): (
        "some of a power of two along a dimension that is not the last are off by more than the largest result;"
        " bfloat16 came with pytorch#180890 (seen with 2.14.1 on 9.0)"
    ),
    ("cuda", r"nn\.functional\.avg_pool[12]d, transposed(, .*)?, backward"): (
        "of inputs whose channels are last, with padding, until pytorch#188345 (2026-07)"
    ),
    ("cpu", r"m?sort, (.*, )?(long|batch|drawn), out=.*"): (
        "integers are written beside the strided elements, since pytorch#100081 (seen with 2.13)"
    ),
    ("cpu", r"whole numbers \d+ in u?int8 \(.*a(min|max).*\), compiled"): (
        "compiled code returns 0 for the minimum of a row, pytorch#191499 (seen with 2.13 to 2.15)"
    ),
    ("x86_64", r"bfloat16: nn\.functional\.conv(_transpose)?2d, transposed, drawn, (.*, )?backward"): (
        "oneDNN with AVX-512 returns memory that nobody has set for weights of dilated groups whose channels are last"
        " and not a multiple of 16 (seen with 2.6 to 2.15)"
    ),
    (
        "amx_bf16",
        r"(bfloat16: nn\.functional\.conv[123]d, (.*, )?drawn|nn\.functional\.conv[123]d, .*autocast)(, .*)?",
    ): (
        "with a stride and a result one element wide, memory that nobody has set is returned (pytorch#169688, seen with"
        " 2.11 and 2.14)"
    ),
    ("cpu", r"special\.\w*(chebyshev|laguerre|legendre)_polynomial_\w+, (.*, )?(negative )?NaN(, .*)?"): (
        "memory that nobody has set is returned, until pytorch#187762 and #188027 (2026-06)"
    ),
    (
        "cpu",
        r".*(batch_norm\w*|instance_norm|layer_norm|det|solve(_ex)?|tensorsolve|householder_product|cumprod"
        r"|cholesky_(inverse|solve)), (forward twice|reverse over forward)",
    ): "a rule for derivatives lacks a term, pytorch#198017",
    ("cpu cuda", r"compositions \d+ in \w+ \((flip|roll) > copy_\), compiled"): (
        "compiled code writes to an argument before it has read all of what it copies from there, pytorch#198270 (seen"
        " with 2.10 to 2.13)"
    ),
    # Triton 3.6 to 3.9 has ptxas 12.8 or 12.9 for 9.0, and 3.8 has 13.3 for 10.x.
    ("sm_90 sm_100 sm_103", r"equal numbers \(.*\), compiled"): (
        "ptxas before 13.4 drops a minus sign from max(max(-a, -b), -c) of integers, as in pytorch#190973; it is right"
        " with DISABLE_PTXAS_OPT=1"
    ),
    ("cpu", r"(.*_safe_softmax.*|masked\.logaddexp), (forward twice|reverse over forward)"): (
        "the derivative is NaN (seen with 2.13)"
    ),
}

#: Others, by devices and call: the first release of torch without the defect.
MENDED_DEFECTS = {
    ("cpu cuda", r"attention \d+ in \w+ \(.*, compiled(, backward)?"): (
        (2, 12), "compiled code scales attention with a mask or in float16 by another number (pytorch#174361)"
    ),
    ("cpu", r"complex64: acos, infinite(, .*)?"): ((2, 7), "in float64 it is NaN (seen with 2.6)"),
    ("cpu", r"compositions \d+ in float16 \((flip|roll) > (add_ clamp_|mul_ add_)\), compiled"): (
        (2, 7), "compiled code adds to an argument before it has read all of what it adds (seen with 2.6)"
    ),
    ("cpu", r"equal numbers \(.*shifted\(.*\), compiled"): (
        (2, 7), "compiled code shifts the last integers by more than their width, pytorch#143566 (seen with 2.6)"
    ),
    ("cuda", r"folds \d+ in \w+ \(signs\(-x\)\), compiled"): (
        (2, 14), "compiled code negates 0.0 to 0.0, until triton#10270 (2026-05; seen with 2.11)"
    ),
    ("cpu", r"bfloat16: (add)?mv, (.*, )?(out=|in place)(, .*)?"): (
        (2, 11), "a product in bfloat16 is written beside the strided elements (seen with 2.10.0 alone)"
    ),
}  # fmt: skip


def known_defect(name: str, device: str, release: tuple[int, ...] = (9,)) -> str:
    """Return torch's known defect in a call of an operator, or ''.

    :param name: the format and the call: ``float32: nn.functional.avg_pool2d, transposed, backward``.
    :param release: the release of torch.
    """
    kinds = {device, platform.machine(), *_extensions()} if device == "cpu" else {device, _architecture()}
    calls = (name, name.partition(": ")[2])
    unmended = {call: why for call, (mended, why) in MENDED_DEFECTS.items() if release < mended}
    return next(
        (
            why
            for (devices, pattern), why in {**KNOWN_DEFECTS, **unmended}.items()
            if kinds.intersection(devices.split()) and any(re.fullmatch(pattern, call) for call in calls)
        ),
        "",
    )


def list_defects(known: t.Mapping[str, str]) -> str:
    """Return calls, each with its known defect; those with the same one come together."""
    reasons = dict.fromkeys(known.values())
    return "; ".join(f"{', '.join(call for call in known if known[call] == why)}: {why}" for why in reasons)


def _architecture() -> str:
    """Return the architecture of this host's GPU, as compilers name it: ``sm_90``; or ''."""
    cuda: t.Any = getattr(sys.modules.get("torch"), "cuda", None)
    return "sm_{}{}".format(*cuda.get_device_capability()) if cuda and cuda.is_available() else ""


@functools.cache
def _extensions() -> frozenset[str]:
    """Return the extensions of this x86_64 CPU's instruction set, as Linux names them: ``amx_bf16``."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            return frozenset(next((line for line in stream if line.startswith("flags")), "").split())
    except OSError:
        return frozenset()


#: The prefixes of the operators whose kernels torch compiles on first use on a GPU.
COMPILED = (
    *"special. polygamma mvlgamma masked.prod prod nanprod i0 erf lgamma sinc exp2 digamma gcd lcm".split(),
    *"_foreach_erf _foreach_lgamma signal.windows.kaiser".split(),
)


def compiled(name: str) -> bool:
    """Tell whether an operator takes seconds to compile on first use."""
    return name.startswith(COMPILED)


def of_module(name: str) -> tuple[float, float]:
    """Return the bounds for a module's results and gradients, in units.

    :param name: ``nn.Linear trained (float32)``.
    """
    module, _unused, form = name.split(" ")
    form = form.strip("()")
    return CALIBRATED.get((module, form), (DEFAULT_OF_MODULES[form],) * 2)


def left_out(name: str) -> str:
    """Return the reason why an operator or its variant is not compared, or '' if it is compared."""
    parts = name.split(".")
    return next((why for count in range(len(parts), 0, -1) if (why := LEFT_OUT.get(".".join(parts[:count])))), "")
