"""Read a log, split the prefix of a line from its message, and tell whether the message reports an error.

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
    r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{7,9}Z(?: std(?:out|err) [FP])?(?= |$)| {4}default:(?= )|==> [\w.-]+:(?= )| *>(?= )",
    r"(?P<host1>[\w.-]+):\d+:\d+ \[\d+\]",
    rf"{_MONTH}{_TIME} (?:(?:{_LEVELS})|(?P<host2>[\w.-]+)) (?:[\w./@\\-]+\[\d+\]|(?!\d+:)[\w.@-][\w./@\\-]*):(?!\d)",
    r"\[ *[+]?\d+\.\d{3,}\](?: \[ *[A-Z]?\d+\])?",
    rf"\[(?:(?:[^\W\d_]{{2,4}}\.? )?{_MONTH}{_CLOCK}|{_TIME})[^\]\n]{{0,24}}\]",
    rf"(?:\[?[EF]\d{{3,4}}|[WI]\d{{4}}) {_CLOCK} +(?:\d+ )?[\w./-]+:\d+\]",
    rf"{_TIME}(?:: [EFIW] [\w./-]+:\d+\]|(?=\W))",
    r"\d+\.\d\d\.\d{3}\.\d{3} [EWID](?= )",
    r" *\((?:[\w.@/-]+,? )?(?:pid|rank|tid)[=: ]\S+?(?:(?:, ?| )\w+=\S+?)*\)",
    rf"\[?(?i:{_SHIP})[ :=_]?\d+\]?:",
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
_BEGIN = re.compile(rf"{CONTINUED}*(?:(?:{'|'.join(_HEAD)})[ \t]?)")
_GO_ON = re.compile(rf"(?:{'|'.join((*(re.sub(r'[?]P<[a-z0-9]+>', '?:', form) for form in _HEAD), *_MORE))})[ \t]?")
_LEVEL = re.compile(
    rf"\b(?=[A-Zdeilw])(?:(?:{_LEVELS}|TRAC|DEBU|ERRO|FATA)\b|level=(\w+)|[WI](?=\d{{4}} \d)|[EF](?=\d{{3,4}} \d)"
    r"|(?<=\[)[EFIW](?=:\w+:)"
    r"|(?<=[ \[<(-])(?i:error|warning|info|debug)(?=[\])> ])"
    r"|(?:(?<=\d )[EIDF]|(?<=\d: )[EFIW]|(?<=\.\d{3} )W)(?= ))"
)
_LOGFMT = re.compile(r'(?:^|\s)(?:level|lvl)=(\w+) (?:\S+ ){0,8}?msg=(?:"((?:[^"\\]|\\.)*)"?)?')
# A field with an error, and the wording of a program that continues without the failed part.
_TELLS_ERROR = re.compile(r'(?:^|\s)err(?:or)?=(?!(?:""|0|[Nn]il|[Nn]ull|[Nn]one|false|<nil>)?(?:\s|$))')
_GOES_WITHOUT = re.compile(r"\b(?:[Ss]kip(?:s|ped|ping)?|[Ff]alling back)\b")
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
    is_error = _TELLS_ERROR.search(rest) or _ERROR.search(message_text)
    if level in ("INFO", "NOTICE") and is_error and not _GOES_WITHOUT.search(text):
        level = IN_FIELD
    return Line(text, "", level)


def _unwrap_json(raw: str) -> str:
    """Return the message from a JSON line of Docker or Ansible, as a logfmt line if it has a level."""
    if raw.startswith("{") and raw.rstrip().endswith("}"):
        try:
            fields = json.loads(raw)
        except (ValueError, RecursionError):
            return raw
        message = next((fields[name] for name in _FIELDS if isinstance(fields.get(name), str)), None)
        if message is None:
            return raw
        message = str(message).rstrip("\n").replace("\n", " ")
        level = fields.get("level")
        error = fields.get("error") or fields.get("err") or fields.get("reason")
        if not isinstance(level, str):
            return message
        error_field = f" error={json.dumps(error, ensure_ascii=False)}" if error else ""
        return f"level={level} msg={json.dumps(message, ensure_ascii=False)}{error_field}"
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


# ---------------------------------------------------------------------------------------------------------------
# Recognise lines that report an error, for failures that the table does not cover.

#: Each line that :func:`error_class` recognises contains at least one of these texts.
ERROR_KEYS = tuple(
    key.encode()
    for key in (
        "rror:", "rror :", "rror[", "rror!", "rror response", "nvcc error", "CMake Error", "CUDA error", "MemoryError",
        "fatal:", "fatal ", "atal error", "FATAL", "CRITICAL", "E: ", "undefined reference", "cannot ", "Cannot ",
        "ould not ", "nable to", "ot found", "not support", "nsupported", "*** ", "Exception", "ssertion",
        "Segmentation fault", "core dumped", "Aborted", "Killed", "enied", "refused", "imed out", "mismatch",
        "terminate called", "ninja: ", "memory exhausted", "unbound variable", "final link failed", "not recognized",
        "curl: (", "NCCL WARN", "Xid", "BUG: ", "Uncorrectable", "panic", "Oops", "level=error", "level=fatal",
        "Caused by", "╰─▶", "Traceback (most recent call last)", "invalid", "Invalid", "is missing", "ERR", "FATA[",
        "ouldn't ", "an't ", "FAIL", "Fail", "died", "crash", "exited", "terminated", "killed", "orrupt", " E ", "[E",
        "E0", "E1", "can not ", "gave up", "ncaught", "nhandled", "exit code", "Server Error", "=> not", "aborting",
        "imeout ", "killing", 'tatusCode":', "[rank", "free(): ", "too quickly", "rror,", "rror -", "Value error,",
        "failed", "rror loading", "rror=", "err=", 'rror":', 'err":', "rrors detected", "ound: NO", "Err:",
        "o such file", "esource busy", "put/output error", "ot permitted", "nrecognized ", "nknown option",
        "nknown flag", "lready exists", "-E- ", "Error ", "raise ",
    )
)  # fmt: skip
# Lines that a tool itself marks as an error.
_ERROR = re.compile(
    r"(?<![^\s:)│])(?:fatal |Fatal )?[Ee]rror(?:\[\w+\])?\s*:"
    r"|^(?:(?:[\s│╰─>]*|E {3,}|Exception in thread \S+ )(?:[\w]+\.)*\w*(?:Error|Exception)\b(?::|\s*$)"
    r"|\s*(?:FATAL\b|Segmentation fault|Aborted|Killed|Illegal instruction|Bus error|Error!|Caused by:|╰─▶|Value error,"
    r")|panic: |CUDA error)|: CUDA error|(?<!\S)(?:fatal|FATAL|E|ERROR|CRITICAL|(?:nvcc|ptxas) fatal|LLVM ERROR)\s*:"
    r"|\b(?:NCCL WARN\b|Xid \(|BUG: |Oops:|[Ff]atal error(?:,| in ))|CMake Error|undefined reference to|cannot find -l"
    r"|[Aa]ssertion [^\n]*failed|memory exhausted|terminate called|final link failed|file not recognized|core dumped"
    r"|Error response from daemon|NVRM: (?:Xid|API mismatch)|NVIDIA-SMI has failed|Kernel panic|panicked at"
    r"|Failed to initialize NVML|AER: (?:Multiple )?Uncorrectable|(?<!\S)-E- "
)
# Lines that count as errors only if no tool reports a clearer one, because scripts also print them for mere attempts.
_PERHAPS = re.compile(
    r": not found$|command not found|Permission denied|unbound variable$|[Ee]xec format error|no matching manifest"
    r"|UCX +ERROR|[Uu]n(?:caught|handled) exception|\"statusCode\": ?50\d|marked dead"
    r"|\b(?:Fail - |FAIL\b(?![:= ]*0)|(?:worker|process|[Ee]ngine) died\b)"
    r"|^(?:curl: \(\d+\)|\s*\u00d7 |Error (?:\w+ing|while|in|at|from|during) "
    r"|npm (?:ERR!|error) |Err:\d+ |\W*(?:ERROR|error|FAIL(?:ED)?)\b(?!-)|\[[EC] \d"
    r"|.{0,60}?[\[<(](?:ERROR|FATAL|CRITICAL)[\])>]|(?:free|malloc|realloc)\w*\(\)|corrupted |double free )"
)
# Words that also occur in harmless lines: such a line counts as an error only at the end of a log without other errors.
_LOOSE = re.compile(
    r"\b(?:(?:[Ff]ailed|[Cc]annot|[Cc]ould not|[Uu]nable to|(?:not |un)supported|[Rr]efused|timed out|[Ii]nvalid"
    r"|is missing|denied|not found|found: NO|[Cc](?:ould|a)n't|[Cc]an not|died|crashed|incompatible|insufficient"
    r"|aborting|no compatible|not permitted|[Nn]o such file or directory|[Rr]esource busy|[Ii]nput/output error"
    r"|unrecognized|unknown (?:shorthand )?(?:option|flag)|already exists)\b|mismatch"
    r"|[Tt]imeout (?:waiting|expired|exceeded))|^(?:\w+\.)+[A-Z]\w+: "
)
# Attempts that will be repeated, or that are allowed to fail.
_AGAIN = re.compile(
    r"\b(?:[Ww]ill retry|Retrying|retrying|[Rr]etry scheduled|retries left)\b|\battempt \d"
    r"|^Connecting to .* connected\.$",
    re.MULTILINE,
)
_NEAR = 3
# A failed task of Ansible, and marks of a result that it does not count as a failure.
_FAILED_TASK = re.compile(rb"(?<!\S)(?:fatal|failed): \[")
_FORGIVING = (b"...ignoring", b'"ignore_errors": true', b'failed_when_result": false', b"failed_when_result: false")
_FORGIVEN = re.compile(b"|".join(rb'"?%b(?=,|\s|\})' % re.escape(text) for text in _FORGIVING))
#: The end of a play that handled its failures.
RESCUED = re.compile(
    rb"PLAY RECAP(?![^\0]*\b(?:failed|unreachable)=[1-9])(?=[^\0]*\brescued=[1-9])(?![^\0]*(?:PLAY \[|rror|fatal))"
)
#: The last line of a log that ends well.
ENDS_WELL = re.compile(
    r"\b(?:[Ss]uccessfully|[Dd]one|[Cc]ompleted?|[Ss]tarted|[Rr]eady|[Ff]inished)\b|GUI go to:|Found ninja-"
)
# Lines that report the consequence of an error elsewhere.
_WEAK = re.compile(
    r"FAILED: |\*\*\* \[|ninja: build stopped|ld returned \d+ exit status|error: [a-z]+(?:-[a-z]+)+$"
    r"|error: command '|Failed (?:building|to build)|non-zero (?:exit status|code)|ERROR: Exception:"
    r"|errors? (?:occurred|detected in the compilation|generated)|CMake build failed|Encountered error while"
    r"|Could not build wheels|could not compile `|nvcc error while executing|maturin failed"
    r"|compiling objects for extension|[Cc]argo build finished|through cargo|build backend returned an error"
    r"|did not (?:run|complete) successfully|[Ff]ailed to (?:build|prepare|start)\b|failed \(exit status"
    r"|(?:[Ss]ee|read) [\w ]*(?:above|below)|nitialization failed|ChildFailedError|Process(?:Raised|Exited)Exception"
    r"|EngineDeadError|encountered a fatal|(?:died|exited|terminated) unexpectedly|exit code: \d+$|^failed: \["
    r"|Sub-process \S+ returned|FAILED! =>|Generate step failed|Error in inspecting model|failed to be inspected"
    r"|Error raised in subprocess:|complete standard error output:"
    r"|\b(?:exited|finished|completed) with (?:exit )?(?:code|status):? \[?(?!1(?:30|43)\b)[1-9]"
    r"|[Ee]xited \([1-9]|repeated too quickly|(?:exited on|terminated with) signal|not expected\)|gave up: "
    r"|^(?:checking for |During handling of the above|The above exception was|Dumping |\s*note: |error\s*$)"
)
# Lines that only look like errors: from `git describe` outside a repository, CMake's feature tests, pip's resolver, and
# containerd under Docker, which has its own networks.
_HARMLESS = re.compile(
    r"not a git repository|No names found, cannot describe|no tag exactly matches|No annotated tags can describe"
    r"|dependency resolver does not currently|Warning: |Wno-error|failed=0|errors?[=:] ?0\b|Exception ignored in"
    r"|\b(?:warning: |WARNING\b|(?:0|no|No|zero) (?:tests? )?(?:errors?|failed(?! to)|failures)\b"
    r"|ACPI (?:BIOS )?Error\b)|cudaError\w+' in https|asynchronously reported|KeyboardInterrupt"
    r"|nv(?:Check|Assert)(?:Ok)?FailedNoLog|failed to load cni during init|Failed to import Triton kernels"
    r"|severity=Correct|tainting kernel|be preloaded|\(non-fatal\)|Failed to open libibverbs"
    r"|^(?:(?:64-bit library )?lib\S+: not found$|[\s│]*-- (?!Configuring incomplete)|W: "
    r"|\s*(?:[a-z][\w-]* (?:warn|WARN)|WARN)\b|debconf: |npm ERR! (?:Linux|argv|node) |sudo: unable to resolve host)"
)
#: Failures that programs report at a harmless level.
ANYWAY = re.compile(
    r'not expected\)|^gave up: |GGML_ASSERT\(|to connect to GCS|[Ee]ngine (?:core )?died|" 500 Internal'
    r"|worker died|exited with (?:code|status) (?!1(?:30|43)\b)[1-9]|placement group of specs for (?:[6-9]\d|\d{3,}) s"
)
_HEADING = re.compile(r"CMake Error[^\n]*:\s*$|^\s*Caused by:\s*$|\d validation errors? for \w+$|panicked at \S+:$")
# A message that continues in the next line.
_OPEN = re.compile(r"[^:]:\s*$")
# An exception without a message, or with only a key as its message, and Python's text between two chained exceptions.
_MUTE = re.compile(r"\s*(?:[\w.]+:?|[\w.]+: ?-?\d+|(?:\w+\.)*(?:Attribute|Index|Key|Lookup)Error:(?:\s+\S+){0,2})\s*$")
_CHAINED = re.compile(r"\s*(?:During handling of the above exception|The above exception was the direct cause)")
#: The levels of lines that report no failure.
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
# The source of an exception and the beginning of its message, as a traceback without its end shows it.
_RAISE = re.compile(r"(?:\s{4,})?raise ((?:\w+\.)*\w*(?:Error|Exception))\( *f?[\"']?")
# A line that does not end its sentence.
_OPEN_END = r"[^\n]*(?:[:,]|\b(?:an?|and|as|by|calling|following|for|from|in|of|or|running|the|to|using|via|with))\n"
#: A remedy in the words of the program that failed.
ADVICE = re.compile(
    r"\b(?:To (?:work around|fix|resolve|solve|avoid|enable|disable) |(?:[Pp]lease|[Yy]ou (?:can|should|may|could)) "
    r"(?:also )?(?:install|(?:re-?)?run|set|use|add|pass|specify|(?:up|down)grade|update|(?:reduc|increas|decreas"
    r"|disabl|enabl)e|(?:try|consider|make sure))\b|(?:[Tt]ry(?! our)|[Cc]onsider|[Mm]ake sure|Run(?= ['`])|Install an?"
    rf"|(?:help|hint):) )(?:{_OPEN_END}\s*\S[^\n]{{3,200}}|(?!{_OPEN_END})[^\n]{{4,200}}(?:\n ?[a-z][^\n]{{4,200}})?)"
)


def error_class(raw: str, below: t.Callable[[], str]) -> tuple[int, str]:
    """Return the class and the text of a line.

    The classes: 4 reports an error; 3 may report one; 2 reports the consequence of another error; 1 reports an error
    only at the end of a log; 0 reports none; -1 reports one that is tried again; -2 (the source of an exception) and
    -3 (a part of a message) count only in a log without others.

    :param below: a function that returns the line and the lines after it.
    """
    line = parse(raw)
    if (line.level in _QUIET and not ANYWAY.search(line.text)) or _HARMLESS.search(line.text):
        return 0, ""
    # Ignore quoted text, which the line only mentions.
    is_marked = line.level in ("ERROR", "CRITICAL", "FATAL") and bool(line.text.strip())
    is_error = bool(_ERROR.search(re.sub(r'"[^"]*"', '""', line.text))) or (
        (is_marked or _FAILED_TASK.search(raw.encode())) and line.text[:1].strip() != ""
    )
    follows = TRACEBACK in line.text or bool(_WEAK.search(line.text))
    if not (is_error or follows or line.level == IN_FIELD or _PERHAPS.search(line.text) or line.level in _QUIET):
        goes_on = _AGAIN.search(line.text) or _GOES_WITHOUT.search(line.text)
        loose = int(bool(_LOOSE.search(line.text)) and not goes_on)
        return -2 if _RAISE.match(line.text) else loose or -3 * is_marked, line.text
    window = lines_of_process(below())
    if is_tried_again(window):
        return -1, ""
    rest = window[len(line.text) :]
    above_cause = is_error and (TRACEBACK in rest.lstrip("\n").partition("\n")[0] or _INNER.match(rest))
    is_bare = _HEADING.search(line.text) and not rest.strip()
    if follows or above_cause or is_bare or is_mute(line.text, rest):
        return 2, line.text
    return 4 if is_error else 3, _message(line.text, rest.lstrip("\n"))


def is_tried_again(window: str) -> bool:
    """Tell whether the first line of a part of a log, or a line just after it, shows a retry or an ignored failure."""
    return bool(_AGAIN.search("\n".join(window.split("\n", _NEAR + 1)[: _NEAR + 1])))


def forgiven(log: bytes) -> t.Iterator[int]:
    """Yield, in turn, where a result that Ansible does not count as a failure starts in a log, and where it ends."""
    end = 0
    for mark in _FORGIVEN.finditer(log) if any(text in log for text in _FORGIVING) else ():
        row = log.rfind(b"\n", 0, mark.start()) + 1
        if row < end:
            continue
        first, before, start = max(end, row - CHUNK), log[row : mark.start()], row
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
        yield from (start, end)


def traceback_end(window: str) -> tuple[int, int, str]:
    """Return the last line of the traceback that starts a window: its number, counted from 0, its class and its text.

    That line names the exception. The class is 0 if the traceback does not end within the window.
    """
    raw, *rest = window.split("\n")
    first = parse(raw)
    if first.level in _QUIET or "Exception Group" in raw:
        return 0, 0, ""
    # Python indents the exceptions of a group with a vertical bar.
    rail = re.match(r"\s*\| |", first.text)
    start = rail.end() if rail else 0
    depth = len(first.text) - len(first.text[start:].lstrip())
    # IPython names the exception in the first line, too, and does not indent the places.
    name = re.sub(r"(?!\w+ {2,}Traceback).*| .*", "", first.text)
    is_flat = any(parse(row).text[start:].startswith('File "') for row in (raw, *rest[:3]))
    names_error = re.compile(_RAISED if is_flat else re.escape(name)).match
    for number, below in enumerate(rest, 1):
        line = parse(below)
        if line.process != first.process or not line.text.strip():
            continue
        text = line.text[start:]
        if len(line.text) - len(text.lstrip()) <= depth and names_error(text):
            after = lines_of_process("\n".join(rest[number - 1 : number + _NEAR])).partition("\n")[2]
            kind = 2 if _WEAK.search(text) or is_mute(text, after) else 4
            return number, 0 if "KeyboardInterrupt" in text else kind, _message(text, after)
    return 0, 0, ""


def raised(text: str) -> str:
    """Return the exception and the message in a source line that raises it, or ''."""
    match = _RAISE.match(text)
    return re.sub(r"""(["']) *f?\1|["']\)+$""", "", f"{match[1]}: {text[match.end() :]}") if match else ""


def packages_in_traceback(above: str) -> dict[str, str]:
    """Return the package of the last frame of the traceback that ends a text, and the one that called it, or ''."""
    texts = (parse(row).text for row in reversed(above.rstrip("\n").split("\n")))
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
