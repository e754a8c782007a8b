"""Installs wheels with pip into a directory."""

import subprocess
import sys
from pathlib import Path


def install(target: Path, *wheels: Path) -> Path:
    """Install wheels with pip, including bytecode, but without their requirements."""
    options = ["--quiet", "--no-index", "--no-deps", "--compile", "--disable-pip-version-check", "--target", target]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *wheels], check=True)
    return target
