"""The data files of this package, which may be in an archive."""

from __future__ import annotations

import pkgutil
import re

#: The tables that checks read in the interpreter under test.
OF_CHECKS = (
    *(f"checks/{path}.txt" for path in ("functions", "kernels/attention", "kernels/triton", "sizes/large")),
    *(f"checks/survey/{name}.txt" for name in ("bounds", "compositions", "grid", "panels", "patterns", "shapes")),
)
#: The template, style sheet and script for the page.
OF_PAGE = ("page/report.css", "page/report.html.j2", "page/report.js")


def text(path: str) -> str:
    """Return the content of a file, by its path within this package."""
    return (pkgutil.get_data(__package__ or "", path) or b"").decode("utf-8")


def tables(path: str) -> dict[str, str]:
    """Return the tables in a file by name, each after a line ``== NAME`` and without comments."""
    content = re.sub(r"^#.*\n", "", text(path), flags=re.MULTILINE)
    _before, *parts = re.split(r"^== (.*)\n", content, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2]))


def axes(table: str) -> dict[str, tuple[str, ...]]:
    """Return the values in a table by axis, whose lines are ``AXIS: VALUE; VALUE``."""
    lines = (line.partition(": ") for line in table.splitlines() if line)
    return {axis: tuple(values.split("; ")) for axis, _colon, values in lines}
