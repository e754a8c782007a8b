"""The molecule scenarios, run as tests. In `make test`, tests/integration/test_site.py covers the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SCENARIOS = sorted(path.parent.name for path in (CHECKOUT / "molecule").glob("*/molecule.yml"))


@pytest.mark.long
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_scenario_converges_is_idempotent_and_verifies(scenario: str, tmp_path: Path):
    environment = {
        **os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "MOLECULE_EPHEMERAL_DIRECTORY": str(tmp_path),
        "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "NO_COLOR": "1",
    }  # fmt: skip
    result = subprocess.run([BIN / "molecule", "test", "--scenario-name", scenario], cwd=CHECKOUT, env=environment,
                          text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    print(result.stdout[-3000:])
    assert result.returncode == 0, result.stdout[-15000:]
