"""The phase prepare: the virtual environment for the build."""

from __future__ import annotations

import os

from ..._core import disk
from ..._core.errors import SparkforgeError
from ..._wheel import requirement
from .. import commands, toolchain
from ..attempt import Attempt

#: pip's configuration files; the account has none of its own.
_PIP_CONFIGURATIONS = ("/etc/pip.conf", "/etc/xdg/pip/pip.conf")


def run(attempt: Attempt) -> None:
    """Create the build environment from pinned requirements and the units it depends on."""
    paths, unit = attempt.paths, attempt.unit
    if unit.kind == "cmake" and not unit.requirements:
        return
    directory = paths.inside("environment")
    disk.remove(directory)
    commands.run(attempt, [unit.python, "-m", "venv", directory])
    pip = [attempt.python, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--progress-bar=off"]
    if unit.requirements:
        # Put the requirements into a file that only the account can read, because arguments appear in ps and in the
        # log, and a URL may contain a password.
        requirements_file = paths.inside("requirements.txt")
        lines = [requirement.place_option("find_links", link) for link in unit.find_links]
        if unit.index_url is None:
            _check_pip_configuration(attempt)
        else:
            lines.append(requirement.place_option("index_url", unit.index_url) if unit.index_url else "--no-index")
        disk.write_file(requirements_file, "\n".join([*lines, *unit.requirements, ""]).encode("utf-8"), 0o600)
        hashed = ["--require-hashes"] if all("--hash=" in line for line in unit.requirements) else []
        # --no-deps: the requirements are already the full closure, so nothing unpinned gets installed.
        commands.run(attempt, [*pip, *hashed, "--no-deps", "-r", requirements_file], network=True)
    wheels = [wheel["path"] for depend in attempt.request["depends"].values() for wheel in depend["wheels"]]
    if wheels:
        commands.run(attempt, [*pip, "--no-index", "--no-deps", *wheels])
    path = commands.build_environment(attempt, 1)["PATH"]
    brought = toolchain.observe({name: name for name in sorted(unit.brings)}, None, path)
    for name, tool in brought.tools.items():
        if name in unit.minimum:
            toolchain.check_minimum(
                tool, str(unit.minimum[name]), f"Require a newer {name} in the option requirements."
            )
    attempt.state.update(tools=brought.versions())


def _check_pip_configuration(attempt: Attempt) -> None:
    """Refuse a pip configuration that the account cannot read, because pip would ignore it silently."""
    own_file = commands.network_environment(attempt).get("PIP_CONFIG_FILE", os.devnull)
    for path in [*filter(os.path.exists, _PIP_CONFIGURATIONS), own_file]:
        if not os.access(path, os.R_OK):
            raise SparkforgeError(
                f"{path}, which sets the package index, is not readable by the build account.",
                "Make it readable for that account, or set the index (option index_url, variable "
                "python_env_index_url).",
            )
