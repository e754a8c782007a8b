"""Check random numbers: their distributions, tails and rates, independent calls and generators, and states.

The share of n draws in an interval of probability p has a standard error of sqrt(p (1 - p) / n). ``SIGMAS`` such errors
are allowed, a limit that about ten thousand comparisons exceed once in fifty thousand runs. The intervals come from the
definition of the distribution function; the outermost have a probability of a hundred-thousandth.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import random
import typing as t

from ...check import EMULATED_GRID, SEEN_ARM_GRID, X86_GRID, Context, Measured, check
from ..bounds import Cases, torch

REMEDY = (
    "Do not train or sample with this stack: its random numbers are distributed wrong; use another torch, and update "
    "the driver."
)
SIGMAS = 6.5
COUNT = {"cuda": 2**20 + 5, "cpu": 2**18 + 5}
#: The number of values that a GPU draws and counts without a copy, enough to show a shift by a few thousandths.
GPU_COUNT = 2**25
#: The number of consecutive calls, chosen so that a fault in every tenth call occurs twice.
CALLS = 21
#: The probabilities at the bounds of the intervals; the outermost intervals are the tails.
EDGES = (1e-5, 1e-4, 1e-3, 0.01, 0.05, *(n / 16 for n in range(2, 15)), 0.95, 0.99, 0.999, 0.9999, 0.99999)


class Judge:
    """Compares random numbers with their distribution."""

    def __init__(self, cases: Cases) -> None:
        self.cases = cases

    def share(self, case: str, hits: torch.Tensor, probability: float) -> None:
        """Compare the share of hits with a probability."""
        count = hits.numel()
        self.rate(case, int(hits.count_nonzero()) / count, probability, probability * (1 - probability), count)

    def integers(self, case: str, values: torch.Tensor, mean: float, variance: float, low: float, high: float) -> None:
        """Compare integers with their range, and require each to be independent of the previous one."""
        values = values.double().flatten().cpu()
        is_right = bool(((values >= low) & (values <= high) & (values == values.floor())).all())
        self.cases.expect(f"{case}, each value", is_right, f"is not a whole number from {low:g} to {high:g}")
        centred = torch.nan_to_num(values) - mean
        product = float((centred[1:] * centred[:-1]).mean())
        self.rate(f"{case}, neighbours", product, 0.0, variance**2, len(values) - 1)

    def rate(self, case: str, actual_mean: float, expected_mean: float, variance: float, count: int) -> None:
        """Compare the mean of independent values with its expectation; their variance is known."""
        # The counts of a rare event are not normally distributed, so up to three more hits are allowed.
        tolerance = SIGMAS * math.sqrt(variance / count) + 3.0 / count
        actual, expected = (torch.tensor(value, dtype=torch.float64) for value in (actual_mean, expected_mean))
        self.cases.compare(case, actual, expected, torch.tensor(tolerance, dtype=torch.float64))

    def uniform(self, case: str, values: torch.Tensor) -> None:
        """Compare values with the uniform distribution from 0 to 1, including its tails, and with their neighbours."""
        values = values.double().flatten()
        # A value at either end may be rounded out of the range.
        inside = bool(((values >= -1e-6) & (values <= 1 + 1e-6)).all())
        self.cases.expect(f"{case}, range", inside, "has values out of its range")
        for edge in EDGES:
            self.share(f"{case}, below {edge:g}", values < edge, edge)
        centred = values - 0.5
        for lag in (1, 2, 3, 4, 8, 31, 32, 64, 128, 256, 1024, 4096, 65536):
            if lag < len(values) // 2:
                self.rate(f"{case}, values {lag} apart", float((centred[lag:] * centred[:-lag]).mean()), 0.0, 1 / 144,
                          len(values) - lag)  # fmt: skip
        for lanes in (4, 7, 32):
            lines = centred[: len(values) // lanes * lanes].view(-1, lanes).mean(0)
            self.rate(f"{case}, each of {lanes} lanes", float(lines.abs().max()), 0.0, 1 / 12, len(values) // lanes)
        parts = centred[: len(values) // 64 * 64].view(64, -1).mean(1)
        self.rate(f"{case}, each sixty-fourth", float(parts.abs().max()), 0.0, 1 / 12, len(values) // 64)
        # Three independent values in a row rise with a probability of 1/6.
        triples = values[: len(values) // 3 * 3].view(-1, 3)
        rising = (triples[:, 0] < triples[:, 1]) & (triples[:, 1] < triples[:, 2])
        self.share(f"{case}, three that rise", rising, 1 / 6)
        self.cases.expect(f"{case}, finite", bool(torch.isfinite(values).all()), "has values that are not finite")


def _continuous() -> dict[str, tuple[t.Any, t.Any]]:
    """Return pairs: a function that fills a tensor with random numbers, and those numbers' distribution function."""
    normal = torch.special.ndtr
    return {
        "uniform": (lambda x, g: x.uniform_(generator=g), lambda x: x),
        "uniform from -3 to 5": (lambda x, g: x.uniform_(-3, 5, generator=g), lambda x: (x + 3) / 8),
        "normal": (lambda x, g: x.normal_(generator=g), normal),
        "normal of mean 2": (lambda x, g: x.normal_(2, 0.5, generator=g), lambda x: normal((x - 2) / 0.5)),
        "exponential": (lambda x, g: x.exponential_(1.0, generator=g), lambda x: -torch.expm1(-x)),
        "exponential of rate 4": (lambda x, g: x.exponential_(4.0, generator=g), lambda x: -torch.expm1(-4 * x)),
        "log_normal": (lambda x, g: x.log_normal_(0.0, 0.5, generator=g), lambda x: normal(x.log() / 0.5)),
        "cauchy": (lambda x, g: x.cauchy_(generator=g), lambda x: 0.5 + torch.atan(x) / math.pi),
    }


@check("chance.distributions", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM_GRID)
def distributions(context: Context) -> Measured:
    """Check continuous distributions and their tails in each format, in tensors of several sizes and layouts."""
    cases = Cases("a distribution", REMEDY)
    judge, count, device = Judge(cases), COUNT[context.device], context.device
    seed = int(torch.randint(0, 2**40, (1,), generator=context.generator("chance")))
    generator = torch.Generator(device=device).manual_seed(seed)
    for name, (fill, function) in _continuous().items():
        # Tails need all 24 bits of float32, so the 16-bit formats are judged more coarsely below.
        for form in ("float32", "float64"):
            values = fill(torch.empty(count, dtype=getattr(torch, form), device=device), generator)
            judge.uniform(f"{name}, {form}", function(values.double()).cpu())
        if device == "cuda":
            shares = function(fill(torch.empty(GPU_COUNT, device=device), generator).double())
            for edge in EDGES:
                judge.share(f"{name}, {GPU_COUNT:,}, below {edge:g}", shares < edge, edge)
        strided = fill(torch.empty(count // 8, 3, device=device)[:, 1], generator)
        judge.uniform(f"{name}, strided", function(strided.double()).cpu())
        small = torch.stack([fill(torch.empty(5, device=device), generator) for _unused in range(600)])
        judge.uniform(f"{name}, five at a time", function(small.double()).cpu())
        for form in ("float16", "bfloat16"):
            values = fill(torch.empty(count // 4, dtype=getattr(torch, form), device=device), generator)
            shares = function(values.double()).cpu()
            for edge in (0.25, 0.5, 0.75):
                # A bfloat16 value stands for all numbers that are rounded to it.
                error = float(((shares - edge).abs() < 2.0**-6).double().mean()) / 2 if form == "bfloat16" else 2.0**-9
                below = float((shares < edge).double().mean())
                cases.compare(f"{name}, {form}, below {edge}", torch.tensor(below).double(),
                              torch.tensor(edge).double(),
                              torch.tensor(error + SIGMAS * math.sqrt(0.25 / len(shares))).double())  # fmt: skip
    torch.manual_seed(seed)
    normal = torch.special.ndtr
    judge.uniform("rand", torch.rand(count, device=device).cpu())
    judge.uniform("randn", normal(torch.randn(count, device=device).double()).cpu())
    judge.uniform("rand_like", torch.rand_like(torch.empty(count // 8, 8, device=device)).cpu())
    judge.uniform("randn_like", normal(torch.randn_like(torch.empty(8, count // 8, device=device).t()).double()).cpu())
    mean, spread = torch.linspace(-3, 3, count, device=device), torch.linspace(0.5, 2, count, device=device)
    drawn = torch.normal(mean, spread)
    judge.uniform("normal of given means", normal(((drawn - mean) / spread).double()).cpu())
    return cases.result()


@check("chance.rates", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM_GRID)
def rates(context: Context) -> Measured:
    """Check Bernoulli, Poisson, binomial and geometric numbers, integers, permutations, choices, and dropout rates."""
    cases = Cases("a random choice", REMEDY)
    judge, count, device = Judge(cases), COUNT[context.device] // 4, context.device
    torch.manual_seed(int(torch.randint(0, 2**40, (1,), generator=context.generator("rates"))))
    for p in (0.0, 0.001, 0.03, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99, 0.999, 1.0):
        full = torch.full((count,), p, device=device)
        in_place = torch.empty_like(full).bernoulli_(p)
        for name, values in (("bernoulli_", in_place), ("bernoulli", torch.bernoulli(full))):
            judge.share(f"{name} {p}", values.cpu() > 0, p)
            judge.integers(f"{name} {p}", values, p, p * (1 - p), 0, 1)
        if p < 1:
            for form in ("float32", "bfloat16"):
                ones = torch.ones(count // 64, 64, device=device, dtype=getattr(torch, form))
                for name in ("dropout", "native_dropout"):
                    remaining = (
                        torch.dropout(ones, p, True) if name == "dropout" else torch.native_dropout(ones, p, True)[0]
                    )
                    judge.share(f"{name} {p}, {form}", (remaining != 0).cpu(), 1 - p)
                    values = remaining[remaining != 0].double().cpu()
                    expected = torch.full(values.shape, 1 / (1 - p), dtype=torch.float64)
                    bound = 2.0 ** (-21 if form == "float32" else -7) * expected
                    cases.compare(f"{name} {p}, {form}, its factor", values, expected, bound)
    masked = torch.nn.functional.dropout2d(torch.ones(4096, 16, 3, 3, device=device), 0.3)
    judge.share("dropout2d 0.3", (masked[:, :, 0, 0] != 0).cpu(), 0.7)
    cases.expect("dropout2d of whole channels", bool((masked.amax((2, 3)) == masked.amin((2, 3))).all()), "drop parts")
    for rate in (0.1, 1.0, 3.0, 9.5, 30.0, 1000.0):
        values = torch.poisson(torch.full((count,), rate, device=device)).double().cpu()
        judge.integers(f"poisson {rate}", values, rate, rate, 0, math.inf)
        judge.rate(f"poisson {rate}, mean", float(values.mean()), rate, rate, count)
        judge.rate(f"poisson {rate}, variance", float((values - rate).square().mean()), rate, 2 * rate**2 + rate, count)
        judge.share(f"poisson {rate}, zero", values == 0, math.exp(-rate))
        judge.share(f"poisson {rate}, one", values == 1, rate * math.exp(-rate))
    for p in (0.05, 0.3, 0.9):
        values = torch.empty(count, device=device).geometric_(p).double().cpu()
        # CUDA draws a 0 if its uniform number is 1, which happens once in 2^24 draws.
        judge.integers(f"geometric {p}", values, 1 / p, (1 - p) / p**2, 0, math.inf)
        for hits in (1, 2, 5, 20):
            judge.share(f"geometric {p}, {hits}", values == hits, p * (1 - p) ** (hits - 1))
        for trials in (4.0, 40.0, 400.0):
            full = torch.full((count // 4,), trials, device=device)
            values = torch.binomial(full, torch.full_like(full, p)).double().cpu()
            variance = trials * p * (1 - p)
            judge.integers(f"binomial {trials:g} of {p}", values, trials * p, variance, -1, trials + 1)
            judge.rate(f"binomial {trials:g} of {p}", float(values.mean()), trials * p, variance, count // 4)
            spread = float((values - trials * p).square().mean())
            fourth = variance * (1 + 3 * variance * (trials - 2) / trials if trials > 2 else 1) - variance**2
            of_spread = max(fourth, variance**2) + variance
            judge.rate(f"binomial {trials:g} of {p}, variance", spread, variance, of_spread, count // 4)
    _compare_shaped(judge, count // 4, device)
    _compare_integers(judge, cases, count, device)
    _compare_attention(judge, device)
    return cases.result()


def _compare_attention(judge: Judge, device: str) -> None:
    """Compare the number and the scale of the values that dropout in attention keeps."""
    # All keys have the same weight and the value 1, so the result is the number of keys that were kept.
    keys, query = 64, torch.zeros(8, 4, 128, 32, device=device)
    value = torch.ones(8, 4, keys, 32, device=device)
    attended = torch.nn.functional.scaled_dot_product_attention(query, value, value, dropout_p=0.25)[..., 0]
    counts = (attended.double().cpu() * 0.75 * keys).round()
    judge.cases.compare("attention with dropout, shares", attended, counts / 0.75 / keys, torch.tensor(1e-5))
    judge.rate("attention with dropout of 0.25", float(counts.mean()) / keys, 0.75, 0.1875, keys * counts.numel())


def _compare_shaped(judge: Judge, count: int, device: str) -> None:
    """Compare the means and variances of gamma, beta and Dirichlet distributions, also for shapes below 1."""
    for shape in (0.3, 1.0, 4.5, 50.0):
        values = torch._standard_gamma(torch.full((count,), shape, device=device)).double().cpu()
        judge.rate(f"gamma {shape}", float(values.mean()), shape, shape, count)
        fourth = 3 * shape**2 + 6 * shape - shape**2
        judge.rate(f"gamma {shape}, variance", float((values - shape).square().mean()), shape, fourth, count)
        edge = torch.tensor(shape, dtype=torch.float64)
        judge.share(f"gamma {shape}, below its mean", values < shape, float(torch.special.gammainc(edge, edge)))
    values = torch.distributions.Beta(torch.tensor(2.0, device=device), torch.tensor(5.0, device=device)).sample(
        (count,)
    )
    judge.rate("beta", float(values.double().mean()), 2 / 7, 10 / (49 * 8), count)
    values = torch.distributions.Dirichlet(torch.tensor([1.0, 2.0, 5.0], device=device)).sample((count,)).double().cpu()
    for index, share in enumerate((1 / 8, 2 / 8, 5 / 8)):
        judge.rate(f"dirichlet, part {index}", float(values[:, index].mean()), share, share * (1 - share) / 9, count)


def _compare_integers(judge: Judge, cases: Cases, count: int, device: str) -> None:
    """Compare integers in small and large ranges, permutations around block sizes, and weighted choices."""
    for low, high in ((0, 2), (0, 7), (-5, 12), (0, 256), (0, 1000), (-(2**31), 2**31), (0, 3 * 2**40), (0, 2**62)):
        values = torch.randint(low, high, (count,), device=device).cpu()
        inside = bool((values >= low).all() and (values < high).all())
        cases.expect(f"randint from {low} to {high}", inside, "has values out of its range")
        parts = min(high - low, 16)
        position = ((values.double() - low) / (high - low) * parts).floor()
        for part in range(parts):
            size = (math.ceil((part + 1) * (high - low) / parts) - math.ceil(part * (high - low) / parts)) / (
                high - low
            )
            judge.share(f"randint from {low} to {high}, part {part}", position == part, size)
        judge.share(f"randint from {low} to {high}, odd", values % 2 == 1, 0.5 if (high - low) % 2 == 0 else
                    sum(n % 2 for n in range(low, high)) / (high - low))  # fmt: skip
        centred = (values.double() - low) / (high - low - 1) - 0.5
        product = float((centred[1:] * centred[:-1]).mean())
        judge.rate(f"randint from {low} to {high}, neighbours", product, 0.0, 1 / 16, count)
    for size in (1, 2, 3, 7, 31, 64, 100, 1023, 1025, 10_007, 30_000, 30_001, 65_537, 200_003):
        order = torch.randperm(size, device=device).cpu()
        cases.exactly(f"randperm of {size}", order.sort()[0], torch.arange(size))
        if size > 1000:
            judge.share(f"randperm of {size}, rises", (order[1:] > order[:-1])[::2], 0.5)
            fixed_points = float((order == torch.arange(size)).double().sum())
            cases.expect(f"randperm of {size}, at their places", fixed_points <= 14, f"are {fixed_points:g}")
            centred = (order.double() + 0.5) / size - 0.5
            product = float((centred * ((torch.arange(size) + 0.5) / size - 0.5)).mean())
            judge.rate(f"randperm of {size}, place and value", product, 0.0, 1 / 144, size)
    first = torch.stack([torch.randperm(5, device=device) for _unused in range(3000)]).cpu()
    for position in range(5):
        for value in range(5):
            judge.share(f"randperm of 5, {value} at {position}", first[:, position] == value, 0.2)
    for size in (5, 300, 5_000):
        weights = torch.rand(size, generator=torch.Generator().manual_seed(size)) + 0.01
        weights[size // 2] = 0.0
        weights[0] = weights.sum() / 3
        chosen = torch.multinomial(weights.to(device), count // 16, replacement=True).cpu()
        shares = (weights / weights.sum()).double()
        mean = float((shares * torch.arange(size)).sum())
        variance = float((shares * (torch.arange(size) - mean) ** 2).sum())
        judge.integers(f"multinomial of {size}", chosen, mean, variance, 0, size - 1)
        for position in (0, 1, size // 2, size - 1):
            judge.share(f"multinomial of {size}, {position}", chosen == position, float(shares[position]))
        judge.share(f"multinomial of {size}, first half", chosen < size // 2, float(shares[: size // 2].sum()))
        choices = torch.multinomial(weights.to(device).expand(500, -1), min(size - 1, 4)).cpu()
        distinct = all(len(set(row)) == len(row) for row in choices.tolist())
        cases.expect(f"multinomial of {size} without returning", distinct, "chose an element twice")
        judge.share(f"multinomial of {size} without returning, first", choices[:, 0] == 0, float(shares[0]))


@check("chance.independence", devices=("cuda", "cpu"), measured=SEEN_ARM_GRID, factor=1)
def independence(context: Context) -> Measured:
    """Require that no calls, generators or seeds repeat one another, and that a restored state repeats its numbers."""
    cases = Cases("random numbers of several calls", REMEDY)
    judge, device = Judge(cases), context.device
    seed = int(torch.randint(0, 2**40, (1,), generator=context.generator("independence")))
    fills: dict[str, t.Callable[[t.Any, int], torch.Tensor]] = {
        "uniform": lambda g, n: torch.rand(n, generator=g, device=device),
        "normal": lambda g, n: torch.special.ndtr(torch.randn(n, generator=g, device=device).double()),
        "exponential": lambda g, n: -torch.expm1(-torch.empty(n, device=device).exponential_(generator=g).double()),
        "integers": lambda g, n: torch.randint(0, 2**24, (n,), generator=g, device=device).double() / 2**24,
        "permutation": lambda g, n: torch.randperm(n, generator=g, device=device).double() / n,
    }
    for name, fill in fills.items():
        generator = torch.Generator(device=device).manual_seed(seed)
        for size, calls in ((1, 4096), (3, 1024), (257, 256), (1025, 64), (70_001, 9)):
            rows = torch.stack([fill(generator, size) for _unused in range(calls)]).double().cpu()
            case = f"{name}, {calls} calls of {size:,}"
            if size > 1:
                correlation = _largest_correlation(rows[:64])
                judge.rate(f"{case}, correlated", correlation, 0.0, 1.0, size)
                # A state that does not advance repeats itself in each column.
                if name != "permutation":
                    judge.rate(f"{case}, the first", float(rows[:, 0].mean()), 0.5, 1 / 12, calls)
            elif name != "permutation":
                judge.uniform(case, rows.flatten())
        # A CPU generator takes 32-bit seeds.
        for other in (seed + 1, 0, 1, *((seed + 2**32, seed ^ (1 << 33)) if device == "cuda" else ())):
            first, second = (
                fill(torch.Generator(device=device).manual_seed(s), 20_011).double().cpu() for s in (seed, other)
            )
            correlation = _largest_correlation(torch.stack([first, second]))
            judge.rate(f"{name}, seeds {other - seed} apart", correlation, 0.0, 1.0, 20_011)
        _compare_states(cases, name, fill, device, seed)
    _compare_global_states(cases, judge, device, seed)
    _compare_distinct(cases, device, seed)
    _compare_repeats(cases, device)
    return cases.result()


def _largest_correlation(rows: torch.Tensor) -> float:
    """Return the largest correlation between two different rows, aligned and shifted by one."""
    centred = rows - 0.5
    size = rows.shape[1]
    products = [centred @ centred.t()]
    if size > 8:
        products.append(centred[:, 1:] @ centred[:, :-1].t())
    worst = [float((matrix - torch.diag(matrix.diagonal())).abs().max()) * 12 / size for matrix in products]
    # The largest of thousands of correlations is typically almost four standard errors from zero: subtract two.
    return max(0.0, max(worst) - 2.0 / math.sqrt(size)) if size > 8 else 0.0


def _compare_states(cases: Cases, name: str, fill: t.Any, device: str, seed: int) -> None:
    generator = torch.Generator(device=device).manual_seed(seed)
    for size in (1, 5, 1025, 40_003):
        fill(generator, size)
        state = generator.get_state()
        first, second = fill(generator, size), fill(generator, size)
        cases.expect(f"{name}, two calls of {size}", size < 5 or not torch.equal(first, second), "are the same")
        generator.set_state(state)
        cases.exactly(f"{name}, a state set again, {size}", torch.cat([fill(generator, size), fill(generator, size)]),
                      torch.cat([first, second]))  # fmt: skip
        other = torch.Generator(device=device)
        other.set_state(state)
        cases.exactly(f"{name}, another generator in that state, {size}", fill(other, size), first)
        generator.set_state(state)
        cases.exactly(f"{name}, a generator's clone, {size}", fill(generator.clone_state(), size), first)
    generator.manual_seed(seed)
    values = fill(generator, 999)
    cases.exactly(f"{name}, the same seed", fill(torch.Generator(device=device).manual_seed(seed), 999), values)
    cases.expect(f"{name}, the seed that was set", generator.initial_seed() == seed, "differ")


def _compare_global_states(cases: Cases, judge: Judge, device: str, seed: int) -> None:
    """Compare seeds and states of the global generator, and its state after a fork."""
    module: t.Any = torch.cuda if device == "cuda" else torch.random
    torch.manual_seed(seed)
    first = torch.rand(1000, device=device)
    torch.manual_seed(seed)
    cases.exactly("manual_seed", torch.rand(1000, device=device), first)
    # A small seed equals a larger one that has lost its upper bits. A CPU generator takes 32-bit seeds.
    small = seed % 251
    torch.manual_seed(small)
    first_of_small = torch.rand(1000, device=device)
    for bit in range(51 if device == "cuda" else 31):
        torch.manual_seed(small ^ (1 << bit))
        equal = int((torch.rand(1000, device=device) == first_of_small).sum())
        cases.expect(f"a seed with another bit {bit}", equal < 9, f"draws {equal} of 1,000 values again")
    if device == "cuda":
        for setter in (torch.cuda.manual_seed, torch.cuda.manual_seed_all):
            setter(seed)
            cases.exactly(setter.__name__, torch.rand(1000, device=device), first)
        states = torch.cuda.get_rng_state_all()
        expected = torch.randn(77, device=device)
        torch.cuda.set_rng_state_all(states)
        cases.exactly("the states of all devices", torch.randn(77, device=device), expected)
    state = module.get_rng_state()
    expected = torch.cat([torch.rand(77, device=device), torch.randn(5, device=device)])
    module.set_rng_state(state)
    cases.exactly("set_rng_state", torch.cat([torch.rand(77, device=device), torch.randn(5, device=device)]), expected)
    for turn in range(CALLS):
        module.set_rng_state(state)
        cases.exactly(f"set_rng_state, turn {turn + 1}", torch.rand(77, device=device), expected[:77])
    module.set_rng_state(state)
    with torch.random.fork_rng():
        inner = torch.rand(77, device=device)
        torch.rand(1000, device=device)
    cases.exactly("within a fork", inner, expected[:77])
    cases.exactly("after a fork", torch.rand(77, device=device), expected[:77])
    module.set_rng_state(state)
    masks = [torch.nn.functional.dropout(torch.ones(5000, device=device), 0.5) for _unused in range(40)]
    rows = (torch.stack(masks).cpu() > 0).double()
    judge.rate("dropout of 40 calls, correlated", _largest_correlation(rows) / 3, 0.0, 1.0, 5000)
    module.set_rng_state(state)
    cases.exactly("dropout of a state", torch.nn.functional.dropout(torch.ones(5000, device=device), 0.5), masks[0])


def _compare_distinct(cases: Cases, device: str, seed: int) -> None:
    """Require that a million 53-bit values from one generator all differ."""
    generator = torch.Generator(device=device).manual_seed(seed)
    size = 2**19
    values = torch.cat(
        [torch.rand(size, dtype=torch.float64, device=device, generator=generator) for _unused in range(2)]
    )
    count = values.cpu().unique().numel()
    cases.expect("a million values of 53 bits", count >= 2 * size - 2, f"have {count} different values")
    wide = torch.randint(0, 2**62, (2 * size,), device=device, generator=generator).cpu().unique().numel()
    cases.expect("a million integers of 62 bits", wide >= 2 * size - 2, f"have {wide} different values")


def _compare_repeats(cases: Cases, device: str) -> None:
    """Require that no call to the global generator repeats the numbers of an earlier one."""
    f, size = torch.nn.functional, 1_500
    half = torch.full((size,), 0.5, device=device)
    draws: dict[str, t.Callable[[], torch.Tensor]] = {
        **{name: lambda fill=fill: fill(half.clone(), None) for name, (fill, _function) in _continuous().items()},  # type: ignore[misc]
        "rand": lambda: torch.rand(size, device=device),
        "randn": lambda: torch.randn(size, device=device),
        "randint": lambda: torch.randint(0, 1000, (size,), device=device),
        "random_": lambda: torch.empty_like(half).random_(),
        "randperm": lambda: torch.randperm(size, device=device),
        "rand_like": lambda: torch.rand_like(half),
        "randn_like": lambda: torch.randn_like(half),
        "randint_like": lambda: torch.randint_like(half, 1000),
        "normal": lambda: torch.normal(half, half),
        "bernoulli": lambda: torch.bernoulli(half),
        "bernoulli_": lambda: torch.empty_like(half).bernoulli_(0.5),
        "geometric_": lambda: torch.empty_like(half).geometric_(0.05),
        "poisson": lambda: torch.poisson(half * 40),
        "binomial": lambda: torch.binomial(half * 80, half),
        "multinomial": lambda: torch.multinomial(half, size, replacement=True),
        "multinomial, each once": lambda: torch.multinomial(half, size // 2),
        "gamma": lambda: torch._standard_gamma(half * 8),
        "Dirichlet": lambda: torch._sample_dirichlet(half.view(-1, 3) * 4),
        "dropout": lambda: f.dropout(half, 0.5),
        "native_dropout": lambda: torch.native_dropout(half, 0.5, True)[0],
        "alpha_dropout": lambda: f.alpha_dropout(half, 0.5, True),
        "rrelu": lambda: f.rrelu(-half, training=True),
    }
    for name, draw in draws.items():
        rows = [draw().flatten() for _unused in range(CALLS)]
        equal = torch.stack([first == second for first, second in itertools.combinations(rows, 2)]).double().mean(1)
        # If two values are equally likely, half of the draws coincide.
        worst = float(equal.max())
        cases.expect(f"{name}, {CALLS} calls", worst < 0.75, f"have a call that repeats {worst:.0%} of another")


class _Drawn(torch.utils.data.Dataset if torch else object):  # type: ignore[misc]
    """Items that are random numbers of torch and of Python, with their index."""

    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor([index, float(torch.rand(())), random.random()])  # noqa: S311 - this is what is tested


@check("chance.workers", devices=("cpu",), measured=(X86_GRID, EMULATED_GRID))
def workers(context: Context) -> Measured:
    """Require that a loader's workers draw different numbers in each epoch, and the same ones with the same seed."""
    cases = Cases("what a loader's workers draw", REMEDY)
    # The path of a Unix socket has at most 107 bytes, so workers meet by a path relative to this run's directory.
    multiprocessing.current_process()._config["tempdir"] = os.curdir  # type: ignore[attr-defined]

    def epochs(seed: int, count: int, persistent: bool) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        loader = torch.utils.data.DataLoader(
            _Drawn(), 7, shuffle=True, num_workers=count, generator=generator, persistent_workers=persistent
        )
        return torch.stack([torch.cat(list(loader)) for _epoch in range(2)])

    for persistent in (False, True):
        for count in (1, 2):
            case = f"{count} workers, persistent {persistent}"
            drawn = epochs(context.seed, count, persistent)
            cases.exactly(f"{case}, each item once", drawn[..., 0].sort()[0], torch.arange(60.0).expand(2, -1))
            for column, source in ((1, "torch"), (2, "Python")):
                different = len(drawn[..., column].unique())
                cases.expect(f"{case}, {source}'s numbers", different > 115, f"are {different} different ones of 120")
            cases.exactly(f"{case}, the same seed", epochs(context.seed, count, persistent), drawn)
            other = epochs(context.seed + 1, count, persistent)
            cases.expect(f"{case}, another seed", not bool((other == drawn).any(-1).all()), "draws the same")
    return cases.result()
