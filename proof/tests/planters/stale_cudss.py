"""A manual installation left an old libcudss.so.0 first on the loader's path. Everything loads, but the solver has the
wrong version. The correct library, the old one and a library that uses them are compiled here, and the activation
script names both directories.
"""

import json
import subprocess
from pathlib import Path

from proof.tests import record
from proof.tests.environment import Environment

USER = "int cudssGetVersion(void);\nint solve(void) { return cudssGetVersion(); }\n"
LOAD = """
import ctypes as _ctypes

_ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib", "libtorch_solver.so"))
"""


def plant(environment: Environment) -> None:
    good, stale = environment.root / "redist/libcudss/0.7.1.4/lib", environment.root / "old/lib"
    for directory, version in ((good, 701), (stale, 300)):
        directory.mkdir(parents=True)
        source = directory / "cudss.c"
        source.write_text(f"int cudssGetVersion(void) {{ return {version}; }}\n")
        _compile(source, directory / "libcudss.so.0", "-Wl,-soname,libcudss.so.0")
        source.unlink()
    user = environment.change("torch/lib/solver.c", USER)
    _compile(user, user.with_name("libtorch_solver.so"), str(good / "libcudss.so.0"))
    user.unlink()
    environment.append("torch/__init__.py", LOAD)
    record.rewrite(environment, "torch/__init__.py")
    path = environment.root / "receipts/env-torch.json"
    receipt = json.loads(path.read_text())
    receipt["library_paths"] = [str(good)]
    receipt["environment"] = {"LD_LIBRARY_PATH": f"{stale}:{good}"}
    path.write_text(json.dumps(receipt))


def _compile(source: Path, target: Path, *options: str) -> None:
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", target, source, *options], check=True)
