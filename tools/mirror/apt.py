# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packages of apt, as a part of each repository: upstream's own signed indexes, and of the packages those needed.

A host's own apt resolves nothing here: the controller's does, in its own directory that has the host's sources,
pins, keyrings and dpkg's status out of an archive. What it fetched is compared with the indexes that it verified, and
the host verifies the same signatures again.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
import shutil
import subprocess
import tarfile
import tempfile
import typing as t
import urllib.parse

from ...plugins.module_utils._apt import indexes, openpgp
from ...plugins.module_utils._apt.apt_get import Apt
from ...plugins.module_utils._apt.plan import check_plan
from ...plugins.module_utils._apt.policy import choose
from ...plugins.module_utils._apt.sources import lists_prefix, render_source
from ...plugins.module_utils._apt.wanted import parse_wanted
from ...plugins.module_utils._core import digests
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._host.apt_state import parse_deb822_sources, parse_one_line_sources, parse_status
from ...plugins.plugin_utils.plans import cusparselt
from .directory import OURS, Directory

#: The command that archives a host; only the paths that it names are read.
TAKE = "tar -chC / --exclude=auth.conf* etc/apt usr/share/keyrings var/lib/dpkg/status"
KEY = "3bf863cc.pub"
#: A host's keyrings and dpkg's status have some MB.
SNAPSHOT_LIMIT = 256 << 20
#: Of names as posixpath.normpath has them. The passwords in auth.conf and auth.conf.d stay on the host.
_PARTS = re.compile(r"(etc/apt(?!/auth)|usr/share/keyrings|var/lib/dpkg/status)(?:/|$)")
#: The files that apt reads in etc/apt/sources.list.d (sources.list(5)).
_SOURCES = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*\.(?:list|sources)")
_SCHEMES = ("http", "https")
#: Programs of apt that fetch by http and https, verify signatures, unpack and patch. Others of its programs, such as
#: mirror+file and copy, would read the controller's own files.
_METHODS = (*_SCHEMES, "gpgv", "sqv", "store", "rred")
_METHODS_OF_APT = "/usr/lib/apt/methods"
_URI = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+) \d+(?: SHA256:(?P<sha256>[0-9a-f]{64}))?", re.M)
#: A kept signature expires, and the mirror has only the indexes of its packages.
_OPTIONS = {"Check-Valid-Until": "no", "Target": "Packages", "Lang": "none", "By-Hash": "no"}
_NAMES = {**{key: key for key in _OPTIONS}, "Target": "Targets", "Lang": "Languages"}
_DISABLE = "Disable it in the host's archive, or give it an http or https URL."
_LOCAL = r"(?:file|copy|cdrom):"
_COMPRESSED = (".xz", ".gz", ".bz2", "")


@dataclasses.dataclass(frozen=True)
class Request:
    """What apt is asked for.

    :ivar snapshot: the archive of a host.
    :ivar packages: as apt_packages takes them.
    :ivar cusparselt: the version that the stack names; empty where the hosts do not get it.
    :ivar local_repo_sha256: of cuSPARSELt's local repository, '' where that is not wanted.
    :ivar nvidia_url: the root of NVIDIA's download tree.
    :ivar distribution: the folder of NVIDIA's repository there.
    """

    snapshot: str
    packages: tuple[str, ...]
    cusparselt: str
    cuda_major: int
    local_repo_sha256: str
    nvidia_url: str
    distribution: str
    key_fingerprint: str


# --- pure ---------------------------------------------------------------------------------------------------


def place(uri: str, nvidia_url: str) -> str:
    """Return where in the mirror a file of a repository is: NVIDIA's below ``nvidia/``, as in their tree.

    :raises SparkforgeError: for what is no URL of a repository.
    """
    try:
        parts = urllib.parse.urlsplit(uri)
    except ValueError:
        parts = urllib.parse.urlsplit("")
    host = parts.netloc.rpartition("@")[2].replace(":", "_")
    if parts.scheme not in _SCHEMES or not host or ".." in parts.path.split("/"):
        raise SparkforgeError(
            f"The apt source {redact(uri)} cannot be mirrored: its URL is not http or https, or leads up by '..'.",
            _DISABLE,
        )
    base = nvidia_url.rstrip("/") + "/"
    if uri.startswith(base):
        return f"nvidia/{uri[len(base) :]}".replace("/./", "/").rstrip("/")
    return re.sub(r"/(\./)?/*", "/", f"apt/{host}{parts.path}").rstrip("/")


def rewritten(text: str, table: t.Mapping[str, str]) -> str:
    """Return a file of apt sources that names the mirror: source packages go, and dates no longer count.

    :param table: URL of a repository -> what is in its place.
    """
    lines = []
    for line in text.splitlines():
        words = line.split()
        if words and (words[0] == "deb-src" or words[0].rstrip(":").title() in _NAMES.values()):
            continue
        if words and words[0].lower() == "types:":
            line = "Types: deb" if "deb" in words[1:] else "Types: deb\nEnabled: no"
        if words and words[0] == "deb":
            options = " ".join(f"{key.lower()}={value}" for key, value in _OPTIONS.items())
            line = re.sub(r"^(\s*deb\s+)\[", rf"\1[{options} ", line)
            line = re.sub(r"^(\s*deb\s+)(?!\[)", rf"\1[{options}] ", line)
        for uri, target in table.items():
            line = re.sub(rf"(?<!\S){re.escape(uri.rstrip('/'))}/?(?!\S)", target.replace("\\", r"\\"), line)
        if words and words[0].lower() == "uris:":
            lines += [f"{_NAMES[key]}: {value}" for key, value in _OPTIONS.items()]
        lines.append(line)
    return "\n".join([*lines, ""])


def localised(text: str, root: str) -> str:
    """Return a file of apt sources whose keyrings are below ``root``, and without what is on the host itself."""
    text = re.sub(rf"(?im)^[ \t]*deb[ \t]+(?:\[[^\]\n]*\][ \t]+)?{_LOCAL}.*\n?", "", text)
    text = re.sub(rf"(?im)^(URIs:[ \t]*{_LOCAL})", r"Enabled: no\n\1", text)
    return re.sub(r"(?im)^(signed-by:[ \t]*|[^#\n]*\bsigned-by=)(?=/)", lambda found: found[1] + root, text)


def smallest(release: str, metakey: str) -> tuple[str, str]:
    """Return path and sha256 of the smallest form of an index that a Release file has.

    :param metakey: the index without an ending, ``main/binary-arm64/Packages``.
    :raises SparkforgeError: if it has none.
    """
    rows = indexes.parse_release(release)
    for ending in _COMPRESSED:
        if metakey + ending in rows:
            return metakey + ending, rows[metakey + ending][1]
    raise SparkforgeError(
        f"A repository's Release file has no sha256 for {metakey}.",
        "It cannot be mirrored: disable it in the host's archive.",
    )


def architecture(status: str) -> str:
    """Return the architecture of dpkg itself, which is the host's.

    :raises SparkforgeError: if dpkg's status does not say.
    """
    found = parse_status(status).architecture
    if not found:
        raise SparkforgeError("The host's archive has no dpkg status file.", f"Recreate it on the host: {TAKE}.")
    return found


# --- what apt does ------------------------------------------------------------------------------------------


def collect(directory: Directory, request: Request, url: str) -> None:
    """Bring the packages, the indexes that vouch for them and the sources that name the mirror.

    :param url: what the mirror is served under.
    :raises SparkforgeError: if the archive is none, or apt does not find or verify something.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(request.snapshot).partition(".")[0]) or "host"
    note = f"apt/{name}/resolved.txt"
    try:
        asked = digests.of_data(
            {**dataclasses.asdict(request), "snapshot": digests.of_file(request.snapshot), "url": url}
        )
    except OSError as error:
        raise SparkforgeError(
            f"The host's archive {request.snapshot} cannot be read: {error.strerror}.",
            f"Create it on the host: {TAKE}.",
        ) from error
    if _is_collected(directory, note, asked):
        return
    directory.lack(f"ask apt for {len(request.packages)} packages and what they need, as {name} has it")
    if directory.check:
        return
    if shutil.which("apt-get") is None:
        raise SparkforgeError(
            "The controller has no apt-get, which resolves dependencies.",
            "Run it on any Debian or Ubuntu, or omit mirror_apt_snapshot.",
        )
    with tempfile.TemporaryDirectory(prefix="sparkforge-mirror-") as root:
        host = _Host(root, request, directory)
        host.unpack()
        files = host.bring()
        texts = host.sources(url)
    for path, text in texts.items():
        directory.write(f"apt/{name}/{path}", text.encode(), OURS)
    directory.write(
        note, "\n".join([asked, *sorted({*files, *(f"apt/{name}/{path}" for path in texts)}), ""]).encode(), OURS
    )


def _is_collected(directory: Directory, note: str, asked: str) -> bool:
    if note not in directory.rows or not os.path.isfile(directory.at(note)):
        return False
    with open(directory.at(note), encoding="utf-8") as stream:
        before, *files = stream.read().split()
    return before == asked and all(directory.has(path) for path in files)


class _Host:
    """The controller's apt in a directory that has what decides on a host."""

    def __init__(self, root: str, request: Request, directory: Directory) -> None:
        self.root = root
        self.request = request
        self.directory = directory
        self.texts: dict[str, str] = {}
        self.repositories: dict[str, str] = {}
        self.architecture = ""

    def at(self, path: str) -> str:
        return os.path.join(self.root, path)

    def unpack(self) -> None:
        try:
            with tarfile.open(self.request.snapshot) as archive:
                named = ((posixpath.normpath(one.name), one) for one in archive if one.isfile() or one.isdir())
                members = [one.replace(name=name, deep=False) for name, one in named if _PARTS.match(name)]
                if sum(one.size for one in members) > SNAPSHOT_LIMIT:
                    raise SparkforgeError(f"{self.request.snapshot} is too large.", f"Create it with {TAKE}.")
                archive.extractall(self.root, members, filter="data")
            with open(self.at("var/lib/dpkg/status"), encoding="utf-8") as stream:
                self.architecture = architecture(stream.read())
        except (tarfile.TarError, OSError, UnicodeDecodeError) as error:
            raise SparkforgeError(
                f"{self.request.snapshot} is not a host's archive: {error}.", f"Create it on the host: {TAKE}."
            ) from error
        for folder in ("lists/partial", "cache/archives/partial", "etc/apt/sources.list.d", "methods"):
            os.makedirs(self.at(folder), exist_ok=True)
        for method in _METHODS:
            if os.path.exists(f"{_METHODS_OF_APT}/{method}"):
                os.symlink(f"{_METHODS_OF_APT}/{method}", self.at(f"methods/{method}"))
        names = [f"sources.list.d/{one}" for one in sorted(os.listdir(self.at("etc/apt/sources.list.d")))]
        for path in [f"etc/apt/{one}" for one in ("sources.list", *names)]:
            if os.path.isfile(self.at(path)) and _SOURCES.fullmatch(os.path.basename(path)):
                self._take(path)
        settings = {
            "Dir": self.root,
            "Dir::State::Lists": self.at("lists"),
            "Dir::State::Status": self.at("var/lib/dpkg/status"),
            "Dir::Cache": self.at("cache"),
            "Dir::Bin::Methods": self.at("methods"),
            # No other configuration applies, neither the host's nor the controller's.
            "Dir::Etc::Main": "/dev/null",
            "Dir::Etc::Parts": "/dev/null",
            "APT::Architecture": self.architecture,
            "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none",
            "Acquire::ForceHash": "SHA256",
            "Acquire::Check-Valid-Until": "false",
            "Acquire::https::CaInfo": os.environ.get("SSL_CERT_FILE", ""),
        }
        lines = [f'{key} "{value}";' for key, value in settings.items() if value]
        self._write("apt.conf", "\n".join([*lines, f'APT::Architectures {{ "{self.architecture}"; }};', ""]))
        self._add_nvidia()

    def _take(self, path: str) -> None:
        """Read a file of sources, and leave apt one that names what is here.

        :raises SparkforgeError: if it names what cannot be mirrored, or is no text.
        """
        try:
            with open(self.at(path), encoding="utf-8") as stream:
                self.texts[path] = stream.read()
        except UnicodeDecodeError as error:
            raise SparkforgeError(f"{path} in {self.request.snapshot} is not text: {error}.", _DISABLE) from error
        text = localised(self.texts[path], self.root)
        rows = (parse_one_line_sources if path.endswith(".list") else parse_deb822_sources)(path, text)
        for uri in [uri for row in rows if row["enabled"] for uri in row["uris"]]:
            place(uri, self.request.nvidia_url)
        self._write(path, text)

    def _write(self, path: str, text: str) -> None:
        with open(self.at(path), "w", encoding="utf-8") as stream:
            stream.write(text)

    def _add_nvidia(self) -> None:
        """Add NVIDIA's repository where the host lacks it, as the role cuda_libraries will, and bring its key."""
        machine = {"arm64": "sbsa", "amd64": "x86_64"}.get(self.architecture, self.architecture)
        url = f"{self.request.nvidia_url.rstrip('/')}/compute/cuda/repos/{self.request.distribution}/{machine}"
        key = place(f"{url}/{KEY}", self.request.nvidia_url)
        self.directory.fetch(key, f"{url}/{KEY}", limit=openpgp.SIZE_LIMIT)
        with open(self.directory.at(key), "rb") as stream:
            ring = openpgp.require_fingerprint(stream.read(), self.request.key_fingerprint, url)
        if any(url in text for text in self.texts.values()):
            return
        with open(self.at("nvidia.gpg"), "wb") as stream:
            stream.write(ring)
        self._write(
            "etc/apt/sources.list.d/nvidia.sources", render_source(url, "/", [], self.at("nvidia.gpg")).decode()
        )

    def run(self, argv: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
        whole = {**os.environ, **environment, "APT_CONFIG": self.at("apt.conf")}
        done = subprocess.run(
            argv,
            env=whole,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
        return done.returncode, done.stdout, done.stderr

    def bring(self) -> set[str]:
        """Bring packages and indexes; return their paths in the mirror."""
        apt = Apt(self.run)
        self.directory.say("apt: updating the package lists")
        try:
            apt.update()
        except SparkforgeError as error:
            lacking = re.search(r"method driver \S*/(\S+) could not be found", str(error.details.get("stderr")))
            if not lacking:
                raise
            raise SparkforgeError(
                f"An apt source in {self.request.snapshot} cannot be mirrored: its URL is not http or https, but "
                f"{lacking[1]}.",
                _DISABLE,
            ) from error
        files = {path for base, metakey in self._targets(apt) for path in self._index(base, metakey)}
        arguments = self._choices(apt)
        check_plan(apt.simulate("install", *arguments))
        said = apt.run(
            ["apt-get", "install", "--print-uris", "-qq", "--no-install-recommends", *arguments],
            "list what it would fetch",
        )
        for found in _URI.finditer(said):
            if not found["sha256"]:
                raise SparkforgeError(
                    f"apt has no sha256 for {redact(found['uri'])}.",
                    "Disable its repository in the host's archive; it cannot be mirrored.",
                )
            path = place(urllib.parse.unquote(found["uri"]), self.request.nvidia_url)
            self.directory.fetch(path, found["uri"], found["sha256"])
            files.add(path)
        return files | self._local_repo()

    def _local_repo(self) -> set[str]:
        version = self.request.cusparselt
        if not version or not self.request.local_repo_sha256 or cusparselt.without_local_repo(version):
            return set()
        settings = {
            "cusparselt_distribution": self.request.distribution,
            "cusparselt_local_repo_url": "",
            "sparkforge_nvidia_url": self.request.nvidia_url,
        }
        url = cusparselt.deb_url(settings, {"apt": {"architecture": self.architecture}}, version)
        path = place(url, self.request.nvidia_url)
        self.directory.fetch(path, url, self.request.local_repo_sha256)
        return {path}

    def _choices(self, apt: Apt) -> list[str]:
        # cuSPARSELt comes as an archive where no repository has it.
        version = self.request.cusparselt
        optional = cusparselt.wanted_packages(version, self.request.cuda_major) if version else []
        texts = list(dict.fromkeys([*self.request.packages, *optional]))
        policies = apt.policies(sorted({one.name for text in texts for one in parse_wanted(text)}))
        found = {text: choose(text, policies) for text in texts}
        lacking = [found[text].reason for text in self.request.packages if found[text].argument is None]
        if lacking:
            raise SparkforgeError(
                f"{len(lacking)} packages are in none of the host's repositories: {'; '.join(lacking)}.",
                "Correct the sources in the host's archive, or the roles' packages.",
            )
        return [choice.argument for choice in found.values() if choice.argument is not None]

    def _targets(self, apt: Apt) -> list[tuple[str, str]]:
        """Return base and key of each list of packages, and note the repositories."""
        words = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(METAKEY) $(URI)", "Created-By: Packages"]
        found = []
        for line in apt.run(words, "name its package lists").splitlines():
            repository, metakey, uri = line.split(" ")
            self.repositories[repository] = place(repository, self.request.nvidia_url)
            found.append((uri.removesuffix(metakey), metakey))
        return found

    def _index(self, base: str, metakey: str) -> list[str]:
        """Bring one list of packages and what signs it, as apt verified it; return the paths."""
        prefix, files, release = lists_prefix(base), [], ""
        for name in ("InRelease", "Release", "Release.gpg"):
            known = [self.at(f"lists/{prefix}{flat}{name}") for flat in ("", "._")]
            for signed in [path for path in known if os.path.isfile(path)]:
                with open(signed, "rb") as stream:
                    content = stream.read()
                path = f"{place(base, self.request.nvidia_url)}/{name}"
                self.directory.write(path, content, f"{base}{name}")
                files.append(path)
                release = release or content.decode("utf-8", "replace")
        path, sha256 = smallest(release, metakey)
        whole = place(f"{base}{path}", self.request.nvidia_url)
        self.directory.fetch(whole, f"{base}{path}", sha256, moves=True)
        return [*files, whole]

    def sources(self, url: str) -> dict[str, str]:
        """Return the host's files of sources as they name the mirror."""
        table = {uri: f"{url.rstrip('/')}/{path}" for uri, path in self.repositories.items()}
        return {path: redact(rewritten(text, table)) for path, text in self.texts.items()}
