"""The report on a build: its progress or result, and whether its receipt can be trusted.

This is separate from ``_unit.engine`` because a poll needs only this module, and every call recompiles what it imports.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
import typing as t

from .._core import accounts, digests, disk
from .._core.errors import SparkforgeError
from .._wheel.wheel import wheels_in
from . import model, receipt as sealing, state_file

#: A file system with fewer free bytes than this counts as full, because a file of a few blocks does not fit.
_NO_ROOM = 64 << 10
#: Seconds that one poll of a running build waits for news.
LONG_POLL = 30.0
#: Seconds between two reads of the state during a poll, and so the longest that a finished build can go unnoticed.
_GLANCE = 0.2
_STATES = {"succeeded": "built", "failed": "failed", "stopped": "stopped"}


def watched_entries(state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the entries whose change completes a long poll."""
    return {key: state.get(key) for key in ("phase", "status", "attempts")}


def poll(directory: str, seen: t.Mapping[str, t.Any] | None) -> dict[str, t.Any] | None:
    """Return the state of the build in ``directory`` once its ``news`` differ from ``seen``, or after half a minute.

    :param seen: the last known news, or None to look once.
    :return: None if the build has ended, for whatever reason.
    """
    deadline = time.monotonic() + (LONG_POLL if seen is not None else 0)
    while state_file.is_running(directory):
        latest = state_file.state(directory)
        if watched_entries(latest) != (seen or {}) or time.monotonic() > deadline:
            return latest
        time.sleep(_GLANCE)
    return None


def observe(
    paths: model.Paths, account: accounts.Account, seen: t.Mapping[str, t.Any] | None, warnings: list[str]
) -> dict[str, t.Any]:
    """Return the progress of the build, when it has changed, or its result.

    :param seen: the last known news, or None to look once.
    :param warnings: the list to which warnings for the user are added.
    :raises SparkforgeError: if the build failed, with the cause and remedy that the worker recorded.
    """
    with account.acting():
        state = poll(paths.build_directory, seen)
        if state is not None:
            return {**_describe(paths, state), "status": "running"}
        # The worker may have written its last state after the poll.
        state = state_file.state(paths.build_directory)
        receipt = find_receipt(paths, warnings)
        result = {**_describe(paths, state), "status": _STATES.get(str(state.get("status")), "lost")}
    if receipt is not None and result["status"] == "built":
        take_receipt(paths, receipt)
        return {**result, "wheels": wheels(receipt, paths.artefact)}
    error = state.get("error")
    brief = {key: result[key] for key in ("name", "fingerprint", "log", "notes", "status")}
    brief["phase"] = state.get("failed_phase")
    if result["status"] == "failed" and error:
        more = {key: value for key, value in error.items() if key not in ("msg", "cause", "remedy")}
        raise SparkforgeError(error["cause"], error["remedy"], **{**more, **brief})
    if shutil.disk_usage(paths.root).free < _NO_ROOM:
        # The disk was too full even for the worker's error message.
        raise SparkforgeError(
            f"The file system of {paths.root} is full; the build of {paths.name} has stopped.",
            "Free space, or set sparkforge_root to a larger file system; the next run resumes.",
            **brief,
        )
    raise SparkforgeError(
        f"The build of {paths.name} stopped without a message in phase {state.get('phase', 'fetch')}.",
        "Run again, which resumes. The end of the log and `dmesg` may show what stopped it.",
        **brief,
    )


def _describe(paths: model.Paths, state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return {
        "name": paths.name,
        "fingerprint": paths.fingerprint,
        "platform": paths.platform,
        "directory": paths.build_directory,
        "artefact": paths.artefact,
        "prefix": paths.prefix if os.path.isdir(paths.prefix) else None,
        "receipt": paths.receipt,
        "log": paths.log,
        "state": state,
        "notes": state.get("notes", []),
    }


def find_receipt(paths: model.Paths, warnings: list[str]) -> sealing.Receipt | None:
    """Return the receipt if it is valid and its outputs exist: root's own copy, or else the one next to the artefact.

    The build account writes the copy. It counts only if the log exists, because root creates the log when it starts a
    build.
    """
    receipt = sealing.read(paths.receipt)
    if receipt is None:
        copy = sealing.read(os.path.join(paths.artefact, "receipt.json")) if os.path.exists(paths.log) else None
        identity = (paths.name, paths.fingerprint, paths.platform)
        is_changed = os.path.exists(paths.receipt)
        if copy is None or (copy["name"], copy["fingerprint"], copy["platform"]) != identity:
            if is_changed:
                warnings.append(f"The receipt {paths.receipt} was modified and cannot be trusted.")
            return None
        if is_changed:
            warnings.append(
                f"The receipt {paths.receipt} was modified and is replaced by the copy next to the artefact."
            )
        receipt = copy
    for item in receipt["outputs"]:
        try:
            status = os.stat(os.path.join(paths.artefact, item["path"]))
        except OSError:
            return None
        if stat.S_ISREG(status.st_mode) and status.st_size != item.get("size"):
            return None
    return receipt


def take_receipt(paths: model.Paths, receipt: sealing.Receipt) -> None:
    """Save the receipt as a root-owned file, so that later changes to the artefact show as differences."""
    if sealing.read(paths.receipt) != receipt:
        disk.write_file(paths.receipt, digests.text_of(receipt).encode("ascii"))


def wheels(receipt: sealing.Receipt | None, artefact: str) -> list[dict[str, t.Any]]:
    """Return the wheels that the receipt lists, each with its path."""
    return [wheel.as_result() for wheel in wheels_in(receipt, artefact)] if receipt else []
