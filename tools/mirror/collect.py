# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bringing what a stack needs into the directory of a mirror, and the variables with which a site runs from it."""

from __future__ import annotations

import os
import pathlib
import posixpath
import re
import typing as t
import urllib.parse

import yaml

from ...plugins.module_utils._core import digests, disk
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._fetch import git_tree, index, redist_plan, urls
from ...plugins.module_utils._fetch.git import Repositories
from ...plugins.module_utils._fetch.git_errors import GitError, Patience, explained
from ...plugins.module_utils._wheel.requirement import Requirement
from ..lock import resolve, upstream
from . import pages
from .directory import OURS, Directory

VARIABLES = "mirror-vars.yml"
#: A page of a package with thousands of files has a few MB.
PAGE_LIMIT = 64 << 20


def archives(directory: Directory, wanted: t.Iterable[redist_plan.Archive], nvidia_url: str) -> None:
    """Bring NVIDIA's archives, and the manifests that name them, below ``nvidia/``, as NVIDIA's own tree has them.

    :raises SparkforgeError: if a manifest contradicts a pin, or something cannot be had.
    """
    for archive in wanted:
        url = upstream.manifest_url(nvidia_url, archive.product, archive.release)
        below = f"nvidia/compute/{archive.product}/redist"
        path = f"{below}/{url.rpartition('/')[2]}"
        directory.fetch(path, url, limit=PAGE_LIMIT)
        if not os.path.isfile(directory.at(path)):
            directory.lack(f"fetch {archive.label}")
            continue
        with open(directory.at(path), "rb") as stream:
            manifest = redist_plan.parsed(stream.read(), redact(url))
        found = redist_plan.resolve(manifest, archive, redact(url))
        whole = f"{url.rpartition('/')[0]}/{found.relative_path}"
        directory.fetch(f"{below}/{found.relative_path}", whole, found.sha256, limit=found.size)


# --- wheels -------------------------------------------------------------------------------------------------


def index_places(options: t.Sequence[str], environment: t.Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the indexes and the places of wheels that uv's options name, or else its variables.

    :param options: those of ``resolve.Index.options``.
    :raises SparkforgeError: if there is neither.
    """
    named = list(zip(options, options[1:], strict=False))
    indexes = [value for key in ("--index", "--default-index") for option, value in named if option == key]
    links = [value for option, value in named if option == "--find-links"]
    if "--no-index" not in options and not indexes:
        for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
            # An index may have a name before it.
            indexes += [one.rpartition("=")[2] if "=" in one.partition(":")[0] else one
                        for one in environment.get(name, "").split()]  # fmt: skip
    if not indexes and not links:
        raise SparkforgeError(
            "No package index is configured.",
            "Set python_env_index_url or mirror_find_links, or configure pip of Ansible's Python.",
        )
    return indexes, links


class Wheels:
    """Finds wheels by their sha256 in an index, and in places beside it."""

    def __init__(self, indexes: t.Sequence[str], links: t.Sequence[str]) -> None:
        self.indexes = [url.rstrip("/") for url in indexes]
        self.places = list(links)
        self._read: dict[str, list[index.Link]] = {}

    def find(self, wheel: Requirement) -> list[index.Link]:
        """Return the files that may be the wheel.

        :raises SparkforgeError: if none is, or nobody answers.
        """
        asked = [*self.places, *(f"{url}/{wheel.name}/" for url in self.indexes)]
        for place in asked:
            found = pages.choose(self.links(place), wheel)
            if found:
                return found
        raise SparkforgeError(
            f"Nothing has {wheel.name} {wheel.version} with the sha256 {wheel.hashes[0]}; searched: "
            f"{', '.join(map(redact, asked))}.",
            "Set the index that the lock was made from (python_env_index_url, mirror_find_links), or renew the lock "
            "with playbooks/lock.yml.",
        )

    def links(self, place: str) -> list[index.Link]:
        if place not in self._read:
            try:
                self._read[place] = index.listed(place, {}, "mirror_find_links or python_env_index_url")
            except SparkforgeError as error:
                # An index may lack a package that another one has.
                if error.details.get("status") not in (404, 410) and not error.details.get("empty"):
                    raise
                self._read[place] = []
        return self._read[place]


def wheels(directory: Directory, wanted: t.Iterable[Requirement], searched: resolve.Index) -> None:
    """Bring wheels below ``simple/``, and write the pages of an index (PEP 503).

    :raises SparkforgeError: if one cannot be had, or is another than the lock's.
    """
    known = {row["sha256"]: path for path, row in directory.rows.items() if path.endswith(".whl")}
    finder = None
    for wheel in wanted:
        if wheel.hashes[0] in known and directory.has(known[wheel.hashes[0]], wheel.hashes[0]):
            continue
        if directory.check:
            directory.lack(f"fetch {wheel.name} {wheel.version}, sha256 {wheel.hashes[0]}")
            continue
        finder = finder or Wheels(*index_places(searched.options(), os.environ))
        _fetch_one(directory, wheel, finder.find(wheel))
    files = {path.removeprefix("simple/"): row["sha256"] for path, row in directory.rows.items()
             if path.startswith("simple/") and path.endswith(".whl")}  # fmt: skip
    for path, content in pages.pages(files).items() if files else ():
        directory.write(f"simple/{path}", content, OURS)


def _fetch_one(directory: Directory, wheel: Requirement, links: t.Sequence[index.Link]) -> None:
    for number, link in enumerate(links, 1):
        try:
            directory.fetch(f"simple/{wheel.name}/{link.file}", link.url, wheel.hashes[0])
        except SparkforgeError as error:
            # Of a place that says no hashes, each wheel of the version may be the one.
            if number == len(links) or not error.details.get("actual"):
                raise
        else:
            return


# --- sources ------------------------------------------------------------------------------------------------


def sources(directory: Directory, wanted: t.Iterable[t.Mapping[str, t.Any]], rewrite: t.Mapping[str, str]) -> None:
    """Bring repositories, with their submodules, below ``git/`` and archives of sources below ``archives/``.

    :param rewrite: where the connected machine finds them, as ``sparkforge_rewrite`` has it.
    :raises SparkforgeError: for what cannot be had.
    """
    repositories = Repositories(directory.at("git"), directory.say, os.environ, rewrite, Patience())
    for path in directory.broken if not directory.check else ():
        # Its refs say that all is there, and it is not.
        disk.remove(directory.at(path))
    for source in wanted:
        if "archive" in source:
            url = source["archive"]
            name = posixpath.basename(urllib.parse.urlsplit(url).path) or "source"
            path = f"archives/{source['sha256'].lower()}/{name}"
            place = urls.rewritten(url, rewrite)
            place = pathlib.Path(place).as_uri() if place.startswith("/") else place
            directory.fetch(path, place, source["sha256"].lower(), source=url)
            continue
        first = urls.make_wanted(source["repo"], source["version"].lower(), rewrite)
        found, missing = _there(repositories, first, source["submodules"])
        for line in missing:
            directory.lack(line)
        if missing and not directory.check:
            found = repositories.fetched(first, source["submodules"])
        for one in found if not directory.check else ():
            _publish(directory, repositories, one)


def _there(repositories: Repositories, first: urls.Wanted, recursive: bool) -> tuple[list[urls.Wanted], list[str]]:
    """Return what is in the store of a commit and its submodules, and a line for each that is not; asks nobody."""
    found, missing, waiting = [], [], [first]
    while waiting:
        wanted = waiting.pop(0)
        store = os.path.join(repositories.store, f"{wanted.key}.git")
        try:
            if not repositories.has(wanted, store):
                below = ", with its submodules" if recursive else ""
                missing.append(f"fetch {wanted.commit} of {wanted.inside}{below}")
                continue
            found.append(wanted)
            if recursive:
                waiting += git_tree.submodules(wanted, store, repositories.git, repositories.rewrite, repositories.say)
        except GitError as error:
            raise explained(wanted, error, store) from error
    return found, missing


def _publish(directory: Directory, repositories: Repositories, wanted: urls.Wanted) -> None:
    """Let a server of plain files serve a repository, and take its objects into the manifest."""
    path = f"git/{wanted.key}.git"
    store = directory.at(path)
    try:
        repositories.git.local("--git-dir", store, "update-server-info")
    except GitError as error:
        raise explained(wanted, error, store) from error
    found = []
    for folder, _names, files in os.walk(os.path.join(store, "objects")):
        paths = (
            os.path.relpath(os.path.join(folder, file), directory.root) for file in sorted(files) if file != "packs"
        )
        found += [one for one in paths if not directory.has(one)]
    for one in found:
        directory.record(one, digests.of_file(directory.at(one)), wanted.url, save=False)
    if found:
        directory.save()


# --- variables ----------------------------------------------------------------------------------------------


def rewrites(rows: t.Mapping[str, t.Mapping[str, str]]) -> dict[str, str]:
    """Return URL -> path in the mirror of the repositories and the archives of sources that a manifest has."""
    table: dict[str, str] = {}
    for path, row in sorted(rows.items()):
        if path.startswith("git/"):
            base = re.sub(r"(?:\.git)?/*$", "", row["from"])
            # Both spellings are one repository.
            table[base] = table[f"{base}.git"] = "/".join(path.split("/")[:2])
        elif path.startswith("archives/"):
            table[row["from"]] = path
    return dict(sorted(table.items()))


def variables(url: str, rewrite: t.Mapping[str, str]) -> bytes:
    """Return the variables with which a site runs from the mirror.

    :param url: what the directory is served under.
    :param rewrite: URL -> path in the mirror.
    """
    root = "{{ sparkforge_mirror_url }}"
    content = {
        "sparkforge_mirror_url": url.rstrip("/"),
        "sparkforge_nvidia_url": f"{root}/nvidia",
        "python_env_index_url": f"{root}/simple/",
        "python_env_find_links": [],
        "sparkforge_rewrite": {key: f"{root}/{path}" for key, path in rewrite.items()},
    }
    head = f"---\n# Written by {OURS}: a site runs from the mirror with these; sparkforge_mirror_url is its place.\n"
    return (head + yaml.safe_dump(content, sort_keys=False, width=1000)).encode()
