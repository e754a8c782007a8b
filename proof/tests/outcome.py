"""What the proof says of a planted fault, and what the check says that people run today."""

import json
import os
import subprocess
import time
import typing as t
from dataclasses import dataclass

from proof.tests.environment import Environment
from proof.tests.faults import Fault

#: As PyTorch's page on getting started has it.
ON_CPU = "import torch; print(torch.rand(5, 3)); print(torch.cuda.is_available())"
ON_GPU = "import torch; assert torch.cuda.is_available(); print(torch.rand(5, 3, device='cuda'))"
#: Seconds after which a person gives up.
PATIENCE = 60.0


@dataclass(frozen=True)
class Outcome:
    """One fault.

    :ivar missed: what the proof did not say, in words; empty where the fault is caught.
    :ivar says: cause and remedy of each check that had to fail.
    :ivar seconds: of the proof.
    :ivar baseline: the check that people run failed too.
    """

    fault: str
    caught: bool
    missed: list[str]
    says: dict[str, str]
    seconds: float
    baseline: bool


def of(fault: Fault, environment: Environment, **options: t.Any) -> Outcome:
    """Plant a fault in a copy, prove it, and run the check that people run today."""
    fault.plant(environment)
    began = time.monotonic()
    report = fault.prove(environment, **options)
    seconds = time.monotonic() - began
    missed = fault.missed(report)
    rows = {row["name"]: row for row in report["checks"]}
    says = {
        name: " ".join((rows[name]["cause"] or rows[name]["measured"], rows[name]["remedy"]))
        for name in fault.caught
        if name in rows
    }
    gpu_required = {**fault.options, **options}.get("gpu_required", False)
    return Outcome(
        fault.planter, not missed, missed, says, round(seconds, 1), baseline_fails(environment, gpu_required)
    )


def baseline_fails(environment: Environment, gpu_required: bool) -> bool:
    """Say whether the check that people run today notices anything, with the environment activated."""
    receipt = json.loads((environment.root / "receipts/env-torch.json").read_text())
    paths = {"LD_LIBRARY_PATH": ":".join(receipt["library_paths"])} if receipt["library_paths"] else {}
    variables = {**os.environ, **paths, **receipt["environment"]}
    command = [str(environment.python), "-c", ON_GPU if gpu_required else ON_CPU]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, env=variables, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0


def table(outcomes: t.Sequence[Outcome]) -> str:
    """Return a line for each fault."""
    width = max(len(one.fault) for one in outcomes)
    lines = []
    for one in outcomes:
        words = "caught" if one.caught else "MISSED"
        told = "; ".join(one.missed) or next(iter(one.says.values()), "")
        line = f"{one.fault:{width}}  {words}  {one.seconds:5.1f} s  baseline {'fails' if one.baseline else 'passes'}"
        lines.append(f"{line}  {', '.join(one.says)}: {told[:150]}")
    return "\n".join(lines)
