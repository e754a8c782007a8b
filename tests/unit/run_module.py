"""Runs a module as Ansible does: arguments on stdin, a JSON object on stdout."""

import atexit
import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import typing as t
from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import programs

from tests.unit import module_server

ROOT = Path(__file__).parents[2]
#: Modules whose action sends a program.
WITH_PROGRAM = ("cuda_proof", "inspect_info", "proof_publish", *programs.CALLED)


@functools.cache
def program(module: str = "cuda_proof") -> dict[str, str]:
    """Return the option ``program``, which the action plugin adds."""
    called = programs.CALLED.get(module, programs.PROOF)
    content, sha256 = called.archive()
    directory = tempfile.mkdtemp(prefix="sparkforge-program-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    path = Path(directory, called.file)
    path.write_bytes(content)
    return {"sha256": sha256, "path": str(path)}


def run_module(
    module: str, /, check_mode: bool = False, interpreter: str = sys.executable, **arguments: t.Any
) -> dict[str, t.Any]:
    """Return the module's result; a traceback fails the test."""
    if module in WITH_PROGRAM:
        arguments.setdefault("program", program(module))
    paths = [str(ROOT / ".collections"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": ":".join(filter(None, paths)), "LC_ALL": "C.UTF-8"}
    name = f"ansible_collections.sparkforge.dgx_spark.plugins.modules.{module}"
    options = json.dumps({"ANSIBLE_MODULE_ARGS": {**arguments, "_ansible_check_mode": check_mode}})
    out, err = module_server.call(name, options, environment, interpreter=interpreter)
    assert "Traceback" not in err, err
    return t.cast("dict[str, t.Any]", json.loads(out))


def tree(directory: Path) -> dict[str, str]:
    """Return the content hash and mode of each file in a directory; for a symlink, its target."""
    entries = {}
    for path in sorted(directory.rglob("*")):
        if path.is_symlink():
            entry = "-> " + os.readlink(path)
        else:
            content = "directory" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
            entry = f"{content} {path.stat().st_mode:o}"
        entries[str(path.relative_to(directory))] = entry
    return entries
