# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HTML page of a report: ``draw`` fills ``report.html.j2``, and alone needs jinja2.

``sparkforge-proof --html`` shows one host, the collection's reports one or many. What a report says comes from a host
and is trusted in nothing: not in its form, not in its text.
"""

from __future__ import annotations

import pkgutil

#: What the page is made of, besides code.
FILES = ("report.html.j2", "report.css", "report.js")


def resource(name: str) -> str:
    """Return the text of one of these files, from a directory or from an archive."""
    return (pkgutil.get_data(__name__, name) or b"").decode("utf-8")
