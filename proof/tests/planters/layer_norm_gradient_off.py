"""The gradient of layer_norm is too large by one part in five hundred; its result is correct to the last bit."""

FILE = "torch/nn/functional.py"
PATCH = """
_layer_norm = layer_norm


def layer_norm(*arguments, **options):
    result = _layer_norm(*arguments, **options)
    # float64 uses a different kernel.
    return result if result.dtype is torch.float64 else result + (result - result.detach()) * 0.002
"""
