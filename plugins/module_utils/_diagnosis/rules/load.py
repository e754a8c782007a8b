# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Loading

What the loader says of a library that was built.
"""

RULES = r"""
[other-cuda-library]
keys = , version lib
pattern =
    undefined symbol: (?P<symbol>\w+), version (?P<library>lib(?:nvJitLink|cudart|cublas|cublasLt|cusparse|nvrtc|cufft
    +|cusolver)\.so\.\d+)
cause = The loader took another {library} than the program was built with: it has no {symbol}.
remedy = Take other copies of {library} off LD_LIBRARY_PATH (also those of a toolkit), so that the environment's own
    is loaded, or use a PyTorch of that library's CUDA minor version.
source =
    pytorch/pytorch#144244
    infiniflow/ragflow#4466
    deepseek-ai/DeepGEMM#137

[cuda-12-library]
keys =
    .so.12: cannot open
    .so.12.
    .so.11: cannot open
    .so.11.0: cannot open
pattern =
    (lib(?:cudart|cublas|cublasLt|nvblas|nvrtc|nvJitLink|cupti|nppc|nppif|nppig|nvjpeg)\.so\.1[12](?:\.\d)*)
    +: cannot open
    (lib(?:nvrtc-builtins\.so\.12\.\d+|cusolver\.so\.11|cufft\.so\.11)): cannot open
cause = The package was built for CUDA 12 or older: it needs {found}, and a stack has only the libraries of its one
    CUDA (13).
remedy = Install the package's build for CUDA 13 (cu130), with a torch of cu130.
source =
    vllm-project/vllm#36099
    sgl-project/sglang#18203
    sgl-project/sglang-omni#620

[cudss-soname]
keys = libcudss.so.0: cannot open
pattern = (libcudss\.so\.0): cannot open shared object file
cause = {found} is not found: cuDSS before 1.0 provides it; cuDSS 1.0 is libcudss.so.1, which does not satisfy it.
remedy = Install cuDSS 0.7.1 to 0.8.0 (role math_libraries, package libcudss0-cuda-13); elf_closure_info lists
    everything that is missing in one pass.

[driver-library-missing]
keys =
    libcuda.so.1: cannot open
    libnvidia-ml.so.1: cannot open
    couldn't find libnvidia-ml.so
pattern =
    (libcuda\.so\.1|libnvidia-ml\.so\.1): cannot open shared object file
    couldn't find (libnvidia-ml\.so) library
cause = {found} is not found: it belongs to the NVIDIA driver.
remedy = Run it on a host with the driver (nvidia-smi works there); in a container start it with --gpus all
    (--runtime=nvidia) and the NVIDIA Container Toolkit, which brings the driver's libraries in; this collection never
    installs the driver.
source =
    leejet/stable-diffusion.cpp#1352
    ggml-org/llama.cpp#7822

[opengl-missing]
keys =
    libGL.so.1: cannot open
    libgthread-2.0.so.0: cannot open
    libSM.so.6: cannot open
pattern = (libGL\.so\.1|libgthread-2\.0\.so\.0|libSM\.so\.6): cannot open shared object file
cause = {found} of the desktop is missing, which OpenCV loads, as in a container without one.
remedy = Install opencv-python-headless instead of opencv-python, or libgl1 and libglib2.0-0.

[mpi-library-missing]
keys = cannot open shared object file
pattern = (lib(?:mpi|mpicxx|mpi_cxx|mpi_mpifh|open-rte|open-pal)\.so\.\d+): cannot open shared object file
values =
    whose of found: libmpi\.so\.40 => Open MPI 3 to 5 (apt install libopenmpi-dev)
    whose of found: libmpi\.so\.12 => MPICH, Intel MPI or Open MPI 1.10
    whose of found: . => the MPI that it was built for
cause = The loader does not find {found} of the MPI for which mpi4py or the program was built: its directory is not on
    the loader's path, or another MPI is installed.
remedy = Find it (find / -name 'libmpi.so*') and add its directory to LD_LIBRARY_PATH (/usr/local/mpi/lib in NVIDIA's
    images), or install {whose}; or build mpi4py for the MPI that is there (pip install --force-reinstall
    --no-binary mpi4py mpi4py).
source = NVIDIA/TensorRT-LLM#167

[library-not-found]
keys = cannot open shared object file
pattern = ([^\s/:]+\.so[\w.]*): cannot open shared object file
unless = libibverbs: Warning
facts = library
cause = The shared library {found} is not found. {hint}
remedy = Install it{ways}, or if it is there add its directory to LD_LIBRARY_PATH; elf_closure_info lists everything
    that is missing in one pass; the loader stops at the first.

[libc-too-old]
keys = not found (required by
pattern = (?P<file>[^\s'\"(]+): version '(?P<version>[A-Z]\w+_[\d.]+)' not found \(required by (?P<user>[^)\n]+)\)
cause = {file} has no {version}, which {user} was built with: this system's or environment's copy is older.
remedy = Where the file is of a conda environment or LD_LIBRARY_PATH, take that older copy away (conda install -c
    conda-forge libstdcxx-ng) or put the system's first; else run it on a newer system (Ubuntu 24.04 has glibc 2.39 and
    GLIBCXX 3.4.33), or build it on the oldest system that must run it.
source = Dao-AILab/flash-attention#879

[static-tls]
keys = static TLS block
pattern = (\S+): cannot allocate memory in static TLS block
cause = {found} was loaded too late to get thread-local storage.
remedy = Import torch first, or preload that library (mostly libgomp) with LD_PRELOAD.
source =
    NVIDIA/DALI#5519
    dmlc/xgboost#8488

[nccl-of-another-torch]
keys = undefined symbol: nccl
pattern = ([^\s'\"(]+): undefined symbol: (?P<symbol>nccl\w+)
cause = {found} needs {symbol}, and the NCCL that was loaded is older than the one it was built with.
remedy = Install the nvidia-nccl-cu13 that this torch pins, and keep another libnccl.so.2 (an apt package's, HPC-X's)
    off LD_LIBRARY_PATH and LD_PRELOAD.

[undefined-symbol]
keys = undefined symbol
pattern = ([^\s'\"(]+): undefined symbol: ([^\s,]+)
cause = {found} needs a symbol that no loaded library has: it was built against another version of a library.
remedy = Rebuild it against the installed libraries, or install its build for their versions.

[operators-not-loaded]
keys =
    '_OpNamespace' '
    No module named 'vllm._
pattern =
    '_OpNamespace' '(?P<names1>\w+)' object has no attribute '(?P<operator>\w+)'
    Error: No module named '(?P<names2>vllm\._\w+)
cause = The compiled operators {names} are not loaded[, or lack {operator}]: their import failed before, or they are of
    another release than the Python files of the package.
remedy = Look for an earlier line that says which import failed (of vLLM: Failed to import from vllm._C) and why; if
    there is none, remove the package with its old compiled files, and install or build it anew.
source =
    vllm-project/vllm#6478
    vllm-project/vllm#13593
    QwenLM/Qwen3-VL#51
    hiyouga/LlamaFactory#5767
"""
