# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask upstream what a stack is, and write its lock.

The documentation is in plugins/modules/stack_lock.py.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import ssl
import tempfile
import typing as t

from ...tools.lock import diff, resolve, upstream, write
from ..module_utils._core import modules
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._fetch import http
from ..plugin_utils import files, network_access
from ..plugin_utils.action import OnController
from ..plugin_utils.stack import load
from ..plugin_utils.stack.model import Lock

PARTS = ["archives", "wheels", "sources", "requirements"]
# Of a machine without the ca-certificates file in OpenSSL's own place.
SYSTEM_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


@contextlib.contextmanager
def network(proxies: t.Mapping[str, t.Any], certificate: str) -> t.Iterator[None]:
    """Set proxies and the site's CA for everything that this process, uv and git fetch.

    The CA is added to the system's: a site's proxy may re-sign one host and pass another one through.

    :raises SparkforgeError: when the certificate cannot be read.
    """
    wanted = network_access.proxy_environment(proxies)
    with contextlib.ExitStack() as stack:
        if certificate:
            bundle = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8"))
            system = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile or SYSTEM_BUNDLE
            try:
                for path in (system, certificate):
                    if path == certificate or os.path.isfile(path):
                        with open(path, encoding="utf-8") as file:
                            bundle.write(file.read() + "\n")
            except (OSError, UnicodeDecodeError) as error:
                raise SparkforgeError(
                    f"The CA certificate {path} cannot be read: {error}.",
                    "Set sparkforge_ca_certificate to a PEM file on the controller.",
                ) from error
            bundle.flush()
            # PIP_CERT: uv is told what pip is configured for.
            for name in ("SSL_CERT_FILE", "PIP_CERT", "GIT_SSL_CAINFO"):
                wanted[name] = bundle.name
        # Ansible runs every task in its own process, and still this leaves no trace in it.
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


class ActionModule(OnController):
    """Works on the controller; the host is never asked."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return what moved, and write the lock unless in check mode."""
        inventories = load.inventory_directories(task_vars)
        with network(arguments["proxies"], arguments["ca_certificate"]):
            return self._bring_up_to_date(arguments, inventories)

    def _bring_up_to_date(self, arguments: dict[str, t.Any], inventories: list[str]) -> dict[str, t.Any]:
        name = arguments["name"]
        where = load.places(inventories, arguments["shipped"], arguments["directories"], arguments["locks"])
        definition, _path = load.load(name, where)
        directory = arguments["directory"] or (os.path.join(inventories[0], "locks") if inventories else None)
        if directory is None:
            raise SparkforgeError(
                f"There is no inventory directory to write the lock of {name} to.",
                "Give an inventory file with -i, or set stack_lock_directory.",
            )
        path = os.path.join(directory, f"{name}.yml")
        # A wrong lock in the way is what a new one replaces: only one that can be read is built upon.
        known: Lock | None = None
        notes = []
        try:
            known, _known_path = load.load_lock(name, where)
        except SparkforgeError as error:
            notes.append(f"The previous lock is discarded: {error.cause}")
        lock, said = self._resolve(name, definition, known or {}, arguments)
        notes += said

        before = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read()
        old = known if before else None
        changed = not write.same_pins(old, lock)
        if old is not None and not changed:
            lock["resolved"] = old["resolved"]
        after = write.lock_text(lock)
        moved = diff.moved(known or {}, lock)
        if changed and not self._task.check_mode:
            files.write_text(path, after, "Set stack_lock_directory to a directory that you can write to.")
        for line in [*notes, *moved]:
            self._display.display(f"lock {name} | {line}")
        answer: dict[str, t.Any] = {
            "changed": changed,
            "path": path,
            "moved": moved,
            "notes": notes,
            "lock": lock,
        }
        if changed and self._task.diff:
            answer["diff"] = modules.diff(path, before, after)
        return answer

    def _resolve(
        self, name: str, definition: dict[str, t.Any], known: Lock, arguments: dict[str, t.Any]
    ) -> tuple[Lock, list[str]]:
        """Return the new lock, with what the parts left out had before, and what is worth saying."""
        parts = arguments["parts"]
        notes = []

        def say(text: str) -> None:
            self._display.display(f"lock {name} | {text}")

        archives = known.get("archives") or {}
        if "archives" in parts:
            archives = upstream.resolve_archives(
                upstream.lock_archives(definition),
                machines=definition["machines"],
                nvidia_url=arguments["nvidia_url"],
                fetch=http.fetch_bytes,
                say=say,
            )
        wheels = known.get("wheels") or {}
        index = resolve.Index(
            arguments["index_url"], tuple(arguments["find_links"]), tuple(arguments["uv"]) if arguments["uv"] else None
        )
        own_index = index.url is not None or index.find_links
        if "wheels" in parts and not definition["wheel"]["available"] and not own_index:
            # The index would answer, with builds that the stack says are not what it means.
            notes.append(f"wheels unchanged: {' '.join(definition['wheel']['reason'].split())}")
        elif "wheels" in parts:
            wheels = {}
            for target in resolve.targets(definition):
                say(f"wheels {target.platform}: querying the index")
                wheels[target.platform] = resolve.wheels(definition, target, index)
        sources = known.get("sources") or {}
        if "sources" in parts:
            sources = upstream.Sources(
                definition.get("sources") or {}, sources, ask=upstream.ask_remote, read=upstream.ask_file, say=say
            ).resolve()
        of_build, of_run = known.get("build_requirements") or {}, known.get("run_requirements") or {}
        if "requirements" in parts:
            of_build, of_run = {}, {}
            for target in resolve.targets(definition) if definition.get("units") else ():
                say(f"requirements {target.platform}: querying the index")
                of_build[target.platform] = resolve.build_requirements(definition, target, index)
                of_run[target.platform] = resolve.run_requirements(definition, target, index)
        notes += [f"{part} kept: not selected" for part in PARTS if part not in parts]
        today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
        lock: Lock = {
            "format": 1,
            "stack": name,
            "resolved": today,
            "archives": archives,
            "wheels": wheels,
            "sources": sources,
            "build_requirements": of_build,
            "run_requirements": of_run,
        }
        return lock, notes
