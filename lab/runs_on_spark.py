# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes docs/runs-on-spark.md from today's answers of playbooks/inspect.yml: python -m lab.runs_on_spark.

It queries the package index and downloads several gigabytes, one wheel at a time, and keeps only the findings.
"""

from __future__ import annotations

import datetime
import os
import pathlib
import sys
import tempfile
import typing as t

import ansible_runner  # type: ignore[import-untyped]

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "runs-on-spark.md"

#: Packages that owners ask about.
PACKAGES = (
    "torch torchvision torchaudio triton vllm sglang flashinfer-python bitsandbytes xformers flash-attn"
    " transformer-engine[pytorch] unsloth jax[cuda13] deepspeed torchao onnxruntime-gpu tensorrt-llm cupy-cuda13x"
    " llama-cpp-python sageattention mamba-ssm"
).split()

INTRODUCTION = """\
# What runs on a Spark

This table shows the answers of `playbooks/inspect.yml` on {day} for packages that owners ask about. The playbook
judged the newest version that the package index has for aarch64 and Python 3.12, with all its dependencies, for a GPU
of compute capability 12.1 and a driver for CUDA 13.0. `inspect` only reads files, so `yes` means that nothing in the
files rules the package out; only the proof shows whether the numbers are right. The column `why` gives the reason for
`perhaps` and `no`.

```bash
sparkforge inspect vllm
```

`python -m lab.runs_on_spark` inspects the packages again and writes this page.

| requirement | version | runs | why | packages | GPU code of its own |
|---|---|---|---|---|---|
"""


def ask(requirement: str) -> dict[str, t.Any]:
    """Return the module's result for a requirement.

    :raises SystemExit: if the task fails.
    """
    with tempfile.TemporaryDirectory() as directory:
        run = ansible_runner.run(
            private_data_dir=directory,
            inventory="localhost ansible_connection=local",
            host_pattern="localhost",
            module="sparkforge.dgx_spark.inspect_info",
            module_args=f"target={requirement}",
            envvars={
                "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
                "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            },
            quiet=True,
        )
        for event in run.events:
            if event["event"] in ("runner_on_ok", "runner_on_failed"):
                result: dict[str, t.Any] = event["event_data"]["res"]
                if "verdict" in result:
                    return result
                raise SystemExit(f"{requirement}: {result.get('msg')}")
        raise SystemExit(f"{requirement}: {run.status}\n{run.stdout.read()}")


def row(requirement: str, result: t.Mapping[str, t.Any]) -> str:
    """Return the row for a requirement: the findings against it, and notes on the package itself."""
    own = [package for package in result["packages"] if package["asked"]]
    names = {package["name"] for package in own}
    why = [
        finding["what"] if finding["package"] in names or not own else f"{finding['package']}: {finding['what']}"
        for finding in result["findings"]
        if finding["level"] != "note" or finding["package"] in names
    ]
    version = own[0]["version"] if own else "-"
    code = own[0]["gpu_code"] if own else "-"
    cells = [requirement, version, result["verdict"], " ".join(why) or "-", str(len(result["packages"]) or "-"), code]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Write the page."""
    lines = []
    for requirement in PACKAGES:
        print(requirement, flush=True)
        lines.append(row(requirement, ask(requirement)))
    day = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    PAGE.write_text(INTRODUCTION.format(day=day) + "\n".join([*lines, ""]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
