"""Companions that compute wrong results, or whose operators belong to another torch.

Both companions' wheels in the index need CUDA's libraries, so stand-ins compute instead, but not as the checks do.
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
TORCHAUDIO = """
import math, types
import torch

def resample(wave, orig_freq, new_freq):
    old, new = orig_freq, new_freq
    base = min(old, new) * 0.99
    wide = math.ceil(6 * old / base)
    at = torch.arange(-wide, wide + old, dtype=torch.float64)
    times = ((torch.arange(new).unsqueeze(1) / -new + at / old) * base).clamp(-6, 6)
    taps = torch.sinc(times) * (1 + (times * math.pi / 6).cos()) / 2
    filters = (taps * base / old).to(wave.dtype).unsqueeze(1)
    padded = torch.nn.functional.pad(wave.view(1, 1, -1), (wide, wide + old))
    found = torch.nn.functional.conv1d(padded, filters, stride=old).transpose(1, 2).reshape(-1)
    return found[: math.ceil(new * len(wave) / old)]

def spectrogram(wave, pad, window, n_fft, hop, length, power, normalized, center):
    return torch.stft(wave, n_fft, hop, length, window, center, return_complex=True).abs() ** power

functional = types.SimpleNamespace(resample=resample, spectrogram=spectrogram)
"""


@pytest.fixture
def prove(broken: Callable[[], Environment]) -> Callable[..., dict[str, dict[str, Any]]]:
    def prove(changed: str = "", into: str = "") -> dict[str, dict[str, Any]]:
        environment = broken()
        assert not changed or changed in TORCHVISION + TORCHAUDIO
        environment.change("torchvision/__init__.py", TORCHVISION.replace(changed, into) if changed else TORCHVISION)
        environment.change("torchaudio/__init__.py", TORCHAUDIO.replace(changed, into) if changed else TORCHAUDIO)
        report = environment.prove("cpu.companions.*")
        return {row["name"]: row for row in report["checks"] if row["family"] == "companions"}

    return prove


def test_sound_companions_pass(prove: Callable[..., dict[str, Any]]) -> None:
    rows = prove()
    assert {row["status"] for row in rows.values()} == {"pass"}, [row["cause"] for row in rows.values()]
    assert len(rows) == 2 and all(row["numeric"] for row in rows.values())


@pytest.mark.parametrize(
    ("changed", "into", "name", "status", "cause"),
    [
        ("<= iou_threshold", "<= iou_threshold + 0.05", "torchvision", "fail", "non-maximum suppression"),
        ("stride=old)", "stride=old).mul(wave.dtype.itemsize / 8)", "torchaudio", "fail", "4 to 1"),
        (".abs() ** power", ".abs().sub(wave.dtype.itemsize - 8) ** power", "torchaudio", "fail", "spectrogram of"),
        # This is only a warning, because no run with the lab's torch and a torchvision is recorded.
        (
            "def nms(",
            'torch.library.register_fake("torchvision::nms")(len)\ndef nms(',
            "torchvision",
            "warn",
            "nms does not exist",
        ),
    ],
    ids=["nms", "resample", "spectrogram", "operator"],
)
def test_wrong_companion_is_named(
    prove: Callable[..., dict[str, Any]], changed: str, into: str, name: str, status: str, cause: str
) -> None:
    rows = prove(changed, into)
    wrong = rows.pop(f"cpu.companions.{name}")
    assert (wrong["status"], cause in wrong["cause"]) == (status, True), wrong
    assert f"the {name} that matches" in wrong["remedy"]
    assert {row["status"] for row in rows.values()} == {"pass"}
