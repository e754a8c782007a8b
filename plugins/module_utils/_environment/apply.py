"""Carry out a plan: create the environment, test its imports, switch to it, record it, and remove unneeded files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import signal
import time
import typing as t

from .._core import digests, directories, disk, phrases, receipts
from .._core.errors import SparkforgeError
from .._core.sandbox import Sandbox
from .._fetch import http
from .._wheel.environment import OWN_ALONE, Own, Receipt, installed_wheels
from .._wheel.requirement import SHA256, clip
from .._wheel.wheel import Wheel
from . import access, apt_compat, model, observation, tree
from .download import UnfinishedError
from .installer import Installer, import_failure
from .model import Facts, Options, Paths, Run
from .plan import Plan, check_cuda
from .render import has_ipykernel, triton_links

LOCK_WAIT = 900.0  # seconds; another run may be downloading gigabytes
ROLLBACK_WAIT = 10.0  # seconds; a rollback does not wait for a download


_MARK = "@sparkforge "
#: The program to run in the finished environment. It prints a module's name before importing it, to attribute crashes.
_PROBE = """
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


@dataclasses.dataclass
class Apply:
    """One run that changes the host.

    :param sent: sha256 -> path of each wheel that the action plugin sent.
    """

    options: Options
    run: Run
    installer: Installer
    sent: t.Mapping[str, str]

    @property
    def paths(self) -> Paths:
        return self.options.paths

    def carry_out(self, plan: Plan, make: t.Callable[[], Plan]) -> Plan:
        """Execute the plan while holding the lock, and return the plan that was carried out.

        :param plan: the plan made before the lock was held.
        :param make: a function that makes the plan again, because another run may have done the work meanwhile.
        :raises SparkforgeError: with the host unchanged, except for downloads that a network failure interrupted.
        """
        paths = self.paths
        directories = [paths.directory, *(os.path.join(paths.root, name) for name in ("bin", "receipts", "wheels"))]
        if paths.kernel in plan.files:
            directories.append(os.path.dirname(paths.kernel))
        # Include the directories that an earlier call with an unfinished download created.
        earlier = (receipts.load(paths.of(observation.DOWNLOADING)) or {}).get("directories", [])
        new = list(dict.fromkeys([*earlier, *_missing_directories(directories)]))
        try:
            wait = ROLLBACK_WAIT if self.options.state == "previous" else LOCK_WAIT
            with receipts.lock(paths.root, paths.receipt_name, wait):
                plan = make()
                try:
                    self._change(plan, new)
                except BaseException as error:
                    self._clean_up(plan, error)
                    raise
        finally:
            for directory in reversed(new):
                disk.remove_empty(directory)
        return plan

    def _change(self, plan: Plan, new: list[str]) -> None:
        disk.make_directories(self.paths.directory)
        receipt = plan.receipt
        receipt["directories"] = list(dict.fromkeys([*receipt["directories"], *new]))
        for leftover in plan.leftovers:
            if leftover != ".download":
                _remove_leftover(self.paths.of(leftover))
        own = self._make(plan)
        if receipt.get("stack"):
            own["stack"] = receipt["stack"]
        receipt.update(t.cast("Receipt", {key: value for key, value in own.items() if key not in OWN_ALONE}))
        self._write_files(plan, own)
        if "access" in plan.actions and access.is_wrong(self.options):
            access.correct(self.options, receipt, self.run)
        if plan.stages:
            own["made"] = {
                "directories": receipt["directories"],
                "group": receipt["group"],
                "group_created": receipt["group_created"],
                "members_added": receipt["members_added"],
            }
            self._write_files(plan, own)
        if not plan.stages:
            self._set_link("previous", plan.previous)
            self._set_link("current", plan.environment_id)
        self._set_link("staged", plan.staged)
        for entry in plan.prune:
            _remove_environment(self.paths, entry)
        if self.options.state != "previous":
            disk.remove(self.paths.of(".download"))
            remove_unused_wheels(self.paths)
        if not plan.stages:
            receipts.write(self.paths.root, self.paths.receipt_name, receipt)

    def _make(self, plan: Plan) -> Own:
        """Return the receipt in the environment, after creating it and testing its imports if necessary."""
        receipt = plan.receipt
        own = observation.own_receipt(self.paths, plan.environment_id)
        if own is None or any(action.startswith("repair") for action in plan.actions):
            return self._install(plan)
        if "prove" in plan.actions:
            own["modules"].update(prove(self.options, receipt, self.installer.sandbox))
            own["library_paths"], own["environment"] = receipt["library_paths"], receipt["environment"]
            own["host_packages"] = self._host_packages(receipt)
        return own

    def _install(self, plan: Plan) -> Own:
        receipt, environment = plan.receipt, self.paths.of(plan.environment_id)
        partial, aside = (self.paths.of(f".{plan.environment_id}.{end}") for end in ("partial", "replaced"))
        self._store(plan.identity.wheels)
        self.installer.install(partial, plan.identity)
        tree.relocate(partial, partial, environment)
        _make_links(triton_links(partial, receipt["environment"]))
        # Use one call instead of one for each of torch's 20,000 files.
        if self.run(["sync", "--file-system", partial])[0] != 0:
            os.sync()
        if os.path.lexists(environment):
            disk.remove(aside)
            os.rename(environment, aside)
        os.rename(partial, environment)
        disk.fsync(self.paths.directory)
        try:
            modules = prove(self.options, receipt, self.installer.sandbox)
        except BaseException:
            os.rename(environment, partial)
            if os.path.lexists(aside):
                os.rename(aside, environment)
            raise
        disk.remove(aside)
        return {
            **plan.own,
            "packages": tree.installed_packages(environment),
            "entries": sorted(entry for entry in os.listdir(tree.site_packages(environment)) if entry != "__pycache__"),
            "modules": modules,
            "library_paths": receipt["library_paths"],
            "environment": receipt["environment"],
            "host_packages": self._host_packages(receipt),
            # The next run needs this if this run dies before it writes the host's receipt.
            "made": {"directories": receipt["directories"]},
            "installed": phrases.now(),
        }

    def _host_packages(self, receipt: Receipt) -> dict[str, str]:
        environment, version = receipt["paths"]["environment"], receipt["python"]["version"]
        return apt_compat.needed(environment, version, receipt["library_paths"], receipt["environment"].values())

    def _store(self, wheels: t.Iterable[Wheel]) -> None:
        """Copy the wheels to a directory that only root can change, and verify them there."""
        for wheel in wheels:
            if not os.path.isfile(wheel.path):
                _copy_verified(wheel, self.sent.get(wheel.sha256, ""), wheel.path)
                continue
            try:
                check_sha256(wheel, digests.of_file(wheel.path), wheel.path, "It was removed; run again to fetch it.")
            except SparkforgeError:
                disk.remove(wheel.path)
                raise

    def _write_files(self, plan: Plan, own: Own) -> None:
        """Write the files inside the environment, then its receipt, which makes it valid, then the files elsewhere."""
        kernel, receipt = self.paths.kernel, plan.receipt
        # Only the finished environment shows whether ipykernel was installed as a dependency.
        if kernel in plan.files and not has_ipykernel(receipt["packages"]):
            del plan.files[kernel]
            receipt["files"] = sorted(plan.files)
            receipt["paths"]["kernel"] = None
        for path in plan.stale_files:
            remove_file(path, directory=path == kernel)
        _make_links(plan.links)
        environment = os.path.join(self.paths.of(plan.environment_id), "")
        own_path = f"{environment}receipt.json"
        files = {**plan.files, own_path: (digests.text_of(own), 0o644)}
        for path in sorted(files, key=lambda path: (not path.startswith(environment), path == own_path)):
            content, mode = files[path]
            if not tree.has_content(path, content, mode):
                disk.write_file(path, content.encode(), mode)

    def _set_link(self, name: str, target: str | None) -> None:
        path = self.paths.of(name)
        if target is None:
            disk.delete(path)
        elif observation.link(self.paths, name) != target:
            directories.switch_symlink(path, target)

    def _clean_up(self, plan: Plan, error: BaseException) -> None:
        with contextlib.suppress(OSError):
            disk.remove(self.paths.of(f".{plan.environment_id}.partial"))
            # After a time slice or a network failure, the next call continues the download.
            if isinstance(error, UnfinishedError) or http.is_transient(error):
                created = {"directories": plan.receipt["directories"]}
                disk.write_file(self.paths.of(observation.DOWNLOADING), json.dumps(created).encode(), 0o600)
            else:
                disk.remove(self.paths.of(".download"))
                remove_unused_wheels(self.paths)


def prove(options: Options, receipt: Receipt, sandbox: Sandbox) -> Facts:
    """Import the modules in the options and return the facts about each.

    :param receipt: the paths, libraries and variables of the environment.
    :raises SparkforgeError: for the first failed import, with all failures in ``failed_imports``.
    """
    for path in receipt["library_paths"]:
        if not os.path.isdir(path):
            raise SparkforgeError(
                f"The library path {path} of the environment {options.paths.name} is not on this host.",
                "Run the role that installs it (math_libraries), or correct library_paths.",
            )
    imports = options.imports
    if not imports:
        return {}
    variables = {**model.ENGLISH, **receipt["environment"]}
    if receipt["library_paths"]:
        variables["LD_LIBRARY_PATH"] = ":".join(receipt["library_paths"])
    environment = receipt["paths"]["environment"]
    activity = f"Importing {', '.join(imports)} in the environment {options.paths.name}"
    argv = [os.path.join(environment, "bin", "python"), "-I", "-c", _PROBE, *imports]
    rc, out, err = sandbox.run(argv, variables, activity, environment)
    judged = [_parse_probe_line(line, imports) for line in out.splitlines() if line.startswith(_MARK)]
    failed = {entry["module"]: entry["error"] for entry in judged if entry["state"] == "failed"}
    imported = {entry["module"]: entry["found"] for entry in judged if entry["state"] == "imported"}
    if failed:
        module, error = next(iter(failed.items()))
        failure = import_failure(module, error, options.machine)
        failure.details["failed_imports"] = failed
        raise failure
    if rc != 0 or set(imports) - set(imported):
        module = judged[-1]["module"] if judged else imports[0]
        last_line = (err.strip().splitlines() or [""])[-1]
        ending = f"signal {-rc}" if rc < 0 else f"exit status {rc}"
        raise import_failure(module, f"the interpreter exited with {ending} {last_line}".strip())
    check_cuda(options, imported)
    return imported


def _parse_probe_line(line: str, imports: t.Sequence[str]) -> Facts:
    """Parse one line of the probe's output; a package may print a line that looks similar."""
    entry = None
    with contextlib.suppress(ValueError, RecursionError):
        entry = json.loads(line[len(_MARK) :])
    if isinstance(entry, dict) and entry.get("module") in imports and _is_of_the_probe(entry):
        return entry
    raise SparkforgeError(
        f"A package of the environment prints a line that is reserved for the import test: {clip(line)}.",
        "Find the package that prints it when it is imported, and use another release of it.",
    )


def _is_of_the_probe(entry: Facts) -> bool:
    state, others = entry.get("state"), sorted(set(entry) - {"module", "state"})
    if state == "imported" and others == ["found"] and isinstance(entry["found"], dict):
        return all(value is None or isinstance(value, str) for value in entry["found"].values())
    if state == "failed" and others == ["error"]:
        return isinstance(entry["error"], str)
    return state == "begun" and not others


def _copy_verified(wheel: Wheel, source: str, kept: str) -> None:
    """Copy a wheel and compute its sha256 in the same pass, because another account may be able to change ``source``.

    :raises SparkforgeError: if it is missing, is not a regular file, or has a different sha256.
    """
    disk.make_directories(os.path.dirname(kept))
    temporary = disk.temporary_path(kept)
    try:
        with disk.open_regular(source) as reading, open(temporary, "wb") as writing:
            actual = digests.of_stream(reading, writing)
            writing.flush()
            os.fsync(writing.fileno())
            os.fchmod(writing.fileno(), 0o644)
        remedy = f"Use the wheel that the lock names; remove {source} so that it is sent again."
        check_sha256(wheel, actual, source, remedy)
        os.replace(temporary, kept)
    except FileNotFoundError as error:
        raise SparkforgeError(f"The wheel {wheel.file} was not sent to this host.", "Run again.") from error
    except OSError as error:
        raise disk.io_error(f"The wheel {source} cannot be copied to {kept}", error) from error
    finally:
        disk.remove(temporary)


def check_sha256(wheel: Wheel, actual: str, name: str, remedy: str) -> None:
    """Refuse a file whose sha256 is not the wheel's; ``name`` is its name in the message."""
    if actual != wheel.sha256:
        raise SparkforgeError(f"The sha256 of {name} is {actual}, expected {wheel.sha256}.", remedy)


def remove_file(path: str, *, directory: bool) -> None:
    """Remove a file, and, with ``directory`` set, also its directory if that becomes empty."""
    disk.delete(path)
    if directory:
        disk.remove_empty(os.path.dirname(path))


def remove_unused_wheels(paths: Paths) -> None:
    """Remove the wheels that are not part of any environment, under any name."""
    if not os.path.isdir(paths.wheels):
        return
    used = set()
    environments = os.path.dirname(paths.directory)
    for name in os.listdir(environments) if os.path.isdir(environments) else []:
        directory = os.path.join(environments, name)
        for entry in os.listdir(directory) if os.path.isdir(directory) else []:
            receipt = receipts.load(os.path.join(directory, entry, "receipt.json")) or {}
            used |= {wheel.sha256 for wheel in installed_wheels(receipt)}
            if entry.endswith(".partial") and name != paths.name:
                return  # another environment is being created and may need any of them
    for digest in os.listdir(paths.wheels):
        if SHA256.fullmatch(digest) and digest not in used:
            disk.remove(os.path.join(paths.wheels, digest))


def _remove_leftover(path: str) -> None:
    """Remove the leftovers of a killed run, after killing a pip from that run that still writes there."""
    if path.endswith(".partial"):
        # Under an emulator the program is not the first argument on its command line.
        pattern = re.escape(path)
        command_line = re.compile(rf"(^| ){pattern}/bin/\S+ |venv.* {pattern}$", re.DOTALL)
        for _attempt in range(50):
            users = [pid for pid, command in tree.processes_using([path])[path].items() if command_line.search(command)]
            if not users:
                break
            for pid in users:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
    disk.remove(path)


def _remove_environment(paths: Paths, entry: str) -> None:
    # Remove the receipt first, so that an interrupted removal leaves only debris.
    path, aside = paths.of(entry), paths.of(f".{entry}.removed")
    disk.delete(os.path.join(path, "receipt.json"))
    disk.remove(aside)
    os.rename(path, aside)
    disk.remove(aside)


def _make_links(links: t.Mapping[str, str]) -> None:
    for path, target in links.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        directories.switch_symlink(path, target)


def _missing_directories(paths: t.Iterable[str]) -> list[str]:
    """Return the missing directories among ``paths`` and their parents, outermost first."""
    missing: dict[str, None] = {}
    for path in paths:
        chain = []
        while not os.path.lexists(path):
            chain.append(path)
            path = os.path.dirname(path)
        missing.update(dict.fromkeys(reversed(chain)))
    return list(missing)
