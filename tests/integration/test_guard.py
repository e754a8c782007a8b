"""The guard on a host with systemd: it starts, kills the right process, counts a unit's starts, and leaves no trace."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import GUARD
from sparkforge import top

from lab import bench as benches, emulator, image
from lab.host import native_architecture
from tests.integration import ownership
from tests.integration.conftest import MOST_EXPOSED, Bench, Host

STATE = "/var/lib/sparkforge-guard"
TEXTFILE = "/var/lib/prometheus/node-exporter"
#: The content of the file that stands in for /proc/meminfo: 8 GiB in total, with as much available as the test writes.
#: Everything else is real. The shells that inspect the host are too small to be killed (less than 1/200 of all memory).
MEMINFO = "MemTotal: 8388608 kB\nMemFree: {kib:>9} kB\nMemAvailable: {kib:>9} kB\nAnonPages: 0 kB\n"
EATER = "import time; held = bytearray(200 << 20); time.sleep(3600)"


@pytest.fixture(scope="module")
def booted(bench: Bench) -> Host:
    host = bench.fresh("systemd")
    host.execute("systemctl is-system-running --wait")
    return host


def guard(host: Host, check: bool = False, **options: Any) -> dict[str, Any]:
    return host.task("sparkforge.dgx_spark.guard", check=check, **options)


def is_running(host: Host, unit: str) -> bool:
    return host.execute(f"systemctl is-active {unit} || true").strip() == "active"


def write_memory(host: Host, kib: int) -> None:
    # Write in place, because the guard keeps the file open.
    host.execute(f"printf '{MEMINFO.format(kib=kib)}' | dd of=/srv/meminfo conv=notrunc status=none")


def test_guard_runs_kills_a_process_and_leaves_nothing(booted: Host, tmp_path: Path) -> None:
    booted.execute(f"mkdir -p {TEXTFILE}")
    before, files = booted.contents(), ownership.look(booted)
    options: dict[str, Any] = {"textfile": TEXTFILE, "units": ["eater.service"]}
    assert guard(booted, check=True, **options)["changed"]
    assert guard(booted, **options)["changed"]
    assert not guard(booted, **options)["changed"]
    assert not guard(booted, check=True, **options)["changed"]
    # Modify the program, as if it were another version.
    booted.execute("printf '#' >> /opt/sparkforge/guard/guard.pyz")
    assert guard(booted, check=True, **options)["changed"]
    assert guard(booted, **options)["changed"]
    assert not guard(booted, **options)["changed"]
    assert is_running(booted, "sparkforge-guard")
    assert booted.exposure("sparkforge-guard") <= MOST_EXPOSED
    # A step that takes too long loses its real-time priority after 5 s and is killed after 20 s.
    limits = booted.execute("cat /proc/$(systemctl show -P MainPID sparkforge-guard)/limits")
    assert re.search(r"Max realtime timeout +5000000 +20000000 +us", limits), limits

    # The same unit, with a file instead of the kernel's figures.
    write_memory(booted, 7000000)
    booted.execute(
        "mkdir -p /run/systemd/system && "
        """sed -i 's#^{#{"meminfo": "/srv/meminfo",#' /opt/sparkforge/guard/settings.json && """
        f"printf '[Service]\\nExecStart=/usr/bin/python3 -c \"{EATER}\"\\n' > /run/systemd/system/eater.service && "
        "systemctl daemon-reload && systemctl restart sparkforge-guard && systemctl start eater"
    )
    time.sleep(2)
    write_memory(booted, 20000)
    # This takes seconds on a quiet machine; tests that run in parallel may keep the guard off a core for longer.
    for _ in range(500):
        if not is_running(booted, "eater"):
            break
        time.sleep(0.2)
    write_memory(booted, 7000000)
    journal = booted.execute(
        f"journalctl -u sparkforge-guard -o cat; tail -5 {STATE}/acts.jsonl; systemctl status eater || true"
    )
    assert not is_running(booted, "eater"), journal
    assert is_running(booted, "ssh")
    # On a busy machine the guard may have looked again before the memory was free, and found nothing to kill.
    record = next(
        act for act in map(json.loads, booted.execute(f"cat {STATE}/acts.jsonl").splitlines()) if act["victim"]
    )
    assert (record["act"], record["victim"][0]["unit"]) == ("end", "eater.service")
    assert record["figures"]
    assert "which held 0.2 GiB" in booted.execute("run-parts /etc/update-motd.d")
    assert "killed python3" in booted.execute("journalctl -u sparkforge-guard -o cat")
    assert 'sparkforge_guard_acts_total{act="end"} 1' in booted.execute(f"cat {TEXTFILE}/sparkforge_guard.prom")
    # Ignore systemd's own PrivateTmp directory, which is removed with the unit, and the files that this test created.
    left = [
        entry
        for entry in ownership.left(booted, files)
        if not entry.path.startswith(("/var/tmp/systemd-", "/srv/", "/run/"))
    ]
    assert ownership.faults(left, ownership.rows(), "guard") == []

    # `sparkforge top`, over ssh: one connection, and one line per second.
    logins = "journalctl -u ssh -o cat | grep -c 'Accepted publickey' || true"
    logged_in = int(booted.execute(logins))
    lab = yaml.safe_load((booted.inventory / benches.GENERATED).read_text())["lab_ssh_config"]
    top_command = top.command(
        booted.name, {"ansible_ssh_common_args": f"-F {lab}"}, Path(lab).parent, "/opt/sparkforge"
    )
    source = top.Source(booted.name, top_command)
    source.start()
    seen: list[float] = []
    while len(seen) < 5:
        assert not source.problem or source.problem == "connecting", source.problem
        if source.time and source.time not in seen:
            seen.append(source.time)
        time.sleep(0.02)
    assert 0.8 < (seen[-1] - seen[0]) / 4 < 1.5
    cells, journal = top.cells(source)
    last = json.loads(booted.execute(f"tail -n 1 {STATE}/acts.jsonl"))["said"]
    assert cells[1].endswith("%)") and any(last in line for line in journal), (last, journal)
    assert int(booted.execute(logins)) - logged_in == 1

    # Simulate a reboot caused by the unit: its start was counted during another boot.
    booted.execute(f'systemctl start eater && sed -i \'s/"boot": "[^"]*"/"boot": "x"/\' {STATE}/starts.json')
    booted.execute("systemctl stop eater; systemctl start eater")
    assert not is_running(booted, "eater")
    assert "eater.service stays off" in booted.execute("run-parts /etc/update-motd.d")
    booted.execute("/opt/sparkforge/bin/sparkforge-guard allow eater.service && systemctl start eater")
    assert is_running(booted, "eater")

    booted.execute("systemctl stop eater; rm -rf /run/systemd/system/eater.service /srv/meminfo")
    assert guard(booted, state="absent")["changed"]
    assert not guard(booted, state="absent")["changed"]
    assert not is_running(booted, "sparkforge-guard")

    # Do the same with the single file that the module installs.
    GUARD.write(tmp_path / GUARD.file)
    booted.copy(tmp_path / GUARD.file, "/root/guard.pyz")
    booted.execute("echo '{}' > /root/settings.json")
    by_hand = "python3 -B /root/guard.pyz {} /root/settings.json"
    for command, changed in (("install", True), ("install", False), ("remove", True), ("remove", False)):
        assert json.loads(booted.execute(f"{by_hand.format(command)} --check"))["changed"] is changed
        assert json.loads(booted.execute(by_hand.format(command)))["changed"] is changed
        assert is_running(booted, "sparkforge-guard") is (command == "install")
        assert command == "remove" or not guard(booted, units=[])["changed"]
    booted.execute(
        "rm /root/guard.pyz /root/settings.json; find /opt/sparkforge -depth -type d -empty -delete 2>/dev/null || true"
    )
    assert booted.contents() == before


@pytest.mark.long
def test_the_guard_runs_on_emulated_aarch64(tmp_path: Path) -> None:
    program, settings = tmp_path / "guard.pyz", {
        "state_directory": "/srv/state", "meminfo": "/srv/meminfo", "warn_percent": 10, "ask_percent": 6,
        "end_percent": 3, "power_cap": 0, "clock_cap": 0,
    }  # fmt: skip
    program.write_bytes(GUARD.archive()[0])
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    user = f"test-guard-{os.getpid()}"
    if native_architecture() != "arm64":
        emulator.register(user)
    try:
        output = image.podman(
            "run", "--rm", "--arch=arm64", f"--volume={tmp_path}:/given:ro", image.build("arm64"), "bash", "-c",
            f"printf '{MEMINFO.format(kib=7000000)}' > /srv/meminfo; uname -m; "
            f"python3 -c '{EATER}' & eater=$!; sleep 10; "
            "python3 -B /given/guard.pyz run /given/settings.json & guard=$!; sleep 15; "
            f"printf '{MEMINFO.format(kib=20000)}' | dd of=/srv/meminfo conv=notrunc status=none; "
            "wait $eater; echo eater ended with $?; "
            "kill $guard; wait $guard; echo guard ended with $?; tail -1 /srv/state/acts.jsonl",
        ).stdout.splitlines()  # fmt: skip
    finally:
        emulator.release(user)
    assert output[0] == "aarch64"
    assert "eater ended with 137" in output and "guard ended with 0" in output
    record = json.loads(output[-1])
    assert record["act"] == "end" and record["victim"][0]["own"] > 200 << 20
