# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is installed: packages, libraries, binaries and tools, and whether torch reaches the GPU.

A check belongs here if it asks where a file comes from, what it was built for, or whether it loads. torchvision and
torchaudio are here with the numbers of their own kernels.
"""
