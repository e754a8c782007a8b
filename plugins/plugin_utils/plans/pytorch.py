# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""The plan of the role pytorch: environment, edits and expectations of the build, with every library at its path.

What PyTorch's build would ignore, drop in silence or turn into wrong kernels is refused, all at once, with what to
write instead. Nothing is read from the host but the observation.
"""

from __future__ import annotations

import fnmatch
import re
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.deb_version import compare_versions
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import platforms
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.versions import numbers
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import Plan
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans.units import platform_of, units

LIBRARIES = ("cudnn", "nccl", "cufile", "cusparselt", "cudss")
BLAS = ("NVPL", "OpenBLAS", "MKL", "Eigen")
FIXES = ("rowwise_121a", "fermi_token", "attention_guard")

#: MiB. One nvcc of the attention kernels was seen to take 5.3 GB (pytorch#130443).
MEMORY_PER_JOB = 5428
#: MiB, of the tree, its objects and the wheel.
FREE_SPACE = 40960
#: The first release whose memory-efficient attention takes 12.1: the header cutlassF.h in the wheels of 2.11.0 ends at
#: `cc <= 120`, those of 2.12.0 and later at `cc <= 121` (read in the wheels; pytorch#176243).
GUARD_LIFTED = (2, 12)
#: From here on the build clones NCCL unless it is told to use the host's (tools/build_pytorch_libs.py).
NCCL_CLONED = (2, 7)
#: From here on Eigen is no submodule either (tools/optional_submodules.py clones it).
EIGEN_CLONED = (2, 8)
#: setup.py is gone, and scikit-build-core calls CMake (the wheels' generator; pytorch#189758).
SCIKIT_BUILD = (2, 14)

_CAPABILITY = re.compile(r"\d{1,2}\.\d[af]?(\+PTX)?")
_TRUE = ("1", "on", "yes", "true", "y")
_FALSE = ("0", "off", "no", "false", "n", "")

#: What never does what its writer wants: (reason, what to do). Sources: PyTorch 2.9.1's CMakeLists.txt, setup.py,
#: cmake/Dependencies.cmake and cmake/public/cuda.cmake; the last of them was run with CUDAARCHS=12.1.
_REFUSED: dict[str, tuple[str, str]] = {
    "CUDAARCHS": (
        "CMake stops at a value like 12.1 (it wants integers), and PyTorch ignores what CMake takes",
        "set pytorch_architectures instead",
    ),
    "CMAKE_CUDA_ARCHITECTURES": (
        "PyTorch ignores it with a warning and takes TORCH_CUDA_ARCH_LIST",
        "set pytorch_architectures instead",
    ),
    "TORCH_CUDA_ARCH_LIST": ("the role sets it, always", "set pytorch_architectures instead"),
    "CUDA_ARCH_NAME": ("PyTorch no longer uses it", "set pytorch_architectures instead"),
    "USE_CUBLAS": ("PyTorch has no such option: cuBLAS is always linked", "remove it"),
    "USE_SYSTEM_LIBS": (
        "it swaps the submodules of the tag for whatever versions the host has",
        "remove it, or name the libraries that the host has (USE_SYSTEM_SLEEF, USE_SYSTEM_ONNX …); NCCL is one of them",
    ),
    "USE_NIGHTLY": ("it downloads a finished wheel instead of building, and checks no hash", "remove it"),
    "NVCC_FLAGS_EXTRA": (
        "PyTorch's CMake sets a variable of that name itself and reads none from the environment",
        "set pytorch_architectures for -gencode flags",
    ),
    "DEBUG_CUDA": ("it is an option of CMake that no version takes from the environment", "remove it"),
    "CMAKE_INSTALL_PREFIX": ("PyTorch's build sets it and stops where somebody else does", "remove it"),
    "CMAKE_ONLY": ("it configures and builds nothing, and 2.14 dropped it", "remove it"),
    "CMAKE_FRESH": ("a changed input begins with an empty tree here, and 2.14 dropped it", "set pytorch_rebuild"),
    "PYTORCH_BUILD_VERSION": ("the role sets it, with a local version", "set pytorch_local_version instead"),
    "PYTORCH_BUILD_NUMBER": (
        "above 1 it appends .post to the local version, which makes another version of it",
        "set pytorch_local_version instead",
    ),
    "BUILD_PYTHON_ONLY": ("it builds a wheel without the libraries", "remove it"),
    "BUILD_LIBTORCH_WHL": ("it builds a wheel without Python's part", "remove it"),
}

#: (name, first release that no longer knows it, what to write). From PyTorch's cmake/EnvVarForwarding.cmake, which took
#: setup.py's place, beside the list in 2.9.1's tools/setup_helpers/cmake.py; USE_MSLK: pytorch#171903 of January 2026,
#: after 2.10 was branched.
_RENAMED: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("USE_FBGEMM_GENAI", (2, 11), "USE_MSLK is its new name"),
    ("USE_NINJA", SCIKIT_BUILD, "CMAKE_GENERATOR=Ninja takes its place"),
    ("MIOPEN_LIB_DIR", SCIKIT_BUILD, "MIOPEN_PATH takes its place"),
    ("MIOPEN_INCLUDE_DIR", SCIKIT_BUILD, "MIOPEN_PATH takes its place"),
    ("MIOPEN_LIBRARY", SCIKIT_BUILD, "MIOPEN_PATH takes its place"),
    ("JAVA_HOME", SCIKIT_BUILD, "nothing takes its place; remove it"),
    ("PYTHON_LIB_REL_PATH", SCIKIT_BUILD, "nothing takes its place; remove it"),
    ("BUILD_CUSTOM_STEP", SCIKIT_BUILD, "nothing takes its place; remove it"),
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

#: What turns verification off, as seeds/003's wget --no-check-certificate does.
_UNVERIFIED = re.compile(r"--no-check-certificate|--insecure\b|--trusted-host|sslverify=false", re.IGNORECASE)
_UNVERIFIED_NAMES = frozenset({"GIT_SSL_NO_VERIFY", "PIP_TRUSTED_HOST", "PYTHONHTTPSVERIFY"})


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the unit, or every problem of the settings, the stack and the host's libraries.

    :raises SparkforgeError: for a unit that cannot be put together.
    """
    if settings["pytorch_state"] == "absent":
        return Plan()
    stack = settings["stack"]
    platform = platform_of(stack, observation)
    # Of a stack that names no unit pytorch there is nothing to add to.
    of_stack = {"pytorch": stack["units"].get("pytorch") or {}}
    of_user = {"pytorch": settings["pytorch_unit"]}
    names = ("architectures", "cuda", "libraries", "blas", "compute_library", "fixes", "local_version", "version")
    build = Build(
        stack,
        observation,
        {
            **{name: settings[f"pytorch_{name}"] for name in names},
            "root": settings["sparkforge_root"],
            "unit": units(["pytorch"], [of_stack, of_user], platform)[0],
            "known_fixes": settings["__pytorch_known_fixes"],
        },
    )
    build.make()
    layers = [
        {"pytorch": build.unit_of_role},
        of_stack,
        of_user,
        {"pytorch": {"toolchain": settings["pytorch_toolchain"]}},
    ]
    refusals = [{"cause": problem, "remedy": ""} for problem in build.problems]
    if build.missing and not settings["ansible_check_mode"]:
        cause = f"This host does not show {'; '.join(build.missing)}. CMake would leave it out and go on."
        refusals.append({"cause": cause, "remedy": "Run the role named, or take the library out of pytorch_libraries."})
    wanted = [] if build.problems else units(["pytorch"], layers, platform, settings.get("sparkforge_built"))
    return Plan({"units": wanted, "missing": build.missing}, refusals=refusals, notes=build.notes)


class Build:
    """One build on one host, worked out step by step; ``problems`` collects what is wrong with it."""

    def __init__(
        self, stack: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any], settings: t.Mapping[str, t.Any]
    ) -> None:
        self.stack = stack
        self.settings = settings
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.missing: list[str] = []
        self.root = str(settings.get("root") or "/opt/sparkforge").rstrip("/")
        self.version = str(settings.get("version") or stack["versions"]["torch"])
        # A commit may begin with digits as well.
        self.release = numbers(self.version) if "." in self.version else ()
        self.cuda = bool(settings["cuda"])
        self.machine = str(observation["kernel"]["machine"])
        self.multiarch = f"{self.machine}-linux-gnu"
        self.packages: t.Mapping[str, str] = observation["apt"]["packages"]
        self.loader: t.Mapping[str, str] = (observation.get("loader") or {}).get("libraries") or {}
        self.toolkits: t.Sequence[t.Mapping[str, t.Any]] = observation.get("cuda_toolkits") or []
        self.devices: t.Sequence[t.Mapping[str, t.Any]] = (observation.get("gpu") or {}).get("devices") or []
        #: What stack and user say of the unit.
        self.unit: t.Mapping[str, t.Any] = settings.get("unit") or {}
        self.given: dict[str, str] = {}
        self.toolkit = ""
        self.environment: dict[str, str] = {}
        self.edits: list[dict[str, t.Any]] = []
        self.architectures: list[str] = []
        self.libraries: list[str] = []  # SONAMEs that something must be linked with
        self.against: dict[str, dict[str, str]] = {}  # the host's libraries, as the unit's option libraries has them
        self.cache: dict[str, str] = {}
        self.unit_of_role: dict[str, t.Any] = {}

    def make(self) -> None:
        """Work out ``unit_of_role``, what is missing and what is wrong."""
        self._check_stack()
        self.given = self._given()
        self._options()
        if self.cuda:
            self._cuda()
            self._libraries()
        self._blas()
        self._fixes()
        self._version()
        self.unit_of_role = {
            "kind": "wheel",
            "edits": self.edits,
            "environment": dict(sorted({**self.environment, **self.given}.items())),
            "expect": self._expect(),
            "toolchain": {"nvcc": f"{self.toolkit}/bin/nvcc"} if self.cuda else {},
            "minimum": self._minimum(),
            "libraries": self.against,
            "memory_per_job": MEMORY_PER_JOB,
            "free_space": FREE_SPACE,
        }

    # --- what was asked for ------------------------------------------------------------------------------------

    def _check_stack(self) -> None:
        if not self.release:
            self.problems.append(
                f"{self.version!r} is not a version of PyTorch: set pytorch_version, for example 2.9.1."
            )
        for name in self.settings.get("libraries") or []:
            if name not in LIBRARIES:
                self.problems.append(
                    f"pytorch_libraries names {name}, which is none of {', '.join(LIBRARIES)}: take it out."
                )
        for name in self.settings.get("fixes") or {}:
            if name not in FIXES:
                self.problems.append(f"pytorch_fixes names {name}, which is none of {', '.join(FIXES)}: take it out.")

    def _given(self) -> dict[str, str]:
        """Return the variables of stack and user as text, after refusing what would not do what it says."""
        given: dict[str, str] = {}
        for key, value in (self.unit.get("environment") or {}).items():
            if value is None:
                continue
            # YAML makes a boolean of `yes`; builds know 1 and 0.
            text = str(int(value)) if isinstance(value, bool) else str(value)
            given[str(key)] = text
            refusal = self._refusal(str(key), text)
            if refusal:
                self.problems.append(f"The environment of the unit pytorch has {key}={text}: {refusal}.")
            elif self.release >= SCIKIT_BUILD and not _reaches(str(key)):
                self.notes.append(f"{key} reaches nothing: from 2.14 on only known variables go to CMake.")
        if self.release < (2, 11) and self.cuda and _true(given.get("USE_FBGEMM_GENAI")):
            self.notes.append("USE_FBGEMM_GENAI=1 has no effect: with CUDA this release builds it for 10.0a alone.")
        return given

    def _refusal(self, key: str, value: str) -> str:
        if key in _REFUSED:
            reason, remedy = _REFUSED[key]
            return f"{reason}; {remedy}"
        for name, since, remedy in _RENAMED:
            if key == name and self.release >= since:
                return f"PyTorch {_text(since)} and newer do not know it; {remedy}"
        for name, since, before in _TOO_NEW:
            if key == name and self.release < since:
                return f"PyTorch older than {_text(since)} does not know it; it is {before} there"
        if key in _UNVERIFIED_NAMES or _UNVERIFIED.search(value):
            return (
                "it turns the verification of TLS off, as --no-check-certificate does; "
                "give the CA in sparkforge_ca_certificate instead"
            )
        if key == "TORCH_NVCC_FLAGS" and re.search(r"gencode|-arch\b|sm_\d|compute_\d", value):
            return "it adds an architecture behind the list's back; set pytorch_architectures instead"
        if key == "CMAKE_LIBRARY_PATH" and re.search(r"/include/?($|[:;])", value):
            return "an include directory holds no libraries; name the directory of the libraries"
        if key == "USE_CUDA" and _true(value) != self.cuda:
            return f"set pytorch_cuda: {str(not self.cuda).lower()} instead, which the rest follows"
        if key == "USE_SYSTEM_NCCL" and not _true(value) and self._asks_for("nccl") and self.release >= NCCL_CLONED:
            return (
                "NCCL is not a submodule of PyTorch 2.7 and newer, whose build clones it, checked by no hash; "
                "remove it for the host's NCCL, or take nccl out of pytorch_libraries"
            )
        if key in ("BLAS", "WITH_BLAS"):
            return "set pytorch_blas instead, which finds its files"
        if key == "PYTORCH_ROCM_ARCH" or (key == "USE_ROCM" and _true(value)):
            return "this role builds for CUDA; remove it"
        return ""

    # --- the environment ---------------------------------------------------------------------------------------

    def _options(self) -> None:
        """What is neither a library nor an architecture. Every option that CMake would decide by what it happens to
        find on the host is said."""
        cuda = "1" if self.cuda else "0"
        arm = self.machine == "aarch64"
        self.environment.update(
            {
                "USE_CUDA": cuda,
                "USE_ROCM": "0",
                "USE_XPU": "0",
                "USE_DISTRIBUTED": "1",
                "USE_TENSORPIPE": "1",
                "USE_GLOO": "1",
                "USE_MPI": "0",
                "USE_NVSHMEM": "0",
                "USE_MAGMA": "0",
                "USE_NUMA": "0",
                "USE_NUMPY": "1",
                "USE_FLASH_ATTENTION": cuda,
                "USE_MEM_EFF_ATTENTION": cuda,
                # FBGEMM is for x86-64; elsewhere CMake turns it off with a warning.
                "USE_FBGEMM": "0" if arm else "1",
                "BUILD_TEST": "0",
            }
        )
        if arm:
            self.environment["USE_PRIORITIZED_TEXT_FOR_LD"] = "1"
            if _true(self.given.get("USE_FBGEMM") or "0"):
                self.notes.append(
                    "USE_FBGEMM=1 has no effect: PyTorch turns it off on aarch64, where FBGEMM does not run."
                )
        self._onednn(arm)

    def _onednn(self, arm: bool) -> None:
        """oneDNN, which CMake turns on by itself on x86-64 alone.

        On aarch64 it computes with Arm's Compute Library. Without that, the oneDNN of these releases has little but
        reference kernels for vectors of 128 bit, which a GB10 has (oneDNN#3363): slower than what PyTorch does itself.
        """
        library = str(self.settings.get("compute_library") or "").rstrip("/")
        if library and not arm:
            self.problems.append(
                f"pytorch_compute_library is {library}, which is for aarch64 and not for {self.machine}:"
                " leave it empty."
            )
        self.environment["USE_MKLDNN"] = "1" if library or not arm else "0"
        if arm:
            self.environment["USE_MKLDNN_ACL"] = "1" if library else "0"
        if library:
            # Two readers: PyTorch's ComputeLibrary.cmake and oneDNN's FindACL.cmake, which stops where it finds none.
            self.environment["ACL_ROOT_DIR"] = library
        wanted = {
            name: _true(self.given.get(name) or self.environment.get(name) or "0")
            for name in ("USE_MKLDNN", "USE_MKLDNN_ACL")
        }
        # CMake turns it off where its source is not there, and goes on.
        self.cache.update({name: "ON" for name, on in wanted.items() if on})
        if arm and not wanted["USE_MKLDNN"]:
            self.notes.append(
                "oneDNN is left out: on aarch64 it needs Arm's Compute Library, which pytorch_compute_library names."
                " Official wheels have both; without them products of 16 bit and convolutions are slower on the CPU."
            )

    def _cuda(self) -> None:
        wanted = str(self.stack["cuda"]["version"])
        self.toolkit = str(self.stack["cuda"].get("home") or f"/usr/local/cuda-{wanted}")
        for found in self.toolkits:
            # A directory of libraries alone has a version too.
            if found.get("nvcc") and re.match(rf"{re.escape(wanted)}(\.|$)", str(found["version"])):
                self.toolkit = str(found["path"])
                break
        else:
            self.missing.append(f"nvcc {wanted} (role cuda_libraries)")
        self.environment.update(
            {
                # Three readers: PyTorch's Python, its FindCUDA (which does not know CUDA_HOME), and CMake's own.
                "CUDA_HOME": self.toolkit,
                "CUDA_PATH": self.toolkit,
                "CUDACXX": f"{self.toolkit}/bin/nvcc",
            }
        )
        self.architectures = self._architectures()
        if self.architectures:
            self.environment["TORCH_CUDA_ARCH_LIST"] = ";".join(self.architectures)

    def _architectures(self) -> list[str]:
        text = str(self.settings.get("architectures") or self.stack["profile"].get("architectures") or "")
        if not text:
            found = sorted({str(row["compute_capability"]) for row in self.devices if row.get("compute_capability")})
            if "12.1" in found:
                self.notes.append(
                    "The GPU is of 12.1 and the list is 12.0, which it runs: see roles/pytorch/README.md."
                )
                found = sorted({"12.0" if item == "12.1" else item for item in found})
            text = ";".join(found)
        if not text:
            self.problems.append(
                "No CUDA architecture is known: PyTorch would guess, and it makes compute_20 of a 12.1. "
                "Set pytorch_architectures, for example 12.0, or stack_profile."
            )
            return []
        listed = list(dict.fromkeys(re.split(r"[\s;,]+", text.strip(" \t\n;,"))))
        for item in listed:
            if not _CAPABILITY.fullmatch(item):
                number = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})([af]?)", item)
                hint = f"{number[1][:-1]}.{number[1][-1]}{number[2]}" if number else "12.0"
                self.problems.append(
                    f"pytorch_architectures has {item}, which is not a compute capability: write it as {hint}."
                )
        return listed

    def _libraries(self) -> None:
        for name in LIBRARIES:
            option = f"USE_{name.upper()}"
            on = self._asks_for(name)
            self.environment[option] = "1" if on else "0"
            if on:
                getattr(self, f"_{name}")()
        major = self.stack["cuda"]["major"]
        self.libraries += [f"libcudart.so.{major}", f"libcublas.so.{major}"]
        self.cache["USE_CUDA"] = "ON"

    def _asks_for(self, name: str) -> bool:
        """The user's own word counts: what is off is neither looked for nor expected."""
        word = (self.unit.get("environment") or {}).get(f"USE_{name.upper()}")
        if word is None:
            return self.cuda and name in (self.settings["libraries"] or [])
        return _true(word)

    def _cudnn(self) -> None:
        package = f"libcudnn9-dev-cuda-{self.stack['cuda']['major']}"
        self._need("cuDNN", package, "libcudnn.so.*", "cuda_libraries")
        self._against("cudnn", "cuDNN", package)
        # A hint that comes before all other directories: NVIDIA's packages have the headers beside the libraries'.
        self.environment.update(
            {"CUDNN_INCLUDE_DIR": f"/usr/include/{self.multiarch}", "CUDNN_LIBRARY": f"/usr/lib/{self.multiarch}"}
        )
        self.libraries.append("libcudnn.so.*")
        self.cache["USE_CUDNN"] = "ON"

    def _nccl(self) -> None:
        self.cache["USE_NCCL"] = "ON"
        if not _true(self.given.get("USE_SYSTEM_NCCL") or "1"):
            return  # the submodule's, linked statically
        self._against("nccl", "NCCL", "libnccl-dev")
        self._need("NCCL", "libnccl-dev", "libnccl.so.*", "cuda_libraries")
        self.environment.update(
            {"USE_SYSTEM_NCCL": "1", "NCCL_INCLUDE_DIR": "/usr/include", "NCCL_LIB_DIR": f"/usr/lib/{self.multiarch}"}
        )
        self.libraries.append("libnccl.so.*")
        self.cache["USE_SYSTEM_NCCL"] = "ON"

    def _cufile(self) -> None:
        # A part of the toolkit, which CMake finds there; it stops where it does not.
        self._need("cuFile", f"libcufile-dev-{self.stack['cuda']['suffix']}", "libcufile.so.*", "cuda_libraries")
        self.libraries.append("libcufile.so.*")
        self.cache["USE_CUFILE"] = "ON"

    def _cusparselt(self) -> None:
        row = self.stack["cusparselt"]
        self._against("cusparselt", "cuSPARSELt", f"libcusparselt0-dev-cuda-{self.stack['cuda']['major']}")
        self._place(
            "CUSPARSELT",
            "cuSPARSELt",
            "cusparselt",
            row["soname"],
            row.get("archive"),
            "libcusparseLt",
            "libcusparselt0",
        )
        self.cache["USE_CUSPARSELT"] = "ON"

    def _cudss(self) -> None:
        archive = self._archive("libcudss")
        soname = (archive or {}).get("soname") or "libcudss.so.0"
        # USE_CUDSS itself stays 1 in the cache where cuDSS was dropped (2.9.1 sets a variable over it), so that
        # the path that CMake found, and the linked SONAME, are what tells.
        self._place("CUDSS", "cuDSS", "math_libraries", soname, archive, "libcudss", "libcudss0")

    def _place(
        self,
        variable: str,
        title: str,
        role: str,
        soname: str,
        archive: t.Mapping[str, t.Any] | None,
        directory: str,
        package: str,
    ) -> None:
        """Say where a library lies whose packages keep it out of the compiler's way.

        NVIDIA's packages have it in ``<directory>/<CUDA major>`` below /usr/include and /usr/lib/<multiarch>, the
        archives below ``<root>/redist``. ``_ROOT`` comes before the host's own directories, ``_LIBRARY`` after them.
        """
        major = self.stack["cuda"]["major"]
        loaded = str(self.loader.get(soname) or "")
        by_package = f"{package}-dev-cuda-{major}" in self.packages
        by_archive = loaded.startswith(f"{self.root}/") or (not by_package and self._for_this_machine(archive))
        if by_archive and archive:
            prefix = self._prefix(archive)
            self.environment.update(
                {
                    f"{variable}_ROOT": prefix,
                    f"{variable}_INCLUDE_DIR": f"{prefix}/include",
                    f"{variable}_LIBRARY": f"{prefix}/lib",
                }
            )
            self.cache[f"{variable}_LIBRARY_PATH"] = f"{prefix}/lib/{soname.split('.so')[0]}.so"
            if not loaded:
                self.missing.append(f"{title}, {soname} (role {role})")
        else:
            self.environment.update(
                {
                    f"{variable}_INCLUDE_DIR": f"/usr/include/{directory}/{major}",
                    f"{variable}_LIBRARY": f"/usr/lib/{self.multiarch}/{directory}/{major}",
                }
            )
            self.cache[f"{variable}_LIBRARY_PATH"] = f"*/{soname.split('.so')[0]}.so"
            if not by_package:
                self.missing.append(f"{title}, {package}-dev-cuda-{major} (role {role})")
        self.libraries.append(soname)

    def _blas(self) -> None:
        chosen = str(self.settings.get("blas") or ("NVPL" if self.machine == "aarch64" else "OpenBLAS"))
        if chosen not in BLAS:
            self.problems.append(f"pytorch_blas is {chosen}: choose {' or '.join(BLAS)}.")
            return
        self.environment["BLAS"] = chosen
        if chosen == "Eigen" and self.release >= EIGEN_CLONED:
            self._eigen()
        if chosen == "OpenBLAS":
            if not any(fnmatch.fnmatchcase(name, "libopenblas*-dev") for name in self.packages):
                self.missing.append("OpenBLAS, libopenblas-dev (build_toolchain_extra_packages)")
            self.libraries.append("libopenblas*.so.*")
        elif chosen == "MKL" and self.machine != "x86_64":
            self.problems.append(
                f"pytorch_blas is MKL, which Intel makes for x86-64 and not for {self.machine}: set NVPL."
            )
        elif chosen == "NVPL":
            self._nvpl()

    def _eigen(self) -> None:
        if "libeigen3-dev" in self.packages:
            self.environment["USE_SYSTEM_EIGEN_INSTALL"] = "1"
        else:
            self.notes.append(
                "BLAS=Eigen wants third_party/eigen, which is not a submodule of this release: without it in the source"
                " the build fails or clones it, checked by no hash. libeigen3-dev (build_toolchain_extra_packages)"
                " takes its place; pytorch_blas OpenBLAS is faster."
            )

    def _nvpl(self) -> None:
        prefixes = []
        for component in ("nvpl_blas", "nvpl_lapack"):
            archive = self._archive(component)
            if not archive or not self._for_this_machine(archive):
                self.problems.append(
                    f"BLAS=NVPL needs the archive {component}, which the stack does not pin for {self.machine}: "
                    "set pytorch_blas to OpenBLAS, or add the archive to the stack."
                )
                continue
            prefix = self._prefix(archive)
            prefixes.append(prefix)
            # CMake's package files of NVPL; the wheels on the index have none.
            self.environment[f"{component.upper()}_ROOT"] = prefix
            self.libraries.append(archive["soname"])
            if not self.loader.get(archive["soname"]):
                self.missing.append(f"NVPL, {archive['soname']} (role math_libraries)")
        if prefixes:
            # With a semicolon: PyTorch appends it to a CMake list.
            self.environment["CMAKE_PREFIX_PATH"] = ";".join(prefixes)

    def _against(self, name: str, title: str, package: str) -> None:
        """Say which version the stack asks for and which the host has, and refuse an older one.

        The packages' names have the SONAME, so that a newer one serves as well: compiled against, and recorded.
        """
        asked = str((self.stack.get(name) or {}).get("version") or "")
        found = self.packages.get(package, "")
        self.against[name] = {key: text for key, text in (("version", asked), ("found", found)) if text}
        if not asked or not found:
            return
        if compare_versions(found, asked) < 0:
            self.missing.append(f"{title} {asked} or newer, it has {package} {found} (role cuda_libraries)")
        elif numbers(found)[:2] != numbers(f"{asked}.0")[:2]:
            self.notes.append(
                f"{title} {found} is newer than the stack's {asked} and has its SONAME: it is compiled against."
            )

    def _need(self, title: str, package: str, soname: str, role: str) -> None:
        if package not in self.packages and not any(fnmatch.fnmatchcase(name, soname) for name in self.loader):
            self.missing.append(f"{title}, {package} (role {role})")

    def _archive(self, component: str) -> t.Mapping[str, t.Any] | None:
        rows = [row for row in self.stack.get("archives") or [] if row.get("component") == component]
        return rows[0] if rows else None

    def _for_this_machine(self, archive: t.Mapping[str, t.Any] | None) -> bool:
        return bool(archive) and platforms.redist(self.machine) in (archive.get("sha256") or {})  # type: ignore[union-attr]

    def _prefix(self, archive: t.Mapping[str, t.Any]) -> str:
        """Return the versioned directory, never ``current``: a wheel keeps the version that it was linked with."""
        variant = f"-{archive['variant']}" if archive.get("variant") else ""
        return f"{self.root}/redist/{archive['component']}/{archive['version']}{variant}"

    # --- our own edits -----------------------------------------------------------------------------------------

    def _fixes(self) -> None:
        asked = {**dict.fromkeys(FIXES, True), "attention_guard": "auto", **(self.settings.get("fixes") or {})}
        known = self.settings.get("known_fixes") or {}
        risky = any(item.startswith("12.1") for item in self.architectures)
        needed = risky and self.release < GUARD_LIFTED and _true(self.given.get("USE_MEM_EFF_ATTENTION") or "1")
        for name in FIXES:
            versions = (known.get(name) or {}).get("versions") or []
            wanted = needed if str(asked[name]).lower() == "auto" else _true(asked[name])
            if not wanted or not self.cuda:
                continue
            if self.version in versions:
                self.edits += _expanded(name, known[name]["edits"])
            elif (2, 9) <= self.release < GUARD_LIFTED:
                self.notes.append(
                    f"The fix {name} was tried on {', '.join(versions)}, not on {self.version}: left out."
                )
        others = [*(self.unit.get("edits") or []), *(self.unit.get("patches") or [])]
        names = {str(item.get("name")) for item in [*self.edits, *others] if isinstance(item, t.Mapping)}
        if needed and "attention_guard" not in names:
            self.problems.append(
                f"pytorch_architectures is {';'.join(self.architectures)}, and for 12.1 the memory-efficient attention"
                f" of PyTorch {self.version} compiles to an empty body: wrong numbers and no error. Set it to 12.0,"
                " whose code a GPU of 12.1 runs, or let pytorch_fixes have attention_guard (known for 2.9.1)."
            )

    # --- version, requirements, expectations -------------------------------------------------------------------

    def _version(self) -> None:
        """Say the wheel's version: one that differs from the index's and from that of other inputs.

        ``+cu130`` comes first, for there are programs that look for it. ``{digest}`` is put in by ``units``; the
        letters before it keep a digest of digits alone from being read as a number.
        """
        cuda = f"cu{str(self.stack['cuda']['version']).replace('.', '')}" if self.cuda else "cpu"
        local = str(self.settings.get("local_version") or f"{cuda}.sf{{digest}}")
        if not re.fullmatch(r"[a-z0-9]+(\.[a-z0-9]+)*", local.replace("{digest}", "0")):
            self.problems.append(
                f"pytorch_local_version is {local}: use lower-case letters and digits, in parts with '.' between them."
            )
        self.environment["PYTORCH_BUILD_VERSION"] = f"{self.version.split('+', maxsplit=1)[0]}+{local}"
        self.environment["PYTORCH_BUILD_NUMBER"] = "1"

    def _minimum(self) -> dict[str, str]:
        """Return the oldest tools: PyTorch's CMakeLists.txt, pyproject.toml and cmake/public/cuda.cmake."""
        tools = {"cmake": "3.27", "cxx": "9.3"}
        if self.cuda:
            tools["nvcc"] = "12.0" if self.release < (2, 15) else "12.6"
        return tools

    def _expect(self) -> dict[str, t.Any]:
        """Return what must be in the wheel: what CMake does not find it leaves out, and goes on."""
        files = ["torch/lib/libtorch_cpu.so", "torch/lib/libtorch_python.so"]
        if "USE_MKLDNN" in self.cache:
            # Linked statically: what shows in the wheel is the header that its build writes.
            files.append("torch/include/oneapi/dnnl/dnnl_version.h")
        built = [item.replace("+PTX", "") for item in self.architectures]
        if self.cuda:
            files.append("torch/lib/libtorch_cuda.so")
            if any(row.get("name") == "rowwise_121a" for row in self.edits) and {"12.0", "12.1"} & set(built):
                built.append("12.1a")
        return {
            "version": self.environment["PYTORCH_BUILD_VERSION"],
            "cmake_cache": dict(sorted(self.cache.items())),
            "libraries": list(dict.fromkeys(self.libraries)),
            "architectures": list(dict.fromkeys(built)),
            "files": files,
        }


def _expanded(name: str, edits: t.Sequence[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Return edits as source_build takes them; one with ``directory`` and ``files`` stands for one a file."""
    found: list[dict[str, t.Any]] = []
    for edit in edits:
        text = {"match": edit["match"], "replace": edit["replace"]}
        if "files" in edit:
            for file, count in edit["files"].items():
                found.append({"name": name, "path": f"{edit['directory']}/{file}", **text, "count": int(count)})
        else:
            found.append({"name": name, "path": edit["path"], **text, "count": int(edit.get("count", 1))})
    return found


def _reaches(name: str) -> bool:
    return name.startswith(("USE_", "BUILD_", "CMAKE_")) or name in _REACHING or bool(_FINDS.fullmatch(name))


def _true(value: t.Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE
    return bool(value)


def _text(release: t.Sequence[int]) -> str:
    return ".".join(map(str, release))
