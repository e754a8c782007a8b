"""A library that another one needs is missing: an archive was removed, or a wheel of another version lacks it. torch
cannot be imported, and the loader names only one library at a time.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    (environment.site_packages / "torch/lib/libshm.so").unlink()
