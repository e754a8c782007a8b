# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What unit tests share beside what they import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit import interpreter


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Give a directory that every account may enter; ``tmp_path`` is its owner's alone."""
    with interpreter.open_directory() as place:
        yield place
