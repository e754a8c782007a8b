"""The host side of ``source_build``: compare the fingerprint, start the worker, report its progress.

Each call decides between three cases: the artefact for these inputs exists, it is being built, or it has to be built.
The worker does the building and outlives the call.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import typing as t

from .._core import accounts, build_account, detached, disk, receipts as _receipt
from .._core.errors import SparkforgeError
from .._fetch import sources
from . import model, outcome, patching, receipt as sealing, start, state_file, toolchain

_PATH = "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin"
#: The variables from the task's environment that a fetch needs; the build itself gets none of them.
_NETWORK = re.compile(
    r"(?i)(https?|ftp|all|no)_proxy|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO|(REQUESTS|CURL)_CA_BUNDLE"
    r"|PIP_(CERT|CLIENT_CERT|CONFIG_FILE|(EXTRA_)?INDEX_URL|TRUSTED_HOST)"
)


class Engine:
    """One unit on this host.

    :param options: the options of ``source_build``.
    :param environment: the environment of the task, from which proxies and certificates are taken.
    """

    def __init__(
        self,
        options: t.Mapping[str, t.Any],
        *,
        check_mode: bool = False,
        environment: t.Mapping[str, str] | None = None,
    ) -> None:
        self.options = options
        self.check_mode = check_mode
        self.environment = os.environ if environment is None else environment
        self.root = os.path.abspath(options["root"])
        user = options.get("user")
        if not user and options["state"] == "absent":
            user = accounts.owner_of(os.path.join(self.root, "builds"))
        self.account = build_account.BuildAccount(user)
        self.warnings: list[str] = []

    def apply(self) -> dict[str, t.Any]:
        """Return the status of the unit, after starting the worker if the artefact does not exist.

        :raises SparkforgeError: if the unit cannot be built as requested; nothing has been started then.
        """
        unit = model.Unit.from_options(self.options)
        with self.account.acting():
            plan = self._plan(unit)
            running = state_file.is_running(plan.paths.build_directory)
            receipt, result = self._compare(plan, running)
        if self.check_mode:
            return result
        if receipt is not None:
            # While a replacement is being built, the existing artefact stays in use but is not trusted.
            if not running:
                outcome.take_receipt(plan.paths, receipt)
            return result
        if result["status"] != "running":
            start.start(plan, self.account, self.options, self._network())
        if not self.options["follow"]:
            return {**result, "changed": True, "status": "running"}
        progress = outcome.observe(plan.paths, self.account, None, self.warnings)
        return {**result, **progress, "changed": True, "changes": result["changes"]}

    def _plan(self, unit: model.Unit) -> start.Plan:
        commands = {"cc": "gcc", "cxx": "g++", "cmake": "cmake", "ninja": "ninja", **unit.toolchain}
        tools = toolchain.observe(
            {name: command for name, command in commands.items() if name not in unit.brings},
            unit.python if unit.kind == "wheel" or unit.requirements else None,
            _PATH,
            optional={"ccache": "ccache"} if unit.ccache else {},
        )
        for name, minimum in unit.minimum.items():
            if name in unit.brings:
                # The worker checks it once the tool is installed.
                continue
            if name not in tools.tools:
                raise SparkforgeError(
                    f"A minimum is set for {name}, which {unit.name} does not use.",
                    "Remove it from the option minimum.",
                )
            toolchain.check_minimum(tools.tools[name], str(minimum))
        depends = {depend.name: self._depend(unit, depend) for depend in unit.depends}
        commit, identity = self._identity(unit)
        system = toolchain.platform()
        inputs = unit.inputs(
            identity=identity,
            tools=tools.identity(),
            platform=system,
            depends={name: depend["fingerprint"] for name, depend in depends.items()},
            digest=patching.contents_digest(unit.patches, unit.edits),
        )
        paths = model.Paths(self.root, self.options["log_root"], unit.name, model.fingerprint(inputs), system)
        return start.Plan(unit, tools, depends, commit, inputs, paths)

    def _identity(self, unit: model.Unit) -> tuple[str | None, dict[str, str]]:
        source = unit.source
        if not unit.is_git:
            return None, {"sha256": source["sha256"]}
        variables = {"PATH": _PATH, **self._network()}
        commit = sources.resolve(source["repo"], source["version"], variables, rewrite=unit.rewrite)
        return commit, {"commit": commit}

    def _depend(self, unit: model.Unit, depend: model.Depend) -> dict[str, t.Any]:
        """Return the fingerprint, prefix and wheels of a unit that this unit depends on."""
        for receipt in sealing.receipts_of(self.root, depend.name)[0]:
            if depend.fingerprint in (None, receipt["fingerprint"]):
                directory = os.path.join(
                    self.root, "wheelhouse", receipt["platform"], receipt["name"], receipt["fingerprint"]
                )
                return {
                    "fingerprint": receipt["fingerprint"],
                    "prefix": os.path.join(directory, "prefix"),
                    "wheels": outcome.wheels(receipt, directory),
                }
        if self.check_mode and depend.fingerprint:
            # Outside check mode the other unit would be built first.
            return {"fingerprint": depend.fingerprint, "prefix": "", "wheels": []}
        raise SparkforgeError(
            f"The unit {unit.name} depends on {depend.name}, which was not built on this host.",
            f"Build {depend.name} first: its role runs before this one in playbooks/build.yml.",
        )

    def _compare(self, plan: start.Plan, running: bool) -> tuple[sealing.Receipt | None, dict[str, t.Any]]:
        """Return the receipt if the artefact exists, and the result as far as it is known without building."""
        unit, paths = plan.unit, plan.paths
        receipt = None
        if running or not self.options["rebuild"]:
            receipt = outcome.find_receipt(paths, self.warnings)
        state = state_file.state(paths.build_directory)
        receipts = sealing.receipts_of(self.root, unit.name)[0]
        old = receipt or (receipts[0] if receipts else None)
        changes = [] if receipt else model.changes(old["inputs"], plan.inputs) if old else ["receipt: (none) -> built"]
        if not receipt and not changes:
            changes = ["rebuild: requested"] if self.options["rebuild"] else [f"{paths.artefact}: missing -> built"]
        versions = {**plan.tools.versions(), **unit.found_libraries}
        return receipt, {
            "name": unit.name,
            "fingerprint": paths.fingerprint,
            "platform": paths.platform,
            "artefact": paths.artefact,
            "prefix": paths.prefix if unit.kind == "cmake" else None,
            "wheels": outcome.wheels(receipt, paths.artefact),
            "receipt": paths.receipt,
            "log": paths.log,
            "changes": changes,
            "toolchain_changes": toolchain.patch_level_changes(old["tools"], versions) if old else [],
            "changed": receipt is None,
            "status": "unchanged" if receipt else "running" if running else "would_build",
            "state": state if not receipt else {},
            "diff": {
                "before_header": f"{unit.name} {old['fingerprint']}" if old else f"{unit.name} (none)",
                "after_header": f"{unit.name} {paths.fingerprint}",
                "before": _diff_text(old["inputs"] if old else {}),
                "after": _diff_text(plan.inputs) if not receipt else _diff_text(old["inputs"] if old else {}),
            },
        }

    def _network(self) -> dict[str, str]:
        return {key: value for key, value in self.environment.items() if _NETWORK.fullmatch(key)}

    def absent(self) -> dict[str, t.Any]:
        """Stop the unit's builds and remove its trees, artefacts, receipts and logs."""
        name = self.options["name"]
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise SparkforgeError(f"{name!r} is not a valid unit name.", "Use lower-case letters, digits and '_'.")
        builds, house = os.path.join(self.root, "builds"), os.path.join(self.root, "wheelhouse")
        leftovers = [os.path.join(builds, name)]
        leftovers += [os.path.join(house, platform, name) for platform in disk.names(house)]
        for directory in (os.path.join(self.root, "receipts", "units"), self.options["log_root"]):
            leftovers += [
                os.path.join(directory, file)
                for file in disk.names(directory)
                if re.fullmatch(re.escape(name) + r"-[0-9a-f]{16}\.(json|log)", file)
            ]
        leftovers = [path for path in leftovers if os.path.lexists(path)]
        if leftovers and not self.check_mode:
            for fingerprint in disk.names(os.path.join(builds, name)):
                # The account may have created directories with other names, which do not belong to a systemd unit.
                if not re.fullmatch(r"[0-9a-f]{16}", fingerprint):
                    continue
                paths = model.Paths(self.root, self.options["log_root"], name, fingerprint, "")
                detached.stop(paths.service, paths.marker, self.account)
            for path in leftovers:
                # The account removes its own directory itself, so that only its rights apply.
                with self.account.acting() if path.startswith(builds) else contextlib.nullcontext():
                    disk.remove(path)
            self._remove_shared()
        return {"changed": bool(leftovers), "name": name, "status": "absent", "removed": leftovers}

    def _remove_shared(self) -> None:
        """Remove the shared build files once no unit is left, and directories that have become empty."""
        builds = os.path.join(self.root, "builds")
        with self.account.acting():
            if not [name for name in disk.names(builds) if not name.startswith(".")]:
                for name in disk.names(builds):
                    disk.remove(os.path.join(builds, name))
        house = os.path.join(self.root, "wheelhouse")
        platforms = [os.path.join(house, platform) for platform in disk.names(house)]
        for path in (builds, *platforms, house, os.path.join(self.root, "receipts", "units")):
            disk.remove_empty(path)
        disk.remove_empty(self.options["log_root"])
        account = _receipt.read(self.root, start.ACCOUNT)
        if account and not os.path.exists(builds):
            self.account.remove(str(account.get("name")))
            _receipt.remove(self.root, start.ACCOUNT)


def _diff_text(inputs: t.Mapping[str, t.Any]) -> str:
    return json.dumps(inputs, indent=2, sort_keys=True) + "\n" if inputs else ""
