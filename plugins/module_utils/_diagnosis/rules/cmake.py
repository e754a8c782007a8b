# __init__.py in this directory explains the fields.

"""CMake

Files and settings that CMake does not find or does not accept.
"""

RULES = r"""
[cuda-architectures-invalid]
keys = CMAKE_CUDA_ARCHITECTURES must be
pattern = CMAKE_CUDA_ARCHITECTURES must be (?P<rule>valid|non-empty) if set
cause = CMAKE_CUDA_ARCHITECTURES has a value that CMake does not accept ({rule} if set): it is empty or misspelt, or the
    build failed to detect the GPU.
remedy = Set it to the GPU's number (-DCMAKE_CUDA_ARCHITECTURES=121 on a Spark; a project may have an option that passes
    it on, such as --cmake_extra_defines), delete CMakeCache.txt, and configure again.
source = microsoft/onnxruntime#11273

[cuda-architectures-empty]
keys = CMake Error in
pattern = CMake Error in [^\n]*\n\s*CUDA_ARCHITECTURES is empty for target '([^'\n]+)'
cause = CMake has no CUDA architecture for the target {found}: none was set, and CMake could not get nvcc's default.
remedy = Set CMAKE_CUDA_ARCHITECTURES (121 on a Spark) and CMAKE_CUDA_COMPILER to the toolkit's nvcc, and configure in
    an empty directory.
source = PrismML-Eng/llama.cpp#182

[cmake-too-new]
keys = Compatibility with CMake
pattern = Compatibility with CMake <\s+(\S+)\s+has\s+been\s+removed
cause = The source declares compatibility with CMake older than {found}, which CMake 4 removed.
remedy = Set CMAKE_POLICY_VERSION_MINIMUM=3.5 in the build's environment, or use a CMake below 4 (pip install 'cmake<4';
    the unit's requirements or toolchain). Triton before 3.7 needs this.
source = myriadrf/libusb3380#7

[cmake-too-old]
keys =
    or higher is required.
    Could not find CMake with version
pattern =
    CMake (\S+) or higher is required\.\s+You\s+are\s+running\s+version\s+(\S+)
    Could not find CMake with version >=(\S+)
cause = The source needs CMake {found} or newer.
remedy = Install a newer CMake (pip install cmake into the environment, or cmake of Kitware's apt repository; the unit's
    toolchain or requirements).

[cmake-option-renamed]
keys = CMake Error at
pattern =
    CMake Error at [^\n]*\n\s+(?P<old>\w+) is deprecated and will be removed in the future\.\s+Use (?P<new>\w+
    +)\s+instead
cause = The source no longer accepts the option {old}, which is now called {new}.
remedy = Write -D{new}=ON instead of -D{old} (for llama-cpp-python: CMAKE_ARGS="-DGGML_CUDA=on"), and configure in an
    empty directory.

[llamacpp-arm-features]
keys = Failed to get ARM features
pattern = (Failed to get ARM features)
cause = The compiler does not know this host's processor, so llama.cpp cannot get the processor's features from it
    ({found}).
remedy = Use a newer compiler (gcc 13 or newer: CC=gcc-13 CXX=g++-13), or name the processor yourself: -DGGML_NATIVE=OFF
    -DGGML_CPU_ARM_ARCH=armv8.6-a+sve.

[cmake-root-missing]
keys = Could not find CMAKE_ROOT
pattern = (Could not find CMAKE_ROOT)
cause = The cmake command does not find its own modules ({found}): it was removed or replaced while the shell remembered
    its path, or its installation is damaged.
remedy = Run hash -r, check which cmake runs (type -a cmake), and reinstall it (pip install --force-reinstall cmake, or
    apt install --reinstall cmake cmake-data).

[cmake-program-gone]
keys = CMake Error at
pattern =
    CMake Error at [^\n]*\n\s*Running\s+'(\S*/(?:ninja|make|gmake)
    +)'\s+'--version'\s+failed with:\s+no such file or directory
cause = The build directory was configured with {found}, which was in the environment of an earlier pip run and no
    longer exists.
remedy = Delete the build directory (build, _skbuild, CMakeCache.txt) and build again. With --no-build-isolation, pip
    uses the ninja and cmake of the environment, which stay there.

[findcuda-removed]
keys =
    By not providing "FindCUDA.cmake"
    Unknown CMake command "cuda_
pattern =
    By not providing 'FindCUDA\.cmake'
    Unknown CMake command '(?P<command>cuda_(?:select_nvcc_arch_flags|add_library|add_executable|compile\w*))'
cause = The source uses CMake's old module FindCUDA[ ({command})], which CMake 3.27 and newer no longer offer by
    default.
remedy = Use a release of the source that uses CUDAToolkit, set -DCMAKE_POLICY_DEFAULT_CMP0146=OLD, or use a CMake below
    3.27 (pip install 'cmake<3.27').
source = llnl/blt#735

[ninja-missing]
keys =
    corresponding to "Ninja"
    Ninja is required to load C++ extensions
pattern =
    unable to find a build program corresponding to 'Ninja'
    Ninja is required to load C\+\+ extensions
cause = There is no ninja on the build's PATH.
remedy = Install ninja (apt install ninja-build, or pip install ninja into the environment; the role build_toolchain, or
    the unit's requirements).
source = NX-AI/xlstm#76

[cmake-cuda-untried]
keys =
    Failed to find a working CUDA architecture
    Failed to detect a default CUDA architecture
pattern =
    (?P<why>Failed to find a working CUDA architecture)
    (?P<why3>Failed to detect a default CUDA architecture)\.(?!\s+Compiler output)
    (?P<why2>Failed to detect a default CUDA architecture)\.\s+Compiler output:\s+(?!Call
    + Stack)(?P<message>\S[^\n]{3,200})
cause = CMake compiles an empty CUDA program to detect nvcc's architectures, and this fails[: {message}].
remedy = Name your GPU's (-DCMAKE_CUDA_ARCHITECTURES=121), the nvcc of CUDA 13
    (-DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc) and a host compiler that it supports (CUDAHOSTCXX=g++-13), in an
    empty directory. To see what nvcc lacks, run it on an empty .cu file.
source = eth-sri/eran#112

[nvcc-missing]
keys =
    CMAKE_CUDA_COMPILER
    Failed to detect a default CUDA architecture
    Failed to find nvcc
    No CUDA toolset found
    CUDA_HOME environment variable is not set
    nvcc not found at
    CUDACXX
    CUDA_HOME does not exist
    CUDA_HOME is not set
    find CUDA_HOME
    not find CUDA
    nvcc was not found
    a CUDA compiler - NOTFOUND
    bare_metal_version
    nvcc_cuda_version
    /nvcc'
    CUDA_COMPILER-NOTFOUND
pattern =
    No CMAKE_CUDA_COMPILER could be found
    CMAKE_CUDA_COMPILER not set
    Compiler: CMAKE_CUDA_COMPILER-NOTFOUND
    Failed to find nvcc
    The CMAKE_CUDA_COMPILER:\s+\S+\s+is not a full path
    Failed to detect a default CUDA architecture\.\s+Compiler output:\s+(?=Call Stack|$)
    No CUDA toolset found
    CUDA_HOME environment variable is not set
    nvcc not found at '
    CUDA_HOME does not exist, unable to compile
    AssertionError: CUDA_HOME is not set
    (?:[Cc]annot|[Cc]ould not|[Uu]nable to) (?:find|locate|determine) (?:CUDA_HOME|CUDA_PATH|CUDA toolkit)
    was requested, but nvcc was not found
    name '(?:bare_metal|nvcc_cuda)_version' is not defined
    Looking for a CUDA compiler - NOTFOUND\n(?:--[^\n]*\n){0,5}CMake Error[^\n]*\n[^\n]*\bCUDA\b
    No such file or directory: '\S*/nvcc'
cause = There is no nvcc where this program looks for it: the CUDA toolkit is not installed, or not on its PATH.
remedy = Install the CUDA toolkit (cuda-toolkit-13-0; role cuda_libraries) and put its bin first on PATH (export
    PATH=/usr/local/cuda/bin:$PATH, CUDA_HOME=/usr/local/cuda). For a unit, name nvcc in its toolchain. Images tagged
    -runtime or -base lack nvcc: use a -devel image.
source = NVIDIA/GPUStressTest#11

[compiler-missing]
keys =
    _COMPILER could be found
    _COMPILER not set
    _COMPILER:
    Failed to find C compiler
    configure: error: no acceptable
    ` not found
    failed: No such file
    unable to execute '
    cannot execute
    Failed to find tool. Is
    InvalidCxxCompiler
pattern =
    InvalidCxxCompiler: No working (C\+\+ compiler) found
    command '([\w.+-]*(?:gcc|g\+\+|cc|clang|clang\+\+)(?:-\d+)?)' failed: No such file
    unable to execute '([^'\n]+)': No such file
    cannot execute '((?:cc1\w*|lto1|f951|collect2))'
    Failed to find tool\. Is '([^'\n]+)' installed
    No (CMAKE_(?:C|CXX)_COMPILER) could be found
    (CMAKE_(?:C|CXX)_COMPILER) not set
    The CMAKE_(?:C|CXX)_COMPILER:\s+(\S+)\s+is not a full\s+path and was not found
    Failed to find (C compiler)
    no acceptable (C\w*\+* compiler) found
    error: linker `(\w+)` not found
values =
    tool of found: .*\b(?:ar|ranlib|strip|objcopy|nm)$ => tool of binutils
    tool of found: (?:lto1|f951|collect2)$ => complete gcc: one of its parts is missing
    tool of found: . => C or C++ compiler
cause = There is no {tool} ({found}).
remedy = Install gcc, g++ and binutils (apt install build-essential; the role build_toolchain), or correct CC and CXX
    (cc and cxx in the unit's toolchain). Triton needs a compiler at run time, also in a container.
source = https://docs.astral.sh/uv/reference/troubleshooting/build-failures/

[cuda-too-old]
keys =
    requires CUDA
    only supported on CUDA
    Could NOT find CUDA
pattern =
    (?:requires|only supported on) CUDA (\d[\d.]*)\s+(?:or|and)\s+(?:above|higher|newer)(?!, and strongly)
    Could NOT find CUDA(?:Toolkit)?: Found unsuitable version '[^'\n]+',\s+but\s+required\s+is\s+at\s+least\s+'(\S+?)'
cause = The source needs CUDA {found} or newer, but the build found an older toolkit.
remedy = Install a newer toolkit (the stack's CUDA version, role cuda_libraries) and point CUDA_HOME, PATH and
    toolchain.nvcc to it, or use a version of the source for the installed toolkit.

[caffe2-cuda]
keys =
    Caffe2: CUDA cannot be found
    Your installed Caffe2 version uses CUDA
pattern =
    (Caffe2: CUDA cannot be found)
    (Your installed Caffe2 version uses CUDA)
cause = The installed PyTorch is a CUDA build, but CMake found no CUDA toolkit for a project that builds against it
    ({found}).
remedy = Install the toolkit of PyTorch's CUDA version (torch.version.cuda; role cuda_libraries), and configure in an
    empty directory with -DCUDA_TOOLKIT_ROOT_DIR=/usr/local/cuda -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc.

[llamacpp-plain-capability]
keys = used, use 12
pattern = Compute capability (?P<capability>\d+) used,\s+use\s+(?P<specific>\w+)
cause = llama.cpp does not build for the plain architecture {capability}, which lacks the instructions for FP4.
remedy = Name your GPU's specific one: -DCMAKE_CUDA_ARCHITECTURES=121a-real on a GB10 ({specific} here), or update the
    source, which now replaces it automatically. Configure in an empty directory.
source = ggml-org/llama.cpp#18457

[opencv-contrib-missing]
keys = requires enabled 'cudev' module
pattern = (OpenCV requires enabled 'cudev' module)
cause = OpenCV's build with CUDA needs its contributed modules, which are missing ({found}).
remedy = Clone opencv_contrib at the same tag as opencv and pass -DOPENCV_EXTRA_MODULES_PATH=…/opencv_contrib/modules
    -DWITH_CUDA=ON -DCUDA_ARCH_BIN=12.1.

[cuda-version-conflict]
keys =
    not compatible with this release of Thrust
    two conflicting CUDA versions
    FindCUDA says CUDA version is
pattern =
    version of CUB in your include path is not compatible
    Found two conflicting CUDA versions
    FindCUDA says CUDA version is\s+(\S+)
cause = The build found parts of two CUDA toolkits.
remedy = Point CUDA_HOME, CUDACXX and PATH to a single toolkit (in the unit's environment), remove other CUDA, Thrust or
    CUB headers from CPATH and -I, and configure in an empty directory.
source = pytorch/pytorch#106971

[submodule-missing]
keys =
    does not contain a CMakeLists.txt
    which is not an
    add_subdirectory given source
    git submodule update --init
    The source directory
pattern =
    The source directory\s+(\S+)\s+does not contain a CMakeLists\.txt file
    add_subdirectory given source\s+'([^'\n]+)'\s+which is not an\s+existing\s+directory
    Did you run 'git submodule update --init
cause = A directory of the source is empty or missing ({found}): a submodule was not checked out.
remedy = Run git submodule update --init --recursive in the source (source.submodules of a unit), or use an archive that
    includes the submodules.

[cmake-source-missing]
keys =
    The source directory
    does not appear to contain CMakeLists.txt
pattern = The source directory '([^'\n]+)' does not (?:exist|appear to contain CMakeLists\.txt)
cause = CMake was given {found}, which has no CMakeLists.txt.
remedy = Correct the unit's subdirectory.

[cmake-cache-elsewhere]
keys =
    CMakeCache.txt directory
    used to generate cache
    Does not match the generator used previously
pattern =
    The current CMakeCache\.txt directory (\S+) is different
    does not match the source '([^'\n]+)'
    Does not match the generator used previously: ([^\n]+)
cause = The build directory was configured for another source or generator ({found}).
remedy = Delete the build directory (for a unit, rebuild=true) and configure again.

[make-missing]
keys = corresponding to "Unix
pattern = unable to find a build program corresponding to '(Unix Makefiles)'
cause = CMake's generator {found} needs make, which is not installed.
remedy = Install build-essential, or use Ninja (-G Ninja, package ninja-build).

[pkg-config-package]
keys =
    pkg-config probably
    pkg-config not
    pkg-config is
    required packages were not found
    Unknown CMake command "pkg_check_modules"
    in the pkg-config search path
    No package '
pattern =
    (?P<part5>pkg-config)'? (?:binary )?(?:is )?(?:probably )?(?:not (?:installed|found|available)|missing)
    required packages were not found:\s+- (?P<part1>\S+)
    (?P<part2>pkg_check_modules)'
    Package (?P<part3>\S+) was not found in the pkg-config search path
    No package '(?P<part4>[^'\n]+)' found
values =
    advice of part: pkg_check|pkg-config => Install pkg-config and the development package of the requested library
    + (libhdf5-dev for h5py)
    advice of part: libav|libsw => Install FFmpeg's development packages (libavcodec-dev, libavformat-dev,
    + libswscale-dev)
    advice of part: openssl => Install libssl-dev
    advice of part: (?:glib|gobject|gio|gmodule)- => Install libglib2.0-dev
    advice of part: (?:py)?cairo => Install libcairo2-dev
    advice of part: (?:gobject-introspection|girepository) => Install libgirepository1.0-dev
    advice of part: dbus-1 => Install libdbus-1-dev
    advice of part: gstreamer => Install libgstreamer1.0-dev and libgstreamer-plugins-base1.0-dev
    advice of part: (?:libudev|libsystemd) => Install libudev-dev and libsystemd-dev
    advice of part: libusb => Install libusb-1.0-0-dev
    advice of part: alsa => Install libasound2-dev
    advice of part: gtk => Install libgtk-3-dev
    advice of part: (?:xmlsec|libxml) => Install libxml2-dev and libxmlsec1-dev
    advice of part: (?:mysqlclient|mariadb) => Install libmysqlclient-dev
    advice of part: libpq => Install libpq-dev
    advice of part: . => Install the development package that contains its .pc file (apt-file search NAME.pc), or add
    + its directory to PKG_CONFIG_PATH
unless = ^\s*--
cause = The build asks pkg-config for {part}, which it does not find.
remedy = {advice}.

[meson-dependency-missing]
keys =
    Fortran sources but no
    No BLAS/LAPACK libraries found
    meson.build:
    Unknown compiler(s):
pattern =
    has (?P<part4>Fortran) sources but no Fortran compiler
    No (?P<part5>BLAS)/LAPACK libraries found
    meson\.build:\d+:\d+: ERROR: Dependency '(?P<part1>[^'\n]+)' not found
    meson\.build:\d+:\d+: ERROR: Dependency lookup for (?P<part2>[\w.+-]+) with method
    ERROR: Unknown compiler\(s\): \[\['(?P<part3>[^'\n]+)'
values =
    package of part: (?i:openblas|scipy-openblas|blas|lapack) => libopenblas-dev and pkg-config
    package of part: dbus => libdbus-1-dev
    package of part: cairo => libcairo2-dev and pkg-config
    package of part: glib|gobject => libglib2.0-dev
    package of part: girepository|gobject-introspection => libgirepository1.0-dev (libgirepository-2.0-dev for 2.0)
    package of part: g?[fF]ortran => gfortran
    package of part: (?:\S*-)?(?:cc|gcc|c\+\+|g\+\+|cpp|clang)\b => build-essential, and set CC and CXX to that compiler
    package of part: . => the development package that contains its .pc file (apt-file search NAME.pc)
cause = The build does not find {part}. pip builds the package because no wheel fits this Python and aarch64.
remedy = Install {package} with apt, or use a release or a Python (3.12) for which there is a wheel.

[meson-cross]
keys =
    not run test applications in this cross environment
    not specified for build machine
pattern =
    ERROR: (?P<why1>Can not run test applications in this cross environment)
    ERROR: (?P<why2>compiler for language "[^"\n]+", not specified for build machine)
cause = meson assumes a build for another machine ({why}), but lacks the settings for one.
remedy = On the Spark itself, build natively: without a cross file, and with Python, gcc and kernel all for aarch64
    (uname -m, also in a container). On another machine, put what meson asks for into the cross file (exe_wrapper,
    longdouble_format for numpy) and a native file.
source = mesonbuild/meson#14313

[cmake-target-missing]
keys = links to:
pattern = links to:\s+(\S+)\s+but the target was not found
cause = The project links to {found}, which none of the packages that CMake found defines.
values =
    advice of found: CUDA::nv(?:ToolsExt|tx) => CUDA 13 has no nvToolsExt: use a newer release of the project (or of
    + the PyTorch that contains this line), which uses CUDA::nvtx3
    advice of found: CUDA:: => CMake found a toolkit without that library's development files: install the complete
    + one (cuda-toolkit-13-0; role cuda_libraries) and point -DCUDAToolkit_ROOT=/usr/local/cuda and PATH to it, because
    + CMake prefers Ubuntu's nvidia-cuda-toolkit in /usr, which is incomplete
    advice of found: . => Install the package that defines it, in the version that the project expects, or set its
    + directory (CMAKE_PREFIX_PATH)
remedy = {advice}. Configure in an empty directory.

[cmake-dependency-target]
keys = The dependency target
pattern = The dependency target '(?P<target>[^'\n]+)' of target '(?P<of>[^'\n]+)'\s+does not exist
values =
    advice of target: (?:MLIR|LLVM|Clang|LLD) => It belongs to LLVM: build the LLVM commit that this source pins
    + (Triton: cmake/llvm-hash.txt or cmake/llvm-info.json; role llvm) with MLIR, and point LLVM_SYSPATH to it. Other
    + releases have other targets
    advice of target: . => Enable the part of the source that defines it, or use the release of the dependency that
    + the source names
cause = {of} needs the target {target}, but nothing in this configuration defines it.
remedy = {advice}. Then configure in an empty directory.
source = triton-lang/triton#3486

[cmake-dialect]
keys = requires the language dialect
pattern = requires the language dialect '(\w+)'
cause = The compiler, or this CMake's knowledge of it, is too old for {found}.
remedy = Use a newer compiler (CUDA: the toolkit's nvcc; CMAKE_CUDA_COMPILER), or a newer CMake.

[vcpkg-triplet]
keys =
    Invalid triplet
    invalid triplet
pattern = error: [Ii]nvalid triplet:? '?([\w.-]+)
cause = vcpkg has no file for the triplet {found}.
remedy = Name one that it has: here VCPKG_TARGET_TRIPLET and VCPKG_HOST_TRIPLET are arm64-linux (also in an Alpine
    image). Put the file for your own triplet into a directory named by VCPKG_OVERLAY_TRIPLETS.
source = porla/porla#103

[configure-missing]
keys = configure: error:
pattern =
    configure: error: (?P<what>[^\n]{0,200}?(?:not found|(?:could|can)(?:not| not) be found|(?:[Cc]an
    + ?not|[Cc]an't|Could not) find|is required|is missing|were not met|not installed)[^\n]*)
values =
    package of what: .*(?i:rdmacm|rdma_cma) => librdmacm-dev and libibverbs-dev
    package of what: .*(?i:verbs|mlx5) => libibverbs-dev
    package of what: .*(?i:\bucx|\bucp) => libucx-dev (or name another UCX: --with-ucx=DIR)
    package of what: .*(?i:pmix) => libpmix-dev (or use the copy in the source: --with-pmix=internal)
    package of what: .*(?i:hwloc) => libhwloc-dev (or --with-hwloc=internal)
    package of what: .*(?i:libevent) => libevent-dev (or --with-libevent=internal)
    package of what: .*(?i:gdrcopy|gdrapi) => libgdrapi, or build without it (--without-gdrcopy)
    package of what: .*(?i:nccl) => libnccl-dev (role cuda_libraries)
    package of what: .*(?i:cudnn) => libcudnn9-dev-cuda-13 (role cuda_libraries)
    package of what: .*(?i:cuda|nvcc|cudart) => the CUDA toolkit (cuda-toolkit-13-0; role cuda_libraries) and pass its
    + path (--with-cuda=/usr/local/cuda)
    package of what: .*(?i:openssl|libssl|libcrypto) => libssl-dev
    package of what: .*(?i:zlib) => zlib1g-dev
    package of what: .*(?i:curl) => libcurl4-openssl-dev
    package of what: .*(?i:ncurses|curses|tinfo) => libncurses-dev
    package of what: .*(?i:readline) => libreadline-dev
    package of what: .*(?i:boost) => libboost-all-dev
    package of what: .*(?i:glib) => libglib2.0-dev
    package of what: .*(?i:\bmpi) => libopenmpi-dev
    package of what: .*(?i:libtool|autoreconf|automake|autoconf) => autoconf, automake and libtool
    package of what: .*(?i:\bbison|\bflex|yacc|\blex\b) => bison and flex
    package of what: . => it with its headers (on Ubuntu usually the package lib…-dev; apt-cache search NAME)
cause = The build's configure script did not find something: {what}
remedy = Install {package}, or disable that part with the script's option (./configure --help; --without-…). Then run
    configure again.
source = openucx/ucx#2099

[configure-compiler]
keys =
    compiler cannot create executables
    compiled programs
pattern =
    configure: error: (?P<why>C\+{0,2} compiler cannot create executables)
    configure: error: (?P<why2>cannot run C\+{0,2} compiled programs)
cause = configure tests the compiler with an empty program, and this fails: {why}.
remedy = Read config.log below that test. Usually CC, CFLAGS or LDFLAGS name something that is missing or for another
    machine (env | grep -E '^(CC|CXX|.*FLAGS)='; conda sets them), or libc6-dev and g++ (build-essential) are not
    installed.

[configure-machine-unknown]
keys =
    cannot guess build type
    config.sub
pattern =
    (?P<why1>cannot guess build type)
    (?P<why2>config\.sub aarch64\S* failed)
cause = The source's config.guess or config.sub is older than this machine ({why}): it does not know aarch64.
remedy = Replace them with the system's files (sudo apt install autotools-dev; cp /usr/share/misc/config.guess
    /usr/share/misc/config.sub to their directory), run autoreconf -fi, or use a newer release.

[cmake-clone-failed]
keys = Failed to clone repository:
pattern = Failed to clone repository: '([^'\n]+)'
cause = CMake could not clone a part of the project during configuration: {found}.
remedy = Read git's lines above. If there is no network, clone it beforehand and set FETCHCONTENT_SOURCE_DIR_NAME to it.

[cmake-variable-not-found]
keys =
    are set to NOTFOUND
    -NOTFOUND
pattern =
    are set to NOTFOUND\.\s+Please set them[^\n]*\n\s*(\w+)
    cannot find -l(\w+)-NOTFOUND
values =
    advice of found: CUDA_(?:CUDA|DRIVER)_LIBRARY => This is the driver's libcuda.so: for the build use the toolkit's
    + stub (/usr/local/cuda/lib64/stubs/libcuda.so), because a container or a host without a driver has no other
    advice of found: . => Install the library in question with its headers. Newer CUDA no longer has cublas_device and
    + the like: use a newer CMake or source
cause = CMake did not find the file or directory for the variable {found}.
remedy = {advice}. If CMake still does not find it, set its path with -D{found}=PATH.

[cmake-version-unfit]
keys =
    Found unsuitable version
    that is compatible with requested version
    that exactly matches requested
pattern =
    Could NOT find (?P<package1>\w+): (?:\([^)\n]*\): )?Found unsuitable (?:exact
    + )?version\s+'(?P<have1>[^'\n]+)',\s+but\s+required\s+is\s+(?P<need1>(?:at\s+least|exact\s+version)\s+'[^'\n]+')
    Could not find a configuration file for package '(?P<package2>[^'\n]+)'
    + that(?:\s+is\s+compatible\s+with|\s+exactly\s+matches)\s+requested\s+version\s+(?:range\s+)?'?(?P<need2>[\w.]+)
cause = The source needs {package} {need}[, but CMake found {have}].
remedy = Install that version, and name it if the other version stays installed ({package}_ROOT or {package}_DIR; for
    Python -DPython3_EXECUTABLE=$(which python3)). Configure in an empty directory.

[cmake-package-incomplete]
keys = Could NOT find
pattern =
    ^(?:\s+|CMake Error: )Could NOT find (?P<package>\w+) \(missing:\s+(?P<parts>[^)\n]+(?:\n[^)\n]+)?)\)\s+\(found\s+
    +(?:suitable\s+)?version\s+"(?P<version>[^"\n]+)"
values =
    advice of package: CUDA$ => An old CMake's FindCUDA does not know the directories of ARM64 servers
    + (targets/sbsa-linux): use CMake 3.18 or newer, or pass -DCUDA_TOOLKIT_ROOT_DIR=/usr/local/cuda
    + -DCUDA_CUDART_LIBRARY=/usr/local/cuda/lib64/libcudart.so -DCUDA_INCLUDE_DIRS=/usr/local/cuda/include. If these
    + files are missing, install the complete toolkit (cuda-toolkit-13-0; role cuda_libraries)
    advice of package: Python => Install the headers of that Python (python3-dev), or name the one to use
    + (-DPython3_EXECUTABLE=$(which python3), for older projects -DPython_EXECUTABLE)
    advice of package: . => Install its development package, or set the path of each part (-DNAME=PATH)
cause = CMake found {package} {version}, but not all of its parts: {parts}.
remedy = {advice}. Configure in an empty build directory.
source = intel/llvm#5263

[cmake-package-missing]
keys =
    asked CMake to find a package configuration file provided by
    Could not find a package configuration file
    Could NOT find
pattern =
    asked\s+CMake\s+to\s+find\s+a\s+package\s+configuration\s+file\s+provided\s+by\s+'([^'\n]+)'
    Could not find a package configuration file provided by\s+'([^'\n]+)'
    ^(?:\s+|CMake Error: )Could NOT find (\w+)
values =
    part of found: SQLite3$ => libsqlite3-dev
    part of found: (FLEX|BISON|SWIG|Doxygen)$ => flex, bison, swig or doxygen (the name in small letters)
    part of found: (pybind11_json|nlohmann_json)$ => nlohmann-json3-dev
    part of found: (yaml-cpp|jsoncpp|zstd|LZ4|CLI11|range-v3|capnp|CapnProto|Ceres|SuiteSparse|PCL|OpenEXR|VTK|assimp|
    + Freetype|Fontconfig|ALSA|PortAudio|SndFile|Opus|Libevent|Libuv|libzmq|cppzmq|ICU|EXPAT|GMP|MPFR|Metis|FFTW3?|GSL)
    +$ =>
    + its development package (apt-cache search NAME; it ends in -dev)
    part of found: CURL$ => libcurl4-openssl-dev
    part of found: OpenSSL => libssl-dev
    part of found: ZLIB$ => zlib1g-dev
    part of found: Protobuf => libprotobuf-dev and protobuf-compiler
    part of found: (?:MKL|IntelMKL|oneMKL)$ => no MKL, which exists only for x86: switch its option off (-DWITH_MKL=OFF,
    + -DUSE_MKL=OFF, BLAS=NVPL or OpenBLAS)
    part of found: MPI$ => libopenmpi-dev and openmpi-bin
    part of found: Boost => libboost-all-dev
    part of found: Eigen3 => libeigen3-dev
    part of found: OpenCV => libopencv-dev
    part of found: OpenMP => libomp-dev, or use gcc instead of clang
    part of found: (?i:ffmpeg|libav) => FFmpeg's development packages (libavcodec-dev, libavformat-dev, libswscale-dev)
    part of found: pybind11 => pybind11 (pip install pybind11, and -Dpybind11_DIR=$(python3 -m pybind11 --cmakedir))
    part of found: Git$ => git
    part of found: PkgConfig => pkg-config
    part of found: (JPEG|PNG|TIFF)$ => libjpeg-dev, libpng-dev and libtiff-dev
    part of found: (X11|GLUT|GLEW|glfw3|OpenGL)$ => libx11-dev, libgl1-mesa-dev, libglew-dev and libglfw3-dev
    part of found: Vulkan$ => libvulkan-dev and glslc
    part of found: (gflags|glog|GTest|fmt|spdlog|TBB|HDF5|LibXml2|BZip2|LibLZMA|NUMA|SNAPPY|Snappy|ZeroMQ)$ => its
    + development package (apt-cache search NAME)
    part of found: (gRPC|absl|Arrow|Parquet)$ => it from its own project's packages, or a wheel of the program instead
    part of found: (NVPL_BLAS|NVPL_LAPACK)$ => NVPL (role math_libraries)
    part of found: BLAS$ => a BLAS library: NVPL on aarch64 (role math_libraries, BLAS=NVPL) or OpenBLAS
    part of found: LAPACK$ => a LAPACK library: NVPL on aarch64 (role math_libraries) or OpenBLAS
    part of found: CUDA(Toolkit)?$ => the CUDA toolkit (role cuda_libraries) with its headers (cuda-toolkit-13-0)
    part of found: CUDNN$ => cuDNN's development package (libcudnn9-dev-cuda-13, role cuda_libraries)
    part of found: NCCL$ => NCCL's development package (libnccl-dev, role cuda_libraries)
    part of found: CUDSS$ => cuDSS (role math_libraries)
    part of found: CUSPARSELT$ => cuSPARSELt (role cusparselt)
    part of found: (MLIR|LLVM|LLD)$ => LLVM at the commit that Triton pins (role llvm)
    part of found: Torch$ => PyTorch first (role pytorch; for a unit in its depends; for pip with
    + --no-build-isolation), and name it with -DCMAKE_PREFIX_PATH=$(python3 -c "import torch;
    + print(torch.utils.cmake_prefix_path)")
    part of found: . => the package that provides it
cause = CMake does not find {found}, which the source requires.
remedy = Install {part}, and if it is not below /usr, set its directory ({found}_DIR or {found}_ROOT).

[ninja-unknown-target]
keys = unknown target
pattern = ninja: error: unknown target '([^'\n]+)'
cause = The build has no target {found}.
remedy = List the targets (ninja -t targets). Targets are left out if their option was off when CMake ran.

[cuda-target-directory]
keys = targets/x86_64-linux
pattern =
    (?P<path>(?<=/)(?:cuda|targets)[\w.-]{0,20}(?:/targets)?/x86_64-linux)[^\n]{0,120}?(?:does not exist|No such
    + file|not found|cannot find)
    (?:does not exist|No such file or directory|cannot find|not found):?[^\n]{0,80}?(?P<path2>targets/x86_64-linux)
cause = The build looks for CUDA's files in {path}, which exists only on x86_64. On aarch64 they are in
    targets/sbsa-linux.
remedy = Point the build's option or variable for that directory to targets/sbsa-linux (or to /usr/local/cuda/include
    and /usr/local/cuda/lib64, which point there on every machine), or use a newer release of the source.
source = ai-dynamo/nixl#273

[nvcc-compiler-too-new]
keys =
    Compiler nvcc cannot compile
    CUDA compiler identification source file
pattern =
    (Compiler nvcc cannot compile programs)
    (Compiling the CUDA compiler identification source file)
when = log-shows-new-gcc
uncertain = yes
cause = nvcc could not compile a test program. The host compiler is GCC {log_gcc}, which is newer than CUDA 13 accepts
    (at most GCC 15; CUDA 12.9 at most 14).
remedy = Install an older g++ and make nvcc use it (NVCC_CCBIN=g++-14, -ccbin, CMAKE_CUDA_HOST_COMPILER). If that does
    not help, read the compiler's own message (meson-logs/meson-log.txt, CMakeFiles/CMakeConfigureLog.yaml).
source = rigaya/NVEnc#761
"""
