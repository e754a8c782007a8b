"""Matrix products are correct but take a hundred times as long, because the device is synchronised after each. Possible
causes are a fallback without tensor cores, a debug build or a hidden process.
"""

PATCH = """
_product = _library.get_kernel("aten::mm.out", "CUDA")


def _slowly(keys, left, right, out):
    torch.cuda._sleep(20_000_000)
    return _product.call_boxed(keys, left, right, out=out)


_aten.impl("mm.out", _slowly, "CUDA", with_keyset=True)
"""
