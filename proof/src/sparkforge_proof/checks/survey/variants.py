# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The other ways to call an operator of the catalogue: other layouts, in place, into given tensors, in a graph."""

from __future__ import annotations

import itertools
import math
import platform
import re
import typing as t

from .rounding import inputs, misfits

if t.TYPE_CHECKING:
    import torch

#: How an operator is called, beside plainly.
STRIDED, TRANSPOSED, IN_PLACE, OUT = "strided", "transposed", "in place", "out="
EXPANDED, WITH_NAN, SUBNORMAL, GRAPH = "expanded", "NaN", "subnormal", "graph"
OVERLAPPING, SIZE_ONE, OFFSET = "overlapping", "size-one", "offset"
#: Layouts in which several elements are at one address, so that its numbers are others.
SAME_ADDRESS = (EXPANDED, OVERLAPPING)
#: The classes of the catalogue whose operators take any numbers, so that others can take the place of theirs.
TAKE_ANY = ("UnaryUfuncInfo", "BinaryUfuncInfo", "ReductionOpInfo", "ForeachFuncInfo")
#: How the names of others begin that take a NaN. Libraries of linear algebra may end the process or never end.
TAKE_NAN = ("nn.functional.", "softmax", "log_softmax", "cum", "logsumexp", "logcumsumexp", "clamp", "lerp", "where")
#: What moves values and computes none, so that each arrives as it is, the smallest ones too.
MOVES = re.compile(
    r"(take|index_select|gather|roll|fliplr|flipud|flip|cat|concat|[hvd]stack|column_stack|stack|tile|repeat|repeat_interleave"
    r"|tril|triu|where|masked_fill|masked_select|index_copy|index_fill|narrow|narrow_copy|expand|select|unbind|split|chunk|diag"
    r"|diagonal|diag_embed|rot90|permute|transpose|t|clone|contiguous|movedim|squeeze|unsqueeze|reshape|view|flatten|swapaxes)$"
)
#: Parts of names of what may do anything with one: multiply it with what it pads with, take it for an index.
NAN_IS_ANY = re.compile("conv|attention|embedding|unpool|polynomial|unfold|fold|grid|interpolate|ctc|multi_head|pdist")
#: What returns the place of one of equal values, or takes what lies beside in memory, or the difference of neighbours.
CHOOSE_ONE = re.compile(
    "median|mode|kthvalue|sort|topk|cummax|cummin|arg|max|min|unique|as_strided|gradient|group_norm"
)
#: How the names of those begin that iterate until a library is content.
LIBRARIES = re.compile(
    "linalg|svd|lu|cholesky|qr|geqrf|eig|triangular|pinverse|lstsq|ormqr|lobpcg|pca|fft|stft|istft|logdet|inverse"
    "|matrix_exp"
)
#: What takes a NaN for a place or a degree, may multiply it with what it pads with, counts it, or passes over it where
#: it looks for the greatest.
PLACES = re.compile(
    "attention|embedding|unpool|grid|ctc|multi_head|bucketize|searchsorted|hist|polynomial|mode|[pc]dist"
)
#: What a library computes in so many steps, and functions of a degree: where a NaN goes in one comes out. Not what a
#: GPU eliminates with pivots, nor distances: there it may be passed over where the largest is looked for.
DIRECT = re.compile(
    r"(linalg\.)?(qr|geqrf|householder_product|ormqr|solve_triangular|triangular_solve|cholesky_solve|multi_dot"
    r"|matrix_power|unique)$|.*polynomial"
)
#: What else a GPU's graph may hold, libraries' calls among them.
CAPTURED = re.compile(r"fft\.|(linalg\.)?(solve_triangular|triangular_solve|lu_unpack)$|constant_pad_nd$")
PRODUCTS = re.compile(
    r"(^|[._])(\w*mm|\w*mv|mat\w*mul|v?dot|inner|\w*linear|einsum|tensordot|multi_dot|conv\w*|chain_matmul)$"
)
#: What squares or divides on the way, where subnormal numbers become zero.
UNDERFLOWS = re.compile("norm|dist|std|corrcoef|bessel|lp_pool")
#: What a GPU adds up atomically, which makes zeros of subnormal numbers (PTX: ``atom.add.f32``).
ATOMIC = re.compile(r"index_add|index_reduce\.(mean|prod)|index_put|scatter|put|nll_loss|hist|segment|embedding")
#: What returns some of its numbers, so that all of them may be subnormal.
CHOOSES = re.compile(r"(_foreach_)?(minimum|maximum|fmin|fmax|min|max|amin|amax|aminmax|clamp\w*|index_reduce)\b")
#: The classes whose kernels wait for nobody, so that a graph can capture them: after an error in a capture torch 2.11
#: answers whatever the process asks of the GPU with an error.
IN_GRAPHS = ("UnaryUfuncInfo", "BinaryUfuncInfo")


def is_known(sample: t.Any, dtype: torch.dtype) -> bool:
    """Say whether it is float32 on a device where more was tried than on others, an x86_64 CPU or a GPU: 16 bits have
    units of their own, such as AMX, that flush subnormal numbers.
    """
    import torch

    kinds: set[str] = set()

    def look(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            kinds.add(value.device.type)
        return value

    if dtype is not torch.float32:
        return False
    sample.transform(look)
    return platform.machine() == "x86_64" if kinds == {"cpu"} else kinds == {"cuda"}


def takes_nan(name: str, any_number: bool, known: bool, gpu: bool) -> bool:
    """Say whether an operator has one answer where a NaN goes in.

    :param any_number: it takes any numbers, or moves values.
    :param known: see :func:`is_known`: there it was compared with float64.
    """
    if name.startswith("fft."):
        return True
    if gpu and name == "unique":
        # Of equal ones it may take each for another.
        return False
    products = PRODUCTS.search(name) and (gpu or "conv" in name)
    if known and not (LIBRARIES.match(name) or PLACES.search(name) or products):
        return True
    return not NAN_IS_ANY.search(name) and (any_number or name.startswith(TAKE_NAN))


def takes_subnormal(name: str, dtype: torch.dtype, known: bool, gpu: bool, full: bool) -> bool:
    """Say whether an operator is as exact for subnormal numbers as for others.

    :param known: see :func:`is_known`.
    :param full: whether float16 is asked on a GPU as well, which computes it in float32, where none underflows.
    """
    import torch

    half = full and gpu and dtype is torch.float16
    if not (known or half) or (gpu and (ATOMIC.search(name) or PRODUCTS.search(name))):
        # A library may compute a product of float32 in parts of another format.
        return False
    # What is masked is computed in float16 itself.
    wide = half and not name.startswith("masked")
    return not (LIBRARIES.match(name) or (UNDERFLOWS.search(name) and not wide))


def takes_equal(name: str, gpu: bool = True) -> bool:
    """Say whether an operator that takes not just any number takes equal ones, at one address.

    :param gpu: where fewer were tried.
    """
    if not gpu:
        return not (LIBRARIES.match(name) or CHOOSE_ONE.search(name))
    if "batch_norm" in name:
        # What is left of numbers that are their own mean is a rounding, divided by next to nothing.
        return False
    return name.startswith(TAKE_NAN) and not NAN_IS_ANY.search(name)


def has_steps(sample: t.Any) -> bool:
    """Say whether any input has more than one element, so that elements can lie apart."""
    import torch

    many: list[bool] = []

    def look(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            many.append(value.layout is torch.strided and value.numel() > 1)
        return value

    sample.transform(look)
    return any(many)


def transposed(sample: t.Any) -> t.Any:
    """Return the sample with the same numbers in another order of memory: channels last, or the last two exchanged."""
    import torch

    def change(value: torch.Tensor) -> torch.Tensor:
        if value.dim() < 2:
            return value
        plain = value.detach()
        if plain.dim() == 4:
            turned = plain.contiguous(memory_format=torch.channels_last)
        else:
            turned = plain.transpose(-1, -2).contiguous().transpose(-1, -2)
        return turned.requires_grad_(value.requires_grad)

    return changed(sample, change)


def changed(sample: t.Any, change: t.Callable[[torch.Tensor], torch.Tensor]) -> t.Any:
    """Return the sample with each strided tensor changed."""
    import torch

    return sample.transform(
        lambda value: change(value) if isinstance(value, torch.Tensor) and value.layout is torch.strided else value
    )


def expanded(sample: t.Any, numbers: bool = False) -> t.Any:
    """Return the sample with each tensor's first entry in the place of all, at the same address.

    :param numbers: only of tensors of numbers, for an index that comes twice writes to one place twice.
    """

    def change(value: torch.Tensor) -> torch.Tensor:
        if not value.dim() or (numbers and not of_numbers(value)):
            return value
        return value.detach()[:1].expand(value.shape)

    return changed(sample, change)


def repeated(sample: t.Any, layout: str, numbers: bool) -> t.Any:
    """Return the sample with several elements of each tensor at one address: entries, or the end of a row and the next.

    :param numbers: only of tensors of numbers, as of :func:`expanded`.
    """
    if layout == EXPANDED:
        entries = expanded(sample, numbers)
    else:
        entries = changed(sample, lambda value: value if numbers and not of_numbers(value) else _overlapping(value))
    gradients = iter([one.requires_grad for one in inputs(sample) if one.layout is _strided()])
    return changed(entries, lambda value: value.requires_grad_(next(gradients)))


def _overlapping(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor of which each row begins with the last element of the one before it."""
    steps, step = [], 1
    for size in reversed(value.shape):
        steps.append(step)
        step = max(1, step * size - (1 if len(steps) == 1 and value.dim() > 1 else 0))
    plain = value.detach().contiguous()
    return plain.as_strided(value.shape, steps[::-1]) if value.numel() else plain


def laid(sample: t.Any, layout: str) -> t.Any:
    """Return the same numbers in another layout; None where no tensor can have it."""
    shapes = [one.shape for one in inputs(sample) if one.layout is _strided() and one.numel()]
    if layout == STRIDED:
        return sample.noncontiguous() if has_steps(sample) else None
    if layout == TRANSPOSED:
        return transposed(sample) if any(len(shape) > 1 for shape in shapes) else None
    if layout == SIZE_ONE:
        return changed(sample, _with_steps_of_one) if any(1 in shape for shape in shapes) else None
    if layout == OFFSET:
        return changed(sample, _behind) if shapes else None
    return sample


def _strided() -> torch.layout:
    import torch

    return torch.strided


def _with_steps_of_one(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose dimensions of size one have steps that nobody takes: none, or many elements."""
    plain, odd = value.detach().contiguous(), itertools.cycle((0, 13))
    steps = [next(odd) if size == 1 else step for size, step in zip(plain.shape, plain.stride())]
    return plain.as_strided(plain.shape, steps).requires_grad_(value.requires_grad)


def _behind(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor that begins three elements behind its memory's start, which are other numbers."""
    memory = value.new_ones(value.numel() + 3)
    memory[3:] = value.detach().reshape(-1)
    return memory[3:].view(value.shape).requires_grad_(value.requires_grad)


def twice(sample: t.Any) -> t.Any:
    """Return the sample with each matrix, or batch of them, as a batch of two, at the same address."""
    return changed(sample, lambda value: value if value.dim() < 2 else value.detach().expand(2, *value.shape))


def subnormal(sample: t.Any, larger: float = 1.0, count: int | None = 1) -> t.Any:
    """Return the sample with each number of its first inputs so small that it is subnormal.

    Of two that are, a product would be zero on the way to what is none, and a sum with one that is not no such number.

    :param larger: by how many times they are larger, then in float64.
    :param count: of how many inputs; None: of all.
    """
    import torch

    every = count is None
    first = [sample.input, *sample.args][:count]
    inputs = {id(one) for given in first for one in (given if isinstance(given, (list, tuple)) else [given])}

    def change(value: t.Any) -> t.Any:
        if not isinstance(value, torch.Tensor) or not (every or id(value) in inputs):
            return value
        if value.layout is not torch.strided or not value.is_floating_point():
            return value
        # Of float16 there are 10 bits of them.
        small = value.detach() * (torch.finfo(value.dtype).tiny / (16 if value.dtype is torch.float16 else 128))
        return small if larger == 1 else small.double() * larger

    return sample.transform(change)


def with_nan(sample: t.Any, subnormal: bool = False, first: bool = False, number: float = math.nan) -> t.Any:
    """Return the sample with a NaN first, and a subnormal number second, in each tensor that has floating point.

    :param first: in its first input alone.
    :param number: what stands in the place of the NaN: one with a sign, an infinity.
    """
    import torch

    def change(value: torch.Tensor) -> torch.Tensor:
        if not value.numel() or (first and value is not sample.input):
            return value
        copy = value.detach().clone(memory_format=torch.contiguous_format)
        if value.is_complex() and not value.is_cuda:
            copy.view(-1)[:1].fill_(complex("nan+nanj"))
        elif value.is_floating_point():
            # Made where it is used: a CPU's conversion makes negative ones, which CUDA's sorts take for the least.
            copy.view(-1)[:1].fill_(number)
            if subnormal:
                copy.view(-1)[1:2].fill_(torch.finfo(copy.dtype).tiny / 8)
        return copy

    return changed(sample, change)


def nan_gone(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error where a result has no NaN where what is exact has one, wherever it is."""

    def nan(one: torch.Tensor) -> torch.Tensor:
        return one.isnan() if of_numbers(one) else one.new_zeros(0, dtype=bool)

    return max((misfits(nan(other)) for one, other in zip(made, exact) if not bool(nan(one).any())), default=0.0)


def nan_elsewhere(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error where a result has a NaN where what is exact has none, or none where it has one.

    Where what is exact is a number beyond the format's, infinities may have cancelled on the way.
    """
    import torch

    worst = 0.0
    for one, other in zip(made, exact):
        if of_numbers(other) and of_numbers(one):
            if one.shape != other.shape:
                return math.inf
            beyond = other.isfinite() & (other.abs() > torch.finfo(one.dtype).max)
            worst = max(worst, misfits(~beyond & (one.isnan() != other.isnan())))
    return worst


def infinite_elsewhere(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error where a result has a NaN or an infinity where what is exact has none, or another."""
    import torch

    worst = nan_elsewhere(made, exact)
    for one, other in zip(made, exact):
        if of_numbers(other) and of_numbers(one) and not other.is_complex():
            large = other.abs() > torch.finfo(one.dtype).max
            worst = max(worst, misfits((other.isinf() & (one != other)) | (one.isinf() & ~large)))
    return worst


def of_numbers(one: torch.Tensor) -> bool:
    """Say whether a tensor has floating point, and each of its numbers a place."""
    import torch

    return one.layout is torch.strided and (one.is_floating_point() or one.is_complex())


def moved_otherwise(made: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]) -> float:
    """Return an error where a value did not arrive as it was."""
    worst = 0.0
    for one, other in zip(made, exact):
        if one.shape != other.shape:
            return math.inf
        worst = max(worst, misfits(one.to(other.dtype).nan_to_num(7.0) != other.nan_to_num(7.0)))
    return worst


def in_a_graph(
    operator: t.Any, sample: t.Any, plain: t.Sequence[torch.Tensor], full: bool = False
) -> list[torch.Tensor] | None:
    """Return what the operator computes when a CUDA graph that captured it is replayed; None without a GPU.

    :param full: whether others than functions of elements are captured too, if they do not wait.
    """
    import torch

    if not plain or not all(one.is_cuda for one in plain):
        return None
    if type(operator).__name__ not in IN_GRAPHS and not (full and _never_waits(operator, sample)):
        return None
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.no_grad(), torch.cuda.stream(side):
        # Not torch.cuda.graph(), which collects garbage first.
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            value = operator(sample.input, *sample.args, **sample.kwargs)
        finally:
            graph.capture_end()
    value = sample.output_process_fn_grad(value)
    found = [value] if isinstance(value, torch.Tensor) else [one for one in value if isinstance(one, torch.Tensor)]
    graph.replay()
    torch.cuda.synchronize()
    return [one.clone() for one in found]


def _never_waits(operator: t.Any, sample: t.Any) -> bool:
    """Say whether an operator computes without waiting for the GPU; few libraries are asked."""
    import torch

    name = str(operator.name)
    asked = takes_equal(name) or (type(operator).__name__ in TAKE_ANY and not NAN_IS_ANY.search(name))
    if not (asked or MOVES.match(name) or PRODUCTS.search(name) or CAPTURED.match(name)):
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


def into_given(operator: t.Any, sample: t.Any, plain: t.Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
    """Return what the operator writes to tensors whose elements lie apart; None where it takes none."""
    import torch

    if operator.name.startswith("_foreach"):
        return None
    if not operator.supports_out or not plain or any(one.layout is not torch.strided for one in plain):
        return None
    places = [_apart(one) for one in plain]
    with torch.no_grad():
        operator(sample.input, *sample.args, **sample.kwargs, out=places[0] if len(places) == 1 else tuple(places))
    return places


def _apart(like: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same shape and format of which only every second element of memory is used."""
    import torch

    value = float("nan") if like.is_floating_point() or like.is_complex() else 1
    return torch.full((*like.shape, 2), value, dtype=like.dtype, device=like.device)[..., 0]
