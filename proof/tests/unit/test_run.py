"""The proof except for its checks: options, unusable environments, history. These tests do not need torch."""

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sparkforge_proof import catalogue, changed, cli, history as _history, lane, run, settings, verdict
from sparkforge_proof._shared.module_utils._core import unprivileged
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof.check import Result
from sparkforge_proof.host import HostSide
from sparkforge_proof.run import Proof

from tests.unit import interpreter

#: The processor of a DGX Spark; see :meth:`HostSide.processor`.
SPARK = "aarch64 0x41 0xd85 0xd87"
FLOOR = {"matmul_bfloat16_tflops": {"nominal": 93.6, "ratio": 0.6}}


def options(**changed: Any) -> dict[str, Any]:
    return {"gpu_required": False, "profile": {"name": "generic"}, "checks": ["cpu.matmul.float32"], **changed}


def script(path: Path, text: str) -> Path:
    """Write an executable script that stands in for an environment's interpreter."""
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An environment without torch."""
    directory = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    return directory / "bin" / "python"


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"checks": ["matmull.*"]}, "'matmull.*' in the selected checks matches no check"),
        ({"profile": {"required_checks": ["atention.*"]}}, "'atention.*' in the profile's required"),
        ({"limits": {"memory_shar": 0.5}}, "unknown key 'memory_shar'"),
        ({"limits": {"factor": -1}}, "limits.factor is -1"),
        ({"limits": {"memory_share": 0.99}}, "limits.memory_share is 0.99"),
        (
            {"profile": {"name": "mine", "speed_floors": {"copy_gb_per_s": {"nominal": 273.0}}}},
            "The floor copy_gb_per_s of the profile mine has no ratio",
        ),
        ({"profile": {"site_floors": {"copy_gb_per_s": {"ratio": 0.1}}}}, "has no nominal"),
        ({"profile": {"site_floors": {"copy_gb_per_s": {"nominal": 9, "ratio": 60}}}}, "has 60 for its ratio"),
        ({"profile": {"site_floors": {"copy_gb_per_s": {"nominal": True, "ratio": 1}}}}, "has True for its nominal"),
        ({"user": "nobody-of-this-name"}, "no account nobody-of-this-name"),
    ],
    ids=["checks", "required", "limit", "factor", "share", "ratio", "nominal", "large", "bool", "user"],
)
def test_invalid_options_are_refused(changed: dict[str, Any], cause: str) -> None:
    with pytest.raises(SparkforgeError) as refused:
        Proof(options(**changed))
    assert cause in refused.value.cause and refused.value.remedy


def test_only_a_lowered_floor_is_a_notice() -> None:
    lowered = Proof(options(profile={"speed_floors": FLOOR, "site_floors": {"matmul_bfloat16_tflops": {"ratio": 0.2}}}))
    assert lowered.profile["floors"] == {"matmul_bfloat16_tflops": {"nominal": 93.6, "ratio": 0.2}}
    (notice,) = lowered.notices
    assert "matmul_bfloat16_tflops is 0.2 of 93.6" in notice and "from 0.6 of 93.6" in notice
    raised = Proof(options(profile={"speed_floors": FLOOR, "site_floors": {"matmul_bfloat16_tflops": {"ratio": 0.9}}}))
    assert raised.notices == []


def rows(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in report["checks"]}


def test_environment_without_torch_is_one_failure(bare: Path) -> None:
    report = Proof(options(python=str(bare))).run()
    python, matmul = (rows(report)[name] for name in ("python", "cpu.matmul.float32"))
    assert report["verdict"] == "fail" and report["summary"]["fail"] == 1
    assert python["cause"] == f"The environment of {bare} has no torch."
    assert "playbooks/deploy.yml" in python["remedy"]
    assert matmul["status"] == "skip" and matmul["blocked"]


def test_check_whose_module_cannot_be_imported_is_named(bare: Path) -> None:
    (site,) = bare.parents[1].glob("lib/python3*/site-packages")
    (site / "torch/nn").mkdir(parents=True)
    (site / "torch/__init__.py").write_text("from . import version\n__version__ = version.__version__\n")
    (site / "torch/version.py").write_text("__version__ = '0'\ncuda = None\n")
    (site / "torch/nn/__init__.py").touch()
    report = Proof(options(python=str(bare), checks=["cpu.matmul.float32", "identity.versions"])).run()
    matmul, versions = (rows(report)[name] for name in ("cpu.matmul.float32", "identity.versions"))
    beginning = "cpu.matmul.float32 ended with an error: ImportError: cannot import name 'functional' from 'torch.nn'"
    assert matmul["cause"].startswith(beginning) and matmul["reason"] == "crash"
    assert not versions["blocked"] and "python" not in rows(report)


def test_interpreter_that_does_not_start(tmp_path: Path) -> None:
    missing = rows(Proof(options(python=str(tmp_path / "python"))).run())["python"]
    assert missing["cause"] == f"The interpreter {tmp_path / 'python'} does not exist."
    broken = script(tmp_path / "broken", "#!/nowhere/python\n")
    assert "does not start: No such file" in rows(Proof(options(python=str(broken))).run())["python"]["cause"]
    silent = script(tmp_path / "silent", "#!/bin/sh\nsleep 600\n")
    row = rows(Proof(options(python=str(silent), limits={"seconds": 1})).run())["python"]
    assert "in time" in row["cause"]


@pytest.mark.parametrize(
    ("skipped", "expected"),
    [
        ("cpu.companions.", "proven"), ("cpu.compilation.", "proven"), ("cpu.survey.float32", "proven"),
        ("cpu.survey.", "unproven"), ("cpu.matmul.", "unproven"),
    ],
)  # fmt: skip
def test_complete_run_needs_numbers_of_each_family(monkeypatch: pytest.MonkeyPatch, skipped: str, expected: str):
    reason = "There is no numpy. Run python -m pip install numpy."

    def run_lanes(_lanes: lane.Lanes, groups: list[list[str]], _gate: Any = None) -> list[Result]:
        definitions = [catalogue.CHECKS[name] for group in groups for name in group]
        return [
            definition.result("skip", cause=reason)
            if definition.name.startswith(skipped)
            else definition.result("pass")
            for definition in definitions
        ]

    monkeypatch.setattr(lane, "run", run_lanes)
    report = Proof(options(checks=["*"], profile={"name": "generic", "required_checks": []})).run()
    notices = [f"No number of {skipped.rstrip('.')} was computed. {reason}"] if expected == "unproven" else []
    assert (report["verdict"], report["notices"]) == (expected, notices)


@pytest.mark.parametrize(
    ("processor", "limits", "before", "seed"),
    [
        (SPARK, {}, None, settings.SEED_SEEN),
        (SPARK, {}, "fail", settings.SEED_SEEN),
        (SPARK, {}, "proven", 20301231),
        (SPARK, {"seed": 7}, None, 7),
        # The date at the beginning is the seed to the end.
        ("x86_64", {}, None, 20301231),
    ],
)
def test_first_proof_on_new_kind_of_device_draws_inputs_that_ran_elsewhere(
    processor: str,
    limits: dict[str, int],
    before: str | None,
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(HostSide, "processor", lambda _host: processor)
    monkeypatch.setattr(run.time, "strftime", lambda *_arguments: "20301231")
    if before:
        report = {"format": verdict.FORMAT, "environment_id": None, "verdict": before, "checks": []}
        (tmp_path / "2026-11-24T000000Z.json").write_text(json.dumps(report))
    proof = Proof(options(python=str(tmp_path / "none"), history=str(tmp_path), limits=limits))
    notices = proof.run()["notices"]
    assert proof.limits["seed"] == seed
    assert any("which have run on other kinds" in notice for notice in notices) == (seed == settings.SEED_SEEN)


def test_messages_of_guard_are_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.guarded, "DIRECTORY", str(tmp_path))
    texts = {"login": "sparkforge-guard killed vllm.", "down": "It went down.", "braked": "ollama stays off."}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n")
    assert Proof(options(python=str(tmp_path / "python"))).run()["notices"] == list(texts.values())
    for name in texts:
        os.utime(tmp_path / name, (0, 0))  # weeks ago
    assert Proof(options(python=str(tmp_path / "python"))).run()["notices"] == ["ollama stays off."]


#: A stand-in for an environment's interpreter, often a hostile one, whose answers ``code`` writes.
HOSTILE = """#!{python}
import json, os, sys
pipe = json.load(open(sys.argv[2]))["lanes"][0]["results"]
name = "cpu.matmul.float32"
row = {{"event": "result", "name": name, "status": "pass"}}
def say(data):
    try:
        os.write(pipe, data if isinstance(data, bytes) else json.dumps(data).encode() + b"\\n")
    except OSError:
        sys.exit()
{code}
"""


def test_processor_time_of_lanes_is_counted(tmp_path: Path) -> None:
    code = """import time
if lane := os.fork():
    os.close(pipe)
    os.waitpid(lane, 0)
while lane == 0 and time.process_time() < 0.3: pass"""
    busy = script(tmp_path / "busy", HOSTILE.format(python=sys.executable, code=code))
    assert 0.3 <= Proof(options(python=str(busy))).run()["core_seconds"] < 3


@pytest.mark.parametrize(
    "code",
    [
        "say(b'no JSON\\n' + b'[' * 100000 + b'\\n' + b'3\\n\\xff\\n{}\\n')",
        "for more in ({'more': 1}, {'status': 'good'}, {'seconds': 'x'}, {'seconds': 10**400}, {'rates': 7}):"
        " say({**row, **more})",
        "say({'event': 'ready', 'software': 7}); say({'event': 'ready'})",
        "while True: say(b'x' * 65536)",
        "for users in (7, None, ['x' * 10**6]):"
        " say({'event': 'waiting', 'users': users, 'seconds': users}); say({'event': 'waiting'})",
        "while True: say(b'{}\\n')",
        "import time\nif os.fork(): sys.exit(3)\nos.setsid()\nwhile os.path.exists(sys.argv[2]): time.sleep(0.1)",
    ],
    ids=["lines", "rows", "ready", "no end", "waiting", "chatter", "left behind"],
)
def test_invalid_answers_are_one_failure(tmp_path: Path, code: str) -> None:
    hostile = script(tmp_path / "hostile", HOSTILE.format(python=sys.executable, code=code))
    report = Proof(options(python=str(hostile), limits={"seconds": 2})).run()
    is_late = "while" in code and "65536" not in code
    expected = ("warn", "unproven") if is_late else ("fail", "fail")
    assert (rows(report)["python"]["status"], report["verdict"]) == expected


def test_waiting_is_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = """for seconds in (5, 6, 7):
    say({'event': 'waiting', 'users': ['vllm\\x1b[2J\\n (process 4711)'], 'seconds': seconds})"""
    waiting = script(tmp_path / "waiting", HOSTILE.format(python=sys.executable, code=code))
    Proof(options(python=str(waiting), limits={"seconds": 20})).run()
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "5 s so far" in printed and " vllm\ufffd[2J  (process 4711).\n" in printed


def test_late_lane_does_not_fail_a_reached_gpu() -> None:
    rows = [
        Result("device.cuda", "fail", cause="no answer", reason="timeout"),
        Result("device.cuda", "pass"),
        Result("matmul.float32", "fail", reason="timeout"),
    ]
    merged = {row.name: row for row in lane.merge_rows(rows)}
    assert (merged["device.cuda"].status, merged["device.cuda"].reason) == ("fail", "slow")
    assert merged["matmul.float32"].reason == "timeout"
    verdict.judge(rows, catalogue.CHECKS, ["9.0", "torch 2.14"], [])
    assert [row.status for row in rows] == ["warn", "pass", "warn"]
    assert verdict.verdict(rows, []) == "unproven"
    (alone,) = lane.merge_rows([Result("device.cuda", "fail", reason="timeout")])
    assert alone.reason == "timeout"


@pytest.mark.parametrize(
    ("code", "name"), [("", "python"), ("say({'event': 'ready', 'software': {}})", "cpu.matmul.float32")]
)
def test_timeout_on_busy_machine_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str) -> None:
    monkeypatch.setattr(lane.sampler, "hindrance", lambda _leader: "others had the processor")
    text = HOSTILE.format(python=sys.executable, code=f"{code}\nimport time\ntime.sleep(600)")
    report = Proof(options(python=str(script(tmp_path / "slow", text)), limits={"seconds": 1})).run()
    row = rows(report)[name]
    assert (row["status"], row["reason"], report["verdict"]) == ("warn", "slow", "unproven")
    assert "because others had the processor" in row["cause"]


def test_environment_answers_only_its_own_checks_once(tmp_path: Path) -> None:
    others = ("driver", "cpu.other", "attention.flash", "python")
    code = f"say(row); say({{**row, 'status': 'fail'}}); [say({{**row, 'name': name}}) for name in {others}]"
    hostile = script(tmp_path / "hostile", HOSTILE.format(python=sys.executable, code=code))
    report = Proof(options(python=str(hostile), limits={"seconds": 20})).run()
    before = rows(Proof(options(python=str(hostile)), check_mode=True).run())
    assert rows(report)["cpu.matmul.float32"]["status"] == "pass" and rows(report)["driver"] == before["driver"]
    # Results of unknown or unselected checks are dropped.
    assert not rows(report).keys() & {"cpu.other", "attention.flash", "python"}


def test_gpu_check_is_skipped_if_no_gpu_is_required(bare: Path) -> None:
    report = Proof(options(python=str(bare), checks=["attention.*"], profile={"required_checks": ["*"]})).run()
    flash = rows(report)["attention.flash"]
    assert flash["status"] == "skip" and "sparkforge_gpu_required" in flash["cause"] and not flash["required"]


def test_required_check_that_is_not_selected_is_a_notice(bare: Path) -> None:
    report = Proof(options(python=str(bare), profile={"required_checks": ["cpu.layouts.spar*"]})).run()
    beginning = "Required but not"
    assert any(notice.startswith(beginning) and "cpu.layouts.sparse" in notice for notice in report["notices"])
    assert report["selected"] == ["cpu.matmul.float32"]
    assert verdict.remark(report).startswith("only the selected checks ran")


def test_remark_does_not_mention_a_selection_if_all_checks_ran() -> None:
    report = Proof(options(python="/nowhere/python", checks=[]), check_mode=True).run()
    assert report["selected"] == [] and verdict.remark(report) == ""


def test_check_mode_computes_and_stores_nothing(tmp_path: Path) -> None:
    history = tmp_path / "history"
    report = Proof(options(python="/nowhere/python", history=str(history)), check_mode=True).run()
    assert report["verdict"] == "unproven" and report["check_mode"]
    assert "check mode" in rows(report)["cpu.matmul.float32"]["cause"]
    assert not history.exists()


def test_report_from_future_is_not_the_last_one(tmp_path: Path, bare: Path) -> None:
    history = tmp_path / "history"
    Proof(options(python=str(bare), history=str(history), reference={"stack": "ahead"})).run()
    [ahead] = history.iterdir()
    ahead.rename(history / f"2999{ahead.name[4:]}")
    second = Proof(options(python=str(bare), history=str(history), reference={"stack": "now"})).run()
    assert second["drift"]["since"] is None
    [stored] = history.iterdir()
    assert json.loads(stored.read_text())["stack"] == "now"


def test_report_lists_changes_since_last_run(bare: Path, tmp_path: Path) -> None:
    history = tmp_path / "history"
    first = Proof(options(python=str(bare), history=str(history), reference={"stack": "one"})).run()
    assert first["drift"] == {"since": None, "changes": []}
    second = Proof(options(python=str(bare), history=str(history), reference={"stack": "two"})).run()
    assert second["drift"]["since"] == first["started"]
    assert {"what": "stack", "before": "one", "now": "two"} in second["drift"]["changes"]
    assert len(list(history.iterdir())) == 2


def test_history_drops_oldest_reports(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_history, "KEPT", 3)
    history = tmp_path / "history"
    history.mkdir()
    for number in range(4):
        (history / f"2026-01-0{number + 1}T000000Z.000000000.json").write_text("{}")
    (history / "2026-01-05T000000Z.000000000.json").write_text("damaged")
    assert Proof(options(python=str(bare), history=str(history))).run()["drift"]["since"] is None
    names = sorted(path.name for path in history.iterdir())
    assert len(names) == 3 and json.loads((history / names[-1]).read_text())["verdict"] == "fail"


def remembered(history: Path, number: int, **changed: Any) -> None:
    rows = [{"name": "speed.copy", "rates": {"gb_per_s": 200.0 + number}}]
    started = f"2026-01-{number:02d}T00:00:00Z"
    report = {"format": verdict.FORMAT, "verdict": "proven", "scope": "gpu", "devices": [], "checks": rows}
    name = f"{started.replace(':', '')}.000000000.json"
    (history / name).write_text(json.dumps({**report, "started": started, **changed}))


def test_first_proven_run_sets_floors(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_history, "KEPT", 3)
    history = tmp_path / "history"
    history.mkdir()
    remembered(history, 1, verdict="fail")
    for number in range(2, 6):
        remembered(history, number)
    for _unused in range(2):
        proof = Proof(options(python=str(bare), history=str(history)))
        proof.run()
        assert proof.profile["own_floors"] == {"copy_gb_per_s": {"nominal": 202.0, "since": "2026-01-02"}}
    names = sorted(path.name for path in history.iterdir())
    assert len(names) == 3 and names[0].startswith("2026-01-02")
    # The site's floors replace those of the host.
    own = {"copy_gb_per_s": {"nominal": 100.0, "ratio": 0.5}}
    proof = Proof(options(python=str(bare), history=str(history), profile={"site_floors": own}))
    proof.run()
    assert proof.profile["own_floors"] == {}


def test_floor_set_by_site_needs_no_evidence() -> None:
    floors = {
        name: {"nominal": 93.6, "ratio": 0.6, "evidence": "unknown"} for name in ("copy_gb_per_s", "sm_clock_mhz")
    }
    proof = Proof(options(profile={"speed_floors": floors, "site_floors": {"sm_clock_mhz": {"ratio": 0.7}}}))
    assert proof.profile["floors"]["copy_gb_per_s"]["evidence"] == "unknown"
    assert proof.profile["floors"]["sm_clock_mhz"] == {"nominal": 93.6, "ratio": 0.7}


def test_changed_package_changes_host(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changed, "packages", lambda _host: {"cuda-nvcc-13-0": "13.0.88-1"})
    settings = options(python=str(bare), history=str(tmp_path / "history"))
    assert "no proof" in Proof(settings).changed_host()[0]
    Proof(settings).run()
    assert Proof(settings).changed_host() == []
    monkeypatch.setattr(changed, "packages", lambda _host: {"cuda-nvcc-13-0": "13.0.96-1"})
    assert Proof(settings).changed_host() == ["cuda-nvcc-13-0: 13.0.88-1 -> 13.0.96-1"]


def test_survey_counts_operators_of_last_runs(tmp_path: Path) -> None:
    before = {"format": verdict.FORMAT, "environment_id": None, "checks": [{"name": "survey.float32"}]}
    before["checks"][0]["covered"] = ["add", "mul"]  # type: ignore[index]
    (tmp_path / "2026-11-24T000000Z.json").write_text(json.dumps(before))
    rows = [Result("survey.float32", "pass", "1 of 2 operators", covered=["add"]), Result("gpu", "pass", "one")]
    Proof(options(python=sys.executable, history=str(tmp_path)))._add_coverage(rows)
    assert "last 2 runs; not" in rows[0].measured and rows[0].measured.endswith(": mul")
    assert rows[1].measured == "one"


@pytest.mark.parametrize(("cores", "on_the_host", "on_the_gpu"), [(2, 1, 2), (20, 7, 23)])
def test_lanes_of_checks(cores: int, on_the_host: int, on_the_gpu: int) -> None:
    parallel, alone = catalogue.lanes(list(catalogue.CHECKS), cores)
    assert [lane[0] == "device.cuda" for lane in parallel].count(True) == on_the_gpu == len(parallel) - on_the_host
    for names in parallel:
        assert (names[0] == "device.cuda") == any(catalogue.CHECKS[name].device == "cuda" for name in names)
    assert {catalogue.CHECKS[name].family for name in alone} == {"device", "tensors", "speed"}
    assert {name for lane in (*parallel, alone) for name in lane} == set(catalogue.CHECKS)
    assert all(catalogue.CHECKS[name].device != "cuda" for name in parallel[0])


def test_staged_environment_has_its_own_receipt_and_interpreter(tmp_path: Path) -> None:
    environments = tmp_path / "envs" / "torch"
    for name, version in (("old", "2.9.1"), ("new", "2.10.0")):
        directory = environments / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
        receipt = {"schema": 2, "environment_id": name, "packages": {"torch": version}, "library_paths": []}
        (directory / "receipt.json").write_text(json.dumps(receipt))
    (environments / "current").symlink_to("old")
    (tmp_path / "receipts").mkdir()
    current = {**json.loads((environments / "old" / "receipt.json").read_text()), "name": "torch"}
    (tmp_path / "receipts" / "env-torch.json").write_text(json.dumps(current))
    reference = {"root": str(tmp_path), "environment": "torch"}

    staged = Proof(options(reference={**reference, "environment_id": "new"}))
    assert staged.python == str(environments / "new" / "bin" / "python")
    report = staged.run()
    assert (report["environment_id"], staged.is_current()) == ("new", False)
    assert staged.reference["receipt"]["packages"] == {"torch": "2.10.0"}
    assert staged.reference["receipt"]["paths"]["environment"] == str(environments / "new")
    assert "envs/torch/new/bin/python" in rows(report)["python"]["cause"]

    used = Proof(options(reference={**reference, "environment_id": None}))
    assert used.python == str(environments / "old" / "bin" / "python")
    assert (used.run()["environment_id"], used.is_current()) == ("old", True)
    assert used.reference["receipt"]["packages"] == {"torch": "2.9.1"}
    assert Proof(options(reference={**reference, "environment_id": "old"})).is_current()
    with pytest.raises(SparkforgeError, match="valid environment id"):
        Proof(options(reference={**reference, "environment_id": "../old"}))


#: A stand-in for an environment's interpreter that records its privileges, variables and its directory's owner.
STATE_WRITER = """#!{python}
import json, os, sys
rows = (line.split(":") for line in open("/proc/self/status"))
state = {{"status": {{key: value.split() for key, value in rows}}, "variables": dict(os.environ)}}
state["owner"] = os.stat(os.path.dirname(sys.argv[1])).st_uid
json.dump(state, open({file!r}, "w"))
"""


@pytest.fixture
def output(open_path: Path) -> Path:
    """A file that any account can write to."""
    (open_path / "output").touch()
    (open_path / "output").chmod(0o666)
    return open_path / "output"


@pytest.mark.parametrize("user", ["", "nobody"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another account compute")
def test_checks_have_only_rights_of_account(output: Path, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    for name in ("SECRET", "TRITON_PTXAS_PATH"):
        monkeypatch.setenv(name, "of the module")
    python = script(output.parent / "python", STATE_WRITER.format(python=interpreter.PYTHON, file=str(output)))
    Proof(options(python=str(python), user=user)).run()
    state = json.loads(output.read_text())
    status = state["status"]
    uid, gid = (pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid) if user else [int(status["Uid"][0])] * 2
    assert (status["Uid"], status["Gid"]) == ([str(uid)] * 4, [str(gid)] * 4)
    assert bool(user) or (uid in unprivileged.ACCOUNTS and status["NoNewPrivs"] == ["1"])
    assert "0" not in status["Groups"] and int(status["CapEff"][0], 16) == int(status["CapInh"][0], 16) == 0
    assert "SECRET" not in state["variables"] and state["variables"]["LOGNAME"]
    # Without it a Triton that was built offline finds no ptxas.
    assert state["variables"]["TRITON_PTXAS_PATH"]
    # The account cannot write to the directory of the program that is run next.
    assert state["owner"] == 0


@pytest.mark.parametrize("prefix", ["", "env -i "], ids=["with variables", "without variables"])
def test_daemon_of_environment_is_killed(output: Path, prefix: str) -> None:
    if prefix and os.geteuid() != 0:
        pytest.skip("without its variables, a daemon is only found by the account that root gives it")
    text = f"#!/bin/sh\n{prefix}setsid sleep 600 &\necho $! > {output}\nsleep 0.2\n"
    python = script(output.parent / "python", text)
    users = [None] if os.geteuid() else [""] if prefix else ["", "nobody"]
    for user in users:
        # The daemon keeps the pipe for results open, so the proof waits until its time limit.
        Proof(options(python=str(python), user=user, limits={"seconds": 2})).run()
        state = Path(f"/proc/{int(output.read_text())}/stat")
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_environment_that_prints_endlessly_is_killed(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "PRINTED", 1 << 20)
    python = script(open_path / "python", "#!/bin/sh\nyes\n")
    row = rows(Proof(options(python=str(python), user="" if os.geteuid() == 0 else None)).run())["python"]
    assert row["status"] == "fail" and "1048576 bytes and was" in row["cause"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the interpreter as another account")
def test_interpreter_in_closed_directory_is_one_failure(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    python = script(tmp_path / "python", "#!/bin/sh\n")
    row = rows(Proof(options(python=str(python), user="")).run())["python"]
    assert "only its owner can enter" in row["cause"] and "verify_user" in row["remedy"]


def test_checks_do_not_get_group_of_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device file without a group of its own belongs to root's."""
    stat, exists = os.stat, os.path.exists
    device = SimpleNamespace(st_gid=0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "chown", lambda *_arguments: None)
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/dev/nvmap" or exists(path))
    monkeypatch.setattr(os, "stat", lambda path, **options: device if path == "/dev/nvmap" else stat(path, **options))
    lanes = lane.Lanes(interpreter.PYTHON, {}, {}, {}, "nobody")
    assert 0 not in lane._identity(lanes, str(tmp_path), str(tmp_path), None)["extra_groups"]


STORED = Path(__file__).parents[3] / "docs/evidence/pytorch-gpu-host/report.json"


def test_stored_report_with_removed_checks_is_read(tmp_path: Path) -> None:
    stored = json.loads(STORED.read_text())
    assert {"torch", "closure"} <= {row["name"] for row in stored["checks"]} and "firmware" not in stored
    (tmp_path / "2026-11-22T142012Z.000000001.json").write_text(STORED.read_text())
    history = _history.History(str(tmp_path))
    report = history.last(stored["environment_id"])
    assert report == stored and verdict.wrong(report) == []
    assert history.baseline([device["name"] for device in stored["devices"]]) == stored
    assert history.covered(history.of_environment(stored["environment_id"])) == {}
    changes = verdict.drift(report, {**report, "driver": "999.1"})["changes"]
    assert [change["what"] for change in changes] == ["driver"]


def test_other_interpreter_gets_profile_of_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[dict[str, Any]] = []

    class RecordingProof:
        def __init__(self, settings: dict[str, Any], progress: bool) -> None:
            assert not progress
            requests.append(settings)

        def run(self) -> dict[str, Any]:
            return {"verdict": "proven"}

    known = {"gb10": {"compute_capability": "12.1", "required_checks": ["gpu"]}, "generic": {}}
    monkeypatch.setattr(cli, "profiles", lambda: known)
    monkeypatch.setattr(run, "Proof", RecordingProof)
    receipts = tmp_path / "receipts"
    receipts.mkdir()
    (receipts / "env-torch.json").write_text("{}")
    python = tmp_path / "envs/torch/5d41402abc4b/bin/python"
    assert cli.prove_other(str(python), "/e/torch", [{"compute_capability": "12.1"}]) == {"verdict": "proven"}
    (settings,) = requests
    assert (settings["python"], settings["profile"]["name"], settings["gpu_required"]) == (str(python), "gb10", True)
    assert settings["profile"]["required_checks"] == ["gpu"] and settings["checks"] == ["*"]
    environment = {"root": str(tmp_path), "environment": "torch", "environment_id": "5d41402abc4b"}
    assert settings["reference"] == {"paths": ["/e/torch/lib"], **environment}


def test_checks_skipped_for_the_same_reason_are_one_line(monkeypatch: pytest.MonkeyPatch, capsys):
    checks = [Result(f"matmul.{number}", "skip", cause="There is no GPU.", family="matmul") for number in range(113)]
    checks += [Result("triton.add", "skip", cause="There is no Triton.", family="triton")]
    report = {
        "checks": [row.as_row() for row in checks], "notices": [],
        "summary": verdict.summary(row.status for row in checks), "verdict": "unproven", "profile": "generic",
        "seconds": 1.0,
    }  # fmt: skip
    monkeypatch.setattr(cli, "profiles", lambda: {"generic": {}})
    monkeypatch.setattr(cli, "prove", lambda _arguments, _known: report)
    assert cli.checks([]) == cli.UNPROVEN
    assert capsys.readouterr().out.splitlines() == [
        "skip  matmul.0, matmul.1, matmul.2, matmul.3 and 109 more: There is no GPU.",
        "skip  triton.add: There is no Triton.",
        "unproven (profile generic, 1 s): 0 pass, 0 warn, 0 fail, 114 skip",
    ]


def test_progress_names_a_check_of_many_lanes_once(capsys: pytest.CaptureFixture[str]) -> None:
    progress = lane.Progress(verbose=True)
    for number in range(3):
        progress.begin(number, ["device.cuda", f"survey.{number}"], waits=False)
    progress.done(2, "device.cuda")
    progress.say()
    assert capsys.readouterr().err == "0 of 4 checks done; running device.cuda, survey.2\n"
