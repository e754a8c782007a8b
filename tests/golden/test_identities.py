# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The identities of what is shipped: an id that changes by accident makes a whole fleet build or install again.

After a change that is meant to alter them (a new stack, another pin), write them anew and say so in the changelog:
``PYTHONPATH=.collections python -m tests.golden.test_identities > tests/golden/identities.json``.
"""

from __future__ import annotations

import hashlib
import json
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import naming
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import requirement
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans.units import units
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

COLLECTION = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "identities.json"
STACKS = ("torch-2.9.1", "torch-2.14.1", "torch-2.15.0", "vllm-0.33.0", "sglang-0.5.23", "cpu", "lab", "lab-native")
# What cannot be had from the lock that is shipped, of which the pins are taken as they are.
WITHOUT_LOCK = {
    ("torch-2.15.0", "build"),
    ("cpu", "build"),
    ("vllm-0.33.0", "build"),
    ("sglang-0.5.23", "build"),
    ("torch-2.9.1", "wheel"),
}
# A builder, as the fingerprint sees it.
TOOLS = {"cc": "gcc 13", "cmake": "3.28", "ninja": "1.11", "nvcc": "13.0", "python": "cp312"}
CASES = [(name, method) for name in STACKS for method in ("build", "wheel")]


def identities(name: str, method: str) -> dict[str, t.Any]:
    """Return what one stack and method stand for: ids and digests alone."""
    where = load.Places(
        stacks=(str(COLLECTION / "inventory/stacks"), str(COLLECTION / "roles/stack/vars")),
        locks=(str(COLLECTION / "roles/stack/files/locks"),),
        profiles=str(COLLECTION / "roles/stack/vars/profiles.yml"),
    )
    # The lab's locks are written when it comes up.
    required = not name.startswith("lab") and (name, method) not in WITHOUT_LOCK
    stack = facts.facts(name, method, "gb10", where, lock_required=required)["stack"]
    text = json.dumps(stack, sort_keys=True, separators=(",", ":"))
    found = {"lock_id": stack["lock"]["id"], "facts": hashlib.sha256(text.encode()).hexdigest()[:16]}
    return {**found, **{machine: _of_machine(stack, machine) for machine in stack["machines"]}}


def _of_machine(stack: dict[str, t.Any], machine: str) -> dict[str, t.Any]:
    platform = f"cp{stack['python']['version'].replace('.', '')}-linux-{machine}"
    lines = stack["lock"]["wheels"].get(platform) or []
    canonical = [requirement.parse_requirement(line).line for line in lines]
    version = tuple(int(part) for part in stack["python"]["version"].split("."))
    found: dict[str, t.Any] = {}
    if canonical:
        found["environment"] = naming.fingerprint((version[0], version[1]), machine, canonical, [])[:16]
    if stack["method"] == "build":
        known = {name: unit for name, unit in stack["units"].items() if unit["source"]}
        for options in units(list(known), [known], platform):
            unit = model.Unit.from_options(options)
            inputs = unit.inputs(
                identity={"commit": str(unit.source.get("version") or unit.source.get("sha256"))},
                tools=TOOLS,
                platform=f"ubuntu24.04-{machine}",
                depends={depend.name: "0" * 16 for depend in unit.depends},
                digest={str(number): str(edit) for number, edit in enumerate(unit.edits)},
            )
            found[unit.name] = model.fingerprint(inputs)
    return found


@pytest.mark.parametrize(("name", "method"), CASES)
def test_what_is_shipped_keeps_its_identities(name: str, method: str) -> None:
    assert identities(name, method) == json.loads(RECORDED.read_text())[f"{name} {method}"]


if __name__ == "__main__":
    json.dump({f"{name} {method}": identities(name, method) for name, method in CASES}, sys.stdout, indent=2)
    sys.stdout.write("\n")
