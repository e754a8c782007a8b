# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The redist archives that are wanted, and what NVIDIA's manifest of a release says of them.

The layout of the tree, as developer.download.nvidia.com/compute has it:
``<product>/redist/redistrib_<release>.json`` is the manifest; each ``relative_path`` in it is next to it.
"""

from __future__ import annotations

import dataclasses
import json
import re
import typing as t

from .._core.errors import SparkforgeError
from .._core.redact import redact
from .._core.versions import is_whole
from . import http
from .redist_layout import VERSION

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


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
            url=url,
        )
    platforms = {key: value for key, value in entry.items() if isinstance(value, dict)}
    found = platforms.get(archive.platform)
    if found is None:
        raise SparkforgeError(
            f"The manifest {url} has no {archive.component} for the platform {archive.platform}; "
            f"it has {listed(sorted(platforms))}.",
            "Choose a release that has the platform, or skip the archive on this host.",
            url=url,
        )
    if "relative_path" in found:
        if archive.variant:
            raise SparkforgeError(
                f"The manifest {url} has {archive.component} for {archive.platform} without variants, but the variant "
                f"{archive.variant} was requested.",
                "Set variant to '' for this archive.",
                url=url,
            )
    else:
        variants = {key: value for key, value in found.items() if isinstance(value, dict)}
        if archive.variant not in variants:
            asked = f"variant {archive.variant}" if archive.variant else "build without a variant"
            raise SparkforgeError(
                f"The manifest {url} has no {asked} of {archive.component} for {archive.platform}; "
                f"it has {listed(sorted(variants))}.",
                "Choose one of those variants, or a release that has yours.",
                url=url,
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
            url=url,
        )
    if archive.version is not None and archive.version != version:
        raise SparkforgeError(
            f"The manifest {url} has {archive.component} {version}, but the stack pins {archive.version}.",
            "Correct the release or the version in the stack; playbooks/lock.yml looks both up.",
            url=url,
            expected=archive.version,
            actual=version,
        )
    if archive.sha256 is not None and archive.sha256 != digest.lower():
        raise SparkforgeError(
            f"The manifest {url} gives {archive.component} {version} ({archive.platform}"
            f"{', ' + archive.variant if archive.variant else ''}) the sha256 {digest.lower()}, but the stack pins "
            f"{archive.sha256}.",
            "Nothing was downloaded. Either the mirror's manifest is not NVIDIA's, or the pin belongs to "
            "another release: compare both with NVIDIA's tree, then run playbooks/lock.yml.",
            url=url,
            expected=archive.sha256,
            actual=digest.lower(),
        )
    size = found.get("size")
    return Resolved(
        version=version,
        relative_path=path,
        sha256=digest.lower(),
        size=int(str(size)) if is_whole(str(size)) else None,
        name=str(entry.get("name", archive.component)),
        license=str(entry.get("license", "")),
    )


def fetch_manifest(url: str, archive: Archive) -> dict[str, t.Any]:
    """Return the manifest of the release that ``archive`` is of.

    :raises SparkforgeError: if there is none, or it is not a JSON object.
    """
    try:
        content = http.fetch_bytes(url)
    except SparkforgeError as error:
        if error.details.get("status") != 404:
            raise
        raise SparkforgeError(
            f"{archive.product} has no release {archive.release}: {redact(url)} does not exist (HTTP 404).",
            "Correct the release of the archive in the stack, or the mirror in sparkforge_nvidia_url.",
            **error.details,
        ) from error
    return _parsed(content, redact(url))


def _parsed(content: bytes, url: str) -> dict[str, t.Any]:
    try:
        manifest = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SparkforgeError(
            f"The manifest {url} is not JSON: {error}.",
            "Check the manifest's URL, and that no proxy or mirror changed it.",
            url=url,
        ) from error
    if not isinstance(manifest, dict):
        raise SparkforgeError(
            f"The manifest {url} is not a JSON object.",
            "Check that the mirror has NVIDIA's manifest.",
            url=url,
        )
    return manifest


def listed(names: t.Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
