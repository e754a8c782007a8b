"""The survey's grid, whose covering array lab/grid.py writes to ``grid.txt``, and patterns of operators' names."""

from __future__ import annotations

import re

from ... import resources

_TABLES = resources.tables("checks/survey/grid.txt")
#: The values on each axis; the first is that of a plain call.
AXES = resources.axes(_TABLES["axes"])
#: Each row holds the hexadecimal index of each axis's value.
ROWS = _TABLES["rows"].split()
#: The number of rows in a run.
A_DAY = 10
_PATTERNS = resources.tables("checks/survey/patterns.txt")


def patterns(names: str) -> list[re.Pattern[str]]:
    """Return the patterns of ``patterns.txt`` with these names."""
    return [re.compile("".join(_PATTERNS[name].split())) for name in names.split()]
