"""Plants on a host with a GPU what a GPU computes wrong: `python3 proof/tests/on_gpu.py PYTHON REPORTS [--jobs N]`.

PYTHON is that of an environment with a CUDA build of torch, which is left as it is: each fault gets a copy of it, of
links, that lives as long as it is proven. In REPORTS come faults.json and sound.json, and a table on standard output.
The exit status is 1 where a fault was missed or a sound copy failed. Neither pytest nor a network is needed; Ansible
and this repository are.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / ".collections"), str(CHECKOUT / "proof/src")]

from proof.tests import outcome, provisioned
from proof.tests.environment import Environment, remove
from proof.tests.faults import GPU_FAULTS, GPU_FAULTS_ALONE, LITTLE_MEMORY, Fault

OPTIONS = {"gpu_required": True, "profile": {"name": "generic"}}


def link(environment: Path, directory: Path) -> Environment:
    """Return a copy of a virtual environment of which torch may be broken; all else is linked to as it is.

    Gigabytes of libraries stay where they are: a loader finds those beside a link to a library, not beside its target.
    """
    target, root = directory / "environment", directory / "root"
    packages = next((environment / "lib").glob("python3*/site-packages"))
    there = target / packages.relative_to(environment)
    there.mkdir(parents=True)
    root.mkdir()
    subprocess.run(["cp", "-a", environment / "bin", environment / "pyvenv.cfg", target], check=True)
    for entry in packages.iterdir():
        if entry.name == "torch" or entry.name.startswith("torch-"):
            subprocess.run(["cp", "-as", entry, there / entry.name], check=True)
        elif entry.name != "__pycache__":
            (there / entry.name).symlink_to(entry)
    copy = provisioned.provision(Environment(target, root))
    # What is linked lies elsewhere than the closure says that it should.
    copy.reference["paths"] = []
    return copy


def try_out(environment: Path, work: Path, fault: Fault) -> outcome.Outcome:
    """Plant one fault in a copy and remove the copy."""
    directory = Path(tempfile.mkdtemp(prefix=f"{fault.planter}-", dir=work))
    try:
        return outcome.of(fault, link(environment, directory), **OPTIONS)
    finally:
        remove(directory)


def plant_all(environment: Path, work: Path, jobs: int, say: Callable[[str], None]) -> list[outcome.Outcome]:
    """Plant each fault, some at a time; what is about the speed or the memory of the device comes alone after them."""

    def run(fault: Fault) -> outcome.Outcome:
        found = try_out(environment, work, fault)
        say(outcome.table([found]))
        return found

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(run, GPU_FAULTS))
    return [*outcomes, *map(run, GPU_FAULTS_ALONE)]


def sound(environment: Path, work: Path) -> dict[str, object]:
    """Return what the checks that the faults are told by say of a copy in which nothing is planted."""
    directory = Path(tempfile.mkdtemp(prefix="sound-", dir=work))
    try:
        copy = link(environment, directory)
        told = [fault for fault in (*GPU_FAULTS, *GPU_FAULTS_ALONE) if fault.sound is not None]
        patterns = dict.fromkeys(pattern for fault in told for pattern in fault.patterns)
        return dict(copy.prove(*patterns, **{**OPTIONS, **LITTLE_MEMORY}))
    finally:
        remove(directory)


def main(argv: list[str] | None = None) -> int:
    """Prove a sound copy, then plant each fault."""
    parser = argparse.ArgumentParser(prog="on_gpu.py", description="Plants faults on a host with a GPU.")
    parser.add_argument("python", type=Path, help="interpreter of an environment with a CUDA build of torch")
    parser.add_argument("reports", type=Path, help="directory for faults.json and sound.json")
    parser.add_argument("--jobs", type=int, default=8, help="faults at a time (default: 8)")
    arguments = parser.parse_args(argv)
    # Not resolved: that would be the interpreter that the environment was made with.
    environment = arguments.python.absolute().parent.parent
    arguments.reports.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    work = Path(tempfile.mkdtemp(prefix="on-gpu-"))

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

    try:
        report = sound(environment, work)
        (arguments.reports / "sound.json").write_text(json.dumps(report, indent=1) + "\n")
        failed = [row for row in report["checks"] if row["status"] != "pass" and row["numeric"]]  # type: ignore[attr-defined]
        for row in failed:
            say(f"sound copy: {row['name']} {row['status']}: {row['cause']}")
        say(f"sound copy: {report['verdict']}")
        outcomes = plant_all(environment, work, arguments.jobs, say)
    finally:
        remove(work)
    caught, baseline = sum(one.caught for one in outcomes), sum(one.baseline for one in outcomes)
    summary = {
        "planted": len(outcomes),
        "caught": caught,
        "caught_by_baseline": baseline,
        "baseline": outcome.ON_GPU,
        "sound": report["verdict"],
        "seconds": round(time.monotonic() - began, 1),
        "faults": [dataclasses.asdict(one) for one in outcomes],
    }
    (arguments.reports / "faults.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(f"caught {caught} of {len(outcomes)}, the check that people run {baseline}; {summary['seconds']} s in all")
    return 0 if caught == len(outcomes) and report["verdict"] != "fail" else 1


if __name__ == "__main__":
    sys.exit(main())
