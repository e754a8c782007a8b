# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the public reports that checks catch: `python -m benchmarks.reported [--checks PATTERN ...] [--seed N]`.

Each model in proof/tests/planted_reports.yml is planted in a separate process, shown by its probe, and proven by the
checks; survey checks run on the operators that the model names. The program prints the checks that caught it. --sources
PATH uses another checkout's proof/src, for comparison.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from lab import torch

CHECKOUT = Path(__file__).resolve().parent.parent
PLANTED = CHECKOUT / "proof/tests/planted_reports.yml"
PROGRAM = """
import fnmatch, json, os, sys, time
job = json.loads(sys.stdin.read())
sys.path[:0] = [job["sources"], job["checkout"]]
import torch
from proof.tests.drawn.plant import arguments_of, overload
from sparkforge_proof import catalogue, check, settings
import importlib
for module in catalogue.modules():
    importlib.import_module(f"sparkforge_proof.{module}")
from sparkforge_proof.checks.survey import all_operators, comparison

listed = all_operators.catalogue()
names = [name for name in check.FUNCTIONS if any(fnmatch.fnmatch(name, pattern) for pattern in job["checks"])]

def plant(model):
    names = {"torch": torch}
    exec(model["fault"], names)
    if "compiled" in model:
        return plant_in_the_compiler(model, names["change"])
    key = model.get("key", "CPU")
    operator, kernel = overload(model["operator"]), torch.library.get_kernel(model["operator"], key)
    def wrapped(keys, *inputs, **words):
        values = arguments_of(operator, inputs)
        call = lambda *arguments, **others: kernel.call_boxed(keys, *arguments, **others)
        flat = [one for value in (*values, *words.values()) for one in (value if isinstance(value, list) else [value])]
        if any(isinstance(one, torch.Tensor) and one.dtype in (torch.float64, torch.complex128) for one in flat):
            return call(*values, **words)
        return names["fault"](call, *values, **words)
    library = torch.library.Library("aten", "IMPL")
    library.impl(model["operator"], wrapped, key, with_keyset=True, allow_override=True)
    return library

def plant_in_the_compiler(model, change):
    from torch._inductor import config

    def graph_pass(graph):
        for node in list(graph.nodes):
            if str(node.target) == model["compiled"]:
                with graph.inserting_before(node):
                    after = change(graph, node)
                node.replace_all_uses_with(after)
                graph.erase_node(node)

    config.post_grad_custom_pre_pass = graph_pass
    config.force_disable_caches = True
    torch._dynamo.reset()

def probe(model):
    torch.manual_seed(1)
    return eval(model["probe"].strip())

def answer(model):
    before = probe(model)
    kept = plant(model) if model["fault"] else None
    after = probe(model)
    found = {"report": model["report"], "shown": not torch.allclose(before, after, 1e-5, equal_nan=True), "caught": []}
    chosen = [one for one in listed if comparison.name_of(one) in model["surveyed"]]
    all_operators.catalogue = lambda: list(chosen)
    for name in names:
        limits = {**settings.LIMITS, "seed": job["seed"]}
        context = check.Context("cpu" if name.startswith("cpu.") else "none", limits=limits, directory=job["directory"])
        began = time.monotonic()
        try:
            check.FUNCTIONS[name](context)
        except (check.Skipped, check.Unanswered):
            # With few operators, some formats have none.
            pass
        except check.Failed as failed:
            found["caught"].append([name, failed.cause[:200]])
        except Exception as error:
            found["caught"].append([name, f"ended: {error!r:.150}"])
        found.setdefault("seconds", {})[name] = round(time.monotonic() - began, 1)
    return found

for model in job["models"]:
    child = os.fork()
    if not child:
        try:
            print(json.dumps(answer(model)), flush=True)
        except BaseException as error:
            print(json.dumps({"report": model["report"], "shown": False, "error": repr(error)[:300]}), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", nargs="+", default=["cpu.survey.*"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sources", default=str(CHECKOUT / "proof/src"))
    parser.add_argument("--only", default="", help="reports whose number contains it")
    parser.add_argument("--seconds", action="store_true", help="print what each check took")
    options = parser.parse_args()
    models = [model for model in yaml.safe_load(PLANTED.read_text()) if options.only in model["report"]]
    job = {"sources": options.sources, "seed": options.seed, "checks": options.checks, "models": models}
    python = torch.environment() / "bin/python"
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.run(
            [python, "-c", PROGRAM],
            input=json.dumps({**job, "checkout": str(CHECKOUT), "directory": directory}),
            capture_output=True,
            text=True,
            check=False,
        )
    rows = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    for row in rows:
        print(f"{row['report']}: {'shown' if row['shown'] else 'NOT SHOWN'}; {row.get('error', '')}")
        for name, cause in row.get("caught", []):
            print(f"    {name}: {cause}")
        if options.seconds:
            print(f"    {row.get('seconds')}")
    caught = sum(bool(row.get("caught")) for row in rows if row["shown"])
    print(f"{caught} of {sum(row['shown'] for row in rows)} caught")
    if len(rows) < len(models):
        print(process.stderr[-2000:], file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
