"""Check training end to end against float64: a small transformer over many steps, optimisers and loss scaling.

Each step inherits the rounding errors of earlier steps, so no formula bounds the result. Instead, the float64 run on
the CPU is repeated with every layer's result, every gradient and every weight perturbed at random by up to the unit
roundoff of the format. Rounding explains the distance of these runs from the exact one; :data:`MARGIN` times this
distance is allowed for each step's loss and for the norm of each weight. A gradient that is one per cent too large
moves a float32 run thousands of times as far.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import math
import re
import typing as t
import warnings

from ...check import EMULATED_GRID, H200S, SEEN_ARM_GRID, X86_GRID, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, one_thread, torch
from .recipes import OPTIONS, RECIPES, ByDefinition, Recipe, draw

if t.TYPE_CHECKING:
    from .recipes import Batch

#: The allowed multiple of the perturbed runs' distance, and the number of these runs.
MARGIN, PERTURBED_RUNS = 8.0, 2

#: The messages of torch and oneDNN about unsupported operations.
_NOT_OFFERED = re.compile("not (implemented|supported)|could not create a primitive")

REMEDY = (
    "See which checks of the families tensors, matmul, convolution, attention and survey also fail: the first one "
    "names the operator. If none does, use another stack."
)


class Curve(t.NamedTuple):
    """The loss at each step, and the weights as float64 on the CPU.

    :ivar weights: the weights after all steps, by name.
    """

    losses: list[float]
    weights: dict[str, torch.Tensor]


def _train(
    network: t.Any, batches: t.Sequence[Batch], recipe: Recipe, device: str, perturbation: _Perturbation | None = None
) -> Curve:
    """Train a copy of a network and return its losses and weights.

    :param device: ``exact`` for the float64 run on the CPU.
    :param perturbation: the perturbation of the float64 run, if any.
    """
    exact = device == "exact"
    target, dtype = ("cpu", torch.float64) if exact else (device, torch.float32)
    network = copy.deepcopy(network).to(target, dtype)
    mixed = not exact and recipe.form != "float32"
    weights = list(network.parameters())
    optimizer: t.Any = ByDefinition("AdamW", weights, **OPTIONS)
    if not exact:
        optimizer = torch.optim.AdamW(weights, **OPTIONS, **recipe.options)
    scaler = torch.amp.GradScaler(target, init_scale=1024.0, enabled=mixed and recipe.form == "float16")
    if perturbation is not None:
        perturbation.follow(network)
    if recipe.checkpoints and not exact:
        _enable_checkpoints(network)
    losses: list[torch.Tensor] = []
    for inputs, targets in batches:
        with perturbation.weights(network) if perturbation is not None else contextlib.nullcontext():
            with torch.autocast(target, getattr(torch, recipe.form)) if mixed else contextlib.nullcontext():
                scores = network(inputs.to(target))
            loss = torch.nn.functional.cross_entropy(scores.to(dtype), targets.to(target))
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(loss.detach())
    trained = {name: weight.detach().to("cpu", torch.float64) for name, weight in network.named_parameters()}
    return Curve([float(loss) for loss in losses], trained)


def _enable_checkpoints(network: t.Any) -> None:
    """Make each part of a network be recomputed in the backward pass."""
    from torch.utils.checkpoint import checkpoint

    for part in network.parts:
        part.forward = functools.partial(checkpoint, part.forward, use_reentrant=False)


class _Perturbation:
    """Perturbs a network's computation by up to the unit roundoff of a format."""

    def __init__(self, form: str, generator: torch.Generator) -> None:
        self.unit, self.generator = UNIT_ROUNDOFF[form], generator

    def perturbed(self, value: torch.Tensor, unit: float | None = None) -> torch.Tensor:
        unit = self.unit if unit is None else unit
        noise = torch.empty(value.shape, dtype=torch.float64).uniform_(1 - unit, 1 + unit, generator=self.generator)
        return value * noise

    def follow(self, network: t.Any) -> None:
        """Perturb every layer's result, and the gradient that it receives."""

        def perturb(_module: t.Any, _inputs: t.Any, result: t.Any) -> t.Any:
            first = result[0] if isinstance(result, tuple) else result
            changed = self.perturbed(first)
            if changed.requires_grad:
                changed.register_hook(self.perturbed)
            return (changed, *result[1:]) if isinstance(result, tuple) else changed

        for module in network.modules():
            if not any(True for _child in module.children()):
                module.register_forward_hook(perturb)

    @contextlib.contextmanager
    def weights(self, network: t.Any) -> t.Iterator[None]:
        """Perturb the weights for one step, and restore them afterwards to within a rounding error of float32."""
        before = [weight.detach().clone() for weight in network.parameters()]
        with torch.no_grad():
            for weight in network.parameters():
                weight.copy_(self.perturbed(weight))
        yield
        with torch.no_grad():
            for weight, value in zip(network.parameters(), before):
                weight.copy_(self.perturbed(value, UNIT_ROUNDOFF["float32"]))


class Bounds(t.NamedTuple):
    """The allowed distances of a run in a format from the float64 run: of each loss, and of the norm of each weight."""

    losses: list[float]
    weights: dict[str, float]


def _bounds(context: Context, form: str, network: t.Any, batches: t.Sequence[Batch], exact: Curve) -> Bounds:
    """Return the allowed distances from the float64 run."""
    generators = [context.generator(f"training transformer {form} AdamW {run}") for run in range(PERTURBED_RUNS)]
    runs = [_train(network, batches, RECIPES[0], "exact", _Perturbation(form, noise)) for noise in generators]
    unit = UNIT_ROUNDOFF["float32"]
    # The error of the loss fluctuates, so use the largest error up to each step.
    distances = itertools.accumulate(
        (max(abs(run.losses[step] - loss) for run in runs) for step, loss in enumerate(exact.losses)), max
    )
    losses = [MARGIN * (value + 4 * unit * abs(loss)) for value, loss in zip(distances, exact.losses)]
    weights = {
        key: MARGIN * (max(float((run.weights[key] - value).norm()) for run in runs) + 4 * unit * float(value.norm()))
        for key, value in exact.weights.items()
    }
    return Bounds(losses, weights)


def _compare(cases: Cases, name: str, curve: Curve, exact: Curve, allowed: Bounds) -> None:
    losses = torch.tensor([curve.losses, exact.losses, allowed.losses], dtype=torch.float64)
    cases.compare(f"{name}, losses", *losses)
    for key, value in curve.weights.items():
        distance = (value - exact.weights[key]).norm()
        bound = torch.tensor(allowed.weights[key], dtype=torch.float64)
        cases.compare(f"{name}, {key}", distance, torch.zeros_like(distance), bound)


@check("training.transformer", devices=("cuda", "cpu"), seconds=300, measured=SEEN_ARM_GRID)
def transformer(context: Context) -> Measured:
    """Train a transformer for thirty steps by every recipe.

    :raises Failed: if a loss or a weight exceeds its bound, or a repeated run has other losses.
    """
    cases = Cases("training the transformer network", REMEDY)
    network, batches = draw(context)
    with one_thread():
        exact = _train(network, batches, RECIPES[0], "exact")
        forms = {recipe.form for recipe in RECIPES}
        allowed = {form: _bounds(context, form, network, batches, exact) for form in forms}
    with _deterministic():
        for recipe in RECIPES:
            try:
                curve = _train(network, batches, recipe, context.device)
            except (NotImplementedError, RuntimeError) as error:
                message = " ".join(str(error).split())
                if not _NOT_OFFERED.search(message):
                    raise
                cases.refused[recipe.name] = message[:120]
                continue
            _compare(cases, recipe.name, curve, exact, allowed[recipe.form])
            if recipe == RECIPES[0]:
                repeated = _train(network, batches, recipe, context.device)
                cases.exactly("the same losses twice", torch.tensor(repeated.losses), torch.tensor(curve.losses))
        return cases.result()


@contextlib.contextmanager
def _deterministic() -> t.Iterator[None]:
    """Compute without TensorFloat-32 and with cuDNN's deterministic algorithms."""
    flags = torch.backends.cudnn.flags(enabled=True, allow_tf32=False, deterministic=True)
    with allow_tf32(torch.backends.cuda.matmul, False), flags, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


#: The number of steps for an optimiser; gradients are fixed, so that errors do not feed back.
OPTIMIZER_STEPS = 12
#: The allowed error per step in units of float32, relative to the size of the step's numbers.
OPTIMIZER_UNITS = 2.0


def stepped(
    kind: t.Any,
    options: t.Mapping[str, t.Any],
    weights: t.Sequence[torch.Tensor],
    gradients: t.Sequence[t.Sequence[torch.Tensor]],
    device: str,
    dtype: torch.dtype,
) -> tuple[dict[str, torch.Tensor], dict[str, float]]:
    """Return the weights and the optimiser's state after all steps, and in float64 the largest magnitude of each."""
    stepped_weights = [weight.to(device, dtype, copy=True).requires_grad_() for weight in weights]
    optimizer = kind(stepped_weights, **options)
    numbers = {f"weight {number}": weight.detach() for number, weight in enumerate(stepped_weights)}
    largest: dict[str, float] = {}
    for row in [None, *gradients]:
        if row is not None:
            for weight, gradient in zip(stepped_weights, row):
                # Some optimisers change their gradients.
                weight.grad = gradient.to(device, dtype, copy=True)
            optimizer.step()
        for number, weight in enumerate(stepped_weights):
            for key, value in optimizer.state.get(weight, {}).items():
                if isinstance(value, torch.Tensor):
                    numbers[f"{key} of weight {number}"] = value.detach()
        if dtype is torch.float64:
            sizes = {name: float(value.abs().max()) for name, value in numbers.items()}
            largest = {name: max(size, largest.get(name, 0.0)) for name, size in sizes.items()}
    return numbers, largest


def complement_error(options: t.Mapping[str, t.Any], part: str) -> float:
    """Return the relative error of a second moment in a fused step, which computes ``1 - beta2`` in float32."""
    if not options.get("fused") or "_sq of" not in part:
        return 0.0
    return UNIT_ROUNDOFF["float32"] / (1 - float(options.get("betas", (0.9, 0.999))[1]))


@check("training.loss_scaling", devices=("cuda", "cpu"), measured=SEEN_ARM_GRID)
def loss_scaling(context: Context) -> Measured:
    """Check loss scaling: gradients are unscaled, an infinite one skips the step, and the scale rises and falls."""
    cases = Cases("the scaling of losses", REMEDY)
    for options in ({"foreach": True}, {"fused": True}):
        weight = torch.tensor([1.0, -2.0, 4.0], device=context.device).requires_grad_()
        optimizer = torch.optim.SGD([weight], lr=0.5, **options)
        scaler = torch.amp.GradScaler(context.device, init_scale=256.0, growth_interval=2)
        implementation = next(iter(options))
        expected, scale = torch.tensor([1.0, -2.0, 4.0]), 256.0
        gradients = [[1.0, 2.0, -4.0], [0.5, 0.0, 1.0], [math.inf, 1.0, 1.0], [1.0, 1.0, 1.0], [math.nan, 0.0, 0.0]]
        for number, gradient in enumerate([*gradients, [2.0, 2.0, 2.0], [4.0, 4.0, 4.0]]):
            optimizer.zero_grad()
            scaler.scale((weight * torch.tensor(gradient, device=context.device)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            if all(math.isfinite(value) for value in gradient):
                expected = expected - 0.5 * torch.tensor(gradient)
            else:
                scale /= 2
            # Two consecutive finite steps double the scale.
            if number in (1, 6):
                scale *= 2
            cases.exactly(f"{implementation}, weights behind step {number}", weight, expected)
            scales = torch.tensor([scaler.get_scale(), scale])
            cases.exactly(f"{implementation}, scale behind step {number}", *scales)
    return cases.result()


#: Optimisers for many weights, with options, and the copies of a block that make the largest weight. On a GPU it needs
#: more blocks than a launch for many weights has.
OF_MANY: tuple[tuple[str, dict[str, t.Any]], ...] = (
    ("AdamW", {"amsgrad": True}), ("Adam", {}), ("SGD", {"momentum": 0.9, "nesterov": True}), ("Adagrad", {}),
    ("RMSprop", {"momentum": 0.5}),
)  # fmt: skip
WEIGHTS, BLOCK, COPIES = 430, 2**16 + 3, {"cuda": 400, "cpu": 3}


@check("training.many_weights", devices=("cuda", "cpu"), measured=(*H200S, X86_GRID, EMULATED_GRID))
def many_weights(context: Context) -> Measured:
    """Step hundreds of weights at once, some of them empty and one very large, and unscale their gradients.

    All operations are element-wise, so the reference is the optimiser's definition for a vector of all weights. The
    copies in the large weight must remain equal, apart from rounding.
    """
    cases = Cases("many weights at once", REMEDY)
    generator, copies = context.generator(f"many weights {context.seed}"), COPIES[context.device]
    sizes = torch.randint(0, 400, (WEIGHTS,), generator=generator)
    sizes[torch.randperm(WEIGHTS, generator=generator)[:36]] = torch.tensor([0, 0, 0, 0, 1, 65_537]).repeat(6)
    largest = int(torch.randint(0, WEIGHTS, (), generator=generator))
    sizes[largest] = BLOCK

    def parts(vector: torch.Tensor) -> list[torch.Tensor]:
        shares = list(vector.split(sizes.tolist()))
        shares[largest] = shares[largest].repeat(copies)
        return shares

    def joined(case: str, shares: list[torch.Tensor]) -> torch.Tensor:
        rows = shares[largest].view(-1, min(BLOCK, shares[largest].numel()))
        allowed = 1e-5 * (rows[:1].abs() + rows[:1].abs().amax())
        is_right = bool(((rows - rows[:1]).abs() <= allowed).all())
        cases.expect(f"{case}, copies in the large weight", is_right, "differ")
        shares[largest] = rows[0]
        return torch.cat([share.flatten() for share in shares])

    vector, *gradients = (torch.randn(int(sizes.sum()), generator=generator) for _unused in range(4))
    first, *others = OF_MANY
    for name, options in OF_MANY if context.full else (first, others[context.seed % len(others)]):
        kind, unit = functools.partial(ByDefinition, name), OPTIMIZER_UNITS * 3 * UNIT_ROUNDOFF["float32"]
        rows = [[gradient] for gradient in gradients]
        exact, greatest = stepped(kind, options, [vector], rows, "cpu", torch.float64)
        for way in ("foreach", "fused"):
            chosen, split = {**options, way: True}, (parts(vector), [parts(gradient) for gradient in gradients])
            # Some optimisers have no fused kernel.
            with contextlib.suppress(TypeError, *([RuntimeError] if way == "fused" else [])):
                computed, _unused = stepped(getattr(torch.optim, name), chosen, *split, context.device, torch.float32)
                for part in sorted(exact.keys() & computed.keys()):
                    shares = [computed[part.replace("weight 0", f"weight {number}")] for number in range(WEIGHTS)]
                    case = f"{name}, {way}, {part}"
                    actual = joined(case, shares)
                    relative = unit + complement_error(chosen, part)
                    expected = exact[part].expand(actual.shape)
                    cases.compare(case, actual, expected, relative * (expected.abs() + greatest[part]))
    on_device = [share.to(context.device) for share in parts(vector)]
    squares = torch.stack([share.double().square().sum() for share in parts(vector)])
    norms = torch.stack(torch._foreach_norm(on_device))
    cases.compare("norms", norms, squares.sqrt(), 1e-4 * squares.sqrt())
    factors = torch.arange(WEIGHTS).double() / 8
    scaled = joined("scaled", list(torch._foreach_mul(on_device, factors.tolist())))
    exact_scaled = vector * factors.float().repeat_interleave(sizes)
    cases.exactly("each scaled by its number", scaled, exact_scaled)
    for number, value in ((-1, 0.0), (largest, math.inf), (int(sizes.nonzero()[0]), math.nan)):
        shares = [share.clone() for share in on_device]
        if number >= 0:
            shares[number][-1] = value
        flag, scale = (torch.full((), start, device=context.device) for start in (0.0, 0.5))
        torch._amp_foreach_non_finite_check_and_unscale_([share for share in shares if share.numel()], flag, scale)
        cases.exactly(f"whether a gradient has {value}", flag, torch.tensor(float(number >= 0)))
        if number < 0:
            cases.exactly("unscaled", joined("unscaled", shares), vector / 2)
    return cases.result()


@check("training.packed", devices=("cuda", "cpu"), measured=(*H200S, X86_GRID, EMULATED_GRID))
def packed(context: Context) -> Measured:
    """Compare recurrent networks on packed sequences, whose lengths are not in order, with each sequence alone."""
    from torch.nn.utils import rnn

    cases, generator = Cases("a packed sequence", REMEDY), context.generator(f"packed {context.seed}")

    def joined(state: t.Any) -> torch.Tensor:
        return torch.cat(state, 2) if isinstance(state, tuple) else state

    for kind, bidirectional, first, options in itertools.product(
        (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN), (False, True), (False, True), ({}, {"proj_size": 5})
    ):
        if options and kind is not torch.nn.LSTM:
            continue
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(context.seed)
            exact = kind(6, 9, 2, bidirectional=bidirectional, batch_first=first, **options).double()
        network = copy.deepcopy(exact).to(context.device, torch.float32)
        lengths = torch.randint(1, 14, (8,), generator=generator)
        padded = torch.randn(8, 13, 6, generator=generator)
        leaf, on_device = padded.double().requires_grad_(), padded.to(context.device).requires_grad_()
        alone = [exact(row[None, :length] if first else row[:length, None])
                 for row, length in zip(leaf, lengths)]  # fmt: skip
        results = [result.squeeze(0 if first else 1) for result, _state in alone]
        states = [joined(state).flatten() for _result, state in alone]
        with _deterministic():
            sequence = on_device if first else on_device.transpose(0, 1)
            parts = rnn.pack_padded_sequence(sequence, lengths, batch_first=first, enforce_sorted=False)
            actual, state = network(parts)
            actual, counts = rnn.pad_packed_sequence(actual, batch_first=True, total_length=13)
            actual.square().sum().backward()
        sum(result.square().sum() for result in results).backward()
        name = f"{kind.__name__}, both directions {bidirectional}, batch first {first}, {options}"
        expected = {
            "results": (actual, rnn.pad_sequence([*results, padded.new_zeros(13, results[0].shape[1])], True)[:8]),
            "states": (joined(state).transpose(0, 1).flatten(1), torch.stack(states)),
            "gradient": (on_device.grad, leaf.grad),
        }
        cases.exactly(f"{name}, lengths", counts, lengths)
        for part, (value, reference) in expected.items():
            reference = reference.detach()
            cases.compare(f"{name}, {part}", value, reference, 1e-4 * (reference.abs() + reference.abs().amax() / 8))
    return cases.result()
