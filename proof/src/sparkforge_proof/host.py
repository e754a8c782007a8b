"""Check the host as root and without torch: the GPU, the driver, receipts and the closure of libraries.

This changes nothing, and needs only the standard library: Ansible's interpreter and a timer without Ansible run it.
"""

from __future__ import annotations

import os
import re
import typing as t

from . import verdict
from ._shared.module_utils._core import digests, disk, receipts, versions
from ._shared.module_utils._core.errors import SparkforgeError
from ._shared.module_utils._elf import closure as closures, providers
from ._shared.module_utils._host import firmware, gpu as _gpu
from ._shared.module_utils._host.reader import Host, Runner, run_command
from ._shared.module_utils._wheel import environment as environments, installed as packages
from ._shared.module_utils._wheel.names import normalised
from .check import PASS, SKIP, Result, mismatch

Facts = t.Mapping[str, t.Any]

#: The roles that install libraries. In check mode, their libraries may be missing.
PROVISIONING_ROLES = ("cuda_libraries", "cusparselt", "math_libraries", "build_toolchain", "python_env")
#: The supported format for unit receipts.
UNIT_FORMAT = 1
NOT_PROVISIONED = "not provisioned yet"
NO_GPU_REQUIRED = "no GPU is required on this host (sparkforge_gpu_required is false)"


class HostSide:
    """The rows of the report about the host.

    :param reference: an option of the module ``cuda_proof``.
    :param profile: an option of the module.
    :param check_mode: whether files that earlier steps would install may be missing.
    :param root: the directory with the host's file system, used only for the GPU and its driver.
    :ivar resolved: the file that the loader finds for each SONAME in the closure.
    """

    def __init__(
        self,
        reference: Facts,
        profile: Facts,
        gpu_required: bool = True,
        check_mode: bool = False,
        root: str = "/",
        run: Runner | None = None,
    ) -> None:
        self.reference, self.profile = reference, profile
        self.gpu_required, self.check_mode = gpu_required, check_mode
        self.host = Host(root, run=run or run_command)
        self.resolved: dict[str, str] = {}
        self._gpu: dict[str, t.Any] = {}
        self._driver: dict[str, t.Any] = {}
        self._receipt: environments.Receipt | None = None

    def observe(self) -> dict[str, t.Any]:
        """Observe the host again and return the report's fields about it.

        :raises SparkforgeError: if the environment's receipt exists but cannot be read.
        """
        gpu = _gpu.Gpu(self.host)
        self._gpu = gpu.observe()
        self._driver = gpu.driver()
        name, environment_id = self.reference.get("environment"), self.reference.get("environment_id")
        if name and environment_id:
            self._receipt = environments.of_one(self._root, str(name), str(environment_id))
        else:
            receipt = receipts.read(self._root, f"env-{name}") if name else None
            self._receipt = t.cast("environments.Receipt | None", receipt)
        return {
            "devices": self._gpu["devices"],
            "driver": self._driver["version"],
            "kernel": self.host.release,
            "firmware": firmware.observe(self.host),
        }

    def processor(self) -> str:
        """Return the processor's kind for :class:`check.Evidence`: the machine and, on Arm, its cores' part numbers.

        Arm's libraries choose their kernels by these part numbers. ``emulated`` comes first if the kernel was built for
        another machine, which Linux 6.1 and newer report even under an emulator.
        """
        machine, built_for = self.host.machine, self.host.word("/proc/sys/kernel/arch")
        cpuinfo = self.host.word("/proc/cpuinfo") if machine == "aarch64" else ""
        cores = sorted(set(re.findall(r"^CPU (?:implementer|part)\s*:\s*(\w+)", cpuinfo, re.MULTILINE)))
        return " ".join([*(["emulated"] if built_for not in ("", machine) else []), machine, *cores])

    def for_checks(self) -> dict[str, t.Any]:
        """Return facts about the host for the checks in the environment; call :meth:`observe` first."""
        capabilities = (device["compute_capability"] for device in self._gpu["devices"])
        return {
            "receipt": self._receipt,
            "units": units(self._root, self._receipt),
            "capabilities": list(dict.fromkeys(capability for capability in capabilities if capability)),
            "driver_cuda": self._driver["cuda_version"],
        }

    def gpu_results(self) -> list[Result]:
        """Return the rows about the GPU and its driver."""
        return gpu_checks(self._gpu, self._driver, self.reference, self.profile, self.gpu_required)

    def results(self) -> list[Result]:
        """Return every row; call :meth:`observe` first."""
        closure = self._closure()
        self.resolved = closure.get("resolved") or {}
        environment = environment_checks(self._receipt, self.reference, self.check_mode)
        return [*self.gpu_results(), *environment, *closure_checks(closure, self.check_mode)]

    @property
    def _root(self) -> str:
        return str(self.reference.get("root") or "/opt/sparkforge")

    def _closure(self) -> dict[str, t.Any]:
        paths = self.reference.get("paths") or []
        if not paths:
            return {}
        try:
            return closures.Closure(
                paths=paths,
                search=(self._receipt or {}).get("library_paths") or [],
                sonames=self.reference.get("sonames") or [],
                driver=not self.gpu_required,
                ignore_absent=True,
                cuda_version=self.reference.get("cuda_version"),
            ).result()
        except SparkforgeError as error:
            return {"error": error}


def units(root: str, receipt: Facts | None) -> dict[str, dict[str, t.Any]]:
    """Return, by name, the receipts of units whose wheels belong to the environment, with three additional fields.

    ``installed`` tells whether the environment has the wheel with that sha256, not just with that name and version.
    ``intact`` tells whether the receipt is unchanged since it was written. ``artefact`` is the wheels' directory.
    """
    pins = packages.pins(receipt)
    versions = {
        normalised(str(name)): str(version) for name, version in ((receipt or {}).get("packages") or {}).items()
    }
    directory = os.path.join(root, "receipts", "units")
    candidates: list[tuple[bool, str, dict[str, t.Any]]] = []
    for name in disk.names(directory):
        # The build account writes this directory and could have placed a symlink there.
        unit = receipts.load(os.path.join(directory, name), links=False) if name.endswith(".json") else None
        if unit is None or unit.get("format") != UNIT_FORMAT:
            continue
        outputs = [item for item in unit.get("outputs") or [] if item.get("name") and item.get("sha256")]
        ours = [item for item in outputs if normalised(item["name"]) in pins]
        exact = any(item["sha256"] in pins[normalised(item["name"])] for item in ours)
        named = any(versions.get(normalised(item["name"])) == item.get("version") for item in ours)
        if exact or named:
            candidates.append((exact, str(unit.get("finished")), unit))
    by_name: dict[str, dict[str, t.Any]] = {}
    for exact, _finished, unit in sorted(candidates, key=lambda row: row[:2]):
        folders = (str(unit.get("platform")), str(unit.get("name")), str(unit.get("fingerprint")))
        by_name[str(unit.get("name"))] = {
            **unit,
            "installed": exact,
            "intact": digests.seal(unit) == unit.get("seal"),
            "artefact": os.path.join(root, "wheelhouse", *folders),
        }
    return by_name


def skip_row(name: str, reason: str, measured: str = "", bound: str = "") -> Result:
    return Result(name, SKIP, measured, bound, reason)


def gpu_checks(gpu: Facts, driver: Facts, reference: Facts, profile: Facts, gpu_required: bool) -> list[Result]:
    """Check that the host has a GPU with the profile's compute capability, and a recent driver."""
    if not gpu_required:
        return [skip_row(name, NO_GPU_REQUIRED) for name in verdict.GPU_ROWS]
    devices = gpu.get("devices") or []
    return [_presence(devices), _capability(devices, profile), _driver(driver.get("version"), reference)]


def _presence(devices: t.Sequence[Facts]) -> Result:
    if devices:
        return Result("gpu", PASS, ", ".join(str(device.get("name")) for device in devices), "at least one")
    remedy = "Repair the driver until nvidia-smi lists a GPU, or set sparkforge_gpu_required: false."
    return mismatch("gpu", "none", "at least one", "No GPU responds on this host.", remedy)


def _capability(devices: t.Sequence[Facts], profile: Facts) -> Result:
    name, bound = "compute_capability", str(profile.get("compute_capability") or "")
    capabilities = {str(device["compute_capability"]) for device in devices if device.get("compute_capability")}
    measured = ", ".join(sorted(capabilities))
    if not bound:
        return skip_row(name, f"the profile {profile.get('name')} accepts any GPU", measured)
    if not measured:
        return skip_row(name, "no GPU reports it", "", bound)
    if measured == bound:
        return Result(name, PASS, measured, bound)
    cause = f"The GPU has compute capability {measured}; the profile {profile.get('name')} is for {bound}."
    return mismatch(name, measured, bound, cause, "Set stack_profile to this GPU's profile, or to generic.")


def _driver(version: str | None, reference: Facts) -> Result:
    bound = str(reference.get("driver_minimum") or "")
    if not version:
        remedy = "Install or repair the driver as the vendor describes; this collection never does."
        return mismatch("driver", "none", bound, "NVIDIA's driver is not loaded.", remedy)
    if versions.numbers(version) >= versions.numbers(bound):
        return Result("driver", PASS, version, bound)
    cause = f"The driver {version} is older than {bound}, which CUDA {reference.get('cuda_version')} needs."
    remedy = "Upgrade the driver as the vendor describes, or choose a stack with an older CUDA."
    return mismatch("driver", version, bound, cause, remedy)


def environment_checks(receipt: Facts | None, reference: Facts, check_mode: bool) -> list[Result]:
    """Check that an environment from this collection has a receipt; other checks compare its content."""
    name = reference.get("environment")
    if not name:
        return []
    if receipt:
        return [Result("environment", PASS, str(receipt.get("environment_id") or name), "a receipt")]
    cause = f"This host has no receipt of an environment {name}."
    remedy = "Run playbooks/deploy.yml, or set verify_environment to an existing environment."
    row = mismatch("environment", "none", "a receipt", cause, remedy)
    return [_later(row, f"there is no environment {name}") if check_mode else row]


def closure_checks(closure: Facts, check_mode: bool) -> list[Result]:
    """Check that every path exists, and that the loader finds every library needed by files under the paths."""
    error = closure.get("error")
    if error is not None:
        return [mismatch("closure", "not examined", "0 missing", error.cause, error.remedy)]
    if "missing" not in closure:
        return [skip_row("closure", "verify_paths is empty")]
    again = "Run playbooks/libraries.yml and playbooks/deploy.yml, or correct verify_paths."
    rows = []
    for path in closure.get("absent") or []:
        row = mismatch(f"path {path}", "absent", "exists", f"{path} does not exist on this host.", again)
        rows.append(_later(row, f"{path} does not exist") if check_mode else row)
    for entry in closure.get("unreadable") or []:
        remedy = "Remove this version's directory, and run the role that installed it."
        rows.append(mismatch(f"file {entry['path']}", "damaged", "readable", str(entry["cause"]), remedy))
    others = {entry["soname"]: entry for entry in closure.get("wrong_version") or []}
    for missing in closure["missing"]:
        row, role = _missing(missing, others.get(missing["soname"])), missing["provided_by"]["role"]
        # The stack's archives include these libraries, even on machines without NVIDIA's packages.
        role = "math_libraries" if closures.OF_THE_STACK in missing["needed_by"] and not role else role
        is_to_come = check_mode and role in PROVISIONING_ROLES
        rows.append(_later(row, f"{role} would install {missing['soname']}") if is_to_come else row)
    for soname in closure.get("driver_provided") or []:
        rows.append(skip_row(f"closure {soname}", f"the driver's library; {NO_GPU_REQUIRED}", "missing", "found"))
    examined = closure.get("examined", 0)
    if examined and not closure["missing"]:
        measured = f"{closure.get('found', 0)} libraries of {examined} files found, 0 missing"
        rows.append(Result("closure", PASS, measured, "0 missing"))
    elif not closure["missing"]:
        cause = "None of the paths contains a library, so no library was examined."
        row = mismatch("closure", "0 files", "at least one", cause, again)
        rows.append(_later(row, "none of the paths contains a library") if check_mode else row)
    return rows


def _later(row: Result, why: str) -> Result:
    """Return a skip for files that an earlier role would install outside check mode."""
    return skip_row(row.name, f"{NOT_PROVISIONED}: {why}", row.measured, row.bound)


def _missing(missing: Facts, other: Facts | None) -> Result:
    """Return the row for a library that the loader does not find.

    :param other: the library with another version that the host has, if any.
    """
    soname, needs, off_path = missing["soname"], missing["needed_by"], missing.get("off_path") or []
    cause = f"The loader does not find {soname}, which {needs[0]} needs"
    cause += f" and {len(needs) - 1} more." if len(needs) > 1 else "."
    if other:
        cause += f" {other['path']} is {other['found']}, which does not fit."
    for rejected in missing.get("rejected") or []:
        cause += f" {rejected['path']} is not used: {str(rejected['reason']).rstrip('.')}."
    remedy = providers.Provider(**missing["provided_by"]).remedy
    if off_path:
        remedy = (
            f"{off_path[0]} exists but is outside the loader's search path: run ldconfig, and if that does not help, "
            f"first add {os.path.dirname(off_path[0])} to a file in /etc/ld.so.conf.d."
        )
    return mismatch(f"closure {soname}", "missing", "found", cause, remedy)
