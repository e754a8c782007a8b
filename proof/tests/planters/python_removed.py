"""The interpreter of the environment is gone, and bin/python is a dangling link. An upgrade of the distribution removed
the interpreter.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.python.unlink()
    environment.python.symlink_to(environment.root / "usr/bin/python3.10")
