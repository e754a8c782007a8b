"""A convolution reads through a null pointer and its process is killed. An engine of another cuDNN minor version
crashes like this, similar to an illegal instruction.
"""

PATCH = """
import ctypes as _ctypes


def _crash(keys, *arguments, **options):
    _ctypes.string_at(0)


_aten.impl("convolution", _crash, "KEY", with_keyset=True)
"""
