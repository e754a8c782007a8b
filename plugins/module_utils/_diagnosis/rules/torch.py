# __init__.py in this directory explains the fields.

"""PyTorch and Triton

Known defects of their versions, and requirements of their builds.
"""

RULES = r"""
[device-name-invalid]
keys = Invalid device string
pattern = Invalid device string: '(?P<device>[^'\n]*)'
cause = PyTorch does not know the device {device}.
remedy = Where the program or its configuration names the device, write cuda, cuda:0 (a Spark has no other) or cpu,
    without spaces or quotes.
source = https://docs.pytorch.org/docs/stable/tensor_attributes.html

[compiled-kernel-out-of-bounds]
keys = index out of bounds:
pattern = (?:^|: )unknown: block: [^\n]*?Assertion '(?P<why>index out of bounds: [^'\n]{1,120})' failed
cause = A kernel that torch.compile generated reads outside a tensor ({why}). Either this release compiles the model
    wrongly, or a token is not in the model's vocabulary.
remedy = [Turn off speculative decoding, or use fewer draft tokens ({log_speculation}). ]To go on, start without
    compilation (--enforce-eager). Then delete the compiled kernels (~/.cache/vllm/torch_compile_cache,
    /tmp/torchinductor_*) and use a newer release or image (docker pull; a tag may be cached).
source = AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-DFlash#2

[triton-assertion-capability]
keys = computeCapability not supported
pattern = Assertion [^\n]*(computeCapability not supported)
cause = This Triton is older than the GPU ({found}).
remedy = Install Triton 3.3.1 or newer with its matching PyTorch.
source = woct0rdho/triton-windows#83

[nvtx-target-missing]
keys =
    nvToolsExt
pattern =
    fatal error: (nvToolsExt\w*\.h)
    (?:cannot find|unable to find library) (-lnvToolsExt)
    (libnvToolsExt\.so\.1): cannot open shared object file
    (CUDA::nvToolsExt)\s+but the target was not found
values =
    advice of found: CUDA => Build against a PyTorch for this CUDA (cu130), or provide NVTX 3's headers (nvtx3_dir)
    advice of found: libnv => Install a build of the package for CUDA 13, or install only that library (pip install
    + nvidia-nvtx-cu12) and add its lib directory to LD_LIBRARY_PATH
    advice of found: . => Use a release of the source for CUDA 13, or include nvtx3/nvToolsExt.h and do not link
    + -lnvToolsExt, because NVTX 3 has only headers
cause = The build or program needs the old NVTX library ({found}), which CUDA 13 no longer has.
remedy = {advice}.
source = vllm-project/vllm#18380

[triton-without-cuda-headers]
keys = cuda.h
pattern = cuda_utils\.c:\d+:\d+: fatal error: '?cuda\.h'?(?:: No such file| file not found)
cause = Triton compiles cuda_utils.c for the first kernel, but its wheel does not include cuda.h.
remedy = Point CPATH to the CUDA toolkit's headers (export CPATH=/usr/local/cuda/include), or add them to the wheel
    (backends/nvidia/include). The roles triton and python_env do this.

[missing-python-headers]
keys =
    Python.h
    Could NOT find Python
    Could not link test program to Python
pattern =
    configure: error:\s+Could not link test program to (Python)
    fatal error: '?(Python\.h)'?(?:: No such file| file not found)
    Could not find '?(Python\.h)
    ^[ \t]+Could NOT find Python(?:3|Libs)?\s+\(missing:\s+(?![^)]*Interpreter)[^)]*?(\w+_INCLUDE_DIRS?|Development\.M
    +odule)
cause = The headers of this Python are not installed ({found}). Builds need them, as do Triton and other packages that
    compile a C file when they first run.
remedy = Install the headers of the Python in use: sudo apt install python3-dev (python3.12-dev for 3.12), which the
    role build_toolchain does. A virtual environment has no headers of its own, and uv's Pythons include theirs. Then
    start the program again.
source = vllm-project/vllm#27890

[triton-llvm-gone]
keys =
    The specified blob does not exist
    Public access is not permitted on this storage
pattern =
    downloading and extracting (?P<url>\S+) \.\.\.\n\s*error: (?P<why>HTTP Error \d+)
    (?P<why2>HTTP Error 40\d): (?:The specified blob|Public access)
cause = Triton's build downloads its LLVM, but the archive no longer exists ({why}[: {url}]).
remedy = Use a newer release of Triton, or a wheel. To build this release, build LLVM at the commit in
    cmake/llvm-hash.txt (role llvm) and set LLVM_SYSPATH to its absolute path.
source = triton-lang/triton#4550

[triton-offline]
keys = Requested an offline build but
pattern = Requested an offline build but (\w+) is not set
cause = Triton's build is offline, but {found} does not point to the package.
remedy = Set {found} in the unit's environment; the role triton sets every variable that its version needs.

[triton-older-than-cuda]
keys = Triton only support CUDA
pattern = Triton only support CUDA 10\.0 or higher, but got CUDA version: (?P<version>[\d.]+)
cause = This Triton is older than CUDA {version}, whose ptxas it was told to use or has found.
remedy = Install the Triton of a newer torch (pip install -U triton, with the torch that requires it), or remove
    TRITON_PTXAS_PATH and older toolkits from PATH so that its own ptxas runs.
source = woct0rdho/triton-windows#49

[llvm-mismatch]
keys =
    fatal error:
    [-Werror=deprecated
    abstract class type
    error:
pattern =
    triton\S*:\d+:\d+: error: (?:[^\n]*\b(?:llvm|mlir)::|no matching function for call to ')(\w+)
    error: [^\n]*\b(?:llvm|mlir)::(\w+)[^\n]*\[-Werror=deprecated
    invalid new-expression of abstract class type '[^'\n]*\b(?:mlir|triton)::(\w+)
    fatal error: '?((?:llvm|mlir|lld)/[\w/.]+)'?(?:: No such file| file not found)
cause = This source does not fit the LLVM that it is built against ({found}). LLVM's API changes with every commit.
remedy = Use the LLVM release that the project names (an older one if a header was removed). For triton-lang's Triton,
    build LLVM at the commit that it pins (cmake/llvm-hash.txt, or cmake/llvm-info.json since 3.8), and compare it with
    the commit in the receipt of the unit llvm.

[source-incomplete]
keys = .td'
pattern = '([^'\n]*/lib/Target/[^'\n]*\.td)', needed by .* missing and no known rule
cause = The LLVM source tree is incomplete: {found} is not in it.
remedy = Use the complete source (or keep the .td files of ARM, RISCV and PowerPC, which TargetParser needs).

[triton-shared-memory]
keys =
    out of resource:
    OutOfResources:
pattern = (?:out of resource|OutOfResources): (?:shared memory|\w+),? Required: ?(?P<need>\d+),?
    + Hardware limit: ?(?P<limit>\d+)
cause = A Triton kernel needs {need} bytes of the GPU's shared memory, but this GPU has {limit} per block. The kernel's
    block sizes are for a larger GPU.
remedy = Use a release or a backend whose kernel has block sizes for this GPU. In your own kernel, lower num_stages or
    the block sizes.
source = triton-lang/triton#8182

[gemm-shared-memory]
keys = shared memory but device supports
pattern = requires (?P<need>\d+) bytes (?:of )?shared memory but device supports (?P<limit>\d+)
cause = A CUTLASS kernel needs {need} bytes of shared memory per block, but this GPU has {limit} (99 KiB, 101376 bytes,
    on a GB10). Shared memory is part of the GPU itself, not of the host's memory.
remedy = Use TensorRT-LLM (or another engine) with CUTLASS 4.4.2 or newer, or another backend for the MoE layers
    (moe_config with backend TRITON). If only the autotuner reports it, the server continues with slower kernels.
source = NVIDIA/cutlass#3144

[triton-fp8-old-gpu]
keys =
    not supported in this architecture
    is not supported on CUDA arch <
pattern =
    (fp8e4nv|fp8e5|fp8e4b15) not supported in this architecture
    (fp8\w+) data type is not supported on CUDA arch <
cause = Triton compiles for a GPU older than 8.9, which does not support {found}; a GB10 does.
remedy = On that GPU, use a model without FP8. On a GB10, check that the process uses its GPU (CUDA_VISIBLE_DEVICES) and
    a Triton that knows it.

[triton-source-changed]
keys = Cannot set attribute 'src' directly
pattern = (Cannot set attribute 'src' directly)
cause = A package, usually an older xformers, changes Triton's kernels in a way that the installed Triton refuses
    ({found}).
remedy = Install the release of that package for this PyTorch (the traceback's last line that is not Triton's names the
    package), or uninstall xformers (pip uninstall xformers); PyTorch's attention then replaces it.

[nvrtc-source-error]
keys =
    NVRTC log
    NVRTC_ERROR_COMPILATION
    NVRTC compilation failed
pattern =
    (?:NVRTC log|NVRTC_ERROR_COMPILATION|NVRTC compilation failed)[^\n]*?(?:\n[^\n]*?){0,8}?\(\d+\):
    + (?:catastrophic )?error: (?P<why>[^\n]+)
values =
    advice of why: identifier .cuda => NVRTC does not know the functions of CUDA's runtime: let nvcc compile the kernel
    + (for DeepGEMM, set DG_JIT_USE_NVRTC=0)
    advice of why: (?:could not|cannot) open => Install the headers (CUDA's, CCCL) and set CUDA_HOME
    advice of why: . => Use the release of the library for this CUDA
cause = NVRTC could not compile a kernel: {why}. An invalid image or another CUDA error after it is a consequence.
remedy = {advice}, or use a newer release of the library; then delete its kernel cache.
source = deepseek-ai/DeepGEMM#359

[triton-image-invalid]
keys = device kernel image is invalid
pattern =
    (?P<triton>Triton Error \[CUDA\]): (?P<what1>device kernel image is invalid)
    /jit/(?P<deepgemm>handle)\.hpp:[^\n]*?(?P<what3>device kernel image is invalid)
    (?P<what2>device kernel image is invalid)
values =
    advice of deepgemm: . => Turn off DeepGEMM, whose kernels do not support GPUs of 12.x (VLLM_USE_DEEP_GEMM=0; for
    + SGLang, SGLANG_ENABLE_JIT_DEEPGEMM=0)
    advice of triton: . => Compare the CUDA version that nvidia-smi shows with the ptxas in use (TRITON_PTXAS_PATH),
    + delete the caches of compiled kernels (~/.triton/cache, ~/.cache/vllm), and start again
    advice of what: . => Start without that part of the program (use another backend), or use a build of it for 12.1 and
    + a CUDA that is not newer than the driver's (nvidia-smi shows it); if the kernels are compiled at run time, delete
    + their cache (in ~/.cache; ~/.nv/ComputeCache)
cause = The driver cannot load a compiled kernel ({what}). It was made by a CUDA that is newer than the driver, it is
    for another GPU, or its file in the cache is damaged.
remedy = [The ptxas in use does not know this GPU ({log_old_ptxas}); put the ptxas of a newer CUDA first on PATH.
    ]{advice}.
source = MIC-DKFZ/nnUNet#3020

[triton-no-libcuda]
keys = libcuda.so cannot found
pattern = (libcuda\.so) cannot found
cause = Triton looks for {found} with ldconfig, but does not find it.
remedy = Start a container with --gpus all. On the host, run sudo ldconfig, or set TRITON_LIBCUDA_PATH to the directory
    of libcuda.so.1 (/usr/lib/aarch64-linux-gnu).

[triton-no-driver]
keys = There should only be one.
pattern = (0 active drivers) \(\[\]\)\. There should only be one
cause = Triton sees no GPU ({found}), so torch.cuda.is_available() is False here. PyTorch is a CPU build, the container
    runs without --gpus all, or there is no working driver.
remedy = Run python3 -c "import torch; print(torch.__version__, torch.cuda.is_available())". If the version ends
    in +cpu, install a build for CUDA; otherwise make nvidia-smi work there (in a container, with --gpus all).
source = deepseek-ai/DeepSeek-R1#493

[ptxas-missing]
keys = Cannot find ptxas
pattern = (Cannot find ptxas\S*)
cause = Triton does not find its assembler ({found}): the wheel does not include it, and TRITON_PTXAS_PATH does not name
    it.
remedy = Install the CUDA toolkit (cuda-toolkit-13-0; role cuda_libraries) and use its ptxas: export
    TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas (for Triton 3.6 and newer on a GB10, TRITON_PTXAS_BLACKWELL_PATH).

[triton-allocator-unset]
keys = no allocator was set
pattern = Kernel requires a runtime (?:memory allocation|\w[\w ]*), but (no allocator was set)
cause = A Triton kernel needs scratch memory, but the program that starts it set no allocator for Triton ({found}). This
    is a fault of that release of the program, not a lack of memory.
remedy = Use a newer release of the program (vLLM, or the one in the traceback), or the Triton that it pins. In your own
    code, call triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    before the kernel.
source = vllm-project/vllm#33857

[triton-pass-failed]
keys = PassManager::run failed
pattern = (PassManager::run failed)
cause = Triton's compiler could not compile a kernel ({found}). The kernel, or this Triton for this GPU, has a fault;
    the lines above it name the kernel's line.
remedy = Use the Triton that the installed torch requires (pip check; 3.6 for torch 2.11, while 3.7.0 is reported to
    fail), not a newer one. If it is that one, use a newer torch with its Triton, or another backend or release of the
    engine whose kernel it is (--enforce-eager avoids the kernels of torch.compile).

[dimension-out-of-range]
keys = Dimension out of range (expected
pattern = Dimension out of range \(expected to be in range of \[(?P<low>-?\d+), (?P<high>-?\d+)\], but got
    + (?P<got>-?\d+)\)
cause = The code asks for dimension {got} of a tensor that has only the dimensions {low} to {high}: it got data in
    another form than it expects. This has nothing to do with the GPU.
remedy = Read the traceback's last line in the program: print the shapes there (a batch of one, a squeeze(), or another
    release of a library lose a dimension), and use the releases that the program names.
source = mllam/neural-lam#163

[triton-dot-unsupported]
keys = Unsupported DotOp found
pattern = Unsupported DotOp found when converting (?P<step>TritonGPU to LLVM)
cause = Triton cannot compile a matrix product (tl.dot) of the kernel for this GPU: its compiler has no such operation
    in this form (types, layout).
remedy = Use a newer Triton with the PyTorch that pins it, or another backend for the operation; in a kernel of your
    own, change the types or the block's sizes.
source = triton-lang/triton#6951

[compile-python-too-new]
keys = is not supported on Python
pattern =
    (?P<what>Dynamo|torch\.compile) is not supported on (?P<python>Python [\d.]+\+)
cause = This PyTorch is too old to compile ({what}) on {python}.
remedy = Use Python 3.12 (uv venv --python 3.12) or a newer PyTorch; TORCHDYNAMO_DISABLE=1 runs without torch.compile.

[torch-for-rocm]
keys =
    No HIP GPUs are available
    libamdhip64.so
pattern =
    (No HIP GPUs are available)
    (libamdhip64\.so[.\d]*): cannot open shared object
cause = The installed PyTorch (or package) is a build for AMD GPUs ({found}).
remedy = Replace it with a build for CUDA (pip install --force-reinstall torch --index-url
    https://download.pytorch.org/whl/cu130), and remove rocm from index URLs and lock files.
source = vllm-project/vllm#34573

[cuda-forked]
keys = Cannot re-initialize CUDA in forked subprocess
pattern = (Cannot re-initialize CUDA in forked subprocess)
cause = A process was forked after it had used CUDA, which CUDA does not support ({found}).
remedy = Use the start method spawn (for vLLM, VLLM_WORKER_MULTIPROC_METHOD=spawn, with the program's own code below `if
    __name__ == '__main__':`), or do not use CUDA before the workers start.
source = vllm-project/vllm#7151

[device-ordinal]
keys =
    invalid device ordinal
    device < num_gpus INTERNAL ASSERT FAILED
    You requested gpu: [
pattern =
    (invalid device ordinal)
    (device >= 0 && device < num_gpus) INTERNAL ASSERT FAILED
    You requested (gpu: \[[\d, ]+\])
cause = The program asks for a GPU that does not exist ({found}). A Spark has one, number 0.
remedy = Start one process per GPU (--nproc-per-node 1, tensor parallel size 1 on one Spark), and use cuda:0. Unset
    CUDA_VISIBLE_DEVICES if it names other GPUs, and give a container its GPU by the number that nvidia-smi -L shows
    (--gpus all).
source = https://github.com/NVIDIA/dgx-spark-playbooks

[devices-mixed]
keys = Expected all tensors to be on the same device
pattern =
    Expected all tensors to be on the same device, but (?:found at least two devices|got [^\n]*?on), ?(\w[\w:]*(?:
    + and| ,)? ?\w*[\w:]*)
    Expected all tensors to be on the same device
values =
    where of found: cuda:\d+ and cuda:\d => the model or its input is spread over two GPUs
    where of found: .*(?:cpu|CPU) => part of the model or its input stayed on the CPU
    where of found: . => part of the model or its input is elsewhere
    advice of found: cuda:\d+ and cuda:\d => Show the process only one GPU (CUDA_VISIBLE_DEVICES=0), or put the model on
    + one device (device_map="cuda:0")
    advice of found: . => Move everything to the GPU (.to('cuda'), also the inputs), or turn off the program's
    + offloading (device_map, --lowvram, --cpu-offload-gb): a GB10's CPU and GPU share the memory, so offloading saves
    + nothing
cause = One operation received tensors on two devices ({found}): {where}.
remedy = {advice}.

[weights-only]
keys = Weights only load failed
pattern = (Weights only load failed)
cause = The file contains more than weights, which torch.load refuses since PyTorch 2.6 ({found}).
remedy = Use the model as safetensors, or a release of the program that supports PyTorch 2.6. weights_only=False runs
    code from the file, so set it only if you trust the file's author.
source = MIC-DKFZ/nnUNet#2681

[state-dict-differs]
keys =
    in loading state_dict for
    Trying to set a tensor of shape
    expected shape tensor(
    the following keys are missing
pattern =
    Error\(s\) in loading state_dict for (?P<model>\w+):(?:\s+(?P<what>[^\n]+))?
    Trying to set a tensor of shape torch\.Size\((?P<have1>\[[\d, ]+\])\) in \S+ \(which has shape
    + torch\.Size\((?P<need1>\[[\d, ]+\])
    Cannot load [^\n]{0,200}?because the (?P<what4>following keys are missing: [^\n]{2,200}?)\.? ?$
    Cannot load [^\n]{0,200}?because (?P<what3>[\w.]+) expected shape tensor\([^\n]*?size=(?P<need2>\([\d, ]+\))\), but
    + got torch\.Size\((?P<have2>\[[\d, ]+\])
cause = The weights do not fit the model[ {model}][: {what}][: the file has {have}, but the model needs {need}].
remedy = Use the file for this model and this release of the program (another size, variant or quantization has other
    shapes). The pipeline type or the config.json must match the file (base, inpainting, text or image to video, XL),
    and a new model needs the newest diffusers.

[shapes-differ]
keys =
    mat1 and mat2 shapes cannot be multiplied
    Given groups=1, weight of size
    must match the size of tensor b
    Sizes of tensors must match except in dimension
    is invalid for input of size
    The expanded size of the tensor
pattern =
    mat1 and mat2 shapes cannot be multiplied \((?P<shapes>[^)\n]+)\)
    Given groups=\d+, weight of size (?P<shapes2>\[[^\]\n]+\], expected input\[[^\]\n]+\])
    (?P<shapes3>size of tensor a \(\d+\) must match the size of tensor b \(\d+\)[\w -]*)
    Sizes of tensors must match except in dimension \d+\. (?P<shapes4>Expected size \d+ but got size \d+)
    (?P<shapes5>shape '\[[^\]\n]+\]' is invalid for input of size \d+)
    (?P<shapes6>expanded size of the tensor \(\d+\) must match the existing size \(\d+\))
values =
    reason of shapes: size of tensor a \(\d{6,}\) .*\(\d{6,}\) at non-singleton dimension 0 => these look like flat
    + parts of weights or of an optimizer, saved by another number of processes
    advice of shapes: size of tensor a \(\d{6,}\) .*\(\d{6,}\) at non-singleton dimension 0 => Resume with the number of
    + processes that saved the checkpoint, save it unsharded (a full state dict) or in the form of
    + torch.distributed.checkpoint, or load only the model's weights
    reason of log_speculation: . => the draft model does not fit the main model in speculative decoding, or this release
    + has a fault
    reason of log_server: . => the model's files do not fit this release of the server
    reason of shapes: . => usually the files are from two model families, or a program or node is older than the model
    advice of log_speculation: . => To go on, turn off speculative decoding; otherwise use a draft model made for this
    + model, and a newer release of the server
    advice of log_server: . => Use the release of the server that the model's page names, one process
    + (--tensor-parallel-size 1), or another quantization of the model
    advice of shapes: \d+x(?:2048 and 1024|3072 and 1536|4096 and 2048|5120 and 2560|6144 and 3072)x|\d+x(?P<half>4096
    + and 2048|3072 and 1536) => The weights are packed (two FP4 values in a byte), and this program does not unpack
    + them: update it (ComfyUI and its nodes), or use the file in FP8 or BF16
    advice of shapes: . => Use the text encoder, VAE, LoRA or control model for the base model (in ComfyUI, compare the
    + workflow's files with the model's page), a width and height that are multiples of 64, and the newest release of
    + the program and its nodes
cause = Two parts of a model do not fit each other ({shapes}): {reason}.
remedy = {advice}.
source = sgl-project/sglang#10090

[reduction-sizes-differ]
keys = must have same reduction dim
pattern = must have same reduction dim, but got (?P<shapes>\[[^\]\n]+\] X \[[^\]\n]+\])
cause = Two matrices cannot be multiplied: {shapes}. A part of the model (often the draft model of speculative decoding)
    does not fit, or this release loads it wrongly.
remedy = Start it without speculative decoding first, then with a draft model that was made for exactly this model, or
    with another release of the server.
source = vllm-project/vllm#48848

[sequences-differ]
keys = expected sequence of length
pattern = expected sequence of length (?P<first>\d+) at dim \d+ \(got (?P<other>\d+)\)
values =
    advice of log_comfyui: . => Update ComfyUI and the nodes that write or encode prompts, and try the prompt with
    + ComfyUI's own CLIP Text Encode, because an older node splits the tokens differently
    advice of first: . => Pad and cut them to one length (tokenizer(..., padding=True, truncation=True); in a trainer,
    + use a data collator that pads, with remove_unused_columns)
cause = Lists of different lengths ({first} and {other}) cannot become one tensor.
remedy = {advice}.
source = Comfy-Org/ComfyUI#7102

[torchscript-refused]
keys =
    is currently not supported in Torchscript
    torch.jit.frontend.
    Unknown type name '
pattern =
    ^(?P<what1>[^\n]{3,160}?) is currently not supported in Torchscript
    torch\.jit\.frontend\.\w+: (?P<what2>[^\n]{3,200})
    RuntimeError: ?\s*Unknown type name '(?P<what3>[^'\n]+)'
cause = torch.jit.script cannot translate a part of the model: {what}.
remedy = Leave that function to Python (@torch.jit.ignore, or PyTorch's attention instead of it), or use
    torch.jit.trace, or torch.compile or torch.export, which have replaced torch.jit.script.
source = Dao-AILab/flash-attention#1332

[deepspeed-adam-missing]
keys = has no attribute 'ds_opt_adam'
pattern = 'DeepSpeedCPUAdam' object has no attribute '(ds_opt_adam)'
cause = DeepSpeed could not compile its CPU operator ({found}). The first error of that build is further up.
remedy = Check what ds_report says about it. Install ninja, g++ and the CUDA toolkit of PyTorch's CUDA version, and set
    CUDA_HOME. Without offloading to the CPU the operator is not needed, and on a Spark offloading saves no memory.
uncertain = yes
source = deepspeedai/DeepSpeed#1846

[weights-not-swapped]
keys = _apply(): Couldn't swap
pattern = _apply\(\): Couldn't swap ([\w.]+)
cause = PyTorch could not move a quantized weight ({found}) to another device: TorchAO's tensors do not support this in
    this release, especially with offloading layer by layer.
remedy = Load it directly on the GPU (device_map="cuda"), use enable_model_cpu_offload instead of the sequential one,
    and upgrade torch, torchao and diffusers together.
source = huggingface/diffusers#10555

[flash-attn-not-installed]
keys =
    FlashAttention2 has been toggled on
    packages that were not found in your environment: flash_attn
pattern =
    (FlashAttention2 has been toggled on), but it cannot be used
    packages that were not found in your environment: (flash_attn)
cause = The program needs flash-attn, which is not installed ({found}). The package index has no wheel of it for
    aarch64.
remedy = Choose another attention (attn_implementation='sdpa'), or build flash-attn for this torch: pip install
    flash-attn --no-build-isolation, with TORCH_CUDA_ARCH_LIST=12.0 and MAX_JOBS=4 (the role torch_extensions builds
    it).

[other-torch]
keys =
    undefined symbol: _ZN
    undefined symbol: aoti_torch
    undefined symbol: torch_
    undefined symbol (
    undefined symbol '
    undefined symbol: '
unless = lld: error
pattern =
    (?P<file>[^\s'\"(]+): undefined symbol: (?:_ZNK?(?:3c10|2at|5torch|6caffe2)|aoti_torch_|torch_)\w*
    undefined symbol:? [('](?:e\.g\.,? )?'?(?P<symbol>(?:_ZNK?(?:3c10|2at|5torch|6caffe2)|aoti_torch_|torch_)\w*)
values =
    what of file: . => The library
    what of symbol: . => A compiled package (often torchaudio or torchvision)
    advice of file: . => Install the package's build
    advice of symbol: . => Find the package in the traceback, and install its build
cause = {what}[ {file}] was built against a different PyTorch than the installed one, or for another C++ ABI[ (it needs
    {symbol})].
remedy = {advice} for the installed torch and CUDA, or the torch that it was built with. If
    torch.compiled_with_cxx11_abi() is False, use the build with cxx11abiFALSE in its name. Or build it from source
    against this torch (pip install --no-build-isolation --no-binary; for flash-attn, set
    FLASH_ATTENTION_FORCE_BUILD=TRUE). In this collection, add it as a unit that depends on pytorch, or as a wheel of
    the same stack.
source = vllm-project/vllm#13608

[extension-cache-broken]
keys = cannot open shared object file
pattern = (\S*/torch_extensions/\S+\.so): cannot open shared object file
cause = PyTorch did not compile {found}: an earlier build of this extension failed or was interrupted, and left its
    directory behind.
remedy = Delete ~/.cache/torch_extensions and start again, with nvcc and ninja on PATH, TORCH_CUDA_ARCH_LIST=12.0 and
    MAX_JOBS=4. Then read the compiler's first error.

[user-without-name]
keys = uid not found
pattern = getpwuid\(\): uid not found: (?P<user>\d+)
cause = The program looks up the name of its user, but the container has no name for number {user} (PyTorch puts the
    name into the path of Inductor's cache).
remedy = Set a name and writable directories (docker run -e USER=app -e HOME=/tmp -e
    TORCHINDUCTOR_CACHE_DIR=/tmp/inductor), or mount the host's user names (-v /etc/passwd:/etc/passwd:ro).
source = pytorch/pytorch#140765

[torch-cuda-mismatch]
keys =
    The detected CUDA version
    does not match the version used to compile Pytorch
    version of Cuda that does not match
pattern =
    compiled with a version of Cuda that does not match
    version used to compile Pytorch binaries\.\s+Pytorch binaries were compiled with Cuda (?P<torch2>[\d.]*\d)
    The detected CUDA version \((?P<toolkit>\d[^)\n]*)\) mismatches [\w ]+ compile\s*PyTorch \((?P<torch>\d[\d.]*)\)
    The detected CUDA version \(\S+\) mismatches the version that was used to compile
cause = The CUDA toolkit on PATH[, {toolkit},] is not the one for which PyTorch was built[, {torch}].
remedy = Make both versions match: install the PyTorch for the toolkit's CUDA (on a Spark, --index-url
    https://download.pytorch.org/whl/cu130), or point CUDA_HOME (in the unit's environment) to a toolkit of PyTorch's
    CUDA. Build with --no-build-isolation, or pip builds with another torch than the installed one.
source = facebookresearch/xformers#1308

[torch-parts-of-two-cudas]
keys = were compiled with different CUDA
pattern =
    PyTorch and (?P<part>\w+) were compiled with different CUDA (?:major )?versions\. PyTorch has CUDA [Vv]ersion[= ](?P
    +<torch>\d+\.\d+) (?:and|whereas) \w+ has CUDA [Vv]ersion[= ](?P<other>\d+\.\d+)
cause = PyTorch was built for CUDA {torch}, but {part} for CUDA {other}.
remedy = Install both in one command from one index (pip install --force-reinstall torch torchvision torchaudio
    --index-url https://download.pytorch.org/whl/cu130), or build {part} for this PyTorch (role torch_extensions).
source = m-bain/whisperX#320

[torch-missing]
keys =
    Error: No module named 'torch'
    torch path: No module named 'torch'
    ops without torch installed
pattern =
    (?:Error|torch path): No module named 'torch'
    Unable to pre-compile ops without torch installed
cause = torch is not installed where it is imported. Either pip builds a package in an isolated environment, in which
    flash-attn and other packages whose setup imports torch do not see the installed one, or the program's environment
    has no torch.
remedy = For a build, install torch first (cu130), with setuptools, wheel, packaging and ninja, and run pip or uv with
    --no-build-isolation; a unit of this collection lists pytorch in its depends. For a program, install torch into the
    environment that runs it.
source = Dao-AILab/flash-attention#1421

[torch-without-cuda]
keys =
    Torch not compiled with CUDA enabled
    have NCCL built in
    requires CUDA, but CUDA is not available
pattern =
    installed version of bitsandbytes [^\n]*requires CUDA, but CUDA is not available
    Torch not compiled with CUDA enabled
    Distributed package doesn't have NCCL built in
cause = The installed PyTorch is a CPU build, like the package index's 2.9 and 2.10 wheels for aarch64.
remedy = Replace it with a build for CUDA: pip install --force-reinstall torch --index-url
    https://download.pytorch.org/whl/cu130 (the package index's wheels for aarch64 are also CUDA builds from 2.11), or
    the wheel that the role pytorch builds.
source = pytorch/pytorch#168065

[torch-from-checkout]
keys = Failed to load PyTorch C extensions
pattern = (Failed to load PyTorch C extensions)
cause = Python imports torch from a checkout of PyTorch's source (the current directory has a directory torch), which
    has no compiled parts.
remedy = Change to another directory and start again, or build that checkout (pip install --no-build-isolation -v -e .).

[mkl-on-arm]
keys =
    requirement mkl
    distribution found for mkl
    requirement intel-
    distribution found for intel-
    PackagesNotFoundError
    ResolvePackageNotFound
    does not exist (perhaps a typo
pattern =
    (?:satisfies the requirement|No matching distribution found for) ((?:mkl|intel-)\S*)
    (?:PackagesNotFoundError|ResolvePackageNotFound):[^\n]*\n+ *- ((?:mkl|intel-)\S*)(?!(?s:.{0,900}?)/\w+-64\b)
    [└├]─ ((?:mkl|intel-)[^\s=]*)[^\n]* does not exist \(perhaps a typo or a missing channel
cause = {found} exists only for x86-64.
remedy = Omit it on aarch64 (with pip's marker platform_machine == 'x86_64', or from conda's environment.yml) and use
    NVPL or OpenBLAS (BLAS=NVPL; with conda, libblas=*=*openblas).
source = IntelPython/mkl_fft#132

[xformers-of-another-torch]
keys = xFormers was built for:
pattern =
    xFormers was built for:\s+PyTorch (?P<torch>\S+) with CUDA (?P<cuda>\w+) \(you have (?P<have>[^)\n]+)\)(?:\s+Python
    + +(?P<python>\S+) \(you have (?P<have_python>[^)\n]+)\))?
cause = The compiled part of xformers does not load because it was built for PyTorch {torch}, and {have} is installed.
remedy = Install the xformers release for this PyTorch from the same index, or build it (pip install
    --no-build-isolation --no-deps --no-binary xformers xformers, with TORCH_CUDA_ARCH_LIST=12.0). Or remove it (pip
    uninstall xformers); PyTorch's own attention replaces it.
source = facebookresearch/xformers#1142

[flash-attn-gpu-unknown]
keys =
    FlashAttention-3 only supports
    only supported in FlashAttention 3
pattern =
    (FlashAttention-3 only supports Hopper GPUs)[^\n]*
    (Sinks are only supported in FlashAttention 3)
cause = This FlashAttention does not run on this GPU ({found}).
remedy = Choose another attention. FlashAttention 3 supports only Hopper (9.0), so use FlashAttention 2, FlashInfer or
    Triton (for vLLM, --attention-backend TRITON_ATTN or FLASHINFER).

[sdpa-no-kernel]
keys = No available kernel. Aborting execution.
pattern = RuntimeError: (No available kernel)\. Aborting execution
cause = PyTorch has no attention kernel for these tensors ({found}): the program allows only some (flash, memory
    efficient, cuDNN), and none of them supports this data type, shape or GPU. The warnings above say why.
remedy = Also allow the general kernel (add SDPBackend.MATH to the list of torch.nn.attention.sdpa_kernel, or do not
    call it), pass bfloat16 or float16, or use a newer PyTorch for CUDA 13.

[sageattention-arch]
keys =
    kernel is not available. Make sure you
    Unsupported CUDA architecture: sm
    only supports Blackwell GPUs or newer
pattern =
    (SM\d+ kernel is not available)
    (Unsupported CUDA architecture: sm\d+)
    (only supports Blackwell GPUs or newer)
unless = using pytorch attention
cause = The installed SageAttention has no kernel for this GPU ({found}).
remedy = Build it from source for this GPU (git clone the repository; TORCH_CUDA_ARCH_LIST=12.0 pip install
    --no-build-isolation .), from a checkout that knows 12.1 (since November 2025; SageAttention 3 accepts only 12.0, in
    sageattn3/blackwell/api.cu), or choose PyTorch's attention in the program.
source = woct0rdho/SageAttention#50

[cuda-library-failed]
keys =
    CUFFT_
    CUSOLVER_STATUS_
    CURAND_STATUS_
    CUSPARSE_STATUS_
    ARCH_MISMATCH
pattern =
    (CUFFT_(?:INTERNAL_ERROR|ALLOC_FAILED|SETUP_FAILED|EXEC_FAILED))
    (CUSOLVER_STATUS_(?:NOT_INITIALIZED|INTERNAL_ERROR|ALLOC_FAILED|EXECUTION_FAILED|ARCH_MISMATCH))
    (CURAND_STATUS_\w+_(?:FAILED|ERROR|FAILURE))
    (CUSPARSE_STATUS_(?:NOT_INITIALIZED|NOT_SUPPORTED|INTERNAL_ERROR|ALLOC_FAILED|EXECUTION_FAILED|ARCH_MISMATCH))
    (CUDNN_STATUS_\w*ARCH_MISMATCH)
values =
    why of found: \w+(?:ALLOC_FAILED|NOT_INITIALIZED|SETUP_FAILED) => usually there is not enough free memory for it
    why of found: \w+(?:ARCH_MISMATCH|NOT_SUPPORTED) => its version has no kernels for this GPU
    why of found: . => it is older than the GPU or is for another CUDA than the program, or memory ran out
cause = A CUDA library failed ({found}): {why}.
remedy = Use a PyTorch for CUDA 13 with the libraries that it includes (no other copies of them on LD_LIBRARY_PATH), and
    leave more memory free. For linear algebra, also try torch.backends.cuda.preferred_linalg_library('magma') or
    'cusolver'.

[process-group-device]
keys =
    No backend type associated with device type
    Tensors must be CUDA and dense
pattern =
    No backend type associated with device type (\w+)
    Tensors must be (CUDA) and dense
cause = A collective operation received a tensor on a device for which the process group has no backend ({found}). NCCL
    accepts only tensors on the GPU.
remedy = Move the tensor to the GPU (.to('cuda')), or create the group for both devices:
    init_process_group('cpu:gloo,cuda:nccl').

[deserialize-without-cuda]
keys = Attempting to deserialize object on a CUDA device
pattern = (Attempting to deserialize object on a CUDA device)
cause = The file contains tensors of a GPU, but PyTorch sees no GPU here: it is a CPU build, or it cannot access the
    GPU.
remedy = Print torch.__version__ and torch.cuda.is_available(). If the version ends in +cpu, install a build for CUDA
    (--index-url https://download.pytorch.org/whl/cu130); start a container with --gpus all. Or load the file for the
    CPU with torch.load(FILE, map_location='cpu').

[ddp-unused-parameters]
keys = Expected to have finished reduction in the prior iteration
pattern = (Expected to have finished reduction in the prior iteration)
cause = Some of the model's parameters did not contribute to the loss, and DistributedDataParallel waits for their
    gradients ({found}).
remedy = Pass find_unused_parameters=True to DistributedDataParallel (for Hugging Face's Trainer,
    --ddp_find_unused_parameters true), or freeze these parameters (requires_grad=False) before you wrap the model.
    TORCH_DISTRIBUTED_DEBUG=DETAIL names them.

[deepspeed-launcher]
keys =
    Launcher backend
    RuntimeError: launcher '
pattern =
    Launcher backend '(\w+)' is not installed
    launcher '(\w+)' not installed
cause = DeepSpeed starts the other hosts' processes with {found}, which is not installed.
remedy = Install it on this host (apt install pdsh, with export PDSH_RCMD_TYPE=ssh), choose another (--launcher
    openmpi), or start torchrun on each host by hand.
source = stanford-crfm/mistral#38

[tensorrt-on-tegra]
keys = does not currently build wheels for Tegra
pattern = (TensorRT does not currently build wheels for Tegra systems)
cause = pip's tensorrt has no wheel for a Jetson, and its setup treats this host as one ({found}).
remedy = On a Jetson, use JetPack's TensorRT (apt install tensorrt python3-libnvinfer, and an environment with
    --system-site-packages), or NVIDIA's TensorRT image, and remove tensorrt from the requirements.
source = NVIDIA/TensorRT#4176

[build-arch-not-detected]
keys =
    Unknown compute capability
    TORCH_CUDA_ARCH_LIST must be set
    Could not detect GPU
    Target compute capabilities
pattern =
    (Unknown compute capability)\. Specify the target compute capabilities in the (?P<variable1>\w+)
    (Target compute capabilities [^\n]*not supported)
    (No target compute capabilities)\. Please set the target compute capabilities by environment variable
    + (?P<variable2>\w+)
values =
    advice of variable: TCNN => Set it: TCNN_CUDA_ARCHITECTURES=120, with the CUDA build of PyTorch installed first
    advice of found: Target => Use a newer release of the package, which knows this GPU, or build for 12.0
    advice of found: . => Set it: TORCH_CUDA_ARCH_LIST=12.0 (12.1a for kernels that need it)
cause = The package's build does not know for which GPU to compile ({found}): it sees no GPU, PyTorch is a CPU build, or
    the package is older than the GPU.
remedy = {advice}; then build with --no-build-isolation.

[tinycudann-arch]
keys = Could not find compatible tinycudann extension
pattern = Could not find compatible tinycudann extension for compute capability (?P<arch>\d+)
cause = tiny-cuda-nn was built for other GPUs than this one ({arch}).
remedy = Build it again for 12.0, whose code runs on 12.1 (TCNN_CUDA_ARCHITECTURES=120 pip install --no-build-isolation
    --force-reinstall --no-deps "git+https://github.com/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch").

[dgl-without-build]
keys =
    Cannot find DGL C++
    Cannot load Graphbolt C++
pattern =
    Cannot find DGL C\+\+ (?P<part>\w+) library at \S*?pytorch_[\d.]+\d
    Cannot load (?P<part2>Graphbolt) C\+\+ library
cause = DGL has no {part} library that loads with the installed PyTorch: its files are each for one version of PyTorch.
remedy = Build DGL from source for this PyTorch, install the PyTorch whose version stands in the names of the files in
    dgl/graphbolt, or use PyTorch Geometric.

[transformer-engine-part-missing]
keys =
    Could not find shared object file for Transformer Engine
    so_path = next(so_dir.glob(
pattern =
    (so_path = next\(so_dir\.glob\()
    Could not find shared object file for (Transformer Engine (?P<framework>\w+) lib)
cause = Only the common part of Transformer Engine is installed, without its library[ for {framework}]. pip install
    transformer_engine does not include that library, or its build failed.
remedy = Install it with the framework, built for the installed one: pip install --no-build-isolation
    "transformer_engine[pytorch]" (for JAX, [jax]; the build needs cuDNN's headers and nvcc), and read that build's
    errors.
source = NVIDIA/TransformerEngine#1981
"""
