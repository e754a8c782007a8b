# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes docs/update-rules.md from the ledger: python -m lab.ledger."""

from __future__ import annotations

import argparse
import pathlib
import sys
import typing as t

from lab import pages

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "update-rules.md"

INTRODUCTION = """\
# What upgrades broke

`sparkforge forecast` judges the next upgrade of a Spark by these rules. A rule's verdict is `hold` (keep these packages
back, or do not begin the upgrade), `steps` (take the steps before or after the upgrade) or `note` (for information
only). The date after a source marked (read) is the day on which the source was read; otherwise it is the source's own.

`python -m lab.ledger` writes this page from `roles/forecast/files/ledger/`. To add a rule, add a file with both
examples.
"""


def page(rules: t.Iterable[t.Mapping[str, t.Any]]) -> str:
    """Return the page, with a section for each rule."""
    return "\n".join([INTRODUCTION, *(section(rule) for rule in rules)])


def section(rule: t.Mapping[str, t.Any]) -> str:
    """Return the section for a rule."""
    span = [f"from {rule['from']}"] if rule.get("from") else []
    span += [f"to {rule['to']}"] if rule.get("to") else []
    order = f", {rule['order']} the upgrade" if rule.get("order") else ""
    rows = [
        f"## {rule['id']}",
        f"**{rule['title'].strip()}.** ({rule['verdict']}{order})",
        f"{rule['changes'].strip()}{' (' + ' '.join(span) + ')' if span else ''}",
        f"**Affected:** {rule['hosts'].strip()}",
        f"**Effect:** {rule['breaks'].strip()}",
        f"**Remedy:** {rule['remedy'].strip()}",
        f"**Resolved when:** {rule['over']['test'].strip()}",
        "\n".join(f"* [{source['title']}]({source['url']}), {source['date']}" for source in rule["source"]),
    ]
    return "\n\n".join(rows) + "\n"


def main(argv: t.Sequence[str] | None = None) -> int:
    """Write the page, or with ``--check`` tell whether the page is current."""
    parser = argparse.ArgumentParser(prog="python -m lab.ledger", description="Write the page of the ledger.")
    parser.add_argument("--check", action="store_true", help="only tell whether the page is current")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(ROOT / ".collections"))
    from ansible_collections.sparkforge.dgx_spark.tools.forecast import ledger

    return pages.write(PAGE, page(ledger.load().rules), "lab.ledger", options.check)


if __name__ == "__main__":
    sys.exit(main())
