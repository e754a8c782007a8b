"""Package indexes, pages and directories that list wheels, and the credentials for their servers.

This module supports the simple repository API as JSON (PEP 691, with sizes: PEP 700) or HTML (PEP 503).
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import html.parser
import json
import os
import re
import typing as t
import urllib.parse
import urllib.request

from .._core import disk
from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import http

#: The index that pip and uv use if nothing else is set.
PUBLIC = "https://pypi.org/simple"
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*\.whl")
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5, */*;q=0.1"


@dataclasses.dataclass(frozen=True)
class Link:
    """A wheel in a listing.

    :ivar sha256: None if the listing does not include it.
    :ivar size: bytes; None if the listing does not include it.
    :ivar python: ``Requires-Python``; None if the listing does not include it.
    """

    file: str
    url: str
    sha256: str | None = None
    size: int | None = None
    python: str | None = None


def credentials(entries: t.Iterable[t.Mapping[str, t.Any]]) -> dict[str, str]:
    """Return ``user:password``, URL-encoded, for each server name.

    :raises SparkforgeError: for an entry without a server, user name or password.
    """
    users: dict[str, str] = {}
    for number, entry in enumerate(entries, 1):
        url, values = entry.get("url") or f"//{entry.get('host') or ''}", (entry.get("username"), entry.get("password"))
        name = None
        with contextlib.suppress(ValueError):
            name = urllib.parse.urlsplit(str(url)).hostname
        if not name or not all(values):
            raise SparkforgeError(
                f"Entry {number} of credentials lacks a server, a user name or a password: {redact(str(url))}.",
                "Set a URL such as https://spark01.example.com/wheelhouse or a host, and a user name and a password "
                "(sparkforge_wheelhouse_username, sparkforge_wheelhouse_password).",
            )
        user = ":".join(urllib.parse.quote(str(text), safe="", errors="surrogatepass") for text in values)
        if users.setdefault(name, user) != user:
            raise SparkforgeError(
                f"{name} has two user names or passwords.",
                "Set one per server; servers are distinguished only by name.",
            )
    return users


def pip_settings(listing: str) -> dict[str, str]:
    """Return the output of ``pip config list`` keyed by option; environment variables override files."""
    rows = [re.fullmatch(r"(global|install|:env:)\.([a-z-]+)=(.*)", line) for line in listing.splitlines()]
    settings: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        settings.update({row[2]: str(ast.literal_eval(row[3])) for row in rows if row and row[1] == section})
    return settings


def with_credentials(url: str, known: t.Mapping[str, str]) -> str:
    """Return a URL with the user name and password for its server, unless it has its own."""
    parts = urllib.parse.urlsplit(url)
    user = known.get(parts.hostname or "")
    if user and parts.username is None and parts.scheme in ("http", "https"):
        return parts._replace(netloc=f"{user}@{parts.netloc}").geturl()
    return url


def list_wheels(location: str, known: t.Mapping[str, str], setting: str) -> list[Link]:
    """Return the wheels in a local directory or on an index page.

    :param location: an absolute path or a URL.
    :param setting: the user's setting that contains the path or URL.
    :raises SparkforgeError: if it cannot be read, or is a page without any wheels.
    """
    local = (
        urllib.request.url2pathname(urllib.parse.urlsplit(location).path) if location.startswith("file:") else location
    )
    if os.path.isdir(local):
        names = disk.names(local)
        if "index.html" not in names:
            return [Link(name, _url(os.path.join(local, name))) for name in names if _FILE.fullmatch(name)]
        local = os.path.join(local, "index.html")
    url = _url(local) if local.startswith("/") else with_credentials(location, known)
    content, end = http.fetch_page(url, _ACCEPT, setting)
    text = content.decode("utf-8", "replace")
    links = read_page(text, end or url)
    if not links and http.is_html(content[:1024]):
        title = re.search(r"<title[^>]*>\s*(.*?)\s*</title", text, re.IGNORECASE | re.DOTALL)
        quoted_title = f" ({' '.join(html.unescape(title[1]).split())[:80]!r})" if title else ""
        raise SparkforgeError(
            f"{redact(url)} is an HTML page{quoted_title} that lists no wheel.",
            f"Open it in a browser: it may be a login or an error page. Then correct {setting} or the server.",
            empty=True,
        )
    return links


def _url(path: str) -> str:
    return f"file://{urllib.request.pathname2url(path)}"


class _Anchors(html.parser.HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.found: list[tuple[str, str | None, None, str | None]] = []

    def handle_starttag(self, tag: str, attrs: t.Sequence[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        target = values.get("href") or ""
        if tag == "base":
            self.base = urllib.parse.urljoin(self.base, target)
        elif tag == "a":
            sha256 = re.search(r"[#&]sha256=([0-9a-fA-F]{64})(?:&|$)", target)
            self.found.append((target, sha256 and sha256[1], None, values.get("data-requires-python")))


def read_page(text: str, url: str) -> list[Link]:
    """Return the wheels on a page, except links that are less secure than the page or lead from it to local files.

    :param url: the URL of the page, the base for relative links; its credentials also apply to links to its server.
    """
    rows: t.Iterable[tuple[t.Any, ...]] = []
    base = url
    # html.parser raises AssertionError for an unknown marked section.
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError, AssertionError):
        if text.startswith("{"):
            files = json.loads(text)["files"]
            names = "size", "requires-python"
            rows = [(row["url"], (row.get("hashes") or {}).get("sha256"), *map(row.get, names)) for row in files]
        else:
            anchors = _Anchors(url)
            anchors.feed(text)
            rows, base = anchors.found, anchors.base
    page, schemes, links = urllib.parse.urlsplit(url), ["file", "http", "https"], []
    for target, sha256, size, python in rows:
        with contextlib.suppress(ValueError, TypeError):
            parts = urllib.parse.urlsplit(urllib.parse.urljoin(base, target))
            file = urllib.parse.unquote(parts.path.rpartition("/")[2])
            if not _FILE.fullmatch(file) or parts.scheme not in schemes[schemes.index(page.scheme) :]:
                continue
            if (parts.scheme, parts.netloc) == (page.scheme, page.netloc.rpartition("@")[2]):
                parts = parts._replace(netloc=page.netloc)
            pin = sha256.lower() if sha256 and re.fullmatch("[0-9a-fA-F]{64}", sha256) else None
            size, python = size if isinstance(size, int) else None, python if isinstance(python, str) else None
            links.append(Link(file, parts._replace(fragment="").geturl(), pin, size, python))
    return links
