"""A layer norm loses its epsilon, because a fused kernel gets the wrong argument. A row without variance becomes NaN, a
row with little variance is off by a few per cent, and ordinary rows are correct.
"""

PATCH = """
_layer_norm = _library.get_kernel("aten::native_layer_norm", "KEY")


def _exactly(keys, data, shape, weight, bias, eps):
    return _layer_norm.call_boxed(keys, data, shape, weight, bias, eps if data.dtype is float64 else 0.0)


_aten.impl("native_layer_norm", _exactly, "KEY", with_keyset=True)
"""
