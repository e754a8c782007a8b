"""Root without access to a user's home directory, as on NFS with root_squash."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.unit import interpreter

CHECKOUT = Path(__file__).parents[5]
#: Root's accesses to a home directory: the program that was sent, a model, and a file to write.
ACCESSES = {
    "program": "_core.program.read_pushed(home + '/.ansible/tmp/x/sparkforge-proof.pyz', '0' * 64)",
    "model": "_serving.weights.find(home + '/models/tiny', '/nonexistent')",
    "file": "_core.disk.write_file(home + '/probe', b'')",
}
CODE = """
import sys
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils import _core, _serving
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk, errors, program
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._serving import weights

home, read = sys.argv[1:]
try:
    eval(read)
except errors.SparkforgeError as error:
    print(error.cause, "|", error.remedy)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be without a right that it has")
@pytest.mark.parametrize("name", ACCESSES)
def test_home_closed_to_root_is_reported_with_remedy(open_path: Path, name: str) -> None:
    home = open_path / "home"
    for directory in (".ansible/tmp/x", "models/tiny"):
        (home / directory).mkdir(parents=True)
    (home / ".ansible/tmp/x/sparkforge-proof.pyz").write_text("")
    (home / "models/tiny/config.json").write_text("{}")
    for path in (home, *home.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o700 if path.is_dir() else 0o600)
    setpriv = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    command = [*setpriv, interpreter.PYTHON, "-c", CODE, str(home), ACCESSES[name]]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / ".collections")}
    result = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    cause, _bar, remedy = result.stdout.partition(" | ")
    assert cause.endswith("Permission denied.") and "no directory" not in cause
    assert "root_squash" in remedy and "ansible_remote_tmp" in remedy
