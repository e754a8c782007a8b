# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Data-parallel training: a process for each GPU of this host over NCCL.

Each process is given its share of a step's pictures or texts. The mean of their losses, the gradients that each has
behind the first step and the weights behind the last are compared with the float64 run over all of them at once, within
what the family training allows; and the processes with each other, exactly. Gradients are compared by themselves, for
neither Adam nor the clipping of their norm would show that they are twice as large.
"""

from __future__ import annotations

import contextlib
import copy
import typing as t

from ...check import SEEN, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, one_thread, torch
from . import collectives, training

STEPS = 20
#: MiB of a bucket, so that the gradients of a small network fill several.
BUCKET = 0.02
#: How many pictures or texts a step has at least, and how gradients are made: of all at once, or of two halves.
ROWS = {"convolutional": 16, "transformer": 8}
HALVES = (1, 2)


class Run(t.NamedTuple):
    """A network, and how it is trained."""

    network: str
    way: training.Way

    def __str__(self) -> str:
        return f"{self.network}, {self.way.name}"


class Found(t.NamedTuple):
    """What came of a run, the same in every process: ``gradients`` and ``curve.weights`` of this one by name.

    :ivar gradients: by how many parts the first step's were made of.
    :ivar weights: those of each process, in a row.
    """

    curve: training.Curve
    gradients: dict[int, dict[str, torch.Tensor]]
    weights: list[torch.Tensor]


def runs() -> list[Run]:
    """Return what is trained."""
    together = "float32, normalised by the batch of all processes"
    return [
        Run("transformer", training.Way("float32", options={"foreach": True})),
        Run("transformer", training.Way("bfloat16", "bfloat16", options={"foreach": True})),
        Run("convolutional", training.Way(together, options={"foreach": True})),
    ]


def share(batch: training.Batch, rank: int, world: int) -> training.Batch:
    """Return what one of the processes is given of a step."""
    inputs, targets = batch
    rows = targets.view(inputs.shape[0], -1)
    return inputs.chunk(world)[rank], rows.chunk(world)[rank].flatten()


def drawn(context: Context, name: str, world: int) -> tuple[t.Any, list[training.Batch]]:
    """Return a network and what its steps are given, which all processes share alike."""
    network, batches = training._drawn(context, name, -(-ROWS[name] // world) * world)
    return network, batches[:STEPS]


def gradients(
    network: t.Any, batch: training.Batch, backward: t.Callable[[t.Any, training.Batch], None]
) -> dict[str, torch.Tensor]:
    """Return the gradient of each weight that ``backward`` leaves, as float64 on the CPU."""
    backward(network, batch)
    return {name: one.grad.detach().to("cpu", torch.float64) for name, one in network.named_parameters()}


def loss_of(forward: t.Any, batch: training.Batch) -> torch.Tensor:
    """Return the loss of one step in the format of the weights."""
    weight = next(iter(forward.parameters()))
    inputs, targets = (value.to(weight.device) for value in batch)
    scores = forward(inputs.to(weight.dtype) if inputs.is_floating_point() else inputs)
    return torch.nn.functional.cross_entropy(scores, targets)


def take_part(context: Context, rank: int, world: int) -> list[Found]:
    """Train as one of the processes and return what came out."""
    import torch.distributed as dist

    found = []
    with collectives.group(context, rank, world), training._settled():

        def wrapped(network: t.Any) -> t.Any:
            return torch.nn.parallel.DistributedDataParallel(
                torch.nn.SyncBatchNorm.convert_sync_batchnorm(network),
                bucket_cap_mb=BUCKET,
                gradient_as_bucket_view=True,
            )

        for run in runs():
            network, batches = drawn(context, run.network, world)
            shares = [share(batch, rank, world) for batch in batches]
            first = {}
            for parts in HALVES:
                if parts > 1 and run.network == "convolutional":
                    # Each half is normalised by itself.
                    continue

                def backward(forward: t.Any, batch: training.Batch, parts: int = parts) -> None:
                    for number in range(parts):
                        last = number == parts - 1
                        with contextlib.nullcontext() if last else forward.no_sync():
                            (loss_of(forward, share(batch, number, parts)) / parts).backward()

                there = wrapped(copy.deepcopy(network).to(context.device, torch.float32))
                first[parts] = {
                    name.removeprefix("module."): value for name, value in gradients(there, shares[0], backward).items()
                }
            curve = training._train(network, shares, run.way, context.device, wrap=wrapped)
            losses = torch.tensor(curve.losses, dtype=torch.float64, device=context.device)
            dist.all_reduce(losses)
            mine = torch.cat([value.flatten() for value in curve.weights[len(shares)].values()]).to(context.device)
            every = [torch.zeros_like(mine) for _rank in range(world)]
            dist.all_gather(every, mine)
            found.append(Found(curve._replace(losses=(losses / world).tolist()), first, every))
    return found


def _allowed_gradients(
    context: Context, run: Run, network: t.Any, batch: training.Batch
) -> dict[str, tuple[torch.Tensor, float]]:
    """Return each gradient in float64, and how far one in float32 may be off as a whole."""

    def exactly(noise: training._Moved | None) -> dict[str, torch.Tensor]:
        def backward(forward: t.Any, batch: training.Batch) -> None:
            with noise.weights(forward) if noise is not None else contextlib.nullcontext():
                loss_of(forward, batch).backward()

        there = copy.deepcopy(network)
        if noise is not None:
            noise.follow(there)
        return gradients(there, batch, backward)

    with one_thread():
        exact = exactly(None)
        moved = [
            exactly(training._Moved("float32", context.generator(f"data-parallel {run} {number}")))
            for number in range(training.MOVED)
        ]
    unit = 4 * UNIT_ROUNDOFF["float32"]
    return {
        name: (
            value,
            training.MARGIN * (max(float((one[name] - value).norm()) for one in moved) + unit * float(value.norm())),
        )
        for name, value in exact.items()
    }


# Not on the CPU: of 27 sound runs there by Gloo two failed, one process aborted at its end and one did not end.
@check("training.data_parallel", seconds=300, measured=SEEN)
def data_parallel(context: Context) -> Measured:
    """A network in as many processes as this host has GPUs: the losses and gradients of one run."""
    world = collectives.ranks(context)
    talk = collectives.NAMES[collectives.BACKENDS[context.device]]
    cases = Cases(f"training in {world} process{'es' if world > 1 else ''} by {talk}", training.REMEDY)
    context = collectives.by_itself(context)
    expected: list[tuple[Run, dict[str, tuple[torch.Tensor, float]], training.Allowed]] = []
    with collectives.others(context, take_part, world):
        # The others import torch meanwhile.
        for run in runs():
            network, batches = drawn(context, run.network, world)
            wanted = _allowed_gradients(context, run, network, batches[0])
            known = next((allowed.exact for other, _unused, allowed in expected if other.network == run.network), None)
            allowed = training._allowed(context, run.network, run.way, network, batches, known)
            expected.append((run, wanted, allowed))
        found = take_part(context, 0, world)
    for (run, wanted, allowed), one in zip(expected, found):
        for parts, mine in one.gradients.items():
            for name, (value, bound) in wanted.items():
                away = (mine[name] - value).norm()
                case = f"{run}, gradient of {name}{', of two halves' if parts > 1 else ''}"
                cases.compare(case, away, torch.zeros_like(away), torch.tensor(bound, dtype=torch.float64))
        training._compare(cases, run.way._replace(name=str(run)), one.curve, allowed)
        for rank, weights in enumerate(one.weights):
            cases.exactly(f"{run}, weights of process {rank}", weights, one.weights[0])
    measured = cases.result()
    measured.measured += f", {world} process{'es' if world > 1 else ''} by {talk}"
    if world == 1:
        measured.measured += ": this host has one GPU, so that nothing was exchanged between two"
    return measured
