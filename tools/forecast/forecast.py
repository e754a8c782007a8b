"""The forecast for a host, and for a fleet: go, go with these steps, or hold, each with its reason and source.

It is a pure function of observations and a ledger, except for the file next to the reports.
"""

from __future__ import annotations

import datetime
import json
import os
import shlex
import typing as t

from ...plugins.module_utils._core import phrases, sanitize
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.plugin_utils import files
from . import conditions, ledger, patterns
from .facts import Facts, State

FORMAT = 1
#: The name of the forecast's file, next to the proof's reports, whose page shows it.
FILE = "forecast.json"
AGAIN = "Run playbooks/forecast.yml again."
GO, STEPS, HOLD, UNREAD = "go", "go with steps", "hold", "not read"
ANSWERS = (GO, STEPS, HOLD, UNREAD)
NOTE = "note"
#: The last step of each upgrade.
PROVE = "sparkforge prove, which computes on the host and compares the results with float64."
#: The parts of an observation other than its lists.
EMPTY: dict[str, t.Any] = {"apt": {"packages": {}}, "kernel": {}, "os": {}, "gpu": {}, "driver": {}}

Finding = dict[str, t.Any]
Forecast = dict[str, t.Any]


def judge(
    host: str,
    observation: Facts,
    update: Facts,
    rules: ledger.Ledger,
    today: datetime.date,
    accept: t.Collection[str] = (),
) -> Forecast:
    """Return the forecast for one host.

    :param observation: the result of ``spark_info``.
    :param update: the result of ``update_info``.
    :param accept: ids of rules that the user has dealt with, or whose risk the user accepts.
    """
    state = State(observation, update)
    findings = [finding for rule in rules.rules if (finding := _finding(rule, state, accept))]
    age = rules.age(today)
    if age > ledger.OLDEST:
        findings.insert(0, _of_ledger(rules, age, accept))
    if not update.get("plan"):
        findings.insert(0, _without_plan(update))
    order = [HOLD, STEPS, NOTE]
    findings.sort(key=lambda finding: (order.index(finding["verdict"]), not finding["blocks"]))
    verdicts = {finding["verdict"] for finding in findings if not finding["accepted"]}
    forecast = {
        "host": host,
        "answer": HOLD if HOLD in verdicts else STEPS if STEPS in verdicts else GO,
        "blocked": [finding["rule"] for finding in findings if finding["blocks"]],
        "hold": {name: finding["rule"] for finding in findings for name in finding["hold"] if not finding["accepted"]},
        "kernel": {
            "running": state.facts["kernel_running"],
            "after": state.facts["kernel_after"],
            "new": state.facts["kernels_new"],
        },
        "driver": {"before": state.driver(state.before), "after": state.facts["driver_after"]},
        "firmware": [dict(row) for row in update.get("firmware") or [] if row.get("version")],
        "plan": {
            "install": [dict(step) for step in state.installs],
            "remove": [dict(step) for step in state.removes],
            "download_mib": int(state.plan.get("download_mib") or 0),
            "growth_mib": int(state.plan.get("growth_mib") or 0),
        },
        "findings": findings,
        "problem": "",
    }
    return {**forecast, "steps": next_steps(forecast, state)}


def next_steps(forecast: Forecast, state: State) -> list[str]:
    """Return the steps that a user should take for the next upgrade, in order; this function takes none of them."""
    pending = [finding for finding in forecast["findings"] if not finding["accepted"]]
    # Only installed packages can be held; if all packages of a rule are new, there is nothing to hold.
    holding = [finding for finding in pending if finding["hold"]]
    new_only = [finding["rule"] for finding in holding if not set(finding["hold"]) & set(state.before)]
    if forecast["blocked"] or new_only:
        rules = ", ".join([*forecast["blocked"], *new_only])
        return [f"Do not upgrade yet. Deal with {rules} first, then forecast again."]
    offered = bool(state.facts["firmware_offered"])
    if not state.facts["changes"] and not offered:
        return ["There is nothing to upgrade."]
    holdable = sorted(set(forecast["hold"]) & set(state.before))
    # Users copy this line into a shell, and the host chose the names.
    steps = [shlex.join(["sudo", "apt-mark", "hold", *holdable])] if holdable else []
    firmware = ", and sudo fwupdmgr upgrade for the firmware" if offered else ""
    # In a terminal, apt lists the packages that it keeps back before it asks.
    dashboard = "the DGX Dashboard, or with " if state.facts["dgx"] and not holdable else ""
    later_rules = ", ".join(finding["rule"] for finding in pending if finding["order"] == "after")
    # Some remedies come before the reboot.
    steps.append(f"Upgrade with {dashboard}sudo apt full-upgrade{firmware}{'' if later_rules else '; then reboot'}.")
    steps += [f"Apply the remedies listed above for {later_rules}, and reboot as they say."] if later_rules else []
    return [*steps, PROVE]


def unread(host: str, problem: str) -> Forecast:
    """Return the row of a host that could not be read, with the reason."""
    empty_plan = {"install": [], "remove": [], "download_mib": 0, "growth_mib": 0}
    return {
        "host": host, "answer": UNREAD, "blocked": ["not-read"], "hold": {}, "plan": empty_plan,
        "findings": [], "steps": [], "firmware": [], "problem": " ".join(sanitize.text(problem).split()),
        "kernel": {"running": None, "after": None, "new": []}, "driver": {"before": None, "after": None},
    }  # fmt: skip


def _finding(rule: ledger.Rule, state: State, accept: t.Collection[str]) -> Finding | None:
    evidence = conditions.met(rule["when"], state)
    if evidence is None or is_over(rule, state):
        return None
    verdict = {"note": NOTE, "steps": STEPS, "hold": HOLD}[rule["verdict"]]
    hold_patterns = rule.get("hold") or []
    changed = [step["name"] for step in [*state.installs, *state.removes]]
    # A package that is not installed yet cannot be held, but the package that pulls it in can.
    held_names = sorted({name for name in changed if any(patterns.matches(pattern, name) for pattern in hold_patterns)})
    accepted = rule["id"] in accept
    problem = state.plan.get("problem") or {}
    remedy = problem.get("remedy") if problem.get("cause") in evidence else None
    blocks = (verdict == HOLD and not held_names) or (verdict == STEPS and rule.get("order") == "before")
    return {
        "rule": rule["id"],
        "title": rule["title"],
        "verdict": verdict,
        "order": rule.get("order"),
        "why": evidence,
        "breaks": rule["breaks"],
        "remedy": remedy or rule["remedy"],
        "over": rule["over"]["test"],
        "hold": held_names,
        "accepted": accepted,
        "blocks": blocks and not accepted,
        "source": [dict(source) for source in rule["source"]],
    }


def is_over(rule: ledger.Rule, state: State) -> bool:
    """Tell whether a rule has a condition under which it counts as resolved, and a host meets it."""
    ends = rule["over"].get("when")
    return bool(ends) and conditions.met(ends, state) is not None


def _own(rule: str, title: str, breaks: str, remedy: str, accepted: bool = False) -> Finding:
    return {
        "rule": rule, "title": title, "verdict": HOLD, "order": None, "why": [], "breaks": breaks, "remedy": remedy,
        "over": "", "hold": [], "accepted": accepted, "blocks": not accepted, "source": [],
    }  # fmt: skip


def _of_ledger(rules: ledger.Ledger, age: int, accept: t.Collection[str]) -> Finding:
    return _own(
        "ledger-old",
        f"The ledger is {age} days old",
        "It lacks the faults that were reported since then.",
        "Update this collection, or set forecast_ledger to the folder of a newer ledger.",
        "ledger-old" in accept,
    )


def _without_plan(update: Facts) -> Finding:
    recorded = bool(update.get("recorded"))
    return _own(
        "plan-unknown",
        "apt's plan is not known",
        "Only the rules that need no plan were applied." if recorded else "apt did not return a plan.",
        "Record the Spark again with this version of sparkforge." if recorded else "See `unread` of update_info.",
    )


def of_record(record: Facts) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
    """Return ``spark_info`` and ``update_info`` from a record written by ``sparkforge record``."""
    observation = {**EMPTY, **{key: value for key, value in record.items() if key != "record"}}
    parts = record.get("record") or {}
    return observation, {**(parts.get("update") or {}), "load": (parts.get("gpu") or {}).get("load"), "recorded": True}


def fleet(rows: t.Sequence[Forecast], rules: ledger.Ledger, today: datetime.date) -> dict[str, t.Any]:
    """Return the forecast for all hosts."""
    return {
        "format": FORMAT,
        "date": today.isoformat(),
        "ledger": {
            "date": rules.date.isoformat(),
            "age_days": rules.age(today),
            "rules": len(rules.rules),
            "source": rules.source,
        },
        "summary": {answer: sum(row["answer"] == answer for row in rows) for answer in ANSWERS},
        "hosts": list(rows),
    }


def load(directory: str) -> Facts | None:
    """Return the stored forecast next to the reports, or None if there is none.

    :raises SparkforgeError: if the file is damaged, or has another version.
    """
    path = os.path.join(directory, FILE)
    try:
        with open(path, encoding="utf-8") as stream:
            forecast = json.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        forecast = error
    if not isinstance(forecast, dict) or forecast.get("format") != FORMAT:
        raise SparkforgeError(f"The forecast {path} is damaged, or has another format.", f"Delete it. {AGAIN}")
    return forecast


def keep(directory: str, state: Facts) -> None:
    """Store a forecast next to the reports, with the date of each host; other hosts in the file are unchanged."""
    rows = [{**row, "date": state["date"]} for row in state["hosts"]]
    hosts = {row["host"] for row in rows}
    try:
        earlier = load(directory)
    except SparkforgeError:
        earlier = None  # the new forecast replaces a damaged one
    rows += [row for row in (earlier or {}).get("hosts", ()) if row["host"] not in hosts]
    remedy = "Set verify_report_directory to a directory that you can write to."
    files.write_text(os.path.join(directory, FILE), as_json({**state, "hosts": rows}) + "\n", remedy)


def view(state: Facts | None, hosts: t.Collection[str]) -> dict[str, t.Any] | None:
    """Return the forecast for some hosts, for the reports' page, or None if none of them was forecast."""
    rows = [row for row in (state or {}).get("hosts", ()) if row["host"] in hosts]
    if not state or not rows:
        return None
    return {
        "problem": "",
        "headings": (*HEADINGS[:2], "forecast", *HEADINGS[2:]),
        "rows": [(*cells(row)[:2], row["date"], *cells(row)[2:]) for row in rows],
        "findings": [{**finding, "hosts": phrases.some(names)} for finding, names in grouped(rows)],
        "steps": [{"hosts": phrases.some(names), "steps": steps} for steps, names in alike(rows)],
        "ledger": state["ledger"],
    }


def as_json(state: Facts) -> str:
    """Return the forecast as one line of JSON."""
    return json.dumps(state, sort_keys=True)


HEADINGS = ("host", "answer", "kernel", "driver", "firmware", "packages", "rules")


def cells(row: Forecast) -> tuple[str, ...]:
    """Return a host's row of the table."""
    if row["answer"] == UNREAD:
        return (row["host"], UNREAD, "", "", "", "", row["problem"])
    kernel, driver, plan = row["kernel"], row["driver"], row["plan"]
    rules = [finding["rule"] + ("" if not finding["accepted"] else " (accepted)") for finding in row["findings"]]
    counts = f"{len(plan['install'])} in, {len(plan['remove'])} out"
    return (
        row["host"],
        row["answer"],
        _step(kernel["running"], kernel["after"]),
        _step(driver["before"], driver["after"]),
        _firmware(row.get("firmware") or []),
        counts,
        ", ".join(rules) or "no rule applies",
    )


def _firmware(devices: t.Sequence[Facts]) -> str:
    """Return fwupd's offers for each device, before and after; an older forecast may have none."""
    offered = [f"{row['name']} {_step(row['version'], row['update'])}" for row in devices if row.get("update")]
    return ", ".join(offered) or ("no update" if devices else "not known")


def _step(before: str | None, after: str | None) -> str:
    return str(before or "-") if before == after else f"{before or '-'} to {after or 'none'}"


def grouped(rows: t.Sequence[Forecast]) -> list[tuple[Finding, list[str]]]:
    """Return each finding once with its hosts; findings with different evidence are not merged."""
    by_rule: dict[tuple[str, tuple[str, ...]], tuple[Finding, list[str]]] = {}
    for row in rows:
        for finding in row["findings"]:
            by_rule.setdefault((finding["rule"], tuple(finding["why"])), (finding, []))[1].append(row["host"])
    order = [HOLD, STEPS, NOTE]
    return sorted(by_rule.values(), key=lambda pair: (order.index(pair[0]["verdict"]), pair[0]["rule"]))


def alike(rows: t.Sequence[Forecast]) -> list[tuple[list[str], list[str]]]:
    """Return each list of steps once with its hosts; an older forecast may have no steps."""
    hosts: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row.get("steps"):
            hosts.setdefault(tuple(row["steps"]), []).append(row["host"])
    return [(list(steps), names) for steps, names in hosts.items()]


def as_text(state: Facts) -> str:
    """Return a table of all hosts, followed by each finding with its reason and sources, and by the steps."""
    rows = [HEADINGS, *(cells(row) for row in state["hosts"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS) - 1)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[-1]]) for row in rows]
    for finding, hosts in grouped(state["hosts"]):
        order = f", {finding['order']} the upgrade" if finding["order"] else ""
        lines += ["", f"{finding['verdict']}{order}: {finding['title']} ({finding['rule']})"]
        lines.append(f"  hosts: {phrases.some(hosts)}")
        lines += [f"  why: {', '.join(finding['why'])}"] if finding["why"] else []
        lines += [f"  what breaks: {finding['breaks']}", f"  do: {finding['remedy']}"]
        lines += [f"  held back: {phrases.some(finding['hold'])}"] if finding["hold"] else []
        lines += [f"  source: {source['title']}, {source['date']}: {source['url']}" for source in finding["source"]]
    for steps, hosts in alike(state["hosts"]):
        lines += ["", f"steps for {phrases.some(hosts)}:"]
        lines += [f"  {number}. {step}" for number, step in enumerate(steps, 1)]
    counts = [f"{count} {answer}" for answer, count in state["summary"].items() if count]
    book = state["ledger"]
    ledger_line = f"ledger of {book['date']}, {book['age_days']} days old, {book['rules']} rules ({book['source']})"
    return sanitize.text("\n".join([*lines, "", f"{', '.join(counts) or 'no host'}; {ledger_line}"]))
