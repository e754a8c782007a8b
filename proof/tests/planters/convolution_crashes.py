"""A convolution reads through a null pointer and takes the process with it: an engine of cuDNN of another minor
version, an illegal instruction's cousin.
"""

PATCH = """
import ctypes as _ctypes


def _crash(keys, *arguments, **options):
    _ctypes.string_at(0)


_aten.impl("convolution", _crash, "KEY", with_keyset=True)
"""
