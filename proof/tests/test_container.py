"""The proof's single file in a container with torch, mounted or passed through standard input.

The lab's image, with these tests' torch mounted into it, stands in for the images of NVIDIA, vLLM and SGLang.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from lab import image, torch
from lab.host import cache_directory

#: The command that saves a program from standard input and runs it: Python cannot read a zip file from a pipe.
THROUGH = 'cat > /tmp/p.pyz && exec "$PYTHON" /tmp/p.pyz "$@"'
CHECK = ["--cpu", "--check", "cpu.matmul.float32"]


def container(file: Path, mounted: bool, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    name = image.build({"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()])
    environment = torch.environment()
    options = [f"--volume={path}:{path}:ro" for path in (environment, Path(sys.base_prefix))]
    options += ["--network=none", f"--env=PYTHON={environment}/bin/python"]
    if mounted:
        options.append(f"--volume={file}:/p.pyz:ro")
    start = [f"{environment}/bin/python", "/p.pyz"] if mounted else ["/bin/sh", "-c", THROUGH, "-"]
    settings = {**os.environ, "CONTAINERS_CONF": str(cache_directory() / "containers.conf")}
    with open(os.devnull if mounted else file, "rb") as stdin:
        return subprocess.run(
            ["podman", "run", "--rm", "-i", *options, name, *start, *arguments],
            stdin=stdin, capture_output=True, check=False, env=settings,
        )  # fmt: skip


@pytest.mark.parametrize("mounted", [True, False], ids=["mounted", "through standard input"])
def test_torch_of_image_is_proven(file: Path, mounted: bool) -> None:
    result = container(file, mounted, *CHECK)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith(b"proven; only the selected checks ran (profile generic,")


def test_endpoint_command_in_container(file: Path) -> None:
    result = container(file, False, "endpoint", "http://127.0.0.1:9", "--model", "/")
    assert result.returncode == 2 and b"cannot be reached" in result.stderr and result.stderr.count(b"\n") == 1


def test_python_cannot_read_zip_from_pipe(file: Path) -> None:
    """If this test ever fails, the documented command can be shortened."""
    result = subprocess.run([sys.executable, "-", "--list"], input=file.read_bytes(), capture_output=True, check=False)
    assert result.returncode != 0 and b"SyntaxError" in result.stderr
