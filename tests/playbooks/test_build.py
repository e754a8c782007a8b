# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who builds: playbooks/build.yml on three names of this machine, with a stack that has nothing to build."""

from __future__ import annotations

import re
import threading
import typing as t
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication

from tests.playbooks.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[2]
#: As a user's own play may be: the last host's batch comes when the first one's is over.
SERIAL = [
    {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {"sparkforge.dgx_spark.spark_info": None},
            {
                "ansible.builtin.set_fact": {
                    "platforms": "{{ groups.all | sparkforge.dgx_spark.platforms(hostvars) }}"
                },
                "run_once": True,
            },
        ],
    },
    {
        "hosts": "all",
        "gather_facts": False,
        "serial": 1,
        "tasks": [
            {
                "ansible.builtin.debug": {
                    "msg": "{{ (inventory_hostname | sparkforge.dgx_spark.builder(groups, ansible_play_hosts_all,"
                    " platforms)).reason }}"
                }
            }
        ],
    },
]


class Fleet:
    """An inventory of three hosts that are all this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "stacks").mkdir()
        lab = yaml.safe_load((COLLECTION / "inventory/stacks/lab.yml").read_text())["stack_definition"]
        lab["sources"] = {"tool": {"archive": "https://example.com/tool.tar.gz", "sha256": "a" * 64}}
        lab["units"] = {"tool": {"optional": True}}
        for archive in [*lab["archives"], lab["cusparselt"]["archive"]]:
            archive["sha256"] = {"linux-sbsa": "a" * 64}
        (path / "stacks/none.yml").write_text(yaml.safe_dump({"stack_definition": lab}))
        (path / "ansible.cfg").write_text("[defaults]\nforks = 3\n")

    def run(
        self, playbook: str, *arguments: str, builders: t.Sequence[str] = (), fails: bool = False, **variables: t.Any
    ) -> str:
        names = ("first", "second", "third")
        hosts = {name: {"ansible_connection": "local", "ansible_become": False} for name in names}
        inventory: dict[str, t.Any] = {"all": {"hosts": hosts}}
        if builders:
            inventory["all"]["children"] = {"builders": {"hosts": dict.fromkeys(builders)}}
        (self.path / "hosts.yml").write_text(yaml.safe_dump(inventory))
        given = {"stack_name": "none", "stack_method": "build", "stack_profile": "generic"}
        # This machine's own libraries are none of the test's business.
        given |= {
            "sparkforge_has_libraries": True,
            "sparkforge_wheelhouse_cache": str(self.path / "cache"),
            **variables,
        }
        done = run_playbook(
            self.path, "-i", "hosts.yml", playbook, *arguments,
            "-e", yaml.safe_dump(given, default_flow_style=True, width=10000).strip(),
        )  # fmt: skip
        assert (done.returncode != 0) == fails, (done.stdout + done.stderr)[-5000:]
        return " ".join((done.stdout + done.stderr).split()) if fails else done.stdout

    def finds(self) -> Path:
        """Return a playbook that says where a manifest was looked for."""
        roles = [{"role": "sparkforge.dgx_spark.stack"}]
        role = {"name": "sparkforge.dgx_spark.python_env", "tasks_from": "manifest"}
        tasks = [
            {"sparkforge.dgx_spark.spark_info": None},
            {"ansible.builtin.include_role": role},
            {"ansible.builtin.debug": {"msg": "FOUND {{ sparkforge_found.tried[0].place }} END"}},
        ]
        path = self.path / "finds.yml"
        path.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "roles": roles, "tasks": tasks}]))
        return path

    def build(self, *arguments: str, **options: t.Any) -> str:
        return self.run(str(COLLECTION / "playbooks/build.yml"), *arguments, **options)


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def test_the_first_host_builds_and_the_others_are_left_alone(fleet: Fleet) -> None:
    output = fleet.build()
    assert "first builds for " in output
    # What comes after the election is for the builder alone, until every host is told what was built.
    after = output[output.index("TASK [Report who builds") :].partition("PLAY [")[0]
    assert "[first]" in after
    assert "[second]" not in after
    assert "[third]" not in after


@pytest.mark.long
def test_a_limit_that_leaves_the_builder_out_makes_the_first_of_the_play_build_and_says_so(fleet: Fleet) -> None:
    output = fleet.build("-l", "second,third", builders=["first"])
    assert "the group builders has first, not in this play" in output
    assert "second builds for " in output


@pytest.mark.long
def test_batches_do_not_change_who_builds(fleet: Fleet) -> None:
    play = fleet.path / "serial.yml"
    play.write_text(yaml.safe_dump(SERIAL))
    output = fleet.run(str(play), builders=["third"])
    assert "first builds nothing, third builds for " in output
    assert "third builds for " in output


@pytest.mark.long
def test_what_is_known_already_is_built_by_nobody_outside_the_builder(fleet: Fleet) -> None:
    # What the play asks for, it says where it finds nothing.
    path = Path(re.findall(r"FOUND (.*?) END", fleet.run(str(fleet.finds()), "-l", "second"))[0])
    stack, _dash, lock_id = path.stem.rpartition("-")
    made = publication.manifest(
        stack=stack, lock_id=lock_id, platform=path.parents[1].name, python="3.13", host="first",
        written="2026-11-21T10:00:00Z", units=[],
    )  # fmt: skip
    path.parent.mkdir(parents=True)
    path.write_bytes(publication.text_of(made))
    output = fleet.build("-l", "second,third")
    assert "second builds nothing: first built none for " in output
    assert "TASK [Record that the host libraries are installed" not in output
    # The builder itself builds, whatever is known.
    assert "first builds for " in fleet.build()


def test_a_wheelhouse_that_answers_nonsense_stops_everybody_before_any_change(fleet: Fleet) -> None:
    class Login(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><html><body>Log in</body></html>")

        def log_message(self, *_arguments: t.Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Login)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        signers = ["ssh-ed25519 AAAA"]
        output = fleet.build(fails=True, sparkforge_wheelhouse_url=url, sparkforge_wheelhouse_signers=signers)
    finally:
        server.shutdown()
        server.server_close()
    assert "is an HTML page" in output
    assert "PLAY [Units]" not in output


@pytest.mark.long
def test_with_official_wheels_nobody_is_asked_to_build(fleet: Fleet) -> None:
    output = fleet.build("-l", "first", stack_name="torch-2.15.0", stack_method="wheel")
    assert "Report who builds" not in output
    assert "failed=0" in output
