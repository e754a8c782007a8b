# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a training loop consists of beside its numbers: learning rates by the step, the order of samples, batches.

It is Python's own arithmetic on the CPU, whatever computes the network. Rates are compared with their formulas within
64 roundings of float64 of the largest, orders and batches exactly.
"""

from __future__ import annotations

import math
import typing as t

from ..check import X86_CPU_LATER, Context, Measured, check
from .bounds import UNIT_ROUNDOFF, Cases
from .helpers import REMEDY

if t.TYPE_CHECKING:
    import torch

#: Steps of a schedule, more than any of its periods.
STEPS = 61
#: Of a sampler: what is wrong each tenth time shows twice.
EPOCHS = 21
Rate = t.Callable[[int], float]


def _schedules(torch: t.Any) -> dict[str, tuple[t.Callable[[t.Any], t.Any], Rate]]:
    """Return schedules that start from 1, and the rate of each step by its formula."""
    of = torch.optim.lr_scheduler

    def restarts(step: int) -> float:
        period, begun = 5, 0
        while step - begun >= period:
            begun, period = begun + period, period * 2
        return 0.1 + 0.9 * (1 + math.cos(math.pi * (step - begun) / period)) / 2

    def one_cycle(step: int) -> float:
        up, down = 0.3 * 80 - 1, 80 - 0.3 * 80
        low, high, end = 2.0 / 25, 2.0, 2.0 / 25 / 1e4
        if step <= up:
            return high + (low - high) * (1 + math.cos(math.pi * step / up)) / 2
        return end + (high - end) * (1 + math.cos(math.pi * (step - up) / down)) / 2

    return {
        "StepLR": (lambda o: of.StepLR(o, 7, 0.5), lambda n: 0.5 ** (n // 7)),
        "MultiStepLR": (lambda o: of.MultiStepLR(o, [3, 20], 0.25), lambda n: 0.25 ** ((n >= 3) + (n >= 20))),
        "ConstantLR": (lambda o: of.ConstantLR(o, 0.25, 9), lambda n: 0.25 if n < 9 else 1.0),
        "LinearLR": (lambda o: of.LinearLR(o, 0.1, 0.8, 30), lambda n: 0.1 + 0.7 * min(n, 30) / 30),
        "ExponentialLR": (lambda o: of.ExponentialLR(o, 0.9), lambda n: 0.9**n),
        "PolynomialLR": (lambda o: of.PolynomialLR(o, 50, 2.0), lambda n: (1 - min(n, 50) / 50) ** 2),
        "LambdaLR": (lambda o: of.LambdaLR(o, lambda n: 1 / (1 + n)), lambda n: 1 / (1 + n)),
        "MultiplicativeLR": (lambda o: of.MultiplicativeLR(o, lambda n: 1 - 0.5 / n), lambda n: math.prod(
            1 - 0.5 / m for m in range(1, n + 1))),
        "CosineAnnealingLR": (lambda o: of.CosineAnnealingLR(o, 60, 0.1), lambda n: 0.1 + 0.9 * (
            1 + math.cos(math.pi * n / 60)) / 2),
        "CosineAnnealingWarmRestarts": (lambda o: of.CosineAnnealingWarmRestarts(o, 5, 2, 0.1), restarts),
        "CyclicLR": (lambda o: of.CyclicLR(o, 0.1, 1.1, 4, 6, cycle_momentum=False), lambda n: 0.1 + (
            n % 10 / 4 if n % 10 <= 4 else (10 - n % 10) / 6)),
        "OneCycleLR": (lambda o: of.OneCycleLR(o, 2.0, 80, cycle_momentum=False), one_cycle),
        "SequentialLR": (lambda o: of.SequentialLR(o, [of.ConstantLR(o, 0.5, 100), of.ExponentialLR(o, 0.9)], [10]),
                         lambda n: 0.5 if n < 10 else 0.9 ** (n - 10)),
        "ChainedScheduler": (lambda o: of.ChainedScheduler([of.ConstantLR(o, 0.5, 8), of.ExponentialLR(o, 0.9)]),
                             lambda n: (0.5 if n < 8 else 1.0) * 0.9**n),
    }  # fmt: skip


@check("helpers.loops", devices=("cpu",), family="helpers", measured=(X86_CPU_LATER,))
def loops(context: Context) -> Measured:
    """Schedules of the learning rate, samplers, loaders and batches."""
    import warnings

    import torch

    cases = Cases("what a training loop consists of", REMEDY)
    with warnings.catch_warnings():
        # A loop without an optimiser's step.
        warnings.simplefilter("ignore")
        for name, (make, rate) in _schedules(torch).items():
            optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 1.0)
            schedule = make(optimizer)
            found = []
            for step in range(STEPS):
                found.append(float(optimizer.param_groups[0]["lr"]))
                if step == STEPS // 2:
                    # Saved and read again, it goes on where it was.
                    schedule.load_state_dict(schedule.state_dict())
                schedule.step()
            wanted = torch.tensor([rate(step) for step in range(STEPS)], dtype=torch.float64)
            bound = STEPS * 8 * UNIT_ROUNDOFF["float64"] * wanted.abs().max()
            cases.compare(f"{name}, rates", torch.tensor(found, dtype=torch.float64), wanted, bound.expand(STEPS))
        _plateau(cases, torch)
    _samplers(cases, torch)
    _loaders(cases, torch)
    return cases.result()


def _plateau(cases: Cases, torch: t.Any) -> None:
    """A rate that falls where a loss does not."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 1.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2, cooldown=1, threshold=0.0)
    found = []
    for loss in (5.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0, 3.0):
        schedule.step(loss)
        found.append(float(optimizer.param_groups[0]["lr"]))
    wanted = [1.0] * 4 + [0.5] * 4 + [0.5] * 3 + [0.25]
    cases.exactly("ReduceLROnPlateau, rates", torch.tensor(found).double(), torch.tensor(wanted).double())


def _samplers(cases: Cases, torch: t.Any) -> None:
    """Each sample once, in an order that a seed gives; shares of processes, weights."""
    data, count = torch.utils.data, 103
    whole = list(range(count))

    def seeded(seed: int) -> torch.Generator:
        return t.cast("torch.Generator", torch.Generator().manual_seed(seed))

    cases.say("SequentialSampler", list(data.SequentialSampler(whole)) == whole, "is in another order")
    orders = [list(data.RandomSampler(whole, generator=seeded(seed))) for seed in (1, 1, 2)]
    cases.say("RandomSampler", all(sorted(order) == whole for order in orders), "has not each sample once")
    cases.say("RandomSampler, seeds", orders[0] == orders[1] != orders[2], "does not follow its seed")
    cases.say("RandomSampler, order", orders[0] != whole, "is in order")
    going = data.RandomSampler(whole, generator=seeded(1))
    epochs = [list(going) for _epoch in range(EPOCHS)]
    cases.say("RandomSampler, epochs", len(set(map(tuple, epochs))) == EPOCHS, "has the same order twice")
    good = all(sorted(order) == whole for order in epochs)
    cases.say("RandomSampler, each epoch", good, "has not each sample once")
    returned = list(data.RandomSampler(whole, replacement=True, num_samples=20_000, generator=seeded(3)))
    counts = torch.bincount(torch.tensor(returned), minlength=count).double()
    wanted = torch.full((count,), 20_000 / count, dtype=torch.float64)
    cases.compare("RandomSampler with replacement, how often each", counts, wanted, 6.5 * wanted.sqrt())
    some = list(data.SubsetRandomSampler(whole[::3], generator=seeded(1)))
    cases.say("SubsetRandomSampler", sorted(some) == whole[::3], "has not each of its samples once")
    weights = torch.arange(1.0, 11.0).double()
    drawn = list(data.WeightedRandomSampler(weights.tolist(), 20_000, generator=seeded(5)))
    wanted = weights / weights.sum() * 20_000
    counts = torch.bincount(torch.tensor(drawn), minlength=10).double()
    cases.compare("WeightedRandomSampler, how often each", counts, wanted, 6.5 * wanted.sqrt())
    for last in (False, True):
        batches = list(data.BatchSampler(data.SequentialSampler(whole), 8, drop_last=last))
        right = [whole[at : at + 8] for at in range(0, count - (7 if last else 0), 8)]
        cases.say(f"BatchSampler, drop_last={last}", batches == right, "has other batches")
    for replicas in (2, 3, 7):
        of_each = []
        for rank in range(replicas):
            sampler = data.distributed.DistributedSampler(whole, replicas, rank, shuffle=True, seed=4)
            sampler.set_epoch(1)
            of_each.append(list(sampler))
        sampler.set_epoch(2)
        all_of = [one for order in of_each for one in order]
        good = set(all_of) == set(whole) and len(all_of) == math.ceil(count / replicas) * replicas
        cases.say(f"DistributedSampler of {replicas}", good, "leaves samples out or takes one too often")
        cases.say(f"DistributedSampler of {replicas}, epochs", list(sampler) != of_each[-1], "has the same order twice")
    parts = data.random_split(whole, [50, 30, 23], generator=seeded(2))
    cases.say("random_split", sorted(one for part in parts for one in part) == whole, "has not each sample once")
    cases.say("random_split, sizes", [len(part) for part in parts] == [50, 30, 23], "are others")


def _loaders(cases: Cases, torch: t.Any) -> None:
    """Batches of a loader: each sample once an epoch, as it was, in another order the next time."""
    data, count = torch.utils.data, 101
    values, labels = torch.arange(count * 6).reshape(count, 2, 3).float(), torch.arange(count)
    pairs = data.TensorDataset(values, labels)
    for last in (False, True):
        for shuffle in (False, True):
            loader = data.DataLoader(pairs, 16, shuffle, drop_last=last, generator=torch.Generator().manual_seed(7))
            words, orders = f"DataLoader, shuffle={shuffle}, drop_last={last}", []
            for epoch in range(3):
                batches = list(loader)
                places = torch.cat([place for _value, place in batches])
                cases.exactly(
                    f"{words}, epoch {epoch}", torch.cat([value for value, _place in batches]), values[places].double()
                )
                sizes = [len(place) for _value, place in batches]
                cases.say(f"{words}, sizes", sizes == [16] * 6 + ([] if last else [5]), f"are {sizes}")
                cases.say(f"{words}, each once", len(set(places.tolist())) == len(places), "has a sample twice")
                orders.append(places.tolist())
            good = (orders[0] != orders[1]) if shuffle else (orders[0] == list(range(len(orders[0]))))
            cases.say(f"{words}, order", good, "is another than is asked for")
    mixed = [{"a": number, "b": (torch.full((2,), float(number)), [number, number + 0.5])} for number in range(5)]
    (batch,) = list(data.DataLoader(mixed, 5))
    steps = torch.arange(5).double()
    cases.exactly("batches of dictionaries", batch["a"], steps)
    cases.exactly("batches of tuples", batch["b"][0], steps[:, None].expand(5, 2))
    cases.exactly("batches of lists", torch.stack(list(batch["b"][1])), torch.stack([steps, steps + 0.5]))
    joined = data.ConcatDataset([data.TensorDataset(labels[:7]), data.TensorDataset(labels[7:])])
    found = [int(joined[place][0]) for place in (0, 6, 7, count - 1, -1)]
    cases.say("ConcatDataset", found == [0, 6, 7, count - 1, count - 1], f"has {found}")
