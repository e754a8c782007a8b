"""The output of one attention kernel is three per cent too large. torch 2.10 and 2.11 built for sm_121 had a
memory-efficient kernel whose norms were off by more, without an exception or a NaN.
"""

PATCH = """
_name = {"CPU": "flash_attention_for_cpu", "CUDA": "efficient_attention"}["KEY"]
_attend = _library.get_kernel("aten::_scaled_dot_product_" + _name, "KEY")


def _too_large(keys, *arguments, **options):
    output, *rest = _attend.call_boxed(keys, *arguments, **options)
    return output * 1.03, *rest


_aten.impl("_scaled_dot_product_" + _name, _too_large, "KEY", with_keyset=True)
"""
