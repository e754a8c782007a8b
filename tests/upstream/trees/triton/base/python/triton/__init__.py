# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of Triton's own."""

__version__ = "3.5.1"

from triton._C import libtriton

__all__ = ["libtriton"]
