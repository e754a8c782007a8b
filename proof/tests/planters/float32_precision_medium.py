# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""float32 products are made in TF32, because something that is imported with torch says so for all: sitecustomize, a
vendor's build, an accelerator package.
"""

PATCH = """
torch.set_float32_matmul_precision("medium")
"""
