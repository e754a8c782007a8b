"""Plan NVIDIA's redistributable archives and compare them with the host's, without downloads or changes.

The vendor's tree on developer.download.nvidia.com/compute has the manifest in
``<product>/redist/redistrib_<release>.json``; each ``relative_path`` in it is relative to the manifest's directory.
Plans on the controller load this module in every forked worker, so it imports no download code.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import typing as t

from .._core import versions
from .._core.errors import SparkforgeError

#: The library directories in NVIDIA's archives; the first one that exists is used.
LIBRARY_DIRECTORIES = ("lib", "lib64")

LOADER_DIRECTORY = "/etc/ld.so.conf.d"

#: Valid names for a version's directory, including an optional variant; they never match the symlink next to it.
VERSION = re.compile(r"[0-9][A-Za-z0-9._+-]{0,127}")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def current_path(prefix: str, component: str) -> str:
    """Return the symlink that selects the active version of a component."""
    return os.path.join(prefix, component, "current")


def is_version(path: str, component: str) -> bool:
    """Tell whether ``path`` is a valid directory for a version of ``component``, under any prefix."""
    parent, name = os.path.split(path)
    is_plain = os.path.isabs(path) and os.path.normpath(path) == path and os.path.basename(parent) == component
    return is_plain and VERSION.fullmatch(name) is not None


def loader_path(loader_directory: str, component: str) -> str:
    """Return the path of a component's loader entry."""
    return os.path.join(loader_directory, f"sparkforge-{component}.conf")


def loader_entry(record: t.Mapping[str, t.Any], *, identity: bool) -> str:
    """Return the text of the loader entry.

    Its first line identifies the installed version for observers that read only /etc. That line is written after the
    receipt, so it proves that the installation finished.
    """
    head = ""
    if identity:
        fields = [record["component"], record["version"], record["variant"] or "-", record["platform"]]
        head = f"# sparkforge redist_archive: {' '.join(fields)} {record['sha256']}\n"
    return f"{head}{os.path.join(record['current'], record['library_directory'])}\n"


def label_of(record: t.Mapping[str, t.Any]) -> str:
    """Return the name of a requested or installed archive for messages."""
    build = ", ".join(filter(None, (record.get("platform"), record.get("variant"))))
    return f"{record.get('component')} {record.get('version') or 'of release ' + str(record.get('release'))} ({build})"


@dataclasses.dataclass(frozen=True)
class Archive:
    """One requested archive. ``version``, ``sha256`` and ``soname`` are pins unless they are None."""

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
    """The manifest's data about an archive."""

    version: str
    relative_path: str
    sha256: str
    size: int | None
    license: str


def archives_from(options: t.Sequence[t.Mapping[str, t.Any]], platform: str, variant: str, state: str) -> list[Archive]:
    """Validate the module's ``archives`` and fill in the platform and variant of the call.

    :raises SparkforgeError: for a missing or invalid value, with the number of the entry.
    """
    archives: list[Archive] = []
    for number, entry in enumerate(options):
        where = f"archives[{number}] ({entry.get('component') or 'no component'})"
        values = {"variant": variant, **{key: value for key, value in entry.items() if value is not None}}
        missing_keys = [key for key in ("product", "release") if not values.get(key)]
        if missing_keys and state == "present":
            raise SparkforgeError(
                f"{where} has no {missing_keys[0]}.",
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

    :param url: the URL of the manifest, for messages.
    :raises SparkforgeError: if the manifest lacks the archive, listing the alternatives, or contradicts a pin.
    """
    entry = manifest.get(archive.component)
    if not isinstance(entry, dict):
        components = sorted(key for key, value in manifest.items() if isinstance(value, dict))
        raise SparkforgeError(
            f"The manifest {url} has no component {archive.component}; it has {join_names(components)}.",
            "Correct the component of the archive in the stack.",
        )
    platforms = {key: value for key, value in entry.items() if isinstance(value, dict)}
    files = platforms.get(archive.platform)
    if files is None:
        raise SparkforgeError(
            f"The manifest {url} has no {archive.component} for the platform {archive.platform}; "
            f"it has {join_names(sorted(platforms))}.",
            "Choose a release that has the platform, or skip the archive on this host.",
        )
    variants = {"": files} if "relative_path" in files else {k: v for k, v in files.items() if isinstance(v, dict)}
    if archive.variant not in variants:
        requested_build = f"variant {archive.variant}" if archive.variant else "build without a variant"
        raise SparkforgeError(
            f"The manifest {url} has no {requested_build} of {archive.component} for {archive.platform}; "
            f"it has {join_names(sorted(filter(None, variants)))}.",
            "Set variant to '' for this archive."
            if "" in variants
            else "Choose one of those variants, or a release that has yours.",
        )
    file = variants[archive.variant]
    version, path, sha256 = str(entry.get("version")), str(file.get("relative_path")), str(file.get("sha256")).lower()
    is_valid = VERSION.fullmatch(version) and _SHA256.fullmatch(sha256) and re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", path)
    if not is_valid or ".." in path.split("/") or not isinstance(entry["version"], str):
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


def parse_manifest(content: bytes, url: str) -> dict[str, t.Any]:
    """Parse a manifest; ``url`` is for messages."""
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


def join_names(names: t.Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def differs(receipt: t.Mapping[str, t.Any], archive: Archive, prefix: str) -> str:
    """Return how the installed archive differs from the requested one, or '' if it does not."""
    for key in ("product", "release", "version", "platform", "variant", "sha256", "prefix"):
        value = prefix if key == "prefix" else getattr(archive, key)
        if value is not None and receipt.get(key) != value:
            return f"its {key} is {receipt.get(key)}, expected {value}"
    return ""


def damage(record: t.Mapping[str, t.Any]) -> str:
    """Return how an unpacked archive differs from its record in names, sizes and link targets, or '' if it is intact.

    Each file costs one lstat; a change that keeps the size goes undetected.
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
    """Return the records of the installed version and the previous one, without their own ``previous`` entries."""
    if receipt is None:
        return []
    previous = receipt.get("previous")
    records = [receipt] + ([previous] if isinstance(previous, dict) else [])
    return [{key: value for key, value in record.items() if key != "previous"} for record in records]
