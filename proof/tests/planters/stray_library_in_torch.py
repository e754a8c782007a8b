"""A library that no wheel brought lies in torch/lib, where RPATH looks first: copied there to get past an error of
the loader, and forgotten.
"""

import shutil

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    libraries = environment.site_packages / "torch/lib"
    shutil.copy(libraries / "libshm.so", libraries / "libcudss.so.0")
