"""A scan with another operation than a sum begins anew with each tile of 1,920 numbers."""

PATCH = """
_logcumsumexp = _library.get_kernel("aten::_logcumsumexp", "KEY")


def _tiled(keys, values, dim):
    results = _logcumsumexp.call_boxed(keys, values, dim)
    if values.dim() == 1 and values.dtype is not float64:
        results[1920::1920] = values[1920::1920]
    return results


_aten.impl("_logcumsumexp", _tiled, "KEY", with_keyset=True)
"""
