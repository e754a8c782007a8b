# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a package index really answers, asked once after pip has failed, and the credentials that it wants.

pip takes any HTML page with status 200 for an index without files, and says of a refused page only that it found
nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import html
import os
import re
import typing as t
import urllib.error
import urllib.parse

from ansible.module_utils.urls import open_url
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch.http import is_html

#: Bytes of an answer that are looked at: a page with a thousand files is larger, and its first links are among these.
LOOKED_AT = 65536
#: Seconds; pip has waited already.
TIMEOUT = 15.0

_LINK = re.compile(rb"<a\b[^>]*\bhref\s*=", re.IGNORECASE)
_FILE = re.compile(rb"<a\b[^>]*\bhref\s*=\s*[\"']?[^\"'>]*\.(?:whl|zip|tar\.\w+|tgz)\b", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]*>\s*(.*?)\s*</title", re.IGNORECASE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Credential:
    """User name and password of one server."""

    host: str
    username: str
    password: str


def credentials(entries: t.Iterable[t.Mapping[str, t.Any]]) -> list[Credential]:
    """Read the option ``credentials``.

    :raises SparkforgeError: for an entry that names no server, lacks a value, or has one that cannot be carried.
    """
    found: dict[str, Credential] = {}
    for number, entry in enumerate(entries, 1):
        url, host = str(entry.get("url") or ""), str(entry.get("host") or "")
        if bool(url) == bool(host):
            what = "both a url and a host" if url else "neither a url nor a host"
            raise SparkforgeError(f"Entry {number} of credentials names {what}.", "Set one of the two.")
        name = None
        with contextlib.suppress(ValueError):
            name = urllib.parse.urlsplit(url if url else f"//{host}").hostname
        if not name or re.search(r"[\s\"\\]", name):
            raise SparkforgeError(
                f"Entry {number} of credentials names no server: {redact(url) or host!r}.",
                "Set a URL such as https://spark01.example.com/wheelhouse, or a host.",
            )
        username, password = str(entry.get("username") or ""), str(entry.get("password") or "")
        if not username or not password:
            raise SparkforgeError(
                f"The credentials for {name} have no {'password' if username else 'user name'}.",
                "Set both (sparkforge_wheelhouse_username, sparkforge_wheelhouse_password), or remove the entry.",
            )
        for what, value in (("user name", username), ("password", password)):
            if not value.isprintable() or any(ord(letter) > 255 for letter in value):
                raise SparkforgeError(
                    f"The {what} for {name} has a character that basic authentication cannot encode.",
                    "Use only printable Latin-1 characters.",
                )
        if found.setdefault(name, Credential(name, username, password)) != Credential(name, username, password):
            raise SparkforgeError(
                f"{name} has two user names or passwords.",
                "Set one per server; pip distinguishes servers only by name.",
            )
    return list(found.values())


def render_netrc(entries: t.Iterable[Credential], python: tuple[int, int]) -> str:
    """Return the netrc file that pip reads.

    :param python: the version of the interpreter that runs pip: before 3.11 it knows neither quotes nor escapes.
    :raises SparkforgeError: for a value that this interpreter cannot read from one.
    """
    lines = []
    for entry in entries:
        words = []
        for what, value in (("user name", entry.username), ("password", entry.password)):
            if python >= (3, 11):
                words.append(re.sub(r"([\\\"\s])", r"\\\1", value))
                continue
            if re.search(r"\s", value):
                raise SparkforgeError(
                    f"The {what} for {entry.host} has a space, which Python {python[0]}.{python[1]} cannot read.",
                    "Choose one without a space, or use Python 3.11 or newer for the environment.",
                )
            words.append(value)
        lines.append(f"machine {entry.host} login {words[0]} password {words[1]}")
    return "\n".join([*lines, ""])


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a server said of one URL: a status and the beginning of the body, or why there was none."""

    status: int
    content_type: str = ""
    head: bytes = b""
    server_error: str = ""


def ask(url: str, known: t.Sequence[Credential] = ()) -> Answer | None:
    """Ask for a URL as pip does: with its credentials, the proxies and the CA of the process environment.

    :return: None where nothing answers, which pip says well enough itself.
    """
    host = urllib.parse.urlsplit(url).hostname
    entry = next((one for one in known if one.host == host), None)
    authority = os.environ.get("PIP_CERT") or os.environ.get("REQUESTS_CA_BUNDLE")
    try:
        response = open_url(
            url,
            headers={"Accept": "text/html, */*;q=0.1", "Accept-Encoding": "identity"},
            timeout=TIMEOUT,
            decompress=False,
            http_agent="sparkforge.dgx_spark",
            url_username=entry.username if entry else None,
            url_password=entry.password if entry else None,
            force_basic_auth=entry is not None,
            ca_path=authority if authority and os.path.exists(authority) else None,
            use_netrc=False,
            # The password is for this server, not for one that it names.
            follow_redirects="none" if entry else "all",
        )
        with response:
            head = response.read(LOOKED_AT)
            return Answer(response.status, response.headers.get("Content-Type") or "", head)
    except urllib.error.HTTPError as error:
        return Answer(error.code, server_error=str(error.reason))
    except Exception:  # nothing that goes wrong here may hide what pip said
        return None


def explain(url: str, answer: Answer, package: str, authenticated: bool) -> SparkforgeError | None:
    """Return what is wrong with an answer, None where it is what pip takes it for.

    :param url: of a wheel, or of a page that lists files.
    :param package: what was asked for there.
    :param authenticated: whether credentials were sent.
    """
    name, details = redact(url), {"url": redact(url), "status": answer.status}
    if answer.status != 200:
        return refused(name, answer.status, answer.server_error, authenticated)
    title = _TITLE.search(answer.head)
    words = html.unescape(title.group(1).decode("utf-8", "replace")) if title else ""
    page = f"an HTML page ({' '.join(words.split())[:80]!r})" if words else "an HTML page"
    remedy = "Open it in a browser: it may be a login or an error page. Then correct the URL or the server."
    if urllib.parse.urlsplit(url).path.endswith((".whl", ".zip", ".gz")):
        if not is_html(answer.head):
            return None
        file = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
        return SparkforgeError(f"{name} answers with {page} and status 200 instead of {file}.", remedy, **details)
    is_page = is_html(answer.head) or answer.content_type.startswith("text/html")
    if not is_page or _FILE.search(answer.head) or (len(answer.head) >= LOOKED_AT and _LINK.search(answer.head)):
        return None
    return SparkforgeError(
        f"{name} answers with {page} and status 200 without files instead of the index of {package}.",
        remedy,
        **details,
    )


def refused(name: str, status: int, reason: str, authenticated: bool) -> SparkforgeError | None:
    """Return what a status means; None for what pip can cope with: an index may lack a package, or be elsewhere.

    :param name: the URL as it may be shown.
    """
    details = {"url": name, "status": status}
    own = "sparkforge_wheelhouse_username and sparkforge_wheelhouse_password"
    if status == 401:
        cause = "rejects the user name or password" if authenticated else "requires a user name and password"
        return SparkforgeError(f"{name} {cause} (HTTP 401).", f"Correct the credentials ({own}).", **details)
    if status == 403:
        who = "the user of the credentials" if authenticated else "this host without credentials"
        return SparkforgeError(
            f"{name} is forbidden for {who} (HTTP 403).",
            f"Correct the server's rules, the proxy's or the credentials ({own}).",
            **details,
        )
    if status == 407:
        return SparkforgeError(
            f"The proxy requires a user name and password for {name} (HTTP 407).",
            "Set them in sparkforge_proxies, as http://user:password@proxy:port.",
            **details,
        )
    if status in (404, 410) or 300 <= status < 400:
        return None
    return SparkforgeError(
        f"{name} answers HTTP {status}{f' {reason}' if reason else ''}.",
        "Check the server and the proxy, and run again.",
        network=status >= 500 or status in (408, 429),
        **details,
    )
