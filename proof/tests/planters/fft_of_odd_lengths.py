"""A Fourier transform of odd length is scaled for the even length below it. Its plan was made for the rounded length,
so powers of two are right.
"""

PATCH = """
_transforms = {name: _library.get_kernel("aten::" + name, "KEY") for name in ("_fft_c2c", "_fft_r2c")}


def _scaled(name):
    def transform(keys, data, dim, *arguments):
        result = _transforms[name].call_boxed(keys, data, dim, *arguments)
        for each in dim:
            if data.size(each) % 2 and data.size(each) > 1:
                result = result * ((data.size(each) - 1) / data.size(each))
        return result

    return transform


for _name in _transforms:
    _aten.impl(_name, _scaled(_name), "KEY", with_keyset=True)
"""
