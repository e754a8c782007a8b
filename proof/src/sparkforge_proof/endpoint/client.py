"""An HTTP client for OpenAI-compatible servers that turns every failure into an error with cause and remedy."""

from __future__ import annotations

import http.client
import json
import socket
import typing as t
import urllib.error
import urllib.parse
import urllib.request

from .._shared.module_utils._core import sanitize
from .._shared.module_utils._core.deadline import within
from .._shared.module_utils._core.errors import SparkforgeError

#: The maximum size of an answer in bytes. The largest expected one, 0.9 MB, has the log-probabilities of 8,192 tokens.
LONGEST = 4 * 1024 * 1024
OTHER_KERNELS = "Try vLLM with --enforce-eager, or another version of the engine; its log may name the kernel."
#: The maximum number of characters of a server's message that an error quotes.
QUOTED = 300


class Declined(SparkforgeError):
    """The server refused a request (HTTP 400, 404, 405, 422, 501)."""


class NotNumbers(SparkforgeError):
    """The server computed NaN or infinities, which its answer cannot hold (vLLM: HTTP 400)."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, because urllib would send the key to the new address."""

    def redirect_request(self, *_: t.Any, **__: t.Any) -> None:
        return None


class Endpoint:
    """An OpenAI-compatible server.

    :param url: the server's URL, with or without ``/v1``.
    :param key: the bearer token for requests; no message contains it.
    :param timeout: the time limit for an answer, in seconds.
    """

    def __init__(self, url: str, key: str = "", timeout: float = 120.0) -> None:
        split = urllib.parse.urlsplit(url)
        try:
            port = split.port
        except ValueError:
            port = -1
        if split.scheme not in ("http", "https") or not split.hostname or port == -1 or split.query or split.fragment:
            raise SparkforgeError(
                # The user name and password stay out of the message.
                f"{url.rpartition('@')[2]!r} is not the URL of a server.",
                "Write it as http://127.0.0.1:8000.",
            )
        if split.username or split.password:
            raise SparkforgeError(
                "The URL has a user name or a password.", "Put the key into a file and use --key-file."
            )
        self.base = f"{split.scheme}://{split.netloc}{split.path.rstrip('/').removesuffix('/v1')}"
        self.timeout = timeout
        self._key = key
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)

    def get(self, path: str) -> t.Any:
        """Send a GET request and return the parsed JSON."""
        return self._json(path, self._request(path, None))

    def post(self, path: str, body: t.Mapping[str, t.Any]) -> t.Any:
        """Send a POST request and return the parsed JSON."""
        return self._json(path, self._request(path, body))

    def stream(self, path: str, body: t.Mapping[str, t.Any]) -> list[t.Any]:
        """Return the events of a streamed answer, up to its ``[DONE]``."""
        text = self._text(path, self._request(path, {**body, "stream": True}))
        events, done = [], False
        for line in text.splitlines():
            if not line.strip() or line.startswith((":", "event:", "id:", "retry:")):
                continue
            if not line.startswith("data:"):
                raise self._garbage(path, line)
            data = line[len("data:") :].strip()
            if data == "[DONE]":
                done = True
                continue
            events.append(self._json(path, data.encode()))
        if not done:
            raise SparkforgeError(
                f"{self.base}{path} ended its stream without [DONE].", "Find the reason in the server's log."
            )
        return events

    def _request(self, path: str, body: t.Mapping[str, t.Any] | None) -> bytes:
        headers = {"Accept": "application/json", "User-Agent": "sparkforge-proof"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        url = self.base + path
        try:
            request = urllib.request.Request(url, data, headers)  # noqa: S310 - http or https, see __init__
        except ValueError as error:
            raise SparkforgeError(f"{url} cannot be requested: {error}.", "Correct the URL.") from None
        try:
            # The time limit includes connecting, the headers, the body and the trailers.
            return within(self.timeout, lambda: self._exchange(url, request))
        except TimeoutError:
            raise self._slow(url) from None

    def _exchange(self, url: str, request: urllib.request.Request) -> bytes:
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                return self._read(url, answer)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(url, error.code, self._message(error)) from None
        except (socket.timeout, TimeoutError):
            raise self._slow(url) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, (socket.timeout, TimeoutError)):
                raise self._slow(url) from None
            raise SparkforgeError(
                f"{url} cannot be reached: {error.reason}.", "Start the server, or correct the URL."
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SparkforgeError(
                f"{url} broke off its answer: {self._masked(str(error) or type(error).__name__)}.",
                "Find the reason in the server's log.",
            ) from None

    def _read(self, url: str, answer: t.Any) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := answer.read1(1 << 16):
            parts.append(part)
            size += len(part)
            if size > LONGEST:
                raise SparkforgeError(
                    f"{url} answered with more than {LONGEST >> 20} MiB.",
                    "Check the URL: a model server's answers are shorter.",
                )
        if getattr(answer, "length", None):
            raise SparkforgeError(
                f"{url} broke off its answer after {size} bytes, {answer.length} before its end.",
                "Find the reason in the server's log; a proxy in front of it may have a limit.",
            )
        return b"".join(parts)

    def _slow(self, url: str) -> SparkforgeError:
        return SparkforgeError(
            f"{url} did not answer within {self.timeout:g} s.",
            "Wait until the server has loaded its model and is idle, or raise --timeout.",
        )

    def _refusal(self, url: str, code: int, message: str) -> SparkforgeError:
        quoted = f": {message}" if message else ""
        if code in (401, 403):
            sent = "rejects the key" if self._key else "needs a key"
            return SparkforgeError(
                f"{url} {sent} (HTTP {code}).", "Put the server's key into a file, and use --key-file FILE."
            )
        if 300 <= code < 400:
            return SparkforgeError(
                f"{url} redirects to another place (HTTP {code}).", "Use the URL of the server itself."
            )
        if "not JSON compliant" in message:
            return NotNumbers(f"{url} returns values that are not numbers (HTTP {code}){quoted}.", OTHER_KERNELS)
        if code in (400, 404, 405, 422, 501):
            return Declined(
                f"{url} refused the request (HTTP {code}){quoted}.", "Use an OpenAI-compatible server for completions."
            )
        return SparkforgeError(f"{url} failed (HTTP {code}){quoted}.", "Find the cause in the server's log.")

    def _message(self, error: urllib.error.HTTPError) -> str:
        try:
            text = error.read(1 << 16).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return ""
        try:
            body = json.loads(text)
            inner = body.get("error", body) if isinstance(body, dict) else body
            text = str(inner.get("message", inner) if isinstance(inner, dict) else inner)
        except (ValueError, RecursionError):
            pass
        return self._masked(" ".join(text.split()))[:QUOTED].rstrip(".")

    def _masked(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _text(self, path: str, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise self._garbage(path, repr(data[:40])) from None

    def _json(self, path: str, data: bytes) -> t.Any:
        text = self._text(path, data)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            if text.startswith(("data:", "event:")):
                raise SparkforgeError(
                    f"{self.base}{path} streams its answer although the request does not ask for it.",
                    "Use a server that can answer without streaming; a proxy in front of it may stream everything.",
                ) from None
            raise self._garbage(path, text) from None

    def _garbage(self, path: str, text: str) -> SparkforgeError:
        beginning = self._masked(sanitize.line(text[:60]))
        return SparkforgeError(
            f"{self.base}{path} returned an answer that is not JSON: {beginning!r}.",
            "Check which program listens there: it may not be OpenAI-compatible, or a proxy may answer instead.",
        )
