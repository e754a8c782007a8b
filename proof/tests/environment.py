"""A virtual environment with torch, a copy of it that may be broken, and the proof run on either.

Without pytest, so that a host with a GPU needs none.
"""

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparkforge_proof import run

from lab import torch


@dataclass
class Environment:
    """A virtual environment with torch, and the root of a host that has receipts of it.

    :ivar directory: the virtual environment.
    :ivar root: as ``/opt/sparkforge``: ``receipts/env-torch.json``, ``receipts/pytorch.json``.
    """

    directory: Path
    root: Path
    reference: dict[str, Any] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        return self.directory / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        return next((self.directory / "lib").glob("python3*/site-packages"))

    def change(self, path: str, text: str) -> Path:
        """Write a file below site-packages; the healthy environment, which shares its files, keeps its own."""
        file = self.site_packages / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text)
        return file

    def append(self, path: str, text: str) -> Path:
        """Write to the end of a file below site-packages."""
        return self.change(path, (self.site_packages / path).read_text() + text)

    def prove(self, *checks: str, **options: Any) -> dict[str, Any]:
        """Return the report of the checks, run as the module runs them."""
        settings = {
            "python": str(self.python),
            "checks": list(checks) or ["*"],
            "gpu_required": False,
            "profile": {"name": "generic"},
            **options,
            "reference": {"root": str(self.root), **self.reference, **options.get("reference", {})},
        }
        return json.loads(json.dumps(run.Proof(settings).run()))


def make() -> Environment:
    """Return the environment with torch from the package index that is kept in the cache."""
    directory = torch.environment()
    return Environment(directory, directory.parent / "root")


def copy(environment: Environment, directory: Path) -> Environment:
    """Return a copy that may be broken, of hard links where the file system allows it."""
    target, root = directory / "environment", directory / "root"
    try:
        subprocess.run(["cp", "-al", environment.directory, target], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", environment.directory, target], check=True)
    root.mkdir()
    return Environment(target, root, dict(environment.reference))


def remove(directory: Path) -> None:
    """Remove a directory of many thousand links, which takes rm a tenth of the time that it takes Python."""
    subprocess.run(["rm", "-rf", "--", directory], check=True)
