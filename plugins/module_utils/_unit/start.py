"""Start the worker: check disk space and rights, copy its code and request to the build directory, and wait for it."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import typing as t

from .._core import build_account, bundle, detached, directories, disk, receipts as _receipt
from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import jobs, model, state_file, toolchain, worker

#: The name of the receipt for the build account, if the engine created that account.
ACCOUNT = "builds-account"


class Plan(t.NamedTuple):
    """All inputs of the fingerprint."""

    unit: model.Unit
    tools: toolchain.Toolchain
    depends: dict[str, dict[str, t.Any]]
    commit: str | None
    inputs: dict[str, t.Any]
    paths: model.Paths


def start(
    plan: Plan, account: build_account.BuildAccount, options: t.Mapping[str, t.Any], network: t.Mapping[str, str]
) -> None:
    """Start the worker.

    :param options: the options of ``source_build``.
    :param network: the variables from the task's environment that a fetch needs.
    :raises SparkforgeError: if it cannot start; the next call tries again.
    """
    unit, paths = plan.unit, plan.paths
    remedy = "Free space, or set sparkforge_root to a larger file system."
    directories.check_space(paths.root, unit.free_space << 20, f"The build of {unit.name}", remedy)
    memory = jobs.memory()
    # The worker computes its jobs again; this check refuses before anything is written.
    jobs.size_for(unit, memory)
    if account.create(paths.builds):
        _receipt.write(paths.root, ACCOUNT, {"name": account.name})
    account.check_interpreter(sys.executable)
    platform = os.path.dirname(os.path.dirname(paths.artefact))
    for directory in (os.path.dirname(platform), platform):
        # Root must own these: if the account could replace one with a link, the files inside would land elsewhere.
        build_account.make_owned_directory(directory, 0, 0)
    for directory in (paths.builds, os.path.dirname(paths.artefact)):
        account.own_directory(directory)
    # The receipt vouches for the current artefact, which the build will replace.
    disk.delete(paths.receipt)
    try:
        disk.make_directories(paths.log_root)
        account.own_file(paths.log)
    except OSError as error:
        raise SparkforgeError(
            f"The log {paths.log} cannot be written: {error.strerror}.",
            "Set become for this task, or the option log_root.",
        ) from error
    # Read the code first, as root: the account may not be able to read the files that Ansible sent.
    code = bundle.files(worker.__name__, ansible=True)
    with account.acting():
        disk.make_directories(paths.build_directory)
        if options["rebuild"]:
            # The worker recreates the tree, because only it can be sure that no other worker uses it.
            disk.remove(paths.inside("state.json"))
        attempts = state_file.state(paths.build_directory).get("attempts", 0)
        # Ansible deletes its own copy when the call returns. An archive gets no bytecode from a worker that still runs.
        engine = paths.inside("engine")
        disk.remove(engine)
        disk.write_file(engine, bundle.archive(code))
        _write_request(plan, options, network)
    program = f"import sys; sys.path.insert(0, {engine!r}); "
    program += f"from {worker.__name__} import main; sys.exit(main({paths.build_directory!r}))"
    reserve = unit.memory_reserve or jobs.reserve(memory.total_mib)
    detached.start(
        [sys.executable, "-I", "-c", program],
        account=account,
        service=paths.service,
        marker=paths.marker,
        log=paths.log,
        directory=paths.build_directory,
        # Do not list the subdirectories: each would become its own mount, and files cannot be renamed across mounts.
        writable=[paths.root],
        memory_mib=max(memory.total_mib - reserve, unit.memory_per_job),
    )
    # Until the worker has the lock, the state is an earlier attempt's. A short build may already have finished by then.
    detached.await_start(
        lambda: (
            state_file.is_running(paths.build_directory)
            or state_file.state(paths.build_directory).get("attempts", 0) > attempts
        ),
        paths.marker,
        account,
    )


def _write_request(plan: Plan, options: t.Mapping[str, t.Any], network: t.Mapping[str, str]) -> None:
    unit, paths = plan.unit, plan.paths
    source = unit.source.get("repo") or unit.source.get("archive")
    request = {
        "unit": dataclasses.asdict(unit),
        "paths": dataclasses.asdict(paths),
        "rebuild": bool(options["rebuild"]),
        "inputs": plan.inputs,
        "commit": plan.commit,
        "depends": plan.depends,
        "tools": {name: tool.path for name, tool in plan.tools.tools.items()},
        "versions": {**plan.tools.versions(), **unit.found_libraries},
        "shown_source": redact(str(source)),
        "override": options.get("override"),
    }
    # Both files may contain the password for an index or a proxy.
    disk.write_file(paths.inside("request.json"), json.dumps(request).encode("ascii"), 0o600)
    disk.write_file(paths.inside("network.json"), json.dumps(network).encode("ascii"), 0o600)
