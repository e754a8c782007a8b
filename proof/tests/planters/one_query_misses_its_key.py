"""Attention with a single query, as used in decoding, does not see the newest key."""

PATCH = """
_attention = "_scaled_dot_product_flash_attention_for_cpu"
_attend = _library.get_kernel("aten::" + _attention, "KEY")


def _short(keys, query, key, value, *arguments, attn_mask=None, **options):
    if query.shape[2] == 1 and key.shape[2] > 1 and query.dtype is not float64:
        key, value = key[:, :, :-1], value[:, :, :-1]
        attn_mask = None if attn_mask is None else attn_mask[..., :-1]
    return _attend.call_boxed(keys, query, key, value, *arguments, attn_mask=attn_mask, **options)


_aten.impl(_attention, _short, "KEY", with_keyset=True)
"""
