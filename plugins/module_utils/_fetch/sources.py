"""The phase fetch: a pristine source tree, from a git repository with its submodules or from an archive.

Downloads stay in a store that all builds on a host share: a bare repository for each URL, and each archive under its
sha256. Nothing in the store is downloaded again, so a build whose commit is there needs no network. A git tree is a
regular checkout in which each submodule has its own ``.git``, because builds ask git for their version, and ``git
submodule update`` in a ``setup.py`` finds nothing to do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import errno
import math
import os
import re
import typing as t
import urllib.parse

from .._core import digests, disk, phrases, receipts
from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import http, http_errors, unpack
from .git import COMMIT, LOCK_SECONDS, Git, Repositories
from .git_command import Commands
from .git_errors import GitError, Patience, Retry, Say, user_error
from .urls import Revision, apply_mirrors, make_revision

#: Seconds to keep retrying after the network is lost, while a user is waiting for the answer.
RESOLVE_SECONDS = 60.0


@dataclasses.dataclass(frozen=True)
class Archive:
    """A tar archive.

    :param archive: an ``http://``, ``https://`` or ``file://`` URL, or an absolute path on the host.
    :param sha256: 64 hexadecimal digits.
    """

    archive: str
    sha256: str


def fetch(
    source: Git | Archive,
    destination: str,
    store: str,
    say: Say,
    environment: t.Mapping[str, str],
    *,
    rewrite: t.Mapping[str, str] | None = None,
    patience: Patience | None = None,
) -> dict[str, t.Any]:
    """Make ``destination`` the pristine tree of ``source`` and return its identity.

    The tree is created next to ``destination`` and renamed, so ``destination`` is always complete, unchanged or absent.
    A caller that relies on it after a power loss must sync it. Only one process at a time may write a destination; the
    store may be shared.

    :param store: a directory on the file system of ``destination``, so that trees share the store's objects.
    :param environment: the environment for git, including proxies and the CA (``https_proxy``, ``SSL_CERT_FILE`` …).
    :param rewrite: URL prefix -> its replacement, such as a site's mirror. The longest prefix wins, as with git's
        ``url.<base>.insteadOf``. Relative submodule URLs are resolved first.
    :returns: ``{"commit": …, "submodules": {path: commit}}`` or ``{"sha256": …}``.
    :raises SparkforgeError: for every failure; completed downloads are kept in the store.
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
        # This was left by a killed run.
        disk.remove(partial)
        disk.remove(old)
        try:
            if isinstance(source, Git):
                repositories = Repositories(os.path.abspath(store), say, environment, rewrite or {}, patience)
                identity = repositories.tree(source, partial)
            else:
                identity = _archive_tree(source, partial, store, say, environment, rewrite or {}, patience)
            if os.path.lexists(destination):
                os.rename(destination, old)
            os.rename(partial, destination)
        except BaseException:
            disk.remove(partial)
            raise
        disk.remove(old)
    except OSError as error:
        path = error.filename if isinstance(error.filename, str) else destination
        raise http_errors.not_written(f"The source cannot be written to {path}", path, error) from error
    return identity


def _archive_tree(
    source: Archive,
    directory: str,
    store: str,
    say: Say,
    environment: t.Mapping[str, str],
    rewrite: t.Mapping[str, str],
    patience: Patience,
) -> dict[str, t.Any]:
    sha256 = source.sha256.strip().lower()
    url = (
        urllib.parse.quote(source.archive) if source.archive.startswith("/") else apply_mirrors(source.archive, rewrite)
    )
    url = f"file://{url}" if url.startswith("/") else url
    label = redact(source.archive)
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise SparkforgeError(
            f"The archive {label} has no sha256.",
            "Set source.sha256 (64 hexadecimal digits) from a source that you trust.",
        )
    stored_path = os.path.join(store, sha256)
    with receipts.lock(store, sha256, wait=LOCK_SECONDS):
        if os.path.isfile(stored_path) and digests.of_file(stored_path) != sha256:
            say(f"{stored_path} is damaged; fetching {label} again")
            disk.remove(stored_path)
        if not os.path.isfile(stored_path):
            say(f"fetching {label}")
            # Allow as many attempts as fit into that time, with the pauses of http.fetch (1, 2, 4, 8, 8 … s).
            retries = 3 + math.ceil(patience.seconds / 8)
            with _proxies(environment):
                arrived = http.fetch(url, store, sha256=sha256, retries=retries, setting="source.archive")
            os.chmod(arrived, 0o644)
            os.replace(arrived, stored_path)
            disk.fsync(store)
    unpack.unpack(stored_path, directory, label, unpack.SOURCES)
    return {"sha256": sha256}


@contextlib.contextmanager
def _proxies(environment: t.Mapping[str, str]) -> t.Iterator[None]:
    """Expose the proxies and the CA of ``environment``, and no others, to Python's own HTTP client."""
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


def resolve(
    repo: str,
    version: str,
    environment: t.Mapping[str, str],
    *,
    rewrite: t.Mapping[str, str] | None = None,
    patience: Patience | None = None,
) -> str:
    """Return the commit of a tag (preferred to a branch with the same name), a branch, a full ref
    (``refs/pull/7/head``), ``HEAD``, or a commit (returned without a request).

    :raises SparkforgeError: if ``version`` does not exist, listing tags and branches with similar names.
    """
    if COMMIT.fullmatch(version.lower()):
        return version.lower()
    if not version or version.startswith("-") or re.search(r"[\s\x00-\x1f\x7f~^:?*\[\\]|\.\.", version):
        raise SparkforgeError(f"{version!r} is not a version of {redact(repo)}.", "Use a tag, a branch or a commit.")
    target = make_revision(repo, version, rewrite or {})
    commands = Commands(environment)
    exact = version == "HEAD" or version.startswith("refs/")
    arguments = [target.remote.url, version, f"{version}^{{}}"] if exact else ["--tags", "--heads", target.remote.url]
    retry = Retry(patience or Patience(RESOLVE_SECONDS), lambda _line: None)
    try:
        listing = retry(target, lambda: commands.remote(target.remote, ["ls-remote", *arguments]))
    except GitError as error:
        raise user_error(target, error) from error
    refs: dict[str, str] = {}
    for line in listing.decode("utf-8", "surrogateescape").splitlines():
        commit, _tab, ref = line.partition("\t")
        refs[ref] = commit
    for ref in (version,) if exact else (f"refs/tags/{version}", f"refs/heads/{version}"):
        # An annotated tag is a separate object; ^{} is the commit that it points to.
        commit = refs.get(f"{ref}^{{}}", refs.get(ref, ""))
        if COMMIT.fullmatch(commit):
            return commit
    raise _no_such_version(target, version, refs)


def build_backend(pyproject: str) -> str | None:
    """Return the build backend from the text of a ``pyproject.toml``, or None if it names none.

    Python before 3.11 has no TOML parser.
    """
    section = re.search(r"^[ \t]*\[build-system\][^\n]*\n(.*?)(?=^[ \t]*\[|\Z)", f"{pyproject}\n", re.M | re.S)
    match = re.search(r"^[ \t]*build-backend[ \t]*=[ \t]*([\"'])(.+?)\1", section[1] if section else "", re.M)
    return match[2] if match else None


def check_tree(tree: str, subdirectory: str, kind: str, label: str, submodules: bool = True) -> None:
    """Refuse a tree that cannot belong to the unit, before hours are spent on building it.

    :param label: the origin of the tree, for messages.
    :param submodules: whether the submodules of the source must be present. A missing directory was left out on
        purpose; an empty directory is a sign of ``git archive``.
    :raises SparkforgeError: if the project file of the build or a submodule is missing.
    """
    files = ("CMakeLists.txt",) if kind == "cmake" else ("pyproject.toml", "setup.py")
    project = os.path.join(tree, subdirectory)
    if not any(os.path.isfile(os.path.join(project, name)) for name in files):
        names = sorted(os.listdir(project)) if os.path.isdir(project) else []
        within = [name for name in names if any(os.path.isfile(os.path.join(project, name, file)) for file in files)]
        candidates = ", ".join(os.path.join(subdirectory, name) for name in within[:5])
        state = f"it has {', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else "it is empty or missing"
        raise SparkforgeError(
            f"{label} does not contain this unit's source: its "
            f"{f'folder {subdirectory}' if subdirectory else 'top folder'} has "
            f"no {' and no '.join(files)}; {state}.",
            f"Set the unit's subdirectory: {candidates} would work."
            if candidates
            else "Correct the source, or its subdirectory.",
        )
    try:
        with open(os.path.join(tree, ".gitmodules"), encoding="utf-8", errors="replace") as stream:
            paths = re.findall(r"^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$", stream.read(), re.M) if submodules else []
    except OSError:
        return
    empty_submodules = [
        path for path in paths if os.path.isdir(os.path.join(tree, path)) and not os.listdir(os.path.join(tree, path))
    ]
    if empty_submodules:
        raise SparkforgeError(
            f"{label} lacks submodules: the folders {phrases.some(empty_submodules, 5)} are empty.",
            "Use an archive that contains them (archives by git archive and GitHub do not), or use source.repo with "
            "submodules; if the build does not need them, remove them from .gitmodules with an edit.",
        )


def _no_such_version(asked: Revision, version: str, refs: t.Mapping[str, str]) -> SparkforgeError:
    names = sorted({re.sub(r"^refs/(?:tags|heads)/|\^\{\}$", "", ref) for ref in refs})
    similar = difflib.get_close_matches(version, names, n=5)
    if re.fullmatch(r"[0-9a-f]{7,39}", version):
        remedy = "For a commit, use all 40 digits."
    elif similar:
        remedy = f"Use one that exists, for example {', '.join(similar)}."
    elif not refs:
        remedy = "It has no tags or branches at all: correct the URL or the mirror."
    else:
        remedy = "Check the project's tags, and correct the version."
    return SparkforgeError(f"{asked.label} has no tag or branch {version!r}.", remedy)
