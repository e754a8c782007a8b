"""libtorch_cuda.so has code for compute_20, as PyTorch builds it on a 12.1 GPU without a list of architectures. An nvcc
that knows 12.1 no longer supports compute_20, so code for 7.5 is compiled and the number in its header is changed.
"""

import subprocess

from proof.tests import record
from proof.tests.environment import Environment

KERNEL = "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n"
VERSION = "__version__ = '2.10.0+cu130'\ndebug = False\ncuda = '13.0'\ngit_version = None\nhip = None\nxpu = None\n"
#: The first bytes of a container of GPU code; 44 bytes later, its first entry has the number of the architecture.
MAGIC, PLACE = b"\x50\xed\x55\xba", 44


def plant(environment: Environment) -> None:
    environment.change("torch/version.py", VERSION)
    record.rewrite(environment, "torch/version.py")
    source = environment.change("torch/lib/kernels.cu", KERNEL)
    library = source.with_name("libtorch_cuda.so")
    flags = ["-shared", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_75,code=[compute_75,sm_75]"]
    subprocess.run(["nvcc", *flags, "-o", library, source], check=True)
    source.unlink()
    library.write_bytes(_renumber(library.read_bytes(), 75, 20))


def _renumber(content: bytes, old: int, new: int) -> bytes:
    at = content.find(MAGIC)
    while at >= 0:
        number = slice(at + PLACE, at + PLACE + 4)
        if content[number] == old.to_bytes(4, "little"):
            return content[: number.start] + new.to_bytes(4, "little") + content[number.stop :]
        at = content.find(MAGIC, at + 1)
    raise ValueError(f"no code for {old}")
