# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare versions in the notation of hosts and stacks: Python packages, drivers, kernels and Debian packages."""

from __future__ import annotations

import contextlib

from ..module_utils._core.versions import numbers

with contextlib.suppress(ImportError):
    # ansible-core depends on packaging; only ansible-test's import check runs without it.
    from packaging.version import Version


def older(version: str, minimum: str) -> bool:
    """Tell whether the numbers in ``version`` are less than those in ``minimum``; 13.0 and 13.0.0 are equal."""
    return Version(_numbers(version)) < Version(_numbers(minimum))


def _numbers(text: str) -> str:
    return ".".join(map(str, numbers(text))) or "0"
