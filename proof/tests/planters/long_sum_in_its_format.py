"""The partial sums of a long sum of 16-bit numbers are stored in 16 bits."""

PATCH = """
_sum = _library.get_kernel("aten::sum.dim_IntList", "KEY")


def _short(keys, values, dims, *arguments, **options):
    if values.dtype is not float16 or values.numel() <= 65536 or dims:
        return _sum.call_boxed(keys, values, dims, *arguments, **options)
    parts = values.flatten().split(65536)
    first, *rest = (_sum.call_boxed(keys, part, dims, *arguments, **options) for part in parts)
    for part in rest:
        first = first + part
    return first


_aten.impl("sum.dim_IntList", _short, "KEY", with_keyset=True)
"""
