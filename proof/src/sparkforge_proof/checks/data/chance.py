"""Check random numbers: their distributions, tails and rates, independent calls and generators, and states.

Each comparison is of a mean of n values, such as the share of draws in an interval, with its expectation. Bernstein's
inequality (Freedman's for products of neighbours) limits the cases in which sound numbers are further away than allowed
to one in 10^14 (``RISK``), about 8 standard errors. With 30,000 comparisons on each device, a run raises a false alarm
with a probability below 10^-9. Besides, the seeds are fixed, so another run with the same torch and generator draws the
same numbers. These bounds do not depend on the rounding of a device, so they count on every device (``factor=1``).

A narrow distribution near zero shows a bias that is small beside the wide ones, and one around 1 shows a wrong scale.
"""

from __future__ import annotations

import functools
import math
import multiprocessing
import os
import random
import typing as t

from ...check import EMULATED_GRID, SEEN_ARM_GRID, X86_GRID, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, functions_of, gradients, torch

REMEDY = (
    "Do not train or sample with this stack: its random numbers are distributed wrong; use another torch, and update "
    "the driver."
)
#: The probability that sound numbers fail a comparison.
RISK = 1e-14
#: The number of values, enough for a fault in tensors of more than a million elements. An eighth of it is odd as well,
#: and so is a quarter of that.
COUNT = 2**20 + 57
FORMS = ("float32", "float16", "bfloat16")
#: The number of consecutive calls, chosen so that a fault in every tenth call occurs twice.
CALLS = 21
#: The probabilities at the bounds of the intervals; the outermost intervals are the tails.
EDGES = (1e-5, 1e-4, 1e-3, 0.01, 0.05, *(n / 16 for n in range(2, 15)), 0.95, 0.99, 0.999, 0.9999, 0.99999)


def tolerance(variance: float, count: int, most: float = 1.0) -> float:
    """Return the distance that the mean of ``count`` values exceeds with a probability of at most ``RISK``."""
    log, step = math.log(2 / RISK), math.log(2 / RISK) * most / 3
    return (step + math.sqrt(step**2 + 2 * count * variance * log)) / count


class Judge(t.NamedTuple):
    """Compares random numbers with their distribution."""

    cases: Cases

    def share(self, case: str, hits: torch.Tensor, probability: float) -> None:
        """Compare the share of hits with a probability."""
        count = hits.numel()
        self.rate(case, int(hits.count_nonzero()) / count, probability, probability * (1 - probability), count)

    def integers(self, case: str, values: torch.Tensor, probabilities: torch.Tensor) -> None:
        """Compare whole numbers with the probabilities of 0, 1, 2 and so on.

        Each number is spread evenly over the width of its probability, after which all are uniform.
        """
        values = values.double().flatten().cpu()
        indices = values.nan_to_num(-1.0).clamp(0, len(probabilities) - 1).long()
        is_possible = bool(((indices == values) & (probabilities[indices] > 0)).all())
        self.cases.expect(f"{case}, each value", is_possible, "is not a number that can be drawn")
        spread = torch.rand(len(values), dtype=torch.float64)
        self.uniform(case, probabilities.cumsum(0)[indices] - probabilities[indices] * spread)

    def rate(
        self, case: str, actual_mean: float, expected_mean: float, variance: float, count: int, most: float = 1.0
    ) -> None:
        """Compare the mean of independent values with its expectation.

        :param variance: at least the values' variance.
        :param most: how far a value is from the expectation at most.
        """
        actual, expected = (torch.tensor(value, dtype=torch.float64) for value in (actual_mean, expected_mean))
        self.cases.compare(case, actual, expected, torch.tensor(tolerance(variance, count, most), dtype=torch.float64))

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
        for lanes in (1, 4, 7, 32):
            lines = centred[: len(values) // lanes * lanes].view(-1, lanes).mean(0)
            self.rate(f"{case}, each of {lanes} lanes", float(lines.abs().max()), 0.0, 1 / 12, len(values) // lanes)
        parts = centred[: len(values) // 64 * 64].view(64, -1).mean(1)
        self.rate(f"{case}, each sixty-fourth", float(parts.abs().max()), 0.0, 1 / 12, len(values) // 64)
        # Three independent values in a row rise with a probability of 1/6.
        triples = values[: len(values) // 3 * 3].view(-1, 3)
        rising = (triples[:, 0] < triples[:, 1]) & (triples[:, 1] < triples[:, 2])
        self.share(f"{case}, three that rise", rising, 1 / 6)


def _continuous() -> dict[str, tuple[t.Any, t.Any, int]]:
    """Return a function that fills a tensor with random numbers, their distribution function, and their count.

    Of each method, the first is wide, the second narrow, and the third narrow around 1.
    """
    ndtr = torch.special.ndtr
    methods: dict[str, tuple[t.Any, tuple[tuple[float, ...], ...]]] = {
        "uniform": (lambda x, low, high: (x - low) / (high - low), ((0, 1), (-0.03, 0.05))),
        "normal": (lambda x, mean, width: ndtr((x - mean) / width), ((0, 1), (0, 0.02), (1, 0.01))),
        "exponential": (lambda x, rate: -torch.expm1(-rate * x), ((1,), (40,))),
        "log_normal": (lambda x, mean, width: ndtr((x.log() - mean) / width), ((0, 0.5), (-4, 0.5), (0, 0.01))),
        "cauchy": (lambda x, m, width: 0.5 + torch.atan((x - m) / width) / math.pi, ((0, 1), (0, 0.02), (1, 0.01))),
    }
    return {
        f"{name} of {' and '.join(map(str, numbers))}": (
            lambda x, g, name=name, numbers=numbers: getattr(x, f"{name}_")(*numbers, generator=g),
            lambda x, function=function, numbers=numbers: function(x, *numbers),
            COUNT if numbers is parameters[0] else COUNT // 8,
        )
        for name, (function, parameters) in methods.items()
        for numbers in parameters
    }


def _layouts(count: int, dtype: torch.dtype, device: str) -> dict[str, torch.Tensor]:
    """Return tensors of about ``count`` elements by the name of their layout."""
    options: dict[str, t.Any] = {"dtype": dtype, "device": device}
    return {
        "in a row": torch.empty(count, **options),
        "strided": torch.empty(count, 3, **options)[:, 1],
        "transposed": torch.empty(count // 50, 50, **options).t(),
        "channels last": torch.empty(count // 50, 2, 5, 5, memory_format=torch.channels_last, **options),
    }


@check("chance.distributions", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM_GRID, factor=1)
def distributions(context: Context) -> Measured:
    """Check continuous distributions and their tails in each format, in tensors of several sizes and layouts."""
    cases = Cases("a distribution", REMEDY)
    judge, device = Judge(cases), context.device
    seed = int(torch.randint(0, 2**40, (1,), generator=context.generator("chance")))
    generator = torch.Generator(device=device).manual_seed(seed)
    for name, (fill, function, count) in _continuous().items():
        # Tails need all 24 bits of float32, so the 16-bit formats are judged more coarsely below.
        values = function(fill(torch.empty(COUNT // 8, dtype=torch.float64, device=device), generator)).cpu()
        judge.uniform(f"{name}, float64", values)
        values = function(fill(torch.empty(count, device=device), generator).double()).cpu()
        judge.uniform(f"{name}, float32", values)
        for layout, tensor in _layouts(30_000, torch.float32, device).items():
            judge.uniform(f"{name}, {layout}", function(fill(tensor, generator).double()).cpu())
        small = torch.stack([fill(torch.empty(5, device=device), generator) for _unused in range(600)])
        judge.uniform(f"{name}, five at a time", function(small.double()).cpu())
        for form in ("float16", "bfloat16"):
            for layout, tensor in _layouts(60_000, getattr(torch, form), device).items():
                _compare_coarsely(judge, f"{name}, {form}, {layout}", function(fill(tensor, generator).double()).cpu())
    torch.manual_seed(seed)
    normal = torch.special.ndtr
    judge.uniform("rand_like", torch.rand_like(torch.empty(COUNT // 64, 8, device=device)).cpu())
    judge.uniform("randn_like", normal(torch.randn_like(torch.empty(8, COUNT // 64, device=device).t()).double()).cpu())
    for form in FORMS:
        # The means are exact in each format, and small beside their deviations.
        mean = (torch.arange(60_000, device=device) % 9 - 4).to(getattr(torch, form)) / 1024
        spread = mean.abs() + 1 / 64
        for name, draws, middle, width in (
            ("normal of given means and deviations", torch.normal(mean, spread), mean, spread),
            ("normal of given means", torch.normal(mean, 1 / 64), mean, 1 / 64),
            ("normal of given deviations", torch.normal(1 / 1024, spread), 1 / 1024, spread),
        ):
            shares = normal((draws.double() - middle) / width).cpu()
            if form == "float32":
                judge.uniform(name, shares)
            else:
                _compare_coarsely(judge, f"{name}, {form}", shares)
    return cases.result()


def _compare_coarsely(judge: Judge, case: str, values: torch.Tensor) -> None:
    """Compare values of a 16-bit format, to which a distribution function was applied, with the uniform distribution.

    A value stands for all numbers that are rounded to it, so the two values next to an edge may be on either side.
    """
    values = values.flatten()
    for edge in (0.1, 0.5, 0.9):
        below = values < edge
        last, first = values.masked_fill(~below, -math.inf).max(), values.masked_fill(below, math.inf).min()
        error = float(((values == last) | (values == first)).double().mean())
        bound = torch.tensor(error + tolerance(edge * (1 - edge), len(values))).double()
        share = below.double().mean()
        judge.cases.compare(f"{case}, below {edge}", share, torch.full_like(share, edge), bound)
    centred = values - values.mean()
    judge.rate(f"{case}, neighbours", float((centred[1:] * centred[:-1]).mean()), 0.0, 1 / 100, len(values) - 1)


@check("chance.rates", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM_GRID, factor=1)
def rates(context: Context) -> Measured:
    """Check Bernoulli, Poisson, binomial and geometric numbers, integers, permutations, choices, and dropout rates."""
    cases = Cases("a random choice", REMEDY)
    judge, count, device = Judge(cases), COUNT // 8, context.device
    torch.manual_seed(int(torch.randint(0, 2**40, (1,), generator=context.generator("rates"))))
    for p in (0.0, 0.001, 0.03, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99, 0.999, 1.0):
        full = torch.full((count,), p, device=device)
        judge.integers(f"bernoulli_ {p}", torch.empty_like(full).bernoulli_(p), _binomial(1, p))
        judge.integers(f"bernoulli {p}", torch.bernoulli(full), _binomial(1, p))
        if p < 1:
            for form in FORMS:
                # Rows have gaps between them and odd lengths.
                drawn = torch.rand(2, count // 64, 67, device=device).add(0.5).to(getattr(torch, form))[..., :61]
                for name in ("dropout", "native_dropout"):
                    values, upstream = drawn[0].detach().requires_grad_(), drawn[1]
                    remaining = getattr(torch, name)(values, p, True)
                    remaining = remaining[0] if name == "native_dropout" else remaining
                    kept = (remaining != 0).cpu()
                    judge.share(f"{name} {p}, {form}", kept, 1 - p)
                    gradient = gradients(remaining, [values], upstream)[0]
                    for part, result, before in (("", remaining, values), (", gradient", gradient, upstream)):
                        expected = before.detach().double().cpu() * kept / (1 - p)
                        bound = (8 if form == "float32" else 2) * UNIT_ROUNDOFF[form] * expected
                        cases.compare(f"{name} {p}, {form}{part}", result, expected, bound)
    masked = torch.nn.functional.dropout2d(torch.ones(4096, 16, 3, 3, device=device), 0.3)
    judge.share("dropout2d 0.3", (masked[:, :, 0, 0] != 0).cpu(), 0.7)
    cases.expect("dropout2d of whole channels", bool((masked.amax((2, 3)) == masked.amin((2, 3))).all()), "drop parts")
    for rate in (0.1, 1.0, 3.0, 9.5, 30.0, 1000.0):
        numbers = torch.arange(60 + rate + 20 * math.sqrt(rate), dtype=torch.float64)
        probabilities = (numbers * math.log(rate) - rate - (numbers + 1).lgamma()).exp()
        judge.integers(f"poisson {rate}", torch.poisson(torch.full((count,), rate, device=device)), probabilities)
    for p in (0.05, 0.3, 0.9):
        # CUDA draws a 0 if its uniform number is 1, which happens once in 2^24 draws.
        probabilities = p * (1 - p) ** (torch.arange(2000 if p < 0.1 else 200, dtype=torch.float64) - 1)
        probabilities[0] = 2.0**-24
        for form in FORMS if p > 0.1 else FORMS[:1]:
            empty = torch.empty(count, dtype=getattr(torch, form), device=device)
            judge.integers(f"geometric {p}, {form}", empty.geometric_(p), probabilities)
        for trials in (4, 40, 400):
            full = torch.full((count // 4,), float(trials), device=device)
            values = torch.binomial(full, torch.full_like(full, p))
            judge.integers(f"binomial {trials} of {p}", values, _binomial(trials, p))
    for form in FORMS:
        empty = torch.empty(count // 4, dtype=getattr(torch, form), device=device)
        judge.integers(f"bernoulli_, {form}", empty.bernoulli_(0.3), _binomial(1, 0.3))
        judge.integers(f"bernoulli, {form}", torch.bernoulli(torch.full_like(empty, 0.5)), _binomial(1, 0.5))
        judge.integers(f"random_, {form}", empty.random_(0, 100), torch.full((100,), 0.01, dtype=torch.float64))
    _compare_shaped(judge, count // 4, device)
    _compare_integers(judge, cases, count, device)
    return cases.result()


def _binomial(trials: int, p: float) -> torch.Tensor:
    """Return the probabilities of 0 to ``trials`` hits."""
    hits = range(trials + 1)
    return torch.tensor([math.comb(trials, n) * p**n * (1 - p) ** (trials - n) for n in hits], dtype=torch.float64)


def _compare_shaped(judge: Judge, count: int, device: str) -> None:
    """Compare gamma distributions, also for shapes below 1, and the means of a Dirichlet distribution."""
    for shape in (0.3, 1.0, 4.5, 50.0):
        values = torch._standard_gamma(torch.full((count,), shape, device=device)).double().cpu()
        judge.uniform(f"gamma {shape}", torch.special.gammainc(torch.full_like(values, shape), values))
    values = torch.distributions.Dirichlet(torch.tensor([1.0, 2.0, 5.0], device=device)).sample((count,)).double().cpu()
    for index, share in enumerate((1 / 8, 2 / 8, 5 / 8)):
        judge.rate(f"dirichlet, part {index}", float(values[:, index].mean()), share, share * (1 - share) / 9, count)


def _compare_integers(judge: Judge, cases: Cases, count: int, device: str) -> None:
    """Compare integers in small and large ranges, permutations around block sizes, and weighted choices."""
    for low, high in ((0, 2), (0, 7), (-5, 12), (0, 256), (0, 1000), (-(2**31), 2**31), (0, 3 * 2**40), (0, 2**62)):
        values, width = torch.randint(low, high, (count,), device=device).cpu(), high - low
        spread = torch.rand(count, dtype=torch.float64)
        judge.uniform(f"randint from {low} to {high}", (values.double() - low + spread) / width)
        share = (width // 2 + width % 2 * (low % 2)) / width
        judge.share(f"randint from {low} to {high}, odd", values % 2 == 1, share)
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
    order = torch.stack([torch.randperm(5, device=device) for _unused in range(3000)]).cpu()
    for position in range(5):
        judge.integers(f"randperm of 5, at {position}", order[:, position], torch.full((5,), 0.2, dtype=torch.float64))
    for size in (5, 300, 5_000):
        weights = torch.rand(size, generator=torch.Generator().manual_seed(size)) + 0.01
        weights[size // 2] = 0.0
        weights[0] = weights.sum() / 3
        chosen = torch.multinomial(weights.to(device), count // 8, replacement=True).cpu()
        shares = weights.double() / weights.double().sum()
        judge.integers(f"multinomial of {size}", chosen, shares)
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
        "integers": lambda g, n: torch.randint(0, 2**24, (n,), generator=g, device=device).double() / 2**24,
        "permutation": lambda g, n: torch.randperm(n, generator=g, device=device).double() / n,
    }
    for name, fill in fills.items():
        generator = torch.Generator(device=device).manual_seed(seed)
        for size, calls in ((1, 4096), (3, 1024), (257, 256), (1025, 64), (70_001, 9)):
            rows = torch.stack([fill(generator, size) for _unused in range(calls)]).double().cpu()
            case = f"{name}, {calls} calls of {size:,}"
            if size > 1:
                judge.rate(f"{case}, correlated", _largest_correlation(rows[:64]), 0.0, 1.0, size, 3.0)
                # A state that does not advance repeats itself in each column.
                if name != "permutation":
                    judge.rate(f"{case}, the first", float(rows[:, 0].mean()), 0.5, 1 / 12, calls)
            elif name != "permutation":
                judge.uniform(case, rows.flatten())
        # A CPU generator takes 32-bit seeds.
        for other in (seed + 1, 0, 1, *((seed + 2**32, seed ^ (1 << 33)) if device == "cuda" else ())):
            generators = (torch.Generator(device=device).manual_seed(number) for number in (seed, other))
            rows = torch.stack([fill(each, 20_011) for each in generators]).double().cpu()
            correlation = _largest_correlation(rows)
            judge.rate(f"{name}, seeds {other - seed} apart", correlation, 0.0, 1.0, 20_011, 3.0)
        _compare_states(cases, name, fill, device, seed)
    _compare_global_states(cases, device, seed)
    _compare_distinct(cases, device, seed)
    _compare_repeats(cases, device)
    return cases.result()


def _largest_correlation(rows: torch.Tensor) -> float:
    """Return the largest correlation between two different rows, aligned and shifted by one."""
    centred = rows - 0.5
    size = rows.shape[1]
    if size <= 8:
        return 0.0
    products = centred @ centred.t(), centred[:, 1:] @ centred[:, :-1].t()
    worst = max(float(matrix.fill_diagonal_(0).abs().max()) * 12 / size for matrix in products)
    # The largest of thousands of correlations is typically almost four standard errors from zero: subtract two.
    return max(0.0, float(worst - 2.0 / math.sqrt(size)))


def _compare_states(cases: Cases, name: str, fill: t.Any, device: str, seed: int) -> None:
    generator = torch.Generator(device=device).manual_seed(seed)
    for size in (1, 5, 1025, 40_003):
        fill(generator, size)
        state = generator.get_state()
        first, second = fill(generator, size), fill(generator, size)
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


def _compare_global_states(cases: Cases, device: str, seed: int) -> None:
    """Compare seeds and states of the global generator."""
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
    state = module.get_rng_state()
    expected = torch.cat([torch.rand(77, device=device), torch.randn(5, device=device)])
    for turn in range(CALLS):
        module.set_rng_state(state)
        again = torch.cat([torch.rand(77, device=device), torch.randn(5, device=device)])
        cases.exactly(f"set_rng_state, turn {turn + 1}", again, expected)


def _compare_distinct(cases: Cases, device: str, seed: int) -> None:
    """Require that a million values of 53 or 62 bits from one generator all differ."""
    generator = torch.Generator(device=device).manual_seed(seed)
    wide = torch.randint(0, 2**62, (2**20,), device=device, generator=generator)
    values = [torch.rand(2**19, dtype=torch.float64, device=device, generator=generator) for _unused in range(2)]
    for bits, numbers in ((53, torch.cat(values)), (62, wide)):
        count = numbers.cpu().unique().numel()
        cases.expect(f"a million values of {bits} bits", count >= 2**20 - 2, f"have {count} different values")
    # A float32 number between 0 and 1 is 0 at most once in 2^24 draws, and torch documents that no exponential one is.
    for name, most in (("uniform_", 20), ("normal_", 20), ("exponential_", 0)):
        drawn = getattr(torch.empty(2**24 + 57, device=device), name)(generator=generator)
        zeros, finite = int((drawn == 0).sum()), bool(drawn.isfinite().all())
        cases.expect(f"{name[:-1]} numbers", zeros <= most and finite, f"have {zeros} zeros, or are infinite")


def _compare_repeats(cases: Cases, device: str) -> None:
    """Require that no call to the global generator repeats the numbers of an earlier one."""
    size = 1_500
    half = torch.full((size,), 0.5, device=device)
    fills: dict[str, t.Callable[[torch.Tensor], torch.Tensor]] = {
        **{name: lambda x, fill=fill: fill(x, None) for name, (fill, *_unused) in _continuous().items()},  # type: ignore[misc]
        "random_": lambda x: x.random_(),
        "bernoulli_": lambda x: x.bernoulli_(0.5),
        "geometric_": lambda x: x.geometric_(0.05),
    }
    draws: dict[str, t.Any] = {
        f"{name}, {form}, {layout}": lambda fill=fill, tensor=tensor: fill(tensor).clone()
        for form in FORMS
        for layout, tensor in _layouts(size, getattr(torch, form), device).items()
        for name, fill in fills.items()
    }
    draws.update({name: functools.partial(draw, half) for name, draw in functions_of("draws").items()})
    for name, draw in draws.items():
        rows = torch.stack([draw().flatten() for _unused in range(CALLS)])
        # If two values are equally likely, half of the draws coincide.
        worst = float((rows[:, None] == rows).double().mean(-1).fill_diagonal_(0).max())
        cases.expect(f"{name}, {CALLS} calls", worst < 0.75, f"have a call that repeats {worst:.0%} of another")


class _Drawn(torch.utils.data.Dataset if torch else object):  # type: ignore[misc]
    """Items that are random numbers of torch and of Python, with their index."""

    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor([index, float(torch.rand(())), random.random()])  # noqa: S311 - this is what is tested


@check("chance.workers", devices=("cpu",), measured=(X86_GRID, EMULATED_GRID), factor=1)
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
