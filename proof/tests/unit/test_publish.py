"""What a host shows of its last proof. On a host: integration/test_proof_timer.py."""

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
from sparkforge_proof import cli, publish
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
    return {(one.name, tuple(one.labels.values())): one.value for family in families for one in family.samples}


@pytest.fixture
def host(tmp_path: Path) -> dict[str, Any]:
    """Options of a host whose current environment has the report above."""
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


def test_the_metrics_say_verdict_time_counts_and_rates_in_prometheus_format() -> None:
    found = samples(publish.metrics(REPORT))
    assert found["sparkforge_proof_verdict", ("proven",)] == 1
    assert found["sparkforge_proof_verdict", ("fail",)] == found["sparkforge_proof_verdict", ("unproven",)] == 0
    assert found["sparkforge_proof_timestamp_seconds", ()] == 1795514400
    assert found["sparkforge_proof_duration_seconds", ()] == 53.2
    assert found["sparkforge_proof_checks", ("pass",)] == 60
    assert found["sparkforge_proof_rate", ("speed.matmul", "matmul_bfloat16_tflops")] == 91.25
    described = {family.name for family in text_string_to_metric_families(publish.metrics(REPORT, True))}
    assert described == set(publish.METRICS)


def test_no_text_of_a_report_leaves_its_label() -> None:
    nasty = 'a"} 1\nsparkforge_proof_verdict{verdict="proven"} 1\\'
    found = samples(publish.metrics({**REPORT, "verdict": "fail", "driver": nasty}))
    assert found["sparkforge_proof_verdict", ("proven",)] == 0
    assert [key[1] for key in found if key[0] == "sparkforge_proof_info" and nasty in key[1]]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("proven", "computes right numbers"), ("unproven", "is unproven"), ("fail", "FAILED its proof")],
)
def test_the_line_at_login_says_verdict_age_and_what_to_type(verdict: str, words: str) -> None:
    script = publish.motd(
        {**REPORT, "verdict": verdict}, "/opt/sparkforge/bin/activate-torch", "/dev/null", "https://r.example/s.html"
    )
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(
        rf"PyTorch 2\.13\.0\+cu130 {words}[^\n]*, checked -?\d+ days ago\. "
        r"Enter it: \. /opt/sparkforge/bin/activate-torch  Report: https://r\.example/s\.html\n",
        said,
    )


def test_no_text_of_an_environment_runs_at_login_or_moves_the_cursor(tmp_path: Path) -> None:
    torch = f"2'; touch {tmp_path}/ran; `touch {tmp_path}/ran` $(touch {tmp_path}/ran) %s\x1b[2J\n"
    script = publish.motd({**REPORT, "software": {"torch": torch}}, "/a", "/dev/null")
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert not (tmp_path / "ran").exists()
    assert "\x1b" not in said and said.count("\n") == 1 and "$(touch" in said


def test_the_line_at_login_says_what_is_wrong_on_the_cpu_alone_and_what_was_not_judged(tmp_path: Path) -> None:
    cause = f"It is off $(touch {tmp_path}/ran) \x1b[2J" + "x" * 100_000
    checks = [
        {"name": "cpu.convolution.conv2d", "status": "fail", "reason": "wrong", "cause": cause},
        {"name": "algebra.dense", "status": "warn", "reason": "unjudged", "cause": "First run."},
    ]
    script = publish.motd({**REPORT, "verdict": "fail", "checks": checks}, "/a", "/dev/null")
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    begins = (
        "PyTorch 2.13.0+cu130 computes WRONG NUMBERS; right on the GPU; on the CPU convolution.conv2d is wrong: It is "
    )
    assert said.startswith(begins) and len(said) < 1000 and said.count("\n") == 1 and "\x1b" not in said
    assert "; not judged, on a first run on this kind of device: algebra.dense, checked " in said
    assert not (tmp_path / "ran").exists()


#: A stand-in for the proof as one file, which says what it was asked and given.
PROGRAM = """import sys
assert sys.argv[1:] == ["changed"]
given = sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("program", "since"),
    [
        ('print("changed since the last proof: kernel", end="")', "; changed since the last proof: kernel"),
        ("", ""),
        ("sys.exit(1)", "; whether the host changed since is not known"),
        (None, "; whether the host changed since is not known"),
    ],
)
def test_the_line_at_login_says_whether_the_host_changed_since(tmp_path: Path, program: str | None, since: str) -> None:
    path = tmp_path / "proof 1.pyz"
    if program is not None:
        path.write_text(f"{PROGRAM}open({str(tmp_path / 'seen')!r}, 'w').write(given)\n{program}\n")
    report = {**REPORT, "packages": {"libcublas": "1'$(touch ran)\n"}, "firmware": {"board": "5.36"}}
    script = publish.motd(report, "/a", str(path))
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert re.search(r"checked -?\d+ days ago(.*)\. Enter it: \. /a\n", said)[1] == since  # type: ignore[index]
    assert not (tmp_path / "ran").exists()
    if program is not None:
        assert json.loads((tmp_path / "seen").read_text()) == {key: report[key] for key in publish.SEEN}


def test_a_report_of_an_earlier_version_is_compared_by_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "proof.pyz"
    path.write_text(f"{PROGRAM}print(given, file=open({str(tmp_path / 'seen')!r}, 'w'))\n")
    subprocess.run(["sh", "-c", publish.motd(REPORT, "/a", str(path))], check=True, capture_output=True)
    assert json.loads((tmp_path / "seen").read_text()) == {"driver": "580.159.04", "kernel": "6.17.0"}


@pytest.mark.parametrize(("kernel", "value"), [("6.17.0", 0), ("7.0.0", 1)])
def test_the_metrics_say_whether_the_host_changed_where_a_timer_keeps_that_true(
    host: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kernel: str, value: int
) -> None:
    monkeypatch.setattr(publish.changed, "observe", lambda: {"driver": "580.159.04", "kernel": kernel})
    metrics = Path(host["root"], "collector/sparkforge.prom")
    run(host)
    assert "sparkforge_proof_changed" not in metrics.read_text(), "nothing would take it back after an update"
    monkeypatch.setattr(publish, "TIMER", str(tmp_path / "timer"))
    (tmp_path / "timer").touch()
    run(host)
    assert samples(metrics.read_text())["sparkforge_proof_changed", ()] == value


def test_files_come_once_are_written_anew_without_a_change_and_go(host: dict[str, Any]) -> None:
    root = Path(host["root"])
    metrics, motd = root / "collector/sparkforge.prom", root / "motd"
    announced = run(host, check=True)
    assert announced["changed"] and announced["files"] == [str(metrics), str(motd)]
    assert not metrics.exists() and not motd.exists()
    assert run(host)["changed"] and publish.is_published(host["root"])
    assert oct(motd.stat().st_mode & 0o777) == "0o755" and oct(metrics.stat().st_mode & 0o777) == "0o644"
    remember(root, "2026-11-24T110000Z.1.json", {**REPORT, "verdict": "fail"})
    assert not run(host)["changed"]
    assert samples(metrics.read_text())["sparkforge_proof_verdict", ("fail",)] == 1
    assert run(host, motd=False)["changed"] and not motd.exists()
    gone = run(host, motd=False, textfile=None)
    assert gone["changed"] and gone["files"] == [] and not metrics.exists()
    assert not publish.is_published(host["root"]) and not (root / "receipts").exists()
    assert not run(host, motd=False, textfile=None)["changed"]


def test_another_directory_takes_the_file_out_of_the_former(host: dict[str, Any], tmp_path: Path) -> None:
    run(host)
    (tmp_path / "other").mkdir()
    run(host, textfile=str(tmp_path / "other"))
    assert not (tmp_path / "collector/sparkforge.prom").exists()
    assert (tmp_path / "other/sparkforge.prom").exists()


def test_what_is_shown_is_of_the_current_environment(host: dict[str, Any]) -> None:
    root = Path(host["root"])
    # A staged one was proven later, and not switched to.
    remember(root, "2026-11-24T120000Z.1.json", {**REPORT, "environment_id": "4567", "verdict": "fail"})
    run(host)
    assert samples((root / "collector/sparkforge.prom").read_text())["sparkforge_proof_verdict", ("proven",)] == 1
    (root / "envs/torch/current").unlink()
    (root / "envs/torch/current").symlink_to("89ab")
    assert run(host)["files"] == [] and not (root / "motd").exists(), "nothing is known of it"


@pytest.mark.parametrize(
    ("kind", "cause"), [("missing", "does not exist"), ("link", "is a link"), ("others", "Others than root may write")]
)
def test_unsafe_directory_of_metrics_is_refused_and_nothing_is_written(
    kind: str, cause: str, host: dict[str, Any], tmp_path: Path
) -> None:
    target, textfile = tmp_path / "target", tmp_path / "textfile"
    target.mkdir()
    if kind == "link":
        textfile.symlink_to(target)
    elif kind == "others":
        textfile.mkdir()
        textfile.chmod(0o777)
    with pytest.raises(SparkforgeError, match=rf"{cause}.*node_exporter"):
        run(host, textfile=str(textfile))
    assert not list(target.iterdir()) and (kind != "others" or not list(textfile.iterdir()))
    assert not (tmp_path / "motd").exists() and not publish.is_published(host["root"])


def test_a_host_that_keeps_no_reports_is_refused(host: dict[str, Any]) -> None:
    with pytest.raises(SparkforgeError, match="keeps no proof reports"):
        run(host, history="")


def test_each_query_of_the_dashboard_is_of_metrics_and_labels_that_exist() -> None:
    board = json.loads(DASHBOARD.read_text())
    shown = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    # The others are the guard's.
    queries = [one for one in shown if "sparkforge_proof" in one]
    exported = publish.metrics(REPORT)
    assert len(queries) >= 6
    for query in queries:
        names = set(re.findall(r"\bsparkforge_\w+", query))
        assert names and names <= set(publish.METRICS), query
        for label in re.findall(r"[{,]\s*(\w+)\s*[=!]", query):
            assert label == "instance" or f'{label}="' in exported, query


def lost(before: Any, after: Any, place: str = "") -> list[str]:
    """Return the places of a document that another one has otherwise or not at all."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [one for key in before for one in lost(before[key], after.get(key), f"{place}/{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [one for number, pair in enumerate(zip(before, after)) for one in lost(*pair, f"{place}/{number}")]
    return [] if before == after else [place]


def test_the_dashboard_is_one_by_grafana_s_own_types() -> None:
    grafana_plugins.register_default_plugins()
    board = json.loads(DASHBOARD.read_text())
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    # The types have no name for the text that Grafana's editor shows of a variable.
    assert lost(board, read) == ["/templating/list/1/definition"]


def test_timer_is_refused_with_what_does_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["timer"]) == cli.REFUSED
    assert capsys.readouterr().err == (
        "The command timer is gone. Start sparkforge-proof from cron or a timer of systemd.\n"
    )
