"""Products of 16-bit numbers keep their running sum in 16 bits, and all results look plausible. cuBLAS does this on
request (allow_fp16_accumulation), and kernels for consumer GPUs do it for speed.
"""

PATCH = """
_products = {name: _library.get_kernel("aten::" + name, "KEY") for name in ("mm", "bmm")}


def _rounding(name):
    def product(keys, left, right):
        if left.dtype not in (torch.float16, torch.bfloat16) or left.size(-1) <= 32:
            return _products[name].call_boxed(keys, left, right)
        total = 0
        for start in builtins.range(0, left.size(-1), 32):
            part = left[..., start : start + 32].contiguous(), right[..., start : start + 32, :].contiguous()
            total = total + _products[name].call_boxed(keys, *part)
        return total

    return product


for _name in _products:
    _aten.impl(_name, _rounding(_name), "KEY", with_keyset=True)
"""
