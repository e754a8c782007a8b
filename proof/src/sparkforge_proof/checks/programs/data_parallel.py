"""Check data-parallel training over NCCL, with a process for each GPU of this host.

Each process gets its share of the pictures or texts in a step. The mean of the losses, each process's gradients after
the first step, and the weights after the last step are compared with a float64 run over the complete batches, within
the bounds of the family training. The processes must agree with each other exactly. Gradients are compared because Adam
and clipping by norm would both hide gradients that are twice as large.
"""

from __future__ import annotations

import contextlib
import copy
import typing as t

from ...check import SEEN, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, one_thread, torch
from . import collectives, recipes, training

STEPS = 20
#: The size of a bucket in MiB, small enough for the gradients of a small network to fill several.
BUCKET = 0.02
#: The minimum number of pictures or texts in a step, and the numbers of parts in which gradients are computed.
ROWS = {"convolutional": 16, "transformer": 8}
PARTS = (1, 2)


class Run(t.NamedTuple):
    """A network, and the way it is trained."""

    network: str
    recipe: recipes.Recipe

    def __str__(self) -> str:
        return f"{self.network}, {self.recipe.name}"


class Outcome(t.NamedTuple):
    """The outcome of a run in one process.

    :ivar gradients: the gradients of the first step by name, by the number of parts in which they were computed.
    :ivar weights: the flattened weights of each process.
    """

    curve: training.Curve
    gradients: dict[int, dict[str, torch.Tensor]]
    weights: list[torch.Tensor]


def runs() -> list[Run]:
    """Return the networks to train, and how to train them."""
    synchronised = "float32, normalised by the batch of all processes"
    return [
        Run("transformer", recipes.Recipe("float32", options={"foreach": True})),
        Run("transformer", recipes.Recipe("bfloat16", "bfloat16", options={"foreach": True})),
        Run("convolutional", recipes.Recipe(synchronised, options={"foreach": True})),
    ]


def share(batch: recipes.Batch, rank: int, world: int) -> recipes.Batch:
    """Return one process's share of a batch."""
    inputs, targets = batch
    rows = targets.view(inputs.shape[0], -1)
    return inputs.chunk(world)[rank], rows.chunk(world)[rank].flatten()


def draw(context: Context, name: str, world: int) -> tuple[t.Any, list[recipes.Batch]]:
    """Return a network and the batches for its steps, which are the same in all processes."""
    network, batches = recipes.draw(context, name, -(-ROWS[name] // world) * world)
    return network, batches[:STEPS]


def gradients(
    network: t.Any, batch: recipes.Batch, backward: t.Callable[[t.Any, recipes.Batch], None]
) -> dict[str, torch.Tensor]:
    """Return the gradients that ``backward`` computes, as float64 on the CPU."""
    backward(network, batch)
    return {name: weight.grad.detach().to("cpu", torch.float64) for name, weight in network.named_parameters()}


def loss_of(forward: t.Any, batch: recipes.Batch) -> torch.Tensor:
    """Return the loss of one step in the format of the weights."""
    weight = next(iter(forward.parameters()))
    inputs, targets = (value.to(weight.device) for value in batch)
    scores = forward(inputs.to(weight.dtype) if inputs.is_floating_point() else inputs)
    return torch.nn.functional.cross_entropy(scores, targets)


def take_part(context: Context, rank: int, world: int) -> list[Outcome]:
    """Train as one of the processes and return the outcomes."""
    import torch.distributed as dist

    outcomes = []
    with collectives.group(context, rank, world), training._deterministic():

        def wrapped(network: t.Any) -> t.Any:
            return torch.nn.parallel.DistributedDataParallel(
                torch.nn.SyncBatchNorm.convert_sync_batchnorm(network),
                bucket_cap_mb=BUCKET,
                gradient_as_bucket_view=True,
            )

        for run in runs():
            network, batches = draw(context, run.network, world)
            shares = [share(batch, rank, world) for batch in batches]
            first = {}
            for parts in PARTS:
                if parts > 1 and run.network == "convolutional":
                    # Batch normalisation treats each half separately.
                    continue

                def backward(forward: t.Any, batch: recipes.Batch, parts: int = parts) -> None:
                    for number in range(parts):
                        last = number == parts - 1
                        with contextlib.nullcontext() if last else forward.no_sync():
                            (loss_of(forward, share(batch, number, parts)) / parts).backward()

                replica = wrapped(copy.deepcopy(network).to(context.device, torch.float32))
                first[parts] = {
                    name.removeprefix("module."): value
                    for name, value in gradients(replica, shares[0], backward).items()
                }
            curve = training._train(network, shares, run.recipe, context.device, wrap=wrapped)
            losses = torch.tensor(curve.losses, dtype=torch.float64, device=context.device)
            dist.all_reduce(losses)
            local = torch.cat([value.flatten() for value in curve.weights[len(shares)].values()]).to(context.device)
            weights = [torch.zeros_like(local) for _rank in range(world)]
            dist.all_gather(weights, local)
            outcomes.append(Outcome(curve._replace(losses=(losses / world).tolist()), first, weights))
    return outcomes


def _allowed_gradients(
    context: Context, run: Run, network: t.Any, batch: recipes.Batch
) -> dict[str, tuple[torch.Tensor, float]]:
    """Return each gradient in float64, and the allowed norm of its error in float32."""

    def run_exactly(noise: training._Perturbation | None) -> dict[str, torch.Tensor]:
        def backward(forward: t.Any, batch: recipes.Batch) -> None:
            with noise.weights(forward) if noise is not None else contextlib.nullcontext():
                loss_of(forward, batch).backward()

        replica = copy.deepcopy(network)
        if noise is not None:
            noise.follow(replica)
        return gradients(replica, batch, backward)

    with one_thread():
        exact = run_exactly(None)
        perturbed = [
            run_exactly(training._Perturbation("float32", context.generator(f"data-parallel {run} {number}")))
            for number in range(training.PERTURBED_RUNS)
        ]
    unit = 4 * UNIT_ROUNDOFF["float32"]
    return {
        name: (
            value,
            training.MARGIN
            * (
                max(float((gradients_of_run[name] - value).norm()) for gradients_of_run in perturbed)
                + unit * float(value.norm())
            ),
        )
        for name, value in exact.items()
    }


# Not checked on the CPU: 2 of 27 sound runs with Gloo failed, as one process aborted at exit and another did not exit.
@check("training.data_parallel", seconds=300, measured=SEEN)
def data_parallel(context: Context) -> Measured:
    """Require that training with one process per GPU of this host has the losses and gradients of a single run."""
    world = collectives.ranks(context)
    backend = collectives.NAMES[collectives.BACKENDS[context.device]]
    cases = Cases(f"training in {world} process{'es' if world > 1 else ''} by {backend}", training.REMEDY)
    context = collectives.with_own_directory(context)
    expected: list[tuple[Run, dict[str, tuple[torch.Tensor, float]], training.Bounds]] = []
    with collectives.other_ranks(context, take_part, world):
        # Meanwhile, the other processes import torch.
        for run in runs():
            network, batches = draw(context, run.network, world)
            gradient_bounds = _allowed_gradients(context, run, network, batches[0])
            allowed = training._bounds(context, run.network, run.recipe, network, batches)
            expected.append((run, gradient_bounds, allowed))
        outcomes = take_part(context, 0, world)
    for (run, gradient_bounds, allowed), outcome in zip(expected, outcomes):
        for parts, computed in outcome.gradients.items():
            for name, (value, bound) in gradient_bounds.items():
                distance = (computed[name] - value).norm()
                case = f"{run}, gradient of {name}{', of two halves' if parts > 1 else ''}"
                cases.compare(case, distance, torch.zeros_like(distance), torch.tensor(bound, dtype=torch.float64))
        training._compare(cases, run.recipe._replace(name=str(run)), outcome.curve, allowed)
        for rank, weights in enumerate(outcome.weights):
            cases.exactly(f"{run}, weights of process {rank}", weights, outcome.weights[0])
    measured = cases.result()
    measured.measured += f", {world} process{'es' if world > 1 else ''} by {backend}"
    if world == 1:
        measured.measured += ": this host has one GPU, so no data was exchanged between GPUs"
    return measured
