"""CMake did not find a dependency of oneDNN and continued without it, although the build requested it."""

FILE = "torch/backends/mkldnn/__init__.py"
PATCH = """

def is_available():
    return False
"""
