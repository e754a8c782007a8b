# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The directory option that most modules share, and the action group that sets it for all of them."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  root:
    description: The collection's directory on the host, with environments, wheelhouse, builds and receipts.
    type: path
    default: /opt/sparkforge
attributes:
  action_group:
    description: C(module_defaults) can set O(root) for the whole action group.
    support: full
    membership:
      - sparkforge.dgx_spark.host
"""
