import json
import os
import pathlib
import subprocess
import sys
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer

COLLECTION = pathlib.Path(__file__).resolve().parents[4]
MODULE = "ansible_collections.sparkforge.dgx_spark.plugins.modules.elf_closure_info"

#: On exit, prints to stderr how many bytes it has read.
PROGRAM = f"""import runpy, sys
try:
    runpy.run_module({MODULE!r}, run_name="__main__")
finally:
    with open("/proc/self/io") as stream:
        sys.stderr.write(stream.readline().split()[1])
"""


def run(**arguments: t.Any) -> dict[str, t.Any]:
    """Run the module in a separate process, as Ansible does."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(COLLECTION / ".collections")},
    )
    assert "Traceback" not in result.stdout + result.stderr, result.stderr
    answer = {**json.loads(result.stdout), "read": int(result.stderr or 0)}
    assert bool(answer.get("failed")) == (result.returncode != 0)
    return answer


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"just text\n", "it is text"),
        (elf_writer.elf_bytes(needed=["libc.so.6"], padding=500)[:300], "damaged ELF file"),
    ],
)
def test_bad_input_is_one_message_and_leaves_the_file_unchanged(tmp_path: pathlib.Path, content: bytes | None, message):
    path = tmp_path / "x.so"
    if content is not None:
        path.write_bytes(content)
    answer = run(paths=[str(path)])
    assert answer["failed"]
    assert answer["cause"].startswith(str(path))
    assert message in answer["cause"]
    assert answer["remedy"].endswith(".")
    assert (path.read_bytes() if content is not None else path.exists()) == (content or False)


def test_a_program_of_this_host_lacks_no_library() -> None:
    answer = run(paths=["/bin/ls"], _ansible_check_mode=True)
    assert answer["missing"] == []
    assert os.path.exists(answer["resolved"]["libc.so.6"])


def test_large_libraries_are_not_read_completely(tmp_path: pathlib.Path) -> None:
    """There are forty sparse libraries, each 1 GiB in size."""
    names = [f"libbig{number}.so" for number in range(40)]
    for name in names:
        path = elf_writer.write_elf(
            tmp_path / name, soname=name, needed=[other for other in names if other != name], rpath="$ORIGIN"
        )
        os.truncate(path, 1 << 30)
    answer = run(paths=["/"], root=str(tmp_path))
    assert (answer["missing"], answer["examined"]) == ([], 40)
    assert answer["read"] < 16 << 20
