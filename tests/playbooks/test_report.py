"""playbooks/report.yml with reports that the test wrote: its output, its files, and its exit status."""

import json
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.action.verify_report import write_report

from tests import example_reports as examples
from tests.playbooks.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[2]
PROVEN, FAIL, UNPROVEN = examples.healthy, examples.broken, examples.unproven


class Run(t.NamedTuple):
    """The result of a run of the playbook."""

    code: int
    output: str

    @property
    def text(self) -> str:
        return " ".join(self.output.split())


class Site:
    """An inventory of unreachable hosts, and their reports."""

    def __init__(self, path: Path, **reports: t.Callable[[str], examples.Report] | str | None) -> None:
        self.path, self.reports = path, path / "reports"
        self.reports.mkdir()
        for host, report in reports.items():
            if callable(report):
                write_report(str(self.reports), host, report(host), False)
            elif report is not None:
                (self.reports / f"{host}.json").write_text(report)
        hosts = {name: {"ansible_host": "192.0.2.1"} for name in reports}
        (path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
        (path / "ansible.cfg").write_text("[defaults]\ncallback_result_format = yaml\n")

    def run(self, *arguments: str, playbook: Path = COLLECTION / "playbooks/report.yml", **variables: t.Any) -> Run:
        all_variables = {"verify_report_directory": str(self.reports), **variables}
        extra = ["-e", json.dumps(all_variables), *arguments]
        result = run_playbook(self.path, "-i", str(self.path / "hosts.yml"), str(playbook), *extra)
        return Run(result.returncode, result.stdout + result.stderr)

    @property
    def fleet(self) -> dict[str, t.Any]:
        return json.loads((self.reports / "fleet.json").read_text())


def test_proven_fleet_succeeds_with_one_line_per_host_and_the_page(tmp_path: Path) -> None:
    site = Site(tmp_path, spark1=PROVEN, spark2=PROVEN)
    run = site.run()
    assert run.code == 0, run.output
    for host in ("spark1", "spark2"):
        assert f"report | {host}: proven on the GPU (64 pass, 0 fail, 2 skip), checked 2026-11-21T16:00:00Z" in run.text
    assert str(site.reports / "index.html") in run.text and "changed=0" in run.text
    assert site.fleet["summary"] == {"hosts": 2, "proven": 2, "unproven": 0, "no report": 0, "fail": 0}


def test_a_run_fails_on_the_hosts_that_are_not_proven_and_shows_all(tmp_path: Path) -> None:
    site = Site(tmp_path, ok=PROVEN, bad=FAIL, open=UNPROVEN, gone=None, old='{"format": 1}', torn='{"format": 2')
    run = site.run()
    assert run.code == 2 and "Traceback" not in run.output
    failed = {host for host in ("ok", "bad", "open", "gone", "old", "torn") if f"fatal: [{host}]" in run.output}
    assert failed == {"bad", "open", "gone", "old", "torn"}
    assert "ok: proven on the GPU" in run.text
    for message in ("matmul.fp8_rowwise", "no report", "has format 1;", "is damaged: "):
        assert message in run.text
    assert {row["host"]: row["verdict"] for row in site.fleet["hosts"]} == {
        "bad": "fail", "gone": "no report", "old": "no report", "torn": "no report", "open": "unproven", "ok": "proven",
    }  # fmt: skip
    assert "example" not in (site.reports / "index.html").read_text()


@pytest.mark.parametrize(("verdict", "tag", "code"), [(PROVEN, "verify", 0), (UNPROVEN, "report", 2)])
def test_proof_is_required_unless_less_is_asked_for(tmp_path: Path, verdict: t.Any, tag: str, code: int) -> None:
    run = Site(tmp_path, spark1=verdict).run("--tags", tag)
    assert run.code == code, run.output


def test_check_mode_reads_and_writes_its_own_files_and_asks_for_no_proof(tmp_path: Path) -> None:
    site = Site(tmp_path, spark1=FAIL)
    missing = site.run("--check")
    assert missing.code == 2 and "spark1.check.json" in missing.text
    write_report(str(site.reports), "spark1", UNPROVEN("spark1"), True)
    run = site.run("--check")
    assert run.code == 0, run.output
    assert {entry.name for entry in site.reports.iterdir()} == {
        *("spark1.json", "spark1.html", "spark1.check.json", "spark1.check.html"),
        *("fleet.check.json", "index.check.html"),
    }


def test_with_a_limit_its_hosts_decide_and_the_page_shows_the_whole_fleet(tmp_path: Path) -> None:
    site = Site(tmp_path, spark1=PROVEN, spark2=FAIL, spark3=None)
    run = site.run("-l", "spark1")
    assert run.code == 0, run.output
    assert [row["host"] for row in site.fleet["hosts"]] == ["spark2", "spark3", "spark1"]


def test_a_host_that_stopped_earlier_hides_no_other_and_its_report_is_called_old(tmp_path: Path) -> None:
    site = Site(tmp_path, spark1=PROVEN, spark2=PROVEN, spark3=FAIL)
    playbook = tmp_path / "site.yml"
    stop = {"ansible.builtin.fail": {"msg": "stopped by the test"}, "when": "inventory_hostname == 'spark1'"}
    imported = {"ansible.builtin.import_playbook": str(COLLECTION / "playbooks/report.yml")}
    playbook.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": [stop]}, imported]))
    run = site.run(playbook=playbook)
    assert run.code == 2
    assert "fatal: [spark3]" in run.output and "spark2: proven on the GPU" in run.text
    assert {row["host"]: "was unreachable" in row["stopped"] for row in site.fleet["hosts"]} == {
        "spark1": True,
        "spark2": False,
        "spark3": False,
    }
    assert "spark1: proven on the GPU (64 pass, 0 fail, 2 skip), checked 2026-11-21T16:00:00Z; " in run.text


def test_unwritable_directory_is_reported_in_one_message(tmp_path: Path) -> None:
    site = Site(tmp_path, spark1=None)
    (tmp_path / "file").write_text("")
    run = site.run(verify_report_directory=str(tmp_path / "file"))
    assert run.code == 2 and "Traceback" not in run.output
    assert "cannot be written" in run.text and "verify_report_directory" in run.text


def test_report_url_is_printed(tmp_path: Path) -> None:
    site = Site(tmp_path, spark01=PROVEN)
    output = site.run(verify_report_url="https://reports.example.com/sparks/")
    assert output.code == 0
    assert "report | https://reports.example.com/sparks/index.html\n" in output.output
