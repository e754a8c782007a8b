# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page of the ledger."""

from __future__ import annotations

from ansible_collections.sparkforge.dgx_spark.tools.forecast import ledger as reader

from lab import ledger


def test_the_committed_page_is_current() -> None:
    assert ledger.main(["--check"]) == 0, "run python -m lab.ledger"


def test_each_rule_has_a_section_with_its_sources() -> None:
    text = ledger.PAGE.read_text(encoding="utf-8")
    rules = reader.load().rules
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == [rule["id"] for rule in rules]
    assert all(source["url"] in text for rule in rules for source in rule["source"])
