"""PID 1 in the virtual machine: runs each scenario and prints its result as a line of JSON.

wanted.json in the same directory has the mode (guard, none or earlyoom) and the names of the scenarios.
"""

import contextlib
import ctypes
import json
import os
import resource
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from eat import CHUNK
from scenarios import SCENARIOS, Actor, Scenario

HERE = Path(__file__).parent
CGROUP = Path("/sys/fs/cgroup")
NVML = Path("/run/nvml.json")
ACTS = Path("/run/guard/acts.jsonl")
#: A scenario's time limit in seconds, and the percentage of memory below which the guard acts.
LONGEST, ASK = 40.0, 6.0
SHELL = ["/bin/sh", "-c", "echo alive"]


def print_row(**row: Any) -> None:
    """Print a row for guard/tests/vm.py."""
    sys.stdout.write("ROW " + json.dumps(row) + "\n")
    sys.stdout.flush()


def available() -> tuple[int, int]:
    """Return MemAvailable and MemTotal in bytes."""
    fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(fields["MemAvailable"].split()[0]) << 10, int(fields["MemTotal"].split()[0]) << 10


class Answer(socketserver.BaseRequestHandler):
    """Answers each connection as sshd does, by forking and running a program."""

    def handle(self) -> None:
        self.request.sendall(subprocess.run(SHELL, capture_output=True, check=False).stdout)


class Server(socketserver.ForkingTCPServer):
    """A server that, like sshd, has no real-time priority and is spared by the OOM killer."""

    allow_reuse_address, request_queue_size = True, 64


class Sampler(threading.Thread):
    """Measures the least available memory, the longest gap between samples, and the time below 3 per cent."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.least, self.gap, self.short, self.stopped = 1.0, 0.0, 0.0, False
        #: The time of the first sample below ``ASK``, and the seconds spent below it.
        self.first, self.below = 0.0, 0.0

    def run(self) -> None:
        last = time.monotonic()
        while not self.stopped:
            share = (lambda pair: pair[0] / pair[1])(available())
            now = time.monotonic()
            self.gap, self.least = max(self.gap, now - last), min(self.least, share)
            self.short += (now - last) * (share < 0.03)
            if share < ASK / 100:
                self.first = self.first or now
                self.below += now - last
            last = now
            time.sleep(0.02)


class Run:
    """A run of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.total = scenario, available()[1]
        self.processes: list[tuple[Actor, subprocess.Popen[bytes]]] = []

    def start(self, actor: Actor) -> None:
        """Start an actor in its control group, given as a system unit or a path."""
        group = CGROUP / "system.slice" / (actor.unit or "other.scope")
        if "/" in actor.unit:
            group = CGROUP / actor.unit.lstrip("/")
        group.mkdir(parents=True, exist_ok=True)
        leader = os.getpgid(self.processes[-1][1].pid) if actor.joined else 0

        def enter() -> None:
            (group / "cgroup.procs").write_text(str(os.getpid()))
            Path("/proc/self/oom_score_adj").write_text("0")
            os.setpgid(0, leader)
            if actor.uid:
                os.setgroups(range(10_000, 10_000 + actor.groups))
                os.setgid(actor.uid)
                os.setuid(actor.uid)

        size = int(self.total * actor.percent / 100) >> 20
        command = [sys.executable, "-I", "-S", str(HERE / "eat.py"), actor.comm or actor.name]
        command += [actor.kind, str(size), str(actor.rate)]
        command += ["deaf"] if actor.deaf else []
        for _ in range(actor.count):
            self.processes.append((actor, subprocess.Popen(command, preexec_fn=enter, stdout=subprocess.PIPE)))

    def write_nvml(self) -> None:
        """Write each GPU process's memory as NVML would report it."""
        held = {}
        for actor, process in self.processes:
            if actor.kind == "gpu" and process.poll() is None:
                # The process may have exited meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    links = [os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir()]
                    held[str(process.pid)] = CHUNK * sum("bpf-map" in link for link in links)
        partial = NVML.with_suffix(".partial")
        partial.write_text(json.dumps({"processes": held, "devices": []}))
        partial.rename(NVML)

    def wait(self, seconds: float) -> None:
        """Wait, and keep writing NVML's figures."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.write_nvml()
            time.sleep(0.05)

    def run(self) -> dict[str, Any]:
        """Run the scenario and return its result."""
        for actor in self.scenario.before:
            self.start(actor._replace(rate=0))
        for _actor, process in self.processes:
            assert process.stdout is not None
            process.stdout.readline()
        self.wait(3.0)
        sampler = Sampler()
        sampler.start()
        came = len(self.processes)
        for actor in self.scenario.then:
            self.start(actor)
        began = time.monotonic()
        quiet = None
        while time.monotonic() - began < LONGEST:
            self.wait(0.2)
            gone = [actor for actor, process in self.processes if process.poll() is not None]
            if not (self.scenario.right and self.scenario.certain) and time.monotonic() - began > 15:
                break
            is_settled = gone and (available()[0] / self.total > ASK / 100) and not any(
                actor.name in self.scenario.right and process.poll() is None for actor, process in self.processes[came:]
                if "other" not in self.scenario.right
            )  # fmt: skip
            if is_settled:
                quiet = quiet or time.monotonic()
                if time.monotonic() - quiet > 1.0:
                    break
        sampler.stopped = True
        accounts = {actor.uid: actor.name for actor, _process in self.processes if actor.uid}
        victims, acts = acted(sampler, {process.pid: actor.name for actor, process in self.processes}, accounts)
        # A killed process counts as gone even if it has not exited yet.
        names = sorted({actor.name for actor, process in self.processes if process.poll() is not None} | victims)
        right, wrong = self.scenario.right, [name for name in names if name not in self.scenario.right]
        asked = not self.scenario.asked or acts.get("first", "ask") == "ask"
        ended = bool(names) == bool(right) or not self.scenario.certain
        row = {"gone": names, "wrong": wrong, "ok": not wrong and ended and asked,
               "seconds": round(time.monotonic() - began, 2), "least": round(sampler.least, 4),
               "gap": round(sampler.gap, 3), "short": round(sampler.short, 3), "below": round(sampler.below, 3),
               **acts}  # fmt: skip
        self.clean()
        return row

    def clean(self) -> None:
        """Kill all of the scenario's processes and remove their files."""
        for directory in (*(CGROUP / "system.slice").glob("*"), CGROUP / "user.slice"):
            if directory.is_dir():
                (directory / "cgroup.kill").write_text("1")
        for _actor, process in self.processes:
            process.wait()
        for path in (*Path("/mnt").glob("*.cache"), *Path("/tmp").glob("*.cache")):
            path.unlink()
        Path("/proc/sys/vm/drop_caches").write_text("3")
        self.write_nvml()


def acted(sampler: Sampler, actors: dict[int, str], accounts: dict[int, str]) -> tuple[set[str], dict[str, Any]]:
    """Return the killed actors, and figures about the guard's acts such as its reaction time.

    :param actors: the actors' names by PID, because a new process is still called python3.
    :param accounts: the actors' names by account, for processes that an actor has started.
    """
    if not ACTS.exists():
        return set(), {}
    rows = [json.loads(line) for line in ACTS.read_text().splitlines()]
    ACTS.write_text("")
    acts = [row for row in rows if row["act"] != "warn"]
    for row in acts:
        held = {f"{holder['name']} {holder['pid']}": holder["held"] >> 20 for holder in row["holders"]}
        sys.stderr.write(f"{row['memory']['time']:.3f} {row['act']} {held}\n")
    reaction = {"reaction": round(acts[0]["memory"]["time"] - sampler.first, 3)} if acts and sampler.first else {}
    first = {"first": acts[0]["act"]} if acts else {}
    victims = {
        actors.get(victim["pid"], accounts.get(victim["uid"], victim["name"]))
        for row in acts
        for victim in row["victim"]
    }
    unheld = {"unheld": True} if any("no process holds" in row["why"] for row in rows) else {}
    return victims, {"acts": len(acts), **first, **reaction, **unheld}


def reap() -> None:
    """Reap orphans as systemd does, because each zombie of a fork bomb keeps a kernel stack."""
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.1)


def swap(kind: str, on: bool) -> None:
    """Turn swap on or off, either on the disk or as 1 GiB in zram."""
    device = {"disk": "/dev/vda", "zram": "/dev/zram0"}[kind]
    if on:
        if kind == "zram":
            Path("/sys/block/zram0/disksize").write_text("1G")
        subprocess.run(["/sbin/mkswap", device], check=True, capture_output=True)
    library = ctypes.CDLL(None, use_errno=True)
    failed = library.swapon(device.encode(), 0) if on else library.swapoff(device.encode())
    if failed:
        raise OSError(ctypes.get_errno(), device)
    if kind == "zram" and not on:
        Path("/sys/block/zram0/reset").write_text("1")


def watcher(mode: str) -> subprocess.Popen[bytes] | None:
    """Start the guard, earlyoom or nothing."""
    settings = {"state_directory": "/run/guard", "warn_percent": 10, "ask_percent": 6, "end_percent": 3, "units": [],
                "nvml": str(NVML), "power_cap": 0, "clock_cap": 0}  # fmt: skip
    Path("/run/settings.json").write_text(json.dumps(settings))
    commands = {
        "guard": [sys.executable, "-I", "-B", str(HERE / "guard.pyz"), "run", "/run/settings.json"],
        "earlyoom": [str(HERE / "earlyoom"), "-m", "6,3", "-s", "100", "-r", "0", "-g", "-p",
                     "--avoid", "^(sshd|systemd|gnome-shell|python3?)$"],
    }  # fmt: skip

    def limit() -> None:
        # The unit's limits; see install.py.
        resource.setrlimit(resource.RLIMIT_RTTIME, (5_000_000, 20_000_000))
        os.nice(-20)

    return subprocess.Popen(commands[mode], stdout=sys.stderr, preexec_fn=limit) if mode != "none" else None


def cost(process: subprocess.Popen[bytes] | None) -> dict[str, Any]:
    """Return the watcher's peak memory and CPU time."""
    if process is None:
        return {}
    status = Path(f"/proc/{process.pid}/status").read_text()
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return {"alive": process.poll() is None, "peak_kib": peak, "cpu_seconds": (int(fields[11]) + int(fields[12])) / 100}


def main() -> None:
    """Run the requested scenarios."""
    requested = json.loads((HERE / "wanted.json").read_text())
    Path("/proc/self/oom_score_adj").write_text("-1000")
    threading.Thread(target=Server(("0.0.0.0", 22), Answer).serve_forever, daemon=True).start()
    threading.Thread(target=reap, daemon=True).start()
    NVML.write_text('{"processes": {}, "devices": []}')
    ACTS.parent.mkdir()
    watch = watcher(requested["mode"])
    # On a slow machine the guard takes seconds to start.
    while requested["mode"] == "guard" and os.sched_getscheduler(watch.pid) == os.SCHED_OTHER:
        time.sleep(0.1)
    time.sleep(2)
    print_row(ready=True, total=available()[1])
    began = time.monotonic()
    for name in requested["names"]:
        scenario = SCENARIOS[name]
        if scenario.swap:
            swap(scenario.swap, True)
        print_row(begins=name)
        print_row(scenario=name, **Run(scenario).run())
        if scenario.swap:
            swap(scenario.swap, False)
        print_row(cost=True, wall=round(time.monotonic() - began, 1), **cost(watch))


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        print_row(failed=repr(error))
        raise
    finally:
        Path("/proc/sysrq-trigger").write_text("o")
        time.sleep(60)
