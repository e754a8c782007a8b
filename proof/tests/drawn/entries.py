"""Public functions and methods of torch that are not operators: their defects, and a small user program for each."""

import dataclasses
import typing as t

import torch

from proof.tests.drawn.families import Drawn
from proof.tests.drawn.plant import Counts

Program = t.Callable[[str], "list[torch.Tensor]"]
Change = t.Callable[[t.Any, Drawn, tuple[t.Any, ...], dict[str, t.Any]], t.Any]


@dataclasses.dataclass(frozen=True)
class Entry:
    """A public function or method of torch.

    :ivar owner: the module or class that has it, such as ``torch.cuda.Event``.
    :ivar defects: for each defect's name, a replacement that is called with the original function, the fault and the
    arguments.
    :ivar program: a user program whose results are integers.
    :ivar devices: the devices on which torch has the entry.
    """

    owner: str
    name: str
    kind: str
    defects: t.Mapping[str, Change]
    program: Program
    devices: tuple[str, ...] = ("cuda",)

    @property
    def full_name(self) -> str:
        return f"{self.owner.removeprefix('torch.')}.{self.name}"


def plant(entry: Entry, drawn: Drawn, counts: Counts) -> None:
    """Replace the entry in this process."""
    owner: t.Any = torch
    for part in entry.owner.split(".")[1:]:
        owner = getattr(owner, part)
    plain, counted = getattr(owner, entry.name), [0]

    def broken(*arguments: t.Any, **keywords: t.Any) -> t.Any:
        if not counts.active:
            return plain(*arguments, **keywords)
        counts.add(calls=1)
        counted[0] += 1
        if not drawn.defect or (drawn.condition and counted[0] % int(drawn.value)):
            return plain(*arguments, **keywords)
        counts.add(faults=1)
        return entry.defects[drawn.defect](plain, drawn, arguments, keywords)

    setattr(owner, entry.name, broken)


# -- defects


def _nothing(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], keywords: dict[str, t.Any]) -> None:
    """Do nothing."""


def _says_yes(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], keywords: dict[str, t.Any]) -> bool:
    return True


def _twice(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], keywords: dict[str, t.Any]) -> t.Any:
    plain(*arguments, **keywords)
    return plain(*arguments, **keywords)


def _scaled(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], keywords: dict[str, t.Any]) -> t.Any:
    result = plain(*arguments, **keywords)
    return _each(result, lambda x: x * (1 + drawn.amount) if x.is_floating_point() else x)


def _last_off(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], keywords: dict[str, t.Any]) -> t.Any:
    def change(x: torch.Tensor) -> torch.Tensor:
        if x.layout is not torch.strided or not x.numel():
            return x
        x = x.clone()
        x.reshape(-1)[-1:].add_(1)
        return x

    return _each(plain(*arguments, **keywords), change)


def _each(value: t.Any, change: t.Callable[[torch.Tensor], torch.Tensor]) -> t.Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return type(value)(_each(item, change) for item in value) if type(value) in (tuple, list) else value


def _low_bits(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], keywords: dict[str, t.Any]) -> t.Any:
    """Use only the low bits of a seed."""
    *before, seed = arguments
    return plain(*before, int(seed) & 0xFFFF, **keywords)


# -- user programs


def _late(device: str) -> tuple[torch.Tensor, torch.cuda.Stream, torch.cuda.Stream]:
    block = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    return block, torch.cuda.Stream(), torch.cuda.Stream()


def _waiting(wait: t.Callable[[t.Any, t.Any, t.Any], None]) -> Program:
    """Return a program in which one stream reads the block that another stream writes."""

    def program(device: str) -> list[torch.Tensor]:
        results = []
        for turn in range(6):
            block, writer, reader = _late(device)
            with torch.cuda.stream(writer):
                torch.cuda._sleep(20_000_000)
                block.fill_(turn + 1)
                event = torch.cuda.Event()
                event.record()
            with torch.cuda.stream(reader):
                wait(writer, reader, event)
                copied = block.clone()
            # Save the public functions, because they may be broken later.
            torch._C._cuda_synchronize()
            results.append(copied.sum().double().cpu())
        return results

    return program


def _host(wait: t.Callable[[t.Any, t.Any], None]) -> Program:
    """Return a program in which the host reads pinned memory that a stream is writing."""

    def program(device: str) -> list[torch.Tensor]:
        results = []
        for turn in range(6):
            block, stream, _reader = _late(device)
            pinned = torch.zeros(1 << 20).pin_memory()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(20_000_000)
                block.fill_(turn + 1)
                pinned.copy_(block, non_blocking=True)
                event = torch.cuda.Event()
                event.record()
            wait(stream, event)
            results.append(pinned.double().sum())
            torch._C._cuda_synchronize()
        return results

    return program


def _lent(device: str) -> list[torch.Tensor]:
    results = []
    for turn in range(4):
        _block, stream, _reader = _late(device)
        lent = torch.full((1 << 20,), float(turn), device="cuda")
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            copied = lent + 0
            lent.record_stream(stream)
        del lent
        rubbish = [torch.full((1 << 20,), -1.0, device="cuda") for _unused in range(4)]
        torch._C._cuda_synchronize()
        results.append(copied.double().sum().cpu())
        del rubbish
    return results


def _replayed(device: str) -> list[torch.Tensor]:
    counter = torch.zeros((), device="cuda")
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        counter.add_(1)
    for _unused in range(37):
        graph.replay()
    torch.cuda.synchronize()
    return [counter.double().cpu()]


def _timed(device: str) -> list[torch.Tensor]:
    begin, end = (torch.cuda.Event(enable_timing=True) for _unused in range(2))
    begin.record()
    torch.cuda._sleep(10_000_000)
    end.record()
    torch._C._cuda_synchronize()
    return [torch.tensor(float(begin.elapsed_time(end) > 1.0), dtype=torch.float64)]


def _drawing(work: t.Callable[[str], t.Any]) -> Program:
    def program(device: str) -> list[torch.Tensor]:
        return [tensor.detach().double().cpu() for _unused in range(6) for tensor in work(device)]

    return program


def _seeds(device: str) -> list[torch.Tensor]:
    results = []
    for seed in (1, 1 + (1 << 20)):
        torch.manual_seed(seed)
        results.append(torch.rand(50, device=device))
    return results


def _global_state(device: str) -> list[torch.Tensor]:
    module: t.Any = torch.cuda if device == "cuda" else torch.random
    state = module.get_rng_state()
    first = torch.rand(50, device=device)
    module.set_rng_state(state)
    return [torch.rand(50, device=device) - first]


def _jagged(device: str) -> list[torch.Tensor]:
    results = []
    for _unused in range(4):
        rows = [torch.ones(n, 2) * n for n in (3, 1, 4)]
        jagged = torch.nested.nested_tensor(rows, layout=torch.jagged, device=device)
        results.append(torch.nested.to_padded_tensor(jagged * 2, 0.0).double().cpu())
    return results


def _sparse_sum(device: str) -> list[torch.Tensor]:
    x = torch.eye(5, device=device).to_sparse() * 3
    return [torch.sparse.mm(x, torch.ones(5, 2, device=device)).double().cpu() for _unused in range(4)]


def _sparse_total(device: str) -> list[torch.Tensor]:
    x = torch.eye(5, device=device).to_sparse() * 3
    return [torch.sparse.sum(x, 1).to_dense().double().cpu() for _unused in range(4)]


BOTH = ("cuda", "cpu")
CUDA = "torch.cuda"
WAIT, GRAPHS, CHANCE = "streams and events", "CUDA graphs", "generators and states"

ENTRIES = (
    Entry(f"{CUDA}.Stream", "wait_stream", WAIT, {"does nothing": _nothing},
          _waiting(lambda a, b, e: b.wait_stream(a))),
    Entry(f"{CUDA}.Stream", "wait_event", WAIT, {"does nothing": _nothing}, _waiting(lambda a, b, e: b.wait_event(e))),
    Entry(f"{CUDA}.Event", "wait", WAIT, {"does nothing": _nothing}, _waiting(lambda a, b, e: e.wait(b))),
    Entry(f"{CUDA}.Event", "synchronize", WAIT, {"does nothing": _nothing}, _host(lambda a, e: e.synchronize())),
    Entry(f"{CUDA}.Stream", "synchronize", WAIT, {"does nothing": _nothing}, _host(lambda a, e: a.synchronize())),
    Entry(CUDA, "synchronize", WAIT, {"does nothing": _nothing}, _host(lambda a, e: torch.cuda.synchronize())),
    Entry(f"{CUDA}.Event", "record", WAIT, {"does nothing": _nothing}, _host(lambda a, e: e.synchronize())),
    Entry(f"{CUDA}.Event", "query", WAIT, {"says yes": _says_yes},
          _host(lambda a, e: _polled(e))),
    Entry(f"{CUDA}.Event", "elapsed_time", WAIT, {"says yes": lambda *_unused: 0.001}, _timed),
    Entry("torch.Tensor", "record_stream", WAIT, {"does nothing": _nothing}, _lent),
    Entry(f"{CUDA}.CUDAGraph", "replay", GRAPHS, {"does nothing": _nothing, "twice": _twice}, _replayed),
    Entry(CUDA, "set_rng_state", CHANCE, {"does nothing": _nothing}, _drawing(_global_state)),
    Entry("torch.random", "set_rng_state", CHANCE, {"does nothing": _nothing}, _drawing(_global_state), ("cpu",)),
    Entry("torch", "manual_seed", CHANCE, {"low bits": _low_bits}, _drawing(_seeds), BOTH),
    Entry("torch.nested", "to_padded_tensor", "nested tensors", {"scaled": _scaled, "last off": _last_off}, _jagged,
          BOTH),
    Entry("torch.sparse", "mm", "sparse and nested", {"scaled": _scaled, "last off": _last_off}, _sparse_sum, BOTH),
    Entry("torch.sparse", "sum", "sparse and nested", {"scaled": _scaled}, _sparse_total, BOTH),
)  # fmt: skip
#: Functions written in torch's own Python, which do not depend on a device and whose files `identity.files` compares.
#: They are drawn so that each seed and number still draws the same fault as before, but no fault is planted in them.
LEFT_OUT = (
    "autograd.functional.hessian", "autograd.functional.jacobian", "autograd.functional.vjp", "autograd.grad",
    "nn.utils.clip_grad_norm_", "nn.utils.clip_grad_value_", "nn.utils.parameters_to_vector",
    "nn.utils.rnn.pad_sequence", "optim.lr_scheduler.CosineAnnealingLR.get_lr", "utils.checkpoint.checkpoint",
    "utils.data.RandomSampler.__iter__",
)  # fmt: skip


def _polled(event: t.Any) -> None:
    while not event.query():
        pass


def available(device: str) -> dict[str, Entry]:
    """Return the entries available on a device, by name."""
    return {entry.full_name: entry for entry in ENTRIES if device in entry.devices}


def defects(device: str) -> dict[str, list[str]]:
    """Return the defects that may be drawn for each entry; the list is empty for an entry that is left out."""
    return {
        **{name: [] for name in LEFT_OUT},
        **{name: list(entry.defects) for name, entry in available(device).items()},
    }
