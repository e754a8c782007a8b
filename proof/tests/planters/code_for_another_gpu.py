"""torch has GPU code only for compute capability 9.0, and the first kernel fails: no kernel image is available. This
happens with a wheel from another machine, or a build for its builder's architectures. The code is compiled here.
"""

import subprocess

from proof.tests import record
from proof.tests.environment import Environment

KERNEL = "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n"
VERSION = "__version__ = '2.10.0+cu130'\ndebug = False\ncuda = '13.0'\ngit_version = None\nhip = None\nxpu = None\n"


def plant(environment: Environment) -> None:
    environment.change("torch/version.py", VERSION)
    record.rewrite(environment, "torch/version.py")
    source = environment.change("torch/lib/kernels.cu", KERNEL)
    flags = ["-shared", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_90,code=sm_90"]
    subprocess.run(["nvcc", *flags, "-o", source.with_name("libtorch_cuda.so"), source], check=True)
    source.unlink()
