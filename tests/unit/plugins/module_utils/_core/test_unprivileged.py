# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""As whom root runs an environment's interpreter, and which directories that may enter."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import unprivileged
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit import interpreter

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs something as somebody else")

STATUS = """
import json
rows = (line.split(":") for line in open("/proc/self/status"))
print(json.dumps({key: value.split() for key, value in rows}))
"""


def test_what_runs_has_the_rights_of_nobody() -> None:
    argv, variables = unprivileged.command([interpreter.PYTHON, "-I", "-c", STATUS], {})
    done = subprocess.run(argv, env={**os.environ, **variables}, extra_groups=[0], check=True, capture_output=True)
    said = json.loads(done.stdout)
    nobody = pwd.getpwnam("nobody")
    assert (said["Uid"], said["Gid"]) == ([str(nobody.pw_uid)] * 4, [str(nobody.pw_gid)] * 4)
    assert (said["Groups"], said["NoNewPrivs"]) == ([str(nobody.pw_gid)], ["1"])
    assert {int(said[key][0], 16) for key in ("CapEff", "CapPrm", "CapInh")} == {0}


def test_root_s_group_is_given_to_nobody(open_path: Path) -> None:
    closed = open_path / "closed"
    closed.mkdir()
    closed.chmod(0o750)
    os.chown(closed, 0, 0)
    assert unprivileged.groups_that_may_enter(str(closed / "bin/python")) == set()
    with pytest.raises(SparkforgeError, match=f"lies in {closed}, which only its owner"):
        unprivileged.check_open(str(closed / "bin/python"), "The interpreter", "Open it.")
    os.chown(closed, 0, 65534)
    assert unprivileged.groups_that_may_enter(str(closed / "bin/python")) == {65534}
    unprivileged.check_open(str(closed / "bin/python"), "The interpreter", "Open it.")
