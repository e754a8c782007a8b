"""The plan of the `preflight` role: every obstacle to provisioning a host, each with cause and remedy.

The plan is a pure function from an observation, a stack and settings to a list of problems. The facts behind the checks
on kernels, drivers and pins are in the collection's field notes (docs).
"""

from __future__ import annotations

import importlib
import re
import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._core import phrases, platforms
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._core.versions import numbers as numbers_of, older
from ...module_utils._diagnosis.scan import diagnose
from ...module_utils._elf import fatbin
from ..stack.model import Stack
from . import CHANGED_BY, Plan, for_wheels, preflight_apt, python_env, variables
from .preflight_case import Case, Problem, problem

MIB_PER_GIB = 1024
BLACKWELL_MAJOR = 10
#: Ubuntu's CUDA package, which installs its programs into /usr/bin.
UBUNTU_TOOLKIT = "nvidia-cuda-toolkit"
# NVIDIA's fix for the memory reserved by kernel 7.0.0-1019 on DGX OS: the developer forum's thread 383926 (2026-09),
# and, for version 1.0-1 with dgx-spark-ota-update-meta 26.09.2, an owner's "Kernel 7.0.0-1019-nvidia" (2026-09-25).
# The source for the reserve itself: NVIDIA/NV-Kernels pull requests 590 and 591.
KHO_PACKAGE = "nvidia-spark-grub-kho"
# The prefix of the loader entries that this collection writes after it has installed its libraries on a host.
LOADER_ENTRY = "/etc/ld.so.conf.d/sparkforge-"
GPU_LICENCES = (
    "under the NVIDIA CUDA Toolkit EULA and the licences of {}"
    " (https://docs.nvidia.com/cuda/eula/), which have not been accepted."
)


def mount_of(path: str, disks: t.Sequence[t.Mapping[str, t.Any]]) -> t.Mapping[str, t.Any] | None:
    """Return the file system that contains ``path``, which need not exist yet."""
    best: t.Mapping[str, t.Any] | None = None
    for disk in disks:
        mount = disk["mount"].rstrip("/")
        if (path == mount or path.startswith(mount + "/")) and (
            best is None or len(mount) >= len(best["mount"].rstrip("/"))
        ):
            best = disk
    return best


def file_system(disk: t.Mapping[str, t.Any]) -> str:
    """Return an identifier shared by all mounts of the same space: bind mounts have the same device."""
    device = str(disk.get("device", ""))
    return device if device.startswith("/") else str(disk.get("id") or disk["mount"])


def _gib(mib: float) -> str:
    return f"{mib / MIB_PER_GIB:.1f} GiB"


def _system(case: Case) -> t.Iterator[Problem]:
    machine = case.part("kernel").get("machine")
    machines = list(case.stack.get("machines") or [])
    if machines and machine not in machines:
        yield problem(
            "architecture",
            f"The machine is {machine}, but stack {case.name} is for {' and '.join(machines)}.",
            "Remove this host from the inventory, or set stack_name to a stack for its architecture.",
        )
    os, systems = case.part("os"), list(case.stack.get("systems") or [])
    supported = [f"{row['id']} {row['version']}" for row in systems]
    system = f"{os.get('id')} {os.get('version')}"
    if systems and system not in supported:
        yield problem(
            "operating system",
            f"The host runs {system}, but stack {case.name} is for {' and '.join(supported)}.",
            "Install one of those systems, or set stack_name to a stack for this one.",
        )


def _method(case: Case) -> t.Iterator[Problem]:
    method = case.stack.get("method")
    wheels = (case.stack.get("lock") or {}).get("wheels") or {}
    python = str((case.stack.get("python") or {}).get("version") or "")
    key = platforms.locked(python, str(case.part("kernel").get("machine")))
    if method == "wheel" and wheels and python and key not in wheels:
        yield problem(
            "lock",
            f"The lock of stack {case.name} has no wheels for {key}: {', '.join(sorted(wheels))}.",
            "Choose a stack that has them, or renew the lock with playbooks/lock.yml.",
        )


def _license(case: Case) -> t.Iterator[Problem]:
    cause = f"The packages of stack {case.name} are {GPU_LICENCES.format('cuDNN, cuSPARSELt, cuDSS and NVPL')}"
    if case.stack.get("libraries") == "wheels":
        # CPU builds contain no NVIDIA libraries.
        if not (case.stack.get("wheel") or {}).get("cuda"):
            return
        cause = f"The wheels of stack {case.name} contain libraries {GPU_LICENCES.format('cuDNN and cuSPARSELt')}"
    if not case.settings.get("accept_license"):
        yield problem("licence", cause, "Read them and set sparkforge_accept_nvidia_license: true.")


def _gpu(case: Case) -> t.Iterator[Problem]:
    gpu = case.part("gpu")
    reason = next((row["reason"] for row in case.observation.get("unread") or [] if "nvidia-smi" in row["probe"]), "")
    if case.devices and reason:
        yield problem(
            "gpu",
            f"nvidia-smi shows the GPU, with a warning: {reason.strip().rstrip('.')}.",
            "The play continues. Report a corrupted infoROM, or a warning that outlasts a reboot, to NVIDIA's support.",
            "warning",
        )
    if not case.devices:
        if not case.settings.get("gpu_required", True):
            return
        if gpu.get("hardware"):
            library = re.search(r"NVML library version: ([\d.]+)", reason)
            module = case.part("driver").get("version")
            # The kernel's own wording, which has both versions.
            mixed = library and f"API mismatch: the client has the version {library[1]}, but this kernel module has the"
            # These tell whether modules must be signed, and whether DKMS builds them.
            dkms = [name for name in case.part("apt").get("packages") or {} if name.startswith("nvidia-dkms")]
            report = f"{mixed} version {module}" if mixed and module else reason
            known = diagnose("\n".join([report, str(case.part("kernel").get("cmdline")), *dkms]))
            advice = "Check `nvidia-smi` and `dmesg | grep -i nvrm`, and reboot after a kernel or driver update."
            yield problem(
                "gpu",
                "The host has an NVIDIA GPU, but its driver does not show it"
                + (f" ({reason})" if reason else "")
                + (f": {known.cause}" if known.rule else "."),
                f"{known.remedy if known.rule else advice} This collection never installs a driver.",
            )
        else:
            yield problem(
                "gpu",
                "The host has no NVIDIA GPU, but one is required.",
                "Remove the host from the inventory, or set sparkforge_gpu_required: false for it if it needs no GPU.",
            )
        return
    profile = case.stack.get("profile") or {}
    required, architectures = profile.get("compute_capability"), str(profile.get("architectures") or "")
    for device in case.devices:
        capability = device.get("compute_capability")
        if not capability:
            continue
        label = f"GPU {device.get('index')} ({device.get('name')}) has compute capability {capability}"
        if required and capability != str(required):
            yield problem(
                "compute capability",
                f"{label}, but profile {profile.get('name')} is for {required}.",
                "Set stack_profile to this GPU's profile, or to generic.",
                case.severity,
            )
        elif re.search(r"\d+\.\d", architectures) and not fatbin.parse_arch_list(architectures).runs_on(capability):
            yield problem(
                "compute capability",
                f"{label}, which cannot run code for {architectures}.",
                f"Add {capability} to the profile's architectures, or set stack_profile to this GPU's profile.",
                case.severity,
            )


def _driver(case: Case) -> t.Iterator[Problem]:
    driver = case.part("driver")
    version, minimum = driver.get("version"), case.stack.get("driver_minimum")
    if not version:
        return  # without a driver there is no GPU either: _gpu reports it
    cuda = (case.stack.get("cuda") or {}).get("version")
    if minimum and older(version, minimum):
        yield problem(
            "driver",
            f"The NVIDIA driver is {version}, but CUDA {cuda} needs {minimum} or newer.",
            "Update the driver with DGX OS's updater (this collection never installs one), reboot and run again; or "
            "choose a stack with an older CUDA.",
            case.severity,
        )
    if numbers_of(version)[:1] == (590,):
        yield problem(
            "driver",
            f"Driver {version} is of the 590 series, which is reported to deadlock with CUDA graphs.",
            "Stay on the 580 series of DGX OS, or run the proof before you rely on CUDA graphs.",
            "warning",
        )
    if driver.get("open_kernel_module") is False and _blackwell(case):
        yield problem(
            "kernel module",
            f"Driver {version} uses the proprietary kernel module, but Blackwell GPUs need the open one.",
            "Install the open variant of the same driver (package nvidia-driver-<series>-open) and reboot.",
            case.severity,
        )


def _toolkit(case: Case) -> t.Iterator[Problem]:
    version = str((case.part("apt").get("packages") or {}).get(UBUNTU_TOOLKIT) or "")
    others = [str(row["version"]) for row in case.observation.get("cuda_toolkits") or [] if row.get("nvcc")]
    others += [str((case.stack.get("cuda") or {}).get("version") or "")]
    newer = [other for other in others if other and numbers_of(version)[:2] < numbers_of(other)[:2]]
    if version and newer:
        own = ".".join(map(str, numbers_of(version)[:2]))
        yield problem(
            "cuda toolkit",
            f"Ubuntu's package {UBUNTU_TOOLKIT} {version} is installed with CUDA {newer[-1]}: /usr/bin/nvcc is {own},"
            " and builds use it unless PATH has another one before it.",
            f"Remove it with `sudo apt remove {UBUNTU_TOOLKIT}` if nothing of yours needs it, or put the toolkit's "
            "bin directory first in PATH and set CUDA_HOME.",
            "warning",
        )


def _blackwell(case: Case) -> bool:
    capabilities = [numbers_of(device.get("compute_capability") or "0") for device in case.devices]
    expected = (case.stack.get("profile") or {}).get("compute_capability")
    if not capabilities and expected:
        # The proprietary module does not show a Blackwell GPU at all, so rely on the profile.
        capabilities = [numbers_of(str(expected))]
    return any(key >= (BLACKWELL_MAJOR,) for key in capabilities)


def _kernel(case: Case) -> t.Iterator[Problem]:
    kernel = case.part("kernel")
    release, cmdline = str(kernel.get("release") or ""), str(kernel.get("cmdline") or "")
    rdma, dgx = bool(case.settings.get("rdma")), case.part("os").get("dgx")
    if numbers_of(release)[:2] == (7, 0) and "kho=off" not in cmdline.split() and (rdma or dgx):
        version = (case.part("apt").get("packages") or {}).get(KHO_PACKAGE)
        install = f"Run `sudo apt install {KHO_PACKAGE}` and reboot: NVIDIA's package boots the kernel with kho=off."
        reboot = f"Reboot: {KHO_PACKAGE} {version} is installed, but this boot is without its kho=off."
        yield problem(
            "kernel",
            f"Kernel {release} reserves about 9.3 GiB of memory for kexec handover (KHO)"
            + (", and RDMA cannot register memory in it: ibv_reg_mr fails, and NCCL with it." if rdma else "."),
            (reboot if version else install) if dgx else "Boot the kernel with kho=off.",
            "error" if rdma else "warning",
        )
    if release.startswith("6.17.0-1008-"):
        yield problem(
            "kernel",
            f"Kernel {release}, which came with DGX OS 7.4.0, is reported to be unstable on DGX Spark.",
            "Update DGX OS to its newer kernel.",
            "warning",
        )


def _memory(case: Case) -> t.Iterator[Problem]:
    profile, total = case.stack.get("profile") or {}, case.part("memory").get("total_mib")
    least = int(profile.get("memory_minimum_mib") or 0)
    # This is only a warning, because builds still work on kernels that reserve some memory (kexec handover, hugepages).
    if case.devices and total is not None and total < least:
        yield problem(
            "memory",
            f"The host has {_gib(total)} of memory, but profile {profile.get('name')} needs {_gib(least)} or more.",
            "Look for memory that the kernel reserves (kho=, crashkernel= and hugepages= in /proc/cmdline), or set "
            "stack_profile to this machine's profile; with less memory, fewer compilers run in parallel.",
            "warning",
        )
    minimum = float(case.settings.get("memory_minimum_gib") or 0)
    available = case.part("memory").get("available_mib")
    if available is not None and available < minimum * MIB_PER_GIB:
        yield problem(
            "memory",
            f"{_gib(available)} of memory are available, but {minimum:g} GiB are needed.",
            "Stop processes that use the memory (on a Spark, also those on the GPU: see nvidia-smi), or lower"
            " preflight_memory_minimum_gib.",
        )


def _gpu_processes(case: Case) -> t.Iterator[Problem]:
    gpu = case.part("gpu")
    processes = list(gpu.get("processes") or [])
    if not processes or not gpu.get("unified_memory"):
        return
    descriptions = [
        f"{row['name']} ({row['pid']}" + (f", {_gib(row['used_mib'])}" if row.get("used_mib") is not None else "") + ")"
        for row in processes
    ]
    yield problem(
        "gpu processes",
        f"The GPU is in use, and it shares the host's memory: {phrases.some(descriptions, 5)}.",
        "Stop these processes before a build or a proof; the play does not touch them.",
        "warning",
    )


def _disk(case: Case) -> t.Iterator[Problem]:
    disks = list(case.observation.get("disk") or [])
    by_system: dict[str, list[t.Mapping[str, t.Any]]] = {}
    by_disk: dict[str, t.Mapping[str, t.Any]] = {}
    for need in case.settings.get("disk") or []:
        disk = mount_of(str(need["path"]), disks)
        if disk is not None:
            by_disk.setdefault(file_system(disk), disk)
            by_system.setdefault(file_system(disk), []).append(need)
    # On a host that was provisioned before, most of the counted data is already on the disk.
    own_entries = [path for path in case.part("managed_files") if path.startswith(LOADER_ENTRY)]
    severity = "warning" if own_entries else "error"
    for key, needs in by_system.items():
        disk, total = by_disk[key], sum(float(need["gib"]) for need in needs)
        available = disk.get("available_mib")
        if available is None or available >= total * MIB_PER_GIB:
            continue
        parts = ", ".join(
            f"{float(need['gib']):g} GiB for {need['path']}" + (f" ({need['purpose']})" if need.get("purpose") else "")
            for need in needs
        )
        yield problem(
            "disk",
            f"The file system {disk['mount']} has {_gib(available)} free, but {total:g} GiB are needed: {parts}.",
            f"Free {_gib(total * MIB_PER_GIB - available)} there, or set sparkforge_root to a larger file"
            " system, or lower preflight_disk_minimum.",
            severity,
        )


def _python(case: Case) -> t.Iterator[Problem]:
    python = case.stack.get("python") or {}
    version = str(python.get("version") or "")
    if not version:
        return
    minimum, maximum = str(python.get("minimum") or version), str(python.get("maximum") or version)
    if older(version, minimum) or older(maximum, version):
        yield problem(
            "python",
            f"Stack {case.name} is set to Python {version}, but supports {minimum} to {maximum}.",
            "Set the stack's python.version to one in that range.",
        )
        return
    rows = [
        row for row in case.observation.get("python") or [] if numbers_of(row["version"])[:2] == numbers_of(version)[:2]
    ]
    apt = case.part("apt")
    packages = apt.get("packages") or {}
    # python3-minimal and python3 have the version of the distribution's own interpreter.
    own = numbers_of(str(packages.get("python3") or packages.get("python3-minimal") or ""))[:2]
    installable = own == numbers_of(version)[:2] or bool((apt.get("offers") or {}).get(f"python{version}"))
    if installable:
        return  # the `build_toolchain` role installs its missing parts (interpreter, headers, venv)
    if not rows:
        installed_versions = ", ".join(row["version"] for row in case.observation.get("python") or []) or "none"
        yield problem(
            "python",
            f"Stack {case.name} needs Python {version}; the host has {installed_versions}, and its apt sources offer"
            f" {'.'.join(map(str, own)) or 'none'}.",
            f"Install Python {version} with headers and venv as /usr/local/bin/python{version} or from an apt source, "
            f"or choose a stack for the installed Python.",
        )
        return
    missing = [part for part in ("venv", "headers") if not any(row.get(part) for row in rows)]
    if missing:
        yield problem(
            "python",
            f"{rows[0]['path']} lacks its {' and '.join(missing)}, and the host's apt sources have no Python "
            f"{version}.",
            f"Install Python {version} again with {' and '.join(missing)}, from its original source.",
        )


def _clock(case: Case) -> t.Iterator[Problem]:
    clock = case.part("clock")
    offset = clock.get("offset")
    tolerance = float(case.settings.get("clock_tolerance") or 0)
    if offset is None or not tolerance or abs(offset) <= tolerance:
        return
    side = "ahead of" if offset > 0 else "behind"
    yield problem(
        "clock",
        f"The host's clock is {abs(offset):.0f} s {side} the controller's (more than {tolerance:g} s)"
        + (", and nothing synchronizes it" if clock.get("synchronized") is False else "")
        + ": TLS and apt's signatures depend on it.",
        "Run `sudo timedatectl set-ntp true` on the machine that is wrong and wait until `timedatectl` says "
        "synchronized.",
    )


#: The checks, in the order in which their problems are reported; each yields the problems that it finds.
CHECKS: tuple[t.Callable[[Case], t.Iterator[Problem]], ...] = (
    _system,
    _method,
    _license,
    _gpu,
    _driver,
    _toolkit,
    _kernel,
    _memory,
    _gpu_processes,
    _disk,
    _python,
    *preflight_apt.CHECKS,
    _clock,
)


def problems(observation: t.Mapping[str, t.Any], stack: Stack, settings: t.Mapping[str, t.Any]) -> list[Problem]:
    """Return every problem of a host, errors before warnings: ``check``, ``cause``, ``remedy``, ``severity``."""
    case = Case(observation, stack, settings)
    rows = [row for check in CHECKS for row in check(case)]
    return sorted(rows, key=lambda row: row["severity"] != "error")


def wrong_units(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> t.Iterator[Problem]:
    """Yield the errors in the units after the site's changes, before other builds take hours."""
    stack: Stack = settings["stack"]
    if stack["method"] != "build" or observation["kernel"]["machine"] not in stack["machines"]:
        return
    for variable, role in CHANGED_BY.items():
        if settings.get(variable):
            try:
                importlib.import_module(f".{role}", __package__).plan(settings, observation)
            except SparkforgeError as error:
                yield problem(variable, error.cause, error.remedy)


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the errors as refusals and the warnings as notes.

    The clocks were compared in the first observation, before any wait.
    """
    options = {
        "gpu_required": boolean(settings["sparkforge_gpu_required"]),
        "accept_license": boolean(settings["sparkforge_accept_nvidia_license"]),
        "cuda_url": settings["sparkforge_nvidia_url"],
        "apt_wait": int(settings["preflight_apt_wait"]),
        "clock_tolerance": int(settings["preflight_clock_tolerance"]),
        "disk": settings["preflight_disk_minimum"],
        "memory_minimum_gib": float(settings["preflight_memory_minimum_gib"]),
        "packages": [] if for_wheels(settings) else settings["preflight_packages"],
        "rdma": boolean(settings["preflight_rdma"]),
    }
    clock = settings["__preflight_observation"]["spark_info"]["clock"]
    rows = problems({**observation, "clock": clock}, settings["stack"], options)
    if refused := python_env.replaces_newer(settings, observation):
        rows.insert(0, problem("older PyTorch", **refused))
    faults = [problem("variables", **fault) for fault in variables.faults(settings)]
    rows = [*faults, *wrong_units(settings, observation), *rows]
    return Plan(
        refusals=[row for row in rows if row["severity"] == "error"],
        notes=[f"{row['check']}: {row['cause']} {row['remedy']}" for row in rows if row["severity"] != "error"],
    )
