"""Judge the results of all checks: find the failures that count, the verdict, and the changes since the last run."""

from __future__ import annotations

import collections
import fnmatch
import typing as t

# isort: off
from ._shared.module_utils._core.verdict import (
    FORMAT as FORMAT, PACKAGES as PACKAGES, PROVEN as PROVEN, UNPROVEN as UNPROVEN, changed as changed, drift as drift,
    is_right_on_the_gpu as is_right_on_the_gpu, remark as remark, summary as summary, wrong as wrong,
)  # fmt: skip
from .check import BUSY, FAIL, PASS, SKIP, SLOW, TIMEOUT, UNANSWERED, UNJUDGED, WARN, WRONG, Definition, Result

#: Rows about the host's GPU.
GPU_ROWS = ("gpu", "compute_capability", "driver")
#: Without a recorded sound run, up to ``FEW`` numbers, but at most one in ``FEW_OF``, may be a wrong NaN, infinity or
#: integer; a single one is always allowed.
FEW, FEW_OF = 16, 100
#: Families that need more than torch, such as torchvision or a C++ compiler.
OF_OTHERS = ("companions", "cpu.companions", "cpu.compilation")

Report = t.Mapping[str, t.Any]


def selects(patterns: t.Iterable[str], name: str) -> bool:
    """Tell whether one of the shell patterns matches a check's name."""
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

    Evidence decides. On a kind of device with recorded sound runs, the following results fail: wrong numbers, an
    installation that differs from the stack, an unanswered check, and a required check that was skipped; a check that
    was too late keeps the environment unproven. On other devices they only warn, unless :func:`counts` returns true. A
    check that has never passed anywhere only warns.

    :param kinds: this host's compute capabilities and processor (see :class:`check.Evidence`) and torch (see
        :func:`check.minor`).
    :param required: patterns for the checks that must not be skipped.
    :param by_site: whether the site set ``required``; these checks must then be answered even without evidence.
    :param gpu: whether this host must have a GPU; otherwise checks that need one are not required.
    :param accepted: the names of checks whose failure the site accepts.
    """
    for result in results:
        definition = catalogue.get(result.name)
        on_gpu = result.name in GPU_ROWS or (definition is not None and definition.device == "cuda")
        result.required = selects(required, result.name) and (gpu or not on_gpu)
        evidence = definition.measured if definition else ()
        here = definition.seen(kinds) if definition else []
        result.evidence = str((here or evidence)[0]) if evidence else ""
        seen = bool(here) and result.reason not in (BUSY, SLOW, TIMEOUT)
        binding = result.blocks or (by_site and result.required) or seen
        before = result.status
        if result.status == SKIP and result.required and not result.blocked:
            result.status = FAIL if binding else WARN
            result.cause = f"The profile requires {result.name}, but it was skipped: {result.cause.rstrip('.')}."
            result.remedy = "Install the missing part, or accept the skip with verify_accept."
        elif result.reason in UNANSWERED:
            result.status = FAIL if binding else WARN
        elif result.status == FAIL and definition and not binding and not counts(result, definition):
            result.status, result.reason = WARN, UNJUDGED
            result.cause = f"First run on this kind of device: {_off(result)}not judged. {result.cause}"
        if result.status == WARN and before != WARN and result.reason != BUSY and not here:
            evidence_clause = f"it was only {evidence[0]}" if evidence else "it has not been run on such a device yet"
            result.cause += f" This does not block, because {evidence_clause}."
        result.blocks = bool(here) and result.reason == TIMEOUT and result.status == WARN
        if (result.status == FAIL or result.blocks) and result.name in accepted:
            result.status, result.accepted, result.blocks = WARN, True, False
            result.cause += " This site accepts it (verify_accept)."
        if result.blocks:
            result.cause += " Whether it hangs or this host is too slow is not known, so the environment is not proven."


def counts(result: Result, definition: Definition) -> bool:
    """Tell whether a failure counts on a kind of device without a recorded sound run.

    A failure counts if the value can be computed exactly, if a number far exceeds its bound or has no ratio at all, or
    if more than a few numbers are mismatched. Wrong installations and checks that never passed anywhere do not count.
    """
    if definition.factor <= 1 or not definition.measured:
        return bool(definition.measured)
    far = result.ratio is None or result.ratio > definition.factor
    return result.reason == WRONG and (far or are_many(result.mismatched, result.compared))


def are_many(mismatched: int, compared: int) -> bool:
    """Tell whether more numbers are mismatched than ties or overflows can explain."""
    return mismatched > max(1, min(FEW, compared // FEW_OF))


def _off(result: Result) -> str:
    """Return the beginning of a sentence that describes a result's error."""
    text = f"off by {result.ratio:.2g} times its bound, " if (result.ratio or 0.0) > 1 else ""
    if result.mismatched:
        text += f"{result.mismatched} of {result.compared} numbers of another kind (such as NaN), "
    return text


def hindrance(report: Report, current: Report | None, first: bool, require: str) -> str:
    """Return the reason why a staged environment must not become the current one, or '' if it may.

    Wrong results block it on every host, unless only the CPU's are wrong and the GPU's are right. A host without an
    environment, or with an unproven one, accepts any other. A proven environment is replaced only by another proven
    one, unless the site requires less.

    :param current: the last report on the current environment.
    :param first: whether the host has no environment yet.
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
    return f"the new environment is not proven, but the current one {standing}"


def verdict(results: t.Sequence[Result], unselected: t.Collection[str], families: t.Collection[str] = ()) -> str:
    """Return ``fail``, ``unproven`` or ``proven``; a proven environment may have warnings.

    ``unproven``: nothing was computed, a required check was not selected, one of ``families`` has no right result, or a
    check that other devices of this kind answered was too late.
    """
    if any(result.status == FAIL for result in results):
        return FAIL
    right_on = scope(results)
    on_gpu = [result for result in results if result.numeric and not result.name.startswith("cpu.")]
    refused = any(result.status == WARN or (result.status == SKIP and result.blocked) for result in on_gpu)
    if right_on == "none" or unselected or any(result.blocks for result in results) or (refused and right_on != "gpu"):
        return UNPROVEN
    return UNPROVEN if missing(results, families) else PROVEN


def missing(results: t.Iterable[Result], families: t.Iterable[str]) -> list[str]:
    """Return the families without a right result; the names of families on the CPU begin with ``cpu.``."""
    have = {_family(result.name) for result in results if result.numeric and result.status == PASS}
    return [family for family in dict.fromkeys(families) if family not in have]


def families(names: t.Iterable[str]) -> list[str]:
    """Return the families on which a verdict on these checks is based, named as in :func:`missing`.

    A family must have at least two checks, so that no single check decides.
    """
    counts = collections.Counter(map(_family, names))
    return [family for family, count in counts.items() if count > 1 and family not in OF_OTHERS]


def missing_notice(results: t.Iterable[Result], family: str) -> str:
    """Return a notice that a family has no result, with the cause and remedy from its first check."""
    first = next((result for result in results if result.numeric and _family(result.name) == family), None)
    return (
        f"No number of {family} was computed. {first.cause if first else ''} {first.remedy if first else ''}".rstrip()
    )


def _family(name: str) -> str:
    return name.rpartition(".")[0]


def scope(results: t.Iterable[Result]) -> str:
    """Return the device on which results were right: ``gpu``, ``cpu`` or ``none``."""
    passed = [result.name for result in results if result.numeric and result.status == PASS]
    if any(not name.startswith("cpu.") for name in passed):
        return "gpu"
    return "cpu" if passed else "none"


def own_floors(baseline: Report | None, rates: t.Mapping[str, tuple[str, str]]) -> dict[str, t.Any]:
    """Return the speeds from a host's first proof as floors with ``nominal`` and ``since``, by name.

    :param rates: for each floor, the check that measures it, and the rate's name in that check.
    """
    measured = {check["name"]: check.get("rates") or {} for check in (baseline or {}).get("checks") or []}
    return {
        floor: {"nominal": measured[check][rate], "since": str((baseline or {}).get("started"))[:10]}
        for floor, (check, rate) in rates.items()
        if measured.get(check, {}).get(rate)
    }


def is_baseline(report: Report, devices: t.Sequence[str]) -> bool:
    """Tell whether a report's rates may be the host's floors: it is proven, and has the GPUs that the host has now."""
    return (
        report.get("verdict") == PROVEN
        and report.get("scope") == "gpu"
        and [str(device.get("name")) for device in report.get("devices") or []] == list(devices)
        and any(check.get("rates") for check in report.get("checks") or [])
    )
