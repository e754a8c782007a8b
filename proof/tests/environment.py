"""A virtual environment with torch, a copy in which a fault may be planted, and a way to prove either.

This module does not import pytest, which a host with a GPU may lack.
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
    """A virtual environment with torch, and a host's root directory with its receipts.

    :ivar directory: the virtual environment.
    :ivar root: a directory like ``/opt/sparkforge``, with ``receipts/env-torch.json`` and ``receipts/pytorch.json``.
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
        """Write a file in site-packages, removing its hard link first, so that the healthy environment keeps its
        file."""
        file = self.site_packages / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text)
        return file

    def append(self, path: str, text: str) -> Path:
        """Append to a file in site-packages."""
        return self.change(path, (self.site_packages / path).read_text() + text)

    def prove(self, *checks: str, **options: Any) -> dict[str, Any]:
        """Run the checks as the module does, and return the report."""
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
    """Return the cached environment with torch from the package index."""
    directory = torch.environment()
    return Environment(directory, directory.parent / "root")


def copy(environment: Environment, directory: Path) -> Environment:
    """Copy an environment, with hard links if the file system supports them."""
    target, root = directory / "environment", directory / "root"
    try:
        subprocess.run(["cp", "-al", environment.directory, target], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", environment.directory, target], check=True)
    root.mkdir()
    return Environment(target, root, dict(environment.reference))


def remove(directory: Path) -> None:
    """Remove a directory with many thousands of links; rm takes a tenth of the time that Python takes."""
    subprocess.run(["rm", "-rf", "--", directory], check=True)
