"""Runs one ansible-playbook line with ansible-runner, and shows how it goes."""

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

#: Playbooks that need no rights of root.
WITHOUT_ROOT = ("forecast", "record")
#: What ansible-playbook asks with --ask-pass and --ask-become-pass.
PROMPTS = (r"SSH password:\s*$", r"BECOME password[^:]*:\s*$")
ASKED = re.compile(r"^(SSH|BECOME) password[^:]*:\s*$", re.M)
#: Events that a terminal shows above the bar, and actions whose result is meant to be read; -v shows all.
SHOWN = re.compile(r"runner_.*(failed|unreachable)|playbook_on_stats|warning|error|verbose")
SPEAKING = re.compile(r".*\.(debug|verify_report)")
#: How a build says how far it is: docs/developer.md, "Build from source".
BUILDING = re.compile(r"(?P<what>\S+ \| \S+) \| build (?P<done>\d+)/(?P<total>\d+)")
#: What Ansible puts before the words of ssh and of sudo.
WRAPPED = re.compile(r".* (?:over|via) ssh: |Task failed: ", re.S)
#: How ansible-playbook ends where it did not reach a host, and ansible-runner what was interrupted.
UNREACHABLE, CANCELLED = 4, 254


@dataclass(frozen=True)
class Play:
    """One line of ansible-playbook. ``playbook`` is a name of the collection's (``site``)."""

    playbook: str
    inventory: Path | str
    arguments: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.inventory, Path) and "," in str(self.inventory):
            cause = f"Ansible takes {self.inventory} for a list of hosts."
            raise Refusal(Exit.USAGE, cause, "Give the inventory a path without a comma.")

    @property
    def words(self) -> list[str]:
        return ["ansible-playbook", "-i", str(self.inventory), f"{COLLECTION}.{self.playbook}", *self.arguments]

    @property
    def line(self) -> str:
        """The command as a shell takes it, with the variables that make Ansible find this collection."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in [*environment().items()][:2]]
        own = str(Path(sys.executable).with_name("ansible-playbook"))
        program = "ansible-playbook" if shutil.which("ansible-playbook") == own else own
        return " ".join([*variables, shlex.join([program, *self.words[1:]])])

    def asking(self) -> Play:
        """Return the same with Ansible asking for the password, of ssh and, if it becomes root, of sudo."""
        sudo = [] if self.playbook in WITHOUT_ROOT else ["--ask-become-pass"]
        return replace(self, arguments=[*self.arguments, "--ask-pass", *sudo])


@dataclass
class Outcome:
    """How a play ended: Ansible's exit status, what it said of each host that was not reached or that failed, and by
    the names of the inventory what the hosts that were asked call themselves."""

    code: int = 0
    unable: dict[str, str] = field(default_factory=dict)
    hostnames: dict[str, str] = field(default_factory=dict)


def environment(colour: bool = False) -> dict[str, str]:
    """Return what Ansible runs in; the first two are printed. A person's own settings and collections stay in force."""
    own = os.environ.get("ANSIBLE_COLLECTIONS_PATH")
    return {
        "ANSIBLE_CONFIG": os.environ.get("ANSIBLE_CONFIG") or str(collection() / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": f"{collections_path()}:{own}" if own else str(collections_path()),
        # ansible-runner turns this off where nobody says otherwise.
        "ANSIBLE_HOST_KEY_CHECKING": os.environ.get("ANSIBLE_HOST_KEY_CHECKING", "True"),
        "ANSIBLE_NOCOLOR": str(not colour),
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
    }


def run(play: Play, password: str, console: Console, verbose: bool = False, quiet: bool = False) -> Outcome:
    """Print the line, run it, and return how it ended.

    ``password`` goes to Ansible's prompts through a pseudo-terminal: it is in no file, variable or command line.
    """
    if password:
        play = play.asking()
    console.print(f"+ {play.line}", soft_wrap=True)
    outcome = Outcome()
    handler = signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as private, Screen(console, verbose, quiet) as screen:

        def handle(event: Mapping[str, Any]) -> bool:
            data = event.get("event_data") or {}
            if event["event"] in ("runner_on_unreachable", "runner_on_failed") and not data.get("ignore_errors"):
                outcome.unable[data["host"]] = said(data)
            if event["event"] == "runner_on_ok" and data.get("task") == "Ask for the host's name":
                outcome.hostnames[data["host"]] = str((data.get("res") or {}).get("stdout"))
            screen.show(event)
            return False

        options: dict[str, Any] = {"passwords": dict.fromkeys(PROMPTS, password)} if password else {}
        options["envvars"] = environment(console.is_terminal)
        # Else ansible-runner writes all that it was given into files, the password too.
        options |= {"suppress_env_files": True, "settings": {"suppress_output_file": True}, "quiet": True}
        options |= {"private_data_dir": private, "host_cwd": str(Path.cwd()), "cmdline_args": play.words[1:]}
        _out, _error, outcome.code = ansible_runner.run_command(play.words[0], event_handler=handle, **options)
    # ansible-runner put its own in place, which would swallow Ctrl-C at the next question.
    signal.signal(signal.SIGINT, handler)
    return outcome


def said(data: Mapping[str, Any]) -> str:
    """Return the message of a host's result, without what Ansible puts before it; none where there is a program's."""
    result = data.get("res") or {}
    message = "" if result.get("stderr") and "cause" not in result else result.get("msg") or ""
    return WRAPPED.sub("", "\n".join(message) if isinstance(message, list) else str(message), 1).strip()


class Screen:
    """What a person sees of a run: bars on a terminal, and Ansible's own lines elsewhere."""

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
        """Show one event of ansible-runner."""
        text = ASKED.sub("", str(event.get("stdout") or "")).strip("\r\n")
        kind, data = event["event"], event.get("event_data") or {}
        if kind == "playbook_on_task_start":
            self.steps += 1
            self._bar("play", f"{self.steps} {data.get('name', '')}"[: max(8, self.console.width - 26)])
        if building := BUILDING.search(text):
            self._bar(building["what"], building["what"], int(building["done"]), int(building["total"]))
        speaks = kind == "runner_on_ok" and "=>" in text and SPEAKING.fullmatch(str(data.get("task_action", "")))
        # Ansible tells a failure twice: as an error with the line of the role, and as the result of the host.
        told = text.startswith("[ERROR]: Task failed") or data.get("ignore_errors") or building
        if not self.all and kind == "playbook_on_stats":
            text = re.sub(r"[ *]+(\x1b\[0m)?[ *]+", r"\1 ", text)  # into 80 columns
        if not self.all and kind.startswith("runner_") and (words := said(data)):
            between = "\n" if "\n" in words else " "
            text = words if words.startswith(data["host"]) else f"{data['host']}:{between}{words}"
        if text and not self.quiet and (self.all or (not told and (speaks or SHOWN.fullmatch(kind)))):
            self.console.print(coloured(text), soft_wrap=True)
        if kind == "runner_on_failed" and not (self.quiet or data.get("ignore_errors")):
            for known in module("plugins.plugin_utils.programs").PROOF.module("explain").of_result(data.get("res")):
                self.console.print(known, soft_wrap=True)

    def _bar(self, key: str, text: str, done: int | None = None, total: int | None = None) -> None:
        if key not in self.bars:
            self.bars[key] = self.progress.add_task(text, total=total)
        self.progress.update(self.bars[key], description=text, completed=done, total=total)
