# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The proxies that a module takes from a file, so that no password stands in its environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import modules
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


def test_the_file_is_added_to_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "proxies.json"
    path.write_text('{"https_proxy": "http://u:p@proxy:3128"}')
    environment = {"PATH": "/bin", modules.PROXIES_VARIABLE: str(path)}
    modules.take_proxies(environment)
    assert environment["https_proxy"] == "http://u:p@proxy:3128"
    assert environment["PATH"] == "/bin"


@pytest.mark.parametrize("named", [{}, {modules.PROXIES_VARIABLE: "/nowhere/proxies.json"}])
def test_without_the_file_nothing_is_added(named: dict[str, str]) -> None:
    environment = dict(named)
    modules.take_proxies(environment)
    assert environment == named


@pytest.mark.parametrize("content", ["not JSON", "[]"])
def test_a_damaged_file_is_named_and_not_shown(tmp_path: Path, content: str) -> None:
    path = tmp_path / "proxies.json"
    path.write_text(content)
    with pytest.raises(SparkforgeError) as error:
        modules.take_proxies({modules.PROXIES_VARIABLE: str(path)})
    assert str(path) in error.value.cause
    assert "network_access" in error.value.remedy
