# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A handful of mutants: a faulty product is seen, a wrapper that does nothing is not, and which ones are drawn."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from proof.tests.environment import Environment

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = """
import functools, json, sys
from benchmarks import mutation

job = {"device": "cpu", "directory": sys.argv[1], "profile": {}, "reference": {},
       "limits": {"factor": 10.0, "memory_share": 0.1, "seconds": 600.0, "samples": 1.0, "survey": 60.0}}
known = {"calls": {"cpu.matmul.float32": ["aten::mm", "aten::addmm.out"]}, "seconds": {}}
planted = {
    "scaled": mutation.Mutant(1, "aten::mm", "scale", "scale", 1.01),
    "lanes": mutation.Mutant(2, "aten::mm", "swap", "swap", lanes=(3, 0)),
    "sound": mutation.Mutant(3, "aten::mm", "sound", ""),
    "another format": mutation.Mutant(4, "aten::mm", "format", "scale", 1.01, only="float16"),
    "backward": mutation.Mutant(5, "aten::mm", "gradient", "zero"),
}
found = {name: mutation.in_a_fork(functools.partial(mutation.judge, job, known, one), {})
         for name, one in planted.items()}
operators, others = mutation.candidates("cpu")
draws = [mutation.draw(operators, "cpu", 1, number) for number in range(200)]
found["drawn"] = {"same": draws == [mutation.draw(operators, "cpu", 1, number) for number in range(200)],
                  "kinds": sorted({one.kind for one in draws}), "operators": len({one.operator for one in draws}),
                  "candidates": len(operators), "others": sorted(others)}
print(json.dumps(found))
"""


def test_a_faulty_operator_is_seen_and_one_that_is_only_wrapped_is_not(healthy: Environment, tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONPATH": f"{CHECKOUT / '.collections'}:{CHECKOUT}:{CHECKOUT / 'proof/src'}"}
    command = [str(healthy.python), "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    for name in ("scaled", "lanes"):
        assert list(found[name]["caught"]) == ["cpu.matmul.float32"], name
        assert found[name]["large"] and found[name]["faults"] > 0
    assert found["sound"]["caught"] == {} and found["sound"]["calls"] > 0 and found["sound"]["faults"] == 0
    # A float32 product is none of float16, and the check goes nowhere backward.
    for name in ("another format", "backward"):
        assert (found[name]["caught"], found[name]["faults"]) == ({}, 0), name
    drawn = found["drawn"]
    assert drawn["same"] and len(drawn["kinds"]) == 7 and drawn["operators"] > 150
    assert drawn["candidates"] > 1500 and "it returns a view and computes nothing" in drawn["others"]
