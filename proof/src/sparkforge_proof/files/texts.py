"""Find messages in a binary that name its GPUs (guards in kernels), and the CUDA release of a compiler.

A kernel compiled for an unsupported GPU often consists of a message and a trap: vLLM's CUTLASS wrappers print "This
kernel only supports sm120.", and PyTorch's attention "is for sm80-sm100, but was built for sm121". Messages in
compressed device code are not found.
"""

from __future__ import annotations

import os
import re
import typing as t

from .._shared.module_utils._core import disk
from .._shared.module_utils._core.deadline import Deadline

#: The number of bytes searched at a time, the maximum number of bytes in a guard on each side of its keyword, and the
#: maximum number of guards per file.
_BLOCK, _LONGEST, _MOST = 1 << 20, 160, 50
_KEYWORDS = (b"only", b"Only", b"require", b"is for sm", b"Cuda compilation tools, release ")
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

#: A half-open range of sm numbers.
Range = tuple[int, int]
#: The range of plausible sm numbers; other numbers in a text mean something else.
_OLDEST, _NEWEST = 50, 200


class Texts(t.NamedTuple):
    """``guards`` are messages that name a kernel's GPUs; ``release`` is a compiler's CUDA release, or ''."""

    guards: list[str]
    release: str


def read(path: str, deadline: Deadline) -> Texts:
    """Return the texts in a regular file.

    :raises OSError: if the file cannot be read.
    """
    guards: dict[str, None] = {}
    release = ""
    with disk.open_regular(path, links=True) as stream:
        # Blocks overlap, so that no text is split.
        for offset in range(0, max(1, os.fstat(stream.fileno()).st_size), _BLOCK):
            deadline.check()
            stream.seek(max(0, offset - 2 * _LONGEST))
            block = stream.read(_BLOCK + 2 * _LONGEST)
            for keyword in _KEYWORDS:
                position = block.find(keyword)
                while position >= 0 and len(guards) < _MOST:
                    text = _around(block, position)
                    release_named = _RELEASE.search(text)
                    release = release_named[1] if release_named else release
                    if ranges(text):
                        guards[text] = None
                    position = block.find(keyword, position + len(keyword))
    return Texts(list(guards), release)


def _around(block: bytes, position: int) -> str:
    """Return the text around a byte, up to the next zero byte or line break on each side."""
    before = re.split(rb"[\0\n]", block[max(0, position - _LONGEST) : position])[-1]
    after = re.split(rb"[\0\n]", block[position : position + _LONGEST])[0]
    return (before + after).decode("latin-1").strip()


def ranges(text: str) -> list[Range]:
    """Return the architectures that a guard allows, or [] for other texts."""
    half_open = _HALF_OPEN.search(text)
    if half_open:
        first, end = filter(None, half_open.groups())
        return [(int(first), int(end))]
    if not _GUARD.search(text):
        return []
    groups = [match.groups("") for match in _NAMED.finditer(text)]
    names = [(digits or more_digits, letter or other) for digits, letter, more_digits, other in groups]
    names += [name for group in _BRACKET.findall(text) for name in re.findall(r"(\d{2,3})([af]?)", group)]
    for first_name, plus, second_name in _CAPABILITY.findall(text):
        names += [(name, plus) for name in (first_name, second_name) if name]
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
    """Return the guard that the code for a GPU fails, or None if it passes all of them.

    A guard for another major architecture counts only if none of the file's code passes any guard, because libraries
    contain kernels for several GPUs and select one for the device.

    :param used: the sm number of the code in the file that the GPU uses.
    :param code: the sm numbers of all code in the file.
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
    # Messages that do not mention a kernel come from host code, which checks the device before it starts a kernel.
    kernels = [guard for guard in others if "kernel" in guard.lower()]
    if kernels and not any(passes(guard, number) for guard in guards for number in code):
        return kernels[0]
    return None
