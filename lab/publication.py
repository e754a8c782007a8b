# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The URL of the published project, and the sentences that contain it; `python -m lab.publication` writes them.

The URL is `repository` in galaxy.yml, which is empty until the project is published; until then, no page says where to
clone, ask or report. lab/site.py and the sparkforge command read it directly.
"""

from __future__ import annotations

from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[1]
#: This program writes the part of a page between these two lines.
BEGIN, END = "<!-- published: begin -->\n", "<!-- published: end -->\n"
FORMS = """\
---
# Written by `python -m lab.publication`.
blank_issues_enabled: false
"""
LINKS = """\
contact_links:
  - name: A security problem
    url: {place}/security/advisories/new
    about: Please report it privately. SECURITY.md describes what happens next.
  - name: Errors in a log and their remedies
    url: {place}/blob/main/docs/troubleshooting.md
    about: Every failure that the collection recognises, with cause and remedy.
"""


def repository_url() -> str:
    """Return the URL of the published repository, or '' if there is none."""
    return str(yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["repository"]).rstrip("/")


def texts(url: str) -> dict[str, str]:
    """Return, for each page, the text that depends on the URL."""
    return {
        ".github/ISSUE_TEMPLATE/config.yml": FORMS + (LINKS.format(place=url) if url else ""),
        "README.md": f"Get it with `git clone {url}`, or unpack a release. Questions: <{url}/issues>.\n"
        if url
        else "Work in a clone or an unpacked release. Nothing is published yet: "
        "ask whoever gave you this copy, also with questions.\n",
        "SECURITY.md": f"""\
Report it privately at <{url}/security/advisories/new>. Describe what an attacker controls, what they gain, and how
to reproduce it; ideally with a test. Please give us 90 days before you publish.

We answer within a week, and say whether we can reproduce it, what it is, and when a release will fix it. The release
notes list it under *Security Fixes*, and credit you if you like.
"""
        if url
        else """\
The project is not published yet, so there is no address for private reports. Report it only to the person who gave you
this copy. Describe what an attacker controls, what they gain, and how to reproduce it; ideally with a test.
""",
    }


def page(now: str, text: str) -> str:
    """Return a page with its generated part replaced; a YAML page is replaced as a whole."""
    if now.startswith("---"):
        return text
    before, rest = now.split(BEGIN)
    return before + BEGIN + text + END + rest.split(END)[1]


def main() -> None:
    """Write the pages."""
    for name, text in texts(repository_url()).items():
        path = CHECKOUT / name
        path.write_text(page(path.read_text(), text))


if __name__ == "__main__":
    main()
