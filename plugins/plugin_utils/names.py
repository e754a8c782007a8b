# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names that mean something else in an inventory than a machine."""

from __future__ import annotations

#: Ansible's own name for the machine that it runs on. Where the inventory gives it to another, plays on ``localhost``
#: and tasks that are delegated to it run there.
CONTROLLER = "localhost"
#: That, and the names of groups of Ansible and the collection.
RESERVED = frozenset({CONTROLLER, "all", "ungrouped", "sparks", "builders", "fabric"})
