# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The keep rule: which builds of a wheelhouse stay, and what environments and unfinished builds need of them."""

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
    """A finished build, as its receipt has it."""

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
        """Return the build that ``receipt`` is about."""
        name, mark = receipt["name"], receipt["fingerprint"]
        depends = receipt["inputs"].get("depends") or {}
        return cls(name, mark, str(receipt["finished"]), frozenset(depends.items()), tuple(wheel.built(receipt)))


class Rule(t.NamedTuple):
    """What the keep rule says: which builds go, which stay though no kept manifest names them, and why."""

    goes: list[Build]
    stays: dict[Key, str]


def keys_of(manifest: wheel.Manifest) -> frozenset[Key]:
    return frozenset((unit["name"], unit["fingerprint"]) for unit in manifest["units"])


def newest(published: t.Sequence[wheel.Manifest], keep: int) -> list[wheel.Manifest]:
    """Return the first ``keep`` manifests of each stack name."""
    seen: dict[str, int] = {}
    found = []
    for manifest in published:
        seen[manifest["stack"]] = seen.get(manifest["stack"], 0) + 1
        if seen[manifest["stack"]] <= keep:
            found.append(manifest)
    return found


def plan(
    builds: t.Sequence[Build],
    published: t.Sequence[wheel.Manifest],
    keep: int,
    used: t.Mapping[Key, str],
    needed: t.Iterable[Key] = (),
) -> Rule:
    """Return what the keep rule says of ``builds``.

    A build goes where a manifest that is no longer kept named it, or where none named it and ``keep`` manifests with
    its unit are newer. It stays, whatever its age, where an environment uses it, or where what stays depends on it.

    :param published: the manifests, the latest first.
    :param used: builds that environments use, each with the words that say which.
    :param needed: builds that a build that has not ended depends on.
    """
    kept = newest(published, keep)
    known = {build.key: build for build in builds}
    stays: dict[Key, str] = dict.fromkeys(needed, "an unfinished build depends on it")
    stays.update(used)
    current = frozenset().union(*(keys_of(manifest) for manifest in kept))
    waiting = [*current, *stays]
    while waiting:
        key = waiting.pop()
        for other in known[key].depends if key in known else ():
            if other not in stays and other not in current:
                stays[other] = f"{key[0]} {key[1]} depends on it"
                waiting.append(other)
    dropped = frozenset().union(*(keys_of(manifest) for manifest in published if manifest not in kept))

    def is_superseded(build: Build) -> bool:
        newer = [
            manifest
            for manifest in kept
            if manifest["written"] >= build.finished and build.name in {name for name, _mark in keys_of(manifest)}
        ]
        return len(newer) >= keep

    spare = [build for build in builds if build.key not in current]
    old = [build for build in spare if build.key in dropped or is_superseded(build)]
    return Rule(
        [build for build in old if build.key not in stays],
        {build.key: stays[build.key] for build in old if build.key in stays},
    )


def used(root: str, builds: t.Mapping[Key, Build]) -> dict[Key, str]:
    """Return the builds that environments use, and which.

    An environment knows its wheels by their sha256. Every receipt of one counts: what is current, what it can be
    rolled back to, and what is not switched to yet.
    """
    found: dict[Key, str] = {}
    pattern = glob.escape(root)
    paths = [
        *glob.glob(f"{pattern}/receipts/env-*.json"),
        *glob.glob(f"{pattern}/envs/*/*/receipt.json"),
        # One that is being made now.
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
        words = {*_SHA256.findall(text), *_FINGERPRINT.findall(text)}
        for key, build in builds.items():
            if build.fingerprint in words or any(one.sha256 in words for one in build.wheels):
                found.setdefault(key, f"the environment of {os.path.relpath(path, root)} uses it")
    return found


def depends_of(root: str, unfinished: t.Iterable[t.Mapping[str, t.Any]]) -> list[Key]:
    """Return the builds that those which have not ended depend on."""
    found: list[Key] = []
    for row in unfinished:
        path = os.path.join(root, "builds", row["name"], row["fingerprint"], "request.json")
        with contextlib.suppress(ValueError, AttributeError, TypeError, KeyError):
            found += ((receipts.load(path, links=False) or {})["inputs"].get("depends") or {}).items()
    return found
