# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Regular expressions from a ledger or a host, some of which Python's ``re`` could match for years."""

from __future__ import annotations

import re
import typing as t

#: Characters of an expression and of a name that is matched, and repetitions in one alternative of an expression: the
#: time grows with the length of the name to that power.
LONGEST, LONGEST_NAME, REPETITIONS = 1000, 500, 3
_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\(([^()]*)\)")


def is_bounded(pattern: t.Any) -> bool:
    """Tell whether a text is an expression that is matched in bounded time.

    A group is not repeated, but may be left out (``?``), nothing refers back or looks around, and few things repeat.
    """
    if not isinstance(pattern, str) or len(pattern) > LONGEST or re.search(r"\\[1-9]|\(\?", pattern):
        return False
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    plain = _ATOM.sub("x", pattern)
    if re.search(r"\)[*+{]", plain):
        return False
    while _GROUP.search(plain):
        plain = _GROUP.sub(lambda group: re.sub(r"[^*+{]", "", group[1]), plain)
    return all(len(re.findall(r"[*+{]", alternative)) <= REPETITIONS for alternative in plain.split("|"))


def matches(pattern: str, name: str, end: str = r"\Z") -> bool:
    """Tell whether a bounded expression matches a whole name, or with an empty ``end`` its beginning.

    A name longer than any is not matched.
    """
    return len(name) <= LONGEST_NAME and re.match(f"(?:{pattern}){end}", name) is not None
