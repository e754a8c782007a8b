"""Somebody edited a file of torch in place and left a debugging line, which the next update will overwrite. All numbers
stay right.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.append("torch/nn/functional.py", "\n# TODO: remove, only to debug the hang of last week\n")
