# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The line that a person reads of a build that runs."""

from __future__ import annotations

import typing as t


def describe(state: t.Mapping[str, t.Any]) -> str:
    """Return the line that a person reads: ``pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, …``.

    :param state: keys, of which any may be missing or None: ``name``, ``phase``; ``done``, ``total`` and
        ``unit`` (``steps`` or ``percent``); ``elapsed`` and ``remaining`` (seconds); ``jobs``;
        ``available_mib`` (memory).
    """
    parts = [str(state["name"])] if state.get("name") else []
    work = " ".join(word for word in (str(state.get("phase") or ""), _count(state)) if word)
    times = []
    if state.get("elapsed") is not None:
        times.append(f"{_hours(state['elapsed'], seconds=True)} elapsed")
    if state.get("remaining") is not None:
        times.append(_left(state["remaining"]))
    resources = []
    if state.get("jobs"):
        resources.append(f"{state['jobs']} job{'' if state['jobs'] == 1 else 's'}")
    if state.get("available_mib") is not None:
        resources.append(f"{state['available_mib'] / 1024:.0f} GiB free")
    return " | ".join(part for part in (*parts, work, ", ".join(times), ", ".join(resources)) if part)


def _count(state: t.Mapping[str, t.Any]) -> str:
    done, total = state.get("done"), state.get("total")
    if done is None or not total:
        return ""
    # 100 % means finished, and nothing else does.
    percent = 100 if done >= total else min(99, round(100 * done / total))
    return f"{percent} %" if state.get("unit") == "percent" else f"{done}/{total} ({percent} %)"


def _left(seconds: float) -> str:
    return "less than a minute left" if seconds < 60 else f"about {_hours(seconds, seconds=False)} left"


def _hours(duration: float, seconds: bool) -> str:
    """Return ``1:02:11``, or ``1:02`` without the seconds (minutes rounded up: a promise is better kept)."""
    whole = max(0, int(duration))
    if not seconds:
        minutes = -(-whole // 60)
        return f"{minutes // 60}:{minutes % 60:02d}"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
