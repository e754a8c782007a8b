"""The plan of the `python_env` role: the wheels of an environment, their sources, and the missing units."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._core import platforms
from ...module_utils._core.versions import older
from ...module_utils._wheel.names import normalised
from ...module_utils._wheel.requirement import split
from ...module_utils._wheel.wheel import Wheel, of_units
from ..stack.model import Stack
from . import Plan, archives, source_unit

#: Packages that are compiled against torch, so that only an import shows whether they match it.
COMPILED = ("torchaudio", "torchvision", "triton")
#: The units whose wheels an environment contains, in addition to the stack's extensions.
UNITS = ("triton", "pytorch")
REMEDY = "Run playbooks/build.yml with the builder or this host in the play, or set stack_method to wheel."


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the options of the module ``python_env``, and how the wheels reach the host.

    Steps: ``environment``, the module's options; ``credentials``, which no status prints; ``push``, the host whose
    wheels go through the controller. In check mode, a unit that is still to be built is a reason and not a refusal.

    ``sparkforge_manifest`` lists the wheels built here or elsewhere with their sha256; their other requirements are in
    the lock.
    """
    stack: Stack = settings["stack"]
    if refused := replaces_newer(settings, observation):
        return Plan(refusals=[refused])
    platform = platforms.locked(stack["python"]["version"], observation["kernel"]["machine"])
    chosen = list(settings["python_env_requirements"])
    from_units = stack["method"] == "build" and not chosen
    manifest = (settings.get("sparkforge_manifest") or {}) if from_units else {}
    units = [unit for unit in manifest.get("units") or () if unit["wheels"]]
    wheels = of_units(units)
    if refused := _unrequested(stack, settings, manifest, units, platform):
        return Plan(refusals=[refused])
    # The official wheels that replace units which failed to compile (role `source_unit`).
    official = _official_lines(stack, manifest, platform) if manifest else {}
    missing = [name for name in _missing(stack, manifest, units) if name not in official] if from_units else []
    if from_units:
        locked = stack["lock"]["run_requirements"].get(platform) or {}
        parts = ["beside", *(unit["name"] for unit in units), *official]
        beside = dict.fromkeys(line for key, lines in locked.items() if key in parts for line in lines)
        requirements = [*(wheel.line for wheel in wheels), *official.values(), *beside]
    else:
        requirements = chosen or list(stack["lock"]["wheels"].get(platform) or ())
    if missing:
        return _unbuilt(missing, settings, observation["platform"])
    if not requirements and not settings["python_env_wheels"]:
        cause = f"The lock of the stack {stack['name']} has no wheels for {platform}."
        remedy = "Run playbooks/lock.yml to resolve them, or set python_env_requirements."
        return Plan(refusals=[{"cause": cause, "remedy": remedy}])
    delivery = _delivery(settings, manifest, wheels)
    pushed = [wheel.as_pin() for wheel in wheels if delivery == "push"]
    find_links = _find_links(delivery, settings, observation["platform"], wheels)
    environment = {
        "python": settings["python_env_python"] or f"/usr/bin/python{stack['python']['version']}",
        "requirements": [*requirements, *settings["python_env_extra_requirements"]],
        "override": [] if from_units or chosen else list(stack["wheel"]["override"]),
        "wheels": [*settings["python_env_wheels"], *pushed],
        "find_links": [*find_links, *settings["python_env_find_links"]],
        "environment_id": settings["python_env_environment_id"] or None,
        "imports": _imports(settings["python_env_imports"], requirements),
        "require_cuda": boolean(settings["python_env_require_cuda"]),
        "library_paths": _library_paths(settings, observation),
        "environment": {**(stack.get("activation") or {}), **settings["python_env_environment"]},
        "group": settings["python_env_group"] or None,
        "users": list(settings["sparkforge_users"]),
        "jupyter": boolean(settings["python_env_jupyter"]),
        "keep": int(settings["python_env_keep"]),
    }
    steps: dict[str, t.Any] = {"environment": environment}
    if delivery == "push":
        steps["push"] = (
            manifest["host"] if manifest["host"] in settings["groups"]["all"] else settings["inventory_hostname"]
        )
    if delivery == "pull" and settings["sparkforge_wheelhouse_username"]:
        keys = ("url", "username", "password")
        steps["credentials"] = [{key: settings[f"sparkforge_wheelhouse_{key}"] for key in keys}]
    return Plan(steps)


def replaces_newer(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> dict[str, str] | None:
    """Return why the default stack must not replace an environment's newer PyTorch, or None if it may.

    A stack that the user chose for the host may do so. ``python_env_requirements`` do not come from the stack.
    """
    stack, name = settings["stack"], str(settings.get("python_env_name") or "torch")
    if stack.get("named", True) or settings.get("python_env_requirements"):
        return None
    environment = (observation.get("environments") or {}).get(name) or {}
    current, target = str(environment.get("torch") or ""), str(stack["versions"]["torch"])
    if not current or not older(target, current):
        return None
    recorded = environment.get("stack") or {}
    keep = f"stack_name: {recorded['name']}" if recorded.get("name") else "stack_name to a stack of that PyTorch"
    keep += f" and stack_method: {recorded['method']}" if recorded.get("method") and recorded.get("name") else ""
    return {
        "cause": f"The environment {name} has PyTorch {current}, and the default stack {stack['name']} would replace it"
        f" by the older {target}.",
        "remedy": f"To keep the newer one, set {keep} for this host in the inventory. To go back to the older one, name"
        f" it there: stack_name: {stack['name']}.",
    }


def _unrequested(
    stack: Stack,
    settings: t.Mapping[str, t.Any],
    manifest: t.Mapping[str, t.Any],
    units: t.Sequence[t.Mapping[str, t.Any]],
    platform: str,
) -> dict[str, str] | None:
    """Return the refusal of a manifest that contains units or wheels that were not requested, or None."""
    names = {*stack["units"], *(unit["name"] for unit in settings.get("torch_extensions") or ())}
    lines = (stack["lock"]["run_requirements"].get(platform) or {}).values()
    locked = {split(line).name for unit_lines in lines for line in unit_lines}
    built: set[str] = set()
    for unit in units:
        extra = "" if unit["name"] in names else f"the unit {unit['name']}, which is not in the stack {stack['name']}"
        for name in (normalised(wheel["name"]) for wheel in unit["wheels"]):
            if not extra and name in locked:
                extra = f"a wheel of {name} in the unit {unit['name']}, but the lock has another one"
            if not extra and name in built:
                extra = f"a wheel of {name} in the unit {unit['name']}, after another wheel of it"
            built.add(name)
        if extra:
            return {
                "cause": f"The manifest of {manifest['host']} lists {extra}.",
                "remedy": f"Find out what {manifest['host']} built. A unit of your own has to be in torch_extensions"
                " for every host; playbooks/lock.yml renews the lock, playbooks/build.yml the manifest.",
            }
    return None


def _missing(stack: Stack, manifest: t.Mapping[str, t.Any], units: t.Sequence[t.Mapping[str, t.Any]]) -> list[str]:
    """Return the units that are not built; in check mode, those that the builder would build."""
    if manifest.get("pending") is not None:
        return list(manifest["pending"])
    built = {unit["name"] for unit in units}
    return [name for name in stack["units"] if name in (*UNITS, *stack["extensions"]) and name not in built]


def _official_lines(stack: Stack, manifest: t.Mapping[str, t.Any], platform: str) -> dict[str, str]:
    """Return the lines of official wheels for the units that the builder skipped."""
    if manifest.get("pending") is not None:
        return {}
    missing = _missing(stack, manifest, [unit for unit in manifest.get("units") or () if unit["wheels"]])
    return {name: line for name, line in source_unit.official(stack, platform).items() if name in missing}


def _unbuilt(missing: t.Sequence[str], settings: t.Mapping[str, t.Any], system: str) -> Plan:
    names = ", ".join(missing)
    reasons = [f"create the environment once {names} is built"]
    if settings["ansible_check_mode"]:
        return Plan(reasons=reasons)
    attempts = (settings.get("sparkforge_found") or {}).get("tried") or ()
    searched = "; ".join(f"{attempt['place']}: {attempt['said'].removesuffix('.')}" for attempt in attempts)
    verb = "is" if len(missing) == 1 else "are"
    cause = f"{names} of the stack {settings['stack']['name']} {verb} not built for {system}"
    cause += f" (searched: {searched})." if searched else "."
    return Plan(refusals=[{"cause": cause, "remedy": REMEDY}], reasons=reasons)


def _delivery(settings: t.Mapping[str, t.Any], manifest: t.Mapping[str, t.Any], wheels: t.Sequence[Wheel]) -> str:
    """Return the wheels' source: the ``own`` wheelhouse, ``pull`` from the URL, ``push``, or ``""``."""
    if not wheels:
        return ""
    if manifest["host"] == settings["inventory_hostname"]:
        return "own"
    return "pull" if settings["sparkforge_wheelhouse_url"] else "push"


def _find_links(delivery: str, settings: t.Mapping[str, t.Any], system: str, wheels: t.Sequence[Wheel]) -> list[str]:
    """Return pip's sources for built wheels: directories of the host's own wheelhouse, or pages of the served one."""
    if delivery == "own":
        root = f"{settings['sparkforge_root']}/wheelhouse/{system}"
        return list(dict.fromkeys(f"{root}/{wheel.place}" for wheel in wheels))
    if delivery == "pull":
        root = f"{settings['sparkforge_wheelhouse_url'].rstrip('/')}/{system}/simple"
        return list(dict.fromkeys(f"{root}/{normalised(wheel.name)}/" for wheel in wheels))
    return []


def _imports(modules: t.Sequence[str] | None, requirements: t.Sequence[str]) -> list[str]:
    if modules is not None:
        return list(modules)
    names = {split(line).name for line in requirements}
    return ["torch", *(name for name in COMPILED if name in names)]


def _library_paths(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> list[str]:
    """Return the directories of the archives that a built torch is linked with; official wheels bring their own."""
    paths = settings.get("python_env_library_paths")
    if paths is not None:
        return list(paths)
    stack: Stack = settings["stack"]
    if stack["method"] != "build":
        return []
    return [
        f"{archives.directory(settings['sparkforge_root'], archive)}/lib"
        for archive in stack["archives"]
        if archives.exists(archive, observation["kernel"]["machine"])
    ]
