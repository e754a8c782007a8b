"""The documentation that all modules of the collection share."""

from __future__ import annotations


class ModuleDocFragment:
    # A module sets its own support for each attribute; the descriptions are here.
    DOCUMENTATION = r"""
author: The sparkforge maintainers (!UNKNOWN)
options: {}
notes:
  - A failure returns C(cause) and C(remedy), one sentence each. C(msg) contains both.
attributes:
  check_mode:
    description: Can run in C(check_mode) and report its changes without changing the host.
  diff_mode:
    description: In diff mode, returns the changes that it made, or would make in C(check_mode).
  idempotent:
    description: A second run with the same arguments changes nothing.
  platform:
    description: The supported operating systems.
    support: full
    platforms: Debian, Ubuntu, DGX OS
"""

    # The attributes of modules that change the host and can report their changes beforehand.
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

    # The attributes of modules that work on the controller. List this fragment first, because the first value wins.
    CONTROLLER = r"""
options: {}
attributes:
  platform:
    support: full
    platforms: all
    details: The module runs on the controller.
"""

    # The attributes of modules that only read.
    INFO = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: The module only reads.
  diff_mode:
    support: N/A
    details: The module only reads.
  idempotent:
    support: full
    details: The module only reads.
"""
