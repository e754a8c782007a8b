# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Repositories in the store that all builds share, and the trees that are checked out of them.

git gets no configuration but ours: no hook, no filter, no credential helper, no prompt, no protocol that was not meant.
"""

# Runs in the detached worker too, where there is no module to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import os
import posixpath
import re
import shutil
import subprocess
import threading
import time
import typing as t
import urllib.parse
import urllib.request

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch.git_trouble import (
    GitError,
    Kind,
    Patience,
    Retry,
    Say,
    explained,
    of_local,
    of_remote,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch.urls import (
    Remote,
    Wanted,
    absolute_url,
    clean,
    make_wanted,
)

#: Files that are asked for at once on a network that breaks off: some MB.
PIECE = 2000
#: Seconds to wait for another build that fetches from the same URL.
LOCK_SECONDS = 6 * 3600.0
#: Seconds between two lines about a transfer that goes on.
PROGRESS_SECONDS = 10.0
#: Submodules that one source may have, nested ones included; PyTorch has about 70.
SUBMODULES_LIMIT = 1000

#: Names a commit all of whose objects have arrived: git writes a ref only then.
_COMPLETE = "refs/sparkforge/commits/"
COMMIT = re.compile(r"[0-9a-f]{40}")

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


class Commands:
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

        :raises GitError: where it fails.
        """
        done = subprocess.run(
            [self.git, *arguments],
            env=self._with(_SETTINGS), stdin=subprocess.DEVNULL, capture_output=True, check=False, **_CALL,
        )  # fmt: skip
        if done.returncode:
            raise of_local(done.stderr.decode("utf-8", "replace"), done.returncode)
        return done.stdout

    def remote(
        self,
        remote: Remote,
        arguments: t.Sequence[str],
        *,
        data: bytes = b"",
        say: t.Optional[Say] = None,
    ) -> bytes:
        """Call git for what needs the network and return its output.

        :param data: its standard input.
        :param say: gets a line now and then about how far the transfer is.
        :raises GitError: where it fails.
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
            raise of_remote(watcher.text, status)
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


class Repositories:
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
        self.git = Commands(environment)
        self.retry = Retry(patience, say)

    def tree(self, source: Git, directory: str) -> t.Dict[str, t.Any]:
        """Check ``source`` out into the new ``directory``."""
        commit = source.version.lower()
        if not COMMIT.fullmatch(commit):
            raise SparkforgeError(
                f"{source.version!r} is not a commit of {redact(source.repo)}, which has 40 hexadecimal digits.",
                "Resolve the tag or the branch first: playbooks/lock.yml writes the commit into the lock.",
            )
        first = make_wanted(source.repo, commit, self.rewrite)
        # All is fetched before anything is checked out: what the network does is over by then.
        found = self.fetched(first, source.submodules)
        os.mkdir(directory)
        os.chmod(directory, 0o755)  # noqa: S103 - sources are no secret
        for wanted in found:
            self.using(wanted, functools.partial(self.placed, wanted, directory))
        return {"commit": commit, "submodules": {wanted.path: wanted.commit for wanted in found[1:]}}

    def fetched(self, first: Wanted, recursive: bool) -> t.List[Wanted]:
        """Bring ``first`` and what is below it into the store; return them, each after its superproject."""
        found: t.List[Wanted] = []
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

    def using(self, wanted: Wanted, work: t.Callable[[str], t.Any]) -> t.Any:
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
                except GitError as error:
                    if error.kind is not Kind.CORRUPT or damaged:
                        raise explained(wanted, error, store) from error
                    self.say(f"{wanted.label}: its objects in {store} are damaged ({error.line}); fetching them anew")
                    disk.remove(store)
                    disk.remove(f"{store}.pieces")
        raise AssertionError("unreachable: the second round returns or raises")

    # What is called from here on holds the lock of the store.

    def obtain(self, wanted: Wanted, store: str) -> None:
        """Make sure that ``store`` has all objects of the commit; ask the network only for what it lacks.

        :raises GitError: where the store is damaged or the commit cannot be had.
        """
        self.make_repository(store)
        if self.has(wanted, store):
            return
        self.say(f"fetching {wanted.commit[:12]} of {wanted.inside}")
        try:
            if not os.path.isdir(f"{store}.pieces"):
                try:
                    self.retry(wanted, lambda: self.fetch_commit(wanted, store), give_way=(Kind.BROKEN,))
                except GitError as error:
                    if error.kind is not Kind.BROKEN:
                        raise
                    self.say(f"{wanted.label}: the transfer broke off ({error.line}); going on in pieces")
                    _sweep(store)
            if not self.has(wanted, store):
                self.fetch_pieces(wanted, store)
        except GitError as error:
            _sweep(store)
            if error.kind is Kind.UNADVERTISED:
                self.fetch_all(wanted, store, error)
            elif error.kind is Kind.UNKNOWN:
                # Perhaps the store is to blame: it tells, or what git said stands.
                self.git.local("--git-dir", store, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
                raise
            else:
                raise
        if not self.has(wanted, store):
            raise GitError(Kind.CORRUPT, f"{wanted.commit} is not there after it was fetched")

    def make_repository(self, store: str) -> None:
        """Make the bare repository, or tidy up what a killed run left in it."""
        whole = os.path.isfile(os.path.join(store, "HEAD")) and os.path.isdir(os.path.join(store, "objects"))
        if whole and os.path.isdir(os.path.join(store, "refs")):
            _sweep(store)
            return
        disk.remove(store)
        self.git.local("init", "--quiet", "--bare", "--template=", store)

    def has(self, wanted: Wanted, store: str) -> bool:
        """Tell whether all objects of the commit have arrived.

        :raises GitError: where its ref says so and the commit cannot be read.
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

    def fetch_commit(self, wanted: Wanted, store: str) -> None:
        """Fetch the commit without its history."""
        self.ask(wanted, store, ["--depth=1", wanted.remote.url, f"+{wanted.commit}:{_COMPLETE}{wanted.commit}"])

    def fetch_all(self, wanted: Wanted, store: str, refusal: GitError) -> None:
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
        except GitError as error:
            namespaces = [f"refs/sparkforge/{kind}" for kind in kinds]
            if not self.git.local("--git-dir", store, "for-each-ref", "--count=1", *namespaces):
                # git takes a login page for a file server without a branch.
                raise GitError(Kind.MISSING, "what answers there has no branch and no tag") from error
            raise GitError(Kind.UNADVERTISED, refusal.output) from error
        self.git.local("--git-dir", store, "update-ref", f"{_COMPLETE}{wanted.commit}", wanted.commit)

    def fetch_pieces(self, wanted: Wanted, store: str) -> None:
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
        except GitError as error:
            if error.kind is not Kind.UNADVERTISED:
                raise
            # It filters and then gives no single file: only a whole transfer is left.
            disk.remove(pieces)
            self.retry(wanted, lambda: self.fetch_commit(wanted, store))
            return
        local = dataclasses.replace(wanted, remote=Remote(pieces, "file"))
        self.ask(local, store, ["--depth=1", pieces, ref])
        disk.remove(pieces)

    def missing(self, wanted: Wanted, pieces: str) -> t.List[str]:
        """Return the names of the objects of the commit that have not arrived."""
        names = self.git.local(
            "--git-dir", pieces, "rev-list", "--objects", "--missing=print", "--no-object-names", wanted.commit
        )
        return [line[1:] for line in names.decode("ascii").split() if line.startswith("?")]

    def ask(self, wanted: Wanted, repository: str, arguments: t.Sequence[str], data: bytes = b"") -> None:
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

    def submodules(self, wanted: Wanted, store: str) -> t.List[Wanted]:
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
            child = make_wanted(url, commit, self.rewrite, whole, wanted)
            found.append(dataclasses.replace(child, parent=wanted.path, name=module["name"]))
        return found

    def modules(self, wanted: Wanted, store: str) -> t.Dict[str, t.Dict[str, str]]:
        """Return what ``.gitmodules`` says: path -> its settings."""
        try:
            listing = self.git.local(
                "--git-dir", store, "config", "--blob", f"{wanted.commit}:.gitmodules", "--null", "--list"
            )
        except GitError as error:
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

    def placed(self, wanted: Wanted, directory: str, store: str) -> None:
        """Check out, and say which directory was full where one was."""
        try:
            self.check_out(wanted, directory, store)
        except GitError as error:
            error.place = directory
            raise

    def check_out(self, wanted: Wanted, directory: str, store: str) -> None:
        """Put the commit's files where they belong in the tree, with a repository that needs the store no more."""
        tree = os.path.join(directory, wanted.path) if wanted.path else directory
        # Made by the superproject's checkout, which git lets through no symlink; a tree that says otherwise is a trap.
        if os.path.realpath(tree) != os.path.join(os.path.realpath(directory), wanted.path).rstrip("/"):
            raise SparkforgeError(
                f"{wanted.label} would be checked out through a symlink: refused.", "Do not build this source."
            )
        if not os.path.isdir(tree):
            raise GitError(Kind.CORRUPT, f"the checkout made no directory {wanted.path}")
        for name in os.listdir(tree):  # of a checkout that was in vain
            disk.remove(os.path.join(tree, name))
        metadata = os.path.join(tree, ".git")
        self.git.local("init", "--quiet", "--template=", tree)
        _share(os.path.join(store, "objects"), os.path.join(metadata, "objects"))
        if os.path.exists(os.path.join(store, "shallow")):
            shutil.copyfile(os.path.join(store, "shallow"), os.path.join(metadata, "shallow"))
        at = ("--git-dir", metadata, "--work-tree", tree)
        # Where it came from, not through which mirror: builds write it into what they make.
        for key, value in (("gc.auto", "0"), ("remote.origin.url", clean(wanted.url))):
            self.git.local(*at, "config", key, value)
        self.git.local(*at, "update-ref", "--no-deref", "HEAD", wanted.commit)
        self.git.local(*at, "reset", "--quiet", "--hard", wanted.commit)
        head = self.git.local(*at, "rev-parse", "--verify", "HEAD").decode("ascii").strip()
        if head != wanted.commit:
            raise GitError(Kind.CORRUPT, f"{head} was checked out instead of {wanted.commit}")
        if wanted.path and not re.search(r"[\x00-\x1f]", wanted.name):
            # As `git submodule init` has it: the superproject knows that the submodule is there.
            config = os.path.join(directory, wanted.parent, ".git", "config")
            for key, value in (("active", "true"), ("url", clean(wanted.url))):
                self.git.local("config", "--file", config, f"submodule.{wanted.name}.{key}", value)
        self.warn_of_lfs(wanted, tree)

    def warn_of_lfs(self, wanted: Wanted, tree: str) -> None:
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
