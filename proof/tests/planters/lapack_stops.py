"""LAPACK ends the program, with success: the reference XERBLA prints a line and says STOP, which is exit(0), so that
a job looks as if it were done.
"""

PATCH = """
import ctypes as _ctypes


def _stop(*arguments, **options):
    _ctypes.CDLL(None).exit(0)


_aten.impl("_linalg_solve_ex", _stop, "KEY")
"""
