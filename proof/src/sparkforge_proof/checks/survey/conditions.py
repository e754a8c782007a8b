"""The conditions of the grid: which of them an operator supports, and what its inputs are under them.

``table`` lists the axes and their values.
"""

from __future__ import annotations

import dataclasses
import math
import random
import typing as t

from ..bounds import torch
from . import operator_bounds, shapes, variants
from .rounding import Computed, Shifted, seed_of, tensors, transform
from .table import AXES, patterns

#: The row for a plain call.
PLAIN = {axis: values[0] for axis, values in AXES.items()}
#: The smallest and largest size of a dimension; the drawn size need not be a multiple of vector or tile widths.
SIZES = {"empty": (0, 0), "one": (1, 1), "broadcast": (1, 1), "tail": (2, 67), "wide": (8_193, 8_260),
         "long": (65_537, 65_604), "many": (200, 600), "batch": shapes.MANY}  # fmt: skip
#: The size of inputs that are drawn from the axes of the operator's family; see the module ``shapes``.
DRAWN = "drawn"
#: The sizes in every run of the survey. torch lists few equal indices for ``scatter_add``, and a grid of CUDA has at
#: most 65,535 blocks in two of its dimensions.
DAILY_SIZES = {"bmm": "batch", "scatter_add": DRAWN}
#: The direction in which only one of the inputs requires a gradient.
ONE_GRADIENT = "one gradient"
#: The number of terms in sums for which the calibrated bounds hold; see :func:`summing_factor`.
SUMMED = 64
#: The maximum number of elements in all inputs, in those of slow functions, and in those of products; and the maximum
#: number of tensors in a result.
MOST, MOST_OF_SLOW, MOST_OF_PRODUCTS, MOST_RESULTS = 2**19, 2**15, 2**22, 8
#: The value under which the numbers in the first two inputs are subnormal.
BOTH_SUBNORMAL = f"{variants.SUBNORMAL} twice"
#: The factor for the value ``large``.
LARGER = 64.0
#: Operators by what they do; see ``patterns.txt``.
(
    _UNSAFE, _ILL_POSED, _EPSILON, RETURNS_INDICES, _GATHERS, POSITIONS, _NOT_LONG, _OVERFLOWS, _SPANS,
    _PRODUCTS_OF_VECTORS, _NOT_SOLVED, _NEVER_OVERFLOWS, _SUMS_INFINITIES, _ORDERS, _SIGNS,
) = patterns(
    "unsafe ill_posed epsilon returns_indices gathers positions not_long overflows spans products_of_vectors "
    "not_solved never_overflows sums_infinities orders signs"
)  # fmt: skip

#: A sample, its reference, and the shifted reference.
Exact = tuple[t.Any, Computed, Shifted]


def is_differentiable(entry: t.Any, dtype: torch.dtype, device: str) -> bool:
    """Tell whether the catalogue has gradients for an operator in a format."""
    return bool(entry.supports_autograd) and dtype in entry.supported_backward_dtypes(device)


def is_compiled(entry: t.Any, name: str, dtype: torch.dtype) -> bool:
    """Tell whether torch compiles a GPU's kernels on first use, as it does for nearly all complex functions."""
    is_complex_function = dtype.is_complex and type(entry).__name__ in variants.TAKE_ANY
    return is_complex_function or operator_bounds.compiled(name)


def strided_today(seed: str) -> bool:
    """Tell whether strided kernels of an operator are compiled, which takes as long as for dense ones, in this run."""
    return seed_of(seed) % 2 == 0


def is_strided(row: t.Mapping[str, str]) -> bool:
    """Tell whether a row needs a kernel for strided or unaligned tensors; the one for dense tensors serves others."""
    own_kernel = (variants.STRIDED, variants.OFFSET, variants.PADDED, *variants.SAME_ADDRESS)
    return row["layout"] in own_kernel or row["mode"] == variants.OUT


@dataclasses.dataclass
class Operator:
    """One operator in one format on one device.

    :ivar samples: the catalogue's inputs, the largest first.
    :ivar turn: the number of the samples, three at a time, that the options stand for.
    :ivar full: whether this is a full run.
    :ivar in_tiles: whether a drawn product has sums of a multiple of 64 terms, which need no padding.
    :ivar exact: the references for samples; see :func:`calls.reference`.
    :ivar resized: the resized samples by size and option, or None if there is none.
    :ivar record: a function that is called with each row that was computed and a function that computes it again.
    """

    entry: t.Any
    name: str
    device: str
    dtype: torch.dtype
    seed: str
    samples: list[t.Any]
    full: bool = False
    turn: int = 0
    in_tiles: bool = False
    exact: dict[t.Any, Exact] = dataclasses.field(default_factory=dict)
    resized: dict[tuple[str, str, bool], t.Any] = dataclasses.field(default_factory=dict)
    record: t.Callable[[t.Mapping[str, str], t.Callable[[], t.Any]], None] = lambda row, call: None

    def forget_resized(self) -> None:
        """Drop the resized samples and their references, which may be large."""
        resized = set(map(id, self.resized.values()))
        self.exact = {key: exact for key, exact in self.exact.items() if key[0] not in resized}
        self.resized = {}

    def sample(self, option: str) -> t.Any:
        """Return the sample that an option stands for."""
        options = AXES["option"]
        return self.samples[(options.index(option) + len(options) * self.turn) % len(self.samples)]

    @property
    def any_number(self) -> bool:
        """Whether it accepts any numbers, like an operator that only moves them."""
        return self.moves or type(self.entry).__name__ in variants.TAKE_ANY

    @property
    def moves(self) -> bool:
        return variants.MOVES.match(self.name) is not None

    def has_gradient(self, row: t.Mapping[str, str]) -> bool:
        """Tell whether the gradient in a row is well-defined, and not a long sum in 16 bits."""
        if row["values"] == "large" and "logsumexp" in self.name:
            # It is the exponential of the difference between two numbers, whose rounding may exceed 1.
            return False
        if operator_bounds.left_out(f"{self.name}, {row['layout']}, {row['direction']}"):
            return False
        sums = _GATHERS.match(self.name) and self.dtype.itemsize == 2
        is_moved = RETURNS_INDICES.match(self.name) and self.has_equal_numbers(row)
        return row["size"] == PLAIN["size"] or not (sums or is_moved)

    @property
    def is_solver(self) -> bool:
        """Whether it is linear algebra, where conditioning multiplies the error of products that autocast rounds."""
        is_library = bool(variants.LIBRARIES.match(self.name)) and not self.name.startswith("fft.")
        return is_library and not _NOT_SOLVED.match(self.name)

    @property
    def has_integers(self) -> bool:
        return not (self.dtype.is_floating_point or self.dtype.is_complex)

    @property
    def unit_format(self) -> torch.dtype:
        """The format in whose units errors are measured; float32 for functions of integers."""
        return torch.float32 if self.has_integers else self.dtype

    def has_equal_numbers(self, row: t.Mapping[str, str]) -> bool:
        """Tell whether numbers in the input are equal, so that the index of any of them is right."""
        # shapes.py draws different numbers for max pools, unless the row changes them.
        is_distinct = row["size"] == DRAWN and "max_pool" in self.name
        is_distinct &= row["values"] == PLAIN["values"] and row["layout"] not in variants.SAME_ADDRESS
        return self.has_integers or (row["size"] != PLAIN["size"] and not is_distinct)

    @property
    def gpu(self) -> bool:
        return self.device == "cuda"

    def takes(self, axis: str, value: str, sample: t.Any) -> bool:
        """Tell whether the operator is known to support a value of an axis; the reference may still refuse a size."""
        if value == PLAIN[axis] or axis in ("format", "option", "threads"):
            return True
        if operator_bounds.left_out(f"{self.name}, {value}"):
            return False
        if axis == "layout":
            return self._takes_layout(value)
        if axis == "size":
            if value == DRAWN:
                return shapes.family_of(self.name) is not None
            if self.is_solver:
                return value == "many"
            if _UNSAFE.match(self.name) or _ILL_POSED.match(self.name):
                return False
            if value == "empty" and str(self.dtype) == "torch.float16":
                return not _EPSILON.match(self.name)
            is_short = value in ("tail", "scalar", "broadcast")
            return is_short or self.any_number or not _NOT_LONG.match(self.name)
        if axis == "mode":
            return self._takes_mode(value)
        if axis == "values":
            return self._takes_values(value, variants.is_known(sample, self.dtype))
        return axis != "direction" or is_differentiable(self.entry, self.dtype, self.device)

    def _takes_mode(self, mode: str) -> bool:
        if mode == variants.IN_PLACE:
            return self.entry.inplace_variant is not None
        if mode == variants.OUT:
            return self.entry.supports_out and not self.name.startswith("_foreach")
        return not self.is_solver

    def _takes_layout(self, layout: str) -> bool:
        if self.gpu and layout in (variants.OFFSET, variants.PADDED) and "attention" in self.name:
            # cuDNN returns wrong numbers or ends the CUDA context if rows do not begin 16 bytes apart (2.11, 2.14.1).
            return False
        if layout in (variants.STRIDED, variants.TRANSPOSED, variants.PERMUTED, variants.PADDED):
            return True
        if _UNSAFE.match(self.name):
            return False
        if layout not in variants.SAME_ADDRESS or self.any_number:
            return True
        is_expanded_library = layout == variants.EXPANDED and variants.LIBRARIES.match(self.name)
        return self.full and bool(is_expanded_library or variants.takes_equal(self.name, self.gpu))

    def _takes_values(self, values: str, known: bool) -> bool:
        if values.startswith(variants.SUBNORMAL):
            return variants.takes_subnormal(self.name, self.dtype, known, self.gpu, self.full)
        if values == "limits":
            if self.dtype.is_complex:
                return bool(variants.PRODUCTS.search(self.name) or _PRODUCTS_OF_VECTORS.match(self.name))
            if self.has_integers:
                return self.any_number
            return bool(_OVERFLOWS.match(self.name) or (not self.gpu and _SPANS.match(self.name)))
        if values == "large":
            return _NEVER_OVERFLOWS.search(self.name) is not None
        if values == "zero":
            # The complex logarithm of zero has no angle. An epsilon is zero in a format that cannot represent it.
            if self.dtype.is_complex and "log" in self.name:
                return False
            return self.any_number or (self.name.startswith(variants.TAKE_NAN) and "normalize" not in self.name)
        if values == variants.WITH_NAN:
            lossless = variants.DIRECT.match(self.name) or variants.PRODUCTS.search(self.name)
            return self.has_nan_in_place(known) or bool(self.full and known and lossless)
        if values == "infinite" and _SUMS_INFINITIES.match(self.name):
            return False
        if values == "negative NaN" and self.gpu and _ORDERS.match(self.name):
            return False
        return not _SIGNS.search(self.name) and self.has_nan_in_place(known)

    def has_nan_in_place(self, known: bool) -> bool:
        """Tell whether a NaN in the input has a single right answer."""
        in_tiles = self.in_tiles and bool(variants.PRODUCTS.search(self.name))
        return variants.takes_nan(self.name, self.any_number, known or in_tiles, self.gpu)


def summing_factor(shapes: t.Iterable[t.Sequence[int]], are_equal: bool) -> float:
    """Return the factor on the bounds for sums that are computed term by term in float32.

    A sum has at most as many terms as the ratio of the largest to the smallest tensor, or as the largest dimension.
    Each addition rounds by up to half a unit of the sum so far. Rounding errors of distinct terms cancel in part and
    grow with the square root of their number; those of equal terms do not cancel, and grow with their number.

    :param shapes: the shapes of the inputs and the results.
    """
    shapes = list(shapes)
    counts = [math.prod(shape) for shape in shapes if 0 not in shape] or [1]
    terms = max(max(counts) / min(counts), *(size for shape in shapes for size in shape), SUMMED) / SUMMED
    return terms if are_equal else math.sqrt(terms)


def position_factor(name: str, size: t.Sequence[int]) -> float:
    """Return the factor on the bounds in float32 of a resampling, which computes positions in a picture of this size.

    A position below n, (i + 1/2) r - 1/2, has three rounding errors of up to n/2 units. It is multiplied by the
    difference of two neighbours, at most twice the largest number, or twice that with cubic weights, in each dimension.
    A gradient has the same weights, and terms with signs of their own.
    """
    return 1 + (6 if "cubic" in name else 3) * sum(size) / operator_bounds.DEFAULT["float32"]


def single_condition_rows(operator: Operator) -> list[dict[str, str]]:
    """Return the rows in which exactly one condition is not plain."""
    has_gradients = is_differentiable(operator.entry, operator.dtype, operator.device)
    plain = {**PLAIN, "direction": "backward" if has_gradients else "forward"}
    rows = [{**plain, "layout": layout} for layout in (variants.STRIDED, variants.TRANSPOSED)]
    rows += [{**plain, "layout": variants.LAZY}] if operator.dtype.is_complex and not operator.gpu else []
    rows += [{**PLAIN, "mode": mode} for mode in (variants.IN_PLACE, variants.OUT)]
    if operator.is_solver or operator.name.startswith("_foreach"):
        rows.append({**PLAIN, "size": "many", "calls": "again"})
    sizes = [DAILY_SIZES.get(operator.name, ""), DRAWN * (not operator.gpu and strided_today(operator.seed))]
    rows += [{**(PLAIN if operator.gpu else plain), "size": size} for size in dict.fromkeys(sizes) if size]
    rows += [*([{**PLAIN, "threads": "3"}] if operator.gpu else []), *single_value_rows(operator)]
    is_dense = operator.gpu and is_compiled(operator.entry, operator.name, operator.dtype) and not operator.full
    if is_dense and not strided_today(operator.seed):
        return [row for row in rows if not is_strided(row)]
    return rows


def single_value_rows(operator: Operator) -> list[dict[str, str]]:
    """Return the rows with one condition in which only the numbers change."""
    values = [variants.SUBNORMAL, *([BOTH_SUBNORMAL] if operator.full else []), variants.WITH_NAN, "limits"]
    if operator.dtype.is_complex and not operator.gpu:
        values[0] = "infinite"
    return [{**PLAIN, "layout": variants.EXPANDED}, *({**PLAIN, "values": each} for each in values)]


def numbers_of(
    operator: Operator, sample: t.Any, row: t.Mapping[str, str], sign: float = 1.0, larger: float = 1.0
) -> t.Any:
    """Return a sample with the numbers that a row requires.

    :param sign: the sign of a NaN.
    :param larger: the factor on subnormal numbers.
    """
    values = row["values"]
    if values in ("NaN", "negative NaN"):
        number = math.copysign(math.nan, sign)
        sample = variants.with_nan(sample, operator.moves, "polynomial" in operator.name, number)
    elif values == "infinite":
        sample = variants.with_nan(sample, False, True, math.inf)
    elif values.startswith(variants.SUBNORMAL):
        # A sum is subnormal only if both of its terms are.
        count = None if variants.CHOOSES.match(operator.name) else 1 if values == variants.SUBNORMAL else 2
        sample = variants.make_subnormal(sample, larger, count)
    elif values in ("zero", "large"):
        sample = _multiply(sample, 0.0 if values == "zero" else LARGER)
    elif values == "limits":
        sample = _at_limits(sample, operator)
    if row["layout"] not in variants.SAME_ADDRESS:
        return sample
    if variants.LIBRARIES.match(operator.name) and not operator.any_number:
        return variants.batch_of_two(sample)
    return variants.repeat(sample, row["layout"], not operator.any_number)


def _multiply(sample: t.Any, factor: float) -> t.Any:
    """Return the sample with the numbers in its first input multiplied by a factor."""
    first = {id(tensor) for tensor in tensors([sample.input])}

    def change(value: torch.Tensor) -> torch.Tensor:
        if id(value) not in first or not variants.is_float(value):
            return value
        return (value.detach() * factor).requires_grad_(value.requires_grad)

    return variants.map_tensors(sample, change)


def _at_limits(sample: t.Any, operator: Operator) -> t.Any:
    """Return the sample with numbers near the limits of integers, or of an exponential, in its first input.

    Complex numbers become real or imaginary ones in every input.
    """
    first = {id(tensor) for tensor in tensors([sample.input])}

    def change(value: torch.Tensor) -> torch.Tensor:
        if value.dtype is not operator.dtype or (id(value) not in first and not value.is_complex()):
            return value
        order = torch.arange(value.numel(), device=value.device).reshape(value.shape)
        if operator.has_integers:
            least, largest = torch.iinfo(value.dtype).min, torch.iinfo(value.dtype).max
            # The quotient of the smallest number and -1 traps on x86_64.
            numbers = torch.tensor([least + 1, largest, largest - 1, 0, 1], dtype=value.dtype, device=value.device)
            return numbers[order % 5]
        if value.is_complex():
            return torch.where(order % 3 == 1, value.real + 0j, torch.where(order % 3 == 2, 1j * value.imag, value))
        signs, top = 1 - 2 * (order % 2), math.log2(torch.finfo(value.dtype).max)
        if _OVERFLOWS.match(operator.name):
            return (signs * (top * math.log(2) + (order % 31 - 20) / 16)).to(value.dtype)
        # Other functions get numbers of each size.
        return (signs * 2.0 ** (top * ((order * 12) % 31 - 15.0) / 15.01)).to(value.dtype)

    return variants.map_tensors(sample, change)


def resized_samples(operator: Operator, row: t.Mapping[str, str]) -> t.Iterator[t.Any]:
    """Yield candidates for a resized sample, which rows of the same size and option share."""
    for in_every in (False, True) if row["size"] in ("wide", "long") else (False,):
        key = row["size"], row["option"], in_every
        if key not in operator.resized:
            operator.resized[key] = _resized_sample(operator, *key)
        if operator.resized[key] is not None:
            yield operator.resized[key]


def _resized_sample(operator: Operator, new_size: str, option: str, in_every: bool) -> t.Any:
    """Return a sample of which one size changes, or None if none can be changed or it would be too large.

    The entries are drawn from those of the sample, so that the numbers remain in the operator's domain.

    :param in_every: whether the size changes in every dimension that has it, and not only at one end of the shape.
    """
    chance = random.Random(f"{operator.seed} {operator.dtype} {new_size} {option}")  # noqa: S311 - no secret
    if new_size == DRAWN:
        chance.seed(f"{chance.random()} {operator.turn}")
        return shapes.draw(operator.name, operator.samples[0], chance, operator.in_tiles)
    listed = operator.sample(option)
    if new_size == "scalar":
        return variants.with_scalars(listed)
    if new_size == "many" and (operator.is_solver or operator.name.startswith("_foreach")):
        return variants.many(listed, chance.randint(*SIZES[new_size]), operator.name)
    end = {"wide": -1, "long": -1, "many": 0, "batch": 0}.get(new_size)
    at = slice(None) if end is None else slice(end, (end + 1) or None)
    samples = [each for each in operator.samples if any(size > 1 for size in _sizes(each.input)[at])]
    if not samples:
        return None
    sample = listed if any(listed is each for each in samples) else samples[0]
    if end is not None:
        # This sample has the fewest elements after the change.
        sample = min(samples, key=lambda each: math.prod(_sizes(each.input)) / max(1, _sizes(each.input)[end]))
    if new_size == "batch" and operator.name == "bmm":
        # 65,537 of the listed matrices would be too large.
        sample = variants.map_tensors(sample, lambda value: value.detach()[:, :3, :3].contiguous())
    sizes = _sizes(sample.input)
    before = sizes[end] if end is not None else chance.choice([each for each in sizes if each > 1])
    after = chance.randint(*SIZES[new_size])
    only = None if in_every else end
    changed = _resize(operator, sample, (before, after, only), new_size == "broadcast", chance)
    return changed if changed is None or end is None or _is_small(operator, changed) else None


def _is_small(operator: Operator, sample: t.Any) -> bool:
    """Tell whether the results are small enough: the size of some is the square of a row's length."""
    plain = transform(sample, lambda value: value.detach().to("meta") if isinstance(value, torch.Tensor) else value)
    try:
        with torch.no_grad():
            results = tensors(operator.entry(plain.input, *plain.args, **plain.kwargs))
    except Exception:
        # The shape depends on the numbers, or the operator refuses the sample.
        return False
    return len(results) <= MOST_RESULTS and sum(tensor.numel() for tensor in results) <= MOST_OF_PRODUCTS


def _resize(
    operator: Operator, sample: t.Any, sizes: tuple[int, int, int | None], others: bool, chance: random.Random
) -> t.Any:
    """Return the sample with one size replaced, or None if it would be too large.

    :param sizes: the old size, the new size, and the dimension to change (None for each that has the old size).
    :param others: whether only the other inputs change, which are then broadcast to the first.
    """
    before, after, only = sizes
    unchanged = {id(tensor) for tensor in tensors([sample.input])} if others else set()
    generator, elements = torch.Generator().manual_seed(chance.getrandbits(32)), 0
    is_compiled = operator_bounds.compiled(operator.name)
    most = MOST_OF_SLOW if is_compiled else MOST_OF_PRODUCTS if variants.PRODUCTS.search(operator.name) else MOST

    def change(value: torch.Tensor) -> torch.Tensor:
        nonlocal elements
        dimensions = [at for at, n in enumerate(value.shape) if n == before and only in (None, at, at - value.ndim)]
        elements += value.numel() // max(1, before) ** len(dimensions) * after ** len(dimensions)
        if id(value) in unchanged or not dimensions or elements > most:
            return value
        changed = value.detach()
        for dimension in dimensions:
            entries = torch.randint(0, before, (after,), generator=generator)
            changed = changed.index_select(dimension, entries.to(value.device))
        return _with_distinct_numbers(changed, generator).requires_grad_(value.requires_grad)

    def replace(value: t.Any) -> t.Any:
        """Replace the size in a list of sizes, such as a normalised shape or the parts of a split."""
        if isinstance(value, (list, tuple)) and value and all(type(size) is int for size in value):
            return type(value)(after if size == before and size > 3 else size for size in value)
        return value

    changed = variants.map_tensors(sample, change)
    if "conv_transpose" in operator.name:
        # torch on the CPU stores a number for each pair of an element of the input and one of the kernel.
        elements = max(elements, changed.input.numel() * math.prod(changed.args[0].shape[2:]) // 64)
    if elements > most:
        return None
    if not others:
        changed.args = tuple(map(replace, changed.args))
        changed.kwargs = {key: replace(value) for key, value in changed.kwargs.items()}
    return changed


def _with_distinct_numbers(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return a float32 tensor with each number moved slightly towards zero, except integers, which may be labels.

    If a sum has only a few distinct terms, their rounding errors do not cancel, and the error grows with their number.
    """
    if value.dtype not in (torch.float32, torch.complex64):
        return value
    nearer = value * torch.empty(value.shape).uniform_(0.75, 1.0, generator=generator).to(value.device)
    return nearer if value.is_complex() else torch.where(value == value.trunc(), value, nearer)


def _sizes(value: t.Any) -> list[int]:
    """Return the shape of the first tensor of an input."""
    first = next(iter(tensors([value])), None)
    return list(first.shape) if first is not None and str(first.layout) == "torch.strided" else []
