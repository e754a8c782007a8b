"""Compares operators from torch's list, and chains of steps, in graphs of ``torch.compile`` with float64 on the CPU.

A graph takes seconds to compile, and little more for each operator in it, so many operators share one. Each is called
with one of the catalogue's inputs, with a NaN and with integers, and then eagerly in the process that has compiled. The
chains are in the module ``chains``.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import re
import typing as t

from ...check import H200_GRID, Context, Measured, Skipped, check
from ..bounds import torch
from . import all_operators, calls, chains, comparison, operator_bounds, variants
from .comparison import Survey, name_of
from .compilation import clean_compiler, with_graph_count
from .conditions import Operator
from .rounding import Computed, compute, leaves, one_line, tensors, upstream_gradients, worst_errors

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
#: The maximum number of calls of operators in a graph.
IN_A_GRAPH = 200
#: The number of parts of the chains, and the bounds for results and gradients of exact chains and of others, in units.
PARTS, EXACT, ROUNDED = 24, (2.0, 16.0), (128.0, 128.0)

#: An operator, the label of its call, a sample, and its references; see :func:`calls.reference`.
Call = tuple[Operator, str, t.Any, t.Any, t.Any]


def _is_generated(entry: t.Any) -> bool:
    name = name_of(entry)
    is_known = type(entry).__name__ in variants.TAKE_ANY[:3] or variants.MOVES.match(name) or GENERATED.match(name)
    return bool(is_known) and not REFUSED.match(name)


def _collect(
    group: list[Call],
    _outcome: Survey,
    entry: t.Any,
    dtype: torch.dtype,
    device: str,
    _samples: int,
    seed: str,
) -> None:
    """Add an operator's calls in a format to a group: with one of its samples, and with a NaN."""
    operator, is_float = comparison.in_format(entry, dtype, device, 2, seed), dtype.is_floating_point
    operator.dtype = dtype if is_float else torch.float32
    label = f"{operator.name}, compiled{'' if is_float else ', integers'}"
    with contextlib.suppress(*calls.REFUSALS):
        for sample in operator.samples[-1:]:
            group.append((operator, label, *calls.reference(operator, sample)))
            takes_nan = operator.any_number or operator.name.startswith(variants.TAKE_NAN)
            if is_float and takes_nan and not LOSES_NAN.search(operator.name):
                sample = calls.without_gradients(variants.with_nan(sample, operator.moves))
                group.append((operator, f"{label}, NaN", *calls.reference(operator, sample)))


def _compare(outcome: Survey, rounds: t.Sequence[t.Sequence[Call]], dynamic: bool = False) -> None:
    """Compare calls in a compiled graph, without those that the compiler refuses, and then eagerly.

    :param rounds: the calls of the same operators with which the graph is called, one time after another.
    :param dynamic: whether the graph is compiled for any shape.
    """
    operators = [call[0].entry.op for call in rounds[0]]
    # Otherwise each graph counts as one more compilation of the same function, of which there may be eight.
    torch._dynamo.reset()

    def graph(inputs: t.Sequence[t.Any]) -> list[t.Any]:
        return [operator(first, *args, **keywords) for operator, (first, args, keywords) in zip(operators, inputs)]

    try:
        compiled = torch.compile(graph, fullgraph=True, dynamic=dynamic)
        made = [_computed(compiled, group) for group in rounds]
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        if "CUDA error" in str(error):
            raise
        if "not supported on Python" in str(error):
            raise Skipped(f"This torch has no torch.compile for this Python: {error}.") from error
        if len(operators) == 1:
            outcome.refused[rounds[0][0][1]] = one_line(error)
            return
        half = len(operators) // 2
        _compare(outcome, [group[:half] for group in rounds], dynamic)
        _compare(outcome, [group[half:] for group in rounds], dynamic)
        return
    for group, results in zip(rounds, made):
        for (operator, label, sample, exact, shifted), computed in zip(group, results):
            outcome.samples += 1
            sample = _fresh(operator, sample)
            scale = getattr(operator.entry, "scale", 0.0)
            outcome.note(label, worst_errors(computed, exact, shifted, operator.dtype, scale))
            try:
                eager = compute(operator.entry, sample, leaves(sample), operator.dtype, operator.seed)
            except NotImplementedError as error:
                # The compiler's decompositions may support a format for which torch has no kernel.
                outcome.refused[operator.name] = one_line(error)
                continue
            outcome.note(operator.name, worst_errors(eager, exact, shifted, operator.dtype, scale))


def _fresh(operator: Operator, sample: t.Any) -> t.Any:
    """Return a sample, or a copy of it if the operator changes its inputs."""
    kind = getattr(operator.entry, "kind", None)
    return variants.map_tensors(sample, lambda value: value.clone()) if kind and kind.changes else sample


def _computed(compiled: t.Callable[..., t.Any], group: t.Sequence[Call]) -> list[Computed]:
    """Return the results and gradients of calls in a compiled graph, whose backward pass runs once for all calls."""
    made, inputs, outputs, upstream = [], [], [], []
    samples = [_fresh(operator, sample) for operator, _label, sample, *_references in group]
    values = compiled([(sample.input, sample.args, sample.kwargs) for sample in samples])
    for (operator, *_others), sample, value in zip(group, samples, values):
        results = tensors(sample.output_process_fn_grad(value))
        mine = leaves(sample)
        differentiable, factors, scale = upstream_gradients(results if mine else [], operator.dtype, operator.seed)
        inputs += mine if differentiable else []
        outputs += differentiable
        upstream += factors
        made.append(Computed([result.detach() for result in results], list(mine if differentiable else []), scale))
    if outputs:
        gradients = iter(torch.autograd.grad(outputs, inputs, upstream, allow_unused=True))
        for computed in made:
            computed.gradients = [next(gradients) for _leaf in computed.gradients]
    return made


@check("compilation.operators", devices=("cuda", "cpu"), seconds=300, steps=True, measured=(H200_GRID,))
def operators(context: Context) -> Measured:
    """Compare each operator of torch's list in compiled graphs, and eagerly again afterwards, in full runs only.

    The format depends on the day.
    """
    if not context.full:
        raise Skipped("A default run compiles the programs of compilation.panels, and a full one these operators too.")
    form, group = all_operators.BROAD[context.seed // 2 % 2], list[Call]()
    names = sorted({name_of(entry) for entry in all_operators.catalogue() if _is_generated(entry)})
    collect = functools.partial(_collect, group)
    with all_operators.survey_settings(context.device), clean_compiler(context) as graphs:
        for each in (form, "int64"):
            outcome = all_operators.survey(context, each, all_operators.LONGER, names, collect)
        for start in range(0, len(group), IN_A_GRAPH):
            context.step(f"graph {start // IN_A_GRAPH + 1}")
            _compare(outcome, [group[start:][:IN_A_GRAPH]])
        allowed = {
            name: operator_bounds.bounds(name, "float32" if name.endswith("integers") else form)
            for name in outcome.units
        }
        # A compiler may contract and reorder what is exact in one operator, so no operator counts as exact here.
        measured = all_operators.judge(context, outcome, allowed, form, is_elementary=lambda name: False)
        return with_graph_count(measured, graphs())


@check("compilation.chains", devices=("cuda", "cpu"), seconds=300, steps=True)
def compiled_chains(context: Context) -> Measured:
    """Compare chains of steps in compiled graphs that are called twice, and eagerly afterwards.

    A day compiles one part of the chains in one of two formats; every other part has gradients, and for every other
    pair of parts the second call has another shape. When all parts have had their day, the steps are combined anew, and
    the next part gets these conditions. ``--full`` compiles all parts.
    """
    outcome, allowed = Survey(), dict[str, tuple[float, float]]()
    turn, form = context.seed // PARTS, all_operators.BROAD[context.seed // PARTS % 2]
    with all_operators.survey_settings(context.device), clean_compiler(context) as graphs:
        for part in range(PARTS) if context.full else [context.seed % PARTS]:
            groups: dict[bool, list[list[Call]]] = {}
            for chain in chains.draw(turn, part, PARTS, context.device == "cpu"):
                # Some operators on pictures refuse to be compiled for any shape (torch 2.13).
                dynamic = bool((turn + part) // 2 % 2) and chain.kind.shapes is chains.ROWS
                seed = f"{context.seed} {chain.name}"
                for number, group in enumerate(groups.setdefault(dynamic, [[], []])):
                    inputs = chains.sample(chain.kind, form, context.device, seed, dynamic and number == 1)
                    # On a CPU, torch 2.13 computes wrong gradients of pictures that are fused with others.
                    if (turn + part) % 2 or (context.device == "cpu" and chain.kind.shapes is chains.PICTURES):
                        inputs = calls.without_gradients(inputs)
                    group.append(_call(context, chain, form, inputs))
                allowed[chain.name] = allowed[f"{chain.name}, compiled"] = EXACT if chain.kind.exact else ROUNDED
            for dynamic, rounds in groups.items():
                context.step(f"part {part}{', any shape' if dynamic else ''}")
                _compare(outcome, rounds, dynamic)
        measured = all_operators.judge(context, outcome, allowed, form, is_elementary=lambda name: False)
        return with_graph_count(measured, graphs())


def _call(context: Context, chain: chains.Chain, form: str, inputs: t.Any) -> Call:
    """Return the call of a chain with its references."""
    form = "float32" if form in chains.WHOLE else form
    operator = Operator(chain, chain.name, context.device, getattr(torch, form), f"{context.seed} {chain.name}", [])
    inputs, exact, shifted = calls.reference(operator, inputs)
    if chain.kind.exact:
        # A step of the format would move a number to the other side of a whole number.
        shifted = functools.partial(copy.copy, exact)
    return operator, f"{chain.name}, compiled", inputs, exact, shifted


@check("compilation.panels", devices=("cuda", "cpu"), seconds=300, steps=True)
def compiled_panels(context: Context) -> Measured:
    """Compare the programs of ``panels`` in compiled graphs, and eagerly afterwards.

    A run compiles two tables, in other formats, shapes or directions each week, and every seventh table for any
    shape. ``--full`` compiles each table in each of its formats.
    """
    outcome, allowed = Survey(), dict[str, tuple[float, float]]()
    with all_operators.survey_settings(context.device), clean_compiler(context) as graphs:
        for name, turn in chains.tables(context.seed, context.full):
            kind = chains.PANELS[name]
            form, dynamic = kind.forms[turn % len(kind.forms)], turn % len(chains.TURNS) == 0
            gradients = bool(turn // 2 % 2) and not kind.exact and not kind.changes
            context.step(f"{name} in {form}{', any shape' if dynamic else ''}")
            rounds: list[list[Call]] = [[], []] if dynamic else [[]]
            for second, group in enumerate(rounds):
                inputs = chains.sample(kind, form, context.device, f"{turn} {name}", bool(second))
                if not gradients:
                    inputs = calls.without_gradients(inputs)
                programs = chains.panel(name, form, turn, gradients, context.device == "cpu")
                # Code for any shape takes twice as long to generate, so that a day has every second program.
                programs = programs[turn % 2 :: 2] if dynamic and len(programs) > 1 else programs
                # All programs read the same tensors, so that the compiler fuses them.
                group += [_call(context, chain, form, inputs) for chain in programs]
            for chain, *_others in rounds[0]:
                bounds = chains.panel_bounds(kind, form)
                allowed[chain.name] = allowed[f"{chain.name}, compiled"] = bounds
            _compare(outcome, rounds, dynamic)
        measured = all_operators.judge(context, outcome, allowed, "programs", is_elementary=lambda name: False)
        return with_graph_count(measured, graphs())
