"""Compare the speed of the device with the profile's floors, which are shares of the nominal rates for its kind.

Each floor has a source. A rate below a floor that was measured on such a device fails the check; a rate below a floor
that comes from a data sheet or lacks evidence is a warning. After the first proof of a host, that run's rates become
the host's own floors: later runs must reach a share of them.

The checks measure only a device that is otherwise idle, and report it if the device is in use.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import statistics
import threading
import time
import typing as t

from ... import sampler
from ...check import SEEN, SLOW, Context, Measured, Skipped, Unanswered, check
from ..bounds import torch
from ..data.tensors import allowed_memory

#: Seconds of load for measuring a rate, of which the best window counts, and for measuring the clocks.
LOAD, WINDOW = 1.0, 0.25
CLOCK_LOAD = 2.5
#: Seconds from the start of a load until the clocks and nvidia-smi's power reading (a one-second mean) have settled.
SETTLED = 1.2
#: The utilization in per cent from which a device is busy if nvidia-smi lists no process; a desktop causes less.
BUSY = 25.0

#: The symptoms of the faults in owners' reports, in W and MHz.
POWER_FAULT_W = 35.0
CLOCK_FAULT_MHZ = (480.0, 870.0)

#: The only remedy that helped owners (NVIDIA's developer forum, threads 361294, 366590, 376039 and 379003).
UNPLUG = "unplug the power supply from the wall and the device for 60 seconds (a reboot is not enough), then plug it in"

#: Reasons in ``sampler.REASONS``: heat, and the owner's cap (``nvidia-smi --lock-gpu-clocks``, or application clocks).
HEAT = {sampler.REASONS[bit] for bit in (0x20, 0x40)}
CAPPED = sampler.REASONS[0x2]

#: The share of the host's own rates to reach: they vary by a tenth between runs, and more with the room's temperature.
OWN_RATIO = 0.75
#: The share of the maximum clock that the device reports, which no device reaches under full load.
CLOCK_RATIO = 0.5


@dataclasses.dataclass(frozen=True)
class Floor:
    """The lowest sufficient rate: ``ratio`` times ``nominal``."""

    nominal: float
    ratio: float
    source: str
    evidence: str = ""

    @property
    def least(self) -> float:
        return self.nominal * self.ratio

    @property
    def blocks(self) -> bool:
        """Whether a lower rate fails the check: the floor was measured on such a device, or set by the site or host."""
        return not self.evidence or self.evidence.startswith("measured on ")

    def text(self, unit: str) -> str:
        note = f": {self.evidence}" if self.evidence else ""
        return f"at least {self.least:.4g} {unit} ({self.ratio:g} of the {self.nominal:.4g} {self.source}{note})"


def floors_of(name: str, profile: t.Mapping[str, t.Any]) -> list[Floor]:
    """Return the floors from the host's first proof and from the profile, as far as there are any.

    :param name: the name of the floor, with its unit: ``copy_gb_per_s``.
    :param profile: a profile with checked floors; see :mod:`..settings`.
    """
    floors = []
    if entry := (profile.get("own_floors") or {}).get(name):
        floors.append(Floor(entry["nominal"], OWN_RATIO, f"that this host reached on {entry['since']}"))
    if entry := (profile.get("floors") or {}).get(name):
        source = f"of the profile {profile.get('name') or 'without a name'}"
        floors.append(Floor(entry["nominal"], entry["ratio"], source, str(entry.get("evidence") or "")))
    return floors


def short_of(value: float, floors: t.Iterable[Floor]) -> Floor | None:
    """Return a floor that the rate does not reach, preferably one that blocks."""
    short = [floor for floor in floors if value < floor.least]
    return next((floor for floor in short if floor.blocks), short[0] if short else None)


def judged(
    subject: str, value: float, unit: str, floors: t.Sequence[Floor], device: str
) -> tuple[str, Unanswered | None]:
    """Return the bound as text, and the failure if the rate is below it."""
    if not floors:
        return f"no floor of {subject} is known for {device}, and the profile has none", None
    bound = "; ".join(known.text(unit) for known in floors)
    missed = short_of(value, floors)
    if missed is None:
        return bound, None
    cause = f"{subject[0].upper()}{subject[1:]} runs at {value:.4g} {unit}, below its floor: {missed.text(unit)}."
    remedy = (
        "See the check speed.clocks first; then check that nothing else uses the device and the host's memory, and "
        "that the stack has code for this device (the checks of the family architectures). If it is intentionally "
        "slower, set the floor in verify_speed_floors."
    )
    return bound, Unanswered(SLOW, cause, remedy, f"{value:.4g} {unit}", bound, blocks=missed.blocks)


def busy(users: t.Sequence[sampler.Process], utilization: t.Sequence[float | None]) -> str | None:
    """Return the reason why speed cannot be measured now, or None if it can.

    :param users: processes on the device that do not belong to the proof.
    :param utilization: samples of the utilization in per cent while the proof was idle.
    """
    if users:
        return f"Not run: the GPU is in use by {', '.join(map(str, users))}."
    known = [value for value in utilization if value is not None]
    if known and min(known) >= BUSY:
        return (
            f"The device is busy ({min(known):.0f} % while the proof was idle) with a process that nvidia-smi does not "
            f"show here: stop it and run again to measure speed."
        )
    return None


def clock_fault(
    samples: t.Sequence[sampler.Sample], floors: t.Sequence[Floor], device: str, caps: sampler.Caps | None = None
) -> tuple[float, float | None, Unanswered | None]:
    """Return the sustained SM clock in MHz, the power in W, and the failure, if there is one.

    :param samples: samples with a clock, taken under full load after the clocks had settled.
    :param caps: the limits that the owner set.
    """
    clock = statistics.median(sample.sm_clock_mhz for sample in samples if sample.sm_clock_mhz is not None)
    powers = [sample.power_w for sample in samples if sample.power_w is not None]
    power = max(powers) if powers else None
    # If a reason slows the device in only a few samples, that is not a fault.
    counts = collections.Counter(reason for sample in samples for reason in sample.reasons)
    reasons = sorted(reason for reason, count in counts.items() if 2 * count >= len(samples))
    missed = short_of(clock, floors)
    is_held = missed is not None and CLOCK_FAULT_MHZ[0] <= clock <= CLOCK_FAULT_MHZ[1]
    # A cap lowers the power as well: at 1400 MHz a sound Spark draws 31 W (owners' measurements from 2026).
    starved = "GB10" in device and power is not None and power <= POWER_FAULT_W and clock <= CLOCK_FAULT_MHZ[1]
    # Owners set caps because full load turns some machines off. A GB10 reports no reason for --lock-gpu-clocks.
    capped = CAPPED in reasons and not starved
    if capped or (caps and caps.explain(clock, power)) or (missed is None and not starved):
        return clock, power, None

    bound = missed.text("MHz") if missed is not None else f"more than {POWER_FAULT_W:.0f} W"
    measured = f"SM clock {clock:.0f} MHz" + (f" at {power:.0f} W" if power is not None else "")
    if starved:
        cause = (
            f"The device draws {power:.0f} W under full load with its SM clock at {clock:.0f} MHz: a power delivery "
            f"fault that limits a Spark to about 30 W."
        )
        remedy = f"With the device's own power supply and cable: {UNPLUG}, or else have the device replaced (RMA)."
    elif is_held and HEAT.isdisjoint(reasons):
        cause = (
            f"The SM clock is limited to {clock:.0f} MHz under load: a Spark that stays at 500 to 850 MHz after a "
            f"failed USB power delivery negotiation, or a cap."
        )
        remedy = (
            f"If you set a cap (nvidia-smi -q -d CLOCK,POWER shows it), nothing is wrong. Otherwise: {UNPLUG}, or else "
            f"ask for an RMA."
        )
    else:
        by = f" by {', '.join(reasons)}" if reasons else ""
        cause = f"The SM clock is held at {clock:.0f} MHz under load{by}, below its floor: {bound}."
        remedy = (
            "Check airflow, fans and power supply, and nvidia-smi -q -d CLOCK,PERFORMANCE,POWER under load; raise the "
            "power limit (nvidia-smi --power-limit), or set verify_speed_floors if the limit is intended."
        )
    if reasons:
        measured += f", {', '.join(reasons)}"
    blocks = missed is not None and missed.blocks
    return clock, power, Unanswered(SLOW, cause, remedy, measured, bound, blocks=blocks)


#: The samples taken during bfloat16 products, so that the check of the clocks does not need a second load.
_SAMPLES: list[sampler.Sample] = []


def _index() -> str:
    """Return nvidia-smi's name for torch's current device, also if CUDA_VISIBLE_DEVICES hides other devices."""
    identity = str(getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", ""))
    if not identity:
        return "0"
    return identity if identity.startswith("GPU-") else f"GPU-{identity}"


def _wait_until_idle(index: str) -> None:
    """Wait for the device to become idle.

    :raises Skipped: if another process uses it.
    """
    torch.cuda.synchronize()
    utilization: list[float | None] = []
    try:
        # The utilization is a mean over up to a second, which may include the previous check.
        for _unused in range(8):
            utilization.append(sampler.sample(index).utilization)
            if utilization[-1] is None or utilization[-1] < BUSY:
                break
            time.sleep(0.25)
    except sampler.NoSampler:
        # The check of the clocks reports a missing nvidia-smi.
        return
    if reason := busy(sampler.others(index), utilization):
        raise Skipped(reason)


def _seconds_of(work: t.Callable[[], object], count: int) -> float:
    """Return the seconds that ``count`` calls of ``work`` take by the device's clock."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _unused in range(count):
        work()
    end.record()
    end.synchronize()
    return max(float(start.elapsed_time(end)) / 1000, 1e-6)


def _seconds_of_one(work: t.Callable[[], object]) -> float:
    """Return the approximate seconds that a call of ``work`` takes."""
    _seconds_of(work, 2)
    return _seconds_of(work, 3) / 3


def _rate(work: t.Callable[[], object], seconds: float = LOAD) -> float:
    """Return the number of calls of ``work`` per second, in the best window of a load that lasts ``seconds``."""
    count = max(1, round(WINDOW / _seconds_of_one(work)))
    best = 0.0
    deadline = time.monotonic() + seconds
    while not best or time.monotonic() < deadline:
        best = max(best, count / _seconds_of(work, count))
    return best


def _with_warning(measured: Measured, *problems: Unanswered | None) -> Measured:
    """Return a measurement with the worst of its problems as a warning."""
    known = sorted(filter(None, problems), key=lambda problem: not problem.blocks)
    return dataclasses.replace(measured, warning=known[0]) if known else measured


def _product(context: Context, dtype: torch.dtype) -> tuple[int, t.Callable[[], object]]:
    """Return the size of a square matrix product that takes some milliseconds, and a function that computes it."""

    def factors(size: int) -> t.Callable[[], object]:
        a, b = (torch.randn(size, size, device=context.device, dtype=dtype) for _unused in range(2))
        c = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=c)

    size = 2048
    while size < 8192:
        # A product of twice the size takes eight times as long.
        if 8 * _seconds_of_one(factors(size)) > 0.06 or 3 * (2 * size) ** 2 * 2 > allowed_memory(context):
            break
        size *= 2
    return size, factors(size)


@check("speed.matmul_float16", numeric=False, seconds=60, measured=SEEN)
@check("speed.matmul_bfloat16", numeric=False, seconds=60, measured=SEEN)
def matmul(context: Context, part: str) -> Measured:
    """Measure the rate of large matrix products of random numbers, in the best quarter of a second."""
    name = part.partition("_")[2]
    device = torch.cuda.get_device_name()
    floors = floors_of(f"matmul_{name}_tflops", context.profile)
    _wait_until_idle(_index())
    size, product = _product(context, getattr(torch, name))
    rate = 0.0
    if name == "bfloat16":
        with contextlib.suppress(sampler.NoSampler):
            _SAMPLES[:], rate = _under_load(_index(), product)
    tflops = (rate or _rate(product)) * 2 * size**3 / 1e12
    bound, problem = judged(f"the {name} matrix product", tflops, "TFLOP/s", floors, device)
    if problem is not None and _is_capped(product):
        problem.blocks = False
        problem.cause += " Its clocks are capped, which explains the rate if the cap is intended."
    measured = Measured(f"{tflops:.4g} TFLOP/s ({size} x {size} x {size})", bound, rates={"tflops": tflops})
    return _with_warning(measured, problem)


@check("speed.copy", numeric=False, seconds=60, measured=SEEN)
def copy(context: Context) -> Measured:
    """Measure the bandwidth within device memory, counting reads and writes, and from and to pinned host memory.

    On a GB10 these are all the same memory.
    """
    device = torch.cuda.get_device_name()
    names = ("copy_gb_per_s", "host_to_device_gb_per_s", "device_to_host_gb_per_s")
    floors = [floors_of(name, context.profile) for name in names]
    _wait_until_idle(_index())
    size = int(min(2**30, allowed_memory(context) / 4)) // 4096 * 4096
    source = torch.ones(size, dtype=torch.uint8, device=context.device)
    target = torch.empty_like(source)
    host = torch.ones(min(size, 2**28), dtype=torch.uint8, pin_memory=True)
    part = source[: host.numel()]
    rates = {
        "gb_per_s": _rate(lambda: target.copy_(source), 0.6) * 2 * size / 1e9,
        "host_to_device_gb_per_s": _rate(lambda: part.copy_(host, non_blocking=True), 0.3) * host.numel() / 1e9,
        "device_to_host_gb_per_s": _rate(lambda: host.copy_(part, non_blocking=True), 0.3) * host.numel() / 1e9,
    }
    bounds: list[str] = []
    directions = ("within the device", "from the host", "to the host")
    problems: list[Unanswered | None] = []
    for direction, rate, known in zip(directions, rates.values(), floors):
        bound, problem = judged(f"the copy {direction}", rate, "GB/s", known, device)
        problems.append(problem)
        # No kind of device has a known floor for the two copies over the bus.
        if known or not bounds:
            bounds.append(bound)
    measured = (
        f"{rates['gb_per_s']:.4g} GB/s within the device, {rates['host_to_device_gb_per_s']:.4g} from the host,"
        f" {rates['device_to_host_gb_per_s']:.4g} to it"
    )
    return _with_warning(Measured(measured, "; ".join(bounds), rates=rates), *problems)


def _under_load(index: str, work: t.Callable[[], object]) -> tuple[list[sampler.Sample], float]:
    """Load the device while a thread samples it.

    :returns: the samples taken after the clocks had settled, and the calls of ``work`` per second in the best window.
    :raises sampler.NoSampler: if the device cannot be sampled.
    """
    samples: list[tuple[float, sampler.Sample]] = []
    problems: list[sampler.NoSampler] = []
    finished = threading.Event()
    start = time.monotonic()

    def look() -> None:
        while not finished.wait(0.05):
            began = time.monotonic() - start
            try:
                samples.append((began, sampler.sample(index)))
            except sampler.NoSampler as problem:
                problems.append(problem)
                return

    thread = threading.Thread(target=look, name="sampler", daemon=True)
    thread.start()
    settled: list[sampler.Sample] = []
    best = 0.0
    try:
        count = max(1, round(WINDOW / _seconds_of_one(work)))
        # The load has to last longer if nvidia-smi takes a second for each answer.
        while not problems and time.monotonic() - start < 15:
            best = max(best, count / _seconds_of(work, count))
            settled = [sample for began, sample in list(samples) if began > SETTLED]
            if time.monotonic() - start > CLOCK_LOAD and len(settled) >= 4:
                break
    finally:
        finished.set()
        thread.join()
    if problems:
        raise problems[0]
    if not settled:
        raise sampler.NoSampler("nvidia-smi did not answer within 15 seconds of load")
    return settled, best


def _is_capped(work: t.Callable[[], object]) -> bool:
    """Tell whether the device's clocks are capped."""
    try:
        return any(CAPPED in sample.reasons for sample in _SAMPLES or _under_load(_index(), work)[0])
    except sampler.NoSampler:
        return False


@check("speed.clocks", numeric=False, seconds=90, measured=SEEN)
def clocks(context: Context) -> Measured:
    """Measure the SM clock and the power that the device sustains during matrix products, according to nvidia-smi.

    The profile's floor is sm_clock_mhz. Without a floor in the profile, it is a share of the known clock for the
    device's kind, or of the maximum clock that the device reports.
    """
    device = torch.cuda.get_device_name()
    floors = floors_of("sm_clock_mhz", context.profile)
    index = _index()
    _wait_until_idle(index)
    try:
        samples = list(_SAMPLES) or _under_load(index, _product(context, torch.bfloat16)[1])[0]
    except sampler.NoSampler as problem:
        raise Skipped(f"The clocks cannot be read: {problem}.") from problem
    samples = [sample for sample in samples if sample.sm_clock_mhz is not None]
    if not samples:
        raise Skipped("nvidia-smi does not report this device's SM clock.")
    greatest = samples[-1].sm_clock_most_mhz
    if greatest and "sm_clock_mhz" not in (context.profile.get("floors") or {}):
        floors.append(Floor(greatest, CLOCK_RATIO, "that the device reports", "unknown: an H200 keeps 0.74 of it"))
    caps = sampler.caps()
    clock, power, fault = clock_fault(samples, floors, device, caps)
    rates = {"sm_clock_mhz": clock}
    measured = f"SM clock {clock:.0f} MHz"
    if power is not None:
        rates["power_w"] = power
        measured += f" at {power:.0f} W"
    limit = samples[-1].power_limit_w
    if limit is not None:
        measured += f" of {limit:.0f} W"
    reasons = sorted(set().union(*(sample.reasons for sample in samples)))
    measured += f", {', '.join(reasons)}" if reasons else ", not held back"
    measured += f", capped by the owner to {caps}" if str(caps) else ""
    bound = "; ".join(floor.text("MHz") for floor in floors) or f"no floor of the SM clock is known for {device}"
    return _with_warning(Measured(measured, bound, rates=rates), fault)
