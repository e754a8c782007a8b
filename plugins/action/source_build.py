"""Send the patches, then follow the build and print its progress. The module does the work itself."""

from __future__ import annotations

import pathlib
import sys
import time
import typing as t

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.utils.display import Display

from ..module_utils._core import sanitize
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._unit import outcome, state_file
from ..module_utils._unit.progress import describe
from ..plugin_utils.action import OnHost, merge_mapping

display = Display()
#: Seconds between two lines if the output is not a terminal.
_QUIET = 60.0
#: The time in seconds to retry a lost connection before the host counts as unreachable.
_RECONNECT = 120.0


class ActionModule(OnHost):
    """Calls the module and, during a build, repeats the call, which waits for progress each time."""

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result = super().run(tmp, task_vars)
        try:
            arguments = merge_mapping(self._task.args, "unit")
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
        printed_notes: set[str] = set()
        while latest.get("status") == "running" and not latest.get("failed"):
            state = latest.get("state") or {}
            state = state_file.valid_entries(state) if isinstance(state, dict) else {}
            phase = (state.get("phase"), state.get("attempts"))
            # Before its first phase a build has nothing to report.
            if state.get("phase") and (
                phase != printed or sys.stdout.isatty() or time.monotonic() - printed_at >= _QUIET
            ):
                printed, printed_at = phase, time.monotonic()
                display.display(f"{host} | {sanitize.line(describe(state))}")
            for note in state.get("notes") or []:
                if note not in printed_notes:
                    printed_notes.add(note)
                    display.display(f"{host} | {sanitize.line(note)}")
            latest = self._look(latest, arguments, task_vars)
        if latest.get("failed"):
            # The result of a failed build does not list the intended changes.
            return {**latest, "changed": True, "changes": first.get("changes", [])}
        return {**first, **latest, "changed": bool(first.get("changed"))}

    def _look(
        self, latest: dict[str, t.Any], arguments: dict[str, t.Any], task_vars: dict[str, t.Any] | None
    ) -> dict[str, t.Any]:
        """Poll the build, reconnecting if the connection is lost meanwhile.

        :raises AnsibleConnectionFailure: if that takes too long; the build continues on the host.
        """
        watched = outcome.watched_entries(latest.get("state") or {})
        # Send only the options that identify the build, because patches may be large.
        identifying = ("name", "root", "log_root", "user", "kind", "source")
        module_args = {key: arguments[key] for key in identifying if key in arguments}
        module_args["attach"] = {"fingerprint": latest["fingerprint"], "platform": latest["platform"], "seen": watched}
        deadline = None
        while True:
            try:
                return self._execute_module(module_args=module_args, task_vars=task_vars)
            except AnsibleConnectionFailure as error:
                # Count from the first failure, because ssh may take minutes to notice a lost connection.
                deadline = deadline or time.monotonic() + _RECONNECT
                if time.monotonic() > deadline:
                    raise AnsibleConnectionFailure(
                        f"The host does not answer. The work continues there; run the same command to follow it. "
                        f"{error}"
                    ) from error
                self._connection.reset()
                time.sleep(5)

    def _patch(self, item: t.Any) -> dict[str, str]:
        """Return the patch with its content, read from a file on the controller if only a path is given."""
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
