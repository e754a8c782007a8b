"""What a host has of its stack, read from trees that these tests write; no virtual environment is made for it."""

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
TORCH, RICH = "a" * 64, "b" * 64


class Tree:
    """A root as the roles leave it."""

    def __init__(self, root: Path) -> None:
        self.root, self.environments = root / "root", root / "root/envs/torch"
        self.history = root / "history"

    def environment(self, environment_id: str, sha256: str = TORCH, **receipt: t.Any) -> Path:
        place = self.environments / environment_id
        packages = place / "lib/python3.12/site-packages"
        for name in ("torch", "torch-2.9.1.dist-info"):
            (packages / name).mkdir(parents=True)
        (place / "bin").mkdir()
        (place / "bin/python").touch(0o755)
        content = {
            "schema": recorded.SCHEMA,
            "environment_id": environment_id,
            "fingerprint": environment_id,
            "installed": "2026-11-21T10:00:00Z",
            "python": {"path": "/usr/bin/python3.12", "version": "3.12"},
            "packages": {"torch": "2.9.1"},
            "requirements": [f"torch==2.9.1 --hash=sha256:{sha256}"],
            "wheels": [],
            "entries": ["torch", "torch-2.9.1.dist-info"],
            "modules": {},
            "library_paths": [],
            "environment": {},
            **receipt,
        }
        (place / "receipt.json").write_text(json.dumps(content))
        return place

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
        place = self.root / "builds" / name / fingerprint
        place.mkdir(parents=True)
        (place / "state.json").write_text(json.dumps({"format": 1, "name": name, "phase": "build", **state}))
        return place

    def report(self, started: str, **content: t.Any) -> None:
        self.history.mkdir(exist_ok=True)
        report = {"format": verdict.FORMAT, "verdict": "proven", "scope": "gpu", "started": started, **content}
        (self.history / f"{started.replace(':', '')}.000000001.json").write_text(json.dumps(report))

    def look(self, **options: t.Any) -> dict[str, t.Any]:
        given = {"root": str(self.root), "name": "torch", "history": str(self.history), **options}
        timer = mock.patch.object(status, "TIMER", str(self.root / "no.timer"))
        with timer, mock.patch.object(status.time, "time", lambda: 1795255200.0):
            return StackStatus(given, refuse).observe()


def refuse(*_arguments: t.Any, **_options: t.Any) -> t.NoReturn:
    raise AssertionError("a program was started")


@pytest.fixture
def tree(open_path: Path) -> Tree:
    return Tree(open_path)


def snapshot(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))


def test_a_server_that_stays_off_is_told_with_its_reason(tree: Tree) -> None:
    for name in ("serving", "other"):
        (tree.root / "serving" / name).mkdir(parents=True)
    (tree.root / "serving/serving/stopped").write_text(
        "sparkforge-serving.service is off since then.\n  Its last lines: x\n"
    )
    (tree.root / "serving/other/stopped").symlink_to("/etc/shadow")
    assert tree.look()["stopped"] == ["sparkforge-serving.service is off since then. Its last lines: x"]


def test_environments_come_with_their_state_the_current_one_first(tree: Tree) -> None:
    for environment_id in (OLD, NEW, NEXT, "ffffffffffff"):
        tree.environment(environment_id)
    (tree.environments / "debris").mkdir()
    (tree.environments / ".0123.partial").mkdir()
    tree.link(current=NEW, previous=OLD, staged=NEXT)
    before = snapshot(tree.root)
    found = tree.look()
    assert [(row["environment_id"], row["state"]) for row in found["environments"]] == [
        (NEW, "current"),
        (NEXT, "staged"),
        (OLD, "previous"),
        ("ffffffffffff", "older"),
    ]
    assert (found["current"], found["previous"], found["staged"]) == (NEW, OLD, NEXT)
    assert found["environments"][0]["packages"] == {"torch": "2.9.1"}
    assert snapshot(tree.root) == before, "a look changed something"


def test_an_environment_says_what_it_lacks(tree: Tree) -> None:
    place = tree.environment(NEW)
    tree.link(current=NEW)
    assert tree.look()["environments"][0]["missing"] == []
    (place / "lib/python3.12/site-packages/torch").rmdir()
    assert tree.look()["environments"][0]["missing"] == ["torch"]
    (place / "bin/python").unlink()
    assert tree.look()["environments"][0]["missing"] == ["bin/python"]


def test_an_environment_of_the_version_before_says_its_stack(tree: Tree) -> None:
    stack = {"name": "torch-2.9.1", "method": "wheel", "lock_id": "c1b8cad4e018"}
    place = tree.environment(NEW, stack=stack)
    tree.link(current=NEW)
    receipt = json.loads((place / "receipt.json").read_text())
    # Schema 1 called the id as that of the lock is called.
    old = {**receipt, "schema": 1, "lock_id": receipt.pop("environment_id")}
    (place / "receipt.json").write_text(json.dumps(old))
    (row,) = tree.look()["environments"]
    assert (row["environment_id"], row["state"], row["python"], row["stack"]) == (NEW, "current", "3.12", stack)


def test_a_receipt_that_was_changed_vouches_for_nothing(tree: Tree) -> None:
    path = tree.unit("pytorch", "1" * 16, TORCH)
    path.write_text(path.read_text().replace("c" * 40, "d" * 40))
    found = tree.look()
    assert found["changed_receipts"] == [str(path)]


def test_builds_are_those_that_build_info_knows(tree: Tree) -> None:
    tree.unit("triton", "1" * 16, TORCH)
    tree.build("triton", "1" * 16)
    tree.build("llvm", "2" * 16, error={"cause": "No space left.", "remedy": "Make room."})
    running = tree.build("pytorch", "3" * 16, done=1, total=4)
    with (running / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found, known = tree.look(), sealing.observe_all(str(tree.root))
    assert found["running"] == [
        {"name": "pytorch", "fingerprint": "3" * 16, "line": progress.describe(known["running"][0]["state"])}
    ]
    assert found["unfinished"] == [
        {"name": "llvm", "fingerprint": "2" * 16, "phase": "build", "cause": "No space left."}
    ]
    assert [row["name"] for row in known["unfinished"]] == ["llvm"]


def test_the_last_proof_is_that_of_the_current_environment(tree: Tree) -> None:
    tree.environment(NEW)
    tree.environment(NEXT)
    tree.link(current=NEW, staged=NEXT)
    tree.report("2026-11-20T10:00:00Z", environment_id=NEW, verdict="unproven")
    tree.report("2026-11-21T10:00:00Z", environment_id=NEW)
    failed = [{"name": "matmul.float32", "status": "fail"}, {"name": "lu", "status": "pass"}]
    tree.report("2026-11-22T10:00:00Z", environment_id=NEXT, verdict="fail", checks=failed)
    (tree.history / "2026-11-23T100000Z.000000001.json").write_text("{")
    found = tree.look()
    assert (found["proof"]["verdict"], found["proof"]["started"]) == ("proven", "2026-11-21T10:00:00Z")
    assert (found["staged_proof"]["verdict"], found["staged_proof"]["failed"]) == ("fail", ["matmul.float32"])


def test_a_report_of_another_environment_is_better_than_none_and_of_another_format_is_none(tree: Tree) -> None:
    tree.environment(NEW)
    tree.link(current=NEW)
    tree.report("2026-11-21T10:00:00Z", format=1)
    assert tree.look()["proof"] is None
    tree.report("2026-11-20T10:00:00Z", environment_id=OLD)
    assert tree.look()["proof"]["environment_id"] == OLD
    assert tree.look(history=None)["proof"] is None


def test_what_the_proof_writes_is_what_is_read(tree: Tree) -> None:
    options = {"gpu_required": False, "profile": {}, "checks": ["cpu.matmul.float32"], "python": "/nowhere/python"}
    report = run.Proof({**options, "history": str(tree.history)}).run()
    proof = tree.look()["proof"]
    assert {key: proof[key] for key in ("verdict", "started", "summary", "kernel", "packages", "drift")} == {
        key: report[key] for key in ("verdict", "started", "summary", "kernel", "packages", "drift")
    }
    assert proof["failed"] == [check["name"] for check in report["checks"] if check["status"] == "fail"]


def test_the_timer_is_the_one_that_the_role_verify_installs() -> None:
    tasks = (Path(__file__).parents[5] / "roles/verify/tasks/scheduled.yml").read_text()
    assert f"path: {status.TIMER}\n" in tasks
    assert status.TIMER == scheduled.TIMER


def wanted(**changed: t.Any) -> dict[str, t.Any]:
    line = f"torch==2.9.1 --hash=sha256:{TORCH}"
    return {"python": "/usr/bin/python3.12", "requirements": [line], "library_paths": [], "environment": {}, **changed}


def test_a_plan_that_would_fail_says_cause_and_remedy(tree: Tree) -> None:
    plan = tree.look(wanted=wanted(requirements=["torch==2.9.1"]))["plan"]
    assert plan["cause"] == "The requirement 'torch==2.9.1' has no hash." and plan["remedy"]
    assert plan["actions"] == [] and plan["environment_id"] is None


def test_a_name_that_is_no_directory_is_refused(tree: Tree) -> None:
    with pytest.raises(SparkforgeError) as refused:
        tree.look(name="../torch")
    assert "'../torch' is not a valid environment name." in refused.value.cause


def test_a_boot_without_a_shutdown_before_it_is_told_for_a_week(tree: Tree, monkeypatch: pytest.MonkeyPatch):
    path = tree.root / "down"
    monkeypatch.setattr(guarded, "DIRECTORY", str(path.parent))
    tree.root.mkdir(parents=True, exist_ok=True)
    path.write_text("The machine went down without a shutdown after noon.\n")
    assert tree.look()["stopped"] == ["The machine went down without a shutdown after noon."]
    os.utime(path, (0, 0))
    assert tree.look()["stopped"] == []


def test_a_unit_that_the_guard_keeps_off_is_named(tree: Tree, monkeypatch: pytest.MonkeyPatch):
    state = tree.root / "guard"
    state.mkdir(parents=True)
    monkeypatch.setattr(guarded, "DIRECTORY", str(state))
    assert tree.look()["stopped"] == []
    assert brakes.may_start(str(state), "ollama.service", "one") == ""
    assert brakes.may_start(str(state), "ollama.service", "two")
    assert [line.partition(":")[0] for line in tree.look()["stopped"]] == ["ollama.service stays off"]
