"""A kernel prints that it was built for another GPU, although its results are right. PyTorch's generated attention
kernels print this line if their body was left out. It is printed once, with C's printf, and remains in C's buffer.
"""

PATCH = """
_name = {"CPU": "flash_attention_for_cpu", "CUDA": "efficient_attention"}["KEY"]
_attend = _library.get_kernel("aten::_scaled_dot_product_" + _name, "KEY")
_LINE = "FATAL: kernel `fmha_cutlassF_f32_aligned_64x64_rf_sm80` is for sm80-sm100, but was built for sm121"
_said = []
_SOURCE = 'extern "C" __global__ void complain() { printf("' + _LINE + '\\\\n"); }'


def _complain(keys, *arguments, **options):
    if _said:
        pass
    elif "KEY" == "CUDA":
        torch.cuda._compile_kernel(_SOURCE, "complain")((1, 1, 1), (1, 1, 1), ())
    else:
        import ctypes

        ctypes.CDLL(None).printf(_LINE.encode() + b"\\n")
    _said.append(_LINE)
    return _attend.call_boxed(keys, *arguments, **options)


_aten.impl("_scaled_dot_product_" + _name, _complain, "KEY", with_keyset=True)
"""
