"""What systemd-oomd does in two of the guard's scenarios: whom it ends, and when.

``PYTHONPATH=.:cli python -m guard.tests.oomd DEB`` with Debian's package of it prints one line of JSON a run. The
machine is that of tests/long/kernel_vm.py (qemu, systemd, control groups of version 2), so it needs what that needs.
Each scenario is run with a GPU's memory that the control group counts, as a memfd is, and that it does not, as on a
Spark: then a process outside of all units has written it, and the unit's process alone keeps it (eat.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guard.tests.scenarios import Actor
    from tests.long.kernel_vm import Machine

#: Where these files of this folder are in the machine.
HERE, FILES = "/srv/guard", ("eat", "inside", "oomd", "scenarios")
LONGEST, RATE = 60.0, 40
#: What the kernel says when it ends a process of a unit.
ENDED = re.compile(r"oom-kill:.*task_memcg=(\S+?),task")
SCENARIOS = ("a second model loads", "a process eats beside a model")
#: As Ubuntu and Fedora set it up, but for all units: by the pressure of 20 s, and by swap.
SETTINGS = {
    "oomd.conf.d/50-test.conf": "[OOM]\nDefaultMemoryPressureDurationSec=20s\n",
    "system/-.slice.d/50-test.conf": "[Slice]\nManagedOOMSwap=kill\n",
    "system/system.slice.d/50-test.conf":
        "[Slice]\nManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureLimit=50%\n",
}  # fmt: skip


def start(actor: Actor, total: int, rate: int, counted: str) -> None:
    """Start an actor as a unit."""
    words = ["systemd-run", "--quiet", f"--unit={actor.name}", "-p", "OOMPolicy=kill", "-p"]
    words += [f"StandardOutput=file:/run/{actor.name}.ready", "/usr/bin/python3", "-I", f"{HERE}/eat.py"]
    size = int(total * actor.percent / 100) >> 20
    subprocess.run([*words, actor.name, actor.kind, str(size), str(rate), counted], check=True)


def alive(name: str) -> bool:
    """Say whether a unit runs."""
    try:
        return bool(Path(f"/sys/fs/cgroup/system.slice/{name}.service/cgroup.procs").read_text())
    except OSError:
        return False


def inside(name: str, counted: str) -> None:
    """Bring a scenario about and print what came of it: runs in the machine."""
    from inside import ASK, Sampler, available
    from scenarios import SCENARIOS as ALL

    Path("/proc/self/oom_score_adj").write_text("-1000")
    Path("/sys/fs/cgroup/cgroup.procs").write_text(str(os.getpid()))
    began, total, (model,), (comes,) = time.time(), available()[1], ALL[name].before, ALL[name].then
    ready = Path(f"/run/{model.name}.ready")
    start(model, total, 0, counted)
    while not (ready.exists() and ready.read_text()):
        time.sleep(0.2)
    time.sleep(3)
    start(comes, total, RATE, counted)
    time.sleep(2)
    gone: dict[str, float] = {}
    sampler, since = Sampler(), time.monotonic()
    sampler.start()
    while (now := time.monotonic()) - since < LONGEST and len(gone) < 2:
        for unit in (model.name, comes.name):
            if unit not in gone and not alive(unit):
                gone[unit] = round(now - (sampler.first or now), 1)
        back = available()[0] / total > ASK / 100
        if gone and back and now - (sampler.first or now) - max(gone.values()) > 10:
            break
        time.sleep(0.05)
    sampler.stopped = True
    journal = ["journalctl", "-o", "cat", "--since", f"@{int(began)}", "-u", "systemd-oomd"]
    said = subprocess.run(journal, capture_output=True, text=True, check=False).stdout.splitlines()
    kernel = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout
    print(json.dumps({
        "scenario": name, "counted": counted, "gone": gone, "below": round(sampler.below, 1),
        "gap": round(sampler.gap, 2), "oomd": [line for line in said if "Killed" in line],
        "kernel": ENDED.findall(kernel),
    }))  # fmt: skip
    for unit in (model.name, comes.name):
        for words in (["kill", "-s", "KILL"], ["stop"], ["reset-failed"]):
            subprocess.run(["systemctl", *words, unit], check=False, capture_output=True)
        Path(f"/run/{unit}.ready").unlink(missing_ok=True)
    subprocess.run(["dmesg", "-C"], check=False)


def main(package: Path) -> None:
    """Run each scenario; a machine that does not come back is started anew."""
    from tests.long.kernel_vm import Machine

    wanted = [(scenario, counted) for counted in ("counted", "uncounted") for scenario in SCENARIOS]
    while wanted:
        with tempfile.TemporaryDirectory() as name:
            machine = Machine(Path(name))
            try:
                prepare(machine, package)
                row: dict[str, Any] = {}
                while wanted and not row.get("frozen"):
                    row = one(machine, *wanted.pop(0))
                    print(json.dumps(row), flush=True)
            finally:
                machine.end()


def prepare(machine: Machine, package: Path) -> None:
    """Install it, and what runs in the machine."""
    machine.wait()
    given = {f"{HERE}/{name}.py": Path(__file__).with_name(f"{name}.py").read_bytes() for name in FILES}
    given |= {f"/etc/systemd/{path}": text.encode() for path, text in SETTINGS.items()}
    for path, content in {f"{HERE}/oomd.deb": package.read_bytes(), **given}.items():
        machine.do(f"mkdir -p $(dirname {path}) && cat > {path}", given=content)
    machine.do(f"dpkg -i {HERE}/oomd.deb && systemctl daemon-reload && systemctl restart systemd-oomd")
    print(machine.do("oomctl"), file=sys.stderr, flush=True)


def one(machine: Machine, scenario: str, counted: str) -> dict[str, Any]:
    """Run one scenario, and return the row."""
    try:
        said = machine.do(f"python3 -B {HERE}/oomd.py inside '{scenario}' {counted}", within=3 * LONGEST)
    except subprocess.TimeoutExpired:
        stuck = re.findall(r"soft lockup - CPU#\d stuck for \d+s! \[.*?\]", machine.said)
        return {"scenario": scenario, "counted": counted, "frozen": True, "kernel": ENDED.findall(machine.said),
                "stuck": stuck}  # fmt: skip
    row: dict[str, Any] = json.loads(said.splitlines()[-1])
    return row


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        inside(*sys.argv[2:])
    else:
        main(Path(sys.argv[1]))
