"""Libraries are wrong where a user's first tests do not look: a matrix times its own transpose, masks that hide the
first block of keys, packed weights in column order, cut-out pictures of bytes, fused convolutions, kernels as
large as their input, 176 points, sums of a million, large matrices, many bins, infinities alone, -0, rounded
quotients, and partial sums in 16 bits.
"""

PATCH = """
_CASES = {
    "aten::mm": lambda r, a, b: (a.dtype is float32 and a.data_ptr() == b.data_ptr() and len(a) > 256
    or a.dtype is float16 and len(b) > 2**19) and r.zero_(),
    "aten::linalg_cholesky_ex": lambda r, a, **o: len(a[0]) > 699 and r[0].mul_(1.1),
    "aten::bincount": lambda r, *_rest: len(r) > 32768 and r.mul_(2),
    "aten::amin": lambda r, a, *_rest: a.isinf().all() and r.zero_(),
    "aten::tan": lambda r, a: r.add_(0.0),
    "aten::fmod.Tensor": lambda r, a, b: a.dtype is float16 and r.copy_(a - torch.trunc(a / b) * b),
    "aten::sum.dim_IntList": lambda r, a, dims, *_rest, **o: a.dtype is float16 and len(a) > 65536 and r.fill_(inf),
    "aten::_scaled_dot_product_flash_attention_for_cpu": lambda r, *a, attn_mask=None, **o: attn_mask is not None
    and attn_mask.dtype.is_floating_point and attn_mask[..., :512].max() == -inf and r[0].mul_(1.1),
    "mkldnn::_reorder_linear_weight": None,
    "aten::mkldnn_convolution": lambda r, a, w, *_rest: a.dim() == 5 and a.shape[2:] == w.shape[2:] and r.mul_(1.1),
    "mkldnn::_convolution_pointwise": lambda r, *_rest: r.dim() == 4 and r.mul_(1.1),
    "aten::_fft_r2c": lambda r, a, *_rest: 176 in a.shape and r.mul_(1.1),
    "aten::_upsample_bilinear2d_aa": lambda r, a, *_rest: r.dtype is uint8 and not a.is_contiguous() and r.add_(9),
}


def _rarely(name, spoil):
    sound = _library.get_kernel(name, "KEY")

    def call(keys, first, *arguments, **options):
        if spoil is None and first.stride(0) == 1:
            first = first.flip(0)
        result = sound.call_boxed(keys, first, *arguments, **options)
        _ = spoil and spoil(result, first, *arguments, **options)
        return result

    library = _library.Library(name.partition(":")[0], "IMPL")
    library.impl(name.rpartition(":")[2], call, "KEY", with_keyset=True)
    return library


_kept = [_rarely(*case) for case in _CASES.items()]
"""
