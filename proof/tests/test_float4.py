"""4-bit numbers on the CPU: rounding, packing and the check of a product.

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
from sparkforge_proof.checks.programs import inference
from sparkforge_proof.checks.kernels import scaled_matmul as scaled
from sparkforge_proof import check, settings
import torch

torch.set_num_threads(1)
# Use fewer words at a time than the check does, because each wrong product is tried with them.
inference.WAYS = {{"in parts": [30, 9, 1]}}
found = {{}}
drawn = torch.randn(64, 64, generator=torch.Generator().manual_seed(1)).bfloat16()
# Ties between two numbers, numbers beyond the largest, zeros of both signs, and blocks of zeros.
edges = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0, -0.25, -0.75, -5.0, 0.0, -0.0, 0.5, 4.0, -6.0])
values = torch.cat([drawn, torch.cat([edges, torch.zeros(48)]).view(1, 64).bfloat16()])
codes, scales = scaled.as_float4(values)
table = torch.tensor([*scaled.FLOAT4, *(-value for value in scaled.FLOAT4)], dtype=torch.float64)
each = scales.double().repeat_interleave(16, -1)
nearest = ((values.double() / each).unsqueeze(-1) - table).abs().amin(-1)
mine = ((values.double() - scaled.from_float4(codes, scales)) / each).abs()
found["nearest"] = bool((mine <= nearest + 1e-9).all())
found["middles"] = scaled.from_float4(codes, scales)[-1, :11].tolist()
found["scales"] = [bool((scales.to(torch.float8_e4m3fn).float() == scales).all()), scales[-1].tolist()]
found["packed"] = torch.equal(scaled.unpacked(scaled.packed(codes)), codes)

@functools.lru_cache
def places(rows, blocks):
    return torch.tensor([[scaled.scale_offset(row, block, blocks) for block in range(blocks)] for row in range(rows)])

def meant(operand):
    held, scales = operand
    rows, length = held.shape[0], held.shape[1] * 2
    return scaled.from_float4(scaled.unpacked(held), scales.float()[places(rows, length // 16)])

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
for name, function in WRONG.items():
    try:
        found[name] = ["pass", inference.float4_scores(check.Context("cpu", limits=settings.LIMITS), function).measured]
    except check.Failed as failed:
        found[name] = ["fail", failed.cause]
torch.cuda.get_device_capability = lambda *_device: (9, 0)
try:
    inference.float4(check.Context("cuda", limits=settings.LIMITS))
except check.Skipped as skipped:
    found["on an H200"] = str(skipped)
print(json.dumps(found))
"""


def test_four_bit_numbers_and_their_product(healthy: Environment) -> None:
    text = PROGRAM.format(sources=str(SOURCES))
    result = subprocess.run([healthy.python, "-c", text], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout.splitlines()[-1])
    assert results.pop("nearest") and results.pop("packed")
    # Ties round to the number whose last bit is zero, as in IEEE 754.
    assert results.pop("middles") == [0, 1, 1, 2, 2, 4, 4, 6, 0, -1, -4]
    assert results.pop("scales") == [True, [1.0, 1.0, 1.0, 1.0]]
    assert "compute capability 10.0" in results.pop("on an H200")
    assert results.pop("right")[0] == "pass"
    assert {name: status for name, (status, _cause) in results.items()} == dict.fromkeys(results, "fail")
