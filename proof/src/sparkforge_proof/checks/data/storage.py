"""Check that cuFile opens, and report its mode. NVIDIA's gdsio reads and verifies files; this check does not."""

from __future__ import annotations

import ctypes
import os

from ...check import CRASH, H200_GRID, REFUSED, Context, Measured, Skipped, Unanswered, check

SONAME = "libcufile.so.0"
#: The kernel driver for GPUDirect Storage, if it is loaded.
NVIDIA_FS = "/proc/driver/nvidia-fs"
_REMEDY = (
    "Check that libcufile is the stack's and matches the driver; if nvidia-fs is not wanted, set"
    " properties.allow_compat_mode to true in /etc/cufile.json."
)


class Error(ctypes.Structure):
    """``CUfileError_t``."""

    _fields_ = (("err", ctypes.c_int), ("cu_err", ctypes.c_int))


def open_driver() -> None:
    """Open and close cuFile's driver.

    :raises Skipped: if libcufile is not installed.
    :raises Unanswered: if libcufile cannot be loaded, or its driver cannot be opened.
    """
    try:
        library = ctypes.CDLL(SONAME)
    except OSError as error:
        if str(error).startswith(f"{SONAME}: cannot open shared object file"):
            raise Skipped(f"{SONAME} is not installed, or not on the loader's path.") from error
        raise Unanswered(CRASH, f"libcufile cannot be loaded: {error}.", _REMEDY) from error
    library.cuFileDriverOpen.restype = Error
    status = library.cuFileDriverOpen()
    if status.err:
        cause = f"cuFile's driver cannot be opened: status {status.err} (CUfileOpError in cufile.h)."
        raise Unanswered(REFUSED, cause, _REMEDY, str(status.err), "0")
    # The header maps cuFileDriverClose to this name.
    library.cuFileDriverClose_v2()


@check("storage.cufile", numeric=False, seconds=90, measured=(H200_GRID,))
def cufile(context: Context) -> Measured:
    """Check that cuFile's driver opens. It uses GPUDirect Storage only with nvidia-fs, otherwise the host's memory."""
    import torch

    # torch loads its own libcufile under this name, and gives the GPU a context.
    torch.zeros(1, device=context.device)
    open_driver()
    mode = "nvidia-fs is loaded" if os.path.isdir(NVIDIA_FS) else "in compatibility mode: nvidia-fs is not loaded"
    return Measured(f"opens, {mode}", "opens")
