"""What systemd-oomd does in two of the guard's scenarios: whom it ends, and when.

``PYTHONPATH=.:cli python -m tests.guard.oomd DEB`` with Debian's package of it prints one line of JSON a run. The
machine is that of tests/long/kernel_vm.py (qemu, systemd, control groups of version 2), so it needs what that needs.
Each scenario is run with a GPU's memory that the control group counts, as a memfd is, and that it does not, as on a
Spark: then a process outside of all units has written it, and the unit's process alone keeps it.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.long import kernel_vm

#: The machine has no such package.
IMPORTED = "from tests.long import kernel_vm\n"
HERE = "/srv/oomd"
CHUNK = 4 << 20
LONGEST = 60.0
#: What the kernel says when it ends a process of a unit.
ENDED = re.compile(r"oom-kill:.*task_memcg=(\S+?),task")
UNITS = ("model", "loader", "eater")
SCENARIOS = {"a second model loads": "loader", "a process eats beside a model": "eater"}
#: As Ubuntu and Fedora set it up, but for all units: by the pressure of 20 s, and by swap.
SETTINGS = {
    "oomd.conf.d/50-test.conf": "[OOM]\nDefaultMemoryPressureDurationSec=20s\n",
    "system/-.slice.d/50-test.conf": "[Slice]\nManagedOOMSwap=kill\n",
    "system/system.slice.d/50-test.conf":
        "[Slice]\nManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureLimit=50%\n",
}  # fmt: skip


def take(name: str, kind: str, percent: str, rate: str, counted: str) -> None:
    """Take memory as a plain process or a GPU process does, and hold it: runs in a unit."""
    goal, target = int(total() * float(percent) / 100), os.memfd_create("gpu")
    if kind == "gpu" and counted == "no":
        writer = os.fork()
        if writer:
            os.waitpid(writer, 0)
        else:
            # What it writes is counted nowhere; if the unit's process ends, so does this.
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
            Path("/sys/fs/cgroup/cgroup.procs").write_text(str(os.getpid()))
            fill(goal, float(rate), lambda block: os.write(target, block))
            os._exit(0)
    else:
        kept: list[bytearray] = []
        fill(goal, float(rate), lambda block: os.write(target, block) if kind == "gpu" else kept.append(block))
    Path(f"/run/{name}.ready").touch()
    time.sleep(3600)


def fill(goal: int, rate: float, put: Callable[[bytearray], Any]) -> None:
    """Take so many bytes, at a rate in MB/s; 0 is as fast as it goes."""
    began, taken = time.monotonic(), 0
    while taken < goal:
        put(bytearray(b"\1" * CHUNK))
        taken += CHUNK
        ahead = taken / (rate * (1 << 20)) - (time.monotonic() - began) if rate else 0
        if ahead > 0:
            time.sleep(ahead)


def fields() -> dict[str, int]:
    """Return the kernel's figures of the memory in bytes."""
    found = re.findall(r"(\w+): +(\d+) kB", Path("/proc/meminfo").read_text())
    return {name: int(size) << 10 for name, size in found}


def total() -> int:
    """Return all memory."""
    return fields()["MemTotal"]


def start(name: str, kind: str, percent: float, rate: int, counted: str) -> None:
    """Start a unit."""
    words = ["systemd-run", "--quiet", f"--unit={name}", "-p", "OOMPolicy=kill", "/usr/bin/python3", "-I", __file__]
    subprocess.run([*words, "take", name, kind, str(percent), str(rate), counted], check=True)


def alive(name: str) -> bool:
    """Say whether a unit runs."""
    try:
        return bool(Path(f"/sys/fs/cgroup/system.slice/{name}.service/cgroup.procs").read_text())
    except OSError:
        return False


def inside(scenario: str, counted: str) -> None:
    """Bring a scenario about and print what came of it: runs in the machine."""
    Path("/proc/self/oom_score_adj").write_text("-1000")
    Path("/sys/fs/cgroup/cgroup.procs").write_text(str(os.getpid()))
    began = time.time()
    start("model", "gpu", 45, 0, counted)
    while not Path("/run/model.ready").exists():
        time.sleep(0.2)
    time.sleep(3)
    name = SCENARIOS[scenario]
    start(name, "gpu" if name == "loader" else "plain", 80 if name == "loader" else 120, 40, counted)
    since, last, gap, below = time.monotonic(), time.monotonic(), 0.0, 0.0
    gone: dict[str, float] = {}
    first = 0.0
    while (now := time.monotonic()) - since < LONGEST and len(gone) < 2:
        share = fields()["MemAvailable"] / total()
        gap, below = max(gap, now - last), below + (now - last) * (share < 0.06)
        first = first or (now if share < 0.06 else 0.0)
        for unit in ("model", name):
            if unit not in gone and now - since > 2 and not alive(unit):
                gone[unit] = round(now - (first or now), 1)
        if gone and now - (first or now) - max(gone.values()) > 10 and share > 0.06:
            break
        last = now
        time.sleep(0.05)
    journal = ["journalctl", "-o", "cat", "--since", f"@{int(began)}", "-u", "systemd-oomd"]
    said = subprocess.run(journal, capture_output=True, text=True, check=False).stdout.splitlines()
    kernel = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout
    print(json.dumps({
        "scenario": scenario, "counted": counted, "gone": gone, "below": round(below, 1), "gap": round(gap, 2),
        "oomd": [line for line in said if "Killed" in line],
        "kernel": ENDED.findall(kernel),
    }))  # fmt: skip
    for unit in UNITS:
        for words in (["kill", "-s", "KILL"], ["stop"], ["reset-failed"]):
            subprocess.run(["systemctl", *words, unit], check=False, capture_output=True)
        Path(f"/run/{unit}.ready").unlink(missing_ok=True)
    subprocess.run(["dmesg", "-C"], check=False)


def main(package: Path) -> None:
    """Run each scenario; a machine that does not come back is started anew."""
    wanted = [(scenario, counted) for counted in ("yes", "no") for scenario in SCENARIOS]
    while wanted:
        with tempfile.TemporaryDirectory() as name:
            machine = kernel_vm.Machine(Path(name))
            try:
                prepare(machine, package)
                row: dict[str, Any] = {}
                while wanted and not row.get("frozen"):
                    row = one(machine, *wanted.pop(0))
                    print(json.dumps(row), flush=True)
            finally:
                machine.end()


def prepare(machine: kernel_vm.Machine, package: Path) -> None:
    """Install it, and what runs in the machine."""
    machine.wait()
    give(machine, Path(__file__).read_text().replace(IMPORTED, ""), f"{HERE}.py")
    subprocess.run(machine._ssh("cat > /srv/oomd.deb"), input=package.read_bytes(), check=True)
    for path, text in SETTINGS.items():
        give(machine, text, f"/etc/systemd/{path}")
    machine.do("dpkg -i /srv/oomd.deb && systemctl daemon-reload && systemctl restart systemd-oomd")
    print(machine.do("oomctl"), file=sys.stderr, flush=True)


def one(machine: kernel_vm.Machine, scenario: str, counted: str) -> dict[str, Any]:
    """Run one scenario, and return the row."""
    words = machine._ssh(f"python3 -B {HERE}.py inside '{scenario}' {counted}")
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=3 * LONGEST)
        row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        ended = ENDED.findall(machine.said)
        stuck = re.findall(r"soft lockup - CPU#\d stuck for \d+s! \[.*?\]", machine.said)
        return {"scenario": scenario, "counted": counted, "frozen": True, "kernel": ended, "stuck": stuck}
    return row


def give(machine: kernel_vm.Machine, text: str, path: str) -> None:
    """Write a file in the machine."""
    script = f"mkdir -p $(dirname {path}) && cat > {path}"
    subprocess.run(machine._ssh(script), input=text.encode(), check=True)


if __name__ == "__main__":
    if sys.argv[1] == "take":
        take(*sys.argv[2:])
    elif sys.argv[1] == "inside":
        inside(*sys.argv[2:])
    else:
        main(Path(sys.argv[1]))
