"""The command ``sparkforge-proof``, for any environment or container that has torch."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import socket
import sys
import typing as t

from . import calls, catalogue, changed, elsewhere, resources, run, scheduled, verdict
from ._shared.module_utils._core import phrases, sanitize
from ._shared.module_utils._core.answer import answer
from ._shared.module_utils._core.errors import SparkforgeError
from ._shared.module_utils._host import gpu
from ._shared.module_utils._host.reader import Host, run_command
from .check import FAIL, FULL, SKIP, WARN

#: The exit codes; 2 means a wrong command line, or an environment that cannot be inspected.
PROVEN, WRONG, REFUSED, UNPROVEN, FAILED = range(5)
#: The signals sent by Ctrl-C, kill and a closed terminal. As in a shell, the exit code is 128 plus the signal's number.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOPPED = 128
#: How many of the checks skipped for the same reason are named.
NAMED = 4

_EPILOG = """other commands: sparkforge-proof endpoint URL --model PATH (are a served model's numbers right?),
sparkforge-proof inspect PATH … (will it run on a Spark?), sparkforge-proof explain LOG (what went wrong, and what is
the remedy?); exit status: 0 proven (perhaps with warnings, or with results that cannot be judged on a new kind of
device), 1 a number is wrong, even if only on the CPU, 2 it could not start, 3 nothing failed, but numbers that the
verdict rests on were not computed, 4 a check failed without a wrong number, 128 or more: stopped by a signal"""


def parser(profiles: t.Iterable[str]) -> argparse.ArgumentParser:
    """Return the command line parser."""
    made = argparse.ArgumentParser(
        prog="sparkforge-proof",
        description="Prove that this interpreter's PyTorch computes right numbers: run every check that the collection"
        " sparkforge.dgx_spark runs, each compared with float64 on the CPU.",
        epilog=_EPILOG,
    )
    made.add_argument(
        "--list", action="store_true", help="list the checks, and the devices on which each has passed; run nothing"
    )
    made.add_argument("--family", action="append", default=[], metavar="NAME", help="only this family; may be repeated")
    made.add_argument("--check", action="append", default=[], metavar="PATTERN", help="only matching names; repeatable")
    made.add_argument(
        "--profile",
        choices=["auto", *profiles],
        default="auto",
        help="the device's profile; auto: by its compute capability",
    )
    made.add_argument("--cpu", action="store_true", help="skip the GPU checks, even if there is a GPU")
    made.add_argument("--gpu", action="store_true", help="fail if no GPU responds, instead of skipping its checks")
    made.add_argument("--json", metavar="FILE", help="write the report to this file")
    made.add_argument("--html", metavar="FILE", help="write the HTML page to this file")
    made.add_argument("--factor", type=float, default=1.0, help="factor on each check's time limit (default: 1)")
    made.add_argument("--memory-share", type=float, default=0.5, help="maximum share of the free memory (default: 0.5)")
    made.add_argument("--full", action="store_true", help="the full survey of torch's operators, with more inputs each")
    made.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed of the inputs, a number above 0 (default: from the date, or one that ran elsewhere if this kind of"
        " device has no recorded runs)",
    )
    made.add_argument(
        "--accept", action="append", default=[], metavar="CHECK", help="accept a failure of this check; may be repeated"
    )
    made.add_argument("--quiet", action="store_true", help="print only the verdict")
    return made


def profiles() -> dict[str, dict[str, t.Any]]:
    """Return the profiles that the build has added to this package.

    :raises SparkforgeError: if this is the source tree.
    """
    try:
        return t.cast("dict[str, dict[str, t.Any]]", json.loads(resources.text("profiles.json")))
    except OSError as error:
        raise SparkforgeError(
            "The source tree of sparkforge-proof cannot run.", "Run make proof, then run the file that it makes."
        ) from error


def select_profile(known: t.Mapping[str, t.Mapping[str, t.Any]], name: str, capabilities: t.Sequence[str]) -> str:
    """Return the name of a profile; ``auto`` selects the first one for any of the devices' compute capabilities."""
    if name != "auto":
        return name
    matching = (key for key, profile in known.items() if profile.get("compute_capability") in capabilities)
    return next(matching, "generic")


def patterns(families: t.Sequence[str], names: t.Sequence[str]) -> list[str]:
    """Return the patterns that select the requested checks.

    :raises SparkforgeError: if a family does not exist.
    """
    known = list(dict.fromkeys(definition.family for definition in catalogue.CHECKS.values()))
    for family in families:
        if family not in known:
            raise SparkforgeError(f"Unknown family {family}.", f"The families are {', '.join(known)}.")
    members = [name for name, definition in catalogue.CHECKS.items() if definition.family in families]
    return [*members, *names] or ["*"]


def main(argv: t.Sequence[str] | None = None) -> int:
    """Run a command (by default, the checks) and return the exit code."""
    heard = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _stop) for number in heard}
    try:
        return _command(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt as stop:
        name = signal.Signals(stop.args[0]).name
        print(f"Stopped by {name}: all processes were killed and their files removed.", file=sys.stderr)
        return STOPPED + int(stop.args[0])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _frame: t.Any) -> None:
    """Stop the command, and ignore further signals in the meantime."""
    for each in STOPS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def _command(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        try:
            return COMMANDS[arguments[0]](arguments[1:])
        except SparkforgeError as error:
            print(f"{error.cause} {error.remedy}", file=sys.stderr)
            return REFUSED
    return checks(arguments)


def checks(argv: t.Sequence[str]) -> int:
    """Run the checks, print failures and warnings, and return the exit code."""
    try:
        known = profiles()
        arguments = parser(known).parse_args(argv)
        if arguments.list:
            for name, definition in catalogue.CHECKS.items():
                seen = str(definition.measured[0]) if definition.measured else "has not passed on any device yet"
                print(f"{name}  ({definition.family}, {'GPU' if definition.device == 'cuda' else 'CPU'}), {seen}")
            return PROVEN
        files = writers(arguments)
        report = prove(arguments, known)
        if not of_the_role(os.path.realpath(sys.prefix)):
            report = elsewhere.reword(report)
        for path, text in files.items():
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text(report))
    except SparkforgeError as error:
        print(elsewhere.reword(f"{error.cause} {error.remedy}"), file=sys.stderr)
        return REFUSED
    except OSError as error:
        print(f"The report cannot be written: {error}.", file=sys.stderr)
        return REFUSED
    if not arguments.quiet:
        for check in report["checks"]:
            if check["status"] in (FAIL, WARN):
                print(sanitize.text(f"{check['status']}  {check['name']}: {check['cause']} {check['remedy']}"))
        skipped = [check for check in report["checks"] if check["status"] == SKIP and check["family"] != "host"]
        for cause in dict.fromkeys(check["cause"] for check in skipped):
            names = [check["name"] for check in skipped if check["cause"] == cause]
            print(sanitize.text(f"skip  {phrases.some(names, NAMED)}: {cause}"))
        for notice in report["notices"]:
            print(sanitize.text(notice))
    counts = ", ".join(f"{count} {status}" for status, count in report["summary"].items())
    remark = verdict.remark(report)
    outcome = sanitize.text(f"{report['verdict']}; {remark}" if remark else report["verdict"])
    print(f"{outcome} (profile {report['profile']}, {report['seconds']:.0f} s): {counts}")
    return status(report)


def writers(arguments: argparse.Namespace) -> dict[str, t.Callable[[dict[str, t.Any]], str]]:
    """Return, for the path of each output file, the function that formats a report.

    This is called before the checks, which take minutes, so that a wrong path cannot cause a report to be lost.

    :raises SparkforgeError: if a file cannot be written, or jinja2, which the page needs, is missing.
    """
    files: dict[str, t.Callable[[dict[str, t.Any]], str]] = {}
    if arguments.json:
        files[arguments.json] = lambda report: json.dumps(report, indent=2, sort_keys=True, allow_nan=False) + "\n"
    if arguments.html:
        if arguments.html in files:
            raise SparkforgeError(f"--json and --html both name {arguments.html}.", "Name two different files.")
        try:
            from .page import draw
        except ImportError as error:
            raise SparkforgeError(f"The page cannot be drawn: {error}.", "Install jinja2, or use --json.") from error
        files[arguments.html] = draw.host_page
    for path in files:
        existing = path if os.path.exists(path) else os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path) or not os.access(existing, os.W_OK):
            remedy = "Name a file in an existing directory that you can write to."
            raise SparkforgeError(f"{path} cannot be written.", remedy)
    return files


def status(report: t.Mapping[str, t.Any]) -> int:
    """Return the exit code for a report."""
    if verdict.wrong(report):
        return WRONG
    return {verdict.PROVEN: PROVEN, verdict.UNPROVEN: UNPROVEN}.get(report["verdict"], FAILED)


def prove(arguments: argparse.Namespace, known: t.Mapping[str, t.Mapping[str, t.Any]]) -> dict[str, t.Any]:
    """Run the checks in this interpreter's environment and return the report.

    :raises SparkforgeError: if torch is not installed, or a check does not exist.
    """
    torch = importlib.util.find_spec("torch")
    if torch is None or not torch.submodule_search_locations:
        raise SparkforgeError(
            f"{sys.executable} has no torch.", "Run this file with the interpreter of the environment: …/bin/python."
        )
    devices = gpu.Gpu(Host(run=run_command)).observe()["devices"]
    folders = torch.submodule_search_locations
    report = _run_proof(arguments, known, sys.executable, sys.prefix, folders, devices, not arguments.quiet)
    return {**report, "host": socket.gethostname(), "written": phrases.now()}


def prove_other(python: str, folder: str, devices: t.Sequence[t.Mapping[str, t.Any]]) -> dict[str, t.Any]:
    """Return a report on another interpreter, for the record of a host.

    :param folder: the directory of that interpreter's torch.
    """
    known = profiles()
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(python)))
    return _run_proof(parser(known).parse_args([]), known, python, prefix, [folder], devices)


def _run_proof(
    arguments: argparse.Namespace,
    known: t.Mapping[str, t.Mapping[str, t.Any]],
    python: str,
    prefix: str,
    folders: t.Iterable[str],
    devices: t.Sequence[t.Mapping[str, t.Any]],
    progress: bool = False,
) -> dict[str, t.Any]:
    name = select_profile(known, arguments.profile, [str(device["compute_capability"]) for device in devices])
    profile = {"required_checks": [], "speed_floors": {}, **known[name], "name": name}
    if arguments.family or arguments.check:
        # A user who selects some checks does not require the others.
        profile["required_checks"] = []
    options = {
        "python": python,
        "checks": patterns(arguments.family, arguments.check),
        "profile": profile,
        "reference": {
            "paths": [os.path.join(folder, "lib") for folder in folders],
            **of_the_role(os.path.realpath(prefix)),
        },
        "limits": {
            "factor": arguments.factor,
            "memory_share": arguments.memory_share,
            **(FULL if arguments.full else {}),
            **({"seed": float(arguments.seed)} if arguments.seed else {}),
        },
        "gpu_required": (arguments.gpu or bool(devices)) and not arguments.cpu,
        "accept": arguments.accept,
    }
    return run.Proof(options, progress=progress).run()


def of_the_role(prefix: str) -> dict[str, str]:
    """Return the root, name and id of an environment that the python_env role installed, or {} for any other."""
    root, _separator, relative = prefix.rpartition("/envs/")
    name, environment_id = os.path.split(relative)
    if not root or not os.path.isfile(os.path.join(root, "receipts", f"env-{name}.json")):
        return {}
    return {"root": root, "environment": name, "environment_id": environment_id}


def inspect(argv: t.Sequence[str]) -> int:
    """Report whether wheels and environments will run on a GPU; return 1 if they cannot."""
    from .files import judge

    made = argparse.ArgumentParser(
        prog="sparkforge-proof inspect",
        description="Judge from the files of wheels, environments or a file system whether they will run on a GPU.",
    )
    made.add_argument("paths", nargs="+", metavar="PATH", help="a wheel, a virtual environment or the root of an image")
    made.add_argument("--machine", choices=["aarch64", "x86_64"], default="aarch64", help="default: %(default)s")
    made.add_argument("--capability", default="12.1", help="the GPU's compute capability (default: %(default)s)")
    made.add_argument("--cuda", default="13.0", help="the driver's CUDA version (default: %(default)s)")
    made.add_argument("--python", default="3.12", help="the environment's Python version (default: %(default)s)")
    arguments = made.parse_args(argv)
    device = judge.Device(arguments.machine, arguments.capability, arguments.cuda, arguments.python)
    judgement = judge.paths(arguments.paths, device)
    print(sanitize.text(judgement["table"]))
    return WRONG if judgement["verdict"] == "no" else PROVEN


def endpoint(argv: t.Sequence[str]) -> int:
    """Check the numbers of a served model."""
    from .endpoint import cli

    return status(cli.main(argv))


def explain(argv: t.Sequence[str]) -> int:
    """Explain the first error of a log."""
    from .explain import main as explain_log

    return explain_log(argv, "sparkforge-proof explain")


COMMANDS: dict[str, t.Callable[[t.Sequence[str]], int]] = {
    "inspect": inspect, "endpoint": endpoint, "explain": explain, "call": lambda argv: answer(calls.CALLS[argv[0]]),
    "changed": changed.main, "scheduled": scheduled.main,
}  # fmt: skip
