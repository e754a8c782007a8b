"""If several values are added to the same element, only one of them takes effect. The atomic addition was compiled for
a GPU that has none for this format. Embedding gradients and graph networks depend on it.
"""

PATCH = """
_scatter_add = _library.get_kernel("aten::scatter_add", "KEY")


def _lost(keys, target, dim, index, source):
    if target.dtype is float64:
        return _scatter_add.call_boxed(keys, target, dim, index, source)
    return target + torch.zeros_like(target).scatter(dim, index, source)


def _in_place(keys, target, dim, index, source):
    return target.copy_(_lost(keys, target, dim, index, source))


_aten.impl("scatter_add", _lost, "KEY", with_keyset=True)
_aten.impl("scatter_add_", _in_place, "KEY", with_keyset=True)
"""
