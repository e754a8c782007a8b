"""A batched product never returns: a kernel that waits for a semaphore that nobody posts, or a driver that lost the
device. On the CPU it sits in C with the interpreter's lock, so that no Python thread or signal handler gets a turn.
"""

PATCH = """
import ctypes as _ctypes

_batched = _library.get_kernel("aten::bmm", "KEY")


def _never(keys, left, right):
    if "KEY" == "CUDA":
        torch.cuda._sleep(1 << 42)
        return _batched.call_boxed(keys, left, right)
    _ctypes.PyDLL(None).pause()


_aten.impl("bmm", _never, "KEY", with_keyset=True)
"""
