# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ctypes
import os
import pathlib

import pytest
from sparkforge_proof.check import Failed, Skipped
from sparkforge_proof.checks import storage

STATISTICS = """GDS Version: 1.15.1.6
NVFS statistics(ver: 4.0)
NVFS Driver(version: 2.26.6)
Mellanox PeerDirect Supported: True
IO stats: Enabled, peer IO stats: Disabled
Logging level: info

Active Shadow-Buffer (MiB): 0
Active Process: 0
Batches\t\t\t\t: n=0 ok=0 err=0 Avg-Submit-Latency(usec)=0
Reads\t\t\t\t: n=31 ok=29 err=2 readMiB=124 io_state_err=0
Writes\t\t\t\t: n=7 ok=7 err=0 writeMiB=4 io_state_err=0 pg-cache=0
"""

LOG = """ 21-11-2026 17:40:19:119 [pid=17691 tid=17691] INFO   cufio-cuda:99 looking
 21-11-2026 17:40:19:119 [pid=17691 tid=17691] ERROR  cufio-cuda:140 unable to load,  libcuda.so.1 

 21-11-2026 17:40:19:119 [pid=17691 tid=17691] ERROR  cufio_core:1104 cuFile initialization failed
"""  # noqa: W291


def test_the_structures_are_as_large_as_cufile_h_says():
    # sizeof and offsetof of nvidia-cufile 1.15.1.6, by gcc on x86_64; aarch64 has the same sizes of types.
    assert ctypes.sizeof(storage.Error) == 8
    assert ctypes.sizeof(storage.Description) == 24
    assert storage.Properties.fflags.offset == 32
    assert storage.Properties.reserve.offset == 56


def test_the_reads_of_nvidia_fs_are_counted():
    assert storage.reads(STATISTICS) == 29
    assert storage.reads(STATISTICS.replace("IO stats: Enabled", "IO stats: Disabled")) is None
    assert storage.reads("") is None


@pytest.mark.parametrize(
    ("version", "before", "after", "said"),
    [
        ((0, 0), None, None, "in compatibility mode: nvidia-fs is not loaded"),
        ((2, 26), 29, 31, "by GPUDirect Storage (nvidia-fs 2.26)"),
        ((2, 26), 29, 29, "in compatibility mode, although nvidia-fs 2.26 is loaded"),
        (
            (2, 26),
            None,
            None,
            "with nvidia-fs 2.26 loaded, which does not show whether the read used GPUDirect Storage",
        ),
    ],
)
def test_the_way_of_a_read_is_said(version: tuple[int, int], before: int | None, after: int | None, said: str):
    assert storage.mode(version, before, after) == said


@pytest.mark.parametrize("code", [5007, 5008, 5009, 5018, 5034])
def test_what_is_not_offered_here_is_skipped(code: int):
    assert isinstance(storage.judged("cuFileHandleRegister", code, True), Skipped)


def test_what_is_broken_fails():
    found = storage.judged("cuFileDriverOpen", 5001, True)
    assert isinstance(found, Failed)
    assert "compatibility mode is forbidden" in found.cause
    assert "allow_compat_mode" in found.remedy
    assert isinstance(storage.judged("cuFileRead", 5099, True), Failed)


def test_without_udev_an_internal_error_says_that_cufile_cannot_tell_the_device():
    assert isinstance(storage.judged("cuFileHandleRegister", 5030, False), Skipped)
    assert isinstance(storage.judged("cuFileHandleRegister", 5030, True), Failed)


def test_the_first_error_of_the_log_is_told():
    assert storage.complaint(LOG) == "cufio-cuda:140 unable to load,  libcuda.so.1"
    assert storage.complaint("") == ""


def test_a_file_system_without_direct_input_is_skipped(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: str, flags: int) -> int:
        raise OSError(22, "Invalid argument", path)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Skipped, match="refuses O_DIRECT"):
        storage.opened(str(tmp_path / "data"))


def test_the_log_of_cufile_goes_into_the_scratch_directory_and_into_the_cause(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CUFILE_LOGFILE_PATH", raising=False)
    with pytest.raises(Failed) as raised, storage._log(str(tmp_path)):
        pathlib.Path(os.environ["CUFILE_LOGFILE_PATH"]).write_text(LOG, encoding="utf-8")
        raise Failed("cuFile failed.", "Mend it.", "5033", "0")
    assert raised.value.cause == "cuFile failed. Its log says: cufio-cuda:140 unable to load,  libcuda.so.1."
    assert raised.value.remedy == "Mend it."
    assert "CUFILE_LOGFILE_PATH" not in os.environ


def test_libcufile_that_is_not_there_is_skipped_and_a_broken_one_fails(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(storage, "SONAME", "libcufile-that-is-not-there.so.0")
    with pytest.raises(Skipped, match="not installed"):
        storage.CuFile()
    broken = tmp_path / "libcufile.so.0"
    broken.write_bytes(b"no library")
    monkeypatch.setattr(storage, "SONAME", str(broken))
    with pytest.raises(Failed, match="cannot be loaded"):
        storage.CuFile()
