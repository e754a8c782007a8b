"""The command ``sparkforge-guard``, which systemd units and people run."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import typing as t

from . import brakes, figures, nvml, policy, power, settings
from ._shared.module_utils._core import sanitize
from ._shared.module_utils._core.errors import SparkforgeError
from .host import Host
from .journal import Journal
from .watch import Guard, Levels, Turn, fill_memory, lock_memory

USAGE = """sparkforge-guard keeps a machine whose CPU and GPU share one memory from freezing.

  run SETTINGS                    guard this host until SIGTERM
  install SETTINGS [--check]      install the program and its units on this host, and start them
  remove SETTINGS [--check]       remove them
  allow SETTINGS UNIT             let a unit start again that is kept off because the machine went down while it ran
  may-start SETTINGS UNIT         count a start of a unit, or refuse it (its ExecCondition=)
  cap SETTINGS, uncap SETTINGS    set the power and clock limits, or reset them
  figures SETTINGS [once]         print one line of JSON per second: memory, GPU, killed processes
  admit [--needs 40G] -- COMMAND  compute the memory that a command takes; exit status 1 if it does not fit

SETTINGS is a file with a JSON object, such as {"first": ["jupyter-*"]}; {} is enough."""
#: The number of arguments that each command with settings takes.
ARGUMENTS = {**dict.fromkeys(("run", "install", "remove", "cap", "uncap", "figures"), 1), "allow": 2, "may-start": 2}
#: The stack size of the second thread in bytes; all of it is locked in memory.
STACK = 512 << 10


def guard(options: t.Mapping[str, t.Any]) -> int:
    """Guard this host until SIGTERM."""
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.append(1))
    os.makedirs(options["state_directory"], exist_ok=True)
    host = Host(options["proc"], options["meminfo"] or "")
    device = nvml.connect(options.get("nvml") or "")
    journal = Journal(options, device, host)
    rules = policy.Rules(*(tuple(options.get(name) or ()) for name in ("protected", "first", "last")))
    levels = Levels(*(float(options[name]) for name in ("warn_percent", "ask_percent", "end_percent")))
    watch = Guard(host, levels, rules, journal.gpu, journal.refresh, journal.tell, observed=journal.observed)
    turn = Turn()
    signal.signal(signal.SIGXCPU, turn.give)
    refused = [refusal for refusal in (lock_memory(), turn.take()) if refusal]
    watch.rehearse()
    summary = [f"guards {host.memory().total >> 20} MiB: warns below {levels.warn:g} %, asks below {levels.ask:g} %, "
            f"kills below {levels.end:g} %", *refused]  # fmt: skip
    if not host.has_pressure:
        summary.append("this kernel does not report memory pressure (CONFIG_PSI), so the guard uses only MemAvailable")
    if device is None:
        summary.append("no NVML: the guard guesses from open device files which processes use the GPU")
    sys.stdout.write("; ".join(summary) + "\n")
    down = power.note_start(options["state_directory"], brakes.boot_id())
    if down:
        sys.stdout.write(f"<2>{down}\n")
    sys.stdout.flush()
    threading.stack_size(STACK)
    journal.start()
    fill_memory()
    watch.run(lambda: bool(stopping), turn)
    power.note_end(options["state_directory"], brakes.boot_id())
    if brakes.is_shutting_down():
        brakes.mark_shutdown(options["state_directory"])
    return 0


def install(options: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """Install the guard on this host or remove it, and return the changes.

    :raises SparkforgeError: if that is impossible; then nothing is changed.
    """
    from . import install as installation

    file = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not os.path.isfile(file):
        raise SparkforgeError(
            "The source tree of sparkforge-guard cannot install itself.", "Run make guard, then use the file it makes."
        )
    with open(file, "rb") as stream:
        return installation.Installation(options, stream.read(), check_mode).run()


def admit(options: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """Return the verdict for a command, or raise an error with the reason against it; never change anything."""
    from . import admission, models

    del check_mode
    try:
        verdict = admission.admit(options["command"], options["needs"], releases=options["releases"])
    except models.UnknownError as error:
        return {"answer": "unknown", "said": [error.cause], "jobs": 1}
    return {"answer": verdict.answer, "said": list(verdict.lines), "jobs": verdict.jobs}


def started(command: str, options: t.Mapping[str, t.Any], rest: t.Sequence[str]) -> int:
    """Run one of the commands that read settings."""
    state = options["state_directory"]
    if command == "run":
        settings.check(options)
        return guard(options)
    if command == "figures":
        return figures.stream(options, "once" in rest)
    if command in ("install", "remove"):
        os.umask(0o022)
        request = {**options, "state": "present" if command == "install" else "absent"}
        sys.stdout.write(json.dumps(install(request, "--check" in rest), indent=1) + "\n")
    elif command == "cap":
        device = nvml.connect(options.get("nvml") or "")
        watts, clock = float(options["power_cap"]), int(options["clock_cap"])
        for line in power.apply_caps(device, watts, clock):
            sys.stdout.write(line + "\n")
        os.makedirs(state, exist_ok=True)
        caps = json.dumps({"power_w": watts or None, "clock_mhz": clock or None})
        brakes.replace(os.path.join(state, power.CAPS), caps)
    elif command == "uncap":
        power.remove_caps(nvml.connect(options.get("nvml") or ""), options)
    elif command == "may-start":
        os.makedirs(state, exist_ok=True)
        why = brakes.may_start(state, rest[0], brakes.boot_id())
        if why:
            sys.stdout.write(f"<3>{rest[0]} stays off: {why}. To start it again: {brakes.remedy(rest[0])}\n")
            return 1
    elif command == "allow":
        brakes.allow(state, rest[0])
    return 0


def main(arguments: t.Sequence[str] | None = None) -> int:
    """Run a command; return 2 if it is refused."""
    command, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    rest = [word for word in rest if word]
    try:
        if command == "call":
            from ._shared.module_utils._core.answer import answer

            return answer({"install": install, "admit": admit}[rest[0]])
        if command == "admit":
            from . import admission

            end = rest.index("--") if "--" in rest else len(rest)
            verdict = admission.admit(rest[end + 1 :], admission.Options(rest[:end]).value("--needs"))
            sys.stdout.writelines(f"{sanitize.line(line)}\n" for line in verdict.lines)
            return 0
        if len(rest) >= ARGUMENTS.get(command, sys.maxsize):
            return started(command, settings.read(rest[0]), rest[1:])
    except SparkforgeError as error:
        sys.stdout.writelines(f"{sanitize.line(line)}\n" for line in error.details.get("said", ()))
        sys.stderr.write(f"{error}\n")
        return 1 if error.details else 2
    except PermissionError as error:
        sys.stderr.write(f"{error.filename} cannot be used: {error.strerror}. Run this as root (sudo).\n")
        return 2
    sys.stdout.write(f"{USAGE}\n")
    return 0 if command in ("", "-h", "--help") else 2
