"""torchvision was built for another torch: pip was told to leave dependencies alone, or took a wheel of another
index. Its operators are not there, which is said when it is imported, in words that do not name the cause.
"""

from proof.tests.environment import Environment

MODULE = """
import torch

# Its compiled code does not load into this torch, and the registration of the Python side finds no operator.
__version__ = "0.27.0"
torch.library.register_fake("torchvision::nms")(lambda boxes, scores, threshold: None)
"""


def plant(environment: Environment) -> None:
    environment.change("torchvision/__init__.py", MODULE)
    environment.change(
        "torchvision-0.27.0.dist-info/METADATA",
        "Metadata-Version: 2.4\nName: torchvision\nVersion: 0.27.0\nRequires-Dist: torch==2.12.0\n\n",
    )
