# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of Triton's own."""

__version__ = "3.9.0"

from triton._C import libtriton

__all__ = ["libtriton"]
