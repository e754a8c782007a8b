"""A web server on 127.0.0.1 for the tests, which records requests and can misbehave."""

import contextlib
import http.server
import re
import ssl
import subprocess
import threading
import typing as t
from pathlib import Path


def make_certificate(folder: Path) -> tuple[str, str]:
    """Create a certificate from an unknown CA; return a PEM file with certificate and key, and one without the key."""
    with_key, certificate = folder / "both.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", with_key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    with_key.write_bytes(with_key.read_bytes() + certificate.read_bytes())
    return str(with_key), str(certificate)


def listen(answer, certificate, port=0) -> http.server.ThreadingHTTPServer:
    """Start a server on 127.0.0.1; it speaks TLS with ``certificate``, a PEM file with certificate and key."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        do_POST = do_GET

        def log_message(self, format: str, *args: t.Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


class Server:
    """Serves ``files`` (path -> bytes). ``cuts``: the numbers of bytes after which answers to a path break off, one per
    answer; ``statuses``: HTTP statuses of the first answers to a path; ``authorization``: the header without which
    every request gets 401. Paths that end in a slash are served as HTML."""

    def __init__(self, certificate: str | None = None) -> None:
        self.files: dict[str, bytes] = {}
        self.cuts: dict[str, list[int]] = {}
        self.statuses: dict[str, list[int]] = {}
        self.redirects: dict[str, str] = {}
        #: The Location header of answers in ``statuses``.
        self.location = ""
        self.etags = True
        self.etag = '"one"'
        #: The If-Range headers of requests.
        self.conditions: list[str | None] = []
        #: The number of bytes by which Content-Range is wrong.
        self.misplaced = 0
        #: Whether answers have a Content-Length.
        self.lengths = True
        #: "head" or "body": the server sends that part byte by byte for about five seconds, then closes the connection.
        self.drips = ""
        self.authorization: str | None = None
        self.requests: list[tuple[str, str | None]] = []
        #: The number of body bytes sent, by path.
        self.sent: dict[str, int] = {}
        #: The Authorization headers of requests.
        self.credentials: list[str] = []
        self.closed = threading.Event()
        self.server = listen(lambda handler: self.answer(handler), certificate)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = handler.path
        requested_range = handler.headers.get("Range")
        self.requests.append((path, requested_range))
        self.credentials += handler.headers.get_all("Authorization") or []
        if path in self.redirects:
            self.send_head(handler, 302, Location=self.redirects[path])
            return
        if self.authorization and handler.headers.get("Authorization") != self.authorization:
            self.send_head(handler, 401, **{"WWW-Authenticate": 'Basic realm="test"'})
            return
        if self.statuses.get(path):
            self.send_head(handler, self.statuses[path].pop(0), **{"Location": self.location} if self.location else {})
            return
        if path not in self.files:
            handler.send_error(404)
            return
        if self.etags and handler.headers.get("If-None-Match") == self.etag:
            self.send_head(handler, 304)
            return
        if self.drips:
            self.drip(handler)
            return
        body = self.files[path]
        start = 0
        match = re.fullmatch(r"bytes=(\d+)-", requested_range or "")
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

    def send_head(self, handler: http.server.BaseHTTPRequestHandler, status: int, **headers: str) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()

    def drip(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n" + (b"\r\n" if self.drips == "body" else b"X: "))
        with contextlib.suppress(OSError):
            for _number in range(500):
                if self.closed.wait(0.01):
                    break
                handler.wfile.write(b"x")
