# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the checks mean together: which were required, what the verdict is, and what differs from the last run."""

from __future__ import annotations

import collections
import fnmatch
import typing as t

from ._shared.module_utils._core.verdict import (
    FORMAT as FORMAT,
    PACKAGES as PACKAGES,
    PROVEN as PROVEN,
    UNPROVEN as UNPROVEN,
    changed as changed,
    drift as drift,
    is_right_on_the_gpu as is_right_on_the_gpu,
    remark as remark,
    summary as summary,
    wrong as wrong,
)
from .check import BUSY, FAIL, PASS, SKIP, SLOW, UNANSWERED, UNJUDGED, WARN, WRONG, Definition, Result

#: Rows of the host's side that concern its GPU.
GPU_ROWS = ("gpu", "compute_capability", "driver")
#: Where no sound run is on record so many numbers at most may be of another kind, as a NaN or another whole number, and
#: this part of all; one in any case.
FEW, FEW_OF = 16, 100
#: Families that need another package than torch, as torchvision.
OF_OTHERS = ("companions", "cpu.companions")

Report = t.Mapping[str, t.Any]


def selects(patterns: t.Iterable[str], name: str) -> bool:
    """Say whether one of the shell patterns matches a check's name."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def judge(
    results: t.Iterable[Result],
    catalogue: t.Mapping[str, Definition],
    kinds: t.Collection[str],
    required: t.Sequence[str],
    by_site: bool = False,
    gpu: bool = True,
    accepted: t.Collection[str] = (),
) -> None:
    """Decide which results fail and which only warn.

    How hard a result counts follows from evidence. On a kind of device with recorded sound runs a wrong number fails,
    as does what is installed where the stack says something else, a check without an answer, and a required one that
    was skipped. Elsewhere they warn, but for a number that :func:`counts`. A check that was never seen to pass anywhere
    only warns.

    :param kinds: what this host is: compute capabilities and processor, as in :class:`check.Evidence`, and
        :func:`check.minor` of its torch.
    :param required: patterns of the checks that must not be skipped.
    :param by_site: whether the site set them; then they must have an answer, whatever the evidence is.
    :param gpu: whether a GPU is required of this host; what needs one is not required otherwise.
    :param accepted: names of checks whose failure the site accepts.
    """
    for result in results:
        definition = catalogue.get(result.name)
        on_gpu = result.name in GPU_ROWS or (definition is not None and definition.device == "cuda")
        result.required = selects(required, result.name) and (gpu or not on_gpu)
        evidence = definition.measured if definition else ()
        here = definition.seen(kinds) if definition else []
        result.evidence = str((here or evidence)[0]) if evidence else ""
        seen = bool(here) and result.reason not in (BUSY, SLOW)
        binding = result.blocks or (by_site and result.required) or seen
        before = result.status
        if result.status == SKIP and result.required and not result.blocked:
            result.status = FAIL if binding else WARN
            result.cause = f"The profile requires {result.name}, but it was skipped: {result.cause.rstrip('.')}."
            result.remedy = "Provide what is missing, or accept it with verify_accept."
        elif result.reason in UNANSWERED:
            result.status = FAIL if binding else WARN
        elif result.status == FAIL and definition and not binding and not counts(result, definition):
            result.status, result.reason = WARN, UNJUDGED
            result.cause = f"First run on this kind of device: {_off(result)}not judged. {result.cause}"
        if result.status == WARN and before != WARN and result.reason != BUSY and not here:
            where = f"it was {evidence[0]} only" if evidence else "it was run on no such device yet"
            result.cause += f" This does not block, since {where}."
        if result.status == FAIL and result.name in accepted:
            result.status, result.accepted = WARN, True
            result.cause += " This site accepts it (verify_accept)."
        # It is in the status by now.
        result.blocks = False


def counts(result: Result, definition: Definition) -> bool:
    """Say whether a failure counts on a kind of device of which no sound run is on record.

    That is what can be computed exactly, a number far beyond its bound, and more than a few of another kind. A wrong
    number without any measure counts; what is installed does not, nor what was seen to pass nowhere.
    """
    if definition.factor <= 1 or not definition.measured:
        return bool(definition.measured)
    far = result.ratio is None or result.ratio > definition.factor
    return result.reason == WRONG and (far or are_many(result.mismatched, result.compared))


def are_many(mismatched: int, compared: int) -> bool:
    """Say whether so many numbers of another kind are more than a tie or an overflow decides."""
    return mismatched > max(1, min(FEW, compared // FEW_OF))


def _off(result: Result) -> str:
    """Return how far off a result is, as the beginning of a sentence."""
    said = f"off by {result.ratio:.2g} of its bound, " if (result.ratio or 0.0) > 1 else ""
    if result.mismatched:
        said += f"{result.mismatched} of {result.compared} numbers of another kind, "
    return said


def hindrance(report: Report, current: Report | None, first: bool, require: str) -> str:
    """Return why a staged environment must not become the current one; empty where it may.

    A wrong number keeps it from every host, unless numbers are wrong on the CPU alone and right on a GPU. Otherwise a
    host that has no environment gets it, and so does a host whose environment is not proven. Proven ones are replaced
    by proven ones alone, unless the site requires less.

    :param current: the last report on the environment that is current now.
    :param first: the host has no environment yet.
    :param require: ``proven`` or ``unproven``.
    """
    names = wrong(report)
    if names and not is_right_on_the_gpu(report):
        return f"wrong numbers: {', '.join(names)}"
    if report["verdict"] == PROVEN or first:
        return ""
    if report["verdict"] == UNPROVEN and require == UNPROVEN:
        return ""
    if current is not None and current["verdict"] != PROVEN:
        return ""
    if names:
        return f"wrong numbers: {', '.join(names)}"
    standing = "is proven" if current else "has no proof on record, so it is treated as proven"
    return f"the new environment is not proven, and the current one {standing}"


def verdict(results: t.Sequence[Result], unselected: t.Collection[str], families: t.Collection[str] = ()) -> str:
    """Return ``fail``, ``unproven`` or ``proven``.

    Unproven: no number was computed, a required check was not selected, or a family that the verdict rests on has no
    number. What is proven may have warnings.

    :param families: those that it rests on.
    """
    if any(result.status == FAIL for result in results):
        return FAIL
    where = scope(results)
    on_gpu = [one for one in results if one.numeric and not one.name.startswith("cpu.")]
    refused = any(one.status == WARN or (one.status == SKIP and one.blocked) for one in on_gpu)
    if where == "none" or unselected or (refused and where != "gpu"):
        return UNPROVEN
    return UNPROVEN if missing(results, families) else PROVEN


def missing(results: t.Iterable[Result], families: t.Iterable[str]) -> list[str]:
    """Return the families of which no number was computed and right; ``cpu.`` goes before those of the CPU."""
    have = {_family(result.name) for result in results if result.numeric and result.status == PASS}
    return [family for family in dict.fromkeys(families) if family not in have]


def families(names: t.Iterable[str]) -> list[str]:
    """Return the families, as :func:`missing` names them, that a verdict on these checks rests on.

    Two checks or more are of each: no single one decides.
    """
    counts = collections.Counter(map(_family, names))
    return [family for family, count in counts.items() if count > 1 and family not in OF_OTHERS]


def explained(results: t.Iterable[Result], family: str) -> str:
    """Return in words that a family has no number, with the cause and the remedy of its first check."""
    first = next((one for one in results if one.numeric and _family(one.name) == family), None)
    return (
        f"No number of {family} was computed. {first.cause if first else ''} {first.remedy if first else ''}".rstrip()
    )


def _family(name: str) -> str:
    return name.rpartition(".")[0]


def scope(results: t.Iterable[Result]) -> str:
    """Return where numbers were computed and right: ``gpu``, ``cpu`` or ``none``."""
    passed = [result.name for result in results if result.numeric and result.status == PASS]
    if any(not name.startswith("cpu.") for name in passed):
        return "gpu"
    return "cpu" if passed else "none"


def own_floors(baseline: Report | None, rates: t.Mapping[str, tuple[str, str]]) -> dict[str, t.Any]:
    """Return what a host reached when it was first proven, by the name of the floor: ``nominal`` and ``since``.

    :param rates: by the name of the floor, the check that measures it and the rate's name there.
    """
    measured = {check["name"]: check.get("rates") or {} for check in (baseline or {}).get("checks") or []}
    return {
        floor: {"nominal": measured[check][rate], "since": str((baseline or {}).get("started"))[:10]}
        for floor, (check, rate) in rates.items()
        if measured.get(check, {}).get(rate)
    }


def is_baseline(report: Report, devices: t.Sequence[str]) -> bool:
    """Say whether a report's rates may be a host's own floors: it is proven, on the GPUs that are there now."""
    return (
        report.get("verdict") == PROVEN
        and report.get("scope") == "gpu"
        and [str(one.get("name")) for one in report.get("devices") or []] == list(devices)
        and any(check.get("rates") for check in report.get("checks") or [])
    )
