# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Downloads that end as a verified file or as one cause and one remedy.

Proxies and the CA come from the environment, as every tool on the host reads them: ``http_proxy``,
``https_proxy``, ``no_proxy``, ``SSL_CERT_FILE``. TLS is verified always; there is no way to turn it off.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import http.client
import io
import os
import re
import string
import tempfile
import time
import typing as t
import urllib.error
import urllib.parse
import urllib.request

from .._core import deadline, disk
from .._core.errors import SparkforgeError, UnreachableError
from .._core.redact import redact
from . import http_errors

#: Bytes per read: large enough that Python's share of a download does not show.
BLOCK = 1 << 20

#: HTTP states that lead elsewhere, and how many of them are followed.
REDIRECTIONS = frozenset({301, 302, 303, 307, 308})
HOPS = 10

#: Bytes of a download of which nobody says how large it is; the largest that NVIDIA publishes have some 5 GB.
SIZE_LIMIT = 16 << 30
#: Bytes of a document and of an index's page, which are in memory as a whole.
DOCUMENT_LIMIT, PAGE_LIMIT = 16 << 20, 64 << 20

#: Seconds that a server may take for nothing, and bytes a second that it must send beyond these.
GRACE = 600.0
RATE = 16384

_HTML = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)


@dataclasses.dataclass
class _Sink:
    """A seekable file that knows the size and the sha256 of what was written to it.

    :ivar directory: that the file is in; empty for one in memory.
    :ivar pinned: its sha256 is known, so that bytes of two answers need no other proof that they are of one file.
    :ivar url: where the last answer came from, after redirections.
    """

    stream: t.BinaryIO
    limit: int
    setting: str = "sparkforge_nvidia_url"
    directory: str = ""
    pinned: bool = False
    accept: str = "*/*"
    url: str = ""
    size: int = 0
    head: bytes = b""
    sha256: t.Any = dataclasses.field(default_factory=hashlib.sha256)

    def take_over(self) -> None:
        """Go on behind what the stream has from an earlier run."""
        for block in iter(lambda: self.stream.read(BLOCK), b""):
            self._count(block)

    def restart(self) -> None:
        self.stream.seek(0)
        self.stream.truncate()
        self.size = 0
        self.head = b""
        self.sha256 = hashlib.sha256()

    def write(self, block: bytes) -> None:
        self.stream.write(block)
        self._count(block)

    def _count(self, block: bytes) -> None:
        self.sha256.update(block)
        if len(self.head) < 1024:
            self.head += block[: 1024 - len(self.head)]
        self.size += len(block)


class _Pace:
    """How fast an answer comes. The timeout is for silence: a byte now and then would keep a host waiting for ever."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.begin = time.monotonic()
        self.received = 0

    def left(self) -> float:
        return GRACE + self.received / RATE - (time.monotonic() - self.begin)

    def check(self, size: int) -> None:
        self.received += size
        if self.left() < 0:
            raise self.too_slow()

    def within(self, ask: t.Callable[[], t.Any]) -> t.Any:
        """Return what ``ask`` returns, or give up waiting for it: headers may drip too."""
        try:
            return deadline.within(self.left(), ask)
        except TimeoutError:
            raise self.too_slow() from None

    def too_slow(self) -> SparkforgeError:
        return UnreachableError(
            f"{redact(self.url)} sends too slowly: {self.received} bytes in {time.monotonic() - self.begin:.0f} s.",
            "Check the network, the proxy and the mirror, then run again.",
        )


def is_html(head: bytes) -> bool:
    """Tell whether ``head``, the first bytes of a body, begins an HTML page (a login or an error page)."""
    return _HTML.match(head) is not None


def fetch(
    url: str,
    directory: str,
    *,
    sha256: str | None = None,
    timeout: float = 60.0,
    retries: int = 3,
    setting: str = "sparkforge_nvidia_url",
    max_bytes: int | None = None,
    partial: str | None = None,
) -> str:
    """Download ``url`` into a temporary file in ``directory`` and return that file's path.

    The file is complete, verified and synced to the disk; the caller moves or removes it. Nothing is left in
    ``directory`` after a failure, except ``partial``. A broken connection is resumed with a Range request.

    :param url: an ``http://``, ``https://`` or ``file://`` URL.
    :param directory: an existing directory, on the file system where the file will end.
    :param sha256: the pin, 64 hexadecimal digits; None leaves the verification to the caller.
    :param timeout: seconds without a byte after which an attempt is given up.
    :param retries: attempts after the first one.
    :param setting: what a person sets the URL by, for the remedies.
    :param max_bytes: what the file has, where that is known; a larger one is refused as soon as that shows.
    :param partial: the name in ``directory`` of the temporary file, in a directory that nobody else may write. What it
        has from an earlier call is not fetched again, and it stays if the connection fails. It needs a pin.
    :raises SparkforgeError: for every failure, with the URL in its details.
    """
    pin = None if sha256 is None else _checked_pin(url, sha256)
    try:
        if partial:
            path = os.path.join(directory, partial)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        else:
            descriptor, path = tempfile.mkstemp(prefix=".fetch-", dir=directory)
    except OSError as error:
        raise SparkforgeError(
            f"A download cannot be stored in {directory}: {error.strerror}.",
            "Make sure that the directory exists, is writable and has free space.",
        ) from error
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            sink = _Sink(stream, SIZE_LIMIT if max_bytes is None else max_bytes, setting, directory, pin is not None)
            sink.take_over()
            resumed = sink.sha256.hexdigest() != pin and _receive(url, sink, timeout, retries)
            if pin is not None and sink.sha256.hexdigest() != pin and resumed:
                # The server changed the file between two attempts: only a whole download tells.
                sink.restart()
                _receive(url, sink, timeout, 0)
            _verify(url, sink, pin)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        disk.remove(path)
        what = f"The download of {redact(url)} cannot be written to {directory}"
        raise http_errors.not_written(what, directory, error) from error
    except BaseException as error:
        if not partial or not is_transient(error):
            disk.remove(path)
        raise
    return path


def is_transient(error: BaseException) -> bool:
    """Tell whether a download failed at the network, after every attempt: later it may succeed."""
    return isinstance(error, UnreachableError) or (isinstance(error, SparkforgeError) and "attempts" in error.details)


def fetch_bytes(
    url: str,
    *,
    limit: int = DOCUMENT_LIMIT,
    timeout: float = 60.0,
    retries: int = 3,
    html: bool = False,
) -> bytes:
    """Download a small document (a manifest, a key, an index) and return its bytes.

    :param limit: bytes; a larger document is refused, since this one is in memory.
    :param html: True where the document is meant to be HTML.
    :raises SparkforgeError: for every failure, with the URL in its details.
    """
    buffer = io.BytesIO()
    sink = _Sink(buffer, limit)
    _receive(url, sink, timeout, retries)
    if not html:
        _verify(url, sink, None)
    return buffer.getvalue()


def fetch_page(url: str, accept: str, setting: str) -> tuple[bytes, str]:
    """Download a page and return its bytes, and its URL after redirections, which its links start from.

    :param accept: the header of that name.
    :raises SparkforgeError: for every failure, with the URL in its details.
    """
    buffer = io.BytesIO()
    sink = _Sink(buffer, PAGE_LIMIT, setting, accept=accept)
    _receive(url, sink, 60.0, 3)
    return buffer.getvalue(), sink.url


def _checked_pin(url: str, sha256: str) -> str:
    pin = sha256.strip().lower()
    if not re.fullmatch(r"[0-9a-f]{64}", pin):
        raise SparkforgeError(
            f"The pin of {redact(url)} is {sha256!r}, which is not a sha256 of 64 hexadecimal digits.",
            "Correct the pin in the stack or its lock.",
        )
    return pin


def _verify(url: str, sink: _Sink, pin: str | None) -> None:
    digest = sink.sha256.hexdigest()
    if pin is not None and digest == pin:
        return
    if is_html(sink.head):
        raise SparkforgeError(
            f"{redact(url)} is an HTML page, not the requested file.",
            "A proxy, a login page or a wrong mirror answered: open the URL in a browser, then correct "
            f"{sink.setting} or sparkforge_proxies.",
        )
    if pin is not None:
        raise SparkforgeError(
            f"The sha256 of {redact(url)} is {digest}, expected {pin}.",
            "Do not use the file: the mirror or a proxy changed it, or the pin belongs to another version. "
            "Compare the pin with the vendor's manifest and correct the stack or the mirror.",
            actual=digest,
        )


def _receive(url: str, sink: _Sink, timeout: float, retries: int) -> bool:
    """Fill ``sink`` and tell whether more than one answer of the server went into it."""
    parts = _parts(url)
    if parts is not None and parts.scheme == "file":
        _read_local(url, urllib.request.url2pathname(parts.path), sink)
        return False
    if parts is None:
        raise SparkforgeError(
            f"{redact(url)!r} is not a URL that can be fetched.", "Give an http://, https:// or file:// URL."
        )
    validator: str | None = None
    resumed = False
    attempt, most = 0, sink.size
    while True:
        if sink.size and validator is None and not sink.pinned:
            # Without an ETag or a date two answers cannot be told to be of the same file.
            sink.restart()
        try:
            appended, validator = _attempt(url, sink, validator, timeout)
        except http_errors.TransientError as error:
            if sink.size >= most + BLOCK:
                # A connection that breaks now and then brings a large file too.
                attempt, most = 0, sink.size
            if attempt == retries:
                error.final.details.setdefault("attempts", attempt + 1)
                raise error.final from error
            validator = error.validator or validator
        else:
            return resumed or appended
        resumed = resumed or sink.size > 0
        time.sleep(min(2.0**attempt, 8.0))
        attempt += 1


def _attempt(url: str, sink: _Sink, validator: str | None, timeout: float) -> tuple[bool, str | None]:
    """Ask once; append to what ``sink`` has where the server agrees to go on, else begin again."""
    headers = {"Accept-Encoding": "identity", "Accept": sink.accept}
    if sink.size:
        headers["Range"] = f"bytes={sink.size}-"
        if validator is not None:
            headers["If-Range"] = validator
    pace = _Pace(url)
    try:
        sink.url, response = pace.within(lambda: _answer(url, headers, timeout))
    except SparkforgeError:
        raise
    except Exception as error:
        if isinstance(error, urllib.error.HTTPError) and error.code == 416:
            sink.restart()
        raise http_errors.explained(url, error, timeout, sink.setting) from error
    with response:
        appended = _goes_on(response, sink)
        if response.status == 206 and not appended:
            sink.restart()
            raise http_errors.TransientError(
                SparkforgeError(
                    f"{redact(url)} returned a different part of the file than requested.",
                    "Check the server and the proxy, then run again.",
                )
            )
        if not appended and sink.size:
            sink.restart()
        length = response.headers.get("Content-Length", "")
        expected = sink.size + int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None
        if expected is not None and expected > sink.limit:
            raise http_errors.too_large(url, sink.limit, expected)
        if expected is not None and sink.directory:
            disk.check_space(sink.directory, expected - sink.size, redact(url))
        etag = response.headers.get("ETag")
        # A weak ETag (W/...) must not be used with If-Range (RFC 9110, 13.1.5).
        strong = etag if etag is not None and not etag.startswith("W/") else response.headers.get("Last-Modified")
        try:
            # Not read(), which waits until the block is full.
            for block in iter(lambda: response.read1(BLOCK), b""):
                sink.write(block)
                pace.check(len(block))
                if sink.size > sink.limit:
                    raise http_errors.too_large(url, sink.limit, sink.size)
        except (http.client.HTTPException, OSError) as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
                raise
            raise http_errors.cut_off(url, sink.size, expected, strong, str(error) or type(error).__name__) from error
        if expected is not None and sink.size != expected:
            raise http_errors.cut_off(url, sink.size, expected, strong, "the server closed the connection")
    return appended, strong


def _answer(url: str, headers: t.Mapping[str, str], timeout: float) -> tuple[str, t.Any]:
    """Ask for ``url`` and go where it leads; return where that was, with the answer.

    Each hop is its own request: what was meant for one server, such as root's netrc, is not told to the next.
    """
    # It provides a third of what a module call imports, and most calls fetch nothing.
    from ansible.module_utils.urls import open_url

    asked = url
    for _hop in range(HOPS):
        try:
            return asked, open_url(
                asked, headers=dict(headers), timeout=timeout, decompress=False, http_agent="sparkforge.dgx_spark",
                # At once: what answers a challenge is the process's, and downloads run side by side.
                follow_redirects="none", force_basic_auth=True,
            )  # fmt: skip
        except urllib.error.HTTPError as error:
            place = error.headers.get("Location")
            if error.code not in REDIRECTIONS or not place:
                raise
            error.close()
            asked = _redirected(url, asked, place)
    raise SparkforgeError(
        f"{redact(url)} redirects {HOPS} times, last to {redact(asked)}.",
        "Correct the mirror's redirection, or use the final URL.",
    )


def _redirected(url: str, asked: str, place: str) -> str:
    """Return the URL that ``asked``, one of the hops from ``url``, leads to.

    :raises SparkforgeError: if it is none, or leaves TLS.
    """
    with contextlib.suppress(ValueError):
        # As urllib.request has it: some servers send spaces and umlauts.
        place = urllib.parse.urljoin(asked, urllib.parse.quote(place, encoding="iso-8859-1", safe=string.punctuation))
    parts, before = _parts(place), urllib.parse.urlsplit(asked)
    if parts is None or parts.scheme not in ("http", "https"):
        raise SparkforgeError(
            f"{redact(url)} redirects to {redact(place)!r}, which is not a URL that can be fetched.",
            "Correct the mirror's redirection, or use the final URL.",
        )
    if before.scheme == "https" and parts.scheme != "https":
        raise SparkforgeError(
            f"{redact(url)} redirects to {redact(place)}, which is not protected by TLS.",
            "Correct the mirror's redirection, or use a URL that stays on https.",
        )
    if (before.scheme, before.netloc.rpartition("@")[2]) == (parts.scheme, parts.netloc):
        parts = parts._replace(netloc=before.netloc)
    return parts.geturl()


def _parts(url: str) -> urllib.parse.SplitResult | None:
    """Return the parts of a URL; None for one that cannot be fetched."""
    try:
        parts = urllib.parse.urlsplit(url)
        sound = parts.scheme == "file" or (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:  # an address or a port that is none
        return None
    return parts if sound and not re.search(r"[\x00-\x1f\x7f]", url) and " " not in parts.netloc else None


def _goes_on(response: t.Any, sink: _Sink) -> bool:
    if not sink.size or response.status != 206:
        return False
    begins = re.match(r"bytes ([0-9]{1,18})-", response.headers.get("Content-Range", ""))
    return begins is not None and int(begins.group(1)) == sink.size


def _read_local(url: str, path: str, sink: _Sink) -> None:
    try:
        with open(path, "rb") as stream:
            for block in iter(lambda: stream.read(BLOCK), b""):
                sink.write(block)
                if sink.size > sink.limit:
                    raise http_errors.too_large(url, sink.limit, sink.size)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is None:
            raise
        raise SparkforgeError(
            f"{redact(url)} cannot be read: {getattr(error, 'strerror', error)}.",
            "Copy the file there, or correct the URL; it is a path on the managed host.",
        ) from error
