"""Choose the number of build jobs from the available memory rather than from the number of cores.

A compiler process for PyTorch's CUDA files takes 3 to 8 GiB, and on a GB10, GPU programs use the same memory. One job
per core has made hosts unreachable for hours.

A process may use the smallest of the host's memory and the limits of its control group and all parent groups
(``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/memory.rst`` in the kernel).
"""

from __future__ import annotations

import math
import os
import posixpath
import re
import typing as t
from dataclasses import dataclass

from .._core import phrases
from .._core.errors import SparkforgeError
from .._host.gpu import Gpu
from .._host.reader import Host, run_command
from . import model

MEMORY_PER_JOB_MIB = 4096
#: The memory to reserve for the host: at least this share of all memory and this many MiB. Below 64 GiB that would be
#: most of a host, so a quarter is reserved instead.
RESERVE_SHARE = 0.15
RESERVE_MIB = 16 * 1024
SMALL_RESERVE_SHARE = 0.25
#: A build proceeds alongside GPU processes if at least this share of its jobs still fits.
ENOUGH_SHARE = 0.25

_MIB = 1 << 20
# cgroup v1 reports "no limit" as the largest number of whole pages.
_UNLIMITED = 1 << 60


@dataclass(frozen=True)
class Memory:
    """The memory that a process may use here, in MiB.

    :ivar limit: the control group that allows less than the host has, or None.
    """

    total_mib: int
    available_mib: int
    limit: str | None = None


@dataclass(frozen=True)
class Jobs:
    """The number of jobs, and one sentence that explains it."""

    count: int
    why: str


#: A process that holds memory through the GPU: ``pid``, ``name``, ``used_mib`` (None if the driver does not report it).
GpuProcess = t.Mapping[str, t.Any]


def size(
    cores: int,
    available_mib: int,
    total_mib: int,
    memory_per_job_mib: int = MEMORY_PER_JOB_MIB,
    reserve_mib: int = 0,
    requested: int = 0,
    gpu: t.Sequence[GpuProcess] = (),
) -> Jobs:
    """Return the number of jobs that fit: ``min(cores, (available - reserve) / memory per job)``.

    :param reserve_mib: the memory to leave for the host, or 0 for the default from :func:`reserve`.
    :param requested: the maximum number of jobs, in place of the number of cores; 0 uses the cores. Memory still limits
        it: to get more jobs, lower the memory per job.
    :param gpu: the result of :func:`gpu_memory_processes`.
    :raises SparkforgeError: if not even one job fits, or if GPU processes leave too little memory for the build.
    """
    reserved_mib = reserve_mib or reserve(total_mib)
    desired = requested or max(1, cores)
    fitting = (available_mib - reserved_mib) // memory_per_job_mib
    if gpu:
        _check_gpu(gpu, desired, available_mib - reserved_mib, total_mib - reserved_mib, memory_per_job_mib)
    memory = f"{_gib(available_mib)} are available, minus a reserve of {_gib(reserved_mib)}"
    if fitting < 1:
        raise SparkforgeError(
            f"Not even one job of {_gib(memory_per_job_mib)} fits into this host's memory: {memory}.",
            "Stop the programs that use the memory, or lower memory_per_job or memory_reserve.",
            available_mib=available_mib,
        )
    count = min(desired, fitting)
    reason = f"of {requested} requested" if requested else f"for {phrases.plural(cores, 'core')}"
    jobs = f"{phrases.plural(count, 'job')} {reason}"
    if fitting < desired:
        return Jobs(count, f"{jobs}: {memory}, at {_gib(memory_per_job_mib)} per job.")
    return Jobs(count, f"{jobs}: the memory would allow {fitting}.")


def size_for(unit: model.Unit, memory: Memory, at_most: int = 0) -> Jobs:
    """Return how many jobs the host allows ``unit`` now, limited to ``at_most`` unless that is 0.

    :raises SparkforgeError: if not even one job fits, or if GPU processes hold the memory.
    """
    limits = [number for number in (unit.jobs, at_most) if number]
    return size(
        cores(),
        memory.available_mib,
        memory.total_mib,
        unit.memory_per_job,
        unit.memory_reserve,
        min(limits) if limits else 0,
        gpu_memory_processes(),
    )


def reserve(total_mib: int) -> int:
    """Return the default memory reserve for a host of this size."""
    least = min(RESERVE_MIB, math.ceil(total_mib * SMALL_RESERVE_SHARE))
    return max(least, math.ceil(total_mib * RESERVE_SHARE))


def _check_gpu(gpu: t.Sequence[GpuProcess], desired: int, free_mib: int, most_mib: int, per_job_mib: int) -> None:
    """Refuse to build if GPU processes hold so much memory that fewer than a quarter of the jobs would fit.

    A served model may grow at any time, so the remaining memory might not remain free.

    :param free_mib: the memory left for jobs.
    :param most_mib: the memory for jobs on an idle host; used if the driver does not report a process's memory.
    """
    held_mib = [process["used_mib"] for process in gpu]
    without = most_mib if None in held_mib else min(most_mib, free_mib + sum(mib or 0 for mib in held_mib))
    possible = min(desired, max(1, without // per_job_mib))
    fitting = max(0, free_mib // per_job_mib)
    if fitting >= max(1, math.ceil(possible * ENOUGH_SHARE)):
        return
    largest = sorted(gpu, key=lambda process: -(process["used_mib"] or 0))
    sizes = ["size unknown" if process["used_mib"] is None else f"{process['used_mib']} MiB" for process in largest]
    descriptions = [f"{process['pid']} {process['name']} ({size})" for process, size in zip(largest, sizes)]
    raise SparkforgeError(
        f"GPU processes use the memory that GPU and CPU share: {phrases.some(descriptions, 5)}; {fitting} of "
        f"{possible} jobs are left.",
        "Stop them and run again, or set jobs to the number that may run beside them.",
        gpu_processes=largest,
    )


def _gib(mib: int) -> str:
    return f"{mib / 1024:.1f} GiB".replace(".0 GiB", " GiB")


def live() -> Host:
    """Return the host that this process runs on; programs may be run there."""
    return Host(run=run_command)


def memory(host: Host | None = None, service: str = "") -> Memory:
    """Return the memory available to a process in this process's control group.

    :param service: the build's own systemd unit, whose limit already excludes the reserve. It is skipped because the
        caller subtracts the reserve.
    :raises SparkforgeError: if the kernel does not report the memory.
    """
    host = host or live()
    values = dict(re.findall(r"^(\w+): +(\d+) kB$", host.read("/proc/meminfo") or "", re.MULTILINE))
    if "MemTotal" not in values or "MemAvailable" not in values:
        raise SparkforgeError(
            "/proc/meminfo does not show the amount of memory.", "Mount /proc where the build runs, or set jobs."
        )
    total, available = int(values["MemTotal"]) // 1024, int(values["MemAvailable"]) // 1024
    limited = None
    for group in _groups(host, "memory"):
        if service and posixpath.basename(group.path) == service:
            continue
        limit, used = _limit(host, group)
        if limit is None:
            continue
        if limit // _MIB < total:
            total, limited = limit // _MIB, group.path
        available = min(available, max(0, limit - used) // _MIB)
    return Memory(total, available, limited)


def cores(host: Host | None = None) -> int:
    """Return how many cores a process may use: its CPU affinity, limited by the CPU quota of its groups, rounded up."""
    host = host or live()
    online = len(re.findall(r"^processor\s*:", host.read("/proc/cpuinfo") or "", re.MULTILINE))
    count: float = len(os.sched_getaffinity(0)) if host.live else online
    for group in _groups(host, "cpu"):
        if group.version == 2:
            quota, _space, period = (host.read(f"{group.path}/cpu.max") or "").strip().partition(" ")
        else:
            quota = (host.read(f"{group.path}/cpu.cfs_quota_us") or "").strip()
            period = (host.read(f"{group.path}/cpu.cfs_period_us") or "").strip()
        if quota.isdigit() and period.isdigit() and int(period):
            count = min(count, math.ceil(int(quota) / int(period)))
    return max(1, int(count))


class _Group(t.NamedTuple):
    path: str
    version: int


def _groups(host: Host, controller: str) -> list[_Group]:
    """Return this process's control group for a controller, followed by its parents, innermost first."""
    own: dict[int, str] = {}
    for line in (host.read("/proc/self/cgroup") or "").splitlines():
        number, _colon, rest = line.partition(":")
        names, _colon, path = rest.partition(":")
        if number == "0" and not names:
            own[2] = path
        elif controller in names.split(","):
            own[1] = path
    groups = []
    for line in (host.read("/proc/self/mountinfo") or "").splitlines():
        fields, _dash, source = line.partition(" - ")
        kind, _space, options = source.partition(" ")
        version = {"cgroup2": 2, "cgroup": 1}.get(kind)
        if version not in own or (version == 1 and controller not in options.rpartition(" ")[2].split(",")):
            continue
        root, mount = fields.split(" ")[3:5]
        groups += _parent_groups(mount, root, own[version], version)
    return groups


def _parent_groups(mount: str, root: str, path: str, version: int) -> list[_Group]:
    """Return the groups from ``path`` up to the mounted one; in a container ``path`` may be outside ``root``."""
    inner = posixpath.relpath(path, root) if path == root or path.startswith(root.rstrip("/") + "/") else "."
    parts = [] if inner == "." else inner.split("/")
    return [_Group(posixpath.join(mount, *parts[:count]), version) for count in range(len(parts), -1, -1)]


def _limit(host: Host, group: _Group) -> tuple[int | None, int]:
    """Return (limit, bytes in use that cannot be reclaimed) for a group; the limit is None if there is none."""
    if group.version == 2:
        names, usage = ["memory.max", "memory.high"], "memory.current"
        cached = r"^(?:in)?active_file (\d+)$"
    else:
        names, usage = ["memory.limit_in_bytes"], "memory.usage_in_bytes"
        cached = r"^total_(?:in)?active_file (\d+)$"
    limits = [host.number(f"{group.path}/{name}") for name in names]
    limit = min((value for value in limits if value is not None and value < _UNLIMITED), default=None)
    used = host.number(f"{group.path}/{usage}") or 0
    # As in MemAvailable, the page cache does not count because the kernel reclaims it when needed.
    pages = sum(int(value) for value in re.findall(cached, host.read(f"{group.path}/memory.stat") or "", re.MULTILINE))
    return limit, max(0, used - pages)


def gpu_memory_processes(host: Host | None = None) -> list[GpuProcess]:
    """Return the processes that hold memory through a GPU, or none if the GPU has its own memory."""
    observed = Gpu(host or live()).observe()
    return observed["processes"] if observed["unified_memory"] else []


def oom_kills(host: Host | None = None) -> int | None:
    """Return how many processes the OOM killer has killed in this control group, or else on this host.

    The result is None if the kernel does not count them. cgroup v1 does not count kills in child groups, so the host's
    counter is used there.
    """
    host = host or live()
    files = [f"{group.path}/memory.events" for group in _groups(host, "memory") if group.version == 2]
    for path in (*files[:1], "/proc/vmstat"):
        match = re.search(r"^oom_kill (\d+)$", host.read(path) or "", re.MULTILINE)
        if match:
            return int(match.group(1))
    return None


def killed_for_memory(
    log_tail: str, oom_kills_before: int | None, oom_kills_after: int | None, status: int | None = None
) -> bool:
    """Tell whether a build failed because memory ran out.

    Signal 9, in the log or as the exit status, counts unless the kernel's counter has not increased, because then the
    kill came from elsewhere. A program whose allocation failed always counts.

    :param log_tail: the log of the failed attempt, or its last part.
    :param status: the exit status of the build, in the form of :attr:`subprocess.Popen.returncode` or of a shell.
    """
    # A successful build does not need the rules.
    from .._diagnosis import scan

    diagnosis = scan.diagnose(log_tail)
    rule, others = diagnosis.rule, diagnosis.others
    if rule == scan.OUT_OF_MEMORY or (rule in scan.KILLED and scan.OUT_OF_MEMORY in others):
        return True
    if status not in (-9, 137) and not scan.KILLED.intersection([rule, *others]):
        return False
    return oom_kills_before is None or oom_kills_after is None or oom_kills_after > oom_kills_before
