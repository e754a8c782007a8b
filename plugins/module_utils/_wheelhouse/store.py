"""Publish wheels on the builder: verify them, write the index and the manifest, and prune unneeded builds.

The directories of units belong to the build account, so reading and removing there uses its rights, and links planted
by a build are not followed as root. The manifests and the index are owned by root, as is
``<root>/receipts/wheelhouse-<platform>.json``, which is written last and lists the publications, latest first.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import typing as t

from .._core import accounts, digests, disk, phrases, receipts as _receipt
from .._core.errors import SparkforgeError
from .._unit import receipt as built, state_file
from .._wheel.wheel import Manifest, of_units
from . import files, keep, publication, signature

_UNSIGNED = "The manifest is not signed: this host has no ssh-keygen. Install openssh-client."


class Store:
    """The wheelhouse for one platform on this host.

    :param options: the options of the module ``wheelhouse``.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False) -> None:
        self.options = options
        self.check_mode = check_mode
        self.root = os.path.abspath(options["root"])
        self.house = os.path.join(self.root, "wheelhouse")
        self.platform: str = options.get("platform") or ""
        self.signer = signature.Signer(self.root)
        self.account = accounts.Account(accounts.owner_of(os.path.join(self.root, "builds")))

    @property
    def directory(self) -> str:
        return os.path.join(self.house, self.platform)

    @property
    def file(self) -> str:
        """The file name of the stack's manifest."""
        return publication.file_of(self.options["stack"], self.options["lock_id"])

    @property
    def receipt_name(self) -> str:
        return f"wheelhouse-{self.platform}"

    def present(self) -> dict[str, t.Any]:
        """Publish the stack.

        :raises SparkforgeError: if a unit was not built here, or a wheel does not match its receipt; then nothing has
            been published or removed.
        """
        self._check_options()
        if self.check_mode:
            return self._publish()
        with _receipt.lock(self.root, "wheelhouse"):
            return self._publish()

    def _check_options(self) -> None:
        publication.checked_platform(self.platform)
        if self.options["keep"] < 1:
            raise SparkforgeError(
                f"The option keep is {self.options['keep']}.",
                "Set it to 1 or more: the latest manifest is always kept.",
            )
        if not self.options["units"]:
            raise SparkforgeError(
                "There is nothing to publish.",
                "Set units to the fact sparkforge_built, which the roles llvm, triton, pytorch and torch_extensions "
                "set.",
            )
        for name, unit in self.options["units"].items():
            if not isinstance(unit, dict) or not unit.get("fingerprint"):
                raise SparkforgeError(
                    f"The unit {name} has no fingerprint.",
                    "Set for each unit the fingerprint and the wheels that source_build returned.",
                )

    def _publish(self) -> dict[str, t.Any]:
        with self.account.acting():
            observed = built.observe_all(self.root)
            receipts = [receipt for receipt in observed["receipts"] if receipt["platform"] == self.platform]
            builds = {build.key: build for build in map(keep.Build.of, receipts)}
            unfinished = keep.depends_of(self.root, observed["unfinished"] + observed["running"])
        before = _receipt.read(self.root, self.receipt_name) or {}
        units, pending = self._units(builds)
        if pending:
            diff = phrases.diff(self.file, "", f"published once {', '.join(pending)} is built\n")
            return self._result(None, changed=True, pending=pending, diff=[diff])
        with self.account.acting():
            files.verify(self.directory, units)
        published = self._published(before)
        manifest, old = self._manifest(units, published)
        latest = next((item for item in published if item["stack"] == manifest["stack"]), None)
        if manifest is not latest:
            published = [manifest, *(item for item in published if _content(item) != _content(manifest))]
        is_new_key = self.signer.make(self.check_mode)
        published = [self.signer.sign(item) for item in published]
        manifest = next(item for item in published if item["seal"] == manifest["seal"])

        used = keep.builds_in_use(self.root, builds)
        rule = keep.plan(list(builds.values()), published, self.options["keep"], used, unfinished)
        removed = {build.key for build in rule.goes}
        newest = keep.latest_manifests(published, self.options["keep"])
        # An older manifest is kept as long as an environment needs all of its builds.
        published = [item for item in published if item in newest or keep.keys_of(item) <= (set(builds) - removed)]
        pages = publication.index(wheel for item in published for wheel in of_units(item["units"]))
        desired = {os.path.join(files.SIMPLE, name): text.encode("ascii") for name, text in pages.items()}
        for item in reversed(published):
            # If two have the same stack and lock, the name refers to the newer one.
            name = publication.file_of(item["stack"], item["lock_id"])
            desired[os.path.join(files.MANIFESTS, name)] = digests.text_of(item).encode("ascii")
        receipt = {"kind": "wheelhouse", "platform": self.platform, "published": published}
        differ, stale = files.compare(self.directory, desired)
        result = self._result(
            manifest,
            changed=bool(differ or stale or rule.goes or is_new_key),
            warnings=[] if self.signer.program else [_UNSIGNED],
            pruned=[{"name": build.name, "fingerprint": build.fingerprint} for build in rule.goes],
            kept=[
                {"name": name, "fingerprint": mark, "reason": reason}
                for (name, mark), reason in sorted(rule.stays.items())
            ],
            diff=self._diff(manifest, old, builds, rule),
        )
        if not self.check_mode and (result["changed"] or receipt != before):
            files.write(self.directory, desired, differ, stale)
            for build in rule.goes:
                self._remove(build)
            _receipt.write(self.root, self.receipt_name, receipt)
        return result

    def _remove(self, build: keep.Build) -> None:
        """Remove a build and then its receipt, so that the next run can finish an interrupted removal."""
        name = f"{build.name}-{build.fingerprint}"
        with self.account.acting():
            files.remove_build(self.root, self.directory, build)
        disk.remove_empty(os.path.join(self.directory, build.name))
        for path in (
            os.path.join(self.root, "receipts", "units", f"{name}.json"),
            os.path.join(self.options["log_root"], f"{name}.log"),
        ):
            disk.delete(path)

    def _path(self, *parts: str) -> str:
        return os.path.join(self.directory, *parts)

    def _result(self, manifest: Manifest | None, **others: t.Any) -> dict[str, t.Any]:
        """Return the result of the module; the manifest is None before the units are built."""
        key = self.signer.public_key
        paths = {"path": self._path(files.MANIFESTS, self.file), "index": self._path(files.SIMPLE, "index.html")}
        return {"manifest": manifest, "public_key": key, **paths, "pending": [], "pruned": [], "kept": [], **others}

    def _units(self, builds: t.Mapping[keep.Key, keep.Build]) -> tuple[list[keep.Build], list[str]]:
        """Return the units' builds and, with ``--check``, the names of units that are not built yet."""
        units, pending = [], []
        for name, unit in sorted(self.options["units"].items()):
            build = builds.get((name, unit["fingerprint"]))
            if build is None and self.check_mode:
                pending.append(name)
                continue
            if build is None:
                raise SparkforgeError(
                    f"The unit {name} {unit['fingerprint']} has no intact receipt on this host for {self.platform}.",
                    "Run playbooks/build.yml: it builds missing units and replaces modified receipts.",
                )
            sha256s = {wheel.file: wheel.sha256 for wheel in build.wheels}
            for wheel in unit.get("wheels") or []:
                file = os.path.basename(str(wheel.get("path")))
                if sha256s.get(file) != wheel.get("sha256"):
                    raise SparkforgeError(
                        f"The sha256 of {file} is {sha256s.get(file) or 'missing'} in the receipt of {name} "
                        f"{build.fingerprint}, but {wheel.get('sha256')} in the option units.",
                        "Pass the fact sparkforge_built of the run that built it.",
                    )
            units.append(build)
        return units, pending

    def _published(self, before: t.Mapping[str, t.Any]) -> list[Manifest]:
        """Return the intact manifests, latest first: those in the receipt, and files that the receipt does not list."""
        manifests: list[Manifest] = []
        candidates = list(before.get("published") or [])
        paths = [self._path(files.MANIFESTS, name) for name in disk.names(self._path(files.MANIFESTS))]
        others = [(item, os.lstat(path).st_mtime_ns) for path in paths for item in [state_file.read(path)] if item]
        # Two manifests can be from the same second.
        others.sort(key=lambda row: (str(row[0].get("written")), row[1]), reverse=True)
        candidates += [item for item, _time in others]
        for candidate in candidates:
            with contextlib.suppress(SparkforgeError):
                item = publication.check(candidate)
                if item["platform"] == self.platform and item["seal"] not in {other["seal"] for other in manifests}:
                    manifests.append(item)
        return manifests

    def _manifest(
        self, units: t.Iterable[keep.Build], published: t.Sequence[Manifest]
    ) -> tuple[Manifest, Manifest | None]:
        """Return the manifest (the latest one if its content is the same) and the one that it replaces.

        A new manifest gets a later time than the one it replaces, even if the clock is wrong: hosts refuse earlier
        ones.
        """
        lock = (self.options["stack"], self.options["lock_id"])
        latest = next((other for other in published if (other["stack"], other["lock_id"]) == lock), None)
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        if latest:
            before = datetime.datetime.strptime(latest["written"], publication.TIME)
            now = max(now, before + datetime.timedelta(seconds=1))
        new = publication.manifest(
            stack=self.options["stack"],
            lock_id=self.options["lock_id"],
            platform=self.platform,
            python=self.options["python"],
            host=self.options["name"],
            written=now.strftime(publication.TIME),
            units=[{"name": build.name, "fingerprint": build.fingerprint, "wheels": build.wheels} for build in units],
        )
        return latest if latest and _content(latest) == _content(new) else new, latest

    def _diff(
        self, manifest: Manifest, old: Manifest | None, builds: t.Mapping[keep.Key, keep.Build], rule: keep.Rule
    ) -> list[dict[str, str]]:
        removed = {build.key for build in rule.goes}
        texts = [digests.text_of(version) if version else "" for version in (old, manifest)]
        lists = ["".join(f"{unit} {mark}\n" for unit, mark in sorted(keys)) for keys in (builds, set(builds) - removed)]
        return [phrases.diff(self.file, *texts), phrases.diff(self.directory, *lists)]

    def absent(self) -> dict[str, t.Any]:
        """Remove one platform's manifests and index, or all of them and the key. source_build removes the artefacts."""
        if self.platform:
            publication.checked_platform(self.platform)
        paths = []
        for platform in [self.platform] if self.platform else disk.names(self.house):
            paths += [os.path.join(self.house, platform, part) for part in (files.MANIFESTS, files.SIMPLE)]
        paths += [] if self.platform else [self.signer.directory]
        paths = [path for path in paths if os.path.lexists(path)]
        names = _receipt.names(self.root, self.receipt_name)
        names = [name for name in names if name == self.receipt_name or not self.platform]
        removed = [*paths, *(_receipt.path_of(self.root, name) for name in names)]
        if removed and not self.check_mode:
            with _receipt.lock(self.root, "wheelhouse"):
                for name in names:
                    _receipt.remove(self.root, name)
                for path in paths:
                    disk.remove(path)
                    disk.remove_empty(os.path.dirname(path))
                disk.remove_empty(self.house)
        diff = {"before": "".join(f"{path}\n" for path in removed), "after": ""}
        return {"changed": bool(removed), "removed": removed, "diff": diff}


def _content(manifest: Manifest) -> dict[str, t.Any]:
    """Return the content of a manifest without its own metadata."""
    return {key: value for key, value in manifest.items() if key not in ("written", "seal", "signature")}
