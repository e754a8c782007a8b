"""The plan of the `pytorch` role: the build's environment, edits and expectations, with every library at its path.

It refuses all settings that PyTorch's build would ignore, silently drop or turn into wrong kernels, and reports what to
write instead. It reads nothing from the host except the observation.
"""

from __future__ import annotations

import re
import typing as t

from ...module_utils._core import phrases
from ...module_utils._unit import jobs
from ..stack.model import Stack
from . import Plan
from .pytorch_build import KNOWN, Build, true
from .pytorch_libraries import blas, libraries
from .pytorch_variables import given_variables
from .units import COMPUTE_LIBRARY, TOOLS, combined, platform_of, units

FIXES = ("rowwise_121a", "fermi_token", "attention_guard")
#: The memory in MiB, with CUDA. Owners who built 2.12 on a GB10 saw 8 to 12 GiB for a CUTLASS unit, a peak of 80 to 100
#: GiB with 8 jobs for two architectures, and no memory left with 16 (vroomfondel/dgxarley). This value gives 10 jobs in
#: its 119 GiB.
MEMORY_PER_JOB = 9216
#: The space in MiB for the source tree, its objects and the wheel.
FREE_SPACE = 40960
#: The first release whose memory-efficient attention accepts 12.1: cutlassF.h in the wheels of 2.11.0 stops at
#: `cc <= 120`, in those of 2.12.0 and later at `cc <= 121` (read in the wheels; pytorch#176243).
GUARD_LIFTED = (2, 12)

_CAPABILITY = re.compile(r"\d{1,2}\.\d[af]?(\+PTX)?")


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the unit, or all problems of the settings, the stack and the host's libraries.

    The step ``before`` contains the unit that PyTorch links with, which is built first.

    :raises SparkforgeError: for a unit that cannot be assembled.
    """
    if settings["pytorch_state"] == "absent":
        return Plan()
    stack: Stack = settings["stack"]
    platform = platform_of(stack, observation)
    # The stack may have no unit named pytorch.
    of_stack = {"pytorch": stack["units"].get("pytorch") or {}}
    of_user = {"pytorch": settings["pytorch_unit"]}
    names = ("architectures", "cuda", "libraries", "blas", "compute_library", "fixes", "local_version", "version")
    build = Build(
        stack,
        observation,
        {
            **{name: settings[f"pytorch_{name}"] for name in names},
            "root": settings["sparkforge_root"],
            "unit": combined("pytorch", [of_stack, of_user], platform, {}),
            "known_fixes": settings["__pytorch_known_fixes"],
            # The units that failed to compile in this run (role `source_unit`).
            "unbuilt": settings.get("sparkforge_unbuilt") or {},
        },
    )
    _make(build)
    layers = [
        {"pytorch": build.unit_of_role},
        of_stack,
        of_user,
        {"pytorch": {"toolchain": settings["pytorch_toolchain"]}},
    ]
    refusals = [{"cause": problem, "remedy": ""} for problem in build.problems]
    if build.missing and not settings["ansible_check_mode"]:
        cause = f"This host lacks {'; '.join(build.missing)}. CMake would silently build without it."
        refusals.append({"cause": cause, "remedy": "Run that role, or remove the library from pytorch_libraries."})
    chosen = [] if build.problems else units(["pytorch"], layers, platform, settings.get("sparkforge_built"))
    before = []
    if chosen and COMPUTE_LIBRARY in build.unit_of_role["depends"]:
        own = {"toolchain": {**TOOLS, **settings["pytorch_toolchain"]}}
        library = [settings["__pytorch_compute_library"], stack["units"][COMPUTE_LIBRARY], own]
        before = units([COMPUTE_LIBRARY], [{COMPUTE_LIBRARY: layer} for layer in library], platform)
    notes = [*build.notes, *(_cost(unit, settings, observation) for unit in chosen if build.cuda)]
    return Plan({"before": before, "units": chosen, "missing": build.missing}, refusals=refusals, notes=notes)


def _cost(unit: t.Mapping[str, t.Any], settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> str:
    memory, most, per_job = observation["memory"] or {}, "", int(unit["memory_per_job"])
    cores, available, total = (
        (observation["cpu"] or {}).get("count"),
        memory.get("available_mib"),
        memory.get("total_mib"),
    )
    if cores and available and total:
        fitting = (available - jobs.reserve(total)) // per_job
        count = max(1, min(int(settings["pytorch_jobs"]) or cores, fitting))
        most = f"up to {count * per_job / 1024:.3g} GiB of memory for {phrases.plural(count, 'job')}, and "
    disk = f"{int(unit['free_space']) / 1024:.3g} GiB of disk under {settings['sparkforge_root']}"
    return f"Compiling PyTorch takes hours, {most}{disk}."


def _make(build: Build) -> None:
    """Compute ``unit_of_role`` and collect missing libraries and problems."""
    _check_stack(build)
    build.given = given_variables(build)
    _options(build)
    if build.cuda:
        _cuda(build)
        libraries(build)
    blas(build)
    _fixes(build)
    _version(build)
    build.unit_of_role = {
        "kind": "wheel",
        "depends": build.depends,
        "edits": build.edits,
        "environment": dict(sorted({**build.environment, **build.given}.items())),
        "expect": _expect(build),
        "toolchain": {"nvcc": f"{build.toolkit}/bin/nvcc"} if build.cuda else {},
        "minimum": _minimum(build),
        "libraries": build.against,
        **({"memory_per_job": MEMORY_PER_JOB} if build.cuda else {}),
        "free_space": FREE_SPACE,
    }


def _check_stack(build: Build) -> None:
    if not build.release:
        build.problems.append(f"{build.version!r} is not a version of PyTorch: set pytorch_version, for example 2.9.1.")
    for name in build.settings.get("libraries") or []:
        if name not in KNOWN["libraries"]:
            build.problems.append(
                f"pytorch_libraries names {name}, which is not one of {', '.join(KNOWN['libraries'])}: remove it."
            )
    for name in build.settings.get("fixes") or {}:
        if name not in FIXES:
            build.problems.append(f"pytorch_fixes names {name}, which is not one of {', '.join(FIXES)}: remove it.")


def _options(build: Build) -> None:
    """Set the options that are neither libraries nor architectures, so that CMake does not decide them by chance."""
    is_arm = build.machine == "aarch64"
    cuda = "1" if build.cuda else "0"
    options = {**KNOWN["options"], **KNOWN["options_of_machine"]["aarch64" if is_arm else "x86_64"]}
    build.environment.update({name: cuda if value == "cuda" else value for name, value in options.items()})
    if is_arm and true(build.given.get("USE_FBGEMM") or "0"):
        build.notes.append("USE_FBGEMM=1 has no effect: PyTorch turns it off on aarch64, where FBGEMM does not run.")
    _onednn(build, is_arm)


def _onednn(build: Build, arm: bool) -> None:
    """Decide on oneDNN, which CMake enables by default on x86-64 only.

    On aarch64 it computes with Arm's Compute Library: a directory on the host, or the stack's unit, which is linked
    statically. Without that library, oneDNN in these releases has mostly reference kernels for 128-bit vectors, which a
    GB10 has (oneDNN#3363); these are slower than PyTorch's own code.
    """
    library = str(build.settings.get("compute_library") or "").rstrip("/")
    unwanted = not all(true(build.given.get(name) or "1") for name in ("USE_MKLDNN", "USE_MKLDNN_ACL"))
    unwanted = unwanted or COMPUTE_LIBRARY in build.settings.get("unbuilt", {})
    if arm and not library and not unwanted and COMPUTE_LIBRARY in build.stack["units"]:
        library = f"{{depends.{COMPUTE_LIBRARY}.prefix}}"
        build.depends.append(COMPUTE_LIBRARY)
    if library and not arm:
        build.problems.append(
            f"pytorch_compute_library is {library}, which is for aarch64, not for {build.machine}: leave it empty."
        )
    build.environment["USE_MKLDNN"] = "1" if library or not arm else "0"
    if arm:
        build.environment["USE_MKLDNN_ACL"] = "1" if library else "0"
    if library:
        # This is read by PyTorch's ComputeLibrary.cmake and by oneDNN's FindACL.cmake, which fails without the library.
        build.environment["ACL_ROOT_DIR"] = library
    switches = {
        name: true(build.given.get(name) or build.environment.get(name) or "0")
        for name in ("USE_MKLDNN", "USE_MKLDNN_ACL")
    }
    # CMake turns a switch off if its source is missing, and continues.
    build.cache.update({name: "ON" for name, is_enabled in switches.items() if is_enabled})
    if arm and not switches["USE_MKLDNN"]:
        build.notes.append(
            "oneDNN is off: on aarch64 it needs Arm's Compute Library, as a unit of the stack (compute_library) or in "
            "pytorch_compute_library. Official wheels have both; without them, 16-bit matrix products and convolutions "
            "are slower on the CPU."
        )


def _cuda(build: Build) -> None:
    version = str(build.stack["cuda"]["version"])
    build.toolkit = str(build.stack["cuda"].get("home") or f"/usr/local/cuda-{version}")
    for toolkit in build.toolkits:
        # A directory that contains only libraries has a version too.
        if toolkit.get("nvcc") and re.match(rf"{re.escape(version)}(\.|$)", str(toolkit["version"])):
            build.toolkit = str(toolkit["path"])
            break
    else:
        build.missing.append(f"nvcc {version} (role cuda_libraries)")
    build.environment.update(
        {
            # These are read by PyTorch's Python code, its FindCUDA (which does not know CUDA_HOME), and CMake itself.
            "CUDA_HOME": build.toolkit,
            "CUDA_PATH": build.toolkit,
            "CUDACXX": f"{build.toolkit}/bin/nvcc",
        }
    )
    build.architectures = _architectures(build)
    if build.architectures:
        build.environment["TORCH_CUDA_ARCH_LIST"] = ";".join(build.architectures)


def _architectures(build: Build) -> list[str]:
    text = str(build.settings.get("architectures") or build.stack["profile"].get("architectures") or "")
    if not text:
        capabilities = sorted(
            {str(row["compute_capability"]) for row in build.devices if row.get("compute_capability")}
        )
        if "12.1" in capabilities:
            build.notes.append(
                "The GPU has compute capability 12.1 and runs code for the list's 12.0: see roles/pytorch/README.md."
            )
            capabilities = sorted({"12.0" if item == "12.1" else item for item in capabilities})
        text = ";".join(capabilities)
    if not text:
        build.problems.append(
            "No CUDA architecture is known: PyTorch would guess, and turns 12.1 into compute_20. "
            "Set pytorch_architectures, for example 12.0, or stack_profile."
        )
        return []
    architectures = list(dict.fromkeys(re.split(r"[\s;,]+", text.strip(" \t\n;,"))))
    for item in architectures:
        if not _CAPABILITY.fullmatch(item):
            number = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})([af]?)", item)
            hint = f"{number[1][:-1]}.{number[1][-1]}{number[2]}" if number else "12.0"
            build.problems.append(
                f"pytorch_architectures has {item}, which is not a compute capability: write it as {hint}."
            )
    return architectures


def _fixes(build: Build) -> None:
    requested_fixes = {**dict.fromkeys(FIXES, True), "attention_guard": "auto", **(build.settings.get("fixes") or {})}
    known_fixes = build.settings.get("known_fixes") or {}
    risky = any(item.startswith("12.1") for item in build.architectures)
    needed = risky and build.release < GUARD_LIFTED and true(build.given.get("USE_MEM_EFF_ATTENTION") or "1")
    for name in FIXES:
        versions = (known_fixes.get(name) or {}).get("versions") or []
        applies = needed if str(requested_fixes[name]).lower() == "auto" else true(requested_fixes[name])
        if not applies or not build.cuda:
            continue
        if build.version in versions:
            build.edits += _expand_edits(name, known_fixes[name]["edits"])
        elif (2, 9) <= build.release < GUARD_LIFTED:
            build.notes.append(
                f"The fix {name} was tested with {', '.join(versions)}, not with {build.version}: not applied."
            )
    others = [*(build.unit.get("edits") or []), *(build.unit.get("patches") or [])]
    names = {str(item.get("name")) for item in [*build.edits, *others] if isinstance(item, t.Mapping)}
    if needed and "attention_guard" not in names:
        build.problems.append(
            f"pytorch_architectures is {';'.join(build.architectures)}, and for 12.1 the memory-efficient attention"
            f" of PyTorch {build.version} compiles to an empty body: wrong numbers and no error. Set it to 12.0, which "
            f"a 12.1 GPU runs, or add attention_guard (for 2.9.1) to pytorch_fixes."
        )


def _version(build: Build) -> None:
    """Set the wheel's version, which differs from the index's version and from that of other inputs.

    ``+cu130`` comes first because some programs look for it. ``units`` fills in ``{digest}``; the letters before it
    keep a digest that consists of digits from being read as a number.
    """
    cuda = f"cu{str(build.stack['cuda']['version']).replace('.', '')}" if build.cuda else "cpu"
    local = str(build.settings.get("local_version") or f"{cuda}.sf{{digest}}")
    if not re.fullmatch(r"[a-z0-9]+(\.[a-z0-9]+)*", local.replace("{digest}", "0")):
        build.problems.append(f"pytorch_local_version is {local}: use lower-case letters and digits, separated by '.'.")
    build.environment["PYTORCH_BUILD_VERSION"] = f"{build.version.split('+', maxsplit=1)[0]}+{local}"
    build.environment["PYTORCH_BUILD_NUMBER"] = "1"


def _minimum(build: Build) -> dict[str, str]:
    """Return the minimum tool versions: PyTorch's CMakeLists.txt, pyproject.toml and cmake/public/cuda.cmake."""
    tools = {"cmake": "3.27", "cxx": "9.3"}
    if build.cuda:
        tools["nvcc"] = "12.0" if build.release < (2, 15) else "12.6"
    return tools


def _expect(build: Build) -> dict[str, t.Any]:
    """Return the required contents of the wheel: CMake leaves out anything that it does not find, and continues."""
    files = ["torch/lib/libtorch_cpu.so", "torch/lib/libtorch_python.so"]
    if "USE_MKLDNN" in build.cache:
        # It is linked statically, so its only trace in the wheel is the header that its build writes.
        files.append("torch/include/oneapi/dnnl/dnnl_version.h")
    built = [item.replace("+PTX", "") for item in build.architectures]
    if build.cuda:
        files.append("torch/lib/libtorch_cuda.so")
        if any(row.get("name") == "rowwise_121a" for row in build.edits) and {"12.0", "12.1"} & set(built):
            built.append("12.1a")
    return {
        "version": build.environment["PYTORCH_BUILD_VERSION"],
        "cmake_cache": dict(sorted(build.cache.items())),
        "libraries": list(dict.fromkeys(build.libraries)),
        "architectures": list(dict.fromkeys(built)),
        "files": files,
    }


def _expand_edits(name: str, edits: t.Sequence[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Return edits in source_build's format; an edit with ``directory`` and ``files`` becomes one edit per file."""
    expanded: list[dict[str, t.Any]] = []
    for edit in edits:
        text = {"match": edit["match"], "replace": edit["replace"]}
        if "files" in edit:
            for file, count in edit["files"].items():
                expanded.append({"name": name, "path": f"{edit['directory']}/{file}", **text, "count": int(count)})
        else:
            expanded.append({"name": name, "path": edit["path"], **text, "count": int(edit.get("count", 1))})
    return expanded
