"""Receipts, and the lock to hold while changing the files that they list.

A receipt is ``<root>/receipts/<name>.json``. It is written last, so its readers can trust that the listed files are on
the disk.
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

from . import digests, disk
from .errors import SparkforgeError

#: The size limit in bytes when reading a receipt, including those from builds.
LARGEST = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def path_of(root: str, name: str) -> str:
    """Return the path of the receipt ``name`` under ``root``.

    :raises SparkforgeError: if ``name`` is not a plain file name.
    """
    if not _NAME.fullmatch(name):
        raise SparkforgeError(
            f"{name!r} is not a valid receipt name.",
            "Use letters, digits, '.', '_', '+' and '-', beginning with a letter or a digit.",
        )
    return os.path.join(root, "receipts", f"{name}.json")


def write(root: str, name: str, data: t.Mapping[str, t.Any]) -> str:
    """Write ``data`` as the receipt ``name``, synced to disk, and return its path.

    :raises SparkforgeError: if it cannot be written; an older receipt then remains.
    """
    path = path_of(root, name)
    disk.write_file(path, digests.text_of(data).encode("ascii"))
    return path


def read(root: str, name: str) -> dict[str, t.Any] | None:
    """Return the receipt ``name``, or None if it is missing or not a JSON object.

    A damaged receipt proves nothing, so it counts as missing and its work is done again.
    """
    try:
        return _parse(path_of(root, name), True)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.io_error(f"The receipt {path_of(root, name)} cannot be read", error) from error


def load(path: str, links: bool = True) -> dict[str, t.Any] | None:
    """Return the JSON object in a file, or None if there is none or it is unreadable.

    :param links: whether to follow a link; False if another account may have put it there.
    """
    with contextlib.suppress(OSError):
        return _parse(path, links)
    return None


def _parse(path: str, links: bool) -> dict[str, t.Any] | None:
    with disk.open_regular(path, links=links) as stream, contextlib.suppress(ValueError, RecursionError):
        # A truncated text is not valid JSON.
        data = json.loads(stream.read(LARGEST).decode("utf-8"))
        return data if isinstance(data, dict) else None
    return None


def names(root: str, prefix: str) -> list[str]:
    """Return the names of the receipts under ``root`` with this prefix, including damaged ones."""
    paths = glob.glob(os.path.join(glob.escape(root), "receipts", f"{prefix}*.json"))
    return sorted(os.path.basename(path)[: -len(".json")] for path in paths)


def remove(root: str, name: str) -> bool:
    """Remove the receipt ``name``; tell whether it existed. An empty receipts directory is removed too."""
    path = path_of(root, name)
    if not disk.delete(path):
        return False
    disk.fsync(os.path.dirname(path))
    disk.remove_empty(os.path.dirname(path))
    return True


@contextlib.contextmanager
def lock(root: str, name: str, wait: float = 900.0) -> t.Iterator[None]:
    """Hold ``<root>/.<name>.lock``, so that runs on one host do the work one after the other.

    The lock is released when the process that holds it exits, for whatever reason, and its file is removed.

    :param wait: seconds to wait for another run.
    :raises SparkforgeError: if another run holds the lock for longer.
    """
    path = os.path.join(root, f".{name}.lock")
    deadline = time.monotonic() + wait
    try:
        created: list[str] = []
        descriptor = None
        while descriptor is None:
            created += disk.make_directories(root)
            # None means that the run that had created the directory has removed it again.
            with contextlib.suppress(FileNotFoundError):
                descriptor = _open_locked(path, deadline, wait)
    except OSError as error:
        raise disk.io_error(f"The lock {path} cannot be taken", error) from error
    try:
        yield
    finally:
        # Unlink it while the lock is held: a waiting process then notices that the name is gone and starts over.
        with contextlib.suppress(OSError):
            os.unlink(path)
            # Otherwise a disk failure could restore the name, permanently if no further run takes the lock.
            disk.fsync(root)
        os.close(descriptor)
        for directory in reversed(created):
            disk.remove_empty(directory)


def _open_locked(path: str, deadline: float, wait: float) -> int:
    """Return the descriptor of the locked file.

    :raises FileNotFoundError: if its directory is gone.
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
                    "Wait until it exits, or stop it, and run again.",
                ) from None
            time.sleep(0.2)
            continue
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
                return descriptor
        os.close(descriptor)
