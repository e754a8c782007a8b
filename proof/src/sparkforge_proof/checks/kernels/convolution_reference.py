"""Compute a convolution and its gradients by definition: as a loop over the kernel's positions, in float64.

A convolution is linear in both of its arguments, so the same loop over magnitudes gives the sum of magnitudes of every
result and, by differentiation, of every gradient.
"""

from __future__ import annotations

import itertools
import math
import typing as t

from ..bounds import gradients, one_thread, torch


class Layer(t.NamedTuple):
    """The shape of a convolution.

    :ivar kernel: the kernel's size in each dimension of the convolution.
    :ivar size: the input's size in each dimension.
    :ivar transposed: whether this is the adjoint of a convolution, with ``output_padding``.
    """

    name: str
    channels: int
    filters: int
    kernel: tuple[int, ...]
    size: tuple[int, ...]
    batch: int = 2
    stride: int = 1
    padding: int = 0
    dilation: int = 1
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
    for size, kernel in zip(layer.size, layer.kernel):
        spread = layer.dilation * (kernel - 1) + 1
        if layer.transposed:
            sizes.append((size - 1) * layer.stride - 2 * layer.padding + spread + layer.output_padding)
        else:
            sizes.append((size + 2 * layer.padding - spread) // layer.stride + 1)
    return tuple(sizes)


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


def _slices(start: int, step: int, count: int) -> slice:
    return slice(start, start + step * (count - 1) + 1, step)


def _by_definition(layer: Layer, inputs: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Compute the convolution by definition, as a sum over the positions of the kernel."""
    groups, grouped = layer.groups, inputs.unflatten(1, (layer.groups, -1))
    spread = [layer.dilation * (width - 1) + 1 for width in layer.kernel]
    if layer.transposed:
        sizes = [(size - 1) * layer.stride + width + layer.output_padding for size, width in zip(layer.size, spread)]
        # The weights of a transposed convolution have the shape (channels, filters / groups, …).
        weights = weight.unflatten(0, (groups, -1))
        result = inputs.new_zeros(inputs.shape[0], groups, layer.filters // groups, *sizes)
        for position in itertools.product(*(range(width) for width in layer.kernel)):
            window = tuple(_slices(p * layer.dilation, layer.stride, n) for p, n in zip(position, layer.size))
            term = torch.einsum("ngc...,gcf->ngf...", grouped, weights[(..., *position)])
            shifted = torch.zeros_like(result)
            shifted[(slice(None), slice(None), slice(None), *window)] = term
            result = result + shifted
        result = result.flatten(1, 2)
        inner = tuple(slice(layer.padding, size - layer.padding) for size in sizes)
        return result[(slice(None), slice(None), *inner)]
    padded = torch.nn.functional.pad(grouped, [layer.padding] * (2 * len(layer.size)))
    counts = [(size + 2 * layer.padding - width) // layer.stride + 1 for size, width in zip(layer.size, spread)]
    weights = weight.unflatten(0, (groups, -1))
    result = inputs.new_zeros(inputs.shape[0], groups, layer.filters // groups, *counts)
    for position in itertools.product(*(range(width) for width in layer.kernel)):
        window = tuple(_slices(p * layer.dilation, layer.stride, n) for p, n in zip(position, counts))
        covered = padded[(slice(None), slice(None), slice(None), *window)]
        result = result + torch.einsum("ngc...,gfc->ngf...", covered, weights[(..., *position)])
    return result.flatten(1, 2)


@one_thread()
def result_and_gradients(
    layer: Layer, inputs: torch.Tensor, weight: torch.Tensor, upstream: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return, in float64, the result without bias, and the gradients of inputs and weights."""
    leaves = [tensor.double().detach().requires_grad_() for tensor in (inputs, weight)]
    result = _by_definition(layer, *leaves)
    of_inputs, of_weight = gradients(result, leaves, upstream.double())
    return result.detach(), of_inputs, of_weight
