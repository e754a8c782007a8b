"""Check collective operations: NCCL over the GPUs of this host, or Gloo over two processes if there is no GPU.

The check itself is rank 0. Each other rank is a separate interpreter, which exits with the check. The ranks meet
through a file in the scratch directory and communicate over the loopback interface, unless the environment names
another one. The environment also determines ``NCCL_NVLS_ENABLE`` and NCCL's other settings.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import dataclasses
import datetime
import functools
import importlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import typing as t

from ..._shared.module_utils._core import versions
from ...check import CRASH, SEEN_GRID, X86_GRID, Context, Failed, Measured, Skipped, Unanswered, check
from ..bounds import Cases, functions_of, torch

#: The time limit in seconds for meeting the other ranks, and for one operation, times the limit ``factor``.
PATIENCE = 60
#: The seconds in which a rank must exit if rank 0 has failed.
GRACE = 2.0
#: The time limit in seconds for one operation if this rank has a wrong number or refuses a call, times ``factor``.
ALONE = 10
#: The exit status of a rank that got a wrong result and printed how far off it is.
WRONG_NUMBER = 3

_REMEDY = (
    "Check that torch's own NCCL is loaded (the closure check names it) and that kernel and driver are the vendor's, "
    "and run again with NCCL_DEBUG=INFO."
)
#: The backend for each device.
BACKENDS = {"cuda": "NCCL", "cpu": "Gloo"}
#: The errors by which torch refuses a call, and errors that follow from another rank's end or waiting.
_REFUSALS = (RuntimeError, TypeError, ValueError, AssertionError)
_CONSEQUENCE = re.compile("gloo/|NCCL|CUDA error|Connection|Timed out|timeout|A rank ended")


def ranks(context: Context) -> int:
    """Return the number of ranks: one per GPU, or two on the CPU.

    :raises Skipped: if this torch has no backend for the device.
    """
    import torch.distributed as dist

    cuda = context.device == "cuda"
    if not (dist.is_available() and (dist.is_nccl_available() if cuda else dist.is_gloo_available())):
        raise Skipped(f"This torch was built without {BACKENDS[context.device]}.")
    return torch.cuda.device_count() if cuda else 2


def _ready(context: Context, rank: int) -> str:
    """Return the path of the file by which a rank tells that it is about to meet the others."""
    return os.path.join(context.directory, f"rank {rank}")


@contextlib.contextmanager
def group(context: Context, rank: int, world: int) -> t.Iterator[None]:
    """Join the process group as ``rank``, on the GPU with that number."""
    import torch.distributed as dist

    if context.device == "cuda":
        torch.cuda.set_device(rank)
    backend = BACKENDS[context.device]
    os.environ.setdefault(f"{backend.upper()}_SOCKET_IFNAME", "lo")
    open(_ready(context, rank), "w").close()
    dist.init_process_group(
        backend.lower(),
        init_method=f"file://{context.directory}/meeting",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=PATIENCE * context.limits.get("factor", 1)),
    )
    try:
        yield
    finally:
        dist.destroy_process_group()


def other_rank(function: str, text: str) -> None:
    """Run one of the other ranks and exit.

    :param function: the function's module and name.
    :param text: the function's arguments in JSON.
    """
    # Exit with the check, even if it is killed: PR_SET_PDEATHSIG is 1.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    arguments = json.loads(text)
    context = Context(**arguments.pop("context"))
    module, _unused, name = function.rpartition(".")
    status = 0
    try:
        result = getattr(importlib.import_module(module), name)(context, **arguments)
        if isinstance(result, Cases):
            result.result()
    except Failed as failure:
        status = 1 if failure.reason else WRONG_NUMBER
        measured = json.dumps([failure.cause, failure.ratio, failure.mismatched, failure.compared])
        sys.stderr.write((failure.cause if failure.reason else measured) + "\n")
    sys.stdout.flush()
    sys.stderr.flush()
    # A normal exit occasionally aborts the process, because one of torch's threads is still running.
    os._exit(status)


@contextlib.contextmanager
def other_ranks(context: Context, function: t.Callable[..., t.Any], world: int, **options: t.Any) -> t.Iterator[None]:
    """Run all ranks except 0, wait until each is ready, and require each to exit successfully.

    :param function: a module-level function, called with the context, ``rank``, ``world`` and ``options``. If it
        returns comparisons, they must be right.
    :raises Failed: the wrong result of another rank.
    :raises Unanswered: if a rank ends early or does not answer; it names the rank.
    """
    code = f"from {__name__} import other_rank; import sys; other_rank(*sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    running: list[tuple[int, subprocess.Popen[bytes], t.Any]] = []
    context_options = {"device": context.device, "directory": context.directory, "limits": dict(context.limits)}
    finished = False
    try:
        for rank in range(1, world):
            output = tempfile.TemporaryFile(dir=context.directory)  # noqa: SIM115
            arguments = {"context": context_options, "rank": rank, "world": world, **options}
            named = f"{function.__module__}.{function.__name__}"
            command = [sys.executable, "-c", code, named, json.dumps(arguments)]
            process = subprocess.Popen(
                command, cwd=context.directory, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
            running.append((rank, process, output))
        for rank, process, _unused in running:
            # Rank 0 would wait a minute for a rank that ended before they met.
            while not os.path.exists(_ready(context, rank)) and process.poll() is None:
                time.sleep(0.02)
        if any(process.poll() for _unused, process, _unused in running):
            raise RuntimeError("A rank ended before it met the others.")
        yield
        for _unused, process, _unused in running:
            process.wait(PATIENCE * context.limits.get("factor", 1))
        finished = True
    finally:
        # A rank whose end rank 0 has noticed may still be on its way out.
        end = time.monotonic() + GRACE
        own_error, unanswered = sys.exc_info()[1], set()
        for rank, process, _unused in running:
            try:
                process.wait(None if finished else max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                unanswered.add(rank)
                process.kill()
                process.wait()
        own_problem = str(own_error) if isinstance(own_error, RuntimeError) else ""
        problems, wrong_numbers = list[str](), list[Failed]()
        for rank, process, output in running:
            output.seek(0)
            lines = output.read().decode("utf-8", "replace").strip().splitlines()
            output.close()
            if process.returncode == WRONG_NUMBER:
                cause, *measure = json.loads(lines[-1])
                wrong_numbers.append(Failed(f"Rank {rank} of {world}: {cause}", _REMEDY, "", "", *measure))
            elif rank in unanswered:
                # After an error of rank 0 alone, this rank has only waited.
                if _CONSEQUENCE.search(own_problem):
                    problems.append(f"Rank {rank} of {world} does not answer: {own_problem}")
            elif process.returncode < 0:
                problems.append(f"Rank {rank} of {world} was killed by {signal.Signals(-process.returncode).name}.")
            elif process.returncode:
                problems.append(f"Rank {rank} of {world}: {lines[-1] if lines else f'status {process.returncode}'}")
        # A crash or a wrong result in one rank explains more than the other ranks' waiting for it.
        if wrong_numbers:
            raise wrong_numbers[0]
        if own_problem:
            problems.append(f"Rank 0 of {world}: {own_problem}")
        if problems and not isinstance(own_error, Failed):
            raise Unanswered(CRASH, min(problems, key=lambda text: bool(_CONSEQUENCE.search(text))), _REMEDY)


#: The layouts of the tensors that ranks exchange; Gloo ignores the gaps of strided ones (pytorch#192920).
LAYOUTS = functions_of("layouts of parts")
ROWS, COLUMNS = 7, 6
#: The number of elements that the ranks add up at once, by device.
LONG = {"cuda": 1_000_003, "cpu": 1_003}


def _exchanges(
    every: torch.Tensor,
    rank: int,
    device: torch.device,
    dtype: torch.dtype,
    view: t.Callable[[t.Any], t.Any],
    other_group: t.Any,
) -> dict[str, t.Callable[[], t.Any]]:
    """Return exchanges, each of which returns this rank's result and the right one.

    :param every: the numbers of all ranks.
    :param view: gives a tensor its layout.
    :param other_group: a second group of all ranks.
    """
    import torch.distributed as dist

    world = len(every)
    total, ends = every.sum(0), [min(number * 5, ROWS * world) for number in range(world)] + [ROWS * world]
    sizes = [end - start for start, end in zip(ends, ends[1:])]
    counts = [[(source * 5 + target * 3) % 4 for target in range(world)] for source in range(world)]
    sent = [source[: sum(row)].split(row) for source, row in zip(every, counts)]
    own = view(every[rank].to(device, dtype))
    # torch 2.11 and 2.14 accept transposed parts for NCCL, but exchange them in the order of their memory.
    dense = own.contiguous()

    def empty(rows: int) -> torch.Tensor:
        return torch.full((rows, COLUMNS), 77, device=device, dtype=dtype)

    def in_place(operation: t.Callable[[t.Any], t.Any]) -> t.Any:
        operation(own)
        return own

    def into(rows: int, operation: t.Callable[[t.Any], t.Any]) -> torch.Tensor:
        target = empty(rows)
        operation(target)
        return target

    def turn() -> torch.Tensor:
        target, neighbours = empty(len(own)), ((rank + 1) % world, (rank - 1) % world)
        peers = zip((dist.isend, dist.irecv), (own.contiguous(), target), neighbours)
        for work in dist.batch_isend_irecv([dist.P2POp(*peer) for peer in peers]):
            work.wait()
        return target

    def in_flight() -> torch.Tensor:
        parts = [view(part.to(device, dtype)) for part in every[rank].split(3)]
        groups = itertools.cycle((None, other_group))
        for work in [dist.all_reduce(part, group=next(groups), async_op=True) for part in parts][::-1]:
            work.wait()
        return torch.cat(parts)

    of_last = len(own) if rank == world - 1 else 0
    first, mine = sum(counts[rank]), [row[rank] for row in counts]
    operations = functions_of("exchanges", "", **locals())
    if world == 1:
        del operations["send and receive"]
    return operations


def exchange_parts(context: Context, rank: int, world: int) -> Cases:
    """Take part in exchanges of uneven, empty and strided parts, and of tensors that are distributed over the ranks."""
    import torch.distributed as dist

    device = torch.device("cuda", rank) if context.device == "cuda" else torch.device("cpu")
    cases = Cases(f"the exchange of parts by {BACKENDS[context.device]} of {world} ranks", _REMEDY)
    generator = context.generator("collectives.parts")
    # Sums of these integers are exact in each format. Each rank draws the numbers of all ranks.
    every = torch.randint(-9, 10, (world, ROWS * world, COLUMNS), generator=generator).double()
    alone = datetime.timedelta(seconds=ALONE * context.limits.get("factor", 1))
    with cases.first_error(), group(context, rank, world):
        other_group = dist.new_group()
        # A rank that waits too long for others aborts with NCCL.
        refusing_group = dist.new_group(timeout=alone) if device.type == "cpu" else None
        for layout, view in list(LAYOUTS.items())[: None if context.device == "cuda" else 2]:
            for form in ("float32", "int64", "bfloat16", "float16"):
                # Most exchanges change the numbers that they were made with.
                exchanges = functools.partial(_exchanges, every, rank, device, getattr(torch, form), view, other_group)
                for name in exchanges():
                    case = f"{name}, {form}, {layout}"
                    try:
                        actual, expected = exchanges()[name]()
                    except (RuntimeError, ValueError) as error:
                        # NCCL refuses strided tensors, and Gloo has no reduce_scatter in torch 2.6.
                        if not any(reason in str(error) for reason in ("contiguous", "does not support")):
                            raise
                        continue
                    cases.exactly(case, actual, expected)
                    if cases.worst > 1 and device.type == "cpu":
                        # If an exchange was lost, the ranks wait for each other in different ones.
                        dist.distributed_c10d._set_pg_timeout(alone)
        _compare_long_sums(cases, torch.arange(LONG[context.device], device=device), rank, world)
        if versions.numbers(torch.__version__) >= (2, 11):
            # torch 2.6 returns wrong products and minima of terms that are on different ranks.
            _compare_distributed(cases, device, every, rank, refusing_group)
        _compare_replicas(cases, device, generator, rank, world)
    return cases


def _compare_long_sums(cases: Cases, numbers: torch.Tensor, rank: int, world: int) -> None:
    """Add up more numbers than one packet of an exchange holds."""
    import torch.distributed as dist

    for form in ("float32", "int64", "float64"):
        values = ((numbers * (rank + 1)) % 251).to(getattr(torch, form))
        dist.all_reduce(values)
        exact = torch.stack([(numbers.cpu() * (number + 1)) % 251 for number in range(world)]).sum(0)
        cases.exactly(f"all_reduce of {len(numbers):,} numbers, {form}", values, exact)


def _compare_replicas(cases: Cases, device: torch.device, generator: torch.Generator, rank: int, world: int) -> None:
    """Require that replicas of a network, each with its share of a batch, have the gradients of the complete batch.

    The batch is normalised over all ranks on a GPU, for which alone torch offers it.
    """
    from torch import nn

    norm = nn.BatchNorm1d(40) if device.type == "cuda" else nn.LayerNorm(40)
    network = nn.Sequential(
        nn.Linear(12, 40, bias=False), norm, nn.GELU(), nn.Linear(40, 30), nn.Tanh(), nn.Linear(30, 5)
    ).double()
    with torch.no_grad():
        for weight in network.parameters():
            weight.copy_((torch.randn(weight.shape, generator=generator) / 4).float() + (weight == 1))
    inputs = torch.randn(6 * world, 12, generator=generator).double()
    targets = torch.randint(0, 5, (6 * world,), generator=generator)
    replica = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(network)).to(device, torch.float32)
    replica = nn.parallel.DistributedDataParallel(replica, bucket_cap_mb=0.002, gradient_as_bucket_view=True)
    nn.functional.cross_entropy(network(inputs), targets).backward()
    for step in range(3):
        replica.zero_grad()
        # The last step adds the gradients of two parts, of which only the second is exchanged.
        parts = 2 if step == 2 and device.type == "cpu" else 1
        for number, part in enumerate(torch.arange(6 * world).chunk(world)[rank].chunk(parts), 1):
            with contextlib.nullcontext() if number == parts else replica.no_sync():
                scores = replica(inputs[part].to(device, torch.float32))
                (nn.functional.cross_entropy(scores, targets[part].to(device)) / parts).backward()
        for (name, weight), copied in zip(network.named_parameters(), replica.parameters()):
            bound = 1e-4 * (weight.grad.abs() + weight.grad.abs().amax())
            cases.compare(f"replicas, gradient of {name}, step {step + 1}", copied.grad, weight.grad, bound)


def _compare_distributed(
    cases: Cases, device: torch.device, every: torch.Tensor, rank: int, refusing_group: t.Any
) -> None:
    """Compare matrices, and products of them, whose rows, columns or terms are on different ranks, in uneven parts.

    :param refusing_group: the group in which the ranks that refuse a product meet.
    """
    import torch.distributed as dist
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh

    mesh = init_device_mesh(device.type, (len(every),))
    placements = [Shard(0), Shard(1), Replicate()]
    matrices = every[:, : ROWS * len(every) - 1, : COLUMNS - 1].float()
    matrix, own = matrices[0], matrices[rank].to(device)

    def of(placement: t.Any) -> t.Any:
        if isinstance(placement, Partial):
            return DTensor.from_local(own, mesh, [placement])
        return distribute_tensor(matrix.to(device), mesh, [placement])

    def compare(case: str, expected: torch.Tensor, call: t.Callable[..., t.Any], *arguments: t.Any) -> None:
        try:
            result = call(*arguments)
            result = result.full_tensor() if isinstance(result, DTensor) else result
        except _REFUSALS as error:
            if _CONSEQUENCE.search(str(error)):
                raise
            # The other ranks wait for one that refuses a product alone, until it ends.
            try:
                dist.barrier(refusing_group)
            except RuntimeError:
                raise error from None
            return
        cases.compare(f"distributed, {case}", result, expected.double(), 1e-5 * (expected.double().abs() + 1))

    product = matrix.double() @ matrix.double().t()
    for trio in itertools.product(placements, repeat=3):
        compare(f"product of {trio[0]} and {trio[1]} in {trio[2]}", product,
                lambda left, right, kind: (of(left) @ of(right).t()).redistribute(mesh, [kind]), *trio)  # fmt: skip
    folds = {"sum": matrices.sum(0), "avg": matrices.mean(0), "max": matrices.amax(0), "min": matrices.amin(0)}
    for name, placement in itertools.product(folds, placements):
        compare(f"{name} of terms in {placement}", folds[name],
                lambda fold, kind: of(Partial(fold)).redistribute(mesh, [kind]), name, placement)  # fmt: skip


@check("collectives.parts", devices=("cuda", "cpu"), seconds=150, measured=(X86_GRID, *SEEN_GRID))
def parts(context: Context) -> Measured:
    """Check exchanges of numbers and of uneven or strided parts, distributed tensors, and replicas of a network.

    There is a rank for each GPU, and two on the CPU. With one rank, no data is exchanged.
    """
    world = ranks(context)
    context = dataclasses.replace(context, directory=tempfile.mkdtemp(dir=os.path.abspath(context.directory)))
    note = f", {world} rank{'s' if world > 1 else ''}"
    if context.device == "cuda":
        version = ".".join(map(str, torch.cuda.nccl.version()[:3]))
        note += f", NCCL {version}"
        if version == "2.28.9":
            note += " (reported to hang with CUDA graphs, fixed in 2.30.4)"
    with other_ranks(context, exchange_parts, world):
        # If this raises an error, other ranks that wait are killed.
        return exchange_parts(context, 0, world).result(note)
