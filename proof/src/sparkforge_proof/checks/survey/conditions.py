# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions of the grid: which of them an operator takes, and its inputs under them.

``table`` has the axes and their values.
"""

from __future__ import annotations

import dataclasses
import math
import random
import re
import typing as t

from . import operator_bounds, variants
from .rounding import Computed, Moved, tensors
from .table import AXES

if t.TYPE_CHECKING:
    import torch

#: How an operator is called plainly.
PLAIN = {axis: values[0] for axis, values in AXES.items()}
#: Sizes of a dimension: its remainder by whatever vectors, tiles and blocks there are is drawn.
SIZES = {"empty": (0, 0), "one": (1, 1), "broadcast": (1, 1), "tail": (2, 67), "wide": (8_193, 8_260),
         "long": (65_537, 65_604), "batch": (65_537, 65_604)}  # fmt: skip
#: Elements of all inputs, of those of slow functions and of products; and tensors that may come out.
MOST, MOST_OF_SLOW, MOST_OF_PRODUCTS, MOST_RESULTS = 2**18, 2**15, 2**23, 8
#: Numbers of the first two inputs are subnormal.
BOTH_SUBNORMAL = f"{variants.SUBNORMAL} twice"
#: Larger numbers are so many times as large.
LARGER = 64.0
#: Operators that read or write as many numbers as they are told, without a look whether they are there; that write to
#: places, where the last of two wins; or that search what has to be in order, or take one of equal counts.
_UNSAFE = re.compile(
    r"unsafe|as_strided|segment_reduce|resize|set_|_(?!foreach|_r)|native_|torch\.ops|.*batch_norm|.*put$|.*scatter|index_(add|copy|reduce)|.*ctc|hist"
    r"|.*max_unpool|searchsorted|bucketize|.*embedding_bag|mode"
)
#: Operators that also return where a value was, or pass a gradient back to there: among many numbers some are equal.
RETURNS_PLACES = re.compile(r"(nan)?median|kthvalue|.*sort|topk|(max|min)\.reduction_with_dim|.*max_pool")
#: Takes the square of a row's length or more, or needs numbers that fit together.
_NOT_LONG = re.compile(
    "linalg|pinv|lstsq|norm.nuc|.*attention|[cp]dist|.*outer|ger|.*conv|block_diag|kron|combinations|cov|corrcoef|.*multilabel"
)
#: Subtracts the largest number, or divides by it, or moves what is larger than a limit.
_NEVER_OVERFLOWS = re.compile("softmax|softmin|logsumexp|(layer|group|instance)_norm|cross_entropy|relu|clamp|hardtanh")
#: Tells the two signs of a NaN, or of a zero, apart.
_SIGNS = re.compile("signbit|copysign|sgn|sign|atan2|angle|nextafter|view|float_power")


#: A sample, what float64 on the CPU makes of it, and what computes that of inputs one step beside.
Exact = tuple[t.Any, Computed, Moved]


def differentiable(entry: t.Any, dtype: torch.dtype, device: str) -> bool:
    """Say whether the catalogue has gradients of an operator in a format."""
    return bool(entry.supports_autograd) and dtype in entry.supported_backward_dtypes(device)


@dataclasses.dataclass
class Operator:
    """One operator in one format on one device.

    :ivar samples: inputs of the catalogue, the one with the most numbers first.
    :ivar full: whether everything is asked.
    :ivar exact: what float64 makes of samples, see :func:`calls.reference`.
    :ivar record: is given each row that was computed, and what computes it again.
    """

    entry: t.Any
    name: str
    device: str
    dtype: torch.dtype
    seed: str
    samples: list[t.Any]
    full: bool = False
    exact: dict[t.Any, Exact] = dataclasses.field(default_factory=dict)
    record: t.Callable[[t.Mapping[str, str], t.Callable[[], t.Any]], None] = lambda row, call: None

    @property
    def any_number(self) -> bool:
        return type(self.entry).__name__ in variants.TAKE_ANY

    @property
    def moves(self) -> bool:
        return variants.MOVES.match(self.name) is not None

    @property
    def gpu(self) -> bool:
        return self.device == "cuda"

    def takes(self, axis: str, value: str, sample: t.Any) -> bool:
        """Say whether it is known to take a value of an axis; of sizes the reference shows it."""
        if value == PLAIN[axis] or axis in ("format", "option", "threads"):
            return True
        if operator_bounds.left_out(f"{self.name}, {value}"):
            return False
        if axis == "layout":
            return self._takes_layout(value)
        if axis == "size":
            if _UNSAFE.match(self.name) or (variants.LIBRARIES.match(self.name) and not self.name.startswith("fft.")):
                return False
            short = value in ("tail", "broadcast")
            return short or self.any_number or self.moves or not _NOT_LONG.match(self.name)
        if axis == "values":
            return self._takes_values(value, variants.is_known(sample, self.dtype))
        return axis != "direction" or differentiable(self.entry, self.dtype, self.device)

    def _takes_layout(self, layout: str) -> bool:
        if layout in (variants.STRIDED, variants.TRANSPOSED):
            return True
        if _UNSAFE.match(self.name) or (self.gpu and layout == variants.OFFSET and "attention" in self.name):
            return False
        if layout not in variants.SAME_ADDRESS or self.any_number or self.moves:
            return True
        twice = layout == variants.EXPANDED and variants.LIBRARIES.match(self.name)
        return self.full and bool(twice or variants.takes_equal(self.name, self.gpu))

    def _takes_values(self, values: str, known: bool) -> bool:
        any_number = self.any_number or self.moves
        if values.startswith(variants.SUBNORMAL):
            return variants.takes_subnormal(self.name, self.dtype, known, self.gpu, self.full)
        if values == "large":
            return _NEVER_OVERFLOWS.search(self.name) is not None
        if values == "zero":
            # An epsilon that float16 does not hold is no epsilon.
            return any_number or (self.name.startswith(variants.TAKE_NAN) and "normalize" not in self.name)
        if values == variants.WITH_NAN:
            lossless = variants.DIRECT.match(self.name) or variants.PRODUCTS.search(self.name)
            return self.has_nan_in_place(known) or bool(self.full and known and lossless)
        return not _SIGNS.search(self.name) and self.has_nan_in_place(known)

    def has_nan_in_place(self, known: bool) -> bool:
        """Say whether it has one answer where a NaN goes in."""
        return variants.takes_nan(self.name, self.any_number or self.moves, known, self.gpu)


def singles(operator: Operator) -> list[dict[str, str]]:
    """Return the rows in which one condition is another than plain."""
    gradients = differentiable(operator.entry, operator.dtype, operator.device)
    laid = {**PLAIN, "direction": "backward" if gradients else "forward"}
    rows = [{**laid, "layout": layout} for layout in (variants.STRIDED, variants.TRANSPOSED)]
    rows += [{**PLAIN, "mode": mode} for mode in (variants.IN_PLACE, variants.OUT)]
    return [*rows, *([{**PLAIN, "threads": "3"}] if operator.gpu else []), *singles_of_numbers(operator)]


def singles_of_numbers(operator: Operator) -> list[dict[str, str]]:
    """Return those of them in which the numbers are others."""
    values = [variants.SUBNORMAL, *([BOTH_SUBNORMAL] if operator.full else []), variants.WITH_NAN]
    return [{**PLAIN, "layout": variants.EXPANDED}, *({**PLAIN, "values": each} for each in values)]


def numbers_of(
    operator: Operator, sample: t.Any, row: t.Mapping[str, str], sign: float = 1.0, larger: float = 1.0
) -> t.Any:
    """Return a sample with the numbers that a row asks for.

    :param sign: of a NaN.
    :param larger: by how many times subnormal numbers are larger.
    """
    values = row["values"]
    if values in ("NaN", "negative NaN"):
        number = math.copysign(math.nan, sign)
        sample = variants.with_nan(sample, operator.moves, "polynomial" in operator.name, number)
    elif values == "infinite":
        sample = variants.with_nan(sample, False, True, math.inf)
    elif values.startswith(variants.SUBNORMAL):
        # A sum of two is subnormal where both are.
        count = None if variants.CHOOSES.match(operator.name) else 1 if values == variants.SUBNORMAL else 2
        sample = variants.subnormal(sample, larger, count)
    elif values in ("zero", "large"):
        sample = _multiplied(sample, 0.0 if values == "zero" else LARGER)
    if row["layout"] not in variants.SAME_ADDRESS:
        return sample
    any_number = operator.any_number or operator.moves
    if variants.LIBRARIES.match(operator.name) and not any_number:
        return variants.twice(sample)
    return variants.repeated(sample, row["layout"], not any_number)


def _multiplied(sample: t.Any, factor: float) -> t.Any:
    """Return the sample with the numbers of its first input so many times as large."""
    first = {id(one) for one in tensors([sample.input])}

    def change(value: torch.Tensor) -> torch.Tensor:
        if id(value) not in first or not variants.of_numbers(value):
            return value
        return (value.detach() * factor).requires_grad_(value.requires_grad)

    return variants.changed(sample, change)


def sized(operator: Operator, row: t.Mapping[str, str], chance: random.Random) -> t.Iterator[t.Any]:
    """Yield samples one of whose sizes is another, for as long as none is taken: at one end, or wherever it stands.

    Entries are drawn from those that were there, so that their numbers are in the operator's domain.
    """
    size, end = row["size"], {"wide": -1, "long": -1, "batch": 0}.get(row["size"])
    at = slice(None) if end is None else slice(end, (end + 1) or None)
    samples = [one for one in operator.samples if any(each > 1 for each in _sizes(one.input)[at])]
    if not samples:
        return
    sample = samples[AXES["option"].index(row["option"]) % len(samples)]
    if end is not None:
        # That which becomes the smallest.
        sample = min(samples, key=lambda one: math.prod(_sizes(one.input)) / max(1, _sizes(one.input)[end]))
    sizes = _sizes(sample.input)
    before = sizes[end] if end is not None else chance.choice([each for each in sizes if each > 1])
    after = chance.randint(*SIZES[size])
    for only in (end, None) if size in ("wide", "long") else (end,):
        changed = _resized(operator, sample, (before, after, only), size == "broadcast", chance)
        if changed is not None and (end is None or _is_small(operator, changed)):
            yield changed


def _is_small(operator: Operator, sample: t.Any) -> bool:
    """Say whether the results are not much larger than a sample may be: a row's length may come out squared."""
    import torch

    plain = sample.transform(lambda value: value.detach().to("meta") if isinstance(value, torch.Tensor) else value)
    try:
        with torch.no_grad():
            results = tensors(operator.entry(plain.input, *plain.args, **plain.kwargs))
    except Exception:
        # Its shape follows from its numbers, or it does not take the sample.
        return False
    return len(results) <= MOST_RESULTS and sum(one.numel() for one in results) <= MOST_OF_PRODUCTS


def _resized(
    operator: Operator, sample: t.Any, sizes: tuple[int, int, int | None], others: bool, chance: random.Random
) -> t.Any:
    """Return the sample with one size in the place of another; None where it is too large.

    :param sizes: the size that was there and the new one, and the only dimension whose size it may be.
    :param others: whether the first input stays as it is, for the others to be broadcast.
    """
    import torch

    before, after, only = sizes
    kept = {id(one) for one in tensors([sample.input])} if others else set()
    generator = torch.Generator().manual_seed(chance.getrandbits(32))
    slow = operator_bounds.compiled(operator.name)
    most = MOST_OF_SLOW if slow else MOST_OF_PRODUCTS if variants.PRODUCTS.search(operator.name) else MOST
    elements = 0

    def change(value: torch.Tensor) -> torch.Tensor:
        nonlocal elements
        places = [number for number, each in enumerate(value.shape) if each == before]
        places = [number for number in places if only is None or number == only % value.dim()]
        elements += value.numel() // max(1, before) ** len(places) * after ** len(places)
        if id(value) in kept or not places or elements > most:
            return value
        changed = value.detach()
        for number in places:
            drawn = torch.randint(0, before, (after,), generator=generator)
            changed = changed.index_select(number, drawn.to(value.device))
        return _unlike(changed, generator).requires_grad_(value.requires_grad)

    def lists(value: t.Any) -> t.Any:
        """Sizes stand among the arguments too: the shape that is normalised, the parts of a split."""
        if isinstance(value, (list, tuple)) and value and all(type(one) is int for one in value):
            return type(value)(after if one == before and one > 3 else one for one in value)
        return value

    changed = variants.changed(sample, change)
    if elements > most:
        return None
    if not others:
        changed.args = tuple(map(lists, changed.args))
        changed.kwargs = {key: lists(value) for key, value in changed.kwargs.items()}
    return changed


def _unlike(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return a tensor of float32 with each number a little nearer to zero; whole numbers stay, which flags may be.

    The roundings of a sum of few numbers that come often all have one direction, and grow as their count does.
    """
    import torch

    if value.dtype not in (torch.float32, torch.complex64):
        return value
    nearer = value * (1 - torch.rand(value.shape, generator=generator).to(value.device) / 4)
    return nearer if value.is_complex() else torch.where(value == value.trunc(), value, nearer)


def _sizes(value: t.Any) -> list[int]:
    """Return the sizes of the first tensor of an input."""
    first = next(iter(tensors([value])), None)
    return list(first.shape) if first is not None and str(first.layout) == "torch.strided" else []
