"""The bounds for the survey's operators, in units, and the operators that it does not compare."""

from __future__ import annotations

import platform
import re
import sys
import typing as t

from ... import resources
from ..._shared.module_utils._core import versions
from ..bounds import extensions
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
    for line in _TABLES["bounds"].strip().splitlines():
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


def _defects() -> list[tuple[list[str], tuple[int, ...], str, str]]:
    """Return the known defects: the devices, the first release without the defect, the call, and what is wrong."""
    defects = []
    for entry in re.split(r"\n(?! )", _TABLES["known defects"].strip()):
        head, why = entry.split("\n", 1)
        kinds, _colons, pattern = head.partition(" :: ")
        devices, _before, release = kinds.partition(" before ")
        defects.append((devices.split(), versions.numbers(release or "99"), pattern, " ".join(why.split())))
    return defects


def known_defect(name: str, device: str, release: tuple[int, ...] = (9,)) -> str:
    """Return torch's known defect in a call of an operator, or ''.

    :param name: the format and the call: ``float32: nn.functional.avg_pool2d, transposed, backward``.
    :param release: the release of torch.
    """
    kinds = {device, platform.machine(), *extensions()} if device == "cpu" else {device, _architecture()}
    calls = (name, name.partition(": ")[2])
    return next(
        (
            why
            for devices, mended, pattern, why in _defects()
            if release < mended and kinds.intersection(devices) and any(re.fullmatch(pattern, call) for call in calls)
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
