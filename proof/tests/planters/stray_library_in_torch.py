"""torch/lib, where RPATH looks first, contains a library that no wheel installed. It was copied there to work around a
loader error, and was then forgotten.
"""

import shutil

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    libraries = environment.site_packages / "torch/lib"
    shutil.copy(libraries / "libshm.so", libraries / "libcudss.so.0")
