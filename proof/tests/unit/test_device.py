# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether torch reaches the GPU, where other programs have its memory."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

import pytest
from sparkforge_proof import sampler
from sparkforge_proof.check import Context, Unanswered
from sparkforge_proof.checks.stack import device


class OutOfMemory(RuntimeError):
    def __init__(self) -> None:
        super().__init__("CUDA error: out of memory")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A GPU whose memory others have for the first so many seconds, and who they are."""

    def make(seconds: float, *others: sampler.Process) -> None:
        clock = [0.0]

        def zeros(*_shape: int, device: str) -> types.SimpleNamespace:
            if clock[0] < seconds:
                raise OutOfMemory
            return types.SimpleNamespace(item=lambda: 0.0)

        def sleep(time: float) -> None:
            clock[0] += time

        cuda = types.SimpleNamespace(
            init=lambda: None, device_count=lambda: 1, get_device_capability=lambda _index: (12, 1),
            get_device_name=lambda _index: "NVIDIA GB10",
        )  # fmt: skip
        torch = types.SimpleNamespace(
            cuda=cuda, zeros=zeros, version=types.SimpleNamespace(cuda="13.0"), __version__="2.14.1"
        )
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr(sampler, "others", lambda: list(others) if clock[0] < seconds else [])
        monkeypatch.setattr(sampler.time, "sleep", sleep)
        monkeypatch.setattr(sampler.time, "monotonic", lambda: clock[0])

    return make


def test_memory_that_others_give_back_in_time_is_waited_for(gpu: Callable[..., None]) -> None:
    gpu(20, sampler.Process(4711, "python3", 118000))
    assert device.cuda(Context(device="cuda")).measured == "1 x NVIDIA GB10, 12.1, CUDA 13.0"


def test_who_keeps_the_memory_is_named_and_the_stack_is_not_blamed(gpu: Callable[..., None]) -> None:
    gpu(1000, sampler.Process(4711, "python3", 118000))
    with pytest.raises(Unanswered) as raised:
        device.cuda(Context(device="cuda"))
    assert raised.value.reason == "busy"
    assert raised.value.cause == "Not run: the GPU is in use by python3 (process 4711, 118000 MiB)."


def test_without_anybody_to_wait_for_the_gpu_has_no_memory(gpu: Callable[..., None]) -> None:
    gpu(1000)
    with pytest.raises(Unanswered, match="The GPU has no memory left: CUDA error: out of memory") as raised:
        device.cuda(Context(device="cuda"))
    assert raised.value.reason == "memory"
