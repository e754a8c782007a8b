"""What the proof does around the checks: options, an environment that cannot be used, history. No torch is needed."""

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sparkforge_proof import catalogue, changed, cli, history as _history, lane, run, verdict
from sparkforge_proof._shared.module_utils._core import unprivileged
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof.check import Result
from sparkforge_proof.run import Proof

from tests.unit import interpreter

FLOOR = {"matmul_bfloat16_tflops": {"nominal": 93.6, "ratio": 0.6}}


def options(**changed: Any) -> dict[str, Any]:
    return {"gpu_required": False, "profile": {"name": "generic"}, "checks": ["cpu.matmul.float32"], **changed}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An environment without torch."""
    directory = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    return directory / "bin" / "python"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"checks": ["matmull.*"]}, "'matmull.*' in checks matches no check"),
        ({"profile": {"required_checks": ["atention.*"]}}, "'atention.*' in the profile's required checks matches no"),
        ({"limits": {"memory_shar": 0.5}}, "limits has the unknown key 'memory_shar'"),
        ({"limits": {"factor": -1}}, "limits.factor is -1"),
        ({"limits": {"memory_share": 0.99}}, "limits.memory_share is 0.99"),
        (
            {"profile": {"name": "mine", "speed_floors": {"copy_gb_per_s": {"nominal": 273.0}}}},
            "The floor copy_gb_per_s of the profile mine has no ratio",
        ),
        ({"profile": {"site_floors": {"copy_gb_per_s": {"ratio": 0.1}}}}, "has no nominal"),
        ({"profile": {"site_floors": {"copy_gb_per_s": {"nominal": 9, "ratio": 60}}}}, "has 60 for its ratio"),
        ({"profile": {"site_floors": {"copy_gb_per_s": {"nominal": True, "ratio": 1}}}}, "has True for its nominal"),
        ({"user": "nobody-of-this-name"}, "This host has no account nobody-of-this-name"),
    ],
    ids=["checks", "required", "limit", "factor", "share", "ratio", "nominal", "large", "bool", "user"],
)
def test_options_that_do_not_fit_are_refused_with_cause_and_remedy(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(SparkforgeError) as refused:
        Proof(options(**changed))
    assert words in refused.value.cause and refused.value.remedy


def test_a_floor_that_the_site_lowers_is_in_the_report_and_one_that_it_raises_is_not() -> None:
    lowered = Proof(options(profile={"speed_floors": FLOOR, "site_floors": {"matmul_bfloat16_tflops": {"ratio": 0.2}}}))
    assert lowered.profile["floors"] == {"matmul_bfloat16_tflops": {"nominal": 93.6, "ratio": 0.2}}
    assert lowered.notices == [
        "The floor of matmul_bfloat16_tflops is 0.2 of 93.6; the site lowered it from 0.6 of 93.6."
    ]
    raised = Proof(options(profile={"speed_floors": FLOOR, "site_floors": {"matmul_bfloat16_tflops": {"ratio": 0.9}}}))
    assert raised.notices == []


def rows(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in report["checks"]}


def test_an_environment_without_torch_is_one_failure_and_the_rest_follows_from_it(bare: Path) -> None:
    found = rows(report := Proof(options(python=str(bare))).run())
    assert report["verdict"] == "fail"
    assert found["python"]["cause"] == f"The environment of {bare} has no torch."
    assert "playbooks/deploy.yml" in found["python"]["remedy"]
    assert found["cpu.matmul.float32"]["status"] == "skip" and found["cpu.matmul.float32"]["blocked"]
    assert report["summary"]["fail"] == 1


def test_an_interpreter_that_is_not_there_and_one_that_does_not_start(tmp_path: Path) -> None:
    missing = rows(Proof(options(python=str(tmp_path / "python"))).run())["python"]
    assert missing["cause"] == f"The interpreter {tmp_path / 'python'} does not exist."
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/python\n")
    broken.chmod(0o755)
    assert "does not start: No such file" in rows(Proof(options(python=str(broken))).run())["python"]["cause"]


@pytest.mark.parametrize(
    ("lacks", "expected"),
    [
        ("cpu.companions.", "proven"),
        ("cpu.compilation.", "proven"),
        ("cpu.survey.float32", "proven"),
        ("cpu.survey.", "unproven"),
        ("cpu.matmul.", "unproven"),
    ],
)
def test_complete_run_rests_on_numbers_of_each_family_whatever_the_profile_requires(
    monkeypatch: pytest.MonkeyPatch, lacks: str, expected: str
) -> None:
    def answers(_lanes: lane.Lanes, groups: list[list[str]], _gate: Any = None) -> list[Result]:
        definitions = [catalogue.CHECKS[name] for group in groups for name in group]
        skip = "There is no numpy. Run python -m pip install numpy."
        return [
            definition.result("skip", cause=skip) if definition.name.startswith(lacks) else definition.result("pass")
            for definition in definitions
        ]

    monkeypatch.setattr(lane, "run", answers)
    report = Proof(options(checks=["*"], profile={"name": "generic", "required_checks": []})).run()
    said = [f"No number of {lacks.rstrip('.')} was computed. There is no numpy. Run python -m pip install numpy."]
    assert (report["verdict"], report["notices"]) == (expected, said if expected == "unproven" else [])


def test_what_the_guard_of_the_host_did_is_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.guarded, "DIRECTORY", str(tmp_path))
    said = {"login": "sparkforge-guard ended vllm.", "down": "The machine went down.", "braked": "ollama stays off."}
    for name, text in said.items():
        (tmp_path / name).write_text(f"{text}\n")
    assert Proof(options(python=str(tmp_path / "python"))).run()["notices"] == list(said.values())
    for name in said:
        os.utime(tmp_path / name, (0, 0))  # weeks ago
    assert Proof(options(python=str(tmp_path / "python"))).run()["notices"] == ["ollama stays off."]


def test_an_interpreter_that_says_nothing_is_ended(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nsleep 600\n")
    silent.chmod(0o755)
    found = rows(Proof(options(python=str(silent), limits={"seconds": 1})).run())["python"]
    assert "did not respond in time" in found["cause"]


#: An interpreter of an environment that answers whatever it likes.
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
def test_an_environment_that_answers_anything_is_one_failure(tmp_path: Path, code: str) -> None:
    hostile = tmp_path / "hostile"
    hostile.write_text(HOSTILE.format(python=sys.executable, code=code))
    hostile.chmod(0o755)
    report = Proof(options(python=str(hostile), limits={"seconds": 2})).run()
    assert rows(report)["python"]["status"] == "fail" and report["verdict"] == "fail"


def test_what_the_proof_waits_for_is_said_once_and_without_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = tmp_path / "waiting"
    code = """for seconds in (5, 6, 7):
    say({'event': 'waiting', 'users': ['vllm\\x1b[2J\\n (process 4711)'], 'seconds': seconds})"""
    waiting.write_text(HOSTILE.format(python=sys.executable, code=code))
    waiting.chmod(0o755)
    Proof(options(python=str(waiting), limits={"seconds": 20})).run()
    assert capsys.readouterr().err == (
        "Waiting for the GPU, 5 s so far: CUDA does not start, and it is in use by vllm\ufffd[2J  (process 4711).\n"
    )


def test_gpu_that_one_lane_reached_is_not_failed_by_one_that_came_too_late() -> None:
    rows = [
        Result("device.cuda", "fail", cause="device.cuda did not respond within 120 seconds.", reason="timeout"),
        Result("device.cuda", "pass"),
        Result("matmul.float32", "fail", reason="timeout"),
    ]
    late = {row.name: row for row in lane.merged(rows)}
    assert (late["device.cuda"].status, late["device.cuda"].reason) == ("fail", "slow")
    assert late["matmul.float32"].reason == "timeout"
    verdict.judge(rows, catalogue.CHECKS, ["9.0", "torch 2.14"], [])
    assert [row.status for row in rows] == ["warn", "pass", "fail"]
    (alone,) = lane.merged([Result("device.cuda", "fail", reason="timeout")])
    assert alone.reason == "timeout"


@pytest.mark.parametrize("how", ["the import", "a check"])
def test_environment_that_a_busy_machine_keeps_from_its_work_only_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(
        lane.sampler, "hindrance", lambda _leader: "other processes had the processor for 90% of its time"
    )
    slow = tmp_path / "slow"
    ready = "say({'event': 'ready', 'software': {}})" if how == "a check" else ""
    slow.write_text(HOSTILE.format(python=sys.executable, code=f"{ready}\nimport time\ntime.sleep(600)"))
    slow.chmod(0o755)
    report = Proof(options(python=str(slow), limits={"seconds": 1})).run()
    row = rows(report)["cpu.matmul.float32" if ready else "python"]
    assert (row["status"], row["reason"], report["verdict"]) == ("warn", "slow", "unproven")
    assert "since other processes had the processor for 90% of its time" in row["cause"]


def test_an_environment_has_no_word_on_the_host_s_checks_nor_a_second_one(tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    others = ("driver", "cpu.other", "attention.flash", "python")
    code = f"say(row); say({{**row, 'status': 'fail'}}); [say({{**row, 'name': name}}) for name in {others}]"
    hostile.write_text(HOSTILE.format(python=sys.executable, code=code))
    hostile.chmod(0o755)
    report = Proof(options(python=str(hostile), limits={"seconds": 20})).run()
    before = rows(Proof(options(python=str(hostile)), check_mode=True).run())
    assert rows(report)["cpu.matmul.float32"]["status"] == "pass" and rows(report)["driver"] == before["driver"]
    # Neither what is no check nor one that was not asked for.
    assert not rows(report).keys() & {"cpu.other", "attention.flash", "python"}


def test_a_check_of_the_gpu_is_skipped_with_the_reason_where_none_is_required(bare: Path) -> None:
    report = Proof(options(python=str(bare), checks=["attention.*"], profile={"required_checks": ["*"]})).run()
    found = rows(report)["attention.flash"]
    assert found["status"] == "skip" and "no GPU is required" in found["cause"] and not found["required"]


def test_a_required_check_that_is_not_asked_for_is_told(bare: Path) -> None:
    report = Proof(options(python=str(bare), profile={"required_checks": ["cpu.linalg.*"]})).run()
    beginning = "Required but not selected: cpu.linalg.sparse_product"
    assert any(notice.startswith(beginning) for notice in report["notices"])


def test_check_mode_computes_nothing_remembers_nothing_and_does_not_fail(tmp_path: Path) -> None:
    history = tmp_path / "history"
    report = Proof(options(python="/nowhere/python", history=str(history)), check_mode=True).run()
    assert report["verdict"] == "unproven" and report["check_mode"]
    assert rows(report)["cpu.matmul.float32"]["cause"] == "check mode computes nothing"
    assert not history.exists()


def test_a_report_of_a_clock_that_was_ahead_is_not_the_last_one_for_ever(tmp_path: Path, bare: Path) -> None:
    history = tmp_path / "history"
    Proof(options(python=str(bare), history=str(history), reference={"stack": "ahead"})).run()
    [ahead] = history.iterdir()
    ahead.rename(history / f"2999{ahead.name[4:]}")
    second = Proof(options(python=str(bare), history=str(history), reference={"stack": "now"})).run()
    assert second["drift"]["since"] is None
    [kept] = history.iterdir()
    assert json.loads(kept.read_text())["stack"] == "now"


def test_each_run_is_remembered_and_the_next_one_says_what_differs(bare: Path, tmp_path: Path) -> None:
    history = tmp_path / "history"
    first = Proof(options(python=str(bare), history=str(history), reference={"stack": "one"})).run()
    assert first["drift"] == {"since": None, "changes": []}
    second = Proof(options(python=str(bare), history=str(history), reference={"stack": "two"})).run()
    assert second["drift"]["since"] == first["started"]
    assert {"what": "stack", "before": "one", "now": "two"} in second["drift"]["changes"]
    assert len(list(history.iterdir())) == 2


def test_the_oldest_reports_go_and_a_damaged_one_counts_as_none(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_history, "KEPT", 3)
    history = tmp_path / "history"
    history.mkdir()
    for number in range(4):
        (history / f"2026-01-0{number + 1}T000000Z.000000000.json").write_text("{}")
    (history / "2026-01-05T000000Z.000000000.json").write_text("damaged")
    report = Proof(options(python=str(bare), history=str(history))).run()
    assert report["drift"]["since"] is None
    kept = sorted(path.name for path in history.iterdir())
    assert len(kept) == 3 and json.loads((history / kept[-1]).read_text())["verdict"] == "fail"


def remembered(history: Path, number: int, **changed: Any) -> None:
    rows = [{"name": "speed.copy", "rates": {"gb_per_s": 200.0 + number}}]
    started = f"2026-01-{number:02d}T00:00:00Z"
    report = {"format": verdict.FORMAT, "verdict": "proven", "scope": "gpu", "devices": [], "checks": rows}
    name = f"{started.replace(':', '')}.000000000.json"
    (history / name).write_text(json.dumps({**report, "started": started, **changed}))


def test_the_first_proven_run_sets_the_hosts_floors_and_is_never_forgotten(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    kept = sorted(path.name for path in history.iterdir())
    assert len(kept) == 3 and kept[0].startswith("2026-01-02")
    # What the site sets takes the place of what the host did.
    own = {"copy_gb_per_s": {"nominal": 100.0, "ratio": 0.5}}
    proof = Proof(options(python=str(bare), history=str(history), profile={"site_floors": own}))
    proof.run()
    assert proof.profile["own_floors"] == {}


def test_what_a_site_sets_blocks_and_what_the_profile_does_not_vouch_for_keeps_saying_so() -> None:
    floors = {
        name: {"nominal": 93.6, "ratio": 0.6, "evidence": "unknown"} for name in ("copy_gb_per_s", "sm_clock_mhz")
    }
    proof = Proof(options(profile={"speed_floors": floors, "site_floors": {"sm_clock_mhz": {"ratio": 0.7}}}))
    assert proof.profile["floors"]["copy_gb_per_s"]["evidence"] == "unknown"
    assert proof.profile["floors"]["sm_clock_mhz"] == {"nominal": 93.6, "ratio": 0.7}


def test_a_host_has_changed_when_its_kernel_or_a_cuda_package_has(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "packages", lambda _host: {"cuda-nvcc-13-0": "13.0.88-1"})
    settings = options(python=str(bare), history=str(tmp_path / "history"))
    assert Proof(settings).changed_host() == ["there is no proof yet"]
    Proof(settings).run()
    assert Proof(settings).changed_host() == []
    monkeypatch.setattr(changed, "packages", lambda _host: {"cuda-nvcc-13-0": "13.0.96-1"})
    assert Proof(settings).changed_host() == ["cuda-nvcc-13-0: 13.0.88-1 -> 13.0.96-1"]


def test_a_survey_says_what_the_last_runs_of_the_host_computed_together(tmp_path: Path) -> None:
    before = {"format": verdict.FORMAT, "environment_id": None, "checks": [{"name": "survey.float32"}]}
    before["checks"][0]["covered"] = ["add", "mul"]  # type: ignore[index]
    (tmp_path / "2026-11-24T000000Z.json").write_text(json.dumps(before))
    rows = [Result("survey.float32", "pass", "1 of 2 operators", covered=["add"]), Result("gpu", "pass", "one")]
    Proof(options(python=sys.executable, history=str(tmp_path)))._say_covered(rows)
    said = [row.measured for row in rows]
    assert said == ["1 of 2 operators; over the last 2 runs 2 operators, not this time mul", "one"]


@pytest.mark.parametrize(("cores", "on_the_host", "on_the_gpu"), [(2, 1, 2), (20, 6, 22)])
def test_what_runs_side_by_side_and_what_runs_alone(cores: int, on_the_host: int, on_the_gpu: int) -> None:
    beside, after = catalogue.lanes(list(catalogue.CHECKS), cores)
    assert [lane[0] == "device.cuda" for lane in beside].count(True) == on_the_gpu == len(beside) - on_the_host
    for names in beside:
        assert (names[0] == "device.cuda") == any(catalogue.CHECKS[name].device == "cuda" for name in names)
    assert {catalogue.CHECKS[name].family for name in after} == {"device", "tensors", "speed"}
    assert {name for lane in (*beside, after) for name in lane} == set(catalogue.CHECKS)
    assert all(catalogue.CHECKS[name].device != "cuda" for name in beside[0])


def test_a_staged_environment_is_proven_by_its_own_receipt_and_interpreter(tmp_path: Path) -> None:
    environments = tmp_path / "envs" / "torch"
    for name, version in (("old", "2.9.1"), ("new", "2.10.0")):
        directory = environments / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
        receipt = {"schema": 1, "lock_id": name, "packages": {"torch": version}, "modules": {}, "library_paths": []}
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
    with pytest.raises(SparkforgeError, match="is not a valid environment id"):
        Proof(options(reference={**reference, "environment_id": "../old"}))


#: An interpreter of an environment that says as whom it was started, and with what.
TELLS = """#!{python}
import json, os, sys
rows = (line.split(":") for line in open("/proc/self/status"))
said = {{"status": {{key: value.split() for key, value in rows}}, "variables": dict(os.environ)}}
said["owner"] = os.stat(os.path.dirname(sys.argv[1])).st_uid
json.dump(said, open({told!r}, "w"))
"""


@pytest.mark.parametrize("user", ["", "nobody"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another account compute")
def test_the_checks_have_the_account_s_rights_and_no_others(
    open_path: Path, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    monkeypatch.setenv("SECRET", "of the module")
    told, python = open_path / "told", open_path / "python"
    told.touch()
    told.chmod(0o666)
    python.write_text(TELLS.format(python=interpreter.PYTHON, told=str(told)))
    python.chmod(0o755)
    Proof(options(python=str(python), user=user)).run()
    said = json.loads(told.read_text())
    status = said["status"]
    uid, gid = (pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid) if user else [int(status["Uid"][0])] * 2
    assert (status["Uid"], status["Gid"]) == ([str(uid)] * 4, [str(gid)] * 4)
    assert bool(user) or (uid in unprivileged.ACCOUNTS and status["NoNewPrivs"] == ["1"])
    assert "0" not in status["Groups"] and int(status["CapEff"][0], 16) == int(status["CapInh"][0], 16) == 0
    assert "SECRET" not in said["variables"] and said["variables"]["LOGNAME"]
    # What is run next lies where the account writes nothing.
    assert said["owner"] == 0


@pytest.mark.parametrize("hides", ["", "env -i "], ids=["as it was started", "without the variable that tells it"])
def test_a_daemon_of_an_environment_does_not_outlive_its_proof(open_path: Path, hides: str) -> None:
    if hides and os.geteuid() != 0:
        pytest.skip("only root has an account by which it is found all the same")
    told, python = open_path / "told", open_path / "python"
    told.touch()
    told.chmod(0o666)
    python.write_text(f"#!/bin/sh\n{hides}setsid sleep 600 &\necho $! > {told}\nsleep 0.2\n")
    python.chmod(0o755)
    users = [None] if os.geteuid() else [""] if hides else ["", "nobody"]
    for user in users:
        # The daemon keeps the results' pipe, so that the proof waits for as long.
        Proof(options(python=str(python), user=user, limits={"seconds": 2})).run()
        state = Path(f"/proc/{int(told.read_text())}/stat")
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_an_environment_that_prints_without_an_end_is_killed(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "PRINTED", 1 << 20)
    python = open_path / "python"
    python.write_text("#!/bin/sh\nyes\n")
    python.chmod(0o755)
    report = Proof(options(python=str(python), user="" if os.geteuid() == 0 else None)).run()
    (row,) = (row for row in report["checks"] if row["name"] == "python")
    assert row["status"] == "fail" and "It printed more than 1048576 bytes and was killed" in row["cause"]


@pytest.mark.skipif(os.geteuid() != 0, reason="anybody else has the interpreter run as themselves")
def test_an_interpreter_that_no_account_may_enter_is_one_row_with_a_remedy(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    report = Proof(options(python=str(python), user="")).run()
    (row,) = (row for row in report["checks"] if row["name"] == "python")
    assert "only its owner can enter" in row["cause"] and "verify_user" in row["remedy"]


def test_root_s_group_is_no_group_of_the_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device of a host without a group of its own is root's."""
    stat, exists = os.stat, os.path.exists
    device = SimpleNamespace(st_gid=0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "chown", lambda *_arguments: None)
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/dev/nvmap" or exists(path))
    monkeypatch.setattr(os, "stat", lambda path, **how: device if path == "/dev/nvmap" else stat(path, **how))
    lanes = lane.Lanes(interpreter.PYTHON, {}, {}, {}, "nobody")
    assert 0 not in lane._identity(lanes, str(tmp_path), str(tmp_path), None)["extra_groups"]


STORED = Path(__file__).parents[3] / "docs/evidence/pytorch-gpu-host/report.json"


def test_stored_report_with_rows_that_are_gone_is_still_read(tmp_path: Path) -> None:
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


def test_another_interpreter_is_proven_by_the_profile_of_the_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    class Asked:
        def __init__(self, given: dict[str, Any], progress: bool) -> None:
            assert not progress
            asked.append(given)

        def run(self) -> dict[str, Any]:
            return {"verdict": "proven"}

    known = {"gb10": {"compute_capability": "12.1", "required_checks": ["gpu"]}, "generic": {}}
    monkeypatch.setattr(cli, "profiles", lambda: known)
    monkeypatch.setattr(run, "Proof", Asked)
    receipts = tmp_path / "receipts"
    receipts.mkdir()
    (receipts / "env-torch.json").write_text("{}")
    python = tmp_path / "envs/torch/5d41402abc4b/bin/python"
    assert cli.prove_other(str(python), "/e/torch", [{"compute_capability": "12.1"}]) == {"verdict": "proven"}
    (given,) = asked
    assert (given["python"], given["profile"]["name"], given["gpu_required"]) == (str(python), "gb10", True)
    assert given["profile"]["required_checks"] == ["gpu"] and given["checks"] == ["*"]
    place = {"root": str(tmp_path), "environment": "torch", "environment_id": "5d41402abc4b"}
    assert given["reference"] == {"paths": ["/e/torch/lib"], **place}
