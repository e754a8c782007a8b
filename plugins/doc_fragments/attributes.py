# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation that all modules of the collection share."""

from __future__ import annotations


class ModuleDocFragment:
    # A module names its own support for each attribute; the words stand here.
    DOCUMENTATION = r"""
options: {}
notes:
  - A failure returns C(cause), what is wrong, and C(remedy), what to do about it, each a sentence. C(msg) has both.
attributes:
  check_mode:
    description: Can run in C(check_mode) and say what it would change without changing the host.
  diff_mode:
    description: Returns what has changed, or would change in C(check_mode), when in diff mode.
  idempotent:
    description: A second run with the same arguments changes nothing.
  platform:
    description: The operating systems that this works on.
    support: full
    platforms: Debian, Ubuntu, DGX OS
"""

    # For modules that change the host and say beforehand what they would do.
    CHANGES = r"""
options: {}
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
"""

    # For what works on the controller; named before the first one, since the first to say something counts.
    CONTROLLER = r"""
options: {}
attributes:
  platform:
    support: full
    platforms: all
    details: It runs on the controller.
"""

    # For modules that only read.
    INFO = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: This only reads.
  diff_mode:
    support: N/A
    details: This only reads.
  idempotent:
    support: full
    details: This only reads.
"""
