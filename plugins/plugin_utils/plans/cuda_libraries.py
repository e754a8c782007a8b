"""The plan of the `cuda_libraries` role: NVIDIA's apt source, the protection from autoremove, and the packages."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._apt.request import is_satisfied
from ...module_utils._core import platforms
from . import Plan, for_wheels, is_written, packages


def repository(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> str:
    """Return the URL of NVIDIA's repository for this machine."""
    platform = platforms.redist(observation["kernel"]["machine"]).removeprefix("linux-")
    base = settings["sparkforge_nvidia_url"].rstrip("/")
    return f"{base}/compute/cuda/repos/{settings['cuda_libraries_distribution']}/{platform}"


def of_stack(settings: t.Mapping[str, t.Any], installed: t.Mapping[str, str]) -> list[str]:
    """Return a build's packages; cuDNN's and NCCL's with their accepted versions, best first.

    A build uses the newest version in the stack's minor release, and a newer minor only if the sources have no such
    version, because a newer minor has broken PyTorch's compilation before (pytorch#172398, NCCL 2.28 to 2.29). Headers
    follow the ``installed`` version.
    """
    requests = list(settings["__cuda_libraries_standard"])
    for library, row in settings["__cuda_libraries_of_stack"].items():
        versions, minimum = [f"*{row['suffix']}"], ""
        version = (settings["stack"].get(library) or {}).get("version")
        if settings["stack"]["method"] == "build" and version:
            minor, minimum, first = ".".join(version.split(".")[:2]), f">={version}", row["packages"][0]
            is_available = is_satisfied(f"{first}={versions[0]}{minimum}", installed)
            versions.insert(0, installed[first] if is_available else f"{minor}.*{row['suffix']}")
        requests += ["|".join(f"{name}={text}{minimum}" for text in versions) for name in row["packages"]]
    return requests


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the missing parts or, for an uninstallation, the existing source and autoremove protection."""
    url, guard = repository(settings, observation), settings["__cuda_libraries_keep_file"]
    if settings["cuda_libraries_state"] == "absent":
        return Plan({"source": url, **({"unguard": guard} if guard in observation["managed_files"] else {})})
    gds, wheel = str(settings["cuda_libraries_gds"]).lower(), for_wheels(settings)
    with_gds = (
        bool(observation["driver"].get("nvidia_fs") and not wheel) if gds == "auto" else boolean(gds, strict=False)
    )
    names = [
        *(settings["cuda_libraries_packages"] or ([] if wheel else of_stack(settings, observation["apt"]["packages"]))),
        *settings["cuda_libraries_extra_packages"],
        *([f"nvidia-gds-{settings['stack']['cuda']['suffix']}"] if with_gds else []),
    ]
    if not names:
        return Plan()
    steps: dict[str, t.Any] = {}
    reasons = []
    # Compare by URL, because file names differ: DGX OS uses cuda-compute-repo.sources.
    sources = [row for row in observation["apt_sources"] if row["enabled"] and row.get("keyring_present") is not False]
    if url not in {uri.rstrip("/") for row in sources for uri in row["uris"]}:
        steps["source"] = url
        reasons.append(f"add the apt source {url}")
    content = keep(settings["cuda_libraries_keep"])
    if not is_written(guard, content, observation):
        steps["guard"] = content
        reasons.append(f"write {guard}")
    libraries = packages(names, observation)
    if libraries.steps:
        # GPUDirect Storage's kernel module is protected unless it is requested.
        steps["libraries"] = {"packages": names, "allow": ["^nvidia-fs"] if with_gds else []}
    return Plan(steps, [*reasons, *libraries.reasons])


def keep(patterns: t.Sequence[str]) -> str:
    """Return the apt configuration that keeps autoremove away from the vendor's packages."""
    lines = "".join(f'  "{pattern}";\n' for pattern in patterns)
    return (
        "// Written by sparkforge.dgx_spark: autoremove leaves the vendor's packages alone.\n"
        f"APT::NeverAutoRemove\n{{\n{lines}}};\n"
    )
