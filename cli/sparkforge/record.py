"""Makes `sparkforge-record.pyz`, which records the machine that it runs on, and runs it here or on the Sparks."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sparkforge import Exit, Refusal, collection, module
from sparkforge.terminal import Console

NAME = "sparkforge-record.pyz"
#: A host about which nothing is known, so a plan requests all of its packages.
BARE = {"apt": {"packages": {}}, "apt_sources": [], "managed_files": {}, "driver": {}, "kernel": {"machine": "aarch64"}}


def build(path: Path) -> None:
    """Write the archive: the recorder, the proof, and the lists of packages that a run would install with apt."""
    programs, errors = module("plugins.plugin_utils.programs"), module("plugins.module_utils._core.errors")
    defaults = yaml.safe_load((collection() / "roles/stack/defaults/main.yml").read_text())
    try:
        programs.write(path, programs.recorder(packages(defaults)))
    except errors.SparkforgeError as error:
        raise Refusal(Exit.FAILED, error.cause, error.remedy) from error


def packages(defaults: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the packages for official wheels and for a build, as in the roles' plans."""
    from ansible.parsing.dataloader import DataLoader
    from ansible.template import Templar

    lookup, facts, load = (
        module(f"plugins.{name}") for name in ("lookup.plan", "plugin_utils.stack.facts", "plugin_utils.stack.load")
    )

    def steps(method: str, role: str) -> dict[str, Any]:
        name, paths = defaults["stack_default"], load.search_paths([], load.SHIPPED)
        stack = facts.facts(name, method, defaults["stack_profile"], paths, lock_required=False)["stack"]
        loader, known = DataLoader(), {"stack": stack, "ansible_facts": {"spark_info": BARE}}
        steps: dict[str, Any] = lookup.LookupModule(loader, Templar(loader, known)).run([role], known)[0]["steps"]
        return steps

    wheels = steps("wheel", "build_toolchain")
    libraries, tools = (steps("build", role) for role in ("cuda_libraries", "build_toolchain"))
    return {"wheels": wheels["packages"], "build": [*libraries["libraries"]["packages"], *tools["packages"]]}


def options(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments to pass to the archive."""
    python = ["--python", arguments.python] if arguments.python else []
    return [*python, *(["--prove"] if arguments.prove else [])]


def record_this_machine(arguments: argparse.Namespace, console: Console, archive: Path) -> int:
    """Record this machine with an existing archive, without Ansible."""
    command = [sys.executable, str(archive), *options(arguments)]
    if arguments.dry_run:
        console.print(f"+ {shlex.join(command)}\nNothing was run or written.", soft_wrap=True)
        return Exit.DONE
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    build(Path(sys.argv[1]))
