"""The accounts that may use the environments of a given name: the members of a group, or every account."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import re

from .._core import receipts
from .._core.errors import SparkforgeError
from .._host import members
from .._wheel.environment import Made, Receipt
from .._wheel.requirement import clip
from . import model, observation
from .model import Options, Paths, Run


def is_wrong(options: Options) -> bool:
    """Tell whether the permissions or the group members differ from the options."""
    absent = missing_members(options)  # refuses accounts that cannot be added, even if everything else is still missing
    try:
        status = os.stat(options.paths.directory)
    except FileNotFoundError:
        return True
    if not options.group:
        return status.st_mode & 0o7777 != 0o755
    group = observation.group_of(options.group)
    return group is None or status.st_gid != group.gr_gid or status.st_mode & 0o7777 != 0o750 or bool(absent)


def missing_members(options: Options) -> list[str]:
    """Return the accounts to add to the group."""
    if not options.group:
        return []
    created = observation.created(options.paths)
    is_own_group = created["group_created"] and created["group"] == options.group
    return members.missing(options.group, options.users, options.login, is_own_group)


def group_that_may_enter(paths: Paths) -> str | None:
    status = os.stat(paths.directory)
    if status.st_mode & 0o7777 != 0o750:
        return None
    with contextlib.suppress(KeyError):
        return grp.getgrgid(status.st_gid).gr_name
    return None


def correct(options: Options, receipt: Receipt, run: Run) -> None:
    """Correct the group and permissions, and record the changes in ``receipt``."""
    group, directory = options.group, options.paths.directory
    if not group:
        os.chmod(directory, 0o755)  # noqa: S103 - everybody may use it
        return
    if observation.group_of(group) is None:
        rc, out, err = run(["groupadd", "--system", group], environ_update=model.ENGLISH)
        if rc != 0:
            raise SparkforgeError(
                f"The group {group} could not be created: {clip((err or out).strip())}.",
                "Create the group first, run as root (become), or leave group empty.",
            )
        receipt["group_created"] = True
    number = grp.getgrnam(group).gr_gid
    for name in missing_members(options):
        rc, out, err = run(["gpasswd", "--add", name, group], environ_update=model.ENGLISH)
        if rc != 0:
            raise SparkforgeError(
                f"{name} could not be added to the group {group}: {clip((err or out).strip())}.",
                "Add the account where that group is managed, or remove it from sparkforge_users.",
            )
        receipt["members_added"].setdefault(group, []).append(name)
    os.chown(directory, -1, number)
    os.chmod(directory, 0o750)  # noqa: S103 - the group may use it


def remove(paths: Paths, made: Made, run: Run) -> None:
    """Remove the members and the group that this environment added, unless another environment or user needs them."""
    for group, names in made["members_added"].items():
        if _is_used_by_another(paths, group):
            continue
        for member in names:
            if member in observation.members_of(group):
                run(["gpasswd", "--delete", member, group], environ_update=model.ENGLISH)
    name = made["group"]
    entry = observation.group_of(name) if name and made["group_created"] else None
    if entry is None or entry.gr_mem or any(user.pw_gid == entry.gr_gid for user in pwd.getpwall()):
        return
    if not _is_used_by_another(paths, entry.gr_name):
        run(["groupdel", entry.gr_name], environ_update=model.ENGLISH)


def _is_used_by_another(paths: Paths, group: str) -> bool:
    """Tell whether an environment of another name uses that group."""
    directory = os.path.join(paths.root, "receipts")
    return any(
        (receipts.load(os.path.join(directory, file)) or {}).get("group") == group
        for file in os.listdir(directory)
        if re.fullmatch(r"env-.*\.json", file) and file != f"{paths.receipt_name}.json"
    )
