# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ptxas a kernel is assembled with."""

import os
from pathlib import Path


def get_ptxas(capability: int) -> str:
    """Return the path of ptxas: named by TRITON_PTXAS_PATH, else the one that this package carries."""
    return os.environ.get("TRITON_PTXAS_PATH") or str(Path(__file__).parent / "bin" / "ptxas")
