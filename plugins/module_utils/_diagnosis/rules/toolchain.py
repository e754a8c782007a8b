# __init__.py in this directory explains the fields.

"""Compilers and driver

nvcc, its host compiler, the C library and the driver, which must match each other.
"""

RULES = r"""
[host-compiler-too-new]
keys =
    unsupported GNU version
    unsupported clang version
    of the host compiler
    Unsupported compiler version
    required version by
    /usr/include/c++/
pattern =
    The version \('\d+'\) of the (host compiler \('[^']+'\)) is not supported
    unsupported (?:GNU|clang) version! (\w+ versions later than \d+)[^!\n]{0,20}not supported
    unsupported (clang) version
    /usr/include/c\+\+/(\d+)[\d.]*/[\w/.]+\(\d+\): error: identifier "\w+" is undefined
    /usr/include/c\+\+/(\d+)[\d.]*/[\w/.]+:\d+:\d+: error: parameter packs not expanded
    Unsupported compiler version
    installed version of (\S+ \(\S+\)) is (?:less|greater) than the m\w+ required version by CUDA
cause = This CUDA does not support the host compiler[ ({found})], or cannot read its headers.
remedy = Use a host compiler that this CUDA supports (gcc 13 of Ubuntu 24.04 with CUDA 13.0): export CUDAHOSTCXX=g++-13
    (nvcc -ccbin), or set cc and cxx in the unit's toolchain. Or use a newer CUDA.
source = ServeurpersoCom/acestep.cpp#72

[host-compiler-missing]
keys =
    Failed to preprocess host compiler properties
    Cannot find compiler
pattern =
    Failed to preprocess host compiler properties
    Cannot find compiler '([^'\n]+)' in PATH
cause = nvcc could not run its host compiler ({found}).
remedy = Install g++ (build-essential; the role build_toolchain), and check that the compiler in CUDAHOSTCXX, -ccbin or
    toolchain.cxx is installed.

[glibc-too-new]
keys = exception specification is incompatible
pattern = exception specification is incompatible with that of previous function '((?:sin|cos)pif?|rsqrtf?)\b
cause = This CUDA's headers and this host's C library both declare {found}: glibc 2.41 and newer need CUDA 13.1.
remedy = Build on Ubuntu 24.04 (glibc 2.39), or with a CUDA toolkit that supports this glibc.
source = NVIDIA/cuda-samples#378

[nvcc-host-march]
keys = expected a number
pattern = nvcc fatal\s*: '(?P<option>(?:arch|tune|cpu|fpu)=[^'\n]+)': expected a number
cause = nvcc does not understand the option -m{option}, which is for the host compiler.
remedy = Pass it through (-Xcompiler -m{option}), or let the build add it to C and C++ only (in CMake
    $<$<COMPILE_LANGUAGE:CXX>:-m{option}>). On aarch64, names of x86 processors are wrong: use -mcpu=native.
source = arbor-sim/arbor#575

[cuda-typedef-removed]
keys = PFN_cu
pattern = error: (?:identifier )?'(PFN_cu(?!\w*_v\d)\w+)' (?:is undefined|was not declared|does not name a type)
cause = The source uses {found}, usually in an old copy of CUTLASS. CUDA 13 removed this name from cudaTypedefs.h, which
    now has only names with a version (PFN_cuTensorMapEncodeTiled_v12000).
remedy = Use a release of the source that supports CUDA 13, or a newer CUTLASS (git submodule update --init), or build
    with CUDA 12.9.
source =
    huggingface/candle#3605
    NVIDIA/TensorRT-LLM#6890

[nvcc-option-unknown]
keys = nknown option '
pattern = nvcc fatal\s*: Unknown option '([^'\n]+)'
values =
    since of found: -+static-global-template-stub => CUDA 12.8
    since of found: -+(?:compress-mode|Ofast-compile|device-entity) => CUDA 12.8
    since of found: -+(?:jump-table-density|split-compile-extended|arch-list) => CUDA 12.4
    since of found: -+(?:diag-|split-compile|minimal|fdevice-) => CUDA 12.1
    since of found: -+(?:t|threads|dlto|M[DFPTQ]|generate-dep|extra-device-vec) => CUDA 11.2
cause = The nvcc in use does not know the option {found}[: it is older than {since}, which introduced it].
remedy = Check which nvcc ran (which -a nvcc; the command in the log names it). /usr/bin/nvcc is Ubuntu's old
    nvidia-cuda-toolkit: sudo apt remove nvidia-cuda-toolkit removes it. Point CUDA_HOME and PATH to CUDA 13
    (/usr/local/cuda), and delete the old build (~/.cache/flashinfer, the build directory). If you set the option
    yourself, correct it in TORCH_NVCC_FLAGS, NVCC_APPEND_FLAGS or CUDAFLAGS.
source = flashinfer-ai/flashinfer#1532

[driver-too-old]
keys =
    driver version is insufficient
    driver on your system is too old
    with an unsupported toolchain
    cudaErrorInsufficientDriver
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION
pattern =
    CUDA (driver version is insufficient)
    driver on your system is too old
    PTX was compiled with an unsupported toolchain
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(cudaErrorInsufficientDriver|CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
cause = The NVIDIA driver is too old for the CUDA that the program was built with ({found}), or the program does not
    reach the driver, as in a container started without the GPU.
remedy = Check that nvidia-smi works where the program runs (docker run --gpus all). If it does, use a program or an
    image for the CUDA that nvidia-smi shows (a stack whose CUDA minor version the driver supports), or update the
    driver, which DGX OS does with its own updates.
source = ggml-org/llama.cpp#5845

[compiler-crashed]
keys =
    internal compiler error
    died due to signal
    died with status
    signal terminated program
    PLEASE submit a bug report
pattern =
    internal compiler error: (?!Killed)([^\n]+)
    '([\w+]+)' died (?:due to signal (?!9\b)\d+|with status \S+)
    error: (?!Killed)(\w[\w ]*) signal terminated program
    PLEASE submit a bug report
cause = The compiler itself crashed ({found}).
remedy = Run it again. If it crashes at the same file, use another minor version of the compiler. If it crashes at
    another file, check this host's memory.
source = vllm-project/vllm#15452

[clang-cuda-unknown]
keys =
    unsupported CUDA gpu architecture
    cannot find libdevice for
    cannot find CUDA installation
pattern =
    unsupported CUDA gpu architecture: (?P<arch1>\w+)
    cannot find libdevice for (?P<arch2>\w+)
    (?P<arch3>cannot find CUDA installation)
values =
    reason of arch: cannot => it found no CUDA toolkit
    reason of arch: . => it does not know this GPU, or not this release of CUDA
cause = clang cannot compile CUDA code ({arch}): {reason}.
remedy = Point it to the toolkit (--cuda-path=/usr/local/cuda), use the newest clang (its release notes name the CUDA
    releases and GPUs that it supports), or build with nvcc and gcc (CMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc; in
    Bazel --config=cuda_nvcc).
source = llvm/llvm-project#125

[nvcc-incomplete]
keys = Path to libdevice library not specified
pattern = (Path to libdevice library) not specified
cause = nvcc does not find a part of its toolkit next to it (nvvm/libdevice): nvcc was copied, or the toolkit is
    incomplete.
remedy = Install the complete toolkit (cuda-toolkit-13-0; role cuda_libraries) and run /usr/local/cuda/bin/nvcc itself,
    not a copy: nvcc.profile, nvvm and bin belong together.
source = NVIDIA/nvidia-docker#1308

[lto-versions]
keys = generated with LTO version
pattern = generated with LTO version (?P<built>[\d.]+) instead of the expected (?P<have>[\d.]+)
cause = An object was compiled with link-time optimisation by another gcc (LTO {built}) than the one that links it (LTO
    {have}).
remedy = Use one gcc for everything (conda's libraries need conda's gcc), build again in an empty directory, or add
    -fno-lto to CFLAGS, CXXFLAGS and LDFLAGS.

[protobuf-compiler-version]
keys = was generated by a
pattern = This file was generated by an? (?P<age>newer|older) version of protoc
cause = The build mixes two protobuf releases: a generated file comes from a protoc that is {age} than the headers.
remedy = Use protoc and headers of the same release: remove conda's or pip's protoc from PATH (which -a protoc), install
    both protobuf-compiler and libprotobuf-dev with apt, and generate the files again (in an empty build directory).

[go-too-old]
keys =
    go.mod requires go >=
    invalid go version
pattern =
    go\.mod requires go >= (?P<need1>[\d.]+) \(running go (?P<have>[\d.]+)
    invalid go version '(?P<need2>[\d.]+)': must match format
cause = The source needs Go {need}[, but this is {have}].
remedy = Install a newer Go (the archive for linux-arm64 from go.dev/dl, or snap install go --classic) and put it before
    the distribution's on PATH. GOTOOLCHAIN=auto lets Go 1.21 and newer fetch it.

[cgo-compiler-missing]
keys = cgo: C compiler
pattern = cgo: C compiler '([^'\n]+)' not found
cause = Go needs to compile C code, but does not find {found}.
remedy = Install gcc (apt install build-essential; in an Alpine image apk add build-base), or build without C code
    (CGO_ENABLED=0) if the program allows it.

[bazel-version]
keys =
    requires Bazel
    missing value for mandatory attribute
pattern =
    project you're trying to build requires Bazel (?P<need>[\d.]+\d)
    missing value for mandatory attribute '(?P<attribute>toolchain_config)'
cause = The source needs another Bazel than the one in use[: exactly {need} (.bazelversion)][, an older one: its rules
    have no {attribute}].
remedy = Install bazelisk (its linux-arm64 file) as bazel: it downloads that version. Or set USE_BAZEL_VERSION.

[bazel-server-lost]
keys = Server terminated abruptly
pattern = (Server terminated abruptly) \(error code: 14
uncertain = yes
cause = Bazel's server was killed ({found}): usually memory ran out, because its jobs compile in parallel.
remedy = Run it with fewer jobs (--jobs=4 --local_resources=memory=HOST_RAM*.5), stop other programs that use memory,
    and look for Out of memory in the kernel's log (journalctl -k).
source = bazelbuild/bazel#3020

[bazel-cuda-configuration]
keys = Cuda Configuration Error:
pattern = Cuda Configuration Error: ([^\n]+)
cause = Bazel's CUDA configuration failed: {found}.
remedy = Set what it does not find or understand: TF_CUDA_PATHS=/usr/local/cuda,/usr (in newer releases
    HERMETIC_CUDA_VERSION and HERMETIC_CUDNN_VERSION) and TF_CUDA_COMPUTE_CAPABILITIES=12.1 as numbers. Run ./configure
    and bazel clean --expunge before the next build.

[bazel-download]
keys = Error downloading [
pattern =
    Error downloading \[(?P<url>[^\],\n]{1,300})[^\n]{0,600}?: (?P<why>(?:connect |[Rr]ead )?timed out|Unknown host[^\
    +n]*|GET returned \d+[\w ]*|Checksum was[^\n]*|PKIX[^\n]*)
cause = Bazel could not download {url}: {why}.
remedy = Check that curl -I {url} works here. Bazel uses the proxy in HTTPS_PROXY, and for a proxy's CA needs
    --host_jvm_args=-Djavax.net.ssl.trustStore=FILE. Without a network, download it elsewhere and pass --distdir=DIR.

[bazel-undeclared-headers]
keys = undeclared inclusion(s)
pattern = undeclared inclusion\(s\) in rule '[^'\n]+'(?:(?s:.{0,400}?)\n\s+'(?P<file>[^'\n]+)')?
cause = Bazel stops because a file includes headers that no rule names[, such as {file}]: the compiler's or CUDA's
    directories differ from those in Bazel's configuration, or the rules do not cover this machine's.
remedy = Run bazel clean --expunge and ./configure after each change of compiler or CUDA. If the headers are in a
    directory for aarch64, use a newer release of the project, whose rules cover it.
source = jax-ml/jax#23573

[bazel-toolchain]
keys =
    no matching toolchains found for types
    does not contain a toolchain for cpu
    toolchain found for cpu
pattern =
    no matching toolchains found for types (\S+)
    does not contain a toolchain for cpu '(\w+)'
    No (?:default_)?toolchain found for cpu '(\w+)'
cause = Bazel has no toolchain for this machine (aarch64): {found}.
remedy = Use the project's release or option for aarch64 (--platforms, --config), check that gcc or clang is on PATH for
    Bazel's automatic C++ toolchain (CC), and run bazel clean --expunge after a change.
    --toolchain_resolution_debug='.*' shows the reason. Bazel before 1.0 has none for aarch64: use a newer release of
    the project, with the Bazel that it names.

[triton-llvm-directory]
keys = version.txt'
pattern = No such file or directory: '(?P<path>[^'\n]*llvm[^'\n]*)/version\.txt'
uncertain = yes
cause = Triton's build does not find the directory of LLVM, {path}: LLVM_SYSPATH is relative to another directory than
    setup.py's, or LLVM was not built there.
remedy = Set LLVM_SYSPATH to the absolute path of LLVM's build or installation (realpath), with bin/mlir-tblgen in it.
source = triton-lang/triton#4463
"""
