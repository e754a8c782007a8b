# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Creates the files of a release: the collection, its source, their checksums and a signature. `make release`.

It is an SSH signature (`ssh-keygen -Y sign`, namespace ``file``), which every machine that runs Ansible can verify. The
private key is the content of SPARKFORGE_SIGNING_KEY; without it, the files are not signed, and a message says so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[1]
FOLDER = CHECKOUT / "dist/release"
SUMS = "SHA256SUMS"
KEY = "SPARKFORGE_SIGNING_KEY"
#: The purpose of a signature (ssh-keygen(1)): a signature made for another purpose is not accepted for a file.
NAMESPACE = "file"


def build(folder: Path) -> None:
    """Build the collection's tarball and the source tarball in ``folder``."""
    command = ["ansible-galaxy", "collection", "build", "--force", "--output-path", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, check=True)
    source(folder)


def source(folder: Path) -> Path:
    """Write a tarball of the complete committed source, in which the README's commands work, and return its path."""
    galaxy = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())
    name = f"{galaxy['name']}-{galaxy['version']}"
    path = folder / f"{name}.tar.gz"
    subprocess.run(["git", "archive", f"--prefix={name}/", "-o", str(path), "HEAD"], cwd=CHECKOUT, check=True)
    return path


def is_released(version: str, changelog: str) -> bool:
    """Tell whether the changelog (reStructuredText) has a section for this version."""
    return f"\nv{version}\n{'=' * (len(version) + 1)}\n" in changelog


def write(folder: Path, key: str, builder: Callable[[Path], None] = build) -> list[Path]:
    """Recreate the files in ``folder`` and return them.

    :param key: the private key, or '' to leave the files unsigned.
    :raises subprocess.CalledProcessError: if the tarball cannot be built, or ssh-keygen rejects the key.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    builder(folder)
    sums = folder / SUMS
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
    sums.write_text("".join(lines))
    if key:
        # ssh-keygen reads private keys only from files; other accounts must not be able to enter the directory.
        with tempfile.TemporaryDirectory() as home:
            private = Path(home, "key")
            private.touch(mode=0o600)
            private.write_text(key.rstrip("\n") + "\n")
            command = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(private), str(sums)]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return sorted(folder.iterdir())


def main() -> int:
    """Create the checkout's release; refuse if the changelog has no section for its version."""
    version = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["version"]
    if not is_released(version, (CHECKOUT / "CHANGELOG.rst").read_text()):
        print(f"release: CHANGELOG.rst has no chapter of {version}: run make release-notes", file=sys.stderr)
        return 1
    key = os.environ.pop(KEY, "")
    try:
        files = write(FOLDER, key)
    except subprocess.CalledProcessError as error:
        print(f"release: {error.cmd[0]} exited with {error.returncode}", file=sys.stderr)
        return 1
    for path in files:
        print(f"release: {path.relative_to(CHECKOUT)}")
    if not key:
        print(f"release: nothing is signed, because {KEY} is not set")
    return 0


if __name__ == "__main__":
    sys.exit(main())
