"""4-bit numbers on the CPU: packing and the check of a product.

A GPU that can multiply 4-bit numbers has never been available here. Therefore the product is computed from a GPU's
inputs, bytes of codes and swizzled scales, and changed as a faulty kernel would change it.
"""

import json
import subprocess
from pathlib import Path

from proof.tests.environment import Environment

SOURCES = Path(__file__).resolve().parents[1] / "src"
PROGRAM = """
import functools, json, sys
sys.path.insert(0, {sources!r})
from sparkforge_proof.checks.kernels import scaled_matmul as scaled
from sparkforge_proof import check, settings
import torch

torch.set_num_threads(1)
found = {{}}
@functools.lru_cache
def places(rows, blocks):
    return torch.tensor([[scaled.scale_offset(row, block, blocks) for block in range(blocks)] for row in range(rows)])

def unpacked(pairs):
    return torch.stack([pairs & 15, pairs >> 4], -1).flatten(-2)

def meant(operand):
    held, scales = operand
    rows, length = held.shape[0], held.shape[1] * 2
    return scaled.from_float4(unpacked(held), scales.float()[places(rows, length // 16)])

def product(left, right):
    return (meant(left) @ meant(right).t()).to(torch.bfloat16)

WRONG = {{
    "right": product,
    "halves of a byte swapped": lambda left, right: product((left[0] >> 4 | (left[0] & 15) << 4, left[1]), right),
    "one scale for all": lambda left, right: product((left[0], torch.ones_like(left[1].float())), right),
    "scales where they were": lambda left, right: product((left[0], left[1].roll(4)), right),
    "one per cent": lambda left, right: product(left, right) * 1.01,
    "a lane lost": lambda left, right: torch.cat([product(left, right)[:, 1:], product(left, right)[:, :1] * 0], 1),
}}
require = scaled.require_float4
scaled.require_float4 = lambda: None
for name, scaled.float4_product in WRONG.items():
    try:
        found[name] = ["pass", scaled.float4(check.Context("cpu", limits=settings.LIMITS)).measured]
    except check.Failed as failed:
        found[name] = ["fail", failed.cause]
torch.cuda.get_device_capability = lambda *_device: (9, 0)
try:
    require()
except check.Skipped as skipped:
    found["on an H200"] = str(skipped)
print(json.dumps(found))
"""


def test_four_bit_product(healthy: Environment) -> None:
    text = PROGRAM.format(sources=str(SOURCES))
    result = subprocess.run([healthy.python, "-c", text], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout.splitlines()[-1])
    assert "compute capability 10.0" in results.pop("on an H200")
    assert results.pop("right")[0] == "pass"
    assert {name: status for name, (status, _cause) in results.items()} == dict.fromkeys(results, "fail")
