"""The PyTorch of the package index, for the CPU: what the fleet's hosts and the tests of the proof compute with."""

from __future__ import annotations

import fcntl
import shutil
import sys
from pathlib import Path

from lab.host import cache_directory, run, step

VERSION = "2.13.0"
REQUIREMENTS = (f"torch=={VERSION}", "numpy==2.3.5")


def environment() -> Path:
    """Return a virtual environment with it, kept in the cache and made where it is missing: a minute and a gigabyte."""
    directory = cache_directory() / "torch" / f"{VERSION}-python{sys.version_info[0]}.{sys.version_info[1]}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{directory}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "ready").exists():
            with step(f"installing torch {VERSION} from the package index"):
                shutil.rmtree(directory, ignore_errors=True)
                run(sys.executable, "-m", "venv", directory)
                pip = directory / "bin/pip"
                run(pip, "--disable-pip-version-check", "install", "-q", *REQUIREMENTS)
            (directory / "ready").touch()
    return directory
