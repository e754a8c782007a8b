"""The command sparkforge as shipped to users: a wheel that contains the collection."""

import shlex
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.lint.test_collection import BIN, CHECKOUT, copy_of_the_tracked_files, readme_commands, run
from tests.lint.test_sanity import interpreter
from tests.unit.git_server import Server, git

INSIDE = "sparkforge/_collections/ansible_collections/sparkforge/dgx_spark/"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_tracked_files(tmp_path_factory.mktemp("package") / "clone")


@pytest.fixture(scope="module")
def sdist(clone: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", cwd=clone)
    return next((clone / "dist").glob("sparkforge-[0-9]*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(clone: Path, sdist: Path) -> Path:
    options = ("-q", "--no-deps", "--no-build-isolation", "-w", clone / "dist")
    run(sys.executable, "-m", "pip", "wheel", *options, sdist, cwd=clone)
    version = yaml.safe_load((clone / "galaxy.yml").read_text())["version"]
    return clone / "dist" / f"sparkforge-{version}-py3-none-any.whl"


@pytest.fixture(scope="module")
def unpacked(wheel: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(wheel.parent / "unpacked")
    return wheel.parent / "unpacked"


def test_the_wheel_has_all_of_the_collection_that_runs(clone: Path, unpacked: Path) -> None:
    run(BIN / "ansible-galaxy", "collection", "build", "--output-path", clone / "dist", cwd=clone)
    (tarball,) = (clone / "dist").glob("sparkforge-dgx_spark-*.tar.gz")
    with tarfile.open(tarball) as archive:
        files = {member.name for member in archive if member.isfile()}
    run_time = {name for name in files if name.split("/")[0] in ("plugins", "tools", "roles", "playbooks", "meta")}
    run_time |= {"ansible.cfg", *(name for name in files if name.startswith("docs/") and name.endswith(".schema.json"))}
    inside = {str(path.relative_to(unpacked / INSIDE)) for path in (unpacked / INSIDE).rglob("*") if path.is_file()}
    assert run_time
    assert run_time - inside == set()
    assert inside - run_time == {"galaxy.yml", "guard/sparkforge-guard.pyz", "proof/sparkforge-proof.pyz"}
    assert not [path for path in unpacked.rglob("*") if "__pycache__" in path.parts]


def test_the_command_in_the_wheel_runs_the_collection_in_the_wheel(unpacked: Path, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text("all: {hosts: {spark01: {ansible_connection: local}}}")
    command = [sys.executable, "-m", "sparkforge.cli", "prove", "-i", inventory, "--no-password", "--", "--list-tasks"]
    printed = run(*command, cwd=tmp_path, PYTHONPATH=str(unpacked), ANSIBLE_CONFIG="", ANSIBLE_COLLECTIONS_PATH="")
    assert f"ANSIBLE_COLLECTIONS_PATH={unpacked / 'sparkforge/_collections'}" in printed
    assert "sparkforge.dgx_spark.verify" in printed
    assert f"{CHECKOUT}/" not in printed.replace(str(BIN), "")
    run(sys.executable, "-m", "sparkforge.record", tmp_path / "record.pyz", cwd=tmp_path, PYTHONPATH=str(unpacked))


#: The oldest and the newest of this machine's Pythons that the package supports; uv would download others.
FOUND = [path for minor in range(11, 16) if (path := interpreter(f"3.{minor}"))]
PYTHONS = list(dict.fromkeys((FOUND[0], FOUND[-1])))


@pytest.fixture(scope="module")
def sources(clone: Path, sdist: Path, wheel: Path) -> Iterator[dict[str, str]]:
    """Yield the sources from which the package can be installed: a served repository, a clone, an sdist and a wheel."""
    root = clone.parent / "served"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(root / "sparkforge/dgx_spark"), cwd=clone)
    git("init", "--quiet", "--initial-branch=main", ".", cwd=clone)
    git("add", "--all", cwd=clone)
    git("commit", "--quiet", "--message=all", cwd=clone)
    git("push", "--quiet", str(root / "sparkforge/dgx_spark"), "main", cwd=clone)
    server = Server(root)
    repository = f"git+{server.url}/sparkforge/dgx_spark"
    yield {"repository": repository, "clone": str(clone), "sdist": str(sdist), "wheel": str(wheel)}
    server.stop()


@pytest.mark.long
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("source", ["repository", "clone", "sdist", "wheel"])
def test_uv_runs_the_command(source, python, sources, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path):
    """Run the command line in docs/owner.md, also with another source in place of the clone."""
    (line,) = [line for line in readme_commands("docs/owner.md") if line.startswith("uvx")]
    arguments = shlex.split(line.replace("--from .", f"--from {sources[source]}"))
    cache = tmp_path_factory.getbasetemp() / "uv-cache"
    environment = {
        "PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path), "UV_CACHE_DIR": str(cache), "UV_PYTHON": python,
    }  # fmt: skip
    for name in ("ANSIBLE_CONFIG", "ANSIBLE_COLLECTIONS_PATH", "PYTHONPATH"):
        environment[name] = ""
    assert sources[source] in arguments and "five questions" in run(*arguments, "--help", cwd=tmp_path, **environment)
    inventory = tmp_path / "hosts.yml"
    inventory.write_text("all: {hosts: {spark01: {ansible_connection: local}}}")
    command = [*arguments[:-1], "status", "-i", inventory, "--no-password", "--", "--list-tasks"]
    assert "Show all hosts" in run(*command, cwd=tmp_path, **environment)
    assert run(
        *arguments[:-2], "python", "-c", "import sys; print(sys.base_prefix)", cwd=tmp_path, **environment
    ).strip() == (run(python, "-c", "import sys; print(sys.base_prefix)", cwd=tmp_path).strip())
