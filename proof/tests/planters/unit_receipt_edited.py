# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The receipt of the unit pytorch vouches for another wheel than the environment was made from: the unit was built
again and the old wheel was installed, with the receipt edited in place.
"""

from __future__ import annotations

import json

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    path = environment.root / "receipts/units/pytorch.json"
    receipt = json.loads(path.read_text())
    receipt["outputs"][0]["sha256"] = receipt["outputs"][0]["sha256"][::-1]
    path.write_text(json.dumps(receipt))
