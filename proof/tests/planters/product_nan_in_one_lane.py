"""One element in the last row of a matrix product is NaN: a warp reads past its tile."""

PATCH = """
_products = {name: _library.get_kernel("aten::" + name, "KEY") for name in ("mm", "bmm", "addmm")}


def _spoil(name):
    def product(keys, *arguments, **options):
        result = _products[name].call_boxed(keys, *arguments, **options)
        if result.is_floating_point() and result.numel() and result.size(-1) > 17:
            result[..., -1, 17] = torch.nan
        return result

    return product


for _name in _products:
    _aten.impl(_name, _spoil(_name), "KEY", with_keyset=True)
"""
