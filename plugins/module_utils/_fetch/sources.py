# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""The phase fetch: a pristine source tree, from a git repository with its submodules or from an archive.

What was fetched stays in a store that all builds of a host share: a bare repository for each URL, and each archive
under its sha256. What the store has is not asked for again, so a build whose commit was fetched before needs no
network. A tree from git is a checkout as git itself makes it, each submodule with a ``.git`` of its own: builds ask
git for their version, and ``git submodule update`` in a ``setup.py`` finds nothing to do.

git gets no configuration but ours: no hook, no filter, no credential helper, no prompt, no protocol that was not meant.
"""

# Runs in the detached worker too, where there is no module to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import base64
import bz2
import calendar
import contextlib
import dataclasses
import difflib
import enum
import errno
import functools
import gzip
import hashlib
import importlib
import lzma
import math
import os
import posixpath
import re
import shutil
import signal
import stat
import subprocess
import tarfile
import threading
import time
import typing as t
import urllib.parse
import urllib.request
import zipfile
import zlib

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests, disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import http, unpack

#: Seconds for which a lost network is waited for; the last attempt comes after them.
RETRY_SECONDS = 600.0
#: The same where a person waits for the answer.
RESOLVE_SECONDS = 60.0
#: The longest pause between two attempts, in seconds.
LONGEST_PAUSE = 60.0
#: Attempts where a transfer begins and breaks off each time, and after an error that nothing is known of.
BROKEN_ATTEMPTS = 10
UNKNOWN_ATTEMPTS = 3
#: Files that are asked for at once on a network that breaks off: some MB.
PIECE = 2000
#: Seconds to wait for another build that fetches from the same URL.
LOCK_SECONDS = 6 * 3600.0
#: Seconds between two lines about a transfer that goes on.
PROGRESS_SECONDS = 10.0
#: Submodules that one source may have, nested ones included; PyTorch has about 70.
SUBMODULES_LIMIT = 1000
#: Members that an archive of sources may have; LLVM's has about 180,000.
MEMBERS_LIMIT = 1_000_000

Say = t.Callable[[str], None]

#: Names a commit all of whose objects have arrived: git writes a ref only then.
_COMPLETE = "refs/sparkforge/commits/"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCP = re.compile(r"(?:[A-Za-z0-9._~-]+@)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):(?!//)[^:].*")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s'\"]+@")

_SETTINGS: t.Final[t.Tuple[t.Tuple[str, str], ...]] = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", os.devnull),
    ("core.askPass", ""),
    ("core.fsync", "all"),
    ("credential.helper", ""),
    ("advice.detachedHead", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    # One pack for each fetch, whole or absent; loose objects could be half of one.
    ("fetch.unpackLimit", "1"),
    # The tree of a running build shares the packs: nothing is packed anew behind its back.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.version", "2"),
    # A connection on which nothing arrives is given up; a server that still counts sends a byte now and then.
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "120"),
)

#: How git is called. Python ignores SIGXFSZ; git must too, so that it says what is wrong instead of dying of it.
_CALL: t.Final[t.Dict[str, t.Any]] = {"cwd": "/", "umask": 0o022, "restore_signals": False}


@dataclasses.dataclass(frozen=True)
class Git:
    """A commit of a repository.

    :param repo: ``https://``, ``http://``, ``ssh://``, ``git://`` or ``file://`` URL, ``user@host:path``, or an
        absolute path on the host.
    :param version: the commit, 40 hexadecimal digits; ``resolve`` makes one of a tag or a branch.
    """

    repo: str
    version: str
    submodules: bool = True


@dataclasses.dataclass(frozen=True)
class Archive:
    """A tar or zip archive.

    :param archive: an ``http://``, ``https://`` or ``file://`` URL, or an absolute path on the host.
    :param sha256: 64 hexadecimal digits.
    """

    archive: str
    sha256: str


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long a lost network is waited for; tests give a clock of their own."""

    seconds: float = RETRY_SECONDS
    sleep: t.Callable[[float], None] = time.sleep
    clock: t.Callable[[], float] = time.monotonic


def fetch(
    source: t.Union[Git, Archive],
    destination: str,
    store: str,
    say: Say,
    environment: t.Mapping[str, str],
    *,
    rewrite: t.Optional[t.Mapping[str, str]] = None,
    patience: t.Optional[Patience] = None,
) -> t.Dict[str, t.Any]:
    """Make ``destination`` the pristine tree of ``source`` and return what it is.

    The tree is made beside and renamed: ``destination`` is the whole tree, or what it was before, or absent. Whoever
    counts on it after a power loss syncs it.
    One process at a time may write one destination; the store may be shared.

    :param store: a directory on the file system of ``destination``, so that trees share the store's objects.
    :param environment: of git, which takes proxies and CA from it (``https_proxy``, ``SSL_CERT_FILE`` …).
    :param rewrite: the beginning of a URL -> what stands in its place, a site's mirror; the longest one counts, as with
        git's ``url.<base>.insteadOf``. Relative URLs of submodules are resolved before.
    :returns: ``{"commit": …, "submodules": {path: commit}}`` or ``{"sha256": …}``.
    :raises SparkforgeError: for every failure; what has arrived stays in the store.
    """
    destination = os.path.abspath(destination)
    parent, name = os.path.split(destination)
    partial, old = os.path.join(parent, f".{name}.partial"), os.path.join(parent, f".{name}.old")
    patience = patience or Patience()
    try:
        for directory in (parent, store):
            disk.make_directories(directory)
            if not os.access(directory, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)
        # Left by a run that was killed.
        disk.remove(partial)
        disk.remove(old)
        try:
            if isinstance(source, Git):
                repositories = _Repositories(os.path.abspath(store), say, environment, rewrite or {}, patience)
                found = repositories.tree(source, partial)
            else:
                found = _archive_tree(source, partial, store, say, environment, rewrite or {}, patience)
            if os.path.lexists(destination):
                os.rename(destination, old)
            os.rename(partial, destination)
        except BaseException:
            disk.remove(partial)
            raise
        disk.remove(old)
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else destination
        raise _not_written(f"The source cannot be written to {place}", place, error) from error
    return found


def resolve(
    repo: str,
    version: str,
    environment: t.Mapping[str, str],
    *,
    rewrite: t.Optional[t.Mapping[str, str]] = None,
    patience: t.Optional[Patience] = None,
) -> str:
    """Return the commit that ``version`` names in ``repo``: a tag (before a branch of that name), a branch, a full
    ref (``refs/pull/7/head``), ``HEAD``, or a commit, for which nothing is asked.

    :raises SparkforgeError: where there is none, with the tags and branches that are spelt alike.
    """
    if _COMMIT.fullmatch(version.lower()):
        return version.lower()
    if not version or version.startswith("-") or re.search(r"[\s\x00-\x1f\x7f~^:?*\[\\]|\.\.", version):
        raise SparkforgeError(f"{version!r} is no version of {redact(repo)}.", "Give a tag, a branch or a commit.")
    asked = _wanted(repo, version, rewrite or {})
    commands = _Commands(environment)
    exact = version == "HEAD" or version.startswith("refs/")
    arguments = [asked.remote.url, version, f"{version}^{{}}"] if exact else ["--tags", "--heads", asked.remote.url]
    retry = _Retry(patience or Patience(RESOLVE_SECONDS), lambda _line: None)
    try:
        listing = retry(asked, lambda: commands.remote(asked.remote, ["ls-remote", *arguments]))
    except _GitError as error:
        raise _explained(asked, error) from error
    refs = {}
    for line in listing.decode("utf-8", "surrogateescape").splitlines():
        commit, _tab, ref = line.partition("\t")
        refs[ref] = commit
    for ref in (version,) if exact else (f"refs/tags/{version}", f"refs/heads/{version}"):
        # An annotated tag is an object of its own; ^{} is the commit that it stands on.
        commit = refs.get(f"{ref}^{{}}", refs.get(ref, ""))
        if _COMMIT.fullmatch(commit):
            return commit
    raise _no_such_version(asked, version, refs)


def build_backend(pyproject: str) -> t.Optional[str]:
    """Return the build backend that the text of a ``pyproject.toml`` names, None where it names none."""
    try:
        toml = importlib.import_module("tomllib")  # Python 3.11
        system = toml.loads(pyproject).get("build-system", {})
        named = system.get("build-backend") if isinstance(system, dict) else None
        return named if isinstance(named, str) else None
    except (ImportError, ValueError):
        section = re.search(r"^[ \t]*\[build-system\][^\n]*\n(.*?)(?=^[ \t]*\[|\Z)", f"{pyproject}\n", re.M | re.S)
        found = re.search(r"^[ \t]*build-backend[ \t]*=[ \t]*([\"'])(.+?)\1", section[1] if section else "", re.M)
        return found[2] if found else None


def check_tree(tree: str, subdirectory: str, kind: str, label: str, submodules: bool = True) -> None:
    """Refuse a tree that cannot be that of the unit, before hours go into it.

    :param label: what the tree is from, for messages.
    :param submodules: whether those that the source names must be there. A folder that is not there at all was left
        out on purpose; an empty one is what ``git archive`` leaves.
    :raises SparkforgeError: where what the build begins with, or a submodule, is not in it.
    """
    needs = ("CMakeLists.txt",) if kind == "cmake" else ("pyproject.toml", "setup.py")
    place = os.path.join(tree, subdirectory)
    if not any(os.path.isfile(os.path.join(place, name)) for name in needs):
        there = sorted(os.listdir(place)) if os.path.isdir(place) else []
        within = [name for name in there if any(os.path.isfile(os.path.join(place, name, need)) for need in needs)]
        below = ", ".join(os.path.join(subdirectory, name) for name in within[:5])
        has = f"it has {', '.join(there[:5])}{', …' if len(there) > 5 else ''}" if there else "it is empty or not there"
        raise SparkforgeError(
            f"{label} holds no tree of this unit: its {f'folder {subdirectory}' if subdirectory else 'top folder'} has "
            f"no {' and no '.join(needs)}; {has}.",
            f"Set the unit's subdirectory: {below} would do." if below else "Correct the source, or its subdirectory.",
            there=there[:50],
        )
    try:
        with open(os.path.join(tree, ".gitmodules"), encoding="utf-8", errors="replace") as stream:
            paths = re.findall(r"^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$", stream.read(), re.M) if submodules else []
    except OSError:
        return
    empty = [
        path for path in paths if os.path.isdir(os.path.join(tree, path)) and not os.listdir(os.path.join(tree, path))
    ]
    if empty:
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        raise SparkforgeError(
            f"{label} lacks submodules: the folders {', '.join(empty[:5])}{more} are empty.",
            "Take an archive that holds them (git archive and GitHub leave them out), or give source.repo with "
            "submodules; where the build does without, take them out of .gitmodules by an edit.",
            submodules=empty,
        )


def _no_such_version(asked: _Wanted, version: str, refs: t.Mapping[str, str]) -> SparkforgeError:
    names = sorted({re.sub(r"^refs/(?:tags|heads)/|\^\{\}$", "", ref) for ref in refs})
    near = difflib.get_close_matches(version, names, n=5)
    if re.fullmatch(r"[0-9a-f]{7,39}", version):
        remedy = "Where it is a commit, give all its 40 digits."
    elif near:
        remedy = f"Take one that there is, for example {', '.join(near)}."
    elif not refs:
        remedy = "It has no tag and no branch at all: correct the URL or the mirror."
    else:
        remedy = "Look up the project's tags, and correct the version."
    return SparkforgeError(
        f"{asked.label} has no tag and no branch {version!r}.", remedy, url=redact(asked.url), near=near
    )


# --- URLs ---


@dataclasses.dataclass(frozen=True)
class _Remote:
    """How git gets at a URL.

    :param url: without user name and password, for ``ps`` shows what git is called with.
    :param protocols: what ``GIT_ALLOW_PROTOCOL`` allows, redirections included.
    :param header: the HTTP header that has the credentials.
    """

    url: str
    protocols: str
    header: t.Optional[str] = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """A commit and where it is.

    :param url: as the project gives it; names the repository in the store, and is what relative URLs start from.
    :param remote: where the bytes are, perhaps a mirror.
    :param path: of the submodule in the tree; '' for the source itself.
    :param parent: the path of its superproject in the tree.
    :param name: of the submodule in the superproject's ``.gitmodules``; mostly its path there.
    """

    url: str
    remote: _Remote
    commit: str
    path: str = ""
    parent: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        url = redact(self.url)
        mirror = "" if _clean(self.url) == self.remote.url else f"mirror {redact(self.remote.url)}"
        if self.path:
            return f"The submodule {self.path} ({', '.join(filter(None, (url, mirror)))})"
        return f"The repository {url} ({mirror})" if mirror else f"The repository {url}"

    @property
    def inside(self) -> str:
        """The label where a sentence does not begin with it."""
        return f"t{self.label[1:]}"

    @property
    def key(self) -> str:
        """The name of its repository in the store."""
        url = re.sub(r"(?:\.git)?/*$", "", _clean(self.url))
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", re.split(r"[/:]", url)[-1])[:40] or "repository"
        return f"{slug}-{hashlib.sha256(url.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def _wanted(
    url: str, commit: str, rewrite: t.Mapping[str, str], path: str = "", superproject: t.Optional[_Wanted] = None
) -> _Wanted:
    """Return the commit of the repository ``url``.

    :param superproject: one that is not local may not lead to a local repository: what lies on the host is none of its
        business (CVE-2022-39253).
    """
    what = f"The submodule {path}" if path else "The source"
    actual = _rewritten(url, rewrite)
    remote = _remote(actual, what)
    if superproject and actual == url and _is_local(url) and not _is_local(superproject.url):
        raise SparkforgeError(
            f"{what} of {redact(superproject.url)} is said to be at {url!r}, a path on this host: refused.",
            "Do not build this source; should the path be meant, name it as a mirror.",
            path=path,
        )
    return _Wanted(url, remote, commit, path)


def _rewritten(url: str, rewrite: t.Mapping[str, str]) -> str:
    for base in sorted(rewrite, key=len, reverse=True):
        if base and url.startswith(base):
            return rewrite[base] + url[len(base) :]
    return url


def _is_local(url: str) -> bool:
    return url.startswith("/") or url.lower().startswith("file://")


def _clean(url: str) -> str:
    """Return ``url`` without the credentials that HTTP takes; ssh's user name is part of the address."""
    return redact(url) if url.lower().startswith(("http://", "https://")) else url


def _remote(url: str, what: str) -> _Remote:
    scheme = _SCHEME.match(url)
    # A helper of git such as ext:: runs whatever the URL says.
    sound = not re.search(r"[\x00-\x1f\x7f]", url) and not url.startswith("-") and not re.match(r"[^/:]*::", url)
    if sound and url.startswith("/"):
        return _Remote(url, "file")
    if sound and scheme:
        protocol = scheme[1].lower()
        if protocol == "file":
            return _Remote(url, "file")
        with contextlib.suppress(ValueError):
            parts = urllib.parse.urlsplit(url)
            host = parts.hostname or ""
            # A host of ssh that begins with '-' would be an option (CVE-2017-1000117).
            if host and not host.startswith("-") and protocol in ("ssh", "git"):
                return _Remote(url, protocol)
            if host and protocol in ("http", "https"):
                header = None
                if "@" in parts.netloc:
                    user, password = (urllib.parse.unquote(text or "") for text in (parts.username, parts.password))
                    token = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
                    header = f"Authorization: Basic {token}"
                # What begins with TLS stays with TLS, redirections included.
                return _Remote(_clean(url), "https" if protocol == "https" else "http:https", header)
    elif sound and _SCP.fullmatch(url):
        return _Remote(url, "ssh")
    raise SparkforgeError(
        f"{what} is said to be at {_CREDENTIALS.sub('', url)!r}, which is no URL that git may use here.",
        "Give an https://, http://, ssh://, git:// or file:// URL, user@host:path, or an absolute path.",
    )


def absolute_url(base: str, url: str) -> str:
    """Return the URL of a submodule whose ``.gitmodules`` says ``url``, in a repository at ``base``.

    As git does it (``relative_url`` in its remote.c): only ``./`` and ``../`` at the beginning are relative.

    :raises SparkforgeError: where it climbs above the host.
    """
    if not url.startswith(("./", "../")):
        return url
    scheme = _SCHEME.match(base)
    host, colon, path = "", "", base.rstrip("/")
    if scheme:
        authority, slash, rest = base[scheme.end() :].partition("/")
        host, path = base[: scheme.end()] + authority, (slash + rest).rstrip("/")
    elif not base.startswith("/"):
        host, colon, path = base.partition(":")
        path = path.rstrip("/")
    rest = url
    while rest.startswith(("./", "../")):
        if rest.startswith("../"):
            if not path.strip("/"):
                raise SparkforgeError(
                    f"The submodule URL {url!r} climbs above {redact(base)}.",
                    "The source's .gitmodules does not fit its URL: take the source from its original place, or "
                    "name the mirror as such.",
                )
            path = path.rpartition("/")[0]
        rest = rest.partition("/")[2]
    joined = f"{path}/{rest}" if path or not colon else rest
    return (host + colon + joined).rstrip("/")


# --- what git says ---


class _Kind(enum.Enum):
    """What a failure of git means to us."""

    NETWORK = "no connection"
    BROKEN = "a transfer that began and broke off"
    UNADVERTISED = "a server that gives no single object"
    COMMIT = "no such commit"
    MISSING = "no such repository"
    ACCESS = "credentials wanted"
    CERTIFICATE = "TLS"
    PROXY = "proxy"
    HOST_KEY = "ssh host key"
    OWNER = "a local repository of another user"
    PROTOCOL = "protocol not allowed"
    SPACE = "disk full"
    STORE = "not writable"
    CHECKOUT = "a file that the file system does not take"
    CORRUPT = "damaged objects"
    UNKNOWN = "unknown"


#: Tried in this order: what is certain first, for "the remote end hung up" ends many a message. The texts are those
#: of git 2.34 to 2.51, libcurl 7.81 to 8.14 and OpenSSH 8.9 to 10, in the C locale. Compiled once git fails.
_RULES: t.Final[t.Tuple[t.Tuple[_Kind, str], ...]] = (
    (_Kind.SPACE, r"no space left on device|disk quota exceeded|file too large|died of signal 25\b"
                  # git does not say why, and there is hardly another reason.
                  r"|unable to write (?:file|new index|pack|sha1)|cannot store (?:pack|index) file"),
    (_Kind.STORE, r"read-only file system|insufficient permission for adding an object|unable to create temporary "
                  r"file|cannot (?:mkdir|open) .*: permission denied|could not create .*: permission denied"),
    (_Kind.COMMIT, r"not our ref|couldn't find remote ref|no such remote ref|unable to find [0-9a-f]{40} under"),
    (_Kind.UNADVERTISED, r"does not allow request for unadvertised object|shallow capabilities|"
                         r"server does not support (?:shallow|--depth)"),
    (_Kind.OWNER, r"dubious ownership"),
    (_Kind.PROTOCOL, r"transport '.*' not allowed|protocol .* (?:not supported|disabled)|unsupported protocol"),
    (_Kind.HOST_KEY, r"host key verification failed"),
    (_Kind.PROXY, r"\b407\b.*proxy|proxy.*\b407\b|returned error: 407|CONNECT tunnel failed|"
                  r"code 4\d\d from proxy"),
    (_Kind.CERTIFICATE, r"certificate|server verification failed|error setting .* verify locations"),
    (_Kind.ACCESS, r"could not read (?:username|password)|authentication failed|returned error: 40[13]|"
                   r"permission denied \("),
    (_Kind.MISSING, r"returned error: (?:404|410)|repository (?:'.*' )?not found|does not appear to be a git "
                    r"repository|no such repository|access denied or repository not exported|update-server-info"),
    (_Kind.BROKEN, r"early eof|unexpected disconnect|index-pack (?:failed|died)|invalid index-pack output|"
                   r"transfer closed with|curl (?:16|18|28|52|55|56|92)\b|operation too slow|"
                   r"bytes of body are still expected|http/2 stream|unexpected flush|pack has .* unresolved|"
                   r"bad line length|expected flush after|the remote end hung up upon|inflate returned|"
                   r"partial file|expected packfile|unexpected end of file"),
    (_Kind.CORRUPT, r"is corrupt|bad object|object file .* is empty|inflate: data stream error|"
                    r"packfile .* (?:cannot|does not|is far too)|broken ref|bad ref|missing blob|missing tree|"
                    r"did not send all necessary objects|unable to (?:read|parse|unpack) (?:tree|commit|object|"
                    r"[0-9a-f]{40})|loose object|hash mismatch|object corrupt|could not parse (?:commit|object)|"
                    r"bad (?:signature|config|tree)|not a git repository|invalid (?:object|sha1 pointer)|"
                    r"index file .* (?:too small|does not match|is)|pack .* (?:too small|invalid)|"
                    r"unresolved deltas|cannot lock ref|invalid shallow|bad shallow"),
    (_Kind.NETWORK, r"unable to access|could not resolve host|connection (?:refused|reset|timed out|closed)|"
                    r"network is unreachable|no route to host|broken pipe|timed out|returned error: (?:408|425|"
                    r"429|5\d\d)|could not read from remote repository|remote end hung up|temporary failure|"
                    r"unable to connect|rpc failed|kex_exchange|unable to look up|remote error: "),
)  # fmt: skip


class _GitError(Exception):
    """A command of git that failed."""

    def __init__(self, kind: _Kind, output: str) -> None:
        super().__init__(output)
        self.kind = kind
        #: The directory that was written, where that is not the store.
        self.place = ""
        #: The end of what git said, without credentials.
        self.output = _CREDENTIALS.sub("", output).strip()[-4000:]

    @property
    def line(self) -> str:
        """The line that says most, without the full stop."""
        lines = [line.strip() for line in re.split(r"[\r\n]+", self.output) if line.strip()]
        telling = [line for rule in _RULES if rule[0] is self.kind for line in lines if re.search(rule[1], line, re.I)]
        spoken = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "remote:"))]
        chosen = (telling or spoken or lines or ["git said nothing"])[0]
        # The URL is in our own sentence.
        return re.sub(
            r"^(?:(?:fatal|error|ssh|remote|remote error): ?|unable to access '[^']*': )+", "", chosen
        ).rstrip(".")


def _of_remote(output: str, status: int) -> _GitError:
    if status == -signal.SIGXFSZ:
        return _GitError(_Kind.SPACE, output or "the limit on the size of a file was reached")
    for kind, pattern in _RULES:
        if re.search(pattern, output, re.I):
            return _GitError(kind, output)
    return _GitError(_Kind.UNKNOWN, output or f"git ended with status {status}")


def _of_local(output: str, status: int) -> _GitError:
    """What goes wrong without a network goes wrong with the disk, or with what lies on it."""
    error = _of_remote(output, status)
    if error.kind in (_Kind.SPACE, _Kind.STORE):
        return error
    if re.search(r"unable to create (?:file|symlink)|invalid path|file name too long", output, re.I):
        return _GitError(_Kind.CHECKOUT, output)
    return _GitError(_Kind.CORRUPT, output or f"git ended with status {status}")


def _explained(wanted: _Wanted, error: _GitError, store: str = "") -> SparkforgeError:
    """Map a failure of git to a cause and a remedy."""
    what, inside, line = wanted.label, wanted.inside, error.line
    details: t.Dict[str, t.Any] = {"url": redact(wanted.url), "output": error.output}
    if wanted.path:
        details["path"] = wanted.path
    if error.kind is _Kind.COMMIT:
        cause = f"{what} does not have the commit {wanted.commit}: {line}."
        remedy = (
            "The superproject names a commit that was never pushed there or was removed: take another version of it, "
            "or a mirror that has it."
            if wanted.path
            else "Correct source.version; a commit that was removed by a forced push can be had from a mirror only."
        )
    elif error.kind is _Kind.MISSING:
        cause = f"{what} does not exist: {line}."
        remedy = "Correct the URL, or the mirror, which must hold the repository under that path."
    elif error.kind is _Kind.ACCESS:
        cause = f"{what} does not exist or wants credentials: {line}."
        remedy = "Correct the URL; for a private repository name a mirror whose URL has the credentials, or an ssh key."
    elif error.kind is _Kind.CERTIFICATE:
        cause = f"The TLS certificate of {inside} cannot be verified: {line}."
        remedy = (
            "Behind a proxy that inspects TLS, give its CA in sparkforge_ca_certificate; else check the clock and the "
            "ca-certificates package. Verification is never turned off."
        )
    elif error.kind is _Kind.PROXY:
        cause = f"The proxy does not let git reach {inside}: {line}."
        remedy = "Correct sparkforge_proxies (address, user and password), or add the host to its no_proxy."
    elif error.kind is _Kind.HOST_KEY:
        cause = f"The ssh host key of {inside} is not known to the build's user: {line}."
        remedy = "Put the key, compared with its owner's, into /etc/ssh/ssh_known_hosts of the host, or use https."
    elif error.kind is _Kind.OWNER:
        cause = f"{what} belongs to another user than the build's: {line}."
        remedy = "Give it to the build's user, or have it served over https."
    elif error.kind is _Kind.PROTOCOL:
        cause = f"{what} leads to a protocol that is not allowed: {line}."
        remedy = "Correct the URL or the server's redirection: what begins with https must stay with https."
    elif error.kind is _Kind.UNADVERTISED:
        cause = f"{what} gives no single commit, and {wanted.commit} is in none of its branches and tags: {line}."
        remedy = "Take a commit that a branch or a tag contains, or a mirror that allows any commit."
    elif error.kind in (_Kind.SPACE, _Kind.STORE):
        place = error.place or store or "the store"
        cause = f"{what} cannot be stored in {place}: {line}{_free(place)}."
        remedy = (
            "Free some space there and run again: what has arrived so far is kept."
            if error.kind is _Kind.SPACE
            else "Make the directory writable for the build's user, and run again."
        )
    elif error.kind is _Kind.CHECKOUT:
        cause = f"A file of {inside} cannot be made on this file system: {line}."
        remedy = "Put the root on a file system that is case-sensitive and takes long names, such as ext4 or xfs."
    elif error.kind is _Kind.CORRUPT:
        cause = f"The objects of {inside} are damaged in {store}, also when fetched anew: {line}."
        remedy = "Check the disk and the memory of the host (dmesg), then the server's repository with git fsck."
    elif error.kind in (_Kind.NETWORK, _Kind.BROKEN):
        cause = f"{what} cannot be reached: {line}."
        remedy = "Check the network, DNS, sparkforge_proxies and the URL, and run again: what has arrived is kept."
    else:
        cause = f"git cannot fetch {inside}: {line}."
        remedy = "See the output of git in the log; check the URL and the network, and run again."
    return SparkforgeError(cause, remedy, **details)


def _free(directory: str) -> str:
    try:
        numbers = os.statvfs(directory)
    except OSError:
        return ""
    return f" ({numbers.f_bavail * numbers.f_frsize / 1e6:.0f} MB are free)"


def _not_written(what: str, place: str, error: OSError) -> SparkforgeError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    while not os.path.isdir(place) and place != "/":
        place = os.path.dirname(place) or "/"
    return SparkforgeError(
        f"{what}: {error.strerror or error}{_free(place) if full else ''}.",
        "Free some space there and run again: what has arrived so far is kept."
        if full
        else "Make sure that the build's user may write there, and run again.",
        path=place,
    )


class _Retry:
    """Calls until it works, for as long as only the network is to blame."""

    def __init__(self, patience: Patience, say: Say) -> None:
        self.patience = patience
        self.say = say

    def __call__(self, wanted: _Wanted, attempt: t.Callable[[], t.Any], give_way: t.Container[_Kind] = ()) -> t.Any:
        """Return what ``attempt`` returns.

        :param give_way: failures that the caller answers with another way instead of with another attempt.
        :raises _GitError: for these, and for what waiting does not mend.
        :raises SparkforgeError: where the network stays lost.
        """
        lost: t.Optional[float] = None
        failures: t.List[_Kind] = []
        while True:
            try:
                return attempt()
            except _GitError as error:
                if error.kind in give_way or error.kind not in (_Kind.NETWORK, _Kind.BROKEN, _Kind.UNKNOWN):
                    raise
                now = self.patience.clock()
                # What broke off had begun: the network was there.
                lost = now if lost is None or error.kind is _Kind.BROKEN else lost
                failures.append(error.kind)
                if failures.count(_Kind.UNKNOWN) >= UNKNOWN_ATTEMPTS:
                    raise
                left = self.patience.seconds - (now - lost)
                if left <= 0 or failures.count(_Kind.BROKEN) >= BROKEN_ATTEMPTS:
                    raise self.lost(wanted, error, len(failures), now - lost) from error
                # The pauses end with the patience, so that an outage of just that length is survived.
                pause = min(2.0 ** min(len(failures) - 1, 10), LONGEST_PAUSE, max(left, 1.0))
                self.say(f"{wanted.label}: {error.line}; attempt {len(failures) + 1} in {pause:.0f} s")
                self.patience.sleep(pause)

    def lost(self, wanted: _Wanted, error: _GitError, attempts: int, seconds: float) -> SparkforgeError:
        explained = _explained(wanted, error)
        for_long = (
            "" if seconds < 1 else f"{seconds:.0f} s and " if seconds < 120 else f"{seconds / 60:.0f} minutes and "
        )
        return SparkforgeError(
            f"{explained.cause[:-1]} (for {for_long}{attempts} {'attempts' if attempts > 1 else 'attempt'}).",
            explained.remedy,
            **explained.details,
            attempts=attempts,
        )


# --- calling git ---


class _Commands:
    """Calls git, with an environment in which nothing but our settings counts."""

    def __init__(self, environment: t.Mapping[str, str]) -> None:
        kept = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_SSL_CAINFO")
        self.environment = {
            key: value
            for key, value in environment.items()
            if (not key.startswith("GIT_") or key in kept) and key not in ("SSH_ASKPASS", "LANGUAGE", "DISPLAY")
        }
        self.environment.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        # libcurl, unlike its command, reads neither of these.
        for ours, gits in (("SSL_CERT_FILE", "GIT_SSL_CAINFO"), ("SSL_CERT_DIR", "GIT_SSL_CAPATH")):
            if environment.get(ours):
                self.environment.setdefault(gits, environment[ours])
        if "GIT_SSH" not in self.environment:
            self.environment.setdefault(
                "GIT_SSH_COMMAND",
                "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4",
            )
        self.environment.update(
            LC_ALL="C",
            GIT_TERMINAL_PROMPT="0",
            GIT_CONFIG_GLOBAL=os.devnull,
            GIT_CONFIG_NOSYSTEM="1",
            GIT_ATTR_NOSYSTEM="1",
            GIT_DEFAULT_HASH="sha1",
            GIT_DEFAULT_REF_FORMAT="files",
            GIT_ALLOW_PROTOCOL="",
        )
        git = shutil.which("git", path=self.environment["PATH"])
        if git is None:
            raise SparkforgeError(
                f"There is no git on the path {self.environment['PATH']}.",
                "Run the role build_toolchain, which installs it.",
            )
        self.git = git

    def local(self, *arguments: str) -> bytes:
        """Call git for what needs no network and return its output.

        :raises _GitError: where it fails.
        """
        done = subprocess.run(
            [self.git, *arguments],
            env=self._with(_SETTINGS), stdin=subprocess.DEVNULL, capture_output=True, check=False, **_CALL,
        )  # fmt: skip
        if done.returncode:
            raise _of_local(done.stderr.decode("utf-8", "replace"), done.returncode)
        return done.stdout

    def remote(
        self,
        remote: _Remote,
        arguments: t.Sequence[str],
        *,
        data: bytes = b"",
        say: t.Optional[Say] = None,
    ) -> bytes:
        """Call git for what needs the network and return its output.

        :param data: its standard input.
        :param say: gets a line now and then about how far the transfer is.
        :raises _GitError: where it fails.
        """
        settings = list(_SETTINGS)
        if remote.header is not None:
            parts = urllib.parse.urlsplit(remote.url)
            settings.append((f"http.{parts.scheme}://{parts.netloc}/.extraHeader", remote.header))
        environment = self._with(settings)
        environment["GIT_ALLOW_PROTOCOL"] = remote.protocols
        process = subprocess.Popen(
            [self.git, *arguments],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_CALL,
        )  # fmt: skip
        try:
            watcher = _Watcher(t.cast(t.BinaryIO, process.stderr), say)
            watcher.start()
            # A git that ends at once reads nothing.
            with contextlib.suppress(BrokenPipeError):
                t.cast(t.BinaryIO, process.stdin).write(data)
            with contextlib.suppress(BrokenPipeError):
                t.cast(t.BinaryIO, process.stdin).close()
            output: bytes = t.cast(t.BinaryIO, process.stdout).read()
            status = process.wait()
            watcher.join()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if status:
            raise _of_remote(watcher.text, status)
        return output

    def _with(self, settings: t.Sequence[t.Tuple[str, str]]) -> t.Dict[str, str]:
        environment = dict(self.environment)
        for number, (key, value) in enumerate(settings):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
        return environment


class _Watcher(threading.Thread):
    """Reads what git says: keeps the end of it, and passes on how far the transfer is."""

    _PROGRESS = re.compile(r"(?:Receiving objects|Resolving deltas|Updating files): +\d+%[^\r\n]*")

    def __init__(self, stream: t.BinaryIO, say: t.Optional[Say]) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.say = say
        self.tail = b""

    def run(self) -> None:
        said = time.monotonic()
        with contextlib.suppress(OSError, ValueError):
            for block in iter(lambda: os.read(self.stream.fileno(), 65536), b""):
                self.tail = (self.tail + block)[-65536:]
                if self.say is None or time.monotonic() - said < PROGRESS_SECONDS:
                    continue
                lines = self._PROGRESS.findall(block.decode("utf-8", "replace"))
                if lines:
                    said = time.monotonic()
                    self.say(lines[-1].strip())

    @property
    def text(self) -> str:
        """What git said, without the lines about progress."""
        text = self.tail.decode("utf-8", "replace")
        return re.sub(r"(?:remote: )?[A-Z][a-z]+ [a-z]+: +(?:\d+%|\d+)[^\r\n]*[\r\n]?", "", text)


# --- repositories ---


class _Repositories:
    """Gets a commit and its submodules into the store, and a tree out of it."""

    def __init__(
        self,
        store: str,
        say: Say,
        environment: t.Mapping[str, str],
        rewrite: t.Mapping[str, str],
        patience: Patience,
    ) -> None:
        self.store = store
        self.say = say
        self.rewrite = rewrite
        self.git = _Commands(environment)
        self.retry = _Retry(patience, say)

    def tree(self, source: Git, directory: str) -> t.Dict[str, t.Any]:
        """Check ``source`` out into the new ``directory``."""
        commit = source.version.lower()
        if not _COMMIT.fullmatch(commit):
            raise SparkforgeError(
                f"{source.version!r} is no commit of {redact(source.repo)}, which has 40 hexadecimal digits.",
                "Resolve the tag or the branch first: playbooks/lock.yml writes the commit into the lock.",
            )
        first = _wanted(source.repo, commit, self.rewrite)
        # All is fetched before anything is checked out: what the network does is over by then.
        found = self.fetched(first, source.submodules)
        os.mkdir(directory)
        os.chmod(directory, 0o755)  # noqa: S103 - sources are no secret
        for wanted in found:
            self.using(wanted, functools.partial(self.placed, wanted, directory))
        return {"commit": commit, "submodules": {wanted.path: wanted.commit for wanted in found[1:]}}

    def fetched(self, first: _Wanted, recursive: bool) -> t.List[_Wanted]:
        """Bring ``first`` and what is below it into the store; return them, each after its superproject."""
        found: t.List[_Wanted] = []
        waiting = [first]
        while waiting:
            wanted = waiting.pop(0)
            found.append(wanted)
            if len(found) > SUBMODULES_LIMIT:
                raise SparkforgeError(
                    f"{first.label} has more than {SUBMODULES_LIMIT} submodules.",
                    "Do not build it with submodules: true; no project is known that needs so many.",
                )
            if recursive:
                waiting = self.using(wanted, functools.partial(self.submodules, wanted)) + waiting
            else:
                self.using(wanted, lambda _store: None)
        return found

    def using(self, wanted: _Wanted, work: t.Callable[[str], t.Any]) -> t.Any:
        """Call ``work`` with the repository in the store once it has the commit; mend a damaged one once.

        :raises SparkforgeError: for every failure.
        """
        store = os.path.join(self.store, f"{wanted.key}.git")
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(receipts.lock(self.store, wanted.key, wait=0))
            except SparkforgeError:
                self.say(f"{wanted.label}: another build fetches from it; waiting")
                stack.enter_context(receipts.lock(self.store, wanted.key, wait=LOCK_SECONDS))
            for damaged in (False, True):
                try:
                    self.obtain(wanted, store)
                    return work(store)
                except _GitError as error:
                    if error.kind is not _Kind.CORRUPT or damaged:
                        raise _explained(wanted, error, store) from error
                    self.say(f"{wanted.label}: its objects in {store} are damaged ({error.line}); fetching them anew")
                    disk.remove(store)
                    disk.remove(f"{store}.pieces")
        raise AssertionError("unreachable: the second round returns or raises")

    # What is called from here on holds the lock of the store.

    def obtain(self, wanted: _Wanted, store: str) -> None:
        """Make sure that ``store`` has all objects of the commit; ask the network only for what it lacks.

        :raises _GitError: where the store is damaged or the commit cannot be had.
        """
        self.make_repository(store)
        if self.has(wanted, store):
            return
        self.say(f"fetching {wanted.commit[:12]} of {wanted.inside}")
        try:
            if not os.path.isdir(f"{store}.pieces"):
                try:
                    self.retry(wanted, lambda: self.fetch_commit(wanted, store), give_way=(_Kind.BROKEN,))
                except _GitError as error:
                    if error.kind is not _Kind.BROKEN:
                        raise
                    self.say(f"{wanted.label}: the transfer broke off ({error.line}); going on in pieces")
                    _sweep(store)
            if not self.has(wanted, store):
                self.fetch_pieces(wanted, store)
        except _GitError as error:
            _sweep(store)
            if error.kind is _Kind.UNADVERTISED:
                self.fetch_all(wanted, store, error)
            elif error.kind is _Kind.UNKNOWN:
                # Perhaps the store is to blame: it tells, or what git said stands.
                self.git.local("--git-dir", store, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
                raise
            else:
                raise
        if not self.has(wanted, store):
            raise _GitError(_Kind.CORRUPT, f"{wanted.commit} is not there after it was fetched")

    def make_repository(self, store: str) -> None:
        """Make the bare repository, or tidy up what a killed run left in it."""
        whole = os.path.isfile(os.path.join(store, "HEAD")) and os.path.isdir(os.path.join(store, "objects"))
        if whole and os.path.isdir(os.path.join(store, "refs")):
            _sweep(store)
            return
        disk.remove(store)
        self.git.local("init", "--quiet", "--bare", "--template=", store)

    def has(self, wanted: _Wanted, store: str) -> bool:
        """Tell whether all objects of the commit have arrived.

        :raises _GitError: where its ref says so and the commit cannot be read.
        """
        ref = os.path.join(store, _COMPLETE, wanted.commit)
        try:
            with open(ref, encoding="ascii") as stream:
                sound = stream.read().strip() == wanted.commit
        except FileNotFoundError:
            return False
        except ValueError:
            sound = False
        if not sound:
            # A power loss leaves an empty file.
            os.unlink(ref)
            return False
        self.git.local("--git-dir", store, "cat-file", "commit", wanted.commit)
        return True

    def fetch_commit(self, wanted: _Wanted, store: str) -> None:
        """Fetch the commit without its history."""
        self.ask(wanted, store, ["--depth=1", wanted.remote.url, f"+{wanted.commit}:{_COMPLETE}{wanted.commit}"])

    def fetch_all(self, wanted: _Wanted, store: str, refusal: _GitError) -> None:
        """Fetch all branches and tags, from a server that gives no single commit (old, or a plain file server)."""
        self.say(f"{wanted.label}: the server gives no single commit; fetching all branches and tags")
        if os.path.exists(os.path.join(store, "shallow")):
            # What lies behind the shallow commits would never be sent.
            disk.remove(store)
            self.make_repository(store)
        kinds = ("heads", "tags")
        refs = [f"+refs/{kind}/*:refs/sparkforge/{kind}/*" for kind in kinds]
        self.retry(wanted, lambda: self.ask(wanted, store, ["--prune", wanted.remote.url, *refs]))
        try:
            self.git.local("--git-dir", store, "cat-file", "commit", wanted.commit)
        except _GitError as error:
            namespaces = [f"refs/sparkforge/{kind}" for kind in kinds]
            if not self.git.local("--git-dir", store, "for-each-ref", "--count=1", *namespaces):
                # git takes a login page for a file server without a branch.
                raise _GitError(_Kind.MISSING, "what answers there has no branch and no tag") from error
            raise _GitError(_Kind.UNADVERTISED, refusal.output) from error
        self.git.local("--git-dir", store, "update-ref", f"{_COMPLETE}{wanted.commit}", wanted.commit)

    def fetch_pieces(self, wanted: _Wanted, store: str) -> None:
        """Fetch the commit's directories, then its files some thousand at a time; what has arrived is kept.

        git itself begins a transfer that broke off again. A server that does not filter gives all in one answer.
        """
        pieces = f"{store}.pieces"
        ref = f"+{wanted.commit}:{_COMPLETE}{wanted.commit}"
        self.git.local("init", "--quiet", "--bare", "--template=", pieces)
        _sweep(pieces)
        for key, value in (
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.url", wanted.remote.url),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialCloneFilter", "blob:none"),
        ):
            self.git.local("--git-dir", pieces, "config", key, value)
        # Files of another version that was fetched before count as there.
        os.makedirs(os.path.join(pieces, "objects", "info"), exist_ok=True)
        with open(os.path.join(pieces, "objects", "info", "alternates"), "w", encoding="utf-8") as stream:
            stream.write(os.path.join(store, "objects") + "\n")
        if not self.has(wanted, pieces):
            self.retry(wanted, lambda: self.ask(wanted, pieces, ["--depth=1", "--filter=blob:none", "origin", ref]))
        missing = self.missing(wanted, pieces)
        total = len(missing)
        try:
            for start in range(0, total, PIECE):
                data = "".join(f"{name}\n" for name in missing[start : start + PIECE]).encode("ascii")
                some = ["--filter=blob:none", "--stdin", "origin"]
                self.retry(wanted, functools.partial(self.ask, wanted, pieces, some, data))
                self.say(f"{wanted.label}: {min(start + PIECE, total)} of {total} files that were missing")
        except _GitError as error:
            if error.kind is not _Kind.UNADVERTISED:
                raise
            # It filters and then gives no single file: only a whole transfer is left.
            disk.remove(pieces)
            self.retry(wanted, lambda: self.fetch_commit(wanted, store))
            return
        local = dataclasses.replace(wanted, remote=_Remote(pieces, "file"))
        self.ask(local, store, ["--depth=1", pieces, ref])
        disk.remove(pieces)

    def missing(self, wanted: _Wanted, pieces: str) -> t.List[str]:
        """Return the names of the objects of the commit that have not arrived."""
        names = self.git.local(
            "--git-dir", pieces, "rev-list", "--objects", "--missing=print", "--no-object-names", wanted.commit
        )
        return [line[1:] for line in names.decode("ascii").split() if line.startswith("?")]

    def ask(self, wanted: _Wanted, repository: str, arguments: t.Sequence[str], data: bytes = b"") -> None:
        """Call ``git fetch`` once."""
        # "noop" asks for the objects by name without telling what is there.
        settings = ["-c", "fetch.negotiationAlgorithm=noop"] if "--stdin" in arguments else []
        options = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--progress"]
        self.git.remote(
            wanted.remote,
            ["--git-dir", repository, *settings, "fetch", *options, *arguments],
            data=data,
            say=lambda line: self.say(f"{wanted.label}: {line}"),
        )

    def submodules(self, wanted: _Wanted, store: str) -> t.List[_Wanted]:
        """Return the submodules that the commit itself has, in the order of their paths."""
        listing = self.git.local("--git-dir", store, "ls-tree", "-r", "-z", "--full-tree", wanted.commit)
        links, has_modules = {}, False
        for entry in listing.split(b"\0"):
            if entry.startswith(b"160000 "):
                commit, _tab, path = entry[len(b"160000 commit ") :].decode("utf-8", "surrogateescape").partition("\t")
                links[path] = commit
            has_modules = has_modules or (entry.startswith(b"100") and entry.endswith(b"\t.gitmodules"))
        if not links:
            return []
        modules = self.modules(wanted, store) if has_modules else {}
        found = []
        for path, commit in sorted(links.items()):
            whole = posixpath.join(wanted.path, path)
            module = modules.get(path, {})
            if module.get("update") == "none":
                self.say(f"{wanted.label}: its submodule {whole} is left out, as .gitmodules says (update = none)")
                continue
            if not module.get("url"):
                raise SparkforgeError(
                    f"{wanted.label} has the submodule {whole} at {commit}, and its .gitmodules names no URL for it.",
                    "Take another version of the source; where it is not needed, set source.submodules to false.",
                    path=whole,
                )
            url = absolute_url(wanted.url, module["url"])
            child = _wanted(url, commit, self.rewrite, whole, wanted)
            found.append(dataclasses.replace(child, parent=wanted.path, name=module["name"]))
        return found

    def modules(self, wanted: _Wanted, store: str) -> t.Dict[str, t.Dict[str, str]]:
        """Return what ``.gitmodules`` says: path -> its settings."""
        try:
            listing = self.git.local(
                "--git-dir", store, "config", "--blob", f"{wanted.commit}:.gitmodules", "--null", "--list"
            )
        except _GitError as error:
            if "bad config" not in error.output:
                raise
            raise SparkforgeError(
                f"The .gitmodules of {wanted.inside} cannot be read: {error.line}.",
                "Take another version of the source, or set source.submodules to false.",
            ) from error
        named: t.Dict[str, t.Dict[str, str]] = {}
        for entry in listing.decode("utf-8", "surrogateescape").split("\0"):
            key, _line, value = entry.partition("\n")
            found = re.fullmatch(r"submodule\.(.*)\.([a-z]+)", key, re.S)
            if found:
                named.setdefault(found[1], {"name": found[1]})[found[2]] = value
        return {settings["path"].rstrip("/"): settings for settings in named.values() if settings.get("path")}

    def placed(self, wanted: _Wanted, directory: str, store: str) -> None:
        """Check out, and say which directory was full where one was."""
        try:
            self.check_out(wanted, directory, store)
        except _GitError as error:
            error.place = directory
            raise

    def check_out(self, wanted: _Wanted, directory: str, store: str) -> None:
        """Put the commit's files where they belong in the tree, with a repository that needs the store no more."""
        tree = os.path.join(directory, wanted.path) if wanted.path else directory
        # Made by the superproject's checkout, which git lets through no symlink; a tree that says otherwise is a trap.
        if os.path.realpath(tree) != os.path.join(os.path.realpath(directory), wanted.path).rstrip("/"):
            raise SparkforgeError(
                f"{wanted.label} would be checked out through a symlink: refused.", "Do not build this source."
            )
        if not os.path.isdir(tree):
            raise _GitError(_Kind.CORRUPT, f"the checkout made no directory {wanted.path}")
        for name in os.listdir(tree):  # of a checkout that was in vain
            disk.remove(os.path.join(tree, name))
        metadata = os.path.join(tree, ".git")
        self.git.local("init", "--quiet", "--template=", tree)
        _share(os.path.join(store, "objects"), os.path.join(metadata, "objects"))
        if os.path.exists(os.path.join(store, "shallow")):
            shutil.copyfile(os.path.join(store, "shallow"), os.path.join(metadata, "shallow"))
        at = ("--git-dir", metadata, "--work-tree", tree)
        # Where it came from, not through which mirror: builds write it into what they make.
        for key, value in (("gc.auto", "0"), ("remote.origin.url", _clean(wanted.url))):
            self.git.local(*at, "config", key, value)
        self.git.local(*at, "update-ref", "--no-deref", "HEAD", wanted.commit)
        self.git.local(*at, "reset", "--quiet", "--hard", wanted.commit)
        head = self.git.local(*at, "rev-parse", "--verify", "HEAD").decode("ascii").strip()
        if head != wanted.commit:
            raise _GitError(_Kind.CORRUPT, f"{head} was checked out instead of {wanted.commit}")
        if wanted.path and not re.search(r"[\x00-\x1f]", wanted.name):
            # As `git submodule init` has it: the superproject knows that the submodule is there.
            config = os.path.join(directory, wanted.parent, ".git", "config")
            for key, value in (("active", "true"), ("url", _clean(wanted.url))):
                self.git.local("config", "--file", config, f"submodule.{wanted.name}.{key}", value)
        self.warn_of_lfs(wanted, tree)

    def warn_of_lfs(self, wanted: _Wanted, tree: str) -> None:
        attributes = os.path.join(tree, ".gitattributes")
        if not os.path.isfile(attributes) or os.path.islink(attributes):
            return
        with open(attributes, encoding="utf-8", errors="replace") as stream:
            if re.search(r"\bfilter=lfs\b", stream.read()):
                self.say(f"{wanted.label} keeps files in Git LFS, which are not fetched: pointers stand in their place")


def _sweep(repository: str) -> None:
    """Remove what a killed git leaves: locks, and packs that are not whole."""
    objects = os.path.join(repository, "objects")
    for directory, names, files in os.walk(repository):
        if directory == objects:
            for name in [name for name in names if name.startswith(("tmp_", "incoming-"))]:
                names.remove(name)
                disk.remove(os.path.join(directory, name))
        inside = directory == objects or directory.startswith(objects + "/")
        for name in files:
            if name.startswith("tmp_") if inside else name.endswith(".lock"):
                disk.remove(os.path.join(directory, name))


def _share(source: str, target: str) -> None:
    """Give ``target`` the objects of ``source``: the same files under a second name; copies on another file system."""
    for directory, names, files in os.walk(source):
        names[:] = [name for name in names if not name.startswith(("tmp_", "incoming-"))]
        below = os.path.join(target, os.path.relpath(directory, source))
        os.makedirs(below, exist_ok=True)
        for name in files:
            if name.startswith("tmp_") or name == "alternates":
                continue
            one, other = os.path.join(directory, name), os.path.join(below, name)
            try:
                os.link(one, other)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                    raise
                shutil.copyfile(one, other)
                shutil.copymode(one, other)


# --- archives ---


def _archive_tree(
    source: Archive,
    directory: str,
    store: str,
    say: Say,
    environment: t.Mapping[str, str],
    rewrite: t.Mapping[str, str],
    patience: Patience,
) -> t.Dict[str, t.Any]:
    """Unpack ``source`` into the new ``directory``."""
    sha256 = source.sha256.strip().lower()
    url = urllib.parse.quote(source.archive) if source.archive.startswith("/") else _rewritten(source.archive, rewrite)
    url = f"file://{url}" if url.startswith("/") else url
    label = redact(source.archive)
    if not _SHA256.fullmatch(sha256):
        raise SparkforgeError(
            f"The archive {label} has no sha256.",
            "Give source.sha256, 64 hexadecimal digits, from a source that you trust.",
        )
    kept = os.path.join(store, sha256)
    with receipts.lock(store, sha256, wait=LOCK_SECONDS):
        if os.path.isfile(kept) and digests.of_file(kept) != sha256:
            say(f"{kept} is damaged; fetching {label} anew")
            disk.remove(kept)
        if not os.path.isfile(kept):
            say(f"fetching {label}")
            # As many attempts as fit into the patience, with the pauses of _fetch (1, 2, 4, 8, 8 … s).
            retries = 3 + math.ceil(patience.seconds / 8)
            with _proxies(environment):
                arrived = http.fetch(url, store, sha256=sha256, retries=retries, setting="source.archive")
            os.chmod(arrived, 0o644)
            os.replace(arrived, kept)
            disk.fsync_directory(store)
    unpacked = f"{directory}.unpacked"
    try:
        disk.remove(unpacked)
        _unpack_tree(kept, unpacked, label)
        top = os.listdir(unpacked)
        only = os.path.join(unpacked, top[0])
        os.rename(only if _is_directory(only) and len(top) == 1 else unpacked, directory)
    finally:
        disk.remove(unpacked)
    return {"sha256": sha256}


@contextlib.contextmanager
def _proxies(environment: t.Mapping[str, str]) -> t.Iterator[None]:
    """Let Python's own HTTP see the proxies and the CA of ``environment``, and no others."""
    names = [f"{scheme}_proxy" for scheme in ("http", "https", "ftp", "all", "no")]
    names = [*names, *(name.upper() for name in names), "SSL_CERT_FILE", "SSL_CERT_DIR"]
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ.update({name: environment[name] for name in names if name in environment})
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


class _Members(t.Protocol):
    """What an archive must be able to do to be unpacked: a tar archive can, and ``_Zip``."""

    def __iter__(self) -> t.Iterator[tarfile.TarInfo]: ...

    def extractfile(self, member: tarfile.TarInfo) -> t.Optional[t.IO[bytes]]: ...


class _Tree(unpack._Extraction):
    """Unpacks with the guards of ``_fetch.unpack``, and keeps what is at the top: there may be several entries."""

    def split(self, name: str, what: str) -> t.Tuple[str, str]:
        return ".", "/".join(part for part in super().split(name, what) if part)

    def members(self, members: _Members) -> None:
        for count, member in enumerate(members, 1):
            if count > MEMBERS_LIMIT:
                raise self.refusal(f"has more than {MEMBERS_LIMIT} members")
            self.one(t.cast(tarfile.TarFile, members), member)
        if not (self.files or self.links):
            raise self.refusal("holds no file")
        tops = {path.partition("/")[0] for path in (*self.files, *self.links, *self.directories) if path}
        if len(tops) > 1 or not tops <= self.directories:
            return
        # The directory at the top will be stripped: what led from within it to beside it would leave the tree.
        for path, target in self.links.items():
            climbs = 0
            for part in target.split("/"):
                if part not in ("..", ".", ""):
                    break
                climbs += part == ".."
            if climbs >= path.count("/") and climbs:
                raise self.refusal(f"holds the symlink {path!r} to {target!r}, which leaves the archive's directory")


class _ZipMember(tarfile.TarInfo):
    """A member of a zip archive, in the terms of tar, so that the same guards judge it."""

    info: zipfile.ZipInfo


class _Zip:
    """A zip archive, in the terms of tar."""

    _TYPES: t.Final = {
        0: tarfile.REGTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFLNK: tarfile.SYMTYPE,
        stat.S_IFCHR: tarfile.CHRTYPE, stat.S_IFBLK: tarfile.BLKTYPE, stat.S_IFIFO: tarfile.FIFOTYPE,
    }  # fmt: skip

    def __init__(self, file: zipfile.ZipFile) -> None:
        self.file = file

    def __iter__(self) -> t.Iterator[tarfile.TarInfo]:
        for info in self.file.infolist():
            if "\\" in info.filename:
                raise zipfile.BadZipFile(f"{info.filename!r} has backslashes, which are no separators in a zip archive")
            # The upper half is the mode, where a Unix made the archive (APPNOTE.TXT 4.4.2, 4.4.15).
            mode = info.external_attr >> 16 if info.create_system == 3 else 0
            member = _ZipMember(info.filename.rstrip("/") or info.filename)
            member.info, member.size, member.mode = info, info.file_size, mode & 0o777
            member.type = tarfile.DIRTYPE if info.is_dir() else self._TYPES.get(stat.S_IFMT(mode), b"?")
            with contextlib.suppress(ValueError, OverflowError):
                member.mtime = calendar.timegm((*info.date_time, 0, 0, 0))
            if member.issym():
                if info.file_size > 4096:
                    raise zipfile.BadZipFile(f"the symlink {info.filename!r} has {info.file_size} bytes")
                member.linkname = self.file.read(info).decode("utf-8", "surrogateescape")
            yield member

    def extractfile(self, member: tarfile.TarInfo) -> t.Optional[t.IO[bytes]]:
        return self.file.open(t.cast(_ZipMember, member).info)


def _unpack_tree(archive: str, directory: str, label: str) -> None:
    """Unpack ``archive`` into the new ``directory``; what is at its top stays.

    :raises SparkforgeError: for an archive that is none, is damaged, or wants to write where it must not.
    """
    os.mkdir(directory, 0o700)
    tree = _Tree(label, directory)
    try:
        with open(archive, "rb") as stream:
            head = stream.read(512)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            with zipfile.ZipFile(archive) as file:
                tree.members(_Zip(file))
        else:
            with _opened(archive, head, label) as content, tarfile.open(fileobj=content, mode="r|") as members:
                tree.members(members)
        os.chmod(directory, 0o755)  # noqa: S103 - sources are no secret
    except (
        tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, zipfile.BadZipFile, RuntimeError, UnicodeError,
    ) as error:  # fmt: skip
        # RuntimeError: an encrypted member, or (NotImplementedError) a compression that zipfile does not know.
        raise _damaged(label, error) from error
    except OSError as error:
        if error.errno is None:  # gzip and bz2 report bad data so
            raise _damaged(label, error) from error
        raise _not_written(f"{label} cannot be unpacked into {directory}", directory, error) from error


def _opened(archive: str, head: bytes, label: str) -> t.IO[bytes]:
    openers: t.Tuple[t.Tuple[bytes, t.Callable[[str], t.Any]], ...] = (
        (b"\xfd7zXZ\x00", lzma.open),
        (b"\x1f\x8b", gzip.open),
        (b"BZh", bz2.open),
    )
    for magic, opener in openers:
        if head.startswith(magic):
            return t.cast("t.IO[bytes]", opener(archive))
    if head[257:262] == b"ustar":
        return open(archive, "rb")
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            zstd = importlib.import_module("compression.zstd")  # Python 3.14
        except ImportError:
            raise SparkforgeError(
                f"{label} is compressed with zstd, which this host's Python cannot read.",
                "Give the source as .tar.xz or .tar.gz, with the sha256 of that file.",
            ) from None
        return t.cast("t.IO[bytes]", zstd.open(archive))
    it_is = f"it begins with {head[:16]!r}" if head else "it is empty"
    raise SparkforgeError(
        f"{label} is no archive of sources: {it_is}.",
        "Give a .tar.gz, .tar.xz, .tar.bz2, .tar or .zip.",
    )


def _damaged(label: str, error: Exception) -> SparkforgeError:
    return SparkforgeError(
        f"{label} is damaged or no archive of its kind: {(str(error) or type(error).__name__).rstrip('.')}.",
        "It has the sha256 that was given, so the original is like that: take another archive of the source.",
    )


# --- the disk ---


def _is_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
