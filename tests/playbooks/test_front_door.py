"""The command sparkforge at a terminal: its questions, and that it leaves nothing half-written."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pexpect
import pytest
import yaml
from rich.console import Console
from sparkforge import INTERRUPTED, Exit, play

from tests.playbooks import mdns

CHECKOUT = Path(__file__).parents[2]
#: Other workers may announce machines at the same time.
MINE = f"d{os.getpid()}"
SPARK = f"{MINE}-ab12"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRnt4vLtUNZ7dEuiqoOqMY6+AZ3XUJVbPf5ANL5aOQl"
#: The five questions, each with an answer.
QUESTIONS = [("1 of 5", "all"), ("2 of 5", "ada"), ("3 of 5", "y"), ("4 of 5", "wheels"), ("5 of 5", "secret-4711")]
#: A wheel file name that would run a command if it were evaluated.
NAMED = "{{lookup('pipe','touch pwned')}}-1.0-py3-none-any.whl"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Person:
    """A user at a terminal, with a separate home and one Spark on the network."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.inventory = self.home / "settings" / "hosts.yml"
        self.search = ["--interfaces", mdns.HERE, "--names", f"{MINE}-*"]
        self.said = ""

    def sshd_answers(self, keys: dict[str, str]) -> None:
        """Put a stand-in for ssh-keyscan on PATH that knows the key of each address."""
        cases = "".join(f"*' {address}') echo '{address} {key}';;\n" for address, key in keys.items())
        tool = self.tools / "ssh-keyscan"
        tool.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}esac\n')
        tool.chmod(0o755)

    def starts(self, *arguments: str, columns: int = 100, command: str = "setup") -> "pexpect.spawn[str]":
        # COLUMNS and LINES would override the terminal's real size: readline, which pytest imports, sets them for all
        # programs that it starts, including pytest-xdist's workers.
        without = ("ANSIBLE", "COLUMNS", "LINES")
        env = {name: value for name, value in os.environ.items() if not name.startswith(without)}
        env |= {"HOME": str(self.home), "PATH": f"{self.tools}:{env['PATH']}", "PYTHONPATH": str(CHECKOUT / "cli")}
        env |= {"TERM": "xterm", "SPARKFORGE_INVENTORY": str(self.inventory)}
        search = self.search if command == "setup" else []
        command_line = ["-m", "sparkforge.cli", command, *search, *arguments]
        started = pexpect.spawn(
            sys.executable,
            command_line,
            env=env,
            cwd=self.home,
            encoding="utf-8",
            dimensions=(24, columns),
            timeout=600,
            # Handle Ctrl-C as shells do for typed commands; programs in the background, as this may be, ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.logfile_read = io.StringIO()
        return started

    def ends(self, started: "pexpect.spawn[str]") -> int:
        """Wait for the program to exit, keep its output, and return the exit status."""
        started.expect(pexpect.EOF)
        started.close()
        self.said = ANSI.sub("", started.logfile_read.getvalue())
        assert "Traceback" not in self.said
        return int(started.exitstatus)

    def run(self, *arguments: str, columns: int = 100) -> int:
        return self.ends(self.starts(*arguments, columns=columns))

    def wrote_nothing(self) -> bool:
        """Tell whether nothing was written to the home, apart from Ansible's own files."""
        return [path for path in self.home.rglob("*") if ".ansible" not in path.parts] == []


@pytest.fixture
def person(open_path: Path) -> Person:
    # tmp_path is too long in a pytest-xdist worker: the path of ssh's socket in the home may have at most 107 bytes.
    return Person(open_path)


@pytest.fixture
def spark(person: Person) -> Iterator[Person]:
    """A user whose Spark answers mDNS and ssh."""
    person.sshd_answers({mdns.HERE: KEY})
    with mdns.announced(SPARK):
        yield person


def answer(started: "pexpect.spawn[str]", questions: Sequence[tuple[str, str]]) -> None:
    for question, reply in questions:
        started.expect(question)
        started.expect(r":\s*$")
        started.sendline(reply)


@pytest.mark.parametrize("at", [0, 4])
def test_ctrl_c_at_a_question_writes_nothing(at: int, spark: Person) -> None:
    started = spark.starts("--host", mdns.HERE) if at else spark.starts()
    answer(started, QUESTIONS[min(at, 1) : at])
    started.expect(QUESTIONS[at][0])
    started.expect(r":\s*$")
    started.sendintr()
    assert spark.ends(started) == INTERRUPTED
    assert "interrupted; nothing was written" in spark.said
    assert spark.wrote_nothing()


def test_a_dry_run_on_40_columns_shows_all_and_writes_nothing(spark: Person) -> None:
    started = spark.starts("--dry-run", columns=40)
    answer(started, [("1 of 5", "7"), ("1 of 5", SPARK), *QUESTIONS[1:4]])
    assert spark.ends(started) == Exit.DONE
    assert "or without ssh: 7." in " ".join(spark.said.split())
    assert "…" not in spark.said
    # Sentences are wrapped between words; text that may be copied, a fingerprint or a path, is wrapped by the terminal.
    copied = (str(spark.inventory), "SHA256:")
    for line in spark.said.replace("\r", "\n").partition("would be:")[0].split("\n"):
        # Answers are typed after a question, and the terminal wraps them.
        asked = re.match(r"\d of 5: [^:]*:", line)
        assert len(asked[0] if asked else line) <= 41 or any(word in line for word in copied), line
    assert "5 of 5" not in spark.said
    written = yaml.safe_load(spark.said.replace("\r", "").partition("would be:\n")[2].partition("\n+ ")[0])
    sparks = written["all"]["children"]["sparks"]
    assert sparks["hosts"] == {SPARK: {"ansible_host": "127.0.0.1"}}
    assert sparks["vars"]["ansible_user"] == "ada"
    line = next(line for line in spark.said.splitlines() if line.startswith("+ "))
    assert line.strip().endswith(f"sparkforge.dgx_spark.site -l {SPARK} --ask-pass --ask-become-pass")
    assert "Nothing was run" in " ".join(spark.said.split())
    assert spark.wrote_nothing()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing-of-that-name", "could not resolve nothing-of-that-name"),
        (NAMED, f'"{NAMED}" is not'),
        ("thing-1.0-py3-none-any.whl", "thing-1.0-py3-none-any.whl cannot be"),
    ],
)
def test_uninspectable_target_is_reported_once(target: str, message: str, person: Person) -> None:
    for name in (NAMED, "thing-1.0-py3-none-any.whl"):
        (person.home / name).write_text("no archive")
    settings = json.dumps({"inspect_index_url": "none", "inspect_find_links": [str(person.tools)]})
    started = person.starts(target, "--", "-e", settings, command="inspect", columns=40)
    assert person.ends(started) == Exit.FAILED
    output = " ".join(person.said.split())
    assert output.count(message) == 1, output
    assert "FAILED!" not in output
    # The untrusted name of the inspected file was not evaluated.
    assert not list(person.home.glob("pwned*")) and not list((CHECKOUT / "playbooks").glob("pwned*"))


def test_without_a_terminal_options_replace_the_questions(spark: Person) -> None:
    program = [sys.executable, "-m", "sparkforge.cli"]
    arguments = [*program, "setup", "--host", mdns.HERE, "--dry-run", "-i", spark.inventory]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT / "cli"), "PATH": f"{spark.tools}:{os.environ['PATH']}"}
    env["HOME"] = str(spark.home)
    options = ["--user", "ada", "--accept-nvidia-license", "--method", "source"]
    refused = subprocess.run(arguments, env=env, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert refused.returncode == Exit.USAGE
    assert "need a terminal" in refused.stderr
    result = subprocess.run([*arguments, *options], env=env, check=False, capture_output=True, text=True)
    assert result.returncode == Exit.DONE, result.stderr
    assert "stack_method: build" in result.stdout
    assert spark.wrote_nothing()


def test_a_refused_login_is_reported_in_the_words_of_ssh(tmp_path: Path) -> None:
    """Let ssh end before it reads its input; with a module to send, Ansible then reported a broken pipe alone."""
    refusal = "ada@spark-ab12: Permission denied (publickey,password)."
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nexec <&-\nsleep 0.5\necho '{refusal}' >&2\nexit 255\n")
    ssh.chmod(0o755)
    hosts = tmp_path / "hosts.yml"
    variables = f"{{ansible_ssh_executable: '{ssh}', ansible_python_interpreter: /usr/bin/python3}}"
    hosts.write_text(f"all: {{hosts: {{spark-ab12: {variables}}}}}\n")
    console = Console(file=io.StringIO(), width=200, markup=False, highlight=False)
    outcome = play.run(play.Play("connect", hosts), "", console)
    assert refusal in outcome.unable["spark-ab12"]
    assert outcome.rejected == {"spark-ab12"}


def test_the_password_is_in_no_file_and_no_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep ansible-runner's input and output in this test's directory, and search them."""
    secret = "secret-4711-" + str(os.getpid())
    kept = tmp_path / "kept"
    kept.mkdir()

    class Kept:
        def __init__(self, **_: object) -> None: ...

        def __enter__(self) -> str:
            return str(kept)

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(play.tempfile, "TemporaryDirectory", Kept)
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("all: {hosts: {here: {ansible_connection: local, ansible_become_method: ansible.builtin.su}}}\n")
    console = Console(file=io.StringIO(), width=200, markup=False, highlight=False)
    seen: list[str] = []
    shown = play.Screen.show

    def show(screen: play.Screen, event: dict[str, object]) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.append(path.read_text())
            except OSError:
                continue
        shown(screen, event)

    monkeypatch.setattr(play.Screen, "show", show)
    outcome = play.run(play.Play("connect", hosts), secret, console)
    assert outcome.code in (0, 2), console.file.getvalue()  # type: ignore[attr-defined]
    written = [path for path in kept.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if secret in path.read_text(errors="replace")]
    assert seen
    assert not [line for line in seen if secret in line]
    assert secret not in console.file.getvalue()  # type: ignore[attr-defined]
    assert "--ask-become-pass" in console.file.getvalue()  # type: ignore[attr-defined]
