# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What its fields mean: __init__.py beside it.

"""PyTorch and Triton

Defects of their versions that are known, and what their builds ask for.
"""

RULES = r"""
[triton-without-cuda-headers]
keys = cuda.h
pattern = cuda_utils\.c:\d+:\d+: fatal error: '?cuda\.h'?(?:: No such file| file not found)
cause = Triton compiles cuda_utils.c at the first kernel, and its wheel carries no cuda.h.
remedy = Put CUDA's headers into the wheel (backends/nvidia/include), or export CPATH in the environment's activation;
    the roles triton and python_env do.
from = Triton 3.5.1 compiling its cuda_utils.c with its own CUDA headers hidden
example = /tmp/tmp22id50y2/cuda_utils.c:1:10: fatal error: cuda.h: No such file or directory

[missing-python-headers]
keys = Python.h
pattern =
    fatal error: '?Python\.h'?(?:: No such file| file not found)
    Could not find '?Python\.h
cause = The headers of this Python are not installed (Python.h).
remedy = Run the role build_toolchain on this host: it installs the headers of the environment's Python, for a virtual
    environment has none.
from = clang 14
example = p.cpp:1:10: fatal error: 'Python.h' file not found
from = composed after the table of failures
example = main.c:6:10: fatal error: Python.h: No such file or directory

[triton-offline]
keys = Requested an offline build but
pattern = Requested an offline build but (\w+) is not set
cause = Triton was to be built offline, and {found} does not name where the package lies.
remedy = Set {found} in the unit's environment; the role triton sets all that its version asks for.
from = composed; the words are those of Triton's setup.py
example = RuntimeError: Requested an offline build but LLVM_SYSPATH is not set

[llvm-mismatch]
keys =
    fatal error:
    [-Werror=deprecated
    abstract class type
    error:
pattern =
    triton\S*:\d+:\d+: error: [^\n]*\b(?:llvm|mlir)::(\w+)
    error: [^\n]*\b(?:llvm|mlir)::(\w+)[^\n]*\[-Werror=deprecated
    invalid new-expression of abstract class type '[^'\n]*\b(?:mlir|triton)::(\w+)
    fatal error: '?((?:llvm|mlir|lld)/[\w/.]+)'?(?:: No such file| file not found)
cause = This source does not fit the LLVM that it is built against ({found}): LLVM's interfaces change from commit to
    commit.
remedy = Build LLVM at the commit that Triton pins (cmake/llvm-hash.txt, or cmake/llvm-info.json from 3.8 on): compare
    it with the commit in the unit llvm's receipt.
from = gcc 12.2; the source is a stand-in with the names that Triton 3.6.0 met with LLVM 22.1.8
example = lib/abstract.cpp:2:167: error: invalid new-expression of abstract class type 'mlir::triton::AxisInfoAnalysis'

[source-incomplete]
keys = .td'
pattern = '([^'\n]*/lib/Target/[^'\n]*\.td)', needed by .* missing and no known rule
cause = The LLVM source tree is incomplete: {found} is not in it.
remedy = Take the whole source (or keep the .td files of ARM, RISCV and PowerPC, which TargetParser needs).
from = ninja 1.11, a stand-in for LLVM's build.ninja
example =
    ninja: error: 'llvm/lib/Target/ARM/ARM.td', needed by 'ARMGenRegisterInfo.inc', missing and no known rule to make it

[torch-shm-manager]
keys = bin/torch_shm_manager
pattern = (?:\*\*\* \[[^\]\n]*|FAILED: (?:\[code=\d+\] )?)(bin/torch_shm_manager)
cause = The link of {found} failed, as it does with a Python that this PyTorch does not support (3.14 with 2.9), or with
    USE_DISTRIBUTED=0 and further cut-downs.
remedy = Build with a Python of the range that the tag supports, and without those options.
from = the two middle lines are from seeds/000 (attempt 5), the others composed
example = gmake[2]: *** [bin/torch_shm_manager] Error 1

[other-torch]
keys = undefined symbol: _ZN
pattern = (\S+): undefined symbol: _ZNK?(?:3c10|2at|5torch|6caffe2)\w*
cause = {found} was built against another PyTorch than the one that is installed.
remedy = Rebuild it as a unit that depends on this pytorch, or install the wheels of one stack together.
from = the loader and Python 3.12; a stand-in for torchaudio that calls a function of c10
example =
    OSError: /opt/sparkforge/builds/demo/[...]/torchaudio/lib/libtorchaudio.so: undefined symbol: _ZNK3c107SymBo [...]

[torch-cuda-mismatch]
keys = The detected CUDA version
pattern = The detected CUDA version \(\S+\) mismatches the version that was used to compile
cause = The CUDA toolkit on PATH is not the one that PyTorch was built with.
remedy = Set CUDA_HOME in the unit's environment to the toolkit of the stack.
from = composed: the text of torch/utils/cpp_extension.py in the 2.9.1 wheel
example =
    RuntimeError: ('The detected CUDA version (%s) mismatches the version that was used to compilePyTorch (%s). [...]

[torch-missing]
keys = Error: No module named 'torch'
pattern = Error: No module named 'torch'
cause = The build imports torch, and its environment has none.
remedy = Name pytorch in the unit's depends, so that its wheel goes into the environment.
from = pip 26.3 and setuptools 84, a setup.py that imports torch
example =       ModuleNotFoundError: No module named 'torch'

[torch-without-cuda]
keys = Torch not compiled with CUDA enabled
pattern = Torch not compiled with CUDA enabled
cause = The installed PyTorch is a CPU build: the package index's 2.9 and 2.10 wheels for aarch64 are.
remedy = Install the wheel that the role pytorch builds, or 2.11 and newer, which are CUDA builds on aarch64.
from = composed: the text of torch/cuda/__init__.py in the 2.9.1 wheel
example =     raise AssertionError("Torch not compiled with CUDA enabled")

[mkl-on-arm]
keys =
    requirement mkl
    distribution found for mkl
    requirement intel-
    distribution found for intel-
pattern = (?:satisfies the requirement|No matching distribution found for) ((?:mkl|intel-)\S*)
cause = {found} exists for x86-64 alone.
remedy = Leave it out on aarch64 (a marker: platform_machine == 'x86_64') and use NVPL or OpenBLAS (BLAS=NVPL).
from = pip 26.3
example = ERROR: Could not find a version that satisfies the requirement mkl-static==2024.2 (from versions: none)
"""
