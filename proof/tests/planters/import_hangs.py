"""Importing torch never ends: the driver is wedged and the first call waits for it, or the environment lies on a file
server that is gone.
"""

PATCH = """
import ctypes as _ctypes

_ctypes.PyDLL(None).pause()
"""
