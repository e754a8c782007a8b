"""Somebody mended a file of torch in place, and the next update of the environment is a surprise: a debugging line
that stayed. No number differs.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.append("torch/nn/functional.py", "\n# TODO: remove, only to debug the hang of last week\n")
