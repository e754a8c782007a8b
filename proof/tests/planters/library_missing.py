# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A library that another one needs is gone: an archive was removed, or a wheel of another version left it out. torch
cannot be imported, and the loader names one library at a time.
"""

from __future__ import annotations

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    (environment.site_packages / "torch/lib/libshm.so").unlink()
