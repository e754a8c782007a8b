# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that turns what was seen of a host into checks."""

from __future__ import annotations

DOCUMENTATION = r"""
name: verify_checks
short_description: Turn what was seen of a host into checks with a verdict
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Judges a host by its stack from the observation, the closure of its libraries and what C(dlopen) said.
  - Nothing is read from the host.
positional: stack, opened, closure, settings
options:
  _input:
    description: What the module M(sparkforge.dgx_spark.spark_info) returned under C(spark_info).
    type: dict
    required: true
  stack:
    description: The fact C(stack), as the role P(sparkforge.dgx_spark.stack#role) sets it.
    type: dict
    required: true
  opened:
    description:
      - C(libraries), for each SONAME the C(path) that C(dlopen) took or the C(error).
      - C(receipt), of the environment's receipt C(lock_id) and C(modules), or null where there is none.
    type: dict
    required: true
  closure:
    description:
      - What M(sparkforge.dgx_spark.elf_closure_info) returned with C(ignore_absent).
    type: dict
    default: {}
  settings:
    description:
      - C(gpu_required) is whether checks of the GPU must pass; they are skipped with the reason otherwise.
      - C(check_mode) is whether what earlier steps would bring may be missing.
      - C(environment) is the name of the environment.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Say what fails
  ansible.builtin.debug:
    msg: "{{ result.checks | selectattr('status', 'eq', 'fail') }}"
  vars:
    settings: {gpu_required: false}
    result: "{{ spark_info | sparkforge.dgx_spark.verify_checks(stack, opened, closure, settings) }}"
"""

RETURN = r"""
_value:
  description:
    - C(verdict) is V(fail) if a check failed, else V(unproven), for no number was computed.
    - C(summary) counts the checks by C(pass), C(fail) and C(skip).
    - C(checks) is a list of C(name), C(status), C(measured), C(bound), C(cause) and C(remedy). All are text
      and never null. The C(cause) of a skip is its reason.
  type: dict
"""

import re
import typing as t

from ansible.errors import AnsibleFilterError

Check = dict[str, str]
Facts = t.Mapping[str, t.Any]

# The roles that bring libraries in a run of the site; what they bring may be missing in check mode.
PROVISIONING_ROLES = ("cuda_libraries", "cusparselt", "math_libraries", "build_toolchain", "python_env")
NOT_PROVISIONED = "not provisioned yet"
NO_GPU_REQUIRED = "no GPU is required of this host (sparkforge_gpu_required is false)"
# What ld.so says of the library that it cannot find, which may be another than the one that was asked for.
_CANNOT_OPEN = re.compile(r"(\S+): cannot open shared object file: No such file or directory")


def passed(name: str, measured: str, bound: str) -> Check:
    return {"name": name, "status": "pass", "measured": measured, "bound": bound, "cause": "", "remedy": ""}


def failed(name: str, measured: str, bound: str, cause: str, remedy: str) -> Check:
    return {
        "name": name,
        "status": "fail",
        "measured": measured,
        "bound": bound,
        "cause": cause,
        "remedy": remedy,
    }


def skipped(name: str, reason: str, measured: str = "", bound: str = "") -> Check:
    return {
        "name": name,
        "status": "skip",
        "measured": measured,
        "bound": bound,
        "cause": reason,
        "remedy": "",
    }


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def gpu_checks(info: Facts, stack: Facts, gpu_required: bool) -> list[Check]:
    """Check that there is a GPU of the profile's compute capability and a driver that is new enough."""
    if not gpu_required:
        return [skipped(name, NO_GPU_REQUIRED) for name in ("gpu", "compute_capability", "driver")]
    checks: list[Check] = []
    gpu = info.get("gpu") or {}
    devices = gpu.get("devices") or []
    names = ", ".join(str(device.get("name")) for device in devices)
    if gpu.get("present") and devices:
        checks.append(passed("gpu", names, "at least one"))
    else:
        checks.append(
            failed(
                "gpu",
                "none",
                "at least one",
                "No GPU answers on this host.",
                "Repair the driver until nvidia-smi lists one, or set sparkforge_gpu_required: false.",
            )
        )
    profile = stack.get("profile") or {}
    wanted = profile.get("compute_capability")
    found = sorted({str(device["compute_capability"]) for device in devices if device.get("compute_capability")})
    if not wanted:
        checks.append(
            skipped("compute_capability", f"the profile {profile.get('name')} takes any GPU", ", ".join(found))
        )
    elif not found:
        checks.append(skipped("compute_capability", "no GPU says which one it has", "", str(wanted)))
    elif found == [str(wanted)]:
        checks.append(passed("compute_capability", found[0], str(wanted)))
    else:
        checks.append(
            failed(
                "compute_capability",
                ", ".join(found),
                str(wanted),
                f"The GPU has compute capability {', '.join(found)};"
                f" the profile {profile.get('name')} is for {wanted}.",
                "Set stack_profile to the one of this GPU, or to generic.",
            )
        )
    minimum = str(stack.get("driver_minimum") or "")
    version = (info.get("driver") or {}).get("version")
    if not version:
        checks.append(
            failed(
                "driver",
                "none",
                minimum,
                "NVIDIA's driver is not loaded.",
                "Install or repair it as the vendor says; this collection never does.",
            )
        )
    elif _numbers(str(version)) < _numbers(minimum):
        checks.append(
            failed(
                "driver",
                str(version),
                minimum,
                f"The driver {version} is older than {minimum}, which CUDA {stack['cuda']['version']} needs.",
                "Upgrade it as the vendor says, or choose a stack with an older CUDA.",
            )
        )
    else:
        checks.append(passed("driver", str(version), minimum))
    return checks


def torch_check(opened: Facts, stack: Facts, gpu_required: bool, check_mode: bool, environment: str) -> Check:
    """Check that the environment's torch is the stack's, and a CUDA build where a GPU is required."""
    name = "torch"
    wanted = str((stack.get("versions") or {}).get("torch") or "")
    bound = f"{wanted}, CUDA build" if gpu_required else wanted
    receipt = opened.get("receipt")
    if not receipt:
        if check_mode:
            return skipped(name, f"{NOT_PROVISIONED}: there is no environment {environment}", "", bound)
        return failed(
            name,
            "no environment",
            bound,
            f"There is no receipt of an environment {environment} on this host.",
            "Run playbooks/deploy.yml, or set verify_environment to the name of the one that is there.",
        )
    if check_mode and receipt.get("lock_id") != (stack.get("lock") or {}).get("id"):
        return skipped(name, f"{NOT_PROVISIONED}: the environment would be replaced", "", bound)
    torch = (receipt.get("modules") or {}).get("torch")
    if not torch:
        return skipped(name, "torch was not imported when the environment was made", "", bound)
    version, cuda = str(torch.get("version")), torch.get("cuda")
    measured = f"{version}, " + (f"CUDA {cuda}" if cuda else "CPU build")
    if gpu_required and not cuda:
        return failed(
            name,
            measured,
            bound,
            f"torch {version} of the environment {environment} is a CPU build.",
            "Take a stack whose torch has an official aarch64 CUDA wheel (2.11 and newer), or build it from"
            " source (stack_method: build), then run playbooks/deploy.yml.",
        )
    # 2.10.0+cpu is 2.10.0: what stands behind the plus sign says how it was built.
    if wanted and version.partition("+")[0] != wanted.partition("+")[0]:
        return failed(
            name,
            measured,
            bound,
            f"The environment {environment} has torch {version}, the stack {stack['name']} says {wanted}.",
            "Run playbooks/deploy.yml for this stack, or verify with the environment's own stack.",
        )
    return passed(name, measured, bound)


def _remedy(missing: Facts) -> str:
    """Return what brings a missing library, in one sentence."""
    provided = missing["provided_by"]
    role, package, archive, hint = (provided[key] for key in ("role", "package", "archive", "hint"))
    if missing.get("off_path"):
        directory = str(missing["off_path"][0]).rpartition("/")[0]
        return (
            f"{missing['off_path'][0]} is there and the loader does not look at it: run ldconfig, and if that"
            f" does not help name {directory} in a file of /etc/ld.so.conf.d first."
        )
    if role == "driver":
        return str(hint)
    what = " or ".join(
        word
        for word in (f"the package {package}" if package else "", f"the archive {archive}" if archive else "")
        if word
    )
    if role:
        return f"Run the role {role}" + (f", which brings {what}." if what else f". {hint}")
    return f"Install {what}." if what else str(hint)


def closure_checks(closure: Facts, check_mode: bool) -> list[Check]:
    """Check that every path is there and that the loader finds all that lies below them needs."""
    if "missing" not in closure:
        return [skipped("closure", "no path is to be examined (verify_paths is empty)")]
    checks: list[Check] = []
    for path in closure.get("absent") or []:
        if check_mode:
            checks.append(skipped(f"path {path}", f"{NOT_PROVISIONED}: {path} does not exist", "", "exists"))
        else:
            checks.append(
                failed(
                    f"path {path}",
                    "absent",
                    "exists",
                    f"{path} does not exist on this host.",
                    "Run playbooks/libraries.yml and playbooks/deploy.yml, or correct verify_paths.",
                )
            )
    for entry in closure.get("unreadable") or []:
        checks.append(
            failed(
                f"file {entry['path']}",
                "damaged",
                "readable",
                str(entry["cause"]),
                "Remove the version that it belongs to and run the role that brought it.",
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
            cause += f" {rejected['path']} is not taken: {str(rejected['reason']).rstrip('.')}."
        if check_mode and missing["provided_by"]["role"] in PROVISIONING_ROLES:
            reason = f"{NOT_PROVISIONED}: {missing['provided_by']['role']} would bring {soname}"
            checks.append(skipped(f"closure {soname}", reason, "missing", "found"))
        else:
            checks.append(failed(f"closure {soname}", "missing", "found", cause, _remedy(missing)))
    for soname in closure.get("driver_provided") or []:
        checks.append(skipped(f"closure {soname}", f"the driver's library; {NO_GPU_REQUIRED}", "missing", "found"))
    if not closure["missing"]:
        examined = closure.get("examined", 0)
        if examined:
            found = f"{closure.get('found', 0)} libraries of {examined} files found, 0 missing"
            checks.append(passed("closure", found, "0 missing"))
        elif check_mode:
            checks.append(skipped("closure", f"{NOT_PROVISIONED}: none of the paths holds a library"))
        else:
            checks.append(
                failed(
                    "closure",
                    "0 files",
                    "at least one",
                    "None of the paths holds a library, so nothing was examined.",
                    "Run playbooks/libraries.yml and playbooks/deploy.yml, or correct verify_paths.",
                )
            )
    return checks


def open_checks(opened: Facts, gpu_required: bool, check_mode: bool) -> list[Check]:
    """Check that ``dlopen`` opened every library."""
    checks: list[Check] = []
    for soname, answer in (opened.get("libraries") or {}).items():
        name, error = f"open {soname}", answer.get("error")
        if error is None:
            checks.append(passed(name, answer.get("path") or "opened", "opens"))
            continue
        match = _CANNOT_OPEN.search(error)
        lacking = match.group(1) if match else ""
        if lacking in ("libcuda.so.1", "libnvidia-ml.so.1"):
            reason = f"{soname} needs {lacking}, which is the driver's"
            if gpu_required:
                remedy = "Install or repair NVIDIA's driver as the vendor says; this collection never does."
                checks.append(failed(name, error, "opens", f"{reason} and is missing.", remedy))
            else:
                checks.append(skipped(name, f"{reason}; {NO_GPU_REQUIRED}", error, "opens"))
        elif check_mode and match:
            checks.append(skipped(name, f"{NOT_PROVISIONED}: {lacking} is not found", error, "opens"))
        else:
            cause = f"dlopen does not open {soname}: {error.rstrip('.')}."
            if lacking == soname:
                remedy = "Run playbooks/libraries.yml, and ldconfig if the file is there."
            elif lacking:
                remedy = f"Run playbooks/libraries.yml; the checks named closure say what brings {lacking}."
            else:
                remedy = "Remove the version that is current and run playbooks/libraries.yml to install it again."
            checks.append(failed(name, error, "opens", cause, remedy))
    return checks


def verify_checks(
    spark_info: t.Any, stack: t.Any, opened: t.Any, closure: t.Any = None, settings: t.Any = None
) -> dict[str, t.Any]:
    """Return verdict, summary and checks.

    :raises AnsibleFilterError: for an argument that is not a mapping.
    """
    closure = {} if closure is None else closure
    settings = {} if settings is None else settings
    arguments = {
        "the observation": spark_info,
        "stack": stack,
        "opened": opened,
        "closure": closure,
        "settings": settings,
    }
    for name, value in arguments.items():
        if not isinstance(value, t.Mapping):
            raise AnsibleFilterError(
                f"verify_checks wants a mapping for {name} and got {type(value).__name__}."
                " Give it what spark_info, dlopen.py and elf_closure_info returned."
            )
    gpu_required = bool(settings.get("gpu_required", True))
    check_mode = bool(settings.get("check_mode", False))
    checks = [
        *gpu_checks(spark_info, stack, gpu_required),
        torch_check(opened, stack, gpu_required, check_mode, str(settings.get("environment") or "torch")),
        *closure_checks(closure, check_mode),
        *open_checks(opened, gpu_required, check_mode),
    ]
    summary = {status: sum(check["status"] == status for check in checks) for status in ("pass", "fail", "skip")}
    # Never green: a library that opens proves no number. The numeric proof will say "proven".
    return {"verdict": "fail" if summary["fail"] else "unproven", "summary": summary, "checks": checks}


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"verify_checks": verify_checks}
