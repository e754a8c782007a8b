"""The status of a host's stack, read from directory trees that these tests write."""

import fcntl
import json
import os
import typing as t
from pathlib import Path
from unittest import mock

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import status
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.status import StackStatus
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import guarded
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model, progress, receipt as sealing
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import environment as recorded
from sparkforge_guard import brakes
from sparkforge_proof import run, scheduled, verdict

OLD, NEW, NEXT = "0cc175b9c0f1", "5d41402abc4b", "8a2b11112222"
TORCH = "a" * 64


class Tree:
    """A root directory as the roles leave it."""

    def __init__(self, root: Path) -> None:
        self.root, self.environments = root / "root", root / "root/envs/torch"
        self.history = root / "history"

    def environment(self, environment_id: str, sha256: str = TORCH, **receipt: t.Any) -> Path:
        directory = self.environments / environment_id
        packages = directory / "lib/python3.12/site-packages"
        for name in ("torch", "torch-2.9.1.dist-info"):
            (packages / name).mkdir(parents=True)
        (directory / "bin").mkdir()
        (directory / "bin/python").touch(0o755)
        content = {
            "schema": recorded.SCHEMA, "environment_id": environment_id, "fingerprint": environment_id,
            "installed": "2026-11-21T10:00:00Z", "python": {"path": "/usr/bin/python3.12", "version": "3.12"},
            "packages": {"torch": "2.9.1"}, "requirements": [f"torch==2.9.1 --hash=sha256:{sha256}"], "wheels": [],
            "entries": ["torch", "torch-2.9.1.dist-info"], "modules": {}, "library_paths": [], "environment": {},
            **receipt,
        }  # fmt: skip
        (directory / "receipt.json").write_text(json.dumps(content))
        return directory

    def link(self, **links: str) -> None:
        for name, target in links.items():
            (self.environments / name).symlink_to(target)

    def unit(self, name: str, fingerprint: str, sha256: str, finished: str = "2026-11-21T09:00:00Z") -> Path:
        content = {
            "format": 1,
            "name": name,
            "fingerprint": fingerprint,
            "platform": "ubuntu24.04-aarch64",
            "finished": finished,
            "host": "spark01",
            "inputs": {"source": {"commit": "c" * 40}},
            "outputs": [{"name": name, "version": "2.9.1", "path": f"{name}.whl", "sha256": sha256, "size": 1}],
        }
        path = self.root / f"receipts/units/{name}-{fingerprint}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**content, "seal": model.fingerprint(content)}))
        return path

    def build(self, name: str, fingerprint: str, **state: t.Any) -> Path:
        directory = self.root / "builds" / name / fingerprint
        directory.mkdir(parents=True)
        (directory / "state.json").write_text(json.dumps({"format": 1, "name": name, "phase": "build", **state}))
        return directory

    def report(self, started: str, **content: t.Any) -> None:
        self.history.mkdir(exist_ok=True)
        report = {"format": verdict.FORMAT, "verdict": "proven", "scope": "gpu", "started": started, **content}
        (self.history / f"{started.replace(':', '')}.000000001.json").write_text(json.dumps(report))

    def observe(self, **options: t.Any) -> dict[str, t.Any]:
        defaults = {"root": str(self.root), "name": "torch", "history": str(self.history)}
        timer = mock.patch.object(status, "TIMER", str(self.root / "no.timer"))
        with timer, mock.patch.object(status.time, "time", lambda: 1795255200.0):
            return StackStatus({**defaults, **options}, refuse).observe()


def refuse(*_arguments: t.Any, **_options: t.Any) -> t.NoReturn:
    raise AssertionError("a program was started")


@pytest.fixture
def tree(open_path: Path) -> Tree:
    return Tree(open_path)


def snapshot(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))


def test_stopped_server_is_reported_with_reason(tree: Tree) -> None:
    for name in ("serving", "other"):
        (tree.root / "serving" / name).mkdir(parents=True)
    stopped = tree.root / "serving/serving/stopped"
    stopped.write_text("sparkforge-serving.service is off since then.\n  Its last lines: x\n")
    (tree.root / "serving/other/stopped").symlink_to("/etc/shadow")
    assert tree.observe()["stopped"] == ["sparkforge-serving.service is off since then. Its last lines: x"]


def test_environments_have_states_current_first(tree: Tree) -> None:
    for environment_id in (OLD, NEW, NEXT, "ffffffffffff"):
        tree.environment(environment_id)
    (tree.environments / "debris").mkdir()
    (tree.environments / ".0123.partial").mkdir()
    tree.link(current=NEW, previous=OLD, staged=NEXT)
    before = snapshot(tree.root)
    observed = tree.observe()
    states = {row["environment_id"]: row["state"] for row in observed["environments"]}
    expected = {NEW: "current", NEXT: "staged", OLD: "previous", "ffffffffffff": "older"}
    assert list(states.items()) == list(expected.items())
    assert (observed["current"], observed["previous"], observed["staged"]) == (NEW, OLD, NEXT)
    assert observed["environments"][0]["packages"] == {"torch": "2.9.1"}
    assert snapshot(tree.root) == before, "the observation changed a file"


def test_missing_parts_of_environment_are_named(tree: Tree) -> None:
    directory = tree.environment(NEW)
    tree.link(current=NEW)
    assert tree.observe()["environments"][0]["missing"] == []
    (directory / "lib/python3.12/site-packages/torch").rmdir()
    assert tree.observe()["environments"][0]["missing"] == ["torch"]
    (directory / "bin/python").unlink()
    assert tree.observe()["environments"][0]["missing"] == ["bin/python"]


def test_changed_receipt_is_reported(tree: Tree) -> None:
    path = tree.unit("pytorch", "1" * 16, TORCH)
    path.write_text(path.read_text().replace("c" * 40, "d" * 40))
    assert tree.observe()["changed_receipts"] == [str(path)]


def test_builds_match_build_info(tree: Tree) -> None:
    tree.unit("triton", "1" * 16, TORCH)
    tree.build("triton", "1" * 16)
    tree.build("llvm", "2" * 16, error={"cause": "No space left.", "remedy": "Make room."})
    with (tree.build("pytorch", "3" * 16, done=1, total=4) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        observed, builds = tree.observe(), sealing.observe_all(str(tree.root))
    line = progress.describe(builds["running"][0]["state"])
    assert observed["running"] == [{"name": "pytorch", "fingerprint": "3" * 16, "line": line}]
    llvm = {"name": "llvm", "fingerprint": "2" * 16, "phase": "build", "cause": "No space left."}
    assert observed["unfinished"] == [llvm]
    assert [row["name"] for row in builds["unfinished"]] == ["llvm"]


def test_last_proof_belongs_to_current_environment(tree: Tree) -> None:
    tree.environment(NEW)
    tree.environment(NEXT)
    tree.link(current=NEW, staged=NEXT)
    tree.report("2026-11-20T10:00:00Z", environment_id=NEW, verdict="unproven")
    tree.report("2026-11-21T10:00:00Z", environment_id=NEW)
    failed = [{"name": "matmul.float32", "status": "fail"}, {"name": "lu", "status": "pass"}]
    tree.report("2026-11-22T10:00:00Z", environment_id=NEXT, verdict="fail", checks=failed)
    (tree.history / "2026-11-23T100000Z.000000001.json").write_text("{")
    observed = tree.observe()
    assert (observed["proof"]["verdict"], observed["proof"]["started"]) == ("proven", "2026-11-21T10:00:00Z")
    assert (observed["staged_proof"]["verdict"], observed["staged_proof"]["failed"]) == ("fail", ["matmul.float32"])


def test_proof_of_another_environment_or_format(tree: Tree) -> None:
    tree.environment(NEW)
    tree.link(current=NEW)
    tree.report("2026-11-21T10:00:00Z", format=1)
    assert tree.observe()["proof"] is None
    tree.report("2026-11-20T10:00:00Z", environment_id=OLD)
    assert tree.observe()["proof"]["environment_id"] == OLD
    assert tree.observe(history=None)["proof"] is None


def test_report_written_by_the_proof_is_read(tree: Tree) -> None:
    options = {"gpu_required": False, "profile": {}, "checks": ["cpu.matmul.float32"], "python": "/nowhere/python"}
    report = run.Proof({**options, "history": str(tree.history)}).run()
    proof = tree.observe()["proof"]
    keys = ("verdict", "started", "summary", "kernel", "packages", "drift")
    assert [proof[key] for key in keys] == [report[key] for key in keys]
    assert proof["failed"] == [check["name"] for check in report["checks"] if check["status"] == "fail"]


def test_timer_is_installed_by_role_verify() -> None:
    tasks = (Path(__file__).parents[5] / "roles/verify/tasks/scheduled.yml").read_text()
    assert f"path: {status.TIMER}\n" in tasks
    assert status.TIMER == scheduled.TIMER


def requested_environment(**changed: t.Any) -> dict[str, t.Any]:
    line = f"torch==2.9.1 --hash=sha256:{TORCH}"
    return {"python": "/usr/bin/python3.12", "requirements": [line], "library_paths": [], "environment": {}, **changed}


def test_failing_plan_has_cause_and_remedy(tree: Tree) -> None:
    plan = tree.observe(wanted=requested_environment(requirements=["torch==2.9.1"]))["plan"]
    assert plan["cause"] == "The requirement 'torch==2.9.1' has no hash." and plan["remedy"]
    assert plan["actions"] == [] and plan["environment_id"] is None


def test_invalid_environment_name_is_refused(tree: Tree) -> None:
    with pytest.raises(SparkforgeError) as refused:
        tree.observe(name="../torch")
    assert "'../torch' is not a" in refused.value.cause


def test_missing_shutdown_is_reported_for_a_week(tree: Tree, monkeypatch: pytest.MonkeyPatch):
    path = tree.root / "down"
    monkeypatch.setattr(guarded, "DIRECTORY", str(path.parent))
    tree.root.mkdir(parents=True, exist_ok=True)
    path.write_text("The machine went down without a shutdown after noon.\n")
    assert tree.observe()["stopped"] == ["The machine went down without a shutdown after noon."]
    os.utime(path, (0, 0))
    assert tree.observe()["stopped"] == []


def test_unit_stopped_by_the_guard_is_named(tree: Tree, monkeypatch: pytest.MonkeyPatch):
    state = tree.root / "guard"
    state.mkdir(parents=True)
    monkeypatch.setattr(guarded, "DIRECTORY", str(state))
    assert tree.observe()["stopped"] == []
    assert brakes.may_start(str(state), "ollama.service", "one") == ""
    assert brakes.may_start(str(state), "ollama.service", "two")
    assert [line.partition(":")[0] for line in tree.observe()["stopped"]] == ["ollama.service stays off"]
