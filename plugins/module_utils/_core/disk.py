"""Write files, symlinks and directories so that each is either complete or absent, and remove them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import typing as t

from .errors import SparkforgeError


def open_regular(path: str, links: bool = False) -> t.BinaryIO:
    """Open a file in a directory that another account can write, but refuse a link or FIFO planted there.

    :param links: whether to follow a link; its target must also be a regular file.
    :raises OSError: if it is not a regular file, or cannot be opened.
    """
    return open(regular(path, links), "rb")


def regular(path: str, links: bool = False) -> int:
    """Return a file descriptor for the file that ``open_regular`` opens."""
    # Use O_PATH first: really opening a device has side effects, and opening a FIFO blocks.
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    except ValueError as error:
        raise FileNotFoundError(errno.ENOENT, "a path cannot contain a NUL byte", path) from error
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


def write_file(path: str, content: bytes, mode: int = 0o644, group: int | None = None) -> None:
    """Write ``content`` to ``path`` atomically: into a temporary file next to it, which is synced and renamed.

    :param mode: permission bits, regardless of the umask.
    :param group: the number of the file's group; defaults to that of the directory or of this process.
    :raises SparkforgeError: if that fails; the old file is then unchanged.
    """
    directory = os.path.dirname(path)
    try:
        temporary = temporary_path(path)
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
        fsync(directory)
    except OSError as error:
        raise io_error(f"{path} cannot be written", error) from error


def make_directories(path: str) -> list[str]:
    """Create ``path`` and its missing parents with mode 0755, durably; return the new directories, outermost first."""
    missing: list[str] = []
    current = os.path.abspath(path)
    while not os.path.isdir(current):
        missing.append(current)
        current = os.path.dirname(current)
    created: list[str] = []
    for directory in reversed(missing):
        try:
            os.mkdir(directory)
        except FileExistsError:  # another run created it in the meantime
            continue
        os.chmod(directory, 0o755)  # noqa: S103 - library users must reach them
        fsync(os.path.dirname(directory))
        created.append(directory)
    return created


def fsync(path: str) -> None:
    """Sync the content of a file, or the names in a directory, to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(path: str) -> None:
    """Sync every file and name in the directory ``path`` to disk, before a receipt vouches for them."""
    for directory, _names, files in os.walk(path):
        for name in files:
            file = os.path.join(directory, name)
            if not os.path.islink(file):
                fsync(file)
        fsync(directory)


def names(directory: str) -> list[str]:
    """Return the sorted names in ``directory``, or an empty list if it does not exist."""
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def remove_empty(directory: str) -> None:
    """Remove a directory if it exists and is empty."""
    with contextlib.suppress(OSError):
        os.rmdir(directory)


def delete(path: str) -> bool:
    """Remove a file or link; tell whether it existed."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise io_error(f"{path} cannot be removed", error) from error
    return True


def remove(path: str) -> None:
    """Remove ``path`` if it exists, whatever it is, even a tree with read-only directories.

    Descriptors keep concurrent changes from leading outside the tree. A nested directory is moved to the top before it
    is emptied, so a few descriptors are enough for any depth.
    """
    if os.path.islink(path) or not os.path.isdir(path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(path)
        return
    prefix = f".removed-{os.urandom(8).hex()}-"
    moved = 0
    with _enter(path) as top:
        waiting = _empty(top)
        while waiting:
            directory = waiting.pop()
            with contextlib.suppress(FileNotFoundError):
                with _enter(directory, top) as descriptor:
                    for name in _empty(descriptor):
                        moved += 1
                        # Enter it first, because a read-only directory cannot be moved.
                        with _enter(name, descriptor):
                            os.rename(name, f"{prefix}{moved}", src_dir_fd=descriptor, dst_dir_fd=top)
                        waiting.append(f"{prefix}{moved}")
                os.rmdir(directory, dir_fd=top)
    os.rmdir(path)


@contextlib.contextmanager
def _enter(path: str, parent: int | None = None) -> t.Iterator[int]:
    """Open a directory, after making it readable and writable."""
    # O_PATH also opens an unreadable directory.
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
    """Remove everything except directories from an open directory; return the names of the directories."""
    directories = []
    with os.scandir(directory) as entries:
        listing = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in listing:
        if is_directory:
            directories.append(name)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
    return directories


def temporary_directory(directory: str, prefix: str) -> str:
    """Create a private directory in a world-writable ``directory`` and return its path."""
    forget_killed(directory, prefix)
    path = os.path.join(directory, f"{prefix}{_writer_mark()}")
    os.mkdir(path, 0o700)
    return path


def temporary_path(path: str) -> str:
    """Return a temporary name next to ``path``."""
    directory, name = os.path.split(path)
    forget_killed(directory, f".{name}.")
    return os.path.join(directory, f".{name}.{_writer_mark()}")


def _writer_mark() -> str:
    return f"{os.getpid()}-{_start_of(os.getpid()):0>8}{os.urandom(4).hex()}"


def forget_killed(directory: str, prefix: str) -> None:
    """Remove temporary files with this prefix from writers that were killed, or whose host lost power."""
    temporary_name = re.compile(re.escape(prefix) + r"([0-9]{1,9})-([0-9a-f]{8})(?:[0-9a-f]{8})?")
    for other in names(directory):
        match = temporary_name.fullmatch(other)
        path = os.path.join(directory, other)
        with contextlib.suppress(OSError):
            if match and os.lstat(path).st_uid == os.geteuid() and not _is_writing(int(match[1]), match[2]):
                remove(path)


def _is_writing(process: int, began: str) -> bool:
    """Tell whether the process that created a temporary file may still be writing; its id may have been reused."""
    started = _start_of(process)
    if started:
        return started == began
    return process_exists(process)


def process_exists(process: int) -> bool:
    """Tell whether a process exists, even if the mount option hidepid= hides it."""
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def _start_of(process: int) -> str:
    """Return the start time of a process as eight hex digits, independent of the clock, or '' if it is hidden."""
    fields = process_fields(process)
    return f"{int(fields[19]):08x}"[-8:] if fields else ""


def process_fields(process: int) -> list[str]:
    """Return a process's stat fields from its state on (parent, group, session …), or [] if it is hidden or gone."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stream:
        # The process's name, which comes before these fields, may contain spaces and brackets.
        return stream.read().rpartition(")")[2].split()
    return []


def io_error(problem: str, error: OSError) -> SparkforgeError:
    """Return the error for a file that cannot be read or written."""
    remedy = "Make sure that the task runs as root (become) and that the file system is writable and not full."
    if error.errno == errno.EACCES and os.geteuid() == 0:
        remedy = (
            "Even root may not write there, as in a home on NFS with root_squash: use a disk of this host. Ansible puts"
            " its own files into ansible_remote_tmp, such as /var/tmp/.ansible-tmp."
        )
    return SparkforgeError(f"{problem}: {error.strerror or error}.", remedy)
