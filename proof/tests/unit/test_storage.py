"""The check of cuFile when its library is missing or broken, and when its driver refuses."""

import ctypes
import sys
import types
from pathlib import Path

import pytest
from sparkforge_proof.check import CRASH, REFUSED, Context, Skipped, Unanswered
from sparkforge_proof.checks.data import storage


def library(status: int) -> types.SimpleNamespace:
    """Return a libcufile whose driver's open call returns this status."""
    opened = types.SimpleNamespace(closed=0)

    def driver_open() -> storage.Error:
        return storage.Error(status, 0)

    def driver_close() -> None:
        opened.closed += 1

    opened.cuFileDriverOpen, opened.cuFileDriverClose_v2 = driver_open, driver_close
    return opened


def test_missing_or_broken_libcufile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "SONAME", "libcufile-that-is-not-there.so.0")
    with pytest.raises(Skipped, match="not installed"):
        storage.open_driver()
    broken = tmp_path / "libcufile.so.0"
    broken.write_text("no library")
    monkeypatch.setattr(storage, "SONAME", str(broken))
    with pytest.raises(Unanswered, match="cannot be loaded") as raised:
        storage.open_driver()
    assert raised.value.reason == CRASH


def test_driver_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library(5001))
    with pytest.raises(Unanswered, match="status 5001") as raised:
        storage.open_driver()
    assert raised.value.reason == REFUSED


@pytest.mark.parametrize(("loaded", "mode"), [(True, "nvidia-fs is loaded"), (False, "compatibility mode")])
def test_driver_that_opens(loaded: bool, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = library(0)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: fake)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(zeros=lambda *size, device: None))
    monkeypatch.setattr(storage, "NVIDIA_FS", str(tmp_path if loaded else tmp_path / "missing"))
    assert mode in storage.cufile(Context("cuda")).measured
    assert fake.closed == 1
