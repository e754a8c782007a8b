"""Public entries of torch beside its operators, how each is broken, and a user's small program that uses it."""

import dataclasses
import typing as t

import torch

from proof.tests.drawn.families import Drawn
from proof.tests.drawn.plant import Seen

Program = t.Callable[[str], "list[torch.Tensor]"]
Change = t.Callable[[t.Any, Drawn, tuple[t.Any, ...], dict[str, t.Any]], t.Any]


@dataclasses.dataclass(frozen=True)
class Entry:
    """A public entry.

    :ivar owner: where its name is: ``torch.cuda.Event``.
    :ivar defects: by name, what is called in its place: with the plain function, the fault and the arguments.
    :ivar program: what a user does with it; its results are whole numbers.
    :ivar devices: where it is.
    """

    owner: str
    name: str
    kind: str
    defects: t.Mapping[str, Change]
    program: Program
    devices: tuple[str, ...] = ("cuda",)

    @property
    def words(self) -> str:
        return f"{self.owner.removeprefix('torch.')}.{self.name}"


def plant(entry: Entry, drawn: Drawn, seen: Seen) -> None:
    """Replace the entry in this process."""
    place: t.Any = torch
    for part in entry.owner.split(".")[1:]:
        place = getattr(place, part)
    plain, counted = getattr(place, entry.name), [0]

    def broken(*arguments: t.Any, **words: t.Any) -> t.Any:
        if not seen.active:
            return plain(*arguments, **words)
        seen.add(calls=1)
        counted[0] += 1
        if not drawn.defect or (drawn.condition and counted[0] % int(drawn.value)):
            return plain(*arguments, **words)
        seen.add(faults=1)
        return entry.defects[drawn.defect](plain, drawn, arguments, words)

    setattr(place, entry.name, broken)


# -- how an entry is broken


def _nothing(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], words: dict[str, t.Any]) -> None:
    """It does nothing."""


def _says_yes(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], words: dict[str, t.Any]) -> bool:
    return True


def _twice(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], words: dict[str, t.Any]) -> t.Any:
    plain(*arguments, **words)
    return plain(*arguments, **words)


def _scaled(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], words: dict[str, t.Any]) -> t.Any:
    found = plain(*arguments, **words)
    return _each(found, lambda x: x * (1 + drawn.amount) if x.is_floating_point() else x)


def _last_off(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], words: dict[str, t.Any]) -> t.Any:
    def change(x: torch.Tensor) -> torch.Tensor:
        if x.layout is not torch.strided or not x.numel():
            return x
        x = x.clone()
        x.reshape(-1)[-1:].add_(1)
        return x

    return _each(plain(*arguments, **words), change)


def _each(value: t.Any, change: t.Callable[[torch.Tensor], torch.Tensor]) -> t.Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return type(value)(_each(one, change) for one in value) if type(value) in (tuple, list) else value


def _low_bits(plain: t.Any, drawn: Drawn, arguments: tuple[t.Any, ...], words: dict[str, t.Any]) -> t.Any:
    """Only some bits of a seed count."""
    *before, seed = arguments
    return plain(*before, int(seed) & 0xFFFF, **words)


# -- users' programs


def _late(device: str) -> tuple[torch.Tensor, torch.cuda.Stream, torch.cuda.Stream]:
    block = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    return block, torch.cuda.Stream(), torch.cuda.Stream()


def _waiting(wait: t.Callable[[t.Any, t.Any, t.Any], None]) -> Program:
    """Return a program in which one stream reads what another writes."""

    def program(device: str) -> list[torch.Tensor]:
        found = []
        for turn in range(6):
            block, one, two = _late(device)
            with torch.cuda.stream(one):
                torch.cuda._sleep(20_000_000)
                block.fill_(turn + 1)
                event = torch.cuda.Event()
                event.record()
            with torch.cuda.stream(two):
                wait(one, two, event)
                seen = block.clone()
            # Not by what may be broken.
            torch._C._cuda_synchronize()
            found.append(seen.sum().double().cpu())
        return found

    return program


def _host(wait: t.Callable[[t.Any, t.Any], None]) -> Program:
    """Return a program in which the host reads what a stream copies to pinned memory."""

    def program(device: str) -> list[torch.Tensor]:
        found = []
        for turn in range(6):
            block, one, _two = _late(device)
            pinned = torch.zeros(1 << 20).pin_memory()
            with torch.cuda.stream(one):
                torch.cuda._sleep(20_000_000)
                block.fill_(turn + 1)
                pinned.copy_(block, non_blocking=True)
                event = torch.cuda.Event()
                event.record()
            wait(one, event)
            found.append(pinned.double().sum())
            torch._C._cuda_synchronize()
        return found

    return program


def _lent(device: str) -> list[torch.Tensor]:
    found = []
    for turn in range(4):
        _block, one, _two = _late(device)
        lent = torch.full((1 << 20,), float(turn), device="cuda")
        one.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(one):
            torch.cuda._sleep(20_000_000)
            seen = lent + 0
            lent.record_stream(one)
        del lent
        rubbish = [torch.full((1 << 20,), -1.0, device="cuda") for _unused in range(4)]
        torch._C._cuda_synchronize()
        found.append(seen.double().sum().cpu())
        del rubbish
    return found


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
        return [one.detach().double().cpu() for _unused in range(6) for one in work(device)]

    return program


def _seeds(device: str) -> list[torch.Tensor]:
    found = []
    for seed in (1, 1 + (1 << 20)):
        torch.manual_seed(seed)
        found.append(torch.rand(50, device=device))
    return found


def _global_state(device: str) -> list[torch.Tensor]:
    module: t.Any = torch.cuda if device == "cuda" else torch.random
    state = module.get_rng_state()
    first = torch.rand(50, device=device)
    module.set_rng_state(state)
    return [torch.rand(50, device=device) - first]


def _jagged(device: str) -> list[torch.Tensor]:
    found = []
    for _unused in range(4):
        whole = torch.nested.nested_tensor(
            [torch.ones(n, 2) * n for n in (3, 1, 4)], layout=torch.jagged, device=device
        )
        found.append(torch.nested.to_padded_tensor(whole * 2, 0.0).double().cpu())
    return found


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
#: Torch's own Python, which no device computes and whose files `identity.files` compares. They may be
#: drawn, so that a seed draws for each number what it drew before they were left out, but nothing is planted in them.
LEFT_OUT = (
    "autograd.functional.hessian",
    "autograd.functional.jacobian",
    "autograd.functional.vjp",
    "autograd.grad",
    "nn.utils.clip_grad_norm_",
    "nn.utils.clip_grad_value_",
    "nn.utils.parameters_to_vector",
    "nn.utils.rnn.pad_sequence",
    "optim.lr_scheduler.CosineAnnealingLR.get_lr",
    "utils.checkpoint.checkpoint",
    "utils.data.RandomSampler.__iter__",
)


def _polled(event: t.Any) -> None:
    while not event.query():
        pass


def of(device: str) -> dict[str, Entry]:
    """Return the entries that there are on a device, by name."""
    return {entry.words: entry for entry in ENTRIES if device in entry.devices}


def defects(device: str) -> dict[str, list[str]]:
    """Return for each entry that may be drawn its defects, none for one that is left out."""
    return {**{name: [] for name in LEFT_OUT}, **{name: list(entry.defects) for name, entry in of(device).items()}}
