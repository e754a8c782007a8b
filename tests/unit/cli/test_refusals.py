"""Refusals on the command line: a line each for cause and remedy, an exit status, and no file written."""

import argparse
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sparkforge import INTERRUPTED, Exit, Refusal, cli, commands, find, inventory, play, questions
from sparkforge.find import Spark

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRnt4vLtUNZ7dEuiqoOqMY6+AZ3XUJVbPf5ANL5aOQl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home directory, in which no file may be written."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(directory / ".config"))
    monkeypatch.delenv("SPARKFORGE_INVENTORY", raising=False)
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A umask with which new files are writable by all accounts unless their mode is set."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize(
    ("arguments", "status", "cause"),
    [
        (["status"], Exit.USAGE, "no inventory"),
        (["record", "-i", "none.yml"], Exit.USAGE, "no inventory none.yml"),
        (["record", "-i", "none.yml", "--prove"], Exit.USAGE, "no inventory none.yml"),
        (["status", "-i", "a,b.yml"], Exit.USAGE, "a,b.yml"),
        (["setup", "--host", "spark;id"], Exit.USAGE, "spark;id"),
        (["setup", "--host", "spark\nid"], Exit.USAGE, "id"),
        (["setup", "--host", "192.0.2.1", "--names", "a\x1bb"], Exit.USAGE, "control character"),
        (["setup", "--host", "localhost", "--proxy", "p:3128"], Exit.USAGE, "sparkforge_proxies.http does not begin"),
        (["setup", "--host", "localhost", "--proxy", "http://p/x"], Exit.USAGE, "path after host"),
        (["setup", "-i", "/dev/null/hosts.yml"], Exit.USAGE, "/dev/null/hosts.yml cannot be read: "),
        (["setup", "-i", "../list.yml"], Exit.USAGE, "list.yml is not"),
        (["setup", "-i", "../broken.yml"], Exit.USAGE, "broken.yml cannot be read: "),
        (["setup", "-i", "../bytes.yml"], Exit.USAGE, "bytes.yml cannot be read: "),
        (["run"], Exit.USAGE, "No command"),
        (["run", "--needs", "1M", "--", "/no/such/program"], Exit.USAGE, "/no/such/program cannot be started: No such"),
        (["run", "--needs", "many", "--", "true"], Exit.USAGE, "many"),
        (["top", "--once", "-i", "../sparks.yml", "-l", "none"], Exit.USAGE, "sparks.yml has no host none."),
        (["top", "-i", "../list.yml"], Exit.USAGE, "list.yml is not"),
        (["serve", "-i", "../sparks.yml", "--model", "one"], Exit.USAGE, "'one' is neither"),
        (["serve", "-i", "../sparks.yml", "--model", "a/b", "--key-file", "no"], Exit.USAGE, "no file no."),
        (["model", "get", "a/b/c", "-i", "../sparks.yml"], Exit.USAGE, "'a/b/c' is neither"),
        (["model", "get", "a/b", "-i", "../sparks.yml", "--token-file", "no"], Exit.USAGE, "no file no."),
        (["model", "remove", "a/b", "-l", "x"], Exit.USAGE, "no inventory"),
        (["model", "remove", "a/b", "-i", "../sparks.yml"], Exit.USAGE, "needs -l"),
        (["serve", "-i", "../sparks.yml", "--model", "~/m"], Exit.USAGE, "'~/m' is neither"),
        (["uninstall", "-i", "../sparks.yml", "-l", "nosuch", "--dry-run"], Exit.USAGE, "has no host nosuch"),
        (["record", "-i", "../sparks.yml", "-l", "spark-1,nosuch"], Exit.USAGE, "has no host nosuch"),
        (["forecast", "-i", "../sparks.yml", "nosuch"], Exit.USAGE, "has no host nosuch"),
        (["serve", "-i", "../sparks.yml", "--model", "a/b", "--listen", "0.0.0.0"], Exit.USAGE, "Without a key"),
        (["forecast", "-i", "../sparks.yml", "spark-1", "-l", "spark-2"], Exit.USAGE, "twice: spark-1"),
        (["uninstall"], Exit.USAGE, "no inventory"),
        (["forecast", "--record", "no.json"], Exit.USAGE, "no file no.json."),
        *((name, Exit.USAGE, "no inventory") for name in (["prove"], ["build"], ["rollback"], ["forecast"])),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_refusal_has_cause_and_remedy_and_writes_nothing(arguments, status: Exit, cause, home: Path, capsys):
    (home.parent / "sparks.yml").write_text("all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    (home.parent / "list.yml").write_text("[1]\n")
    (home.parent / "broken.yml").write_text("a: [\n")
    (home.parent / "bytes.yml").write_bytes(b"\xff\xfe")
    assert cli.main(arguments) == status
    message, rest = capsys.readouterr().err.split("\n", 1)
    assert message.startswith("sparkforge: ") and cause in message
    assert rest.startswith("  ") and len(rest.strip().splitlines()) == 1
    assert cause != "no inventory" or "sparkforge setup" in rest
    assert list(home.iterdir()) == []


def test_cause_and_remedy_of_several_lines_are_printed_in_one_line_each(monkeypatch: pytest.MonkeyPatch, capsys):
    def refuse(*_: Any) -> int:
        raise Refusal(Exit.REFUSED, "ada could not log in.\n  spark-1: denied\n\x1b[2J", "Look\n there.")

    monkeypatch.setattr(commands, "setup", refuse)
    assert cli.main(["setup"]) == Exit.REFUSED
    assert capsys.readouterr().err.splitlines() == [
        "sparkforge: ada could not log in. spark-1: denied \ufffd[2J", "  Look there."
    ]  # fmt: skip


def test_every_exit_code_is_in_the_table_and_the_help() -> None:
    page = (Path(__file__).parents[3] / "docs/owner.md").read_text()
    rows = page.partition("| exit code | means |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    listed = {int(code): text for code, text in (row.strip("| ").split(" | ") for row in rows)}
    assert list(listed) == list(cli.EXIT_CODES) == [*Exit, INTERRUPTED]
    for code, text in cli.EXIT_CODES.items():
        meanings = {name: (entry.get("exits") or {}).get(code) for name, entry in cli.COMMANDS.items()}
        own = [f"; `{name}`: {meaning}" for name, meaning in meanings.items() if meaning and name != "explain"]
        assert listed[code] == text + "".join(own), code
    explained = page.partition("## Find out what a log says")[2].partition("\n## ")[0]
    codes = {int(code): text for code, text in re.findall(r"^\| (\d+) \| (.*) \|$", explained, re.M)}
    own = {code: text for code, text in cli.COMMANDS["explain"]["exits"].items() if text}
    assert own == {code: codes[code] for code in own}


@pytest.mark.parametrize(
    "arguments", [["-v"], ["nothing"], ["inspect"], ["setup", "--method", "x"], ["status", "--check"]]
)
def test_a_missing_command_or_unknown_option_is_refused(arguments, home: Path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2 and "usage: sparkforge" in capsys.readouterr().err
    assert list(home.iterdir()) == []


def candidates(monkeypatch: pytest.MonkeyPatch, sparks: list[Spark], *arguments: str) -> list[Spark]:
    """Return the machines from which the user can choose; one without a key does not answer."""
    monkeypatch.setattr(find, "by_mdns", lambda *_: sparks)
    monkeypatch.setattr(find, "by_sync", list)
    monkeypatch.setattr(find, "by_name", lambda *_: sparks)
    monkeypatch.setattr(find, "reach", lambda *_: None)
    arguments = cli.make_parser().parse_args(["setup", *arguments])
    return commands.candidates(arguments, Console(file=io.StringIO()), Path("known_hosts"))


def test_a_silent_spark_is_refused_if_it_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Spark("spark-1", ["192.0.2.1"], "in this network", key=KEY)
    silent = Spark("spark-2", ["192.0.2.2"], "in this network")
    assert candidates(monkeypatch, [good]) == [good]
    assert candidates(monkeypatch, [good], "--host", "spark-1") == [good]
    assert candidates(monkeypatch, [good, silent]) == [good, silent]
    for sparks, options in (([silent], []), ([good, silent], ["--host", "spark-2"])):
        with pytest.raises(Refusal, match=r"spark-2 \(192.0.2.2, port 22\)") as refused:
            candidates(monkeypatch, sparks, *options)
        assert refused.value.code == Exit.NO_SSH and refused.value.remedy


def test_setup_prompts_for_an_address_if_no_spark_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guest Wi-Fi without multicast hides the Spark from the search."""
    monkeypatch.setattr(find, "by_mdns", lambda *_: [])
    monkeypatch.setattr(find, "by_sync", list)
    monkeypatch.setattr(find, "host_keys", lambda address, _port: [KEY] if address == "192.0.2.1" else [])
    monkeypatch.setattr(questions, "has_terminal", lambda: True)
    console, keys = Console(file=io.StringIO()), Path("known_hosts")
    monkeypatch.setattr("builtins.input", lambda *_: " 192.0.2.1 ")
    (named,) = commands.candidates(cli.make_parser().parse_args(["setup"]), console, keys)
    assert (named.addresses, named.key) == (["192.0.2.1"], KEY)
    text = " ".join(console.file.getvalue().split())
    assert "No Spark answered" in text and "Guest Wi-Fi" in text
    monkeypatch.setattr("builtins.input", lambda *_: "")
    with pytest.raises(Refusal) as refused:
        commands.candidates(cli.make_parser().parse_args(["setup"]), console, keys)
    assert refused.value.code == Exit.NO_SPARK
    (example,) = commands.candidates(cli.make_parser().parse_args(["setup", "--dry-run"]), console, keys)
    assert example.name == "spark-abcd" and "with spark-abcd" in console.file.getvalue()
    monkeypatch.setattr("builtins.input", lambda *_: "192.0.2.9")
    with pytest.raises(Refusal, match=r"at 192\.0\.2\.9") as refused:
        commands.candidates(cli.make_parser().parse_args(["setup"]), console, keys)
    assert refused.value.code == Exit.NO_SSH


def test_a_spark_with_a_revoked_key_is_refused_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    revoked = Spark("spark-2", ["192.0.2.2"], "in this network", revoked="a revoked key")
    with pytest.raises(Refusal, match="spark-2 is refused: a revoked key") as refused:
        candidates(monkeypatch, [revoked])
    assert refused.value.code == Exit.NO_SSH and "ssh-keygen -A" in refused.value.remedy
    console = Console(file=io.StringIO())
    questions.show(console, [revoked])
    assert "refused: a revoked key" in console.file.getvalue()


def test_a_failed_search_is_an_error_and_a_successful_one_lists_sparks(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO())
    answers = [
        find.discovery.Answer("Spark-1.local.", "_ssh._tcp", 2222, ("192.0.2.1",)),
        find.discovery.Answer("lab.local.", "_ssh._tcp", 22, ("192.0.2.2",)),
        find.discovery.Answer("spark-2.local.", "_ssh._tcp", 22, ("192.0.2.3",)),
        find.discovery.Answer("spark-2.local.", "_ssh._tcp", 22, ("192.0.2.4",)),
    ]
    monkeypatch.setattr(find.discovery, "browse", lambda **_: (answers, ["3 announced names"]))
    assert find.by_mdns(None, None, console) == [Spark("spark-1", ["192.0.2.1"], "in this network", 2222)]
    assert "3 announced names" in console.file.getvalue()
    assert "called spark-2" in console.file.getvalue()
    assert [spark.name for spark in find.by_mdns(["LAB"], None, console)] == ["lab"]

    def refuse(**_: Any) -> None:
        raise find.discovery.UnreachableError("no network.", "Connect.")

    monkeypatch.setattr(find.discovery, "browse", refuse)
    with pytest.raises(Refusal, match="no network") as refused:
        find.by_mdns(None, None, console)
    assert refused.value.code == Exit.NO_SPARK and "--host" in refused.value.remedy


def test_invalid_names_in_an_ssh_configuration_are_ignored() -> None:
    assert find.sync_aliases("Host spark;id spark$x a/b spark-1 %h\n") == ["spark-1"]


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_licences_are_accepted_only_by_yes(answer: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(questions, "has_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: answer)
    arguments = argparse.Namespace(host=["spark-1"], user="ada", accept_nvidia_license=False, method="wheels")
    arguments.no_password = arguments.dry_run = True
    sparks = [Spark("spark-1", ["192.0.2.1"], "in this network", key=KEY, known=True)]
    if answer == "y":
        assert questions.ask(arguments, Console(file=io.StringIO()), sparks).user == "ada"
        return
    with pytest.raises(Refusal, match="nothing was written") as refused:
        questions.ask(arguments, Console(file=io.StringIO()), sparks)
    assert refused.value.code == Exit.DECLINED and list(home.iterdir()) == []


def test_an_interrupted_connection_test_is_not_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = questions.Answers([], "ada", "wheels", "")
    arguments = argparse.Namespace(verbose=False)
    trial = play.Play("connect", "x")
    for code, error in ((play.CANCELLED, KeyboardInterrupt), (play.UNREACHABLE, Refusal), (2, Refusal)):
        monkeypatch.setattr(play, "run", lambda *_, code=code, **__: play.Outcome(code))
        try:
            commands.connect(arguments, Console(file=io.StringIO()), trial, answers)
        except BaseException as raised:
            assert type(raised) is error
        else:
            raise AssertionError("it was taken for a success")


def test_files_are_private_despite_the_umask_and_a_tokens_lasts_as_long_as_the_run(
    open_umask: None, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "settings" / "hosts.yml"
    inventory.write(path, "all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    seen: list[Any] = []

    def run(planned: play.Play, *_: Any) -> play.Outcome:
        (token,) = Path(os.environ["TMPDIR"]).glob("sparkforge-*/token")
        assert f"serving_model_token_file: {token}" in planned.line and "hf_s3cret" not in planned.line
        seen.extend([token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777, token.read_text()])
        return play.Outcome()

    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(home.parent))
    monkeypatch.setattr(play, "run", run)
    monkeypatch.setattr(questions, "ask_password", lambda *_: "hf_s3cret")
    assert cli.main(["model", "get", "a/b", "--ask-token", "-i", str(path), "--no-password"]) == Exit.DONE
    assert seen == [0o600, 0o700, "hf_s3cret"] and not list(home.parent.glob("sparkforge-*"))
    assert "hf_s3cret" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", ["/srv/models/a", "a/b", "./a/b/c"])
def test_a_model_is_named_by_the_hubs_name_or_a_path(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home.parent / "hosts.yml"
    path.write_text("all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    assert cli.main(["model", "get", name, "-i", str(path), "--dry-run"]) == Exit.DONE
    assert capsys.readouterr().out


def test_output_of_a_failing_program_is_returned() -> None:
    assert find.output_of("sh", "-c", "echo yes; echo no >&2; exit 3") == "yes\n"


def test_names_and_addresses_are_no_options_of_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: list[tuple[str, ...]] = []

    def printed(*command: str) -> str:
        commands.append(command)
        return ""

    monkeypatch.setattr(find, "output_of", printed)
    monkeypatch.setattr(find, "sync_aliases", lambda _text: ["-oProxyCommand=x"])
    (tmp_path / "config").touch()
    assert find.by_sync(tmp_path / "config") == [] and find.host_keys("-oProxyCommand=x", 22) == []
    assert [command[-2:] for command in commands] == [("--", "-oProxyCommand=x")] * 2
