# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pkg-config files of an unpacked archive: where they lie, and true copies of those that name another place."""

from __future__ import annotations

import os
import re
import typing as t

from .._core import disk
from .redist_plan import LIBRARY_DIRECTORIES

#: Where NVIDIA's archives keep these; the first that exists counts.
DIRECTORIES = ("lib/pkgconfig", "lib64/pkgconfig", "share/pkgconfig", "pkg-config", "pkgconfig")

#: Where the corrected copies of pkg-config files lie within the unpacked archive.
CORRECTED = "share/sparkforge/pkgconfig"


def corrected(text: str, path: str, directory: str) -> str | None:
    """Return a pkg-config file that is true for an archive unpacked at ``path``; None where it is already.

    :param directory: where the file is, for ``${pcfiledir}``.
    """
    values = {"pcfiledir": directory}
    lines: list[str] = []
    truth = {
        "prefix": path,
        "exec_prefix": path,
        "cudaroot": path,
        "libdir": f"{path}/lib",
        "includedir": f"{path}/include",
    }
    for line in text.splitlines():
        match = re.match(r"\s*([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$", line)
        if match:
            name, value = match.groups()
            resolved = re.sub(r"\$\{([^}]*)\}", lambda found: values.get(found.group(1), ""), value)
            inside = os.path.normpath(resolved) == path or os.path.normpath(resolved).startswith(path + "/")
            if name in truth and (not inside or os.path.normpath(resolved) not in _allowed(name, path)):
                resolved = truth[name]
                line = f"{name}={resolved}"
            values[name] = resolved
        lines.append(line)
    new = "\n".join(lines) + "\n"
    return None if new.splitlines() == text.splitlines() else new


def _allowed(name: str, path: str) -> tuple[str, ...]:
    if name == "libdir":
        return tuple(f"{path}/{directory}" for directory in LIBRARY_DIRECTORIES)
    if name == "includedir":
        return (f"{path}/include",)
    return (path,)


def write_corrected(staged: str, path: str, directories: t.Sequence[str]) -> dict[str, int]:
    """Write true copies of the pkg-config files that name another place; return their paths and sizes."""
    written: dict[str, int] = {}
    for directory in directories:
        for name in sorted(os.listdir(f"{staged}/{directory}")):
            file = f"{staged}/{directory}/{name}"
            if not name.endswith(".pc") or not os.path.isfile(file):
                continue
            with open(file, encoding="utf-8", errors="surrogateescape") as stream:
                text = corrected(stream.read(), path, f"{path}/{directory}")
            copy = f"{CORRECTED}/{name}"
            if text is not None and copy not in written:
                content = text.encode("utf-8", "surrogateescape")
                disk.write_file(f"{staged}/{copy}", content)
                written[copy] = len(content)
    return written
