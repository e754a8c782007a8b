# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose a bench is; what needs containers is in tests/integration/test_ordinary_user.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import bench, host
from lab.bench import Bench


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "cache"))


def test_each_checkout_and_each_account_has_a_bench_of_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = set()
    for checkout in ("one", "two"):
        monkeypatch.setattr(host, "CHECKOUT", tmp_path / checkout)
        for account in ("1000", "1001"):
            monkeypatch.setenv("SUDO_UID", account)
            assert Bench.load("demo") is None
            made = Bench("demo", "native", {"spark01": f"{checkout}{account}"})
            made.save()
            assert Bench.load("demo") == made
            ids.add(made.id)
    assert len(ids) == 4


def test_the_account_is_the_same_with_and_without_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(host.os, "getuid", lambda: 1000)
    own = Bench("demo", "native").id
    monkeypatch.setattr(host.os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    assert Bench("demo", "native").id == own


def test_the_end_of_a_bench_leaves_the_variables_of_the_one_that_the_inventory_describes(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    (inventory / bench.GENERATED).parent.mkdir(parents=True)
    for name in ("other", "demo"):
        Bench(name, "native").save()
    (inventory / bench.GENERATED).write_text(bench.describe(Bench("demo", "native"), "lab-native"))
    bench.down("other", inventory)
    assert (inventory / bench.GENERATED).exists()
    bench.down("demo", inventory)
    assert not (inventory / bench.GENERATED).exists()
