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
cause = Parts of two cuDNN versions were loaded ({found}): the program's own, and another that the loader found
    first.
remedy = Keep the system's cuDNN off LD_LIBRARY_PATH (or remove it), so that all parts come from the environment's
    one.
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
    advice of major: 8 => The program was made for cuDNN 8: take a newer release of it, for cuDNN 9 (CTranslate2 4.5 and
    + newer; torch 2.4 and newer, which a Spark needs anyhow); what must stay as it is needs nvidia-cudnn-cu12==8.9.7.29
    + and its lib directory on LD_LIBRARY_PATH
    advice of major: . => Add cuDNN's directory to LD_LIBRARY_PATH before the program starts (the environment's
    + site-packages/nvidia/cudnn/lib, or where find / -name 'libcudnn_ops*' finds it), or install libcudnn9-cuda-13
cause = The program does not find {part}, a part of cuDNN {major}: it is not installed, or the loader does not look
    where pip's packages put it.
remedy = {advice}.
source = OpenNMT/CTranslate2#1826

[cuda-majors-mixed]
keys = major version mismatch between cudart and nvrtc
pattern = (major version mismatch between cudart and nvrtc)
cause = cuDNN found an NVRTC of another CUDA major version than the runtime's ({found}).
remedy = Remove the other CUDA's libraries from the environment and from LD_LIBRARY_PATH, so that one CUDA remains.
source = Comfy-Org/ComfyUI#10170

[nvrtc-arch-unknown]
keys = invalid value for --gpu-architecture
pattern = nvrtc: error: (invalid value for --gpu-architecture)
values =
    reason of log_arch: (?:[1-6]\d|70|72)$ => CUDA 13 begins with 7.5, CUDA 12 with 5.0, so the GPU is too old for it
    reason of log_arch: . => the NVRTC is older than the GPU (12.0 needs CUDA 12.8, 12.1 needs 12.9)
    reason of log_arch: $ => 12.1 needs NVRTC 12.9 or newer
    advice of log_arch: (?:[1-6]\d|70|72)$ => Use the package's build for CUDA 12 (cupy-cuda12x, PyTorch of cu126) and a
    + toolkit of CUDA 12 (for a GPU before 5.0 CUDA 10 or 11), or another GPU
    advice of log_arch: |. => Use a PyTorch for CUDA 13 (cu130), whose NVRTC comes with it, or put a newer
    + nvidia-cuda-nvrtc into the environment
cause = The NVRTC that was loaded does not know this GPU ({found}[, architecture {log_arch}]): {reason}.
remedy = {advice}.
source =
    isaac-sim/IsaacLab-Arena#1066
    cupy/cupy#9475

[cuda-forward-compatibility]
keys = forward compatibility was attempted on non supported HW
pattern = (forward compatibility was attempted on non supported HW)
cause = The CUDA of the image or program is newer than the driver's, and CUDA's compatibility libraries, which would
    bridge that, do not work on this GPU (error 804).
remedy = Use an image or build for the driver's CUDA (nvidia-smi shows its version), or update the driver (with DGX OS);
    else keep /usr/local/cuda/compat off LD_LIBRARY_PATH.
source = oobabooga/textgen#4407

[cuda-driver-combination]
keys = unsupported display driver / cuda driver combination
pattern = (unsupported display driver / cuda driver combination)
cause = The CUDA library libcuda.so and the kernel's driver are of different versions (error 803): the driver was
    updated without a reboot, or a container loads the libcuda of its image (/usr/local/cuda/compat) instead of the
    host's.
remedy = Reboot the host after an update of the driver. In a container, ldconfig -p shows which libcuda.so.1 comes
    first: remove the compat directory from /etc/ld.so.conf.d and run ldconfig, or put the host's driver first
    (LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/lib/aarch64-linux-gnu), or start it with --gpus all instead of
    --runtime nvidia.
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
    cause of found: .*operation not supported => a Jetson's container was built for another release of JetPack, or is
    + not run by NVIDIA's runtime
    cause of log_uvm_kernel: . => HMM of nvidia_uvm fails with EL 9.6's kernel 5.14.0-570
    cause of found: . => the driver was not ready for it when the program started, or the program started CUDA before it
    + forked
    advice of found: .*operation not supported => On a Jetson take an image for its own release of L4T (cat
    + /etc/nv_tegra_release) and start it with --runtime nvidia
    advice of log_uvm_kernel: . => Write options nvidia_uvm uvm_disable_hmm=1 into /etc/modprobe.d/uvm.conf and reboot
    advice of found: . => Make nvidia-smi work first, load nvidia_uvm (sudo modprobe
    + nvidia_uvm), and start nvidia-fabricmanager where there is NVSwitch; in Python start workers by spawn
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
pattern = (Error 999: unknown error|CUDA unknown error|CUDA (?:error:|failed with error) unknown error|error code
    + unknown error)
uncertain = yes
cause = The CUDA driver could not be initialised ({found}), as when the kernel module nvidia-uvm is missing or was
    left unusable by a failure or a suspend.
remedy = Load it anew (sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm) or reboot; in a container check that
    /dev/nvidia-uvm is there.
source = NVIDIA/nvidia-container-toolkit#1967

[cuda-illegal-instruction]
keys = an illegal instruction was encountered
pattern = (?:^|: |\) )CUDA (?:error:|failed with error) (an illegal instruction was encountered)
cause = A kernel has code for another GPU than this one ({found}), such as an instruction that only data-centre
    Blackwell has.
remedy = Choose another backend[ (this log has {log_backend_option})] for the kernel (attention or MoE), or a build that
    has code for 12.0 or 12.1a.
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
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress)
cause = A kernel read or wrote an address that it must not ({found}): a fault of that kernel; the line of the
    traceback is not its place.
values =
    backend of log_ggml: . => update llama.cpp; leave out -fa, quantized caches (-ctk, -ctv), draft models and MTP to
    + see whether one of them is at fault (GGML_CUDA_DISABLE_GRAPHS=1 switches graphs off)
    backend of found: . => use another backend (--attention-backend, --moe-backend) or release for it
remedy = Run once with CUDA_LAUNCH_BLOCKING=1 to find the kernel, and {backend}[ (this log has
    {log_backend_option})][; leave out speculative
    decoding ({log_speculation}) first][; CUDA graphs were recorded ({log_graphs}): --enforce-eager or
    --disable-cuda-graph tells whether they are at fault].
source = vllm-project/vllm#50934

[cuda-allocator-mixed]
keys = CUDAMallocAsyncAllocator.cpp
pattern = raised from free_impl at \S*(CUDAMallocAsyncAllocator\.cpp)
cause = PyTorch's asynchronous allocator was to free memory that it did not own ({found}), as after an extension
    that replaced it.
remedy = Disable the extension that came last, or the allocator (of ComfyUI: --disable-cuda-malloc).
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
cause = CUDA found no free memory ({found}): on a GB10 this is the host's memory, and the page cache counts as used.
remedy = End what holds memory, drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), and start
    again; a smaller share for the engine does not help where its first call fails.
source = NVIDIA/xr-ai#440

[attention-kernel-missing]
keys = no kernel found to launch!
pattern = (cutlass[FB]): no kernel found to launch!
cause = PyTorch's memory-efficient attention ({found}) has no kernel for these tensors on this GPU.
remedy = Use another data type (float16 instead of bfloat16 on a GPU before Ampere), see that the sizes of heads are
    multiples of 8, and take a PyTorch with code for this GPU; torch.backends.cuda.enable_mem_efficient_sdp(False) makes
    it choose another way.

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
cause = The program sees no GPU ({found}): CUDA_VISIBLE_DEVICES names none that is there, its container was started
    without one, its PyTorch is a build for the CPU, or the driver does not work.
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
cause = This is a PyTorch older than 1.11, which has no code for a GPU of today: {why}.
remedy = Install a current PyTorch for CUDA 13 (pip install torch --index-url
    https://download.pytorch.org/whl/cu130) in a new environment, and a release of the program that takes it.
source = john-bradshaw/synthesis-dags#4

[cuda-error-number]
keys =
    error: 35
    error 35
    error 100
    error: 100
    error 209
    error: 209
    error 222
    error: 222
    error 46
    error: 46
    error 98
    error 700
    error 719
    error 802
    error 803
    error 804
    error 999
    error code 35
    error code 100
    error code 209
    error code 98
    error 34
    failure 35
    failure 100
    failure 209
    failure 700
    error 101
    error 304
    error 500
    error 801
    error 300
    error 2
    failure 2
    cuMem
    cuModule
    cuLaunch
    cuStream
    cudaHost
    cudaMalloc
    cudaMemcpy
    Cuda Error in
pattern =
    [Cc]uda Error in \w+: (?P<number3>1|2|35|46|98|100|101|209|222|700|719|999)\b
    \bcu(?:da(?:Host|Malloc|Memcpy)|Mem|Module|Launch|Stream)\w*(?:\(\))?[ ,:]+(?:failed|returned|status|error|code)
    +(?: with| error| code| status)*[ :=]+(?P<number2>1|2|100|101|201|209|222|400|700|719|801)(?![\d.]| ?[KMG])
    (?i:\bcu(?:da)?\w*|\bdriver|\bGPU)\b[^\n]{0,60}?(?:[Ee]rror|[Ff]ailure|ERROR)(?: code)?[: =]+\(?(?P<number>2|34
    +|35|46|98|10[01]|209|222|30[04]|500|700|719|80[1-4]|999)\b(?![.\d:/-])
unless =
    toolchain|illegal|invalid|misaligned|not initialized|initialization error|unknown error|no CUDA-capable|busy|not
    + supported|driver combination|not ready|not permitted|out of memory|unspecified|no kernel image|insufficient
    +|cudnn|CUDNN|NCCL|nccl
values =
    what of number: 1$ => a call got a value that it does not take
    what of number: (201|400)$ => what the call names belongs to another context, or is gone
    what of number: 2$ => the memory ran out
    what of number: 34$ => the stub of libcuda was loaded in the place of the driver's library
    what of number: 35$ => the driver is older than the CUDA of the program, or is not seen
    what of number: 46$ => the GPU takes no other process (exclusive mode, or a failure before)
    what of number: (98|209)$ => the program has no code for this GPU
    what of number: 100$ => no GPU is seen
    what of number: 101$ => the GPU of that number does not exist
    what of number: 222$ => the driver is older than the toolkit that wrote the PTX
    what of number: 30[04]$ => a file or a call of the system failed
    what of number: 500$ => a function or symbol is not in the driver
    what of number: 700$ => a kernel read or wrote an address that it must not
    what of number: 719$ => a kernel failed
    what of number: 801$ => the driver does not do that on this GPU
    what of number: 802$ => the system is not ready (fabric manager, driver)
    what of number: 803$ => libcuda and the kernel's driver are of different versions
    what of number: 804$ => the compatibility libraries of a container do not work on this GPU
    what of number: 999$ => the driver could not be initialised
    advice of number: (1|201|400)$ => Take a release of the program that knows this model and its quantization, or
    + another form of the model: the call is the program's own
    advice of number: 2$ => Leave more memory free (on a GB10 it is the host's: end programs, drop the page cache)
    advice of number: (34|35|803|804)$ => Compare the CUDA that nvidia-smi shows with the program's, start a container
    + with --gpus all and without /usr/local/cuda/compat or stubs on LD_LIBRARY_PATH, take an image for that CUDA, or
    + update DGX OS with its driver and reboot
    advice of number: (98|209|222)$ => Take a build for CUDA 13 with code for 12.0 or 12.1 (Thor 11.0), or build it with
    + CMAKE_CUDA_ARCHITECTURES=121
    advice of number: (46|100|101|802|999|304)$ => Make nvidia-smi work where the program runs, unset
    + CUDA_VISIBLE_DEVICES, start a container with --gpus all, and load nvidia_uvm (sudo modprobe nvidia_uvm)
    advice of number: (700|719)$ => Run it once with compute-sanitizer or CUDA_LAUNCH_BLOCKING=1 to find the kernel, and
    + take another release or backend for it
    advice of number: . => Take a build of the program for CUDA 13, and look for its option that goes without the call
cause = CUDA reports only the number {number} of its error: {what}.
remedy = {advice}.
source = https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html

[cuda-memory-cause-hidden]
keys = NVML_SUCCESS == r INTERNAL ASSERT FAILED
pattern = (NVML_SUCCESS == r) INTERNAL ASSERT FAILED
cause = The GPU's memory ran out, and PyTorch failed only when it asked NVML for the details ({found}), which a Jetson,
    a MIG part or a container does not give it.
remedy = Let the program take less memory (a smaller batch, model or share), end others that hold it, and on a Jetson
    drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches); a newer PyTorch says out of memory itself.
source = pytorch/pytorch#185240

[cuda-context-destroyed]
keys = CUDA error: context is destroyed
pattern = (context is destroyed)
cause = The CUDA context of the program was gone ({found}), as where Ollama sees two different GPUs.
remedy = Let the program see one GPU (Environment=CUDA_VISIBLE_DEVICES=0 in the service, with the number that nvidia-smi
    -L shows), and restart it.
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
    what of number: 1$ => it could not start, mostly since no memory is left
    what of number: 3$ => no memory is left for it
    what of number: 7$ => it got a size or type that it does not take
    what of number: 8$ => its version has no kernel for this GPU
    what of number: 13$ => a kernel failed
    what of number: 14$ => an internal error
    what of number: 15$ => this product is not supported on this GPU
cause = cuBLAS reports only the number {number} of its status: {what}.
remedy = Leave more memory free, keep a system's or another CUDA's libcublas off LD_LIBRARY_PATH, and take a build of
    the program for CUDA 13.
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
    (?i:cublas (?:failed with status|error):?)
    + (CUBLAS_STATUS_(?:NOT_SUPPORTED|INVALID_VALUE|EXECUTION_FAILED|ARCH_MISMATCH
    +|INTERNAL_ERROR))
values =
    what of found: .*(?:NOT_SUPPORTED|ARCH) => it has no kernel for this product on this GPU
    what of found: .*INVALID => the sizes or the data type do not fit, or its library is of another CUDA than the
    + program's
    what of found: . => it failed while it computed, after another kernel's fault, for lack of memory, or since
    + libraries of two CUDA versions are loaded
    advice of found: .*(?:INTERNAL|EXECUTION) => Run once with CUDA_LAUNCH_BLOCKING=1, which shows whether another
    + kernel failed first; leave more memory free, keep other copies of libcublas off LD_LIBRARY_PATH, and try it
    + without CUDA graphs (--enforce-eager of vLLM) or with a newer PyTorch
    advice of found: . => Use the libraries of one CUDA (keep a system's or another wheel's libcublas off
    + LD_LIBRARY_PATH), a newer PyTorch, or another data type or backend for the layer (of faster-whisper and
    + CTranslate2 compute_type="float16" in the place of int8)
cause = cuBLAS refused a product[ in {call}] ({found}): {what}.
remedy = {advice}.
source = bitsandbytes-foundation/bitsandbytes#205

[cudnn-no-plan]
keys = No valid execution plans built
pattern = (No valid execution plans built)
cause = cuDNN's attention has no kernel for these sizes on this GPU ({found}).
remedy = Take another attention: --use-split-cross-attention or --use-sage-attention of ComfyUI,
    torch.backends.cuda.enable_cudnn_sdp(False) in a program of your own; a newer PyTorch has a newer cuDNN.
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
cause = cuDNN could not start or has no engine for this ({found}): mostly memory ran out, or another cuDNN than
    PyTorch's was loaded.
remedy = Leave more memory free, and keep another libcudnn off LD_LIBRARY_PATH; then take a newer PyTorch for CUDA 13.

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
remedy = Build the engine again with the installed TensorRT, in the same image that serves it.

[engine-of-another-gpu]
keys = generated on an incompatible device
pattern = incompatible device, expecting compute (?P<engine>[\d.]+) got compute (?P<own>[\d.]+)
cause = The TensorRT engine was built for a GPU of {engine}, and this one is {own}.
remedy = Build the engine on this host (engines are for the GPU that they were built on).

[onnx-file-damaged]
keys =
    onnx2trt_onnx.ModelProto
    Failed to parse ONNX model from file:
    Protobuf parsing failed
pattern =
    Error parsing text-format (onnx2trt_onnx\.ModelProto)
    Failed to parse ONNX model from file: (\S+)
    (Protobuf parsing failed)
cause = The file is read as ONNX and is none ({found}): it is cut off, a pointer of Git LFS, an error page, or its
    external
    data are not beside it; or a layer before this line is not known.
remedy = Look at its size and first bytes (ls -l, head -c 200); get it again (git lfs pull), with its .data file in the
    same
    directory, and check it with python -c 'import onnx, sys; onnx.checker.check_model(sys.argv[1])' FILE.
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
cause = TensorRT does not know a layer of the model[, the plugin {plugin}]: the library with it is not loaded, or this
    TensorRT no longer has it.
remedy = Load the library that has it before the model is read (trtexec --staticPlugins=FILE.so,
    trt.init_libnvinfer_plugins), build that library for this TensorRT, or export the model without it.

[tensorrt-layer-unsupported]
keys =
    UNSUPPORTED_NODE
    While parsing node number
    No importer registered for op
pattern =
    No importer registered for op: (?P<node1>\w+)
    While parsing node number \d+ \[(?P<node2>\w+)[^\n]*?(?:ERROR: (?P<why>[^\n]{1,120}))?$
    (?P<none>UNSUPPORTED_NODE)
cause = TensorRT's parser cannot take the ONNX model[: the operator {node}][ ({why})].
remedy = Simplify the model first (onnxsim MODEL OUT; polygraphy surgeon sanitize --fold-constants), export it with
    another opset, take a newer TensorRT, or run it by ONNX Runtime with CUDA.

[tensorrt-gpu-unknown]
keys = is not supported by this TensorRT release
pattern = Target GPU SM (?P<sm>\d+) is not supported by this TensorRT release
values =
    advice of sm: 1\d\d => Take a newer TensorRT (10.8 or newer for 12.0; on a GB10 10.13 or newer with CUDA 13), or an
    + image that has it
    advice of sm: . => Take the last TensorRT whose support matrix lists this GPU (10.x no longer knows Maxwell and
    + Pascal)
cause = This release of TensorRT has no kernels for the GPU (SM {sm}).
remedy = {advice}, and build the engine again.
source = DDTRobot/tita_rl_sim2sim2real#7

[kernel-backend-capability]
keys = does not support backend
pattern = (?P<function>\w+) does not support backend '(?P<backend>[\w-]+)' with capability (?P<capability>\d+)
cause = {function} of flashinfer has no kernels of the backend {backend} for the compute capability {capability}.
remedy = Let it choose (backend auto), name another one (cutlass, cudnn), or take a flashinfer whose notes have this
    GPU.
source = flashinfer-ai/flashinfer#5222

[needs-newer-cuda]
keys = or later. Current CUDA version
pattern =
    (?:^|: )(?P<part>[^\n:]{1,80}) requires CUDA (?P<need>[\d.]+\d|\d+) or later\. Current CUDA
    + version: (?P<have>[\d.]*\d)
cause = {part} needs CUDA {need} or newer, and the program uses {have}.
remedy = Take the build of PyTorch and of this package for that CUDA (cu130 on a Spark), and set CUDA_HOME to its
    toolkit, which nvcc --version must show.
source = flashinfer-ai/flashinfer#3123

[tensorrt-no-kernel]
keys = Could not find any implementation for node
pattern = Could not find any implementation for node (?P<node>[^\n]{1,160}?)\.?\)?$
cause = TensorRT found no kernel for a part of the model that runs on this GPU and fits into the memory that it may use
    ({node}).
remedy = Give the builder more memory (trtexec --memPoolSize=workspace:8192), try without --fp16 or --int8, and take a
    TensorRT that knows the GPU (10.13 or newer for a GB10; an old one does not know it, and a new one no longer knows
    Maxwell and Pascal).
source = dusty-nv/jetson-inference#1591

[triton-load-in-capture]
keys = Triton Error [CUDA]: operation
pattern = Triton Error \[CUDA\]: (operation (?:not permitted|failed due to a previous error during capture)[^\n]*)
cause = Triton loaded a kernel while a CUDA graph was recorded, which CUDA does not permit ({found}): a kernel for these
    shapes had not run before. It is no matter of the system's permissions.
remedy = Start without CUDA graphs (--enforce-eager of vLLM, --disable-cuda-graph of SGLang)[, or without speculative
    decoding ({log_speculation})], or take a release that warms this kernel up.
source = bjk110/spark_vllm_docker#19

[triton-error]
keys = Triton Error [CUDA]
pattern = Triton Error \[CUDA\]: (?P<why>(?!device kernel image)[^\n]+)
values =
    advice of why: out of (?:memory|resources) => Leave more memory free, or use smaller blocks
    advice of why: an illegal|misaligned|unspecified => Look for an earlier kernel that failed: run once with
    + CUDA_LAUNCH_BLOCKING=1
    advice of why: . => Compare the driver with the CUDA of Triton and its ptxas (nvidia-smi, TRITON_PTXAS_PATH),
    + delete ~/.triton/cache, and take the newest Triton with its PyTorch
cause = The driver refused a kernel of Triton: {why}.
remedy = {advice}; another backend of the engine goes without that kernel.

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
cause = The driver does not do what the program asked for on this GPU ({found}), such as sharing memory between
    processes or GPUs, memory pools or managed memory in a container or a virtual machine.
remedy = Turn that feature off (of vLLM --disable-custom-all-reduce, of PyTorch PYTORCH_CUDA_ALLOC_CONF without
    expandable_segments, of NCCL NCCL_CUMEM_ENABLE=0 and NCCL_P2P_DISABLE=1, of ComfyUI --disable-cuda-malloc or
    --disable-pinned-memory).

[cuda-not-ready]
keys =
    system not yet initialized
    cudaErrorSystemNotReady
pattern = ((?:Error 802: |CUDA error: )?system not yet initialized|cudaErrorSystemNotReady)
cause = The driver is not ready for CUDA ({found}): on hosts with NVSwitch the fabric manager does not run, elsewhere
    the driver's modules and libraries do not fit or the container lacks a device.
remedy = Look at nvidia-smi and its fabric state on the host; where there is NVSwitch (a Spark has none), install and
    start nvidia-fabricmanager (of a rack nvidia-imex, too) in exactly the driver's version; reboot after an update of
    the driver; if it stays without NVSwitch, load the driver without HMM (options nvidia_uvm uvm_disable_hmm=1 in
    /etc/modprobe.d).
source = gpustack/gpustack#4154

[gpu-busy]
keys =
    all CUDA-capable devices are busy or unavailable
    cudaErrorDevicesUnavailable
pattern =
    (all CUDA-capable devices are busy or unavailable)
    [Ee]rror[^\n]*(cudaErrorDevicesUnavailable)
cause = The GPU does not take another process ({found}): it is in exclusive mode, its memory is used up, or it failed
    before.
remedy = Look at nvidia-smi -q -d COMPUTE (Default is right), end processes that an earlier run left, and read the
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
    state of found: An instance => its control daemon runs already
    state of found: Cannot => its control daemon does not run
    state of found: . => it does not answer the program
    advice of found: An instance => Use the one that runs, or end it first (echo quit | nvidia-cuda-mps-control)
    advice of found: . => Start nvidia-cuda-mps-control -d as the same user, with the same CUDA_MPS_PIPE_DIRECTORY
    + (mounted into a container), or unset that variable
cause = CUDA's multi-process service (MPS) was called, and {state} ({found}).
remedy = {advice}.

[cuda-memory-error]
keys = uncorrectable ECC error encountered
pattern = (uncorrectable ECC error encountered)
cause = The GPU's memory has an error ({found}): a fault of the hardware, not of the program.
remedy = Reboot, read Xid 48, 63, 94 or 95 in the kernel's log, and have the hardware checked if it comes back.

[attention-of-hopper]
keys = /hopper/
pattern = CUDA error \([^)\n]*/hopper/(?P<file>[\w.]+):\d+\): (?P<why>[\w ]+)
cause = A kernel of FlashAttention 3, which is for Hopper (9.0) alone, was started on another GPU ({file}: {why}).
remedy = Choose another attention backend (--attention-backend FLASHINFER or TRITON_ATTN of vLLM, its
    --mm-encoder-attn-backend for images), and take an xformers or a server that does not choose FlashAttention 3 for
    12.x.
source = nvidia-cosmos/cosmos-reason1#65

[cuda-allocation-refused]
keys = = torch.
pattern =
    = torch\.(?P<call>empty|zeros|ones|full|tensor|randn|rand|arange)\([^\n]*\n(?:[ ~^]+\n)?(?:\w+\.)*\w+Error: CUDA
    + error: (?P<why>invalid argument|operation not supported|invalid device pointer|invalid resource handle)
uncertain = yes
cause = An allocation (torch.{call}) is refused, not a kernel: {why}; perhaps the allocator was replaced or has
    settings that this driver does not accept, or an earlier call failed.
remedy = Unset PYTORCH_CUDA_ALLOC_CONF (expandable_segments) and leave out what has its own allocator (Mooncake, NIXL,
    symmetric memory, --enable-memory-saver, sleep mode), or use another release of it; then run with
    CUDA_LAUNCH_BLOCKING=1.
source = sgl-project/sglang#16502

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
cause = A kernel was started in a way that this GPU or driver does not take ({found}): it was tuned for another GPU, or
    the library and the driver do not fit.
remedy = Run once with CUDA_LAUNCH_BLOCKING=1 to find the kernel, and use another backend for it, or a build for 12.0 or
    12.1 and CUDA 13.

[cuda-function-missing]
keys = the requested functionality is not supported
pattern = (the requested functionality is not supported)(?:[^\n]*\n[^\n]*in function (?P<function>\w+))?
cause = A CUDA library does not do what was asked on this GPU[, in {function}] ({found}): it is older than the GPU, or
    the data type has no kernel.
remedy = Build or install the program for CUDA 13 with code for 12.1, and try another quantization or data type.

[nvrtc-incomplete]
keys = failed to open libnvrtc-builtins
pattern = failed to open (libnvrtc-builtins\.so\.(?P<version>(?P<major>\d+)\.\d+))
values =
    wheel of major: 12 => nvidia-cuda-nvrtc-cu12
    wheel of major: . => nvidia-cuda-nvrtc
    folder of major: 12 => site-packages/nvidia/cuda_nvrtc/lib
    folder of major: . => site-packages/nvidia/cu13/lib
cause = NVRTC of CUDA {version} does not find its second library, {found}: it is not installed, or its directory is not
    on the loader's path; that of another CUDA does not serve.
remedy = Install it in the environment (pip install "{wheel}=={version}.*"), and put its directory first:
    export LD_LIBRARY_PATH=…/{folder}:$LD_LIBRARY_PATH.
source = p-gueguen/rctd-py#17

[cublas-not-started]
keys =
    CUBLAS_STATUS_ALLOC_FAILED
    CUBLAS_STATUS_NOT_INITIALIZED
pattern = (CUBLAS_STATUS_(?:ALLOC_FAILED|NOT_INITIALIZED))
uncertain = yes
cause = cuBLAS could not start ({found}), as where no memory is left for it.
remedy = Leave more memory free: end other programs on the GPU, or take a smaller share, batch or model.
source = QwenLM/Qwen3#873

[tensorflow-architecture]
keys =
    CUDA_ERROR_INVALID_PTX
    CUDA_ERROR_INVALID_HANDLE
pattern =
    (?:[Ee]rror|failed|returned)[^\n]{0,120}?(CUDA_ERROR_INVALID_PTX)
    (?:failed with '?|kernel[^\n]{0,60}: )(CUDA_ERROR_INVALID_HANDLE)
cause = A program, mostly TensorFlow, has no code for this GPU and brings PTX that the driver does not take ({found}).
remedy = Use a build that knows Blackwell: NVIDIA's image nvcr.io/nvidia/tensorflow (25.02 or newer), or a newer
    TensorFlow that was built for CUDA 12.8 or newer; TF_XLA_FLAGS=--tf_xla_auto_jit=0 goes without XLA's kernels.
source = tensorflow/tensorflow#112272

[bitsandbytes-other-build]
keys = Error named symbol not found at line
pattern = (Error named symbol not found) at line \d+ in file \S*?(?P<file>ops\.cu)
cause = bitsandbytes' library does not fit the CUDA or the GPU that it runs on ({found}): its wheels for aarch64 are for
    servers with CUDA's own toolkit (a Spark, GH200), not for a Jetson's.
remedy = Install the newest bitsandbytes for the CUDA of the installed PyTorch; on a Jetson build it from source there
    (cmake -DCOMPUTE_BACKEND=cuda), or take Jetson AI Lab's wheel.
source = bitsandbytes-foundation/bitsandbytes#1941

[cudnn-older-than-build]
keys =
    Loaded runtime CuDNN library
    cuDNN version incompatibility
pattern =
    cuDNN version incompatibility: PyTorch was compiled +against (?P<need2>\([\d, ]+\)) but found runtime version
    + (?P<have2>\([\d, ]+\))
    Loaded runtime CuDNN library: (?P<have>[\d.]+) but source was compiled with: (?P<need>[\d.]*\d)
cause = The program was compiled with cuDNN {need}, and the loader took {have}, which is older.
remedy = Keep the system's cuDNN off LD_LIBRARY_PATH, and install nvidia-cudnn-cu13 of {need} or newer in the
    environment.
source = jax-ml/jax#15508

[xformers-no-operator]
keys =
    No operator found for `memory_efficient
    No operator found for 'memory_efficient
    No operator found for this attention
pattern =
    No operator found for 'memory_efficient_attention_(?P<pass>\w+)'(?s:.{0,1600}?)(?P<why1>device=cpu|xFormers was
    + built
    + for:\s+[^\n]{3,60}? \(you have [^\n]+?\)|attn_bias\.stride\(-2\) % 8 != 0)
    No operator found for 'memory_efficient_attention_(?P<pass3>\w+)'(?s:.{0,1600}?)(?P<why2>[xX]Formers wasn't build
    + with
    + CUDA support|operator wasn't built|but your GPU has capability \([\d, ]+\) \(too \w+\)|dtype=\S+
    + \(supported[^\n]+)
    No operator found for (?:'memory_efficient_attention_(?P<pass2>\w+)'|this attention)
values =
    reason of why: device=cpu|attn_bias|dtype => , whatever it was built for
    reason of why: . => : it was built without CUDA, for another torch, or not for this GPU
    reason of why: (?:) => : it was built without CUDA, for another torch, or not for this GPU
    advice of why: device=cpu => Its tensors are on the CPU, for which xformers has nothing: run the model on the GPU
    + (torch.cuda.is_available() must be True; .to("cuda")), or start the program without xformers
    advice of why: .*was built => Install the release of xformers for this torch (each is made for one version: pip
    + install -U xformers with the index of torch's CUDA), or uninstall it, so that the program takes PyTorch's
    + attention
    advice of why: attn_bias => The mask's length is not a multiple of 8: make it longer and take a slice
    + (torch.zeros(..., n + -n % 8)[..., :n]), or use torch.nn.functional.scaled_dot_product_attention
    advice of why: .*(?:wasn't|GPU) => Uninstall xformers (pip uninstall xformers), so that the program takes PyTorch's
    + attention (sdpa), or build it for this torch and GPU (pip install --no-build-isolation --no-binary xformers
    + xformers, with TORCH_CUDA_ARCH_LIST=12.0)
    advice of why: . => Load the model in float16 or bfloat16
    advice of why: (?:) => Look at python -m xformers.info, which says what was built; without xformers (pip uninstall
    + xformers) most programs take PyTorch's attention
cause = xformers has no attention kernel for this[ ({why})]{reason}.
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
cause = vLLM's flash-attention is not available on this GPU[ (version {version}: {why})], and the model or an option
    asks for it.
remedy = Choose another attention backend (--attention-backend TRITON_ATTN or FLASHINFER; before vLLM 0.12
    VLLM_ATTENTION_BACKEND), also for the vision part (--mm-encoder-attn-backend TORCH_SDPA).
source = vllm-project/vllm#35341

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
    kernel of head: . => attention kernel of trtllm-gen for this head size and number of tokens in a step
    kernel of found: . => prefill kernel for this head size and data type that fits into the shared memory of this GPU,
    + about 100 KiB for one block on GPUs of 8.9 and 12.x
cause = FlashInfer has no {kernel} ({found}[, {head}]).
remedy = Choose another attention backend (--attention-backend triton of SGLang, TRITON_ATTN of vLLM), or a newer
    FlashInfer[; for {head} fewer draft tokens (num_speculative_tokens) may do, too].
source = flashinfer-ai/flashinfer#1997

[autotuner-without-kernel]
keys = autotuner.py
pattern = autotuner\.py', line \d+, in (?P<function>\w+)\n(?s:.{0,400}?)(?P<why>IndexError: list index out of range)
cause = The autotuner has no kernel to choose from for this GPU, type or size ({function}: {why}).
remedy = Choose another backend for that operation (moe_config, attn_backend of TensorRT-LLM; --moe-backend of vLLM),
    the model in another quantization, or a release that names 12.1.
source = NVIDIA/TensorRT-LLM#12230

[deepgemm-assertion]
keys =
    jit/compiler.hpp
    jit/kernel_runtime.hpp
    smxx_layout.hpp
    utils/layout.hpp
    DeepGEMM backend is not available or outdated
pattern =
    Assertion error \(?[^)\n']*?(?:compiler|kernel_runtime|layout)\.hpp:\d+\)?:? ?(?!Unsupported arch)(?P<what1>[^\n]+)
    (?P<what2>DeepGEMM backend is not available or outdated)
cause = DeepGEMM could not compile or load a kernel ({what}): it is not for GPUs of 12.x, or it does not find a complete
    CUDA toolkit of 12.9 or newer at run time (nvcc, and cuobjdump too).
remedy = Go without it (VLLM_USE_DEEP_GEMM=0; of SGLang SGLANG_ENABLE_JIT_DEEPGEMM=0), which takes another FP8 kernel;
    on a GPU that it is for, install the toolkit with cuobjdump and set CUDA_HOME.
source = MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#119

[deepgemm-scales]
keys = smxx_layout.cuh
pattern = Assertion failed: \S*smxx_layout\.cuh:\d+, condition: (?P<check>[^\n]+)
cause = A kernel of DeepGEMM found scales that are no powers of two ({check}): the model's scales have another format
    than it takes on this GPU; the CUDA error after it follows.
remedy = Go without DeepGEMM (SGLANG_ENABLE_JIT_DEEPGEMM=0 or --moe-runner-backend triton; VLLM_USE_DEEP_GEMM=0 of
    vLLM), or take a release that converts the scales.
source = sgl-project/sglang#35388

[deepgemm-not-loaded]
keys = name 'deep_gemm' is not defined
pattern = NameError: name '(deep_gemm)' is not defined
cause = The server calls DeepGEMM, which it did not load: it leaves it out on GPUs other than 9.0 and 10.x, and where
    its import fails.
remedy = Choose backends that go without it (attention: flashinfer or triton; --moe-runner-backend and
    --fp8-gemm-backend triton of SGLang), or a release that knows 12.x; installing {found} does not help on a GB10.
source = sgl-project/sglang#37105

[deepspeed-cuda-differs]
keys = does not match the version torch was compiled with
pattern =
    Installed CUDA version (?P<toolkit>[\d.]+\d) does not match the version torch was compiled with (?P<torch>[\d.]+\d)
cause = DeepSpeed compiles its operators with the CUDA toolkit {toolkit}, and PyTorch is for CUDA {torch}.
remedy = Let both agree: install the PyTorch for CUDA {toolkit} (for 13 --index-url
    https://download.pytorch.org/whl/cu130), or point CUDA_HOME to a toolkit of {torch}; where only the minor version
    differs, DS_SKIP_CUDA_CHECK=1 skips the check.
source = deepspeedai/DeepSpeed#3436
"""
