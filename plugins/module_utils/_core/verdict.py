"""The vocabulary of a proof's report, and the differences between two reports, for all readers of reports."""

from __future__ import annotations

import re
import typing as t

from . import phrases

PASS, WARN, FAIL, SKIP = "pass", "warn", "fail", "skip"

#: Why a check did not pass. ``WRONG``: a number is wrong. ``MISMATCH``: the installed software differs from the stack.
#: ``UNJUDGED``: either of the two, but no sound run on such a device is recorded, so it is unknown how large an error
#: may be. ``KNOWN``: a number is wrong because of a known defect in torch.
WRONG, MISMATCH, UNJUDGED, KNOWN = "wrong", "mismatch", "unjudged", "known"
#: The other reasons, without a number to judge: the device or a library refused the check, the build lacks the feature,
#: the check crashed or timed out, memory ran out, another program uses the device, or a rate is below its floor.
REFUSED, ABSENT, CRASH, TIMEOUT, MEMORY, BUSY, SLOW = (
    "refused",
    "absent",
    "crash",
    "timeout",
    "memory",
    "busy",
    "slow",
)
UNANSWERED = frozenset((REFUSED, ABSENT, CRASH, TIMEOUT, MEMORY, BUSY, SLOW))
PROVEN, UNPROVEN, NO_REPORT = "proven", "unproven", "no report"
#: The verdicts on a host, worst first.
VERDICTS = (FAIL, NO_REPORT, UNPROVEN, PROVEN)

#: The limits of a proof that runs every operator of the survey at once.
FULL: dict[str, float] = {"samples": 20.0, "survey": 3600.0, "seconds": 14400.0}
#: The format of reports; readers ignore other formats.
FORMAT = 3
#: The packages whose change requires another proof: CUDA's libraries, the driver and the kernel.
PACKAGES = re.compile(
    r"cuda-|libcu(blas|dnn|dss|fft|file|pti|rand|solver|sparse|tensor)|libnv(idia|infer|jpeg|jitlink|pl|shmem|vm)|libnpp"
    r"|libnccl|gds-|nvidia-|nvpl-|linux-(image|modules)-"
)
#: Smaller relative changes of a rate are ignored, because boost clocks and temperatures vary between runs.
RATE_CHANGE = 0.1

Report = t.Mapping[str, t.Any]


def summary(statuses: t.Iterable[str]) -> dict[str, int]:
    """Count the checks by status, for a report."""
    counts = dict.fromkeys((PASS, WARN, FAIL, SKIP), 0)
    for status in statuses:
        counts[status] = counts.get(status, 0) + 1
    return counts


def wrong(report: Report) -> list[str]:
    """Return the names of the checks in a report that found a wrong number."""
    rows = report.get("checks") or []
    return [check["name"] for check in rows if check["status"] == FAIL and check.get("reason") == WRONG]


def is_right_on_the_gpu(report: Report) -> bool:
    """Tell whether a report covers a GPU and none of the GPU's numbers is wrong."""
    return report.get("scope") == "gpu" and all(name.startswith("cpu.") for name in wrong(report))


def remark(report: Report) -> str:
    """Return a remark on what a verdict does not say: unselected checks, wrong CPU numbers, known defects, and more."""
    rows = report.get("checks") or []
    remarks = ["only the selected checks ran"] if report.get("selected") else []
    if (names := wrong(report)) and is_right_on_the_gpu(report):
        # The environment wrote the cause, and it appears in the login message.
        cause = next(check["cause"] for check in rows if check["name"] == names[0])[:400].rstrip(".")
        listed = phrases.some([name[len("cpu.") :] for name in names], 8)
        remarks.append(f"right on the GPU; on the CPU {listed} {'is' if len(names) == 1 else 'are'} wrong: {cause}")
    for cause in (check["cause"] for check in rows if check.get("reason") == KNOWN):
        remarks.append(f"{cause[:1].lower()}{cause[1:400].rstrip('.')}")
    if unjudged := [check["name"] for check in rows if check.get("reason") == UNJUDGED]:
        remarks.append(f"not judged, on a first run on this kind of device: {phrases.some(unjudged, 8)}")
    return "; ".join(remarks)


def drift(before: Report | None, now: Report) -> dict[str, t.Any]:
    """Return the differences between two reports: ``since`` and ``changes`` with ``what``, ``before``, ``now``."""
    if before is None:
        return {"since": None, "changes": []}
    changes: list[dict[str, str]] = []

    def compare(label: str, old: t.Any, new: t.Any) -> None:
        if old != new:
            changes.append({"what": label, "before": _word(old), "now": _word(new)})

    for key in ("verdict", "stack", "lock", "driver", "kernel"):
        compare(key, before.get(key), now.get(key))
    for key in ("software", "packages"):
        old, new = before.get(key) or {}, now.get(key) or {}
        for name in sorted(set(old) | set(new)):
            compare(f"{name}", old.get(name), new.get(name))
    old, new = before.get("firmware") or {}, now.get("firmware") or {}
    # A missing version, for example of a GPU unused since boot, does not mean that the firmware changed.
    for name in sorted(set(old) & set(new)):
        compare(f"firmware of {name}", old[name], new[name])
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


def changed(proven: Report, now: Report) -> list[dict[str, str]]:
    """Return the host's changes since a proof: driver, kernel, firmware, and CUDA packages.

    A key that only one side has is ignored, because reports from earlier versions lack the firmware.

    :param proven: the report of the proof.
    :param now: the host's current ``driver``, ``kernel``, ``firmware`` and ``packages``, as in a report.
    """
    keys = [key for key in ("driver", "kernel", "firmware", "packages") if key in proven and key in now]
    return list(drift({key: proven[key] for key in keys}, {key: now[key] for key in keys})["changes"])


def _word(value: t.Any) -> str:
    return "absent" if value is None else str(value)
