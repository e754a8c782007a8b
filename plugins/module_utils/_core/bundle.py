# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Code of this project, copied to where it outlives the call that brought it.

Ansible sends a module as an archive that is gone when the call ends and that another account may not read. A detached
build and the proof's interpreter need their code beside them: what they start with, and all that it imports.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import os
import re
import typing as t
import zipfile

PACKAGE = __name__.rpartition("._core.")[0]
_IMPORT = re.compile(r"^[ \t]*from (\.+[\w.]*) import (\([^)]*\)|[^\n(]+)$", re.MULTILINE)


def write(directory: str, sources: t.Mapping[str, str]) -> None:
    """Write what ``files`` returned below ``directory``."""
    for path, source in sources.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(source)


def archive(sources: t.Mapping[str, str]) -> bytes:
    """Return files as one that Python runs, and a shell too (zipapp): the same sources make the same bytes."""
    made = io.BytesIO(b"#!/usr/bin/env python3\n")
    made.seek(0, io.SEEK_END)
    with zipfile.ZipFile(made, "w") as files_of:
        for name, text in sorted(sources.items()):
            # Without the time of the day, and not compressed, which no two versions of zlib do alike.
            files_of.writestr(zipfile.ZipInfo(name), text)
    return made.getvalue()


@functools.cache
def files(*roots: str, ansible: bool = False) -> dict[str, str]:
    """Return the path and the source of each file of the modules ``roots`` and all that they import, as packages.

    Imports are read from the source: those within functions count too, those that are made of strings cannot.

    :param roots: names of modules that import each other by relative names.
    :param ansible: with what Ansible sent of itself, for code that downloads.
    :raises ModuleNotFoundError: if there is no such module.
    """
    found: dict[str, str] = {}
    waiting = list(roots)
    seen = {""}
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        spec = importlib.util.find_spec(name)
        if spec is None or not hasattr(spec.loader, "get_source"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        source = spec.loader.get_source(name) or ""  # type: ignore[union-attr]
        path, parent = name.replace(".", "/"), name.rpartition(".")[0]
        is_package = spec.submodule_search_locations is not None
        found[f"{path}/__init__.py" if is_package else f"{path}.py"] = source
        waiting += [parent, *_imported(source, name if is_package else parent)]
    archive = getattr(importlib.util.find_spec(__name__).loader, "archive", None)  # type: ignore[union-attr]
    if ansible and archive:
        with zipfile.ZipFile(archive) as sent:
            names = [name for name in sent.namelist() if name.startswith("ansible/") and name.endswith(".py")]
            found.update((name, sent.read(name).decode("utf-8")) for name in names)
    return found


def _imported(source: str, package: str) -> t.Iterator[str]:
    """Yield the modules of this project that ``source``, a module of ``package``, imports.

    Not by ``ast``, which takes ten times as long, on every host, for what is one form of statement here.
    """
    for relative, names in _IMPORT.findall(source):
        module = importlib.util.resolve_name(relative, package)
        yield module
        spec = importlib.util.find_spec(module)
        if spec and spec.submodule_search_locations is not None:
            members = [f"{module}.{name.split()[0]}" for name in names.strip("()").split(",") if name.strip()]
            yield from (member for member in members if importlib.util.find_spec(member))
