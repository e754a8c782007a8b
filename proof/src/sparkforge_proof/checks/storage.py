# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A file read into the memory of the GPU by cuFile, by GPUDirect Storage or in compatibility mode."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import tempfile
import typing as t

from ..check import CRASH, REFUSED, Context, Failed, Measured, Skipped, Unanswered, check
from .bounds import Cases

SONAME = "libcufile.so.0"
STATISTICS = "/proc/driver/nvidia-fs/stats"
#: cuFile asks udev what a file is on; a container without this folder is told 5030.
UDEV = "/run/udev"

_BASE = 5000
#: Of ``CUfileOpError`` in NVIDIA's cufile.h (nvidia-cufile 1.15.1.6): those that say that here it is not offered.
_NOT_OFFERED = {
    5007: "GPUDirect Storage is not supported on this platform",
    5008: "GPUDirect Storage is not supported on this file",
    5009: "GPUDirect Storage is not supported on this GPU",
    5018: "the file's type is not supported",
    5034: "cufile.json forbids it for this file",
}
#: And those that say what is wrong.
_ERRORS = {
    5001: "the nvidia-fs driver is not loaded and compatibility mode is forbidden",
    5004: "the version of the nvidia-fs driver does not match",
    5005: "the version of the nvidia-fs driver cannot be read",
    5010: "the nvidia-fs driver failed",
    5011: "the CUDA driver failed",
    5019: "the file's flags are not supported",
    5020: "the file was opened without O_DIRECT",
    5025: "access to the driver or the file is denied",
    5030: "an internal error",
    5033: "the nvidia-fs driver could not be set up",
    5036: "no GPU memory could be pinned",
    5044: "an I/O error",
}

_REMEDY = (
    "Check that libcufile is the stack's and matches the driver; if nvidia-fs is not wanted, set"
    " properties.allow_compat_mode to true in /etc/cufile.json."
)
_WRONG = (
    "Do not load data with cuFile on this host: check that libcufile and nvidia-fs are from the same release, and run "
    "again."
)


class Error(ctypes.Structure):
    """``CUfileError_t``."""

    _fields_ = (("err", ctypes.c_int), ("cu_err", ctypes.c_int))


class _Handle(ctypes.Union):
    _fields_ = (("fd", ctypes.c_int), ("handle", ctypes.c_void_p))


class Description(ctypes.Structure):
    """``CUfileDescr_t``; the type 1 is a Linux file descriptor."""

    _fields_ = (("type", ctypes.c_int), ("handle", _Handle), ("fs_ops", ctypes.c_void_p))


class _Nvfs(ctypes.Structure):
    _fields_ = (
        ("major_version", ctypes.c_uint),
        ("minor_version", ctypes.c_uint),
        ("poll_thresh_size", ctypes.c_size_t),
        ("max_direct_io_size", ctypes.c_size_t),
        ("dstatusflags", ctypes.c_uint),
        ("dcontrolflags", ctypes.c_uint),
    )


class Properties(ctypes.Structure):
    """``CUfileDrvProps_t``; what newer releases may add to its end is not read, but must have room."""

    _fields_ = (
        ("nvfs", _Nvfs),
        ("fflags", ctypes.c_uint),
        ("max_device_cache_size", ctypes.c_uint),
        ("per_buffer_cache_size", ctypes.c_uint),
        ("max_device_pinned_mem_size", ctypes.c_uint),
        ("max_batch_io_size", ctypes.c_uint),
        ("max_batch_io_timeout_msecs", ctypes.c_uint),
        ("reserve", ctypes.c_char * 256),
    )


# -- what is pure


def reads(statistics: str) -> int | None:
    """Return how many reads nvidia-fs counted as done, None where it does not count: its ``stats`` in /proc."""
    if re.search(r"^IO stats:\s*Disabled", statistics, re.MULTILINE):
        return None
    found = re.search(r"^Reads?\s*:.*?\bok=(\d+)", statistics, re.MULTILINE)
    return int(found.group(1)) if found else None


def mode(version: tuple[int, int], before: int | None, after: int | None) -> str:
    """Say which way a read took.

    :param version: that of nvidia-fs as cuFile knows it; 0.0 where it is not loaded.
    :param before: how many reads nvidia-fs had counted; None where it does not say.
    """
    if version == (0, 0):
        return "in compatibility mode: nvidia-fs is not loaded"
    driver = f"nvidia-fs {version[0]}.{version[1]}"
    if before is None or after is None:
        return f"with {driver} loaded, which does not show whether the read used GPUDirect Storage"
    if after > before:
        return f"by GPUDirect Storage ({driver})"
    return f"in compatibility mode, although {driver} is loaded"


def judged(call: str, code: int, udev: bool) -> Failed | Skipped:
    """Return what an error of cuFile means: not offered here, or broken.

    :param udev: cuFile can read udev's records.
    """
    if code in _NOT_OFFERED:
        return Skipped(f"cuFile cannot read here: {_NOT_OFFERED[code]} ({call}: {code}).")
    if code == _BASE + 30 and not udev:
        return Skipped(f"cuFile cannot determine the file's device, because {UDEV} does not exist ({call}: {code}).")
    return Unanswered(
        REFUSED, f"cuFile failed in {call}: {_ERRORS.get(code, 'error')} ({code}).", _REMEDY, str(code), "0"
    )


def complaint(log: str) -> str:
    """Return the first error in cuFile's log, empty if there is none."""
    found = re.search(r"\]\s+ERROR\s+(.+?)\s*$", log, re.MULTILINE)
    return found.group(1) if found else ""


# -- cuFile


class CuFile:
    """The few functions of libcufile that a read needs."""

    def __init__(self) -> None:
        try:
            library = ctypes.CDLL(SONAME, use_errno=True)
        except OSError as error:
            if str(error).startswith(f"{SONAME}: cannot open shared object file"):
                raise Skipped(f"{SONAME} is not installed, or not on the loader's path.") from error
            raise Unanswered(CRASH, f"libcufile cannot be loaded: {error}.", _REMEDY) from error
        self._library = library
        # The header maps cuFileDriverClose to this name.
        self._close = library.cuFileDriverClose_v2
        self._close.restype = Error
        for name in ("cuFileDriverOpen", "cuFileDriverGetProperties", "cuFileHandleRegister"):
            getattr(library, name).restype = Error
        library.cuFileHandleDeregister.argtypes = [ctypes.c_void_p]
        library.cuFileHandleDeregister.restype = None
        library.cuFileRead.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int64,
            ctypes.c_int64,
        ]
        library.cuFileRead.restype = ctypes.c_ssize_t

    def _call(self, name: str, *arguments: t.Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status.err:
            raise judged(name, abs(status.err), os.access(UDEV, os.R_OK))

    @contextlib.contextmanager
    def driver(self) -> t.Iterator[tuple[int, int]]:
        """Open the driver; the value is the version of nvidia-fs."""
        self._call("cuFileDriverOpen")
        try:
            properties = Properties()
            self._call("cuFileDriverGetProperties", ctypes.byref(properties))
            yield properties.nvfs.major_version, properties.nvfs.minor_version
        finally:
            self._close()

    @contextlib.contextmanager
    def file(self, path: str) -> t.Iterator[t.Callable[[int, int, int, int], None]]:
        """Open a file; the value reads ``size`` bytes from an offset to an offset behind an address of the GPU."""
        descriptor = opened(path)
        try:
            handle = ctypes.c_void_p()
            description = Description(type=1, handle=_Handle(fd=descriptor))
            self._call("cuFileHandleRegister", ctypes.byref(handle), ctypes.byref(description))

            def read(address: int, size: int, start: int, place: int) -> None:
                done = self._library.cuFileRead(handle, address, size, start, place)
                if done == -1:
                    number = ctypes.get_errno()
                    raise Unanswered(
                        REFUSED, f"cuFile could not read the file: {os.strerror(number)}.", _REMEDY, str(number)
                    )
                if done < 0:
                    raise judged("cuFileRead", -done, os.access(UDEV, os.R_OK))
                if done != size:
                    raise Failed(
                        f"cuFile read {done} bytes instead of {size} without an error.", _WRONG, str(done), str(size)
                    )

            try:
                yield read
            finally:
                self._library.cuFileHandleDeregister(handle)
        finally:
            os.close(descriptor)


def opened(path: str) -> int:
    """Open a file past the page cache.

    :raises Skipped: its file system does not have that.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        if error.errno == errno.EINVAL:
            folder = os.path.dirname(path)
            raise Skipped(f"The file system of {folder} refuses O_DIRECT (as tmpfs and some overlays do).") from error
        raise


def _statistics() -> int | None:
    try:
        with open(STATISTICS, encoding="utf-8") as stream:
            return reads(stream.read())
    except OSError:
        return None


@contextlib.contextmanager
def _log(directory: str) -> t.Iterator[None]:
    """Have cuFile write its log into the scratch directory, not into the current one, and tell what it complains of."""
    name = "CUFILE_LOGFILE_PATH"
    before = os.environ.get(name)
    path = before or os.path.join(directory, "cufile.log")
    os.environ[name] = path
    try:
        yield
    except Failed as failure:
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as stream:
            said = complaint(stream.read())
            if "udev property not found" in said:
                # Seen in a virtual machine whose udev knows nothing of its disk: nothing is broken.
                raise Skipped(f"cuFile cannot determine the file's device: {said}.") from failure
            if said:
                failure.cause += f" Its log says: {said}."
        raise
    finally:
        if before is None:
            del os.environ[name]


@check("storage.cufile", seconds=90)
def cufile(context: Context) -> Measured:
    """Writes a file of random bytes, and reads it and a piece of it into the GPU's memory by cuFile: exactly the same.

    What is around the piece must stay as it was. That the read is by GPUDirect Storage is told by the count of
    nvidia-fs, which grows; else it was in compatibility mode: through the host's memory, which is as right, but slower.
    """
    import torch

    # First, so that the library which torch provides is found under this name, and the GPU has a context.
    size = 4 * 2**20 + 4096
    target = torch.full((size,), 0xA5, dtype=torch.uint8, device=context.device)
    cases = Cases("what cuFile read", _WRONG)
    data = torch.randint(0, 256, (size,), generator=context.generator("storage.cufile"), dtype=torch.uint8)
    with tempfile.NamedTemporaryFile(dir=context.directory) as stream, _log(context.directory):
        stream.write(ctypes.string_at(data.data_ptr(), size))
        stream.flush()
        os.fsync(stream.fileno())
        library = CuFile()
        with library.driver() as version, library.file(stream.name) as read:
            before = _statistics()
            torch.cuda.synchronize()
            read(target.data_ptr(), size, 0, 0)
            cases.exactly("the whole file", target, data)
            start, length, place = 2**20 + 4096, 2**16, 8192
            target.fill_(0xA5)
            torch.cuda.synchronize()
            read(target.data_ptr(), length, start, place)
            piece = torch.full_like(data, 0xA5)
            piece[place : place + length] = data[start : start + length]
            cases.exactly("a piece of it", target, piece)
            after = _statistics()
    measured = cases.result()
    measured.measured += f", {mode(version, before, after)}"
    return measured
