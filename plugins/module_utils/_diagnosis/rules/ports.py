# __init__.py in this directory explains the fields.

"""Sources for another version

Code that was written for a different version of CUDA, PyTorch or a standard, or for a different processor.
"""

RULES = r"""
[cuda-member-removed]
keys =
    "cudaDeviceProp" has no member
    cudaDeviceProp
pattern =
    class 'cudaDeviceProp' has no member '(\w+)'
    cudaDeviceProp'(?: \{aka [^}\n]*\})? has no member named '(\w+)'
cause = CUDA 13 removed the member {found} of cudaDeviceProp: the source is for CUDA 12.
remedy = Use a version of the source for CUDA 13 (it asks cudaDeviceGetAttribute instead), or build with CUDA 12.9.
source = microsoft/superbenchmark#768

[cuda-13-signature]
keys =
    cudaMemPrefetchAsync
    cuMemPrefetchAsync
    cudaMemLocation
    CUmemLocation
    cuCtxCreate
    cudaMemAdvise
    cudaGraphGetEdges
    cudaGraphKernelNodeGetAttribute
pattern =
    error: [^\n]*?(?:from|type) '?\w+'? (?:to|is incompatible with parameter of type)
    + '?(?P<what1>cudaMemLocation|CUmemLocation)
    error: [^\n]*too few arguments[^\n]*(?P<what2>cuCtxCreate)(?:_v\d)?
    (?P<what3>cu(?:da)?(?:MemPrefetchAsync|MemAdvise|CtxCreate|GraphGetEdges))\b[^\n]*(?:\n[^\n]*){0,3}?error: (?:too
    + few|argument of type|no suitable constructor)
    error: (?:too few arguments|no suitable constructor|argument of
    + type)[^\n]*\n[^\n]*\b(?P<what4>cu(?:da)?(?:MemPrefetchAsync|MemAdvise|CtxCreate|GraphGetEdges))
    note: expected '(?P<what5>CUmemLocation)'
    error: function '(?P<what6>cu(?:da)?(?:MemPrefetchAsync|MemAdvise|CtxCreate|GraphGetEdges)\w*)[^\n]*cannot be called
cause = CUDA 13 changed the parameters of a function that the source calls ({what}): the source is for CUDA 12.
remedy = Use a version of the source for CUDA 13 (a cudaMemLocation instead of the device's number, cuCtxCreate with its
    parameters first), or build with CUDA 12.9.
source = NVIDIA/stdexec#1619

[torch-headers-differ]
keys =
    has no member
    is not a member of
    no matching function for call to
    TORCH_LIBRARY
pattern =
    error: no matching function for call to '(?P<scope3>(?:torch|at|c10)(?:::[A-Za-z]\w*)*)::(?P<name3>\w+)[(<]
    error: '(?P<name4>STABLE_TORCH_LIBRARY\w*)' (?:has not|was not)
    error: (?:class|struct|namespace) '(?P<scope1>(?:torch|at|c10|caffe2)(?:::\w+)*)(?:<[^\n']*>)?' has no
    + member(?: named)? '(?P<name1>\w+)'
    error: '(?P<name2>\w+)' is not a member of '(?P<scope2>(?:torch|at|c10|caffe2)(?:::\w+)*)'
cause = The PyTorch that this build uses has no {name}[ in {scope}]: the source is for another release, usually a newer
    one.
remedy = Install the PyTorch that the source's release pins (its pyproject.toml or requirements; for an image, use the
    base image that has it), or check out the release of the source for the installed one, and build in an empty
    directory.
source = vllm-project/vllm#31740

[cooperative-groups-member]
keys = namespace "cooperative_groups" has no member
pattern = namespace 'cooperative_groups' has no member '(\w+)'
values =
    advice of found: (labeled|binary)_partition|coalesced => It exists only for GPUs from 7.0 on, but the list of
    + architectures contains an older one, or is empty, so nvcc uses its oldest. Build only for this GPU
    + (TORCH_CUDA_ARCH_LIST=12.1, CMAKE_CUDA_ARCHITECTURES=121)
    advice of found: this_multi|grid_sync_multi|multi_grid => CUDA 13 removed it: use a release of the source for CUDA
    + 13, or build with CUDA 12.9
    advice of found: . => Edit the source to include the header that defines it (cooperative_groups/reduce.h, scan.h,
    + memcpy_async.h), or use a newer release of the source
cause = The source calls cooperative_groups::{found}, which CUDA's headers do not define in this compilation.
remedy = {advice}.
source = nerfstudio-project/gsplat#226

[thrust-removed]
keys = namespace "thrust" has no member
pattern =
    namespace 'thrust' has no member (?:class )?'(unary_function|binary_function|identity|not1|not2|optional|tuple_ele
    +ment)'
cause = CUDA 13's Thrust removed thrust::{found}: the source is for CUDA 12.
remedy = Use a version of the source for CUDA 13 (which names cuda::std instead), or build with CUDA 12.9.
source = ajameson/dedisp#6

[thrust-include-missing]
keys = namespace "thrust" has no member
pattern = namespace 'thrust' has no member (?:class )?'(?:make_)?(?P<iterator>(?:constant|counting|discard|permutation
    +|reverse|tabulate_output|transform|transform_input_output|transform_output|zip)_iterator)'
    namespace 'thrust' has no member (?:class )?'(?P<header>adjacent_difference|advance|copy|count|device_ptr|device_vec
    +tor|distance|equal|fill|find|for_each|gather|generate|host_vector|inner_product|merge|mismatch|partition|reduce|rem
    +ove|replace|reverse|scatter|sequence|shuffle|sort|swap|tabulate|transform|transform_reduce|uninitialized_copy|unini
    +tialized_fill|unique)'
cause = CUDA 13's Thrust headers no longer include the header of thrust::{found} themselves.
remedy = Use a version of the source for CUDA 13, or edit it to include thrust/[iterator/{iterator}][{header}].h.
source = NVIDIA/cuopt#996

[thrust-name-newer]
keys = namespace "thrust" has no member
pattern = namespace 'thrust' has no member '(default_init|no_init)'
cause = The Thrust headers that the compiler read are too old: they have no thrust::{found}, which CCCL has from 3.1 on
    (CUDA 13.1; CUDA 13.0 contains CCCL 3.0).
remedy = Build with CUDA 13.1 or newer, or with a newer CCCL whose include directories come before the toolkit's (-I),
    or use an older release of the source. An include cannot add it.
source = NVlabs/parrot#7
    NVIDIA/cccl#4183

[thrust-name-missing]
keys = namespace "thrust" has no member
pattern = namespace 'thrust' has no member (?:class )?'(?P<name>\w+)'
uncertain = yes
cause = The Thrust headers that the compiler read have no thrust::{name}: it is in a header that the source does not
    include, or only in an older or a newer CCCL.
remedy = Search the toolkit's headers for it (grep -rnw {name} /usr/local/cuda/include/cccl/thrust), and include the
    header that defines it. If none does, build with the CUDA or the CCCL that the source's release names, or use a
    release of the source for this CUDA.
source = NVlabs/parrot#7

[cccl-of-another-release]
keys = no instance of overloaded function
pattern = error: no instance of (?:overloaded function|function template) '(?P<function>(?:cub|thrust|cuda)::[\w:]+)
cause = The source calls {function} in the form of an older CUDA: this toolkit's CUB and Thrust are newer.
remedy = Use a release of the source for this CUDA (or a patch; search the project's issues for the name), or build with
    the CUDA that its release names.
source = spack/spack#49958

[cub-removed]
keys = namespace "cub" has no member
pattern =
    namespace 'cub' has no member (?:class )?'(Sum|Max|Min|Equality|Inequality|Cast\w+|ArgMax|ArgMin|CountingInputIter
    +ator|ConstantInputIterator|TransformInputIterator|DiscardOutputIterator|FpLimits|Mutex|LaneId|WarpId)'
cause = CUDA 13's CUB removed cub::{found}: the source is for CUDA 12.
remedy = Use a version of the source for CUDA 13 (which names cuda::std::plus<>, cuda::maximum<>, cuda::ptx or Thrust's
    iterators instead), or build with CUDA 12.9.
source = microsoft/onnxruntime#24774

[cub-of-another-release]
keys = namespace "thrust::cub" has no member
pattern = namespace 'thrust::cub' has no member (?:class )?'(?P<name>\w+)'
cause = Thrust's headers need thrust::cub::{name}, and the CUB that the compiler reads has none: it is of another
    release than Thrust.
remedy = Let the compiler read both from the CUDA toolkit: unset CUB_HOME, take a separate copy of CUB off the include
    directories (-I, CPATH, conda's include), and build in an empty directory.
source = facebookresearch/pytorch3d#1604

[cuda-function-removed]
keys =
    error: identifier "npp
    fatal error: thrust/
    error: identifier "CUFFT_
    error: identifier "cuda
    error: identifier "cusparse
    error: identifier "__shfl
    error: texture is not a template
    was not declared in this scope
    undeclared identifier 'cu
pattern =
    fatal error: '?(thrust/\S*detail/[\w./]+)'?: No such
    error: (?:identifier |use of undeclared identifier )?'(cudaBindTexture\w*|cudaUnbindTexture|cudaThread\w+|cusparse
    +[SDCZX](?:csr|bsr|hyb|gt)\w+|__shfl(?:_\w+)?|cudaLaunchCooperativeKernelMultiDevice|cudaProfilerInitialize|cudaFu
    +ncSetSharedMemConfig|cudaDeviceSetSharedMemConfig|npp[a-z]\w+|CUFFT_(?:INCOMPLETE_PARAMETER_LIST|PARSE_ERROR|LICE
    +NSE_ERROR))'(?: is undefined| was not declared|;|$)
    error: (texture) is not a template
cause = This CUDA no longer has {found}: the source was written for an older CUDA.
remedy = Use a newer release or a fork of the source that was ported to CUDA 12 or 13; an older CUDA cannot compile for
    a GB10 (12.1 needs CUDA 12.9).
source = arrayfire/arrayfire#3695

[language-standard-too-old]
keys =
    requires at least C++
    You need C++17 to compile PyTorch
    You need C++20 to compile PyTorch
    requires C++
    namespace "std" has no
    is not a member of
    does not name a t
    named '
    is only available from C++
    has not been declared
    support for C++
    requires C++
    You need C++
pattern =
    (?:namespace 'std' has no (?:member|type) |error: |no (?:member|type|template) named
    + )'(?P<standard7>optional|string_view|variant|any|byte|filesystem|apply|invoke|disjunction|conjunction|negation|v
    +oid_t|bool_constant|clamp|is_\w+_v|span|format|jthread|bit_cast|remove_cvref_t|source_location|type_identity_t|nu
    +mbers|ranges)'(?:$| is not a member of 'std'| in namespace 'std')
    error: 'std::(?P<standard12>optional|string_view|variant|any|byte|filesystem|apply|invoke|disjunction|conjunction|
    +negation|void_t|bool_constant|clamp|is_\w+_v|span|format|jthread|bit_cast|remove_cvref_t|source_location|type_ide
    +ntity_t|numbers|ranges)' has not been declared
    'std::(?P<standard11>\w+)' is only available from C\+\+\d+
    \#error (?:-- )?[^\n]*?requires at least (?P<standard1>C\+\+ ?\d+)
    \#error (?:-- )?'?You need (?P<standard2>C\+\+\d+) to compile PyTorch
    \#error (?:-- )?[^\n]*?requires (?P<standard4>C\+\+ ?\d+)
    error: [^\n]*(?:support for|You need|requires) (?:(?:the )?ISO )?(?P<standard13>C\+\+ ?(?:1[147]|2[03]))
values =
    need of standard: C\+\+ ?14 => C++14
    need of standard: C\+\+ ?17 => C++17
    need of standard: C\+\+ ?2 => C++20
    need of standard: C\+\+ => a newer standard
    need of standard: (span|format|jthread|barrier|latch|counting_s|strong_|bit_cast|remove_cvref_t|source_location|ty
    +pe_identity_t|numbers|ranges)$ => C++20
    need of standard: . => C++17
cause = The source, or a header that it includes, needs {need} ({standard}), but is compiled as an older C++: its build
    sets -std, or keeps the compiler's default.
remedy = Use a newer release of the package, or raise the standard in its build (-std=c++14 to c++17 in setup.py, for
    both cxx and nvcc; with CMake, CMAKE_CXX_STANDARD and CMAKE_CUDA_STANDARD).

[include-missing]
keys =
    does not name a type
    was not declared in this scope
    has not been declared
    is not a member of
    is undefined
pattern =
    error: identifier '(?P<name3>u?int(?:8|16|32|64|ptr)_t|FLT_MAX|DBL_MAX|FLT_EPSILON|INT_MAX|INT_MIN|UINT_MAX|SIZE_MA
    +X|INFINITY|NAN|M_PI)' is undefined
    error: '(?:std::)?(?P<name1>u?int(?:8|16|32|64|ptr|max)_t)' (?:was not declared|has not been declared|does not
    + name a type|is not a member|in namespace)
    error: '(?P<name2>numeric_limits|runtime_error|logic_error|invalid_argument|exchange|string|setw|setprecision|funct
    +ion|unique_ptr|shared_ptr|sort|accumulate|iota|array|mutex|thread|memcpy|strlen|size_t|unordered_map|map|set|vecto
    +r|ostringstream|stringstream|ifstream|ofstream|cout|cerr|endl|chrono|isnan|sqrt|transform|find_if|max_element)'
    + (?:is not a member of 'std'|in namespace 'std' does not|was not declared in this scope; did you mean 'std::)
values =
    header of name: u?int => <cstdint>
    header of name: (?:FLT|DBL)_ => <cfloat>
    header of name: (?:U?INT|SIZE)_ => <climits>
    header of name: (?:INFINITY|NAN|M_PI) => <cmath>
    header of name: numeric => <limits>
    header of name: (?:runtime_|logic_|invalid_) => <stdexcept>
    header of name: exchange => <utility>
    header of name: set[wp] => <iomanip>
    header of name: (?:unique|shared) => <memory>
    header of name: (?:accu|iota) => <numeric>
    header of name: (?:sort|transform|find|max_) => <algorithm>
    header of name: (?:mem|str(?:len)) => <cstring>
    header of name: size_t => <cstddef>
    header of name: .*stringstream => <sstream>
    header of name: [io]fstream => <fstream>
    header of name: (?:cout|cerr|endl) => <iostream>
    header of name: (?:isnan|sqrt) => <cmath>
    header of name: func => <functional>
    header of name: (string|array|mutex|thread|unordered_map|map|set|vector|chrono)$ => the header of that name
cause = The source uses {name} without its header ({header}): in older compilers, other headers included it, but gcc 13
    and newer do not.
remedy = Use a newer release of the source, or add the include at the top of that file. To avoid editing, build with
    CXXFLAGS="-include cstdint" (or that header's name), or with g++-12.
source = https://gcc.gnu.org/gcc-13/porting_to.html

[source-older-than-library]
keys =
    CV_
    has no member named
    NPY_
    in namespace
    is not a member of
    has not been declared
    ISO C++17 does not allow
    io_service
pattern =
    error: '(?P<name1>CV_(?!8|16|32|64|PI|Assert|Error|Version|VERSION|OUT|IN|EXPORTS|WRAP|Cpp|NODISCARD)[A-Z]\w+)'
    + (?:was not declared|undeclared|is not a member)
    error: '(?P<name2>PyArray_Descr)'[^\n]{0,60}has no member named
    + '(?:subarray|names|fields|elsize|c_metadata|alignment|metadata)'
    error: '(?P<name3>NPY_(?:OWNDATA|WRITEABLE|ALIGNED|[CF]_CONTIGUOUS|FORTRAN|BEHAVED|UPDATEIFCOPY|IN_ARRAY|OUT_ARRAY|
    +CARRAY|FARRAY|DEFAULT)\w*)' (?:was not declared|undeclared)
    error: 'class (?P<name4>nvinfer1::\w+)' has no member named '\w+'
    error: '(?:class|struct) (?P<name5>(?:llvm|mlir|clang|lld)::[\w:]+)[^'\n]*' has no member named '\w+'
    error: '(?:std::)?(?P<name6>unary_function|binary_function|random_shuffle|auto_ptr|bind[12](?:st|nd)|mem_fun|ptr_fu
    +n|uncaught_exception)' (?:has not been declared|is not a member of 'std'|in namespace 'std')
    error: (?P<name7>ISO C\+\+17 does not allow (?:dynamic exception specifications|'register' storage class specifier))
    error: '(?P<name8>io_service)' (?:is not a member of|in namespace) 'boost::asio'
values =
    library of name: CV_ => OpenCV 4, which removed OpenCV 1's names
    library of name: PyArray|NPY => NumPy 2
    library of name: nvinfer1 => this TensorRT
    library of name: (?:llvm|mlir|clang|lld)::|LLVM => this LLVM
    library of name: io_s => Boost 1.87
    library of name: . => C++17
    advice of name: CV_ => Use a newer release or a fork of the source, or write OpenCV's names (cv::COLOR_BGR2GRAY for
    + CV_BGR2GRAY, cv::IMREAD_COLOR for CV_LOAD_IMAGE_COLOR); Ubuntu 24.04 has only OpenCV 4
    advice of name: PyArray|NPY => Build it with the old NumPy (pip install 'numpy<2' setuptools wheel, then pip install
    + --no-build-isolation), or use a newer release
    advice of name: nvinfer1 => Use the release of the source for the installed TensorRT (dpkg -l | grep nvinfer; 10
    + removed setMaxWorkspaceSize and implicit batches); a GB10 needs 10.9 or newer
    advice of name: (?:llvm|mlir|clang|lld):: => Build against the LLVM that the source pins (Triton:
    + cmake/llvm-hash.txt or cmake/llvm-info.json; role llvm), not the distribution's
    advice of name: io_s => Use a newer release of the source, or an older Boost (Ubuntu 24.04 has 1.83 and 1.74)
    advice of name: . => Compile it as C++14 (CXXFLAGS=-std=c++14; CMAKE_CXX_STANDARD=14), or use a newer release
cause = The source is older than {library}: it uses what that no longer has ({name}).
remedy = {advice}.

[char-unsigned]
keys = narrowing conversion
pattern =
    error: narrowing conversion of '(?P<value1>-\d+)' from '\w+' to 'char'
    error: invalid narrowing conversion from '(?P<value2>\w+)' to '(?:const )?char'
cause = The source keeps {value} in a char, which is unsigned on ARM and signed on x86.
remedy = Compile it with -fsigned-char (CFLAGS and CXXFLAGS; for nvcc, NVCC_APPEND_FLAGS='-Xcompiler -fsigned-char'), or
    use a release that writes signed char there.
source = https://gcc.gnu.org/onlinedocs/gcc/C-Dialect-Options.html

[half-for-old-gpu]
keys =
    error: identifier "__h
    error: identifier "__float
    error: identifier "atomic
    error: no instance of overloaded function "atomic
    error: no operator "
    more than one conversion function
pattern =
    error: identifier '(?P<what1>__h(?:add|sub|mul|fma|max|min|lt|gt|div|exp|alf2)\w*|__floats?2\w+|atomic\w+_(?:block
    +|system))' is undefined
    error: no instance of overloaded function '(?P<what2>atomic\w+)'
    + matches[^\n]*\n[^\n]*(?:__half|__nv_bfloat16|double)
    error: (?P<what4>more than one conversion function) from '(?:const )?(?:__half|__nv_bfloat16)'
    error: no operator '(?P<what3>[^'\n]+)' matches these operands\n[^\n]*(?:__half|__nv_bfloat16|c10::Half)
cause = The code for half precision, doubles or atomics ({what}) is compiled for a GPU that is too old for it, or with
    PyTorch's -D__CUDA_NO_HALF_OPERATORS__.
remedy = Build only for your own GPU (TORCH_CUDA_ARCH_LIST=12.1, CMAKE_CUDA_ARCHITECTURES=121). If that does not help,
    add -U__CUDA_NO_HALF_OPERATORS__ -U__CUDA_NO_HALF_CONVERSIONS__ to nvcc's flags, as newer releases of the extension
    do.
source = https://github.com/pytorch/pytorch/blob/main/torch/utils/cpp_extension.py

[torch-extension-old]
keys =
    DeprecatedTypeProperties
    THC/THC
    AT_CHECK
    c10::Type
pattern =
    from '(?:const )?(at::DeprecatedTypeProperties)' to 'c10::ScalarType'
    error: 'class (c10::Type)' has no member
    fatal error: '?(THC/THC\w*\.h\w*)
    (?:identifier )?'(AT_CHECK)' (?:is undefined|was not declared)
cause = The extension uses a part of PyTorch that was removed ({found}): it was written for an old PyTorch.
remedy = Use a newer release or fork of the extension. To port the source, replace .type() in AT_DISPATCH macros with
    .scalar_type(), AT_CHECK with TORCH_CHECK, and THC's headers with ATen/cuda/…. An old PyTorch has no code for a
    GB10.

[cccl-header-moved]
keys =
    fatal error: cuda/std/
    fatal error: thrust/
    fatal error: cub/
pattern =
    fatal error: '?((?:cuda/std|cub)/[\w/.]+)'?(?:: No such file| file not found)
    fatal error: '?(thrust/(?:device|host|sort|reduce|scan|transform|copy|complex|exec)[\w.]*)'?(?:: No such| file not)
cause = The compiler cannot find {found}: CUDA 13 keeps libcu++, Thrust and CUB in include/cccl, where this build does
    not look, or no CUDA headers are installed[; this log shows CUDA 13 ({log_newest_cuda})].
remedy = Add the toolkit's directory to CPATH (export CPATH=/usr/local/cuda/include/cccl; for a unit, in its
    environment), or use a version of the source for CUDA 13.
source = microsoft/onnxruntime#26362

[sve-types-unknown]
keys =
    "__SV
    "__Float
    math-vector.h
    "__float128"
    "__cvta_generic
    "__nv_tex
pattern = identifier\s+'(__(?:SV|Float\d+x|float128|cvta_generic|nv_tex)\w*)' is undefined
cause = This nvcc does not know {found} from the C library's or CUDA's own headers: it is older than they are (on
    aarch64, older than CUDA 12.5), like the nvcc in Ubuntu's nvidia-cuda-toolkit, or two toolkits are mixed.
remedy = Use the nvcc of CUDA 13 (role cuda_libraries; /usr/local/cuda/bin before /usr/bin on PATH), and remove
    nvidia-cuda-toolkit.
source = charmplusplus/charm#3998

[arm-neon-in-device-code]
keys = arm_neon.h
pattern = arm_neon\.h\(\d+\): error: identifier '(__builtin_aarch64_\w+)' is undefined
cause = nvcc compiled gcc's arm_neon.h for the GPU, but does not know its builtins ({found}): this nvcc is older than
    the host compiler.
remedy = Use the nvcc of CUDA 13, or an older host compiler (CUDAHOSTCXX), or keep the header out of device code, as
    newer releases of the source do.
source = ggml-org/llama.cpp#10531

[source-for-x86]
keys =
    Error: unknown mnemonic
    Error: operand 1 must be
    must be an integer register
    intrin.h
    command-line option
    command line option
    requires SSE
    must support SSE
    bad value
    for target 'aarch64
    cpuid.h
    error: unknown value
    Xbyak
    only meant to be used on x86
    __m128
    __m256
    __m512
    _mm_
    _mm256_
    _mm512_
    __builtin_ia32_
    __rdtsc
    elf_x86_64
    constraint in 'asm'
    unrecognized option '--64'
    for '-march=' switch
pattern =
    Error: (unknown mnemonic '(?:cpuid|rdtsc|pause|mfence|lfence|mov[a-z]+|xgetbv|v[a-z]+ps|vp[a-z]+|crc32[bwlq])')
    Error: (operand \d must be an integer register -- 'mov[^'\n]*%[^'\n]*')
    fatal error: '?((?:imm|x86|emm|xmm|pmm|smm|nmm|tmm|amm|wmm|avx\w{0,20})intrin\.h|cpuid\.h)
    unrecognized command[- ]line option '(-m(?:avx[\w.]*|s?sse[\w.]*|64|32|fma|bmi2?|f16c|popcnt|aes|pclmul|ssse3|sha|
    +adx|lzcnt|rdrnd|movbe))'
    unsupported option '(-m[^'\n]+)' for target 'aarch64
    ((?:requires|must support) SSE\d?)
    (?:bad|unknown) value '(x86-64[^'\n]*|haswell|skylake[^'\n]*|znver\d)'
    in namespace '(Xbyak)' does not name a type
    error: "This header is only meant to be used on (x86)
    error: [^\n]*?'(__m(?:128|256|512)[di]?|_mm(?:256|512)?_\w+|__builtin_ia32_\w+|__rdtscp?)'
    (unrecogni[sz]ed emulation mode: elf_x86_64)
    error: (impossible constraint in 'asm')
    (unrecognized option '--64')
    bad value \('(\w+)'\) for '-march=' switch
cause = The source, or the flags that it is built with, are for x86 processors ({found}); a Spark's is ARM.
remedy = Use a release or an option of the project that supports aarch64 (NEON or SVE, SIMDe or sse2neon instead of
    those headers, or a build without SIMD), and remove such options from CFLAGS and CXXFLAGS.
source = dmlc/dgl#3336

[mkl-in-build]
keys = MKL
pattern = (?<![\w/-])(?:Intel(?:\(R\))? )?(MKL|oneMKL)\b(?: include directory| library| libraries)? (?:is |was |were
    + )?not found
cause = The build asks for Intel's library {found}, which exists only for x86 processors.
remedy = Switch it off and use another BLAS: -DWITH_MKL=OFF -DWITH_OPENBLAS=ON for CTranslate2 (libopenblas-dev),
    USE_MKL=0 or BLAS=NVPL (role math_libraries) for others; look in the project's options for OpenBLAS, BLIS or Ruy.
source = OpenNMT/CTranslate2#1306

[assembler-for-other-processor]
keys =
    Error: bad instruction
    Error: no such instruction:
pattern =
    Error: (?P<kind1>bad) instruction '(?P<code1>(?:ldp|stp|adrp|ret|cbn?z|fmov|ldr|str|mov|add|sub|movi|umull|smull|du
    +p|ins|ld1|st1)[ \t][^'\n]*\b[xwvq]\d[^'\n]*)'
    Error: (?P<kind2>no such) instruction: '(?P<code2>[^'\n]+)'
values =
    what of kind: bad => 64-bit ARM code is assembled for 32-bit ARM
    what of kind: no => the code is for another processor, or newer than this assembler for x86
    advice of kind: bad => The compiler or the system is 32-bit: gcc -dumpmachine must show aarch64 (a Spark's does).
    + Use the system's own gcc without a cross prefix, or configure for 32-bit (FFmpeg: --arch=arm), in an empty
    + directory
    advice of kind: no => Check gcc -dumpmachine, CC, AS and CFLAGS, remove cross compilers from PATH, and build in an
    + empty directory. For new x86 instructions, install newer binutils
cause = The assembler does not know an instruction of the source ({code}): {what}.
remedy = {advice}.
source = iizukanao/picam#221

[c-newer-than-source]
keys =
    [-Wimplicit-
    [-Wincompatible-pointer-types]
    [-Wint-conversion]
    cannot be defined via 'typedef'
    conflicting types for
    in declaration specifiers
pattern =
    error: [^\n]*\[-W(?P<what>implicit-(?:function-declaration|int)|incompatible-pointer-types|int-conversion)\]
    error: '(?P<what2>bool)' cannot be defined via 'typedef'
    error: conflicting types for '(?P<what3>bool)'
    error: (?P<what4>two or more data types in declaration specifiers)(?=[^\0]{0,200}typedef[^\n]*\bbool)
unless = 'Py|__Pyx
cause = The source is old C, and this compiler (gcc 14 or newer, clang 16 or newer) treats as an error what was once a
    warning ({what}).
remedy = Use a newer release of the source, pass CFLAGS="-std=gnu17 -fpermissive" (for clang, -Wno-error={what}), or
    build with gcc-13. An undeclared function may also be missing on this system or processor.
source = https://gcc.gnu.org/gcc-14/porting_to.html

[constexpr-in-device-code]
keys =
    --expt-relaxed-constexpr
    --extended-lambda
pattern =
    (?:flag|option|flags) '?(?P<flag>--expt-relaxed-constexpr|--(?:expt-)?extended-lambda)'?
cause = The kernels use a C++ feature that nvcc accepts only with {flag}.
remedy = Add {flag} to nvcc's flags (extra_compile_args of setup.py, CMAKE_CUDA_FLAGS, or NVCC_APPEND_FLAGS in the
    environment), or use a release of the source whose build sets it.
source = https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/
"""
