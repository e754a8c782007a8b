# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page of the playbooks' variables."""

from __future__ import annotations

from lab import playbooks


def test_the_committed_page_is_current() -> None:
    assert playbooks.main(["--check"]) == 0, "run python -m lab.playbooks"


def test_a_variable_s_row_has_its_default_its_choices_and_no_markup_of_ansible() -> None:
    text = playbooks.PAGE.read_text(encoding="utf-8")
    assert "| `status_format` | `table` | A table, or one line of JSON. One of `table`, `json`. |" in text
    assert "| `mirror_directory` | required |" in text and "C(" not in text and "V(" not in text
