# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""As whom something runs: an unprivileged account, and what is done with its rights."""

from __future__ import annotations

import contextlib
import os
import pwd
import typing as t

from .errors import SparkforgeError


class Account:
    """As whom a build runs.

    :param name: None for whoever runs this.
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
        """The account's entry; None while it does not exist."""
        try:
            return pwd.getpwnam(self.name)
        except KeyError:
            return None

    @contextlib.contextmanager
    def acting(self) -> t.Iterator[None]:
        """Do what follows as the account, so that no link that a build planted is followed with root's rights."""
        entry = self.entry
        if not self.is_root or entry is None or entry.pw_uid == 0:
            yield
            return
        groups = os.getgroups()
        os.setgroups(os.getgrouplist(self.name, entry.pw_gid))
        # Root stays the saved id alone, which no program that is started keeps: a shell that finds a real id of 0
        # would go back to it.
        os.setresgid(entry.pw_gid, entry.pw_gid, 0)
        os.setresuid(entry.pw_uid, entry.pw_uid, 0)
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
            os.setgroups(groups)


def owner_of(path: str) -> str | None:
    """Return the name of the account that owns ``path``; None where there is neither."""
    try:
        return pwd.getpwuid(os.lstat(path).st_uid).pw_name
    except (OSError, KeyError):
        return "root" if os.geteuid() == 0 else None
