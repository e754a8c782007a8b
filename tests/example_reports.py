"""Reports of fictitious hosts, for tests and for the pictures in docs/. None of these figures was measured."""

import hashlib
import typing as t

Report = dict[str, t.Any]

NUMERIC_BOUND = "the error of rounding"
NO_GPU = "sparkforge_gpu_required is false"

#: Each family, and the cases of its checks.
NUMERIC: dict[str, list[str]] = {
    "tensors": ["copy", "streams", "pinned_memory", "graph"],
    "matmul": [
        *("float32", "tf32", "bfloat16", "float16", "float64", "int8", "fp8_tensorwise", "fp8_rowwise"),
        *("fp4", "batched", "odd_shapes", "strided", "empty"),
    ],
    "convolution": ["float32", "bfloat16", "channels_last", "grouped", "lstm"],
    "attention": [
        f"{backend}_{dtype}"
        for backend in ("math", "efficient", "flash", "cudnn")
        for dtype in ("float32", "bfloat16", "float16")
        if backend in ("math", "efficient") or dtype != "float32"
    ],
    "linalg": ["solve", "cholesky", "svd", "cudss"],
    "sparsity": ["two_to_four", "csr"],
    "triton_kernels": ["fused", "dot_bfloat16", "dot_fp8"],
    "compilation": ["operators"],
    "collectives": ["all_reduce"],
}
CPU = ["cpu.matmul.float32", "cpu.convolution.float32", "cpu.attention.math_float32", "cpu.linalg.solve"]
#: Each check, with its rate and value.
SPEED = {
    "speed.matmul_bfloat16": ("tflops", 101.3, "91 % of 111 TFLOP/s", "80 % at least"),
    "speed.matmul_float16": ("tflops", 99.8, "90 % of 111 TFLOP/s", "80 % at least"),
    "speed.copy": ("gb_per_s", 231.7, "85 % of 273 GB/s", "75 % at least"),
    "speed.clock": ("mhz", 2411.0, "sustained 2411 of 2418 MHz", "90 % at least"),
}


def row(name: str, family: str = "host", status: str = "pass", **fields: t.Any) -> Report:
    base: Report = {"name": name, "family": family, "status": status}
    base.update(dict.fromkeys(("measured", "bound", "cause", "remedy", "evidence"), ""))
    base.update(seconds=0.01, required=False, numeric=False, ratio=None, rates={}, blocked=False)
    return {**base, **fields}


def share(share_text: str) -> float:
    """Return a number between 0.05 and 0.75 that depends only on the words."""
    return round(0.05 + 0.7 * int.from_bytes(hashlib.sha256(share_text.encode()).digest()[:2], "big") / 65535, 3)


def numeric(host: str, family: str, name: str) -> Report:
    ratio = share(f"{host} {name}")
    return row(
        name,
        family,
        measured=f"{ratio:.2g} of the bound (512 x 513 x 129, strided), {3 + int(ratio * 20)} cases",
        bound=NUMERIC_BOUND,
        ratio=ratio,
        seconds=round(0.05 + share(name), 3),
        required=True,
        numeric=True,
    )


def healthy(host: str = "example-spark01", **fields: t.Any) -> Report:
    """Return the report of a healthy GB10."""
    checks = [
        row("gpu", measured="NVIDIA GB10", bound="at least one", required=True),
        row("compute_capability", measured="12.1", bound="12.1", required=True),
        row("driver", measured="580.95.05", bound="580.65.06 at least", required=True),
        row("torch", measured="2.15.0, CUDA 13.2", bound="2.15.0, CUDA build", required=True),
        row("closure", measured="141 libraries of 96 files found, 0 missing", bound="0 missing", seconds=1.21),
        *(
            row(f"open {soname}", measured=f"/opt/sparkforge/redist/{folder}/current/lib/{soname}", bound="opens")
            for folder, soname in (("libcudss", "libcudss.so.0"), ("libcusparse_lt", "libcusparseLt.so.0"))
        ),
        row("identity.versions", "identity", measured="torch, triton, torchvision agree", bound="CUDA 13.2"),
        row("identity.wheels", "identity", measured="4 wheels, sha256 as in the receipt", bound="4"),
        row(
            "architectures.cubins", "architectures", measured="sm_120, sm_120a, compute_120", bound="covers 12.1",
            required=True,
        ),
        row("architectures.attention_guard", "architectures", measured="no 12.1 cubin", bound="no empty kernel"),
        row("toolchain.ptxas", "toolchain", measured="13.2", bound="13.0 at least"),
        row("toolchain.python_headers", "toolchain", measured="Python.h is there", bound="there"),
    ]  # fmt: skip
    for family, names in NUMERIC.items():
        checks += [numeric(host, family, f"{family}.{name}") for name in names]
    for name in CPU:
        checks.append(numeric(host, name.split(".")[1], name))
    checks += [
        row(
            "storage.gds",
            "storage",
            "skip",
            cause="cuFile is in compatibility mode: the file system is not an NVMe volume that nvidia-fs serves.",
        ),
        row("attention.flash_attn_package", "attention", "skip", cause="The package flash-attn is not installed."),
    ]
    for name, (rate, value, measured, bound) in SPEED.items():
        rates = {rate: round(value * (0.985 + 0.03 * share(host + name)), 1)}
        checks.append(row(name, "speed", measured=measured, bound=bound, rates=rates, seconds=2.1, required=True))
    checks.sort(key=lambda check: check["family"] != "host")
    report: Report = {
        "format": 3,
        "host": host,
        "stack": "torch-2.15.0",
        "method": "wheel",
        "profile": "gb10",
        "lock": "1f0c6f3b2a91",
        "environment_id": "5d41402abc4b",
        "gpu_required": True,
        "check_mode": False,
        "verdict": "proven",
        "scope": "gpu",
        "started": "2026-11-21T16:00:00Z",
        "seconds": 71.3,
        "written": "2026-11-21T16:01:14Z",
        "devices": [{"name": "NVIDIA GB10", "compute_capability": "12.1", "memory_total_mib": None, "index": 0}],
        "driver": "580.95.05",
        "kernel": "6.17.0-1014-nvidia",
        "firmware": {"board": "5.36_0ACUM023", "rocep1s0f0": "28.45.4028"},
        "software": {"python": "3.12.3", "torch": "2.15.0", "cuda": "13.2", "triton": "3.9.0", "torchvision": "0.30.0"},
        "packages": {"libcublas-13-0": "13.1.0.3-1", "libcudnn9-cuda-13": "9.14.0.64-1"},
        "checks": checks,
        "notices": [],
        "resolved": {
            "libcudss.so.0": "/opt/sparkforge/redist/libcudss/0.7.1.6/lib/libcudss.so.0",
            "libcublas.so.13": "/usr/local/cuda-13.0/targets/sbsa-linux/lib/libcublas.so.13",
        },
        "drift": {"since": "2026-11-20T16:00:02Z", "changes": []},
        **fields,
    }
    return counted(report)


def counted(report: Report) -> Report:
    """Return a report with the counts of its checks and the resulting verdict."""
    counts = {
        status: sum(check["status"] == status for check in report["checks"])
        for status in ("pass", "warn", "fail", "skip")
    }
    verdict = "fail" if counts["fail"] else report["verdict"]
    return {**report, "summary": counts, "verdict": verdict}


def changed(report: Report, name: str, **fields: t.Any) -> Report:
    """Return a report in which one check has a different result."""
    assert name in {check["name"] for check in report["checks"]}
    checks = [{**check, **fields} if check["name"] == name else check for check in report["checks"]]
    return counted({**report, "checks": checks})


def broken(host: str = "example-spark02") -> Report:
    """Return the report of a GB10 whose attention gives wrong results and whose clock is capped."""
    stale = {"stack": "torch-2.9.1", "method": "build", "lock": "9a41d07c55e2"}
    report = healthy(host, **stale)
    for dtype, ratio in (("float32", 27.4), ("bfloat16", 8.21), ("float16", 8.94)):
        report = changed(
            report,
            f"attention.efficient_{dtype}",
            status="fail",
            measured=f"{ratio} times the bound (causal, head size 64, backward dV)",
            cause=f"Memory-efficient attention in {dtype} (causal, head size 64, backward dV) is wrong: 0.8113 instead"
            f" of 0.0297, {ratio} times the bound.",
            remedy="Empty kernel for 12.1: rebuild torch with TORCH_CUDA_ARCH_LIST=12.0.",
            ratio=ratio,
        )
    report = changed(
        report,
        "matmul.fp8_rowwise",
        status="fail",
        measured="an error",
        bound="a result",
        cause="RuntimeError: CUDA error: no kernel image is available.",
        remedy="Build torch with the patch of roles/pytorch for 12.1, which adds the 121a target of this kernel.",
        ratio=None,
    )
    report = changed(
        report,
        "speed.clock",
        status="fail",
        measured="sustained 507 of 2418 MHz",
        cause="Under load the GPU stays at 507 MHz, 21 % of its nominal 2418 MHz.",
        remedy="Unplug the supply: it has negotiated 30 W.",
        rates={"mhz": 507.0},
    )
    report = changed(report, "speed.matmul_bfloat16", rates={"tflops": 88.9})
    report["notices"] = ["The floor of matmul_bfloat16_tflops is 0.6 of 111."]
    report["drift"]["changes"] = [
        {"what": "kernel", "before": "6.17.0-1008-nvidia", "now": "6.17.0-1014-nvidia"},
        {"what": "check speed.clock", "before": "pass", "now": "fail"},
        {"what": "rate speed.matmul_bfloat16 tflops", "before": "101.1", "now": "88.9"},
    ]
    return report


def warned(host: str = "example-spark04") -> Report:
    """Return the report of a proven GB10 that lacks cuDSS, is slow, and has a failure that the site accepts."""
    report = changed(
        healthy(host),
        "speed.copy",
        status="warn",
        measured="151.2 GB/s",
        cause="The copy within the device runs at 151.2 GB/s, below its floor: at least 163.8 GB/s (0.6 of the 273 of"
        " the profile gb10: from the data sheet, as remembered).",
        remedy="See the check speed.clocks.",
        reason="slow",
    )
    report = changed(
        report,
        "matmul.bfloat16",
        status="warn",
        cause="The bfloat16 matrix product is off, which the site accepts.",
        remedy="Use another stack.",
        reason="wrong",
        accepted=True,
    )
    return changed(
        report,
        "linalg.cudss",
        status="warn",
        measured="",
        ratio=None,
        cause="The profile requires linalg.cudss, but cuDSS is not installed.",
        remedy="Install cuDSS.",
        evidence="",
    )


def unproven(host: str = "example-spark03") -> Report:
    """Return the report of a host without a GPU on which nothing was computed."""
    report = healthy(host)
    checks = [
        check
        if check["family"] in ("identity", "toolchain") or check["name"] in ("torch", "closure")
        else {**row(check["name"], check["family"], "skip", cause=NO_GPU, numeric=check["numeric"])}
        for check in report["checks"]
        if not check["name"].startswith("cpu.")
    ]
    report.update(checks=checks, verdict="unproven", scope="none", gpu_required=False, profile="generic")
    report.update(devices=[], driver=None, seconds=3.4, notices=["Not selected: cpu.matmul.float32."])
    return counted(report)


HOSTILE = (
    '<script>document.title="owned"</script><img src=x onerror=alert(1)>"\' onmouseover="alert(1)" {{ 7*7 }}'
    " \x1b[31m\u202e"
)


def hostile(host: str = HOSTILE) -> Report:
    """Return a report whose texts are all attacks."""
    bad = {"measured": HOSTILE, "bound": HOSTILE, "cause": HOSTILE, "remedy": HOSTILE, "family": HOSTILE}
    checks = [
        row(f"{status} {HOSTILE}", status=status, **bad, rates={HOSTILE: 3.5}, ratio=0.5)
        for status in ("pass", "warn", "fail", "skip")
    ]
    report = healthy(host, checks=checks, stack=HOSTILE, lock=HOSTILE, profile=HOSTILE, driver=HOSTILE, kernel=HOSTILE)
    report.update(
        devices=[{"name": HOSTILE, "compute_capability": HOSTILE, "memory_total_mib": 3, HOSTILE: HOSTILE}],
        software={HOSTILE: HOSTILE},
        packages={HOSTILE: HOSTILE},
        notices=[HOSTILE],
        resolved={HOSTILE: HOSTILE},
        drift={"since": "2026-11-20T16:00:02Z", "changes": [{"what": HOSTILE, "before": HOSTILE, "now": HOSTILE}]},
    )
    return report
