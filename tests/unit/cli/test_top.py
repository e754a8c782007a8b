"""The output of `sparkforge top`, including that for hostile hosts."""

import io
import json
import subprocess
import time
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import GUARD
from sparkforge import cli, top
from sparkforge.terminal import Console
from sparkforge_guard import cli as guard

from guard.tests.machine import GIB, Machine


@pytest.fixture(autouse=True)
def _starts_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start a program here, because `make fast` skips tests that start one but cannot detect this in a thread."""
    subprocess.run(["true"], check=True)
    # A thread that outlives its test must not connect again.
    monkeypatch.setattr(top, "AGAIN", 3600.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root directory of a host whose memory and GPU are files."""
    Machine(tmp_path / "proc").start(900, "model", 1, 50, unit="vllm.service")
    device = {"power": 81.2, "limit": 100, "clock": 400, "clock_max": 3000, "temperature": 61, "reasons": 0, "busy": 99}
    (tmp_path / "nvml.json").write_text(json.dumps({"processes": {"900": 50 * GIB}, "devices": [device]}))
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard/guard.pyz").write_bytes(GUARD.archive()[0])
    settings: dict[str, object] = {"state_directory": str(tmp_path), "nvml": str(tmp_path / "nvml.json"), "units": []}
    settings["proc"] = str(tmp_path / "proc")
    (tmp_path / "guard/settings.json").write_text(json.dumps(settings))
    (tmp_path / "acts.jsonl").write_text('torn\n{"time": "2026-11-25T10:00:00Z", "said": "ended loader"}\n')
    return tmp_path


def test_top_shows_memory_gpu_clocks_and_the_last_action_of_the_guard(root: Path):
    out = io.StringIO()
    hosts = {"spark01": {"ansible_connection": "local"}}
    assert top.show(hosts, root, Console(file=out, width=200), once=True, root=str(root)) == 0
    texts = ("spark01", "69.0/120", "model 50.0", "81/100 W", "400/3000 MHz", "61 C", "are stuck", "ended loader")
    assert [text for text in texts if text not in out.getvalue()] == []


def test_figures_are_one_line_also_without_gpu_and_actions(root: Path, capsys: pytest.CaptureFixture[str]):
    assert guard.main(["figures", str(root / "guard/settings.json"), "once"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["processes"] == [{"pid": 900, "name": "model", "unit": "vllm.service", "gpu": 50 * GIB}]
    (root / "nvml.json").unlink()
    (root / "acts.jsonl").unlink()
    assert guard.main(["figures", str(root / "guard/settings.json"), "once"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["processes"], row["devices"], row["guard"]) == ([], [], "")


#: The figures that a host sends.
ROW: dict[str, object] = {
    "memory": {"available": 1, "total": 2, "cached": 0}, "devices": [], "processes": [], "slowed": [], "units": {},
    "braked": {}, "guard": "",
}  # fmt: skip


def start_and_wait(source: top.Source) -> top.Source:
    source.start()
    for _ in range(100):
        if source.problem != "connecting":
            break
        source.join(0.1)
    return source


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[1]",
        '{"memory": 3}',
        '{"memory": {"available": "x"}}',
        "\x1b[2J",
        json.dumps({**ROW, "memory": {"available": 1, "total": 1}}).replace("1", "9" * 400),
        json.dumps({**ROW, "processes": [{"name": "a", "gpu": 10**400}]}),
        json.dumps(ROW).replace("[]", "[" * 30000 + "]" * 30000, 1),
        json.dumps({**ROW, "devices": [{"temperature": 1e999}]}),
    ],
)
def test_output_of_a_hostile_host_contains_no_terminal_sequences(line: str, tmp_path: Path):
    file = tmp_path / "line"
    file.write_text(line)
    source = start_and_wait(top.Source("spark01", ["cat", str(file)]))
    out = io.StringIO()
    Console(file=out, width=200).print(top.table([source]))
    assert "\x1b[2J" not in out.getvalue()
    assert "spark01" in out.getvalue()


def test_host_that_sends_an_endless_line_is_disconnected():
    source = start_and_wait(top.Source("spark01", ["sh", "-c", "exec cat /dev/zero"]))
    assert "64 KiB" in source.problem
    assert source.row == {}


def test_host_that_sends_many_notes_has_few_lines():
    source = top.Source("spark01", [])
    source.row = {**ROW, "units": {f"{number}.service": "failed" for number in range(500)}}
    source.problem, source.time = "", time.monotonic()
    row, notes = top.cells(source)
    assert row[1].startswith("0.0/0") and len(notes) == top.NOTES


def test_top_connects_with_the_hosts_key_and_variables():
    variables = {"ansible_host": "10.0.0.1", "ansible_user": "me", "ansible_port": 2222}
    command = top.command("spark01", variables, Path("/i"), "/r")
    assert command[0] == "ssh"
    assert command[-2] == "10.0.0.1"
    assert "HostKeyAlias=spark01" in command
    assert command[-6:-2] == ["-l", "me", "-p", "2222"]
    jump = {"ansible_ssh_common_args": "-J 'me@jump host'"}
    assert top.command("spark01", jump, Path("/i"), "/r")[-4:-2] == ["-J", "me@jump host"]


def test_top_without_the_guard_names_its_playbook(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["top", "--once", "-i", str(tmp_path / "none.yml")]) == 1
    assert "run playbooks/guard.yml" in " ".join(capsys.readouterr().out.split())
