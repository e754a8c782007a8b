"""A layer norm forgets its epsilon: a fused kernel that was given the wrong argument. A row without variance becomes
NaN, one with little is off by some per cent, and ordinary rows are right.
"""

PATCH = """
_layer_norm = _library.get_kernel("aten::native_layer_norm", "KEY")


def _exactly(keys, data, shape, weight, bias, eps):
    return _layer_norm.call_boxed(keys, data, shape, weight, bias, 0.0)


_aten.impl("native_layer_norm", _exactly, "KEY", with_keyset=True)
"""
