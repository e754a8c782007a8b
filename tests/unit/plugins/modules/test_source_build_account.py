"""Root has another account build: what that account may do meanwhile, and what root does in its directories."""

import json
import os
import pwd
import stat
import subprocess
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached, disk, processes
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    engine,
    model,
    receipt as sealing,
    state_file,
)

from tests.unit import interpreter
from tests.unit.engine_host import EngineHost
from tests.unit.run_module import run_module

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has another account build; CI runs as root")

#: Owns nothing on any host. Another one would have to be made on the machine that runs the tests.
BUILDER = "nobody"


@pytest.fixture
def host(open_path: Path) -> EngineHost:
    made = EngineHost(open_path, BUILDER)
    made.record.touch()
    made.record.chmod(0o666)
    return made


def owners(directory: Path) -> set[str]:
    return {pwd.getpwuid(path.lstat().st_uid).pw_name for path in [directory, *directory.rglob("*")]}


def test_what_builds_has_the_account_s_rights_and_no_others(host: EngineHost) -> None:
    host.tells_who_compiles()
    done = host.built(host.project(2), keep=1)
    entry = pwd.getpwnam(BUILDER)
    groups = os.getgrouplist(BUILDER, entry.pw_gid)
    said = [json.loads(line) for line in (host.place / "who").read_text().splitlines()]
    # The others ask for a version.
    built = [(status["NoNewPrivs"], status["worker"]) for status in said if status["built"]]
    assert len(built) >= len(host.compiled()) == 2 and built == [([1], [1])] * len(built)
    for status in said:
        assert status["Uid"] == [entry.pw_uid] * 4 and status["Gid"] == [entry.pw_gid] * 4
        assert sorted(status["Groups"]) == sorted(groups)
        assert status["CapEff"] == status["CapPrm"] == [0]
    assert owners(host.root / "builds") == owners(Path(done["artefact"])) == {BUILDER}
    # What hosts install follows from these.
    assert owners(host.root / "receipts") == {"root"}
    assert (host.root / "wheelhouse").owner() == Path(done["artefact"]).parents[1].owner() == "root"


def test_what_may_hold_a_password_is_the_account_s_alone(host: EngineHost) -> None:
    done = host.built(host.project(2), keep=1)
    for name in ("request.json", "network.json"):
        path = host.directory(done) / name
        assert not path.exists() or stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_account_may_write_the_log_and_not_put_another_in_its_place(host: EngineHost) -> None:
    done = host.built(host.project(2))
    log = Path(done["log"])
    assert log.owner() == BUILDER and stat.S_IMODE(log.stat().st_mode) == 0o644
    assert host.logs.owner() == "root" and not host.logs.stat().st_mode & 0o022
    assert (host.root / "receipts").owner() == "root"


def as_builder(program: str, *words: str) -> int:
    """Run a program of Python as the account that builds; return its exit status."""
    command = ["setpriv", f"--reuid={BUILDER}", "--clear-groups", interpreter.PYTHON, "-c", program, *words]
    return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode


def forged(receipt: Path, **changed: t.Any) -> str:
    """Return the text of a receipt that says something else, with the seal that belongs to that."""
    return sealing.text_of(sealing.sealed({**json.loads(receipt.read_text()), **changed})).decode()


WRITE = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"


def test_a_later_build_cannot_say_what_an_earlier_one_made(host: EngineHost) -> None:
    source = host.project(2)
    done = host.built(source)
    receipt, copy = Path(done["receipt"]), Path(done["artefact"]) / "receipt.json"
    before = receipt.read_text()
    text = forged(receipt, host="elsewhere")
    assert as_builder(WRITE, str(receipt), text) != 0
    assert as_builder("import os, sys; os.unlink(sys.argv[1])", str(receipt)) != 0
    assert as_builder("import os, sys; os.rename(sys.argv[1], sys.argv[1] + '-')", str(copy.parents[1])) != 0
    assert as_builder(WRITE, str(copy), text) == 0
    again = host.build(source)
    assert (again["status"], receipt.read_text()) == ("unchanged", before)


def test_what_no_build_of_ours_made_is_not_taken(host: EngineHost) -> None:
    """The account plants an artefact of a unit that it was not yet asked to build."""
    done = host.built(host.project(2))
    source = host.project(3)
    asked = host.build(source, check_mode=True)
    text = forged(Path(done["receipt"]), fingerprint=asked["fingerprint"])
    plant = (
        "import os, shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2]);"
        " open(os.path.join(sys.argv[2], 'receipt.json'), 'w').write(sys.argv[3])"
    )
    assert as_builder(plant, done["artefact"], asked["artefact"], text) == 0
    assert host.build(source, check_mode=True)["status"] == "would_build"
    built = host.built(source)
    assert built["status"] == "built" and Path(built["receipt"]).read_text() != text


def test_a_build_that_nobody_saw_end_is_not_made_twice(host: EngineHost) -> None:
    source = host.project(2)
    started = host.build(source)
    host.wait_until(lambda: host.state(started).get("status") == "succeeded")
    assert not Path(started["receipt"]).exists()
    assert host.build(source, check_mode=True)["status"] == "unchanged"
    assert not Path(started["receipt"]).exists()
    found = host.build(source)
    assert (found["status"], Path(found["receipt"]).owner()) == ("unchanged", "root")


@pytest.mark.parametrize("planted", ["builds", "wheelhouse", "log"])
def test_no_link_is_followed_with_root_s_rights(host: EngineHost, planted: str) -> None:
    """A directory or a file of root's would become the account's."""
    source = host.project(2)
    mark = host.build(source, check_mode=True)["fingerprint"]
    victim = host.place / "victim"
    if planted == "log":
        victim.write_text("root's")
        link = host.logs / f"tiny-{mark}.log"
    else:
        victim.mkdir()
        link = host.root / planted
    link.parent.mkdir(parents=True)
    link.symlink_to(victim)
    failed = host.build(source)
    assert failed["failed"] and str(link) in failed["msg"]
    assert victim.owner() == "root" and stat.S_IMODE(victim.stat().st_mode) & 0o022 == 0
    assert victim.is_dir() or victim.read_text() == "root's"


#: What the account makes in the place of a file of its build, ``path``; ``sys.argv[2]`` is root's.
PLANTS = {
    "link": "os.symlink(sys.argv[2], path)",
    "pipe": "os.mkfifo(path)",
    "socket": "socket.socket(socket.AF_UNIX).bind(path)",
    "directory": "os.mkdir(path)",
    "unreadable": "os.close(os.open(path, os.O_CREAT, 0))",
}


@pytest.mark.parametrize("planted", ["state.json", "lock", pytest.param("engine", marks=pytest.mark.long)])
def test_what_the_account_plants_in_its_build_reaches_nothing_of_root_s(host: EngineHost, planted: str) -> None:
    source = host.project(2)
    path = host.directory(host.built(source, keep=1)) / planted
    victim = host.place / "victim"
    victim.write_text("root's")
    victim.chmod(0o600)
    for kind, how in PLANTS.items():
        # By a short name: the path of a socket has 107 characters at most.
        plant = f"import os, socket, sys; os.chdir(os.path.dirname(sys.argv[1])); path = {planted!r}; {how}"
        # On a slow machine the worker of the call before still comes to its lock, and makes the file again.
        for _attempt in range(100):
            disk.remove(str(path))
            if as_builder(plant, str(path), str(victim)) == 0:
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"{path} came back each time")
        seen = run_module("build_info", interpreter=host.python, root=str(host.root))
        assert (seen.get("failed"), seen.get("running")) == (None, []), (kind, seen)
        again = host.build(source, keep=1, rebuild=True, follow=True)
        # What the account has spoilt for itself is said; nothing waits, and nothing is raised.
        assert again.get("status") == "built" or (again["cause"] and again["remedy"]), (kind, again)
    gone = host.absent()
    assert gone["changed"] and not (host.root / "builds").exists()
    assert victim.read_text() == "root's" and stat.S_IMODE(victim.stat().st_mode) == 0o600 and victim.owner() == "root"


#: What a state may say: each wrong in its way, all of it as the account writes it.
LIES: dict[str, t.Any] = {
    "format": 1, "status": "running", "phase": {"a": 1}, "attempts": "many", "done": "x", "total": [1], "elapsed": {},
    "remaining": 1e308, "jobs": {"a": 1}, "available_mib": "x", "notes": [{"a": 1}], "name": ["x"],
    "error": {"cause": 1}, "unit": 7,
}  # fmt: skip


@pytest.mark.parametrize("status", ["running", "failed"])
def test_a_state_that_says_anything_ends_in_one_message(host: EngineHost, status: str) -> None:
    source = host.project(2)
    done = host.built(source, keep=1)
    state = {**LIES, "status": status}
    path = str(host.directory(done) / "state.json")
    assert as_builder(WRITE, path, json.dumps(state)) == 0
    assert [one["error"] for one in run_module("build_info", root=str(host.root))["unfinished"]] == []
    attach = {"fingerprint": done["fingerprint"], "platform": done["platform"], "seen": {}}
    said = host.build(source, attach=attach)
    assert said["cause"].startswith("The build of tiny ended without a message in phase fetch"), said
    held = subprocess.Popen(
        ["setpriv", f"--reuid={BUILDER}", "--clear-groups", "flock", f"{host.directory(done)}/lock", "sleep", "600"]
    )
    try:
        host.wait_until(lambda: bool(run_module("build_info", root=str(host.root))["running"]))
        (running,) = run_module("build_info", root=str(host.root))["running"]
        assert running["line"] == ""
    finally:
        subprocess.run(["pkill", "-P", str(held.pid)], check=False)
        held.kill()
        held.wait()


def test_a_process_id_that_the_account_wrote_ends_nobody(host: EngineHost) -> None:
    """It may have belonged to a worker once; now it is another's, with the marker of the build in its variables."""
    source = host.project(2)
    done = host.built(source, keep=1)
    marker = model.Paths(str(host.root), str(host.logs), "tiny", done["fingerprint"], "").marker
    variables = {"PATH": os.environ["PATH"], processes.MARKER: marker}
    with subprocess.Popen(["sleep", "600"], env=variables) as root_s:
        try:
            state = {**host.state(done), "status": "running", "pid": root_s.pid, "boot_id": detached.boot_id()}
            directory = host.directory(done)
            assert as_builder(WRITE, str(directory / "state.json"), json.dumps(state)) == 0
            # As if that process were still at a file of the build.
            assert as_builder(WRITE, str(directory / f".request.json.{root_s.pid}-01234567"), "x") == 0
            assert host.build(source, keep=1, rebuild=True, follow=True)["status"] == "built"
            assert host.absent()["changed"]
            assert root_s.poll() is None
            assert not (host.root / "builds").exists()
        finally:
            root_s.kill()


def test_signals_of_the_account_end_its_own_build_and_nothing_else(host: EngineHost) -> None:
    source = host.project(2)
    host.gate.touch()
    started = host.build(source)
    host.wait_until(lambda: bool(host.compiled()))
    worker = host.state(started)["pid"]
    mine = str(os.getpid())
    # Its own process group first, then whatever it may reach.
    signals = "import os, sys; os.killpg(os.getpgid(int(sys.argv[1])), 9)"
    assert as_builder(signals, str(worker)) == 0
    assert as_builder("import os, sys; os.kill(int(sys.argv[1]), 9)", mine) != 0
    host.gate.unlink()
    host.wait_until(lambda: not state_file.is_running(str(host.directory(started))))
    said = host.build(
        source, attach={"fingerprint": started["fingerprint"], "platform": started["platform"], "seen": {}}
    )
    assert "ended without a message in phase build" in said["cause"] and "resumes" in said["remedy"]
    done = host.built(source)
    assert (done["status"], Path(done["receipt"]).owner()) == ("built", "root")


def test_root_itself_does_not_build(host: EngineHost) -> None:
    failed = host.build(host.project(2), user="")
    assert failed["failed"] and "would run as root" in failed["cause"]


def test_builds_are_removed_with_the_account_s_rights(host: EngineHost, monkeypatch: pytest.MonkeyPatch) -> None:
    host.built(host.project(2), keep=1)
    removed: dict[str, int] = {}
    remove = disk.remove

    def note(path: str) -> None:
        removed[path] = os.geteuid()
        remove(path)

    monkeypatch.setattr(disk, "remove", note)
    options = {"name": "tiny", "state": "absent", "root": str(host.root), "log_root": str(host.logs)}
    engine.Engine(options).absent()
    builds = str(host.root / "builds")
    assert {uid for path, uid in removed.items() if path.startswith(builds)} == {pwd.getpwnam(BUILDER).pw_uid}


def test_of_the_task_s_variables_a_build_gets_those_of_the_network() -> None:
    task = {"https_proxy": "http://proxy.test", "PIP_INDEX_URL": "https://index.test", "TOKEN": "x", "HOME": "/root"}
    made = engine.Engine({"root": "/opt/none", "user": BUILDER, "state": "present"}, environment=task)
    assert made._network() == {key: task[key] for key in ("https_proxy", "PIP_INDEX_URL")}
