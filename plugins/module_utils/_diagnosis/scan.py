"""Diagnose the log of a failure: one cause, one remedy, and the ten relevant lines.

A log is read once, in chunks, with bounded memory regardless of its size. Each rule keeps its first match. The matching
rule that comes first in the table wins, wherever in the log it matched: in a log with ``Killed signal terminated
program cc1plus`` and, later, ``ninja: build stopped: subcommand failed``, the former wins. Therefore the table lists
known defects first, then kinds of failures, then messages that any failure may print.
"""

from __future__ import annotations

import functools
import itertools
import re
import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import failures, keys, lines
from .failures import Kind
from .rules import consequences, evidence, forms, general, subjects
from .table import LINE, WINDOW, Rule, load as read_rules, named
from .topics import TOPICS

Log = t.Union[str, bytes, t.Iterable[t.Union[str, bytes]]]

#: The number of lines in a diagnosis, and how many of them precede the matching line.
LINES = 10
BEFORE = 3
#: The maximum number of characters per line in a diagnosis; the command line of a C++ compilation has thousands.
LINE_WIDTH = 300
#: The maximum number of different notices.
NOTICES = 20

# The number of lines to keep before a possible match, including blank lines, which are not shown, and after it, in case
# of a traceback.
_AROUND = 3 * LINES
_AFTER = 300
# Bytes to read before grep takes part, to pass to it at once, to search for a traceback's end, to keep around a line.
_ALONE, _PART = 4 << 20, 8 << 20
_CONTEXT = 64 << 10
_EXCERPT = LINES * LINE
# The maximum number of lines that report no error to remember.
_DULL = 2000
RULES = read_rules(*TOPICS)
EVIDENCE, SUBJECTS = read_rules(evidence), read_rules(subjects)
KEYS = keys.Keys((*RULES, *EVIDENCE), failures.ERROR_KEYS)
_BY_NAME = {rule.name: rule for rule in RULES}

#: The rules for a program killed by signal 9, and the rule for a failed allocation.
KILLED = frozenset(
    {"compiler-killed", "compiler-oom-kill", "linker-killed", "kernel-oom-kill", "oom-daemon", "process-killed"}
)
OUT_OF_MEMORY = "out-of-memory"
#: The rules for messages that any tool may print.
GENERAL = frozenset(rule.name for rule in read_rules(general, forms))
#: The rules for consequences of another failure and for forms of messages. They yield to an error earlier in the log.
CONSEQUENCES = frozenset({"process-killed", *(rule.name for rule in read_rules(consequences, forms))})
#: The rules that name an error, but not the one cause of it.
_VAGUE = frozenset(rule.name for rule in read_rules(consequences))
UNEXPLAINED = frozenset(r.name for r in RULES if (r.name in _VAGUE if r.uncertain is None else r.uncertain))


@dataclass(frozen=True)
class Notice:
    """A remark on the log that is not about its failure."""

    rule: str
    cause: str
    remedy: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Diagnosis:
    """The result for a log.

    :ivar rule: the name of the winning rule, or None if no rule matched.
    :ivar lines: at most ten lines around the relevant one, without passwords in URLs.
    :ivar first_error: the text of the first line that reports an error, or None.
    :ivar line: the number, from 1, of the relevant line, or of the last line if none reports an error.
    :ivar around: that line and three lines on each side, with their numbers.
    :ivar sources: the URLs of public sources for the rule.
    :ivar others: the names of the other matching rules, in the order of the table.
    :ivar values: the values that the rule extracted from the log.
    """

    rule: str | None
    cause: str
    remedy: str
    lines: list[str]
    first_error: str | None
    others: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    line: int = 0
    around: list[tuple[int, str]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)

    @property
    def is_explained(self) -> bool:
        """Whether a rule names the one cause of the error."""
        return bool(self.rule) and self.rule not in UNEXPLAINED


def texts_of(diagnosis: Diagnosis | Notice, hide: t.Callable[[str], str]) -> tuple[str, str]:
    """Return the cause and the remedy after applying ``hide`` to the parts that come from the log."""
    rule = _BY_NAME.get(diagnosis.rule or "")
    return rule.explain(diagnosis.values, hide) if rule else (hide(diagnosis.cause), hide(diagnosis.remedy))


def diagnose(log: Log) -> Diagnosis:
    """Return the diagnosis of a log.

    :param log: a text, or an iterable of its parts, such as the lines of an open file or chunks of any size. The parts
        are joined unchanged, so lines must include their line ends.
    """
    scan = _Scan()
    for piece in (log,) if isinstance(log, (str, bytes)) else log:
        data = piece.encode("utf-8", "replace") if isinstance(piece, str) else piece
        for at in range(0, len(data), lines.CHUNK):
            scan.feed(data[at : at + lines.CHUNK])
    return scan.finish()


def diagnose_file(path: str, start: int = 0) -> Diagnosis:
    """Return the diagnosis of the file ``path`` from the byte ``start`` on.

    :param start: the start of the failed phase or attempt, so that fixed failures of earlier attempts are ignored.
    :raises SparkforgeError: if the file cannot be read.
    """
    try:
        with open(path, "rb", buffering=0) as stream:
            return diagnose(lines.blocks(stream, start))
    except OSError as error:
        raise SparkforgeError(
            f"The log {path} cannot be read: {error.strerror}.",
            "Make sure that the task runs as root or as the build user.",
        ) from error


# ---------------------------------------------------------------------------------------------------------------
# Read a log once.

# The number of lines that count as the end of a log.
_AT_END = 3
# The text that rules for the last lines of a log without an error begin with.
_ENDS = "The log ends with: "
_TRACEBACK = failures.TRACEBACK.encode()
# The indentation of a line that is neither blank nor the continuation of another.
_INDENT = re.compile(rb"^[ \t]*(?=[^\s\x1e])", re.MULTILINE)
_SAME_DIGIT = bytes.maketrans(keys.DIGITS, b"0" * 10)


class _Match(t.NamedTuple):
    groups: dict[str, str]
    lines: list[str]
    text: str
    line: int
    around: list[tuple[int, str]]
    above: bytes
    level: str = ""


class _Scan:
    """One pass over a log. The buffer holds context, then lines to search, then lines that a match there may show."""

    def __init__(self) -> None:
        self._buffer = b""
        # The number of bytes read, and those that are not in the buffer yet.
        self._size = 0
        self._pending = bytearray()
        # The width of the indentation that all lines so far have.
        self._margin = LINE
        # The number of the buffer's first line.
        self._number = 1
        self._index = keys.Index(KEYS)
        # Hashes of a rule and a part of the log that it did not match; its digits are made equal.
        self._failures: set[int] = set()
        # The kind of each line, without its digits, that reports no error or reports one loosely.
        self._dull: dict[bytes, Kind] = {}
        self._found: dict[str, _Match] = {}
        self._notices: dict[str, Notice] = {}
        # The first line of each kind.
        self._errors: dict[Kind, _Match] = {}

    def feed(self, data: bytes) -> None:
        self._pending += data
        self._size += len(data)
        if len(self._pending) >= (_PART if self._size > _ALONE else lines.CHUNK):
            self._take_part()

    def finish(self) -> Diagnosis:
        self._take_part(is_last=True)
        self._search(len(self._buffer))
        diagnosis = self._diagnosis()
        # A notice about the same text, from a rule with the same key, would repeat the answer.
        same = {rule.name for key in KEYS.of_rule.get(diagnosis.rule or "", ()) for rule in KEYS.rules[key]}
        text = diagnosis.values.get("found", "")
        notices = [row for row in diagnosis.notices if row.rule not in same or row.values.get("found") != text]
        return replace(diagnosis, notices=notices)

    def _take_part(self, is_last: bool = False) -> None:
        """Search the buffer and the complete pending lines, except the last ones, which others may follow."""
        data = bytes(self._pending)
        self._pending.clear()
        # After a power loss, unsynced parts of a log may read as zeros.
        data = data.translate(None, b"\0") if b"\0" in data else data
        end = len(data) - (data.endswith(b"\r") and not is_last)
        data, rest = data[:end], data[end:]
        # rsyslog writes a line end in a message as #012, and a tab as #011.
        data = data.replace(b"#012", b"\n\x1e").replace(b"#011", b"\t")
        if b"\r" in data:
            # A progress line that a terminal would overwrite counts as a line, but keeps the number of its log line.
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n\x1e")
        if max(map(len, data.split(b"\n"))) > LINE:
            cut = ((row[at : at + LINE] for at in range(0, len(row) or 1, LINE)) for row in data.split(b"\n"))
            data = b"\n".join(map(b"\n\x1e".join, cut))
        end = len(data) if is_last else data.rfind(b"\n") + 1
        part = data[:end]
        self._pending += data[end:] + rest
        part = self._aligned(part)
        needed = self._index.needed() if self._size > _ALONE else ()
        for piece, rows in lines.pieces(part, lines.grep(part, needed) if needed else None):
            self._index.add(rows, len(self._buffer))
            self._buffer += piece
            self._search(self._lines_before(len(self._buffer), _AFTER))

    def _aligned(self, part: bytes) -> bytes:
        """Return a part without the indentation that all lines up to its end have, as in a quoted log."""
        self._margin = self._margin and min([self._margin, *map(len, _INDENT.findall(part))])
        return re.sub(rb"(?m)^[ \t]{1,%d}" % self._margin, b"", part) if self._margin else part

    def _lines_before(self, position: int, count: int) -> int:
        """Return where the ``count`` lines before ``position`` start, or 0 if there are fewer."""
        for _line in range(count):
            position = self._buffer.rfind(b"\n", 0, max(0, position))
        return position + 1

    def _search(self, high: int) -> None:
        self._index.leave_out(list(failures.forgiven(self._buffer)))
        self._search_rules(high)
        self._search_errors(high)
        # Keep the lines that a later match shows before its own.
        start = self._lines_before(high, _AROUND)
        self._number = self._line_at(start)
        self._buffer = self._buffer[start:]
        self._index.advance(start, high)

    def _search_rules(self, high: int) -> None:
        rules = {rule.name: rule for key in self._index.rows for rule in KEYS.rules[key]}
        for rule in rules.values():
            rule_keys = [key for key in KEYS.of_rule[rule.name] if key in self._index.rows]
            if rule.notice:
                matches = (match for key in rule_keys for match, _line, _start in self._matches(key, rule, high))
                while len(self._notices) < NOTICES and (notice_match := next(matches, None)):
                    values = rule.groups(notice_match)
                    notice = Notice(rule.name, *rule.explain(values), values)
                    self._notices.setdefault(notice.cause, notice)
            elif rule.name not in self._found:
                first: tuple[t.Match[str], lines.Line, int] | None = None
                for key in rule_keys:
                    first = next(self._matches(key, rule, first[2] if first else high), first)
                if first:
                    match, line, start = first
                    self._found[rule.name] = self._match(start, line.text, rule.groups(match), line.level)

    def _matches(self, key: bytes, rule: Rule, high: int) -> t.Iterator[tuple[t.Match[str], lines.Line, int]]:
        """Yield (match, line, offset of the line) for each matching line with ``key`` before ``high``."""
        for start, row in self._index.rows[key]:
            if start >= high:
                break
            line = lines.parse(lines.decode(row))
            is_talk = line.level in failures.TALK and not lines.shows("at-any-level", line.text)
            if (is_talk and rule.cause and not rule.notice) or line.text.lstrip().startswith("raise "):
                continue
            data = self._buffer[start : start + len(row) + WINDOW * rule.spans]
            shape = 0 if rule.tells_digits_apart or line.process else hash((rule.name, data.translate(_SAME_DIGIT)))
            if shape in self._failures:
                continue
            match = rule.regex.search(text := lines.lines_of_process(lines.decode(data)) if rule.spans else line.text)
            if match and match.start() <= len(line.text) and not (rule.exception and rule.exception.search(line.text)):
                if not (rule.notice or rule.name[:5] == "ends-") and failures.is_tried_again(self._window(start, row)):
                    line = line._replace(level="WARNING")
                is_cause = rule.notice or (end := lines.without("before-cause", text)) == text or rule.regex.search(end)
                if is_cause and not failures.is_probe(self._buffer, start, row):
                    yield match, line, start
            elif shape and len(self._failures) < keys.FORMS:
                self._failures.add(shape)

    def _window(self, start: int, row: bytes, size: int = WINDOW) -> str:
        return lines.decode(self._buffer[start : start + len(row) + size])

    def _search_errors(self, high: int) -> None:
        if Kind.ERROR in self._errors:
            return
        first: dict[Kind, tuple[int, str]] = {}
        rows = {row for key in failures.ERROR_KEYS for row in self._index.rows.get(key, ())}
        tracebacks = set(self._index.rows.get(_TRACEBACK, ()))
        end_of_frames = 0
        for start, row in sorted(rows):
            if start >= (first[Kind.ERROR][0] if Kind.ERROR in first else high):
                break
            if start < end_of_frames:
                continue
            form = row.translate(None, keys.DIGITS)
            is_frame = b'File "' in row and lines.parse(lines.decode(row)).text.startswith('File "')
            if is_frame or (start, row) in tracebacks:
                number, kind, text = failures.traceback_end(self._window(start, row, _CONTEXT))
                for _line in range(number):
                    start = self._buffer.find(b"\n", start) + 1
                end_of_frames = start if is_frame else 0
            elif form in self._dull and (Kind.LOOSE in first or self._dull[form] == Kind.NONE):
                continue
            else:
                kind, text = failures.classify(lines.decode(row), functools.partial(self._window, start, row))
                if kind > Kind.LOOSE and failures.is_probe(self._buffer, start, row):
                    kind = Kind.LOOSE
                if kind in (Kind.NONE, Kind.LOOSE) and len(self._dull) < _DULL:
                    self._dull[form] = kind
            if kind not in (Kind.NONE, Kind.RETRIED) and (kind not in first or start < first[kind][0]):
                first[kind] = (start, text)
        for kind, (start, text) in first.items():
            if kind not in self._errors or (kind == Kind.LOOSE and high == len(self._buffer)):
                self._errors[kind] = self._match(start, text)

    def _last_error(self) -> dict[Kind, _Match]:
        """Return the first error in the last lines, which count even if the program says that it will try again."""
        rows = [row for row in lines.split(self._buffer) if row[1].strip()][-_AT_END:]
        last = lines.decode(rows[-1][1]) if rows else ""
        ends_well = lines.shows("ends-well", last) and failures.classify(last, str)[0] == Kind.NONE
        least = Kind.CONSEQUENCE if ends_well else Kind.LOOSE
        for start, row in rows:
            line = lines.parse(lines.decode(row))
            warns = line.level == "WARNING" or "WARNING" in line.text[:8]
            message = line.text.lstrip("[").removeprefix("WARNING").lstrip("]: ") if warns else line.text
            raw = message if warns else lines.decode(row)
            kind, _text = failures.classify(lines.without("again", raw) if row == rows[-1][1] else raw, str)
            if kind >= least + (warns and row != rows[-1][1]):
                return {Kind.LOOSE: self._match(start, message)}
        return {}

    def _line_at(self, start: int) -> int:
        continued = self._buffer.count(b"\n\x1e", 0, start + 1) if b"\x1e" in self._buffer else 0
        return self._number + self._buffer.count(b"\n", 0, start) - continued

    def _match(self, start: int, text: str, groups: dict[str, str] | None = None, level: str = "") -> _Match:
        """Return the record of a match at ``start``, with the surrounding lines except blank ones."""
        before, after = self._buffer[max(0, start - _EXCERPT) : start], self._buffer[start : start + _EXCERPT]
        below = _lines(after)[:LINES]
        excerpt = [_shorten(row) for row in (_lines(before)[-max(BEFORE, LINES - len(below)) :] + below)[:LINES]]
        return _Match(groups or {}, excerpt, text, self._line_at(start), self._around(start), before, level)

    def _around(self, start: int) -> list[tuple[int, str]]:
        """Return the line at ``start`` and its neighbours, with their numbers."""
        buffer, first = self._buffer, self._lines_before(start, BEFORE + 1)
        rows = buffer[first : start + _EXCERPT].rstrip().split(b"\n")[: buffer.count(b"\n", first, start) + 1 + BEFORE]
        new_lines = (not row.startswith(b"\x1e") for row in rows[1:])
        numbers = itertools.accumulate(new_lines, initial=self._line_at(first))
        return [(number, _shorten(lines.decode(row))) for number, row in zip(numbers, rows)]

    def _diagnosis(self) -> Diagnosis:
        last_lines = [_shorten(line) for line in _lines(self._buffer)[-LINES:]]
        if failures.RESCUED.search(self._buffer, max(0, self._buffer.rfind(b"PLAY RECAP"))):
            self._found = {name: match for name, match in self._found.items() if b"TASK [" not in match.above}
            self._errors = {kind: match for kind, match in self._errors.items() if b"TASK [" not in match.above}
        if self._errors.keys() <= {Kind.LOOSE, Kind.SOURCE, Kind.PART}:
            self._errors.pop(Kind.LOOSE, None)
            self._errors |= self._last_error()
        error = next((self._errors[kind] for kind in failures.PREFERRED if kind in self._errors), None)
        first_error = _shorten(" ".join(error.text.split())) if error else None
        # A warning can be the cause only if something failed; one that any tool may print yields to a clear error.
        yielding = frozenset(self._found) if not error else GENERAL if Kind.ERROR in self._errors else frozenset()
        counts = {name for name, match in self._found.items() if match.level != "WARNING" or name not in yielding}
        # A program that has reported an error was probably killed by its parent, not for lack of memory.
        reported = self._errors.get(Kind.ERROR) or self._errors.get(Kind.PERHAPS)
        counts -= {name for name in CONSEQUENCES & counts if reported and reported.line < self._found[name].line}
        matched = [rule for rule in RULES if rule.name in counts and (not rule.when or set(rule.when) & counts)]
        notices = list(self._notices.values())
        if error and {rule.name for rule in matched} <= CONSEQUENCES and (known := _inner(error, matched or notices)):
            return replace(known, first_error=first_error, notices=notices, lines=error.lines, around=error.around)
        if matched:
            winner, match = matched[0], self._found[matched[0].name]
            evidence_groups = (self._found[rule.name].groups for rule in EVIDENCE if rule.name in self._found)
            groups = failures.packages_in_traceback(lines.decode(match.above))
            groups |= {name: text for texts in (*evidence_groups, match.groups) for name, text in texts.items()}
            cause, remedy = winner.explain(groups)
            details = ([rule.name for rule in matched[1:]], notices, match.line, match.around, winner.links, groups)
            return Diagnosis(winner.name, cause, remedy, match.lines, first_error, *details)
        if error:
            matches = ((rule, rule.regex.search(first_error or "")) for rule in SUBJECTS)
            subject, remedy = next(rule.explain(rule.groups(match)) for rule, match in matches if match)
            cause = f"This error is not among the known ones {subject}; the first line of it is: {first_error}"
            if notice := next((row for row in notices if _BY_NAME[row.rule].regex.search(error.text)), None):
                notices.remove(notice)
                rest = (notices, error.line, error.around, _BY_NAME[notice.rule].links, notice.values)
                return Diagnosis(notice.rule, notice.cause, notice.remedy, error.lines, first_error, [], *rest)
            if advice := failures.ADVICE.search("\n".join([*error.lines, ""])):
                remedy = f"The log itself advises: {' '.join(advice[0].split())}"
            return Diagnosis(None, cause, remedy, error.lines, first_error, [], notices, error.line, error.around)
        remedy = "Read its last lines; if it goes no further, find out what ended the program that wrote it."
        if not last_lines:
            return Diagnosis(None, "The log is empty.", remedy, [], None, [], notices)
        if warnings := {row.line: row.text for name, row in self._found.items() if name.startswith("log-warns")}:
            texts = (f"line {line}: {_shorten(' '.join(text.split()))}" for line, text in sorted(warnings.items()))
            notices.append(Notice("log-warns", f"The log has warnings, not errors: {'; '.join(texts)}", ""))
        end = max(0, self._buffer.rstrip().rfind(b"\n") + 1)
        line, around, last = self._line_at(end), self._around(end), " ".join(lines.parse(last_lines[-1]).text.split())
        known = None if last.startswith(_ENDS) else diagnose(_ENDS + last)
        waits = last.startswith("Waiting ") or (known is not None and "awaited" in known.values)
        if known and known.rule and (known.rule.startswith("ends-") or waits):
            return replace(known, lines=last_lines, notices=notices, line=line, around=around)
        cause = "No line of the log reports an error that could be recognised; it ends with: "
        cause += " ".join(last_lines[-1].split())
        return Diagnosis(None, cause, remedy, last_lines, None, [], notices, line, around)


def _inner(error: _Match, others: list[t.Any]) -> Diagnosis | None:
    """Return the diagnosis of an error that was wrapped or follows other words; the log's ``others`` exclude forms."""
    below = (lines.parse(row).text.strip() for number, row in error.around if number >= error.line)
    rows = list(itertools.takewhile(bool, below))
    texts = dict.fromkeys((" ".join(rows), "".join(rows)) if len(rows) > 1 else (), CONSEQUENCES)
    rows = rows if rows[:1] and rows[0].startswith("raise ") else rows[:1]
    texts[named(" ".join(rows))] = CONSEQUENCES if others else frozenset()
    known = ((diagnose(text), names) for text, names in texts.items() if text)
    fits = (diagnosis for diagnosis, names in known if diagnosis.rule and diagnosis.rule not in names)
    return next((replace(diagnosis, line=error.line) for diagnosis in fits), None)


def _lines(data: bytes) -> list[str]:
    return [line for line in lines.decode(data).split("\n") if line.strip()]


def _shorten(line: str) -> str:
    line = redact(line.rstrip().lstrip(lines.CONTINUED))
    return line if len(line) <= LINE_WIDTH else line[: LINE_WIDTH - 2] + " …"
