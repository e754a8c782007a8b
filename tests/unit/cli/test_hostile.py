"""External text and typed text reach Ansible only as data, and a terminal only as text."""

import argparse
import io
import shlex
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.sparkforge.dgx_spark.tools.discovery import CONTROLLER, RESERVED
from sparkforge import Exit, Refusal, cli, find, inventory, play, questions, terminal, unsafe_text
from sparkforge.find import Spark

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRnt4vLtUNZ7dEuiqoOqMY6+AZ3XUJVbPf5ANL5aOQl"
TEMPLATES = ["{{ 6 * 7 }}", "{% set a = 1 %}", "{# a #}", "#jinja2: a", "'\"\\{{ 1 }}", "é{{ 1 }}😀"]
CONTROL = ["a\nb", "\x1b]52;c;aGk=\x07", "\x1b[2J", "\x1b]0;title\x07", "\x9b2J", "\u202e", "\udcff"]
#: All options and arguments that accept any text, by command; the tests replace TEXT and FILE.
COMMANDS_BY_GROUP = {
    "inspect": [["inspect", "TEXT"]],
    "record": [["record", "--python", "TEXT"]],
    "model": [
        ["model", "get", "a/TEXT"], ["model", "remove", "a/TEXT", "-l", "all"],
        ["model", "get", "a/b", "--revision", "TEXT"],
    ],
    "serve": [
        ["serve", "--model", "/TEXT"], ["serve", "--model", "a/b", "--stack", "TEXT"],
        ["serve", "--model", "a/b", "--revision", "TEXT"],
        ["serve", "--model", "a/b", "--listen", "TEXT", "--key-file", "FILE"],
        ["serve", "--model", "a/b", "--key-file", "FILE"], ["serve", "--model", "a/b", "--token-file", "FILE"],
    ],
    "others": [["status", "-l", "TEXT"], ["prove", "-l", "TEXT"], ["build", "-l", "TEXT"], ["rollback", "-l", "TEXT"]],
}  # fmt: skip
COMMANDS = [command for group in COMMANDS_BY_GROUP.values() for command in group]


def load_trusted(text: str) -> Any:
    """Return the data that Ansible loads from a command line or inventory, whose templates it trusts."""
    return DataLoader().load(trust_as_template(text))


def dry_run(command: list[str], text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run a command with --dry-run; the inventory and FILE are in a directory whose name is the text."""
    directory = folder / text
    directory.mkdir()
    (directory / "hosts.yml").write_text("all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    (directory / "secret").touch()
    arguments = [str(directory / "secret") if part == "FILE" else part.replace("TEXT", text) for part in command]
    code = cli.main([*arguments, "-i", str(directory / "hosts.yml"), "--dry-run"])
    output = capsys.readouterr()
    return code, output.out, output.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_arguments_of_a_command_are_no_templates(command, tmp_path: Path, capsys):
    text = "".join(TEMPLATES)
    code, out, _err = dry_run(command, text, tmp_path, capsys)
    assert code == Exit.DONE
    line = shlex.split(next(line for line in out.splitlines() if line.startswith("+ ANSIBLE_CONFIG=")))
    variables: dict[str, Any] = load_trusted(line[line.index("-e") + 1]) if "-e" in line else {}
    assert Templar(DataLoader(), variables=variables).template(variables) == variables
    assert Templar(DataLoader()).template(load_trusted('{a: "{{ 6 * 7 }}"}')) == {"a": 42}
    assert text in "".join([*line, *map(str, variables.values()), *map(str, variables.get("record_options", ()))])


@pytest.mark.parametrize(("number", "command"), enumerate(COMMANDS))
def test_arguments_with_control_characters_are_refused(number, command, tmp_path: Path, capsys):
    code, out, err = dry_run(command, CONTROL[number % len(CONTROL)], tmp_path, capsys)
    assert (code, out) == (Exit.USAGE, "")
    assert "control character" in err
    assert err.count("\n") == 2 and terminal.sanitize.text(err) == err


def test_harmless_text_is_kept_readable_and_invalid_utf_8_is_refused() -> None:
    options = unsafe_text.set_variables(a="x==1.0 ; id", b=8000, c=["--p", "/o p"])
    assert options == ["-e", "{a: x==1.0 ; id, b: 8000, c: [--p, /o p]}"]
    for text in ("yes", "8000", "@file", "", "- a", "a: b", "~"):
        assert load_trusted(unsafe_text.set_variables(a=text)[1]) == {"a": text}
    with pytest.raises(Refusal, match="not UTF-8"):
        unsafe_text.set_variables(a=["\udcff"])


@pytest.mark.parametrize("text", [*TEMPLATES, *CONTROL[:-1]])
def test_inventory_answers_are_not_templates_but_the_users_additions_are(text: str) -> None:
    spark = Spark("spark-1", ["192.0.2.1"], "", key_file=text, key=KEY)
    known = {"all": {"vars": {"mine": "{{ 1 + 1 }}"}}}
    written = inventory.render(known, questions.Answers([spark], text, "wheels", ""))
    for _again in range(2):
        sparks = load_trusted(written)["all"]["children"]["sparks"]
        for value in (sparks["hosts"]["spark-1"]["ansible_ssh_private_key_file"], sparks["vars"]["ansible_user"]):
            assert value == text == Templar(DataLoader()).template(value)
        assert "\n    mine: '{{ 1 + 1 }}'\n" in written
        # It is still data after being read and written again.
        written = unsafe_text.dump(unsafe_text.load(written)) + "\n"


@pytest.mark.parametrize("text", [*TEMPLATES, *CONTROL, "-oProxyCommand=id", *sorted(RESERVED - {CONTROLLER})])
def test_hostile_names_and_addresses_are_refused(text: str) -> None:
    for name, address in ((text, "192.0.2.1"), ("spark-1", text)):
        if name == "spark-1" and text.isalpha():
            continue
        with pytest.raises(Refusal, match="name or address"):
            Spark(name, [address], "in NVIDIA Sync")
    with pytest.raises(Refusal):
        find.by_name([text], [])


def output(*events: dict[str, Any], force_terminal: bool = True) -> str:
    console = terminal.Console(file=io.StringIO(), force_terminal=force_terminal, width=200)
    with play.Screen(console, verbose=True) as screen:
        for event in events:
            screen.show(event)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", CONTROL)
def test_output_of_hosts_contains_no_terminal_sequences(text: str) -> None:
    result = {"task_action": "ansible.builtin.debug", "host": f"h{text}", "res": {"msg": f"said {text}"}}
    calm = {"task_action": "ansible.builtin.debug", "host": "h", "res": {"msg": "said"}}

    def events(text: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"event": "playbook_on_task_start", "stdout": f"TASK [{text}]", "event_data": {"name": text}},
            {"event": "verbose", "stdout": f"h | {text} | build 1/2"},
            {"event": "runner_on_failed", "stdout": f"fatal: {text}", "event_data": data},
            {"event": "error", "stdout": text},
        ]

    def control(shown: str) -> set[str]:
        return {char for char in shown.replace("\n", "") if terminal.sanitize.line(char) != char} - {"\x1b", "\r"}

    for at_terminal in (True, False):
        hostile = output(*events(text, result), force_terminal=at_terminal)
        assert control(hostile) == set()
        assert "]52;" not in hostile.replace("\ufffd]", "") and "\x1b[2J" not in hostile and "\x1b]" not in hostile
    # The previous output did not go to a terminal, so no line of it was lost.
    assert output(*events("x", calm), force_terminal=False).count("\n") <= hostile.count("\n")


def test_ansibles_own_colours_are_kept() -> None:
    text = output({"event": "error", "stdout": "\x1b[0;31mfatal\x1b[0m\r\nnext \x1b[8mhidden"})
    assert "\x1b[31mfatal\x1b[0m\n" in text and "\x1b[8m" not in text


@pytest.mark.parametrize("text", CONTROL)
def test_text_of_network_and_files_contains_no_terminal_sequences(text, monkeypatch: pytest.MonkeyPatch, capsys):
    console = terminal.Console(file=io.StringIO(), width=200)
    spark = Spark("spark-1", ["192.0.2.1"], f"source {text}", key=KEY, user=text)
    answers = iter(["7" + text, "1", ""])
    monkeypatch.setattr(questions, "has_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: next(answers))
    with pytest.raises(Refusal) as refused:
        questions.ask(setup_arguments(host=None, user=None), console, [spark])
    # Pressing Enter accepted the user name from NVIDIA Sync.
    assert "valid user" in refused.value.cause
    shown = console_text(console)
    assert "or without ssh" in shown and "source" in shown
    assert terminal.sanitize.text(shown) == shown

    def refuse(*_: object) -> int:
        raise Refusal(Exit.REFUSED, f"a {text}", f"b {text}")

    monkeypatch.setattr("sparkforge.commands.command", refuse)
    assert cli.main(["status"]) == Exit.REFUSED
    err = capsys.readouterr().err
    assert terminal.sanitize.text(err) == err


def setup_arguments(**changed: Any) -> argparse.Namespace:
    arguments = {"host": ["spark-1"], "user": "ada", "accept_nvidia_license": True, "method": "wheels"}
    return argparse.Namespace(**{**arguments, "no_password": True, "dry_run": True, **changed})


def typing_console(monkeypatch: pytest.MonkeyPatch, *answers: str) -> terminal.Console:
    """Return the console of a user who types these answers."""
    typed = iter(answers)
    monkeypatch.setattr(questions, "has_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: next(typed))
    return terminal.Console(file=io.StringIO(), width=300)


def console_text(console: terminal.Console) -> str:
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def machine(name: str, **options: Any) -> Spark:
    return Spark(name, ["192.0.2.1"], "in this network", key=KEY, **options)


def test_enter_chooses_no_new_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    known, new, silent = machine("spark-1", known=True), machine("spark-2"), Spark("spark-3", ["192.0.2.3"], "")
    assert questions.ask_hosts(typing_console(monkeypatch, ""), [known, silent]) == [known]
    console = typing_console(monkeypatch, "", "spark-2")
    assert questions.ask_hosts(console, [known, new]) == [new]
    assert "(all)" not in console_text(console)
    assert questions.ask_hosts(typing_console(monkeypatch, "all"), [known, new]) == [known, new]


def test_the_fingerprint_of_each_new_machine_is_shown_before_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    console = typing_console(monkeypatch)
    shown: list[str] = []
    monkeypatch.setattr(questions, "ask_password", lambda _text: shown.append(console_text(console)) or "s")
    arguments = setup_arguments(no_password=False, dry_run=False)
    questions.ask(arguments, console, [machine("spark-1", known=True), machine("spark-2")])
    (before,) = shown
    last = before[before.index("password goes to") :]
    assert f"spark-2, 192.0.2.1\n   {find.fingerprint(KEY)}" in last and "spark-1" not in last


def test_a_changed_key_of_a_chosen_machine_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refusal, match="another ssh"):
        questions.ask(setup_arguments(), typing_console(monkeypatch, "n"), [machine("spark-1", changed="changed")])


@pytest.mark.parametrize("answer", ["y", "n", "", None])
def test_another_key_is_accepted_only_by_yes(answer: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    console = typing_console(monkeypatch, answer or "")
    if answer is None:
        monkeypatch.setattr(questions, "has_terminal", lambda: False)
    changed = machine("spark-1", changed="known_hosts has SHA256:old for spark-1")
    if answer == "y":
        questions.accept(console, [changed])
        assert find.fingerprint(KEY) in console_text(console) and "SHA256:old" in console_text(console)
        return
    with pytest.raises(Refusal) as refused:
        questions.accept(console, [changed])
    assert refused.value.code == Exit.NO_SSH
    for text in (find.fingerprint(KEY), "SHA256:old", "another machine answers"):
        assert text in refused.value.cause
    assert "\n" not in refused.value.cause + refused.value.remedy and "accept the new" in refused.value.remedy
