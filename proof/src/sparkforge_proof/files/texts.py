# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts in a binary that say which GPUs it is for: guards of kernels, and the CUDA that a compiler is of.

A kernel that is compiled for a GPU which it does not support often consists of a text and a trap: vLLM's wrappers of
CUTLASS print "This kernel only supports sm120.", PyTorch's attention "is for sm80-sm100, but was built for sm121".
Device code may be compressed, and its texts with it: only what can be read is found.
"""

from __future__ import annotations

import os
import re
import typing as t

from .._shared.module_utils._core import disk
from .._shared.module_utils._core.deadline import Deadline

#: Bytes that are searched at a time, bytes of a guard on each side of its word, and guards of one file.
_BLOCK, _LONGEST, _MOST = 1 << 20, 160, 50
_WORDS = (b"only", b"Only", b"require", b"is for sm", b"Cuda compilation tools, release ")
_RELEASE = re.compile(r"Cuda compilation tools, release (\d{1,3}\.\d{1,3}), V")
_GUARD = re.compile(
    r"\b(?:only|require[sd]?)\b[^.;:]{0,80}?(?<![\w.])(?:sm[ _-]?|compute[ _]|compute capability )[>=\[( ]*\d"
    r"|(?<![\w.])sm[ _-]?\d{2,3}[af]? only\b",
    re.I,
)
_NAMED = re.compile(
    r"(?<![\w.])(?:sm|compute)[ _-]?(?:>=? ?)?(\d{2,3})([afx+]?)(?!\w|\.\d)|(?<=\d)/(\d{2,3})([af]?)\b", re.I
)
_CAPABILITY = re.compile(r"compute capability[ =>]*\[?(\d{1,2}\.\d)(\+?)(?:, (\d{1,2}\.\d))?", re.I)
_BRACKET = re.compile(r"(?<![\w.])sm[ _-]?\[((?:\d{2,3}[af]?,? ?){1,8})\]", re.I)
_OR_NEWER = re.compile(r">=|\bat least\b|\bor (?:newer|later|higher|above|greater)\b", re.I)
_HALF_OPEN = re.compile(r"sm[ _-]?\[(\d{2,3}), ?(\d{2,3})\)|is for sm(\d{2,3})-sm(\d{2,3}), but was built for")
_ATTENTION = "but was built for"

#: Architectures as sm numbers, the first that is meant and the first that is not any more.
Range = tuple[int, int]
#: sm numbers that there are, or will be; other numbers in a text are something else.
_OLDEST, _NEWEST = 50, 200


class Texts(t.NamedTuple):
    """``guards``: what names the GPUs that a kernel is for; ``release``: of the CUDA that a compiler says it is of."""

    guards: list[str]
    release: str


def read(path: str, deadline: Deadline) -> Texts:
    """Return the texts of a regular file.

    :raises OSError: it cannot be read.
    """
    guards: dict[str, None] = {}
    release = ""
    with disk.open_regular(path, links=True) as stream:
        # What the end of a block cuts in two is in the next one.
        for offset in range(0, max(1, os.fstat(stream.fileno()).st_size), _BLOCK):
            deadline.check()
            stream.seek(max(0, offset - 2 * _LONGEST))
            block = stream.read(_BLOCK + 2 * _LONGEST)
            for word in _WORDS:
                position = block.find(word)
                while position >= 0 and len(guards) < _MOST:
                    text = _around(block, position)
                    release_named = _RELEASE.search(text)
                    release = release_named[1] if release_named else release
                    if ranges(text):
                        guards[text] = None
                    position = block.find(word, position + len(word))
    return Texts(list(guards), release)


def _around(block: bytes, position: int) -> str:
    """Return the text, which ends at zeros and at the ends of lines, that a byte is in."""
    before = re.split(rb"[\0\n]", block[max(0, position - _LONGEST) : position])[-1]
    behind = re.split(rb"[\0\n]", block[position : position + _LONGEST])[0]
    return (before + behind).decode("latin-1").strip()


def ranges(text: str) -> list[Range]:
    """Return the architectures that a guard admits; none for what is no guard, or names none that is understood."""
    half_open = _HALF_OPEN.search(text)
    if half_open:
        first, end = filter(None, half_open.groups())
        return [(int(first), int(end))]
    if not _GUARD.search(text):
        return []
    named = [match.groups("") for match in _NAMED.finditer(text)]
    names = [(one or other, letter or second) for one, letter, other, second in named]
    names += [name for group in _BRACKET.findall(text) for name in re.findall(r"(\d{2,3})([af]?)", group)]
    names += [(one, more) for first, more, second in _CAPABILITY.findall(text) for one in (first, second) if one]
    or_newer = _OR_NEWER.search(text)
    admitted: list[Range] = []
    for digits, letter in names:
        first = int(digits.replace(".", "")) * (10 if letter == "x" else 1)
        end = first - first % 10 + 10 if letter in ("x", "f") else first + 1
        if or_newer or letter == "+":
            end = _NEWEST
        if _OLDEST <= first < _NEWEST:
            admitted.append((first, end))
    return admitted


def trap(guards: t.Sequence[str], used: int, code: t.Collection[int]) -> str | None:
    """Return the guard that the code for a GPU fails, None where none does.

    A guard for another major counts only where no code of the file passes any: libraries hold kernels for several GPUs,
    and what calls them asks for the device first.

    :param used: of the file's architectures the one that the GPU takes, as its sm number.
    :param code: all of them.
    """
    admitted = {guard: ranges(guard) for guard in guards}

    def passes(guard: str, number: int) -> bool:
        return any(first <= number < end for first, end in admitted[guard])

    attention = [guard for guard in guards if _ATTENTION in guard]
    if attention and not any(passes(guard, used) for guard in attention):
        return attention[0]
    others = [guard for guard in guards if guard not in attention]
    for guard in others:
        if not passes(guard, used) and any(first // 10 == used // 10 for first, _end in admitted[guard]):
            return guard
    # Others than kernels say so before they start any, as torch's functions for one GPU do.
    kernels = [guard for guard in others if "kernel" in guard.lower()]
    if kernels and not any(passes(guard, number) for guard in guards for number in code):
        return kernels[0]
    return None
