"""The account under which root runs an environment's interpreter, its few privileges, and the directories it enters."""

import errno
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import processes, receipts, unprivileged
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.sandbox import Sandbox

from tests.unit import interpreter

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another account")

STATUS = """
import json
rows = (line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({key: value.split() for key, value in rows}))
"""
#: Starts a daemon that prints its pid and user id.
DAEMON = """
import os, time
if os.fork():
    time.sleep(0.2)
else:
    os.setsid()
    if os.fork():
        os._exit(0)
    {drops}
    print(os.getpid(), os.getuid(), flush=True)
    time.sleep(600)
{then}
"""


def run(code: str, directory: str = "/nonexistent/torch", **bounds: float) -> tuple[int, str, str]:
    box = Sandbox(directory, **bounds)  # type: ignore[arg-type]
    return box.run([interpreter.PYTHON, "-I", "-c", code], {}, "The test", "/")


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@as_root
def test_process_has_its_own_account_without_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "of the module")
    process = json.loads(run(STATUS)[1])
    [uid] = set(process["Uid"])
    assert process["Gid"] == [uid] * 4 and int(uid) in unprivileged.ACCOUNTS
    assert (process["Groups"], process["NoNewPrivs"]) == ([uid], ["1"])
    assert {int(process[key][0], 16) for key in ("CapEff", "CapPrm", "CapInh")} == {0}
    assert "SECRET" not in run("import os; print(dict(os.environ))")[1]


@as_root
def test_account_in_use_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os; print(os.getuid())"
    first = int(run(code)[1])
    with receipts.lock("/run", f"sparkforge-{first}", 0):
        second = int(run(code)[1])
        monkeypatch.setattr(unprivileged, "_has_entry", lambda number: number == second)
        third = int(run(code)[1])
        monkeypatch.setattr(unprivileged, "_has_entry", lambda number: True)
        with pytest.raises(SparkforgeError, match="between 60706 and 60944"):
            run(code)
    assert len({first, second, third}) == 3
    assert not list(Path("/run").glob(".sparkforge-*"))


@pytest.mark.parametrize("then", ["", "raise SystemExit(3)"])
def test_daemon_is_killed_after_success_and_failure(then: str) -> None:
    status, out, _err = run(DAEMON.format(then=then, drops=""))
    assert status == (3 if then else 0)
    assert is_gone(int(out.split()[0]))


@as_root
@pytest.mark.parametrize("action", ["if os.fork(): os._exit(0)", "os.kill(-1, 9)"])
def test_daemon_that_hides_and_resists_is_killed(action: str) -> None:
    """The daemon has removed its marker variable, and either forks forever or kills every process it can."""
    loop = f"while True:\n    try:\n        {action}\n    except OSError: pass"
    code = f"import os\nprint(0, os.getuid(), flush=True)\n{loop}"
    drops = f"os.execve({interpreter.PYTHON!r}, ['python', '-I', '-c', {code!r}], {{}})"
    _status, out, _err = run(DAEMON.format(then="", drops=drops))
    assert processes._of_account(int(out.split()[1])) == []


@as_root
def test_processes_of_account_cannot_kill_their_killer() -> None:
    uid, (reading, writing) = unprivileged.ACCOUNTS[-1], os.pipe()

    def attacked() -> None:
        victim = os.getpid()
        if not os.fork():
            os.setresuid(uid, uid, uid)
            try:
                os.kill(victim, signal.SIGKILL)
            except OSError as error:
                os.write(writing, str(error.errno).encode())
            os._exit(0)
        os.wait()

    processes.run_as(uid, uid + unprivileged._BESIDE, attacked)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == str(errno.EPERM).encode()


@as_root
def test_leftover_processes_are_killed_before_reuse_of_account() -> None:
    uid = int(run("import os; print(os.getuid())")[1])
    leftover = os.fork()
    if not leftover:
        os.setresuid(uid, uid, uid)
        time.sleep(600)
        os._exit(0)
    assert run(f"print(open('/proc/{leftover}/stat').read().rpartition(')')[2].split()[0])")[1] == "Z\n"
    assert os.waitstatus_to_exitcode(os.waitpid(leftover, 0)[1]) == -signal.SIGKILL


@as_root
def test_files_of_account_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "kept"
    target.write_text("root's")
    code = f"""
import os, tempfile
for directory in ("/tmp", "/var/tmp", "/dev/shm"):
    made = tempfile.mkdtemp(dir=directory)
    for link in (made + "/link", made + "-link"):
        os.symlink({str(target)!r}, link)
    os.chmod(made, 0)
    print(made, made + "-link")
"""
    created = run(code)[1].split()
    assert len(created) == 6 and not any(map(os.path.lexists, created)) and target.exists()


def test_flood_of_output_is_stopped() -> None:
    code = "import sys\nfor _ in range(1000): sys.stdout.write('x' * 65536)"
    with pytest.raises(SparkforgeError, match="printed more than 1048576 bytes"):
        run(code, limit=1 << 20)


@pytest.mark.parametrize("closes", ["", "import os; os.closerange(0, 3); "])
def test_process_is_killed_after_its_time(closes: str) -> None:
    with pytest.raises(SparkforgeError, match=r"The test did not .* 0.5 s"):
        run(f"{closes}import time; time.sleep(30)", seconds=0.5)


@as_root
def test_killing_one_account_leaves_killer_of_another_alive() -> None:
    account, other_account = unprivileged.ACCOUNTS[:2]
    reading, writing = os.pipe()

    def wait_for_killer() -> None:
        killer = os.fork()
        if not killer:
            # Its saved user id is root's, as in a process that kills the other account's processes.
            os.setresuid(0, 0, 0)
            processes.kill_account(other_account, other_account + unprivileged._BESIDE)
            os._exit(0)
        os.waitpid(killer, 0)
        os.write(writing, b"alive")

    processes.run_as(account, account + unprivileged._BESIDE, wait_for_killer)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == b"alive"


@as_root
def test_environments_cannot_kill_each_other() -> None:
    with unprivileged.account("/nonexistent/other") as uid:
        assert uid is not None
        other = os.fork()
        if not other:
            os.setresuid(uid, uid, uid)
            time.sleep(600)
            os._exit(0)
        code = "import os\ntry: os.kill(%d, 9)\nexcept OSError as error: print(error.errno, os.getuid())"
        error, attacker = map(int, run(code % other)[1].split())
        assert (error, attacker != uid) == (errno.EPERM, True)
        assert os.waitpid(other, os.WNOHANG) == (0, 0)
    assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == -signal.SIGKILL


@as_root
def test_group_of_root_is_never_granted(open_path: Path) -> None:
    closed = open_path / "closed"
    closed.mkdir()
    closed.chmod(0o750)
    os.chown(closed, 0, 0)
    assert unprivileged.groups_that_may_enter(str(closed / "bin/python")) == set()
    with pytest.raises(SparkforgeError, match=f"lies in {closed}, which"):
        unprivileged.check_open(str(closed / "bin/python"), "The interpreter", "Open it.")
    os.chown(closed, 0, 65534)
    assert unprivileged.groups_that_may_enter(str(closed / "bin/python")) == {65534}
    unprivileged.check_open(str(closed / "bin/python"), "The interpreter", "Open it.")


@as_root
def test_account_used_by_container_is_not_taken() -> None:
    with unprivileged.account("/nonexistent/torch") as first:
        assert first is not None
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no process namespace can be made here")
    command = [*unshare, "setpriv", "--reuid", str(first), "--clear-groups", "sleep", "60"]
    with subprocess.Popen(command, start_new_session=True) as container:
        try:
            deadline = time.monotonic() + 20
            while not processes.runs_in_container(first, first + unprivileged._BESIDE) and time.monotonic() < deadline:
                time.sleep(0.05)
            with unprivileged.account("/nonexistent/torch") as other:
                assert other not in (None, first)
            assert processes.runs_in_container(first, first + unprivileged._BESIDE)
        finally:
            # The change of account cleared the death signal that --kill-child requests.
            os.killpg(container.pid, signal.SIGKILL)


@as_root
def test_own_processes_of_account_are_not_a_container() -> None:
    with unprivileged.account("/nonexistent/torch") as uid:
        assert uid is not None
        with subprocess.Popen(unprivileged.without_privileges(["/bin/sleep", "60"], uid, {uid})):
            time.sleep(0.3)
            assert not processes.runs_in_container(uid, uid + unprivileged._BESIDE)
            unprivileged.kill_processes(uid)


#: Starts a daemon and, in a process namespace, a process with the same user and group.
HIDDEN = r"""
import os, signal, subprocess, sys, time
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import processes, sandbox, unprivileged

box = sandbox.Sandbox("/nonexistent/hidden")
code = "import os, time\nif not os.fork():\n    os.setsid(); time.sleep(600)\nprint(os.getuid())"
uid = int(box.run([sys.executable, "-I", "-c", code], {}, "The test")[1])
status = dict(line.split(":\t") for line in open("/proc/self/status"))
assert "hidepid=" in open("/proc/mounts").read() and not int(status["CapEff"], 16) >> 19 & 1
print(uid)
own = ["unshare", "--pid", "--fork", "--kill-child", "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
with subprocess.Popen([*own, "sleep", "60"], start_new_session=True) as container:
    deadline = time.monotonic() + 20
    while not processes.runs_in_container(uid, uid + 239) and time.monotonic() < deadline:
        time.sleep(0.05)
    with unprivileged.account("/nonexistent/hidden") as other:
        print(other)
    os.killpg(container.pid, signal.SIGKILL)
"""


@as_root
def test_hidden_processes_are_killed_and_container_is_seen() -> None:
    hiding = "mount -t proc -o hidepid=2 proc /proc && exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace"
    namespace = ["unshare", "--mount", "sh", "-c", f'{hiding} "$@"', "sh"]
    if subprocess.run([*namespace, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[5] / ".collections")}
    command = [*namespace, interpreter.PYTHON, "-c", HIDDEN]
    result = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    first, second = map(int, result.stdout.split())
    assert first != second and processes._of_account(first) == []
