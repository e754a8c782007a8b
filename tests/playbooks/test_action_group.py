"""The action group of the modules that run on a host, with which a play sets their root; and removed modules."""

import json
import re
from pathlib import Path

import yaml

from tests.playbooks.run_playbook import ROOT, run_playbook

PLAY = """
- hosts: localhost
  gather_facts: false
  module_defaults:
    group/sparkforge.dgx_spark.host:
      root: "{{ place }}"
  tasks:
    - sparkforge.dgx_spark.proof_publish:
"""


def test_a_play_sets_the_root_of_modules_that_an_action_of_ours_runs(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PLAY)
    directory = tmp_path / "elsewhere"
    # The receipt of a file that an earlier run published.
    published = directory / "published"
    receipt = directory / "receipts/proof_published.json"
    receipt.parent.mkdir(parents=True)
    receipt.write_text(json.dumps({"paths": [str(published)]}))
    published.write_text("")
    result = run_playbook(tmp_path, "-c", "local", "-i", "localhost,", "play.yml", "-e", f"place={directory}")
    assert result.returncode == 0, result.stdout
    assert not published.exists() and not receipt.exists()


def test_removed_module_names_its_replacement(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PLAY.replace("proof_publish", "audit_info"))
    result = run_playbook(tmp_path, "-c", "local", "-i", "localhost,", "play.yml", "-e", "place=/nowhere")
    text = " ".join((result.stdout + result.stderr).split())
    assert result.returncode != 0 and "identity.files and identity.wheels" in text, text


def test_removed_modules_name_existing_ones() -> None:
    routing = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())["plugin_routing"]
    gone = {name: row["tombstone"]["warning_text"] for name, row in routing["modules"].items() if "tombstone" in row}
    assert {"audit_info", "update_host", "update_forecast"} <= set(gone)
    there = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")} | {
        path.name for path in (ROOT / "roles").iterdir()
    }
    for name, text in gone.items():
        assert name not in there and there & set(re.findall(r"\w+", text)), name
