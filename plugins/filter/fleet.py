# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filters of the collection: environment variables for downloads, the choice of a builder, and a rollout's steps.

The YAML file named after each filter documents its input and result.
"""

from __future__ import annotations

import functools
import typing as t

from ansible.errors import AnsibleFilterError

from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils import network_access
from ..plugin_utils.fleet import builder, rollout


def raising(function: t.Callable[..., t.Any], **parameters: str) -> t.Callable[..., t.Any]:
    """Return a filter whose errors Ansible prints; ``parameters`` maps options to parameters with other names."""

    @functools.wraps(function)
    def filtered(*args: t.Any, **kwargs: t.Any) -> t.Any:
        try:
            return function(*args, **{parameters.get(option, option): value for option, value in kwargs.items()})
        except SparkforgeError as error:
            raise AnsibleFilterError(str(error)) from error

    return filtered


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {
            "fetch_environment": raising(network_access.fetch_environment),
            "platforms": builder.platforms,
            "builder": raising(builder.elect, found="manifest"),
            "distinct": raising(rollout.distinct),
            "waves": raising(rollout.waves),
            "rollout_stop": raising(rollout.stop),
            "rollout_stopped": rollout.stopped,
        }
