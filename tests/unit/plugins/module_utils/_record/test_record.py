"""What is recorded of a Spark, and what its commands may do."""

import json
import os
import pkgutil
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record import record

from tests.unit.recorded_spark import Commands, recorder


def test_a_spark_is_recorded_with_what_a_run_would_need_to_know(tmp_path: Path) -> None:
    found = recorder(tmp_path, Commands(), python="/opt/venv/bin/python").record()
    assert found["os"]["dgx"]["version"] == "7.6.0" and found["gpu"]["devices"][0]["name"] == "NVIDIA GB10"
    more = found["record"]
    assert more["release"][-1] == ["DGX_OTA_VERSION", "7.6.0"]
    assert more["machine"] == {"sys_vendor": "ASUSTeK COMPUTER INC.", "product_name": "GX10"}
    assert [(one["name"], one["version"]) for one in more["update"]["firmware"]] == [
        ("Embedded Controller", "0x02000005")
    ]
    assert more["update"]["ota"] == {
        "name": "OTA2607",
        "released": "2026-07-15",
        "software": {"kernel": "6.17.0-1022-nvidia"},
        "behind": {"nvidia-spark-repo": ["", "1.1-1"]},
    }
    assert [one["release"] for one in more["update"]["kernels"]] == ["7.0.0-1019-nvidia"]
    assert more["memory"] == {"MemTotal": 125541260, "CmaTotal": 32768, "CmaFree": 30000}
    assert (more["pressure"], more["swappiness"]) == ({"avg10": 0.1, "avg60": 0.02, "avg300": 0.0}, 60)
    assert more["clock_units"] == ["gb10-clock-cap.service"]
    assert more["torch"][0]["version"] == "2.13.0+cu130"
    assert more["gpu"]["rest"]["clocks.sm"] == "2190" and more["gpu"]["rest"]["power.limit"] == "[N/A]"
    assert more["gpu"]["load"] is not None and "no_load" not in more["gpu"]
    link = more["fabric"]["links"][0]
    assert (link["interface"], link["speed_mbps"], link["pcie"]["width"]) == ("enP2p1s0f0np0", 200000, 4)
    assert more["report"]["checks"][0]["name"] == "matmul.float4"


def test_apt_says_what_it_would_do_for_wheels_and_for_a_build(tmp_path: Path) -> None:
    apt = recorder(tmp_path, Commands()).record()["record"]["apt"]
    assert apt["wheels"]["unavailable"] == ["build-essential", "python3.12-venv"]
    assert apt["build"]["unavailable"] == ["cuda-nvcc-13-0"]
    assert apt["build"]["install"][0] == {"name": "libnccl2", "previous": None, "version": "2.28.3-1+cuda13.0"}
    first, second = apt["policy"]["libnccl2"]["versions"]
    assert first["origins"] == ["https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa"]
    assert (second["origins"], second["priority"]) == (["http://ports.ubuntu.com/ubuntu-ports"], 500)


def test_what_apt_would_not_be_allowed_to_do_is_recorded_with_the_packages(tmp_path: Path) -> None:
    plan = "Remv nvidia-driver-580-open [580.178.04-0ubuntu1]\nInst clang-20 (1:20.1.2-0ubuntu1~24.04.2 x [arm64])\n"
    answer = recorder(tmp_path, Commands({"--simulate": (0, plan, "")})).record()["record"]["apt"]["build"]
    assert answer["remove"][0]["name"] == "nvidia-driver-580-open"
    assert answer["refused"]["would_remove"][0]["previous"] == "580.178.04-0ubuntu1"
    failed = Commands({"--simulate": (100, "", "E: Unable to locate package clang-20\n")})
    assert (
        recorder(tmp_path / "2", failed).record()["record"]["apt"]["build"]["refused"]["diagnosis"] == "apt-no-package"
    )


@pytest.mark.parametrize("account", [0, 1000])
def test_commands_only_read_and_each_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: int) -> None:
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
    words = {word for argv, _limit in commands.ran for word in argv}
    assert not words & {"sudo", "update", "--yes", "dpkg"} and not any("auth.conf" in word for word in words)


def test_with_the_time_up_nothing_more_is_run_and_the_rest_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "LIMIT", 0.0)
    commands = Commands()
    found = recorder(tmp_path, commands).record()
    assert commands.ran == [] and found["record"]["update"]["kernels"][0]["image"]
    assert any("the time is up" in row["reason"] for row in found["unread"])


def test_a_machine_that_has_nothing_of_it_is_recorded_too(tmp_path: Path) -> None:
    nothing = record.Recorder(
        {"wheels": ["gcc"]}, lambda host: None, system=str(tmp_path), command=lambda argv, _limit: (127, "", argv[0])
    )
    found = nothing.record()
    assert (
        found["record"]["gpu"] is None and found["record"]["torch"] == [] and found["record"]["update"]["ota"] is None
    )
    assert {"apt", "ip address"} <= {row["probe"] for row in found["unread"]}


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"--query-compute-apps": (0, "4711, /usr/bin/python3, 20480\n", "")}, "The GPU is in use."),
        ({"find_spec": (1, "", "No module named torch")}, "No torch was found."),
        (
            {"factor @ factor": (1, "", "Traceback\nRuntimeError: CUDA out of memory")},
            "RuntimeError: CUDA out of memory",
        ),
    ],
)
def test_a_gpu_without_a_load_says_why(tmp_path: Path, answers: dict[str, t.Any], why: str) -> None:
    found = recorder(tmp_path, Commands(answers)).record()["record"]["gpu"]
    assert found["no_load"] == why and "load" not in found and found["rest"]["pstate"] == "P0"


def test_an_interpreter_that_was_named_and_has_no_torch_is_said(tmp_path: Path) -> None:
    commands = Commands({"find_spec": (1, "", "ModuleNotFoundError: No module named 'torch'\n")})
    found = recorder(tmp_path, commands, python="/opt/venv/bin/python").record()
    assert {"probe": "torch", "reason": "ModuleNotFoundError: No module named 'torch'"} in found["unread"]


def test_a_proof_without_torch_is_said_and_the_record_is_whole(tmp_path: Path) -> None:
    found = recorder(tmp_path, Commands({"find_spec": (1, "", "")})).record(prove=lambda *_of: {})
    assert found["record"]["report"] is None
    assert any(row["probe"] == "proof" and "no torch" in row["reason"] for row in found["unread"])


def test_the_one_file_is_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pkgutil, "get_data", lambda _package, _name: b"{}")
    made_of: list[t.Any] = []

    class Recorded:
        def __init__(self, *options: t.Any) -> None:
            made_of.append(options)

        def record(self, prove: t.Any) -> dict[str, t.Any]:
            made_of.append(prove)
            return {"unread": [{"probe": "apt", "reason": "x"}], "record": {"seconds": 12.4}}

    def last(host: t.Any) -> None:
        del host

    def prove(*_of: t.Any) -> dict[str, t.Any]:
        return {}

    monkeypatch.setattr(record, "Recorder", Recorded)
    monkeypatch.chdir(tmp_path)
    assert record.main(last, prove, ["--python", "/opt/python"]) == 0
    assert made_of == [({}, last, "/opt/python"), None]
    assert json.loads((tmp_path / "sparkforge-record.json").read_text())["record"] == {"seconds": 12.4}
    said = capsys.readouterr().out
    assert "not read: apt: x" in said and "sparkforge-record.json: 0 kB in 12 s. Read it before you send it." in said
    assert record.main(last, prove, ["--prove", "--output", "-"]) == 0 and made_of[-1] is prove
    assert json.loads(capsys.readouterr().out)["unread"]
    assert record.main(last, prove, ["--output", "/proc/none"]) == 2
    assert "/proc/none cannot be written: " in capsys.readouterr().err
