# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is known of one build, on the disk whenever somebody may look: ``state.json``."""

# Runs in the detached worker, where there is no module to log.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import json
import os
import time
import typing as t

from .._core.errors import SparkforgeError
from . import state_file


class State:
    """The state of one build.

    :param path: of the file; what it says already continues.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: dict[str, t.Any] = state_file.read(path) or {
            "format": state_file.FORMAT,
            "phases": {},
            "attempts": 0,
            "notes": [],
        }

    def update(self, **values: t.Any) -> None:
        """Take ``values`` over and write the file."""
        self.data.update(values)
        self.data["updated"] = time.time()
        temporary = f"{self.path}.{os.getpid()}"
        with open(temporary, "w", encoding="ascii") as stream:
            # Not json.dump, which does not use the encoder that is written in C.
            stream.write(json.dumps(self.data, sort_keys=True))
        # No fsync: after a power loss an older state is as good, and this is written every few seconds.
        os.replace(temporary, self.path)

    def note(self, text: str) -> None:
        """Keep a sentence for the result, once."""
        if text not in self.data["notes"]:
            self.update(notes=[*self.data["notes"], text])

    def is_done(self, phase: str) -> bool:
        return bool(self.data["phases"].get(phase, {}).get("done"))

    def undo(self, *phases: str) -> None:
        """Mark phases as not done."""
        self.update(phases={name: value for name, value in self.data["phases"].items() if name not in phases})

    def fail(self, error: SparkforgeError) -> None:
        """Put the failure into the state and the log; a full disk must not keep it from being told."""
        with contextlib.suppress(OSError):
            print(f"== failed in {self.data.get('phase')}: {error}", flush=True)
        values = {"status": "failed", "failed_phase": self.data.get("phase"), "error": error.as_result()}
        try:
            self.update(**values)
        except OSError:
            # In place and no longer than before, which takes no block that a full disk does not have.
            self.data.update(values)
            text = json.dumps({**self.data, "notes": [], "applied": []}, sort_keys=True)
            with contextlib.suppress(OSError), open(self.path, "r+", encoding="ascii") as stream:
                stream.write(text)
                stream.truncate()


def now() -> str:
    """Return the time as state and receipt have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
