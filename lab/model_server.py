# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for a model server: it accepts vLLM's command line and middleware, answers /health, returns its start
parameters at /, and returns at /can the actions that its unit permits.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import errno
import http.server
import importlib
import json
import mmap
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLONE_NEWUSER = 0x10000000


def unshare() -> None:
    """Create a user namespace, which gives access to much of the kernel."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "unshare")


def make_setuid() -> None:
    """Create a file that runs with its owner's rights."""
    path = Path.home() / "setuid"
    path.touch()
    path.chmod(0o4755)


def compile_code() -> None:
    """Act like a just-in-time compiler: write code into memory and into a file, and run it."""
    with mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as memory:
        memory.write(b"\xc3")
    script = Path.home() / "compiled"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    subprocess.run([script], check=True)


def probes(model: str) -> dict[str, Callable[[], Any]]:
    """Return the actions to try at /can, by name."""
    return {
        "read the model": lambda: [path.read_bytes() for path in Path(model).iterdir()],
        "write the model": lambda: Path(model, "new").touch(),
        "list homes": lambda: sorted(map(str, Path("/home").glob("*/*"))),
        "read shadow": lambda: Path("/etc/shadow").read_bytes(),
        "write etc": lambda: Path("/etc/new").touch(),
        "write sparkforge": lambda: Path("/opt/sparkforge/new").touch(),
        "write its home": lambda: Path.home().joinpath("new").touch(),
        "make setuid": make_setuid,
        "make a namespace": unshare,
        "open a raw socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
        # TEST-NET-1 (RFC 5737): a packet that nothing blocks is sent and lost.
        "leave the host": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("192.0.2.1", 9)),
        "chroot": lambda: os.chroot("/"),
        "compile": compile_code,
        "choose cores": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    }


def tried(model: str) -> dict[str, Any]:
    """Return each probe's outcome: its result as text, or the name of its error."""
    outcomes: dict[str, Any] = {}
    for name, probe in probes(model).items():
        try:
            outcomes[name] = str(probe())
        except OSError as error:
            outcomes[name] = errno.errorcode[error.errno or 0]
    owners = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError):
            owners.add(os.stat(f"/proc/{pid}").st_uid)
    return {**outcomes, "processes": sorted(owners)}


def refusal(middleware: type | None, path: str, headers: Any) -> int | None:
    """Return the status with which an ASGI middleware answers in place of the application, or None."""
    sent: list[dict[str, Any]] = []

    async def application(*_: Any) -> None:
        return None

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    if middleware:
        listed = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        asyncio.run(middleware(application)({"type": "http", "path": path, "headers": listed}, None, send))
    return sent[0]["status"] if sent else None


def main() -> None:
    """Serve until the process is killed; exit immediately if the model's configuration names a cause for a crash."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("model")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--gpu-memory-utilization", type=float)
    parser.add_argument("--served-model-name")
    parser.add_argument("--middleware")
    options = parser.parse_args()
    if cause := json.loads(Path(options.model, "config.json").read_text()).get("cause"):
        sys.exit(f"ValueError: {cause}")
    module, _dot, name = (options.middleware or "").rpartition(".")
    middleware = getattr(importlib.import_module(module), name) if module else None

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = refusal(middleware, self.path, self.headers)
            started = {**vars(options), "prefix": sys.prefix, "uid": os.getuid(), "environment": dict(os.environ)}
            answer = {"/health": None, "/can": tried(options.model) if self.path == "/can" else None}.get(
                self.path, started
            )
            body = b"" if status or answer is None else json.dumps(answer).encode()
            self.send_response(status or 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    http.server.ThreadingHTTPServer((options.host, options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
