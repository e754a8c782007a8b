# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Virtual environments made from hash-checked wheels and switched by one symlink.

::

    <root>/envs/<name>/<lock id>/            one environment, never changed once it is proven
    <root>/envs/<name>/<lock id>/receipt.json   written when every import succeeded; without it, debris
    <root>/envs/<name>/current -> <lock id>
    <root>/envs/<name>/previous -> <lock id>
    <root>/envs/<name>/staged -> <lock id>   made and imported, not yet switched to
    <root>/envs/<name>/.<lock id>.partial/   where an environment is made
    <root>/wheels/<sha256>/<file>            wheels that came from the controller
    <root>/bin/activate-<name>, <name>-python
    <root>/receipts/env-<name>.json          last

A converged environment is recognised from its receipts and a few directory listings: no process is started
and nothing is fetched.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import grp
import json
import os
import platform
import pwd
import re
import shutil
import signal
import time
import typing as t
import urllib.parse
import urllib.request

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests, disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import receipts as _receipt
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.failures import (
    import_failure,
    pip_failure,
    venv_failure,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.naming import (
    LINKS,
    SCHEMA,
    check_name,
    fingerprint,
    read_json,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.render import (
    render_activation,
    render_kernel,
    render_launcher,
    render_stable_activation,
    triton_links,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.tree import (
    installed_packages,
    processes_using,
    relocate,
    site_packages,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import members as _members
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.requirement import (
    SHA256,
    Requirement,
    WheelName,
    check_wheel_fits,
    normalised,
    parse_requirement,
    parse_wheel_name,
    short,
)

#: The oldest interpreter whose venv and pip this file was written for.
OLDEST_PYTHON = (3, 9)
LOCK_WAIT = 900.0  # seconds; another run may be downloading gigabytes
ROLLBACK_WAIT = 10.0  # seconds; who goes back does not wait for a download
#: What only the receipt in the environment itself has.
OWN_ALONE = ("entries", "made")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
#: What this file sets itself; a person who wants to add to them uses library_paths.
_RESERVED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONHOME")


# --------------------------------------------------------------------------------------- what is asked for


@dataclasses.dataclass(frozen=True)
class Wheel:
    """A wheel to install: where it lies on this host, or is to lie once the controller has sent it."""

    name: WheelName
    sha256: str
    path: str
    on_host: bool


# -------------------------------------------------------------------------------------- what a person uses


# ----------------------------------------------------------------------------------------------- diagnoses


# ---------------------------------------------------------------------------------------------- relocation


# ----------------------------------------------------------------------------------------------- processes


# ----------------------------------------------------------------------------------------- the environment

#: Run in the finished environment. Says which module it is about to import, so that a crash has a name too.
_IMPORT_PROBE = """
import importlib, json, sys
def say(**words):
    print("@sparkforge " + json.dumps(words), flush=True)
for name in sys.argv[1:]:
    say(module=name, state="begun")
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        say(module=name, state="failed", error="%s: %s" % (type(error).__name__, error))
        continue
    version = getattr(module, "__version__", None)
    found = {"version": None if version is None else str(version)}
    about = getattr(module, "version", None)
    if name == "torch":
        found["cuda"] = getattr(about, "cuda", None)
        found["git_version"] = getattr(about, "git_version", None)
    say(module=name, state="imported", found=found)
"""


class _UndeterminedError(Exception):
    """In check mode: what an earlier step would bring is not there, so that no lock id can be told."""


class Index(t.Protocol):
    """``_fetch.index``, which an environment's own interpreter cannot import."""

    def credentials(self, entries: t.Iterable[t.Mapping[str, t.Any]]) -> list[t.Any]: ...

    def render_netrc(self, entries: t.Iterable[t.Any], python: tuple[int, int]) -> str: ...

    def ask(self, url: str, known: t.Sequence[t.Any]) -> t.Any: ...

    def explain(self, url: str, answer: t.Any, package: str, authenticated: bool) -> SparkforgeError | None: ...

    def refused(self, name: str, status: int, reason: str, authenticated: bool) -> SparkforgeError | None: ...


class Fit(t.Protocol):
    """``_environment.fit``: what an environment takes from the host."""

    def needed(
        self, environment: str, python: str, library_paths: t.Sequence[str], values: t.Iterable[str]
    ) -> dict[str, str]: ...

    def installed(self) -> dict[str, str]: ...

    def misfit(self, recorded: t.Mapping[str, str], now: t.Mapping[str, str]) -> tuple[list[str], list[str]]: ...


class RunCommand(t.Protocol):
    """``AnsibleModule.run_command``, as far as it is used here."""

    def __call__(
        self, args: list[str], *, environ_update: dict[str, str] | None = None, cwd: str | None = None
    ) -> tuple[int, str, str]: ...


@dataclasses.dataclass
class Plan:
    """What is to be done, computed before anything is done; no actions: nothing changes."""

    lock_id: str | None = None
    previous: str | None = None
    #: What ``current`` and ``staged`` name once this is done.
    current: str | None = None
    staged: str | None = None
    actions: list[str] = dataclasses.field(default_factory=list)
    missing_wheels: list[Wheel] = dataclasses.field(default_factory=list)
    receipt: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    files: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    links: dict[str, str] = dataclasses.field(default_factory=dict)
    stale_files: list[str] = dataclasses.field(default_factory=list)
    prune: list[str] = dataclasses.field(default_factory=list)
    in_use: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    leftovers: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    #: Of the group, once this is done.
    members: list[str] = dataclasses.field(default_factory=list)

    @property
    def stages(self) -> bool:
        """Whether the environment is made and not switched to."""
        return self.staged is not None and self.staged == self.lock_id


class Environment:
    """One named environment of a host, and what makes it what the options ask for.

    :param options: the module's options.
    :param run_command: starts a program from an argument list.
    :param index: what asks a package index; without it, pip's words are all that is known.
    :param fit: what knows the packages of the host; without it, none are recorded and compared.
    :param login: the account that Ansible connected as, which is to be a member of the group.
    """

    def __init__(
        self,
        options: t.Mapping[str, t.Any],
        *,
        check_mode: bool,
        run_command: RunCommand,
        machine: str | None = None,
        proc: str = "/proc",
        index: Index | None = None,
        fit: Fit | None = None,
        login: str | None = None,
    ) -> None:
        self.options = options
        self.login = login
        self.index = index
        self.fit = fit
        self.check_mode = check_mode
        self.run_command = run_command
        self.machine = machine or platform.machine()
        self.proc = proc
        self.name: str = check_name(options["name"], "name")
        self.root: str = os.path.abspath(options["root"])
        if not os.path.isabs(options["root"]) or self.root == "/":
            raise SparkforgeError(
                f"The root {options['root']!r} is not a directory of its own.",
                "Give an absolute path such as /opt/sparkforge.",
            )
        self.directory = os.path.join(self.root, "envs", self.name)
        self.current = os.path.join(self.directory, "current")
        self.kernel = os.path.join(options["kernel_dir"], f"sparkforge-{self.name}", "kernel.json")
        self.receipt_name = f"env-{self.name}"
        self.requirements: list[Requirement] = [parse_requirement(line) for line in options["requirements"]]
        self.variables = self._variables()
        self.library_paths = self._library_paths()
        self.credentials = index.credentials(options.get("credentials") or []) if index else []
        self.wheels: list[Wheel] = []
        self.python = ""
        self.python_version: tuple[int, int] = (0, 0)
        self.lock_wait = LOCK_WAIT
        self._sent: dict[str, str] = {}
        self._new_wheels: list[str] = []
        if options["keep"] < 1:
            raise SparkforgeError("keep is less than 1.", "Keep at least the current environment.")
        for module in options["imports"]:
            if not _MODULE.fullmatch(module):
                raise SparkforgeError(f"{module!r} is not the name of a module.", "Correct the list imports.")
        if options["lock_id"]:
            check_name(options["lock_id"], "lock id")
        for place in options["find_links"]:
            if not os.path.isabs(place) and not re.match(r"(https?|file)://", place):
                raise SparkforgeError(
                    f"The find_links entry {redact(place)!r} is neither a URL nor an absolute path.",
                    "Give https://…, file://… or a directory of the host.",
                )

    # -- options

    def _variables(self) -> dict[str, str] | None:
        given = self.options["environment"]
        if given is None:
            return None
        for key in given:
            if not _VARIABLE.fullmatch(key) or key in _RESERVED_VARIABLES:
                raise SparkforgeError(
                    f"{key!r} cannot be set by the environment's activation.",
                    "Use names of variables other than "
                    f"{', '.join(_RESERVED_VARIABLES)}; directories of libraries go into library_paths.",
                )
        return {key: str(value) for key, value in given.items()}

    def _library_paths(self) -> list[str] | None:
        given = self.options["library_paths"]
        for path in given or []:
            if not os.path.isabs(path) or ":" in path:
                raise SparkforgeError(
                    f"The library path {path!r} is not an absolute path without ':'.",
                    "Give the versioned directory of each library: <root>/redist/libcudss/<version>/lib.",
                )
        return None if given is None else [str(path) for path in given]

    @property
    def _imports(self) -> list[str]:
        wanted = list(dict.fromkeys(self.options["imports"]))
        if self.options["require_cuda"] and "torch" not in wanted:
            wanted.append("torch")
        return wanted

    def _find_python(self) -> None:
        """Find the interpreter and its version, from its file name where that says it."""
        asked = str(self.options["python"])
        if "/" in asked:
            path: str | None = asked if os.access(asked, os.X_OK) and os.path.isfile(asked) else None
        else:
            program = asked if asked.startswith("python") else f"python{asked}"
            search = os.pathsep.join(["/usr/bin", "/usr/local/bin", os.environ.get("PATH", "")])
            path = shutil.which(program, path=search)
        named = re.fullmatch(r"(?:python)?(\d+)\.(\d+)", os.path.basename(os.path.realpath(path) if path else asked))
        if path is None and self.check_mode and not named:
            raise _UndeterminedError
        if path is None and not self.check_mode:
            wanted = asked if "/" in asked or asked.startswith("python") else f"Python {asked}"
            package = f"python{named.group(1)}.{named.group(2)}-venv" if named else "the python3-venv of your system"
            raise SparkforgeError(
                f"The interpreter {wanted} is not on this host.",
                f"Run the role build_toolchain, or: apt install {package}",
                python=asked,
            )
        self.python = path or asked
        if named:
            self.python_version = (int(named.group(1)), int(named.group(2)))
        else:
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            rc, out, err = self._run([self.python, "-I", "-c", code])
            match = re.fullmatch(r"(\d+)\.(\d+)\s*", out)
            if rc != 0 or match is None:
                said = short((err or out).strip())
                raise SparkforgeError(
                    f"{self.python} does not say what version of Python it is: {said}.",
                    "Give the path or the version of a CPython interpreter.",
                    python=asked,
                )
            self.python_version = (int(match.group(1)), int(match.group(2)))
        if self.python_version < OLDEST_PYTHON:
            raise SparkforgeError(
                f"{self.python} is Python {self.python_version[0]}.{self.python_version[1]}; "
                f"{OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} is the oldest that can be used.",
                "Choose a newer interpreter; the stack's range of versions says which.",
                python=asked,
            )

    def _read_wheels(self) -> list[Wheel]:
        found = []
        remote = self.options["remote_src"]
        for item in self.options["wheels"]:
            entry = {"path": item} if isinstance(item, str) else dict(item)
            path, digest = str(entry.get("path") or ""), str(entry.get("sha256") or "").lower()
            if set(entry) - {"path", "sha256"} or not path:
                raise SparkforgeError(
                    f"The wheel {item!r} is neither a path nor a mapping of path and sha256.",
                    "Correct the list wheels.",
                )
            name = parse_wheel_name(path)
            check_wheel_fits(name, self.python_version, self.machine)
            if digest and not SHA256.fullmatch(digest):
                raise SparkforgeError(
                    f"{digest!r} is not the sha256 of {name.file}.",
                    "Give 64 hexadecimal digits, as sha256sum does.",
                )
            if not digest:
                if not remote:
                    raise SparkforgeError(
                        f"The wheel {name.file} has no sha256.", "Run this module through its action plugin."
                    )
                if not os.path.isfile(path):
                    if self.check_mode:
                        raise _UndeterminedError
                    raise SparkforgeError(
                        f"The wheel {path} is not on this host.",
                        "Bring it there, or set remote_src to false.",
                    )
                digest = digests.of_file(path)
            if not remote:
                path = os.path.join(self.root, "wheels", digest, name.file)
            found.append(Wheel(name, digest, path, os.path.isfile(path)))
        return found

    # -- what is there

    def _link(self, name: str) -> str | None:
        try:
            return os.readlink(os.path.join(self.directory, name))
        except OSError:
            return None

    def _environment_receipt(self, lock_id: str) -> dict[str, t.Any] | None:
        data = read_json(os.path.join(self.directory, lock_id, "receipt.json"))
        return data if data and data.get("schema") == SCHEMA else None

    def _damage(self, lock_id: str, receipt: t.Mapping[str, t.Any]) -> str | None:
        """Return what an environment lacks of what its receipt vouches for, judged by two listings."""
        path = os.path.join(self.directory, lock_id)
        if not os.access(os.path.join(path, "bin", "python"), os.X_OK):
            return "bin/python"
        try:
            present = set(os.listdir(site_packages(path)))
        except OSError:
            return "site-packages"
        missing = sorted(set(receipt["entries"]) - present)
        return ", ".join(missing[:5]) or None

    def _environments(self) -> list[str]:
        try:
            entries = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        return sorted(
            entry
            for entry in entries
            if not entry.startswith(".")
            and not os.path.islink(os.path.join(self.directory, entry))
            and os.path.isdir(os.path.join(self.directory, entry))
        )

    # -- the plan

    def _wanted_lock(self) -> tuple[str, str]:
        """Return the lock id that is asked for and its fingerprint.

        With a ``lock_id`` and nothing to install, it is an environment that is already there: a rollback.
        """
        asked = self.options["lock_id"]
        if not self.requirements and not self.options["wheels"]:
            receipt = self._environment_receipt(asked) if asked else None
            if receipt is None:
                cause = "Neither requirements nor wheels are given, so there is nothing to install."
                if asked:
                    cause = f"There is no environment {asked} of {self.name} here, and nothing to make it from."
                raise SparkforgeError(
                    cause,
                    "Give the requirements of the lock; installed here: "
                    f"{', '.join(self._environments()) or 'nothing'}.",
                )
            self.python = receipt["python"]["path"]
            return asked, receipt["fingerprint"]
        self._find_python()
        self.wheels = self._read_wheels()
        identity = fingerprint(
            self.python_version,
            self.machine,
            (requirement.line for requirement in self.requirements),
            # One that a requirement's hash names adds nothing: the same from an index is the same environment.
            (wheel.sha256 for wheel in self.wheels if not self._is_required(wheel)),
        )
        return asked or identity[:12], identity

    def _is_required(self, wheel: Wheel) -> bool:
        """Tell whether a wheel is what a requirement already names by its hash."""
        return any(
            requirement.name == wheel.name.distribution and wheel.sha256 in requirement.line
            for requirement in self.requirements
        )

    def plan(self) -> Plan:
        """Compare what is asked for with what is there. Writes nothing; starts nothing where both agree."""
        lock_id, identity = self._wanted_lock()
        plan = Plan(lock_id=lock_id)
        own = self._environment_receipt(lock_id)
        if own and own["fingerprint"] != identity:
            raise SparkforgeError(
                f"The lock id {lock_id} already names an environment of {self.name} made from other inputs.",
                "Give another lock_id, or leave it out so that it follows from the inputs.",
                lock_id=lock_id,
            )
        damage = self._damage(lock_id, own) if own else None
        if damage and not self.requirements and not self.wheels:
            raise SparkforgeError(
                f"The environment {lock_id} of {self.name} is damaged ({damage} is missing).",
                "Give its requirements, so that it can be installed again.",
            )
        if own is None or damage:
            plan.actions.append(f"repair ({damage} is missing)" if own else "install")
            plan.missing_wheels = [wheel for wheel in self.wheels if not wheel.on_host]
            own = None
        # What is not given stays as the environment has it; a new one has none.
        paths = self.library_paths if self.library_paths is not None else (own or {}).get("library_paths", [])
        values = self.variables if self.variables is not None else (own or {}).get("environment", {})
        proven = own is not None and own["library_paths"] == paths and own["environment"] == values
        known = own["modules"] if own else {}
        self._check_cuda(known)
        if own and (not proven or any(name not in known for name in self._imports)):
            plan.actions.append("prove")
        environments = self._environments()
        self._plan_links(plan, environments)
        self._plan_files(plan, own, paths, values)
        # Who may enter is the current environment's to say.
        if (not plan.stages or plan.current is None) and self._wrong_access():
            plan.actions.append("access")
        plan.members = sorted({*self._members_of(self.options["group"]), *self._missing_members()})
        if own and "switch" in plan.actions and not self.requirements and not self.wheels:
            newer = self._check_fit(lock_id, own)
            if newer:
                plan.warnings.append(f"The proof must tell whether the environment still computes: {'; '.join(newer)}.")
        if self.options["state"] != "previous":
            self._plan_removals(plan, environments)
        stack = self.options.get("stack")
        if own and stack and own.get("stack") != stack:
            plan.actions.append("stack")
            own["stack"] = dict(stack)
        plan.receipt = self._receipt(plan, own, paths, values, identity)
        if not plan.actions and not plan.stages and _receipt.read(self.root, self.receipt_name) != plan.receipt:
            plan.actions.append("receipt")
        return plan

    def _plan_links(self, plan: Plan, environments: list[str]) -> None:
        """Say what the three links are to name. One that names what is not there counts as none."""
        current, previous, staged = (self._link(name) for name in LINKS)
        if not self.options["switch"] and current != plan.lock_id:
            plan.current = current if current in environments else None
            plan.previous = previous if previous in environments else None
            plan.staged = plan.lock_id
            if staged != plan.lock_id:
                plan.actions.append("stage")
            return
        plan.current = plan.lock_id
        if current != plan.lock_id:
            plan.actions.append("switch")
            plan.previous = current if current in environments else None
        if plan.previous is None:
            plan.previous = previous if previous in environments and previous != plan.lock_id else None
        if previous != plan.previous and "switch" not in plan.actions:
            plan.actions.append("previous")
        plan.staged = staged if staged in environments and staged != plan.lock_id else None
        if staged != plan.staged and "switch" not in plan.actions:
            plan.actions.append("staged")

    def _check_cuda(self, modules: t.Mapping[str, t.Any]) -> None:
        torch = modules.get("torch")
        if self.options["require_cuda"] and torch and torch.get("cuda") is None:
            raise SparkforgeError(
                f"torch {torch.get('version')} is a CPU build (torch.version.cuda is None).",
                "Lock a CUDA build: the index's aarch64 wheels are CUDA builds from torch 2.11 on; before, "
                "use PyTorch's own CUDA index, or build from source (stack_method: build).",
                module="torch",
            )

    def _plan_files(
        self, plan: Plan, own: t.Mapping[str, t.Any] | None, paths: list[str], values: dict[str, str]
    ) -> None:
        lock_id = t.cast(str, plan.lock_id)
        place = os.path.join(self.directory, lock_id)
        plan.files = {
            os.path.join(place, "bin", "activate-sparkforge"): (
                render_activation(place, self.name, paths, values),
                0o644,
            ),
        }
        # The others are of the current environment.
        if not plan.stages:
            plan.files[os.path.join(self.root, "bin", f"activate-{self.name}")] = (
                render_stable_activation(self.name, self.current),
                0o644,
            )
            plan.files[os.path.join(self.root, "bin", f"{self.name}-python")] = (
                render_launcher(self.name, self.current),
                0o755,
            )
        if self.options["jupyter"]:
            names = (
                own["packages"]
                if own
                else [r.name for r in self.requirements] + [wheel.name.distribution for wheel in self.wheels]
            )
            if any(normalised(name) == "ipykernel" for name in names):
                if not plan.stages:
                    plan.files[self.kernel] = (render_kernel(place, self.name, lock_id, paths, values), 0o644)
            elif not own:
                # Said once, when the environment is made: a converged run has nothing to say.
                plan.warnings.append(
                    f"The environment {self.name} has no ipykernel, so no Jupyter kernel was written; "
                    "add ipykernel to the requirements or set jupyter to false."
                )
        recorded = [] if plan.stages else (_receipt.read(self.root, self.receipt_name) or {}).get("files", [])
        plan.stale_files = [
            path
            for path in recorded
            if path not in plan.files and not path.startswith(self.directory + os.sep) and os.path.lexists(path)
        ]
        plan.links = triton_links(place, values) if own else {}
        if any(not _holds(path, *wanted) for path, wanted in plan.files.items()) or plan.stale_files or plan.links:
            plan.actions.append("files")

    def _plan_removals(self, plan: Plan, environments: list[str]) -> None:
        """Choose what nobody needs: debris, older environments beyond ``keep``, never one that is used."""
        spare: dict[str, str] = {}
        debris: list[str] = []
        for entry in environments:
            if entry in (plan.lock_id, plan.current, plan.previous, plan.staged):
                continue
            receipt = self._environment_receipt(entry)
            if receipt is None:
                debris.append(entry)
            else:
                spare[entry] = receipt["installed"]
        kept = len({plan.current, plan.previous} - {None})
        newest = sorted(spare, key=lambda entry: spare[entry], reverse=True)
        candidates = debris + newest[max(0, self.options["keep"] - kept) :]
        users = processes_using([os.path.join(self.directory, entry) for entry in candidates], self.proc)
        for entry in candidates:
            pids = users[os.path.join(self.directory, entry)]
            if pids:
                plan.in_use[entry] = sorted(pids)
            else:
                plan.prune.append(entry)
        with contextlib.suppress(FileNotFoundError):
            plan.leftovers = sorted(entry for entry in os.listdir(self.directory) if entry.startswith("."))
        if plan.prune or plan.leftovers:
            plan.actions.append("remove")

    def _receipt(
        self,
        plan: Plan,
        own: t.Mapping[str, t.Any] | None,
        paths: list[str],
        values: dict[str, str],
        identity: str,
    ) -> dict[str, t.Any]:
        made = self._made()
        wanted_group = self.options["group"]
        version = f"{self.python_version[0]}.{self.python_version[1]}"
        body: dict[str, t.Any] = (
            dict(own)
            if own
            else {
                "schema": SCHEMA,
                "lock_id": plan.lock_id,
                "fingerprint": identity,
                "python": {"path": self.python, "version": version},
                "machine": self.machine,
                "requirements": [requirement.line for requirement in self.requirements],
                "wheels": [{"file": wheel.name.file, "sha256": wheel.sha256} for wheel in self.wheels],
                "packages": {},
                "modules": {},
                "installed": None,
                "stack": dict(self.options.get("stack") or {}),
                "host_packages": {},
            }
        )
        for key in OWN_ALONE:
            body.pop(key, None)
        place = os.path.join(self.directory, t.cast(str, plan.lock_id))
        body.update(
            name=self.name,
            previous=plan.previous,
            library_paths=paths,
            environment=values,
            group=wanted_group,
            jupyter=bool(self.options["jupyter"]),
            group_created=made["group_created"] and made["group"] == wanted_group,
            members_added=made["members_added"],
            paths={
                "environment": place,
                "python": os.path.join(place, "bin", "python"),
                "current": self.current,
                "activate": os.path.join(self.root, "bin", f"activate-{self.name}"),
                "launcher": os.path.join(self.root, "bin", f"{self.name}-python"),
                "kernel": self.kernel if self.kernel in plan.files else None,
            },
            files=sorted(plan.files),
            # What this environment brought and what goes with it, the outermost first.
            directories=made["directories"],
        )
        return body

    def _made(self) -> dict[str, t.Any]:
        """Return what the environments of this name made beside themselves: ``directories``, a group, if any, and
        ``members_added``, who was added to which group.

        Before the first switch only the staged one's own receipt says so.
        """
        receipts = [_receipt.read(self.root, self.receipt_name) or {}]
        receipts += [(self._environment_receipt(entry) or {}).get("made") or {} for entry in self._environments()]
        added: dict[str, list[str]] = {}
        for one in receipts:
            for group, names in (one.get("members_added") or {}).items():
                added[group] = list(dict.fromkeys([*added.get(group, []), *names]))
        creator: t.Mapping[str, t.Any] = next((one for one in receipts if one.get("group_created")), {})
        return {
            "directories": list(dict.fromkeys(path for one in receipts for path in one.get("directories", []))),
            "group": creator.get("group"),
            "group_created": bool(creator),
            "members_added": added,
        }

    # -- access

    def _wrong_access(self) -> bool:
        self._missing_members()  # refuses whom nobody can add, also where all else is to be made first
        try:
            status = os.stat(self.directory)
        except FileNotFoundError:
            return True
        group = self.options["group"]
        if not group:
            return status.st_mode & 0o7777 != 0o755
        try:
            wanted = grp.getgrnam(group).gr_gid
        except KeyError:
            return True
        return status.st_gid != wanted or status.st_mode & 0o7777 != 0o750 or bool(self._missing_members())

    def _missing_members(self) -> list[str]:
        """Return who is to be added to the group."""
        group, made = self.options["group"], self._made()
        if not group:
            return []
        ours = made["group_created"] and made["group"] == group
        return _members.missing(group, self.options.get("users") or [], self.login, ours)

    def _set_access(self, receipt: dict[str, t.Any]) -> None:
        group = self.options["group"]
        if not group:
            os.chmod(self.directory, 0o755)  # noqa: S103 - everybody may use it
            return
        try:
            number = grp.getgrnam(group).gr_gid
        except KeyError:
            rc, out, err = self._run(["groupadd", "--system", group])
            if rc != 0:
                raise SparkforgeError(
                    f"The group {group} could not be made: {short((err or out).strip())}.",
                    "Make the group first, run as root (become), or leave group empty.",
                ) from None
            receipt["group_created"] = True
            number = grp.getgrnam(group).gr_gid
        for name in self._missing_members():
            rc, out, err = self._run(["gpasswd", "--add", name, group])
            if rc != 0:
                raise SparkforgeError(
                    f"{name} could not be added to the group {group}: {short((err or out).strip())}.",
                    "Add the account where that group is kept, or leave it out of sparkforge_users.",
                    user=name,
                )
            receipt["members_added"].setdefault(group, []).append(name)
        os.chown(self.directory, -1, number)
        os.chmod(self.directory, 0o750)  # noqa: S103 - the group may use it

    def ensure(self) -> dict[str, t.Any]:
        """Bring about the wanted state and return the module's result.

        :raises SparkforgeError: the only way in which this fails.
        """
        try:
            if self.options["state"] == "previous":
                return self.rollback()
            return self.present() if self.options["state"] == "present" else self.absent()
        except OSError as error:
            raise _from_os_error(error) from error

    # -- previous

    def rollback(self) -> dict[str, t.Any]:
        """Go back to the environment before the current one, or to the one that ``lock_id`` names.

        Links, the kernel and the receipt change. Nothing is installed, imported, fetched or removed.

        :raises SparkforgeError: where there is none, or the host no longer has what it needs.
        """
        target = self.options["lock_id"] or self._before_current()
        if self._environment_receipt(target) is None:
            raise SparkforgeError(
                f"There is no environment {target} of {self.name} on this host.",
                f"Give one that is here: {self._known()}; or run playbooks/deploy.yml with the stack that it was of.",
                lock_id=target,
            )
        known = _receipt.read(self.root, self.receipt_name) or {}
        paths = known.get("paths") or {}
        self.options = {
            **self.options,
            "lock_id": target,
            "switch": True,
            "wheels": [],
            "imports": [],
            "require_cuda": False,
            "users": [],
            "group": known["group"] if "group" in known else self._group_that_may_enter(),
            # Of an environment without ipykernel the receipt names no kernel, and yet one was asked for.
            "jupyter": known.get("jupyter", bool(paths.get("kernel"))),
            "stack": None,
        }
        self.requirements, self.variables, self.library_paths, self.login = [], None, None, None
        self.lock_wait = ROLLBACK_WAIT
        return self.present()

    def _group_that_may_enter(self) -> str | None:
        status = os.stat(self.directory)
        if status.st_mode & 0o7777 != 0o750:
            return None
        with contextlib.suppress(KeyError):
            return grp.getgrgid(status.st_gid).gr_name
        return None

    def _before_current(self) -> str:
        """Return the environment before the current one, also where a switch was cut short."""
        current, environments = self._link("current"), self._environments()
        known = _receipt.read(self.root, self.receipt_name) or {}
        for entry in (self._link("previous"), known.get("lock_id"), known.get("previous")):
            if entry in environments and entry != current:
                return t.cast(str, entry)
        now = f"is {current}" if current in environments else "is none"
        raise SparkforgeError(
            f"There is no previous environment of {self.name} on this host to go back to; the current one {now}.",
            "Run playbooks/deploy.yml with the stack that you want"
            + (f", or name one that is here: {self._known()}." if set(environments) - {current} else "."),
        )

    def _known(self) -> str:
        whole = [entry for entry in self._environments() if self._environment_receipt(entry)]
        return ", ".join(whole) or "none"

    def _check_fit(self, lock_id: str, own: t.Mapping[str, t.Any]) -> list[str]:
        """Refuse an environment that the host's libraries no longer fit; return what is newer than it was.

        :raises SparkforgeError: naming each library that does not fit.
        """
        wrong = [f"{path} is gone" for path in own["library_paths"] if not os.path.isdir(path)]
        newer: list[str] = []
        recorded = own.get("host_packages") or {}
        if recorded and self.fit:
            worse, newer = self.fit.misfit(recorded, self.fit.installed())
            wrong += worse
        if wrong:
            stack = (own.get("stack") or {}).get("name")
            named = f" (stack_name: {stack})" if stack else ""
            raise SparkforgeError(
                f"The host's libraries no longer fit the environment {lock_id} of {self.name}: {'; '.join(wrong)}.",
                f"Bring them back with playbooks/libraries.yml and the stack of that environment{named}, then go back;"
                " or stay with the current one.",
                lock_id=lock_id,
                misfits=wrong,
            )
        return newer

    # -- present

    def present(self) -> dict[str, t.Any]:
        """Make the environment what is asked for and current.

        :returns: the module's result; with ``missing_wheels`` where the controller has to send wheels first.
        :raises SparkforgeError: with the host as it was, but for what was downloaded when the network failed.
        """
        before = self._state()
        try:
            plan = self.plan()
        except _UndeterminedError:
            return {
                "changed": True,
                "actions": ["install"],
                "name": self.name,
                "lock_id": None,
                "path": None,
                "current": before.get("current"),
                "staged": before.get("staged"),
                "missing_wheels": [],
                "diff": {
                    "before": before,
                    "after": {
                        **before,
                        "current" if self.options["switch"] else "staged": "(follows from what is not there yet)",
                    },
                },
            }
        self._place_transferred(plan)
        needs = [wheel for wheel in plan.missing_wheels if not wheel.on_host]
        if needs and not self.check_mode and not self.options["remote_src"]:
            return {
                "changed": False,
                "missing_wheels": [{"file": wheel.name.file, "sha256": wheel.sha256} for wheel in needs],
            }
        if plan.actions and not self.check_mode:
            plan = self._apply(plan)
        result = self._result(plan, before)
        result["missing_wheels"] = [{"file": wheel.name.file, "sha256": wheel.sha256} for wheel in needs]
        return result

    def _place_transferred(self, plan: Plan) -> None:
        """Note the wheels that the action plugin sent, once their sha256 is right."""
        sent: t.Mapping[str, str] = self.options["transferred"] or {}
        if self.check_mode:
            return
        for wheel in list(plan.missing_wheels):
            path = sent.get(wheel.sha256)
            if not path:
                continue
            actual = digests.of_file(path)
            if actual != wheel.sha256:
                raise SparkforgeError(
                    f"The sha256 of {wheel.name.file} is {actual}, the pin says {wheel.sha256}.",
                    "Give the wheel that the lock names, or lock again.",
                    expected=wheel.sha256,
                    got=actual,
                )
            plan.missing_wheels.remove(wheel)
            self._sent[wheel.sha256] = path

    def _apply(self, plan: Plan) -> Plan:
        wanted_directories = [
            self.directory,
            os.path.join(self.root, "bin"),
            os.path.join(self.root, "receipts"),
            os.path.join(self.root, "wheels"),
        ]
        if self.kernel in plan.files:
            wanted_directories.append(os.path.dirname(self.kernel))
        new = _missing_directories(wanted_directories)
        # Whoever may enter the environment must be able to read it, whatever the umask of the host is.
        mask = os.umask(0o022)
        try:
            with _receipt.lock(self.root, self.receipt_name, self.lock_wait):
                plan = self.plan()  # another run may have done it while this one waited
                try:
                    self._carry_out(plan, new)
                except BaseException as error:
                    self._clean_up(plan, keep_downloads=_is_network(error))
                    raise
        finally:
            os.umask(mask)
            for directory in reversed(new):
                with contextlib.suppress(OSError):
                    os.rmdir(directory)
        return plan

    def _carry_out(self, plan: Plan, new: list[str]) -> None:
        lock_id = t.cast(str, plan.lock_id)
        place = os.path.join(self.directory, lock_id)
        disk.make_directories(self.directory)
        receipt = plan.receipt
        receipt["directories"] = list(dict.fromkeys([*receipt["directories"], *new]))
        for leftover in plan.leftovers:
            if leftover != ".download":
                self._remove_leftover(os.path.join(self.directory, leftover))
        own = self._environment_receipt(lock_id)
        if any(action == "install" or action.startswith("repair") for action in plan.actions):
            own = self._install(lock_id, receipt)
        elif "prove" in plan.actions:
            modules = self._prove(place, receipt["library_paths"], receipt["environment"])
            own = t.cast(t.Dict[str, t.Any], own)
            own["modules"].update(modules)
            own.update(library_paths=receipt["library_paths"], environment=receipt["environment"])
            own["host_packages"] = self._host_packages(place, receipt)
        own = t.cast(t.Dict[str, t.Any], own)
        if receipt.get("stack"):
            own["stack"] = receipt["stack"]
        for key, value in own.items():
            if key not in OWN_ALONE:
                receipt[key] = value
        self._finish_kernel(plan, receipt)
        for path in plan.stale_files:
            _unlink(path)
            if path == self.kernel:
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.dirname(path))
        for path, (content, mode) in plan.files.items():
            if not _holds(path, content, mode):
                disk.write_file(path, content.encode(), mode)
        _make_links(plan.links)
        if "access" in plan.actions and self._wrong_access():
            self._set_access(receipt)
        if plan.stages:
            own["made"] = {key: receipt[key] for key in ("directories", "group", "group_created", "members_added")}
        text = json.dumps(own, indent=2, sort_keys=True) + "\n"
        if not _holds(os.path.join(place, "receipt.json"), text, 0o644):
            disk.write_file(os.path.join(place, "receipt.json"), text.encode())
        if not plan.stages:
            self._set_link("previous", plan.previous)
            self._set_link("current", lock_id)
        self._set_link("staged", plan.staged)
        for entry in plan.prune:
            self._remove_environment(entry)
        if self.options["state"] != "previous":
            disk.remove(os.path.join(self.directory, ".download"))
            self._remove_unused_wheels()
        if not plan.stages:
            _receipt.write(self.root, self.receipt_name, receipt)

    def _set_link(self, name: str, target: str | None) -> None:
        path = os.path.join(self.directory, name)
        if target is None:
            _unlink(path)
        elif self._link(name) != target:
            disk.switch_symlink(path, target)

    def _finish_kernel(self, plan: Plan, receipt: dict[str, t.Any]) -> None:
        # ipykernel may have come as a dependency that only the finished environment shows, or not at all.
        if self.kernel in plan.files and not any(normalised(name) == "ipykernel" for name in receipt["packages"]):
            del plan.files[self.kernel]
            receipt["files"] = sorted(plan.files)
            receipt["paths"]["kernel"] = None

    def _install(self, lock_id: str, receipt: dict[str, t.Any]) -> dict[str, t.Any]:
        place = os.path.join(self.directory, lock_id)
        partial = os.path.join(self.directory, f".{lock_id}.partial")
        self._store_wheels()
        self._make_venv(partial)
        self._pip_install(partial)
        relocate(partial, partial, place)
        _make_links(triton_links(partial, receipt["environment"]))
        _sync(partial)
        aside = os.path.join(self.directory, f".{lock_id}.replaced")
        if os.path.lexists(place):
            disk.remove(aside)
            os.rename(place, aside)
        os.rename(partial, place)
        disk.fsync_directory(self.directory)
        try:
            modules = self._prove(place, receipt["library_paths"], receipt["environment"])
        except BaseException:
            os.rename(place, partial)
            if os.path.lexists(aside):
                os.rename(aside, place)
            raise
        disk.remove(aside)
        return {
            "schema": SCHEMA,
            "lock_id": lock_id,
            "fingerprint": receipt["fingerprint"],
            "python": receipt["python"],
            "machine": self.machine,
            "requirements": receipt["requirements"],
            "wheels": receipt["wheels"],
            "packages": installed_packages(place),
            "entries": sorted(entry for entry in os.listdir(site_packages(place)) if entry != "__pycache__"),
            "modules": modules,
            "library_paths": receipt["library_paths"],
            "environment": receipt["environment"],
            "stack": receipt["stack"],
            "host_packages": self._host_packages(place, receipt),
            "installed": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def _host_packages(self, place: str, receipt: t.Mapping[str, t.Any]) -> dict[str, str]:
        """Return the packages of the host that the environment takes something from, and their versions."""
        given = self.options.get("packages")
        if given is not None:
            return {str(name): str(version) for name, version in given.items()}
        if self.fit is None:
            return {}
        version = receipt["python"]["version"]
        return self.fit.needed(place, version, receipt["library_paths"], receipt["environment"].values())

    def _store_wheels(self) -> None:
        """Verify every wheel and bring those that were sent into the store."""
        for wheel in self.wheels:
            if wheel.sha256 in self._sent and not wheel.on_host:
                self._new_wheels.append(wheel.sha256)
                disk.make_directories(os.path.dirname(wheel.path))
                temporary = f"{wheel.path}.{os.getpid()}"
                shutil.copyfile(self._sent[wheel.sha256], temporary)
                os.chmod(temporary, 0o644)
                os.replace(temporary, wheel.path)
            if not os.path.isfile(wheel.path):
                raise SparkforgeError(
                    f"The wheel {wheel.path} is not on this host.",
                    "Bring it there, or set remote_src to false.",
                )
            actual = digests.of_file(wheel.path)
            if actual != wheel.sha256:
                raise SparkforgeError(
                    f"The sha256 of {wheel.path} is {actual}, the pin says {wheel.sha256}.",
                    "Give the wheel that the lock names; remove that file so that it is brought anew.",
                    expected=wheel.sha256,
                    got=actual,
                )

    def _make_venv(self, partial: str) -> None:
        # Without a prompt it would be the name of the directory, which does not stay.
        rc, out, err = self._run([self.python, "-I", "-m", "venv", "--prompt", self.name, partial])
        if rc != 0:
            free = os.statvfs(os.path.dirname(partial))
            raise venv_failure(self.python, self.python_version, out + err, free.f_bavail * free.f_frsize)

    def _pip_install(self, partial: str) -> None:
        index = self.options["index_url"]
        lines = []
        # In a file of root's, not in the command line: a URL may carry a password.
        if index is not None and index.strip().lower() in ("", "none"):
            lines.append("--no-index")
        elif index is not None:
            lines.append(f"--index-url {index}")
        for place in self.options["find_links"]:
            lines.append(f"--find-links {place}")
            if place.startswith("http://"):
                # Every hash is given, so that whoever answers there need not be trusted; pip would pass it over.
                lines.append(f"--trusted-host {urllib.parse.urlsplit(place).netloc.rpartition('@')[2]}")
        pinned = {requirement.name for requirement in self.requirements}
        for wheel in self.wheels:
            if wheel.name.distribution in pinned:
                lines.append(f"--find-links {os.path.dirname(wheel.path)}")
        lines += [requirement.line for requirement in self.requirements]
        lines += [
            f"file://{urllib.request.pathname2url(wheel.path)} --hash=sha256:{wheel.sha256}"
            for wheel in self.wheels
            if wheel.name.distribution not in pinned
        ]
        requirements = os.path.join(partial, ".requirements.txt")
        temporary = os.path.join(partial, ".tmp")
        os.mkdir(temporary)
        descriptor = os.open(requirements, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write("\n".join([*lines, ""]))
        python = os.path.join(partial, "bin", "python")
        variables = {
            "LC_ALL": "C.UTF-8",
            "PIP_USER": "0",
            # Next to the environment: /tmp is often a small file system in memory.
            "TMPDIR": temporary,
        }
        # pip does not know the variable that the rest of the system takes the CA from.
        if "SSL_CERT_FILE" in os.environ and not {"PIP_CERT", "REQUESTS_CA_BUNDLE"} & set(os.environ):
            variables["PIP_CERT"] = os.environ["SSL_CERT_FILE"]
        pip = [python, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check"]
        with self._netrc(partial) as file:
            rc, out, err = self.run_command(
                [
                    *pip,
                    "--cache-dir",
                    os.path.join(self.directory, ".download"),
                    "install",
                    "--require-hashes",
                    "--only-binary=:all:",
                    "--progress-bar=off",
                    *([] if self.options.get("compile", True) else ["--no-compile"]),
                    "--requirement",
                    requirements,
                ],
                environ_update={**variables, "NETRC": file} if file else variables,
                cwd=partial,
            )
        if rc != 0:
            raise self._explained(pip_failure(out + "\n" + err), out + "\n" + err)
        rc, out, err = self.run_command([*pip, "check"], environ_update=variables, cwd=partial)
        if rc != 0:
            first = ((out or err).strip().splitlines() or ["pip check failed"])[0]
            raise SparkforgeError(
                f"The packages do not fit each other: {short(first.rstrip('.'))}.",
                "Lock the environment again with playbooks/lock.yml.",
                pip_output=(out + err).strip(),
            )
        os.unlink(requirements)
        disk.remove(temporary)

    @contextlib.contextmanager
    def _netrc(self, directory: str) -> t.Iterator[str | None]:
        """Give the credentials to pip in a file of root's: others read command lines, and root the environment."""
        if not self.credentials or self.index is None:
            yield None
            return
        path = os.path.join(directory, ".netrc")
        text = self.index.render_netrc(self.credentials, self.python_version)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            yield path
        finally:
            _unlink(path)

    def _explained(self, error: SparkforgeError, output: str) -> SparkforgeError:
        """Return a better cause than pip's, where the index answers something else than pip takes it for."""
        if self.index is None or not {"package", "url", "status"} & set(error.details):
            return error
        hosts = {one.host for one in self.credentials}

        def authenticated(url: str) -> bool:
            return urllib.parse.urlsplit(url).hostname in hosts

        better: SparkforgeError | None = None
        url, package = str(error.details.get("url") or ""), str(error.details.get("package") or "")
        if "status" in error.details:
            better = self.index.refused(redact(url), error.details["status"], "", authenticated(url))
        elif url:
            answer = self.index.ask(url, self.credentials)
            better = self.index.explain(url, answer, package, authenticated(url)) if answer else None
        elif error.details.get("looked_for"):
            for page in self._pages(output, package):
                answer = self.index.ask(page, self.credentials)
                better = self.index.explain(page, answer, package, authenticated(page)) if answer else None
                if better:
                    break
        if better is None:
            return error
        better.details.update({key: value for key, value in error.details.items() if key not in better.details})
        return better

    def _pages(self, output: str, package: str) -> list[str]:
        """Return the URLs that pip looked for a package at."""
        index = self.options["index_url"]
        indexes = [index] if index and index.strip().lower() != "none" else []
        if index is None:
            # As the host's own pip configuration has it; pip hides a password there.
            told = re.search(r"^Looking in indexes: (.*)$", output, re.MULTILINE)
            indexes = re.split(r",\s*", told.group(1)) if told else []
        project = normalised(re.split(r"[^A-Za-z0-9._-]", package, maxsplit=1)[0])
        pages = [place for place in self.options["find_links"] if place.startswith(("http://", "https://"))]
        return [*pages, *(f"{place.rstrip('/')}/{project}/" for place in indexes)]

    def _prove(self, place: str, paths: list[str], values: dict[str, str]) -> dict[str, t.Any]:
        """Import what must import, from where it will be used, and return what was found."""
        for path in paths:
            if not os.path.isdir(path):
                raise SparkforgeError(
                    f"The library path {path} of the environment {self.name} is not on this host.",
                    "Run the role that brings it (math_libraries), or correct library_paths.",
                )
        wanted = self._imports
        if not wanted:
            return {}
        variables = {"LC_ALL": "C.UTF-8", **values}
        if paths:
            variables["LD_LIBRARY_PATH"] = ":".join(paths)
        rc, out, err = self.run_command(
            [os.path.join(place, "bin", "python"), "-I", "-c", _IMPORT_PROBE, *wanted],
            environ_update=variables,
            cwd=place,
        )
        said = [json.loads(line[len("@sparkforge ") :]) for line in out.splitlines() if line.startswith("@sparkforge ")]
        failed = [entry for entry in said if entry["state"] == "failed"]
        found = {entry["module"]: entry["found"] for entry in said if entry["state"] == "imported"}
        if failed:
            error = import_failure(failed[0]["module"], failed[0]["error"], self.machine)
            error.details["failed_imports"] = {entry["module"]: entry["error"] for entry in failed}
            raise error
        if rc != 0 or set(wanted) - set(found):
            module = said[-1]["module"] if said else wanted[0]
            last = (err.strip().splitlines() or [""])[-1]
            ending = f"signal {-rc}" if rc < 0 else f"exit status {rc}"
            raise import_failure(module, f"the interpreter ended with {ending} {last}".strip())
        self._check_cuda(found)
        return found

    # -- removal

    def _remove_leftover(self, path: str) -> None:
        """Remove what a killed run left, after ending a pip of that run that still writes there."""
        if path.endswith(".partial"):
            # Under an emulator the program is not the first word of its command line.
            ours = re.compile(rf"(^| ){re.escape(path)}/bin/\S+ .*-m | -m venv .*{re.escape(path)}$")
            for _attempt in range(50):
                users = [
                    pid for pid, command in processes_using([path], self.proc)[path].items() if ours.search(command)
                ]
                if not users:
                    break
                for pid in users:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.1)
        disk.remove(path)

    def _remove_environment(self, entry: str) -> None:
        # The receipt first: what is left of a removal that was cut short is debris.
        path = os.path.join(self.directory, entry)
        _unlink(os.path.join(path, "receipt.json"))
        aside = os.path.join(self.directory, f".{entry}.removed")
        disk.remove(aside)
        os.rename(path, aside)
        disk.remove(aside)

    def _remove_unused_wheels(self) -> None:
        store = os.path.join(self.root, "wheels")
        if not os.path.isdir(store):
            return
        used = set()
        environments = os.path.join(self.root, "envs")
        for name in os.listdir(environments) if os.path.isdir(environments) else []:
            directory = os.path.join(environments, name)
            for entry in os.listdir(directory) if os.path.isdir(directory) else []:
                receipt = read_json(os.path.join(directory, entry, "receipt.json")) or {}
                used |= {wheel["sha256"] for wheel in receipt.get("wheels", [])}
                if entry.endswith(".partial") and name != self.name:
                    return  # another environment is being made and may need any of them
        for digest in os.listdir(store):
            if SHA256.fullmatch(digest) and digest not in used:
                disk.remove(os.path.join(store, digest))

    def _clean_up(self, plan: Plan, *, keep_downloads: bool) -> None:
        with contextlib.suppress(OSError):
            disk.remove(os.path.join(self.directory, f".{plan.lock_id}.partial"))
            if not keep_downloads:
                disk.remove(os.path.join(self.directory, ".download"))
            for digest in self._new_wheels:
                disk.remove(os.path.join(self.root, "wheels", digest))

    def absent(self) -> dict[str, t.Any]:
        """Remove every environment of the name and all that came with it.

        :raises SparkforgeError: where a process uses one of them and ``force`` is not set.
        """
        before = self._state()
        receipt = _receipt.read(self.root, self.receipt_name)
        made = self._made()
        stable = [
            os.path.join(self.root, "bin", f"activate-{self.name}"),
            os.path.join(self.root, "bin", f"{self.name}-python"),
            self.kernel,
        ]
        files = [
            path
            for path in dict.fromkeys([*stable, *(receipt or {}).get("files", [])])
            if os.path.lexists(path) and not path.startswith(self.directory + os.sep)
        ]
        changed = bool(os.path.lexists(self.directory) or files or receipt is not None)
        if changed and not self.options["force"]:
            users = processes_using([self.directory], self.proc)[self.directory]
            if users:
                pid, command = sorted(users.items())[0]
                example = f"{pid} ({short(command)})"
                raise SparkforgeError(
                    f"The environment {self.name} is used by {len(users)} process(es), such as {example}.",
                    "End them first, or set force to true.",
                    processes=sorted(users),
                )
        if changed and not self.check_mode:
            with _receipt.lock(self.root, self.receipt_name, LOCK_WAIT):
                for path in files:
                    _unlink(path)
                    if os.path.basename(path) == "kernel.json":
                        with contextlib.suppress(OSError):
                            os.rmdir(os.path.dirname(path))
                disk.remove(self.directory)
                self._remove_unused_wheels()
                self._remove_group(made)
                _receipt.remove(self.root, self.receipt_name)
            for directory in reversed(made["directories"]):
                with contextlib.suppress(OSError):
                    os.rmdir(directory)
        return {
            "changed": changed,
            "name": self.name,
            "lock_id": None,
            "diff": {"before": before, "after": {} if changed else before},
        }

    def _remove_group(self, receipt: t.Mapping[str, t.Any]) -> None:
        """Remove the members and the group that this environment made, where nobody and no other one needs them."""
        for group, names in receipt["members_added"].items():
            if self._is_used_by_another(group):
                continue
            for member in names:
                with contextlib.suppress(KeyError):
                    if member in grp.getgrnam(group).gr_mem:
                        self._run(["gpasswd", "--delete", member, group])
        name = receipt.get("group")
        if not name or not receipt.get("group_created"):
            return
        try:
            entry = grp.getgrnam(name)
        except KeyError:
            return
        if entry.gr_mem or any(user.pw_gid == entry.gr_gid for user in pwd.getpwall()):
            return
        if not self._is_used_by_another(name):
            self._run(["groupdel", name])

    def _is_used_by_another(self, group: str) -> bool:
        """Tell whether an environment of another name is for that group."""
        receipts = os.path.join(self.root, "receipts")
        return any(
            (read_json(os.path.join(receipts, file)) or {}).get("group") == group
            for file in os.listdir(receipts)
            if re.fullmatch(r"env-.*\.json", file) and file != f"{self.receipt_name}.json"
        )

    # -- result

    def _state(self) -> dict[str, t.Any]:
        """Return what a diff shows of the host as it is now."""
        current, previous, staged = (self._link(name) for name in LINKS)
        receipt = _receipt.read(self.root, self.receipt_name) or {}
        if current is None and not receipt and staged is None:
            return {}
        # What was made last: the staged environment, where there is one.
        latest = staged or current
        own = (self._environment_receipt(latest) if latest else None) or {}
        return {
            "current": current,
            "previous": previous,
            "staged": staged,
            "environments": self._environments(),
            "python": own.get("python"),
            "requirements": own.get("requirements", []),
            "wheels": [wheel["file"] for wheel in own.get("wheels", [])],
            "library_paths": own.get("library_paths", []),
            "environment": own.get("environment", {}),
            "group": receipt.get("group"),
            "members": self._members_of(receipt.get("group")),
            "files": [path for path in receipt.get("files", []) if os.path.lexists(path)],
        }

    def _members_of(self, group: str | None) -> list[str]:
        try:
            return sorted(grp.getgrnam(group).gr_mem) if group else []
        except KeyError:
            return []

    def _result(self, plan: Plan, before: dict[str, t.Any]) -> dict[str, t.Any]:
        receipt = plan.receipt
        after = before
        if plan.actions:
            after = {
                "current": plan.current if plan.stages else plan.lock_id,
                "previous": plan.previous,
                "staged": plan.staged,
                "environments": sorted({*self._environments(), t.cast(str, plan.lock_id)} - set(plan.prune)),
                "python": receipt["python"],
                "requirements": receipt["requirements"],
                "wheels": [wheel["file"] for wheel in receipt["wheels"]],
                "library_paths": receipt["library_paths"],
                "environment": receipt["environment"],
                # Who may enter and what people start follow the current environment.
                "group": before.get("group") if plan.stages else receipt["group"],
                "members": before.get("members", []) if plan.stages else plan.members,
                "files": before.get("files", []) if plan.stages else sorted(plan.files),
            }
        return {
            "changed": bool(plan.actions),
            "actions": plan.actions,
            "name": self.name,
            "lock_id": plan.lock_id,
            "path": receipt["paths"]["environment"],
            "stack": receipt.get("stack") or {},
            "current": plan.current,
            "previous": plan.previous,
            "staged": plan.staged,
            "python": receipt["python"],
            "packages": receipt["packages"],
            "modules": receipt["modules"],
            "paths": receipt["paths"],
            "removed": plan.prune,
            "in_use": plan.in_use,
            "warnings": plan.warnings,
            "diff": {"before": before, "after": after},
        }

    def _run(self, args: list[str]) -> tuple[int, str, str]:
        return self.run_command(args, environ_update={"LC_ALL": "C.UTF-8"})


# --------------------------------------------------------------------------------------------------- files


def _holds(path: str, content: str, mode: int) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read() == content.encode() and os.fstat(stream.fileno()).st_mode & 0o7777 == mode
    except OSError:
        return False


def _make_links(links: t.Mapping[str, str]) -> None:
    for path, target in links.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        disk.switch_symlink(path, target)


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)


def _missing_directories(paths: t.Iterable[str]) -> list[str]:
    """Return the directories that do not exist of ``paths`` and their parents, the outermost first."""
    missing: dict[str, None] = {}
    for path in paths:
        chain = []
        while not os.path.lexists(path):
            chain.append(path)
            path = os.path.dirname(path)
        missing.update(dict.fromkeys(reversed(chain)))
    return list(missing)


def _sync(path: str) -> None:
    """Make the file system of ``path`` durable: one call, not one for each of a torch's 20,000 files."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            failed = ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0
        except AttributeError:  # a C library without it
            failed = True
        if failed:
            os.sync()
    finally:
        os.close(descriptor)


def _is_network(error: BaseException) -> bool:
    return isinstance(error, SparkforgeError) and bool(error.details.get("network"))


def _from_os_error(error: OSError) -> SparkforgeError:
    where = f"{error.filename}: " if error.filename else ""
    return SparkforgeError(
        f"{where}{error.strerror or error}.",
        "Free space on its file system and run again."
        if error.errno == 28
        else "Run as root (become), and make sure that the file system can be written to.",
        path=error.filename,
    )
