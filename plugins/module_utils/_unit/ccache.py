# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much of a build came from ccache, by its counters before and after."""

# Runs in the detached worker, where there is no module to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import subprocess
import typing as t

from . import commands
from .attempt import Attempt


def counts(attempt: Attempt) -> dict[str, int]:
    """Return ccache's counters, empty where it is not used."""
    if not attempt.has_ccache:
        return {}
    done = subprocess.run(
        [attempt.tools["ccache"], "--print-stats"], env=commands.build_environment(attempt, 1),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = (line.split() for line in done.stdout.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def tell(attempt: Attempt, before: t.Mapping[str, int]) -> None:
    """Put hits and misses since ``before`` into the state."""
    if not before:
        return
    after = counts(attempt)
    hits = sum(after.get(name, 0) - before.get(name, 0) for name in ("direct_cache_hit", "preprocessed_cache_hit"))
    misses = after.get("cache_miss", 0) - before.get("cache_miss", 0)
    rate = round(100 * hits / (hits + misses), 1) if hits + misses else None
    attempt.state.update(ccache={"hits": hits, "misses": misses, "hit_rate": rate})
