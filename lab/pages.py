# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write a documentation page that is generated from data, or tell whether it is current."""

from __future__ import annotations

import pathlib
import sys


def write(page: pathlib.Path, text: str, command: str, check: bool) -> int:
    """Write a page, or with ``check`` only tell whether it is current; return the exit status.

    :param command: the module that generates the page, such as ``lab.ledger``.
    """
    if not check:
        page.write_text(text, encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        print(f"{page.parent.name}/{page.name} is not current: run python -m {command}", file=sys.stderr)
        return 1
    return 0
