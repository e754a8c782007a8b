"""The functions that the expressions of ``panels`` and ``compositions`` call."""

from __future__ import annotations

import functools
import math
import typing as t

from ..bounds import torch
from ..kernels import triton_source


def _again(function: t.Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Return a function's result; in the backward pass, its inner results are computed again."""
    from torch.utils.checkpoint import checkpoint

    return t.cast("torch.Tensor", checkpoint(function, x, use_reentrant=False))


def _kept(x: torch.Tensor, share: float) -> torch.Tensor:
    """Return a tensor, divided as by dropout; its gradient is a constant if dropout drops the same numbers backward."""
    kept = torch.nn.functional.dropout(x, share)
    return torch.where(kept == 0, x / (1 - share), kept)


def _likely(numbers: torch.Tensor, mean: float, variance: float) -> list[torch.Tensor]:
    """Tell whether random numbers have a mean and a variance, differ, and are not correlated with their neighbours."""
    size, numbers = 6 / len(numbers) ** 0.5, numbers - mean
    products = (numbers[1:] * numbers[:-1]).mean().abs()
    return [numbers.mean().abs() < size, (numbers.var() / variance - 1).abs() < 2 * size, products < variance * size]


@functools.cache
def _library() -> t.Any:
    """Return the definitions of the operators ``custom.scaled`` and ``custom.scale_``."""
    library = torch.library.Library("sparkforge_proof", "DEF")
    library.define("scaled(Tensor x, float factor) -> Tensor")
    library.define("scale_(Tensor(a!) x, float factor) -> ()")
    library.impl("scaled", lambda x, factor: x * factor, "CompositeExplicitAutograd")
    library.impl("scale_", lambda x, factor: (x.mul_(factor), None)[1], "CompositeExplicitAutograd")
    torch.library.register_autograd(
        "sparkforge_proof::scaled",
        lambda ctx, gradient: (gradient * ctx.factor, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]),
    )
    return library


@functools.cache
def _kernel() -> t.Any:
    import triton

    return triton.jit(triton_source.double)


def _functions() -> dict[str, t.Any]:
    """Return the functions that the tables call, by name."""
    _library()

    def doubled(x: torch.Tensor) -> torch.Tensor:
        """Return twice a tensor; on a GPU, a kernel in Triton computes it, and then adds as much in place."""
        if not x.is_cuda:
            return x * 2
        result = torch.empty_like(x)
        kernel[(-(-x.numel() // 64),)](x, result, x.numel(), BLOCK=64)
        return result

    kernel: t.Any = _kernel() if torch.cuda.is_available() else None

    def rows(*tensors: torch.Tensor) -> list[torch.Tensor]:
        """Return tensors with the second and the third dimension exchanged, as models hold queries, keys and values."""
        return [tensor.permute(0, 2, 1, 3) for tensor in tensors]

    def cast(x: torch.Tensor, function: t.Callable[..., torch.Tensor], *arguments: torch.Tensor) -> torch.Tensor:
        """Return what a function returns under autocast to the format of ``x``, for arguments in float32."""
        if x.dtype not in (torch.float16, torch.bfloat16):
            return function(*arguments)
        with torch.autocast(x.device.type, x.dtype):
            return function(*[argument.float() for argument in arguments])

    def small(dtype: torch.dtype, *tensors: torch.Tensor) -> list[torch.Tensor]:
        """Return whole numbers from -8 to 8, in rows of an odd length."""
        tensors = tuple(x[..., : (x.shape[-1] - 1) | 1] for x in tensors)
        return [x.detach().nan_to_num(0, 4, -4).clamp(-4, 4).mul(2).trunc().to(dtype) for x in tensors]

    return {
        "norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        "cast": cast,
        "rows": rows,
        "small": small,
        "again": _again,
        "kept": _kept,
        "likely": _likely,
        "custom": torch.ops.sparkforge_proof,
        "doubled": doubled,
    }


def compiled(text: str) -> t.Any:
    """Return the function of an expression of inputs."""
    names = {"torch": torch, "math": math, "F": torch.nn.functional, "write": _write, "bits": _bits, "signs": _signs}
    names |= {"weights": _weights, **_functions()}
    arguments = "x, y, i, q=None, k=None, v=None, m=None, a=None, b=None, z=None"
    return eval(f"lambda {arguments}: {text}", names)  # noqa: S307 - the tables above are the only source


def _write(x: torch.Tensor, change: t.Callable[[torch.Tensor], t.Any]) -> torch.Tensor:
    """Return a copy of a tensor after a function has changed it in place."""
    copy = x.clone()
    change(copy)
    return copy


def _bits(x: torch.Tensor) -> torch.dtype:
    return {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]


def _signs(x: torch.Tensor) -> torch.Tensor:
    """Return the sign bits of numbers except NaN, through a view in another format."""
    return (x.view(_bits(x)) < 0) & ~x.isnan()


def _weights(x: torch.Tensor, outputs: int, inputs: int, size: int) -> torch.Tensor:
    """Return constant weights of a convolution."""
    values = torch.linspace(-1, 1, outputs * inputs * size**2, dtype=x.dtype, device=x.device)
    return values.view(outputs, inputs, size, size)
