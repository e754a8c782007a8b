# __init__.py in this directory explains the fields.

"""Loading

Messages from the loader about a library that was built.
"""

RULES = r"""
[page-size]
keys =
    Unsupported system page size
    ELF load command alignment not page-aligned
pattern =
    (?P<what1>Unsupported system page size)
    (?P<library>[^\s:]+): (?P<what2>ELF load command alignment not page-aligned)
cause = The program or one of its libraries was built for memory pages of 4 KiB, but this kernel has larger pages
    ({what}[, {library}]), like Grace's 64k kernels.
remedy = Check getconf PAGESIZE. Use a release of the program that was built for 64 KiB pages on aarch64 or, if the
    machine allows it, boot the kernel with 4 KiB pages (without -64k in its name).
source = pytorch/pytorch#53357

[other-cuda-library]
keys =
    , version lib
pattern =
    symbol (?P<symbol2>\w+), version lib[\w.]+ not defined in file (?P<library2>lib[\w.]+) with link time reference
    undefined symbol: (?P<symbol>\w+), version (?P<library>lib(?:nvJitLink|cudart|cublas|cublasLt|cusparse|nvrtc|cufft
    +|cusolver)\.so\.\d+)
cause = The loader used another {library} than the program was built with; it has no {symbol}.
remedy = Remove other copies of {library} from LD_LIBRARY_PATH (also a toolkit's), so that the environment's own is
    loaded, or use a PyTorch for that library's CUDA minor version.
source = pytorch/pytorch#144244

[library-elsewhere]
keys = cannot open shared object file
pattern =
    (?<![\w./-])(?P<library>lib[\w+-]+\.so[.\d]*): cannot open shared object file(?s:.{0,1500}?)\n[
    + \t]*(?P<folder>/\S*)/(?P=library)[ \t]*$
cause = The library {library} exists in {folder}, but the loader does not look there.
remedy = Before the program starts, run export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH (for a service or image, set it
    in its environment), or write {folder} to a file in /etc/ld.so.conf.d and run sudo ldconfig.
source = sgl-project/sglang#5002

[cuda-12-library]
keys =
    .so.12: cannot open
    .so.12.
    .so.11: cannot open
    .so.11.0: cannot open
    .so.10: cannot open
pattern =
    (lib(?:cudart|cublas|cublasLt|nvblas|nvrtc|nvJitLink|cupti|npp\w+|nvjpeg)\.so\.1[12](?:\.\d)*): cannot open
    (lib(?:nvrtc-builtins\.so\.12\.\d+|cusolver\.so\.1[01]|cufft\.so\.1[01]|cusparse\.so\.1[01])): cannot open
values =
    advice of log_newest_cuda: . => Install the package's build for CUDA 13 (cu130 for PyTorch packages), build it from
    + source with CUDA 13's toolkit, or also install CUDA 12's library
    advice of log_newest_cuda: (?:) => If the machine has only CUDA 13, install the package's build for it (cu130 for
    + PyTorch packages) or build it from source; to use CUDA 12, install its library or find it (find / -name) and add
    + its directory to LD_LIBRARY_PATH
    wheel of found: libcudart\.so\.12 => nvidia-cuda-runtime-cu12
    wheel of found: libcublas\w*\.so\.12 => nvidia-cublas-cu12
    wheel of found: libnvrtc\S*\.so\.12 => nvidia-cuda-nvrtc-cu12
    wheel of found: libnvJitLink\.so\.12 => nvidia-nvjitlink-cu12
    wheel of found: libcupti\.so\.12 => nvidia-cuda-cupti-cu12
    wheel of found: libcusolver\.so\.11 => nvidia-cusolver-cu12
    wheel of found: libcufft\.so\.11 => nvidia-cufft-cu12
cause = The package was built for CUDA 12 or older: it needs {found}, which the loader does not find[; this log shows
    CUDA 13 ({log_newest_cuda})].
remedy = {advice}[; pip install {wheel} installs CUDA 12's library in an environment]. A link from .12 to .13 does not
    work.
source = vllm-project/vllm#36099

[cufile-without-librt]
keys = undefined symbol: shm_
pattern = libcufile\.so\.0: undefined symbol: (shm_(?:open|unlink))
cause = The wheels nvidia-cufile 1.15 for aarch64 (CUDA 13.0) use {found}, but do not link to librt, which has it.
remedy = Upgrade the wheel (pip install 'nvidia-cufile>=1.16', for CUDA 13.1), or start with LD_PRELOAD=librt.so.1.
source = NVIDIA/cuda-python#2313

[cuda-13-library]
keys = .so.13: cannot open
pattern = (lib(?:cudart|cublas|cublasLt|nvblas|nvrtc|nvJitLink|cupti|npp\w+|nvjpeg)\.so\.13): cannot open
when = log-shows-torch-of-cuda-12
cause = The package was built for CUDA 13: it needs {found}, but this log shows packages for CUDA 12 ({log_torch}).
remedy = Install one CUDA for both: PyTorch's build for CUDA 13, which includes the library (pip install
    --force-reinstall torch --index-url https://download.pytorch.org/whl/cu130, with torchvision and torchaudio), or the
    package's build for CUDA 12. Installing only the library leaves two CUDAs in one process.
source = vllm-project/vllm#52300

[cuda-13-library-of-extension]
keys = .so.13: cannot open
pattern = ImportError: (lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink)\.so\.13): cannot open
cause = The extension was built for CUDA 13: it needs {found}, which no package that is loaded before it provides. This
    happens if the environment's PyTorch is built for CUDA 12 or for the CPU.
remedy = Run python -c 'import torch; print(torch.__version__)'. Unless it prints +cu130 or newer, install that build
    (pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu130), which includes the
    library, or the extension's build for the printed CUDA. Otherwise import torch before the extension. Without
    PyTorch, install the library (package cuda-cudart-13-0 for libcudart).
source = vllm-project/vllm#52300

[cudss-soname]
keys = libcudss.so.0: cannot open
pattern = (libcudss\.so\.0): cannot open shared object file
cause = {found} is not found. cuDSS before 1.0 provides it; cuDSS 1.0 provides libcudss.so.1, which cannot replace it.
remedy = Install cuDSS 0.7.1 to 0.8.0 (role math_libraries, package libcudss0-cuda-13); elf_closure_info lists
    everything that is missing in one pass.

[driver-library-missing]
keys =
    libcuda.so.1: cannot open
    libnvidia-ml.so.1: cannot open
    couldn't find libnvidia-ml.so
    Failed to dlopen libcuda.so
    CUDA driver library cannot be found
    NVML Shared Library Not Found
    could not load NVML library
    nvml: Not Supported
    Failed to load libcuda.so
    open CUDA library libcuda.so.1
pattern =
    Couldn't open CUDA library (libcuda\.so\.1)
    (libcuda\.so\.1|libnvidia-ml\.so\.1): cannot open shared object file
    couldn't find (libnvidia-ml\.so) library
    RuntimeError: Failed to dlopen (libcuda\.so)
    (CUDA driver library) cannot be found
    LibraryNotFound: (NVML Shared Library) Not Found
    could not load (NVML library)
    panic: Fatal: (nvml): Not Supported
    Failed to load (libcuda\.so)
values =
    advice of log_image_build: . => An image's build has no driver: do not run a program there that needs it, or link
    + the stub for that step (ln -s /usr/local/cuda/lib64/stubs/libcuda.so /tmp/libcuda.so.1; LD_LIBRARY_PATH=/tmp)
    advice of found: NVML library => Check that nvidia-smi works on the host; give a Kubernetes pod NVIDIA's runtime
    + (runtimeClassName: nvidia, or sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default), and start
    + any other container with --gpus all
    advice of found: . => Run it on a host with the driver (nvidia-smi works there); start a container with --gpus all
    + (--runtime=nvidia) and the NVIDIA Container Toolkit, which adds the driver's libraries; this collection never
    + installs the driver
cause = {found} is not found: it belongs to the NVIDIA driver.
remedy = {advice}.
source = leejet/stable-diffusion.cpp#1352

[video-library-missing]
keys =
    libnvcuvid.so.1
    libnvidia-encode.so.1
    libnvidia-opticalflow.so.1
    Cannot load libcuda.so.1
pattern =
    (libnvcuvid\.so\.1|libnvidia-(?:encode|opticalflow)\.so\.1)
    Cannot load (libcuda\.so\.1)
cause = The driver's video library, {found}, is not found. This happens in a container that was started only for
    computing.
remedy = Start the container with --gpus all and -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,video (or all). On the
    host, install the driver's package that includes it (libnvidia-decode and libnvidia-encode of the driver's branch).

[opengl-missing]
keys =
    libGL.so.1: cannot open
    libgthread-2.0.so.0: cannot open
    libSM.so.6: cannot open
pattern = (libGL\.so\.1|libgthread-2\.0\.so\.0|libSM\.so\.6): cannot open shared object file
cause = OpenCV loads {found}, a desktop library, which is not installed, for example in a container without a desktop.
remedy = Install opencv-python-headless instead of opencv-python, or libgl1 and libglib2.0-0.

[mpi-library-missing]
keys = cannot open shared object file
pattern = (lib(?:mpi|mpicxx|mpi_cxx|mpi_mpifh|open-rte|open-pal)\.so\.\d+): cannot open shared object file
values =
    whose of found: libmpi\.so\.40 => Open MPI 3 to 5 (apt install libopenmpi-dev)
    whose of found: libmpi\.so\.12 => MPICH, Intel MPI or Open MPI 1.10
    whose of found: . => the MPI for which it was built
cause = The loader does not find {found} from the MPI for which mpi4py or the program was built: its directory is not on
    the loader's path, or another MPI is installed.
remedy = Find it (find / -name 'libmpi.so*') and add its directory to LD_LIBRARY_PATH (/usr/local/mpi/lib in NVIDIA's
    images), install {whose}, or build mpi4py for the installed MPI (pip install --force-reinstall --no-binary mpi4py
    mpi4py).
source = NVIDIA/TensorRT-LLM#167

[onnx-provider-missing]
keys =
    execution provider is not enabled in this build
    Failed to create CUDAExecutionProvider
    Failed to create TensorrtExecutionProvider
    Please install TensorRT libraries
pattern =
    (Please install TensorRT libraries)
    ((?:CUDA|TensorRT) execution provider is not enabled in this build)
    (Failed to create (?:CUDA|Tensorrt)ExecutionProvider)
values =
    without of found: .*TensorRT lib => does not find the TensorRT (libnvinfer.so) for which it was built
    without of found: . => was built without CUDA (like most builds for aarch64), or does not find the CUDA and cuDNN
    + for which it was built
cause = ONNX Runtime does not use the GPU as requested ({found}): it {without}.
remedy = Read the line above it, which names a missing library. Use a build for this CUDA and for aarch64 (the vendor's,
    or NVIDIA's for Jetson), or build ONNX Runtime here (--use_cuda, CMAKE_CUDA_ARCHITECTURES=121 on a Spark). Remove
    the package onnxruntime if onnxruntime-gpu is also installed.
source = pykeio/ort#456

[onnx-providers-not-given]
keys = you are required to explicitly set the providers parameter
pattern = This ORT build has (?P<providers>\[[^\]\n]+\]) enabled
cause = The program creates an ONNX Runtime session without naming providers. ONNX Runtime (1.9 and newer) requires them
    if it has more than the CPU; this build has {providers}.
remedy = Pass providers=["CUDAExecutionProvider", "CPUExecutionProvider"] to InferenceSession (only the second if the
    build has no CUDA), or use a newer release of the program.

[onnx-operator-missing]
keys = Could not find an implementation for
pattern = Could not find an implementation for (?P<operator>\w+\(\d+\)) node with name '(?P<node>[^'\n]*)'
cause = ONNX Runtime has no kernel for the operator {operator} (node {node}) with this data type on the chosen provider.
remedy = Upgrade onnxruntime, run such nodes on the CPU (CPUExecutionProvider as the last in the list), or export the
    model in another way (another opset; QDQ instead of integer operators; float32 instead of float16).

[onnx-export-operator]
keys = to ONNX opset version
pattern = Exporting the operator '(?P<operator>[^'\n]+)' to ONNX opset version (?P<opset>\d+) is not supported
cause = PyTorch's exporter does not support {operator} in ONNX opset {opset}.
remedy = Export with a newer opset (torch.onnx.export(…, opset_version=18, dynamo=True)), with a newer PyTorch, or with
    the operator replaced in the model (for attention, attn_implementation="eager").

[onnx-cuda-failure]
keys =
    CUDNN failure
    CUDNN_FE failure
    CUDA failure
    CUFFT failure
pattern = (?P<library>CUDNN|CUDNN_FE|CUDA|CUFFT) failure (?P<number>\d+): (?P<why>[^\n;]{1,160}?) ; GPU=
values =
    advice of why: .*(?:out of memory|ALLOC) => Leave more memory free, or limit ONNX Runtime's (the provider's
    + gpu_mem_limit)
    advice of why: .*(?:no kernel image|invalid device function|NOT_SUPPORTED|ARCH) => Use an onnxruntime-gpu built for
    + this GPU (CUDA 13; if built from source, CMAKE_CUDA_ARCHITECTURES=121)
    advice of why: .*(?:insufficient|driver) => Use the onnxruntime-gpu for the driver's CUDA, or update the driver
    advice of why: . => Use the onnxruntime-gpu for the installed CUDA and cuDNN, and remove others from LD_LIBRARY_PATH
cause = A call of {library} failed in ONNX Runtime ({number}): {why}.
remedy = {advice}. The model also runs on the CPU (CPUExecutionProvider).

[openmp-twice]
keys = OMP: Error #15
pattern = OMP: Error #15: Initializing (?P<first>\S+?), but found (?P<second>\S+) already initialized
cause = Two copies of the OpenMP library were loaded ({second} and {first}), because two packages include one each.
remedy = Install both packages from one source (both with conda-forge, or both with pip), and import torch first.
    KMP_DUPLICATE_LIB_OK=TRUE lets the program continue, but its results may be wrong.

[torch-not-imported-first]
keys = undefined symbol: THP
pattern = ([^\s'"(]+): undefined symbol: THP\w+
cause = {found} needs libraries that import torch loads, but is imported before it (or was built against another
    PyTorch).
remedy = Put import torch before its import. If that is not enough, rebuild it against the installed torch (pip install
    --no-build-isolation).
source = pytorch/pytorch#8036

[torch-cuda-library-not-found]
keys =
    libc10_cuda.so: cannot
    libtorch_cuda.so: cannot
    libtorch_cuda_linalg.so: cannot
    libtorch_cuda_cpp.so: cannot
    libtorch_cuda_cu.so: cannot
pattern = (lib(?:c10|torch)_cuda(?:_linalg|_cpp|_cu)?\.so): cannot open shared object file
cause = The loader does not find {found}, which only a PyTorch with CUDA includes. This environment has a CPU build
    (perhaps from a later installation), or the extension is imported before torch.
remedy = If python -c 'import torch; print(torch.__version__)' shows +cpu, reinstall the build for CUDA (pip install
    --force-reinstall torch --index-url https://download.pytorch.org/whl/cu130) and keep it in later installations (a
    constraint or uv's --override with that version, or --no-deps). Otherwise put import torch before the extension;
    + libtorch_cuda_cpp and _cu exist only
    in torch 1: install the extension's build for this torch.
source = eugr/spark-vllm-docker#263

[torch-library-not-found]
keys =
    libc10.so: cannot
    libtorch.so: cannot
    libtorch_cpu.so: cannot
    libtorch_python.so: cannot
    libarm_compute
pattern =
    (lib(?:c10|torch(?:_cpu|_python)?|arm_compute\w*)\.so): cannot open shared object file
cause = The loader does not find {found}, a part of PyTorch. The extension is imported before torch, or in an
    environment whose PyTorch lacks it (another build or version).
remedy = Put import torch before the import of the extension. If it is there already, build or install the extension for
    this environment's PyTorch (pip install --no-build-isolation --no-binary :all: NAME). If torch itself lacks it, its
    wheel is damaged or a nightly: install a release.
source = pytorch/pytorch#162566

[system-library-not-found]
keys = cannot open shared object file
pattern =
    (?<![\w./-])(lib(?:sndfile|portaudio|openblas|lapack|gfortran|gomp|numa|ibverbs|rdmacm|aio|tbb|hwloc|sox|curl|ssl|c
    +rypto|crypt|ffi|tinfo|ncurses|X11|Xext|Xrender|Xi|xcb[\w-]*|EGL|GLX|OpenGL|GLU|vulkan|asound|pulse|zmq|python3\.\d
    ++|OpenCL|xml2|nl-3|nl-route-3|pci|unwind|espeak-ng|hdf5[\w-]*|magic|cairo|pango[\w.-]*|gobject-2\.0|glib-2\.0|usb-
    +1\.0|uv|yaml-cpp|geos_c|spatialindex_c|nvinfer\w*|nvonnxparser|t[ck]l?8\.6)[\w.-]*\.so[\w.]*): cannot open
values =
    package of found: libcrypt\.so\.2 => a build of the program for this distribution: Fedora and related ones have
    + libcrypt.so.2, Ubuntu and Debian have libcrypt.so.1
    package of found: libcrypt\. => libcrypt1
    package of found: libsndfile => libsndfile1
    package of found: libt[ck] => python3-tk
    package of found: libnvinfer\w*\.so\.\d$ => a build of the program for TensorRT 10, the first that supports a GB10
    package of found: lib(?:nvinfer|nvonnxparser) => TensorRT (libnvinfer10, or tensorrt-cu13 with pip)
    package of found: libportaudio => libportaudio2
    package of found: libopenblas => libopenblas0
    package of found: liblapack => liblapack3
    package of found: libgfortran => libgfortran5
    package of found: libgomp => libgomp1
    package of found: libnuma => libnuma1
    package of found: libibverbs => libibverbs1 and ibverbs-providers
    package of found: librdmacm => librdmacm1
    package of found: libaio => libaio1t64, with a link libaio.so.1 to its libaio.so.1t64
    package of found: libtbb => libtbb12
    package of found: libhwloc => libhwloc15
    package of found: libsox => libsox3
    package of found: libcurl => libcurl4
    package of found: lib(?:ssl|crypto)\.so\.1 => a build of the program for OpenSSL 3, because Ubuntu 22.04 and newer
    + have no OpenSSL 1.1
    package of found: libssl|libcrypto => libssl3
    package of found: libffi\.so\.[67] => a build of the program for libffi.so.8, which Ubuntu 24.04 has
    package of found: lib(?:tinfo|ncurses)\w*\.so\.5 => a build of the program for ncurses 6, which Ubuntu 24.04 has
    package of found: libX11 => libx11-6
    package of found: libXext => libxext6
    package of found: libXrender => libxrender1
    package of found: libxcb => libxcb1 and libxcb-cursor0
    package of found: libEGL => libegl1
    package of found: lib(?:GLX|OpenGL) => libgl1 and libopengl0
    package of found: libGLU => libglu1-mesa
    package of found: libvulkan => libvulkan1
    package of found: libasound => libasound2t64
    package of found: libpulse => libpulse0
    package of found: libzmq => libzmq5
    package of found: libpython3 => that Python's shared library (apt's libpython3.12 for 3.12; for conda, pyenv and uv,
    + the lib directory of that Python on LD_LIBRARY_PATH)
    package of found: libOpenCL => ocl-icd-libopencl1
    package of found: libxml2 => libxml2
    package of found: libespeak => libespeak-ng1
    package of found: libmagic => libmagic1
    package of found: libhdf5 => libhdf5-dev
    package of found: libglib|libgobject => libglib2.0-0
    package of found: . => the package that includes it (apt-file search finds it)
cause = The system library {found} is not installed where the program runs.
remedy = Install {package} (for a container, in its image) or, if the library is installed, add its directory to
    LD_LIBRARY_PATH.
source = pytorch/builder#1895

[library-of-old-cuda]
keys = cannot open shared object file
pattern =
    (lib(?:cudart\.so\.(?:[789]|10)\.\d|cublas(?:Lt)?\.so\.(?:[789]|10)|cusolver\.so\.10|cusparse\.so\.10|cufft\.so\.(?
    +:9|10)|cudnn\w*\.so\.[5-8]|nvinfer\w*\.so\.[5-8]))(?:\.\d+)*: cannot open
cause = The program was built for an old CUDA or cuDNN: it needs {found}, which no CUDA for current GPUs includes.
remedy = Use a current build of the program for CUDA 13 (for TensorFlow, NVIDIA's image or a newer release), or build it
    from source. Installing the old library does not help, because it has no code for this GPU.
source = iot-salzburg/gpu-jupyter#25

[library-without-number]
keys = .so: cannot open shared object file
pattern =
    (?P<library>lib(?:nvrtc|nvrtc-builtins|cudart|cublas|cublasLt|cudnn\w*|nvJitLink|cufft|cusolver|cusparse|cusparseLt
    +|curand|cupti|nccl|nvToolsExt|nvjpeg|npp\w+|cufile|nvinfer\w*)\.so): cannot open shared object file
cause = The program opens {library}, the name without a number, which only the toolkit's development files have. In
    pip's packages and in runtime images, the file name has a number.
remedy = Find the number (find / -name '{library}.*' 2>/dev/null), then create a link without it in the same directory
    (ln -s {library}.13 {library}) and add the directory to LD_LIBRARY_PATH. Or add a toolkit with development files to
    it (/usr/local/cuda/lib64), or use a newer release of the program, which opens the name with the number.
source =
    pytorch/pytorch#162252
    pytorch/pytorch#162367

[library-name-damaged]
keys = cannot open shared object file
pattern = ImportError: (?P<name>[^\s\w./][^\s/.]{0,20}): cannot open shared object file
cause = A library of a Python package is damaged: it requires another library named {name}.
remedy = Reinstall the package without the cache (pip install --no-cache-dir --force-reinstall); the traceback's last
    line names its file. Check that the disk is not full and that no tool rewrote the file (patchelf, strip).
source = cupy/cupy#7565

[library-not-readable]
keys = error while loading shared libraries
pattern = error while loading shared libraries: (?P<library>[^\s:]+): cannot (?:stat|open) shared object(?: file)?:
    + (?P<why>Permission denied)
cause = The program may not read its library {library}, which is there ({why}).
remedy = Look at the rights of the file and of each directory above it (namei -l PATH); in a container it is a security
    profile or the storage below: restart docker after an upgrade of AppArmor or of the kernel, try --security-opt
    apparmor=unconfined once to see, label mounts with :z where SELinux runs, and pull the image again.
source = moby/moby#18948

[library-not-found]
keys = cannot open shared object file
pattern = ([^\s/:'"(\[]+\.so[\w.]*): cannot open shared object file
unless =
    libibverbs: Warning
    conda entry point
library = yes
cause = The shared library {found} is not found. {hint}
values =
    wheel of found: libcusparseLt => nvidia-cusparselt-cu13
    wheel of found: libnvshmem => nvidia-nvshmem-cu13
    wheel of found: libcudnn\w*\.so\.9 => nvidia-cudnn-cu13
    wheel of found: libnccl => nvidia-nccl-cu13
    wheel of found: libcudart\.so\.13 => nvidia-cuda-runtime
    wheel of found: libnvrtc\S*\.so\.13 => nvidia-cuda-nvrtc
    wheel of found: libcublas\S*\.so\.13 => nvidia-cublas
    wheel of found: libnvJitLink\.so\.13 => nvidia-nvjitlink
    wheel of found: libcusparse\.so => nvidia-cusparse
    wheel of found: libcusolver\S*\.so\.12 => nvidia-cusolver
    wheel of found: libcufft\S*\.so\.12 => nvidia-cufft
    wheel of found: libcurand => nvidia-curand
    wheel of found: libcupti\.so\.13 => nvidia-cuda-cupti
    wheel of found: libcufile => nvidia-cufile
    wheel of found: libnpp => nvidia-npp
    wheel of found: libnvjpeg => nvidia-nvjpeg
    wheel of found: librmm\.so => librmm-cu13
    wheel of found: libcudf\.so => libcudf-cu13
    wheel of found: libcuml\S*\.so => libcuml-cu13
    wheel of found: libcugraph\S*\.so => libcugraph-cu13
    wheel of found: libcuvs\S*\.so => libcuvs-cu13
    wheel of found: libraft\.so => libraft-cu13
remedy = Install it{ways}[, in a Python environment with pip install {wheel}] or, if it is installed, add its directory
    to LD_LIBRARY_PATH. elf_closure_info lists everything that is missing in one pass; the loader stops at the first.

[cupy-not-imported]
keys = Failed to import CuPy
pattern = Failed to import CuPy[\s\S]{0,1200}?Original error:\s*(?P<why>[^\n]*[^\n.])
cause = CuPy could not load its compiled part: {why}.
remedy = Remove every CuPy (pip list | grep -i cupy; pip uninstall each), then install the one for the installed CUDA,
    with its libraries (pip install "cupy-cuda13x[ctk]"). Remove any other CUDA from LD_LIBRARY_PATH.
source = LipingYi/QSFL#1

[libc-too-old]
keys =
    not found (required by
    version `GLIBC
    version `CXXABI
    , version GLIBC
pattern =
    symbol \w+, version (?P<version2>GLIBC\w*_[\d.]+) not defined in file (?P<file2>\S+)
    (?P<file>[^\s'\"(]+): version '(?P<version>[A-Z]\w+_[\d.]+)' not found(?: \(required by (?P<user>[^)\n]+)\))?
cause = {file} does not have {version}[, with which {user} was built]: this system's or environment's copy is older.
remedy = If the file comes from a conda environment or LD_LIBRARY_PATH, replace that older copy (conda install -c
    conda-forge libstdcxx-ng) or put the system's first. Otherwise run the program on a newer system (Ubuntu 24.04 has
    glibc 2.39 and GLIBCXX 3.4.33), or build it on the oldest system on which it must run.
source = Dao-AILab/flash-attention#879

[preload-asked-for]
keys = some shared libraries must be loaded
pattern =
    some shared libraries must be loaded\s+before the start of the Python interpreter[^\n]*\n(?:[^\n]*\n){0,3}?[
    +^\n]*LD_PRELOAD=[^\n]*?(?P<library>/[^\s:'\n]+\.so[.\d]*)
cause = On aarch64, Isaac Sim starts only if {library} is preloaded, because its own libraries otherwise use up the
    static TLS block.
remedy = Run export LD_PRELOAD={library} first, or use a release of Isaac Lab whose isaaclab.sh does this.
source = isaac-sim/IsaacLab#6458

[static-tls]
keys =
    static TLS block
    with static TLS
pattern =
    cannot load any more object with static TLS
    (?:(?<![^\s:'"])(?P<file>[^\s:'"]{1,300}\.so[.\d]{0,20}): )?cannot allocate memory in static TLS block
values = system of file: .*libgomp => /lib/aarch64-linux-gnu/libgomp.so.1
cause = A library[, {file},] was loaded after others had used up the static TLS block, which holds thread-local storage.
    This is not a lack of memory.
remedy = Import the package that includes the library (torch, sklearn, cv2) before all others[; or preload the library
    before Python starts: export LD_PRELOAD={file}][, or the system's own {system}]. Usually it is libgomp.
source = NVIDIA/DALI#5519

[library-not-mapped]
keys = failed to map segment from shared object
pattern = (?:(?<![^\s:'"])(?P<file>[^\s:'"]{1,300}\.so[.\d]{0,20}): )?failed to map segment from shared
    + object(?P<refused>: (?:Operation not permitted|Permission denied))?
values =
    advice of refused: . => The file is on a file system that forbids programs (mount option noexec, often /tmp): unpack
    + it elsewhere (export TMPDIR=$HOME/tmp), or mount that with exec
    advice of refused: (?:) => Memory or its limit is exhausted (ulimit -v, the container's limit, free -h), the file is
    + truncated (install it again), or it is on a file system with noexec, often /tmp (export TMPDIR=$HOME/tmp)
cause = The loader could not map a library[, {file},] into memory.
remedy = {advice}.
source = https://man7.org/linux/man-pages/man2/mmap.2.html

[nccl-of-another-torch]
keys = undefined symbol: nccl
pattern = ([^\s'\"(]+): undefined symbol: (?P<symbol>nccl\w+)
cause = {found} needs {symbol}, but the loaded NCCL is older than the one with which it was built.
remedy = Install the nvidia-nccl-cu13 that this torch pins, uninstall the nvidia-nccl for another CUDA (pip list shows
    them), and remove any other libnccl.so.2 (an apt package's, HPC-X's) from LD_LIBRARY_PATH and LD_PRELOAD.
source = pytorch/pytorch#119072

[llvm-target-missing]
keys = undefined symbol: LLVMInitialize
pattern = (?P<library>[^\s'"(]+): undefined symbol: LLVMInitialize(?P<target>[A-Z][A-Za-z0-9]*?)(?:Target|AsmP)
cause = {library} was linked against another LLVM than it was configured for, one without the target {target}.
remedy = Build it in an empty directory against the LLVM that it pins (Triton: cmake/llvm-hash.txt; role llvm), with the
    targets that it names (-DLLVM_TARGETS_TO_BUILD="host;NVPTX;AMDGPU" for Triton, all for a project that uses every
    one), so that no other LLVM is found.
source = triton-lang/triton#3644

[undefined-own-symbol]
keys = undefined symbol: _Z
pattern =
    (?P<file>[^\s'"(]*/(?P<package>[a-z]\w{2,39})/[^\s'"(]*): undefined symbol:
    + (?P<symbol>_ZT?[A-Z]*N?K?\d+(?P=package)\w*)
cause = {file} needs a symbol of {package} itself ({symbol}): its libraries come from different releases or builds.
remedy = Uninstall it until pip finds none (pip uninstall -y, twice), delete what is left of its directory in
    site-packages, and install one release (pip install --no-cache-dir). If you built it, build it in an empty
    + directory.
source = microsoft/onnxruntime#28432

[symbol-not-in-library]
keys = not found in library '
pattern = symbol '(?P<symbol>\w+)' not found in library '(?P<library>[^'\n]+)'
cause = {library} has no {symbol}: it is of another version than the Python package that calls it.
remedy = Install both from one release (for RAPIDS, all packages of one release with one suffix, such as -cu13), and
    delete leftovers of an older one from site-packages.
source = NVIDIA/cudf#4952

[undefined-symbol]
keys = undefined symbol
unless = lld: error
pattern = (?P<file>[^\s'\"(]+): undefined symbol: (?P<symbol>[^\s,]+)
values =
    advice of file: \S*/(?:\.triton|triton|torch_extensions|torchinductor\w*|flashinfer|tvm-ffi)/ => A program compiled
    + it on this host and keeps it in a cache: delete that directory, and start again where the current libraries are
    + found (for cu…, the driver's libcuda.so.1, which ldconfig -p must list, not the toolkit's stub)
    advice of symbol: cu[A-Z] => The driver has this function: let the loader find libcuda.so.1 (ldconfig -p | grep
    + libcuda; a container with --gpus all), or link the library with -lcuda; a driver that is too old lacks new
    + functions
    advice of symbol: __cudaRegisterLinkedBinary => Its device code was compiled for linking (-rdc=true) but not linked:
    + build it from a clean directory with its own setup (nvcc -dlink, and for NVSHMEM libnvshmem_device), or use its
    + wheel
    advice of symbol: (?:__)?cuda[A-Z] => The function belongs to another version of the CUDA runtime: rebuild it with
    + the toolkit in use, or install its build for this CUDA
    advice of symbol: (?:cublas|cudnn|cusparse|cusolver|cufft|curand|nvrtc|nvJitLink|__nvJitLink|nvml|nvtx) => The
    + function belongs to an NVIDIA library, of which another version is loaded: look for a second copy
    + (LD_LIBRARY_PATH, pip's nvidia-* packages, /usr/lib/aarch64-linux-gnu; LD_DEBUG=libs shows which is loaded), and
    + keep the one that fits
    advice of symbol: (?:gbm_|egl[A-Z]|gl[A-Z]|wl_|drm[A-Z]|va[A-Z]|vk[A-Z]|g_|gtk_) => The function belongs to the
    + system's graphics or desktop libraries (Mesa's libgbm1, libegl1, libdrm2, libglib2.0), which are older than the
    + program: use the program's build for this release of the system, or update the libraries
    advice of symbol: _ZN?K?St|_ZNKSt|__cxa_ => The function belongs to the C++ library: the loaded libstdc++.so.6 is
    + older than the compiler. In conda, run conda install -c conda-forge libstdcxx-ng; otherwise remove older copies
    + from LD_LIBRARY_PATH, or start with LD_PRELOAD set to the system's libstdc++.so.6
    advice of symbol: _ZN8pybind116detail11type_casterIN2at => Link it with torch's Python library too: in CMake
    + find_library(TORCH_PYTHON torch_python PATHS "$TORCH_INSTALL_PREFIX/lib"), or build it with
    + torch.utils.cpp_extension, which does so
    advice of symbol: _?Py[A-Z_] => It was built for another Python: install its build for this one, or rebuild it
    advice of symbol: . => Rebuild it against the installed libraries, or install its build for their versions; ldd
    + shows which it loads
cause = {file} needs a symbol that no loaded library has ({symbol}): it was built against another version of a library,
    or was not linked with the library that has it.
remedy = {advice}.
source = loscrossos/crossOS_acceleritor#4

[operators-not-loaded]
keys =
    '_OpNamespace' '
    No module named 'vllm._
pattern =
    '_OpNamespace' '(?P<names1>\w+)' object has no attribute '(?P<operator>\w+)'
    Error: No module named '(?P<names2>vllm\._\w+)
cause = The compiled operators {names} are not loaded[, or lack {operator}]: their import failed earlier, or they come
    from another release than the package's Python files.
values =
    advice of log_checkout: . => Python imports vLLM's source directory, which was not built (No module named
    + vllm._version), instead of the installed one: start it from another directory (cd ~) and take that one off
    + PYTHONPATH, or build it there (pip install -e . --no-build-isolation)
    advice of names: . => Look for an earlier line that says which import failed (for vLLM: Failed to import from
    + vllm._C) and why. If there is none, remove the package with its old compiled files, and reinstall or rebuild it
remedy = {advice}.
source = vllm-project/vllm#6478
"""
