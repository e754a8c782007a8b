"""Download the wheels of an environment before installing any: select them by hash, resume, and verify.

::

    <root>/envs/<name>/.download/                    accessible only to its owner, until the environment exists
    <root>/envs/<name>/.download/<sha256>/<file>     a wheel
    <root>/envs/<name>/.download/<sha256>/partial    an unfinished download
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import os
import time
import typing as t
import urllib.parse
import urllib.request

from .._core import digests, directories, disk
from .._core.errors import SparkforgeError
from .._core.redact import redact
from .._fetch import http, index
from .._fetch.index import Link
from .._wheel.names import normalised
from .._wheel.requirement import Requirement, clip
from .model import ENGLISH, Facts, Options, Run

#: The number of parallel downloads, and of index pages fetched in parallel.
DOWNLOADS, PAGES = 3, 8
#: Seconds after which a call starts no further file, so that the controller can report progress.
SLICE = 15.0
PARTIAL = "partial"
SETTINGS = "python_env_index_url, python_env_find_links or sparkforge_wheelhouse_url (with its user name and password)"

#: A program run with the environment's interpreter and the copy of packaging in its pip, whose rules for markers,
#: versions and tags apply. It reads requirement lines and file names and prints the matching files for each line, best
#: first, or null if the line's marker excludes this host.
_CHOOSE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pip._vendor.packaging import requirements, tags, utils
rank = {tag: -place for place, tag in enumerate(tags.sys_tags())}
lines, files = json.load(sys.stdin)
wheels = []
for number, file in enumerate(files):
    try:
        name, version, build, kinds = utils.parse_wheel_filename(file)
    except ValueError:
        continue
    ranks = [rank[kind] for kind in kinds if kind in rank]
    if ranks:
        wheels.append((max(ranks), build, -number, name, version))
wheels.sort(reverse=True)
chosen = []
for line in lines:
    one = requirements.Requirement(line)
    fitting = [
        -number for _rank, _build, number, name, version in wheels
        if name == utils.canonicalize_name(one.name) and one.specifier.contains(version, prereleases=True)
    ]
    chosen.append(fitting if one.marker is None or one.marker.evaluate() else None)
print(json.dumps(chosen))
"""


class UnfinishedError(Exception):
    """This call's time slice has run out and downloads remain; the next call continues.

    :param progress: the second result of :meth:`Download.fetch`.
    """

    def __init__(self, progress: Facts) -> None:
        super().__init__("wheels are still to be fetched")
        self.progress = progress


@dataclasses.dataclass
class Download:
    """The download of one environment's wheels.

    :param python: the environment's interpreter.
    :param pip: the path of its pip wheel.
    """

    options: Options
    run: Run
    python: str
    pip: str
    begun: float = dataclasses.field(default_factory=time.monotonic)
    finished: list[Facts] = dataclasses.field(default_factory=list)
    errors: list[SparkforgeError] = dataclasses.field(default_factory=list)
    #: Servers that did not respond.
    silent: set[str] = dataclasses.field(default_factory=set)

    @functools.cached_property
    def known(self) -> dict[str, str]:
        return index.credentials(self.options.credentials)

    @property
    def directory(self) -> str:
        return self.options.paths.of(".download")

    def fetch(self, sent: t.Container[str]) -> tuple[list[str], Facts]:
        """Return the paths of the required wheels, and the progress of the download.

        :param sent: the sha256 of wheels that need no download.
        :raises UnfinishedError: if downloads remain for the next call.
        :raises SparkforgeError: if a wheel is unavailable.
        """
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.directory, 0o700)
        pins = [pinned for pinned in self.options.requirements if not any(sha256 in sent for sha256 in pinned.hashes)]
        paths_by_pin = {pinned.line: self._downloaded_path(pinned) for pinned in pins}
        missing = {pinned.line: pinned for pinned in pins if not paths_by_pin[pinned.line]}
        links = self._links(list(missing.values())) if missing else {}
        # Start with the smallest, so that the download rate is known before the large ones.
        rows = sorted(((missing[line], link) for line, link in links.items() if link), key=lambda row: row[1].size or 0)
        remaining = sum(max(0, (link.size or 0) - self._downloaded_bytes(link)) for _one, link in rows)
        directories.check_space(self.directory, remaining, f"The download of the environment {self.options.paths.name}")
        with concurrent.futures.ThreadPoolExecutor(DOWNLOADS) as pool:
            for (pinned, _link), path in zip(rows, pool.map(lambda row: self._fetch_wheel(*row), rows)):
                paths_by_pin[pinned.line] = path
        if self.errors:
            raise self.errors[0]
        paths = list(dict.fromkeys(path for path in paths_by_pin.values() if path))
        waiting = [link for pinned, link in rows if not paths_by_pin[pinned.line]]
        present_bytes, sizes = sum(map(os.path.getsize, paths)), [link.size for link in waiting]
        progress = {
            "finished": self.finished,
            "files": len(paths),
            "of_files": len(paths) + len(waiting),
            "bytes": present_bytes + sum(map(self._downloaded_bytes, waiting)),
            # Not every index reports file sizes.
            "of_bytes": None if None in sizes else present_bytes + sum(filter(None, sizes)),
            "seconds": round(time.monotonic() - self.begun, 1),
            "next": [link.file for link in waiting][:DOWNLOADS],
        }
        if waiting:
            raise UnfinishedError(progress)
        return paths, progress

    def _downloaded_path(self, pinned: Requirement) -> str | None:
        directories = [os.path.join(self.directory, sha256) for sha256 in pinned.hashes]
        return next(
            (os.path.join(base, name) for base in directories for name in disk.names(base) if name != PARTIAL), None
        )

    def _downloaded_bytes(self, link: Link) -> int:
        with contextlib.suppress(OSError):
            return os.path.getsize(os.path.join(self.directory, link.sha256 or "", PARTIAL))
        return 0

    def _fetch_wheel(self, pinned: Requirement, link: Link) -> str | None:
        """Download a wheel and return its path, or None if the time slice has run out."""
        if self.errors or (self.finished and time.monotonic() - self.begun > SLICE):
            return None
        pin, url = link.sha256, index.with_credentials(link.url, self.known)
        directory = os.path.join(self.directory, pin or "")
        try:
            os.makedirs(directory, exist_ok=True)
            partial = PARTIAL if pin else None
            path = http.fetch(url, directory, sha256=pin, setting=SETTINGS, max_bytes=link.size, partial=partial)
            actual = pin or digests.of_file(path)
            if actual not in pinned.hashes:
                disk.remove(path)
                raise _another_sha256(pinned, actual, link)
            stored = os.path.join(self.directory, actual, link.file)
            os.makedirs(os.path.dirname(stored), exist_ok=True)
            os.replace(path, stored)
            disk.fsync(os.path.dirname(stored))
        except SparkforgeError as error:
            other = error.details.get("actual")
            self.errors.append(_another_sha256(pinned, other, link) if other else error)
            return None
        except OSError as error:
            self.errors.append(disk.io_error(f"{link.file} cannot be stored in {directory}", error))
            return None
        self.finished.append({"file": link.file, "size": os.path.getsize(stored)})
        return stored

    def _links(self, pins: t.Sequence[Requirement]) -> dict[str, Link | None]:
        """Return the link to the wheel for each line, or None if its marker excludes this host."""
        indexes, sources = self._search_locations()
        listed_links = [link for source in sources for link in self._listed(source)]
        urls = [pinned.pin.partition("@")[2].split(";")[0].strip() for pinned in pins if " @ " in pinned.pin]
        listed_links += [Link(urllib.parse.unquote(url.partition("#")[0].rpartition("/")[2]), url) for url in urls]
        links = self._choose(pins, listed_links) if listed_links else {}
        for source in indexes:
            pages = {f"{source.rstrip('/')}/{pinned.name}/": None for pinned in pins if pinned.line not in links}
            with concurrent.futures.ThreadPoolExecutor(PAGES) as pool:
                listed_links += [link for links in pool.map(self._listed, pages) for link in links]
            links = self._choose(pins, listed_links) if pages else links
        for pinned in pins:
            if pinned.line not in links:
                raise self._not_found(pinned, listed_links, [*sources, *indexes])
        self.errors.clear()
        return links

    def _listed(self, source: str) -> list[Link]:
        """Return the wheels that a source lists; failures go to ``errors``, because another source may have them."""
        server = urllib.parse.urlsplit(source).netloc
        if server in self.silent:
            return []
        try:
            return index.list_wheels(source, self.known, SETTINGS)
        except SparkforgeError as error:
            # An index need not have every package.
            if error.details.get("status") not in (404, 410):
                self.errors.append(error)
            if http.is_transient(error):
                self.silent.add(server)
            return []

    def _choose(self, pins: t.Sequence[Requirement], listed: t.Sequence[Link]) -> dict[str, Link | None]:
        """Return the link for each line like ``_links``, but leave out lines without a matching wheel."""
        names = {pinned.name for pinned in pins}
        links = [link for link in listed if _name(link) in names]
        query = json.dumps([[pinned.pin for pinned in pins], [link.file for link in links]])
        rc, out, err = self.run([self.python, "-I", "-c", _CHOOSE, self.pip], data=query, environ_update=ENGLISH)
        if rc != 0:
            message = (err.strip().splitlines() or ["no message"])[-1]
            raise SparkforgeError(
                f"{self.python} cannot determine which wheels it supports, with {self.pip}: {message}.",
                "Correct the requirements, or install the python3-venv of your system again.",
            )
        chosen: dict[str, Link | None] = {}
        for pinned, numbers in zip(pins, json.loads(out)):
            fitting = [_with_local_hash(links[number]) for number in numbers or []]
            allowed = [link for link in fitting if link.sha256 in pinned.hashes] or [
                link for link in fitting if link.sha256 is None
            ]
            if allowed and len(pinned.hashes) == 1:
                chosen[pinned.line] = dataclasses.replace(allowed[0], sha256=pinned.hashes[0])
            elif allowed or numbers is None:
                chosen[pinned.line] = allowed[0] if allowed else None
            elif fitting:
                self.errors.insert(0, _another_sha256(pinned, str(fitting[0].sha256), fitting[0]))
        return chosen

    def _not_found(self, pinned: Requirement, listed: t.Sequence[Link], sources: t.Sequence[str]) -> SparkforgeError:
        if self.errors:
            return self.errors[0]
        offered_versions = sorted({link.file.split("-")[1] for link in listed if _name(link) == pinned.name})
        where = ", ".join(map(redact, sources)) or "no index and no find_links are set"
        return SparkforgeError(
            f"No wheel of {pinned.pin} for this interpreter and machine was found ({where}; offered: "
            f"{clip(', '.join(offered_versions)) or 'none'}).",
            "Correct the requirement, or set the index or directory that has it (python_env_index_url, "
            "python_env_find_links), or renew the lock for this platform.",
        )

    def _search_locations(self) -> tuple[list[str], list[str]]:
        """Return the indexes and the other sources to search; without index_url, use the host's pip configuration."""
        url, links = self.options.index_url, list(self.options.find_links)
        indexes = [url] if url and url.strip().lower() != "none" else []
        if url is None:
            argv = [self.python, "-I", os.path.join(self.pip, "pip"), "config", "list"]
            pip = index.pip_settings(self.run(argv, environ_update=ENGLISH)[1])
            links += pip.get("find-links", "").split()
            if pip.get("no-index", "").lower() not in ("1", "true", "yes", "on"):
                indexes = [pip.get("index-url", index.PUBLIC), *pip.get("extra-index-url", "").split()]
            for key, variables in (("cert", ["SSL_CERT_FILE"]), ("proxy", ["http_proxy", "https_proxy"])):
                for variable in variables if key in pip else []:
                    os.environ.setdefault(variable, pip[key])
        return indexes, links


def _name(link: Link) -> str:
    return normalised(link.file.split("-")[0])


def _with_local_hash(link: Link) -> Link:
    """Return the link with its sha256 if it points to a local file."""
    with contextlib.suppress(OSError, ValueError):
        if link.sha256 is None and link.url.startswith("file:"):
            path = urllib.request.url2pathname(urllib.parse.urlsplit(link.url).path)
            with disk.open_regular(os.path.realpath(path)) as stream:
                return dataclasses.replace(link, sha256=digests.of_stream(stream))
    return link


def _another_sha256(pinned: Requirement, actual: str, link: Link) -> SparkforgeError:
    return SparkforgeError(
        f"The sha256 of {pinned.pin} is {actual}, but the lock says {' or '.join(pinned.hashes)}.",
        f"Find out what changed in {redact(link.url)}, or renew the lock with playbooks/lock.yml.",
    )
