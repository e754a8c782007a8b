"""Small user programs that reveal a fault: each computes the same results without and with the fault.

The programs use the operator's inputs from torch's list. Depending on the fault's condition, they also use larger,
strided or odd-sized inputs, or inputs with a NaN or a subnormal number, but never the checks' inputs.
"""

import itertools
import math
import typing as t

import torch

from proof.tests.drawn.families import Drawn
from proof.tests.drawn.plant import Counts, tensors

Program = t.Callable[[], "list[torch.Tensor]"]
#: The size of any change of a result that must be exact, as a multiple of the bound: practically infinite.
EXACT = 1e9
#: The maximum number of programs for a fault.
MOST = 60


def size_of(sound: torch.Tensor, faulty: torch.Tensor, bound: float) -> float:
    """Return the size of a change, as a multiple of a bound.

    :param bound: the survey's bound for the operator and format, in units of the format near the largest value.
    """
    if sound.shape != faulty.shape:
        return EXACT
    if sound.is_complex():
        sound, faulty = torch.view_as_real(sound), torch.view_as_real(faulty)
    if not sound.is_floating_point():
        return EXACT if bool((sound != faulty).any()) else 0.0
    was, now = sound.double(), faulty.double()
    if bool((torch.isnan(was) != torch.isnan(now)).any()):
        return EXACT
    finite = torch.isfinite(was)
    if not bool(finite.any()):
        return 0.0
    was, now = was[finite], now[finite]
    info = torch.finfo(sound.dtype)
    least = info.tiny if float(was.abs().max()) >= info.tiny else info.tiny * info.eps
    unit = (info.eps * (was.abs() + was.abs().max())).clamp_min(least)
    away = float(((now - was).abs() / unit).max())
    return min(EXACT, away / bound) if math.isfinite(away) else EXACT


def probe(
    drawn: Drawn, operator: t.Any, device: str, counts: Counts, bound: t.Callable[[str], float]
) -> tuple[float, str]:
    """Return the largest change of a program's results by a fault, as a multiple of the bound, and the program's name.

    :param operator: the operator in torch's list.
    :param bound: a function that returns the operator's bound for a format's name.
    """
    worst, worst_name = 0.0, ""
    for name, program in itertools.islice(_programs(drawn, operator, device), MOST):
        try:
            results = []
            for active in (False, True):
                counts.active = active
                torch.manual_seed(17)
                results.append([tensor.detach().clone() for tensor in program()])
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError, AttributeError):
            continue
        finally:
            counts.active = False
        for sound, faulty in zip(*results):
            if sound.layout is not torch.strided or faulty.layout is not torch.strided:
                sound, faulty = sound.to_dense(), faulty.to_dense()
            form = str(sound.dtype).rpartition(".")[2]
            size = size_of(sound, faulty, bound({"complex64": "float32", "complex128": "float64"}.get(form, form)))
            if size > worst:
                worst, worst_name = size, name
        if worst > 100:
            break
    return worst, worst_name


def _forms(drawn: Drawn, device: str) -> list[torch.dtype]:
    if drawn.condition == "only":
        return [getattr(torch, str(drawn.value))]
    if drawn.condition == "complex":
        return [torch.complex64, torch.complex128] if device == "cuda" else [torch.complex64]
    forms = [torch.float32, torch.bfloat16, torch.int64, torch.float16, torch.bool]
    return forms + ([torch.float64, torch.complex64] if device == "cuda" else [])


def _programs(drawn: Drawn, operator: t.Any, device: str) -> t.Iterator[tuple[str, Program]]:
    """Yield programs, starting with the simplest."""
    for dtype in _forms(drawn, device):
        if dtype not in operator.supported_dtypes(device):
            continue
        form, backward = str(dtype).rpartition(".")[2], bool(operator.supports_autograd) and dtype.is_floating_point
        if drawn.condition in ("above 2^", "beyond 2 GiB"):
            yield from _large(drawn, operator, device, dtype)
            continue
        torch.manual_seed(23)
        try:
            samples = list(itertools.islice(operator.sample_inputs(device, dtype, requires_grad=backward), 8))
        except (RuntimeError, TypeError, ValueError):
            continue
        for number, sample in enumerate(samples):
            if drawn.condition == "layout":
                yield f"{form}, strided {number}", _called(operator, _turned(sample, str(drawn.value)), 1)
                continue
            if drawn.defect in ("flushed", "NaN swallowed"):
                yield f"{form}, special {number}", _called(operator, _special(sample, drawn.defect), 1)
                continue
            times = int(drawn.value) + 1 if drawn.condition == "every n-th call" else 2
            plain = _called(operator, sample, times)
            if drawn.condition == "backward":
                plain = _backward(operator, sample)
            if drawn.condition == "stream":
                plain = _on_a_stream(plain)
            if drawn.condition == "graph":
                plain = _in_a_graph(operator, sample)
            yield f"{form}, input {number}", plain
            if backward and drawn.condition == "" and number < 3:
                yield f"{form}, backward {number}", _backward(operator, sample)


def _called(operator: t.Any, sample: t.Any, times: int) -> Program:
    def program() -> list[torch.Tensor]:
        results: list[torch.Tensor] = []
        for _unused in range(times):
            results += tensors(operator(sample.input, *sample.args, **sample.kwargs))
        return results

    return program


def _backward(operator: t.Any, sample: t.Any) -> Program:
    def program() -> list[torch.Tensor]:
        leaves = [leaf for leaf in tensors((sample.input, sample.args, sample.kwargs)) if leaf.requires_grad]
        outputs = [x for x in tensors(operator(sample.input, *sample.args, **sample.kwargs)) if x.requires_grad]
        gradients = torch.autograd.grad(sum(x.sum() for x in outputs), leaves, allow_unused=True)
        return [gradient for gradient in gradients if gradient is not None]

    return program


def _on_a_stream(plain: Program) -> Program:
    def program() -> list[torch.Tensor]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            results = plain()
        stream.synchronize()
        return results

    return program


def _in_a_graph(operator: t.Any, sample: t.Any) -> Program:
    def program() -> list[torch.Tensor]:
        side = torch.cuda.Stream()
        with torch.no_grad():
            with torch.cuda.stream(side):
                operator(sample.input, *sample.args, **sample.kwargs)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                results = list(tensors(operator(sample.input, *sample.args, **sample.kwargs)))
            graph.replay()
            torch.cuda.synchronize()
        return results

    return program


def _turned(sample: t.Any, layout: str) -> t.Any:
    """Return the sample with its tensors in another layout."""

    def change(value: t.Any) -> t.Any:
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided or value.numel() < 2:
            return value
        with torch.no_grad():
            if layout == "transposed" and value.dim() > 1:
                turned = value.transpose(-1, -2).contiguous().transpose(-1, -2)
            elif layout == "channels last" and value.dim() == 4:
                turned = value.contiguous(memory_format=torch.channels_last)
            elif layout == "expanded" and value.dim():
                turned = value[:1].expand(value.shape)
            else:
                turned = value.unsqueeze(-1).repeat(*([1] * value.dim()), 2)[..., 0]
        return turned.detach()

    return sample.transform(change)


def _special(sample: t.Any, defect: str) -> t.Any:
    """Return the sample with a NaN as its first element, or with subnormal numbers."""

    def change(value: t.Any) -> t.Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
            return value
        changed = value.detach().clone()
        if defect == "flushed":
            return changed * torch.finfo(changed.dtype).tiny / 8
        changed.reshape(-1)[:1].fill_(math.nan)
        return changed

    return sample.transform(change)


def _large(drawn: Drawn, operator: t.Any, device: str, dtype: torch.dtype) -> t.Iterator[tuple[str, Program]]:
    """Yield programs whose inputs exceed a given size: vectors and matrices, alone and in pairs."""
    width = torch.empty(0, dtype=dtype).element_size()
    count = 2 ** int(drawn.value) + 9 if drawn.condition == "above 2^" else 2**31 // width + 4_099
    if count * width > (6 * 2**30 if device == "cuda" else 2**26):
        return
    form = str(dtype).rpartition(".")[2]

    def make(*shape: int) -> torch.Tensor:
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(shape, device=device, dtype=dtype) + 0.5
        return torch.randint(1, 5, shape, device=device).to(dtype)

    edge = max(2, math.isqrt(count) + 1)
    for inputs, shapes in (
        ("a line", [(count,)]),
        ("two lines", [(count,), (count,)]),
        ("a matrix", [(edge, edge)]),
        ("two matrices", [(edge, edge), (edge, edge)]),
        ("a batch", [(7, count // 49 + 1, 7)]),
        ("images", [(2, 3, edge // 2 + 1, edge // 3 + 1)]),
        ("a list of lines", [(count,), (9,)]),
    ):

        def program(shapes: t.Sequence[tuple[int, ...]] = shapes, inputs: str = inputs) -> list[torch.Tensor]:
            arguments: list[t.Any] = [make(*shape) for shape in shapes]
            results = list(tensors(operator(*([arguments] if inputs.startswith("a list") else arguments))))
            torch.manual_seed(0)
            return results[:2]

        yield f"{form}, {inputs} of {count:,}", program
