# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of flash-attention's own."""

__version__ = "2.8.3"

import torch  # noqa: F401 - brings the libraries that the extension is linked with

# isort: split
import flash_attn_2_cuda

__all__ = ["flash_attn_2_cuda"]
