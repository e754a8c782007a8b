import math
import pathlib
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import jobs as _jobs
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.jobs import size

LOGS = pathlib.Path(__file__).parents[3] / "data" / "logs"
GIB = 1024
#: A DGX Spark: 20 cores, 119 GiB.
CORES, TOTAL = 20, 119 * GIB
V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNT = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


def gpu_process(pid: int, name: str, mib: int | None) -> dict[str, t.Any]:
    return {"pid": pid, "name": name, "used_mib": mib}


def host(root: pathlib.Path, files: dict[str, str], **options: t.Any) -> Host:
    """Return a recorded host with 20 cores and 119 GiB, of which 100 are available."""
    meminfo = f"MemTotal:  {TOTAL * 1024} kB\nMemFree:  1024 kB\nMemAvailable:  {100 * GIB * 1024} kB\n"
    cpuinfo = "".join(f"processor\t: {core}\nBogoMIPS\t: 2000.00\n\n" for core in range(CORES))
    for path, text in {"/proc/meminfo": meminfo, "/proc/cpuinfo": cpuinfo, **files}.items():
        (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (root / path.lstrip("/")).write_text(text)
    return Host(str(root), **options)


# -- number of jobs


@pytest.mark.parametrize(
    ("cores", "available", "options", "count"),
    [
        (20, 100, {}, 20), (20, 60, {}, 10), (20, 60, {"memory_per_job_mib": 8 * GIB}, 5),
        (20, 60, {"reserve_mib": 40 * GIB}, 5), (20, 60, {"requested": 4}, 4), (20, 60, {"requested": 30}, 10),
        (2, 100, {"requested": 8}, 8), (1, 22, {}, 1),
    ],
)  # fmt: skip
def test_job_count_fits_the_memory(cores: int, available: int, options: dict[str, int], count: int) -> None:
    jobs = size(cores, available * GIB, TOTAL, **options)
    assert jobs.count == count
    assert jobs.why.startswith(f"{count} ")


@pytest.mark.parametrize(("total", "reserve"), [(8, 2), (24, 6), (63, 15.75), (64, 16), (100, 16), (400, 60)])
def test_reserve_below_64_gib_is_a_quarter(total: int, reserve: float) -> None:
    assert _jobs.reserve(total * GIB) == math.ceil(reserve * GIB)
    # Both requested jobs fit on a host with 24 GiB.
    assert size(2, 22 * GIB, 24 * GIB, requested=2).count == 2


def test_host_without_memory_for_one_job_is_refused() -> None:
    with pytest.raises(SparkforgeError, match=r"one job of 4 GiB .*: 19\.5 GiB") as error:
        size(20, 20_000, TOTAL)
    assert "memory_reserve" in error.value.remedy
    assert error.value.details["available_mib"] == 20_000


# -- next to GPU processes


def test_small_gpu_process_does_not_matter() -> None:
    served = [gpu_process(4711, "VLLM::EngineCore", 50 * GIB)]
    assert size(CORES, 60 * GIB, TOTAL, gpu=served).count == 10


def test_build_is_refused_with_names_of_large_gpu_processes() -> None:
    gpu = [gpu_process(12, "Xorg", 20), gpu_process(4711, "VLLM::EngineCore", 80 * GIB)]
    with pytest.raises(SparkforgeError) as error:
        size(CORES, 30 * GIB, TOTAL, gpu=gpu)
    assert "4711 VLLM::EngineCore (81920 MiB), 12 Xorg (20 MiB); 3 of 20 jobs are left." in error.value.cause
    assert error.value.details["gpu_processes"][0]["pid"] == 4711
    # A request for no more jobs than fit is accepted.
    assert size(CORES, 30 * GIB, TOTAL, requested=3, gpu=gpu).count == 3


def test_gpu_process_of_unknown_size_explains_missing_memory() -> None:
    unknown = [gpu_process(4711, "python3", None)]
    assert size(CORES, 100 * GIB, TOTAL, gpu=unknown).count == 20
    with pytest.raises(SparkforgeError, match=r"4711 python3 \(size unknown\); 1 of 20 jobs are left"):
        size(CORES, 22 * GIB, TOTAL, gpu=unknown)


def test_gpu_processes_are_named_if_no_job_fits() -> None:
    processes = [gpu_process(pid, "python3", 9 * GIB) for pid in range(1, 10)]
    with pytest.raises(SparkforgeError, match=r"5 python3 \(9216 MiB\) and 4 more; 0 of"):
        size(CORES, 10 * GIB, TOTAL, gpu=processes)
    # The host is too small even without the GPU process.
    with pytest.raises(SparkforgeError, match="GPU processes use"):
        size(CORES, 1 * GIB, 16 * GIB, gpu=[gpu_process(1, "x", 1)])


def nvidia_smi(total: str, processes: str) -> t.Callable[[list[str]], tuple[int, str, str]]:
    def run(argv: list[str]) -> tuple[int, str, str]:
        device = f"0, NVIDIA GB10, GPU-1, 12.1, {total}, {total}, 580.95.05\n"
        return 0, device if any("query-gpu" in word for word in argv) else processes, ""

    return run


def test_gpu_processes_count_with_shared_memory_only(tmp_path: pathlib.Path) -> None:
    listed = "4711, /opt/a b/python3, 81920\n12, [Not Found], [N/A]\n"
    files = {"/usr/bin/nvidia-smi": ""}
    spark = host(tmp_path / "spark", files, run=nvidia_smi("[N/A]", listed))
    assert _jobs.gpu_memory_processes(spark) == [
        gpu_process(4711, "/opt/a b/python3", 81920),
        gpu_process(12, "[Not Found]", None),
    ]
    assert _jobs.gpu_memory_processes(host(tmp_path / "own", files, run=nvidia_smi("143771", listed))) == []
    assert _jobs.gpu_memory_processes(host(tmp_path / "none", {})) == []


# -- the host's memory and cores


def test_tightest_cgroup_v2_limit_applies(tmp_path: pathlib.Path) -> None:
    unit = "/sys/fs/cgroup/system.slice/sparkforge.service"
    mib = 1 << 20
    files = {
        "/proc/self/cgroup": "0::/system.slice/sparkforge.service\n",
        "/proc/self/mountinfo": V2_MOUNT,
        f"{unit}/memory.max": f"{64 * GIB * mib}\n",
        f"{unit}/memory.high": "max\n",
        f"{unit}/memory.current": f"{40 * GIB * mib}\n",
        f"{unit}/memory.stat": f"anon 5\ninactive_file {20 * GIB * mib}\nactive_file {4 * GIB * mib}\n",
        f"{unit}/cpu.max": "450000 100000\n",
        f"{unit}/memory.events": "low 0\nhigh 3\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n",
        "/sys/fs/cgroup/system.slice/memory.max": "max\n",
        "/sys/fs/cgroup/system.slice/memory.current": "1\n",
        "/sys/fs/cgroup/system.slice/cpu.max": "max 100000\n",
        "/proc/vmstat": "oom_kill 7\n",
    }
    spark = host(tmp_path, files)
    assert _jobs.memory(spark) == _jobs.Memory(64 * GIB, 48 * GIB, unit)
    # The engine has already subtracted the reserve from this unit's limit, so it must not be subtracted again.
    assert _jobs.memory(spark, "sparkforge.service") == _jobs.Memory(TOTAL, 100 * GIB)
    assert _jobs.memory(spark, "another.service").limit == unit
    assert _jobs.cores(spark) == 5
    assert _jobs.oom_kills(spark) == 2


def test_cgroup_v1_limits_apply(tmp_path: pathlib.Path) -> None:
    mib = 1 << 20
    files = {
        "/proc/self/cgroup": "9:name=systemd:/\n4:memory:/lab/x\n2:cpu,cpuacct:/lab\n0::/\n",
        "/proc/self/mountinfo": V1_MOUNT,
        "/sys/fs/cgroup/memory/lab/x/memory.limit_in_bytes": "9223372036854771712\n",
        "/sys/fs/cgroup/memory/lab/x/memory.usage_in_bytes": "5\n",
        "/sys/fs/cgroup/memory/lab/memory.limit_in_bytes": f"{8 * GIB * mib}\n",
        "/sys/fs/cgroup/memory/lab/memory.usage_in_bytes": f"{6 * GIB * mib}\n",
        "/sys/fs/cgroup/memory/lab/memory.stat": f"cache 1\ntotal_inactive_file {1 * GIB * mib}\n",
        "/sys/fs/cgroup/cpu,cpuacct/lab/cpu.cfs_quota_us": "200000\n",
        "/sys/fs/cgroup/cpu,cpuacct/lab/cpu.cfs_period_us": "100000\n",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
        "/proc/vmstat": "pgmajfault 1\noom_kill 7\n",
    }
    lab = host(tmp_path, files)
    assert _jobs.memory(lab) == _jobs.Memory(8 * GIB, 3 * GIB, "/sys/fs/cgroup/memory/lab")
    assert _jobs.cores(lab) == 2
    assert _jobs.oom_kills(lab) == 7


def test_container_uses_mounted_cgroup(tmp_path: pathlib.Path) -> None:
    files = {
        "/proc/self/cgroup": "0::/../../machine.slice/libpod-1.scope\n",
        "/proc/self/mountinfo": V2_MOUNT.replace("0:26 / /sys", "0:26 /machine.slice/libpod-2.scope /sys"),
        "/sys/fs/cgroup/memory.max": f"{32 << 30}\n",
        "/sys/fs/cgroup/memory.current": f"{2 << 30}\n",
    }
    assert _jobs.memory(host(tmp_path, files)) == _jobs.Memory(32 * GIB, 30 * GIB, "/sys/fs/cgroup")


def test_missing_memory_figures_are_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SparkforgeError, match="/proc/meminfo does not show"):
        _jobs.memory(host(tmp_path, {"/proc/meminfo": "MemTotal: 1 kB\n"}))
    assert _jobs.oom_kills(host(tmp_path, {})) is None


# -- builds that were killed because of memory


def log(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "before", "after", "status", "memory"),
    [
        ("compiler-killed.gcc", 3, 4, 1, True), ("compiler-killed.gcc", 3, 3, 1, False),
        ("compiler-killed.gcc", None, 4, 1, True), ("linker-killed", 0, 2, 1, True),
        ("process-killed.cicc", 0, 1, 137, True), ("out-of-memory.gcc", 3, 3, 1, True),
        ("out-of-memory.cpp", 0, 0, None, True), ("compiler-oom-kill.build", 3, 3, 1, True),
        ("compile-error.gcc", 3, 4, 1, False), ("compile-error.gcc", 3, 4, -9, True),
        ("compile-error.gcc", 3, 3, -9, False), ("no-space.gcc", 0, 0, 1, False), ("rdma-memory", 0, 0, 1, False),
    ],
)  # fmt: skip
def test_only_kills_counted_by_the_kernel_mean_memory(name, before, after, status, memory):
    assert _jobs.killed_for_memory(log(name), before, after, status) is memory
