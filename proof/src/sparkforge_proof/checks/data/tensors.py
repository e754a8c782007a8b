"""Check the operations that every model uses besides products: normalisations, sums by index, and memory."""

from __future__ import annotations

import os
import time
import typing as t

from ...check import MEMORY, SEEN_ARM, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, gamma, gradients, torch

MIB, GIB = 2**20, 2**30

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


def _remedy(context: Context) -> str:
    return REMEDY if context.device == "cuda" else REMEDY_CPU


#: The allowed error of float32 functions in units in the last place. The CUDA C++ Programming Guide, "Mathematical
#: Functions Appendix", states 1 for expf and logf and 2 for tanhf and erff (2 for all in older versions). CPU vector
#: libraries are off by 1 to 4 (SLEEF: u10, u35), and torch's own exponential by 20 (exp_u20). The operator adds one.
ULP = {"cuda": 4.0, "cpu": 21.0}


def _normalisations(cases: Cases, context: Context, generator: torch.Generator) -> None:
    """Compare softmax and layer_norm, with their gradients.

    softmax: y = exp(x - m) / sum. Rounding the difference moves the exponential by u |x - m|, and n terms are added:
    |y| (2 e + gamma(n + 2)), with e the error of the exponential. Backward: y (g - sum(g y)).

    layer_norm: the mean is off by gamma(n) mean|x|, the variance by gamma(2 n) of itself and by the mean's error times
    mean|x|. For a mean near 0, both common methods, Welford's and sums of squares, are within that.
    """
    unit = UNIT_ROUNDOFF["float32"]
    rows, length = 29, 517
    x, g = torch.randn(rows, length, generator=generator) * 2, torch.randn(rows, length, generator=generator)
    # Include logits whose exponential overflows float32, and rows in which the epsilon matters.
    x[0] *= 60
    x[1] *= 0.0015
    x[2] = 0.5
    weight, bias = torch.randn(length, generator=generator), torch.randn(length, generator=generator)

    leaf = x.to(context.device, copy=True).requires_grad_()
    result = torch.softmax(leaf, 1)
    (backward,) = gradients(result, [leaf], g.to(context.device))
    shifted = x.double() - x.double().amax(1, keepdim=True)
    y = shifted.exp() / shifted.exp().sum(1, keepdim=True)
    error = 2 * unit * ULP[context.device] + unit * shifted.abs()
    relative = error + error.amax(1, keepdim=True) + gamma(length + 2, unit)
    # A result below the smallest normal number may be flushed to zero.
    cases.compare("softmax", result, y, relative * y + 2.0**-126)
    weighted = (g.double() * y).sum(1, keepdim=True)
    size = (g.double().abs() * y).sum(1, keepdim=True)
    largest = relative.amax(1, keepdim=True)
    bound = y * ((largest + relative + gamma(length + 3, unit)) * (g.double().abs() + size)) + 2.0**-120
    cases.compare("softmax, backward", backward, y * (g.double() - weighted), bound)

    leaves = [tensor.to(context.device, copy=True).requires_grad_() for tensor in (x, weight, bias)]
    result = torch.nn.functional.layer_norm(leaves[0], (length,), leaves[1], leaves[2], 1e-5)
    computed = gradients(result, leaves, g.to(context.device))
    exact, w, b, upstream = x.double(), weight.double(), bias.double(), g.double()
    mean = exact.mean(1, keepdim=True)
    variance = (exact - mean).square().mean(1, keepdim=True)
    r = (variance + 1e-5).rsqrt()
    normal = (exact - mean) * r
    magnitude = exact.abs().mean(1, keepdim=True)
    mean_off = gamma(length + 2, unit) * magnitude
    # rsqrt halves the relative error of its argument and adds up to 2 ulp.
    squares = exact.square().mean(1, keepdim=True)
    r_off = 0.5 * (gamma(2 * length + 4, unit) * squares + 2 * mean_off * magnitude) * r.square() + 8 * unit
    normal_off = r * (mean_off + unit * (exact - mean).abs()) + normal.abs() * (r_off + 2 * unit)
    cases.compare(
        "layer_norm", result, normal * w + b, w.abs() * normal_off + 3 * unit * (normal * w).abs() + unit * b.abs()
    )
    scaled = upstream * w
    first, second = scaled.mean(1, keepdim=True), (scaled * normal).mean(1, keepdim=True)
    expected = r * (scaled - first - normal * second)
    sizes = (
        scaled.abs() + scaled.abs().mean(1, keepdim=True) + normal.abs() * (scaled * normal).abs().mean(1, keepdim=True)
    )
    propagated = normal_off * second.abs() + normal.abs() * (scaled.abs() * normal_off).mean(1, keepdim=True)
    bound = r * ((gamma(length + 6, unit) + r_off) * sizes + propagated)
    cases.compare("layer_norm, backward dInput", computed[0], expected, bound)
    bound = (upstream.abs() * normal_off).sum(0) + gamma(rows + 2, unit) * (upstream * normal).abs().sum(0)
    cases.compare("layer_norm, backward dWeight", computed[1], (upstream * normal).sum(0), bound)
    cases.compare("layer_norm, backward dBias", computed[2], upstream.sum(0), gamma(rows, unit) * upstream.abs().sum(0))


def _by_index(cases: Cases, context: Context, generator: torch.Generator) -> None:
    """Compare additions and writes by index, with repeated indices.

    Inputs are integers, so atomic additions in any order are exact.
    """
    base = torch.randint(-9, 9, (61,), generator=generator).float()
    indices = torch.randint(0, 61, (5000,), generator=generator)
    added = torch.randint(-9, 9, (5000,), generator=generator).float()
    expected = base.double().clone()
    for index, value in zip(indices.tolist(), added.tolist()):
        expected[index] += value
    args = (indices.to(context.device), added.to(context.device))
    cases.exactly("scatter_add", base.to(context.device).scatter_add(0, *args), expected)
    cases.exactly("index_add", base.to(context.device).index_add(0, *args), expected)
    actual = base.to(context.device).index_put((args[0],), args[1], accumulate=True)
    cases.exactly("index_put, accumulating", actual, expected)


@check("tensors.elementwise", devices=("cuda", "cpu"), measured=SEEN_ARM)
def elementwise(context: Context) -> Measured:
    """Check normalisations with their gradients, and sums by index; the survey covers functions and other sums.

    Bounds: ulps of the exponential (see ULP), gamma(n) for sums, zero for integers.
    """
    generator = context.generator("tensors.elementwise")
    cases = Cases("the elementwise operation", _remedy(context))
    _normalisations(cases, context, generator)
    _by_index(cases, context, generator)
    return cases.result()


def share_of(available: int, share: float, reserve: int) -> int:
    """Return how many of the available bytes may be allocated: the share, but never the reserve."""
    return max(0, min(int(available * share), available - reserve))


def pieces_of(budget: int, piece: int) -> list[int]:
    """Return block sizes that add up to the budget: pieces, then 64 MiB blocks for the rest."""
    small = 64 * MIB
    count, rest = divmod(budget, piece)
    return [piece] * count + [small] * (rest // small)


def available_memory(text: str) -> int:
    """Return the available memory in bytes according to ``/proc/meminfo``, or 0 if it is not listed.

    :param text: the file's content. MemFree would leave out the page cache, which Linux frees on demand.
    """
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def is_leaking(free: t.Sequence[int], tolerance: int) -> bool:
    """Tell whether each round left less free memory than the previous; another process takes memory only once."""
    return len(free) > 2 and all(before - after > tolerance for before, after in zip(free, free[1:]))


def _meminfo() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            return available_memory(stream.read())
    except OSError:
        return 0


def _resident() -> int:
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _memory_on_cpu(context: Context) -> Measured:
    cases = Cases("memory that was written and read back", REMEDY_CPU)
    size, small, rounds = 64 * MIB // 4, MIB // 4, 30

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
    # glibc maps blocks above 32 MiB, its largest threshold, one by one and unmaps them when they are freed; the memory
    # for smaller blocks existed before. The process may grow by half of all small blocks, but not by a large one. A
    # cache, such as an emulator's for translated code, grows only once, but a leak grows in each third of the rounds.
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
    blocks = []
    for number, size in enumerate(sizes):
        block = torch.empty(size // 4, dtype=torch.int32, device="cuda")
        torch.add(series[: size // 4], number * 7919, out=block)
        blocks.append(block)
    bounds, expected = [], []
    for number, block in enumerate(blocks):
        block.sub_(series[: block.numel()])
        bounds += block.aminmax()
        expected += [number * 7919] * 2
    cases.exactly(case, torch.stack(bounds), torch.tensor(expected))
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
    unified = bool(context.profile.get("unified_memory")) or bool(
        getattr(torch.cuda.get_device_properties(0), "is_integrated", False)
    )

    def free() -> int:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        # The driver counts page cache as used if the GPU shares the host's memory.
        return (_meminfo() if unified else 0) or torch.cuda.mem_get_info()[0]

    torch.zeros(1, device="cuda")
    share = float(context.limits.get("memory_share", 0.5))
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
        try:
            most_written = max(most_written, _fill_and_read(cases, part, f"round {number + 1}, {len(part)} blocks"))
        except torch.cuda.OutOfMemoryError as error:
            raise Unanswered(
                MEMORY,
                f"{sum(part) / GIB:.0f} GiB of device memory cannot be allocated although {start / GIB:.0f} GiB are"
                f" reported as available: {str(error).splitlines()[0]}",
                "Find processes that use memory (nvidia-smi, free -h) and stop them; on a Spark drop the page cache"
                " (sync; echo 3 > /proc/sys/vm/drop_caches) and run again.",
                "out of memory",
                f"{budget / GIB:.0f} GiB",
            ) from error
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
