"""Install NVIDIA's redistributable archives on a host: versioned directory, symlink, loader entry, receipt.

On a host, ``<prefix>/<component>/<version>[-<variant>]`` is one unpacked archive, and the symlink
``<prefix>/<component>/current`` selects the version in use. A call downloads, verifies and unpacks all of its archives
before it switches the first symlink, so a bad archive leaves the host unchanged.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import time
import typing as t

from .._core import contents, directories, disk, phrases, receipts
from .._core.errors import SparkforgeError
from .._core.redact import redact
from .._elf import reader
from . import http, redist_plan as _plan, unpack

#: An xz archive of libraries unpacks to three or four times its size; the archive itself also takes space.
DISK_FACTOR = 5

_LOCK = "redist"

#: The e_machine value in the ELF header of each platform's libraries (linux-aarch64 is Tegra).
MACHINES = {"linux-sbsa": 183, "linux-aarch64": 183, "linux-x86_64": 62, "linux-ppc64le": 21}

Run = t.Callable[[list[str]], tuple[int, str, str]]


@dataclasses.dataclass
class Step:
    """The action planned for one archive and its reason; ``reason`` is empty if nothing has to be done."""

    archive: _plan.Archive
    receipt: dict[str, t.Any] | None
    reason: str = ""
    reuse: dict[str, t.Any] | None = None
    resolved: _plan.Resolved | None = None
    staged: str | None = None
    record: dict[str, t.Any] = dataclasses.field(default_factory=dict)

    @property
    def action(self) -> str:
        return ("replace" if self.receipt else "install") if self.reason else "none"


def describe(steps: list[Step], prefix: str) -> dict[str, t.Any]:
    """Return the module's result for completed or planned steps."""
    rows, before, after = [], [], []
    for step in steps:
        old = step.receipt or {}
        record = step.record or ({} if step.reason else old)
        row = {"path": None, "sonames": [], "license": None, **dataclasses.asdict(step.archive)}
        row |= {key: record[key] for key in ("version", "sha256", "path", "sonames", "license") if key in record}
        current = _plan.current_path(prefix, step.archive.component)
        row |= {"current": current, "action": step.action, "reason": step.reason}
        rows.append({**row, "previous_version": old.get("version") if step.reason else None})
        old_label, new_label = _plan.label_of(old), _plan.label_of(row)
        after.append(new_label)
        if old:
            before.append(f"{old_label}: {step.reason}" if step.reason and old_label == new_label else old_label)
    return _result(prefix, any(step.reason for step in steps), rows, before, after)


def _result(
    prefix: str, changed: bool, rows: list[dict[str, t.Any]], before: list[str], after: list[str]
) -> dict[str, t.Any]:
    texts = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    return {"changed": changed, "archives": rows, "diff": phrases.diff(prefix, *texts)}


class RedistArchives:
    """Install the requested archives on a host, or remove them.

    :param options: the options of the module ``redist_archive``.
    :param run: a function that runs an argument list and returns status, stdout, stderr; None to skip ldconfig.
    """

    def __init__(
        self,
        archives: t.Sequence[_plan.Archive],
        options: t.Mapping[str, t.Any],
        check_mode: bool,
        ldconfig: t.Sequence[str] = (),
        run: Run | None = None,
    ) -> None:
        for name in ("prefix", "root", "loader_directory"):
            value = options[name]
            if not os.path.isabs(value) or os.path.normpath(value) == "/":
                raise SparkforgeError(f"The {name} {value!r} is relative, or is /.", "Use an absolute path.")
        self.archives = list(archives)
        self.base_url: str = options["base_url"].rstrip("/")
        self.prefix = os.path.normpath(options["prefix"])
        self.root = os.path.normpath(options["root"])
        self.loader_directory = os.path.normpath(options["loader_directory"])
        self.check_mode = check_mode
        self.ldconfig = list(ldconfig)
        self.run = run

    # Methods for both states

    def loader_file(self, component: str) -> str:
        return _plan.loader_path(self.loader_directory, component)

    def refresh_loader(self) -> None:
        if self.run is None or not self.ldconfig:
            return
        status, _stdout, stderr = self.run(self.ldconfig)
        if status != 0:
            raise SparkforgeError(
                f"{self.ldconfig[0]} failed with exit status {status}: {stderr.strip() or 'no message'}.",
                "Fix the problem and run again: the libraries are installed, but the loader's cache is not updated.",
                stderr=stderr,
            )

    # state: present

    def present(self) -> dict[str, t.Any]:
        """Install missing or outdated archives and return the module's result.

        :raises SparkforgeError: with the host unchanged, unless ldconfig itself failed.
        """
        steps = self.plan()
        if self.check_mode or not any(step.reason for step in steps):
            return describe(steps, self.prefix)
        with receipts.lock(self.root, _LOCK):
            steps = self.plan()  # another run may have done the work while this one waited
            work = [step for step in steps if step.reason]
            if work:
                self.install(work)
        return describe(steps, self.prefix)

    def plan(self) -> list[Step]:
        """Compare the host with the requested archives; this reads receipts and lstats files but contacts no server."""
        steps = []
        for archive in self.archives:
            receipt = receipts.read(self.root, f"redist-{archive.component}")
            step = Step(archive, receipt)
            step.reason = self._reason(step)
            if step.reason:
                step.reuse = next(
                    (row for row in _plan.generations(receipt) if self._may_be_reused(row, archive)), None
                )
            steps.append(step)
        return steps

    def _may_be_reused(self, row: t.Mapping[str, t.Any], archive: _plan.Archive) -> bool:
        is_own_path = _plan.is_version(str(row.get("path")), archive.component)
        return is_own_path and not (_plan.differs(row, archive, self.prefix) or _plan.damage(row))

    def _reason(self, step: Step) -> str:
        component, receipt = step.archive.component, step.receipt
        current = _plan.current_path(self.prefix, component)
        if os.path.lexists(current) and not os.path.islink(current):
            raise SparkforgeError(
                f"{current} is not a symlink and was not made by sparkforge.", "Move it out of the way and run again."
            )
        if receipt is None:
            return "not installed"
        reason = _plan.differs(receipt, step.archive, self.prefix)
        if reason:
            return reason
        reason = _plan.damage(receipt)
        if reason:
            return f"damaged: {reason}"
        if not os.path.islink(current) or os.readlink(current) != os.path.basename(receipt["path"]):
            return "its symlink is missing or wrong"
        soname = step.archive.soname
        if soname is not None and soname not in receipt.get("sonames", []):
            return f"it was not verified to have {soname}"
        if receipt.get("library_directory"):
            expected = _plan.loader_entry(receipt, identity=True)
            if contents.text(self.loader_file(component)) != expected:
                return "its loader entry is missing or different"
        return ""

    def install(self, steps: list[Step]) -> None:
        created = disk.make_directories(self.prefix)
        try:
            for name in os.listdir(self.prefix):
                # This run holds the lock, so these files are from a killed run.
                if name.startswith((".staging-", ".fetch-", ".replaced-")):
                    disk.remove(os.path.join(self.prefix, name))
            self._resolve(steps)
            for step in steps:
                self._stage(step)
        except BaseException:
            for step in steps:
                if step.staged is not None:
                    with contextlib.suppress(OSError):
                        disk.remove(step.staged)
            for directory in reversed(created):
                disk.remove_empty(directory)
            raise
        for step in steps:
            self._switch(step)
        self.refresh_loader()
        for step in steps:
            self._record(step)

    def _resolve(self, steps: list[Step]) -> None:
        """Read each manifest once and check every pin before the first archive is downloaded."""
        manifests: dict[str, dict[str, t.Any]] = {}
        for step in steps:
            archive = step.archive
            if step.reuse is not None:
                require_soname(archive, step.reuse["version"], step.reuse.get("sonames", []))
                continue
            url = f"{self.base_url}/{archive.product}/redist/redistrib_{archive.release}.json"
            if url not in manifests:
                manifests[url] = fetch_manifest(url, archive)
            step.resolved = _plan.resolve(manifests[url], archive, redact(url))

    def _stage(self, step: Step) -> None:
        """Download, verify and unpack one archive into a directory that nothing refers to yet."""
        archive, resolved = step.archive, step.resolved
        if resolved is None:
            return
        directories.check_space(
            self.prefix,
            (resolved.size or 0) * DISK_FACTOR,
            f"{archive.label}, downloaded and unpacked,",
            "Free some space, or choose another prefix.",
        )
        url = f"{self.base_url}/{archive.product}/redist/{resolved.relative_path}"
        staged = os.path.join(self.prefix, f".staging-{archive.component}-{secrets.token_hex(4)}")
        file = http.fetch(url, self.prefix, sha256=resolved.sha256, max_bytes=resolved.size)
        try:
            unpacked = unpack.unpack(file, staged, redact(url))
            step.staged = staged
        finally:
            os.unlink(file)
        step.record = record_of(archive, resolved, unpacked, staged, self.prefix)
        step.record["url"] = redact(url)
        disk.fsync_tree(staged)

    def _switch(self, step: Step) -> None:
        component = step.archive.component
        if step.reuse is not None:
            step.record = step.reuse
        record = step.record
        if step.staged is not None:
            disk.make_directories(os.path.dirname(record["path"]))
            aside = os.path.join(self.prefix, f".replaced-{component}-{secrets.token_hex(4)}")
            if os.path.lexists(record["path"]):  # damaged, or left by a killed run
                os.rename(record["path"], aside)
            try:
                os.rename(step.staged, record["path"])
            except OSError:
                if os.path.lexists(aside):
                    os.rename(aside, record["path"])
                raise
            step.staged = None
            disk.fsync(os.path.dirname(record["path"]))
            disk.remove(aside)
        directories.switch_symlink(_plan.current_path(self.prefix, component), os.path.basename(record["path"]))
        self._write_loader_entry(record, identity=False)

    def _write_loader_entry(self, record: t.Mapping[str, t.Any], *, identity: bool) -> None:
        path = self.loader_file(record["component"])
        if record.get("library_directory"):
            disk.write_file(path, _plan.loader_entry(record, identity=identity).encode("utf-8"))
        else:
            disk.delete(path)

    def _record(self, step: Step) -> None:
        """Write the receipt, add the identity line to the loader entry, and remove versions that are no longer kept."""
        record = step.record
        others = [row for row in _plan.generations(step.receipt) if row.get("path") != record["path"]]
        previous = next((row for row in others if row.get("prefix") == self.prefix), None)
        step.record = {**record, "previous": previous, "installed_epoch": int(time.time())}
        receipts.write(self.root, f"redist-{record['component']}", step.record)
        self._write_loader_entry(record, identity=True)
        for row in others:
            if row is not previous:
                _remove_version(str(row.get("path")), record["component"])

    # state: absent

    def absent(self) -> dict[str, t.Any]:
        """Remove versions, symlinks, loader entries and receipts, and return the module's result."""
        leftovers = {archive.component: self._leftovers(archive.component) for archive in self.archives}
        rows, before = [], []
        for component, (receipt, paths) in leftovers.items():
            label = _plan.label_of(receipt) if receipt else component
            rows.append({"component": component, "action": "remove" if paths else "none", "removed": paths})
            before += [f"{label}: {path}" for path in paths]
        changed = any(paths for _label, paths in leftovers.values())
        if changed and not self.check_mode:
            with receipts.lock(self.root, _LOCK):
                for component in leftovers:
                    self._remove(component)
                self.refresh_loader()
                for component in leftovers:
                    receipts.remove(self.root, f"redist-{component}")
            disk.remove_empty(self.root)
        return _result(self.prefix, changed, rows, before, [])

    def _leftovers(self, component: str) -> tuple[dict[str, t.Any] | None, list[str]]:
        receipt = receipts.read(self.root, f"redist-{component}")
        paths, current = self._versions(component, receipt), _plan.current_path(self.prefix, component)
        paths += [current] if os.path.islink(current) else []
        paths += [self.loader_file(component), receipts.path_of(self.root, f"redist-{component}")]
        return receipt, sorted({path for path in paths if os.path.lexists(path)})

    # Neither an edited receipt nor a link may decide which paths are removed.

    def _versions(self, component: str, receipt: t.Mapping[str, t.Any] | None) -> list[str]:
        """Return the recorded directories of ``component`` that have a valid version path."""
        paths = [str(record.get("path")) for record in _plan.generations(receipt)]
        current = _plan.current_path(self.prefix, component)
        if os.path.islink(current):
            # This also finds the version of a run that was killed before it wrote its receipt.
            paths.append(os.path.join(os.path.dirname(current), os.readlink(current)))
        return [path for path in paths if _plan.is_version(path, component)]

    def _remove(self, component: str) -> None:
        receipt = receipts.read(self.root, f"redist-{component}")
        disk.delete(self.loader_file(component))
        versions = self._versions(component, receipt)
        current = _plan.current_path(self.prefix, component)
        if os.path.islink(current):
            os.unlink(current)
        for path in versions:
            _remove_version(path, component)
        _remove_empty(self.prefix, component)


def _remove_version(path: str, component: str) -> None:
    """Remove an unpacked version, and its component and prefix directories if they become empty."""
    if not _plan.is_version(path, component):
        return
    disk.remove(path)
    prefix = os.path.dirname(os.path.dirname(path))
    current = _plan.current_path(prefix, component)
    if os.path.islink(current) and os.readlink(current) == os.path.basename(path):
        os.unlink(current)
    _remove_empty(prefix, component)


def _remove_empty(prefix: str, component: str) -> None:
    for directory in (os.path.join(prefix, component), prefix):
        disk.remove_empty(directory)


def fetch_manifest(url: str, archive: _plan.Archive) -> dict[str, t.Any]:
    """Return the manifest of the release that ``archive`` belongs to.

    :raises SparkforgeError: if it does not exist, or is not a JSON object.
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
    return _plan.parse_manifest(content, redact(url))


def record_of(
    archive: _plan.Archive, resolved: _plan.Resolved, unpacked: unpack.Unpacked, staged: str, prefix: str
) -> dict[str, t.Any]:
    """Return the record of an archive that was unpacked at ``staged`` and will be moved into ``prefix``.

    :raises SparkforgeError: if it does not have the SONAME that the stack pins.
    """
    version = resolved.version + (f"-{archive.variant}" if archive.variant else "")
    path = os.path.join(prefix, archive.component, version)
    library = next((d for d in _plan.LIBRARY_DIRECTORIES if os.path.isdir(f"{staged}/{d}")), None)
    sonames = _sonames(f"{staged}/{library}", archive.platform) if library else []
    require_soname(archive, resolved.version, sonames)
    return {
        "product": archive.product,
        "component": archive.component,
        "release": archive.release,
        "version": resolved.version,
        "platform": archive.platform,
        "variant": archive.variant,
        "sha256": resolved.sha256,
        "license": resolved.license,
        "prefix": prefix,
        "path": path,
        "current": _plan.current_path(prefix, archive.component),
        "library_directory": library,
        "sonames": sonames,
        "files": unpacked.files,
        "links": unpacked.links,
    }


def _sonames(directory: str, platform: str) -> list[str]:
    """Return the SONAMEs of the libraries in ``directory`` that the loader can find and that match the platform."""
    sonames = set()
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if ".so" not in name or not os.path.isfile(path):
            continue
        try:
            library = reader.read_elf(path)
        except SparkforgeError:
            continue
        if library.soname == name and library.machine == MACHINES.get(platform, library.machine):
            sonames.add(name)
    return sorted(sonames)


def require_soname(archive: _plan.Archive, version: str, sonames: t.Sequence[str]) -> None:
    if archive.soname is None or archive.soname in sonames:
        return
    machine = f" for {archive.platform}" if archive.platform in MACHINES else ""
    raise SparkforgeError(
        f"{archive.component} {version} has no library with the SONAME {archive.soname}{machine}, which the "
        f"stack pins; it has {_plan.join_names(sonames)}.",
        "Programs built against the pinned SONAME cannot load this version: choose a release that has it, or correct "
        "the soname in the stack and rebuild.",
    )
