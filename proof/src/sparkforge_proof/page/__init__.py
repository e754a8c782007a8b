"""The HTML page for a report; only the module ``draw``, which renders ``report.html.j2``, needs jinja2.

``sparkforge-proof --html`` draws the page of one host, the collection that of one host or many. A report comes from a
host, so neither its form nor its text is trusted.
"""

from __future__ import annotations

import pkgutil

#: The template, style sheet and script for the page.
FILES = ("report.html.j2", "report.css", "report.js")


def resource(name: str) -> str:
    """Return the content of one of ``FILES``, even from an archive."""
    return (pkgutil.get_data(__name__, name) or b"").decode("utf-8")
