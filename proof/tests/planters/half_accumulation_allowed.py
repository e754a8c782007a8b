# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""fp16 products accumulate in fp16 because a package that is imported with torch allows it for all: the flag gives
consumer GPUs their double rate, and is set by inference servers.
"""

PATCH = """
torch.backends.cuda.matmul.allow_fp16_accumulation = True
"""
