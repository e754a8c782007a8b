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
# Failures that programs report at a harmless level.
_ANYWAY = re.compile(
    r'not expected\)|^gave up: |GGML_ASSERT\(|to connect to GCS|[Ee]ngine (?:core )?died|" 500 Internal'
    r"|worker died|exited with (?:code|status) (?!1(?:30|43)\b)[1-9]|placement group of specs for (?:[6-9]\d|\d{3,}) s"
)
_HEADING = re.compile(r"CMake Error[^\n]*:\s*$|^\s*Caused by:\s*$|\d validation errors? for \w+$|panicked at \S+:$")
# A message that continues in the next line.
_OPEN = re.compile(r"[^:]:\s*$")
# An exception without a message, or with only a key as its message, and Python's text between two chained exceptions.
_MUTE = re.compile(r"\s*(?:[\w.]+:?|[\w.]+: ?-?\d+|(?:\w+\.)*(?:Attribute|Index|Key|Lookup)Error:(?:\s+\S+){0,2})\s*$")
_CHAINED = re.compile(r"\s*(?:During handling of the above exception|The above exception was the direct cause)")
# The levels of lines that report no failure.
_TALK = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE"})
_QUIET = _TALK | {"WARNING"}
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
    if (line.level in _QUIET and not _ANYWAY.search(line.text)) or _HARMLESS.search(line.text):
        return Kind.NONE, ""
    # Ignore quoted text, which the line only mentions.
    is_marked = line.level in ("ERROR", "CRITICAL", "FATAL") and bool(line.text.strip())
    is_error = bool(lines.ERROR.search(re.sub(r'"[^"]*"', '""', line.text))) or (
        (is_marked or _FAILED_TASK.search(raw.encode())) and line.text[:1].strip() != ""
    )
    follows = TRACEBACK in line.text or bool(_WEAK.search(line.text))
    if not (is_error or follows or line.level == lines.IN_FIELD or _PERHAPS.search(line.text) or line.level in _QUIET):
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


def is_talk(line: lines.Line) -> bool:
    """Tell whether a line's level is one at which programs seldom report a failure, and the line reports none."""
    return line.level in _TALK and not _ANYWAY.search(line.text)


def _classify_loosely(line: lines.Line, is_marked: bool) -> Kind:
    """Return the kind of a line that has no sign of an error except, if ``is_marked``, its level."""
    if _RAISE.match(line.text):
        return Kind.SOURCE
    if _LOOSE.search(line.text) and not (_AGAIN.search(line.text) or lines.GOES_WITHOUT.search(line.text)):
        return Kind.LOOSE
    return Kind.PART if is_marked else Kind.NONE


def is_tried_again(window: str) -> bool:
    """Tell whether the first line of a part of a log, or a line just after it, shows a retry or an ignored failure."""
    return bool(_AGAIN.search("\n".join(window.split("\n", _NEAR + 1)[: _NEAR + 1])))


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
            kind = Kind.CONSEQUENCE if _WEAK.search(text) or is_mute(text, after) else Kind.ERROR
            return number, Kind.NONE if "KeyboardInterrupt" in text else kind, _message(text, after)
    return 0, Kind.NONE, ""


def raised(text: str) -> str:
    """Return the exception and the message in a source line that raises it, or ''."""
    match = _RAISE.match(text)
    return re.sub(r"""(["']) *f?\1|["']\)+$""", "", f"{match[1]}: {text[match.end() :]}") if match else ""


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
