"""ansible-runner, with which AWX runs jobs, on a private data directory created from the checkout."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner
import pytest
import yaml

from lab.host import files

CHECKOUT = Path(__file__).parents[2]
SURVEY = next(
    template["survey_spec"]["spec"]
    for template in yaml.safe_load((CHECKOUT / "awx/job_templates.yml").read_text())["controller_templates"]
    if template["name"] == "sparkforge-preflight"
)
SECRET = "wheelhouse-secret-4711"


@dataclass
class Job:
    """The result of a job, and the events that AWX would show."""

    status: str
    code: int
    stats: dict[str, dict[str, int]]
    events: list[dict[str, Any]] = field(default_factory=list)
    artifacts: Path = Path()

    def results(self, event: str) -> list[dict[str, Any]]:
        return [record["event_data"]["res"] for record in self.events if record["event"] == event]


def private_data(folder: Path, **answers: object) -> Path:
    """Create everything AWX gives a job: project, inventory, extra variables, environment variables and settings.

    The host is this machine, over Ansible's connection ``local``, and the stack is one for this kind of machine.
    """
    project = folder / "project"
    for name in files():
        # Leave out files that only tests read.
        if not name.startswith(("tests/", "docs/", "lab/")):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, project / name, follow_symlinks=False)
    inventory = folder / "inventory"
    host = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3", "ansible_become": False}
    write(inventory / "hosts.yml", {"all": {"hosts": {"here": host}}})
    defaults = {question["variable"]: question["default"] for question in SURVEY}
    role = yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text())
    name = defaults["stack_name"] or role["stack_default"]
    stack = yaml.safe_load((CHECKOUT / f"roles/stack/vars/{name}.yml").read_text())
    release = dict(
        line.replace('"', "").split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )
    definition = stack["stack_definition"]
    definition["systems"] = [{"id": release["ID"], "version": release.get("VERSION_ID", "")}]
    definition["machines"] = [os.uname().machine]
    command = ["/usr/bin/python3", "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
    version = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    definition["python"] = {**definition["python"], "version": version}
    write(inventory / f"stacks/{name}.yml", stack)
    lock = yaml.safe_load((CHECKOUT / f"roles/stack/files/locks/{name}.yml").read_text())
    here = f"cp{version.replace('.', '')}-linux-{os.uname().machine}"
    for part in ("wheels", "build_requirements", "run_requirements"):
        platforms = lock["stack_lock"][part]
        if platforms:
            platforms[here] = next(iter(platforms.values()))
    write(inventory / f"locks/{name}.yml", lock)
    extra = {
        **defaults, "stack_profile": "generic", "sparkforge_gpu_required": False, "preflight_memory_minimum_gib": 0,
        "preflight_disk_minimum": [], "preflight_apt_wait": 0, "sparkforge_wheelhouse_password": SECRET, **answers,
    }  # fmt: skip
    write(folder / "env/extravars", extra)
    write(
        folder / "env/envvars", {"ANSIBLE_NOCOLOR": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    )
    write(folder / "env/settings", {"suppress_ansible_output": True})
    return folder


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content))


def run(folder: Path, playbook: str, monkeypatch: pytest.MonkeyPatch, **options: object) -> Job:
    # All files are found in the project, as in an execution environment.
    for name in [name for name in os.environ if name.startswith("ANSIBLE_")]:
        monkeypatch.delenv(name)
    result = ansible_runner.run(private_data_dir=str(folder), playbook=playbook, ident="job", quiet=True, **options)
    return Job(result.status, result.rc, result.stats or {}, list(result.events), folder / "artifacts/job")


def test_preflight_runs_as_a_job_and_its_events_hold_the_recap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = private_data(tmp_path, sparkforge_accept_nvidia_license="true")
    job = run(folder, "playbooks/preflight.yml", monkeypatch)
    assert job.status == "successful", json.dumps(job.results("runner_on_failed"), indent=1)
    assert job.code == 0
    assert job.events[-1]["event"] == "playbook_on_stats"
    recap = job.events[-1]["event_data"]
    assert set(recap["processed"]) == {"here"}
    assert recap["ok"]["here"] == job.stats["ok"]["here"] > 0
    assert recap["changed"] == recap["failures"] == recap["dark"] == {}
    observed = [result for result in job.results("runner_on_ok") if "spark_info" in result]
    assert observed
    # AWX keeps a job's output in its database.
    kept = "".join(path.read_text(errors="replace") for path in job.artifacts.rglob("*") if path.is_file())
    assert "spark_info" in kept
    assert SECRET not in kept


def test_failure_event_holds_cause_and_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # This is the survey's default: the licences have not been accepted.
    job = run(private_data(tmp_path, sparkforge_accept_nvidia_license="false"), "playbooks/preflight.yml", monkeypatch)
    assert (job.status, job.code) == ("failed", 2)
    output = " ".join(str(result.get("msg")) for result in job.results("runner_on_failed"))
    assert "sparkforge_accept_nvidia_license" in output
    assert "Remedy:" in output
    assert "Nothing was changed" in output
    assert job.stats["failures"] == {"here": 1}
