"""The possible states of an environment (present, previous and absent) and the module's result.

Modules are recompiled on every call, so code that only a change needs is imported only when something changes.
"""

from __future__ import annotations

import errno
import os
import typing as t

from .._core import disk, receipts
from .._core.errors import SparkforgeError
from .._wheel.environment import installed_wheels
from .._wheel.requirement import clip
from . import access, observation, plan
from .identity import UndeterminedError
from .model import Facts, Options, Paths, Run
from .tree import processes_using


def apply_state(options: Options, run: Run) -> Facts:
    """Apply the requested state and return the module's result.

    :returns: the result, with ``missing_wheels`` if the controller must send wheels first, and with ``unfinished`` if
        it must call again.
    :raises SparkforgeError: for every failure.
    """
    try:
        if options.state == "absent":
            return absent(options, run)
        return present(previous_options(options) if options.state == "previous" else options, run)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        remedy = "Run as root (become), and make sure that the file system is writable."
        if error.errno == errno.ENOSPC:
            remedy = "Free space on its file system and run again."
        raise SparkforgeError(f"{where}{error.strerror or error}.", remedy) from error


def previous_options(options: Options) -> Options:
    """Return the options of the previous environment, or of the one with ``environment_id``.

    Applying them changes links, the kernel and the receipt. Nothing is installed, imported, downloaded or removed.

    :raises SparkforgeError: if there is no such environment.
    """
    paths = options.paths
    target = options.environment_id or _previous_id(paths)
    if observation.own_receipt(paths, target) is None:
        raise SparkforgeError(
            f"There is no environment {target} of {paths.name} on this host.",
            f"Use an installed one: {_installed_ids(paths)}; or run playbooks/deploy.yml with its stack.",
        )
    receipt = observation.last_receipt(paths)
    return Options(
        paths,
        options.machine,
        options.check_mode,
        state="previous",
        environment_id=target,
        group=receipt["group"] if "group" in receipt else access.group_that_may_enter(paths),
        # The receipt of an environment without ipykernel has no kernel path, even if one was requested.
        jupyter=receipt.get("jupyter", bool((receipt.get("paths") or {}).get("kernel"))),
    )


def _previous_id(paths: Paths) -> str:
    """Return the environment before the current one, even after an interrupted switch."""
    current, environments = observation.link(paths, "current"), observation.environments(paths)
    receipt = observation.last_receipt(paths)
    for entry in (observation.link(paths, "previous"), receipt.get("environment_id"), receipt.get("previous")):
        if entry in environments and entry != current:
            return entry
    now = f"{current} is current" if current in environments else "none is current"
    raise SparkforgeError(
        f"There is no previous environment of {paths.name} on this host to roll back to; {now}.",
        "Run playbooks/deploy.yml with the stack that you want"
        + (f", or name an installed one: {_installed_ids(paths)}." if set(environments) - {current} else "."),
    )


def _installed_ids(paths: Paths) -> str:
    return (
        ", ".join(entry for entry in observation.environments(paths) if observation.own_receipt(paths, entry)) or "none"
    )


def present(options: Options, run: Run) -> Facts:
    """Create or update the environment as requested, and make it current unless it is only staged."""
    before = observation.summary(options.paths)

    def make() -> plan.Plan:
        return plan.plan(options, run, _compare_packages)

    try:
        planned = make()
    except UndeterminedError:
        follows = {"current" if options.switch else "staged": "(depends on a step that has not run yet)"}
        return {
            "changed": True,
            "actions": ["install"],
            "name": options.paths.name,
            "environment_id": None,
            "path": None,
            "current": before.get("current"),
            "staged": before.get("staged"),
            "missing_wheels": [],
            "diff": {"before": before, "after": {**before, **follows}},
        }
    sent_wheels = {} if options.check_mode else options.transferred
    missing_rows = [wheel.as_pin() for wheel in planned.missing_wheels if wheel.sha256 not in sent_wheels]
    if missing_rows and not options.check_mode:
        return {"changed": False, "missing_wheels": missing_rows}
    fetched: Facts = {}
    if planned.actions and not options.check_mode:
        from .._core.sandbox import Sandbox
        from . import apply
        from .download import UnfinishedError
        from .installer import Installer

        installer = Installer(options, run, Sandbox(options.paths.directory))
        try:
            planned = apply.Apply(options, run, installer, sent_wheels).carry_out(planned, make)
        except UnfinishedError as unfinished:
            return {"changed": False, "missing_wheels": [], "unfinished": True, "download": unfinished.progress}
        fetched = installer.fetched
    return {**_result(options.paths, planned, before), "missing_wheels": missing_rows, "download": fetched}


def _compare_packages(recorded: t.Mapping[str, str]) -> tuple[list[str], list[str]]:
    from . import apt_compat

    return apt_compat.misfit(recorded, apt_compat.installed())


def _result(paths: Paths, done: plan.Plan, before: Facts) -> Facts:
    receipt = done.receipt
    after = before
    if done.actions:
        after = {
            "current": done.current,
            "previous": done.previous,
            "staged": done.staged,
            "environments": sorted({*observation.environments(paths), done.environment_id} - set(done.prune)),
            **{key: receipt[key] for key in ("python", "requirements", "library_paths", "environment")},
            "wheels": [wheel.file for wheel in installed_wheels(receipt)],
            # Access, scripts and kernel follow the current environment.
            "group": before.get("group") if done.stages else receipt["group"],
            "members": before.get("members", []) if done.stages else done.members,
            "files": before.get("files", []) if done.stages else sorted(done.files),
        }
    return {
        "changed": bool(done.actions),
        "actions": done.actions,
        "name": paths.name,
        "environment_id": done.environment_id,
        "path": receipt["paths"]["environment"],
        "stack": receipt.get("stack") or {},
        "current": done.current,
        "previous": done.previous,
        "staged": done.staged,
        **{key: receipt[key] for key in ("python", "packages", "modules", "paths")},
        "removed": done.prune,
        "in_use": done.in_use,
        "warnings": done.warnings,
        "diff": {"before": before, "after": after},
    }


def absent(options: Options, run: Run) -> Facts:
    """Remove all environments of this name and everything that was created for them."""
    paths = options.paths
    before = observation.summary(paths)
    receipt = observation.last_receipt(paths)
    created = observation.created(paths)
    files = [
        path
        for path in dict.fromkeys([paths.activate, paths.launcher, paths.kernel, *receipt.get("files", [])])
        if os.path.lexists(path) and not path.startswith(paths.directory + os.sep)
    ]
    changed = bool(os.path.lexists(paths.directory) or files or receipt)
    if changed:
        users = processes_using([paths.directory])[paths.directory]
        if users:
            pid, command = sorted(users.items())[0]
            raise SparkforgeError(
                f"The environment {paths.name} is used by {len(users)} process(es), such as {pid} ({clip(command)}).",
                "Stop them first.",
            )
    if changed and not options.check_mode:
        from . import apply

        with receipts.lock(paths.root, paths.receipt_name, apply.LOCK_WAIT):
            for path in files:
                apply.remove_file(path, directory=os.path.basename(path) == "kernel.json")
            disk.remove(paths.directory)
            apply.remove_unused_wheels(paths)
            access.remove(paths, created, run)
            receipts.remove(paths.root, paths.receipt_name)
        for directory in reversed(created["directories"]):
            disk.remove_empty(directory)
    return {
        "changed": changed,
        "name": paths.name,
        "environment_id": None,
        "diff": {"before": before, "after": {} if changed else before},
    }
