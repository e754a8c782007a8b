"""NVIDIA's local repositories, each a .deb that contains a small apt repository under /var.

The sha256 of the .deb covers everything in it, and dpkg installs it unchanged. The keyring inside is unique to the
.deb, so its fingerprint could only come from the same copy as the sha256 and would prove nothing more.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import typing as t

from .._core import contents, disk, phrases, receipts
from .._core.errors import SparkforgeError
from .._fetch.http import fetch
from .._host.dpkg import DPKG
from . import deb as _deb, receipt as recorded, sources
from .apt_get import Apt
from .deb_version import compare_versions

# The download has several hundred MB, and /tmp is often a small tmpfs.
WORK = "/var/tmp"  # noqa: S108 - only for private directories


class LocalPackage(t.NamedTuple):
    """One local repository that dpkg lists."""

    package: str
    version: str  # the library's version, from the end of the package's name
    installed: bool  # False if removed, except for its configuration files


class LocalRepository:
    """The local repository with a given name; older versions are removed.

    :param options: the options of the module ``apt_local_repo``.
    """

    def __init__(self, apt: Apt, options: t.Mapping[str, t.Any], check_mode: bool) -> None:
        name, version, sha256 = (options[key] for key in ("name", "version", "sha256"))
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]*", name):
            raise SparkforgeError(
                f"{name!r} is not a valid local repository name.", "Write it as in the package name: cusparselt."
            )
        if version is not None and not re.fullmatch(r"\d[A-Za-z0-9.+~]*", version):
            raise SparkforgeError(f"{version!r} is not a version.", "Write it as in the package name: 0.8.1.")
        if sha256 and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
            raise SparkforgeError(
                f"{sha256!r} is not a sha256: it does not have 64 hexadecimal digits.",
                "Copy all of it from `sha256sum`, or omit it.",
            )
        self._apt, self._check_mode = apt, check_mode
        self._name: str = name
        self._version: str | None = version
        self._root: str = options["root"]
        self._url: str | None = options["url"] or None
        self._sha256 = str(sha256).lower() if sha256 else None
        # The underscore distinguishes it from the receipt of a package set (apt-<name>).
        self._receipt = recorded.REPOSITORIES + name

    def _listed(self) -> list[LocalPackage]:
        """Return the local repositories with this name, for any distribution."""
        repositories = []
        pattern = re.compile(rf"^{re.escape(self._name)}-local-repo-[a-z0-9]+-(\d\S*)$")
        status = self._apt.state.host.read(f"{DPKG}/status") or ""
        for package, state in re.findall(r"^Package: (\S+)\nStatus: \S+ \S+ (\S+)$", status, re.M):
            match = pattern.match(package)
            if match and state != "not-installed":
                repositories.append(LocalPackage(package, match.group(1), state != "config-files"))
        return repositories

    def present(self) -> dict[str, t.Any]:
        """Install the local repository if necessary, and remove older versions."""
        version = t.cast(str, self._version)
        repositories = self._listed()
        current = None
        for repository in repositories:
            order = compare_versions(repository.version, version)
            if order > 0 and repository.installed:
                raise SparkforgeError(
                    f"{repository.package} is installed, newer than the requested {self._version}.",
                    f"Request {repository.version}, or remove the newer one first with state: absent.",
                )
            if order == 0 and repository.installed:
                current = repository
        older = [repository for repository in repositories if repository is not current]
        killed = os.path.exists(self._unfinished_note)
        if current is not None and not older and not killed and self._is_configured(current.package):
            return self._result(False, current.package, older)
        if current is None:
            self._require_trust()
        if self._check_mode:
            return self._result(True, current.package if current else None, older)
        disk.forget_killed(WORK, "sparkforge-")
        if current is None:
            package = self._install()
        else:
            package = current.package
            self._configure(package, brought=self._installed_package() == package)
        for repository in older:
            _purge(self._apt, self._name, repository, self._source_of(repository.package))
        return self._result(True, package, older)

    def _require_trust(self) -> None:
        if self._url is None:
            raise SparkforgeError(
                f"The local repository {self._name} {self._version} is not installed, and no URL is set.", "Give url."
            )
        if self._sha256 is None:
            raise SparkforgeError(
                f"{self._url} cannot be verified: its sha256 is not set.",
                "Download the file once over a trusted connection, run `sha256sum` on it and set the result as sha256; "
                "or use the redist archive, whose sha256 is known.",
            )

    def _install(self) -> str:
        work = disk.temporary_directory(WORK, "sparkforge-")
        try:
            deb = fetch(t.cast(str, self._url), work, sha256=self._sha256)
            package = self._check_control(deb)
            self._unpack(deb, package)
        finally:
            with contextlib.suppress(OSError):
                disk.remove(work)
        return package

    def _check_control(self, deb: str) -> str:
        try:
            fields, files = _deb.control(deb), _deb.files(deb)
        except SparkforgeError as error:
            # The file has a temporary name, so replace it with the URL, which the user knows.
            cause, remedy = (text.replace(deb, str(self._url)) for text in (error.cause, error.remedy))
            raise SparkforgeError(cause, remedy, **error.details) from error
        package = fields["package"]
        match = re.fullmatch(rf"{re.escape(self._name)}-local-repo-[a-z0-9]+-(\S+)", package)
        if not match:
            raise SparkforgeError(
                f"{self._url} is the package {package}, not a local repository of {self._name}.", "Correct url or name."
            )
        if match.group(1) != self._version:
            raise SparkforgeError(
                f"{self._url} is {package} {fields['version']}, not version {self._version}.", "Correct url or version."
            )
        native = self._apt.packages().architecture
        if fields["architecture"] not in ("all", native):
            raise SparkforgeError(
                f"{self._url} is for {fields['architecture']}, but this host is {native}.", "Correct url."
            )
        if not any(path.startswith(f"/var/{package}/") for path in files):
            raise SparkforgeError(f"{self._url} contains no repository at /var/{package}/.", "Correct url.")
        return package

    def _unpack(self, deb: str, package: str) -> None:
        # If this run is killed after the installation, the note tells the next run who installed the package.
        disk.write_file(self._unfinished_note, f"{package}\n".encode())
        try:
            self._apt.run(["dpkg", "--install", deb], f"install {package}")
            self._configure(package)
        except BaseException:
            with contextlib.suppress(SparkforgeError):
                repository = LocalPackage(package, self._version or "", True)
                _purge(self._apt, self._name, repository, self._source_of(package))
            with contextlib.suppress(OSError):
                os.unlink(self._unfinished_note)
                # As with receipts, also remove a directory that becomes empty.
                os.rmdir(os.path.dirname(self._unfinished_note))
            raise

    @property
    def _unfinished_note(self) -> str:
        """The path of the note about an unfinished installation, which exists until the receipt is written."""
        return os.path.join(os.path.dirname(receipts.path_of(self._root, self._receipt)), f".{self._receipt}.begun")

    def _installed_package(self) -> str | None:
        """Return the package that this module installed, as opposed to one that it only configured."""
        begun = contents.read(self._unfinished_note)
        if begun is not None:
            return begun.decode("ascii", "replace").strip()
        receipt = recorded.repository(self._root, self._receipt)
        return receipt["package"] if receipt is not None and receipt.get("brought", True) else None

    def _source_of(self, package: str) -> list[t.Mapping[str, t.Any]]:
        local_url = sources.canonical(f"file:/var/{package}")
        return [
            row
            for row in self._apt.state.sources()
            if row["enabled"] and local_url in {sources.canonical(uri) for uri in row["uris"]}
        ]

    def _is_configured(self, package: str) -> bool:
        """Tell whether exactly one enabled source uses the repository with its own keyring, and its package lists have
        been fetched; a killed run may have left either step undone.
        """
        rows = self._source_of(package)
        keyring = _keyring_in(f"/var/{package}", required=False)
        if len(rows) != 1 or keyring is None or not sources.has_lists(f"file:/var/{package}"):
            return False
        path = f"{sources.KEYRINGS}/{os.path.basename(keyring)}"
        text = (contents.read(str(rows[0]["file"])) or b"").lower()
        return rows[0]["signed_by"] == path and b"trusted" not in text and contents.read(path) == contents.read(keyring)

    def _configure(self, package: str, brought: bool = True) -> None:
        """Install the keyring for apt, point the source at it, and fetch this source's lists."""
        inside = _keyring_in(f"/var/{package}")
        keyring = f"{sources.KEYRINGS}/{os.path.basename(inside)}"
        files = sources.Rollback()
        try:
            files.write(keyring, contents.read(inside) or b"")
            rows = self._source_of(package)
            names = sorted({str(row["file"]) for row in rows}) or [f"{sources.SOURCES}/{package}.sources"]
            url = f"file:///var/{package}"
            for extra in names[1:]:
                files.unlink(extra)
            if names[0].endswith(".list"):
                content = f"deb [signed-by={keyring}] {url} /\n".encode()
            else:
                content = sources.render_source(url, keyring)
            files.write(names[0], content)
            sources.update_lists(self._apt, names[0], url)
            data = recorded.LocalRepository(
                kind="apt_local_repo",
                package=package,
                brought=brought,
                version=self._version,
                keyring=keyring,
                source=names[0],
                url=self._url,
                sha256=self._sha256,
            )
            receipts.write(self._root, self._receipt, data)
            disk.delete(self._unfinished_note)
        except BaseException:
            files.undo()
            raise

    def absent(self, keep_foreign: bool = False) -> dict[str, t.Any]:
        """Purge each local repository with this name, including its source, keyring and package lists.

        :param keep_foreign: keep repositories that no receipt attributes to this module.
        """
        receipt = recorded.repository(self._root, self._receipt)
        brought = self._installed_package()
        repositories = [
            repository for repository in self._listed() if repository.package == brought or not keep_foreign
        ]
        changed = bool(repositories) or receipt is not None or os.path.exists(self._unfinished_note)
        if changed and not self._check_mode:
            for repository in repositories:
                _purge(self._apt, self._name, repository, self._source_of(repository.package))
            disk.delete(self._unfinished_note)
            if receipt is not None:
                receipts.remove(self._root, self._receipt)
        return self._result(changed, None, repositories)

    def _result(self, changed: bool, package: str | None, gone: t.Sequence[LocalPackage]) -> dict[str, t.Any]:
        requested = f"{self._name}-local-repo {self._version}\n" if self._version else ""
        before = f"{package}\n" if package and not changed else ""
        return {
            "changed": changed,
            "package": package,
            "directory": f"/var/{package}" if package else None,
            "retired": sorted(repository.package for repository in gone),
            "diff": phrases.diff(
                "local repositories",
                before + "".join(f"{repository.package}\n" for repository in gone),
                before or (requested if changed and self._version else ""),
            ),
        }


def _purge(apt: Apt, name: str, repository: LocalPackage, rows: t.Sequence[t.Mapping[str, t.Any]]) -> None:
    """Purge a local repository including its source, keyring and package lists."""
    directory = f"/var/{repository.package}"
    # The keyrings of this repository: those that share a name with one inside it, and those that its source names.
    keyrings = {f"{sources.KEYRINGS}/{os.path.basename(path)}" for path in glob.glob(f"{directory}/*.gpg")}
    signing_keyrings = {path for row in rows for path in (row["signed_by"] or "").split(",")}
    keyrings |= {path for path in signing_keyrings if path.startswith(f"{sources.KEYRINGS}/{name}-")}
    others = {path for row in apt.state.sources() if row not in rows for path in (row["signed_by"] or "").split(",")}
    apt.run(["dpkg", "--purge", repository.package], f"purge {repository.package}")
    for row in rows:
        disk.delete(str(row["file"]))
    for path in keyrings - others:
        disk.delete(path)
    if os.path.isdir(directory) and not os.path.islink(directory):
        with contextlib.suppress(OSError):
            disk.remove(directory)
    sources.remove_lists(f"file:{directory}")


def _keyring_in(directory: str, required: bool = True) -> t.Any:
    """Return the only keyring in a local repository.

    Its name becomes a file name in apt's keyring directory and part of a source, so it must follow the repository's
    pattern, ``cusparselt-local-1A2B3C4D-keyring.gpg``.

    :raises SparkforgeError: if the repository does not have exactly one keyring, or its name does not match.
    """
    keyrings = [p for p in sorted(glob.glob(f"{glob.escape(directory)}/*.gpg")) if not p.endswith("/Release.gpg")]
    owner = os.path.basename(directory).partition("-local-repo-")[0]
    if len(keyrings) == 1 and re.fullmatch(rf"{re.escape(owner)}-[A-Za-z0-9._+-]+\.gpg", os.path.basename(keyrings[0])):
        return keyrings[0]
    if not required:
        return None
    if len(keyrings) == 1:
        raise SparkforgeError(
            f"The keyring in {directory} is called {os.path.basename(keyrings[0])[:100]!r}, not {owner}-….gpg.",
            "Do not use this .deb; get another copy from its vendor.",
        )
    raise SparkforgeError(
        f"{directory} holds {len(keyrings)} keyrings instead of one.",
        "Ask the vendor which .deb of this version is the right one.",
    )
