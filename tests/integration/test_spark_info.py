# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one call learns of a real host over ssh."""

from __future__ import annotations

import platform

import pytest

from tests.integration.conftest import Bench, Host

KEYS = {
    "gpu", "driver", "cuda_toolkits", "os", "kernel", "memory", "disk", "cpu", "apt_sources", "apt", "python", "loader",
    "clock", "managed_files",
}  # fmt: skip


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    return bench.fresh()


def test_one_call_tells_what_the_roles_need_and_changes_nothing(host: Host) -> None:
    before = host.contents()
    result = host.task("sparkforge.dgx_spark.spark_info", check=True)
    assert result["changed"] is False
    info = result["spark_info"]
    assert set(info) >= KEYS
    assert result["ansible_facts"]["spark_info"] == info
    assert (info["os"]["id"], info["os"]["version"]) == ("debian", "13")
    assert info["kernel"]["machine"] == platform.machine()
    assert info["gpu"]["present"] is False
    assert info["apt"]["lock_holder"] is None
    assert info["apt"]["packages"]["python3-apt"]
    assert next(row for row in info["python"] if row["path"] == "/usr/bin/python3.13")["venv"] is False
    assert info["memory"]["available_mib"] > 0
    assert any(row["mount"] == "/" for row in info["disk"])
    assert info["loader"]["entries"]
    assert host.contents() == before


def test_an_ordinary_user_sees_the_same_host(host: Host) -> None:
    root = host.task("sparkforge.dgx_spark.spark_info")["spark_info"]
    user = host.task("sparkforge.dgx_spark.spark_info", become=False)["spark_info"]
    for key in ("os", "cpu", "apt_sources", "python", "loader", "managed_files"):
        assert user[key] == root[key]
    assert user["apt"]["packages"] == root["apt"]["packages"]


def test_a_process_that_holds_apt_is_named(host: Host) -> None:
    code = 'import fcntl,time; f=open("/var/lib/apt/lists/lock","w"); fcntl.lockf(f,fcntl.LOCK_EX); time.sleep(60)'
    host.execute(
        f"mkdir -p /var/lib/apt/lists; setsid python3 -c '{code}' >/dev/null 2>&1 & echo $! > /tmp/pid; sleep 1"
    )
    pid = int(host.execute("cat /tmp/pid"))
    try:
        for become in (True, False):
            holder = host.task("sparkforge.dgx_spark.spark_info", become=become)["spark_info"]["apt"]["lock_holder"]
            assert (holder["pid"], holder["file"]) == (pid, "/var/lib/apt/lists/lock")
            assert "python3" in holder["command"]
    finally:
        host.execute(f"kill {pid}; rm /tmp/pid")
