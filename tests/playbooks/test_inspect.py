"""Run the commands in docs/owner.md that tell whether something runs on a Spark, unchanged, on small wheels.

proof/tests/unit/test_inspect.py covers the results themselves.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer

from lab.stand_ins import write_wheel
from tests.lint.test_collection import readme_commands
from tests.playbooks.run_playbook import ROOT

COMMANDS = [line for line in readme_commands("docs/owner.md") if "inspect.yml" in line or "sparkforge inspect" in line]
FILE = "thing-1.0-cp312-cp312-linux_aarch64.whl"
HOME = "/home/ada"


def fill(directory: Path, machine: int) -> None:
    """Create everything the commands name in ``directory``, with code for one machine, and nothing else to be found."""
    code = {"thing/_C.abi3.so": elf_writer.elf_bytes(soname="_C.abi3.so", machine=machine)}
    write_wheel(directory / "wheels", "vllm", "1.0", {**code, "vllm/_C.cubin": elf_writer.cubin("121a")})
    thing = write_wheel(directory / "wheels", "thing", "1.0", code)
    shutil.copy2(thing, directory / FILE)
    for site in (f"{HOME}/venv/lib/python3.12/site-packages", "/image/opt/venv/lib/python3.12/site-packages"):
        with zipfile.ZipFile(thing) as archive:
            archive.extractall(f"{directory}{site}")
    (directory / "requirements.txt").write_text("thing\n")
    for name in ("image/usr", "image/etc", "tools"):
        (directory / name).mkdir()
    # A stand-in for `podman image mount`, which prints the mount point of an image.
    (directory / "tools/podman").write_text(f"#!/bin/sh\necho {directory}/image\n")
    (directory / "tools/podman").chmod(0o755)
    (directory / "tools/sparkforge").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sparkforge.cli "$@"\n')
    (directory / "tools/sparkforge").chmod(0o755)
    # Shims of inactive versions, as pyenv has them: Ansible must not choose them for this machine.
    for name in ("python3", *(f"python3.{minor}" for minor in range(8, 16))):
        (directory / "tools" / name).write_text("#!/bin/sh\nexit 127\n")
        (directory / "tools" / name).chmod(0o755)
    (directory / "playbooks").symlink_to(ROOT / "playbooks")
    settings = {
        "inspect_index_url": "none",
        "inspect_find_links": [f"{directory}/wheels"],
        "inspect_cache": f"{directory}/cache",
    }
    (directory / "settings.json").write_text(json.dumps(settings))
    spark = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (directory / "hosts.yml").write_text(json.dumps({"all": {"hosts": {"spark-ab12": spark}}}))


def ask(directory: Path, line: str) -> tuple[int, str]:
    """Run a documented command and return its exit status and output."""
    line = line.replace("~/.config/sparkforge/hosts.yml", "hosts.yml").replace(" -k ", " ")
    more = f"-- -e @{directory}/settings.json" if line.startswith("sparkforge") else "-e @settings.json"
    settings = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        "PATH": f"{directory / 'tools'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "cli"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "ANSIBLE_LOCAL_TEMP": str(directory / "ansible"),
        "UV_CACHE_DIR": str(directory / "uv"),
        "LC_ALL": "C.UTF-8",
    }
    result = subprocess.run(
        ["bash", "-c", f"{line.replace(HOME, f'{directory}{HOME}')} {more}"],
        cwd=directory, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return result.returncode, result.stdout + result.stderr


def test_the_page_has_each_kind_of_question() -> None:
    assert len(COMMANDS) == 5


@pytest.mark.parametrize("line", COMMANDS)
def test_a_documented_question_is_answered(line: str, tmp_path: Path) -> None:
    fill(tmp_path, elf_writer.AARCH64)
    status, output = ask(tmp_path, line)
    assert status == 0, output
    assert "yes: " in output and ("| thing " in output or "| vllm " in output)


def test_negative_answer_fails_with_the_reason(tmp_path: Path) -> None:
    fill(tmp_path, elf_writer.X86_64)
    status, output = ask(tmp_path, "sparkforge inspect vllm")
    assert status == 1, output
    assert "no: " in output and "x86_64" in output
