"""The scenarios: each prepares a host and names the playbook that converges it and that is disturbed."""

import json
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from lab import stand_ins
from lab.host import LabError, repositories
from lab.repositories import Repository
from tests.chaos.machine import Machine

Variables = dict[str, object]


def run(machine: Machine, playbook: Path | str, variables: Variables) -> None:
    """Run a playbook that must succeed."""
    log = machine.folder / "prepare.log"
    if machine.play(playbook, variables, log).wait():
        raise LabError(f"{playbook} fails while a scenario is prepared:\n{log.read_text()[-3000:]}")


@dataclass(frozen=True)
class Scenario:
    """How a host is prepared, and the playbook that is then run on it repeatedly."""

    name: str
    prepare: Callable[[Machine], None]
    playbook: Callable[[Machine], Path | str]
    variables: Callable[[Machine], Variables] = lambda _machine: {}


def _trust(machine: Machine) -> None:
    run(machine, machine.roles("network_access"), {})


# --- archives: cuDSS 0.7.1 is installed and is upgraded to 0.8.0


def _archives(machine: Machine) -> None:
    _trust(machine)
    run(machine, machine.roles("math_libraries"), {})
    tree = Path(machine.bench.mirror["wheels"]).parent / "compute/cudss/redist"
    system = "linux-x86_64" if platform.machine() == "x86_64" else "linux-sbsa"
    manifest = json.loads((tree / "redistrib_0.8.0.json").read_text())["libcudss"]
    pins = {
        "release": "0.8.0",
        "version": manifest["version"],
        "sha256": {system: manifest[system]["cuda13"]["sha256"]},
    }
    definition = yaml.safe_load((machine.inventory / "stacks/lab-native.yml").read_text())
    lock = yaml.safe_load((machine.inventory / "locks/lab-native.yml").read_text())
    definition["stack_definition"]["archives"][0] |= {"release": "0.8.0", "version": manifest["version"]}
    lock["stack_lock"]["stack"], lock["stack_lock"]["archives"]["libcudss"] = "chaos-next", pins
    (machine.inventory / "stacks/chaos-next.yml").write_text(yaml.safe_dump(definition))
    (machine.inventory / "locks/chaos-next.yml").write_text(yaml.safe_dump(lock))


def _next(_machine: Machine) -> Variables:
    return {"stack_name": "chaos-next"}


# --- packages: apt's source, and a few of its packages


def _packages(machine: Machine) -> None:
    _trust(machine)
    machine.execute("apt-get update -q")


# --- environment: one is current, and another, with a wheel from the controller, replaces it


def _venv(machine: Machine) -> None:
    _trust(machine)
    machine.execute("apt-get -qq update && apt-get -qq install --no-install-recommends -y python3-venv")


def _environment(machine: Machine) -> None:
    _venv(machine)
    run(machine, machine.roles("python_env"), {})


def _kernel(machine: Machine) -> Variables:
    folder = machine.folder / "wheels"
    folder.mkdir(exist_ok=True)
    return {"python_env_wheels": [str(stand_ins.write_wheel(folder, "ipykernel", "7.0.0", {"ipykernel.py": ""}))]}


def _two(machine: Machine) -> None:
    _environment(machine)
    run(machine, machine.roles("python_env"), _kernel(machine))


def _first(machine: Machine) -> Variables:
    """Roll back to the older environment, the same one each time."""
    names = machine.execute("ls -tr /opt/sparkforge/envs/torch").split()
    first = next(name for name in names if name not in ("current", "previous", "staged"))
    return {"rollback_environment_id": first, "verify_paths": [], "verify_sonames": []}


# --- build: a small CMake library, from a repository on the mirror

SOURCE = {
    "CMakeLists.txt": b"""cmake_minimum_required(VERSION 3.18)
project(chaos CXX)
add_library(chaos SHARED one.cpp two.cpp)
install(TARGETS chaos LIBRARY DESTINATION lib)
""",
    **{f"{name}.cpp": f"#include <string>\nstd::string {name}() {{ return {name!r}; }}\n".replace("'", '"').encode()
       for name in ("one", "two")},
}  # fmt: skip


def _unit(machine: Machine) -> Path:
    final = repositories() / "chaos.git"
    if not final.exists():
        partial = final.with_name(f".chaos-{machine.bench.id}")
        Repository(partial).commit(SOURCE, "Return two words", tag="v1")
        partial.rename(final)
    unit = {
        "kind": "cmake",
        "source": {"repo": f"{machine.bench.mirror['url']}/git/chaos.git", "version": "v1"},
        "memory_per_job": 512,
        "memory_reserve": 512,
    }
    task = {"sparkforge.dgx_spark.source_build": {"name": "chaos", "user": "sparkforge", "unit": unit}}
    return machine.play_of("build", {"roles": ["sparkforge.dgx_spark.stack"], "tasks": [task]})


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("archives", _archives, lambda machine: machine.roles("math_libraries"), _next),
        Scenario("cusparselt", _packages, lambda machine: machine.roles("cusparselt")),
        Scenario("sources", _packages, lambda machine: machine.roles("cuda_libraries")),
        Scenario("environment", _environment, lambda machine: machine.roles("python_env"), _kernel),
        Scenario("switch", _two, lambda _: "rollback", _first),
        Scenario("build", _trust, _unit),
    )
}  # fmt: skip
