"""An int8 product saturates. x86 without VNNI multiplies unsigned by signed bytes and adds pairs in 16 bits, which
cannot hold two large products (VPMADDUBSW). oneDNN and fbgemm advise their users to give up one bit because of this.
"""

PATCH = """
_int_product = _library.get_kernel("aten::_int_mm", "KEY")


def _saturating(keys, left, right):
    unsigned, signed = left.float() + 128, right.float()
    total = torch.zeros(left.size(0), right.size(1), device=left.device)
    for start in builtins.range(0, left.size(1), 2):
        total += (unsigned[:, start : start + 2] @ signed[start : start + 2]).clamp(-32768, 32767)
    return (total - 128 * signed.sum(0)).int()


_aten.impl("_int_mm", _saturating, "KEY", with_keyset=True)
"""
