# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""The plan of the role torch_extensions: the headers of image formats that torchvision is compiled with."""

from __future__ import annotations

import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import Plan, packages


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return what is to be installed, nothing where the packages are to be taken back.

    :raises SparkforgeError: for what is not a package's name.
    """
    if settings["torch_extensions_state"] == "absent" or "torchvision" not in settings["__torch_extensions_wanted"]:
        return Plan()
    return packages(settings["torch_extensions_packages"], observation)
