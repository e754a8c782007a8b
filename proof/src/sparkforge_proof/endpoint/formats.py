# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a format does to numbers, tried on the reference itself: its bound is what these trials show, never a guess.

Each trial computes the model again. Every operator's result is moved at random by up to the unit roundoff of the
format that activations have, as in the families training and inference. A format of 8 or 4 bits also quantises what
goes into a linear layer, and its weights where they are not stored in that format already; the scale of each is drawn
anew in every trial, so that other numbers meet the format's steps.
"""

from __future__ import annotations

import contextlib
import dataclasses
import typing as t

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Quantise = t.Callable[[torch.Tensor, float], torch.Tensor]

#: The values that E2M1 has.
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
#: Steps within a norm or a softmax, which engines compute in float32.
_WITHIN = ("pow", "mean", "rsqrt", "sum", "exp", "amax", "max", "topk", "sort", "cumsum", "_to_copy", "clone")


@dataclasses.dataclass(frozen=True)
class Format:
    """What a server computes in.

    :ivar unit: unit roundoff of its activations.
    :ivar activations: quantises what goes into a linear layer.
    :ivar weights: quantises its weights.
    """

    name: str
    unit: float
    activations: Quantise | None = None
    weights: Quantise | None = None

    def stored(self) -> Format:
        """Return the same for weights that are stored in the format, so that the reference has just these."""
        return dataclasses.replace(self, weights=None)


def fp8(x: torch.Tensor, dither: float) -> torch.Tensor:
    """Quantise to E4M3 with one scale for the tensor."""
    scale = x.abs().amax().clamp(min=1e-12) / 448.0 * dither
    return (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn).to(x.dtype) * scale


def _e2m1(x: torch.Tensor) -> torch.Tensor:
    values = torch.tensor(_E2M1, dtype=x.dtype, device=x.device)
    middles = (values[1:] + values[:-1]) / 2
    return values[torch.bucketize(x.abs().contiguous(), middles)] * x.sign()


def _blocks(x: torch.Tensor, size: int) -> tuple[torch.Tensor, int]:
    missing = -x.shape[-1] % size
    return torch.nn.functional.pad(x, (0, missing)).unflatten(-1, (-1, size)), x.shape[-1]


def nvfp4(x: torch.Tensor, dither: float) -> torch.Tensor:
    """Quantise to E2M1 with a scale of E4M3 for each 16 numbers and one of float32 for the tensor."""
    whole = x.abs().amax().clamp(min=1e-12) / (6.0 * 448.0) * dither
    blocks, length = _blocks(x, 16)
    scale = (blocks.abs().amax(-1, keepdim=True) / 6.0 / whole).clamp(max=448).to(torch.float8_e4m3fn).to(x.dtype)
    scale = scale.clamp(min=2.0**-9) * whole
    return (_e2m1(blocks / scale) * scale).flatten(-2)[..., :length]


def mxfp4(x: torch.Tensor, dither: float) -> torch.Tensor:
    """Quantise to E2M1 with a power of two for each 32 numbers; ``dither`` below 1.5 rounds that power down."""
    blocks, length = _blocks(x, 32)
    largest = blocks.abs().amax(-1, keepdim=True).clamp(min=2.0**-126)
    scale = torch.exp2(torch.floor(torch.log2(largest)) - (2 if dither < 1.5 else 1))
    return (_e2m1(blocks / scale) * scale).flatten(-2)[..., :length]


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("fp32", 2.0**-24),
        Format("fp16", 2.0**-11),
        Format("bf16", 2.0**-8),
        Format("fp8", 2.0**-8, fp8, fp8),
        Format("nvfp4", 2.0**-8, nvfp4, nvfp4),
        # Engines compute gpt-oss's experts with activations of 16 bits.
        Format("mxfp4", 2.0**-8, None, mxfp4),
    )
}


class Rounded(TorchDispatchMode):
    """Move each operator's result at random by up to a unit roundoff."""

    def __init__(self, unit: float, generator: torch.Generator) -> None:
        super().__init__()
        self.unit, self.generator, self.off = unit, generator, 0

    def __torch_dispatch__(self, func: t.Any, types: t.Any, args: t.Any = (), kwargs: t.Any = None) -> t.Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.rpartition("::")[2]
        if self.off or name in _WITHIN or any(one.alias_info is not None for one in func._schema.returns):
            return result
        return self.moved(result)

    def moved(self, result: t.Any) -> t.Any:
        """Return a tensor that was moved; anything else as it is, and masks, whose values are at the format's end."""
        if not isinstance(result, torch.Tensor) or not result.is_floating_point() or result.numel() < 2:
            return result
        # Scores of attention stay in float32 in the kernels of engines.
        if result.dim() == 4 and result.shape[-2] > 1 and abs(result.shape[-1] - result.shape[-2]) < 2:
            return result
        noise = torch.empty_like(result).uniform_(-self.unit, self.unit, generator=self.generator)
        return torch.where(result.abs() < 1e30, result * (1 + noise), result)


@contextlib.contextmanager
def trial(model: t.Any, form: Format, seed: int) -> t.Iterator[None]:
    """Have a model compute as in a format, once, with noise that follows from a seed."""
    generator = torch.Generator(device=model.device).manual_seed(seed)
    dither = torch.Generator().manual_seed(seed)
    mode = Rounded(form.unit, generator)

    def drawn() -> float:
        return float(torch.rand((), generator=dither)) + 1.0

    def exact(*_: t.Any) -> None:
        mode.off += 1

    def rounded(_module: t.Any, _inputs: t.Any, result: t.Any) -> t.Any:
        # Angles are exact in float32; only their sines and cosines are kept in the format.
        mode.off -= 1
        return tuple(map(mode.moved, result)) if isinstance(result, tuple) else mode.moved(result)

    def quantised(module: t.Any, inputs: t.Any) -> t.Any:
        mode.off += 1
        if form.weights:
            module.kept, module.weight.data = module.weight.data, form.weights(module.weight.data, drawn())
        found = (form.activations(inputs[0], drawn()), *inputs[1:]) if form.activations else inputs
        mode.off -= 1
        return found

    def restored(module: t.Any, _inputs: t.Any, _result: t.Any) -> None:
        if form.weights:
            module.weight.data = module.kept
            del module.kept

    hooks = []
    for name, module in model.named_modules():
        if "rotary" in type(module).__name__.lower():
            hooks += [module.register_forward_pre_hook(exact), module.register_forward_hook(rounded)]
        # Engines keep the head and the choice of experts in 16 bits.
        elif isinstance(module, torch.nn.Linear) and "head" not in name and (form.activations or form.weights):
            hooks += [module.register_forward_pre_hook(quantised), module.register_forward_hook(restored)]
    try:
        with mode, torch.no_grad():
            yield
    finally:
        for hook in hooks:
            hook.remove()
