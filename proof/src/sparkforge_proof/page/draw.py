"""Render the page for one or many hosts from ``report.html.j2``."""

from __future__ import annotations

import base64
import calendar
import hashlib
import os
import re
import time
import typing as t

import jinja2
import markupsafe

from .. import resources
from .._shared.module_utils._core import phrases, sanitize
from .._shared.module_utils._core.verdict import FAIL, NO_REPORT, PASS, SKIP, VERDICTS, WARN, remark, summary

Report = dict[str, t.Any]

#: The maximum number of hosts, the worst first, whose checks the page lists: each takes about 70 kB of the page.
DETAILED = 50

_UNITS = {
    "tflops": "TFLOP/s", "tops": "TOP/s", "gb_per_s": "GB/s", "gib_per_s": "GiB/s", "mb_per_s": "MB/s", "mhz": "MHz",
    "watts": "W", "percent": "%", "us": "µs", "ms": "ms",
}  # fmt: skip


def host_page(report: Report) -> str:
    row = {"host": report["host"], "verdict": report["verdict"], "stopped": "", "file": None, "report": report}
    return _render([_view(0, {**row, "cause": "", "remedy": ""}, report["written"])], None)


def fleet_page(fleet: t.Mapping[str, t.Any], directory: str, upgrade: t.Mapping[str, t.Any] | None = None) -> str:
    """Return the page for many hosts, with links to those of the hosts' pages that are in the directory.

    :param upgrade: the forecast for the hosts' next upgrade, from ``forecast/forecast.py``.
    """
    views = [_view(index, row, fleet["written"]) for index, row in enumerate(fleet["hosts"])]
    for view in views:
        page = f"{os.path.splitext(view['file'])[0]}.html" if view["file"] else ""
        view["page"] = page if page and os.path.isfile(os.path.join(directory, page)) else ""
    return _render(views, fleet, upgrade)


def _render(
    views: list[Report], fleet: t.Mapping[str, t.Any] | None, upgrade: t.Mapping[str, t.Any] | None = None
) -> str:
    style, script = (resources.text(f"page/{name}") for name in ("report.css", "report.js"))
    detailed = views[:DETAILED]
    page = _TEMPLATE.render(
        hosts=views,
        detailed=detailed,
        fleet=fleet,
        upgrade=upgrade,
        families=_families(detailed),
        rates=_rate_columns(views),
        worst=min((view["verdict"] for view in views), key=VERDICTS.index, default=NO_REPORT),
        verdicts=VERDICTS,
        style=markupsafe.Markup(style),  # noqa: S704 - a file in this package
        script=markupsafe.Markup(script),  # noqa: S704 - a file in this package
        style_hash=_digest(style),
        script_hash=_digest(script),
    )
    return page + "\n"


def _digest(content: str) -> str:
    """Return the hash that allows this content in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: resources.text(f"page/{name}")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            sanitize.text(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
        ),
    )
    environment.filters.update(
        when=_when, seconds=_seconds, ratio=_ratio, figure=_figure, plural=phrases.plural, words=_with_spaces
    )
    environment.filters["chunk"] = _breakable
    return environment


def _view(index: int, row: t.Mapping[str, t.Any], written: str) -> Report:
    """Return the template's data for a host."""
    report = row["report"] or {}
    # Reports from earlier versions have no reasons.
    new = {"reason": "", "accepted": False}
    checks = [{**new, **check, "id": f"h{index}-{number}"} for number, check in enumerate(report.get("checks", ()))]
    return {
        **row,
        "id": f"h{index}",
        "page": "",
        "remark": remark(report),
        "age": _age(report.get("written"), written),
        "checks": checks,
        "failed": [check for check in checks if check["status"] == FAIL],
        "warned": [check for check in checks if check["status"] == WARN],
        "skipped": _group_by((check for check in checks if check["status"] == SKIP), "cause"),
        "passed": _group_by((check for check in checks if check["status"] == PASS), "family"),
        "families": _group_by(checks, "family"),
        "rates": [
            {"check": check["name"], "key": (check["name"], key), "value": value, **_label_and_unit(key)}
            for check in checks
            for key, value in sorted(check["rates"].items())
        ],
    }


def _group_by(checks: t.Iterable[Report], key: str) -> list[Report]:
    groups: dict[str, list[Report]] = {}
    for check in checks:
        groups.setdefault(check[key], []).append(check)
    return [{"name": name, "checks": members} for name, members in groups.items()]


def _sums(checks: t.Sequence[Report]) -> Report:
    """Return the number of checks by status, and the statuses to show first."""
    counts = summary(check["status"] for check in checks)
    labels = ((PASS, "passed"), (WARN, "warned"), (FAIL, "failed"), (SKIP, "skipped"))
    shown = [FAIL] if counts[FAIL] else [status for status in (WARN, PASS, SKIP) if counts[status]]
    return {
        "counts": counts,
        "shown": shown,
        "label": ", ".join(f"{counts[status]} {word}" for status, word in labels if counts[status]),
    }


def _families(views: t.Sequence[Report]) -> list[Report]:
    """Return the matrix of checks and hosts: for each family, its rows with a cell for each host."""
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


def _label_and_unit(key: str) -> dict[str, str]:
    """Split a rate's name: ``read_gb_per_s`` is ``read`` in ``GB/s``."""
    for ending, unit in _UNITS.items():
        if key == ending or key.endswith(f"_{ending}"):
            return {"what": _with_spaces(key[: -len(ending)].rstrip("_")), "unit": unit}
    return {"what": _with_spaces(key), "unit": ""}


def _with_spaces(value: str) -> str:
    return value.replace("_", " ")


def _when(value: str) -> str:
    return f"{value[:10]} {value[11:16]} UTC"


def _age(written: str | None, at: str) -> str:
    """Return how much older a report is than the page, or '' if by less than an hour."""
    try:
        first, second = (calendar.timegm(time.strptime(text or "", "%Y-%m-%dT%H:%M:%SZ")) for text in (written, at))
    except ValueError:
        return ""
    hours = (second - first) / 3600
    if hours < 1:
        return ""
    return phrases.plural(round(hours / 24), "day") if hours >= 48 else phrases.plural(round(hours), "hour")


def _seconds(value: float) -> str:
    if value >= 100:
        return f"{int(value // 60)}\u00a0min {int(value % 60)}\u00a0s"
    return f"{value:.1f}\u00a0s" if value >= 10 else f"{value:.2f}\u00a0s"


def _figure(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 1000 else f"{value:.4g}"


def _ratio(value: float) -> dict[str, t.Any]:
    """Return the widths for an error and its bound in per cent, and their ratio as text."""
    if value > 1:
        return {"error": 100, "bound": max(2, round(100 / value)), "text": f"{value:.3g}\u00a0\u00d7"}
    percent = value * 100
    return {
        "error": round(percent, 1),
        "bound": 100,
        "text": f"{percent:.0f}\u00a0%" if percent >= 1 else "<\u00a01\u00a0%",
    }


def _breakable(value: str) -> markupsafe.Markup:
    """Return a name with line break opportunities after its dots, underscores, slashes and hyphens."""
    parts = re.split(r"(?<=[._/-])", sanitize.text(value))
    return markupsafe.Markup("<wbr>").join(parts)


#: The template is compiled at import, which takes 90 ms: Ansible's main process imports the action plugin once, and
#: forks a worker for each host, which would otherwise compile it again.
_TEMPLATE = _environment().get_template("report.html.j2")
