"""How each fault in ``faults.yml`` is made on a machine, and how it is repaired.

Each is a generator that makes the fault, yields how many seconds it lasts (None: the whole run), and repairs it.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lab import faults as lab
from lab.host import LabError, run
from tests.chaos.machine import HOST, Held, Machine

Steps = Iterator["float | None"]
PAGE = b"<!DOCTYPE html><html><body><h1>Please sign in</h1></body></html>"
HOLD_APT = """
import fcntl, time
locks = [open(f'/var/lib/{name}', 'w') for name in ('dpkg/lock-frontend', 'dpkg/lock', 'apt/lists/lock')]
[fcntl.lockf(lock, fcntl.LOCK_EX) for lock in locks]
time.sleep(8)
"""


def _victim(held: Held, names: tuple[str, ...]) -> int:
    """Return the process with one of these names that is nearest to the call, going up from its own process."""
    for pid, name in held.chain:
        if name.startswith(names):
            return pid
    raise LabError(f"There is no {names[0]} above {held.call}: {held.chain}.")


def kill_module(machine: Machine, held: Held, _paths: str) -> Steps:
    # The outermost Python process is the module, or the worker of a build.
    machine.end(next(pid for pid, name in reversed(held.chain) if name.startswith("python")))
    yield None


def kill_program(machine: Machine, held: Held, _paths: str) -> Steps:
    """Kill the program that makes the call: pip, dpkg, a helper, or the module itself."""
    machine.end(held.chain[0][0] if not held.call.startswith("dpkg") else _victim(held, ("dpkg",)))
    yield None


def kill_all(machine: Machine, held: Held, _paths: str) -> Steps:
    """Kill everything except the connection, as ``kill -9 -1`` would."""
    for inside, (outside, command) in machine.processes().items():
        if inside != 1 and not command.startswith("sshd"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(outside, signal.SIGKILL)
    yield None


def kill_sshd(machine: Machine, _held: Held, _paths: str) -> Steps:
    machine.close_connections()
    yield None


def kill_container(machine: Machine, _held: Held, _paths: str) -> Steps:
    machine.off()
    yield None
    machine.on()


def power_loss(machine: Machine, _held: Held, _paths: str) -> Steps:
    machine.lose_power()
    yield None
    machine.on()


def disk_full(machine: Machine, _held: Held, _paths: str) -> Steps:
    free = os.statvfs(machine.root).f_bavail * os.statvfs(machine.root).f_frsize
    filler = machine.root / ".filled"
    with filler.open("wb", buffering=0) as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, free - (1 << 20)))
        # Write the rest block by block, because recording where the blocks are also takes space.
        stream.seek(0, os.SEEK_END)
        with contextlib.suppress(OSError):
            while stream.write(bytes(4096)):
                os.fsync(stream.fileno())
    yield None
    filler.unlink()


def inodes_full(machine: Machine, _held: Held, _paths: str) -> Steps:
    directory = machine.root / ".filled"
    directory.mkdir()
    with contextlib.suppress(OSError):
        for number in range(10**6):
            (directory / str(number)).touch()
    yield None
    run("rm", "-rf", directory)


def read_only(machine: Machine, _held: Held, _paths: str) -> Steps:
    machine.fail_disk()
    yield None
    machine.restart()


def out_of_memory(machine: Machine, held: Held, _paths: str) -> Steps:
    """Deny the program that makes the call any more memory."""
    inside = held.chain[0][0]
    outside = machine.processes()[inside][0]
    limit = int(Path(f"/proc/{outside}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    status = Path(f"/proc/{outside}/status").read_text()
    user, group = (re.findall(rf"^{key}:\t(\d+)", status, re.M)[0] for key in ("Uid", "Gid"))
    # Run prlimit as the program's own user, because root in a container may not change another user's limits.
    who = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups"]
    subprocess.run([*who, "prlimit", f"--pid={outside}", f"--as={limit}:{limit}"], check=True)
    yield None


def network_cut(machine: Machine, _held: Held, _paths: str) -> Steps:
    lab.cut(machine.bench, HOST)
    yield None
    lab.mend(machine.bench, HOST)


def network_hiccup(machine: Machine, _held: Held, _paths: str) -> Steps:
    lab.cut(machine.bench, HOST)
    yield 3
    lab.mend(machine.bench, HOST)


def network_slow(machine: Machine, _held: Held, _paths: str) -> Steps:
    lab.throttle(machine.bench, HOST, 512)
    yield None
    lab.throttle(machine.bench, HOST, None)


def apt_lock(machine: Machine, _held: Held, _paths: str) -> Steps:
    machine.execute(f'nohup python3 -S -c "{HOLD_APT}" >/dev/null 2>&1 & sleep 0.5')
    yield None
    while any("time.sleep(8)" in command for _pid, command in machine.processes().values()):
        time.sleep(0.2)


def clock(offset: str) -> Callable[[Machine, Held, str], Steps]:
    def turn(machine: Machine, _held: Held, _paths: str) -> Steps:
        lab.set_clock(machine.bench, HOST, offset)
        yield None
        lab.set_clock(machine.bench, HOST, None)

    return turn


def dns_gone(machine: Machine, _held: Held, _paths: str) -> Steps:
    machine.execute("cp /etc/hosts /run/hosts; sed '/sparkforge.test/d' /run/hosts > /etc/hosts")
    yield None
    machine.execute("cat /run/hosts > /etc/hosts; rm /run/hosts")


def mirror(**how: object) -> Callable[[Machine, Held, str], Steps]:
    def spoil(machine: Machine, _held: Held, paths: str) -> Steps:
        assert machine.server
        machine.server.mend()
        machine.server.fault(paths, **how)
        yield None
        requested = [request.path for request in machine.server.requests]
        machine.server.mend()
        if not requested:
            raise LabError(f"Nobody asked the mirror for {paths}.")

    return spoil


FAULTS: dict[str, Callable[[Machine, Held, str], Steps]] = {
    "kill -9 of the module": kill_module,
    "kill -9 of the program": kill_program,
    "kill -9 of all programs": kill_all,
    "kill -9 of sshd": kill_sshd,
    "container killed": kill_container,
    "power loss": power_loss,
    "disk full": disk_full,
    "inodes full": inodes_full,
    "disk read-only": read_only,
    "out of memory": out_of_memory,
    "network cut": network_cut,
    "network gone for 3 s": network_hiccup,
    "network slowed": network_slow,
    "apt lock held": apt_lock,
    "clock a year ahead": clock("+365d"),
    "clock a year back": clock("-365d"),
    "DNS gone": dns_gone,
    "404": mirror(status=404, body=b"not found\n"),
    "500": mirror(status=500, body=b"broken\n"),
    "500 twice": mirror(status=500, body=b"broken\n", times=2),
    "200 with an error page": mirror(body=PAGE),
    "truncated": mirror(truncate=100),
    "truncated once": mirror(truncate=100, times=1),
    "corrupt byte": mirror(corrupt=50),
    "dripping": mirror(rate=2000),
    "redirect loop": mirror(status=302, headers={"Location": "./loop"}),
}
