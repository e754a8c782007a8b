# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who is to be a member of the group that may enter the environments.

People are added and never removed, but for those that were added here, at the removal. A group of the system that
this collection did not make, such as docker or sudo, may give its members far more than an environment: nobody is
added to it.
"""

from __future__ import annotations

import grp
import pwd
import typing as t

from .._core.errors import SparkforgeError

#: A group of this name is ours, whatever its number and whoever made it.
NAME = "sparkforge"
#: The first number of groups that people make (GID_MIN of login.defs).
FIRST = 1000


def missing(group: str, users: t.Sequence[str], login: str | None, made: bool) -> list[str]:
    """Return who is to be added to ``group``; without a group that is everybody.

    :param users: asked for by name.
    :param login: the account that Ansible connected as; it is asked for by nobody, and is left out where nobody may be
        added.
    :param made: the group is one that this collection made.
    :raises SparkforgeError: for an account that does not exist, or a group that nobody may be added to.
    """
    try:
        entry: grp.struct_group | None = grp.getgrnam(group)
    except KeyError:
        entry = None
    wanted = [name for name in dict.fromkeys([*users, *([login] if login else [])]) if name != "root"]
    absent = []
    for name in wanted:
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            if name not in users:
                continue
            raise SparkforgeError(
                f"The host has no account {name} to add to the group {group}.",
                "Correct sparkforge_users, or create the account first.",
            ) from None
        if entry is None or (account.pw_gid != entry.gr_gid and name not in entry.gr_mem):
            absent.append(name)
    if entry is None or made or group == NAME or entry.gr_gid >= FIRST or not absent:
        return absent
    asked = [name for name in absent if name in users]
    if asked:
        raise SparkforgeError(
            f"The group {group} (id {entry.gr_gid}) is a system group that this collection did not create, so "
            f"{', '.join(asked)} is not added: its members may have other privileges.",
            f"Set python_env_group to another group, such as {NAME}, or add them yourself:"
            f" gpasswd -a {asked[0]} {group}",
        )
    return []
