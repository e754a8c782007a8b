"""Draws inputs of the shapes and options that torch's own list of samples lacks, by families of operators.

A family has axes, like the grid: each input takes one value from each of them, by the seed. Products have few rows,
few columns, long sums, a single term, or many batches; convolutions have groups, oblong kernels and many channels;
transforms have prime lengths and lines in any dimension; indices repeat, and exceed 65,536.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
import re
import typing as t

from ... import resources
from ..bounds import functions_of, torch
from .rounding import inputs

#: An input, the other arguments, and the options.
Call = tuple[t.Any, tuple[t.Any, ...], dict[str, t.Any]]
Values = t.Mapping[str, t.Any]
TABLE = resources.tables("checks/survey/shapes.txt")["families"]
#: The number of elements or of multiplications that a drawn input may have; a larger one is drawn again.
MOST, MOST_MULTIPLICATIONS, TRIES = 2**18, 2**22, 40
#: The ranges of the numbers of rows, of terms and of columns in a product.
_PRODUCTS = {
    "few rows": ((1, 4), (64, 600), (4_096, 4_300)), "few rows of long sums": ((1, 4), (8_192, 8_300), (17, 30)),
    "few columns": ((4_096, 4_300), (17, 60), (1, 4)), "long sums": ((9, 17), (8_192, 8_300), (1, 14)),
    "one term": ((33, 140), (1, 1), (33, 140)), "near tiles": ((63, 65), (31, 33), (127, 129)),
    "odd": ((33, 140), (33, 140), (33, 140)), "small": ((1, 9), (2, 17), (1, 9)),
}  # fmt: skip
#: The number of products in a batch; a grid of CUDA has at most 65,535 blocks in two of its dimensions.
MANY = 65_537, 65_604
#: The calls of operators; see ``functions.txt``.
_CALLS = functions_of("calls of products", "make, added, sizes, bias, left, right, rows, terms, columns, beta, options")
_INDEXED = functions_of(
    "calls with indices",
    "make, data, rows, index, many, order, columns, width, ends, count, has_last, alpha, mode, fold",
)


class Drawing:
    """The values of one input on its family's axes, and functions that draw tensors.

    :ivar name: the operator.
    :ivar values: the value on each axis.
    """

    def __init__(self, name: str, values: Values, chance: random.Random, like: torch.Tensor, gradients: bool) -> None:
        self.name, self.values, self.chance, self._like, self._gradients = name, values, chance, like, gradients

    def tensor(self, *shape: int) -> torch.Tensor:
        """Return random numbers in the format and on the device of the operator's other inputs."""
        wide = torch.testing.make_tensor(shape, device="cpu", dtype=self._like.dtype)
        return wide.to(self._like.device).requires_grad_(self._gradients)

    def distinct(self, *shape: int) -> torch.Tensor:
        """Return numbers in any order that differ in each channel; patterns of 16 bits are ordered like them."""
        order = torch.rand(math.prod(shape[:2]), math.prod(shape[2:])).argsort(1).reshape(shape)
        numbers = (order + 2**14 - 2**11).short().view(self._like.dtype) if self.is_half else order / 2**14 - 0.1
        return numbers.to(self._like).requires_grad_(self._gradients)

    def spectrum(self, *shape: int, dims: tuple[int, ...]) -> torch.Tensor:
        """Return a spectrum of real numbers: some of its numbers are real, which cuFFT requires (pytorch#154496)."""
        real = torch.testing.make_tensor(shape, device="cpu", dtype=torch.float64)
        wide = torch.fft.rfftn(real, dim=dims, norm="ortho")
        return (wide if self._like.is_complex() else wide.real).to(self._like).requires_grad_(self._gradients)

    def signs(self, *shape: int) -> torch.Tensor:
        """Return integers from -1 to 1, whose sums are exact in every format, without gradients."""
        return torch.randint(0 if self._like.dtype is torch.uint8 else -1, 2, shape).to(self._like)

    def indices(self, bound: int, *shape: int, dtype: str = "int64") -> torch.Tensor:
        return torch.randint(0, bound, shape).to(self._like.device, getattr(torch, dtype))

    def between(self, least: int, largest: int) -> int:
        return self.chance.randint(least, largest)

    @property
    def is_half(self) -> bool:
        return bool(self._like.dtype.itemsize == 2)


def _product(drawing: Drawing) -> Call:
    rows, terms, columns = (drawing.between(*limits) for limits in _PRODUCTS[drawing.values["product"]])
    terms += -terms % drawing.values["tile"]
    (beta, alpha), bias, batch = (drawing.values[axis] for axis in ("scales", "bias", "batch"))
    if drawing.name == "addbmm":
        # It rounds to the format after each product.
        batch = drawing.between(1, 3)
    if batch == "many":
        batch, rows, terms, columns = drawing.between(*MANY), *(drawing.between(1, 2) for _size in range(3))
        if drawing.values["tile"] > 1:
            raise ValueError("too many terms")
    make, name = drawing.tensor, drawing.name
    sizes = {"scalar": (), "row": (columns,), "column": (rows, 1), "one": (1, 1), "full": (rows, columns)}
    options = {"beta": beta, "alpha": alpha}

    def added(*shape: int) -> torch.Tensor:
        value = make(*shape)
        if beta == 0 and (value.is_floating_point() or value.is_complex()):
            # The bias is ignored, so that it must not be read.
            value = value.detach().fill_(math.nan).requires_grad_(value.requires_grad)
        return value

    left, right = (rows, terms), (terms, columns)
    if name in ("bmm", "matmul", "__rmatmul__") and batch > 1:
        # In a batch, either factor may be broadcast.
        first, second = ((batch, *left), (batch, *right)) if name == "bmm" else drawing.chance.choice(
            [((batch, *left), right), ((batch, *left), (1, *right)), ((1, *left), (batch, *right))])  # fmt: skip
        return (make(*second), (make(*first),), {}) if "__" in name else (make(*first), (make(*second),), {})
    if name in ("baddbmm", "addbmm"):
        shape = (batch, *sizes["full"]) if bias == "full" and name == "baddbmm" else sizes[bias]
        return added(*shape), (make(batch, *left), make(batch, *right)), options
    call = _CALLS.get(name.removeprefix("nn.functional.").partition(".")[0], _CALLS["others"])
    return t.cast("Call", call(make, added, sizes, bias, left, right, rows, terms, columns, beta, options))


def _convolution(drawing: Drawing) -> Call:
    values, between = drawing.values, drawing.between
    is_transposed, dimensions = "transpose" in drawing.name, int(drawing.name[-2])
    channels, groups, dilation = values["channels"], values["groups"], values["dilation"]
    channels, groups = (channels, channels) if groups == "depthwise" else (channels * groups, groups)
    filters, kernel = values["filters"] * groups, [min(between(*values["kernel"]), 9 - 2 * dimensions)] * dimensions
    kernel[0] = max(1, kernel[0] - between(0, 2))
    size = [dilation * (each - 1) + between(*values["positions"]) for each in kernel]
    # With few channels, last in memory, torch 2.13 on a CPU writes beyond the gradient of the inputs.
    stride = 1 if max(kernel) == 1 and min(channels, filters) < 16 * groups else values["stride"]
    options = {"stride": stride, "padding": min(values["padding"], dilation * (min(kernel) - 1) // 2)}
    options.update(dilation=dilation, groups=groups)
    weight = (channels, filters // groups) if is_transposed else (filters, channels // groups)
    if values["batch"] * math.prod(size) * math.prod(weight) * math.prod(kernel) > MOST_MULTIPLICATIONS:
        raise ValueError("too many multiplications")
    arguments = drawing.tensor(*weight, *kernel), *([drawing.tensor(filters)] * values["bias"])
    return drawing.tensor(values["batch"], channels, *size), arguments, options


def _transform(drawing: Drawing) -> Call:
    """Return a transform of lines in one dimension, or in several."""
    kind, values = drawing.name.rpartition(".")[2], drawing.values
    of_real = kind.startswith(("irfft", "hfft"))
    if kind[-1] in "2n":
        count = 3 if kind[-1] == "n" and values["lines"] > 9 else 2
        sizes = tuple(drawing.chance.choice(values["sizes"]) for _dimension in range(count))
        if of_real:
            return drawing.spectrum(*sizes, dims=tuple(range(count))), (sizes,), {"norm": values["norm"]}
        return drawing.tensor(*sizes), (), {"norm": values["norm"]}
    shape, dim = (values["lines"], values["length"])[:: 1 if values["dim"] == -1 else -1], values["dim"]
    options = {"dim": dim, "norm": values["norm"]}
    if of_real:
        return drawing.spectrum(*shape, dims=(dim,)), (values["length"],), options
    return drawing.tensor(*shape), (), options


def _norm(drawing: Drawing) -> Call:
    kind, make, values = drawing.name.rpartition("functional.")[2].partition(".")[0], drawing.tensor, drawing.values
    if kind in ("layer_norm", "rms_norm"):
        rows, width = (drawing.between(*limits) for limits in values["rows"])
        scale = make(width) if values["weight"] else None
        if kind == "rms_norm":
            return make(rows, width), ((width,), scale), {}
        return make(rows, width), ((width,), scale, make(width) if values["bias"] else None), {}
    batch, groups = values["batch"], values["groups"]
    channels, positions = groups * values["channels"], [drawing.between(*limits) for limits in values["positions"]]
    data, scale, bias = make(batch, channels, *positions), make(channels), make(channels)
    if kind == "group_norm":
        options = {"weight": scale} if values["weight"] else {}
        return data, (groups,), {**options, **({"bias": bias} if values["bias"] else {})}
    mean, variance = make(channels).detach(), make(channels).detach().abs() + 1
    evaluates = {"training" if kind == "batch_norm" else "use_input_stats": values["training"]}
    return data, (mean, variance, *((scale, bias) if values["weight"] else ())), {**evaluates, "momentum": 0.3}


def _pool(drawing: Drawing) -> Call:
    values, dimensions = drawing.values, int(drawing.name[-2])
    size = [drawing.between(*values["positions"][dimensions - 1]) for _each in range(dimensions)]
    data = (drawing.distinct if "max" in drawing.name else drawing.tensor)(values["batch"], values["channels"], *size)
    if "adaptive" in drawing.name:
        return data, (tuple(drawing.between(1, each) for each in size),), {}
    kernel = tuple(drawing.between(*values["kernel"]) for _each in size)
    padding = min(values["padding"], min(kernel) // 2)
    options = {"stride": values["stride"], "padding": padding, "ceil_mode": values["ceil"]}
    if "avg" in drawing.name:
        return data, (kernel,), {**options, "count_include_pad": values["counts"]}
    return data, (kernel,), {**options, "dilation": values["dilation"]}


def _resampling(drawing: Drawing) -> Call:
    """Return a resampling of a small image: the rounding error of a coordinate grows with the coordinate."""
    values, mode = drawing.values, drawing.name.rpartition(".")[2]
    dimensions = {"linear": 1, "trilinear": 3}.get(mode, 2)
    size = [drawing.between(*values["positions"][dimensions - 1]) | 1 for _each in range(dimensions)]
    result = []
    for each in size:
        # No pixel lies exactly between two others, where rounding would choose.
        sizes = [new for new in range(3, 2 * each) if math.gcd(new, each) == 1 and new % 2]
        result.append(drawing.chance.choice(sizes))
    data = drawing.tensor(values["batch"], values["channels"], *size)
    options: dict[str, t.Any] = {"mode": mode}
    if mode in ("linear", "bilinear", "bicubic", "trilinear"):
        options["align_corners"] = values["corners"]
    # In 16 bits, the CPU does not offer it.
    if mode in ("bilinear", "bicubic") and values["antialias"] and not drawing.is_half:
        options["antialias"] = True
    return data, (tuple(result),), options


def _index(drawing: Drawing) -> Call:
    """Return a call with indices in any order; they repeat where the result does not depend on their order."""
    kind, values = drawing.name.rpartition("functional.")[2].partition(".")[0], drawing.values
    (entries, count), columns, dtype = values["counts"], values["columns"], values["index"]
    data, rows = drawing.signs(entries, columns), drawing.signs(count, columns)
    if not kind.startswith(("index_add", "scatter_", "put", "index_put")):
        data = drawing.tensor(entries, columns)
    # An index of a single column reads, or writes, only the first of many.
    width = 1 if columns == 7 else columns
    index, many = drawing.indices(entries, count, dtype=dtype), drawing.indices(entries, count, width)
    ends = sorted(drawing.between(0, count) for _bag in range(8))
    order = torch.randperm(entries)[:count].to(index.device)
    has_last = width < columns and not data.is_cuda
    call, fold = _INDEXED[kind], drawing.name.rpartition(".")[2]
    options = has_last, values["alpha"], values["mode"], fold
    return t.cast("Call", call(drawing.tensor, data, rows, index, many, order, columns, width, ends, count, *options))


def _order(drawing: Drawing) -> Call:
    """Return a call with numbers of which many are equal, or are equal to a boundary."""
    values, kind, shape = drawing.values, drawing.name, drawing.values["shape"]
    if kind == "cumsum":
        return drawing.signs(*shape), (-1,), {}
    data = drawing.indices(values["distinct"], *shape)
    if kind == "bincount":
        return data.flatten(), (), {"minlength": drawing.between(0, 300)}
    data = data.to(drawing.signs(1))
    if kind == "histc":
        # The numbers lie in the middle of the bins.
        return data, (), {"bins": values["distinct"], "min": -0.5, "max": values["distinct"] - 0.5}
    if kind in ("searchsorted", "bucketize"):
        boundaries, options = torch.arange(values["distinct"]).to(data)[:: values["step"]], {"right": values["right"]}
        return (boundaries, (data,), options) if kind == "searchsorted" else (data, (boundaries,), options)
    if kind in ("unique", "unique_consecutive"):
        return data, (), {"return_inverse": values["right"], "return_counts": True}
    if kind in ("topk", "kthvalue"):
        return data, (drawing.between(1, min(shape[-1], 300)),), {}
    return data, (), {"descending": values["right"]} if kind in ("sort", "argsort") else {}


def _division(drawing: Drawing) -> Call:
    # A negative divisor would become a large unsigned one.
    data = drawing.tensor(5, drawing.values["width"])
    divisor = abs(drawing.values["divisor"]) if str(data.dtype) == "torch.uint8" else drawing.values["divisor"]
    rounding = re.search(r"(floor|trunc)_rounding", drawing.name)
    return data, (divisor,), {"rounding_mode": rounding[1]} if rounding else {}


@dataclasses.dataclass(frozen=True)
class Family:
    """Operators whose inputs are drawn from the same axes.

    :ivar make: returns a call with the values of a drawing.
    :ivar axes: by axis, its values.
    """

    names: str
    make: t.Callable[[Drawing], Call]
    axes: t.Mapping[str, t.Sequence[t.Any]]


def _families() -> tuple[Family, ...]:
    """Return the families in the table, which is the only source of what is evaluated."""
    families = []
    for entry in re.split(r"\n(?! )", TABLE.strip()):
        head, axes = entry.split("\n", 1)
        make, _colons, names = head.partition(" :: ")
        values = eval(f"{{{axes.strip()}}}", {"PRODUCTS": tuple(_PRODUCTS), "BOOLEANS": (False, True)})  # noqa: S307
        families.append(Family(names, globals()[f"_{make}"], values))
    return tuple(families)


FAMILIES = _families()


@functools.cache
def family_of(name: str) -> Family | None:
    """Return the family of an operator, or None."""
    return next((family for family in FAMILIES if re.fullmatch(family.names, name)), None)


def draw(name: str, listed: t.Any, chance: random.Random, in_tiles: bool = False) -> t.Any:
    """Return a sample for an operator that has a family, or None if each drawn one is too large.

    :param listed: a sample of torch's list, which has the format, the device and the gradients.
    :param in_tiles: whether the number of terms in a product is a multiple of 64.
    """
    family, tensors = family_of(name), inputs(listed)
    if family is None:
        return None
    like = next((each for each in tensors if each.is_floating_point() or each.is_complex()), tensors[0])
    gradients = any(each.requires_grad for each in tensors)
    torch.manual_seed(chance.getrandbits(32))
    for _try in range(TRIES):
        values = {axis: chance.choice(each) for axis, each in family.axes.items()} | {"tile": 64 if in_tiles else 1}
        try:
            value, args, kwargs = family.make(Drawing(name, values, chance, like.detach(), gradients))
        except ValueError:
            continue
        made = type(listed)(value, args=args, kwargs=kwargs, output_process_fn_grad=listed.output_process_fn_grad)
        if sum(each.numel() for each in inputs(made)) <= MOST:
            return made
    return None
