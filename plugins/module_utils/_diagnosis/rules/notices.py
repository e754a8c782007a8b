# __init__.py in this directory explains the fields.

"""Notices

These are not failures by themselves; they are reported in addition to a failure.
"""

RULES = r"""
[ollama-library-unknown]
keys =
    OLLAMA_LLM_LIBRARY:cuda
    library at users request
pattern =
    OLLAMA_LLM_LIBRARY:(cuda)\s
    library at users request" requested=(cuda)\s
notice = yes
cause = OLLAMA_LLM_LIBRARY is {found}, which Ollama does not know, so it runs on the CPU.
remedy = Unset it, or set cuda_v13 on a Spark.
source = NVIDIA/dgx-spark-playbooks#23

[nccl-socket-fallback]
keys = Initialized NET plugin Socket
pattern = Initialized NET plugin (Socket)
notice = yes
cause = NCCL uses TCP ({found}) instead of RDMA, which is much slower between two Sparks: no RDMA device was found, or
    NCCL_IB_HCA names an interface instead of a device.
remedy = Set NCCL_IB_HCA to the first column of ibdev2netdev or unset it, and start a container with --device
    /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1.
source = https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html

[sage-attention-fallback]
keys = Error running sage attention
unless = undefined symbol
pattern = Error running sage attention: ([^,\n]+), using pytorch attention
notice = yes
cause = SageAttention has no kernel for this GPU ({found}), so PyTorch's slower attention is used.
remedy = Build SageAttention for this GPU's architecture, or start without it.
source = woct0rdho/SageAttention#50

[apt-unsandboxed]
keys = Download is performed unsandboxed as root
pattern = (Download is performed unsandboxed as root)
notice = yes
cause = apt read a local file as root, because its own account may not ({found}): this is not a failure.
remedy = Nothing to do; a file in /tmp avoids the notice.
source = flydiscohuebr/nvidia-304#12

[hub-storage-timeout]
keys = hyper_util::client::legacy::Error
pattern = url: "https?://(?P<host>[\w.-]+)[^\n]{0,900}?legacy::Error\([^\n]{0,200}?message: "(?P<why>[^"\n]+)
cause = A download through {host} gets no answer ({why}), and is retried repeatedly.
remedy = Allow that host in the proxy or firewall (for Hugging Face, also transfer.xethub.hf.co and
    cas-bridge.xethub.hf.co), set HTTPS_PROXY, or disable that download method (HF_HUB_DISABLE_XET=1) and upgrade
    huggingface_hub and hf-xet.
notice = yes
source = huggingface/huggingface_hub#3361

[apt-sha1-soon]
keys =
    Policy will reject signature within a year
    uses weak digest algorithm
    uses weak algorithm
pattern =
    (?P<url1>https?://\S+?): (?P<what1>Policy will reject signature within a year)
    (?P<url2>https?://\S+?): Signature by key \w+ (?P<what2>uses weak (?:digest )?algorithm \(\w+\))
notice = yes
cause = apt still accepts the signature of {url}, but its next releases will not ({what}): its key or signature uses
    SHA-1 or another weak algorithm.
remedy = Fetch the repository's current key; if there is none, tell its owner: Debian 13 refuses such a key already.
source = llvm/llvm-project#153385

[container-killed]
keys =
    exited with code 137
    Exited (137)
    exit code 137
pattern =
    (\S+) exited with code 137
    (Exited \(137\))
    (exit code 137)
unless = [Nn]inja|nvcc|\[code=
notice = yes
cause = A program or container was ended by signal 9 ({found}): by its own parent after an error, by docker stop or
    kill, or because memory ran out.
remedy = If the log has no error before it, check docker inspect (State.OOMKilled) and look for Out of memory in the
    kernel's log (journalctl -k).

[locale-missing]
keys =
    cannot change locale
    Setting locale failed
pattern =
    cannot change locale \((?P<locale>[^)\n]+)\)
    (Setting locale failed)
notice = yes
cause = The session requests a locale[, {locale},] that this system does not have, usually because ssh passed it on.
    This is only a warning.
remedy = Create it (sudo apt install locales; sudo locale-gen en_US.UTF-8), or use an installed one (export
    LC_ALL=C.UTF-8).

[wsl-cuda-link]
keys = /usr/lib/wsl/lib/libcuda.so
pattern = (/usr/lib/wsl/lib/libcuda\.so\S*) is not a symbolic link
notice = yes
cause = ldconfig notes that {found} is a file, not a link: this is how WSL provides it, and not a failure.
remedy = Nothing to do.

[git-outside-repository]
keys = fatal: not a git repository
pattern = fatal: (not a git repository)
notice = yes
cause = git was called outside a repository ({found}); a build that only asks for its version continues without it.
remedy = If this is the failure, change into the clone, or clone the source instead of unpacking an archive.

[unit-restarts-too-often]
keys = Start request repeated too quickly
pattern = (\S+): Start request repeated too quickly
notice = yes
cause = {found} failed so often that systemd no longer restarts it; its first failure shows the cause.
remedy = Fix that, then run systemctl reset-failed {found} and start it.

[llamacpp-on-cpu]
keys = no usable GPU found
pattern = (no usable GPU found)
notice = yes
cause = llama.cpp runs on the CPU ({found}): it was built without CUDA, or sees no GPU.
remedy = Build it with -DGGML_CUDA=ON, and check that nvidia-smi works where it runs.

[ollama-on-cpu]
keys =
    discovering available GPUs
    looking for compatible GPUs
    no compatible GPUs were discovered
    no GPU detected
pattern =
    GPUs(?:(?!skipping mismatch)[\s\S]){0,1200}?inference compute[^\n]*(library=cpu)
    (no compatible GPUs were discovered|no GPU detected)
notice = yes
cause = Ollama found no GPU that it can use and runs on the CPU ({found}).
remedy = Make nvidia-smi work for its account (a container needs --gpus all), load nvidia-uvm (sudo nvidia-modprobe -u),
    remove CUDA_VISIBLE_DEVICES and OLLAMA_LLM_LIBRARY from its unit (cuda is no valid value of the latter), and update
    + Ollama: it needs its cuda_v13 libraries for a GB10.

[triton-kernels-other-release]
keys = Failed to import Triton kernels
pattern = Failed to import Triton kernels\. [^\n]*?(?P<why>No module named '[\w.]+'|cannot import name '\w+'|$)
notice = yes
cause = vLLM cannot use triton_kernels for MXFP4 ({why}): the package is of another release than this vLLM was made for.
remedy = vLLM then takes another backend, and on a GB10 that is right (--moe-backend marlin). To use it, install the
    triton_kernels that this release of vLLM pins, with its Triton.
source = vllm-project/vllm#26582

[ollama-prompt-cut]
keys = truncating input prompt
pattern = truncating input prompt'? limit=(?P<most>\d+) prompt=(?P<asked>\d+)
notice = yes
cause = Ollama cut a prompt of {asked} tokens to {most}, the context length with which it loaded the model.
remedy = Load it with a longer context (OLLAMA_CONTEXT_LENGTH={asked} in the service, num_ctx in the request or
    Modelfile).

[rdma-locked-memory]
keys =
    RLIMIT_MEMLOCK is
    failed to mlock
pattern =
    RLIMIT_MEMLOCK is (\d+ bytes)
    failed to mlock \d+-byte buffer \(after previously locking (\d+ bytes)\)
notice = yes
cause = This account may lock {found} of memory, which is too little for RDMA or for llama.cpp's --mlock (otherwise
    leave that option out).
remedy = Raise the limit if something failed: --ulimit memlock=-1 for a container, LimitMEMLOCK=infinity in a unit, or
    memlock in /etc/security/limits.conf and a new login.

[worker-waits]
keys = No available shared memory broadcast block
pattern = (No available shared memory broadcast block)
notice = yes
cause = A worker of vLLM did not answer for a while ({found}): it is compiling, or hangs in a kernel or in NCCL.
remedy = If the log continues, there is nothing to do. If not, check the other rank; if two Sparks hang in an
    all-reduce, replace pip's NCCL with the NCCL of DGX OS.
source = vllm-project/vllm#41725

[option-dropped]
keys =
    Turning the option off
    Turning the
    Not compiling with
    Suppress this warning
pattern =
    Cannot find (\w+) library\.\s+Turning the option off
    Not compiling with\s+([\w ]+?)\.\s+Suppress
notice = yes
cause = CMake did not find {found}, switched its option off and continued.
remedy = Install the library where CMake looks ({found}_ROOT), or set the option to 0 so that it is not expected.

[cuda-dropped]
keys = CUDA cannot be found
pattern = PyTorch: CUDA cannot be found
notice = yes
cause = CMake did not find CUDA, switched it off and continued.
remedy = Set CUDA_HOME and CUDACXX in the unit's environment to the stack's toolkit.

[cuda-architectures-ignored]
keys = CMAKE_CUDA_ARCHITECTURES
pattern = pytorch is not compatible with `CMAKE_CUDA_ARCHITECTURES`
notice = yes
cause = PyTorch ignores CMAKE_CUDA_ARCHITECTURES (and CUDAARCHS, from which CMake sets it).
remedy = Set TORCH_CUDA_ARCH_LIST and remove the other variables.
source = pytorch/pytorch#172034

[capability-warning]
keys =
    of cuda capability
    of compute capability (CC)
pattern =
    Found GPU\d+ ([^\n]+?) which is of (?:cuda|compute) capability (?:\(CC\) )?12\.1(?!(?s:.{0,200}?)- \((?:[5-9]|1
    +[01])\.)
notice = yes
cause = PyTorch warns that it does not support {found} (12.1): this is harmless, because code for 12.0 runs on it.
remedy = Nothing to do. Builds for CUDA 13 run; 2.10 and older, and some newer ones, only warn.
source = eugr/spark-vllm-docker#15

[cpu-torch]
keys =
    +cpu
    torch.cuda.is_available() False
    CUDA available: False
pattern =
    \b(torch[-= (]+v?\d[\w.]*\+cpu)\b
    (?i:\b(?:py)?torch(?!audio|vision|\w)[\w. ]{0,24}[:='\"| ]+)(\d+\.\d+\.\d+\+cpu)\b
    ^[ >('\"]*(\d+\.\d+\.\d+\+cpu)\b
    ((?:is_available\(\)|CUDA available:) False)
notice = yes
values =
    state of found: .*\+cpu => A PyTorch without CUDA is in use
    state of found: . => PyTorch sees no CUDA: it was built without it, or it cannot reach the driver
    advice of found: .*\+cpu => Install a build for CUDA
    advice of found: . => If torch.__version__ ends in +cpu, install a build for CUDA
    end of found: .*\+cpu => the driver and the GPU are not the reason
    end of found: . => otherwise make nvidia-smi work where it runs
cause = {state} ({found}); the package index's 2.9 and 2.10 wheels for aarch64 have no CUDA.
remedy = {advice} (pip install torch --index-url https://download.pytorch.org/whl/cu130, or 2.11 or newer), or the wheel
    that the role pytorch builds. In a uv project, bind torch to that index in tool.uv.sources, because the next uv run
    reinstalls the locked build; {end}.
source = pytorch/pytorch#168065

[prebuilt-wheel]
keys = Guessing wheel URL
pattern = Guessing wheel URL: +(\S+)$(?!\n[^\n]*Precompiled wheel not found)
notice = yes
cause = The source looks for a prebuilt wheel that no hash verifies: {found}.
remedy = Set the variable that forces a build: FLASH_ATTENTION_FORCE_BUILD=TRUE for flash-attention.

[driver-refused-memory]
keys =
    [NV_ERR_NO_MEMORY]
    Failed to allocate NVKMS memory
pattern =
    \[(NV_ERR_NO_MEMORY)\]
    (Failed to allocate NVKMS memory)
notice = yes
cause = The driver found no memory for a request ({found}), which on a GB10 is the host's memory. Successful runs print
    this as well.
remedy = If something failed or hung then, leave more memory free (a lower share for the engine; for a large model in
    llama.cpp, GGML_CUDA_NO_VMM=1, without GGML_CUDA_ENABLE_UNIFIED_MEMORY); otherwise there is nothing to do.
source =
    NVIDIA/open-gpu-kernel-modules#1358
    ggml-org/llama.cpp#27918

[apt-configured-twice]
keys = is configured multiple times in
pattern = is configured multiple times in (?P<one>\S+) and (?P<other>\S+)
notice = yes
cause = One apt repository is configured twice, in {one} and {other}: this is a warning, not a failure.
remedy = Remove one of the two entries.
source = canonical/hardware-observer-operator#540

[compose-variable-unset]
keys = variable is not set. Defaulting to a blank string
pattern = The \\*'([^'\\\n]+)\\*' variable is not set\. Defaulting to a blank string
notice = yes
cause = The compose file reads the variable {found}, which is not set and therefore empty.
remedy = Set it in the file .env next to the compose file, or in the shell.

[container-without-gpu]
keys = The NVIDIA Driver was not detected
pattern = The (NVIDIA Driver was not detected)
notice = yes
cause = The container was started without the GPU ({found}).
remedy = If it needs one, start it with --gpus all; in a compose file reserve a device of the driver nvidia.

[apt-kept-back]
keys = packages have been kept back
pattern = packages have been kept back:\s*\n +(?P<packages>[^\n]+)
notice = yes
cause = apt upgrade left {packages} as they are, because they would need other packages installed or removed, or because
    their update is phased.
remedy = apt full-upgrade --dry-run shows what it would do; sparkforge forecast says what an upgrade breaks.

[apt-foreign-architecture]
keys = doesn't support
pattern = as repository '([^'\n]+?)' doesn't support architecture '(?P<architecture>\w+)'
notice = yes
cause = The apt source {found} has no packages for {architecture}, so apt skips it.
remedy = Remove the source, or limit it to its own architectures with [arch=…].

[jax-on-cpu]
keys =
    a CUDA-enabled jaxlib is not installed
    No GPU/TPU found, falling back to CPU
pattern =
    (a CUDA-enabled jaxlib is not installed)
    (No GPU/TPU found, falling back to CPU)
notice = yes
cause = JAX runs on the CPU ({found}).
remedy = Install it with its CUDA plugin: pip install -U "jax[cuda13]".
source = jax-ml/jax#29068

[uv-no-hardlink]
keys = Failed to hardlink files
pattern = (Failed to hardlink files)
notice = yes
cause = uv copies files instead of linking them because its cache is on another file system: this is slower, but not a
    failure.
remedy = Set UV_LINK_MODE=copy to silence the warning, or UV_CACHE_DIR on the same file system.

[torchcodec-absent]
keys = torchcodec is not installed correctly
pattern = (torchcodec is not installed correctly)
notice = yes
cause = pyannote cannot decode files itself, because TorchCodec does not load. Programs that pass audio as arrays, like
    WhisperX, still work.
remedy = Install the TorchCodec for this torch (for aarch64 from https://download.pytorch.org/whl/cu130) and FFmpeg, but
    only if a file cannot be read.
source = rishikanthc/Scriberr#425

[driver-without-log-firmware]
keys = no GSP-RM logs
pattern = (Failed to load gsp_log_\*?[\w.]*\.bin)
notice = yes
cause = The driver lacks the file for printing its firmware's log ({found}): NVIDIA ships none, and everything works
    without it.
remedy = Nothing to do.
source = NVIDIA/open-gpu-kernel-modules#1363

[ray-resources]
keys = cannot be scheduled right now
pattern = The following resource request cannot be scheduled right now: (\{[^}\n]*\})
notice = yes
cause = No host of the Ray cluster has the requested resources free ({found}): a host is missing, offers no GPU, or an
    earlier program still holds them.
remedy = Compare ray status with the request. Each Spark has one GPU, so start all hosts first, and end earlier
    programs.

[git-lfs-pointers]
keys = should have been pointers
pattern = Encountered (\d+) files?(?:\(s\))? that should have been pointers
notice = yes
cause = {found} files of the repository are stored directly, although .gitattributes assigns them to Git LFS.
remedy = This is a harmless fault of the repository: fix it with git lfs migrate import, or ignore it.

[rdma-driver-of-library]
keys =
    no userspace device-specific driver found
    couldn't load driver 'lib
pattern =
    (no userspace device-specific driver found) for (?P<device>\S+)
    couldn't load driver '(lib[^'\n]+)'
notice = yes
cause = RDMA's library has no driver for a card of this host[ ({device})]: {found}.
remedy = If you use RDMA here, install ibverbs-providers and rdma-core in one version (also in the container).

[ansible-hosts-ignored]
keys =
    Could not match supplied host pattern
    skipping: no hosts matched
pattern =
    Could not match supplied host pattern, ignoring: (?P<group>\S+)
    skipping: no hosts matched
notice = yes
cause = An Ansible play had no host[: its inventory has no {group}].
remedy = If you did not intend that, pass the right inventory (-i), and compare the names with ansible-inventory
    --graph.

[docker-config-not-readable]
keys = Error loading config file
pattern = Error loading config file: (\S+): [^\n]*permission denied
notice = yes
cause = docker may not read {found}, which another account created (an earlier sudo docker login), and continues without
    its logins.
remedy = Change its owner to this account (sudo chown -R $USER ~/.docker).

[sudo-own-name]
keys = sudo: unable to resolve host
pattern = sudo: unable to resolve host ([\w.-]+)
notice = yes
cause = This host cannot resolve its own name {found}; sudo continues.
remedy = Add 127.0.1.1 {found} to /etc/hosts.

[driver-taints-kernel]
keys = module verification failed
pattern = (\w+): module verification failed: signature and/or required key missing
notice = yes
cause = The module {found} is not signed by the kernel's builder: this is normal for a driver built by DKMS, and not a
    failure.
remedy = Nothing to do.

[apparmor-denied]
keys = apparmor="DENIED"
pattern =
    apparmor='DENIED' operation='(?P<operation>\w+)'[^\n]*?profile='(?P<profile>[^'\n]+)'(?:[^\n]*?name='(?P<name>[^'\n]
    ++)')?
notice = yes
cause = AppArmor's profile {profile} forbade {operation}[ of {name}].
remedy = If the program fails because of this, use a path that its profile allows (for a snap, below the home
    directory), or another package of the program.

[unit-setting-ignored]
keys = ignoring
pattern =
    (?<!\S)(?P<file>/\S+\.(?:service|socket|timer|mount|conf)):(?P<line>\d+): (?P<why>(?:Failed to parse|Unknown)[^\n]*?
    +),? ignoring
notice = yes
cause = systemd ignores line {line} of {file}: {why}.
remedy = Correct the name or the value (sizes are written 100G), and run systemctl daemon-reload.

[firewall-blocked]
keys = [UFW BLOCK]
pattern =
    \bIN=(?P<interface>\S*) [^\n]*?SRC=(?P<from>\S+) [^\n]*?PROTO=(?P<protocol>\w+)(?:[^\n]*?DPT=(?P<port>\d+))?
notice = yes
cause = This host's firewall (ufw) dropped {protocol} from {from} on {interface}[ to the port {port}].
remedy = If that is another Spark, allow the network between them: sudo ufw allow in on {interface} from {from}.

[onnx-device-discovery]
keys = GPU device discovery failed
pattern = GPU device discovery failed: [^\n]*?(Failed to open file: '[^'\n]+')
notice = yes
cause = ONNX Runtime cannot read the GPU's type from a file that this host does not have ({found}). This is harmless: a
    GB10 has no such file.
remedy = Nothing to do; python -c 'import onnxruntime; print(onnxruntime.get_available_providers())' tells whether CUDA
    is used.
source = vllm-project/vllm#32575

[onnx-no-cuda]
keys = is not in available provider names
pattern =
    Specified provider 'CUDAExecutionProvider' is not in available provider names\. ?Available providers: '(?P<have>[^'\
    +n]+)
notice = yes
cause = This onnxruntime has no CUDA (only {have}), and runs on the CPU.
remedy = On aarch64, use a build with CUDA (the vendor's or your own); the index's onnxruntime-gpu is only for x86.

[script-not-on-path]
keys = which is not on PATH
pattern = The scripts? (?P<scripts>[^\n]+?) (?:is|are) installed in '(?P<directory>[^'\n]+)' which is not on PATH
notice = yes
cause = pip put the commands {scripts} into {directory}, which is not on the PATH, so the shell does not find them.
remedy = Add it to PATH, or install into an environment and activate it.

[distribution-remnant]
keys = Ignoring invalid distribution
pattern = Ignoring invalid distribution -?(?P<name>~\S+)(?: \((?P<directory>[^)\n]+)\))?
notice = yes
cause = An interrupted installation left {name}*[ in {directory}], which pip ignores.
remedy = Remove the directories there whose names begin with a tilde, and reinstall the package if its import fails.

[index-replaced]
keys =
    UV_DEFAULT_INDEX=
    UV_INDEX_URL=
    PIP_INDEX_URL=
pattern =
    \b(?P<name>UV_DEFAULT_INDEX|UV_INDEX_URL|PIP_INDEX_URL)=['\"]?(?P<index>https?://(?!download\.pytorch)[^\s'\"]+)
notice = yes
cause = {name} makes {index} the index of all packages. Without an explicit index, torch comes from there, for aarch64
    usually as a CPU build.
remedy = Unset {name} for that step, or pass PyTorch's index there (--index-url https://download.pytorch.org/whl/cu130,
    with --reinstall if the CPU build is already installed).
source = eelbaz/dgx-spark-vllm-setup#1

[sglang-model-needs-newer-transformers]
keys = Ignore import error when loading sglang.srt.models
pattern =
    Ignore import error when loading sglang\.srt\.models\.(?P<model>\w+): No module named
    + '(?P<module>transformers[\w.]*)'
notice = yes
cause = SGLang left out its model {model}, which needs a newer Transformers ({module} is missing). This matters only for
    that model.
remedy = Ignore it if you serve another model; otherwise install the Transformers that this SGLang's release pins.
source = sgl-project/sglang#9561

[ollama-driver-init-failed]
keys =
    cuda driver library init failure
    cudart init failure
pattern = (?:cuda driver library|cudart) init failure: (?P<code>\d+)
notice = yes
values =
    advice of code: 999 => reload nvidia_uvm (sudo modprobe -r nvidia_uvm, then sudo modprobe nvidia_uvm), or reboot
    advice of code: 3$ => load nvidia_uvm with options nvidia_uvm uvm_disable_hmm=1 (in /etc/modprobe.d), and reboot
    advice of code: 35 => the driver is older than this CUDA: update it
    advice of code: . => look the number up among CUDA's error codes (cuInit)
cause = Ollama could not start CUDA (cuInit answered {code}), so it runs on the CPU.
remedy = Make nvidia-smi work, and read the kernel's NVRM lines (journalctl -k); {advice}.
source = ollama/ollama#11593

[hub-lock-waits]
keys = still waiting to acquire lock on
pattern = [Ss]till waiting to acquire lock on (\S+\.lock)
notice = yes
cause = A download waits for a lock ({found}) that another process holds, or that a crashed process left on a shared
    file system.
remedy = End other downloads of this model. If there is none, remove the lock file, and keep the cache (HF_HOME) on a
    local file system.
source = huggingface/huggingface_hub#3944

[network-card-power-warning]
keys = Detected insufficient power on the PCIe slot
pattern = mlx5_core (?P<device>\S+): [^\n]*Detected insufficient power on the PCIe slot \((?P<power>\w+)\)
notice = yes
cause = The driver of the network card {device} warns of {power}: Sparks with their full bandwidth print this as well.
remedy = Measure with ib_write_bw in both directions. Near 100 Gb/s on each interface, nothing is wrong. At about 13
    Gb/s, shut down both hosts, unplug their power and the cable, and start them again.
source = NVIDIA/dgx-spark-playbooks#108

[preload-ignored]
keys = from LD_PRELOAD cannot be preloaded
pattern = object '(?P<file>[^'\n]+)' from LD_PRELOAD cannot be preloaded
notice = yes
cause = LD_PRELOAD names {file}, which this program or container does not have; it continued without it.
remedy = Unset LD_PRELOAD for this program, or use the file's path there; on a Spark, only Isaac Sim itself needs it.
source = isaac-sim/IsaacLab#3708

[memory-use-not-shown]
keys = Not Supported
pattern = \| +(Not Supported) +\| +\d+% +Default
notice = yes
cause = nvidia-smi shows no memory use for a GB10 ({found}), because its memory is the host's: this is normal.
remedy = Use free -h, or read the processes below the table.

[inductor-few-multiprocessors]
keys = Not enough SMs to use max_autotune_gemm
pattern = (Not enough SMs to use max_autotune_gemm)
notice = yes
cause = torch.compile does not try all its matrix product kernels on this GPU ({found}), which has fewer multiprocessors
    than it requires: this is normal on a GB10.
remedy = Nothing to do.

[torchao-without-extensions]
keys = Skipping import of cpp extensions due to incompatible torch
pattern = incompatible torch version (?P<torch>\S+) for torchao version (?P<torchao>\S+)
notice = yes
cause = torchao {torchao} skips its compiled kernels, because they are not for PyTorch {torch}; its Python part works.
remedy = If you need one of its kernels, install the torchao release for this PyTorch.

[mxfp4-dequantized]
keys = MXFP4 quantization requires
pattern = (MXFP4 quantization requires [Tt]riton[^\n:,]{0,60})
notice = yes
cause = Transformers loads the MXFP4 model in bfloat16, which takes about four times the memory: {found}.
remedy = Install what it names (pip install -U "triton>=3.4" kernels), or serve the model with vLLM or llama.cpp, which
    run MXFP4 themselves.

[deepspeed-no-libaio]
keys = async_io requires the dev libaio
pattern = (async_io) requires the dev libaio
notice = yes
cause = DeepSpeed's {found}, for offloading to an NVMe, is not built, because libaio's headers are missing.
remedy = If you need it, install libaio-dev; otherwise there is nothing to do.

[tensorflow-on-cpu]
keys =
    Skipping registering GPU devices
    Could not find cuda drivers on your machine
pattern = (Skipping registering GPU devices|Could not find cuda drivers on your machine)
notice = yes
cause = TensorFlow runs on the CPU ({found}): it did not find the driver or all the CUDA libraries of its build.
remedy = To use the GPU, run NVIDIA's TensorFlow image for aarch64; the package index has TensorFlow with CUDA only for
    x86-64 (tensorflow with the extra and-cuda).

[jupyter-output-limit]
keys = IOPub data rate exceeded
pattern = (IOPub data rate exceeded)
notice = yes
cause = A cell prints more than Jupyter passes on ({found}); the cell itself continues.
remedy = Print less, or start Jupyter with --ServerApp.iopub_data_rate_limit=1e10.

[pcie-corrected]
keys = severity=Correct
pattern = (?P<device>[\w:.]+): PCIe Bus Error: severity=Correct\w+
notice = yes
cause = The PCIe device {device} reported corrected errors: a few of them are harmless.
remedy = If there are hundreds, reseat the card or cable and update the firmware.

[processor-throttled]
keys = cpu clock throttled
pattern = (cpu clock throttled)
notice = yes
cause = The processor became too hot and ran more slowly ({found}).
remedy = Free the host's air inlets, and check the temperature under load (sensors; nvidia-smi -q -d TEMPERATURE).

[netplan-too-open]
keys = are too open. Netplan configuration
pattern = Permissions for (?P<file>\S+) are too open\. Netplan
notice = yes
cause = Others may read {file}, which may hold passwords: this is a warning from netplan, not a failure.
remedy = Run sudo chmod 600 {file}.

[ray-shared-memory-small]
keys = The object store is using /tmp instead of /dev/shm
pattern = object store is using /tmp instead of /dev/shm because /dev/shm has only (?P<size>\d+) bytes
notice = yes
cause = Ray keeps its objects on the disk, because /dev/shm of the container has only {size} bytes. It works, but
    slowly.
remedy = Start the container with --ipc=host, or --shm-size=16g.
source = ServerlessLLM/ServerlessLLM#311

[core-dumped]
keys = dumped core.
pattern = Process \d+ \((?P<program>[^)\n]+)\) of user \d+ (?P<what>dumped core)
notice = yes
cause = The program {program} crashed, and systemd kept its memory ({what}).
remedy = Run coredumpctl info {program} to see where.

[mdns-conflict]
keys = Host name conflict, retrying with
pattern = Host name conflict, retrying with ([\w-]+)
notice = yes
values =
    why of found: .*-\d{2,}$ => the host hears itself on other interfaces (Docker's bridges and veth), and increments
    + the number
    why of found: . => another host in this network has the same name
    advice of found: .*-\d{2,}$ => Name the one interface in /etc/avahi/avahi-daemon.conf (allow-interfaces=; neither
    + it nor deny-interfaces accepts wildcards), and restart avahi-daemon
    advice of found: . => Set a different name on each (sudo hostnamectl set-hostname NAME), because scripts that use
    + NAME.local reach the other host
cause = mDNS calls this host {found}: {why}.
remedy = {advice}.

[journal-unclean]
keys = corrupted or uncleanly shut down
pattern = File (\S+) corrupted or uncleanly shut down
notice = yes
cause = The host did not shut down properly before this boot: it lost power, froze or was reset (the journal starts a
    new file; the old one stays readable).
remedy = Read the end of the previous boot's journal (journalctl -b -1 -e). If it just stops, without Out of memory,
    panic or Xid, the cause was power, heat or full memory: lower the GPU's clock (sudo nvidia-smi -lgc 300,2100), leave
    more memory free, switch swap off, and run the vendor's diagnosis.

[time-server-silent]
keys = systemd-timesyncd
pattern = Timed out waiting for reply from (\S+)
notice = yes
cause = The time server {found} did not answer, so the clock may be wrong.
remedy = Allow UDP port 123, or set a server in your own network (NTP= in /etc/systemd/timesyncd.conf); timedatectl
    shows whether the clock is synchronised.

[rdma-library-missing]
keys = Failed to open libibverbs.so
pattern = Failed to open (libibverbs\.so\S*)
notice = yes
cause = NCCL cannot find RDMA's library {found}, so it uses TCP, which is much slower between two Sparks.
remedy = Install libibverbs1 and ibverbs-providers in the image, and pass --device /dev/infiniband.
source = dmlc/xgboost#7994

[driver-assertion]
keys =
    nvAssertFailedNoLog
    nvAssertOkFailedNoLog
pattern = nvAssert(?:Ok)?FailedNoLog: (?P<what>Assertion failed: [^\n]{1,120})
notice = yes
cause = A check inside the driver failed ({what}); many such failures are harmless.
remedy = If something failed at that time, look for an Xid or RmInitAdapter near this line, and install a newer driver
    of the branch.
source = NVIDIA/open-gpu-kernel-modules#748

[kernels-left-out]
keys = Not building
pattern = Not building (?P<part>[\w ]*(?:FP4|fp4|_120|SM12\d|12\.\d)[\w ]*?) as no compatible archs
notice = yes
cause = The build left out {part}, because these kernels do not support the requested architecture: the program will
    start, but on this GPU it will refuse models that need them.
remedy = Build it again with TORCH_CUDA_ARCH_LIST=12.0f (CUDA 12.9 and newer; older 12.0a), or use a release that names
    12.1.
source = vllm-project/vllm#38126
"""
