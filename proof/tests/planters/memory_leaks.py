"""Memory is not released: an allocator or a profiler's hook keeps a reference to every tensor. With unified memory, the
host runs out of memory.
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
