# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""PyTorch and Triton

Defects of their versions that are known, and what their builds ask for.
"""

RULES = r"""
[triton-assertion-capability]
keys = computeCapability not supported
pattern = Assertion [^\n]*(computeCapability not supported)
cause = This Triton is older than the GPU ({found}).
remedy = Install Triton 3.3.1 or newer with the PyTorch that belongs to it.
source =
    woct0rdho/triton-windows#83
    triton-lang/triton#6771

[nvtx-target-missing]
keys = CUDA::nvToolsExt
pattern = (CUDA::nvToolsExt)\s+but the target was not found
cause = This PyTorch's CMake files look for the old NVTX library ({found}), which CUDA 13 no longer has.
remedy = Build against a PyTorch for this CUDA (cu130), or provide NVTX 3's headers (nvtx3_dir).
source = vllm-project/vllm#18380

[triton-without-cuda-headers]
keys = cuda.h
pattern = cuda_utils\.c:\d+:\d+: fatal error: '?cuda\.h'?(?:: No such file| file not found)
cause = Triton compiles cuda_utils.c at the first kernel, and its wheel has no cuda.h.
remedy = Point CPATH to the CUDA toolkit's headers (export CPATH=/usr/local/cuda/include), or add them to the wheel
    (backends/nvidia/include); the roles triton and python_env do.

[missing-python-headers]
keys =
    Python.h
    Could NOT find Python
pattern =
    fatal error: '?(Python\.h)'?(?:: No such file| file not found)
    Could not find '?(Python\.h)
    ^[ \t]+Could NOT find Python(?:3|Libs)?\s+\(missing:\s+(?![^)]*Interpreter)[^)]*?(\w+_INCLUDE_DIRS?|Development\.M
    +odule)
cause = The headers of this Python are not installed ({found}), though Python itself is there: builds need them, and
    Triton and other packages compile a C file with them when they first run.
remedy = Install them for the Python in use: sudo apt install python3-dev (python3.12-dev for 3.12), which the role
    build_toolchain does; a virtual environment has none, and a Python of uv brings its own; then start the program
    again.
source =
    vllm-project/vllm#27890
    sgl-project/sglang#1117

[triton-offline]
keys = Requested an offline build but
pattern = Requested an offline build but (\w+) is not set
cause = Triton is built offline, but {found} does not point to the package.
remedy = Set {found} in the unit's environment; the role triton sets all that its version needs.

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
cause = This source does not fit the LLVM that it is built against ({found}): LLVM's API changes with every commit.
remedy = Build LLVM at the commit that Triton pins (cmake/llvm-hash.txt, or cmake/llvm-info.json since 3.8): compare it
    with the commit in the receipt of the unit llvm.

[source-incomplete]
keys = .td'
pattern = '([^'\n]*/lib/Target/[^'\n]*\.td)', needed by .* missing and no known rule
cause = The LLVM source tree is incomplete: {found} is not in it.
remedy = Use the complete source (or keep the .td files of ARM, RISCV and PowerPC, which TargetParser needs).

[torch-shm-manager]
keys = bin/torch_shm_manager
pattern = (?:\*\*\* \[[^\]\n]*|FAILED: (?:\[code=\d+\] )?)(bin/torch_shm_manager)
cause = The link of {found} failed, as it does with a Python that this PyTorch does not support (3.14 with 2.9), or with
    USE_DISTRIBUTED=0 and other disabled parts.
remedy = Build with a Python that the tag supports, and without those options.

[triton-shared-memory]
keys = out of resource: shared memory
pattern = out of resource: shared memory, Required: (?P<need>\d+), Hardware limit: (?P<limit>\d+)
cause = A Triton kernel asks for {need} bytes of the GPU's shared memory, and this GPU has {limit} for one block: the
    block sizes were chosen for a larger one.
remedy = Use a release or a backend whose kernel has sizes for this GPU; in your own kernel lower num_stages or the
    block sizes.
source =
    triton-lang/triton#8182
    alipay/PainlessInferenceAcceleration#35
    OpenSpaceAI/DEST3D#2

[gemm-shared-memory]
keys = shared memory but device supports
pattern = requires (?P<need>\d+) bytes (?:of )?shared memory but device supports (?P<limit>\d+)
cause = A kernel of CUTLASS needs {need} bytes of shared memory for one block, and this GPU has {limit} (99 KiB, 101376
    bytes, on a GB10): that is a part of the GPU itself, not the host's memory.
remedy = Take a TensorRT-LLM (or another engine) with CUTLASS 4.4.2 or newer, or another backend for the MoE layers
    (moe_config with backend TRITON); where only the autotuner reports it, the server runs on with slower kernels.
source = NVIDIA/cutlass#3144

[triton-fp8-old-gpu]
keys = not supported in this architecture
pattern = type (fp8\w+) not supported in this architecture
cause = Triton compiles for a GPU older than 8.9, which has no {found}; a GB10 has it.
remedy = Use a model without FP8 on that GPU; on a GB10 see that the process uses its GPU (CUDA_VISIBLE_DEVICES), and a
    Triton that knows it.

[triton-image-invalid]
keys = device kernel image is invalid
pattern = (device kernel image is invalid)
cause = The driver cannot load a kernel that was compiled ({found}): it was made by a newer CUDA than the driver knows,
    for another GPU, or its file in the cache is damaged.
remedy = Compare the CUDA that nvidia-smi shows with the ptxas in use (TRITON_PTXAS_PATH), delete the caches of compiled
    kernels (~/.triton/cache, ~/.cache/vllm, ~/.cache/flashinfer), and start again.

[triton-no-libcuda]
keys = libcuda.so cannot found
pattern = (libcuda\.so) cannot found
cause = Triton looks for {found} with ldconfig, and does not find it.
remedy = In a container start it with --gpus all; on the host run sudo ldconfig, or set TRITON_LIBCUDA_PATH to the
    directory that has libcuda.so.1 (/usr/lib/aarch64-linux-gnu).

[triton-pass-failed]
keys = PassManager::run failed
pattern = (PassManager::run failed)
cause = Triton's compiler could not compile a kernel ({found}): a fault of the kernel or of this Triton for this GPU;
    the lines above it say at which place.
remedy = Use the newest Triton with the PyTorch that belongs to it, or another backend or release of the engine whose
    kernel it is (--enforce-eager avoids those of torch.compile).

[cuda-forked]
keys = Cannot re-initialize CUDA in forked subprocess
pattern = (Cannot re-initialize CUDA in forked subprocess)
cause = A process that had used CUDA was forked, and CUDA does not survive that ({found}).
remedy = Use the start method spawn (of vLLM: VLLM_WORKER_MULTIPROC_METHOD=spawn, with the program's own code below `if
    __name__ == '__main__':`), or touch no CUDA before the workers start.

[device-ordinal]
keys = invalid device ordinal
pattern = (invalid device ordinal)
cause = The program asks for a GPU that is not there ({found}): a Spark has one, number 0.
remedy = Start as many processes per host as it has GPUs (--nproc-per-node 1, tensor parallel size 1 on one Spark), and
    use cuda:0.

[devices-mixed]
keys = Expected all tensors to be on the same device
pattern =
    Expected all tensors to be on the same device, but (?:found at least two devices|got [^\n]*?on), ?(\w[\w:]*(?:
    + and| ,)? ?\w*[\w:]*)
    Expected all tensors to be on the same device
cause = One operation got tensors of two devices ({found}): a part of the model stayed on the CPU.
remedy = Move all to the GPU (.to('cuda')), or turn the offloading of the program off (device_map, --lowvram,
    --cpu-offload-gb): on a GB10, whose memory both share, offloading saves nothing.

[weights-only]
keys = Weights only load failed
pattern = (Weights only load failed)
cause = The file holds more than weights, and torch.load refuses that since PyTorch 2.6 ({found}).
remedy = Take the model as safetensors, or a release of the program that loads it for PyTorch 2.6; weights_only=False
    runs code that is in the file, so only for a file whose author you trust.

[state-dict-differs]
keys = in loading state_dict for
pattern = Error\(s\) in loading state_dict for (?P<model>\w+):(?:\s+(?P<what>[^\n]+))?
cause = The weights do not fit the model {model}[: {what}].
remedy = Use the file that is made for this model and this release of the program (another size, variant or quantization
    has other shapes).

[shapes-differ]
keys =
    mat1 and mat2 shapes cannot be multiplied
    Given groups=1, weight of size
pattern =
    mat1 and mat2 shapes cannot be multiplied \((?P<shapes>[^)\n]+)\)
    Given groups=\d+, weight of size (?P<shapes2>\[[^\]\n]+\], expected input\[[^\]\n]+\])
cause = Two parts of a model do not fit each other ({shapes}): mostly files of two model families are combined.
remedy = Use the text encoder, VAE, LoRA or control model that is made for the base model (of ComfyUI: compare the
    workflow's files with the model's page).

[flash-attn-not-installed]
keys =
    FlashAttention2 has been toggled on
    packages that were not found in your environment: flash_attn
pattern =
    (FlashAttention2 has been toggled on), but it cannot be used
    packages that were not found in your environment: (flash_attn)
cause = The program asks for flash-attn, which is not installed ({found}); there is no wheel of it for aarch64 in the
    package index.
remedy = Ask for another attention (attn_implementation='sdpa'), or build flash-attn for this torch: pip install
    flash-attn --no-build-isolation, with TORCH_CUDA_ARCH_LIST=12.0 and MAX_JOBS=4 (the role torch_extensions builds
    it).

[other-torch]
keys = undefined symbol: _ZN
pattern = ([^\s'\"(]+): undefined symbol: _ZNK?(?:3c10|2at|5torch|6caffe2)\w*
cause = {found} was built against a different PyTorch than the installed one.
remedy = Install the package's build for the installed torch and CUDA, or the torch that it was built with (pip show
    names what it requires); or build it from source against this torch (pip install --no-build-isolation --no-binary);
    in this collection it is a unit that depends on pytorch, or a wheel of the same stack.
source =
    vllm-project/vllm#13608
    eugr/spark-vllm-docker#135

[torch-cuda-mismatch]
keys = The detected CUDA version
pattern =
    The detected CUDA version \((?P<toolkit>\d[^)\n]*)\) mismatches [\w ]+ compile\s*PyTorch \((?P<torch>\d[\d.]*)\)
    The detected CUDA version \(\S+\) mismatches the version that was used to compile
cause = The CUDA toolkit on PATH[, {toolkit},] is not the one that PyTorch was built with[, {torch}].
remedy = Let both agree: install the PyTorch for the toolkit's CUDA (on a Spark --index-url
    https://download.pytorch.org/whl/cu130), or point CUDA_HOME (in the unit's environment) to a toolkit of PyTorch's
    CUDA; build with --no-build-isolation, or pip takes another torch for the build than the installed one.
source = facebookresearch/xformers#1308

[torch-missing]
keys = Error: No module named 'torch'
pattern = Error: No module named 'torch'
cause = torch is imported where it is not installed: pip builds a package in an isolated environment of its own, in
    which flash-attn and others whose setup imports torch do not find the installed one; or the program runs in an
    environment without it.
remedy = For a build, install torch first (cu130), with setuptools, wheel, packaging and ninja, and run pip or uv with
    --no-build-isolation; a unit of this collection names pytorch in its depends; for a program, install torch into the
    environment that runs it.
source = Dao-AILab/flash-attention#1421

[torch-without-cuda]
keys = Torch not compiled with CUDA enabled
pattern = Torch not compiled with CUDA enabled
cause = The installed PyTorch is a CPU build, as are the package index's 2.9 and 2.10 wheels for aarch64.
remedy = Replace it by a build for CUDA: pip install --force-reinstall torch --index-url
    https://download.pytorch.org/whl/cu130 (2.11 and newer are CUDA builds on aarch64 in the package index, too), or the
    wheel that the role pytorch builds.
source = pytorch/pytorch#168065

[mkl-on-arm]
keys =
    requirement mkl
    distribution found for mkl
    requirement intel-
    distribution found for intel-
pattern = (?:satisfies the requirement|No matching distribution found for) ((?:mkl|intel-)\S*)
cause = {found} exists only for x86-64.
remedy = Omit it on aarch64 (with the marker platform_machine == 'x86_64') and use NVPL or OpenBLAS (BLAS=NVPL).
source =
    IntelPython/mkl_fft#132
    spack/spack#34391
"""
