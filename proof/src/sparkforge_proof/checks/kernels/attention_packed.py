"""Check attention over texts of several lengths that lie one after another in a tensor, as engines pack them."""

from __future__ import annotations

import random
import typing as t

from ...check import H200S, Context, Measured, check
from ..bounds import Cases, captured, gradients, one_thread, torch
from . import attention_grid as grid
from .attention_grid import FLOAT32, HALF, Case
from .attention_reference import Inputs, compare, reference

if t.TYPE_CHECKING:
    #: A function of packed query, key and value, the starts of queries and keys of texts, and their largest numbers.
    Attend = t.Callable[..., torch.Tensor]

#: The classes of lengths that occur in each pack, and the numbers of queries and keys of a decoding step.
CLASSES = ("1, 1", "1, many", "few, many", "some, more", "odd", "64 of 128")
FEWER = ("more, fewer", "more, fewer")
#: The masks that each of torch's kernels supports; its flash attention aligns causal texts at their ends.
MASKS = {"flash": ("none", "lower right"), "efficient": ("none", "causal", "lower right")}
REMEDY = "See which other attention.* checks fail; if none does, do not use packed texts with this stack."


def _starts(lengths: t.Iterable[int], device: str) -> torch.Tensor:
    """Return the start of each text, and the end of the last."""
    return torch.tensor([0, *lengths], device=device).cumsum(0).to(torch.int32)


def _packs(texts: t.Sequence[Inputs]) -> list[torch.Tensor]:
    """Return the queries, keys, values and gradients of all texts, by token."""
    parts = [(text.query, text.key, text.value, text.gradient) for text in texts]
    return [torch.cat([part[0].transpose(0, 1) for part in kind]) for kind in zip(*parts)]


def compare_packed(
    cases: Cases, context: Context, parts: t.Sequence[Case], attend: Attend, name: str = "packed"
) -> None:
    """Compare packed attention, forward and backward, with that of each text alone."""
    form, device = parts[0].format, context.device
    with one_thread():
        texts = [grid.draw(context, part) for part in parts]
        bounds = [reference(inputs, form in HALF, False) for inputs in texts]
    query, key, value, upstream = (pack.to(device, getattr(torch, form)) for pack in _packs(texts))
    leaves = [x.requires_grad_() for x in (query, key, value)]
    lengths = [[part.shape[axis] for part in parts] for axis in (3, 4)]
    starts = [_starts(axis, device) for axis in lengths]
    output = attend(*leaves, *starts, *map(max, lengths))
    results = [output, *gradients(output, leaves, upstream)]
    sizes = [lengths[0], lengths[0], lengths[1], lengths[1]]
    for number, part in enumerate(parts):
        own = [x.split(size)[number].transpose(0, 1).unsqueeze(0) for x, size in zip(results, sizes)]
        compare(cases, f"{name}, {part}", form, bounds[number], own)


def _kernel(name: str, mask: str) -> Attend:
    """Return one of torch's kernels for packed texts."""
    aten = torch.ops.aten

    def flash(*inputs: t.Any) -> torch.Tensor:
        return aten._flash_attention_forward(*inputs, 0.0, mask != "none", False)[0]

    def efficient(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *texts: t.Any) -> torch.Tensor:
        kind = MASKS["efficient"].index(mask)
        batch = (x.unsqueeze(0) for x in (query, key, value))
        return aten._efficient_attention_forward(*batch, None, *texts, 0.0, kind, True)[0][0]

    return flash if name == "flash" else efficient


@check("attention.packed", seconds=120, factor=1, measured=H200S)
def packed(context: Context) -> Measured:
    """Check packed texts with other numbers of queries than keys, both kinds of causal masks, and replayed decoding.

    A query that sees no key has the result zero, which only flash attention promises, and no gradient.
    """
    grid.require_capability()
    cases = Cases("attention over packed texts", REMEDY)
    drawing = context.drawing("packed")
    for name, masks in MASKS.items():
        for mask in masks:
            sees_all = mask != "lower right" or name == "flash"
            lengths = [grid.lengths(kind, drawing) for kind in CLASSES + (FEWER if sees_all else ())]
            drawing.shuffle(lengths)
            size = drawing.choice((32, 64, 128, 192, 256))
            for form in HALF if name == "flash" else FLOAT32 + HALF:
                parts = [Case(form, mask, (1, 2, 2, *length, size)) for length in lengths]
                with cases.offered(f"{name}, {form}, {mask}"):
                    compare_packed(cases, context, parts, _kernel(name, mask), f"{name}, packed")
                    if mask == "none":
                        _compare_decoding(cases, context, name, form, size, drawing)
    return cases.result()


def _compare_decoding(cases: Cases, context: Context, name: str, form: str, size: int, drawing: random.Random) -> None:
    """Compare decoding steps of several texts with a graph that was captured with other texts and lengths."""
    most, texts = 600, 5
    attend, dtype = _kernel(name, "none"), getattr(torch, form)
    query = torch.ones(texts, 2, size, device="cuda", dtype=dtype)
    key, value = (torch.ones(texts * most, 2, size, device="cuda", dtype=dtype) for _name in range(2))
    starts = [_starts([1] * texts, "cuda"), _starts([most] * texts, "cuda")]
    with torch.no_grad():
        graph, output = captured(lambda: attend(query, key, value, *starts, 1, most))
    for step in range(2):
        # The second step has the next token of each text, and texts of other lengths have come and gone.
        lengths = [1, *(drawing.randint(2, most) for _text in range(texts - 2)), most - step]
        drawing.shuffle(lengths)
        parts = [Case(form, "none", (1, 2, 2, 1, length, size), call="inference") for length in lengths]
        with one_thread():
            inputs = [grid.draw(context, part) for part in parts]
            bounds = [reference(text, form in HALF, False) for text in inputs]
        for tensor, pack in zip((query, key, value), _packs(inputs)):
            tensor[: len(pack)] = pack.to("cuda", dtype)
        starts[1].copy_(_starts(lengths, "cuda"))
        graph.replay()
        for number, part in enumerate(parts):
            own = output[number].unsqueeze(1).unsqueeze(0)
            compare(cases, f"{name}, packed, replayed, {part}", form, bounds[number], [own])
