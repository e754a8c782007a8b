# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wanted of NVIDIA's redistributable archives, and how it differs from what a host has; no call touches either.

The layout of the vendor's tree, as developer.download.nvidia.com/compute has it:
``<product>/redist/redistrib_<release>.json`` is the manifest; each ``relative_path`` in it is next to it.
Plans on the controller read this file in every worker that a task forks, so it imports nothing that fetches.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import typing as t

from .._core import versions
from .._core.errors import SparkforgeError

#: Where NVIDIA's archives keep libraries; the first that exists counts.
LIBRARY_DIRECTORIES = ("lib", "lib64")

LOADER_DIRECTORY = "/etc/ld.so.conf.d"

#: The name of a version's directory, perhaps with a variant; never that of the symlink beside it.
VERSION = re.compile(r"[0-9][A-Za-z0-9._+-]{0,127}")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


# --- where archives lie on a host ---


def current_path(prefix: str, component: str) -> str:
    """Return the symlink that says which version of a component is in use."""
    return os.path.join(prefix, component, "current")


def is_version(path: str, component: str) -> bool:
    """Tell whether ``path`` is where a version of ``component`` may lie, below whatever prefix."""
    above, name = os.path.split(path)
    sound = os.path.isabs(path) and os.path.normpath(path) == path and os.path.basename(above) == component
    return sound and VERSION.fullmatch(name) is not None


def loader_path(loader_directory: str, component: str) -> str:
    """Return where the loader entry of a component is."""
    return os.path.join(loader_directory, f"sparkforge-{component}.conf")


def loader_entry(record: t.Mapping[str, t.Any], *, identity: bool) -> str:
    """Return the text of the loader entry.

    Its first line names what is installed, so that an observer of /etc alone can tell. That line is written
    after the receipt and so proves that the installation came to its end.
    """
    head = ""
    if identity:
        what = [record["component"], record["version"], record["variant"] or "-", record["platform"]]
        head = f"# sparkforge redist_archive: {' '.join(what)} {record['sha256']}\n"
    return f"{head}{os.path.join(record['current'], record['library_directory'])}\n"


# --- what is wanted, and what the manifest of a release says of it ---


def label_of(record: t.Mapping[str, t.Any]) -> str:
    """Return what messages call an archive, wanted or installed."""
    build = ", ".join(filter(None, (record.get("platform"), record.get("variant"))))
    return f"{record.get('component')} {record.get('version') or 'of release ' + str(record.get('release'))} ({build})"


@dataclasses.dataclass(frozen=True)
class Archive:
    """One archive that is wanted. ``version``, ``sha256`` and ``soname`` are pins where they are not None."""

    component: str
    product: str = ""
    release: str = ""
    platform: str = ""
    variant: str = ""
    version: str | None = None
    sha256: str | None = None
    soname: str | None = None

    @property
    def label(self) -> str:
        return label_of(dataclasses.asdict(self))


class Resolved(t.NamedTuple):
    """What the manifest says of an archive."""

    version: str
    relative_path: str
    sha256: str
    size: int | None
    license: str


def archives_from(options: t.Sequence[t.Mapping[str, t.Any]], platform: str, variant: str, state: str) -> list[Archive]:
    """Check the module's ``archives`` and complete them with the call's platform and variant.

    :raises SparkforgeError: for a missing or impossible value, naming the entry.
    """
    archives: list[Archive] = []
    for number, entry in enumerate(options):
        where = f"archives[{number}] ({entry.get('component') or 'no component'})"
        values = {"variant": variant, **{key: value for key, value in entry.items() if value is not None}}
        lacking = [key for key in ("product", "release") if not values.get(key)]
        if lacking and state == "present":
            raise SparkforgeError(
                f"{where} has no {lacking[0]}.",
                "Set product, component and release for each archive, as in NVIDIA's tree.",
            )
        sha256 = values.pop("sha256", None)
        if sha256 is not None and not _SHA256.fullmatch(sha256):
            raise SparkforgeError(
                f"{where} has the sha256 {sha256!r}, which is not 64 hexadecimal digits.",
                "Correct the pin in the stack, or run playbooks/lock.yml to look it up.",
            )
        for key, value in values.items():
            if value and not _SAFE.fullmatch(value):
                raise SparkforgeError(
                    f"{where} has {value!r} as {key}.",
                    "Use letters, digits, '.', '_', '+' and '-', beginning with a letter or a digit.",
                )
        archive = Archive(**values, platform=platform, sha256=sha256 and sha256.lower())
        if archive.component in [other.component for other in archives]:
            raise SparkforgeError(
                f"{where} repeats the component {archive.component}.",
                "Keep one of the two entries: only one version of a component can be current.",
            )
        archives.append(archive)
    return archives


def resolve(manifest: t.Mapping[str, t.Any], archive: Archive, url: str) -> Resolved:
    """Find ``archive`` in a manifest.

    :param url: the manifest's, for messages.
    :raises SparkforgeError: if the manifest lacks it, naming what it has, or contradicts a pin.
    """
    entry = manifest.get(archive.component)
    if not isinstance(entry, dict):
        components = sorted(key for key, value in manifest.items() if isinstance(value, dict))
        raise SparkforgeError(
            f"The manifest {url} has no component {archive.component}; it has {listed(components)}.",
            "Correct the component of the archive in the stack.",
        )
    platforms = {key: value for key, value in entry.items() if isinstance(value, dict)}
    files = platforms.get(archive.platform)
    if files is None:
        raise SparkforgeError(
            f"The manifest {url} has no {archive.component} for the platform {archive.platform}; "
            f"it has {listed(sorted(platforms))}.",
            "Choose a release that has the platform, or skip the archive on this host.",
        )
    variants = {"": files} if "relative_path" in files else {k: v for k, v in files.items() if isinstance(v, dict)}
    if archive.variant not in variants:
        asked = f"variant {archive.variant}" if archive.variant else "build without a variant"
        raise SparkforgeError(
            f"The manifest {url} has no {asked} of {archive.component} for {archive.platform}; "
            f"it has {listed(sorted(filter(None, variants)))}.",
            "Set variant to '' for this archive."
            if "" in variants
            else "Choose one of those variants, or a release that has yours.",
        )
    file = variants[archive.variant]
    version, path, sha256 = str(entry.get("version")), str(file.get("relative_path")), str(file.get("sha256")).lower()
    sound = VERSION.fullmatch(version) and _SHA256.fullmatch(sha256) and re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", path)
    if not sound or ".." in path.split("/") or not isinstance(entry["version"], str):
        raise SparkforgeError(
            f"The manifest {url} gives {archive.component} the version {version!r}, the path {path!r} and "
            f"the sha256 {sha256!r}, which are not valid.",
            "Check that the mirror has NVIDIA's manifest.",
        )
    if archive.version not in (None, version):
        raise SparkforgeError(
            f"The manifest {url} has {archive.component} {version}, but the stack pins {archive.version}.",
            "Correct the release or the version in the stack; playbooks/lock.yml looks both up.",
        )
    if archive.sha256 not in (None, sha256):
        raise SparkforgeError(
            f"The manifest {url} gives {label_of({**dataclasses.asdict(archive), 'version': version})} the sha256 "
            f"{sha256}, but the stack pins {archive.sha256}.",
            "Nothing was downloaded. Either the mirror's manifest is not NVIDIA's, or the pin belongs to "
            "another release: compare both with NVIDIA's tree, then run playbooks/lock.yml.",
        )
    size = str(file.get("size"))
    return Resolved(
        version, path, sha256, int(size) if versions.is_whole(size) else None, str(entry.get("license", ""))
    )


def parsed(content: bytes, url: str) -> dict[str, t.Any]:
    """Return the manifest that ``content`` is; ``url`` is for messages."""
    try:
        manifest = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SparkforgeError(
            f"The manifest {url} is not JSON: {error}.",
            "Check the manifest's URL, and that no proxy or mirror changed it.",
        ) from error
    if not isinstance(manifest, dict):
        raise SparkforgeError(
            f"The manifest {url} is not a JSON object.", "Check that the mirror has NVIDIA's manifest."
        )
    return manifest


def listed(names: t.Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


# --- what is installed ---


def differs(receipt: t.Mapping[str, t.Any], archive: Archive, prefix: str) -> str:
    """Say in what the installed archive differs from the wanted one; '' where it is the wanted one."""
    for key in ("product", "release", "version", "platform", "variant", "sha256", "prefix"):
        value = prefix if key == "prefix" else getattr(archive, key)
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
