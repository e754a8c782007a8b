"""A kernel writes out of bounds, and every later call in the process returns the same error. An index is off by one."""

PATCH = """
_product = _library.get_kernel("aten::mm", "CUDA")


def _out_of_bounds(keys, left, right):
    result = _product.call_boxed(keys, left, right)
    return result.index_select(0, torch.tensor([result.size(0) + 7], device=result.device))


_aten.impl("mm", _out_of_bounds, "CUDA", with_keyset=True)
"""
