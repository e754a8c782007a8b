# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""How a running build goes, in one long poll.

Apart from ``_engine`` because it is asked twice a minute for hours, and what a call imports is compiled each time.
"""

from __future__ import annotations

import json
import os
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils import _detach, _unit

#: What ``state.json`` and receipts say of themselves.
FORMAT = 1
#: Seconds that one look at a running build waits for news.
LONG_POLL = 30.0
#: Seconds between two glances at the state meanwhile.
_GLANCE = 0.5


def read(path: str) -> t.Optional[t.Dict[str, t.Any]]:
    """Return the state or receipt that is at ``path``; None where there is none that can be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            data = json.loads(stream.read().decode("utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def is_running(directory: str) -> bool:
    """Tell whether a worker is at the build in ``directory``, whoever started it."""
    return _detach.Lock(os.path.join(directory, "lock")).is_held()


def news(state: t.Mapping[str, t.Any]) -> t.Dict[str, t.Any]:
    """Return what ends a long poll when it changes."""
    return {key: state.get(key) for key in ("phase", "status", "attempts")}


def wait(
    paths: _unit.Paths, account: _detach.Account, seen: t.Optional[t.Mapping[str, t.Any]]
) -> t.Optional[t.Dict[str, t.Any]]:
    """Return how the build goes once its ``news`` are other than ``seen``, or after half a minute.

    :param seen: None to look once.
    :return: None where it does not run any more.
    """
    deadline = time.monotonic() + (LONG_POLL if seen is not None else 0)
    with account.acting():
        while True:
            if not is_running(paths.build_directory):
                return None
            state = read(paths.inside("state.json")) or {}
            if news(state) != (seen or {}) or time.monotonic() > deadline:
                return {**describe(paths, state), "status": "running"}
            time.sleep(_GLANCE)


def describe(paths: _unit.Paths, state: t.Mapping[str, t.Any]) -> t.Dict[str, t.Any]:
    """Return what ``source_build`` says of a build and where everything of it lies."""
    return {
        "name": paths.name,
        "fingerprint": paths.fingerprint,
        "platform": paths.platform,
        "artefact": paths.artefact,
        "prefix": paths.prefix if os.path.isdir(paths.prefix) else None,
        "receipt": paths.receipt,
        "log": paths.log,
        "state": state,
        "notes": state.get("notes", []),
    }
