# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""What the checks mean together: which were required, what the verdict is, and what differs from the last run."""

from __future__ import annotations

import fnmatch
import re
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import FAIL, PASS, SKIP, Result

PROVEN, UNPROVEN = "proven", "unproven"

#: Of a report: what reads one of another format reads nothing.
FORMAT = 2
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


def require(results: t.Iterable[Result], required: t.Sequence[str], gpu_checks: t.Collection[str], gpu: bool) -> None:
    """Mark what the profile requires, and fail what it requires and was skipped.

    :param gpu_checks: names of the checks that need a GPU.
    :param gpu: whether one is required of this host; what needs one is not required otherwise.
    """
    for result in results:
        result.required = selects(required, result.name) and (gpu or result.name not in gpu_checks)
        if result.required and result.status == SKIP and not result.blocked:
            result.status = FAIL
            result.cause = f"The profile requires {result.name}, and it was skipped: {result.cause}"
            result.remedy = (
                "Bring what it lacks, or take it out of the profile's list of required checks, which the report shows."
            )


def verdict(results: t.Sequence[Result], unselected: t.Collection[str]) -> str:
    """Return ``fail``, ``unproven`` (no number was computed, or a required check was not asked for) or ``proven``."""
    if any(result.status == FAIL for result in results):
        return FAIL
    numbers = any(result.numeric and result.status == PASS for result in results)
    return PROVEN if numbers and not unselected else UNPROVEN


def scope(results: t.Iterable[Result]) -> str:
    """Return where numbers were computed and right: ``gpu``, ``cpu`` or ``none``."""
    passed = [result.name for result in results if result.numeric and result.status == PASS]
    if any(not name.startswith("cpu.") for name in passed):
        return "gpu"
    return "cpu" if passed else "none"


def summary(results: t.Iterable[Result]) -> t.Dict[str, int]:
    """Count the statuses."""
    counts = dict.fromkeys((PASS, FAIL, SKIP), 0)
    for result in results:
        counts[result.status] += 1
    return counts


def drift(before: t.Optional[Report], now: Report) -> t.Dict[str, t.Any]:
    """Return what differs between two reports of a host: ``since`` and ``changes`` of ``what``, ``before``, ``now``."""
    if before is None:
        return {"since": None, "changes": []}
    changes: t.List[t.Dict[str, str]] = []

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
