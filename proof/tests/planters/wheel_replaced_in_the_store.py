"""The wheel from which the environment was installed has been replaced with another file. Either it was downloaded
again from an index that had rebuilt it under the same name, or a disk lost a block.
"""

import json
import zipfile

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    receipt = json.loads((environment.root / "receipts/env-torch.json").read_text())
    wheel = next(wheel for wheel in receipt["wheels"] if wheel["file"].startswith("torch-"))
    path = environment.root / "wheels" / wheel["sha256"] / wheel["file"]
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("torch/version.py", "cuda = None\n")
