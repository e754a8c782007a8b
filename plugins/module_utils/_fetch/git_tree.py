"""The tree of a commit: its submodules, and its files checked out from the store."""

from __future__ import annotations

import dataclasses
import errno
import os
import posixpath
import re
import shutil
import typing as t

from .._core import disk
from .._core.errors import SparkforgeError
from .git_command import Commands
from .git_errors import KEPT, GitError, Kind, Say
from .urls import Revision, absolute_url, make_revision, without_credentials


def submodules(revision: Revision, store: str, git: Commands, rewrite: t.Mapping[str, str], say: Say) -> list[Revision]:
    """Return the direct submodules of the commit, sorted by path."""
    listing = git.local("--git-dir", store, "ls-tree", "-r", "-z", "--full-tree", revision.commit)
    links, has_modules = {}, False
    for entry in listing.split(b"\0"):
        if entry.startswith(b"160000 "):
            commit, _tab, path = entry[len(b"160000 commit ") :].decode("utf-8", "surrogateescape").partition("\t")
            links[path] = commit
        has_modules = has_modules or (entry.startswith(b"100") and entry.endswith(b"\t.gitmodules"))
    if not links:
        return []
    modules = _modules(revision, store, git) if has_modules else {}
    revisions = []
    for path, commit in sorted(links.items()):
        full_path = posixpath.join(revision.path, path)
        module = modules.get(path, {})
        if module.get("update") == "none":
            say(f"{revision.label}: its submodule {full_path} is skipped, as .gitmodules says (update = none)")
            continue
        if not module.get("url"):
            raise SparkforgeError(
                f"{revision.label} has the submodule {full_path} at {commit}, but its .gitmodules has no URL for it.",
                "Use another version of the source, or, if the submodule is not needed, set source.submodules to "
                "false.",
            )
        url = absolute_url(revision.url, module["url"])
        child = make_revision(url, commit, rewrite, full_path, revision)
        revisions.append(dataclasses.replace(child, parent=revision.path, name=module["name"]))
    return revisions


def _modules(revision: Revision, store: str, git: Commands) -> dict[str, dict[str, str]]:
    """Return the settings in ``.gitmodules`` for each path."""
    try:
        listing = git.local(
            "--git-dir", store, "config", "--blob", f"{revision.commit}:.gitmodules", "--null", "--list"
        )
    except GitError as error:
        if "bad config" not in error.output:
            raise
        raise SparkforgeError(
            f"The .gitmodules of {revision.inside} cannot be read: {error.line}.",
            "Use another version of the source, or set source.submodules to false.",
        ) from error
    named: dict[str, dict[str, str]] = {}
    for entry in listing.decode("utf-8", "surrogateescape").split("\0"):
        key, _line, value = entry.partition("\n")
        match = re.fullmatch(r"submodule\.(.*)\.([a-z]+)", key, re.S)
        if match:
            named.setdefault(match[1], {"name": match[1]})[match[2]] = value
    return {settings["path"].rstrip("/"): settings for settings in named.values() if settings.get("path")}


def check_out(revision: Revision, directory: str, store: str, git: Commands, say: Say) -> None:
    """Check the commit's files out into the tree, and give them a repository that does not depend on the store."""
    try:
        _check_out(revision, directory, store, git, say)
    except GitError as error:
        error.place = directory
        raise


def _check_out(revision: Revision, directory: str, store: str, git: Commands, say: Say) -> None:
    tree = os.path.join(directory, revision.path) if revision.path else directory
    # git creates this directory in the superproject's checkout without following symlinks; another path is an attack.
    if os.path.realpath(tree) != os.path.join(os.path.realpath(directory), revision.path).rstrip("/"):
        raise SparkforgeError(f"{revision.label} would be checked out through a symlink.", "Do not build this source.")
    if not os.path.isdir(tree):
        raise GitError(Kind.CORRUPT, f"the checkout created no directory {revision.path}")
    for name in os.listdir(tree):  # leftovers of a failed checkout
        disk.remove(os.path.join(tree, name))
    metadata = os.path.join(tree, ".git")
    git.local("init", "--quiet", "--template=", tree)
    _share(os.path.join(store, "objects"), os.path.join(metadata, "objects"))
    if os.path.exists(os.path.join(store, "shallow")):
        shutil.copyfile(os.path.join(store, "shallow"), os.path.join(metadata, "shallow"))
    at = ("--git-dir", metadata, "--work-tree", tree)
    _verify(at, git)
    # Record the original URL instead of the mirror's, because builds embed it in their output.
    for key, value in (("gc.auto", "0"), ("remote.origin.url", without_credentials(revision.url))):
        git.local(*at, "config", key, value)
    git.local(*at, "update-ref", "--no-deref", "HEAD", revision.commit)
    git.local(*at, "reset", "--quiet", "--hard", revision.commit)
    head = git.local(*at, "rev-parse", "--verify", "HEAD").decode("ascii").strip()
    if head != revision.commit:
        raise GitError(Kind.CORRUPT, f"{head} was checked out instead of {revision.commit}")
    if revision.path and not re.search(r"[\x00-\x1f]", revision.name):
        # Like `git submodule init`, register the submodule in the superproject.
        config = os.path.join(directory, revision.parent, ".git", "config")
        for key, value in (("active", "true"), ("url", without_credentials(revision.url))):
            git.local("config", "--file", config, f"submodule.{revision.name}.{key}", value)
    _warn_of_lfs(revision, tree, say)


def _verify(at: t.Sequence[str], git: Commands) -> None:
    """Read every object and compare it with its hash, because an earlier build here could have written to the store.

    :raises GitError: for a mismatch; git's complaints about the format of old objects are ignored.
    """
    try:
        git.local(*at, "fsck", "--full", "--no-reflogs", "--no-dangling", "--no-progress")
    except GitError as error:
        odd = ("error in ", "warning in ", "notice: ")
        damaged = [line for line in error.output.splitlines() if not line.startswith(odd)]
        if damaged or len(error.output) >= KEPT:
            raise GitError(Kind.CORRUPT, "\n".join(damaged) or error.output) from error


def _warn_of_lfs(revision: Revision, tree: str, say: Say) -> None:
    attributes = os.path.join(tree, ".gitattributes")
    if not os.path.isfile(attributes) or os.path.islink(attributes):
        return
    with open(attributes, encoding="utf-8", errors="replace") as stream:
        if re.search(r"\bfilter=lfs\b", stream.read()):
            say(f"{revision.label} has files in Git LFS, which are not fetched: only their pointers are there")


def _share(source: str, target: str) -> None:
    """Hard-link the objects of ``source`` into ``target``, or copy them if the file systems differ."""
    for directory, names, files in os.walk(source):
        names[:] = [name for name in names if not name.startswith(("tmp_", "incoming-"))]
        target_directory = os.path.join(target, os.path.relpath(directory, source))
        os.makedirs(target_directory, exist_ok=True)
        for name in files:
            if name.startswith("tmp_") or name == "alternates":
                continue
            original, copy = os.path.join(directory, name), os.path.join(target_directory, name)
            try:
                os.link(original, copy)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                    raise
                shutil.copyfile(original, copy)
                shutil.copymode(original, copy)
