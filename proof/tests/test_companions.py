"""A torchvision that computes wrong results, or whose operators belong to another torch.

Its wheels in the index need CUDA's libraries, so a stand-in computes instead, but not as the check does.
"""

from collections.abc import Callable
from typing import Any

import pytest

from proof.tests.environment import Environment

TORCHVISION = """
import types
import torch

def nms(boxes, scores, iou_threshold):
    order = scores.argsort(descending=True)
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        size = torch.minimum(boxes[best, 2:], boxes[order, 2:]) - torch.maximum(boxes[best, :2], boxes[order, :2])
        shared = size.clamp(min=0).prod(1)
        areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        order = order[shared / (areas[best] + areas[order] - shared) <= iou_threshold]
    return torch.stack(kept)

ops = types.SimpleNamespace(nms=nms)
"""


@pytest.fixture
def prove(broken: Callable[[], Environment]) -> Callable[..., dict[str, Any]]:
    def prove(changed: str = "", into: str = "") -> dict[str, Any]:
        environment = broken()
        assert not changed or changed in TORCHVISION
        environment.change("torchvision/__init__.py", TORCHVISION.replace(changed, into) if changed else TORCHVISION)
        report = environment.prove("cpu.companions.*")
        (row,) = (row for row in report["checks"] if row["family"] == "companions")
        return row

    return prove


def test_sound_torchvision_passes(prove: Callable[..., dict[str, Any]]) -> None:
    row = prove()
    assert (row["status"], row["numeric"]) == ("pass", True), row["cause"]


@pytest.mark.parametrize(
    ("changed", "into", "status", "cause"),
    [
        ("<= iou_threshold", "<= iou_threshold + 0.05", "fail", "non-maximum suppression"),
        # This is only a warning, because no run with the lab's torch and a torchvision is recorded.
        ("def nms(", 'torch.library.register_fake("torchvision::nms")(len)\ndef nms(', "warn", "nms does not exist"),
    ],
    ids=["nms", "operator"],
)
def test_wrong_torchvision_is_named(prove: Callable[..., dict[str, Any]], changed, into, status, cause):
    wrong = prove(changed, into)
    assert (wrong["status"], cause in wrong["cause"]) == (status, True), wrong
    assert "torchvision" in wrong["remedy"]
