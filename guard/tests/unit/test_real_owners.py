"""Real processes of two accounts on this kernel; the memory figures are fake, and signals are only recorded."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import time
import typing as t
from pathlib import Path

import pytest
from sparkforge_guard import host, policy, watch

from guard.tests import eat

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of two accounts")

MIB = 1 << 20
TOTAL = 1024 * MIB
ATTACKER, VICTIM = 65534, 1
SLEEP = "/usr/bin/sleep"


class Others:
    """All PIDs except the listed ones."""

    def __init__(self, pids: t.Container[int]) -> None:
        self.pids = pids

    def __contains__(self, pid: object) -> bool:
        return pid not in self.pids


class Seen(host.Host):
    """This host with only the test's processes, and with memory figures from a file."""

    def __init__(self, meminfo: Path) -> None:
        self.figures, self.pids = meminfo, set[int]()
        self.play(TOTAL // 2, 0)
        super().__init__(meminfo=str(meminfo))

    def play(self, available: int, shared: int) -> None:
        rows = {"MemTotal": TOTAL, "MemFree": available, "MemAvailable": available, "Shmem": shared}
        text = "".join(f"{name + ':':<16}{size >> 10:>12} kB\n" for name, size in rows.items())
        with open(self.figures, "r+" if self.figures.exists() else "w") as stream:
            stream.write(text)

    def processes(self, gpu: t.Mapping[int, int], swapped: bool, known=()) -> dict[int, host.Process]:
        return super().processes(gpu, swapped, Others(self.pids))


@pytest.fixture
def seen(tmp_path: Path) -> t.Iterator[Seen]:
    this_host = Seen(tmp_path / "meminfo")
    yield this_host
    for pid in this_host.pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def start(seen: Seen, uid: int, name: str, kind: str, mebibytes: int, groups: int = 0) -> int:
    """Start a process under an account and wait until it has allocated its memory."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.dup2(writer, 1)
            os.setgroups(range(10_000, 10_000 + groups))
            os.setgid(uid)
            os.setuid(uid)
            os.setpgid(0, 0)
            eat.main(name, kind, str(mebibytes), "0")
        finally:
            os._exit(1)
    seen.pids.add(pid)
    os.close(writer)
    assert os.read(reader, 6) == b"ready\n"
    os.close(reader)
    return pid


@pytest.mark.parametrize(
    ("name", "kind", "groups"),
    [
        ("attacker", "plain", 0), ("sshd", "plain", 0), ("gnome-shell", "plain", 0), ("cicc", "plain", 0),
        ("attacker", "plain", 700), ("attacker", "leaderless", 0), ("attacker", "memfd", 0),
    ],
)  # fmt: skip
def test_attacker_is_killed_and_the_other_account_is_not(seen: Seen, name: str, kind: str, groups: int):
    sent: list[tuple[int, int]] = []
    guard = watch.Guard(
        seen, watch.Levels(), policy.Rules(), dict, lambda: None, lambda _act: None,
        lambda pid, number: sent.append((pid, number)),
    )  # fmt: skip
    victim = start(seen, VICTIM, "vllm", "plain", 150)
    guard.step()
    attacker = start(seen, ATTACKER, name, kind, 400, groups)
    if kind == "leaderless":
        # The first thread exits after half a second.
        time.sleep(1)
        assert Path(f"/proc/{attacker}/stat").read_text().rpartition(") ")[2].startswith("Z")
    process = seen.process(attacker, {}, False)
    assert process is not None and (process.uid, process.name) == (ATTACKER, name)
    seen.play(TOTAL // 50, 400 * MIB if kind == "memfd" else 0)
    for _ in range(3):
        guard.step()
    assert {pid for pid, _number in sent} == {attacker}, victim


def test_signal_reaches_the_process_but_not_one_that_reuses_its_pid(seen: Seen, monkeypatch: pytest.MonkeyPatch):
    pids = [start(seen, ATTACKER, "a", kind, 20) for kind in ("plain", "leaderless", "plain", "plain")]
    processes = [seen.process(pid, {}, False) for pid in pids]

    def is_ended(pid: int) -> bool:
        status = os.waitpid(pid, 0)[1]
        seen.pids.discard(pid)
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    time.sleep(1)
    for process in processes[:2]:
        assert process is not None
        with pytest.raises(ProcessLookupError):
            seen.signal(process._replace(start=process.start - 1), signal.SIGKILL)
        assert seen.alive(process)
        seen.signal(process, signal.SIGKILL)
        assert is_ended(process.pid)
        with pytest.raises(ProcessLookupError):
            seen.signal(process, signal.SIGKILL)

    def refused(_pid: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refused)
    assert processes[2] is not None and processes[3] is not None
    seen.signal(processes[2], signal.SIGKILL)
    assert is_ended(pids[2])
    monkeypatch.delattr(os, "pidfd_open")
    seen.signal(processes[3], signal.SIGKILL)
    assert is_ended(pids[3])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ([SLEEP, "60"], "sleep"),
        (["{copy}", "60"], ""),
        # A user can mount anything in a private mount namespace.
        (["unshare", "-m", "sh", "-c", "mount --bind {copy} /usr/bin/sleep && exec /usr/bin/sleep 60"], ""),
        # The guard does not read files on a user's mount, because reading them may hang.
        (["unshare", "-m", "sh", "-c", "mount --bind /usr/bin/sleep /usr/bin/sleep && exec /usr/bin/sleep 60"], ""),
    ],
)
def test_file_of_a_process_is_the_systems(seen: Seen, tmp_path: Path, command: list[str], expected: str):
    # On a test machine, PID 1 may have a different root directory.
    seen.root = ""
    copy = tmp_path / "sleep"
    shutil.copy(SLEEP, copy)
    process = subprocess.Popen([word.format(copy=copy) for word in command], stderr=subprocess.PIPE)
    try:
        for _ in range(100):
            time.sleep(0.05)
            if process.poll() is not None:
                pytest.skip(f"this host lets nobody mount: {process.stderr and process.stderr.read().decode()}")
            if os.path.basename(os.readlink(f"/proc/{process.pid}/exe")) == "sleep":
                break
        assert seen._file(f"/proc/{process.pid}", "sleep") == expected
        assert seen._file(f"/proc/{process.pid}", "gnome-shell") == ""
    finally:
        process.kill()
        process.wait()
