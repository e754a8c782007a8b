# SPDX-License-Identifier: GPL-3.0-or-later
"""Determine the version to build from the environment, or else from version.txt and the commit."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNKNOWN = "Unknown"


def get_sha() -> str:
    if not (ROOT / ".git").exists():
        return UNKNOWN
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else UNKNOWN


def get_torch_version() -> str:
    if os.getenv("PYTORCH_BUILD_VERSION"):
        assert os.getenv("PYTORCH_BUILD_NUMBER") is not None
        number = int(os.environ["PYTORCH_BUILD_NUMBER"])
        return os.environ["PYTORCH_BUILD_VERSION"] + (f".post{number}" if number > 1 else "")
    sha = get_sha()
    return (ROOT / "version.txt").read_text().strip() + (f"+git{sha[:7]}" if sha != UNKNOWN else "")


def version_file() -> str:
    return (
        f"__version__ = {get_torch_version()!r}\ndebug = False\ncuda = None\ngit_version = {get_sha()!r}\nhip = None\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(version_file())
