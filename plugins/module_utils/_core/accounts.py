"""An unprivileged account, and a way to run code with its rights."""

from __future__ import annotations

import contextlib
import os
import pwd
import typing as t

from .errors import SparkforgeError


class Account:
    """The account that a build runs as.

    :param name: None for the current account.
    """

    def __init__(self, name: str | None) -> None:
        self.is_root = os.geteuid() == 0
        current = pwd.getpwuid(os.geteuid()).pw_name
        self.name = name or current
        if self.name != current and not self.is_root:
            raise SparkforgeError(
                f"{current} cannot start a build as {self.name}.", "Set become for this task, or set the option user."
            )
        if self.is_root and not name:
            raise SparkforgeError(
                "The build would run as root, which would give the source's build scripts full control of the host.",
                "Set the option user to an unprivileged account; it is created if missing.",
            )

    @property
    def entry(self) -> pwd.struct_passwd | None:
        """The account's entry, or None if it does not exist."""
        try:
            return pwd.getpwnam(self.name)
        except KeyError:
            return None

    @contextlib.contextmanager
    def acting(self) -> t.Iterator[None]:
        """Run the ``with`` block as the account, so that links planted by a build are not followed as root."""
        entry = self.entry
        if not self.is_root or entry is None or entry.pw_uid == 0:
            yield
            return
        groups = os.getgroups()
        os.setgroups(os.getgrouplist(self.name, entry.pw_gid))
        # Keep root only as the saved id, which the programs started here do not inherit: a shell with a real id of 0
        # would switch back to it.
        os.setresgid(entry.pw_gid, entry.pw_gid, 0)
        os.setresuid(entry.pw_uid, entry.pw_uid, 0)
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
            os.setgroups(groups)


def owner_of(path: str) -> str | None:
    """Return the name of the account that owns ``path``, or None if the path or the account does not exist."""
    try:
        return pwd.getpwuid(os.lstat(path).st_uid).pw_name
    except (OSError, KeyError):
        return "root" if os.geteuid() == 0 else None
