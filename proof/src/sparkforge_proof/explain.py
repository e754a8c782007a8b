"""``sparkforge explain FILE``: find the first real error in a log, its cause and its remedy."""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import socket
import stat
import sys
import typing as t

from ._shared.module_utils._core import sanitize
from ._shared.module_utils._core.errors import SparkforgeError
from ._shared.module_utils._diagnosis import lines, scan
from ._shared.module_utils._diagnosis.anonymous import Anonymous

#: The exit codes; 2 means a file that is not a log, or cannot be read.
EXPLAINED, REFUSED, UNKNOWN, NO_ERROR = 0, 2, 3, 4
#: The page with a section for each rule.
PAGE = "docs/troubleshooting.md"
#: The maximum number of files that are read from a folder.
MOST_FILES = 1000

_SAMPLE = 1 << 16
# Control characters that a log should not contain; a power loss, a terminal or another encoding leaves a few.
_CONTROL = bytes(set(range(32)) - set(b"\0\a\b\t\n\v\f\r\x1b")) + b"\x7f"
_FEW = 0.02
# Host names in Ansible's output and in shell prompts.
_NAMES = re.compile(r"^(?:fatal|failed|ok|changed|unreachable): \[([\w.-]+)\]|\b[\w-]+@([\w.-]+):", re.MULTILINE)
_DOMAIN = re.compile(r"\b[a-z][a-z0-9-]*\.(?:com|org|io|co|net)\b(?![.\w-])")
_HEADINGS = {
    EXPLAINED: "the failure is known",
    UNKNOWN: "the log has an error, but does not settle its cause",
    NO_ERROR: "no error was found in this log; that does not mean that the host is sound",
}


class Answer(t.NamedTuple):
    """The explanation of a log."""

    name: str
    status: int
    diagnosis: scan.Diagnosis

    def as_json(self) -> dict[str, t.Any]:
        """Return the explanation as a JSON-serializable dict, without host names."""
        diagnosis, hidden = self.diagnosis, Anonymous(_hosts(self.diagnosis), public_domains())
        rows = [{"number": number, "text": hidden.text(text)} for number, text in diagnosis.around]
        cause, remedy = scan.texts_of(diagnosis, hidden.value)
        return {
            "file": self.name,
            "status": self.status,
            "line": diagnosis.line,
            "lines": rows,
            "rule": diagnosis.rule,
            "cause": cause,
            "remedy": remedy,
            "sources": diagnosis.sources,
            "page": f"{PAGE}#{diagnosis.rule}" if diagnosis.rule else None,
            "notices": [" ".join(scan.texts_of(notice, hidden.value)).strip() for notice in diagnosis.notices],
        }


def main(argv: t.Sequence[str] | None = None, program: str = "sparkforge explain") -> int:
    """Explain a log, print the explanation, and return the exit code."""
    parser = argparse.ArgumentParser(
        program,
        description="Find the first real error in a log, its cause and its remedy.",
        epilog=f"example:\n  {program} build.log\n\nexit codes:\n"
        "  0    the failure is known: its message has one cause, or other lines decide between several\n"
        "  2    wrong usage: there is no such file, or it is not text\n"
        "  3    the log has an error whose cause is not known, or that has several, or only the consequence of one\n"
        "  4    no line reports an error\n  130  interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="a log, a folder of logs, or - for standard input (journalctl -u UNIT | …)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args(argv)
    try:
        answers, left_out = explain_path(arguments.file)
    except SparkforgeError as error:
        print(sanitize.text(f"{program}: {error.cause}\n  {error.remedy}"), file=sys.stderr)
        return REFUSED
    status = min(answer.status for answer in answers)
    if arguments.json:
        rows = [answer.as_json() for answer in answers]
        texts = [json.dumps({"status": status, "answers": rows, "not_looked_at": left_out}, indent=2)]
    else:
        printed = [answer for answer in answers if answer.status != NO_ERROR] or answers[:1]
        texts = [sanitize.text(text_of(answer.as_json())) for answer in printed]
        if len(printed) < len(answers):
            texts.append(f"{len(answers) - len(printed)} more logs without a known error.")
        texts += [sanitize.text(f"Not read: {name}") for name in left_out]
    try:
        print(*texts, sep="\n", flush=True)
    except BrokenPipeError:
        # The reader, such as head, needs no more. Python would report the pipe again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def explain_path(path: str) -> tuple[list[Answer], list[str]]:
    """Return the explanations of a log or of each log in a folder, and the files that were not read.

    :raises SparkforgeError: if no log can be read.
    """
    if path == "-":
        return [_answer("-", sys.stdin.buffer)], []
    if not os.path.isdir(path):
        return [_of_file(path)], []
    answers: list[Answer] = []
    left_out: list[str] = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(folder, name)
            if len(answers) >= MOST_FILES or not stat.S_ISREG(os.lstat(file).st_mode):
                left_out.append(f"{file}: {f'beyond {MOST_FILES} logs' if len(answers) >= MOST_FILES else 'a device'}")
                continue
            try:
                answers.append(_of_file(file))
            except SparkforgeError as error:
                left_out.append(error.cause)
    if not answers:
        raise SparkforgeError(f"The folder {path} has no log.", "Name a log, or a folder with logs.")
    return answers, left_out


@functools.cache
def public_domains() -> frozenset[str]:
    """Return the last two labels of the public host names in the rules and their sources."""
    texts = (" ".join((str(rule.values), rule.pattern, rule.cause, rule.remedy, *rule.links)) for rule in scan.RULES)
    return frozenset(name for text in texts for name in _DOMAIN.findall(text.replace("\\", "")))


def _of_file(path: str) -> Answer:
    try:
        with open(path, "rb", buffering=0) as stream:
            return _answer(path, stream)
    except OSError as error:
        raise SparkforgeError(
            f"{path} cannot be read: {error.strerror}.", "Correct the name, or run this as an account that may read it."
        ) from error


def _answer(name: str, stream: t.BinaryIO) -> Answer:
    diagnosis = scan.diagnose(_checked(name, lines.blocks(stream)))
    status = EXPLAINED if diagnosis.is_explained else UNKNOWN if diagnosis.rule or diagnosis.first_error else NO_ERROR
    return Answer(name, status, diagnosis)


def _checked(name: str, blocks: t.Iterator[bytes]) -> t.Iterator[bytes]:
    """Yield the blocks of a log after checking them.

    :raises SparkforgeError: if the blocks are not text.
    """
    sampled = controls = 0
    for block in blocks:
        if sampled < _SAMPLE:
            text = block[:_SAMPLE].replace(b"\0", b"")
            sampled += len(text)
            controls += len(text) - len(text.translate(None, _CONTROL))
            if controls > _FEW * sampled + 1:
                raise SparkforgeError(
                    f"{name} is not a text.", "Unpack it (the command file shows its type), or name the log itself."
                )
        yield block


def text_of(answer: t.Mapping[str, t.Any]) -> str:
    """Format an answer as text."""
    heading = _HEADINGS[answer["status"]]
    rows = [f"{answer['file']}, line {answer['line']}: {heading}" if answer["line"] else f"{answer['file']}: {heading}"]
    width = len(str(max((line["number"] for line in answer["lines"]), default=0)))
    for line in answer["lines"]:
        rows.append(f"{'>' if line['number'] == answer['line'] else ' '} {line['number']:{width}} | {line['text']}")
    doubt = answer["status"] == UNKNOWN
    known = (", perhaps" if answer["rule"] else ", not known") * doubt
    rows += [f"Cause{known}: {answer['cause']}", f"Remedy{', often' * doubt}: {answer['remedy']}"]
    rows += [f"Also seen: {notice}" for notice in answer["notices"]]
    rows += [f"Rule: {answer['page'] or 'none'}", f"Source: {', '.join(answer['sources']) or 'none'}"]
    return "\n".join(rows)


def of_result(result: t.Mapping[str, t.Any] | None) -> list[str]:
    """Explain a failed Ansible result that does not name its own cause; return a line, or [] if it is unknown."""
    result = result or {}
    texts = [str(result[key]) for key in ("stderr", "module_stderr", "stdout", "msg") if result.get(key)]
    known = scan.diagnose("\n".join(texts)) if "cause" not in result else None
    return [f"{known.cause} {known.remedy} ({PAGE}#{known.rule})"] if known and known.is_explained else []


def _hosts(diagnosis: scan.Diagnosis) -> set[str]:
    """Return the host names in the quoted lines, and the name of this host."""
    text = "\n".join(line for _number, line in diagnosis.around)
    named = {lines.parse(line).host for _number, line in diagnosis.around}.union(*_NAMES.findall(text))
    return (named | {socket.gethostname()}) - {"", "localhost"}
