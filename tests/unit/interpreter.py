"""The interpreter for environments in tests, and directories that the account nobody can access.

Root runs an environment's interpreter as nobody, who cannot enter root's home or pytest's directories.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PYTHON = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable
_PRINT_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def version() -> tuple[int, int]:
    """Return the version of ``PYTHON``."""
    result = subprocess.run([PYTHON, "-I", "-c", _PRINT_VERSION], capture_output=True, text=True, check=True)
    major, minor = result.stdout.split(".")
    return int(major), int(minor)


@contextlib.contextmanager
def open_directory() -> Iterator[Path]:
    """Yield a directory that all accounts can enter, as they can /opt/sparkforge; pytest's directories are private."""
    with tempfile.TemporaryDirectory(prefix="sparkforge-test-") as directory:
        os.chmod(directory, 0o755)
        yield Path(directory)
