"""Check that torch can use the GPU. If this check fails, the runner skips every other check on the GPU."""

from __future__ import annotations

import contextlib
import ctypes
import re
import typing as t

from ... import sampler
from ...check import BUSY, MEMORY, SEEN, Context, Failed, Measured, Result, Unanswered, check, cpu_build

NAME = "device.cuda"
#: The messages of torch, CUDA and their libraries when memory runs out. Sources: c10/cuda/CUDACachingAllocator.cpp, and
#: the error names in driver_types.h, cublas_api.h, cudnn.h and cusolver_common.h.
OUT_OF_MEMORY = re.compile(
    r"out of memory|OutOfMemory|MemoryAllocation|(CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CUFFT)_(STATUS_)?ALLOC_FAILED"
    r"|DefaultCPUAllocator: (can't|not enough)",
    re.IGNORECASE,
)
#: The messages when CUDA cannot be initialised in any process: its errors 3, 46, 100 and 999. Owners of a GB10 report
#: error 100 for a second process while another has the GPU, and for 20 to 60 s after its exit (NVIDIA's forum, thread
#: 379266); we have not observed it on one. Sources: the texts in driver_types.h and c10/cuda/CUDAFunctions.cpp.
NO_CONTEXT = re.compile(
    r"No CUDA GPUs are available|no CUDA-capable device is detected|busy or unavailable"
    r"|CUDA driver initialization failed|CUDA unknown error|CUDA error: unknown error|Error (46|100|999):"
)
#: How many seconds to retry a refused check: while another program uses the GPU, while others hold its memory, and
#: after a process was last seen on it.
WHILE_USED, WHILE_FULL, SINCE_UNUSED = 120.0, 30.0, 75.0
#: The interval between retries in seconds.
PAUSE = 5.0
#: The flag CU_CTX_SCHED_BLOCKING_SYNC of the driver's contexts (cuda.h).
BLOCKING_SYNC = 4


def sleep_during_waits() -> None:
    """Make this process sleep while it waits for the first GPU; call this before CUDA is initialised.

    By default CUDA polls, so each of the processes that take turns on one GPU would occupy a core all the time. If the
    driver refuses, the process polls; :func:`cuda` reports why CUDA does not start.
    """
    with contextlib.suppress(OSError, AttributeError):
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuInit(0)
        driver.cuDevicePrimaryCtxSetFlags_v2(0, BLOCKING_SYNC)


class Refused(t.NamedTuple):
    """A GPU on which CUDA cannot be initialised, or to which other programs leave no memory; times are in seconds.

    :ivar began: the time of the first refusal.
    :ivar used: the time at which a process was last seen on the GPU; ``began`` if none was seen.
    :ivar users: the other programs that were last seen on the GPU.
    """

    began: float
    used: float
    users: tuple[str, ...] = ()


def after_refusal(
    before: Refused | None, now: float, users: t.Sequence[sampler.Process], reason: str, factor: float = 1.0
) -> tuple[Refused, bool]:
    """Return the state of a GPU that refused a check, and whether to try again.

    Wait for another process of the proof for as long as it has the GPU, because it has its own time limit.

    :param reason: why the check is unanswered.
    """
    refused = before or Refused(now, now)
    others = tuple(str(process) for process in users if not process.own)
    if users:
        refused = refused._replace(used=now, users=others or refused.users)
    if others:
        return refused, now - refused.began < (WHILE_FULL if reason == MEMORY else WHILE_USED) * factor
    return refused, bool(users) or now - refused.used < SINCE_UNUSED * factor


def is_refused(result: Result, users: t.Sequence[sampler.Process]) -> bool:
    """Tell whether a check is unanswered because CUDA could not be initialised, or others hold the GPU's memory."""
    others = any(not process.own for process in users)
    return bool(NO_CONTEXT.search(result.cause)) or (result.reason == MEMORY and others)


def given_up(result: Result, refused: Refused, now: float) -> Result:
    """Return the row for a check that was refused until the end; the reason depends on which program has the GPU."""
    result.cause += f" It was tried for {now - refused.began:.0f} seconds."
    if refused.users:
        result.reason = BUSY
        result.cause = f"Not run: the GPU is in use by {', '.join(refused.users)}. {result.cause}"
        result.remedy = "Stop that program, and run the proof again a minute later: CUDA may refuse until then."
    return result


@check("device.cuda", numeric=False, measured=SEEN, factor=1)
def cuda(context: Context) -> Measured:
    """Check that torch can initialise CUDA, and that its first device is the one that nvidia-smi reports."""
    import torch

    if torch.version.cuda is None:
        raise cpu_build(torch.__version__, "a CUDA build")
    try:
        torch.cuda.init()
        torch.zeros(1, device="cuda").item()
        count = torch.cuda.device_count()
        major, minor = torch.cuda.get_device_capability(0)
    except (RuntimeError, AssertionError) as error:
        message = " ".join(str(error).split())[:300].rstrip(".")
        if OUT_OF_MEMORY.search(message):
            cause, remedy = f"The GPU has no memory left: {message}.", "Run the proof again when memory is free."
            raise Unanswered(MEMORY, cause, remedy) from error
        raise Failed(
            f"CUDA does not start in torch {torch.__version__}: {message}.",
            "Compare the CUDA version that nvidia-smi shows with torch's; check that CUDA_VISIBLE_DEVICES is not empty "
            "and that verify_user can open /dev/nvidia*.",
            "no device",
            "at least 1",
        ) from error
    capability = f"{major}.{minor}"
    reported = context.reference.get("capabilities") or []
    if reported and capability not in reported:
        raise Failed(
            f"torch reports compute capability {capability} for the GPU, but nvidia-smi reports {', '.join(reported)}.",
            "Unset CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, and check which libcuda.so.1 is loaded.",
            capability,
            ", ".join(reported),
        )
    return Measured(f"{count} x {torch.cuda.get_device_name(0)}, {capability}, CUDA {torch.version.cuda}", "at least 1")
