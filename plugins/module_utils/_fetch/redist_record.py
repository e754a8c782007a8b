# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of an unpacked redist archive: made, and compared with what is wanted and with what is on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import typing as t

from .._core.digests import of_file
from .._core.errors import SparkforgeError
from .._elf import reader
from . import pkg_config, unpack
from .redist_layout import LIBRARY_DIRECTORIES, current_path
from .redist_manifest import Archive, Resolved, listed

#: What a platform's libraries have as e_machine in their ELF header (linux-aarch64 is Tegra).
MACHINES = {"linux-sbsa": 183, "linux-aarch64": 183, "linux-x86_64": 62, "linux-ppc64le": 21}


def record_of(
    archive: Archive, resolved: Resolved, unpacked: unpack.Unpacked, staged: str, prefix: str
) -> dict[str, t.Any]:
    """Return the record of an archive that was unpacked at ``staged`` and is to lie below ``prefix``.

    :raises SparkforgeError: if it has not the SONAME that the stack pins.
    """
    version = resolved.version + (f"-{archive.variant}" if archive.variant else "")
    path = os.path.join(prefix, archive.component, version)
    library = next((d for d in LIBRARY_DIRECTORIES if os.path.isdir(f"{staged}/{d}")), None)
    sonames = _sonames(f"{staged}/{library}", archive.platform) if library else []
    require_soname(archive, resolved.version, sonames)
    files, digests = dict(unpacked.files), dict(unpacked.digests)
    directories = [d for d in pkg_config.DIRECTORIES if os.path.isdir(f"{staged}/{d}")]
    corrected = pkg_config.write_corrected(staged, path, directories)
    if corrected:
        files.update(corrected)
        digests.update({name: of_file(f"{staged}/{name}") for name in corrected})
        directories.insert(0, pkg_config.CORRECTED)
    record: dict[str, t.Any] = {
        "product": archive.product,
        "component": archive.component,
        "release": archive.release,
        "version": resolved.version,
        "platform": archive.platform,
        "variant": archive.variant,
        "sha256": resolved.sha256,
        "name": resolved.name,
        "license": resolved.license,
        "license_files": sorted(n for n in files if re.match(r"(?i)(license|eula|copying)", n)),
        "prefix": prefix,
        "path": path,
        "current": current_path(prefix, archive.component),
        "library_directory": library,
        "include": os.path.isdir(f"{staged}/include"),
        "pkg_config": directories,
        "pkg_config_corrected": sorted(corrected),
        "sonames": sonames,
        "files": files,
        "digests": digests,
        "links": unpacked.links,
        "size": unpacked.size,
    }
    record["fingerprint"] = fingerprint(record)
    return record


def _sonames(directory: str, platform: str) -> list[str]:
    """Return the SONAMEs under which the loader finds a library of the right machine in ``directory``."""
    found = set()
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if ".so" not in name or not os.path.isfile(path):
            continue
        try:
            library = reader.read_elf(path)
        except SparkforgeError:
            continue
        if library.soname == name and library.machine == MACHINES.get(platform, library.machine):
            found.add(name)
    return sorted(found)


def require_soname(archive: Archive, version: str, sonames: t.Sequence[str]) -> None:
    if archive.soname is None or archive.soname in sonames:
        return
    machine = f" for {archive.platform}" if archive.platform in MACHINES else ""
    raise SparkforgeError(
        f"{archive.component} {version} has no library with the SONAME {archive.soname}{machine}, which the "
        f"stack pins; it has {listed(sonames)}.",
        "Programs built against the pinned SONAME cannot load this version: choose a release that has it, or correct "
        "the soname in the stack and rebuild.",
        expected=archive.soname,
        actual=list(sonames),
    )


def fingerprint(receipt: t.Mapping[str, t.Any]) -> str:
    """Return the identity of an installed archive: the sha256 over every input that decides its content."""
    keys = ("product", "component", "release", "version", "platform", "variant", "sha256")
    text = json.dumps({key: receipt.get(key) for key in keys}, sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def differs(receipt: t.Mapping[str, t.Any], archive: Archive, prefix: str) -> str:
    """Say in what the installed archive differs from the wanted one; '' where it is the wanted one."""
    wanted = {
        "product": archive.product,
        "release": archive.release,
        "version": archive.version,
        "platform": archive.platform,
        "variant": archive.variant,
        "sha256": archive.sha256,
        "prefix": prefix,
    }
    for key, value in wanted.items():
        if value is not None and receipt.get(key) != value:
            return f"its {key} is {receipt.get(key)}, expected {value}"
    return ""


def damage(record: t.Mapping[str, t.Any]) -> str:
    """Compare an unpacked archive with its record by names, sizes and link targets; '' where it is whole.

    Sizes cost one lstat a file; a change that keeps the size is not seen.
    """
    path = str(record.get("path"))
    if not os.path.isdir(path):
        return f"{path} is missing"
    for name, size in record.get("files", {}).items():
        try:
            status = os.lstat(os.path.join(path, name))
        except OSError:
            return f"{name} is missing"
        if status.st_size != size:
            return f"{name} has {status.st_size} bytes instead of {size}"
    for name, target in record.get("links", {}).items():
        try:
            actual = os.readlink(os.path.join(path, name))
        except OSError:
            return f"the symlink {name} is missing"
        if actual != target:
            return f"the symlink {name} points to {actual} instead of {target}"
    return ""


def generations(receipt: t.Mapping[str, t.Any] | None) -> list[dict[str, t.Any]]:
    """Return the installed version and the previous one, each without what is before it."""
    if receipt is None:
        return []
    previous = receipt.get("previous")
    found = [receipt] + ([previous] if isinstance(previous, dict) else [])
    return [{key: value for key, value in record.items() if key != "previous"} for record in found]


def label_of(record: t.Mapping[str, t.Any]) -> str:
    variant = f", {record['variant']}" if record.get("variant") else ""
    return f"{record.get('component')} {record.get('version')} ({record.get('platform')}{variant})"


def environment_of(records: t.Sequence[t.Mapping[str, t.Any]]) -> dict[str, str]:
    """Return the search paths under which compilers, CMake and pkg-config find the archives.

    They go by ``current``; a record's ``path`` is for whoever must not change with it.
    """
    paths: dict[str, list[str]] = {key: [] for key in ("CMAKE_PREFIX_PATH", "CPATH", "LIBRARY_PATH", "PKG_CONFIG_PATH")}
    for record in records:
        current = str(record["current"])
        paths["CMAKE_PREFIX_PATH"].append(current)
        paths["CPATH"] += [f"{current}/include"] if record.get("include") else []
        if record.get("library_directory"):
            paths["LIBRARY_PATH"].append(f"{current}/{record['library_directory']}")
        paths["PKG_CONFIG_PATH"] += [f"{current}/{name}" for name in record.get("pkg_config", [])]
    return {key: ":".join(value) for key, value in paths.items() if value}


def shell_of(environment: t.Mapping[str, str]) -> str:
    """Return ``environment`` as lines for a shell to source, each before what the variable already has."""
    return "".join(f"export {key}='{value}'\"${{{key}:+:${key}}}\"\n" for key, value in sorted(environment.items()))
