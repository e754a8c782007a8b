"""The sparkforge commands, the command lines that they run, and the output that users see."""

import argparse
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import tomllib
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from rich.console import Console
from sparkforge import INTERRUPTED, Exit, Refusal, cli, commands, module, play, questions, record

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.yml"
    path.write_text("all: {children: {sparks: {hosts: {spark-1: {}, spark-2: {}, other: {}}}}}\n")
    return path


def dry(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the ansible-playbook command that --dry-run prints, without its environment variables."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    assert cli.main([*arguments[:end], "--dry-run", *arguments[end:]]) == Exit.DONE
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("+ ANSIBLE_CONFIG=")]
    return line[line.index("ansible-playbook") :]


def variables(line: str) -> dict[str, Any]:
    """Return the variables in a printed command, none of which may be a template."""
    arguments = shlex.split(line)
    (own,) = [value for name, value in itertools.pairwise(arguments) if name == "-e" and value.startswith("{")]
    loaded = DataLoader().load(trust_as_template(own))
    assert loaded == Templar(DataLoader(), variables=loaded).template(loaded)
    return dict(loaded)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["status"], "sparkforge.dgx_spark.status"),
        (["prove", "-l", "spark-1"], "sparkforge.dgx_spark.site --tags verify -l spark-1"),
        (["build", "--check"], "sparkforge.dgx_spark.build --check --diff"),
        (["rollback", "-v"], "sparkforge.dgx_spark.rollback -v"),
        (["uninstall", "-l", "spark-1"], "sparkforge.dgx_spark.uninstall -l spark-1"),
        (["build", "--", "-e", "a b"], "sparkforge.dgx_spark.build -e 'a b'"),
    ],
)
def test_a_command_runs_ansible_playbook(arguments, expected, inventory: Path, capsys):
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    command = [*arguments[:cut], "-i", str(inventory), *arguments[cut:]]
    assert dry(capsys, *command) == f"ansible-playbook -i {inventory} {expected} --ask-pass --ask-become-pass"
    command.insert(1, "--no-password")
    assert dry(capsys, *command) == f"ansible-playbook -i {inventory} {expected}"


@pytest.mark.parametrize("extra", [[], ["--check"]])
def test_dry_run_recommends_check_unless_it_is_there(extra, inventory: Path, capsys):
    assert cli.main(["build", "-i", str(inventory), "--dry-run", *extra]) == Exit.DONE
    assert ("what would change" in capsys.readouterr().out) == (extra == [])


def test_inspect_needs_no_inventory_and_no_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys):
    monkeypatch.setenv("SPARKFORGE_INVENTORY", str(tmp_path / "none.yml"))
    line = dry(capsys, "inspect", "xformers==0.1 ; id")
    assert line.startswith("ansible-playbook -i localhost, sparkforge.dgx_spark.inspect -c local -e ")
    assert line.endswith("-e '{inspect_target: xformers==0.1 ; id}'")


def test_forecast_runs_its_playbook(inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = dry(capsys, "forecast", "spark-1", "spark-2", "--json", "-i", str(inventory), "--no-password")
    assert line.startswith(f"ansible-playbook -i {inventory} sparkforge.dgx_spark.forecast -e ")
    assert variables(line) == {"forecast_format": "json"} and line.endswith("-l spark-1,spark-2")
    line = dry(capsys, "forecast", "--file", str(tmp_path / "out.txt"), "-i", str(inventory))
    assert variables(line) == {"forecast_file": str(tmp_path / "out.txt")}
    assert line.endswith(" --ask-pass"), "a forecast needs no root"
    line = dry(capsys, "forecast", "-i", str(inventory), "--accept", "a", "--accept", "b", "--ledger", "/l/{{ x }}")
    assert variables(line) == {"forecast_accept": ["a", "b"], "forecast_ledger": "/l/{{ x }}"}
    record = tmp_path / "record.json"
    record.touch()
    line = dry(capsys, "forecast", "--record", str(record))
    assert line.startswith("ansible-playbook -i localhost, ") and "--ask-pass" not in line
    assert variables(line) == {"forecast_records": [str(record)]}


def test_record_runs_the_archive_on_the_hosts(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = dry(capsys, "record", "-i", str(inventory), "--no-password", "-l", "spark-1", "--prove", "--python", "/o p")
    assert line.startswith(f"ansible-playbook -i {inventory} sparkforge.dgx_spark.record -e ")
    extra = variables(line)
    assert extra["record_options"] == ["--python", "/o p", "--prove"] and line.endswith("-l spark-1")
    assert extra["record_archive"].endswith("/sparkforge-record.pyz") and not Path(extra["record_archive"]).exists()


def test_record_without_a_file_of_the_collection_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = module("plugins.plugin_utils.programs")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(programs, "HOME", tmp_path)
    with pytest.raises(Refusal, match=r"profiles\.yml is missing"):
        record.build(tmp_path / record.NAME)


def test_record_without_an_inventory_records_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("SPARKFORGE_INVENTORY", str(tmp_path / "none.yml"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert cli.main(["record", "--dry-run"]) == Exit.DONE
    assert "sparkforge-record.pyz\nNothing was run" in capsys.readouterr().out
    calls: list[Any] = []
    recorder = "ansible_collections/sparkforge/dgx_spark/plugins/module_utils/_record"
    members = {"__main__.py", f"{recorder}/packages.json", "sparkforge_proof/profiles.json"}

    def run(arguments: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        with zipfile.ZipFile(arguments[1]) as archive:
            calls.extend([arguments[2:], members <= set(archive.namelist())])
        return subprocess.CompletedProcess(arguments, 2)

    monkeypatch.setattr(subprocess, "run", run)
    assert cli.main(["record", "--prove"]) == Exit.USAGE and calls == [["--prove"], True]


def test_record_queries_the_packages_of_the_roles() -> None:
    packages = record.packages(yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text()))
    assert {"build-essential", "python3.12-venv", "python3.12-dev"} == set(packages["wheels"])
    nccl = "libnccl2=2.30.*+cuda13.*>=2.30.7|libnccl2=*+cuda13.*>=2.30.7"
    assert {"clang-20", "cuda-nvcc-13-0", nccl, *packages["wheels"]} <= set(packages["build"])


HOSTILE = "a/b{{ lookup('pipe','touch pwned') }}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["model", "get", HOSTILE], {"serving_model": HOSTILE}),
        (["model", "remove", "a/b"], {"serving_model": "a/b", "serving_model_state": "absent"}),
        (
            ["serve", "--model", "/m", "--stack", "{% x %}"],
            {"serving_model": "/m", "stack_name": "{% x %}", "serving_port": 8000},
        ),
        (
            ["serve", "--model", "/m", "--stack", "s", "--listen", "::", "--key-file", __file__, "--port", "1"],
            {
                "serving_model": "/m", "stack_name": "s", "serving_host": "::",
                "serving_api_key_file": __file__, "serving_port": 1,
            },
        ),
    ],
)  # fmt: skip
def test_arguments_of_model_and_serve_are_no_templates(arguments, expected, inventory: Path, capsys):
    line = dry(capsys, *arguments, "-i", str(inventory), "--no-password", "--", "-l", "spark-1")
    assert line.endswith(" -l spark-1")
    assert variables(line) == expected


def test_serve_uses_the_newest_vllm_stack_by_default(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [path.stem for path in (CHECKOUT / "roles/stack/vars").glob("vllm-*.yml")]
    newest = max(names, key=lambda name: [int(part) for part in name.partition("-")[2].split(".")])
    assert f"stack_name: {newest}," in dry(capsys, "serve", "--model", "a/b", "-i", str(inventory))


def test_the_playbook_of_every_command_exists() -> None:
    playbooks = [entry["playbook"] for entry in cli.COMMANDS.values() if "playbook" in entry]
    assert len(playbooks) > 8
    for playbook in playbooks:
        assert (CHECKOUT / "playbooks" / f"{playbook}.yml").is_file()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_of_a_command_has_an_example_that_parses_and_its_exit_codes(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    text = capsys.readouterr().out
    example = re.search(r"example: *\n? *(?:eval \"\$\()?sparkforge (.*?)(?:\)\"|;|\n)", text)
    assert ended.value.code == 0 and example and "exit" in text
    more = cli.COMMANDS[name].get("more_examples", [])
    for arguments in map(shlex.split, [example[1], *(line.removeprefix("sparkforge ") for line in more)]):
        assert arguments[0] == name
        cli.make_parser().parse_args(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    assert all(line in text for line in more)
    assert re.search(r"\b0\s+(with --dry-run: it fits|done|the failure)", text) and re.search(r"\b2\s+\w", text)


def test_version_is_that_of_the_collection(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    version = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["version"]
    assert (ended.value.code, capsys.readouterr().out) == (0, f"sparkforge {version}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["setup", "--host", "203.0.113.9", "--user", "ada", "--accept-nvidia-license", "--method", "wheels"],
        ["top"],
        *([*example.split()[1:]] for example in (entry["example"] for entry in cli.COMMANDS.values())
          if example.split()[1] not in ("setup", "top", "run", "explain", "completion") and "$(" not in example),
    ],
    ids=" ".join,
)  # fmt: skip
def test_dry_run_needs_no_spark_runs_nothing_and_writes_nothing(arguments, monkeypatch, tmp_path, capsys):
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("something was run")

    hosts = "all: {children: {sparks: {hosts: {spark-ab12: {ansible_host: 203.0.113.9}}}}}\n"
    (tmp_path / "hosts.yml").write_text(hosts)
    monkeypatch.setenv("SPARKFORGE_INVENTORY", str(tmp_path / "hosts.yml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("run", "Popen"):
        monkeypatch.setattr(subprocess, name, refuse)
    monkeypatch.setattr(play, "run", refuse)
    assert cli.main([*arguments, "--dry-run"]) == Exit.DONE
    text = capsys.readouterr().out
    assert "\n+ " in f"\n{text}" and "Nothing was run" in text
    assert [path.name for path in tmp_path.iterdir()] == ["hosts.yml"]
    assert (tmp_path / "hosts.yml").read_text() == hosts


DENIED = ("unreachable", {"msg": "Failed to connect to the host via ssh: ada@a: Permission denied (publickey)."})
NO_SUDO = ("failed", {"msg": "Task failed: Incorrect sudo password"})
OTHERS = [
    ("unreachable", {"msg": "mkdir: /tmp: Permission denied"}),
    ("failed", {"msg": "git: Permission denied (x)."}),
]


@pytest.mark.parametrize(
    ("code", "failures", "expected"),
    [(0, [], Exit.DONE), (2, [], Exit.FAILED), (4, [], Exit.NO_SSH), (250, [], Exit.FAILED),
     (play.CANCELLED, [], INTERRUPTED), (4, [DENIED], Exit.REFUSED), (2, [DENIED, NO_SUDO], Exit.REFUSED),
     (0, [NO_SUDO], Exit.REFUSED), (4, OTHERS[:1], Exit.NO_SSH), (2, [*OTHERS, DENIED], Exit.FAILED)],
)  # fmt: skip
def test_the_exit_status_follows_from_the_plays_outcome(code, failures, expected, inventory, monkeypatch):
    def run_command(*_: Any, event_handler: Any, **__: Any) -> tuple[str, str, int]:
        for number, (event, result) in enumerate(failures):
            event_handler({"event": f"runner_on_{event}", "event_data": {"host": str(number), "res": result}})
        return "", "", code

    monkeypatch.setattr(play.ansible_runner, "run_command", run_command)
    assert cli.main(["status", "-i", str(inventory), "--no-password"]) == expected


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


def test_completion_prints_shell_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bash"]) == Exit.DONE
    assert "complete" in capsys.readouterr().out


def events() -> list[dict[str, Any]]:
    task = {"event": "playbook_on_task_start", "stdout": "TASK [Build] ***", "event_data": {"name": "Build"}}
    debug = {"task_action": "ansible.builtin.debug", "host": "spark-1", "res": {"msg": ["[bold]read", "me[/bold]"]}}
    refused = {"host": "spark-1", "res": {"msg": "Task failed: No GPU. Mount one.", "cause": "No GPU.", "stderr": "no"}}
    program = {"host": "spark-1", "res": {"msg": "non-zero return code", "stderr": "its own error"}}
    return [
        {"event": "verbose", "stdout": "SSH password: "},
        {"event": "verbose", "stdout": "BECOME password[defaults to SSH password]: "},
        task,
        {"event": "verbose", "stdout": "spark-1 | pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed"},
        {"event": "runner_on_ok", "stdout": "ok: [spark-1]", "event_data": {"task_action": "ansible.builtin.ping"}},
        {"event": "runner_on_ok", "stdout": "ok: [spark-1] => msg: [[bold]read, me[/bold]]", "event_data": debug},
        {"event": "error", "stdout": "[ERROR]: Task failed: No GPU. Origin: main.yml:36"},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]: FAILED! => cause …", "event_data": refused},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]: FAILED! => its own error", "event_data": program},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]", "event_data": {**refused, "ignore_errors": True}},
        {
            "event": "playbook_on_stats",
            "stdout": "PLAY RECAP ****\nspark-1    : \x1b[32mok=4   \x1b[0m changed=0    failed=1",
        },
    ]


def output(terminal: bool, verbose: bool = False) -> str:
    """Return the output for these events."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=40, markup=False, highlight=False)
    with play.Screen(console, verbose) as screen:
        for event in events():
            screen.show(event)
        if terminal:
            assert screen.progress.tasks[1].percentage == pytest.approx(67.9, abs=0.1)
            assert screen.progress.tasks[0].description == "1 Build"
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_file_gets_ansibles_output_without_bars_and_prompts() -> None:
    lines = output(terminal=False).splitlines()
    assert lines == [*"\n".join(event["stdout"] for event in events()[2:-1]).splitlines(), "PLAY RECAP ****", lines[-1]]
    assert lines[-1] == "spark-1    : ok=4    changed=0    failed=1"


def test_a_terminal_gets_bars_messages_and_errors() -> None:
    text = output(terminal=True)
    lines = [line for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)) if "━" not in line]
    assert [line for line in lines if line] == [
        "spark-1:", "[bold]read", "me[/bold]", "spark-1: No GPU. Mount one.",
        "fatal: [spark-1]: FAILED! => its own error", "PLAY RECAP ", "spark-1 : ok=4 changed=0 failed=1",
    ]  # fmt: skip
    assert "TASK [Build]" in output(terminal=True, verbose=True)


def test_explain_names_the_failure_in_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("all is well\nx.o: No space left on device\n")
    assert cli.main(["explain", str(tmp_path / "log")]) == 0
    assert "log, line 2: " in capsys.readouterr().out
    assert cli.main(["explain", str(tmp_path / "none")]) == 2
    assert "none cannot be read: No such file" in capsys.readouterr().err


def test_a_failed_task_without_a_cause_is_explained() -> None:
    console = Console(file=io.StringIO(), width=300, markup=False, highlight=False)
    data = {"host": "spark-1", "res": {"msg": "non-zero return code", "stderr": "x.o: No space left on device"}}
    with play.Screen(console, verbose=False) as screen:
        screen.show({"event": "runner_on_failed", "stdout": "fatal: [spark-1]", "event_data": data})
    assert "A file system is full" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("action", "is_shown"), [("ansible.builtin.debug", True), ("a.b.debug_more", False)])
def test_a_terminal_shows_messages_of_debug_tasks(action: str, is_shown: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, markup=False, highlight=False)
    data = {"task_action": action, "host": "spark-1", "res": {"msg": "text"}}
    with play.Screen(console, verbose=False) as screen:
        screen.show({"event": "runner_on_ok", "stdout": "ok: [spark-1] => msg: text", "event_data": data})
    assert ("text" in console.file.getvalue()) == is_shown  # type: ignore[attr-defined]


def test_a_second_password_prompt_shows_the_errors_of_ssh_and_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password may be right, and the cause something else, such as a path for ssh's socket that is too long."""
    console = Console(file=io.StringIO(), width=200)
    answers = questions.Answers([], "ada", "wheels", "secret")
    ssh = {"spark-1": "Permission denied (publickey,password).", "spark-2": "path is too long for a socket"}
    outcomes = [play.Outcome(play.UNREACHABLE, ssh), play.Outcome(2, {"spark-1": "Incorrect sudo password"})] * 2
    monkeypatch.setattr(play, "run", lambda *_, **__: outcomes.pop(0))
    monkeypatch.setattr(questions, "ask_password", lambda _: "other")
    with pytest.raises(Refusal) as refused:
        commands.connect(argparse.Namespace(verbose=False), console, play.Play("connect", "x"), answers)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "over ssh.\n  spark-1: Permission denied (publickey,password).\n  spark-2: path is" in text
    assert "ada could not become root.\n  spark-1: Incorrect sudo password\n" in text
    assert "nothing was written.\n  spark-1: Permission" in refused.value.cause
    assert refused.value.code == Exit.REFUSED


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ('Task failed: Data could not be sent to "a". Make sure this host can be reached over ssh: No way', "No way"),
        ("Task failed: Failed to connect to the host via ssh: ada@a: Permission denied.", "ada@a: Permission denied."),
        ("Task failed: Incorrect sudo password", "Incorrect sudo password"),
        (["one: a.", "two: b."], "one: a.\ntwo: b."),
    ],
)
def test_ansibles_prefixes_are_removed_from_a_message(message: str | list[str], text: str) -> None:
    assert play.failure_message({"res": {"msg": message}}) == text


def test_the_command_is_under_1500_lines() -> None:
    files = list((CHECKOUT / "cli").rglob("*.py"))
    assert files
    assert sum(len(path.read_text().splitlines()) for path in files) < 1500


def test_dependencies_of_the_package_match_requirements() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    lines = (CHECKOUT / "requirements.txt").read_text().splitlines()
    assert {line.replace("'", '"') for line in project["dependencies"]} == {line for line in lines if line[0] != "#"}


def test_wheels_and_source_are_the_default_stack_of_the_collection() -> None:
    role = yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text())
    text, offered = questions.methods()
    assert text.startswith(f"PyTorch {role['stack_default'].removeprefix('torch-')} as official wheels (minutes)")
    assert offered["wheels"] == {"stack_method": "wheel"}
    assert offered["source"] == {"stack_method": role["stack_method"]}


@pytest.mark.parametrize(
    ("name", "wheel", "offer"),
    [
        ("torch-2.9.0", {"available": True}, ""),
        ("torch-2.11.0", {"available": False}, ""),
        ("torch-2.11.0", {"available": True}, "wheels only."),
        (
            "torch-2.11.0",
            {"available": True, "without": {"torchaudio": "it is older", "torchvision": "it is missing"}},
            "wheels only, without torchaudio and torchvision.",
        ),
    ],
)
def test_newer_wheels_are_offered_if_the_collection_has_them(name, wheel, offer, tmp_path, monkeypatch):
    role = tmp_path / "ansible_collections/sparkforge/dgx_spark/roles/stack"
    for path, content in {
        "defaults/main.yml": {"stack_default": "torch-2.9.1"},
        "vars/torch-2.9.1.yml": {"stack_definition": {"wheel": {"available": True}}},
        f"vars/{name}.yml": {"stack_definition": {"wheel": wheel}},
    }.items():
        (role / path).parent.mkdir(parents=True, exist_ok=True)
        (role / path).write_text(yaml.safe_dump(content))
    monkeypatch.setattr("sparkforge.collections_path", lambda: tmp_path)
    text, offered = questions.methods()
    assert text.endswith(offer or "?") and ("2.11.0" in text) == bool(offer)
    assert ("newest" in offered) == bool(offer)
    assert offered.get("newest", {"stack_name": name})["stack_name"] == name

    arguments = argparse.Namespace(host=["spark-1"], user="ada", accept_nvidia_license=True, method="newest")
    arguments.no_password = arguments.dry_run = True
    if offer:
        assert questions.ask(arguments, Console(file=io.StringIO()), []).method == "newest"
    else:
        with pytest.raises(Refusal, match="No shipped stack") as refused:
            questions.ask(arguments, Console(file=io.StringIO()), [])
        assert refused.value.code == Exit.USAGE


def test_help_names_the_repository_once_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkforge.collection", lambda: tmp_path)
    galaxy = tmp_path / "galaxy.yml"
    for line, url in (("repository: https://forge.example/x", "https://forge.example/x"), ('repository: ""', "")):
        galaxy.write_text(f"name: dgx_spark\n# repository: none\n{line}\nbuild_ignore: []\n")
        text = cli.make_parser().format_help()
        assert (f"Documentation and questions: {url}." if url else "") in text
        assert ("Documentation and questions:" in text) == bool(url)


def test_in_wsl_the_remedy_names_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.find, "by_mdns", lambda *_: [])
    monkeypatch.setattr(commands.find, "by_sync", list)
    arguments = cli.make_parser().parse_args(["setup"])
    for release, option in (("6.6.87-microsoft-standard-WSL2", "--host ADDRESS"), ("6.8.0-31-generic", "--host NAME")):
        monkeypatch.setattr(commands.platform, "release", lambda release=release: release)
        with pytest.raises(Refusal) as refused:
            commands.candidates(arguments, Console(file=io.StringIO()), Path("known_hosts"))
        assert refused.value.code == Exit.NO_SPARK and option in refused.value.remedy
