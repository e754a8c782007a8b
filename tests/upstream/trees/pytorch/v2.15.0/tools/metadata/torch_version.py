# SPDX-License-Identifier: GPL-3.0-or-later
"""The version as dynamic metadata for scikit-build-core."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.generate_torch_version import get_torch_version


def dynamic_metadata(settings: dict, project: dict) -> dict:
    return {"version": get_torch_version()}
