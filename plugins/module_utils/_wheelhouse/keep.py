"""The keep rule: the builds to keep in a wheelhouse, including those that environments and unfinished builds need."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import os
import re
import typing as t

from .._core import receipts
from .._core.errors import SparkforgeError
from .._wheel import wheel

_SHA256 = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_FINGERPRINT = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")

#: A unit's name and its fingerprint.
Key = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Build:
    """A finished build, as recorded in its receipt."""

    name: str
    fingerprint: str
    finished: str
    depends: frozenset[Key]
    wheels: tuple[wheel.Wheel, ...]

    @property
    def key(self) -> Key:
        return self.name, self.fingerprint

    @classmethod
    def of(cls, receipt: t.Mapping[str, t.Any]) -> Build:
        """Return the build that ``receipt`` records."""
        name, mark = receipt["name"], receipt["fingerprint"]
        depends = receipt["inputs"].get("depends") or {}
        return cls(name, mark, str(receipt["finished"]), frozenset(depends.items()), tuple(wheel.wheels_in(receipt)))


class Rule(t.NamedTuple):
    """The result of the keep rule: the builds to remove, and those kept without a manifest, with the reason."""

    goes: list[Build]
    stays: dict[Key, str]


def keys_of(manifest: wheel.Manifest) -> frozenset[Key]:
    return frozenset((unit["name"], unit["fingerprint"]) for unit in manifest["units"])


def latest_manifests(published: t.Sequence[wheel.Manifest], keep: int) -> list[wheel.Manifest]:
    """Return the first ``keep`` manifests for each stack name."""
    counts: dict[str, int] = {}
    latest = []
    for manifest in published:
        counts[manifest["stack"]] = counts.get(manifest["stack"], 0) + 1
        if counts[manifest["stack"]] <= keep:
            latest.append(manifest)
    return latest


def plan(
    builds: t.Sequence[Build],
    published: t.Sequence[wheel.Manifest],
    keep: int,
    used: t.Mapping[Key, str],
    needed: t.Iterable[Key] = (),
) -> Rule:
    """Apply the keep rule to ``builds``.

    A build is removed if a manifest that is no longer kept listed it, or if no manifest did and ``keep`` newer
    manifests list its unit. However old it is, it is kept if an environment uses it or a kept build depends on it.

    :param published: the manifests, latest first.
    :param used: builds in use by environments, each with a description of the use.
    :param needed: the dependencies of unfinished builds.
    """
    kept_manifests = latest_manifests(published, keep)
    builds_by_key = {build.key: build for build in builds}
    stays: dict[Key, str] = dict.fromkeys(needed, "an unfinished build depends on it")
    stays.update(used)
    current = frozenset().union(*(keys_of(manifest) for manifest in kept_manifests))
    waiting = [*current, *stays]
    while waiting:
        key = waiting.pop()
        for other in builds_by_key[key].depends if key in builds_by_key else ():
            if other not in stays and other not in current:
                stays[other] = f"{key[0]} {key[1]} depends on it"
                waiting.append(other)
    dropped = frozenset().union(*(keys_of(manifest) for manifest in published if manifest not in kept_manifests))

    def is_superseded(build: Build) -> bool:
        newer = (manifest for manifest in kept_manifests if manifest["written"] >= build.finished)
        return sum(build.name in dict(keys_of(manifest)) for manifest in newer) >= keep

    candidates = [build for build in builds if build.key not in current]
    old = [build for build in candidates if build.key in dropped or is_superseded(build)]
    goes = [build for build in old if build.key not in stays]
    return Rule(goes, {build.key: stays[build.key] for build in old if build.key in stays})


def builds_in_use(root: str, builds: t.Mapping[Key, Build]) -> dict[Key, str]:
    """Return the builds in use by environments, with a description of the use.

    An environment is linked to its wheels by their sha256. All its receipts count: those of the current environment, of
    those to roll back to, and of those not yet switched to.
    """
    uses: dict[Key, str] = {}
    pattern = glob.escape(root)
    paths = [
        *glob.glob(f"{pattern}/receipts/env-*.json"),
        *glob.glob(f"{pattern}/envs/*/*/receipt.json"),
        # These environments are being created.
        *glob.glob(f"{pattern}/envs/*/.*/receipt.json"),
    ]
    for path in sorted(paths):
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SparkforgeError(
                f"{path} cannot be read: {error.strerror}, so it is unknown which wheels are in use.",
                "Set become for this task.",
            ) from error
        hashes = {*_SHA256.findall(text), *_FINGERPRINT.findall(text)}
        for key, build in builds.items():
            if build.fingerprint in hashes or any(item.sha256 in hashes for item in build.wheels):
                uses.setdefault(key, f"the environment of {os.path.relpath(path, root)} uses it")
    return uses


def depends_of(root: str, unfinished: t.Iterable[t.Mapping[str, t.Any]]) -> list[Key]:
    """Return the dependencies of unfinished builds."""
    dependencies: list[Key] = []
    for row in unfinished:
        path = os.path.join(root, "builds", row["name"], row["fingerprint"], "request.json")
        with contextlib.suppress(ValueError, AttributeError, TypeError, KeyError):
            dependencies += ((receipts.load(path, links=False) or {})["inputs"].get("depends") or {}).items()
    return dependencies
