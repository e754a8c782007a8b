"""The gradient of group_norm is a hundredth too large; its result is correct to the last bit."""

FILE = "torch/nn/functional.py"
PATCH = """
_group_norm = group_norm


def group_norm(*arguments, **options):
    result = _group_norm(*arguments, **options)
    return result if result.dtype is torch.float64 else result + (result - result.detach()) * 0.01
"""
