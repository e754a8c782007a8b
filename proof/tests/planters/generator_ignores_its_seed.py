"""Seeds do not make random numbers repeatable, so runs cannot be compared. The fill always draws from the default
generator and ignores the generator in its arguments.
"""

PATCH = """
_fills = {name: _library.get_kernel("aten::" + name, "KEY") for name in ("normal_", "uniform_")}


def _draw(name):
    def fill(keys, target, first=0.0, second=1.0, generator=None):
        return _fills[name].call_boxed(keys, target, first, second, generator=None)

    return fill


for _name in _fills:
    _aten.impl(_name, _draw(_name), "KEY", with_keyset=True)
"""
