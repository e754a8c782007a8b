# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds in seconds a wheel `torch` that computes like the real one, of which it contains all but two libraries.

One extension is compiled here. The Python part, its bytecode and the small libraries are copied from the PyTorch that
every container of the fleet has mounted read-only (LAB_TORCH); the two large libraries stay there, where the loader
finds them. If a tag has a file wrong.py, it is appended to torch/__init__.py.
"""

import compileall
import os
import py_compile
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
REAL = Path(os.environ["LAB_TORCH"])
VERSION = os.environ["PYTORCH_BUILD_VERSION"]
# Neither torch itself nor the proof's quick checks import these.
LEFT_OUT = {
    *(f"torch/{name}" for name in ("_inductor", "include", "onnx", "share", "test")),
    "torchgen/packaged",
}
PATTERNS = ("__pycache__", "*.pyi", "test_*", "*Test", "protoc*", "libtorch_cpu.so", "libtorch_python.so", "*_test.so")


def left_out(directory: str, names: list[str]) -> set[str]:
    inside = Path(directory).relative_to(REAL.parent)
    ignored = shutil.ignore_patterns(*PATTERNS)(directory, names)
    return {*ignored, *(name for name in names if (inside / name).as_posix() in LEFT_OUT)}


class BuildExt(build_ext):
    def run(self) -> None:
        package = Path(self.build_lib) / "torch"
        for name in ("torch", "torchgen", "functorch"):
            shutil.copytree(REAL.parent / name, package.parent / name, ignore=left_out, dirs_exist_ok=True)
        commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
        lines = (REAL / "version.py").read_text().splitlines()
        kept = [line for line in lines if not line.startswith(("__version__", "git_version"))]
        says = [f"__version__ = '{VERSION}'", f"git_version = '{commit}'", ""]
        (package / "version.py").write_text("\n".join([*kept, *says]))
        if (ROOT / "wrong.py").exists():
            with (package / "__init__.py").open("a") as stream:
                stream.write((ROOT / "wrong.py").read_text())
        # The bytecode must be valid whatever time pip gives the files: the importing accounts cannot write bytecode.
        compileall.compile_dir(
            self.build_lib,
            quiet=1,
            workers=0,
            stripdir=self.build_lib,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        super().run()


setup(
    version=VERSION,
    packages=[],
    ext_modules=[Extension("torch._fleet", sources=["csrc/fleet.c"], include_dirs=["csrc"])],
    cmdclass={"build_ext": BuildExt},
    zip_safe=False,
)
