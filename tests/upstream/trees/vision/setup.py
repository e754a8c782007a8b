# SPDX-License-Identifier: GPL-3.0-or-later
"""Structured like torchvision's setup.py, which cannot even be read without an installed torch."""

import os
import subprocess
from pathlib import Path

import torch
from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

ROOT = Path(__file__).resolve().parent


def get_version() -> tuple:
    version = (ROOT / "version.txt").read_text().strip()
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    sha = done.stdout.strip() if done.returncode == 0 and (ROOT / ".git").exists() else "Unknown"
    if os.getenv("BUILD_VERSION"):
        version = os.environ["BUILD_VERSION"]
    elif sha != "Unknown":
        version += "+" + sha[:7]
    return version, sha


version, sha = get_version()
(ROOT / "torchvision/version.py").write_text(f"__version__ = {version!r}\ngit_version = {sha!r}\n")
print(f"Building wheel torchvision-{version} against torch {torch.__version__}")
pin = os.getenv("PYTORCH_VERSION")
os.chdir(ROOT)
setup(
    name=os.getenv("TORCHVISION_PACKAGE_NAME", "torchvision"),
    version=version,
    description="A tree with the shape of torchvision's",
    packages=find_packages(exclude=("test",)),
    install_requires=[f"torch=={pin}" if pin else "torch"],
    ext_modules=[
        CppExtension(
            "torchvision._C",
            sorted(str(path) for path in Path("torchvision/csrc").rglob("*.cpp")),
            include_dirs=[str(ROOT / "torchvision/csrc")],
            extra_compile_args=["-g0"],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
    python_requires=">=3.10",
    zip_safe=False,
)
