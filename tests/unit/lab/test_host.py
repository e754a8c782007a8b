"""Tests of what the lab needs of the machine that it runs on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
# Of apt-get and dpkg-query what counts here: an apt-get beside another one fails, as it does over apt's lists.
APT = """#!/bin/sh
mkdir "$STATE/lists" || exit 100
echo "$1" >> "$STATE/called"
sleep 0.2
[ "$1" = update ] || touch "$STATE/installed"
rmdir "$STATE/lists"
"""
DPKG = """#!/bin/sh
[ ! -e "$STATE/installed" ] || echo "podman installed"
"""
INSTALL = "import os; os.geteuid = lambda: 0; from lab.host import install_packages; install_packages(('podman',))"


def test_benches_that_start_at_once_install_once(tmp_path: Path) -> None:
    for name, text in (("apt-get", APT), ("dpkg-query", DPKG)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "STATE": str(tmp_path),
        "SPARKFORGE_CACHE": str(tmp_path / "cache"),
    }
    runs = [subprocess.Popen([sys.executable, "-c", INSTALL], cwd=CHECKOUT, env=environment) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert (tmp_path / "called").read_text().split() == ["update", "install"]
