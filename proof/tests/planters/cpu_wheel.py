"""The wheel of a host with a GPU is a CPU build, as pip takes it from the plain index for aarch64 and older torch:
all that is computed is right, and the GPU idles. In an environment that has one there is nothing to plant.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    if "cuda: Optional[str] = None" not in (environment.site_packages / "torch/version.py").read_text():
        raise ValueError("this environment has a CUDA build")
