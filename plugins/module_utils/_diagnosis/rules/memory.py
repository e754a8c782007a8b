# __init__.py in this directory explains the fields.
"""Memory and disk

After memory or disk space ran out, other failures are only consequences.
"""

RULES = r"""
[rdma-memory]
keys =
    max locked memory
    devx_umem_reg
    ibv_reg_mr
    ibv_create_
    Couldn't allocate MR
pattern =
    (\w*umem_reg\(\)) failed
    (set max locked memory)
    (ibv_reg_mr\w*|ibv_create_cq)\b.{0,200}Cannot allocate memory(?:[^\n]*?\(current: (?P<limit>[^)\n]+)\))?
    Call to (ibv_(?:create_qp|create_cq|reg_mr\w*)) failed$
    Couldn't (allocate MR)
cause = RDMA could not register memory ({found}): the program's limit on locked memory is too low[ ({limit})], or the
    host has none left.
remedy = Remove the limit on locked memory (ulimit -l shows it): --ulimit memlock=-1 and --cap-add IPC_LOCK for a
    container, LimitMEMLOCK=infinity in a unit, memlock in /etc/security/limits.conf and a new login for an account. If
    it is unlimited and uname -r says 7.0 on DGX OS, whose KHO reserve takes 9 GiB, run `sudo apt install
    nvidia-spark-grub-kho` and reboot.
source = NVIDIA/nccl-tests#206

[trtllm-memory]
keys = [TensorRT-LLM]
pattern = \[TensorRT-LLM\][^\n]*?(?P<call>CUDA runtime error in [^\n:]{3,80}|Can't allocate KV
    + cache|cuda\w*Malloc\w*)[^\n]*?
    +(?:out of memory|not enough free memory)
cause = TensorRT-LLM found too little memory ({call}).
remedy = Lower kv_cache_config.free_gpu_memory_fraction (0.5), --max_seq_len and --max_batch_size, end other programs,
    and
    drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), which a GB10's GPU shares.

[graph-capture-memory]
keys = apture cuda graph failed
pattern = [Cc]apture cuda graph failed: (?P<why>[^\n]{0,160}out of memory)
cause = SGLang had too little memory left to record its CUDA graphs ({why}).
remedy = Lower --mem-fraction-static (0.8 or 0.7) and --cuda-graph-max-bs (16), or start it with --disable-cuda-graph.
    End other programs and drop the page cache before.

[jetson-memory]
keys = NvMapMemAllocInternalTagged
pattern = NvMapMemAllocInternalTagged: (?P<size>\d+) error 12
cause = A Jetson's allocator could not allocate {size} bytes: its memory, which the CPU and the page cache share, is
    used up, or the limit for one allocation (L4T 36.4.7) is exceeded.
remedy = Drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), stop other programs and the desktop,
    use a smaller model or context, and update JetPack.
source = ggml-org/llama.cpp#23732

[unified-load-refused]
keys = refusing oversized unified-memory load
pattern =
    unified-memory load: (?P<model>\S+) needs about (?P<need>[\d.]+ GB)[^\n]*?only about (?P<free>[\d.]+ GB) is usable
cause = Unsloth did not load {model}: its weights need about {need}, but only {free} of the shared memory is free.
remedy = Free memory first: stop other servers and programs (nvidia-smi shows them), or unload the previous model.
    Otherwise use a smaller or more quantized model. Offloading to the CPU frees nothing here.
source = unslothai/unsloth#9919

[cuda-out-of-memory]
keys =
    CUDA out of memory
    cudaMalloc failed: out of memory
    CUDA failed with error out of memory
    OutOfMemoryError: Allocation on device
    Maximum pool size exceeded
    Insufficient VRAM
pattern =
    CUDA failed with error out of memory
    CUDA out of memory\. Tried to allocate (?P<need1>[\d.]+ \w+)\.[^\n]*?total capacity of (?P<total1>[\d.]+ \w+) of
    + which (?P<free1>[\d.]+ \w+) is free(?:[^\n]*?Of the allocated memory (?P<own1>[\d.]+ \w+) is allocated by
    + PyTorch)?
    CUDA out of memory\. Tried to allocate (?P<need2>[\d.]+ \w+) \([^\n]*?(?P<total2>[\d.]+ \w+) total capacity;
    + (?P<own2>[\d.]+ \w+) already allocated; (?P<free2>[\d.]+ \w+) free
    allocating (?P<need3>[\d.]+ \w+) on device \d+: cudaMalloc failed: out of memory
    CUDA out of memory
    cudaMalloc failed: out of memory
    OutOfMemoryError: Allocation on device
    Maximum pool size exceeded
    Insufficient VRAM
cause = The GPU's memory ran out[: the program requested {need} more][, and {free} of {total} were free][; its PyTorch
    held {own}]. On a GB10 it is the host's own memory, which all programs share.
remedy = [The log denies {log_marlin}, which a GB10 has: use a build with those kernels for 12.1, because Marlin needs
    more memory. ]If this program held most of it, reduce its use: with vLLM lower --gpu-memory-utilization,
    --max-model-len or --max-num-seqs, with SGLang --mem-fraction-static, with llama.cpp -c or -ngl, otherwise the
    batch, or use a smaller or quantized model. If others held it, stop them (nvidia-smi lists the GPU's programs) or
    drop the page cache.
source = vllm-project/vllm#27508

[memory-profiling]
keys = Error in memory profiling
pattern =
    Error in memory profiling\. Initial free memory (?P<before>[\d.]+(?: GiB)?), current free memory
    + (?P<after>[\d.]+\d(?: GiB)?)
cause = The free memory rose from {before} to {after} while vLLM measured its needs, so vLLM does not start: another
    program freed memory at that moment. On a GB10, CPU programs and the page cache count too.
remedy = Start it again while no other program starts or ends. Start several servers one after the other, and on a GB10
    first drop the page cache (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches).
source = vllm-project/vllm#56830

[compiler-killed]
keys =
    Killed signal terminated program
    internal compiler error: Killed
    died due to signal 9
    unable to execute command: Killed
    signal: 9, SIGKILL
    Ninja build failed
    terminated with signal 9
pattern =
    could not compile '([^'\n]+)'[^\n]*(?:\n[^\n]*){0,4}signal: 9, SIGKILL
    (signal: 9, SIGKILL)
    Killed signal terminated program (\S+)
    internal compiler error: Killed \(program (\S+)\)
    '([\w+]+)' died due to signal 9
    unable to execute command: Killed
    collect2: error: (ld) terminated with signal 9
    Ninja build failed(?:[^\n]*\n){1,40}?FAILED: \[code=137\] (\S+)
cause = The compiler was killed by signal 9 ({found}), which usually means that memory ran out: too many jobs for this
    host's memory.
remedy = Run again with fewer jobs (MAX_JOBS=4, with NVCC_THREADS=1, for a package that pip builds; -j for make and
    ninja), and stop programs that use memory, including GPU processes. A unit of this collection resumes from its
    objects, with as many jobs as fit into the free memory; raise memory_per_job or set jobs.
source = Dao-AILab/flash-attention#1549

[linker-killed]
keys = terminated with signal 9
pattern = collect2: fatal error: (\S+) terminated with signal 9
cause = The linker ({found}) was killed by signal 9, which usually means that memory ran out.
remedy = Run again with fewer jobs (MAX_JOBS, -j; for a unit, jobs: it resumes from its objects). Several large links at
    once need more memory than the rest of a build.
source = kraj/meta-clang#6

[compiler-oom-kill]
keys = ut of memory: Killed process
pattern =
    [Oo]ut of memory: Killed process \d+ \((?P<name>cicc|ptxas|nvcc|cudafe\+\+|fatbinary|nvlink|cc1|cc1plus|clang
    +|clang\+\+|rustc|ld|ld\.\w+|lld|lto1[\w-]*|as)\)(?:[^\n]*?anon-rss:(?P<held>\d+)kB)?
cause = The kernel killed the compiler program {name}[, which held {held} kB,] because memory ran out: too many
    compilations ran at once. A server may also compile kernels when it starts (FlashInfer runs one job for each core).
remedy = Limit the jobs: MAX_JOBS=4 or fewer in the environment of the server or build (-j for make and ninja), with
    NVCC_THREADS=1. A server can also use precompiled kernels (flashinfer-jit-cache), or compile once before a model
    fills the memory.
source = flashinfer-ai/flashinfer#3634

[kernel-oom-kill]
keys =
    oom-kill:constraint
    ut of memory: Killed process
    has been killed by the OOM killer
pattern =
    (?P<group>Memory cgroup )?[Oo]ut of memory: Killed process \d+
    + \((?P<name1>[^)\n]+)\)(?:[^\n]*?anon-rss:(?P<held>\d+)kB(?:[^\n]*?shmem-rss:(?P<shared>[1-9]\d+)kB)?)?
    oom-kill:constraint=(?P<group2>CONSTRAINT_MEMCG)?[^\n]*?task=(?P<name3>[^,\n]+)
    (?P<name2>\S+): A process of this unit has been killed by the OOM killer
    ^A process of (?P<name4>this unit) has been killed by the OOM killer
values =
    where of group: Memory cgroup|CONST => the limit of its container or unit was reached
    where of group: (?:) => the host's memory, which on a GB10 is also the GPU's, was used up
    advice of log_compiler: . => Run the build with fewer jobs (MAX_JOBS, make -j, ninja -j), because its compilers were
    + running. If that does not suffice, leave memory for the host, and
    advice of group: Memory cgroup|CONST => Raise that limit (docker run --memory, the unit's MemoryMax) or
    advice of group: (?:) => Leave memory for the host, and
cause = The kernel killed {name}[, which held {held} kB of private memory][ and {shared} kB of shared memory], because
    {where}.
remedy = {advice} reduce the program's use: a smaller share for a server (--gpu-memory-utilization,
    --mem-fraction-static), ComfyUI with --disable-mmap, a shorter context, fewer models at once, fewer build jobs.
source = LMCache/LMCache#4759

[oom-daemon]
keys =
    due to memory pressure
    due to memory used
    Memory pressure for
    sending SIGTERM to process
    sending SIGKILL to process
pattern =
    (?P<by1>systemd-oomd)?\[\d+\]: Killed (?P<name1>\S+) due to memory (?:pressure|used)
    Killed (?P<name2>/\S+) due to memory (?:pressure|used)
    Memory pressure for (?P<name4>/\S+) is (?:greater than )?[\d.%]+
    (?P<by2>earlyoom)?(?:\[\d+\]: )?sending SIG(?:TERM|KILL) to process \d+ uid \d+ '(?P<name3>[^'\n]+)'
cause = A memory daemon (systemd-oomd, earlyoom) killed {name}, because the host had almost no memory left.
remedy = Reduce the program's memory (a smaller share for a server, a shorter context, fewer jobs), or run it as a
    service: from a desktop's terminal, systemd-oomd kills the complete session's scope.

[context-memory]
keys =
    alloc failed: out of memory
    no graph fits
pattern = (tensor alloc failed: out of memory|no graph fits)
cause = There is no memory for the context's buffers[ ({log_context} tokens)], which the program needs in addition to
    the weights ({found}).
remedy = Start with a smaller context (--ctx, --ctx-size, -c or --max-model-len), fewer parallel slots or a smaller
    quantization, and compare the free memory that the program reports with MemAvailable in /proc/meminfo. On a Spark
    the weights and the page cache are in the same memory, and some versions count them twice (update the program).
source =
    antirez/ds4#563
    Entrpi/ds4#6

[image-emulated]
keys = qemu: uncaught target signal
pattern = qemu: uncaught target signal (\d+)
cause = A program for another processor crashed in the emulator (signal {found}).
remedy = Use an image for linux/arm64. An emulated image is slow on a Spark, and CUDA does not work in it.

[rmm-memory]
keys =
    RMM_ERROR_OUT_OF_MEMORY
    rmm/mr/
pattern =
    (RMM_ERROR_OUT_OF_MEMORY)
    std::bad_alloc: (out_of_memory): CUDA error[^\n]{0,200}rmm/mr/
cause = RAPIDS (cuDF, cuML) got no more of the GPU's memory ({found}), which on a GB10 is the host's own.
remedy = Read the data in parts (chunks, fewer columns, dask-cudf), end other programs on the GPU, and let RMM take no
    pool
    of its own (rmm.reinitialize(pool_allocator=False)); managed_memory=True gains nothing where both share the memory.
source = NVIDIA/cudf#3508

[out-of-memory]
keys =
    memory exhausted
    out of memory
    Out of memory: Killed
    std::bad_alloc
    MemoryError
    Cannot allocate memory
pattern =
    (?:virtual )?memory exhausted
    out of memory allocating \d+ bytes
    LLVM ERROR: out of memory
    Out of memory: (Killed process \d+ \([^)\n]+\))
    Out of memory: Killed process
    (?<!CUDA error)(?<!CUDA driver error): (out of memory)$
    std::bad_alloc
    ^[ \t]*MemoryError$
    Cannot allocate memory
unless = failed to mlock
cause = A program could not allocate memory ({found}).
remedy = Stop the programs that hold memory (including GPU processes), check for a limit that is too low (ulimit -v, the
    container's or the unit's MemoryMax), and run again. For a build, also use fewer jobs or a higher memory_per_job.

[shm-full]
keys =
    /dev/shm/
    '/psm_
    '/torch_
pattern = No space left on device: '(?P<file>/(?:dev/shm/|psm_|torch_)[^'\n]*)
cause = Shared memory (/dev/shm) is full, so {file} could not be created: a container has 64 MiB of it by default.
remedy = Start the container with --ipc=host or --shm-size=16g. On the host, check df -h /dev/shm, and remove files that
    ended programs left there.

[hub-cache-full]
keys =
    -packages/huggingface_hub/
    .cache/huggingface
    Not enough free disk space to download
pattern =
    -packages/huggingface_hub/[^\n]*(?:\n[^\n]*){1,8}?\n\w*Error: \[Errno \d+\] (No space left on device)
    No space left on device: '(/[^'\n]*\.cache/huggingface[^'\n]*)
    (?<![^\s'\":])(/[^\s'\":]*\.cache/huggingface[^\s'\":]*)['\"]?: No space left on device
    Not enough free disk space to download[^\n]*? location (\S+) only has
cause = The file system to which huggingface_hub downloads is full ({found}): its cache (HF_HOME, or
    ~/.cache/huggingface), unless a local directory was set.
remedy = Set HF_HOME to a directory on a file system with room (df -h shows it; for a container, mount it), or remove
    unused models from the cache. Then run again.
source = huggingface/diffusers#4957

[boot-full]
keys =
    o space left on device
    writing '/boot/
pattern =
    [Nn]o space left on device(?:[^\n]*\n){1,3}?(?:E: mkinitramfs failure|update-initramfs: failed for (?P<file1>\S+))
    '?(?P<file2>/boot/[^\s':]+)'?: (?:[Ww]rite error: )?[Nn]o space left on device
    to '(?P<file3>/boot/[^'\n]+)': failed to write \(No space left on device\)
cause = A kernel's boot file[ ({file})] could not be written, because /boot is full (or /var/tmp, where it is built), so
    the kernel's package is incomplete.
remedy = Check which of the two is full (df -h /boot /var/tmp). Make room in /boot with sudo apt autoremove --purge,
    which removes old kernels (never remove the one that uname -r shows). Then run sudo dpkg --configure -a before you
    reboot.

[no-space]
keys =
    o space left on device
    Disk quota exceeded
    have enough free space in
unless = efivar|inotify|, watch '|Failed at step|special execution directory
pattern =
    [Nn]o space left on device: '(/[^'\n]+)
    [Nn]o space left on device
    Disk quota exceeded
    You don't have enough free space in (\S+?)\.?$
cause = A file system is full ({found}).
remedy = Find what fills it (df -h and df -i, then du -xh): models in ~/.cache/huggingface, images and build caches
    (docker system df, docker system prune), apt-get clean, old environments. Then run again. A build of PyTorch needs
    40 GiB, everything that a stack builds needs 74 GiB (preflight checks it), and compilers need room in TMPDIR.
source = NVIDIA/nvidia-docker#792

[mount-source-read-only]
keys = while creating mount source path
pattern = error while creating mount source path '([^'\n]+)': mkdir (?:\S+)?: (?P<why>read-only file system|[\w ]+)
cause = Docker could not create the directory {found} that the container should mount ({why}). For Docker from a snap,
    the system is read-only there, and only the home directory is visible.
remedy = Create the directory first on a disk that is mounted writable. If docker is a snap (snap list docker), use a
    path below the home directory, or Docker's own packages.
source = tribut/homeassistant-docker-venv#35
"""
