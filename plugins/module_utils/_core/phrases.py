"""Format counts, lists, differences and the time."""

from __future__ import annotations

import time
import typing as t


def now() -> str:
    """Return the current time in the format of receipts, reports and states."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def some(items: t.Sequence[str], most: int = 12, between: str = ", ") -> str:
    """Return the first items and the number of remaining ones."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def last_line(printed: str) -> str:
    """Return the last line of a program's output that is not blank, with single spaces, or ''."""
    return " ".join(printed.strip().rpartition("\n")[2].split())


def diff(name: str, before: str, after: str) -> dict[str, str]:
    """Return one entry for ``--diff``."""
    return {"before_header": name, "after_header": name, "before": before, "after": after}
