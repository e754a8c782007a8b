# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a failing log says: one cause, one remedy, and the ten lines that matter.

A log is read once, in pieces of about 1 MiB, and what of it is kept is bounded whatever its size. Each rule keeps the
first place where it matches; of the rules that matched, the one that is first in the table wins, wherever in the
log it matched: a log with ``Killed signal terminated program cc1plus`` and, later, ``ninja: build stopped: subcommand
failed`` is the former. Hence the order of the table: what names one known defect, then what names a kind of failure,
then what any failure may print.
"""

from __future__ import annotations

import collections
import functools
import re
import typing as t
from dataclasses import dataclass, field

from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import names
from .rules import (
    apt,
    cmake,
    compile as compiling,
    cuda,
    environment,
    general,
    git,
    load,
    memory,
    network,
    notices,
    pip,
    toolchain,
    torch,
)
from .table import Rule, load as read_rules

Log = t.Union[str, bytes, t.Iterable[t.Union[str, bytes]]]

#: How many lines a diagnosis shows, and how many of them stand before the one that matched.
LINES = 10
BEFORE = 3
#: Characters of one shown line: the command line of a C++ compilation alone has thousands.
LINE_WIDTH = 300
#: Different findings of notices that are kept.
NOTICES = 20

# Lines that are looked at for one key: a log of nothing but errors must not take hours.
_TRIES = 50_000
# Lines that are kept on both sides of one that may match: blank ones among them are not shown.
_AROUND = 3 * LINES
# Bytes: what is read at once, what of a line is looked at (the rest is the command line of a compiler), what a
# pattern sees after the line where it begins (CMake folds its messages), and what is kept around a line.
_CHUNK = 1 << 20
_LINE = 1000
_WINDOW = 2048
_CONTEXT = 32 << 10


#: The files of the table in its order, which decides between rules that match one log.
TOPICS = (
    memory, cuda, torch, toolchain, environment, network, git, pip, cmake, compiling, load, apt, general, notices
)  # fmt: skip
RULES = read_rules(*TOPICS, facts=names.FACTS)

#: Rules that say that a signal 9 ended a program, and the one that says that memory was refused.
KILLED = frozenset({"compiler-killed", "linker-killed", "process-killed"})
OUT_OF_MEMORY = "out-of-memory"


@dataclass(frozen=True)
class Notice:
    """What a log tells beside its failure."""

    rule: str
    cause: str
    remedy: str


@dataclass(frozen=True)
class Diagnosis:
    """What a log says.

    :ivar rule: the name of the rule that won, None where no rule matched.
    :ivar lines: at most ten lines of the log around the place that matters, without passwords of URLs.
    :ivar first_error: the first line that reports an error, None where none does.
    :ivar others: the names of the other rules that matched, in the table's order.
    """

    rule: str | None
    cause: str
    remedy: str
    lines: list[str]
    first_error: str | None
    others: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def diagnose(log: Log) -> Diagnosis:
    """Tell what ``log`` says.

    :param log: a text, or pieces of one: the lines of an open file, or chunks of any size. The pieces are
        joined as they are, so lines need their line ends.
    """
    scan = _Scan()
    for piece in (log,) if isinstance(log, (str, bytes)) else log:
        scan.feed(piece.encode("utf-8", "replace") if isinstance(piece, str) else piece)
    return scan.finish()


def diagnose_file(path: str, start: int = 0) -> Diagnosis:
    """Tell what the file ``path`` says from the byte ``start`` on.

    :param start: where the phase or the attempt that failed began: what went wrong in an earlier one, and was
        fixed, must not be blamed.
    :raises SparkforgeError: if the file cannot be read.
    """
    try:
        with open(path, "rb", buffering=0) as stream:
            stream.seek(start)
            return diagnose(iter(lambda: stream.read(_CHUNK), b""))
    except OSError as error:
        raise SparkforgeError(
            f"The log {path} cannot be read: {error.strerror}.",
            "Make sure that the task runs as root or as the build user.",
        ) from error


# ---------------------------------------------------------------------------------------------------------------
# Lines that report an error, for failures that the table does not know.

_ERROR_KEYS = (
    *(
        b"rror:",
        b"rror :",
        b"nvcc error",
        b"CMake Error",
        b"MemoryError",
        b"fatal:",
        b"fatal ",
        b"atal error",
        b"ERROR",
    ),
    *(b"FATAL", b"E: ", b"undefined reference", b"cannot find", b"not found", b"FAILED", b"*** ", b"Exception"),
    *(b"ssertion", b"Segmentation fault", b"Aborted", b"Killed", b"enied", b"terminate called", b"ninja: "),
    *(b"memory exhausted", b"unbound variable", b"final link failed", b"not recognized", b"curl: ("),
)
# Lines that a tool itself calls an error.
_ERROR = re.compile(
    r"(?:^|[\s:)│])(?:fatal |Fatal )?error\s*:|CMake Error|^[\s│╰─>]*(?:[\w]+\.)*\w*(?:Error|Exception)\b(?::|\s*$)"
    r"|(?:^|\s)(?:fatal|FATAL|E|ERROR|nvcc fatal|ptxas fatal|LLVM ERROR)\s*:|undefined reference to"
    r"|cannot find -l|[Aa]ssertion [^\n]*failed|memory exhausted|terminate called|^\s*FATAL\b|final link failed"
    r"|^\s*(?:Segmentation fault|Aborted|Killed|Illegal instruction|Bus error)|file not recognized"
)
# Lines that are errors if no tool says more: a script that only tries something continues after them.
_PERHAPS = re.compile(r": not found$|command not found|Permission denied|unbound variable$|^curl: \(\d+\)")
# Lines that follow from an error elsewhere.
_WEAK = re.compile(
    r"FAILED: |\*\*\* \[|ninja: build stopped|ld returned \d+ exit status|error: [a-z]+(?:-[a-z]+)+$"
    r"|error: command '|Failed (?:building|to build)|non-zero exit status|ERROR: Exception:|^\s*note: "
    r"|errors occurred|CMake build failed|Encountered error while|Could not build wheels"
)
# Lines that only look like errors: git's answer to `git describe` in an archive, a test of CMake's, pip's talk.
_HARMLESS = re.compile(
    r"not a git repository|No names found, cannot describe|no tag exactly matches|No annotated tags can describe"
    r"|dependency resolver does not currently|^[\s│]*-- |\bwarning: |\bWARNING\b|^W: |DeprecationWarning|Wno-error"
)
_HEADING = re.compile(r"CMake Error[^\n]*:\s*$")


def _error_class(line: str) -> int:
    """Return 3 for a line that reports an error, 2 for one that may, 1 for what follows from one, else 0."""
    if _HARMLESS.search(line):
        return 0
    if _WEAK.search(line):
        return 1
    return 3 if _ERROR.search(line) else 2 if _PERHAPS.search(line) else 0


# ---------------------------------------------------------------------------------------------------------------
# Reading a log once.

_LONG_LINE = re.compile(rb"^([^\n]{%d})[^\n]+" % _LINE, re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@functools.cache
def _anchors() -> dict[bytes, bytes]:
    """Return for each key five bytes of it, as few different ones as a greedy choice finds.

    Most of them are nowhere in a megabyte of command lines, which then need not be searched for the keys: that
    is three times as fast.
    """
    width = 5
    left = {key for keys in _KEYS.values() for key in keys} | set(_ERROR_KEYS)
    anchors: dict[bytes, bytes] = {}
    while left:
        parts = {key: {key[at : at + width] for at in range(max(1, len(key) - width + 1))} for key in left}
        counts = collections.Counter(part for of_key in parts.values() for part in sorted(of_key))
        anchor = counts.most_common(1)[0][0]
        anchors.update({key: anchor for key in left if anchor in key})
        left = {key for key in left if anchor not in key}
    return anchors


@dataclass
class _Match:
    groups: dict[str, str]
    lines: list[str]
    line: str


class _Scan:
    """One pass over a log.

    The buffer holds some context before ``_low``, then what is still to be searched. What is searched ends some
    lines before the buffer's end, so that a match always has the lines that follow it.
    """

    def __init__(self) -> None:
        self._rules = list(RULES)
        self._buffer = b""
        self._low = 0
        # The keys that may stand in the part that is being searched.
        self._present: set[bytes] = set()
        self._tries: t.Counter[bytes] = collections.Counter()
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._found: dict[str, _Match] = {}
        self._notices: dict[str, Notice] = {}
        # By what _error_class says, the first line of each.
        self._errors: dict[int, _Match] = {}

    def feed(self, data: bytes) -> None:
        self._pending.append(data)
        self._pending_size += len(data)
        if self._pending_size >= _CHUNK:
            self._take()
            self._search(self._limit())

    def finish(self) -> Diagnosis:
        self._take()
        self._search(len(self._buffer))
        return self._diagnosis()

    def _take(self) -> None:
        data = b"".join([self._buffer, *self._pending])
        # A progress line that a terminal would overwrite is a line.
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
        self._buffer = _LONG_LINE.sub(rb"\1", data)
        self._pending, self._pending_size = [], 0

    def _limit(self) -> int:
        """Return where the search must end now: at the start of a line, with enough lines after it."""
        end = len(self._buffer)
        for _line in range(_AROUND):
            end = self._buffer.rfind(b"\n", self._low, end)
            if end < 0:
                return self._low
        return end + 1

    def _search(self, high: int) -> None:
        low = self._low
        if high > low:
            anchors = _anchors()
            present = {anchor for anchor in set(anchors.values()) if self._buffer.find(anchor, low, high) >= 0}
            self._present = {key for key, anchor in anchors.items() if anchor in present}
            self._search_rules(low, high)
            self._search_errors(low, high)
        # Keep what a later match shows before its line.
        start = high
        for _line in range(_AROUND):
            start = self._buffer.rfind(b"\n", 0, start)
            if start < 0:
                break
        start += 1
        self._buffer = self._buffer[start:]
        self._low = high - start

    def _search_rules(self, low: int, high: int) -> None:
        rest = []
        for rule in self._rules:
            if rule.notice:
                for key in _KEYS[rule.name]:
                    for match, _line, _start in self._matches(key, rule, low, high):
                        self._note(rule, match)
                rest.append(rule)
                continue
            first: tuple[t.Match[str], str, int] | None = None
            for key in _KEYS[rule.name]:
                first = next(self._matches(key, rule, low, first[2] if first else high), first)
            if first is None:
                rest.append(rule)
            else:
                self._found[rule.name] = _Match(rule.groups(first[0]), self._excerpt(first[2]), first[1])
        self._rules = rest

    def _matches(self, key: bytes, rule: Rule, low: int, high: int) -> t.Iterator[tuple[t.Match[str], str, int]]:
        """Yield (match, line, start of the line) for each line from ``low`` to ``high`` with ``key`` that matches."""
        for start, window, line in self._lines_with(key, low, high):
            match = rule.regex.search(window)
            if match and match.start() <= len(line) and not (rule.exception and rule.exception.search(line)):
                yield match, line, start

    def _lines_with(self, key: bytes, low: int, high: int) -> t.Iterator[tuple[int, str, str]]:
        """Yield (start, the line and what follows, the line) for each line from ``low`` to ``high`` with ``key``."""
        buffer = self._buffer
        place = buffer.find(key, low, high) if key in self._present else -1
        while place >= 0 and self._tries[key] < _TRIES:
            self._tries[key] += 1
            start = buffer.rfind(b"\n", 0, place) + 1
            stop = buffer.find(b"\n", place)
            stop = len(buffer) if stop < 0 else stop
            window = _text(buffer[start : stop + _WINDOW])
            yield start, window, window.partition("\n")[0]
            place = buffer.find(key, stop + 1, high)

    def _note(self, rule: Rule, match: t.Match[str]) -> None:
        if len(self._notices) < NOTICES:
            cause, remedy = rule.explain(rule.groups(match))
            self._notices.setdefault(cause, Notice(rule.name, cause, remedy))

    def _search_errors(self, low: int, high: int) -> None:
        if 3 in self._errors:
            return
        first: dict[int, tuple[int, str]] = {}
        for key in _ERROR_KEYS:
            for start, window, line in self._lines_with(key, low, first[3][0] if 3 in first else high):
                kind = _error_class(line)
                if kind and (kind not in first or start < first[kind][0]):
                    # CMake's first line says where, the next paragraph what.
                    first[kind] = (start, _paragraph(window) if _HEADING.search(line) else line)
                if kind == 3:
                    break
        for kind, (start, line) in first.items():
            if kind not in self._errors:
                self._errors[kind] = _Match({}, self._excerpt(start), line)

    def _excerpt(self, start: int) -> list[str]:
        """Return the lines that matter around the line at ``start``; blank ones are left out."""
        after = _lines(self._buffer[start : start + _CONTEXT])[:LINES]
        before = _lines(self._buffer[max(0, start - _CONTEXT) : start])[-max(BEFORE, LINES - len(after)) :]
        return [_shown(line) for line in (before + after)[:LINES]]

    def _diagnosis(self) -> Diagnosis:
        error = self._errors.get(3) or self._errors.get(2) or self._errors.get(1)
        first_error = _shown(error.line) if error else None
        notices = list(self._notices.values())
        matched = [
            rule for rule in RULES if rule.name in self._found and (not rule.when or set(rule.when) & set(self._found))
        ]
        if matched:
            winner = matched[0]
            match = self._found[winner.name]
            cause, remedy = winner.explain(match.groups)
            others = [rule.name for rule in matched[1:]]
            return Diagnosis(winner.name, cause, remedy, match.lines, first_error, others, notices)
        if error:
            return Diagnosis(
                None,
                f"The build failed with an unknown error; the first one is: {first_error}",
                "Read the log from that line; later errors are mostly consequences.",
                error.lines,
                first_error,
                [],
                notices,
            )
        return Diagnosis(
            None,
            "The log shows no error: it stops midway, or is empty.",
            "Check whether the host went down or the build was stopped, and run again, which resumes.",
            [_shown(line) for line in _lines(self._buffer)[-LINES:]],
            None,
            [],
            notices,
        )


def _text(data: bytes) -> str:
    return _COLOUR.sub("", data.decode("utf-8", "replace"))


def _paragraph(text: str) -> str:
    """Return CMake's message at the start of ``text`` as one line; two blank lines or the call stack end it."""
    return " ".join(re.split(r"\n\n\n|\nCall Stack", text, maxsplit=1)[0].split())


def _lines(data: bytes) -> list[str]:
    return [line for line in _text(data).split("\n") if line.strip()]


def _shown(line: str) -> str:
    line = redact(line.rstrip())
    return line if len(line) <= LINE_WIDTH else line[: LINE_WIDTH - 2] + " …"


_KEYS = {entry.name: tuple(key.encode("utf-8") for key in entry.keys) for entry in RULES}
