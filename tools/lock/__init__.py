# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Locks: archives and commits (``upstream``), wheels (``resolve``), the file (``write``) and changes (``diff``)."""

from __future__ import annotations
