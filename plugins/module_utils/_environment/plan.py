"""Plan the changes that make a host's environment match the options.

Planning writes nothing. If nothing has to change, it also starts no process and downloads nothing: receipts and a few
directory listings are enough to recognise a converged environment.
"""

from __future__ import annotations

import dataclasses
import os
import typing as t

from .._core import disk, unprivileged
from .._core.errors import SparkforgeError
from .._wheel.environment import LINKS, OWN_ALONE, SCHEMA, Own, Receipt
from .._wheel.wheel import Wheel
from . import access, observation, render, tree
from .identity import Identity, identify
from .model import Options, Run

#: A function that compares the host's packages with a receipt: (misfits, newer packages), see ``apt_compat``.
Misfit = t.Callable[[t.Mapping[str, str]], tuple[list[str], list[str]]]


@dataclasses.dataclass
class Plan:
    """The actions, computed before the first one is taken; without actions nothing changes."""

    identity: Identity
    previous: str | None = None
    #: The targets of ``current`` and ``staged`` after the actions.
    current: str | None = None
    staged: str | None = None
    actions: list[str] = dataclasses.field(default_factory=list)
    missing_wheels: list[Wheel] = dataclasses.field(default_factory=list)
    #: The receipt in the environment, except for facts that only an installation shows.
    own: Own = dataclasses.field(default_factory=Own)
    receipt: Receipt = dataclasses.field(default_factory=Receipt)
    files: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    links: dict[str, str] = dataclasses.field(default_factory=dict)
    stale_files: list[str] = dataclasses.field(default_factory=list)
    prune: list[str] = dataclasses.field(default_factory=list)
    in_use: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    leftovers: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    #: The group's members after the actions.
    members: list[str] = dataclasses.field(default_factory=list)

    @property
    def environment_id(self) -> str:
        return self.identity.environment_id

    @property
    def stages(self) -> bool:
        """Whether the environment is created but not switched to."""
        return self.staged == self.environment_id


def plan(options: Options, run: Run, misfit: Misfit | None = None) -> Plan:
    """Compare the requested environment with the host.

    :param run: a function to run an interpreter whose file name does not contain its version, and nothing else.
    :param misfit: a function that compares the host's packages, or None to skip that.
    :raises SparkforgeError: if the request cannot be fulfilled.
    :raises UndeterminedError: in check mode, if the plan depends on an earlier step that has not run.
    """
    paths = options.paths
    plan = Plan(identify(options, run))
    own = observation.own_receipt(paths, plan.environment_id)
    if own and own["fingerprint"] != plan.identity.fingerprint:
        raise SparkforgeError(
            f"The id {plan.environment_id} already belongs to an environment of {paths.name} with other inputs.",
            "Use another environment_id, or omit it to derive it from the inputs.",
        )
    damage = ", ".join(tree.missing_files(paths.of(plan.environment_id), own)[:5]) if own else ""
    if damage and not options.installs:
        raise SparkforgeError(
            f"The environment {plan.environment_id} of {paths.name} is damaged ({damage} is missing).",
            "Set its requirements, so that it can be reinstalled.",
        )
    if own is None or damage:
        remedy = "Choose an interpreter that every account can run, such as /usr/bin/python3."
        unprivileged.check_open(plan.identity.python, "The interpreter", remedy)
        remedy = "Set root to a directory that every account can enter, such as /opt/sparkforge."
        unprivileged.check_open(paths.of(plan.environment_id), "The environment", remedy)
        plan.actions.append(f"repair ({damage} is missing)" if own else "install")
        plan.missing_wheels = [wheel for wheel in plan.identity.wheels if not os.path.isfile(wheel.path)]
        own = None
    # An unset option keeps the environment's value; a new environment has none.
    libraries = options.library_paths if options.library_paths is not None else (own or {}).get("library_paths", [])
    values = options.environment if options.environment is not None else (own or {}).get("environment", {})
    proven = own is not None and own["library_paths"] == libraries and own["environment"] == values
    modules = own["modules"] if own else {}
    check_cuda(options, modules)
    if own and (not proven or any(name not in modules for name in options.imports)):
        plan.actions.append("prove")
    environments = observation.environments(paths)
    _plan_links(plan, options, environments)
    _plan_files(plan, options, own, libraries, values)
    # Access depends on the current environment.
    if (not plan.stages or plan.current is None) and access.is_wrong(options):
        plan.actions.append("access")
    plan.members = sorted({*observation.members_of(options.group), *access.missing_members(options)})
    if own and "switch" in plan.actions and not options.installs:
        newer = _check_fit(options, plan.environment_id, own, misfit)
        if newer:
            plan.warnings.append(f"The environment must be proven again: {'; '.join(newer)}.")
    if options.state != "previous":
        _plan_removals(plan, options, environments)
    if own and options.stack and own.get("stack") != options.stack:
        plan.actions.append("stack")
        own["stack"] = dict(options.stack)
    plan.own = own or _new_receipt(plan.identity, options)
    plan.receipt = _receipt(plan, options, libraries, values)
    if not plan.actions and not plan.stages and observation.last_receipt(paths) != plan.receipt:
        plan.actions.append("receipt")
    return plan


def check_cuda(options: Options, modules: t.Mapping[str, t.Any]) -> None:
    """Refuse a torch without CUDA if CUDA is required.

    :param modules: the facts about each imported module.
    """
    torch = modules.get("torch")
    if options.require_cuda and torch and torch.get("cuda") is None:
        raise SparkforgeError(
            f"torch {torch.get('version')} is a CPU build (torch.version.cuda is None).",
            "Lock a CUDA build: the index's aarch64 wheels are CUDA builds since torch 2.11; for older ones use "
            "PyTorch's own CUDA index, or build from source (stack_method: build).",
        )


def _plan_links(plan: Plan, options: Options, environments: list[str]) -> None:
    """Set the targets of the three links; a link whose target is missing counts as absent."""
    current, previous, staged = (observation.link(options.paths, name) for name in LINKS)
    if not options.switch and current != plan.environment_id:
        plan.current = current if current in environments else None
        plan.previous = previous if previous in environments else None
        plan.staged = plan.environment_id
        if staged != plan.environment_id:
            plan.actions.append("stage")
        return
    plan.current = plan.environment_id
    if current != plan.environment_id:
        plan.actions.append("switch")
        plan.previous = current if current in environments else None
    if plan.previous is None:
        plan.previous = previous if previous in environments and previous != plan.environment_id else None
    plan.staged = staged if staged in environments and staged != plan.environment_id else None
    if "switch" not in plan.actions:
        plan.actions += ["previous"] if previous != plan.previous else []
        plan.actions += ["staged"] if staged != plan.staged else []


def _plan_files(
    plan: Plan, options: Options, own: Own | None, libraries: list[str], values: t.Mapping[str, str]
) -> None:
    paths = options.paths
    environment = paths.of(plan.environment_id)
    activation = os.path.join(environment, "bin", "activate-sparkforge")
    plan.files = {activation: (render.render_activation(environment, paths.name, libraries, values), 0o644)}
    # The other files belong to the current environment.
    if not plan.stages:
        plan.files[paths.activate] = (render.render_stable_activation(paths.name, paths.current), 0o644)
        plan.files[paths.launcher] = (render.render_launcher(paths.name, paths.current), 0o755)
    if options.jupyter:
        names = [package.name for package in options.requirements] + [package.name for package in plan.identity.wheels]
        if render.has_ipykernel(own["packages"] if own else names):
            if not plan.stages:
                kernel = render.render_kernel(environment, paths.name, plan.environment_id, libraries, values)
                plan.files[paths.kernel] = (kernel, 0o644)
        elif not own:
            # Warn only when the environment is created, so that converged runs stay quiet.
            plan.warnings.append(
                f"The environment {paths.name} has no ipykernel, so no Jupyter kernel was written; "
                "add ipykernel to the requirements or set jupyter to false."
            )
    recorded = [] if plan.stages else observation.last_receipt(paths).get("files", [])
    plan.stale_files = [
        path
        for path in recorded
        if path not in plan.files and not path.startswith(paths.directory + os.sep) and os.path.lexists(path)
    ]
    plan.links = render.triton_links(environment, values) if own else {}
    if (
        any(not tree.has_content(path, *content) for path, content in plan.files.items())
        or plan.stale_files
        or plan.links
    ):
        plan.actions.append("files")


def _plan_removals(plan: Plan, options: Options, environments: list[str]) -> None:
    """Select debris and the older environments beyond ``keep`` for removal, except those in use."""
    paths = options.paths
    linked = (plan.environment_id, plan.current, plan.previous, plan.staged)
    others = [entry for entry in environments if entry not in linked]
    receipts = {entry: observation.own_receipt(paths, entry) for entry in others}
    unused = {entry: receipt["installed"] or "" for entry, receipt in receipts.items() if receipt is not None}
    kept_count = len({plan.current, plan.previous} - {None})
    newest = sorted(unused, key=lambda entry: unused[entry], reverse=True)
    debris = [entry for entry in others if entry not in unused]
    candidates = debris + newest[max(0, options.keep - kept_count) :]
    users = tree.processes_using([paths.of(entry) for entry in candidates])
    for entry in candidates:
        pids = users[paths.of(entry)]
        if pids:
            plan.in_use[entry] = sorted(pids)
        else:
            plan.prune.append(entry)
    plan.leftovers = [entry for entry in disk.names(paths.directory) if entry.startswith(".")]
    if plan.prune or plan.leftovers:
        plan.actions.append("remove")


def _check_fit(options: Options, environment_id: str, own: Own, misfit: Misfit | None) -> list[str]:
    """Refuse an environment that no longer fits the host's libraries; return the libraries that are newer than before.

    :raises SparkforgeError: if a library does not fit; the error names each one.
    """
    recorded = own.get("host_packages") or {}
    misfits, newer = misfit(recorded) if recorded and misfit else ([], [])
    faults = [*(f"{path} is gone" for path in own["library_paths"] if not os.path.isdir(path)), *misfits]
    if faults:
        stack = (own.get("stack") or {}).get("name")
        hint = f" (stack_name: {stack})" if stack else ""
        raise SparkforgeError(
            f"The host's libraries no longer fit the environment {environment_id} of {options.paths.name}: "
            f"{'; '.join(faults)}.",
            f"Reinstall them with playbooks/libraries.yml and that environment's stack{hint}, then roll back; or keep "
            f"the current environment.",
        )
    return newer


def _new_receipt(identity: Identity, options: Options) -> Own:
    """Return the receipt of an environment to be created, as far as it is known beforehand."""
    own = Own(
        schema=SCHEMA,
        environment_id=identity.environment_id,
        fingerprint=identity.fingerprint,
        python={"path": identity.python, "version": f"{identity.version[0]}.{identity.version[1]}"},
        machine=options.machine,
        requirements=[requirement.line for requirement in options.requirements],
        wheels=[wheel.as_pin() for wheel in identity.wheels],
        packages={},
        modules={},
        installed=None,
        stack=dict(options.stack or {}),
        host_packages={},
    )
    # Add the key only if needed, so that it does not change receipts from older versions.
    return {**own, "override": sorted(options.override)} if options.override else own


def _receipt(plan: Plan, options: Options, libraries: list[str], values: dict[str, str]) -> Receipt:
    """Return the future receipt of the current environment, except for facts that only an installation shows."""
    paths, created = options.paths, observation.created(options.paths)
    environment = paths.of(plan.environment_id)
    own_receipt = t.cast("Receipt", {key: value for key, value in plan.own.items() if key not in OWN_ALONE})
    return {
        **own_receipt,
        "name": paths.name,
        "previous": plan.previous,
        "library_paths": libraries,
        "environment": values,
        "group": options.group,
        "jupyter": bool(options.jupyter),
        "group_created": created["group_created"] and created["group"] == options.group,
        "members_added": created["members_added"],
        "paths": {
            "environment": environment,
            "python": os.path.join(environment, "bin", "python"),
            "current": paths.current,
            "activate": paths.activate,
            "launcher": paths.launcher,
            "kernel": paths.kernel if paths.kernel in plan.files else None,
        },
        "files": sorted(plan.files),
        # The directories that were created for this environment and are removed with it, outermost first.
        "directories": created["directories"],
    }
