# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The emulator's entry in binfmt_misc, which all users of a machine share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import emulator


def test_the_entry_stays_while_a_bench_of_another_users_cache_needs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = tmp_path / "binfmt_misc"
    kernel.mkdir()
    entry = kernel / emulator.ENTRY
    (kernel / "register").touch()
    entry.write_text("enabled\n")
    monkeypatch.setattr(emulator, "BINFMT", kernel)
    monkeypatch.setattr(emulator, "STATE", tmp_path / "run", raising=False)
    monkeypatch.setattr(emulator, "native_architecture", lambda: "amd64")
    monkeypatch.setattr(emulator, "binary", lambda: tmp_path / "qemu-aarch64")

    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "alice"))
    emulator.register("demo")
    # Another user's bench ends; `make lab-down` of theirs says so of native benches too.
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "bob"))
    emulator.release("fleet")
    assert entry.read_text() == "enabled\n"
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "alice"))
    emulator.release("demo")
    assert entry.read_text() == "-1"
