# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Importing torch never ends: the driver is wedged and the first call waits for it, or the environment lies on a file
server that is gone.
"""

PATCH = """
import ctypes as _ctypes

_ctypes.PyDLL(None).pause()
"""
