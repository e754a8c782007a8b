"""Compare one of torchvision's operators and two of torchaudio's with plain loops and float64.

Triton, the third companion, has its own family.
"""

from __future__ import annotations

import importlib
import math
import typing as t

from ...check import COMPANIONS, CRASH, H200_FIRST, X86_FIRST, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, gamma, torch
from . import identity

_UNIT = UNIT_ROUNDOFF["float32"]
#: The defaults for torchaudio's filter: zero crossings on each side, and the edge of its pass band.
_CROSSINGS, _ROLLOFF = 6, 0.99


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


def resampled(wave: torch.Tensor, old: int, new: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a wave resampled in float64, and the allowed error in float32.

    Each new sample is the sum of the old samples times a sinc under a squared cosine, as torchaudio documents it. For a
    tap, t = (k / old - n / new) base is a sum of a few terms below 8, and sinc and cosine are each accurate to a few
    units, so 32 u of the tap's largest value covers them. The sum of L taps adds gamma(L) of their magnitudes.
    """
    base = min(old, new) * _ROLLOFF
    length = math.ceil(new * wave.shape[-1] / old)
    times = (
        torch.arange(wave.shape[-1], dtype=torch.float64) / old
        - torch.arange(length, dtype=torch.float64).unsqueeze(1) / new
    ) * base
    times = times.clamp(-_CROSSINGS, _CROSSINGS)
    taps = torch.sinc(times) * (times * math.pi / _CROSSINGS / 2).cos().square() * base / old
    inside = (times.abs() < _CROSSINGS).double()
    wide = 2 * math.ceil(_CROSSINGS * old / base) + old
    error = gamma(wide, _UNIT) * (taps.abs() @ wave.abs()) + 32 * _UNIT * base / old * (inside @ wave.abs())
    return taps @ wave, error * (1 + 1 / 32)


def spectrum(wave: torch.Tensor, window: torch.Tensor, hop: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the power of each frequency in each frame in float64, and the allowed error in float32.

    A fast Fourier transform of n numbers is off by at most 8 u log2(n) of its result's norm (Higham, section 24.1),
    which is sqrt(n) times the frame's norm; the window adds 2 u of that. Squaring doubles the relative error.
    """
    size = len(window)
    frames = wave.unfold(0, size, hop) * window
    turns = torch.outer(torch.arange(size // 2 + 1), torch.arange(size)).double() * (-2 * math.pi / size)
    expected = torch.complex(frames @ turns.cos().T, frames @ turns.sin().T).abs().T
    norm = math.sqrt(size) * frames.norm(dim=1)
    error = (8 * math.log2(size) + 2) * _UNIT * norm
    return expected.square(), error * (2 * expected + error) + 4 * _UNIT * expected.square()


@check("companions.torchaudio", devices=("cuda", "cpu"), measured=(H200_FIRST, X86_FIRST, *COMPANIONS))
def torchaudio(context: Context) -> Measured:
    """Check that torchaudio's resampling and spectrogram equal float64 within the error that rounding explains."""
    module = _companion(context, "torchaudio")
    cases = Cases("torchaudio", _rebuild("torchaudio"))
    wave = torch.randn(600, generator=context.generator("torchaudio"))
    on_device = wave.to(context.device)
    with allow_tf32(torch.backends.cudnn, False):
        for old, new in ((3, 2), (2, 3), (4, 1)):
            expected, allowed = resampled(wave.double(), old, new)
            cases.compare(f"{old} to {new}", module.functional.resample(on_device, old, new), expected, allowed)
    for size, hop in ((64, 16), (100, 100)):
        window = torch.hann_window(size)
        expected, allowed = spectrum(wave.double(), window.double(), hop)
        actual = module.functional.spectrogram(
            on_device, 0, window.to(context.device), size, hop, size, 2.0, False, center=False
        )
        cases.compare(f"spectrogram of {size}", actual, expected, allowed)
    return cases.result()
