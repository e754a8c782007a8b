"""Check streams and events: results that depend on an order, which a missing wait breaks.

Work that must be waited for starts with a host function that sleeps for some milliseconds. A stream that fails to wait
therefore reads the old value every time, not just occasionally. All values are integers, so every case is exact.
"""

from __future__ import annotations

import ctypes
import time
import typing as t

from ...check import ABSENT, SEEN, Context, Measured, Unanswered, check
from ..bounds import Cases, functions_of, torch

REMEDY = (
    "Do not compute with this stack: use another torch or driver; CUDA_LAUNCH_BLOCKING=1 shows whether it is a matter "
    "of order."
)
SIZE = 2**18
#: The delay of a stream, so that work that does not wait for it runs earlier: its minimum in seconds, a multiple of the
#: GPU's response time, which is long if the GPU is shared, and its maximum in seconds.
DELAY, LATENCIES, LONGEST = 0.012, 8, 0.06
ROUNDS = 3
#: How many times to ask whether delayed work is done, because a wrong answer may be rare.
QUERIES = 7


def _nest() -> None:
    """Enter another stream and leave it."""
    with torch.cuda.stream(torch.cuda.Stream()):
        pass


#: How one stream waits for another, and how the host waits for a stream and reads what it has written.
ON_DEVICE = functions_of("waits of streams", "first, second, event, recorded", nest=_nest)
ON_HOST = functions_of("waits of the host", "stream, event, block, pinned")


class Slow:
    """Late work, which writes a number to a block after a delay.

    The host delays it, because a kernel that counts cycles finishes sooner at a higher GPU clock.

    :ivar seconds: the length of the delay.
    """

    def __init__(self) -> None:
        self._driver, self._sleep = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None).usleep
        self.number, latencies = 0, []
        for _unused in range(5):
            began = time.monotonic()
            torch.zeros(1, device="cuda").item()
            latencies.append(time.monotonic() - began)
        self.seconds = min(max(DELAY, LATENCIES * sorted(latencies)[2]), LONGEST)
        #: The earliest end of the last delay.
        self.end = 0.0

    def delay(self, part: float = 1.0) -> None:
        """Block the current stream for part of the delay.

        :raises RuntimeError: if the driver refuses the host function.
        """
        stream, microseconds = torch.cuda.current_stream().cuda_stream, int(self.seconds * part * 1e6)
        self.end = time.monotonic() + self.seconds * part
        host_function = self._sleep, ctypes.c_void_p(microseconds)
        if status := self._driver.cuLaunchHostFunc(ctypes.c_void_p(stream), *host_function):
            raise RuntimeError(f"cuLaunchHostFunc returned {status}")

    def write(self, block: torch.Tensor) -> int:
        """Write the next number on the current stream, after the delay."""
        self.number += 1
        self.delay()
        block.fill_(self.number)
        return self.number

    def is_early(self, is_reported: t.Callable[[], bool], earliest: float = 0.0) -> bool:
        """Tell whether work is reported as done before it can be done; any answer after that time counts as right.

        :param earliest: the earliest time at which the work may be done, by default the end of the last delay.
        """
        is_done = is_reported()
        return is_done and time.monotonic() < (earliest or self.end)


@check("streams.waits", devices=("cuda",), seconds=120, measured=SEEN)
def waits(context: Context) -> Measured:
    """Check every way in which the device and the host can wait for late work."""
    cases = Cases("work that waits for a stream", REMEDY)
    # A missing wait or a missing record may raise an error later.
    with cases.first_error():
        _compare_waits(cases, Slow(), context)
    return cases.result()


def _compare_waits(cases: Cases, slow: Slow, context: Context) -> None:
    block = torch.zeros(SIZE, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    _require_overlap(cases, slow, block)
    # Allocating pinned memory may wait for the GPU.
    pinned = torch.zeros(SIZE, dtype=torch.int32, pin_memory=True)
    for turn in range(ROUNDS):
        first = torch.cuda.Stream(priority=-(turn % 2))
        second = torch.cuda.Stream()
        for method, wait in ON_DEVICE.items():
            case = f"{method}, round {turn + 1}"
            with torch.cuda.stream(first):
                expected = slow.write(block)
                event = torch.cuda.Event(blocking=bool(turn % 2))
                event.record()
                recorded = first.record_event()
            with torch.cuda.stream(second):
                wait(first, second, event, recorded)
                copy = block.clone()
                total = block.sum()
            second.synchronize()
            _compare_all(cases, case, copy, expected)
            cases.exactly(f"{case}, their sum", total, torch.tensor(expected * SIZE))
            torch.cuda.synchronize()
        for method, read in ON_HOST.items():
            with torch.cuda.stream(first):
                expected = slow.write(block)
                event = torch.cuda.Event()
                event.record(first)
                pinned.copy_(block, non_blocking=True)
                after = first.record_event()
            early = slow.is_early(event.query) or slow.is_early(first.query)
            cases.expect(f"query before the end, {method}", not early, "reports unfinished work as done")
            with torch.cuda.stream(first):
                actual = read(first, after, block, pinned)
            _compare_all(cases, f"{method}, round {turn + 1}", actual, expected)
            torch.cuda.synchronize()
            is_done = event.query() and first.query()
            cases.expect(f"query after the end, {method}", is_done, "reports finished work as not done")
    _compare_chains(cases, slow)
    _compare_events(cases, slow, block)
    _compare_memory(cases, slow)
    _compare_backward(cases, slow)
    _compare_order(cases, slow, context)


def _compare_all(cases: Cases, case: str, block: torch.Tensor, expected: int) -> None:
    cases.exactly(case, torch.stack(block.aminmax()), torch.tensor([expected, expected], dtype=block.dtype))


def _require_overlap(cases: Cases, slow: Slow, block: torch.Tensor) -> None:
    """Prove that work that does not wait runs early; otherwise this check could not detect anything.

    :raises Unanswered: if streams do not overlap.
    """
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    for _unused in range(3):
        torch.cuda.synchronize()
        with torch.cuda.stream(first):
            expected = slow.write(block)
        with torch.cuda.stream(second):
            copy = block[:4].clone()
        second.synchronize()
        early = int(copy[0]) != expected
        torch.cuda.synchronize()
        if early:
            cases.expect("two streams side by side", True, "")
            return
    raise Unanswered(
        ABSENT,
        "Two streams run one after the other, although no dependency orders them.",
        "Unset CUDA_LAUNCH_BLOCKING and CUDA_DEVICE_MAX_CONNECTIONS; with neither set, the driver orders all work.",
        "one after the other",
        "side by side",
    )


def _compare_chains(cases: Cases, slow: Slow) -> None:
    """Compare a chain of streams, longer than torch's pool, in which each waits for the previous one."""
    block = torch.zeros(SIZE, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream(priority=-(number % 2)) for number in range(40)]
    before = torch.cuda.current_stream()
    before.synchronize()
    for number, stream in enumerate(streams):
        (stream.wait_stream(before) if number % 2 else stream.wait_event(before.record_event()))
        with torch.cuda.stream(stream):
            slow.delay(1 / 8)
            block.mul_(3).add_(number).remainder_(10007)
        before = stream
    torch.cuda.current_stream().wait_stream(before)
    expected = 0
    for number in range(len(streams)):
        expected = (expected * 3 + number) % 10007
    _compare_all(cases, "40 streams, each behind the one before", block.clone(), expected)
    # Many streams wait for one, and one stream waits for many.
    start = torch.cuda.Event()
    with torch.cuda.stream(streams[0]):
        number = slow.write(block)
        start.record()
    results = []
    for stream in streams[1:17]:
        stream.wait_event(start)
        with torch.cuda.stream(stream):
            slow.delay(1 / 16)
            results.append(block[:4096] + 1)
            results[-1].record_stream(torch.cuda.current_stream())
    for stream in streams[1:17]:
        torch.cuda.current_stream().wait_stream(stream)
    _compare_all(cases, "16 streams behind one, and one behind all", torch.stack(results), number + 1)


def _compare_events(cases: Cases, slow: Slow, block: torch.Tensor) -> None:
    """Require that a re-recorded event covers the later work, an unrecorded one is done, and elapsed times add up."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    event = torch.cuda.Event(enable_timing=True)
    second.wait_event(event)
    cases.expect("an event that was not recorded", event.query(), "is not done")
    earliest = time.monotonic() + QUERIES * slow.seconds
    with torch.cuda.stream(torch.cuda.Stream()):
        for _unused in range(QUERIES):
            slow.write(block)
        event.record()
    early = any(slow.is_early(event.query, earliest) for _unused in range(3 * QUERIES))
    cases.expect(f"query, {3 * QUERIES} times before the end", not early, "reports unfinished work as done")
    torch.cuda.synchronize()
    for _unused in range(3):
        with torch.cuda.stream(first):
            slow.write(block)
            event.record()
            expected = slow.write(block)
            event.record()
        with torch.cuda.stream(second):
            second.wait_event(event)
            copy = block.clone()
        second.synchronize()
        _compare_all(cases, "an event recorded twice", copy, expected)
        torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _unused in range(2))
    began = time.monotonic()
    with torch.cuda.stream(first):
        begin.record()
        slow.write(block)
        slow.write(block)
        end.record()
    end.synchronize()
    cases.expect("query after event.synchronize", end.query(), "reports finished work as not done")
    torch.cuda.synchronize()
    longest, shortest = time.monotonic() - began, 2 * slow.seconds
    passed = begin.elapsed_time(end) / 1e3
    # The clocks of host and GPU may differ slightly.
    is_right = 0.98 * shortest - 5e-4 <= passed <= 1.02 * longest + 5e-4
    problem = f"is {passed * 1e3:.4g} ms, but {shortest * 1e3:.4g} to {longest * 1e3:.4g} ms passed"
    cases.expect("the time between two events", is_right, problem)


def _compare_memory(cases: Cases, slow: Slow) -> None:
    """Require that memory freed while another stream still reads it is not reused until that stream is done."""
    other = torch.cuda.Stream()
    for turn in range(4):
        lent_memory = torch.full((SIZE,), turn + 5, dtype=torch.int32, device="cuda")
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            slow.delay()
            copy = lent_memory + 0
            lent_memory.record_stream(other)
        del lent_memory
        reused = [torch.full((SIZE,), -1, dtype=torch.int32, device="cuda") for _unused in range(8)]
        torch.cuda.current_stream().wait_stream(other)
        _compare_all(cases, f"memory lent to a stream, turn {turn + 1}", copy, turn + 5)
        del reused
        # Do the same with pinned host memory, which torch caches for later copies.
        pinned = torch.full((SIZE,), turn + 50, dtype=torch.int32).pin_memory()
        with torch.cuda.stream(other):
            slow.delay()
            on_device = pinned.to("cuda", non_blocking=True)
        del pinned
        reused_pinned = [torch.full((SIZE,), -7, dtype=torch.int32).pin_memory() for _unused in range(4)]
        other.synchronize()
        _compare_all(cases, f"pinned memory lent to a stream, turn {turn + 1}", on_device, turn + 50)
        del reused_pinned


def _compare_backward(cases: Cases, slow: Slow) -> None:
    """Require that gradients are computed on the forward pass's stream, and that the caller's stream waits for them."""
    side = torch.cuda.Stream()
    for turn in range(3):
        leaf = torch.full((SIZE,), 3.0, device="cuda", requires_grad=True)
        side.wait_stream(torch.cuda.current_stream())

        class Late(torch.autograd.Function):
            @staticmethod
            def forward(context: t.Any, x: torch.Tensor) -> torch.Tensor:
                return x.clone()

            @staticmethod
            def backward(context: t.Any, gradient: torch.Tensor) -> torch.Tensor:
                slow.delay()
                return gradient * 2

        with torch.cuda.stream(side):
            result = Late.apply(leaf) * leaf
        torch.cuda.current_stream().wait_stream(side)
        result.sum().backward()
        _compare_all(cases, f"backward of another stream, turn {turn + 1}", leaf.grad, 9)


def _compare_order(cases: Cases, slow: Slow, context: Context) -> None:
    """Require that a stream runs its copies, kernels and library calls in order."""
    generator = context.generator("streams in order")
    matrix = torch.randint(-2, 3, (256, 256), generator=generator).float()
    on_device = matrix.to("cuda")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            slow.delay()
            inputs = torch.zeros_like(on_device)
            inputs.copy_(matrix.pin_memory(), non_blocking=True)
            product = inputs @ on_device
            order = product.argsort(dim=1, stable=True)
            sums = product.cumsum(1)[:, -1]
            spectrum = torch.fft.fft(inputs[:, :1].expand(256, 4), dim=1).real[:, 0]
        stream.synchronize()
        exact = matrix.double() @ matrix.double()
        cases.exactly("a copy, then a product", product, exact)
        cases.exactly("a product, then its order", order, exact.argsort(dim=1, stable=True))
        cases.exactly("a product, then its sums", sums, exact.sum(1))
        cases.exactly("a copy, then a transform", spectrum, 4 * matrix[:, 0].double())
