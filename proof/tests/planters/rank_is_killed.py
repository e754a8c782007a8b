"""One of two ranks is killed, as by a kernel that is short of memory, while they exchange parts of tensors."""

FILE = "torch/distributed/tensor/__init__.py"
PATCH = """
import os as _os
import signal as _signal

import torch.distributed as _dist

if _dist.is_initialized() and _dist.get_rank() == 1:
    _os.kill(_os.getpid(), _signal.SIGKILL)
"""
