"""Changes to a host since its last proof. test_publish.py tests the login line and the metrics."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from sparkforge_proof import changed, verdict
from sparkforge_proof._shared.module_utils._host.reader import Host

PROVEN: dict[str, Any] = {
    "verdict": "proven", "driver": "580.159.04", "kernel": "6.17.0-1021-nvidia", "software": {"torch": "2.14.1"},
    "firmware": {"board": "5.36_0ACUM018", "GPU 000f:01:00.0": "9A.0B.25.00.00"},
    "packages": {"libcublas-13-0": "13.1.0.3-1", "libnccl2": "2.28.3-1"},
}  # fmt: skip
SEEN = {key: PROVEN[key] for key in ("driver", "kernel", "firmware", "packages")}


def row(part: str, before: str, now: str) -> dict[str, str]:
    return {"what": part, "before": before, "now": now}


@pytest.mark.parametrize(
    ("now", "changes"),
    [
        ({}, []),
        ({"driver": "590.48.01"}, [row("driver", "580.159.04", "590.48.01")]),
        ({"driver": None}, [row("driver", "580.159.04", "absent")]),
        ({"kernel": "7.0.0-1019-nvidia"}, [row("kernel", "6.17.0-1021-nvidia", "7.0.0-1019-nvidia")]),
        ({"firmware": {**PROVEN["firmware"], "board": "5.37"}}, [row("firmware of board", "5.36_0ACUM018", "5.37")]),
        ({"firmware": {"board": "5.36_0ACUM018", "mlx5_0": "28.45"}}, []),
        (
            {"packages": {"libcublas-13-0": "13.2.0.1-1", "cuda-nvcc-13-0": "13.0.88-1"}},
            [
                row("cuda-nvcc-13-0", "absent", "13.0.88-1"),
                row("libcublas-13-0", "13.1.0.3-1", "13.2.0.1-1"),
                row("libnccl2", "2.28.3-1", "absent"),
            ],
        ),
    ],
)
def test_changed_parts(now: dict[str, Any], changes: list[dict[str, str]]) -> None:
    assert verdict.changed(PROVEN, {**SEEN, **now}) == changes


@pytest.mark.parametrize("key", SEEN)
def test_missing_parts_are_not_compared(key: str) -> None:
    everything_else = {"driver": "1", "kernel": "1", "firmware": {"board": "1"}, "packages": {}}
    older = {name: value for name, value in PROVEN.items() if name != key}
    assert verdict.changed(older, {**SEEN, key: everything_else[key]}) == []
    assert verdict.changed(PROVEN, {name: value for name, value in SEEN.items() if name != key}) == []


def test_host_is_observed_without_running_programs(tmp_path: Path) -> None:
    files = {
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.159.04  Release\n",
        "proc/driver/nvidia/gpus/000f:01:00.0/information": "Model: NVIDIA GB10\nVideo BIOS: \t 9A.0B.25.00.00\n",
        "proc/driver/nvidia/gpus/000f:02:00.0/information": "Video BIOS: \t ??.??.??.??.??\n",
        "sys/class/dmi/id/bios_version": "5.36_0ACUM018\n",
        "sys/class/infiniband/rocep1s0f0/fw_ver": "28.45.4028\n",
        "usr/bin/nvidia-smi": "",
        "var/lib/dpkg/status": "".join(
            f"Package: {name}\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n\n"
            for name in ("libcublas-13-0", "vim")
        ),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def run(argv: list[str]) -> tuple[int, str, str]:
        raise AssertionError(argv)

    observed = changed.observe(Host(str(tmp_path), run=run, uname=("6.17.0-1021-nvidia", "aarch64")))
    assert observed == {
        "driver": "580.159.04",
        "kernel": "6.17.0-1021-nvidia",
        "firmware": {
            "board": "5.36_0ACUM018", "GPU 000f:01:00.0": "9A.0B.25.00.00", "rocep1s0f0": "28.45.4028",
        },
        "packages": {"libcublas-13-0": "1"},
    }  # fmt: skip


def test_driver_version_from_nvidia_smi(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/nvidia-smi").touch(mode=0o755)
    line = "0, NVIDIA GB10, GPU-1, 12.1, [N/A], [N/A], 580.159.04\n"
    host = Host(str(tmp_path), run=lambda argv: (0, line, "") if "nvidia-smi" in argv[0] else (127, "", ""))
    assert changed.observe(host)["driver"] == "580.159.04"


def test_text_names_four_changes_and_counts_the_rest() -> None:
    packages = {f"libcu{name}": "1" for name in ("blas", "fft", "rand", "solver", "sparse", "dnn")}
    assert changed.describe(PROVEN, SEEN) == ""
    text = changed.describe({"kernel": "1", "packages": {}}, {"kernel": "2", "packages": packages})
    assert text.endswith(": kernel, libcublas, libcudnn, libcufft and 3 more")


def test_names_are_printed_without_escapes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    report = {**SEEN, "packages": {"libnccl2\x1b]0;evil\a": "1", "libnccl2\r\nevil": "1"}}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(report)))
    monkeypatch.setattr(changed, "observe", lambda: {**SEEN, "packages": {}})
    changed.main([])
    printed = capsys.readouterr().out
    assert "evil" in printed and not set(printed) & {"\x1b", "\a", "\r", "\n"}
