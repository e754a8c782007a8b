# __init__.py in this directory explains the fields.

"""Python packages

Messages from setuptools, NumPy and packages that are incompatible with each other.
"""

RULES = r"""
[setuptools-without-pkg-resources]
keys =
    No module named 'pkg_resources
    from 'pkg_resources'
pattern =
    No module named '(pkg_resources)
    cannot import name '(packaging)' from 'pkg_resources'
values =
    what of found: packaging => pkg_resources' copy of packaging, which setuptools dropped in release 70
    what of found: . => pkg_resources, which no package of that name provides: setuptools dropped it in release 82
    pin of found: packaging => 70
    pin of found: . => 81
cause = The build imports {what}.
remedy = Pin setuptools<{pin} in the build's requirements, or use a release of the project that does not need it.
source = ROCm/TheRock#3311

[version-without-git]
keys = setuptools-scm was unable to detect version
pattern = setuptools-scm was unable to detect version for (\S+?)\.?$
cause = The package derives its version from git, but {found} has no git metadata.
remedy = Build from a clone with its .git directory and tags, or set SETUPTOOLS_SCM_PRETEND_VERSION to the version.
source = vllm-project/vllm#13130

[python-built-incomplete]
keys =
    because the SSL module is not available
    Error: No module named '_
    extension was not compiled. Missing the
    zlib not available
pattern =
    because the (?P<module4>SSL) module is not available
    The Python (?P<module1>\w+) extension was not compiled
    ModuleNotFoundError: No module named '_(?P<module2>ctypes|lzma|bz2|ssl|hashlib|sqlite3|tkinter|curses|uuid|gdbm|dbm
    +|zstd|decimal)'
    can't decompress data; (?P<module3>zlib) not available
values =
    package of module: ctypes => libffi-dev
    package of module: lzma => liblzma-dev
    package of module: bz2 => libbz2-dev
    package of module: ((?i:ssl)|hashlib)$ => libssl-dev
    package of module: sqlite3 => libsqlite3-dev
    package of module: tkinter => tk-dev
    package of module: (curses|readline) => libncurses-dev and libreadline-dev
    package of module: zlib => zlib1g-dev
    package of module: uuid => uuid-dev
    package of module: zstd => libzstd-dev
    package of module: . => the library's development package
cause = This Python was compiled without its module {module}, because {package} was not installed.
remedy = Install {package} with apt and rebuild that Python (pyenv install --force VERSION; preferably with all of
    libffi-dev libssl-dev liblzma-dev libbz2-dev libsqlite3-dev libreadline-dev zlib1g-dev tk-dev), or use a prebuilt
    Python (uv python install, or apt's python3; for tkinter, python3-tk).

[pyenv-not-active]
keys = command exists in these Python versions
pattern = (?:pyenv: (?P<program1>\S+): command not found\s+)?The '(?P<program2>\S+)' command exists in these Python
    + versions:(?:\n\s*(?P<version>[\w.-]+))?
cause = {program} is a pyenv shim, but no active Python version has it[; {version} has it].
remedy = Activate that version (pyenv global[ {version}], or a file .python-version), or call another Python by its path
    (/usr/bin/python3). For Ansible, set ansible_python_interpreter to that path.
source = pyenv/pyenv#760

[pyenv-version]
keys = pyenv: version
pattern = pyenv: version '(?P<version>[^'\n]+)' is not installed(?: \(set by (?P<file>[^)\n]+)\))?
cause = pyenv has no Python {version}[, which {file} requires].
remedy = Install it (pyenv install {version}), or write an installed version[ into {file}] (pyenv versions lists them).

[python-home]
keys =
    init_fs_encoding: failed to get the Python codec
    No module named 'encodings'
pattern = (init_fs_encoding: failed to get the Python codec|No module named 'encodings')
cause = Python does not find its own library ({found}): PYTHONHOME or PYTHONPATH names another Python's, or the
    environment was moved or copied.
remedy = Unset PYTHONHOME and PYTHONPATH and start it again. If the environment was moved, recreate it (python3 -m
    venv).

[compiled-part-missing]
keys =
    Error: No module named '
    ImportError: cannot import name '_C'
    ImportError: cannot import name 'csrc'
pattern =
    No module named '(?P<module>(?!torch|cupy)\w+_cuda|flash_attn_\d_cuda|amp_C|apex_C|fused_\w+_cuda|xformers\._C|sage
    +attention\._\w+|fused_layer_norm_cuda|spconv\.core_cc|pointnet2_ops\._ext|diff_gaussian_rasterization\._C|nvdiffra
    +st_plugin|exllamav?2?_ext|deep_gemm\.\w+|natten\._C|detectron2\._C|mmcv\._ext)'
    cannot import name '(?:_C|csrc)' from '(?P<module2>\w+)'
    Error: No module named '(?P<module4>_(?:turbomind|C|ext|vllm_fa\w*|flash_attn\w*|xxhash|custom_ops|kernels?))'
    Error: No module named '(?P<module3>(?!vllm|torch\.|numpy|cv2|sgl|PIL)\w+\._(?:C|ext|cuda|backend)\w*)'
values =
    package of module: flash_attn => flash-attn
    package of module: (amp_C|apex_C|fused) => apex
    package of module: selective_scan => mamba-ssm
    package of module: causal_conv1d => causal-conv1d
    package of module: mmcv => mmcv
    package of module: _turbomind => lmdeploy
    package of module: . => its package
    way of module: (selective_scan|causal_conv1d) => , from the main branch of these two on GitHub with
    + MAMBA_FORCE_BUILD=TRUE and CAUSAL_CONV1D_FORCE_BUILD=TRUE, because the index's wheel contains an x86-64 file
    way of module: _turbomind => , or start it with --backend pytorch, which does not need it
cause = The compiled CUDA part {module} is not installed, only the Python files. This happens if the build found no nvcc
    or no torch, or the index has a wheel without it for aarch64.
remedy = Remove {package} and build it from source against the installed torch, with nvcc on PATH (pip install
    --no-build-isolation --no-deps --no-binary :all: NAME; TORCH_CUDA_ARCH_LIST=12.0, MAX_JOBS=4)[{way}]. Read what that
    build prints.
source = PrimeIntellect-ai/prime-rl#1972

[qt-platform-plugin]
keys = Could not load the Qt platform plugin
pattern = Could not load the Qt platform plugin '(\w+)'
cause = A program cannot open a window with Qt: its plugin {found} lacks a library, or there is no display, as over ssh
    and in a container.
remedy = If no window is needed, install opencv-python-headless instead of opencv-python, or set
    QT_QPA_PLATFORM=offscreen. For windows, install libxcb-cursor0 and libxkbcommon-x11-0, and check that DISPLAY is
    set.

[opencv-without-windows]
keys = The function is not implemented. Rebuild the library with Windows
pattern = (The function is not implemented)\. Rebuild the library with Windows
cause = The program opens a window with OpenCV, but the installed OpenCV was built without windows ({found}), like
    opencv-python-headless.
remedy = Install the other package (pip uninstall -y opencv-python opencv-python-headless; pip install opencv-python),
    with libgl1, libgtk2.0-0 and a display, or do not call cv2.imshow (--no-display, or a file as output).

[opencv-without-cuda]
keys = The library is compiled without CUDA support
pattern = (The library is compiled without CUDA support)
cause = The installed OpenCV has no CUDA ({found}), like all of pip's and Ubuntu's packages.
remedy = Build it with -DWITH_CUDA=ON -DCUDA_ARCH_BIN=12.1 (Thor 11.0) and opencv_contrib, or do this step on the CPU or
    with PyTorch.

[display-variable-missing]
keys = no display name and no $DISPLAY
pattern = (no display name and no \$DISPLAY environment variable)
cause = The program opens a window, but there is no display where it runs ({found}), as over ssh and in a container.
remedy = Draw without a window (export MPLBACKEND=Agg for Matplotlib), use ssh -X, or run it in the desktop's session;
    xvfb-run -a gives a program an invisible display.

[backend-without-display]
keys = Cannot load backend
pattern = Cannot load backend '(?P<backend>\w+)' which requires the '(?P<framework>\w+)' interactive framework
cause = Matplotlib is configured to open windows ({backend}), but there is no display where it runs.
remedy = Run export MPLBACKEND=Agg and save figures to files (plt.savefig), or run it in the desktop's session.

[event-loop-running]
keys =
    This event loop is already running
    asyncio.run() cannot be called from a running event loop
pattern =
    (This event loop is already running)
    (asyncio\.run\(\) cannot be called from a running event loop)
cause = The code starts an event loop while another is running ({found}), as in Jupyter or a web server.
remedy = Write await instead of asyncio.run(…) there, or run pip install nest_asyncio and import nest_asyncio;
    nest_asyncio.apply() first. For vLLM and others, use the asynchronous class, or a separate script.

[numpy-without-distutils]
keys = No module named 'numpy.distutils
pattern = No module named '(numpy\.distutils)
cause = The package's build needs {found}, which NumPy has only for Python 3.11 and older (and not since 2.0).
remedy = Use a release of the package that builds without it (with meson), or that has a wheel for this Python, or use
    Python 3.11 with numpy<2 (uv venv --python 3.11).

[python-without-distutils]
keys = No module named 'distutils
pattern = No module named '(distutils[\w.]*)
values =
    advice of found: distutils\.msvccompiler => Use a release of the package for this Python (NumPy 1.26 and newer for
    + 3.12), because setuptools 74 also dropped this module, or build it with setuptools<74
    advice of found: . => Add setuptools to the build's requirements, or use a release of the project for this Python
cause = The build imports {found}, which Python dropped in release 3.12; setuptools has a copy of it.
remedy = {advice}.
source = https://docs.python.org/3/whatsnew/3.12.html

[packaging-too-old]
keys = unexpected keyword argument 'strip_trailing_zero'
pattern = unexpected keyword argument '(strip_trailing_zero)'
cause = The installed packaging is too old for setuptools 71: it does not know {found}.
remedy = Upgrade packaging to 22 or newer in the environment that builds.
source = pypa/setuptools#4483

[numpy-removed]
keys =
    was removed in the NumPy 2.0 release
    module 'numpy' has no attribute
pattern =
    '(np\.\w+)' was removed in the NumPy 2\.0 release
    module 'numpy' has no attribute '(\w+)'
cause = The program uses {found}, which the installed NumPy no longer has.
remedy = Use a newer release of the package in whose code this is, or the NumPy for which it was written (numpy<2;
    numpy<1.24 for np.int, np.bool and np.float).

[protobuf-too-new]
keys = Descriptors cannot be created directly
pattern = (Descriptors cannot be created directly)
cause = The package's code was generated for an older protobuf than the installed one ({found}).
remedy = Upgrade that package, or install protobuf<4 (protobuf==3.20.*) in its environment.
    PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python also works, but is slow.

[numpy-file-newer]
keys = No module named 'numpy._core
pattern = No module named '(numpy\._core[\w.]*)'
cause = A file was saved with NumPy 2, but is read with NumPy 1, which has no {found}.
remedy = Install numpy>=2 in this environment (pip install -U numpy, with releases of the compiled packages that were
    built with it), or save the file again with NumPy 1.

[numpy-broken]
keys =
    No module named 'numpy.core._multiarray_umath'
    Importing the numpy C-extensions failed
    you should not try to import numpy from
pattern =
    (No module named 'numpy\.core\._multiarray_umath')
    (Importing the numpy C-extensions failed)
    (you should not try to import numpy from\s+its source directory)
cause = NumPy's compiled part does not load ({found}): it is for another Python or CPU, or one directory contains two
    NumPy releases.
remedy = Reinstall it with the Python that runs the program: python -m pip install --force-reinstall --no-cache-dir
    numpy. If PYTHONPATH names another Python's packages, unset it.

[numpy-abi]
keys =
    _ARRAY_API not found
    compiled using NumPy 1.x cannot be run in
    multiarray failed to import
    Numpy is not available
pattern =
    (numpy\.core\.multiarray failed to import)
    (Numpy is not available)
    (_ARRAY_API not found)
    compiled using (NumPy 1\.x) cannot be run in\s+NumPy (?P<numpy>[\d.]+)
cause = A compiled package was built with NumPy 1, but runs with NumPy 2 ({found}).
remedy = Install a release of that package that was built with NumPy 2, or numpy<2.
source = pytorch/builder#1984

[numpy-of-another-release]
keys =
    numpy.dtype size changed
    All ufuncs must have type
pattern =
    numpy\.dtype size changed, may indicate binary incompatibility\. (Expected \d+ from C header, got \d+)
    ValueError: (All ufuncs must have type)
cause = A compiled package was built with another release of NumPy than the installed one ({found}).
remedy = Reinstall that package and numpy in one command, in releases that match.
source = mjhydri/BeatNet#6

[triton-missing]
keys =
    TritonMissing
    Cannot find a working triton installation
    Error: No module named 'triton'
pattern =
    (Cannot find a working triton installation)
    Error: (No module named 'triton')$
cause = Triton is not installed for this PyTorch, or is too old for it ({found}).
remedy = Install the Triton for this torch (pip show torch names it; on aarch64, older wheels of torch do not require
    it, and Triton has wheels since 3.5: pip install triton; role triton), or run without torch.compile.
source = pytorch/pytorch#143406

[torchvision-of-another-torch]
keys =
    operator torchvision::nms does not exist
    'torchvision::nms' with arguments
pattern =
    operator (torchvision::nms) does not exist
    Could not run '(torchvision::nms)' with arguments from the 'CUDA' backend
cause = torchvision does not fit the installed torch: its compiled {found} could not be loaded, or is a CPU build.
remedy = Install torch and torchvision from the same release and CUDA index, or build torchvision for this torch (role
    torch_extensions).
source = vllm-project/vllm-ascend#479

[operator-without-backend]
keys = with arguments from the '
pattern = Could not run '(?P<operator>[\w:.]+)' with arguments from the '(?P<backend>\w+)' backend
values =
    advice of backend: CUDA => Install the package's build for the installed torch and its CUDA (cu130), or rebuild it
    + where nvcc and torch see CUDA; python -m torch.utils.collect_env shows torch's
    advice of backend: CPU => Move the model and its inputs to the GPU (.to("cuda")), or if they are meant for the CPU,
    + reinstall the package's release for the installed torch, whose library then loads
    advice of backend: Meta => The weights were not loaded: load the model without device_map or low_cpu_mem_usage, or
    + call to_empty() before .to("cuda")
    advice of backend: Quantized|Sparse => Use an operation that supports this kind of tensor, or convert it first
    + (.dequantize(), .to_dense())
    advice of backend: . => Move the tensor to a device that the operator supports, or use a newer release
cause = The operator {operator} has no code for {backend} tensors: its package was built without it, its library was not
    loaded, or the tensor is on the wrong device.
remedy = {advice}.
source = meta-pytorch/torchcodec#795

[bitsandbytes-library-missing]
keys = find the bitsandbytes CUDA binary at
pattern = find the bitsandbytes CUDA binary at \S*?(?P<library>libbitsandbytes_cuda\d+[^'\n)]*)
cause = This bitsandbytes does not include {library}, the library for PyTorch's CUDA: its release or its build is for
    another CUDA.
remedy = Install the newest release (its wheels for aarch64 support CUDA 13), or set BNB_CUDA_VERSION to a version that
    it includes (ls its directory). From source, build for that CUDA (cmake -DCOMPUTE_BACKEND=cuda -S . && make && pip
    install .).
source = bitsandbytes-foundation/bitsandbytes#1180

[bitsandbytes-of-another-cuda]
keys = Requested CUDA version
pattern =
    Requested CUDA version: +(?P<need>[\d.]+)\s[^\n]*\n[\s\S]{0,120}?Available pre-compiled versions:\s+(?:- [\d.]+\s+){
    +0,40}- (?P<have>[\d.]+)
cause = This bitsandbytes has no library for CUDA {need}, which PyTorch uses; its newest one is for CUDA {have}.
remedy = Let it load one of its libraries for the same CUDA major version (export BNB_CUDA_VERSION=130 for 13.0), or
    install a bitsandbytes release that supports {need}.
source = bitsandbytes-foundation/bitsandbytes#1848

[bitsandbytes-without-cuda]
keys =
    libbitsandbytes_cuda
    CUDA Setup failed despite GPU being available
    bitsandbytes was compiled without GPU support
pattern =
    (libbitsandbytes_cuda\d+\.so)
    (CUDA Setup failed) despite GPU being available
    bitsandbytes was (compiled without GPU support)
values =
    advice of found: \w+_cuda13[1-9] => Let it load its library for CUDA 13.0, if it has one (export
    + BNB_CUDA_VERSION=130), or install a newer release
    advice of log_bitsandbytes: . => Compile it before pip install . (cmake -DCOMPUTE_BACKEND=cuda -S . and make), or
    + install a release
    advice of found: . => Install a newer bitsandbytes: 0.46 and newer have wheels for aarch64, and it must support the
    + installed PyTorch's CUDA
    why of log_bitsandbytes: . => its libraries were not compiled, because not even the CPU library loads
    why of found: . => it is older than the CUDA in use
cause = This bitsandbytes has no library for this CUDA ({found}): {why}, or (before 0.46) it has only x86-64 libraries.
remedy = {advice}; the driver and the toolkit are not at fault.
source = NVIDIA/workbench-example-mistral-finetune#4

[ffmpeg-missing]
keys =
    libavutil.so
    libavcodec.so
    libavdevice.so
    libavformat.so
    libavfilter.so
    libswscale.so
    libswresample.so
pattern = (lib(?:av|sw)\w+\.so\.\d+): cannot open shared object file
cause = FFmpeg's library {found}, which TorchCodec and others load, is missing.
remedy = Install FFmpeg's libraries in a version that the package supports (Ubuntu 24.04's ffmpeg is version 6).
source = meta-pytorch/torchcodec#1023

[system-program-missing]
keys =
    TesseractNotFoundError
    Is poppler installed and in PATH
    ExecutableNotFound: failed to execute
    JAVA_GATEWAY_EXITED
    Java gateway process exited
    No ffmpeg exe could be found
    Couldn't find ffmpeg or avconv
    Couldn't find ffprobe
    No wkhtmltopdf executable found
    pandoc was found
    chromedriver
pattern =
    (Tesseract)NotFoundError|^(tesseract) is not installed
    Is (poppler) installed and in PATH
    ExecutableNotFound: failed to execute \S*?'?(dot)\b
    (J)AVA_GATEWAY_EXITED|(Java) gateway process exited
    No (ffmpeg) exe could be found|Couldn't find (ffmpeg or avconv|ffprobe)
    No (wkhtmltopdf) executable found
    No (pandoc) was found
    '(chromedriver)' executable needs to be in PATH
values =
    package of found: Tess => tesseract-ocr
    package of found: pop => poppler-utils
    package of found: dot => graphviz
    package of found: J => default-jre-headless
    package of found: ff => ffmpeg
    package of found: chrom => chromium-chromedriver
    package of found: pandoc => pandoc
    package of found: . => wkhtmltopdf
cause = A Python package calls a system program that is not installed ({found}).
remedy = Install it where the program runs (sudo apt install {package}; for a container, in its image).

[language-data-missing]
keys =
    Please use the NLTK Downloader to obtain the resource
    [E050] Can't find model
pattern =
    Resource (?P<nltk>\w+) not found\.\s+Please use the NLTK Downloader
    (?P<none>Please use the NLTK Downloader to obtain the resource)
    \[E050\] Can't find model '(?P<spacy>\w+)'
cause = A language package's data are not installed[: {nltk} of NLTK][: {spacy} of spaCy].
remedy = Install them with the program's Python[: python -m nltk.downloader {nltk}][: python -m spacy download {spacy}]
    (without internet access, copy nltk_data, or install the model's wheel).

[audio-not-read]
keys =
    Couldn't find appropriate backend
    LibsndfileError
    audioread.exceptions.NoBackendError
pattern =
    (Couldn't find appropriate backend) to handle uri
    LibsndfileError: (Error opening [^\n]{1,160})
    audioread\.exceptions\.(NoBackendError)
cause = The program cannot read or write this sound file ({found}): the library for it is not installed, or the file's
    content does not match its name.
remedy = Install FFmpeg and soundfile (sudo apt install ffmpeg libsndfile1; pip install soundfile) and, for torchaudio
    2.9 and newer, torchcodec. Convert the file first (ffmpeg -i FILE -ar 16000 out.wav), and check that it is not empty
    or an error page.

[mesa-driver-missing]
keys = MESA-LOADER: failed to open
pattern = MESA-LOADER: failed to open (?P<driver>[\w-]+): (?P<why>[^\n(]{3,160}?)(?: \(search|$)
values =
    advice of why: .*(?:GLIBCXX|CXXABI) => A conda environment's older libstdc++ is loaded first: run conda install -c
    + conda-forge libstdcxx-ng, or LD_PRELOAD the system's (/usr/lib/aarch64-linux-gnu/libstdc++.so.6)
    advice of why: . => Install Mesa's driver (sudo apt install libgl1-mesa-dri libegl1; also in the image); to use the
    + GPU, start the container with --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all, whose driver draws without Mesa
cause = OpenGL cannot load Mesa's driver ({driver}: {why}).
remedy = {advice}.
source = NVlabs/dexmimicgen#8

[opengl-without-display]
keys =
    an OpenGL platform library has not been loaded
    Cannot initialize a EGL device display
    Cannot initialize a headless EGL display
    GLFW: X11: The DISPLAY environment variable is missing
    Failed to open display
    object has no attribute 'con'
    'NoneType' object has no attribute
pattern =
    '(MjRenderContext\w*' object has no attribute 'con)'
    ('NoneType' object has no attribute '(?:egl|gl)[A-Z]\w+)'
    (an OpenGL platform library has not been loaded)
    (Cannot initialize a (?:EGL device|headless EGL) display)
    (X11: The DISPLAY environment variable is missing)
cause = The program draws with OpenGL, but has no display ({found}), as over ssh and in a container.
remedy = Draw without a display: export MUJOCO_GL=egl PYOPENGL_PLATFORM=egl, with libegl1 and libgl1 installed, and a
    container started with -e NVIDIA_DRIVER_CAPABILITIES=all. If the GPU's EGL is not found there, MUJOCO_GL=osmesa
    (libosmesa6) draws on the CPU.

[version-range-refused]
keys = is required for a normal functioning of this module
pattern = (\S+?[<>=!~][^\n]*?) is required for a normal functioning of this module, but found (?P<version>[^\s]+?)\.?$
cause = A package refuses {version}, because it accepts only {found}.
remedy = Install a version in that range: pip install "{found}". If another package needs the other version, upgrade the
    package that refuses it (the traceback names it; for huggingface-hub 1 and newer, use Transformers 5).
source = sgl-project/sglang#27654

[pydantic-core-differs]
keys = The installed pydantic-core version
pattern =
    installed pydantic-core version \((?P<have>[\d.]+)\) is incompatible with the current pydantic version, which
    + requires (?P<need>[\d.]*\d)
cause = pydantic accepts only its own pydantic-core {need}, but {have} is installed.
remedy = Run pip install --force-reinstall pydantic (it installs pydantic-core {need}), and do not pin either of them
    separately.

[python-too-old]
keys =
    unsupported operand type(s) for |
    No module named 'tomllib'
    from 'typing'
pattern =
    (unsupported operand type\(s\) for \|): '(?:type|_GenericAlias|ABCMeta)'
    (No module named 'tomllib')
    ImportError: (cannot import name '\w+' from 'typing')
values =
    need of found: unsupported => 3.10
    need of found: No module => 3.11
    need of found: . => 3.11 or 3.12
cause = The program needs a newer Python ({found}), namely {need}.
remedy = Run it with Python 3.12 (uv venv --python 3.12, or apt's python3.12), or use an older release of it.

[package-without-files]
keys = (unknown location)
pattern =
    cannot import name '(?P<name>\w+)' from '(?P<package>torch|torchvision|torchaudio|triton|numpy|scipy|vllm|sglang
    +|transformers|diffusers|accelerate|peft|flash_attn|xformers|tensorrt|cupy|jax|unsloth)' \(unknown location\)
cause = The {package} that Python imported is a directory without an __init__.py. It is the rest of an incomplete or
    removed installation, or another directory of that name, which Python used because there is no complete package.
remedy = Check what was imported (python -c "import {package}; print({package}.__path__)"). If it is in site-packages,
    reinstall the package (pip install --force-reinstall --no-deps, in the same version and from the same index).
    Otherwise start the program in another directory, and install the package.
source = unslothai/unsloth#10280
    pytorch/pytorch#29305

[import-of-another-release]
keys = , in <module>
pattern =
    -packages/(?P<importer>\w+)/[^'\n]*', line \d+, in <module>\n +(?:from|import) [^\n]*\n(?:[ ~^]+\n)?ImportError: can
    +not import name '(?P<name>\w+)' from '(?P<module>(?!(?P=importer)\b)[\w.]+)'
values =
    advice of name: ModelFilter$ => Install huggingface_hub<0.24, or upgrade the package that imports it (NeMo)
    advice of name: PytorchGELUTanh$ => Install transformers==4.51.3, the last one with which AutoAWQ was tested, or
    + quantize with llm-compressor, because AutoAWQ is no longer maintained
    advice of name: TORCH_INIT_FUNCTIONS$ => Upgrade the package that imports it (llmcompressor), or install
    + transformers<5
    advice of name: FLAX_WEIGHTS_NAME$ => Upgrade diffusers (pip install -U diffusers), or install transformers<5
    advice of name: HfFolder$ => Install huggingface_hub<1 (pip install "huggingface_hub<1"), or upgrade the package
    + that imports it (gradio, datasets)
    advice of name: cached_download$ => Install huggingface_hub<0.26, or upgrade the package that imports it (diffusers)
    advice of name: AutoModelForVision2Seq$ => Use AutoModelForImageTextToText, its name in Transformers 5, or install
    + transformers<5
    advice of name: Llama(FlashAttention2|SdpaAttention)$ => Install the Transformers for the model's own code (usually
    + transformers==4.46.3), because 4.48 and newer have no such class
    advice of name: runtime_version$ => Install protobuf>=5.26 (pip install -U protobuf), or upgrade the package that
    + requires an older one
    advice of name: soft_unicode$ => Install markupsafe==2.0.1, or upgrade jinja2
    advice of name: (Mapping|MutableMapping|Callable|Iterable|Sequence|Hashable)$ => Upgrade the package that imports
    + it, because Python 3.10 and newer have it only in collections.abc
    advice of importer: peft => Upgrade peft (0.18 and newer support Transformers 5), or install transformers<5
    advice of module: triton => Install the Triton that the installed torch requires (pip show torch), or the torch for
    + the program's release
    advice of module: typing_extensions => Upgrade it (pip install -U typing_extensions)
    advice of importer: . => Upgrade the importing package, if it is the older of the two, or install the other one in
    + the version that this release requires (pip show, its release notes)
    advice of module: . => Install the version of that package that the program's release pins; for a model's own code
    + (trust_remote_code), use a newer revision of the model
cause = The installed {importer} does not match the installed {module}, which has no {name} (any more, or not yet).
remedy = {advice}.
source = opendatahub-io/distributed-workloads#931

[import-name-moved]
keys = cannot import name
pattern = (?:ImportError:|!!!)[^\n]{0,60}? cannot import name '(?P<name>ModelFilter|PytorchGELUTanh|TORCH_INIT_FUNCTIONS
    +|FLAX_WEIGHTS_NAME|HfFolder|cached_download|AutoModelForVision2Seq|Llama(?:FlashAttention2|SdpaAttention)
    +|runtime_version|soft_unicode|(?:Mutable)?Mapping|Callable|Iterable|Sequence|Hashable)' from '(?P<module>[\w.]+)'
cause = The installed {module} no longer has {name}, or does not have it yet: it does not match the importing program.
values = as in import-of-another-release
remedy = {advice}.
source = opendatahub-io/distributed-workloads#931

[import-name-missing]
keys = cannot import name
pattern = (?:ImportError:|!!!)[^\n]{0,60}? cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'
uncertain = yes
cause = {module} has no {found}[, which {raiser} imports]: the package is another version than the importing program
    expects, its installation is incomplete, or another file with its name comes first on Python's path.
values = as in import-of-another-release
remedy = {advice}.
source = sgl-project/sglang#3878

[torch-placeholder]
keys = tools.nnwrap
pattern = No module named '?(tools\.nnwrap)
cause = pip chose torch 0.1.2, an old source archive that cannot be built, because the index has no torch wheel for this
    Python (or --no-binary forbids wheels).
remedy = Use a Python for which torch has wheels (3.12), and run pip install torch --index-url
    https://download.pytorch.org/whl/cu130.
source = pytorch/pytorch#46522

[nvidia-placeholder]
keys = is only a placeholder project on
pattern = package you are trying to install (is only a placeholder) project
cause = The package of this name on PyPI is empty and only points to NVIDIA's own index.
remedy = Use the package for your CUDA, whose wheels are on PyPI (such as nvidia-cudnn-cu13 or nvidia-nccl-cu13, also
    for aarch64), or set the index: pip install --extra-index-url https://pypi.nvidia.com. nvidia-pyindex is not needed.
source = astral-sh/uv#15099

[stub-without-wheel]
keys =
    Didn't find wheel for
    This is a special placeholder package
pattern =
    Didn't find wheel for ([^\n]+)
    The installation of (\S+ for version [\w.]+) failed\.\s+This is a special placeholder
    ^\s*This is a (special placeholder package) which downloads
cause = The package on the index is a stub that downloads the wheel itself, but there is no wheel for this machine:
    {found}.
remedy = Do not use the package on aarch64, or use a release with a wheel for it and for this Python (3.12). Check that
    the publisher's own index, which the message names, can be reached.
source = Comfy-Org/Nvidia_RTX_Nodes_ComfyUI#9

[torch-replaced]
keys = which is incompatible
pattern =
    (\S+ [\d.]\S*) requires (?P<needs>torch[^\s;]*)[^\n,]{0,200}, but you have (?P<have>torch\w* \S+) which is
values =
    advice of needs: .*(?:\.nv\d|\+nv|\d\+git|a0\+) => No index has the torch that it needs, which is NVIDIA's in a
    + container or was built here: start a new container from that image, or reinstall that torch, and build the package
    + that replaced it from source against it (pip install --no-deps --no-build-isolation --no-binary NAME NAME), or
    + pass a constraint to pip (pip freeze | grep ^torch > constraints.txt; pip install -c constraints.txt NAME)
    advice of needs: . => Install both in one command with matching versions, or reinstall the former torch
cause = A package installed another torch than {found} was built for: it needs {needs}, but {have} is installed.
remedy = {advice}.
source = vllm-project/vllm-ascend#8286

[module-shadowed]
keys = partially initialized module
pattern =
    cannot import name '(?P<attribute1>\w+)' from partially initialized module '(?P<module1>\w+)[^\n]*circular import\)
    + \((?!\S*-packages)[^)\n]+
    partially initialized module '(?P<module>\w+)[\w.]*' has no attribute '(?P<attribute>\w+)'
cause = Python imported another {module} than the package, usually a file or directory of that name where the program
    was started.
remedy = Rename {module}.py or that directory (and remove its __pycache__), and start elsewhere. python -c "import
    {module}; print({module}.__file__)" shows which one it imports.

[protobuf-versions]
keys = Gencode/Runtime versions
pattern = gencode (?P<built>[\d.]+) runtime (?P<have>[\d.]+)
cause = A package has files generated with protobuf {built}, but the installed protobuf is older ({have}).
remedy = Install protobuf>={built}. If another package requires an older one, use a release of one of the two that
    matches.

[encoding-not-utf8]
keys =
    'ascii' codec can't
    'latin-1' codec can't
pattern = '(?P<codec>ascii|latin-1)' codec can't (?:en|de)code
cause = The program reads or writes text as {codec}, because its locale is not UTF-8 (as in a service, cron or a bare
    container).
remedy = Set LC_ALL=C.UTF-8 and PYTHONUTF8=1 for it.

[file-not-utf8]
keys = 'utf-8' codec can't decode byte
pattern = 'utf-8' codec can't decode byte (?P<byte>0x\w\w) in position (?P<position>\d+)
values =
    what of byte: 0x(8b|1f)$ => compressed data (gzip), which must be unpacked first
    what of byte: 0xff$ => UTF-16 or a binary file
    what of byte: . => a binary file, or text in another encoding
cause = The program reads a file as UTF-8 text that is not UTF-8 (byte {byte} at position {position}): {what}.
remedy = Check what it is (file FILE; the traceback's own line names it). Convert text (iconv -f LATIN1 -t UTF-8), and
    pass the program a text file where it expects one, not a model, an archive or an incomplete download.

[image-not-readable]
keys =
    cannot identify image file
    image file is truncated
pattern =
    cannot identify image file (?P<file>[^\n]{1,160})
    (?P<part>image file is truncated)
cause = An image cannot be read[: {file}][ ({part})]: it is incomplete, or is not an image (but a Git LFS pointer, an
    error page, an unknown format).
remedy = Check it (file FILE, ls -l), get it again (git lfs pull, the download), or convert it to PNG or JPEG. You can
    omit a few bad files of a data set.

[pyarrow-too-new]
keys = PyExtensionType
pattern = module 'pyarrow' has no attribute '(PyExtensionType)'
cause = The installed datasets is older than pyarrow 21, which dropped {found}.
remedy = Upgrade datasets, or install pyarrow<21.

[python-file-missing]
keys =
    can't open file '
    bad interpreter
pattern =
    can't open file '(?P<file1>[^'\n]+)': \[Errno 2\]
    (?P<file2>\S+): (?P<why2>\S+): bad interpreter: No such file
cause = The file {file} cannot be run[: its first line names {why}, which does not exist].
remedy = Change to its directory, or use its full path. If a script's environment was moved or copied, reinstall the
    package to recreate the script.
unless = \^M|\\r

[script-with-windows-lines]
keys =
    bad interpreter
    env:
pattern =
    (?P<file>\S+): \S+\^M: bad interpreter
    env: '(?P<program>\w+)(?:\\r|\^M)'
cause = The script[ {file}] has Windows line endings, so its interpreter's name contains a carriage return.
remedy = Convert it (sed -i 's/\r$//' FILE, or dos2unix), and set git config core.autocrlf input where it was cloned.

[optional-dependency]
keys =
    Missing optional dependency '
    is not installed
    is required
    are required
pattern =
    ^\W*ImportError: ([\w.-]+) is not installed
    Missing optional dependency '([^'\n]+)'
    ^\W*ImportError: '?([\w.-]+)'? (?:is|are) required (?:by|for|to|but|when|in)\b
cause = The program needs {found} for this, which is not installed.
remedy = Install {found} into its environment.

[import-given-up]
keys = NameError: name '
pattern =
    NameError: name '(?P<name>bnb|flash_attn\w*|index_first_axis|(?:un)?pad_input|init_empty_weights|Accelerator|xops
    +|xformers|deepspeed|triton|tl|vllm|PeftModel|LoraConfig|librosa|sf|cv2|Image|soundfile|decord|timm)' is not defined
values =
    package of name: bnb => bitsandbytes
    package of name: flash|index|.*pad_ => flash-attn
    package of name: init|Acc => accelerate
    package of name: x => xformers
    package of name: tr|tl => triton
    package of name: Peft|Lora => peft
    package of name: sf|sound => soundfile
    package of name: cv2 => opencv-python-headless
    package of name: Image => pillow
    package of name: deep => deepspeed
    package of name: . => the package with that name
cause = {name} is not defined, because the program's import of {package} failed earlier and was ignored.
remedy = Find out why it fails: run python -c "import …" for that package in the program's environment. Install it
    (python -m pip install, {package}) or, if it has no build for this host, choose an option that does not need it.

[omniverse-module-missing]
keys = Error: No module named 'omni.
pattern = Error: No module named '(omni\.[\w.]+)
cause = {found} is a part of Omniverse Kit, which no package index has. It exists only in a running Kit (Isaac Sim), and
    only if its extension was built or enabled.
remedy = Start the script with Isaac Sim's own Python (isaaclab.sh -p, python.sh) and import {found} after creating
    SimulationApp or AppLauncher. If you built it from source, check that the last step succeeded, and update it with
    Isaac Lab.
source = isaac-sim/IsaacLab#3761

[setting-empty]
keys = .get(
pattern =
    ^[^\n]*\.get\('(?P<key>\w+)'[^\n]*\n(?:[ ~^]+\n)?TypeError: 'NoneType' object is not (?:iterable|subscriptable)
cause = {key} is empty or absent in the program's input, where it expects a list or a table.
remedy = Give {key} a value in the configuration or recipe, or delete its line: a key with nothing after the colon is
    null in YAML, and so is a key whose values are all comments.
source = eugr/spark-vllm-docker#217

[numba-numpy]
keys = Numba needs NumPy
pattern = Numba needs NumPy (?P<most>[\d.]+) or less\. Got NumPy (?P<have>[\d.]+\d)
cause = Numba supports NumPy up to {most}, but {have} is installed.
remedy = Install numpy<={most}.* (or a newer numba) in the environment.

[requirement-of-installed]
keys =
    VersionConflict: (
    No package metadata was found for
pattern =
    VersionConflict: \((?P<have>\S+ [^\s)]+)[^\n]*?Requirement\.parse\('(?P<need>[^'\n]+)'\)
    No package metadata was found for (?P<missing>[\w.-]+)
cause = A program looks for a package in the environment, but does not find what it needs[: {missing} is not
    installed][: {have} is installed, but it needs {need}].
remedy = Install it there[ ('{need}')] with the Python that runs the program (python -m pip, uv pip).

[module-removed]
keys =
    No module named 'torch._six'
    No module named 'torchvision.transforms.functional_tensor'
    No module named 'imp'
    No module named 'sklearn.externals
pattern = No module named '(torch\._six|torchvision\.transforms\.functional_tensor|imp|sklearn\.externals[\w.]*)'
values =
    release of found: torch\. => PyTorch 2.0
    release of found: torchvision => torchvision 0.17
    release of found: imp => Python 3.12
    release of found: . => scikit-learn 0.23
cause = The program is older than the installed packages: {found} was removed in {release}.
remedy = Use a newer release of the program (or of the package that imports it). An older torch has no code for a GB10.

[pickled-class-missing]
keys = Can't get attribute '
pattern = Can't get attribute '(?P<name>\w+)' on <module '(?P<module>[\w.]+)'
cause = The file was saved with a release of {module} that has {name}, which the installed one does not have (any more,
    or yet).
remedy = Upgrade that package (pip install -U), or install the release with which the file was saved; for __main__,
    define or import {name} in the script that reads the file.

[stdlib-module-removed]
keys = Error: No module named '
pattern =
    Error: No module named '(asyncore|asynchat|smtpd|cgi|cgitb|pipes|audioop|imghdr|sndhdr|telnetlib|crypt|nntplib|uu
    +|aifc|sunau|chunk|spwd|nis|mailcap|lib2to3)'
values =
    release of found: (asyncore|asynchat|smtpd) => 3.12
    release of found: . => 3.13
cause = The program imports {found}, which Python dropped in release {release}.
remedy = Use a newer release of the package that imports it, or run it with an older Python (uv venv --python 3.12, or
    3.11 for asyncore). The packages audioop-lts and legacy-cgi restore two of them.
source = https://docs.python.org/3/whatsnew/3.13.html

[version-invalid]
keys = InvalidVersion: Invalid version
pattern = InvalidVersion: Invalid version: '([^'\n]+)'
cause = A package has the version {found}, which packaging (22 and newer) no longer accepts.
remedy = Use a release of that package whose version follows PEP 440, remove its old directory in site-packages (pip
    list shows it), or pin packaging<22 in this environment.

[onnx-model-too-new]
keys =
    max supported IR version
    ONNX Runtime only *guarantees* support
pattern =
    Unsupported model IR version: (?P<need1>\d+), max supported IR version: (?P<most1>\d+)
    Opset (?P<need2>\d+) is under development[^\n]{0,120}?is till opset (?P<most2>\d+)
cause = The ONNX model needs version {need} of the format (IR or opset), but this onnxruntime reads only up to {most}.
remedy = Upgrade onnxruntime, or export the model again with an older onnx (model.ir_version, opset_version = {most}).

[model-file-of-another-release]
keys = /models/
pattern = -packages/(?P<package>vllm|sglang|tensorrt_llm)/(?:[\w.]+/)*models/(?P<file>\w+\.py)'?,
    + line[^\n]*\n(?:(?!\s*File ')[^\n]*\n){1,4}?\s*TypeError: (?P<function>[\w.]+)\(\) (?:got an unexpected keyword
    + argument|missing
    + \d+ required [\w -]+:) '(?P<argument>\w+)'
cause = {package}'s {file} and its {function} disagree about {argument}: the two files come from different releases, for
    example because a patch, a mod or a mount replaced one of them.
remedy = Remove the patch or mount of {file} (docker inspect shows mounts) or use the one for this release of {package}.
    If nothing was replaced, reinstall {package} (pip install --force-reinstall --no-deps {package}==VERSION), or the
    image.
source = eugr/spark-vllm-docker#238

[argument-renamed]
keys = got an unexpected keyword argument
pattern =
    TypeError: (?P<function1>[\w.]*LoraConfig[\w.]*)\(\) got an unexpected keyword argument '(?P<argument1>\w+)'
    TypeError: (?P<function>[\w.<>]+)\(\) got an unexpected keyword argument
    + '(?P<argument>evaluation_strategy|tokenizer|max_seq_length|proxies|guided_decoding|use_auth_token
    +|dataset_text_field|max_prompt_length|trans_[ab]|(?:torch_)?dtype)'
values =
    advice of function: \S*LoraConfig => Upgrade PEFT, because a newer one saved the adapter
    advice of argument: evaluation_strategy$ => Write eval_strategy, its name since Transformers 4.46
    advice of argument: tokenizer$ => Write processing_class, its name in the trainers of newer TRL and Transformers
    advice of argument: max_seq_length$ => Write max_length in the SFTConfig, its name in newer TRL
    advice of argument: use_auth_token$ => Write token, its name today, or log in once (hf auth login); where another
    + package passes it, install the Transformers or Diffusers that this package names
    advice of argument: (?:dataset_text_field|max_prompt_length)$ => Pass it in the trainer's configuration (SFTConfig,
    + DPOConfig, GRPOConfig) and not to the trainer, or take the TRL that the program names
    advice of argument: trans_[ab]$ => The model's own code is written for Triton 2: leave out its flash attention
    + (use_flash_attn=False, or its file flash_attn_triton.py removed)
    advice of argument: proxies => Upgrade openai (or the package that calls it), or install httpx<0.28
    advice of argument: guided_decoding$ => Write structured_outputs=StructuredOutputsParams(…), its name in newer vLLM
    advice of argument: . => Write dtype instead of torch_dtype, or the reverse, or upgrade Transformers (4.56 and newer
    + call it dtype)
cause = {function} in the installed version has no {argument}: it has another name for it, or is older than the caller.
remedy = {advice}.
source = huggingface/trl#6168

[class-of-another-release]
keys =
    /tensorrt_llm/
    /vllm/
    /sglang/
pattern = -packages/(?P<program>vllm|sglang|tensorrt_llm)/[^'\n]*\.py'?, line \d+, in
    + \w+\n(?:(?![^\n]*-packages/(?P=program)/)[^\n]*\n){1,12}?[^\n]*-packages/(?P<owner>transformers|diffusers|peft
    +|accelerate)/[^'\n]*\.py'?, line \d+, in \w+\n(?:(?!\s*File ')[^\n]*\n){1,4}?\s*TypeError:
    + (?P<class>[A-Z]\w*)\.__init__\(\) got an unexpected keyword argument '(?P<argument>\w+)'
values =
    advice of program: tensorrt_llm => Install that version again, or use NVIDIA's image with both, a newer
    + TensorRT-LLM, or its backend pytorch instead of AutoDeploy (--backend pytorch)
    advice of program: . => Install that version again, or use an image with both, or a newer release of the program
cause = {class} does not know {argument}, which {program} passes through {owner}: the installed {owner}, whose class it
    is, is not of the version for which this {program} was written.
remedy = Compare the installed {owner} (pip show {owner}) with the one that {program} requires (pip check). {advice}. If
    the class is in the model's own directory (trust_remote_code), use the revision for this {owner}.
source = NVIDIA/TensorRT-LLM#14942

[setuptools-command-arguments]
keys = Command.__init__() got an unexpected keyword
pattern = TypeError: Command\.__init__\(\) got an unexpected keyword argument '(\w+)'
cause = The installed setuptools does not accept {found} from PyTorch's BuildExtension or the package's setup.py,
    because they come from different times.
remedy = Build in the environment with a setuptools from the time of the package (pip install 'setuptools<70' wheel
    ninja, then pip install --no-build-isolation), or with a newer release of PyTorch or the package.
source = nerfstudio-project/gsplat#585

[argument-unknown]
keys = got an unexpected keyword argument
pattern = TypeError: (?P<function>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<argument>\w+)'
uncertain = yes
values =
    advice of function: process_vision_info => Upgrade its package: pip install -U qwen-vl-utils
    advice of function: . => Install the versions that the program's release pins, or upgrade the package in the
    + traceback's last lines. For a model's own code, use the revision for the installed Transformers
cause = {function} does not know {argument}[, with which {raiser} calls it]: its package is another version than the
    caller expects, or the caller is at fault.
remedy = {advice}.

[package-hollow]
keys =
    module 'torch' has no attribute
    module 'numpy' has no attribute
    module 'triton' has no attribute
    module 'vllm' has no attribute
    module 'transformers' has no attribute
    module 'tensorrt' has no attribute
    module 'cupy' has no attribute
pattern =
    AttributeError: module '(?P<package1>torch)' has no attribute
    + '(?P<name1>cuda|Tensor|tensor|nn|device|no_grad|version
    +|__version__|float32|float16|bfloat16|utils|jit|dtype|distributed|load)'
    AttributeError: module '(?P<package2>numpy|cupy|triton|vllm|transformers|tensorrt|diffusers|flash_attn)' has no
    + attribute '(?P<name2>__version__|cuda|ndarray|array|jit|language|LLM|AutoModel|AutoConfig|Logger|Builder)'
cause = The package {package} that Python imported is incomplete (it has no {name}): a directory or file of that name
    hides the installed one, or its installation was interrupted.
remedy = Check what was imported (python -c "import {package}; print({package}.__path__)"). Rename the directory or file
    of that name where you start, or reinstall the package (pip install --force-reinstall --no-deps, in the same version
    and from the same index).
source = CLAIRE-Labo/flash_attention#1

[attribute-missing]
keys =
    has no attribute "
    has no attribute '
    module diffusers has no attribute
pattern =
    AttributeError: module '(?P<module1>(?!pkgutil')[\w.]+)' has no attribute
    + '(?P<attribute1>(?!(?:prepare_metadata_for_)?build_(?:wheel|editable)|get_requires_for)\w+)'
    AttributeError: module (?P<module2>diffusers) has no attribute (?P<attribute2>\w+)
values =
    advice of module: diffusers$ => Upgrade diffusers (the newest pipelines are only in its source: pip install
    + git+https://github.com/huggingface/diffusers)
    advice of module: (inspect|collections|asyncio|time|fractions|ast|typing|imp|unittest)$ => Use a release of the
    + program for this Python, which dropped it, or an older Python
    advice of module: (?:setuptools|pkg_resources|distutils)\b => Use a newer release of the package, or one with a
    + wheel; otherwise build it with a setuptools from its time: echo "setuptools<58" > c.txt, then PIP_CONSTRAINT=c.txt
    + pip install … (uv: --build-constraints c.txt)
    advice of module: (?:torch|torchvision|torchaudio|triton)\._C\b => Its Python files and its compiled part are of two
    + releases: uninstall it until pip finds none (pip uninstall -y torch, twice; PYTHONPATH and ~/.local too), delete
    + what is left of its directory in site-packages, and install one release (pip install torch --index-url
    + https://download.pytorch.org/whl/cu130)
    advice of module: torchaudio$ => Upgrade the package that calls it (pyannote.audio, speechbrain), or install torch
    + and torchaudio 2.8 (cu129), because 2.9 removed torchaudio's backends
    advice of module: Unsloth\w+Trainer$ => Several processes write its generated code at the same time: delete
    + unsloth_compiled_cache, let one process import unsloth first (or start without torchrun), and upgrade unsloth and
    + unsloth_zoo
    package of module: cutlass => nvidia-cutlass-dsl
    package of module: cv2 => opencv-python-headless
    package of module: PIL => pillow
    package of module: yaml => PyYAML
    package of module: google\.protobuf => protobuf
    package of module: sklearn => scikit-learn
    advice of module: . => Install a newer version of that package, or the version that the program's release requires;
    + if that version is installed, the next patch release usually has it (pip index versions lists them); check that no
    + file with its name is in the same directory
cause = The installed module {module}[ (package {package})] has no {attribute}: the program was written for another
    version of it, or another file has its name.
remedy = {advice}.

[pkg-config-libraries]
keys = pkg-config could not find libraries
pattern = pkg-config could not find libraries \[(?P<names>'?[^\]\n]+)\]
values =
    packages of names: .*av(?:format|codec|util) => FFmpeg's development packages (sudo apt install pkg-config
    + libavformat-dev libavcodec-dev libavdevice-dev libavutil-dev libavfilter-dev libswscale-dev libswresample-dev)
    packages of names: . => pkg-config and the development package of each (apt-file search NAME.pc)
cause = The package is compiled because no wheel fits, and pkg-config does not find {names}.
remedy = Install {packages}, or use a release of the package with a wheel for aarch64 and this Python (pip install
    --only-binary :all: NAME).
source = huggingface/lerobot#923

[cython-3]
keys =
    .pyx:
    .pxd:
pattern =
    (?P<file>\S+\.p(?:yx|xd)):\d+:\d+: (?P<why>Cannot assign type 'double' to
    + '(?:size_t|int|long|Py_ssize_t)'|'[\w.]+\.pxd' not found|Cannot assign type
    + '[^'\n]*(?:noexcept|except)[^\n]*|undeclared name not builtin: (?:long|unicode|basestring|xrange))
cause = The source was written for Cython before 3.0, but the build uses a newer one: {file}: {why}.
remedy = Use a release of the package that has a wheel or supports Cython 3. Otherwise build it with Cython<3: echo
    "Cython<3" > c.txt, then PIP_CONSTRAINT=c.txt pip install … (uv: --build-constraints c.txt).
source = r9y9/pysinsy#16

[cython-error]
keys = Error compiling Cython file
pattern = Error compiling Cython file:(?:\n[^\n]*){1,24}?\n\s*(?P<why>\S+\.p(?:yx|xd|xi):\d+:\d+: [^\n]+)
uncertain = yes
cause = Cython could not compile the package's source: {why}.
remedy = Compare the build's Cython (pip show cython; an isolated build uses the newest) with the one for which the
    package's release was made, and constrain it (PIP_CONSTRAINT, uv --build-constraints), or use a release that has a
    wheel.
"""
