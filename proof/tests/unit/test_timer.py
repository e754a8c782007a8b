# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the timer proves with, and what systemd may be given. On a host: integration/test_proof_timer.py."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.doc_fragments import proof
from ansible_collections.sparkforge.dgx_spark.plugins.modules import cuda_proof
from sparkforge_proof import timer
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError


def test_the_timer_proves_with_every_option_of_the_module() -> None:
    texts = (cuda_proof.DOCUMENTATION, proof.ModuleDocFragment.DOCUMENTATION)
    options = {option for text in texts for option in yaml.safe_load(text)["options"]}
    # What a switch requires; a timer switches to nothing.
    assert set(timer.SETTINGS) == options - {"require", "program"}
    given = {"root": "/opt/x", "program": "", "state": "present", "user": "nobody", "limits": {"seconds": 60}}
    wanted = {**dict.fromkeys(timer.SETTINGS), "user": "nobody", "limits": {"seconds": 60}}
    assert timer.ProofTimer(given).settings == wanted


@pytest.mark.parametrize("root", ["/opt/spark forge", "/opt/x\nUser=root", "/opt/%h", '/opt/"x"', "/"])
def test_a_root_that_a_unit_would_take_for_words_of_its_own_is_refused(root: str) -> None:
    with pytest.raises(SparkforgeError, match="cannot be used in a systemd unit"):
        timer.ProofTimer({"root": root, "state": "present", "program": ""})
