"""An upgrade of the distribution removed the environment's interpreter, so bin/python is a dangling link."""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.python.unlink()
    environment.python.symlink_to(environment.root / "usr/bin/python3.10")
