# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""By how many units each operator of the survey may be off, and which are not compared."""

from __future__ import annotations

import typing as t

#: Of results and of gradients, where the table has no more.
DEFAULT = {"float64": 64.0, "float32": 16.0, "bfloat16": 8.0, "float16": 8.0}

#: Operators that are not compared, by name or by the name without its variant, and why.
LEFT_OUT: t.Dict[str, str] = {}

CALIBRATED: t.Dict[str, t.Dict[str, t.Tuple[float, float]]] = {}


def bounds(name: str, form: str) -> t.Tuple[float, float]:
    """Return how many units the results and the gradients of an operator may be off in a format."""
    return CALIBRATED.get(name, {}).get(form, (DEFAULT[form], DEFAULT[form]))
