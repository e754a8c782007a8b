"""A build where systemd runs and memory is short, as on a Spark: a transient unit, its limit, and kernel kills."""

import re
import tarfile
import time
from typing import Any

import pytest

from tests.integration.conftest import Bench, Host

UNITS = 8
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(hungry C)
add_library(hungry SHARED {sources})
install(TARGETS hungry LIBRARY DESTINATION lib)
"""
# Needs as much memory as a CUDA compiler. It waits while /tmp/gate exists, so that a test can inspect a running build.
COMPILER = """#!/bin/sh
case " $* " in
  *" -c "*unit_*)
    touch /srv/open/planted 2> /tmp/refused
    python3 -c 'import time; held = bytearray({mib} << 20); time.sleep(1)' || exit $?
    while [ -e /tmp/gate ]; do sleep 0.1; done
    ;;
esac
exec /usr/bin/gcc "$@"
"""
MEMORY_MIB = 1200
# With version 1 of control groups, a stopped unit may stay loaded for a while.
RUNNING = "systemctl list-units --state=active,activating,deactivating,failed --no-legend 'sparkforge-*'"


@pytest.fixture(scope="module")
def booted(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Host:
    limit = f"{MEMORY_MIB}m"
    # As on a Spark, systemd can confine the services that it starts.
    options = [f"--memory={limit}", f"--memory-swap={limit}", "--cap-add=SYS_ADMIN"]
    host = bench.fresh("systemd", options, ["g++", "cmake", "ninja-build"])
    assert host.execute("systemctl is-system-running --wait") == "running"
    tree = tmp_path_factory.mktemp("hungry")
    names = [f"unit_{number}.c" for number in range(UNITS)]
    (tree / "CMakeLists.txt").write_text(PROJECT.format(sources=" ".join(names)))
    for name in names:
        (tree / name).write_text(f"int {name[:-2]}(void) {{ return {name[5:-2]}; }}\n")
    archive = tree.parent / "hungry-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tree, "hungry-1.0")
    host.copy(archive, "/srv/hungry-1.0.tar.gz")
    host.execute("mkdir --mode=0777 /srv/open")
    return host


def build(host: Host, mib: int, **options: Any) -> dict[str, Any]:
    """Build the project with a compiler that needs this much memory."""
    compiler = f"/usr/local/lib/hungry-{mib}/gcc"
    host.execute(f"mkdir -p $(dirname {compiler}) && cat > {compiler} <<'END'\n{COMPILER.format(mib=mib)}END")
    host.execute(f"chmod 0755 {compiler}")
    digest = host.execute("sha256sum /srv/hungry-1.0.tar.gz").split()[0]
    return host.task(
        "sparkforge.dgx_spark.source_build",
        **{
            "name": "hungry",
            "kind": "cmake",
            "source": {"archive": "/srv/hungry-1.0.tar.gz", "sha256": digest},
            "toolchain": {"cc": compiler},
            "environment": {"HUNGRY": str(mib)},
            "ccache": False,
            "user": "sparkforge",
            "memory_reserve": 1,
            "memory_per_job": 64,
            **options,
        },
    )


def wait_for(host: Host, phase: str) -> dict[str, Any]:
    for _attempt in range(600):
        running = host.task("sparkforge.dgx_spark.build_info")["running"]
        if running and running[0]["state"].get("phase") == phase:
            return running[0]
        time.sleep(0.2)
    raise AssertionError(f"no build came to the phase {phase}")


def test_a_build_is_a_transient_unit_with_a_memory_limit_and_resumes_after_systemd_killed_it(booted: Host) -> None:
    booted.execute("touch /tmp/gate")
    try:
        started = build(booted, 16, jobs=2, follow=False)
        assert started.get("status") == "running", started
        service = f"sparkforge-hungry-{wait_for(booted, 'build')['fingerprint']}.service"
        shown = booted.execute(f"systemctl show {service} -p ActiveState -p MemoryMax -p User -p OOMPolicy")
        properties = dict(line.split("=", 1) for line in shown.splitlines())
        # A directory that any account can write to does not belong to a build.
        assert "Read-only file system" in booted.execute("cat /tmp/refused")
        assert booted.execute("ls /srv/open") == ""
        assert properties["ActiveState"] == "active"
        assert properties["User"] == "sparkforge"
        assert properties["OOMPolicy"] == "continue"
        # All of the host's memory except the reserve.
        assert int(properties["MemoryMax"]) == (MEMORY_MIB - 1) << 20
        assert "It builds (" + service in booted.execute("systemd-inhibit --list --no-legend --no-pager")
        # The service is not a child of the ssh connection, so it survives when the connection is closed.
        assert "sshd" not in booted.execute(f"cat /proc/$(systemctl show {service} -p MainPID --value)/cgroup")
        booted.execute(f"systemctl kill --signal=KILL {service}")
        assert booted.task("sparkforge.dgx_spark.build_info")["running"] == []
        assert booted.execute("pgrep -u sparkforge", check=False) == ""
    finally:
        booted.execute("rm /tmp/gate")
    result = build(booted, 16, jobs=2)
    assert (result["changed"], result.get("status")) == (True, "built"), result
    (receipt,) = booted.task("sparkforge.dgx_spark.build_info")["receipts"]
    assert receipt["attempts"] == 2
    # The units are unloaded, including the killed one, and the host may sleep again.
    assert "sparkforge" not in booted.execute("systemd-inhibit --list --no-legend --no-pager")
    assert "suspending" not in booted.execute(f"cat {result['log']}")
    assert booted.execute(RUNNING) == ""
    assert booted.execute("systemctl is-system-running") == "running"


def test_the_reserve_is_counted_once(booted: Host) -> None:
    # A quarter of 1200 MiB is reserved. If it were subtracted both from the limit and from the memory available within
    # the limit, at most 675 MiB would be left.
    result = build(booted, 18, jobs=2, memory_reserve=0, memory_per_job=340)
    assert result.get("status") == "built", result
    assert "2 jobs of 2 requested: " in booted.execute(f"cat {result['log']}")


def test_with_a_password_for_sudo_a_build_is_followed(booted: Host) -> None:
    assert build(booted, 16, jobs=2, environment={"HUNGRY": "asked"})["status"] == "built"


@pytest.mark.long
def test_build_killed_for_memory_continues_with_half_the_jobs(booted: Host) -> None:
    # Memory suffices for one of these jobs, but not for two.
    result = build(booted, 3 * MEMORY_MIB // 5, jobs=2)
    assert result.get("status") == "built", result
    receipt = next(each for each in booted.task("sparkforge.dgx_spark.build_info")["receipts"] if each["jobs"] == 1)
    assert receipt["attempts"] == 1
    (note,) = [note for note in receipt["notes"] if "memory" in note]
    assert re.search("with 2 jobs and .* 1", note)
    log = booted.execute(f"cat {receipt['log']}") if "log" in receipt else booted.execute("cat /var/log/sparkforge/*")
    assert note in log


def test_a_build_that_memory_never_suffices_for_fails_with_cause_and_remedy(booted: Host) -> None:
    failed = build(booted, 2 * MEMORY_MIB, jobs=2)
    assert failed.get("status") != "built", failed
    assert "memory" in failed["cause"], failed
    assert failed["remedy"]
    assert "/var/log/sparkforge/hungry-" in failed["log"], failed


def test_absent_stops_a_running_build(booted: Host) -> None:
    booted.execute("touch /tmp/gate")
    build(booted, 17, jobs=1, follow=False)
    wait_for(booted, "build")
    removed = booted.task("sparkforge.dgx_spark.source_build", name="hungry", state="absent")
    booted.execute("rm /tmp/gate")
    assert removed["changed"]
    assert booted.execute("pgrep -u sparkforge", check=False) == ""
    assert booted.execute(RUNNING) == ""
    assert booted.execute("ls -A /opt/sparkforge 2>/dev/null", check=False) == ""
