# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much of torch's own catalogue a verdict rests on: operators, overloads, and pairs of values of the grid's axes.

A check says it in its row: which table of axes it took (``table``), how many pairs that has (``of_pairs``), the
operators under each set of pairs that was computed of them, a set being the bits of a hexadecimal number (``pairs``),
the overloads that they called (``overloads``), and how many of both torch has (``of_operators``, ``of_overloads``).
"""

from __future__ import annotations

import typing as t

Row = t.Mapping[str, t.Any]
WORDS = {
    "operators": "operators of torch's list",
    "overloads": "overloads of torch's dispatcher",
    "pairs": "pairs of conditions of all operators, of which none takes each",
}
#: Names, and digits of a set of pairs, that are read; what was proven may have written anything.
MOST_NAMES, MOST_DIGITS = 20_000, 1_000


def is_sound(coverage: t.Any) -> bool:
    """Say whether a row's coverage has the form; an empty one is that of a check that says nothing of it."""
    if not isinstance(coverage, dict) or not coverage:
        return coverage == {}
    try:
        lists = [coverage["overloads"], *coverage["pairs"].values()]
        digits = [len(f"{int(pairs, 16):x}") for pairs in coverage["pairs"] if len(pairs) <= MOST_DIGITS]
        counts = [coverage[key] for key in ("of_pairs", "of_operators", "of_overloads")]
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    names = [name for group in lists if isinstance(group, list) for name in group]
    is_text = isinstance(coverage.get("table"), str) and all(isinstance(name, str) for name in names)
    is_complete = len(digits) == len(coverage["pairs"]) and all(isinstance(group, list) for group in lists)
    return is_text and is_complete and all(type(count) is int for count in counts) and len(names) <= MOST_NAMES


def _pairs(rows: t.Iterable[Row]) -> dict[str, int]:
    """Return the set of pairs of each operator, over some rows."""
    sets: dict[str, int] = {}
    for row in rows:
        for pairs, names in row["pairs"].items():
            for name in names:
                sets[name] = sets.get(name, 0) | int(pairs, 16)
    return sets


def _counts(rows: t.Sequence[Row]) -> dict[str, int]:
    sets = _pairs(rows)
    return {
        "operators": len(sets),
        "overloads": len({name for row in rows for name in row["overloads"]}),
        "pairs": sum(bin(pairs).count("1") for pairs in sets.values()),
    }


def sentence(check: str, row: Row, earlier: t.Sequence[t.Any]) -> str:
    """Return in words how much a check covered in this run and in the last ones, and of how much.

    :param row: what it covered.
    :param earlier: the same of each report before.
    """
    same = [other for other in earlier if other and is_sound(other) and other["table"] == row["table"]]
    now, together = _counts([row]), _counts([row, *same])
    of = {
        **{key: row[f"of_{key}"] for key in ("operators", "overloads")},
        "pairs": row["of_pairs"] * row["of_operators"],
    }
    said = ", ".join(f"{now[key]:,} of {of[key]:,} {words}" for key, words in WORDS.items())
    last = ", ".join(f"{together[key]:,} {key}" for key in WORDS)
    over = f" Over the last {len(same) + 1} runs: {last}." if same else ""
    return f"{check} looked at {said}.{over}"
