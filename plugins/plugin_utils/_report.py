# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Reports of hosts: checked against ``docs/report.schema.json``, merged for a fleet, shown as one page.

What a report says comes from a host and is trusted in nothing: not in its form, not in its text.
"""

from __future__ import annotations

import base64
import calendar
import functools
import hashlib
import json
import math
import os
import re
import time
import typing as t

import jinja2
import markupsafe
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

FORMAT = 3
PASS, WARN, FAIL, SKIP = "pass", "warn", "fail", "skip"
PROVEN, UNPROVEN, NO_REPORT = "proven", "unproven", "no report"
#: The worst first.
VERDICTS = (FAIL, NO_REPORT, UNPROVEN, PROVEN)
#: What ``require`` may be; what is at the right satisfies what is at the left.
REQUIREMENTS = ("none", UNPROVEN, PROVEN)

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.normpath(os.path.join(HERE, "..", "..", "docs", "report.schema.json"))

#: Names of the merged files, which no host's files may have.
FLEET, INDEX = "fleet", "index"
#: Before the ending of whatever a run with --check writes.
CHECKED = ".check"

Report = dict[str, t.Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_KINDS = {"object": "a mapping", "array": "a list", "string": "text", "boolean": "true or false", "null": "null"}

# Control characters, marks that turn the direction of text around, and halves of surrogate pairs: they would hide or
# reorder what a page or a terminal shows.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_UNITS = {
    "tflops": "TFLOP/s",
    "tops": "TOP/s",
    "gb_per_s": "GB/s",
    "gib_per_s": "GiB/s",
    "mb_per_s": "MB/s",
    "mhz": "MHz",
    "watts": "W",
    "percent": "%",
    "us": "µs",
    "ms": "ms",
}


# -- the form of a report


def problems(value: t.Any, schema: t.Mapping[str, t.Any], root: t.Mapping[str, t.Any], where: str = "") -> list[str]:
    """Return where and how a value differs from a JSON schema, of the keywords that our schema uses.

    The library jsonschema is no requirement of ansible-core; the tests compare the two.
    """
    found: list[str] = []
    path = where or "the report"
    if "$ref" in schema:
        found += problems(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, where)
    for part in schema.get("allOf", ()):
        found += problems(value, part, root, where)
    if "anyOf" in schema and all(problems(value, part, root, where) for part in schema["anyOf"]):
        found += problems(value, schema["anyOf"][0], root, where)
    if "if" in schema:
        branch = "else" if problems(value, schema["if"], root, where) else "then"
        found += problems(value, schema.get(branch, {}), root, where)
    if "type" in schema:
        kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        if not any(_is(value, kind) for kind in kinds):
            found.append(f"{path} is {_shown(value)} and not {' or '.join(_KINDS.get(k, f'a {k}') for k in kinds)}")
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(_same(value, other) for other in allowed):
        found.append(f"{path} is {_shown(value)} and not {' or '.join(_shown(other) for other in allowed)}")
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            found.append(f"{path} is empty")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{path} is {_shown(value)}, which does not match {schema['pattern']}")
    if _is(value, "number") and value < schema.get("minimum", value):
        found.append(f"{path} is {value} and not at least {schema['minimum']}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += problems(item, schema["items"], root, f"{where}[{index}]")
    if isinstance(value, dict):
        found += [f"{path} has no {name}" for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        for name, item in value.items():
            inner = f"{where}.{name}" if where else name
            if name in known:
                found += problems(item, known[name], root, inner)
            elif others is False:
                found.append(f"{path} has the unknown key {_shown(name)}")
            elif others is not True:
                found += problems(item, others, root, inner)
    return found


def _is(value: t.Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float):
        return math.isfinite(value) and (kind == "number" or (kind == "integer" and value.is_integer()))
    return isinstance(value, _TYPES[kind])


def _same(value: t.Any, other: t.Any) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _shown(value: t.Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= 80 else f"{text[:77]}..."


@functools.lru_cache(maxsize=1)
def schema() -> dict[str, t.Any]:
    """Return the schema of a report."""
    try:
        with open(SCHEMA, encoding="utf-8") as stream:
            return t.cast(dict[str, t.Any], json.load(stream))
    except OSError as error:
        raise SparkforgeError(
            f"{SCHEMA}, a part of this collection, cannot be read: {error.strerror}.",
            "Install the collection again.",
            path=SCHEMA,
        ) from error


def report_problems(report: t.Any) -> list[str]:
    """Return what is wrong with a report: its form, and counts that are not those of its checks."""
    found = problems(report, schema(), schema())
    if found:
        return found
    names = [check["name"] for check in report["checks"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        found.append(f"checks has two named {_shown(twice[0])}")
    if report["summary"] != summary(report["checks"]):
        found.append("summary does not count what is in checks")
    return found


def summary(checks: t.Iterable[t.Mapping[str, t.Any]]) -> dict[str, int]:
    """Count the checks by status."""
    counts = dict.fromkeys((PASS, WARN, FAIL, SKIP), 0)
    for check in checks:
        counts[check["status"]] = counts.get(check["status"], 0) + 1
    return counts


def count_words(counts: t.Mapping[str, int]) -> str:
    """Return ``61 pass, 0 fail, 9 skip``, with the warnings where there are any."""
    return ", ".join(
        f"{counts[status]} {status}" for status in (PASS, WARN, FAIL, SKIP) if status != WARN or counts[WARN]
    )


def now() -> str:
    """Return the time as reports have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def complete(report: t.Mapping[str, t.Any], host: str, check_mode: bool) -> Report:
    """Return a report with what may be left out of it, ready to be written.

    :raises SparkforgeError: it is none.
    """
    # Ansible's own types of text become plain ones, and what is not JSON raises TypeError.
    given = json.loads(json.dumps(report))
    checks = [
        {
            "family": "host",
            **dict.fromkeys(("measured", "bound", "cause", "remedy", "evidence"), ""),
            **dict.fromkeys(("required", "numeric", "blocked"), False),
            "seconds": 0.0,
            "ratio": None,
            "rates": {},
            **check,
        }
        if isinstance(check, dict)
        else check
        for check in given.get("checks") or []
    ]
    whole = {
        "format": FORMAT,
        "host": host,
        "environment_id": None,
        "scope": "none",
        "started": None,
        "seconds": 0.0,
        "devices": [],
        "driver": None,
        "kernel": None,
        "software": {},
        "packages": {},
        "notices": [],
        "resolved": {},
        "drift": {"since": None, "changes": []},
        **given,
        "check_mode": check_mode,
        "checks": checks,
        "written": now(),
    }
    if "summary" not in given and all(isinstance(check, dict) and "status" in check for check in checks):
        whole["summary"] = summary(checks)
    found = report_problems(whole)
    if found:
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise SparkforgeError(
            f"What is to be written is not a report: {'; '.join(found[:5])}{more}.",
            f"Give verify_report what cuda_proof returned, or what {os.path.basename(SCHEMA)} describes.",
            problems=found,
        )
    return whole


def text(value: t.Mapping[str, t.Any]) -> str:
    """Return a report or a fleet as the text of its file."""
    return json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n"


# -- files


def file_stem(name: str, check_mode: bool = False) -> str:
    """Return what a host's files are named before ``.json`` and ``.html``; no two hosts have the same.

    :raises SparkforgeError: no file can be named after it.
    """
    # An inventory may call a host anything, [::1]:2222 for one.
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:150]
    if not stem:
        raise SparkforgeError(
            f"A report cannot be named after {name!r}.", "Give the host a name with letters or digits."
        )
    if stem != name or stem.lower() in (FLEET, INDEX) or stem.lower().endswith(CHECKED):
        stem = f"{stem}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return stem + (CHECKED if check_mode else "")


def load(path: str, host: str) -> Report:
    """Read a host's report.

    :raises SparkforgeError: there is none, or it is damaged, of another format or of another host.
    """

    def refuse(constant: str) -> t.NoReturn:
        raise ValueError(f"{constant} is not a number of JSON")

    again = f"Run playbooks/verify.yml -l {host}, which writes it anew."
    try:
        with open(path, encoding="utf-8") as stream:
            report = json.load(stream, parse_constant=refuse)
    except FileNotFoundError as error:
        raise SparkforgeError(
            f"There is no report {path}.",
            f"Run playbooks/verify.yml -l {host}; if you did, an earlier step stopped on this host: see its message.",
            path=path,
        ) from error
    except OSError as error:
        raise SparkforgeError(
            f"The report {path} cannot be read: {error.strerror}.", "Make it readable for yourself.", path=path
        ) from error
    except (ValueError, RecursionError) as error:
        raise SparkforgeError(f"The report {path} is damaged: {error}.", again, path=path) from error
    found = report.get("format") if isinstance(report, dict) else None
    if found != FORMAT:
        kind = f"has format {_shown(found)}" if found is not None else "is none of this collection's: it has no format"
        raise SparkforgeError(f"The report {path} {kind}; format {FORMAT} is read here.", again, path=path)
    wrong = report_problems(report)
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise SparkforgeError(f"The report {path} is damaged: {wrong[0]}{more}.", again, path=path)
    if report["host"] != host:
        raise SparkforgeError(f"The report {path} is that of {report['host']}.", again, path=path)
    return t.cast(Report, report)


# -- many hosts


def merge(
    directory: str, hosts: t.Iterable[str], stopped: t.Mapping[str, str] | None = None, check_mode: bool = False
) -> Report:
    """Return what is known of each host, the worst first.

    :param stopped: hosts on which this run stopped before its end, each with why, so that their report may be older.
    """
    rows = []
    for host in dict.fromkeys(hosts):
        row: Report = {
            "host": host,
            "verdict": NO_REPORT,
            "stopped": (stopped or {}).get(host, ""),
            "file": None,
            "report": None,
        }
        row.update(cause="", remedy="")
        try:
            file = f"{file_stem(host, check_mode)}.json"
            report = load(os.path.join(directory, file), host)
            row.update(verdict=report["verdict"], file=file, report=report)
        except SparkforgeError as error:
            row.update(cause=error.cause, remedy=error.remedy)
        rows.append(row)
    rows.sort(key=lambda row: (VERDICTS.index(row["verdict"]), _natural(row["host"])))
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in reversed(VERDICTS)}
    return {
        "format": FORMAT,
        "written": now(),
        "check_mode": check_mode,
        "summary": {"hosts": len(rows), **counts},
        "hosts": rows,
    }


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a key by which spark2 comes before spark10."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


def line(row: t.Mapping[str, t.Any]) -> str:
    """Return one line for a terminal about one host of a fleet."""
    if row["report"] is None:
        why = f"The host {row['stopped']}." if row.get("stopped") else f"{row['cause']} {row['remedy']}"
        said = f"{row['host']}: {row['verdict']}; {why}"
    else:
        report = row["report"]
        counts = count_words(report["summary"])
        where = f" on the {report['scope'].upper()}" if row["verdict"] == PROVEN else ""
        said = f"{row['host']}: {row['verdict']}{where} ({counts}), checked {report['started'] or report['written']}"
        if row["stopped"]:
            said += f"; the report may be an older one: the host {row['stopped']}"
    return clean(said)


def next_lines(rows: t.Sequence[t.Mapping[str, t.Any]], activate: str, joined: t.Collection[str] = ()) -> list[str]:
    """Return the two lines that a person types next on hosts that are ready, nothing where none is.

    :param rows: hosts that are what is required.
    :param activate: the script by which the environment is entered.
    :param joined: hosts on which somebody became a member of the group in this run.
    """
    hosts = [row["host"] for row in rows if row["verdict"] in (PROVEN, UNPROVEN)]
    if not hosts or not activate:
        return []
    more = f" and {len(hosts) - 3} more" if len(hosts) > 3 else ""
    anew = ", after a new login, for the membership in the group" if set(joined) & set(hosts) else ""
    check = "import torch; print(torch.__version__, torch.cuda.is_available())"
    return [
        clean(f"next, on {', '.join(hosts[:3])}{more}{anew}: . {activate}"),
        f'and to see that it is there: python -c "{check}"',
    ]


def unmet(row: t.Mapping[str, t.Any], require: str) -> str:
    """Return why a host is not what is required of it, in cause and remedy, or nothing."""
    if require not in REQUIREMENTS:
        raise ValueError(require)
    verdict = row["verdict"]
    # Whatever the proof may say: the run did not do what was asked for.
    if row["stopped"]:
        return clean(f"{row['host']} {row['stopped']}.")
    if require == "none" or verdict == PROVEN or (verdict == UNPROVEN and require == UNPROVEN):
        return ""
    if verdict == NO_REPORT:
        return clean(f"{row['cause']} {row['remedy']}")
    if verdict == FAIL:
        failed = [check["name"] for check in row["report"]["checks"] if check["status"] == FAIL]
        shown = ", ".join(failed[:8]) + (f" and {len(failed) - 8} more" if len(failed) > 8 else "")
        return clean(f"{row['host']} failed: {shown}. The report says the cause and the remedy of each.")
    said = " ".join(row["report"]["notices"])
    return clean(
        f"{row['host']} is unproven: nothing failed, but no number was computed or a required check was not asked for."
        f"{' ' + said if said else ''} Let the proof compute (verify_checks, verify_environment), or accept it with"
        " report_require: unproven."
    )


# -- the page


def clean(value: str) -> str:
    """Return text without what a terminal or a page would not show as it is."""
    return _UNSHOWN.sub("\ufffd", value)


def host_page(report: Report) -> str:
    """Return the page of one host."""
    row = {"host": report["host"], "verdict": report["verdict"], "stopped": "", "file": None, "report": report}
    return _render([_view(0, {**row, "cause": "", "remedy": ""}, report["written"])], None)


def fleet_page(fleet: t.Mapping[str, t.Any], directory: str) -> str:
    """Return the page of many hosts; those whose own page is in the directory are linked."""
    views = [_view(index, row, fleet["written"]) for index, row in enumerate(fleet["hosts"])]
    for view in views:
        page = f"{os.path.splitext(view['file'])[0]}.html" if view["file"] else ""
        view["page"] = page if page and os.path.isfile(os.path.join(directory, page)) else ""
    return _render(views, fleet)


def _render(views: list[Report], fleet: t.Mapping[str, t.Any] | None) -> str:
    style, script = (_resource(name) for name in ("report.css", "report.js"))
    page = _TEMPLATE.render(
        hosts=views,
        fleet=fleet,
        families=_families(views),
        rates=_rate_columns(views),
        worst=min((view["verdict"] for view in views), key=VERDICTS.index, default=NO_REPORT),
        verdicts=VERDICTS,
        style=markupsafe.Markup(style),  # noqa: S704 - a file of this collection
        script=markupsafe.Markup(script),  # noqa: S704 - a file of this collection
        style_hash=_digest(style),
        script_hash=_digest(script),
    )
    return page + "\n"


def _resource(name: str) -> str:
    with open(os.path.join(HERE, name), encoding="utf-8") as stream:
        return stream.read()


def _digest(content: str) -> str:
    """Return the hash by which a Content-Security-Policy allows exactly this."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
    )
    environment.filters.update(
        when=_when, seconds=_seconds, ratio=_ratio, figure=_figure, plural=_plural, words=_words, chunk=_breakable
    )
    return environment


def _view(index: int, row: t.Mapping[str, t.Any], written: str) -> Report:
    """Return what the template shows of one host."""
    report = row["report"] or {}
    checks = [{**check, "id": f"h{index}-{number}"} for number, check in enumerate(report.get("checks", ()))]
    return {
        **row,
        "id": f"h{index}",
        "page": "",
        "age": _age(report.get("written"), written),
        "checks": checks,
        "failed": [check for check in checks if check["status"] == FAIL],
        "warned": [check for check in checks if check["status"] == WARN],
        "skipped": _grouped((check for check in checks if check["status"] == SKIP), "cause"),
        "passed": _grouped((check for check in checks if check["status"] == PASS), "family"),
        "families": _grouped(checks, "family"),
        "rates": [
            {"check": check["name"], "key": (check["name"], key), "value": value, **_rate_words(key)}
            for check in checks
            for key, value in sorted(check["rates"].items())
        ],
    }


def _grouped(checks: t.Iterable[Report], key: str) -> list[Report]:
    groups: dict[str, list[Report]] = {}
    for check in checks:
        groups.setdefault(check[key], []).append(check)
    return [{"name": name, "checks": members} for name, members in groups.items()]


def _sums(checks: t.Sequence[Report]) -> Report:
    """Return the counts of some checks, and what of them a reader should see first."""
    counts = summary(checks)
    spoken = ((PASS, "passed"), (WARN, "warned"), (FAIL, "failed"), (SKIP, "skipped"))
    shown = [FAIL] if counts[FAIL] else [status for status in (WARN, PASS, SKIP) if counts[status]]
    return {
        "counts": counts,
        "shown": shown,
        "label": ", ".join(f"{counts[status]} {word}" for status, word in spoken if counts[status]),
    }


def _families(views: t.Sequence[Report]) -> list[Report]:
    """Return the matrix: families of rows, a row for each check with one cell for each host."""
    names: dict[str, dict[str, None]] = {}
    for view in views:
        for check in view["checks"]:
            names.setdefault(check["family"], {}).setdefault(check["name"])
    by_name = [{(check["family"], check["name"]): check for check in view["checks"]} for view in views]
    families = []
    for family, members in names.items():
        rows = []
        for name in members:
            cells = [checks.get((family, name)) for checks in by_name]
            statuses = sorted({cell["status"] for cell in cells if cell})
            short = name.removeprefix(f"{family}.")
            rows.append({"name": name, "short": short, "cells": cells, "statuses": statuses})
        of_host = [[row["cells"][index] for row in rows if row["cells"][index]] for index in range(len(views))]
        totals = [_sums(cells) if cells else None for cells in of_host]
        statuses = sorted({status for row in rows for status in row["statuses"]})
        families.append({"name": family, "rows": rows, "totals": totals, "statuses": statuses})
    return families


def _rate_columns(views: t.Sequence[Report]) -> list[Report]:
    columns: dict[tuple[str, str], Report] = {}
    for view in views:
        for rate in view["rates"]:
            column = columns.setdefault(rate["key"], {**rate, "values": {}})
            column["values"][view["id"]] = rate["value"]
    return list(columns.values())


def _rate_words(key: str) -> dict[str, str]:
    """Return what a rate's name says: ``read_gb_per_s`` is ``read`` in ``GB/s``."""
    for ending, unit in _UNITS.items():
        if key == ending or key.endswith(f"_{ending}"):
            return {"what": _words(key[: -len(ending)].rstrip("_")), "unit": unit}
    return {"what": _words(key), "unit": ""}


def _words(value: str) -> str:
    return value.replace("_", " ")


def _when(value: str) -> str:
    return f"{value[:10]} {value[11:16]} UTC"


def _age(written: str | None, at: str) -> str:
    """Return how much older than the page a report is, from an hour on."""
    try:
        first, second = (calendar.timegm(time.strptime(word or "", "%Y-%m-%dT%H:%M:%SZ")) for word in (written, at))
    except ValueError:
        return ""
    hours = (second - first) / 3600
    if hours < 1:
        return ""
    return _plural(round(hours / 24), "day") if hours >= 48 else _plural(round(hours), "hour")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _seconds(value: float) -> str:
    if value >= 100:
        return f"{int(value // 60)}\u00a0min {int(value % 60)}\u00a0s"
    return f"{value:.1f}\u00a0s" if value >= 10 else f"{value:.2f}\u00a0s"


def _figure(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 1000 else f"{value:.4g}"


def _ratio(value: float) -> dict[str, t.Any]:
    """Return how to draw an error beside its bound: both as parts of a hundred, and in words."""
    if value > 1:
        return {"error": 100, "bound": max(2, round(100 / value)), "text": f"{value:.3g}\u00a0\u00d7"}
    percent = value * 100
    return {
        "error": round(percent, 1),
        "bound": 100,
        "text": f"{percent:.0f}\u00a0%" if percent >= 1 else "<\u00a01\u00a0%",
    }


def _breakable(value: str) -> markupsafe.Markup:
    """Return a name that may be broken after its dots, underscores and slashes, and only there."""
    parts = re.split(r"(?<=[._/-])", clean(value))
    return markupsafe.Markup("<wbr>").join(parts)


#: Compiled here and not when it is first needed: Ansible's main process imports the action, and then forks a worker for
#: each host, which would compile it again (90 ms).
_TEMPLATE = _environment().get_template("report.html.j2")
