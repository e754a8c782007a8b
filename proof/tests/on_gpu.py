"""Plants the GPU faults, on a host with a GPU: `python3 proof/tests/on_gpu.py PYTHON REPORTS [--jobs N]`.

PYTHON is the interpreter of an environment with a CUDA build of torch. The environment is not changed, because each
fault is planted in a temporary copy made of links. faults.json and sound.json are written to the directory REPORTS, and
a table to standard output. The exit status is 1 if a fault was missed or a sound copy failed. The program needs Ansible
and this repository, but neither pytest nor a network.
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
    """Return a copy of a virtual environment in which torch may be broken; all other packages are links.

    Gigabytes of libraries need not be copied: the loader searches a link's directory, not its target's.
    """
    target, root = directory / "environment", directory / "root"
    packages = next((environment / "lib").glob("python3*/site-packages"))
    site_packages = target / packages.relative_to(environment)
    site_packages.mkdir(parents=True)
    root.mkdir()
    subprocess.run(["cp", "-a", environment / "bin", environment / "pyvenv.cfg", target], check=True)
    for entry in packages.iterdir():
        if entry.name == "torch" or entry.name.startswith("torch-"):
            subprocess.run(["cp", "-as", entry, site_packages / entry.name], check=True)
        elif entry.name != "__pycache__":
            (site_packages / entry.name).symlink_to(entry)
    copy = provisioned.provision(Environment(target, root))
    # Linked libraries are outside the paths of the closure.
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
    """Plant the faults: several at a time, but one at a time if they concern the device's speed or memory."""

    def run(fault: Fault) -> outcome.Outcome:
        planted = try_out(environment, work, fault)
        say(outcome.table([planted]))
        return planted

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(run, GPU_FAULTS))
    return [*outcomes, *map(run, GPU_FAULTS_ALONE)]


def sound(environment: Path, work: Path) -> dict[str, object]:
    """Return the report of all checks that catch faults, run on a copy without faults."""
    directory = Path(tempfile.mkdtemp(prefix="sound-", dir=work))
    try:
        copy = link(environment, directory)
        faults = [fault for fault in (*GPU_FAULTS, *GPU_FAULTS_ALONE) if fault.sound is not None]
        patterns = dict.fromkeys(pattern for fault in faults for pattern in fault.patterns)
        return dict(copy.prove(*patterns, **{**OPTIONS, **LITTLE_MEMORY}))
    finally:
        remove(directory)


def main(argv: list[str] | None = None) -> int:
    """Prove a sound copy, then plant each fault."""
    parser = argparse.ArgumentParser(prog="on_gpu.py", description="Plants faults into a stack with a GPU.")
    parser.add_argument("python", type=Path, help="interpreter of an environment with a CUDA build of torch")
    parser.add_argument("reports", type=Path, help="directory for faults.json and sound.json")
    parser.add_argument("--jobs", type=int, default=8, help="faults at a time (default: 8)")
    arguments = parser.parse_args(argv)
    # Do not resolve the link: its target is the interpreter from which the environment was created.
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
    caught, baseline = sum(row.caught for row in outcomes), sum(row.baseline for row in outcomes)
    summary = {
        "planted": len(outcomes), "caught": caught, "caught_by_baseline": baseline, "baseline": outcome.ON_GPU,
        "sound": report["verdict"], "seconds": round(time.monotonic() - began, 1),
        "faults": [dataclasses.asdict(row) for row in outcomes],
    }  # fmt: skip
    (arguments.reports / "faults.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(f"caught {caught} of {len(outcomes)}, the check that people run {baseline}; {summary['seconds']} s in all")
    return 0 if caught == len(outcomes) and report["verdict"] != "fail" else 1


if __name__ == "__main__":
    sys.exit(main())
