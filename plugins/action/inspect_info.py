# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Resolve a requirement or a wheel's on the controller and judge it from its wheels; directories are the module's.

The documentation is in plugins/modules/inspect_info.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
import typing as t
import urllib.parse

from ...tools.lock import resolve
from ...tools.network import network
from ..module_utils._core import disk, program, shown
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._fetch import http
from ..module_utils._wheel.names import normalised
from ..plugin_utils import files
from ..plugin_utils.action import AsksProgram, OnController
from ..plugin_utils.programs import PROOF

#: The contents of a package, and one finding about it, as sparkforge_proof.files has them.
Contents = dict[str, t.Any]
Finding = dict[str, t.Any]
ON_CONTROLLER = ("index_url", "find_links", "uv", "cache", "proxies", "ca_certificate")


class ActionModule(AsksProgram, OnController):
    """A directory is looked at on the host, everything else here."""

    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {"program": program.ARGUMENT}

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the module's result."""
        try:
            return self._work(arguments, task_vars)
        except PROOF.module("_shared.module_utils._core.errors").SparkforgeError as error:
            # The package has a copy of this collection's own.
            raise SparkforgeError(error.cause, error.remedy, **error.details) from error

    def _work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        target = arguments["target"].strip()
        if target.startswith("/") and not target.endswith(".whl"):
            given = {key: value for key, value in self._task.args.items() if key not in ON_CONTROLLER}
            return self.asked(given, task_vars)
        judge = PROOF.module("files.judge")
        device = judge.Device(*(arguments[key] for key in ("machine", "capability", "cuda", "python")))
        index = resolve.Index(arguments["index_url"], tuple(arguments["find_links"]), tuple(arguments["uv"] or ()))
        try:
            disk.make_directories(arguments["cache"])
        except OSError as error:
            raise disk.failed(f"{arguments['cache']} cannot be made", error) from error
        with network(arguments["proxies"], arguments["ca_certificate"]):
            found, asked, said = self._found(target, device, index, arguments["cache"])
        judge.find_lacking(found, device)
        result = judge.judge(found, device, asked, said)
        return {"changed": False, **result, "table": judge.table(result)}

    def _found(
        self, target: str, device: t.Any, index: resolve.Index, cache: str
    ) -> tuple[list[Contents], set[str], list[Finding]]:
        """Return what is in the packages, the names of those that were asked for, and what resolving them said."""
        host = resolve.Target(device.python, device.machine)
        if target.endswith(".whl"):
            wheel: Contents = PROOF.module("files.contents").of_wheel(target, cache)
            name = wheel["name"]
            try:
                needed = resolve.packages(wheel["requires"], host, index)
            except SparkforgeError as error:
                return [wheel], {name}, [_finding(name, "no", "unresolved", error.cause)]
            rest = [self._contents(one, host, cache) for one in needed if normalised(one["name"]) != name]
            return [wheel, *rest], {name}, []
        requirements = target.splitlines()
        try:
            newest = {one["name"]: one for one in resolve.packages(requirements, host, index, alone=True)}
        except SparkforgeError as error:
            other = resolve.Target(host.python, "x86_64" if host.machine == "aarch64" else "aarch64")
            with contextlib.suppress(SparkforgeError):
                names = [one["name"] for one in resolve.packages(requirements, other, index, alone=True)]
                what = f"it has wheels for {other.machine} but not for {host.machine}, and no source."
                return [], set(names), [_finding(name, "no", "platform", what) for name in names]
            raise SparkforgeError(
                error.cause, "Name a package of the index, as for pip: vllm, or vllm==0.32.0.", **error.details
            ) from error
        said = [
            _finding(
                name,
                "no",
                "sdist",
                f"{name} {one['version']} is only available as source and would be built on the host.",
            )
            for name, one in newest.items()
            if not one.get("wheels")
        ]
        try:
            chosen = resolve.packages(requirements, host, index)
        except SparkforgeError as error:
            return [], set(newest), said or [_finding(name, "no", "unresolved", error.cause) for name in newest]
        older = [
            _finding(
                one["name"],
                "perhaps",
                "older",
                f"{newest[one['name']]['version']} or what it needs has no wheel for {host.platform}.",
            )
            for one in chosen
            if one["name"] in newest and newest[one["name"]].get("version") != one["version"]
        ]
        return [self._contents(one, host, cache) for one in chosen], set(newest), older

    def _contents(self, package: dict[str, t.Any], host: resolve.Target, cache: str) -> Contents:
        """Return what is in a package's wheel, from the cache where one of that sha256 was read before."""
        contents = PROOF.module("files.contents")
        wheel = resolve.best_wheel(package, host)
        sha256 = wheel["hashes"]["sha256"]
        kept = pathlib.Path(cache, f"{sha256}.{contents.FORMAT}.json")
        try:
            known: Contents = json.loads(kept.read_text(encoding="utf-8"))
            return known
        except (OSError, ValueError):
            pass
        url = wheel.get("url") or pathlib.Path(wheel["path"]).absolute().as_uri()
        name = os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(url).path))
        self._display.display(f"inspect | {shown.line(name)} ({(wheel.get('size') or 0) / 1e6:.0f} MB)")
        # Not in /tmp, which may be in memory: a wheel and its largest file have a gigabyte each.
        with tempfile.TemporaryDirectory(prefix=".fetched-", dir=cache) as directory:
            path = http.fetch(url, directory, sha256=sha256, setting="inspect_index_url")
            found: Contents = contents.of_wheel(
                str(pathlib.Path(path).rename(pathlib.Path(directory, name))), directory
            )
        files.write_text(str(kept), json.dumps(found), "Set cache to a directory that you can write to.")
        return found


def _finding(package: str, level: str, kind: str, what: str) -> Finding:
    return {"package": package, "level": level, "kind": kind, "what": what}
