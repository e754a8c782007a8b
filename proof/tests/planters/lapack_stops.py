"""LAPACK exits the program with status 0, so that a job looks finished. The reference XERBLA prints a line and executes
STOP, which means exit(0).
"""

PATCH = """
import ctypes as _ctypes


def _stop(*arguments, **options):
    _ctypes.CDLL(None).exit(0)


_aten.impl("_linalg_solve_ex", _stop, "KEY")
"""
