"""Regular expressions from a ledger or a host, some of which could keep Python's ``re`` busy for years."""

from __future__ import annotations

import re
import typing as t

#: The maximum length of an expression and of a matched name, and the maximum number of repetitions in one alternative,
#: because the time grows with the length of the name to the power of that number.
LONGEST, LONGEST_NAME, REPETITIONS = 1000, 500, 3
_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\(([^()]*)\)")


def is_bounded(pattern: t.Any) -> bool:
    """Tell whether a text is an expression that is matched in bounded time.

    A group must not be repeated, but may be optional (``?``); back-references, lookarounds and many repetitions are
    refused.
    """
    if not isinstance(pattern, str) or len(pattern) > LONGEST or re.search(r"\\[1-9]|\(\?", pattern):
        return False
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    simplified = _ATOM.sub("x", pattern)
    if re.search(r"\)[*+{]", simplified):
        return False
    while _GROUP.search(simplified):
        simplified = _GROUP.sub(lambda group: re.sub(r"[^*+{]", "", group[1]), simplified)
    return all(len(re.findall(r"[*+{]", alternative)) <= REPETITIONS for alternative in simplified.split("|"))


def matches(pattern: str, name: str, end: str = r"\Z") -> bool:
    """Tell whether a bounded expression matches a complete name or, with an empty ``end``, its beginning.

    Names longer than any real one do not match.
    """
    return len(name) <= LONGEST_NAME and re.match(f"(?:{pattern}){end}", name) is not None
