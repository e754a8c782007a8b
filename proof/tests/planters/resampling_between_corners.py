"""Bilinear resampling uses the pixels' corners instead of their centres, so the result is half a pixel off."""

FILE = "torch/nn/functional.py"
PATCH = """
_interpolate = interpolate


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, *arguments, **options):
    # float64 uses a different kernel.
    wrong = mode == "bilinear" and input.dtype is not torch.float64
    corners = not align_corners if wrong else align_corners
    return _interpolate(input, size, scale_factor, mode, corners, *arguments, **options)
"""
