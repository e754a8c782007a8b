"""Repository URLs for git, with mirror prefixes applied and credentials removed."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import re
import typing as t
import urllib.parse
import urllib.request

from .._core.errors import SparkforgeError
from .._core.redact import redact

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCP = re.compile(r"(?:[A-Za-z0-9._~-]+@)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):(?!//)[^:].*")


@dataclasses.dataclass(frozen=True)
class Remote:
    """The arguments and settings with which git reaches a URL.

    :param url: the URL without user name and password, because ``ps`` shows git's arguments.
    :param protocols: the value for ``GIT_ALLOW_PROTOCOL``, which also covers redirections.
    :param header: the HTTP header with the credentials.
    """

    url: str
    protocols: str
    header: str | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class Revision:
    """A commit and its location.

    :param url: the project's own URL. It determines the repository in the store and is the base for relative URLs.
    :param remote: the location to download from, possibly a mirror.
    :param path: the path of the submodule in the tree; '' for the source itself.
    :param parent: the path of its superproject in the tree.
    :param name: the name of the submodule in the superproject's ``.gitmodules``, usually its path there.
    """

    url: str
    remote: Remote
    commit: str
    path: str = ""
    parent: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        url = redact(self.url)
        mirror = "" if without_credentials(self.url) == self.remote.url else f"mirror {redact(self.remote.url)}"
        if self.path:
            return f"The submodule {self.path} ({', '.join(filter(None, (url, mirror)))})"
        return f"The repository {url} ({mirror})" if mirror else f"The repository {url}"

    @property
    def inside(self) -> str:
        """The label for use inside a sentence."""
        return f"t{self.label[1:]}"

    @property
    def key(self) -> str:
        """The name of its repository in the store."""
        url = re.sub(r"(?:\.git)?/*$", "", without_credentials(self.url))
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", re.split(r"[/:]", url)[-1])[:40] or "repository"
        return f"{slug}-{hashlib.sha256(url.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def make_revision(
    url: str, commit: str, rewrite: t.Mapping[str, str], path: str = "", superproject: Revision | None = None
) -> Revision:
    """Return the commit of the repository ``url``.

    :param superproject: the parent commit. Unless it is local itself, its submodules must not refer to repositories on
        the host (CVE-2022-39253).
    """
    label = f"The submodule {path}" if path else "The source"
    actual = apply_mirrors(url, rewrite)
    remote = read_remote(actual, label)
    if superproject and actual == url and is_local(url) and not is_local(superproject.url):
        raise SparkforgeError(
            f"{label} of {redact(superproject.url)} has the URL {url!r}, a path on this host, which is refused.",
            "Do not build this source; if the path is intended, configure it as a mirror.",
        )
    return Revision(url, remote, commit, path)


def apply_mirrors(url: str, rewrite: t.Mapping[str, str]) -> str:
    for base in sorted(rewrite, key=len, reverse=True):
        if base and url.startswith(base):
            actual = rewrite[base] + url[len(base) :]
            # The password must go only to the mirror: "https://host" is also a prefix of "https://host.evil".
            if _authority(rewrite[base]) in ("", _authority(actual)):
                return actual
    return url


def _authority(url: str) -> str:
    scheme = _SCHEME.match(url)
    return re.split(r"[/?#]", url[scheme.end() :])[0] if scheme else ""


def is_local(url: str) -> bool:
    return url.startswith("/") or url.lower().startswith("file://")


def without_credentials(url: str) -> str:
    """Return ``url`` without HTTP credentials; the user name of an ssh URL is part of the address."""
    return redact(url) if url.lower().startswith(("http://", "https://")) else url


def read_remote(url: str, label: str) -> Remote:
    scheme = _SCHEME.match(url)
    # A git remote helper such as ext:: runs any command in the URL.
    is_valid = not re.search(r"[\x00-\x1f\x7f]", url) and not url.startswith("-") and not re.match(r"[^/:]*::", url)
    if is_valid and url.startswith("/"):
        return Remote(url, "file")
    if is_valid and scheme:
        protocol = scheme[1].lower()
        if protocol == "file":
            return Remote(url, "file")
        with contextlib.suppress(ValueError):
            parts = urllib.parse.urlsplit(url)
            host = parts.hostname or ""
            # ssh would parse a host that begins with '-' as an option (CVE-2017-1000117).
            if host and not host.startswith("-") and protocol in ("ssh", "git"):
                if parts.password is not None:
                    raise SparkforgeError(
                        f"{label} has the URL {redact(url)} with a password, which {protocol} does not accept there.",
                        "Remove it: ssh uses a key, also from an agent, and https a user name and password.",
                    )
                return Remote(url, protocol)
            if host and protocol in ("http", "https"):
                header = None
                if "@" in parts.netloc:
                    user, password = (urllib.parse.unquote(text or "") for text in (parts.username, parts.password))
                    token = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
                    header = f"Authorization: Basic {token}"
                # A transfer that begins with TLS stays on TLS, including redirections.
                return Remote(without_credentials(url), "https" if protocol == "https" else "http:https", header)
    elif is_valid and _SCP.fullmatch(url):
        return Remote(url, "ssh")
    raise SparkforgeError(
        f"{label} has the URL {redact(url)!r}, which git may not use here.",
        "Use an https://, http://, ssh://, git:// or file:// URL, user@host:path, or an absolute path.",
    )


def absolute_url(base: str, url: str) -> str:
    """Return the absolute URL of a submodule with the ``.gitmodules`` URL ``url`` in a repository at ``base``.

    Like git (``relative_url`` in its remote.c), treat only leading ``./`` and ``../`` as relative.

    :raises SparkforgeError: if it climbs above the host.
    """
    if not url.startswith(("./", "../")):
        return url
    scheme = _SCHEME.match(base)
    host, colon, path = "", "", base.rstrip("/")
    if scheme:
        authority, slash, rest = base[scheme.end() :].partition("/")
        host, path = base[: scheme.end()] + authority, (slash + rest).rstrip("/")
    elif not base.startswith("/"):
        host, colon, path = base.partition(":")
        path = path.rstrip("/")
    rest = url
    while rest.startswith(("./", "../")):
        if rest.startswith("../"):
            if not path.strip("/"):
                raise SparkforgeError(
                    f"The submodule URL {url!r} points above {redact(base)}.",
                    "The source's .gitmodules does not fit its URL: use the source's original URL, or configure the "
                    "mirror as a mirror.",
                )
            path = path.rpartition("/")[0]
        rest = rest.partition("/")[2]
    joined = f"{path}/{rest}" if path or not colon else rest
    return (host + colon + joined).rstrip("/")
