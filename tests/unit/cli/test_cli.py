import argparse
import io
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
from sparkforge import INTERRUPTED, Exit, Refusal, cli, commands, module, play, published, questions, record

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
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("+ ANSIBLE_CONFIG=")]
    return line[line.index("ansible-playbook") :]


def variables(line: str) -> dict[str, Any]:
    """Return the variables that ansible-playbook takes from a printed line, and what it makes of them as templates."""
    words = shlex.split(line)
    given = DataLoader().load(trust_as_template(words[words.index("-e") + 1]))
    assert given == Templar(DataLoader(), variables=given).template(given)
    return dict(given)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["status"], "sparkforge.dgx_spark.status"),
        (["prove", "-l", "spark-1"], "sparkforge.dgx_spark.site --tags verify -l spark-1"),
        (["build", "--check"], "sparkforge.dgx_spark.build --check --diff"),
        (["rollback", "-v"], "sparkforge.dgx_spark.rollback -v"),
        (["uninstall", "-l", "spark-1"], "sparkforge.dgx_spark.uninstall -l spark-1"),
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
    assert line.startswith("ansible-playbook -i localhost, sparkforge.dgx_spark.inspect -c local -e ")
    assert line.endswith("-e '{inspect_target: xformers==0.1 ; id}'")


def test_a_forecast_is_a_line_of_its_playbook(
    inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = dry(capsys, "forecast", "spark-1", "spark-2", "--json", "-i", str(inventory), "--no-password")
    assert line.startswith(f"ansible-playbook -i {inventory} sparkforge.dgx_spark.forecast -e ")
    assert variables(line) == {"forecast_format": "json"} and line.endswith("-l spark-1,spark-2")
    line = dry(capsys, "forecast", "--file", str(tmp_path / "out.txt"), "-i", str(inventory))
    assert variables(line) == {"forecast_file": str(tmp_path / "out.txt")}
    assert line.endswith(" --ask-pass"), "a forecast needs no rights of root"
    line = dry(capsys, "forecast", "-i", str(inventory), "--accept", "a", "--accept", "b", "--ledger", "/l/{{ x }}")
    assert variables(line) == {"forecast_accept": ["a", "b"], "forecast_ledger": "/l/{{ x }}"}
    record = tmp_path / "record.json"
    record.touch()
    line = dry(capsys, "forecast", "--record", str(record))
    assert line.startswith("ansible-playbook -i localhost, ") and "--ask-pass" not in line
    assert variables(line) == {"forecast_records": [str(record)]}
    assert cli.main(["forecast", "--record", str(tmp_path / "none.json")]) == Exit.USAGE


def test_a_record_runs_the_archive_on_the_hosts(
    inventory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = dry(capsys, "record", "-i", str(inventory), "--no-password", "-l", "spark-1", "--prove", "--python", "/o p")
    assert line.startswith(f"ansible-playbook -i {inventory} sparkforge.dgx_spark.record -e ")
    extra = variables(line)
    assert extra["record_options"] == ["--python", "/o p", "--prove"] and line.endswith("-l spark-1")
    assert extra["record_archive"].endswith("/sparkforge-record.pyz") and not Path(extra["record_archive"]).exists()
    assert cli.main(["record", "-i", "none.yml"]) == Exit.USAGE


def test_a_record_that_lacks_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = module("plugins.plugin_utils.programs")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(programs, "HOME", tmp_path)
    with pytest.raises(Refusal, match=r"profiles\.yml is missing.*Install the collection again"):
        record.build(tmp_path / record.NAME)


def test_without_an_inventory_this_machine_is_recorded_without_ansible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARKFORGE_INVENTORY", str(tmp_path / "none.yml"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert cli.main(["record", "--dry-run"]) == Exit.DONE
    assert "sparkforge-record.pyz\nNothing was run or written." in capsys.readouterr().out
    ran: list[Any] = []
    recorder = "ansible_collections/sparkforge/dgx_spark/plugins/module_utils/_record"
    wanted = {"__main__.py", f"{recorder}/packages.json", "sparkforge_proof/profiles.json"}

    def run(words: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        with zipfile.ZipFile(words[1]) as archive:
            ran.extend([words[2:], wanted <= set(archive.namelist())])
        return subprocess.CompletedProcess(words, 2)

    monkeypatch.setattr(subprocess, "run", run)
    assert cli.main(["record", "--prove"]) == Exit.USAGE and ran == [["--prove"], True]


def test_the_archive_asks_apt_for_what_the_roles_ask_it_for() -> None:
    defaults = yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text())
    asked = record.packages(defaults)
    assert {"build-essential", "python3.12-venv", "python3.12-dev"} == set(asked["wheels"])
    nccl = "libnccl2=2.30.*+cuda13.*>=2.30.7|libnccl2=*+cuda13.*>=2.30.7"
    assert {"clang-20", "cuda-nvcc-13-0", nccl, *asked["wheels"]} <= set(asked["build"])


HOSTILE = "a/b{{ lookup('pipe','touch pwned') }}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["model", "get", HOSTILE], {"serving_model": HOSTILE}),
        (["model", "remove", "a/b"], {"serving_model": "a/b", "serving_model_state": "absent"}),
        (
            ["serve", "--model", "/m", "--stack", "{% x %}"],
            {"serving_model": "/m", "stack_name": "{% x %}", "serving_port": 8000},
        ),
        (
            ["serve", "--model", "~/m", "--stack", "s", "--listen", "::", "--key-file", __file__, "--port", "1"],
            {
                "serving_model": str(Path("~/m").expanduser()), "stack_name": "s", "serving_host": "::",
                "serving_api_key_file": __file__, "serving_port": 1,
            },
        ),
    ],
)  # fmt: skip
def test_a_model_is_served_and_got_by_a_line_in_which_no_text_is_a_template(
    words: list[str], expected: dict[str, Any], inventory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = dry(capsys, *words, "-i", str(inventory), "--no-password", "--", "-l", "spark-1")
    assert line.endswith(" -l spark-1")
    assert variables(line) == expected


def test_without_a_stack_the_newest_of_vllm_is_served(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [path.stem for path in (CHECKOUT / "roles/stack/vars").glob("vllm-*.yml")]
    newest = max(names, key=lambda name: [int(part) for part in name.partition("-")[2].split(".")])
    assert f"stack_name: {newest}," in dry(capsys, "serve", "--model", "a/b", "-i", str(inventory))


def test_a_token_that_is_typed_is_in_a_file_of_this_account_s_until_it_is_used(
    inventory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: dict[str, Any] = {}

    def run(told: play.Play, *_: Any) -> play.Outcome:
        path = Path(variables(told.line)["serving_model_token_file"])
        seen.update(path=path, text=path.read_text(), mode=path.stat().st_mode & 0o777, line=told.line)
        return play.Outcome()

    monkeypatch.setattr(play, "run", run)
    monkeypatch.setattr(questions, "ask_password", lambda *_: "hf_s3cret")
    words = ["model", "get", "a/b", "--ask-token", "-i", str(inventory), "--no-password"]
    assert cli.main(words) == Exit.DONE
    assert (seen["text"], seen["mode"], seen["path"].exists()) == ("hf_s3cret", 0o600, False)
    assert "hf_s3cret" not in seen["line"] + "".join(capsys.readouterr())


def test_every_command_s_playbook_is_there() -> None:
    playbooks = [entry["playbook"] for entry in cli.COMMANDS.values() if "playbook" in entry]
    assert len(playbooks) > 8
    for playbook in playbooks:
        assert (CHECKOUT / "playbooks" / f"{playbook}.yml").is_file()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_of_a_command_has_an_example_that_parses_and_its_exit_codes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    text = capsys.readouterr().out
    example = re.search(r"example: *\n? *(?:eval \"\$\()?sparkforge (.*?)(?:\)\"|;|\n)", text)
    assert ended.value.code == 0 and example and "exit" in text
    words = shlex.split(example[1])
    assert words[0] == name
    cli.make_parser().parse_args(words[: words.index("--")] if "--" in words else words)
    assert re.search(r"\b0\s+(with --dry-run: it fits|done|explained)", text) and re.search(r"\b2\s+\w", text)


def test_version_is_that_of_the_collection(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    version = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["version"]
    assert (ended.value.code, capsys.readouterr().out) == (0, f"sparkforge {version}\n")


@pytest.mark.parametrize(
    "words",
    [
        ["setup", "--host", "203.0.113.9", "--user", "ada", "--accept-nvidia-license", "--method", "wheels"],
        ["top"],
        *([*example.split()[1:]] for example in (entry["example"] for entry in cli.COMMANDS.values())
          if example.split()[1] not in ("setup", "top", "run", "explain", "completion") and "$(" not in example),
    ],
    ids=" ".join,
)  # fmt: skip
def test_dry_run_needs_no_spark_runs_nothing_and_writes_nothing(
    words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    assert cli.main([*words, "--dry-run"]) == Exit.DONE
    text = capsys.readouterr().out
    assert "\n+ " in f"\n{text}" and "Nothing was run or written." in text
    assert [path.name for path in tmp_path.iterdir()] == ["hosts.yml"]
    assert (tmp_path / "hosts.yml").read_text() == hosts


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
    debug = {"task_action": "ansible.builtin.debug", "host": "spark-1", "res": {"msg": ["[bold]read", "me[/bold]"]}}
    refused = {"host": "spark-1", "res": {"msg": "Task failed: No GPU. Mount one.", "cause": "No GPU.", "stderr": "no"}}
    program = {"host": "spark-1", "res": {"msg": "non-zero return code", "stderr": "its own words"}}
    return [
        {"event": "verbose", "stdout": "SSH password: "},
        {"event": "verbose", "stdout": "BECOME password[defaults to SSH password]: "},
        task,
        {"event": "verbose", "stdout": "spark-1 | pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed"},
        {"event": "runner_on_ok", "stdout": "ok: [spark-1]", "event_data": {"task_action": "ansible.builtin.ping"}},
        {"event": "runner_on_ok", "stdout": "ok: [spark-1] => msg: [[bold]read, me[/bold]]", "event_data": debug},
        {"event": "error", "stdout": "[ERROR]: Task failed: No GPU. Origin: main.yml:36"},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]: FAILED! => cause …", "event_data": refused},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]: FAILED! => its own words", "event_data": program},
        {"event": "runner_on_failed", "stdout": "fatal: [spark-1]", "event_data": {**refused, "ignore_errors": True}},
        {
            "event": "playbook_on_stats",
            "stdout": "PLAY RECAP ****\nspark-1    : \x1b[32mok=4   \x1b[0m changed=0    failed=1",
        },
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
    assert lines == [*"\n".join(event["stdout"] for event in events()[2:-1]).splitlines(), "PLAY RECAP ****", lines[-1]]
    assert lines[-1] == "spark-1    : ok=4    changed=0    failed=1"


def test_a_terminal_gets_bars_and_what_is_meant_to_be_read() -> None:
    text = shown(terminal=True)
    lines = [line for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)) if "━" not in line]
    assert [line for line in lines if line] == [
        "spark-1:",
        "[bold]read",
        "me[/bold]",
        "spark-1: No GPU. Mount one.",
        "fatal: [spark-1]: FAILED! => its own words",
        "PLAY RECAP ",
        "spark-1 : ok=4 changed=0 failed=1",
    ]
    assert "TASK [Build]" in shown(terminal=True, verbose=True)


def test_explain_tells_what_failed_in_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("all is well\nx.o: No space left on device\n")
    assert cli.main(["explain", str(tmp_path / "log")]) == 0
    assert "log, line 2: the failure is known" in capsys.readouterr().out
    assert cli.main(["explain", str(tmp_path / "none")]) == 2
    assert "none cannot be read: No such file" in capsys.readouterr().err


def test_a_failed_task_that_names_no_cause_is_explained() -> None:
    console = Console(file=io.StringIO(), width=300, markup=False, highlight=False)
    data = {"host": "spark-1", "res": {"msg": "non-zero return code", "stderr": "x.o: No space left on device"}}
    with play.Screen(console, verbose=False) as screen:
        screen.show({"event": "runner_on_failed", "stdout": "fatal: [spark-1]", "event_data": data})
    assert "A file system is full" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("action", "is_shown"), [("ansible.builtin.debug", True), ("a.b.debug_more", False)])
def test_of_what_succeeds_a_terminal_shows_what_is_there_to_be_read(action: str, is_shown: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, markup=False, highlight=False)
    data = {"task_action": action, "host": "spark-1", "res": {"msg": "words"}}
    with play.Screen(console, verbose=False) as screen:
        screen.show({"event": "runner_on_ok", "stdout": "ok: [spark-1] => msg: words", "event_data": data})
    assert ("words" in console.file.getvalue()) == is_shown  # type: ignore[attr-defined]


def test_who_is_asked_again_is_told_what_ssh_and_sudo_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password may be right and something else wrong, as a path of ssh's that is too long."""
    console = Console(file=io.StringIO(), width=200)
    answers = questions.Answers([], "ada", "wheels", "secret")
    ssh = {"spark-1": "Permission denied (publickey,password).", "spark-2": "path is too long for a socket"}
    outcomes = [play.Outcome(play.UNREACHABLE, ssh), play.Outcome(2, {"spark-1": "Incorrect sudo password"})] * 2
    monkeypatch.setattr(play, "run", lambda *_, **__: outcomes.pop(0))
    monkeypatch.setattr(questions, "ask_password", lambda _: "other")
    with pytest.raises(Refusal) as refused:
        commands.connect(argparse.Namespace(verbose=False), console, play.Play("connect", "x"), answers)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert (
        "ada could not log in over ssh.\n  spark-1: Permission denied (publickey,password).\n  spark-2: path is" in said
    )
    assert "ada could not become root.\n  spark-1: Incorrect sudo password\n" in said
    assert "ada could not log in over ssh; nothing was written.\n  spark-1: Permission" in refused.value.cause
    assert refused.value.code == Exit.REFUSED


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            'Task failed: Data could not be sent to "a". Make sure this host can be reached over ssh: No route',
            "No route",
        ),
        ("Task failed: Failed to connect to the host via ssh: ada@a: Permission denied.", "ada@a: Permission denied."),
        ("Task failed: Incorrect sudo password", "Incorrect sudo password"),
        (["one: a.", "two: b."], "one: a.\ntwo: b."),
    ],
)
def test_the_words_of_a_result_are_those_of_ssh_sudo_or_the_collection(message: str | list[str], words: str) -> None:
    assert play.said({"res": {"msg": message}}) == words


def test_the_command_is_under_1500_lines() -> None:
    files = list((CHECKOUT / "cli").rglob("*.py"))
    assert files
    assert sum(len(path.read_text().splitlines()) for path in files) < 1500


def test_the_package_asks_for_what_the_tests_run_with() -> None:
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
    ("name", "wheel", "words"),
    [
        ("torch-2.9.0", {"available": True}, ""),
        ("torch-2.11.0", {"available": False}, ""),
        ("torch-2.11.0", {"available": True}, "\nOr newest: PyTorch 2.11.0, as official wheels only."),
        (
            "torch-2.11.0",
            {"available": True, "without": {"torchaudio": "it is older", "torchvision": "it is missing"}},
            "\nOr newest: PyTorch 2.11.0, as official wheels only, without torchaudio and torchvision.",
        ),
    ],
)
def test_newer_wheels_are_offered_where_the_collection_has_them(
    name: str, wheel: dict[str, object], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert text.partition("?")[2] == words
    assert ("newest" in offered) == bool(words)
    assert offered.get("newest", {"stack_name": name})["stack_name"] == name

    asked = argparse.Namespace(host=["spark-1"], user="ada", accept_nvidia_license=True, method="newest")
    asked.no_password = asked.dry_run = True
    if words:
        assert questions.ask(asked, Console(file=io.StringIO()), []).method == "newest"
    else:
        with pytest.raises(Refusal, match="No newer stack of wheels") as refused:
            questions.ask(asked, Console(file=io.StringIO()), [])
        assert refused.value.code == Exit.USAGE


def test_the_help_names_the_place_of_publication_once_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparkforge.collection", lambda: tmp_path)
    galaxy = tmp_path / "galaxy.yml"
    for line, place in (("repository: https://forge.example/x", "https://forge.example/x"), ('repository: ""', "")):
        galaxy.write_text(f"name: dgx_spark\n# repository: none\n{line}\nbuild_ignore: []\n")
        assert published() == place
        assert ("Documentation and questions:" in cli.make_parser().format_help()) == bool(place)


def test_in_wsl_nobody_is_told_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.find, "by_mdns", lambda *_: [])
    monkeypatch.setattr(commands.find, "by_sync", list)
    for release, words in (("6.6.87-microsoft-standard-WSL2", "--host ADDRESS"), ("6.8.0-31-generic", "--host NAME")):
        monkeypatch.setattr(commands.platform, "release", lambda release=release: release)
        with pytest.raises(Refusal) as refused:
            commands.candidates(
                cli.make_parser().parse_args(["setup"]), Console(file=io.StringIO()), Path("known_hosts")
            )
        assert refused.value.code == Exit.NO_SPARK and words in refused.value.remedy
