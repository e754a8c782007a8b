"""Check attention in compiled code: flex attention, and casts and views around torch's attention."""

from __future__ import annotations

import itertools
import math
import random
import typing as t

from ...check import H200S, X86_CPU_GRID, Context, Measured, Skipped, check
from ..bounds import Cases, functional as f, one_thread, torch
from ..kernels import attention_grid as grid
from ..kernels.attention_grid import FORMATS, HALF, Case
from ..kernels.attention_reference import Inputs, compare, reference
from .compilation import clean_compiler, with_graph_count

KINDS = ("window", "texts", "prefix", "casts")
#: The number of days in which a CPU compiles a program once, which takes a core up to 20 seconds; a GPU does so daily.
DAYS = 4
_LOST = "Compiled code skips a cast to bfloat16 and back, as is known of this torch (pytorch#176565)"
REMEDY = "See which attention.* and compilation.* checks fail; if none does, do not compile attention with this stack."


@check("compilation.attention", devices=("cuda", "cpu"), seconds=300, measured=(*H200S, X86_CPU_GRID))
def compiled_attention(context: Context) -> Measured:
    """Check flex attention with a score function and a mask of blocks at odd lengths, and attention after casts.

    A default run takes the day's kind and format. For the bounds see ``attention_reference``.
    """
    if context.device == "cpu" and context.seed % DAYS and not context.full:
        raise Skipped(f"A default run compiles attention for the CPU every {DAYS} days, and a full one always.")
    try:
        from torch.nn.attention import flex_attention
    except ImportError as error:
        raise Skipped("This torch has no flex_attention.") from error
    cases, known = (Cases("compiled attention", REMEDY) for _part in range(2))
    programs = [*itertools.product(KINDS[:3], FORMATS), (KINDS[3], "float32")]
    drawing = random.Random(f"{context.seed} compiled attention")  # noqa: S311 - the choice need not be secret
    refused: list[str] = []
    with clean_compiler(context) as graphs:
        for kind, form in programs if context.full else drawing.sample(programs, 1):
            # Neither torch 2.14's kernel for a few queries nor the other accepts 64 to 127 queries of shared heads.
            queries = 2 * drawing.choice((drawing.randint(1, 31), drawing.randint(64, 80))) + 1
            keys = queries + 2 * drawing.randint(0, 100)
            torch._dynamo.reset()
            case = Case(form, "none", (1, 4, 2, queries, keys, drawing.choice((32, 64, 128))))
            inputs = grid.draw(context, case)
            if kind == "casts":
                _compare_casts(cases, known, context, case, inputs)
                continue
            try:
                _compare_flexible(cases, flex_attention, context, kind, case, inputs)
            except RuntimeError as error:
                # Torch 2.14 chooses tiles for some lengths that it then refuses; an error is not a wrong number.
                if "kernel options" not in str(error):
                    raise
                refused.append(f"{kind}, {case}: {' '.join(str(error).split())[:120]}")
        if not cases.count:
            raise Skipped(f"torch compiles none of the day's calls: {refused[0]}.")
        result = with_graph_count(cases.result(), graphs())
        known.warn(result, _LOST, REMEDY)
        result.measured += f"; {len(refused)} not compiled, such as {refused[0]}" if refused else ""
        return result


def _compare_flexible(cases: Cases, module: t.Any, context: Context, kind: str, case: Case, inputs: Inputs) -> None:
    """Compare compiled flex attention, with a penalty for distant keys and a mask of blocks."""
    _batch, heads, _key_heads, queries, keys, _size = case.shape
    offset, device = keys - queries, context.device
    slopes = 2.0 ** -torch.arange(1, heads + 1)
    on_device = slopes.to(device)

    def is_visible(_batch: t.Any, _head: t.Any, query: t.Any, key: t.Any) -> t.Any:
        distance = query + offset - key
        if kind == "window":
            return (distance >= 0) & (distance < 40)
        if kind == "texts":
            return (distance >= 0) & ((query + offset) // 37 == key // 37)
        return (distance >= 0) | (key < 12)

    def penalised(score: t.Any, _batch: t.Any, head: t.Any, query: t.Any, key: t.Any) -> t.Any:
        return score - on_device[head] * (query + offset - key)

    query, key = torch.arange(queries).view(-1, 1), torch.arange(keys)
    penalty = (slopes.view(-1, 1, 1) * (key - query - offset)).double()
    mask = penalty.masked_fill(~is_visible(0, 0, query, key), -math.inf)
    # torch has no gradient of flex attention on the CPU.
    case = case._replace(call="training" if device == "cuda" else "inference")
    blocks = module.create_block_mask(is_visible, None, None, queries, keys, device=device)
    attend = torch.compile(module.flex_attention, fullgraph=True, dynamic=False)

    def forward(_case: Case, leaves: Inputs) -> torch.Tensor:
        options = {"score_mod": penalised, "block_mask": blocks, "enable_gqa": True}
        return t.cast("torch.Tensor", attend(leaves.query, leaves.key, leaves.value, **options))

    results = grid.attend(case, grid.arguments(case, inputs, device), forward)
    with one_thread():
        bounds = reference(inputs._replace(mask=mask), case.format in HALF, device == "cpu")
    compare(cases, f"flex attention, {kind}, {case}", case.format, bounds, results)


def _compare_casts(cases: Cases, known: Cases, context: Context, case: Case, inputs: Inputs) -> None:
    """Compare compiled attention of inputs that were cast to bfloat16 and back, with a view of its result."""

    def program(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        parts = [x.to(torch.bfloat16).to(torch.float32) for x in (query, key, value)]
        attended = f.scaled_dot_product_attention(*parts, enable_gqa=True)
        return attended.transpose(1, 2).flatten(2) * 2

    query, key, value, *rest = inputs
    cast = (x.bfloat16().double() for x in (query, key, value))
    with one_thread():
        rounded, plain = (
            reference(exact, False, context.device == "cpu", heads=False)["forward O"]
            for exact in (Inputs(*cast, *rest), inputs)
        )
    device_inputs = grid.arguments(case._replace(call="inference"), inputs, context.device)
    output = torch.compile(program, fullgraph=True, dynamic=False)(*device_inputs[:3])
    halved = output.unflatten(2, (case.shape[1], -1)).transpose(1, 2) / 2
    is_lost = bool(((halved.to("cpu", torch.float64) - plain.expected).abs() <= plain.allowed("float32")).all())
    right = plain if is_lost else rounded
    cases.compare(f"casts, {case}", halved, right.expected, right.allowed("float32"))
    if is_lost:
        known.compare(f"casts, {case}", halved, rounded.expected, rounded.allowed("float32"))
