# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bare git repositories created from trees of files, and git's smart HTTP server for them.

The same trees give the same commits on every machine, because author, dates and parents are fixed. lab.serve serves a
directory of such repositories, read-only, at ``/git/<name>.git``.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import subprocess
import tarfile
import tempfile
import typing as t
from collections.abc import Mapping
from email.message import Message
from pathlib import Path

from lab.host import LabError
from lab.packages import MEMBER_TIME

#: The author of the commits; .invalid is reserved (RFC 2606).
IDENTITY = "sparkforge lab <lab@sparkforge.invalid>"
#: Settings like a forge's: a client may request any commit by its hash, and only part of the objects.
SETTINGS = {"uploadpack.allowAnySHA1InWant": "true", "uploadpack.allowFilter": "true", "gc.auto": "0"}
# The user's and the machine's git configuration must not change the repositories.
ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_PATH = re.compile(r"[A-Za-z0-9._+-]+(/[A-Za-z0-9._+-]+)*")


class Submodule(t.NamedTuple):
    """A submodule in a tree. ``url`` may be relative to the URL of the containing repository."""

    url: str
    commit: str


#: Path -> content. A file that starts with ``#!`` is executable; .gitmodules is generated from the submodules.
Tree = Mapping[str, t.Union[bytes, str, Submodule]]


def read_tree(*folders: Path) -> dict[str, bytes]:
    """Return the files in ``folders``; files in later folders override those in earlier ones."""
    tree: dict[str, bytes] = {}
    for folder in folders:
        if not folder.is_dir():
            raise LabError(f"There is no tree {folder}. Restore the checkout (git checkout).")
        for path in sorted(folder.rglob("*")):
            # Imports and linters leave these behind.
            if path.is_file() and "__pycache__" not in path.parts:
                tree[path.relative_to(folder).as_posix()] = path.read_bytes()
    return tree


class Repository:
    """The bare repository at ``path``, created if it is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / "HEAD").exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._run("init", "--quiet", "--bare", "--initial-branch=main", "--template=", str(path))
            for key, value in SETTINGS.items():
                self.git("config", key, value)

    def commit(
        self,
        tree: Tree,
        message: str,
        *,
        branch: str = "main",
        tag: str | None = None,
        annotated: bool = True,
        parent: str | None = None,
    ) -> str:
        """Commit the complete ``tree`` on top of ``branch`` and return the commit.

        :param tag: a tag for the commit; an existing tag is moved.
        :param parent: the commit's parent, instead of the branch's head, which moves to the new commit in any case.
        """
        parent = parent or self.resolve(f"refs/heads/{branch}")
        # Each commit is dated a minute later than its parent: dates follow the history, not the clock.
        age = int(self.git("rev-list", "--count", parent)) if parent else 0
        who = f"{IDENTITY} {MEMBER_TIME + 60 * age} +0000"
        stream = io.BytesIO()
        stream.write(f"commit refs/heads/{branch}\nmark :1\nauthor {who}\ncommitter {who}\n".encode())
        stream.write(_data(message + "\n"))
        stream.write(f"from {parent}\n".encode() if parent else b"")
        stream.write(b"deleteall\n")
        for path, content in sorted(_with_gitmodules(tree).items()):
            if not _PATH.fullmatch(path):
                raise LabError(f"The path {path!r} cannot be put into a repository of the lab. Rename the file.")
            if isinstance(content, Submodule):
                stream.write(f"M 160000 {content.commit} {path}\n".encode())
            else:
                content = content.encode() if isinstance(content, str) else content
                mode = "100755" if content.startswith(b"#!") else "100644"
                stream.write(f"M {mode} inline {path}\n".encode() + _data(content))
        if tag and annotated:
            stream.write(f"tag {tag}\nfrom :1\ntagger {who}\n".encode() + _data(f"{tag}\n"))
        elif tag:
            stream.write(f"reset refs/tags/{tag}\nfrom :1\n\n".encode())
        stream.write(b"get-mark :1\n")
        return self.git("fast-import", "--quiet", "--force", input=stream.getvalue())

    def resolve(self, name: str) -> str | None:
        """Return the commit for a branch, a tag or an expression, or None if there is none."""
        return self.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False) or None

    def references(self) -> str:
        """Return all branches and tags with their targets; they are equal for equal repositories."""
        return self.git("for-each-ref", "--format=%(objectname) %(refname)")

    def git(self, *arguments: str, input: bytes | None = None, check: bool = True) -> str:
        """Run git in the repository and return its output without the trailing newline."""
        return self._run("--git-dir", str(self.path), *arguments, input=input, check=check)

    def _run(self, *arguments: str, input: bytes | None = None, check: bool = True) -> str:
        result = subprocess.run(["git", *arguments], input=input, capture_output=True, env=_environment(), check=False)
        if result.returncode and check:
            message = result.stderr.decode(errors="replace").strip()
            raise LabError(
                f"`git {' '.join(arguments)}` exited with {result.returncode}: {message}. Remove {self.path}."
            )
        return result.stdout.decode().strip()


def write_sdist(directory: Path, name: str, version: str, tree: Mapping[str, bytes]) -> Path:
    """Write ``<name>-<version>.tar.gz``, a source distribution, and return its path.

    The data is stored uncompressed, because deflate's output differs between versions of zlib, but the sha256 must not.
    """
    stem = f"{name}-{version}"
    members = {**tree, "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()}
    directory.mkdir(parents=True, exist_ok=True)
    partial = directory / f"{stem}.tar.gz.partial"
    with (
        partial.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=0, fileobj=file, mtime=0) as stream,
        tarfile.open(mode="w", fileobj=stream, format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in sorted(members.items()):
            member = tarfile.TarInfo(f"{stem}/{path}")
            member.size, member.mtime = len(content), MEMBER_TIME
            archive.addfile(member, io.BytesIO(content))
    return partial.replace(directory / f"{stem}.tar.gz")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Answer(t.NamedTuple):
    """Git's answer to a request; ``body`` is positioned at its start and has ``size`` bytes."""

    status: int
    headers: dict[str, str]
    body: t.IO[bytes]
    size: int


class GitBackend:
    """Git's smart HTTP for the repositories in ``directory``: `git http-backend`, run as CGI.

    Only cloning and fetching work. The dumb protocol and pushes get "not found", as on a forge without a login.
    """

    _REQUESTS = re.compile(r"/(?P<name>[^/].*\.git)/(?:info/refs|git-upload-pack)")

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()

    def handles(self, method: str, path: str, query: str) -> bool:
        """Tell whether a request (its path without ``/git``) comes from a client that fetches."""
        match = self._REQUESTS.fullmatch(path)
        if not match or ".." in path.split("/") or not (self.directory / match["name"] / "HEAD").is_file():
            return False
        if path.endswith("/info/refs"):
            return method == "GET" and query == "service=git-upload-pack"
        return method == "POST"

    def answer(self, method: str, path: str, query: str, headers: Message, body: bytes) -> Answer:
        """Let git answer. The body is a temporary file, which is deleted when closed."""
        environment = {
            **_environment(),
            # The server may run as root while another user owns the repositories. Only git 2.38 and newer read this.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "GIT_PROJECT_ROOT": str(self.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
            # With protocol version 2, a client need not be sent all branches and tags.
            "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "lab",
        }
        output = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        result = subprocess.run(
            ["git", "http-backend"],
            input=body,
            stdout=output,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
        size = output.tell()
        output.seek(0)
        answered: dict[str, str] = {}
        while line := output.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            answered[name] = value.strip()
        if result.returncode and not answered:
            output.close()
            message = result.stderr.decode(errors="replace").strip()
            return Answer(500, {"Content-Type": "text/plain"}, io.BytesIO(message.encode()), len(message.encode()))
        status = int(answered.pop("Status", "200").split()[0])
        return Answer(status, answered, output, size - output.tell())


def _environment() -> dict[str, str]:
    """Return this process's environment without git's variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **ENVIRONMENT}


def _data(content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return b"data %d\n%s\n" % (len(content), content)


def _with_gitmodules(tree: Tree) -> dict[str, bytes | str | Submodule]:
    submodules = {path: entry for path, entry in tree.items() if isinstance(entry, Submodule)}
    text = "".join(
        f'[submodule "{path}"]\n\tpath = {path}\n\turl = {entry.url}\n' for path, entry in sorted(submodules.items())
    )
    return {**tree, ".gitmodules": text} if text else dict(tree)
