# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Runs an environment's own interpreter with no rights: at its start already it runs whatever a wheel has put there.

A ``.pth`` file of a wheel is code that every start of that interpreter executes, with ``-I`` and without an import.
"""

from __future__ import annotations

import os
import pwd
import stat
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

#: Owns nothing, by the rules of Debian's base-passwd.
NOBODY = "nobody"
#: What a process needs of the environment that it is started in; the rest may hold passwords, of a proxy for one.
_KEPT = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
_OWN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}


def command(argv: t.Sequence[str], environment: t.Mapping[str, str]) -> t.Tuple[t.List[str], t.Dict[str, str]]:
    """Return the command that runs ``argv`` as nobody where this is root, and the variables to start it with.

    It sees those variables and no others of this process.

    :param argv: its first word is the program's absolute path.
    """
    variables = {**_OWN, **environment}
    others = sorted(name for name in os.environ if name not in variables and name not in _KEPT)
    argv = ["env", *(word for name in others for word in ("-u", name)), *argv]
    if os.geteuid() != 0:
        return argv, variables
    entry = account(NOBODY)
    groups = ",".join(map(str, sorted({entry.pw_gid} | groups_that_may_enter(argv[2 * len(others) + 1]))))
    drop = ["setpriv", "--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--groups", groups]
    return [*drop, "--inh-caps=-all", "--no-new-privs", "--", *argv], variables


def account(name: str) -> pwd.struct_passwd:
    """Return the entry of an account that is not root's.

    :raises SparkforgeError: there is none of that name.
    """
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        entry = None
    if entry is None or entry.pw_uid == 0:
        raise SparkforgeError(
            f"There is no unprivileged account {name} on this host.", f"Add it: useradd --system {name}."
        )
    return entry


def groups_that_may_enter(path: str) -> t.Set[int]:
    """Return the groups by which an account may enter the directories above ``path`` that are not open to everybody.

    The role python_env opens an environment to its group alone. Root's own group is not given to anybody.
    """
    groups = set()
    while path != "/":
        path = os.path.dirname(path)
        found = os.stat(path)
        if not found.st_mode & stat.S_IXOTH and found.st_mode & stat.S_IXGRP:
            groups.add(found.st_gid)
    return groups - {0}
