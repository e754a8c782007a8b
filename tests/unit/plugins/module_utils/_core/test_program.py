"""The collection's programs on a host: sent once, and compared with their sha256 before each use."""

import hashlib
import os
import random
import shutil
import threading
import time
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import program
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.run_module import program as real, run_module

CONTENT = b"print('the program')\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def pushed(tmp_path: Path) -> str:
    path = tmp_path / "pushed.pyz"
    path.write_bytes(CONTENT)
    return str(path)


def programs_in(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "proof").glob("*"))


def test_received_program_is_kept_with_its_content_and_mode(tmp_path: Path, pushed: str) -> None:
    path = program.stored_path(str(tmp_path / "root"), SHA256)
    assert program.read_stored(path, SHA256) is None
    program.store(path, program.read_pushed(pushed, SHA256))
    assert (os.stat(path).st_mode & 0o777, programs_in(tmp_path / "root")) == (0o755, [f"{SHA256}.pyz"])
    # The program need not be sent again.
    assert program.read_stored(path, SHA256) == CONTENT


@pytest.mark.parametrize("kind", ["torn", "another", "link", "pipe", "missing", "endless"])
def test_received_program_that_differs_is_refused(kind: str, tmp_path: Path, pushed: str) -> None:
    Path(pushed).write_bytes(CONTENT[:-3] if kind == "torn" else CONTENT + b"import os\n")
    if kind not in ("torn", "another"):
        os.unlink(pushed)
    if kind == "link":
        Path(pushed).symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(pushed)
    elif kind == "endless":
        with open(pushed, "wb") as stream:
            stream.truncate(1 << 40)
    with pytest.raises(SparkforgeError, match=r"did not arrive|cannot be read") as refused:
        program.read_pushed(pushed, SHA256)
    assert refused.value.remedy


@pytest.mark.parametrize("kind", ["text", "link"])
def test_kept_program_that_was_changed_on_the_host_is_refused(kind: str, tmp_path: Path, pushed: str) -> None:
    path = Path(program.stored_path(str(tmp_path), SHA256))
    program.store(str(path), CONTENT)
    if kind == "text":
        path.write_bytes(CONTENT + b"import os\n")
    else:
        path.unlink()
        path.symlink_to(pushed)
    with pytest.raises(SparkforgeError, match=str(path)):
        program.read_stored(str(path), SHA256)


def test_store_removes_a_former_program_unless_a_timer_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    units = tmp_path / "units"
    units.mkdir()
    monkeypatch.setattr(program, "UNITS", str(units))
    directory = tmp_path / "proof"
    directory.mkdir()
    used, unused = (directory / f"{digit * 64}.pyz" for digit in "ab")
    for path in (used, unused, directory / "settings.json"):
        path.write_text("")
    (units / "sparkforge-proof.service").write_text(f"ExecStart=/usr/bin/python3 -B {used} scheduled\n")
    program.store(program.stored_path(str(tmp_path), SHA256), CONTENT)
    assert programs_in(tmp_path) == sorted([f"{SHA256}.pyz", used.name, "settings.json"])


def test_other_version_at_fixed_name_is_ignored(tmp_path: Path) -> None:
    path = Path(program.stored_path(str(tmp_path), SHA256, "guard"))
    path.parent.mkdir()
    path.write_text("the former one")
    assert program.read_stored(str(path), SHA256) is None
    path.write_bytes(CONTENT)
    assert program.read_stored(str(path), SHA256) == CONTENT


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, ""])
def test_place_refuses_invalid_sha256(name: str, tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match="is not a sha256"):
        program.stored_path(str(tmp_path), name)


@pytest.mark.parametrize("root", ["/opt/spark forge", "/opt/x\nUser=root", "/opt/%h", '/opt/"x"', "/"])
def test_root_with_special_characters_is_refused(root: str) -> None:
    with pytest.raises(SparkforgeError, match="a systemd unit"):
        program.root_of_units(root)


def test_module_without_its_action_is_refused() -> None:
    result = run_module("proof_publish", program=None)
    assert result["failed"] and "without its action" in result["cause"] and result["remedy"]


def test_failing_program_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pyz"
    shutil.copy(real()["path"], broken)
    broken.write_bytes(b"raise SystemExit('no room')\n")
    sha256 = hashlib.sha256(broken.read_bytes()).hexdigest()
    result = run_module("proof_publish", root=str(tmp_path), program={"sha256": sha256, "path": str(broken)})
    assert "status 1: no room" in result["cause"] and "-vvv" in result["remedy"]
    assert "no room" in result["stderr"]


def test_program_exchanged_during_call_does_not_run(tmp_path: Path) -> None:
    """During each call, another account repeatedly renames its own file over the program that was sent."""
    genuine, other, pushed = (tmp_path / name for name in ("genuine.pyz", "other.pyz", "pushed.pyz"))
    shutil.copy(real()["path"], genuine)
    marker = tmp_path / "ran"
    other.write_text(f"open({str(marker)!r}, 'w')\n")
    shutil.copy(genuine, pushed)
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            for source in (genuine, other):
                os.link(source, tmp_path / "next")
                os.rename(tmp_path / "next", pushed)
                time.sleep(random.uniform(0, 0.004))

    account = threading.Thread(target=exchange)
    account.start()
    try:
        options = {"program": {**real(), "path": str(pushed)}}
        answers = [run_module("proof_publish", root=str(tmp_path / f"{number}"), **options) for number in range(20)]
    finally:
        stop.set()
        account.join()
    refused = [answer for answer in answers if "was replaced" in answer.get("cause", "")]
    assert not marker.exists() and 0 < len(refused) <= len(answers)
