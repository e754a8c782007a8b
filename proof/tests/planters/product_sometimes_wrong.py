"""One element of every third product is off by a tenth, as after a race or on an overheated chip. A check that computes
a single product passes two times out of three.
"""

PATCH = """
_products = {name: _library.get_kernel("aten::" + name, "KEY") for name in ("mm", "bmm", "addmm")}
_calls = [0]


def _now_and_then(name):
    def product(keys, *arguments, **options):
        result = _products[name].call_boxed(keys, *arguments, **options)
        _calls[0] += 1
        if _calls[0] % 3 == 0 and result.is_floating_point() and result.numel():
            result[..., 0, 0] *= 1.1
        return result

    return product


for _name in _products:
    _aten.impl(_name, _now_and_then(_name), "KEY", with_keyset=True)
"""
