"""Faults of a bench's host, and how they are fixed: death, a lost network, a slow one, a full disk, a wrong clock.

Each acts on the one container: on its process, in its namespaces, or with its own commands.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from lab import bench as benches, image
from lab.bench import Bench
from lab.host import LabError, run

#: libfaketime reads the offset from here each second, so that running programs follow.
CLOCK = "/etc/faketimerc"
PRELOAD = "/etc/ld.so.preload"


def kill(bench: Bench, host: str) -> None:
    """End a host as a power cut does: at once, and without a word to those who are connected."""
    image.podman("kill", "--signal", "KILL", bench.containers[host])


def revive(bench: Bench, host: str) -> None:
    """Start a host that was killed. It may have another address, which the bench's ssh configuration knows."""
    benches.start(bench, [host], "")


def cut(bench: Bench, host: str, towards: str | None = None) -> None:
    """Take the network from a host: all of it, or the way to one address. Packets vanish, nobody is told."""
    if towards:
        _in(bench, host, "net", "ip", "route", "replace", "blackhole", f"{towards}/32")
    else:
        _in(bench, host, "net", "ip", "link", "set", "eth0", "down")


def mend(bench: Bench, host: str, towards: str | None = None) -> None:
    """Give the network back."""
    if towards:
        _in(bench, host, "net", "ip", "route", "del", "blackhole", f"{towards}/32")
    else:
        _in(bench, host, "net", "ip", "link", "set", "eth0", "up")
        # The kernel forgot it with the link.
        _in(bench, host, "net", "ip", "route", "replace", "default", "via", benches.bridge_address())


def throttle(bench: Bench, host: str, kbit: int | None) -> None:
    """Let a host receive no more than this, by holding up what is sent into its link; None: as fast as it goes."""
    # "2: eth0@if15: <…": its other end is number 15 here. /sys would answer for this machine.
    index = _in(bench, host, "net", "ip", "-o", "link", "show", "eth0").split(":")[1].partition("@if")[2]
    links = [line.split(":")[:2] for line in run("ip", "-o", "link").stdout.splitlines()]
    device = next(name.strip().partition("@")[0] for number, name in links if number == index)
    if not device.startswith("veth"):
        raise LabError(f"The link of {host} ends in {device}, which is no container's. Its rate is left as it is.")
    run("tc", "qdisc", "del", "dev", device, "root", quiet=True)
    if kbit:
        limit = f"rate {kbit}kbit burst 64kb latency 200ms".split()
        run("tc", "qdisc", "add", "dev", device, "root", "tbf", *limit)


def received(bench: Bench, host: str) -> int:
    """Return how many bytes a host has received since it started."""
    counters = _in(bench, host, "net", "cat", "/proc/net/dev")
    return next(int(line.split()[1]) for line in counters.splitlines() if line.strip().startswith("eth0:"))


def limit_disk(bench: Bench, host: str, path: str, free: int) -> None:
    """Put what is at ``path`` on its own file system, in memory, with ``free`` MiB left. Nothing is lost."""
    used = int(execute(bench, host, f"du -sm {shlex.quote(path)}").split()[0])
    copy = f"mkdir -p {path} /mnt/small && mount -t tmpfs -o size={used + free}m,mode=0755 small /mnt/small"
    copy += f" && cp -a {path}/. /mnt/small/ && mount --move /mnt/small {path}"
    _in(bench, host, "mount", "sh", "-c", copy)


def fill(bench: Bench, host: str, path: str, leave: int = 0) -> None:
    """Let another program take what is free at ``path``, but for ``leave`` KiB."""
    script = f"free=$(df -Pk {path} | awk 'NR==2 {{print $4}}'); fallocate -l $((free - {leave}))K {path}/.filled"
    execute(bench, host, script)


def empty(bench: Bench, host: str, path: str) -> None:
    """Take away what filled the disk."""
    execute(bench, host, f"rm -f {path}/.filled")


def set_clock(bench: Bench, host: str, offset: str | None) -> None:
    """Let every program of a host read a clock that is off: ``+3d``, ``-2h``; None: the right one.

    Containers share the kernel's clock, so a library that is loaded into each program answers in its place.
    """
    if offset is None:
        execute(bench, host, f"rm -f {PRELOAD} {CLOCK}")
        return
    library = execute(bench, host, "find /usr/lib -name libfaketime.so.1")
    if not library:
        raise LabError(f"{host} has no libfaketime. Bring it up with `python -m lab up --count`.")
    execute(bench, host, f"echo '{offset}' > {CLOCK}; echo {library} > {PRELOAD}")


def execute(bench: Bench, host: str, script: str) -> str:
    """Run a script as root in a host and return what it prints."""
    return image.podman("exec", bench.containers[host], "sh", "-c", script).stdout.strip()


def _in(bench: Bench, host: str, namespace: str, *command: str, quiet: bool = False) -> str:
    """Run a command with this machine's rights in one namespace of a host; in ``mount`` it is the host's own."""
    process = image.podman("inspect", bench.containers[host], "--format", "{{.State.Pid}}").stdout.strip()
    if not Path(f"/proc/{process}/ns").exists():
        raise LabError(f"{host} is not running. Start it again first.")
    return run("nsenter", "-t", process, f"--{namespace}", *command, quiet=quiet).stdout
