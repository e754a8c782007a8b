# __init__.py in this directory explains the fields.
"""Consequences

Messages that follow the failure itself; they are reported only if a log has nothing better.
"""

RULES = r"""
[nccl-helper]
keys =
    Error encountered progressing operation
    Failed to execute operation
pattern =
    Error encountered progressing operation=(?P<step1>\w+)
    NCCL WARN [^\n]*Failed to execute operation (?P<step2>\w+)
cause = NCCL's helper failed at the step {step} for a connection to another rank, and this log does not say why.
remedy = Look for an earlier WARN here and on the other host (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,NET). If there is
    none, try NCCL_IB_DISABLE=1: if that works, RDMA is at fault (role fabric).
source = MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks#3

[nccl-tests-failure]
keys =
    Test NCCL failure
    Test CUDA failure
pattern = Test (?:NCCL|CUDA) failure \S+ '(\w[\w ]+)
cause = nccl-tests reports that a call failed ({found}), but not why; NCCL's own WARN lines do.
remedy = Run it again with -x NCCL_DEBUG=WARN (INFO for more) for all hosts, and read the first NCCL WARN line.

[cuda-not-counted]
keys = error from cudaGetDeviceCount
pattern = error from cudaGetDeviceCount\(\)[^\n]*?Error (?P<number>\d+): (?P<why>[^\n]*[^\n.])
values =
    advice of number: 500 => The driver's library and the GPU's driver do not match: update the driver (on Windows,
    + the Windows driver, Docker Desktop and wsl --update), and keep an image's own libcuda off LD_LIBRARY_PATH
    advice of number: . => Make nvidia-smi work where the program runs, and compare its driver with the CUDA of the
    + program
cause = CUDA does not start in the program: {why} (CUDA error {number}).
remedy = {advice}.
uncertain = no
source = open-webui/open-webui#4052

[container-hook-failed]
keys = nvidia-container-cli:
pattern = nvidia-container-cli: (?P<step>[a-z]+ error): (?P<why>[^\n\\]{4,240}?)(?:: unknown)?\.?(?:\\|$)
uncertain = yes
cause = NVIDIA's hook could not prepare the container ({step}): {why}.
remedy = Check that nvidia-smi works on the host, update the container toolkit, and try CDI instead (sudo nvidia-ctk cdi
    generate --output=/etc/cdi/nvidia.yaml; --device nvidia.com/gpu=all). sudo nvidia-container-cli -k -d /dev/tty info
    shows the failing step.
source =
    NVIDIA/nvidia-docker#1300
    NVIDIA/nvidia-container-toolkit#296

[compile-errors-counted]
keys = detected in the compilation of
pattern = \d+ errors? detected in the compilation of '[^'\n]*?(?P<file>[^'/\n]+)'
cause = nvcc could not compile {file}; its errors are above this line.
remedy = Read the first line with error: above it (ninja -v or MAX_JOBS=1 keeps them together). Usually the CUDA toolkit
    is older than the code requires (CUDA_HOME, nvcc --version; for FlashInfer, delete ~/.cache/flashinfer afterwards),
    or the kernel is not for this GPU, and another backend helps.
source = modelscope/ms-swift#8349

[ucx-error]
keys =
    UCX  ERROR
    UCX ERROR
    Unexpected UCX error
pattern =
    UCX +ERROR (?P<why1>[^\n]{4,200})
    Unexpected UCX error: (?P<why2>[^\n]{3,120})
values =
    advice of why: .*no (?:remote registered memory|\w[\w ]*) (?:access )?transport => Let UCX use the RDMA ports: name
    + them (UCX_NET_DEVICES=rocep1s0f0:1), unset UCX_TLS or add rc, and check that ucx_info -d lists rc there (a
    + container needs --device /dev/infiniband). Over TCP alone, use UCX 1.12 or newer on all hosts
    advice of why: .*(?:timeout|[Tt]imed out|send\(|recv\(|[Cc]onnection|reset|refused|unreachable) => Check that the
    + other process still runs (its log has the first error), and that the hosts reach each other on all ports (ufw)
    + over the interfaces that UCX_NET_DEVICES names
    advice of why: .*(?:memory|reg_mr|lock|mmap) => Allow more locked memory (ulimit -l unlimited, --ulimit memlock=-1)
    + and shared memory (--shm-size, --ipc=host)
    advice of why: . => Set UCX_NET_DEVICES to the cabled ports and UCX_TLS to transports that ucx_info -d lists
    + (start with tcp,cuda_copy,cuda_ipc), and use one release of UCX on all hosts
cause = UCX, which carries data between processes or hosts, reports: {why}.
remedy = {advice}; UCX_LOG_LEVEL=info shows what it chose.
source = LMCache/LMCache#725

[ray-check-failed]
keys = Check failed:
pattern = ^ *(?:\w+\.cc:\d+: +)?Check failed: (?P<check>[^\n]{1,160})
cause = A program written in C++ (Ray, XLA, TVM and others) aborted because an internal check failed: {check}.
remedy = Read the lines below it, which show where it failed, and the logs of the other processes for an earlier error.
    For Ray, read raylet.out in /tmp/ray/session_latest/logs on each host (usually memory or disk ran out, or a process
    that held data was killed), and run one release of Ray on all hosts.
source = verl-project/verl#2380

[llamacpp-fitting-step]
keys = this is normal during memory fitting
pattern = (?P<why>\w[\w ]{3,60}) \(this is normal during memory fitting\)
cause = llama.cpp tried a context while it looked for sizes that fit into memory ({why}); on its own, this is not a
    failure.
remedy = Read the lines below it; if the server does not start, set the sizes yourself (-fit off, -c, -ngl).
source = ggml-org/llama.cpp#24343

[llamacpp-not-pinned]
keys = of pinned memory
pattern = failed to allocate (?P<size>[\d.,]+ MiB) of pinned memory: (?P<why>[^\n]{3,80})
cause = llama.cpp could not allocate {size} of pinned memory ({why}) and continues with ordinary memory, so this is not
    the failure.
remedy = Read the lines after it for the failure. If there is none, raise the limit (ulimit -l unlimited), or set
    GGML_CUDA_NO_PINNED=1 to silence the message.
source = ggml-org/llama.cpp#9629

[gpu-memory-display]
keys = Could not get GPU memory info
pattern = Could not get GPU memory info\. (?P<why>[^\n]{3,60})
cause = ComfyUI's display of the GPU's memory (Crystools) gets no number from NVML ({why}), as on every GB10, and
    continues without it, so this is not the failure.
remedy = Read the lines after it for the failure. If there is none, update the node that displays it (newer ones read
    torch.cuda.mem_get_info), or disable the display.
source = crystian/ComfyUI-Crystools#288

[cuda-error-by-link]
keys = Search for `cudaError
pattern = Search for '(?P<name>cudaError[A-Z]\w+)' in https
values =
    what of name: cudaErrorAssert => a kernel got an index outside its table, usually a token or position that the
    + model does not have
    what of name: cudaErrorIllegal|cudaErrorMisaligned|cudaErrorLaunchFailure => a kernel read or wrote outside its
    + memory
    what of name: cudaErrorNoKernelImage|cudaErrorUnsupportedPtx|cudaErrorInvalidDeviceFunction => the program has no
    + code for this GPU
    what of name: cudaErrorMemoryAllocation => memory ran out
    what of name: . => a call of CUDA failed
    advice of name: cudaErrorAssert => Read the lines with Assertion further up. Use the model's own tokenizer,
    + shorten the prompt to the model's context, and leave out speculative decoding and the adapter
    advice of name: cudaErrorNoKernelImage|cudaErrorUnsupportedPtx|cudaErrorInvalidDeviceFunction => Use a build with
    + code for 12.0 or 12.1 and CUDA 13
    advice of name: cudaErrorMemoryAllocation => Lower the program's share of memory (--gpu-memory-utilization), the
    + context or the batch
    advice of name: . => Run it once with CUDA_LAUNCH_BLOCKING=1, choose another backend for the kernel that it names,
    + and use a newer release
cause = CUDA reported {name} without its own message: {what}.
remedy = {advice}.
source = vllm-project/vllm#31709

[child-killed]
keys = received by PID
pattern = Signal (?P<number>\d+) \((?P<name>SIG\w+)\) received by PID (?P<process>\d+)
values =
    advice of number: 9$ => Look for Out of memory in the kernel's log (journalctl -k). The kernel kills a process
    + this way when memory runs out; if it did, let the program use less
    advice of number: (?:11|7|4|6)$ => It crashed: read its own lines above, and run it with python -X faulthandler
    advice of number: . => Find out who sent it: a scheduler, a service that was stopped, or another rank that failed
    + first
cause = Process {process} of the job was ended by the signal {name}.
remedy = {advice}.

[extension-build-failed]
keys =
    Error building extension '
    Ninja build failed. Ninja output
    '['ninja', '-v', '-C'
pattern =
    Error building extension '(?P<name1>\w+)'
    Command '\['ninja', '-v', '-C', '[^'\n]*/(?P<name2>flashinfer)/
    (?P<what>Ninja build failed)\. Ninja output
cause = PyTorch could not compile an extension[ ({name})] when the program started; this line does not say why.
remedy = Read the first error of nvcc, c++ or ninja above it; install ninja, g++ and the CUDA toolkit that matches
    PyTorch's CUDA (CUDA_HOME), set TORCH_CUDA_ARCH_LIST=12.0 and MAX_JOBS=4, and remove ~/.cache/torch_extensions
    before the next try.

[c10d-store-lost]
keys =
    [c10d] recvValue failed on SocketImpl
    DistNetworkError:
pattern =
    \[c10d\] recvValue failed on SocketImpl\((?:[^)\n]*?)remote=(?P<store>[^)\n]+)\): (?P<why1>\w[\w ]*)
    DistNetworkError: (?P<why2>[Ff]ailed to recv, got \d+ bytes|Connection reset by peer|Broken pipe)
cause = The process[ at {store}] where the ranks meet ended or can no longer be reached ({why}). This rank only noticed
    it.
remedy = Read the log of rank 0[ (on {store})] for its first error. If it has none, check that nothing between the hosts
    cuts the connection (ufw, a link that goes down).

[ray-channel-timeout]
keys = RayChannelTimeoutError
pattern = (RayChannelTimeoutError)
cause = A worker did not finish a step within Ray's time limit ({found}): it compiles, waits for the network, or is
    dead.
remedy = Read the logs of the other workers for the first error, and check the network between the hosts
    (NCCL_DEBUG=INFO); if the workers only need longer, set RAY_CGRAPH_get_timeout (seconds) in the environment of every
    Ray process.
source = vllm-project/vllm#19703

[ray-exception]
keys = ray.exceptions.
pattern = ray\.exceptions\.(?P<kind>(?!ActorDied|RayTask|RayActor|OutOfMemory)\w+)(?:: (?P<why>[^\n]{2,240}))?
values =
    advice of kind: RuntimeEnv => Read /tmp/ray/session_latest/logs/runtime_env_setup-*.log on that host: its
    + packages or working directory could not be downloaded
    advice of kind: GetTimeout => Check whether the task still runs or waits for a resource (ray status, ray list
    + tasks), and raise the timeout of ray.get
    advice of kind: ObjectStoreFull => Start Ray with a larger --object-store-memory and /dev/shm (--shm-size=16g),
    + and pass fewer large objects
    advice of kind: (?:Object|Owner|Node|LocalRaylet|WorkerCrashed|ActorUnavailable|RayChannel|Rpc) => On the lost
    + host, find out what ended the process (journalctl -k | grep -i oom, /tmp/ray/session_latest/logs/raylet.out), and
    + check that the hosts reach each other on all ports (ufw)
    advice of kind: .*Unschedulable => Compare the resources that it requests with ray status: the cluster lacks a
    + host, GPU or label
    advice of kind: RaySystem => Run one release of Ray, Python and the program's packages on all hosts: one could
    + not read what another sent
    advice of kind: . => Read that worker's own log in /tmp/ray/session_latest/logs
cause = Ray could not finish a task ({kind})[: {why}].
remedy = {advice}.
source = https://docs.ray.io/en/latest/ray-core/api/exceptions.html

[ray-worker-died]
keys =
    Worker exit type:
    A worker died or was killed
    died unexpectedly, shutting down executor
    Failed to register worker
pattern =
    Worker exit type: \w+ Worker exit detail: (?P<why1>[^\n]{1,160}?)(?:\. |$)
    (?P<why2>rank=\[[\d, ]+\] died unexpectedly)
    (?P<why3>Failed to register worker (?:\w+ )?to Raylet)
    \(raylet[^)\n]*\) (?P<why4>A worker died or was killed while executing a task)
cause = A process of Ray ended ({why}), and this log does not say why.
remedy = On the host where it ran, look for Out of memory in the kernel's log (journalctl -k), read its own log
    (/tmp/ray/session_latest/logs, worker-*.err and raylet.out) and check its memory (free -h). If they show nothing,
    stop Ray on all hosts (ray stop) and start it again in the same image.

[process-signal]
keys =
    Failed core proc(s): {
    xit code: -
    xit code -
    xitcode: -
    xitcode=-
    exitcode  : -
    exited with code 13
    to shutdown with signal
pattern =
    signaled to shutdown with signal (?P<number5>\d+)
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
    what of number: (?:15|143)$ => 15, with which its parent or an operator ends it
    what of number: . => with that number
    advice of number: 9$ => Look for Out of memory in the kernel's log (journalctl -k), and let the program use less
    + memory or a smaller model
    advice of number: (?:4|132)$ => It was built for another processor: use a build for aarch64 or for this CPU
    advice of number: (?:15|143)$ => Look for an earlier error of another process, after which the parent ended the rest
    advice of number: (?:7|135)$ => Start a container with more shared memory (--ipc=host), and look for a full disk
    advice of number: (?:6|134)$ => Read its lines above this one: an assertion, or an exception that nothing caught
    advice of number: . => Run it with python -X faulthandler, read coredumpctl info, and check that torch, CUDA and
    + the compiled packages come from matching builds
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
    Engine process failed to start
    ShardCannotStart
    Engine core proc
    Worker failed with error '', please
    'MultiprocExecutor' object has
pattern =
    (?P<what2>Engine core proc \S+ died unexpectedly)
    (?P<what3>'MultiprocExecutor' object has no attribute 'workers')
    (?P<what>EngineDeadError|Engine (?:core initialization failed|process failed to start)|Executor worker (?:returned
    + error|died)|Received sigquit from a child process|scheduler is dead|WorkerProc initialization
    + failed|ShardCannotStart|Worker failed with error '',)
cause = The server ended because one of its processes failed ({what}), and this log does not show the failure itself.
remedy = Read the log further up, from the first line with ERROR or Traceback of that process (docker logs CONTAINER
    2>&1 | grep -nE "ERROR|Traceback|Error:" | head), on all hosts. If there is nothing, look for Out of memory in the
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
remedy = Watch its log while it loads (lms log stream). Update the engine (on the app's Runtime page), use a shorter
    context or a more quantized model, and a format that the engine reads (GGUF).
source = lmstudio-ai/lmstudio-bug-tracker#2190

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
remedy = Read them (journalctl -u ollama -e, or docker logs). Update Ollama, because a new model needs a new release,
    pull the model again, and leave more memory free (ollama ps, OLLAMA_CONTEXT_LENGTH).

[unit-job-failed]
keys =
    failed because the control process exited
    failed because a fatal signal was delivered
    failed because a timeout was exceeded
    entered failed state
    failed. See
    repeated too quickly for
pattern =
    Job for (\S+) failed because (?P<why>[^\n.]+)
    Job for (\S+) (?P<why4>failed)\. See
    Unit ([\w@.\\-]+) (?P<why2>entered failed state)
    start request (?P<why3>repeated too quickly) for ([\w@.\\-]+)
values =
    more of found: docker => . For Docker it is often an option that both /etc/docker/daemon.json and the unit's command
    + have (hosts, runtimes), or a mistake in that file (dockerd --validate)
    more of found: nvidia-docker => . nvidia-docker 1 and its plugin have ended: remove that package, and use
    + nvidia-container-toolkit with --gpus all
    more of found: . =>  (systemctl status shows the last ten)
cause = systemd could not start {found} ({why}); this line does not say why.
remedy = Read its own lines: journalctl -xeu {found} -b --no-pager | tail -50{more}.

[netplan-apply-failed]
keys = 'apply']' returned non-zero
pattern = ['"]\[?'?(netplan)'?, 'apply'\]' returned non-zero exit status
cause = {found} apply failed, and this line does not say why.
remedy = Run sudo netplan --debug apply: its lines above name the file and the line, or the service that failed
    (journalctl -b -u systemd-networkd -u NetworkManager). Often an address lacks its prefix length (/24).
source = rutgerblom/ubuntu-autoinstall#3

[modprobe-nvidia-failed]
keys = /sbin/modprobe nvidia-
pattern = Process '/sbin/modprobe (nvidia-\w+)' failed
cause = The kernel could not load {found}, usually because the nvidia module could not initialise the GPU.
remedy = Read the NVRM lines of the same second in the kernel's log; later failures are consequences of them.
source = ollama/ollama#11932

[unit-status]
keys =
    exited, code=exited, status=1
pattern =
    (?P<unit>[\w@.\\-]+): [Mm]ain process exited, code=exited, status=(?P<status>12[67]|137|139|143|132|134|135|101)\b
values =
    what of status: 126 => a program exists but cannot be run
    what of status: 127 => a program or one of its libraries is missing, or a library is too old
    what of status: 137 => it was killed, usually because memory ran out
    what of status: 143 => it was asked to stop
    what of status: 101 => a Rust program panicked
    what of status: . => it crashed
    advice of status: 12[67] => Start its ExecStart by hand as the same account: the shell or the loader says what is
    + missing (ldd PROGRAM | grep 'not found')
    advice of status: 137 => Look for Out of memory in the kernel's log (journalctl -k)
    advice of status: 143 => Find out who stopped it (journalctl -b: a restart, a dependency, a time-out)
    advice of status: . => Read its own lines above, and coredumpctl info
cause = The program of {unit} ended with the status {status}: {what}.
remedy = {advice}.
source = ollama/ollama#6248

[unit-command-status]
keys =
    (code=exited, status=
    (code=killed, status=
    (code=dumped, status=
pattern =
    Process: \d+ (?P<step>Exec\w+)=(?P<command>[^\n]+?) \(code=(?:exited|killed|dumped),
    + status=(?P<status>[1-9]\d*)[^)\n]*\)
values =
    what of status: 126 => its program exists but cannot be run
    what of status: 127 => its program, or one that it calls, is missing
    what of status: 9$ => it was killed, usually because memory ran out or because it did not stop in time
    what of status: (?:4|6|7|8|11)$ => it crashed
    what of status: 2$ => usually it was called wrongly, Python did not find its file, or a Go program panicked
    what of status: . => its own lines say why
    advice of command: \S*env python\b => Write python3 instead of python (or install python-is-python3), and use its
    + full path
    advice of status: 12[67] => Run that command by hand as the unit's account: the shell or the loader says what is
    + missing. Use full paths, because a unit has a short PATH
    advice of status: . => Read them (journalctl -b -u UNIT --no-pager | tail -50; with --user for a user's unit), or
    + run that command by hand as the unit's account, in its directory
cause = The command of {step} ended with the status {status} ({command}): {what}.
remedy = {advice}.
source = tamisoft/nvidia-smi2ha#1

[unit-start-failed]
keys =
    Failed to start
    Failed to mount /
pattern =
    ^(?:\[ ?FAILED ?\] )?Failed to start (?P<unit1>[\w@.\\-]+\.(?:service|mount|socket))
    \[ ?FAILED ?\] (?:Failed )?to start (?P<unit2>[^\n]{3,80}?)\.?$
    Failed to mount (?P<unit3>/\S+?)\.$
cause = systemd could not start {unit}, and these lines do not say why.
remedy = Read the unit's own lines (systemctl --failed lists it; journalctl -b -u UNIT --no-pager | tail -50): what it
    printed before it ended says why.
source = Askannz/optimus-manager#555

[triton-model-unavailable]
keys = UNAVAILABLE:
pattern = \| (?P<model>[\w.-]+) +\| \d+ +\| UNAVAILABLE: (?P<why>[^|\n]*[^|\s.])
uncertain = no
values =
    advice of why: .*json\.exception => Build the engine again with the TensorRT-LLM of the server's image: its
    + config.json lacks entries that this release reads (a model that is not a decoder has other entries and needs
    + another backend)
    advice of why: .*model configuration is not => Add a config.pbtxt to its directory, or start the server with
    + --strict-model-config=false if its backend can work out the configuration
    advice of why: . => Compare its config.pbtxt with the backend's documentation, and use the server image that has
    + that backend in the version for which the model was built
cause = Triton Inference Server could not load the model {model}: {why}.
remedy = {advice}; the lines of that model above have the complete message.
source = NVIDIA/TensorRT-LLM#1659

[unit-exited]
keys =
    process exited, code=exited, status=
    Failed with result 'start-limit-hit'
    Failed with result 'exit-code'
    Failed with result 'signal'
pattern =
    ([\w@.\\-]+): (?:Main|Control|Mount) process exited, code=exited, status=(?!1(?:30|43)\b)[1-9]
    ([\w@.\\-]+): Failed with result '(?:exit-code|start-limit-hit|signal)'
cause = The program of {found} ended with an error, and its own lines in this log contain no known error.
remedy = Read what it printed before that line (journalctl -u {found} -b), and start its ExecStart by hand as the same
    account. When that is fixed, run sudo systemctl reset-failed {found} and start it.

[mpi-rank-ended]
keys = mpirun noticed that process rank
pattern =
    process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+)\s+exited on\s+signal (?P<signal>\d+) \((?P<name>
    +[^)\n]+)\)
values =
    advice of signal: 9$ => Look there for Out of memory (journalctl -k), the usual reason for a kill, and let the
    + program use less memory
    advice of signal: 4$ => Build the program and its libraries for the processor of that host (not with -march=native
    + on another machine), or use wheels for it
    advice of signal: . => Read that rank's own lines above (--tag-output names them), and the core dump (coredumpctl
    + info)
cause = Rank {rank} on {node} was ended by signal {signal} ({name}), and mpirun ended the others.
remedy = {advice}.

[pod-probe-failed]
keys =
    Liveness probe failed
    Startup probe failed
pattern = (?P<kind>Liveness|Startup) probe failed: (?P<why>[^\n]{1,160})
cause = Kubernetes restarts the container, because its {kind} probe failed: {why}.
remedy = Read the container's own log (kubectl logs --previous): if it hangs, find out where[ (HAMi's preloaded
    {log_hami} can block NCCL: set CUDA_DISABLE_CONTROL=true)]. Only if a model is still loading, allow the startupProbe
    more time (failureThreshold times periodSeconds).

[pod-crash-loop]
keys =
    Back-off restarting failed container
    CrashLoopBackOff
pattern =
    Back-off restarting failed container (?P<name>\S+)
    (CrashLoopBackOff)
cause = The container[ {name}] of a pod keeps exiting, and Kubernetes waits before it restarts it; this log does not say
    why.
remedy = Read what it printed (kubectl logs POD --previous --all-containers) and how it ended (kubectl describe pod POD:
    Last State, Exit Code; 137 is a kill, usually because memory ran out).

[pod-pending]
keys =
    Pending
    ContainerCreating
    PodInitializing
    Init:
pattern = ^(?:\S+ +)?(?P<pod>\S+) +\d+/\d+ +(?P<state>Pending|ContainerCreating|PodInitializing|Init:\d+/\d+) +\d+
    + +(?P<age>\d{2,}m\w*|\d+[hd]\w*)
values =
    advice of state: Pend => no node fits it: a GPU that no device plugin offers or another pod holds (a Spark has
    + one), a taint, a volume
    advice of state: Init => its first containers have not ended (kubectl logs POD -c NAME); in the GPU operator they
    + wait for the driver and the toolkit, whose own pods come first
    advice of state: . => an image of many GB is still pulled, or a volume, a secret or the runtime class nvidia is
    + missing
cause = The pod {pod} has been in the state {state} for {age}; the table does not say why.
remedy = Read its events (kubectl describe pod POD). Usually {advice}.
source = NVIDIA/gpu-operator#1190

[build-step-failed]
keys = did not complete successfully: exit code
pattern = process '(?P<command>(?:[^'\\\n]|\\.){1,400})[^\n]*did not complete successfully: exit code: (?P<code>\d+)
values =
    advice of code: 100$ => apt failed: read the lines with E: above, and begin the RUN with apt-get update
    advice of code: 127$ => A program is missing: read the line with not found above, and install its package in an
    + earlier step
    advice of code: 137$ => It was killed, usually because memory ran out: build with fewer jobs (MAX_JOBS as a build
    + argument)
    advice of code: (?:132|139)$ => It crashed: usually it is a program for another processor, run in emulation, or a
    + library that does not fit
    advice of code: . => Read that step's own lines above (docker build --progress=plain shows all of them)
cause = A step of the Dockerfile failed with the status {code}: {command}.
remedy = {advice}.

[nccl-proxy-ended]
keys = NCCL WARN [Service thread]
pattern = NCCL WARN \[Service thread\] (?P<why>[^\n]{1,160})
cause = A process of this job on the same host ended, and NCCL's service thread only noticed it ({why}).
remedy = Read the first error of all ranks above that line, on every host.

[tensorflow-no-gpu]
keys =
    failed call to cuInit
    no NVIDIA GPU device is present
pattern =
    (failed call to cuInit: (?:UNKNOWN ERROR \(303\)|CUDA_ERROR_NO_DEVICE|INTERNAL: CUDA error: Failed call to cuInit:
    + CUDA_ERROR_NO_DEVICE))
    (no NVIDIA GPU device is present)
uncertain = no
cause = TensorFlow sees no GPU ({found}): its environment has no device /dev/nvidia0 or no driver library, like a
    container that was started without the GPU.
remedy = Start the container with the GPU (docker run --gpus all; in Kubernetes, a limit nvidia.com/gpu: 1), and check
    that nvidia-smi works in it and that CUDA_VISIBLE_DEVICES is not empty. If the program should run on the CPU, ignore
    the line.
source = nuclio/nuclio#1822

[mpi-initialisation]
keys =
    An error occurred in MPI_Init
    atal error in PMPI_Init
    atal error in internal_Init
pattern =
    An error occurred in (MPI_Init\w*)
    atal error in (P?(?:MPI|internal)_Init\w*)(?:(?s:.{0,900}?)(?P<pmi>PMI_\w+ returned -1|pmi_kvs_get))?
values =
    advice of pmi: . => The processes did not meet through the launcher (PMI): start them with the mpirun of the same
    + MPICH on all hosts, check that each host resolves the others' names (getent hosts NAME), and open the firewall
    + between them
    advice of found: . => Read the lines above it. Run with --mca btl_base_verbose 20, at first only over TCP (mpirun
    + --mca pml ob1 --mca btl tcp,self), and check that mpirun and the program use the same MPI (which mpirun; ldd
    + PROGRAM | grep mpi)
cause = MPI did not start in one of the processes ({found}), and this line does not say why.
remedy = {advice}.

[npm-script-failed]
keys =
    npm ERR!
    npm error
pattern =
    npm (?:ERR!|error) Failed at the (?P<package1>\S+) (?P<script1>\w+) script
    npm (?:ERR!|error) (?P<package2>\S+@\S+) (?P<script2>install|preinstall|postinstall|build|prepare|start):
    + '(?P<command>[^'\n]{1,120})'
cause = npm ran the script {script} of {package}[ ({command})], which failed; these lines do not say why.
remedy = Read that script's own lines above (gyp ERR! stack, error:). Compiling needs build-essential and python3; a
    Node or package release with a prebuilt file for arm64 needs neither.
source = lovell/sharp#527

[build-failed-make]
keys =
    *** [Makefile
    *** [CMakeFiles
    CMake configuration failed
    Could not build wheels for
    Failed to build installable
    metadata-generation-failed
    returned non-zero exit status
    failed with exit
    failed: (Exit
    could not compile `
    maturin failed
    Failed to build '
    Error compiling objects for
    Call to `
pattern =
    make(?:\[\d+\])?: \*\*\* \[(?P<what1>(?:Makefile|CMakeFiles)[^\]\n]*)\] Error \d+
    (?P<what2>CMake configuration failed)
    (?P<what3>Could not build wheels for [\w.-]+)
    (?P<what5>Failed to build installable wheels for some \S+ based projects \([^)\n]{1,80}\))
    Call to '(?P<what9>[\w.:]+\.(?:build|prepare|get)_\w+)' failed
    (?P<what10>Compiling \S{3,120}) failed: \(Exit \d+\)
    (?P<what8>Error compiling objects for extension)
    (?P<what11>could not compile '[\w-]+') \((?:lib|bin|build script)
    (?P<what12>maturin failed)
    (?P<what13>Failed to build '[^'\n]+') when (?:installing|getting)
    (?P<what4>metadata-generation-failed)
    Command '(?P<what6>\['(?:\S*/)?(?:ninja|cmake|make)'[^\n]{0,80})[^\n]{0,900} returned non-zero exit status
    command '(?P<what7>(?:\S*/)?[\w-]*(?:gcc|g\+\+|cc|clang|c\+\+|nvcc))' failed with exit (?:status|code)
cause = A build ended ({what}), and this log lacks the line that says why.
remedy = Run it again with one job and full output, so that the failure comes last: make -j1 VERBOSE=1, ninja -v -j1,
    for a package pip install -v --no-cache-dir NAME, or for bazel --jobs=1 --verbose_failures. The first line with
    error: is the one to read.

[cmake-part-failed]
keys = CMake Error
pattern =
    CMake Error[^\n]*\n\s*(?:Build|CMake) step for (?P<part>[\w.-]+) failed: \d+
    CMake Error: [^\n]*(?P<make>execution of make failed)
values =
    advice of part: . => Its own error is in the lines above: often the download of that part failed (network, proxy,
    + git), or it does not know this CMake or CUDA. Delete the build directory's _deps (or subbuild) and run again with
    + -v; a copy that you have is used with -DFETCHCONTENT_SOURCE_DIR_NAME=DIR (the part's name in capitals)
    advice of part: (?:) => Read the first error above it; if there is none, check that the build program runs (ninja
    + --version) and run cmake --build . -v by hand
cause = CMake could not build a part that it fetches first[ ({part})]; these lines do not say why.
remedy = {advice}.
source = https://cmake.org/cmake/help/latest/module/FetchContent.html

[pip-left-conflict]
keys = which is incompatible
pattern = (?P<package>\S+ [\d.]\S*) requires (?P<needs>[^\s;,]+)[^\n]{0,200}, but you have (?P<have>\S+ \S+) which is
    + incompatible
cause = pip installed {have}, though {package} asks for {needs}. It warns of this after an installation that succeeded.
remedy = If {package} is used, install both in one command with versions that fit, or leave triton, nvidia-… and torch
    to the versions that the installed torch requires (pip install --force-reinstall torch --index-url
    https://download.pytorch.org/whl/cu130). If nothing uses it, uninstall it.
source =
    S-LoRA/S-LoRA#8
    vllm-project/vllm-ascend#8286

[command-failed]
keys = CalledProcessError: Command
pattern = CalledProcessError: Command '(?P<command>(?!\W*\S*ptxas)[^\n]{3,160}?)' (?:returned non-zero exit|died with)
    + (?P<status>s[^\n.]{3,60})
values =
    advice of command: \W*(?:\S*/)?(?:pip|uv)\b|.*\bpip\b => Run it by hand with -v: the package that fails and the
    + reason are in its own output
    advice of command: \W*(?:\S*/)?git\b => Run it by hand in that directory: usually it is not a clone, a tag or
    + submodule is missing, or the network fails
    advice of command: .*net_setup_link => Correct the interface's name in /etc/netplan (ip -br link lists those that
    + exist), and run sudo netplan --debug apply
    advice of command: .*nvcc => Run it by hand: its first line with error or fatal says why; check which nvcc it is
    + (which -a nvcc)
    advice of command: . => Run it by hand in the same directory and environment, and read its first error; above this
    + traceback is what it printed here
cause = A command that the program started failed ({command}: {status}); its own message is not in these lines.
remedy = {advice}.

[nccl-unhandled]
keys =
    NCCL error
    NCCL Error
    ncclRemoteError: A call
pattern =
    ncclRemoteError: A call failed[^\n]*?(remote process exiting)[^\n]*(?!\n[^\n]*\n?socketProgress)
    NCCL [Ee]rror(?: in)?(?: \d+)?:? [^\n]*?(unhandled (?:system|cuda) error|internal error|remote process exited|NCCL
    + operation in progress)
values =
    advice of found: remote => Read the logs of the other ranks for their first error: one of them ended first, and
    + this one only noticed it
    advice of found: . => Run again with NCCL_DEBUG=WARN (INFO for more) on all hosts, and read the first NCCL WARN
    + line; explain reads it as well
cause = NCCL reports that something failed ({found}), but not what. Its own WARN lines do, and this log has none that
    explain knows[; its last error is: {log_nccl}].
remedy = {advice}.
source = sgl-project/sglang#8974

[c10d-first-rank-lost]
keys = ncclUniqueId from
pattern = retr\w+ ncclUniqueId from \[(?P<rank>\d+)\][^\n]*?got error: (?P<why>\w[\w ]*)
cause = Rank {rank}, where the ranks meet, did not answer ({why}): it failed earlier, or the ranks cannot reach it over
    the network.
remedy = Read the log of rank {rank} for its first error. If it has none, check that the other hosts can reach
    MASTER_ADDR and its port.
source = hiyouga/LlamaFactory#2470

[unit-dependency-failed]
keys =
    dependency job for
    Dependency failed for
pattern =
    A dependency job for (\S+) failed
    Dependency failed for (\S+)
cause = systemd did not start {found}, because a unit that it needs failed.
remedy = Find out which (systemctl --failed; systemctl list-dependencies {found}) and read its journal (journalctl -u
    UNIT -b).

[program-crashed]
keys =
    segfault at
    code=dumped
    Failed with result 'core-dump'
    unhandled exception:
    trap invalid opcode
    start failed: : signal
pattern =
    (?P<program1>[\w.:-]+)\[\d+\]: segfault at [^\n]*? in (?P<library1>[\w.+-]+)
    (?P<program2>[\w.:-]+)\[\d+\]: unhandled exception: [^\n]*? in (?P<library2>[\w.+-]+)
    failed to start (?P<program6>shim): start failed: : signal: (?P<signal6>[\w ]+)
    (?P<program4>[\w.:-]+)\[\d+\]: unhandled exception: (?P<signal4>[^\n,]{3,40})
    (?P<program5>[\w.:-]+)\[\d+\] trap (?P<signal5>invalid opcode)[^\n]*? in (?P<library5>[\w.+-]+)
    (?P<program3>[\w@.\\-]+): [Mm]ain process exited, code=dumped, status=(?P<signal>\d+/\w+)
    (?P<program7>[\w@.\\-]+): Failed with result 'core-dump'
cause = {program} crashed[ in {library}][ (signal {signal})].
remedy = Read its last lines above this one. coredumpctl info shows where it crashed; a common reason is a library built
    for another version of Python, torch or CUDA.

[kernel-out-of-memory]
keys = invoked oom-killer
pattern =
    (?:^|\] )(?P<name>[^\n\]]{1,60}?) invoked
    + oom-killer(?:[^\n]*(?:\n[^\n]*){0,25}?(?P<group>mem_cgroup_out_of_memory))?
values =
    where of group: . => in a container or unit with its own limit
    where of group: (?:) => on the host, whose memory a GB10's GPU shares,
    advice of group: . => Raise that limit (docker run --memory, resources of the pod, MemoryMax of the unit) or let
    advice of group: (?:) => Let
cause = No memory was left {where} when {name} asked for more, and the kernel ended a process; this log does not name
    it.
remedy = {advice} the program use less: a lower memory share for a server, a shorter context, fewer models at once,
    fewer build jobs. The line Killed process after it, in the kernel's log (journalctl -k), names the process and its
    size.
source = triton-inference-server/server#4154

[step-crashed]
keys =
    Segmentation fault
    segmentation fault
    Bus error
    Floating point exception
    Illegal instruction
    Aborted
    died due to signal
    [code=13
    Fatal Python error:
    *** SIG
    SIGABRT: abort
    Uncaught SIG
    SIGSEGV: segmentation
    SIGBUS: bus error
    SIGILL: illegal
    Caught signal
pattern =
    Fatal Python error: (\w[\w ]+)
    Caught signal \d+ \((Segmentation fault|Bus error|Illegal instruction|Floating point exception|Aborted)
    ^(SIG(?:ABRT|SEGV|BUS|ILL)): \w
    \*\*\* (SIG(?:BUS|SEGV|ILL|ABRT)) received
    ^[ \t]*(?:stderr: )?(Segmentation fault|Bus error|Illegal instruction|Floating point exception|Aborted)\b
    ^\[\d+\] [ +-]*\d+ (segmentation fault|bus error|illegal hardware instruction|floating point exception|abort)\b
    Uncaught (SIG(?:ABRT|SEGV|BUS|ILL|FPE))
    FAILED: \[code=(13[4569])\]
cause = A program crashed ({found}).
values =
    advice of found: Illegal|SIGILL|132|illegal => It has code for another processor: use the build for aarch64; for
    + NumPy on an older ARM processor, export OPENBLAS_CORETYPE=ARMV8 first
    advice of found: Bus|SIGBUS|135|bus => Look for a full disk (df -h, df -h /dev/shm), and start a container with
    + --ipc=host
    advice of found: Floating => It divided by a number that must not be 0: check sizes and counts among its options
    + (devices, threads, slices), and use a newer build
    advice of found: Aborted|SIGABRT|134|abort => Read the line above it, which has the reason
    advice of found: . => Run it with python -X faulthandler, which names the library. Usually libraries do not fit
    + each other (built for another torch, CUDA or Python), so reinstall them in one environment
remedy = {advice}.

[rsync-cut]
keys = error in rsync protocol data stream
pattern = error in rsync protocol data stream \((code \d+)\)
cause = rsync's connection broke off ({found}); the reason is in the lines above, or on the other host.
remedy = Read the lines above (no space, no rsync there, permission, ssh), and run it again with --partial, which
    continues where it stopped.
source = Burnett01/rsync-deployments#70

[capture-failed]
keys = Capture cuda graph failed
pattern = Capture cuda graph failed: (?P<why>[^\n]+)
values =
    advice of why: .*(?:gloo|[Cc]onnection closed|Timed out waiting) => Another rank ended or hangs, not this one: read
    + the logs of all ranks and hosts for their first error (memory, the kernel's log), and let all of them reach each
    + other (GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME; /etc/hosts must not map a host's own name to 127.0.1.1)
    advice of why: . => If it is memory, lower --mem-fraction-static or --cuda-graph-max-bs; if it is a kernel, choose
    + another --attention-backend (triton or flashinfer). --disable-cuda-graph tells whether graphs are at fault
cause = SGLang failed while it recorded CUDA graphs: {why}.
remedy = {advice}.

[ninja-no-file]
keys = ninja: error: loading '
pattern = ninja: error: loading '\S+\.ninja': ([^\n]+)
cause = The build directory has no build.ninja: CMake did not finish.
remedy = Read CMake's output above; if it shows no error, delete the build directory (rebuild=true of a unit).

[triton-compiler-failed]
keys = CalledProcessError: Command
pattern = CalledProcessError: Command '\['([^']+)', '[^']*(?:cuda_utils|__triton_launcher|main|launcher)\.c'
cause = Triton compiles a C file before its first kernel, and {found} failed.
remedy = Read the compiler's lines above. Install gcc and Python's headers (apt install build-essential python3-dev;
    role build_toolchain), and check that cuda.h and libcuda.so.1 are found.

[nccl-peer-closed]
keys =
    Connection closed by remote peer
    Net : Call to
    socketProgressOpt: Call to
pattern =
    (?:socketProgress|NCCL WARN)[^\n]*Connection closed by remote peer ([^\s<]+)
    (?:NCCL WARN Net : |socketProgressOpt: )Call to (?:recv|send) (?:from|to) ([^\s<]+)[^\n]*(?:reset by peer|Broken
    + pipe)
cause = The process on {found} ended first, and NCCL only noticed that its connection was closed.
remedy = Read the log of that host for its first error.
source = NVIDIA/nccl#1232

[torch-check-failed]
keys = INTERNAL ASSERT FAILED
pattern = (?:^|: )(?P<check>[^\n]{1,160}?) INTERNAL ASSERT FAILED at '(?:[^'\n]*/)?(?P<file>[\w.-]+)':(?P<line>\d+)
cause = A check inside PyTorch failed ({check}, in {file}, line {line}): a fault of this release, or of a library that
    does not fit it.
remedy = Look for an earlier error of this or another rank. Use the newest patch release of PyTorch, or switch off the
    feature that the file's name points to (compilation, graphs, tracing of collectives), and search PyTorch's issues
    for the message.
source = pytorch/pytorch#105287

[nccl-watchdog]
keys =
    Watchdog caught collective operation timeout
    Timeout at NCCL work
    watchdog got stuck for
pattern =
    watchdog got stuck for (?P<stuck>\d+) seconds
    Watchdog caught collective operation timeout(?::\s+WorkNCCL\([^()]{0,200}?OpType=(?P<operation1>\w+)[^()]{0,200}?
    +Timeout\(ms\)=(?P<limit>\d+))?
    Timeout at NCCL work: (?P<operation2>\d+), last enqueued
cause = The collective operation[ {operation}] did not end[ within {limit} ms][ (the watchdog itself got no answer from
    CUDA for {stuck} s)]: another rank is stuck or dead, or the network is cut; the watchdog cannot tell which.
remedy = Look for the first error of the rank that is missing here and in the kernel's log of its host. A longer time
    limit helps only if the work really is that slow[ (TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC above {stuck})].
source = XPixelGroup/BasicSR#737

[rdma-completion-flushed]
keys = Got completion
pattern = Got completion (?:from peer \S+ )?with (?:error|status=?)(?: ?|IBV_WC_WR_FLUSH_ERR\()5\b
cause = An RDMA request was flushed because its connection had already failed; this line is only a consequence.
remedy = Look for the first NET/IB line of either host, often error 12, and read its kernel's log.
source = pytorch/pytorch#122571

[gloo-peer-closed]
keys =
    Connection closed by peer [
    gloo/transport/tcp
pattern =
    gloo/transport/tcp/pair\.cc:\d+\] Connection closed by peer \[(?P<peer1>[^\]\n]+)\]
    gloo/transport/tcp/pair\.cc:\d+\] Read error \[(?P<peer2>[^\]\n]+)\]
    gloo/transport/tcp/\w+\.cc:\d+\] Timed out waiting (?P<time>\d+)ms
cause = Another process of the job ended, or did not answer[ (at {peer})][ for {time} ms], and Gloo only noticed.
remedy = Read the log of that rank for its first error. A program that exits early without waiting for the others (a
    barrier) looks the same.
source = pytorch/pytorch#75512

[ray-node-lost]
keys =
    has been marked dead
    ActorDiedError
    The actor died unexpectedly
pattern =
    The node with node id: \S+ and address: (?P<node>\S+) and node name: \S+ has been marked dead because (?P<why>[^\n.]
    ++)
    (?P<actor>The actor died unexpectedly)
cause = A process or a host of the Ray cluster ended before its work was done[: {node}, as {why}].
remedy = Find out on that host what ended it: check its memory (journalctl -k | grep -i oom), ray logs, and the first
    error in /tmp/ray/session_latest/logs.

[engine-worker-hung]
keys = TimeoutError: RPC call to
pattern = TimeoutError: RPC call to (\w+) timed out
when = log-shows-worker-waiting
uncertain = no
cause = A worker of vLLM hung: it answered neither the shared queue nor {found}, and this log has no earlier failure. On
    Sparks this happened when one host's unified memory was nearly full, and when an all-reduce between two of them
    hung.
remedy = Read the log and the kernel's log (journalctl -k) of that time on the other hosts, and watch MemAvailable
    there. Leave more memory free (a lower --gpu-memory-utilization, a shorter context). If it hangs with free memory,
    check the fabric and use one version of NCCL on all hosts (NCCL_DEBUG=INFO).
source = eugr/spark-vllm-docker#321

[engine-worker-timeout]
keys = TimeoutError: RPC call to
pattern = TimeoutError: RPC call to (\w+) timed out
cause = A worker of vLLM did not answer {found} in time. On a GB10 this happened when memory was nearly full.
remedy = Leave more memory free (a lower --gpu-memory-utilization), and read the worker's own lines and the kernel's
    log of that time.
source = eugr/spark-vllm-docker#321

[llamacpp-rpc]
keys =
    Remote RPC server crashed or returned malformed response
    ggml-rpc
pattern =
    (Remote RPC server crashed) or returned malformed response
    ggml-rpc\.cpp:\d+: (?!GGML_ASSERT)(?P<why>[^\n]+)
cause = llama.cpp lost the server on another host that computes part of the model ({found}): its ggml-rpc-server ended.
remedy = Read its log on that host. Build llama.cpp from the same commit with the same options on all hosts, leave
    enough memory for its part of the model and cache, and try --split-mode layer.
source = ggml-org/llama.cpp#25791

[ollama-runner]
keys =
    llama runner terminated
    llama runner process has terminated
    llama-server process has terminated
    llama runner stopped with error
    llama.cpp terminated unexpectedly
    do load request
pattern =
    llama(?: runner|-server) (?:(?:process has )?terminated|stopped with error)"? ?(?:error=|: )"?([^"\n]+)
    llama\.cpp (terminated unexpectedly(?:: llama\.cpp exit status: [\w ]+)?)
    (do load request(?:: | error=')Post '[^'\n]+': EOF)
values =
    advice of found: .*(?:illegal instruction|status 132|0xc000001d) => Use the build for this processor (on a Spark,
    + arm64): the installed one has instructions that this processor lacks
    advice of found: .*status 127 => Reinstall it with the libraries of its own release: one of them, or the program,
    + is missing
    advice of found: .*(?:killed|status 137) => Leave more memory free: choose a smaller model, quantization or context
    advice of found: . => Read its own lines around it (an assertion or a CUDA error), and update Ollama or Docker
    + Model Runner: a new model needs a new release
cause = The process that loads the model for Ollama or Docker Model Runner ended ({found}); refused connections to
    127.0.0.1 are a consequence.
remedy = {advice}.
source = ollama/ollama#14124

[llama-python-not-loaded]
keys =
    Failed to load model from file
    Failed to create llama_context
    is not None
pattern =
    (?:ValueError: |^)(Failed to load model from file): (?P<file>\S+)
    ValueError: (Failed to create llama_context)
    (?:assert) (self\.(?:_?model|_?ctx)(?:\.\w+)? is not None)$
cause = llama-cpp-python could not load the model[ {file}] ({found}), and its message does not say why.
remedy = Pass verbose=True to Llama(), which shows llama.cpp's own lines (a file that is missing, incomplete or in the
    old GGML format, an unknown architecture, no memory). Then upgrade it with CUDA: CMAKE_ARGS="-DGGML_CUDA=on" pip
    install -U --force-reinstall --no-cache-dir llama-cpp-python.

[comfyui-node-failed]
keys = (IMPORT FAILED)
pattern = \(IMPORT FAILED\): (\S+)
cause = ComfyUI could not load the custom node {found}.
remedy = Read the traceback above it. Usually a package of its requirements.txt is missing (install it with ComfyUI's
    own Python), or has no wheel for aarch64. Otherwise disable the node.

[container-not-created]
keys = OCI runtime create failed
pattern = OCI runtime create failed: (?P<why>[^\n]+?)(?:: unknown)?\.?$
values =
    advice of why: .*(?:nvidia|NVIDIA|CDI|cdi) => Check that nvidia-smi works on the host, write NVIDIA's runtime into
    + the engine's configuration again (sudo nvidia-ctk runtime configure --runtime=docker) and the CDI specification
    + (sudo nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml), and restart the engine
    advice of why: .*unable to start unit => The host's systemd did not answer in time. Check its load and that dbus
    + runs
    + (systemctl status dbus), run sudo systemctl daemon-reexec, and start the container again
    advice of why: .*(?:permission denied|not permitted) => Find out what denies it (journalctl -k | grep -i apparmor,
    + rootless mode, a container in a container)
    advice of why: .*(?:no such file|not found) => Correct the path or the command that it names: it must be in the
    + image, or on the host where it is mounted
    advice of why: . => Update the runtime (runc, containerd or crun) and start the container with fewer options to
    + find the one that it refuses
cause = The container's runtime could not create the container: {why}.
remedy = {advice}.

[sparkrun-step-failed]
keys =
    FAILED rc=
pattern = (?:SSH (?:script|cmd)|Pipeline) <- (?P<host>\S+) FAILED rc=(?P<code>[1-9]\d*) \([\d.]+s\):\s*$
cause = A step of sparkrun failed on {host} (status {code}), and this log does not say why.
remedy = Run it again with sparkrun -v, which prints the step's own output, and try ssh {host} true and ssh {host}
    docker ps by hand: usually the account has no key or no right to use Docker there (sudo usermod -aG docker NAME, and
    log in again).
source = spark-arena/sparkrun#205

[compose-dependency]
keys = dependency failed to start
pattern = dependency failed to start: container (\S+) (?P<why>is unhealthy|exited \(\d+\)|has no healthcheck configured)
cause = docker compose did not start the services that depend on the container {found}: it {why}.
remedy = Read the log of that container (docker logs {found}), which has the cause; a model that takes long to load
    needs a longer start_period of its healthcheck.
source = NationalSecurityAgency/datawave#2666

[deadline-exceeded]
keys = context deadline exceeded
pattern = (?:[Ee]rror|ERROR|[Ff]ailed)[^\n]{0,200}?(context deadline exceeded)
uncertain = yes
cause = Another service or a device did not answer within the program's time limit ({found}): it does not run, cannot be
    reached from there, or is too busy.
remedy = This line and the ones above say which service it is (for Milvus, etcd or MinIO; for Kubernetes, its API
    server). Read its log, check that it can be reached (nc -vz HOST PORT, in the same container) and that its disk and
    memory are not full, and restart this program when it answers.
source = dataelement/bisheng#380

[health-check-timeout]
keys =
    Health check exceeded timeout
    did not become healthy within
pattern =
    Health check exceeded timeout \((\S+?)\)
    did not become healthy within (\d+ ?s\w*)
cause = A health check did not succeed within {found}: the service in the container is still loading (a large model
    takes minutes), hangs or is overloaded, or the check itself is slow.
remedy = Run it by hand (docker inspect --format '{{{{json .Config.Healthcheck}}}}' CONTAINER, then docker exec), and
    read docker logs CONTAINER; if the service only needs longer, raise timeout and start_period of the health check.
source = milvus-io/milvus#38011

[server-not-ready]
keys = not ready after
pattern = (?:^|\s)(?P<name>\w[\w.-]{0,40}) (?:is |was )?not ready after (?P<time>\d+ ?\w+)
cause = {name} did not answer within {time}: it still loads or compiles, which takes minutes at a first start, or it
    ended.
remedy = Read its own log for the first error (docker logs CONTAINER, or the file that the lines below name), and look
    whether its process still runs and its memory grows (docker top CONTAINER, nvidia-smi). If it only loads, wait
    longer.
source = mark-ramsey-ri/vllm-dgx-spark#2

[process-pool-broken]
keys =
    BrokenProcessPool
    terminated abruptly while the future
pattern = (BrokenProcessPool|terminated abruptly while the future)
cause = A worker process of the program ended without a message ({found}): it was killed, usually for lack of memory, or
    it crashed.
remedy = Look for Out of memory in the kernel's log (journalctl -k), use fewer workers (MAX_JOBS, num_proc=1), and run
    the step in one process to see its own error.
source = https://docs.python.org/3/library/concurrent.futures.html

[cuda-assertion]
keys = device-side assert triggered
pattern = CUDA error: (device-side assert triggered)
cause = A kernel rejected a value ({found}), usually an index out of bounds. The traceback's line is not where that
    happened.
remedy = Read the line with Assertion and failed above, which names the kernel and the condition. CUDA_LAUNCH_BLOCKING=1
    makes the traceback show the call.
source = vllm-project/vllm#21731

[cuda-launch-failure]
keys =
    unspecified launch failure
    CUDA_ERROR_LAUNCH_FAILED
pattern =
    (?:^|: |\) )CUDA error: (unspecified launch failure)
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(CUDA_ERROR_LAUNCH_FAILED)
cause = A kernel ended with a failure that CUDA does not name ({found}); the lines just before this one say more.
remedy = Look for an Xid of that moment in the kernel's log (journalctl -k | grep Xid), and reboot if nvidia-smi shows
    ERR!; if the GPU is sound, run once with CUDA_LAUNCH_BLOCKING=1 to find the kernel, and look for that kernel's own
    messages.
source = https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html

[cuda-graph-capture]
keys =
    when stream is capturing
    previous error during capture
    capturing stream has unjoined work
    StreamCapture
    STREAM_CAPTURE
pattern =
    (?:[Ee]rror|failed|returned)[^\n]{0,80}?(cudaErrorStreamCapture\w+|CUDA_ERROR_STREAM_CAPTURE_\w+)
    CUDA error: (operation not permitted when stream is capturing|operation failed due to a previous error during
    + capture|capturing stream has unjoined work)
cause = A call that CUDA graphs do not allow was made during a capture, or a kernel failed in the capture ({found}).
remedy = Look for the first error above it, and start without graphs to see it (--enforce-eager of vLLM,
    --disable-cuda-graph of SGLang).
source = NVIDIA/TensorRT#3011

[uvm-stopped]
keys = set_fatal_error
pattern = uvm_global_set_fatal_error\w*, global fatal error: (?P<why>[\w ]+)
cause = The driver's unified memory (nvidia-uvm) stopped for good: {why}. Every CUDA program fails from then on.
remedy = Reboot the host (or end all programs and reload nvidia-uvm), and read the Xid and NVRM lines above, which have
    the reason.

[gpu-xid-follows]
keys =
    Xid (
pattern =
    Xid \([^)\n]+\): (?P<number>43|45|154), ?(?:pid=[^,\n]*, )?(?:name=(?P<program>\w[^,\n]*), )?(?P<words>[^\n]{0,120})
values =
    what of number: 43 => a program's own fault stopped its work on the GPU, which is sound
    what of number: 45 => the driver removed a program's work from the GPU after an earlier error, or when the program
    + ended
    what of number: 154 => this line says what the GPU needs after an earlier error
    advice of number: 154 => Do what the end of the line says (reset the GPU, or reboot), and look for the Xid before it
    advice of number: . => Look for an earlier Xid, and read that program's own log; the GPU itself needs nothing
cause = The driver reports Xid {number}[ of the program {program}]: {what}[ ({words})].
remedy = {advice}.
source = https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html

[display-no-device]
keys = Failed to allocate NvKmsKapiDevice
pattern = (Failed to allocate NvKmsKapiDevice)
cause = nvidia-drm could not create the display device ({found}), usually because the driver could not start the GPU.
remedy = Read the NVRM lines above (RmInitAdapter, Xid), which have the reason. If there are none, boot once without
    modeset (nvidia-drm.modeset=0 on the kernel's command line).

[gpu-lost]
keys = Unable to determine the device handle
pattern = Unable to determine the device handle for GPU ?(\S+): (?P<why>[\w ]+)
cause = The driver lists the GPU {found} but could not start it, or lost it later ({why}).
remedy = Look for the NVRM and Xid lines in the kernel's log, which say why, and reboot.
source = NVIDIA/open-gpu-kernel-modules#259

[gpu-task-hung]
keys = blocked for more than
pattern =
    task (?P<task>(?i:nvidia|nv_|uvm|vllm|sglang|python|ray|ollama|llama)[^\s]*?):\d+ blocked for more than (?P<time>\d+
    +) seconds
cause = {task}, which may use the GPU, has been waiting in the kernel for more than {time} s: for the driver, for memory
    or for a disk.
remedy = Look above for lines of the driver (NVRM, Xid, NV_ERR_NO_MEMORY), and read the call trace below, if there is
    one: nvidia, nfs or nvme in it says what the task waits for. A task that stays in the driver needs a reboot.

[task-hung]
keys = blocked for more than
pattern =
    task (?P<task1>\S+?):\d+ blocked for more than (?P<time1>\d+)
    + seconds(?=[^\n]*(?:\n[^\n]*){1,25}?\n[^\n]*\[(?P<module>nvidia\w*|nfs\w*|nvme\w*|mlx5\w*|ceph|cifs|fuse|zfs)\]\s*
    +$)
    task (?P<task2>\S+?):\d+ blocked for more than (?P<time2>\d+) seconds
values =
    advice of module: nvidia => The NVIDIA driver waits for the GPU or for an internal lock: look for Xid and NVRM
    + lines above (journalctl -k), end the programs on the GPU and reboot. If it comes back, install the newest driver
    + of that branch
    advice of module: nfs|cifs|ceph|fuse => Its server does not answer: check that server and the network to it, then
    + unmount it lazily (umount -l) or reboot
    advice of module: nvme|zfs => The disk does not answer: check nvme smart-log and the kernel's lines about the disk
    advice of module: mlx5 => The ConnectX card does not answer: read the mlx5_core lines above in the kernel's log,
    + and reboot
    advice of task: . => Read the call trace below it, if there is one: nfs, nvme or nvidia there says what the task
    + waits for. If memory was full, free some
cause = {task} has been waiting in the kernel for more than {time} s[, in {module}]: for a disk, a network file system,
    a driver or memory.
remedy = {advice}.

[soft-lockup]
keys = soft lockup
pattern = soft lockup - (CPU#\d+) stuck for (?P<time>\d+s)! \[([^\]\n:]+)
cause = {found} was stuck for {time} in the kernel. Usually memory ran out, or a device stopped answering.
remedy = Read the kernel's log above this line; reboot if the host stays slow.
source = pytorch/pytorch#28886

[hard-lockup]
keys = hard LOCKUP on cpu
pattern = hard LOCKUP on cpu (\d+)
cause = Processor {found} no longer handled interrupts: the kernel or a driver hung.
remedy = Read the kernel's log above it (NVRM, mlx5, out of memory) and reboot. If it comes back, use another kernel or
    driver release.

[processor-stalled]
keys =
    detected stall
    detected stalls
pattern = rcu: INFO: (\w+ (?:self-)?detected (?:expedited )?stalls?)
cause = A processor did nothing else for many seconds ({found}). The host hung, usually because memory ran out or a
    driver looped.
remedy = Read the kernel's log above it, and reboot if the host stays slow.

[ansible-cache-not-updated]
keys =
    Failed to update apt cache
    apt cache update failed
pattern = (Failed to update apt cache(?:: unknown reason)?|apt cache update failed)
cause = Ansible could not refresh apt's lists on the host, and its message does not say why.
remedy = Run sudo apt-get update on that host: its first line with E: or Err: names the source that is broken.

[ansible-module-failure]
keys =
    MODULE FAILURE
    odules failed to execute
    stdout/stderr for the exact error
    Unexpected failure during module execution
pattern = (Unexpected failure during module execution|MODULE FAILURE|modules failed to execute: [\w. ,]+|See
    + stdout/stderr for the exact error)
cause = Ansible's module ended on the host without an answer that Ansible can read ({found}).
remedy = Read module_stderr and module_stdout of that task (-vvv shows them): a traceback there comes from the host's
    Python; other text comes from sudo, the login shell's profile, or a full disk.
source = ansible/ansible#18846

[ansible-assertion]
keys =
    "evaluated_to": false
    Failed as requested from task
pattern =
    (?:"assertion": "(?P<what>[^\n]{2,200})",?\s+)?"evaluated_to": false
    (Failed as requested from task)
cause = The play ends here, at one of its own checks[, which does not hold: {what}].
remedy = Read the task's name and message, and the file of the task: they say what the play requires. Set that, or
    correct the value that the condition names.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/assert_module.html

[ansible-connection-closed]
keys = Shared connection to
pattern = to the host via ssh: [^\n]{0,80}?(Shared connection to \S+ closed)
cause = The host closed Ansible's ssh connection ({found}) without saying why.
remedy = Log in with ssh as that account: the login shell or its profile may end at once, or the host may be restarting.
    Check journalctl -u ssh there, and its free memory.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/ssh_connection.html

[ansible-ssh-unexplained]
keys =
    Failed to connect to the host via ssh
    ata could not be sent to
pattern =
    (Failed to connect to the host via ssh)[.:]?\s*$
    ([Dd]ata could not be sent to (?:the )?remote host)
cause = Ansible could not log in to the host, and this line has no reason ({found}).
remedy = Run it with -vvvv, or log in by hand with the same account, key and port (ssh -v -l USER HOST): the second last
    line says whether the name, the network, the host's key (ssh-keygen -R HOST, if it was installed again) or the login
    fails.
source = ansible/ansible#21431

[molecule-play-failed]
keys = Ansible return code was
pattern = Ansible return code was (?P<status>[1-9]\d*), command was: ansible-playbook [^\n]{0,600}?(?P<play>[\w-]+\.yml)
values =
    advice of status: 2$ => a task failed (its line begins with fatal)
    advice of status: 4$ => a host could not be reached (molecule destroy, then create again; docker ps shows the
    + instances)
    advice of status: . => the play could not be read, or it ended with an error of its own
cause = Molecule's play {play} failed with status {status}: {advice}; the reason stands above this line.
remedy = Read the first fatal line above. molecule --debug test --destroy=never keeps the instance, and molecule login
    opens a shell in it.
source = https://docs.ansible.com/projects/molecule/

[compiler-does-not-work]
keys =
    is not able to compile a simple test
    Check for working
    _COMPILER_ID
    compiler identification source
pattern =
    Check for working (\w+ compiler: \S+) - broken
    Compiling the (\w+ compiler) identification source
    is not able to compile a simple test\s+program
cause = A compiler cannot compile a test program ({found}).
remedy = Read CMake's lines below: they show a wrong flag in CFLAGS, CXXFLAGS or LDFLAGS, a missing C library or a full
    disk.
source = ggml-org/llama.cpp#23224

[rust-link-failed]
keys = error: linking with
pattern = error: linking with '(?P<linker>[^'\n]+)' failed: exit (?:status|code):
    + (?P<code>\d+)(?:(?s:.{1,2000}?)(?P<why>[Uu]ndefined (?:symbol|reference)[^\n]{2,120}|cannot find
    + -l[^\n]{1,60}|unable to find library [^\n]{1,60}))?
uncertain = yes
cause = Rust's linker {linker} failed ({code})[: {why}].
values =
    advice of why: [Uu]ndefined \w+:?[^\n]*\bPy[A-Z_] => That symbol is Python's: build with the Python whose headers
    + and library are installed (maturin build -i python3.12; PYO3_PYTHON), for the same machine
    advice of why: [Uu]ndefined => Link the library that has this symbol, built for the same machine (RUSTFLAGS='-L
    + native=DIRECTORY -l NAME') and in a release that the crate supports
    advice of why: . => Install the development package of that library (lib…-dev), or name its directory
    + (RUSTFLAGS='-L native=DIRECTORY')
    advice of why: (?:) => Read the lines after "= note:" down to the next error: the last of them are the linker's own
remedy = {advice}.
source = PyO3/pyo3#4068

[rust-compile-error]
keys = error[E0
pattern = error\[(?P<code>E0\d+)\]: (?P<why>[^\n]{3,200})(?:\n\s*-->
    + [^\n]*?/(?:registry/src|git/checkouts)/[^/\n]+/(?P<crate>[\w-]+?-\d[\w.+-]*|[\w-]+)/)?
uncertain = yes
values =
    advice of crate: . => Use the crate in the version that the project's Cargo.lock names (cargo build --locked), or
    + update only the crate (cargo update -p NAME), and use the rustc that its release was built with (rust-version in
    + its Cargo.toml)
    advice of crate: (?:) => Use the rustc that the project names (rust-toolchain.toml, rust-version in Cargo.toml)
    + and its Cargo.lock (--locked). If that does not help, this commit has a fault: use a release
cause = rustc refuses the source[ of {crate}] ({code}): {why}.
remedy = {advice}.
source = https://doc.rust-lang.org/error_codes/error-index.html

[cargo-dependency-not-fetched]
keys = error: failed to get
pattern = error: failed to get '(?P<crate>[^'\n]+)' as a dependency of package
    + '(?P<of>[^'\s]+)(?:(?s:.{1,1500}?)(?P<why>Unable to update \S+|failed to download[^\n]{0,120}|no matching
    + package[^\n]{0,120}|failed to authenticate[^\n]{0,80}|failed to (?:read|load|parse)[^\n]{0,120}))?
uncertain = yes
cause = cargo could not get the crate {crate}, which {of} needs[: {why}].
remedy = Read the lines after Caused by: if it is the network, check the proxy (https_proxy, [http] proxy in
    ~/.cargo/config.toml) and set CARGO_NET_GIT_FETCH_WITH_CLI=true; if it is a path or a Git address, correct it in
    Cargo.toml or check out the submodule. Without a network, use cargo vendor.
source = https://doc.rust-lang.org/cargo/reference/config.html

[driver-short-of-memory]
keys = [NV_ERR_NO_MEMORY]
pattern = \[(NV_ERR_NO_MEMORY)\](?:(?s:.{1,600}?)\[NV_ERR_NO_MEMORY\]){2}
uncertain = no
cause = The driver got no memory for several requests in a row ({found}). On a GB10 this is the host's unified memory,
    which is used up, or held and fragmented by the page cache. Successful runs print this as well; a host that hung or
    reset printed it last.
remedy = Let the programs on the GPU use less memory (a lower --gpu-memory-utilization or --mem-fraction-static, a
    shorter context, smaller prefill batches), end others, and drop the page cache before a model loads (sync; echo 3 |
    sudo tee /proc/sys/vm/drop_caches). If nothing failed or hung at that time, there is nothing to do.
source =
    NVIDIA/dgx-spark-playbooks#97
    vllm-project/vllm#56824

[kernel-device-error]
keys =
    ) timeout
    failed:-
    failed (-
    failed with error -
    error -
    timed out to
    timed out waiting
    failed to download firmware
    failed to send
    ailed to load firmware
    device inaccessible
    after resume; giving up
pattern =
    ^(?P<driver3>[a-z][\w-]+) (?P<device3>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d): (?P<what3>Unable to change power
    + state from D3\w+ to D0, device inaccessible|not ready \d+ms after resume; giving up)
    ^(?P<driver>(?!acpi|ucsi|pci|snd|i2c|thermal|tpm|efi|platform)[a-z][\w-]+)
    + (?P<device>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d|\d+-[\d.]+(?::\d+\.\d+)?)(?: \w+)?:
    + (?P<what>[^\n]*(?:fail|error|time)[^\n]*?)[ :(=,]+(?P<code>-\d{1,3})\b
    ^(?P<driver2>mt7\w+|rtw\w*|rtl\w+|r81\w+|ath\w+|iwlwifi|brcmfmac|btusb|xhci_hcd|nvme) (?P<device2>[\w:.-]+):
    + (?P<what2>(?:[^\n]*: )?(?:[Ff]ailed to|timed out|firmware [\w ]*fail|Message \w+ \(seq \d+\) timeout)[^\n]{0,80})
unless = \(non-fatal\)|retry|regulatory
values =
    reason of code: -110|-62 => it did not answer in time
    reason of code: -2$ => a file, usually its firmware, is missing
    reason of code: -12$ => the kernel had no memory for it
    reason of code: -(?:19|6)$ => it is no longer there
    reason of code: -22$ => driver, firmware and device do not fit each other
    reason of code: -16$ => another driver uses it
    reason of code: -(?:5|71|32|84|121)$ => the transfer to it was disturbed
    reason of code: . => its driver could not continue
    reason of driver: . => its driver could not continue
    advice of code: -2$ => Install its firmware (linux-firmware, or the vendor's file in /lib/firmware), and reboot
    advice of code: -12$ => Free memory, and reload the driver
    advice of code: -22$|-16$ => Use a newer kernel and firmware, or the vendor's driver for this kernel; lspci -nnk
    + shows which driver has it
    advice of driver: . => Turn the host fully off and unplug it for a minute (a restart may keep the device's state),
    + reseat it or use another USB port and cable without a hub, switch off its power saving, and update the kernel and
    + linux-firmware
uncertain = yes
cause = The kernel's driver {driver} failed on the device {device}: {what}[ ({code})]; {reason}.
remedy = {advice}.
source = morrownr/USB-WiFi#593

[semaphore-removed]
keys = SemLock._rebuild(
pattern = SemLock\._rebuild\([^\n]*\n(?:[ ~^]+\n)?FileNotFoundError
when = log-shows-weights
cause = A process did not find a semaphore that existed earlier, when the ranks met and loaded weights. systemd-logind
    removes it when the account's last login ends (RemoveIPC), as does the process that created it when it exits.
remedy = Keep the account's IPC objects after a logout (sudo loginctl enable-linger USER, or RemoveIPC=no in
    /etc/systemd/logind.conf and a reboot), and start the server again.
source = eugr/spark-vllm-docker#352

[semaphore-of-other-host]
keys = SemLock._rebuild(
pattern = SemLock\._rebuild\([^\n]*\n(?:[ ~^]+\n)?FileNotFoundError
when = log-shows-several-hosts
uncertain = no
cause = vLLM's multiprocessing executor runs over several hosts here ({log_hosts}), and a worker looked for a semaphore
    that exists only on another host.
remedy = Start it with --distributed-executor-backend ray, with the same image on all hosts. A moving tag (latest) may
    have brought an image with another default, so name the image's digest.
source = spark-arena/recipe-registry#13

[semaphore-gone]
keys = SemLock._rebuild(
pattern = SemLock\._rebuild\([^\n]*\n(?:[ ~^]+\n)?(?:FileNotFoundError|Exception: WorkerProc)
cause = A process did not find a semaphore that its parent process had created: systemd-logind removed it when the
    account's last login ended (RemoveIPC), or the two run on different hosts or in different containers.
remedy = Keep the account's IPC objects after a logout (sudo loginctl enable-linger USER, or RemoveIPC=no in
    /etc/systemd/logind.conf). For several hosts, start vLLM with --distributed-executor-backend ray, or from the same
    image and release on all of them.
source =
    eugr/spark-vllm-docker#352
    spark-arena/recipe-registry#13

[program-check-failed]
keys =
    ", line
    AssertionError: assert
pattern =
    \A\s*File '(?P<file1>[^'\n]+)', line (?P<line1>\d+), in \S+\n +assert (?:\(|(?P<check1>[^\n]+))\n(?:[
    + ~^]+\n)?AssertionError\s*$
    AssertionError: assert (?P<check2>[^\n]{3,160})
    \A\s*File '(?:[^'\n]*/)?(?P<file3>(?:(?<=[est]-packages/)(?!torch/|pip/|setuptools/)\w+|vllm|vllm_omni|sglang|tenso
    +rrt_llm|flashinfer|lmdeploy|mooncake|ray/(?:_private|scripts))/[^'\n]+)', line (?P<line3>\d+), in \S+\n(?:
    + {4}[^\n]*\n){0,12}(?:\w+\.)*(?!(?:OS|IO|File|Permission|Connection|Timeout|Memory|Import|ModuleNotFound|Unicode|J
    +SON|Syntax|Name|Recursion|Accelerator|OutOfMemory|Dist|HTTP|Hf)\w*(?:Error|Exception):)(?:\w*Error|Exception):
    + (?P<why3>(?![^\n]*(?:CUDA error|NCCL error|out of memory|root cause|at driver init|[Ss]tack ?trace|following
    + code:?$))[^\n]{2,400}?)\.?$(?!\s*(?:During handling of the above|The above exception was))
values =
    advice of why: LoRA is not enabled => Start the server with --enable-lora (in code, enable_lora=True), and leave
    + out options that exclude it in this release
    advice of why: Duplicate layer name => vLLM was loaded twice in one process: load the model once, and restart the
    + notebook or program before the next try
    advice of check: metadata is not None => The checkpoint has no .metadata: saving did not finish, or each host
    + wrote to its own disk. Use an earlier one, and save to a directory that all hosts share
    advice of check: self\.lmcache_engine => LMCache did not start: read its first error above, and install the LMCache
    + that its documentation names for this vLLM
    advice of check: .*max_loras => Raise --max-loras-per-batch (for vLLM, --max-loras): more adapters were requested
    + at once; the base model counts as one
    advice of check: len\(.*\) (?:> 0|>= 1|!= 0)\W*$ => That list is empty: check that the files or entries it counts
    + exist (the directory's path and names; a checkpoint must come from this program, and each rank must be able to
    + read it)
    advice of check: .*<=? ?(?:self\.)?(?:\w+\.)*max_\w+\W*$ => Raise the limit that it names (the option has hyphens
    + instead of underscores), or send less at once
    advice of check: .*(?:capability|compute_cap|sm_?\d|is_sm|device_arch) => Choose another backend for that
    + kernel, which is not for this GPU
    advice of check: .*(?:world_size|tp_size|tensor_parallel|num_gpus|% ) => Choose sizes and numbers of processes
    + that divide each other (--tensor-parallel-size 1 on one Spark)
    advice of check: .*(?:os\.path|exists|isfile|isdir) => Check that this file or directory exists for the program
    + (in a container it must be mounted)
    advice of file: (?:exllamav[23]|exllama|awq|auto_gptq|gptqmodel)/ => Download the complete model again in the
    + format of this loader (EXL2, EXL3, GPTQ or AWQ; GGUF is for llama.cpp), and update the loader: an older one does
    + not know the names of a newer architecture
    advice of file: (?:lmcache|nixl|mooncake)/ => Use the release of it that its documentation names for this server
    + (the same on all hosts), and compare its settings (LMCACHE_CONFIG_FILE, environment) with that documentation;
    + or start without it
    advice of file: transformers/.*(?:quantiz|/awq|/gptq) => Install the package of that quantization in a release
    + that fits this Transformers, or use the model in another quantization
    advice of file: transformers/ => Compare what the message names with the model's config.json and with the
    + arguments of your call, and install the Transformers that the model's page or the program names (a newer release
    + for a new model, below 5 for an older program)
    advice of file: (?:diffusers|accelerate|peft|trl|optimum|sentence_transformers)/ => Upgrade it together with
    + transformers, accelerate and peft in one command, or install the versions that the program pins; compare the
    + arguments with its documentation
    advice of file: (?:huggingface_hub|datasets)/ => Check the names and paths of models and data, and upgrade it
    + together with transformers
    advice of file: (?:tokenizers|safetensors|gguf|sentencepiece|tiktoken)/ => Download the model's files again, and
    + use the release that the model's page names
    advice of file: deep_gemm/ => DeepGEMM has kernels only for data-centre GPUs (9.0, 10.0): switch it off
    + (VLLM_USE_DEEP_GEMM=0, SGLANG_ENABLE_JIT_DEEPGEMM=0) and choose another backend for FP8 (SGLang:
    + --fp8-gemm-backend triton)
    advice of file: (?:triton|xformers|flash_attn|flash_attn_interface|sageattention|bitsandbytes|deep_gemm
    +|deep_ep)/ => Choose another backend for that kernel, and use its release for this PyTorch and GPU
    advice of file: (?:unsloth\w*|axolotl|llamafactory|swift|verl)/ => Upgrade it with the versions of torch,
    + transformers, trl and peft that it pins
    advice of file: (?:pydantic|hydra|omegaconf|yaml|jsonschema)/ => Correct the setting that the message names in
    + your own file or options
    advice of file: (?:gradio|fastapi|starlette|uvicorn|httpx|openai|litellm)/ => Install the version of it that the
    + program pins
    advice of file: (?:outlines\w*|xgrammar|llguidance|lmformatenforcer)/ => Simplify the schema or grammar, and use
    + its release for this tokenizer and server, or another backend for structured output
    advice of file: .*(?:mamba|gdn|linear_attn|short_conv) => Leave out one of prefix caching
    + (--no-enable-prefix-caching), speculative decoding and other modes of --mamba-cache-mode: hybrid models (Mamba,
    + GDN) do not support them together in every release
    advice of check: .*num_external_computed_tokens => Leave out the connector or offloading of the cache
    + (--kv-transfer-config, --kv-offloading-size) for a hybrid model (Mamba, GDN), or use a newer release
    advice of file: .*(?:kv_transfer|ec_transfer|disagg|mooncake|nixl|weight_transfer) => Use the connector and the
    + release of its package that this server's documentation names, the same on all hosts, or start it without the
    + transfer of its cache between servers (--kv-transfer-config, --disaggregation-mode)
    advice of file: .*(?:spec_decode|speculat|eagle) => Leave out the options of speculative decoding
    advice of file: .*/lora/ => Leave out the LoRA adapter and its options, or use one that was made for this model
    advice of file: .*(?:distributed/|/executor/|parallel_state|communicat|data_parallel) => Try one process
    + (--tensor-parallel-size 1), and run one release on all hosts
    advice of file: ray/ => Stop Ray on all hosts (ray stop --force), and start it with one release of Ray and of
    + Python on all of them
    advice of file: .*(?:fused_moe|/moe/|/eplb|elastic_ep) => Choose another backend for the experts (vLLM:
    + --moe-backend; SGLang: --moe-runner-backend), or use the model in another quantization
    advice of file: .*(?:attention|/mla|flash) => Choose another --attention-backend, and leave out --kv-cache-dtype
    + and block and page sizes
    advice of file: .*(?:quant|/kernels/) => Leave out options for quantization and data type (--quantization,
    + --dtype, --kv-cache-dtype), or use the model in another quantization
    advice of file: .*model_loader => Check that the model's directory has all its files in the format that
    + --load-format names, and download it again if not. Otherwise use the release that the model's page names
    advice of file: .*/configs/ => Compare what it names with the model's config.json, and use the release that the
    + model's page names
    advice of file: .*(?:weight_utils|/models/|/linear|parameter|embedding) => Use the release that the model's page
    + names, because the weights have another layout than this release expects, or use another quantization of the model
    advice of file: .*(?:mem_cache|kv_cache|kv_offload|hicache|block_pool|/core/) => Leave out options for the cache
    + (offloading, prefix caching, --kv-cache-dtype, block and page sizes)
    advice of file: .*(?:multimodal|/processors/|vision) => Leave out images and sound (--limit-mm-per-prompt), or
    + install the transformers that the release pins
    advice of file: .*(?:structured_output|constrained|grammar) => Choose another backend for structured output
    advice of file: .*(?:graph|compil|runner|inductor|layer_boundary|warmup) => Start it without CUDA graphs and
    + compilation (vLLM: --enforce-eager, SGLang: --disable-cuda-graph)
    advice of check: .*(?:quant|scale|dtype|bits) => Leave out options for quantization and data type (--quantization,
    + --dtype, --kv-cache-dtype), or use the model in another quantization
    advice of check: .*(?:loaded_weight|param_data|weight\w*\.shape) => Use the release that the model's page names,
    + because the weights have another layout than this release expects, or use another quantization of the model
    advice of check: .*is not None => Something that this line needs was not set or not found: read what the program
    + printed above it, and compare the options with its --help
    advice of file: . => Leave out the less common options one by one
    advice of check: . => Leave out the less common options one by one
cause = A check of the program itself failed[ in {file}, line {line}][: {check} does not hold][: {why}].
remedy = {advice}; if the message names no setting of yours, this release has a fault with this model: use another one,
    and search the project's issues for the message.

[llamacpp-not-loaded]
keys =
    : failed to load model '
    : failed to load model, '
    failed to create context with model
    unable to load model
    due to model loading error
    load_model: failed to load
    is not compatible with the target model
    failed to load lora adapter
    LLAMA ERROR:
pattern =
    (failed to load model,? '[^\n]{0,160}|failed to create context with model|error: unable to load model|exiting
    + due to model loading error|load_model: failed to load [^\n]{0,160}|draft model [^\n]{0,120}is not compatible
    + with the target model|failed to load lora adapter[^\n]{0,120}|LLAMA ERROR: failed to load[^\n]{0,100})
cause = llama.cpp could not load a model ({found}); a line before this one has the reason.
remedy = Read the lines from llama_model_load on (with -lv 4 there are more): usually the file is missing or
    incomplete, the model is newer than this llama.cpp, or memory is low (-c, -ngl, --n-cpu-moe); a draft, LoRA or
    mmproj file must be of the same model.

[cpp-exception]
keys = terminate called after throwing
pattern = terminate called after throwing an instance of '(?P<type>[^'\n]+)'(?:\s+what\(\):\s+(?P<why>[^\n]{1,240}))?
values =
    advice of why: .*FP4 data type => TensorRT-LLM's older backend has no FP4: start it with --backend pytorch, and do
    + without trtllm-build
    advice of why: .*gloo/ => Another process of the job ended, could not be reached or did not answer in time: read its
    + log for its first error, and set GLOO_SOCKET_IFNAME to the interface between the hosts
    advice of why: .*INTERNAL ASSERT FAILED => This is a fault of PyTorch itself, usually after another thread's
    + error: read the first error above it, and use a newer PyTorch
    advice of type: . => Do what it says, or read the lines above it. Download a truncated file again; an unknown key,
    + JSON or regular expression needs a newer program
cause = The program ended with a C++ exception that nothing caught ({type})[: {why}].
remedy = {advice}.
source = MuhammadMoinFaisal/LargeLanguageModelsProjects#6

[waited-in-vain]
keys =
    TimeoutError
pattern = ^\W*(?:\w+\.)*(?P<why>TimeoutError(?:: [^\n]{0,160})?)\s*$
uncertain = yes
cause = The program waited too long for another process or server ({why}).
remedy = The traceback's last lines show what it waited for: read that process's log for its first error. If that
    process still loads or compiles, raise the time limit (VLLM_ENGINE_READY_TIMEOUT_S, VLLM_RPC_TIMEOUT; SGLang:
    --dist-timeout), and leave memory free.

[ends-serving-nothing]
keys = The log ends with:
pattern =
    ^The log ends with: [^\n]*Avg generation throughput: (?P<rate>0\.0) tokens/s, Running: (?P<running>[1-9]\d*) reqs
cause = The log ends while {running} requests run but no token is generated: perhaps vLLM hangs, or it still reads a
    long prompt.
remedy = Check the power that nvidia-smi shows (if it is near idle, vLLM hangs) and the workers of other hosts. Start it
    without graphs, prefix caching and asynchronous scheduling (--enforce-eager, --no-enable-prefix-caching,
    --no-async-scheduling) to isolate the part, or use a newer release. py-spy dump --pid PID shows where a worker
    waits.
source = eugr/spark-vllm-docker#260

[ends-in-mpi]
keys = The log ends with:
pattern = ^The log ends with: [^\n]*(?P<step>Initializing MPI with thread mode)
cause = The log ends while MPI starts ({step}), which usually means that it hangs there.
remedy = Start the program with mpirun -n 1 --allow-run-as-root, check that the host's name resolves (getent hosts
    $HOSTNAME), unset variables of a scheduler or another MPI (env | grep -E 'OMPI|PMI|SLURM'), and install one MPI with
    an mpi4py that was built for it (libopenmpi-dev).
source = NVIDIA/TensorRT-LLM#2405

[ends-driver-refused-memory]
keys =
    The log ends with:
    [NV_ERR_NO_MEMORY]
pattern = ^The log ends with: [^\n]*?(?:\[(NV_ERR_NO_MEMORY)\]|\(0x0*51\) returned from _memdesc)
cause = The NVIDIA driver found no memory for a request (NV_ERR_NO_MEMORY), which on a GB10 is the host's memory.
    Successful runs print this as well.
remedy = If a program failed or hung then, leave 10 to 15 GiB free: give the engine a lower share (vLLM:
    --gpu-memory-utilization 0.80, SGLang: --mem-fraction-static 0.75) and a shorter context, free the page cache
    (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), and end other GPU programs (nvidia-smi). Otherwise there is
    nothing to do.
source = NVIDIA/dgx-spark-playbooks#97

[ends-in-rendezvous]
keys = The log ends with:
pattern =
    ^The log ends with: (?![^\n]*(?:COMPLETE|[Ff]inished|100%|[Cc]omplete|\bends?\b|\bdone\b|\btook\b))(?P<step>[^\n]*(
    +?:[Ii]nit torch distributed begin|distributed_init_method=|Waiting for (?:the
    + )?(?:master|other|all)|store_based_barrier|init_process_group|Initializing distributed|[1-9]\d* remote core
    + engine|Connecting to existing Ray|Connected to Ray cluster|placement group found|creating a placement
    + group|waiting for (?:\d+ )?(?:nodes|workers|ranks)|[Ww]aiting for [^\n]*(?:to join|to connect|rank))[^\n]*)
cause = The log ends while the processes of the job connect to each other ({step}): perhaps one of them was not
    started, failed, or cannot reach the master's address.
remedy = Start it on all hosts within the time limit with the same release, world size and master address (an address
    that the others reach, not 127.0.0.1). Open its ports in the firewall (ufw), set the interface in
    GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME and VLLM_HOST_IP, check ray status if Ray is used, and read the other hosts'
    logs.
source = pytorch/pytorch#52848

[ends-in-loading]
keys = The log ends with:
pattern =
    ^The log ends with: (?![^\n]*(?:COMPLETE|[Ff]inished|100%|[Cc]omplete|\bends?\b|\bdone\b
    +|\btook\b))(?P<step>[^\n]*(?:checkpoint shards|[1-9]\d* local, 0 remote core engine|Loading
    + (?:model|weights|pt)|Starting to load model|Load weight begin|model weights
    + format|load_tensors|llama_model_loader|loading model|runner to start|Loading checkpoint|Fetching \d+ files)[^\n]*)
cause = The log ends while the model is loaded ({step}).
remedy = Check whether it continues (iostat, nvidia-smi, free -h): a network file system or a full memory makes it
    slow, and a process that was killed writes nothing here (journalctl -k | grep -i oom); copy the model to the local
    NVMe, leave memory for the GPU and the page cache free, and set a longer time limit if something waits for it.
source = ollama/ollama#6031

[ends-in-download]
keys = The log ends with:
pattern =
    ^The log ends with: (?P<step>[^|\n]*\b\d{1,2}%\|[^|\n]*\| {0,9}[\d.]{1,9}[kMGT]?/[^\n]*)
    ^The log ends with: [^\n]*(?P<step2>Falling back to regular HTTP download)
cause = The log ends in the middle of a step that counts its progress ({step}): it goes on, hangs, or was ended.
remedy = Check whether the network or the GPU still works (sar -n DEV 1 3; nvidia-smi). Stop a download that stands
    still and repeat it, which keeps finished files: HF_HUB_DISABLE_XET=1 uses plain HTTP, HF_TOKEN raises the limits,
    and hf download MODEL --max-workers 2 loads less at once. For the end of the process, read journalctl -k.
source = huggingface/xet-core#293

[ends-in-ray]
keys = The log ends with:
pattern = ^The log ends with: [^\n]*(?P<step>Retrying to get node with node ID)
cause = The log ends while a Ray node waits until the head lists it ({step}).
remedy = If it goes no further: use the same Ray and Python on both hosts, give each host's own address in the network
    between them (ray start --node-ip-address), open the ports between the hosts (ufw; network host for a container),
    and stop what an earlier start left (ray stop --force; rm -rf /tmp/ray) on both.
source = ServerlessLLM/ServerlessLLM#311

[ends-in-waiting]
keys = The log ends with:
pattern =
    ^The log ends with: (?P<step>Normal Pulling [^\n]*)
    ^The log ends with: (?P<step3>Container \S+ Waiting)
    ^The log ends with: [^\n]*(?P<step4>A start job is running for [^\n]*)
    ^The log ends with: [^\n]*(?P<step5>'GET /\S*health\S* HTTP/1\.1' 503 Service Unavailable)
    ^The log ends with: [^\n]*(?P<step6>Waiting for application startup)
    ^The log ends with: [^\n]*(?P<step8>(?:Receiving objects|Resolving deltas|Updating files): +\d{1,2}% [^\n]*)
    ^The log ends with: [^\n]*(?P<step9>Building initial module for [^\n]*)
values =
    advice of step: Normal => An image of 10 to 30 GB takes minutes: look at the traffic (sar -n DEV 1 3), and pull it
    + by hand to see the progress (sudo crictl pull IMAGE)
    advice of step: Container => A container that others depend on is not healthy yet: read its log and its check
    + (docker compose ps; docker compose logs NAME; docker inspect --format '{{json .State.Health}}' NAME)
    advice of step: A start => If it goes no further, see what that unit waits for (systemctl status UNIT; journalctl
    + -b -u UNIT): a network without a cable needs optional: true in /etc/netplan, a disk that is not there the option
    + nofail in /etc/fstab
    advice of step: .GET => The server answers only when the model is loaded and warmed up, which takes minutes: read
    + its own log for its progress or an error, and let the health check wait longer
    advice of step: Waiting => The program loads something before it accepts requests, such as a model or a database:
    + look whether its process computes (top, nvidia-smi), downloads (sar -n DEV 1 3) or waits for another server (ss
    + -tnp)
    advice of step: Building => DKMS compiles the driver's modules, which takes minutes; its log grows meanwhile
    + (/var/lib/dkms/nvidia/*/build/make.log)
    advice of step: . => Stop it and fetch less (git clone --depth 1 --filter=blob:none), check the proxy and the
    + network (sar -n DEV 1 3), and repeat it
cause = The log ends while something is awaited ({step}), and does not say whether it still comes.
remedy = {advice}.

[ends-in-retries]
keys = The log ends with:
pattern =
    ^The log ends with: FAILED - RETRYING: (?:\[[^\]\n]+\]: )?(?P<task>[^\n]+?) \(\d+ retries left\)
    ^The log ends with: (?P<layer>(?:[0-9a-f]{12}: )?Retrying in \d+ second)
values =
    state of task: . => Ansible tries a task again
    state of layer: . => a download is tried again
    advice of task: . => Look on the host at what it waits for (systemctl status, journalctl -u, docker logs), or run
    + the play with -vvv, which prints the result of each attempt
    advice of layer: . => Read why in the daemon's log (journalctl -u docker -n 50), check the network and the proxy
    + (curl -I https://nvcr.io/v2/), and download fewer layers at once ("max-concurrent-downloads": 1 in
    + /etc/docker/daemon.json)
uncertain = yes
cause = The log ends while {state}[ ({task})].
remedy = {advice}.

[ends-in-compiling]
keys = The log ends with:
pattern =
    ^The log ends with: (?![^\n]*(?:COMPLETE|[Ff]inished|100%|[Cc]omplete|\bends?\b|\bdone\b
    +|\btook\b))(?P<step>[^\n]*(?:Using Flash ?Attention|Using [Ff]lash[Ii]nfer|JIT
    + ops|[Cc]ompiling|torch\.compile|Dynamo bytecode|Capturing|Capture cuda
    + graph|cudagraph|[Aa]utotuning|[Ww]arm(?:ing)? ?up|with an empty run|memory profiling)[^\n]*)
cause = The log ends while kernels are compiled, tuned or captured ({step}), which takes minutes at a first start, or
    perhaps hangs.
remedy = Wait while nvcc, ninja or a worker uses the CPU (top). Leave memory free and set MAX_JOBS=4, because parallel
    compilers may have been killed (journalctl -k | grep -i oom), and delete the caches of an interrupted start
    (~/.cache/flashinfer, ~/.cache/vllm, ~/.triton/cache). A start without graphs and compilation (vLLM:
    --enforce-eager, SGLang: --disable-cuda-graph) tells whether that part hangs.
source = mark-ramsey-ri/vllm-dgx-spark#13

[ends-in-nccl]
keys = The log ends with:
pattern =
    ^The log ends with: (?![^\n]*(?:COMPLETE|[Ff]inished|100%|[Cc]omplete|\bends?\b|\bdone\b
    +|\btook\b))(?P<step>[^\n]*(?:Init START|commId 0x|Using network|NET/\w+ ?: Using|Bootstrap ?: |Trees \[|Channel
    + \d+/\d+|Connected all|P2P Chunksize|using nccl==|Found nccl from library|Initializing NCCL)[^\n]*)
cause = The log ends while NCCL connects the ranks ({step}), which waits for all of them: perhaps another rank has
    failed, was not started, or cannot be reached.
remedy = Read the other hosts' logs for the first error; set NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME and NCCL_IB_HCA on
    all of them to the cabled ports, open the firewall (ufw), and try NCCL_IB_DISABLE=1, which tells whether RDMA is at
    fault. all_reduce_perf of nccl-tests shows the same without the program.
source = vllm-project/vllm#8447

[torch-arch-warned]
keys = is not compatible with the current PyTorch installation
pattern =
    ^[ \t]*(?P<gpu>[^\n]{1,80}?) with CUDA capability (?P<need>sm_(?P<family>1\d)\d) is not compatible with the current
    + PyTorch installation\.\s+The current PyTorch install supports CUDA capabilities (?![^\n]*(?:compute_
    +|sm_(?P=family)\d))(?P<has>(?:sm_\w+ ?)+)
uncertain = no
values =
    advice of log_tensorrt_llm: . => TensorRT-LLM pins its torch, so do not exchange that alone: install a newer
    + TensorRT-LLM (1.0 and newer know 12.0), or use NVIDIA's image nvcr.io/nvidia/tensorrt-llm/release
    advice of need: . => Install a PyTorch for CUDA 13 (pip install torch --index-url
    + https://download.pytorch.org/whl/cu130; for a Jetson Thor, nvcr.io/nvidia/pytorch), and its other packages for
    + cu130
cause = The installed PyTorch has code for {has}, but the GPU ({gpu}) needs {need}.
remedy = {advice}.
source = lmoe/wyoming-xtts#1

[cuda-error-name]
keys =
    cudaError
    CUDA_ERROR_
    Error at driver init
pattern =
    Error at driver init:\s{1,3}[^\n]{0,60}(?P<name2>CUDA_ERROR_[A-Z_]+)
    (?:[Ee]rror|ERROR|[Ee]xception|[Ff]ail\w*|returned|results in|code|status)[^\n]{0,80}?\b(?P<name1>cudaError(?!_t)
    +[A-Z]\w+|CUDA_ERROR_[A-Z_]+)
unless =
    Success|NotReady|NOT_READY
    PeerAccessAlready|in https
values =
    what of name: .*(?:DeviceFunction|IMAGE|NO_BINARY|KernelImage|Ptx|PTX|SOURCE) => the program has no code for this
    + GPU, or code that the driver cannot load
    what of name: .*(?:Insufficient|SYSTEM_DRIVER|DriverMismatch|COMPAT|Compat|STUB|Stub) => the driver does not fit the
    + program's CUDA
    what of name: .*(?:Resources|RESOURCES|TooLarge|TOO_LARGE|Configuration) => the kernel was made for a GPU with more
    + registers, shared memory or multiprocessors
    what of name: .*(?:ResourceHandle|INVALID_HANDLE|CONTEXT|Context|Deinit|DEINIT|Unload) => the program used an
    + object of another context or GPU, or of a destroyed context
    what of name: .*(?:Nvlink|NVLINK|Peer|PEER) => the program expects GPUs to reach each other directly, which they
    + cannot here
    what of name: .*(?:ECC|Ecc|Uncorrectable) => the GPU's memory has a fault
    what of name: .*(?:Mps|MPS|Unavailable|UNAVAILABLE|SystemNotReady|NOT_READY|StartupFailure) => the GPU accepts no
    + program now (another program or the MPS daemon holds it exclusively, or the driver is not ready)
    what of name: .*(?:FileNotFound|FILE_NOT|SharedObject|SHARED_OBJECT|Jit|JIT) => a library or file of CUDA is missing
    what of name: .*(?:OperatingSystem|OPERATING_SYSTEM) => the system refused a call, usually because the GPU's
    + devices are missing or it cannot lock memory
    what of name: .*(?:NotPermitted|NOT_PERMITTED) => the driver or a container forbids the call
    what of name: .*(?:NOT_FOUND|SymbolNotFound) => the library has no kernel with the requested name
    what of name: . => a call failed
    advice of name: .*(?:DeviceFunction|IMAGE|NO_BINARY|KernelImage|Ptx|PTX|SOURCE) => Use its build for CUDA 13 with
    + code for 12.0 or 12.1, or build it with CMAKE_CUDA_ARCHITECTURES=121
    advice of name: .*(?:Insufficient|SYSTEM_DRIVER|DriverMismatch|COMPAT|Compat|STUB|Stub) => Compare the CUDA that
    + nvidia-smi shows with the program's, and keep stubs and /usr/local/cuda/compat off LD_LIBRARY_PATH
    advice of name: .*(?:Mps|MPS|Unavailable|UNAVAILABLE|SystemNotReady|NOT_READY|StartupFailure|ECC|Ecc|Uncorr) =>
    + Check nvidia-smi -q and journalctl -k, end other programs on the GPU, and reboot
    advice of name: .*(?:OperatingSystem|OPERATING_SYSTEM) => Check that nvidia-smi works for the same account in the
    + same container, that all of /dev/nvidia* exist (also nvidia-uvm: sudo nvidia-modprobe -c 0 -u), that libcuda.so.1
    + belongs to the running driver, and that ulimit -l and -v are unlimited
    advice of name: .*(?:Nvlink|NVLINK|Peer|PEER) => Set NCCL_P2P_DISABLE=1, or let each process see one GPU
    advice of name: .*(?:FileNotFound|FILE_NOT|SharedObject|SHARED_OBJECT|Jit|JIT) => Start a container with --gpus all
    + and NVIDIA_DRIVER_CAPABILITIES=compute,utility, and install all CUDA packages in one version
    advice of name: .*(?:NOT_FOUND|SymbolNotFound) => Build the program for this GPU (CUDA_COMPUTE_CAP=120 for Rust's
    + candle, TORCH_CUDA_ARCH_LIST=12.0 elsewhere; kernels for bf16 exist from 8.0 on) in an empty directory, and with
    + several GPUs select one with CUDA_VISIBLE_DEVICES
    advice of name: . => Use a newer release or another backend of the program, and run it with CUDA_LAUNCH_BLOCKING=1
    + and compute-sanitizer to find the call
cause = CUDA reports {name}: {what}.
remedy = {advice}.
source = https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html

[cuda-error-text]
keys =
    CUDA error:
    CUDA driver error:
pattern = CUDA (?:driver )?error: (?P<why>(?!out of mem)[A-Za-z](?!UBLAS)[^\n]{3,160})
unless = user:
values =
    what of why: driver shutting => the process was ending, or its memory was gone, while it still used the GPU
    what of why: initialization => CUDA was used before it started or after it ended: perhaps in a
    + process forked from one that had used the GPU, in a thread that outlived the program, or without a driver
    what of why: invalid device pointer|pointer does not|part or all|resource already|driver error => the call names
    + memory that this process does not own: it was freed, or belongs to another process or allocator
    what of why: invalid device symbol|function not|shared object symbol => the library has no such function for
    + this GPU, or parts of two CUDA releases are loaded
    what of why: CUDA driver is a stub => the stub of libcuda was loaded instead of the driver's library
    what of why: device doesn't have => a virtual GPU has no licence
    what of why: invalid device context|the operation cannot|cannot set while => another library of the process
    + created or destroyed the context
    what of why: uncorrectable NVLink => a link between GPUs failed
    what of why: exclusive-thread => another process uses the GPU exclusively
    what of why: a PTX JIT|PTX JIT => the driver's PTX compiler is missing or failed
    what of why: file not found => a file or device of the system is missing
    what of why: OS call => the system refused a call, usually because the GPU's devices are missing or it cannot lock
    + memory (as for pinned memory)
    what of why: device not ready => work in another stream had not finished
    what of why: peer => direct access between GPUs was set up wrongly
    what of why: hardware stack|invalid program|tensor memory|contained|fatal => a kernel failed on the GPU
    what of why: too many blocks => the kernel needs more blocks at once than this GPU can run (a GB10 has 48
    + multiprocessors)
    what of why: .*cluster => the kernel uses clusters of blocks in a way that only data-centre GPUs support
    what of why: operation not permitted$ => the driver refuses the call, as during the capture of a graph, in a
    + container without the permission, or under MPS
    what of why: Mps|MPS => the MPS daemon does not serve this process
    what of why: unrecognized => the program's CUDA is older than the driver's error, or two CUDA runtimes are loaded
    what of why: .*(?:captur|graph) => a call that CUDA graphs do not allow was made during a capture
    what of why: . => the program's call does not fit this GPU or driver
    advice of why: driver shutting => Find out what ended the program while a thread still used the GPU: a signal, a
    + service's time limit, an error further up, or memory that ran out (journalctl -k | grep -iE 'oom|NO_MEMORY'; on a
    + GB10, leave more of it free, and let llama.cpp load with mmap)
    advice of why: initialization => Start workers with spawn (VLLM_WORKER_MULTIPROC_METHOD=spawn,
    + mp.set_start_method), check that nvidia-smi works where the program runs, and look further up in the log for
    + the error that ended it
    advice of why: CUDA driver is a stub => Remove the stubs directory from LD_LIBRARY_PATH, and start a container
    + with --gpus all
    advice of why: a PTX JIT|PTX JIT => Start the container with --gpus all and
    + NVIDIA_DRIVER_CAPABILITIES=compute,utility, so that it has the driver's libnvidia-ptxjitcompiler.so.1, and use
    + a build with code for 12.0 or 12.1
    advice of why: OS call => Let the process lock more memory (ulimit -l unlimited; for a container, --ulimit
    + memlock=-1) and leave memory free. Check that nvidia-smi works for the same account in the same container with all
    + of /dev/nvidia* (also nvidia-uvm), and choose another attention backend if only one of them fails
    advice of why: exclusive-thread => Reset the GPU's mode (sudo nvidia-smi -c DEFAULT), or end the other process
    advice of why: peer => Set NCCL_P2P_DISABLE=1, or let each process see one GPU (CUDA_VISIBLE_DEVICES)
    advice of why: Mps|MPS => Stop it (echo quit | nvidia-cuda-mps-control), start it again for this account, or
    + unset CUDA_MPS_PIPE_DIRECTORY
    advice of why: .*(?:captur|graph) => Start without graphs to see the first error (vLLM: --enforce-eager, SGLang:
    + --disable-cuda-graph)
    advice of why: invalid device pointer|pointer does not|part or all|resource already|driver error => Leave out
    + other allocators and the transfer of memory between processes (expandable_segments, symmetric memory,
    + Mooncake, NIXL), and use one release of each on both sides
    advice of why: hardware stack|invalid program|tensor memory|contained|fatal|too many|.*cluster => Choose another
    + backend for that kernel, or a release with code for 12.1; CUDA_LAUNCH_BLOCKING=1 shows which kernel it is
    advice of why: . => Check that only one CUDA 13 is loaded (pip list | grep nvidia, LD_LIBRARY_PATH) and that
    + nvidia-smi works where the program runs; CUDA_LAUNCH_BLOCKING=1 shows the call
cause = CUDA reports {why}: {what}.
remedy = {advice}.
source = https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html

[heap-damaged]
keys =
    free():
    double free or corruption
    malloc():
    munmap_chunk()
    corrupted size vs
    corrupted double-linked
    stack smashing detected
    realloc():
pattern =
    ((?:free|malloc|realloc|munmap_chunk)\(\): (?:invalid|corrupted|unaligned|unsorted|mismatching|double
    + free|smallbin|largebin|memory)[^\n]{0,60}|double free or corruption[^\n]{0,20}|corrupted (?:size
    + vs|double-linked)[^\n]{0,30}|stack smashing detected)
cause = The program's memory was damaged ({found}), usually by compiled packages that do not fit each other.
remedy = Reinstall them in one environment, unset LD_PRELOAD, and find the package with python -X faulthandler.

[dpkg-unconfigured]
keys = dependency problems prevent configuration of
pattern =
    dependency problems prevent configuration of (?P<package>\S+?):\n(?: [^\n]*\n)*?  Package (?P<other>\S+) is not conf
    +igured yet
    dependency problems prevent configuration of (?P<package3>\S+?):\n(?: [^\n]*\n)*?  (?:Package (?P<missing1>\S+) is
    + not installed|Version of (?P<missing2>\S+) on system is)
    dependency problems prevent configuration of (?P<package2>\S+?):(?:\n \S+ (?P<why>depends on [^;\n]+))?
values =
    advice of missing: . => Install that first: sudo apt --fix-broken install does so if a source has it (for a file,
    + use sudo apt install ./FILE.deb instead of dpkg -i). Otherwise use the package's build for this release
    advice of package: . => Look above for the first package whose own script failed, and fix that. Then run sudo apt
    + --fix-broken install
cause = dpkg could not finish {package}, because it needs another package first[: {other}, which failed before][
    ({why})][: {missing} is not installed, or not in the version that it needs].
remedy = {advice}.

[dpkg-failed]
keys =
    dpkg: error processing
    Errors were encountered while processing
pattern =
    dpkg: error processing (?:package|archive) (\S+)
    Errors were encountered while processing:\n(?:[^\n]{1,60}: )? (\S+)
every = yes
uncertain = yes
cause = dpkg could not finish {found}.
values =
    advice of found: .*(?:nvidia-dkms|-dkms\b) => Read the first error of the module's build
    + (/var/lib/dkms/NAME/VERSION/build/make.log; dkms status shows both). Usually the kernel's headers are missing or
    + the module is older than the kernel; fix that
    advice of found: .*(?:linux-(?:image|headers|modules)|initramfs-tools) => Check df -h /boot, and read the lines of
    + dkms and update-initramfs above. Free space in /boot (sudo apt autoremove --purge), or fix the module that does
    + not build
    advice of found: .*(?:grub|shim) => Check that the EFI partition is mounted and not full (findmnt /boot/efi; df -h
    + /boot/efi)
    advice of found: .*(?:docker|containerd) => Read journalctl -u docker -u containerd -b to see why its service does
    + not start
    advice of found: .*nvidia-fabricmanager => Remove it if the host has no NVSwitch; a Spark has none
    advice of found: . => Read the package's own message above and /var/log/dpkg.log, and fix what it names
remedy = {advice}, then run sudo dpkg --configure -a.

[dpkg-returned-error]
keys = Sub-process /usr/bin/dpkg returned an error code
pattern = Sub-process (/usr/bin/dpkg) returned an error code
cause = dpkg failed under apt, and these lines do not say for which package.
remedy = Run sudo dpkg --configure -a, which prints the package and its error again; then sudo apt --fix-broken install.

[nccl-warning]
keys = NCCL WARN
pattern = NCCL WARN (?P<why>[^\n]{4,300})
unless = libibverbs
uncertain = yes
values =
    advice of why: .*(?:MNNVL|IMEX) => Set NCCL_MNNVL_ENABLE=0
    advice of why: .*(?:NVLS|ulticast) => Set NCCL_NVLS_ENABLE=0
    advice of why: .*(?:NET/IB|ibv_|mlx5|GID|DMA-?BUF) => Set NCCL_IB_HCA and NCCL_SOCKET_IFNAME to the cabled ports
    + on all hosts, and start a container with /dev/infiniband and --ulimit memlock=-1; NCCL_IB_DISABLE=1 tells whether
    + RDMA is at fault
    advice of why: .*(?:NCCL_\w+|XML|[Tt]opo) => Unset the variables NCCL_* that the program does not need
    advice of why: .*(?:shm|SHM|shared mem) => Start the container with --ipc=host
    advice of why: .*(?:ocket|ootstrap|onnect|interface|imeout|recv|send) => Read the other ranks' logs for the first
    + error. Otherwise set NCCL_SOCKET_IFNAME on all hosts to the interface between them, and open the firewall (ufw)
    advice of why: . => Load the NCCL that PyTorch pins, the same on all hosts, set NCCL_CUMEM_ENABLE=0, and run again
    + with NCCL_DEBUG=INFO
cause = NCCL could not continue: {why}.
remedy = {advice}.

[mpi-abort]
keys =
    MPI_ABORT was invoked
    failed to TCP connect to a peer MPI
pattern =
    (?P<abort>MPI_ABORT) was invoked on rank (?P<rank>\d+)
    (?P<tcp>Open MPI failed to TCP connect to a peer MPI process)
values =
    advice of abort: . => Read that rank's own lines above for the reason (--tag-output names the rank)
    advice of tcp: . => Name the network between the hosts (mpirun --mca btl_tcp_if_include enp1s0f0np0 --mca
    + oob_tcp_if_include enp1s0f0np0), and open its ports (ufw)
    what of abort: . => A rank ended the MPI job itself
    what of tcp: . => An MPI process cannot reach another host over TCP
cause = {what}[ (rank {rank})].
remedy = {advice}.
source = https://www.open-mpi.org/faq/?category=tcp

[mooncake-transport]
keys =
    Session::writeBody failed
    Session::readBody failed
    Session::writeHeader failed
    Session::readHeader failed
    Failed to modify QP to
    Worker: Process failed for slice
    Failed to get segment desc
    Cannot find target segment
    RdmaTransport:
    Failed to install
    Received context async event
pattern =
    (?P<why>Session::\w+ failed[^\n]{0,120}|Failed to modify QP to [^\n]{0,120}|Worker: Process failed for
    + slice[^\n]{0,160}|Failed to get segment desc[^\n]{0,120}|Cannot find target segment[^\n]{0,100}|RdmaTransport:
    + [^\n]{4,160}|Failed to install \w+ transport|Received context async event [^\n]{0,60})
values =
    advice of why: Session => The TCP transport can read the GPU's memory only if the package was built with CUDA
    + (mooncake-transfer-engine of this host's CUDA, or from source with -DUSE_CUDA=ON); otherwise use RDMA
    advice of why: (?:Failed to modify|Worker|RdmaTransport|Received) => Name the cabled ports in device_name (rdma
    + link shows them), with one MTU and GID index on both hosts (MC_GID_INDEX), allow the process to lock memory
    + (ulimit -l unlimited), pass /dev/infiniband to containers, and test the link with ib_write_bw
    advice of why: . => Check that the metadata server and the other host are reachable, and that both hosts use one
    + release and the same metadata server
cause = Mooncake could not transfer data to the other host: {why}.
remedy = {advice}.
source = sgl-project/sglang#7118

[worker-failed]
keys = Worker failed with error
pattern = Worker failed with error '(?P<why>[^\n]{3,400}?)', please check the stack
values =
    advice of why: '?(?:float|int|uint)\d+_?\w* => PyTorch lacks that data type: install the PyTorch that this release
    + of the server pins (2.7 or newer for float8_e8m0fnu, 2.8 or newer for float4_e2m1fn_x2), in a new environment
    advice of why: . => Read that worker's own traceback above (the first line with ERROR of a Worker): its last lines
    + name the part that failed. Start the server without that part's options or with another backend for it, or use a
    + newer release
cause = A worker of the server failed: {why}.
remedy = {advice}.
source = vllm-project/vllm#28363

[gloo-refused]
keys = /gloo/
pattern =
    (?:gloo/transport/\w+|gloo/rendezvous|/gloo)/(?P<file>\w+)\.(?:cc|h):\d+\] (?P<why1>(?!Connection closed|Read
    + error|Timed out|[^\n]*(?:refused|No route|unreachable|in use|assign))[^\n]{4,200})
uncertain = yes
values =
    advice of why: .*(?:address|interface|device) => Set GLOO_SOCKET_IFNAME to the interface whose address the other
    + hosts reach (such as enp1s0f0np0), and check that /etc/hosts does not map the host's own name to 127.0.1.1
    advice of why: .*(?:imeout|closure|closed|Write|writev) => Read the logs of the other ranks for their first
    + error: one of them exited or did not answer
    advice of why: .*(?:ibv_|verbs) => Allow the program to lock memory (ulimit -l unlimited), or let Gloo use TCP
    advice of why: . => Check that all ranks have the same world size and release of PyTorch, and reach each other
    + at the addresses of GLOO_SOCKET_IFNAME
cause = Gloo, with which the ranks exchange messages on the CPU, failed: {why}.
remedy = {advice}.
source = https://docs.pytorch.org/docs/stable/distributed.html

[llamacpp-decode-failed]
keys =
    failed to decode
    ggml_cuda_compute_forward:
    find a memory slot
    prepare attention ubatches
    : CUDA error
    that cannot run the operation
pattern =
    ((?:process_ubatch|llama_decode|decode)\W+failed to [^\n]{3,120}|failed to find a memory slot[^\n]{0,60}|failed
    + to prepare attention ubatches)
    ggml_cuda_compute_forward: (\w+) failed
    (ggml-cuda\.cu:\d+): CUDA error(?:\n(?:[^\n]*\n)?[^\n]{0,40}CUDA error: (?P<cuda>[^\n]{3,120}))?
    (pre-allocated tensor [^\n]{3,160}cannot run the operation \([^)\n]+\))
values =
    advice of cuda: an unsupported value or parameter => Start it with GGML_CUDA_DISABLE_GRAPHS=1, and without draft
    + models and MTP; then update llama.cpp
    advice of found: .*(?:slot|ubatch) => Raise the context (-c) or lower the number of slots (-np)
    advice of found: pre-alloc => Leave out the quantized cache (-ctk, -ctv) and -ot, and update llama.cpp
    advice of found: . => Read the line with CUDA error next to it; if there is none, update llama.cpp, build it with
    + -DCMAKE_CUDA_ARCHITECTURES=121, leave more memory free, and try without -fa, draft models and a quantized cache
cause = llama.cpp failed during the computation ({found})[: CUDA reports {cuda}].
remedy = {advice}.
source = withcatai/node-llama-cpp#560

[http-request-refused]
keys =
    Server Error:
    Client Error:
    status code 4
    status code 5
    status code: 4
    status code: 5
    HTTP status: 4
    HTTP status: 5
    HTTP status 4
    HTTP status 5
    with status 4
    with status 5
    HTTP/1.1 4
    HTTP/1.1 5
    kind: Status(
    : 401 Unauthorized
    : 403 Forbidden
    : 404 Not Found
    : 429 Too Many
    : 500 Internal
    : 502 Bad Gateway
    : 503 Service
    : 504 Gateway
pattern =
    (?P<status1>4\d\d) Client Error: (?P<why1>[^\n]{3,80}?) for url
    (?P<status2>5\d\d) Server Error: (?P<why2>[^\n]{3,80}?) for url
    (?:[Ee]rror|[Ff]ail|[Rr]eceived)[^\n]{0,200}?(?:[Ss]tatus(?: code)?:?|HTTP(?:/[\d.]+)?(?: status(?: code)?)?:?)
    + (?P<status3>[45]\d\d)\b(?: (?P<why3>[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+){0,3}))?
    Error[^\n]{0,20}\bkind: Status\((?P<status4>[45]\d\d)
    (?:Error|error)\b[^\n]*?https?://\S+?: (?P<status5>[45]\d\d) (?P<why5>[A-Z][A-Za-z ]{3,40})
values =
    advice of status: 404|410 => Correct the address: the file has another name or release, or does not exist for this
    + machine
    advice of status: 401|403|407 => Log in, accept the licence, or pass a token; a proxy may also be what refuses it
    advice of status: 4(?:08|29) => Wait, or use a mirror: the server limits the requests of each address
    advice of status: 4 => Compare the request with the server's documentation (its length, fields and method)
    advice of status: . => Try later: the server itself, or one behind it, failed
cause = A server answered a request with {status}[: {why}].
remedy = {advice}.

[shard-gone]
keys = error trying to connect: No such file or directory
pattern = (error trying to connect: No such file or directory)
cause = The router no longer reaches its model process (its socket is gone: {found}), which ended earlier.
remedy = Read the first error of the shard above, or its last lines before this one. If there is nothing, look for Out
    of memory in the kernel's log (journalctl -k).
source = huggingface/text-generation-inference#3317

[store-gone]
keys = flag on TCPStore
pattern = Failed to check the 'should dump' flag on TCPStore[^\n]{0,100}?with error: (?P<why>[^\n]{3,80}?)\.?$
cause = Rank 0, which keeps the store of this run, has ended ({why}); the other ranks only notice it.
remedy = Read rank 0's own log for its first error, above or on its host. If it ended well, there is nothing to do (let
    all ranks call destroy_process_group before they exit).
source = tdrussell/diffusion-pipe#333

[rollout-server-failed]
keys = Multiple errors: [Exception('Server
pattern = Exception\('Server (?P<number>\d+) failed: (?P<why>[^'\n]{3,120})
cause = The server of the rollouts (number {number}) answered with an error: {why}.
remedy = Read that server's own log for the first error at this time; the trainer only passes its answer on.
source = modelscope/ms-swift#7228

[lora-load-failed]
keys = Loading lora
pattern = RuntimeError: Loading lora (?P<adapter>\S+) failed
cause = vLLM could not load the adapter {adapter}; the traceback above this line says why.
remedy = Read the last exception above this line. The adapter must be in PEFT's format (adapter_config.json and
    adapter_model.safetensors), for this base model, without modules_to_save or DoRA, and its rank within
    --max-lora-rank.
source = vllm-project/vllm#8945

[collective-dump]
keys = Received a dump signal due to a collective timeout
pattern = (Received a dump signal due to a collective timeout)
cause = A collective operation timed out in this or another rank ({found}); this line is not the first sign of it.
remedy = Find the first line with Watchdog caught collective operation timeout in the logs of all ranks: compare their
    OpType and SeqNum (a rank with different ones took another path through the program), and check the rank that has
    none.
source = axolotl-ai-cloud/axolotl#3476

[errno]
keys =
    [Errno
    (os error
pattern =
    \w: \[Errno (?P<number1>\d+)\] (?P<why1>[^\n:]{3,80})(?:: '(?P<path1>[^'\n]+)')?
    (?P<why2>[A-Z][^\n:()]{3,80}) \(os error (?P<number2>\d+)\)
unless = retr(?:y|ies)|Retrying|error trying to connect
values =
    advice of number: (?:1|13)$ => Give the program's account that right (ls -l shows owner and mode; for a container,
    + change its user, --cap-add or --device), or use sudo
    advice of number: 2$ => Correct the path as the program sees it (the path inside a container)
    advice of number: (?:4|11|16)$ => Another process uses it: find that process (lsof, fuser -v), and try again
    advice of number: 5$ => Read the kernel's log (journalctl -k): the disk, the share or the device is failing
    advice of number: (?:6|19|61|107|108|121)$ => The device or mount behind the path is gone: check lsblk, findmnt
    + and lspci, then unmount it (sudo umount -l) and mount it again
    advice of number: 7$ => Pass fewer or shorter arguments and variables (xargs; a file of arguments)
    advice of number: 8$ => It is a program for another processor, or a script without #!
    advice of number: 12$ => Leave more memory free, or raise the limit (ulimit -v, MemoryMax, the container's)
    advice of number: (?:17|39)$ => Remove what already exists there, or name another target
    advice of number: 18$ => Put both on one file system, or copy instead of linking (TMPDIR, UV_LINK_MODE=copy)
    advice of number: (?:20|21)$ => Name a file instead of a directory, or the other way round
    advice of number: 22$ => This file, device or kernel does not accept one of the values: read the call in the lines
    + above
    advice of number: (?:23|24)$ => Raise the limit of open files (ulimit -n; LimitNOFILE; --ulimit nofile)
    advice of number: 26$ => End the program that runs from that file, then replace it
    advice of number: (?:27|28|122)$ => Free space (df -h, df -i, quota), or use a file system without that limit
    advice of number: 30$ => Mount it writable; for a container, without :ro
    advice of number: 32|10[34]$ => The other side ended: read its log
    advice of number: 36$ => Choose shorter names, or a shorter working directory (255 bytes for each name, less in an
    + encrypted home)
    advice of number: (?:38|95)$ => This kernel or file system lacks the call: use another file system, or a container
    + without its seccomp filter
    advice of number: 40$ => A symbolic link leads to itself: find it with ls -l and namei, and recreate it
    advice of number: 9[89]$ => Choose another address or port: this one is in use, or does not belong to this host
    + (ss -ltnp; ip -br addr)
    advice of number: 1(?:00|01|10|11|12|13)$ => Check that the other host and its service run and can be reached
    + (ping, ss -ltnp there, firewall)
    advice of number: 116$ => Unmount the share (sudo umount -l) and mount it again
    advice of number: . => Look the number up (errno NUMBER, from moreutils), and read in the lines above what was
    + called
uncertain = yes
cause = The system refused a call[ for {path}]: {why} (error {number}).
remedy = {advice}.
source = https://man7.org/linux/man-pages/man3/errno.3.html

[ansible-command-failed]
keys =
    non-zero return code
    Ansible run fail
pattern =
    (non-zero return code)(?=[^\n]*\nOrigin: (?P<place>\S+?:\d+))?
    (Ansible run failed, exit code \d+)
cause = A command that Ansible ran failed ({found})[ in the task at {place}]; this line does not say why.
remedy = Read stderr and stdout of that task (-v shows them), whose last lines come from the command itself, or run the
    command by hand on the host, as the same account and in the same directory.
source = PierreBeucher/cloudypad#322
"""
