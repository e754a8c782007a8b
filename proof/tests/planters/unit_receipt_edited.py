"""The receipt of the unit pytorch vouches for another wheel than the environment was made from: the unit was built
again and the old wheel was installed, with the receipt edited in place.
"""

import json

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    path = environment.root / "receipts/units/pytorch.json"
    receipt = json.loads(path.read_text())
    receipt["outputs"][0]["sha256"] = receipt["outputs"][0]["sha256"][::-1]
    path.write_text(json.dumps(receipt))
