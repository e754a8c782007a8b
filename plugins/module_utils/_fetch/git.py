# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commits of repositories, with all their objects, in the store that all builds share."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import typing as t

from .._core import disk, receipts
from .._core.errors import SparkforgeError
from .._core.redact import redact
from .git_command import Commands
from .git_errors import GitError, Kind, Patience, Retry, Say, explained
from .git_tree import check_out, submodules
from .urls import Remote, Wanted, make_wanted

#: Files that are asked for at once on a network that breaks off: some MB.
PIECE = 2000
#: Seconds to wait for another build that fetches from the same URL.
LOCK_SECONDS = 6 * 3600.0
#: Submodules that one source may have, nested ones included; PyTorch has about 70.
SUBMODULES_LIMIT = 1000

#: Names a commit all of whose objects have arrived: git writes a ref only then.
_COMPLETE = "refs/sparkforge/commits/"
COMMIT = re.compile(r"[0-9a-f]{40}")


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

    def tree(self, source: Git, directory: str) -> dict[str, t.Any]:
        """Check ``source`` out into the new ``directory``."""
        commit = source.version.lower()
        if not COMMIT.fullmatch(commit):
            raise SparkforgeError(
                f"{source.version!r} is not a commit of {redact(source.repo)}, which has 40 hexadecimal digits.",
                "Resolve the tag or branch first: playbooks/lock.yml writes the commit to the lock.",
            )
        first = make_wanted(source.repo, commit, self.rewrite)
        # All is fetched before anything is checked out: what the network does is over by then.
        found = self.fetched(first, source.submodules)
        os.mkdir(directory)
        os.chmod(directory, 0o755)  # noqa: S103 - sources are no secret
        for wanted in found:
            self.using(wanted, functools.partial(check_out, wanted, directory, git=self.git, say=self.say))
        return {"commit": commit, "submodules": {wanted.path: wanted.commit for wanted in found[1:]}}

    def fetched(self, first: Wanted, recursive: bool) -> list[Wanted]:
        """Bring ``first`` and what is below it into the store; return them, each after its superproject."""
        found: list[Wanted] = []
        waiting = [first]
        while waiting:
            wanted = waiting.pop(0)
            found.append(wanted)
            if len(found) > SUBMODULES_LIMIT:
                raise SparkforgeError(
                    f"{first.label} has more than {SUBMODULES_LIMIT} submodules.",
                    "Do not build it with submodules: true; no known project needs so many.",
                )
            below = functools.partial(submodules, wanted, git=self.git, rewrite=self.rewrite, say=self.say)
            waiting = self.using(wanted, below if recursive else lambda _store: []) + waiting
        return found

    def using(self, wanted: Wanted, work: t.Callable[[str], t.Any]) -> t.Any:
        """Call ``work`` with the repository in the store once it has the commit; fix a damaged one once.

        :raises SparkforgeError: for every failure.
        """
        store = os.path.join(self.store, f"{wanted.key}.git")
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(receipts.lock(self.store, wanted.key, wait=0))
            except SparkforgeError:
                self.say(f"{wanted.label}: another build is fetching from it; waiting")
                stack.enter_context(receipts.lock(self.store, wanted.key, wait=LOCK_SECONDS))
            for damaged in (False, True):
                try:
                    self.obtain(wanted, store)
                    return work(store)
                except GitError as error:
                    if error.kind is not Kind.CORRUPT or damaged:
                        raise explained(wanted, error, store) from error
                    self.say(f"{wanted.label}: its objects in {store} are damaged ({error.line}); fetching them again")
                    disk.remove(store)
                    disk.remove(f"{store}.pieces")
        raise AssertionError("unreachable: the second round returns or raises")

    # The methods from here on are called with the lock of the store held.

    def obtain(self, wanted: Wanted, store: str) -> None:
        """Make sure that ``store`` has all objects of the commit; ask the network only for what it lacks.

        :raises GitError: if the store is damaged or the commit cannot be had.
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
                    self.say(f"{wanted.label}: the transfer was interrupted ({error.line}); continuing in parts")
                    _sweep(store)
            if not self.has(wanted, store):
                self.fetch_pieces(wanted, store)
        except GitError as error:
            _sweep(store)
            if error.kind is Kind.UNKNOWN:
                # Perhaps the store is to blame: it tells, or what git said stands.
                self.git.local("--git-dir", store, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
            if error.kind is not Kind.UNADVERTISED or not self.fetch_walking(wanted, store):
                raise
        if not self.has(wanted, store):
            raise GitError(Kind.CORRUPT, f"{wanted.commit} is missing after the fetch")

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

        :raises GitError: if its ref says so and the commit cannot be read.
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

    def fetch_walking(self, wanted: Wanted, store: str) -> bool:
        """Fetch a commit that a ref names without its history, from a server of plain files: whether it was there.

        git walks from object to object there, and ends where it takes history for truncated. So it does in what
        playbooks/mirror.yml collects, which has no more of it.
        """
        if not wanted.remote.url.lower().startswith(("http://", "https://")):
            return False
        path = os.path.join(store, "shallow")
        before = b""
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as stream:
            before = stream.read()
        line = f"{wanted.commit}\n".encode("ascii")
        disk.write_file(path, before if line in before else before + line)
        try:
            self.ask(wanted, store, [wanted.remote.url, f"+{wanted.commit}:{_COMPLETE}{wanted.commit}"])
        except GitError:
            _sweep(store)
            if before:
                disk.write_file(path, before)
            else:
                disk.remove(path)
            return False
        return True

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
        for start in range(0, total, PIECE):
            data = "".join(f"{name}\n" for name in missing[start : start + PIECE]).encode("ascii")
            some = ["--filter=blob:none", "--stdin", "origin"]
            self.retry(wanted, functools.partial(self.ask, wanted, pieces, some, data))
            self.say(f"{wanted.label}: {min(start + PIECE, total)} of {total} missing files")
        local = dataclasses.replace(wanted, remote=Remote(pieces, "file"))
        self.ask(local, store, ["--depth=1", pieces, ref])
        disk.remove(pieces)

    def missing(self, wanted: Wanted, pieces: str) -> list[str]:
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
