# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was built on a host, what is being built, and what did not end, by receipts and states."""

from __future__ import annotations

import glob
import os
import re
import typing as t

from . import receipt as sealing, state_file


def observe(root: str, name: str | None = None) -> dict[str, t.Any]:
    """Return the receipts, the builds that run and those that did not end."""
    receipts, changed = receipts_of(root, name)
    done = {(receipt["name"], receipt["fingerprint"]) for receipt in receipts}
    running, unfinished = [], []
    for place in sorted(glob.glob(os.path.join(glob.escape(root), "builds", glob.escape(name) if name else "*", "*"))):
        unit, fingerprint = place.split(os.sep)[-2:]
        state = state_file.state(place)
        if not state:
            continue
        known = {"name": unit, "fingerprint": fingerprint, "state": state}
        if state_file.is_running(place):
            running.append(known)
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
    form = re.compile((re.escape(name) if name else "[a-z][a-z0-9_]*") + r"-[0-9a-f]{16}\.json")
    for file in sorted(glob.glob(os.path.join(glob.escape(root), "receipts", "units", "*.json"))):
        if form.fullmatch(os.path.basename(file)):
            receipt = sealing.read(file)
            if receipt is None:
                changed.append(file)
            else:
                receipts.append(receipt)
    return sorted(receipts, key=lambda receipt: (str(receipt["finished"]), receipt["name"]), reverse=True), changed
