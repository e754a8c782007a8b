"""The controller's cache of manifests and wheels.

::

    <cache>/<platform>/manifests/<stack>-<lock id>.json
    <cache>/<platform>/wheels/<sha256>/<file>          only if wheels go through the controller

A wheel in a directory named after its sha256 was verified when it was put there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator

from ...module_utils._core import digests, disk, receipts
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._fetch import http
from ...module_utils._wheel.wheel import Manifest, Wheel, of_units
from ...module_utils._wheelhouse import publication
from .query import Query

#: The number of manifests per stack to keep in the cache; wheels that no kept manifest lists are removed.
KEEP = 2
#: Seconds to wait for another run that downloads the same wheel.
WAIT = 3600.0


class Cache:
    """The controller's cache for one platform."""

    def __init__(self, directory: str, platform: str) -> None:
        # A host that reported ../x as its platform would have its manifests written elsewhere.
        cache = os.path.abspath(os.path.expanduser(directory))
        self.directory = os.path.join(cache, publication.checked_platform(platform))

    def path_of(self, query: Query) -> str:
        return os.path.join(self.directory, "manifests", query.file)

    def load(self, query: Query) -> Manifest | None:
        """Return the manifest, or None if there is none.

        :raises SparkforgeError: if the cached manifest does not match the query.
        """
        path = self.path_of(query)
        try:
            with open(path, "rb") as stream:
                content = stream.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SparkforgeError(
                f"The cached manifest {path} cannot be read: {error.strerror}.",
                "Make it readable, delete it, or set sparkforge_wheelhouse_cache to another directory.",
            ) from error
        try:
            return query.read(content, f"The cached manifest {path}")
        except SparkforgeError as error:
            raise SparkforgeError(error.cause, f"Remove {path}; the next run fetches the manifest again.") from error

    def check_not_older(self, query: Query, manifest: Manifest, where: str) -> None:
        """Refuse a manifest that is older than the cached one, because a server may withhold newer builds.

        Without ``query.signers``, compare only manifests from the same builder, because fleets may share a cache.

        :param where: the manifest's name in messages.
        :raises SparkforgeError: with both times.
        """
        try:
            cached = self.load(query)
        except SparkforgeError:
            # An untrusted manifest proves nothing about the age of others.
            return
        if cached is None or manifest["written"] >= cached["written"]:
            return
        if query.signers or manifest["host"] == cached["host"]:
            raise SparkforgeError(
                f"{where} is from {manifest['written']}, older than the one in the cache, from {cached['written']}.",
                "Find out why it is older; playbooks/build.yml publishes a new one. To accept it, run once "
                "with -e sparkforge_wheelhouse_allow_older=true.",
            )

    def save(self, query: Query, manifest: Manifest) -> bool:
        """Store a manifest and remove files that no stored manifest needs; tell whether anything changed."""
        path = self.path_of(query)
        text = digests.text_of(manifest).encode("ascii")
        with contextlib.suppress(OSError), open(path, "rb") as stream:
            if stream.read() == text:
                return False
        with receipts.lock(self.directory, "cache", WAIT):
            disk.write_file(path, text)
            self._prune(query.stack)
        return True

    def _prune(self, stack: str) -> None:
        """Keep the newest manifests of the stack, and the wheels that a kept manifest lists."""
        folder = os.path.dirname(self.path_of(Query(stack, "0" * 12, "")))
        mine, needed = [], set()
        for file in os.listdir(folder):
            path = os.path.join(folder, file)
            try:
                with open(path, encoding="utf-8") as stream:
                    manifest = json.load(stream)
                hashes = {wheel.sha256 for wheel in of_units(manifest["units"])}
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

    def wheel(self, wheel: Wheel) -> str:
        """Return the path of a wheel, whether or not it exists yet."""
        return os.path.join(self.directory, "wheels", wheel.sha256, wheel.file)

    def missing(self, manifest: Manifest) -> list[Wheel]:
        return [wheel for wheel in of_units(manifest["units"]) if not os.path.isfile(self.wheel(wheel))]

    @contextlib.contextmanager
    def bringing(self, wheel: Wheel) -> Iterator[str | None]:
        """Yield a path to write a wheel to, then verify the file; yield None if another run has already stored it.

        :raises SparkforgeError: if the sha256 of the written file is wrong.
        """
        directory = os.path.dirname(self.wheel(wheel))
        store = os.path.dirname(directory)
        # Thirty hosts may need the same wheel at once, but only one of them fetches it.
        with receipts.lock(store, wheel.sha256, WAIT):
            if os.path.isfile(self.wheel(wheel)):
                yield None
                return
            temporary = os.path.join(store, f".{wheel.sha256}.{os.getpid()}")
            try:
                yield temporary
                actual = digests.of_file(temporary)
                if actual != wheel.sha256:
                    raise wrong_wheel(wheel, actual, temporary)
                disk.make_directories(directory)
                # Without this, a power loss could leave an empty file, which would count as verified.
                disk.fsync(temporary)
                os.replace(temporary, self.wheel(wheel))
                disk.fsync(directory)
            except OSError as error:
                raise SparkforgeError(
                    f"The wheel {wheel.file} cannot be written to {store}: {error.strerror}.",
                    "Free space there, or set sparkforge_wheelhouse_cache to another directory.",
                ) from error
            finally:
                disk.remove(temporary)


def wrong_wheel(wheel: Wheel, actual: str, path: str) -> SparkforgeError:
    """Return the error for a wheel whose sha256 differs from the manifest."""
    with open(path, "rb") as stream:
        html = http.is_html(stream.read(1024))
    cause = f"The sha256 of {wheel.file} is {actual}, but the manifest says {wheel.sha256}"
    remedy = "Find out who changed that file in the wheelhouse; playbooks/build.yml publishes the builder's file again."
    if html:
        cause += ": it is an HTML page"
        remedy = "Check which server answers there: this looks like a proxy or a login page."
    return SparkforgeError(f"{cause}.", remedy)
