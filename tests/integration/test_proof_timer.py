"""Scheduled proofs on a host: systemd timers, a change of packages, and no traces after removal."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration import ownership
from tests.integration.conftest import MOST_EXPOSED, SANDBOXES, Bench, Host, Play

HISTORY = "/var/log/sparkforge/proof"
# The host's own Python has no torch, so each run fails with a check that names the cause.
VARIABLES = {
    "verify_schedule": "Sun 03:00", "verify_python": "/usr/bin/python3", "verify_checks": ["cpu.matmul.float32"],
    "verify_user": "nobody", "sparkforge_gpu_required": False,
}  # fmt: skip
#: Install the files that the `verify` role installs once the host is proven.
PLAY = """
- hosts: all
  become: true
  gather_facts: false
  roles: [sparkforge.dgx_spark.stack]
  tasks:
    - sparkforge.dgx_spark.spark_info:
    - sparkforge.dgx_spark.cuda_proof:
        python: "{{ verify_python }}"
        checks: "{{ verify_checks }}"
        gpu_required: false
      register: __verify_proof
    - ansible.builtin.include_role:
        name: sparkforge.dgx_spark.verify
        tasks_from: scheduled
"""


# Build an empty package on the host with dpkg's own tools.
INSTALL = """set -e
mkdir -p /srv/{name}/DEBIAN
cat > /srv/{name}/DEBIAN/control <<'END'
Package: {name}
Version: 13.0.1
Architecture: all
Maintainer: somebody <somebody@example.com>
Description: nothing
END
dpkg-deb --build /srv/{name} /srv/{name}.deb
dpkg --install /srv/{name}.deb
"""


def timer(host: Host, *arguments: str, **variables: Any) -> Play:
    path = host.inventory.parent / "schedule.yml"
    path.write_text(PLAY)
    return host.run(str(path), *arguments, **{**VARIABLES, **variables})


def reports(host: Host) -> list[str]:
    return host.execute(f"ls {HISTORY} 2>/dev/null || true").split()


@pytest.fixture(scope="module")
def booted(bench: Bench) -> Host:
    # Allow devices with NVIDIA's major number; no driver answers for them here.
    host = bench.fresh("systemd", [*SANDBOXES, "--cap-add=MKNOD", "--device-cgroup-rule=c 195:* rwm"])
    assert host.execute("systemctl is-system-running --wait") == "running"
    return host


def test_last_verdict_is_shown_at_login_and_removed_again(booted: Host) -> None:
    root, textfile, motd = "/srv/shown", "/var/lib/prometheus/node-exporter", "/etc/update-motd.d/60-sparkforge"
    booted.execute(f"mkdir -p {textfile} {root}/envs/torch/0123 && ln -s 0123 {root}/envs/torch/current")
    report = {
        "format": 3, "environment_id": "0123", "stack": "lab", "verdict": "proven", "scope": "cpu", "seconds": 2.0,
        "started": "2026-11-24T10:00:00Z", "summary": {"pass": 1}, "software": {"torch": "2.10.0"}, "checks": [],
    }  # fmt: skip
    booted.execute(f"mkdir -p {root}/reports && echo '{json.dumps(report)}' > {root}/reports/2026-11-24T100000Z.json")
    before = booted.contents()

    def publish(**options: Any) -> dict[str, Any]:
        return booted.task("sparkforge.dgx_spark.proof_publish", root=root, history=f"{root}/reports", **options)

    assert publish(textfile=textfile, motd=True)["files"] == [motd, f"{textfile}/sparkforge.prom"]
    assert not publish(textfile=textfile, motd=True)["changed"]
    assert booted.execute(f"stat -c '%a %U:%G' {motd} {textfile}/sparkforge.prom").splitlines() == [
        "755 root:root",
        "644 root:root",
    ]
    login_text = booted.execute("run-parts /etc/update-motd.d")
    assert (
        "PyTorch 2.10.0 computes right numbers, checked " in login_text and f". {root}/bin/activate-torch" in login_text
    )
    assert 'sparkforge_proof_verdict{verdict="proven"} 1' in booted.execute(f"cat {textfile}/sparkforge.prom")
    assert "changed since" not in login_text, "that report does not say which kernel it saw"
    later = json.dumps({**report, "kernel": "6.0.0"})
    booted.execute(f"echo '{later}' > {root}/reports/2026-11-24T110000Z.json")
    publish(textfile=textfile, motd=True)
    login_text = booted.execute("run-parts /etc/update-motd.d")
    assert re.search(r"checked \d+ days ago; changed since .*: kernel\. Activate it", login_text), login_text
    assert publish()["changed"] and not publish()["changed"]
    assert booted.contents() == before, "nothing is left of it"
    booted.execute(f"rm -r {root} /var/lib/prometheus")


@pytest.fixture(scope="module")
def scheduled(booted: Host) -> Host:
    before, paths = booted.contents(), ownership.look(booted)
    announced = timer(booted, "--check", "--diff").succeeded()
    assert announced.changed == 1 and "+++ after: /etc/systemd/system/sparkforge-proof.timer" in announced.text
    assert booted.contents() == before, "check mode changes nothing"
    assert timer(booted).succeeded().changed == 1
    assert ownership.faults(ownership.left(booted, paths), ownership.rows(), "scheduled") == []
    return booted


def test_a_second_time_changes_nothing(scheduled: Host) -> None:
    assert timer(scheduled).succeeded().changed == 0


def test_units_that_were_disabled_are_enabled_again(scheduled: Host) -> None:
    scheduled.execute("systemctl disable --now sparkforge-proof-changed.path")
    assert timer(scheduled).succeeded().changed == 1
    assert scheduled.execute("systemctl is-active sparkforge-proof-changed.path") == "active"


def test_a_calendar_that_systemd_does_not_understand_is_refused_and_changes_nothing(scheduled: Host) -> None:
    before = scheduled.contents()
    refused = timer(scheduled, verify_schedule="weekly\nUnit=other.service").failed().text
    assert "calendar 'weekly Unit=other.service' of sparkforge-proof.timer" in refused
    assert "OnCalendar expression" in refused
    assert scheduled.contents() == before


def test_the_timer_waits_for_its_hour(scheduled: Host) -> None:
    assert "sparkforge-proof.timer" in scheduled.execute("systemctl list-timers --no-pager")
    next_run = scheduled.execute("systemctl show -p NextElapseUSecRealtime --value sparkforge-proof.timer")
    assert next_run.startswith("Sun ")


def test_service_writes_a_report_names_the_failures_and_fails(scheduled: Host) -> None:
    scheduled.execute("systemctl start sparkforge-proof.service || true")
    assert scheduled.execute("systemctl is-failed sparkforge-proof.service") == "failed"
    journal = scheduled.execute("journalctl --no-pager -o cat -u sparkforge-proof.service")
    assert reports(scheduled), journal
    report = json.loads(scheduled.execute(f"cat {HISTORY}/{reports(scheduled)[-1]}"))
    assert report["verdict"] == "fail" and report["stack"].startswith("lab-")
    assert "The environment of /usr/bin/python3 has no torch. Run playbooks/deploy.yml" in journal


#: Try, from inside the sandbox, what the unit's process and a process of the checks' account may do.
PROBE = """
import json, mmap, os, socket, subprocess, sys
sys.path.insert(0, sys.argv[1])
from sparkforge_proof._shared.module_utils._core import unprivileged

def tried(work):
    try:
        return str(work())
    except OSError as error:
        return error.strerror

def talk():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return bool(socket.create_connection(server.getsockname()))

def compute():
    subprocess.run(["sleep", "0"], check=True)
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    open(f"{scratch}/kernel", "w").close()
    return talk()

can = {
    "open the GPU": tried(lambda: os.open("/dev/nvidia0", os.O_RDWR)),
    "write a report": tried(lambda: open("/var/log/sparkforge/proof/probe", "w").close()),
    "write a receipt": tried(lambda: open("/opt/sparkforge/probe", "w").close()),
    "write the line at login": tried(lambda: open("/etc/update-motd.d/probe", "w").close()),
    "wait for dpkg": tried(lambda: open("/var/lib/dpkg/lock", "r+b").close()),
    "write etc": tried(lambda: open("/etc/probe", "w")), "write lib": tried(lambda: open("/usr/lib/probe", "w")),
    "list homes": tried(lambda: os.listdir("/home")), "interfaces": [name for _number, name in socket.if_nameindex()],
}
with unprivileged.account("/opt/sparkforge/envs/torch/0123") as uid:
    scratch = "/tmp/scratch"
    os.mkdir(scratch)
    os.chown(scratch, uid, uid)
    own = unprivileged.without_privileges(["sleep", "60"], uid, {uid})
    with subprocess.Popen(own) as child:
        can["compute"] = unprivileged.run_as(uid, compute)
        unprivileged.kill_processes(uid)
        can["ended"] = child.wait()
print(json.dumps(can))
"""


def test_units_are_confined_but_reach_what_a_proof_needs(scheduled: Host, tmp_path: Path) -> None:
    for unit in ("sparkforge-proof.service", "sparkforge-proof-changed.service"):
        assert scheduled.exposure(unit) <= MOST_EXPOSED
    (tmp_path / "probe.py").write_text(PROBE)
    scheduled.copy(tmp_path / "probe.py", "/srv/probe.py")
    scheduled.execute(
        "mkdir -p /run/systemd/system/sparkforge-proof.service.d && mknod /dev/nvidia0 c 195 0 && printf "
        "'[Service]\\nExecStart=\\nExecStart=/usr/bin/python3 -B /srv/probe.py %s\\n' /opt/sparkforge/proof/*.pyz"
        " > /run/systemd/system/sparkforge-proof.service.d/probe.conf && systemctl daemon-reload"
    )
    try:
        scheduled.execute("systemctl start sparkforge-proof.service || true")
        journal = scheduled.execute("journalctl --no-pager -o cat -u sparkforge-proof.service -n 30")
        [can] = [json.loads(line) for line in journal.splitlines() if line.startswith("{")]
    finally:
        scheduled.execute(
            "rm -rf /run/systemd/system/sparkforge-proof.service.d /dev/nvidia0 /srv/probe.py /opt/sparkforge/probe"
            " /var/log/sparkforge/proof/probe /etc/update-motd.d/probe; systemctl daemon-reload"
        )
    assert can == {
        # The device has no driver; for a device that the unit may not open, the error is "Operation not permitted".
        "open the GPU": "No such device or address", "write a report": "None", "write a receipt": "None",
        "write the line at login": "None", "wait for dpkg": "None", "write etc": "Read-only file system",
        "write lib": "Read-only file system", "list homes": "Permission denied", "interfaces": ["lo"],
        "compute": "True", "ended": -9,
    }  # fmt: skip


@pytest.mark.long
def test_a_change_of_a_cuda_package_asks_for_another_proof_and_any_other_does_not(scheduled: Host) -> None:
    scheduled.execute("systemctl start sparkforge-proof.service || true")
    before = reports(scheduled)
    scheduled.execute(INSTALL.format(name="unrelated"))
    scheduled.execute("systemctl start sparkforge-proof-changed.service")
    assert reports(scheduled) == before
    scheduled.execute(INSTALL.format(name="cuda-example"))
    # The path unit has noticed that dpkg ran, and the service waits until dpkg is done.
    for _attempt in range(120):
        if reports(scheduled) != before:
            break
        time.sleep(0.5)
    newest = json.loads(scheduled.execute(f"cat {HISTORY}/{reports(scheduled)[-1]}"))
    assert {"what": "cuda-example", "before": "absent", "now": "13.0.1"} in newest["drift"]["changes"]


def test_absent_leaves_no_unit_and_no_settings(scheduled: Host) -> None:
    assert timer(scheduled, verify_schedule=None).succeeded().changed == 1
    assert timer(scheduled, verify_schedule=None).succeeded().changed == 0
    assert scheduled.execute("find /etc/systemd -name 'sparkforge-proof*'") == ""
    # The program is kept for the next proof.
    assert scheduled.execute("ls /opt/sparkforge/proof").endswith(".pyz")
    assert "sparkforge-proof" not in scheduled.execute("systemctl list-timers --all --no-pager")
    assert reports(scheduled)
