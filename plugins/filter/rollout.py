# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filters of a fleet: which machines it has, how large its waves are, whether the next may begin, where it stopped.

What they take and return is in the file of each one's name.
"""

from __future__ import annotations

import typing as t

from ..plugin_utils.filters import raising
from ..plugin_utils.fleet import rollout


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {
            "distinct": raising(rollout.distinct),
            "waves": raising(rollout.waves),
            "rollout_stop": raising(rollout.stop),
            "rollout_stopped": rollout.stopped,
        }
