"""Problems in a host's apt sources, for preflight and the forecast, from rows of ``spark_info``."""

from __future__ import annotations

import re
import typing as t
from urllib.parse import urlsplit

Source = t.Mapping[str, t.Any]
#: Archives whose keys Ubuntu and Debian install for all sources.
_SYSTEM_ARCHIVES = re.compile(r"(^|\.)(ubuntu|debian)\.(com|org)$")


def enabled(observation: t.Mapping[str, t.Any]) -> list[Source]:
    """Return the sources that apt reads."""
    return [row for row in observation.get("apt_sources") or [] if row.get("enabled")]


def without_keyring(sources: t.Iterable[Source]) -> list[Source]:
    """Return the sources whose keyring does not exist; apt refuses them with NO_PUBKEY."""
    return [row for row in sources if row.get("keyring_present") is False]


def with_sha1_keyring(sources: t.Iterable[Source]) -> list[Source]:
    """Return the sources whose key is certified only with SHA-1; apt 3 refuses the key and everything it signs."""
    return [row for row in sources if row.get("keyring_sha1")]


def of_another_machine(sources: t.Iterable[Source], architecture: str) -> list[Source]:
    """Return the sources of CUDA that have no packages for the host's architecture, such as ``arm64``."""
    other = {"arm64": "/x86_64", "amd64": "/sbsa"}.get(architecture)
    pages = ((row, uri.rstrip("/")) for row in sources for uri in row.get("uris") or [])
    return [row for row, page in pages if other and "/compute/cuda/repos/" in page and page.endswith(other)]


def signed_differently(sources: t.Iterable[Source]) -> dict[str, dict[str, list[str]]]:
    """Return the archives whose sources have different keys, or a key in only some; apt then reads no list at all.

    :returns: URI -> keyring, '' for a source without Signed-By -> the files with that setting.
    """
    signers: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in sources:
        for uri in row.get("uris") or []:
            for suite in row.get("suites") or [""]:
                files = signers.setdefault((uri.rstrip("/"), suite), {})
                files.setdefault(row.get("signed_by") or "", []).append(row["file"])
    return {uri: files for (uri, _suite), files in signers.items() if len(files) > 1}


def without_signed_by(sources: t.Iterable[Source]) -> list[Source]:
    """Return the sources, other than the system's archives, for which apt accepts any key that it trusts."""
    return [
        row
        for row in sources
        if not row.get("signed_by")
        and any(
            urlsplit(uri).scheme in ("http", "https") and not _SYSTEM_ARCHIVES.search(urlsplit(uri).hostname or "")
            for uri in row.get("uris") or []
        )
    ]
