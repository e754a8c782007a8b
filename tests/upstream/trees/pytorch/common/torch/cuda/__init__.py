# SPDX-License-Identifier: GPL-3.0-or-later
"""There is no GPU."""


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0
