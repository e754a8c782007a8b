"""The files of a wheelhouse: verify wheels, write manifests and index, and remove unneeded files.

The caller runs each function as the account that owns the directories.
"""

from __future__ import annotations

import contextlib
import os
import typing as t

from .._core import digests, disk
from .._core.errors import SparkforgeError
from . import keep

#: The names in ``wheelhouse/<platform>`` other than units. A unit's directory belongs to the build account, but these
#: and the receipts are owned by root, and they alone determine what a host installs.
MANIFESTS, SIMPLE = "manifests", "simple"


def verify(directory: str, units: t.Iterable[keep.Build]) -> None:
    """Refuse a wheel that does not match its receipt."""
    for build in units:
        for wheel in build.wheels:
            path = os.path.join(directory, wheel.relative)
            try:
                with disk.open_regular(path) as stream:
                    digest = digests.of_stream(stream)
            except OSError as error:
                raise SparkforgeError(
                    f"The wheel {path} cannot be read: {error.strerror}. Nothing was published.",
                    "Run playbooks/build.yml, which builds missing wheels.",
                ) from error
            if digest != wheel.sha256:
                raise SparkforgeError(
                    f"The sha256 of the wheel {wheel.file} is {digest}, but the receipt of {build.name} "
                    f"{build.fingerprint} says {wheel.sha256}. Nothing was published.",
                    f"Find out who changed {path}; then remove {os.path.dirname(path)} and run "
                    "playbooks/build.yml, which rebuilds it.",
                )


def compare(directory: str, desired: t.Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Return which of the ``desired`` files are missing or different, and which existing files to remove."""
    same = set()
    for name, content in desired.items():
        with contextlib.suppress(OSError), disk.open_regular(os.path.join(directory, name)) as stream:
            if stream.read() == content:
                same.add(name)
    # This includes the leftovers of a killed run.
    existing = [
        os.path.relpath(os.path.join(folder, file), directory)
        for part in (MANIFESTS, SIMPLE)
        for folder, _directories, names in os.walk(os.path.join(directory, part))
        for file in names
    ]
    return [name for name in desired if name not in same], [name for name in existing if name not in desired]


def write(directory: str, desired: t.Mapping[str, bytes], differ: t.Sequence[str], stale: t.Sequence[str]) -> None:
    """Write the ``differ`` files from ``desired`` and remove the ``stale`` ones, both returned by ``compare``."""
    # Write manifests last, so that everything that they list is available.
    for name in sorted(differ, key=lambda name: (name.startswith(MANIFESTS), name)):
        disk.write_file(os.path.join(directory, name), desired[name])
    for path in (os.path.join(directory, name) for name in stale):
        disk.delete(path)
        disk.remove_empty(os.path.dirname(path))


def remove_build(root: str, directory: str, build: keep.Build) -> None:
    """Remove the artefact and the build tree, running as the account that owns them."""
    artefact = os.path.join(directory, *build.key)
    removed = os.path.join(directory, build.name, f".{build.fingerprint}.partial")
    disk.remove(removed)
    with contextlib.suppress(FileNotFoundError):
        os.rename(artefact, removed)
    disk.remove(removed)
    disk.remove(os.path.join(root, "builds", *build.key))
    disk.remove_empty(os.path.join(root, "builds", build.name))
