"""Plants a drawn fault: the kernel of an operator of the dispatcher is replaced by one that spoils what it returns.

On a GPU only CUDA tensors are concerned. On the CPU float64 is spared, for it is what all else is compared with.
"""

import mmap
import struct
import typing as t

import torch

from proof.tests.drawn.families import Drawn

#: What a fault's calls and sizes are counted in, which forks share.
_FORMAT = "qqd"
#: Integer views by the width of a format.
_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


class Seen:
    """What the wrapped operator did: calls and faults; ``active`` switches the fault off and on, for a program that
    computes both.
    """

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, struct.calcsize(_FORMAT))
        self.active = True

    def read(self) -> tuple[int, int]:
        calls, faults, _unused = struct.unpack(_FORMAT, self.memory[: struct.calcsize(_FORMAT)])
        return calls, faults

    def add(self, calls: int = 0, faults: int = 0) -> None:
        before = self.read()
        self.memory[:] = struct.pack(_FORMAT, before[0] + calls, before[1] + faults, 0.0)


def overload(full: str) -> t.Any:
    """Return the operator of a name such as ``aten::add.Tensor``; None where torch.ops has none."""
    base, _unused, name = full.partition("::")[2].partition(".")
    return getattr(getattr(torch.ops.aten, base, None), name or "default", None)


def written(operator: t.Any) -> list[int]:
    """Return which arguments the operator writes to."""
    return [
        number
        for number, one in enumerate(operator._schema.arguments)
        if one.alias_info is not None and one.alias_info.is_write
    ]


def tensors(value: t.Any) -> t.Iterator[torch.Tensor]:
    """Return the tensors in whatever an operator takes or returns."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors(one)


def plant(drawn: Drawn, device: str, seen: Seen) -> torch.library.Library:
    """Replace the operator's kernel; it is there as long as what is returned is kept."""
    operator, busy, key, counted = overload(drawn.target), [False], device.upper(), [0]
    kernel, before = torch.library.get_kernel(operator, key), Before()
    places = written(operator)

    wanted = [str(one.type) == "Tensor" for one in operator._schema.arguments]

    def wrapped(keys: t.Any, *given: t.Any, **words: t.Any) -> t.Any:
        # A number that torch has wrapped in a tensor arrives as a number, as exact as the tensors are.
        wide = any(one.dtype in (torch.float64, torch.complex128) for one in tensors(given))
        arguments = [
            _tensor(one, wide) if number and isinstance(one, (bool, int, float, complex)) else one
            for one, number in zip(given, wanted)
        ] + list(given[len(wanted) :])
        if busy[0] or not seen.active:
            return kernel.call_boxed(keys, *arguments, **words)
        busy[0] = True
        try:
            # Before it is called: what it writes to may be its input.
            applies = _applies(drawn, list(tensors((arguments, words))), device, counted)
        finally:
            busy[0] = False
        found = kernel.call_boxed(keys, *arguments, **words)
        busy[0] = True
        try:
            outputs = list(tensors(found)) or [
                one for number in places if number < len(arguments) for one in tensors(arguments[number])
            ]
            seen.add(calls=1)
            if applies and drawn.defect:
                with torch._C._AutoDispatchBelowAutograd():
                    for one in outputs[:1]:
                        seen.add(faults=int(_spoiled(drawn, one, device, before)))
        except (RuntimeError, TypeError, IndexError):
            # A result that cannot be changed, such as one whose elements lie on each other.
            pass
        finally:
            busy[0] = False
        return found

    library = torch.library.Library("aten", "IMPL")
    library.impl(operator, wrapped, key, with_keyset=True, allow_override=True)
    return library


def _tensor(number: complex, wide: bool) -> torch.Tensor:
    if not wide or isinstance(number, int):
        return torch.tensor(number)
    return torch.tensor(number, dtype=torch.complex128 if isinstance(number, complex) else torch.float64)


def _applies(drawn: Drawn, given: t.Sequence[torch.Tensor], device: str, counted: list[int]) -> bool:
    wide = (torch.float64, torch.complex128)
    if device == "cpu" and any(one.dtype in wide for one in given):
        return False
    if drawn.condition == "backward":
        return torch._C._current_graph_task_id() != -1
    if drawn.condition == "layout":
        return any(_LAYOUTS[drawn.value](one) for one in given if one.layout is torch.strided)
    if drawn.condition == "graph":
        return torch.cuda.is_current_stream_capturing()
    if drawn.condition == "stream":
        return bool(torch.cuda.current_stream() != torch.cuda.default_stream())
    if drawn.condition == "every n-th call":
        counted[0] += 1
        return counted[0] % int(drawn.value) == 0
    return True


_LAYOUTS: dict[str, t.Callable[[torch.Tensor], bool]] = {
    "strided": lambda x: x.dim() > 0 and x.numel() > 1 and x.stride(-1) not in (0, 1),
    "transposed": lambda x: x.dim() > 1 and x.numel() > 1 and x.stride(-1) > x.stride(-2) > 0,
    "channels last": lambda x: (
        x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
    ),
    "expanded": lambda x: any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape)),
}


def _spoiled(drawn: Drawn, one: torch.Tensor, device: str, before: "Before") -> bool:
    """Change a result where the fault's condition holds; return whether anything was done."""
    if one.layout is not torch.strided or not one.numel() or one.device.type != device:
        return False
    if device == "cpu" and one.dtype in (torch.float64, torch.complex128):
        return False
    condition, value = drawn.condition, drawn.value
    if condition == "above 2^" and one.numel() <= 2 ** int(value):
        return False
    if condition == "beyond 2 GiB" and one.numel() * one.element_size() <= 2**31:
        return False
    if condition == "odd" and (not one.dim() or one.shape[-1] % 2 == 0):
        return False
    if condition == "only" and one.dtype is not getattr(torch, str(value)):
        return False
    if condition == "complex" and not one.is_complex():
        return False
    return bool(_DEFECTS[drawn.defect](drawn, one, before))


class Before:
    """What an operator returned the last time, by shape."""

    def __init__(self) -> None:
        self.kept: dict[t.Any, torch.Tensor] = {}


def _real(one: torch.Tensor) -> bool:
    return one.is_floating_point() or one.is_complex()


def _scale(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if not _real(one):
        return False
    one.mul_(1 + drawn.amount)
    return True


def _offset(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if one.dtype is torch.bool:
        return False
    one.add_(abs(drawn.amount) * float(one.abs().max().real) + 1e-3 if _real(one) else 1)
    return True


def _lane(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if not one.dim() or one.shape[-1] < 2:
        return False
    left = drawn.place % one.shape[-1]
    one[..., left].copy_(one[..., left - 1].clone())
    return True


def _last(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if one.numel() < 2:
        return False
    at = tuple(size - 1 for size in one.shape)
    if one.dtype is torch.bool:
        one[at].logical_not_()
    else:
        one[at].add_(1).mul_(2)
    return True


def _batch(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if one.dim() < 2 or one.shape[0] < 2:
        return False
    one[-1].zero_()
    return True


def _rounding(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if not one.is_floating_point() or one.element_size() == 1:
        return False
    bits = int(drawn.amount) if one.element_size() > 2 else min(3, int(drawn.amount))
    view = one.view(_INTEGERS[one.element_size()])
    view.bitwise_and_(-(1 << bits))
    return True


def _flushed(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if not one.is_floating_point():
        return False
    small = (one != 0) & (one.abs() < torch.finfo(one.dtype).tiny)
    if torch.cuda.is_available() and one.is_cuda and torch.cuda.is_current_stream_capturing():
        one.masked_fill_(small, 0)
        return True
    if not bool(small.any()):
        return False
    one.masked_fill_(small, 0)
    return True


def _nan(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if not one.is_floating_point():
        return False
    if not (one.is_cuda and torch.cuda.is_current_stream_capturing()) and not bool(one.isnan().any()):
        return False
    one.nan_to_num_(0.0, float("inf"), float("-inf"))
    return True


def _repeated(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    key = (tuple(one.shape), one.dtype)
    if key in before.kept:
        one.copy_(before.kept[key])
        return True
    before.kept[key] = one.clone()
    return False


def _biased(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if not one.is_floating_point():
        return False
    one.add_(abs(drawn.amount))
    return True


def _correlated(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    if one.numel() < 16 or not one.is_floating_point():
        return False
    flat = one.clone().reshape(-1)
    part = drawn.place % 7 + 1
    flat[part::8] = flat[part - 1 :: 8][: len(flat[part::8])]
    one.copy_(flat.reshape(one.shape))
    return True


def _tail(drawn: Drawn, one: torch.Tensor, before: Before) -> bool:
    """Values beyond the 0.999 quantile are those at it."""
    if one.numel() < 2000 or not one.is_floating_point():
        return False
    few = one.reshape(-1)[: 1 << 20].float()
    one.clamp_(max=float(few.kthvalue(max(1, int(0.999 * few.numel())))[0]))
    return True


_DEFECTS: dict[str, t.Callable[[Drawn, torch.Tensor, Before], bool]] = {
    "scale": _scale,
    "offset": _offset,
    "lane": _lane,
    "last": _last,
    "last of batch": _batch,
    "rounding": _rounding,
    "flushed": _flushed,
    "NaN swallowed": _nan,
    "repeated": _repeated,
    "biased": _biased,
    "correlated": _correlated,
    "tail": _tail,
}
