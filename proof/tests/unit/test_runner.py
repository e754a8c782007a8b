"""The runner with checks that crash, hang, print and fork. These checks do not need torch."""

import importlib
import json
import os
import py_compile
import select
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from sparkforge_proof import endings, runner
from sparkforge_proof.check import FULL

PROGRAM = """
import os, signal, sys, time
from sparkforge_proof import check, runner
from sparkforge_proof.check import (
    Definition, Failed, Measured, Skipped, Unanswered)

def nice(context): return Measured(str(os.nice(0)), "1")
def sees(context): return Measured(os.environ.get("CUDA_VISIBLE_DEVICES", "all"), "1")
def right(context): return Measured("1", "1", 0.5, {{"tflops": float("inf"), "gb_per_s": 3.0}})
def wrong(context): raise Failed("It is wrong.", "Mend it.", "2", "1", float("inf"))
def absent(context): raise Skipped("There is none.")
def works(context):
    # A process and a child that it waits for compute for 0.2 seconds each.
    child = os.fork()
    while time.process_time() < 0.2: pass
    if not child: os._exit(0)
    os.waitpid(child, 0)
    time.sleep(1)
    return Measured("1", "1")
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
def is_first(context, name):
    path = os.path.join(context.directory, name)
    first = not os.path.exists(path)
    open(path, "w").close()
    return first
def second_time(context):
    if is_first(context, "tried"):
        os._exit(3)
    return Measured("1", "1")
def refused_once(context):
    if is_first(context, "refused"):
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
def steps_exits(context): return steps(context, lambda: os.write(2, b"TypeError: a  number\\n\\n") and os._exit(1))
def steps_accesses(context):
    measured = steps(context, lambda: reaches_too_far(context)).measured
    raise Unanswered("crash", f"It ran {{measured}}.", "Use another stack.")
def steps_hangs(context): return steps(context, lambda: time.sleep(600))
def again_hangs(context): context.step("one") or time.sleep(600)

def meets(context):
    # The first lane waits for the second.
    there = os.path.dirname(context.directory)
    os.mkdir(os.path.join(there, f"met-{{os.path.basename(context.directory)}}"))
    while len([name for name in os.listdir(there) if name.startswith("met-")]) < 2:
        time.sleep(0.01)
    return Measured("1", "1")
def opened(context):
    if not os.path.exists(os.path.join(os.path.dirname(context.directory), "opened")):
        raise Failed("It is closed.", "Wait.")
    return Measured("1", "1")

# Ignore the load on this machine's disk.
runner.sampler.STALLED = 101.0
functions = {{name: value for name, value in list(vars().items()) if getattr(value, "__module__", "") == "__main__"}}
functions.update(refused_once_gpu=refused_once, sees_gpu=sees, on_the_gpu=right, prints_gpu=prints, asserts_gpu=asserts)
runner.CHECKS = {{
    f"{{name}}{{number}}": Definition(
        f"{{name}}{{number}}", "family", "cuda" if "gpu" in name else "cpu", True,
        1.5 if "hangs" in name else 30, "", steps="steps" in name or "again" in name)
    for name in functions for number in (1, 2)}}
check.FUNCTIONS.update((f"{{name}}{{number}}", functions[name]) for name in functions for number in (1, 2))
runner.CHECKS["survey.float32"] = Definition("survey.float32", "family", "cpu", True, 30, "")
runner.CHECKS["device.cuda"] = Definition("device.cuda", "device", "cuda", False, 30, "")
check.FUNCTIONS.update({{"survey.float32": right, "device.cuda": wrong}})
runner.main(sys.argv[1])
"""
MAIN = "runner.main("
#: A torch on which CUDA fails to start in the first REFUSALS processes.
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
#: The real check ``device.cuda`` with short waits, and USERS as the processes on the GPU.
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
    """Return the rows by name, and the number of messages saying that the proof is waiting for the GPU."""
    tried = tmp_path / "tried"
    torch = BUSY_GPU.replace("TRIED", repr(str(tried))).replace("REFUSALS", str(refusals)).replace("MESSAGE", message)
    prologue = BESIDE_A_SERVER.replace("USERS", users)
    (events,) = run_lanes(tmp_path, ("device.cuda", *checks), torch=torch, prologue=prologue)
    rows = {name: row for name, row in events.items() if not name.startswith("waiting")}
    return rows, len(events) - len(rows)


@pytest.mark.parametrize("message", ["No CUDA GPUs are available", "CUDA error: out of memory"])
def test_refused_cuda_is_retried_in_new_processes(tmp_path: Path, message: str) -> None:
    rows, waits = beside_a_server(tmp_path, 3, SERVER, "on_the_gpu1", message=message)
    assert {name: row["status"] for name, row in rows.items()} == {"device.cuda": "pass", "on_the_gpu1": "pass"}
    assert rows["device.cuda"]["measured"] == "1 x NVIDIA GB10, 12.1, CUDA 13.0" and waits == 3


def test_gpu_in_use_is_not_checked(tmp_path: Path) -> None:
    rows, waits = beside_a_server(tmp_path, 1000, SERVER, "on_the_gpu1", "right1")
    row = rows["device.cuda"]
    assert (row["status"], row["reason"]) == ("fail", "busy") and waits >= 1
    assert row["cause"].startswith("Not run: ") and "VLLM::EngineCore (process 4711, 90000 MiB)." in row["cause"]
    assert (rows["on_the_gpu1"]["status"], rows["right1"]["status"]) == ("skip", "pass")
    assert rows["on_the_gpu1"]["blocked"] and "see device.cuda" in rows["on_the_gpu1"]["cause"]


def test_process_with_open_device_file_is_named(tmp_path: Path) -> None:
    users = "[]\nsampler.holders = lambda: [sampler.Process(4711, 'ollama')]"
    row = beside_a_server(tmp_path, 1000, users)[0]["device.cuda"]
    assert row["cause"].startswith("Not run: ") and "ollama (process 4711). CUDA does" in row["cause"]


def test_process_with_all_gpu_memory_is_named(tmp_path: Path) -> None:
    row = beside_a_server(tmp_path, 1000, SERVER, message="CUDA error: out of memory")[0]["device.cuda"]
    assert row["reason"] == "busy"
    assert row["cause"].startswith("Not run: ") and "VLLM::EngineCore (process 4711, 90000 MiB)." in row["cause"]


def test_unused_gpu_that_refuses_fails_after_wait(tmp_path: Path) -> None:
    row = beside_a_server(tmp_path, 1000, "[]")[0]["device.cuda"]
    assert (row["status"], row["reason"]) == ("fail", "mismatch")
    assert row["cause"].endswith("seconds.") and "No CUDA GPUs" in row["cause"]


def test_gpu_lost_during_run_fails_only_gpu_checks(tmp_path: Path) -> None:
    tried = str(tmp_path / "tried")
    # The first process reaches the GPU; after the check that loses it, no process does.
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
    (rows,) = run_lanes(tmp_path, names, torch=torch, prologue=BESIDE_A_SERVER.replace("USERS", "[]") + lose)
    assert [rows[name]["status"] for name in names] == ["pass", "pass", "fail", "fail", "pass"]
    for name in names[2:4]:
        assert "CUDA unknown error" in rows[name]["cause"] and rows[name]["remedy"]


def test_later_refusal_is_retried(tmp_path: Path) -> None:
    rows, waits = beside_a_server(tmp_path, 0, SERVER, "refused_once_gpu1", "on_the_gpu1")
    assert set(rows) == {"device.cuda", "refused_once_gpu1", "on_the_gpu1"} and waits == 1
    assert {row["status"] for row in rows.values()} == {"pass"}


def run(tmp_path: Path, *checks: str, torch: str = "") -> dict[str, dict[str, Any]]:
    """Return the results by name. By default torch is an empty module, because these checks do not compute anything."""
    (rows,) = run_lanes(tmp_path, checks, torch=torch)
    return rows


def run_lanes(tmp_path, *lanes, torch="", before=None, prologue="", samples=3.0) -> list[dict[str, dict[str, Any]]]:
    """Return the results of each lane. The lanes wait at a gate, which opens after ``before`` has been called."""
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
    job = {"lanes": listed, "profile": {}, "reference": {}, "limits": {"factor": 1.0, "samples": samples}}
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
    streams, results = [os.fdopen(reading) for reading, _writing in pipes], []
    for stream in streams:
        assert json.loads(stream.readline())["event"] == "ready"
    if before:
        # The lanes send nothing for half a second.
        assert select.select(streams, [], [], 0.5)[0] == []
        before()
    os.close(gate[1])
    for stream in streams:
        with stream:
            events = [json.loads(line) for line in stream]
        results.append({event["name"]: event for event in events if event["event"] == "result"})
        waits = [event for event in events if event["event"] == "waiting"]
        results[-1].update({f"waiting {number}": event for number, event in enumerate(waits)})
    assert process.wait(30) == 0
    os.close(gate[0])
    return results


def test_every_ending_is_a_result(tmp_path: Path) -> None:
    kinds = {"right": "pass", "crashes": "fail", "leaves": "fail", "raises": "fail", "wrong": "fail", "absent": "skip"}
    rows = run(tmp_path, *(f"{kind}{number}" for number in (1, 2) for kind in kinds))
    for number in (1, 2):
        assert {kind: rows[f"{kind}{number}"]["status"] for kind in kinds} == kinds
    assert rows["crashes1"]["cause"].startswith("The process of crashes1 was killed by SIGSEGV.")
    assert "about to go" in rows["crashes1"]["cause"]
    assert "exited with status 0" in rows["leaves1"]["cause"]
    assert rows["raises1"]["cause"].partition("no such thing. ")[2]
    assert rows["absent1"]["cause"] == "There is none."
    assert all(row["remedy"] for row in rows.values() if row["status"] == "fail")


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("crashes", "was killed by SIGSEGV"),
        ("hangs", "within 2 seconds"),
        ("exits", "exited with status 1 (TypeError: a number)"),
    ],
)
def test_failed_step_is_left_out(tmp_path: Path, name: str, ending: str) -> None:
    rows = run(tmp_path, f"steps_{name}1", "right1")
    row = rows[f"steps_{name}1"]
    assert row["measured"].startswith("without {'two': ") and f"{ending}'}}" in row["measured"]
    assert (row["status"], row["reason"]) == ("fail", "timeout" if name == "hangs" else "crash")
    assert f"Ended: two {'did not respond ' * (name == 'hangs')}{ending}. The others " in row["cause"]
    assert rows["right1"]["status"] == "pass"


def test_step_that_broke_the_cuda_context_is_left_out(tmp_path: Path) -> None:
    error = "RuntimeError: CUDA error: an illegal memory access was encountered"
    row = run(tmp_path, "steps_accesses1")["steps_accesses1"]
    assert row["cause"].startswith(f"It ran without {{'two': 'exited with status 1 ({error})'}}. Ended: two exited ")
    assert row["cause"].endswith("The others still ran. It was run twice.")


def test_step_that_cannot_be_left_out_ends_its_check(tmp_path: Path) -> None:
    row = run(tmp_path, "again_hangs1")["again_hangs1"]
    assert (row["reason"], row["measured"]) == ("timeout", "no answer")


def test_timeout_on_busy_machine_is_slow(tmp_path: Path) -> None:
    prologue = "runner.sampler.hindrance = lambda _leader: 'others had the processor'\n"
    (rows,) = run_lanes(tmp_path, ("steps_hangs1", "hangs1", "right1"), prologue=prologue)
    for name in ("steps_hangs1", "hangs1"):
        row = rows[name]
        assert (row["status"], row["reason"], row["remedy"]) == ("fail", "slow", endings.IDLE)
        assert "because others had the processor. It was run" in row["cause"]
    assert rows["right1"]["status"] == "pass"


def test_lanes_run_in_parallel_and_fail_separately(tmp_path: Path) -> None:
    first, second = run_lanes(tmp_path, ("meets1", "crashes1", "right1"), ("meets2", "right2"))
    assert [first[name]["status"] for name in ("meets1", "crashes1", "right1")] == ["pass", "fail", "pass"]
    assert [second[name]["status"] for name in ("meets2", "right2")] == ["pass", "pass"]


def test_core_seconds_count_children_but_no_waits(tmp_path: Path) -> None:
    rows = run(tmp_path, "works1", "right1")
    assert 0.3 < rows["works1"]["core_seconds"] < 1 and rows["right1"].get("core_seconds", 0) < 0.3


def test_checks_on_the_cpu_see_no_gpu(tmp_path: Path) -> None:
    torch = "class cuda:\n    is_initialized = staticmethod(bool)\n    synchronize = staticmethod(bool)\n"
    cpu, gpu = run_lanes(tmp_path, ("sees1",), ("sees_gpu1",), torch=torch)
    assert (cpu["sees1"]["measured"], gpu["sees_gpu1"]["measured"]) == (
        "",
        os.environ.get("CUDA_VISIBLE_DEVICES", "all"),
    )


def test_longest_lane_has_priority(tmp_path: Path) -> None:
    long, other = run_lanes(tmp_path, ("survey.float32", "nice1"), ("nice2",))
    assert int(other["nice2"]["measured"]) == min(19, int(long["nice1"]["measured"]) + runner.NICENESS)


def test_lane_waits_for_gate(tmp_path: Path) -> None:
    (rows,) = run_lanes(tmp_path, ("opened1",), before=(tmp_path / "opened").touch)
    assert rows["opened1"]["status"] == "pass"


def test_infinite_figures_are_left_out(tmp_path: Path) -> None:
    rows = run(tmp_path, "right1", "wrong1")
    assert rows["right1"]["rates"] == {"gb_per_s": 3.0} and rows["right1"]["ratio"] == 0.5
    assert rows["wrong1"]["ratio"] is None


def test_next_check_runs_although_a_process_holds_the_pipe(tmp_path: Path) -> None:
    rows = run(tmp_path, "hangs_and_holds1", "right1")
    assert "exited with status 7" in rows["hangs_and_holds1"]["cause"]
    assert rows["right1"]["status"] == "pass"


def test_a_full_proof_waits_longer_for_a_check(tmp_path: Path) -> None:
    (rows,) = run_lanes(tmp_path, ("hangs1",), samples=FULL["samples"])
    assert "within 6 seconds" in rows["hangs1"]["cause"]


def test_message_of_kernel_fails_only_its_check(tmp_path: Path) -> None:
    rows = run(tmp_path, "right1", "prints1", "right2")
    assert [rows[name]["status"] for name in ("right1", "prints1", "right2")] == ["pass", "fail", "pass"]
    assert "FATAL: kernel fmha is for sm80-sm100" in rows["prints1"]["cause"]
    # Changing the GPU architectures does not help a kernel on the CPU.
    assert "for this CPU" in rows["prints1"]["remedy"] and "CUDA" not in rows["prints1"]["remedy"]


def test_last_output_of_lane_is_diagnosed(tmp_path: Path) -> None:
    row = run(tmp_path, "fills1")["fills1"]
    assert "exited with status 3" in row["cause"] and "A file system is full" in row["cause"]
    assert row["remedy"].startswith("Find what fills it")


def test_causes_of_printed_errors(tmp_path: Path) -> None:
    torch = "class cuda:\n    is_initialized = staticmethod(bool)\n    synchronize = staticmethod(bool)\n"
    kinds = {"prints_gpu": "wrong", "asserts_gpu": "crash", "damages": "crash", "damages_and_ends": "crash"}
    rows = run(tmp_path, *(f"{name}1" for name in kinds), torch=torch)
    assert {name[:-1]: row["reason"] for name, row in rows.items()} == kinds
    assert {row["status"] for row in rows.values()} == {"fail"}
    empty, asserted, damaged, ended = (rows[f"{name}1"] for name in kinds)
    assert empty["cause"].startswith("A kernel printed: FATAL: kernel fmha is for sm80-sm100")
    printed = "a.cu:9: at: block: [0,0,0], thread: [1,0,0] Assertion `index out of bounds` failed."
    assert f": {printed} It was run" in asserted["cause"]
    assert "heap was damaged: double free or corruption (out). It was run" in damaged["cause"]
    assert "was killed by SIGABRT. It printed: double free or corruption (out)" in ended["cause"]
    assert empty["remedy"] == endings.ON_GPU.empty
    assert asserted["remedy"] == endings.ON_GPU.assertion
    assert damaged["remedy"] == ended["remedy"] == endings.ON_CPU.heap


def test_reasons_of_failures(tmp_path: Path) -> None:
    reasons = {
        "slow1": "slow", "refuses1": "refused", "refuses_and_prints1": "wrong", "reaches_too_far1": "crash",
        "wrong1": "wrong", "hangs1": "timeout", "crashes1": "crash", "runs_out1": "memory", "is_killed1": "memory",
    }  # fmt: skip
    rows = run(tmp_path, *reasons)
    assert {name: row["reason"] for name, row in rows.items()} == reasons
    slow = rows.pop("slow1")
    assert (slow["status"], slow["cause"], slow["remedy"]) == ("warn", "It is slow.", "Wait.")
    assert slow["rates"] == {"tflops": 1.0}
    assert {row["status"] for row in rows.values()} == {"fail"}


def test_only_check_without_answer_is_repeated(tmp_path: Path) -> None:
    rows = run(tmp_path, "second_time1", "wrong1", "crashes1", "right1")
    assert (rows["second_time1"]["status"], rows["second_time1"]["reason"]) == ("pass", "")
    assert rows["second_time1"]["measured"].endswith("first run: crash)")
    assert "was run twice" in rows["crashes1"]["cause"] and "twice" not in rows["wrong1"]["cause"]


def test_torch_that_starts_cuda_at_import_fails(tmp_path: Path) -> None:
    torch = "class cuda:\n    @staticmethod\n    def is_initialized():\n        return True\n"
    row = run(tmp_path, "right1", torch=torch)["right1"]
    assert row["status"] == "fail" and "initialised CUDA" in row["cause"]


@pytest.mark.parametrize("compiled", [False, True])
def test_byte_code_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    cache, package = tmp_path / "kept", tmp_path / "site/nocode/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text("")
    if compiled:
        py_compile.compile(str(package))
    before = sorted(package.parent.rglob("*"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")
    runner._keep_byte_code("nocode", str(cache))
    importlib.import_module("nocode")
    monkeypatch.delitem(sys.modules, "nocode")
    assert bool(list(cache.rglob("*.pyc"))) is not compiled
    assert ("PYTHONDONTWRITEBYTECODE" in os.environ) is compiled
    assert os.environ["PYTHONPYCACHEPREFIX"] == ("" if compiled else str(cache))
    assert sorted(package.parent.rglob("*")) == before
