"""Check convolutions, which cuDNN computes on a GPU and oneDNN on a CPU.

The bound for sums of k products is gamma(k) of float32 for IEEE arithmetic, and gamma(4 k) for tensor cores (see
matmul.py). Libraries may transform both arguments instead. Winograd's F(4x4, 3x3), cuDNN's least accurate algorithm,
multiplies the rounding errors by 31 (the root of the sum of squares of its matrices' entries; A. Lavin, S. Gray, Fast
Algorithms for Convolutional Neural Networks, CVPR 2016, gives the matrices), independent errors in a few dozen steps by
4 more, and taking the largest of a million by 5. A bound of 2**10 u of the results' own size covers all this, and also
FFT, which is more accurate. cuDNN 9.24 computes kernels of 5x5 in 16 bits by F(5x5, 5x5) if it has one image: on 9.0,
the results were off by up to 2**-7 of their size, for which the bound of these is 2**18 u.

Random values are compared in float32, and integers in each format (see convolution_draws.py). The survey convolves
random values in 16 bits.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import typing as t
import warnings

from ...check import ABSENT, SEEN_GRID, Context, Measured, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, adds_bytes, allow_tf32, extensions, gamma, gradients, one_thread, torch
from .convolution_draws import TRANSFORM, Layer, compare_drawn, draw_layer

#: The dimensions of the layers that are drawn for each check, and the share of each.
DRAWN = {"conv2d": ((2, 1.0),), "conv1d_3d": ((1, 0.5), (3, 0.5)), "transposed": ((2, 0.4), (1, 0.3), (3, 0.3))}
#: The layers of integers for each check, and those of random values for each number of dimensions.
INTEGERS, RANDOM = {"cuda": 240, "cpu": 1_200}, 8
#: The most products of a layer with random values, whose reference is torch's.
MOST, WORK = 2**14, 2**18

REMEDY = (
    "Do not train with this stack: install the stack's cuDNN (playbooks/libraries.yml, or the wheel that torch was "
    "released with), and rebuild torch with TORCH_CUDA_ARCH_LIST for the device."
)
REMEDY_CPU = "Do not compute with this stack: unset DNNL_DEFAULT_FPMATH_MODE, or else use another stack."


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


@one_thread()
def _in_float64(layer: Layer, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the result of a convolution and its three gradients on the CPU, where only float64 does without oneDNN."""
    *leaves, upstream = (tensor.double() for tensor in tensors)
    result = layer.call(*(leaf.requires_grad_() for leaf in leaves))
    return (result.detach(), *gradients(result, leaves, upstream))


def _compare(cases: Cases, context: Context, layer: Layer, name: str, is_last: bool) -> None:
    """Compare a convolution of random values and its three gradients.

    :param name: ``float32`` or ``tf32``.
    :param is_last: whether channels are last in memory.
    """
    description = f"{layer}, {name}{', channels last' * is_last}"
    generator = context.generator(f"{context.seed} convolution {description}")
    tensors = [torch.randn(shape, generator=generator) for shape in layer.shapes]
    # A convolution is linear in each argument, so that of the magnitudes is the sum of the magnitudes of every term.
    expected, magnitudes = _in_float64(layer, *tensors), _in_float64(layer, *(each.abs() for each in tensors))
    lengths = layer.terms()
    if context.device == "cpu" and not layer.transposed:
        # Compiled and frozen code calls it with what follows.
        with cases.offered("a fused activation"), contextlib.suppress(AttributeError), torch.no_grad():
            options: t.Any = (layer.padding, layer.stride, layer.dilation, layer.groups, "relu", [], "")
            actual = torch.ops.mkldnn._convolution_pointwise(*tensors[:3], *options)
            bound = _bound(name, expected[0], magnitudes[0], lengths["forward"])
            cases.compare(f"{description}, relu", actual, expected[0].relu(), bound)
    placed = [each.to(context.device, copy=True) for each in tensors]
    for index in (0, 1, 3) if is_last else ():
        placed[index] = placed[index].movedim(1, -1).contiguous().movedim(-1, 1)
    *leaves, upstream = placed
    result = layer.call(*(each.requires_grad_() for each in leaves))
    computed = (result, *gradients(result, leaves, upstream))
    for (part, length), actual, exact, magnitude in zip(lengths.items(), computed, expected, magnitudes):
        cases.compare(f"{description}, {part}", actual, exact, _bound(name, exact, magnitude, length))


def _bound(name: str, expected: torch.Tensor, magnitudes: torch.Tensor, length: int) -> torch.Tensor:
    """Return the allowed error of each element; see the module's docstring."""
    unit = UNIT_ROUNDOFF["float32"]
    if name == "tf32":
        rounded = UNIT_ROUNDOFF["tf32"]
        return (2 * rounded + rounded * rounded + gamma(4 * (length + 1), unit)) * magnitudes + transformed(expected)
    return gamma(length + 1, unit) * magnitudes + transformed(expected)


def transformed(expected: torch.Tensor) -> torch.Tensor:
    """Return the allowed error of exact sums, which a library may transform; see the module's docstring."""
    size = expected.square().mean().sqrt() if expected.numel() else expected.new_zeros(())
    return (TRANSFORM * UNIT_ROUNDOFF["float32"] * size).expand_as(expected)


def random_layers(context: Context, dimensions: int, transposed: bool) -> list[Layer]:
    """Return layers of random values by the seed, but none of those that convolution_draws.py leaves out on a CPU."""
    chance = context.drawing(f"{dimensions} {transposed}")
    layers = iter(lambda: draw_layer(chance, dimensions, transposed, MOST, WORK), None)
    sound = (layer for layer in layers if not layer.is_extreme and (max(layer.kernel) > 1 or max(layer.stride) == 1))
    return list(itertools.islice(sound, RANDOM))


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
    # With AMX, 8-bit inputs of a layer with the widest padding were off by up to 4.8 bounds; 7 bits were not.
    has_amx = "amx_int8" in extensions()
    for dimensions, share in DRAWN[part]:
        compare_drawn(cases, context, dimensions, transposed, round(share * INTEGERS[context.device]))
        for number, layer in enumerate(random_layers(context, dimensions, transposed)):
            is_tf32 = not on_cpu and number % 4 == 3
            with allow_tf32(torch.backends.cudnn, is_tf32):
                _compare(cases, context, layer, "tf32" if is_tf32 else "float32", number % 2 == 1)
            if on_cpu and not transposed and not (has_amx and any(layer.padding)):
                _compare_scaled(cases, context, layer, 256 if adds_bytes() and not has_amx else 128)
    return cases.result()


def _compare_scaled(cases: Cases, context: Context, layer: Layer, largest: int) -> None:
    """Compare a convolution of 8-bit integers with a scale for each filter; its sums are exact, and rounded once.

    :param largest: one more than the largest input. A sum of two products is exact in 16 bits for inputs of 7 bits.
    """
    generator, dimensions = context.generator(f"{context.seed} scaled {layer}"), len(layer.kernel)
    inputs = torch.randint(0, largest, layer.shapes[0], generator=generator)
    weight = torch.randint(-127, 128, layer.shapes[1], generator=generator).to(torch.int8)
    bias = torch.randint(-999, 999, (layer.filters,), generator=generator).float()
    scales = 2.0 ** torch.randint(-1, 2, (layer.filters,), generator=generator)
    factors = weight * scales.double().view(-1, *[1] * (dimensions + 1))
    exact = layer.call(inputs.double() - 3, factors, bias.double())
    step = 2.0 ** round(math.log2(max(1.0, float(exact.abs().max())) / 99))
    steps: t.Any = layer.stride, layer.padding, layer.dilation
    with cases.offered("scales"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = torch._make_per_channel_quantized_tensor(weight, scales, torch.zeros(len(scales)).long(), 0)
        values = torch._make_per_tensor_quantized_tensor(inputs.byte(), 1.0, 3)
        packed = getattr(torch.ops.quantized, f"conv{dimensions}d_prepack")(weights, bias, *steps, layer.groups)
        actual = getattr(torch.ops.quantized, f"conv{dimensions}d")(values, packed, step, 128).int_repr()
        expected = (exact / step + 128).clamp(0, 255)
        cases.compare(f"{layer}, scales", actual, expected, torch.full_like(expected, 0.5))
