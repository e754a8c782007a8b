"""CMake did not find what oneDNN needs and went on without it, though the build was asked for it."""

FILE = "torch/backends/mkldnn/__init__.py"
PATCH = """

def is_available():
    return False
"""
