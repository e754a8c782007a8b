# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of single kernels that compute: products, convolutions, attention, linear algebra, Fourier transforms, Triton.

A check belongs here if it calls one operator in its formats, layouts and variants, forward and backward.
"""
