"""The record of a Spark, and the limits on the commands it runs."""

import json
import os
import pkgutil
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record import record

from tests.unit.recorded_spark import Commands, recorder


def test_record_of_a_spark(tmp_path: Path) -> None:
    recorded = recorder(tmp_path, Commands(), python="/opt/venv/bin/python").record()
    assert recorded["os"]["dgx"]["version"] == "7.6.0" and recorded["gpu"]["devices"][0]["name"] == "NVIDIA GB10"
    details = recorded["record"]
    assert details["release"][-1] == ["DGX_OTA_VERSION", "7.6.0"]
    assert details["machine"] == {"sys_vendor": "ASUSTeK COMPUTER INC.", "product_name": "GX10"}
    (firmware,) = details["update"]["firmware"]
    assert (firmware["name"], firmware["version"]) == ("Embedded Controller", "0x02000005")
    versions = {"software": {"kernel": "6.17.0-1022-nvidia"}, "behind": {"nvidia-spark-repo": ["", "1.1-1"]}}
    assert details["update"]["ota"] == {"name": "OTA2607", "released": "2026-07-15", **versions}
    assert [kernel["release"] for kernel in details["update"]["kernels"]] == ["7.0.0-1019-nvidia"]
    assert details["memory"] == {"MemTotal": 125541260, "CmaTotal": 32768, "CmaFree": 30000}
    assert (details["pressure"], details["swappiness"]) == ({"avg10": 0.1, "avg60": 0.02, "avg300": 0.0}, 60)
    assert details["clock_units"] == ["gb10-clock-cap.service"]
    assert details["torch"][0]["version"] == "2.13.0+cu130"
    assert details["gpu"]["rest"]["clocks.sm"] == "2190" and details["gpu"]["rest"]["power.limit"] == "[N/A]"
    assert details["gpu"]["load"] is not None and "no_load" not in details["gpu"]
    link = details["fabric"]["links"][0]
    assert (link["interface"], link["speed_mbps"], link["pcie"]["width"]) == ("enP2p1s0f0np0", 200000, 4)
    assert details["report"]["checks"][0]["name"] == "matmul.float4"


def test_apt_plans_for_wheels_and_build(tmp_path: Path) -> None:
    apt = recorder(tmp_path, Commands()).record()["record"]["apt"]
    assert apt["wheels"]["unavailable"] == ["build-essential", "python3.12-venv"]
    assert apt["build"]["unavailable"] == ["cuda-nvcc-13-0"]
    assert apt["build"]["install"][0] == {"name": "libnccl2", "previous": None, "version": "2.28.3-1+cuda13.0"}
    first, second = apt["policy"]["libnccl2"]["versions"]
    assert first["origins"] == ["https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa"]
    assert (second["origins"], second["priority"]) == (["http://ports.ubuntu.com/ubuntu-ports"], 500)


def test_refused_apt_plan_is_recorded_with_packages(tmp_path: Path) -> None:
    plan = "Remv nvidia-driver-580-open [580.178.04-0ubuntu1]\nInst clang-20 (1:20.1.2-0ubuntu1~24.04.2 x [arm64])\n"
    answer = recorder(tmp_path, Commands({"--simulate": (0, plan, "")})).record()["record"]["apt"]["build"]
    assert answer["remove"][0]["name"] == "nvidia-driver-580-open"
    assert answer["refused"]["would_remove"][0]["previous"] == "580.178.04-0ubuntu1"
    failing = Commands({"--simulate": (100, "", "E: Unable to locate package clang-20\n")})
    answer = recorder(tmp_path / "2", failing).record()["record"]["apt"]["build"]
    assert answer["refused"]["diagnosis"] == "apt-no-package"


@pytest.mark.parametrize("account", [0, 1000])
def test_commands_only_read_and_have_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: int):
    monkeypatch.setattr(os, "geteuid", lambda: account)
    commands = Commands()
    assert recorder(tmp_path, commands).record()["record"]["root"] is (account == 0)
    for argv, limit in commands.ran:
        assert 0 < limit <= record.LOAD_LIMIT, argv
        if "apt-get" in argv or "apt-cache" in argv:
            assert {"--simulate", "--print-uris", "policy"} & set(argv)
            assert "Debug::NoLocking=1" in argv
            assert ("Dir::Cache::pkgcache=" in argv) is ("Dir::Cache::srcpkgcache=" in argv) is (account == 0)
        if "-c" in argv:
            assert {"PYTHONDONTWRITEBYTECODE=1", "CUDA_CACHE_DISABLE=1"} <= set(argv)
    arguments = {word for argv, _limit in commands.ran for word in argv}
    assert not arguments & {"sudo", "update", "--yes", "dpkg"} and not any("auth.conf" in word for word in arguments)


def test_no_command_runs_after_the_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LIMIT", 0.0)
    commands = Commands()
    recorded = recorder(tmp_path, commands).record()
    assert commands.ran == [] and recorded["record"]["update"]["kernels"][0]["image"]
    assert any("no time left" in row["reason"] for row in recorded["unread"])


def test_empty_machine_is_recorded(tmp_path: Path) -> None:
    options: dict[str, t.Any] = {"system": str(tmp_path), "command": lambda argv, _limit: (127, "", argv[0])}
    recorded = record.Recorder({"wheels": ["gcc"]}, lambda host: None, **options).record()
    details = recorded["record"]
    assert (details["gpu"], details["torch"], details["update"]["ota"]) == (None, [], None)
    assert {"apt", "ip address"} <= {row["probe"] for row in recorded["unread"]}


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"--query-compute-apps": (0, "4711, /usr/bin/python3, 20480\n", "")}, "GPU is in"),
        ({"find_spec": (1, "", "No module named torch")}, "No torch"),
        ({"factor @ factor": (1, "", "Traceback\nRuntimeError: no memory")}, "RuntimeError: no memory"),
    ],
)
def test_skipped_gpu_load_has_a_reason(tmp_path: Path, answers: dict[str, t.Any], reason: str) -> None:
    recorded = recorder(tmp_path, Commands(answers)).record()["record"]["gpu"]
    assert reason in recorded["no_load"] and "load" not in recorded and recorded["rest"]["pstate"] == "P0"


def test_interpreter_without_torch_is_reported(tmp_path: Path) -> None:
    commands = Commands({"find_spec": (1, "", "ModuleNotFoundError: No module named 'torch'\n")})
    recorded = recorder(tmp_path, commands, python="/opt/venv/bin/python").record()
    assert {"probe": "torch", "reason": "ModuleNotFoundError: No module named 'torch'"} in recorded["unread"]


@pytest.mark.parametrize("path", ["etc/dgx-release", "proc/meminfo", "proc/pressure/memory"])
def test_unreadable_file_is_reported(tmp_path: Path, path: str) -> None:
    (tmp_path / path).mkdir(parents=True)
    options: dict[str, t.Any] = {"system": str(tmp_path), "command": lambda argv, _limit: (127, "", argv[0])}
    recording = record.Recorder({"wheels": ["gcc"]}, lambda host: None, **options)
    recording.record()
    assert f"/{path}" in [row["probe"] for row in recording.host.unread]


def test_proof_without_torch_is_reported(tmp_path: Path) -> None:
    recorded = recorder(tmp_path, Commands({"find_spec": (1, "", "")})).record(prove=lambda *_of: {})
    assert recorded["record"]["report"] is None
    assert any(row["probe"] == "proof" and "no torch" in row["reason"] for row in recorded["unread"])


def test_main_writes_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(pkgutil, "get_data", lambda _package, _name: b"{}")
    arguments: list[t.Any] = []

    class FakeRecorder:
        def __init__(self, *options: t.Any) -> None:
            arguments.append(options)

        def record(self, prove: t.Any) -> dict[str, t.Any]:
            arguments.append(prove)
            return {"unread": [{"probe": "apt", "reason": "x"}], "record": {"seconds": 12.4}}

    def last(host: t.Any) -> None:
        del host

    def prove(*_arguments: t.Any) -> dict[str, t.Any]:
        return {}

    monkeypatch.setattr(record, "Recorder", FakeRecorder)
    monkeypatch.chdir(tmp_path)
    assert record.main(last, prove, ["--python", "/opt/python"]) == 0
    assert arguments == [({}, last, "/opt/python"), None]
    assert json.loads((tmp_path / "sparkforge-record.json").read_text())["record"] == {"seconds": 12.4}
    output = capsys.readouterr().out
    assert "not read: apt: x" in output
    assert "sparkforge-record.json: 0 kB in 12 s. " in output
    assert record.main(last, prove, ["--prove", "--output", "-"]) == 0 and arguments[-1] is prove
    assert json.loads(capsys.readouterr().out)["unread"]
    assert record.main(last, prove, ["--output", "/proc/none"]) == 2
    assert "/proc/none cannot be written: " in capsys.readouterr().err
