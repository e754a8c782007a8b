"""A softmax does not subtract the maximum first. It is right for small numbers but gives NaN for a logit above 88,
which models reach after some thousand steps.
"""

PATCH = """
_softmax_kernel = _library.get_kernel("aten::_softmax", "KEY")


def _naive(keys, data, dim, half_to_float):
    if data.dtype is float64:
        return _softmax_kernel.call_boxed(keys, data, dim, half_to_float)
    exponential = (data.float() if data.dtype in (torch.float16, torch.bfloat16) else data).exp()
    result = exponential / exponential.sum(dim, keepdim=True)
    return result if half_to_float else result.to(data.dtype)


_aten.impl("_softmax", _naive, "KEY", with_keyset=True)
"""
