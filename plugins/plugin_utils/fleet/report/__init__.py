"""Host reports: validate and complete one (``form``), and read and merge those of a fleet (``fleet``).

The proof's ``page`` shows them. A report comes from a host, so neither its form nor its text is trusted.
"""

from __future__ import annotations

import json
import typing as t

from ....module_utils._core.verdict import FAIL, PASS, PROVEN, SKIP, UNPROVEN, WARN

#: The values of ``require``; a verdict also satisfies the values to its left.
REQUIREMENTS = ("none", UNPROVEN, PROVEN)

Report = dict[str, t.Any]


def count_words(counts: t.Mapping[str, int]) -> str:
    """Return ``61 pass, 0 fail, 9 skip``, including warnings if there are any."""
    return ", ".join(
        f"{counts[status]} {status}" for status in (PASS, WARN, FAIL, SKIP) if status != WARN or counts[WARN]
    )


def text(value: t.Mapping[str, t.Any]) -> str:
    """Return a report or a fleet as the text of its file."""
    return json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n"
