"""The figures that benchmarks/fortress.py counts in the documentation."""

import re

from benchmarks import fortress

CHAOS = """\
| scenario | point | fault | the run | then | result | commit |
|---|---|---|---|---|---|---|
| a | b | c | failed: d | old | {} | 1 |
| a | b | d | went through | new | survived | 1 |
| a | b | e |  |  | not made: no such disk | 1 |
"""


def test_every_page_has_its_figure() -> None:
    figures = {figure.page: figure for figure in fortress.figures()}
    assert len(figures) == len(fortress.COUNTED)
    assert figures["security.md"].value.endswith("of 55") and not figures["security.md"].missed
    assert not figures["mutants.md"].missed and not figures["evidence/secrets.md"].missed
    assert re.match(r"[\d,]+,\d{3} of \d+ readers; \d+ of \d+ statements", figures["evidence/fuzz.md"].value)
    assert re.fullmatch(r"[1-9]\d* of [1-9]\d*; \d+ are listed now", figures["chaos.md"].value)


def test_failures_and_missing_runs_are_missed_goals() -> None:
    assert fortress.survived(CHAOS.format("a process is left")).value.startswith("1 of 2;")
    assert fortress.survived(CHAOS.format("survived") * 100).missed is False
    assert fortress.survived(CHAOS.format("survived")).missed, "two are no 150"
    assert fortress.findings("| 1 | a | open | b |\n" * 55).missed
    assert fortress.killed("| apt | 10 | 9 |\n").missed and not fortress.killed("| apt | 100 | 95 |\n").missed
    assert fortress.fuzzed("| archive | 1,000 | 2.5 | 183 of 225 (81 %) |\n").missed
    assert fortress.secrets("3 not explained\n").missed and fortress.secrets("").missed
    assert fortress.owners("site, umask 022: 10 paths were left, 1 differ\n").value == "1 of 10 on 1 hosts"
    assert not fortress.owners("site, umask 022: 10 paths were left, 0 differ\n").missed
    assert fortress.owners("").missed
