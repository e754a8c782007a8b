"""Check convolutions, which cuDNN computes on a GPU and oneDNN on a CPU.

The bound for sums of k products is gamma(k) of float32 for IEEE arithmetic, and gamma(4 k) for tensor cores (see
matmul.py). Libraries may transform both arguments instead. Winograd's F(4x4, 3x3), cuDNN's least accurate algorithm,
multiplies the rounding errors by 31 (the root of the sum of squares of its matrices' entries; A. Lavin, S. Gray, Fast
Algorithms for Convolutional Neural Networks, CVPR 2016, gives the matrices), independent errors in a few dozen steps by
4 more, and taking the largest of a million by 5. A bound of 2**10 u of the results' own size covers all this, and also
FFT, which is more accurate. cuDNN 9.24 computes kernels of 5x5 in 16 bits by F(5x5, 5x5) if it has one image: on 9.0,
the results were off by up to 2**-7 of their size, for which the bound of these is 2**18 u.

float16 and bfloat16 get sparse inputs of -1, 0 and 1, so that every partial sum fits the format, and splitting or
reordering the sums cannot change the result. The survey convolves random values in these formats.
"""

from __future__ import annotations

import contextlib
import math
import typing as t
import warnings

from ...check import ABSENT, SEEN_GRID, Context, Measured, Unanswered, check

# isort: off
from ..bounds import (
    UNDERFLOW, UNIT_ROUNDOFF, Cases, adds_bytes, allow_tf32, extensions, functions_of, gamma, gradients, one_thread,
    setting, ternary, torch,
)  # fmt: skip

TRANSFORM = 2.0**10
TRANSFORM_OF_FIVE = 2.0**18

#: The values from which layers are drawn. Channels and filters are those of each group.
AXES: dict[str, list[t.Any]] = {
    "channels": [1, 3, 8, 19], "filters": [1, 2, 5, 8], "groups": ["1", "2", "depthwise"], "kernel": [1, 2, 3, 5],
    "stride": [1, 2, 3], "padding": [0, 1, 2], "dilation": [1, 2], "batch": [1, 2, 3],
}  # fmt: skip

#: The values of the first two layers instead: a depthwise one, and a wide one whose kernel is a single number. Volumes
#: are wide only by the first values.
FIRST: list[dict[str, list[t.Any]]] = [
    {"groups": ["depthwise"], "channels": [5, 8, 12, 19]},
    {"groups": ["1"], "channels": [16, 24, 33], "kernel": [1], "stride": [2, 3], "padding": [0]},
]

#: The dimensions of the layers that are drawn for each check, and their numbers.
DRAWN = {"conv2d": ((2, 6),), "conv1d_3d": ((1, 4), (3, 4)), "transposed": ((2, 6), (1, 3), (3, 3))}

#: The largest sum of magnitudes for which every partial sum is exact in the format.
LARGEST_SUM = {"float16": 2**11, "bfloat16": 2**8}

REMEDY = (
    "Do not train with this stack: install the stack's cuDNN (playbooks/libraries.yml, or the wheel that torch was "
    "released with), and rebuild torch with TORCH_CUDA_ARCH_LIST for the device."
)
REMEDY_CPU = "Do not compute with this stack: unset DNNL_DEFAULT_FPMATH_MODE, or else use another stack."


class Layer(t.NamedTuple):
    """The shape of a convolution.

    :ivar kernel: the kernel's size in each dimension of the convolution.
    :ivar size: the input's size in each dimension.
    :ivar stride: the stride in each dimension, or in all, like ``padding`` and ``dilation``.
    :ivar transposed: whether this is the adjoint of a convolution, with ``output_padding``.
    """

    name: str
    channels: int
    filters: int
    kernel: tuple[int, ...]
    size: tuple[int, ...]
    batch: int = 2
    stride: int | tuple[int, ...] = 1
    padding: int | tuple[int, ...] = 0
    dilation: int | tuple[int, ...] = 1
    groups: int = 1
    transposed: bool = False
    output_padding: int = 0


def weight_shape(layer: Layer) -> tuple[int, ...]:
    """Return the shape of the weights; in a transposed convolution, channels come first."""
    if layer.transposed:
        return (layer.channels, layer.filters // layer.groups, *layer.kernel)
    return (layer.filters, layer.channels // layer.groups, *layer.kernel)


def output_size(layer: Layer) -> tuple[int, ...]:
    """Return the spatial sizes of the result."""
    sizes = []
    for size, kernel, stride, padding, dilation in zip(layer.size, layer.kernel, *steps(layer)):
        spread = dilation * (kernel - 1) + 1
        if layer.transposed:
            sizes.append((size - 1) * stride - 2 * padding + spread + layer.output_padding)
        else:
            sizes.append((size + 2 * padding - spread) // stride + 1)
    return tuple(sizes)


def steps(layer: Layer) -> list[list[int]]:
    """Return the stride, the padding and the dilation in each dimension."""
    values = layer.stride, layer.padding, layer.dilation
    return [list(each) if isinstance(each, tuple) else [each] * len(layer.kernel) for each in values]


def terms(layer: Layer) -> tuple[int, int, int]:
    """Return the largest number of products in one sum of the result, of dInput, and of dWeight."""
    positions = math.prod(layer.kernel)
    of_result = layer.channels // layer.groups * positions
    of_inputs = layer.filters // layer.groups * positions
    of_weight = layer.batch * min(math.prod(layer.size), math.prod(output_size(layer)))
    return of_result, of_inputs, of_weight


def density(layer: Layer, largest: int) -> float:
    """Return a share of nonzero values that keeps every sum of magnitudes well below ``largest``."""
    return min(0.8, float((largest / 2 / max(terms(layer))) ** 0.5))


def _require_cudnn(context: Context) -> str:
    """Require cuDNN on a GPU; return the remedy for wrong results."""
    if context.device != "cuda":
        return REMEDY_CPU
    if not torch.backends.cudnn.is_available():
        raise Unanswered(
            ABSENT,
            "This torch was built without cuDNN, so convolutions run on slow kernels or not at all.",
            "Install cuDNN before building torch (playbooks/libraries.yml) and build with USE_CUDNN=1, or use a stack "
            "whose wheel has it.",
            measured="no cuDNN",
            bound="cuDNN",
        )
    return REMEDY


def _convolve(layer: Layer, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    dimensions = len(layer.kernel)
    common = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation, "groups": layer.groups}
    if layer.transposed:
        function = getattr(torch.nn.functional, f"conv_transpose{dimensions}d")
        return function(inputs, weight, bias, output_padding=layer.output_padding, **common)
    return getattr(torch.nn.functional, f"conv{dimensions}d")(inputs, weight, bias, **common)


@one_thread()
def _in_float64(layer: Layer, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the result of a convolution and its three gradients on the CPU, where only float64 does without oneDNN."""
    *leaves, upstream = (tensor.double() for tensor in tensors)
    result = _convolve(layer, *(leaf.requires_grad_() for leaf in leaves))
    return (result.detach(), *gradients(result, leaves, upstream))


def _with_layout(tensor: torch.Tensor, last: bool) -> torch.Tensor:
    """Return a tensor with its channels last in memory if ``last``."""
    if not last:
        return tensor
    if tensor.dim() == 3:
        return tensor.mT.contiguous().mT
    return tensor.contiguous(memory_format=torch.channels_last_3d if tensor.dim() == 5 else torch.channels_last)


def _compare(
    cases: Cases, context: Context, layer: Layer, kind: str, layouts: t.Sequence[tuple[bool, bool]] = ((False, False),)
) -> None:
    """Compare a convolution and its three gradients.

    :param kind: the kind of inputs and bounds: a dtype's name, ``tf32``, or ``whole``: float32 with float16's integers.
    :param layouts: whether channels are last in memory, in the inputs and in the weights.
    """
    name = "float32" if kind in ("tf32", "whole") else kind
    description = f"{layer.name}, {name}{', TF32 allowed' if kind == 'tf32' else ''}"
    generator, dtype = context.generator(f"convolution {description} {kind}"), getattr(torch, name)
    results = (layer.batch, layer.filters, *output_size(layer))
    shapes: t.Any = (layer.batch, layer.channels, *layer.size), weight_shape(layer), (layer.filters,), results
    largest = LARGEST_SUM.get("float16" if kind == "whole" else kind)
    if largest:
        share = density(layer, largest)
        inputs, weight, bias, upstream = (ternary(generator, shape, dtype, share) for shape in shapes)
    else:
        inputs, weight, bias, upstream = (torch.randn(shape, generator=generator).to(dtype) for shape in shapes)

    # A convolution is linear in each argument, so that of the magnitudes is the sum of the magnitudes of every term.
    expected = _in_float64(layer, inputs, weight, bias, upstream)
    magnitudes = _in_float64(layer, inputs.abs(), weight.abs(), bias.abs(), upstream.abs())
    if largest and max(float(bound.max()) for bound in magnitudes[:3]) > largest:
        raise ValueError(f"the integers of {description} are not exact")
    lengths = (*terms(layer), layer.batch * math.prod(output_size(layer)))
    transforms_five = context.device == "cuda" and layer.kernel == (5, 5) and layer.stride == layer.dilation == 1

    if context.device == "cpu":
        bound = _bound(kind, name, expected[0], magnitudes[0], lengths[0], TRANSFORM)
        with cases.offered("oneDNN's layout"), torch.no_grad():
            weights = (each.float() if layer.transposed else each.to_mkldnn() for each in (weight, bias))
            actual = _convolve(layer, inputs.to_mkldnn(), *weights).to_dense()
            cases.compare(f"{description}, oneDNN's layout", actual, expected[0], bound)
    if context.device == "cpu" and not layer.transposed:
        # Compiled and frozen code calls it with what follows.
        stride, padding, dilation = steps(layer)
        with cases.offered("a fused activation"), contextlib.suppress(AttributeError), torch.no_grad():
            options: t.Any = (padding, stride, dilation, layer.groups, "relu", [], "")
            actual = torch.ops.mkldnn._convolution_pointwise(inputs, weight, bias, *options)
            cases.compare(f"{description}, relu", actual, expected[0].relu(), bound)
    for inputs_last, weight_last in layouts:
        arguments = ((inputs, inputs_last), (weight, weight_last), (bias, False))
        copies = ((each.to(context.device, copy=True), is_last) for each, is_last in arguments)
        leaves = [_with_layout(each, is_last).requires_grad_() for each, is_last in copies]
        result = _convolve(layer, *leaves)
        computed = (result, *gradients(result, leaves, _with_layout(upstream.to(context.device), inputs_last)))
        lasts = " inputs" * inputs_last + " weights" * weight_last
        variant = f", channels last:{lasts}" if lasts else ""
        parts = zip(("forward", "dInput", "dWeight", "dBias"), computed, expected, magnitudes, lengths)
        for part, actual, reference, magnitude, length in parts:
            factor = TRANSFORM_OF_FIVE if transforms_five and kind == name != "float32" else TRANSFORM
            bound = _bound(kind, name, reference, magnitude, length, factor)
            cases.compare(f"{description}{variant}, {part}", actual, reference, bound)


def _bound(
    kind: str, name: str, expected: torch.Tensor, magnitudes: torch.Tensor, length: int, factor: float
) -> torch.Tensor:
    """Return the allowed error of each element; see the module's docstring.

    Integers add exactly, but their transforms are not exact, so that part of the bound remains.
    """
    unit, transform = UNIT_ROUNDOFF["float32"], transformed("float32", expected)
    if kind == "float32":
        return gamma(length + 1, unit) * magnitudes + transform
    if kind == "tf32":
        rounded = UNIT_ROUNDOFF["tf32"]
        return (2 * rounded + rounded * rounded + gamma(4 * (length + 1), unit)) * magnitudes + transform
    return transformed(name, expected, factor)


def transformed(name: str, expected: torch.Tensor, factor: float = TRANSFORM) -> torch.Tensor:
    """Return the allowed error of exact sums, which a library may transform; see the module's docstring."""
    size = expected.square().mean().sqrt() if expected.numel() else expected.new_zeros(())
    transform = (factor * UNIT_ROUNDOFF["float32"] * size).expand_as(expected)
    if name == "float32":
        return transform
    return UNIT_ROUNDOFF[name] * expected.abs() + UNDERFLOW[name] + transform


def drawn_layers(context: Context, dimensions: int, count: int, transposed: bool = False) -> list[Layer]:
    """Return layers whose values on each of ``AXES`` are drawn by the seed; each value occurs about equally often."""
    chance = context.drawing(f"{dimensions} {transposed}")
    columns = {axis: chance.sample(values, len(values)) * count for axis, values in AXES.items()}
    layers = []
    for number in range(count):
        row, is_wide = {axis: column[number] for axis, column in columns.items()}, number == 1
        for axis, values in FIRST[number].items() if number < len(FIRST) else ():
            row[axis] = values[0] if len(values) == 1 or (is_wide and dimensions > 2) else chance.choice(values)
        if is_wide and transposed:
            row["channels"], row["filters"] = row["filters"], row["channels"]
        is_depthwise = row["groups"] == "depthwise"
        groups = row["channels"] if is_depthwise else int(row["groups"])
        channels = row["channels"] if is_depthwise else row["channels"] * groups
        widest = 1 if is_wide else 3 if dimensions > 2 else 6
        kernel = tuple(min(row["kernel"] + chance.randint(0, 1), widest) for _each in range(dimensions))
        if max(kernel) == 1 and not is_wide:
            # With few channels, last in memory, torch 2.13 on a CPU writes beyond the gradient of the inputs.
            row["stride"] = 1
        dilation, smallest = row["dilation"], {1: 17, 2: 13, 3: 5}[dimensions]
        size = tuple(chance.randint(smallest, smallest + 3) for _each in range(dimensions))
        padding = min(row["padding"], dilation * (min(kernel) - 1) // 2)
        # In bfloat16, torch 2.13 on a CPU leaves what output_padding adds to a volume unset.
        filters, extra = row["filters"] * groups, row["stride"] - 1 if transposed and dimensions < 3 else 0
        name = f"{channels} x {'x'.join(map(str, kernel))} to {filters}, {row['groups']} groups, stride {row['stride']}"
        name = f"{name}, padding {padding}, dilation {dilation}"
        options = row["batch"], row["stride"], padding, dilation, groups, transposed, extra
        layers.append(Layer(name, channels, filters, kernel, size, *options))
    return layers


def _listed_layers(context: Context, table: str, dimensions: int, transposed: bool) -> list[Layer]:
    """Return the layers of a table in ``functions.txt``."""
    layers = []
    for name, function in functions_of(table, "chance, d, seed").items():
        chance = context.drawing(f"{dimensions} {transposed} {name}")
        groups, channels, filters, kernel, size, options = function(chance, dimensions, context.seed)
        options = {"groups": groups, "transposed": transposed, **options}
        name = f"{name}, {groups} x {channels} x {kernel} to {filters} each, of {size}"
        layers.append(Layer(name, groups * channels, groups * filters, kernel, size, **options))
    return layers


def _compare_layers(cases: Cases, context: Context, layers: t.Sequence[Layer]) -> None:
    """Compare layers in every format: float32 with and without TF32, and integers in 16 bits.

    Channels are first in memory in one call, and last in the inputs, in the weights or in both in another call (of the
    first two layers, in others). On a CPU, oneDNN may also round integers to bfloat16, which leaves them as they are.
    """
    for number, layer in enumerate(layers):
        others = [(True, True), (False, True), (True, False)]
        layouts = [(False, False), *(others if number < 2 else others[(context.seed + number) % 3 :][:1])]
        if context.device == "cuda" and layer.transposed and layer.filters == 1:
            # For one channel, torch takes the plan that cuDNN made for another layout (2.11 and 2.14; pytorch#81106).
            layouts = layouts[:1]
        with allow_tf32(torch.backends.cudnn, False):
            _compare(cases, context, layer, "float32", layouts)
        if context.device == "cpu" or torch.cuda.get_device_capability() >= (8, 0):
            _compare(cases, context, layer, "bfloat16", layouts)
        _compare(cases, context, layer, "float16", layouts)
        reduced = getattr(torch.backends.mkldnn, "conv", None) if context.device == "cpu" else None
        if reduced and number % 3 == 1:
            with setting(reduced, "fp32_precision", "bf16"):
                _compare(cases, context, layer, "whole", layouts)
    if context.device == "cuda":
        with allow_tf32(torch.backends.cudnn, True):
            _compare(cases, context, layers[-1], "tf32")
            _compare(cases, context, layers[-1], "whole")


@check("convolution.conv2d", devices=("cuda", "cpu"), measured=SEEN_GRID)
@check("convolution.conv1d_3d", devices=("cuda", "cpu"), measured=SEEN_GRID)
@check("convolution.transposed", devices=("cuda", "cpu"), measured=SEEN_GRID)
def convolutions(context: Context, part: str) -> Measured:
    """Check convolutions and their three gradients, with channels first and last. Bound: see the module.

    They have strides, padding, dilation or groups, or are depthwise. float32 runs with TF32 disabled and, on a GPU,
    also with torch's default (enabled).
    """
    transposed, on_cpu = part == "transposed", context.device == "cpu"
    cases = Cases("the transposed convolution" if transposed else "the convolution", _require_cudnn(context))
    for dimensions, count in DRAWN[part]:
        layers = drawn_layers(context, dimensions, count, transposed)
        if not on_cpu and not transposed:
            layers[2:2] = _listed_layers(context, "layers to a pixel", dimensions, transposed)
        edges = _listed_layers(context, "layers with edges", dimensions, transposed) if on_cpu else []
        if part == "conv2d":
            layers += [] if on_cpu else _listed_layers(context, "layers of pictures on a GPU", dimensions, transposed)
            layers += _listed_layers(context, "layers of pictures", dimensions, transposed)
        layers[-1:-1] = _listed_layers(context, "layers", dimensions, transposed)
        _compare_layers(cases, context, [*layers, *edges])
        # With AMX, 8-bit inputs of a layer with the widest padding were off by up to 4.8 bounds; 7 bits were not.
        has_amx = "amx_int8" in extensions()
        largest = 256 if adds_bytes() and not has_amx else 128
        for layer in [*layers, *([] if has_amx else edges)] if on_cpu and not transposed else ():
            _compare_scaled(cases, context, layer, largest)
    return cases.result()


def _compare_scaled(cases: Cases, context: Context, layer: Layer, largest: int) -> None:
    """Compare a convolution of 8-bit integers with a scale for each filter; its sums are exact, and rounded once.

    :param largest: one more than the largest input. A sum of two products is exact in 16 bits for inputs of 7 bits.
    """
    generator, dimensions = context.generator(f"{context.seed} scaled {layer.name}"), len(layer.kernel)
    inputs = torch.randint(0, largest, (layer.batch, layer.channels, *layer.size), generator=generator)
    weight = torch.randint(-127, 128, weight_shape(layer), generator=generator).to(torch.int8)
    bias = torch.randint(-999, 999, (layer.filters,), generator=generator).float()
    scales = 2.0 ** torch.randint(-1, 2, (layer.filters,), generator=generator)
    factors = weight * scales.double().view(-1, *[1] * (dimensions + 1))
    exact = _convolve(layer, inputs.double() - 3, factors, bias.double())
    step = 2.0 ** round(math.log2(float(exact.abs().max()) / 99))
    with cases.offered("scales"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = torch._make_per_channel_quantized_tensor(weight, scales, torch.zeros(len(scales)).long(), 0)
        values = torch._make_per_tensor_quantized_tensor(inputs.byte(), 1.0, 3)
        packed = getattr(torch.ops.quantized, f"conv{dimensions}d_prepack")(weights, bias, *steps(layer), layer.groups)
        actual = getattr(torch.ops.quantized, f"conv{dimensions}d")(values, packed, step, 128).int_repr()
        expected = (exact / step + 128).clamp(0, 255)
        cases.compare(f"{layer.name}, scales", actual, expected, torch.full_like(expected, 0.5))
