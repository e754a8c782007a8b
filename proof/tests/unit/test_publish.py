"""The metrics and the login line about a host's last proof. integration/test_proof_timer.py tests them on a host."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog import plugins as grafana_plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client.parser import text_string_to_metric_families
from sparkforge_proof import publish
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError

CHECKOUT = Path(__file__).parents[3]
DASHBOARD = CHECKOUT / "docs/grafana-dashboard.json"
REPORT: dict[str, Any] = {
    "format": 3, "stack": "torch-2.13.0", "environment_id": "0123", "profile": "gb10", "scope": "gpu",
    "verdict": "proven", "started": "2026-11-24T10:00:00Z", "seconds": 53.2, "driver": "580.159.04", "kernel": "6.17.0",
    "summary": {"pass": 60, "warn": 1, "fail": 0, "skip": 9}, "software": {"torch": "2.13.0+cu130"},
    "checks": [
        {"name": "speed.matmul", "status": "pass", "rates": {"matmul_bfloat16_tflops": 91.25}},
        {"name": "identity.import", "status": "pass", "rates": {}},
    ],
}  # fmt: skip


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    families = text_string_to_metric_families(text)
    return {(row.name, tuple(row.labels.values())): row.value for family in families for row in family.samples}


@pytest.fixture
def host(tmp_path: Path) -> dict[str, Any]:
    """Options for a host whose current environment has the report above."""
    (tmp_path / "envs/torch/0123").mkdir(parents=True)
    (tmp_path / "envs/torch/current").symlink_to("0123")
    (tmp_path / "collector").mkdir()
    (tmp_path / "reports").mkdir()
    remember(tmp_path, "2026-11-24T100000Z.1.json", REPORT)
    options = {"root": str(tmp_path), "environment": "torch", "history": str(tmp_path / "reports")}
    return {**options, "textfile": str(tmp_path / "collector"), "motd": True}


def remember(root: Path, name: str, report: dict[str, Any]) -> None:
    (root / "reports" / name).write_text(json.dumps(report))


def run(host: dict[str, Any], check: bool = False, **options: Any) -> dict[str, Any]:
    return publish.Publisher({**host, **options}, check, motd_path=f"{host['root']}/motd").run()


def test_metrics_in_prometheus_format() -> None:
    metrics = samples(publish.metrics(REPORT))
    assert metrics["sparkforge_proof_verdict", ("proven",)] == 1
    assert metrics["sparkforge_proof_verdict", ("fail",)] == metrics["sparkforge_proof_verdict", ("unproven",)] == 0
    assert metrics["sparkforge_proof_timestamp_seconds", ()] == 1795514400
    assert metrics["sparkforge_proof_duration_seconds", ()] == 53.2
    assert metrics["sparkforge_proof_checks", ("pass",)] == 60
    assert metrics["sparkforge_proof_rate", ("speed.matmul", "matmul_bfloat16_tflops")] == 91.25
    described = {family.name for family in text_string_to_metric_families(publish.metrics(REPORT, True))}
    assert described == set(publish.METRICS)


def test_texts_in_labels_are_escaped() -> None:
    attack = 'a"} 1\nsparkforge_proof_verdict{verdict="proven"} 1\\'
    metrics = samples(publish.metrics({**REPORT, "verdict": "fail", "driver": attack}))
    assert metrics["sparkforge_proof_verdict", ("proven",)] == 0
    assert [key[1] for key in metrics if key[0] == "sparkforge_proof_info" and attack in key[1]]


def login_line(script: str, **options: Any) -> str:
    return str(subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, **options).stdout)


@pytest.mark.parametrize(
    ("verdict", "statement"),
    [("proven", "computes right numbers"), ("unproven", "is unproven"), ("fail", "FAILED its proof")],
)
def test_login_line(verdict: str, statement: str) -> None:
    report = {**REPORT, "verdict": verdict}
    activate = "/opt/sparkforge/bin/activate-torch"
    assert re.fullmatch(
        rf"PyTorch 2\.13\.0\+cu130 {statement}[^\n]*, checked -?\d+ days ago\. "
        rf"Activate it: \. {activate}  Report: https://r\.example/s\.html\n",
        login_line(publish.motd(report, activate, "/dev/null", "https://r.example/s.html")),
    )


def test_texts_in_login_line_are_escaped(tmp_path: Path) -> None:
    torch = f"2'; touch {tmp_path}/ran; `touch {tmp_path}/ran` $(touch {tmp_path}/ran) %s\x1b[2J\n"
    line = login_line(publish.motd({**REPORT, "software": {"torch": torch}}, "/a", "/dev/null"))
    assert not (tmp_path / "ran").exists()
    assert "\x1b" not in line and line.count("\n") == 1 and "$(touch" in line


def test_login_line_about_cpu_faults_and_unjudged_numbers(tmp_path: Path) -> None:
    cause = f"It is off $(touch {tmp_path}/ran) \x1b[2J" + "x" * 100_000
    checks = [
        {"name": "cpu.convolution.conv2d", "status": "fail", "reason": "wrong", "cause": cause},
        {"name": "algebra.dense", "status": "warn", "reason": "unjudged", "cause": "First run."},
    ]
    line = login_line(publish.motd({**REPORT, "verdict": "fail", "checks": checks}, "/a", "/dev/null"))
    assert "computes WRONG NUMBERS; right on the GPU; on the CPU convolution.conv2d is wrong: It is " in line
    assert len(line) < 1000 and line.count("\n") == 1 and "\x1b" not in line
    assert " of device: algebra.dense, checked " in line
    assert not (tmp_path / "ran").exists()


#: A stand-in for the proof's single file; it reads its standard input.
PROGRAM = """import sys
assert sys.argv[1:] == ["changed"]
given = sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("program", "since"),
    [
        ('print("changed: kernel", end="")', "; changed: kernel"),
        ("", ""),
        ("sys.exit(1)", "; changes of .* are not known"),
        (None, "; changes of .* are not known"),
    ],
)
def test_login_line_about_changed_host(tmp_path: Path, program: str | None, since: str) -> None:
    path = tmp_path / "proof 1.pyz"
    if program is not None:
        path.write_text(f"{PROGRAM}open({str(tmp_path / 'seen')!r}, 'w').write(given)\n{program}\n")
    report = {**REPORT, "packages": {"libcublas": "1'$(touch ran)\n"}, "firmware": {"board": "5.36"}}
    line = login_line(publish.motd(report, "/a", str(path)), cwd=tmp_path)
    assert re.search(rf"checked -?\d+ days ago{since}\. Activate it: \. /a\n", line)
    assert not (tmp_path / "ran").exists()
    if program is not None:
        assert json.loads((tmp_path / "seen").read_text()) == {key: report[key] for key in publish.SEEN}


def test_report_of_earlier_version_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "proof.pyz"
    path.write_text(f"{PROGRAM}print(given, file=open({str(tmp_path / 'seen')!r}, 'w'))\n")
    login_line(publish.motd(REPORT, "/a", str(path)))
    assert json.loads((tmp_path / "seen").read_text()) == {"driver": "580.159.04", "kernel": "6.17.0"}


@pytest.mark.parametrize(("kernel", "value"), [("6.17.0", 0), ("7.0.0", 1)])
def test_metric_of_changed_host_needs_timer(host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kernel, value):
    monkeypatch.setattr(publish.changed, "observe", lambda: {"driver": "580.159.04", "kernel": kernel})
    metrics = Path(host["root"], "collector/sparkforge.prom")
    run(host)
    assert "sparkforge_proof_changed" not in metrics.read_text(), "without a timer it would stay after an update"
    monkeypatch.setattr(publish, "TIMER", str(tmp_path / "timer"))
    (tmp_path / "timer").touch()
    run(host)
    assert samples(metrics.read_text())["sparkforge_proof_changed", ()] == value


def test_files_are_created_updated_and_removed(host: dict[str, Any]) -> None:
    root = Path(host["root"])
    metrics, motd = root / "collector/sparkforge.prom", root / "motd"
    preview = run(host, check=True)
    assert preview["changed"] and preview["files"] == [str(metrics), str(motd)]
    assert not metrics.exists() and not motd.exists()
    assert run(host)["changed"] and publish.is_published(host["root"])
    assert oct(motd.stat().st_mode & 0o777) == "0o755" and oct(metrics.stat().st_mode & 0o777) == "0o644"
    remember(root, "2026-11-24T110000Z.1.json", {**REPORT, "verdict": "fail"})
    assert not run(host)["changed"]
    assert samples(metrics.read_text())["sparkforge_proof_verdict", ("fail",)] == 1
    assert run(host, motd=False)["changed"] and not motd.exists()
    removed = run(host, motd=False, textfile=None)
    assert removed["changed"] and removed["files"] == [] and not metrics.exists()
    assert not publish.is_published(host["root"]) and not (root / "receipts").exists()
    assert not run(host, motd=False, textfile=None)["changed"]


def test_other_directory_replaces_former_one(host: dict[str, Any], tmp_path: Path) -> None:
    run(host)
    (tmp_path / "other").mkdir()
    run(host, textfile=str(tmp_path / "other"))
    assert not (tmp_path / "collector/sparkforge.prom").exists()
    assert (tmp_path / "other/sparkforge.prom").exists()


def test_report_of_current_environment_is_published(host: dict[str, Any]) -> None:
    root = Path(host["root"])
    # A staged environment was proven later, but it is not current.
    remember(root, "2026-11-24T120000Z.1.json", {**REPORT, "environment_id": "4567", "verdict": "fail"})
    run(host)
    assert samples((root / "collector/sparkforge.prom").read_text())["sparkforge_proof_verdict", ("proven",)] == 1
    (root / "envs/torch/current").unlink()
    (root / "envs/torch/current").symlink_to("89ab")
    assert run(host)["files"] == [] and not (root / "motd").exists(), "this environment has no report"


def test_unsafe_metrics_directory_is_refused(host: dict[str, Any], tmp_path: Path) -> None:
    textfile = tmp_path / "textfile"
    textfile.mkdir()
    textfile.chmod(0o777)
    with pytest.raises(SparkforgeError, match=r"other than root.*node_exporter"):
        run(host, textfile=str(textfile))
    assert not list(textfile.iterdir())
    assert not (tmp_path / "motd").exists() and not publish.is_published(host["root"])


def test_host_without_reports_is_refused(host: dict[str, Any]) -> None:
    with pytest.raises(SparkforgeError, match="no proof reports"):
        run(host, history="")


def test_dashboard_queries_existing_metrics_and_labels() -> None:
    board = json.loads(DASHBOARD.read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    # The other expressions query the guard's metrics.
    queries = [expression for expression in expressions if "sparkforge_proof" in expression]
    exported = publish.metrics(REPORT)
    assert len(queries) >= 6
    for query in queries:
        names = set(re.findall(r"\bsparkforge_\w+", query))
        assert names and names <= set(publish.METRICS), query
        for label in re.findall(r"[{,]\s*(\w+)\s*[=!]", query):
            assert label == "instance" or f'{label}="' in exported, query


def changes(before: Any, after: Any, path: str = "") -> list[str]:
    """Return the paths in a JSON document whose values are missing or different in another document."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [name for key in before for name in changes(before[key], after.get(key), f"{path}/{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [name for number, pair in enumerate(zip(before, after)) for name in changes(*pair, f"{path}/{number}")]
    return [] if before == after else [path]


def test_dashboard_has_types_of_grafana() -> None:
    grafana_plugins.register_default_plugins()
    board = json.loads(DASHBOARD.read_text())
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    # The types lack the text that Grafana's editor shows for a variable.
    assert changes(board, read) == ["/templating/list/1/definition"]
