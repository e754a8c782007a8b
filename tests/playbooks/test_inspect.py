"""The commands of docs/owner.md that ask whether something runs on a Spark, run as they stand on small wheels.

What is judged, and how: proof/tests/unit/test_inspect.py.
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


def fill(place: Path, machine: int) -> None:
    """Put into ``place`` what the commands name, with code for one machine, and nothing else that they could find."""
    code = {"thing/_C.abi3.so": elf_writer.elf_bytes(soname="_C.abi3.so", machine=machine)}
    write_wheel(place / "wheels", "vllm", "1.0", code)
    thing = write_wheel(place / "wheels", "thing", "1.0", code)
    shutil.copy2(thing, place / FILE)
    for site in (f"{HOME}/venv/lib/python3.12/site-packages", "/image/opt/venv/lib/python3.12/site-packages"):
        with zipfile.ZipFile(thing) as archive:
            archive.extractall(f"{place}{site}")
    (place / "requirements.txt").write_text("thing\n")
    for name in ("image/usr", "image/etc", "tools"):
        (place / name).mkdir()
    # Of `podman image mount`, which prints where the image's file system is.
    (place / "tools/podman").write_text(f"#!/bin/sh\necho {place}/image\n")
    (place / "tools/podman").chmod(0o755)
    (place / "tools/sparkforge").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sparkforge.cli "$@"\n')
    (place / "tools/sparkforge").chmod(0o755)
    (place / "playbooks").symlink_to(ROOT / "playbooks")
    settings = {
        "inspect_index_url": "none",
        "inspect_find_links": [f"{place}/wheels"],
        "inspect_cache": f"{place}/cache",
    }
    (place / "settings.json").write_text(json.dumps(settings))
    (place / "hosts.yml").write_text("all: {hosts: {spark-ab12: {ansible_connection: local}}}")


def ask(place: Path, line: str) -> tuple[int, str]:
    """Run a documented command and return its exit status and what it printed."""
    line = line.replace("~/.config/sparkforge/hosts.yml", "hosts.yml").replace(" -k ", " ")
    more = f"-- -e @{place}/settings.json" if line.startswith("sparkforge") else "-e @settings.json"
    settings = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        "PATH": f"{place / 'tools'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "cli"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "ANSIBLE_LOCAL_TEMP": str(place / "ansible"),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "UV_CACHE_DIR": str(place / "uv"),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", f"{line.replace(HOME, f'{place}{HOME}')} {more}"],
        cwd=place, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_page_has_each_kind_of_question() -> None:
    assert len(COMMANDS) == 5


@pytest.mark.parametrize("line", COMMANDS)
def test_a_documented_question_is_answered(line: str, tmp_path: Path) -> None:
    fill(tmp_path, elf_writer.AARCH64)
    status, said = ask(tmp_path, line)
    assert status == 0, said
    assert "yes: " in said and ("| thing " in said or "| vllm " in said)


def test_a_no_fails_with_the_reason(tmp_path: Path) -> None:
    fill(tmp_path, elf_writer.X86_64)
    status, said = ask(tmp_path, "sparkforge inspect vllm")
    assert status == 1, said
    assert "no: " in said and "x86_64" in said
