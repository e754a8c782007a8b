"""Root without a right in somebody's home, as on NFS with root_squash: a closed folder of another's, no capability."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.unit import interpreter

CHECKOUT = Path(__file__).parents[5]
#: What root reads and writes in a home: the program that was pushed, a model, a file of root's own.
READS = {
    "program": "_core.program.received(home + '/.ansible/tmp/x/sparkforge-proof.pyz', '0' * 64)",
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
@pytest.mark.parametrize("name", READS)
def test_home_that_root_may_not_read_is_one_message_with_its_remedy(open_path: Path, name: str) -> None:
    home = open_path / "home"
    for place in (".ansible/tmp/x", "models/tiny"):
        (home / place).mkdir(parents=True)
    (home / ".ansible/tmp/x/sparkforge-proof.pyz").write_text("")
    (home / "models/tiny/config.json").write_text("{}")
    for path in (home, *home.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o700 if path.is_dir() else 0o600)
    squashed = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    done = subprocess.run(
        [*squashed, interpreter.PYTHON, "-c", CODE, str(home), READS[name]],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / ".collections")}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cause, _bar, remedy = done.stdout.partition(" | ")
    assert cause.endswith("Permission denied.") and "no directory" not in cause
    assert "root_squash" in remedy and "ansible_remote_tmp" in remedy
