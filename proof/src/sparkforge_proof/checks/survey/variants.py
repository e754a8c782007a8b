"""Other ways to call an operator from the catalogue: other layouts and numbers, ``out=``, a CUDA graph."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import platform
import typing as t

from ..bounds import difference, torch
from .rounding import inputs, misfit, misfits, on_the_host, tensors, transform
from .table import patterns

#: The names of ways to call an operator.
STRIDED, TRANSPOSED, PERMUTED, IN_PLACE, OUT = "strided", "transposed", "permuted", "in place", "out="
EXPANDED, WITH_NAN, SUBNORMAL, GRAPH = "expanded", "NaN", "subnormal", "graph"
OVERLAPPING, SIZE_ONE, OFFSET, PADDED, LAZY = "overlapping", "size-one", "offset", "padded", "lazy"
#: Layouts in which several elements share an address, which changes the numbers.
SAME_ADDRESS = (EXPANDED, OVERLAPPING)
#: Classes in the catalogue whose operators accept any numbers, so that their inputs can be replaced.
TAKE_ANY = ("UnaryUfuncInfo", "BinaryUfuncInfo", "ReductionOpInfo", "ForeachFuncInfo")
#: Prefixes of other operators that accept a NaN. Linear algebra libraries may crash or loop forever.
TAKE_NAN = ("nn.functional.", "softmax", "log_softmax", "cum", "logsumexp", "logcumsumexp", "clamp", "lerp", "where")
#: Operators by what they do; see ``patterns.txt``.
(
    MOVES, NAN_IS_ANY, CHOOSE_ONE, LIBRARIES, PLACES, DIRECT, CAPTURED, PRODUCTS, UNDERFLOWS, ATOMIC, CHOOSES,
) = patterns(
    "moves nan_is_any choose_one libraries places direct captured products underflows atomic chooses"
)  # fmt: skip
#: Classes whose kernels never synchronise, so that a graph can capture them. After a failed capture, every later GPU
#: call in the process fails (torch 2.11).
IN_GRAPHS = ("UnaryUfuncInfo", "BinaryUfuncInfo")


def is_known(sample: t.Any, dtype: torch.dtype) -> bool:
    """Tell whether a sample is float32 on an x86_64 CPU or a GPU, where more values were calibrated.

    Hardware units for 16-bit formats, such as AMX, flush subnormal numbers.
    """
    if dtype is not torch.float32:
        return False
    kinds = {tensor.device.type for tensor in inputs(sample)}
    return platform.machine() == "x86_64" if kinds == {"cpu"} else kinds == {"cuda"}


def takes_nan(name: str, any_number: bool, known: bool, gpu: bool) -> bool:
    """Tell whether an operator has a single right result for a NaN.

    :param any_number: whether the operator accepts any numbers or only moves values.
    :param known: see :func:`is_known`.
    """
    if name.startswith("fft."):
        return True
    if gpu and name == "unique":
        # A GPU may return each NaN separately.
        return False
    if not known and PRODUCTS.search(name):
        # With a row of 41 numbers in bfloat16, torch 2.13 on a CPU multiplies the next row's NaN by a padding of zero.
        return False
    products = PRODUCTS.search(name) and (gpu or "conv" in name)
    if known and not (LIBRARIES.match(name) or PLACES.search(name) or products):
        return True
    return not NAN_IS_ANY.search(name) and (any_number or name.startswith(TAKE_NAN))


def takes_subnormal(name: str, dtype: torch.dtype, known: bool, gpu: bool, full: bool) -> bool:
    """Tell whether an operator is as accurate for subnormal numbers as for others.

    :param known: see :func:`is_known`.
    :param full: whether to include float16 on a GPU, where it is computed in float32 without underflow.
    """
    half = full and gpu and dtype is torch.float16
    if not (known or half) or (gpu and (ATOMIC.search(name) or PRODUCTS.search(name))):
        # A library may split a float32 product into parts of another format.
        return False
    # Masked operators compute in float16.
    wide = half and not name.startswith("masked")
    return not (LIBRARIES.match(name) or (UNDERFLOWS.search(name) and not wide))


def takes_equal(name: str, gpu: bool = True) -> bool:
    """Tell whether an operator outside ``TAKE_ANY`` supports equal numbers that share an address.

    :param gpu: whether the operator runs on a GPU, where fewer operators were calibrated.
    """
    if not gpu:
        return not (LIBRARIES.match(name) or CHOOSE_ONE.search(name))
    if "batch_norm" in name:
        # The difference between equal numbers and their mean is a rounding error, divided by almost zero.
        return False
    return name.startswith(TAKE_NAN) and not NAN_IS_ANY.search(name)


def transpose(sample: t.Any, axis: int = -1) -> t.Any:
    """Return the sample with the same numbers in another memory order: two axes swapped, or channels last.

    :param axis: the second of the two neighbouring axes. Channels come last instead in four dimensions if it is -1.
    """

    def change(value: torch.Tensor) -> torch.Tensor:
        if value.dim() < 1 - axis:
            return value
        plain = value.detach()
        if plain.dim() == 4 and axis == -1:
            turned = plain.contiguous(memory_format=torch.channels_last)
        else:
            turned = plain.transpose(axis, axis - 1).contiguous().transpose(axis, axis - 1)
        return turned.requires_grad_(value.requires_grad)

    return map_tensors(sample, change)


def map_tensors(sample: t.Any, change: t.Callable[[torch.Tensor], torch.Tensor]) -> t.Any:
    """Return the sample with a function applied to each strided tensor."""
    return transform(
        sample,
        lambda value: change(value) if isinstance(value, torch.Tensor) and value.layout is torch.strided else value,
    )


def repeat(sample: t.Any, layout: str, numbers: bool) -> t.Any:
    """Return the sample with equal entries at the same address, or with rows that overlap by one element.

    :param numbers: whether to skip tensors of indices, since a repeated index writes to the same element twice.
    """
    lay = _expanded if layout == EXPANDED else _overlapping

    def change(value: torch.Tensor) -> torch.Tensor:
        return value if numbers and not is_float(value) else lay(value).requires_grad_(value.requires_grad)

    return map_tensors(sample, change)


def _expanded(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor with the first entry expanded over all entries."""
    return value.detach()[:1].expand(value.shape) if value.dim() else value.detach()


def _overlapping(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor in which each row begins with the last element of the previous row."""
    steps, step = [], 1
    for size in reversed(value.shape):
        steps.append(step)
        step = max(1, step * size - (1 if len(steps) == 1 and value.dim() > 1 else 0))
    plain = value.detach().contiguous()
    return plain.as_strided(value.shape, steps[::-1]) if value.numel() else plain


def with_layout(sample: t.Any, layout: str) -> t.Any:
    """Return the sample with its numbers in another layout, or None if none of its tensors can have that layout."""
    shapes = [tensor.shape for tensor in inputs(sample) if tensor.layout is torch.strided and tensor.numel()]
    if layout == STRIDED:
        return sample.noncontiguous() if any(shape.numel() > 1 for shape in shapes) else None
    if layout == TRANSPOSED:
        return transpose(sample) if any(len(shape) > 1 for shape in shapes) else None
    if layout == PERMUTED:
        return transpose(sample, -2) if any(len(shape) > 2 for shape in shapes) else None
    if layout == SIZE_ONE:
        return map_tensors(sample, _with_unused_strides) if any(1 in shape for shape in shapes) else None
    if layout == OFFSET:
        return map_tensors(sample, _with_offset) if shapes else None
    if layout == LAZY:
        # Libraries conjugate only matrices that they transpose.
        turned = transpose(map_tensors(sample, lambda value: value.conj_physical().requires_grad_(value.requires_grad)))
        return map_tensors(turned, lambda value: value.detach().conj().requires_grad_(value.requires_grad))
    if layout == PADDED:
        return map_tensors(sample, _with_padding) if any(len(shape) > 1 for shape in shapes) else None
    return sample


def _with_unused_strides(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor with stride 0 or 13 in dimensions of size one, where the stride has no effect."""
    plain, odd = value.detach().contiguous(), itertools.cycle((0, 13))
    steps = [next(odd) if size == 1 else step for size, step in zip(plain.shape, plain.stride())]
    return plain.as_strided(plain.shape, steps).requires_grad_(value.requires_grad)


def _with_offset(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor that begins three elements after the start of its storage."""
    memory = value.new_ones(value.numel() + 3)
    memory[3:] = value.detach().reshape(-1)
    return memory[3:].view(value.shape).requires_grad_(value.requires_grad)


def _with_padding(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose rows begin an odd number of elements apart, with two or three unused ones between them."""
    if value.dim() < 2:
        return value
    width = value.shape[-1]
    memory = value.new_ones(*value.shape[:-1], width + 3 - width % 2)
    memory[..., :width] = value.detach()
    return memory[..., :width].requires_grad_(value.requires_grad)


def batch_of_two(sample: t.Any) -> t.Any:
    """Return the sample with each matrix or batch repeated as a batch of two, at the same address."""
    return map_tensors(sample, lambda value: value if value.dim() < 2 else value.detach().expand(2, *value.shape))


def many(sample: t.Any, count: int, name: str = "") -> t.Any:
    """Return a sample with a batch of many matrices, or lists of many tensors, some of which are empty.

    :param name: the operator's. Reflectors I - tau v v' only change signs: their gradient has a pole at tau |v|^2 = 1.
    """

    def visit(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor) and value.layout is torch.strided and not is_list:
            batch = value.detach().expand(count, *value.shape)
            if is_float(value) and value.dim() > 1:
                # Each matrix keeps its shape and properties, such as being definite.
                factors = torch.linspace(0.5, 1.0, count, dtype=torch.float64, device=value.device)
                if reflects and (value is sample.input or value is sample.args[0]):
                    factors = (-1.0) ** torch.arange(count, device=value.device)
                batch = batch * factors.to(value.dtype).reshape(count, *[1] * value.dim())
            return batch.contiguous().requires_grad_(value.requires_grad)
        if is_list and isinstance(value, list) and value:
            parts = [value[number % len(value)] for number in range(count)]
            return [copied(part, number % 7 == 3) for number, part in enumerate(parts)]
        if isinstance(value, tuple) and not is_list and all(type(item) is int for item in value):
            # These are dimensions, before which there is now another one.
            return tuple(item + (item >= 0) for item in value)
        return value

    def copied(value: t.Any, is_emptied: bool) -> t.Any:
        if not isinstance(value, torch.Tensor):
            return value
        part = value.detach()[:0] if is_emptied and value.dim() else value.detach()
        return part.clone().requires_grad_(value.requires_grad)

    is_list, reflects = isinstance(sample.input, list), name.endswith(("ormqr", "householder_product"))
    changed = copy.copy(sample)
    changed.input, changed.args = visit(sample.input), tuple(map(visit, sample.args))
    changed.kwargs = {key: visit(value) for key, value in sample.kwargs.items()}
    return changed


def with_scalars(sample: t.Any) -> t.Any:
    """Return the sample with each input but the first replaced by its first number, in a tensor without dimensions."""
    first = {id(tensor) for tensor in tensors([sample.input])}

    def change(value: torch.Tensor) -> torch.Tensor:
        if id(value) in first or not value.numel():
            return value
        return value.detach().reshape(-1)[0].clone().requires_grad_(value.requires_grad)

    return map_tensors(sample, change)


def make_subnormal(sample: t.Any, larger: float = 1.0, count: int | None = 1) -> t.Any:
    """Return the sample with subnormal numbers in its first inputs.

    The product of two subnormal numbers is zero, and the sum of a subnormal and a normal number is normal.

    :param larger: a factor on the numbers, which are then in float64.
    :param count: the number of inputs to change, or None for all.
    """
    first = set(map(id, tensors([sample.input, *sample.args][:count])))

    def change(value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point() or (count is not None and id(value) not in first):
            return value
        # Subnormal float16 numbers have only 10 bits.
        small = value.detach() * (torch.finfo(value.dtype).tiny / (16 if value.dtype is torch.float16 else 128))
        return small if larger == 1 else small.double() * larger

    return map_tensors(sample, change)


def with_nan(sample: t.Any, subnormal: bool = False, first: bool = False, number: float = math.nan) -> t.Any:
    """Return the sample with a NaN in the middle of each tensor, optionally with a subnormal number after it.

    :param first: whether to change only the first input.
    :param number: the number to use, such as a negative NaN or an infinity.
    """

    def change(value: torch.Tensor) -> torch.Tensor:
        if not value.numel() or (first and value is not sample.input):
            return value
        copy, middle = value.detach().clone(memory_format=torch.contiguous_format), value.numel() // 2
        if value.is_complex() and not value.is_cuda:
            parts = [complex(math.inf, 0.5), complex(0.5, -math.inf), complex(-math.inf, math.inf)]
            parts = [complex("nan+nanj")] if math.isnan(number) else parts[: copy.numel() - middle]
            copy.view(-1)[middle : middle + len(parts)] = torch.tensor(parts, dtype=copy.dtype)
        elif value.is_floating_point():
            # Make it on its device: a conversion on the CPU yields a negative NaN, which CUDA sorts differently.
            copy.view(-1)[middle : middle + 1].fill_(number)
            if subnormal:
                copy.view(-1)[middle + 1 : middle + 2].fill_(torch.finfo(copy.dtype).tiny / 8)
        return copy

    return map_tensors(sample, change)


def in_order(data: torch.Tensor, indices: torch.Tensor, expected: torch.Tensor) -> bool:
    """Tell whether indices sort a tensor like those expected along some dimension; equal numbers may change places."""
    data, indices, expected = on_the_host([data.nan_to_num(7.0), indices, expected])
    for dim in range(data.dim()):
        # A GPU's indices may be beyond the dimension.
        with contextlib.suppress(RuntimeError):
            is_same = torch.equal(data.gather(dim, indices), data.gather(dim, expected))
            if is_same and torch.equal(indices.sort(dim).values, expected.sort(dim).values):
                return True
    return bool(torch.equal(indices, expected))


def lost_nan(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error if a dense result contains no NaN although the reference does."""
    worst = 0.0
    for actual, expected in zip(made, exact):
        if is_float(expected) and not (is_float(actual) and bool(actual.isnan().any())):
            worst = max(worst, misfits(actual, expected, expected.isnan()))
    return worst


def misplaced_nan(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error if a result and the reference have a NaN in different elements.

    An element whose reference exceeds the format's range is skipped, since intermediate infinities may cancel there.
    """
    worst = 0.0
    for actual, expected in zip(made, exact):
        if is_float(expected) and is_float(actual):
            if actual.shape != expected.shape:
                return misfit(difference(actual, expected, actual))
            beyond = expected.isfinite() & (expected.abs() > torch.finfo(actual.dtype).max)
            worst = max(worst, misfits(actual, expected, ~beyond & (actual.isnan() != expected.isnan())))
    return worst


def misplaced_infinity(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error if a result and the reference have different NaN or infinities."""
    worst = misplaced_nan(made, exact)
    for actual, expected in zip(made, exact):
        if is_float(expected) and expected.is_complex():
            expected, actual = (torch.view_as_real(x.resolve_conj()) for x in (expected, actual))
        if is_float(expected) and is_float(actual):
            large = expected.abs() > torch.finfo(actual.dtype).max
            wrong = (expected.isinf() & (actual != expected)) | (actual.isinf() & ~large)
            worst = max(worst, misfits(actual, expected, wrong))
    return worst


def is_float(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor is strided and contains floating-point or complex numbers."""
    return tensor.layout is torch.strided and (tensor.is_floating_point() or tensor.is_complex())


def misplaced_values(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error if a value was changed while it was moved."""
    worst = 0.0
    for actual, expected in zip(made, exact):
        if actual.shape != expected.shape:
            return misfit(difference(actual, expected, actual))
        wrong = actual.to(expected.dtype).nan_to_num(7.0) != expected.nan_to_num(7.0)
        worst = max(worst, misfits(actual, expected, wrong))
    return worst


def select(data: torch.Tensor, results: t.Sequence[torch.Tensor]) -> bool:
    """Tell whether a pair of results is values of a tensor and their indices along some dimension."""
    if len(results) != 2 or is_float(results[1]) or results[0].shape != results[1].shape or not data.dim():
        return True
    # An index beyond a dimension is an error on the CPU; on a GPU it would break the process's CUDA context.
    data, values, indices = on_the_host([data, *results])
    for dim in range(data.dim()):
        is_reduced = values.dim() < data.dim()
        index, expected = (indices.unsqueeze(dim), values.unsqueeze(dim)) if is_reduced else (indices, values)
        with contextlib.suppress(RuntimeError):
            if torch.equal(data.gather(dim, index).nan_to_num(7.0), expected.nan_to_num(7.0)):
                return True
    return False


def in_a_graph(
    operator: t.Any, sample: t.Any, plain: t.Sequence[torch.Tensor], full: bool = False
) -> list[torch.Tensor] | None:
    """Return the results of replaying a CUDA graph that captured the operator, or None if it cannot be captured.

    :param full: whether to capture operators that are not element-wise as well, if they do not synchronise.
    """
    if not plain or not all(tensor.is_cuda for tensor in plain):
        return None
    if type(operator).__name__ not in IN_GRAPHS and not (full and _never_waits(operator, sample)):
        return None
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.no_grad(), torch.cuda.stream(side):
        # Unlike torch.cuda.graph(), this does not collect garbage first.
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            value = operator(sample.input, *sample.args, **sample.kwargs)
        finally:
            graph.capture_end()
    results = tensors(sample.output_process_fn_grad(value))
    graph.replay()
    torch.cuda.synchronize()
    return [tensor.clone() for tensor in results]


def _never_waits(operator: t.Any, sample: t.Any) -> bool:
    """Tell whether an operator never synchronises with the GPU; False for most libraries, without trying."""
    name = str(operator.name)
    is_calibrated = takes_equal(name) or (type(operator).__name__ in TAKE_ANY and not NAN_IS_ANY.search(name))
    if not (is_calibrated or MOVES.match(name) or PRODUCTS.search(name) or CAPTURED.match(name)):
        return False
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        with torch.no_grad():
            operator(sample.input, *sample.args, **sample.kwargs)
    except RuntimeError:
        return False
    finally:
        torch.cuda.set_sync_debug_mode(before)
    return True


def with_out(operator: t.Any, sample: t.Any, plain: t.Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
    """Return the tensors with gaps that the operator wrote through ``out=``, or None for results without strides."""
    if not plain or any(tensor.layout is not torch.strided for tensor in plain):
        return None
    targets = [_with_gaps(tensor) for tensor in plain]
    with torch.no_grad():
        operator(sample.input, *sample.args, **sample.kwargs, out=targets[0] if len(targets) == 1 else tuple(targets))
    return targets


def _with_gaps(like: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same shape and format that uses only every second element of its memory."""
    value = float("nan") if like.is_floating_point() or like.is_complex() else 1
    return torch.full((*like.shape, 2), value, dtype=like.dtype, device=like.device)[..., 0]
