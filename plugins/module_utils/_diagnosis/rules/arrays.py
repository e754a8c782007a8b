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
    what of function: . => the library that it loaded as the driver's has no
    what of variable: . => there is no file at the path in
cause = Numba cannot use the CUDA driver: {what} [{function}][{variable} ({path})].
remedy = Unset NUMBA_CUDA_DRIVER (in old releases NUMBAPRO_CUDA_DRIVER), or set it to the driver's own library as the
    process sees it (ldconfig -p | grep libcuda.so.1), not to the runtime's libcudart or a stub.
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
    include their own ptxas, and start again.
source = jax-ml/jax#6046

[xla-no-temporary-file]
keys = get temp CUBIN file name
pattern = (couldn't get temp CUBIN file name)
cause = XLA could not create a temporary file for ptxas ({found}): the directory does not exist, is full, or is not
    writable.
remedy = Check the directory in TMPDIR, or else /tmp (df -h, df -i; ls -ld /tmp shows drwxrwxrwt). Free space, or set
    TMPDIR to your own directory on a local disk.
source = jax-ml/jax#11190

[cupy-headers-missing]
keys = cannot open source file
pattern =
    /cupy/\S{0,200}\(\d+\): (?:catastrophic )?error: cannot open source file '(?P<header1>[^'\n]+)'
    error: cannot open source file '(?P<header2>[^'\n]+)'(?s:.{0,400}?)\.cubin\.cu
cause = CuPy compiles a kernel on first use, but NVRTC does not find CUDA's header {header}: CuPy's wheel does not
    include it.
remedy = Install CUDA's headers with it (pip install "cupy-cuda13x[ctk]"), or point CUDA_PATH at the toolkit (export
    CUDA_PATH=/usr/local/cuda). CuPy and the toolkit must have the same CUDA major version.
source = NVIDIA/cccl#10060

[nvvm-arch-unknown]
keys = is an unsupported option
pattern = libnvvm : error: -arch=(compute_\d+\w?) is an unsupported option
cause = The libNVVM that Numba found does not support {found}: its CUDA toolkit is older than the GPU (12.1 needs CUDA
    12.9), or no longer supports it.
remedy = Install Numba's CUDA target with its own toolkit (pip install "numba-cuda[cu13]"), or point CUDA_HOME at CUDA
    13 (/usr/local/cuda).
source = https://nvidia.github.io/numba-cuda/user/installation.html

[numba-no-nvvm]
keys =
    libNVVM cannot be found
    No supported GPU compute capabilities found
pattern =
    (libNVVM cannot be found)
    (No supported GPU compute capabilities found)
cause = Numba does not find a usable CUDA toolkit ({found}).
remedy = Install one with it (pip install "numba-cuda[cu13]"; conda install -c conda-forge numba-cuda cuda-version=13),
    or point CUDA_HOME at the toolkit of this host (export CUDA_HOME=/usr/local/cuda). numba -s shows the toolkit that
    Numba finds.
source = https://nvidia.github.io/numba-cuda/user/installation.html

[jax-library-older]
keys = but JAX was built against version
pattern =
    Found (?P<library>\w+) version (?P<have>\d+), but JAX was built against version (?P<need>\d+)
cause = JAX was built with {library} {need}, but the older {have} was loaded, usually a toolkit's copy on
    LD_LIBRARY_PATH, or another package's.
remedy = Unset LD_LIBRARY_PATH and start again. If this does not help, upgrade JAX and NVIDIA's packages in one command
    (pip install -U "jax[cuda13]").
source = jax-ml/jax#18027

[jax-no-cuda]
keys =
    Unable to initialize backend 'cuda'
    Unknown backend: '
    versions_helpers.cc
pattern =
    Unknown backend: '(?:gpu|cuda)' requested, but (?P<why2>no platforms[^\n.]{1,100})
    Unable to initialize backend 'cuda': (?P<why>[^\n(]{1,160})
    versions_helpers\.cc:\d+: (?P<why3>operation cuInit\(0\) failed: [^\n;]{1,100})
cause = JAX found no usable CUDA: {why}.
remedy = Install JAX with its CUDA plugin for aarch64 in one command (pip install -U "jax[cuda13]"), keep other CUDA
    libraries off LD_LIBRARY_PATH, and check that nvidia-smi works.
source = jax-ml/jax#29068

[jax-cuda-library-missing]
keys = library was not found.
pattern = operation (?P<call>\w+)\([^\n)]*\) failed: The (?P<library>\w+) library was not found
cause = JAX's CUDA plugin does not find {library}: its NVIDIA packages are missing, or LD_LIBRARY_PATH names another
    CUDA's libraries.
remedy = Run unset LD_LIBRARY_PATH, and install JAX with its own libraries (pip install -U "jax[cuda13]", or [cuda12]
    for a plugin xla_cuda12), in an environment without another CUDA's packages.
source = jax-ml/jax#30050

[jax-memory]
keys =
    RESOURCE_EXHAUSTED
    OOM when allocating tensor
pattern =
    OOM when allocating tensor with (?P<size2>shape\[[\d,]*\])
    RESOURCE_EXHAUSTED: (?:Out of memory|[\w ]*memory)[^\n]*?allocat\w+ (?P<size>[\d.]+ ?\w*)
cause = XLA (JAX or TensorFlow) could not allocate {size}. It reserves 75 % of the GPU's memory at its start, which on a
    GB10 is the host's.
remedy = Set XLA_PYTHON_CLIENT_PREALLOCATE=false, or XLA_PYTHON_CLIENT_MEM_FRACTION=0.5, stop other programs, and use
    smaller batches.
source = marin-community/marin#2142

[xla-libdevice]
keys = libdevice not found at
pattern = libdevice not found at (\S+?)[.,]?(?=\s|$)
cause = XLA (TensorFlow or JAX) does not find libdevice.10.bc of a CUDA toolkit, which it needs to compile kernels.
remedy = Install it in the environment (conda install -c conda-forge cuda-nvcc, or pip install nvidia-cuda-nvcc), or set
    the toolkit's path: export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda.
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
cause = XLA or TensorFlow could not load or start cuDNN: it is missing, older than the one that XLA was built with, or
    the GPU had no free memory when it started.
remedy = Read the lines of cuda_dnn.cc above, which name the loaded cuDNN. Install the package together with its cuDNN
    (JAX: pip install -U "jax[cuda13]"; TensorFlow: an image of nvcr.io/nvidia/tensorflow), and keep other copies off
    LD_LIBRARY_PATH.
source = stardist/stardist#228

[cuda-library-hollow]
keys = symbol not found
pattern =
    (?P<symbol>(?:cuda|cudnn|cublas(?:Lt)?|cusolver(?:Dn)?|cusparse|cufft|nccl|nvrtc|cu(?=[A-Z]))[A-Z]\w+) symbol not
    + found
cause = The program loads CUDA's libraries when it starts, but none of those that it found contains {symbol}: a library
    is missing, or one from another CUDA comes first.
remedy = Install the program with the CUDA that it was built for (JAX: "jax[cuda13]", which includes the libraries), and
    remove any other toolkit from LD_LIBRARY_PATH. If it should use a toolkit, let PATH and LD_LIBRARY_PATH name the one
    of its version.
source = jax-ml/jax#11828

[jax-dnn-not-started]
keys = DNN library initialization failed
pattern = (DNN library initialization failed)
uncertain = yes
cause = JAX could not start cuDNN ({found}): usually no memory is left for it, because JAX reserves three quarters of
    the GPU's at its start (on a GB10 the host's), or another cuDNN is loaded instead of JAX's.
remedy = Set XLA_PYTHON_CLIENT_PREALLOCATE=false or XLA_PYTHON_CLIENT_MEM_FRACTION=.5, stop other programs on the GPU,
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
    + CuPy is for CUDA 12: remove it (pip uninstall cupy-cuda12x) and install the one for CUDA 13 with CUDA's libraries
    + (pip install "cupy-cuda13x[ctk]")
    advice of library: . => Install CuPy with CUDA's libraries (pip install "cupy-cuda13x[ctk]"), or add the toolkit's
    + to LD_LIBRARY_PATH (/usr/local/cuda/lib64)
cause = CuPy needs {library}, which is not found.
remedy = {advice}. Only one CuPy may be installed.
source = NVIDIA/cccl#10060

[warp-older-than-driver]
keys =
    a suitable driver entry point was not found
    Failed to get driver entry point
pattern =
    Warp CUDA error: Function (?P<call>\w+): a suitable driver entry point was not found
    Warp CUDA error: Failed to get driver entry point '(?P<call2>\w+)'
cause = Warp does not find the driver's function {call}: usually it is a Warp for CUDA 12 (1.7 and older) on driver R580
    or newer, as on a GB10.
remedy = Upgrade it (pip install -U warp-lang, 1.10 or newer; for Isaac Sim or Isaac Lab, the release that includes it).
    If it then lists no device, check that nvidia-smi works.
source = NVIDIA/warp#940
"""
