# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows which of Inductor's mechanisms the tables of compilation.panels meet: `python -m benchmarks.mechanisms`.

It compiles each table on the CPU in one of its formats, counts the lowerings and decompositions that Inductor calls,
reads the code that it generates, and compares both with proof/tests/mechanisms.yml. --table NAME takes one table. The
exit status is 1 if a mechanism was not met.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from lab import torch

CHECKOUT = Path(__file__).resolve().parent.parent
MECHANISMS = CHECKOUT / "proof/tests/mechanisms.yml"
PROGRAM = """
import functools, json, os, sys, warnings
warnings.simplefilter("ignore")
job = json.loads(sys.stdin.read())
sys.path[:0] = [job["sources"]]
os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
import torch, torch._inductor.compile_fx
from torch._dynamo.utils import counters
from torch._inductor import decomposition, lowering
from torch._inductor.utils import run_and_get_code
from sparkforge_proof.checks.survey import calls, panels

met = set()
def counted(kind, key, function):
    @functools.wraps(function)
    def call(*arguments, **options):
        met.add((kind, str(key).split(".")[1] if str(key).count(".") else str(key)))
        return function(*arguments, **options)
    return call
for kind, table in [("lowered", lowering.lowerings), *(("decomposed", table) for table in (
        decomposition.decompositions, decomposition.select_decomp_table(), decomposition.fast_random_decomps()))]:
    for key, function in list(table.items()):
        table[key] = counted(kind, key, function)
torch.set_num_threads(2)
for name in job["tables"]:
    met.clear(), counters.clear(), torch._dynamo.reset()
    kind = panels.PANELS[name]
    form, dynamic = kind.forms[job["turn"] % len(kind.forms)], name in ("copies",)
    programs = panels.programs(name, form, job["turn"], False, True)
    sample = calls.without_gradients(panels.sample(kind, form, "cpu", name, False))
    graph = torch.compile(lambda *inputs: [program(*inputs) for program in programs], fullgraph=True, dynamic=dynamic)
    if kind.changes or name in ("calls", "compositions"):
        _results, code = run_and_get_code(graph, sample.input, *sample.args)
    else:
        # The backward pass has code of its own.
        is_float = sample.input.is_floating_point() and not kind.exact
        inputs = [part.clone() for part in (sample.input, *sample.args)]
        for part in inputs:
            part.requires_grad_(is_float and part.is_floating_point())
        _results, code = run_and_get_code(graph, *inputs)
    answer = {"table": name, "met": sorted(met), "counted": dict(counters["inductor"]), "code": code}
    print(json.dumps(answer), flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="append", help="a table of the module panels; by default, all")
    parser.add_argument("--turn", type=int, default=0, help="selects the format")
    parser.add_argument("--python", default="", help="an interpreter with torch")
    options = parser.parse_args()
    rows = [row for row in yaml.safe_load(MECHANISMS.read_text()) if "table" in row and "shown" not in row]
    tables = options.table or list(dict.fromkeys(row["table"] for row in rows))
    job = {"sources": str(CHECKOUT / "proof/src"), "tables": tables, "turn": options.turn}
    python = options.python or torch.environment() / "bin/python"
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.run([python, "-c", PROGRAM], input=json.dumps(job), capture_output=True, text=True,
                                 check=False, cwd=directory)  # fmt: skip
    printed = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    answers = {row["table"]: row for row in printed}
    missing = 0
    for row in rows:
        if row["table"] not in tables:
            continue
        answer = answers.get(row["table"])
        lost = [] if answer else ["no code"]
        if answer:
            for kind in ("lowered", "decomposed"):
                lost += [name for name in row.get(kind, []) if [kind, name] not in answer["met"]]
            if not re.search(row.get("code", ""), "\n".join(answer["code"])):
                lost.append(row["code"])
            if not answer["counted"].get(row.get("counted", ""), 1 - ("counted" in row)):
                lost.append(row["counted"])
        missing += bool(lost)
        print(f"{row['table']}: {row['mechanism']}: {'MISSING ' + ', '.join(lost) if lost else 'met'}")
    if len(answers) < len(tables):
        print(process.stderr[-3000:], file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
