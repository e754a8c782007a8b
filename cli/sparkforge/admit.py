"""The commands `sparkforge run` and `sparkforge top`: start a command if it fits in memory, and show memory use."""

from __future__ import annotations

import argparse
import os
import shlex

from sparkforge import Exit, Refusal, inventory, module, top as fleet_top
from sparkforge.terminal import Console


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Replace this process with the command after ``--`` if it fits in memory.

    :raises Refusal: if it does not fit, its memory is unknown, or there is no command.
    """
    guard = module("plugins.plugin_utils.programs").GUARD
    admission, errors = guard.module("admission"), guard.module("_shared.module_utils._core.errors")
    command: list[str] = arguments.further
    if not command:
        raise Refusal(Exit.USAGE, "No command was given.", "Write it after --: sparkforge run -- vllm serve DIRECTORY")
    try:
        verdict = admission.admit(command, arguments.needs or "")
    except errors.SparkforgeError as error:
        console.print(*error.details.get("said", ()), sep="\n", soft_wrap=True)
        # Only the error for a command that does not fit contains figures.
        code = Exit.FAILED if error.details else Exit.USAGE
        raise Refusal(code, error.cause, error.remedy) from None
    console.print(*verdict.lines, sep="\n", soft_wrap=True)
    if arguments.dry_run:
        console.print(f"The command fits in memory and would start: {shlex.join(command)}", soft_wrap=True)
        return Exit.DONE
    if verdict.answer == admission.DROP:
        path = admission.model_of(admission.engine_of(command), command)
        dropped = admission.drop_caches(os.path.realpath(path) if path else "")
        console.print(f"Dropped before the start: {dropped}", soft_wrap=True)
    # Compilers that run on first use ignore how much memory is free (flashinfer#3634).
    os.environ.setdefault("MAX_JOBS", str(verdict.jobs))
    try:
        os.execvp(command[0], command)  # noqa: S606 - is what was asked for
    except OSError as error:
        cause = f"{command[0]} cannot be started: {error.strerror}."
        raise Refusal(Exit.USAGE, cause, "Correct the command.") from None


def top(arguments: argparse.Namespace, console: Console) -> int:
    """Show the hosts in the inventory, or this machine if there is no inventory."""
    path = arguments.inventory or inventory.default_path()
    group = inventory.load(path).get("all", {}).get("children", {}).get("sparks", {})
    hosts = {name: {**(group.get("vars") or {}), **(own or {})} for name, own in (group.get("hosts") or {}).items()}
    limit = arguments.limit.split(",") if arguments.limit else hosts
    selected = {name: variables for name, variables in hosts.items() if name in limit}
    this_machine = {} if hosts else {"here": {"ansible_connection": "local"}}
    if not (selected or this_machine):
        raise Refusal(Exit.USAGE, f"{path} has no host {arguments.limit}.", "Give -l hosts of this inventory.")
    folder = path.absolute().parent
    if arguments.dry_run:
        for name, variables in (selected or this_machine).items():
            console.print(f"+ {shlex.join(fleet_top.command(name, variables, folder))}", soft_wrap=True)
        console.print("Nothing was run or written.")
        return Exit.DONE
    return fleet_top.show(selected or this_machine, folder, console, arguments.once)
