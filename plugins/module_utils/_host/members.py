"""The accounts to add to the group that can access the environments.

Accounts are added but never removed, except, on uninstallation, those that were added here. A system group that this
collection did not create, such as docker or sudo, may grant far more than access to an environment, so no account is
added to it.
"""

from __future__ import annotations

import grp
import pwd
import typing as t

from .._core.errors import SparkforgeError

#: A group with this name is ours, regardless of its number and of who created it.
NAME = "sparkforge"
#: The first number for groups created by administrators (GID_MIN in login.defs).
FIRST = 1000


def missing(group: str, users: t.Sequence[str], login: str | None, made: bool) -> list[str]:
    """Return the accounts to add to ``group``, which is all of them if the group does not exist.

    :param users: the accounts requested by name.
    :param login: the account that Ansible connected as. It was not requested, so it is left out if it cannot be added.
    :param made: whether this collection created the group.
    :raises SparkforgeError: for an account that does not exist, or a group that must not get new members.
    """
    try:
        entry: grp.struct_group | None = grp.getgrnam(group)
    except KeyError:
        entry = None
    accounts = [name for name in dict.fromkeys([*users, *([login] if login else [])]) if name != "root"]
    absent = []
    for name in accounts:
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
    requested_users = [name for name in absent if name in users]
    if requested_users:
        raise SparkforgeError(
            f"The group {group} (id {entry.gr_gid}) is a system group that this collection did not create, so "
            f"{', '.join(requested_users)} is not added: its members may have other privileges.",
            f"Set python_env_group to another group, such as {NAME}, or add them yourself:"
            f" gpasswd -a {requested_users[0]} {group}",
        )
    return []
