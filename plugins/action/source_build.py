# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends the patches, then follows the build and prints how it goes. The work itself is the module's."""

from __future__ import annotations

import json
import pathlib
import shlex
import time
import typing as t

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.utils.display import Display

from ..module_utils._core import shown
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._unit import state_file
from ..module_utils._unit.line import describe
from ..plugin_utils.action import OnHost, Reconnecting, expanded

display = Display()
#: Seconds between two lines where nobody looks at a terminal.
_QUIET = 60.0
#: Seconds for which what asks a host may be on its way, beside those that it waits for news there.
_SILENT = 30.0


class ActionModule(Reconnecting, OnHost):
    """One call of the module; where it builds, one long poll after the other, and one call more for how it ended."""

    #: Whether the host is asked by ``_unit.state_file``'s text alone; by the module once that did not answer.
    _light = True

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result = super().run(tmp, task_vars)
        try:
            arguments = expanded(self._task.args, "unit")
            arguments.pop("attach", None)
            arguments["patches"] = [self._patch(item) for item in arguments.get("patches") or []]
        except SparkforgeError as error:
            return {**result, "failed": True, **error.as_result()}
        if not arguments["patches"]:
            del arguments["patches"]
        host = (task_vars or {}).get("inventory_hostname", "")
        first: dict[str, t.Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        if self._task.check_mode or not boolean(arguments.get("follow", True), strict=False):
            return first
        latest, printed_at = first, 0.0
        printed = None
        told: set[str] = set()
        while latest.get("status") == "running" and not latest.get("failed"):
            state = latest.get("state") or {}
            state = state_file.sound(state) if isinstance(state, dict) else {}
            phase = (state.get("phase"), state.get("attempts"))
            # Before its first phase a build has nothing to tell.
            if state.get("phase") and (phase != printed or _is_terminal() or time.monotonic() - printed_at >= _QUIET):
                printed, printed_at = phase, time.monotonic()
                display.display(f"{host} | {shown.line(describe(state))}")
            for note in state.get("notes") or []:
                if note not in told:
                    told.add(note)
                    display.display(f"{host} | {shown.line(note)}")
            latest = self._look(latest, arguments, task_vars)
        if latest.get("failed"):
            # The result of a build that failed does not list what it would have made.
            return {**latest, "changed": True, "changes": first.get("changes", [])}
        return {**first, **latest, "changed": bool(first.get("changed"))}

    def _look(
        self, latest: dict[str, t.Any], arguments: dict[str, t.Any], task_vars: dict[str, t.Any] | None
    ) -> dict[str, t.Any]:
        """Ask how it goes; a connection that is lost meanwhile is made again."""
        seen = state_file.news(latest.get("state") or {})
        # Only what finds the build: patches may be large.
        wanted = ("name", "root", "log_root", "user", "kind", "source")
        module_args = {key: arguments[key] for key in wanted if key in arguments}
        module_args["attach"] = {"fingerprint": latest["fingerprint"], "platform": latest["platform"], "seen": seen}

        def ask() -> dict[str, t.Any]:
            state = self._poll(latest, str(arguments.get("user") or ""), seen)
            if state is not None:
                return {**latest, "state": state, "notes": state.get("notes", [])}
            asked: dict[str, t.Any] = self._execute_module(module_args=module_args, task_vars=task_vars)
            return asked

        return self.again(ask)

    def _poll(self, latest: dict[str, t.Any], user: str, seen: dict[str, t.Any]) -> dict[str, t.Any] | None:
        """Return the state of a build that runs; None where the module has to say what is the case.

        A module call costs the host a third of a second of CPU time, and the controller half of that, whatever it does.
        What is sent in its place is the text of ``_unit.state_file``, to the interpreter that ran the module, with its
        rights.
        """
        interpreter = shlex.split((getattr(self, "_used_interpreter", None) or "").removeprefix("#!"))
        # By stdin, as modules are sent where pipelining is on, and only there: with a password for become and without
        # pipelining, stdin is a terminal. In the arguments the text would come into sudo's log each time.
        if not (self._light and interpreter and latest.get("directory") and self._is_pipelining_enabled("new")):
            return None
        # Where the network is gone before the text has come, nobody would ever end what waits for it on the host.
        limit = f"{state_file.LONG_POLL + _SILENT:.0f}"
        command = ["timeout", limit, *interpreter, "-I", "-S", "-", latest["directory"], user, json.dumps(seen)]
        text = pathlib.Path(state_file.__file__).read_bytes()
        try:
            answer = self._low_level_execute_command(shlex.join(command), in_data=text)
            state = _answer(answer["stdout"])
        except AnsibleConnectionFailure:
            raise
        except (AnsibleError, ValueError) as error:
            self._light = False
            display.vvv(f"From now on the module is polled: {error}")
            return None
        return state

    def _patch(self, item: t.Any) -> dict[str, str]:
        """Return the patch with its content, which is a file of the controller where only a path is given."""
        if isinstance(item, dict) and isinstance(item.get("content"), str) and not set(item) - {"name", "content"}:
            return {"name": str(item.get("name") or "patch"), "content": item["content"]}
        if not isinstance(item, str):
            raise SparkforgeError(
                f"{str(item)[:200]!r} is not a patch.", "Give the path of a file, or a mapping of name and content."
            )
        if "\n" in item:
            return {"name": "patch", "content": item}
        try:
            path = pathlib.Path(self._find_needle("files", item))
            return {"name": path.name, "content": path.read_text(encoding="utf-8")}
        except (AnsibleError, OSError, UnicodeDecodeError):
            raise SparkforgeError(
                f"The patch {item} is not on the controller.", "Give the path of an existing file."
            ) from None


def _answer(output: str) -> dict[str, t.Any] | None:
    """Return the state that ``_unit.state_file`` printed; None where it said that the build is over.

    :raises ValueError: if it said neither.
    """
    for line in output.splitlines():
        if line.startswith(state_file.MARK):
            state = json.loads(line.removeprefix(state_file.MARK))
            if state is None or isinstance(state, dict):
                return state
    raise ValueError(f"no answer in {output[-500:]!r}")


def _is_terminal() -> bool:
    """Tell whether a person looks at the output."""
    import sys

    return sys.stdout.isatty()
