# SPDX-License-Identifier: GPL-3.0-or-later
"""The choice of the ptxas that assembles kernels."""

import os
from pathlib import Path


def get_ptxas(capability: int) -> str:
    """Return the path of ptxas: the one named by TRITON_PTXAS_PATH, or else the one in this package."""
    return os.environ.get("TRITON_PTXAS_PATH") or str(Path(__file__).parent / "bin" / "ptxas")
