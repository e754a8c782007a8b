"""What others wrote, and what is typed, reaches Ansible as data and a terminal as text."""

import argparse
import io
import shlex
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.sparkforge.dgx_spark.tools.discovery import CONTROLLER, RESERVED
from sparkforge import Exit, Refusal, cli, find, inert, inventory, play, questions, terminal
from sparkforge.find import Spark

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRnt4vLtUNZ7dEuiqoOqMY6+AZ3XUJVbPf5ANL5aOQl"
TEMPLATES = ["{{ 6 * 7 }}", "{% set a = 1 %}", "{# a #}", "#jinja2: a", "'\"\\{{ 1 }}", "é{{ 1 }}😀"]
CONTROL = ["a\nb", "\x1b]52;c;aGk=\x07", "\x1b[2J", "\x1b]0;title\x07", "\x9b2J", "\u202e", "\udcff"]
#: Each option and argument of a command that takes any text, with what must be in the place of TEXT.
WORDS = {
    "inspect": [["inspect", "TEXT"]],
    "record": [["record", "--python", "TEXT"]],
    "model": [["model", "get", "a/TEXT"], ["model", "remove", "a/TEXT"], ["model", "get", "a/b", "--revision", "TEXT"]],
    "serve": [
        ["serve", "--model", "/TEXT"], ["serve", "--model", "~/TEXT"], ["serve", "--model", "a/b", "--stack", "TEXT"],
        ["serve", "--model", "a/b", "--revision", "TEXT"],
        ["serve", "--model", "a/b", "--listen", "TEXT", "--key-file", "FILE"],
        ["serve", "--model", "a/b", "--key-file", "FILE"], ["serve", "--model", "a/b", "--token-file", "FILE"],
    ],
    "others": [["status", "-l", "TEXT"], ["prove", "-l", "TEXT"], ["build", "-l", "TEXT"], ["rollback", "-l", "TEXT"]],
}  # fmt: skip
COMMANDS = [words for group in WORDS.values() for words in group]


def trusted(text: str) -> Any:
    """Return what Ansible reads where it evaluates templates: of a command line, and of an inventory."""
    return DataLoader().load(trust_as_template(text))


def ran(words: list[str], text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run a command dry; the inventory and FILE lie in a folder with that name too."""
    place = folder / text
    place.mkdir()
    (place / "hosts.yml").write_text("all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    (place / "secret").touch()
    told = [str(place / "secret") if word == "FILE" else word.replace("TEXT", text) for word in words]
    code = cli.main([*told, "-i", str(place / "hosts.yml"), "--no-password", "--dry-run"])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_word_of_a_command_is_a_template(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(TEMPLATES)
    code, out, _err = ran(words, text, tmp_path, capsys)
    assert code == Exit.DONE
    line = shlex.split(next(line for line in out.splitlines() if line.startswith("+ ANSIBLE_CONFIG=")))
    given: dict[str, Any] = trusted(line[line.index("-e") + 1]) if "-e" in line else {}
    assert Templar(DataLoader(), variables=given).template(given) == given
    assert Templar(DataLoader()).template(trusted('{a: "{{ 6 * 7 }}"}')) == {"a": 42}
    assert text in "".join([*line, *map(str, given.values()), *map(str, given.get("record_options", ()))])


@pytest.mark.parametrize(("words", "text"), [(words, CONTROL[at % len(CONTROL)]) for at, words in enumerate(COMMANDS)])
def test_a_word_that_cannot_be_shown_as_it_is_is_refused(
    words: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ran(words, text, tmp_path, capsys)
    assert (code, out) == (Exit.USAGE, "")
    assert "has a control character, or is not UTF-8.\n  Write it without" in err
    assert err.count("\n") == 2 and terminal.shown.text(err) == err


def test_what_is_harmless_stays_readable_and_what_is_not_utf_8_is_refused() -> None:
    assert inert.variables(a="x==1.0 ; id", b=8000, c=["--p", "/o p"]) == [
        "-e",
        "{a: x==1.0 ; id, b: 8000, c: [--p, /o p]}",
    ]
    for text in ("yes", "8000", "@file", "", "- a", "a: b", "~"):
        assert trusted(inert.variables(a=text)[1]) == {"a": text}
    with pytest.raises(Refusal, match="not UTF-8"):
        inert.variables(a=["\udcff"])


@pytest.mark.parametrize("text", [*TEMPLATES, *CONTROL[:-1]])
def test_no_answer_in_the_inventory_is_a_template_and_what_a_person_added_stays_one(text: str) -> None:
    spark = Spark("spark-1", ["192.0.2.1"], "", key_file=text, key=KEY)
    known = {"all": {"vars": {"mine": "{{ 1 + 1 }}"}}}
    written = inventory.made(known, questions.Answers([spark], text, "wheels", ""))
    for _again in range(2):
        variables = trusted(written)["all"]
        sparks = variables["children"]["sparks"]
        for value in (sparks["hosts"]["spark-1"]["ansible_ssh_private_key_file"], sparks["vars"]["ansible_user"]):
            assert value == text == Templar(DataLoader()).template(value)
        assert "\n    mine: '{{ 1 + 1 }}'\n" in written
        # What was written is read again, and stays data.
        written = inert.dump(inert.load(written)) + "\n"


@pytest.mark.parametrize("text", [*TEMPLATES, *CONTROL, "-oProxyCommand=id", *sorted(RESERVED - {CONTROLLER})])
def test_no_machine_has_such_a_name_or_address(text: str, tmp_path: Path) -> None:
    for name, address in ((text, "192.0.2.1"), ("spark-1", text)):
        if name == "spark-1" and text.isalpha():
            continue
        with pytest.raises(Refusal, match="is no name or address of a machine"):
            Spark(name, [address], "in NVIDIA Sync")
    with pytest.raises(Refusal):
        find.by_name([text], [])


def shows(*events: dict[str, Any], force_terminal: bool = True) -> str:
    console = terminal.Console(file=io.StringIO(), force_terminal=force_terminal, width=200)
    with play.Screen(console, verbose=True) as screen:
        for event in events:
            screen.show(event)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", CONTROL)
def test_nothing_that_a_host_says_moves_a_terminal(text: str) -> None:
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
        return {one for one in shown.replace("\n", "") if terminal.shown.line(one) != one} - {"\x1b", "\r"}

    for at_terminal in (True, False):
        hostile = shows(*events(text, result), force_terminal=at_terminal)
        assert control(hostile) == set()
        assert "]52;" not in hostile.replace("\ufffd]", "") and "\x1b[2J" not in hostile and "\x1b]" not in hostile
    assert shows(*events("x", calm), force_terminal=False).count("\n") <= shows(
        *events(text, result), force_terminal=False
    ).count("\n")


def test_ansible_s_own_colours_stay() -> None:
    said = shows({"event": "error", "stdout": "\x1b[0;31mfatal\x1b[0m\r\nnext \x1b[8mhidden"})
    assert "\x1b[31mfatal\x1b[0m\n" in said and "\x1b[8m" not in said


@pytest.mark.parametrize("text", CONTROL)
def test_nothing_that_the_network_or_a_file_says_moves_a_terminal(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console = terminal.Console(file=io.StringIO(), width=200)
    spark = Spark("spark-1", ["192.0.2.1"], f"source {text}", key=KEY, user=text)
    answers = iter(["7" + text, "1", ""])
    monkeypatch.setattr(questions, "terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: next(answers))
    asked = argparse.Namespace(host=None, user=None, accept_nvidia_license=True, method="wheels", no_password=True)
    with pytest.raises(Refusal) as refused:
        questions.ask(asked, console, [spark])
    # The user of NVIDIA Sync was taken by Enter.
    assert "is not a valid user name" in refused.value.cause
    said = str(console.file.getvalue())  # type: ignore[attr-defined]
    assert "Not in the list" in said and "source" in said
    assert terminal.shown.text(said) == said

    def refuse(*_: object) -> int:
        raise Refusal(Exit.REFUSED, f"a {text}", f"b {text}")

    monkeypatch.setattr("sparkforge.commands.command", refuse)
    assert cli.main(["status"]) == Exit.REFUSED
    err = capsys.readouterr().err
    assert terminal.shown.text(err) == err


def person(monkeypatch: pytest.MonkeyPatch, *answers: str) -> terminal.Console:
    """Answer at a terminal; what is shown is the console's."""
    typed = iter(answers)
    monkeypatch.setattr(questions, "terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: next(typed))
    return terminal.Console(file=io.StringIO(), width=300)


def seen(console: terminal.Console) -> str:
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def machine(name: str, **options: Any) -> Spark:
    return Spark(name, ["192.0.2.1"], "in this network", key=KEY, **options)


def test_enter_chooses_no_machine_that_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    known, new, silent = machine("spark-1", known=True), machine("spark-2"), Spark("spark-3", ["192.0.2.3"], "")
    assert questions.ask_hosts(person(monkeypatch, ""), [known, silent]) == [known]
    console = person(monkeypatch, "", "spark-2")
    assert questions.ask_hosts(console, [known, new]) == [new]
    assert "(all)" not in seen(console)
    assert questions.ask_hosts(person(monkeypatch, "all"), [known, new]) == [known, new]


def test_the_fingerprint_of_each_new_machine_is_shown_before_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    console = person(monkeypatch)
    shown: list[str] = []
    monkeypatch.setattr(questions, "ask_password", lambda _text: shown.append(seen(console)) or "s")
    asked = argparse.Namespace(host=["spark-1"], user="ada", accept_nvidia_license=True, method="wheels")
    asked.no_password = asked.dry_run = False
    questions.ask(asked, console, [machine("spark-1", known=True), machine("spark-2")])
    (before,) = shown
    last = before[before.index("The password goes to these") :]
    assert f"spark-2, 192.0.2.1\n   {find.fingerprint(KEY)}" in last and "spark-1" not in last


def test_a_changed_key_among_those_chosen_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = argparse.Namespace(host=["spark-1"], user="ada", accept_nvidia_license=True, method="wheels")
    asked.no_password = asked.dry_run = True
    with pytest.raises(Refusal, match="another ssh host key"):
        questions.ask(asked, person(monkeypatch, "n"), [machine("spark-1", changed="told")])


@pytest.mark.parametrize("answer", ["y", "n", "", None])
def test_another_key_is_taken_on_a_person_s_word_alone(answer: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    console = person(monkeypatch, answer or "")
    if answer is None:
        monkeypatch.setattr(questions, "terminal", lambda: False)
    changed = machine("spark-1", changed="known_hosts has SHA256:old for spark-1")
    if answer == "y":
        questions.accept(console, [changed])
        assert find.fingerprint(KEY) in seen(console) and "SHA256:old" in seen(console)
        return
    with pytest.raises(Refusal) as refused:
        questions.accept(console, [changed])
    assert refused.value.code == Exit.NO_SSH
    for text in (find.fingerprint(KEY), "SHA256:old", "another machine answers in its place"):
        assert text in refused.value.cause
    assert "\n" not in refused.value.cause + refused.value.remedy and "take the new key" in refused.value.remedy
