# __init__.py in this directory explains the fields.

"""CUDA at run time

Messages from the CUDA runtime, cuDNN, NVRTC and kernel libraries (DeepGEMM, xformers) while a program computes.
"""

RULES = r"""
[cudnn-mixed]
keys =
    SUBLIBRARY_VERSION_MISMATCH
    SUBLIBRARY_LOADING_FAILED
pattern = (CUDNN_STATUS_SUBLIBRARY_\w+)
cause = Parts of two cuDNN versions are loaded ({found}): the program's own, and another that the loader found first.
remedy = Remove the system's cuDNN from LD_LIBRARY_PATH (or uninstall it), so that all parts come from the environment's
    cuDNN.
source = pytorch/pytorch#188892

[cudnn-parts-not-found]
keys =
    libcudnn.so.8: cannot open
    Unable to load any of {libcudnn
    Could not load library libcudnn
pattern =
    (?P<part3>libcudnn\.so\.(?P<major3>8)): cannot open
    Unable to load any of \{(?P<part1>libcudnn\w*\.so\.(?P<major1>\d+))
    Could not load library (?P<part2>libcudnn\w*\.so\.(?P<major2>\d+))
values =
    advice of major: 8 => The program needs cuDNN 8: use a newer release of it, for cuDNN 9 (CTranslate2 4.5 and newer;
    + torch 2.4 and newer, which a Spark needs anyway); a program that you cannot update needs
    + nvidia-cudnn-cu12==8.9.7.29 and its lib directory on LD_LIBRARY_PATH
    advice of major: . => Before the program starts, add cuDNN's directory to LD_LIBRARY_PATH (the environment's
    + site-packages/nvidia/cudnn/lib, or where find / -name 'libcudnn_ops*' finds it), or install libcudnn9-cuda-13
cause = The program does not find {part}, a part of cuDNN {major}: it is not installed, or the loader does not look
    where pip's packages put it.
remedy = {advice}.
source = OpenNMT/CTranslate2#1826

[cuda-majors-mixed]
keys = major version mismatch between cudart and nvrtc
pattern = (major version mismatch between cudart and nvrtc)
cause = cuDNN loaded an NVRTC of another CUDA major version than the runtime's ({found}).
remedy = Remove the other CUDA's libraries from the environment and from LD_LIBRARY_PATH, so that only one CUDA remains.
source = Comfy-Org/ComfyUI#10170

[nvrtc-arch-unknown]
keys = invalid value for --gpu-architecture
pattern = nvrtc: error: (invalid value for --gpu-architecture)
when =
    log-shows-nvrtc-arch
    log-shows-nvrtc-of-torch
values =
    reason of log_arch: (?:[1-6]\d|70|72)$ => CUDA 13 begins with 7.5, CUDA 12 with 5.0, so the GPU is too old for it
    reason of log_arch: . => the NVRTC is older than the GPU (12.0 needs CUDA 12.8, 12.1 needs 12.9)
    reason of log_arch: $ => 12.1 needs NVRTC 12.9 or newer
    advice of log_arch: (?:[1-6]\d|70|72)$ => Use the package's build for CUDA 12 (cupy-cuda12x, PyTorch of cu126) and a
    + toolkit of CUDA 12 (for a GPU before 5.0, CUDA 10 or 11), or another GPU
    advice of log_arch: |. => Use a PyTorch for CUDA 13 (cu130), which includes its NVRTC, or install a newer
    + nvidia-cuda-nvrtc in the environment
cause = The loaded NVRTC does not know this GPU ({found}[, architecture {log_arch}]): {reason}.
remedy = {advice}.
source =
    isaac-sim/IsaacLab-Arena#1066
    cupy/cupy#9475

[nvrtc-arch-refused]
keys =
    invalid value for --gpu-architecture
    NvrtcError: Failed to call
pattern =
    nvrtc: error: (invalid value for --gpu-architecture)
    NvrtcError: Failed to call nvrtcCompileProgram: (NVRTC_ERROR_INVALID_OPTION)
uncertain = yes
cause = The loaded NVRTC does not know this GPU ({found}): either the GPU is too old for it (CUDA 13 begins with 7.5,
    CUDA 12 with 5.0), or the NVRTC is older than the GPU (12.0 needs CUDA 12.8, 12.1 needs 12.9).
remedy = Compare nvidia-smi --query-gpu=name,compute_cap --format=csv with the CUDA of the package. For a GPU before
    7.5, use its build for CUDA 12 (cupy-cuda12x, PyTorch of cu126); for a GB10 or another new GPU, its build for CUDA
    13 (cupy-cuda13x, PyTorch of cu130).
source = cupy/cupy#9475

[sglang-graph-handle]
keys = CUDA error: invalid resource handle
pattern = Runtime check failed at \S+\.cuh:\d+: CUDA error: (invalid resource handle)
when = log-shows-failed-capture
cause = One of SGLang's own kernels could not start while CUDA graphs were recorded ({found}): it is launched with
    programmatic dependent launch, which does not go with this recording on 12.x.
remedy = Use a newer SGLang, which leaves that launch out on these GPUs. Until then, start it with --disable-cuda-graph,
    which is slower.
source = sgl-project/sglang#18596

[cuda-forward-compatibility]
keys = forward compatibility was attempted on non supported HW
pattern = (forward compatibility was attempted on non supported HW)
cause = The CUDA of the image or program is newer than the driver's. CUDA's compatibility libraries would bridge the
    difference, but do not work on this GPU (error 804).
remedy = Use an image or build for the driver's CUDA (nvidia-smi shows its version), or update the driver (with DGX OS).
    Otherwise remove /usr/local/cuda/compat from LD_LIBRARY_PATH.
source = oobabooga/textgen#4407

[image-cuda-not-started]
keys = CUDA drivers failed to initialize
pattern = CUDA drivers failed to initialize(?s:.{0,160}?)\[\[ (?P<why>[^\]\n]{3,100}?) \]\]
values =
    reason of why: .*error (?:80[34]|35) => its CUDA is newer than the driver
    reason of why: . => the driver's modules or devices are not usable there
    advice of why: .*error (?:80[34]|35) => Use an image for the driver's CUDA (nvidia-smi shows its version), or update
    + the driver and reboot
    advice of why: . => Load the module (sudo modprobe nvidia_uvm), run sudo systemctl restart docker and start the
    + container again; if CUDA fails on the host as well, reboot
cause = CUDA could not start in the container ({why}): {reason}.
remedy = {advice}.

[cuda-driver-combination]
keys = unsupported display driver / cuda driver combination
pattern = (unsupported display driver / cuda driver combination)
cause = The CUDA library libcuda.so and the kernel's driver have different versions (error 803). Either the driver was
    updated without a reboot, or a container loads the libcuda of its image (/usr/local/cuda/compat) instead of the
    host's.
remedy = Reboot the host after a driver update. In a container, ldconfig -p shows which libcuda.so.1 comes first: remove
    the compat directory from /etc/ld.so.conf.d and run ldconfig, put the host's driver first
    (LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/lib/aarch64-linux-gnu), or start the container with --gpus all instead
    of --runtime nvidia.
source = gpustack/gpustack#4678

[cuda-not-initialised]
keys =
    CUDA error 3 at
    CUDA_ERROR_NOT_INITIALIZED
    cudaErrorInitializationError
    :Gpu API call) initialization error
    CUDA devices: operation not supported
    Error 801: operation not supported
    cuInit failed:
pattern =
    (CUDA error 3) at [^\n]*initialization error
    (CUDA_ERROR_NOT_INITIALIZED|cudaErrorInitializationError)
    Gpu API call\) (initialization error)
    (Error 801: operation not supported|CUDA devices: operation not supported)
    (cuInit failed: initialization error)
values =
    cause of found: .*operation not supported => the Jetson's container was built for another release of JetPack, or
    + does not use NVIDIA's runtime
    cause of log_uvm_kernel: . => nvidia_uvm's HMM fails with kernel 5.14.0-570 of EL 9.6
    cause of found: . => the driver was not ready for it when the program started, or the program started CUDA before it
    + forked
    advice of found: .*operation not supported => On a Jetson, use an image for its release of L4T (cat
    + /etc/nv_tegra_release) and start it with --runtime nvidia
    advice of log_uvm_kernel: . => Add options nvidia_uvm uvm_disable_hmm=1 to /etc/modprobe.d/uvm.conf and reboot
    advice of found: . => Make nvidia-smi work first, load nvidia_uvm (sudo modprobe nvidia_uvm), and start
    + nvidia-fabricmanager if the host has NVSwitch; in Python, start workers with spawn
cause = CUDA could not be initialised ({found}): {cause}.
remedy = {advice}.
source = ggml-org/llama.cpp#3235

[cuda-unknown-error]
keys =
    Error 999: unknown error
    CUDA unknown error
    CUDA error: unknown error
    CUDA failed with error unknown error
    (error code unknown error)
    CUDA_ERROR_UNKNOWN
    cuInit failed:
    cudaErrorUnknown
pattern =
    (Error 999: unknown error|CUDA unknown error|CUDA (?:error:|failed with error) unknown error|error code
    + unknown error)
    \bcu(?:Init|DeviceGet|CtxCreate|DevicePrimaryCtx|daGetDevice|daSetDevice)[^\n]{0,120}?(CUDA_ERROR_UNKNOWN
    +|cudaErrorUnknown|failed: unknown error)
uncertain = yes
cause = The CUDA driver could not be initialised ({found}). This happens if the kernel module nvidia-uvm is missing, or
    is unusable after a failure or a suspend, and with a faulty release of the container toolkit (1.19.1).
remedy = Run nvidia-smi and a CUDA program on the host. If CUDA fails there too, reload the module (sudo modprobe -r
    nvidia_uvm && sudo modprobe nvidia_uvm) or reboot. If it fails only in the container, check that nvidia-smi works
    and /dev/nvidia-uvm exists there, and install another release of the container toolkit (nvidia-ctk --version).
source =
    NVIDIA/nvidia-container-toolkit#1967
    NVIDIA/nvidia-container-toolkit#1743

[cuda-illegal-instruction]
keys = an illegal instruction was encountered
pattern = (?:^|: |\) )CUDA (?:error:|failed with error) (an illegal instruction was encountered)
uncertain = yes
cause = A kernel stopped at an instruction that this GPU refuses ({found}). Often the kernel was built for another GPU,
    such as data-centre Blackwell; the line does not name the kernel.
remedy = Choose another backend[ (this log has {log_backend_option})] for the kernel (attention or MoE), or a build with
    code for 12.0 or 12.1a.
source = NVIDIA/TensorRT-LLM#11313

[cuda-misaligned]
keys =
    misaligned address
    an illegal memory access was encountered
    CUDA_ERROR_ILLEGAL_ADDRESS
    cudaErrorIllegalAddress
pattern =
    (?:^|: |\) |CUDA failure [^\n']{0,60}')(?:CUDA (?:error:|failed with error) )?(misaligned address|an illegal
    + memory access was encountered)
    (an illegal memory access was encountered) in (?P<file1>\S+\.cuh?) at line
    \.(?:h|cuh?):\d+ \w+\([^)\n]*\) failed with error (an illegal memory access was encountered|misaligned address)
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress)
cause = A kernel accessed an invalid address ({found}). The fault is in that kernel, not in the line of the traceback.
values =
    backend of log_ggml: . => update llama.cpp; turn off -fa, quantized caches (-ctk, -ctv), draft models and MTP one by
    + one to see whether one of them is at fault (GGML_CUDA_DISABLE_GRAPHS=1 turns off graphs)
    backend of file: . => use a newer release of the program whose kernel it is, smaller input (some programs do not
    + check whether an allocation failed), or compute-sanitizer to see the line
    backend of found: . => use another backend (--attention-backend, --moe-backend) or release for it
remedy = Run once with CUDA_LAUNCH_BLOCKING=1 to find the kernel, and {backend}[ (this log has {log_backend_option})][;
    leave out speculative decoding ({log_speculation}) first][; CUDA graphs were recorded ({log_graphs}), and
    --enforce-eager or --disable-cuda-graph tells whether they are at fault].
source = vllm-project/vllm#50934

[sanitizer-found]
keys = ========= Invalid __
pattern = ^=+ (?P<what>Invalid __\w+__ \w+ of size \d+ bytes?)[^\n]*(?:\n=+ +at (?:void )?(?P<kernel>[\w:~]+))?
cause = compute-sanitizer found a kernel that accesses an invalid address ({what}[, in {kernel}]).
remedy = Read the lines below it: Address says whether it is out of bounds or misaligned, and the host's frames who
    started the kernel. Report it with them to the project that contains the kernel, and use another release or backend.
    A build with -lineinfo makes it name the source's line.
source = ggml-org/llama.cpp#8117

[cuda-allocator-mixed]
keys = CUDAMallocAsyncAllocator.cpp
pattern = raised from free_impl at \S*(CUDAMallocAsyncAllocator\.cpp)
cause = PyTorch's asynchronous allocator received memory to free that it did not own ({found}). This happens if an
    extension replaced the allocator.
remedy = Disable the extension that you installed last, or the allocator (ComfyUI's --disable-cuda-malloc).
source = hako-mikan/comfyui-minimax-h3-negpip#1

[cuda-host-memory]
keys =
    CUDA error: out of memory
    CUDA driver error: out of memory
    CUDA_ERROR_OUT_OF_MEMORY
    cudaErrorMemoryAllocation
pattern =
    (?:^|: |\) )(CUDA (?:driver )?error: out of memory)
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation)
cause = CUDA found no free memory ({found}). On a GB10 this is the host's memory, and the page cache counts as used.
remedy = End programs that hold memory, drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), and
    start again. A smaller share for the engine does not help if its first call fails.
source = NVIDIA/xr-ai#440

[attention-kernel-missing]
keys = no kernel found to launch!
pattern = (cutlass[FB]): no kernel found to launch!
cause = PyTorch's memory-efficient attention ({found}) has no kernel for these tensors on this GPU.
remedy = Use another data type (float16 instead of bfloat16 on a GPU before Ampere), check that the head sizes are
    multiples of 8, and use a PyTorch with code for this GPU. After torch.backends.cuda.enable_mem_efficient_sdp(False),
    PyTorch chooses another kernel.

[gpu-not-seen]
keys =
    No CUDA GPUs are available
    no CUDA-capable device is detected
    only 0 Devices available
    Found no NVIDIA driver on your system
    CUDA driver initialization failed
    ProcessGroupNCCL is only supported with GPUs
    cannot find any torch accelerator
    Your setup doesn't support bf16/gpu
    can only be used on CUDA devices
    mixed precision requires a GPU
    CUDA_ERROR_NO_DEVICE
    cudaErrorNoDevice
    No supported gpu backend found
    only works on NVIDIA GPUs
    GPU is required
    CUDA is required
    requires a CUDA
    requires an NVIDIA GPU
    requires CUDA
pattern =
    (?:Error|Exception|ERROR)\b[^\n]{0,80}?(only works on NVIDIA GPUs|(?:CUDA|NVIDIA|A)? ?(?:CUDA|GPU) is required
    + |requires (?:a CUDA|an NVIDIA) GPU|requires a CUDA device)
    (cannot find any torch accelerator)
    ValueError: (Your setup doesn't support bf16/gpu)
    ValueError: FP16[^\n]{1,160}(can only be used on CUDA devices)
    (?:[Ee]rror|ERROR|failed|->|allocate [\d.]+ MiB)[^\n]{0,80}?(no CUDA-capable device is detected)
    (only 0 Devices available), \d+ requested
    RuntimeError: (No CUDA GPUs are available)
    RuntimeError: (Found no NVIDIA driver on your system)
    RuntimeError: (CUDA driver initialization failed), you might not have a CUDA gpu
    ProcessGroupNCCL is only supported with GPUs, (no GPUs found)
    (mixed precision requires a GPU)
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice)
    (No supported gpu backend found)
cause = The program sees no GPU ({found}): CUDA_VISIBLE_DEVICES names none that exists, its container was started
    without one, its PyTorch is a CPU build, or the driver does not work.
remedy = Unset CUDA_VISIBLE_DEVICES (a Spark's GPU is 0), check that nvidia-smi works where the program runs and that
    torch.version.cuda is not None, and start a container with --gpus all.
source = KeYang8/WITT#34

[torch-of-another-age]
keys =
    /THC/THC
    THCudaCheck FAIL
    aten/src/THC
pattern =
    cublas runtime error : (?P<why1>[\w ]+?) at \S*/THC/
    THCudaCheck FAIL file=\S*/THC/\S+ line=\d+ error=\d+ : (?P<why2>[\w ]+)
    cuda runtime error \(\d+\) : (?P<why3>[\w -]+?) at \S*/THC/
cause = This PyTorch is older than 1.11, which has no code for current GPUs: {why}.
remedy = Install a current PyTorch for CUDA 13 (pip install torch --index-url https://download.pytorch.org/whl/cu130) in
    a new environment, and a release of the program that supports it.
source = john-bradshaw/synthesis-dags#4

[cuda-error-number]
keys =
    error: 35
    error 35
    error 10
    error: 100
    error: 209
    error: 222
    error 46
    error: 46
    error 98
    error 700
    error 719
    error 80
    error 999
    error code 35
    error code 100
    error code 209
    error code 98
    error 34
    failure 35
    failure 100
    failure 700
    error 30
    error 500
    error 2
    failure 2
    cuMem
    cuModule
    cuLaunch
    cuStream
    cudaHost
    cudaMalloc
    cudaMemcpy
    cuInit
    cudaGetDeviceCount
    Cuda Error in
pattern =
    [Cc]uda Error in \w+: (?P<number3>1|2|35|46|98|100|101|209|222|700|719|999)\b
    \bcu(?:da(?:Host|Malloc|Memcpy|GetDeviceCount)|Mem|Module|Launch|Stream|Init)\w*(?:\(0?\))?[ ,:]+(?:failed
    +|returned|status|error|code)(?: with| error| code| status)*[ :=]+(?P<number2>1|2|46|100|101|201|209|222|400|700
    +|719|80[1-4]|999)(?![\d.]| ?[KMG])
    (?i:\bcu(?:da)?\w*|\bdriver|\bGPU)\b[^\n]{0,60}?(?:[Ee]rror|[Ff]ailure|ERROR)(?: code)?[: =]+\(?(?P<number>2|34
    +|35|46|98|10[01]|209|222|30[04]|500|700|719|80[1-4]|999)\b(?![.\d:/-])
unless =
    toolchain|illegal|invalid|misaligned|not initialized|initialization error|unknown error|no CUDA-capable|busy|not
    + supported|driver combination|not ready|not permitted|out of memory|unspecified|no kernel image|insufficient
    +|cudnn|CUDNN|NCCL|nccl
values =
    what of number: 1$ => a call received a value that it does not accept
    what of number: (201|400)$ => the object of the call belongs to another context, or no longer exists
    what of number: 2$ => memory ran out
    what of number: 34$ => the stub of libcuda was loaded instead of the driver's library
    what of number: 35$ => the driver is older than the program's CUDA, or is not visible
    what of number: 46$ => the GPU accepts no other process (exclusive mode, or an earlier failure)
    what of number: (98|209)$ => the program has no code for this GPU
    what of number: 100$ => no GPU is visible
    what of number: 101$ => no GPU has that number
    what of number: 222$ => the driver is older than the toolkit that wrote the PTX
    what of number: 30[04]$ => a file or a system call failed
    what of number: 500$ => the driver lacks a function or symbol
    what of number: 700$ => a kernel accessed an invalid address
    what of number: 719$ => a kernel failed
    what of number: 801$ => the driver does not support that on this GPU
    what of number: 802$ => the system is not ready (fabric manager, driver)
    what of number: 803$ => libcuda and the kernel's driver have different versions
    what of number: 804$ => a container's compatibility libraries do not work on this GPU
    what of number: 999$ => the driver could not be initialised
    advice of number: (1|201|400)$ => Use a release of the program that knows this model and its quantization, or
    + another form of the model, because the call is the program's own
    advice of number: 2$ => Leave more memory free (on a GB10, the host's memory: end programs, drop the page cache)
    advice of number: (34|35|803|804)$ => Compare the CUDA that nvidia-smi shows with the program's, start a container
    + with --gpus all and without /usr/local/cuda/compat or stubs on LD_LIBRARY_PATH, use an image for that CUDA, or
    + update DGX OS with its driver and reboot
    advice of number: (98|209|222)$ => Use a build for CUDA 13 with code for 12.0 or 12.1 (Thor 11.0), or build it with
    + CMAKE_CUDA_ARCHITECTURES=121
    advice of number: (46|100|101|802|999|304)$ => Make nvidia-smi work where the program runs, unset
    + CUDA_VISIBLE_DEVICES, start a container with --gpus all, and load nvidia_uvm (sudo modprobe nvidia_uvm)
    advice of number: (700|719)$ => Run it once with compute-sanitizer or CUDA_LAUNCH_BLOCKING=1 to find the kernel, and
    + use another release or backend for it
    advice of number: . => Use a build of the program for CUDA 13, or an option of it that avoids the call
cause = CUDA reports only the error number {number}: {what}.
remedy = {advice}.
source = https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html

[cuda-memory-cause-hidden]
keys = NVML_SUCCESS == r INTERNAL ASSERT FAILED
pattern = (NVML_SUCCESS == r) INTERNAL ASSERT FAILED
cause = The GPU's memory ran out. PyTorch then failed to read the details from NVML ({found}), which are not available
    on a Jetson, on a MIG part or in some containers.
remedy = Reduce the program's memory (a smaller batch, model or share), end other programs that hold memory, and on a
    Jetson drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches). A newer PyTorch reports the lack of
    memory itself.
source = pytorch/pytorch#185240

[cuda-context-destroyed]
keys = CUDA error: context is destroyed
pattern = (context is destroyed)
cause = The program's CUDA context no longer existed ({found}). This happens if Ollama sees two different GPUs.
remedy = Show the program only one GPU (Environment=CUDA_VISIBLE_DEVICES=0 in the service, with the number that
    nvidia-smi -L shows), and restart it.
source = https://github.com/NVIDIA/dgx-spark-playbooks

[cublas-error-number]
keys =
    cublas error
    cuBLAS error
    CUBLAS error
    cublas status
    CUBLAS failure
    CUBLAS ERROR
pattern = (?i:cublas) (?i:error|status|failure)[: =(]+(?P<number>1|3|7|8|13|14|15)\b
values =
    what of number: 1$ => it could not start, usually because no memory is left
    what of number: 3$ => no memory is left for it
    what of number: 7$ => it received a size or type that it does not accept
    what of number: 8$ => its version has no kernel for this GPU
    what of number: 13$ => a kernel failed
    what of number: 14$ => an internal error
    what of number: 15$ => this GPU does not support this product
cause = cuBLAS reports only the status number {number}: {what}.
remedy = Leave more memory free, remove the libcublas of the system or of another CUDA from LD_LIBRARY_PATH, and use a
    build of the program for CUDA 13.
source = https://docs.nvidia.com/cuda/cublas/

[cublas-not-supported]
keys =
    CUBLAS_STATUS_NOT_SUPPORTED
    CUBLAS_STATUS_INVALID_VALUE
    CUBLAS_STATUS_EXECUTION_FAILED
    CUBLAS_STATUS_ARCH_MISMATCH
    CUBLAS_STATUS_INTERNAL_ERROR
pattern =
    status != (CUBLAS_STATUS_NOT_SUPPORTED)\. Unable to find suitable cuBLAS GEMM algorithm
    (CUBLAS_STATUS_(?:NOT_SUPPORTED|INVALID_VALUE|EXECUTION_FAILED|ARCH_MISMATCH|INTERNAL_ERROR)) when calling
    + '(?P<call>\w+)
    (?i:cublas (?:failed with status|error):?) (CUBLAS_STATUS_(?:NOT_SUPPORTED|INVALID_VALUE|EXECUTION_FAILED|ARCH_MISM
    +ATCH|INTERNAL_ERROR))
values =
    what of found: .*(?:NOT_SUPPORTED|ARCH) => it has no kernel for this product on this GPU
    what of found: .*INVALID => the sizes or the data type do not fit, or its library is for another CUDA than the
    + program's
    what of found: . => it failed during the computation, because another kernel failed, memory ran out, or libraries of
    + two CUDA versions are loaded
    advice of found: .*(?:INTERNAL|EXECUTION) => Run once with CUDA_LAUNCH_BLOCKING=1, which shows whether another
    + kernel failed first; leave more memory free, remove other copies of libcublas from LD_LIBRARY_PATH, and try it
    + without CUDA graphs (vLLM's --enforce-eager) or with a newer PyTorch
    advice of found: . => Use the libraries of one CUDA (remove a system's or another wheel's libcublas from
    + LD_LIBRARY_PATH), a newer PyTorch, or another data type or backend for the layer (for faster-whisper and
    + CTranslate2, compute_type="float16" instead of int8)
cause = cuBLAS refused a product[ in {call}] ({found}): {what}.
remedy = {advice}.
source = bitsandbytes-foundation/bitsandbytes#205

[cudnn-no-plan]
keys = No valid execution plans built
pattern = (No valid execution plans built)
cause = cuDNN has no kernel for these sizes and types of attention or matrices on this GPU ({found}).
remedy = Choose another backend: ComfyUI's --use-split-cross-attention or --use-sage-attention, vLLM's
    --attention-backend
    TRITON_ATTN, or torch.backends.cuda.enable_cudnn_sdp(False) in your own program. A
    + newer PyTorch includes a newer cuDNN.
source = Comfy-Org/docs#1491

[cudnn-not-started]
keys =
    CUDNN_STATUS_NOT_INITIALIZED
    CUDNN_STATUS_INTERNAL_ERROR
    unable to find an engine to execute this computation
    CUDNN_STATUS_NOT_SUPPORTED
    CUDNN_STATUS_EXECUTION_FAILED
    CUDNN_STATUS_BAD_PARAM
    CUDNN_STATUS_MAPPING_ERROR
    CUDNN_STATUS_VERSION_MISMATCH
    CUDNN_STATUS_ALLOC_FAILED
    find a valid cuDNN algorithm
    No execution plans
    No valid engine configs found
pattern =
    (CUDNN_STATUS_(?:NOT_INITIALIZED|INTERNAL_ERROR))
    (unable to find an engine to execute this computation)
    cuDNN error: (CUDNN_STATUS_(?:NOT_SUPPORTED|EXECUTION_FAILED|BAD_PARAM|MAPPING_ERROR|VERSION_MISMATCH|ALLOC_FAILED
    +)\b)
    (Unable to find a valid cuDNN algorithm)
    (No (?:execution plans (?:support the graph|built successfully)|valid engine configs found))
uncertain = yes
cause = cuDNN could not start, or has no engine for this operation ({found}). Usually memory ran out, or another cuDNN
    than PyTorch's was loaded.
remedy = Leave more memory free, and remove any other libcudnn from LD_LIBRARY_PATH. If that does not help, use a newer
    PyTorch for CUDA 13.

[engine-of-another-version]
keys =
    Version tag does not match
    Assertion failed: d == a + length
pattern =
    Version tag does not match\. Note: Current Version: (?P<own>\d+), Serialized Engine Version: (?P<engine>\d+)
    stdVersionRead == kSERIALIZATION_VERSION failed\.\s?Version tag does not match
    Assertion failed: d == a \+ length
cause = The TensorRT engine was built with another TensorRT[ (serialization {engine})] than the one that loads it[
    ({own})].
remedy = Rebuild the engine with the installed TensorRT, in the same image that serves it.

[engine-of-another-gpu]
keys = generated on an incompatible device
pattern = incompatible device, expecting compute (?P<engine>[\d.]+) got compute (?P<own>[\d.]+)
cause = The TensorRT engine was built for a GPU of {engine}, but this one is {own}.
remedy = Build the engine on this host (an engine runs only on the kind of GPU that it was built on).

[onnx-file-damaged]
keys =
    onnx2trt_onnx.ModelProto
    Failed to parse ONNX model from file:
    Protobuf parsing failed
pattern =
    Error parsing text-format (onnx2trt_onnx\.ModelProto)
    Failed to parse ONNX model from file: (\S+)
    (Protobuf parsing failed)
cause = The file is read as ONNX but is not ONNX ({found}): it is truncated, a Git LFS pointer or an error page, or its
    external data are not in the same directory. Or a layer before this line is not known.
remedy = Check its size and first bytes (ls -l, head -c 200), get it again (git lfs pull), with its .data file in the
    same directory, and check it with python -c 'import onnx, sys; onnx.checker.check_model(sys.argv[1])' FILE.
uncertain = yes
source = NVIDIA/TensorRT#1589

[tensorrt-plugin-missing]
keys =
    could not find plugin
    Cannot find plugin
    PluginV2DynamicExt
    Plugin not found
pattern =
    could not find plugin:? (?P<plugin1>\w+)
    Cannot find plugin:? (?P<plugin2>\w+)
    Plugin not found, are the plugin name, version, and namespace correct\?
cause = TensorRT does not know a layer of the model[, the plugin {plugin}]: its library is not loaded, or this TensorRT
    no longer includes it.
remedy = Load the plugin's library before the model is read (trtexec --staticPlugins=FILE.so,
    trt.init_libnvinfer_plugins), build that library for this TensorRT, or export the model without the plugin.

[tensorrt-layer-unsupported]
keys =
    UNSUPPORTED_NODE
    While parsing node number
    No importer registered for op
pattern =
    No importer registered for op: (?P<node1>\w+)
    While parsing node number \d+ \[(?P<node2>\w+)[^\n]*?(?:ERROR: (?P<why>[^\n]{1,120}))?$
    (?P<none>UNSUPPORTED_NODE)
cause = TensorRT's parser does not support the ONNX model[: the operator {node}][ ({why})].
remedy = Simplify the model first (onnxsim MODEL OUT; polygraphy surgeon sanitize --fold-constants), export it with
    another opset, use a newer TensorRT, or run it in ONNX Runtime with CUDA.

[tensorrt-gpu-unknown]
keys = is not supported by this TensorRT release
pattern = Target GPU SM (?P<sm>\d+) is not supported by this TensorRT release
values =
    advice of sm: 1\d\d => Use a newer TensorRT (10.8 or newer for 12.0; on a GB10, 10.13 or newer with CUDA 13), or an
    + image that includes it
    advice of sm: . => Use the last TensorRT whose support matrix lists this GPU (10.x no longer supports Maxwell and
    + Pascal)
cause = This release of TensorRT has no kernels for the GPU (SM {sm}).
remedy = {advice}, and rebuild the engine.
source = DDTRobot/tita_rl_sim2sim2real#7

[kernel-backend-capability]
keys = does not support backend
pattern = (?P<function>\w+) does not support backend '(?P<backend>[\w-]+)' with capability (?P<capability>\d+)
cause = {function} of flashinfer has no kernels in the backend {backend} for compute capability {capability}.
remedy = Let it choose (backend auto), set another backend (cutlass, cudnn), or use a flashinfer whose release notes
    list this GPU.
source = flashinfer-ai/flashinfer#5222

[needs-newer-cuda]
keys = or later. Current CUDA version
pattern =
    (?:^|: )(?P<part>[^\n:]{1,80}) requires CUDA (?P<need>[\d.]+\d|\d+) or later\. Current CUDA
    + version: (?P<have>[\d.]*\d)
cause = {part} needs CUDA {need} or newer, but the program uses {have}.
remedy = Use builds of PyTorch and of this package for that CUDA (cu130 on a Spark), and set CUDA_HOME to its toolkit
    (nvcc --version must show it).
source = flashinfer-ai/flashinfer#3123

[tensorrt-no-kernel]
keys =
    Could not find any implementation for node
    MyelinCheckException
pattern =
    (?P<node2>MyelinCheckException: [^\n]{3,120})
    Could not find any implementation for node (?P<node>[^\n]{1,160}?)\.?\)?$
cause = For a part of the model ({node}), TensorRT found no kernel that runs on this GPU and fits into the allowed
    memory.
remedy = Allow the builder more memory (trtexec --memPoolSize=workspace:8192), try without --fp16 or --int8, and use a
    TensorRT that supports the GPU (10.13 or newer for a GB10; new releases no longer support Maxwell and Pascal).
source = dusty-nv/jetson-inference#1591

[triton-load-in-capture]
keys = Triton Error [CUDA]: operation
pattern = Triton Error \[CUDA\]: (operation (?:not permitted|failed due to a previous error during capture)[^\n]*)
cause = Triton loaded a kernel during the recording of a CUDA graph, which CUDA does not permit ({found}): no kernel for
    these shapes had run before. The system's permissions are not involved.
remedy = Start without CUDA graphs (vLLM's --enforce-eager, SGLang's --disable-cuda-graph)[, or without speculative
    decoding ({log_speculation})], or use a release that warms up this kernel.
source = bjk110/spark_vllm_docker#19

[triton-error]
keys = Triton Error [CUDA]
pattern = Triton Error \[CUDA\]: (?P<why>(?!device kernel image)[^\n]+)
values =
    advice of why: out of (?:memory|resources) => Leave more memory free, or use smaller blocks
    advice of why: an illegal|misaligned|unspecified => Look for an earlier kernel that failed: run once with
    + CUDA_LAUNCH_BLOCKING=1
    advice of why: . => Compare the driver with the CUDA of Triton and its ptxas (nvidia-smi, TRITON_PTXAS_PATH), delete
    + ~/.triton/cache, and use the newest Triton with its matching PyTorch
cause = The driver refused a Triton kernel: {why}.
remedy = {advice}. Another backend of the engine avoids that kernel.

[cuda-launch-timeout]
keys = the launch timed out and was terminated
pattern = (the launch timed out and was terminated)
cause = The driver ended a kernel that ran too long on a GPU that also shows a desktop ({found}).
remedy = Run without the desktop (sudo systemctl isolate multi-user.target), or with smaller batches or steps.

[cuda-operation-unsupported]
keys =
    CUDA error: operation not supported
    CUDA error: peer access is not supported
    CUDA_ERROR_NOT_SUPPORTED
pattern =
    CUDA (?:error:|failed with error) (operation not supported|peer access is not supported[\w ]*)
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(CUDA_ERROR_NOT_SUPPORTED)
cause = The driver does not support an operation that the program needs on this GPU ({found}), such as sharing memory
    between processes or GPUs, or using memory pools or managed memory in a container or a virtual machine.
remedy = Turn off that feature (vLLM: --disable-custom-all-reduce; PyTorch: PYTORCH_CUDA_ALLOC_CONF without
    expandable_segments; NCCL: NCCL_CUMEM_ENABLE=0 and NCCL_P2P_DISABLE=1; ComfyUI: --disable-cuda-malloc or
    --disable-pinned-memory).

[cuda-not-ready]
keys =
    system not yet initialized
    cudaErrorSystemNotReady
pattern = ((?:Error 802: |CUDA error: )?system not yet initialized|cudaErrorSystemNotReady)
cause = The driver is not ready for CUDA ({found}). On hosts with NVSwitch, the fabric manager is not running;
    elsewhere, the driver's modules and libraries do not match, or the container lacks a device.
remedy = Check nvidia-smi and its fabric state on the host. If the host has NVSwitch (a Spark has none), install and
    start nvidia-fabricmanager (for a rack, also nvidia-imex) in exactly the driver's version. Reboot after a driver
    update. If the error remains without NVSwitch, load the driver without HMM (options nvidia_uvm uvm_disable_hmm=1 in
    /etc/modprobe.d).
source = gpustack/gpustack#4154

[gpu-busy]
keys =
    all CUDA-capable devices are busy or unavailable
    cudaErrorDevicesUnavailable
pattern =
    (all CUDA-capable devices are busy or unavailable)
    [Ee]rror[^\n]*(cudaErrorDevicesUnavailable)
cause = The GPU accepts no other process ({found}): it is in exclusive mode, its memory is used up, or it failed
    earlier.
remedy = Check nvidia-smi -q -d COMPUTE (it should say Default), end processes that an earlier run left, and search the
    kernel's log for Xid.

[mps-not-reached]
keys =
    Cannot find MPS control daemon process
    instance of this daemon is already running
    failed to connect to the MPS
pattern =
    (Cannot find MPS control daemon process)
    (An instance of this daemon is already running)
    (failed to connect to the MPS[\w ]*)
values =
    state of found: An instance => its control daemon is already running
    state of found: Cannot => its control daemon is not running
    state of found: . => it does not respond
    advice of found: An instance => Use the running daemon, or end it first (echo quit | nvidia-cuda-mps-control)
    advice of found: . => Start nvidia-cuda-mps-control -d as the same user, with the same CUDA_MPS_PIPE_DIRECTORY
    + (mounted into a container), or unset that variable
cause = CUDA's multi-process service (MPS) was requested, but {state} ({found}).
remedy = {advice}.

[cuda-memory-error]
keys = uncorrectable ECC error encountered
pattern = (uncorrectable ECC error encountered)
cause = The GPU's memory has an error ({found}). The hardware is at fault, not the program.
remedy = Reboot, search the kernel's log for Xid 48, 63, 94 or 95, and have the hardware checked if the error comes
    back.

[attention-of-hopper]
keys =
    /hopper/
    FlashAttention v3
pattern =
    CUDA error \([^)\n]*/hopper/(?P<file1>[\w.]+):\d+\): (?P<why1>[\w ]+)
    Error: (?P<file2>FlashAttention v3) (?P<why2>[^\n]{3,80})
cause = A FlashAttention 3 kernel, which supports only Hopper (9.0), was started on another GPU ({file}: {why}).
remedy = Choose another attention backend (vLLM's --attention-backend FLASHINFER or TRITON_ATTN; for images, its
    --mm-encoder-attn-backend), and use an xformers or a server that does not choose FlashAttention 3 for 12.x.
source = nvidia-cosmos/cosmos-reason1#65

[cuda-allocation-refused]
keys = = torch.
pattern =
    = torch\.(?P<call>empty|zeros|ones|full|tensor|randn|rand|arange)\([^\n]*\n(?:[ ~^]+\n)?(?:\w+\.)*\w+Error: CUDA
    + error: (?P<why>invalid argument|operation not supported|invalid device pointer|invalid resource handle)
uncertain = yes
cause = An allocation (torch.{call}), not a kernel, failed: {why}. Perhaps the allocator was replaced or has settings
    that this driver does not accept, or an earlier call failed.
remedy = Unset PYTORCH_CUDA_ALLOC_CONF (expandable_segments), and turn off parts with an allocator of their own
    (Mooncake, NIXL, symmetric memory, --enable-memory-saver, sleep mode) or use other releases of them. Then run with
    CUDA_LAUNCH_BLOCKING=1.
source = sgl-project/sglang#16502

[custom-all-reduce-failed]
keys = custom_all_reduce
pattern = custom_all_reduce\w*\.cuh?:\d+[^\n]{0,20}?(?P<why>CUDA error[^\n]{0,100})
cause = The server's own all-reduce between GPUs failed ({why}): it needs GPUs of one host that reach each other's
    memory.
remedy = Start it with --disable-custom-all-reduce (SGLang, vLLM), and unset
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,
    whose memory cannot be shared that way; on one GPU, or GPUs of several hosts, it is of no use.
source = THUDM/slime#1998

[cuda-launch-refused]
keys =
    too many resources requested for launch
    CUDA error: invalid configuration argument
    CUDA failed with error invalid
    CUDA error: invalid argument
    CUDA error: invalid resource handle
    ): invalid argument
    ): invalid configuration argument
    ): invalid resource handle
pattern =
    (too many resources requested for launch)
    CUDA (?:error(?: \([^)\n]+:\d+\))?:|failed with error) (invalid (?:configuration argument|argument|resource handle))
values =
    what of log_capture: . => it came while CUDA graphs were recorded, which some launches do not allow
    what of log_comfyui: . => ComfyUI copies from pinned memory, or frees memory with its own allocator
    what of found: . => it was tuned for another GPU, or the library does not match the driver
    advice of log_capture: . => Start with --disable-cuda-graph (vLLM: --enforce-eager), which tells whether the
    + recording is at fault, and use a newer release of the server, or another backend for that kernel
    advice of log_comfyui: . => Start ComfyUI without pinned memory and its own allocator (--disable-pinned-memory
    + --disable-cuda-malloc), or update it: some releases free or copy pinned memory wrongly
    advice of found: . => Run once with CUDA_LAUNCH_BLOCKING=1 to find the kernel, and use another backend for it, or a
    + build for 12.0 or 12.1 and CUDA 13
cause = A kernel or a copy was started in a way that this GPU or driver does not accept ({found}): {what}.
remedy = {advice}.

[cuda-function-missing]
keys = the requested functionality is not supported
pattern = (the requested functionality is not supported)(?:[^\n]*\n[^\n]*in function (?P<function>\w+))?
cause = A CUDA library does not support the requested function on this GPU[, in {function}] ({found}): it is older than
    the GPU, or the data type has no kernel.
remedy = Build or install the program for CUDA 13 with code for 12.1, and try another quantization or data type.

[nvrtc-incomplete]
keys = failed to open libnvrtc-builtins
pattern = failed to open (libnvrtc-builtins\.so\.(?P<version>(?P<major>\d+)\.\d+))
values =
    wheel of major: 12 => nvidia-cuda-nvrtc-cu12
    wheel of major: . => nvidia-cuda-nvrtc
    folder of major: 12 => site-packages/nvidia/cuda_nvrtc/lib
    folder of major: . => site-packages/nvidia/cu13/lib
cause = CUDA {version}'s NVRTC does not find its second library, {found}. It is not installed, or its directory is not
    on the loader's path; another CUDA's library does not fit.
remedy = Install it in the environment (pip install "{wheel}=={version}.*"), and put its directory first:
    export LD_LIBRARY_PATH=…/{folder}:$LD_LIBRARY_PATH.
source = p-gueguen/rctd-py#17

[cublas-not-started]
keys =
    CUBLAS_STATUS_ALLOC_FAILED
    CUBLAS_STATUS_NOT_INITIALIZED
pattern = (CUBLAS_STATUS_(?:ALLOC_FAILED|NOT_INITIALIZED))
uncertain = yes
cause = cuBLAS could not start ({found}). This happens if it has no memory left, or if the cuBLAS of another CUDA is
    loaded with the program's own.
remedy = Leave more memory free: end other programs on the GPU, or use a smaller share, batch or model. If much is free,
    unset LD_LIBRARY_PATH, and let pip list show only one major version of nvidia-cublas (that of the installed torch).
source = QwenLM/Qwen3#873

[tensorflow-architecture]
keys =
    CUDA_ERROR_INVALID_PTX
    CUDA_ERROR_INVALID_HANDLE
pattern =
    (?:[Ee]rror|failed|returned)[^\n]{0,120}?(CUDA_ERROR_INVALID_PTX)
    (?:failed with '?|kernel[^\n]{0,60}: )(CUDA_ERROR_INVALID_HANDLE)
values =
    advice of log_rust: . => Name this GPU's architecture for the build (CUDA_COMPUTE_CAP=121 or 120, or -arch=sm_120
    + in build.rs), with a CUDA toolkit that is not newer than the driver (nvidia-smi shows its CUDA), and run cargo
    + clean
    advice of found: . => Use a build that knows Blackwell: NVIDIA's image nvcr.io/nvidia/tensorflow (25.02 or newer),
    + or a newer TensorFlow that was built for CUDA 12.8 or newer; TF_XLA_FLAGS=--tf_xla_auto_jit=0 avoids XLA's kernels
cause = A program has no code for this GPU, and includes PTX that the driver does not accept ({found}): it was made for
    another architecture, or by a CUDA that is newer than the driver.
remedy = {advice}.
source = tensorflow/tensorflow#112272

[bitsandbytes-other-build]
keys = Error named symbol not found at line
pattern = (Error named symbol not found) at line \d+ in file \S*?(?P<file>ops\.cu)
cause = bitsandbytes' library does not fit the CUDA or the GPU on which it runs ({found}). Its wheels for aarch64 are
    for servers with CUDA's own toolkit (a Spark, GH200), not for a Jetson.
remedy = Install the newest bitsandbytes for the installed PyTorch's CUDA. On a Jetson, build it from source (cmake
    -DCOMPUTE_BACKEND=cuda), or use Jetson AI Lab's wheel.
source = bitsandbytes-foundation/bitsandbytes#1941

[cudnn-older-than-build]
keys =
    Loaded runtime CuDNN library
    cuDNN version incompatibility
pattern =
    cuDNN version incompatibility: PyTorch was compiled +against (?P<need2>\([\d, ]+\)) but found runtime version
    + (?P<have2>\([\d, ]+\))
    Loaded runtime CuDNN library: (?P<have>[\d.]+) but source was compiled with: (?P<need>[\d.]*\d)
cause = The program was compiled with cuDNN {need}, but the loader found {have}, which is older.
remedy = Remove the system's cuDNN from LD_LIBRARY_PATH, and install nvidia-cudnn-cu13 {need} or newer in the
    environment.
source = jax-ml/jax#15508

[xformers-no-operator]
keys =
    No operator found for `memory_efficient
    No operator found for 'memory_efficient
    No operator found for this attention
pattern =
    No operator found for 'memory_efficient_attention_(?P<pass>\w+)'(?s:.{0,1600}?)(?P<why1>device=cpu|xFormers was
    + built for:\s+[^\n]{3,60}? \(you have [^\n]+?\)|attn_bias\.stride\(-2\) % 8 != 0|query\.shape\[-1\] % 8 != 0)
    No operator found for 'memory_efficient_attention_(?P<pass3>\w+)'(?s:.{0,1600}?)(?P<why2>[xX]Formers wasn't build
    + with CUDA support|operator wasn't built|but your GPU has capability \([\d, ]+\) \(too \w+\)|dtype=\S+
    + \(supported[^\n]+)
    No operator found for (?:'memory_efficient_attention_(?P<pass2>\w+)'|this attention)
values =
    reason of why: device=cpu|attn_bias|dtype|query => , whatever it was built for
    reason of why: . => : it was built without CUDA, for another torch, or not for this GPU
    reason of why: (?:) => : it was built without CUDA, for another torch, or not for this GPU
    advice of why: device=cpu => Its tensors are on the CPU, for which xformers has no kernel: run the model on the GPU
    + (torch.cuda.is_available() must be True; .to("cuda")), or start the program without xformers
    advice of why: .*was built => Install the release of xformers for this torch (each is made for one version: pip
    + install -U xformers with the index of torch's CUDA), or uninstall it, so that the program uses PyTorch's attention
    advice of why: attn_bias => The mask's length is not a multiple of 8: make it longer and take a slice
    + (torch.zeros(..., n + -n % 8)[..., :n]), or use torch.nn.functional.scaled_dot_product_attention
    advice of why: query => The size of a head (the last dimension) is not a multiple of 8: use PyTorch's attention
    + (torch.nn.functional.scaled_dot_product_attention; without xformers most programs do), or pad the heads
    advice of why: .*(?:wasn't|GPU) => Uninstall xformers (pip uninstall xformers), so that the program uses PyTorch's
    + attention (sdpa), or build it for this torch and GPU (pip install --no-build-isolation --no-binary xformers
    + xformers, with TORCH_CUDA_ARCH_LIST=12.0)
    advice of why: . => Load the model in float16 or bfloat16
    advice of why: (?:) => Run python -m xformers.info, which lists what was built; without xformers (pip uninstall
    + xformers), most programs use PyTorch's attention
cause = xformers has no attention kernel for these tensors[ ({why})]{reason}.
remedy = {advice}.
source = facebookresearch/xformers#1191

[flash-attention-unavailable]
keys =
    Unsupported FA version: None
    is not supported due to FA
pattern =
    FA version (?P<version>\d) is not supported due to (?P<why>FA\d is unavai\w+ due to[^\n]+)
    AssertionError: FA version (?P<version2>\d) is not supported due to (?P<why2>FA[^\n]+)
    (?P<none>Unsupported FA version): None
cause = vLLM's flash-attention is not available on this GPU[ (version {version}: {why})], but the model or an option
    requires it.
remedy = Choose another attention backend (--attention-backend TRITON_ATTN or FLASHINFER; before vLLM 0.12,
    VLLM_ATTENTION_BACKEND), also for the vision part (--mm-encoder-attn-backend TORCH_SDPA).
source = vllm-project/vllm#35341

[fused-attention-refused]
keys = for fused attention
pattern = (?P<why>Invalid combination of [^\n]{3,80}) for fused attention
cause = Transformer Engine has no fused kernel of cuDNN for this attention: {why}.
remedy = Turn it off (export NVTE_FUSED_ATTN=0; with NVTE_FLASH_ATTN=1, flash-attention is used if it is installed), or
    change what the message names (bf16, a sequence length that is a multiple of 64, cuDNN 9).

[flashinfer-configuration]
keys =
    FlashInfer Internal Error: Invalid configuration
    Unsupported max_mma_kv
    rtllm-gen kernels not found
pattern =
    FlashInfer Internal Error: (Invalid configuration) ?:
    (Unsupported max_mma_kv: \d+)
    [Tt]rtllm-gen (kernels not found): [^\n]*?(?P<head>headDimQk=\d+)
values =
    kernel of head: . => trtllm-gen attention kernel for this head size and number of tokens per step
    kernel of found: . => prefill kernel for this head size and data type that fits into this GPU's shared memory, about
    + 100 KiB per block on GPUs of 8.9 and 12.x
cause = FlashInfer has no {kernel} ({found}[, {head}]).
remedy = Choose another attention backend (SGLang's --attention-backend triton, vLLM's TRITON_ATTN), or a newer
    FlashInfer[; for {head}, fewer draft tokens (num_speculative_tokens) may also help].
source = flashinfer-ai/flashinfer#1997

[autotuner-without-kernel]
keys = autotuner.py
pattern = autotuner\.py', line \d+, in (?P<function>\w+)\n(?s:.{0,400}?)(?P<why>IndexError: list index out of range)
cause = The autotuner has no kernel for this GPU, type or size ({function}: {why}).
remedy = Choose another backend for that operation (moe_config or attn_backend in TensorRT-LLM; vLLM's --moe-backend),
    the model in another quantization, or a release that lists 12.1.
source = NVIDIA/TensorRT-LLM#12230

[deepgemm-assertion]
keys =
    jit/compiler.hpp
    jit/kernel_runtime.hpp
    smxx_layout.hpp
    utils/layout.hpp
    apis/layout.hpp
    DeepGEMM backend is not available or outdated
pattern =
    Assertion error \(?[^)\n']*?(?:compiler|kernel_runtime|layout)\.hpp:\d+\)?:? ?(?!Unsupported arch)(?P<what1>[^\n]+)
    (?P<what2>DeepGEMM backend is not available or outdated)
cause = DeepGEMM could not compile or load a kernel ({what}). It does not support GPUs of 12.x, or it does not find a
    complete CUDA toolkit of 12.9 or newer at run time (nvcc, and also cuobjdump).
remedy = Turn it off (VLLM_USE_DEEP_GEMM=0; for SGLang, SGLANG_ENABLE_JIT_DEEPGEMM=0), so that another FP8 kernel is
    used. On a GPU that it supports, install the toolkit with cuobjdump and set CUDA_HOME.
source = MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#119

[deepgemm-scales]
keys = smxx_layout.cuh
pattern = Assertion failed: \S*smxx_layout\.cuh:\d+, condition: (?P<check>[^\n]+)
cause = A DeepGEMM kernel found scales that are not powers of two ({check}): the model's scales have another format than
    the kernel accepts on this GPU. The CUDA error after it is a consequence.
remedy = Turn off DeepGEMM (SGLANG_ENABLE_JIT_DEEPGEMM=0 or --moe-runner-backend triton; for vLLM,
    VLLM_USE_DEEP_GEMM=0), or use a release that converts the scales.
source = sgl-project/sglang#35388

[deepgemm-not-loaded]
keys = name 'deep_gemm' is not defined
pattern = NameError: name '(deep_gemm)' is not defined
cause = The server calls DeepGEMM without having loaded it: it skips DeepGEMM on GPUs other than 9.0 and 10.x, and if
    its import fails.
remedy = Choose backends that do not need it (attention: flashinfer or triton; SGLang's --moe-runner-backend and
    --fp8-gemm-backend triton), or a release that supports 12.x. Installing {found} does not help on a GB10.
source = sgl-project/sglang#37105

[deepspeed-cuda-differs]
keys = does not match the version torch was compiled with
pattern =
    Installed CUDA version (?P<toolkit>[\d.]+\d) does not match the version torch was compiled with (?P<torch>[\d.]+\d)
cause = DeepSpeed compiles its operators with CUDA toolkit {toolkit}, but PyTorch is for CUDA {torch}.
remedy = Make both match: install the PyTorch for CUDA {toolkit} (for 13, --index-url
    https://download.pytorch.org/whl/cu130), or point CUDA_HOME to a toolkit of {torch}. If only the minor version
    differs, DS_SKIP_CUDA_CHECK=1 skips the check.
source = deepspeedai/DeepSpeed#3436
"""
