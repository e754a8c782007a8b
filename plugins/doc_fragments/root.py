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
