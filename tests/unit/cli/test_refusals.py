"""What the command line refuses: a cause and a remedy, a line each, a status that says which, and nothing written."""

import argparse
import io
import os
import re
import subprocess
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
    """A person's home, in which nothing may be written."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / ".config"))
    monkeypatch.delenv("SPARKFORGE_INVENTORY", raising=False)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def open_umask() -> Iterator[None]:
    """An account whose files are everybody's to write unless their mode says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize(
    ("words", "status", "cause"),
    [
        (["status"], Exit.USAGE, "There is no inventory"),
        (["record", "-i", "none.yml"], Exit.USAGE, "There is no inventory none.yml"),
        (["record", "-i", "none.yml", "--prove"], Exit.USAGE, "There is no inventory none.yml"),
        (["status", "-i", "a,b.yml"], Exit.USAGE, "a,b.yml"),
        (["setup", "--host", "spark;id"], Exit.USAGE, "spark;id"),
        (["setup", "--host", "spark\nid"], Exit.USAGE, "id"),
        (["setup", "--host", "192.0.2.1", "--names", "a\x1bb"], Exit.USAGE, "has a control character"),
        (
            ["setup", "--host", "localhost", "--proxy", "proxy:3128"],
            Exit.USAGE,
            "sparkforge_proxies.http does not begin",
        ),
        (["setup", "--host", "localhost", "--proxy", "http://p/x"], Exit.USAGE, "has a path after host and port"),
        (["setup", "-i", "/dev/null/hosts.yml"], Exit.USAGE, "/dev/null/hosts.yml cannot be read: "),
        (["setup", "-i", "../list.yml"], Exit.USAGE, "list.yml is not an inventory with a group sparks"),
        (["setup", "-i", "../broken.yml"], Exit.USAGE, "broken.yml cannot be read: "),
        (["setup", "-i", "../bytes.yml"], Exit.USAGE, "bytes.yml cannot be read: "),
        (["run"], Exit.USAGE, "There is no command."),
        (["run", "--needs", "1M", "--", "/no/such/program"], Exit.USAGE, "/no/such/program cannot be started: No such"),
        (["run", "--needs", "9999T", "--", "true"], Exit.FAILED, ""),
        (["run", "--needs", "many", "--", "true"], Exit.USAGE, "many"),
        (["top", "--once", "-i", "../sparks.yml", "-l", "none"], Exit.USAGE, "sparks.yml has no host none."),
        (["top", "-i", "../list.yml"], Exit.USAGE, "is not an inventory with a group sparks"),
        (["serve", "-i", "../sparks.yml", "--model", "one"], Exit.USAGE, "'one' is neither the name of a model nor"),
        (["serve", "-i", "../sparks.yml", "--model", "a/b", "--key-file", "no"], Exit.USAGE, "There is no file no."),
        (["model", "get", "a/b/c", "-i", "../sparks.yml"], Exit.USAGE, "'a/b/c' is neither the name of a model nor"),
        (["model", "get", "a/b", "-i", "../sparks.yml", "--token-file", "no"], Exit.USAGE, "There is no file no."),
        (["model", "remove", "a/b"], Exit.USAGE, "There is no inventory"),
        (["serve", "-i", "../sparks.yml", "--model", "a/b", "--listen", "0.0.0.0"], Exit.USAGE, "for there is no key"),
        (
            ["forecast", "-i", "../sparks.yml", "spark-1", "-l", "spark-2"],
            Exit.USAGE,
            "Hosts are named twice: spark-1,",
        ),
        (["uninstall"], Exit.USAGE, "There is no inventory"),
        (["forecast", "--record", "no.json"], Exit.USAGE, "There is no file no.json."),
        *((name, Exit.USAGE, "There is no inventory") for name in (["prove"], ["build"], ["rollback"], ["forecast"])),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else None,
)
def test_a_refusal_is_a_cause_and_a_remedy_and_writes_nothing(
    words: list[str], status: Exit, cause: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.parent / "sparks.yml").write_text("all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    (home.parent / "list.yml").write_text("[1]\n")
    (home.parent / "broken.yml").write_text("a: [\n")
    (home.parent / "bytes.yml").write_bytes(b"\xff\xfe")
    assert cli.main(words) == status
    said, rest = capsys.readouterr().err.split("\n", 1)
    assert said.startswith("sparkforge: ") and cause in said
    assert rest.startswith("  ") and len(rest.strip().splitlines()) == 1
    assert list(home.iterdir()) == []


def test_a_refusal_of_several_lines_is_said_in_one_each(
    monkeypatch: pytest.MonkeyPatch, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any) -> int:
        raise Refusal(Exit.REFUSED, "ada could not log in.\n  spark-1: denied\n\x1b[2J", "Look\n there.")

    monkeypatch.setattr(commands, "setup", refuse)
    assert cli.main(["setup"]) == Exit.REFUSED
    assert capsys.readouterr().err.splitlines() == [
        "sparkforge: ada could not log in. spark-1: denied \ufffd[2J", "  Look there."
    ]  # fmt: skip


def test_the_table_of_exit_codes_and_the_help_have_each_of_them() -> None:
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


@pytest.mark.parametrize("words", [["-v"], ["nothing"], ["inspect"], ["setup", "--method", "x"], ["status", "--check"]])
def test_a_line_that_names_no_command_or_no_such_option_is_refused(
    words: list[str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2 and "usage: sparkforge" in capsys.readouterr().err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["setup", "--discover", "discover.yml"], "--discover is gone. Use --names and --interfaces"),
        (["audit", "spark-1"], "audit is gone. Run sparkforge prove, whose checks identity.files"),
        (["update", "--help"], "update is gone. Run sparkforge forecast"),
    ],
)
def test_what_is_gone_names_what_to_use_in_one_line(
    words: list[str], said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == Exit.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"sparkforge: {said}")


def candidates(monkeypatch: pytest.MonkeyPatch, sparks: list[Spark], *words: str) -> list[Spark]:
    """Return who can be chosen of machines that were found, those without a key being silent."""
    monkeypatch.setattr(find, "by_mdns", lambda *_: sparks)
    monkeypatch.setattr(find, "by_sync", list)
    monkeypatch.setattr(find, "by_name", lambda *_: sparks)
    monkeypatch.setattr(find, "reach", lambda *_: None)
    arguments = cli.make_parser().parse_args(["setup", *words])
    return commands.candidates(arguments, Console(file=io.StringIO()), Path("known_hosts"))


def test_one_that_is_silent_among_those_found_is_left_to_the_person_and_is_refused_where_it_was_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = Spark("spark-1", ["192.0.2.1"], "in this network", key=KEY)
    silent = Spark("spark-2", ["192.0.2.2"], "in this network")
    assert candidates(monkeypatch, [good]) == [good]
    assert candidates(monkeypatch, [good], "--host", "spark-1") == [good]
    assert candidates(monkeypatch, [good, silent]) == [good, silent]
    for sparks, words in (([silent], []), ([good, silent], ["--host", "spark-2"])):
        with pytest.raises(Refusal, match=r"No ssh server answers at spark-2 \(192.0.2.2, port 22\)") as refused:
            candidates(monkeypatch, sparks, *words)
        assert refused.value.code == Exit.NO_SSH and refused.value.remedy


def test_where_no_spark_is_found_an_address_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guest Wi-Fi without multicast: nobody answers the search, and the Spark is there."""
    monkeypatch.setattr(find, "by_mdns", lambda *_: [])
    monkeypatch.setattr(find, "by_sync", list)
    monkeypatch.setattr(find, "host_keys", lambda address, _port: [KEY] if address == "192.0.2.1" else [])
    monkeypatch.setattr(questions, "terminal", lambda: True)
    console, keys = Console(file=io.StringIO()), Path("known_hosts")
    monkeypatch.setattr("builtins.input", lambda *_: " 192.0.2.1 ")
    (named,) = commands.candidates(cli.make_parser().parse_args(["setup"]), console, keys)
    assert (named.addresses, named.key) == (["192.0.2.1"], KEY)
    said = " ".join(console.file.getvalue().split())
    assert "No Spark answered in this network" in said and "Guest Wi-Fi and VPNs let no search through" in said
    monkeypatch.setattr("builtins.input", lambda *_: "")
    with pytest.raises(Refusal) as refused:
        commands.candidates(cli.make_parser().parse_args(["setup"]), console, keys)
    assert refused.value.code == Exit.NO_SPARK
    (example,) = commands.candidates(cli.make_parser().parse_args(["setup", "--dry-run"]), console, keys)
    assert example.name == "spark-abcd" and "what it would do with spark-abcd" in console.file.getvalue()
    monkeypatch.setattr("builtins.input", lambda *_: "192.0.2.9")
    with pytest.raises(Refusal, match=r"No ssh server answers at 192.0.2.9") as refused:
        commands.candidates(cli.make_parser().parse_args(["setup"]), console, keys)
    assert refused.value.code == Exit.NO_SSH


def test_one_with_a_revoked_key_is_refused_by_its_cause_and_shown_so(monkeypatch: pytest.MonkeyPatch) -> None:
    revoked = Spark("spark-2", ["192.0.2.2"], "in this network", revoked="known_hosts says that its key is revoked")
    with pytest.raises(Refusal, match=r"spark-2 is refused: known_hosts says that its key is revoked") as refused:
        candidates(monkeypatch, [revoked])
    assert refused.value.code == Exit.NO_SSH and "ssh-keygen -A" in refused.value.remedy
    console = Console(file=io.StringIO())
    questions.show(console, [revoked])
    assert "refused: known_hosts says" in console.file.getvalue()


def test_a_search_that_fails_is_said_with_its_words_and_one_that_ends_well_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    assert "Two machines are called spark-2" in console.file.getvalue()
    assert [spark.name for spark in find.by_mdns(["LAB"], None, console)] == ["lab"]

    def refuse(**_: Any) -> None:
        raise find.discovery.UnreachableError("The search for Sparks in the network failed: no network.", "Connect.")

    monkeypatch.setattr(find.discovery, "browse", refuse)
    with pytest.raises(Refusal, match="The search for Sparks in the network failed: no network") as refused:
        find.by_mdns(None, None, console)
    assert refused.value.code == Exit.NO_SPARK and "--host" in refused.value.remedy


def test_no_name_of_an_ssh_configuration_ends_in_something_else() -> None:
    assert find.sync_aliases("Host spark;id spark$x a/b spark-1 %h\n") == ["spark-1"]


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_licences_are_accepted_by_a_yes_alone(answer: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(questions, "terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: answer)
    asked = argparse.Namespace(host=["spark-1"], user="ada", accept_nvidia_license=False, method="wheels")
    asked.no_password = asked.dry_run = True
    sparks = [Spark("spark-1", ["192.0.2.1"], "in this network", key=KEY, known=True)]
    if answer == "y":
        assert questions.ask(asked, Console(file=io.StringIO()), sparks).user == "ada"
        return
    with pytest.raises(Refusal, match="nothing was written") as refused:
        questions.ask(asked, Console(file=io.StringIO()), sparks)
    assert refused.value.code == Exit.DECLINED and list(home.iterdir()) == []


def test_an_interrupted_trial_is_no_refusal_and_another_failure_is(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_is_private_is_so_whatever_the_umask_is(
    open_umask: None, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "settings" / "hosts.yml"
    inventory.write(path, "all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    modes: list[int] = []

    def run(told: play.Play, *_: Any) -> play.Outcome:
        (token,) = Path(os.environ["TMPDIR"]).glob("sparkforge-*/token")
        modes.extend([token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777])
        return play.Outcome()

    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(home.parent))
    monkeypatch.setattr(play, "run", run)
    monkeypatch.setattr(questions, "ask_password", lambda *_: "hf_s3cret")
    assert cli.main(["model", "get", "a/b", "--ask-token", "-i", str(path), "--no-password"]) == Exit.DONE
    assert modes == [0o600, 0o700]


@pytest.mark.parametrize("name", ["/srv/models/a", "a/b", "./a/b/c", "~/x"])
def test_a_model_is_named_by_the_hub_s_name_or_a_path_of_any_depth(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home.parent / "hosts.yml"
    path.write_text("all: {children: {sparks: {hosts: {spark-1: {}}}}}\n")
    assert cli.main(["model", "get", name, "-i", str(path), "--dry-run"]) == Exit.DONE
    assert capsys.readouterr().out


def test_a_program_that_fails_is_no_failure_of_the_command() -> None:
    assert find.printed("sh", "-c", "echo yes; echo no >&2; exit 3") == "yes\n"


def test_no_name_or_address_is_an_option_of_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[tuple[str, ...]] = []

    def printed(*command: str) -> str:
        ran.append(command)
        return ""

    monkeypatch.setattr(find, "printed", printed)
    monkeypatch.setattr(find, "sync_aliases", lambda _text: ["-oProxyCommand=x"])
    (tmp_path / "config").touch()
    assert find.by_sync(tmp_path / "config") == [] and find.host_keys("-oProxyCommand=x", 22) == []
    assert [command[-2:] for command in ran] == [("--", "-oProxyCommand=x")] * 2


def test_the_password_of_a_run_is_in_no_file_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Really run, by ansible-runner, which writes what it is given into files unless it is told not to."""
    subprocess.run(["true"], check=True)
    secret, temporary = "s3cret-of-a-person", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(temporary))
    found: list[Path] = []
    seen: list[str] = []

    def show(_screen: Any, event: dict[str, Any]) -> None:
        seen.append(event["event"])
        files = [path for path in temporary.rglob("*") if path.is_file()]
        found.extend(path for path in files if secret.encode() in path.read_bytes())

    monkeypatch.setattr(play.Screen, "show", show)
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("all: {hosts: {here: {ansible_connection: local}}}\n")
    play.run(play.Play("connect", hosts), secret, Console(file=io.StringIO()))
    assert "playbook_on_start" in seen and found == []
    assert list(temporary.iterdir()) == []


def test_an_inventory_with_a_comma_is_no_list_of_hosts() -> None:
    with pytest.raises(Refusal, match="for a list of hosts"):
        play.Play("site", Path("/srv/a,b.yml"))
    assert play.Play("site", "spark-1,").words[2] == "spark-1,"


@pytest.mark.parametrize(("words", "taken"), [(["top", "--check"], False), (["setup", "--check"], True), ([], False)])
def test_only_what_changes_something_has_a_dry_run(words: list[str], taken: bool) -> None:
    if taken:
        assert cli.make_parser().parse_args(words).check
        return
    with pytest.raises(SystemExit):
        cli.make_parser().parse_args(words)
