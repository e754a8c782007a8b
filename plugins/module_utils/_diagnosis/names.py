# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What provides a header, a library or a package that a tool does not find: the facts of rules that name one."""

from __future__ import annotations

import re

from .._elf import providers
from .table import Facts

# The product that a header or a library for linking belongs to: (pattern of the name, provider). Packages are those of
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
    (r"(torch|ATen|c10)", "PyTorch (role pytorch), which must be in the unit's depends"),
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
    "Torch": "PyTorch (role pytorch), which must be in the unit's depends",
}


def _part_of(groups: dict[str, str]) -> dict[str, str]:
    """Say what provides the header or the library ``found``."""
    name = groups["found"]
    part = next((part for pattern, part in _PARTS if re.match(pattern, name)), None)
    if part is None:
        return {"part": "the package that provides it (see apt-file search)"}
    return {"part": part}


def _package_of(groups: dict[str, str]) -> dict[str, str]:
    """Say what provides the CMake package ``found``."""
    return {"part": _PACKAGES.get(groups["found"], f"what provides {groups['found']}")}


def _library(groups: dict[str, str]) -> dict[str, str]:
    """Say what provides the shared library ``found``."""
    soname = groups["found"]
    provider = providers.provider(soname)
    ways = []
    if provider.role and provider.role != "driver":
        ways.append(f"role {provider.role}")
    if provider.package:
        ways.append(f"package {provider.package}")
    return {"hint": provider.hint, "ways": f" ({', '.join(ways)})" if ways else ""}


def _hashes(groups: dict[str, str]) -> dict[str, str]:
    """Say which hashes were ``expected``."""
    return {"hashes": " or ".join(re.findall(r"[0-9a-f]{16,}", groups["expected"]))}


#: By the name that a rule's ``facts`` has.
FACTS: dict[str, Facts] = {"part_of": _part_of, "package_of": _package_of, "library": _library, "hashes": _hashes}
