"""Compares the programs of ``panels``, in graphs of ``torch.compile`` and eagerly afterwards, with float64 on the CPU.

A graph takes seconds to compile, and little more for each program in it, so many programs share one.
"""

from __future__ import annotations

import copy
import functools
import typing as t

from ...check import H200S, H200S_LATER, X86_CPU_GRID, X86_OLDER, Context, Measured, Skipped, check
from ..bounds import torch
from . import all_operators, calls, compositions, panels, variants
from .comparison import Survey
from .compilation import clean_compiler, with_graph_count
from .conditions import Operator
from .rounding import Computed, compute, leaves, one_line, spacing, tensors, upstream_gradients, worst_errors

#: The most operations in one kernel. ptxas took more than five minutes for one that sorted and scanned many times.
FUSED = 8
_REMEDY = (
    "If only calls marked as compiled are named, do not compile such code (TORCH_COMPILE_DISABLE=1), or use another "
    "torch: its code generator is wrong, or the compiler behind it (g++ or Triton); --seed draws the program again."
)
#: A program, the label of its call, a sample, and its references; see :func:`calls.reference`.
Call = tuple[Operator, str, t.Any, t.Any, t.Any]


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
        options = {"max_fusion_size": FUSED, "triton.cudagraphs": len(rounds) > 2}
        compiled = torch.compile(graph, fullgraph=True, dynamic=dynamic, options=options)
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
            outcome.note(label, worst_errors(computed, exact, shifted, operator.dtype, operator.entry.scale))
            try:
                eager = compute(operator.entry, sample, leaves(sample), operator.dtype, operator.seed)
            except NotImplementedError as error:
                # The compiler's decompositions may support a format for which torch has no kernel.
                outcome.refused[operator.name] = one_line(error)
                continue
            outcome.note(operator.name, worst_errors(eager, exact, shifted, operator.dtype, operator.entry.scale))


def _fresh(operator: Operator, sample: t.Any) -> t.Any:
    """Return a sample, or a copy of it if the program changes its inputs."""
    return variants.map_tensors(sample, lambda value: value.clone()) if operator.entry.kind.changes else sample


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
        # The next replay of a graph writes into the same memory.
        made.append(
            Computed([result.detach().clone() for result in results], list(mine if differentiable else []), scale)
        )
    if outputs:
        gradients = iter(torch.autograd.grad(outputs, inputs, upstream, allow_unused=True))
        for computed in made:
            computed.gradients = [next(gradients) for _leaf in computed.gradients]
    return made


def _call(context: Context, program: panels.Program, form: str, inputs: t.Any) -> Call:
    """Return the call of a program with its references."""
    form = "float32" if form in panels.WHOLE else form
    seed = f"{context.seed} {program.name}"
    operator = Operator(program, program.name, context.device, getattr(torch, form), seed, [])
    inputs, exact, shifted = calls.reference(operator, inputs)
    if program.kind.exact:
        # A step of the format would move a number to the other side of a whole number.
        shifted = functools.partial(copy.copy, exact)
    else:
        shifted = functools.partial(compositions.moved, shifted, spacing(operator.dtype))
    return operator, f"{program.name}, compiled", inputs, exact, shifted


@check("compilation.panels", devices=("cuda", "cpu"), seconds=300, steps=True, measured=(*H200S, X86_CPU_GRID))
@check("compilation.compositions", devices=("cuda", "cpu"), seconds=300, steps=True, measured=(*H200S_LATER, X86_OLDER))
@check("compilation.replays", seconds=300, steps=True, measured=H200S_LATER, factor=1)
def compiled_panels(context: Context, part: str) -> Measured:
    """Compare the programs of ``panels``, or those that the seed composes, in compiled graphs, and eagerly afterwards.

    A run compiles two tables, in other formats, shapes or directions each week, and every seventh of them for any
    shape. ``--full`` compiles each table in one of its formats. A table of whole numbers, whose results are exact, is
    compiled daily, and a CUDA graph replays it with other numbers.
    """
    outcome, allowed = Survey(), dict[str, tuple[float, float]]()
    on_cpu, has_equal_numbers = context.device == "cpu", False
    with all_operators.survey_settings(context.device), clean_compiler(context) as graphs:
        for name, turn in panels.of_day(context.seed, context.full, part):
            kind = panels.PANELS[name]
            form, dynamic = kind.forms[turn % len(kind.forms)], turn % len(panels.TURNS) == 0 and kind.calls == 1
            gradients = bool(turn // 2 % 2) and not kind.exact and not kind.changes
            # On a CPU, torch 2.13 computes wrong gradients of pictures that are fused with others.
            gradients = gradients and not (on_cpu and kind.shapes is panels.IMAGES)
            step = f"{name} in {form}{', any shape' if dynamic else ''}"
            if step in context.passed_over:
                continue
            context.step(step)
            rounds: list[list[Call]] = [[] for _round in range(kind.calls + dynamic)]
            for number, group in enumerate(rounds):
                inputs = panels.sample(kind, form, context.device, f"{turn} {name}", number)
                if not gradients:
                    inputs = calls.without_gradients(inputs)
                programs = panels.programs(name, form, turn, gradients, on_cpu)
                # Code for any shape takes twice as long to generate, and more if shapes change within a program.
                share = 2 if kind.table else 4
                programs = programs[turn % share :: share] if dynamic and len(programs) > 1 else programs
                if part == "panels" and kind.forms is not panels.WHOLE and not dynamic and not has_equal_numbers:
                    programs, has_equal_numbers = [*programs, panels.of_equal_numbers(context.seed, on_cpu)], True
                # All programs read the same tensors, so that the compiler fuses them.
                group += [_call(context, program, form, inputs) for program in programs]
            for program, *_others in rounds[0]:
                allowed[program.name] = allowed[f"{program.name}, compiled"] = panels.bounds(program.entry.kind, form)
            _compare(outcome, rounds, dynamic)
        measured = all_operators.judge(context, outcome, allowed, "programs", _REMEDY)
        return with_graph_count(measured, graphs())
