"""Check that memory can be allocated, keeps its contents, and is freed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
import typing as t

from ...check import MEMORY, SEEN_ARM, Context, Measured, Skipped, Unanswered, check
from ..bounds import Cases, torch

MIB, GIB = 2**20, 2**30
#: M_MMAP_THRESHOLD of mallopt(3): the size from which glibc maps a block by itself.
MMAP_THRESHOLD = -3

#: The caching allocator takes memory for small tensors in segments of 2 MiB and 20 MiB, and keeps the last segment.
SEGMENT = 20 * MIB

#: The memory left to other processes if the GPU shares the host's memory. Without it, the host goes down.
UNIFIED_RESERVE = 8 * GIB
#: The memory left to other processes on a GPU with its own memory.
RESERVE = 512 * MIB

REMEDY = (
    "Do not compute with this stack: rebuild torch with TORCH_CUDA_ARCH_LIST for the device (12.0 on a GB10), or use "
    "another stack; if only some runs fail, test the hardware."
)
REMEDY_CPU = "Do not compute with this stack: use another one; if only some runs fail, test the host's memory."


def share_of(available: int, share: float, reserve: int) -> int:
    """Return how many of the available bytes may be allocated: the share, but never the reserve."""
    return max(0, min(int(available * share), available - reserve))


def pieces_of(budget: int, piece: int) -> list[int]:
    """Return block sizes that add up to the budget: pieces, then 64 MiB blocks for the rest."""
    small = 64 * MIB
    count, rest = divmod(budget, piece)
    return [piece] * count + [small] * (rest // small)


def available_memory(device: str = "cpu") -> int:
    """Return the available memory of the host, or of the GPU, in bytes, or 0 if Linux does not report it.

    MemFree would leave out the page cache, which Linux frees on demand.
    """
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    with contextlib.suppress(OSError), open("/proc/meminfo", encoding="ascii") as stream:
        return next((int(line.split()[1]) * 1024 for line in stream if line.startswith("MemAvailable:")), 0)
    return 0


def allowed_memory(context: Context) -> float:
    """Return how many bytes of the device's memory, or of the host's, a check may allocate now."""
    return available_memory(context.device) * float(context.limits["memory_share"])


def is_leaking(free: t.Sequence[int], tolerance: int) -> bool:
    """Tell whether each round left less free memory than the previous; another process takes memory only once."""
    return len(free) > 2 and all(before - after > tolerance for before, after in zip(free, free[1:]))


def _resident() -> int:
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _memory_on_cpu(context: Context) -> Measured:
    cases = Cases("memory that was written and read back", REMEDY_CPU)
    size, small, rounds = 64 * MIB // 4, MIB // 4, 30
    # In a heap that keeps what is freed (see lane.KEPT), a small block in the hole of a large one makes the heap grow
    # by another large one. So large blocks get mappings of their own.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 32 * MIB)

    def use(number: int) -> None:
        block = torch.empty(size, dtype=torch.int32).fill_(number)
        series = torch.arange(number, number + small, dtype=torch.int32)
        low, high = block[::513].aminmax()
        cases.exactly(f"round {number + 1}, a constant", torch.stack([low, high]), torch.tensor([number, number]))
        expected = number + torch.arange(0, small, 1024)
        cases.exactly(f"round {number + 1}, a series", series[::1024], expected)

    history = []
    for number in range(3 + rounds):
        use(number)
        if number >= 2 and (number - 2) % (rounds // 3) == 0:
            history.append(_resident())
    # The process may grow by half of all small blocks, but not by a large one. A cache, such as glibc's or an
    # emulator's for translated code, grows only once, but a leak grows in each third of the rounds.
    growth = 3 * min(after - before for before, after in zip(history, history[1:]))
    bound = rounds * MIB // 2
    if growth > bound:
        raise Unanswered(
            MEMORY,
            f"The process has grown by {growth / MIB:.0f} MiB while allocating and freeing 64 MiB and 1 MiB {rounds} "
            f"times: memory that torch frees is not returned.",
            "Look for an allocator in LD_PRELOAD (unset it), or else use another stack: this one leaks memory.",
            f"{growth / MIB:.0f} MiB more",
            f"{bound / MIB:.0f} MiB",
        )
    result = cases.result()
    result.measured = f"{max(growth, 0) / MIB:.1f} MiB more after {rounds} rounds of 64 MiB and 1 MiB"
    result.bound = f"{bound / MIB:.0f} MiB"
    return result


def _fill_and_read(cases: Cases, sizes: t.Sequence[int], case: str) -> int:
    """Allocate blocks, fill each with its own number, and compare them; return the number of bytes allocated."""
    if not sizes:
        return 0
    series = torch.arange(max(sizes) // 4, dtype=torch.int32, device="cuda")
    blocks = [torch.empty(size // 4, dtype=torch.int32, device="cuda") for size in sizes]
    bounds: list[torch.Tensor] = []
    for number, block in enumerate(blocks):
        torch.add(series[: block.numel()], number * 7919, out=block)
    for block in blocks:
        bounds += block.sub_(series[: block.numel()]).aminmax()
    cases.exactly(case, torch.stack(bounds), 7919 * torch.arange(len(sizes)).repeat_interleave(2))
    return sum(sizes) + max(sizes)


@check("tensors.memory", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM)
def memory(context: Context) -> Measured:
    """Require that memory up to the profile's share can repeatedly be allocated, keeps its contents, and is freed.

    Freed memory must match torch's count to the byte, and that of the device or the shared memory to within one segment
    of the allocator. On the CPU, the process's memory must not grow over 30 rounds.
    """
    if context.device == "cpu":
        return _memory_on_cpu(context)
    cases = Cases("device memory that was written and read back", REMEDY)
    is_integrated = getattr(torch.cuda.get_device_properties(0), "is_integrated", False)
    unified = bool(context.profile.get("unified_memory") or is_integrated)

    def free() -> int:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        # The driver counts page cache as used if the GPU shares the host's memory.
        return (available_memory() if unified else 0) or torch.cuda.mem_get_info()[0]

    torch.zeros(1, device="cuda")
    share = float(context.limits["memory_share"])
    start, allocated, reserved = free(), torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    # A GB10's driver allocates at most MemFree, without reclaimable page cache (unslothai/unsloth#10705 measured it).
    budget = share_of(min(start, torch.cuda.mem_get_info()[0]), share, UNIFIED_RESERVE if unified else RESERVE)
    sizes = pieces_of(budget, GIB)
    # The reference numbers need one more piece.
    if len(sizes) < 2:
        raise Skipped(f"Only {start / GIB:.1f} GiB of device memory are available: another process uses the rest.")
    some_sizes = sizes[1 : 1 + min(4, len(sizes) // 2)]
    most_written, history, began = 0, [start], time.monotonic()
    for number, part in enumerate((sizes[1:], some_sizes, some_sizes, some_sizes)):
        most_written = max(most_written, _fill_and_read(cases, part, f"round {number + 1}, {len(part)} blocks"))
        history.append(free())
        if torch.cuda.memory_allocated() != allocated or torch.cuda.memory_reserved() > reserved + SEGMENT:
            held_bytes = max(torch.cuda.memory_allocated() - allocated, torch.cuda.memory_reserved() - reserved)
            raise Unanswered(
                MEMORY,
                f"{held_bytes / MIB:.0f} MiB of device memory are still allocated after all tensors were freed.",
                "Look for code that keeps tensors (a hook or a patched allocator in sitecustomize), or else use "
                "another stack: this one leaks memory.",
                f"{held_bytes / MIB:.0f} MiB held",
                f"{SEGMENT / MIB:.0f} MiB",
            )
    if is_leaking(history, SEGMENT):
        raise Unanswered(
            MEMORY,
            f"Each of {len(history) - 1} rounds of allocating and freeing memory left less free memory,"
            f" {(history[0] - history[-1]) / MIB:.0f} MiB in total: memory that torch frees is not returned.",
            "Look for a pluggable allocator (PYTORCH_CUDA_ALLOC_CONF, LD_PRELOAD), or else use another stack or "
            "driver.",
            f"{(history[0] - history[-1]) / MIB:.0f} MiB less",
            f"{SEGMENT / MIB:.0f} MiB a round",
        )
    result = cases.result()
    seconds = time.monotonic() - began
    kind = "shared" if unified else "device"
    result.measured = (
        f"{most_written / GIB:.1f} of {start / GIB:.1f} GiB of {kind} memory written, read and freed in {seconds:.1f} s"
    )
    result.bound = f"{share:.0%} of what is available"
    return result
