# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

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
cause = NCCL's helper could not do its step {step} for a connection to another rank, and this log does not say why.
remedy = Look for a WARN before it here and on the other host (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,NET); without one
    try NCCL_IB_DISABLE=1: if that works, RDMA is at fault (role fabric).
source = MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks#3

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

[ray-channel-timeout]
keys = RayChannelTimeoutError
pattern = (RayChannelTimeoutError)
cause = A worker did not finish a step in the time that Ray gives it ({found}): it compiles, waits for the network, or
    is dead.
remedy = Read the logs of the other workers for the first error, and check the network between the hosts
    (NCCL_DEBUG=INFO); if the workers only need longer, set RAY_CGRAPH_get_timeout (seconds) in the environment of every
    Ray process.
source = vllm-project/vllm#19703

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

[nccl-unhandled]
keys = NCCL error
pattern = NCCL error(?: in)?:? [^\n]*?(unhandled (?:system|cuda) error|internal error|remote process exited)
values =
    advice of found: remote => Read the logs of the other ranks for their first error: one of them ended first, and
    + this one only noticed it
    advice of found: . => Run again with NCCL_DEBUG=WARN (INFO for more) on all hosts, and read the first NCCL WARN
    + line; explain reads it, too
cause = NCCL reports that something failed ({found}), but not what: its own WARN lines say it, and this log has none
    that is known.
remedy = {advice}.
source = sgl-project/sglang#8974

[c10d-first-rank-lost]
keys = ncclUniqueId from
pattern = retr\w+ ncclUniqueId from \[(?P<rank>\d+)\][^\n]*?got error: (?P<why>\w[\w ]*)
cause = Rank {rank}, at which the others meet, did not answer ({why}): it failed before, or the network between the
    ranks does not get through.
remedy = Read the log of rank {rank} for its first error; if it has none, see that MASTER_ADDR and its port are reached
    from the other hosts.
source = hiyouga/LlamaFactory#2470

[unit-dependency-failed]
keys =
    dependency job for
    Dependency failed for
pattern =
    A dependency job for (\S+) failed
    Dependency failed for (\S+)
cause = systemd did not start {found}, because a unit that it needs failed.
remedy = See which (systemctl --failed; systemctl list-dependencies {found}) and read its journal (journalctl -u UNIT
    -b).

[program-crashed]
keys =
    segfault at
    code=dumped
    unhandled exception: DABT
pattern =
    (?P<program1>[\w.:-]+)\[\d+\]: segfault at [^\n]*? in (?P<library1>[\w.+-]+)
    (?P<program2>[\w.:-]+)\[\d+\]: unhandled exception: [^\n]*? in (?P<library2>[\w.+-]+)
    (?P<program3>[\w@.\\-]+): Main process exited, code=dumped, status=(?P<signal>\d+/\w+)
cause = {program} crashed[ in {library}][ (signal {signal})].
remedy = Read its last own lines before this; coredumpctl info shows where it was, and a library that was built for
    another version of Python, torch or CUDA is a common reason.

[step-crashed]
keys =
    Segmentation fault
    Bus error
    Illegal instruction
    Aborted
    died due to signal
    [code=13
    Fatal Python error:
    *** SIG
pattern =
    Fatal Python error: (\w[\w ]+)
    \*\*\* (SIG(?:BUS|SEGV|ILL|ABRT)) received
    ^[ \t]*(Segmentation fault|Bus error|Illegal instruction|Aborted)\b
    FAILED: \[code=(13[4569])\]
cause = A program crashed ({found}).
values =
    advice of found: Illegal|SIGILL|132|illegal => It has code for another processor: take the build for aarch64; with
    + NumPy on an older ARM export OPENBLAS_CORETYPE=ARMV8 first
    advice of found: Bus|SIGBUS|135|bus => Look for a full disk (df -h, df -h /dev/shm), and give a container --ipc=host
    advice of found: Aborted|SIGABRT|134|abort => Read the line before it, which has the reason
    advice of found: . => Run it with python -X faulthandler, which names the library: mostly libraries that do not fit
    + each other (of another torch, CUDA or Python), so install them anew in one environment
remedy = {advice}.

[rsync-cut]
keys = error in rsync protocol data stream
pattern = error in rsync protocol data stream \((code \d+)\)
cause = rsync's connection ended in the middle ({found}); the reason stands in the lines above, or on the other host.
remedy = Look above (no space, no rsync there, permission, ssh); run it again with --partial, which goes on where it
    stopped.
source = Burnett01/rsync-deployments#70

[capture-failed]
keys = Capture cuda graph failed
pattern = Capture cuda graph failed: (?P<why>[^\n]+)
cause = SGLang failed while it recorded CUDA graphs: {why}.
remedy = If it is memory, lower --mem-fraction-static or --cuda-graph-max-bs; if it is a kernel, choose another
    --attention-backend (triton or flashinfer); --disable-cuda-graph tells which.

[ninja-no-file]
keys = loading 'build.ninja'
pattern = loading 'build\.ninja': ([^\n]+)
cause = The build directory has no build.ninja: CMake did not finish.
remedy = See CMake's output above; if it shows no error, delete the build directory (rebuild=true of a unit).

[triton-compiler-failed]
keys = CalledProcessError: Command
pattern = CalledProcessError: Command '\['([^']+)', '[^']*(?:cuda_utils|__triton_launcher|main|launcher)\.c'
cause = Triton compiles a C file at the first kernel, and {found} failed.
remedy = Read the compiler's lines above; install gcc and the headers of Python (apt install build-essential
    python3-dev; role build_toolchain), and check that cuda.h and libcuda.so.1 are found.
"""
