"""The data files of this package, which may be in an archive."""

from __future__ import annotations

import pkgutil

#: The tables that checks read in the interpreter under test.
OF_CHECKS = ("checks/survey/bounds.txt", "checks/survey/panels.txt")
#: The template, style sheet and script for the page.
OF_PAGE = ("page/report.css", "page/report.html.j2", "page/report.js")


def text(path: str) -> str:
    """Return the content of a file, by its path within this package."""
    return (pkgutil.get_data(__package__ or "", path) or b"").decode("utf-8")
