"""The tasks with which build.yml publishes and status.yml previews."""

import json
import typing as t
from pathlib import Path

from tests.playbooks.run_playbook import ROOT, run_playbook
from tests.unit.wheel_tree import PLATFORM, WheelTree


def preview(directory: Path) -> dict[str, t.Any]:
    """Run the tasks in check mode for a PyTorch that was built; return their result and the reason for a refusal."""
    units = WheelTree(directory / "root").built("pytorch", 1)
    units["pytorch"]["status"] = "unchanged"
    facts = {
        "ansible_facts": {"spark_info": {"kernel": {"machine": "x86_64"}}},
        "sparkforge_root": str(directory / "root"),
        "sparkforge_built": units,
        "sparkforge_builder": {"platform": PLATFORM},
        "stack": {"name": "mine", "python": {"version": "3.13"}, "lock": {"id": "0123456789ab"}},
    }
    say = {
        "published": "{{ build_published | default({}) }}",
        "refused": "{{ ansible_failed_result.msg | default('') }}",
    }
    tell = {"name": "Tell", "ansible.builtin.copy": {"content": "{{ say | to_json }}", "dest": str(directory / "said")}}
    tell |= {"vars": {"say": say}, "check_mode": False}
    publish = {
        "name": "P",
        "ansible.builtin.import_tasks": str(ROOT / "playbooks/tasks/publish.yml"),
        "check_mode": True,
    }
    play = {
        "name": "Preview",
        "hosts": "spark01",
        "connection": "local",
        "gather_facts": False,
        "vars": facts,
        "tasks": [{"name": "All", "block": [publish, tell], "rescue": [tell]}],
    }
    (directory / "play.yml").write_text(json.dumps([play]))
    result = run_playbook(directory, "-i", "spark01,", "play.yml")
    assert result.returncode == 0, result.stdout + result.stderr
    manifest: dict[str, t.Any] = json.loads((directory / "said").read_text())
    return manifest


def test_publish_previews_the_manifest(tmp_path: Path) -> None:
    manifest = preview(tmp_path)
    assert manifest["refused"] == "" and manifest["published"]["changed"]
    assert [unit["name"] for unit in manifest["published"]["manifest"]["units"]] == ["pytorch"]
    assert not list((tmp_path / "root").rglob("manifests")), "it was a preview"
