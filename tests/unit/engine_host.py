"""Small real projects, a compiler that records its calls, and ``source_build`` to build them."""

import hashlib
import json
import os
import pwd
import shutil
import sys
import tarfile
import time
import typing as t
from pathlib import Path

from tests.unit import interpreter
from tests.unit.run_module import run_module

#: Records each compilation, and waits while the gate file exists.
COMPILER = """#!/bin/sh
case "$*" in *--version*|*-dumpversion*) exec {real} "$@";; esac
case " $* " in
  *" -c "*unit_*)
    for word; do case "$word" in *unit_*.c*) source=$word;; esac; done
    echo "$(basename "$source")" >> {record}
    while [ -e {gate} ]; do sleep 0.05; done
    ;;
esac
exec {real} "$@"
"""

#: A stand-in, used if ccache is not installed. Like ccache(1), if it is called under a compiler's name, it runs the
#: next program with that name on PATH; otherwise its first argument is the compiler.
CCACHE = """#!/bin/sh
self=$(readlink -f "$0")
echo "through ccache: $0 $*" >&2
case "$(basename "$0")" in
  ccache)
    case "$1" in --version) echo "ccache version 4.9.1"; exit;; --print-stats) exit;; esac
    exec "$@"
    ;;
esac
IFS=:
for directory in $PATH; do
  found=$directory/$(basename "$0")
  [ -x "$found" ] && [ "$(readlink -f "$found")" != "$self" ] && exec "$found" "$@"
done
exit 127
"""

CMAKE = """cmake_minimum_required(VERSION 3.16)
set(CMAKE_C_COMPILER_FORCED TRUE)
project(tiny C)
option(USE_FANCY "fancy" ON)
find_library(FANCY fancy PATHS "$ENV{{FANCY_DIR}}" NO_DEFAULT_PATH)
if(USE_FANCY AND NOT FANCY)
  message(WARNING "fancy not found")
  set(USE_FANCY OFF CACHE BOOL "fancy" FORCE)
endif()
add_library(tiny SHARED {sources})
install(TARGETS tiny LIBRARY DESTINATION lib)
"""


class EngineHost:
    """A root directory for builds on this machine, the compiler's record, and the projects."""

    def __init__(self, directory: Path, user: str = "") -> None:
        """:param user: the build account; by default, the account that runs the tests."""
        self.base = directory
        self.root = directory / "root"
        self.logs = directory / "log"
        self.record = directory / "compiled"
        self.gate = directory / "gate"
        self.compiler = directory / "tools/gcc"
        self.compiler.parent.mkdir()
        real = shutil.which("gcc", path="/usr/bin:/bin") or "gcc"
        self.compiler.write_text(COMPILER.format(real=real, record=self.record, gate=self.gate))
        self.compiler.chmod(0o755)
        self.user = user or pwd.getpwuid(os.geteuid()).pw_name
        # The interpreter that runs the tests may be in root's home.
        self.python = interpreter.PYTHON if user else sys.executable

    def record_privileges(self) -> None:
        """Make the compiler append its identity and capabilities to ``privileges``, a JSON line for each call."""
        (self.base / "privileges").touch()
        (self.base / "privileges").chmod(0o666)
        lines = self.compiler.read_text().splitlines()
        # The worker is the topmost ancestor with the same account; it also starts processes that need the network.
        code = """import json, os
def status(pid):
    rows = (line.split(':') for line in open(f'/proc/{pid}/status'))
    bases = {'PPid': 10, 'Uid': 10, 'Gid': 10, 'Groups': 10, 'CapEff': 16, 'CapPrm': 16, 'NoNewPrivs': 10}
    return {k: [int(n, bases[k]) for n in v.split()] for k, v in rows if k in bases}
ancestors = [status('self')]
while ancestors[-1]['Uid'] == ancestors[0]['Uid']:
    ancestors.append(status(ancestors[-1]['PPid'][0]))
worker = ancestors[-2]['NoNewPrivs']
print(json.dumps({**ancestors[0], 'worker': worker, 'built': 'SPARKFORGE_BUILD' in os.environ}))"""
        lines.insert(1, f'/usr/bin/python3 -I -c "{code}" >> {self.base}/privileges')
        self.compiler.write_text("\n".join([*lines, ""]))

    def absent(self) -> dict[str, t.Any]:
        """Remove the unit."""
        options = {"name": "tiny", "state": "absent", "root": str(self.root), "log_root": str(self.logs)}
        return run_module("source_build", interpreter=self.python, **options)

    def project(self, units: int = 8, broken: bool = False) -> dict[str, t.Any]:
        """Return the source of a CMake project with ``units`` translation units."""
        tree = self.base / f"tiny-{units}-{broken}"
        tree.mkdir()
        names = [f"unit_{number}.c" for number in range(units)]
        for number, name in enumerate(names):
            text = f"int unit_{number}(void) {{ return {number}; }}\n"
            if broken and number == units - 1:
                text = '#include "no_such_header.h"\n'
            (tree / name).write_text(text)
        (tree / "CMakeLists.txt").write_text(CMAKE.format(sources=" ".join(names)))
        return self.pack(tree)

    def pack(self, tree: Path) -> dict[str, t.Any]:
        """Pack a tree into an archive and return it as the option ``source``."""
        archive = self.base / f"{tree.name}.tar.gz"
        with tarfile.open(archive, "w:gz") as stream:
            stream.add(tree, "tiny-1.0")
        return {"archive": str(archive), "sha256": hashlib.sha256(archive.read_bytes()).hexdigest()}

    def options(self, source: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the module's options for a project."""
        return {
            "name": "tiny",
            "kind": "cmake",
            "source": source,
            "toolchain": {"cc": str(self.compiler), "cmake": tool("cmake"), "ninja": tool("ninja")},
            "memory_reserve": 1,
            "memory_per_job": 1,
            "jobs": 2,
            "ccache": False,
            "user": self.user,
            "root": str(self.root),
            "log_root": str(self.logs),
            "follow": False,
        }

    def build(self, source: dict[str, t.Any], check_mode: bool = False, **options: t.Any) -> dict[str, t.Any]:
        """Run the module; with ``follow``, repeat this until the build is no longer running."""
        merged = {**self.options(source), **options}
        result = run_module("source_build", check_mode=check_mode, interpreter=self.python, **merged)
        if merged["follow"]:
            while result.get("status") == "running":
                known_state = {key: result["state"].get(key) for key in ("phase", "status", "attempts")}
                attach = {"fingerprint": result["fingerprint"], "platform": result["platform"], "seen": known_state}
                result = run_module("source_build", interpreter=self.python, **{**merged, "attach": attach})
        return result

    def must_build(self, source: dict[str, t.Any], **options: t.Any) -> dict[str, t.Any]:
        """Build to completion and return the result, which must be a success."""
        result = self.build(source, follow=True, **options)
        assert not result.get("failed"), json.dumps(result, indent=1) + self.log(result)
        return result

    def must_fail(self, source: dict[str, t.Any], **options: t.Any) -> dict[str, t.Any]:
        """Build to completion and return the result, which must be a failure with cause and remedy."""
        result = self.build(source, follow=True, **options)
        assert result.get("failed"), json.dumps(result, indent=1)
        assert result["cause"] and result["remedy"]
        return result

    def ccache(self) -> str:
        """Return the path of the host's ccache or, if it has none, of the stand-in."""
        installed = shutil.which("ccache", path="/usr/local/bin:/usr/bin")
        if installed:
            return installed
        path = self.base / "tools/ccache"
        path.write_text(CCACHE)
        path.chmod(0o755)
        return str(path)

    def log(self, result: dict[str, t.Any]) -> str:
        path = Path(str(result.get("log", "/none")))
        return path.read_text() if path.exists() else ""

    def compilations(self) -> list[str]:
        return self.record.read_text().split() if self.record.exists() else []

    def directory(self, result: dict[str, t.Any]) -> Path:
        return self.root / "builds" / str(result["name"]) / str(result["fingerprint"])

    def state(self, result: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the build's state, or an empty one before the first is written."""
        path = self.directory(result) / "state.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def change_state(self, result: dict[str, t.Any], **values: t.Any) -> None:
        path = self.directory(result) / "state.json"
        path.write_text(json.dumps({**self.state(result), **values}))

    def wait_until(self, condition: t.Callable[[], bool]) -> None:
        while not condition():
            time.sleep(0.05)


def tool(name: str) -> str:
    """Return the path of a build tool on this machine or in the tests' environment."""
    path = f"/usr/local/bin:/usr/bin:/bin:{Path(sys.executable).parent}"
    program = shutil.which(name, path=path)
    assert program, f"{name} is missing: make setup installs it"
    return program
