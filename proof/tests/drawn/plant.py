"""Plants a drawn fault: replaces the kernel of a dispatcher's operator with one that corrupts its result.

On a GPU, only CUDA tensors are corrupted. On the CPU, float64 results stay correct: all others are compared with them.
"""

import mmap
import struct
import typing as t

import torch

from proof.tests.drawn.families import Drawn

#: The format of a fault's counters in memory that is shared with forked processes.
_FORMAT = "qqd"
#: Integer types for viewing a format's bits, by the format's width.
_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


class Counts:
    """Counts a wrapped operator's calls and faults. ``active`` switches the fault on and off."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, struct.calcsize(_FORMAT))
        self.active = True

    def read(self) -> tuple[int, int]:
        calls, faults, _unused = struct.unpack(_FORMAT, self.memory[: struct.calcsize(_FORMAT)])
        return calls, faults

    def add(self, calls: int = 0, faults: int = 0) -> None:
        totals = self.read()
        self.memory[:] = struct.pack(_FORMAT, totals[0] + calls, totals[1] + faults, 0.0)


def overload(full: str) -> t.Any:
    """Return the operator with a name such as ``aten::add.Tensor``, or None if torch.ops does not have it."""
    base, _unused, name = full.partition("::")[2].partition(".")
    return getattr(getattr(torch.ops.aten, base, None), name or "default", None)


def written(operator: t.Any) -> list[int]:
    """Return the positions of the arguments that the operator writes to."""
    aliases = [argument.alias_info for argument in operator._schema.arguments]
    return [number for number, alias in enumerate(aliases) if alias is not None and alias.is_write]


def tensors(value: t.Any) -> t.Iterator[torch.Tensor]:
    """Yield the tensors in an operator's arguments or result."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors(item)


def plant(drawn: Drawn, device: str, counts: Counts) -> torch.library.Library:
    """Replace the operator's kernel for as long as the returned library exists."""
    operator, busy, key, counted = overload(drawn.target), [False], device.upper(), [0]
    kernel, last = torch.library.get_kernel(operator, key), LastResults()
    outputs = written(operator)

    def wrapped(keys: t.Any, *inputs: t.Any, **keywords: t.Any) -> t.Any:
        arguments = arguments_of(operator, inputs)
        if busy[0] or not counts.active:
            return kernel.call_boxed(keys, *arguments, **keywords)
        busy[0] = True
        try:
            # Check the condition before the call, because the operator may write to its input.
            applies = _applies(drawn, list(tensors((arguments, keywords))), device, counted)
        finally:
            busy[0] = False
        result = kernel.call_boxed(keys, *arguments, **keywords)
        busy[0] = True
        try:
            results = list(tensors(result)) or [
                tensor for number in outputs if number < len(arguments) for tensor in tensors(arguments[number])
            ]
            counts.add(calls=1)
            if applies and drawn.defect:
                with torch._C._AutoDispatchBelowAutograd():
                    # The first tensor of a list may be empty, and a kernel for lists is wrong in the next one then.
                    for tensor in [result for result in results if result.numel()][:1]:
                        counts.add(faults=int(_spoiled(drawn, tensor, device, last)))
        except (RuntimeError, TypeError, IndexError):
            # Some results cannot be changed, for example if their elements overlap.
            pass
        finally:
            busy[0] = False
        return result

    library = torch.library.Library("aten", "IMPL")
    library.impl(operator, wrapped, key, with_keyset=True, allow_override=True)
    return library


def arguments_of(operator: t.Any, inputs: t.Sequence[t.Any]) -> list[t.Any]:
    """Return an operator's inputs, in which each number that torch had wrapped is a tensor of their precision."""
    is_double = any(tensor.dtype in (torch.float64, torch.complex128) for tensor in tensors(inputs))
    takes_tensor = [str(argument.type) == "Tensor" for argument in operator._schema.arguments]
    return [
        _tensor(value, is_double) if is_tensor and isinstance(value, (bool, int, float, complex)) else value
        for value, is_tensor in zip(inputs, takes_tensor)
    ] + list(inputs[len(takes_tensor) :])


def _tensor(number: complex, is_double: bool) -> torch.Tensor:
    if not is_double or isinstance(number, int):
        return torch.tensor(number)
    return torch.tensor(number, dtype=torch.complex128 if isinstance(number, complex) else torch.float64)


def _applies(drawn: Drawn, inputs: t.Sequence[torch.Tensor], device: str, counted: list[int]) -> bool:
    double = (torch.float64, torch.complex128)
    if device == "cpu" and any(tensor.dtype in double for tensor in inputs):
        return False
    if drawn.condition == "backward":
        return torch._C._current_graph_task_id() != -1
    if drawn.condition == "layout":
        return any(_LAYOUTS[drawn.value](tensor) for tensor in inputs if tensor.layout is torch.strided)
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


def _spoiled(drawn: Drawn, result: torch.Tensor, device: str, last: "LastResults") -> bool:
    """Change a result if the fault's condition holds; return whether it was changed."""
    if result.layout is not torch.strided or not result.numel() or result.device.type != device:
        return False
    if device == "cpu" and result.dtype in (torch.float64, torch.complex128):
        return False
    condition, value = drawn.condition, drawn.value
    if condition == "above 2^" and result.numel() <= 2 ** int(value):
        return False
    if condition == "beyond 2 GiB" and result.numel() * result.element_size() <= 2**31:
        return False
    if condition == "odd" and (not result.dim() or result.shape[-1] % 2 == 0):
        return False
    if condition == "only" and result.dtype is not getattr(torch, str(value)):
        return False
    if condition == "complex" and not result.is_complex():
        return False
    return bool(_DEFECTS[drawn.defect](drawn, result, last))


class LastResults:
    """The last result of an operator for each shape and format."""

    def __init__(self) -> None:
        self.results: dict[t.Any, torch.Tensor] = {}


def _real(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _scale(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if not _real(result):
        return False
    result.mul_(1 + drawn.amount)
    return True


def _offset(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if result.dtype is torch.bool:
        return False
    result.add_(abs(drawn.amount) * float(result.abs().max().real) + 1e-3 if _real(result) else 1)
    return True


def _lane(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if not result.dim() or result.shape[-1] < 2:
        return False
    left = drawn.place % result.shape[-1]
    result[..., left].copy_(result[..., left - 1].clone())
    return True


def _last(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if result.numel() < 2:
        return False
    index = tuple(size - 1 for size in result.shape)
    if result.dtype is torch.bool:
        result[index].logical_not_()
    else:
        result[index].add_(1).mul_(2)
    return True


def _batch(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if result.dim() < 2 or result.shape[0] < 2:
        return False
    result[-1].zero_()
    return True


def _rounding(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if not result.is_floating_point() or result.element_size() == 1:
        return False
    bits = int(drawn.amount) if result.element_size() > 2 else min(3, int(drawn.amount))
    result.view(_INTEGERS[result.element_size()]).bitwise_and_(-(1 << bits))
    return True


def _flushed(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if not result.is_floating_point():
        return False
    small = (result != 0) & (result.abs() < torch.finfo(result.dtype).tiny)
    if torch.cuda.is_available() and result.is_cuda and torch.cuda.is_current_stream_capturing():
        result.masked_fill_(small, 0)
        return True
    if not bool(small.any()):
        return False
    result.masked_fill_(small, 0)
    return True


def _nan(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if not result.is_floating_point():
        return False
    if not (result.is_cuda and torch.cuda.is_current_stream_capturing()) and not bool(result.isnan().any()):
        return False
    result.nan_to_num_(0.0, float("inf"), float("-inf"))
    return True


def _repeated(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    key = (tuple(result.shape), result.dtype)
    if key in last.results:
        result.copy_(last.results[key])
        return True
    last.results[key] = result.clone()
    return False


def _biased(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if not result.is_floating_point():
        return False
    result.add_(abs(drawn.amount))
    return True


def _correlated(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    if result.numel() < 16 or not result.is_floating_point():
        return False
    flat = result.clone().reshape(-1)
    part = drawn.place % 7 + 1
    flat[part::8] = flat[part - 1 :: 8][: len(flat[part::8])]
    result.copy_(flat.reshape(result.shape))
    return True


def _tail(drawn: Drawn, result: torch.Tensor, last: LastResults) -> bool:
    """Replace the values above the 0.999 quantile with that quantile."""
    if result.numel() < 2000 or not result.is_floating_point():
        return False
    few = result.reshape(-1)[: 1 << 20].float()
    result.clamp_(max=float(few.kthvalue(max(1, int(0.999 * few.numel())))[0]))
    return True


_DEFECTS: dict[str, t.Callable[[Drawn, torch.Tensor, LastResults], bool]] = {
    "scale": _scale, "offset": _offset, "lane": _lane, "last": _last, "last of batch": _batch, "rounding": _rounding,
    "flushed": _flushed, "NaN swallowed": _nan, "repeated": _repeated, "biased": _biased, "correlated": _correlated,
    "tail": _tail,
}  # fmt: skip
