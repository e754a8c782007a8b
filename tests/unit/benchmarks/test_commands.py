"""The commands in benchmarks/README.md start without the paths that pytest adds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
README = (CHECKOUT / "benchmarks/README.md").read_text()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"python -m benchmarks\.(\w+)", README))))
def test_a_benchmark_starts_and_prints_its_usage(name: str) -> None:
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--help"], cwd=CHECKOUT, env=variables, capture_output=True,
        text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    # Benchmarks that only count have no options and print a table.
    assert result.stdout.startswith(("usage: ", "| "))
