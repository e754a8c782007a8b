"""Faults of a bench's host, and how they are repaired: death, a lost or slow network, a full disk, a wrong clock.

Each affects only one container: its process, its namespaces, or the commands run in it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from lab import bench as benches, image
from lab.bench import Bench
from lab.host import LabError, run

#: libfaketime reads the offset from this file every second, so that running programs follow it.
CLOCK = "/etc/faketimerc"
PRELOAD = "/etc/ld.so.preload"
#: A library that lets each process have its own fake clock. By default, a program inherits the name of a semaphore from
#: the process that it replaces. If that ran as another account, libfaketime may not open it, and waits for itself.
ALONE = "/etc/faketime.so"
ALONE_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>

sem_t *sem_open(const char *name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    unsigned value = va_arg(rest, unsigned);
    va_end(rest);
    if (!strncmp(name, "/faketime", 9)) {
        errno = ENOSYS;
        return SEM_FAILED;
    }
    return ((sem_t *(*)(const char *, int, ...)) dlsym(RTLD_NEXT, "sem_open"))(name, flags, mode, value);
}
"""


def kill(bench: Bench, host: str) -> None:
    """Kill a host as a power cut would: immediately, and without closing its connections."""
    image.podman("kill", "--signal", "KILL", bench.containers[host])


def revive(bench: Bench, host: str) -> None:
    """Start a killed host. Its address may change; the bench's ssh configuration follows."""
    benches.start(bench, [host], "")


def cut(bench: Bench, host: str, towards: str | None = None) -> None:
    """Cut a host's network, or its route to one address. Packets are lost without an error message."""
    if towards:
        _in(bench, host, "net", "ip", "route", "replace", "blackhole", f"{towards}/32")
    else:
        _in(bench, host, "net", "ip", "link", "set", "eth0", "down")


def mend(bench: Bench, host: str, towards: str | None = None) -> None:
    """Restore the network."""
    if towards:
        _in(bench, host, "net", "ip", "route", "del", "blackhole", f"{towards}/32")
    else:
        _in(bench, host, "net", "ip", "link", "set", "eth0", "up")
        # The kernel removed the route together with the link.
        _in(bench, host, "net", "ip", "route", "replace", "default", "via", benches.bridge_address())


def throttle(bench: Bench, host: str, kbit: int | None) -> None:
    """Limit a host's receive rate by delaying packets on its link; None removes the limit."""
    # "2: eth0@if15: <…": the link's other end has number 15 on this machine. /sys would show this machine's links.
    index = _in(bench, host, "net", "ip", "-o", "link", "show", "eth0").split(":")[1].partition("@if")[2]
    links = [line.split(":")[:2] for line in run("ip", "-o", "link").stdout.splitlines()]
    device = next(name.strip().partition("@")[0] for number, name in links if number == index)
    if not device.startswith("veth"):
        raise LabError(f"The link of {host} ends in {device}, which is not a container's. Its rate is unchanged.")
    run("tc", "qdisc", "del", "dev", device, "root", quiet=True)
    if kbit:
        limit = f"rate {kbit}kbit burst 64kb latency 200ms".split()
        run("tc", "qdisc", "add", "dev", device, "root", "tbf", *limit)


def received(bench: Bench, host: str) -> int:
    """Return the number of bytes that a host has received since it started."""
    counters = _in(bench, host, "net", "cat", "/proc/net/dev")
    return next(int(line.split()[1]) for line in counters.splitlines() if line.strip().startswith("eth0:"))


def limit_disk(bench: Bench, host: str, path: str, free: int) -> None:
    """Move the content of ``path`` to a separate in-memory file system with ``free`` MiB left. No data is lost."""
    used = int(execute(bench, host, f"du -sm {shlex.quote(path)}").split()[0])
    copy = f"mkdir -p {path} /mnt/small && mount -t tmpfs -o size={used + free}m,mode=0755 small /mnt/small"
    copy += f" && cp -a {path}/. /mnt/small/ && mount --move /mnt/small {path}"
    _in(bench, host, "mount", "sh", "-c", copy)


def fill(bench: Bench, host: str, path: str, leave: int = 0) -> None:
    """Fill the disk at ``path`` with a file, leaving ``leave`` KiB."""
    script = f"free=$(df -Pk {path} | awk 'NR==2 {{print $4}}'); fallocate -l $((free - {leave}))K {path}/.filled"
    execute(bench, host, script)


def empty(bench: Bench, host: str, path: str) -> None:
    """Remove the file that filled the disk."""
    execute(bench, host, f"rm -f {path}/.filled")


def set_clock(bench: Bench, host: str, offset: str | None) -> None:
    """Shift the clock that all programs on a host read: ``+3d``, ``-2h``; None restores it.

    Containers share the kernel's clock, so a library that is loaded into each program replaces it.
    """
    if offset is None:
        execute(bench, host, f"rm -f {PRELOAD} {CLOCK} {ALONE}")
        return
    library = execute(bench, host, "find /usr/lib -name libfaketime.so.1")
    if not library:
        raise LabError(f"{host} has no libfaketime. Bring it up with `python -m lab up --count`.")
    execute(bench, host, f"printf '%s' {shlex.quote(ALONE_SOURCE)} | cc -shared -fPIC -x c -o {ALONE} -")
    execute(bench, host, f"echo '{offset}' > {CLOCK}; echo {ALONE} {library} > {PRELOAD}")


def execute(bench: Bench, host: str, script: str) -> str:
    """Run a script as root on a host and return its output."""
    return image.podman("exec", bench.containers[host], "sh", "-c", script).stdout.strip()


def _in(bench: Bench, host: str, namespace: str, *command: str, quiet: bool = False) -> str:
    """Run a command with this machine's privileges in a host's namespace; for ``mount`` it is the host's command."""
    process = image.podman("inspect", bench.containers[host], "--format", "{{.State.Pid}}").stdout.strip()
    if not Path(f"/proc/{process}/ns").exists():
        raise LabError(f"{host} is not running. Start it again first.")
    return run("nsenter", "-t", process, f"--{namespace}", *command, quiet=quiet).stdout
