import errno
import os
import pathlib
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from unittest import mock

import pytest
from sparkforge_proof import sampler
from sparkforge_proof.sampler import NoSampler, Process, Sample


def tool(directory: pathlib.Path, script: str) -> None:
    path = directory / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def path(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_line_of_data_centre_gpu():
    assert sampler.parse("1755, 1980, 690.12, 700.00, 100, 0x0000000000000024\n") == Sample(
        1755.0, 1980.0, 690.12, 700.0, 100.0, frozenset({"software power cap", "software thermal slowdown"})
    )


def test_missing_figures_of_gb10_are_none():
    line = "2405, 3003, 11.20, [N/A], [Not Supported], Not Active"
    assert sampler.parse(line) == Sample(2405.0, 3003.0, 11.2, None, None)


@pytest.mark.parametrize("line", ["", "No devices were found", "1, 2, 3"])
def test_invalid_answer_is_refused(line: str):
    with pytest.raises(NoSampler, match="answered"):
        sampler.parse(line)


def test_sample_of_one_device(path: pathlib.Path):
    tool(path, f'echo "$@" >>{path}/asked; echo "1000, 1980, 300, 700, 7, 0x0"')
    assert sampler.sample("GPU-1").sm_clock_mhz == 1000.0
    assert (path / "asked").read_text(encoding="utf-8").strip().endswith("-i GPU-1")


def test_answer_before_warning_is_read(path: pathlib.Path):
    line = "345, 2602, 68.90, 700.00, 0, 0x1"
    tool(path, f"echo '{line}'\necho 'WARNING: infoROM is corrupted at gpu 000F:01:00.0'\nexit 14")
    assert sampler.sample("0").sm_clock_mhz == 345


def test_failure_of_nvidia_smi(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    tool(path, "echo 'NVIDIA-SMI has failed because it could not talk to the driver'; exit 9")
    with pytest.raises(NoSampler, match="could not talk"):
        sampler.sample("0")
    monkeypatch.setenv("PATH", str(path / "nowhere"))
    with pytest.raises(NoSampler, match="PATH"):
        sampler.sample("0")
    assert sampler.others() == []


def test_process_names_with_commas(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    tool(
        path,
        f"echo \"$@\" >>{path}/asked; echo '4242, python train.py --sizes 1,2, 1024'; echo '7, [Not Found], [N/A]'",
    )
    parents = {4242: 1, 7: 1, os.getpid(): 1}
    monkeypatch.setattr(sampler, "parents", lambda: parents)
    assert sampler.others("1") == [Process(4242, "python train.py --sizes 1,2", 1024), Process(7, "[Not Found]")]
    assert (path / "asked").read_text(encoding="utf-8").strip().endswith("-i 1")


def test_own_and_foreign_processes_are_left_out(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    # No kernel assigns such a high pid, so it stands for a process in another container.
    tool(path, f"echo '{os.getpid()}, python, 10'; echo '{1 << 30}, train, 10'")
    monkeypatch.setattr(sampler, "parents", lambda: {os.getpid(): 1})
    assert sampler.others() == []


def test_process_hidden_in_proc_is_listed(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    tool(path, "echo '1, [Not Found], 10'")
    # /proc is mounted with hidepid=2, and the process belongs to another account.
    monkeypatch.setattr(sampler, "parents", lambda: {os.getpid(): os.getppid()})
    assert sampler.others() == [Process(1, "[Not Found]", 10)]
    monkeypatch.setattr(os, "kill", mock.Mock(side_effect=PermissionError(errno.EPERM, "Operation not permitted")))
    assert sampler.others() == [Process(1, "[Not Found]", 10)]


def test_process_with_open_device_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    device = tmp_path / "nvidia-uvm"
    device.touch()
    monkeypatch.setattr(sampler, "DEVICE", str(device))
    monkeypatch.setenv("PATH", str(tmp_path))
    program = "import sys; stream = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(device)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout and server.stdout.readline()
        assert [process.pid for process in sampler.holders()] == [server.pid]
        assert sampler.holders()[0].name.startswith("python")
        # A desktop may have the file open, which does not affect the speed.
        assert sampler.others() == []
        server.communicate()
    assert sampler.holders() == []


@pytest.fixture
def start(tmp_path: pathlib.Path) -> Iterator[Callable[[str], tuple[int, int]]]:
    """A function that starts a program in a directory, with a child, and returns the PIDs of both."""
    processes: list[subprocess.Popen[str]] = []
    program = "import os, sys, time; child = os.fork() or os.execlp('sleep', 'sleep', '60'); print(child, flush=True)\n"

    def run(name: str) -> tuple[int, int]:
        main = tmp_path / name / "main.py"
        main.parent.mkdir()
        main.write_text(program + "time.sleep(60)")
        process = subprocess.Popen([sys.executable, main, "job.json"], stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout
        return process.pid, int(process.stdout.readline())

    yield run
    for process in processes:
        os.kill(next(child for child, parent in sampler.parents().items() if parent == process.pid), signal.SIGKILL)
        process.kill()
        process.communicate()


def test_processes_of_proofs(path: pathlib.Path, start, monkeypatch: pytest.MonkeyPatch):
    # The name of a directory consists of the PID and the start of the proof, and a random number for each of its runs.
    lane, rank = start("sparkforge-proof-12-0000abcd11111111")
    late, _rank = start("sparkforge-proof-12-0000abcd22222222")
    other, its_rank = start("sparkforge-proof-13-0000abcd33333333")
    server, worker = start("server")
    rows = ((late, 100), (other, 1430), (its_rank, 70), (server, 9), (worker, 8), (rank, 7))
    tool(path, "; ".join(f"echo '{pid}, python, {used}'" for pid, used in rows))
    strangers = [Process(other, "another proof"), Process(server, "python", 9), Process(worker, "python", 8)]
    monkeypatch.setattr(os, "getpid", lambda: lane)
    assert sampler.others() == strangers
    assert {process.pid for process in sampler.computing() if process.own} == {late, rank}


def test_shell_of_a_proof_is_own(path: pathlib.Path) -> None:
    tool(path, f"echo '{os.getppid()}, jupyter, 500'; echo '{os.getpid()}, python, 10'")
    assert sampler.others() == [] and len(sampler.computing()) == 2


def test_parents_of_real_processes():
    comm = pathlib.Path("/proc/self/comm")
    name = comm.read_text(encoding="utf-8")
    comm.write_text("a) S (b", encoding="utf-8")
    known = sampler.parents()
    comm.write_text(name, encoding="utf-8")
    assert known[os.getpid()] == os.getppid()
