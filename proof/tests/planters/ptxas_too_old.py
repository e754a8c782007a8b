"""Triton includes a ptxas from CUDA 12.8, which does not know sm_121a. This happens with Triton 3.5 or older on a GB10,
where every kernel that is compiled at run time fails. The package here contains the modules of the 3.5.1 wheel that
locate the assembler. The assembler itself is a script with ptxas's messages, because the program must not be copied.
"""

from proof.tests.environment import Environment

KNOBS = """
import os
import re
import subprocess
from dataclasses import dataclass


@dataclass
class NvidiaTool:
    path: str
    version: str


class nvidia:
    pass


def _tool(path):
    said = subprocess.check_output([path, "--version"], text=True)
    return NvidiaTool(path, re.search(r"release (\\d+\\.\\d+)", said).group(1))


nvidia.ptxas = _tool(os.path.join(os.path.dirname(__file__), "backends", "nvidia", "bin", "ptxas"))
"""
COMPILER = """
from triton import knobs


def get_ptxas():
    return knobs.nvidia.ptxas


def ptx_get_version(cuda_version):
    major, minor = map(int, cuda_version.split("."))
    return 80 + minor - 1 if major == 12 else 90 + (major - 13) * 10 + minor


def sm_arch_from_capability(capability):
    return f"sm_{capability}{'a' if capability >= 90 else ''}"
"""
PTXAS = r"""#!/bin/sh
for word in "$@"; do
  case $word in
    --version | -V)
      printf '%s\n' "ptxas: NVIDIA (R) Ptx optimizing assembler" "Copyright (c) 2005-2025 NVIDIA Corporation" \
        "Built on Fri_Feb_21_20:21:21_PST_2025" "Cuda compilation tools, release 12.8, V12.8.93" \
        "Build cuda_12.8.r12.8/compiler.35583870_0"
      exit 0 ;;
    --gpu-name=* | -arch=*) gpu=${word#*=} ;;
  esac
  case $previous in --gpu-name | -arch) gpu=$word ;; -o | --output-file) output=$word ;; esac
  previous=$word
done
case ${gpu:-sm_52} in
  sm_5[023] | sm_6[012] | sm_7[025] | sm_8[0679] | sm_90 | sm_90a | sm_10[01] | sm_10[01]a | sm_120 | sm_120a) ;;
  *)
    echo "ptxas fatal   : Value '$gpu' is not defined for option 'gpu-name'" >&2
    exit 255 ;;
esac
echo assembled > "${output:-elf.o}"
"""


def plant(environment: Environment) -> None:
    environment.change("triton/__init__.py", '__version__ = "3.5.1"\n')
    environment.change("triton/knobs.py", KNOBS)
    environment.change("triton/backends/__init__.py", "")
    environment.change("triton/backends/nvidia/__init__.py", "")
    environment.change("triton/backends/nvidia/compiler.py", COMPILER)
    environment.change("triton/backends/nvidia/bin/ptxas", PTXAS).chmod(0o755)
    environment.change("triton-3.5.1.dist-info/METADATA", "Metadata-Version: 2.4\nName: triton\nVersion: 3.5.1\n\n")
