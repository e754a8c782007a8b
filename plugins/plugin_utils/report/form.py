# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""The form of a report: checked against ``docs/report.schema.json``, and completed."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.report import FORMAT, Report, now, summary

SCHEMA = os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "docs", "report.schema.json")
)

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
            found.append(f"{path} is {shown(value)} and not {' or '.join(_KINDS.get(k, f'a {k}') for k in kinds)}")
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(_same(value, other) for other in allowed):
        found.append(f"{path} is {shown(value)} and not {' or '.join(shown(other) for other in allowed)}")
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            found.append(f"{path} is empty")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{path} is {shown(value)}, which does not match {schema['pattern']}")
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
                found.append(f"{path} has the unknown key {shown(name)}")
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


def shown(value: t.Any) -> str:
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
        found.append(f"checks has two named {shown(twice[0])}")
    if report["summary"] != summary(report["checks"]):
        found.append("summary does not count what is in checks")
    return found


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
