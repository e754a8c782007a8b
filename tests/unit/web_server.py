"""A web server on 127.0.0.1 for the tests: it remembers what it was asked, and can misbehave."""

import contextlib
import http.server
import re
import ssl
import subprocess
import threading
import typing as t
from pathlib import Path


def make_certificate(folder: Path) -> tuple[str, str]:
    """Make a certificate of a CA that nobody knows; return a PEM file of it with its key, and one of it alone."""
    both, alone = folder / "both.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", both, "-out", alone],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_bytes(both.read_bytes() + alone.read_bytes())
    return str(both), str(alone)


class Server:
    """Serves ``files`` (path -> bytes). ``cuts``: bytes after which an answer to a path breaks
    off, one entry an answer; ``statuses`` answers a path with those states first; ``authorization`` is
    the header without which all is refused with 401. A path that ends in a slash is HTML. It speaks TLS with
    ``certificate``, a PEM file with certificate and key."""

    def __init__(self, certificate: str | None = None) -> None:
        self.files: dict[str, bytes] = {}
        self.cuts: dict[str, list[int]] = {}
        self.statuses: dict[str, list[int]] = {}
        self.redirects: dict[str, str] = {}
        #: What an answer of ``statuses`` names as another place.
        self.location = ""
        self.etags = True
        self.etag = '"one"'
        #: The headers If-Range that it got.
        self.conditions: list[str | None] = []
        #: What it says of the range that it sends: so many bytes further on.
        self.misplaced = 0
        #: It says how long a body is.
        self.lengths = True
        #: "head" or "body": a byte of it now and then, for some seconds: whoever waits for its end sees one.
        self.drips = ""
        self.authorization: str | None = None
        self.unmodified = 0
        self.requests: list[tuple[str, str | None]] = []
        #: Bytes of bodies that it sent, by path.
        self.sent: dict[str, int] = {}
        #: The headers Authorization that it got.
        self.credentials: list[str] = []
        self.closed = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, format: str, *args: t.Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.url = self.url.replace("http:", "https:")
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = handler.path
        wanted_range = handler.headers.get("Range")
        self.requests.append((path, wanted_range))
        self.credentials += handler.headers.get_all("Authorization") or []
        if path in self.redirects:
            handler.send_response(302)
            handler.send_header("Location", self.redirects[path])
            handler.end_headers()
            return
        if self.authorization and handler.headers.get("Authorization") != self.authorization:
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", 'Basic realm="test"')
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        if self.statuses.get(path):
            handler.send_response(self.statuses[path].pop(0))
            if self.location:
                handler.send_header("Location", self.location)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        if path not in self.files:
            handler.send_error(404)
            return
        if self.etags and handler.headers.get("If-None-Match") == self.etag:
            self.unmodified += 1
            handler.send_response(304)
            handler.end_headers()
            return
        if self.drips:
            self.drip(handler)
            return
        body = self.files[path]
        start = 0
        match = re.fullmatch(r"bytes=(\d+)-", wanted_range or "")
        self.conditions.append(handler.headers.get("If-Range"))
        if match and self.etags and handler.headers.get("If-Range") in (None, self.etag):
            start = int(match.group(1))
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start + self.misplaced}-{len(body) - 1}/{len(body)}")
        else:
            handler.send_response(200)
        if path.endswith("/"):
            handler.send_header("Content-Type", "text/html")
        elif self.etags:
            handler.send_header("ETag", self.etag)
        if self.lengths:
            handler.send_header("Content-Length", str(len(body) - start))
        handler.end_headers()
        cuts = self.cuts.get(path)
        end = len(body) if not cuts else min(len(body), start + cuts.pop(0))
        with memoryview(body) as view:
            handler.wfile.write(view[start:end])
        self.sent[path] = self.sent.get(path, 0) + end - start
        handler.close_connection = True

    def drip(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n" + (b"\r\n" if self.drips == "body" else b"X: "))
        with contextlib.suppress(OSError):
            for _number in range(500):
                if self.closed.wait(0.01):
                    break
                handler.wfile.write(b"x")
