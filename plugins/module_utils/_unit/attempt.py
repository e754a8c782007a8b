"""One attempt to finish a build: the data that its phases share, and the state that it writes."""

# This runs in the detached worker, which has no AnsibleModule to run commands or log.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
import typing as t

from .._core.errors import SparkforgeError
from .._fetch import sources
from . import model, state_file


class State:
    """The state of one build.

    :param path: the file to write; an existing state is continued.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: dict[str, t.Any] = state_file.read(path) or {
            "format": state_file.FORMAT,
            "phases": {},
            "attempts": 0,
            "notes": [],
        }

    def update(self, **values: t.Any) -> None:
        """Merge ``values`` into the state and write the file."""
        self.data.update(values)
        self.data["updated"] = time.time()
        temporary = f"{self.path}.{os.getpid()}"
        with open(temporary, "w", encoding="ascii") as stream:
            # json.dump would not use the encoder written in C.
            stream.write(json.dumps(self.data, sort_keys=True))
        # No fsync: after a power loss an older state is good enough, and this is written every few seconds.
        os.replace(temporary, self.path)

    def note(self, text: str) -> None:
        """Add a sentence to the notes of the result, unless it is already there."""
        if text not in self.data["notes"]:
            self.update(notes=[*self.data["notes"], text])

    def is_done(self, phase: str) -> bool:
        return bool(self.data["phases"].get(phase, {}).get("done"))

    def undo(self, *phases: str) -> None:
        """Mark phases as not done."""
        self.update(phases={name: value for name, value in self.data["phases"].items() if name not in phases})

    def fail(self, error: SparkforgeError) -> None:
        """Write the failure to the state and the log; even a full disk must not suppress it."""
        with contextlib.suppress(OSError):
            print(f"== failed in {self.data.get('phase')}: {error}", flush=True)
        values = {"status": "failed", "failed_phase": self.data.get("phase"), "error": error.as_result()}
        try:
            self.update(**values)
        except OSError:
            # Overwrite the file in place with a text that is no longer, so that a full disk needs no new blocks.
            self.data.update(values)
            text = json.dumps({**self.data, "notes": [], "applied": []}, sort_keys=True)
            with contextlib.suppress(OSError), open(self.path, "r+", encoding="ascii") as stream:
                stream.write(text)
                stream.truncate()


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
