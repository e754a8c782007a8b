# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Receipts, and the other things that must be either whole or absent: symlinks, files, locks.

A receipt is ``<root>/receipts/<name>.json``. It is written last, so whoever reads it may trust that what it
names is on the disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import stat
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def path_of(root: str, name: str) -> str:
    """Return where the receipt ``name`` below ``root`` lies.

    :raises SparkforgeError: where ``name`` is not a plain file name.
    """
    if not _NAME.fullmatch(name):
        raise SparkforgeError(
            f"{name!r} cannot be the name of a receipt.",
            "Use letters, digits, '.', '_', '+' and '-', beginning with a letter or a digit.",
        )
    return os.path.join(root, "receipts", f"{name}.json")


def write(root: str, name: str, data: t.Mapping[str, t.Any]) -> str:
    """Store ``data`` as the receipt ``name`` and return its path; durable once this returns.

    :raises SparkforgeError: where it cannot be written; an older receipt is then still there.
    """
    path = path_of(root, name)
    text = json.dumps(data, indent=2, sort_keys=True) + "\n"
    write_file(path, text.encode("ascii"))
    return path


def read(root: str, name: str) -> dict[str, t.Any] | None:
    """Return the receipt ``name``; None where there is none, or one that is not a JSON object.

    A damaged receipt vouches for nothing, so it counts as none: the work it stood for is done again.
    """
    try:
        with open(path_of(root, name), "rb") as stream:
            data = json.loads(stream.read().decode("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed(f"The receipt {path_of(root, name)} cannot be read", error) from error
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def remove(root: str, name: str) -> bool:
    """Remove the receipt ``name``; tell whether there was one. An emptied receipts directory goes too."""
    path = path_of(root, name)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _failed(f"The receipt {path} cannot be removed", error) from error
    fsync_directory(os.path.dirname(path))
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))
    return True


def write_file(path: str, content: bytes, mode: int = 0o644) -> None:
    """Put ``content`` at ``path`` atomically: a temporary file beside, synced, renamed over the old one.

    :param mode: permission bits, whatever the umask is.
    :raises SparkforgeError: where that fails; the old file is then untouched.
    """
    directory = os.path.dirname(path)
    temporary = _beside(path)
    try:
        make_directories(directory)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fchmod(stream.fileno(), mode)
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        fsync_directory(directory)
    except OSError as error:
        raise _failed(f"{path} cannot be written", error) from error


def switch_symlink(link: str, target: str) -> None:
    """Make ``link`` a symlink to ``target`` in one step: no reader ever finds it missing.

    :raises SparkforgeError: where ``link`` is something else than a symlink, or cannot be replaced.
    """
    try:
        if not stat.S_ISLNK(os.lstat(link).st_mode):
            raise SparkforgeError(
                f"{link} is not a symlink and was not made by sparkforge.",
                "Move it out of the way and run again.",
                path=link,
            )
    except FileNotFoundError:
        pass
    temporary = _beside(link)
    try:
        make_directories(os.path.dirname(link))
        os.symlink(target, temporary)
        try:
            os.replace(temporary, link)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        fsync_directory(os.path.dirname(link))
    except OSError as error:
        raise _failed(f"The symlink {link} cannot be switched to {target}", error) from error


def make_directories(path: str) -> list[str]:
    """Make ``path`` and its missing parents, mode 0755, durable; return those made, the outermost first."""
    missing: list[str] = []
    current = os.path.abspath(path)
    while not os.path.isdir(current):
        missing.append(current)
        current = os.path.dirname(current)
    made: list[str] = []
    for directory in reversed(missing):
        try:
            os.mkdir(directory)
        except FileExistsError:  # another run made it in the meantime
            continue
        os.chmod(directory, 0o755)  # noqa: S103 - whoever uses the libraries must be able to reach them
        fsync_directory(os.path.dirname(directory))
        made.append(directory)
    return made


def fsync_directory(path: str) -> None:
    """Make the names in the directory ``path`` durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(path: str) -> None:
    """Make every file and name below the directory ``path`` durable, before a receipt vouches for them."""
    for directory, _names, files in os.walk(path):
        for name in files:
            file = os.path.join(directory, name)
            if os.path.islink(file):
                continue
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        fsync_directory(directory)


@contextlib.contextmanager
def lock(root: str, name: str, wait: float = 900.0) -> t.Iterator[None]:
    """Hold ``<root>/.<name>.lock``, so that two runs on one host do the work one after the other.

    The lock ends with the process that holds it, however that ends; the file goes with it, so that nothing
    is left behind.

    :param wait: seconds to wait for another run.
    :raises SparkforgeError: where another run holds the lock for longer than that.
    """
    path = os.path.join(root, f".{name}.lock")
    deadline = time.monotonic() + wait
    try:
        made: list[str] = []
        descriptor = None
        while descriptor is None:
            made += make_directories(root)
            # None: the run that had made the directory has taken it away again.
            with contextlib.suppress(FileNotFoundError):
                descriptor = _locked(path, deadline, wait)
    except OSError as error:
        raise _failed(f"The lock {path} cannot be taken", error) from error
    try:
        yield
    finally:
        # Unlinked while it is held: who waits for it notices that the name has gone, and begins anew.
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(descriptor)
        for directory in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(directory)


def _locked(path: str, deadline: float, wait: float) -> int:
    """Return the descriptor of the locked file.

    :raises FileNotFoundError: where its directory has gone.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            if time.monotonic() >= deadline:
                raise SparkforgeError(
                    f"Another run (process {holder}) holds {path} for more than {wait:g} s.",
                    "Wait until it ends, or end that process, and run again.",
                    path=path,
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


def _beside(path: str) -> str:
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.{os.getpid()}-{secrets.token_hex(4)}")


def _failed(what: str, error: OSError) -> SparkforgeError:
    return SparkforgeError(
        f"{what}: {error.strerror or error}.",
        "Make sure that the task runs as root (become) and that the file system is writable and not full.",
        path=error.filename,
    )
