# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plugin under Ansible, with a builder that is this machine, or one that nobody can reach."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication

from tests.unit.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[4]
PLATFORM = "debian13-x86_64"
FILE = "tool-1.0+sf.1-py3-none-any.whl"


class Site:
    """A builder with one wheel in its wheelhouse, a host that nobody reaches, and a cache."""

    def __init__(self, path: Path) -> None:
        self.path, self.root, self.cache = path, path / "root", path / "cache"
        wheel = self.house / "tool/4b5c1f0e9a37d286" / FILE
        wheel.parent.mkdir(parents=True)
        wheel.write_bytes(b"a wheel")
        listed = {"name": "tool", "version": "1.0+sf.1", "file": FILE, "size": 7}
        listed["sha256"] = hashlib.sha256(b"a wheel").hexdigest()
        units = [{"name": "tool", "fingerprint": "4b5c1f0e9a37d286", "wheels": [listed]}]
        self.manifest = publication.manifest(
            stack="mine", lock_id="0123456789ab", platform=PLATFORM, python="3.12", host="builder",
            written="2026-11-21T10:00:00Z", units=units,
        )  # fmt: skip
        (self.house / "manifests").mkdir()
        (self.house / "manifests/mine-0123456789ab.json").write_bytes(publication.text_of(self.manifest))
        hosts = {
            "builder": {"ansible_connection": "local"},
            "gone": {"ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_ssh_common_args": "-o ConnectTimeout=2"},
        }
        (path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
        (path / "ansible.cfg").write_text("[defaults]\n")

    @property
    def house(self) -> Path:
        return self.root / "wheelhouse" / PLATFORM

    def find(self, *arguments: str, host: str = "builder", **options: t.Any) -> dict[str, t.Any]:
        """Run the plugin for a host and return its result."""
        given = {"stack": "mine", "lock_id": "0123456789ab", "platform": PLATFORM, "cache": str(self.cache)}
        given |= {"root": str(self.root), **options}
        task = {"sparkforge.dgx_spark.wheelhouse_manifest": given, "register": "found", "ignore_errors": True}
        show = {"ansible.builtin.copy": {"content": "{{ found | to_json }}", "dest": str(self.path / "result.json")}}
        tasks = [task, {**show, "delegate_to": "builder", "check_mode": False}]
        play = {"hosts": host, "gather_facts": False, "tasks": tasks}
        (self.path / "play.yml").write_text(yaml.safe_dump([play]))
        done = run_playbook(self.path, "-i", "hosts.yml", "play.yml", "-vvv", *arguments)
        self.output = done.stdout + done.stderr
        assert done.returncode == 0, self.output[-3000:]
        return json.loads((self.path / "result.json").read_text())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_what_the_builder_has_is_kept_and_its_wheels_are_brought(site: Site) -> None:
    found = site.find(wheels=True)
    assert (found["where"], found["saved"], found["changed"]) == ("builder", True, False)
    assert found["manifest"] == site.manifest
    (wheel,) = found["wheels"]
    assert Path(wheel["path"]).read_bytes() == b"a wheel"
    assert Path(wheel["path"]).is_relative_to(site.cache)
    # Now nobody needs to be asked.
    again = site.find(host="gone", wheels=True)
    assert (again["where"], again["saved"], again["wheels"]) == ("cache", False, [wheel])


def test_check_mode_writes_nothing(site: Site) -> None:
    found = site.find("--check", wheels=True)
    assert found["manifest"] == site.manifest
    assert [wheel["sha256"] for wheel in found["wheels"]] == [hashlib.sha256(b"a wheel").hexdigest()]
    assert not site.cache.exists()


def test_where_no_place_has_it_each_is_named(site: Site) -> None:
    found = site.find(host="gone", url="http://127.0.0.1:1/")
    assert found["failed"] is True
    assert "Nothing is known of mine (lock 0123456789ab) built for debian13-x86_64" in found["cause"]
    assert "http://127.0.0.1:1: No connection" in found["cause"]
    assert "gone: gone cannot be asked" in found["cause"]
    assert "playbooks/build.yml" in found["remedy"]
    assert "UNREACHABLE" not in site.output
    found = site.find(host="gone", required=False, places=["cache", "builder"])
    assert (found["failed"], found["manifest"]) == (False, None)


def test_a_wheel_that_is_gone_or_was_changed_is_named(site: Site) -> None:
    wheel = site.house / "tool/4b5c1f0e9a37d286" / FILE
    wheel.write_bytes(b"another wheel")
    found = site.find(wheels=True)
    assert f"The sha256 of {FILE} is" in found["cause"]
    wheel.unlink()
    found = site.find(wheels=True)
    assert f"The wheel {FILE} cannot be had: builder did not give {wheel}" in found["cause"]
    assert not list(site.cache.rglob("*.whl"))


def test_pull_without_a_url_is_refused(site: Site) -> None:
    found = site.find(transport="pull")
    assert "sparkforge_wheelhouse_url is empty" in found["cause"]


def test_the_password_is_never_shown(site: Site) -> None:
    site.find(url="http://127.0.0.1:1/", username="lab", password="s3cr3t-word")
    assert "s3cr3t-word" not in site.output


def test_as_a_module_it_says_where_it_works() -> None:
    done = subprocess.run(
        [sys.executable, str(COLLECTION / "plugins/modules/wheelhouse_manifest.py")],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {"stack": "a", "lock_id": "b", "platform": "c", "cache": "d"}}),
        env={**os.environ, "PYTHONPATH": str(COLLECTION / ".collections")},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert "works on the controller" in done.stdout or "works on the controller" in done.stderr
