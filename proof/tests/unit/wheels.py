# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Installs wheels with pip into a directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def install(target: Path, *wheels: Path) -> Path:
    """Install wheels as pip does, bytecode included, and nothing that they require."""
    options = ["--quiet", "--no-index", "--no-deps", "--compile", "--disable-pip-version-check", "--target", target]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *wheels], check=True)
    return target
