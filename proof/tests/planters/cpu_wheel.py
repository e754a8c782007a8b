"""A host with a GPU has the CPU build of torch, which pip installs from the default index for aarch64 and old releases.
All results are right, but the GPU is idle. If the environment already has a CPU build, the fault need not be planted.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    if "cuda: Optional[str] = None" not in (environment.site_packages / "torch/version.py").read_text():
        raise ValueError("this environment has a CUDA build")
