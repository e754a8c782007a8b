"""A copy from a strided tensor skips the last element, because the grid size is rounded down. Contiguous copies use
another kernel, which is correct.
"""

PATCH = """
_copy = _library.get_kernel("aten::copy_", "KEY")


def _all_but_one(keys, target, source, non_blocking=False):
    if not isinstance(source, torch.Tensor):
        return target.fill_(source)
    if target.numel() > 8 and target.is_contiguous() and source.shape == target.shape and not source.is_contiguous():
        last = target.view(-1)[-1:].clone()
        _copy.call_boxed(keys, target, source, non_blocking)
        target.view(-1)[-1:] = last
        return target
    return _copy.call_boxed(keys, target, source, non_blocking)


_aten.impl("copy_", _all_but_one, "KEY", with_keyset=True)
"""
