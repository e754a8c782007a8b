"""Compare one of torchvision's operators with a plain loop; Triton has a family of its own."""

from __future__ import annotations

import importlib
import typing as t

from ...check import COMPANIONS, CRASH, Context, Measured, Skipped, Unanswered, check
from ..bounds import Cases, torch
from . import identity

REMEDY = "Use the torchvision that matches this torch, or rebuild it with this torch (playbooks/build.yml)."


def load(module: str, remedy: str = "") -> t.Any:
    """Import a package that is built for this torch.

    :param remedy: a sentence for a package that is not installed.
    :raises Skipped: if it is not installed.
    :raises Unanswered: if it cannot be imported, or its compiled code was built for another torch.
    """
    if not identity.is_installed(module):
        raise Skipped(f"The package {module} is not installed in this environment. {remedy}".rstrip())
    error = identity.import_error(module)
    if error:
        cause, remedy = identity.explain(module, error)
        raise Unanswered(CRASH, cause, remedy, "an error", "an import")
    return importlib.import_module(module)


def non_maximum_suppression(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> torch.Tensor:
    """Return the boxes that non-maximum suppression keeps, best first; their coordinates are integers."""
    low = torch.maximum(boxes[:, None, :2], boxes[:, :2])
    shared = (torch.minimum(boxes[:, None, 2:], boxes[:, 2:]) - low).clamp(min=0).prod(-1)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    overlaps = shared.double() / (areas[:, None] + areas - shared)
    indices: list[int] = []
    for index in scores.argsort(descending=True).tolist():
        if bool((overlaps[index, indices] <= threshold).all()):
            indices.append(index)
    return torch.tensor(indices)


@check("companions.torchvision", devices=("cuda", "cpu"), measured=COMPANIONS)
def torchvision(context: Context) -> Measured:
    """Check that torchvision's non-maximum suppression keeps the same boxes as a plain loop.

    If it does, its compiled code fits this torch. Boxes have integer coordinates, so that an overlap is one half, which
    is the threshold, or differs from it by more than rounding, and there is exactly one right answer.
    """
    suppress = load("torchvision").ops.nms
    cases = Cases("torchvision's non-maximum suppression", REMEDY)
    for count, size in ((1, 8), (64, 24), (257, 96)):
        generator = context.generator(f"torchvision {count}")
        corner = torch.randint(0, 64, (count, 2), generator=generator)
        boxes = torch.cat([corner, corner + torch.randint(1, size, (count, 2), generator=generator)], 1)
        # All scores differ.
        scores = (torch.randperm(count, generator=generator) + 1) / (count + 1)
        actual = suppress(boxes.float().to(context.device), scores.to(context.device), 0.5)
        cases.exactly(f"{count} boxes", actual, non_maximum_suppression(boxes, scores, 0.5))
    return cases.result()
