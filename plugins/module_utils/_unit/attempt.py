"""One attempt to finish a build: the data that its phases share."""

# This runs in the detached worker, which has no AnsibleModule to run commands or log.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import os
import subprocess
import time
import typing as t

from .._fetch import sources
from . import model
from .state_file import State


class Attempt:
    """One attempt at a build: the request, its paths and its progress.

    :param request: the content of ``request.json``, which ``_unit.start`` wrote.
    """

    def __init__(self, request: t.Mapping[str, t.Any]) -> None:
        self.request = request
        self.unit = model.Unit.from_options(request["unit"])
        self.paths = model.Paths(**request["paths"])
        #: The host's tools; tools from the requirements are found on PATH.
        self.tools: t.Mapping[str, str] = request["tools"]
        self.state = State(self.paths.inside("state.json"))
        self.checkpointed = time.monotonic()
        self._began = time.monotonic()
        self._earlier = float(self.state.data.get("elapsed") or 0)

    def say(self, text: str) -> None:
        """Write a line to the log."""
        print(text, flush=True)

    def elapsed(self) -> float:
        """Return the total seconds of all attempts so far."""
        return round(self._earlier + time.monotonic() - self._began, 1)

    def checkpoint(self) -> None:
        """Sync the file system and record the time just before: files older than that survive a power loss."""
        moment = time.time()
        completed = subprocess.run(
            ["sync", "--file-system", self.paths.build_directory],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if completed.returncode != 0:
            os.sync()
        self.checkpointed = time.monotonic()
        self.state.update(checkpoint=moment)

    def files(self, *names: str) -> t.Iterator[str]:
        """Yield the source and object files, all of them or only those with these names; links are not followed."""
        for tree in (self.paths.inside("source"), self.paths.inside("build")):
            for directory, _directories, files in os.walk(tree):
                yield from (os.path.join(directory, name) for name in files if not names or name in names)

    def clamp_mtimes(self, moment: float) -> int:
        """Set the mtime of files newer than ``moment`` to that time; return how many there were."""
        moved = 0
        for path in self.files():
            with contextlib.suppress(OSError):
                if os.lstat(path).st_mtime > moment:
                    os.utime(path, (moment, moment), follow_symlinks=False)
                    moved += 1
        return moved

    @property
    def project(self) -> str:
        return os.path.normpath(self.paths.inside("source", self.unit.subdirectory))

    @property
    def staged(self) -> str:
        """The directory into which ``cmake --install`` puts the prefix."""
        return self.paths.inside("out", "staged") + self.paths.prefix

    def expand(self, text: str) -> str:
        """Return ``text`` with its placeholders replaced by paths."""
        paths = {name: self.paths.inside(name) for name in ("source", "build", "environment")}
        paths.update(root=self.paths.root, prefix=self.paths.prefix)
        paths.update({f"depends.{name}.prefix": depend["prefix"] for name, depend in self.request["depends"].items()})
        return model.expand(text, paths)

    @property
    def python(self) -> str:
        return self.paths.inside("environment", "bin", "python")

    @property
    def cmake(self) -> str:
        return self.tools.get("cmake", "cmake")

    @property
    def has_ccache(self) -> bool:
        return self.unit.ccache and "ccache" in self.tools

    def backend(self) -> str:
        """Return the build backend from pyproject.toml, or setuptools if it names none (PEP 517)."""
        try:
            with open(os.path.join(self.project, "pyproject.toml"), encoding="utf-8") as stream:
                text = stream.read()
        except FileNotFoundError:
            return "setuptools.build_meta"
        return sources.build_backend(text) or "setuptools.build_meta"
