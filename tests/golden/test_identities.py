"""The identities of the shipped stacks and roles: if an id changes by accident, a whole fleet builds or installs again.

After a change that is meant to alter them (a new stack, another pin), rerun ``COMMAND`` and say so in the changelog.
"""

import hashlib
import json
import typing as t
from pathlib import Path

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.sparkforge.dgx_spark.plugins.lookup.plan import LookupModule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import environment, requirement
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import pytorch, torch_extensions, triton
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

from tests.unit import composed_spark

COLLECTION = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "identities.json"
#: Every stack in a shipped file, including the lab's.
STACKS = sorted(
    path.stem
    for directory in ("roles/stack/vars", "inventory/stacks")
    for path in (COLLECTION / directory).glob("*.yml")
    if path.stem != "profiles"
)
#: Writes this test's record and the table of stacks in docs/reference.md.
COMMAND = "python -m lab.stacks"
# A builder, as described in the fingerprint.
TOOLS = {"cc": "gcc 13", "cmake": "3.28", "ninja": "1.11", "nvcc": "13.0", "python": "cp312"}
#: New enough for every stack.
LIBRARIES = {
    "libcudnn9-dev-cuda-13": "9.99.0.1-1",
    "libnccl-dev": "2.99.1-1+cuda13.0",
    # NVPL does not exist for x86-64.
    "libopenblas-dev": "0.3.26",
}
#: The roles that build, in the order used by playbooks/tasks/build_units.yml.
ROLES = ("llvm", "triton", "pytorch", "torch_extensions")
CASES = [(name, method) for name in STACKS for method in ("build", "wheel")]


def stack_of(name: str, method: str, lock_required: bool = False) -> dict[str, t.Any]:
    """Return the fact ``stack`` for a shipped stack."""
    where = load.SearchPaths(
        stacks=(str(COLLECTION / "inventory/stacks"), str(COLLECTION / "roles/stack/vars")),
        locks=(str(COLLECTION / "roles/stack/files/locks"),),
        profiles=str(COLLECTION / "roles/stack/vars/profiles.yml"),
    )
    return t.cast("dict[str, t.Any]", facts.facts(name, method, "gb10", where, lock_required=lock_required)["stack"])


def missing_in_lock(name: str, method: str) -> list[str]:
    """Return the parts of the shipped lock that the method lacks. The lab's locks are written when the lab starts."""
    try:
        stack_of(name, method, lock_required=True)
    except SparkforgeError as error:
        return [str(problem) for problem in error.details.get("problems") or [error.cause]]
    return []


def identities(name: str, method: str) -> dict[str, t.Any]:
    """Return the ids and digests of a stack with a method."""
    stack = stack_of(name, method)
    text = json.dumps(stack, sort_keys=True, separators=(",", ":"))
    identities: dict[str, t.Any] = {
        "lock_id": stack["lock"]["id"],
        "facts": hashlib.sha256(text.encode()).hexdigest()[:16],
    }
    if missing_in_lock(name, method):
        identities["lock_complete"] = False
    return {**identities, **{machine: _of_machine(stack, machine) for machine in stack["machines"]}}


def _of_machine(stack: dict[str, t.Any], machine: str) -> dict[str, t.Any]:
    platform = f"cp{stack['python']['version'].replace('.', '')}-linux-{machine}"
    lines = stack["lock"]["wheels"].get(platform) or []
    canonical = [requirement.parse_requirement(line).line for line in lines]
    version = tuple(int(part) for part in stack["python"]["version"].split("."))
    machine_identities: dict[str, t.Any] = {}
    if canonical:
        machine_identities["environment"] = environment.fingerprint((version[0], version[1]), machine, canonical, [])[
            :16
        ]
    if stack["method"] == "build":
        machine_identities.update(fingerprints(stack, machine))
    return machine_identities


def fingerprints(stack: dict[str, t.Any], machine: str = "aarch64") -> dict[str, str]:
    """Return each unit's fingerprint, as its role requests it on a Spark that has all libraries."""
    host = composed_spark.spark(machine)
    host["apt"]["packages"].update(LIBRARIES)
    variables = {
        "inventory_hostname": "spark01",
        "ansible_facts": {"spark_info": host},
        "ansible_check_mode": False,
        "stack": stack,
        "torch_extensions_names": [name for name in stack["units"] if name not in facts.CORE_UNITS],
    }
    loader, fingerprint_of = DataLoader(), {}
    for role in ROLES:
        unit = stack["units"].get(role)
        if role != "torch_extensions" and not (unit and unit["source"]):
            continue
        [plan] = LookupModule(loader, Templar(loader, variables)).run([role], variables)
        assert plan["refused"] == "", f"{role} of {stack['name']}: {plan['refused']}"
        for options in [*plan["steps"].get("before", []), *plan["steps"].get("units", [])]:
            fingerprint_of[options["name"]] = _fingerprint(options, machine)
    return fingerprint_of


def _fingerprint(options: dict[str, t.Any], machine: str) -> str:
    unit = model.Unit.from_options(options)
    inputs = unit.inputs(
        identity={"commit": str(unit.source.get("version") or unit.source.get("sha256"))},
        tools=TOOLS,
        platform=f"ubuntu24.04-{machine}",
        depends={depend.name: "0" * 16 for depend in unit.depends},
        digest={str(number): str(edit) for number, edit in enumerate(unit.edits)},
    )
    return model.fingerprint(inputs)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_stack_keeps_its_identities(name: str, method: str) -> None:
    recorded = json.loads(RECORDED.read_text()).get(f"{name} {method}", f"not recorded: {COMMAND}")
    assert identities(name, method) == recorded


def test_identities_are_recorded_for_shipped_stacks_only() -> None:
    assert set(json.loads(RECORDED.read_text())) == {f"{name} {method}" for name, method in CASES}, COMMAND


def _with_one_more(function: t.Callable[..., dict[str, t.Any]], *keys: str) -> t.Callable[..., dict[str, t.Any]]:
    """Return ``function`` with an additional variable in the mapping at ``keys``."""

    def changed(*arguments: t.Any) -> dict[str, t.Any]:
        result = function(*arguments)
        container = result
        for key in keys:
            container = container[key]
        container["SILENT_REBUILD"] = "1"
        return result

    return changed


def _more_of_triton(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(triton, "_of_role", _with_one_more(triton._of_role, "environment"))


def _more_of_the_extensions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(torch_extensions, "_of_role", _with_one_more(torch_extensions._of_role, "*", "environment"))


def _more_of_pytorch(patch: pytest.MonkeyPatch) -> None:
    options = pytorch._options

    def changed(build: t.Any) -> None:
        options(build)
        build.environment["SILENT_REBUILD"] = "1"

    patch.setattr(pytorch, "_options", changed)


def _more_of_llvm(patch: pytest.MonkeyPatch) -> None:
    own = LookupModule._own

    def changed(lookup: LookupModule, role: str) -> dict[str, t.Any]:
        plan = own(lookup, role)
        if role == "llvm":
            plan["__llvm_built"]["cmake_args"].append("-DSILENT=1")
        return plan

    patch.setattr(LookupModule, "_own", changed)


@pytest.mark.parametrize(
    ("change", "units"),
    [
        (_more_of_llvm, {"llvm"}),
        (_more_of_triton, {"triton"}),
        (_more_of_pytorch, {"pytorch"}),
        (_more_of_the_extensions, {"torchvision", "torchaudio", "flash_attention"}),
    ],
)
def test_a_flag_more_of_a_role_is_another_identity(change, units, monkeypatch: pytest.MonkeyPatch):
    stack = stack_of("torch-2.14.1", "build")
    before = json.loads(RECORDED.read_text())["torch-2.14.1 build"]["aarch64"]
    change(monkeypatch)
    assert {name for name, mark in fingerprints(stack).items() if mark != before[name]} == units


def record() -> str:
    """Return the text of the record for the currently shipped files."""
    return json.dumps({f"{name} {method}": identities(name, method) for name, method in CASES}, indent=2) + "\n"
