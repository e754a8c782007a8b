# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Reads a .deb (deb(5)) before dpkg does, so that what is not one is refused while the host is as it was.

The ar container and control.tar in plain, gz, xz and bz2 form are read here; zst, which Ubuntu uses and
Python's standard library of 3.9 to 3.13 cannot read, goes through ``dpkg-deb``, the standard tool.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import tarfile
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

# Runs an argument list; returns exit status, stdout, stderr.
Runner = t.Callable[[t.List[str]], t.Tuple[int, str, str]]

AR_MAGIC = b"!<arch>\n"
_HEADER = 60
# What runs as root when the package is installed, and files that make dpkg do something else than unpack.
MAINTAINER_SCRIPTS = frozenset({"preinst", "postinst", "prerm", "postrm", "config", "triggers"})
_REMEDY = "Check the URL and download it again; a proxy or a login page may have answered in its place."
# A control.tar is a few kilobytes; more is an attempt to fill the memory.
_CONTROL_LIMIT = 32 * 1024 * 1024


class Member(t.NamedTuple):
    """One member of the ar container."""

    name: str
    offset: int
    size: int


def members(path: str) -> t.List[Member]:
    """Return the members of a .deb, having checked that it is one and that it is whole.

    :raises SparkforgeError: for a file that is not a .deb, a cut-off one, and an unknown format version.
    """
    size = os.path.getsize(path)
    found = []
    with open(path, "rb") as stream:
        head = stream.read(len(AR_MAGIC))
        if head != AR_MAGIC:
            what = "an HTML page" if head.lstrip()[:1] == b"<" else f"begins with {head!r}"
            raise _not_a_deb(path, f"it is {what}" if what.startswith("an") else f"it {what}")
        position = len(AR_MAGIC)
        while position < size:
            stream.seek(position)
            header = stream.read(_HEADER)
            if len(header) < _HEADER or header[58:60] != b"`\n":
                raise _not_a_deb(path, f"there is no ar header at byte {position}")
            try:
                length = int(header[48:58])
                name = header[:16].decode("ascii").strip().rstrip("/")
            except ValueError:
                raise _not_a_deb(path, f"the ar header at byte {position} is damaged") from None
            if length < 0 or position + _HEADER + length > size:
                raise SparkforgeError(
                    f"{path} is cut off: its member {name} ends at byte {position + _HEADER + length}, "
                    f"the file at byte {size}.",
                    "Download it again.",
                    path=path,
                )
            found.append(Member(name, position + _HEADER, length))
            position += _HEADER + length + length % 2
        names = [member.name for member in found]
        if not names or names[0] != "debian-binary":
            raise _not_a_deb(path, "its first member is not debian-binary")
        stream.seek(found[0].offset)
        version = stream.read(min(found[0].size, 16))
        if not version.startswith(b"2."):
            raise _not_a_deb(path, f"its format version is {version!r}")
    for part in ("control.tar", "data.tar"):
        if sum(name == part or name.startswith(f"{part}.") for name in names) != 1:
            raise _not_a_deb(path, f"it has not exactly one {part}")
    return found


def _not_a_deb(path: str, why: str) -> SparkforgeError:
    return SparkforgeError(f"{path} is not a Debian package: {why}.", _REMEDY, path=path)


def control(path: str, run: t.Optional[Runner] = None) -> t.Dict[str, str]:
    """Return the control fields of a .deb.

    :param run: runs ``dpkg-deb`` where control.tar is compressed with zst; None refuses such a file.
    :raises SparkforgeError: for what is not a .deb, or has no Package, Version or Architecture.
    """
    found = _control_member(path)
    if found.name.endswith(".zst"):
        if run is None:
            raise SparkforgeError(
                f"{path} is compressed with zst, which Python cannot read.",
                "Use `dpkg-deb --field`.",
                path=path,
            )
        status, text, stderr = run(["dpkg-deb", "--field", path])
        if status != 0:
            raise _not_a_deb(path, f"dpkg-deb says: {stderr.strip() or status}")
    else:
        text = _control_text(path, found)
    fields = parse_control(text)
    for name in ("Package", "Version", "Architecture"):
        if not fields.get(name):
            raise _not_a_deb(path, f"its control file has no {name} field")
    return fields


def _control_member(path: str) -> Member:
    return next(one for one in members(path) if one.name == "control.tar" or one.name.startswith("control.tar."))


def _control_text(path: str, member: Member) -> str:
    with open(path, "rb") as stream:
        stream.seek(member.offset)
        content = stream.read(min(member.size, _CONTROL_LIMIT))
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
            for entry in archive:
                is_control = posixpath.normpath(entry.name) == "control" and entry.isfile()
                if is_control and entry.size < _CONTROL_LIMIT:
                    source = archive.extractfile(entry)
                    if source is not None:
                        return source.read().decode("utf-8", "replace")
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise _not_a_deb(path, f"its {member.name} is damaged ({error})") from error
    raise _not_a_deb(path, f"its {member.name} holds no control file")


def parse_control(text: str) -> t.Dict[str, str]:
    """Return the fields of one deb822 stanza; continuation lines are joined by newlines."""
    fields: t.Dict[str, str] = {}
    last = None
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and last is not None:
            fields[last] += "\n" + line.strip()
        elif ":" in line:
            last, _colon, value = line.partition(":")
            fields[last] = value.strip()
        elif not line.strip() and fields:
            break
    return fields


def paths(path: str, run: Runner) -> t.List[t.Tuple[str, str]]:
    """Return (type, path) of each entry, the type as tar shows it ("d", "-", "l", "h", "c", "b", "p").

    The path begins with "/"; a link's target is left out. Entries are listed by ``dpkg-deb --contents``.

    :raises SparkforgeError: for an entry whose path leaves the tree, or a list that cannot be read.
    """
    members(path)
    status, text, stderr = run(["dpkg-deb", "--contents", path])
    if status != 0:
        raise _not_a_deb(path, f"dpkg-deb says: {stderr.strip() or status}")
    found = []
    for line in text.splitlines():
        # drwxr-xr-x root/root         0 2025-08-13 10:00 ./var/
        match = re.match(r"^(\S)\S{9}\S* \S+/\S+ +\d+(?:,\d+)? +\S+ +\S+ (.*)$", line)
        if not match:
            raise _not_a_deb(path, f"its contents cannot be read ({line!r})")
        kind, name = match.groups()
        if kind == "l":
            name = name.split(" -> ", 1)[0]
        elif kind == "h" or " link to " in name:
            kind, name = "h", name.split(" link to ", 1)[0]
        if ".." in name.split("/") or name.startswith("/"):
            raise SparkforgeError(
                f"{path} holds the path {name!r}, which leaves the tree.",
                "Do not use this file; ask its vendor for another.",
                path=path,
            )
        found.append((kind, posixpath.normpath("/" + name)))
    return found
