# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was built on a host, what is being built, and what did not end: read from receipts and states."""

from __future__ import annotations

import os
import re
import typing as t

from .._core import disk
from . import progress, receipt as sealing, state_file


def observe(root: str, name: str | None = None) -> dict[str, t.Any]:
    """Return the receipts, the builds that run and those that did not end, as ``build_info`` has them."""
    receipts, changed = receipts_of(root, name)
    done = {(receipt["name"], receipt["fingerprint"]) for receipt in receipts}
    running, unfinished = [], []
    builds = os.path.join(root, "builds")
    for unit in disk.names(builds):
        if unit.startswith(".") or (name and unit != name):
            continue
        for fingerprint in disk.names(os.path.join(builds, unit)):
            place = os.path.join(builds, unit, fingerprint)
            state = state_file.state(place)
            if not state:
                continue
            known = {"name": unit, "fingerprint": fingerprint, "state": state}
            if state_file.is_running(place):
                running.append({**known, "line": progress.describe(state)})
            elif (unit, fingerprint) not in done:
                unfinished.append({**known, "error": state.get("error")})
    return {
        "receipts": receipts,
        "running": running,
        "unfinished": unfinished,
        "changed_receipts": changed,
    }


def receipts_of(root: str, name: str | None = None) -> tuple[list[sealing.Receipt], list[str]]:
    """Return the intact receipts of a unit or of all, the newest first, and the paths of those that were changed."""
    receipts, changed = [], []
    directory = os.path.join(root, "receipts", "units")
    for file in disk.names(directory):
        if not re.fullmatch((re.escape(name) if name else "[a-z][a-z0-9_]*") + r"-[0-9a-f]{16}\.json", file):
            continue
        receipt = sealing.read(os.path.join(directory, file))
        if receipt is None:
            changed.append(os.path.join(directory, file))
        else:
            receipts.append(receipt)
    return sorted(receipts, key=lambda receipt: (str(receipt["finished"]), receipt["name"]), reverse=True), changed
