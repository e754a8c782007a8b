"""The check ``device.cuda`` while other programs use the GPU or its memory."""

import sys
import types
from unittest import mock

import pytest
from sparkforge_proof import sampler
from sparkforge_proof.check import FAIL, Context, Result, Unanswered
from sparkforge_proof.checks.stack import device


def test_full_memory_without_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = mock.Mock(side_effect=RuntimeError("CUDA error: out of memory"))
    torch = types.SimpleNamespace(
        cuda=types.SimpleNamespace(init=lambda: None), zeros=zeros, version=types.SimpleNamespace(cuda="13.0")
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(Unanswered, match="left: CUDA error: out of memory") as raised:
        device.cuda(Context(device="cuda"))
    assert raised.value.reason == "memory"
    row = Result("device.cuda", FAIL, cause=raised.value.cause, reason="memory")
    assert not device.is_refused(row, [OWN]) and device.is_refused(row, [OWN, SERVER])


def test_waiting_process_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = mock.Mock()
    monkeypatch.setattr(device.ctypes, "CDLL", {"libcuda.so.1": driver}.__getitem__)
    device.sleep_during_waits()
    # In cuda.h, CU_CTX_SCHED_BLOCKING_SYNC is 4.
    assert driver.mock_calls == [mock.call.cuInit(0), mock.call.cuDevicePrimaryCtxSetFlags_v2(0, 4)]
    monkeypatch.undo()
    device.sleep_during_waits()  # without a driver


SERVER = sampler.Process(4711, "VLLM::EngineCore", 90000)
OWN = sampler.Process(12, "python3", 500, own=True)


Observation = tuple[float, list[sampler.Process]]


def refusals(*observations: Observation, reason: str = "mismatch") -> list[bool]:
    """Return, for each observed time and its GPU processes, whether CUDA is tried again."""
    refused, answers = None, []
    for now, users in observations:
        refused, tries_again = device.after_refusal(refused, now, users, reason)
        answers.append(tries_again)
    return answers


@pytest.mark.parametrize(
    ("observations", "reason"),
    [
        # The mismatch persists for two minutes while another process uses the GPU.
        ([(0, [SERVER]), (60, [SERVER]), (119, [SERVER, OWN]), (121, [SERVER])], "mismatch"),
        # The mismatch persists for 75 s after another process has exited, even if that process was never seen.
        ([(0, [SERVER]), (100, [SERVER]), (170, []), (176, [])], "mismatch"),
        ([(0, []), (74, []), (76, [])], "mismatch"),
        # The mismatch persists while the proof's own processes compute.
        ([(0, [OWN]), (900, [OWN]), (960, []), (976, [])], "mismatch"),
        # Memory remains unavailable for half a minute while another process holds it.
        ([(0, [SERVER]), (29, [SERVER]), (31, [SERVER])], "memory"),
    ],
)
def test_refused_cuda_is_retried_until_last_time(observations: list[Observation], reason: str) -> None:
    assert refusals(*observations, reason=reason) == [*(len(observations) - 1) * [True], False]


def test_slow_host_gets_more_time() -> None:
    assert device.after_refusal(device.Refused(0, 0), 200, [SERVER], "crash", factor=2)[1]


def refused_row() -> Result:
    return Result("device.cuda", FAIL, cause="No CUDA.", reason="mismatch", remedy="Look.")


def test_process_that_used_the_gpu_is_named() -> None:
    row = device.given_up(refused_row(), device.Refused(0, 100, (str(SERVER),)), 176)
    assert row.reason == "busy" and row.remedy.startswith("Stop that program")
    assert row.cause.startswith("Not run: ") and "VLLM::EngineCore (process 4711, 90000 MiB)." in row.cause
    assert "No CUDA. " in row.cause and "176 seconds" in row.cause


def test_unused_gpu_is_a_failure_of_the_stack() -> None:
    row = device.given_up(refused_row(), device.Refused(0, 0), 76)
    assert (row.reason, row.remedy) == ("mismatch", "Look.")
    assert row.cause.startswith("No CUDA. ") and "76 seconds" in row.cause


@pytest.mark.parametrize(
    ("message", "is_refused"),
    [
        ("No CUDA GPUs are available", True),
        ("CUDA error: CUDA-capable device(s) is/are busy or unavailable", True),
        ("CUDA error: all CUDA-capable devices are busy or unavailable", True),
        ("CUDA unknown error - this may be due to an incorrectly set up environment", True),
        ("Unexpected error from cudaGetDeviceCount(). Did you run some functions? Error 46: devices unavailable", True),
        ("CUDA driver initialization failed, you might not have a CUDA gpu.", True),
        ("CUDA error: out of memory", False),
        ("CUDA error: an illegal memory access was encountered", False),
        ("The NVIDIA driver on your system is too old", False),
        ("Error 803: system has unsupported display driver / cuda driver combination", False),
    ],
)
def test_message_of_refused_context(message: str, is_refused: bool) -> None:
    assert bool(device.NO_CONTEXT.search(message)) is is_refused
