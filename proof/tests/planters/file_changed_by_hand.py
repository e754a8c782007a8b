"""A file of torch was edited in place: a debugging line was left in, which the next update will overwrite. All results
remain correct.
"""

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.append("torch/nn/functional.py", "\n# TODO: remove, only to debug the hang of last week\n")
