"""The receipt of the unit pytorch names a different wheel from the environment's. The unit was built again, but the old
wheel was installed and the receipt edited in place.
"""

import json

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    path = environment.root / "receipts/units/pytorch.json"
    receipt = json.loads(path.read_text())
    receipt["outputs"][0]["sha256"] = receipt["outputs"][0]["sha256"][::-1]
    path.write_text(json.dumps(receipt))
