"""Adam's fused step omits the bias corrections of its moments."""

FILE = "torch/optim/adam.py"
PATCH = """
_adam = adam


def adam(*arguments, **options):
    if not options.get("fused"):
        return _adam(*arguments, **options)
    steps = [step.clone() for step in arguments[5]]
    for step in arguments[5]:
        step.fill_(1e6)
    _adam(*arguments, **options)
    for step, before in zip(arguments[5], steps):
        step.copy_(before + 1)
"""
