"""Whether torch reaches the GPU, where other programs have its memory."""

import sys
import types

import pytest
from sparkforge_proof import sampler
from sparkforge_proof.check import FAIL, Context, Result, Unanswered
from sparkforge_proof.checks.stack import device


class OutOfMemory(RuntimeError):
    def __init__(self) -> None:
        super().__init__("CUDA error: out of memory")


def test_without_anybody_to_wait_for_the_gpu_has_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def zeros(*_shape: int, device: str) -> None:
        raise OutOfMemory

    torch = types.SimpleNamespace(
        cuda=types.SimpleNamespace(init=lambda: None), zeros=zeros, version=types.SimpleNamespace(cuda="13.0")
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(Unanswered, match="The GPU has no memory left: CUDA error: out of memory") as raised:
        device.cuda(Context(device="cuda"))
    assert raised.value.reason == "memory"
    row = Result("device.cuda", FAIL, cause=raised.value.cause, reason="memory")
    assert not device.is_refused(row, [OWN]) and device.is_refused(row, [OWN, SERVER])


# -- CUDA that does not start beside another process

SERVER = sampler.Process(4711, "VLLM::EngineCore", 90000)
OWN = sampler.Process(12, "python3", 500, own=True)


def refusals(*seen: tuple[float, list[sampler.Process]], reason: str = "mismatch") -> list[bool]:
    """Return at each time whether it is tried again, with these processes on the GPU."""
    refused, answers = None, []
    for now, users in seen:
        refused, tries_again = device.after_refusal(refused, now, users, reason)
        answers.append(tries_again)
    return answers


def test_cuda_is_tried_again_beside_another_process_for_two_minutes() -> None:
    assert refusals((0, [SERVER]), (60, [SERVER]), (119, [SERVER, OWN]), (121, [SERVER])) == [True, True, True, False]


def test_cuda_is_tried_again_after_the_end_of_another_process() -> None:
    assert refusals((0, [SERVER]), (100, [SERVER]), (170, []), (176, [])) == [True, True, True, False]


def test_cuda_is_tried_again_where_a_process_that_was_not_seen_may_have_ended() -> None:
    assert refusals((0, []), (74, []), (76, [])) == [True, True, False]


def test_cuda_waits_for_the_proofs_own_processes_as_long_as_they_compute() -> None:
    assert refusals((0, [OWN]), (900, [OWN]), (960, []), (976, [])) == [True, True, True, False]


def test_memory_that_others_have_is_waited_for_half_a_minute() -> None:
    assert refusals((0, [SERVER]), (29, [SERVER]), (31, [SERVER]), reason="memory") == [True, True, False]


def test_slow_host_is_given_more_time_for_cuda() -> None:
    assert device.after_refusal(device.Refused(0, 0), 200, [SERVER], "crash", factor=2)[1]


def refused_row() -> Result:
    return Result(
        "device.cuda", FAIL, cause="CUDA does not start in torch 2.14.1: no.", reason="mismatch", remedy="Look."
    )


def test_gpu_that_another_process_had_is_not_run_and_names_it() -> None:
    row = device.given_up(refused_row(), device.Refused(0, 100, (str(SERVER),)), 176)
    assert row.reason == "busy" and row.remedy.startswith("Stop it, and run the proof again")
    assert row.cause == (
        "Not run: the GPU is in use by VLLM::EngineCore (process 4711, 90000 MiB). "
        "CUDA does not start in torch 2.14.1: no. It was tried for 176 seconds."
    )


def test_gpu_that_nobody_uses_is_a_failure_of_the_stack_as_before() -> None:
    row = device.given_up(refused_row(), device.Refused(0, 0), 76)
    assert (row.reason, row.remedy) == ("mismatch", "Look.")
    assert row.cause == "CUDA does not start in torch 2.14.1: no. It was tried for 76 seconds."


@pytest.mark.parametrize(
    "text",
    [
        "No CUDA GPUs are available",
        "CUDA error: CUDA-capable device(s) is/are busy or unavailable",
        "CUDA error: all CUDA-capable devices are busy or unavailable",
        "CUDA unknown error - this may be due to an incorrectly set up environment",
        "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions? Error 46: devices unavailable",
        "CUDA driver initialization failed, you might not have a CUDA gpu.",
    ],
)
def test_message_of_a_refused_context_is_known(text: str) -> None:
    assert device.NO_CONTEXT.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: out of memory",
        "CUDA error: an illegal memory access was encountered",
        "The NVIDIA driver on your system is too old",
        "Error 803: system has unsupported display driver / cuda driver combination",
    ],
)
def test_message_of_another_error_is_no_refusal(text: str) -> None:
    assert not device.NO_CONTEXT.search(text)
