"""PyTorch's own CMake modules on a provisioned host, in the environment that the `pytorch` role sets.

This is as close to a configure run as possible without PyTorch's repository. The modules come from its wheels (2.9.1,
2.14.1 and 2.15.0), where they are the same files as in the repository; the libraries were installed in a container by
the collection's roles, and nvcc is real.
"""

import hashlib
import io
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
import typing as t
import urllib.request
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import patching

from lab import image
from lab.host import cache_directory
from tests.integration.conftest import CHECKOUT, Bench, Host

pytestmark = pytest.mark.long

#: For each wheel, its sha256 in the index, and the sha256 of the modules taken from it.
WHEELS = {
    "2.9.1": (
        "da5f6f4d7f4940a173e5572791af238cb0b9e21b1aab592bd8b26da4c99f1cd6",
        "d2724d8aeacce5b7197432e72376b89823349ddc328e585c94d888141948a32f",
    ),
    "2.14.1": (
        "0b13acde294b401509830d85a8906cbf2fc97425a12a66cce1d9fa13c5106a2a",
        "d06f71e4e2a732fcb900404a532fea112090da3c872c922913b18c63dab67f1d",
    ),
    "2.15.0": (
        "9e51cf9460c5441dcd2a4f31ece207e35ea7c3d2535be0f929cca4944e2eeb18",
        "b3e983905753f73688aa6130401ce920b4edfb02bd276ab078b7491431900b67",
    ),
}
SHARED = "torch/share/cmake/Caffe2/"
PLACE = "/opt/probe"
TRAP = "-gencode;arch=compute_20,code=sm_121"

#: Only those parts of PyTorch's CMakeLists.txt and cmake/Dependencies.cmake that surround these modules.
PROBE = r"""
cmake_minimum_required(VERSION 3.27)
project(probe CXX)
set(CAFFE2_CMAKE_BUILDING_WITH_MAIN_REPO ON)
list(APPEND CMAKE_MODULE_PATH "${MODULES}")
include("${MODULES}/public/utils.cmake")
foreach(name CUDA CUDNN CUSPARSELT CUDSS CUFILE)
  option(USE_${name} "" ON)
  set(CAFFE2_USE_${name} ${USE_${name}})
endforeach()
include("${MODULES}/public/cuda.cmake")

set(told "")
function(tell name)
  string(APPEND told "${name}=${ARGN}\n")
  set(told "${told}" PARENT_SCOPE)
endfunction()

tell(found ${CUDA_FOUND})
tell(toolkit ${CUDA_TOOLKIT_ROOT_DIR})
tell(flags ${NVCC_FLAGS_EXTRA})
foreach(name CUSPARSELT CUDSS)
  tell(${name} ${${name}_FOUND})
  tell(${name}_version ${${name}_VERSION})
  tell(${name}_library ${${name}_LIBRARY_PATH})
  tell(${name}_include ${${name}_INCLUDE_PATH})
endforeach()
tell(use_cusparselt ${CAFFE2_USE_CUSPARSELT})
tell(use_cudss ${USE_CUDSS})
get_property(cached CACHE USE_CUDSS PROPERTY VALUE)
tell(cached_use_cudss ${cached})
if(CUDA_FOUND)
  foreach(list "12.0" "12.1" "12.0 12.1")
    string(REPLACE " " ";" TORCH_CUDA_ARCH_LIST "${list}")
    torch_cuda_get_nvcc_gencode_flag(chosen)
    tell("flags ${list}" ${chosen})
  endforeach()
  unset(TORCH_CUDA_ARCH_LIST)
  unset(TORCH_CUDA_ARCH_LIST CACHE)
  unset(ENV{TORCH_CUDA_ARCH_LIST})
  torch_cuda_get_nvcc_gencode_flag(chosen)
  tell("flags unset" ${chosen})
endif()
if(BLAS STREQUAL "NVPL")
  find_package(NVPL_BLAS REQUIRED)
  find_package(NVPL_LAPACK REQUIRED)
  foreach(name blas lapack)
    get_target_property(at nvpl::${name}_lp64_omp IMPORTED_LOCATION)
    tell(nvpl_${name} ${at})
  endforeach()
endif()
file(WRITE "${CMAKE_BINARY_DIR}/told" "${told}")
"""

#: A compute capability 12.1 GPU for the detection of 2.9.1, which asks cudart.
GPU = """
#include <cuda_runtime_api.h>
#include <cstring>
#undef cudaGetDeviceProperties
extern "C" cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *device, int) {
  std::memset(device, 0, sizeof *device);
  device->major = 12;
  device->minor = 1;
  return cudaSuccess;
}
"""

# --- the modules ----------------------------------------------------------------------------------------------


class Ranges(io.RawIOBase):
    """A file behind a URL, read in ranges: the modules are only 1.5 MB of a 484 MB wheel."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.position = 0
        self.context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or None)
        with self._open("bytes=0-0") as answer:
            if answer.status != 206:
                raise OSError(f"{url} is not served in parts (status {answer.status})")
            self.size = int(answer.headers["Content-Range"].rpartition("/")[2])

    def _open(self, byte_range: str) -> t.Any:
        request = urllib.request.Request(self.url, headers={"Range": byte_range})
        return urllib.request.urlopen(request, timeout=120, context=self.context)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        self.position = start + offset
        return self.position

    def readinto(self, buffer: t.Any) -> int:
        last = min(self.position + len(buffer), self.size) - 1
        if last < self.position:
            return 0
        with self._open(f"bytes={self.position}-{last}") as answer:
            data = answer.read()
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)


def open_wheel(version: str, sha256: str) -> zipfile.ZipFile:
    """Return the wheel from the index that pip is configured for.

    :raises OSError: with the reason, if the wheel is not available.
    """
    # pip requires --target for another machine's wheels; it writes nothing there.
    with tempfile.TemporaryDirectory() as nowhere:
        report = ["--dry-run", "--ignore-installed", "--no-deps", "--report", "-", f"--target={nowhere}"]
        machine = ["--platform=manylinux_2_28_aarch64", "--python-version=3.12", "--implementation=cp"]
        options = [*machine, "--only-binary=:all:", f"torch=={version}"]
        command = [sys.executable, "-m", "pip", "install", "-q", *report, *options]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise OSError(f"pip does not find torch {version} for aarch64: {result.stderr.strip().splitlines()[-1:]}")
    url = json.loads(result.stdout)["install"][0]["download_info"]
    if url["archive_info"]["hashes"]["sha256"] != sha256:
        raise OSError(f"the index has another torch {version} than the one that this test knows")
    if url["url"].startswith("file://"):
        return zipfile.ZipFile(urllib.request.url2pathname(url["url"].removeprefix("file://")))
    return zipfile.ZipFile(io.BufferedReader(Ranges(url["url"]), 1 << 16))


def digest_of(tree: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in tree.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(tree)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def modules_of(version: str) -> Path:
    """Return a directory whose ``cmake/`` has the modules as in PyTorch's repository, creating it if missing."""
    sha256, content = WHEELS[version]
    tree = cache_directory() / "torch-cmake" / f"{version}-{sha256[:12]}"
    if not tree.exists():
        partial = tree.with_suffix(f".{os.getpid()}")
        try:
            with open_wheel(version, sha256) as wheel:
                for name in wheel.namelist():
                    if name.startswith(SHARED) and not name.endswith("/"):
                        target = partial / "cmake" / name.removeprefix(SHARED)
                        target.parent.mkdir(parents=True, exist_ok=True)
                        target.write_bytes(wheel.read(name))
            partial.rename(tree)
        except OSError as error:
            pytest.skip(f"the CMake modules of torch {version} cannot be had: {error}")
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    assert digest_of(tree) == content, f"{tree} is not what the wheel holds: remove it, and it is fetched again"
    return tree


@pytest.fixture(scope="module", params=sorted(WHEELS))
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- the host -------------------------------------------------------------------------------------------------


def real_toolkit() -> Path:
    """Return the CUDA toolkit of this machine."""
    nvcc = shutil.which("nvcc")
    candidates = [
        os.environ.get("CUDA_HOME") or "",
        "/usr/local/cuda",
        str(Path(nvcc).resolve().parents[1]) if nvcc else "",
    ]
    for candidate in filter(None, candidates):
        if (Path(candidate) / "bin/nvcc").exists() and (Path(candidate) / "nvvm/bin/cicc").exists():
            result = subprocess.run([f"{candidate}/bin/nvcc", "--version"], capture_output=True, text=True, check=False)
            release = re.search(r"release (\d+)\.(\d+)", result.stdout)
            if release and (int(release[1]), int(release[2])) >= (12, 9):
                return Path(candidate)
    return pytest.skip("no CUDA toolkit with nvcc 12.9 or newer is on this machine (CUDA_HOME, /usr/local/cuda, PATH)")


@dataclass
class CMakeResult:
    """The result of a run of CMake: its status, its output, and the values that the probe recorded."""

    code: int
    output: str
    values: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.values[name]


@dataclass
class Probed:
    """A provisioned container with a real nvcc, and the environment that the role sets there."""

    host: Host
    environment: dict[str, str]
    toolkit: str

    def configure(self, name: str, tree: str, environment: dict[str, str], arguments="", path="") -> CMakeResult:
        """Run CMake as PyTorch's build does: with no inherited environment, and with setup.py's variables as -D."""
        assignments = " ".join(f"{key}={quoted(value)}" for key, value in sorted(environment.items()))
        definitions = " ".join(f"-D{key}={quoted(value)}" for key, value in sorted(handed_on(environment).items()))
        path = path or f"{self.toolkit}/bin:/usr/bin:/bin"
        build = f"{PLACE}/build-{name}"
        output = self.host.execute(
            f"rm -rf {build}; cd {PLACE}; env -i PATH={path} {assignments} cmake -G Ninja -S {PLACE} -B {build}"
            f" -DMODULES={tree}/cmake {definitions} {arguments} 2>&1; echo status=$?;"
            f" cat {build}/told 2>/dev/null || true"
        )
        text, _mark, recorded = output.partition("status=")
        lines = recorded.splitlines()
        return CMakeResult(int(lines[0]), text, dict(line.split("=", 1) for line in lines[1:] if "=" in line))


def quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def handed_on(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables that 2.9.1's setup_helpers/cmake.py passes as -D, and EnvVarForwarding.cmake since 2.14."""
    names = {"CUDNN_LIBRARY", "CUDNN_INCLUDE_DIR", "TORCH_CUDA_ARCH_LIST", "BLAS"}
    variables = {
        key: value for key, value in environment.items() if re.match(r"USE_|BUILD_|CMAKE_", key) or key in names
    }
    if "CUDACXX" in environment:
        variables["CUDA_NVCC_EXECUTABLE"] = environment["CUDACXX"]
    return variables


PLAY = {
    "hosts": "all",
    "gather_facts": False,
    "vars_files": [str(CHECKOUT / "roles/pytorch" / name / "main.yml") for name in ("defaults", "vars")],
    "roles": ["sparkforge.dgx_spark.stack"],
    "post_tasks": [
        {"sparkforge.dgx_spark.spark_info": {}},
        {
            "ansible.builtin.copy": {
                "content": "{{ {'unit': plan.steps.units | first, 'missing': plan.steps.missing} | to_json }}",
                "dest": "{{ told }}",
                "mode": "0644",
            },
            "delegate_to": "localhost",
            "become": False,
            "vars": {
                "plan": "{{ __pytorch_plan }}",
                "ansible_connection": "local",
                "ansible_python_interpreter": sys.executable,
            },
        },
    ],
}
UNIT = {"source": {"repo": "https://example.com/pytorch.git", "version": "5811a8d7da873dd699ff6687092c225caffcf1bb"}}


@pytest.fixture(scope="module")
def probed(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Probed:
    """A host with the libraries from the collection's roles, the role's environment, and this machine's nvcc."""
    toolkit = real_toolkit()
    host = bench.fresh()
    # Install only the tools that a configure run needs, because LLVM would take most of the time.
    tools = ["build-essential", "cmake", "ninja-build"]
    host.run("libraries", stack_method="wheel", build_toolchain_packages=tools).succeeded()
    folder = tmp_path_factory.mktemp("probe")
    plan_file = folder / "told.json"
    (folder / "play.yml").write_text(json.dumps([PLAY]))
    host.run(
        str(folder / "play.yml"), told=str(plan_file), stack_method="wheel", pytorch_version="2.9.1",
        pytorch_architectures="12.0", pytorch_blas="NVPL", pytorch_unit=UNIT,
    ).succeeded()  # fmt: skip
    plan = json.loads(plan_file.read_text())
    assert plan["missing"] == ["nvcc 13.0 (role cuda_libraries)"]  # the lab's nvcc package is empty
    home = plan["unit"]["environment"]["CUDA_HOME"]

    archive = folder / "probe.tar"
    machine = host.execute("uname -m")
    target = {"aarch64": "sbsa-linux"}.get(machine, f"{machine}-linux")
    with tarfile.open(archive, "w", dereference=True) as tar:
        inside = home.lstrip("/")
        for part, goes in (("bin", "bin"), ("nvvm", "nvvm"), ("include", f"targets/{target}/include")):
            tar.add(toolkit / part, f"{inside}/{goes}")
        for library in sorted((toolkit / "lib64").glob("libcuda[rd]*")):
            tar.add(library, f"{inside}/targets/{target}/lib/{library.name}")
        for version in WHEELS:
            tar.add(modules_of(version), f"{PLACE.lstrip('/')}/{version}")
            patched = folder / version
            shutil.copytree(modules_of(version), patched)
            known = yaml.safe_load((CHECKOUT / "roles/pytorch/vars/main.yml").read_text())["__pytorch_known_fixes"]
            assert version in known["fermi_token"]["versions"]
            patching.apply(
                str(patched), [], [{"name": "fermi_token", **edit} for edit in known["fermi_token"]["edits"]], print
            )
            tar.add(patched, f"{PLACE.lstrip('/')}/{version}-patched")
        for name, text in (("CMakeLists.txt", PROBE), ("gpu.cpp", GPU)):
            (folder / name).write_text(text)
            tar.add(folder / name, f"{PLACE.lstrip('/')}/{name}")
    image.podman("cp", archive, f"{host.container}:/tmp/probe.tar")
    host.execute(
        f"tar -C / -xf /tmp/probe.tar --no-same-owner --keep-directory-symlink && rm /tmp/probe.tar"
        f" && g++ -shared -fPIC -I{home}/targets/{target}/include {PLACE}/gpu.cpp -o {PLACE}/gpu.so"
    )
    return Probed(host, plan["unit"]["environment"], home)


@pytest.fixture(scope="module")
def configured(probed: Probed, version: str) -> CMakeResult:
    """The result with the original modules, the role's environment and, if no architectures are listed, a 12.1 GPU."""
    environment = {**probed.environment, "LD_PRELOAD": f"{PLACE}/gpu.so"}
    result = probed.configure(version, f"{PLACE}/{version}", environment, "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared")
    assert result.code == 0, result.output
    return result


@pytest.fixture(scope="module")
def bare(probed: Probed, version: str) -> CMakeResult:
    """The result with the patched modules, without the variables that name the directories of cuDSS and cuSPARSELt."""
    environment = {key: value for key, value in probed.environment.items() if not re.match("CUDSS_|CUSPARSELT_", key)}
    environment["LD_PRELOAD"] = f"{PLACE}/gpu.so"
    tree = f"{PLACE}/{version}-patched"
    result = probed.configure(f"{version}-bare", tree, environment, "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared")
    assert result.code == 0, result.output
    return result


# --- decisions ------------------------------------------------------------------------------------------------


def test_the_stacks_toolkit_is_used(probed: Probed, configured: CMakeResult) -> None:
    assert configured["found"] == "TRUE"
    assert configured["toolkit"] == probed.toolkit


def test_the_libraries_are_those_of_the_roles(probed: Probed, configured: CMakeResult) -> None:
    environment = probed.environment
    assert configured["CUDSS"] == configured["CUSPARSELT"] == "TRUE"
    assert configured["use_cusparselt"] in ("1", "ON") and configured["use_cudss"] in ("1", "ON")
    assert configured["CUDSS_library"] == f"{environment['CUDSS_ROOT']}/lib/libcudss.so"
    assert configured["CUDSS_include"] == environment["CUDSS_INCLUDE_DIR"]
    assert configured["CUSPARSELT_library"].endswith("/libcusparseLt.so")
    assert configured["CUSPARSELT_include"] == environment["CUSPARSELT_INCLUDE_DIR"]
    for component in ("blas", "lapack"):
        assert configured[f"nvpl_{component}"].startswith(environment[f"NVPL_{component.upper()}_ROOT"] + "/lib/")


def test_without_the_variables_cmake_drops_the_libraries(bare: CMakeResult, version: str) -> None:
    assert bare["CUDSS"] == bare["CUSPARSELT"] == "FALSE"
    assert "Cannot find CUDSS library. Turning the option off" in " ".join(bare.output.split())
    assert bare["use_cudss"] == bare["use_cusparselt"] == "OFF"
    # As the role's README says, the cache keeps the option, so the role's check looks at the library's path instead.
    assert bare["cached_use_cudss"] == "1", version


def test_the_list_makes_the_architectures(configured: CMakeResult, bare: CMakeResult) -> None:
    assert configured["flags"] == "-gencode;arch=compute_120,code=sm_120"
    for result in (configured, bare):
        assert result["flags 12.0"] == "-gencode;arch=compute_120,code=sm_120"
        assert result["flags 12.1"] == "-gencode;arch=compute_121,code=sm_121"
        assert result["flags 12.0 12.1"] == f"{result['flags 12.0']};{result['flags 12.1']}"


def test_unset_list_mistakes_12_1_for_fermi_without_the_fix(configured: CMakeResult, bare: CMakeResult, version: str):
    if version == "2.9.1":
        assert "Autodetected CUDA architecture(s):  12.1(2.0)" in configured.output
        assert configured["flags unset"] == TRAP
        assert bare["flags unset"] == "-gencode;arch=compute_121,code=sm_121"
    else:
        # This module knows nothing newer than 12.0, so it replaces 12.1(2.0) with 12.0 and its PTX.
        fallback = "-gencode;arch=compute_120,code=sm_120;-gencode;arch=compute_120,code=compute_120"
        assert configured["flags unset"] == bare["flags unset"] == fallback


def test_nvcc_accepts_the_listed_architectures_and_refuses_compute_20(probed: Probed, configured: CMakeResult) -> None:
    probed.host.execute(f"echo '__global__ void nothing() {{}}' > {PLACE}/nothing.cu")
    nvcc = f"{probed.toolkit}/bin/nvcc -c {PLACE}/nothing.cu -o {PLACE}/nothing.o"
    probed.host.execute(f"{nvcc} {configured['flags 12.0 12.1'].replace(';', ' ')}")
    refused = probed.host.execute(f"{nvcc} {TRAP.replace(';', ' ')} 2>&1 || true")
    assert "Unsupported gpu architecture 'compute_20'" in refused


def test_second_cudss_in_a_system_directory_is_not_used(probed: Probed) -> None:
    """CMake searches ``_LIBRARY`` after the system's directories, but ``_ROOT`` before them."""
    decoy = "/usr/local/lib/libcudss.so"
    probed.host.execute(f"echo decoy > {decoy}")
    try:
        result = probed.configure("decoy", f"{PLACE}/2.9.1", probed.environment)
        assert result["CUDSS_library"] == f"{probed.environment['CUDSS_ROOT']}/lib/libcudss.so"
        without = {key: value for key, value in probed.environment.items() if key != "CUDSS_ROOT"}
        result = probed.configure("decoy", f"{PLACE}/2.9.1", without)
        assert result["CUDSS_library"] == decoy
        assert result["CUDSS_include"] == probed.environment["CUDSS_INCLUDE_DIR"]
    finally:
        probed.host.execute(f"rm {decoy}")


def test_cuda_home_does_not_choose_the_toolkit_and_cuda_path_does(probed: Probed) -> None:
    """An nvcc in another directory comes first on PATH, as if a script had been put into /usr/local/bin."""
    script, path = "/usr/local/bin/nvcc", "/usr/local/bin:/usr/bin:/bin"
    probed.host.execute(f"printf '#!/bin/sh\\nexec {probed.toolkit}/bin/nvcc \"$@\"\\n' > {script}; chmod +x {script}")
    try:
        less = {key: value for key, value in probed.environment.items() if key not in ("CUDA_PATH", "CUDACXX")}
        result = probed.configure("home", f"{PLACE}/2.9.1", less, path=path)
        assert result.code == 0 and "PyTorch: CUDA cannot be found" in result.output and result["flags"] == ""
        result = probed.configure("path", f"{PLACE}/2.9.1", probed.environment, path=path)
        assert result["toolkit"] == probed.toolkit and result["flags"] == "-gencode;arch=compute_120,code=sm_120"
    finally:
        probed.host.execute(f"rm {script}")


def test_cudaarchs_stops_cmake(probed: Probed) -> None:
    result = probed.configure("archs", f"{PLACE}/2.9.1", {**probed.environment, "CUDAARCHS": "12.1"})
    assert result.code != 0
    assert re.search(r"CMAKE_CUDA_ARCHITECTURES:\s+12\.1\s+is not one of the following", result.output)
