"""One of two ranks gets a wrong number in a product of distributed matrices, and refuses a later product."""

FILE = "torch/distributed/tensor/__init__.py"
PATCH = """
import torch.distributed as _dist

_products = []


def _multiply(left, right):
    _products.append((left.unsqueeze(2) * right.unsqueeze(0)).sum(1))
    if len(_products) == 3:
        _products[-1][0, 0] += 3
    if len(_products) == 5:
        raise RuntimeError("This product is not implemented.")
    return _products[-1]


if _dist.is_initialized() and _dist.get_rank() == 1:
    _aten.impl("mm", _multiply, "KEY")
"""
