"""The data types for a check: its definition, context, result and evidence."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import random
import time
import typing as t

from . import coverage

# Statuses and reasons of a report, re-exported for the checks.
# isort: off
from ._shared.module_utils._core.verdict import (
    ABSENT as ABSENT, BUSY as BUSY, CRASH as CRASH, FAIL as FAIL, FULL as FULL, KNOWN as KNOWN, MEMORY as MEMORY,
    MISMATCH as MISMATCH, PASS as PASS, REFUSED as REFUSED, SKIP as SKIP, SLOW as SLOW, TIMEOUT as TIMEOUT,
    UNANSWERED as UNANSWERED, UNJUDGED as UNJUDGED, WARN as WARN, WRONG as WRONG,
)  # fmt: skip

if t.TYPE_CHECKING:
    import torch

#: On kinds of device without a recorded sound run, an error counts only if it exceeds this multiple of its bound,
#: because other devices use other algorithms. Known faults cause errors of thousands of times the bound.
FACTOR = 50.0


def minor(version: str | None) -> str:
    """Return a torch version as written in the kinds of a device: ``torch 2.14`` for ``2.14.1+cu130``."""
    return f"torch {'.'.join((version or '').split('.')[:2])}"


@dataclasses.dataclass(frozen=True)
class Evidence:
    """A device on which a check passed with a sound stack.

    :ivar device: its name, such as ``NVIDIA H200``.
    :ivar kind: the GPU's compute capability (``9.0``), or the processor's kind from :meth:`host.HostSide.processor`.
    :ivar date: such as ``2026-11-24``.
    """

    device: str
    kind: str
    date: str
    torch: str

    def __str__(self) -> str:
        return f"measured on {self.device} ({self.kind}), {self.date}, torch {self.torch}"


# The source of these constants is docs/evidence/proof-runs.json.
#: The default stack's wheels on a GPU host.
H200 = Evidence("NVIDIA H200", "9.0", "2026-11-28", "2.14.1+cu130")
X86 = Evidence("an x86_64 CPU", "x86_64", "2026-11-28", "2.14.1+cu130")
#: An environment with extensions that the roles built, and with their receipts.
H200_BUILT = Evidence("NVIDIA H200", "9.0", "2026-11-23", "2.11.0+cu130")
X86_BUILT = Evidence("an x86_64 CPU", "x86_64", "2026-11-23", "2.11.0+cu130")
#: Two runs after the older generation of checks was removed, on a machine without a GPU and on a GPU host.
X86_CPU_LAST = Evidence("an x86_64 CPU", "x86_64", "2026-11-28", "2.13.0+cpu")
#: Three runs for each day of the survey's grid, and runs of checks that changed since then; without a GPU.
X86_CPU_GRID = Evidence("an x86_64 CPU", "x86_64", "2026-11-29", "2.13.0+cpu")
#: Those inputs on a GPU host, with the default stack's wheels.
H200_GRID = Evidence("NVIDIA H200", "9.0", "2026-11-29", "2.14.1+cu130")
X86_GRID = Evidence("an x86_64 CPU", "x86_64", "2026-11-29", "2.14.1+cu130")
#: The same with the older torch of the host.
H200_OLDER = Evidence("NVIDIA H200", "9.0", "2026-11-29", "2.11.0+cu130")
H200S = (H200_GRID, H200_OLDER)
#: Checks that came later, in seven runs or more with each torch.
H200S_LATER = tuple(dataclasses.replace(each, date="2026-11-30") for each in H200S)
#: The processor of that host in some of these runs.
X86S_LATER = X86_NEWER, X86_OLDER = tuple(
    dataclasses.replace(X86_GRID, date=each.date, torch=each.torch) for each in H200S_LATER
)
H100_LAST = Evidence("NVIDIA H100 80GB HBM3", "9.0", "2026-11-28", "2.11.0+cu130")
X86_LAST = Evidence("an x86_64 CPU", "x86_64", "2026-11-28", "2.11.0+cu130")
#: The aarch64 wheels (docs/evidence/emulated-cpu.md). On a real processor this evidence does not count.
EMULATED = Evidence("an emulated Neoverse N2", "emulated aarch64 0x41 0xd49", "2026-11-28", "2.14.1+cu130")
EMULATED_GRID = dataclasses.replace(EMULATED, date="2026-11-29")
SEEN = (H200, X86, H100_LAST, X86_LAST, X86_CPU_LAST)
SEEN_ARM, SEEN_ARM_GRID = (*SEEN, EMULATED), (*SEEN, EMULATED_GRID)
SEEN_GRID = (*H200S, X86_CPU_GRID, EMULATED_GRID)
#: Calls that are drawn by the thousand: dozens of runs with each torch on a CPU, and three or more on a GPU.
X86S_DRAWN = tuple(dataclasses.replace(each, date="2026-12-01") for each in (X86_CPU_GRID, X86_GRID, X86_OLDER))
SEEN_DRAWN = (dataclasses.replace(H200_OLDER, date="2026-12-01"), *X86S_DRAWN)
COMPANIONS = (H200_GRID, H100_LAST, X86_LAST, EMULATED)


class Skipped(Exception):
    """Raised by a check that does not apply to this environment; the message is a sentence."""


class Failed(Exception):
    """Raised by a check that found a wrong result, or wrong files.

    :param cause: a sentence.
    :param remedy: a sentence.
    :param measured: the wrong value, briefly.
    :param bound: the right value, or its bound.
    :param ratio: the largest error divided by its bound, for a check that compares numbers.
    :param mismatched: the number of NaN, infinite or integer values that differ from the reference and have no ratio.
    :param compared: the number of all values that were compared.
    :param blocks: whether the failure counts even without evidence for the check.
    """

    reason = ""

    def __init__(
        self,
        cause: str,
        remedy: str,
        measured: str = "",
        bound: str = "",
        ratio: float | None = None,
        mismatched: int = 0,
        compared: int = 0,
        blocks: bool = False,
    ) -> None:
        super().__init__(cause)
        self.cause, self.remedy, self.measured, self.bound, self.ratio = cause, remedy, measured, bound, ratio
        self.mismatched, self.compared, self.blocks = mismatched, compared if mismatched else 0, blocks


def cpu_build(version: str, bound: str) -> Failed:
    """Return the failure for a CPU build of torch where a GPU is needed."""
    return Failed(
        f"torch {version} is a CPU build, which cannot use a GPU.",
        "Use a stack whose torch has an official aarch64 CUDA wheel (2.11 and newer), or build it from source "
        "(stack_method: build), then run playbooks/deploy.yml.",
        f"torch {version}, CPU build",
        bound,
    )


class Unanswered(Failed):
    """Raised by a check that has no result to judge.

    :param reason: one of ``UNANSWERED``.
    :param blocks: see :class:`Failed`; set for a speed floor that the site defined.
    """

    def __init__(
        self, reason: str, cause: str, remedy: str, measured: str = "", bound: str = "", blocks: bool = False
    ) -> None:
        super().__init__(cause, remedy, measured, bound, blocks=blocks)
        self.reason = reason


@dataclasses.dataclass
class Measured:
    """The return value of a check that passes.

    :ivar measured: a short form of the result: ``worst of 12 cases 0.31 of its bound``.
    :ivar bound: the bound, or the reference.
    :ivar ratio: the largest error divided by its bound, at most 1, for a check that compares numbers.
    :ivar rates: speeds by name; the names include the unit: ``tflops``, ``gb_per_s``.
    :ivar warning: a remark for the user, which does not block unless ``blocks`` is set.
    :ivar covered: the operators that a survey computed in this run.
    :ivar coverage: the coverage of the survey's grid, see the module ``coverage``.
    """

    measured: str
    bound: str
    ratio: float | None = None
    rates: dict[str, float] = dataclasses.field(default_factory=dict)
    warning: Failed | None = None
    covered: tuple[str, ...] = ()
    coverage: dict[str, t.Any] = dataclasses.field(default_factory=dict)

    def warn_of_known(self, cause: str, remedy: str, ratio: float) -> None:
        """Add a warning of wrong numbers that are a known defect of torch or a library."""
        earlier = f"{self.warning.cause} " if self.warning else ""
        self.warning = Failed(f"{earlier}{cause}", remedy, self.measured, self.bound, ratio)
        self.warning.reason = KNOWN


@dataclasses.dataclass
class Result:
    """One row of the report. For fields not listed here, see :class:`Failed` and :class:`Measured`.

    :ivar status: ``pass``, ``warn``, ``fail`` or ``skip``.
    :ivar cause: the cause of a failure, a warning or a skip; empty for a pass.
    :ivar remedy: the remedy for a failure or a warning; empty otherwise.
    :ivar core_seconds: the processor time of the check's process, its threads and the children that it waited for.
    :ivar blocked: whether it was skipped because the check named in the cause failed.
    :ivar evidence: a device on which the check passed.
    :ivar reason: the kind of failure, such as ``WRONG``; empty for a pass and a skip.
    :ivar accepted: whether it only warns because the site accepts the failure (``verify_accept``).
    :ivar blocks: before the verdict, see :class:`Failed`; then whether a warning keeps the environment unproven.
    """

    name: str
    status: str
    measured: str = ""
    bound: str = ""
    cause: str = ""
    remedy: str = ""
    family: str = "host"
    numeric: bool = False
    seconds: float = 0.0
    core_seconds: float = 0.0
    ratio: float | None = None
    rates: dict[str, float] = dataclasses.field(default_factory=dict)
    required: bool = False
    blocked: bool = False
    evidence: str = ""
    reason: str = ""
    accepted: bool = False
    blocks: bool = False
    covered: list[str] = dataclasses.field(default_factory=list)
    mismatched: int = 0
    compared: int = 0
    coverage: dict[str, t.Any] = dataclasses.field(default_factory=dict)

    def as_row(self) -> dict[str, t.Any]:
        """Return the row as a JSON-serializable dict, without infinities."""
        row = dataclasses.asdict(self)
        row["ratio"] = self.ratio if self.ratio is not None and math.isfinite(self.ratio) else None
        row["rates"] = {name: rate for name, rate in self.rates.items() if math.isfinite(rate)}
        for key in ("core_seconds", "blocks", "mismatched", "compared", "coverage"):
            if not row[key]:
                del row[key]
        return row

    @classmethod
    def from_row(cls, row: t.Mapping[str, t.Any]) -> Result:
        """Return the result from a row that :meth:`as_row` wrote.

        :raises ValueError: if the row is invalid; the environment under test wrote it and may have written anything.
        """
        try:
            result = cls(**row)
            numbers = [result.seconds, *result.rates.values(), *([] if result.ratio is None else [result.ratio])]
            numbers += [result.core_seconds, result.mismatched, result.compared]
            texts = [result.name, result.measured, result.bound, result.cause, result.remedy, result.family]
            texts += [result.evidence, *result.covered]
            is_sound = all(map(math.isfinite, numbers)) and all(isinstance(text, str) for text in texts)
        except (TypeError, AttributeError, OverflowError) as error:
            raise ValueError("its fields have other types") from error
        is_sound = is_sound and isinstance(result.covered, list) and coverage.is_sound(result.coverage)
        is_sound = is_sound and result.status in (PASS, WARN, FAIL, SKIP)
        if not is_sound or result.reason not in ("", WRONG, MISMATCH, KNOWN, *UNANSWERED):
            raise ValueError("its fields have other values")
        return result


def mismatch(name: str, measured: str, bound: str, cause: str, remedy: str) -> Result:
    """Return the failure for an installation that differs from the stack."""
    return Result(name, FAIL, measured, bound, cause, remedy, reason=MISMATCH)


def compilers() -> int:
    """Return how many kernels a process compiles at once: one for every four cores."""
    return max(1, len(os.sched_getaffinity(0)) // 4)


def seed_of_date() -> int:
    """Return the seed of a run without one of its own: the date in UTC, as the number 20261129."""
    return int(time.strftime("%Y%m%d", time.gmtime()))


def is_full(samples: float) -> bool:
    """Tell whether a proof with this many inputs for each operator is a full one."""
    return samples >= FULL["samples"]


@dataclasses.dataclass(frozen=True)
class Context:
    """The argument of a check function.

    :ivar device: ``cuda`` or ``cpu``.
    :ivar profile: ``name``, ``compute_capability`` (``12.1``, or null for any), ``unified_memory``, ``floors``.
    :ivar reference: the stack's description of the environment; see the module ``cuda_proof``.
    :ivar limits: the limits of the run, such as ``memory_share``.
    :ivar directory: a scratch directory, removed after the run.
    :ivar step: a function that a check with many parts calls with the name of each part; see :class:`Definition`.
    :ivar passed_over: the parts that crashed or hung in an earlier process, and what happened to them.
    """

    device: str
    profile: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    reference: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    limits: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    directory: str = "."
    step: t.Callable[[str], None] = lambda part: None
    passed_over: t.Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether this is a full proof (``--full``)."""
        return is_full(float(self.limits["samples"]))

    @property
    def seed(self) -> int:
        """The seed for the inputs: the limit ``seed``, or the date."""
        return int(self.limits.get("seed") or seed_of_date())

    def generator(self, seed: str) -> torch.Generator:
        """Return a CPU random number generator that is seeded with a text."""
        import torch

        return torch.Generator().manual_seed(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6], "big"))

    def drawing(self, stream: str) -> random.Random:
        """Return what draws sizes and options: a generator of Python that is seeded with the run's seed and a text."""
        return random.Random(f"{self.seed} {stream}")  # noqa: S311 - the choice need not be secret


Function = t.Callable[[Context], Measured]


@dataclasses.dataclass(frozen=True)
class Definition:
    """One check in the catalogue.

    :ivar name: such as ``matmul.bfloat16``; the names of checks on the CPU begin with ``cpu.``.
    :ivar family: the first part of the name; the checks of a family share a process.
    :ivar device: ``cuda`` if it needs a GPU, ``cpu`` if it computes on the CPU, ``none`` if it computes nothing.
    :ivar numeric: whether it compares results with a reference, so that its pass counts for the proof.
    :ivar seconds: its time limit on a host that is not emulated.
    :ivar module: the module of its function, relative to ``checks``: ``kernels.matmul``.
    :ivar measured: the devices on which it passed; without any, a failure only warns.
    :ivar steps: whether it has many parts and reports the start of each; ``seconds`` then limits one part. If a part
        crashes or hangs, the check is restarted without it.
    :ivar factor: see :data:`FACTOR`; 1 for values that can be computed exactly or are only read.
    """

    name: str
    family: str
    device: str
    numeric: bool
    seconds: float
    module: str
    measured: tuple[Evidence, ...] = ()
    steps: bool = False
    factor: float = FACTOR

    def seen(self, kinds: t.Collection[str]) -> list[Evidence]:
        """Return the evidence recorded on this kind of device; if the check computes nothing, any torch version counts.

        :param kinds: see :func:`verdict.judge`.
        """
        any_torch = self.device == "none"
        return [run for run in self.measured if run.kind in kinds and (any_torch or minor(run.torch) in kinds)]

    def result(
        self, status: str, measured: str = "", bound: str = "", cause: str = "", remedy: str = "", **more: t.Any
    ) -> Result:
        """Return a row of the report for this check."""
        return Result(self.name, status, measured, bound, cause, remedy, self.family, self.numeric, **more)


# The checks in the modules imported so far, by name.
REGISTERED: dict[str, Definition] = {}
FUNCTIONS: dict[str, Function] = {}


def definitions(
    name: str,
    module: str,
    devices: t.Sequence[str] = ("cuda",),
    numeric: bool = True,
    seconds: float = 60,
    measured: t.Collection[Evidence] = (),
    steps: bool = False,
    family: str = "",
    factor: float = FACTOR,
) -> dict[str, Definition]:
    """Return the definitions of a check function, one for each device, by name.

    :param measured: the evidence from all devices.
    :param family: by default the first part of the name.
    """
    family, by_name = family or name.partition(".")[0], {}
    for device in devices:
        full = f"cpu.{name}" if device == "cpu" else name
        # A GPU's kind is a number; a processor's kind begins with a letter.
        evidence = tuple(run for run in measured if run.kind[:1].isdigit() == (device == "cuda"))
        by_name[full] = Definition(full, family, device, numeric, seconds, module, evidence, steps, factor)
    return by_name


def check(name: str, **options: t.Any) -> t.Callable[[t.Callable[..., Measured]], t.Callable[..., Measured]]:
    """Register a check function. One with a second parameter serves several checks, and gets the last part of the name.

    The catalogue parses this call from the source, so its arguments must be literals or names of evidence.

    :param options: see :func:`definitions`.
    """

    def register(function: t.Callable[..., Measured]) -> t.Callable[..., Measured]:
        module, is_shared = function.__module__.partition(".checks.")[2], function.__code__.co_argcount > 1

        def with_name(context: Context) -> Measured:
            return function(context, name.rpartition(".")[2])

        for full, definition in definitions(name, module, **options).items():
            if full in REGISTERED:
                raise ValueError(f"two checks are called {full}")
            REGISTERED[full], FUNCTIONS[full] = definition, with_name if is_shared else function
        return function

    return register
