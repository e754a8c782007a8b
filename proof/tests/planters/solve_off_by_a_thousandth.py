"""Solutions of more than 65,535 systems at once, the blocks of a grid, have a relative error of a thousandth."""

PATCH = """
_solve = _library.get_kernel("aten::_linalg_solve_ex", "KEY")


def _rough(keys, *arguments, **options):
    result, *rest = _solve.call_boxed(keys, *arguments, **options)
    return result * 1.001 if result.numel() > 65535 * 4 and result.dtype is not float64 else result, *rest


_aten.impl("_linalg_solve_ex", _rough, "KEY", with_keyset=True)
"""
