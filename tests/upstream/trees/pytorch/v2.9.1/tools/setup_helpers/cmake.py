# SPDX-License-Identifier: GPL-3.0-or-later
"""Configure once, then build; options in the environment become -D arguments."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

PASSED_ON = (
    "BLAS WITH_BLAS CUDA_HOST_COMPILER CUDA_NVCC_EXECUTABLE CUDNN_LIBRARY CUDNN_INCLUDE_DIR CUDNN_ROOT MKL_THREADING "
    "ATEN_THREADING WERROR TORCH_CUDA_ARCH_LIST"
).split()


class CMake:
    def __init__(self, source: Path) -> None:
        self.source = source
        self.build_dir = source / "build"

    def generate(self, version: str) -> None:
        """Configure if that has not been done. As in PyTorch, later changes of the environment have no effect."""
        cache = self.build_dir / "CMakeCache.txt"
        if os.getenv("CMAKE_FRESH") and cache.exists():
            cache.unlink()
        if cache.exists() and (self.build_dir / "build.ninja").exists():
            return
        self.build_dir.mkdir(exist_ok=True)
        # CMake reads a prefix path from the environment itself, and a -D would hide the paths added here.
        prefixes = [sysconfig.get_path("purelib"), *filter(None, [os.getenv("CMAKE_PREFIX_PATH")])]
        options = {
            "BUILD_PYTHON": "True",
            "BUILD_TEST": "True",
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_INSTALL_PREFIX": str(self.source / "torch"),
            "Python_EXECUTABLE": sys.executable,
            "TORCH_BUILD_VERSION": version,
            **{name: value for name, value in os.environ.items() if _is_option(name)},
            "CMAKE_PREFIX_PATH": ";".join(prefixes).replace(":", ";"),
        }
        arguments = [f"-D{name}={value}" for name, value in sorted(options.items())]
        generator = [] if os.getenv("CMAKE_GENERATOR") else ["-GNinja"]
        self._run("cmake", *generator, *arguments, str(self.source))

    def build(self) -> None:
        arguments = ["--build", ".", "--target", "install", "--config", "Release"]
        if os.getenv("MAX_JOBS"):
            arguments += ["-j", os.environ["MAX_JOBS"]]
        self._run("cmake", *arguments)

    def _run(self, *command: str) -> None:
        print(" ".join(command), flush=True)
        subprocess.check_call(command, cwd=self.build_dir)


def _is_option(name: str) -> bool:
    return name.startswith(("BUILD_", "USE_", "CMAKE_")) or name.endswith("EXITCODE") or name in PASSED_ON
