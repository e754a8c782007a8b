# SPDX-License-Identifier: GPL-3.0-or-later
"""Structured like PyTorch's setup.py of the setuptools era: CMake first, then one small extension."""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# A PEP 517 front end does not put the tree on the path.
sys.path.insert(0, str(ROOT))

from tools.generate_torch_version import get_torch_version, version_file
from tools.setup_helpers.cmake import CMake

VERSION = get_torch_version()
REQUIRES = [
    "filelock",
    "typing-extensions>=4.10.0",
    'setuptools; python_version >= "3.12"',
    "sympy>=1.13.3",
    "networkx>=2.5.1",
    "jinja2",
    "fsspec>=0.8.5",
]


def check_submodules() -> None:
    missing = [path for path in ("third_party/fmtlike", "third_party/fmtlike/third_party/bitslike")
               if not (ROOT / path / "CMakeLists.txt").exists()]  # fmt: skip
    if not missing:
        return
    print(f" --- Could not find CMakeLists.txt in {', '.join(missing)}: trying to initialize submodules", flush=True)
    try:
        subprocess.check_call(["git", "submodule", "update", "--init", "--recursive"], cwd=ROOT)
    except Exception as error:
        print(" --- Submodule initalization failed")
        raise SystemExit("Please run:\n\tgit submodule update --init --recursive") from error


def build_deps() -> None:
    check_submodules()
    (ROOT / "torch/version.py").write_text(version_file())
    cmake = CMake(ROOT)
    cmake.generate(VERSION)
    if os.getenv("CMAKE_ONLY"):
        raise SystemExit('Finished running cmake. Run "ccmake build" or "cmake-gui build" to adjust build options.')
    cmake.build()


class BuildPy(build_py):
    def run(self) -> None:
        build_deps()
        super().run()


class BuildExt(build_ext):
    def run(self) -> None:
        # The libraries exist already: build_py comes first in a wheel's build.
        settings = (ROOT / "torch/share/build_settings.txt").read_text()
        print("-- Using cuDSS" if "USE_CUDSS=ON" in settings else "-- Not using cuDSS")
        super().run()


extra = os.getenv("PYTORCH_EXTRA_INSTALL_REQUIREMENTS", "")
setup(
    version=VERSION,
    packages=find_packages(include=["torch", "torch.*", "torchgen", "torchgen.*"]),
    package_data={"torch": ["lib/*.so*", "bin/*", "include/**/*.h", "share/*"]},
    ext_modules=[
        Extension(
            "torch._C",
            sources=["torch/csrc/stub.c"],
            libraries=["torch_python"],
            library_dirs=[str(ROOT / "torch/lib")],
            extra_link_args=["-Wl,-rpath,$ORIGIN/lib"],
        )
    ],
    cmdclass={"build_py": BuildPy, "build_ext": BuildExt},
    include_package_data=False,
    install_requires=[*REQUIRES, *(text.strip() for text in extra.split("|") if text.strip())],
    zip_safe=False,
)
