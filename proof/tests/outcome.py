"""The results of the proof, and of the check that is common today, for a planted fault."""

import json
import os
import subprocess
import time
import typing as t
from dataclasses import dataclass

from proof.tests.environment import Environment
from proof.tests.faults import Fault

#: The check on PyTorch's "Get Started" page.
ON_CPU = "import torch; print(torch.rand(5, 3)); print(torch.cuda.is_available())"
ON_GPU = "import torch; assert torch.cuda.is_available(); print(torch.rand(5, 3, device='cuda'))"
#: The number of seconds after which a user would give up.
PATIENCE = 60.0


@dataclass(frozen=True)
class Outcome:
    """The results for one fault.

    :ivar missed: messages about expected failures that the report lacks; empty if the fault is caught.
    :ivar says: cause and remedy of each check that had to fail.
    :ivar seconds: the duration of the proof.
    :ivar baseline: whether the common check fails, too.
    """

    fault: str
    caught: bool
    missed: list[str]
    says: dict[str, str]
    seconds: float
    baseline: bool


def of(fault: Fault, environment: Environment, **options: t.Any) -> Outcome:
    """Plant a fault in a copy; return the results of the proof and of the common check."""
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
    """Tell whether the common check fails in the activated environment."""
    receipt = json.loads((environment.root / "receipts/env-torch.json").read_text())
    paths = {"LD_LIBRARY_PATH": ":".join(receipt["library_paths"])} if receipt["library_paths"] else {}
    variables = {**os.environ, **paths, **receipt["environment"]}
    command = [str(environment.python), "-c", ON_GPU if gpu_required else ON_CPU]
    try:
        result = subprocess.run(command, capture_output=True, timeout=PATIENCE, env=variables, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return result.returncode != 0


def table(outcomes: t.Sequence[Outcome]) -> str:
    """Return a table with a line for each fault."""
    width = max(len(row.fault) for row in outcomes)
    lines = []
    for row in outcomes:
        result = "caught" if row.caught else "MISSED"
        message = "; ".join(row.missed) or next(iter(row.says.values()), "")
        line = f"{row.fault:{width}}  {result}  {row.seconds:5.1f} s  baseline {'fails' if row.baseline else 'passes'}"
        lines.append(f"{line}  {', '.join(row.says)}: {message[:150]}")
    return "\n".join(lines)
