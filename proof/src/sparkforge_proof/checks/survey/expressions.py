"""The functions that the expressions of ``panels`` and ``compositions`` call."""

from __future__ import annotations

import functools
import math
import typing as t

from ..bounds import torch
from ..kernels import triton_kernels


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


def _fine(*values: torch.Tensor) -> list[torch.Tensor]:
    """Return irrational numbers in float64, and of each the bits after the 24th behind the point."""
    return [part for value in values for part in (value, value.mul(2.0**24).frac())]


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
    return triton_kernels.load_kernels(triton_kernels.TABLES["kernels"])["double"]


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

    custom: t.Any = torch.ops.sparkforge_proof

    def large(x: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
        """Return -1, 0 and 1 in a large tensor with one 2, made from ``x``."""
        values, count = small(dtype, x)[0].reshape(-1).sign(), math.prod(shape)
        values = custom.scaled(values.repeat(count // len(values) + 1)[:count], 1)
        return torch.where(torch.arange(count, device=x.device) == count - 9, 2, values).view(shape)

    def long(x: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...], dim: int) -> list[torch.Tensor]:
        w = large(x, dtype, shape)
        sums = [w.sum(dim, dtype=torch.float32), (w > 0).sum(dim)]
        return [*sums, w.argmax(dim), (-w).argmin(dim), w.amax(dim)]

    def spread(x: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...], dim: int) -> torch.Tensor:
        """Tell whether variances agree with exact sums."""
        w, count = large(x, dtype, shape), shape[dim]
        squares, total = (each.sum(dim, dtype=torch.float32) for each in (w.square(), w))
        return (w.float().var(dim) * count - squares + total**2 / count).abs() < 900

    def ordered(dtype: torch.dtype, x: torch.Tensor) -> torch.Tensor:
        """Return numbers of 16 bits near 1, of which neighbours differ, as a picture."""
        patterns = torch.arange(90_300, device=x.device) * 1009 % 4095 + 15_360
        return t.cast("torch.Tensor", custom.scaled(patterns.short().view(dtype), 1)).view(1, 1, 300, 301)

    def shifted(dtype: torch.dtype, x: torch.Tensor, y: torch.Tensor, factor: int = 0) -> list[torch.Tensor]:
        """Return integers shifted by less than their width, or by so many times more, or always more."""
        a, b = small(dtype, x, y)
        b = b.abs() * factor if factor else b.abs() % 8
        return [a << b, a >> b, 1 << b, *([torch.bitwise_left_shift(a.long(), 66)] if factor else [])]

    def subnormal(x: torch.Tensor) -> list[torch.Tensor]:
        """Return results of subnormal numbers, times powers of two that make them normal."""
        z = small(torch.float32, x)[0]
        least = custom.scaled(z * 2.0**-126, 2.0**-23)
        exact = [each * 2.0**126 * 2.0**23 for each in (least, least.sum(-1), z * 2.0**-126 * 2.0**-23)]
        return [*exact, least.abs().amax(0) > 0, least == 0, (least > 0).sum(0)]

    def extremes(dtype: torch.dtype, x: torch.Tensor) -> list[torch.Tensor]:
        """Return both positions of extrema, which one loop may compute, and whether means are their equal numbers."""
        z = small(dtype, x)[0].flatten(1)
        equal = z[:, :1].float().expand(-1, 8).mean(1) == z[:, 0]
        return [z.argmax(0), z.argmin(0), z.argmax(-1), z.argmin(-1), equal]

    named = (long, spread, ordered, shifted, subnormal, extremes, cast, rows, small, doubled, _again, _fine, _kept,
             _likely)  # fmt: skip
    functions: dict[str, t.Any] = {function.__name__.lstrip("_"): function for function in named}
    return {**functions, "norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]), "custom": custom}


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
