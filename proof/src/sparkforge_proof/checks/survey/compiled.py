"""Compares operators from torch's list in graphs of ``torch.compile`` with float64 on the CPU.

A graph takes seconds to compile, and little more for each operator in it, so many operators share one. Each is called
with one of the catalogue's inputs, with a NaN and with integers, and then eagerly in the process that has compiled.
"""

from __future__ import annotations

import contextlib
import functools
import re
import typing as t

from ...check import Context, Measured, check
from . import all_operators, calls, comparison, operator_bounds, variants
from .comparison import Survey, name_of
from .compilation import clean_compiler, with_graph_count
from .conditions import Operator
from .rounding import Computed, compute, one_line, tensors, worst_errors

if t.TYPE_CHECKING:
    import torch

#: The operators for which the compiler generates code, besides those of ``variants.TAKE_ANY`` and ``variants.MOVES``.
GENERATED = re.compile(
    r"(index|cum|scatter|clamp|addc|softmax|log_softmax|argsort|sort|topk|lerp|bucketize|unfold|diff|heaviside|trapezoid"
    r"|nn\.functional\.(\w*pad|\w*norm|\w*pool|\w*loss|\w*(elu|relu|sigmoid|swish|shrink|tanh)|pixel|interpolate"
    r"|embedding$))"
)
#: Operators whose results depend on numbers in a way that the compiler cannot follow (torch 2.13).
REFUSED = re.compile(r"nn\.functional\.(gaussian_nll_loss|ctc_loss)")
#: Conversions and losses that have no single result for a NaN.
LOSES_NAN = re.compile(r"^(byte|char|short|int|long)$|loss$")
#: The number of parts of the operators, each for one day, and the maximum number of calls in a graph.
DAYS, IN_A_GRAPH = 24, 200

#: An operator, the label of its call, a sample, and its references; see :func:`calls.reference`.
Call = tuple[Operator, str, t.Any, t.Any, t.Any]


def _is_generated(entry: t.Any) -> bool:
    name = name_of(entry)
    is_known = type(entry).__name__ in variants.TAKE_ANY[:3] or variants.MOVES.match(name) or GENERATED.match(name)
    return bool(is_known) and not REFUSED.match(name)


def _collect(
    group: list[Call], _outcome: Survey, entry: t.Any, dtype: torch.dtype, device: str, _samples: int, seed: str
) -> None:
    """Add an operator's calls in a format to a group: with one of its samples, and with a NaN."""
    import torch

    operator, is_float = comparison.in_format(entry, dtype, device, 2, seed), dtype.is_floating_point
    operator.dtype = dtype if is_float else torch.float32
    label = f"{operator.name}, compiled{'' if is_float else ', integers'}"
    with contextlib.suppress(*calls.REFUSALS):
        for sample in map(calls.without_gradients, operator.samples[-1:]):
            group.append((operator, label, *calls.reference(operator, sample)))
            takes_nan = operator.any_number or operator.name.startswith(variants.TAKE_NAN)
            if is_float and takes_nan and not LOSES_NAN.search(operator.name):
                sample = variants.with_nan(sample, operator.moves)
                group.append((operator, f"{label}, NaN", *calls.reference(operator, sample)))


def _compile(outcome: Survey, group: t.Sequence[Call]) -> list[tuple[Call, t.Any]]:
    """Return calls with their results in a compiled graph, without those that the compiler refuses."""
    import torch

    operators = [call[0].entry.op for call in group]
    # Otherwise each graph counts as one more compilation of the same function, of which there may be eight.
    torch._dynamo.reset()

    def graph(inputs: t.Sequence[t.Any]) -> list[t.Any]:
        return [operator(first, *args, **keywords) for operator, (first, args, keywords) in zip(operators, inputs)]

    try:
        with torch.no_grad():
            compiled = torch.compile(graph, fullgraph=True, dynamic=False)
            return list(zip(group, compiled([(call[2].input, call[2].args, call[2].kwargs) for call in group])))
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        if "CUDA error" in str(error):
            raise
        if len(group) == 1:
            outcome.refused[group[0][1]] = one_line(error)
            return []
        half = len(group) // 2
        return _compile(outcome, group[:half]) + _compile(outcome, group[half:])


@check("compilation.operators", devices=("cuda", "cpu"), seconds=300, steps=True)
def operators(context: Context) -> Measured:
    """Compare a part of the operators, another one each day, in one compiled graph, and eagerly again afterwards."""
    # Each operator's format changes from one of its days to the next.
    form, group = all_operators.BROAD[context.seed // DAYS % 2], list[Call]()
    names = sorted({name_of(entry) for entry in all_operators.catalogue() if _is_generated(entry)})
    only = names if context.full else names[context.seed % DAYS :: DAYS]
    with all_operators.survey_settings(context.device), clean_compiler(context) as graphs:
        for each in (form, "int64"):
            outcome = all_operators.survey(
                context, each, all_operators.LONGER, only, functools.partial(_collect, group)
            )
        for start in range(0, len(group), IN_A_GRAPH):
            context.step(f"graph {start // IN_A_GRAPH + 1}")
            for (operator, label, sample, exact, shifted), results in _compile(outcome, group[start:][:IN_A_GRAPH]):
                outcome.samples += 1
                made = Computed(tensors(sample.output_process_fn_grad(results)), [], 0.0)
                eager = compute(operator.entry, sample, [], operator.dtype, operator.seed)
                for name, computed in ((label, made), (operator.name, eager)):
                    outcome.note(name, worst_errors(computed, exact, shifted, operator.dtype))
        allowed = {
            name: operator_bounds.bounds(name, "float32" if name.endswith("integers") else form)
            for name in outcome.units
        }
        # A compiler may contract and reorder what is exact in one operator, so no operator counts as exact here.
        measured = all_operators.judge(context, outcome, allowed, form, is_elementary=lambda name: False)
        return with_graph_count(measured, graphs())
