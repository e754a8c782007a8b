# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of the role preflight: all that is in the way of provisioning a host, each with cause and remedy.

Pure: an observation, a stack and settings go in, a list of problems comes out. The facts behind the checks on
kernels, drivers and pins are in the collection's field notes (docs).
"""

from __future__ import annotations

import dataclasses
import re
import typing as t
from urllib.parse import urlsplit

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._apt.policy import pin_names
from ...module_utils._core import platforms
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._core.versions import numbers as numbers_of
from ...module_utils._elf import fatbin
from ..stack.model import Stack
from ..versions import older
from . import Plan, for_wheels, llvm, python_env, pytorch, torch_extensions, triton, variables

Problem = dict[str, str]

#: By the variable in which a site changes a unit, the plan that combines it with the rest.
_CHANGED_BY = {
    "llvm_unit": llvm,
    "triton_unit": triton,
    "pytorch_unit": pytorch,
    "torch_extensions": torch_extensions,
}

MIB_PER_GIB = 1024
BLACKWELL_MAJOR = 10
# NVIDIA's answer to the reserve of kernel 7.0.0-1019 on DGX OS: the developer forum's thread 383926 (2026-09), and, of
# version 1.0-1 with dgx-spark-ota-update-meta 26.09.2, an owner's "Kernel 7.0.0-1019-nvidia" (2026-09-25). The reserve:
# NVIDIA/NV-Kernels pull requests 590 and 591.
KHO_PACKAGE = "nvidia-spark-grub-kho"
# How the loader entries begin that this collection writes once its libraries are on a host.
LOADER_ENTRY = "/etc/ld.so.conf.d/sparkforge-"
GPU_LICENCES = (
    "under the NVIDIA CUDA Toolkit EULA and the licences of {}"
    " (https://docs.nvidia.com/cuda/eula/), which nobody has accepted."
)


def mount_of(path: str, disks: t.Sequence[t.Mapping[str, t.Any]]) -> t.Mapping[str, t.Any] | None:
    """Return the file system that ``path`` is on, or will lie on."""
    best: t.Mapping[str, t.Any] | None = None
    for disk in disks:
        mount = disk["mount"].rstrip("/")
        if (path == mount or path.startswith(mount + "/")) and (
            best is None or len(mount) >= len(best["mount"].rstrip("/"))
        ):
            best = disk
    return best


def file_system(disk: t.Mapping[str, t.Any]) -> str:
    """Return what two mounts of the same space have in common: bind mounts share their device."""
    device = str(disk.get("device", ""))
    return device if device.startswith("/") else str(disk.get("id") or disk["mount"])


def _gib(mib: float) -> str:
    return f"{mib / MIB_PER_GIB:.1f} GiB"


@dataclasses.dataclass(frozen=True)
class Case:
    """One host that is judged for one stack.

    :ivar observation: what the module ``spark_info`` returned.
    :ivar stack: the fact ``stack``.
    :ivar settings: ``gpu_required``, ``accept_license`` (bool),
        ``disk`` (list of ``path``, ``gib``, ``purpose``), ``memory_minimum_gib``, ``clock_tolerance`` (s),
        ``apt_wait`` (s), ``packages`` (apt packages that the stack needs), ``rdma`` (bool), ``cuda_url``.
    """

    observation: t.Mapping[str, t.Any]
    stack: Stack
    settings: t.Mapping[str, t.Any]

    def part(self, name: str) -> t.Mapping[str, t.Any]:
        return self.observation.get(name) or {}

    @property
    def name(self) -> str:
        return str(self.stack.get("name", "the stack"))

    @property
    def severity(self) -> str:
        """How much a GPU's fault counts: a host that needs no GPU is only warned."""
        return "error" if self.settings.get("gpu_required", True) else "warning"

    @property
    def devices(self) -> list[t.Mapping[str, t.Any]]:
        return list(self.part("gpu").get("devices") or [])


def _problem(check: str, cause: str, remedy: str, severity: str = "error") -> Problem:
    return {"check": check, "cause": cause, "remedy": remedy, "severity": severity}


def _system(case: Case) -> t.Iterator[Problem]:
    machine = case.part("kernel").get("machine")
    machines = list(case.stack.get("machines") or [])
    if machines and machine not in machines:
        yield _problem(
            "architecture",
            f"The machine is {machine}, but stack {case.name} is for {' and '.join(machines)}.",
            "Remove this host from the inventory, or set stack_name to a stack for its architecture.",
        )
    os, systems = case.part("os"), list(case.stack.get("systems") or [])
    known = [f"{row['id']} {row['version']}" for row in systems]
    found = f"{os.get('id')} {os.get('version')}"
    if systems and found not in known:
        yield _problem(
            "operating system",
            f"The host runs {found}, but stack {case.name} is for {' and '.join(known)}.",
            "Install one of those systems, or set stack_name to a stack for this one.",
        )


def _method(case: Case) -> t.Iterator[Problem]:
    method = case.stack.get("method")
    wheels = (case.stack.get("lock") or {}).get("wheels") or {}
    python = str((case.stack.get("python") or {}).get("version") or "")
    key = platforms.locked(python, str(case.part("kernel").get("machine")))
    if method == "wheel" and wheels and python and key not in wheels:
        yield _problem(
            "lock",
            f"The lock of stack {case.name} has no wheels for {key}: {', '.join(sorted(wheels))}.",
            "Choose a stack that has them, or renew the lock with playbooks/lock.yml.",
        )


def _license(case: Case) -> t.Iterator[Problem]:
    cause = f"The packages of stack {case.name} are {GPU_LICENCES.format('cuDNN, cuSPARSELt, cuDSS and NVPL')}"
    if case.stack.get("libraries") == "wheels":
        # CPU builds contain nothing of NVIDIA's.
        if not (case.stack.get("wheel") or {}).get("cuda"):
            return
        cause = f"The wheels of stack {case.name} contain libraries {GPU_LICENCES.format('cuDNN and cuSPARSELt')}"
    if not case.settings.get("accept_license"):
        yield _problem("licence", cause, "Read them and set sparkforge_accept_nvidia_license: true.")


def _gpu(case: Case) -> t.Iterator[Problem]:
    gpu = case.part("gpu")
    if not case.devices:
        if not case.settings.get("gpu_required", True):
            return
        reason = next(
            (row["reason"] for row in case.observation.get("unread") or [] if "nvidia-smi" in row["probe"]),
            "",
        )
        if gpu.get("hardware"):
            yield _problem(
                "gpu",
                "The host has an NVIDIA GPU, but its driver does not show it" + (f" ({reason})." if reason else "."),
                "Check `nvidia-smi` and `dmesg | grep -i nvrm`; reboot after a kernel or driver update, or reinstall "
                "the driver with DGX OS's updater. This collection never installs a driver.",
            )
        else:
            yield _problem(
                "gpu",
                "The host has no NVIDIA GPU, but one is required.",
                "Remove the host from the inventory, or set sparkforge_gpu_required: false for it if it needs no GPU.",
            )
        return
    profile = case.stack.get("profile") or {}
    wanted, architectures = profile.get("compute_capability"), str(profile.get("architectures") or "")
    for device in case.devices:
        capability = device.get("compute_capability")
        if not capability:
            continue
        label = f"GPU {device.get('index')} ({device.get('name')}) has compute capability {capability}"
        if wanted and capability != str(wanted):
            yield _problem(
                "compute capability",
                f"{label}, but profile {profile.get('name')} is for {wanted}.",
                "Set stack_profile to this GPU's profile, or to generic.",
                case.severity,
            )
        elif re.search(r"\d+\.\d", architectures) and not fatbin.listed(architectures).runs_on(capability):
            yield _problem(
                "compute capability",
                f"{label}, which cannot run code for {architectures}.",
                f"Add {capability} to the profile's architectures, or set stack_profile to this GPU's profile.",
                case.severity,
            )


def _driver(case: Case) -> t.Iterator[Problem]:
    driver = case.part("driver")
    version, minimum = driver.get("version"), case.stack.get("driver_minimum")
    if not version:
        return  # without a driver there is no GPU either: said there
    cuda = (case.stack.get("cuda") or {}).get("version")
    if minimum and older(version, minimum):
        yield _problem(
            "driver",
            f"The NVIDIA driver is {version}, but CUDA {cuda} needs {minimum} or newer.",
            "Update the driver with DGX OS's updater (this collection never installs one), reboot and run again; or "
            "choose a stack with an older CUDA.",
            case.severity,
        )
    if numbers_of(version)[:1] == (590,):
        yield _problem(
            "driver",
            f"Driver {version} is of the 590 series, which is reported to deadlock with CUDA graphs.",
            "Stay on the 580 series of DGX OS, or run the proof before you rely on CUDA graphs.",
            "warning",
        )
    if driver.get("open_kernel_module") is False and _blackwell(case):
        yield _problem(
            "kernel module",
            f"Driver {version} uses the proprietary kernel module, but Blackwell GPUs need the open one.",
            "Install the open variant of the same driver (package nvidia-driver-<series>-open) and reboot.",
            case.severity,
        )


def _blackwell(case: Case) -> bool:
    capabilities = [numbers_of(device.get("compute_capability") or "0") for device in case.devices]
    expected = (case.stack.get("profile") or {}).get("compute_capability")
    if not capabilities and expected:
        # The proprietary module does not show a Blackwell GPU at all: the profile says what there is.
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
        yield _problem(
            "kernel",
            f"Kernel {release} reserves about 9.3 GiB of memory for kexec handover (KHO)"
            + (", and RDMA cannot register memory in it: ibv_reg_mr fails, and NCCL with it." if rdma else "."),
            (reboot if version else install) if dgx else "Boot the kernel with kho=off.",
            "error" if rdma else "warning",
        )
    if release.startswith("6.17.0-1008-"):
        yield _problem(
            "kernel",
            f"Kernel {release}, which came with DGX OS 7.4.0, is reported to be unstable on DGX Spark.",
            "Update DGX OS to its newer kernel.",
            "warning",
        )


def _memory(case: Case) -> t.Iterator[Problem]:
    profile, total = case.stack.get("profile") or {}, case.part("memory").get("total_mib")
    whole = int(profile.get("memory_minimum_mib") or 0)
    # A warning: kernels that keep some of it for themselves (kexec handover, hugepages) build all the same.
    if case.devices and total is not None and total < whole:
        yield _problem(
            "memory",
            f"The host has {_gib(total)} of memory, but profile {profile.get('name')} needs {_gib(whole)} or more.",
            "Look for memory that the kernel reserves (kho=, crashkernel= and hugepages= in /proc/cmdline), or set "
            "stack_profile to this machine's profile; with less memory, fewer compilers run in parallel.",
            "warning",
        )
    minimum = float(case.settings.get("memory_minimum_gib") or 0)
    available = case.part("memory").get("available_mib")
    if available is not None and available < minimum * MIB_PER_GIB:
        yield _problem(
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
    shown = ", ".join(
        f"{row['name']} ({row['pid']}" + (f", {_gib(row['used_mib'])}" if row.get("used_mib") is not None else "") + ")"
        for row in processes[:5]
    )
    more = f" and {len(processes) - 5} more" if len(processes) > 5 else ""
    yield _problem(
        "gpu processes",
        f"The GPU is in use, and it shares the host's memory: {shown}{more}.",
        "Stop these processes before a build or a proof; the play does not touch them.",
        "warning",
    )


def _disk(case: Case) -> t.Iterator[Problem]:
    disks = list(case.observation.get("disk") or [])
    wanted: dict[str, list[t.Mapping[str, t.Any]]] = {}
    found: dict[str, t.Mapping[str, t.Any]] = {}
    for need in case.settings.get("disk") or []:
        disk = mount_of(str(need["path"]), disks)
        if disk is not None:
            found.setdefault(file_system(disk), disk)
            wanted.setdefault(file_system(disk), []).append(need)
    # On a host that was provisioned before, most of what is counted here is on the disk already.
    ours = [path for path in case.part("managed_files") if path.startswith(LOADER_ENTRY)]
    severity = "warning" if ours else "error"
    for key, needs in wanted.items():
        disk, total = found[key], sum(float(need["gib"]) for need in needs)
        available = disk.get("available_mib")
        if available is None or available >= total * MIB_PER_GIB:
            continue
        parts = ", ".join(
            f"{float(need['gib']):g} GiB for {need['path']}" + (f" ({need['purpose']})" if need.get("purpose") else "")
            for need in needs
        )
        yield _problem(
            "disk",
            f"The file system {disk['mount']} has {_gib(available)} free, but {total:g} GiB are needed: {parts}.",
            f"Free {_gib(total * MIB_PER_GIB - available)} there, or set sparkforge_root to a larger file"
            " system, or lower preflight_disk_minimum.",
            severity,
        )


def _python(case: Case) -> t.Iterator[Problem]:
    wanted = case.stack.get("python") or {}
    version = str(wanted.get("version") or "")
    if not version:
        return
    minimum, maximum = str(wanted.get("minimum") or version), str(wanted.get("maximum") or version)
    if older(version, minimum) or older(maximum, version):
        yield _problem(
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
    # python3-minimal and python3 carry the version of the distribution's own interpreter.
    own = numbers_of(str(packages.get("python3") or packages.get("python3-minimal") or ""))[:2]
    installable = own == numbers_of(version)[:2] or bool((apt.get("offers") or {}).get(f"python{version}"))
    if installable:
        return  # what is missing of it (interpreter, headers, venv), the role build_toolchain installs
    if not rows:
        there = ", ".join(row["version"] for row in case.observation.get("python") or []) or "none"
        yield _problem(
            "python",
            f"Stack {case.name} needs Python {version}; the host has {there}, and its apt sources offer"
            f" {'.'.join(map(str, own)) or 'none'}.",
            f"Install Python {version} with headers and venv as /usr/local/bin/python{version} or from an apt source, "
            f"or choose a stack for the installed Python.",
        )
        return
    missing = [part for part in ("venv", "headers") if not any(row.get(part) for row in rows)]
    if missing:
        yield _problem(
            "python",
            f"{rows[0]['path']} lacks its {' and '.join(missing)}, and the host's apt sources have no Python "
            f"{version}.",
            f"Install Python {version} again with {' and '.join(missing)}, from its original source.",
        )


def _apt(case: Case) -> t.Iterator[Problem]:
    apt = case.part("apt")
    broken = list(apt.get("broken") or [])
    if broken:
        shown = ", ".join(f"{row['name']} ({row['state']})" for row in broken[:8])
        more = f" and {len(broken) - 8} more" if len(broken) > 8 else ""
        yield _problem(
            "apt",
            f"dpkg left packages half-installed: {shown}{more}.",
            "Run `sudo dpkg --configure -a && sudo apt-get --fix-broken install` on the host.",
        )
    holder = apt.get("lock_holder")
    if holder:
        wait = case.settings.get("apt_wait")
        yield _problem(
            "apt lock",
            f"{holder.get('command')} (process {holder.get('pid')}) holds {holder.get('file')}"
            + (f" after a wait of {wait} s." if wait else "."),
            "Let it finish, stop unattended-upgrades during the play, or raise preflight_apt_wait.",
        )
    held = sorted(set(apt.get("held") or []) & set(case.settings.get("packages") or []))
    if held:
        yield _problem(
            "held packages",
            f"Packages that stack {case.name} needs are on hold: {', '.join(held)}.",
            "They keep their version. To change it, run `sudo apt-mark unhold` for them.",
            "warning",
        )


def _apt_sources(case: Case) -> t.Iterator[Problem]:
    signers: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in case.observation.get("apt_sources") or []:
        if not row.get("enabled"):
            continue
        if row.get("keyring_present") is False:
            uris = " ".join(row["uris"])
            yield _problem(
                "apt source",
                f"{row['file']} names the keyring {row['signed_by']} for {uris}, which does not exist: apt fails with "
                f"NO_PUBKEY.",
                "Reinstall the vendor's package that provides it (nvidia-repo-keys for the CUDA and DGX"
                " sources, nvidia-spark-repo for the Spark one), or disable that source.",
            )
        for uri in row.get("uris") or []:
            for suite in row.get("suites") or []:
                files = signers.setdefault((uri.rstrip("/"), suite), {})
                files.setdefault(row.get("signed_by") or "", []).append(row["file"])
    told = set()
    for (uri, _suite), files in signers.items():
        if len(files) > 1 and uri not in told:
            told.add(uri)
            shown = "; ".join(
                f"{', '.join(sorted(set(names)))} with {signer or 'no Signed-By'}" for signer, names in files.items()
            )
            yield _problem(
                "apt source",
                f"apt has two sources for {uri} that are signed differently: {shown}. "
                "apt stops with 'Conflicting values set for option Signed-By'.",
                "Keep the source that came with DGX OS and remove the other one; remove an added cuda-keyring with "
                "`sudo apt-get purge cuda-keyring`.",
            )


def _gpg(case: Case) -> t.Iterator[Problem]:
    """Look for what the module apt_source needs, where NVIDIA's source is to be added."""
    root = f"{str(case.settings.get('cuda_url') or '').rstrip('/')}/compute/cuda/repos/"
    sources = [
        uri
        for row in case.observation.get("apt_sources") or []
        if row.get("enabled") and row.get("keyring_present") is not False
        for uri in row.get("uris") or []
    ]
    wanted = case.settings.get("packages") and not any(uri.startswith(root) for uri in sources)
    if wanted and "gpg" not in (case.part("apt").get("packages") or {}):
        yield _problem(
            "gpg",
            "The package gpg is not installed; it verifies the key of NVIDIA's apt source before the source is added.",
            "Install it on the host: `sudo apt-get install gpg`.",
        )


def _pins(case: Case) -> t.Iterator[Problem]:
    apt = case.part("apt")
    packages = [name for name in case.settings.get("packages") or [] if name not in (apt.get("packages") or {})]
    host = urlsplit(str(case.settings.get("cuda_url") or "")).hostname or "developer.download.nvidia.com"
    blocked: dict[str, list[str]] = {}
    for name in packages:
        pin = _pin_for(name, apt.get("pins") or [], host)
        if pin is not None and int(pin["priority"]) < 0:
            blocked.setdefault(f"{pin['file']} ({pin['package']}: {pin['pin']}, {pin['priority']})", []).append(name)
    for pin_name, names in blocked.items():
        yield _problem(
            "apt pins",
            f"The pin {pin_name} forbids packages that stack {case.name} needs: {', '.join(names)}.",
            "Vendor pins are never overridden: update DGX OS, choose a stack with its CUDA version, or remove the pin "
            "if it is your own.",
        )


def _pin_for(name: str, pins: t.Sequence[t.Mapping[str, t.Any]], host: str) -> t.Mapping[str, t.Any] | None:
    """Return the pin that counts for a package of NVIDIA's source (apt_preferences(5)).

    The first that names the package wins; ``*`` alone is a general one and counts only without such.
    """
    general = None
    for pin in pins:
        kind, _space, value = str(pin["pin"]).partition(" ")
        value = value.strip().strip('"')
        if kind == "origin":
            reaches = value == host
        elif kind == "release":
            # What NVIDIA's Release file says of itself is not known here: its name and `*` are taken.
            reaches = value.strip() in ("*", "a=*", "o=*") or "nvidia" in value.lower()
        else:
            reaches = kind == "version" and value == "*"
        if not reaches:
            continue
        for pattern in str(pin["package"]).split():
            if pattern == "*":
                general = general or pin
            elif pin_names(pattern, name):
                return pin
    return general


def _clock(case: Case) -> t.Iterator[Problem]:
    clock = case.part("clock")
    offset = clock.get("offset")
    tolerance = float(case.settings.get("clock_tolerance") or 0)
    if offset is None or not tolerance or abs(offset) <= tolerance:
        return
    side = "ahead of" if offset > 0 else "behind"
    yield _problem(
        "clock",
        f"The host's clock is {abs(offset):.0f} s {side} the controller's (more than {tolerance:g} s)"
        + (", and nothing synchronizes it" if clock.get("synchronized") is False else "")
        + ": TLS and apt's signatures depend on it.",
        "Run `sudo timedatectl set-ntp true` on the machine that is wrong and wait until `timedatectl` says "
        "synchronized.",
    )


#: Each yields the problems that it finds; they are told in this order.
CHECKS: tuple[t.Callable[[Case], t.Iterator[Problem]], ...] = (
    _system,
    _method,
    _license,
    _gpu,
    _driver,
    _kernel,
    _memory,
    _gpu_processes,
    _disk,
    _python,
    _apt,
    _apt_sources,
    _gpg,
    _pins,
    _clock,
)


def problems(observation: t.Mapping[str, t.Any], stack: Stack, settings: t.Mapping[str, t.Any]) -> list[Problem]:
    """Return every problem of a host, errors before warnings: ``check``, ``cause``, ``remedy``, ``severity``."""
    case = Case(observation, stack, settings)
    found = [problem for check in CHECKS for problem in check(case)]
    return sorted(found, key=lambda problem: problem["severity"] != "error")


def wrong_units(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> t.Iterator[Problem]:
    """Yield what is wrong with the units as the site changes them, before hours of other builds."""
    stack: Stack = settings["stack"]
    if stack["method"] != "build" or observation["kernel"]["machine"] not in stack["machines"]:
        return
    for variable, role in _CHANGED_BY.items():
        if settings[variable]:
            try:
                role.plan(settings, observation)
            except SparkforgeError as error:
                yield _problem(variable, error.cause, error.remedy)


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the errors as refusals and the warnings as notes.

    The clocks were compared by the first observation, before any wait.
    """
    wanted = {
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
    found = problems({**observation, "clock": clock}, settings["stack"], wanted)
    if refused := python_env.replaces_newer(settings, observation):
        found.insert(0, _problem("older PyTorch", **refused))
    faults = [_problem("variables", **fault) for fault in variables.faults(settings)]
    found = [*faults, *wrong_units(settings, observation), *found]
    return Plan(
        refusals=[problem for problem in found if problem["severity"] == "error"],
        notes=[f"{row['check']}: {row['cause']} {row['remedy']}" for row in found if row["severity"] != "error"],
    )
