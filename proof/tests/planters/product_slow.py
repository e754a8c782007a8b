"""Matrix products are right and take a hundred times as long: a fallback without tensor cores, a debug build, or
another process that nobody sees. The device waits after each.
"""

PATCH = """
_product = _library.get_kernel("aten::mm.out", "CUDA")


def _slowly(keys, left, right, out):
    torch.cuda._sleep(20_000_000)
    return _product.call_boxed(keys, left, right, out=out)


_aten.impl("mm.out", _slowly, "CUDA", with_keyset=True)
"""
