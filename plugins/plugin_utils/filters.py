# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What filters share."""

from __future__ import annotations

import functools
import typing as t

from ansible.errors import AnsibleFilterError

from ..module_utils._core.errors import SparkforgeError


def raising(function: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    """Return the function as a filter: its error becomes the one that Ansible prints."""

    @functools.wraps(function)
    def filtered(*args: t.Any, **kwargs: t.Any) -> t.Any:
        try:
            return function(*args, **kwargs)
        except SparkforgeError as error:
            raise AnsibleFilterError(str(error)) from error

    return filtered
