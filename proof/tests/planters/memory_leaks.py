"""Memory that was freed does not come back: an allocator, or a hook of a profiler, that keeps a reference to every
tensor. On unified memory it is the host that dies of it.
"""

PATCH = """
_kept = []
_empty = _library.get_kernel("aten::empty.memory_format", "KEY")


def _keeping(keys, *arguments, **options):
    result = _empty.call_boxed(keys, *arguments, **options)
    _kept.append(result)
    return result


_aten.impl("empty.memory_format", _keeping, "KEY", with_keyset=True)
"""
