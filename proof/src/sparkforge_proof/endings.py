"""Results for checks that computed nothing to judge: they crashed, hung, ran out of memory, or reported a failure."""

from __future__ import annotations

import re
import signal
import typing as t

from .check import CRASH, FAIL, MEMORY, MISMATCH, REFUSED, SLOW, TIMEOUT, WRONG, Definition, Failed, Result
from .checks.stack.device import OUT_OF_MEMORY


class Fatal(t.NamedTuple):
    """A pattern for a printed message after which a check's results are void, and the field with its remedy."""

    pattern: str
    cause: str
    remedy: str
    reason: str = CRASH


FATAL = (
    # PyTorch's generated CUTLASS kernels print this if they were compiled for another GPU: they compute nothing, and
    # torch returns the earlier content of the memory.
    Fatal(r"\bFATAL\b", "A kernel printed", "empty", WRONG),
    Fatal(r"Assertion `.*` failed", "A kernel received an index or a value that it does not accept", "assertion"),
    # The C library prints these messages.
    Fatal("corrupted|double free", "The heap was damaged", "heap"),
)
#: Messages from torch and its libraries about operations that they do not support on this GPU.
_NOT_OFFERED = re.compile(
    r"no kernel image|not (yet |currently )?(supported|implemented|available)|unsupported|NOT_SUPPORTED|only support",
    re.IGNORECASE,
)
#: Errors after which every call in the CUDA context fails with the same error.
STICKY = re.compile(r"CUDA error|CUDA driver error|AcceleratorError|CUBLAS_STATUS|CUDNN_STATUS_EXECUTION_FAILED")
#: Those of them that a kernel causes: a wrong address, a failed assertion, an invalid instruction.
OF_KERNEL = re.compile(r"illegal (memory access|address|instruction)|device-side assert|launch failure|misaligned")


class Remedies(t.NamedTuple):
    """The remedies for a check that raised an error, printed a message in ``FATAL``, hung, or ran out of memory."""

    crash: str
    empty: str
    hang: str = (
        "Run the proof again with more time (limits.factor); if there is no answer again, reboot the host, and use "
        "another stack if it recurs."
    )
    memory: str = (
        "Find programs that use memory (nvidia-smi, free -h) and stop them; on a Spark, drop the page cache (sync; "
        "echo 3 | sudo tee /proc/sys/vm/drop_caches). Then run the proof again."
    )
    assertion: str = "An earlier operation computed it wrong: use another stack, and test the memory if it recurs."
    heap: str = "Use another stack, and test the host's memory if it recurs."


ON_GPU = Remedies(
    crash="Read its output in the report's details; if the driver or a kernel is at fault, build or use a stack for "
    "this GPU's compute capability, and run the proof again.",
    empty="The library has an empty kernel for this GPU; rebuild it with TORCH_CUDA_ARCH_LIST=12.0 (GB10) or its own "
    "guard patch, or use a stack with torch 2.12 or newer.",
)
ON_CPU = Remedies(
    crash="Read its output in the report's details; if memory ran out, stop other programs; otherwise use another "
    "stack, and run the proof again.",
    empty="The library was miscompiled for this CPU, or the host's memory is faulty: use another stack, and test the "
    "memory if it recurs.",
)

#: The remedy for a check that was slowed down by a busy machine.
IDLE = "Run the proof again when no other program uses the host, or give it more time with limits.factor."

#: The beginning of the clause for a process that exceeded its time limit.
LATE = "did not respond within"


def remedies(definition: Definition) -> Remedies:
    """Return the remedies for a check's device."""
    return ON_GPU if definition.device == "cuda" else ON_CPU


def failure(definition: Definition, error: Exception, printed: str = "") -> Result:
    """Return the row for a check that raised ``error``, and that printed this and perhaps a traceback."""
    if isinstance(error, Failed):
        row = definition.result(FAIL, error.measured, error.bound, error.cause, error.remedy, ratio=error.ratio)
        row.reason = error.reason or (WRONG if definition.numeric else MISMATCH)
        row.mismatched, row.compared, row.blocks = error.mismatched, error.compared, error.blocks
        return row
    message = " ".join(f"{type(error).__name__}: {error}".split())
    cause = f"{definition.name} ended with an error: {message[:400]}".rstrip(".") + "."
    row = definition.result(FAIL, "an error", "a result", cause, remedies(definition).crash, reason=CRASH)
    if OUT_OF_MEMORY.search(message):
        row.reason, row.remedy = MEMORY, remedies(definition).memory
    elif _NOT_OFFERED.search(message):
        row.reason = REFUSED
    else:
        explain(printed, row)
    return row


def explain(printed: str, *results: Result) -> None:
    """Add the cause and the remedy of a known error to results, if the checks' output shows one."""
    from ._shared.module_utils._diagnosis import scan  # slow to import, and needed only for failures

    known = scan.diagnose(printed)
    for result in results if known.rule else ():
        result.cause, result.remedy = f"{result.cause} {known.cause}", known.remedy


def exited(definition: Definition, code: int) -> Result:
    """Return the row for a check whose process exited early.

    SIGKILL means that memory ran out, because only the kernel sends it to such a process.

    :param code: in the form of ``Popen.returncode``.
    """
    known = remedies(definition)
    reason, remedy = (MEMORY, known.memory) if code == -signal.SIGKILL else (CRASH, known.crash)
    cause = f"The process of {definition.name} {how_it_ended(code)}"
    cause += "." if code < 0 else " before returning a result."
    return definition.result(FAIL, "a crash", "a result", cause, remedy, reason=reason)


def fatal_line(printed: str) -> tuple[Fatal | None, str]:
    """Return the first fatal message in a check's output and its line, or None and the first line if there is none."""
    lines = [line for line in printed.splitlines() if line.strip()]
    matches = ((fatal, line) for fatal in FATAL for line in lines if re.search(fatal.pattern, line))
    fatal, line = next(matches, (None, lines[0] if lines else ""))
    return fatal, " ".join(line.split())[:300]


def timed_out(definition: Definition, seconds: float, hindrance: str = "") -> Result:
    """Return the row for a check that exceeded its time limit.

    :param hindrance: a clause that explains why the machine was slow, if it was.
    """
    cause = f"{definition.name} {LATE} {seconds:.0f} seconds and was stopped."
    reason, remedy = TIMEOUT, remedies(definition).hang
    if hindrance:
        reason, remedy = SLOW, IDLE
        cause += f" This does not indicate a fault of the stack, because {hindrance}."
    return definition.result(FAIL, "no answer", f"{seconds:.0f} s", cause, remedy, seconds=seconds, reason=reason)


def add_lost_parts(result: Result, definition: Definition, lost: t.Mapping[str, str]) -> None:
    """Add the parts that crashed or hung to a check's result; without them, its right numbers are no answer.

    :param lost: see :attr:`check.Context.passed_over`.
    """
    if not lost:
        return
    parts = "; ".join(f"{part} {how}" for part, how in lost.items())
    result.cause = f"{result.cause} Ended: {parts}. The others still ran.".lstrip()
    if result.status != FAIL:
        only_late, known = all(how.startswith(LATE) for how in lost.values()), remedies(definition)
        reason, remedy = (TIMEOUT, known.hang) if only_late else (CRASH, known.crash)
        result.status, result.reason, result.remedy = FAIL, reason, remedy


def how_it_ended(code: int) -> str:
    """Describe the exit of a process.

    :param code: in the form of ``Popen.returncode``.
    """
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"exited with status {code}"
