"""The interpreter that the environment was made with is gone: an upgrade of the distribution removed it, and
bin/python points to nothing.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.python.unlink()
    environment.python.symlink_to(environment.root / "usr/bin/python3.10")
