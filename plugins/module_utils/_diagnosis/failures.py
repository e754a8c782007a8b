"""Tell whether a line of a log reports an error, for failures that the table does not cover."""

from __future__ import annotations

import enum
import itertools
import re
import typing as t

from . import lines

#: Each line that :func:`classify` recognises contains at least one of these texts.
ERROR_KEYS = tuple(
    key.encode()
    for key in (
        "rror:", "rror :", "rror[", "rror!", "rror response", "nvcc error", "CMake Error", "CUDA error", "MemoryError",
        "fatal:", "fatal ", "atal error", "FATAL", "CRITICAL", "E: ", "undefined reference", "cannot ", "Cannot ",
        "ould not ", "nable to", "ot found", "not support", "nsupported", "*** ", "Exception", "ssertion",
        "Segmentation fault", "core dumped", "Aborted", "Killed", "enied", "refused", "imed out", "mismatch",
        "terminate called", "ninja: ", "memory exhausted", "unbound variable", "not recognized", "curl: (", "NCCL WARN",
        "Xid", "BUG: ", "Uncorrectable", "panic", "Oops", "level=error", "level=fatal", "Caused by", "╰─▶",
        "Traceback (most recent call last)", "invalid", "Invalid", "is missing", "ERR", "FATA[", "ouldn't ", "an't ",
        "FAIL", "Fail", "died", "crash", "exited", "terminated", "killed", "orrupt", " E ", "[E", "E0", "E1",
        "can not ", "gave up", "ncaught", "nhandled", "exit code", "Server Error", "=> not", "aborting", "imeout ",
        "killing", 'tatusCode":', "[rank", "free(): ", "too quickly", "rror,", "rror -", "failed", "rror loading",
        "rror=", "err=", 'rror":', 'err":', "rrors detected", "ound: NO", "Err:", "o such file", "esource busy",
        "put/output error", "ot permitted", "nrecognized ", "nknown option", "nknown flag", "lready exists", "-E- ",
        "Error ", "raise ", "O error", "Message:", "authorized", "not exist", "compiled with", "out of ", "a valid",
    )
)  # fmt: skip
_NEAR = 3
# A failed task of Ansible, and marks of a result that it does not count as a failure.
_FAILED_TASK = re.compile(rb"(?<!\S)(?:fatal|failed): \[")
_FORGIVING = (b"...ignoring", b'"ignore_errors": true', b'failed_when_result": false', b"failed_when_result: false")
_FORGIVEN = re.compile(b"|".join(rb'"?%b(?=,|\s|\})' % re.escape(text) for text in _FORGIVING))
#: The end of a play that handled its failures.
RESCUED = re.compile(
    rb"PLAY RECAP(?![^\0]*\b(?:failed|unreachable)=[1-9])(?=[^\0]*\brescued=[1-9])(?![^\0]*(?:PLAY \[|rror|fatal))"
)
_HEADING = re.compile(r"CMake Error[^\n]*:\s*$|^\s*Caused by:\s*$|\d validation errors? for \w+$|panicked at \S+:$")
# A message that continues in the next line.
_OPEN = re.compile(r"[^:]:\s*$")
# An exception without a message, or with only a key as its message, and Python's text between two chained exceptions.
_MUTE = re.compile(r"\s*(?:[\w.]+:?|[\w.]+: ?-?\d+|(?:\w+\.)*(?:Attribute|Index|Key|Lookup)Error:(?:\s+\S+){0,2})\s*$")
_CHAINED = re.compile(r"\s*(?:During handling of the above exception|The above exception was the direct cause)")
#: The levels at which programs seldom report a failure.
TALK = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE"})
_QUIET = TALK | {"WARNING"}
_INNER = re.compile(r"\n\s*(?:Caused by:|[├╰]─▶|nvidia-container-cli: |process didn't exit successfully)")
# A file with which NumPy, autoconf or CMake only tests for a feature, but not CMake's test of a compiler.
_PROBE = re.compile(
    rb"\b_?conf(?:igtes|tes)t\.(?:c|cc|cpp|cxx|cu|f|f90)\b|/CMakeFiles/CMake(?:Tmp|Scratch)/(?!\S*testC)"
    rb"|\bCheck(?:Function|IncludeFile|Symbol)\w*\.c"
)
TRACEBACK = "Traceback (most recent call last)"
# A frame of a traceback in a package other than torch, whose module.py raises for others.
_FRAME = re.compile(r'\s+File "[^"\n]*/(?:site|dist)-packages/(?!torch/)([A-Za-z]\w*)[/.]')
# An exception, where the places in a traceback have lost their indentation.
_RAISED = r"(?:\w+\.)*(?:[A-Z]\w*|error|timeout)(?::|$)"
# The source of an exception, as a traceback without its end shows it.
_RAISE = re.compile(r"(?:\s{4,})?raise (?:\w+\.)*\w*(?:Error|Exception)\(")
# A line that does not end its sentence.
_OPEN_END = r"[^\n]*(?:[:,]|\b(?:an?|and|as|by|calling|following|for|from|in|of|or|running|the|to|using|via|with))\n"
#: A remedy in the words of the program that failed.
ADVICE = re.compile(
    r"\b(?:To (?:work around|fix|resolve|solve|avoid|enable|disable) |(?:[Pp]lease|[Yy]ou (?:can|should|may|could)) "
    r"(?:also )?(?:install|(?:re-?)?run|set|use|add|pass|specify|(?:up|down)grade|update|(?:reduc|increas|decreas"
    r"|disabl|enabl)e|(?:try|consider|make sure))\b|(?:[Tt]ry(?! our)|[Cc]onsider|[Mm]ake sure|Run(?= ['`])|Install an?"
    rf"|(?:help|hint):) )(?:{_OPEN_END}\s*\S[^\n]{{3,200}}|(?!{_OPEN_END})[^\n]{{4,200}}(?:\n ?[a-z][^\n]{{4,200}})?)"
)


class Kind(enum.IntEnum):
    """The kind of a line, by its relation to an error.

    A line reports an error, perhaps one, the consequence of another, or, loosely, one only at the end of a log. The
    error of an attempt that is retried counts as none. The source line of an exception, and a part of a message at the
    level of errors, count only in a log without others.
    """

    ERROR, PERHAPS, CONSEQUENCE, LOOSE, NONE, RETRIED, SOURCE, PART = range(4, -4, -1)


#: The kinds of lines that may be a log's first error, the best first.
PREFERRED = (Kind.ERROR, Kind.PERHAPS, Kind.LOOSE, Kind.CONSEQUENCE, Kind.SOURCE, Kind.PART)


def classify(raw: str, below: t.Callable[[], str]) -> tuple[Kind, str]:
    """Return the kind and the text of a line.

    :param below: a function that returns the line and the lines after it.
    """
    line = lines.parse(raw)
    is_quiet = line.level in _QUIET
    if (is_quiet and not lines.shows("at-any-level", line.text)) or lines.shows("harmless", line.text):
        return Kind.NONE, ""
    # Ignore quoted text, which the line only mentions.
    is_marked = line.level in ("ERROR", "CRITICAL", "FATAL") and bool(line.text.strip())
    is_error = lines.shows("error", re.sub(r'"[^"]*"', '""', line.text)) or (
        (is_marked or _FAILED_TASK.search(raw.encode())) and line.text[:1].strip() != ""
    )
    follows = TRACEBACK in line.text or lines.shows("consequence", line.text)
    is_perhaps = is_quiet or line.level == lines.IN_FIELD or lines.shows("perhaps", line.text)
    if not (is_error or follows or is_perhaps):
        return _classify_loosely(line, is_marked), line.text
    window = lines.lines_of_process(below())
    if is_tried_again(window):
        return Kind.RETRIED, ""
    rest = window[len(line.text) :]
    above_cause = is_error and (TRACEBACK in rest.lstrip("\n").partition("\n")[0] or _INNER.match(rest))
    is_bare = _HEADING.search(line.text) and not rest.strip()
    if follows or above_cause or is_bare or is_mute(line.text, rest):
        return Kind.CONSEQUENCE, line.text
    return Kind.ERROR if is_error else Kind.PERHAPS, _message(line.text, rest.lstrip("\n"))


def _classify_loosely(line: lines.Line, is_marked: bool) -> Kind:
    """Return the kind of a line that has no sign of an error except, if ``is_marked``, its level."""
    if _RAISE.match(line.text):
        return Kind.SOURCE
    goes_on = lines.shows("again", line.text) or lines.shows("goes-on", line.text)
    if lines.shows("loose", line.text) and not goes_on:
        return Kind.LOOSE
    return Kind.PART if is_marked else Kind.NONE


def is_tried_again(window: str) -> bool:
    """Tell whether the first line of a part of a log, or a line just after it, shows a retry or an ignored failure."""
    return lines.shows("again", "\n".join(window.split("\n", _NEAR + 1)[: _NEAR + 1]))


def forgiven(log: bytes) -> t.Iterator[tuple[int, int]]:
    """Yield where each result that Ansible does not count as a failure starts in a log, and where it ends."""
    end = 0
    for mark in _FORGIVEN.finditer(log) if any(text in log for text in _FORGIVING) else ():
        row = log.rfind(b"\n", 0, mark.start()) + 1
        if row < end:
            continue
        first, before, start = max(end, row - lines.CHUNK), log[row : mark.start()], row
        end = (log.find(b"\n", mark.end()) + 1) or len(log)
        if mark[0] == _FORGIVING[0]:
            heading = max(first, log.rfind(b"TASK [", first, row), log.rfind(b"HANDLER [", first, row))
            task = _FAILED_TASK.search(log, heading, row)
            start = task.start() if task else row
        elif before.isspace():
            # The result takes several lines, each indented at least as much as this one.
            outer = re.compile(rb"^ {0,%d}\S" % (len(before) - 1), re.MULTILINE)
            start = max((line.start() for line in outer.finditer(log, first, row)), default=row)
            end = next((line.start() for line in outer.finditer(log, end)), len(log))
        yield start, end


def traceback_end(window: str) -> tuple[int, Kind, str]:
    """Return the last line of the traceback that starts a window: its number, counted from 0, its kind and its text.

    That line names the exception. The kind is ``NONE`` if the traceback does not end within the window.
    """
    raw, *rest = window.split("\n")
    first = lines.parse(raw)
    if first.level in _QUIET or "Exception Group" in raw:
        return 0, Kind.NONE, ""
    # Python indents the exceptions of a group with a vertical bar.
    rail = re.match(r"\s*\| |", first.text)
    start = rail.end() if rail else 0
    depth = len(first.text) - len(first.text[start:].lstrip())
    # IPython names the exception in the first line, too, and does not indent the places.
    name = re.sub(r"(?!\w+ {2,}Traceback).*| .*", "", first.text)
    is_flat = any(lines.parse(row).text[start:].startswith('File "') for row in (raw, *rest[:3]))
    names_error = re.compile(_RAISED if is_flat else re.escape(name)).match
    for number, below in enumerate(rest, 1):
        line = lines.parse(below)
        if line.process != first.process or not line.text.strip():
            continue
        text = line.text[start:]
        if len(line.text) - len(text.lstrip()) <= depth and names_error(text):
            after = lines.lines_of_process("\n".join(rest[number - 1 : number + _NEAR])).partition("\n")[2]
            kind = Kind.CONSEQUENCE if lines.shows("consequence", text) or is_mute(text, after) else Kind.ERROR
            return number, Kind.NONE if "KeyboardInterrupt" in text else kind, _message(text, after)
    return 0, Kind.NONE, ""


def packages_in_traceback(above: str) -> dict[str, str]:
    """Return the package of the last frame of the traceback that ends a text, and the one that called it, or ''."""
    texts = (lines.parse(row).text for row in reversed(above.rstrip("\n").split("\n")))
    frames = map(_FRAME.match, itertools.takewhile(lambda text: text[:1].isspace(), texts))
    names = dict.fromkeys(frame[1] for frame in frames if frame)
    return dict(itertools.zip_longest(("raiser", "caller"), itertools.islice(names, 2), fillvalue=""))


def is_probe(log: bytes, start: int, row: bytes) -> bool:
    """Tell whether a line is about a test for a feature; the assembler names only its temporary file."""
    margin = 500 * (b".s:" in row)
    return bool(_PROBE.search(log, max(0, start - margin), start + len(row) + margin))


def is_mute(text: str, below: str) -> bool:
    """Tell whether an exception has no useful message and ``below`` shows an exception that followed from it."""
    return bool(_MUTE.match(text) and _CHAINED.match(below))


def _message(text: str, below: str) -> str:
    """Return a message on one line, with the lines ``below`` that belong to it.

    CMake, pydantic and Rust panics print the location in the first line and the message in the next ones, up to two
    blank lines or CMake's call stack.
    """
    if _HEADING.search(text):
        return " ".join(re.split(r"\n\n\n|\nCall Stack", f"{text}\n{below}", maxsplit=1)[0].split())
    return f"{text} {below.partition(chr(10))[0].strip()}".rstrip() if _OPEN.search(text) else text
