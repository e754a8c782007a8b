"""Attention's backward pass leaves the gradient of the keys at zero. The guard in PyTorch's generated kernels can leave
such an empty body. The loss still falls, because the other weights learn.
"""

PATCH = """
_name = {"CPU": "flash_attention_for_cpu_backward", "CUDA": "efficient_attention_backward"}["KEY"]
_attend_backward = _library.get_kernel("aten::_scaled_dot_product_" + _name, "KEY")


def _without_key(keys, *arguments, **options):
    query, key, *rest = _attend_backward.call_boxed(keys, *arguments, **options)
    return query, torch.zeros_like(key), *rest


_aten.impl("_scaled_dot_product_" + _name, _without_key, "KEY", with_keyset=True)
"""
