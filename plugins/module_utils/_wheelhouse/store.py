# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Publishing on the builder: verify the wheels, write index and manifest, prune what nothing needs.

The directories belong to the account that builds, so whatever is written or removed there is done with its rights: no
link that a build planted is followed with root's. ``<root>/receipts/wheelhouse-<platform>.json`` is root's and is
written last. It has what was published, the latest first, and the size and times of each file whose sha256 was read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import glob
import json
import os
import re
import stat
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached, digests, disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import receipts as _receipt
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import carry, follow
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import survey as surveys
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication

_BLOCK = 1 << 20
_SHA256 = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_FINGERPRINT = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
_PLATFORM = re.compile(r"[a-z0-9][a-z0-9._+]*-[a-z0-9_]+")
#: What is no unit below ``<root>/wheelhouse/<platform>``.
MANIFESTS, SIMPLE = "manifests", "simple"

#: A unit's name and its fingerprint.
Key = t.Tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Build:
    """A finished build, as its receipt has it."""

    name: str
    fingerprint: str
    finished: str
    depends: t.FrozenSet[Key]
    #: Rows as a manifest has them; a prefix, which no index serves, is none.
    wheels: t.Tuple[t.Mapping[str, t.Any], ...]

    @property
    def key(self) -> Key:
        return self.name, self.fingerprint

    @classmethod
    def of(cls, receipt: t.Mapping[str, t.Any]) -> Build:
        """Return the build that ``receipt`` is about."""
        name, mark = receipt["name"], receipt["fingerprint"]
        wheels = [
            {
                **{key: item[key] for key in ("name", "version", "sha256", "size")},
                "file": item["path"],
                "path": f"{name}/{mark}/{item['path']}",
            }
            for item in receipt["outputs"]
            if "version" in item
        ]
        depends = receipt["inputs"].get("depends") or {}
        return cls(name, mark, str(receipt["finished"]), frozenset(depends.items()), tuple(wheels))


class Rule(t.NamedTuple):
    """What the keep rule says: which builds go, which stay though no kept manifest names them, and why."""

    goes: t.List[Build]
    stays: t.Dict[Key, str]


def keys_of(manifest: t.Mapping[str, t.Any]) -> t.FrozenSet[Key]:
    """Return the units of a manifest."""
    return frozenset((unit["name"], unit["fingerprint"]) for unit in manifest["units"])


def newest(published: t.Sequence[t.Dict[str, t.Any]], keep: int) -> t.List[t.Dict[str, t.Any]]:
    """Return the first ``keep`` manifests of each stack name."""
    seen: t.Dict[str, int] = {}
    found = []
    for manifest in published:
        seen[manifest["stack"]] = seen.get(manifest["stack"], 0) + 1
        if seen[manifest["stack"]] <= keep:
            found.append(manifest)
    return found


def judge(
    builds: t.Sequence[Build],
    published: t.Sequence[t.Dict[str, t.Any]],
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
    stays: t.Dict[Key, str] = dict.fromkeys(needed, "a build that has not ended depends on it")
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


class Store:
    """The wheelhouse of one platform on this host.

    :param options: the options of the module ``wheelhouse``.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False) -> None:
        self.options = options
        self.check_mode = check_mode
        self.root = os.path.abspath(options["root"])
        self.house = os.path.join(self.root, "wheelhouse")
        self.platform: str = options.get("platform") or ""
        self.account = detached.Account(detached.owner_of(self.house))
        self.warnings: t.List[str] = []

    @property
    def directory(self) -> str:
        return os.path.join(self.house, self.platform)

    @property
    def receipt_name(self) -> str:
        return f"wheelhouse-{self.platform}"

    # --- present -----------------------------------------------------------------------------------------------

    def present(self) -> t.Dict[str, t.Any]:
        """Publish the stack.

        :raises SparkforgeError: where a unit was not built here, or a wheel is not what its receipt says; then nothing
            was published and nothing removed.
        """
        self._check_options()
        if self.check_mode:
            return self._publish()
        with _receipt.lock(self.root, "wheelhouse"):
            return self._publish()

    def _check_options(self) -> None:
        if not _PLATFORM.fullmatch(self.platform):
            raise SparkforgeError(
                f"{self.platform!r} is not a platform.", "Give it as the filter builder says it: ubuntu24.04-aarch64."
            )
        if self.options["keep"] < 1:
            raise SparkforgeError(
                f"The option keep is {self.options['keep']}.", "Give 1 or more: the latest manifest always stays."
            )
        if not self.options["units"]:
            raise SparkforgeError(
                "There is no unit to publish.",
                "Give the fact sparkforge_built, which the roles llvm, triton, pytorch and torch_extensions set.",
            )
        for name, unit in self.options["units"].items():
            if not isinstance(unit, dict) or not unit.get("fingerprint"):
                raise SparkforgeError(
                    f"The unit {name} has no fingerprint.",
                    "Give of each unit the fingerprint and the wheels that source_build returned.",
                )
        for mark in self.options["in_use"]:
            if not _FINGERPRINT.fullmatch(str(mark)):
                raise SparkforgeError(
                    f"{mark!r} in in_use is not a fingerprint.", "Give fingerprints of 16 hexadecimal digits."
                )

    def _publish(self) -> t.Dict[str, t.Any]:
        with self.account.acting():
            survey = surveys.survey(self.root)
            builds = {
                build.key: build
                for build in map(
                    Build.of, (receipt for receipt in survey["receipts"] if receipt["platform"] == self.platform)
                )
            }
            unfinished = self._depends_of(survey["unfinished"] + survey["running"])
        before = _receipt.read(self.root, self.receipt_name) or {}
        units, pending = self._units(builds)
        if pending:
            return self._would(pending)
        verified = self._verify(units, before.get("verified") or {})
        published = self._published(before)
        manifest, old = self._manifest(units, published)
        latest = next((one for one in published if one["stack"] == manifest["stack"]), None)
        if manifest is not latest:
            published = [manifest, *(one for one in published if one is not manifest)]

        rule = judge(list(builds.values()), published, self.options["keep"], self._used(builds), unfinished)
        gone = {build.key for build in rule.goes}
        kept = newest(published, self.options["keep"])
        # An older one serves as long as an environment needs all that it names.
        published = [one for one in published if one in kept or keys_of(one) <= (set(builds) - gone)]
        pages = publication.index(wheel for one in published for unit in one["units"] for wheel in unit["wheels"])
        files = {os.path.join(SIMPLE, name): text.encode("ascii") for name, text in pages.items()}
        for one in reversed(published):
            # Two of one stack and lock: the latest has the name.
            name = publication.file_of(one["stack"], one["lock_id"])
            files[os.path.join(MANIFESTS, name)] = publication.text_of(one)
        receipt = {
            "kind": "wheelhouse",
            "platform": self.platform,
            "published": published,
            "verified": {
                wheel["path"]: verified[wheel["path"]]
                for build in builds.values()
                for wheel in build.wheels
                if build.key not in gone and wheel["path"] in verified
            },
        }
        with self.account.acting():
            differ, stale = self._compare(files)
            sizes = {build.key: _tree_bytes(os.path.join(self.directory, *build.key)) for build in rule.goes}
        result: t.Dict[str, t.Any] = {
            "changed": bool(differ or stale or rule.goes),
            "manifest": manifest,
            "path": self._path(MANIFESTS, publication.file_of(manifest["stack"], manifest["lock_id"])),
            "index": self._path(SIMPLE, "index.html"),
            "pending": [],
            "pruned": [
                {"name": build.name, "fingerprint": build.fingerprint, "size": sizes[build.key]} for build in rule.goes
            ],
            "kept": [
                {"name": name, "fingerprint": mark, "reason": reason}
                for (name, mark), reason in sorted(rule.stays.items())
            ],
            "diff": self._diff(manifest, old, builds, rule),
        }
        if not self.check_mode and (result["changed"] or receipt != before):
            with self.account.acting():
                self._write(files, differ, stale)
                for build in rule.goes:
                    self._remove_build(build)
            for build in rule.goes:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.options["log_root"], f"{build.name}-{build.fingerprint}.log"))
            _receipt.write(self.root, self.receipt_name, receipt)
        return result

    def _path(self, *parts: str) -> str:
        return os.path.join(self.directory, *parts)

    def _would(self, pending: t.Sequence[str]) -> t.Dict[str, t.Any]:
        """Return what ``--check`` says before the units are built."""
        name = publication.file_of(self.options["stack"], self.options["lock_id"])
        return {
            "changed": True,
            "manifest": None,
            "path": self._path(MANIFESTS, name),
            "index": self._path(SIMPLE, "index.html"),
            "pending": list(pending),
            "pruned": [],
            "kept": [],
            "diff": [
                {
                    "before_header": name,
                    "after_header": name,
                    "before": "",
                    "after": f"published once {', '.join(pending)} would be built\n",
                }
            ],
        }

    def _units(self, builds: t.Mapping[Key, Build]) -> t.Tuple[t.List[Build], t.List[str]]:
        """Return the units' builds, and with ``--check`` the names of those that are not built yet."""
        found, pending = [], []
        for name, unit in sorted(self.options["units"].items()):
            build = builds.get((name, unit["fingerprint"]))
            if build is None and self.check_mode:
                pending.append(name)
                continue
            if build is None:
                raise SparkforgeError(
                    f"The unit {name} {unit['fingerprint']} has no intact receipt on this host for {self.platform}.",
                    "Run playbooks/build.yml: it builds what is not there, and writes a receipt that was changed anew.",
                    unit=name,
                    fingerprint=unit["fingerprint"],
                )
            known = {wheel["file"]: wheel["sha256"] for wheel in build.wheels}
            for wheel in unit.get("wheels") or []:
                file = os.path.basename(str(wheel.get("path")))
                if known.get(file) != wheel.get("sha256"):
                    raise SparkforgeError(
                        f"The receipt of {name} {build.fingerprint} says {known.get(file) or 'nothing'} of {file}, and "
                        f"the option units {wheel.get('sha256')}.",
                        "Give the fact sparkforge_built of the run that built it.",
                        unit=name,
                    )
            found.append(build)
        return found, pending

    def _verify(self, units: t.Iterable[Build], known: t.Mapping[str, t.Any]) -> t.Dict[str, t.Any]:
        """Return of each wheel its sha256, size and times, having read those that changed since they were read last.

        :raises SparkforgeError: for the first wheel that is not what its receipt says.
        """
        rows = dict(known)
        with self.account.acting():
            for build in units:
                for wheel in build.wheels:
                    path = self._path(wheel["path"])
                    row, digest = _read(path, wheel, rows.get(wheel["path"]))
                    if digest != wheel["sha256"]:
                        raise SparkforgeError(
                            f"The sha256 of the wheel {wheel['file']} is {digest}, the receipt of {build.name} "
                            f"{build.fingerprint} says {wheel['sha256']}. Nothing was published.",
                            f"Find out who changed {path}; then remove {os.path.dirname(path)} and run "
                            "playbooks/build.yml, which makes it anew.",
                            path=path,
                            expected=wheel["sha256"],
                            got=digest,
                        )
                    rows[wheel["path"]] = row
        return rows

    def _published(self, before: t.Mapping[str, t.Any]) -> t.List[t.Dict[str, t.Any]]:
        """Return the intact manifests, the latest first: those of the receipt, and files that it does not know."""
        found: t.List[t.Dict[str, t.Any]] = []
        candidates = list(before.get("published") or [])
        with self.account.acting():
            places = [self._path(MANIFESTS, name) for name in disk.names(self._path(MANIFESTS))]
            others = [(one, os.lstat(path).st_mtime_ns) for path in places for one in [follow.read(path)] if one]
        # Two may be of one second.
        others.sort(key=lambda row: (str(row[0].get("written")), row[1]), reverse=True)
        candidates += [one for one, _time in others]
        for candidate in candidates:
            with contextlib.suppress(SparkforgeError):
                one = publication.check(candidate, platform=self.platform)
                if one["seal"] not in {other["seal"] for other in found}:
                    found.append(one)
        return found

    def _manifest(
        self, units: t.Iterable[Build], published: t.Sequence[t.Dict[str, t.Any]]
    ) -> t.Tuple[t.Dict[str, t.Any], t.Optional[t.Dict[str, t.Any]]]:
        """Return the manifest, the published one where that says the same, and the one whose place it takes."""
        new = publication.manifest(
            stack=self.options["stack"],
            lock_id=self.options["lock_id"],
            platform=self.platform,
            python=self.options["python"],
            host=self.options["name"],
            written=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            units=[{"name": build.name, "fingerprint": build.fingerprint, "wheels": build.wheels} for build in units],
        )
        of_lock = [one for one in published if (one["stack"], one["lock_id"]) == (new["stack"], new["lock_id"])]

        def said(one: t.Mapping[str, t.Any]) -> t.Dict[str, t.Any]:
            return {key: value for key, value in one.items() if key not in ("written", "seal")}

        same = next((one for one in of_lock if said(one) == said(new)), None)
        return same or new, of_lock[0] if of_lock else None

    # --- what is in use ----------------------------------------------------------------------------------------

    def _used(self, builds: t.Mapping[Key, Build]) -> t.Dict[Key, str]:
        """Return the builds that environments use, and which.

        An environment knows its wheels by their sha256. Every receipt of one counts: what is current, what it can be
        rolled back to, and what is not switched to yet.
        """
        used = {key: "in_use names it" for key in builds if key[1] in set(self.options["in_use"])}
        pattern = glob.escape(self.root)
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
                    f"{path} cannot be read: {error.strerror}, so that it is not known which wheels are in use.",
                    "Become root for this task.",
                ) from error
            words = {*_SHA256.findall(text), *_FINGERPRINT.findall(text)}
            for key, build in builds.items():
                if build.fingerprint in words or any(wheel["sha256"] in words for wheel in build.wheels):
                    used.setdefault(key, f"the environment of {os.path.relpath(path, self.root)} uses it")
        return used

    def _depends_of(self, unfinished: t.Iterable[t.Mapping[str, t.Any]]) -> t.List[Key]:
        """Return the builds that those which have not ended depend on."""
        found: t.List[Key] = []
        for row in unfinished:
            path = os.path.join(self.root, "builds", row["name"], row["fingerprint"], "request.json")
            with contextlib.suppress(OSError, ValueError, AttributeError), open(path, encoding="utf-8") as stream:
                found += (json.load(stream)["inputs"].get("depends") or {}).items()
        return found

    # --- files -------------------------------------------------------------------------------------------------

    def _compare(self, files: t.Mapping[str, bytes]) -> t.Tuple[t.List[str], t.List[str]]:
        """Return which of ``files`` are not there as they are to be, and which others are to go."""
        differ = []
        for name, content in files.items():
            try:
                with open(os.open(self._path(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
                    same = stream.read() == content
            except OSError:
                same = False
            if not same:
                differ.append(name)
        return differ, [name for name in self._found() if name not in files]

    def _found(self) -> t.List[str]:
        """Return the files below manifests and simple, also the remains of a run that was killed."""
        return [
            os.path.relpath(os.path.join(place, file), self.directory)
            for part in (MANIFESTS, SIMPLE)
            for place, _directories, names in os.walk(self._path(part))
            for file in names
        ]

    def _write(self, files: t.Mapping[str, bytes], differ: t.Sequence[str], stale: t.Sequence[str]) -> None:
        # A manifest last: whoever reads it may trust that what it names is served.
        for name in sorted(differ, key=lambda name: (name.startswith(MANIFESTS), name)):
            disk.write_file(self._path(name), files[name])
        for name in stale:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path(name))
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(self._path(name)))

    def _remove_build(self, build: Build) -> None:
        """Remove artefact, receipt and tree of a build; cut short, what is left is no artefact any more."""
        receipt = os.path.join(self.root, "receipts", "units", f"{build.name}-{build.fingerprint}.json")
        artefact = self._path(*build.key)
        removed = self._path(build.name, f".{build.fingerprint}.partial")
        disk.remove(removed)
        with contextlib.suppress(FileNotFoundError):
            os.rename(artefact, removed)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(receipt)
        disk.remove(removed)
        for tree, holder in carry.trees(os.path.join(self.root, "builds", build.name)):
            if holder == build.fingerprint:
                disk.remove(tree)
        disk.remove(os.path.join(self.root, "builds", *build.key))
        for parent in (os.path.dirname(artefact), os.path.join(self.root, "builds", build.name)):
            with contextlib.suppress(OSError):
                os.rmdir(parent)

    def _diff(
        self,
        manifest: t.Mapping[str, t.Any],
        old: t.Optional[t.Mapping[str, t.Any]],
        builds: t.Mapping[Key, Build],
        rule: Rule,
    ) -> t.List[t.Dict[str, str]]:
        name = publication.file_of(manifest["stack"], manifest["lock_id"])
        gone = {build.key for build in rule.goes}
        return [
            {
                "before_header": name,
                "after_header": name,
                "before": publication.text_of(old).decode("ascii") if old else "",
                "after": publication.text_of(manifest).decode("ascii"),
            },
            {
                "before_header": self.directory,
                "after_header": self.directory,
                "before": "".join(f"{unit} {mark}\n" for unit, mark in sorted(builds)),
                "after": "".join(f"{unit} {mark}\n" for unit, mark in sorted(set(builds) - gone)),
            },
        ]

    # --- absent ------------------------------------------------------------------------------------------------

    def absent(self) -> t.Dict[str, t.Any]:
        """Remove manifests and index, of all platforms where none is given; the artefacts are source_build's."""
        if self.platform and not _PLATFORM.fullmatch(self.platform):
            self._check_options()
        found = []
        for platform in [self.platform] if self.platform else disk.names(self.house):
            found += [os.path.join(self.house, platform, part) for part in (MANIFESTS, SIMPLE)]
        found = [path for path in found if os.path.lexists(path)]
        pattern = os.path.join(
            glob.escape(self.root), "receipts", f"wheelhouse-{glob.escape(self.platform) or '*-*'}.json"
        )
        receipts = sorted(glob.glob(pattern))
        changed = bool(found or receipts)
        if changed and not self.check_mode:
            with _receipt.lock(self.root, "wheelhouse"):
                for path in receipts:
                    _receipt.remove(self.root, os.path.basename(path)[: -len(".json")])
                with self.account.acting():
                    for path in found:
                        disk.remove(path)
                        with contextlib.suppress(OSError):
                            os.rmdir(os.path.dirname(path))
                with contextlib.suppress(OSError):
                    os.rmdir(self.house)
        return {
            "changed": changed,
            "removed": [*found, *receipts],
            "diff": {"before": "".join(f"{path}\n" for path in [*found, *receipts]), "after": ""},
        }


def _read(path: str, wheel: t.Mapping[str, t.Any], known: t.Any) -> t.Tuple[t.Dict[str, t.Any], str]:
    """Return size and times of a file with its sha256, which is read again where one of them changed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise SparkforgeError(
            f"The wheel {path} cannot be read: {error.strerror}. Nothing was published.",
            "Run playbooks/build.yml, which makes what is missing anew.",
            path=path,
        ) from error
    with open(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        row = {
            "size": found.st_size,
            "mtime_ns": found.st_mtime_ns,
            "ctime_ns": found.st_ctime_ns,
            "inode": found.st_ino,
            "sha256": wheel["sha256"],
        }
        if row == known and stat.S_ISREG(found.st_mode):
            return row, str(row["sha256"])
        return row, digests.of_stream(stream)


def _tree_bytes(directory: str) -> int:
    return sum(
        os.lstat(os.path.join(place, name)).st_size
        for place, _directories, names in os.walk(directory)
        for name in names
    )
