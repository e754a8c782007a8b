# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one call learns of a real host over ssh."""

from __future__ import annotations

import platform
import time

import pytest

from tests.integration.conftest import Bench, Host

KEYS = {
    "gpu", "driver", "cuda_toolkits", "os", "kernel", "memory", "disk", "cpu", "apt_sources", "apt", "python", "loader",
    "clock", "managed_files",
}  # fmt: skip

# What nvidia-smi of a DGX Spark answers: the GPU has no memory of its own.
NVIDIA_SMI = """#!/bin/sh
case "$*" in
*query-gpu*) echo '0, NVIDIA GB10, GPU-0f1e2d3c, 12.1, [N/A], [N/A], 580.95.05' ;;
*query-compute-apps*) ;;
*) echo 'CUDA Version: 13.0' ;;
esac
"""


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


def test_the_clock_is_compared_with_the_controllers(host: Host) -> None:
    info = host.task("sparkforge.dgx_spark.spark_info", controller_epoch=time.time() - 3600)["spark_info"]
    assert 3600 <= info["clock"]["offset"] < 3660


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


def test_files_of_the_collection_are_found_with_their_sums(host: Host) -> None:
    host.execute("echo x > /etc/ld.so.conf.d/sparkforge-test.conf")
    try:
        info = host.task("sparkforge.dgx_spark.spark_info")["spark_info"]
    finally:
        host.execute("rm /etc/ld.so.conf.d/sparkforge-test.conf")
    expected = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac"
    assert info["managed_files"] == {"/etc/ld.so.conf.d/sparkforge-test.conf": expected}


def test_what_apt_offers_is_asked_for_names_alone(host: Host) -> None:
    host.execute("apt-get -qq update")
    apt = host.task("sparkforge.dgx_spark.spark_info", offers=["python3-venv", "no-such-package"])["spark_info"]["apt"]
    assert apt["offers"]["python3-venv"]
    assert apt["offers"]["no-such-package"] == []


def test_memory_that_nvidia_smi_does_not_know_is_understood_as_unified(host: Host) -> None:
    host.execute(f"cat > /usr/local/bin/nvidia-smi <<'end'\n{NVIDIA_SMI}end\nchmod 755 /usr/local/bin/nvidia-smi")
    try:
        gpu = host.task("sparkforge.dgx_spark.spark_info")["spark_info"]["gpu"]
    finally:
        host.execute("rm /usr/local/bin/nvidia-smi")
    assert gpu["present"] is True
    assert gpu["unified_memory"] is True
    assert gpu["devices"][0]["memory_total_mib"] is None
    assert gpu["devices"][0]["compute_capability"] == "12.1"


def test_a_host_whose_tools_fail_still_answers_and_says_what_was_not_read(host: Host) -> None:
    host.execute("printf '#!/bin/sh\\nexit 9\\n' > /usr/local/bin/nvidia-smi; chmod 755 /usr/local/bin/nvidia-smi")
    try:
        info = host.task("sparkforge.dgx_spark.spark_info")["spark_info"]
    finally:
        host.execute("rm /usr/local/bin/nvidia-smi")
    assert info["gpu"]["present"] is False
    assert any("nvidia-smi" in row["probe"] for row in info["unread"])
