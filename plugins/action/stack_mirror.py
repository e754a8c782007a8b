"""Collect a stack's downloads in a directory.

The documentation is in plugins/modules/stack_mirror.py.
"""

from __future__ import annotations

import os
import pathlib
import typing as t

from ...tools.lock import resolve
from ...tools.mirror import collect
from ...tools.mirror.directory import OURS, Directory
from ...tools.mirror.needs import needs_of
from ...tools.network import network
from ..module_utils._core import sanitize
from ..plugin_utils.action import OnController
from ..plugin_utils.stack import facts, load


class ActionModule(OnController):
    """Works on the controller; it never contacts the host."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the missing files, and fetch them unless in check mode."""
        inventories = load.inventory_directories(task_vars)
        where = load.search_paths(inventories, arguments["shipped"], arguments["directories"], arguments["locks"])
        directory = Directory(
            os.path.abspath(arguments["directory"]),
            check=self._task.check_mode,
            say=lambda line: self._display.display(f"mirror {arguments['name']} | {sanitize.line(line)}"),
        )
        with network(arguments["proxies"], arguments["ca_certificate"]), directory.alone():
            directory.verify()
            return self._fill(directory, arguments, where)

    def _fill(self, directory: Directory, arguments: dict[str, t.Any], where: load.SearchPaths) -> dict[str, t.Any]:
        name, root = arguments["name"], directory.root
        stacks = [(name, arguments["method"])]
        if arguments["method"] == "build" and arguments["meanwhile"]:
            stacks.append((arguments["meanwhile"], "wheel"))
        index = resolve.Index(arguments["index_url"], tuple(arguments["find_links"]))
        # Profiles affect only the proof, not the downloads.
        libraries = arguments["libraries"]
        resolved = [
            facts.facts(stack_name, method, "generic", where, libraries=libraries)["stack"]
            for stack_name, method in stacks
        ]
        for stack in resolved:
            needs = needs_of(stack, arguments["machines"], arguments["extensions"])
            collect.archives(directory, needs.archives, arguments["nvidia_url"])
            collect.wheels(directory, needs.wheels, index)
            collect.sources(directory, needs.sources, arguments["rewrite"])
        url = arguments["url"] or pathlib.Path(root).as_uri()
        directory.write(collect.VARIABLES, collect.variables(url, collect.rewrites(directory.rows)), OURS)
        for line in directory.missing if self._task.check_mode else ():
            self._display.display(f"mirror {name} | would {sanitize.line(line)}")
        return {
            "changed": directory.changed,
            "directory": root,
            "manifest": directory.at("mirror.json"),
            "variables": directory.at(collect.VARIABLES),
            "missing": directory.missing,
        }
