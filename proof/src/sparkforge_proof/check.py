# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a check is, what it returns, and what it is given."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import time
import typing as t

from . import coverage

# The words of a report, for the checks that return them.
from ._shared.module_utils._core.verdict import (
    ABSENT as ABSENT,
    BUSY as BUSY,
    CRASH as CRASH,
    FAIL as FAIL,
    FULL as FULL,
    KNOWN as KNOWN,
    MEMORY as MEMORY,
    MISMATCH as MISMATCH,
    PASS as PASS,
    REFUSED as REFUSED,
    SKIP as SKIP,
    SLOW as SLOW,
    TIMEOUT as TIMEOUT,
    UNANSWERED as UNANSWERED,
    UNJUDGED as UNJUDGED,
    WARN as WARN,
    WRONG as WRONG,
)

if t.TYPE_CHECKING:
    import torch

#: The remedy for a torch without CUDA.
CPU_BUILD_REMEDY = (
    "Use a stack whose torch has an official aarch64 CUDA wheel (2.11 and newer), or build it from source "
    "(stack_method: build), then run playbooks/deploy.yml."
)


#: How many times its bound a number may be off, before it counts, where no sound run on such a device is on record:
#: other devices take other algorithms. Faults that were seen are thousands of times the bound.
FACTOR = 50.0


def minor(version: str | None) -> str:
    """Return of a version of torch what belongs to a kind of device: ``torch 2.14`` of ``2.14.1+cu130``."""
    return f"torch {'.'.join((version or '').split('.')[:2])}"


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Where a check was seen to pass on a sound stack.

    :ivar device: its name: ``NVIDIA H200``.
    :ivar kind: the GPU's compute capability (``9.0``), or for what computes on the CPU the machine (``x86_64``), with
        the parts of Arm's cores, and ``emulated`` before it where it is: see :meth:`host.HostSide.processor`.
    :ivar date: when, ``2026-11-24``.
    :ivar torch: the version of torch.
    """

    device: str
    kind: str
    date: str
    torch: str

    def __str__(self) -> str:
        return f"measured on {self.device} ({self.kind}), {self.date}, torch {self.torch}"


#: Source, as of all of these: docs/evidence/proof-runs.json. The wheels of the default stack, on a GPU host.
H200 = Evidence("NVIDIA H200", "9.0", "2026-11-28", "2.14.1+cu130")
X86 = Evidence("an x86_64 CPU", "x86_64", "2026-11-28", "2.14.1+cu130")
#: The same three days before: the last time with the survey, which the later run skipped.
H200_FIRST = Evidence("NVIDIA H200", "9.0", "2026-11-25", "2.14.1+cu130")
X86_FIRST = Evidence("an x86_64 CPU", "x86_64", "2026-11-25", "2.14.1+cu130")
#: With extensions that the roles built, and their receipts.
H200_BUILT = Evidence("NVIDIA H200", "9.0", "2026-11-23", "2.11.0+cu130")
X86_BUILT = Evidence("an x86_64 CPU", "x86_64", "2026-11-23", "2.11.0+cu130")
#: The survey as a GPU computed it last; a check that is changed after a run loses it (docs/evidence/survey.md).
H200_LATER = Evidence("NVIDIA H200", "9.0", "2026-11-26", "2.11.0+cu130")
#: A machine without a GPU, and a GPU's host, after one generation of each check was left.
X86_CPU_LAST = Evidence("an x86_64 CPU", "x86_64", "2026-11-28", "2.13.0+cpu")
H100_LAST = Evidence("NVIDIA H100 80GB HBM3", "9.0", "2026-11-28", "2.11.0+cu130")
X86_LAST = Evidence("an x86_64 CPU", "x86_64", "2026-11-28", "2.11.0+cu130")
#: The wheels for aarch64 (docs/evidence/emulated-cpu.md). It counts on no real processor, whatever its cores are.
EMULATED = Evidence("an emulated Neoverse N2", "emulated aarch64 0x41 0xd49", "2026-11-28", "2.14.1+cu130")
#: What follows the survey's operators, and nearly all other checks: with the default stack's torch as well.
LAST = (H100_LAST, X86_LAST, X86_CPU_LAST)
SEEN = (H200, X86, *LAST)
#: Emulated as well.
SEEN_ARM = (*SEEN, EMULATED)
SURVEYED = (H200_FIRST, X86_FIRST, H200_LATER, X86_LAST, X86_CPU_LAST)


class Skipped(Exception):
    """Raised by a check that does not apply here.

    :param reason: one sentence.
    """


class Failed(Exception):
    """Raised by a check that found something wrong: a number, or what is installed.

    :param cause: one sentence that says what is wrong.
    :param remedy: one sentence that says what to do about it.
    :param measured: what was found, in few words.
    :param bound: what it should have been.
    :param ratio: the worst error by its bound, for a check that compares numbers.
    :param mismatched: how many numbers are a NaN, an infinity or a whole number in the place of another, which have no
        ratio.
    :param compared: of how many.
    :param blocks: whether it fails whatever the check's evidence is.
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


class Unanswered(Failed):
    """Raised by a check that has no number to judge.

    :param reason: one of ``UNANSWERED``.
    :param blocks: as of :class:`Failed`: a floor of speed that the site sets.
    """

    def __init__(
        self, reason: str, cause: str, remedy: str, measured: str = "", bound: str = "", blocks: bool = False
    ) -> None:
        super().__init__(cause, remedy, measured, bound, blocks=blocks)
        self.reason = reason


@dataclasses.dataclass
class Measured:
    """What a check returns that found nothing wrong.

    :ivar measured: what was found, in few words: ``worst of 12 cases 0.31 of its bound``.
    :ivar bound: what it was compared with.
    :ivar ratio: the worst error by its bound, 1 at most, for a check that compares numbers.
    :ivar rates: figures of speed by name, with their unit in the name: ``tflops``, ``gb_per_s``.
    :ivar warning: what should be looked at all the same, and does not block unless it says so.
    :ivar covered: of a survey, the operators that were computed this time.
    :ivar coverage: of the grid, see the module ``coverage``.
    """

    measured: str
    bound: str
    ratio: float | None = None
    rates: dict[str, float] = dataclasses.field(default_factory=dict)
    warning: Failed | None = None
    covered: tuple[str, ...] = ()
    coverage: dict[str, t.Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Result:
    """One row of the report.

    :ivar status: ``pass``, ``warn``, ``fail`` or ``skip``.
    :ivar cause: what is wrong, or why it was skipped; empty for a pass.
    :ivar remedy: what to do about a failure or a warning; empty otherwise.
    :ivar blocked: skipped because another check failed, which is named in the cause.
    :ivar evidence: where the check was seen to pass.
    :ivar reason: why it did not pass, see ``WRONG``; empty for a pass and a skip.
    :ivar accepted: the site accepts its failure (``verify_accept``), so that it warns.
    :ivar blocks: fails whatever the evidence is.
    :ivar covered: of a survey, the operators that were computed this time.
    :ivar mismatched: how many numbers have no ratio, see :class:`Failed`, of those ``compared``.
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
        """Return what the runner and a report say of it; JSON has no infinity."""
        row = dataclasses.asdict(self)
        row["ratio"] = self.ratio if self.ratio is not None and math.isfinite(self.ratio) else None
        row["rates"] = {name: rate for name, rate in self.rates.items() if math.isfinite(rate)}
        for key in ("blocks", "mismatched", "compared", "coverage"):
            if not row[key]:
                del row[key]
        return row

    @classmethod
    def from_row(cls, row: t.Mapping[str, t.Any]) -> Result:
        """Return what a row says; the environment that is proven may have written anything in its place.

        :raises ValueError: it is no row.
        """
        try:
            result = cls(**row)
            numbers = [result.seconds, *result.rates.values(), *([] if result.ratio is None else [result.ratio])]
            numbers += [result.mismatched, result.compared]
            words = [result.name, result.measured, result.bound, result.cause, result.remedy, result.family]
            words += [result.evidence, *result.covered]
            is_sound = all(map(math.isfinite, numbers)) and all(isinstance(text, str) for text in words)
        except (TypeError, AttributeError, OverflowError) as error:
            raise ValueError("its fields have other types") from error
        is_sound = is_sound and isinstance(result.covered, list) and coverage.is_sound(result.coverage)
        is_sound = is_sound and result.status in (PASS, WARN, FAIL, SKIP)
        if not is_sound or result.reason not in ("", WRONG, MISMATCH, KNOWN, *UNANSWERED):
            raise ValueError("its fields have other values")
        return result


def mismatch(name: str, measured: str, bound: str, cause: str, remedy: str) -> Result:
    """Return the row of what is installed and is not what the stack says."""
    return Result(name, FAIL, measured, bound, cause, remedy, reason=MISMATCH)


def is_full(samples: float) -> bool:
    """Return whether so many inputs of each operator are those of a full proof."""
    return samples >= FULL["samples"]


@dataclasses.dataclass(frozen=True)
class Context:
    """What a check is given.

    :ivar device: ``cuda`` or ``cpu``: where it computes.
    :ivar profile: ``name``, ``compute_capability`` (``12.1`` or null for any), ``unified_memory``, ``floors``.
    :ivar reference: what the stack says that the environment is: see the module ``cuda_proof``.
    :ivar limits: ``memory_share`` of the device's memory that may be taken.
    :ivar directory: for scratch files; private to the run and removed after it.
    :ivar step: told what a check of many parts begins with, see :class:`Definition`.
    :ivar passed_over: parts that ended the process when they were tried, and how.
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
        """Whether everything is asked, as ``--full`` has it."""
        return is_full(float(self.limits["samples"]))

    @property
    def seed(self) -> int:
        """What decides which inputs are drawn: the limit ``seed``, or the date."""
        return int(self.limits.get("seed") or time.strftime("%Y%m%d", time.gmtime()))

    def generator(self, words: str) -> torch.Generator:
        """Return a generator of random numbers on the CPU, whose seed follows from ``words`` alone."""
        import torch

        return torch.Generator().manual_seed(int.from_bytes(hashlib.sha256(words.encode()).digest()[:6], "big"))


Function = t.Callable[[Context], Measured]


@dataclasses.dataclass(frozen=True)
class Definition:
    """One check of the catalogue.

    :ivar name: ``matmul.bfloat16``; those that compute on the CPU begin with ``cpu.``.
    :ivar family: the checks of a family share a process: the first part of its name.
    :ivar device: ``cuda``: needs a GPU; ``cpu``: computes on the CPU; ``none``: computes nothing.
    :ivar numeric: compares numbers with a reference, so that its pass proves something.
    :ivar seconds: how long it may take on a host that is not emulated.
    :ivar module: where its function is, below ``checks``: ``kernels.matmul``.
    :ivar measured: where it was seen to pass; without any, whatever it finds only warns.
    :ivar steps: it has many parts and says which one it begins; ``seconds`` are those of a part. When one crashes or
        hangs, the check is begun again without it.
    :ivar factor: how far off it counts on a kind of device without evidence, see :data:`FACTOR`; 1 for what can be
        computed exactly, or read.
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
        """Return where it passed on such a device; what computes nothing reads the same with any torch.

        :param kinds: see :func:`verdict.judge`.
        """
        any_torch = self.device == "none"
        return [one for one in self.measured if one.kind in kinds and (any_torch or minor(one.torch) in kinds)]

    def result(
        self, status: str, measured: str = "", bound: str = "", cause: str = "", remedy: str = "", **more: t.Any
    ) -> Result:
        """Return its row of the report."""
        return Result(self.name, status, measured, bound, cause, remedy, self.family, self.numeric, **more)


#: By name, those of the files that were imported, and what computes them.
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
    """Return what a function computes, once for each device; ``cpu.`` goes before the name of what computes there.

    :param measured: where it was seen to pass, on any of the devices. A check that was run nowhere has none.
    :param family: by default the first part of the name.
    """
    made = {}
    for device in devices:
        full = f"cpu.{name}" if device == "cpu" else name
        # A compute capability is a number, and a machine's name is none.
        seen = tuple(one for one in measured if one.kind[:1].isdigit() == (device == "cuda"))
        of = family or name.partition(".")[0]
        made[full] = Definition(full, of, device, numeric, seconds, module, seen, steps, factor)
    return made


def check(name: str, **options: t.Any) -> t.Callable[[Function], Function]:
    """Put a function into the catalogue.

    The catalogue reads this call from the source, so that all arguments are literals and names of evidence.

    :param options: see :func:`definitions`.
    """

    def register(function: Function) -> Function:
        module = function.__module__.partition(".checks.")[2]
        for full, definition in definitions(name, module, **options).items():
            if full in REGISTERED:
                raise ValueError(f"two checks are called {full}")
            REGISTERED[full], FUNCTIONS[full] = definition, function
        return function

    return register
