"""Parse numbers and versions from external sources: wheels, CUDA, compilers, drivers."""

from __future__ import annotations

import itertools
import re


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers at the start of a version, or an empty tuple if it does not start with a number.

    ``2.9.1+cu130`` gives ``(2, 9, 1)``, ``1.0-rc1`` gives ``(1, 0)``, ``580.65.06-0ubuntu1`` gives ``(580, 65, 6)``.
    """
    match = re.match(r"v?(\d{1,18}(?:\.\d{1,18})*)", version.strip())
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def older(version: str, minimum: str) -> bool:
    """Tell whether the numbers in ``version`` are less than those in ``minimum``; 13.0 and 13.0.0 are equal."""
    pairs = itertools.zip_longest(numbers(version), numbers(minimum), fillvalue=0)
    return next((part < other for part, other in pairs if part != other), False)


def public(version: str) -> str:
    """Return a version without its local part, which identifies the build."""
    return version.partition("+")[0]


def is_whole(text: str) -> bool:
    """Tell whether ``text`` is a whole number that int() accepts; str.isdigit() also accepts ² and any length."""
    return len(text) <= 18 and text.isascii() and text.isdigit()
