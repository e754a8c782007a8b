# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs an environment's own interpreter with no rights: at its start already it runs whatever a wheel has put there.

A ``.pth`` file of a wheel is code that every start of that interpreter executes, with ``-I`` and without an import.
"""

from __future__ import annotations

import contextlib
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


def command(argv: t.Sequence[str], environment: t.Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs ``argv`` as nobody where this is root, and the variables to start it with.

    It sees those variables and no others of this process.

    :param argv: its first word is the program's absolute path.
    :raises SparkforgeError: there is no account nobody.
    """
    variables = {**_OWN, **environment}
    others = sorted(name for name in os.environ if name not in variables and name not in _KEPT)
    bare = ["env", *(word for name in others for word in ("-u", name)), *argv]
    if os.geteuid() != 0:
        return bare, variables
    try:
        entry = pwd.getpwnam(NOBODY)
    except KeyError as error:
        raise SparkforgeError(
            f"There is no account {NOBODY} on this host.", f"Add it: useradd --system {NOBODY}."
        ) from error
    groups = ",".join(map(str, sorted({entry.pw_gid} | groups_that_may_enter(argv[0]))))
    drop = ["setpriv", "--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--groups", groups]
    return [*drop, "--inh-caps=-all", "--no-new-privs", "--", *bare], variables


def groups_that_may_enter(path: str) -> set[int]:
    """Return the groups by which an account may enter the directories above ``path`` that are not open to everybody.

    The role python_env opens an environment to its group alone. Root's own group is not given to anybody.
    """
    closed = (found for _place, found in _above(path) if not found.st_mode & stat.S_IXOTH)
    return {found.st_gid for found in closed if found.st_mode & stat.S_IXGRP} - {0}


def check_open(path: str, what: str, remedy: str) -> None:
    """Refuse a path that nobody does not reach, whatever group it is given. It need not be there yet.

    :param what: is at ``path``, as the message calls it.
    :raises SparkforgeError: naming the directory that is closed.
    """
    if os.geteuid() != 0:
        return
    for place, found in _above(path):
        if not (found.st_mode & stat.S_IXOTH or (found.st_mode & stat.S_IXGRP and found.st_gid != 0)):
            raise SparkforgeError(
                f"{what} {path} lies in {place}, which only its owner can enter; an environment's interpreter runs as "
                f"{NOBODY}, never as root.",
                remedy,
                path=place,
            )


def _above(path: str) -> t.Iterator[tuple[str, os.stat_result]]:
    """Give each directory above ``path`` and above the file that it leads to, as far as they are there."""
    for place in (path, os.path.realpath(path)):
        while place != "/":
            place = os.path.dirname(place)
            with contextlib.suppress(FileNotFoundError):
                yield place, os.stat(place)
