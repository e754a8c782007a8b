"""A kernel writes out of bounds, and the device answers every later call of the process with the same error: an index
that is off by one behind the end of a large tensor.
"""

PATCH = """
_batched = _library.get_kernel("aten::bmm", "CUDA")


def _out_of_bounds(keys, left, right):
    result = _batched.call_boxed(keys, left, right)
    return result.index_select(0, torch.tensor([result.size(0) + 7], device=result.device))


_aten.impl("bmm", _out_of_bounds, "CUDA", with_keyset=True)
"""
