# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every rule of the shipped table is in order, is reached, and is shown by a real line."""

from __future__ import annotations

import pathlib
import re

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import rules, scan
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.scan import RULES, TOPICS, diagnose
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.table import Rule

from lab import troubleshooting

LOGS = pathlib.Path(__file__).parents[3] / "data" / "logs"
FRAGMENTS = sorted(LOGS.glob("*.log"))
EXAMPLES = [(rule, text) for topic in TOPICS for rule, own in troubleshooting.examples(topic).items() for text in own]


def said_of(text: str) -> set[str]:
    """Return the rules that the whole table tells of ``text``, having looked at what a person would read."""
    found = diagnose(text)
    assert len(found.lines) <= scan.LINES
    for said in (found.cause, found.remedy, *(f"{notice.cause} {notice.remedy}" for notice in found.notices)):
        assert not re.search(r"\{\w*\}|\[[^\]]*\{|  ", said)
    return {found.rule} if found.rule else {notice.rule for notice in found.notices}


@pytest.mark.parametrize(("rule", "text"), EXAMPLES, ids=[rule for rule, _text in EXAMPLES])
def test_no_earlier_rule_hides_the_one_that_an_example_is_of(rule: str, text: str) -> None:
    assert rule in said_of(text + "\n")


def test_each_rule_has_an_example_and_each_example_a_rule() -> None:
    assert list(dict.fromkeys(rule for rule, _text in EXAMPLES)) == [rule.name for rule in RULES]
    assert all(text for _rule, text in EXAMPLES)


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.stem)
def test_each_fragment_of_a_log_is_recognised(path: pathlib.Path) -> None:
    assert path.name.split(".")[0] in said_of(path.read_text(encoding="utf-8"))


def test_each_fragment_of_a_log_has_a_line_of_provenance() -> None:
    described = re.findall(r"^\| `([^`]+)` \| \S", (LOGS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == [path.name for path in FRAGMENTS]


def test_names_are_unique_and_known_where_they_are_named() -> None:
    names = [rule.name for rule in RULES]
    assert sorted(set(names)) == sorted(names)
    assert {name for rule in RULES for name in rule.when} | scan.KILLED | {scan.OUT_OF_MEMORY} <= set(names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_complete(rule: Rule) -> None:
    assert rule.keys and all(rule.keys)
    assert rule.regex.pattern and not rule.regex.search("")
    assert rule.exception is None or rule.exception.pattern
    assert rule.cause.endswith((".", "}"))
    assert rule.remedy.endswith(".")


def test_each_file_of_rules_is_in_the_table_and_holds_nothing_else() -> None:
    place = pathlib.Path(rules.__file__).parent
    assert {path.stem for path in place.glob("*.py")} - {"__init__"} == {t.__name__.rpartition(".")[2] for t in TOPICS}
    for path in place.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        shape = r'(?:#[^\n]*\n|\n)*"""[^"]+"""\n' + (
            "" if path.stem == "__init__" else r'\nRULES = r"""\n(?s:.*)\n"""\n'
        )
        assert re.fullmatch(shape, text), path.name
