"""Resolve a stack upstream and write its lock.

The documentation is in plugins/modules/stack_lock.py.
"""

from __future__ import annotations

import datetime
import os
import typing as t

from ...tools.lock import diff, resolve, upstream, write
from ...tools.network import network
from ..module_utils._core import phrases, sanitize
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._fetch import http
from ..plugin_utils import files
from ..plugin_utils.action import OnController
from ..plugin_utils.stack import load
from ..plugin_utils.stack.model import Lock

PARTS = ["archives", "wheels", "sources", "requirements"]


class ActionModule(OnController):
    """Works on the controller; it never contacts the host."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the changed pins, and write the lock unless in check mode."""
        inventories = load.inventory_directories(task_vars)
        with network(arguments["proxies"], arguments["ca_certificate"]):
            return self._bring_up_to_date(arguments, inventories)

    def _bring_up_to_date(self, arguments: dict[str, t.Any], inventories: list[str]) -> dict[str, t.Any]:
        name = arguments["name"]
        where = load.search_paths(inventories, arguments["shipped"], arguments["directories"], arguments["locks"])
        definition, _path = load.load(name, where)
        directory = arguments["directory"] or (os.path.join(inventories[0], "locks") if inventories else None)
        if directory is None:
            raise SparkforgeError(
                f"There is no inventory directory to write the lock of {name} to.",
                "Give an inventory file with -i, or set stack_lock_directory.",
            )
        path = os.path.join(directory, f"{name}.yml")
        # A new lock replaces an invalid one, but can only keep parts of a lock that is readable.
        known_lock: Lock | None = None
        notes = []
        try:
            known_lock, _known_path = load.load_lock(name, where)
        except SparkforgeError as error:
            notes.append(f"The previous lock is discarded: {error.cause}")
        lock, resolve_notes = self._resolve(name, definition, known_lock or {}, arguments)
        notes += resolve_notes

        before = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read()
        old = known_lock if before else None
        changed = not write.same_pins(old, lock)
        if old is not None and not changed:
            lock["resolved"] = old["resolved"]
        text_after = write.lock_text(lock)
        moved = diff.moved(known_lock or {}, lock)
        if changed and not self._task.check_mode:
            files.write_text(path, text_after, "Set stack_lock_directory to a directory that you can write to.")
        for line in [*notes, *moved]:
            self._display.display(f"lock {name} | {sanitize.line(line)}")
        answer: dict[str, t.Any] = {"changed": changed, "path": path, "moved": moved, "notes": notes, "lock": lock}
        if changed and self._task.diff:
            answer["diff"] = phrases.diff(path, before, text_after)
        return answer

    def _resolve(
        self, name: str, definition: dict[str, t.Any], known: Lock, arguments: dict[str, t.Any]
    ) -> tuple[Lock, list[str]]:
        """Return the new lock, in which parts that were not selected keep their previous content, and notes."""
        parts, notes = arguments["parts"], []
        today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
        known_parts = {part: known.get(part) or {} for part in write.PARTS}
        lock = t.cast("Lock", {"format": 1, "stack": name, "resolved": today, **known_parts})

        def say(text: str) -> None:
            self._display.display(f"lock {name} | {sanitize.line(text)}")

        if "archives" in parts:
            lock["archives"] = upstream.resolve_archives(
                upstream.lock_archives(definition),
                machines=definition["machines"],
                nvidia_url=arguments["nvidia_url"],
                fetch=http.fetch_bytes,
                say=say,
            )
        index = resolve.Index(arguments["index_url"], tuple(arguments["find_links"]), tuple(arguments["uv"] or ()))
        own_index = index.url is not None or index.find_links
        if "wheels" in parts and not definition["wheel"]["available"] and not own_index:
            # The index has builds, but according to the stack they are not the ones it needs.
            notes.append(f"wheels unchanged: {' '.join(definition['wheel']['reason'].split())}")
        elif "wheels" in parts:
            lock["wheels"] = {}
            for target in resolve.targets(definition):
                say(f"wheels {target.platform}: querying the index")
                lock["wheels"][target.platform] = resolve.wheels(definition, target, index)
        if "sources" in parts:
            own, ask, read = definition.get("sources") or {}, upstream.ask_remote, upstream.ask_file
            lock["sources"] = upstream.Sources(own, lock["sources"], ask=ask, read=read, say=say).resolve()
        if "requirements" in parts:
            lock["build_requirements"], lock["run_requirements"] = {}, {}
            for target in resolve.targets(definition) if definition.get("units") else ():
                say(f"requirements {target.platform}: querying the index")
                lock["build_requirements"][target.platform] = resolve.build_requirements(definition, target, index)
                lock["run_requirements"][target.platform] = resolve.run_requirements(definition, target, index)
        return lock, [*notes, *(f"{part} kept: not selected" for part in PARTS if part not in parts)]
