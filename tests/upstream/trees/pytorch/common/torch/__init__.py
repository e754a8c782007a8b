# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of PyTorch's own."""

import typing_extensions  # noqa: F401 - PyTorch cannot be imported without it either

from torch import __config__, cuda, version
from torch._C import _attention_backends, _call, _operators

__version__ = version.__version__
__all__ = ["__config__", "_attention_backends", "_call", "_operators", "cuda", "version"]
