"""Disable the network for a process and its children with a system call filter (seccomp(2)).

Unlike a network namespace, which Ubuntu denies to ordinary accounts, this needs no privileges, and it works without
systemd. Only Unix and netlink sockets are allowed; even loopback is blocked.
"""

from __future__ import annotations

import ctypes
import errno
import os
import typing as t

#: AUDIT_ARCH_* (linux/audit.h) and the number of socket(2) for each machine.
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_IO_URING_SETUP = 425
#: Numbers from here on belong to the x32 ABI (asm/unistd.h), which has its own socket(2).
_X32 = 0x40000000
_AF_UNIX, _AF_NETLINK = 1, 16
#: Options of prctl(2).
_PR_GET_SECCOMP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 22, 38
_SECCOMP_MODE_FILTER = 2
#: The return values of a filter (linux/seccomp.h).
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
#: Instructions (linux/bpf_common.h): load a word, compare, return.
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


def is_possible() -> bool:
    """Tell whether this kernel supports such a filter; user-mode emulation does not."""
    return os.uname().machine in _MACHINES and ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def network_blocker() -> t.Callable[[], None]:
    """Return a function that disables the network for the calling process, for a child between fork and exec.

    :raises OSError: raised by the returned function if the kernel refuses the filter.
    """
    architecture, socket = _MACHINES[os.uname().machine]
    # struct seccomp_data: the call's number at offset 0, the machine at 4, the low half of the first argument at 16.
    rows = (
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, 8, architecture),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 6, 0, _X32),
        (_EQUAL, 5, 0, _IO_URING_SETUP),
        (_EQUAL, 0, 5, socket),
        (_LOAD, 0, 0, 16),
        (_EQUAL, 3, 0, _AF_UNIX),
        (_EQUAL, 2, 0, _AF_NETLINK),
        (_RETURN, 0, 0, _ERRNO | errno.ENETUNREACH),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_RETURN, 0, 0, _ALLOW),
    )
    instructions = (_Instruction * len(rows))(*(_Instruction(*row) for row in rows))
    program = _Program(len(rows), instructions)
    # Look up the symbol before the fork: a child of a process with threads must not do that.
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def close() -> None:
        if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(
            _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0
        ):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return close
