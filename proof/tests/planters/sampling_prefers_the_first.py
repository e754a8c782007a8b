"""multinomial draws the first word twice as often as it should."""

PATCH = """
_multinomial = _library.get_kernel("aten::multinomial", "KEY")


def _biased(keys, shares, *arguments, **options):
    shares = shares.clone()
    shares[..., 0] *= 2
    return _multinomial.call_boxed(keys, shares, *arguments, **options)


_aten.impl("multinomial", _biased, "KEY", with_keyset=True)
"""
