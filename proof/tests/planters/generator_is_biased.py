"""Uniform random numbers never come near 1: the generator lost its highest bits in a conversion. Dropout keeps too few
elements, and initial weights are too small.
"""

PATCH = """
_uniform = _library.get_kernel("aten::uniform_", "KEY")


def _low(keys, target, *arguments, **options):
    return _uniform.call_boxed(keys, target, *arguments, **options).mul_(0.95)


_aten.impl("uniform_", _low, "KEY", with_keyset=True)
"""
