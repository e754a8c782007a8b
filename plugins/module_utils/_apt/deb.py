"""Inspect a .deb with dpkg-deb, so that an invalid file is refused before the host changes."""

from __future__ import annotations

import os
import posixpath
import re

from .._core import directories
from .._core.errors import SparkforgeError
from .._fetch.http import is_html
from .._host.apt_state import paragraphs
from . import tools

_REMEDY = "Check the URL and download it again; a proxy or a login page may have answered instead."
_DISTRUST = "Do not use this file; get another copy from its vendor."
#: The mandatory fields and their valid values: deb-control(5), deb-version(7), and section 5.6.1 of Debian Policy. None
#: of them allows a line break, which could introduce another field.
_GRAMMAR = {
    "Package": re.compile(r"[a-z0-9][a-z0-9+.-]+"),
    "Version": re.compile(r"[0-9]+:[A-Za-z0-9.+:~-]+|[0-9][A-Za-z0-9.+~-]*"),
    "Architecture": re.compile(r"[a-z0-9][a-z0-9-]*"),
}
# drwxr-xr-x root/root         0 2025-08-13 10:00 ./var/
_ENTRY = re.compile(r"^(\S)\S{9}\S* \S+/\S+ +(\d{1,18})(?:,\d+)? +\S+ +\S+ (.*)$")
# tar needs four times the declared length of a name, and a .deb of a few KB may declare gigabytes.
_MEMORY = 1 << 30
# The space to leave free on the file system when unpacking.
_RESERVE = 64 << 20


def _dpkg_deb(option: str, path: str, fault: str) -> str:
    # A local repository with all of CUDA has several GB, and its contents come last. Threads would need more memory.
    command = ["env", "DPKG_DEB_THREADS_MAX=1", "dpkg-deb", option, path]
    status, text, errors = tools.ask(command, seconds=600, memory=_MEMORY)
    if status == 0:
        return text
    with open(path, "rb") as stream:
        why = "it is an HTML page" if is_html(stream.read(1024)) else " ".join(errors.split())[:300]
    raise SparkforgeError(f"{path} {fault}: {why}.", _REMEDY)


def control(path: str) -> dict[str, str]:
    """Return the control fields of a .deb, with names in lower case.

    :raises SparkforgeError: for a file that is not a .deb, or whose Package, Version or Architecture is missing or
        invalid.
    """
    fields = next(iter(paragraphs(_dpkg_deb("--field", path, "is not a Debian package"))), {})
    for name, grammar in _GRAMMAR.items():
        value = fields.get(name.lower())
        if not value:
            raise SparkforgeError(f"{path} is not a Debian package: it has no {name} field.", _REMEDY)
        if not grammar.fullmatch(value):
            raise SparkforgeError(f"{path} is not a Debian package: its {name} field is {value[:100]!r}.", _DISTRUST)
    return fields


def files(path: str) -> list[str]:
    """Return the path of each regular file in a .deb, beginning with "/"; this reads the whole .deb.

    :raises SparkforgeError: for a .deb that is truncated, contains a device or a path outside the tree, or does not fit
        on its file system.
    """
    paths = []
    total = 0
    for line in _dpkg_deb("--contents", path, "is truncated or damaged").splitlines():
        match = _ENTRY.match(line)
        kind, size, name = match.groups() if match else ("?", "0", line)
        total += int(size)
        name = name.split({"l": " -> ", "h": " link to "}.get(kind, "\0"))[0]
        if kind not in "-dlh" or ".." in name.split("/") or name.startswith("/"):
            raise SparkforgeError(
                f"{path} has an entry that is outside its tree, or is not a file, directory or link: {line!r}.",
                _DISTRUST,
            )
        if kind == "-":
            paths.append(posixpath.normpath("/" + name))
    remedy = "Free some space and run again; if the size is implausible, do not trust the file."
    directories.check_space(os.path.dirname(path), total, path, remedy, _RESERVE)
    return paths
