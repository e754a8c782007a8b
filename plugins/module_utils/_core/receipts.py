# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Receipts, and the lock that whoever changes what they name holds.

A receipt is ``<root>/receipts/<name>.json``. It is written last, so whoever reads it may trust that what it
names is on the disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import json
import os
import re
import time
import typing as t

from . import disk
from .errors import SparkforgeError

#: Bytes that are read of a receipt, as of those that a build writes.
LARGEST = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def path_of(root: str, name: str) -> str:
    """Return where the receipt ``name`` below ``root`` is.

    :raises SparkforgeError: if ``name`` is not a plain file name.
    """
    if not _NAME.fullmatch(name):
        raise SparkforgeError(
            f"{name!r} is not a valid receipt name.",
            "Use letters, digits, '.', '_', '+' and '-', beginning with a letter or a digit.",
        )
    return os.path.join(root, "receipts", f"{name}.json")


def write(root: str, name: str, data: t.Mapping[str, t.Any]) -> str:
    """Store ``data`` as the receipt ``name`` and return its path; durable once this returns.

    :raises SparkforgeError: if it cannot be written; an older receipt is then still there.
    """
    path = path_of(root, name)
    text = json.dumps(data, indent=2, sort_keys=True) + "\n"
    disk.write_file(path, text.encode("ascii"))
    return path


def read(root: str, name: str) -> dict[str, t.Any] | None:
    """Return the receipt ``name``, or None if there is none, or one that is not a JSON object.

    A damaged receipt vouches for nothing, so it counts as none: the work it stood for is done again.
    """
    try:
        data = _parsed(path_of(root, name), True)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.failed(f"The receipt {path_of(root, name)} cannot be read", error) from error
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def load(path: str, links: bool = True) -> dict[str, t.Any] | None:
    """Return the JSON object in a file, or None if there is none that can be read.

    :param links: whether a link is followed; not where another account may have put it.
    """
    try:
        data = _parsed(path, links)
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _parsed(path: str, links: bool) -> t.Any:
    with disk.open_regular(path, links=links) as stream:
        # What is cut off there is no JSON any more.
        return json.loads(stream.read(LARGEST).decode("utf-8"))


def names(root: str, prefix: str) -> list[str]:
    """Return the names of the receipts below ``root`` that begin so, damaged ones among them."""
    found = glob.glob(os.path.join(glob.escape(root), "receipts", f"{prefix}*.json"))
    return sorted(os.path.basename(path)[: -len(".json")] for path in found)


def remove(root: str, name: str) -> bool:
    """Remove the receipt ``name``; tell whether there was one. An emptied receipts directory goes too."""
    path = path_of(root, name)
    if not disk.delete(path):
        return False
    disk.fsync_directory(os.path.dirname(path))
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))
    return True


@contextlib.contextmanager
def lock(root: str, name: str, wait: float = 900.0) -> t.Iterator[None]:
    """Hold ``<root>/.<name>.lock``, so that two runs on one host do the work one after the other.

    The lock ends with the process that holds it, however that ends; the file goes with it, so that nothing
    is left behind.

    :param wait: seconds to wait for another run.
    :raises SparkforgeError: if another run holds the lock for longer than that.
    """
    path = os.path.join(root, f".{name}.lock")
    deadline = time.monotonic() + wait
    try:
        made: list[str] = []
        descriptor = None
        while descriptor is None:
            made += disk.make_directories(root)
            # None: the run that had made the directory has taken it away again.
            with contextlib.suppress(FileNotFoundError):
                descriptor = _locked(path, deadline, wait)
    except OSError as error:
        raise disk.failed(f"The lock {path} cannot be taken", error) from error
    try:
        yield
    finally:
        # Unlinked while it is held: who waits for it notices that the name has gone, and starts over.
        with contextlib.suppress(OSError):
            os.unlink(path)
            # Else a disk that fails soon after brings the name back, for good where no further run takes the lock.
            disk.fsync_directory(root)
        os.close(descriptor)
        for directory in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(directory)


def _locked(path: str, deadline: float, wait: float) -> int:
    """Return the descriptor of the locked file.

    :raises FileNotFoundError: if its directory has gone.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            if time.monotonic() >= deadline:
                waited = f", still after {wait:g} s" if wait else ""
                raise SparkforgeError(
                    f"Another run (process {holder}) holds {path}{waited}.",
                    "Wait until it ends, or stop that process, and run again.",
                ) from None
            time.sleep(0.2)
            continue
        try:
            same = os.path.samestat(os.fstat(descriptor), os.stat(path))
        except FileNotFoundError:
            same = False
        if same:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
            return descriptor
        os.close(descriptor)
