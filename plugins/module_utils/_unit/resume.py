"""Take stock after an interruption or a power loss, so that an attempt continues only from trustworthy files."""

from __future__ import annotations

import contextlib
import os
import time

from .._core import detached, disk
from . import model
from .attempt import Attempt

#: ninja trusts these records over the files on disk, and skips parts that a power loss truncated.
_NINJA_RECORDS = (".ninja_log", ".ninja_deps")


def take_stock(attempt: Attempt) -> None:
    """Mark phases that must be repeated as not done, and remove files that cannot be trusted."""
    state = attempt.state
    if not state.data["attempts"] or not os.path.isdir(attempt.paths.inside("source")):
        # A power loss destroyed the state, a rebuild from scratch was requested, or the sources are missing.
        _begin_anew(attempt)
    elif state.data.get("boot_id") != detached.boot_id():
        _after_power_loss(attempt, float(state.data.get("checkpoint") or 0))
    clock_lag = float(state.data.get("updated") or 0) - time.time()
    if clock_lag > 5:
        moved = attempt.clamp_mtimes(time.time())
        state.note(
            f"The clock of this host went back by {clock_lag:.0f} s since the last attempt; {moved} files with future "
            f"timestamps were set to the current time, so that ninja does not misjudge them."
        )
    failed = state.data.get("failed_phase")
    if failed == "check":
        # CMake remembers failed searches, so remove its cache; the objects are kept.
        for path in attempt.files("CMakeCache.txt"):
            os.unlink(path)
        state.undo("configure", "build", "package", "check")
    elif failed == "configure":
        state.undo("prepare")
    # Fetch and patch run as a pair, because patches cannot be applied twice to the same tree.
    if not state.is_done("patch"):
        state.undo("fetch")
    state.update(failed_phase=None)


def _begin_anew(attempt: Attempt) -> None:
    for name in model.TREES:
        disk.remove(attempt.paths.inside(name))
    attempt.state.update(phases={}, checkpoint=None, failed_phase=None)


def _after_power_loss(attempt: Attempt, checkpoint: float) -> None:
    """Remove files written after the last synced checkpoint, because ninja would trust a file full of zeros."""
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
