"""The runner with checks that crash, hang, print and fork; what they compute with is of no matter here."""

import importlib
import json
import os
import py_compile
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sparkforge_proof import endings, runner

PROGRAM = """
import os, signal, sys, time
from sparkforge_proof import check, runner
from sparkforge_proof.check import (
    Definition, Failed, Measured, Skipped, Unanswered)

def nice(context): return Measured(str(os.nice(0)), "1")
def right(context): return Measured("1", "1", 0.5, {{"tflops": float("inf"), "gb_per_s": 3.0}})
def wrong(context): raise Failed("It is wrong.", "Mend it.", "2", "1", float("inf"))
def absent(context): raise Skipped("There is none.")
def raises(context): raise ValueError("no such thing")
def crashes(context):
    os.write(1, b"about to go\\n")
    os.kill(os.getpid(), signal.SIGSEGV)
def leaves(context): os._exit(0)
def hangs(context): time.sleep(600)
def hangs_and_holds(context):
    if os.fork() == 0:
        time.sleep(600)
    os._exit(7)
def slow(context):
    return Measured("1", "2", rates={{"tflops": 1.0}}, warning=Unanswered("slow", "It is slow.", "Wait."))
def runs_out(context): raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
def is_killed(context): os.kill(os.getpid(), signal.SIGKILL)
def second_time(context):
    tried = os.path.join(context.directory, "tried")
    if not os.path.exists(tried):
        open(tried, "w").close()
        os._exit(3)
    return Measured("1", "1")
def refused_once(context):
    tried = os.path.join(context.directory, "refused")
    if not os.path.exists(tried):
        open(tried, "w").close()
        raise RuntimeError("CUDA error: CUDA-capable device(s) is/are busy or unavailable")
    return Measured("1", "1")
def refuses(context): raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
def refuses_and_prints(context):
    prints(context)
    refuses(context)
def reaches_too_far(context): raise RuntimeError("CUDA error: an illegal memory access was encountered")
def prints(context):
    os.write(1, b"FATAL: kernel fmha is for sm80-sm100, but was built for sm121\\n")
    return Measured("1", "1")
def asserts(context):
    os.write(1, b"a.cu:9: at: block: [0,0,0], thread: [1,0,0] Assertion `index out of bounds` failed.\\n")
    raise RuntimeError("CUDA error: device-side assert triggered")
def damages(context):
    os.write(1, b"double free or corruption (out)\\n")
    return Measured("1", "1")
def fills(context):
    os.write(1, b"x.o: No space left on device\\n")
    os._exit(3)
def damages_and_ends(context):
    damages(context)
    os.abort()

def steps(context, end):
    for part in ("one", "two", "three"):
        if part not in context.passed_over:
            context.step(part)
            if part == "two":
                end()
    return Measured(f"without {{dict(context.passed_over)}}", "1")
def steps_crashes(context): return steps(context, lambda: os.kill(os.getpid(), signal.SIGSEGV))
def steps_hangs(context): return steps(context, lambda: time.sleep(600))

def meets(context):
    # Whoever comes first waits for the other.
    there = os.path.dirname(context.directory)
    os.mkdir(os.path.join(there, f"met-{{os.path.basename(context.directory)}}"))
    while len([name for name in os.listdir(there) if name.startswith("met-")]) < 2:
        time.sleep(0.01)
    return Measured("1", "1")
def opened(context):
    if not os.path.exists(os.path.join(os.path.dirname(context.directory), "opened")):
        raise Failed("It is closed.", "Wait.")
    return Measured("1", "1")

# The disk of the machine that tests is not looked at.
runner.sampler.STALLED = 101.0
functions = dict(refused_once_gpu=refused_once, meets=meets, opened=opened, nice=nice, on_the_gpu=right,
                 steps_crashes=steps_crashes, steps_hangs=steps_hangs,
                 right=right, wrong=wrong, absent=absent, raises=raises, crashes=crashes, leaves=leaves, hangs=hangs,
                 hangs_and_holds=hangs_and_holds, prints=prints, slow=slow, refuses=refuses,
                 refuses_and_prints=refuses_and_prints, reaches_too_far=reaches_too_far,
                 prints_gpu=prints, asserts_gpu=asserts, damages=damages, damages_and_ends=damages_and_ends,
                 fills=fills, runs_out=runs_out, is_killed=is_killed, second_time=second_time)
runner.CHECKS = {{
    f"{{name}}{{number}}": Definition(
        f"{{name}}{{number}}", "family", "cuda" if "gpu" in name else "cpu", True,
        1.5 if "hangs" in name else 30, "", steps="steps" in name)
    for name in functions for number in (1, 2)}}
check.FUNCTIONS.update((f"{{name}}{{number}}", functions[name]) for name in functions for number in (1, 2))
runner.CHECKS["survey.float32"] = Definition("survey.float32", "family", "cpu", True, 30, "")
runner.CHECKS["device.cuda"] = Definition("device.cuda", "device", "cuda", False, 30, "")
check.FUNCTIONS.update({{"survey.float32": right, "device.cuda": wrong}})
runner.main(sys.argv[1])
"""
MAIN = "runner.main("
#: A torch that reaches its GPU after so many processes in which CUDA does not start.
BUSY_GPU = """
import os, types
version.cuda = "13.0"
def init():
    with open(TRIED, "a") as stream:
        stream.write("x")
    if os.path.getsize(TRIED) <= REFUSALS:
        raise RuntimeError("MESSAGE")
cuda = types.SimpleNamespace(
    is_initialized=bool, init=init, synchronize=bool, device_count=lambda: 1,
    get_device_capability=lambda index: (12, 1), get_device_name=lambda index: "NVIDIA GB10")
def zeros(*shape, device):
    return types.SimpleNamespace(item=float)
"""
#: The true check of whether CUDA starts, with short waits, and who is on the GPU.
BESIDE_A_SERVER = """
from sparkforge_proof import sampler
from sparkforge_proof.checks.stack import device
check.FUNCTIONS["device.cuda"] = device.cuda
device.WHILE_USED = device.WHILE_FULL = 1.0
device.SINCE_UNUSED, device.PAUSE = 0.5, 0.1
sampler.computing = lambda index='': USERS
"""
SERVER = "[sampler.Process(4711, 'VLLM::EngineCore', 90000)]"


def beside_a_server(
    tmp_path: Path, refusals: int, users: str, *checks: str, message: str = "No CUDA GPUs are available"
) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the rows, and how often it was said that the GPU is waited for."""
    tried = tmp_path / "tried"
    torch = BUSY_GPU.replace("TRIED", repr(str(tried))).replace("REFUSALS", str(refusals)).replace("MESSAGE", message)
    prologue = BESIDE_A_SERVER.replace("USERS", users)
    (found,) = run_lanes(tmp_path, ("device.cuda", *checks), torch=torch, prologue=prologue)
    rows = {name: row for name, row in found.items() if not name.startswith("waiting")}
    return rows, len(found) - len(rows)


def test_gpu_that_refuses_a_second_process_is_tried_again_in_new_processes(tmp_path: Path) -> None:
    rows, waits = beside_a_server(tmp_path, 3, SERVER, "on_the_gpu1")
    assert {name: row["status"] for name, row in rows.items()} == {"device.cuda": "pass", "on_the_gpu1": "pass"}
    assert rows["device.cuda"]["measured"] == "1 x NVIDIA GB10, 12.1, CUDA 13.0" and waits == 3


def test_gpu_that_a_server_keeps_is_not_run_and_the_host_is_checked(tmp_path: Path) -> None:
    rows, waits = beside_a_server(tmp_path, 1000, SERVER, "on_the_gpu1", "right1")
    row = rows["device.cuda"]
    assert (row["status"], row["reason"]) == ("fail", "busy") and waits >= 1
    assert row["cause"].startswith("Not run: the GPU is in use by VLLM::EngineCore (process 4711, 90000 MiB).")
    assert (rows["on_the_gpu1"]["status"], rows["right1"]["status"]) == ("skip", "pass")
    assert rows["on_the_gpu1"]["blocked"]


def test_holder_of_the_device_is_named_where_nvidia_smi_names_nobody(tmp_path: Path) -> None:
    users = "[]\nsampler.holders = lambda: [sampler.Process(4711, 'ollama')]"
    row = beside_a_server(tmp_path, 1000, users)[0]["device.cuda"]
    assert row["cause"].startswith("Not run: the GPU is in use by ollama (process 4711). CUDA does not start")


def test_memory_that_others_give_back_in_time_is_waited_for(tmp_path: Path) -> None:
    rows, waits = beside_a_server(tmp_path, 2, SERVER, message="CUDA error: out of memory")
    assert rows["device.cuda"]["measured"] == "1 x NVIDIA GB10, 12.1, CUDA 13.0" and waits == 2


def test_who_keeps_the_memory_is_named_and_the_stack_is_not_blamed(tmp_path: Path) -> None:
    row = beside_a_server(tmp_path, 1000, SERVER, message="CUDA error: out of memory")[0]["device.cuda"]
    assert row["reason"] == "busy"
    assert row["cause"].startswith("Not run: the GPU is in use by VLLM::EngineCore (process 4711, 90000 MiB).")


def test_gpu_that_refuses_while_nobody_is_seen_fails_after_the_wait(tmp_path: Path) -> None:
    row = beside_a_server(tmp_path, 1000, "[]")[0]["device.cuda"]
    assert (row["status"], row["reason"]) == ("fail", "mismatch")
    assert row["cause"].startswith("CUDA does not start in torch 0: No CUDA GPUs are available. It was tried for ")


def test_gpu_that_vanishes_in_a_run_fails_what_needs_it_and_ends_nothing_else(tmp_path: Path) -> None:
    tried = str(tmp_path / "tried")
    # The first process reaches it, and none after the check that lost it.
    torch = (
        BUSY_GPU.replace("TRIED", repr(tried)).replace("<= REFUSALS", "> 9").replace("MESSAGE", "CUDA unknown error")
    )
    lose = f"""
def lost(context):
    import torch
    open({tried!r}, "a").write(9 * "x")
    torch.init()
for name in ("refused_once_gpu1", "refused_once_gpu2"):
    check.FUNCTIONS[name] = lost
"""
    names = ("device.cuda", "on_the_gpu1", "refused_once_gpu1", "refused_once_gpu2", "right1")
    (found,) = run_lanes(tmp_path, names, torch=torch, prologue=BESIDE_A_SERVER.replace("USERS", "[]") + lose)
    assert [found[name]["status"] for name in names] == ["pass", "pass", "fail", "fail", "pass"]
    for name in names[2:4]:
        assert "CUDA unknown error" in found[name]["cause"] and found[name]["remedy"]


def test_check_that_is_refused_later_is_tried_again(tmp_path: Path) -> None:
    rows, waits = beside_a_server(tmp_path, 0, SERVER, "refused_once_gpu1", "on_the_gpu1")
    assert {name: row["status"] for name, row in rows.items()} == {
        "device.cuda": "pass", "refused_once_gpu1": "pass", "on_the_gpu1": "pass",
    }  # fmt: skip
    assert waits == 1


def run(tmp_path: Path, *checks: str, torch: str = "") -> dict[str, dict[str, Any]]:
    """Return the results by name; torch is an empty module, for nothing is computed."""
    (found,) = run_lanes(tmp_path, checks, torch=torch)
    return found


def run_lanes(
    tmp_path: Path,
    *lanes: tuple[str, ...],
    torch: str = "",
    before: Callable[[], None] | None = None,
    prologue: str = "",
) -> list[dict[str, dict[str, Any]]]:
    """Return the results of each lane; where something is done before, a closed gate is opened behind it."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "from . import version\n__version__ = version.__version__\n" + torch
    )
    (tmp_path / "torch" / "version.py").write_text("__version__ = '0'\ncuda = None\n")
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM.format()).replace(MAIN, prologue + MAIN))
    pipes = [os.pipe() for _lane in lanes]
    gate = os.pipe()
    listed = [
        {"checks": checks, "directory": str(tmp_path / str(number)), "results": writing}
        for number, (checks, (_reading, writing)) in enumerate(zip(lanes, pipes, strict=True))
    ]
    job = {"lanes": listed, "profile": {}, "reference": {}, "limits": {"factor": 1.0}}
    (tmp_path / "job.json").write_text(json.dumps({**job, "gate": gate[0] if before else None}))
    sources = Path(runner.__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "job.json")],
        pass_fds=[gate[0], *(writing for _reading, writing in pipes)],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{sources}"},
        stdout=subprocess.DEVNULL,
    )
    for _reading, writing in pipes:
        os.close(writing)
    streams, found = [os.fdopen(reading) for reading, _writing in pipes], []
    for stream in streams:
        assert json.loads(stream.readline())["event"] == "ready"
    if before:
        # Half a second in which nothing is said.
        assert select.select(streams, [], [], 0.5)[0] == []
        before()
    os.close(gate[1])
    for stream in streams:
        with stream:
            said = [json.loads(line) for line in stream]
        found.append({line["name"]: line for line in said if line["event"] == "result"})
        found[-1].update({f"waiting {number}": line for number, line in enumerate(said) if line["event"] == "waiting"})
    assert process.wait(30) == 0
    os.close(gate[0])
    return found


def test_each_ending_is_a_result_and_none_is_the_end(tmp_path: Path) -> None:
    names = [f"{kind}{n}" for n in (1, 2) for kind in ("right", "crashes", "leaves", "raises", "wrong", "absent")]
    found = run(tmp_path, *names)
    assert set(found) == set(names)
    assert {name: found[name]["status"] for name in names if name.endswith("2")} == {
        "right2": "pass",
        "crashes2": "fail",
        "leaves2": "fail",
        "raises2": "fail",
        "wrong2": "fail",
        "absent2": "skip",
    }
    assert found["crashes1"]["cause"].startswith("The process that ran crashes1 was killed by SIGSEGV.")
    assert "about to go" in found["crashes1"]["cause"]
    assert "exited with status 0 before returning a result" in found["leaves1"]["cause"]
    assert found["raises1"]["cause"] == "raises1 ended with an error: ValueError: no such thing. It was run twice."
    assert found["absent1"]["cause"] == "There is none."
    assert all(row["remedy"] for row in found.values() if row["status"] == "fail")


@pytest.mark.parametrize(
    ("name", "how"), [("crashes", "was killed by SIGSEGV"), ("hangs", "did not respond within 2 seconds")]
)
def test_a_part_that_ends_its_check_is_passed_over_and_the_other_parts_run(tmp_path: Path, name: str, how: str) -> None:
    found = run(tmp_path, f"steps_{name}1", "right1")
    assert found[f"steps_{name}1"]["measured"] == f"without {{'two': '{how}'}}"
    assert found["right1"]["status"] == "pass"


def test_check_that_a_busy_machine_keeps_from_its_work_is_slow_and_no_part_is_blamed(tmp_path: Path) -> None:
    prologue = "runner.sampler.hindrance = lambda _leader: 'others had the processor'\n"
    (found,) = run_lanes(tmp_path, ("steps_hangs1", "hangs1", "right1"), prologue=prologue)
    for name in ("steps_hangs1", "hangs1"):
        row = found[name]
        assert (row["status"], row["reason"], row["remedy"]) == ("fail", "slow", endings.IDLE)
        assert "says nothing of the stack, since others had the processor. It was run twice." in row["cause"]
    assert found["right1"]["status"] == "pass"


def test_lanes_run_side_by_side_and_what_ends_in_one_does_not_touch_the_other(tmp_path: Path) -> None:
    one, other = run_lanes(tmp_path, ("meets1", "crashes1", "right1"), ("meets2", "right2"))
    assert [one[name]["status"] for name in ("meets1", "crashes1", "right1")] == ["pass", "fail", "pass"]
    assert [other[name]["status"] for name in ("meets2", "right2")] == ["pass", "pass"]


def test_what_takes_longest_runs_ahead_of_the_others(tmp_path: Path) -> None:
    long, other = run_lanes(tmp_path, ("survey.float32", "nice1"), ("nice2",))
    assert int(other["nice2"]["measured"]) == min(19, int(long["nice1"]["measured"]) + runner.BEHIND)


def test_a_lane_begins_when_its_gate_is_opened(tmp_path: Path) -> None:
    (found,) = run_lanes(tmp_path, ("opened1",), before=(tmp_path / "opened").touch)
    assert found["opened1"]["status"] == "pass"


def test_cuda_starts_in_the_process_of_the_family_behind_and_what_needs_it_is_skipped_where_it_does_not(
    tmp_path: Path,
) -> None:
    found = run(tmp_path, "device.cuda", "on_the_gpu1", "right1", "on_the_gpu2")
    assert {name: row["status"] for name, row in found.items()} == {
        "device.cuda": "fail",
        "on_the_gpu1": "skip",
        "right1": "pass",
        "on_the_gpu2": "skip",
    }
    assert found["on_the_gpu1"]["blocked"] and "see device.cuda" in found["on_the_gpu1"]["cause"]


def test_a_figure_that_json_has_no_word_for_is_left_out(tmp_path: Path) -> None:
    found = run(tmp_path, "right1", "wrong1")
    assert found["right1"]["rates"] == {"gb_per_s": 3.0} and found["right1"]["ratio"] == 0.5
    assert found["wrong1"]["ratio"] is None


def test_a_hang_is_ended_after_its_own_time_and_the_next_one_runs(tmp_path: Path) -> None:
    found = run(tmp_path, "hangs1", "right1")
    assert found["hangs1"]["cause"] == "hangs1 did not respond within 2 seconds and was stopped. It was run twice."
    assert found["right1"]["status"] == "pass"


def test_what_a_check_started_does_not_keep_its_end_from_being_seen(tmp_path: Path) -> None:
    found = run(tmp_path, "hangs_and_holds1", "right1")
    assert "exited with status 7" in found["hangs_and_holds1"]["cause"]
    assert found["right1"]["status"] == "pass"


def test_what_a_kernel_prints_fails_the_check_that_printed_it_alone(tmp_path: Path) -> None:
    found = run(tmp_path, "right1", "prints1", "right2")
    assert [found[name]["status"] for name in ("right1", "prints1", "right2")] == ["pass", "fail", "pass"]
    assert "FATAL: kernel fmha is for sm80-sm100, but was built for sm121" in found["prints1"]["cause"]
    # What computes on the CPU is not mended by what a GPU's code is built for.
    assert "for this CPU" in found["prints1"]["remedy"] and "CUDA" not in found["prints1"]["remedy"]


def test_what_is_known_of_a_lane_s_last_words_is_told(tmp_path: Path) -> None:
    row = run(tmp_path, "fills1")["fills1"]
    assert "exited with status 3" in row["cause"] and "A file system is full" in row["cause"]
    assert row["remedy"].startswith("Find what fills it")


def test_an_empty_kernel_an_assertion_and_a_damaged_heap_have_a_cause_and_a_remedy_each(tmp_path: Path) -> None:
    torch = "class cuda:\n    is_initialized = staticmethod(bool)\n    synchronize = staticmethod(bool)\n"
    kinds = {"prints_gpu": "wrong", "asserts_gpu": "crash", "damages": "crash", "damages_and_ends": "crash"}
    found = run(tmp_path, *(f"{name}1" for name in kinds), torch=torch)
    assert {name[:-1]: row["reason"] for name, row in found.items()} == kinds
    assert {row["status"] for row in found.values()} == {"fail"}
    empty, asserted, damaged, ended = (found[f"{name}1"] for name in kinds)
    assert empty["cause"] == "A kernel printed: FATAL: kernel fmha is for sm80-sm100, but was built for sm121."
    assert asserted["cause"] == (
        "A kernel was given an index or a value that it does not take: a.cu:9: at: block: [0,0,0], thread: [1,0,0] "
        "Assertion `index out of bounds` failed. It was run twice."
    )
    assert damaged["cause"] == "The heap was damaged: double free or corruption (out). It was run twice."
    assert "was killed by SIGABRT. It printed: double free or corruption (out)" in ended["cause"]
    assert empty["remedy"] == endings.ON_GPU.empty
    assert asserted["remedy"] == endings.ON_GPU.assertion
    assert damaged["remedy"] == ended["remedy"] == endings.ON_CPU.heap


def test_why_a_check_has_no_answer_is_told_and_only_a_number_is_wrong(tmp_path: Path) -> None:
    reasons = {
        "slow1": "slow",
        "refuses1": "refused",
        "refuses_and_prints1": "wrong",
        "reaches_too_far1": "crash",
        "wrong1": "wrong",
        "hangs1": "timeout",
        "crashes1": "crash",
        "runs_out1": "memory",
        "is_killed1": "memory",
    }
    found = run(tmp_path, *reasons)
    assert {name: row["reason"] for name, row in found.items()} == reasons
    slow = found.pop("slow1")
    assert (slow["status"], slow["cause"], slow["remedy"]) == ("warn", "It is slow.", "Wait.")
    assert slow["rates"] == {"tflops": 1.0}
    assert {row["status"] for row in found.values()} == {"fail"}


def test_a_check_without_an_answer_is_run_once_more_and_a_wrong_number_is_not(tmp_path: Path) -> None:
    found = run(tmp_path, "second_time1", "wrong1", "crashes1", "right1")
    assert (found["second_time1"]["status"], found["second_time1"]["reason"]) == ("pass", "")
    assert found["second_time1"]["measured"] == "1 (at the second try; the first: crash)"
    assert "It was run twice." in found["crashes1"]["cause"] and "twice" not in found["wrong1"]["cause"]


def test_a_torch_that_starts_cuda_when_it_is_imported_is_named(tmp_path: Path) -> None:
    torch = "class cuda:\n    @staticmethod\n    def is_initialized():\n        return True\n"
    found = run(tmp_path, "right1", torch=torch)
    assert found["right1"]["status"] == "fail" and "initialised CUDA" in found["right1"]["cause"]


@pytest.mark.parametrize(
    ("status", "words"), [(11, "was killed by SIGSEGV"), (9, "was killed by SIGKILL"), (3 << 8, "exited with status 3")]
)
def test_a_status_in_words(status: int, words: str) -> None:
    assert endings.how_it_ended(os.waitstatus_to_exitcode(status)).startswith(words)


@pytest.mark.parametrize("compiled", [False, True])
def test_byte_code_is_kept_for_all_processes_where_the_environment_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    kept, package = tmp_path / "kept", tmp_path / "site/nocode/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text("")
    if compiled:
        py_compile.compile(str(package))
    before = sorted(package.parent.rglob("*"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    runner._keep_byte_code("nocode", str(kept))
    importlib.import_module("nocode")
    monkeypatch.delitem(sys.modules, "nocode")
    assert bool(list(kept.rglob("*.pyc"))) is not compiled
    assert sorted(package.parent.rglob("*")) == before
