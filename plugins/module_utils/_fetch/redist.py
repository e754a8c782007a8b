# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""NVIDIA's redistributable archives: manifest, pin, versioned directory, symlink, loader entry, receipt.

The layout of the tree, as developer.download.nvidia.com/compute has it:
``<product>/redist/redistrib_<release>.json`` is the manifest; each ``relative_path`` in it lies beside it.

On a host, ``<prefix>/<component>/<version>[-<variant>]`` is one unpacked archive, and
``<prefix>/<component>/current`` the symlink that says which one is in use. All archives of a call are
fetched, verified and unpacked before the first symlink is switched: a bad one leaves the host as it was.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import secrets
import shutil
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk, receipts, versions
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import reader
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import http, unpack
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch.redist_layout import (
    LIBRARY_DIRECTORIES,
    loader_entry,
    loader_path,
)

#: What a platform's libraries have as e_machine in their ELF header (linux-aarch64 is Tegra).
MACHINES = {"linux-sbsa": 183, "linux-aarch64": 183, "linux-x86_64": 62, "linux-ppc64le": 21}

#: Where NVIDIA's archives keep these; the first that exists counts.
PKG_CONFIG_DIRECTORIES = ("lib/pkgconfig", "lib64/pkgconfig", "share/pkgconfig", "pkg-config", "pkgconfig")

#: Where the corrected copies of pkg-config files lie within the unpacked archive.
CORRECTED_PKG_CONFIG = "share/sparkforge/pkgconfig"

#: An xz archive of libraries unpacks to three or four times its size; beside it lies the archive itself.
DISK_FACTOR = 5

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_LOCK = "redist"

Run = t.Callable[[t.List[str]], t.Tuple[int, str, str]]


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


@dataclasses.dataclass
class Step:
    """What is to be done for one archive, and why; ``reason`` is empty where there is nothing to do."""

    archive: Archive
    receipt: dict[str, t.Any] | None
    reason: str = ""
    reuse: dict[str, t.Any] | None = None
    resolved: Resolved | None = None
    staged: str | None = None
    unpacked: unpack.Unpacked | None = None
    record: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    downloaded_bytes: int = 0
    download_seconds: float = 0.0


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
                        "Give product, component and release of each archive, as NVIDIA's tree names them.",
                    )
        for key, value in given.items():
            if key == "sha256":
                if not _SHA256.fullmatch(value):
                    raise SparkforgeError(
                        f"{where} has the sha256 {value!r}, which is not 64 hexadecimal digits.",
                        "Correct the pin in the stack, or run playbooks/lock.yml to have it looked up.",
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
                f"{where} names the component {archive.component} a second time.",
                "One version of a component can be current: keep one of the two entries.",
            )
        archives.append(archive)
    return archives


def resolve(manifest: t.Mapping[str, t.Any], archive: Archive, url: str) -> Resolved:
    """Find ``archive`` in a manifest.

    :param url: the manifest's, for messages.
    :raises SparkforgeError: where the manifest lacks it, naming what it has, or contradicts a pin.
    """
    entry = manifest.get(archive.component)
    if not isinstance(entry, dict):
        components = sorted(key for key, value in manifest.items() if isinstance(value, dict))
        raise SparkforgeError(
            f"The manifest {url} has no component {archive.component}; it has {_listed(components)}.",
            "Correct the component of the archive in the stack.",
            url=url,
        )
    platforms = {key: value for key, value in entry.items() if isinstance(value, dict)}
    found = platforms.get(archive.platform)
    if found is None:
        raise SparkforgeError(
            f"The manifest {url} has no {archive.component} for the platform {archive.platform}; "
            f"it has {_listed(sorted(platforms))}.",
            "Choose a release that has the platform, or leave the archive out on this host.",
            url=url,
        )
    if "relative_path" in found:
        if archive.variant:
            raise SparkforgeError(
                f"The manifest {url} has {archive.component} for {archive.platform} without variants, "
                f"and the variant {archive.variant} was asked for.",
                'Give this archive the variant "".',
                url=url,
            )
    else:
        variants = {key: value for key, value in found.items() if isinstance(value, dict)}
        if archive.variant not in variants:
            asked = f"variant {archive.variant}" if archive.variant else "build without a variant"
            raise SparkforgeError(
                f"The manifest {url} has no {asked} of {archive.component} for {archive.platform}; "
                f"it has {_listed(sorted(variants))}.",
                "Choose one of those variants, or a release that has the one you want.",
                url=url,
            )
        found = variants[archive.variant]
    return _resolved(entry, found, archive, url)


def _resolved(entry: t.Mapping[str, t.Any], found: t.Mapping[str, t.Any], archive: Archive, url: str) -> Resolved:
    version, path, digest = entry.get("version"), found.get("relative_path"), found.get("sha256")
    if (
        not isinstance(version, str)
        or not _SAFE.fullmatch(version)
        or not isinstance(path, str)
        or not re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", path)
        or ".." in path.split("/")
        or not isinstance(digest, str)
        or not _SHA256.fullmatch(digest)
    ):
        raise SparkforgeError(
            f"The manifest {url} gives {archive.component} the version {version!r}, the path {path!r} and "
            f"the sha256 {digest!r}, which cannot be.",
            "Check that the mirror holds NVIDIA's manifest.",
            url=url,
        )
    if archive.version is not None and archive.version != version:
        raise SparkforgeError(
            f"The manifest {url} has {archive.component} {version}, the stack pins {archive.version}.",
            "Correct the release or the version in the stack; playbooks/lock.yml looks both up.",
            url=url,
            expected=archive.version,
            actual=version,
        )
    if archive.sha256 is not None and archive.sha256 != digest.lower():
        raise SparkforgeError(
            f"The manifest {url} gives {archive.component} {version} ({archive.platform}"
            f"{', ' + archive.variant if archive.variant else ''}) the sha256 {digest.lower()}, "
            f"the stack's pin says {archive.sha256}.",
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
        size=int(str(size)) if str(size).isdigit() else None,
        name=str(entry.get("name", archive.component)),
        license=str(entry.get("license", "")),
    )


def parse_manifest(content: bytes, url: str) -> dict[str, t.Any]:
    """Return the manifest as a mapping.

    :raises SparkforgeError: where it is not a JSON object.
    """
    try:
        manifest = json.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise SparkforgeError(
            f"The manifest {url} is not JSON: {error}.",
            "Check that the URL names the manifest and that no proxy or mirror changed it.",
            url=url,
        ) from error
    if not isinstance(manifest, dict):
        raise SparkforgeError(
            f"The manifest {url} is not a JSON object.",
            "Check that the mirror holds NVIDIA's manifest.",
            url=url,
        )
    return manifest


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
            return f"its {key} is {receipt.get(key)}, {value} is wanted"
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
            return f"the symlink {name} leads to {actual} instead of {target}"
    return ""


def corrected_pkg_config(text: str, path: str, directory: str) -> str | None:
    """Return a pkg-config file that is true for an archive unpacked at ``path``; None where it is already.

    :param directory: where the file lies, for ``${pcfiledir}``.
    """
    values = {"pcfiledir": directory}
    lines: list[str] = []
    truth = {
        "prefix": path,
        "exec_prefix": path,
        "cudaroot": path,
        "libdir": f"{path}/lib",
        "includedir": f"{path}/include",
    }
    for line in text.splitlines():
        match = re.match(r"\s*([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$", line)
        if match:
            name, value = match.groups()
            resolved = re.sub(r"\$\{([^}]*)\}", lambda found: values.get(found.group(1), ""), value)
            inside = os.path.normpath(resolved) == path or os.path.normpath(resolved).startswith(path + "/")
            if name in truth and (not inside or os.path.normpath(resolved) not in _allowed(name, path)):
                resolved = truth[name]
                line = f"{name}={resolved}"
            values[name] = resolved
        lines.append(line)
    corrected = "\n".join(lines) + "\n"
    return None if corrected.splitlines() == text.splitlines() else corrected


def _allowed(name: str, path: str) -> tuple[str, ...]:
    if name == "libdir":
        return tuple(f"{path}/{directory}" for directory in LIBRARY_DIRECTORIES)
    if name == "includedir":
        return (f"{path}/include",)
    return (path,)


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


class RedistArchives:
    """Brings a host to the wanted archives, or takes them away.

    :param run: runs an argument list and returns status, stdout, stderr; None where ldconfig must not run.
    """

    def __init__(
        self,
        archives: t.Sequence[Archive],
        *,
        base_url: str,
        prefix: str,
        root: str,
        loader_directory: str,
        keep_previous: bool = True,
        check_mode: bool = False,
        ldconfig: t.Sequence[str] = (),
        run: Run | None = None,
        lock_wait: float = 900.0,
    ) -> None:
        for name, value in (("prefix", prefix), ("root", root), ("loader_directory", loader_directory)):
            if not os.path.isabs(value) or os.path.normpath(value) == "/":
                raise SparkforgeError(f"The {name} {value!r} is not a directory of its own.", "Give an absolute path.")
        self.archives = list(archives)
        self.base_url = base_url.rstrip("/")
        self.prefix = os.path.normpath(prefix)
        self.root = os.path.normpath(root)
        self.loader_directory = os.path.normpath(loader_directory)
        self.keep_previous = keep_previous
        self.check_mode = check_mode
        self.ldconfig = list(ldconfig)
        self.run = run
        self.lock_wait = lock_wait

    # What both states share

    def current(self, component: str) -> str:
        return os.path.join(self.prefix, component, "current")

    def loader_file(self, component: str) -> str:
        return loader_path(self.loader_directory, component)

    def refresh_loader(self) -> None:
        if self.run is None or not self.ldconfig:
            return
        status, _stdout, stderr = self.run(self.ldconfig)
        if status != 0:
            raise SparkforgeError(
                f"{self.ldconfig[0]} failed with exit status {status}: {stderr.strip() or 'no message'}.",
                "Correct what it names and run again: the libraries are in place, the loader's cache is not.",
                stderr=stderr,
            )

    def _result(
        self, changed: bool, rows: list[dict[str, t.Any]], before: list[str], after: list[str], **more: t.Any
    ) -> dict[str, t.Any]:
        return {
            "changed": changed,
            "archives": rows,
            "diff": {
                "before_header": f"{self.prefix} (before)",
                "after_header": f"{self.prefix} (after)",
                "before": "".join(f"{line}\n" for line in before),
                "after": "".join(f"{line}\n" for line in after),
            },
            **more,
        }

    # state: present

    def present(self) -> dict[str, t.Any]:
        """Install what is missing or different, and return the module's result.

        :raises SparkforgeError: with the host as it was, unless ldconfig itself failed.
        """
        steps = self.plan()
        if self.check_mode or not any(step.reason for step in steps):
            return self.describe_present(steps)
        with receipts.lock(self.root, _LOCK, self.lock_wait):
            steps = self.plan()  # another run may have done the work while this one waited
            work = [step for step in steps if step.reason]
            if work:
                self.install(work)
        return self.describe_present(steps)

    def plan(self) -> list[Step]:
        """Compare the host with what is wanted; reads receipts and lstats files, asks no server."""
        steps = []
        for archive in self.archives:
            receipt = receipts.read(self.root, f"redist-{archive.component}")
            step = Step(archive, receipt)
            step.reason = self._reason(step)
            if step.reason and receipt is not None:
                previous = receipt.get("previous")
                for record in (receipt, previous if isinstance(previous, dict) else None):
                    if record and not differs(record, archive, self.prefix) and not damage(record):
                        step.reuse = record
                        break
            steps.append(step)
        return steps

    def _reason(self, step: Step) -> str:
        component, receipt = step.archive.component, step.receipt
        current = self.current(component)
        if os.path.lexists(current) and not os.path.islink(current):
            raise SparkforgeError(
                f"{current} is not a symlink and was not made by sparkforge.",
                "Move it out of the way and run again.",
            )
        if receipt is None:
            return "not installed"
        reason = differs(receipt, step.archive, self.prefix)
        if reason:
            return reason
        reason = damage(receipt)
        if reason:
            return f"damaged: {reason}"
        if not os.path.islink(current) or os.readlink(current) != os.path.basename(receipt["path"]):
            return "its symlink is missing or leads elsewhere"
        soname = step.archive.soname
        if soname is not None and soname not in receipt.get("sonames", []):
            return f"it was not proven to have {soname}"
        if receipt.get("library_directory"):
            wanted = loader_entry(receipt, identity=True)
            if _text_of(self.loader_file(component)) != wanted:
                return "its loader entry is missing or different"
        if receipt.get("previous") and not self.keep_previous:
            return "a previous version is kept"
        return ""

    def install(self, steps: list[Step]) -> None:
        made = disk.make_directories(self.prefix)
        try:
            self._remove_stale_staging()
            self._resolve(steps)
            for step in steps:
                self._stage(step)
        except BaseException:
            for step in steps:
                if step.staged is not None:
                    shutil.rmtree(step.staged, ignore_errors=True)
            for directory in reversed(made):
                with contextlib.suppress(OSError):
                    os.rmdir(directory)
            raise
        for step in steps:
            self._switch(step)
        self.refresh_loader()
        for step in steps:
            self._record(step)

    def _remove_stale_staging(self) -> None:
        # The lock is held: whatever a run left here was killed.
        for name in os.listdir(self.prefix):
            if name.startswith((".staging-", ".fetch-", ".replaced-")):
                path = os.path.join(self.prefix, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)

    def _resolve(self, steps: list[Step]) -> None:
        """Read each manifest once and check every pin, before the first archive is downloaded."""
        manifests: dict[str, dict[str, t.Any]] = {}
        for step in steps:
            archive = step.archive
            if step.reuse is not None:
                _require_soname(archive, step.reuse["version"], step.reuse.get("sonames", []))
                continue
            url = f"{self.base_url}/{archive.product}/redist/redistrib_{archive.release}.json"
            if url not in manifests:
                manifests[url] = parse_manifest(self._manifest(url, archive), redact(url))
            step.resolved = resolve(manifests[url], archive, redact(url))

    def _manifest(self, url: str, archive: Archive) -> bytes:
        try:
            return http.fetch_bytes(url)
        except SparkforgeError as error:
            if error.details.get("status") != 404:
                raise
            raise SparkforgeError(
                f"There is no release {archive.release} of {archive.product}: {redact(url)} does not exist (HTTP 404).",
                "Correct the release of the archive in the stack, or the mirror in sparkforge_nvidia_url.",
                **error.details,
            ) from error

    def _stage(self, step: Step) -> None:
        """Download, verify and unpack one archive into a directory that nothing refers to."""
        archive, resolved = step.archive, step.resolved
        if resolved is None:
            return
        self._check_free_space(archive, resolved)
        url = f"{self.base_url}/{archive.product}/redist/{resolved.relative_path}"
        staged = os.path.join(self.prefix, f".staging-{archive.component}-{secrets.token_hex(4)}")
        begin = time.monotonic()
        file = http.fetch(url, self.prefix, sha256=resolved.sha256)
        step.download_seconds = time.monotonic() - begin
        try:
            step.downloaded_bytes = os.path.getsize(file)
            step.unpacked = unpack.unpack(file, staged, redact(url))
            step.staged = staged
        finally:
            os.unlink(file)
        version = resolved.version + (f"-{archive.variant}" if archive.variant else "")
        path = os.path.join(self.prefix, archive.component, version)
        step.record = self._describe_tree(step, staged, path)
        step.record["url"] = redact(url)
        disk.fsync_tree(staged)

    def _check_free_space(self, archive: Archive, resolved: Resolved) -> None:
        if resolved.size is None:
            return
        numbers = os.statvfs(self.prefix)
        free, need = numbers.f_bavail * numbers.f_frsize, resolved.size * DISK_FACTOR
        if need > free:
            raise SparkforgeError(
                f"{archive.label} needs about {need / 1e6:.0f} MB to download and unpack, and {self.prefix} "
                f"has {free / 1e6:.0f} MB free.",
                "Free some space, or choose another prefix.",
            )

    def _describe_tree(self, step: Step, staged: str, path: str) -> dict[str, t.Any]:
        archive, resolved, unpacked = (
            step.archive,
            t.cast(Resolved, step.resolved),
            t.cast(t.Any, step.unpacked),
        )
        library = next((d for d in LIBRARY_DIRECTORIES if os.path.isdir(f"{staged}/{d}")), None)
        sonames = self._sonames(f"{staged}/{library}", archive.platform) if library else []
        _require_soname(archive, resolved.version, sonames)
        files = dict(unpacked.files)
        pkg_config = [d for d in PKG_CONFIG_DIRECTORIES if os.path.isdir(f"{staged}/{d}")]
        corrected = _correct_pkg_config(staged, path, pkg_config)
        if corrected:
            files.update(corrected)
            pkg_config.insert(0, CORRECTED_PKG_CONFIG)
        record: dict[str, t.Any] = {
            "product": archive.product,
            "component": archive.component,
            "release": archive.release,
            "version": resolved.version,
            "platform": archive.platform,
            "variant": archive.variant,
            "sha256": resolved.sha256,
            "name": resolved.name,
            "license": resolved.license,
            "license_files": sorted(n for n in files if re.match(r"(?i)(license|eula|copying)", n)),
            "prefix": self.prefix,
            "path": path,
            "current": self.current(archive.component),
            "library_directory": library,
            "include": os.path.isdir(f"{staged}/include"),
            "pkg_config": pkg_config,
            "pkg_config_corrected": sorted(corrected),
            "sonames": sonames,
            "files": files,
            "links": unpacked.links,
            "size": unpacked.size,
        }
        record["fingerprint"] = fingerprint(record)
        return record

    def _sonames(self, directory: str, platform: str) -> list[str]:
        """Return the SONAMEs under which the loader finds a library of the right machine in ``directory``."""
        found = set()
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if ".so" not in name or not os.path.isfile(path):
                continue
            try:
                library = reader.read_elf(path)
            except SparkforgeError:
                continue
            if library.soname == name and library.machine == MACHINES.get(platform, library.machine):
                found.add(name)
        return sorted(found)

    def _switch(self, step: Step) -> None:
        component = step.archive.component
        if step.reuse is not None:
            step.record = {key: value for key, value in step.reuse.items() if key not in ("previous", "loader_entry")}
        record = step.record
        if step.staged is not None:
            disk.make_directories(os.path.dirname(record["path"]))
            aside = os.path.join(self.prefix, f".replaced-{component}-{secrets.token_hex(4)}")
            if os.path.lexists(record["path"]):  # damaged, or left by a run that was killed
                os.rename(record["path"], aside)
            try:
                os.rename(step.staged, record["path"])
            except OSError:
                if os.path.lexists(aside):
                    os.rename(aside, record["path"])
                raise
            step.staged = None
            disk.fsync_directory(os.path.dirname(record["path"]))
            if os.path.lexists(aside):
                shutil.rmtree(aside)
        disk.switch_symlink(self.current(component), os.path.basename(record["path"]))
        self._write_loader_entry(record, identity=False)

    def _write_loader_entry(self, record: t.Mapping[str, t.Any], *, identity: bool) -> None:
        path = self.loader_file(record["component"])
        if record.get("library_directory"):
            disk.write_file(path, loader_entry(record, identity=identity).encode("utf-8"))
        else:
            _unlink(path)

    def _record(self, step: Step) -> None:
        """Write the receipt, then the loader entry's last line, then remove what is no longer kept."""
        record, old = step.record, step.receipt
        previous: dict[str, t.Any] | None = None
        obsolete: list[dict[str, t.Any]] = []
        for candidate in _generations(old):
            if candidate.get("path") == record["path"]:
                continue
            if previous is None and self.keep_previous and candidate.get("prefix") == self.prefix:
                previous = candidate
            else:
                obsolete.append(candidate)
        environment = environment_of([record])
        written = {
            **record,
            "previous": previous,
            "loader_entry": self.loader_file(record["component"]) if record.get("library_directory") else None,
            "environment": environment,
            "environment_sh": shell_of(environment),
            "installed_epoch": int(time.time()),
        }
        step.record = written
        receipts.write(self.root, f"redist-{record['component']}", written)
        self._write_loader_entry(record, identity=True)
        for candidate in obsolete:
            self._remove_version(candidate)
        if old is not None and old.get("loader_entry") not in (None, written["loader_entry"]):
            _unlink(str(old["loader_entry"]))

    def _remove_version(self, record: t.Mapping[str, t.Any]) -> None:
        """Remove an unpacked version, and its component and prefix directories where that empties them."""
        path = str(record.get("path"))
        component, prefix = str(record.get("component")), str(record.get("prefix"))
        if os.path.dirname(os.path.dirname(path)) != prefix or os.path.basename(os.path.dirname(path)) != component:
            return  # a receipt that somebody edited does not decide what is removed
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path)
        current = os.path.join(prefix, component, "current")
        if os.path.islink(current) and os.readlink(current) == os.path.basename(path):
            os.unlink(current)
        for directory in (os.path.join(prefix, component), prefix):
            with contextlib.suppress(OSError):
                os.rmdir(directory)

    def describe_present(self, steps: list[Step]) -> dict[str, t.Any]:
        rows, before, after, records = [], [], [], []
        for step in steps:
            record = step.record or step.receipt or {}
            known = bool(record) and (not step.reason or bool(step.record))
            old = step.receipt
            action = _action(step)
            rows.append(
                {
                    "component": step.archive.component,
                    "product": step.archive.product,
                    "release": step.archive.release,
                    "platform": step.archive.platform,
                    "variant": step.archive.variant,
                    "version": record.get("version") if known else step.archive.version,
                    "sha256": record.get("sha256") if known else step.archive.sha256,
                    "path": record.get("path") if known else None,
                    "current": self.current(step.archive.component),
                    "sonames": record.get("sonames", []) if known else [],
                    "license": record.get("license") if known else None,
                    "fingerprint": record.get("fingerprint") if known else None,
                    "action": action,
                    "reason": step.reason,
                    "previous_version": old.get("version") if old and step.reason else None,
                    "downloaded_bytes": step.downloaded_bytes,
                    "download_seconds": round(step.download_seconds, 3),
                }
            )
            if known:
                records.append(record)
            wanted = dataclasses.replace(step.archive, version=record.get("version")) if known else step.archive
            after.append(wanted.label)
            if not step.reason:
                before.append(wanted.label)
            elif old is not None:
                note = "" if action in ("upgrade", "downgrade", "replace") else f": {step.reason}"
                before.append(_label_of(old) + note)
        environment = environment_of(records)
        return self._result(
            any(step.reason for step in steps),
            rows,
            before,
            after,
            environment=environment,
            environment_sh=shell_of(environment),
            downloaded=_downloaded(steps),
        )

    # state: absent

    def absent(self) -> dict[str, t.Any]:
        """Remove versions, symlinks, loader entries and receipts, and return the module's result."""
        plans = {archive.component: self._leftovers(archive.component) for archive in self.archives}
        rows, before = [], []
        for component, (receipt, paths) in plans.items():
            label = _label_of(receipt) if receipt else component
            rows.append({"component": component, "action": "remove" if paths else "none", "removed": paths})
            before += [f"{label}: {path}" for path in paths]
        changed = any(paths for _label, paths in plans.values())
        if changed and not self.check_mode:
            with receipts.lock(self.root, _LOCK, self.lock_wait):
                for component in plans:
                    self._remove(component)
                self.refresh_loader()
                for component in plans:
                    receipts.remove(self.root, f"redist-{component}")
            with contextlib.suppress(OSError):
                os.rmdir(self.root)
        return self._result(changed, rows, before, [], environment={}, environment_sh="", downloaded=_downloaded([]))

    def _leftovers(self, component: str) -> tuple[dict[str, t.Any] | None, list[str]]:
        receipt = receipts.read(self.root, f"redist-{component}")
        paths = [str(record.get("path")) for record in _generations(receipt)]
        current = self.current(component)
        if os.path.islink(current):
            target = os.readlink(current)
            paths += [current, os.path.join(os.path.dirname(current), target)] if "/" not in target else [current]
        paths += [self.loader_file(component), receipts.path_of(self.root, f"redist-{component}")]
        if receipt is not None and receipt.get("loader_entry"):
            paths.append(str(receipt["loader_entry"]))
        return receipt, sorted({path for path in paths if os.path.lexists(path)})

    def _remove(self, component: str) -> None:
        receipt = receipts.read(self.root, f"redist-{component}")
        if receipt is not None and receipt.get("loader_entry"):
            _unlink(str(receipt["loader_entry"]))
        _unlink(self.loader_file(component))
        records = _generations(receipt)
        current = self.current(component)
        if os.path.islink(current):
            # Also where a run was killed before it wrote its receipt.
            path = os.path.join(self.prefix, component, os.path.basename(os.readlink(current)))
            records.append({"path": path, "component": component, "prefix": self.prefix})
            os.unlink(current)
        for record in records:
            self._remove_version(record)


def _generations(receipt: t.Mapping[str, t.Any] | None) -> list[dict[str, t.Any]]:
    """Return the installed version and the previous one, each without what is before it."""
    if receipt is None:
        return []
    previous = receipt.get("previous")
    found = [receipt] + ([previous] if isinstance(previous, dict) else [])
    return [{key: value for key, value in record.items() if key != "previous"} for record in found]


def _require_soname(archive: Archive, version: str, sonames: t.Sequence[str]) -> None:
    if archive.soname is None or archive.soname in sonames:
        return
    machine = f" for {archive.platform}" if archive.platform in MACHINES else ""
    raise SparkforgeError(
        f"{archive.component} {version} has no library with the SONAME {archive.soname}{machine}, which the "
        f"stack pins; it has {_listed(sonames)}.",
        "What was built against the pinned SONAME cannot load this version: choose a release that has it, "
        "or correct the soname in the stack and build again.",
        expected=archive.soname,
        actual=list(sonames),
    )


def _correct_pkg_config(staged: str, path: str, directories: t.Sequence[str]) -> dict[str, int]:
    """Write true copies of the pkg-config files that name another place; return their paths and sizes."""
    written: dict[str, int] = {}
    for directory in directories:
        for name in sorted(os.listdir(f"{staged}/{directory}")):
            file = f"{staged}/{directory}/{name}"
            if not name.endswith(".pc") or not os.path.isfile(file):
                continue
            with open(file, encoding="utf-8", errors="surrogateescape") as stream:
                text = corrected_pkg_config(stream.read(), path, f"{path}/{directory}")
            copy = f"{CORRECTED_PKG_CONFIG}/{name}"
            if text is not None and copy not in written:
                content = text.encode("utf-8", "surrogateescape")
                disk.write_file(f"{staged}/{copy}", content)
                written[copy] = len(content)
    return written


def _action(step: Step) -> str:
    if not step.reason:
        return "none"
    if step.receipt is None:
        return "install"
    old, new = step.receipt.get("version"), (step.record.get("version") or step.archive.version)
    if new is None or (step.receipt.get("release") == step.archive.release and old == new):
        return "replace" if differs(step.receipt, step.archive, step.receipt.get("prefix", "")) else "repair"
    return "upgrade" if versions.numbers(str(new)) > versions.numbers(str(old)) else "downgrade"


def _label_of(record: t.Mapping[str, t.Any]) -> str:
    variant = f", {record['variant']}" if record.get("variant") else ""
    return f"{record.get('component')} {record.get('version')} ({record.get('platform')}{variant})"


def _downloaded(steps: t.Sequence[Step]) -> dict[str, t.Any]:
    size, seconds = sum(s.downloaded_bytes for s in steps), sum(s.download_seconds for s in steps)
    return {
        "bytes": size,
        "seconds": round(seconds, 3),
        "megabytes_per_second": round(size / 1e6 / seconds, 3) if seconds else 0.0,
    }


def _listed(names: t.Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def _text_of(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
