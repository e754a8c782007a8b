"""The receipt names a different commit from the installed torch's. Either the environment was replaced by hand, or the
receipt was edited.
"""

import json

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    path = environment.root / "receipts/env-torch.json"
    receipt = json.loads(path.read_text())
    receipt["modules"]["torch"]["git_version"] = receipt["modules"]["torch"]["git_version"][::-1]
    path.write_text(json.dumps(receipt))
