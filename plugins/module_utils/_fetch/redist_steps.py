# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done for each redist archive, and how the module's result tells of it."""

from __future__ import annotations

import dataclasses
import typing as t

from .._core import versions
from .redist_layout import current_path
from .redist_manifest import Archive, Resolved
from .redist_record import differs, environment_of, label_of, shell_of


@dataclasses.dataclass
class Step:
    """What is to be done for one archive, and why; ``reason`` is empty where there is nothing to do."""

    archive: Archive
    receipt: dict[str, t.Any] | None
    reason: str = ""
    reuse: dict[str, t.Any] | None = None
    resolved: Resolved | None = None
    staged: str | None = None
    record: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    downloaded_bytes: int = 0
    download_seconds: float = 0.0


def result(
    prefix: str, changed: bool, rows: list[dict[str, t.Any]], before: list[str], after: list[str], **more: t.Any
) -> dict[str, t.Any]:
    """Return what the module's result has in either state, and ``more``."""
    return {
        "changed": changed,
        "archives": rows,
        "diff": {
            "before_header": f"{prefix} (before)",
            "after_header": f"{prefix} (after)",
            "before": "".join(f"{line}\n" for line in before),
            "after": "".join(f"{line}\n" for line in after),
        },
        **more,
    }


def describe(steps: list[Step], prefix: str) -> dict[str, t.Any]:
    """Return the module's result of steps that were taken, or planned."""
    rows, before, after, records = [], [], [], []
    for step in steps:
        record = step.record or ({} if step.reason else step.receipt or {})
        old = step.receipt
        action = _action(step)
        rows.append(
            {
                "component": step.archive.component,
                "product": step.archive.product,
                "release": step.archive.release,
                "platform": step.archive.platform,
                "variant": step.archive.variant,
                "version": record.get("version") if record else step.archive.version,
                "sha256": record.get("sha256") if record else step.archive.sha256,
                "path": record.get("path"),
                "current": current_path(prefix, step.archive.component),
                "sonames": record.get("sonames", []),
                "license": record.get("license"),
                "fingerprint": record.get("fingerprint"),
                "action": action,
                "reason": step.reason,
                "previous_version": old.get("version") if old and step.reason else None,
                "downloaded_bytes": step.downloaded_bytes,
                "download_seconds": round(step.download_seconds, 3),
            }
        )
        if record:
            records.append(record)
        wanted = dataclasses.replace(step.archive, version=record.get("version")) if record else step.archive
        after.append(wanted.label)
        if not step.reason:
            before.append(wanted.label)
        elif old is not None:
            note = "" if action in ("upgrade", "downgrade", "replace") else f": {step.reason}"
            before.append(label_of(old) + note)
    environment = environment_of(records)
    return result(
        prefix,
        any(step.reason for step in steps),
        rows,
        before,
        after,
        environment=environment,
        environment_sh=shell_of(environment),
        downloaded=downloaded(steps),
    )


def _action(step: Step) -> str:
    if not step.reason:
        return "none"
    if step.receipt is None:
        return "install"
    old, new = step.receipt.get("version"), (step.record.get("version") or step.archive.version)
    if new is None or (step.receipt.get("release") == step.archive.release and old == new):
        return "replace" if differs(step.receipt, step.archive, step.receipt.get("prefix", "")) else "repair"
    return "upgrade" if versions.numbers(str(new)) > versions.numbers(str(old)) else "downgrade"


def downloaded(steps: t.Sequence[Step]) -> dict[str, t.Any]:
    size, seconds = sum(s.downloaded_bytes for s in steps), sum(s.download_seconds for s in steps)
    return {
        "bytes": size,
        "seconds": round(seconds, 3),
        "megabytes_per_second": round(size / 1e6 / seconds, 3) if seconds else 0.0,
    }
