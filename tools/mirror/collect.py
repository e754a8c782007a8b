"""Collects a stack's files in a mirror's directory, and writes the variables for a site that uses the mirror."""

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
from ...plugins.module_utils._fetch import git_tree, http, index, redist_plan, urls
from ...plugins.module_utils._fetch.git import Repositories
from ...plugins.module_utils._fetch.git_errors import GitError, Patience, user_error
from ...plugins.module_utils._wheel.requirement import Requirement
from ..lock import resolve, upstream
from . import pages
from .directory import OURS, Directory

VARIABLES = "mirror-vars.yml"


def archives(directory: Directory, pinned: t.Iterable[redist_plan.Archive], nvidia_url: str) -> None:
    """Fetch NVIDIA's archives and their manifests into ``nvidia/``, laid out as in NVIDIA's own tree.

    :raises SparkforgeError: if a manifest contradicts a pin, or a file cannot be fetched.
    """
    for archive in pinned:
        url = upstream.manifest_url(nvidia_url, archive.product, archive.release)
        base = f"nvidia/compute/{archive.product}/redist"
        path = f"{base}/{url.rpartition('/')[2]}"
        directory.fetch(path, url, limit=http.PAGE_LIMIT)
        if not os.path.isfile(directory.at(path)):
            directory.lack(f"fetch {archive.label}")
            continue
        with open(directory.at(path), "rb") as stream:
            manifest = redist_plan.parse_manifest(stream.read(), redact(url))
        resolved = redist_plan.resolve(manifest, archive, redact(url))
        source_url = f"{url.rpartition('/')[0]}/{resolved.relative_path}"
        directory.fetch(f"{base}/{resolved.relative_path}", source_url, resolved.sha256, limit=resolved.size)


def index_places(options: t.Sequence[str], environment: t.Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the indexes and the links to wheels from uv's options, or else from its variables.

    :param options: the options from ``resolve.Index.options``.
    :raises SparkforgeError: if neither an index nor a link is configured.
    """
    named = list(zip(options, options[1:], strict=False))
    indexes = [value for key in ("--index", "--default-index") for option, value in named if option == key]
    links = [value for option, value in named if option == "--find-links"]
    if "--no-index" not in options and not indexes:
        for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
            # An index may have a name before it.
            indexes += [entry.rpartition("=")[2] if "=" in entry.partition(":")[0] else entry
                        for entry in environment.get(name, "").split()]  # fmt: skip
    if not indexes and not links:
        raise SparkforgeError(
            "No package index is configured.",
            "Set python_env_index_url or mirror_find_links, or configure pip for Ansible's Python.",
        )
    return indexes, links


class Wheels:
    """Finds wheels by their sha256 in indexes and link pages."""

    def __init__(self, indexes: t.Sequence[str], links: t.Sequence[str]) -> None:
        self.indexes = [url.rstrip("/") for url in indexes]
        self.places = list(links)
        self._read: dict[str, list[index.Link]] = {}

    def find(self, wheel: Requirement) -> list[index.Link]:
        """Return the files that may be the wheel.

        :raises SparkforgeError: if there is none, or no index responds.
        """
        locations = [*self.places, *(f"{url}/{wheel.name}/" for url in self.indexes)]
        for page in locations:
            links = pages.choose(self.links(page), wheel)
            if links:
                return links
        raise SparkforgeError(
            f"No index has {wheel.name} {wheel.version} with the sha256 {wheel.hashes[0]}; searched: "
            f"{', '.join(map(redact, locations))}.",
            "Set the index that the lock was made from (python_env_index_url, mirror_find_links), or renew the lock "
            "with playbooks/lock.yml.",
        )

    def links(self, page: str) -> list[index.Link]:
        if page not in self._read:
            try:
                self._read[page] = index.list_wheels(page, {}, "mirror_find_links or python_env_index_url")
            except SparkforgeError as error:
                # An index may lack a package that another index has.
                if error.details.get("status") not in (404, 410) and not error.details.get("empty"):
                    raise
                self._read[page] = []
        return self._read[page]


def wheels(directory: Directory, requirements: t.Iterable[Requirement], searched: resolve.Index) -> None:
    """Fetch wheels into ``simple/``, and write the pages of an index (PEP 503).

    :raises SparkforgeError: if a wheel cannot be fetched, or differs from the lock.
    """
    paths = {row["sha256"]: path for path, row in directory.rows.items() if path.endswith(".whl")}
    finder = None
    for wheel in requirements:
        if wheel.hashes[0] in paths and directory.has(paths[wheel.hashes[0]], wheel.hashes[0]):
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
            # On a page without hashes, any wheel of that version may be the right one.
            if number == len(links) or not error.details.get("actual"):
                raise
        else:
            return


def sources(directory: Directory, pinned: t.Iterable[t.Mapping[str, t.Any]], rewrite: t.Mapping[str, str]) -> None:
    """Fetch repositories with their submodules into ``git/``, and source archives into ``archives/``.

    :param rewrite: the URLs to fetch from instead, as in ``sparkforge_rewrite``.
    :raises SparkforgeError: if a source cannot be fetched.
    """
    repositories = Repositories(directory.at("git"), directory.say, os.environ, rewrite, Patience())
    for path in directory.broken if not directory.check else ():
        # The refs claim that the repository is complete, but it is not.
        disk.remove(directory.at(path))
    for source in pinned:
        if "archive" in source:
            url = source["archive"]
            name = posixpath.basename(urllib.parse.urlsplit(url).path) or "source"
            path = f"archives/{source['sha256'].lower()}/{name}"
            location = urls.apply_mirrors(url, rewrite)
            location = pathlib.Path(location).as_uri() if location.startswith("/") else location
            directory.fetch(path, location, source["sha256"].lower(), source=url)
            continue
        first = urls.make_revision(source["repo"], source["version"].lower(), rewrite)
        stored, missing = _find_stored(repositories, first, source["submodules"])
        for line in missing:
            directory.lack(line)
        if missing and not directory.check:
            stored = repositories.fetch_all(first, source["submodules"])
        for repository in stored if not directory.check else ():
            _publish(directory, repositories, repository)


def _find_stored(
    repositories: Repositories, first: urls.Revision, recursive: bool
) -> tuple[list[urls.Revision], list[str]]:
    """Return the stored repositories of a commit and its submodules, and a line for each missing one; fetch nothing."""
    stored, missing, waiting = [], [], [first]
    while waiting:
        pinned = waiting.pop(0)
        store = os.path.join(repositories.store, f"{pinned.key}.git")
        try:
            if not repositories.has(pinned, store):
                suffix = ", with its submodules" if recursive else ""
                missing.append(f"fetch {pinned.commit} of {pinned.inside}{suffix}")
                continue
            stored.append(pinned)
            if recursive:
                waiting += git_tree.submodules(pinned, store, repositories.git, repositories.rewrite, repositories.say)
        except GitError as error:
            raise user_error(pinned, error, store) from error
    return stored, missing


def _publish(directory: Directory, repositories: Repositories, repository: urls.Revision) -> None:
    """Prepare a repository for a plain file server, and record its objects in the manifest."""
    path = f"git/{repository.key}.git"
    store = directory.at(path)
    try:
        repositories.git.local("--git-dir", store, "update-server-info")
    except GitError as error:
        raise user_error(repository, error, store) from error
    new_objects = []
    for folder, _names, files in os.walk(os.path.join(store, "objects")):
        paths = (
            os.path.relpath(os.path.join(folder, file), directory.root) for file in sorted(files) if file != "packs"
        )
        new_objects += [object_path for object_path in paths if not directory.has(object_path)]
    for object_path in new_objects:
        directory.record(object_path, digests.of_file(directory.at(object_path)), repository.url, save=False)
    if new_objects:
        directory.save()


def rewrites(rows: t.Mapping[str, t.Mapping[str, str]]) -> dict[str, str]:
    """Return URL -> path in the mirror for each repository and source archive in a manifest."""
    table: dict[str, str] = {}
    for path, row in sorted(rows.items()):
        if path.startswith("git/"):
            base = re.sub(r"(?:\.git)?/*$", "", row["from"])
            # Both spellings refer to the same repository.
            table[base] = table[f"{base}.git"] = "/".join(path.split("/")[:2])
        elif path.startswith("archives/"):
            table[row["from"]] = path
    return dict(sorted(table.items()))


def variables(url: str, rewrite: t.Mapping[str, str]) -> bytes:
    """Return the variables for a site that uses the mirror.

    :param url: the URL that serves the directory.
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
    head = f"---\n# Written by {OURS}: with these, a site uses the mirror at sparkforge_mirror_url.\n"
    return (head + yaml.safe_dump(content, sort_keys=False, width=1000)).encode()
