"""Action plugins called by Ansible: templates, transfers, secrets and facts, which only a play can show."""

import json
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.playbooks.run_playbook import run_playbook
from tests.unit import interpreter
from tests.unit.engine_host import EngineHost

COLLECTION = Path(__file__).parents[2]


def test_a_play_sends_a_wheel_once_and_then_changes_nothing(open_path: Path) -> None:
    info = "tiny-1.0.dist-info"
    (open_path / "files").mkdir()
    with zipfile.ZipFile(open_path / "files" / "tiny-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tiny.py", "__version__ = '1.0'\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"tiny.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    task = {
        "name": "Environment",
        "sparkforge.dgx_spark.python_env": {
            "name": "torch", "root": str(open_path / "root"), "kernel_dir": str(open_path / "kernels"),
            "python": interpreter.PYTHON, "wheels": ["tiny-1.0-py3-none-any.whl"], "index_url": "none",
            "imports": ["tiny"],
        },
    }  # fmt: skip
    play = [{"name": "P", "hosts": "all", "gather_facts": False, "tasks": [task]}]
    (open_path / "play.yml").write_text(json.dumps(play))
    remote = "ansible_remote_tmp=" + str(open_path / "remote")
    config = str(COLLECTION / "ansible.cfg")

    def run(*options: str) -> str:
        result = run_playbook(
            open_path, "-i", "localhost,", "-c", "local", "-e", remote, "play.yml", *options, ANSIBLE_CONFIG=config
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    assert "changed=1" in run("--check", "--diff")
    assert not (open_path / "root").exists()
    assert "changed=1" in run()
    assert (open_path / "root" / "envs" / "torch" / "current" / "bin" / "python").exists()
    assert "changed=0" in run()
    assert not list((open_path / "remote").glob("ansible-tmp-*"))


@pytest.mark.parametrize("pipelining", [True, False])
def test_play_follows_a_build_until_it_completes(tmp_path: Path, pipelining: bool) -> None:
    host = EngineHost(tmp_path)
    # All requests to the host pass through here and are recorded. The build waits for the third: by then, one request
    # has returned the build's progress, however busy the machine is.
    host.gate.touch()
    program = tmp_path / "python"
    program.write_text(
        f"#!/bin/sh\necho module >> {tmp_path}/asked\n"
        f'[ "$(wc -l < {tmp_path}/asked)" -lt 3 ] || rm -f {host.gate}\n'
        f'exec {sys.executable} "$@"\n'
    )
    program.chmod(0o755)
    task = {
        "name": "Build",
        "sparkforge.dgx_spark.source_build": {**host.options(host.project(4)), "follow": True},
        "register": "it",
    }
    show = {"name": "Show", "ansible.builtin.debug": {"msg": "{{ it.status }}: {{ it.receipt is exists }}"}}
    play = [{"name": "P", "hosts": "all", "gather_facts": False, "tasks": [task, show]}]
    (tmp_path / "play.yml").write_text(json.dumps(play))
    result = run_playbook(
        tmp_path, "-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={program}", "play.yml",
        ANSIBLE_CONFIG=str(COLLECTION / "ansible.cfg"), ANSIBLE_PIPELINING=str(pipelining),
    )  # fmt: skip
    assert "built: True" in result.stdout, result.stdout + result.stderr
    assert "localhost | tiny | " in result.stdout
    assert (tmp_path / "asked").read_text().count("module") >= 3


def test_play_writes_its_variables_but_evaluates_no_template_from_a_host(tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text(json.dumps({"cause": "{{ 7 * 7 }} is not {% raw %}", "kernel": "6.17"}))
    report = {
        "stack": "{{ name }}",
        "method": "wheel",
        "profile": "generic",
        "lock": None,
        "gpu_required": "{{ 1 == 2 }}",
        "verdict": "{{ 'unproven' }}",
        "kernel": "{{ found.kernel }}",
        "seconds": "{{ 70 + 1.5 }}",
        "checks": [{"name": "gpu", "status": "skip", "cause": "{{ found.cause }}"}],
    }
    report["checks"].append({"name": "speed.copy", "status": "warn", "cause": "It is slow.", "remedy": "Wait."})
    write = {
        "sparkforge.dgx_spark.verify_report": {"directory": "reports", "name": "spark01", "report": "{{ report }}"},
        "register": "written",
    }
    refuse = {
        "sparkforge.dgx_spark.verify_report": {"directory": "reports", "name": "x", "report": {"checks": []}},
        "register": "refused",
        "failed_when": "refused is not failed or 'stack is missing' not in refused.cause",
    }
    check = {"ansible.builtin.assert": {"that": ["written.verdict == 'unproven'", "written is not changed"]}}
    variables = {"name": "torch-2.15.0", "report": report}
    variables["found"] = "{{ lookup('ansible.builtin.file', playbook_dir ~ '/found.json') | from_json }}"
    play = {"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": [write, check, refuse]}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    result = run_playbook(tmp_path, "play.yml")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "unproven: 0 pass, 1 warn, 0 fail, 1 skip; " in result.stdout
    # Join the lines first, because Ansible wraps warnings at any position.
    assert "[WARNING]: speed.copy: It is slow. Wait." in " ".join((result.stdout + result.stderr).split())
    written = json.loads((tmp_path / "reports/spark01.json").read_text())
    assert written["checks"][0]["cause"] == "{{ 7 * 7 }} is not {% raw %}"
    assert (written["stack"], written["gpu_required"], written["seconds"]) == ("torch-2.15.0", False, 71.5)
    assert "{{ 7 * 7 }} is not {% raw %}" in (tmp_path / "reports/spark01.html").read_text()


def test_the_role_sets_the_fact_where_facts_are_not_injected_and_knows_who_named_the_stack(tmp_path: Path) -> None:
    default = yaml.safe_load((COLLECTION / "roles/stack/defaults/main.yml").read_text())["stack_default"]
    role = {"ansible.builtin.import_role": {"name": "sparkforge.dgx_spark.stack"}}
    (tmp_path / "hosts.yml").write_text("all: {hosts: {spark01: {ansible_host: 192.0.2.1}}}\n")
    (tmp_path / "ansible.cfg").write_text("[defaults]\ninject_facts_as_vars = false\n")
    plays = [
        {
            "hosts": "all",
            "gather_facts": False,
            "vars": variables,
            "tasks": [role, {"ansible.builtin.assert": {"that": [*that, "stack.lock.id | length == 12"]}}],
        }
        for variables, that in (
            # The stack's own wheels come first.
            ({}, [f"stack.name == '{default}'", "not stack.named", "stack_meanwhile == stack.name"]),
            # This stack has no wheels.
            (
                {"stack_name": "torch-2.9.1"},
                ["stack.name == 'torch-2.9.1'", "stack.named", f"stack_meanwhile == '{default}'"],
            ),
        )
    ]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(plays))
    result = run_playbook(tmp_path, "-i", "hosts.yml", "play.yml")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_password_is_shown_nowhere(tmp_path: Path) -> None:
    options = {"stack": "mine", "lock_id": "0123456789ab", "platform": "debian13-x86_64", "cache": str(tmp_path)}
    options |= {"url": "http://127.0.0.1:1/", "username": "lab", "password": "s3cr3t-word"}
    task = {"sparkforge.dgx_spark.wheelhouse_manifest": {**options, "required": False}}
    (tmp_path / "play.yml").write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    result = run_playbook(tmp_path, "play.yml", "-vvv")
    assert result.returncode == 0 and "http://127.0.0.1:1" in result.stdout, result.stdout + result.stderr
    assert "s3cr3t-word" not in result.stdout + result.stderr
