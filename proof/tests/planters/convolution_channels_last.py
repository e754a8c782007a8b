"""A convolution of a channels_last input is wrong in its last output channel. The fault is in a cuDNN kernel for that
layout. Mixed-precision training uses it; a test with default tensors does not.
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
