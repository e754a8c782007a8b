"""Downloads that result in a verified file, or in one error with cause and remedy.

Proxies and the CA come from the usual environment variables: ``http_proxy``, ``https_proxy``, ``no_proxy``,
``SSL_CERT_FILE``. TLS certificates are always verified; there is no option to turn that off.
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

from .._core import deadline, directories, disk
from .._core.errors import SparkforgeError, UnreachableError
from .._core.redact import redact
from . import http_errors

#: Bytes per read: large enough to make Python's overhead negligible.
BLOCK = 1 << 20

#: HTTP status codes that redirect, and the maximum number of redirections.
REDIRECTIONS = frozenset({301, 302, 303, 307, 308})
HOPS = 10

#: The size limit in bytes for a download of unknown size; NVIDIA's largest archives have about 5 GB.
SIZE_LIMIT = 16 << 30
#: Size limits in bytes for a document and for an index page, which are held in memory.
DOCUMENT_LIMIT, PAGE_LIMIT = 16 << 20, 64 << 20

#: Seconds before the minimum rate applies, and the minimum rate in bytes per second after that.
GRACE = 600.0
RATE = 16384

_HTML = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)


@dataclasses.dataclass
class _Sink:
    """A seekable file that tracks the size and the sha256 of the data written to it.

    :ivar directory: the directory of the file; empty if it is in memory.
    :ivar pinned: whether the sha256 is known, so parts from two responses need no other proof of identity.
    :ivar url: the URL of the last response, after redirections.
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
        """Read the data that an earlier run left in the stream, and continue after it."""
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
    """The rate of a response. The timeout covers only silence, so an occasional byte could make a host wait forever."""

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
        """Return the result of ``ask``, or stop waiting when the time is up, because headers may trickle in too."""
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
    """Tell whether ``head``, the first bytes of a body, starts an HTML page (a login or an error page)."""
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

    The file is complete, verified and synced to disk; the caller moves or removes it. A failure leaves nothing in
    ``directory`` except ``partial``. An interrupted download is resumed with a Range request.

    :param url: an ``http://``, ``https://`` or ``file://`` URL.
    :param directory: an existing directory, on the file system of the file's final path.
    :param sha256: the pin, 64 hexadecimal digits; None leaves the verification to the caller.
    :param timeout: seconds without data before an attempt is abandoned.
    :param retries: attempts after the first.
    :param setting: the user's setting that contains the URL, for the remedies.
    :param max_bytes: the size of the file, if known; a larger file is refused as soon as it exceeds that.
    :param partial: the name for the temporary file, in a directory that no other account can write to. Data from an
        earlier call is not downloaded again, and the file is kept if the connection fails. It requires a pin.
    :raises SparkforgeError: for every failure, with the URL in its details.
    """
    pin = None if sha256 is None else _check_pin(url, sha256)
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
                # The file may have changed on the server between two attempts, so download it again in one piece.
                sink.restart()
                _receive(url, sink, timeout, 0)
            _verify(url, sink, pin)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        disk.remove(path)
        problem = f"The download of {redact(url)} cannot be written to {directory}"
        raise http_errors.not_written(problem, directory, error) from error
    except BaseException as error:
        if not partial or not is_transient(error):
            disk.remove(path)
        raise
    return path


def is_transient(error: BaseException) -> bool:
    """Tell whether a download failed because of the network, after all attempts; it may succeed later."""
    return isinstance(error, UnreachableError) or (isinstance(error, SparkforgeError) and "attempts" in error.details)


def fetch_bytes(
    url: str, *, limit: int = DOCUMENT_LIMIT, timeout: float = 60.0, retries: int = 3, html: bool = False
) -> bytes:
    """Download a small document (a manifest, a key, an index) and return its bytes.

    :param limit: the maximum size in bytes, because the document is held in memory.
    :param html: True if the document is supposed to be HTML.
    :raises SparkforgeError: for every failure, with the URL in its details.
    """
    buffer = io.BytesIO()
    sink = _Sink(buffer, limit)
    _receive(url, sink, timeout, retries)
    if not html:
        _verify(url, sink, None)
    return buffer.getvalue()


def fetch_page(url: str, accept: str, setting: str) -> tuple[bytes, str]:
    """Download a page and return its bytes and its URL after redirections, the base for its links.

    :param accept: the Accept header.
    :raises SparkforgeError: for every failure, with the URL in its details.
    """
    buffer = io.BytesIO()
    sink = _Sink(buffer, PAGE_LIMIT, setting, accept=accept)
    _receive(url, sink, 60.0, 3)
    return buffer.getvalue(), sink.url


def _check_pin(url: str, sha256: str) -> str:
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
    """Fill ``sink`` and tell whether it contains data from more than one response."""
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
            # Without an ETag or a date, there is no telling whether two responses belong to the same file.
            sink.restart()
        try:
            appended, validator = _attempt(url, sink, validator, timeout)
        except http_errors.TransientError as error:
            if sink.size >= most + BLOCK:
                # Progress resets the attempts, so that a large file arrives despite occasional disconnects.
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
    """Send one request; append to ``sink`` if the server resumes there, otherwise start over."""
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
        raise http_errors.user_error(url, error, timeout, sink.setting) from error
    with response:
        part = re.match(r"bytes ([0-9]{1,18})-", response.headers.get("Content-Range", ""))
        appended = bool(sink.size and response.status == 206 and part and int(part[1]) == sink.size)
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
            directories.check_space(sink.directory, expected - sink.size, redact(url))
        etag = response.headers.get("ETag")
        # A weak ETag (W/...) must not be used with If-Range (RFC 9110, 13.1.5).
        strong = etag if etag is not None and not etag.startswith("W/") else response.headers.get("Last-Modified")
        try:
            # Use read1, because read() waits until the block is full.
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
    """Request ``url``, follow its redirections, and return the final URL with the response.

    Each hop is a separate request, so credentials for one server, such as those in root's netrc, do not reach the next.
    """
    # This import accounts for a third of a module call's imports, and most calls download nothing.
    from ansible.module_utils.urls import open_url

    hop = url
    for _hop in range(HOPS):
        try:
            return hop, open_url(
                hop, headers=dict(headers), timeout=timeout, decompress=False, http_agent="sparkforge.dgx_spark",
                # Send credentials at once, because the challenge handler is process-wide and downloads run in parallel.
                follow_redirects="none", force_basic_auth=True,
            )  # fmt: skip
        except urllib.error.HTTPError as error:
            target = error.headers.get("Location")
            if error.code not in REDIRECTIONS or not target:
                raise
            error.close()
            hop = _redirect_target(url, hop, target)
    raise SparkforgeError(
        f"{redact(url)} redirects {HOPS} times, last to {redact(hop)}.",
        "Correct the mirror's redirection, or use the final URL.",
    )


def _redirect_target(url: str, asked: str, target: str) -> str:
    """Return the redirection target of ``asked``, one of the hops from ``url``."""
    with contextlib.suppress(ValueError):
        # Quote like urllib.request: some servers send spaces and umlauts.
        target = urllib.parse.urljoin(asked, urllib.parse.quote(target, encoding="iso-8859-1", safe=string.punctuation))
    parts, before = _parts(target), urllib.parse.urlsplit(asked)
    if parts is None or parts.scheme not in ("http", "https"):
        raise SparkforgeError(
            f"{redact(url)} redirects to {redact(target)!r}, which is not a URL that can be fetched.",
            "Correct the mirror's redirection, or use the final URL.",
        )
    if before.scheme == "https" and parts.scheme != "https":
        raise SparkforgeError(
            f"{redact(url)} redirects to {redact(target)}, which is not protected by TLS.",
            "Correct the mirror's redirection, or use a URL that stays on https.",
        )
    if (before.scheme, before.netloc.rpartition("@")[2]) == (parts.scheme, parts.netloc):
        parts = parts._replace(netloc=before.netloc)
    return parts.geturl()


def _parts(url: str) -> urllib.parse.SplitResult | None:
    """Return the parts of a URL, or None if it cannot be fetched."""
    try:
        parts = urllib.parse.urlsplit(url)
        is_valid = parts.scheme == "file" or (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:  # an invalid address or port
        return None
    return parts if is_valid and not re.search(r"[\x00-\x1f\x7f]", url) and " " not in parts.netloc else None


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
