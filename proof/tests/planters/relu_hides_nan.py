"""An activation that is fused with a product returns zero for NaN."""

PATCH = """
_activation = _library.get_kernel("aten::_addmm_activation", "KEY")


def _hidden(keys, *arguments, **options):
    return _activation.call_boxed(keys, *arguments, **options).nan_to_num(0)


_aten.impl("_addmm_activation", _hidden, "KEY", with_keyset=True)
"""
