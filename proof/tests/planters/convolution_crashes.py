"""A convolution reads through a null pointer, and its process is killed. An engine from another cuDNN minor version can
crash like this; an illegal instruction has a similar effect.
"""

PATCH = """
import ctypes as _ctypes


def _crash(keys, *arguments, **options):
    _ctypes.string_at(0)


_aten.impl("convolution", _crash, "KEY", with_keyset=True)
"""
