# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads every installed file again and names what differs from the receipts; starts nothing of what it reads.

A receipt is believed: who can change it and the file that it names alike is root. Of an environment RECORD says what
its files are, and RECORD is compared with the wheels that are still here.
"""

from __future__ import annotations

import dataclasses
import glob
import os
import typing as t

from .._shared.module_utils._apt import receipt as apt
from .._shared.module_utils._core import digests, disk, receipts
from .._shared.module_utils._core.errors import SparkforgeError
from .._shared.module_utils._environment import receipt as environments, tree
from .._shared.module_utils._fetch import redist_plan
from .._shared.module_utils._unit import receipt as sealing
from .._shared.module_utils._wheel import artefact, installed as packages
from .._shared.module_utils._wheel.names import normalised
from .._shared.module_utils._wheel.wheel import Wheel, given
from .._shared.module_utils._wheelhouse import publication

#: Directories that small images leave out (dpkg.cfg, path-exclude); nothing loads their files.
_LEFT_OUT = ("/usr/share/doc", "/usr/share/info", "/usr/share/lintian", "/usr/share/locale", "/usr/share/man")

#: Runs a command: exit status and standard output.
Ask = t.Callable[[t.Sequence[str]], tuple[int, str]]


@dataclasses.dataclass
class Audit:
    """One audit of a host.

    :param root: directory that holds environments, archives, artefacts and receipts.
    :ivar checked: how many files of each kind were read.
    :ivar differs: what differs, each with ``kind``, ``path`` and ``what``.
    """

    root: str
    ask: Ask
    checked: dict[str, int] = dataclasses.field(default_factory=dict)
    differs: list[dict[str, str]] = dataclasses.field(default_factory=list)

    def run(self) -> dict[str, t.Any]:
        """Read everything and return what was found."""
        for part in (self._environments, self._wheels, self._units, self._manifests, self._archives, self._packages):
            part()
        return {"checked": self.checked, "differs": sorted(self.differs, key=lambda row: (row["kind"], row["path"]))}

    def _count(self, kind: str, number: int) -> None:
        self.checked[kind] = self.checked.get(kind, 0) + number

    def _differs(self, kind: str, path: str, what: str) -> None:
        self.differs.append({"kind": kind, "path": path, "what": what})

    # --- what python_env made

    def _environments(self) -> None:
        for path in sorted(glob.glob(os.path.join(glob.escape(self.root), "envs", "*", "*", "receipt.json"))):
            place = os.path.dirname(path)
            if os.path.islink(place):
                continue
            receipt = environments.own_of(place)
            if receipt is None:
                self._differs("environment", path, "is not a receipt")
                continue
            try:
                self._environment(place, receipt)
            except FileNotFoundError as error:
                self._differs("environment", str(error.filename), "is missing")

    def _environment(self, place: str, receipt: t.Mapping[str, t.Any]) -> None:
        directory = tree.site_packages(place)
        installed = packages.installed([directory])
        variables = [str(value) for value in (receipt.get("environment") or {}).values() if value]
        found = packages.compare(list(installed.values()), installed.values(), variables)
        self._count("environment", found.count)
        for what, paths in (("is missing", found.missing), ("was changed", found.changed)):
            for name in paths:
                self._differs("environment", os.path.normpath(os.path.join(directory, name)), what)
        for name in found.unknown:
            self._differs("environment", os.path.normpath(os.path.join(directory, name)), "belongs to no package")
        for name in found.unrecorded:
            self._differs("environment", os.path.join(directory, name), "has no RECORD")
        recorded = {normalised(name): version for name, version in (receipt.get("packages") or {}).items()}
        for name in sorted({*recorded} | {one.name for one in installed.values()}):
            have = installed[name].version if name in installed else "nothing"
            if recorded.get(name, "nothing") != have:
                what = f"is {have}, the receipt says {recorded.get(name, 'nothing')}"
                self._differs("environment", os.path.join(directory, name), what)
        for wheel in given(receipt, os.path.join(self.root, "wheels")):
            self._installed_from(wheel, installed)

    def _installed_from(self, wheel: Wheel, installed: t.Mapping[str, packages.Distribution]) -> None:
        """Compare RECORD of a package with that of its wheel, as far as this host has that."""
        if wheel.name not in installed or not wheel.is_here:
            return
        try:
            differing = packages.differing(wheel.path, installed[wheel.name]) or []
        except (OSError, SparkforgeError):
            # It is named as a wheel that is not its sha256.
            return
        for changed in differing:
            self._differs(
                "environment", os.path.join(installed[wheel.name].directory, changed), f"does not match {wheel.file}"
            )

    # --- what was built and published

    def _wheels(self) -> None:
        """The store of wheels that are no unit's of this host: each is below its sha256."""
        for path in sorted(glob.glob(os.path.join(glob.escape(self.root), "wheels", "*", "*.whl"))):
            self._file("wheel", path, os.path.basename(os.path.dirname(path)))

    def _units(self) -> None:
        found, changed = sealing.receipts_of(self.root)
        for path in changed:
            self._differs("unit", path, "was changed after it was written")
        for receipt in found:
            place = os.path.join(self.root, "wheelhouse", receipt["platform"], receipt["name"], receipt["fingerprint"])
            for output in receipt["outputs"]:
                path = os.path.join(place, output["path"])
                if "version" in output:
                    self._file("unit", path, output["sha256"])
                    continue
                had = {key: output[key] for key in ("files", "size", "sha256") if key in output}
                has = artefact.tree_digest(path) if os.path.isdir(path) else {}
                self._count("unit", int(has.get("files", 0)))
                if {key: has.get(key) for key in had} != had:
                    self._differs("unit", path, "is not what the receipt says" if has else "is missing")

    def _manifests(self) -> None:
        house = os.path.join(self.root, "wheelhouse")
        for platform in disk.names(house):
            receipt = receipts.read(self.root, f"wheelhouse-{platform}") or {}
            seals = {one.get("seal") for one in receipt.get("published") or []}
            directory = os.path.join(house, platform, "manifests")
            for name in disk.names(directory):
                path = os.path.join(directory, name)
                self._count("manifest", 1)
                try:
                    with disk.open_regular(path) as stream:
                        manifest = publication.read(stream.read(), "It")
                except (OSError, SparkforgeError):
                    self._differs("manifest", path, "is not a manifest, or was changed after it was written")
                    continue
                if manifest["seal"] not in seals:
                    self._differs("manifest", path, "was not published by this host")

    # --- what redist_archive and apt brought

    def _archives(self) -> None:
        for name in receipts.names(self.root, "redist-"):
            receipt = receipts.read(self.root, name)
            if receipt is None:
                self._differs("archive", receipts.path_of(self.root, name), "is not a receipt")
            for record in redist_plan.generations(receipt):
                known = record.get("digests") or {}
                for name, digest in sorted(known.items()):
                    self._file("archive", os.path.join(str(record["path"]), name), digest)
                # Its links; and of an older receipt, which has no digests, sizes.
                damage = redist_plan.damage({**record, "files": {} if known else record.get("files", {})})
                if damage:
                    self._differs("archive", str(record.get("path")), f"is damaged: {damage}")

    def _packages(self) -> None:
        """Have dpkg compare the files of the packages that the roles asked for (dpkg(1), --verify)."""
        for name in sorted(apt.versions(self.root)):
            status, said = self.ask(["dpkg", "--verify", name])
            self._count("package", 1)
            lines = [line for line in said.splitlines() if line.strip()]
            for line in lines:
                flags, _space, path = line.partition(" ")
                # A "c" marks a file of configuration, which is the owner's to change.
                is_theirs = path.strip().startswith("c ") or (flags == "missing" and path.strip().startswith(_LEFT_OUT))
                if not is_theirs:
                    what = "is missing" if flags == "missing" else "was changed"
                    self._differs("package", path.strip(), f"{what} ({name})")
            if status != 0 and not lines:
                self._differs("package", name, "is not installed")

    def _file(self, kind: str, path: str, wanted: str) -> None:
        self._count(kind, 1)
        try:
            with disk.open_regular(path) as stream:
                got = digests.of_stream(stream)
        except OSError:
            self._differs(kind, path, "is missing")
            return
        if got != wanted:
            self._differs(kind, path, f"has the sha256 {got[:12]}…, the receipt says {wanted[:12]}…")


def describe(found: t.Mapping[str, t.Any], shown: int = 20) -> str:
    """Return what was found in words, the first differences one by one."""
    rows = found["differs"]
    if not rows:
        return f"{sum(found['checked'].values())} files match the receipts."
    more = f"; and {len(rows) - shown} more" if len(rows) > shown else ""
    return "; ".join(f"{row['path']} {row['what']}" for row in rows[:shown]) + more + "."
