# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Additional values for rules: the provider of a library, and the hashes in a text."""

from __future__ import annotations

import re

from .._elf import providers
from .table import Facts


def _library(groups: dict[str, str]) -> dict[str, str]:
    soname = groups["found"]
    provider = providers.provider(soname, cuda_version="13.0")
    role = f"role {provider.role}" if provider.role not in (None, "driver") else ""
    package = f"package {provider.package}" if provider.package else ""
    remedies = filter(None, (role, package))
    return {"hint": provider.hint, "ways": f" ({', '.join(remedies)})" if role or package else ""}


def _hashes(groups: dict[str, str]) -> dict[str, str]:
    return {"hashes": " or ".join(re.findall(r"[0-9a-f]{16,}", groups["expected"]))}


#: The function for each name in a rule's ``facts``.
FACTS: dict[str, Facts] = {"library": _library, "hashes": _hashes}
