"""Detection of processes that a busy machine hinders, using real processes on one core."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from sparkforge_proof import endings, sampler
from sparkforge_proof.check import Definition

SPINS = "print(flush=True)\nwhile True: pass"
SLEEPS = "import time; print(flush=True); time.sleep(600)"


@pytest.fixture
def on_one_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A list of processes that share one core, each in its own process group; the first one is examined."""
    # Ignore pressure on this machine's disk.
    monkeypatch.setattr(sampler, "STALLED", 101.0)
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(processes: list[subprocess.Popen[bytes]], *programs: str) -> int:
    core = min(os.sched_getaffinity(0))
    for program in programs:
        process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True, stdout=subprocess.PIPE)
        processes.append(process)
        assert process.stdout and process.stdout.readline() == b"\n"
        os.sched_setaffinity(process.pid, {core})
    return processes[0].pid


def test_process_without_a_core_is_hindered(on_one_core: list[subprocess.Popen[bytes]]) -> None:
    assert sampler.hindrance(start(on_one_core, SPINS, SPINS, SPINS)).startswith("other processes ")


def test_sleeping_process_is_not_hindered(on_one_core: list[subprocess.Popen[bytes]]) -> None:
    assert sampler.hindrance(start(on_one_core, SLEEPS, SPINS, SPINS)) == ""


def test_exited_group_is_not_hindered() -> None:
    assert sampler.hindrance(1 << 30) == ""


def test_stalled_disk_hinders_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "STALLED", 0.0)
    assert sampler.hindrance(1 << 30).startswith("all programs waited")


def test_late_check_on_busy_or_idle_machine() -> None:
    definition = Definition("matmul.int8", "matmul", "cuda", True, 60, "")
    late = endings.timed_out(definition, 60, "others had the processor")
    assert (late.reason, late.remedy) == ("slow", endings.IDLE)
    assert late.cause.endswith("because others had the processor.")
    assert endings.timed_out(definition, 60).reason == "timeout"
