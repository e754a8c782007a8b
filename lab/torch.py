"""The CPU build of PyTorch from the package index, used by the fleet's hosts and the proof's tests.

The module also provides transformers, which the proof of a served model needs.
"""

from __future__ import annotations

import fcntl
import shutil
import sys
from pathlib import Path

from lab.host import cache_directory, run, step

VERSION = "2.13.0"
REQUIREMENTS = (f"torch=={VERSION}", "numpy==2.3.5")
TRANSFORMERS = "5.24.0"


def environment() -> Path:
    """Return a cached virtual environment with PyTorch, creating it if missing (about a minute and 1 GB)."""
    return _made(f"torch/{VERSION}", REQUIREMENTS)


def with_transformers() -> Path:
    """Return an environment with transformers that also uses PyTorch's packages."""
    base = next((environment() / "lib").glob("python3*/site-packages"))
    return _made(f"transformers/{TRANSFORMERS}-torch{VERSION}", (f"transformers=={TRANSFORMERS}",), base)


def _made(name: str, requirements: tuple[str, ...], base: Path | None = None) -> Path:
    directory = cache_directory() / f"{name}-python{sys.version_info[0]}.{sys.version_info[1]}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{directory}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "ready").exists():
            with step(f"installing {requirements[0]} from the package index"):
                shutil.rmtree(directory, ignore_errors=True)
                run(sys.executable, "-m", "venv", directory)
                if base:
                    site = next((directory / "lib").glob("python3*/site-packages"))
                    (site / "torch.pth").write_text(f"{base}\n")
                pip = directory / "bin/pip"
                run(pip, "--disable-pip-version-check", "install", "-q", *requirements)
            (directory / "ready").touch()
    return directory
