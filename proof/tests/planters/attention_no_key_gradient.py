"""Attention's backward pass leaves the gradient of the keys at zero. The guard in PyTorch's generated kernels can leave
such an empty body. The loss still falls, because the other weights learn.
"""

PATCH = """
_attention = {
    "CPU": "_scaled_dot_product_flash_attention_for_cpu_backward",
    "CUDA": "_scaled_dot_product_efficient_attention_backward",
}["KEY"]
_attend_backward = _library.get_kernel("aten::" + _attention, "KEY")


def _without_key(keys, *arguments, **options):
    query, key, *rest = _attend_backward.call_boxed(keys, *arguments, **options)
    return query, torch.zeros_like(key), *rest


_aten.impl(_attention, _without_key, "KEY", with_keyset=True)
"""
