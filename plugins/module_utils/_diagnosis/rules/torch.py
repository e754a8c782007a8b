# __init__.py in this directory explains the fields.

"""PyTorch and Triton

Known defects of their versions, and requirements of their builds.
"""

RULES = r"""
[device-name-invalid]
keys = Invalid device string
pattern = Invalid device string: '(?P<device>[^'\n]*)'
cause = PyTorch does not know the device {device}.
remedy = Write cuda, cuda:0 (a Spark has only this one) or cpu, where the program or its configuration names the device,
    without blanks and quotes.
source = https://docs.pytorch.org/docs/stable/tensor_attributes.html

[compiled-kernel-out-of-bounds]
keys = index out of bounds:
pattern = (?:^|: )unknown: block: [^\n]*?Assertion '(?P<why>index out of bounds: [^'\n]{1,120})' failed
cause = A kernel that torch.compile made reads outside a tensor ({why}): a fault of this release's compiled model, or a
    token that the model's vocabulary does not have.
remedy = [Leave out speculative decoding, or use fewer of its tokens ({log_speculation}). ]Start without compilation to
    go on (--enforce-eager), delete the compiled kernels (~/.cache/vllm/torch_compile_cache, /tmp/torchinductor_*), and
    take a newer release or image (docker pull; a tag may be cached).
source = AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-DFlash#2

[triton-assertion-capability]
keys = computeCapability not supported
pattern = Assertion [^\n]*(computeCapability not supported)
cause = This Triton is older than the GPU ({found}).
remedy = Install Triton 3.3.1 or newer with the PyTorch that belongs to it.
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
    advice of found: libnv => Install a build of the package for CUDA 13, or that library alone (pip install
    + nvidia-nvtx-cu12, and its lib on LD_LIBRARY_PATH)
    advice of found: . => Take a release of the source for CUDA 13, or include nvtx3/nvToolsExt.h and leave -lnvToolsExt
    + out of the link: NVTX 3 is headers only
cause = The old NVTX library ({found}) is looked for, which CUDA 13 no longer has.
remedy = {advice}.
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
    Could not link test program to Python
pattern =
    configure: error:\s+Could not link test program to (Python)
    fatal error: '?(Python\.h)'?(?:: No such file| file not found)
    Could not find '?(Python\.h)
    ^[ \t]+Could NOT find Python(?:3|Libs)?\s+\(missing:\s+(?![^)]*Interpreter)[^)]*?(\w+_INCLUDE_DIRS?|Development\.M
    +odule)
cause = The headers of this Python are not installed ({found}), though Python itself is there: builds need them, and
    Triton and other packages compile a C file with them when they first run.
remedy = Install them for the Python in use: sudo apt install python3-dev (python3.12-dev for 3.12), which the role
    build_toolchain does; a virtual environment has none, and a Python of uv brings its own; then start the program
    again.
source = vllm-project/vllm#27890

[triton-llvm-gone]
keys =
    The specified blob does not exist
    Public access is not permitted on this storage
pattern =
    downloading and extracting (?P<url>\S+) \.\.\.\n\s*error: (?P<why>HTTP Error \d+)
    (?P<why2>HTTP Error 40\d): (?:The specified blob|Public access)
cause = Triton's build fetches its LLVM, and the archive is not there any more ({why}[: {url}]).
remedy = Take a newer release of Triton, or a wheel; to build this one, build LLVM at the commit in
    cmake/llvm-hash.txt (role
    llvm) and name it by an absolute path in LLVM_SYSPATH.
source = triton-lang/triton#4550

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
    triton\S*:\d+:\d+: error: (?:[^\n]*\b(?:llvm|mlir)::|no matching function for call to ')(\w+)
    error: [^\n]*\b(?:llvm|mlir)::(\w+)[^\n]*\[-Werror=deprecated
    invalid new-expression of abstract class type '[^'\n]*\b(?:mlir|triton)::(\w+)
    fatal error: '?((?:llvm|mlir|lld)/[\w/.]+)'?(?:: No such file| file not found)
cause = This source does not fit the LLVM that it is built against ({found}): LLVM's API changes with every commit.
remedy = Take the LLVM release that the project names (an older one where a header was removed); for triton-lang's
    Triton
    build LLVM at the commit that it pins (cmake/llvm-hash.txt, or cmake/llvm-info.json since 3.8): compare it
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
keys = out of resource:
pattern = out of resource: (?:shared memory|\w+),? Required: ?(?P<need>\d+),? Hardware limit: ?(?P<limit>\d+)
cause = A Triton kernel asks for {need} bytes of the GPU's shared memory, and this GPU has {limit} for one block: the
    block sizes were chosen for a larger one.
remedy = Use a release or a backend whose kernel has sizes for this GPU; in your own kernel lower num_stages or the
    block sizes.
source = triton-lang/triton#8182

[gemm-shared-memory]
keys = shared memory but device supports
pattern = requires (?P<need>\d+) bytes (?:of )?shared memory but device supports (?P<limit>\d+)
cause = A kernel of CUTLASS needs {need} bytes of shared memory for one block, and this GPU has {limit} (99 KiB, 101376
    bytes, on a GB10): that is a part of the GPU itself, not the host's memory.
remedy = Take a TensorRT-LLM (or another engine) with CUTLASS 4.4.2 or newer, or another backend for the MoE layers
    (moe_config with backend TRITON); where only the autotuner reports it, the server runs on with slower kernels.
source = NVIDIA/cutlass#3144

[triton-fp8-old-gpu]
keys =
    not supported in this architecture
pattern = (fp8e4nv|fp8e5|fp8e4b15) not supported in this architecture
cause = Triton compiles for a GPU older than 8.9, which has no {found}; a GB10 has it.
remedy = Use a model without FP8 on that GPU; on a GB10 see that the process uses its GPU (CUDA_VISIBLE_DEVICES), and a
    Triton that knows it.

[triton-source-changed]
keys = Cannot set attribute 'src' directly
pattern = (Cannot set attribute 'src' directly)
cause = A package, mostly an older xformers, changes Triton's kernels in a way that the installed Triton refuses
    ({found}).
remedy = Install the release of that package for this PyTorch (the traceback's last own line names it), or uninstall
    xformers (pip uninstall xformers), in whose place PyTorch's attention is taken.

[nvrtc-source-error]
keys =
    NVRTC log
    NVRTC_ERROR_COMPILATION
    NVRTC compilation failed
pattern =
    (?:NVRTC log|NVRTC_ERROR_COMPILATION|NVRTC compilation failed)[^\n]*?(?:\n[^\n]*?){0,8}?\(\d+\):
    + (?:catastrophic )?error: (?P<why>[^\n]+)
values =
    advice of why: identifier .cuda => NVRTC does not know functions of CUDA's runtime: let nvcc compile it (of DeepGEMM
    + DG_JIT_USE_NVRTC=0)
    advice of why: (?:could not|cannot) open => Install the headers (CUDA's, CCCL) and set CUDA_HOME
    advice of why: . => Take the release of the library that was made for this CUDA
cause = NVRTC could not compile a kernel: {why}; an invalid image or another CUDA error after it follows from that.
remedy = {advice}, or a newer release of the library; then delete its cache of kernels.
source = deepseek-ai/DeepGEMM#359

[triton-image-invalid]
keys = device kernel image is invalid
pattern =
    (?P<triton>Triton Error \[CUDA\]): (?P<what1>device kernel image is invalid)
    /jit/(?P<deepgemm>handle)\.hpp:[^\n]*?(?P<what3>device kernel image is invalid)
    (?P<what2>device kernel image is invalid)
values =
    advice of deepgemm: . => Go without DeepGEMM, whose kernels are not for GPUs of 12.x (VLLM_USE_DEEP_GEMM=0; of
    + SGLang SGLANG_ENABLE_JIT_DEEPGEMM=0)
    advice of triton: . => Compare the CUDA that nvidia-smi shows with the ptxas in use (TRITON_PTXAS_PATH), delete the
    + caches of compiled kernels (~/.triton/cache, ~/.cache/vllm), and start again
    advice of what: . => Start without that part of the program (another backend), or take a build of it for 12.1 and a
    + CUDA that is not newer than the driver's (nvidia-smi shows it); of kernels compiled at run time delete the cache
    + (in ~/.cache; ~/.nv/ComputeCache)
cause = The driver cannot load a kernel that was compiled ({what}): it was made by a newer CUDA than the driver knows,
    for another GPU, or its file in the cache is damaged.
remedy = [The ptxas in use does not know this GPU ({log_old_ptxas}): put that of a newer CUDA first on PATH. ]{advice}.
source = MIC-DKFZ/nnUNet#3020

[triton-no-libcuda]
keys = libcuda.so cannot found
pattern = (libcuda\.so) cannot found
cause = Triton looks for {found} with ldconfig, and does not find it.
remedy = In a container start it with --gpus all; on the host run sudo ldconfig, or set TRITON_LIBCUDA_PATH to the
    directory that has libcuda.so.1 (/usr/lib/aarch64-linux-gnu).

[triton-no-driver]
keys = There should only be one.
pattern = (0 active drivers) \(\[\]\)\. There should only be one
cause = Triton sees no GPU ({found}): torch.cuda.is_available() is False where it runs, as with a CPU build of PyTorch,
    in a container without --gpus all, or without a working driver.
remedy = See what python3 -c "import torch; print(torch.__version__, torch.cuda.is_available())" prints: install a build
    for CUDA if it ends in +cpu, else make nvidia-smi work there (of a container --gpus all).
source = deepseek-ai/DeepSeek-R1#493

[ptxas-missing]
keys = Cannot find ptxas
pattern = (Cannot find ptxas\S*)
cause = Triton does not find its assembler ({found}): the wheel came without it, or TRITON_PTXAS_PATH names none.
remedy = Name the CUDA toolkit's: export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas (for Triton 3.6 and newer on a GB10
    TRITON_PTXAS_BLACKWELL_PATH), with the toolkit installed (cuda-toolkit-13-0; role cuda_libraries).

[triton-allocator-unset]
keys = no allocator was set
pattern = Kernel requires a runtime (?:memory allocation|\w[\w ]*), but (no allocator was set)
cause = A Triton kernel needs scratch memory while it runs, and the program that starts it set no allocator for Triton
    ({found}): a fault of that release of the program, not a lack of memory.
remedy = Use a newer release of the program (vLLM, or whose kernel the traceback shows), or the Triton that it pins; in
    code of your own call triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8,
    device="cuda")) before the kernel.
source = vllm-project/vllm#33857

[triton-pass-failed]
keys = PassManager::run failed
pattern = (PassManager::run failed)
cause = Triton's compiler could not compile a kernel ({found}): a fault of the kernel or of this Triton for this GPU;
    the lines above it say at which place.
remedy = Use the newest Triton with the PyTorch that belongs to it, or another backend or release of the engine whose
    kernel it is (--enforce-eager avoids those of torch.compile).

[compile-python-too-new]
keys = is not supported on Python
pattern =
    (?P<what>Dynamo|torch\.compile) is not supported on (?P<python>Python [\d.]+\+)
cause = This PyTorch cannot compile ({what}) on {python}: it is older than the Python in use.
remedy = Use Python 3.12 (uv venv --python 3.12) or a newer PyTorch; TORCHDYNAMO_DISABLE=1 runs without torch.compile.

[torch-for-rocm]
keys =
    No HIP GPUs are available
    libamdhip64.so
pattern =
    (No HIP GPUs are available)
    (libamdhip64\.so[.\d]*): cannot open shared object
cause = The installed PyTorch (or package) is the build for AMD's GPUs ({found}).
remedy = Replace it by the build for CUDA (pip install --force-reinstall torch --index-url
    https://download.pytorch.org/whl/cu130), and take rocm out of index addresses and lock files.
source = vllm-project/vllm#34573

[cuda-forked]
keys = Cannot re-initialize CUDA in forked subprocess
pattern = (Cannot re-initialize CUDA in forked subprocess)
cause = A process that had used CUDA was forked, and CUDA does not survive that ({found}).
remedy = Use the start method spawn (of vLLM: VLLM_WORKER_MULTIPROC_METHOD=spawn, with the program's own code below `if
    __name__ == '__main__':`), or touch no CUDA before the workers start.
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
cause = The program asks for a GPU that is not there ({found}): a Spark has one, number 0.
remedy = Start as many processes per host as it has GPUs (--nproc-per-node 1, tensor parallel size 1 on one Spark), and
    use cuda:0; unset CUDA_VISIBLE_DEVICES if it names others, and give a container its GPU by the number that
    nvidia-smi -L shows (--gpus all).
source = https://github.com/NVIDIA/dgx-spark-playbooks

[devices-mixed]
keys = Expected all tensors to be on the same device
pattern =
    Expected all tensors to be on the same device, but (?:found at least two devices|got [^\n]*?on), ?(\w[\w:]*(?:
    + and| ,)? ?\w*[\w:]*)
    Expected all tensors to be on the same device
values =
    where of found: cuda:\d+ and cuda:\d => the model or its input lies on two GPUs
    where of found: .*(?:cpu|CPU) => a part of the model or its input stayed on the CPU
    where of found: . => a part of the model or its input lies elsewhere
    advice of found: cuda:\d+ and cuda:\d => Let the process see one GPU (CUDA_VISIBLE_DEVICES=0), or give the model
    + one device (device_map="cuda:0")
    advice of found: . => Move all to the GPU (.to('cuda'), the inputs too), or turn the offloading of the program off
    + (device_map, --lowvram, --cpu-offload-gb): on a GB10, whose memory both share, offloading saves nothing
cause = One operation got tensors of two devices ({found}): {where}.
remedy = {advice}.

[weights-only]
keys = Weights only load failed
pattern = (Weights only load failed)
cause = The file holds more than weights, and torch.load refuses that since PyTorch 2.6 ({found}).
remedy = Take the model as safetensors, or a release of the program that loads it for PyTorch 2.6; weights_only=False
    runs code that is in the file, so only for a file whose author you trust.
source = MIC-DKFZ/nnUNet#2681

[state-dict-differs]
keys =
    in loading state_dict for
    Trying to set a tensor of shape
    expected shape tensor(
pattern =
    Error\(s\) in loading state_dict for (?P<model>\w+):(?:\s+(?P<what>[^\n]+))?
    Trying to set a tensor of shape torch\.Size\((?P<have1>\[[\d, ]+\])\) in \S+ \(which has shape
    + torch\.Size\((?P<need1>\[[\d, ]+\])
    Cannot load [^\n]{0,200}?because (?P<what3>[\w.]+) expected shape tensor\([^\n]*?size=(?P<need2>\([\d, ]+\))\), but
    + got
    + torch\.Size\((?P<have2>\[[\d, ]+\])
cause = The weights do not fit the model[ {model}][: {what}][: the file has {have}, and the model {need}].
remedy = Use the file that is made for this model and this release of the program (another size, variant or quantization
    has other shapes): the type of pipeline or the config.json must be that of the file (base, inpainting, text or image
    to video, XL), and a new model needs the newest diffusers.

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
    reason of shapes: size of tensor a \(\d{6,}\) .*\(\d{6,}\) at non-singleton dimension 0 => as of flat parts of
    + weights or of an optimizer that were saved by another number of processes
    advice of shapes: size of tensor a \(\d{6,}\) .*\(\d{6,}\) at non-singleton dimension 0 => Resume with as many
    + processes as the checkpoint was saved with, save it unsharded (a full state dict) or in the form of
    + torch.distributed.checkpoint, or load only the model's weights
    reason of log_speculation: . => the draft and the model of speculative decoding, or a fault of this release
    reason of log_server: . => the model's files and this release of the server
    reason of shapes: . => mostly files of two model families are combined, or a program or node is older than the model
    advice of log_speculation: . => Leave out speculative decoding to go on, take a draft that was made for this model,
    + and a newer release of the server
    advice of log_server: . => Take the release of the server that the model's page names, one process
    + (--tensor-parallel-size 1), and another quantization of the model
    advice of shapes: . => Use the text encoder, VAE, LoRA or control model that is made for the base model (of ComfyUI:
    + compare the workflow's files with the model's page), a width and height that are multiples of 64, and the newest
    + release of the program and its nodes
cause = Two parts of a model do not fit each other ({shapes}): {reason}.
remedy = {advice}.
source = sgl-project/sglang#10090

[sequences-differ]
keys = expected sequence of length
pattern = expected sequence of length (?P<first>\d+) at dim \d+ \(got (?P<other>\d+)\)
values =
    advice of log_comfyui: . => Update ComfyUI and the nodes that write or encode prompts, and try the prompt with
    + ComfyUI's own CLIP Text Encode: an older node splits the tokens in another way
    advice of first: . => Pad and cut them to one length (tokenizer(..., padding=True, truncation=True); of a trainer
    + a data collator that pads, with remove_unused_columns)
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
remedy = Leave that function to Python (@torch.jit.ignore, or an attention of PyTorch in its place), use
    torch.jit.trace,
    or torch.compile or torch.export, which have replaced it.
source = Dao-AILab/flash-attention#1332

[deepspeed-adam-missing]
keys = has no attribute 'ds_opt_adam'
pattern = 'DeepSpeedCPUAdam' object has no attribute '(ds_opt_adam)'
cause = DeepSpeed could not compile its operator for the processor ({found}); the first error of that build stands
    further up.
remedy = See what ds_report says of it: install ninja, g++ and the CUDA toolkit of PyTorch's CUDA version, and set
    CUDA_HOME; without offloading to the CPU the operator is not needed, and on a Spark that saves no memory.
uncertain = yes
source = deepspeedai/DeepSpeed#1846

[weights-not-swapped]
keys = _apply(): Couldn't swap
pattern = _apply\(\): Couldn't swap ([\w.]+)
cause = PyTorch could not move a quantized weight ({found}) to another device: TorchAO's tensors do not take it in this
    release, least of all with offloading layer by layer.
remedy = Load it on the GPU at once (device_map="cuda"), use enable_model_cpu_offload in place of the sequential one,
    and
    take the newest torch, torchao and diffusers together.
source = huggingface/diffusers#10555

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
keys =
    undefined symbol: _ZN
    undefined symbol: aoti_torch
    undefined symbol: torch_
pattern = ([^\s'\"(]+): undefined symbol: (?:_ZNK?(?:3c10|2at|5torch|6caffe2)|aoti_torch_|torch_)\w*
cause = {found} was built against a different PyTorch than the installed one, or for another C++ ABI.
remedy = Install the package's build for the installed torch and CUDA, or the torch that it was built with; where
    torch.compiled_with_cxx11_abi() is False, the one with cxx11abiFALSE in its name; or build it from source against
    this torch (pip install --no-build-isolation --no-binary; flash-attn with FLASH_ATTENTION_FORCE_BUILD=TRUE); in this
    collection it is a unit that depends on pytorch, or a wheel of the same stack.
source = vllm-project/vllm#13608

[extension-cache-broken]
keys = cannot open shared object file
pattern = (\S*/torch_extensions/\S+\.so): cannot open shared object file
cause = PyTorch compiled no {found}: the build of this extension failed or was interrupted before, and its directory
    remained.
remedy = Remove ~/.cache/torch_extensions and start again, with nvcc and ninja on PATH, TORCH_CUDA_ARCH_LIST=12.0 and
    MAX_JOBS=4; then read the first error of the compiler.

[user-without-name]
keys = uid not found
pattern = getpwuid\(\): uid not found: (?P<user>\d+)
cause = The program asks for the name of its user, and number {user} has none in the container (PyTorch names Inductor's
    cache after it).
remedy = Give it a name and directories that it can write (docker run -e USER=app -e HOME=/tmp -e
    TORCHINDUCTOR_CACHE_DIR=/tmp/inductor), or mount the host's names (-v /etc/passwd:/etc/passwd:ro).
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
cause = The CUDA toolkit on PATH[, {toolkit},] is not the one that PyTorch was built with[, {torch}].
remedy = Let both agree: install the PyTorch for the toolkit's CUDA (on a Spark --index-url
    https://download.pytorch.org/whl/cu130), or point CUDA_HOME (in the unit's environment) to a toolkit of PyTorch's
    CUDA; build with --no-build-isolation, or pip takes another torch for the build than the installed one.
source = facebookresearch/xformers#1308

[torch-parts-of-two-cudas]
keys = were compiled with different CUDA
pattern =
    PyTorch and (?P<part>\w+) were compiled with different CUDA (?:major )?versions\. PyTorch has CUDA [Vv]ersion[= ](?P
    +<torch>\d+\.\d+) (?:and|whereas) \w+ has CUDA [Vv]ersion[= ](?P<other>\d+\.\d+)
cause = PyTorch is a build for CUDA {torch}, and {part} is one for CUDA {other}.
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
cause = torch is imported where it is not installed: pip builds a package in an isolated environment of its own, in
    which flash-attn and others whose setup imports torch do not find the installed one; or the program runs in an
    environment without it.
remedy = For a build, install torch first (cu130), with setuptools, wheel, packaging and ninja, and run pip or uv with
    --no-build-isolation; a unit of this collection names pytorch in its depends; for a program, install torch into the
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
source = IntelPython/mkl_fft#132

[xformers-of-another-torch]
keys = xFormers was built for:
pattern =
    xFormers was built for:\s+PyTorch (?P<torch>\S+) with CUDA (?P<cuda>\w+) \(you have (?P<have>[^)\n]+)\)(?:\s+Python
    + +(?P<python>\S+) \(you have (?P<have_python>[^)\n]+)\))?
cause = The compiled part of xformers does not load: it was built for PyTorch {torch}, and {have} is installed.
remedy = Install the xformers release for this PyTorch, from the same index, or build it against it (pip install
    --no-build-isolation --no-deps --no-binary xformers xformers, with TORCH_CUDA_ARCH_LIST=12.0); or remove it (pip
    uninstall xformers), since PyTorch's own attention replaces it.
source = facebookresearch/xformers#1142

[flash-attn-gpu-unknown]
keys =
    FlashAttention-3 only supports
    only supported in FlashAttention 3
pattern =
    (FlashAttention-3 only supports Hopper GPUs)[^\n]*
    (Sinks are only supported in FlashAttention 3)
cause = This FlashAttention does not run on this GPU ({found}).
remedy = Choose another attention: FlashAttention 3 is for Hopper (9.0) alone, so FlashAttention 2, FlashInfer or Triton
    (of vLLM --attention-backend TRITON_ATTN or FLASHINFER).

[sdpa-no-kernel]
keys = No available kernel. Aborting execution.
pattern = RuntimeError: (No available kernel)\. Aborting execution
cause = PyTorch has no attention kernel left for these tensors ({found}): the program allows only some (flash, memory
    efficient, cuDNN), and none of those takes this data type, shape or GPU; the warnings above say why.
remedy = Allow the general one, too (torch.nn.attention.sdpa_kernel with SDPBackend.MATH in the list, or without it),
    pass bfloat16 or float16, or take a newer PyTorch for CUDA 13.

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
    --no-build-isolation .), in a checkout that knows 12.1 (since November 2025; SageAttention 3 asks for 12.0 alone in
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
    why of found: \w+(?:ALLOC_FAILED|NOT_INITIALIZED|SETUP_FAILED) => mostly no memory is left for it
    why of found: \w+(?:ARCH_MISMATCH|NOT_SUPPORTED) => its version has no kernels for this GPU
    why of found: . => it is older than the GPU, of another CUDA than the program, or memory ran out
cause = A library of CUDA failed ({found}): {why}.
remedy = Use a PyTorch for CUDA 13 with the libraries that it brings (no other copies of them on LD_LIBRARY_PATH), leave
    more memory free, and for linear algebra try torch.backends.cuda.preferred_linalg_library('magma') or 'cusolver'.

[process-group-device]
keys =
    No backend type associated with device type
    Tensors must be CUDA and dense
pattern =
    No backend type associated with device type (\w+)
    Tensors must be (CUDA) and dense
cause = A collective operation got a tensor of a device for which the process group has no backend ({found}): NCCL takes
    tensors of the GPU alone.
remedy = Move the tensor to the GPU (.to('cuda')), or make the group for both: init_process_group('cpu:gloo,cuda:nccl').

[deserialize-without-cuda]
keys = Attempting to deserialize object on a CUDA device
pattern = (Attempting to deserialize object on a CUDA device)
cause = The file holds tensors of a GPU, and PyTorch sees no GPU here: it is a CPU build, or runs without access to it.
remedy = See what torch.__version__ and torch.cuda.is_available() say: install a build for CUDA if it ends in +cpu
    (--index-url https://download.pytorch.org/whl/cu130), start a container with --gpus all; or load it for the CPU with
    torch.load(FILE, map_location='cpu').

[ddp-unused-parameters]
keys = Expected to have finished reduction in the prior iteration
pattern = (Expected to have finished reduction in the prior iteration)
cause = Some parameters of the model took no part in the loss, and DistributedDataParallel waits for their gradients
    ({found}).
remedy = Pass find_unused_parameters=True to DistributedDataParallel (of Hugging Face's Trainer
    --ddp_find_unused_parameters true), or freeze these parameters (requires_grad=False) before it wraps the model;
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
cause = pip's tensorrt has no wheel for a Jetson, as which its setup takes this host ({found}).
remedy = On a Jetson use the TensorRT of JetPack (apt install tensorrt python3-libnvinfer, and an environment with
    --system-site-packages), or NVIDIA's image of TensorRT; leave tensorrt out of the requirements there.
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
    advice of variable: TCNN => Name it: TCNN_CUDA_ARCHITECTURES=120, with the CUDA build of PyTorch installed first
    advice of found: Target => Take a newer release of the package, which knows this GPU, or build for 12.0
    advice of found: . => Name it: TORCH_CUDA_ARCH_LIST=12.0 (12.1a for kernels that need it)
cause = The package's build does not know for which GPU to compile ({found}): none is in sight there, PyTorch is a CPU
    build, or the package is older than the GPU.
remedy = {advice}; then build with --no-build-isolation.

[tinycudann-arch]
keys = Could not find compatible tinycudann extension
pattern = Could not find compatible tinycudann extension for compute capability (?P<arch>\d+)
cause = tiny-cuda-nn was built for other GPUs than this one ({arch}).
remedy = Build it again (TCNN_CUDA_ARCHITECTURES=120 pip install --no-build-isolation --force-reinstall --no-deps
    "git+https://github.com/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch"), as code for 12.0 runs on 12.1.

[dgl-without-build]
keys = Cannot find DGL C++
pattern = Cannot find DGL C\+\+ (?P<part>\w+) library at \S*?pytorch_(?P<torch>[\d.]+\d)
cause = DGL has no {part} library for PyTorch {torch}.
remedy = Build DGL from source against it, go without that part (DGL without graphbolt: DGLBACKEND=pytorch and an older
    release), or use PyTorch Geometric.

[transformer-engine-part-missing]
keys =
    Could not find shared object file for Transformer Engine
    so_path = next(so_dir.glob(
pattern =
    (so_path = next\(so_dir\.glob\()
    Could not find shared object file for (Transformer Engine (?P<framework>\w+) lib)
cause = Only the common part of Transformer Engine is installed, without its library[ for {framework}]: pip install
    transformer_engine alone does not bring it, or its build failed.
remedy = Install it with the framework, built against the installed one: pip install --no-build-isolation
    "transformer_engine[pytorch]" (of JAX [jax]; cuDNN's headers and nvcc must be there), and read that build's errors.
source = NVIDIA/TransformerEngine#1981

"""
