# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for the Hugging Face hub: serves models to its client from memory, with faults that a test plants.

Weights come from a second server, as the hub's come from a content delivery network. The paths, headers and error codes
are from huggingface_hub 1.17 (hf_api.py, file_download.py, utils/_http.py) and huggingface.co/docs/hub/api.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import re
import threading
import typing as t
from dataclasses import dataclass, field

Headers = dict[str, str]
Handler = http.server.BaseHTTPRequestHandler


@dataclass
class Model:
    """A model, and the users who may download it.

    :ivar gated: whether only users who have accepted the licence may download; ``members`` are their tokens.
    :ivar served: content that is sent instead of a file's correct content.
    """

    name: str
    files: dict[str, bytes]
    license: str = "apache-2.0"
    gated: bool = False
    members: set[str] = field(default_factory=set)
    served: dict[str, bytes] = field(default_factory=dict)

    @functools.cached_property
    def entries(self) -> dict[str, dict[str, t.Any]]:
        """Each file in the API's format; weights are in LFS, by sha256."""
        return {name: self._entry(name, content) for name, content in sorted(self.files.items())}

    @property
    def commit(self) -> str:
        return hashlib.sha1(repr(self.entries).encode(), usedforsecurity=False).hexdigest()

    @staticmethod
    def _entry(name: str, content: bytes) -> dict[str, t.Any]:
        blob = hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
        row: dict[str, t.Any] = {"size": len(content), "oid": blob, "blobId": blob, "path": name, "rfilename": name}
        if not name.endswith((".json", ".md", ".txt")):
            sha256 = hashlib.sha256(content).hexdigest()
            row["lfs"] = {"oid": sha256, "sha256": sha256, "size": len(content), "pointerSize": 134}
        return {**row, "type": "file"}


class Hub:
    """The hub and its content delivery network.

    ``cuts``: for each file, the numbers of bytes after which answers with its content are cut off; ``before``: for each
    file, a function to call before its content is sent; ``down``: the number of requests that will fail. ``tokens``
    contains all valid tokens; ``requests`` lists the received requests: method, path, range and authorization.
    """

    def __init__(self, *models: Model, address: str = "127.0.0.1") -> None:
        self.models = {model.name: model for model in models}
        self.tokens: set[str] = set()
        self.cuts: dict[str, list[int]] = {}
        self.down = 0
        self.before: dict[str, t.Callable[[], object]] = {}
        self.requests: list[tuple[str, str, str, str]] = []
        self._servers = [self._serve(address, answer) for answer in (self._api, self._content)]
        self.url, self.network = (f"http://{address}:{server.server_address[1]}" for server in self._servers)

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def ranges(self, name: str) -> list[str]:
        """Return the byte ranges requested of a file; "" means the complete file."""
        return [
            byte_range
            for method, path, byte_range, _who in self.requests
            if method == "GET" and path.endswith(f"/{name}")
        ]

    def _serve(self, address: str, answer: t.Callable[..., None]) -> http.server.ThreadingHTTPServer:
        outer = self

        class Answer(Handler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                sent = [self.headers.get(name) or "" for name in ("Range", "Authorization")]
                outer.requests.append((self.command, self.path.partition("?")[0], sent[0], sent[1]))
                answer(self)

            do_HEAD = do_GET

            def log_message(self, format: str, *args: t.Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer((address, 0), Answer)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def _api(self, handler: Handler) -> None:
        path = handler.path.partition("?")[0].removeprefix("/api/models")
        token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
        asked = re.fullmatch(r"/([^/]+/[^/]+)/(revision|tree|resolve)/([^/]+)(?:/(.*))?", path)
        model = self.models.get(asked[1]) if asked else None
        if self.down:
            self.down -= 1
            self._refuse(handler, 503)
        elif token and token not in self.tokens:
            self._refuse(handler, 401, message="Invalid credentials in Authorization header")
        elif asked is None or model is None:
            self._refuse(handler, 404 if token else 401, "RepoNotFound")
        elif asked[3] not in ("main", model.commit):
            self._refuse(handler, 404, "RevisionNotFound")
        elif asked[2] != "revision" and model.gated and token not in model.members:
            self._refuse(handler, 403 if token else 401, "GatedRepo")
        elif asked[2] == "resolve":
            self._resolve(handler, model, asked[4])
        else:
            listed = [*model.entries.values()]
            about: dict[str, t.Any] = {"id": model.name, "sha": model.commit, "siblings": listed}
            about |= {
                "gated": model.gated and "manual",
                "cardData": {"license": model.license},
                "private": False,
                "tags": [],
                "downloads": 0,
                "likes": 0,
            }
            self._send(handler, json.dumps(listed if asked[2] == "tree" else about).encode())

    def _resolve(self, handler: Handler, model: Model, name: str) -> None:
        entry = model.entries[name]
        headers = {"X-Repo-Commit": model.commit, "ETag": f'"{entry["oid"]}"'}
        if lfs := entry.get("lfs"):
            headers |= {"X-Linked-Etag": f'"{lfs["sha256"]}"', "X-Linked-Size": str(entry["size"])}
            headers["Location"] = f"{self.network}/{model.name}/{name}"
            self._send(handler, b"", headers, 302)
        else:
            self._send(handler, model.files[name], headers)

    def _content(self, handler: Handler) -> None:
        _empty, organisation, short, name = handler.path.partition("?")[0].split("/", 3)
        model = self.models[f"{organisation}/{short}"]
        self.before.get(name, lambda: None)()
        content = model.served.get(name, model.files[name])
        match = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range") or "")
        start = int(match[1]) if match else 0
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if match else {}
        cuts = self.cuts.get(name) or []
        self._send(handler, content[start:], headers, 206 if match else 200, cuts.pop(0) if cuts else None)

    def _refuse(self, handler: Handler, status: int, code: str = "", message: str = "") -> None:
        headers = {"X-Error-Code": code, "X-Error-Message": message or code}
        self._send(handler, json.dumps({"error": message or code}).encode(), headers, status)

    @staticmethod
    def _send(
        handler: Handler,
        body: bytes,
        headers: Headers | None = None,
        status: int = 200,
        cut: int | None = None,
    ) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body[:cut])
        if cut is not None:
            handler.close_connection = True
            handler.wfile.flush()
            handler.connection.shutdown(2)
