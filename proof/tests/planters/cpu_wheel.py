"""A host with a GPU has the CPU build of torch, which pip installs from the plain index for aarch64 and old releases.
All numbers are right, but the GPU is idle. In an environment with a CPU build there is nothing to plant.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    if "cuda: Optional[str] = None" not in (environment.site_packages / "torch/version.py").read_text():
        raise ValueError("this environment has a CUDA build")
