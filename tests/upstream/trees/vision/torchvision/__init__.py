# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of torchvision's own."""

import torch  # noqa: F401 - brings the libraries that the extension is linked with

# isort: split
from torchvision import _C
from torchvision.version import __version__

__all__ = ["_C", "__version__"]
