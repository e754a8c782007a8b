# SPDX-License-Identifier: GPL-3.0-or-later
"""Structured like Triton's setup.py: CMake and ninja behind setuptools, with dependencies named by the environment or
downloaded."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from python.build_helpers import TRITON_VERSION, check_env_flag, get_cmake_dir, llvm_commit, version_suffix

BACKENDS = ("nvidia", "amd")
PASSED_ON = (
    "TRITON_BUILD_PROTON TRITON_BUILD_WITH_CCACHE TRITON_PARALLEL_LINK_JOBS TRITON_OFFLINE_BUILD LLVM_SYSPATH "
    "JSON_SYSPATH TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH TRITON_CUOBJDUMP_PATH TRITON_NVDISASM_PATH "
    "TRITON_CUDACRT_PATH TRITON_CUDART_PATH TRITON_CUPTI_INCLUDE_PATH TRITON_CUPTI_LIB_PATH"
).split()


def is_offline_build() -> bool:
    return check_env_flag("TRITON_OFFLINE_BUILD")


def package(name: str, variable: str) -> str:
    """Return the path of a dependency. If no variable names it, Triton would download it, but this tree refuses."""
    if os.environ.get(variable):
        return os.environ[variable]
    if is_offline_build():
        raise RuntimeError(f"Requested an offline build but {variable} is not set")
    raise RuntimeError(f"{variable} is not set: would download https://downloads.example.com/{name}.tar.gz, unverified")


def nvidia_tools() -> None:
    """Refuse if Triton would download one of NVIDIA's tools. Offline, Triton silently does without them."""
    for name in ("PTXAS", "CUOBJDUMP", "NVDISASM", "CUDACRT", "CUDART", "CUPTI_INCLUDE", "CUPTI_LIB"):
        if not is_offline_build():
            package(name.lower(), f"TRITON_{name}_PATH")


class CMakeBuildPy(build_py):
    def run(self) -> None:
        self.run_command("build_ext")
        super().run()


class CMakeBuild(build_ext):
    def run(self) -> None:
        llvm = package(f"llvm-{llvm_commit()[:8]}-ubuntu-arm64", "LLVM_SYSPATH")
        json = package("include", "JSON_SYSPATH") if PROTON else ""
        nvidia_tools()
        ninja = shutil.which("ninja")
        if ninja is None:
            raise RuntimeError("ninja not found!")
        cmake_dir = get_cmake_dir()
        cmake_dir.mkdir(parents=True, exist_ok=True)
        output = Path(self.build_lib).resolve() / "triton" / "_C"
        arguments = [
            "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", "-DLLVM_ENABLE_WERROR=ON",
            f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={output}", f"-DPython3_EXECUTABLE:FILEPATH={sys.executable}",
            f"-DPython3_INCLUDE_DIR={sysconfig.get_path('platinclude')}",
            f"-DTRITON_CODEGEN_BACKENDS={';'.join(BACKENDS)}", f"-DTRITON_VERSION={TRITON_VERSION}",
            f"-DTRITON_LLVM_COMMIT={llvm_commit()}",
            f"-DLLVM_LIBRARY_DIR={os.environ.get('LLVM_LIBRARY_DIR', llvm + '/lib')}",
            f"-DJSON_INCLUDE_DIR={json}/include",
            f"-DCMAKE_BUILD_TYPE={'Debug' if check_env_flag('DEBUG') else 'TritonRelBuildWithAsserts'}",
        ]  # fmt: skip
        if check_env_flag("TRITON_BUILD_WITH_CLANG_LLD"):
            arguments += ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_LINKER=lld"]
            arguments += [f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld=lld" for kind in ("EXE", "MODULE", "SHARED")]
        if is_offline_build():
            arguments.append("-DTRITON_BUILD_UT=OFF")
        arguments += [f"-D{name}={os.environ[name]}" for name in PASSED_ON if name in os.environ]
        arguments += shlex.split(os.environ.get("TRITON_APPEND_CMAKE_ARGS", ""))
        subprocess.check_call(["cmake", str(ROOT), *arguments], cwd=cmake_dir)
        jobs = os.environ.get("MAX_JOBS", str(2 * (os.cpu_count() or 1)))
        subprocess.check_call(["cmake", "--build", ".", f"-j{jobs}"], cwd=cmake_dir)


PROTON = check_env_flag("TRITON_BUILD_PROTON", "ON")
packages = [*find_packages(where="python"), *(f"triton.backends.{name}" for name in BACKENDS)]
package_dir = {"": "python", **{f"triton.backends.{name}": f"third_party/{name}/backend" for name in BACKENDS}}
if PROTON:
    packages.append("triton.profiler")
    package_dir["triton.profiler"] = "third_party/proton/proton"

setup(
    name=os.environ.get("TRITON_WHEEL_NAME", "triton"),
    version=TRITON_VERSION + version_suffix(ROOT),
    description="A tree with the shape of Triton's",
    packages=packages,
    package_dir=package_dir,
    ext_modules=[Extension("triton._C.libtriton", [])],
    cmdclass={"build_ext": CMakeBuild, "build_py": CMakeBuildPy},
    entry_points={"triton.backends": [f"{name} = triton.backends.{name}" for name in BACKENDS]},
    python_requires=">=3.9",
    zip_safe=False,
)
