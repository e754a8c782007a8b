"""SGD applies weight decay twice."""

FILE = "torch/optim/sgd.py"
PATCH = """
_sgd = sgd


def sgd(*arguments, **options):
    return _sgd(*arguments, **{**options, "weight_decay": 2 * options["weight_decay"]})
"""
