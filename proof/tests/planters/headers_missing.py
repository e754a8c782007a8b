"""The interpreter has no Python.h, as when python3-dev is not installed. Triton and torch.compile build a module on
first use and fail. The environment gets an interpreter with the same files except for the headers.
"""

import json
import shutil
import subprocess
from pathlib import Path

from proof.tests.environment import Environment

ASK = """
import json, sys, sysconfig
print(json.dumps([sys._base_executable, sysconfig.get_path("stdlib"), sys.version_info[:2]]))
"""


def plant(environment: Environment) -> None:
    output = subprocess.run([environment.python, "-c", ASK], check=True, capture_output=True, text=True).stdout
    executable, library, version = json.loads(output)
    name = f"python{version[0]}.{version[1]}"
    base = environment.root / "interpreter"
    (base / "bin").mkdir(parents=True)
    (base / "lib").mkdir()
    shutil.copy(Path(executable).resolve(), base / "bin" / name)
    (base / "lib" / name).symlink_to(library)
    for link_name in ("python", "python3", name):
        link = environment.python.parent / link_name
        link.unlink(missing_ok=True)
        link.symlink_to(base / "bin" / name)
    configuration = environment.directory / "pyvenv.cfg"
    lines = configuration.read_text().splitlines()
    configuration.unlink()
    configuration.write_text(
        "".join(f"home = {base / 'bin'}\n" if line.startswith("home") else f"{line}\n" for line in lines)
    )
