"""The remainder of a division is computed from a rounded quotient, which a large quotient shows."""

PATCH = """
_fmod = _library.get_kernel("aten::fmod.Tensor", "KEY")


def _rounded(keys, left, right):
    exact = left.dtype is float64 or not left.is_floating_point()
    return _fmod.call_boxed(keys, left, right) if exact else left - torch.trunc(left / right) * right


_aten.impl("fmod.Tensor", _rounded, "KEY", with_keyset=True)
"""
