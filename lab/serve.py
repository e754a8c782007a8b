# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Serve a mirror over HTTPS and HTTP: `python -m lab.serve --root DIR --bind ADDRESS --port PORT …`.

It serves static files with Range, If-Range, conditional requests and keep-alive, and git repositories at /git/
(lab.repositories). :class:`MirrorServer` is the same server for tests, on 127.0.0.1, and can be told to misbehave.
"""

from __future__ import annotations

import argparse
import datetime
import fcntl
import fnmatch
import io
import ipaddress
import logging
import os
import re
import signal
import ssl
import sys
import threading
import time
import typing as t
import urllib.parse
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.host import LabError, fail
from lab.repositories import GitBackend

BLOCK = 1 << 18
LOG = logging.getLogger("lab.serve")
#: apt and pip keep a connection open between files; a host that disappears must not occupy a thread forever.
IDLE_SECONDS = 60
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".deb": "application/vnd.debian.binary-package",
    ".xz": "application/x-xz",
    ".whl": "application/zip",
    ".pub": "application/pgp-keys",
}


@dataclass(frozen=True)
class Certificate:
    """Paths of a server certificate, its key, and the CA that clients trust."""

    certificate: Path
    key: Path
    ca: Path


def make_certificate(directory: Path, names: t.Sequence[str]) -> Certificate:
    """Return a certificate for ``names`` (host names and addresses), creating it unless an existing one covers them.

    The CA remains the same as long as ``directory`` exists, so that hosts continue to trust it.
    """
    paths = Certificate(directory / "mirror.pem", directory / "mirror.key", directory / "ca.pem")
    ensure_certificate(paths, names)
    return paths


def ensure_certificate(paths: Certificate, names: t.Sequence[str]) -> None:
    """Create the CA and the certificate at ``paths`` if they are missing or do not cover ``names``."""
    ca_key_path = paths.ca.with_suffix(".key")
    if not (paths.ca.exists() and ca_key_path.exists()):
        _make_ca(paths.ca, ca_key_path)
    elif paths.certificate.exists() and paths.key.exists() and _covers(paths, names):
        return
    ca = x509.load_pem_x509_certificate(paths.ca.read_bytes())
    ca_key = t.cast(
        ec.EllipticCurvePrivateKey,
        serialization.load_pem_private_key(ca_key_path.read_bytes(), password=None),
    )
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(names[0], ca.subject, key.public_key(), days=800)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_key_usage(digital_signature=True), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
    )
    _write_private(paths.key, key)
    certificate = builder.sign(ca_key, hashes.SHA256())
    _write(paths.certificate, certificate.public_bytes(serialization.Encoding.PEM))


def _make_ca(path: Path, key_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"sparkforge lab CA {os.urandom(4).hex()}")])
    certificate = (
        _builder(name, name, key.public_key(), days=3650)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(key_cert_sign=True, crl_sign=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_private(key_path, key)
    _write(path, certificate.public_bytes(serialization.Encoding.PEM))


def _builder(
    subject: x509.Name | str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    if isinstance(subject, str):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject[:64])])
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # Make it valid from yesterday, because clocks differ between hosts.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _key_usage(**allowed: bool) -> x509.KeyUsage:
    uses = (
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement "
        "key_cert_sign crl_sign encipher_only decipher_only"
    )
    return x509.KeyUsage(**{use: allowed.get(use, False) for use in uses.split()})


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _covers(paths: Certificate, names: t.Sequence[str]) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(paths.certificate.read_bytes())
        ca = x509.load_pem_x509_certificate(paths.ca.read_bytes())
        certificate.verify_directly_issued_by(ca)
        covered = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception:  # whatever is wrong with it, create a new one
        return False
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=7)
    return certificate.not_valid_after_utc > soon and all(_general_name(name) in covered for name in names)


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(text)


def _write(path: Path, data: bytes) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    partial.replace(path)


@dataclass
class Fault:
    """The misbehaviour of a path.

    :param status: answer with this status instead of the file.
    :param body: send these bytes instead of the file's.
    :param headers: headers of that answer, such as a Location.
    :param corrupt: flip a bit in the file's byte at this offset, or in its last byte.
    :param truncate: announce the complete file, but close the connection after this many bytes.
    :param delay: seconds to wait before the answer.
    :param rate: bytes per second.
    :param ignore_range: send the complete file, whatever range is requested.
    :param times: the number of requests that are answered this way; None means all.
    """

    status: int | None = None
    body: bytes | None = None
    headers: t.Mapping[str, str] = field(default_factory=dict)
    corrupt: int | None = None
    truncate: int | None = None
    delay: float = 0.0
    rate: float | None = None
    ignore_range: bool = False
    times: int | None = None


@dataclass(frozen=True)
class Request:
    """An answered request. ``range`` is the header's value or ''."""

    method: str
    path: str
    range: str
    status: int
    headers: t.Mapping[str, str] = field(default_factory=dict, compare=False)


class _Server(ThreadingHTTPServer):
    """A listening socket. TLS handshakes run in the connection's thread, not in the accept loop."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, address: tuple[str, int], root: Path, context: ssl.SSLContext | None, git: Path | None = None
    ) -> None:
        self.root = root.resolve()
        self.git = GitBackend(git) if git else None
        self.faults: dict[str, Fault] = {}
        self.requests: list[Request] = []
        self.lock = threading.Lock()
        self.remember = False
        self._context = context
        super().__init__(address, _Handler)

    def finish_request(self, request: t.Any, client_address: t.Any) -> None:
        request.settimeout(IDLE_SECONDS)
        if self._context:
            request = self._context.wrap_socket(request, server_side=True)
        try:
            super().finish_request(request, client_address)
        finally:
            if self._context:
                # wrap_socket detached the socket that the server closes by itself.
                request.close()

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            LOG.info("%s: %s", client_address[0], error)
        else:
            LOG.exception("%s", client_address[0])

    def take_fault(self, path: str) -> Fault:
        """Return the misbehaviour for ``path`` this time; a default Fault means a normal answer."""
        with self.lock:
            for pattern, fault in self.faults.items():
                if fnmatch.fnmatch(path, pattern) and fault.times != 0:
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return Fault()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sparkforge-lab"
    sys_version = ""
    # Headers and a small body are separate packets; the second must not wait for the client's acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer(send_body=True)

    def do_POST(self) -> None:
        self._answer(send_body=True)

    def do_HEAD(self) -> None:
        self._answer(send_body=False)

    def log_message(self, format: str, *arguments: t.Any) -> None:
        LOG.info("%s " + format, self.client_address[0], *arguments)

    def _answer(self, *, send_body: bool) -> None:
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        # Read the body before answering, because unread bytes would be parsed as the next request.
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.take_fault(path)
        if fault.delay:
            time.sleep(fault.delay)
        if fault.status is not None:
            self._send_bytes(fault.status, fault.body or b"", send_body, fault.headers)
            return
        if fault.body is not None:
            self._send_bytes(200, fault.body, send_body)
            return
        git, inside = self.server.git, path.removeprefix("/git")
        if git and path.startswith("/git/") and git.handles(self.command, inside, url.query):
            with (answer := git.answer(self.command, inside, url.query, self.headers, body)).body as stream:
                self._start(answer.status, {**answer.headers, "Content-Length": str(answer.size)})
                self._send_part(stream, stream.tell(), stream.tell() + answer.size, fault)
            return
        file = self._find(path) if self.command != "POST" else None
        if file is None:
            self._send_bytes(404, b"not found\n", send_body)
            return
        with file.open("rb") as stream:
            self._send_file(file, stream, fault, send_body)

    def _find(self, path: str) -> Path | None:
        """Return the file for ``path``, which must be inside the root and not hidden; for a directory, its index."""
        parts = path.split("/")
        # A flat repository's index contains ./NAME, and apt requests exactly that.
        if any(part.startswith(".") and part != "." for part in parts) or "\0" in path:
            return None
        root = self.server.root
        if self.server.git and path.startswith("/git/"):
            # Archives are next to the repositories, whose own files only git serves.
            if any(part.endswith(".git") for part in parts):
                return None
            root, path = self.server.git.directory, path.removeprefix("/git")
        file = root / path.lstrip("/")
        if path.endswith("/"):
            file = file / "index.html"
        file = file.resolve()
        if not file.is_relative_to(root) or not file.is_file():
            return None
        return file

    def _send_file(self, file: Path, stream: t.IO[bytes], fault: Fault, send_body: bool) -> None:
        state = os.fstat(stream.fileno())
        etag = f'"{state.st_mtime_ns:x}-{state.st_size:x}"'
        headers = {
            "Content-Type": CONTENT_TYPES.get(file.suffix, "application/octet-stream"),
            "Last-Modified": formatdate(state.st_mtime, usegmt=True),
            "ETag": etag,
            "Accept-Ranges": "bytes",
        }
        if self._unchanged(etag, state.st_mtime):
            self._start(HTTPStatus.NOT_MODIFIED, headers)
            return
        start, end, status = 0, state.st_size, HTTPStatus.OK
        span = None if fault.ignore_range else self._range(state.st_size, etag, headers["Last-Modified"])
        if span:
            start, end = span
            if start >= state.st_size:
                headers["Content-Range"] = f"bytes */{state.st_size}"
                headers["Content-Length"] = "0"
                self._start(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers)
                return
            status = HTTPStatus.PARTIAL_CONTENT
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{state.st_size}"
        headers["Content-Length"] = str(end - start)
        self._start(status, headers)
        if send_body:
            self._send_part(stream, start, end, fault)

    def _send_part(self, stream: t.IO[bytes], start: int, end: int, fault: Fault) -> None:
        if fault.truncate is not None and fault.truncate < end - start:
            end = start + fault.truncate
            self.close_connection = True
        # A socket's sendfile does not accept empty ranges.
        if start < end:
            self._copy(_corrupt(stream, fault.corrupt) if fault.corrupt is not None else stream, start, end, fault.rate)

    def _unchanged(self, etag: str, modified: float) -> bool:
        if "If-None-Match" in self.headers:
            return etag in self.headers["If-None-Match"]
        since = self.headers.get("If-Modified-Since")
        try:
            return since is not None and int(modified) <= parsedate_to_datetime(since).timestamp()
        except ValueError:
            return False

    def _range(self, size: int, etag: str, modified: str) -> tuple[int, int] | None:
        """Return the start and end of the single requested range; None means the complete file."""
        condition = self.headers.get("If-Range")
        if condition is not None and condition not in (etag, modified):
            return None
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "").strip())
        if not match or match.group(0) == "bytes=-":
            return None
        first, last = match.groups()
        if not first:
            return max(0, size - int(last)), size
        if last and int(last) < int(first):
            return None
        return int(first), min(size, int(last) + 1) if last else size

    def _copy(self, stream: t.IO[bytes], start: int, end: int, rate: float | None) -> None:
        if rate is None and not isinstance(self.connection, ssl.SSLSocket) and not isinstance(stream, io.BytesIO):
            self.wfile.flush()
            self.connection.sendfile(stream, start, end - start)
            return
        stream.seek(start)
        # Send the amount for a twentieth of a second at a time, so that the transfer is slow from the first byte.
        block = BLOCK if rate is None else max(1, int(rate / 20))
        while start < end:
            data = stream.read(min(block, end - start))
            if not data:
                break
            self.wfile.write(data)
            start += len(data)
            if rate is not None:
                time.sleep(len(data) / rate)

    def _send_bytes(
        self, status: int, body: bytes, send_body: bool, headers: t.Mapping[str, str] | None = None
    ) -> None:
        self._start(status, {"Content-Type": "text/html", "Content-Length": str(len(body)), **(headers or {})})
        if send_body:
            self.wfile.write(body)

    def _start(self, status: int, headers: t.Mapping[str, str]) -> None:
        if self.server.remember:
            asked = Request(self.command, self.path, self.headers.get("Range", ""), int(status), dict(self.headers))
            with self.server.lock:
                self.server.requests.append(asked)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


def _corrupt(stream: t.IO[bytes], position: int) -> t.IO[bytes]:
    stream.seek(0)
    content = bytearray(stream.read())
    if content:
        content[min(position, len(content) - 1)] ^= 1
    return io.BytesIO(content)


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


class MirrorServer:
    """A server for tests: ``with MirrorServer(root) as server: fetch(server.url + "/x")``.

    With a certificate it serves HTTPS, and clients must trust ``ca``. ``git`` is a directory of repositories, served at
    /git/. ``requests`` lists the answered requests; :meth:`fault` makes a path misbehave.
    """

    def __init__(
        self,
        root: Path,
        certificate: Certificate | None = None,
        *,
        bind: str = "127.0.0.1",
        port: int = 0,
        name: str | None = None,
        git: Path | None = None,
    ) -> None:
        context = tls_context(certificate.certificate, certificate.key) if certificate else None
        self.ca = certificate.ca if certificate else None
        self._server = _Server((bind, port), root, context, git)
        self._server.remember = True
        scheme = "https" if certificate else "http"
        self.port: int = self._server.server_address[1]
        self.url = f"{scheme}://{name or bind}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def requests(self) -> list[Request]:
        with self._server.lock:
            return list(self._server.requests)

    def fault(self, pattern: str, **how: t.Any) -> None:
        """Make paths that match ``pattern`` (a shell pattern) misbehave; see :class:`Fault` for ``how``."""
        with self._server.lock:
            self._server.faults[pattern] = Fault(**how)

    def mend(self) -> None:
        """Remove all faults and all recorded requests."""
        with self._server.lock:
            self._server.faults.clear()
            self._server.requests.clear()

    def __enter__(self) -> MirrorServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.serve", description="Serve a mirror.")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True, help="HTTPS port, or HTTP without --cert")
    parser.add_argument("--http-port", type=int, help="serve the same over plain HTTP on this port too")
    parser.add_argument("--cert", type=Path, help="certificate; it is made if it is missing and --ca is given")
    parser.add_argument("--key", type=Path)
    parser.add_argument("--ca", type=Path, help="certificate of the lab's CA, in the directory of its key")
    parser.add_argument("--name", action="append", default=[], help="further host name or address of the server")
    parser.add_argument("--git", type=Path, help="directory of bare git repositories, served at /git/<name>.git")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--pid-file", type=Path)
    arguments = parser.parse_args(argv)
    if arguments.cert and not arguments.key:
        parser.error("--cert needs --key")
    handler = logging.FileHandler(arguments.log) if arguments.log else logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        _serve(arguments)
    except (LabError, OSError) as error:
        return fail(
            error
            if isinstance(error, LabError)
            else LabError(f"The mirror cannot be served on {arguments.bind}:{arguments.port}: {error}.")
        )
    return 0


def _serve(arguments: argparse.Namespace) -> None:
    if not arguments.root.is_dir():
        raise LabError(f"{arguments.root} is not a directory. Build the mirror with `python -m lab.mirror`.")
    # Hold the lock until this process exits: another checkout's build removes trees that no server has open.
    fcntl.flock(os.open(arguments.root, os.O_RDONLY), fcntl.LOCK_SH)
    context = None
    if arguments.cert:
        if arguments.ca:
            names = [arguments.bind, *arguments.name]
            ensure_certificate(Certificate(arguments.cert, arguments.key, arguments.ca), names)
        context = tls_context(arguments.cert, arguments.key)
    servers = [_Server((arguments.bind, arguments.port), arguments.root, context, arguments.git)]
    if arguments.http_port:
        servers.append(_Server((arguments.bind, arguments.http_port), arguments.root, None, arguments.git))
    threads = [threading.Thread(target=server.serve_forever, daemon=True) for server in servers]
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    for thread in threads:
        thread.start()
    if arguments.pid_file:
        _write(arguments.pid_file, f"{os.getpid()}\n".encode())
    LOG.info("serving %s on %s:%s", arguments.root, arguments.bind, arguments.port)
    ended.wait()
    for server in servers:
        server.shutdown()
        server.server_close()
    if arguments.pid_file:
        arguments.pid_file.unlink(missing_ok=True)
    LOG.info("ended")


if __name__ == "__main__":
    sys.exit(main())
