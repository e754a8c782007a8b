"""Finds the manifest of a stack: at a URL, in the controller's cache, or on the builder."""

from __future__ import annotations

import typing as t
import urllib.parse
from collections.abc import Callable

from ...module_utils._core.errors import SparkforgeError, UnreachableError
from ...module_utils._core.redact import redact
from ...module_utils._fetch import http, index
from ...module_utils._wheel.wheel import Manifest
from .cache import Cache
from .query import Query
from .signed import SETTING

#: Seconds to wait for an answer, because the controller may have no route to the hosts' fast network.
PATIENCE = 10.0


class Found(t.NamedTuple):
    """A manifest, its location, and the answer from each place that was tried."""

    manifest: Manifest | None
    where: str | None
    tried: list[dict[str, str]]


class Served:
    """A wheelhouse served at a URL; only a signature vouches for its content."""

    def __init__(self, url: str, username: str = "", password: str = "") -> None:
        self.url = url.rstrip("/")
        self.username = username
        try:
            parts = urllib.parse.urlsplit(self.url)
        except ValueError:
            parts = urllib.parse.urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SparkforgeError(
                f"sparkforge_wheelhouse_url is {redact(url)!r}, which is not the URL of a wheelhouse.",
                "Write it as https://host/path, the parent of the platform directories.",
            )
        if "@" in parts.netloc:
            raise SparkforgeError(
                f"sparkforge_wheelhouse_url ({redact(url)}) contains a user name.",
                "Move it to sparkforge_wheelhouse_username and sparkforge_wheelhouse_password, which are never "
                "printed.",
            )
        user = ":".join(urllib.parse.quote(text, safe="") for text in (username, password))
        self._users = {parts.hostname: user} if username else {}

    def manifest(self, query: Query) -> Manifest | None:
        """Return the served manifest, or None if the server has none.

        :raises SparkforgeError: if something else is served, or the server does not answer; see ``is_passed_over``.
        """
        parts = [self.url, *(urllib.parse.quote(part) for part in (query.platform, "manifests", query.file))]
        url = "/".join(parts)
        try:
            content = http.fetch_bytes(index.with_credentials(url, self._users), timeout=PATIENCE, retries=0, html=True)
        except SparkforgeError as error:
            if error.details.get("status") in (404, 410):
                return None
            raise self._with_remedy(error, url) from error
        return query.read(content, f"The manifest at {url}")

    def _with_remedy(self, error: SparkforgeError, url: str) -> SparkforgeError:
        status = error.details.get("status")
        if status in (401, 403):
            refusal = "refused the user name and password" if self.username else "requires a user name and password"
            return SparkforgeError(
                f"The wheelhouse {refusal} for {url} (HTTP {status}).",
                "Correct sparkforge_wheelhouse_username and sparkforge_wheelhouse_password.",
                status=status,
            )
        return type(error)(
            error.cause,
            "Check which server answers at sparkforge_wheelhouse_url, and, if its certificate is not trusted, "
            "sparkforge_ca_certificate.",
            **({} if status is None else {"status": status}),
        )


def is_passed_over(error: SparkforgeError) -> bool:
    """Tell whether to try the next place, which is not the case if a server's answer was wrong."""
    status = error.details.get("status")
    return int(status) >= 500 if status is not None else isinstance(error, UnreachableError)


def find_manifest(
    query: Query,
    sources: t.Sequence[str],
    cache: Cache,
    served: Served | None,
    ask_builder: Callable[[str], bytes | None],
    builder: str,
    allow_older: bool = False,
) -> Found:
    """Look for a manifest in each place in order, and report the answers.

    :param ask_builder: a function that returns the content of a file in the builder's wheelhouse, or None if it does
        not exist; it raises OSError with a message if the builder cannot be queried.
    :param allow_older: whether to accept a manifest that is older than the cached one.
    :raises SparkforgeError: if a place has a file that is not a manifest, or a manifest that is for another stack or
        too old.
    """
    attempts: list[dict[str, str]] = []
    for source in sources:
        if source == "url" and served is None:
            continue
        manifest, name, answer = None, builder, ""
        label = f"The manifest of {query.stack} on {builder}"
        try:
            if source == "url" and served is not None:
                name, label = served.url, f"The manifest of {query.stack} at {served.url}"
                if query.signers:
                    manifest = served.manifest(query)
                else:
                    answer = f"was not queried, since {SETTING} names no key to verify its manifest with"
            elif source == "cache":
                name = cache.path_of(query)
                manifest = cache.load(query)
            else:
                content = ask_builder(query.file)
                manifest = query.read(content, label) if content is not None else None
        except OSError as error:
            answer = str(error)
        except SparkforgeError as error:
            if source != "url" or not is_passed_over(error):
                raise
            answer = error.cause
        attempts.append({"place": name, "said": answer or ("has it" if manifest else "does not have it")})
        if manifest:
            if not allow_older:
                cache.check_not_older(query, manifest, label)
            return Found(manifest, source, attempts)
    return Found(None, None, attempts)
