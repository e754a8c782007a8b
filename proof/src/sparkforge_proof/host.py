# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is checked of the host itself, as root and without torch: GPU, driver, receipts, closure, dlopen.

Standard library only: Ansible's interpreter runs it, and so does a timer that knows nothing of Ansible. Nothing of the
host is changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import select
import signal
import time
import typing as t

from ._shared.module_utils._core import digests, receipts, versions
from ._shared.module_utils._core.errors import SparkforgeError
from ._shared.module_utils._elf import closure
from ._shared.module_utils._host import firmware, gpu as _gpu
from ._shared.module_utils._host.reader import Host, Runner, run_command
from ._shared.module_utils._wheel import environment as environments, installed as packages
from ._shared.module_utils._wheel.names import normalised
from .check import CPU_BUILD_REMEDY, FAIL, MISMATCH, PASS, SKIP, Result

Facts = t.Mapping[str, t.Any]

#: Longest that one library may take to open, in seconds: its constructors run, under emulation slowly.
OPEN_LIMIT = 120.0
#: How long a killed child may take to go, in seconds: one that the driver holds does not go at all.
REAP_LIMIT = 5.0

#: The roles that bring libraries in a run of the site; what they bring may be missing in check mode.
PROVISIONING_ROLES = ("cuda_libraries", "cusparselt", "math_libraries", "build_toolchain", "python_env")
#: The format of a unit's receipt.
UNIT_FORMAT = 1
NOT_PROVISIONED = "not provisioned yet"
NO_GPU_REQUIRED = "no GPU is required on this host (sparkforge_gpu_required is false)"
# The message of ld.so for a missing library, which may be a dependency of the requested one.
_CANNOT_OPEN = re.compile(r"(\S+): cannot open shared object file: No such file or directory")


class HostSide:
    """The host's own rows of the report.

    :param reference: as the module ``cuda_proof`` takes it.
    :param profile: as the module takes it.
    :param check_mode: whether what earlier steps would bring may be missing.
    :param root: the directory under which the host's ``/`` is, for the GPU and its driver alone.
    :ivar resolved: for each SONAME of the closure that the loader finds, the file.
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
        """Look at the host, again at each call, and return what the report says of it.

        :raises SparkforgeError: the environment's receipt is there and cannot be read.
        """
        gpu = _gpu.Gpu(self.host)
        self._gpu = gpu.observe()
        self._driver = gpu.driver()
        name, one = self.reference.get("environment"), self.reference.get("environment_id")
        if name and one:
            self._receipt = environments.of_one(self._root, str(name), str(one))
        else:
            receipt = receipts.read(self._root, f"env-{name}") if name else None
            self._receipt = environments.upgraded(receipt) if receipt else None
        return {
            "devices": self._gpu["devices"],
            "driver": self._driver["version"],
            "kernel": self.host.release,
            "firmware": firmware.observe(self.host),
        }

    def for_checks(self) -> dict[str, t.Any]:
        """Return what the checks in the environment want to know of the host, once it was observed."""
        capabilities = (device["compute_capability"] for device in self._gpu["devices"])
        return {
            "receipt": self._receipt,
            "units": units(self._root, self._receipt),
            "capabilities": list(dict.fromkeys(capability for capability in capabilities if capability)),
            "driver_cuda": self._driver["cuda_version"],
        }

    def gpu_results(self) -> list[Result]:
        """Return the rows of the GPU and its driver."""
        return gpu_checks(self._gpu, self._driver, self.reference, self.profile, self.gpu_required)

    def results(self) -> list[Result]:
        """Return every row, once the host was observed."""
        closure = self._closure()
        self.resolved = closure.get("resolved") or {}
        opened = {soname: open_apart(soname) for soname in self.reference.get("sonames") or []}
        return [
            *self.gpu_results(),
            torch_check(self._receipt, self.reference, self.gpu_required, self.check_mode),
            *closure_checks(closure, self.check_mode),
            *open_checks(opened, self.gpu_required, self.check_mode),
        ]

    @property
    def _root(self) -> str:
        return str(self.reference.get("root") or "/opt/sparkforge")

    def _closure(self) -> dict[str, t.Any]:
        paths = self.reference.get("paths") or []
        if not paths:
            return {}
        try:
            return closure.Closure(
                paths=paths,
                search=(self._receipt or {}).get("library_paths") or [],
                driver=not self.gpu_required,
                ignore_absent=True,
                cuda_version=self.reference.get("cuda_version"),
            ).result()
        except SparkforgeError as error:
            return {"error": error}


# --- the receipts --------------------------------------------------------------------------------------------------


def units(root: str, receipt: Facts | None) -> dict[str, dict[str, t.Any]]:
    """Return the receipt of each unit on this host whose wheel the environment has, or should have.

    ``installed`` says that it has it, by the sha256; otherwise only name and version are the same. ``intact`` says that
    nobody changed the receipt after it was written, ``artefact`` where the wheels lie.
    """
    wanted = packages.pins(receipt)
    versions = {
        normalised(str(name)): str(version) for name, version in ((receipt or {}).get("packages") or {}).items()
    }
    directory = os.path.join(root, "receipts", "units")
    candidates: list[tuple[bool, str, dict[str, t.Any]]] = []
    names: list[str] = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        names = sorted(os.listdir(directory))
    for name in names:
        # Its author is the account that builds, which may have put a link there.
        unit = receipts.load(os.path.join(directory, name), links=False) if name.endswith(".json") else None
        if unit is None or unit.get("format") != UNIT_FORMAT:
            continue
        outputs = [item for item in unit.get("outputs") or [] if item.get("name") and item.get("sha256")]
        ours = [item for item in outputs if normalised(item["name"]) in wanted]
        exact = any(item["sha256"] in wanted[normalised(item["name"])] for item in ours)
        named = any(versions.get(normalised(item["name"])) == item.get("version") for item in ours)
        if exact or named:
            candidates.append((exact, str(unit.get("finished")), unit))
    found: dict[str, dict[str, t.Any]] = {}
    for exact, _finished, unit in sorted(candidates, key=lambda row: row[:2]):
        place = (str(unit.get("platform")), str(unit.get("name")), str(unit.get("fingerprint")))
        found[str(unit.get("name"))] = {
            **unit,
            "installed": exact,
            "intact": digests.seal(unit) == unit.get("seal"),
            "artefact": os.path.join(root, "wheelhouse", *place),
        }
    return found


# --- rows ----------------------------------------------------------------------------------------------------------


def passed(name: str, measured: str, bound: str) -> Result:
    return Result(name, PASS, measured, bound)


def failed(name: str, measured: str, bound: str, cause: str, remedy: str) -> Result:
    return Result(name, FAIL, measured, bound, cause, remedy, reason=MISMATCH)


def skipped(name: str, reason: str, measured: str = "", bound: str = "") -> Result:
    return Result(name, SKIP, measured, bound, reason)


def gpu_checks(gpu: Facts, driver: Facts, reference: Facts, profile: Facts, gpu_required: bool) -> list[Result]:
    """Check that there is a GPU of the profile's compute capability and a driver that is new enough."""
    if not gpu_required:
        return [skipped(name, NO_GPU_REQUIRED) for name in ("gpu", "compute_capability", "driver")]
    rows: list[Result] = []
    devices = gpu.get("devices") or []
    names = ", ".join(str(device.get("name")) for device in devices)
    if gpu.get("present") and devices:
        rows.append(passed("gpu", names, "at least one"))
    else:
        rows.append(
            failed(
                "gpu",
                "none",
                "at least one",
                "No GPU responds on this host.",
                "Repair the driver until nvidia-smi lists one, or set sparkforge_gpu_required: false.",
            )
        )
    wanted = profile.get("compute_capability")
    found = sorted({str(device["compute_capability"]) for device in devices if device.get("compute_capability")})
    if not wanted:
        rows.append(
            skipped("compute_capability", f"the profile {profile.get('name')} accepts any GPU", ", ".join(found))
        )
    elif not found:
        rows.append(skipped("compute_capability", "no GPU reports it", "", str(wanted)))
    elif found == [str(wanted)]:
        rows.append(passed("compute_capability", found[0], str(wanted)))
    else:
        rows.append(
            failed(
                "compute_capability",
                ", ".join(found),
                str(wanted),
                f"The GPU has compute capability {', '.join(found)};"
                f" the profile {profile.get('name')} is for {wanted}.",
                "Set stack_profile to this GPU's profile, or to generic.",
            )
        )
    minimum = str(reference.get("driver_minimum") or "")
    version = driver.get("version")
    if not version:
        rows.append(
            failed(
                "driver",
                "none",
                minimum,
                "NVIDIA's driver is not loaded.",
                "Install or repair it as the vendor describes; this collection never does.",
            )
        )
    elif versions.numbers(str(version)) < versions.numbers(minimum):
        rows.append(
            failed(
                "driver",
                str(version),
                minimum,
                f"The driver {version} is older than {minimum}, which CUDA {reference.get('cuda_version')} needs.",
                "Upgrade it as the vendor describes, or choose a stack with an older CUDA.",
            )
        )
    else:
        rows.append(passed("driver", str(version), minimum))
    return rows


def torch_check(receipt: Facts | None, reference: Facts, gpu_required: bool, check_mode: bool) -> Result:
    """Check that the environment's torch is the stack's, and a CUDA build where a GPU is required."""
    name = "torch"
    environment = reference.get("environment")
    if not environment:
        return skipped(
            name, "the interpreter is not from an environment of this collection; identity.* shows what it has"
        )
    wanted = str((reference.get("versions") or {}).get("torch") or "")
    bound = f"{wanted}, CUDA build" if gpu_required else wanted
    if not receipt:
        if check_mode:
            return skipped(name, f"{NOT_PROVISIONED}: there is no environment {environment}", "", bound)
        return failed(
            name,
            "no environment",
            bound,
            f"This host has no receipt of an environment {environment}.",
            "Run playbooks/deploy.yml, or set verify_environment to an existing environment.",
        )
    if check_mode and (receipt.get("stack") or {}).get("lock_id") != reference.get("lock_id"):
        return skipped(name, f"{NOT_PROVISIONED}: the environment would be replaced", "", bound)
    torch = (receipt.get("modules") or {}).get("torch")
    if not torch:
        return skipped(name, "torch was not imported when the environment was created", "", bound)
    version, cuda = str(torch.get("version")), torch.get("cuda")
    measured = f"{version}, " + (f"CUDA {cuda}" if cuda else "CPU build")
    if gpu_required and not cuda:
        cause = f"torch {version} of the environment {environment} is a CPU build."
        return failed(name, measured, bound, cause, CPU_BUILD_REMEDY)
    # 2.10.0+cpu is 2.10.0: what stands behind the plus sign says how it was built.
    if wanted and version.partition("+")[0] != wanted.partition("+")[0]:
        return failed(
            name,
            measured,
            bound,
            f"The environment {environment} has torch {version}, but the stack {reference.get('stack')} says {wanted}.",
            "Run playbooks/deploy.yml for this stack, or verify with the environment's own stack.",
        )
    return passed(name, measured, bound)


def remedy_for(missing: Facts) -> str:
    """Return what provides a missing library, in one sentence."""
    provided = missing["provided_by"]
    role, package, archive, hint = (provided[key] for key in ("role", "package", "archive", "hint"))
    if missing.get("off_path"):
        directory = str(missing["off_path"][0]).rpartition("/")[0]
        return (
            f"{missing['off_path'][0]} exists but is outside the loader's search path: run ldconfig, and if that does "
            f"not help, first add {directory} to a file in /etc/ld.so.conf.d."
        )
    if role == "driver":
        return str(hint)
    what = " or ".join(
        word
        for word in (f"the package {package}" if package else "", f"the archive {archive}" if archive else "")
        if word
    )
    if role:
        return f"Run the role {role}" + (f", which installs {what}." if what else f". {hint}")
    return f"Install {what}." if what else str(hint)


def closure_checks(closure: Facts, check_mode: bool) -> list[Result]:
    """Check that every path is there and that the loader finds all that is below them needs."""
    error = closure.get("error")
    if error is not None:
        return [failed("closure", "not examined", "0 missing", error.cause, error.remedy)]
    if "missing" not in closure:
        return [skipped("closure", "verify_paths is empty")]
    rows: list[Result] = []
    for path in closure.get("absent") or []:
        if check_mode:
            rows.append(skipped(f"path {path}", f"{NOT_PROVISIONED}: {path} does not exist", "", "exists"))
        else:
            rows.append(
                failed(
                    f"path {path}",
                    "absent",
                    "exists",
                    f"{path} does not exist on this host.",
                    "Run playbooks/libraries.yml and playbooks/deploy.yml, or correct verify_paths.",
                )
            )
    for entry in closure.get("unreadable") or []:
        rows.append(
            failed(
                f"file {entry['path']}",
                "damaged",
                "readable",
                str(entry["cause"]),
                "Remove its version and run the role that installed it.",
            )
        )
    others = {entry["soname"]: entry for entry in closure.get("wrong_version") or []}
    for missing in closure["missing"]:
        soname = missing["soname"]
        needs = missing["needed_by"]
        cause = f"The loader does not find {soname}, which {needs[0]} needs"
        cause += f" and {len(needs) - 1} more." if len(needs) > 1 else "."
        if soname in others:
            cause += f" {others[soname]['path']} is {others[soname]['found']}, which does not satisfy it."
        for rejected in missing.get("rejected") or []:
            cause += f" {rejected['path']} is not used: {str(rejected['reason']).rstrip('.')}."
        if check_mode and missing["provided_by"]["role"] in PROVISIONING_ROLES:
            reason = f"{NOT_PROVISIONED}: {missing['provided_by']['role']} would install {soname}"
            rows.append(skipped(f"closure {soname}", reason, "missing", "found"))
        else:
            rows.append(failed(f"closure {soname}", "missing", "found", cause, remedy_for(missing)))
    for soname in closure.get("driver_provided") or []:
        rows.append(skipped(f"closure {soname}", f"the driver's library; {NO_GPU_REQUIRED}", "missing", "found"))
    if not closure["missing"]:
        examined = closure.get("examined", 0)
        if examined:
            found = f"{closure.get('found', 0)} libraries of {examined} files found, 0 missing"
            rows.append(passed("closure", found, "0 missing"))
        elif check_mode:
            rows.append(skipped("closure", f"{NOT_PROVISIONED}: none of the paths contains a library"))
        else:
            rows.append(
                failed(
                    "closure",
                    "0 files",
                    "at least one",
                    "None of the paths contains a library, so nothing was examined.",
                    "Run playbooks/libraries.yml and playbooks/deploy.yml, or correct verify_paths.",
                )
            )
    return rows


def open_checks(opened: Facts, gpu_required: bool, check_mode: bool) -> list[Result]:
    """Check that ``dlopen`` opened every library.

    :param opened: for each SONAME what :func:`open_apart` returned.
    """
    rows: list[Result] = []
    for soname, answer in opened.items():
        name, error = f"open {soname}", answer.get("error")
        if error is None:
            rows.append(passed(name, answer.get("path") or "opened", "opens"))
            continue
        match = _CANNOT_OPEN.search(error)
        lacking = match.group(1) if match else ""
        if lacking in ("libcuda.so.1", "libnvidia-ml.so.1"):
            reason = f"{soname} needs {lacking}, which is the driver's"
            if gpu_required:
                remedy = "Install or repair NVIDIA's driver as the vendor describes; this collection never does."
                rows.append(failed(name, error, "opens", f"{reason} and is missing.", remedy))
            else:
                rows.append(skipped(name, f"{reason}; {NO_GPU_REQUIRED}", error, "opens"))
        elif check_mode and match:
            rows.append(skipped(name, f"{NOT_PROVISIONED}: {lacking} is not found", error, "opens"))
        else:
            cause = f"dlopen does not open {soname}: {error.rstrip('.')}."
            if lacking == soname:
                remedy = "Run playbooks/libraries.yml, and ldconfig if the file is there."
            elif lacking:
                remedy = f"Run playbooks/libraries.yml; the closure checks say what provides {lacking}."
            else:
                remedy = "Remove the current version and run playbooks/libraries.yml to reinstall it."
            rows.append(failed(name, error, "opens", cause, remedy))
    return rows


# --- processes -----------------------------------------------------------------------------------------------------


def open_apart(soname: str, limit: float = OPEN_LIMIT) -> dict[str, str | None]:
    """Open a shared library as a program would, in a child: one that crashes or hangs takes only the child with it.

    :return: ``path``, the file that ``dlopen`` took, and ``error``, null where it took one.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            # Keep what a library prints while it is loaded out of the caller's output.
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            with os.fdopen(writing, "w", encoding="utf-8") as stream:
                json.dump(_open_here(soname), stream)
            status = 0
        finally:
            # Without the exit handlers of this interpreter and the destructors of the library.
            os._exit(status)
    os.close(writing)
    try:
        said = _read_until(reading, time.monotonic() + limit)
    finally:
        os.close(reading)
    ended = None if said is None else _reap(child)
    if ended is None:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        _reap(child)
        return {"path": None, "error": f"the process that opened it did not respond within {limit:g} seconds"}
    if os.WIFSIGNALED(ended):
        name = signal.Signals(os.WTERMSIG(ended)).name
        return {"path": None, "error": f"the process that opened it was killed by {name}"}
    try:
        return t.cast("dict[str, str | None]", json.loads(said or b""))
    except ValueError:
        return {"path": None, "error": "the process that opened it printed nothing"}


def _open_here(soname: str) -> dict[str, str | None]:
    try:
        # Every symbol is bound now; lazy binding would hide one that is missing.
        ctypes.CDLL(soname, mode=os.RTLD_NOW)
    except OSError as error:
        return {"path": None, "error": str(error)}
    stem = soname.split(".so", maxsplit=1)[0] + ".so"
    path = None
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            words = line.split(None, 5)
            if len(words) == 6 and os.path.basename(words[5].strip()).startswith(stem):
                path = words[5].strip()
                break
    return {"path": path, "error": None}


def _read_until(descriptor: int, deadline: float) -> bytes | None:
    """Return all that is said until the end, None where that does not come in time."""
    said = b""
    while True:
        ready, _unused, _unused = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        block = os.read(descriptor, 1 << 16)
        if not block:
            return said
        said += block


def _reap(child: int) -> int | None:
    """Return the status of a child that is ending, None where it does not end."""
    deadline = time.monotonic() + REAP_LIMIT
    while time.monotonic() < deadline:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return status
        time.sleep(0.005)
    return None
