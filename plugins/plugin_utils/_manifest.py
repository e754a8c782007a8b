# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Where the manifest of a stack is found, and the controller's cache of manifests and wheels.

::

    <cache>/<platform>/manifests/<stack>-<lock id>.json
    <cache>/<platform>/wheels/<sha256>/<file>          only where wheels go through the controller
    <cache>/<platform>/hosts/<host>.json               the fingerprints that its latest environments were made of

A wheel below a directory named by its sha256 was verified when it was put there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import typing as t
import urllib.parse
from collections.abc import Callable, Iterator

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests, disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError, UnreachableError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import http
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Manifest, Wheel, of_manifest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication

#: Manifests of one stack that stay in the cache; the wheels that none of them names go.
KEEP = 2
#: Seconds to wait for another run that downloads the same wheel.
WAIT = 3600.0
#: Seconds without an answer: the hosts' fast network may be none of the controller's.
PATIENCE = 10.0
_FIELDS = ("stack", "lock_id", "platform")


class Wanted(t.NamedTuple):
    """What a manifest must be of."""

    stack: str
    lock_id: str
    platform: str
    python: str = ""

    def check(self, manifest: t.Any, where: str) -> Manifest:
        """Return the manifest.

        :raises SparkforgeError: where it is of something else, or was changed.
        """
        found = publication.check(manifest, where=where, **{key: getattr(self, key) for key in _FIELDS})
        if self.python and found["python"] != self.python:
            raise SparkforgeError(
                f"{where} is of Python {found['python']}, and {self.python} is wanted.",
                "Build the stack for this Python with playbooks/build.yml.",
                expected=self.python,
                got=found["python"],
            )
        return found

    @property
    def file(self) -> str:
        return publication.file_of(self.stack, self.lock_id)


# ------------------------------------------------------------------------------------------------------- the cache


class Cache:
    """The controller's cache of one platform."""

    def __init__(self, directory: str, platform: str) -> None:
        self.directory = os.path.join(os.path.abspath(os.path.expanduser(directory)), platform)

    def path_of(self, wanted: Wanted) -> str:
        return os.path.join(self.directory, "manifests", wanted.file)

    def load(self, wanted: Wanted) -> Manifest | None:
        """Return the manifest; None where there is none.

        :raises SparkforgeError: where what is there is none of what is wanted.
        """
        path = self.path_of(wanted)
        try:
            with open(path, "rb") as stream:
                content = stream.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SparkforgeError(
                f"The cached manifest {path} cannot be read: {error.strerror}.",
                "Make it readable, remove it, or set sparkforge_wheelhouse_cache to another directory.",
            ) from error
        where = f"The cached manifest {path}"
        try:
            return wanted.check(publication.read(content, where), where)
        except SparkforgeError as error:
            raise SparkforgeError(error.cause, f"Remove {path}; the next run finds the manifest anew.") from error

    def save(self, wanted: Wanted, manifest: Manifest) -> bool:
        """Keep a manifest and drop what no kept one needs; tell whether anything changed."""
        path = self.path_of(wanted)
        text = publication.text_of(manifest)
        with contextlib.suppress(OSError), open(path, "rb") as stream:
            if stream.read() == text:
                return False
        with receipts.lock(self.directory, "cache", WAIT):
            disk.write_file(path, text)
            self._prune(wanted.stack)
        return True

    def _prune(self, stack: str) -> None:
        """Keep the newest manifests of the stack, and the wheels that some manifest names."""
        folder = os.path.dirname(self.path_of(Wanted(stack, "0" * 12, "")))
        mine, needed = [], set()
        for file in os.listdir(folder):
            path = os.path.join(folder, file)
            try:
                with open(path, encoding="utf-8") as stream:
                    manifest = json.load(stream)
                hashes = {wheel["sha256"] for wheel in of_manifest(manifest)}
                if manifest["stack"] == stack:
                    mine.append((os.stat(path).st_mtime, path, hashes))
                else:
                    needed |= hashes
            except (OSError, ValueError, KeyError, TypeError):
                continue
        mine.sort(reverse=True)
        for _time, _path, hashes in mine[:KEEP]:
            needed |= hashes
        for _time, path, _hashes in mine[KEEP:]:
            os.unlink(path)
        store = os.path.join(self.directory, "wheels")
        for name in os.listdir(store) if os.path.isdir(store) else []:
            if name not in needed and len(name) == 64:
                shutil.rmtree(os.path.join(store, name), ignore_errors=True)

    def record(self, host: str, manifest: Manifest, keep: int) -> bool:
        """Note what an environment of a host was made of; tell whether that is new. The ``keep`` latest are known."""
        path = os.path.join(self.directory, "hosts", f"{urllib.parse.quote(host, safe='')}.json")
        used = sorted(unit["fingerprint"] for unit in manifest["units"])
        known = [one for one in _read_lists(path) if one != used]
        if _read_lists(path)[:1] == [used]:
            return False
        disk.write_file(path, json.dumps([used, *known][: max(1, keep)]).encode("ascii"))
        return True

    def in_use(self) -> list[str]:
        """Return the fingerprints that some host's environment was made of, as far as this controller knows."""
        folder = os.path.join(self.directory, "hosts")
        files = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted({mark for file in files for one in _read_lists(os.path.join(folder, file)) for mark in one})

    def wheel(self, wheel: Wheel) -> str:
        """Return where a wheel lies, or is to lie."""
        return os.path.join(self.directory, "wheels", wheel["sha256"], wheel["file"])

    def missing(self, manifest: Manifest) -> list[Wheel]:
        return [wheel for wheel in of_manifest(manifest) if not os.path.isfile(self.wheel(wheel))]

    @contextlib.contextmanager
    def bringing(self, wheel: Wheel) -> Iterator[str | None]:
        """Give the path of a file to put a wheel into, which is then verified; None where another run has brought it.

        :raises SparkforgeError: where the sha256 of what was put there is another one.
        """
        directory = os.path.dirname(self.wheel(wheel))
        store = os.path.dirname(directory)
        # Thirty hosts ask for the same wheel at once: one of them brings it.
        with receipts.lock(store, wheel["sha256"], WAIT):
            if os.path.isfile(self.wheel(wheel)):
                yield None
                return
            temporary = os.path.join(store, f".{wheel['sha256']}.{os.getpid()}")
            try:
                yield temporary
                actual = digests.of_file(temporary)
                if actual != wheel["sha256"]:
                    raise wrong_wheel(wheel, actual, temporary)
                disk.make_directories(directory)
                os.replace(temporary, self.wheel(wheel))
            except OSError as error:
                raise SparkforgeError(
                    f"The wheel {wheel['file']} cannot be written to {store}: {error.strerror}.",
                    "Free some space there, or set sparkforge_wheelhouse_cache to another directory.",
                ) from error
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)


def _read_lists(path: str) -> list[list[str]]:
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        return []
    return [one for one in data if isinstance(one, list)] if isinstance(data, list) else []


def wrong_wheel(wheel: Wheel, actual: str, path: str) -> SparkforgeError:
    """Return what is to be said of a wheel with another sha256 than its manifest says."""
    with open(path, "rb") as stream:
        html = http.is_html(stream.read(1024))
    cause = f"The sha256 of {wheel['file']} is {actual}, the manifest says {wheel['sha256']}"
    remedy = "Find out who changed that file in the wheelhouse; playbooks/build.yml publishes what the builder has."
    if html:
        cause += ": it is an HTML page"
        remedy = "Look at what answers there: a proxy or a login page answers so in place of the wheelhouse."
    return SparkforgeError(f"{cause}.", remedy, wheel=wheel["file"], expected=wheel["sha256"], got=actual)


# --------------------------------------------------------------------------------------------------------- the URL


class Served:
    """A wheelhouse that is served under a URL.

    :param pinned: the seal that a manifest must have, empty where none is given.
    """

    def __init__(self, url: str, username: str = "", password: str = "", pinned: str = "") -> None:
        self.url = url.rstrip("/")
        self.username = username
        self.password = password
        self.pinned = pinned.strip().lower()
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SparkforgeError(
                f"sparkforge_wheelhouse_url is {redact(url)!r}, which is not a URL of a wheelhouse.",
                "Give it as https://host/path, what the directories of the platforms are served below.",
            )
        if "@" in parts.netloc:
            raise SparkforgeError(
                f"sparkforge_wheelhouse_url ({redact(url)}) holds a user name.",
                "Give it in sparkforge_wheelhouse_username and sparkforge_wheelhouse_password, which nobody prints.",
            )

    @property
    def is_trusted(self) -> bool:
        return self.url.startswith("https://")

    def of(self, *parts: str) -> str:
        return "/".join([self.url, *(urllib.parse.quote(part) for part in parts)])

    def manifest(self, wanted: Wanted, cached: Manifest | None) -> Manifest | None:
        """Return the manifest that is served; None where the server has none.

        Without TLS it is taken only where its seal is known already.

        :raises SparkforgeError: where something else is served, or nothing answers; see ``is_passed_over``.
        """
        url = self.of(wanted.platform, "manifests", wanted.file)
        try:
            content = http.fetch_bytes(self._with_credentials(url), timeout=PATIENCE, retries=0, html=True)
        except SparkforgeError as error:
            if error.details.get("status") in (404, 410):
                return None
            raise self._explained(error, url) from error
        found = wanted.check(publication.read(content, f"The manifest at {url}"), f"The manifest at {url}")
        known = self.pinned or (cached["seal"] if cached else "")
        if self.pinned and found["seal"] != self.pinned:
            raise SparkforgeError(
                f"The seal of the manifest at {url} is {found['seal']}, and sparkforge_wheelhouse_manifest_sha256 says"
                f" {self.pinned}.",
                "Correct the pin, or find out who changed the manifest.",
                expected=self.pinned,
                got=found["seal"],
            )
        if not self.is_trusted and found["seal"] != known:
            raise SparkforgeError(
                f"The manifest at {url} comes without TLS and its seal, {found['seal']}, is not known here.",
                "Serve it over https, or compare that seal with the builder's and pin it in"
                " sparkforge_wheelhouse_manifest_sha256.",
                got=found["seal"],
                passed_over=True,
            )
        return found

    def wheel(self, wheel: Wheel, platform: str, target: str) -> list[str]:
        """Download a wheel into ``target``, whose sha256 who calls verifies; return why not, where it is not to be had.

        :raises SparkforgeError: where somebody answers and refuses.
        """
        url = self.of(platform, *wheel["path"].split("/"))
        try:
            os.replace(http.fetch(self._with_credentials(url), os.path.dirname(target)), target)
        except SparkforgeError as error:
            explained = self._explained(error, url)
            if error.details.get("status") not in (404, 410) and not is_passed_over(explained):
                raise explained from error
            return [explained.cause.rstrip(".")]
        return []

    def _with_credentials(self, url: str) -> str:
        if not self.username:
            return url
        scheme, rest = url.split("://", 1)
        user, password = (urllib.parse.quote(text, safe="") for text in (self.username, self.password))
        return f"{scheme}://{user}:{password}@{rest}"

    def _explained(self, error: SparkforgeError, url: str) -> SparkforgeError:
        status = error.details.get("status")
        if status in (401, 403):
            given = "refused the user name and password" if self.username else "wants a user name and password"
            return SparkforgeError(
                f"The wheelhouse {given} for {url} (HTTP {status}).",
                "Correct sparkforge_wheelhouse_username and sparkforge_wheelhouse_password.",
                status=status,
                url=url,
            )
        return type(error)(
            error.cause,
            "Look at what answers under sparkforge_wheelhouse_url, and where its certificate is not trusted, at"
            " sparkforge_ca_certificate.",
            **{key: error.details[key] for key in ("status", "url") if key in error.details},
        )


def is_passed_over(error: SparkforgeError) -> bool:
    """Tell whether the next place may be asked: not where somebody answered and said something wrong."""
    if error.details.get("passed_over"):
        return True
    status = error.details.get("status")
    if status is not None:
        return int(status) >= 500
    return isinstance(error, UnreachableError)


# --------------------------------------------------------------------------------------------------------- looking


class Found(t.NamedTuple):
    """A manifest and where it was; ``served`` None where nobody was asked, or nobody answered."""

    manifest: Manifest | None
    where: str | None
    tried: list[dict[str, str]]
    served: bool | None


def look(
    wanted: Wanted,
    places: t.Sequence[str],
    cache: Cache,
    served: Served | None,
    ask_builder: Callable[[str], bytes | None],
    builder: str,
) -> Found:
    """Look for a manifest in the places, in order, and say what each had.

    :param ask_builder: returns the content of the file of that name in the builder's wheelhouse, None where it is
        not there; raises OSError with words where the builder cannot be asked.
    :raises SparkforgeError: where a place has something that is none, or of another stack.
    """
    tried: list[dict[str, str]] = []
    is_served: bool | None = None
    manifest = where = None
    for place in places:
        name = place
        if place == "url":
            if served is None:
                continue
            name = served.url
            try:
                cached = None if served.is_trusted or served.pinned else cache.load(wanted)
                manifest = served.manifest(wanted, cached)
                is_served = manifest is not None
                said = "has it" if manifest else "does not have it"
            except SparkforgeError as error:
                if not is_passed_over(error):
                    raise
                said = error.cause
        elif place == "cache":
            name = cache.path_of(wanted)
            manifest = cache.load(wanted)
            said = "has it" if manifest else "does not have it"
        else:
            name = builder
            try:
                content = ask_builder(wanted.file)
                label = f"The manifest of {wanted.stack} on {builder}"
                manifest = wanted.check(publication.read(content, label), label) if content is not None else None
                said = "has it" if manifest else "does not have it"
            except OSError as error:
                said = str(error)
        tried.append({"place": name, "said": said})
        if manifest:
            where = place
            break
    return Found(manifest, where, tried, is_served)
