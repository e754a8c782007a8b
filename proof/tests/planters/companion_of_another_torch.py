"""torchvision was built for another torch, and pip did not check that or installed it from another index. Its operators
are missing, and the import fails with a message that does not name the cause.
"""

from proof.tests.environment import Environment

MODULE = """
import torch

# Its compiled code does not load into this torch, so registering the Python side finds no operator.
__version__ = "0.27.0"
torch.library.register_fake("torchvision::nms")(lambda boxes, scores, threshold: None)
"""


def plant(environment: Environment) -> None:
    environment.change("torchvision/__init__.py", MODULE)
    environment.change(
        "torchvision-0.27.0.dist-info/METADATA",
        "Metadata-Version: 2.4\nName: torchvision\nVersion: 0.27.0\nRequires-Dist: torch==2.12.0\n\n",
    )
