from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib
import yaml
from rich.console import Console
from sparkforge import INTERRUPTED, Exit, cli, commands, play

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.yml"
    path.write_text("all: {children: {sparks: {hosts: {spark-1: {}, spark-2: {}, other: {}}}}}\n")
    return path


def dry(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the line that a command prints and does not run, without the variables."""
    before, after = (words[: words.index("--")], words[words.index("--") :]) if "--" in words else (words, ())
    assert cli.main([*before, "--dry-run", *after]) == Exit.DONE
    line = capsys.readouterr().out.splitlines()[0]
    assert line.startswith("+ ANSIBLE_CONFIG=")
    return line[line.index("ansible-playbook") :]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["status"], "sparkforge.dgx_spark.status"),
        (["prove", "-l", "spark-1"], "sparkforge.dgx_spark.site --tags verify -l spark-1"),
        (["build", "--check"], "sparkforge.dgx_spark.build --check --diff"),
        (["rollback", "-v"], "sparkforge.dgx_spark.rollback -v"),
        (["build", "--", "-e", "a b"], "sparkforge.dgx_spark.build -e 'a b'"),
    ],
)
def test_a_command_is_an_ansible_playbook_line(
    words: list[str], expected: str, inventory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = words.index("--") if "--" in words else len(words)
    told = [*words[:cut], "-i", str(inventory), *words[cut:]]
    assert dry(capsys, *told) == f"ansible-playbook -i {inventory} {expected} --ask-pass --ask-become-pass"
    told.insert(1, "--no-password")
    assert dry(capsys, *told) == f"ansible-playbook -i {inventory} {expected}"


def test_inspect_needs_no_inventory_and_no_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARKFORGE_INVENTORY", str(tmp_path / "none.yml"))
    line = dry(capsys, "inspect", "xformers==0.1 ; id")
    assert line.startswith("ansible-playbook -i localhost, sparkforge.dgx_spark.inspect -e ")
    assert '\'{"inspect_target": "xformers==0.1 ; id"}\'' in line


def test_every_command_s_playbook_is_there() -> None:
    for playbook, *_ in cli.COMMANDS.values():
        assert (CHECKOUT / "playbooks" / f"{playbook}.yml").is_file()


def test_without_an_inventory_the_error_says_what_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status", "-i", str(tmp_path / "none.yml")]) == Exit.USAGE
    said = capsys.readouterr().err
    assert "There is no inventory" in said
    assert "sparkforge setup" in said


@pytest.mark.parametrize(
    ("code", "expected"),
    [(0, Exit.DONE), (2, Exit.FAILED), (4, Exit.NO_SSH), (250, Exit.FAILED), (play.CANCELLED, INTERRUPTED)],
)
def test_the_exit_status_says_how_the_play_ended(
    code: int, expected: int, inventory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "run", lambda *_: play.Outcome(code))
    assert cli.main(["status", "-i", str(inventory), "--no-password"]) == expected


def test_every_exit_status_is_in_the_help() -> None:
    for code in (*Exit, INTERRUPTED):
        assert re.search(rf"\b{int(code)} [a-z]", cli.EXITS)


def test_tab_completes_commands_options_and_hosts(inventory: Path) -> None:
    def completed(line: str) -> set[str]:
        env = {
            **os.environ, "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "_ARGCOMPLETE_STDOUT_FILENAME": str(inventory.with_name("out")), "PYTHONPATH": str(CHECKOUT / "cli"),
            "SPARKFORGE_INVENTORY": str(inventory),
        }  # fmt: skip
        subprocess.run([sys.executable, "-m", "sparkforge.cli"], env=env, check=True, capture_output=True)
        return {word.strip() for word in inventory.with_name("out").read_text().split("\n")}

    assert {"setup", "status", "prove", "build", "rollback", "inspect"} <= completed("sparkforge ")
    assert {"--dry-run", "--check", "--host"} <= completed("sparkforge setup --")
    assert completed("sparkforge status -l spark") == {"spark-1", "spark-2"}


def test_the_shell_gets_what_makes_it_complete(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bash"]) == Exit.DONE
    assert "complete" in capsys.readouterr().out


def events() -> list[dict[str, Any]]:
    task = {"event": "playbook_on_task_start", "stdout": "TASK [Build] ***", "event_data": {"name": "Build"}}
    debug = {"task_action": "ansible.builtin.debug"}
    return [
        {"event": "verbose", "stdout": "SSH password: "},
        {"event": "verbose", "stdout": "BECOME password[defaults to SSH password]: "},
        task,
        {"event": "verbose", "stdout": "spark-1 | pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed"},
        {"event": "runner_on_ok", "stdout": "ok: [spark-1]", "event_data": {"task_action": "ansible.builtin.ping"}},
        {"event": "runner_on_ok", "stdout": "ok: [spark-1] => msg: [bold]read me[/bold]", "event_data": debug},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]: FAILED!", "event_data": {}},
    ]


def shown(terminal: bool, verbose: bool = False) -> str:
    """Return what a person sees of those events."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=40, markup=False, highlight=False)
    with play.Screen(console, verbose) as screen:
        for event in events():
            screen.show(event)
        if terminal:
            assert screen.progress.tasks[1].percentage == pytest.approx(67.9, abs=0.1)
            assert screen.progress.tasks[0].description == "1 Build"
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_file_gets_all_of_ansible_s_lines_and_no_bars_and_no_prompts() -> None:
    lines = shown(terminal=False).splitlines()
    assert lines == [event["stdout"] for event in events()[2:]]


def test_a_terminal_gets_bars_and_what_is_meant_to_be_read() -> None:
    text = shown(terminal=True)
    assert "msg: [bold]read me[/bold]" in text
    assert "fatal: [spark-1]: FAILED!" in text
    assert "ok: [spark-1]\n" not in text
    assert "TASK [Build]" not in text
    assert "TASK [Build]" in shown(terminal=True, verbose=True)


def test_the_command_is_under_800_lines() -> None:
    files = list((CHECKOUT / "cli").rglob("*.py"))
    assert files
    assert sum(len(path.read_text().splitlines()) for path in files) < 800


def test_the_package_asks_for_what_the_tests_run_with() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    lines = (CHECKOUT / "requirements.txt").read_text().splitlines()
    assert {line.replace("'", '"') for line in project["dependencies"]} == {line for line in lines if line[0] != "#"}


def test_each_method_is_a_stack_that_has_it() -> None:
    from sparkforge.questions import METHODS

    wheels = yaml.safe_load((CHECKOUT / f"roles/stack/vars/{METHODS['wheels']['stack_name']}.yml").read_text())
    assert wheels["stack_definition"]["wheel"]
    default = yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text())
    assert METHODS["wheels"]["stack_name"] == default["stack_meanwhile"]
    assert METHODS["source"] == {"stack_name": default["stack_name"], "stack_method": default["stack_method"]}


def test_commands_are_what_the_parser_offers() -> None:
    assert commands.COMMANDS is cli.COMMANDS
