# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults that are planted by wrapping one operator of torch's dispatcher; runs in the interpreter of an environment.

`python -m benchmarks.mutation JOB`, a JSON file that benchmarks/campaign.py writes. torch is imported once; each mutant
is a fork of that process, in which the kernel of one operator is replaced by one that calls it and then spoils what it
returns. Which operator and how is drawn by a seed from all that the dispatcher has, with no look at the checks.

Before, each check is run once under torch's profiler, which names the operators that it calls: a check that never calls
the wrapped operator cannot tell of it, and is left out for that mutant. That is what makes a campaign cheap.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import json
import math
import mmap
import os
import random
import signal
import struct
import sys
import time
import traceback
import typing as t

import torch

PACKAGE = "sparkforge_proof"
catalogue, runner, survey, survey_bounds = (
    importlib.import_module(f"{PACKAGE}.{name}")
    for name in ("catalogue", "runner", "checks.survey", "checks.survey_bounds")
)

#: What a fault does to a result, of those that need no further condition.
DEFECTS = ("scale", "swap", "drop")
#: The kinds of faults, drawn evenly.
KINDS = (*DEFECTS, "gradient", "format", "shape", "layout")
#: Operators of the catalogue of the survey that are tried first where very many call the wrapped one.
FIRST = 40
#: Of how many calls the size of the fault is measured at most.
MEASURED_CALLS = 400
#: How many times its bound a fault is at least that counts as large.
LARGE = 10.0
#: What the runner of a mutant may take in all, in seconds.
PATIENCE = 900


# -- what can be wrapped


def candidates(device: str) -> tuple[list[str], dict[str, int]]:
    """Return the operators that a fault can be planted in, and how many others there are by the reason.

    :param device: ``cpu`` or ``cuda``.
    """
    key, found, others = device.upper(), [], collections.Counter[str]()
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        if not full.startswith("aten::"):
            continue
        operator = overload(full)
        if operator is None:
            others["torch.ops has none of that name"] += 1
        elif not has(full, key) and not has(full, "CompositeExplicitAutograd"):
            others["no kernel of its own on the device: it is made of others, or for another kind of tensor"] += 1
        elif operator.is_view:
            others["it returns a view and computes nothing"] += 1
        elif any(word in full for word in ("empty", "resize", "::set_", "record_stream", "_test_", "pin_memory")):
            others["it returns or arranges memory that nobody has set"] += 1
        elif not any("Tensor" in str(one.type) for one in operator._schema.returns) and not _written(operator):
            others["it returns no tensor and writes none"] += 1
        else:
            found.append(full)
    return found, dict(others)


def overload(full: str) -> t.Any:
    """Return the operator of a name such as ``aten::add.Tensor``; None where torch.ops has none."""
    base, _unused, name = full.partition("::")[2].partition(".")
    return getattr(getattr(torch.ops.aten, base, None), name or "default", None)


def _written(operator: t.Any) -> list[int]:
    """Return which arguments the operator writes to."""
    return [
        number
        for number, one in enumerate(operator._schema.arguments)
        if one.alias_info is not None and one.alias_info.is_write
    ]


# -- a fault


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One fault.

    :ivar defect: what is done to a result: ``scale``, ``swap``, ``drop`` or ``zero``; empty for a wrapper that does
        nothing, which is sound.
    :ivar factor: of ``scale``.
    :ivar lanes: of ``swap``: two numbers, modulo the length of the last dimension.
    :ivar only: the condition: a format, a class of shapes or a layout; empty for none.
    """

    number: int
    operator: str
    kind: str
    defect: str
    factor: float = 1.0
    lanes: tuple[int, int] = (0, 1)
    only: str = ""


#: Classes of shapes by name, of the first result.
SHAPES: dict[str, t.Callable[[torch.Tensor], bool]] = {
    "last dimension no multiple of 8": lambda x: x.dim() > 0 and x.shape[-1] % 8 != 0,
    "last dimension a multiple of 4": lambda x: x.dim() > 0 and x.shape[-1] % 4 == 0,
    "three dimensions or more": lambda x: x.dim() >= 3,
    "one dimension or none": lambda x: x.dim() <= 1,
    "more than 64 elements": lambda x: x.numel() > 64,
    "more than 4,096 elements": lambda x: x.numel() > 4096,
}
#: Layouts by name, of any of the inputs.
LAYOUTS: dict[str, t.Callable[[torch.Tensor], bool]] = {
    "not contiguous": lambda x: not x.is_contiguous(),
    "contiguous": lambda x: x.is_contiguous(),
    "does not begin where its memory does": lambda x: x.storage_offset() != 0,
}


def draw(operators: t.Sequence[str], device: str, seed: int, number: int, sound: bool = False) -> Mutant:
    """Return the mutant of a number: the same for the same seed, operators and device."""
    chance = random.Random(f"{seed} {number}")  # noqa: S311 - a campaign can be repeated
    operator, kind = chance.choice(operators), chance.choice(KINDS)
    formats = ["float32", "bfloat16", "float16"] + (["float64"] if device == "cuda" else [])
    defect, only = chance.choice(DEFECTS), ""
    if kind in DEFECTS:
        defect = kind
    elif kind == "gradient":
        defect = "zero"
    else:
        only = chance.choice({"format": formats, "shape": list(SHAPES), "layout": list(LAYOUTS)}[kind])
    lanes = (chance.randrange(1 << 16), chance.randrange(1 << 16))
    factor = chance.choice((0.99, 1.01))
    if sound:
        return Mutant(number, operator, "sound", "")
    return Mutant(number, operator, kind, defect, factor, lanes, only)


class Seen:
    """What the wrapped operator did, in memory that the forks share: calls, faults, the largest fault by its bound."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 24)

    def read(self) -> tuple[int, int, float]:
        return t.cast("tuple[int, int, float]", struct.unpack("qqd", self.memory[:24]))

    def add(self, calls: int = 0, faults: int = 0, size: float = 0.0) -> None:
        before = self.read()
        new = (before[0] + calls, before[1] + faults, max(before[2], size))
        self.memory[:24] = struct.pack("qqd", *new)


def plant(mutant: Mutant, device: str, seen: Seen) -> torch.library.Library:
    """Replace the operator's kernel; it is there as long as what is returned is kept."""
    operator, busy = overload(mutant.operator), [False]
    key = device.upper()
    kernel = torch.library.get_kernel(operator, key)
    written, name = _written(operator), operator._schema.name.partition("::")[2]

    def wrapped(keys: t.Any, *arguments: t.Any, **words: t.Any) -> t.Any:
        if busy[0]:
            return kernel.call_boxed(keys, *arguments, **words)
        busy[0] = True
        try:
            given = list(_tensors((arguments, words)))
            # Before it is called: what it writes to may be its input.
            applies = _applies(mutant, given, device)
        finally:
            busy[0] = False
        found = kernel.call_boxed(keys, *arguments, **words)
        busy[0] = True
        try:
            outputs = list(_tensors(found)) or [
                one for number in written if number < len(arguments) for one in _tensors(arguments[number])
            ]
            seen.add(calls=1)
            if applies and mutant.defect and outputs:
                with torch._C._AutoDispatchBelowAutograd():
                    _spoil(mutant, name, outputs, seen)
        except (RuntimeError, TypeError, IndexError):
            # A result that cannot be changed, such as one whose elements lie on each other.
            pass
        finally:
            busy[0] = False
        return found

    library = torch.library.Library("aten", "IMPL")
    library.impl(operator, wrapped, key, with_keyset=True, allow_override=True)
    return library


def _tensors(value: t.Any) -> t.Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)


def _applies(mutant: Mutant, given: t.Sequence[torch.Tensor], device: str) -> bool:
    # On the CPU float64 is what all else is compared with: a fault there is none of what is proven.
    if device == "cpu" and any(one.dtype in (torch.float64, torch.complex128) for one in given):
        return False
    if mutant.kind == "gradient" and torch._C._current_graph_task_id() == -1:
        return False
    if mutant.kind == "layout":
        return any(LAYOUTS[mutant.only](one) for one in given if one.layout is torch.strided)
    return True


def _spoil(mutant: Mutant, name: str, outputs: t.Sequence[torch.Tensor], seen: Seen) -> None:
    """Change the results where the fault's condition holds, and note how large the change is."""
    first = outputs[0]
    if first.dtype in (torch.float64, torch.complex128) and first.device.type == "cpu":
        return
    if mutant.kind == "format" and first.dtype is not getattr(torch, mutant.only):
        return
    if mutant.kind == "shape" and not SHAPES[mutant.only](first):
        return
    _calls, faults, size = seen.read()
    for one in outputs if mutant.defect == "zero" else outputs[:1]:
        if one.layout is not torch.strided or not one.numel():
            continue
        before = one.clone() if faults < MEASURED_CALLS and size <= LARGE else None
        if not _changed(mutant, one):
            continue
        seen.add(faults=1)
        if before is not None:
            seen.add(size=_size(name, before, one))


def _changed(mutant: Mutant, one: torch.Tensor) -> bool:
    """Change a result in its place; return whether anything was done."""
    if mutant.defect == "zero":
        one.zero_()
    elif mutant.defect == "scale":
        if not (one.is_floating_point() or one.is_complex()):
            return False
        one.mul_(mutant.factor)
    elif mutant.defect == "drop":
        if not one.dim() or one.shape[0] < 2:
            return False
        one[-1].zero_()
    else:
        if not one.dim() or one.shape[-1] < 2:
            return False
        length = one.shape[-1]
        left = mutant.lanes[0] % length
        right = (left + 1 + mutant.lanes[1] % (length - 1)) % length
        kept = one[..., left].clone()
        one[..., left].copy_(one[..., right])
        one[..., right].copy_(kept)
    return True


def _size(name: str, before: torch.Tensor, after: torch.Tensor) -> float:
    """Return how large a change is, by the bound that the survey has for the operator in that format."""
    if not (before.is_floating_point() or before.is_complex()):
        return math.inf if bool((before != after).any()) else 0.0
    if before.is_complex():
        before, after = torch.view_as_real(before), torch.view_as_real(after)
    form = str(before.dtype).rpartition(".")[2]
    bound = min(survey_bounds.bounds(name.rstrip("_"), form)) if form in survey_bounds.DEFAULT else 1.0
    if math.isinf(bound):
        bound = survey_bounds.DEFAULT[form]
    was, now = before.double(), after.double()
    there = torch.isfinite(was)
    if not bool(there.any()):
        return 0.0
    was, now = was[there], now[there]
    unit = torch.finfo(before.dtype).eps * (was.abs() + was.abs().max()).clamp_min(torch.finfo(before.dtype).tiny)
    away = ((now - was).abs() / unit).max()
    return float(away) / bound if math.isfinite(float(away)) else math.inf


# -- which check calls what


def traced(function: t.Callable[..., t.Any], path: str) -> t.Callable[..., t.Any]:
    """Return the function, which then writes the names of the operators that it called to a file as well."""

    @functools.wraps(function)
    def run(*arguments: t.Any, **words: t.Any) -> t.Any:
        called: set[str] = set()
        try:
            with Called(called):
                return function(*arguments, **words)
        finally:
            with open(path, "w", encoding="utf-8") as stream:
                json.dump(sorted(called), stream)

    return run


class Called:
    """Collects the names of the operators that are called within."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.profile = torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU],
            experimental_config=torch._C._profiler._ExperimentalConfig(capture_overload_names=True),
        )

    def __enter__(self) -> None:
        self.profile.__enter__()

    def __exit__(self, *error: t.Any) -> None:
        self.profile.__exit__(*error)
        for event in self.profile.profiler.kineto_results.events():
            if event.name().startswith("aten::"):
                self.names.add(event.name() + (f".{event.overload_name()}" if event.overload_name() else ""))


def trace(job: dict[str, t.Any]) -> dict[str, t.Any]:
    """Run each check once, unspoiled; return by check what it calls, and by operator of the survey, and the seconds."""
    directory = job["directory"]
    checks = [name for name in job["checks"] if not _surveys(name)]
    for name in checks:
        plain = runner.CHECKS[name]
        path = os.path.join(directory, f"called-{name}.json")
        function = traced(plain.function, path)
        runner.CHECKS[name] = dataclasses.replace(plain, function=function, seconds=plain.seconds * 4)
    for name in filter(_surveys, job["checks"]):
        plain = runner.CHECKS[name]
        path = os.path.join(directory, f"called-{name}.json")
        runner.CHECKS[name] = dataclasses.replace(plain, function=_traced_survey(plain.function, path))
    rows = proven(job, job["checks"])
    calls, seconds = {}, {row["name"]: row["seconds"] for row in rows}
    for name in job["checks"]:
        path = os.path.join(directory, f"called-{name}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                calls[name] = json.load(stream)
    failed = {row["name"]: row["cause"] for row in rows if row["status"] == "fail"}
    return {"calls": calls, "seconds": seconds, "failed": failed}


def _surveys(name: str) -> bool:
    """Say whether a check goes over the operators of torch's list."""
    return name.removeprefix("cpu.").removeprefix("survey.") in survey_bounds.DEFAULT


def _traced_survey(function: t.Callable[..., t.Any], path: str) -> t.Callable[..., t.Any]:
    """As :func:`traced`, by operator."""

    @functools.wraps(function)
    def run(context: t.Any) -> t.Any:
        by_operator: dict[str, list[str]] = {}
        plain = survey._operator

        def one(found: t.Any, operator: t.Any, *arguments: t.Any) -> None:
            called: set[str] = set()
            try:
                with Called(called):
                    plain(found, operator, *arguments)
            finally:
                by_operator[survey.name_of(operator)] = sorted(called)

        setattr(survey, "_operator", one)  # noqa: B010 - mypy knows no such name of a module
        try:
            return function(context)
        finally:
            setattr(survey, "_operator", plain)  # noqa: B010 - as above
            with open(path, "w", encoding="utf-8") as stream:
                json.dump(by_operator, stream)

    return run


# -- one mutant


def proven(job: t.Mapping[str, t.Any], checks: t.Sequence[str]) -> list[dict[str, t.Any]]:
    """Run checks in this process's forks, family by family, and return their rows."""
    path = os.path.join(job["directory"], f"rows-{os.getpid()}.jsonl")
    with open(path, "w+", encoding="utf-8", buffering=1) as stream:
        for family in dict.fromkeys(runner.CHECKS[name].family for name in checks):
            names = [name for name in checks if runner.CHECKS[name].family == family]
            passed: dict[str, dict[str, str]] = {}
            while names:
                names = runner.Child(names, job, stream, passed).run()
        stream.seek(0)
        rows = [json.loads(line) for line in stream]
    os.unlink(path)
    return [row for row in rows if row["event"] == "result"]


def judge(job: t.Mapping[str, t.Any], known: t.Mapping[str, t.Any], mutant: Mutant) -> dict[str, t.Any]:
    """Plant a mutant in this process and return what the checks say of it; they end with the family that sees it."""
    began, seen, device = time.monotonic(), Seen(), job["device"]
    reached = {name: calls for name, calls in known["calls"].items() if mutant.operator in _all_of(calls)}
    kept = plant(mutant, device, seen)
    failed: dict[str, str] = {}
    ran: list[str] = []
    surveys = [name for name in reached if _surveys(name)]
    which = {name: [one for one, calls in reached[name].items() if mutant.operator in calls] for name in surveys}
    rounds: list[tuple[list[str], int]] = [(surveys, FIRST)] if surveys else []
    if any(len(one) > FIRST for one in which.values()):
        rounds.append((surveys, 1 << 20))
    others = sorted((name for name in reached if not _surveys(name)), key=lambda name: known["seconds"].get(name, 0))
    for family in dict.fromkeys(runner.CHECKS[name].family for name in others):
        rounds.append(([name for name in others if runner.CHECKS[name].family == family], 0))
    chance = random.Random(mutant.number)  # noqa: S311 - as above
    for names, most in rounds:
        if most:
            chosen = {one for name in names for one in chance.sample(which[name], min(most, len(which[name])))}
            setattr(survey, "survey", functools.partial(_ORIGINAL_SURVEY, only=chosen))  # noqa: B010 - as above
        ran += names
        failed = {row["name"]: row["cause"] for row in proven(job, names) if row["status"] == "fail"}
        setattr(survey, "survey", _ORIGINAL_SURVEY)  # noqa: B010 - as above
        if failed:
            break
    del kept
    calls, faults, size = seen.read()
    return {
        **dataclasses.asdict(mutant),
        "calls": calls,
        "faults": faults,
        "size": None if math.isinf(size) else size,
        "large": size > LARGE,
        "ran": list(dict.fromkeys(ran)),
        "caught": {name: cause[:300] for name, cause in failed.items()},
        "seconds": round(time.monotonic() - began, 1),
    }


_ORIGINAL_SURVEY = survey.survey


def _all_of(calls: t.Any) -> set[str]:
    return {one for names in calls.values() for one in names} if isinstance(calls, dict) else set(calls)


def in_a_fork(work: t.Callable[[], dict[str, t.Any]], lost: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return what a function returns that runs in a fork; ``lost`` with what became of it where it returns nothing."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            os.close(reading)
            signal.alarm(PATIENCE)
            text = json.dumps(work())
            with os.fdopen(writing, "w", encoding="utf-8") as stream:
                stream.write(text)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        said = stream.read()
    _unused, status = os.waitpid(process, 0)
    try:
        return t.cast("dict[str, t.Any]", json.loads(said))
    except ValueError:
        return {**lost, "error": runner.how_it_ended(status)}


def main(path: str) -> None:
    """Do what the job file says, and write a JSON object for each mutant to its file, at once."""
    with open(path, encoding="utf-8") as stream:
        job = json.load(stream)
    device = job["device"]
    torch.set_num_threads(1)
    operators, others = candidates(device)
    if device == "cpu":
        # Once, not in each fork. On a GPU it would start CUDA, which a fork cannot use then.
        survey.catalogue()
    if "numbers" not in job:
        known = in_a_fork(lambda: trace(job), {"calls": {}, "seconds": {}, "failed": {}})
        with open(job["out"], "w", encoding="utf-8") as stream:
            json.dump({**known, "operators": operators, "others": others}, stream)
        return
    with open(job["trace"], encoding="utf-8") as stream:
        known = json.load(stream)
    everything = {one for calls in known["calls"].values() for one in _all_of(calls)}
    deadline = time.monotonic() + job.get("seconds", math.inf)
    with open(job["out"], "a", encoding="utf-8", buffering=1) as out:
        for number in job["numbers"]:
            if time.monotonic() > deadline:
                break
            sound = bool(job["sound_every"]) and number % job["sound_every"] == 0
            mutant = draw(operators, device, job["seed"], number, sound)
            row = {**dataclasses.asdict(mutant), "calls": 0, "faults": 0, "size": 0.0, "large": False}
            row.update({"ran": [], "caught": {}})
            if mutant.operator in everything:
                row = in_a_fork(functools.partial(judge, job, known, mutant), row)
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
