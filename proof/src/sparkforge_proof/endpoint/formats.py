"""Measure a number format's noise on the reference model; the bounds follow from these trials.

Each trial computes the model again, and perturbs every operator's result by up to the unit roundoff of the activations'
format, as in the families training and inference. An 8-bit or 4-bit format also quantises the inputs of linear layers,
and their weights unless they are already stored in that format. Each trial draws new scales, to move the format's
steps.
"""

from __future__ import annotations

import contextlib
import dataclasses
import typing as t

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Quantise = t.Callable[[torch.Tensor, float], torch.Tensor]

#: The values of E2M1.
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
#: The operators inside a norm or a softmax, which engines compute in float32.
_WITHIN = ("pow", "mean", "rsqrt", "sum", "exp", "amax", "max", "topk", "sort", "cumsum", "_to_copy", "clone")


@dataclasses.dataclass(frozen=True)
class Format:
    """A number format in which a server computes.

    :ivar unit: the unit roundoff of activations.
    :ivar activations: the function that quantises the inputs of linear layers, if any.
    :ivar weights: the function that quantises the weights of linear layers, if any.
    """

    name: str
    unit: float
    activations: Quantise | None = None
    weights: Quantise | None = None

    def stored(self) -> Format:
        """Return the format for weights that are stored quantised, which the reference loads unchanged."""
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
    """Quantise to E2M1 with an E4M3 scale for every 16 numbers and a float32 scale for the tensor."""
    outer = x.abs().amax().clamp(min=1e-12) / (6.0 * 448.0) * dither
    blocks, length = _blocks(x, 16)
    scale = (blocks.abs().amax(-1, keepdim=True) / 6.0 / outer).clamp(max=448).to(torch.float8_e4m3fn).to(x.dtype)
    scale = scale.clamp(min=2.0**-9) * outer
    return (_e2m1(blocks / scale) * scale).flatten(-2)[..., :length]


def mxfp4(x: torch.Tensor, dither: float) -> torch.Tensor:
    """Quantise to E2M1 with a power of two for every 32 numbers; a ``dither`` below 1.5 rounds that power down."""
    blocks, length = _blocks(x, 32)
    largest = blocks.abs().amax(-1, keepdim=True).clamp(min=2.0**-126)
    scale = torch.exp2(torch.floor(torch.log2(largest)) - (2 if dither < 1.5 else 1))
    return (_e2m1(blocks / scale) * scale).flatten(-2)[..., :length]


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("fp32", 2.0**-24),
        Format("fp16", 2.0**-11),
        Format("bf16", 2.0**-8),
        Format("fp8", 2.0**-8, fp8, fp8),
        Format("nvfp4", 2.0**-8, nvfp4, nvfp4),
        # Engines compute gpt-oss's experts with 16-bit activations.
        Format("mxfp4", 2.0**-8, None, mxfp4),
    )
}


class Rounded(TorchDispatchMode):
    """Perturb each operator's result at random by up to a unit roundoff."""

    def __init__(self, unit: float, seed: int) -> None:
        super().__init__()
        self.unit, self.seed, self.off = unit, seed, 0
        #: By device, because a model computes some values, such as angles, on the CPU.
        self.generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(self, func: t.Any, types: t.Any, args: t.Any = (), kwargs: t.Any = None) -> t.Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.rpartition("::")[2]
        if self.off or name in _WITHIN or any(value.alias_info is not None for value in func._schema.returns):
            return result
        return self.perturb(result)

    def perturb(self, result: t.Any) -> t.Any:
        """Return a perturbed tensor; other values, and the extreme values in masks, remain unchanged."""
        if not isinstance(result, torch.Tensor) or not result.is_floating_point() or result.numel() < 2:
            return result
        # Engines keep attention scores in float32.
        if result.dim() == 4 and result.shape[-2] > 1 and abs(result.shape[-1] - result.shape[-2]) < 2:
            return result
        if result.device not in self.generators:
            self.generators[result.device] = torch.Generator(device=result.device).manual_seed(self.seed)
        noise = torch.empty_like(result).uniform_(-self.unit, self.unit, generator=self.generators[result.device])
        return torch.where(result.abs() < 1e30, result * (1 + noise), result)


@contextlib.contextmanager
def trial(model: t.Any, form: Format, seed: int) -> t.Iterator[None]:
    """Make a model compute in a format, with noise drawn from a seed."""
    dither = torch.Generator().manual_seed(seed)
    mode = Rounded(form.unit, seed)

    def draw_dither() -> float:
        return float(torch.rand((), generator=dither)) + 1.0

    def suspend(*_: t.Any) -> None:
        mode.off += 1

    def round_result(_module: t.Any, _inputs: t.Any, result: t.Any) -> t.Any:
        # Angles remain exact in float32; only their sines and cosines are stored in the format.
        mode.off -= 1
        return tuple(map(mode.perturb, result)) if isinstance(result, tuple) else mode.perturb(result)

    def quantise(module: t.Any, inputs: t.Any) -> t.Any:
        mode.off += 1
        if form.weights:
            module.original, module.weight.data = module.weight.data, form.weights(module.weight.data, draw_dither())
        inputs = (form.activations(inputs[0], draw_dither()), *inputs[1:]) if form.activations else inputs
        mode.off -= 1
        return inputs

    def restore(module: t.Any, _inputs: t.Any, _result: t.Any) -> None:
        if form.weights:
            module.weight.data = module.original
            del module.original

    hooks = []
    for name, module in model.named_modules():
        if "rotary" in type(module).__name__.lower():
            hooks += [module.register_forward_pre_hook(suspend), module.register_forward_hook(round_result)]
        # Engines keep the output head and the experts' router in 16 bits.
        elif isinstance(module, torch.nn.Linear) and "head" not in name and (form.activations or form.weights):
            hooks += [module.register_forward_pre_hook(quantise), module.register_forward_hook(restore)]
    try:
        with mode, torch.no_grad():
            yield
    finally:
        for hook in hooks:
            hook.remove()
