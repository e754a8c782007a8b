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
from .git_errors import GitError, Kind, Patience, Retry, Say, user_error
from .git_tree import check_out, submodules
from .urls import Remote, Revision, make_revision

#: The number of files per request on an unreliable network: a few MB.
PIECE = 2000
#: Seconds to wait for another build that is fetching from the same URL.
LOCK_SECONDS = 6 * 3600.0
#: The maximum number of submodules of a source, including nested ones; PyTorch has about 70.
SUBMODULES_LIMIT = 1000

#: The refs of commits whose objects have all arrived, because git writes a ref only then.
_COMPLETE = "refs/sparkforge/commits/"
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclasses.dataclass(frozen=True)
class Git:
    """A commit of a repository.

    :param repo: an ``https://``, ``http://``, ``ssh://``, ``git://`` or ``file://`` URL, ``user@host:path``, or an
        absolute path on the host.
    :param version: the commit, 40 hexadecimal digits; ``resolve`` turns a tag or a branch into one.
    """

    repo: str
    version: str
    submodules: bool = True


class Repositories:
    """Fetch a commit and its submodules into the store, and check out a tree from it."""

    def __init__(
        self, store: str, say: Say, environment: t.Mapping[str, str], rewrite: t.Mapping[str, str], patience: Patience
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
        first = make_revision(source.repo, commit, self.rewrite)
        # Fetch everything before the first checkout, so that no network failure can interrupt the checkouts.
        revisions = self.fetch_all(first, source.submodules)
        os.mkdir(directory)
        os.chmod(directory, 0o755)  # noqa: S103 - sources are public
        for revision in revisions:
            self.with_commit(revision, functools.partial(check_out, revision, directory, git=self.git, say=self.say))
        return {"commit": commit, "submodules": {revision.path: revision.commit for revision in revisions[1:]}}

    def fetch_all(self, first: Revision, recursive: bool) -> list[Revision]:
        """Fetch ``first`` and its nested submodules into the store; return them, each after its superproject."""
        revisions: list[Revision] = []
        waiting = [first]
        while waiting:
            revision = waiting.pop(0)
            revisions.append(revision)
            if len(revisions) > SUBMODULES_LIMIT:
                raise SparkforgeError(
                    f"{first.label} has more than {SUBMODULES_LIMIT} submodules.",
                    "Do not build it with submodules: true; no known project needs so many.",
                )
            submodules_of = functools.partial(submodules, revision, git=self.git, rewrite=self.rewrite, say=self.say)
            waiting = self.with_commit(revision, submodules_of if recursive else lambda _store: []) + waiting
        return revisions

    def with_commit(self, revision: Revision, work: t.Callable[[str], t.Any]) -> t.Any:
        """Call ``work`` with the repository in the store once it has the commit; repair a damaged repository once."""
        store = os.path.join(self.store, f"{revision.key}.git")
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(receipts.lock(self.store, revision.key, wait=0))
            except SparkforgeError:
                self.say(f"{revision.label}: another build is fetching from it; waiting")
                stack.enter_context(receipts.lock(self.store, revision.key, wait=LOCK_SECONDS))
            for damaged in (False, True):
                try:
                    self.obtain(revision, store)
                    return work(store)
                except GitError as error:
                    if error.kind is not Kind.CORRUPT or damaged:
                        raise user_error(revision, error, store) from error
                    self.say(
                        f"{revision.label}: its objects in {store} are damaged ({error.line}); fetching them again"
                    )
                    disk.remove(store)
                    disk.remove(f"{store}.pieces")
        raise AssertionError("unreachable: the second round returns or raises")

    # The callers of the following methods hold the store's lock.

    def obtain(self, revision: Revision, store: str) -> None:
        """Make sure that ``store`` has all objects of the commit; contact the network only for missing ones.

        :raises GitError: if the store is damaged or the commit is unavailable.
        """
        self.make_repository(store)
        if self.has(revision, store):
            return
        self.say(f"fetching {revision.commit[:12]} of {revision.inside}")
        # Fetch the commit without its history.
        arguments = ["--depth=1", revision.remote.url, f"+{revision.commit}:{_COMPLETE}{revision.commit}"]
        try:
            if not os.path.isdir(f"{store}.pieces"):
                try:
                    self.retry(revision, lambda: self.fetch_once(revision, store, arguments), give_way=(Kind.BROKEN,))
                except GitError as error:
                    if error.kind is not Kind.BROKEN:
                        raise
                    self.say(f"{revision.label}: the transfer was interrupted ({error.line}); continuing in parts")
                    _sweep(store)
            if not self.has(revision, store):
                self.fetch_pieces(revision, store)
        except GitError as error:
            _sweep(store)
            if error.kind is Kind.UNKNOWN:
                # If the store is at fault, fsck fails with its own error; otherwise git's original error stands.
                self.git.local("--git-dir", store, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
            if error.kind is not Kind.UNADVERTISED or not self.fetch_walking(revision, store):
                raise
        if not self.has(revision, store):
            raise GitError(Kind.CORRUPT, f"{revision.commit} is missing after the fetch")

    def make_repository(self, store: str) -> None:
        """Create the bare repository, or clean up after a killed run."""
        complete = os.path.isfile(os.path.join(store, "HEAD")) and os.path.isdir(os.path.join(store, "objects"))
        if complete and os.path.isdir(os.path.join(store, "refs")):
            _sweep(store)
            return
        disk.remove(store)
        self.git.local("init", "--quiet", "--bare", "--template=", store)

    def has(self, revision: Revision, store: str) -> bool:
        """Tell whether all objects of the commit have arrived.

        :raises GitError: if its ref exists but the commit cannot be read.
        """
        ref = os.path.join(store, _COMPLETE, revision.commit)
        try:
            with open(ref, encoding="ascii") as stream:
                is_complete = stream.read().strip() == revision.commit
        except FileNotFoundError:
            return False
        except ValueError:
            is_complete = False
        if not is_complete:
            # A power loss may leave an empty file.
            os.unlink(ref)
            return False
        self.git.local("--git-dir", store, "cat-file", "commit", revision.commit)
        return True

    def fetch_walking(self, revision: Revision, store: str) -> bool:
        """Fetch a commit that a ref names, without its history, from a plain file server; tell whether that succeeded.

        git's walk over objects on such a server stops at commits that it takes for shallow. It also does so in
        repositories from playbooks/mirror.yml, which contain no more history.
        """
        if not revision.remote.url.lower().startswith(("http://", "https://")):
            return False
        path = os.path.join(store, "shallow")
        before = b""
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as stream:
            before = stream.read()
        line = f"{revision.commit}\n".encode("ascii")
        disk.write_file(path, before if line in before else before + line)
        try:
            self.fetch_once(revision, store, [revision.remote.url, f"+{revision.commit}:{_COMPLETE}{revision.commit}"])
        except GitError:
            _sweep(store)
            if before:
                disk.write_file(path, before)
            else:
                disk.remove(path)
            return False
        return True

    def fetch_pieces(self, revision: Revision, store: str) -> None:
        """Fetch the commit's directories, then its files in batches; completed batches are kept.

        git itself restarts an interrupted transfer. A server without filter support sends everything in one response.
        """
        pieces = f"{store}.pieces"
        ref = f"+{revision.commit}:{_COMPLETE}{revision.commit}"
        self.git.local("init", "--quiet", "--bare", "--template=", pieces)
        _sweep(pieces)
        for key, value in (
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.url", revision.remote.url),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialCloneFilter", "blob:none"),
        ):
            self.git.local("--git-dir", pieces, "config", key, value)
        # Files from an earlier version in the store count as present.
        os.makedirs(os.path.join(pieces, "objects", "info"), exist_ok=True)
        with open(os.path.join(pieces, "objects", "info", "alternates"), "w", encoding="utf-8") as stream:
            stream.write(os.path.join(store, "objects") + "\n")
        if not self.has(revision, pieces):
            self.retry(
                revision, lambda: self.fetch_once(revision, pieces, ["--depth=1", "--filter=blob:none", "origin", ref])
            )
        missing = self.missing(revision, pieces)
        total = len(missing)
        for start in range(0, total, PIECE):
            data = "".join(f"{name}\n" for name in missing[start : start + PIECE]).encode("ascii")
            fetch_options = ["--filter=blob:none", "--stdin", "origin"]
            self.retry(revision, functools.partial(self.fetch_once, revision, pieces, fetch_options, data))
            self.say(f"{revision.label}: {min(start + PIECE, total)} of {total} missing files")
        local = dataclasses.replace(revision, remote=Remote(pieces, "file"))
        self.fetch_once(local, store, ["--depth=1", pieces, ref])
        disk.remove(pieces)

    def missing(self, revision: Revision, pieces: str) -> list[str]:
        """Return the names of the commit's objects that have not arrived yet."""
        names = self.git.local(
            "--git-dir", pieces, "rev-list", "--objects", "--missing=print", "--no-object-names", revision.commit
        )
        return [line[1:] for line in names.decode("ascii").split() if line.startswith("?")]

    def fetch_once(self, revision: Revision, repository: str, arguments: t.Sequence[str], data: bytes = b"") -> None:
        """Run ``git fetch`` once."""
        # "noop" requests the objects by name without listing the existing ones.
        settings = ["-c", "fetch.negotiationAlgorithm=noop"] if "--stdin" in arguments else []
        options = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--progress"]
        self.git.remote(
            revision.remote,
            ["--git-dir", repository, *settings, "fetch", *options, *arguments],
            data=data,
            say=lambda line: self.say(f"{revision.label}: {line}"),
        )


def _sweep(repository: str) -> None:
    """Remove leftovers of a killed git: locks and incomplete packs."""
    objects = os.path.join(repository, "objects")
    for directory, names, files in os.walk(repository):
        if directory == objects:
            for name in [name for name in names if name.startswith(("tmp_", "incoming-"))]:
                names.remove(name)
                disk.remove(os.path.join(directory, name))
        is_object_directory = directory == objects or directory.startswith(objects + "/")
        for name in files:
            if name.startswith("tmp_") if is_object_directory else name.endswith(".lock"):
                disk.remove(os.path.join(directory, name))
