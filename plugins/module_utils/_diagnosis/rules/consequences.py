# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Consequences

Messages that follow the failure itself; they are reported only if a log has nothing better.
"""

RULES = r"""
[nccl-tests-failure]
keys = Test NCCL failure
pattern = Test NCCL failure \S+ '(\w[\w ]+)
cause = nccl-tests reports that NCCL failed ({found}), but not why: NCCL's own WARN lines tell it.
remedy = Run it again with -x NCCL_DEBUG=WARN (INFO for more) for all hosts, and read the first NCCL WARN line.

[child-killed]
keys = received by PID
pattern = Signal (?P<number>\d+) \((?P<name>SIG\w+)\) received by PID (?P<process>\d+)
values =
    advice of number: 9$ => Look for Out of memory in the kernel's log (journalctl -k): it kills so when memory runs
    + out, and then the program must take less
    advice of number: (?:11|7|4|6)$ => It crashed: read its own lines above, and run it with python -X faulthandler
    advice of number: . => See who sent it: a scheduler, a service that stopped, or another rank that failed first
cause = Process {process} of the job was ended by the signal {name}.
remedy = {advice}.

[triton-compiler-failed]
keys = CalledProcessError: Command
pattern = CalledProcessError: Command '\['([^']+)', '[^']*(?:cuda_utils|__triton_launcher|main|launcher)\.c'
cause = Triton compiles a C file at the first kernel, and {found} failed.
remedy = Read the compiler's lines above; install gcc and the headers of Python (apt install build-essential
    python3-dev; role build_toolchain), and check that cuda.h and libcuda.so.1 are found.

[extension-build-failed]
keys = Error building extension '
pattern = Error building extension '(?P<name>\w+)'
cause = PyTorch could not compile the extension {name} when the program started; this line does not say why.
remedy = Read the first error of nvcc, c++ or ninja above it; install ninja, g++ and the CUDA toolkit of PyTorch's CUDA
    (CUDA_HOME), set TORCH_CUDA_ARCH_LIST=12.0 and MAX_JOBS=4, and remove ~/.cache/torch_extensions before the next try.

[c10d-store-lost]
keys = [c10d] recvValue failed on SocketImpl
pattern =
    \[c10d\] recvValue failed on SocketImpl\((?:[^)\n]*?)remote=(?P<store>[^)\n]+)\): (?P<why>\w[\w ]*)
cause = The process at {store}, at which the ranks meet, ended or is not reached any more ({why}): this rank only
    noticed it.
remedy = Read the log of rank 0 (on {store}) for its first error; if it has none, see that nothing between the hosts
    cuts the connection (ufw, a link that goes down).

[package-asked-for]
keys =
    pip install
    lease install
pattern =
    Error: [^\n]*?['\"(](?P<command1>(?:uv )?pip3? install [^'\"()\n]*[^'\"()\n .])
    Error: [^\n]*?[Pp]lease install '?(?P<command2>[\w.-]+(?:\[[\w,-]+\])?)'?(?= (?:for|to|before|first|it|with|via
    +|from)\b|[.,;]? *$)
cause = The program needs a package that is not installed, or a newer one than there is: it asks for {command}.
remedy = Install it with the Python that runs the program (python -m pip install), with --no-deps where it would replace
    torch; if it has no wheel for aarch64, look for an option that goes without it.

[object-attribute-missing]
keys = ' object has no attribute '
pattern =
    AttributeError: '(?P<class>(?!NoneType|str'|list'|dict'|int'|float'|tuple'|bool'|bytes'|function'|_OpNamespace)\w+)'
    + object has no attribute '(?P<attribute>\w+)'
cause = {class} has no {attribute} in the installed versions: the package whose line is the last of the traceback was
    written for another release of the one that {class} is of.
remedy = Upgrade both in one command, or install the versions that the program's release pins; the paths of the
    traceback's last two places name the packages.

[ray-channel-timeout]
keys = RayChannelTimeoutError
pattern = (RayChannelTimeoutError)
cause = A worker did not finish a step in the time that Ray gives it ({found}): it compiles, waits for the network, or
    is dead.
remedy = Read the logs of the other workers for the first error, and check the network between the hosts
    (NCCL_DEBUG=INFO); if the workers only need longer, set RAY_CGRAPH_get_timeout (seconds) in the environment of every
    Ray process.
source = vllm-project/vllm#19703

[compiled-graph-failed]
keys =
    InductorError:
    BackendCompilerFailed:
    LoweringException:
    exc.TorchRuntimeError:
pattern = (?:InductorError|BackendCompilerFailed|LoweringException|TorchRuntimeError): (?P<why>[^\n]+)
cause = torch.compile failed: {why}.
remedy = Start without it to go on (--enforce-eager of vLLM, TORCHDYNAMO_DISABLE=1 elsewhere), delete the caches
    (~/.cache/vllm/torch_compile_cache, /tmp/torchinductor_*), and take a newer PyTorch with its Triton; the lines below
    it say which kernel it was.

[setting-refused]
keys = validation error
pattern =
    validation errors? for (?P<model>\w+)\n(?:(?P<field>\w[\w.\[\]-]*)\n)?\s*(?P<why>Extra inputs are not permitted|
    +Field required|Input should be [^\n\[]*[^\n\[ ])
values =
    advice of why: Extra => Remove it, or correct its name and level: this release has no such setting there (of
    + TensorRT-LLM compare the YAML file with the reference of the installed release)
    advice of why: Field => Add it: this release requires it
    advice of why: . => Write a value of that kind (in YAML without quotes, where it is a number or true)
cause = {model} refuses a setting[, {field}]: {why}.
remedy = {advice}.

[ray-worker-died]
keys =
    Worker exit type:
    died unexpectedly, shutting down executor
    Failed to register worker to Raylet
pattern =
    Worker exit type: \w+ Worker exit detail: (?P<why1>[^\n]{1,160}?)(?:\. |$)
    (?P<why2>rank=\[[\d, ]+\] died unexpectedly)
    (?P<why3>Failed to register worker to Raylet)
cause = A process of Ray ended ({why}), and this log does not say why.
remedy = Look on the host that it ran on: at Out of memory in the kernel's log (journalctl -k), at its own log
    (/tmp/ray/session_latest/logs, worker-*.err and raylet.out), and at its memory (free -h); with nothing there, stop
    Ray on all hosts (ray stop) and start it again in the same image.

[process-signal]
keys =
    Failed core proc(s): {
    xit code: -
    xit code -
    xitcode: -
    xitcode=-
    exitcode  : -
    exited with code 13
pattern =
    Failed core proc\(s\): \{'\w+': -(?P<number1>\d+)
    [Ee]xit ?code ?(?:: ?|=)? ?-(?P<number2>\d+)\b
    exitcode  : -(?P<number3>\d+)\b
    exited with code (?P<number4>13[24569])\b
values =
    what of number: 9$ => 9 (killed)
    what of number: (?:11|139)$ => 11 (segmentation fault)
    what of number: (?:4|132)$ => 4 (illegal instruction)
    what of number: (?:6|134)$ => 6 (abort)
    what of number: (?:7|135)$ => 7 (bus error)
    what of number: . => of that number
    advice of number: 9$ => Look for Out of memory in the kernel's log (journalctl -k), and give the program less memory
    + or a smaller model
    advice of number: (?:4|132)$ => It was built for another processor: take a build for aarch64 or for this CPU
    advice of number: (?:7|135)$ => Give a container more shared memory (--ipc=host), and look for a full disk
    advice of number: (?:6|134)$ => Read its lines before this: an assertion, or an exception that nothing caught
    advice of number: . => Run it with python -X faulthandler, look at coredumpctl info, and see that torch, CUDA and
    + the compiled packages are of one build
cause = A process was ended by the signal {what}, and this log does not say why.
remedy = {advice}.

[engine-ended]
keys =
    EngineDeadError
    Engine core initialization failed
    Executor worker returned error
    Executor worker died
    Received sigquit from a child process
    scheduler is dead. Please check
    WorkerProc initialization failed
pattern =
    (?P<what>EngineDeadError|Engine core initialization failed|Executor worker (?:returned error|died)|Received sigquit
    + from a
    + child process|scheduler is dead|WorkerProc initialization failed)
cause = The server ended because one of its processes failed ({what}), and this log does not have the failure itself.
remedy = Read the log further up, from the first line with ERROR or Traceback of that process (docker logs CONTAINER
    2>&1 | grep -nE "ERROR|Traceback|Error:" | head), on all hosts; with nothing there, look for Out of memory in the
    kernel's log (journalctl -k).

[lmstudio-not-loaded]
keys =
    exited before becoming healthy
    Error: Received load-error
pattern =
    Engine protocol runtime (?P<runtime>\S+) for \S+ exited before becoming healthy\. exitCode=(?P<code>\w+)
    (Received load-error)
cause = The engine of LM Studio ended while it loaded the model[ ({runtime}, status {code})]; these lines do not say
    why.
remedy = Watch its log while it loads (lms log stream); update the engine (the app's page Runtime), take a shorter
    context or a more quantized model, and one in a format that the engine reads (GGUF).
source =
    lmstudio-ai/lmstudio-bug-tracker#2190
    lmstudio-ai/lmstudio-bug-tracker#1635

[ollama-not-loaded]
keys =
    unable to load model: /
    model failed to load, this may be due to
    model runner has unexpectedly stopped
pattern =
    (model runner has unexpectedly stopped)
    (unable to load model): /\S+/blobs/
    (model failed to load), this may be due to
cause = Ollama could not load the model ({found}); the lines of its runner, before this in the server's journal, say
    why.
remedy = Read them (journalctl -u ollama -e, or docker logs), update Ollama, since a newer model needs a newer one, pull
    the model again, and leave more memory free (ollama ps, OLLAMA_CONTEXT_LENGTH).

[unit-job-failed]
keys =
    failed because the control process exited
    failed because a fatal signal was delivered
    failed because a timeout was exceeded
pattern = Job for (\S+) failed because (?P<why>[^\n.]+)
cause = systemd could not start {found} ({why}); this line does not say why.
remedy = Read its own lines: journalctl -xeu {found} -b --no-pager | tail -50 (systemctl status {found} shows the last
    ten).

[unit-exited]
keys =
    Failed with result 'start-limit-hit'
    Failed with result 'exit-code'
pattern = ([\w@.\\-]+): Failed with result '(?:exit-code|start-limit-hit)'
cause = The program of {found} ended with an error, and its own lines in this log do not say one that is known.
remedy = Read what it printed before that line (journalctl -u {found} -b), and start its ExecStart by hand as the same
    account; when that is mended, sudo systemctl reset-failed {found} and start it.

[mpi-rank-ended]
keys = mpirun noticed that process rank
pattern =
    process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+)\s+exited on\s+signal (?P<signal>\d+) \((?P<name>
    +[^)\n]+)\)
values =
    advice of signal: 9$ => Look there for Out of memory (journalctl -k), as a kill mostly means that; let the program
    + take less
    advice of signal: . => Read that rank's own lines before it (--tag-output names them), and the core dump
    + (coredumpctl info)
cause = Rank {rank} on {node} was ended by signal {signal} ({name}), and mpirun ended the others.
remedy = {advice}.

[pod-probe-failed]
keys =
    Liveness probe failed
    Startup probe failed
pattern = (?P<kind>Liveness|Startup) probe failed: (?P<why>[^\n]{1,160})
cause = Kubernetes restarts the container, because its {kind} probe failed: {why}.
remedy = Read the container's own log (kubectl logs --previous); a model that loads for minutes needs a startupProbe
    with enough time (failureThreshold times periodSeconds), or a longer initialDelaySeconds.

[pod-crash-loop]
keys =
    Back-off restarting failed container
    CrashLoopBackOff
pattern =
    Back-off restarting failed container (?P<name>\S+)
    (CrashLoopBackOff)
cause = The container[ {name}] of a pod ends again and again, and Kubernetes waits before it starts it anew; this log
    does not say why.
remedy = Read what it printed (kubectl logs POD --previous --all-containers) and how it ended (kubectl describe pod POD:
    Last State, Exit Code; 137 is a kill, mostly for memory).

[pod-image-pull]
keys =
    Failed to pull image
    ErrImagePull
    ImagePullBackOff
    Back-off pulling image
pattern =
    Failed to pull image '(?P<image1>[^'\n]+)': (?P<why>[^\n]{1,200})
    Back-off pulling image '(?P<image2>[^'\n]+)'
    (ErrImagePull|ImagePullBackOff)
cause = Kubernetes could not pull the image[ {image}][: {why}].
remedy = See the whole reason (kubectl describe pod POD): compare name and tag, and that it has linux/arm64; a private
    one needs imagePullSecrets (kubectl create secret docker-registry), an image that is only local imagePullPolicy:
    IfNotPresent and must be in containerd (k3s ctr images import).

[build-step-failed]
keys = did not complete successfully: exit code
pattern = process '(?P<command>(?:[^'\\\n]|\\.){1,400})[^\n]*did not complete successfully: exit code: (?P<code>\d+)
values =
    advice of code: 100$ => It is apt's: read the lines with E: above, and begin the RUN with apt-get update
    advice of code: 127$ => A program is missing: read the line with not found above, and install its package before
    advice of code: 137$ => It was killed, mostly for memory: build with fewer jobs (MAX_JOBS as a build argument)
    advice of code: (?:132|139)$ => It crashed: mostly a program for another processor in the emulation, or a library
    + that does not fit
    advice of code: . => Read that step's own lines above (docker build --progress=plain shows all)
cause = A step of the Dockerfile failed with the status {code}: {command}.
remedy = {advice}.

[nccl-proxy-ended]
keys = NCCL WARN [Service thread]
pattern = NCCL WARN \[Service thread\] (?P<why>[^\n]{1,160})
cause = A process of this job on the same host ended, and NCCL's service thread only noticed it ({why}).
remedy = Read the first error of all ranks before that line, on every host.

[crate-build-script]
keys = failed to run custom build command for
pattern = failed to run custom build command for '(?P<crate>[\w-]+) v(?P<version>[^\s'`]+)
values =
    advice of crate: ring$ => Take a newer gcc (9 or newer), or for that of manylinux2014 set
    + CFLAGS_aarch64_unknown_linux_gnu=-D__ARM_ARCH=8
    advice of crate: openssl-sys => Install libssl-dev and pkg-config
    advice of crate: alsa-sys => Install libasound2-dev and pkg-config
    advice of crate: (?:libudev|hidapi) => Install libudev-dev and pkg-config
    advice of crate: aws-lc => Install cmake, clang and libclang-dev
    advice of crate: (?:candle|cudarc|bindgen_cuda) => Put nvcc of CUDA 13 on PATH, and set CUDA_COMPUTE_CAP=121
    advice of crate: (?:prost|protobuf|etcd|tonic|lance) => Install protobuf-compiler
    advice of crate: (?:rdkafka|zmq|libgit2|libz|libssh2|fontconfig|freetype|dbus|xcb|wayland|gtk|glib|gdk|cairo|pango)
    + => Install pkg-config and the development package of that library
    advice of crate: . => Install what they name (mostly cmake, clang, libclang-dev, pkg-config or a development
    + package)
cause = The build script of the crate {crate} {version} failed; the lines below it, after --- stderr, say why.
remedy = {advice}, then run cargo again.
source = tensorlakeai/tensorlake#551

[dpkg-returned-error]
keys = Sub-process /usr/bin/dpkg returned an error code
pattern = Sub-process (/usr/bin/dpkg) returned an error code
cause = dpkg failed under apt, and these lines do not say for which package.
remedy = Run sudo dpkg --configure -a, which prints the package and its error again; then sudo apt --fix-broken install.

[mpi-initialisation]
keys = An error occurred in MPI_Init
pattern = An error occurred in (MPI_Init\w*)
cause = MPI did not start in one of the processes ({found}), and this line does not say why.
remedy = Read the lines above it; run with --mca btl_base_verbose 20 and without other transports first (mpirun --mca
    pml ob1 --mca btl tcp,self), and see that mpirun and the program are of one MPI (which mpirun; ldd PROGRAM | grep
    mpi).

[build-failed-make]
keys =
    *** [Makefile
    *** [CMakeFiles
    CMake configuration failed
    Could not build wheels for
    metadata-generation-failed
pattern =
    make(?:\[\d+\])?: \*\*\* \[(?P<what1>(?:Makefile|CMakeFiles)[^\]\n]*)\] Error \d+
    (?P<what2>CMake configuration failed)
    (?P<what3>Could not build wheels for [\w.-]+)
    (?P<what4>metadata-generation-failed)
cause = A build ended ({what}), and this log does not have the line that says why.
remedy = Run it again with one job and all output, so that the failure stands last: make -j1 VERBOSE=1, ninja -v -j1, or
    for a package pip install -v --no-cache-dir NAME; the first line with error: counts.

[download-refused]
keys = HTTPError: HTTP Error
pattern = HTTPError: HTTP Error (?P<status>[45]\d\d): (?P<why>[\w ]+)
cause = A download of the program failed: the server answers {status}, {why}.
remedy = Look at the traceback's lines for the address: the file has another name or release, or none for aarch64 and
    this Python; a build that only tries for a finished wheel goes on from source after it.
"""
