"""Git repositories to fetch from, and git's own HTTP server on 127.0.0.1, which records requests and can misbehave."""

import contextlib
import gzip
import os
import re
import subprocess
import threading
import typing as t
import urllib.parse
from http.server import BaseHTTPRequestHandler as Handler
from pathlib import Path

from lab import repositories
from tests.unit import web_server

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", "A"), ("EMAIL", "a@example.com"), ("DATE", "1700000000 +0000"))
    },
}


def git(*arguments: str, cwd: str | Path) -> str:
    """Return git's output without surrounding white space."""
    result = subprocess.run(["git", *arguments], cwd=cwd, env=ENVIRONMENT, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode("utf-8", "surrogateescape").strip()


class Repository:
    """A repository that accepts commits, and whose git directory ``<directory>/<name>.git`` is served."""

    def __init__(self, directory: Path, name: str) -> None:
        self.bare = directory / f"{name}.git"
        self.tree = directory.parent / "work" / name
        self.tree.mkdir(parents=True)
        self.bare.parent.mkdir(parents=True, exist_ok=True)
        git("init", "--quiet", "--initial-branch=main", f"--separate-git-dir={self.bare}", ".", cwd=self.tree)
        # The large git hosts allow filters.
        git("config", "uploadpack.allowFilter", "true", cwd=self.tree)

    def commit(self, files: t.Mapping[str, str | bytes], submodules=None, modules=None) -> str:
        """Commit ``files`` and return the commit.

        :param submodules: path -> the URL for ``.gitmodules``, and the commit.
        :param modules: different content for ``.gitmodules``.
        """
        for path, content in files.items():
            file = self.tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        if submodules is not None:
            lines = [f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n' for path, (url, _) in submodules.items()]
            (self.tree / ".gitmodules").write_text("".join(lines) if modules is None else modules)
        git("add", "--all", cwd=self.tree)
        for path, (_url, commit) in (submodules or {}).items():
            git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}", cwd=self.tree)
        git("commit", "--quiet", "--allow-empty", "--message=change", cwd=self.tree)
        return git("rev-parse", "HEAD", cwd=self.tree)


class Server:
    """Serves the repositories in ``root``.

    ``statuses``: HTTP statuses of the next answers; ``cuts``: the numbers of pack bytes after which the next answers
    break off (0 for a complete one); ``stall``: the number of bytes after which every answer hangs until the server is
    stopped; ``redirects``: start of a path -> URL; ``authorization``: the required value of this header; ``old``: the
    server speaks version 0 of the protocol, which cannot fetch a single commit; ``dumb``: it serves only files.
    """

    def __init__(self, root: Path, certificate: str | None = None) -> None:
        self.root = root
        self.certificate = certificate
        self.statuses: list[int] = []
        self.cuts: list[int] = []
        self.stall = 0
        self.stalled, self.released = threading.Event(), threading.Event()
        self.redirects: dict[str, str] = {}
        self.authorization: str | None = None
        self.old = False
        self.dumb = False
        self.requests: list[str] = []
        #: The Authorization headers of requests.
        self.credentials: list[str] = []
        self.wants: list[list[str]] = []
        self.sent = 0
        self.port = 0
        self.start()
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.server = web_server.listen(self.answer, self.certificate, self.port)
        self.port = self.server.server_port

    def stop(self) -> None:
        """Refuse connections until ``start`` is called."""
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: Handler) -> None:
        body = self.body(handler)
        self.requests.append(f"{handler.command} {handler.path}")
        self.credentials += handler.headers.get_all("Authorization") or []
        handler.close_connection = True
        for beginning, url in self.redirects.items():
            if handler.path.startswith(beginning):
                handler.send_response(302)
                handler.send_header("Location", url + handler.path[len(beginning) :])
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
        if self.statuses:
            handler.send_error(self.statuses.pop(0))
            return
        if self.authorization is not None and handler.headers.get("Authorization") != self.authorization:
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", 'Basic realm="git"')
            handler.end_headers()
            return
        path = urllib.parse.urlsplit(handler.path)
        if self.dumb:
            file = self.root / path.path.lstrip("/")
            if not file.is_file():
                handler.send_error(404)
                return
            self.send(handler, 200, {"Content-Type": "text/plain"}, file.read_bytes(), False)
            return
        wants = [commit.decode() for commit in re.findall(rb"want ([0-9a-f]{40})", body)]
        if wants:
            self.wants.append(wants)
        # The body is no longer compressed, and an old server knows only the first version of the protocol.
        del handler.headers["Content-Encoding"]
        if self.old:
            del handler.headers["Git-Protocol"]
        url, backend = urllib.parse.unquote(path.path), repositories.GitBackend(self.root)
        answer = backend.answer(handler.command, url, path.query, handler.headers, body)
        with answer.body as stream:
            content = stream.read()
        is_pack = b"packfile\n" in content[:4096] or b"PACK" in content[:4096]
        self.send(handler, answer.status, answer.headers, content, is_pack)

    def body(self, handler: Handler) -> bytes:
        if handler.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(handler.rfile.readline(), 16):
                body += handler.rfile.read(size)
                handler.rfile.readline()
            handler.rfile.readline()
        else:
            body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if handler.headers.get("Content-Encoding") == "gzip" else body

    def send(self, handler: Handler, status: int, headers: t.Mapping[str, str], content: bytes, is_pack: bool) -> None:
        handler.send_response(status)
        for key, value in headers.items():
            handler.send_header(key, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        cut = self.cuts.pop(0) if self.cuts and is_pack else 0
        self.sent += len(content[: cut or None])
        with contextlib.suppress(OSError):
            if is_pack and self.stall:
                handler.wfile.write(content[: self.stall])
                self.stalled.set()
                self.released.wait()
                return
            handler.wfile.write(content[: cut or None])
