"""As whom root runs an environment's interpreter, what that cannot do, and which directories it may enter."""

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

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs something as somebody else")

STATUS = """
import json
rows = (line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({key: value.split() for key, value in rows}))
"""
#: Prints the number of a daemon, whose parents are gone, and who it is.
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
def test_what_runs_has_an_account_of_its_own_and_no_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "of the module")
    said = json.loads(run(STATUS)[1])
    [uid] = set(said["Uid"])
    assert said["Gid"] == [uid] * 4 and int(uid) in unprivileged.ACCOUNTS
    assert (said["Groups"], said["NoNewPrivs"]) == ([uid], ["1"])
    assert {int(said[key][0], 16) for key in ("CapEff", "CapPrm", "CapInh")} == {0}
    assert "SECRET" not in run("import os; print(dict(os.environ))")[1]


@as_root
def test_an_account_that_somebody_has_or_uses_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os; print(os.getuid())"
    first = int(run(code)[1])
    with receipts.lock("/run", f"sparkforge-{first}", 0):
        second = int(run(code)[1])
        monkeypatch.setattr(unprivileged, "_has_entry", lambda number: number == second)
        third = int(run(code)[1])
        monkeypatch.setattr(unprivileged, "_has_entry", lambda number: True)
        with pytest.raises(SparkforgeError, match="No user id between 60706 and 60944 is free"):
            run(code)
    assert len({first, second, third}) == 3
    assert not list(Path("/run").glob(".sparkforge-*"))


@pytest.mark.parametrize("then", ["", "raise SystemExit(3)"])
def test_a_daemon_is_gone_whether_its_parent_succeeds_or_fails(then: str) -> None:
    status, out, _err = run(DAEMON.format(then=then, drops=""))
    assert status == (3 if then else 0)
    assert is_gone(int(out.split()[0]))


@as_root
@pytest.mark.parametrize("acts", ["if os.fork(): os._exit(0)", "os.kill(-1, 9)"])
def test_a_daemon_that_hides_and_resists_is_gone(acts: str) -> None:
    """It has dropped the variable, and forks without end or kills whatever it may."""
    code = (
        f"import os\nprint(0, os.getuid(), flush=True)\nwhile True:\n    try:\n        {acts}\n    except OSError: pass"
    )
    drops = f"os.execve({interpreter.PYTHON!r}, ['python', '-I', '-c', {code!r}], {{}})"
    _status, out, _err = run(DAEMON.format(then="", drops=drops))
    assert processes._of(int(out.split()[1])) == []


@as_root
def test_the_account_s_processes_cannot_kill_what_ends_them() -> None:
    uid, (reading, writing) = unprivileged.ACCOUNTS[-1], os.pipe()

    def attacked() -> None:
        by = os.getpid()
        if not os.fork():
            os.setresuid(uid, uid, uid)
            try:
                os.kill(by, signal.SIGKILL)
            except OSError as error:
                os.write(writing, str(error.errno).encode())
            os._exit(0)
        os.wait()

    processes.acting(uid, uid + unprivileged._BESIDE, attacked)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == str(errno.EPERM).encode()


@as_root
def test_what_a_killed_run_left_is_ended_before_its_account_is_used_again() -> None:
    uid = int(run("import os; print(os.getuid())")[1])
    left = os.fork()
    if not left:
        os.setresuid(uid, uid, uid)
        time.sleep(600)
        os._exit(0)
    assert run(f"print(open('/proc/{left}/stat').read().rpartition(')')[2].split()[0])")[1] == "Z\n"
    assert os.waitstatus_to_exitcode(os.waitpid(left, 0)[1]) == -signal.SIGKILL


@as_root
def test_nothing_that_the_account_wrote_remains(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("root's")
    code = f"""
import os, tempfile
for place in ("/tmp", "/var/tmp", "/dev/shm"):
    made = tempfile.mkdtemp(dir=place)
    for link in (made + "/link", made + "-link"):
        os.symlink({str(kept)!r}, link)
    os.chmod(made, 0)
    print(made, made + "-link")
"""
    made = run(code)[1].split()
    assert len(made) == 6 and not any(map(os.path.lexists, made)) and kept.exists()


def test_a_flood_ends_with_one_message() -> None:
    code = "import sys\nfor _ in range(1000): sys.stdout.write('x' * 65536)"
    with pytest.raises(SparkforgeError, match=r"^The test printed more than 1048576 bytes and was killed"):
        run(code, limit=1 << 20)


@pytest.mark.parametrize("closes", ["", "import os; os.closerange(0, 3); "])
def test_what_does_not_end_is_killed(closes: str) -> None:
    with pytest.raises(SparkforgeError, match=r"^The test did not end within 0.5 s and was killed"):
        run(f"{closes}import time; time.sleep(30)", seconds=0.5)


@as_root
def test_who_ends_one_account_leaves_who_ends_another_alone() -> None:
    one, two = unprivileged.ACCOUNTS[:2]
    reading, writing = os.pipe()

    def undisturbed() -> None:
        killer = os.fork()
        if not killer:
            # Its saved id is root's, as that of whoever ends a second account.
            os.setresuid(0, 0, 0)
            processes.end_account(two, two + unprivileged._BESIDE)
            os._exit(0)
        os.waitpid(killer, 0)
        os.write(writing, b"alive")

    processes.acting(one, one + unprivileged._BESIDE, undisturbed)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == b"alive"


@as_root
def test_the_code_of_one_environment_cannot_reach_that_of_another() -> None:
    with unprivileged.account("/nonexistent/other") as uid:
        assert uid is not None
        other = os.fork()
        if not other:
            os.setresuid(uid, uid, uid)
            time.sleep(600)
            os._exit(0)
        code = "import os\ntry: os.kill(%d, 9)\nexcept OSError as error: print(error.errno, os.getuid())"
        said, who = map(int, run(code % other)[1].split())
        assert (said, who != uid) == (errno.EPERM, True)
        assert os.waitpid(other, os.WNOHANG) == (0, 0)
    assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == -signal.SIGKILL


@as_root
def test_root_s_group_is_given_to_nobody(open_path: Path) -> None:
    closed = open_path / "closed"
    closed.mkdir()
    closed.chmod(0o750)
    os.chown(closed, 0, 0)
    assert unprivileged.groups_that_may_enter(str(closed / "bin/python")) == set()
    with pytest.raises(SparkforgeError, match=f"lies in {closed}, which only its owner"):
        unprivileged.check_open(str(closed / "bin/python"), "The interpreter", "Open it.")
    os.chown(closed, 0, 65534)
    assert unprivileged.groups_that_may_enter(str(closed / "bin/python")) == {65534}
    unprivileged.check_open(str(closed / "bin/python"), "The interpreter", "Open it.")


@as_root
def test_the_account_that_a_container_uses_is_not_taken() -> None:
    with unprivileged.account("/nonexistent/torch") as first:
        assert first is not None
    own_pids = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*own_pids, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no process namespace can be made here")
    command = [*own_pids, "setpriv", "--reuid", str(first), "--clear-groups", "sleep", "60"]
    with subprocess.Popen(command, start_new_session=True) as container:
        try:
            patience = time.monotonic() + 20
            while not processes.runs_in_container(first, first + unprivileged._BESIDE) and time.monotonic() < patience:
                time.sleep(0.05)
            with unprivileged.account("/nonexistent/torch") as other:
                assert other not in (None, first)
            assert processes.runs_in_container(first, first + unprivileged._BESIDE)
        finally:
            # The change of accounts took away what --kill-child asks the kernel for.
            os.killpg(container.pid, signal.SIGKILL)


@as_root
def test_the_account_s_own_processes_are_no_container_s() -> None:
    with unprivileged.account("/nonexistent/torch") as uid:
        assert uid is not None
        command = unprivileged.dropped(["/bin/sleep", "60"], uid, {uid})
        with subprocess.Popen(command):
            time.sleep(0.3)
            assert not processes.runs_in_container(uid, uid + unprivileged._BESIDE)
            unprivileged.end(uid)


#: A daemon that has left its parent, and a process of a container that has the account's group too.
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
def test_what_proc_hides_from_root_is_ended_and_a_container_is_seen() -> None:
    hiding = "mount -t proc -o hidepid=2 proc /proc && exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace"
    alone = ["unshare", "--mount", "sh", "-c", f'{hiding} "$@"', "sh"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    collections = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[5] / ".collections")}
    command = [*alone, interpreter.PYTHON, "-c", HIDDEN]
    done = subprocess.run(command, env=collections, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = map(int, done.stdout.split())
    assert first != second and processes._of(first) == []
