"""The build context of the execution environment, created as its file describes. tests/integration covers the image."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DEFINITION = CHECKOUT / "execution-environment.yml"


@dataclass
class Context:
    """The build context that ansible-builder created from the definition."""

    folder: Path
    said: str

    @property
    def steps(self) -> list[str]:
        return (self.folder / "Containerfile").read_text().splitlines()

    @property
    def tarball(self) -> Path:
        (archive,) = (self.folder / "_build/collections").iterdir()
        return archive


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    # `make` exports the checkout's settings, with which the collection counts as installed already.
    env = {**os.environ, "ANSIBLE_CONFIG": "", **environment}
    result = subprocess.run(
        [str(word) for word in command], cwd=cwd, check=False, text=True, env=env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture(scope="module")
def definition() -> dict:
    return yaml.safe_load(DEFINITION.read_text())


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """Run the commands at the top of execution-environment.yml, except the last, in a copy instead of the checkout."""
    work = tmp_path_factory.mktemp("ee")
    for path in (DEFINITION, CHECKOUT / "ansible.cfg"):
        shutil.copy2(path, work)
    run(BIN / "ansible-galaxy", "collection", "build", "--force", "--output-path", work, cwd=CHECKOUT)
    folder = work / "context"
    return Context(folder, run(BIN / "ansible-builder", "create", "--context", folder, "-v", "2", cwd=work))


def test_everything_that_the_definition_names_is_in_the_context(context: Context) -> None:
    # ansible-builder does not stop if a file is missing.
    assert "No matches" not in context.said
    assert "does not exist" not in context.said
    copied = {parts[1] for line in context.steps if (parts := line.split())[:1] == ["COPY"] and "--from" not in line}
    assert "_build/configs/ansible.cfg" in copied
    assert all((context.folder / path).exists() for path in copied)


def test_the_collection_is_the_checkouts_own_and_no_galaxy_is_asked(context: Context, definition: dict) -> None:
    galaxy = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())
    name = f"{galaxy['namespace']}-{galaxy['name']}-{galaxy['version']}.tar.gz"
    assert context.tarball.name == name
    (collection,) = yaml.safe_load((context.folder / "_build/requirements.yml").read_text())["collections"]
    # In the image, /build holds the context.
    assert collection == {"name": f"/build/collections/{name}", "type": "file"}
    assert "COPY _build /build" in context.steps
    assert definition["build_arg_defaults"]["ANSIBLE_GALAXY_CLI_COLLECTION_OPTS"] == "--offline"


def test_settings_of_the_image_have_no_path_of_the_checkout(context: Context, tmp_path: Path) -> None:
    settings = tmp_path / "ansible.cfg"
    shutil.copy2(context.folder / "_build/configs/ansible.cfg", settings)
    for line in context.steps:
        if edit := re.fullmatch(r"RUN sed -i '(.+)' /etc/ansible/ansible.cfg", line):
            run("sed", "-i", edit[1], settings, cwd=tmp_path)
    assert "pipelining = true" in settings.read_text()
    assert "collections_path" not in settings.read_text()
    run(BIN / "ansible-config", "dump", "--only-changed", cwd=tmp_path, ANSIBLE_CONFIG=str(settings))


def test_the_versions_are_those_that_the_tests_run_with(context: Context) -> None:
    pins = [
        line.split(";")[0].strip()
        for name in ("requirements.txt", "requirements-dev.txt")
        for line in (CHECKOUT / name).read_text().splitlines()
    ]
    (argument,) = [line for line in context.steps if line.startswith('ARG ANSIBLE_INSTALL_REFS="')]
    refs = argument.partition('"')[2].rstrip('"').split()
    assert [ref.partition("==")[0] for ref in refs] == ["ansible-core", "ansible-runner"]
    assert set(refs) <= set(pins)


def test_no_registry_is_named_and_the_base_can_be_another(context: Context, definition: dict) -> None:
    name = definition["images"]["base_image"]["name"]
    # A first component with a dot or a port would be a registry's host.
    assert not re.search(r"[.:]", name.partition("/")[0]) if "/" in name else "." not in name
    assert context.steps[0] == f'ARG EE_BASE_IMAGE="{name}"'
    assert "FROM $EE_BASE_IMAGE AS base" in context.steps


def test_jobs_do_not_run_as_root(context: Context) -> None:
    assert [line for line in context.steps if line.startswith("USER ")][-1] == "USER 1000"
