"""Check a directory before anything is written there, and switch the link to one."""

from __future__ import annotations

import os
import stat

from . import disk
from .errors import SparkforgeError


def check_space(
    directory: str, needed: int, subject: str, remedy: str = "Free some space and run again.", reserve: int = 0
) -> None:
    """Refuse to start an operation that does not fit on the file system of ``directory``, which need not exist yet.

    :param needed: bytes, in addition to the ``reserve`` that must remain free.
    :raises SparkforgeError: with the needed and the free space.
    """
    directory = os.path.abspath(directory)
    while not os.path.exists(directory):
        directory = os.path.dirname(directory)
    numbers = os.statvfs(directory)
    free_bytes = numbers.f_bavail * numbers.f_frsize
    if needed + reserve > free_bytes:
        raise SparkforgeError(
            f"{subject} needs {needed / 1e6:.1f} MB, and {directory} has {free_bytes / 1e6:.1f} MB free.", remedy
        )


def unsafe_for_metrics(directory: str) -> str:
    """Return why root must not write metrics into a directory (another account could redirect the write), or ''."""
    try:
        status = os.lstat(directory)
    except OSError:
        return f"The directory {directory} for Prometheus' metrics does not exist."
    if not stat.S_ISDIR(status.st_mode):
        return f"{directory}, for Prometheus' metrics, is a link or a file, not a directory."
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"Accounts other than root may write to the directory {directory} for Prometheus' metrics."
    return ""


def switch_symlink(link: str, target: str) -> None:
    """Make ``link`` a symlink to ``target`` atomically, so that readers always find it.

    :raises SparkforgeError: if ``link`` is not a symlink, or cannot be replaced.
    """
    try:
        if not stat.S_ISLNK(os.lstat(link).st_mode):
            raise SparkforgeError(
                f"{link} is not a symlink and was not made by sparkforge.", "Move it out of the way and run again."
            )
    except FileNotFoundError:
        pass
    try:
        temporary = disk.temporary_path(link)
        disk.make_directories(os.path.dirname(link))
        os.symlink(target, temporary)
        try:
            os.replace(temporary, link)
        except BaseException:
            disk.remove(temporary)
            raise
        disk.fsync(os.path.dirname(link))
    except OSError as error:
        raise disk.io_error(f"The symlink {link} cannot be switched to {target}", error) from error
