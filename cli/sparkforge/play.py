"""Runs an ansible-playbook command with ansible-runner, and shows its progress."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ansible_runner  # type: ignore[import-untyped]
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from sparkforge import COLLECTION, Exit, Refusal, collection, collections_path, module
from sparkforge.terminal import Console, coloured

#: Playbooks that do not need root.
WITHOUT_ROOT = ("forecast", "record")
#: The prompts of ansible-playbook with --ask-pass and --ask-become-pass.
PROMPTS = (r"SSH password:\s*$", r"BECOME password[^:]*:\s*$")
ASKED = re.compile(r"^(SSH|BECOME) password[^:]*:\s*$", re.M)
#: Events that a terminal shows above the bar, and actions whose result is meant to be read; -v shows all.
SHOWN = re.compile(r"runner_.*(failed|unreachable)|playbook_on_stats|warning|error|verbose")
SPEAKING = re.compile(r".*\.(debug|verify_report)")
#: The progress lines of a build: docs/developer.md, "Build from source".
BUILDING = re.compile(r"(?P<what>\S+ \| \S+) \| build (?P<done>\d+)/(?P<total>\d+)")
#: The text that Ansible puts before messages from ssh and sudo.
WRAPPED = re.compile(r".* (?:over|via) ssh: |Task failed: ", re.S)
#: The name of an event, and its message if ssh or sudo rejected the user name or the password.
REJECTED = re.compile(r"(?s)unreachable .*(Permission denied \(|Invalid/incorrect )|failed .*(Incorrect|Missing) sudo")
#: The exit status of ansible-playbook for an unreachable host, and of ansible-runner after an interruption.
UNREACHABLE, CANCELLED = 4, 254
#: The inventory of this machine alone, and the options without which Ansible uses ssh and the first python3 on PATH.
LOCALHOST, LOCAL = "localhost,", ("-c", "local", "-e", "ansible_python_interpreter={{ ansible_playbook_python }}")


@dataclass(frozen=True)
class Play:
    """An ansible-playbook command. ``playbook`` is the name of one of the collection's playbooks, such as ``site``."""

    playbook: str
    inventory: Path | str
    arguments: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.inventory, Path) and "," in str(self.inventory):
            cause = f"Ansible reads {self.inventory} as a list of hosts, because of the comma."
            raise Refusal(Exit.USAGE, cause, "Give the inventory a path without a comma.")

    @property
    def command(self) -> list[str]:
        arguments = [*(LOCAL if self.inventory == LOCALHOST else ()), *self.arguments]
        return ["ansible-playbook", "-i", str(self.inventory), f"{COLLECTION}.{self.playbook}", *arguments]

    @property
    def line(self) -> str:
        """The command for a shell, with the variables that let Ansible find this collection."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in [*environment().items()][:2]]
        own = str(Path(sys.executable).with_name("ansible-playbook"))
        program = "ansible-playbook" if shutil.which("ansible-playbook") == own else own
        return " ".join([*variables, shlex.join([program, *self.command[1:]])])

    def with_password_prompts(self) -> Play:
        """Return the same play with Ansible asking for the ssh password and, if it becomes root, sudo's password."""
        sudo = [] if self.playbook in WITHOUT_ROOT else ["--ask-become-pass"]
        return replace(self, arguments=[*self.arguments, "--ask-pass", *sudo])


@dataclass
class Outcome:
    """The outcome of a play: Ansible's exit status, its message for each unreachable or failed host, the hosts that
    rejected the login or sudo's password, and the hosts' own names by inventory name."""

    code: int = 0
    unable: dict[str, str] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)
    hostnames: dict[str, str] = field(default_factory=dict)


def environment(colour: bool = False) -> dict[str, str]:
    """Return Ansible's environment; the first two variables are printed. The user's own settings remain in effect."""
    own = os.environ.get("ANSIBLE_COLLECTIONS_PATH")
    return {
        "ANSIBLE_CONFIG": os.environ.get("ANSIBLE_CONFIG") or str(collection() / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": f"{collections_path()}:{own}" if own else str(collections_path()),
        # ansible-runner turns this off unless it is set.
        "ANSIBLE_HOST_KEY_CHECKING": os.environ.get("ANSIBLE_HOST_KEY_CHECKING", "True"),
        "ANSIBLE_NOCOLOR": str(not colour),
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
    }


def run(play: Play, password: str, console: Console, verbose: bool = False, quiet: bool = False) -> Outcome:
    """Print the command, run it, and return its outcome.

    ``password`` is passed to Ansible's prompts through a pseudo-terminal, so it is never in a file, a variable or a
    command line.
    """
    if password:
        play = play.with_password_prompts()
    console.print(f"+ {play.line}", soft_wrap=True)
    outcome = Outcome()
    handler = signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as private, Screen(console, verbose, quiet) as screen:

        def handle(event: Mapping[str, Any]) -> bool:
            data = event.get("event_data") or {}
            if event["event"] in ("runner_on_unreachable", "runner_on_failed"):
                message = failure_message(data)
                if REJECTED.search(f"{event['event']} {message}"):
                    outcome.rejected.add(data["host"])
                if not data.get("ignore_errors"):
                    outcome.unable[data["host"]] = message
            if event["event"] == "runner_on_ok" and data.get("task") == "Ask for the host's name":
                outcome.hostnames[data["host"]] = str((data.get("res") or {}).get("stdout")).strip()
            screen.show(event)
            return False

        options: dict[str, Any] = {"passwords": dict.fromkeys(PROMPTS, password)} if password else {}
        options |= {"envvars": environment(console.is_terminal), "quiet": True, "private_data_dir": private}
        options |= {"host_cwd": str(Path.cwd()), "cmdline_args": play.command[1:]}
        _out, _error, outcome.code = ansible_runner.run_command(play.command[0], event_handler=handle, **options)
    # ansible-runner installed its own handler, which would swallow Ctrl-C at the next question.
    signal.signal(signal.SIGINT, handler)
    return outcome


def failure_message(data: Mapping[str, Any]) -> str:
    """Return the message of a host's result without Ansible's prefix, or '' if the result is a program's output."""
    result = data.get("res") or {}
    message = "" if result.get("stderr") and "cause" not in result else result.get("msg") or ""
    return WRAPPED.sub("", "\n".join(message) if isinstance(message, list) else str(message), 1).strip()


class Screen:
    """The output of a run: bars on a terminal, and Ansible's own lines elsewhere."""

    def __init__(self, console: Console, verbose: bool, quiet: bool = False) -> None:
        self.console = console
        self.all = verbose or not console.is_terminal
        self.quiet = quiet
        columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=12)]
        self.progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self.bars: dict[str, TaskID] = {}
        self.steps = 0

    def __enter__(self) -> Screen:
        if self.console.is_terminal:
            self.progress.start()
            self._bar("play", "Ansible starts")
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:
            self.progress.stop()

    def show(self, event: Mapping[str, Any]) -> None:
        """Show an event from ansible-runner."""
        text = ASKED.sub("", str(event.get("stdout") or "")).strip("\r\n")
        kind, data = event["event"], event.get("event_data") or {}
        if kind == "playbook_on_task_start":
            self.steps += 1
            self._bar("play", f"{self.steps} {data.get('name', '')}"[: max(8, self.console.width - 26)])
        if building := BUILDING.search(text):
            self._bar(building["what"], building["what"], int(building["done"]), int(building["total"]))
        speaks = kind == "runner_on_ok" and "=>" in text and SPEAKING.fullmatch(str(data.get("task_action", "")))
        # Ansible reports a failure twice: as an error with the role's line, and as the host's result.
        hidden = text.startswith("[ERROR]: Task failed") or data.get("ignore_errors") or building
        if not self.all and kind == "playbook_on_stats":
            text = re.sub(r"[ *]+(\x1b\[0m)?[ *]+", r"\1 ", text)  # fits 80 columns
        if not self.all and kind.startswith("runner_") and (message := failure_message(data)):
            between = "\n" if "\n" in message else " "
            text = message if message.startswith(data["host"]) else f"{data['host']}:{between}{message}"
        if text and not self.quiet and (self.all or (not hidden and (speaks or SHOWN.fullmatch(kind)))):
            self.console.print(coloured(text), soft_wrap=True)
        if kind == "runner_on_failed" and not (self.quiet or data.get("ignore_errors")):
            for hint in module("plugins.plugin_utils.programs").PROOF.module("explain").of_result(data.get("res")):
                self.console.print(hint, soft_wrap=True)

    def _bar(self, key: str, text: str, done: int | None = None, total: int | None = None) -> None:
        if key not in self.bars:
            self.bars[key] = self.progress.add_task(text, total=total)
        self.progress.update(self.bars[key], description=text, completed=done, total=total)
