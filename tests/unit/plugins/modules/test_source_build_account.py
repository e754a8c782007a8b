"""Builds under an account other than root: that account's privileges, and how root handles its files."""

import json
import os
import pwd
import stat
import subprocess
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached, digests, disk, processes
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    engine,
    model,
    receipt as sealing,
    state_file,
)

from tests.unit import interpreter
from tests.unit.engine_host import EngineHost
from tests.unit.run_module import run_module

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root builds under another account; CI runs as root")

#: An account that owns nothing and exists on every host, so that the tests need not create one.
BUILDER = "nobody"


@pytest.fixture
def host(open_path: Path) -> EngineHost:
    engine_host = EngineHost(open_path, BUILDER)
    engine_host.record.touch()
    engine_host.record.chmod(0o666)
    return engine_host


def owners(directory: Path) -> set[str]:
    return {pwd.getpwuid(path.lstat().st_uid).pw_name for path in [directory, *directory.rglob("*")]}


def test_build_processes_have_only_the_rights_of_the_account(host: EngineHost) -> None:
    host.record_privileges()
    result = host.must_build(host.project(2), keep=1)
    entry = pwd.getpwnam(BUILDER)
    groups = os.getgrouplist(BUILDER, entry.pw_gid)
    calls = [json.loads(line) for line in (host.base / "privileges").read_text().splitlines()]
    # The other calls query the compiler's version.
    built = [(status["NoNewPrivs"], status["worker"]) for status in calls if status["built"]]
    assert len(built) >= len(host.compilations()) == 2 and built == [([1], [1])] * len(built)
    for status in calls:
        assert status["Uid"] == [entry.pw_uid] * 4 and status["Gid"] == [entry.pw_gid] * 4
        assert sorted(status["Groups"]) == sorted(groups)
        assert status["CapEff"] == status["CapPrm"] == [0]
    assert owners(host.root / "builds") == owners(Path(result["artefact"])) == {BUILDER}
    # Hosts trust these, so only root may be able to write to them.
    assert owners(host.root / "receipts") == {"root"}
    assert (host.root / "wheelhouse").owner() == Path(result["artefact"]).parents[1].owner() == "root"


def test_files_that_may_hold_a_password_are_readable_by_the_account_only(host: EngineHost) -> None:
    result = host.must_build(host.project(2), keep=1)
    for name in ("request.json", "network.json"):
        path = host.directory(result) / name
        assert not path.exists() or stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_account_may_write_the_log_but_not_replace_it(host: EngineHost) -> None:
    log = Path(host.must_build(host.project(2))["log"])
    assert log.owner() == BUILDER and stat.S_IMODE(log.stat().st_mode) == 0o644
    assert host.logs.owner() == "root" and not host.logs.stat().st_mode & 0o022
    assert (host.root / "receipts").owner() == "root"


def as_builder(program: str, *arguments: str) -> int:
    """Run Python code as the build account, and return the exit status."""
    command = ["setpriv", f"--reuid={BUILDER}", "--clear-groups", interpreter.PYTHON, "-c", program, *arguments]
    return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode


def forge_receipt(receipt: Path, **changed: t.Any) -> str:
    """Return the text of a changed receipt with a valid seal."""
    return digests.text_of(sealing.seal({**json.loads(receipt.read_text()), **changed}))


WRITE = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"


def test_a_later_build_cannot_change_the_receipt_of_an_earlier_one(host: EngineHost) -> None:
    source = host.project(2)
    result = host.must_build(source)
    receipt, copy = Path(result["receipt"]), Path(result["artefact"]) / "receipt.json"
    before = receipt.read_text()
    text = forge_receipt(receipt, host="elsewhere")
    assert as_builder(WRITE, str(receipt), text) != 0
    assert as_builder("import os, sys; os.unlink(sys.argv[1])", str(receipt)) != 0
    assert as_builder("import os, sys; os.rename(sys.argv[1], sys.argv[1] + '-')", str(copy.parents[1])) != 0
    assert as_builder(WRITE, str(copy), text) == 0
    assert (host.build(source)["status"], receipt.read_text()) == ("unchanged", before)


def test_a_planted_artefact_is_not_used(host: EngineHost) -> None:
    """The account writes an artefact before root starts its build."""
    result = host.must_build(host.project(2))
    source = host.project(3)
    predicted = host.build(source, check_mode=True)
    text = forge_receipt(Path(result["receipt"]), fingerprint=predicted["fingerprint"])
    plant = (
        "import os, shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2]);"
        " open(os.path.join(sys.argv[2], 'receipt.json'), 'w').write(sys.argv[3])"
    )
    assert as_builder(plant, result["artefact"], predicted["artefact"], text) == 0
    assert host.build(source, check_mode=True)["status"] == "would_build"
    built = host.must_build(source)
    assert built["status"] == "built" and Path(built["receipt"]).read_text() != text


def test_a_build_that_finished_unobserved_is_not_repeated(host: EngineHost) -> None:
    source = host.project(2)
    started = host.build(source)
    host.wait_until(lambda: host.state(started).get("status") == "succeeded")
    assert not Path(started["receipt"]).exists()
    assert host.build(source, check_mode=True)["status"] == "unchanged"
    assert not Path(started["receipt"]).exists()
    result = host.build(source)
    assert (result["status"], Path(result["receipt"]).owner()) == ("unchanged", "root")


@pytest.mark.parametrize("planted", ["builds", "wheelhouse", "log"])
def test_no_link_is_followed_with_roots_rights(host: EngineHost, planted: str) -> None:
    """Otherwise the account would become the owner of root's file or directory."""
    source = host.project(2)
    mark = host.build(source, check_mode=True)["fingerprint"]
    victim = host.base / "victim"
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


#: Code with which the account replaces one of its build's files, ``path``; ``sys.argv[2]`` is one of root's files.
PLANTS = {
    "link": "os.symlink(sys.argv[2], path)",
    "pipe": "os.mkfifo(path)",
    "socket": "socket.socket(socket.AF_UNIX).bind(path)",
    "directory": "os.mkdir(path)",
    "unreadable": "os.close(os.open(path, os.O_CREAT, 0))",
}


@pytest.mark.parametrize("planted", ["state.json", "lock", pytest.param("engine", marks=pytest.mark.long)])
def test_files_planted_by_the_account_in_its_build_reach_no_file_of_root(host: EngineHost, planted: str) -> None:
    source = host.project(2)
    path = host.directory(host.must_build(source, keep=1)) / planted
    victim = host.base / "victim"
    victim.write_text("root's")
    victim.chmod(0o600)
    for kind, code in PLANTS.items():
        # The path is relative, because a socket's path may have at most 107 characters.
        plant = f"import os, socket, sys; os.chdir(os.path.dirname(sys.argv[1])); path = {planted!r}; {code}"
        # On a slow machine, the previous call's worker may still create the file again.
        for _attempt in range(100):
            disk.remove(str(path))
            if as_builder(plant, str(path), str(victim)) == 0:
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"{path} came back each time")
        info = run_module("build_info", interpreter=host.python, root=str(host.root))
        assert (info.get("failed"), info.get("running")) == (None, []), (kind, info)
        again = host.build(source, keep=1, rebuild=True, follow=True)
        # The account may break its own build, but the module neither hangs nor raises an exception.
        assert again.get("status") == "built" or (again["cause"] and again["remedy"]), (kind, again)
    assert host.absent()["changed"] and not (host.root / "builds").exists()
    assert victim.read_text() == "root's" and stat.S_IMODE(victim.stat().st_mode) == 0o600 and victim.owner() == "root"


#: A state written by the account in which all values are invalid.
INVALID_STATE: dict[str, t.Any] = {
    "format": 1, "status": "running", "phase": {"a": 1}, "attempts": "many", "done": "x", "total": [1], "elapsed": {},
    "remaining": 1e308, "jobs": {"a": 1}, "available_mib": "x", "notes": [{"a": 1}], "name": ["x"],
    "error": {"cause": 1}, "unit": 7,
}  # fmt: skip


@pytest.mark.parametrize("status", ["running", "failed"])
def test_an_invalid_state_is_reported_in_one_message(host: EngineHost, status: str) -> None:
    source = host.project(2)
    built = host.must_build(source, keep=1)
    state = {**INVALID_STATE, "status": status}
    assert as_builder(WRITE, str(host.directory(built) / "state.json"), json.dumps(state)) == 0
    assert run_module("build_info", root=str(host.root))["unfinished"] == []
    attach = {"fingerprint": built["fingerprint"], "platform": built["platform"], "seen": {}}
    result = host.build(source, attach=attach)
    assert "message in phase fetch" in result["cause"], result
    held = subprocess.Popen(
        ["setpriv", f"--reuid={BUILDER}", "--clear-groups", "flock", f"{host.directory(built)}/lock", "sleep", "600"]
    )
    try:
        host.wait_until(lambda: bool(run_module("build_info", root=str(host.root))["running"]))
        (running,) = run_module("build_info", root=str(host.root))["running"]
        assert running["line"] == ""
    finally:
        subprocess.run(["pkill", "-P", str(held.pid)], check=False)
        held.kill()
        held.wait()


def test_a_process_id_written_by_the_account_is_not_killed(host: EngineHost) -> None:
    """The process has the build's marker in its environment, as if the worker once had the same id."""
    source = host.project(2)
    result = host.must_build(source, keep=1)
    marker = model.Paths(str(host.root), str(host.logs), "tiny", result["fingerprint"], "").marker
    variables = {"PATH": os.environ["PATH"], processes.MARKER: marker}
    with subprocess.Popen(["sleep", "600"], env=variables) as root_s:
        try:
            state = {**host.state(result), "status": "running", "pid": root_s.pid, "boot_id": detached.boot_id()}
            directory = host.directory(result)
            assert as_builder(WRITE, str(directory / "state.json"), json.dumps(state)) == 0
            # According to this file, that process is still writing to it.
            assert as_builder(WRITE, str(directory / f".request.json.{root_s.pid}-01234567"), "x") == 0
            assert host.build(source, keep=1, rebuild=True, follow=True)["status"] == "built"
            assert host.absent()["changed"]
            assert root_s.poll() is None
            assert not (host.root / "builds").exists()
        finally:
            root_s.kill()


def test_the_account_can_kill_its_own_build_only(host: EngineHost) -> None:
    source = host.project(2)
    host.gate.touch()
    started = host.build(source)
    host.wait_until(lambda: bool(host.compilations()))
    worker = host.state(started)["pid"]
    assert as_builder("import os, sys; os.killpg(os.getpgid(int(sys.argv[1])), 9)", str(worker)) == 0
    assert as_builder("import os, sys; os.kill(int(sys.argv[1]), 9)", str(os.getpid())) != 0
    host.gate.unlink()
    host.wait_until(lambda: not state_file.is_running(str(host.directory(started))))
    attach = {"fingerprint": started["fingerprint"], "platform": started["platform"], "seen": {}}
    result = host.build(source, attach=attach)
    assert "message in phase build" in result["cause"] and "resumes" in result["remedy"]
    built = host.must_build(source)
    assert (built["status"], Path(built["receipt"]).owner()) == ("built", "root")


def test_root_refuses_to_build_as_root(host: EngineHost) -> None:
    failed = host.build(host.project(2), user="")
    assert failed["failed"] and "run as root" in failed["cause"]


def test_builds_are_removed_with_the_accounts_rights(host: EngineHost, monkeypatch: pytest.MonkeyPatch) -> None:
    host.must_build(host.project(2), keep=1)
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


def test_a_build_gets_only_network_variables_of_the_task() -> None:
    task = {"https_proxy": "http://proxy.test", "PIP_INDEX_URL": "https://index.test", "TOKEN": "x", "HOME": "/root"}
    build_engine = engine.Engine({"root": "/opt/none", "user": BUILDER, "state": "present"}, environment=task)
    assert build_engine._network() == {key: task[key] for key in ("https_proxy", "PIP_INDEX_URL")}
