# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that stack and user give PyTorch's build: which are refused, and which reach nothing."""

from __future__ import annotations

import re
import typing as t

from .pytorch_build import Build, asks_for, true

#: From here on the build clones NCCL unless it is told to use the host's (tools/build_pytorch_libs.py).
NCCL_CLONED = (2, 7)
#: setup.py is gone, and scikit-build-core calls CMake (the wheels' generator; pytorch#189758).
SCIKIT_BUILD = (2, 14)

#: Options that never have the wanted effect: (reason, remedy). Sources: PyTorch 2.9.1's CMakeLists.txt, setup.py,
#: cmake/Dependencies.cmake and cmake/public/cuda.cmake; the last of them was run with CUDAARCHS=12.1.
_REFUSED: dict[str, tuple[str, str]] = {
    "CUDAARCHS": (
        "CMake rejects a value like 12.1 (it expects integers), and PyTorch ignores the ones that CMake accepts",
        "set pytorch_architectures instead",
    ),
    "CMAKE_CUDA_ARCHITECTURES": (
        "PyTorch ignores it with a warning and uses TORCH_CUDA_ARCH_LIST",
        "set pytorch_architectures instead",
    ),
    "TORCH_CUDA_ARCH_LIST": ("the role always sets it", "set pytorch_architectures instead"),
    "CUDA_ARCH_NAME": ("PyTorch no longer uses it", "set pytorch_architectures instead"),
    "USE_CUBLAS": ("PyTorch has no such option: cuBLAS is always linked", "remove it"),
    "USE_SYSTEM_LIBS": (
        "it replaces the tag's submodules with whatever versions the host has",
        "remove it, or select single libraries of the host (USE_SYSTEM_SLEEF, USE_SYSTEM_ONNX …), as the role does for "
        "NCCL",
    ),
    "USE_NIGHTLY": ("it downloads a finished wheel, without a hash, instead of building", "remove it"),
    "NVCC_FLAGS_EXTRA": (
        "PyTorch's CMake sets this variable itself and does not read it from the environment",
        "set pytorch_architectures for -gencode flags",
    ),
    "DEBUG_CUDA": ("it is a CMake option that no version reads from the environment", "remove it"),
    "CMAKE_INSTALL_PREFIX": ("PyTorch's build sets it and fails if it is already set", "remove it"),
    "CMAKE_ONLY": ("it configures and builds nothing, and 2.14 dropped it", "remove it"),
    "CMAKE_FRESH": ("a changed input already starts with an empty tree, and 2.14 dropped it", "set pytorch_rebuild"),
    "PYTORCH_BUILD_VERSION": ("the role sets it, with a local version", "set pytorch_local_version instead"),
    "PYTORCH_BUILD_NUMBER": (
        "above 1 it appends .post to the local version, which changes the version",
        "set pytorch_local_version instead",
    ),
    "BUILD_PYTHON_ONLY": ("it builds a wheel without the libraries", "remove it"),
    "BUILD_LIBTORCH_WHL": ("it builds a wheel without the Python part", "remove it"),
}

#: (name, first release that no longer knows it, what to write). From PyTorch's cmake/EnvVarForwarding.cmake, which took
#: setup.py's place, beside the list in 2.9.1's tools/setup_helpers/cmake.py; USE_MSLK: pytorch#171903 of January 2026,
#: after 2.10 was branched.
_RENAMED: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("USE_FBGEMM_GENAI", (2, 11), "it is now USE_MSLK"),
    ("USE_NINJA", SCIKIT_BUILD, "CMAKE_GENERATOR=Ninja replaces it"),
    ("MIOPEN_LIB_DIR", SCIKIT_BUILD, "MIOPEN_PATH replaces it"),
    ("MIOPEN_INCLUDE_DIR", SCIKIT_BUILD, "MIOPEN_PATH replaces it"),
    ("MIOPEN_LIBRARY", SCIKIT_BUILD, "MIOPEN_PATH replaces it"),
    ("JAVA_HOME", SCIKIT_BUILD, "nothing replaces it; remove it"),
    ("PYTHON_LIB_REL_PATH", SCIKIT_BUILD, "nothing replaces it; remove it"),
    ("BUILD_CUSTOM_STEP", SCIKIT_BUILD, "nothing replaces it; remove it"),
)
#: (name, first release that knows it, its name before).
_TOO_NEW: tuple[tuple[str, tuple[int, ...], str], ...] = (("USE_MSLK", (2, 11), "USE_FBGEMM_GENAI"),)

#: Beside USE_*, BUILD_* and CMAKE_*, what reaches CMake from 2.14 on or is read by something else.
_REACHING = frozenset(
    """ACL_ROOT_DIR ATEN_AVX512_256 ATEN_THREADING BLAS CAFFE2_USE_MSVC_STATIC_RUNTIME CFLAGS CPPFLAGS CUDACXX
    CUDAHOSTCXX CUDA_BIN_PATH CUDA_HOME CUDA_HOST_COMPILER CUDA_NVCC_EXECUTABLE CUDA_PATH CUDA_SEPARABLE_COMPILATION
    CUDNN_INCLUDE_DIR CUDNN_LIBRARY CUDNN_LIB_DIR CUDNN_ROOT CXXFLAGS DEBUG EXPERIMENTAL_SINGLE_THREAD_POOL
    FLASH_ATTENTION_MAX_JOBS INSTALL_TEST INTEL_MKL_DIR INTEL_OMP_DIR LDFLAGS LD_LIBRARY_PATH LIBRARY_PATH
    MIOPEN_PATH MKLDNN_CPU_RUNTIME MKL_THREADING NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS NVSHMEM_HOME ONNX_ML
    ONNX_NAMESPACE OpenBLAS_HOME OPENSSL_ROOT_DIR PYTORCH_ROCM_ARCH REL_WITH_DEB_INFO SELECTED_OP_LIST
    SOURCE_DATE_EPOCH STATIC_DISPATCH_BACKEND TORCH_NATIVE_AOT TORCH_NVCC_FLAGS TORCH_XPU_ARCH_LIST TRACING_BASED
    UBSAN_FLAGS WERROR WITH_BLAS""".split()
)
_FINDS = re.compile(r"(CUDSS|CUSPARSELT|NCCL|NVPL_\w+|Numa)_\w+|\w+_(ROOT|DIR)|\w+EXITCODE(__TRYRUN_OUTPUT)?")

#: Options that turn verification off, such as seeds/003's wget --no-check-certificate.
_UNVERIFIED = re.compile(r"--no-check-certificate|--insecure\b|--trusted-host|sslverify=false", re.IGNORECASE)
_UNVERIFIED_NAMES = frozenset({"GIT_SSL_NO_VERIFY", "PIP_TRUSTED_HOST", "PYTHONHTTPSVERIFY"})


def given_variables(build: Build) -> dict[str, str]:
    """Return the variables of stack and user as text, after refusing what would not do what it says."""
    given: dict[str, str] = {}
    for key, value in (build.unit.get("environment") or {}).items():
        if value is None:
            continue
        # YAML makes a boolean of `yes`; builds know 1 and 0.
        text = str(int(value)) if isinstance(value, bool) else str(value)
        given[str(key)] = text
        refusal = _refusal(build, str(key), text)
        if refusal:
            build.problems.append(f"The environment of the unit pytorch has {key}={text}: {refusal}.")
        elif build.release >= SCIKIT_BUILD and not _reaches(str(key)):
            build.notes.append(f"{key} has no effect: since 2.14 only known variables reach CMake.")
    if build.release < (2, 11) and build.cuda and true(given.get("USE_FBGEMM_GENAI")):
        build.notes.append("USE_FBGEMM_GENAI=1 has no effect: with CUDA this release builds it only for 10.0a.")
    return given


def _refusal(build: Build, key: str, value: str) -> str:
    if key in _REFUSED:
        reason, remedy = _REFUSED[key]
        return f"{reason}; {remedy}"
    for name, since, remedy in _RENAMED:
        if key == name and build.release >= since:
            return f"PyTorch {_text(since)} and newer do not know it; {remedy}"
    for name, since, before in _TOO_NEW:
        if key == name and build.release < since:
            return f"PyTorch older than {_text(since)} calls it {before}"
    if key in _UNVERIFIED_NAMES or _UNVERIFIED.search(value):
        return "it turns off TLS verification, like --no-check-certificate; set sparkforge_ca_certificate instead"
    if key == "TORCH_NVCC_FLAGS" and re.search(r"gencode|-arch\b|sm_\d|compute_\d", value):
        return "it adds an architecture outside the list; set pytorch_architectures instead"
    if key == "CMAKE_LIBRARY_PATH" and re.search(r"/include/?($|[:;])", value):
        return "an include directory has no libraries; set the library directory"
    if key == "USE_CUDA" and true(value) != build.cuda:
        return f"set pytorch_cuda: {str(not build.cuda).lower()} instead, which sets the rest"
    if key == "USE_SYSTEM_NCCL" and not true(value) and asks_for(build, "nccl") and build.release >= NCCL_CLONED:
        return (
            "NCCL is not a submodule of PyTorch 2.7 and newer, whose build clones it unverified; remove it to use the "
            "host's NCCL, or remove nccl from pytorch_libraries"
        )
    if key == "CMAKE_ARGS" and build.release < SCIKIT_BUILD:
        return "PyTorch older than 2.14 does not read it; set each CMake variable by its own name"
    if key in ("BLAS", "WITH_BLAS"):
        return "set pytorch_blas instead, which finds the files"
    if key == "PYTORCH_ROCM_ARCH" or (key == "USE_ROCM" and true(value)):
        return "this role builds for CUDA; remove it"
    return ""


def _reaches(name: str) -> bool:
    return name.startswith(("USE_", "BUILD_", "CMAKE_")) or name in _REACHING or bool(_FINDS.fullmatch(name))


def _text(release: t.Sequence[int]) -> str:
    return ".".join(map(str, release))
