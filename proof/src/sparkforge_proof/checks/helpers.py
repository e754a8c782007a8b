# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What trains around a network: clipping, checkpoints, hooks, transforms of functions, autocast, averaged weights.

Whole numbers where an operator allows them, so that results are exact; else float64 on the CPU within what float32's
roundings explain: n terms in any order gamma(n), a root and a quotient 4 u.
"""

from __future__ import annotations

import math
import typing as t

from ..check import H100_2_11, X86_CPU, Context, Measured, check
from .bounds import UNIT_ROUNDOFF, Cases, gamma

if t.TYPE_CHECKING:
    import torch

#: How often an entry is called, for what is wrong in some calls alone.
CALLS = 6
REMEDY = "Do not train with this stack: use another torch."
UNIT = UNIT_ROUNDOFF["float32"]


@check("helpers.clipping", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def clipping(context: Context) -> Measured:
    """Norms of gradients and their clipping: each norm, way and number of weights, above the limit and below."""
    import torch

    cases = Cases("the clipping of gradients", REMEDY)
    utils, device = torch.nn.utils, context.device
    for count in (1, 2, 7, 33, 130):
        generator = context.generator(f"clipping {count}")
        shapes = [((3, 5), (17,), (2, 3, 4), (1025,), ())[one % 5] for one in range(count)]
        given = [torch.randn(shape, generator=generator) * (1 + one % 3) for one, shape in enumerate(shapes)]
        exact = torch.cat([one.double().flatten() for one in given])
        for kind in (1.0, 2.0, 3.0, math.inf):
            norm = torch.linalg.vector_norm(exact, kind)
            off = (gamma(64 + math.sqrt(exact.numel()), UNIT) * 4) * norm
            for foreach in (False, True, None):
                # In no order that repeats itself: what is wrong in each second call must meet both.
                limits = (float(norm) / 7, float(norm) * 3)
                for limit in (limits[one] for one in torch.randperm(2, generator=generator).tolist()):
                    weights = _weights(given, device)
                    case = f"norm {kind:g}, {count} weights, foreach={foreach}, {'above' if limit < norm else 'below'}"
                    found = utils.clip_grad_norm_(weights, limit, kind, foreach=foreach)
                    cases.compare(f"{case}, what it returns", found, norm, off)
                    factor = min(1.0, limit / (float(norm) + 1e-6))
                    for number, (weight, before) in enumerate(zip(weights, given)):
                        wanted = before.double() * factor
                        bound = (float(off / norm) + 8 * UNIT) * wanted.abs() if factor < 1 else 4 * UNIT * wanted.abs()
                        cases.compare(f"{case}, gradient {number}", weight.grad, wanted, bound)
        for foreach in (False, True):
            weights = _weights(given, device)
            utils.clip_grad_value_(weights, 0.75, foreach=foreach)
            for weight, before in zip(weights, given):
                cases.exactly(
                    f"by value, {count} weights, foreach={foreach}", weight.grad, before.double().clamp(-0.75, 0.75)
                )
        weights = _weights(given, device)
        line = utils.parameters_to_vector(weights)
        cases.exactly(f"{count} weights as a line", line, exact)
        utils.vector_to_parameters(line * 2, weights)
        for weight, before in zip(weights, given):
            cases.exactly(f"{count} weights from a line", weight, before.double() * 2)
    for bad in (math.nan, math.inf):
        weights = _weights([torch.ones(5), torch.tensor([1.0, bad])], device)
        try:
            utils.clip_grad_norm_(weights, 1.0, error_if_nonfinite=True)
            cases.say(f"a gradient of {bad}", False, "is clipped without an error")
        except RuntimeError:
            cases.say(f"a gradient of {bad}", True, "")
        found = utils.clip_grad_norm_(weights, 1.0)
        cases.say(f"the norm of a gradient of {bad}", not math.isfinite(float(found)), f"is {float(found):g}")
    for form in ("bfloat16", "float16"):
        given = [torch.ones(300, dtype=getattr(torch, form)) * 200, torch.ones(41, dtype=getattr(torch, form))]
        weights = _weights(given, device)
        found = utils.clip_grad_norm_(weights, 1.0)
        norm = torch.tensor(math.sqrt(300 * 200**2 + 41), dtype=torch.float64)
        cases.compare(f"the norm in {form}", found, norm, 8 * UNIT_ROUNDOFF[form] * norm)
        wanted = torch.full((300,), 200.0, dtype=torch.float64) / norm
        cases.compare(f"a clipped gradient in {form}", weights[0].grad, wanted, 16 * UNIT_ROUNDOFF[form] * wanted)
    return cases.result()


def _weights(given: t.Sequence[torch.Tensor], device: str) -> list[torch.nn.Parameter]:
    import torch

    found = [torch.nn.Parameter(one.detach().to(device, copy=True)) for one in given]
    for weight, one in zip(found, given):
        weight.grad = one.detach().to(device, copy=True)
    return found


def _network(context: Context, dropout: float = 0.0) -> tuple[t.Any, torch.Tensor]:
    """Return a network of whole numbers on the device, and an input."""
    import torch

    generator = context.generator("helpers network")
    layers = [torch.nn.Linear(12, 12) for _unused in range(4)]
    parts: list[t.Any] = []
    for layer in layers:
        with torch.no_grad():
            for weight in layer.parameters():
                weight.copy_(torch.randint(-1, 2, weight.shape, generator=generator))
        parts += [layer, torch.nn.ReLU(), torch.nn.Dropout(dropout)]
    return torch.nn.Sequential(*parts).to(context.device), torch.randint(-2, 3, (40, 12), generator=generator).float()


@check("helpers.checkpoint", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def checkpoint(context: Context) -> Measured:
    """Activations that are computed again or kept elsewhere: the same results and gradients, with the same dropout."""
    import torch
    from torch.utils import checkpoint as checkpoints

    cases = Cases("a checkpoint of activations", REMEDY)
    device = context.device

    def run(wrap: t.Callable[[t.Any, torch.Tensor], torch.Tensor], dropout: float) -> list[torch.Tensor]:
        network, values = _network(context, dropout)
        leaf = values.to(device).requires_grad_()
        torch.manual_seed(11)
        result = wrap(network, leaf)
        # Numbers drawn between the passes must not change those that the second pass draws again.
        other = torch.rand(1000, device=device)
        (result * torch.arange(12.0, device=device)).sum().backward()
        gradients = [t.cast("torch.Tensor", one.grad) for one in (leaf, *network.parameters())]
        return [result.detach(), *gradients, other, torch.rand(5, device=device)]

    def saved(network: t.Any, x: torch.Tensor) -> torch.Tensor:
        with torch.autograd.graph.save_on_cpu(pin_memory=device == "cuda"):
            return t.cast("torch.Tensor", network(x))

    def packed(network: t.Any, x: torch.Tensor) -> torch.Tensor:
        with torch.autograd.graph.saved_tensors_hooks(lambda y: y.clone(), lambda y: y.clone()):
            return t.cast("torch.Tensor", network(x))

    def nested(network: t.Any, x: torch.Tensor) -> torch.Tensor:
        def outer(y: torch.Tensor) -> torch.Tensor:
            first = checkpoints.checkpoint(network[:6], y, use_reentrant=False)
            return t.cast("torch.Tensor", network[6:](first))

        return t.cast("torch.Tensor", checkpoints.checkpoint(outer, x, use_reentrant=False))

    ways: dict[str, t.Callable[[t.Any, torch.Tensor], torch.Tensor]] = {
        "reentrant": lambda network, x: checkpoints.checkpoint(network, x, use_reentrant=True),
        "not reentrant": lambda network, x: checkpoints.checkpoint(network, x, use_reentrant=False),
        "in segments": lambda network, x: checkpoints.checkpoint_sequential(network, 3, x, use_reentrant=False),
        "within another": nested,
        "kept on the host": saved,
        "packed by hooks": packed,
    }
    for dropout in (0.0, 0.5):
        wanted = run(lambda network, x: t.cast("torch.Tensor", network(x)), dropout)
        if not dropout:
            network, values = _network(context)
            exact, right = network.to("cpu").double(), values.double().requires_grad_()
            result = exact(right)
            true = torch.autograd.grad((result * torch.arange(12.0)).sum(), [right, *exact.parameters()])
            for number, (one, other) in enumerate(zip(wanted, [result.detach(), *true])):
                cases.exactly(f"without any, tensor {number}", one, other)
        for name, wrap in ways.items():
            for number, (one, other) in enumerate(zip(run(wrap, dropout), wanted)):
                cases.exactly(f"{name}, dropout {dropout}, tensor {number}", one, other)
    network, values = _network(context, 0.5)
    leaf = values.to(device).requires_grad_()
    state = torch.cuda.get_rng_state() if device == "cuda" else torch.get_rng_state()
    with torch.random.fork_rng():
        torch.rand(3, device=device)
    after = torch.cuda.get_rng_state() if device == "cuda" else torch.get_rng_state()
    cases.exactly("the generator's state behind a fork", after, state)
    result = checkpoints.checkpoint(network, leaf, use_reentrant=False)
    (gradient,) = torch.autograd.grad(result.sum(), leaf)
    cases.say("a gradient through a checkpoint", bool(torch.isfinite(gradient).all()), "is not finite")
    return cases.result()


@check("helpers.autograd", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def autograd(context: Context) -> Measured:
    """Gradients that add up, hooks, second derivatives, Jacobians, batches of functions and functions of one's own."""
    import torch

    cases = Cases("autograd", REMEDY)
    device, generator = context.device, context.generator("helpers autograd")
    given = torch.randint(-3, 4, (5, 4), generator=generator).double()
    other = torch.randint(-3, 4, (4, 5), generator=generator).double()

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x @ other.to(x.device, x.dtype) @ x).pow(2).sum(0)

    def both(words: str, work: t.Callable[[torch.Tensor], t.Any]) -> None:
        wanted = work(given.clone())
        for _call in range(CALLS):
            found = work(given.float().to(device))
            listed = [list(one) if isinstance(one, (tuple, list)) else [one] for one in (found, wanted)]
            for number, (one, right) in enumerate(zip(*listed)):
                cases.exactly(f"{words}, {number}", one, right.detach())

    functional = torch.autograd.functional
    vector = torch.arange(20.0).reshape(5, 4) - 9
    both("jacobian", lambda x: functional.jacobian(function, x))
    both("hessian", lambda x: functional.hessian(lambda y: (y @ other.to(y.device, y.dtype)).pow(2).sum(), x))
    # By the formula too, for an entry that is broken may spoil the reference as well.
    square, there = other @ other.t(), given.float().to(device)
    wanted = torch.zeros(5, 4, 5, 4, dtype=torch.float64)
    for row in range(5):
        wanted[row, :, row] = 2 * square
    found = functional.hessian(lambda y: (y @ other.to(y.device, y.dtype)).pow(2).sum(), there)
    cases.exactly("hessian, by the formula", found, wanted)
    slopes = 3 * given * given
    flat = functional.jacobian(lambda y: (y**3).sum(), there)
    cases.exactly("jacobian, by the formula", flat, slopes)
    cases.exactly("grad, by the formula", _cubed(there), slopes)
    both("vjp", lambda x: functional.vjp(function, x, torch.arange(4.0).to(x))[1])
    both("jvp", lambda x: functional.jvp(function, x, vector.to(x))[1])
    both("hvp", lambda x: functional.hvp(lambda y: (y * y * y).sum(), x, vector.to(x))[1])

    def accumulated(x: torch.Tensor) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        for number in range(7):
            (function(leaf) * number).sum().backward()
        return t.cast("torch.Tensor", leaf.grad)

    def hooked(x: torch.Tensor) -> list[torch.Tensor]:
        seen: list[torch.Tensor] = []
        leaf = x.clone().requires_grad_()
        middle = leaf * 3
        middle.register_hook(lambda g: seen.append(g.clone()) or g * 2)  # type: ignore[func-returns-value]
        leaf.register_hook(lambda g: g + 1)
        leaf.register_post_accumulate_grad_hook(lambda y: seen.append(y.grad.clone()))
        function(middle).sum().backward()
        return [*seen, t.cast("torch.Tensor", leaf.grad)]

    def twice(x: torch.Tensor) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        (first,) = torch.autograd.grad((leaf**3 * leaf.sum(0)).sum(), leaf, create_graph=True)
        return torch.autograd.grad((first * first).sum(), leaf)[0]

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(context: t.Any, x: torch.Tensor) -> torch.Tensor:
            context.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(context: t.Any, gradient: torch.Tensor) -> torch.Tensor:
            (x,) = context.saved_tensors
            return gradient * 3 * x**2

    def own(x: torch.Tensor) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(Cube.apply(leaf * 2).sum(), leaf)[0]

    def retained(x: torch.Tensor) -> list[torch.Tensor]:
        leaf = x.clone().requires_grad_()
        middle = leaf * leaf
        middle.retain_grad()
        middle.sum().backward(retain_graph=True)
        first = t.cast("torch.Tensor", leaf.grad).clone()
        middle.sum().backward()
        return [first, t.cast("torch.Tensor", leaf.grad), t.cast("torch.Tensor", middle.grad)]

    for words, work in (("gradients that add up", accumulated), ("hooks", hooked), ("second derivatives", twice),
                        ("a function of one's own", own), ("a graph that is kept", retained)):  # fmt: skip
        both(words, work)
    both("detached and not", lambda x: _partial(x))
    func = torch.func
    both("vmap", lambda x: func.vmap(lambda row: row * row.sum() - row.flip(0))(x))
    both("vmap of products", lambda x: func.vmap(torch.mv, (None, 0))(x, x))
    both("gradients of each row", lambda x: func.vmap(func.grad(lambda row: (row**3).sum()))(x))
    both("func.jacrev", lambda x: func.jacrev(function)(x))
    both("func.jacfwd", lambda x: func.jacfwd(function)(x))
    both("func.hessian", lambda x: func.hessian(lambda y: (y**3).sum())(x))
    both("func.jvp", lambda x: func.jvp(function, (x,), (vector.to(x),)))
    both("func.functional_call", lambda x: func.functional_call(
        torch.nn.Linear(4, 2).to(x), {"weight": x[:2].clone(), "bias": x[0, :2].clone()}, (x,)))  # fmt: skip
    _autocast(cases, context)
    _averages(cases, context)
    return cases.result()


def _cubed(x: torch.Tensor) -> torch.Tensor:
    import torch

    leaf = x.clone().requires_grad_()
    return torch.autograd.grad((leaf**3).sum(), leaf)[0]


def _partial(x: torch.Tensor) -> torch.Tensor:
    import torch

    leaf = x.clone().requires_grad_()
    with torch.no_grad():
        constant = leaf * 5
    return torch.autograd.grad((leaf * constant + leaf.detach() * leaf).sum(), leaf)[0]


def _autocast(cases: Cases, context: Context) -> None:
    """Within autocast a product has the format that was asked for and a loss float32: whole numbers, exact in each."""
    import torch
    import torch.nn.functional as f

    generator, device = context.generator("helpers autocast"), context.device
    left, right = (torch.randint(-2, 3, (16, 16), generator=generator).float() for _unused in range(2))
    for form in (torch.bfloat16, torch.float16):
        leaf, weight = left.to(device).requires_grad_(), right.to(device).requires_grad_()
        with torch.autocast(device, dtype=form):
            product = leaf @ weight
            for operator, kept in ((f.linear(leaf, weight), form), (torch.bmm(leaf[None], weight[None]), form),
                                   (f.mse_loss(leaf, weight), torch.float32)):  # fmt: skip
                cases.say(f"a format within autocast of {form}", operator.dtype is kept, f"is {operator.dtype}")
            with torch.autocast(device, enabled=False):
                plain = leaf @ weight
            total = (product.float() * plain).sum()
        cases.say(f"a product within autocast of {form}", product.dtype is form, f"is {product.dtype}")
        cases.exactly(f"a product within autocast of {form}", product, left.double() @ right.double())
        cases.exactly("a product where autocast is off", plain, left.double() @ right.double())
        back = torch.autograd.grad(total, [leaf, weight])
        exact = left.double().requires_grad_(), right.double().requires_grad_()
        true = torch.autograd.grad((exact[0] @ exact[1]).pow(2).sum(), exact)
        for one, other in zip(back, true):
            bound = 8 * UNIT_ROUNDOFF["bfloat16" if form is torch.bfloat16 else "float16"] * other.abs().amax()
            cases.compare(f"gradients within autocast of {form}", one, other, bound * torch.ones(()))


def _averages(cases: Cases, context: Context) -> None:
    """Averaged weights, weight norm and spectral norm, padded sequences."""
    import torch

    device, utils, generator = context.device, torch.nn.utils, context.generator("helpers averages")
    model = torch.nn.Linear(9, 7).to(device)
    averaged, kept = torch.optim.swa_utils.AveragedModel(model), []
    moving = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.75))
    ema = None
    for _unused in range(6):
        values = torch.randn(7, 9, generator=generator)
        with torch.no_grad():
            model.weight.copy_(values)
        averaged.update_parameters(model)
        moving.update_parameters(model)
        kept.append(values.double())
        ema = values.double() if ema is None else 0.75 * ema + 0.25 * values.double()
    mean = torch.stack(kept).mean(0)
    cases.compare("averaged weights", averaged.module.weight, mean, 12 * UNIT * torch.stack(kept).abs().amax(0))
    cases.compare(
        "moving averages of weights",
        moving.module.weight,
        t.cast("torch.Tensor", ema),
        12 * UNIT * torch.stack(kept).abs().amax(0),
    )
    weight = torch.randn(7, 9, generator=generator)
    for name, wrap, wanted in (
        ("weight norm", utils.parametrizations.weight_norm, weight.double()),
        ("an orthogonal weight", utils.parametrizations.orthogonal, None),
    ):
        layer = torch.nn.Linear(9, 7, bias=False).to(device)
        with torch.no_grad():
            layer.weight.copy_(weight)
        layer = wrap(layer)
        found = layer.weight.detach().cpu().double()
        if wanted is None:
            found, wanted = found @ found.T, torch.eye(7, dtype=torch.float64)
        cases.compare(name, found, wanted, 64 * UNIT * wanted.abs().amax() * torch.ones(()))
    rows = [torch.randint(-9, 9, (length, 3), generator=generator).double() for length in (1, 7, 4, 9, 2)]
    there = [row.float().to(device) for row in rows]
    wanted = torch.full((5, 9, 3), 5.0, dtype=torch.float64)
    for number, row in enumerate(rows):
        wanted[number, : len(row)] = row
    for _call in range(CALLS):
        padded = utils.rnn.pad_sequence(there, batch_first=True, padding_value=5)
        cases.exactly("padded sequences", padded, wanted)
    packed = utils.rnn.pack_padded_sequence(
        padded, torch.tensor([len(row) for row in rows]), True, enforce_sorted=False
    )
    again, lengths = utils.rnn.pad_packed_sequence(packed, batch_first=True, padding_value=5)
    cases.exactly("packed and padded again", again, wanted)
    cases.exactly("their lengths", lengths, torch.tensor([len(row) for row in rows]))
    for one, row in zip(
        utils.rnn.unpad_sequence(padded, torch.tensor([len(row) for row in rows]), batch_first=True), rows
    ):
        cases.exactly("padding removed", one, row)
