"""If several values are added to the same element, only one of them takes effect. The atomic addition was compiled for
a GPU that has none for this format. Embedding gradients and graph networks depend on it.
"""

PATCH = """
def _lost(target, dim, index, source):
    return target + torch.zeros_like(target).scatter(dim, index, source)


def _new(keys, target, dim, index, source):
    return _lost(target, dim, index, source)


def _in_place(keys, target, dim, index, source):
    return target.copy_(_lost(target, dim, index, source))


_aten.impl("scatter_add", _new, "KEY", with_keyset=True)
_aten.impl("scatter_add_", _in_place, "KEY", with_keyset=True)
"""
