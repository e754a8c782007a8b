"""The proof's one file in a container that has a torch, in one line: mounted, and through its standard input.

The lab's image stands for NVIDIA's, vLLM's and SGLang's; the torch of these tests is mounted into it.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF

from lab import image, torch
from lab.host import cache_directory

#: What a container is given its program with through a pipe: Python reads a zip from a file alone.
THROUGH = 'cat > /tmp/p.pyz && exec "$PYTHON" /tmp/p.pyz "$@"'
CHECK = ["--cpu", "--check", "cpu.matmul.float32"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dist") / "sparkforge-proof.pyz"
    PROOF.write(path)
    return path


def container(file: Path, mounted: bool, *words: str) -> subprocess.CompletedProcess[bytes]:
    name = image.build({"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()])
    environment = torch.environment()
    options = [f"--volume={place}:{place}:ro" for place in (environment, Path(sys.base_prefix))]
    options += ["--network=none", f"--env=PYTHON={environment}/bin/python"]
    if mounted:
        options.append(f"--volume={file}:/p.pyz:ro")
    start = [f"{environment}/bin/python", "/p.pyz"] if mounted else ["/bin/sh", "-c", THROUGH, "-"]
    settings = {**os.environ, "CONTAINERS_CONF": str(cache_directory() / "containers.conf")}
    with open(os.devnull if mounted else file, "rb") as stdin:
        return subprocess.run(
            ["podman", "run", "--rm", "-i", *options, name, *start, *words],
            stdin=stdin, capture_output=True, check=False, env=settings,
        )  # fmt: skip


@pytest.mark.parametrize("mounted", [True, False], ids=["mounted", "through standard input"])
def test_one_line_proves_the_torch_of_an_image(file: Path, mounted: bool) -> None:
    done = container(file, mounted, *CHECK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(b"proven (profile generic,")


def test_the_endpoint_command_is_there_too(file: Path) -> None:
    done = container(file, False, "endpoint", "http://127.0.0.1:9", "--model", "/")
    assert done.returncode == 2 and b"cannot be reached" in done.stderr and done.stderr.count(b"\n") == 1


def test_python_reads_no_zip_from_a_pipe(file: Path) -> None:
    """What the documentation says is not possible; should it ever be, the line gets shorter."""
    done = subprocess.run([sys.executable, "-", "--list"], input=file.read_bytes(), capture_output=True, check=False)
    assert done.returncode != 0 and b"SyntaxError" in done.stderr
