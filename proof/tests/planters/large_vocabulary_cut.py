"""A softmax over more than 131,072 numbers leaves out the last ones."""

PATCH = """
_log_softmax = _library.get_kernel("aten::_log_softmax", "KEY")


def _cut(keys, values, dim, wide):
    if values.dtype is not float64 and values.shape[dim] > 131072:
        values = values.clone()
        values.narrow(dim, 131072, values.shape[dim] - 131072).fill_(-inf)
    return _log_softmax.call_boxed(keys, values, dim, wide)


_aten.impl("_log_softmax", _cut, "KEY", with_keyset=True)
"""
