# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plants the faults that proof/tests/drawn draws, and judges them; runs in an environment's interpreter.

`python -m benchmarks.mutation JOB`, where JOB is a JSON file written by benchmarks/campaign.py. torch is imported once;
each fault is planted in a fork of that process, where a user program first shows whether the fault changes anything.

Before that, each check runs once under torch's profiler, which names the operators that it calls. A check that never
calls the wrapped operator cannot detect the fault, so it is left out for that mutant, which makes a campaign cheap.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import json
import math
import os
import random
import signal
import sys
import time
import traceback
import typing as t
from unittest import mock

import torch

from proof.tests.drawn import entries, families, programs
from proof.tests.drawn.families import Drawn
from proof.tests.drawn.plant import Counts, overload, plant, written

PACKAGE = "sparkforge_proof"
catalogue, check, endings, runner, verdict = (
    importlib.import_module(f"{PACKAGE}.{name}") for name in ("catalogue", "check", "endings", "runner", "verdict")
)
for _module in catalogue.modules():
    importlib.import_module(f"{PACKAGE}.{_module}")
survey, survey_operator, survey_bounds = (
    importlib.import_module(f"{PACKAGE}.checks.survey.{name}")
    for name in ("all_operators", "comparison", "operator_bounds")
)

#: The numbers of operators in the catalogue that are tried first: the operator with the faulty kernel, then its
#: callers.
OWN, FIRST = 1, 40
#: The multiple of its bound from which a fault counts as large.
LARGE = 10.0
#: The share of a GPU's memory for checks that re-examine the faults missed by a default run.
FULL_SHARE = 0.25
#: The time limit in seconds for all checks of a mutant.
PATIENCE = 900


# -- entries that can be wrapped


def candidates(device: str) -> tuple[list[str], dict[str, int]]:
    """Return the operators in which a fault can be planted, and the number of other operators by reason.

    :param device: ``cpu`` or ``cuda``.
    """
    key, operators, others = device.upper(), [], collections.Counter[str]()
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
        elif not any("Tensor" in str(result.type) for result in operator._schema.returns) and not written(operator):
            others["it returns no tensor and writes none"] += 1
        else:
            operators.append(full)
    return operators, dict(others)


# -- calls made by each check


def traced(function: t.Callable[..., t.Any], path: str, watched: t.Mapping[str, Counts]) -> t.Callable[..., t.Any]:
    """Return a version of the function that writes the names of the operators and entries it calls to a file.

    :param watched: counts the calls of each entry.
    """

    @functools.wraps(function)
    def run(*arguments: t.Any, **keywords: t.Any) -> t.Any:
        called: set[str] = set()
        before = {name: seen.read() for name, seen in watched.items()}
        try:
            with Called(called):
                return function(*arguments, **keywords)
        finally:
            called |= {name for name, seen in watched.items() if seen.read() != before[name]}
            with open(path, "w", encoding="utf-8") as stream:
                json.dump(sorted(called), stream)

    return run


class Called:
    """Collects the names of operators called within its context."""

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
    """Run each check once without a fault; return its calls (grouped by operator for a survey) and its seconds.

    ``off`` lists the survey's operators that fail without a fault and are therefore left out.
    """
    directory = job["directory"]
    watched = {name: Counts() for name in entries.available(job["device"])}
    for name, entry in entries.available(job["device"]).items():
        entries.plant(entry, Drawn(0, name, "", ""), watched[name])
    checks = [name for name in job["checks"] if not _surveys(name)]
    for name in checks:
        plain = runner.CHECKS[name]
        path = os.path.join(directory, f"called-{name}.json")
        check.FUNCTIONS[name] = traced(check.FUNCTIONS[name], path, watched)
        runner.CHECKS[name] = dataclasses.replace(plain, seconds=plain.seconds * 4)
    for name in filter(_surveys, job["checks"]):
        path = os.path.join(directory, f"called-{name}.json")
        check.FUNCTIONS[name] = _traced_survey(check.FUNCTIONS[name], path)
    rows = proven(job, job["checks"])
    calls, seconds, off = {}, {row["name"]: row["seconds"] for row in rows}, []
    for name in job["checks"]:
        path = os.path.join(directory, f"called-{name}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                calls[name] = json.load(stream)
            if _surveys(name):
                off += calls[name]["off"]
                calls[name] = calls[name]["calls"]
    failed = {row["name"]: row["cause"] for row in rows if row["status"] == "fail"}
    failed |= {name: "It computed no operator." for name in filter(_surveys, job["checks"]) if not calls.get(name)}
    return {"calls": calls, "seconds": seconds, "failed": failed, "off": off}


def _surveys(name: str) -> bool:
    """Tell whether a check covers the operators in torch's list."""
    return name.removeprefix("cpu.").removeprefix("survey.") in survey_bounds.DEFAULT


def _traced_survey(function: t.Callable[..., t.Any], path: str) -> t.Callable[..., t.Any]:
    """Do the same as :func:`traced`, but for each operator."""

    @functools.wraps(function)
    def run(context: t.Any) -> t.Any:
        by_operator: dict[str, list[str]] = {}
        off: list[str] = []
        plain = survey_operator.compare

        def compare(survey: t.Any, operator: t.Any, *arguments: t.Any) -> None:
            called: set[str] = set()
            name, form = survey_operator.name_of(operator), str(arguments[0]).rpartition(".")[2]
            with Called(called):
                plain(survey, operator, *arguments)
            ways = {way: worst for way, worst in survey.units.items() if way.partition(",")[0] == name}
            wrong = [way for way, worst in ways.items() if _is_off(way, worst, form, str(arguments[1]))]
            if wrong:
                off.append(f"{form}: {', '.join(wrong)}")
            else:
                by_operator[name] = sorted(called)

        try:
            # Use all operators, not just a third: a fault is judged for days when its operator is due and for others.
            with (
                mock.patch.object(survey, "survey", functools.partial(survey.survey, compare=compare)),
                mock.patch.object(survey, "_operators_of_today", lambda seed, form: None),
            ):
                return function(context)
        finally:
            with open(path, "w", encoding="utf-8") as stream:
                json.dump({"calls": by_operator, "off": off}, stream)

    return run


def _is_off(way: str, worst: t.Sequence[float], form: str, device: str) -> bool:
    """Tell whether an operator fails without a fault, so that a failure with a mutant would prove nothing."""
    both = zip(worst, survey_bounds.bounds(way, form), ("", ", backward"))
    return any(
        value > most and not survey_bounds.known_defect(f"{way}{suffix}", device) for value, most, suffix in both
    )


# -- a mutant


def proven(job: t.Mapping[str, t.Any], checks: t.Sequence[str]) -> list[dict[str, t.Any]]:
    """Run checks in forks of this process, one family after another, and return their rows.

    If the job has ``kinds``, the rows are judged as on a host of these kinds; otherwise every failure counts.
    """
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
    results_read = [row for row in rows if row.pop("event") == "result"]
    if "kinds" not in job:
        return results_read
    results = [check.Result.from_row(row) for row in results_read]
    verdict.judge(results, catalogue.CHECKS, job["kinds"], [])
    return [result.as_row() for result in results]


def shown(job: t.Mapping[str, t.Any], drawn: Drawn) -> dict[str, t.Any]:
    """Plant a fault in this process and return the change of a user program's result as a multiple of its bound."""
    device, seen = job["device"], Counts()
    seen.active = False
    known = entries.available(device)
    if drawn.target in known:
        entry = known[drawn.target]
        entries.plant(entry, drawn, seen)
        results = []
        for active in (False, True):
            seen.active = active
            torch.manual_seed(17)
            results.append(entry.program(device))
        sizes = [programs.size_of(before, after, 1.0) for before, after in zip(*results)]
        size, program = max([0.0, *sizes]), "a program of the entry's"
    else:
        kept = plant(drawn, device, seen)
        operator = next(
            operator for operator in survey.catalogue() if survey_operator.name_of(operator) == drawn.operator
        )

        def bound(form: str) -> float:
            allowed = min(survey_bounds.bounds(drawn.operator, form)) if form in survey_bounds.DEFAULT else 1.0
            return survey_bounds.DEFAULT[form] if math.isinf(allowed) else allowed

        size, program = programs.probe(drawn, operator, device, seen, bound)
        del kept
    calls, faults = seen.read()
    return {"size": size, "program": program, "probe_calls": calls, "probe_faults": faults, "large": size > LARGE}


def judge(job: t.Mapping[str, t.Any], known: t.Mapping[str, t.Any], drawn: Drawn) -> dict[str, t.Any]:
    """Plant a fault in this process and return the checks' results; checking stops after the family that detects it."""
    began, seen, device = time.monotonic(), Counts(), job["device"]
    public = entries.available(device)
    kept = None
    if drawn.target in public:
        entries.plant(public[drawn.target], drawn, seen)
    else:
        kept = plant(drawn, device, seen)
    reached = {
        name: calls
        for name, calls in known["calls"].items()
        # The fault is not in the CPU's kernels.
        if drawn.target in _all_of(calls) and (drawn.target in public or runner.CHECKS[name].device == device)
    }
    if job.get("full") and drawn.operator:
        # A full run tests more row operators than the traced default run called.
        reached.update({name: [] for name in BY_ROWS if name in runner.CHECKS and runner.CHECKS[name].device == device})
    failed: dict[str, str] = {}
    ran: list[str] = []
    surveys = [name for name in reached if _surveys(name)]
    which = {name: [operator for operator, calls in reached[name].items() if drawn.target in calls] for name in surveys}
    rounds: list[tuple[list[str], int]] = [(surveys, OWN), (surveys, FIRST)] if surveys else []
    if any(len(operators) > FIRST for operators in which.values()):
        rounds.append((surveys, 1 << 20))
    others = sorted((name for name in reached if not _surveys(name)), key=lambda name: known["seconds"].get(name, 0))
    order = dict.fromkeys(runner.CHECKS[name].family for name in others)
    if drawn.target in public:
        # The families that concern this kind of fault come first.
        order = dict.fromkeys(
            [*(family for family in CONCERNED.get(public[drawn.target].kind, ()) if family in order), *order]
        )
    for family in order:
        rounds.append(([name for name in others if runner.CHECKS[name].family == family], 0))
    chance = random.Random(drawn.number)  # noqa: S311 - as above
    turn = set(
        sorted({operator for calls in which.values() for operator in calls})[
            drawn.number % survey.PARTS :: survey.PARTS
        ]
    )
    for names, most in rounds:
        if most:
            chosen: dict[str, list[str]] = {}
            for name in names:
                # A default run covers all operators in float32 and bfloat16, and a third of them in the other formats.
                is_complete = name.endswith(survey.BROAD) or job.get("full")
                due = [operator for operator in which[name] if is_complete or operator in turn]
                some = [operator for operator in due if operator == drawn.operator] if most == OWN else due
                chosen[_form(name)] = chance.sample(some, min(most, len(some)))
            names = [name for name in names if chosen[_form(name)]]
            setattr(survey, "survey", functools.partial(_survey_some, chosen))  # noqa: B010 - mypy knows no such name of a module
        elif job.get("full"):
            # Surveying all operators takes ``sizes.functions`` minutes.
            setattr(survey, "catalogue", functools.partial(_only, drawn.operator))  # noqa: B010 - as above
        ran += names
        failed = {row["name"]: row["cause"] for row in proven(job, names) if row["status"] == "fail"}
        setattr(survey, "survey", _ORIGINAL_SURVEY)  # noqa: B010 - as above
        if failed or time.monotonic() - began > job.get("patience", PATIENCE):
            break
    del kept
    calls, faults = seen.read()
    return {
        "calls": calls,
        "faults": faults,
        "ran": list(dict.fromkeys(ran)),
        "caught": {name: cause[:300] for name, cause in failed.items()},
        "seconds": round(time.monotonic() - began, 1),
    }


#: For each kind of public entry, the families of checks that run first. All other families follow.
CONCERNED: dict[str, tuple[str, ...]] = {
    "streams and events": ("streams",),
    "CUDA graphs": ("streams",),
    "generators and states": ("chance",),
    "nested tensors": ("layouts",),
    "sparse and nested": ("layouts", "linalg"),
}
#: Checks that run torch's list of operators on many rows.
BY_ROWS = ("sizes.many", "sizes.functions", "cpu.sizes.many")
_ORIGINAL_SURVEY, _ORIGINAL_CATALOGUE = survey.survey, survey.catalogue


def _form(name: str) -> str:
    """Return the format of a survey check."""
    return name.rpartition(".")[2]


def _survey_some(
    chosen: t.Mapping[str, t.Sequence[str]],
    context: t.Any,
    form: str,
    factor: float,
    only: t.Collection[str] | None = None,
    **keywords: t.Any,
) -> t.Any:
    """Survey these operators in a format instead of those of today."""
    return _ORIGINAL_SURVEY(context, form, factor, chosen[form], **keywords)


def _only(name: str) -> list[t.Any]:
    """Return the operator with this name in torch's list. Do not call it before a fork, because it starts CUDA."""
    return [operator for operator in _ORIGINAL_CATALOGUE() if survey_operator.name_of(operator) == name]


def _all_of(calls: t.Any) -> set[str]:
    return {name for names in calls.values() for name in names} if isinstance(calls, dict) else set(calls)


def in_a_fork(work: t.Callable[[], dict[str, t.Any]], lost: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the result of a function run in a fork, or ``lost`` and the error if it returns nothing."""
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
        output = stream.read()
    _unused, status = os.waitpid(process, 0)
    try:
        return t.cast("dict[str, t.Any]", json.loads(output))
    except ValueError:
        return {**lost, "error": endings.how_it_ended(status)}


def main(path: str) -> None:
    """Run the job file, and write a JSON object for each mutant to its output file immediately."""
    with open(path, encoding="utf-8") as stream:
        job = json.load(stream)
    device = job["device"]
    torch.set_num_threads(1)
    operators, others = candidates(device)
    if device == "cpu":
        # Read the list once rather than in each fork. On a GPU this would start CUDA, which a fork could not use then.
        survey.catalogue()
    if "numbers" not in job:
        known = in_a_fork(lambda: trace(job), {"calls": {}, "seconds": {}, "failed": {}})
        with open(job["out"], "w", encoding="utf-8") as stream:
            json.dump({**known, "operators": operators, "others": others}, stream)
        return
    with open(job["trace"], encoding="utf-8") as stream:
        known = json.load(stream)
    # A trace from another device may name checks that do not exist here.
    known["calls"] = {name: calls for name, calls in known["calls"].items() if name in runner.CHECKS}
    targets, chances = drawable(known, operators)
    public = entries.defects(device)
    deadline = time.monotonic() + job.get("seconds", math.inf)
    with open(job["out"], "a", encoding="utf-8", buffering=1) as out:
        for number in job["numbers"]:
            if time.monotonic() > deadline:
                break
            sound = bool(job["sound_every"]) and number % job["sound_every"] == 0
            drawn = families.draw(targets, public, chances, device, job["seed"], number, sound)
            if drawn is None:
                continue
            classes = {name: entry.kind for name, entry in entries.available(device).items()}
            row = {**dataclasses.asdict(drawn), "seed": job["seed"], "class": families.family(drawn, classes)}
            row.update({"words": drawn.description, "size": 0.0, "large": False, "program": ""})
            row.update({"calls": 0, "faults": 0, "ran": [], "caught": {}})
            if not sound:
                row.update(in_a_fork(functools.partial(shown, job, drawn), {}))
            # A mutant that changes no program's result is not a fault.
            if sound or row["size"] > 1:
                row.update(in_a_fork(functools.partial(judge, job, known, drawn), {}))
            if row["large"] and not row["caught"] and "error" not in row:
                # `--full` runs more of the same checks. Few workers do so at a time, so each may use more memory.
                share = max(FULL_SHARE, job["limits"]["memory_share"])
                limits = {**job["limits"], **check.FULL, "memory_share": share}
                judged = in_a_fork(functools.partial(judge, {**job, "limits": limits, "full": True}, known, drawn), {})
                row["full"] = {
                    "caught": judged.get("caught", {}),
                    "error": judged.get("error"),
                    "ran": judged.get("ran", []),
                }
            out.write(json.dumps(row) + "\n")


def drawable(known: t.Mapping[str, t.Any], operators: t.Collection[str]) -> tuple[dict[str, list[str]], set[str]]:
    """Return the entries in which a fault can be planted, by operator in torch's list, and those that draw randomly."""
    reachable: dict[str, set[str]] = {}
    for name, calls in known["calls"].items():
        if _surveys(name):
            for operator, called in calls.items():
                reachable.setdefault(operator, set()).update(name for name in called if name in operators)
    # The survey does not compare operators that draw random numbers, so they are added by name.
    for operator, names in RANDOM.items():
        those = [name for name in operators if name.partition("::")[2].partition(".")[0] in names and "out" not in name]
        reachable.setdefault(operator, set()).update(those)
    often = collections.Counter(name for those in reachable.values() for name in those)

    def its_own(operator: str, name: str) -> bool:
        # An entry called by almost all operators compares or creates inputs, unless it is named after the operator.
        base, _unused, variant = name.partition("::")[2].partition(".")
        if "out" in variant or (base.endswith("_") and operator not in RANDOM):
            return False
        return often[name] <= COMMON * len(reachable) or base.strip("_") in operator

    kept = {name: sorted(called for called in those if its_own(name, called)) for name, those in reachable.items()}
    return {name: those for name, those in kept.items() if those}, set(RANDOM)


#: An entry called by more than this share of all operators is not attributed to any of them.
COMMON = 0.02
#: The operators in torch's list that draw random numbers, and their entries.
RANDOM = {
    "bernoulli": ("bernoulli_", "bernoulli"),
    "cauchy": ("cauchy_",),
    "exponential": ("exponential_",),
    "geometric": ("geometric_",),
    "log_normal": ("log_normal_",),
    "multinomial": ("multinomial",),
    "normal": ("normal_", "normal"),
    "uniform": ("uniform_",),
    "rand_like": ("uniform_",),
    "randn": ("normal_",),
    "randint": ("random_",),
    "randint_like": ("random_",),
    "nn.functional.dropout": ("native_dropout", "bernoulli_"),
}


if __name__ == "__main__":
    main(sys.argv[1])
