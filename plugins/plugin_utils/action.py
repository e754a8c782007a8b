# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""What action plugins share."""

from __future__ import annotations

import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


def expanded(arguments: t.Mapping[str, t.Any], option: str) -> dict[str, t.Any]:
    """Return a task's arguments with those of the mapping ``option`` among them.

    What the task gives itself wins, and null in the mapping is as if it were left out.

    :raises SparkforgeError: where the option is not a mapping.
    """
    rest = dict(arguments)
    mapping = rest.pop(option, None) or {}
    if not isinstance(mapping, dict):
        raise SparkforgeError(
            f"The option {option} is not a mapping: {str(mapping)[:200]!r}.", "Give a mapping of the module's options."
        )
    return {**{key: value for key, value in mapping.items() if value is not None}, **rest}
