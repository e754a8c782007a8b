"""The reports of many hosts: their files, the state of each host, and its line on a terminal."""

from __future__ import annotations

import hashlib
import json
import os
import re
import typing as t

from ....module_utils._core import phrases, sanitize
from ....module_utils._core.errors import SparkforgeError
from ....module_utils._core.verdict import FAIL, FORMAT, NO_REPORT, PROVEN, UNPROVEN, VERDICTS, remark
from . import REQUIREMENTS, Report, count_words
from .form import report_problems

#: Names of the merged files and of the forecast (``tools/forecast``), which are not allowed for a host's files.
FLEET, INDEX, FORECAST = "fleet", "index", "forecast"
#: The suffix before the extension of every file that a run with --check writes.
CHECKED = ".check"


def file_stem(name: str, check_mode: bool = False) -> str:
    """Return the base name of a host's ``.json`` and ``.html`` files; it differs between hosts.

    :raises SparkforgeError: if the name contains no usable character.
    """
    # An inventory may use any host name, for example [::1]:2222.
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:150]
    if not stem:
        raise SparkforgeError(
            f"A report cannot be named after {name!r}.", "Give the host a name with letters or digits."
        )
    if stem != name or stem.lower() in (FLEET, INDEX, FORECAST) or stem.lower().endswith(CHECKED):
        stem = f"{stem}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return stem + (CHECKED if check_mode else "")


def load(path: str, host: str) -> Report:
    """Read a host's report.

    :raises SparkforgeError: if it does not exist, is damaged, has another format or belongs to another host.
    """

    def refuse(constant: str) -> t.NoReturn:
        raise ValueError(f"{constant} is not a JSON number")

    remedy = f"Run playbooks/verify.yml -l {host}, which rewrites it."
    try:
        with open(path, encoding="utf-8") as stream:
            report = json.load(stream, parse_constant=refuse)
    except FileNotFoundError as error:
        raise SparkforgeError(
            f"There is no report {path}.",
            f"Run playbooks/verify.yml -l {host}; if you already did, an earlier step failed on this host: see its "
            f"message.",
        ) from error
    except OSError as error:
        raise SparkforgeError(
            f"The report {path} cannot be read: {error.strerror}.", "Make it readable for your account."
        ) from error
    except (ValueError, RecursionError) as error:
        raise SparkforgeError(f"The report {path} is damaged: {error}.", remedy) from error
    version = report.get("format") if isinstance(report, dict) else None
    if version != FORMAT:
        kind = (
            f"has format {version!r:.80}" if version is not None else "has no format, so it is not from this collection"
        )
        raise SparkforgeError(f"The report {path} {kind}; this version reads format {FORMAT}.", remedy)
    problems = report_problems(report)
    if problems:
        raise SparkforgeError(f"The report {path} is damaged: {phrases.some(problems, 1)}.", remedy)
    if report["host"] != host:
        raise SparkforgeError(f"The report {path} belongs to {report['host']}.", remedy)
    return t.cast(Report, report)


def merge(
    directory: str, hosts: t.Iterable[str], stopped: t.Mapping[str, str] | None = None, check_mode: bool = False
) -> Report:
    """Return the report and verdict of each host, worst first.

    :param stopped: hosts on which this run stopped early, each with the reason; their report may be an older one.
    """
    rows = []
    for host in dict.fromkeys(hosts):
        row: Report = {"host": host, "verdict": NO_REPORT, "stopped": (stopped or {}).get(host, "")}
        row.update(file=None, report=None, cause="", remedy="")
        try:
            file = f"{file_stem(host, check_mode)}.json"
            report = load(os.path.join(directory, file), host)
            row.update(verdict=report["verdict"], file=file, report=report)
        except SparkforgeError as error:
            row.update(cause=error.cause, remedy=error.remedy)
        rows.append(row)
    rows.sort(key=lambda row: (VERDICTS.index(row["verdict"]), _natural_key(row["host"])))
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in reversed(VERDICTS)}
    return {
        "format": FORMAT,
        "written": phrases.now(),
        "check_mode": check_mode,
        "summary": {"hosts": len(rows), **counts},
        "hosts": rows,
    }


def _natural_key(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts spark2 before spark10."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


def line(row: t.Mapping[str, t.Any]) -> str:
    """Return a line for the terminal about one host of a fleet."""
    if row["report"] is None:
        why = f"The host {row['stopped']}." if row.get("stopped") else f"{row['cause']} {row['remedy']}"
        text = f"{row['host']}: {row['verdict']}; {why}"
    else:
        report = row["report"]
        counts = count_words(report["summary"])
        where = f" on the {report['scope'].upper()}" if row["verdict"] == PROVEN else ""
        state = "; ".join(filter(None, [f"{row['verdict']}{where}", remark(report)]))
        text = f"{row['host']}: {state} ({counts}), checked {report['started'] or report['written']}"
        if row["stopped"]:
            text += f"; the report may be an older one: the host {row['stopped']}"
    return sanitize.text(text)


def next_lines(rows: t.Sequence[t.Mapping[str, t.Any]], activate: str, joined: t.Collection[str] = ()) -> list[str]:
    """Return the two lines to type next on hosts that are ready, or [] if none is ready.

    :param rows: hosts that meet the requirement.
    :param activate: the script that activates the environment.
    :param joined: hosts on which a user was added to the group in this run.
    """
    hosts = [row["host"] for row in rows if row["verdict"] in (PROVEN, UNPROVEN)]
    if not hosts or not activate:
        return []
    anew = ", after a new login (for the new group)" if set(joined) & set(hosts) else ""
    check = "import torch; print(torch.__version__, torch.cuda.is_available())"
    return [
        sanitize.text(f"next, on {phrases.some(hosts, 3)}{anew}: . {activate}"),
        f'and to see that it is there: python -c "{check}"',
    ]


def unmet(row: t.Mapping[str, t.Any], require: str) -> str:
    """Return why a host does not meet the requirement, as cause and remedy, or ''."""
    if require not in REQUIREMENTS:
        raise ValueError(require)
    verdict = row["verdict"]
    # The run did not finish its work, regardless of the proof's verdict.
    if row["stopped"]:
        return sanitize.text(f"{row['host']} {row['stopped']}.")
    if require == "none" or verdict == PROVEN or (verdict == UNPROVEN and require == UNPROVEN):
        return ""
    if verdict == NO_REPORT:
        return sanitize.text(f"{row['cause']} {row['remedy']}")
    if verdict == FAIL:
        failed = [check for check in row["report"]["checks"] if check["status"] == FAIL]
        wrong_checks = [check["name"] for check in failed if check.get("reason") == "wrong"]
        parts: list[str] = []
        for clause, names in (
            ("computes wrong numbers", wrong_checks),
            ("failed without a wrong number", [check["name"] for check in failed if check["name"] not in wrong_checks]),
        ):
            if names:
                parts.append(f"{clause}: {phrases.some(names, 8)}")
        text = f"{row['host']} {'; it also '.join(parts)}"
        text += f" ({besides})" if (besides := remark(row["report"])) else ""
        return sanitize.text(f"{text}. The report gives the cause and remedy of each.")
    text = " ".join(row["report"]["notices"])
    return sanitize.text(
        f"{row['host']} is unproven: nothing failed, but numbers that the profile requires were not computed."
        f"{' ' + text if text else ''} Let the proof compute them (verify_checks, verify_environment), or accept it"
        " with report_require: unproven."
    )
