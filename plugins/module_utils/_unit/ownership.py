# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which directories below the root are the building account's, and which are root's.

::

    the account's   builds, wheelhouse/<platform>/<unit>
    root's          wheelhouse, wheelhouse/<platform> with its manifests and index, receipts, receipts/units

What a host installs follows from root's alone, so that no build changes what an earlier one made.
"""

from __future__ import annotations

import os
import stat

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import accounts, disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import receipt as sealing

#: What is no unit below ``wheelhouse/<platform>``.
MANIFESTS, SIMPLE = "manifests", "simple"


def settle(root: str) -> None:
    """Take back what earlier versions of this collection gave to the account; do nothing where nothing is.

    The receipts of the builds until then are believed this once. Manifests and index are written anew by whoever
    publishes.

    :raises SparkforgeError: where something other than a directory is in the place of one.
    """
    if os.geteuid() != 0:
        return
    house, receipts = os.path.join(root, "wheelhouse"), os.path.join(root, "receipts", "units")
    _take(house)
    for platform in disk.names(house):
        _take(os.path.join(house, platform))
        for name in (MANIFESTS, SIMPLE):
            path = os.path.join(house, platform, name)
            if _is_another_s(path):
                disk.remove(path)
    _take(receipts)
    for name in disk.names(receipts):
        path = os.path.join(receipts, name)
        if _is_another_s(path):
            known = sealing.read(path)
            disk.remove(path)
            if known is not None:
                disk.write_file(path, sealing.text_of(known))


def _take(directory: str) -> None:
    if _is_another_s(directory):
        accounts.own(directory, 0, 0)


def _is_another_s(path: str) -> bool:
    """Tell whether ``path`` is not root's, or a link or the like, which nobody of ours has put there."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return found.st_uid != 0 or not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode))
