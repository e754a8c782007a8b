# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers that setup.py shares with other tools: paths, flags, LLVM's pin, the version's suffix."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRITON_VERSION = "3.5.1"


def check_env_flag(name: str, default: str = "") -> bool:
    return os.getenv(name, default).upper() in ("ON", "1", "YES", "TRUE", "Y")


def get_cmake_dir() -> Path:
    name = f"cmake.{sysconfig.get_platform()}-{sys.implementation.name}-{sysconfig.get_python_version()}"
    return ROOT / "build" / name


def llvm_commit() -> str:
    return (ROOT / "cmake" / "llvm-hash.txt").read_text().strip()


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def git_suffix(root: Path) -> str:
    """Return +git<8 digits> in a checkout that is not on a release branch."""
    top = _git(root, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != root.resolve():
        return ""
    if _git(root, "rev-parse", "--abbrev-ref", "HEAD").startswith("release"):
        return ""
    return "+git" + _git(root, "rev-parse", "--short=8", "HEAD")


def version_suffix(root: Path) -> str:
    """Like Triton of this age: in a checkout, a suffix that starts with a plus gives an invalid version."""
    return git_suffix(root) + os.environ.get("TRITON_WHEEL_VERSION_SUFFIX", "")
