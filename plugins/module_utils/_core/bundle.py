"""Copy this project's code to a directory where it outlives the call that sent it.

Ansible sends a module as an archive that is deleted when the call returns and that other accounts may be unable to
read. A detached build and the proof's interpreter need their own copy of the entry module and all of its imports.
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
_IMPORT = re.compile(r"^[ \t]*from (\.+[\w.]*) import (\([^)]*\)|[^\n(#]+)(?:[ \t]*#.*)?$", re.MULTILINE)


def write(directory: str, sources: t.Mapping[str, str]) -> None:
    """Write the result of ``files`` into ``directory``."""
    for path, source in sources.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(source)


def archive(sources: t.Mapping[str, str]) -> bytes:
    """Pack files into an archive that Python or a shell can run (zipapp); the same sources give the same bytes."""
    buffer = io.BytesIO(b"#!/usr/bin/env python3\n")
    buffer.seek(0, io.SEEK_END)
    with zipfile.ZipFile(buffer, "w") as files_of:
        for name, text in sorted(sources.items()):
            # Omit timestamps and compression, because compressed data differs between versions of zlib.
            files_of.writestr(zipfile.ZipInfo(name), text)
    return buffer.getvalue()


@functools.cache
def files(*roots: str, ansible: bool = False) -> dict[str, str]:
    """Return the source, by path, of the modules ``roots`` and everything that they import, as packages.

    Imports are read from the source: imports inside functions are included, dynamic ones are not.

    :param roots: names of modules that import each other by relative names.
    :param ansible: whether to include the parts of Ansible that were sent along, for code that downloads.
    :raises ModuleNotFoundError: if a module does not exist.
    """
    sources: dict[str, str] = {}
    waiting = list(roots)
    visited = {""}
    while waiting:
        name = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        spec = importlib.util.find_spec(name)
        if spec is None or not hasattr(spec.loader, "get_source"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        source = spec.loader.get_source(name) or ""  # type: ignore[union-attr]
        path, parent = name.replace(".", "/"), name.rpartition(".")[0]
        is_package = spec.submodule_search_locations is not None
        sources[f"{path}/__init__.py" if is_package else f"{path}.py"] = source
        waiting += [parent, *_imports_of(source, name if is_package else parent)]
    archive = getattr(importlib.util.find_spec(__name__).loader, "archive", None)  # type: ignore[union-attr]
    if ansible and archive:
        with zipfile.ZipFile(archive) as sent_archive:
            names = [name for name in sent_archive.namelist() if name.startswith("ansible/") and name.endswith(".py")]
            sources.update((name, sent_archive.read(name).decode("utf-8")) for name in names)
    return sources


def _imports_of(source: str, package: str) -> t.Iterator[str]:
    """Yield the modules of this project that ``source``, a module in ``package``, imports.

    ``ast`` would take ten times as long, on every host, and only one form of import occurs here.
    """
    for relative, names in _IMPORT.findall(source):
        module = importlib.util.resolve_name(relative, package)
        yield module
        spec = importlib.util.find_spec(module)
        if spec and spec.submodule_search_locations is not None:
            members = [f"{module}.{name.split()[0]}" for name in names.strip("()").split(",") if name.strip()]
            yield from (member for member in members if importlib.util.find_spec(member))
