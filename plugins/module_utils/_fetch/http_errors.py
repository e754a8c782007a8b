"""Errors for failed downloads, with cause and remedy, and whether to retry."""

from __future__ import annotations

import errno
import http.client
import os
import socket
import ssl
import typing as t
import urllib.error
import urllib.parse
import urllib.request

from .._core.errors import SparkforgeError, UnreachableError
from .._core.redact import redact

#: HTTP status codes that may be different on a later attempt (RFC 9110, RFC 6585).
TRANSIENT_HTTP = frozenset({408, 425, 429, 500, 502, 503, 504})


CERTIFICATE_REMEDY = (
    "Behind a proxy that inspects TLS, set sparkforge_ca_certificate to its CA; otherwise check the clock and the "
    "ca-certificates package. Verification is never turned off."
)
PROXY_REMEDY = "Correct sparkforge_proxies (address, user and password), or add the host to its no_proxy."


class TransientError(Exception):
    """A failure that is worth another attempt.

    :param final: the error to raise if no attempt is left.
    :param validator: the ETag or date of the partially downloaded file.
    """

    def __init__(self, final: SparkforgeError, validator: str | None = None) -> None:
        super().__init__(str(final))
        self.final = final
        self.validator = validator


def user_error(url: str, error: Exception, timeout: float, setting: str) -> Exception:
    """Map an exception of the HTTP library to a cause and a remedy."""
    name = redact(url)
    via = _proxy_of(url)
    through = f" through the proxy {via}" if via else ""
    if isinstance(error, urllib.error.HTTPError):
        return _status_error(name, error, through, setting, has_password="@" in urllib.parse.urlsplit(url).netloc)
    reason: t.Any = error.reason if isinstance(error, urllib.error.URLError) else error
    text = str(reason)
    if isinstance(reason, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in text:
        bundle = os.environ.get("SSL_CERT_FILE")
        missing = (
            f" SSL_CERT_FILE names {bundle}, which does not exist." if bundle and not os.path.exists(bundle) else ""
        )
        return SparkforgeError(
            f"The TLS certificate of {name}{through} cannot be verified: {text.rstrip('.')}.{missing}",
            CERTIFICATE_REMEDY,
        )
    if isinstance(reason, ssl.SSLError):
        return SparkforgeError(
            f"No TLS connection to {name}{through}: {text.rstrip('.')}.",
            "Check that the server supports TLS on that port and that no proxy interrupts it.",
        )
    if "Tunnel connection failed" in text:
        return SparkforgeError(
            f"The proxy {via or 'in use'} refused to connect to {name}: {text.rstrip('.')}.", PROXY_REMEDY
        )
    if isinstance(reason, socket.gaierror):
        host = urllib.parse.urlsplit(via or url).hostname
        server = "the proxy" if via else name
        return TransientError(
            UnreachableError(
                f"The name {host} of {server} cannot be resolved: {reason.strerror or text}.",
                f"Check the host's DNS; if the host has no direct access, set sparkforge_proxies, or a mirror in "
                f"{setting}.",
            )
        )
    if isinstance(reason, (TimeoutError, socket.timeout)) or "timed out" in text:
        return TransientError(
            UnreachableError(
                f"{name} did not answer within {timeout:g} s{through}.",
                "Check the network, the proxy and the mirror, then run again.",
            )
        )
    if isinstance(reason, (OSError, http.client.HTTPException)) or isinstance(error, urllib.error.URLError):
        return TransientError(
            UnreachableError(
                f"No connection to {name}{through}: {text or type(reason).__name__}.",
                f"Check that the server runs, and the network, sparkforge_proxies and {setting}.",
            )
        )
    return SparkforgeError(
        f"{name} cannot be fetched: {type(error).__name__}: {text}.", "Check the URL and the network, then run again."
    )


def _status_error(
    name: str, error: urllib.error.HTTPError, through: str, setting: str, has_password: bool
) -> Exception:
    code, reason = error.code, error.reason
    if code in (404, 410):
        return SparkforgeError(
            f"{name} does not exist (HTTP {code}){through}.",
            f"Check the release or version in the stack, and that {setting} has it.",
            status=code,
        )
    if code == 407:
        return SparkforgeError(
            f"The proxy requires a user name and password for {name} (HTTP 407).",
            "Set them in sparkforge_proxies, as http://user:password@proxy:port.",
            status=code,
        )
    if code in (401, 403):
        refusal = "rejects the user name or password" if has_password else "requires a user name and password"
        return SparkforgeError(
            f"{name} {refusal if code == 401 else 'is forbidden for this host'} (HTTP {code}){through}.",
            f"Check the URL, its user name and password ({setting}) and the proxy's rules; some servers answer 403 for "
            "missing files.",
            status=code,
        )
    final = SparkforgeError(
        f"{name} answered HTTP {code} {reason}{through}.",
        "Check the server and the proxy, then run again.",
        status=code,
    )
    return TransientError(final) if code in TRANSIENT_HTTP or code == 416 else final


def _proxy_of(url: str) -> str | None:
    parts = urllib.parse.urlsplit(url)
    if parts.hostname is None or urllib.request.proxy_bypass(parts.hostname):
        return None
    proxy = urllib.request.getproxies().get(parts.scheme)
    return redact(proxy) if proxy else None


def cut_off(url: str, size: int, expected: int | None, validator: str | None, why: str) -> TransientError:
    total = f" of {expected}" if expected is not None else ""
    return TransientError(
        SparkforgeError(
            f"The download of {redact(url)} was truncated: {size}{total} bytes arrived ({why}).",
            "Run again; if it fails again, the mirror's file is incomplete or a proxy limits downloads.",
        ),
        validator,
    )


def too_large(url: str, limit: int, size: int) -> SparkforgeError:
    return SparkforgeError(
        f"{redact(url)} has {size} bytes or more; the limit is {limit}.", "Check that the URL is the right one."
    )


def free_space(directory: str) -> str:
    """Return the free space in a directory, formatted as the end of a sentence."""
    try:
        numbers = os.statvfs(directory)
    except OSError:
        return ""
    return f" ({numbers.f_bavail * numbers.f_frsize / 1e6:.0f} MB are free)"


def not_written(problem: str, directory: str, error: OSError) -> SparkforgeError:
    """Map a write error to a cause and a remedy; ``problem`` is the start of the cause."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    while not os.path.isdir(directory) and directory != "/":
        directory = os.path.dirname(directory) or "/"
    return SparkforgeError(
        f"{problem}: {error.strerror or error}{free_space(directory) if is_full else ''}.",
        "Free some space there and run again: completed downloads are kept."
        if is_full
        else "Make sure that this account (for a build, the build user) can write there, and run again.",
    )
