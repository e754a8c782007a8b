# SPDX-License-Identifier: GPL-3.0-or-later
"""The build's configuration."""

from pathlib import Path


def show() -> str:
    settings = (Path(__file__).parent / "share/build_settings.txt").read_text()
    return f"PyTorch built with:\n  - Build settings: {settings}"
