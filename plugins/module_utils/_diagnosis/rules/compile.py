# __init__.py in this directory explains the fields.

"""Compiling and linking

Headers, libraries, objects and flags.
"""

RULES = r"""
[ffmpeg-configure-part]
keys =
    requested, but not all dependencies are satisfied
    not found using pkg-config
    not found
pattern =
    ^ERROR: (?P<option>[\w-]+) requested, but not all dependencies are satisfied: (?P<part1>[^\n]+)
    ^ERROR: (?P<part2>[\w.+-]+)(?: (?:>= )?(?P<version>[\d.]+))? not found using pkg-config
    ^ERROR: (?P<part3>[\w.+-]+) not found\s*\n\s*If you think configure made a mistake
values =
    package of part: ffnvcodec => NVIDIA's headers nv-codec-headers (git clone
    + https://github.com/FFmpeg/nv-codec-headers, in the version for this driver and FFmpeg; make install; add
    + /usr/local/lib/pkgconfig to PKG_CONFIG_PATH)
    package of part: cuda_(?:sdk|nvcc) => the CUDA toolkit, with nvcc on PATH (FFmpeg now calls the option
    + --enable-cuda-nvcc; add --extra-cflags=-I/usr/local/cuda/include --extra-ldflags=-L/usr/local/cuda/lib64)
    package of part: cuda_llvm => clang, or use --enable-cuda-nvcc
    package of part: libnpp => the toolkit's NPP (libnpp-dev-13-0), or use scale_cuda instead
    package of part: (?:lib)?dav1d => libdav1d-dev, or build it from source (Ubuntu 22.04 has 0.9)
    package of part: (?:lib)?(?:x264|x265|vpx|opus|ass|fdk[-_]aac|mp3lame|theora|vorbis|webp|aom|svtav1) => its
    + development package (libx264-dev and the like)
    package of part: . => its development package (lib…-dev)
cause = FFmpeg's configure did not find {part}[ in version {version} or newer][, which --enable-{option} needs].
remedy = Install {package}, or leave out that option. The end of ffbuild/config.log shows the failed test and the
    compiler's message.
source =
    NixOS/nixpkgs#220327
    ilyaevseev/ffmpeg-build#4

[ffmpeg-newer-than-source]
keys =
    error: invalid conversion from
    AVCodec
    av_bsf_
    av_register_all
    av_init_packet
    av_get_
    av_stream_get_
    avpicture_
    avcodec_
    AVBSF
    AVFrame
    AVStream
pattern =
    error: (?P<part1>invalid conversion from 'const AV(?:Codec|InputFormat|OutputFormat)\*?[^\n]*)
    error: (?P<part2>'?(?:av_bsf_\w+|AVBSFContext|av_register_all|avcodec_register_all|avcodec_(?:decode|encode)_(?:vid
    +eo|audio)\d
    +|av_init_packet|avpicture_\w+|av_get_channel_layout\w*|av_get_default_channel_layout|avcodec_close
    +|av_stream_get_\w+|avcodec_get_context_defaults3)'? (?:was not declared|undeclared)[^\n]*)
    error: (?P<part3>'?(?:const )?(?:struct )?'?AV(?:CodecContext|CodecParameters|Frame|Stream)'?[^\n]{0,40}? has no
    + member named '?\w+'?[^\n]*)
    error: (?P<part4>no member named '\w+' in '(?:struct )?AV(?:CodecContext|CodecParameters|Frame|Stream)'[^\n]*)
    error: (?P<part5>(?:use of undeclared identifier|implicit declaration of function) '(?:av_bsf_\w+|av_register_all
    +|avcodec_(?:decode|encode)_\w+|av_get_default_channel_layout|avcodec_close)'[^\n]*)
values =
    since of part: .*(?:const AV|bsf|BSF|register_all|_(?:decode|encode)_) => 5
    since of part: .*(?:channel|key_frame|pkt_|avcodec_close) => 7
    since of part: . => 5, 6 or 7
    advice of part: .*(?:bsf|BSF) => include <libavcodec/bsf.h> in the file (FFmpeg 5 split it from avcodec.h)
    advice of part: .*invalid conversion => declare it as const AVCodec *, or pass -fpermissive to the compiler
    advice of part: .*channel => use ch_layout.nb_channels instead
    advice of part: . => change the call as FFmpeg's doc/APIchanges describes
cause = The source uses an interface that FFmpeg {since} removed or changed: {part}.
remedy = Use a newer release, or a fork that supports this FFmpeg (for decord: decord2, or torchcodec), or {advice}, or
    build with an older FFmpeg (libavcodec-dev is 6.1 in Ubuntu 24.04, 4.4 in 22.04; conda-forge has others).
source = dmlc/decord#352

[compiler-header-missing]
keys =
    fatal error: stddef.h
    fatal error: sanitizer/
    fatal error: stdint.h
pattern = fatal error: '?((?:stddef|stdint|limits)\.h|sanitizer/\w+\.h)'?(?:: No such file| file not found)
cause = The compiler does not find {found}, one of its own files: its installation is incomplete, or mixed with another
    one.
remedy = Install gcc and g++ completely and in the same version (build-essential), and set CC and CXX to them.
source = vllm-project/vllm#19656

[lld-missing]
keys =
    fatal error: cannot find
    invalid linker name
    does not support '-fuse-ld
pattern =
    collect2: fatal error: cannot find '(ld)'
    invalid linker name in (?:argument )?'(-fuse-ld=[^'\n]+)'
    does not support '(-fuse-ld=[^'\n]+)'
cause = The build's linker is not installed ({found}).
remedy = Install it (apt install lld, or mold; the role build_toolchain), or remove the linker option (-fuse-ld,
    LLVM_ENABLE_LLD, TRITON_BUILD_WITH_CLANG_LLD).

[compiler-too-old]
keys =
    unrecognized command-line option
    unrecognized command line option
    bad value
    in option '-m
    unknown argument: '
    invalid value '
    or later compatible compiler is required
    compiler does not support '
    unsupported argument '
    error: unknown value
    error: invalid feature modifier
pattern =
    error: unknown value '([^'\n]+)' for '-m(?:arch|cpu|tune)
    error: invalid feature modifier '([^'\n]+)' in '-m
    unrecognized command[- ]line option '([^'\n]+)'
    bad value '([^'\n]+)' for '-m(?:arch|cpu|tune)=
    unrecognized argument in option '(-m[^'\n]+)'
    clang[\w+-]*: error: unknown argument:? '([^'\n]+)'
    (C\+\+\d+ or later) compatible compiler is required
    invalid value '([^'\n]+)' in '-std=
    compiler does not support '(-m[^'\n]+)'
    unsupported argument '([^'\n]+)' to option '-m
values =
    why of found: -m(?:arch|cpu|tune)$|-(?![mOgj])[a-z]?\d+$ => it is a fragment of an option, from a script or from
    + malformed flags
    why of found: -arch$ => it is an option of Apple's compilers and of nvcc
    why of found: . => it is too old for this source or these flags, or is for another processor
    advice of found: -m(?:arch|cpu|tune)$|-(?![mOgj])[a-z]?\d+$ => Check CFLAGS, CXXFLAGS and LDFLAGS (env | grep
    + FLAGS; conda sets them) and what the build's script adds to them, and correct the option, or use a newer release
    advice of found: -arch$ => Remove it from ARCHFLAGS, CFLAGS and the build's own flags (they were written for
    + macOS). If it is meant for nvcc, let nvcc compile the file (.cu)
    advice of found: . => Use a newer compiler (CC and CXX, or the unit's toolchain), or remove the flag: from CFLAGS
    + and CXXFLAGS, or with an option of the build (llama.cpp: -DGGML_CPU_ALL_VARIANTS=OFF). x86 flags such as -mavx2
    + are wrong on aarch64
cause = The compiler does not know {found}: {why}.
remedy = {advice}.
source = saleyn/erlexec#175

[headers-mixed]
keys = fatal error:
pattern =
    (?P<outer>/usr/(?:local/)?include/[\w./+-]+):\d+:\d+: fatal error: (?P<inner>(?:bits|gnu|asm|sys)/\S+): No such
cause = The compiler is not the system's (but conda's, or a cross compiler), yet it reads the system's headers: {outer}
    includes {inner}, which is where only the system's gcc looks.
remedy = Build with the system's compiler (CC=/usr/bin/gcc CXX=/usr/bin/g++), or remove -I/usr/include from CFLAGS and
    CPATH and install the library from conda-forge.
source = automatika-robotics/emos#12

[missing-header]
keys =
    .h: No such file
    Error: Unable to find '
    fatal error:
    cannot open source file
pattern =
    Error: Unable to find '([^'\n]+\.(?:h|i|swg))'
    cannot open source file '([^'\n]+)'
    ^error: ([^\s:']+\.(?:h|hpp|cuh)): No such file or directory
    fatal error: '?([^\s:']+\.(?:h|hh|hpp|hxx|cuh|inc|def)|[a-z_]+|(?:unsupported/)?Eigen/\w+)'?(?:: No
    + such file| file not found)
values =
    part of found: (?:\S*/)?(?:third_?party|3rd_?party|externals?|submodules?|deps)/ => the source's submodule that
    + contains it (git submodule update --init --recursive in a git checkout; an archive from GitHub lacks submodules)
    part of found: (lib)?curl => libcurl4-openssl-dev
    part of found: (openssl/|lib(ssl|crypto)$|ssl$|crypto$) => libssl-dev
    part of found: (lib)?z(lib)?(\.h|$) => zlib1g-dev
    part of found: ffi => libffi-dev
    part of found: portaudio => portaudio19-dev
    part of found: (alsa/|asound) => libasound2-dev
    part of found: sndfile => libsndfile1-dev
    part of found: (libav|libsw|av(codec|format|util|filter|device)$|sw(scale|resample)$) => FFmpeg's development
    + packages (libavcodec-dev, libavformat-dev, libavdevice-dev, libavfilter-dev, libswscale-dev)
    part of found: (X11/|X11$) => libx11-dev
    part of found: (GL/|GLES|EGL|GL$) => libgl1-mesa-dev and libegl1-mesa-dev
    part of found: (mpi\.h|mpi$) => libopenmpi-dev
    part of found: omp(\.h|$) => libomp-dev
    part of found: (cblas|openblas) => libopenblas-dev
    part of found: lapack => liblapacke-dev
    part of found: (libaio|aio$) => libaio-dev
    part of found: (boost) => libboost-all-dev
    part of found: (Eigen/|eigen) => libeigen3-dev
    part of found: opencv => libopencv-dev
    part of found: (pybind11) => pybind11 (pip install pybind11; pybind11-dev)
    part of found: google/protobuf|protobuf => libprotobuf-dev and protobuf-compiler
    part of found: (jpeglib|jpeg) => libjpeg-dev
    part of found: png => libpng-dev
    part of found: (libxml/|xml2) => libxml2-dev
    part of found: sqlite3 => libsqlite3-dev
    part of found: bzlib|bz2 => libbz2-dev
    part of found: lzma => liblzma-dev
    part of found: zstd => libzstd-dev
    part of found: hdf5 => libhdf5-dev
    part of found: sox => libsox-dev
    part of found: (libpq|pq$|postgres) => libpq-dev
    part of found: (mysql) => libmysqlclient-dev
    part of found: (uuid) => uuid-dev
    part of found: (libusb|usb) => libusb-1.0-0-dev
    part of found: rdma/ => librdmacm-dev
    part of found: hwloc => libhwloc-dev
    part of found: (gmp|mpfr) => libgmp-dev and libmpfr-dev
    part of found: fftw3 => libfftw3-dev
    part of found: (vulkan) => libvulkan-dev
    part of found: python3 => python3-dev
    part of found: (stdc\+\+|c|m|gcc|gcc_s|pthread|dl|rt)$ => the C and C++ libraries' development files
    + (build-essential)
    part of found: (cutlass/|cute/) => CUTLASS (the source's submodule third_party/cutlass: git submodule update
    + --init --recursive)
    part of found: (glib(-object|-unix)?[./]|glib-2|gio/|gobject) => libglib2.0-dev
    part of found: (cairo|pango) => libcairo2-dev and libpango1.0-dev
    part of found: (ft2build|freetype|fontconfig|harfbuzz|hb\.h) => libfreetype-dev, libfontconfig-dev and
    + libharfbuzz-dev
    part of found: yaml-cpp => libyaml-cpp-dev
    part of found: (lib)?yaml(\.h|$) => libyaml-dev
    part of found: (lib)?lz4(w?\.h|[/_]|$) => liblz4-dev
    part of found: (lib)?snappy(w?\.h|[/_]|$) => libsnappy-dev
    part of found: (lib)?lmdb(w?\.h|[/_]|$) => liblmdb-dev
    part of found: (lib)?leveldb(w?\.h|[/_]|$) => libleveldb-dev
    part of found: (lib)?re2(w?\.h|[/_]|$) => libre2-dev
    part of found: (lib)?webp(w?\.h|[/_]|$) => libwebp-dev
    part of found: (lib)?tiff(w?\.h|[/_]|$) => libtiff-dev
    part of found: (lib)?fmt(w?\.h|[/_]|$) => libfmt-dev
    part of found: (lib)?spdlog(w?\.h|[/_]|$) => libspdlog-dev
    part of found: (lib)?tbb(w?\.h|[/_]|$) => libtbb-dev
    part of found: (lib)?geos(w?\.h|[/_]|$) => libgeos-dev
    part of found: (lib)?gdal(w?\.h|[/_]|$) => libgdal-dev
    part of found: (lib)?netcdf(w?\.h|[/_]|$) => libnetcdf-dev
    part of found: (lib)?sodium(w?\.h|[/_]|$) => libsodium-dev
    part of found: (lib)?systemd(w?\.h|[/_]|$) => libsystemd-dev
    part of found: (lib)?udev(w?\.h|[/_]|$) => libudev-dev
    part of found: (lib)?pcap(w?\.h|[/_]|$) => libpcap-dev
    part of found: (lib)?gsl(w?\.h|[/_]|$) => libgsl-dev
    part of found: (lib)?unwind(w?\.h|[/_]|$) => libunwind-dev
    part of found: (lib)?opus(w?\.h|[/_]|$) => libopus-dev
    part of found: (lib)?vorbis(w?\.h|[/_]|$) => libvorbis-dev
    part of found: (lib)?snmp(w?\.h|[/_]|$) => libsnmp-dev
    part of found: (lib)?magic(w?\.h|[/_]|$) => libmagic-dev
    part of found: (lib)?cap-ng(w?\.h|[/_]|$) => libcap-ng-dev
    part of found: (lib)?virt(w?\.h|[/_]|$) => libvirt-dev
    part of found: (google/|lib)?glog([/.]|$) => libgoogle-glog-dev
    part of found: (lib)?gflags([/.]|$) => libgflags-dev
    part of found: (libelf|gelf)[/.]|(lib)?elf$ => libelf-dev
    part of found: readline => libreadline-dev
    part of found: (ldap|lber|sasl) => libldap-dev and libsasl2-dev
    part of found: (gssapi|krb5) => libkrb5-dev
    part of found: (sql(ext|types)?\.h|odbc) => unixodbc-dev
    part of found: sys/capability => libcap-dev
    part of found: (sys/acl|acl) => libacl1-dev
    part of found: (zmq|zeromq) => libzmq3-dev
    part of found: (graphviz|cgraph|gvc) => libgraphviz-dev
    part of found: espeak => libespeak-ng-dev
    part of found: (tesseract|leptonica|allheaders) => libtesseract-dev and libleptonica-dev
    part of found: (gst/|gstreamer) => libgstreamer1.0-dev and libgstreamer-plugins-base1.0-dev
    part of found: (pcre2) => libpcre2-dev
    part of found: (SDL2|SDL\.h) => libsdl2-dev
    part of found: (GLFW|glfw) => libglfw3-dev
    part of found: (ltdl) => libltdl-dev
    part of found: (dbus/|dbus-1) => libdbus-1-dev
    part of found: bluetooth/ => libbluetooth-dev
    part of found: (std(arg|bool|def|int|align|noreturn|atomic)|limits|float|iso646|varargs|(arm|x86|a|e|s)\w*intrin
    +|arm_\w+)\.h$ => the compiler's own headers (the package clang, or libclang-common-N-dev for bindgen; gcc in the
    + same version)
    part of found: (stdio|stdlib|string|errno|features|sys/\w+|bits/\w+|asm/\w+|linux/\w+|gnu/stubs\S*)\.h$ => the C
    + library's headers (build-essential, libc6-dev, linux-libc-dev)
    part of found: (iostream|vector|string|cstdlib|cmath|memory|algorithm|cstdint|type_traits|filesystem)$ => the C++
    + library's headers (g++ in the same version as the compiler)
    part of found: (lib)?cudnn => cuDNN's development package (libcudnn9-dev-cuda-13, role cuda_libraries)
    part of found: (lib)?nccl => NCCL's development package (libnccl-dev, role cuda_libraries)
    part of found: (lib)?cusparseLt => cuSPARSELt (role cusparselt)
    part of found: (lib)?cudss => cuDSS (role math_libraries)
    part of found: (lib)?nvpl => NVPL (role math_libraries)
    part of found: (lib)?cu(blas|solver|sparse|rand|fft|file|pti|da|b) => the CUDA toolkit (role cuda_libraries)
    + with its headers (cuda-toolkit-13-0)
    part of found: (nvcuvid|cuviddec|nvEncodeAPI|ffnvcodec|dynlink_) => NVIDIA's Video Codec SDK headers
    + (nv-codec-headers for FFmpeg; OpenCV builds without them: -DBUILD_opencv_cudacodec=OFF)
    part of found: (lib)?nv(rtc|ToolsExt|tx|ml|JitLink|cc) => the CUDA toolkit (role cuda_libraries) with its
    + headers (cuda-toolkit-13-0)
    part of found: thrust|cooperative_groups|crt/|(vector|driver|device|builtin)_types|host_defines => the CUDA toolkit
    + (role cuda_libraries) with its headers (cuda-toolkit-13-0)
    part of found: (llvm|mlir|lld|clang) => LLVM at the commit that Triton pins (role llvm)
    part of found: (torch|ATen|c10) => PyTorch (role pytorch; for a unit in its depends; for pip with
    + --no-build-isolation)
    part of found: faiss => the headers of faiss (a build from its own checkout; faiss-cpu has wheels for aarch64)
    part of found: tinfo$|n?curses => libtinfo-dev and libncurses-dev
    part of found: numa => libnuma-dev
    part of found: infiniband => libibverbs-dev
    part of found: numpy/ => NumPy (pip install numpy; with --no-build-isolation, and where it is not found even so,
    + with CPATH=$(python3 -c 'import numpy; print(numpy.get_include())'))
    part of found: nanobind => nanobind (pip install nanobind)
    part of found: ucp?/ => libucx-dev
    part of found: xxhash => libxxhash-dev
    part of found: . => the package that provides it, usually libNAME-dev (apt-file search finds it; a header of the
    + project itself is in a git clone with --recurse-submodules)
cause = The compiler does not find the header {found}.
remedy = Install {part} where the build runs (for an image, in that stage). If it is in its own directory, add that to
    CPATH (in the unit's environment).
source = flashinfer-ai/flashinfer#4410

[driver-library-stub]
keys =
    cannot find -lcuda
    cannot find -lnvidia-ml
    unable to find library -lcuda
pattern = (?:cannot find|unable to find library) -l(cuda|nvidia-ml)(?::|$|\s)
cause = The linker does not find lib{found}.so, which belongs to the driver: a container or host without a driver does
    not have it, and a host with one usually has only lib{found}.so.1.
remedy = Put the CUDA toolkit's stubs (/usr/local/cuda/lib64/stubs) on LIBRARY_PATH for the build. Triton links at run
    time: set TRITON_LIBCUDA_PATH to the stubs. A container without libcuda.so.1 was started without --gpus all.
source = NVIDIA/nvidia-docker#374

[ptxas-shared-memory]
keys = uses too much shared data
pattern = Entry function '(?P<kernel>[^'\n]+)' uses too much shared data \((?P<need>0x\w+) bytes, (?P<most>0x\w+) max\)
cause = The kernel {kernel} uses {need} bytes of shared memory, but the target has {most}: it was written for a GPU with
    more, such as 9.0 or 10.0.
remedy = Use a backend or release with sizes for 12.x. In your own kernel, use smaller tiles or fewer stages.

[cuda-code-by-host-compiler]
keys =
    does not name a t
    unknown type name '__
pattern =
    error: '(__(?:forceinline|device|host|global|constant|shared|launch_bounds)__)' does not name a type
    error: unknown type name '(__(?:forceinline|device|host|global|constant|shared|launch_bounds)__)'
cause = The C++ compiler got CUDA code and does not know {found}: nvcc must compile this code.
remedy = Rename the file to .cu, or set its language to CUDA (nvcc -x cu; in CMake set_source_files_properties(FILE
    PROPERTIES LANGUAGE CUDA)). If the C++ compiler is meant to compile it, include cuda_runtime.h first.
source = NVIDIA/cutlass#1039

[assembler-macro-missing]
keys = ARM assembler must define
pattern = "(ARM assembler must define __ARM_ARCH)"
cause = The C compiler is too old for ring: it does not define __ARM_ARCH for assembler files (gcc older than 5, as in
    old manylinux2014 images).
remedy = Use a newer gcc or clang (an image for manylinux_2_28), or define it: CFLAGS=-D__ARM_ARCH=8 (for cargo
    CFLAGS_aarch64_unknown_linux_gnu).
source = tensorlakeai/tensorlake#551

[opencv-architectures]
keys = CUDA backend for DNN module requires CC
pattern = CUDA backend for DNN module requires CC (?P<least>[\d.]+)
cause = The build of OpenCV includes GPUs below {least}, which its module dnn does not support: CUDA_ARCH_BIN is not
    set, or lists old GPUs.
remedy = Name only yours (GB10: -DCUDA_ARCH_BIN=12.1 -DCUDA_ARCH_PTX=), in an empty directory. Use OpenCV and
    opencv_contrib of the same release, one whose notes mention CUDA 13.
source = opencv/opencv#15930

[nvcc-standard]
keys =
    is not defined for option 'std'
    cannot be marked constexpr
    is undefined
pattern =
    Value '([^'\n]+)' is not defined for option 'std'
    error: A __device__ variable cannot be marked (constexpr)
    error: identifier '(CUtensorMap\w*|CU_TENSOR_MAP_\w+|cudaLaunchAttribute\w*|cudaLaunch
    +KernelEx\w*
    +|CUBLASLT_MATMUL_MATRIX_SCALE_\w+|CUDA_R_(?:4F|6F|8F)_\w+|cudaMemLocation\w*|cudaGraphConditional\w*|cudaLogicalEn
    +dpoint\w*)' is undefined
cause = This nvcc, or the headers that it reads, are older than the source, which uses {found}.
remedy = Use the nvcc of CUDA 13 (/usr/local/cuda/bin first on PATH; CUDA_HOME; role cuda_libraries).

[nvcc-arguments]
keys =
    Don't know what to do with
    requires argument
pattern =
    nvcc fatal +: Don't know what to do with '([^'\n]+)'
    nvcc fatal +: Option '([^'\n]+)' requires argument
cause = nvcc does not recognise {found}: an option was split at a space, or its name is missing.
remedy = Write it without spaces (-gencode=arch=compute_120a,code=sm_120a), and correct NVCC_APPEND_FLAGS,
    TORCH_NVCC_FLAGS, CUDAFLAGS or CMAKE_CUDA_FLAGS.

[ptxas-needs-target]
keys = requires .target
pattern = (?:Feature|Instruction|Modifier) '(?P<what>[^'\n]+)' requires \.target (?P<need>sm_\d+\w?)
values =
    advice of need: sm_1[01]\d => This code is for Blackwell in data centres (B200); a GB10 (12.1) lacks its tensor
    + memory. Choose another backend or kernel (Triton's, Marlin, FlashAttention 2), or a release with code for 12.x
    advice of need: sm_90a => This code is only for Hopper (wgmma), and a GB10 cannot run it. Choose another backend,
    + or a release with code for 12.x
    advice of need: . => The build targets older GPUs as well, or only those. Name only yours
    + (TORCH_CUDA_ARCH_LIST=12.1a, CMAKE_CUDA_ARCHITECTURES=121a-real)
cause = The kernel uses {what}, which needs {need}, but is compiled for another target.
remedy = {advice}.
source = https://docs.nvidia.com/cuda/parallel-thread-execution/

[device-link]
keys =
    nvlink error
    Unresolved extern function
pattern =
    nvlink error +: Undefined reference to '([^'\n]+)'
    ptxas (?:fatal|error) +: Unresolved extern function '([^'\n]+)'
cause = Device code calls {found}, which another file or library of device code defines, but the build compiles each
    file separately.
values =
    advice of found: \w*nvshmem => Link NVSHMEM's device library from the same release as its headers (-rdc=true,
    + -lnvshmem_host -lnvshmem_device), with the same architectures for all files
    advice of found: . => Compile with relocatable device code (nvcc -rdc=true; in CMake CUDA_SEPARABLE_COMPILATION
    + ON) and link cudadevrt (-lcudadevrt), with the same architectures for all files
remedy = {advice}.

[fp4-types-missing]
keys = identifier "__nv_
pattern = identifier '(__nv_(?:fp[46]|fp8_e8m0|cvt_\w*(?:e8m0|fp[46]))\w*)' is undefined
cause = The CUDA toolkit has no type {found}: it is older than 12.8, which introduced FP4, FP6 and E8M0.
remedy = Build with CUDA 13 (CUDA_HOME, PATH), and delete the unfinished build (~/.cache/flashinfer).

[link-of-another-cuda]
keys =
    @libcu
    @libnv
pattern = (?P<user>[^\s:]+): undefined reference to '\w+@(?P<library>lib(?:cu|nv)\w+\.so\.\d+)'
cause = {user} was built for another CUDA version: it needs {library}, which the linker does not find.
remedy = Install its build for CUDA 13, or rebuild it with the toolkit that everything else uses.

[library-for-other-processor]
keys = skipping incompatible
pattern = skipping incompatible (\S+) when searching for -l
when = library-missing
values =
    need of found: .*aarch64 => x86_64
    need of found: (?:) => aarch64
cause = The linker finds only {found}, which is for another processor.
remedy = Install the library for {need} (apt's package is in /usr/lib/{need}-linux-gnu), and remove the other one's
    directory from LIBRARY_PATH and -L.

[libc-files-missing]
keys = _nonshared.a
pattern = cannot find (?P<file>\S*lib(?:c|pthread)_nonshared\.a)
cause = The linker does not find {file}, a part of the C library's development files.
remedy = Install libc6-dev (build-essential) where the build runs. In a snap, a conda environment or a cross build, name
    their directory instead (--sysroot, LIBRARY_PATH), because libc.so there is a text file that points to the host's
    path.
source = pypa/pip#13248

[library-missing]
keys =
    cannot find -l
    unable to find library -l
    library not found
pattern = (?:(?:cannot find|unable to find library|library not found for) -l|mold: fatal: library not found:
    + )(?!\w+-NOTFOUND)(\S+?)(?::|$|\s)
values = as in missing-header
cause = The linker does not find the library {found}.
remedy = Install {part}. If it is in its own directory, add that to LIBRARY_PATH (in the unit's environment).

[linker-directory-as-file]
keys = : file format not recognized
pattern = cannot find (/\S+): file format not recognized
cause = The linker was told to link {found}, which is a directory or no library.
remedy = -L is missing before it: correct LDFLAGS, or the variable or option of the build that names the CUDA
    directories (CUDA_ROOT=/usr/local/cuda for PyCUDA), so that each directory has its own -L, and build again without a
    cache.
source = mlcommons/mlperf-automations#571

[cmake-file-missing]
keys =
    using the following names:
    using the following files:
pattern = Could not find \w+ using the following (?:names|files):\s+([\w.+-]+)
values = as in missing-header
cause = CMake does not find a file named {found}.
remedy = Install {part}. If it is installed, set the variable in the message to its path (-DVARIABLE=PATH). If only
    tests or examples need it, switch those off with an option of the project.
source = NVIDIA/cccl#4101

[build-directory-gone]
keys = opening dependency file
pattern = fatal error: opening dependency file (\S+): No such file
cause = The compiler cannot write {found}, because its directory disappeared during the build: another build, a clean-up
    or a script removed it, or two builds share it.
remedy = Configure and build again in a directory that only one build uses (cmake -S . -B NEW).
source = gittensor-ai-lab/sparkinfer#387

[nvcc-second-input]
keys = A single input file is required
pattern = nvcc fatal\s*: A (single input file) is required
cause = nvcc read a part of its command as a second input file (only a {found} is allowed): an option of the C++
    compiler without -Xcompiler before it, or a path with a space.
remedy = Look for it in the command above the message. Use a newer release of the program that wrote the command, and
    keep spaces out of paths, NVCC_APPEND_FLAGS and CXXFLAGS.
source = SystemPanic/flashinfer-windows#6

[assembler-arch-of-source]
keys = selected processor does not support
pattern = (?:^|\s)(?!/tmp/)[^\s:]+\.[sS]:\d+: Error: selected processor does not support '([^'\n]+)'
cause = An assembler source uses an instruction ({found}) from a newer Arm architecture than it declares. Its own .arch
    or .cpu line decides; -march and -mcpu do not override that.
remedy = Use a newer release of the project, or change the line in that file (.arch armv8.2-a, with the features it
    needs). -march (CMAKE_ASM_FLAGS) works only for a file without such a line.
source = Multicorewareinc/x265#762

[cpu-feature-unknown]
keys =
    was not declared in this scope
    implicit declaration of function
    bfloat16x
    selected processor does not support
    unknown target CPU '
    unknown -mcpu
    target specific option mismatch
    requires target feature
pattern =
    error: implicit declaration of function '(v[a-z]{2,9}\d?q?_\w+)'
    error: '(v(?:dot|mmla|usdot|bfdot|bfmmla)\w*_[su]?(?:32|f32))' was not declared in this scope
    unknown type name '(bfloat16x\d_t)'
    inlining failed in call to '?always_inline'? '([^'\n(]+)[^\n]*target specific option mismatch
    selected processor does not support '([^'\n]+)'
    always_inline function '\w+' requires target feature '(\w+)'
    unknown target CPU '([^'\n]+)'
cause = The compiler's options do not name a processor with {found}, or the compiler is too old for it.
remedy = Name the processor: -mcpu=native, or -march=armv8.2-a with the features that the source uses
    (+dotprod+i8mm+sve). Ubuntu 24.04's compiler (gcc 13) knows the Spark's processor.

[start-files-missing]
keys = cannot find
pattern = (?:cannot find|unable to find library) (S?crt[1in]\.o|-lc\b|-lgcc\b|-lstdc\+\+)
cause = The linker does not find {found}, a part of the C or C++ library itself.
remedy = Install libc6-dev and g++ (build-essential). The conda compilers need their own sysroot.

[multiple-definition]
keys = multiple definition of
pattern = multiple definition of '([^'\n]+)'
cause = Two objects define {found}: a header lacks inline or extern, or a library is linked twice.
remedy = Use a newer release of the source. For C code from before gcc 10, add -fcommon to CFLAGS.

[makefile-missing]
keys =
    no makefile found
    *** missing separator
pattern =
    \*\*\* (No targets specified and no makefile found)
    (?P<file>\S+):\d+: \*\*\* (?P<why>missing separator)
values =
    advice of why: . => Begin the lines of commands with a tab; an editor, or copying from a web page, replaced it
    + with spaces
    advice of found: . => Change to the directory of the Makefile, or create the Makefile first (cmake -B build,
    + ./configure)
cause = make cannot start[ with {file}]: {found}.
remedy = {advice}.

[makefile-target-missing]
keys = No rule to make target
pattern = No rule to make target '((?:install|all|clean|test|check|build|modules\w*))'\.  Stop
cause = The Makefile here has no target {found}: the configuration did not finish, or this is not the build's directory.
remedy = Remove the build directory and configure again, and read the first error that CMake or configure prints (git
    submodule update --init --recursive fetches what a clone lacks), or change to the directory with the Makefile.
source = nmilosev/pytorch-arm-builds#2

[input-of-another-host]
keys =
    missing and no known rule
    No rule to make target
pattern =
    '(?P<file1>[^'\n]*(?:x86_64-linux|/cuda)[^'\n]*)', needed by .* missing and no known rule
    No rule to make target '(?P<file2>[^'\n]*(?:x86_64-linux|/cuda)[^'\n]*)'
values =
    advice of file: .*x86_64-linux => The path is for x86-64. Set the option that contains it to this host's path
    + (/usr/lib/aarch64-linux-gnu, targets/sbsa-linux of CUDA), and configure in an empty directory
    advice of file: . => The toolkit with that path is not (or no longer) installed. Configure in an empty directory
    + with the installed one (CUDAToolkit_ROOT=/usr/local/cuda, CMAKE_CUDA_COMPILER)
cause = The build was configured to use {file}, which does not exist on this host.
remedy = {advice}.

[object-damaged]
keys =
    file too short
    file format not recognized
    file truncated
    malformed archive
    not an ELF file
pattern = (?<!\S)(?<!cannot find )(\S+): (?:file not recognized: )?(?:file (?:too short|format not
    + recognized|truncated)|malformed archive)
values =
    advice of found: \S*/usr/lib/\S*/lib(?:nv|cud|tegra) => On a Jetson, this file is empty in a container until
    + NVIDIA's runtime mounts the host's over it: start it with --runtime nvidia (or make that the default-runtime). On
    + the host itself, reinstall the package that owns it (dpkg -S FILE)
    advice of found: \S*/usr/lib/ => Reinstall the package that owns it (dpkg -S FILE, sudo apt install --reinstall
    + NAME)
    advice of found: . => Remove it and build again (for a unit, rebuild=true)
cause = {found} is damaged or empty, for example after a power loss or on a full disk.
remedy = {advice}.

[program-read-as-script]
keys = Syntax error: ")" unexpected
pattern =
    (?<![^\s])(?P<file>/[^\s:]*/(?![^\s:/]*\.(?:sh|bash|bashrc|profile|run)\b)[^\s:/]+): [12]: Syntax error: '\)' un
    +expected
cause = The shell tried to read {file} as a script, as it does with a program for another processor (here usually one
    for x86_64 on arm64).
remedy = Check it with file {file}, and install the build for this machine (uname -m: aarch64 or arm64), or Ubuntu's
    package.
source = browser-actions/setup-chrome#510

[wrong-architecture]
keys =
    ile in wrong format
    Exec format error
    Failed to query Python interpreter at
    wrong ELF class
    invalid ELF header
    ELF file data encoding not
    cannot open shared object file
    skipping incompatible
    ld-linux-x86-64.so.2'
    ld-linux-x86-64.so.2: No such file
    Syntax error: "(" unexpected
    Syntax error: Unterminated quoted
    cannot open
    : not found
    can't load
pattern =
    (\S+\.so[\d.]*): [^\n]*can't load (?:AMD|IA|ARM) ?\d+(?:-bit)? \.so on a
    (\S+?):? (?:error adding symbols: )?[Ff]ile in wrong format
    at (\S+)\n\s*Caused by: Exec format error
    (\S+)(?<!Caused by): (?:cannot execute[\w ]*: )?Exec format error
    (\S+): wrong ELF class
    (\S+): (?:invalid ELF header|ELF file data encoding not)
    Error: (\S*/\S+): cannot open shared object file
    Exec format error: '([^'\n]+)'
    skipping incompatible (\S+) when searching
    Could not open '(/lib64/ld-linux-x86-64\.so\.2)'
    (/lib64/ld-linux-x86-64\.so\.2): No such file
    (?:^|\s)(\S+(?<!\.sh)): [1-4]: Syntax error: '\(' unexpected
    (?:^|\s)(\S+(?<!\.sh)): [1-4]: (?:cannot open )?[^\n]{0,40}\ufffd[^\n]*: (?:not found|No such file)
values =
    advice of found: /lib64/ld-linux => The program is for x86-64: use its file or image for aarch64 (arm64)
    advice of found: .*(?:x86[_-]64|amd64|linux64|linux-64|linux-x64|x64) => Its name says that it is for x86-64: use
    + the file with aarch64 or arm64 in its name
    advice of found: .*_deps/f\d+-src => torchcodec's build downloaded FFmpeg for x86-64: unset
    + BUILD_AGAINST_ALL_FFMPEG_FROM_S3, so that it uses the system's (apt install libavcodec-dev libavformat-dev
    + libavdevice-dev libavfilter-dev libswscale-dev libswresample-dev), or install its wheel for aarch64 (0.10 and
    + newer)
    advice of found: .*_deps/ => The build downloaded this for x86-64: look for its option to use the system's library
    + (FETCHCONTENT_SOURCE_DIR_…, find_package), or use a release that knows aarch64, and empty the build directory
    advice of found: .*(?:libtorch|libc10) => The build fetched a libtorch for x86-64: use a release of the package
    + that builds against the installed torch, or name the installed one (Torch_DIR, CMAKE_PREFIX_PATH)
    advice of found: . => Use the file for this machine (uname -m): aarch64 or arm64. NVIDIA's linux-sbsa archives are
    + for ARM64 servers and the Spark, linux-aarch64 is for Tegra
cause = {found} is for another processor than this host's, or is damaged.
remedy = {advice}.
source = PASSIONLab/OpenEquivariance#194

[relocation-overflow]
keys =
    relocation truncated to fit
    relocation R_AARCH64_
    relocation out of range
pattern =
    relocation truncated to fit[^\n]{0,80}
    relocation R_AARCH64_\w+ out of range
    relocation out of range
cause = A library became too large for its relocations ({found}).
remedy = Build for fewer architectures (TORCH_CUDA_ARCH_LIST), and on aarch64 set USE_PRIORITIZED_TEXT_FOR_LD=1.
source = pytorch/pytorch#48588

[link-libc-too-new]
keys = @GLIBC
pattern =
    (?:(?<!\S)(?P<library>[^\s:]+\.(?:so|a)[\w.]*)[:(][^\n]*)?undefined reference to '[^'\n@]+@+(?P<version>GLIBC(?:XX
    +)?_[\d.]+)'
cause = A library[, {library},] was built on a newer system than this one: it needs {version}, which this toolchain's C
    or C++ library lacks.
remedy = Link with the system's own gcc on a system that has {version} (Ubuntu 24.04 has GLIBC_2.39 and GLIBCXX_3.4.33).
    If conda's or an old cross compiler is first on PATH, remove it (conda deactivate; CC=/usr/bin/gcc
    CXX=/usr/bin/g++), or install a build of that library for the older system.

[driver-library-not-linked]
keys =
    libcuda.so.1, needed by
    undefined reference to
pattern =
    libcuda\.so\.1, needed by (\S+), not found
    (?<!\S)([\w./+-]+\.so[\d.]*): undefined reference to 'cu[A-Z]\w+'
    undefined reference to '(cu[A-Z]\w+)'
values =
    advice of found: \S+\.so => Put the CUDA toolkit's stubs directory, with a link libcuda.so.1 to its libcuda.so (or
    + the compat directory), on the linker's LD_LIBRARY_PATH, or name it with -Wl,-rpath-link,DIR. -L and LIBRARY_PATH
    + do not apply to a library that another library needs
    advice of found: . => Link with -lcuda, with the CUDA toolkit's stubs directory on LIBRARY_PATH
    + (/usr/local/cuda/lib64/stubs)
cause = The linker does not find the driver's library libcuda.so.1 (for {found}), which a build container or a host
    without a driver does not have.
remedy = {advice}. Do this only for the build: at run time the driver provides the library.
source = ggml-org/llama.cpp#18022

[library-not-named]
keys = DSO missing from command line
pattern = (?P<library>\S+): error adding symbols: DSO missing from command line
cause = The program uses {library} directly, but is linked with it only through another library.
remedy = Link that library (-l…, or target_link_libraries), after the objects that use it.

[undefined-reference]
keys =
    undefined reference to
    undefined symbol:
pattern =
    undefined reference to '([^'\n]+)'
    lld: error: undefined symbol: ([^\n]+)
values =
    advice of found: (?:llvm|mlir|lld)::|vtable for (?:llvm|mlir)|typeinfo for (?:llvm|mlir) => Build LLVM and its user
    + with the same compiler and settings, at the commit that the user pins (Triton: cmake/llvm-hash.txt or
    + cmake/llvm-info.json; role llvm), in an empty directory; LLVM_ENABLE_RTTI and the C++ standard library must match
    advice of found: (?:cuda[A-Z]|__cuda) => Link CUDA's runtime after the objects: -L/usr/local/cuda/lib64 -lcudart,
    + or CUDA::cudart in CMake
    advice of found: cublas|cusolver|cusparse|cufft|curand|nvrtc => Link the CUDA library of that name after the
    + objects (such as -L/usr/local/cuda/lib64 -lcublas; CUDA::cublas in CMake)
    advice of found: omp_|GOMP_ => Add -fopenmp when compiling and when linking
    advice of found: pthread_|dl(?:open|sym)|shm_ => Add -pthread -ldl -lrt to the end of the link command
    advice of found: __aarch64_(?:cas|swp|ld) => Compile it with -mno-outline-atomics (CFLAGS and CXXFLAGS;
    + RUSTFLAGS=-Ctarget-feature=-outline-atomics), or link it with gcc 10 or newer, whose libgcc has them
    advice of found: __atomic_ => Add -latomic to the end of the link command
    advice of found: (?:std::)?filesystem => Use gcc 9 or newer, or add -lstdc++fs to the end of the link command
    advice of found: .*(?:__cxx11|basic_string) => Compile both sides with the same _GLIBCXX_USE_CXX11_ABI (1 in
    + PyTorch 2.6 and newer; torch.compiled_with_cxx11_abi() shows it)
    advice of found: (?:c10|at|torch)::|_ZN(?:3c10|2at|5torch) => Build against the installed PyTorch, in an empty
    + directory
    advice of found: (?:SSL|EVP|X509|BIO|RSA|EC|HMAC|OPENSSL|ERR|PEM|ASN1)_ => Install libssl-dev and link -lssl
    + -lcrypto after the objects (for cargo RUSTFLAGS="-l ssl -l crypto"), or use a release that links them itself
    advice of found: (?:(?:in|de)flate|gz(?:open|read|write|close)|crc32|adler32|(?:un)?compress\d?)(?:_|\d|$|[A-Z])
    + => Install zlib1g-dev and link -lz after the objects
    advice of found: (?:cblas_|[sdcz](?:gemm|gemv|axpy|dot|getrf|potrf|syev)_) => Link a BLAS after the objects
    + (-lopenblas of libopenblas-dev, or NVPL)
    advice of found: (?:png|jpeg|TIFF|curl|sqlite3|xml|av|sws|lzma|ZSTD|BZ2|numa|ibv|rdma|MPI)_ => Install the
    + development package of that library (the name's prefix shows which), and link it after the objects
    advice of found: Py[A-Z_]|_Py => Build it with maturin or setuptools, which leave Python's names to the
    + interpreter, or link that Python's library (python3-config --embed --ldflags)
    advice of found: (?:ggml|llama)_ => Its parts come from different versions, or the CUDA part was not compiled.
    + Clean the build (remove its directory, or make clean and go clean -cache), check that nvcc was found, and rebuild
    + everything
    advice of found: typeinfo for|vtable for => The class was compiled differently from its users (-frtti, another
    + release of the library). Rebuild everything against one installed version, in an empty directory
    advice of found: . => Find the library that should define it. It was built with other options or from another
    + version, or is not linked
cause = The linker does not find a definition of {found}.
remedy = {advice}.

[torch-shm-manager]
keys = bin/torch_shm_manager
pattern = (?:\*\*\* \[[^\]\n]*|FAILED: (?:\[code=\d+\] )?)(bin/torch_shm_manager)
cause = The link of {found} failed. This happens with a Python that this PyTorch does not support (3.14 with 2.9), and
    with USE_DISTRIBUTED=0 or other disabled parts.
remedy = Build with a Python that the tag supports, and without those options.
"""
