# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an interruption, a power loss or another fingerprint's build left, and what of it this attempt continues
from."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
import typing as t

from .._core import detached, disk, processes
from . import carry, state_file, trees
from .attempt import Attempt

#: ninja trusts these over what is on the disk, and reads around what a power loss cut off in them.
_NINJA_RECORDS = (".ninja_log", ".ninja_deps")


def take_stock(attempt: Attempt) -> None:
    """Mark as not done what has to be done again, and remove what must not be trusted."""
    paths, state = attempt.paths, attempt.state
    disk.remove(paths.inside("wanted"))
    data = state.data
    last = _last_in_tree(attempt)
    if not last:
        _begin_anew(attempt)
    elif last is not data:
        # This build's earlier work is no longer in any tree; the tree has the work of another build.
        state.update(
            **{key: last.get(key) for key in ("boot_id", "checkpoint", "failed_phase")}, phases=dict(last["phases"])
        )
    if last and last.get("boot_id") and last["boot_id"] != detached.boot_id():
        _after_power_loss(attempt, float(last.get("checkpoint") or 0))
    behind = float(last.get("updated") or 0) - time.time()
    if behind > 5:
        moved = attempt.clamp_mtimes(time.time())
        state.note(
            f"The clock of this host went back by {behind:.0f} s since the last attempt; {moved} files with future "
            f"timestamps were set to the current time, so that ninja does not misjudge them."
        )
    failed = data.get("failed_phase")
    if failed == "check":
        # CMake remembers what it did not find, so its cache goes; the objects stay.
        for path in attempt.files("CMakeCache.txt"):
            os.unlink(path)
        state.undo("configure", "build", "package", "check")
    elif failed == "configure":
        state.undo("prepare")
    # A tree is fetched and changed in one go: changes on top of changes cannot be told from a failure.
    if not state.is_done("patch"):
        state.undo("fetch")
    state.update(failed_phase=None)
    if last is not data and state.is_done("patch"):
        _carry_on(attempt, last)


def _last_in_tree(attempt: Attempt) -> dict[str, t.Any]:
    """Return the state of the build that was in this tree last: this one's, or another fingerprint's.

    :return: empty where nothing is known of what is there, if anything does.
    """
    paths, data = attempt.paths, attempt.state.data
    holder, taker = trees.holder(paths.tree_directory)
    mine = paths.fingerprint
    if holder == mine:
        # No state: a power loss took it, say, or it is to be built again from the beginning.
        return data if data["attempts"] and taker is None else {}
    if holder is None or taker not in (None, mine) or (attempt.request.get("rebuild") and not data["attempts"]):
        return {}
    other = dataclasses.replace(paths, fingerprint=holder)
    if not state_file.is_running(other.build_directory):
        processes.end_processes(other.marker)
    state = state_file.read(other.inside("state.json")) or {}
    return state if state.get("attempts") else {}


def _begin_anew(attempt: Attempt) -> None:
    disk.remove(attempt.paths.tree_directory)
    attempt.state.update(phases={}, checkpoint=None, failed_phase=None)
    trees.hold(attempt.paths.tree_directory, attempt.paths.fingerprint)


def _carry_on(attempt: Attempt, last: t.Mapping[str, t.Any]) -> None:
    """Go on in the tree of another fingerprint, or begin again where that is not safe.

    :param last: the state of the build that was in the tree.
    """
    try:
        other = dataclasses.replace(attempt.paths, fingerprint=last["fingerprint"])
        with open(other.inside("request.json"), encoding="utf-8") as stream:
            request = json.load(stream)
        carry.check_builds(request, last, attempt.request)
    except (OSError, ValueError, LookupError, carry.Doubt) as reason:
        attempt.state.note(f"The tree of the build {last['fingerprint']} was recreated: {reason}.")
        _begin_anew(attempt)
        return
    attempt.carried = last
    # The environment stays, for objects would be older than the headers of a new one.
    done = {"prepare": {"done": True, "seconds": 0.0}} if attempt.state.is_done("prepare") else {}
    attempt.state.update(phases=done)
    disk.remove(attempt.paths.inside("out"))


def _after_power_loss(attempt: Attempt, checkpoint: float) -> None:
    """Remove what was written after the last synced checkpoint: ninja would trust a file full of zeros."""
    state = attempt.state
    state.undo("build", "package", "check")
    if not checkpoint:
        _begin_anew(attempt)
        state.note("The host was rebooted before the first checkpoint: the build starts from scratch.")
        return
    if not state.is_done("configure"):
        state.undo("prepare")
    removed = 0
    for path in attempt.files():
        with contextlib.suppress(FileNotFoundError):
            if os.lstat(path).st_mtime > checkpoint and os.path.basename(path) not in _NINJA_RECORDS:
                os.unlink(path)
                removed += 1
    state.note(
        f"The host was rebooted during the build: {removed} files newer than the last synced checkpoint are rebuilt."
    )
