"""The grid of attention's calls: lengths, head sizes, shared heads, masks, memory layouts, scale, and ways to call it.

A run draws rows by the seed, other rows for each kernel and every day. Each row is the one with the most pairs of
values that earlier rows lack, so that a run has nearly every pair of values of two axes that a kernel supports. The
numbers of queries and keys form one axis, so a pair of it and a mask is a condition of three parts. A row in 16 bits
stands for float16 and bfloat16, which share inputs and a reference: 16-bit inputs are multiples of 1/32 below 4.

Inputs are of order 1. V and dO have one sign in each lane, so that the sums in O and dV do not cancel, and the bound
for each of their elements is near 1 per cent in bfloat16 (up to 5 on the CPU).
"""

from __future__ import annotations

import itertools
import math
import random
import typing as t
import warnings

from ... import resources
from ...check import Context, Skipped
from ..bounds import captured, gradients, torch
from .attention_reference import Inputs

if t.TYPE_CHECKING:
    Forward = t.Callable[["Case", Inputs], torch.Tensor]

FLOAT32 = ("float32",)
HALF = ("float16", "bfloat16")
FORMATS = FLOAT32 + HALF
TABLES = resources.tables("checks/kernels/attention.txt")
AXES = resources.axes(TABLES["axes"])
#: The masks that are passed as a tensor.
TENSORS = AXES["mask"][3:]
#: Those of which each key may have one value.
BY_KEY = ("boolean", "first keys hidden", "numbers", "low numbers")
#: The head sizes of training steps with a mask; one of every two neighbours is supported by every kernel.
SIZES = ("64", "192", "128", "256", "96")
#: The numbers of candidates for a row.
CANDIDATES = 40
UNFIT, UNFIT_ON_CPU = resources.axes(TABLES["unfit"]), resources.axes(TABLES["unfit on a CPU"])
#: The elements of memory behind the inputs: a kernel of torch reads up to 32 rows beyond the keys (pytorch#191937).
ROOM = 2**16
#: The value that a mask subtracts from each score, so that the sums of exponentials are far below float32's numbers.
LOW = -8192.0


class Case(t.NamedTuple):
    """One call of attention; ``shape`` holds batch, query heads, key heads, queries, keys and head size."""

    format: str
    mask: str
    shape: tuple[int, int, int, int, int, int]
    value_size: int = 0
    is_expanded: bool = False
    mask_form: str = "queries by keys"
    layout: str = "plain"
    gradient: str = "plain"
    scale: float | None = None
    call: str = "training"
    threads: str = "all"

    @property
    def is_grouped(self) -> bool:
        """Whether torch is told that heads share keys."""
        return self.shape[1] != self.shape[2] and not self.is_expanded

    def __str__(self) -> str:
        _unused, heads, key_heads, queries, keys, size = self.shape
        kinds = {"none": "no mask", "causal": "causal", "lower right": "causal from the lower right"}
        parts = [self.format, kinds.get(self.mask, f"mask {self.mask}")]
        parts.append(f"head size {size}" + (f" and {self.value_size}" if self.value_size not in (0, size) else ""))
        parts.append(f"{queries} tokens" if queries == keys else f"{queries} queries of {keys} keys")
        if key_heads != heads:
            parts.append(f"{heads} heads share {key_heads}{', expanded' if self.is_expanded else ''}")
        if self.mask in TENSORS:
            parts.append(f"mask's form {self.mask_form}")
        memory = {"layout": self.layout, "dO": self.gradient}
        parts += [f"{axis} {value}" for axis, value in memory.items() if value != "plain"]
        return ", ".join([*parts, *([f"scale {self.scale:g}"] if self.scale else []), self.call])


def require_capability() -> None:
    """Skip kernels that the GPU is too old for."""
    if torch.cuda.get_device_capability(0) < (8, 0):
        raise Skipped("Attention kernels need compute capability 8.0 or higher.")


def cases(context: Context, kernel: str, count: int, formats: t.Sequence[str] = FORMATS) -> t.Iterator[list[Case]]:
    """Yield the cases of each row of a run, which differ in their format.

    :param kernel: ``math``, ``efficient``, ``flash`` or ``cudnn``, or '' for the one that torch selects.
    """
    seed, cuda = f"{context.seed} {kernel}", context.device == "cuda"
    unfit = {*(UNFIT[kernel] if cuda else UNFIT_ON_CPU.get(kernel, ())), "one" if cuda else "graph"}
    unfit.update({"32 bits"} if FLOAT32[0] not in formats else ())
    drawing = context.drawing(kernel)
    for row in rows(seed, count * (4 if context.full else 1), unfit):
        forms = FLOAT32 if row["format"] == "32 bits" else HALF
        case = case_of(row, forms[0], drawing)
        yield [case._replace(format=form) for form in forms if form in formats]


def rows(seed: str, count: int, unfit: t.Collection[str]) -> t.Iterator[dict[str, str]]:
    """Yield rows without the unfit values: each has the most new pairs of values among some random rows.

    Every fourth row is a training step with a mask, and most of them have 64 tokens modulo 128.
    """
    drawing = random.Random(seed)  # noqa: S311 - the choice need not be secret
    covered: set[t.Any] = set()
    axes = {axis: [value for value in values if value not in unfit] for axis, values in AXES.items()}
    masks, first = [mask for mask in axes["mask"] if mask in TENSORS], drawing.randrange(128)
    for number in range(count):
        candidates: list[dict[str, str]] = []
        turn = first + number // 4
        # By the golden ratio, successive remainders are far from each other.
        remainder = 64 if number // 4 % 3 < 2 else 79 * turn % 128
        step = {"lengths": f"{remainder} of 128", "size": SIZES[turn % len(SIZES)], "call": "training"}
        while len(candidates) < CANDIDATES:
            row = {axis: drawing.choice(values) for axis, values in axes.items()}
            if masks and number % 4 == 1:
                row |= {**step, "mask": drawing.choice(masks)}
            candidates += [row] if is_sound(row) else []
        best = max(candidates, key=lambda row: len(pairs(row) - covered))
        covered |= pairs(best)
        yield best


def pairs(row: t.Mapping[str, str]) -> set[t.Any]:
    """Return the pairs of values in a row; its mask's form only counts if there is a mask."""
    has_form = row["mask"] in TENSORS
    return set(itertools.combinations([item for item in row.items() if has_form or item[0] != "mask form"], 2))


def is_sound(row: t.Mapping[str, str]) -> bool:
    """Tell whether torch defines the call, and a reference takes less than a tenth of a second."""
    if row["lengths"] == "long" and (row["heads"] != "1 of 1" or row["size"] not in ("32", "64", "uneven")):
        return False
    if row["mask"] in ("lower right", "query hidden") and row["gradient"] == "expanded":
        # The gradient of a query that sees no key must be zero, so it is not that of all others.
        return False
    if row["mask"] == "lower right":
        # The class for this mask accepts neither shared heads nor inputs without a batch.
        return row["heads"] in AXES["heads"][:2] and row["call"] != "no batch"
    # A mask for keys is the same for all queries.
    return row["mask form"] != "keys" or row["mask"] not in set(TENSORS) - {*BY_KEY}


def case_of(row: t.Mapping[str, str], form: str, drawing: random.Random) -> Case:
    """Return a case for a row, with lengths and sizes drawn from its classes."""
    queries, keys = lengths(row["lengths"], drawing)
    sizes = {"other": drawing.randrange(8, 257, 8), "uneven": drawing.choice((1, 5, 17, 33, 65, 100, 250))}
    size = sizes[row["size"]] if row["size"] in sizes else int(row["size"])
    value_size = {"equal": size, "smaller": -(-size // 2), "larger": min(size + 32, 256)}[row["value size"]]
    counts, _unused, how = row["heads"].partition(", ")
    heads, key_heads = map(int, counts.split(" of "))
    batch = 1 if row["call"] == "no batch" or queries * keys > 10_000 else heads % 2 + 1
    shape = (batch, heads, key_heads, queries, keys, size)
    scale = None if row["scale"] == "default" else drawing.choice((0.1, 0.2, 1 / size))
    memory = (row["mask form"], row["layout"], row["gradient"])
    return Case(form, row["mask"], shape, value_size, bool(how), *memory, scale, row["call"], row["threads"])


def lengths(name: str, drawing: random.Random) -> tuple[int, int]:
    """Return the numbers of queries and keys of a class; many keys are often beside a multiple of 32, or are of 128."""
    beside = 32 * drawing.randint(5, 18) + drawing.choice((-1, 1))
    many = drawing.choice((beside, drawing.randint(129, 600)))
    many = -(-many // 128) * 128 if many % 3 == 0 else many
    fewer = drawing.randint(1, 100)
    tokens = drawing.choice((32 * drawing.randint(1, 4) + 1, drawing.randrange(17, 150)))
    long = drawing.randint(250, 400)
    if name.endswith(" of 128"):
        remainder = int(name.partition(" ")[0])
        tokens, more = (remainder or 128), (remainder + 128 if remainder <= 64 else remainder)
        return drawing.choice(((tokens, tokens), (tokens, tokens), (more, more), (tokens, more)))
    return {
        "1, 1": (1, 1),
        "1, many": (1, many),
        "few, many": (drawing.randint(2, 16), many),
        "some, more": (17 + fewer, 17 + fewer + drawing.randint(1, 200)),
        "more, fewer": (fewer + drawing.randint(1, 60), fewer),
        "even": (128, 128),
        "odd": (tokens, tokens),
        "long": (long, long),
    }[name]


def draw(context: Context, case: Case) -> Inputs:
    """Return the inputs of a case, which are the same for float16 and bfloat16."""
    batch, heads, key_heads, queries, keys, size = case.shape
    half, value_size = case.format in HALF, case.value_size or size
    generator = context.generator(f"attention {half} {case[1:]}")

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    def one_sign(*shape: int) -> torch.Tensor:
        sign = torch.randint(0, 2, (shape[0], shape[1], 1, shape[3]), generator=generator) * 2 - 1
        return sign * (normal(*shape).abs() + 0.25)

    def representable(values: torch.Tensor) -> torch.Tensor:
        return ((values.clamp(-3.9, 3.9) * 32).round() / 32 if half else values).double()

    mask = draw_mask(case, generator)
    gradient = representable(one_sign(batch, heads, 1 if case.gradient == "expanded" else queries, value_size))
    if mask is not None and case.mask in ("query hidden", "lower right"):
        gradient = gradient * mask.any(-1, keepdim=True)
    return Inputs(
        representable(normal(batch, heads, queries, size) * 1.5),
        representable(normal(batch, key_heads, keys, size)),
        representable(one_sign(batch, key_heads, keys, value_size)),
        gradient.expand(-1, -1, queries, -1),
        mask,
        case.scale,
    )


def draw_mask(case: Case, generator: torch.Generator) -> torch.Tensor | None:
    """Return the mask: numbers that each format represents, or the visible keys; each query sees one unless hidden."""
    if case.mask == "none":
        # Before anything of queries times keys, which long texts have no memory for.
        return None
    batch, heads, _key_heads, queries, keys, _size = case.shape
    forms = {"each head": (batch, heads, queries, keys), "keys": (batch, 1, 1, keys)}
    form = forms.get(case.mask_form, (queries, keys))
    if case.mask_form == "expanded" and case.mask in BY_KEY:
        form = (1, keys)

    def below(limit: int) -> int:
        return int(torch.randint(0, max(1, limit), (), generator=generator))

    query, key = torch.arange(queries).view(-1, 1), torch.arange(keys)
    # The last query is beside the last key, as in decoding, unless there are fewer keys.
    distance = query + max(0, keys - queries) - key
    if case.mask == "causal":
        return query >= key
    if case.mask == "lower right":
        return query + keys - queries >= key
    if case.mask == "numbers":
        return torch.randn(form, generator=generator).bfloat16().double()
    if case.mask == "low numbers":
        return LOW * torch.ones(form, dtype=torch.float64).masked_fill(torch.rand(form, generator=generator) < 0.1, 2.0)
    if case.mask == "distances":
        return (distance * -(2.0 ** -(1 + below(6)))).bfloat16().double().masked_fill(distance < 0, -math.inf)
    edge = keys - 1 - below(min(16, keys - 1))
    masks = {
        "first keys hidden": key >= below(keys),
        "blocks": (distance <= keys - 1 - edge) == (key >= edge),
        "window": (distance >= 0) & (distance < 1 + below(keys)),
        "least number": distance >= 0,
    }
    mask = masks.get(case.mask, torch.rand(form, generator=generator) < 0.7).expand(form).clone()
    if case.mask == "first keys hidden":
        mask[..., -1] = True
    else:
        mask[..., query[:, 0] % mask.shape[-2], (query[:, 0] + max(0, keys - queries)).clamp(max=keys - 1)] = True
    if case.mask == "query hidden":
        mask[..., below(queries), :] = False
    return mask


def arguments(case: Case, inputs: Inputs, device: str) -> Inputs:
    """Move the inputs to a device, in the memory layouts of the case."""
    form = getattr(torch, case.format)

    def move(values: torch.Tensor, layout: str = case.layout) -> torch.Tensor:
        on_device = values.to(device, form)
        if layout == "tokens first":
            return on_device.transpose(1, 2).contiguous().transpose(1, 2)
        if layout == "columns":
            return on_device.mT.contiguous().mT
        return _cut_out(on_device) if layout == "cut out" else on_device

    leaves = [_roomy(move(x)).requires_grad_(case.call in ("training", "no batch")) for x in inputs[:3]]
    mask = inputs.mask if case.mask in TENSORS else None
    if mask is not None:
        if case.mask == "least number":
            mask = torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(form).min)
        mask = mask.to(device, form if mask.is_floating_point() else torch.bool)
        if case.mask_form == "expanded":
            mask = mask.expand(*case.shape[:2], case.shape[3], -1)
        mask = _cut_out(mask) if case.mask_form == "cut out" else mask
    return Inputs._make([*leaves, move(inputs.gradient, "plain"), mask, case.scale])


def _roomy(values: torch.Tensor) -> torch.Tensor:
    """Return a copy in the same layout that memory of ours follows, so that a kernel may read beyond it."""
    buffer = values.new_zeros(values.untyped_storage().size() // values.element_size() + ROOM)
    return buffer.as_strided(values.shape, values.stride(), values.storage_offset()).copy_(values)


def _cut_out(values: torch.Tensor) -> torch.Tensor:
    """Return a view of a tensor with longer rows, at an offset that every kernel accepts."""
    width = values.shape[-1]
    wide = values.new_zeros(*values.shape[:-1], 16 + math.ceil(width / 8) * 8)
    wide[..., 8 : 8 + width] = values
    return wide[..., 8 : 8 + width]


def attend(case: Case, inputs: Inputs, forward: Forward | None = None) -> tuple[torch.Tensor, ...]:
    """Return the result of attention and, unless for inference, the gradients of query, key and value.

    :param forward: another function than torch's.
    """
    forward, leaves, upstream = forward or call, inputs[:3], inputs.gradient
    if case.call in ("inference", "graph"):
        with torch.no_grad():
            return (_replayed(case, inputs) if case.call == "graph" else forward(case, inputs),)
    output = forward(case, inputs)
    if case.gradient == "expanded":
        return (output, *gradients(output.sum(-2), leaves, upstream[..., 0, :]))
    if case.gradient == "tokens first":
        return (output, *gradients(output.transpose(1, 2), leaves, upstream.transpose(1, 2).contiguous()))
    return (output, *gradients(output, leaves, upstream))


def operands(case: Case, inputs: Inputs) -> list[t.Any]:
    """Return query, key, value and mask as they are passed to attention."""
    heads = case.shape[1] if case.is_expanded else -1
    query, key, value = inputs.query, *(x.expand(-1, heads, -1, -1) for x in (inputs.key, inputs.value))
    mask = inputs.mask
    if case.call == "no batch":
        query, key, value = query[0], key[0], value[0]
        mask = mask if mask is None or mask.dim() == 2 else mask[0]
    return [query, key, value, mask]


def call(case: Case, inputs: Inputs) -> torch.Tensor:
    """Call torch's attention."""
    query, key, value, mask = operands(case, inputs)
    options: dict[str, t.Any] = {"scale": case.scale} if case.scale else {}
    if case.is_grouped:
        options["enable_gqa"] = True
    with warnings.catch_warnings():
        # torch warns of queries that see no key.
        warnings.simplefilter("ignore")
        if case.mask == "lower right":
            from torch.nn.attention.bias import causal_lower_right

            mask = causal_lower_right(query.shape[-2], key.shape[-2])
        output = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=case.mask == "causal", **options
        )
    return output.unsqueeze(0) if case.call == "no batch" else output


def _replayed(case: Case, inputs: Inputs) -> torch.Tensor:
    """Return the result of a CUDA graph that was captured with other numbers."""
    exact = [x.clone() for x in inputs[:3]]
    for x in inputs[:3]:
        x.fill_(0.5)
    graph, output = captured(lambda: call(case, inputs))
    for x, values in zip(inputs[:3], exact):
        x.copy_(values)
    graph.replay()
    return output.clone()
