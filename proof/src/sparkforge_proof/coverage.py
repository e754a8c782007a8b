"""The survey's coverage of torch: operators, overloads, and the axes and pairs of conditions from the survey's grid.

The ``coverage`` of a row names the grid's table (``table``) and its number of pairs (``of_pairs``). ``pairs`` groups
the operators by the set of pairs computed for them, as bits of a hexadecimal number. ``overloads`` lists the overloads
that were called, and ``axes`` tells for each value of each axis whether it was. ``of_operators`` and ``of_overloads``
are torch's totals.
"""

from __future__ import annotations

import itertools
import typing as t

Row = t.Mapping[str, t.Any]
#: The maximum number of names, and of digits in a set of pairs: the environment under test may have written anything.
MOST_NAMES, MOST_DIGITS = 20_000, 1_000


def is_sound(coverage: t.Any) -> bool:
    """Tell whether the coverage of a row is valid; it is empty for checks without a grid."""
    if not isinstance(coverage, dict) or not coverage:
        return coverage == {}
    try:
        axes = [[*values.keys()] for values in coverage["axes"].values()]
        lists = [coverage["overloads"], *coverage["pairs"].values(), *axes]
        is_complete = all(len(pairs) <= MOST_DIGITS and int(pairs, 16) >= 0 for pairs in coverage["pairs"])
        counts = [coverage[key] for key in ("of_pairs", "of_operators", "of_overloads")]
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    names = [name for group in lists if isinstance(group, list) for name in group]
    is_text = isinstance(coverage.get("table"), str) and all(isinstance(name, str) for name in names)
    is_complete = is_complete and all(isinstance(group, list) for group in lists)
    return is_text and is_complete and all(type(count) is int for count in counts) and len(names) <= MOST_NAMES


def _counts(rows: t.Sequence[Row]) -> dict[str, int]:
    sets: dict[str, int] = {}
    for row in rows:
        for pairs, names in row["pairs"].items():
            for name in names:
                sets[name] = sets.get(name, 0) | int(pairs, 16)
    return {
        "operators": len(sets),
        "overloads": len({name for row in rows for name in row["overloads"]}),
        "pairs": sum(bin(bits).count("1") for bits in sets.values()),
    }


def _axes(rows: t.Sequence[Row]) -> list[str]:
    """Return for each axis how many of its values were computed."""
    listed = [(axis, value) for row in rows for axis, values in row["axes"].items() for value in values.items()]
    return [
        f"{axis} {len({value for name, (value, computed) in listed if computed and name == axis})} of {len(values)}"
        for axis, values in rows[0]["axes"].items()
    ]


def sentence(check: str, rows: t.Sequence[Row], earlier: t.Sequence[t.Sequence[t.Any]]) -> str:
    """Describe the coverage of a check's formats in this run and over the last runs.

    :param rows: the coverage of each format in this run.
    :param earlier: the same from each earlier report.
    """
    table = rows[0]["table"]
    same = [[row for row in run if row and is_sound(row) and row["table"] == table] for run in earlier]
    every = [*rows, *itertools.chain(*same)]
    now, together, axes, all_axes = _counts(rows), _counts(every), _axes(rows), _axes(every)
    all_pairs = rows[0]["of_pairs"] * rows[0]["of_operators"]
    last = ", ".join([f"{number:,} {key}" for key, number in together.items()] + [x for x in all_axes if x not in axes])
    count = len(list(filter(None, same)))
    over = f" Over the last {count + 1} runs: {last}." if count else ""
    return (
        f"{check} compared {now['operators']:,} of torch's {rows[0]['of_operators']:,} operators with references,"
        f" through {now['overloads']:,} of {rows[0]['of_overloads']:,} overloads in its dispatcher. It varied how"
        f" operators are called, such as the format and the layout of their inputs: {now['pairs']:,} of {all_pairs:,}"
        " pairs of two such conditions occurred. No operator accepts all pairs, and a run on another day uses others."
        f" Values that occurred: {', '.join(axes)}.{over}"
    )
