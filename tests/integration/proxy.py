"""A corporate proxy on the containers' gateway: it requires a password and records its requests."""

import base64
import contextlib
import select
import socket
import socketserver
import threading
import typing as t
from collections.abc import Iterator
from urllib.parse import quote

from lab import bench as benches

USER = "spark"


class _Tunnel(socketserver.StreamRequestHandler):
    """Answer CONNECT like a corporate proxy: only for clients that send the user name and the password."""

    timeout = 30

    def handle(self) -> None:
        proxy = t.cast(Proxy, self.server)
        request = self.rfile.readline().decode().split()
        headers = {}
        while (line := self.rfile.readline().decode().strip()) and ":" in line:
            headers[line.split(":")[0].lower()] = line.split(":", 1)[1].strip()
        expected = "Basic " + base64.b64encode(f"{USER}:{proxy.password}".encode()).decode()
        proxy.asked.append((request[0], request[1], headers.get("proxy-authorization") == expected))
        if headers.get("proxy-authorization") != expected:
            # curl first asks without a password, and sends it only if told which scheme is required.
            self.wfile.write(
                b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="corporate"\r\n'
                b"Content-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        # The name by which containers know the mirror cannot be resolved here, so use the address.
        port = int(request[1].rsplit(":", 1)[1])
        with socket.create_connection((proxy.gateway, port), timeout=30) as upstream:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._copy(upstream)

    def _copy(self, upstream: socket.socket) -> None:
        pairs = {upstream: self.connection, self.connection: upstream}
        while True:
            for ready in select.select(list(pairs), [], [], 30)[0] or [None]:
                data = ready.recv(65536) if ready else b""
                if not data:
                    return
                pairs[ready].sendall(data)


class Proxy(socketserver.ThreadingTCPServer):
    """``asked`` has each request's method and target, and whether its password was correct."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, gateway: str, password: str) -> None:
        self.gateway = gateway
        self.password = password
        self.asked: list[tuple[str, str, bool]] = []
        super().__init__((gateway, 0), _Tunnel)

    @property
    def address(self) -> str:
        return f"{self.gateway}:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{USER}:{quote(self.password, safe='')}@{self.address}"


@contextlib.contextmanager
def running(password: str) -> Iterator[Proxy]:
    """Serve while the caller's block runs."""
    with Proxy(benches.bridge_address(), password) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
