"""The state of a fleet: one row per host from its readings, and the rows as a table or as JSON."""

from __future__ import annotations

import calendar
import json
import re
import time
import typing as t

from ...module_utils._core import phrases, sanitize, verdict

FORMAT = 3
#: The states of a host, best first: matches the stack, needs changes, cannot be provisioned as it is, was not read.
AS_WANTED, CHANGES, STOPS, FAILED, UNREACHABLE = "as wanted", "changes", "stops", "failed", "unreachable"
STANDINGS = (AS_WANTED, CHANGES, STOPS, FAILED, UNREACHABLE)
#: The number of a role's changes, or of a host's drift entries, that are listed; the rest are only counted.
LISTED = 12

#: Descriptions of python_env's actions.
_ACTIONS = {
    "install": "install environment {wanted}",
    "stage": "stage environment {wanted}",
    "switch": "switch to environment {wanted}",
    "prove": "import its modules again",
    "files": "write its activation script, launcher or kernel",
    "access": "set its permissions",
    "previous": "correct the link to the previous environment",
    "staged": "remove the link to a staged environment",
    "remove": "remove files that are no longer needed",
    "receipt": "write its receipt",
}
#: Verbs whose objects are grouped into one line, because a role repeats them many times.
_VERBS = ("install", "write", "remove", "build")
#: The text that Ansible puts before a plugin's message.
_WRAPPING = re.compile(r"^(Task failed: )?(.*The filter plugin '[^']*' failed: |Action failed: )?", re.S)

Row = dict[str, t.Any]
Facts = t.Mapping[str, t.Any]


def row(
    host: str,
    look: Facts,
    stack: Facts,
    changes: t.Mapping[str, t.Sequence[str]],
    stops: t.Sequence[t.Mapping[str, str]] = (),
) -> Row:
    """Return the row of a host that was read.

    :param look: the result of ``stack_status``.
    :param stack: the stack that the inventory requests for the host.
    :param changes: role -> descriptions of its pending changes.
    :param stops: the reasons why ``site.yml`` would change nothing, each with ``cause`` and ``remedy``.
    """
    plan = look.get("plan") or {}
    pending_changes = {role: [str(item) for item in items] for role, items in changes.items() if items}
    pending_changes.update(_environment_changes(look, plan))
    reasons = [{"cause": _unwrap(str(stop["cause"])), "remedy": str(stop.get("remedy") or "")} for stop in stops]
    if plan.get("cause"):
        reasons.append({"cause": plan["cause"], "remedy": plan["remedy"]})
    current = _find_environment(look, "current")
    recorded = (current or {}).get("stack") or {}
    is_wanted = look.get("current") == plan.get("environment_id")
    return {
        "host": host,
        "standing": STOPS if reasons else CHANGES if pending_changes else AS_WANTED,
        "problem": "",
        "wanted": {
            "stack": stack.get("name"),
            "lock": (stack.get("lock") or {}).get("id"),
            "environment": plan.get("environment_id"),
        },
        "stack": (stack if current and is_wanted else recorded).get("name"),
        "bridge": recorded.get("method") == "wheel" and stack.get("method") == "build",
        "environment": current,
        "staged": _find_environment(look, "staged"),
        "previous": _find_environment(look, "previous"),
        **{key: list(look.get(key) or []) for key in ("running", "unfinished", "stopped")},
        "proof": _proof(look, "proof"),
        "staged_proof": _proof(look, "staged_proof"),
        "firmware": dict(look.get("firmware") or {}),
        "changed": list(look.get("changed_since_proof") or []),
        "drift": _drift(look, current),
        "changes": pending_changes,
        "stops": reasons,
    }


def unread(host: str, problem: str, unreachable: bool) -> Row:
    """Return the row of a host that could not be read, with the reason."""
    why = {"standing": UNREACHABLE if unreachable else FAILED, "problem": " ".join(_unwrap(problem).split())}
    return {**row(host, {}, {}, {}), **why}


def _find_environment(look: Facts, state: str) -> Row | None:
    return next((dict(item) for item in look.get("environments") or [] if item["state"] == state), None)


def _environment_changes(look: Facts, plan: Facts) -> dict[str, list[str]]:
    environment = plan.get("environment_id") or "depends on a step that has not run yet"
    changes = [
        _ACTIONS[action].format(wanted=environment) if action in _ACTIONS else f"{action}, environment {environment}"
        for action in plan.get("actions") or []
        if action != "remove" or not plan.get("removed")
    ]
    changes += [f"remove environment {name}" for name in plan.get("removed") or []]
    return {"python_env": changes} if changes else {}


def _proof(look: Facts, key: str) -> Row | None:
    """Return a proof with its age according to the host's own clock."""
    proof = look.get(key)
    if not proof:
        return None
    keys = "verdict scope started stack lock environment_id summary failed accepted drift".split()
    values = {key: proof.get(key) for key in keys}
    began = _seconds(proof.get("started"))
    return {**values, "age": None if began is None else max(0, int(look["now"]) - began)}


def _drift(look: Facts, current: Facts | None) -> list[dict[str, str]]:
    """Return the differences from the proven state and from the receipts."""
    rows: list[dict[str, str]] = list(look.get("changed_since_proof") or [])
    proof = look.get("proof")
    if proof:
        rows += [*_unproven(proof, current), *_between_proofs(proof)]
    if current and current["missing"]:
        missing = ", ".join(current["missing"][:5])
        rows.append(
            {"what": f"environment {current['environment_id']}", "before": "whole", "now": f"without {missing}"}
        )
    changed = look.get("changed_receipts") or []
    return [*rows, *({"what": path, "before": "sealed", "now": "changed by hand"} for path in changed)]


def changed(proof: Facts | None, observation: Facts) -> list[dict[str, str]]:
    """Return the changes that an update made since a proof.

    :param observation: the result of ``spark_info``.
    """
    if not proof or not observation:
        return []
    installed = (observation.get("apt") or {}).get("packages") or {}
    # A failed probe returns nothing, so its value is unknown and not compared.
    read = {
        "driver": (observation.get("driver") or {}).get("version", ...),
        "kernel": (observation.get("kernel") or {}).get("release", ...),
        "firmware": observation.get("firmware") or {},
        "packages": {name: installed[name] for name in installed if verdict.PACKAGES.match(name)} if installed else ...,
    }
    return verdict.changed(proof, {name: value for name, value in read.items() if value is not ...})


def _unproven(proof: Facts, current: Facts | None) -> list[dict[str, str]]:
    """Return a drift entry if the environment in use is not the proven one."""
    now = current["environment_id"] if current else "none"
    proven = proof.get("environment_id")
    if proven:
        return [{"what": "environment", "before": proven, "now": now}] if proven != now else []
    if not current or str(current.get("installed") or "") <= str(proof.get("started") or ""):
        return []
    return [
        {"what": "environment", "before": f"proven {proof['started']}", "now": f"{now}, made {current['installed']}"}
    ]


def _between_proofs(proof: Facts) -> list[dict[str, str]]:
    """Return the checks and rates that changed between the last two proofs, for the same stack and lock.

    Package changes between these proofs are left out, because the last proof includes them.
    """
    changes = (proof.get("drift") or {}).get("changes") or []
    if any(change["what"] in ("stack", "lock") for change in changes):
        return []
    return [dict(change) for change in changes if change["what"].startswith(("check ", "rate "))]


def fleet(rows: t.Sequence[Row], written: str, check_mode: bool = False) -> Row:
    """Return the content of the JSON format: ``format``, ``written``, ``summary`` and ``hosts``."""
    counts = {standing: sum(item["standing"] == standing for item in rows) for standing in STANDINGS}
    return {
        "format": FORMAT,
        "written": written,
        "check_mode": check_mode,
        "summary": {"hosts": len(rows), **counts},
        "hosts": list(rows),
    }


def as_json(state: Facts) -> str:
    """Return the state in one line, so that it can be found in a play's output."""
    return json.dumps(state, sort_keys=True, ensure_ascii=True)


def as_text(state: Facts) -> str:
    """Return a table of the hosts, the details behind its counts, and a summary line."""
    rows = state["hosts"]
    blocks = [_table(rows), *(block for block in map(_details, rows) if block), _summary(state["summary"])]
    return "\n\n".join(blocks)


def _table(rows: t.Sequence[Row]) -> str:
    columns: list[tuple[str, t.Callable[[Row], str]]] = [
        ("HOST", lambda item: item["host"]),
        ("STACK", _stack_cell),
        ("ENVIRONMENT", lambda item: _environment_id(item["environment"])),
        ("LAST PROOF", _proof_cell),
        ("DRIFT", lambda item: str(len(item["drift"]) or "-")),
        ("WOULD CHANGE", _change_cell),
    ]
    lines = [[title for title, _cell in columns]]
    for item in rows:
        if item["problem"]:
            lines.append([sanitize.line(item["host"]), f"{item['standing']}: {sanitize.line(item['problem'])}"])
        else:
            lines.append([sanitize.line(cell(item)) for _title, cell in columns])
    widths = [
        max(len(line[number]) for line in lines if len(line) > 2 or number == 0) for number in range(len(columns))
    ]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=False)).rstrip() for line in lines
    )


def _stack_cell(item: Row) -> str:
    if item["environment"] is None:
        return "-"
    return (item["stack"] or "another") + (" (bridge)" if item["bridge"] else "")


def _environment_id(environment: Facts | None) -> str:
    return environment["environment_id"] if environment else "-"


def _proof_cell(item: Row) -> str:
    proof = item["proof"]
    if proof is None:
        return "never"
    cell = f" ({proof['scope']})" if proof["verdict"] == verdict.PROVEN else ""
    warned = (proof.get("summary") or {}).get("warn")
    cell += f" with {phrases.plural(warned, 'warning')}" if warned else ""
    accepted = proof.get("accepted") or []
    cell += f", {len(accepted)} accepted" if accepted else ""
    cell = f"{proof['verdict']}{cell}, {age(proof['age'])}"
    return f"{cell}, changed since" if item["changed"] else cell


def _change_cell(item: Row) -> str:
    if item["stops"]:
        return f"site.yml would stop: {phrases.plural(len(item['stops']), 'problem')}"
    if not item["changes"]:
        return "nothing"
    return ", ".join(f"{role} {len(changes)}" for role, changes in item["changes"].items())


def _details(item: Row) -> str:
    lines = [f"building: {build['line']}" for build in item["running"]]
    for build in item["unfinished"]:
        why = f": {build['cause']}" if build.get("cause") else ""
        lines.append(f"build stopped without an artefact: {build['name']} {build['fingerprint'][:8]}{why}")
    lines += [*item["stopped"], *([f"staged: {_environment_id(item['staged'])}"] if item["staged"] else [])]
    for key, label in (("proof", "failed check: "), ("staged_proof", "failed check of the staged environment: ")):
        lines += _list_some(label, (item[key] or {}).get("failed") or [])
    lines += _list_some("accepted by this site: ", (item["proof"] or {}).get("accepted") or [])
    versions = ", ".join(f"{device} {version}" for device, version in sorted(item["firmware"].items()))
    lines += _list_some("firmware: ", [versions] if versions else [])
    changed, others = ([entry for entry in item["drift"] if (entry in item["changed"]) is was] for was in (True, False))
    for prefix, rows in (("changed since the last proof: ", changed), ("drift: ", others)):
        lines += _list_some(prefix, [f"{entry['what']}: {entry['before']} -> {entry['now']}" for entry in rows])
    lines += [f"stops: {stop['cause']} {stop['remedy']}".rstrip() for stop in item["stops"]]
    for role, changes in item["changes"].items():
        lines += [f"{role}: {line}" for line in _group_by_verb(changes)]
    return "\n".join([sanitize.line(item["host"]), *(f"  {sanitize.line(line)}" for line in lines)]) if lines else ""


def _group_by_verb(changes: t.Sequence[str]) -> list[str]:
    """Return a role's pending changes in a few lines: install a, b, c and 9 more."""
    groups: dict[str, list[str]] = {}
    for item in changes:
        verb, _space, operand = item.partition(" ")
        if verb in _VERBS:
            groups.setdefault(verb, []).append(operand)
        else:
            groups[item] = []
    lines = []
    for verb, things in groups.items():
        lines.append(f"{verb} {phrases.some(things, LISTED)}".strip())
    return lines


def _list_some(prefix: str, items: t.Sequence[str]) -> list[str]:
    lines = [f"{prefix}{item}" for item in items[:LISTED]]
    return [*lines, f"{prefix}and {len(items) - LISTED} more"] if len(items) > LISTED else lines


def _summary(counts: Facts) -> str:
    nouns = {
        AS_WANTED: "as its stack requires",
        CHANGES: "would change",
        STOPS: "would stop site.yml",
        FAILED: "could not be read",
        UNREACHABLE: "unreachable",
    }
    counted = ", ".join(f"{counts[standing]} {word}" for standing, word in nouns.items() if counts[standing])
    return f"{phrases.plural(counts['hosts'], 'host')}: {counted or 'none'}."


def age(seconds: int | None) -> str:
    """Return an age as text, such as ``3 days ago``."""
    if seconds is None:
        return "at an unknown time"
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size} {noun}s ago"
    return "just now" if seconds < 60 else "a minute ago"


def _seconds(moment: t.Any) -> int | None:
    try:
        return calendar.timegm(time.strptime(str(moment), "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return None


def _unwrap(message: str) -> str:
    """Return a plugin's message without the prefix that Ansible adds."""
    return _WRAPPING.sub("", message, count=1)
