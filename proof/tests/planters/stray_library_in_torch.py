"""torch/lib, where RPATH looks first, has a library from no wheel. Somebody copied it there to get past an error of the
loader, and forgot it.
"""

import shutil

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    libraries = environment.site_packages / "torch/lib"
    shutil.copy(libraries / "libshm.so", libraries / "libcudss.so.0")
