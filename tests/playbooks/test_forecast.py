"""playbooks/forecast.yml on two hosts that are both this machine, with its own apt."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.playbooks.run_playbook import ROOT, run_playbook

PLAYBOOK = str(ROOT / "playbooks/forecast.yml")
HOSTS = {
    "spark01": {"ansible_connection": "local"},
    "spark02": {"ansible_connection": "local"},
    "lost": {"ansible_host": "127.0.0.1", "ansible_port": 1},
}
#: Hosts' records, which replace an observation with apt.
RECORDS = [str(ROOT / "tests/unit/data/hosts/dgx-spark-7.6.json")]


def forecast(directory: Path, *arguments: str) -> tuple[int, str]:
    (directory / "hosts.json").write_text(json.dumps({"all": {"hosts": HOSTS}}))
    result = run_playbook(directory, "-i", "hosts.json", PLAYBOOK, *arguments)
    return result.returncode, result.stdout + result.stderr


def test_the_forecast_of_two_hosts_changes_nothing(tmp_path: Path) -> None:
    state = Path("/var/lib/dpkg/status")
    before = hashlib.sha256(state.read_bytes()).hexdigest(), sorted(Path("/var/lib/apt/lists").iterdir())
    code, output = forecast(tmp_path, "-e", "forecast_format=json", "-e", f"forecast_file={tmp_path}/forecast.json")
    assert code == 0, output
    assert (hashlib.sha256(state.read_bytes()).hexdigest(), sorted(Path("/var/lib/apt/lists").iterdir())) == before
    forecasts = json.loads((tmp_path / "forecast.json").read_text())
    assert [row["host"] for row in forecasts["hosts"]] == list(HOSTS)
    assert [row["answer"] for row in forecasts["hosts"]][2] == "not read" and "changed=0" in output
    assert forecasts["ledger"]["rules"] >= 25 and forecasts["ledger"]["age_days"] >= 0
    assert all(finding["source"] for row in forecasts["hosts"] for finding in row["findings"])


@pytest.mark.parametrize(
    ("setting", "message"),
    [("forecast_ledger=/nowhere", "/nowhere is not"), ('{"forecast_accept": ["kernel-8"]}', "kernel-8, which is")],
)
def test_an_invalid_setting_is_one_error(tmp_path: Path, setting: str, message: str) -> None:
    code, output = forecast(tmp_path, "-l", "spark01", "-e", setting, "-e", json.dumps({"forecast_records": RECORDS}))
    assert code != 0 and output.count("fatal:") <= 1 and message in " ".join(output.split())


def test_a_recorded_spark_is_forecast_without_a_host(tmp_path: Path) -> None:
    options = json.dumps(
        {"forecast_records": RECORDS, "forecast_format": "json", "forecast_file": f"{tmp_path}/out.json"}
    )
    result = run_playbook(tmp_path, "-i", "localhost,", PLAYBOOK, "-e", options)
    assert result.returncode == 0, result.stdout + result.stderr
    forecasts = json.loads((tmp_path / "out.json").read_text())
    (row,) = forecasts["hosts"]
    assert row["host"] == "dgx-spark-7.6.json"
    assert row["kernel"]["running"]
    assert json.dumps(forecasts, sort_keys=True) in result.stdout, "and the same is printed, in one line"
