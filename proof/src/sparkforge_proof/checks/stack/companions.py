"""Compare one of torchvision's operators and two of torchaudio's with a plain loop and float64.

Triton, the third companion, has its own family.
"""

from __future__ import annotations

import functools
import importlib
import typing as t

from ...check import COMPANIONS, CRASH, H200_FIRST, X86_FIRST, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, torch
from . import identity


def _companion(context: Context, module: str) -> t.Any:
    """Import a companion of torch.

    :raises Skipped: if it is not installed.
    :raises Unanswered: if it cannot be imported, or its compiled code was built for another torch.
    """
    if not identity.is_installed(module):
        raise Skipped(f"The package {module} is not installed in this environment.")
    error = identity.import_error(module)
    if error:
        cause, remedy = identity.explain(module, error, context.reference.get("cuda_version"))
        raise Unanswered(CRASH, cause, remedy, "an error", "an import")
    return importlib.import_module(module)


def _rebuild(module: str) -> str:
    return f"Use the {module} that matches this torch, or rebuild it with this torch (playbooks/build.yml)."


def overlaps(boxes: t.Sequence[t.Sequence[int]]) -> list[list[float]]:
    """Return the intersection over union for each pair of boxes."""

    def area(left: float, top: float, right: float, bottom: float) -> float:
        return max(0.0, right - left) * max(0.0, bottom - top)

    shared = [[area(max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])) for b in boxes] for a in boxes]
    areas = [area(*box) for box in boxes]
    return [[part / (areas[i] + areas[j] - part) for j, part in enumerate(row)] for i, row in enumerate(shared)]


def non_maximum_suppression(
    boxes: t.Sequence[t.Sequence[int]], scores: t.Sequence[float], threshold: float
) -> list[int]:
    """Return the boxes that non-maximum suppression keeps, best first."""
    parts = overlaps(boxes)
    indices: list[int] = []
    for index in sorted(range(len(boxes)), key=lambda index: -scores[index]):
        if all(parts[index][better] <= threshold for better in indices):
            indices.append(index)
    return indices


def widest_gap(values: t.Iterable[float], low: float, high: float) -> float:
    """Return the middle of the widest gap between values in a range, where rounding cannot change a comparison."""
    inside = [low, *sorted({value for value in values if low < value < high}), high]
    return max((second - first, (first + second) / 2) for first, second in zip(inside, inside[1:]))[1]


@check("companions.torchvision", devices=("cuda", "cpu"), measured=COMPANIONS)
def torchvision(context: Context) -> Measured:
    """Check that torchvision's non-maximum suppression keeps the same boxes as a plain loop.

    If it does, its compiled code fits this torch. Boxes have integer coordinates, and no two overlap by nearly the
    threshold, so there is exactly one right answer.
    """
    module = _companion(context, "torchvision")
    cases = Cases("torchvision's non-maximum suppression", _rebuild("torchvision"))
    for count, size in ((1, 8), (64, 24), (257, 96)):
        generator = context.generator(f"torchvision {count}")
        corner = torch.randint(0, 64, (count, 2), generator=generator)
        boxes = torch.cat([corner, corner + torch.randint(1, size, (count, 2), generator=generator)], 1)
        # All scores differ.
        scores = (torch.randperm(count, generator=generator) + 1) / (count + 1)
        plain = boxes.tolist()
        threshold = widest_gap((part for row in overlaps(plain) for part in row), 0.3, 0.7)
        actual = module.ops.nms(boxes.float().to(context.device), scores.to(context.device), threshold)
        cases.exactly(
            f"{count} boxes", actual, torch.tensor(non_maximum_suppression(plain, scores.tolist(), threshold))
        )
    return cases.result()


@check("companions.torchaudio", devices=("cuda", "cpu"), measured=(H200_FIRST, X86_FIRST, *COMPANIONS))
def torchaudio(context: Context) -> Measured:
    """Check that torchaudio's resampling and spectrogram equal its own in float64 on the CPU.

    Each number is a sum of at most 100 terms with factors that are off by a few units: the bound is 256 units.
    """
    module = _companion(context, "torchaudio")
    cases = Cases("torchaudio", _rebuild("torchaudio"))
    wave = torch.randn(600, generator=context.generator("torchaudio"))

    def spectrogram(x: torch.Tensor, size: int, hop: int) -> torch.Tensor:
        window = torch.hann_window(size).to(x)
        power: torch.Tensor = module.functional.spectrogram(x, 0, window, size, hop, size, 2.0, False, center=False)
        return power

    functions: dict[str, t.Callable[[torch.Tensor], torch.Tensor]] = {
        f"{old} to {new}": functools.partial(module.functional.resample, orig_freq=old, new_freq=new)
        for old, new in ((3, 2), (2, 3), (4, 1))
    }
    for size, hop in ((64, 16), (100, 100)):
        functions[f"spectrogram of {size}"] = functools.partial(spectrogram, size=size, hop=hop)
    with allow_tf32(torch.backends.cudnn, False):
        for case, function in functions.items():
            expected = function(wave.double())
            bound = 256 * UNIT_ROUNDOFF["float32"] * expected.abs().max()
            cases.compare(case, function(wave.to(context.device)), expected, bound)
    return cases.result()
