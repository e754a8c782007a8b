# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which role, package and archive provides a shared library.

Only names that somebody has seen are here. Where a package's name was never seen, the entry says so by
leaving it out; a library that no entry matches is unknown, and the answer says that.

Where the facts come from: NVIDIA's package names were read from ``dpkg -l`` of a DGX Spark and of an Ubuntu
24.04 host with CUDA 13.0, and from recipes that install them; NVIDIA's SONAMEs from the aarch64 wheels;
archives from the redist manifests; the distribution's names are those of Debian 12 and 13 and of Ubuntu
24.04.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

from .._core import platforms

# Those that the archives are published for.
MACHINES = ("aarch64", "x86_64")

# Libraries of the vendor's driver, which this collection asserts and never installs.
DRIVER = (
    "libcuda.so.1",
    "libnvidia-*.so.*",
    "libcudadebugger.so.1",
    "libnvcuvid.so.1",
    "libnvoptix.so.1",
)
# Those that may be counted as the driver's where there is no GPU: a CUDA build of PyTorch is linked to them.
DRIVER_SONAMES = ("libcuda.so.1", "libnvidia-ml.so.1")

# Files that a library opens only when somebody asks for the feature, by dlopen: what they lack is no failure
# of the directory that they lie in.
OPTIONAL_PLUGINS: tuple[tuple[str, str], ...] = (
    ("libcudss_commlayer_*.so*", "cuDSS opens its communication layer only for multi-node solves"),
    ("libcudss_mtlayer_*.so*", "cuDSS opens its threading layer only when the program sets one"),
    ("nvshmem_bootstrap_*.so*", "NVSHMEM opens only the configured bootstrap plug-in"),
    ("nvshmem_transport_*.so*", "NVSHMEM opens the transports that the host has"),
    ("libcufile_rdma.so*", "cuFile opens it only for GPUDirect RDMA"),
)


@dataclass(frozen=True)
class Provider:
    """What provides a library.

    :ivar role: the role of this collection, ``driver`` for what is the vendor's, None for neither.
    :ivar package: the apt package, None where its name is not known.
    :ivar archive: ``<product>/redist/<component>/<platform>`` below NVIDIA's download tree, or None.
    :ivar hint: one sentence for a person.
    """

    role: str | None
    package: str | None
    archive: str | None
    hint: str

    @property
    def remedy(self) -> str:
        """What to do where the library is missing, in one sentence."""
        package = f"the package {self.package}" if self.package else ""
        archive = f"the archive {self.archive}" if self.archive else ""
        source = " or ".join(filter(None, (package, archive)))
        if self.role == "driver" or not (self.role or source):
            return self.hint
        if not self.role:
            return f"Install {source}."
        return f"Run the role {self.role}" + (f", which installs {source}." if source else f". {self.hint}")


@dataclass(frozen=True)
class _Entry:
    """One row of the table.

    ``{suffix}`` in a package becomes the CUDA minor with dashes (``13-0``), ``{major}`` the CUDA major,
    ``{0}`` the first group of the pattern. ``cuda`` says how to tell the CUDA major from the SONAME: a
    mapping of SONAME version to CUDA major, or None where the SONAME does not tell.
    """

    pattern: str
    role: str | None
    package: str | None
    archive: str | None
    hint: str
    cuda: dict[str, str] | None = None
    machines: tuple[str, ...] = ()


# SONAME version -> CUDA major, for libraries whose SONAME counts CUDA majors.
_SAME = {"11.0": "11", "12": "12", "13": "13"}
_PLUS_ONE = {"10": "11", "11": "12", "12": "13"}  # cuFFT
_SOLVER = {"11": "12", "12": "13"}

_CUDA_HINT = "Part of the CUDA {major} toolkit."
_META_HINT = "Part of the CUDA {major} runtime libraries; the package is their metapackage."
_CUFILE_HINT = "GPUDirect Storage's library; it loads without its kernel module."
_TORCH_HINT = "Part of PyTorch itself: the environment's wheel is incomplete or another version."


def _toolkit(  # pylint: disable=dangerous-default-value
    pattern: str, package: str, archive: str | None, cuda: dict[str, str] | None = _SAME, hint: str = _CUDA_HINT
) -> _Entry:
    """Return the row of a library of the CUDA toolkit, whose packages have the minor in their names."""
    return _Entry(pattern, "cuda_libraries", f"{package}-{{suffix}}", archive and f"cuda/redist/{archive}", hint, cuda)


_TABLE: tuple[_Entry, ...] = (
    # NVIDIA, CUDA toolkit
    _toolkit(r"libcudart\.so\.(\d[\d.]*)", "cuda-cudart", "cuda_cudart"),
    _toolkit(r"lib(?:cublas|cublasLt|nvblas)\.so\.(\d+)", "libcublas", "libcublas"),
    _toolkit(r"lib(?:nvrtc|nvrtc-builtins)\.so\.(\d[\d.]*)", "cuda-nvrtc", "cuda_nvrtc"),
    _toolkit(r"libcupti\.so\.(\d+)", "cuda-cupti", "cuda_cupti"),
    _toolkit(r"libcusolver(?:Mg)?\.so\.(\d+)", "libcusolver", "libcusolver", _SOLVER),
    _toolkit(r"libcufft(?:w)?\.so\.(\d+)", "cuda-libraries", "libcufft", _PLUS_ONE, _META_HINT),
    _toolkit(r"libcurand\.so\.(\d+)", "cuda-libraries", "libcurand", None, _META_HINT),
    _toolkit(r"libcusparse\.so\.(\d+)", "cuda-libraries", "libcusparse", None, _META_HINT),
    _toolkit(r"libnvJitLink\.so\.(\d+)", "cuda-libraries", "libnvjitlink", hint=_META_HINT),
    _toolkit(r"lib(?:npp\w*|nvjpeg|nvfatbin)\.so\.(\d+)", "cuda-libraries", None, hint=_META_HINT),
    _toolkit(r"libcufile(?:_rdma)?\.so\.(\d+)", "libcufile", "libcufile", None, _CUFILE_HINT),
    # NVIDIA, beside the toolkit
    _Entry(
        r"libcudnn(?:_\w+)?\.so\.9",
        "cuda_libraries",
        "libcudnn9-cuda-{major}",
        "cudnn/redist/cudnn",
        "cuDNN 9.",
    ),
    _Entry(
        r"libnccl\.so\.2",
        "cuda_libraries",
        "libnccl2",
        None,
        "NCCL: NVIDIA's package, whose version ends in +cuda{minor}; Ubuntu has an older one of that name.",
    ),
    _Entry(
        r"(?:libnvshmem_host|nvshmem_\w+)\.so\.3",
        "cuda_libraries",
        "libnvshmem3-cuda-{major}",
        None,
        "NVSHMEM 3.",
    ),
    _Entry(
        r"libcusparseLt\.so\.0",
        "cusparselt",
        "libcusparselt0-cuda-{major}",
        "cusparselt/redist/libcusparse_lt",
        "cuSPARSELt; the package installs it outside the loader's path, and the role adds the entry.",
    ),
    _Entry(
        r"libcudss\.so\.0",
        "math_libraries",
        "libcudss0-cuda-{major}",
        "cudss/redist/libcudss",
        "cuDSS 0.7.1 to 0.8.0; cuDSS 1.0 is libcudss.so.1 and does not satisfy this.",
    ),
    _Entry(
        r"libcudss\.so\.1",
        "math_libraries",
        None,
        "cudss/redist/libcudss",
        "cuDSS 1.0; cuDSS 0.8 and older are libcudss.so.0 and do not satisfy this.",
    ),
    _Entry(
        r"libcudss_(?:comm|mt)layer_\w+\.so(?:\.\d+)*",
        "math_libraries",
        "libcudss0-cuda-{major}",
        "cudss/redist/libcudss",
        "A plug-in that comes with cuDSS.",
    ),
    _Entry(
        r"libnvpl_blas_(?:core|(?:i?lp64)_(?:gomp|seq))\.so\.0",
        "math_libraries",
        "libnvpl-blas0",
        "nvpl/redist/nvpl_blas",
        "NVPL BLAS, which exists only for aarch64.",
        machines=("aarch64",),
    ),
    _Entry(
        r"libnvpl_lapack_(?:core|(?:i?lp64)_(?:gomp|seq))\.so\.0",
        "math_libraries",
        "libnvpl-lapack0",
        "nvpl/redist/nvpl_lapack",
        "NVPL LAPACK, which exists only for aarch64; it needs NVPL BLAS.",
        machines=("aarch64",),
    ),
    # the environment
    _Entry(
        r"lib(?:torch(?:_cpu|_cuda|_cuda_linalg|_python|_global_deps|_nvshmem)?"
        r"|c10|c10_cuda|shm|caffe2_nvrtc)\.so",
        "python_env",
        None,
        None,
        _TORCH_HINT,
    ),
    _Entry(
        r"libarm_compute\w*-[0-9a-f]+\.so|lib\w+-[0-9a-f]{8}\.so(?:\.\d+)*",
        "python_env",
        None,
        None,
        "A copy in the wheel's own .libs directory: reinstall the wheel.",
    ),
    _Entry(
        r"libpython(3\.\d+)\.so\.1\.0",
        "build_toolchain",
        "libpython{0}",
        None,
        "The shared library of Python {0}.",
    ),
    # the distribution: compilers' run-time libraries
    _Entry(r"libgomp\.so\.1", "build_toolchain", "libgomp1", None, "GCC's OpenMP run-time library."),
    _Entry(r"libgcc_s\.so\.1", "build_toolchain", "libgcc-s1", None, "GCC's run-time library."),
    _Entry(r"libstdc\+\+\.so\.6", "build_toolchain", "libstdc++6", None, "GCC's C++ library."),
    _Entry(r"libatomic\.so\.1", "build_toolchain", "libatomic1", None, "GCC's atomic operations."),
    _Entry(r"libgfortran\.so\.5", None, "libgfortran5", None, "GCC's Fortran run-time library."),
    _Entry(
        r"libquadmath\.so\.0",
        None,
        "libquadmath0",
        None,
        "GCC's 128-bit floating point, which exists for x86_64 and not for aarch64.",
        machines=("x86_64", "i686"),
    ),
    _Entry(r"libLLVM\.so\.(\d+)\.\d+", "build_toolchain", "libllvm{0}", None, "LLVM {0}."),
    _Entry(
        r"libomp\.so\.5",
        "build_toolchain",
        None,
        None,
        "LLVM's OpenMP run-time library, of the package libomp5-<LLVM major>.",
    ),
    # the distribution: the rest
    _Entry(
        r"lib(?:c|m|mvec|dl|rt|pthread|util|resolv)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+",
        None,
        "libc6",
        None,
        "The C library itself.",
    ),
    _Entry(r"libz\.so\.1", None, "zlib1g", None, "zlib."),
    _Entry(r"libzstd\.so\.1", None, "libzstd1", None, "Zstandard."),
    _Entry(r"liblzma\.so\.5", None, "liblzma5", None, "XZ."),
    _Entry(r"libbz2\.so\.1\.0", None, "libbz2-1.0", None, "bzip2."),
    _Entry(r"libffi\.so\.8", None, "libffi8", None, "libffi."),
    _Entry(r"lib(?:ssl|crypto)\.so\.3", None, None, None, "OpenSSL 3, libssl3 or libssl3t64 by the release."),
    _Entry(r"libnuma\.so\.1", None, "libnuma1", None, "NUMA policy."),
    _Entry(r"libopenblas\.so\.0", None, "libopenblas0", None, "OpenBLAS."),
    _Entry(r"libibverbs\.so\.1", None, "libibverbs1", None, "RDMA verbs."),
    _Entry(r"librdmacm\.so\.1", None, "librdmacm1", None, "RDMA connection manager."),
    _Entry(r"libmlx5\.so\.1", None, "ibverbs-providers", None, "The user-space part of the ConnectX driver."),
    _Entry(
        r"libmpi(?:_\w+)?\.so\.40",
        None,
        "openmpi-bin",
        None,
        "Open MPI 4 or 5; the package depends on the release's library package.",
    ),
)

# Where NVIDIA's Debian packages and redist archives put libraries that the loader does not find on its own.
# ``{triplet}`` is Debian's multiarch name.
OFF_PATH_DIRECTORIES = (
    "/usr/lib/{triplet}/lib*/[0-9]*",
    "/usr/lib/{triplet}/nvshmem/[0-9]*",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda-[0-9]*/lib64",
    "/usr/local/cuda-[0-9]*/targets/*/lib",
    "/usr/local/lib",
    "/opt/sparkforge/redist/*/current/lib",
)


def is_driver(soname: str) -> bool:
    """Say whether a library is the GPU driver's."""
    return any(fnmatch.fnmatchcase(soname, pattern) for pattern in DRIVER)


def optional_plugin(name: str) -> str | None:
    """Return why a file is an optional plug-in, or None where it is not one."""
    for pattern, reason in OPTIONAL_PLUGINS:
        if fnmatch.fnmatchcase(name, pattern):
            return reason
    return None


def provider(soname: str, machine: str = "aarch64", cuda_version: str | None = None) -> Provider:
    """Return what provides a library.

    :param soname: the name as ``DT_NEEDED`` has it.
    :param machine: ``uname -m`` of the host that needs it.
    :param cuda_version: ``13.0``; packages that carry a CUDA minor in their name are given with ``-13-*``
        without it.
    """
    soname = soname.rpartition("/")[2]
    if is_driver(soname):
        return Provider(
            "driver",
            None,
            None,
            "Part of NVIDIA's driver: install or repair it as the vendor describes; this collection never does.",
        )
    for entry in _TABLE:
        match = re.fullmatch(entry.pattern, soname)
        if not match:
            continue
        if entry.machines and machine not in entry.machines:
            return Provider(
                None,
                None,
                None,
                f"{entry.hint} It does not exist for {machine}: this file is for another machine.",
            )
        groups = match.groups()
        major, minor = _cuda(entry, groups[0] if groups else "", cuda_version)
        values = {
            "suffix": f"{major}-{minor}",
            "major": major,
            "minor": f"{major}.{minor}",
        }
        return Provider(
            entry.role,
            entry.package.format(*groups, **values) if entry.package else None,
            f"{entry.archive}/{platforms.redist(machine)}" if entry.archive and machine in MACHINES else None,
            entry.hint.format(*groups, **values),
        )
    return Provider(
        None,
        None,
        None,
        f"Unknown: no role of this collection installs {soname}; find its package with apt-file search {soname}.",
    )


def _cuda(entry: _Entry, version: str, cuda_version: str | None) -> tuple[str, str]:
    """Return CUDA major and minor; ``*`` for what nothing tells."""
    asked_major, _dot, asked_minor = (cuda_version or "").partition(".")
    told = None
    if entry.cuda is not None:
        told = entry.cuda.get(version) or entry.cuda.get(version.partition(".")[0])
    # The SONAME decides: another CUDA major's package would not satisfy the need.
    major = told or asked_major or "*"
    minor = asked_minor if asked_minor and (told is None or told == asked_major) else "*"
    return major, minor.partition(".")[0]
