# SPDX-License-Identifier: GPL-3.0-or-later
"""The choice of the ptxas that assembles kernels."""

import os
from pathlib import Path


def get_ptxas(capability: int) -> str:
    """Return the path of ptxas: another variable and another file for capabilities from 10.0 on."""
    blackwell = capability >= 100
    named = os.environ.get("TRITON_PTXAS_BLACKWELL_PATH" if blackwell else "TRITON_PTXAS_PATH")
    return named or str(Path(__file__).parent / "bin" / ("ptxas-blackwell" if blackwell else "ptxas"))
