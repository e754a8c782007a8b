"""The network that a check trains, the recipes for training it, and optimisers by definition as references."""

from __future__ import annotations

import math
import typing as t

from ...check import Context
from ..bounds import functions_of, torch

if t.TYPE_CHECKING:
    Batch = tuple[torch.Tensor, torch.Tensor]

STEPS, BATCHES = 30, 4


def _transformer() -> torch.nn.Module:
    from torch import nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(32), nn.LayerNorm(32)
            self.input, self.output = nn.Linear(32, 96), nn.Linear(32, 32)
            self.feed = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            parts = self.input(self.before(x)).chunk(3, -1)
            heads = [part.unflatten(-1, (2, 16)).transpose(1, 2) for part in parts]
            attended = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + self.output(attended.transpose(1, 2).flatten(2))
            return x + self.feed(self.after(x))

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(61, 32), nn.Embedding(16, 32)
            self.parts = nn.ModuleList([Block(), Block()])
            self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 61)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))
            for part in self.parts:
                hidden = part(hidden)
            return self.head(self.norm(hidden)).flatten(0, 1)

    return Transformer()


def draw(context: Context) -> tuple[t.Any, list[Batch]]:
    """Return a transformer in float64, with weights that float32 can represent, and the batch for each step."""
    generator = context.generator("training transformer")
    with torch.random.fork_rng(devices=[]):
        network = _transformer().double()
    with torch.no_grad():
        for weight in network.parameters():
            values = torch.randn(weight.shape, generator=generator)
            # Initialise like torch: 1 and 0 for a normalisation, otherwise scaled by the number of inputs.
            ones = weight.dim() == 1 and bool((weight == 1).all())
            spread = 0.02 if weight.dim() == 1 else 1 / math.sqrt(weight[0].numel())
            weight.copy_(values * spread + float(ones))
    batches: list[Batch] = []
    for _number in range(BATCHES):
        text = torch.randint(0, 61, (8, 17), generator=generator)
        batches.append((text[:, :-1], text[:, 1:].flatten()))
    return network, [batches[step % BATCHES] for step in range(STEPS)]


class Recipe(t.NamedTuple):
    """A way to train a network.

    :ivar form: ``float32``, or the format for autocast.
    :ivar options: options of the optimiser, which is AdamW: ``fused``, ``foreach``.
    :ivar checkpoints: whether each part is recomputed in the backward pass.
    """

    name: str
    form: str = "float32"
    options: t.Mapping[str, bool] = {}
    checkpoints: bool = False


#: The recipes by which the network is trained.
RECIPES = [Recipe(name, *values()) for name, values in functions_of("recipes", "").items()]
#: The epsilon is larger than gradients that consist of rounding errors, which Adam would turn into full steps.
OPTIONS = {"lr": 3e-3, "eps": 1e-3, "weight_decay": 0.1}


class ByDefinition:
    """An optimiser as defined in its paper, which is the reference for torch's own.

    Adam: Kingma and Ba, 2015, algorithm 1; AdamW: Loshchilov and Hutter, 2019, algorithm 2; AMSGrad: Reddi et al.,
    2018; SGD: Sutskever et al., 2013, in the form given in torch's documentation, like RMSprop and Adagrad.

    :cvar KNOWN: the supported optimisers, by their names in torch.optim.
    :ivar state: the moments of each weight, by torch's names for them.
    """

    KNOWN = ("Adagrad", "Adam", "AdamW", "RMSprop", "SGD")

    def __init__(self, name: str, weights: t.Sequence[torch.Tensor], **options: t.Any) -> None:
        self.name, self.weights, self.options = name, weights, options
        self.count = 0
        self.state: dict[torch.Tensor, dict[str, t.Any]] = {weight: {} for weight in weights}

    def zero_grad(self) -> None:
        for weight in self.weights:
            weight.grad = None

    def step(self) -> None:
        self.count += 1
        with torch.no_grad():
            for weight, state in self.state.items():
                state["step"] = weight.new_tensor(self.count)
                gradient = -weight.grad if self.options.get("maximize") else weight.grad
                decay = self.options.get("weight_decay", 0.01 if self.name == "AdamW" else 0.0)
                if self.name == "AdamW":
                    weight.mul_(1 - self.options.get("lr", 1e-3) * decay)
                else:
                    gradient = gradient + decay * weight
                weight.sub_(getattr(self, f"_{self.name.lower()}")(gradient, state))

    def _adam(self, gradient: torch.Tensor, state: dict[str, t.Any]) -> torch.Tensor:
        first_decay, second_decay = self.options.get("betas", (0.9, 0.999))
        state["exp_avg"] = first_decay * state.get("exp_avg", 0) + (1 - first_decay) * gradient
        state["exp_avg_sq"] = second_decay * state.get("exp_avg_sq", 0) + (1 - second_decay) * gradient**2
        square = state["exp_avg_sq"]
        if self.options.get("amsgrad"):
            square = torch.maximum(state.get("max_exp_avg_sq", torch.zeros_like(square)), square)
            state["max_exp_avg_sq"] = square
        root = (square / (1 - second_decay**self.count)).sqrt() + self.options.get("eps", 1e-8)
        return self.options.get("lr", 1e-3) * state["exp_avg"] / (1 - first_decay**self.count) / root

    _adamw = _adam

    def _sgd(self, gradient: torch.Tensor, state: dict[str, t.Any]) -> torch.Tensor:
        momentum, rate = self.options.get("momentum", 0.0), self.options.get("lr", 1e-3)
        if not momentum:
            return rate * gradient
        new = gradient if "momentum_buffer" not in state else (1 - self.options.get("dampening", 0.0)) * gradient
        state["momentum_buffer"] = momentum * state.get("momentum_buffer", 0) + new
        buffer = state["momentum_buffer"]
        return rate * (gradient + momentum * buffer if self.options.get("nesterov") else buffer)

    def _rmsprop(self, gradient: torch.Tensor, state: dict[str, t.Any]) -> torch.Tensor:
        alpha, rate = self.options.get("alpha", 0.99), self.options.get("lr", 1e-2)
        state["square_avg"] = alpha * state.get("square_avg", 0) + (1 - alpha) * gradient**2
        variance = state["square_avg"]
        if self.options.get("centered"):
            state["grad_avg"] = alpha * state.get("grad_avg", 0) + (1 - alpha) * gradient
            variance = variance - state["grad_avg"] ** 2
        step = gradient / (variance.sqrt() + self.options.get("eps", 1e-8))
        momentum = self.options.get("momentum", 0.0)
        state["momentum_buffer"] = momentum * state.get("momentum_buffer", 0) + step
        return rate * state["momentum_buffer"]

    def _adagrad(self, gradient: torch.Tensor, state: dict[str, t.Any]) -> torch.Tensor:
        rate = self.options.get("lr", 1e-2) / (1 + (self.count - 1) * self.options.get("lr_decay", 0.0))
        state["sum"] = state.get("sum", self.options.get("initial_accumulator_value", 0)) + gradient**2
        return rate * gradient / (state["sum"].sqrt() + self.options.get("eps", 1e-10))
