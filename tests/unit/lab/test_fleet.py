# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fleet's names, inventory and sources; what needs containers is in tests/fleet."""

from __future__ import annotations

import pytest

from lab import faults
from lab.bench import Bench
from lab.host import LabError


def test_the_rate_of_no_link_but_a_containers_is_changed(monkeypatch: pytest.MonkeyPatch):
    """What was taken for the container's end of a link once was this machine's own."""
    ran: list[tuple[str, ...]] = []

    class Done:
        stdout = "2: eth0: <UP> mtu 1500\n"

    monkeypatch.setattr(faults, "_in", lambda *words, **options: "9: eth0@if2: <UP> mtu 1500")
    monkeypatch.setattr(faults, "run", lambda *words, **options: ran.append(words) or Done())
    with pytest.raises(LabError, match="no container's"):
        faults.throttle(Bench("mine", "native", {"spark01": "a"}), "spark01", 8000)
    assert [words[0] for words in ran] == ["ip"]
