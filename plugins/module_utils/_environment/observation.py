"""The state of a host's environments of one name, from their receipts and a few directory listings."""

from __future__ import annotations

import grp
import os
import typing as t

from .._core import disk, receipts
from .._wheel.environment import LINKS, Made, Own, Receipt, installed_wheels, own_of
from .model import Facts, Paths

#: The directories created by earlier calls whose download is unfinished.
DOWNLOADING = ".download/directories.json"


def link(paths: Paths, name: str) -> str | None:
    """Return the target of ``current``, ``previous`` or ``staged``, whether it exists or not."""
    try:
        return os.readlink(paths.of(name))
    except OSError:
        return None


def own_receipt(paths: Paths, entry: str) -> Own | None:
    """Return the receipt in an environment, or None if the directory is debris."""
    return own_of(paths.of(entry))


def last_receipt(paths: Paths) -> Receipt:
    """Return the receipt of the current environment, or an empty one if there is none."""
    return t.cast("Receipt", receipts.read(paths.root, paths.receipt_name) or {})


def environments(paths: Paths) -> list[str]:
    return [
        entry
        for entry in disk.names(paths.directory)
        if not entry.startswith(".") and not os.path.islink(paths.of(entry)) and os.path.isdir(paths.of(entry))
    ]


def created(paths: Paths) -> Made:
    """Return everything else that was created for the environments of this name: ``directories``, a group, if any, and
    ``members_added``, the accounts added to each group.

    Until the first switch, only the receipt in the staged environment records this; until that receipt exists, only
    ``DOWNLOADING`` does.
    """
    owns = (own_receipt(paths, entry) or {} for entry in environments(paths))
    records: list[Made] = [last_receipt(paths), *(own.get("made") or {} for own in owns)]
    records.append(t.cast("Made", receipts.load(paths.of(DOWNLOADING)) or {}))
    added: dict[str, list[str]] = {}
    for record in records:
        for group, names in (record.get("members_added") or {}).items():
            added[group] = list(dict.fromkeys([*added.get(group, []), *names]))
    creator: Made = next((record for record in records if record.get("group_created")), Made())
    return {
        "directories": list(dict.fromkeys(path for record in records for path in record.get("directories", []))),
        "group": creator.get("group"),
        "group_created": bool(creator),
        "members_added": added,
    }


def group_of(name: str) -> grp.struct_group | None:
    try:
        return grp.getgrnam(name)
    except KeyError:
        return None


def members_of(name: str | None) -> list[str]:
    group = group_of(name) if name else None
    return sorted(group.gr_mem) if group else []


def summary(paths: Paths) -> Facts:
    """Return the host's current state, for the diff."""
    current, previous, staged = (link(paths, name) for name in LINKS)
    receipt = last_receipt(paths)
    if current is None and not receipt and staged is None:
        return {}
    # The latest environment is the staged one, if there is one.
    latest = staged or current
    own = (own_receipt(paths, latest) if latest else None) or {}
    return {
        "current": current,
        "previous": previous,
        "staged": staged,
        "environments": environments(paths),
        "python": own.get("python"),
        "requirements": own.get("requirements", []),
        "wheels": [wheel.file for wheel in installed_wheels(own)],
        "library_paths": own.get("library_paths", []),
        "environment": own.get("environment", {}),
        "group": receipt.get("group"),
        "members": members_of(receipt.get("group")),
        "files": [path for path in receipt.get("files", []) if os.path.lexists(path)],
    }
