"""Compute the facts that every role reads from a stack, its lock and a profile."""

from __future__ import annotations

import difflib
import functools
import os
import re
import typing as t

from ...module_utils._core import digests
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._core.versions import numbers
from ...module_utils._wheel.requirement import split
from .. import schema
from .load import README, SearchPaths, load, load_lock, read_file, relock
from .model import Archive, Lock, Stack

METHODS = ("wheel", "build")
# The units that the roles `llvm`, `triton` and `pytorch` build; the `torch_extensions` role builds all other units.
CORE_UNITS = ("llvm", "triton", "compute_library", "pytorch")


#: Tool paths relative to the CUDA directory, for a Triton that was built here; the last is for the profiler Proton.
_OF_BUILT_TRITON = {
    "TRITON_PTXAS_BLACKWELL_PATH": "bin/ptxas",
    "TRITON_CUOBJDUMP_PATH": "bin/cuobjdump",
    "TRITON_NVDISASM_PATH": "bin/nvdisasm",
    "TRITON_CUDACRT_PATH": "include",
    "TRITON_CUDART_PATH": "include",
    "TRITON_CUPTI_LIB_PATH": "extras/CUPTI/lib64",
}


class Facts(t.TypedDict):
    """A stack and the files that it was read from; the path ``lock`` is None if the stack has no lock yet."""

    stack: Stack
    files: dict[str, str | None]


def facts(
    name: str, method: str, profile: str, where: SearchPaths, *, libraries: str = "auto", lock_required: bool = True
) -> Facts:
    """Return ``{stack: ..., files: ...}`` for ``stack_name``, ``stack_method`` and ``stack_profile``.

    :param libraries: ``auto`` or ``all``: official wheels bring NVIDIA's libraries, unless their stack says otherwise.
    :param lock_required: whether to refuse a stack whose lock lacks the method's pins. An uninstallation, for example,
        needs none.
    :raises SparkforgeError: for unknown names, invalid files, and a method that the stack does not support.
    """
    definition, path = load(name, where)
    _check_method(method)
    chosen = profile_facts(profile, definition, where)
    locked_pins, lock_path = load_lock(name, where)
    lock: Lock = locked_pins or {}
    if lock_required:
        (_check_units if method == "build" else _check_wheels)(name, definition, lock, lock_path)

    cuda = definition["cuda"]["version"]
    cuda_home = f"/usr/local/cuda-{cuda}"
    built = method == "build"
    pinned = functools.partial(_with_lock, lock=lock, lock_path=lock_path, name=name, required=lock_required)
    archives = [pinned(archive) for archive in definition["archives"]]
    cusparselt = dict(definition["cusparselt"])
    cusparselt["archive"] = pinned(cusparselt["archive"]) if cusparselt.get("archive") else None
    locked = {
        "wheels": _sorted(lock.get("wheels")),
        "sources": dict(sorted((lock.get("sources") or {}).items())),
        "run_requirements": {
            key: _sorted(units) for key, units in sorted((lock.get("run_requirements") or {}).items())
        },
    }
    versions = dict(definition["versions"]) if built else wheel_versions(definition)
    units = unit_facts(definition, path, lock)
    # The inputs of a host or an environment, without paths, dates and descriptions, so that equal pins give equal ids.
    pins: dict[str, t.Any] = {
        "method": method,
        "cuda": cuda,
        "python": definition["python"]["version"],
        "llvm_major": definition["llvm_major"],
        **{key: definition[key] for key in ("cudnn", "nccl") if key in definition},
        "versions": versions,
        "cusparselt": cusparselt,
        "archives": sorted(archives, key=lambda archive: archive["component"]),
        **{key: locked[key] for key in ("wheels", "sources")},
    }
    if built:
        pins["units"] = definition.get("units") or {}
        pins["build_requirements"] = lock.get("build_requirements") or {}
        pins["run_requirements"] = locked["run_requirements"]
    with_libraries = "all" in (libraries, definition["wheel"].get("libraries")) or built
    stack = {
        **{key: definition[key] for key in ("systems", "machines", "python", "llvm_major")},
        **{key: definition.get(key) or {} for key in ("cudnn", "nccl")},
        "name": name,
        "method": method,
        "libraries": "all" if with_libraries else "wheels",
        "description": " ".join(definition["description"].split()),
        "profile": chosen,
        "cuda": {
            "version": cuda,
            "major": int(cuda.split(".")[0]),
            "suffix": cuda.replace(".", "-"),
            "home": cuda_home,
        },
        "driver_minimum": chosen["driver_minimum"] or definition["driver_minimum"],
        "versions": versions,
        "wheel": {
            "cuda": definition["wheel"]["cuda"],
            "without": definition["wheel"].get("without") or {},
            "override": sorted(definition["wheel"].get("override") or {}),
        },
        "cusparselt": cusparselt if with_libraries else {**cusparselt, "archive": None},
        "archives": archives if with_libraries else [],
        "units": units,
        "extensions": extensions(definition),
        "activation": triton_environment(versions["triton"], cuda_home, built=built and "triton" in units),
        "lock": {"id": digests.of_data(pins)[:12], **locked},
    }
    return {"stack": t.cast("Stack", stack), "files": {"stack": path, "lock": lock_path}}


def _check_method(method: str) -> None:
    if method not in METHODS:
        close = difflib.get_close_matches(method, METHODS, n=1)
        raise SparkforgeError(
            f"stack_method is {method!r}, which is unknown.", f"Set stack_method to {close[0] if close else 'build'}."
        )


def _sorted(lines: t.Mapping[str, t.Sequence[str]] | None) -> dict[str, list[str]]:
    return {key: sorted(listed) for key, listed in sorted((lines or {}).items())}


def profile_facts(name: str, definition: t.Mapping[str, t.Any], where: SearchPaths) -> dict[str, t.Any]:
    """Return a host profile with the stack's changes."""
    profiles = read_file(where.profiles, "profiles")
    amended = definition.get("profiles") or {}
    merged = {key: {**profiles.get(key, {}), **amended.get(key, {})} for key in {**profiles, **amended}}
    if name not in merged:
        similar = difflib.get_close_matches(name, merged, n=1)
        raise SparkforgeError(
            f"Profile {name!r} is unknown; known: {', '.join(sorted(merged))} ({where.profiles}, and"
            " profiles in the stack's file).",
            f"Set stack_profile to {'`' + similar[0] + '`' if similar else 'one of them'}.",
        )
    required = schema.document("profiles")["definitions"]["whole"]["required"]
    missing = sorted(key for key in required if key not in merged[name])
    if missing:
        raise SparkforgeError(
            f"The profile {name} of the stack lacks {', '.join(missing)}.", f"Add them; {README} describes every key."
        )
    return {"name": name, "required_checks": [], "speed_floors": {}, **merged[name]}


def _with_lock(archive: Archive, lock: Lock, lock_path: str | None, name: str, *, required: bool) -> Archive:
    """Return an archive with the sha256 from stack and lock, which must not contradict each other."""
    pinned = dict(archive.get("sha256") or {})
    pinned_archive = lock.get("archives", {}).get(archive["component"])
    if pinned_archive is not None:
        for key in ("release", "version"):
            if pinned_archive[key] != archive[key]:
                raise SparkforgeError(
                    f"The lock {lock_path} has {archive['component']} {key} {pinned_archive[key]},"
                    f" but the stack says {archive[key]}.",
                    relock(name),
                )
        for platform, sha256 in (pinned_archive.get("sha256") or {}).items():
            if pinned.setdefault(platform, sha256) != sha256:
                raise SparkforgeError(
                    f"The lock {lock_path} has sha256 {sha256} of {archive['component']} for {platform},"
                    f" but the stack pins {pinned[platform]}.",
                    "Find out which of them NVIDIA published; a published archive does not change.",
                )
    if not pinned and required:
        raise SparkforgeError(
            f"No sha256 is known for {archive['component']} {archive['version']} of the stack {name}.", relock(name)
        )
    return {**archive, "variant": archive.get("variant") or "", "sha256": dict(sorted(pinned.items()))}


def locked_version(lines: t.Sequence[str], name: str) -> str | None:
    """Return the version to which a lock's lines pin a distribution."""
    return next((pin.version for pin in map(split, lines) if pin.name == name), None)


def _same_version(locked: str | None, named: str | None) -> bool:
    """Compare the public part, because PyTorch's own index may serve the stack's 2.15.0 as 2.15.0+cu132."""
    if locked is None or named is None:
        return locked is named
    return named in (locked, locked.partition("+")[0])


def wheel_versions(definition: t.Mapping[str, t.Any]) -> dict[str, str | None]:
    """Return the versions in an environment made from wheels, without the distributions that the stack leaves out."""
    left_out = definition["wheel"].get("without") or {}
    return {name: None if name in left_out else value for name, value in definition["versions"].items()}


def _check_wheels(name: str, definition: t.Mapping[str, t.Any], lock: Lock, lock_path: str | None) -> None:
    """Refuse the method ``wheel`` if its wheels are not locked or have other versions."""
    wheels = lock.get("wheels") or {}
    if not wheels and not definition["wheel"]["available"]:
        raise SparkforgeError(
            f"The stack {name} has no wheels to install: {definition['wheel']['reason'].strip().rstrip('.')}.",
            "Set stack_method to build, or stack_name to a stack with wheels, or lock wheels from an index that has"
            f" them: ansible-playbook sparkforge.dgx_spark.lock -e stack_name={name} -e stack_lock_index_url=<index>.",
        )
    if not wheels:
        raise SparkforgeError(
            f"The stack {name} has no lock with wheels ({lock_path or 'no lock was found'}).",
            f"Write it: ansible-playbook sparkforge.dgx_spark.lock -e stack_name={name}.",
        )
    others = {**(definition["wheel"].get("beside") or {}), **(definition["wheel"].get("override") or {})}
    wanted_versions = {**others, **wheel_versions(definition)}
    for platform, lines in sorted(wheels.items()):
        for distribution, named in sorted(wanted_versions.items()):
            if distribution == "triton":
                continue  # torch's own requirement determines it, and some platforms have none
            locked = locked_version(lines, distribution)
            if not _same_version(locked, named):
                raise SparkforgeError(
                    f"The lock {lock_path} has {distribution} {locked or '(none)'} for {platform},"
                    f" but the stack {name} says {named or 'none'}.",
                    relock(name),
                )


def unit_source(name: str, definition: t.Mapping[str, t.Any], lock: Lock) -> dict[str, t.Any] | None:
    """Return the option ``source`` of source_build for a source of the stack, or None if its commit is unknown.

    The stack's URL, if it has one, takes precedence over the lock's, so that a mirror needs no new lock.
    """
    source = definition["sources"][name]
    if "archive" in source:
        return {"archive": source["archive"], "sha256": source["sha256"]}
    locked = (lock.get("sources") or {}).get(name) or {}
    ref = source.get("ref")
    commit = ref if re.fullmatch(r"[0-9a-f]{40}", ref or "") else locked.get("commit")
    url = source.get("url") or locked.get("url")
    if not commit or not url:
        return None
    return {"repo": url, "version": commit, "submodules": source.get("submodules", True)}


def unit_facts(definition: t.Mapping[str, t.Any], path: str, lock: Lock) -> dict[str, dict[str, t.Any]]:
    """Return every unit of a stack with its source and its requirements by platform, as locked.

    Without a lock, which only a stack that needs none may lack, the requirements are the unit's own list.

    :param path: the stack's file; its patches are in the same directory, or else in the unit's role.
    """
    units = {}
    beside = os.path.dirname(path)
    for name, unit in (definition.get("units") or {}).items():
        patches = [os.path.join(beside, patch) for patch in unit.get("patches") or []]
        units[name] = {
            **{key: value for key, value in unit.items() if key not in ("requires", "patches")},
            "optional": unit.get("optional", False),
            "source": unit_source(unit.get("source", name), definition, lock),
            "patches": [
                path if os.path.isfile(path) else patch
                for path, patch in zip(patches, unit.get("patches") or [], strict=True)
            ],
            "requirements": {
                platform: sorted(lines[name])
                for platform, lines in sorted((lock.get("build_requirements") or {}).items())
                if name in lines
            }
            or list(unit.get("requirements") or []),
        }
    return units


def extensions(definition: t.Mapping[str, t.Any]) -> list[str]:
    """Return, in order, the units built by default in addition to LLVM, Triton and PyTorch."""
    units = definition.get("units") or {}
    return [name for name, unit in units.items() if name not in CORE_UNITS and not unit.get("optional")]


def _check_units(name: str, definition: t.Mapping[str, t.Any], lock: Lock, lock_path: str | None) -> None:
    """Refuse the method ``build`` if the lock lacks anything that the build needs; list everything that is missing."""
    units = definition.get("units") or {}
    wheels = "Set stack_method: wheel, for its official wheels. Or renew " if definition["wheel"]["available"] else ""
    if not units:
        raise SparkforgeError(
            f"The stack {name} names no units, so there is nothing to build.",
            f"Set stack_method: wheel, or give the stack `units`; {README} describes every key.",
        )
    problems = _stale_sources(definition, lock)
    for unit_name, unit in units.items():
        source = unit.get("source", unit_name)
        if unit_source(source, definition, lock) is None and not unit.get("optional"):
            problems.append(f"the commit of {source} is not known")
        problems += _stale_requirements(unit_name, unit, lock)
    if any(unit.get("requires") for unit in units.values()) and not lock.get("run_requirements"):
        problems.append("the units' run-time requirements are not resolved")
    if problems:
        raise SparkforgeError(
            f"The lock of the stack {name} ({lock_path or 'no lock was found'}) does not cover a build:"
            f" {'; '.join(problems)}.",
            f"{wheels}{relock(name).removeprefix('Renew ')}" if wheels else relock(name),
            problems=problems,
        )


def _stale_sources(definition: t.Mapping[str, t.Any], lock: Lock) -> list[str]:
    """Return the entries in which the lock is older than the stack or contradicts itself."""
    locked, problems = lock.get("sources") or {}, []
    for name, source in (definition.get("sources") or {}).items():
        entry = locked.get(name) or {}
        if not entry.get("commit") or "archive" in source:
            continue
        if source.get("ref") != entry.get("ref"):
            problems.append(f"it has {name} {entry.get('ref') or 'as pinned'}, but the stack says {source.get('ref')}")
        by = entry.get("pinned_by") or {}
        other = (locked.get(by["source"]) or {}).get("commit") if by else None
        if other and other != by["commit"]:
            problems.append(
                f"it has {name} as {by['source']} {by['commit'][:12]} pins it, but {by['source']} {other[:12]}"
            )
    return problems


def _stale_requirements(name: str, unit: t.Mapping[str, t.Any], lock: Lock) -> list[str]:
    pins = unit.get("requirements") or []
    platforms = {platform: lines for platform, lines in (lock.get("build_requirements") or {}).items() if name in lines}
    if pins and not platforms:
        return [f"the build requirements of {name} have no hashes"]
    problems = []
    for platform, lines in sorted(platforms.items()):
        for pin in map(split, pins):
            locked, pinned = locked_version(lines[name], pin.name), pin.version
            if locked != pinned:
                locked_line = f"{pin.written} {locked or '(none)'}"
                problems.append(f"it builds {name} with {locked_line} on {platform}, but the stack says {pinned}")
    return problems


def triton_environment(version: str | None, cuda_home: str, *, built: bool) -> dict[str, str]:
    """Return the variables that Triton needs in the environment that runs it.

    Up to 3.5 its wheels bring a ptxas from CUDA 12.8, which does not know sm_121a; from 3.6 on they bring a second
    ptxas, which does, for compute capability 10.0 and newer (knobs.py in the wheels of 3.5.1, 3.6.0 and 3.9.0).
    A Triton built here provides neither tools nor headers: without ``cuda.h`` the first kernel launch fails in gcc.
    TRITON_CUDART_PATH adds the headers to that call only, while CPATH would add them to all of the user's compilations.
    """
    if version is None:
        return {}
    old = numbers(version) < (3, 6)
    paths = _OF_BUILT_TRITON if built else {}
    paths = {key: path for key, path in paths.items() if not (old and key == "TRITON_PTXAS_BLACKWELL_PATH")}
    if old or built:
        paths["TRITON_PTXAS_PATH"] = "bin/ptxas"
    return {key: f"{cuda_home}/{path}" for key, path in paths.items()}
