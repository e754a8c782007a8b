"""The development container as an image, built on the lab's Debian, the release that its Dockerfile names."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab import image
from tests.integration.conftest import CHECKOUT
from tests.lint.test_collection import copy_of_the_tracked_files

pytestmark = pytest.mark.long

NAME = f"localhost/sparkforge-devcontainer-test:{os.getpid()}"
FOLDER = CHECKOUT / ".devcontainer"


@pytest.fixture(scope="module")
def built() -> Iterator[str]:
    """Yield the name of the image."""
    machine = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True)
    base = image.build(machine.stdout.strip())
    image.podman("build", "--layers=false", "-t", NAME, "--network", "host", "--build-arg", f"BASE={base}", FOLDER)
    yield NAME
    image.podman("rmi", "-f", NAME, quiet=True)


def test_its_user_can_begin_with_make_setup(built: str, tmp_path: Path) -> None:
    # YAML can parse JSON that contains comments.
    text = re.sub(r"^\s*//.*$", "", (FOLDER / "devcontainer.json").read_text(), flags=re.MULTILINE)
    asked = yaml.safe_load(text)
    clone = copy_of_the_tracked_files(tmp_path / "clone")
    os.chmod(tmp_path, 0o755)
    first = asked["postCreateCommand"].replace("make", "make -n")
    script = f"id -un; sudo -n id -un; python3 -c 'import ensurepip, venv'; cd /clone && {first}"
    output = image.podman("run", "--rm", "-v", f"{clone}:/clone:ro", built, "bash", "-ec", script).stdout
    assert output.splitlines()[:2] == [asked["remoteUser"], "root"]
    assert "-m venv .venv" in output and "requirements-dev.txt" in output
