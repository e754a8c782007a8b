# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pip, venv and the first imports say when they fail: one cause and one remedy."""

from __future__ import annotations

import re

from .._core.errors import SparkforgeError
from .._diagnosis.names import FACTS
from .._diagnosis.rules import memory, pip as pip_rules
from .._diagnosis.table import explain, load
from .._elf import providers
from .._wheel.requirement import short

_RULES = load(memory, pip_rules, facts=FACTS)


def pip_failure(output: str) -> SparkforgeError:
    """Return the one cause and remedy behind what pip wrote when it failed."""
    details = {"pip_output": "\n".join(output.strip().splitlines()[-25:])}
    known = explain(output, _RULES)
    if known is not None:
        return SparkforgeError(known.cause, known.remedy, diagnosis=known.rule, **details)
    errors = re.findall(r"^ERROR: (.*)", output, re.MULTILINE)
    last = errors[0] if errors else (output.strip().splitlines() or ["no message"])[-1]
    return SparkforgeError(f"pip failed: {short(last.rstrip('.'))}.", "See pip_output; nothing was changed.", **details)


def venv_failure(python: str, version: tuple[int, int], output: str) -> SparkforgeError:
    """Return the cause and remedy behind what making a virtual environment wrote when it failed."""
    details = {"stderr": "\n".join(output.strip().splitlines()[-10:])}
    if "No space left on device" in output:
        return SparkforgeError(
            "The file system of the environment has no space left.", "Free space below the root.", **details
        )
    dotted = f"{version[0]}.{version[1]}"
    if "ensurepip" in output or "No module named 'venv'" in output:
        return SparkforgeError(
            f"{python} cannot create virtual environments: its modules venv and ensurepip are not installed.",
            f"Run the role build_toolchain, or: apt install python{dotted}-venv",
            **details,
        )
    last = (output.strip().splitlines() or ["no message"])[-1]
    return SparkforgeError(
        f"{python} cannot create a virtual environment: {short(last)}.",
        f"Check that {python} is a working CPython {dotted}.",
        **details,
    )


def import_failure(module: str, error: str, machine: str = "aarch64") -> SparkforgeError:
    """Return the cause and remedy of an import that failed in the finished environment."""
    match = re.search(r"(lib[\w+.-]+\.so[\w.]*): cannot open shared object file", error)
    remedy = "The environment was not activated; correct the lock, or install the missing library, and run again."
    if match:
        role = providers.provider(match.group(1), machine).role
        provider = {None: "Find out", "driver": "The GPU driver provides it; find"}.get(
            role, f"Run the role {role}, which installs it; find"
        )
        remedy = f"{provider} everything that is missing with elf_closure_info on the package's directory."
    elif "undefined symbol" in error:
        remedy = "The package was built against another version of its dependency: lock compatible versions."
    return SparkforgeError(f"import {module} failed: {short(error)}.", remedy, error=error)
