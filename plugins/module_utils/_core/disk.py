# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files, symlinks and directories that are either whole or absent, and how they are removed."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import typing as t

from .errors import SparkforgeError


def open_regular(path: str, links: bool = False) -> t.BinaryIO:
    """Open a file of a directory that another account may write: a link there, or a pipe, is not what was meant.

    :param links: whether a link is followed all the same; what it leads to has to be a regular file, too.
    :raises OSError: it is not a regular file, or cannot be opened.
    """
    return open(regular(path, links), "rb")


def regular(path: str, links: bool = False) -> int:
    """Return a descriptor of what ``open_regular`` opens."""
    # A handle alone at first: to open a device is to use it, and to open a pipe to wait.
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    except ValueError as error:
        raise FileNotFoundError(errno.ENOENT, "no path has a zero byte", path) from error
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        try:
            return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(handle)


def read(path: str) -> bytes | None:
    """Return what is in a file; None if there is none.

    :raises SparkforgeError: it cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failed(f"{path} cannot be read", error) from error


def text(path: str) -> str | None:
    """Return the text of a file; None if there is none."""
    found = read(path)
    return None if found is None else found.decode("utf-8", "replace")


def tail(path: str, offset: int = 0) -> str:
    """Return what a file holds from an offset on, its last 64 KiB if it is long; nothing if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(offset, size - (64 << 10)))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""


def write_file(path: str, content: bytes, mode: int = 0o644, group: int | None = None) -> None:
    """Put ``content`` at ``path`` atomically: a temporary file beside, synced, renamed over the old one.

    :param mode: permission bits, whatever the umask is.
    :param group: number of the group that it gets; without it that of the directory or of this process.
    :raises SparkforgeError: if that fails; the old file is then untouched.
    """
    directory = os.path.dirname(path)
    try:
        temporary = beside(path)
        make_directories(directory)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                if group is not None:
                    os.fchown(stream.fileno(), -1, group)
                os.fchmod(stream.fileno(), mode)
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            remove(temporary)
            raise
        fsync_directory(directory)
    except OSError as error:
        raise failed(f"{path} cannot be written", error) from error


def switch_symlink(link: str, target: str) -> None:
    """Make ``link`` a symlink to ``target`` in one step: no reader ever finds it missing.

    :raises SparkforgeError: if ``link`` is something else than a symlink, or cannot be replaced.
    """
    try:
        if not stat.S_ISLNK(os.lstat(link).st_mode):
            raise SparkforgeError(
                f"{link} is not a symlink and was not made by sparkforge.", "Move it out of the way and run again."
            )
    except FileNotFoundError:
        pass
    try:
        temporary = beside(link)
        make_directories(os.path.dirname(link))
        os.symlink(target, temporary)
        try:
            os.replace(temporary, link)
        except BaseException:
            remove(temporary)
            raise
        fsync_directory(os.path.dirname(link))
    except OSError as error:
        raise failed(f"The symlink {link} cannot be switched to {target}", error) from error


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


def unsafe_for_metrics(directory: str) -> str:
    """Return why root does not write metrics into a directory, or an empty text: others could lead it elsewhere."""
    try:
        status = os.lstat(directory)
    except OSError:
        return f"The directory {directory} for Prometheus' metrics does not exist."
    if not stat.S_ISDIR(status.st_mode):
        return f"{directory}, for Prometheus' metrics, is a link or a file, and no directory."
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"Others than root may write the directory {directory} for Prometheus' metrics."
    return ""


def fsync_directory(path: str) -> None:
    """Make the names in the directory ``path`` durable."""
    fsync_file(path)


def fsync_file(path: str) -> None:
    """Make what is in the file ``path`` durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
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
            fsync_file(file)
        fsync_directory(directory)


def names(directory: str) -> list[str]:
    """Return what is in ``directory``, in order; nothing if there is none."""
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def unlink(path: str) -> None:
    """Remove a file or link if it is there."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)


def delete(path: str) -> bool:
    """Remove a file or link; tell whether there was one.

    :raises SparkforgeError: it cannot be removed.
    """
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise failed(f"{path} cannot be removed", error) from error
    return True


def remove(path: str) -> None:
    """Remove ``path``, whatever it is and if it is there; a tree with directories that are not writable too.

    By descriptors, so that nothing outside the tree is reached while others change it, and with a few of them however
    deep the tree is: a directory within another is moved up before it is emptied in its turn.
    """
    if os.path.islink(path) or not os.path.isdir(path):
        unlink(path)
        return
    prefix = f".removed-{os.urandom(8).hex()}-"
    moved = 0
    with _entered(path) as top:
        waiting = _empty(top)
        while waiting:
            directory = waiting.pop()
            with contextlib.suppress(FileNotFoundError):
                with _entered(directory, top) as inside:
                    for name in _empty(inside):
                        moved += 1
                        # Entered first: one that may not be written cannot be moved.
                        with _entered(name, inside):
                            os.rename(name, f"{prefix}{moved}", src_dir_fd=inside, dst_dir_fd=top)
                        waiting.append(f"{prefix}{moved}")
                os.rmdir(directory, dir_fd=top)
    os.rmdir(path)


@contextlib.contextmanager
def _entered(path: str, parent: int | None = None) -> t.Iterator[int]:
    """Open a directory, and make it one that may be read and changed."""
    # O_PATH: one that may not be read can be opened so.
    handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        with contextlib.suppress(OSError):
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _empty(directory: int) -> list[str]:
    """Remove what is no directory from an open directory; return the names of those that are."""
    directories = []
    with os.scandir(directory) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in found:
        if is_directory:
            directories.append(name)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
    return directories


def temporary_directory(place: str, prefix: str) -> str:
    """Make a directory of the caller's alone below ``place``, which everybody may write, and return its path."""
    forget_killed(place, prefix)
    path = os.path.join(place, f"{prefix}{_mark()}")
    os.mkdir(path, 0o700)
    return path


def beside(path: str) -> str:
    """Return a temporary name beside ``path``."""
    directory, name = os.path.split(path)
    forget_killed(directory, f".{name}.")
    return os.path.join(directory, f".{name}.{_mark()}")


def _mark() -> str:
    return f"{os.getpid()}-{_start_of(os.getpid()):0>8}{os.urandom(4).hex()}"


def forget_killed(directory: str, prefix: str) -> None:
    """Remove what is called so of writers that were killed, or whose host lost power."""
    ours = re.compile(re.escape(prefix) + r"([0-9]{1,9})-([0-9a-f]{8})(?:[0-9a-f]{8})?")
    for other in names(directory):
        match = ours.fullmatch(other)
        path = os.path.join(directory, other)
        with contextlib.suppress(OSError):
            if match and os.lstat(path).st_uid == os.geteuid() and not _is_writing(int(match[1]), match[2]):
                remove(path)


def _is_writing(process: int, began: str) -> bool:
    """Tell whether the process that made a temporary file may still be at it, and is no later one of its number."""
    started = _start_of(process)
    if started:
        return started == began
    # One that hidepid= hides is there as well.
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def _start_of(process: int) -> str:
    """Return eight digits of when a process began, which no clock moves; empty where that is not seen."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stream:
            return f"{int(stream.read().rpartition(')')[2].split()[19]):08x}"[-8:]
    except (OSError, ValueError, IndexError):
        return ""


def check_space(
    place: str, needed: int, what: str, remedy: str = "Free some space and run again.", reserve: int = 0
) -> None:
    """Refuse to begin what the file system of ``place`` has no room for.

    :param needed: bytes, beside the ``reserve`` that is to stay free.
    :raises SparkforgeError: with what is needed and what is free.
    """
    numbers = os.statvfs(place)
    free = numbers.f_bavail * numbers.f_frsize
    if needed + reserve > free:
        raise SparkforgeError(f"{what} needs {needed / 1e6:.1f} MB, and {place} has {free / 1e6:.1f} MB free.", remedy)


def failed(what: str, error: OSError) -> SparkforgeError:
    """Return what the user is told about a file that cannot be read or written."""
    remedy = "Make sure that the task runs as root (become) and that the file system is writable and not full."
    if error.errno == errno.EACCES and os.geteuid() == 0:
        remedy = (
            "Root itself has no right there, as on a home on NFS with root_squash: move it to a disk of this host. What"
            " Ansible sends goes where ansible_remote_tmp says, such as /var/tmp/.ansible-tmp."
        )
    return SparkforgeError(f"{what}: {error.strerror or error}.", remedy)
