"""Check collective operations: NCCL over the GPUs of this host, or Gloo over two processes if there is no GPU.

The check itself is rank 0. Each other rank is a separate interpreter, which exits with the check. The ranks meet
through a file in the scratch directory and communicate over the loopback interface, unless the environment names
another one. The environment also determines ``NCCL_NVLS_ENABLE`` and NCCL's other settings.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import datetime
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import typing as t

from ...check import CRASH, SEEN, Context, Failed, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, gamma, torch

#: The time limit in seconds for meeting the other ranks, and for one operation.
PATIENCE = 60
#: The exit status of a rank that got a wrong result and printed how far off it is.
WRONG_NUMBER = 3

_REMEDY = (
    "Check that torch's own NCCL is loaded (the closure check names it) and that kernel and driver are the vendor's, "
    "and run again with NCCL_DEBUG=INFO."
)
#: The backend for each device.
BACKENDS = {"cuda": "nccl", "cpu": "gloo"}
NAMES = {"nccl": "NCCL", "gloo": "Gloo"}
_LOOPBACK = {"nccl": "NCCL_SOCKET_IFNAME", "gloo": "GLOO_SOCKET_IFNAME"}
_PDEATHSIG = 1


def known_trap(version: t.Sequence[int]) -> str:
    """Return a note on the known bugs in an NCCL version, or '' if there are none."""
    if tuple(version[:3]) == (2, 28, 9):
        return " (reported to hang with CUDA graphs, fixed in 2.30.4)"
    return ""


def ranks(context: Context) -> int:
    """Return the number of ranks: one per GPU, or two on the CPU.

    :raises Skipped: if this torch has no backend for the device.
    """
    import torch.distributed as dist

    if not dist.is_available():
        raise Skipped("This torch was built without torch.distributed.")
    cuda = context.device == "cuda"
    if not (dist.is_nccl_available() if cuda else dist.is_gloo_available()):
        raise Skipped(f"This torch was built without {NAMES[BACKENDS[context.device]]}.")
    return torch.cuda.device_count() if cuda else 2


@contextlib.contextmanager
def group(context: Context, rank: int, world: int) -> t.Iterator[None]:
    """Join the process group as ``rank``, on the GPU with that number."""
    import torch.distributed as dist

    if context.device == "cuda":
        torch.cuda.set_device(rank)
    backend = BACKENDS[context.device]
    variable = _LOOPBACK[backend]
    before = os.environ.get(variable)
    if before is None:
        os.environ[variable] = "lo"
    try:
        dist.init_process_group(
            backend,
            init_method=f"file://{context.directory}/meeting",
            rank=rank,
            world_size=world,
            timeout=datetime.timedelta(seconds=PATIENCE),
        )
        try:
            yield
        finally:
            dist.destroy_process_group()
    finally:
        if before is None:
            del os.environ[variable]


def _inputs(context: Context, rank: int, length: int) -> dict[str, torch.Tensor]:
    """Return the inputs of a rank, which every rank can compute. The sums of the integers are exact in float32."""
    random = context.generator(f"collectives.all_reduce {rank}")
    integers = torch.randint(-(2**18), 2**18, (length,), generator=random)
    return {
        "float32": integers.float(),
        "int64": integers * 2**32,
        "bfloat16": torch.randn(length, generator=random).to(torch.bfloat16),
    }


def exchange(context: Context, rank: int, world: int, length: int) -> Cases:
    """Take part as ``rank``, and compare the results with those computed from the inputs of all ranks."""
    import torch.distributed as dist

    device = torch.device("cuda", rank) if context.device == "cuda" else torch.device("cpu")
    cases = Cases(f"the exchange by {NAMES[BACKENDS[context.device]]} of {world} ranks", _REMEDY)
    contributions = [_inputs(context, number, length) for number in range(world)]
    own_inputs = {name: value.to(device) for name, value in contributions[rank].items()}
    with group(context, rank, world):
        for name, value in own_inputs.items():
            contributed = torch.stack([contribution[name] for contribution in contributions])
            result = value.clone()
            dist.all_reduce(result)
            if name == "bfloat16":
                magnitude = contributed.double().abs().sum(dim=0)
                bound = magnitude * gamma(world - 1, UNIT_ROUNDOFF[name])
                cases.compare(f"all-reduce, {name}", result, contributed.double().sum(dim=0), bound)
            else:
                cases.exactly(f"all-reduce, {name}", result, contributed.sum(dim=0))
            result = value.clone()
            dist.all_reduce(result, op=dist.ReduceOp.MAX)
            cases.exactly(f"maximum, {name}", result, contributed.amax(dim=0))
            gathered = [torch.zeros_like(value) for _unused in range(world)]
            dist.all_gather(gathered, value)
            cases.exactly(f"all-gather, {name}", torch.stack(gathered), contributed)
            result = value.clone()
            dist.broadcast(result, src=world - 1)
            cases.exactly(f"broadcast, {name}", result, contributed[world - 1])
    return cases


def other_rank(function: str, text: str) -> None:
    """Run one of the other ranks and exit.

    :param function: the function's module and name.
    :param text: the function's arguments in JSON.
    """
    # Exit with the check, even if it is killed.
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
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
    """Run all ranks except 0, and require each to exit successfully.

    :param function: a module-level function, called with the context, ``rank``, ``world`` and ``options``. If it
        returns comparisons, they must be right.
    """
    code = f"from {__name__} import other_rank; import sys; other_rank(*sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    running: list[tuple[int, subprocess.Popen[bytes], t.Any]] = []
    context_options = {"device": context.device, "directory": context.directory}
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
        yield
        for _unused, process, _unused in running:
            process.wait(PATIENCE)
        finished = True
    finally:
        for _unused, process, _unused in running:
            if process.poll() is None and not finished:
                process.kill()
            process.wait()
        problems = []
        wrong_numbers: list[Failed] = []
        for rank, process, output in running:
            output.seek(0)
            lines = output.read().decode("utf-8", "replace").strip().splitlines()
            output.close()
            if process.returncode == WRONG_NUMBER:
                cause, *measure = json.loads(lines[-1])
                wrong_numbers.append(Failed(f"Rank {rank} of {world}: {cause}", _REMEDY, "", "", *measure))
            elif process.returncode not in (0, -signal.SIGKILL):
                problems.append(f"Rank {rank} of {world}: {lines[-1] if lines else f'status {process.returncode}'}")
        # A crash or a wrong result in one rank explains more than the other ranks' waiting for it.
        if wrong_numbers:
            raise wrong_numbers[0]
        if problems:
            raise Unanswered(CRASH, problems[0], _REMEDY)


def with_own_directory(context: Context) -> Context:
    """Return a context with a directory of its own, in which the ranks meet."""
    return dataclasses.replace(context, directory=tempfile.mkdtemp(dir=os.path.abspath(context.directory)))


@check("collectives.all_reduce", devices=("cuda", "cpu"), seconds=150, measured=SEEN)
def all_reduce(context: Context) -> Measured:
    """Check all-reduce, maximum, all-gather and broadcast: by NCCL with a rank per GPU, by Gloo with two on the CPU.

    Integers are exact, also in float32, because their sums are below 2^24. Copies are exact too; with one rank,
    everything is. A sum of w bfloat16 numbers is off by at most gamma(w - 1, u) sum |x|, in any order of addition and
    with any number of roundings.
    """
    cuda, world = context.device == "cuda", ranks(context)
    length = 1_000_003 if cuda else 1_003
    context = with_own_directory(context)
    with other_ranks(context, exchange, world, length=length):
        cases = exchange(context, 0, world, length)
    measured = cases.result()
    measured.measured += f", {world} rank{'s' if world > 1 else ''}"
    if cuda:
        version = torch.cuda.nccl.version()
        measured.measured += f", NCCL {'.'.join(map(str, version))}{known_trap(version)}"
    return measured
