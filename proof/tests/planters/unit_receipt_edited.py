"""The receipt of the unit pytorch names another wheel than the environment's. The unit was built again and the old
wheel installed, with the receipt edited in place.
"""

import json

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    path = environment.root / "receipts/units/pytorch.json"
    receipt = json.loads(path.read_text())
    receipt["outputs"][0]["sha256"] = receipt["outputs"][0]["sha256"][::-1]
    path.write_text(json.dumps(receipt))
