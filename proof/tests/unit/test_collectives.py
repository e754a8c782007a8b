import contextlib
import importlib
from pathlib import Path

import pytest
from sparkforge_proof.check import Context
from sparkforge_proof.checks.programs import collectives


def test_the_release_that_hangs_is_known_and_no_other():
    for version in ((2, 28, 9), (2, 28, 9, "+cuda13.0")):
        assert "CUDA graphs" in collectives.known_trap(version)
    for version in ((2, 27, 7), (2, 30, 4), (2, 30, 7), (2, 28)):
        assert collectives.known_trap(version) == ""


@pytest.mark.parametrize("fault", ["", "It is off."])
def test_a_rank_ends_although_a_thread_of_it_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str):
    """At the end of the interpreter such a thread of torch's aborts a process that has done its work."""
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
    said = pytest.raises(collectives.Failed, match="Rank 1 of 2: It is off") if fault else contextlib.nullcontext()
    with said, collectives.other_ranks(context, works, 2, fault=fault):
        pass
