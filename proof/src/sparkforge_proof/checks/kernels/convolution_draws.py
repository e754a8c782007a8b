"""Draw convolutions of integers in any shape, format and layout, and compare them and their gradients.

A convolution is linear in its weights: if the channels of a result are multiplied by random integers and added, this is
the convolution with one filter in each group, which is the same sum of the filters (R. Freivalds's method; see
products.py). Products with this filter are added elementwise in float64, which no library of convolutions computes. A
wrong number changes the sum at its position unless other channels cancel it.

Libraries may transform both arguments (see convolution.py), so that each number must only be near an integer, by which
the reference replaces it. In float64, it must be that integer.
"""

from __future__ import annotations

import contextlib
import math
import typing as t

from ...check import Context
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, extensions, functional, name_of, setting, torch
from ..draws import FILLED, Draw, Draws
from .products import LARGEST, LARGEST_OF_VECTOR, LARGEST_SUM

TRANSFORM = 2.0**10
TRANSFORM_OF_FIVE = 2.0**18

#: The formats by device, as often as they are drawn. On a CPU, oneDNN may round numbers as if to TF32, but to bfloat16.
FORMATS = {
    "cuda": ["float32"] * 3 + ["tf32"] * 2 + ["float16", "bfloat16"] * 3 + ["float64", "complex64"],
    "cpu": ["float32"] * 6 + ["bfloat16"] * 4 + ["float16"] * 2 + ["tf32", "float64", "complex64", "int64"],
}
#: Channels and filters of a layer without groups, of each group, and of a depthwise layer.
CHANNELS = {
    "one": (1, 1, 2, 3, 3, 4, 7, 8, 16, 17, 24, 33, 64, 65, 128, 256, 512, 1_024),
    "groups": (1, 2, 3, 4, 5, 8, 16, 17, 32), "depthwise": (3, 5, 8, 12, 16, 19, 32, 33, 64, 65, 128),
}  # fmt: skip
KERNELS = (1, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 6, 7, 11, 16)
#: How much larger an input is than the smallest one that has a result, in each dimension.
SIZES = ((0, 0), (0, 4), (5, 20), (5, 20), (21, 70), (71, 300))
BATCHES = ((1, 1), (1, 1), (2, 3), (4, 16), (17, 200))
#: The most products with a position that one reference adds, and multiplications of one call.
MOST, WORK = {"cuda": 2**25, "cpu": 2**20}, 2**6
#: The largest root of the mean square of results in float32, for which transforms are off by less than half.
LARGEST_SIZE = 2**12
GRADIENTS = ("dInput", "dWeight", "dBias")
PARTS: tuple[tuple[str, ...], ...] = (("forward",), ("dInput",), ("dWeight",), ("forward", *GRADIENTS))


class Layer(t.NamedTuple):
    """The shape of a convolution, with one number for each of its dimensions.

    :ivar size: the input's size.
    :ivar transposed: whether this is the adjoint of a convolution, with ``output_padding``.
    """

    channels: int
    filters: int
    kernel: tuple[int, ...]
    size: tuple[int, ...]
    batch: int
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int = 1
    transposed: bool = False

    def __str__(self) -> str:
        sizes = ("x".join(map(str, each)) for each in (self.kernel, self.size))
        text = f"{self.channels} x {next(sizes)} to {self.filters}, {self.batch} of {next(sizes)}"
        names = "groups", "stride", "padding", "dilation", "output_padding"
        options = (f"{name} {getattr(self, name)}" for name in names)
        return f"{text}, {', '.join(options)}{', as large as the input' * (self.kernel == self.size)}"

    @property
    def output(self) -> tuple[int, ...]:
        """Return the result's sizes."""
        spreads = [dilation * (kernel - 1) + 1 for kernel, dilation in zip(self.kernel, self.dilation)]
        steps = list(zip(self.size, spreads, self.stride, self.padding))
        if self.transposed:
            extras = zip(steps, self.output_padding)
            return tuple((n - 1) * stride - 2 * padding + k + extra for (n, k, stride, padding), extra in extras)
        return tuple((n + 2 * padding - k) // stride + 1 for n, k, stride, padding in steps)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of inputs, weights, bias and result. Weights of a transposed layer have channels first."""
        weight = (self.channels, self.filters) if self.transposed else (self.filters, self.channels)
        weight = (weight[0], weight[1] // self.groups)
        inputs = (self.batch, self.channels, *self.size)
        return inputs, (*weight, *self.kernel), (self.filters,), (self.batch, self.filters, *self.output)

    @property
    def is_extreme(self) -> bool:
        """Whether a picture is as small as the kernel, has one window in a dimension, or has wide padding.

        Of padding, those of kernels with a stride and a dilation count.
        """
        big, small = (self.output, self.size) if self.transposed else (self.size, self.output)
        is_small = 1 in small or any(d * (k - 1) >= n - 1 for k, d, n in zip(self.kernel, self.dilation, big))
        steps = zip(self.stride, self.dilation, self.padding)
        return is_small or any(stride > 1 and dilation > 1 and padding > 8 for stride, dilation, padding in steps)

    def terms(self) -> dict[str, int]:
        """Return the largest number of products in one sum of the result and of each gradient."""
        positions, images = math.prod(self.kernel), self.batch * math.prod(self.output)
        return {
            "forward": self.channels // self.groups * positions, "dInput": self.filters // self.groups * positions,
            "dWeight": self.batch * min(math.prod(self.size), math.prod(self.output)), "dBias": images,
        }  # fmt: skip

    def call(self, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        options: t.Any = {"stride": self.stride, "padding": self.padding, "dilation": self.dilation}
        if self.transposed:
            options["output_padding"] = self.output_padding
        name = f"conv{'_transpose' * self.transposed}{len(self.kernel)}d"
        result: torch.Tensor = getattr(functional, name)(inputs, weight, bias, groups=self.groups, **options)
        return result


def draw_layer(chance: t.Any, dimensions: int, transposed: bool, most: float, work: float) -> Layer:
    """Return a layer that takes at most this much work.

    :param most: the largest number of products with positions of one filter.
    """

    def each(values: t.Sequence[int]) -> tuple[int, ...]:
        if chance.random() < 0.5:
            return (chance.choice(values),) * dimensions
        return tuple(chance.choice(values) for _dimension in range(dimensions))

    while True:
        kind = chance.choice(("one", "one", "one", "groups", "depthwise"))
        channels, filters = (chance.choice(CHANNELS[kind]) for _side in range(2))
        groups = 1 if kind == "one" else chance.choice((2, 3, 8, 32)) if kind == "groups" else channels
        if kind == "depthwise":
            channels, filters = 1, chance.choice((1, 1, 1, 2, 3))
        kernel, dilation, stride = each(KERNELS), each((1, 1, 1, 2, 3)), each((1, 1, 1, 2, 2, 3, 4))
        spreads = [step * (size - 1) for size, step in zip(kernel, dilation)]
        paddings = [[0] * dimensions, [each // 2 for each in spreads], spreads, [chance.randint(0, n) for n in spreads]]
        padding = tuple(chance.choice(paddings))
        smallest = [max(1, spread + 1 - 2 * extra) for spread, extra in zip(spreads, padding)]
        if transposed:
            smallest = [1 + max(0, -((n - 2 * p) // s)) for n, p, s in zip(spreads, padding, stride)]
        size = tuple(n + chance.randint(*SIZES[kind]) for n, kind in zip(smallest, each(range(len(SIZES)))))
        batch = chance.randint(*chance.choice(BATCHES))
        extra = tuple(chance.randrange(max(steps)) if transposed else 0 for steps in zip(stride, dilation))
        sides = channels * groups, filters * groups
        layer = Layer(*sides, kernel, size, batch, stride, padding, dilation, extra, groups, transposed)
        positions = max(math.prod(size), math.prod(layer.output)) * math.prod(kernel) * batch
        products = positions * max(sides)
        if min(layer.output) > 0 and products <= most and products * max(channels, filters) <= work:
            return layer


def _windows(
    layer: Layer, images: torch.Tensor, count: t.Sequence[int], strides: t.Sequence[int], paddings: t.Sequence[int]
) -> torch.Tensor:
    """Return a view of images (batch, groups, channels, sizes) with the kernel's positions and those of windows."""
    widths: list[int] = []
    for size, k, n, stride, step, left in zip(images.shape[3:], layer.kernel, count, strides, layer.dilation, paddings):
        widths[:0] = left, (n - 1) * stride + (k - 1) * step + 1 - left - size
    padded = functional.pad(images, widths).contiguous()
    outer, inner = padded.stride()[:3], padded.stride()[3:]
    steps = [n * step for each in (layer.dilation, strides) for n, step in zip(inner, each)]
    return padded.as_strided((*images.shape[:3], *layer.kernel, *count), (*outer, *steps))


def _expected(layer: Layer, part: str, vector: torch.Tensor, *tensors: torch.Tensor) -> torch.Tensor:
    """Return the sum of a result's channels in each group, multiplied by a vector (groups, channels, ones).

    A layer that is not transposed maps images (``big``) to their windows (``small``).
    """
    ones, groups = [1] * len(layer.kernel), layer.groups
    axes = zip(tensors, (1, 0, 0, 1))
    x, w, bias, g = (each.to(vector.dtype).unflatten(axis, (groups, -1)) for each, axis in axes)
    (big, sizes), (small, count) = ((g, layer.output), (x, layer.size))[:: 1 if layer.transposed else -1]
    inner = [*range(-len(ones), 0)]
    if part == "dWeight":
        windows = _windows(layer, big, count, layer.stride, layer.padding)
        mixed = (small * vector).sum(2)[(slice(None),) * 2 + (None,) * (1 + len(ones))]
        return (windows * mixed).sum((0, *inner))
    if (part == "forward") == layer.transposed:
        # With zeros between the small numbers and a kernel that is turned round, these are windows as well.
        w = (w * vector.unsqueeze(1)).sum(2).flip(inner)
        spaced = small.new_zeros(*small.shape[:3], *((n - 1) * stride + 1 for n, stride in zip(count, layer.stride)))
        spaced[(..., *(slice(None, None, stride) for stride in layer.stride))] = small
        paddings = [d * (k - 1) - p for d, k, p in zip(layer.dilation, layer.kernel, layer.padding)]
        windows = _windows(layer, spaced, sizes, ones, paddings)
    else:
        w = (w * vector.unsqueeze(2)).sum(1)
        windows = _windows(layer, big, count, layer.stride, layer.padding)
    result = (windows * w.reshape(*w.shape, *ones)).sum([*range(2, 3 + len(ones))])
    return result + (bias * vector.flatten(1)).sum(1).view(groups, *ones) if part == "forward" else result


def _lay(draw: Draw, plain: torch.Tensor, kinds: t.Sequence[str]) -> torch.Tensor:
    """Return a tensor in a layout that is drawn; an expanded one has the same numbers along a dimension."""
    kind = draw.chance.choice(kinds)
    if kind == "view" and (plain.ndim == 1 or 1 not in plain.shape):
        # With other strides in a dimension of one, torch takes channels that are first for last, or the other way.
        return draw.lay(plain)[1]
    draw.conditions.append("plain" if kind == "view" else kind)
    if kind == "channels last":
        return plain.movedim(1, -1).contiguous().movedim(-1, 1)
    return plain.narrow(draw.chance.randrange(plain.ndim), 0, 1).expand_as(plain) if kind == "expanded" else plain


@contextlib.contextmanager
def _settings(draw: Draw, name: str) -> t.Iterator[None]:
    """Temporarily change the libraries' settings."""
    module: t.Any = torch.backends.cudnn if draw.device == "cuda" else torch.backends.mkldnn
    with contextlib.ExitStack() as stack:
        if draw.device == "cuda":
            stack.enter_context(allow_tf32(module, name == "tf32"))
        elif name == "tf32" and hasattr(module, "conv"):
            stack.enter_context(setting(module.conv, "fp32_precision", "bf16"))
        # Each plan of a layer is tried for a benchmark.
        others = ("deterministic", 0.2, True), ("benchmark", 0.02, True)
        for flag, share, value in (("enabled", 0.08, False), *(others if draw.device == "cuda" else ())):
            if draw.chance.random() < share:
                draw.conditions.append(f"{flag} {value}")
                stack.enter_context(setting(module, flag, value))
        yield


def compare_drawn(cases: Cases, context: Context, dimensions: int, transposed: bool, count: int) -> None:
    """Compare layers that are drawn. On a CPU, oneDNN may read numbers behind a row, which then must not be NaN."""
    fill = math.nan if context.device == "cuda" else FILLED
    for draw in (draws := Draws(cases, context, f"layers {dimensions} {transposed}", count, fill)):
        _compare(draws, draw, dimensions, transposed)


def _is_left_out(device: str, name: str, layer: Layer, part: str, is_plain: bool) -> bool:
    """Tell whether torch is known to be wrong, or to write beyond its memory; see found.md."""
    to_big, wide = part == ("forward" if layer.transposed else "dInput"), max(layer.stride) > 1
    if device == "cuda":
        # For one channel, torch takes the plan that cuDNN made for another layout (2.11 and 2.14; pytorch#81106).
        return layer.transposed and layer.filters == 1 and not is_plain
    if part != "forward" and (min(layer.size) < 8 or any(layer.output_padding)):
        # Gradients of small pictures were wrong on an x86_64 CPU (64 x 3x3 to 1 of 3x1, transposed, float32).
        return True
    if layer.is_extreme and wide and not is_plain:
        # oneDNN writes beyond the result of 2 x 64 x 56 x 2, channels last, and 24 kernels of 1 x 2, strides 4 and 2.
        return True
    # With the setting that stands for TF32 on a CPU, oneDNN computes as in bfloat16.
    in_bfloat16 = name in ("bfloat16", "tf32")
    is_few = in_bfloat16 or (not is_plain and min(layer.channels, layer.filters) < 16 * layer.groups)
    if max(layer.kernel) == 1 and wide and is_few and (to_big or part != "forward"):
        # With few channels, last in memory, oneDNN writes beyond the gradient (oneDNN#6035).
        return True
    # oneDNN writes beyond these gradients, leaves them unset, or computes other numbers.
    is_wrong = layer.is_extreme or (in_bfloat16 and max(layer.dilation) > 1)
    return part in GRADIENTS[1:] and is_wrong


def _compare(draws: Draws, draw: Draw, dimensions: int, transposed: bool) -> None:
    chance, device = draw.chance, draw.device
    name, parts = chance.choice(FORMATS[device]), chance.choice(PARTS)
    if name in ("complex64", "int64"):
        parts = PARTS[0]
    # Most layers are small.
    most = MOST[device] >> chance.choice((0, 3, 3, 6))
    layer = draw_layer(chance, dimensions, transposed, most, WORK * most)
    is_unset = layer.is_extreme or (dimensions > 2 and any(layer.output_padding))
    if device == "cpu" and name in ("bfloat16", "tf32") and is_unset:
        # oneDNN leaves numbers of small pictures unset, and what output_padding adds to a volume.
        name = "float32"
    if device == "cpu" and name in ("bfloat16", "float16", "tf32") and {"amx_bf16", "amx_fp16"} & extensions():
        # With AMX, some layers with expanded inputs or weights were wrong (2.11.0); nobody has looked at the others.
        name = "float32"
    dtype = {"tf32": torch.float32, "complex64": torch.float32}.get(name) or getattr(torch, name)
    share, largest = _numbers(device, name, layer, parts)
    # One tensor has large numbers, and one may be expanded.
    heavy, expanded = chance.choice((0, 1, 3)), chance.choice((0, 1, 3, None, None, None))
    tensors = []
    for index, shape in enumerate(layer.shapes):
        greatest = largest if index == heavy else 2 if index == 2 else 1
        plain = draw.sparse(shape, greatest, 1 if index == 2 else share, dtype)
        if name == "complex64":
            plain = torch.complex(plain, draw.sparse(shape, 1, share, dtype))
        kinds = ("plain", "channels last", "channels last", "view") if index != 2 else ("plain", "view")
        tensors.append(_lay(draw, plain, ("expanded",) if index == expanded else kinds))
    has_bias, is_plain = chance.random() < 0.6, set(draw.conditions) == {"plain"}
    parts = tuple(part for part in parts if not _is_left_out(device, name, layer, part, is_plain))
    own = device == "cpu" and parts == PARTS[0] and "loat" in name and chance.random() < 0.2
    with draws.cases.offered(f"{'oneDNN: ' * own}{dimensions} dimensions, {name}"), _settings(draw, name):
        results = {}
        inputs, weight, bias, upstream = tensors
        if own:
            draw.conditions.append("oneDNN's layout")
            stored = [each.float().contiguous() if transposed else each.to_mkldnn() for each in (weight, bias)]
            results["forward"] = layer.call(inputs.to_mkldnn(), stored[0], stored[1] if has_bias else None).to_dense()
        elif "forward" in parts:
            results["forward"] = layer.call(inputs, weight, bias if has_bias else None)
        mask = [part in parts for part in GRADIENTS]
        if any(mask):
            options: t.Any = layer.stride, layer.padding, layer.dilation, transposed, layer.output_padding, layer.groups
            computed = torch.ops.aten.convolution_backward(upstream, inputs, weight, [layer.filters], *options, mask)
            results.update((part, each) for part, each in zip(GRADIENTS, computed) if part in parts)
        tensors[2] = bias if has_bias else torch.zeros_like(bias)
        for part, result in results.items():
            case = f"{layer}, {name}{', bias' * has_bias}, {', '.join(draw.conditions)}, {part}"
            draws.expect(case, _is_right(draw, layer, part, result, *tensors))


def _numbers(device: str, name: str, layer: Layer, parts: t.Sequence[str]) -> tuple[float, int]:
    """Return the share of numbers that are not zero, and the largest of one tensor; the others have 1."""
    count, limit = max(layer.terms()[part] for part in parts), LARGEST_SUM.get(name, 2**24) // 8
    if name == "float64":
        # The reference's sum of channels is exact as well.
        limit //= LARGEST_OF_VECTOR * max(layer.channels, layer.filters)
    largest = [LARGEST.get(name, 2**12), limit // count]
    if name != "float64":
        largest.append(int(LARGEST_SIZE / (1 + count**0.5)))
    if name == "tf32" and device == "cpu":
        largest.append(2**8 - 1)
    return min(1.0, (limit / count) ** 0.5), max(1, min(largest))


def _is_right(draw: Draw, layer: Layer, part: str, result: torch.Tensor, *tensors: torch.Tensor) -> torch.Tensor:
    """Tell for each position of a result whether its numbers are near integers, and these have the right sum."""
    wide = torch.complex128 if result.is_complex() else torch.float64
    if result.shape != layer.shapes[("dInput", "dWeight", "dBias", "forward").index(part)]:
        return torch.zeros(1, dtype=torch.bool, device=result.device)
    exact, name = result.to(wide), name_of(result.dtype)
    if part == "dBias":
        expected = tensors[3].to(wide).sum([0, *range(2, tensors[3].ndim)])
        return (exact - expected).abs() <= UNIT_ROUNDOFF[name] * expected.abs()
    integers = torch.complex(exact.real.round(), exact.imag.round()) if result.is_complex() else exact.round()
    factor = {"float64": 0.0, "int64": 0.0, "float32": TRANSFORM, "complex64": TRANSFORM}.get(name, TRANSFORM_OF_FIVE)
    tolerance = UNIT_ROUNDOFF["float32"] * factor * exact.abs().square().mean().sqrt()
    near = (exact - integers).abs() <= tolerance.clamp(max=0.49)
    axis = 0 if part == "dWeight" else 1
    integers, near = (each.unflatten(axis, (layer.groups, -1)) for each in (integers, near))
    vector = draw.integers((*integers.shape[axis : axis + 2], *[1] * len(layer.kernel)), 1, LARGEST_OF_VECTOR, wide)
    total = (integers * (vector.unsqueeze(2) if axis == 0 else vector)).sum(axis + 1)
    return (total == _expected(layer, part, vector, *tensors)) & near.all(axis + 1)
