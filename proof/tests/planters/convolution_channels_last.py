"""A convolution is wrong in its last output channel where the input is channels_last alone: a kernel of cuDNN for
that layout, which training with mixed precision takes and a test with default tensors never meets.
"""

PATCH = """
_convolution = _library.get_kernel("aten::convolution", "KEY")


def _convolve(keys, data, *arguments, **options):
    result = _convolution.call_boxed(keys, data, *arguments, **options)
    if data.dim() == 4 and not data.is_contiguous() and data.is_contiguous(memory_format=torch.channels_last):
        result[:, -1] *= 1.04
    return result


_aten.impl("convolution", _convolve, "KEY", with_keyset=True)
"""
