# __init__.py in this directory explains the fields.

"""CUDA architectures

Code for a different GPU, or a tool that does not support the present one.
"""

RULES = r"""
[cuda-headers-of-another-release]
keys = CUDA compiler and CUDA toolkit headers are incompatible
pattern = (CUDA compiler and CUDA toolkit headers are incompatible)
cause = nvcc and the CUDA headers that it includes come from different releases[: nvcc {log_nvcc}][ and a runtime
    {log_runtime}].
remedy = Install one release of both, that of the installed PyTorch (13.0 for cu130). For pip's packages: pip install
    --force-reinstall --no-deps "nvidia-cuda-nvcc==13.0.*" (nvidia-cuda-crt, nvidia-nvvm and nvidia-cuda-cccl likewise).
    Point CUDA_HOME and PATH to that toolkit, remove other include directories from CPATH, and delete the half-built
    kernels (~/.cache/flashinfer).
source = vllm-project/vllm#44305

[arch-no-device]
keys =
    compute_No CUDA devices found
    gpu architecture 'compute_'
pattern = Unsupported gpu architecture 'compute_((?:No CUDA devices found\.?)?)'
cause = The build detects the architecture (native), but it sees no GPU, so nvcc received no number.
remedy = Set it: CMAKE_CUDA_ARCHITECTURES=121 (TORCH_CUDA_ARCH_LIST for PyTorch's extensions), and configure in an empty
    directory.
source = ggml-org/llama.cpp#18430

[arch-too-old]
keys =
    Unsupported gpu architecture 'compute_
    for option 'gpu-name'
pattern =
    Unsupported gpu architecture '(compute_(?!20')(?:[1-6]\d|7[0-4])a?)'
    Value '(sm_(?:53|6\d|7[0-4]))' is not defined for option 'gpu-name'
cause = This compiler of CUDA no longer knows {found}, which is too old: CUDA 13 begins at 7.5.
remedy = Remove it from the list of architectures (TORCH_CUDA_ARCH_LIST, CMAKE_CUDA_ARCHITECTURES): a Spark needs only
    12.0 or 12.1. If the package's own setup.py names it, use a newer release or a checkout that reads the list. If the
    GPU itself is that old, use CUDA 12 and packages for it (PyTorch of cu126).
source = laugh12321/TensorRT-YOLO#286

[arch-is-cuda-version]
keys = Unsupported gpu architecture 'compute_13
pattern = Unsupported gpu architecture '(compute_13\d)'
cause = There is no GPU architecture {found}: it was derived from the CUDA version.
remedy = Set the GPU's compute capability without its dot, which is 121 for a GB10 (CMAKE_CUDA_ARCHITECTURES=121).
source = ggml-org/llama.cpp#23118

[cutlass-arch-conditional]
keys = Arch conditional MMA instruction used without targeting
pattern = (Arch conditional MMA instruction used without targeting appropriate compute capability)
cause = A CUTLASS kernel was compiled without the instructions that it calls ({found}): the target was plain sm_120 or
    sm_121, or another GPU's, instead of an architecture-specific one.
remedy = Compile it for 120a or 121a (nvcc -gencode=arch=compute_121a,code=sm_121a; CUTLASS_NVCC_ARCHS=121a,
    TORCH_CUDA_ARCH_LIST=12.1a), or use a release or backend that has the kernel for 12.x.
source = NVIDIA/cutlass#3174

[nvlink-older-than-library]
keys = newer than toolkit
pattern = nvlink fatal\s*: Input file '(?P<file>[^'\n]+)' newer than toolkit \((?P<library>\d+) vs (?P<toolkit>\d+)\)
cause = CUDA {toolkit}'s nvlink (120 is 12.0) cannot link {file}, which comes from CUDA {library}: the build mixes two
    toolkits.
remedy = Use nvcc and the libraries of one toolkit: put /usr/local/cuda/bin first on PATH (which -a nvcc lists others,
    such as that of Ubuntu's nvidia-cuda-toolkit, which you can remove), and empty the build directory.
source = ihaque/memtestG80#15

[ptxas-feature-missing]
keys = not supported on .target
pattern =
    (?:Feature|Instruction) '(?P<feature>\.tile::\w+|tcgen05[\w.]*)' not supported on \.target '(?P<target>sm_\w+)'
    (?:Feature|Instruction) '(?P<feature2>wgmma[^'\n]*)' not supported on \.target '(?P<target2>sm_1\w+)'
    (?:Feature|Instruction) '(?P<feature3>[^'\n]+)' not supported on \.target '(?P<target3>sm_\d+[af])'
values =
    advice of feature: \.tile:: => It is a Triton kernel, compiled when it runs. Update Triton, triton_kernels and the
    + engine, or choose another kernel or backend for this GPU (for MoE, Marlin)
    advice of log_triton: . => It is a Triton kernel, compiled when it runs. Update Triton and the engine, or choose
    + another kernel or backend for this GPU (for MoE, Marlin)
    advice of feature: . => Set only this GPU's architecture for the build (TORCH_CUDA_ARCH_LIST=12.0 without 9.0 or
    + 10.0), so that it omits those kernels. Otherwise choose another kernel or backend for this GPU
cause = The kernel uses {feature}, which only Hopper (wgmma) or data-centre Blackwell (tcgen05, TMA scatter) has; the
    target {target} does not.
remedy = {advice}.
source =
    thu-ml/SageAttention#291
    triton-lang/triton#11859

[ptxas-target-not-specific]
keys = not supported on .target
pattern = (?:Feature|Instruction) '([^'\n]+)' not supported on \.target '(?P<target>sm_\d+)'
cause = {found} exists only on architecture-specific targets, but the build uses the plain target {target}.
remedy = Build for 121a (or 120a): CMAKE_CUDA_ARCHITECTURES=121a-real, TORCH_CUDA_ARCH_LIST=12.1a.
source = pytorch/FBGEMM#4975

[arch-of-old-project]
keys = compute_20'
pattern = Unsupported gpu architecture 'compute_20'\s+CMake Error at \S+\.cu\.o
cause = The project's CMake files ask nvcc for compute_20, an architecture that CUDA dropped with release 9.
remedy = Write 121 (or 12.1) where its CMakeLists.txt names an architecture, or set its option for architectures
    (-DCUDA_ARCH_BIN=12.1, -DCMAKE_CUDA_ARCHITECTURES=121), and empty the build directory.
source = mp3guy/Kintinuous#40

[arch-compute-20]
keys =
    compute_20'
    Unknown CUDA Architecture Name
pattern =
    Unsupported gpu architecture 'compute_20'
    Unknown CUDA Architecture Name(?: in \w+:?)?\s+12\.[01]\(2\.0\)
cause = The build asks for compute_20 or 12.1(2.0), which is no GPU's architecture: without TORCH_CUDA_ARCH_LIST,
    PyTorch's detection turns the GPU's 12.1 into 12.1(2.0).
remedy = Set TORCH_CUDA_ARCH_LIST for the build (in the environment, or the unit's environment) to 12.1, and to 12.0 for
    torch 2.9.1 to 2.11. For CMake itself, pass -DTORCH_CUDA_ARCH_LIST.
source = pytorch/pytorch#174065

[nvcc-arch-unknown]
keys =
    is not defined for option 'gpu-architecture'
    Unsupported gpu architecture
    CMAKE_CUDA_ARCHITECTURES:
pattern =
    Value '([^'\n]+)' is not defined for option 'gpu-architecture'
    Unsupported gpu architecture '([^'\n]+)'
    CMAKE_CUDA_ARCHITECTURES:\s+(\S+)\s+do not all work with this compiler
values =
    advice of found: .* -\S => nvcc received several options as one word, because the build quotes them together or
    + passes a CMake variable that is not a list: correct the line that adds --gpu-architecture or -arch (a semicolon in
    + CMake lists, or SHELL: before it), or set the architectures with CMAKE_CUDA_ARCHITECTURES
    advice of found: native$ => This nvcc is older than CUDA 11.5, like that of an old package nvidia-cuda-toolkit in
    + /usr/bin: put the bin directory of CUDA 13 first on PATH (/usr/local/cuda/bin), or set the architecture as a
    + number
    advice of found: .*\b(?:compute_|sm_)?110\b => 110 is CUDA 13's number for what CUDA 12.8 and 12.9 call 101: use the
    + nvcc of CUDA 13, or the source's release for this CUDA, or remove 110 from the list of architectures; a Spark
    + needs only 121
    advice of found: .*\b(?:compute_)?(?:9\d|1[0-2]\d) => This nvcc is older than the GPU (12.0 needs CUDA 12.8, 12.1
    + needs 12.9): use CUDA 13's nvcc, with /usr/local/cuda/bin first on PATH, or set as CUDACXX or CMAKE_CUDA_COMPILER.
    + Ubuntu's package nvidia-cuda-toolkit puts an nvcc 12.0 into /usr/bin: remove it. Then configure in an empty
    + directory
    advice of found: .*\b(?:compute_|sm_)?8\d\b => This nvcc is too old for it (8.0 needs CUDA 11.0, 8.6 needs 11.1, 8.9
    + needs 11.8): use a newer nvcc, such as CUDA 13's in /usr/local/cuda/bin, or remove the architecture from
    + TORCH_CUDA_ARCH_LIST (or CMAKE_CUDA_ARCHITECTURES); a Spark needs only 12.1
    advice of found: .*\b(?:compute_|sm_)[1-7]\d\b => The architecture is too old for this nvcc (CUDA 13 begins with
    + 7.5, CUDA 12 with 5.0): remove it from TORCH_CUDA_ARCH_LIST, CMAKE_CUDA_ARCHITECTURES or the flags in the source
    + (-arch, -gencode); a Spark needs only 12.1
    advice of found: . => Correct TORCH_CUDA_ARCH_LIST (or CMAKE_CUDA_ARCHITECTURES)
cause = nvcc does not know the architecture {found}.
remedy = {advice}.
source = mozilla-ai/llamafile#89

[ptxas-arch-unknown]
keys = for option 'gpu-name'
pattern = Value '(sm_(?![2-6]\d)[^'\n]+)' is not defined for option 'gpu-name'
values =
    need of found: sm_107 => 13.3
    need of found: sm_11 => 13.0
    need of found: sm_1(?:00|01|20) => 12.8
    need of found: . => 12.9
cause = The ptxas in use does not know {found}: it is older than CUDA {need}, like the ptxas in Triton 3.5 and older.
remedy = Point the program to the CUDA toolkit's ptxas: with TRITON_PTXAS_PATH for Triton 3.5 and older, with
    TRITON_PTXAS_BLACKWELL_PATH for 3.6 and newer, and with PATH or CUDA_HOME for others.
source = triton-lang/triton#8539

[triton-ptxas-failed]
keys = /nvidia/bin/ptxas
pattern = CalledProcessError: Command '(?:\[')?\S+/bin/ptxas'?[ ,][^\n]*--gpu-name=(?P<arch>sm_\w+)
uncertain = yes
cause = The ptxas in Triton's wheel failed for {arch}, usually because it is older than the GPU.
remedy = Use the CUDA toolkit's ptxas (export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas; for Triton 3.6 and newer,
    TRITON_PTXAS_BLACKWELL_PATH), or a newer Triton with its matching PyTorch.
source = triton-lang/triton#8539

[ptxas-of-another-nvcc]
keys = for option 'gpu-name'
pattern = Value '(sm_(?:[2-4]\d|5[02]))' is not defined for option 'gpu-name'
cause = Without a set architecture, nvcc uses its old default {found}, which the ptxas in use no longer knows. The two
    come from different toolkits, usually Ubuntu's nvidia-cuda-toolkit (/usr/bin/nvcc) and CUDA 13 in /usr/local/cuda.
remedy = Remove nvidia-cuda-toolkit (sudo apt remove nvidia-cuda-toolkit), put /usr/local/cuda/bin first on PATH or set
    CUDACXX=/usr/local/cuda/bin/nvcc, and configure in an empty directory with -DCMAKE_CUDA_ARCHITECTURES=121.
source = NVlabs/instant-ngp#747

[ptx-newer-than-driver]
keys = application ptx input, line
pattern =
    application ptx input, line \d+; fatal +: Unsupported \.version (?P<need>[\d.]+); current version is '(?P<have>
    +[\d.]+)
cause = The driver compiles the kernel's PTX itself and knows PTX up to {have}, but the program's CUDA toolkit wrote PTX
    {need}. The toolkit is newer than the driver.
remedy = Use a toolkit that is not newer than the CUDA version that nvidia-smi shows (for Numba, pip install
    "numba-cuda[cu12]" or "[cu13]", or conda's cuda-version), or update the driver with the system (DGX OS).
source = numba/numba#7006

[ptx-version]
keys =
    Unsupported .version
    Unknown modifier '
    of any known instruction
pattern =
    ptxas [^\n]*error +: (?:Unknown modifier|Not a name of any known instruction:?) '([^'\n]+)'
    Unsupported \.version (\S+); current version is '([^'\n]+)'
cause = The ptxas in use is older than its input (PTX {found}).
remedy = Use a ptxas as new as the compiler: CUDA_HOME and PATH must point to the same toolkit, and TRITON_PTXAS_PATH to
    its ptxas.
source = numba/numba#7006

[llvm-ptx-version]
keys = does not support target
pattern =
    LLVM ERROR: (?P<line>PTX version \S+ does not support target '[^'\n]+')
    (?:^|Reason: |: )(PTX version \S+ does not support target '[^'\n]+')
values =
    why of line: . => Triton's backend requests a lower PTX version than LLVM 22 and newer allow
    why of line: (?:) => the program's CUDA is older than the GPU, so that it writes an older PTX than the GPU needs
    advice of line: . => Build Triton with the LLVM that it pins, or raise the bound min(86, ptx_version) in
    + third_party/nvidia/backend/compiler.py to 90 with an edit (triton_unit), as upstream did later
    advice of line: (?:) => Install the program's build for a newer CUDA (JAX: pip install -U "jax[cuda13]"; PyTorch:
    + https://download.pytorch.org/whl/cu130), or its newest release
cause = LLVM refuses the target: {found}; {why}.
remedy = {advice}.

[llvm-gpu-unknown]
keys = is not a recognized processor for this target
pattern = '(sm_1\d+[af]?)' is not a recognized processor
cause = The LLVM in this Triton is too old to know the GPU ({found}).
remedy = Install a PyTorch for CUDA 13 with its matching Triton (pip install --index-url
    https://download.pytorch.org/whl/cu130 torch; Triton 3.3 knows 12.0, and 3.5 also 12.1).
source = lllyasviel/Fooocus#3862

[llvm-cannot-select]
keys = LLVM ERROR: Cannot select
pattern = LLVM ERROR: Cannot select: (?:intrinsic )?%llvm\.nvvm\.([\w.]+)
cause = The kernel uses {found}, for which LLVM has no instruction on the target GPU. The kernel was written for another
    GPU, or this Triton or its LLVM is older than the GPU.
remedy = Use the newest release of Triton with its matching PyTorch. If the GPU lacks the instruction (12.x has no
    tcgen05 or wgmma), choose another backend or kernel.
source = triton-lang/triton#11747

[capture-not-joined]
keys =
    unjoined work
    CaptureUnjoined
    CAPTURE_UNJOINED
pattern = (capturing stream has unjoined work|cudaErrorStreamCaptureUnjoined|CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
cause = During the recording of a CUDA graph, something started work on a second stream, and the recorded stream did not
    wait for it before the recording ended ({found}).
remedy = Record without the part that uses its own streams: choose the graph mode of the all-to-all for experts
    (SGLang's --deepep-mode low_latency), and turn off overlap and offloading on other streams. Or start without graphs
    (vLLM's --enforce-eager, SGLang's --disable-cuda-graph). In your own code, let the recorded stream wait for the
    other one first (torch.cuda.current_stream().wait_stream(other)).
source = deepseek-ai/DeepEP#62

[nvrtc-not-found]
keys = Error in dlopen for library libnvrtc
pattern = Error in dlopen for library (libnvrtc\.so[\w.]*)
cause = PyTorch compiles a kernel at run time, but does not find NVRTC ({found}).
remedy = Install the nvidia-cuda-nvrtc that this torch requires (pip show torch), in the same version as its other CUDA
    packages. If it is installed, add its directory to LD_LIBRARY_PATH (site-packages/nvidia/cu13/lib).

[cuda-arch-unknown]
keys =
    Unknown CUDA Architecture Name
    Unknown CUDA arch
pattern =
    Unknown CUDA Architecture Name(?: in \w+)?:?\s+(\S+)
    Unknown CUDA arch \(([\w.+]+)\)
values =
    advice of found: 12\.[01][af]?(?:\+PTX)?$ => Set TORCH_CUDA_ARCH_LIST=12.0, whose code runs on 12.1; if 12.0 is not
    + known either, use a PyTorch for CUDA 12.8 or newer
    advice of found: \d+\.\d[af]?(?:\+PTX)?$ => Take it out of TORCH_CUDA_ARCH_LIST and keep only your own GPU's
    + (12.0 for a GB10), or use a PyTorch that knows it (CUDA 13 knows 10.1 as 11.0)
    advice of found: . => Write TORCH_CUDA_ARCH_LIST as numbers (12.0, 12.1a), not as sm_121. A source older than the
    + GPU needs a patch or 12.0
cause = The build's list of CUDA architectures does not know {found}.
remedy = {advice}.
source = k2-fsa/k2#1344

[cuda-arch-empty]
keys = Unknown CUDA arch ()
pattern = Unknown CUDA arch \(\)
cause = The build's list of CUDA architectures is empty: TORCH_CUDA_ARCH_LIST is set to nothing, or it is not set and no
    GPU is visible where the build runs (docker build shows none).
remedy = Set TORCH_CUDA_ARCH_LIST=12.0 for the build (in a Dockerfile with ENV or ARG before it).
source = dusty-nv/jetson-containers#140

[torch-arch-unknown]
keys = arch_bin wasn't set
pattern = (arch_bin wasn't set) for some reason
cause = PyTorch's CMake files received a CUDA architecture that they do not know ({found}): TORCH_CUDA_ARCH_LIST is
    misspelt, or names an architecture that is newer than this PyTorch.
remedy = Set TORCH_CUDA_ARCH_LIST to numbers that this PyTorch knows (12.0, or 12.1a with a PyTorch for CUDA 13).
source = vllm-project/vllm#6683

[arch-list-unset]
keys = arch_list[-1] +=
pattern = arch_list\[-1\] \+= '\+PTX'
cause = PyTorch's extension build found neither TORCH_CUDA_ARCH_LIST nor a GPU to detect.
remedy = Set TORCH_CUDA_ARCH_LIST for the build (12.0 or 12.1a for a GB10), in the environment or the unit's
    environment.
source = pytorch/ort#95

[attention-guard]
keys = but was built for sm
pattern = FATAL: (?:kernel \S+|this function) is for (\S+), but was built for (?P<built>sm\d+)
cause = A memory-efficient attention kernel has no code for {built} (only for {found}), so its results are wrong.
remedy = If it is xformers' kernel, uninstall xformers. Otherwise do not use this PyTorch: build it with
    TORCH_CUDA_ARCH_LIST=12.0, or with the guard patch of the role pytorch.
source = GuigsEvt/dgx_spark_config#5

[kernel-built-for-others]
keys = kernel built for
pattern = FATAL: kernel built for (?P<built>sm_?\d+(?:-sm_?\d+)?), but running on (?P<gpu>sm_?\d+)
cause = The package that failed (the last lines of its traceback) has kernels only for {built}, but the GPU is {gpu}.
remedy = Build it from source for the GPU (TORCH_CUDA_ARCH_LIST=12.0; flash-attn reads FLASH_ATTN_CUDA_ARCHS=120), use a
    release that names the GPU, or choose PyTorch's own attention (attn_implementation="sdpa").
source = Dao-AILab/flash-attention#1969

[torch-arch-missing]
keys =
    is not compatible with the current PyTorch installation
    which is of cuda capability
    which is of compute capability
pattern =
    Found GPU\d+ (?P<gpu2>[^\n]{1,80}?) which is of (?:cuda|compute) capability (?:\(CC\)
    + )?(?P<need2>[1-7]\.\d)\.?\s+(?:Minimum and Maximum[^\n]*\s+(?P<has2>\([\d.]+\) - \([\d.]+\))|The following
    + list shows[^\n]*\s+- (?P<has3>[^\n]+))
    ^[ \t]*(?P<gpu>[^\n]{1,80}?) with CUDA capability (?P<need>sm_\d+) is not compatible with the current PyTorch
    + installation\.\s+The current PyTorch install supports CUDA capabilities (?P<has>(?:sm_\w+ ?)+)
when = no-kernel-image
values =
    advice of log_tensorrt_llm: . => TensorRT-LLM pins its torch, so do not exchange that alone: install a newer
    + TensorRT-LLM (1.0 and newer know 12.0), or use NVIDIA's image nvcr.io/nvidia/tensorrt-llm/release
    advice of need: sm_1(?:10|01) => Install a build for CUDA 13 whose list has sm_110 (torch.cuda.get_arch_list() shows
    + it; NVIDIA's image nvcr.io/nvidia/pytorch has it), or build from source with TORCH_CUDA_ARCH_LIST=11.0
    advice of need: sm_1[012] => Install a PyTorch for CUDA 13 (pip install torch --index-url
    + https://download.pytorch.org/whl/cu130), whose code for 12.0 runs on 12.1, and its other packages for cu130; or
    + build from source with TORCH_CUDA_ARCH_LIST=12.0
    advice of need: . => Install an older PyTorch that still has this architecture, or choose the other GPU with
    + CUDA_VISIBLE_DEVICES
cause = The installed PyTorch has code for {has}, but the GPU ({gpu}) needs {need}.
remedy = {advice}.
source = flashinfer-ai/flashinfer#5238

[llamacpp-arch-missing]
keys = has no device code compatible with CUDA arch
pattern =
    CUDA kernel (?P<kernel>\w+) has no device code compatible with CUDA arch (?P<need>(?P<arch>\d+)\d)\. \S+ was
    + compiled for: (?:(?P<has>[\d,]+)|\w)
values =
    advice of need: (?:[1-6]\d|7[0-4])\d$ => CUDA 13 compiles for 7.5 and newer only: build llama.cpp with CUDA 12 (on a
    + Jetson Xavier, JetPack's own CUDA 11). For Ollama, whose library has no such kernel, use an older release that ran
    + on this GPU, or its own source
    advice of need: 1210$ => Build llama.cpp with CUDA 13, or use a build that lists it
    advice of need: . => Build llama.cpp with a CUDA that knows it (12.8 or newer for 1000 and more), or use a build
    + that lists it, such as a newer Ollama
cause = llama.cpp's kernel {kernel} was not compiled for this GPU's architecture, {need} (a GB10 is 1210)[, only for
    {has}].
remedy = {advice}. A build of your own needs -DCMAKE_CUDA_ARCHITECTURES={arch} and an empty directory.
source = hybridgroup/llama-cpp-builder#31

[ggml-no-lower-arch]
keys = ggml was not compiled with any CUDA arch
pattern = ggml was not compiled with any CUDA arch <= (?P<most>\d+)
when = log-shows-capability
values =
    why of log_old_capability: . => it has kernels only for newer architectures than the GPU's
    why of log_capability: (?:[89]|1\d)\. => the GPU is newer, so this release's own check, which asks for an older
    + architecture, is at fault
    advice of log_old_capability: . => Build it with the GPU's own number in CMAKE_CUDA_ARCHITECTURES (75 for 7.5) in an
    + empty directory, with CUDA 12 for a GPU before 7.5
    advice of log_capability: (?:[89]|1\d)\. => Update llama.cpp (git pull) and build it again in an empty directory.
    + Until then, add 75 to CMAKE_CUDA_ARCHITECTURES ("75;120")
cause = llama.cpp stopped because it was not compiled for CUDA architecture {most} or an older one: {why}.
remedy = {advice}.
source = ggml-org/llama.cpp#15593

[ggml-lower-arch-asked]
keys = ggml was not compiled with any CUDA arch
pattern = ggml was not compiled with any CUDA arch <= (?P<most>\d+)
uncertain = yes
cause = llama.cpp stopped because it was not compiled for CUDA architecture {most} or an older one: either the GPU is
    older than all architectures of this build, or it is newer and this release's own check is at fault.
remedy = Compare the GPU (nvidia-smi --query-gpu=compute_cap --format=csv). If it is 7.5 or older, build llama.cpp with
    its number in CMAKE_CUDA_ARCHITECTURES. If it is newer, update llama.cpp and build it again in an empty directory.
source = ggml-org/llama.cpp#15593

[jit-cache-of-another-gpu]
keys =
    /flashinfer/
    /deep_gemm/
    torch_extensions/
    no kernel image is available
pattern =
    /(?P<library1>flashinfer)/\d[\w.]*/(?P<built1>\d+[af]?(?:_\d+[af]?)*)/[^\n]*(?:\n[^\n]*){0,6}?no kernel image is
    + available
    /(?P<library2>deep_gemm|torch_extensions)/[^\n]*(?:\n[^\n]*){0,6}?no kernel image is available
    no kernel image is available[^\n]*\n(?:[^\n]*\n)?[^\n]*?/(?P<library3>flashinfer)/\d[\w.]*/(?P<built2>\d+[af]?(?:_\
    +d+[af]?)*)/
values =
    list of library: flashinfer => FLASHINFER_CUDA_ARCH_LIST=12.1a
    list of library: torch_ext => TORCH_CUDA_ARCH_LIST=12.0
    list of library: . => its variable for architectures
    cache of library: flashinfer => ~/.cache/flashinfer
    cache of library: torch_ext => ~/.cache/torch_extensions
    cache of library: . => its folder in ~/.cache
cause = A kernel that {library} compiled on this host[ for {built}] does not run on this GPU: it was compiled for
    another architecture, or by another nvcc.
remedy = Delete {cache}, set {list} (a GB10 is 12.1, and does not run code for 12.0a) and use the nvcc of CUDA 12.9 or
    13 (CUDA_HOME), then start again. A newer {library} chooses the architecture automatically.
source = flashinfer-ai/flashinfer#2839

[package-kernel-missing]
keys =
    -packages/flash_attn
    -packages/sageattention/
    -packages/sageattn3/
    -packages/xformers/
    -packages/sgl_kernel/
    -packages/vllm/
    -packages/flashinfer/
    -packages/natten/
    -packages/spconv/
    -packages/mamba_ssm/
    -packages/causal_conv1d/
    -packages/pytorch3d/
    -packages/gsplat/
    -packages/torch_scatter/
    -packages/torchvision/
    -packages/torchaudio/
pattern =
    -packages/(?P<package>\w+)/[^'\n]*', line \d+, in [^\n]*\n[^\n]*\b(?:\w+_(?:cuda|gpu)|_C\w*|_qattn\w*|_fused|torch\.
    +ops\.(?!aten)\w+)\.[^\n]*\n(?:[ ~^]+\n)?(?:\w+\.)*\w*Error:
    + (?:CUDA error: |\w+ failed with error code )no kernel image is available
values =
    advice of package: flash_attn => Choose an attention without it (sdpa), or build flash-attn
    advice of package: (sageattention|sageattn3|xformers) => Choose an attention without it (sdpa), or build it
    advice of package: (vllm|sgl_kernel|flashinfer|torchvision|torchaudio) => Install its build for the PyTorch and the
    + CUDA in use (cu130), or build it
    advice of package: . => Build it
cause = The traceback ends in the installed {package}, which has no code for this GPU's architecture. PyTorch's own
    kernels are probably not at fault.
remedy = {advice} from source for this GPU (pip install --no-build-isolation --no-binary, with TORCH_CUDA_ARCH_LIST set
    to what torch.cuda.get_device_capability() prints; 12.0 also runs on a GB10).
source = PozzettiAndrea/ComfyUI-TRELLIS2#20

[program-kernel-missing]
keys =
    no kernel image is available
    -packages/
    model.encode(features
    Non-zero status code returned while running
    onnxruntime::
pattern =
    no kernel image is available[^\n]*(?:\n[^\n]*){0,2}?\n[^\n]*(?P<program1>ggml)[_-]cuda
    no kernel image is available[^\n]*/csrc/(?P<program3>ops\.cu)\b
    -packages/(?P<program4>ctranslate2|bitsandbytes|faiss|cupy|xgboost|onnxruntime|tinycudann|diff_gaussian_rasterizati
    +on|nvdiffrast|simple_knn|nerfacc)/[^\n]*(?:\n[^\n]*){0,4}?(?:no kernel image is available|NO_BINARY_FOR_GPU)
    model\.(?P<program6>encode)\(features[^\n]*\n[^\n]*no kernel image is available
    (?:Non-zero status code returned while running|(?P<program5>onnxruntime)::)[^\n]*no kernel image is available
values =
    name of program: ggml => llama.cpp's ggml, or the program that contains it,
    name of program: ops => bitsandbytes
    name of program: encode => CTranslate2, by which faster-whisper computes,
    name of program: $ => ONNX Runtime
    name of program: . => The package in the traceback
    advice of program: ggml => Build it with CUDA 13 and -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=121 in an empty
    + directory, or use a build that lists 120 or 121
    advice of program: (?:ops|bitsandbytes) => Upgrade bitsandbytes (0.48 and newer have wheels for aarch64 and CUDA
    + 13), or build it with cmake -DCOMPUTE_BACKEND=cuda -DCOMPUTE_CAPABILITY=121
    advice of program: (?:ctranslate2|encode) => Build CTranslate2 with -DWITH_CUDA=ON -DCUDA_ARCH_LIST=12.0, or use
    + the CPU
    advice of program: (?:onnx|$) => Build it with --use_cuda and CMAKE_CUDA_ARCHITECTURES=121, use Microsoft's package
    + for CUDA 13 and aarch64 (microsoft/onnxruntime#27944), or use the CPU provider
    advice of program: tiny => Build it from source with TCNN_CUDA_ARCHITECTURES=120
    advice of program: cupy => Install cupy-cuda13x and delete ~/.cupy/kernel_cache
    advice of program: (?:diff|nvdiff|simple|nerf) => Build it again with TORCH_CUDA_ARCH_LIST=12.0 (pip install
    + --no-build-isolation --force-reinstall --no-deps)
    advice of program: . => Build it from source with CMAKE_CUDA_ARCHITECTURES=121, or use the CPU package
cause = {name} was built without code for this GPU's architecture (a GB10 is 12.1); PyTorch and the driver are not at
    fault.
remedy = {advice}.
source = ggml-org/llama.cpp#18430

[cutlass-not-implemented]
keys = 0 && __PRETTY_FUNCTION__
pattern = cutlass/arch/\w+_sm(?P<arch>\d+)\w*\.h:\d+: [^\n]*Assertion '0 && __PRETTY_FUNCTION__' failed
cause = A CUTLASS kernel was compiled for an architecture below sm_{arch}, the first with the instruction that it uses,
    and stops when it comes to it. PyTorch and the driver are not at fault.
remedy = Build the package with the kernel again for this GPU (TORCH_CUDA_ARCH_LIST=12.0, CMAKE_CUDA_ARCHITECTURES=121
    on a GB10; remove -gencode flags for old ones from its setup.py) in an empty directory.
source = NVIDIA/cutlass#1062

[no-kernel-image]
keys =
    no kernel image is available
    cudaErrorNoKernelImageForDevice
    CUDA_ERROR_NO_BINARY_FOR_GPU
    cudaErrorSymbolNotFound
    CUDA error: named symbol not found
    'named symbol not found'
    CUDA error: invalid device function
    cudaErrorInvalidDeviceFunction
pattern =
    no kernel image is available for execution on the device
    (?:Error|error)[^\n]*(?:cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorSymbolNotFound)
    CUDA error: named symbol not found
    CUDA error \S+\.cuh?:\d+ 'named symbol not found'
    CUDA error: invalid device function
    (?:Error|error)[^\n]*cudaErrorInvalidDeviceFunction
cause = The program, or one of its libraries, has no code for this GPU's architecture. A GB10 is 12.1 and runs code for
    12.0, 12.1 and 12.1a; a Jetson Thor is 11.0. Both also run an older architecture's PTX, which the driver compiles.
remedy = Install builds for CUDA 13: torch from the index cu130, and the cu130 wheels of vLLM, sgl-kernel, flash-attn
    and the like. Or build the library from source with TORCH_CUDA_ARCH_LIST and CMAKE_CUDA_ARCHITECTURES set to the
    GPU's architecture (GB10: 12.0, or 12.1a for a kernel that needs it, and 121; Thor: 11.0 and 110).
    torch.cuda.get_arch_list() lists PyTorch's architectures, and cuobjdump --list-elf a library's.
source = vllm-project/vllm#30855

[nvcc-32-bit]
keys = it compilation is
pattern = (?i:(?:ptxas|nvcc) fatal *: (32-bit compilation) (?:is no longer|is only|not) supported)
cause = The build asks for 32-bit device code (-m32, or PTX with 32-bit addresses), which CUDA no longer supports.
remedy = Remove -m32, --machine 32 or a 32-bit -arch from the makefile (-m64 is the default), and omit the file whose
    old PTX or library needs it. Or use a newer release of the source.
source = USTC-ADA/AG-SpTRSV#2
"""
