# SPDX-License-Identifier: GPL-3.0-or-later
"""Structured like flash-attention's setup.py: unless forced to build, it uses a prebuilt wheel from the network."""

import ast
import os
import re
from pathlib import Path

import torch
from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from torch.utils.cpp_extension import BuildExtension, CppExtension

ROOT = Path(__file__).resolve().parent
FORCE_BUILD = os.getenv("FLASH_ATTENTION_FORCE_BUILD", "FALSE") == "TRUE"
if not os.getenv("MAX_JOBS"):
    import psutil  # noqa: F401 - what flash-attention sizes its jobs with


def get_package_version() -> str:
    match = re.search(r"^__version__\s*=\s*(.*)$", (ROOT / "flash_attn/__init__.py").read_text(), re.MULTILINE)
    version = ast.literal_eval(match.group(1))
    local = os.getenv("FLASH_ATTN_LOCAL_VERSION")
    return f"{version}+{local}" if local else version


class CachedWheelsCommand(bdist_wheel):
    """The real setup.py would download here; this one fails and names the download."""

    def run(self) -> None:
        if not FORCE_BUILD:
            name = f"flash_attn-{get_package_version()}-torch{torch.__version__}.whl"
            raise SystemExit(f"Guessing wheel URL: https://prebuilt.example.com/{name} (an unverified download)")
        super().run()


os.chdir(ROOT)
setup(
    name="flash_attn",
    version=get_package_version(),
    description="A tree with the shape of flash-attention's",
    packages=find_packages(exclude=("build", "csrc")),
    install_requires=["torch"],
    ext_modules=[
        CppExtension(
            "flash_attn_2_cuda",
            sorted(str(path) for path in Path("csrc").rglob("*.cpp")),
            extra_compile_args=["-O3"],
        )
    ],
    cmdclass={"bdist_wheel": CachedWheelsCommand, "build_ext": BuildExtension},
    python_requires=">=3.9",
    zip_safe=False,
)
