"""The interpreter that environments are made from in tests, and directories that nobody may enter as well.

Root runs an environment's own interpreter as nobody, who may enter neither root's home nor pytest's directories.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PYTHON = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable
_SAYS = "import sys; print('%d.%d' % sys.version_info[:2])"


def version() -> tuple[int, int]:
    """Return the version of ``PYTHON``."""
    said = subprocess.run([PYTHON, "-I", "-c", _SAYS], capture_output=True, text=True, check=True).stdout
    major, minor = said.split(".")
    return int(major), int(minor)


@contextlib.contextmanager
def open_directory() -> Iterator[Path]:
    """Give a directory that every account may enter, as /opt/sparkforge; pytest closes its own."""
    with tempfile.TemporaryDirectory(prefix="sparkforge-test-") as place:
        os.chmod(place, 0o755)
        yield Path(place)
