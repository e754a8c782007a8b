# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes docs/troubleshooting.md from the table of diagnoses: python -m lab.troubleshooting."""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
import textwrap
import types
import typing as t

from lab import pages

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "troubleshooting.md"
EXAMPLES = pathlib.Path(__file__).parent / "diagnoses"

INTRODUCTION = """\
# Troubleshooting

This page has the answers of `sparkforge explain LOG`, and of the roles if a build, apt or pip fails: the line that
identifies the failure, its cause and its remedy. `explain` prints the name of the section here. A failure of apt or
pip returns the name of its rule as `diagnosis`, and a failed build returns it as `rule`. Find your failure by that
name, or search this page for words from the error. The values are those in the example. Each chapter covers the output
of one kind of program. If no rule matches, `explain` shows the first line that reports an error, says that its cause is
not known, and names what the line concerns (memory, attention, a registry …) with what most often helps there.

`explain` exits with 0 only if the message has this one cause, or other lines of the log decide between several. It
exits with 3, and calls the cause not known, for a message with several causes (the section says so) and for the
consequence of another failure.

`python -m lab.troubleshooting` writes this page from the rules in `plugins/module_utils/_diagnosis/rules/` and their
examples in `lab/diagnoses/`. To add a failure, add both; `__init__.py` in `rules/` describes how.
"""


#: Each rule in a topic, with its examples.
Rules = list[tuple[t.Any, list[str]]]


def examples(topic: types.ModuleType) -> dict[str, list[str]]:
    """Return the log lines that each rule in a topic must recognise, by rule name.

    Below ``[rule]``, the file has ``from`` and the printing program for each example, then the indented lines.
    """
    text = (EXAMPLES / f"{topic.__name__.rpartition('.')[2]}.txt").read_text(encoding="utf-8")
    return {
        rule: [
            re.sub(r"^    ", "", lines.rstrip("\n"), flags=re.MULTILINE)
            for lines in re.findall(r"^from .+\n((?:    .*\n|\n)+)", body, re.MULTILINE)
        ]
        for rule, body in re.findall(r"^\[(.+)\]\n((?:[^\[\n].*\n|\n)*)", text, re.MULTILINE)
    }


def page(topics: t.Iterable[tuple[types.ModuleType, Rules]]) -> str:
    """Return the page: a chapter for each topic, with a section for each of its rules."""
    parts = [INTRODUCTION]
    for topic, rules in topics:
        title, _blank, about = chapter(topic)
        parts.append(f"## {title}\n\n{about}\n")
        parts += [section(*rule) for rule in rules]
    return "\n".join(parts)


def chapter(topic: types.ModuleType) -> tuple[str, str, str]:
    """Return a topic's title, a blank line, and its description."""
    return inspect.cleandoc(topic.__doc__ or "").partition("\n\n")


def _scan() -> types.ModuleType:
    """Return the module that explains logs."""
    from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import scan

    return scan


def topics() -> list[tuple[types.ModuleType, Rules]]:
    """Return the table's topics, each with its rules and their examples."""
    sys.path.insert(0, str(ROOT / ".collections"))
    from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import table
    from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.topics import TOPICS

    return [(topic, [(rule, examples(topic)[rule.name]) for rule in table.load(topic)]) for topic in TOPICS]


def section(rule: t.Any, examples: t.Sequence[str]) -> str:
    """Return a rule's examples, and the cause and remedy for its first example."""
    lines = "\n".join(textwrap.dedent(example) for example in examples)
    diagnosis = _scan().diagnose(f"{examples[0]}\n")
    answer = next(row for row in (diagnosis, *diagnosis.notices) if row.rule == rule.name)
    cause, remedy = (re.sub(r"([*<])", r"\\\1", sentence) for sentence in (answer.cause, answer.remedy))
    cause += " The message has other causes, too." * bool(rule.uncertain)
    known = f"\n**Known from:** {', '.join(f'<{link}>' for link in rule.links)}\n" if rule.links else ""
    return f"### {rule.name}\n\n```text\n{lines}\n```\n\n{cause}\n\n**Remedy:** {remedy}\n{known}"


def main() -> int:
    """Write the page, or with ``--check`` tell whether it is current."""
    return pages.write(PAGE, page(topics()), "lab.troubleshooting", "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
