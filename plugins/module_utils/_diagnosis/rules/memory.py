# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Memory and disk

Whatever else failed after one of them ran out failed because of it.
"""

RULES = r"""
[rdma-memory]
keys = ibv_reg_mr
pattern = (ibv_reg_mr\w*).{0,200}Cannot allocate memory
cause = RDMA could not register memory ({found}: Cannot allocate memory), so NCCL gave up.
remedy = On DGX OS with kernel 7.0, whose KHO reserve takes 9 GiB, run `sudo apt install nvidia-spark-grub-kho` and
    reboot; elsewhere raise the limit of locked memory (ulimit -l).

[cuda-out-of-memory]
keys =
    CUDA out of memory
    cudaMalloc failed: out of memory
pattern =
    CUDA out of memory
    cudaMalloc failed: out of memory
cause = The GPU is out of memory; on a GB10 that is the host's own memory.
remedy = Stop other GPU processes (nvidia-smi lists them) or reduce the problem size.

[compiler-killed]
keys =
    Killed signal terminated program
    internal compiler error: Killed
    died due to signal 9
    unable to execute command: Killed
pattern =
    Killed signal terminated program (\S+)
    internal compiler error: Killed \(program (\S+)\)
    '(\w+)' died due to signal 9
    unable to execute command: Killed
cause = The compiler was killed by signal 9 ({found}), as the kernel does when memory runs out: too many jobs for the
    memory of this host.
remedy = Run again: the build resumes from its objects, with as many jobs as fit into the free memory; raise
    memory_per_job or set jobs, and stop programs that use memory (GPU processes, too).

[linker-killed]
keys = terminated with signal 9
pattern = collect2: fatal error: (\S+) terminated with signal 9
cause = The linker ({found}) was killed by signal 9, as the kernel does when memory runs out.
remedy = Run again, which resumes from the objects; set fewer jobs: several large links at once need the most memory of
    a whole build.

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
    (?<!CUDA error): (out of memory)$
    std::bad_alloc
    ^[ \t]*MemoryError$
    Cannot allocate memory
cause = A program got no memory ({found}).
remedy = End the programs that hold memory (GPU processes hold it too), look for a limit (ulimit -v, the container's or
    the unit's MemoryMax) that is too low, and run again; a build also with fewer jobs or a higher memory_per_job.

[no-space]
keys =
    o space left on device
    Disk quota exceeded
    have enough free space in
pattern =
    [Nn]o space left on device
    Disk quota exceeded
    You don't have enough free space in (\S+?)\.?$
cause = A file system is full ({found}).
remedy = Free some space and run again, which resumes: a PyTorch build needs about 30 GB below the root, LLVM about 10
    GB more, compilers room in TMPDIR; apt-get clean empties apt's cache, and fewer environments (keep) help.

[read-only]
keys = ead-only file system
pattern =
    (\S*)['\"]?: [Rr]ead-only file system
    [Rr]ead-only file system
cause = A file system is read-only, so that {found} cannot be written.
remedy = Mount it writable; a file system that the kernel made read-only has errors (see dmesg).
"""
