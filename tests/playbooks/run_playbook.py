# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs ansible-playbook with the checkout's collection, and with settings and files of the test alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_playbook(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `ansible-playbook *arguments` in ``place``, with its ansible.cfg, an empty one where it has none.

    :param environment: variables that differ from the ones given here.
    """
    (place / "ansible.cfg").touch()
    return subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), *arguments],
        cwd=place,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PIP_"))},
            # Ansible takes it for the directory that it is in.
            "PWD": str(place),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(place / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_LOCAL_TEMP": str(place / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
