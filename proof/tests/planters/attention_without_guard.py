"""torch 2.10 was built with 12.1 in its list of architectures. Its memory-efficient attention has an empty body for
12.1, and a 12.1 GPU prefers that code to the correct code for 12.0. The code compiled here contains no attention.
"""

import subprocess

from proof.tests import record
from proof.tests.environment import Environment

KERNEL = "__global__ void attend(float *x) { x[threadIdx.x] = 0; }\n"
VERSION = "__version__ = '2.10.0+cu130'\ndebug = False\ncuda = '13.0'\ngit_version = None\nhip = None\nxpu = None\n"


def plant(environment: Environment) -> None:
    environment.change("torch/version.py", VERSION)
    record.rewrite(environment, "torch/version.py")
    source = environment.change("torch/lib/kernels.cu", KERNEL)
    flags = [word for number in (120, 121) for word in ("-gencode", f"arch=compute_{number},code=sm_{number}")]
    target = ["-o", str(source.with_name("libtorch_cuda.so"))]
    subprocess.run(["nvcc", "-shared", "-Xcompiler", "-fPIC", *flags, *target, source], check=True)
    source.unlink()
