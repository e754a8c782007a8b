import contextlib
import importlib
from pathlib import Path

import pytest
from sparkforge_proof.check import Context
from sparkforge_proof.checks.programs import collectives


def test_nccl_release_that_hangs():
    for version in ((2, 28, 9), (2, 28, 9, "+cuda13.0")):
        assert "CUDA graphs" in collectives.known_trap(version)
    for version in ((2, 27, 7), (2, 30, 4), (2, 30, 7), (2, 28)):
        assert collectives.known_trap(version) == ""


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
