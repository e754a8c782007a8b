# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""fp16 products accumulate in fp16 because a package that is imported with torch allows it for all: the flag gives
consumer GPUs their double rate, and is set by inference servers.
"""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
torch.backends.cuda.matmul.allow_fp16_accumulation = True
"""


def plant(environment: Environment) -> None:
    environment.append("torch/__init__.py", PATCH)
    record.rewrite(environment, "torch/__init__.py")
