"""Read a log, and split the prefix of a line from its message.

Programs prefix their lines with the same elements: a time, a level, a process or rank, a source location, a step of a
container build, a name and a bar. This module knows these elements, not the programs.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import os
import re
import subprocess
import tempfile
import typing as t

from .rules import signs
from .table import load

_SIGNS = {rule.name: re.compile(rule.pattern) for rule in load(signs)}
#: Marks the start of a line that continues the previous line of the log: after a carriage return or rsyslog's #012, or
#: where a line that is too long was split.
CONTINUED = "\x1e"
#: The level of a line with a harmless level but an error in one of its fields.
IN_FIELD = "ERROR IN A FIELD"
#: The number of bytes to read at once.
CHUNK = 1 << 16
# The number of bytes of a part to search at once.
_PIECE = 1 << 20

_DAY = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d(?:[-/.]\d{2,4})?|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} +\d{1,2})"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_TIME = rf"(?:{_DAY}[T ,-]{{0,2}})?{_CLOCK}(?: \d{{4}}(?=\]))?"
# A journal has the month in the language of its host.
_MONTH = r"(?:(?:[^\W\d_]{3,5}\.?|\d\d?[月월]) +\d\d? )?"
_LEVELS = r"TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|FATAL"
_SHIP = r"(?:rank|default|local_rank|worker|tp|pp|dp)"
#: The elements that can start a prefix.
_HEAD = (
    r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{7,9}Z(?: std(?:out|err) [FP])?(?= |$)|==> [\w.-]+:(?= )| *>(?= )",
    r"(?P<host1>[\w.-]+):\d+:\d+ \[\d+\]",
    rf"{_MONTH}{_TIME} (?:(?:{_LEVELS})|(?P<host2>[\w.-]+)) (?:[\w./@\\-]+\[\d+\]|(?!\d+:)[\w.@-][\w./@\\-]*):(?!\d)",
    r"\[ *[+]?\d+\.\d{3,}\](?: \[ *[A-Z]?\d+\])?",
    rf"\[(?:(?:[^\W\d_]{{2,4}}\.? )?{_MONTH}{_CLOCK}|{_TIME})[^\]\n]{{0,24}}\]",
    rf"(?:\[?[EF]\d{{3,4}}|[WI]\d{{4}}) {_CLOCK} +(?:\d+ )?[\w./-]+:\d+\]",
    rf"{_TIME}(?:: [EFIW] [\w./-]+:\d+\]|(?=\W))",
    r"\d+\.\d\d\.\d{3}\.\d{3} [EWID](?= )",
    r" *\((?:[\w.@/-]+,? )?(?:pid|rank|tid)[=: ]\S+?(?:(?:, ?| )\w+=\S+?)*\)",
    rf"\[?(?i:{_SHIP})[ :=_]?\d+\]?:|default:(?= )| {{4}}(?:default|[a-z][\w.-]*\d):(?= )",
    r"\[\d+,\d+\]<std\w+>:|#\d+ \d+\.\d+(?= )|\d{1,5}\.\d{1,3}(?= +[A-Za-z\u00d7])",
    r" *\([\w./-]+:\d+\): [\w.-]+-WARNING \*\*:(?: [\d:.]+:)?",
    r"[A-Za-z][\w.-]* +\|(?= |$)",
    rf"(?:{_LEVELS})(?= (?:{_DAY}|\[))",
    # The kernel reports a hung task at level INFO.
    r"(?:TRACE|DEBUG|INFO|NOTICE):(?= (?!task \S+ blocked ))",
    r"(?:TRAC|DEBU|INFO|WARN|ERRO|FATA)\[\d+\]",
    rf"\[?(?:{_LEVELS})\]?:[\w.]+:(?=\S)",
    r"[ ]*[│┃▌▍▎]",
)
#: The elements that can only continue a prefix.
_MORE = (
    rf"{_DAY}(?= )",
    rf"(?:{_LEVELS})(?![:\w])|[\[<(](?i:{_LEVELS})[\])>]",
    r"\[[\w ,.:=/-]{1,40}\]:?",
    r"\[[EFIW]:\w+:[^\]\n]{1,120}\]",
    r"[\w./-]+\.(?:py|cc|cpp|cu|c|go|rs):\d+\]?:?(?= )",
    r"- [\w.]+ - (?=[A-Z])",
    r"(?:--?|\|)(?= )",
    rf"\d+(?= \[(?:{_LEVELS})\])",
    r"NCCL (?:INFO|TRACE)(?= )",
)
_BEGIN = re.compile(rf"{CONTINUED}*(?:(?:{'|'.join(_HEAD)}|[-*•](?= ))[ \t]?)")
_GO_ON = re.compile(rf"(?:{'|'.join((*(re.sub(r'[?]P<[a-z0-9]+>', '?:', form) for form in _HEAD), *_MORE))})[ \t]?")
_LEVEL = re.compile(
    rf"\b(?=[A-Zdeilw])(?:(?:{_LEVELS}|TRAC|DEBU|ERRO|FATA)\b|level=(\w+)|[WI](?=\d{{4}} \d)|[EF](?=\d{{3,4}} \d)"
    r"|(?<=\[)[EFIW](?=:\w+:)"
    r"|(?<=[ \[<(-])(?i:error|warning|info|debug)(?=[\])> ])"
    r"|(?:(?<=\d )[EIDF]|(?<=\d: )[EFIW]|(?<=\.\d{3} )W)(?= ))"
)
_LOGFMT = re.compile(r'(?:^|\s)(?:level|lvl)=(\w+) (?:\S+ ){0,8}?msg=(?:"((?:[^"\\]|\\.)*)"?)?')
# A field with an error.
_TELLS_ERROR = re.compile(r'(?:^|\s)err(?:or)?=(?!(?:""|0|[Nn]il|[Nn]ull|[Nn]one|false|<nil>)?(?:\s|$))')
_ANSIBLE = re.compile(r'"(?:msg|response|(?:module_)?std(?:err|out))": "((?:[^"\\]|\\.)+)')
_PRETTY = re.compile(r'\s+(?:"(?:msg|(?:module_)?std(?:err|out))": )?"((?:[^"\\]|\\.)+)",?\s*')
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_END = b"end of this part of the log"
_FIELDS = ("log", "MESSAGE", "message", "msg", "event")
_NAMES = {"E": "ERROR", "W": "WARNING", "I": "INFO", "D": "DEBUG", "F": "FATAL", "WARN": "WARNING", "ERR": "ERROR"}
_NAMES |= {"TRAC": "TRACE", "DEBU": "DEBUG", "ERRO": "ERROR", "FATA": "FATAL"}


class Line(t.NamedTuple):
    """A line without its prefix.

    :ivar process: the element that distinguishes one process's lines from others, or '' if the prefix has none.
    :ivar level: for example ``ERROR``; empty if the prefix has none; ``IN_FIELD`` if the level is harmless but one of
        the fields has an error.
    :ivar host: the host name in the prefix.
    """

    text: str
    process: str = ""
    level: str = ""
    host: str = ""


def shows(sign: str, text: str) -> bool:
    """Tell whether a text has one of the forms of a sign in ``rules.signs``."""
    return bool(_SIGNS[sign].search(text))


def without(sign: str, text: str) -> str:
    """Return a text without the forms of a sign."""
    return _SIGNS[sign].sub("", text)


def blocks(stream: t.BinaryIO, start: int = 0) -> t.Iterator[bytes]:
    """Yield a stream in blocks; a file is read only up to its current size, even if it is still growing."""
    remaining = os.fstat(stream.fileno()).st_size - start if stream.seekable() else 0
    if stream.seekable():
        stream.seek(start)
    while block := stream.read(min(CHUNK, remaining) if stream.seekable() else CHUNK):
        yield block
        remaining -= len(block)


def decode(data: bytes) -> str:
    """Decode a part of a log and remove terminal colours."""
    text = data.decode("utf-8", "replace")
    return _COLOUR.sub("", text) if "\x1b" in text else text


def split(part: bytes) -> list[tuple[int, bytes]]:
    """Return the lines of a part of a log, with their offsets in it."""
    rows = part.split(b"\n")
    return list(zip(itertools.accumulate((len(row) + 1 for row in rows), initial=0), rows))


def pieces(part: bytes, output: bytes | None) -> t.Iterator[tuple[bytes, list[tuple[int, bytes]]]]:
    """Yield a part of a log in pieces, each with its lines in the ``output`` of :func:`grep`, or with all of them."""
    columns = (line.partition(b":") for line in io.BytesIO(output or b""))
    rows = iter(split(part)) if output is None else ((int(at), row[:-1]) for at, _colon, row in columns)
    start, row = 0, next(rows, None)
    while start < len(part):
        end = part.find(b"\n", start + _PIECE) + 1 or len(part)
        of_piece = []
        while row and row[0] < end:
            of_piece.append((row[0] - start, row[1]))
            row = next(rows, None)
        yield part[start:end], of_piece
        start = end


def grep(part: bytes, keys: tuple[bytes, ...]) -> bytes | None:
    """Return the lines of a part that contain a key, each with its offset and a colon, or None if grep cannot tell."""
    # Only GNU's grep searches for all keys at once, and only it has the option --no-ignore-case.
    command = [b"grep", b"--no-ignore-case", b"-abE", b"-e", _patterns(keys)]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        with tempfile.TemporaryFile() as log:
            # Without the additional line, no match would have the same status as the wrong usage of another grep.
            log.writelines((part, b"\n", _END))
            log.seek(0)
            return subprocess.run(command, stdin=log, capture_output=True, env=environment, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


@functools.lru_cache(maxsize=1)
def _patterns(keys: tuple[bytes, ...]) -> bytes:
    """Return the patterns for the keys, except for those that contain another one.

    A line end in a pattern makes grep compile one automaton, three times as fast as its search for fixed strings.
    """
    known, starts = frozenset(keys), {key[:3] for key in keys}
    cut = ((key, [at for at in range(len(key)) if key[at : at + 3] in starts]) for key in keys)
    parts = [k for k, ats in cut if known.isdisjoint(k[i:end] for i in ats for end in range(i + 3, len(k) + (i > 0)))]
    return re.sub(rb"([][\\.*^$+?(){}|])", rb"\\\1", b"\n".join(parts)) + b"\n%b$" % _END


@functools.lru_cache(maxsize=4096)
def parse(raw: str) -> Line:
    """Return the message and the prefix's elements of a line; a launcher passes on its ranks' lines at level INFO."""
    raw = _unwrap_json(raw)
    if "msg=" in raw and (message := _LOGFMT.search(raw)):
        return _of_fields(message)
    raw = raw.replace('\\"', '"')
    begin = _BEGIN.match(raw)
    if not begin:
        return Line(raw.lstrip(CONTINUED))
    end = begin.end()
    for _element in range(8):
        if not (more := _GO_ON.match(raw, end)):
            break
        end = more.end()
    prefix = raw[:end]
    level = _LEVEL.search(re.sub(r"\b(?:INFO|DEBUG)\W+(?=\[rank)", "", prefix))
    name = level[1] or level[0] if level else ""
    process = re.search(r"\([^)]*(?:pid|rank|tid)[^)]*\)|\[\d+,\d+\]|(?i:rank|TP|PP|DP)[ =_:]?\d+|\w+\[\d+\]", prefix)
    process_name = process[0] if process else prefix.split(" ")[0] if begin["host1"] else ""
    if "|" in prefix and not process:
        process_name = prefix.partition("|")[0].strip()
    return Line(raw[end:], process_name, _NAMES.get(name.upper(), name.upper()), begin["host1"] or begin["host2"] or "")


def _of_fields(message: t.Match[str]) -> Line:
    """Return the message of a logfmt line, followed by the remaining fields."""
    message_text, rest = message[2] or "", message.string[message.end() :]
    level = _NAMES.get(message[1].upper(), message[1].upper())
    text = (message_text + rest).replace('\\"', '"')
    is_error = _TELLS_ERROR.search(rest) or shows("error", message_text)
    if level in ("INFO", "NOTICE") and is_error and not shows("goes-on", text):
        level = IN_FIELD
    return Line(text, "", level)


def _unwrap_json(raw: str) -> str:
    """Return the message from a JSON line of Docker, Ansible or a server, as a logfmt line if it has a level."""
    if raw.startswith("{") and raw.rstrip().endswith("}"):
        try:
            fields = json.loads(raw)
        except (ValueError, RecursionError):
            return raw
        texts = (fields[name] for name in _FIELDS if isinstance(fields.get(name), str))
        message = next((text.rstrip("\n").replace("\n", " ") for text in texts), None)
        error = next(filter(None, map(fields.get, ("error", "err", "reason", "detail"))), None)
        error = error.get("message") if isinstance(error, dict) and len(fields) == 1 else error
        if message is None:
            return f"level=error msg={json.dumps(error, ensure_ascii=False)}" if isinstance(error, str) else raw
        level = "error" if fields.get("object") == "error" else fields.get("level")
        error_field = f" error={json.dumps(error, ensure_ascii=False)}" if error else ""
        msg = f"level={level} msg={json.dumps(message, ensure_ascii=False)}{error_field}"
        return msg if isinstance(level, str) else message
    if "! => {" in raw and (messages := _ANSIBLE.findall(raw)):
        return "\n".join(map(_unescape, messages))
    if raw.startswith("    ") and (value := _PRETTY.fullmatch(raw)):
        return _unescape(value[1])
    return raw


def _unescape(text: str) -> str:
    return re.sub(r"\\([^u])", lambda escape: {"n": "\n", "t": "\t", "r": ""}.get(escape[1], escape[1]), text)


def lines_of_process(window: str) -> str:
    """Return the first line of a part of a log and the following lines of the same process, without prefixes."""
    raw, *rest = window.split("\n")
    first = parse(raw)
    if first.text == raw:
        return window
    same = map(parse, (row for row in rest if first.process in row))
    return "\n".join([first.text, *(line.text for line in same if line.process == first.process)])
