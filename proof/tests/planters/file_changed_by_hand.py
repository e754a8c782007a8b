"""A file of torch was edited in place, leaving a debugging line that the next update will overwrite."""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.append("torch/nn/functional.py", "\n# TODO: remove, only to debug the hang of last week\n")
