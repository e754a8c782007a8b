"""Check derivatives of derivatives, by every nesting of forward and reverse mode, against differences of float64.

The reference does not differentiate: it calls the operator at five points along a line. A case is left out if two
distances between these points disagree, as near a corner.
"""

from __future__ import annotations

import itertools
import re
import typing as t
import warnings

from ...check import X86S_LATER, Context, Measured, check
from ..bounds import Cases, torch
from . import all_operators, comparison, operator_bounds, rounding

if t.TYPE_CHECKING:
    Function = t.Callable[[torch.Tensor], torch.Tensor]

#: The number of days in which all operators take turns, and of their samples, and the most elements of an input and of
#: a result.
TURNS, SAMPLES, LARGEST = 12, 3, 130
#: The distance between two points, the error of a difference, relative to the results, and of a derivative.
STEP, DIFFERENCE, DERIVATIVE = 1e-3, 1e-5, 1e-4
#: Operators without derivatives in all directions: they read one triangle, write an element twice, or round; or their
#: results change from call to call.
LEFT_OUT = re.compile(
    r"linalg\.(eig|eigh|eigvalsh|pinv\.hermitian)|as_strided_scatter|.*max_unpool.*|round.*|_batch_norm_with_update"
)


def _first(function: Function, x: torch.Tensor, v: torch.Tensor, step: float) -> torch.Tensor:
    near, far = (function(x + step * v) - function(x - step * v) for step in (step, 2 * step))
    return (8 * near - far) / (12 * step)


def _second(function: Function, x: torch.Tensor, v: torch.Tensor, step: float) -> torch.Tensor:
    near, far = (function(x + step * v) + function(x - step * v) for step in (step, 2 * step))
    return (16 * near - far - 30 * function(x)) / (12 * step**2)


def _ways(u: torch.Tensor, chunk: int) -> dict[str, tuple[t.Any, t.Callable[..., torch.Tensor]]]:
    """Return ways to differentiate a function along a vector, each with the difference that it approximates.

    :param u: the weights of the results, whose sum reverse mode differentiates.
    :param chunk: the number of rows of a Jacobian that are computed at once.
    """
    from torch import func
    from torch.utils.checkpoint import checkpoint

    def jvp(function: Function, x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return t.cast("torch.Tensor", func.jvp(function, (x,), (v,))[1])

    def gradient(function: Function, x: torch.Tensor) -> torch.Tensor:
        return t.cast("torch.Tensor", func.grad(lambda y: (u * function(y)).sum())(x))

    def recomputed(function: Function, x: torch.Tensor, v: torch.Tensor, reentrant: bool) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        (checkpoint(function, leaf * 1, use_reentrant=reentrant) * u).sum().backward()
        return (leaf.grad * v).sum()

    return {
        "forward twice": (_second, lambda f, x, v: jvp(lambda y: jvp(f, y, v), x, v)),
        "forward over reverse": (_second, lambda f, x, v: (jvp(lambda y: gradient(f, y), x, v) * v).sum()),
        "reverse over forward": (_second, lambda f, x, v: (gradient(lambda y: jvp(f, y, v), x) * v).sum()),
        "reverse twice": (_second, lambda f, x, v: (func.grad(lambda y: (gradient(f, y) * v).sum())(x) * v).sum()),
        "Jacobian in chunks": (
            _first,
            lambda f, x, v: func.jacrev(f, chunk_size=chunk)(x).reshape(-1, v.numel()) @ v.flatten(),
        ),
        "Jacobian forward": (_first, lambda f, x, v: func.jacfwd(f)(x).reshape(-1, v.numel()) @ v.flatten()),
        "reentrant checkpoint": (_first, lambda f, x, v: recomputed(f, x, v, True)),
        "checkpoint": (_first, lambda f, x, v: recomputed(f, x, v, False)),
    }


@check("survey.derivatives", devices=("cpu",), seconds=180, measured=X86S_LATER)
def derivatives(context: Context) -> Measured:
    """Compare derivatives of each operator in torch's list, by eight ways; others each day, all in a full proof.

    The rules for derivatives are the same on all devices.
    """
    cases, known = Cases("a derivative", all_operators.REMEDY), dict[str, tuple[str, float]]()
    listed = [entry for entry in all_operators.catalogue() if entry.supports_forward_ad and entry.supports_autograd]
    turns = 1 if context.full else TURNS
    with warnings.catch_warnings(), all_operators.survey_settings("cpu"):
        warnings.simplefilter("ignore")
        for entry in listed[context.seed % turns :: turns]:
            name = comparison.name_of(entry)
            if LEFT_OUT.fullmatch(name) or operator_bounds.left_out(name):
                continue
            if torch.float64 not in entry.supported_dtypes("cpu"):
                continue
            _compare_derivatives(cases, known, context, entry, name)
    measured = cases.result()
    if known:
        defects = operator_bounds.list_defects({name: why for name, (why, _ratio) in known.items()})
        worst = max(ratio for _why, ratio in known.values())
        measured.warn_of_known(f"Wrong, as is known of this torch: {defects}.", all_operators.KNOWN_REMEDY, worst)
    return measured


def _compare_derivatives(
    cases: Cases, known: dict[str, tuple[str, float]], context: Context, entry: t.Any, name: str
) -> None:
    """Compare the derivatives of one operator in float64."""
    torch.manual_seed(rounding.seed_of(f"{context.seed} {name}"))
    try:
        samples = list(itertools.islice(entry.sample_inputs("cpu", torch.float64), SAMPLES))
    except (RuntimeError, TypeError, ValueError):
        # Some samples need numpy, which may be missing.
        return
    for sample in samples:
        x = sample.input
        if not isinstance(x, torch.Tensor) or not x.is_floating_point() or not 0 < x.numel() <= LARGEST:
            continue
        v = torch.randn(x.shape, dtype=x.dtype)
        if x.dim() > 1 and x.shape[-1] == x.shape[-2] and torch.allclose(x, x.mT):
            # Functions of symmetric matrices are not defined elsewhere.
            v = v + v.mT

        def function(y: torch.Tensor, sample: t.Any = sample) -> torch.Tensor:
            results = entry.op(y, *sample.args, **sample.kwargs)
            results = rounding.tensors([sample.output_process_fn_grad(results)])
            return torch.cat([result.flatten() for result in results if result.is_floating_point()])

        try:
            u = torch.randn_like(function(x))
            exact = {way: [way(function, x, v, STEP * factor) for factor in (1, 2)] for way in (_first, _second)}
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
        if not 0 < len(u) <= LARGEST:
            continue
        for case, (way, call) in _ways(u, len(u) // 2 + 1).items():
            try:
                actual = call(function, x, v)
            except (RuntimeError, TypeError, ValueError, IndexError, AssertionError):
                # Not every rule has a derivative.
                continue
            near, far = (value if actual.dim() else (value * u).sum() for value in exact[way])
            size = near.abs() + near.abs().amax() + 1
            if not bool(((near - far).abs() <= DIFFERENCE * size).all()):
                continue
            reason = operator_bounds.known_defect(f"{name}, {case}", "cpu")
            error, bound = (actual - near).abs(), DERIVATIVE * size
            if not reason:
                cases.compare(f"{name}, {case}", actual, near, bound)
            elif bool((error > bound).any()):
                known[name] = max(known.get(name, (reason, 0.0)), (reason, float((error / bound).max())))
