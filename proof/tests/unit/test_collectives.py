import contextlib
import importlib
import subprocess
import time
from pathlib import Path

import pytest
from sparkforge_proof.check import Context
from sparkforge_proof.checks.programs import collectives


@pytest.mark.parametrize("fault", ["", "It is off."])
def test_rank_with_running_thread_exits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str):
    """A thread of torch that is still running would abort the process when the interpreter exits."""
    (tmp_path / "a_rank.py").write_text(
        "import threading, time\n"
        f"from {collectives.Failed.__module__} import Failed\n\n\n"
        "def works(context, rank, world, fault):\n"
        "    threading.Thread(target=time.sleep, args=(3600,)).start()\n"
        "    if fault:\n"
        "        raise Failed(fault, '')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    works = importlib.import_module("a_rank").works
    context = Context(device="cpu", directory=str(tmp_path))
    raises = pytest.raises(collectives.Failed, match="Rank 1 of 2: It is off") if fault else contextlib.nullcontext()
    with raises, collectives.other_ranks(context, works, 2, fault=fault):
        pass


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", RuntimeError("Timed out"), "Rank 1 of 2 was killed by SIGKILL"),
        ("meet(context); os._exit(7)", RuntimeError("Timed out"), "Rank 1 of 2: status 7"),
        ("meet(context); time.sleep(3600)", RuntimeError("Timed out"), "Rank 1 of 2 does not answer: Timed out"),
        ("meet(context); time.sleep(3600)", RuntimeError("No such product"), "Rank 0 of 2: No such product"),
        ("meet(context); raise OSError('gloo/pair.cc')", RuntimeError("No such product"), "Rank 0 of 2: No such"),
        ("meet(context); raise OSError('gloo/pair.cc')", collectives.Failed("It is off.", ""), "^It is off"),
    ],
)  # fmt: skip
def test_error_that_explains_the_others_is_named(tmp_path, monkeypatch, body, error: Exception, message):
    """A rank ends before it meets rank 0, or while it exchanges data, or it hangs, or waits for rank 0."""
    name, exchanging = f"rank_{abs(hash(body + message))}", tmp_path / "rank 0 exchanges"
    (tmp_path / f"{name}.py").write_text(
        "import os, signal, time\n"
        f"from {collectives.__package__} import collectives\n\n\n"
        "def meet(context):\n    open(collectives._ready(context, 1), 'w').close()\n"
        f"    while not os.path.exists({str(exchanging)!r}):\n        time.sleep(0.01)\n\n\n"
        f"def works(context, rank, world):\n    {body}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    works = importlib.import_module(name).works
    context = Context(device="cpu", directory=str(tmp_path))
    began = time.monotonic()
    with pytest.raises(collectives.Failed, match=message), collectives.other_ranks(context, works, 2):
        exchanging.touch()
        raise error
    assert time.monotonic() - began < 30


def test_factor_gives_slow_ranks_time_to_exchange_and_exit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "slow_rank.py").write_text(
        "import sys, time\nfrom types import SimpleNamespace\n"
        f"from {collectives.__package__} import collectives\n\n\n"
        "def exchange(context, rank, world, seconds):\n"
        "    timeouts = []\n"
        "    distributed = sys.modules['torch.distributed'] = SimpleNamespace(\n"
        "        init_process_group=lambda backend, timeout, **options: timeouts.append(timeout.total_seconds()),\n"
        "        destroy_process_group=lambda: None)\n"
        "    sys.modules['torch'] = SimpleNamespace(distributed=distributed)\n"
        "    with collectives.group(context, rank, world):\n"
        "        assert timeouts == [seconds], timeouts\n"
        "    time.sleep(1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    exchange = importlib.import_module("slow_rank").exchange

    def run(factor: float) -> None:
        context = Context(device="cpu", directory=str(tmp_path), limits={"factor": factor})
        with collectives.other_ranks(context, exchange, 2, seconds=factor * 60):
            monkeypatch.setattr(collectives, "PATIENCE", 0.1)

    run(100)
    monkeypatch.setattr(collectives, "PATIENCE", 60)
    with pytest.raises(subprocess.TimeoutExpired):
        run(1)
