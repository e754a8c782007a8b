"""Select the NVIDIA archives that a host needs, and compare them with the observation."""

from __future__ import annotations

import os
import typing as t

from ...module_utils._core import platforms
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._fetch import redist_plan
from . import is_written

KEYS = ("product", "component", "release", "version", "variant", "soname")


def exists(archive: t.Mapping[str, t.Any] | None, machine: str) -> bool:
    """Tell whether NVIDIA publishes an archive for a machine, according to the stack."""
    return platforms.redist(machine) in ((archive or {}).get("sha256") or {})


def directory(root: str, archive: t.Mapping[str, t.Any]) -> str:
    """Return the directory of a version, never ``current``, because a build depends on the exact version it was
    linked against."""
    variant = f"-{archive['variant']}" if archive.get("variant") else ""
    return f"{root}/redist/{archive['component']}/{archive['version']}{variant}"


def select(
    archives: t.Sequence[t.Mapping[str, t.Any]],
    observation: t.Mapping[str, t.Any],
    prefix: str = "/opt/sparkforge/redist",
) -> dict[str, t.Any]:
    """Return the host's ``platform``, its required ``archives``, and those of them that are ``lacking``.

    ``installed`` tells that none is lacking. ``components`` lists all components for an uninstallation; ``unpinned``
    and ``without_platform`` list the archives without a sha256 and those that do not exist for the platform.

    :raises SparkforgeError: for an archive that is not in the stack's format.
    """
    machine = observation["kernel"]["machine"]
    platform = platforms.redist(machine)
    selected, unpinned, without = [], [], []
    for number, archive in enumerate(archives):
        if not isinstance(archive, dict) or not archive.get("component") or not isinstance(archive.get("sha256"), dict):
            raise SparkforgeError(
                f"Archive number {number + 1} is {archive!r}, without a component or a sha256 by platform.",
                "Give it product, component, release and sha256 ({linux-sbsa: ...}), as in stack.archives.",
            )
        pins = archive["sha256"]
        if platform not in pins:
            without.append(archive["component"])
        elif not pins[platform]:
            unpinned.append(f"{archive['component']} {archive.get('version') or archive.get('release')} ({platform})")
        else:
            row = {key: archive[key] for key in KEYS if archive.get(key) is not None}
            selected.append({**row, "variant": row.get("variant", ""), "sha256": pins[platform]})
    missing_archives = [row for row in selected if not _is_installed(row, platform, observation, prefix)]
    return {
        "platform": platform,
        "archives": selected,
        "components": [{"component": archive["component"]} for archive in archives],
        "unpinned": unpinned,
        "without_platform": without,
        "lacking": missing_archives,
        "installed": not missing_archives,
    }


def _is_installed(row: t.Mapping[str, t.Any], platform: str, observation: t.Mapping[str, t.Any], prefix: str) -> bool:
    """Tell whether the loader entry belongs to a complete installation and the loader finds the library."""
    if not row.get("version"):
        return False
    current = os.path.join(os.path.normpath(prefix), row["component"], "current")
    path = redist_plan.loader_path(redist_plan.LOADER_DIRECTORY, row["component"])
    libraries = observation.get("loader", {}).get("libraries", {})
    for directory in redist_plan.LIBRARY_DIRECTORIES:
        record = {**row, "platform": platform, "current": current, "library_directory": directory}
        if is_written(path, redist_plan.loader_entry(record, identity=True), observation):
            soname = row.get("soname")
            return soname is None or libraries.get(soname) == f"{current}/{directory}/{soname}"
    return False
