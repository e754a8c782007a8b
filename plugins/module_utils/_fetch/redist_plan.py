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
import hashlib
import json
import os
import re
import typing as t

from .._core import modules, versions
from .._core.errors import SparkforgeError

#: Where NVIDIA's archives keep libraries; the first that exists counts.
LIBRARY_DIRECTORIES = ("lib", "lib64")

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
        of = f"{self.platform}, {self.variant}" if self.variant else self.platform
        return f"{self.component} {self.version or 'of release ' + self.release} ({of})"


@dataclasses.dataclass(frozen=True)
class Resolved:
    """What the manifest says of an archive."""

    version: str
    relative_path: str
    sha256: str
    size: int | None
    name: str
    license: str


def archives_from(options: t.Sequence[t.Mapping[str, t.Any]], platform: str, variant: str, state: str) -> list[Archive]:
    """Check the module's ``archives`` and complete them with the call's platform and variant.

    :raises SparkforgeError: for a missing or impossible value, naming the entry.
    """
    archives: list[Archive] = []
    for number, entry in enumerate(options):
        where = f"archives[{number}] ({entry.get('component') or 'no component'})"
        given = {key: value for key, value in entry.items() if value is not None}
        given.setdefault("variant", variant)
        given["platform"] = platform
        if state == "present":
            for key in ("product", "release"):
                if not given.get(key):
                    raise SparkforgeError(
                        f"{where} has no {key}.",
                        "Set product, component and release for each archive, as in NVIDIA's tree.",
                    )
        for key, value in given.items():
            if key == "sha256":
                if not _SHA256.fullmatch(value):
                    raise SparkforgeError(
                        f"{where} has the sha256 {value!r}, which is not 64 hexadecimal digits.",
                        "Correct the pin in the stack, or run playbooks/lock.yml to look it up.",
                    )
                given[key] = value.lower()
            elif value and not _SAFE.fullmatch(value):
                raise SparkforgeError(
                    f"{where} has {value!r} as {key}.",
                    "Use letters, digits, '.', '_', '+' and '-', beginning with a letter or a digit.",
                )
        archive = Archive(**given)
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
    found = platforms.get(archive.platform)
    if found is None:
        raise SparkforgeError(
            f"The manifest {url} has no {archive.component} for the platform {archive.platform}; "
            f"it has {listed(sorted(platforms))}.",
            "Choose a release that has the platform, or skip the archive on this host.",
        )
    if "relative_path" in found:
        if archive.variant:
            raise SparkforgeError(
                f"The manifest {url} has {archive.component} for {archive.platform} without variants, but the variant "
                f"{archive.variant} was requested.",
                "Set variant to '' for this archive.",
            )
    else:
        variants = {key: value for key, value in found.items() if isinstance(value, dict)}
        if archive.variant not in variants:
            asked = f"variant {archive.variant}" if archive.variant else "build without a variant"
            raise SparkforgeError(
                f"The manifest {url} has no {asked} of {archive.component} for {archive.platform}; "
                f"it has {listed(sorted(variants))}.",
                "Choose one of those variants, or a release that has yours.",
            )
        found = variants[archive.variant]
    return _resolved(entry, found, archive, url)


def _resolved(entry: t.Mapping[str, t.Any], found: t.Mapping[str, t.Any], archive: Archive, url: str) -> Resolved:
    version, path, digest = entry.get("version"), found.get("relative_path"), found.get("sha256")
    if (
        not isinstance(version, str)
        or not VERSION.fullmatch(version)
        or not isinstance(path, str)
        or not re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", path)
        or ".." in path.split("/")
        or not isinstance(digest, str)
        or not _SHA256.fullmatch(digest)
    ):
        raise SparkforgeError(
            f"The manifest {url} gives {archive.component} the version {version!r}, the path {path!r} and "
            f"the sha256 {digest!r}, which are not valid.",
            "Check that the mirror has NVIDIA's manifest.",
        )
    if archive.version is not None and archive.version != version:
        raise SparkforgeError(
            f"The manifest {url} has {archive.component} {version}, but the stack pins {archive.version}.",
            "Correct the release or the version in the stack; playbooks/lock.yml looks both up.",
        )
    if archive.sha256 is not None and archive.sha256 != digest.lower():
        raise SparkforgeError(
            f"The manifest {url} gives {archive.component} {version} ({archive.platform}"
            f"{', ' + archive.variant if archive.variant else ''}) the sha256 {digest.lower()}, but the stack pins "
            f"{archive.sha256}.",
            "Nothing was downloaded. Either the mirror's manifest is not NVIDIA's, or the pin belongs to "
            "another release: compare both with NVIDIA's tree, then run playbooks/lock.yml.",
        )
    size = found.get("size")
    return Resolved(
        version=version,
        relative_path=path,
        sha256=digest.lower(),
        size=int(str(size)) if versions.is_whole(str(size)) else None,
        name=str(entry.get("name", archive.component)),
        license=str(entry.get("license", "")),
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


# --- what is done, and how the module tells of it ---


@dataclasses.dataclass
class Step:
    """What is to be done for one archive, and why; ``reason`` is empty where there is nothing to do."""

    archive: Archive
    receipt: dict[str, t.Any] | None
    reason: str = ""
    reuse: dict[str, t.Any] | None = None
    resolved: Resolved | None = None
    staged: str | None = None
    record: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    downloaded_bytes: int = 0
    download_seconds: float = 0.0


def result(
    prefix: str,
    changed: bool,
    rows: list[dict[str, t.Any]],
    before: list[str],
    after: list[str],
    records: t.Sequence[t.Mapping[str, t.Any]] = (),
    steps: t.Sequence[Step] = (),
) -> dict[str, t.Any]:
    """Return the module's result in either state; ``records`` are those of the archives that are there then."""
    environment = environment_of(records)
    size, seconds = sum(s.downloaded_bytes for s in steps), sum(s.download_seconds for s in steps)
    return {
        "changed": changed,
        "archives": rows,
        "diff": modules.diff(prefix, "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)),
        "environment": environment,
        "environment_sh": shell_of(environment),
        "downloaded": {
            "bytes": size,
            "seconds": round(seconds, 3),
            "megabytes_per_second": round(size / 1e6 / seconds, 3) if seconds else 0.0,
        },
    }


def describe(steps: list[Step], prefix: str) -> dict[str, t.Any]:
    """Return the module's result of steps that were taken, or planned."""
    rows, before, after, records = [], [], [], []
    for step in steps:
        record = step.record or ({} if step.reason else step.receipt or {})
        old = step.receipt
        action = _action(step)
        rows.append(
            {
                "component": step.archive.component,
                "product": step.archive.product,
                "release": step.archive.release,
                "platform": step.archive.platform,
                "variant": step.archive.variant,
                "version": record.get("version") if record else step.archive.version,
                "sha256": record.get("sha256") if record else step.archive.sha256,
                "path": record.get("path"),
                "current": current_path(prefix, step.archive.component),
                "sonames": record.get("sonames", []),
                "license": record.get("license"),
                "fingerprint": record.get("fingerprint"),
                "action": action,
                "reason": step.reason,
                "previous_version": old.get("version") if old and step.reason else None,
                "downloaded_bytes": step.downloaded_bytes,
                "download_seconds": round(step.download_seconds, 3),
            }
        )
        if record:
            records.append(record)
        wanted = dataclasses.replace(step.archive, version=record.get("version")) if record else step.archive
        after.append(wanted.label)
        if not step.reason:
            before.append(wanted.label)
        elif old is not None:
            note = "" if action in ("upgrade", "downgrade", "replace") else f": {step.reason}"
            before.append(label_of(old) + note)
    return result(prefix, any(step.reason for step in steps), rows, before, after, records, steps)


def _action(step: Step) -> str:
    if not step.reason:
        return "none"
    if step.receipt is None:
        return "install"
    old, new = step.receipt.get("version"), (step.record.get("version") or step.archive.version)
    if new is None or (step.receipt.get("release") == step.archive.release and old == new):
        return "replace" if differs(step.receipt, step.archive, step.receipt.get("prefix", "")) else "repair"
    return "upgrade" if versions.numbers(str(new)) > versions.numbers(str(old)) else "downgrade"
