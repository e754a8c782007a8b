# __init__.py in this directory explains the fields.

"""JAX, TensorFlow, CuPy, Numba and Warp

CUDA messages from these libraries, which find and compile CUDA code on their own.
"""

RULES = r"""
[numba-driver-library]
keys =
    driver missing function: cu
    _CUDA_DRIVER
pattern =
    CudaDriverError: driver missing function: (?P<function>cu\w+)
    ValueError: (?P<variable>NUMBA(?:PRO)?_CUDA_DRIVER) (?P<path>\S+) is not a valid file path
values =
    what of function: . => the library that it took for the driver's has no
    what of variable: . => no file is at the path of
cause = Numba cannot use the CUDA driver: {what} [{function}][{variable} ({path})].
remedy = Unset NUMBA_CUDA_DRIVER (of old releases NUMBAPRO_CUDA_DRIVER), or let it name the driver's own library
    (ldconfig -p | grep libcuda.so.1), not the runtime's libcudart or a stub, as the process itself sees it.
source = numba/numba#3963

[xla-ptxas-old]
keys =
    failed to get PTX kernel
    not find the corresponding function
pattern =
    failed to get PTX kernel '(?P<kernel>[^'\n]+)' from module
    Could not find the corresponding (?P<kernel2>function)
when = log-shows-old-ptxas
cause = XLA's kernels ({kernel}) were compiled by a ptxas that does not know this GPU: {log_old_ptxas}.
remedy = Put the bin directory of a newer CUDA first on PATH (13 for a GB10), or install jax[cuda13], whose wheels
    bring a ptxas of their own, and start again.
source = jax-ml/jax#6046

[xla-no-temporary-file]
keys = get temp CUBIN file name
pattern = (couldn't get temp CUBIN file name)
cause = XLA could not make a temporary file for ptxas ({found}): the directory is not there, is full, or may not be
    written.
remedy = Look at the directory in TMPDIR, or else at /tmp (df -h, df -i; ls -ld /tmp shows drwxrwxrwt), make room,
    or set TMPDIR to a directory of your own on a local disk.
source = jax-ml/jax#11190

[cupy-headers-missing]
keys = cannot open source file
pattern =
    /cupy/\S{0,200}\(\d+\): (?:catastrophic )?error: cannot open source file '(?P<header1>[^'\n]+)'
    error: cannot open source file '(?P<header2>[^'\n]+)'(?s:.{0,400}?)\.cubin\.cu
cause = CuPy compiles a kernel when it is first used, and NVRTC does not find CUDA's header {header}: the wheel of CuPy
    brings none.
remedy = Install CUDA's headers beside it (pip install "cupy-cuda13x[ctk]"), or point CUDA_PATH at the toolkit (export
    CUDA_PATH=/usr/local/cuda); CuPy and the toolkit must have the same CUDA major version.
source = NVIDIA/cccl#10060

[nvvm-arch-unknown]
keys = is an unsupported option
pattern = libnvvm : error: -arch=(compute_\d+\w?) is an unsupported option
cause = The libNVVM that Numba found does not know {found}: its CUDA toolkit is older than the GPU (12.1 needs CUDA
    12.9), or no longer supports it.
remedy = Install Numba's CUDA target with a toolkit of its own (pip install "numba-cuda[cu13]"), or point CUDA_HOME at
    CUDA 13 (/usr/local/cuda).
source = https://nvidia.github.io/numba-cuda/user/installation.html

[numba-no-nvvm]
keys =
    libNVVM cannot be found
    No supported GPU compute capabilities found
pattern =
    (libNVVM cannot be found)
    (No supported GPU compute capabilities found)
cause = Numba does not find a CUDA toolkit that it can use ({found}).
remedy = Install one with it (pip install "numba-cuda[cu13]"; conda install -c conda-forge numba-cuda cuda-version=13),
    or point CUDA_HOME at the toolkit of this host (export CUDA_HOME=/usr/local/cuda); numba -s shows what it finds.
source = https://nvidia.github.io/numba-cuda/user/installation.html

[jax-library-older]
keys = but JAX was built against version
pattern =
    Found (?P<library>\w+) version (?P<have>\d+), but JAX was built against version (?P<need>\d+)
cause = JAX was built with {library} {need}, and the loader took {have}, which is older: mostly a toolkit's own copy on
    LD_LIBRARY_PATH, or another package's.
remedy = Unset LD_LIBRARY_PATH and start again; otherwise upgrade JAX and NVIDIA's packages in one command (pip install
    -U "jax[cuda13]").
source = jax-ml/jax#18027

[jax-no-cuda]
keys =
    Unable to initialize backend 'cuda'
    Unknown backend: '
pattern =
    Unknown backend: '(?:gpu|cuda)' requested, but (?P<why2>no platforms[^\n.]{1,100})
    Unable to initialize backend 'cuda': (?P<why>[^\n(]{1,160})
cause = JAX found no CUDA that it can use: {why}.
remedy = Install JAX with its CUDA plugin for aarch64 in one command (pip install -U "jax[cuda13]"), keep other CUDA
    libraries off LD_LIBRARY_PATH, and check that nvidia-smi works there.
source = jax-ml/jax#29068

[jax-memory]
keys =
    RESOURCE_EXHAUSTED
    OOM when allocating tensor
pattern =
    OOM when allocating tensor with (?P<size2>shape\[[\d,]*\])
    RESOURCE_EXHAUSTED: (?:Out of memory|[\w ]*memory)[^\n]*?allocat\w+ (?P<size>[\d.]+ ?\w*)
cause = XLA (JAX or TensorFlow) got no memory for {size}; it takes 75 % of the GPU's memory at its start, which on a
    GB10 is the host's.
remedy = Set XLA_PYTHON_CLIENT_PREALLOCATE=false, or XLA_PYTHON_CLIENT_MEM_FRACTION=0.5, end other programs, and use
    smaller batches.
source = marin-community/marin#2142

[xla-libdevice]
keys = libdevice not found at
pattern = libdevice not found at (\S+?)[.,]?(?=\s|$)
cause = XLA (TensorFlow or JAX) does not find libdevice.10.bc of a CUDA toolkit, which it needs to compile kernels.
remedy = Install it in the environment (conda install -c conda-forge cuda-nvcc, or pip install nvidia-cuda-nvcc), or
    name the toolkit: export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda.
source = tensorflow/tensorflow#58681

[xla-no-ptxas]
keys = No PTX compilation provider is available
pattern = (No PTX compilation provider is available)
cause = XLA (JAX or TensorFlow) finds neither ptxas nor nvJitLink, which turn its kernels into code for the GPU.
remedy = Install them in the environment (JAX: pip install -U "jax[cuda13]"; otherwise pip install nvidia-cuda-nvcc), or
    put the toolkit's ptxas on the path (export PATH=/usr/local/cuda/bin:$PATH).
source = PRONTOLab/GB-25#7

[xla-no-cudnn]
keys = DNN library is not found
pattern = (DNN library is not found)
cause = XLA or TensorFlow could not load or start cuDNN: it is missing, older than the one of the build, or the GPU's
    memory was used up when it started.
remedy = Read the lines of cuda_dnn.cc above, which say which cuDNN was loaded; install the one of the package with it
    (JAX: pip install -U "jax[cuda13]"; TensorFlow: an image of nvcr.io/nvidia/tensorflow), and keep others off
    LD_LIBRARY_PATH.
source = stardist/stardist#228

[cuda-library-hollow]
keys = symbol not found
pattern =
    (?P<symbol>(?:cuda|cudnn|cublas(?:Lt)?|cusolver(?:Dn)?|cusparse|cufft|nccl|nvrtc|cu(?=[A-Z]))[A-Z]\w+) symbol not
    + found
cause = The program loads CUDA's libraries when it starts, and {symbol} was in none of those that it found: a library is
    missing, or one of another CUDA comes first.
remedy = Install the program with the CUDA that it was built for (of JAX "jax[cuda13]", with its own libraries), and
    take another toolkit off LD_LIBRARY_PATH; where it is to use the toolkit, let PATH and LD_LIBRARY_PATH name the one
    of its version.
source = jax-ml/jax#11828

[jax-dnn-not-started]
keys = DNN library initialization failed
pattern = (DNN library initialization failed)
uncertain = yes
cause = JAX could not start cuDNN ({found}): mostly no memory is left for it, since JAX takes three quarters of the
    GPU's at its start (on a GB10 the host's own), or another cuDNN is loaded than its own.
remedy = Set XLA_PYTHON_CLIENT_PREALLOCATE=false or XLA_PYTHON_CLIENT_MEM_FRACTION=.5, end other programs on the GPU,
    and keep other copies of libcudnn off LD_LIBRARY_PATH.
source = https://docs.jax.dev/en/latest/gpu_memory_allocation.html

[cupy-of-another-cuda]
keys =
    Failed to import CuPy
    CuPy failed to load
pattern =
    Failed to import CuPy\.(?s:.{0,1200}?)(?P<library1>lib\w+\.so\.\d[\d.]*): cannot open shared object file
    CuPy failed to load (?P<library2>lib\w+\.so\.\d[\d.]*)
values =
    advice of library: lib(?:(?:nvrtc|cudart|cublas\w*|cusparse|nvJitLink)\.so\.12|(?:cusolver|cufft)\.so\.11) => This
    + is the CuPy for CUDA 12: remove it (pip uninstall cupy-cuda12x) and install the one for CUDA 13 with CUDA's
    + libraries (pip install "cupy-cuda13x[ctk]")
    advice of library: . => Install CuPy with CUDA's libraries (pip install "cupy-cuda13x[ctk]"), or add those of the
    + toolkit to LD_LIBRARY_PATH (/usr/local/cuda/lib64)
cause = CuPy needs {library}, which is not found.
remedy = {advice}; one CuPy alone may be installed.
source = NVIDIA/cccl#10060

[warp-older-than-driver]
keys =
    a suitable driver entry point was not found
    Failed to get driver entry point
pattern =
    Warp CUDA error: Function (?P<call>\w+): a suitable driver entry point was not found
    Warp CUDA error: Failed to get driver entry point '(?P<call2>\w+)'
cause = Warp does not find the driver's function {call}: mostly a Warp for CUDA 12 (1.7 and older) on a driver of R580
    or newer, which is a GB10's.
remedy = Upgrade it (pip install -U warp-lang, 1.10 or newer; of Isaac Sim or Isaac Lab, the release that brings it); if
    no device is listed after that, check that nvidia-smi works there.
source = NVIDIA/warp#940
"""
