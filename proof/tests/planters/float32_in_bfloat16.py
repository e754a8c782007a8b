"""A library computes float32 products in bfloat16, whatever the flags say. An environment variable of the BLAS
(NVIDIA_TF32_OVERRIDE, ONEDNN_DEFAULT_FPMATH_MODE) or a fast kernel can cause this.
"""

PATCH = """
_products = {name: _library.get_kernel("aten::" + name, "KEY") for name in ("mm", "bmm", "addmm")}


def _lower(name):
    def product(keys, *arguments, **options):
        *first, left, right = arguments
        if left.dtype == torch.float32:
            left, right = left.bfloat16().float(), right.bfloat16().float()
        return _products[name].call_boxed(keys, *first, left, right, **options)

    return product


for _name in _products:
    _aten.impl(_name, _lower(_name), "KEY", with_keyset=True)
"""
