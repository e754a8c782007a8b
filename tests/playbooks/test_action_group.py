# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action group of the modules on a host, by which a play gives all of them one root."""

from __future__ import annotations

from pathlib import Path

from tests.playbooks.run_playbook import run_playbook

PLAY = """
- hosts: localhost
  gather_facts: false
  module_defaults:
    group/sparkforge.dgx_spark.host:
      root: "{{ place }}"
  tasks:
    - sparkforge.dgx_spark.audit_info:
        sbom: torch
"""


def test_a_play_sets_the_root_of_modules_that_an_action_of_ours_runs(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PLAY)
    place = tmp_path / "elsewhere"
    done = run_playbook(tmp_path, "-c", "local", "-i", "localhost,", "play.yml", "-e", f"place={place}")
    assert f"There is no environment torch below {place}." in done.stdout, done.stdout
