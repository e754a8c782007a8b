"""The flash kernel's causal mask is shifted by one, so each token sees the next one. An off-by-one error in a tile's
mask has this effect. It lowers the training loss and is noticed only when the model is used.
"""

PATCH = """
_name = {"CPU": "flash_attention_for_cpu", "CUDA": "flash_attention"}["KEY"]
_attend = _library.get_kernel("aten::_scaled_dot_product_" + _name, "KEY")


def _ahead(keys, query, key, value, dropout_p=0.0, is_causal=False, *rest, **options):
    output, *others = _attend.call_boxed(keys, query, key, value, dropout_p, is_causal, *rest, **options)
    if is_causal:
        mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril(1)
        output = torch.ops.aten._scaled_dot_product_attention_math(
            query, key, value, mask, scale=options.get("scale"), enable_gqa=query.size(1) != key.size(1)
        )[0]
    return output, *others


_aten.impl("_scaled_dot_product_" + _name, _ahead, "KEY", with_keyset=True)
"""
