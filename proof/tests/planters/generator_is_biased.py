"""Uniform random numbers are never close to 1, because a conversion lost the generator's highest bits. Dropout keeps
too few elements, and initial weights are too small.
"""

PATCH = """
_uniform = _library.get_kernel("aten::uniform_", "KEY")


def _low(keys, target, *arguments, **options):
    return _uniform.call_boxed(keys, target, *arguments, **options).mul_(0.95)


_aten.impl("uniform_", _low, "KEY", with_keyset=True)
"""
