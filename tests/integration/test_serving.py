# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A model server of the lab where systemd runs: unit, switch, rollback, absent; a second run changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab import model_server, stand_ins
from tests.integration.conftest import Bench, Host, Play

pytestmark = pytest.mark.long

ENVIRONMENTS = "/opt/sparkforge/envs/serving"
MODEL = "/srv/models/tiny"
UNIT = "sparkforge-serving"


def wheel(place: Path, version: str) -> str:
    files = {
        **{f"{path}/__init__.py": "" for path in ("vllm", "vllm/entrypoints", "vllm/entrypoints/cli")},
        "vllm/entrypoints/cli/main.py": Path(model_server.__file__).read_text(),
    }
    return str(stand_ins.write_wheel(place, "vllm", version, files))


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    host = bench.fresh("systemd", ["--cap-add=SYS_ADMIN"])
    assert host.execute("systemctl is-system-running --wait") == "running"
    host.roles("network_access").succeeded()
    host.execute("apt-get -qq update && apt-get -qq install --no-install-recommends -y python3-venv curl")
    host.execute(
        f"mkdir -p {MODEL} /opt/sparkforge/fabric && echo NCCL_IB_HCA=rocep1s0f0 > /opt/sparkforge/fabric/nccl.env"
    )
    host.execute(f"echo '{{}}' > {MODEL}/config.json")
    return host


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    place = tmp_path_factory.mktemp("wheels")
    return wheel(place / "1", "0.1"), wheel(place / "2", "0.2")


def serve(host: Host, wheel: str, *arguments: str, **variables: Any) -> Play:
    given = {
        "serving_engine": "vllm",
        "serving_model": MODEL,
        "serving_start_timeout": 60,
        "python_env_wheels": [wheel],
        # Nothing brought the libraries of the stack to this host.
        "verify_paths": [],
        "verify_sonames": [],
        **variables,
    }
    return host.run("serve", *arguments, **given)


def started(host: Host) -> dict[str, Any]:
    return json.loads(host.execute("curl -sS http://127.0.0.1:8000/"))


def current(host: Host) -> str:
    return host.execute(f"readlink {ENVIRONMENTS}/current || true")


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"serving_model": "/srv/models/none"}, "There is no directory /srv/models/none on this host"),
        ({"serving_model": ""}, "serving_model is empty"),
        ({"serving_engine": "other"}, "has no engine other"),
        ({"serving_memory_share": 1.5}, "serving_memory_share is 1.5"),
    ],
)
def test_what_is_wrong_is_said_before_anything_changes(
    host: Host, wheels: tuple[str, str], variables: dict[str, Any], words: str
) -> None:
    before = host.contents()
    assert words in serve(host, wheels[0], **variables).failed().text
    assert host.contents() == before


def test_somebody_else_on_the_port_is_not_taken_for_the_server(host: Host, wheels: tuple[str, str]) -> None:
    host.execute(
        "cd / && { setsid python3 -m http.server --bind 127.0.0.1 8001 >/dev/null 2>&1 & echo $! > /tmp/other.pid; }"
    )
    host.execute("timeout 20 sh -c 'until curl -s -o /dev/null http://127.0.0.1:8001/; do sleep 0.1; done'")
    before = host.contents()
    try:
        assert "Something else listens on port 8001" in serve(host, wheels[0], serving_port=8001).failed().text
        assert host.contents() == before
    finally:
        host.execute("kill $(cat /tmp/other.pid) && rm /tmp/other.pid")


def test_check_mode_changes_nothing(host: Host, wheels: tuple[str, str]) -> None:
    before = host.contents()
    assert serve(host, wheels[0], "--check", "--diff").succeeded().changed > 0
    assert host.contents() == before


def test_a_server_runs_as_its_own_account_and_a_second_run_changes_nothing(host: Host, wheels: tuple[str, str]) -> None:
    # Of a word that systemd would read otherwise.
    arguments = ["--served-model-name", 'a "b" %h $HOME']
    serve(host, wheels[0], serving_arguments=arguments, serving_environment={"GREETING": "50 % of $x"}).succeeded()
    now = started(host)
    assert (now["model"], now["gpu_memory_utilization"], now["served_model_name"]) == (MODEL, 0.7, 'a "b" %h $HOME')
    assert now["prefix"] == f"{ENVIRONMENTS}/{current(host)}"
    assert now["uid"] == int(host.execute(f"id -u {UNIT}")) != 0
    assert now["environment"]["NCCL_IB_HCA"] == "rocep1s0f0"
    assert now["environment"]["GREETING"] == "50 % of $x"
    assert now["environment"]["HOME"] == f"/var/lib/{UNIT}"
    assert now["environment"]["HF_HUB_OFFLINE"] == "1"
    shown = host.execute(f"systemctl show {UNIT} -p ActiveState -p UnitFileState -p OOMScoreAdjust -p NRestarts")
    assert set(shown.splitlines()) == {
        "ActiveState=active",
        "UnitFileState=enabled",
        "OOMScoreAdjust=800",
        "NRestarts=0",
    }
    modes = host.execute(f"stat -c '%n %a %U:%G' /etc/systemd/system/{UNIT}.service /var/lib/{UNIT} {ENVIRONMENTS}")
    assert modes.splitlines() == [
        f"/etc/systemd/system/{UNIT}.service 644 root:root",
        f"/var/lib/{UNIT} 700 {UNIT}:{UNIT}",
        f"{ENVIRONMENTS} 750 root:sparkforge",
    ]
    again = serve(
        host, wheels[0], serving_arguments=arguments, serving_environment={"GREETING": "50 % of $x"}
    ).succeeded()
    assert again.changed == 0, again.output
    serve(host, wheels[0]).succeeded()


def test_a_new_environment_is_switched_to_and_back_and_the_server_follows(host: Host, wheels: tuple[str, str]) -> None:
    first, process = current(host), host.execute(f"systemctl show {UNIT} -p MainPID --value")
    serve(host, wheels[1]).succeeded()
    second = current(host)
    assert second != first
    assert started(host)["prefix"] == f"{ENVIRONMENTS}/{second}"
    back = {"python_env_name": "serving", "serving_engine": "vllm", "verify_paths": [], "verify_sonames": []}
    assert "serving_model is empty" in host.run("rollback", **back).failed().text
    assert current(host) == second
    host.run("rollback", serving_model=MODEL, **back).succeeded()
    assert (current(host), started(host)["prefix"]) == (first, f"{ENVIRONMENTS}/{first}")
    assert host.execute(f"systemctl show {UNIT} -p MainPID --value") != process
    named = {"rollback_environment_id": first, "serving_model": MODEL}
    assert host.run("rollback", **back, **named).succeeded().changed == 0


def test_a_server_that_does_not_come_up_is_told_with_its_last_words(host: Host, wheels: tuple[str, str]) -> None:
    host.execute("mkdir -p /srv/models/broken")
    play = serve(host, wheels[0], serving_model="/srv/models/broken", serving_start_timeout=10).failed()
    assert "no config.json in /srv/models/broken" in play.text
    assert "playbooks/rollback.yml -e python_env_name=serving" in play.text
    serve(host, wheels[0]).succeeded()


def test_absent_takes_all_of_it_back_and_leaves_the_weights(host: Host) -> None:
    absent = {"serving_state": "absent"}
    assert host.roles("serving", arguments=["--check"], **absent).succeeded().changed > 0
    assert host.execute(f"systemctl is-active {UNIT}") == "active"
    host.roles("serving", **absent).succeeded()
    assert host.roles("serving", **absent).succeeded().changed == 0
    assert (
        host.execute(
            f"getent passwd {UNIT}; getent group {UNIT}; ls -d /var/lib/{UNIT} /etc/systemd/system/{UNIT}*", check=False
        )
        == ""
    )
    assert host.execute(f"systemctl show {UNIT} -p LoadState --value") == "not-found"
    assert host.execute(f"ls {MODEL}") == "config.json"
    assert current(host)
    host.run("uninstall").succeeded()
    assert host.execute("ls /opt/sparkforge/envs 2>/dev/null", check=False) == ""
    assert host.run("uninstall").succeeded().changed == 0
