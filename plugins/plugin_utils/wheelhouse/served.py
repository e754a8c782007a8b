# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A wheelhouse that is served under a URL."""

from __future__ import annotations

import os
import urllib.parse

from ...module_utils._core.errors import SparkforgeError, UnreachableError
from ...module_utils._core.redact import redact
from ...module_utils._fetch import http
from ...module_utils._wheel.wheel import Manifest, Wheel
from ...module_utils._wheelhouse import publication
from .wanted import Wanted

#: Seconds without an answer: the hosts' fast network may be none of the controller's.
PATIENCE = 10.0


class Served:
    """A wheelhouse that is served under a URL.

    :param pinned: the seal that a manifest must have, empty where none is given.
    """

    def __init__(self, url: str, username: str = "", password: str = "", pinned: str = "") -> None:
        self.url = url.rstrip("/")
        self.username = username
        self.password = password
        self.pinned = pinned.strip().lower()
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

    def of(self, *parts: str) -> str:
        return "/".join([self.url, *(urllib.parse.quote(part) for part in parts)])

    def manifest(self, wanted: Wanted, cached: Manifest | None) -> Manifest | None:
        """Return the manifest that is served; None where the server has none.

        It is taken only if a pinned key signed it, or its seal is pinned or that of the cached one.

        :raises SparkforgeError: if something else is served, or nothing answers; see ``is_passed_over``.
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
                f"The seal of the manifest at {url} is {found['seal']}, but sparkforge_wheelhouse_manifest_sha256 says"
                f" {self.pinned}.",
                "Correct the pin, or find out who changed the manifest.",
            )
        if not wanted.signers and found["seal"] != known:
            raise SparkforgeError(
                f"Neither a key nor the seal {found['seal']} is pinned for the manifest at {url}.",
                "Pin the builder's key in sparkforge_wheelhouse_signers, which playbooks/build.yml prints at its end, "
                "or the seal in sparkforge_wheelhouse_manifest_sha256.",
                passed_over=True,
            )
        return found

    def wheel(self, wheel: Wheel, platform: str, target: str) -> list[str]:
        """Download a wheel into ``target``, whose sha256 who calls verifies; return why not, where it is not to be had.

        :raises SparkforgeError: if somebody answers and refuses.
        """
        url = self.of(platform, *wheel.relative.split("/"))
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
            given = "refused the user name and password" if self.username else "requires a user name and password"
            return SparkforgeError(
                f"The wheelhouse {given} for {url} (HTTP {status}).",
                "Correct sparkforge_wheelhouse_username and sparkforge_wheelhouse_password.",
                status=status,
            )
        return type(error)(
            error.cause,
            "Check what answers at sparkforge_wheelhouse_url, and, if its certificate is not trusted, "
            "sparkforge_ca_certificate.",
            **({} if status is None else {"status": status}),
        )


def is_passed_over(error: SparkforgeError) -> bool:
    """Tell whether the next place may be asked: not where somebody answered and said something wrong."""
    if error.details.get("passed_over"):
        return True
    status = error.details.get("status")
    if status is not None:
        return int(status) >= 500
    return isinstance(error, UnreachableError)
