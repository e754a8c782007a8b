"""The programs in the `serving` role's unit: the number of compilers, the server's key, the reason for a stop."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import jobs

FILES = Path(__file__).parents[3] / "roles/serving/files"
KEY = "k3y-of-the-server-0123456789"
ENGINE = """
import json, logging, multiprocessing, os, sys
from dataclasses import asdict, dataclass


@dataclass
class ServerArgs:
    host: str = ""
    api_key: str | None = None

    @classmethod
    def from_cli_args(cls, args):
        return cls(args.host, args.api_key)


def serve(server_args, pipe):
    print(f"server_args={asdict(server_args)}")
    pipe.send({"key": server_args.api_key, "header": f"Bearer {server_args.api_key}", "argv": sys.argv})
"""
SGLANG = """
import argparse, json, multiprocessing, sys
from sglang.srt.server_args import ServerArgs, serve


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--host")
    parser.add_argument("--api-key")
    server_args = ServerArgs.from_cli_args(parser.parse_args())
    here, there = multiprocessing.get_context("spawn").Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=serve, args=(server_args, there))
    worker.start()
    print("RECEIVED " + json.dumps(here.recv()))
    worker.join()
"""
VLLM = """
import json, os, sys
def main():
    print("RECEIVED " + json.dumps({"argv": sys.argv, "environment": dict(os.environ)}))
"""


def load(name: str) -> t.Any:
    spec = importlib.util.spec_from_file_location(name, FILES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


launch = load("sparkforge_launch")


@pytest.mark.parametrize(
    ("total", "available", "share", "cores"),
    [(122_000, 115_000, 0.7, 20), (122_000, 121_000, 0.3, 20), (122_000, 40_000, 0.7, 20), (32_000, 31_000, 0.5, 4)],
)
def test_compilers_get_the_memory_that_the_engine_leaves(total: int, available: int, share: float, cores: int) -> None:
    meminfo = f"MemTotal:       {total * 1024} kB\nMemFree:  1 kB\nMemAvailable:   {available * 1024} kB\n"
    count, why = launch.compile_jobs(meminfo, share, cores)
    left = available - int(total * share)
    try:
        expected = jobs.size(cores, left, total).count
    except SparkforgeError:
        expected = 1
    assert count == expected
    assert why.startswith(f"{count} compile job")


def run(tmp_path: Path, *arguments: str, **variables: str) -> tuple[dict[str, t.Any], str]:
    """Run the launcher with a stand-in for an engine; return the engine's arguments, its key, and the output."""
    packages = {"vllm/entrypoints/cli/main.py": VLLM, "sglang/cli/main.py": SGLANG, "sglang/srt/server_args.py": ENGINE}
    for name, text in packages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "credentials").mkdir(exist_ok=True)
    (tmp_path / "credentials/api_key").write_text(f"{KEY}\n")
    environment = {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **variables}
    result = subprocess.run(
        [sys.executable, FILES / "sparkforge_launch.py", *arguments], env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    lines = [line.removeprefix("RECEIVED ") for line in result.stdout.splitlines() if line.startswith("RECEIVED ")]
    return json.loads(lines[0]) if lines else {}, result.stdout


def test_vllm_gets_compiler_limits_and_a_guard_but_no_key(tmp_path: Path) -> None:
    credentials = {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials"), "MAX_JOBS": "7"}
    received, output = run(tmp_path, "vllm", "0.99", "key", "serve", "/m", "--port", "1", **credentials)
    expected = ["vllm", "serve", "/m", "--port", "1", "--middleware", "sparkforge_launch.Guard"]
    assert received["argv"] == expected
    bounds = {name: received["environment"].get(name) for name in launch.COMPILERS}
    # A share of 99 % leaves no memory for compilers; a variable in the inventory takes precedence.
    assert bounds == {**dict.fromkeys(launch.COMPILERS, "1"), "MAX_JOBS": "7"}
    assert KEY not in output


def test_sglang_gets_the_key_but_does_not_log_it(tmp_path: Path) -> None:
    credentials = {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")}
    received, output = run(tmp_path, "sglang", "0.7", "key", "serve", "--host", "::", **credentials)
    assert (received["key"], received["header"]) == (KEY, f"Bearer {KEY}")
    assert KEY not in " ".join(received["argv"])
    assert "server_args={'host': '::', 'api_key': '***'}" in output


@pytest.mark.parametrize("variables", [{}, {"CREDENTIALS_DIRECTORY": "/nonexistent"}])
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_a_server_with_a_configured_key_does_not_start_without_it(tmp_path: Path, engine, variables: dict[str, str]):
    received, output = run(tmp_path, engine, "0.7", "key", "serve", **variables)
    assert received == {}
    assert "passed no credential" in output


@pytest.mark.parametrize(
    ("scope", "status"),
    [
        ({"type": "http", "path": "/v1/models"}, 401),
        ({"type": "http", "path": "/invocations"}, 401),
        ({"type": "http", "path": "/health/../v1/models"}, 401),
        ({"type": "http", "path": "/v1/models", "headers": [(b"authorization", b"Bearer other")]}, 401),
        ({"type": "http", "path": "/v1/models", "headers": [(b"authorization", KEY.encode())]}, 401),
        ({"type": "websocket", "path": "/v1/realtime"}, 1008),
        ({"type": "http", "path": "/health"}, None),
        ({"type": "http", "path": "/v1/models", "method": "OPTIONS"}, None),
        ({"type": "lifespan"}, None),
        ({"type": "http", "path": "/invocations", "headers": [(b"authorization", f"Bearer {KEY}".encode())]}, None),
        ({"type": "websocket", "path": "/x", "headers": [(b"authorization", f"Bearer {KEY}".encode())]}, None),
    ],
)
def test_requests_without_the_key_are_refused_except_health(scope, status: int | None, tmp_path, monkeypatch):
    (tmp_path / "api_key").write_text(f"{KEY}\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    reached: list[t.Any] = []
    sent: list[dict[str, t.Any]] = []

    async def application(scope: t.Any, _receive: t.Any, _send: t.Any) -> None:
        reached.append(scope)

    async def send(message: dict[str, t.Any]) -> None:
        sent.append(message)

    asyncio.run(launch.Guard(application)(scope, None, send))
    assert bool(reached) is (status is None)
    assert [message.get("status", message.get("code")) for message in sent[:1]] == ([status] if status else [])


@pytest.mark.parametrize("given_up", [True, False], ids=["given up", "stopped by hand"])
def test_reason_for_a_stopped_server_has_no_control_characters(tmp_path, monkeypatch, given_up):
    changed = f"StateChangeTimestampMonotonic={11_000_000 if given_up else 1_100_000}"
    program = '#!/bin/sh\necho "$0 $*" >> "$(dirname "$0")/called"\ncase "$*" in'
    values = f"Result=oom-kill ExecMainStatus=9 NRestarts=4 ExecMainExitTimestampMonotonic=1000000 {changed}"
    (tmp_path / "systemctl").write_text(f"{program} show*) printf '%s\\n' {values};; esac\n")
    (tmp_path / "journalctl").write_text("#!/bin/sh\nprintf 'one\\n\\033]52;c;xyz\\007two\\n'\n")
    for name in ("systemctl", "journalctl"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert load("sparkforge_unit").stopped("sparkforge-serving.service", str(tmp_path / "stopped")) == 0
    if not given_up:
        assert not (tmp_path / "stopped").exists() and "disable" not in (tmp_path / "called").read_text()
        return
    text = (tmp_path / "stopped").read_text()
    assert "after 4 starts: the kernel" in text
    assert "one | ?]52;c;xyz?two" in text
    assert "sudo systemctl reset-failed sparkforge-serving.service && sudo systemctl enable --now" in text
    assert "systemctl disable sparkforge-serving.service" in (tmp_path / "called").read_text()
