"""The role, package and archive that provides each shared library.

The table includes only names that have been observed. If a package's name is unknown, the entry leaves it out; a
library without an entry is reported as unknown.

Sources of the facts: NVIDIA's package names are from ``dpkg -l`` on a DGX Spark and on an Ubuntu 24.04 host with CUDA
13.0, and from recipes that install them. NVIDIA's SONAMEs are from the aarch64 wheels, archives from the redist
manifests, and the distribution's names from Debian 12 and 13 and Ubuntu 24.04.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

from .._core import platforms

# The machines that archives are published for.
MACHINES = ("aarch64", "x86_64")

# Libraries in the vendor's driver, which this collection checks but never installs.
DRIVER = ("libcuda.so.1", "libnvidia-*.so.*", "libcudadebugger.so.1", "libnvcuvid.so.1", "libnvoptix.so.1")
# Libraries that may be attributed to the driver if there is no GPU: CUDA builds of PyTorch link to them.
DRIVER_SONAMES = ("libcuda.so.1", "libnvidia-ml.so.1")

# The hash that auditwheel adds to the name of a library that it copies into a wheel.
COPY = re.compile(r"-[0-9a-f]{8}\.so")

# Files that a library opens with dlopen only for an optional feature: their missing dependencies are not a failure of
# the directory that contains them.
OPTIONAL_PLUGINS: tuple[tuple[str, str], ...] = (
    ("libcudss_commlayer_*.so*", "cuDSS opens its communication layer only for multi-node solves"),
    ("libcudss_mtlayer_*.so*", "cuDSS opens its threading layer only when the program sets one"),
    ("nvshmem_bootstrap_*.so*", "NVSHMEM opens only the configured bootstrap plug-in"),
    ("nvshmem_transport_*.so*", "NVSHMEM opens the transports that the host has"),
    ("libcufile_rdma.so*", "cuFile opens it only for GPUDirect RDMA"),
)


@dataclass(frozen=True)
class Provider:
    """The provider of a library.

    :ivar role: the role in this collection, ``driver`` for the vendor's driver, or None.
    :ivar package: the apt package, or None if its name is unknown.
    :ivar archive: ``<product>/redist/<component>/<platform>`` in NVIDIA's download tree, or None.
    :ivar hint: one sentence for the user.
    """

    role: str | None = None
    package: str | None = None
    archive: str | None = None
    hint: str = ""

    @property
    def remedy(self) -> str:
        """The remedy for a missing library, in one sentence."""
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

    In a package name, ``{suffix}`` stands for the CUDA version with dashes (``13-0``), ``{major}`` for the CUDA major
    version, and ``{0}`` for the first group of the pattern. ``cuda`` maps the SONAME version to the CUDA major version;
    it is None if the SONAME does not determine it.
    """

    pattern: str
    role: str | None
    package: str | None
    archive: str | None
    hint: str
    cuda: dict[str, str] | None = None
    machines: tuple[str, ...] = ()


# SONAME version -> CUDA major version, for libraries with CUDA's own major version in their SONAME.
_SAME = {"11.0": "11", "12": "12", "13": "13"}
_PLUS_ONE = {"10": "11", "11": "12", "12": "13"}  # cuFFT
_SOLVER = {"11": "12", "12": "13"}

_CUDA_HINT = "Part of the CUDA {major} toolkit."
_META_HINT = "Part of the CUDA {major} runtime libraries; the package is their metapackage."
_CUFILE_HINT = "GPUDirect Storage's library; it loads without its kernel module."
_TORCH_HINT = "Part of PyTorch itself: the environment's wheel is incomplete or has another version."


def _toolkit(  # pylint: disable=dangerous-default-value
    pattern: str, package: str, archive: str | None, cuda: dict[str, str] | None = _SAME, hint: str = _CUDA_HINT
) -> _Entry:
    """Return the row for a library in the CUDA toolkit, whose package names contain the CUDA version."""
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
    # NVIDIA, outside the toolkit
    _Entry(r"libcudnn(?:_\w+)?\.so\.9", "cuda_libraries", "libcudnn9-cuda-{major}", "cudnn/redist/cudnn", "cuDNN 9."),
    _Entry(
        r"libnccl\.so\.2",
        "cuda_libraries",
        "libnccl2",
        None,
        "NCCL: NVIDIA's package, whose version ends in +cuda{minor}; Ubuntu has an older one of that name.",
    ),
    _Entry(r"(?:libnvshmem_host|nvshmem_\w+)\.so\.3", "cuda_libraries", "libnvshmem3-cuda-{major}", None, "NVSHMEM 3."),
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
        rf"libarm_compute\w*-[0-9a-f]+\.so|lib\w+{COPY.pattern}(?:\.\d+)*",
        "python_env",
        None,
        None,
        "Only the wheel itself can contain this copy: reinstall it, or use another build.",
    ),
    _Entry(
        r"libpython(3\.\d+)\.so\.1\.0", "build_toolchain", "libpython{0}", None, "The shared library of Python {0}."
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
    _Entry(
        r"libav(?:(?:codec|format|device)\.so\.60|util\.so\.58|filter\.so\.9)|libsw(?:scale\.so\.7|resample\.so\.4)",
        None,
        "ffmpeg",
        None,
        "FFmpeg 6, Ubuntu 24.04's package ffmpeg.",
    ),
    _Entry(r"lib(?:av|sw)[a-z]+\.so\.\d+", None, None, None, "Another FFmpeg than 6, Ubuntu 24.04's package ffmpeg."),
)

# Directories of NVIDIA's Debian packages and redist archives that the loader does not search by default. ``{triplet}``
# is Debian's multiarch name.
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
    """Tell whether a library belongs to the GPU driver."""
    return any(fnmatch.fnmatchcase(soname, pattern) for pattern in DRIVER)


def optional_plugin(name: str) -> str | None:
    """Return why a file is an optional plug-in, or None if it is not."""
    for pattern, reason in OPTIONAL_PLUGINS:
        if fnmatch.fnmatchcase(name, pattern):
            return reason
    return None


def provider(soname: str, machine: str = "aarch64", cuda_version: str | None = None) -> Provider:
    """Return the provider of a library.

    :param soname: the name in ``DT_NEEDED``.
    :param machine: ``uname -m`` of the host that needs it.
    :param cuda_version: for example ``13.0``; without it, packages with a CUDA version in their name get ``-13-*``.
    """
    soname = soname.rpartition("/")[2]
    if is_driver(soname):
        hint = "Part of NVIDIA's driver: install or repair it as NVIDIA describes. This collection never does."
        return Provider("driver", hint=hint)
    for entry in _TABLE:
        match = re.fullmatch(entry.pattern, soname)
        if not match:
            continue
        if entry.machines and machine not in entry.machines:
            hint = f"{entry.hint} It does not exist for {machine}: this file is for another machine."
            return Provider(hint=hint)
        groups = match.groups()
        major, minor = _cuda(entry, groups[0] if groups else "", cuda_version)
        values = {"suffix": f"{major}-{minor}", "major": major, "minor": f"{major}.{minor}"}
        return Provider(
            entry.role,
            entry.package.format(*groups, **values) if entry.package else None,
            f"{entry.archive}/{platforms.redist(machine)}" if entry.archive and machine in MACHINES else None,
            entry.hint.format(*groups, **values),
        )
    hint = f"Unknown: no role of this collection installs {soname}; find its package with apt-file search {soname}."
    return Provider(hint=hint)


def _cuda(entry: _Entry, version: str, cuda_version: str | None) -> tuple[str, str]:
    """Return the CUDA major and minor version, with ``*`` for an unknown part."""
    asked_major, _dot, asked_minor = (cuda_version or "").partition(".")
    soname_major = None
    if entry.cuda is not None:
        soname_major = entry.cuda.get(version) or entry.cuda.get(version.partition(".")[0])
    # The SONAME takes precedence: a package for another CUDA major version would not satisfy the dependency.
    major = soname_major or asked_major or "*"
    minor = asked_minor if asked_minor and (soname_major is None or soname_major == asked_major) else "*"
    return major, minor.partition(".")[0]
