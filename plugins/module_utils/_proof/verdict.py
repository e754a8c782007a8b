# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""What the checks mean together: which were required, what the verdict is, and what differs from the last run."""

from __future__ import annotations

import fnmatch
import re
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import (
    FAIL,
    PASS,
    SKIP,
    WARN,
    Result,
    blocks,
)

PROVEN, UNPROVEN = "proven", "unproven"

#: Of a report: what reads one of another format reads nothing.
FORMAT = 3
#: Packages of which a change asks for another proof: CUDA's libraries, the driver's, the kernel's.
PACKAGES = re.compile(
    r"cuda-|libcu(blas|dnn|dss|fft|file|pti|rand|solver|sparse|tensor)|libnv(idia|infer|jpeg|jitlink|pl|shmem|vm)|libnpp"
    r"|libnccl|gds-|nvidia-|nvpl-|linux-(image|modules)-"
)
#: A rate that moved by less is the same: boost clocks and temperatures differ from run to run.
RATE_CHANGE = 0.1

Report = t.Mapping[str, t.Any]


def selects(patterns: t.Iterable[str], name: str) -> bool:
    """Say whether one of the shell patterns matches a check's name."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def patterns(required: t.Sequence[str] | t.Mapping[str, str]) -> dict[str, str]:
    """Return what each required pattern rests on; a site's own list says nothing of it, and is binding."""
    return dict(required) if isinstance(required, t.Mapping) else dict.fromkeys(required, "")


def evidence(required: t.Mapping[str, str], name: str) -> str | None:
    """Return what it rests on that a check is required, by the longest pattern that matches; None where it is not."""
    found = [pattern for pattern in required if selects([pattern], name)]
    return required[max(found, key=len)] if found else None


def require(
    results: t.Iterable[Result], required: t.Mapping[str, str], gpu_checks: t.Collection[str], gpu: bool
) -> None:
    """Mark what the profile requires, and fail what it requires and was skipped.

    Where nobody has seen such a check pass, a skip is a warning, and so is a failure that computed nothing. A number
    that is wrong fails, whoever has seen what.

    :param required: patterns, and what each rests on.
    :param gpu_checks: names of the checks that need a GPU.
    :param gpu: whether one is required of this host; what needs one is not required otherwise.
    """
    for result in results:
        found = evidence(required, result.name)
        result.required = found is not None and (gpu or result.name not in gpu_checks)
        if not result.required:
            continue
        result.evidence = found or ""
        skipped = result.status == SKIP and not result.blocked
        if skipped:
            result.status = FAIL
            result.cause = f"The profile requires {result.name}, but it was skipped: {result.cause.rstrip('.')}."
            result.remedy = (
                "Provide what is missing, or remove the check from the profile's required checks, which the report "
                "shows."
            )
        if (skipped or result.unanswered) and not blocks(result.evidence):
            result.status = WARN
            result.cause += (
                f" This does not block, because the basis of the requirement is {result.evidence.rstrip('.')}."
            )


def verdict(results: t.Sequence[Result], unselected: t.Collection[str]) -> str:
    """Return ``fail``, ``unproven`` (no number was computed, or a required check was not asked for) or ``proven``.

    What is proven may have warnings. A GPU of which all that was asked for is one of them has computed nothing.
    """
    if any(result.status == FAIL for result in results):
        return FAIL
    where = scope(results)
    refused = any(one.numeric and one.status == WARN and not one.name.startswith("cpu.") for one in results)
    return UNPROVEN if where == "none" or unselected or (refused and where != "gpu") else PROVEN


def scope(results: t.Iterable[Result]) -> str:
    """Return where numbers were computed and right: ``gpu``, ``cpu`` or ``none``."""
    passed = [result.name for result in results if result.numeric and result.status == PASS]
    if any(not name.startswith("cpu.") for name in passed):
        return "gpu"
    return "cpu" if passed else "none"


def summary(results: t.Iterable[Result]) -> dict[str, int]:
    """Count the statuses."""
    counts = dict.fromkeys((PASS, WARN, FAIL, SKIP), 0)
    for result in results:
        counts[result.status] += 1
    return counts


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


def drift(before: Report | None, now: Report) -> dict[str, t.Any]:
    """Return what differs between two reports of a host: ``since`` and ``changes`` of ``what``, ``before``, ``now``."""
    if before is None:
        return {"since": None, "changes": []}
    changes: list[dict[str, str]] = []

    def compare(what: str, old: t.Any, new: t.Any) -> None:
        if old != new:
            changes.append({"what": what, "before": _word(old), "now": _word(new)})

    for key in ("verdict", "stack", "lock", "driver", "kernel"):
        compare(key, before.get(key), now.get(key))
    for key in ("software", "packages"):
        old, new = before.get(key) or {}, now.get(key) or {}
        for name in sorted(set(old) | set(new)):
            compare(f"{name}", old.get(name), new.get(name))
    old_checks, new_checks = (
        {check["name"]: check for check in report.get("checks") or []} for report in (before, now)
    )
    for name in sorted(set(old_checks) | set(new_checks)):
        old, new = old_checks.get(name) or {}, new_checks.get(name) or {}
        compare(f"check {name}", old.get("status"), new.get("status"))
        for rate in sorted(set(old.get("rates") or {}) & set(new.get("rates") or {})):
            first, second = old["rates"][rate], new["rates"][rate]
            if abs(second - first) > RATE_CHANGE * abs(first):
                changes.append({"what": f"rate {name} {rate}", "before": f"{first:.4g}", "now": f"{second:.4g}"})
    return {"since": before.get("started"), "changes": changes}


def _word(value: t.Any) -> str:
    return "absent" if value is None else str(value)
