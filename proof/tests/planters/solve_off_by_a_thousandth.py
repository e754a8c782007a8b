"""LAPACK solves with a relative error of a thousandth in double precision. Either the BLAS was built with products in
lower precision, or an LP64 interface was linked for ILP64 callers.
"""

PATCH = """
_solve = _library.get_kernel("aten::_linalg_solve_ex", "KEY")


def _rough(keys, *arguments, **options):
    result, *rest = _solve.call_boxed(keys, *arguments, **options)
    return result * 1.001, *rest


_aten.impl("_linalg_solve_ex", _rough, "KEY", with_keyset=True)
"""
