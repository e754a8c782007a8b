# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an owner reads who starts the site with an inventory that is not finished."""

from __future__ import annotations

from pathlib import Path

from tests.playbooks.run_playbook import ROOT, run_playbook

SHIPPED = ROOT / "inventory/hosts.yml"


def test_the_shipped_inventory_unedited_names_the_line_to_edit(tmp_path: Path) -> None:
    # A name that nobody has, whatever this network resolves.
    own = tmp_path / "hosts.yml"
    own.write_text(SHIPPED.read_text().replace("spark01.local", "spark01.invalid"))
    done = run_playbook(tmp_path, "-i", str(own), str(ROOT / "site.yml"), "-l", "spark01")
    said = " ".join(done.stdout.split())
    assert done.returncode == 4, said
    assert "spark01 cannot be reached over ssh: Could not resolve hostname spark01.invalid" in said
    assert f"into line 8 of {own} (ansible_host: spark01.invalid), or run `make spark`" in said
    # Nothing was asked of it but that.
    assert "changed=0" in said and said.count("UNREACHABLE!") == 1
