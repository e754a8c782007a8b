# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""What a failing log says: one cause, one remedy, and the ten lines that matter.

The knowledge is the table :data:`RULES`. A log is read once, in pieces of about 1 MiB, and what of it is kept is
bounded whatever its size. Each rule keeps the first place where it matches; of the rules that matched, the one
that stands first in the table wins, wherever in the log it matched: a log with ``Killed signal terminated
program cc1plus`` and, later, ``ninja: build stopped: subcommand failed`` is the former. Hence the order of the
table: what names one known defect, then what names a kind of failure, then what any failure may print.

The texts were printed by the tools themselves, in the versions that ``tests/unit/data/logs/README.md`` names,
or come from the table of failures that people met on this road; that file says which.
"""

from __future__ import annotations

import collections
import functools
import re
import typing as t
from dataclasses import dataclass, field

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import providers

Log = t.Union[str, bytes, t.Iterable[t.Union[str, bytes]]]
Facts = t.Callable[[t.Dict[str, str]], t.Dict[str, str]]

#: How many lines a diagnosis shows, and how many of them stand before the one that matched.
LINES = 10
BEFORE = 3
#: Characters of one shown line: the command line of a C++ compilation alone has thousands.
LINE_WIDTH = 300
#: Characters of a value that a message quotes.
VALUE_WIDTH = 160
#: Different findings of notices that are kept.
NOTICES = 20

# Lines that are looked at for one key: a log of nothing but errors must not take hours.
_TRIES = 50_000
# Lines that are kept on both sides of one that may match: blank ones among them are not shown.
_AROUND = 3 * LINES
# Bytes: what is read at once, what of a line is looked at (the rest is the command line of a compiler), what a
# pattern sees after the line where it begins (CMake folds its messages), and what is kept around a line.
_CHUNK = 1 << 20
_LINE = 1000
_WINDOW = 2048
_CONTEXT = 32 << 10


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    :ivar name: unique, lower case with dashes; scripts may compare it.
    :ivar keys: plain texts of which one stands in the line where a match begins. They are what is searched for
        in the whole log, so that the pattern is tried on few lines only.
    :ivar pattern: a regular expression, tried on that line and those that follow (``^`` and ``$`` are the ends of
        a line). A single quote in it stands for any of the quotes that tools print.
    :ivar cause: one sentence; ``{found}`` is the pattern's first group that matched, ``{name}`` the group
        ``name`` or a key that ``facts`` adds.
    :ivar remedy: one sentence, likewise.
    :ivar facts: takes the groups and adds further keys.
    :ivar unless: a line in which this matches too does not count: a tool that tries again says so.
    :ivar when: the rule counts only where one of these, further down the table, matched as well.
    :ivar notice: what the log tells without being a failure: an option that CMake dropped, a harmless warning.
        It is reported beside the diagnosis, once for each different cause.
    """

    name: str
    keys: tuple[str, ...]
    pattern: str
    cause: str
    remedy: str
    facts: t.Optional[Facts] = None
    unless: str = ""
    when: tuple[str, ...] = ()
    notice: bool = False


@dataclass(frozen=True)
class Notice:
    """What a log tells beside its failure."""

    rule: str
    cause: str
    remedy: str
    line: str

    def as_result(self) -> dict[str, str]:
        return {"rule": self.rule, "cause": self.cause, "remedy": self.remedy, "line": self.line}


@dataclass(frozen=True)
class Diagnosis:
    """What a log says.

    :ivar rule: the name of the rule that won, None where no rule matched.
    :ivar lines: at most ten lines of the log around the place that matters, without passwords of URLs.
    :ivar first_error: the first line that reports an error, None where none does.
    :ivar others: the names of the other rules that matched, in the table's order.
    """

    rule: t.Optional[str]
    cause: str
    remedy: str
    lines: list[str]
    first_error: t.Optional[str]
    others: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def error(self, **details: t.Any) -> SparkforgeError:
        """Return this as the exception that a plugin maps to a failure; ``details`` are added to its keys."""
        return SparkforgeError(
            self.cause,
            self.remedy,
            diagnosis=self.rule,
            log_lines=self.lines,
            first_error=self.first_error,
            notices=[notice.as_result() for notice in self.notices],
            **details,
        )


def diagnose(log: Log) -> Diagnosis:
    """Tell what ``log`` says.

    :param log: a text, or pieces of one: the lines of an open file, or chunks of any size. The pieces are
        joined as they are, so lines need their line ends.
    """
    scan = _Scan()
    for piece in (log,) if isinstance(log, (str, bytes)) else log:
        scan.feed(piece.encode("utf-8", "replace") if isinstance(piece, str) else piece)
    return scan.finish()


def diagnose_file(path: str, start: int = 0) -> Diagnosis:
    """Tell what the file ``path`` says from the byte ``start`` on.

    :param start: where the phase or the attempt that failed began: what went wrong in an earlier one, and was
        mended, must not be blamed.
    :raises SparkforgeError: where the file cannot be read.
    """
    scan = _Scan()
    try:
        with open(path, "rb", buffering=0) as stream:
            stream.seek(start)
            while True:
                piece = stream.read(_CHUNK)
                if not piece:
                    break
                scan.feed(piece)
    except OSError as error:
        raise SparkforgeError(
            f"The log {path} cannot be read: {error.strerror}.",
            "Make sure that the task runs as root or as the build user, and look at the log yourself.",
        ) from error
    return scan.finish()


def rule(name: str) -> Rule:
    """Return the rule ``name``.

    :raises KeyError: there is none.
    """
    return RULES[_PLACES[name]]


def redact(text: str) -> str:
    """Return ``text`` without the user names and passwords of the URLs in it."""
    return _CREDENTIALS.sub(r"\1", text)


_CREDENTIALS = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)[^/\s'\"<>]*@")


# ---------------------------------------------------------------------------------------------------------------
# The table: first what it says about names.

_TOOLCHAIN = "Run the role build_toolchain on this host"

# What a header or a library for linking is part of: (pattern of the name, what brings it). Packages are those of
# the roles' variables.
_PARTS: tuple[tuple[str, str], ...] = (
    (r"(lib)?cudnn", "cuDNN's development package (libcudnn9-dev-cuda-13, role cuda_libraries)"),
    (r"(lib)?nccl", "NCCL's development package (libnccl-dev, role cuda_libraries)"),
    (r"(lib)?cusparseLt", "cuSPARSELt (role cusparselt)"),
    (r"(lib)?cudss", "cuDSS (role math_libraries)"),
    (r"(lib)?nvpl", "NVPL (role math_libraries)"),
    (
        r"(lib)?(cublas|cusolver|cusparse|curand|cufft|cufile|nvrtc|cupti|nvToolsExt|nvtx3?|nvml|cuda|cuda_\w+|cudart"
        r"|nvJitLink|thrust|cub|cooperative_groups)(_v2|_runtime|_api)?\b",
        "the CUDA toolkit (role cuda_libraries)",
    ),
    (r"(llvm|mlir|lld|clang)", "LLVM at the commit that Triton pins (role llvm)"),
    (r"(torch|ATen|c10)", "PyTorch (role pytorch), which the unit must name in depends"),
)

_PACKAGES = {  # what find_package of CMake asks for
    "NVPL_BLAS": "NVPL (role math_libraries)",
    "NVPL_LAPACK": "NVPL (role math_libraries)",
    "BLAS": "a BLAS library: NVPL on aarch64 (role math_libraries, BLAS=NVPL) or OpenBLAS",
    "LAPACK": "a LAPACK library: NVPL on aarch64 (role math_libraries) or OpenBLAS",
    "CUDAToolkit": "the CUDA toolkit (role cuda_libraries)",
    "CUDA": "the CUDA toolkit (role cuda_libraries)",
    "CUDNN": "cuDNN's development package (libcudnn9-dev-cuda-13, role cuda_libraries)",
    "NCCL": "NCCL's development package (libnccl-dev, role cuda_libraries)",
    "CUDSS": "cuDSS (role math_libraries)",
    "CUSPARSELT": "cuSPARSELt (role cusparselt)",
    "MLIR": "LLVM at the commit that Triton pins (role llvm)",
    "LLVM": "LLVM at the commit that Triton pins (role llvm)",
    "LLD": "LLVM at the commit that Triton pins (role llvm)",
    "Torch": "PyTorch (role pytorch), which the unit must name in depends",
}


def _part_of(groups: dict[str, str]) -> dict[str, str]:
    """Say what brings the header or the library ``found``."""
    name = groups["found"]
    part = next((part for pattern, part in _PARTS if re.match(pattern, name)), None)
    if part is None:
        return {"part": "the package that brings it (apt-file search names it)"}
    return {"part": part}


def _package_of(groups: dict[str, str]) -> dict[str, str]:
    """Say what brings the CMake package ``found``."""
    return {"part": _PACKAGES.get(groups["found"], f"what provides {groups['found']}")}


def _library(groups: dict[str, str]) -> dict[str, str]:
    """Say what brings the shared library ``found``."""
    soname = groups["found"]
    provider = providers.provider(soname)
    ways = []
    if provider.role and provider.role != "driver":
        ways.append(f"role {provider.role}")
    if provider.package:
        ways.append(f"package {provider.package}")
    return {"hint": provider.hint, "ways": f" ({', '.join(ways)})" if ways else ""}


# What a tool prints before it tries again: the next try may have succeeded.
_RETRIED = r"WARNING: Retrying|Retry scheduled|WARNING: Attempting to resume"

# ---------------------------------------------------------------------------------------------------------------

RULES: tuple[Rule, ...] = (
    # Memory: whatever else failed after it failed because of it.
    Rule(
        "rdma-memory",
        ("ibv_reg_mr",),
        r"(ibv_reg_mr\w*).{0,200}Cannot allocate memory",
        "RDMA could not register memory ({found}: Cannot allocate memory), so NCCL gave up.",
        "On kernel 7.0, whose KHO reserve takes 9 GiB, boot with kho=off or stay on 6.17; elsewhere raise the "
        "limit of locked memory (ulimit -l).",
    ),
    Rule(
        "cuda-out-of-memory",
        ("CUDA out of memory",),
        r"CUDA out of memory",
        "The GPU has no memory left for the program; on a GB10 that is the host's own memory.",
        "End the other GPU processes (nvidia-smi lists them) or make the problem smaller.",
    ),
    Rule(
        "compiler-killed",
        (
            "Killed signal terminated program",
            "internal compiler error: Killed",
            "died due to signal 9",
            "unable to execute command: Killed",
        ),
        r"Killed signal terminated program (\S+)|internal compiler error: Killed \(program (\S+)\)"
        r"|'(\w+)' died due to signal 9|(unable to execute command: Killed)",
        "The compiler was killed by signal 9 ({found}), as the kernel does when memory runs out: too many jobs for "
        "the memory of this host.",
        "Run again, which resumes from the objects with jobs sized by the memory that is then free; raise "
        "memory_per_job or set jobs, and end the programs that hold memory (GPU processes hold it too).",
    ),
    Rule(
        "linker-killed",
        ("terminated with signal 9",),
        r"collect2: fatal error: (\S+) terminated with signal 9",
        "The linker ({found}) was killed by signal 9, as the kernel does when memory runs out.",
        "Run again, which resumes from the objects; set fewer jobs, for several large links at once need the most "
        "memory of a whole build.",
    ),
    Rule(
        "out-of-memory",
        ("memory exhausted", "out of memory", "std::bad_alloc", "MemoryError", "Cannot allocate memory"),
        r"((?:virtual )?memory exhausted|out of memory allocating \d+ bytes|LLVM ERROR: out of memory"
        r"|Out of memory: Killed process|std::bad_alloc|^[ \t]*MemoryError$|Cannot allocate memory)",
        "A program of the build got no memory ({found}).",
        "Run again with fewer jobs or a higher memory_per_job, and look for a limit (ulimit -v, the container's or "
        "the unit's MemoryMax) that is too low.",
    ),
    # The disk.
    Rule(
        "no-space",
        ("No space left on device", "Disk quota exceeded"),
        r"(No space left on device|Disk quota exceeded)",
        "A file system is full ({found}).",
        "Free some space and run again, which resumes: a PyTorch build needs about 30 GB below the root, LLVM about "
        "10 GB more, and compilers need room in TMPDIR.",
    ),
    Rule(
        "read-only",
        ("Read-only file system",),
        r"(\S*)['\"]?: Read-only file system|Read-only file system",
        "A file system is read-only, so that {found} cannot be written.",
        "Mount it writable; a file system that the kernel made read-only has errors (see dmesg).",
    ),
    # CUDA architectures.
    Rule(
        "arch-compute-20",
        ("compute_20'",),
        r"Unsupported gpu architecture 'compute_20'",
        "nvcc was asked for compute_20: without TORCH_CUDA_ARCH_LIST, PyTorch's detection turns the GPU's 12.1 into "
        "12.1(2.0).",
        "Set TORCH_CUDA_ARCH_LIST in the unit's environment, to 12.0 for torch 2.9.1 to 2.11.",
    ),
    Rule(
        "nvcc-arch-unknown",
        ("Unsupported gpu architecture",),
        r"Unsupported gpu architecture '([^'\n]+)'",
        "nvcc does not know the architecture {found}.",
        "Correct TORCH_CUDA_ARCH_LIST (or CMAKE_CUDA_ARCHITECTURES), or build with a CUDA toolkit that knows it: "
        "12.1 needs 12.9 or newer.",
    ),
    Rule(
        "ptxas-arch-unknown",
        ("for option 'gpu-name'",),
        r"Value '(sm_[^'\n]+)' is not defined for option 'gpu-name'",
        "The ptxas that ran does not know {found}: Triton 3.5 and older carry that of CUDA 12.8.",
        "Set TRITON_PTXAS_PATH to the CUDA toolkit's ptxas for Triton 3.5 and older, "
        "TRITON_PTXAS_BLACKWELL_PATH for 3.6 and newer.",
    ),
    Rule(
        "ptx-version",
        ("Unsupported .version",),
        r"Unsupported \.version (\S+); current version is '([^'\n]+)'",
        "The ptxas that ran is older than the code it was given (PTX {found}).",
        "Give it a ptxas as new as the compiler: CUDA_HOME and PATH must name one toolkit, and TRITON_PTXAS_PATH "
        "its ptxas.",
    ),
    Rule(
        "llvm-ptx-version",
        ("does not support target",),
        r"LLVM ERROR: (PTX version \S+ does not support target '[^'\n]+')",
        "LLVM refuses the target: {found}. Triton's backend asks for a lower PTX version than LLVM 22 and newer allow.",
        "Build Triton with the LLVM that it pins, or raise the bound min(86, ptx_version) in "
        "third_party/nvidia/backend/compiler.py to 90 with an edit (triton_unit), as upstream did later.",
    ),
    Rule(
        "cuda-arch-unknown",
        ("Unknown CUDA Architecture Name", "Unknown CUDA arch "),
        r"Unknown CUDA Architecture Name(?: in \w+)?:?\s+(\S+)|Unknown CUDA arch \(([\w.+]+)\)",
        "The build's list of CUDA architectures does not know {found}.",
        "Write TORCH_CUDA_ARCH_LIST as numbers (12.0, 12.1a), not sm_121; a source older than the GPU needs a patch "
        "or 12.0.",
    ),
    Rule(
        "arch-list-unset",
        ("arch_list[-1] +=",),
        r"arch_list\[-1\] \+= '\+PTX'",
        "PyTorch's build of extensions found neither TORCH_CUDA_ARCH_LIST nor a GPU to ask.",
        "Set TORCH_CUDA_ARCH_LIST in the unit's environment.",
    ),
    Rule(
        "attention-guard",
        ("but was built for sm",),
        r"FATAL: kernel \S+ is for (\S+), but was built for (?P<built>sm\d+)",
        "A kernel of memory-efficient attention has no body for {built} ({found} only), so what it computes is wrong.",
        "Do not use this PyTorch: build it with TORCH_CUDA_ARCH_LIST=12.0, or with the guard patch of the role "
        "pytorch.",
    ),
    Rule(
        "no-kernel-image",
        ("no kernel image is available",),
        r"no kernel image is available for execution on the device",
        "The program holds no code for this GPU's architecture.",
        "Build it with the GPU's capability in TORCH_CUDA_ARCH_LIST: a cubin runs on the same major and an equal or "
        "higher minor.",
    ),
    # Triton.
    Rule(
        "triton-without-cuda-headers",
        ("cuda.h",),
        r"cuda_utils\.c:\d+:\d+: fatal error: '?cuda\.h'?(?:: No such file| file not found)",
        "Triton compiles cuda_utils.c at the first kernel, and its wheel carries no cuda.h.",
        "Put CUDA's headers into the wheel (backends/nvidia/include), or export CPATH in the environment's "
        "activation; the roles triton and python_env do.",
    ),
    Rule(
        "missing-python-headers",
        ("Python.h",),
        r"fatal error: '?Python\.h'?(?:: No such file| file not found)|Could not find '?Python\.h",
        "The headers of this Python are not installed (Python.h).",
        _TOOLCHAIN + ": it installs the headers of the environment's Python, for a virtual environment has none.",
    ),
    Rule(
        "triton-offline",
        ("Requested an offline build but",),
        r"Requested an offline build but (\w+) is not set",
        "Triton was to be built offline, and {found} does not name where the package lies.",
        "Set {found} in the unit's environment; the role triton sets all that its version asks for.",
    ),
    Rule(
        "llvm-mismatch",
        ("fatal error:", "[-Werror=deprecated", "abstract class type", "error:"),
        r"triton\S*:\d+:\d+: error: [^\n]*\b(?:llvm|mlir)::(\w+)"
        r"|error: [^\n]*\b(?:llvm|mlir)::(\w+)[^\n]*\[-Werror=deprecated"
        r"|invalid new-expression of abstract class type '[^'\n]*\b(?:mlir|triton)::(\w+)"
        r"|fatal error: '?((?:llvm|mlir|lld)/[\w/.]+)'?(?:: No such file| file not found)",
        "This source does not fit the LLVM that it is built against ({found}): LLVM's interfaces change from "
        "commit to commit.",
        "Build LLVM at the commit that Triton pins (cmake/llvm-hash.txt, or cmake/llvm-info.json from 3.8 on): "
        "compare it with the commit in the unit llvm's receipt.",
    ),
    Rule(
        "source-incomplete",
        (".td'",),
        r"'([^'\n]*/lib/Target/[^'\n]*\.td)', needed by .* missing and no known rule",
        "The LLVM source tree is incomplete: {found} is not in it.",
        "Take the whole source (or keep the .td files of ARM, RISCV and PowerPC, which TargetParser needs).",
    ),
    # PyTorch.
    Rule(
        "torch-shm-manager",
        ("bin/torch_shm_manager",),
        r"(?:\*\*\* \[[^\]\n]*|FAILED: (?:\[code=\d+\] )?)(bin/torch_shm_manager)",
        "The link of {found} failed, as it does with a Python that this PyTorch does not support (3.14 with 2.9), or "
        "with USE_DISTRIBUTED=0 and further cut-downs.",
        "Build with a Python of the range that the tag supports, and without those options.",
    ),
    Rule(
        "other-torch",
        ("undefined symbol: _ZN",),
        r"(\S+): undefined symbol: _ZNK?(?:3c10|2at|5torch|6caffe2)\w*",
        "{found} was built against another PyTorch than the one that is installed.",
        "Rebuild it as a unit that depends on this pytorch, or install the wheels of one stack together.",
    ),
    Rule(
        "torch-cuda-mismatch",
        ("The detected CUDA version",),
        r"The detected CUDA version \(\S+\) mismatches the version that was used to compile",
        "The CUDA toolkit on PATH is not the one that PyTorch was built with.",
        "Set CUDA_HOME in the unit's environment to the toolkit of the stack.",
    ),
    Rule(
        "torch-missing",
        ("Error: No module named 'torch'",),
        r"Error: No module named 'torch'",
        "The build imports torch, and its environment has none.",
        "Name pytorch in the unit's depends, so that its wheel goes into the environment.",
    ),
    Rule(
        "torch-without-cuda",
        ("Torch not compiled with CUDA enabled",),
        r"Torch not compiled with CUDA enabled",
        "The installed PyTorch is a CPU build: the package index's 2.9 and 2.10 wheels for aarch64 are.",
        "Install the wheel that the role pytorch builds, or 2.11 and newer, which are CUDA builds on aarch64.",
    ),
    Rule(
        "mkl-on-arm",
        ("requirement mkl", "distribution found for mkl", "requirement intel-", "distribution found for intel-"),
        r"(?:satisfies the requirement|No matching distribution found for) ((?:mkl|intel-)\S*)",
        "{found} exists for x86-64 alone.",
        "Leave it out on aarch64 (a marker: platform_machine == 'x86_64') and use NVPL or OpenBLAS (BLAS=NVPL).",
    ),
    # nvcc and its host compiler.
    Rule(
        "host-compiler-too-new",
        ("unsupported GNU version", "unsupported clang version", "Unsupported compiler version", "required version by"),
        r"unsupported (?:GNU|clang) version! (\w+ versions later than \d+)[^!\n]{0,20}not supported"
        r"|unsupported (clang) version|(Unsupported compiler version)"
        r"|installed version of (\S+ \(\S+\)) is (?:less|greater) than the m\w+ required version by CUDA",
        "The host compiler is not one that this CUDA supports ({found}).",
        "Name a supported one in the unit's toolchain (cc and cxx), which nvcc then uses (CUDAHOSTCXX): "
        "Ubuntu 24.04's gcc 13 serves CUDA 13.0.",
    ),
    Rule(
        "host-compiler-missing",
        ("Failed to preprocess host compiler properties",),
        r"Failed to preprocess host compiler properties",
        "nvcc could not run its host compiler.",
        _TOOLCHAIN + ", and see that toolchain.cxx (CUDAHOSTCXX, -ccbin) names a compiler that is there.",
    ),
    Rule(
        "glibc-too-new",
        ("exception specification is incompatible",),
        r"exception specification is incompatible with that of previous function '((?:sin|cos)pif?|rsqrtf?)\b",
        "This CUDA's headers and this host's C library both declare {found}: glibc 2.41 and newer need CUDA 13.1.",
        "Build on Ubuntu 24.04 (glibc 2.39), or with a CUDA toolkit that knows this glibc.",
    ),
    Rule(
        "nvcc-option-unknown",
        ("nvcc fatal   : Unknown option",),
        r"nvcc fatal\s+: Unknown option '([^'\n]+)'",
        "nvcc does not know the option {found}.",
        "Correct TORCH_NVCC_FLAGS, NVCC_APPEND_FLAGS or CUDAFLAGS in the unit's environment, or use another toolkit.",
    ),
    Rule(
        "driver-too-old",
        ("driver version is insufficient", "driver on your system is too old", "with an unsupported toolchain"),
        r"CUDA (driver version is insufficient)|(driver on your system is too old)"
        r"|(PTX was compiled with an unsupported toolchain)",
        "The NVIDIA driver is older than the CUDA that the program was built with ({found}).",
        "Use the stack whose CUDA minor the driver serves; the driver itself is updated with DGX OS.",
    ),
    Rule(
        "driver-mismatch",
        ("Driver/library version mismatch",),
        r"Driver/library version mismatch",
        "The loaded kernel module of the NVIDIA driver is older than its libraries: an update waits for a reboot.",
        "Reboot the host.",
    ),
    # A process that printed what ended it, after the precise ones above.
    Rule(
        "compiler-crashed",
        ("internal compiler error", "died due to signal", "signal terminated program", "PLEASE submit a bug report"),
        r"internal compiler error: (?!Killed)([^\n]+)|'(\w+)' died due to signal (?!9\b)\d+"
        r"|error: (?!Killed)(\w[\w ]*) signal terminated program|(PLEASE submit a bug report)",
        "The compiler itself crashed ({found}).",
        "Run again: where it crashes at the same file, use another minor of the compiler; where at a different one, "
        "check the memory of this host.",
    ),
    # The environment of the build.
    Rule(
        "unbound-variable",
        ("unbound variable",),
        r"(\w+): unbound variable",
        "A script under 'set -u' reads {found}, which is not set.",
        "Set {found} in the unit's environment: a build gets only what that names, never the environment of a shell.",
    ),
    Rule(
        "build-requirement-missing",
        ("Error: No module named ", "Cannot import '", "Missing dependencies:", "Cannot import build backend"),
        r"Error: No module named '(setuptools|wheel|scikit_build_core|hatchling|flit_core|poetry|mesonpy|pybind11"
        r"|nanobind|numpy|yaml|typing_extensions|packaging|psutil|ninja|cmake|jinja2|six|requests|Cython"
        r"|setuptools_scm|pkg_resources|distutils)(?:\.[\w.]+)?'"
        r"|Cannot import (?:build backend )?'([\w.]+)'|Missing dependencies:\s+(\S+)",
        "The build needs {found}, and its environment does not have it (pip installs none with --no-build-isolation).",
        "Name it in the unit's requirements; a wrong Python shows itself the same way.",
    ),
    Rule(
        "python-version",
        ("requires a different Python", "Requires-Python", "requires-python", "requires Python '"),
        r"requires a different Python: (\S+ not in '[^'\n]+')|requires Python '(?P<wanted>[^'\n]+)' but",
        "The source does not support the environment's Python ({found}).",
        "Set the unit's python to an interpreter in that range, or take a version of the source that supports it.",
    ),
    Rule(
        "externally-managed",
        ("externally-managed-environment", "This environment is externally managed"),
        r"externally-managed-environment|This environment is externally managed",
        "pip was to install into the system's Python, which the distribution keeps for itself.",
        "Install into an environment (role python_env), never with --break-system-packages.",
    ),
    Rule(
        "install-into-system",
        (
            "cannot make directory",
            "cannot create directory",
            "INSTALL cannot",
            "Permission denied: '/usr",
            "files in install directory",
        ),
        r"(?:INSTALL cannot (?!find\b)\w+(?: \w+){0,2}|cannot create directory:?)\s+'?(/[^\s'\"]+?)'?[.:]?\s[^\n]*\s*"
        r"(?:Permission denied|Maybe need administrative\s+privileges|administrative|privileges|No such file)"
        r"|Permission denied: '(/usr/(?:local/)?lib/python[^'\n]*)"
        r"|create or remove files in install directory",
        "The build wanted to install into the system ({found}).",
        "Build a wheel and install it into an environment: never 'setup.py install', and CMAKE_INSTALL_PREFIX only "
        "below the root.",
    ),
    # The network, before what follows from it.
    Rule(
        "download-in-build",
        ("error: downloading '",),
        r"error: downloading '([^'\n]+)' failed",
        "The build itself wanted to download {found}, and could not.",
        "Give it the file beforehand (an option of the project, FETCHCONTENT_SOURCE_DIR_… or an edit): what a build "
        "fetches by itself no lock vouches for.",
    ),
    Rule(
        "certificate",
        ("certificate verify failed", "certificate verification failed", "SSL certificate problem"),
        r"(?:certificate verify failed|SSL certificate problem): ([^\n(]+?)\s*(?:\(|$)"
        r"|(server certificate verification failed)",
        "The certificate of a server could not be verified ({found}).",
        "Name the CA of your proxy or mirror in sparkforge_ca_certificate (network_access); never skip verification.",
        unless=_RETRIED,
    ),
    Rule(
        "proxy",
        (
            "after CONNECT",
            "CONNECT tunnel failed",
            "Proxy CONNECT aborted",
            "Cannot connect to proxy",
            "ProxyError",
            "Could not resolve proxy",
            "Tunnel connection failed",
        ),
        r"HTTP code (\d+) from proxy|CONNECT tunnel failed, (response \d+)|(Proxy CONNECT aborted)"
        r"|(Cannot connect to proxy)|(Could not resolve proxy: \S+)|(Tunnel connection failed[^\n')]*)|(ProxyError)",
        "The proxy refused the connection or is out of reach ({found}).",
        "Correct the proxy's address and password (role network_access).",
        unless=_RETRIED,
    ),
    Rule(
        "host-unknown",
        ("Could not resolve host", "name resolution", "Name or service not known", "Failed to resolve '"),
        r"Could not resolve host: (\S+)|Failed to resolve '([^'\n]+)'"
        r"|(Temporary failure in name resolution|Name or service not known)",
        "The name of a server has no address here: {found}.",
        "Check the network, the proxy (role network_access) and the name; without a network, name a mirror or "
        "archives by path.",
        unless=_RETRIED,
    ),
    Rule(
        "index-not-trusted",
        ("is not a trusted or secure host",),
        r"The repository located at (\S+) is not a trusted or secure host",
        "pip ignores the index at {found}, for it is served without TLS.",
        "Serve it over https, or trust it by name (trusted-host in the unit's environment: PIP_TRUSTED_HOST).",
    ),
    Rule(
        "git-corrupt",
        ("is corrupt", "corrupt or missing", "inflate: data stream error", "is empty", "bad object", "corrupt loose"),
        r"(?:loose|packed) object (\w+) (?:\([^)\n]*\) )?is corrupt|corrupt loose object '(\w+)'"
        r"|object file (\S+) is empty|inflate: (data stream error)|fatal: bad object (\w+)",
        "A git repository is damaged: object {found}.",
        "Run again: a damaged store below <root>/builds/.sources is recognised and fetched anew; where the server "
        "reports it ('remote:'), its repository must be mended.",
    ),
    Rule(
        "connection-lost",
        (
            "early EOF",
            "RPC failed",
            "unexpected disconnect",
            "hung up unexpectedly",
            "Connection reset by peer",
            "IncompleteRead",
            "incomplete-download",
            "transfer closed with",
            "Connection broken",
            "Read timed out",
            "Operation timed out",
            "Operation too slow",
        ),
        r"(RPC failed[^\n]*|unexpected disconnect|hung up unexpectedly|Connection reset by peer|early EOF"
        r"|IncompleteRead|incomplete-download|transfer closed with[^\n]*|Connection broken|Read timed out"
        r"|Operation timed out|Operation too slow)",
        "The connection to a server broke off ({found}).",
        "Run again: what was fetched is kept and the rest is resumed.",
        unless=_RETRIED,
    ),
    Rule(
        "connection-failed",
        (
            "Failed to connect to",
            "Connection refused",
            "Connection timed out",
            "Network is unreachable",
            "No route to host",
            "Failed to establish a new connection",
        ),
        r"Failed to connect to (\S+ port \d+)|(Connection refused|Connection timed out|Network is unreachable"
        r"|No route to host|Failed to establish a new connection)",
        "A server cannot be reached ({found}).",
        "Check the network, the proxy (role network_access) and that the server runs.",
        unless=_RETRIED,
    ),
    Rule(
        "submodule-failed",
        ("into submodule path", "in submodule path", "No url found for submodule"),
        r"clone of '(?P<url>[^'\n]+)' into submodule path '(?P<path>[^'\n]+)' failed"
        r"|Fetched in submodule path '(?P<fetched>[^'\n]+)', but it did not contain (?P<commit>\w+)"
        r"|Unable to (?:checkout|fetch)[^\n]*in submodule path '(?P<other>[^'\n]+)'"
        r"|No url found for submodule path '(?P<none>[^'\n]+)'",
        "The submodule {where} cannot be had{why}.",
        "Make its repository reachable, or mirror it; a submodule must hold the commit that its project names.",
        facts=lambda groups: {
            "where": groups["path"] or groups["fetched"] or groups["other"] or groups["none"],
            "why": f" from {groups['url']}"
            if groups["url"]
            else f": its repository has no commit {groups['commit']}"
            if groups["commit"]
            else "",
        },
    ),
    Rule(
        "authentication",
        (
            "could not read Username",
            "Authentication failed",
            "Permission denied (publickey",
            "returned error: 401",
            "401 Error",
            "401 Client Error",
            "returned error: 403",
            "403 Client Error",
        ),
        r"could not read Username for '([^'\n]+)'|Authentication failed for '([^'\n]+)'|(Permission denied \(publickey)"
        r"|(returned error: 40[13])|(40[13] (?:Client )?Error[^\n]*)",
        "A server wants a login, or refuses this one ({found}).",
        "Use a URL that needs no login or a mirror; builds never ask for a password.",
    ),
    Rule(
        "git-no-such-commit",
        (
            "not our ref",
            "reference is not a tree",
            "Could not parse object",
            "unable to read tree",
            "failed to unpack tree object",
        ),
        r"not our ref (\w+)|reference is not a tree: (\w+)|Could not parse object '(\w+)'|unable to read tree \(?(\w+)"
        r"|failed to unpack tree object (\w+)",
        "The repository has no commit {found}.",
        "Correct source.version (playbooks/lock.yml resolves a tag anew), or the repository: a fork lacks commits.",
    ),
    Rule(
        "git-no-such-ref",
        ("not found in upstream", "couldn't find remote ref", "did not match any file(s) known to git"),
        r"Remote branch (\S+) not found in upstream|couldn't find remote ref (\S+)|pathspec '([^'\n]+)' did not match",
        "The repository has no tag or branch {found}.",
        "Correct source.version: git ls-remote lists what there is.",
    ),
    Rule(
        "repository-missing",
        ("does not appear to be a git repository", "repository '", "Repository not found", "returned error: 404"),
        r"'?(\S+?)'? does not appear to be a git repository|repository '([^'\n]+)' (?:not found|does not exist)"
        r"|(Repository not found)|(returned error: 404)",
        "There is no such repository or file: {found}.",
        "Correct source.repo (or the archive's URL), or the mirror that stands in for it.",
    ),
    Rule(
        "patch-failed",
        ("patch failed: ", "patch does not apply", "FAILED at ", "corrupt patch at line"),
        r"patch failed: (\S+)|error: (\S+): patch does not apply|Hunk #(\d+ FAILED at \d+)|(corrupt patch at line \d+)",
        "A patch does not apply ({found}).",
        "Make it anew against this commit, or drop it where the source has the change already.",
    ),
    Rule(
        "hash-mismatch",
        ("DO NOT MATCH THE HASHES", "require-hashes mode"),
        r"DO NOT MATCH THE HASHES|Hashes are required in --require-hashes mode",
        "A package does not have the hash that was asked for.",
        "Do not install it: compare the lock with where the file comes from; a wheel that was built again has "
        "another hash.",
    ),
    Rule(
        "index-unreachable",
        ("WARNING: Retrying", "Could not fetch URL"),
        r"WARNING: Retrying .*?(Failed to resolve '[^'\n]+'|Connection refused|Read timed out|Tunnel connection failed"
        r"|Network is unreachable|Connection reset by peer|Connection timed out|timed out)|Could not fetch URL (\S+?):",
        "pip could not reach its index ({found}), so it found no package there.",
        "Check the network, the proxy (role network_access) and index_url.",
        when=("no-such-requirement",),
    ),
    Rule(
        "requirement-conflict",
        ("ResolutionImpossible", "have conflicting dependencies"),
        r"Cannot install (.+?) because these package versions have conflicting dependencies|(ResolutionImpossible)",
        "The requirements contradict each other ({found}).",
        "See the lines below for who wants what, and change the unit's requirements.",
    ),
    Rule(
        "no-such-requirement",
        ("No matching distribution found for", "satisfies the requirement"),
        r"(?:No matching distribution found for|satisfies the requirement) (\S+)",
        "pip finds no package that serves {found} for this Python and machine.",
        "Correct the requirement, or name the index or directory that has it (index_url, find_links).",
    ),
    Rule(
        "pyproject-invalid",
        ("TOMLDecodeError", "Invalid TOML", "tomllib.", "invalid pyproject.toml"),
        r"TOMLDecodeError: ([^\n]+)|(Invalid TOML)|(invalid pyproject\.toml)",
        "A pyproject.toml cannot be read ({found}).",
        "Correct the patch or the edit that changed it.",
    ),
    # CMake.
    Rule(
        "cmake-too-new",
        ("Compatibility with CMake",),
        r"Compatibility with CMake <\s+(\S+)\s+has\s+been\s+removed",
        "The source asks for a CMake older than {found}, which CMake 4 no longer serves.",
        "Pin a CMake below 4 (cmake<4) in the unit's requirements or name one in its toolchain (Triton before 3.7 "
        "needs that), or set CMAKE_POLICY_VERSION_MINIMUM=3.5 in its environment.",
    ),
    Rule(
        "cmake-too-old",
        ("or higher is required.", "Could not find CMake with version"),
        r"CMake (\S+) or higher is required\.\s+You\s+are\s+running\s+version\s+(\S+)"
        r"|Could not find CMake with version >=(\S+)",
        "The source needs CMake {found} or newer.",
        "Name a newer CMake in the unit's toolchain, or cmake in its requirements.",
    ),
    Rule(
        "ninja-missing",
        ('corresponding to "Ninja"', "Ninja is required to load C++ extensions"),
        r"unable to find a build program corresponding to 'Ninja'|Ninja is required to load C\+\+ extensions",
        "There is no ninja on the build's PATH.",
        _TOOLCHAIN + ", or name ninja in the unit's requirements.",
    ),
    Rule(
        "nvcc-missing",
        (
            "CMAKE_CUDA_COMPILER",
            "Failed to detect a default CUDA architecture",
            "Failed to find nvcc",
            "No CUDA toolset found",
            "CUDA_HOME environment variable is not set",
            "nvcc not found at",
            "CUDACXX",
        ),
        r"No CMAKE_CUDA_COMPILER could be found|CMAKE_CUDA_COMPILER not set|Failed to find nvcc"
        r"|The CMAKE_CUDA_COMPILER:\s+\S+\s+is not a full path"
        r"|Failed to detect a default CUDA architecture\.\s+Compiler output:\s+(?=Call Stack|$)"
        r"|No CUDA toolset found|CUDA_HOME environment variable is not set|nvcc not found at '",
        "There is no nvcc on the build's PATH.",
        "Run the role cuda_libraries, and name nvcc in the unit's toolchain (it is not on PATH in a non-login shell).",
    ),
    Rule(
        "compiler-missing",
        ("_COMPILER could be found", "_COMPILER not set", "_COMPILER:", "Failed to find C compiler"),
        r"No (CMAKE_(?:C|CXX)_COMPILER) could be found|(CMAKE_(?:C|CXX)_COMPILER) not set"
        r"|The CMAKE_(?:C|CXX)_COMPILER:\s+(\S+)\s+is not a full\s+path and was not found"
        r"|Failed to find (C compiler)",
        "There is no compiler for the build ({found}).",
        _TOOLCHAIN + ", or correct cc and cxx in the unit's toolchain.",
    ),
    Rule(
        "compiler-does-not-work",
        ("is not able to compile a simple test", "Check for working", "_COMPILER_ID"),
        r"Check for working (\w+ compiler: \S+) - broken|is not able to compile a simple test\s+program",
        "A compiler cannot compile a test program ({found}).",
        "See CMake's lines below: a wrong flag in CFLAGS, CXXFLAGS or LDFLAGS, a missing C library or a full disk.",
    ),
    Rule(
        "cuda-too-old",
        ("requires CUDA ", "only supported on CUDA ", "Could NOT find CUDA"),
        # CUTLASS only warns.
        r"(?:requires|only supported on) CUDA (\d[\d.]*)\s+(?:or|and)\s+(?:above|higher|newer)(?!, and strongly)"
        r"|Could NOT find CUDA(?:Toolkit)?: Found unsuitable version '[^'\n]+',\s+but\s+required\s+is\s+at\s+least"
        r"\s+'([^'\n]+)'",
        "The source needs CUDA {found} or newer, and the toolkit that the build found is older.",
        "Bring a newer toolkit (the stack's CUDA version, role cuda_libraries) and let CUDA_HOME and toolchain.nvcc "
        "name it, or build a version of the source that is for the one that is there.",
    ),
    Rule(
        "cuda-version-conflict",
        ("two conflicting CUDA versions", "FindCUDA says CUDA version is"),
        r"Found two conflicting CUDA versions|FindCUDA says CUDA version is\s+(\S+)",
        "The build found parts of two CUDA toolkits.",
        "Let CUDA_HOME, CUDACXX and PATH in the unit's environment name one toolkit.",
    ),
    Rule(
        "submodule-missing",
        ("does not contain a CMakeLists.txt", "which is not an", "git submodule update --init", "The source directory"),
        r"The source directory\s+(\S+)\s+does not contain a CMakeLists\.txt file"
        r"|add_subdirectory given source\s+'([^'\n]+)'\s+which is not an\s+existing\s+directory"
        r"|Did you run 'git submodule update --init",
        "A directory of the source is empty or not there ({found}): a submodule was not checked out.",
        "Set source.submodules to true, or use an archive that holds the submodules.",
    ),
    Rule(
        "cmake-source-missing",
        ("The source directory ", "does not appear to contain CMakeLists.txt"),
        r"The source directory '([^'\n]+)' does not (?:exist|appear to contain CMakeLists\.txt)",
        "CMake was given {found}, which holds no CMakeLists.txt.",
        "Correct the unit's subdirectory.",
    ),
    Rule(
        "cmake-cache-elsewhere",
        ("CMakeCache.txt directory", "used to generate cache", "Does not match the generator used previously"),
        r"The current CMakeCache\.txt directory (\S+) is different|does not match the source '([^'\n]+)'"
        r"|Does not match the generator used previously: ([^\n]+)",
        "The build directory was configured for another source or generator ({found}).",
        "Build with rebuild=true, which begins with an empty build directory.",
    ),
    Rule(
        "cmake-package-missing",
        ("Could not find a package configuration file", "Could NOT find"),
        r"Could not find a package configuration file provided by\s+'([^'\n]+)'"
        r"|^\s+Could NOT find (\w+)",
        "CMake does not find {found}, which the source requires.",
        "Install {part}, and give CMake its directory ({found}_DIR or {found}_ROOT) where it is not below /usr.",
        facts=_package_of,
    ),
    # Compiling and linking.
    Rule(
        "lld-missing",
        ("fatal error: cannot find ", "invalid linker name", "does not support '-fuse-ld"),
        r"collect2: fatal error: cannot find '(ld)'|invalid linker name in (?:argument )?'(-fuse-ld=[^'\n]+)'"
        r"|does not support '(-fuse-ld=[^'\n]+)'",
        "The linker that the build names is not there ({found}).",
        _TOOLCHAIN + ", or drop the choice of linker (-fuse-ld, LLVM_ENABLE_LLD, TRITON_BUILD_WITH_CLANG_LLD).",
    ),
    Rule(
        "compiler-too-old",
        (
            "unrecognized command-line option",
            "unrecognized command line option",
            "bad value ",
            "invalid value '",
            "or later compatible compiler is required",
            "compiler does not support '",
            "unsupported argument '",
        ),
        r"unrecognized command[- ]line option '([^'\n]+)'|bad value '([^'\n]+)' for '-m(?:arch|cpu|tune)="
        r"|(C\+\+\d+ or later) compatible compiler is required|invalid value '([^'\n]+)' in '-std="
        r"|compiler does not support '(-m[^'\n]+)'|unsupported argument '([^'\n]+)' to option '-m",
        "The compiler does not know {found}: it is too old for this source or these flags, or is for another "
        "processor.",
        "Name a newer compiler in the unit's toolchain, or correct CFLAGS and CXXFLAGS.",
    ),
    Rule(
        "missing-header",
        ("fatal error:",),
        r"fatal error: '?([^\s:']+\.(?:h|hh|hpp|hxx|cuh|inc|def)|[a-z_]+)'?(?:: No such file| file not found)",
        "The compiler does not find the header {found}.",
        "Install {part}; where it lies in a directory of its own, add that to CPATH in the unit's environment.",
        facts=_part_of,
    ),
    Rule(
        "library-missing",
        ("cannot find -l", "unable to find library -l", "library not found for -l"),
        r"(?:cannot find|unable to find library|library not found for) -l(\S+?)(?::|$|\s)",
        "The linker does not find the library {found}.",
        "Install {part}; where it lies in a directory of its own, add that to LIBRARY_PATH in the unit's environment.",
        facts=_part_of,
    ),
    Rule(
        "object-damaged",
        ("file too short", "file format not recognized", "file truncated", "malformed archive", "not an ELF file"),
        r"(\S+): (?:file not recognized: )?(?:file (?:too short|format not recognized|truncated)|malformed archive)",
        "{found} is damaged, as what was being written is after a power loss or on a full disk.",
        "Remove it and run again, or build with rebuild=true.",
    ),
    Rule(
        "wrong-architecture",
        (
            "file in wrong format",
            "Exec format error",
            "wrong ELF class",
            "cannot open shared object file",
            "skipping incompatible",
        ),
        r"(\S+?):? (?:error adding symbols: )?file in wrong format|(\S+): (?:cannot execute[\w ]*: )?Exec format error"
        r"|(\S+): wrong ELF class|Error: (\S*/\S+): cannot open shared object file"
        r"|Exec format error: '([^'\n]+)'|skipping incompatible (\S+) when searching",
        "{found} is for another processor than this host's, or is damaged.",
        "Take the file for this machine (uname -m): linux-sbsa is ARM64 servers and the Spark, linux-aarch64 is Tegra.",
    ),
    Rule(
        "relocation-overflow",
        ("relocation truncated to fit", "relocation out of range"),
        r"(relocation truncated to fit[^\n]{0,80}|relocation out of range)",
        "A library became too large for its own jumps ({found}).",
        "Build for fewer architectures (TORCH_CUDA_ARCH_LIST), and on aarch64 set USE_PRIORITIZED_TEXT_FOR_LD=1.",
    ),
    Rule(
        "undefined-reference",
        ("undefined reference to", "undefined symbol:"),
        r"undefined reference to '([^'\n]+)'|ld\.lld: error: undefined symbol: ([^\n]+)",
        "The linker does not find a definition of {found}.",
        "Look which library should have it: it was built with other options or of another version, or is missing from "
        "the link.",
    ),
    # Loading what was built.
    Rule(
        "cudss-soname",
        ("libcudss.so.0: cannot open",),
        r"(libcudss\.so\.0): cannot open shared object file",
        "{found} is not found: cuDSS before 1.0 brings it, and cuDSS 1.0 is libcudss.so.1 and does not serve.",
        "Install cuDSS 0.7.1 to 0.8.0 (role math_libraries, package libcudss0-cuda-13); elf_closure_info names all "
        "that is missing in one pass.",
    ),
    Rule(
        "driver-library-missing",
        ("libcuda.so.1: cannot open", "libnvidia-ml.so.1: cannot open"),
        r"(libcuda\.so\.1|libnvidia-ml\.so\.1): cannot open shared object file",
        "{found} is not found: it belongs to the NVIDIA driver.",
        "Run this on a host with the driver; the driver is the vendor's and nothing here installs it.",
    ),
    Rule(
        "library-not-found",
        ("cannot open shared object file",),
        r"([^\s/:]+\.so[\w.]*): cannot open shared object file",
        "The shared library {found} is not found. {hint}",
        "Provide it{ways}; elf_closure_info names all that is missing in one pass, where the loader stops at the "
        "first.",
        facts=_library,
    ),
    Rule(
        "libc-too-old",
        (" not found (required by",),
        r"(\S+): version '([A-Z]\w+_[\d.]+)' not found \(required by ([^)\n]+)\)",
        "{found} of this host or environment is older than what a library was built with.",
        "Build it on the oldest system that is to run it, and let no older copy stand before the system's "
        "(LD_LIBRARY_PATH).",
    ),
    Rule(
        "static-tls",
        ("static TLS block",),
        r"(\S+): cannot allocate memory in static TLS block",
        "{found} was loaded too late to have its thread-local memory.",
        "Import torch first, or preload the library that it names (libgomp most often) by LD_PRELOAD.",
    ),
    Rule(
        "undefined-symbol",
        ("undefined symbol",),
        r"(\S+): undefined symbol: ([^\s,]+)",
        "{found} needs a symbol that no loaded library has: it was built against another version of one.",
        "Rebuild it against what is installed.",
    ),
    # apt and dpkg.
    Rule(
        "apt-signed-by-conflict",
        ("Conflicting values set for option Signed-By",),
        r"Conflicting values set for option Signed-By regarding source (\S+)",
        "Two apt sources name {found} with different keys: DGX OS has its own, and cuda-keyring added a second.",
        "Remove the added one (the package cuda-keyring); the role cuda_libraries detects a source by its URL.",
    ),
    Rule(
        "apt-later-version",
        ("A later version is already installed", "without --allow-downgrades", "will not downgrade"),
        r"A later version is already installed|without --allow-downgrades|will not downgrade (\S+)",
        "A package is installed in a later version than the one asked for.",
        "Keep the later one and correct the pin; nothing here downgrades a package.",
    ),
    Rule(
        "apt-locked",
        ("Could not get lock ", "Unable to acquire the dpkg frontend lock"),
        r"Could not get lock (\S+?)\.? +It is held by (?P<holder>process \d+ \([^)\n]+\))|Could not get lock (\S+)"
        r"|Unable to acquire the dpkg frontend lock \(([^)\n]+)\)",
        "Another program holds apt's lock: {found}{by}.",
        "Wait until it ends (unattended-upgrades and the OTA updater take minutes), or raise "
        "sparkforge_apt_lock_timeout.",
        facts=lambda groups: {"by": f" ({groups['holder']})" if groups["holder"] else ""},
    ),
    Rule(
        "apt-key-missing",
        ("NO_PUBKEY", "EXPKEYSIG"),
        r"(?:NO_PUBKEY|EXPKEYSIG) (\w+)",
        "apt lacks the key {found} of a repository, or the key has expired.",
        "Install the package that brings it again: nvidia-spark-repo for the Spark's, cuda-keyring for CUDA's.",
    ),
    Rule(
        "apt-interrupted",
        ("dpkg was interrupted",),
        r"dpkg was interrupted",
        "An earlier run of dpkg was interrupted.",
        "Run 'dpkg --configure -a' as root, then run again.",
    ),
    Rule(
        "apt-hash",
        ("Hash Sum mismatch", "File has unexpected size"),
        r"Hash Sum mismatch|File has unexpected size",
        "A file of an apt repository is not the one that its index names.",
        "Run again in some minutes: a mirror that is being updated or a caching proxy serves parts of two states.",
    ),
    Rule(
        "apt-no-package",
        ("Unable to locate package", "has no installation candidate"),
        r"Unable to locate package (\S+)|Package '?([^\s']+)'? has no installation candidate",
        "No apt source of this host has the package {found}.",
        "Run the role that adds its source (cuda_libraries for NVIDIA's), or correct the name for this distribution.",
    ),
    Rule(
        "apt-unmet",
        ("have unmet dependencies", "have held broken packages"),
        r"packages have unmet dependencies:\s+(\S+)|held broken packages",
        "apt cannot install {found} together with what is there.",
        "See the lines below for what it wants; DGX OS pins packages in /etc/apt/preferences.d, which must stay.",
    ),
    Rule(
        "warnings-as-errors",
        ("[-Werror",),
        r"error: ([^\n]+?) \[-Werror",
        "A warning counts as an error: {found}.",
        "Add the matching -Wno-error=… to CXXFLAGS in the unit's environment, or drop -Werror by an edit.",
    ),
    Rule(
        "process-killed",
        ("Killed", "[code=137]"),
        r"^[ \t]*(?:\S*sh: line \d+: +\d+ )?(Killed)\b(?! signal)|FAILED: \[(code=137)\]|\] (Killed)$",
        "A process of the build was killed by signal 9 ({found}), as the kernel does when memory runs out; nvcc prints "
        "no more than that when it happens to its compiler.",
        "Run again, which resumes from the objects with jobs sized by the memory that is then free; raise "
        "memory_per_job or set jobs, and end the programs that hold memory (GPU processes hold it too).",
    ),
    Rule(
        "compile-error",
        ("error:",),
        r"^[ \t]*(\S+?(?::\d+(?::\d+)?:|\(\d+\):) (?:fatal )?error: [^\n]+)",
        "The source does not compile: {found}",
        "Compare the compiler, nvcc and Python with those of the stack; a patch or an edit may have broken the source.",
        unless=r": (?:Permission denied|Operation not permitted)",
    ),
    # What any tool says, also one whose failure does not matter: last.
    Rule(
        "dubious-ownership",
        ("detected dubious ownership",),
        r"detected dubious ownership in repository at '([^'\n]+)'",
        "git refuses {found}, for another user owns it.",
        "Give the directory to the build user (chown -R): an earlier build ran as root or as somebody else.",
    ),
    Rule(
        "python-module-missing",
        ("Error: No module named ",),
        r"Error: No module named '?([\w.]+)",
        "Python does not find the module {found}.",
        "Name its package in the unit's requirements, or install it into the environment.",
    ),
    Rule(
        "triton-compiler-failed",
        ("CalledProcessError: Command",),
        r"CalledProcessError: Command '\['([^']+)', '[^']*(?:cuda_utils|__triton_launcher|main|launcher)\.c'",
        "Triton compiles a C file at the first kernel, and {found} failed.",
        _TOOLCHAIN + "; see that cuda.h, Python.h and libcuda.so.1 are found.",
    ),
    Rule(
        "dependency-cycle",
        ("dependency cycle",),
        r"dependency cycle: ([^\n]+)",
        "The build's files depend on each other in a ring: {found}.",
        "Correct the source, or the patch or edit that made it.",
    ),
    Rule(
        "clock",
        ("still dirty after 100 tries", "in the future", "Clock skew detected", "is not valid yet"),
        r"(still dirty after 100 tries)|(modification time \S+ s in the future)|(Clock skew detected)"
        r"|(is not valid yet)",
        "The clock of this host went back, or is wrong ({found}).",
        "Set the clock (timedatectl; a Spark without network time may start in the past) and build with rebuild=true.",
    ),
    Rule(
        "input-missing",
        ("missing and no known rule", "No rule to make target", "INSTALL cannot find"),
        r"'([^'\n]+)', needed by .* missing and no known rule|No rule to make target '([^'\n]+)'"
        r"|INSTALL cannot find\s+'([^'\n]+)'",
        "The build needs the file {found}, which is not there and which nothing makes.",
        "Take the whole source, submodules and what an ignore list may have left out included; where the file was "
        "there when CMake configured, build with rebuild=true.",
    ),
    Rule(
        "ninja-no-file",
        ("loading 'build.ninja'",),
        r"loading 'build\.ninja': ([^\n]+)",
        "The build directory has no build.ninja: configuring did not finish.",
        "See the lines of CMake above; build with rebuild=true where they show no error.",
    ),
    Rule(
        "process-limit",
        ("Resource temporarily unavailable", "Too many open files"),
        r"(Resource temporarily unavailable|Too many open files)",
        "A limit of the build's user or unit was reached ({found}).",
        "Raise the limits of processes or open files (TasksMax, LimitNOFILE, ulimit -u and -n), or set fewer jobs.",
    ),
    Rule(
        "permission-denied",
        ("Permission denied", "Operation not permitted", "Unable to (re)create"),
        r"Permission denied: '([^'\n]+)'|'?([^\s':]+)'?: (?:Permission denied|Operation not permitted)"
        r"|Unable to \(re\)create the private pkgRedirects directory:\s+(\S+)",
        "The build user may not write or run {found}.",
        "Give it to the build user (chown -R): an earlier build ran as root or as somebody else.",
    ),
    Rule(
        "command-missing",
        ("command not found", ": not found", "No such file or directory: '", "No such file or directory"),
        r"(?:^|\s)'?([^\s:']+): command not found|sh: \d+: ([^\s:]+): not found|make(?:\[\d+\])?: (\S+): No such file"
        r"|Error: \[Errno 2\] No such file or directory: '([\w.+-]+)'",
        "The build calls {found}, which is not on its PATH.",
        _TOOLCHAIN + ", or name the package in the unit's requirements.",
    ),
    Rule(
        "step-crashed",
        ("Segmentation fault", "Bus error", "Illegal instruction", "Aborted", "died due to signal", "[code=13"),
        r"^[ \t]*(Segmentation fault|Bus error|Illegal instruction|Aborted)\b|FAILED: \[code=(13[4569])\]",
        "A program that the build runs crashed ({found}).",
        "See the command above it: an illegal instruction means code for another processor, a bus error a full disk.",
    ),
    # Notices: no failure by themselves.
    Rule(
        "option-dropped",
        ("Turning the option off", "Turning the", "Not compiling with", "Suppress this warning"),
        r"Cannot find (\w+) library\.\s+Turning the option off|Not compiling with\s+([\w ]+?)\.\s+Suppress",
        "CMake did not find {found}, turned its option off and went on.",
        "Provide the library where CMake looks ({found}_ROOT), or set the option to 0 so that nobody expects it.",
        notice=True,
    ),
    Rule(
        "cuda-dropped",
        ("CUDA cannot be found",),
        r"PyTorch: CUDA cannot be found",
        "CMake did not find CUDA, turned it off and went on.",
        "Set CUDA_HOME and CUDACXX in the unit's environment to the toolkit of the stack.",
        notice=True,
    ),
    Rule(
        "cuda-architectures-ignored",
        ("CMAKE_CUDA_ARCHITECTURES",),
        r"pytorch is not compatible with `CMAKE_CUDA_ARCHITECTURES`",
        "PyTorch ignores CMAKE_CUDA_ARCHITECTURES (and CUDAARCHS, from which CMake sets it).",
        "Set TORCH_CUDA_ARCH_LIST and drop the other.",
        notice=True,
    ),
    Rule(
        "capability-warning",
        ("of cuda capability", "of compute capability (CC)"),
        r"Found GPU\d+ ([^\n]+?) which is of (?:cuda|compute) capability (?:\(CC\) )?12\.1",
        "PyTorch up to 2.10 warns that it does not support {found} (12.1): cosmetic, for code for 12.0 runs on it.",
        "Nothing; 2.11 and newer know it.",
        notice=True,
    ),
    Rule(
        "cpu-torch",
        ("+cpu", "torch.cuda.is_available() False", "CUDA available: False"),
        r"\b(torch[-= ]+\d[\w.]*\+cpu|\d+\.\d+\.\d+\+cpu)\b|(is_available\(\)|CUDA available:) False",
        "A PyTorch without CUDA takes part ({found}), as the package index's 2.9 and 2.10 wheels for aarch64 are.",
        "Install the wheel that the role pytorch builds, or 2.11 and newer.",
        notice=True,
    ),
    Rule(
        "prebuilt-wheel",
        ("Guessing wheel URL",),
        r"Guessing wheel URL: +(\S+)",
        "The source looks for a prebuilt wheel, which no hash vouches for: {found}.",
        "Set the variable that forces a build: FLASH_ATTENTION_FORCE_BUILD=TRUE for flash-attention.",
        notice=True,
    ),
)

#: Rules that say that a signal 9 ended a program, and the one that says that memory was refused.
KILLED = frozenset({"compiler-killed", "linker-killed", "process-killed"})
OUT_OF_MEMORY = "out-of-memory"

# ---------------------------------------------------------------------------------------------------------------
# Lines that report an error, for failures that the table does not know.

_ERROR_KEYS = (
    *(
        b"rror:",
        b"rror :",
        b"nvcc error",
        b"CMake Error",
        b"MemoryError",
        b"fatal:",
        b"fatal ",
        b"atal error",
        b"ERROR",
    ),
    *(b"FATAL", b"E: ", b"undefined reference", b"cannot find", b"not found", b"FAILED", b"*** ", b"Exception"),
    *(b"ssertion", b"Segmentation fault", b"Aborted", b"Killed", b"enied", b"terminate called", b"ninja: "),
    *(b"memory exhausted", b"unbound variable", b"final link failed", b"not recognized", b"curl: ("),
)
# What a tool itself calls an error.
_ERROR = re.compile(
    r"(?:^|[\s:)│])(?:fatal |Fatal )?error\s*:|CMake Error|^[\s│╰─>]*(?:[\w]+\.)*\w*(?:Error|Exception)\b(?::|\s*$)"
    r"|(?:^|\s)(?:fatal|FATAL|E|ERROR|nvcc fatal|ptxas fatal|LLVM ERROR)\s*:|undefined reference to"
    r"|cannot find -l|[Aa]ssertion [^\n]*failed|memory exhausted|terminate called|^\s*FATAL\b|final link failed"
    r"|^\s*(?:Segmentation fault|Aborted|Killed|Illegal instruction|Bus error)|file not recognized"
)
# What is one where no tool says more: a script that only tries something goes on after it.
_PERHAPS = re.compile(r": not found$|command not found|Permission denied|unbound variable$|^curl: \(\d+\)")
# What follows from an error that stands elsewhere.
_WEAK = re.compile(
    r"FAILED: |\*\*\* \[|ninja: build stopped|ld returned \d+ exit status|error: [a-z]+(?:-[a-z]+)+$"
    r"|error: command '|Failed (?:building|to build)|non-zero exit status|ERROR: Exception:|^\s*note: "
    r"|errors occurred|CMake build failed|Encountered error while|Could not build wheels"
)
# What looks like an error and is none: git's answer to `git describe` in an archive, a test of CMake's, pip's talk.
_HARMLESS = re.compile(
    r"not a git repository|No names found, cannot describe|no tag exactly matches|No annotated tags can describe"
    r"|dependency resolver does not currently|^[\s│]*-- |\bwarning: |\bWARNING\b|^W: |DeprecationWarning|Wno-error"
)
_HEADING = re.compile(r"CMake Error[^\n]*:\s*$")


def _error_class(line: str) -> int:
    """Return 3 for a line that reports an error, 2 for one that may, 1 for what follows from one, else 0."""
    if _HARMLESS.search(line):
        return 0
    if _WEAK.search(line):
        return 1
    return 3 if _ERROR.search(line) else 2 if _PERHAPS.search(line) else 0


# ---------------------------------------------------------------------------------------------------------------
# Reading a log once.

_QUOTES = "'\"`\u2018\u2019\u201c\u201d"
_LONG_LINE = re.compile(rb"^([^\n]{%d})[^\n]+" % _LINE, re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def _compiled(pattern: str) -> t.Pattern[str]:
    """Compile a rule's pattern: a quote outside a character class stands for any quote, inside one for all."""
    inside = False
    parts: list[str] = []
    index = 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            parts.append(pattern[index : index + 2])
            index += 2
            continue
        if character == "[" and not inside:
            inside = True
        elif character == "]" and inside:
            inside = False
        elif character == "'":
            character = _QUOTES if inside else f"[{_QUOTES}]"
        parts.append(character)
        index += 1
    return re.compile("".join(parts), re.MULTILINE)


@functools.cache
def _anchors() -> dict[bytes, bytes]:
    """Return for each key five bytes of it, as few different ones as a greedy choice finds.

    Most of them are nowhere in a megabyte of command lines, which then need not be searched for the keys: that
    is three times as fast.
    """
    width = 5
    left = {key for search in _SEARCHES for key in search.keys} | set(_ERROR_KEYS)
    anchors: dict[bytes, bytes] = {}
    while left:
        parts = {key: {key[at : at + width] for at in range(max(1, len(key) - width + 1))} for key in left}
        counts = collections.Counter(part for of_key in parts.values() for part in sorted(of_key))
        anchor = counts.most_common(1)[0][0]
        anchors.update({key: anchor for key in left if anchor in key})
        left = {key for key in left if anchor not in key}
    return anchors


@dataclass
class _Match:
    groups: dict[str, str]
    lines: list[str]
    line: str


@dataclass(frozen=True)
class _Search:
    """A rule made ready: ``place`` is its place in the table."""

    place: int
    rule: Rule
    keys: tuple[bytes, ...]
    pattern: t.Pattern[str]
    unless: t.Optional[t.Pattern[str]]


class _Scan:
    """One pass over a log.

    The buffer holds some context before ``_low``, then what is still to be searched. What is searched ends some
    lines before the buffer's end, so that a match always has the lines that follow it.
    """

    def __init__(self) -> None:
        self._searches = list(_SEARCHES)
        self._buffer = b""
        self._low = 0
        # The keys that may stand in the part that is being searched.
        self._present: set[bytes] = set()
        self._tries: t.Counter[bytes] = collections.Counter()
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._found: dict[int, _Match] = {}
        self._notices: dict[str, Notice] = {}
        # By what _error_class says, the first line of each.
        self._errors: dict[int, _Match] = {}

    def feed(self, data: bytes) -> None:
        self._pending.append(data)
        self._pending_size += len(data)
        if self._pending_size >= _CHUNK:
            self._take()
            self._search(self._limit())

    def finish(self) -> Diagnosis:
        self._take()
        self._search(len(self._buffer))
        return self._diagnosis()

    def _take(self) -> None:
        data = b"".join([self._buffer, *self._pending])
        # A progress line that a terminal would overwrite is a line.
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
        self._buffer = _LONG_LINE.sub(rb"\1", data)
        self._pending, self._pending_size = [], 0

    def _limit(self) -> int:
        """Return where the search must end now: at the start of a line, with enough lines after it."""
        end = len(self._buffer)
        for _line in range(_AROUND):
            end = self._buffer.rfind(b"\n", self._low, end)
            if end < 0:
                return self._low
        return end + 1

    def _search(self, high: int) -> None:
        low = self._low
        if high > low:
            anchors = _anchors()
            present = {anchor for anchor in set(anchors.values()) if self._buffer.find(anchor, low, high) >= 0}
            self._present = {key for key, anchor in anchors.items() if anchor in present}
            self._search_rules(low, high)
            self._search_errors(low, high)
        # Keep what a later match shows before its line.
        start = high
        for _line in range(_AROUND):
            start = self._buffer.rfind(b"\n", 0, start)
            if start < 0:
                break
        start += 1
        self._buffer = self._buffer[start:]
        self._low = high - start

    def _search_rules(self, low: int, high: int) -> None:
        rest = []
        for search in self._searches:
            if search.rule.notice:
                for key in search.keys:
                    for match, line, _start in self._matches(key, search, low, high):
                        self._note(search.rule, match, line)
                rest.append(search)
                continue
            first: t.Optional[tuple[t.Match[str], str, int]] = None
            for key in search.keys:
                first = next(self._matches(key, search, low, first[2] if first else high), first)
            if first is None:
                rest.append(search)
            else:
                self._found[search.place] = _Match(_groups(first[0]), self._excerpt(first[2]), first[1])
        self._searches = rest

    def _matches(self, key: bytes, search: _Search, low: int, high: int) -> t.Iterator[tuple[t.Match[str], str, int]]:
        """Yield (match, line, start of the line) for each line from ``low`` to ``high`` with ``key`` that matches."""
        for start, window, line in self._lines_with(key, low, high):
            match = search.pattern.search(window)
            if match and match.start() <= len(line) and not (search.unless and search.unless.search(line)):
                yield match, line, start

    def _lines_with(self, key: bytes, low: int, high: int) -> t.Iterator[tuple[int, str, str]]:
        """Yield (start, the line and what follows, the line) for each line from ``low`` to ``high`` with ``key``."""
        buffer = self._buffer
        place = buffer.find(key, low, high) if key in self._present else -1
        while place >= 0 and self._tries[key] < _TRIES:
            self._tries[key] += 1
            start = buffer.rfind(b"\n", 0, place) + 1
            stop = buffer.find(b"\n", place)
            stop = len(buffer) if stop < 0 else stop
            window = _text(buffer[start : stop + _WINDOW])
            yield start, window, window.partition("\n")[0]
            place = buffer.find(key, stop + 1, high)

    def _note(self, rule: Rule, match: t.Match[str], line: str) -> None:
        if len(self._notices) < NOTICES:
            cause, remedy = _explained(rule, _groups(match))
            self._notices.setdefault(cause, Notice(rule.name, cause, remedy, _shown(line)))

    def _search_errors(self, low: int, high: int) -> None:
        if 3 in self._errors:
            return
        first: dict[int, tuple[int, str]] = {}
        for key in _ERROR_KEYS:
            for start, window, line in self._lines_with(key, low, first[3][0] if 3 in first else high):
                kind = _error_class(line)
                if kind and (kind not in first or start < first[kind][0]):
                    # CMake's first line says where, the next paragraph what.
                    first[kind] = (
                        start,
                        _paragraph(window) if _HEADING.search(line) else line,
                    )
                if kind == 3:
                    break
        for kind, (start, line) in first.items():
            if kind not in self._errors:
                self._errors[kind] = _Match({}, self._excerpt(start), line)

    def _excerpt(self, start: int) -> list[str]:
        """Return the lines that matter around the line at ``start``; blank ones are left out."""
        after = _lines(self._buffer[start : start + _CONTEXT])[:LINES]
        before = _lines(self._buffer[max(0, start - _CONTEXT) : start])[-max(BEFORE, LINES - len(after)) :]
        return [_shown(line) for line in (before + after)[:LINES]]

    def _diagnosis(self) -> Diagnosis:
        error = self._errors.get(3) or self._errors.get(2) or self._errors.get(1)
        first_error = _shown(error.line) if error else None
        notices = list(self._notices.values())
        names = {RULES[place].name for place in self._found}
        matched = [
            place for place in sorted(self._found) if not RULES[place].when or names.intersection(RULES[place].when)
        ]
        if matched:
            winner, match = RULES[matched[0]], self._found[matched[0]]
            cause, remedy = _explained(winner, match.groups)
            others = [RULES[place].name for place in matched[1:]]
            return Diagnosis(winner.name, cause, remedy, match.lines, first_error, others, notices)
        if error:
            return Diagnosis(
                None,
                f"The build failed in a way that is not in the table of known failures; its first error: {first_error}",
                "Read the log from that line on; what comes after it mostly follows from it.",
                error.lines,
                first_error,
                [],
                notices,
            )
        return Diagnosis(
            None,
            "The log reports no error: it ends in the middle of the work, or is empty.",
            "Look whether the host went down or somebody ended the build, and run again, which resumes.",
            [_shown(line) for line in _lines(self._buffer)[-LINES:]],
            None,
            [],
            notices,
        )


def _text(data: bytes) -> str:
    return _COLOUR.sub("", data.decode("utf-8", "replace"))


def _paragraph(text: str) -> str:
    """Return CMake's message at the start of ``text`` as one line; two blank lines or the call stack end it."""
    return " ".join(re.split(r"\n\n\n|\nCall Stack", text, maxsplit=1)[0].split())


def _lines(data: bytes) -> list[str]:
    return [line for line in _text(data).split("\n") if line.strip()]


def _shown(line: str) -> str:
    line = redact(line.rstrip())
    return line if len(line) <= LINE_WIDTH else line[: LINE_WIDTH - 2] + " …"


def _groups(match: t.Match[str]) -> dict[str, str]:
    named = {name: _value(value) for name, value in match.groupdict().items()}
    found = next((value for value in match.groups() if value), None) or match.group(0)
    return {"found": _value(found), **named}


def _value(text: t.Optional[str]) -> str:
    text = redact(" ".join((text or "").split()))
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 2] + " …"


def _explained(rule: Rule, groups: dict[str, str]) -> tuple[str, str]:
    fields = {**groups, **(rule.facts(groups) if rule.facts else {})}
    return rule.cause.format_map(fields), rule.remedy.format_map(fields)


_PLACES = {entry.name: place for place, entry in enumerate(RULES)}
_SEARCHES = tuple(
    _Search(
        place,
        entry,
        tuple(key.encode("utf-8") for key in entry.keys),
        _compiled(entry.pattern),
        _compiled(entry.unless) if entry.unless else None,
    )
    for place, entry in enumerate(RULES)
)
